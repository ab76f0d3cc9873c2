"""Ports over OPC UA, served by a separate process."""

from __future__ import annotations

import ipaddress
from pathlib import Path

from linkwise.control.ports import Ports
from linkwise.errors import ArgumentError, MissingExtraError, install_hint
from linkwise.server.service import Resettable, Service
from linkwise.server.settings import EndpointSettings
from linkwise.server.watches import watches_of


class Server(Service):
    """Ports over OPC UA, served by a separate process for which the cycle never waits.

    Call `take` before each cycle and `publish` after it. Should the server end or stand still, both go on as before, and
    `state` reports it. The server ends with this process, however that ends.

    Parameters
    ----------
    ports : Ports
        What is served. Which inputs are routed is looked at now; those are read-only.
    name : str
        Name of the folder in which clients find them.
    host : str
        The address to listen at. Anything but this machine's own (127.0.0.1, ::1) needs `certificates`.
    port : int
        0 lets the system choose; `address` has it.
    users : path, optional
        File of those who may write inputs. Without it no client may. A client without a name may read.
    certificates : path, optional
        Folder with ``certificate.der`` (or .pem) and ``key.pem``; made, self-signed, where it is empty or not there. With
        it clients must sign and encrypt, at whatever address.
    publish : float
        How often a second clients see new values.
    stale : float
        After so many seconds without a cycle the values are marked as old, and clients can write nothing. What they
        wrote and no cycle took within this time is void.
    connections : int
        The most at a time.
    hold_after : float, optional
        A velocity or speed that a client wrote is set to zero when it was not written for so many seconds; never if left
        out.
    audit : path, optional
        File to which every write of a client is appended, with user, time, old and new value: see `read_audit`. While it
        cannot be written, clients can write nothing.
    chain : Chain, optional
        Whose ports they are: operators may then reset it, save its state, and restore that, by methods.

    Attributes
    ----------
    address : str
        Where it is served.
    encrypted_only : bool
        Whether clients must sign and encrypt.
    fingerprint : str
        SHA-256 of the certificate; empty without.

    Raises
    ------
    MissingExtraError
        Where asyncua is not installed.
    ArgumentError, FileError
        Where an argument or a file cannot be used.
    ServerError
        Where the server did not begin, such as at a port that is taken.

    Examples
    --------
    >>> from linkwise.control.port import Port
    >>> from linkwise.control.ports import Ports
    >>> ports = Ports([Port("target.x_wanted", "in", unit="m"), Port("tool.x_reached", "out", unit="m")])
    >>> with Server(ports, port=0) as server:  # doctest: +SKIP
    ...     timing = run(chain, 1e-3, before=server.take, after=server.publish)
    """

    serve = "linkwise.server.opcua.serve:serve"
    settings_type = EndpointSettings

    def __init__(
        self,
        ports: Ports,
        *,
        name: str = "chain",
        host: str = "127.0.0.1",
        port: int = 4840,
        users: str | Path | None = None,
        certificates: str | Path | None = None,
        publish: float = 100.0,
        stale: float = 1.0,
        connections: int = 64,
        hold_after: float | None = None,
        audit: str | Path | None = None,
        chain: Resettable | None = None,
    ) -> None:
        _library()
        host, local = _host(host)
        if not local and certificates is None:
            raise ArgumentError(
                f"host {host!r} is reached from other machines, which are served encrypted only:"
                f" name a folder for the certificate, or listen at 127.0.0.1"
            )
        self.encrypted_only = certificates is not None

        def settings() -> dict[str, object]:
            certificate, key, self.fingerprint = _certificate(certificates, host)
            return {"certificate": certificate, "key": key, "encrypted": self.encrypted_only, "commands": chain is not None}

        super().__init__(
            ports, chain=chain, host=host, port=port, users=users, audit=audit, name=name, publish=publish, stale=stale,
            connections=connections, hold_after=hold_after, watches=watches_of(ports), settings=settings,
        )  # fmt: skip
        self.address = f"opc.tcp://{self.authority}/linkwise"


def _library() -> None:
    """See that asyncua is installed, without importing it here: 0.3 s that only the child needs."""
    import importlib.util

    if importlib.util.find_spec("asyncua") is None:
        raise MissingExtraError(f"serving over OPC UA needs the library asyncua: {install_hint('opcua')}")


def _host(host: str) -> tuple[str, bool]:
    """The address to listen at, and whether only this machine reaches it."""
    if host == "localhost":
        return "127.0.0.1", True
    if not host:
        raise ArgumentError("the host is ''; expected an address such as 127.0.0.1, or 0.0.0.0 for all")
    try:
        return host, ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host, False


def _certificate(folder: str | Path | None, host: str) -> tuple[str, str, str]:
    """Files of certificate and key, and the fingerprint; empty without a folder."""
    if folder is None:
        return "", "", ""
    from linkwise.server.opcua.certificates import found_or_made

    return found_or_made(Path(folder), host)
