"""Settings that the process of the server receives when it starts."""

from __future__ import annotations

from dataclasses import dataclass

from linkwise.control.port import Port
from linkwise.server.authentication import User
from linkwise.server.shared_memory import MemoryLayout


@dataclass(frozen=True)
class ServerSettings:
    """All that the server needs to know.

    Attributes
    ----------
    ports : tuple of Port
        In the order of the chain's values.
    routed : tuple of str
        The inputs that are fed by other ports.
    layout, handle
        Of the shared memory.
    name : str
        Of the chain.
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
    certificate, key : str
        Files; empty for none.
    encrypted : bool
        Whether only encrypted channels are served.
    parent : int
        The process of the cycle.
    """

    ports: tuple[Port, ...]
    routed: tuple[str, ...]
    layout: MemoryLayout
    handle: int | str
    name: str
    host: str
    port: int
    publish: float
    stale: float
    connections: int
    users: tuple[User, ...]
    certificate: str
    key: str
    encrypted: bool
    parent: int
