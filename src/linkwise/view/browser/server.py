"""The server of the viewer: on this machine alone unless told otherwise, deaf to pages of other origins, silent."""

from __future__ import annotations

import atexit
import contextlib
import functools
import io
import ipaddress
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from linkwise.errors import ArgumentError, MissingExtraError

if TYPE_CHECKING:
    import viser

LOOPBACK = "127.0.0.1"
PORT, TRIED = 8080, 100
"""The first port that is tried where none is asked for, and how many."""

HEADERS = {
    "Content-Security-Policy": "frame-ancestors 'self'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "SAMEORIGIN",
    "Referrer-Policy": "no-referrer",
}
"""Sent with every file: no other page may show this one inside itself."""

_STARTING = threading.Lock()

_RUNNING: dict[int, viser.ViserServer] = {}
"""The servers that have not been stopped, by port."""


def make_server(host: str = LOOPBACK, port: int | None = None, *, label: str | None = None) -> viser.ViserServer:
    """Start a viser server that hands its page, and the line to it, to pages of its own origin only.

    viser binds to every address of the machine and lets any page of the web talk to it. This one binds to the loopback
    address unless told otherwise, refuses requests that were meant for another host name (a name of the web that was made
    to lead here) and pages of other origins, and never opens viser's public tunnel.

    Parameters
    ----------
    host : str
        Name or address to bind to; ``"0.0.0.0"`` for every address of the machine.
    port : int, optional
        Port to bind to, 0 for any free one; where it is left out, 8080 or the next free one.
    label : str, optional
        Heading of the panel.

    Returns
    -------
    viser.ViserServer
        Running; `stop` it.

    Raises
    ------
    MissingExtraError
        Where viser is not installed.
    ArgumentError
        Where host and port cannot be bound to.
    """
    try:
        import viser
        import websockets.asyncio.server as sockets
    except ImportError as error:
        raise MissingExtraError("the viewer needs viser: pip install 'linkwise[view]'") from error
    bound = _free_port(host, port)
    names = own_names(host)
    with _STARTING, silent():
        original = sockets.serve
        # viser makes its server inside the constructor and offers no way to hand it a check.
        sockets.serve = functools.partial(_guarded, original, names)  # type: ignore[misc, assignment]
        try:
            server = viser.ViserServer(host=host, port=bound, label=label, verbose=False)
        finally:
            sockets.serve = original  # type: ignore[misc]
    server.request_share_url = lambda verbose=True: None  # type: ignore[method-assign]
    server.gui.configure_theme(show_share_button=False, show_logo=False)
    _RUNNING[server.get_port()] = server
    atexit.register(stop, server)  # (before viser's own, which says farewell)
    return server


def stop(server: viser.ViserServer) -> None:
    """Stop a server without its farewell; one that was stopped already stays so."""
    if _RUNNING.pop(server.get_port(), None) is server:
        with silent():
            server.stop()


def address(server: viser.ViserServer, host: str = LOOPBACK) -> str:
    """Return the address of the page, as a browser on this machine takes it."""
    shown = {"0.0.0.0": "localhost", "::": "localhost"}.get(host, host)
    return f"http://{f'[{shown}]' if ':' in shown else shown}:{server.get_port()}"


@contextlib.contextmanager
def silent() -> Iterator[None]:
    """Keep what viser prints of itself from the user's output."""
    with contextlib.redirect_stdout(io.StringIO()):
        yield


# ── who may come in ───────────────────────────────────────────────────────────────────────────────


def own_names(host: str) -> frozenset[str]:
    """Return the names by which a browser may call a server bound to a host, ``"*"`` standing for any plain address.

    Examples
    --------
    >>> sorted(own_names("127.0.0.1"))
    ['127.0.0.1', '::1', 'localhost']
    """
    if is_loopback(host):
        return frozenset({"localhost", "127.0.0.1", "::1", host.lower()})
    named = {socket.gethostname().lower(), socket.getfqdn().lower(), host.lower()}
    return frozenset({"localhost", "*", *named})


def is_loopback(host: str) -> bool:
    """Whether a host is this machine, seen from itself only."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def refusal(names: frozenset[str], hosts: Sequence[str], origins: Sequence[str]) -> str | None:
    """Say why a request is refused, None where it is not.

    Parameters
    ----------
    names : frozenset of str
        The server's own names, see `own_names`.
    hosts, origins : sequence of str
        The values of the request's headers Host and Origin.

    Examples
    --------
    >>> own = own_names("127.0.0.1")
    >>> refusal(own, ["localhost:8080"], ["http://localhost:8080"]) is None
    True
    >>> refusal(own, ["localhost:8080"], ["https://example.org"])
    "a page of 'https://example.org' may not use this viewer"
    """
    if len(hosts) != 1 or len(origins) > 1:
        return "expected one Host and at most one Origin"
    called = _host_name(f"//{hosts[0]}")
    if called is None or not (called in names or ("*" in names and _is_address(called))):
        return f"{hosts[0]!r} is not a name of this viewer"
    if origins:
        origin = urlsplit(origins[0])
        if origin.scheme not in {"http", "https"} or origin.netloc.lower() != hosts[0].lower():
            return f"a page of {origins[0]!r} may not use this viewer"
    return None


def _host_name(url: str) -> str | None:
    try:
        found = urlsplit(url)
        _ = found.port
    except ValueError:
        return None
    return None if found.username is not None or found.path else found.hostname


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _guarded(serve: Callable[..., Any], names: frozenset[str], *args: Any, process_request: Any, **settings: Any) -> Any:
    """Call websockets' `serve` with a look at every request before viser sees it."""

    def look(connection: Any, request: Any) -> Any:
        why = refusal(names, request.headers.get_all("Host"), request.headers.get_all("Origin"))
        response = connection.respond(403, f"{why}\n") if why else process_request(connection, request)
        if response is not None:
            for key, value in HEADERS.items():
                response.headers[key] = value
        return response

    return serve(*args, process_request=look, **settings)


# ── where it binds ────────────────────────────────────────────────────────────────────────────────


def _free_port(host: str, port: int | None) -> int:
    """Return a port that can be bound to: viser waits for ever where it cannot bind."""
    if port is not None and not (isinstance(port, int) and 0 <= port <= 65535):
        raise ArgumentError(f"port is {port!r}; expected a number from 0 to 65535")
    try:
        family, kind, protocol, _, _ = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    except OSError as error:
        raise ArgumentError(f"host is {host!r}, which is no address of this machine ({error.strerror or error})") from error
    for candidate in (port,) if port is not None else range(PORT, PORT + TRIED):
        with socket.socket(family, kind, protocol) as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                tried.bind((host, candidate))
            except OSError as error:
                failed = error
                continue
            return int(tried.getsockname()[1])
    where = f"port {port}" if port is not None else f"the ports {PORT} to {PORT + TRIED - 1}"
    raise ArgumentError(f"{where} of host {host!r} cannot be used: {failed.strerror or failed}")
