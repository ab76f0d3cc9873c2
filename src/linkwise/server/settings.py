"""Settings that the process of a server receives when it starts."""

from __future__ import annotations

from dataclasses import dataclass

from linkwise.control.port import Port
from linkwise.server.authentication import User
from linkwise.server.shared_memory import MemoryLayout
from linkwise.server.watches import WatchedValue


@dataclass(frozen=True, kw_only=True)
class ServerSettings:
    """Settings common to all servers.

    Attributes
    ----------
    ports : tuple of Port
        In the order of the chain's values.
    routed : tuple of str
        The inputs that are fed by other ports.
    layout, handle
        Of the shared memory.
    watches : tuple of WatchedValue
        What is counted there.
    name : str
        Name of the chain.
    host, port : str, int
        Where to listen; port 0 lets the system choose.
    publish : float
        How often a second the values are looked at.
    stale : float
        After so many seconds without a new cycle the values are marked as old, and nothing may be written.
    connections : int
        The most at a time.
    users : tuple of User
        Who may come in by name.
    audit : str
        File of who wrote what; empty for none.
    parent : int
        The process of the cycle.
    """

    ports: tuple[Port, ...]
    routed: tuple[str, ...]
    layout: MemoryLayout
    handle: int | str
    watches: tuple[WatchedValue, ...]
    name: str
    host: str
    port: int
    publish: float
    stale: float
    connections: int
    users: tuple[User, ...]
    audit: str
    parent: int


@dataclass(frozen=True, kw_only=True)
class EndpointSettings(ServerSettings):
    """Settings of OPC UA.

    Attributes
    ----------
    certificate, key : str
        Files; empty for none.
    encrypted : bool
        Whether only encrypted channels are served.
    commands : bool
        Whether there are methods to reset, save and restore.
    """

    certificate: str
    key: str
    encrypted: bool
    commands: bool
