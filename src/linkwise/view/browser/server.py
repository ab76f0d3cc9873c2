"""The viewer's server: binds to the loopback address by default, rejects other origins, hosts and invalid messages."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import dataclasses
import functools
import gzip
import http
import ipaddress
import logging
import math
import os
import socket
import threading
import typing
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from linkwise.errors import ArgumentError, MissingExtraError, install_hint
from linkwise.spatial.validation import number_within

if TYPE_CHECKING:
    import viser


#: Bytes of the largest message: those of the page have some hundred.
LARGEST = 1 << 16

#: Messages of the page: a control was set, a link clicked on, the target dragged, the camera moved.
KNOWN = frozenset(
    {
        "GuiUpdateMessage",
        "SceneNodeClickMessage",
        "TransformControlsUpdateMessage",
        "TransformControlsDragStartMessage",
        "TransformControlsDragEndMessage",
        "ViewerCameraMessage",
    }
)


class MessageGate:
    """Decides which messages viser sees.

    Attributes
    ----------
    server : viser.ViserServer or None
        Whose controls are set; None until it is there.
    most : int or None
        How many pages there may be at a time.
    count : int
        How many there are.
    """

    def __init__(self, most: int | None = None) -> None:
        self.server: viser.ViserServer | None = None
        self.most, self.count = most, 0

    @property
    def full(self) -> bool:
        """True if the greatest number of pages is reached."""
        return self.most is not None and self.count >= self.most

    def admits(self, raw: object) -> bool:
        """True if the page may send a message."""
        try:
            return isinstance(raw, bytes) and self._fits(raw)
        except Exception:  # (whatever decoding bytes that are no message raises: the libraries define it nowhere)
            return False

    def _fits(self, raw: bytes) -> bool:
        import msgspec
        from viser import _messages

        fields = msgspec.msgpack.decode(raw)
        name = fields.pop("type")
        if name not in KNOWN:
            return False
        kind = getattr(_messages, name)
        # every field by its type, none that is unknown
        message = msgspec.convert(fields, _strict(kind))
        if not _finite(fields):
            return False
        return name != "GuiUpdateMessage" or (
            self.server is not None and _settable(self.server, message.uuid, message.updates)
        )


class Filtered:
    """A connection that receives only admitted messages; the first rejected one is logged.

    Parameters
    ----------
    connection : websockets.asyncio.server.ServerConnection
        The connection; all else is as of it.
    gate : MessageGate
        What is admitted.
    log : logging.Logger
        Where it is logged.
    """

    def __init__(self, connection: Any, gate: MessageGate, log: logging.Logger) -> None:
        self._connection, self._gate, self._log = connection, gate, log
        self._dropped = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    async def recv(self) -> bytes:
        """Receive the next message that is admitted."""
        while True:
            raw = await self._connection.recv()
            if self._gate.admits(raw):
                return bytes(raw)
            if not self._dropped:
                self._log.warning(
                    "a page at %s sends what is no message of the viewer; dropped", self._connection.remote_address
                )
            self._dropped = True
            await asyncio.sleep(0)  # (others have their turn, however much of it comes)


@functools.cache
def _strict(kind: type[Any]) -> type[Any]:
    """A record with the fields that a message has when it is sent, and no others."""
    import msgspec

    hints = typing.get_type_hints(kind)
    fields: list[Any] = []
    for field in dataclasses.fields(kind):
        if field.init:
            default = () if field.default is dataclasses.MISSING else (field.default,)
            fields.append((field.name, hints[field.name], *default))
    return msgspec.defstruct(kind.__name__, fields, forbid_unknown_fields=True)


def _finite(value: Any) -> bool:
    """True if all numbers of a message are finite."""
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, dict):
        return all(map(_finite, value.values()))
    return all(map(_finite, value)) if isinstance(value, list) else True


def _settable(server: viser.ViserServer, uuid: str, updates: dict[str, Any]) -> bool:
    """True if a control may be set: only its value, of its kind, within its ends or among its options."""
    scopes = [server.gui, *(client.gui for client in server.get_clients().values())]
    handle: Any = next(filter(None, (gui._gui_input_handle_from_uuid.get(uuid) for gui in scopes)), None)
    if handle is None:  # (removed meanwhile; viser takes no notice)
        return True
    if updates.keys() != {"value"}:
        return False
    value, now = updates["value"], handle.value
    if isinstance(now, bool) or isinstance(value, bool):
        return isinstance(now, bool) and isinstance(value, bool)
    if isinstance(now, (int, float)):
        low, high = getattr(handle, "min", -math.inf), getattr(handle, "max", math.inf)
        return isinstance(value, (int, float)) and low <= value <= high
    return isinstance(now, str) and isinstance(value, str) and value in getattr(handle, "options", (value,))


LOOPBACK = "127.0.0.1"

#: First default port, and number of tried ports.
PORT, TRIED = 8080, 100

#: Sent with every file: no other page may show this one inside itself.
HEADERS = {
    "Content-Security-Policy": "frame-ancestors 'self'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "SAMEORIGIN",
    "Referrer-Policy": "no-referrer",
}

#: Logger of invalid requests; silent unless configured.
LOG = logging.getLogger("linkwise.view.browser")

LOG.addHandler(logging.NullHandler())

#: Held by the one that starts or stops a server.
_ALONE = threading.RLock()

#: Running servers, and the function that stops each when the interpreter ends.
_RUNNING: dict[viser.ViserServer, Callable[[], None]] = {}


def make_server(
    host: str = LOOPBACK, port: int | None = None, *, label: str | None = None, most: int | None = None
) -> viser.ViserServer:
    """Start a viser server that serves its page and its socket to pages of its own origin only.

    viser binds to every address of the machine and lets any page of the web talk to it. This one binds to the loopback
    address by default, refuses requests that were meant for another host name (a name of the web that was made
    to lead here) and pages of other origins, and never opens viser's public tunnel. viser's ``_VISER_PORT_OVERRIDE`` has no
    effect on it.

    Parameters
    ----------
    host : str
        Name or address to bind to; ``"0.0.0.0"`` for every address of the machine.
    port : int, optional
        Port to bind to, 0 for any free one; where it is left out, 8080 or the next free one.
    label : str, optional
        Heading of the panel.
    most : int, optional
        How many pages there may be at a time; any number where it is left out.

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
        raise MissingExtraError(f"the viewer needs viser: {install_hint('view')}") from error
    door = _bound(host, port)
    with _ALONE, silent():
        original = sockets.serve
        # viser creates its server inside the constructor, without a parameter for a check, or a socket.
        gate = MessageGate(most)
        sockets.serve = functools.partial(_guarded, original, own_names(host), door, gate)  # type: ignore[misc, assignment]
        try:
            server = viser.ViserServer(host=host, port=door.getsockname()[1], label=label, verbose=False)
        except BaseException:
            door.close()
            raise
        finally:
            sockets.serve = original  # type: ignore[misc]
        gate.server = server
        _RUNNING[server] = atexit.register(functools.partial(stop, server))  # (before viser's own, which prints a message)
    server.request_share_url = lambda verbose=True: None  # type: ignore[method-assign]
    server.gui.configure_theme(show_share_button=False, show_logo=False)
    return server


def stop(server: viser.ViserServer) -> None:
    """Stop a server without its farewell; one that was stopped already stays so."""
    with silent():
        at_exit = _RUNNING.pop(server, None)
        if at_exit is not None:
            atexit.unregister(at_exit)
            server.stop()


def address(server: viser.ViserServer, host: str = LOOPBACK) -> str:
    """Return the address of the page, as a browser on this machine takes it."""
    shown = "localhost" if _is_address(host) and ipaddress.ip_address(host).is_unspecified else host
    return f"http://{f'[{shown}]' if ':' in shown else shown}:{server.get_port()}"


@contextlib.contextmanager
def silent() -> Iterator[None]:
    """Suppress the output of viser only."""
    import rich

    console = rich.get_console()
    with _ALONE:
        before, console.quiet = console.quiet, True
        try:
            yield
        finally:
            console.quiet = before


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
    """True if a host name means this machine, reachable from itself only."""
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
        return f"{hosts[0]!r} is not a name of this viewer; call it by its address or host name"
    if origins:
        origin = urlsplit(origins[0])
        if origin.scheme not in {"http", "https"} or origin.netloc.lower() != hosts[0].lower():
            return f"a page of {origins[0]!r} may not use this viewer"
    return None


def _host_name(url: str) -> str | None:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return None
    return None if parts.username is not None or parts.path else parts.hostname


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _guarded(
    serve: Callable[..., Any],
    names: frozenset[str],
    door: socket.socket,
    gate: MessageGate,
    handler: Callable[..., Any],
    *args: Any,
    **settings: Any,
) -> Any:
    """Call websockets' `serve` on our socket, checking every request and message before viser receives it."""
    if not handler.__module__.startswith("viser."):  # another caller's server, made in the same moment by another thread
        return serve(handler, *args, **settings)
    import viser

    process_request, spoken = settings.pop("process_request"), f"viser-v{viser.__version__}"

    def look(connection: Any, request: Any) -> Any:
        why = refusal(names, request.headers.get_all("Host"), request.headers.get_all("Origin"))
        if why:
            response = connection.respond(http.HTTPStatus.FORBIDDEN, f"{why}\n")
        elif request.headers.get_all("Upgrade") and spoken not in request.headers.get_all("Sec-WebSocket-Protocol"):
            response = connection.respond(
                http.HTTPStatus.UPGRADE_REQUIRED, f"this viewer speaks {spoken}; load the page anew\n"
            )
        elif request.headers.get_all("Upgrade") and gate.full:
            response = connection.respond(http.HTTPStatus.SERVICE_UNAVAILABLE, f"{gate.most} pages are open already\n")
        else:
            response = process_request(connection, request)
        if response is not None:
            entitle(response)
            for key, value in HEADERS.items():
                response.headers[key] = value
        return response

    async def filtered(connection: Any) -> None:
        gate.count += 1
        try:
            await handler(Filtered(connection, gate, LOG))
        finally:
            gate.count -= 1

    return serve(filtered, sock=door, process_request=look, logger=LOG, **settings | {"max_size": LARGEST})


def entitle(response: Any) -> None:
    """Give viser's page our title; other files stay as they are."""
    if not response.headers.get("Content-Type", "").startswith("text/html"):
        return
    packed = response.headers.get("Content-Encoding") == "gzip"
    page = gzip.decompress(response.body) if packed else response.body
    page = page.replace(b"<title>Viser</title>", b"<title>Linkwise</title>")
    response.body = gzip.compress(page, compresslevel=1) if packed else page
    del response.headers["Content-Length"]
    response.headers["Content-Length"] = str(len(response.body))


# ── where it binds ────────────────────────────────────────────────────────────────────────────────


def _bound(host: str, port: int | None) -> socket.socket:
    """Return a socket that listens: viser waits for ever where it cannot bind, or takes another port."""
    if port is not None:
        number_within("port", port, 0, 65535, "a number from 0 to 65535", whole=True)
    if not isinstance(host, str) or not host:
        raise ArgumentError(f"host is {host!r}; expected a name or an address, such as {LOOPBACK!r}")
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[
            0
        ]
    except (OSError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or error
        raise ArgumentError(f"host is {host!r}, which is no address of this machine ({why})") from error
    for candidate in (port,) if port is not None else range(PORT, PORT + TRIED):
        door = socket.socket(family, kind, protocol)
        try:
            if os.name == "posix":  # elsewhere this would take a port that is in use
                door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            door.bind((place[0], candidate, *place[2:]))
            door.listen(100)
        except OSError as error:
            failed = error
            door.close()
            continue
        return door
    where = f"port {port}" if port is not None else f"the ports {PORT} to {PORT + TRIED - 1}"
    raise ArgumentError(f"{where} of host {host!r} cannot be used: {failed.strerror or failed}")
