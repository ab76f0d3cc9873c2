"""OPC UA service: create the nodes, listen, poll the values at a fixed rate, and forward writes to the cycle."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from asyncua import ua
from asyncua.crypto.permission_rules import PermissionRuleset

from linkwise.control.ports import Ports
from linkwise.errors import LinkwiseError
from linkwise.server import shared_memory as memory
from linkwise.server.audit import AuditLog
from linkwise.server.authentication import Doorkeeper
from linkwise.server.log import LimitedLog, Relay
from linkwise.server.opcua import connections
from linkwise.server.opcua.certificates import application_uri
from linkwise.server.opcua.connections import HANDSHAKE, PENDING, Endpoint, Listener
from linkwise.server.opcua.events import Events
from linkwise.server.opcua.nodes import SPACE, TYPES, Nodes
from linkwise.server.opcua.sessions import BROWSES, CALLS, ITEMS, PATHS, READS, WRITES, Services
from linkwise.server.settings import EndpointSettings
from linkwise.server.shared_memory import Outcome, Sender, SharedMemory, Snapshots
from linkwise.server.writes import Author, ClientWrites, Write

_STATUS = {
    Outcome.accepted: ua.StatusCodes.Good,
    Outcome.refused: ua.StatusCodes.BadOutOfRange,
    Outcome.expired: ua.StatusCodes.BadTimeout,
    Outcome.broken: ua.StatusCodes.BadInternalError,
    Outcome.waiting: ua.StatusCodes.BadTimeout,
}

#: Status of methods: a rejection there is one by the chain's state.
_CALLED = {**_STATUS, Outcome.refused: ua.StatusCodes.BadInvalidState}


#: Limits published in the standard's nodes (OPC 10000-5, 6.3.11).
_LIMITS = {
    "MaxNodesPerRead": READS,
    "MaxNodesPerWrite": WRITES,
    "MaxNodesPerBrowse": BROWSES,
    "MaxNodesPerTranslateBrowsePathsToNodeIds": PATHS,
    "MaxMonitoredItemsPerCall": ITEMS,
    "MaxNodesPerMethodCall": CALLS,
}


class AllServed(PermissionRuleset):
    """Permits all services, which `connections` restricts."""

    def check_validity(self, user: Any, action_type: Any, body: Any) -> bool:
        """Allow."""
        return True


class WriteGate:
    """Forwards writes: rejects invalid ones at once, and awaits the cycle's answer for the others.

    Parameters
    ----------
    ports : Ports
        The server's own copy of the table.
    nodes : Nodes
        Which nodes are inputs.
    writes : ClientWrites
        The way to the cycle.
    denied : callable
        Called with the number of writes refused here.
    """

    def __init__(self, ports: Ports, nodes: Nodes, writes: ClientWrites, denied: Callable[[int], None]) -> None:
        self._ports, self._nodes, self._writes, self._denied = ports, nodes, writes, denied

    async def __call__(self, values: list[ua.WriteValue], author: Author) -> list[ua.StatusCode]:
        """Write values; return the status of each."""
        checked = [self._checked(value) for value in values]
        self._denied(sum(isinstance(request, int) for request in checked))
        return await self._sent(checked, _STATUS, author)

    async def call(self, methods: list[ua.CallMethodRequest], author: Author) -> list[ua.StatusCode]:
        """Call methods; return the status of each."""
        return await self._sent([self._command(method) for method in methods], _CALLED, author)

    async def _sent(self, checked: list[Write | int], status: dict[Outcome, int], author: Author) -> list[ua.StatusCode]:
        """Send the valid writes; return the status of each."""
        outcomes = iter(await self._writes.send([request for request in checked if isinstance(request, Write)], author))
        self._nodes.refresh()
        codes = [next(outcomes) if isinstance(request, Write) else request for request in checked]
        busy = ua.StatusCodes.BadTooManyOperations
        return [ua.StatusCode(ua.UInt32(busy if c is None else status[c] if isinstance(c, Outcome) else c)) for c in codes]

    def _command(self, method: ua.CallMethodRequest) -> Write | int:
        command = self._nodes.methods.get(method.MethodId)
        if command is None or method.ObjectId != self._nodes.root(self._nodes.space):
            return int(ua.StatusCodes.BadMethodInvalid)
        if method.InputArguments:
            return int(ua.StatusCodes.BadTooManyArguments)
        return int(ua.StatusCodes.BadNoCommunication) if self._nodes.stale else Write(command)

    def _checked(self, value: ua.WriteValue) -> Write | int:
        """Return the value to be written, or the status code of its rejection."""
        name = self._nodes.inputs.get(value.NodeId)
        if name is None:
            there = self._nodes.known(value.NodeId)
            return int(ua.StatusCodes.BadNotWritable if there else ua.StatusCodes.BadNodeIdUnknown)
        if value.AttributeId != ua.AttributeIds.Value:
            return int(ua.StatusCodes.BadNotWritable)
        if value.IndexRange:
            return int(ua.StatusCodes.BadWriteNotSupported)
        if self._nodes.stale:
            return int(ua.StatusCodes.BadNoCommunication)
        return self._numbers(name, value.Value)

    def _numbers(self, name: str, value: ua.DataValue) -> Write | int:
        port, variant = self._ports[name], value.Value
        if value.StatusCode is not None and not value.StatusCode.is_good():
            return int(ua.StatusCodes.BadWriteNotSupported)
        if variant is None or variant.VariantType != TYPES[port.kind][0] or bool(variant.is_array) != bool(port.shape):
            return int(ua.StatusCodes.BadTypeMismatch)
        try:
            return Write(name, port.check(variant.Value))
        except (LinkwiseError, ValueError, TypeError, OverflowError):
            return int(ua.StatusCodes.BadOutOfRange)


async def serve(settings: EndpointSettings, tell: Callable[[dict[str, object]], None], gone: asyncio.Event) -> None:
    """Serve until `gone`; `tell` gets the address first, then the lines of the log."""
    logging.disable()  # (the library's; its lines are not bounded)
    log = LimitedLog(Relay(lambda level, text: tell({"level": level, "log": text})))
    connections.bound()
    shared = SharedMemory(settings.layout, settings.handle)
    words = shared.words
    words[memory.HEARTBEAT] = time.monotonic_ns()
    ports = Ports(settings.ports)
    services = Services(Doorkeeper(settings.users), 1 / settings.publish, max(settings.connections // 2, 1))
    services.max_connections = settings.connections
    services.max_pending_activation_seconds = HANDSHAKE
    services.max_pending_messages_per_connection = PENDING
    endpoint = await _endpoint(settings, services)
    space = await endpoint.register_namespace(SPACE)
    nodes = Nodes(endpoint, ports, set(settings.routed), Snapshots(shared, ports.values), settings.stale)
    nodes.refresh()
    await nodes.build(settings.name, space, 1 / settings.publish, commands=settings.commands)
    events = Events(endpoint, nodes, shared, settings.watches)
    await events.build(space)
    _trim(services)

    def denied(count: int) -> None:
        words[memory.DENIED] += count

    def failed(why: str) -> None:
        log("audit", why, logging.ERROR)

    services.denied, services.log = denied, log
    audit = AuditLog(settings.audit) if settings.audit else None
    writes = ClientWrites(ports, Sender(shared), settings.stale, audit, failed)
    gate = WriteGate(ports, nodes, writes, denied)
    services.gate, services.called = gate, gate.call
    services.sources = {ua.NodeId(ua.ObjectIds.Server), nodes.root(space)}
    if gone.is_set():
        return
    await endpoint.start()
    assert isinstance(endpoint.bserver, Listener)
    gc.freeze()
    gc.enable()
    tell({"port": endpoint.bserver.port})
    try:
        await _look(settings, events, words, endpoint.bserver, gone, log)
    finally:
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(endpoint.bserver.stop(), 1.0)
        await writes.finish()


def _trim(services: Services) -> None:
    """Tell the most of a request; and leave out the two texts of the standard's types, hundreds of kilobytes each."""
    constants = {
        f"Server_ServerCapabilities_OperationLimits_{name}": ua.Variant(most, ua.VariantType.UInt32)
        for name, most in _LIMITS.items()
    }
    constants |= dict.fromkeys(("OpcUa_BinarySchema", "OpcUa_XmlSchema"), ua.Variant(None, ua.VariantType.ByteString))
    for name, constant in constants.items():
        node = ua.NodeId(getattr(ua.ObjectIds, name))
        if node in services.aspace:
            services.aspace[node].attributes[ua.AttributeIds.Value].value = ua.DataValue(constant)


async def _endpoint(settings: EndpointSettings, services: Services) -> Endpoint:
    endpoint = Endpoint(services, settings.encrypted)
    await endpoint.init()
    await endpoint.set_application_uri(application_uri())
    endpoint.set_server_name("linkwise")
    endpoint.product_uri, endpoint.manufacturer_name = "urn:linkwise", "linkwise"
    endpoint.application_type = ua.ApplicationType.Server
    shown = f"[{settings.host}]" if ":" in settings.host else settings.host
    endpoint.set_endpoint(f"opc.tcp://{shown}:{settings.port}/linkwise")
    endpoint.socket_address = (settings.host, settings.port)
    policies = [] if settings.encrypted else [ua.SecurityPolicyType.NoSecurity]
    if settings.certificate:
        await endpoint.load_certificate(Path(settings.certificate))
        await endpoint.load_private_key(Path(settings.key))
        policies.append(ua.SecurityPolicyType.Basic256Sha256_SignAndEncrypt)
    endpoint.set_security_policy(policies, permission_ruleset=AllServed())
    return endpoint


async def _look(
    settings: EndpointSettings, events: Events, words: memoryview, listener: Listener, gone: asyncio.Event, log: LimitedLog
) -> None:
    """Poll the values at a constant interval."""
    period, at = 1 / settings.publish, time.monotonic()
    while not gone.is_set():
        await events.look()
        words[memory.HEARTBEAT] = time.monotonic_ns()
        words[memory.SESSIONS] = len(listener.services.sessions)
        words[memory.CONNECTIONS] = len(listener.clients)
        words[memory.TURNED_AWAY] = listener.turned_away
        log.flush()
        if os.name == "posix" and os.getppid() != settings.parent:
            return
        at = max(at + period, time.monotonic())
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(gone.wait(), max(at - time.monotonic(), 0.0))
