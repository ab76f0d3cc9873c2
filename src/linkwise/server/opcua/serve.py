"""Serve: build the nodes, listen, look at the values at a fixed rate, and pass writes on to the cycle."""

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
from linkwise.server.authentication import Doorkeeper
from linkwise.server.log import LimitedLog, Relay
from linkwise.server.opcua import connections
from linkwise.server.opcua.certificates import application_uri
from linkwise.server.opcua.connections import HANDSHAKE, PENDING, Endpoint, Listener
from linkwise.server.opcua.nodes import SPACE, TYPES, Nodes
from linkwise.server.opcua.sessions import BROWSES, ITEMS, PATHS, READS, WRITES, Services
from linkwise.server.settings import ServerSettings
from linkwise.server.shared_memory import Outcome, Sender, SharedMemory, Snapshots

#: An answer is waited for this many times longer than an entry in the mailbox is good for: then it is void for certain.
PATIENCE = 1.5

#: How often it is looked whether a write was taken, s.
LOOK = 1e-3

_STATUS = {
    Outcome.accepted: ua.StatusCodes.Good,
    Outcome.refused: ua.StatusCodes.BadOutOfRange,
    Outcome.expired: ua.StatusCodes.BadTimeout,
    Outcome.broken: ua.StatusCodes.BadInternalError,
    Outcome.waiting: ua.StatusCodes.BadTimeout,
}


#: What the standard's nodes tell of the limits (OPC 10000-5, 6.3.11).
_LIMITS = {
    "MaxNodesPerRead": READS,
    "MaxNodesPerWrite": WRITES,
    "MaxNodesPerBrowse": BROWSES,
    "MaxNodesPerTranslateBrowsePathsToNodeIds": PATHS,
    "MaxMonitoredItemsPerCall": ITEMS,
}


class AllServed(PermissionRuleset):
    """Which services there are is decided in one place, `connections`."""

    def check_validity(self, user: Any, action_type: Any, body: Any) -> bool:
        """Allow."""
        return True


class WriteGate:
    """Where writes go: what can be refused at once is, the rest waits for the cycle's word.

    Parameters
    ----------
    ports : Ports
        The server's own copy of the table.
    nodes : Nodes
        Which nodes are inputs.
    sender : Sender
        The way to the cycle.
    patience : float
        How long to wait for its word, s.
    denied : callable
        Called with the number of writes refused here.
    """

    def __init__(self, ports: Ports, nodes: Nodes, sender: Sender, patience: float, denied: Callable[[int], None]) -> None:
        self._ports, self._nodes, self._sender = ports, nodes, sender
        self._patience, self._denied = patience, denied
        self._places = {name: place for place, name in enumerate(ports)}

    async def __call__(self, values: list[ua.WriteValue]) -> list[ua.StatusCode]:
        """Write; what became of each."""
        outcomes = [self._posted(value) for value in values]
        self._denied(sum(code is not None for code, _ in outcomes))
        tickets = [ticket for _, ticket in outcomes if ticket]
        deadline = time.monotonic() + self._patience
        while any(self._sender.outcome(ticket) is Outcome.waiting for ticket in tickets) and time.monotonic() < deadline:
            await asyncio.sleep(LOOK)
        self._nodes.refresh()
        codes = [_STATUS[self._sender.outcome(ticket)] if code is None else code for code, ticket in outcomes]
        return [ua.StatusCode(ua.UInt32(code)) for code in codes]

    def _posted(self, value: ua.WriteValue) -> tuple[int | None, int]:
        """Post a write: why it is refused, or its ticket."""
        name = self._nodes.inputs.get(value.NodeId)
        if name is None:
            there = self._nodes.known(value.NodeId)
            return ua.StatusCodes.BadNotWritable if there else ua.StatusCodes.BadNodeIdUnknown, 0
        if value.AttributeId != ua.AttributeIds.Value:
            return ua.StatusCodes.BadNotWritable, 0
        if value.IndexRange:
            return ua.StatusCodes.BadWriteNotSupported, 0
        if self._nodes.stale:
            return ua.StatusCodes.BadNoCommunication, 0
        return self._checked(name, value.Value)

    def _checked(self, name: str, value: ua.DataValue) -> tuple[int | None, int]:
        port, variant = self._ports[name], value.Value
        if value.StatusCode is not None and not value.StatusCode.is_good():
            return ua.StatusCodes.BadWriteNotSupported, 0
        if variant is None or variant.VariantType != TYPES[port.kind][0] or bool(variant.is_array) != bool(port.shape):
            return ua.StatusCodes.BadTypeMismatch, 0
        try:
            numbers = port.check(variant.Value).ravel().tolist()
        except (LinkwiseError, ValueError, TypeError, OverflowError):
            return ua.StatusCodes.BadOutOfRange, 0
        ticket = self._sender.post(self._places[name], numbers)
        return (None, ticket) if ticket else (ua.StatusCodes.BadTooManyOperations, 0)


async def serve(settings: ServerSettings, tell: Callable[[dict[str, object]], None], gone: asyncio.Event) -> None:
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
    await nodes.build(settings.name, space, 1 / settings.publish)
    _trim(services)

    def denied(count: int) -> None:
        words[memory.DENIED] += count

    services.denied, services.log = denied, log
    services.gate = WriteGate(ports, nodes, Sender(shared), PATIENCE * settings.stale, denied)
    if gone.is_set():
        return
    await endpoint.start()
    assert isinstance(endpoint.bserver, Listener)
    gc.freeze()
    gc.enable()
    tell({"port": endpoint.bserver.port})
    try:
        await _look(settings, nodes, words, endpoint.bserver, gone, log)
    finally:
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(endpoint.bserver.stop(), 1.0)


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


async def _endpoint(settings: ServerSettings, services: Services) -> Endpoint:
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
    settings: ServerSettings, nodes: Nodes, words: memoryview, listener: Listener, gone: asyncio.Event, log: LimitedLog
) -> None:
    """Look at the values again and again, each time as long after the last as was asked for."""
    period, at = 1 / settings.publish, time.monotonic()
    while not gone.is_set():
        await nodes.look()
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
