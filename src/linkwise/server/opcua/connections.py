"""Limits of OPC UA connections: number, idle time, message size and content, services."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import Any

from asyncua import Server, ua
from asyncua.common.connection import TransportLimits
from asyncua.common.utils import Buffer, NotEnoughData, ServiceError
from asyncua.server.binary_server_asyncio import BinaryServer, OPCUAProtocol
from asyncua.server.uaprocessor import UaProcessor
from asyncua.ua import ua_binary

from linkwise.server.log import peer_name
from linkwise.server.opcua.sessions import Services

#: The largest piece of a message, bytes.
CHUNK = 65535

#: The largest message, bytes.
MESSAGE = 1 << 19

#: Required by the standard of every peer (OPC 10000-6, 7.1.2.3), bytes.
SMALLEST_CHUNK = 8192

#: A client with more unread data is disconnected, bytes.
UNREAD = 4 << 20

#: Greatest number of pending messages of a connection.
PENDING = 32

#: Within this time a connection must have a session, s.
HANDSHAKE = 10.0

#: A connection without a session may stay this long where others wait for its place, s.
GRACE = 1.0

#: Greatest number of connections waiting to be accepted.
BACKLOG = 1024

#: Number of failed attempts to begin a session that end a connection.
REFUSALS = 3

_TYPES = (b"HEL", b"OPN", b"MSG", b"CLO")
_SERVED = """
GetEndpoints FindServers CloseSecureChannel CreateSession ActivateSession CloseSession Read Write Call Browse
TranslateBrowsePathsToNodeIds RegisterNodes UnregisterNodes CreateSubscription ModifySubscription DeleteSubscriptions
CreateMonitoredItems ModifyMonitoredItems DeleteMonitoredItems SetMonitoringMode SetPublishingMode Publish Republish
"""


def _requests(names: str) -> frozenset[int]:
    return frozenset(int(getattr(ua.ObjectIds, f"{name}Request_Encoding_DefaultBinary")) for name in names.split())


#: Services permitted to a client without encryption: they report how to encrypt.
OPEN = _requests("GetEndpoints FindServers CloseSecureChannel")

#: All services that there are.
SERVED = _requests(_SERVED)

_CREATE = int(ua.ObjectIds.CreateSessionRequest_Encoding_DefaultBinary)
_ACTIVATE = int(ua.ObjectIds.ActivateSessionRequest_Encoding_DefaultBinary)


class Limits(TransportLimits):
    """Limits of a connection; a client may request lower ones, as far as the standard permits."""

    def create_acknowledge_and_set_limits(self, msg: ua.Hello) -> ua.Acknowledge:
        """Agree on limits."""
        if min(msg.ReceiveBufferSize, msg.SendBufferSize) < SMALLEST_CHUNK:
            raise ua.UaStatusCodeError(ua.StatusCodes.BadConnectionRejected)
        return super().create_acknowledge_and_set_limits(msg)


class Processor(UaProcessor):
    """Answers the messages of one connection."""

    def __init__(self, services: Services, transport: Any, limits: TransportLimits, encrypted: bool) -> None:
        super().__init__(services, transport, limits)
        self._encrypted, self._refused, self._log = encrypted, 0, services.log

    async def _process_message(self, typeid: ua.NodeId, requesthdr: Any, seqhdr: Any, body: Any) -> Any:
        service = typeid.Identifier if typeid.NamespaceIndex == 0 else None
        if service not in SERVED:
            raise ServiceError(ua.StatusCodes.BadServiceUnsupported)
        secret = self._connection.security_policy.Mode == ua.MessageSecurityMode.SignAndEncrypt
        if self._encrypted and not secret and service not in OPEN:
            raise ServiceError(ua.StatusCodes.BadSecurityModeInsufficient)
        if service == _CREATE and self.session is not None:
            raise ServiceError(ua.StatusCodes.BadTooManySessions)
        if service == _ACTIVATE and self._refused >= REFUSALS:
            self._log("connection", f"connection from {peer_name(self.name)} cut off: {REFUSALS} logins were refused")
            self._transport.abort()
            return False
        try:
            return await super()._process_message(typeid, requesthdr, seqhdr, body)
        except Exception:
            self._refused += service == _ACTIVATE
            raise


class Connection(OPCUAProtocol):
    """One connection."""

    def __init__(self, listener: Listener) -> None:
        super().__init__(
            iserver=listener.iserver,
            policies=listener._policies,
            clients=listener.clients,
            closing_tasks=listener.closing_tasks,
            limits=listener.limits,
        )
        self._listener = listener
        self._pieces = bytearray()
        self._since, self._peer = 0.0, peer_name(None)

    def connection_made(self, transport: Any) -> None:
        """Accept or refuse a connection."""
        self._since = time.monotonic()
        self._peer = peer_name(transport.get_extra_info("peername"))
        if not self._listener.place_for_one():
            self._listener.turned_away += 1
            self._log(f"turned away: there are {self._listener.services.max_connections}", logging.WARNING)
            transport.abort()
            return
        self._log()
        super().connection_made(transport)
        transport.set_write_buffer_limits(high=UNREAD)
        self.processor = Processor(self._listener.services, transport, self.limits, self._listener.encrypted)
        self.processor.set_policies(self.policies)

    def connection_lost(self, ex: BaseException | None) -> None:
        """Release the resources of the connection."""
        super().connection_lost(ex)
        if self.processor is not None:
            self._log("ended")
        if self.processor is not None and self.processor.session is not None:
            self.closing_tasks.append(asyncio.ensure_future(self.processor.session.close_session(True)))

    def pause_writing(self) -> None:
        """Disconnect a client that does not read its responses."""
        self.abort("it does not read what it asked for")

    def data_received(self, data: bytes) -> None:
        """Take bytes, and pass on whole pieces of messages; whatever is none ends the connection."""
        self._pieces += data
        while len(self._pieces) >= 8:
            size = int.from_bytes(self._pieces[4:8], "little")
            if self._pieces[:3] not in _TYPES or not 8 < size <= CHUNK:
                self.abort("what it sent is no message")
                return
            if len(self._pieces) < size:
                return
            whole = bytes(self._pieces[:size])
            del self._pieces[:size]
            super().data_received(whole)
            if self._buffer or self.transport is None or self.transport.is_closing():
                self.abort()
                return

    @property
    def at_home(self) -> bool:
        """True if it has a session."""
        session = None if self.processor is None else self.processor.session
        return session is not None and bool(session.is_activated())

    @property
    def age(self) -> float:
        """Age of the connection, s."""
        return time.monotonic() - self._since

    def abort(self, why: str = "") -> None:
        """Abort the connection."""
        if why:
            self._log(f"cut off: {why}", logging.WARNING)
        self._pieces.clear()
        self._buffer = b""
        if self.transport is not None:
            self.transport.abort()

    async def _process_one_msg(self, header: Any, buf: Buffer) -> bool:
        """Answer a piece of a message; one that cannot be read ends the connection."""
        try:
            return bool(await super()._process_one_msg(header, buf))
        except Exception:
            self.abort("a message could not be read")
            return False

    def _log(self, event: str = "", level: int = logging.INFO) -> None:
        self._listener.services.log("connection", f"connection from {self._peer} {event}".rstrip(), level)


class Listener(BinaryServer):
    """Accepts client connections.

    Attributes
    ----------
    turned_away : int
        How many found no place.
    """

    def __init__(self, services: Services, host: str, port: int, limits: TransportLimits, encrypted: bool) -> None:
        super().__init__(services, host, port, limits)
        self.port: int = port
        self.services, self.encrypted, self.turned_away = services, encrypted, 0

    async def start(self) -> None:
        """Listen with a long queue: a connection that times out in the queue gets no answer."""
        self._server = await asyncio.get_running_loop().create_server(
            lambda: Connection(self), self.hostname, self.port, backlog=BACKLOG
        )
        self.port = self._server.sockets[0].getsockname()[1]
        self.cleanup_task = asyncio.create_task(self._close_task_loop())

    def place_for_one(self) -> bool:
        """True if another connection is accepted; one without a session after its time limit is closed for it."""
        if len(self.clients) < self.services.max_connections:
            return True
        idle = [client for client in self.clients if not client.at_home and client.age > GRACE]
        if not idle:
            return False
        oldest = max(idle, key=lambda client: client.age)
        self.clients.remove(oldest)
        oldest.abort("it has no session, and others need its place")
        return True


class Endpoint(Server):
    """An OPC UA server with these connections."""

    def __init__(self, services: Services, encrypted: bool) -> None:
        super().__init__(iserver=services)
        self._encrypted = encrypted
        self.limits = Limits(CHUNK, CHUNK, -(-MESSAGE // CHUNK), MESSAGE)

    async def start(self) -> None:
        """Listen."""
        await self._setup_server_nodes()
        await self.iserver.start()
        host, port = self.socket_address
        self.bserver = Listener(self.iserver, host, port, self.limits, self._encrypted)
        self.bserver.set_policies(self._policies)
        await self.bserver.start()


#: The most elements that the dimensions of an array may say, beyond those that come; no port has more than nine.
ELEMENTS = 16

_read = Buffer.read


def bound() -> None:
    """Set the bounds in this process, for good.

    The library takes a negative length as it comes, and goes back in the message: an array that says to have 2^31 elements
    of such strings is read without end. An array of nothing, 2^31 times, takes no bytes at all.
    """
    Buffer.read = _read_on
    ua_binary.MAX_RESHAPE_ELEMENTS = ELEMENTS
    ua_binary.Primitives1.Null = _Nothing()
    ua_binary._create_uatype_array_deserializer.cache_clear()


def _read_on(self: Buffer, size: int) -> bytes:
    """Read, but never backwards."""
    if size < 0:
        raise NotEnoughData(f"a length of {size}")
    return bytes(_read(self, size))


class _Nothing:
    """An array of nothing has no elements."""

    @staticmethod
    def pack_array(data: Any) -> bytes:
        """Write one."""
        return bytes(ua_binary.Primitives.Int32.pack(-1 if data is None else 0))

    @staticmethod
    def unpack_array(data: Buffer, length: int) -> tuple[()]:
        """Read one."""
        if length > 0:
            raise NotEnoughData(f"{length} elements of no size")
        return ()
