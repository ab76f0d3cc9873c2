"""OPC UA events: an unsolved chain, active limits, faults, and a stalled cycle."""

from __future__ import annotations

import contextlib
import datetime
import uuid
from collections.abc import Iterator
from typing import Any

from asyncua import Server, ua

from linkwise.server.opcua.nodes import Nodes
from linkwise.server.shared_memory import SharedMemory, watch_counts
from linkwise.server.watches import WatchedValue, WatchReader

#: Types of events, by watched condition.
TYPES = {"unsolved": "UnsolvedEventType", "limit": "LimitEventType", "fault": "FaultEventType"}

#: The severity of the end of anything (OPC 10000-5, 6.4.2).
OVER = 100

#: The most of a filter: fields, conditions, operands of a condition.
FIELDS, CONDITIONS, OPERANDS = 32, 8, 32

_NESTING = (ua.FilterOperator.And, ua.FilterOperator.Or, ua.FilterOperator.Not)

#: The fields that an event has (OPC 10000-5, 6.4.2).
_FIELDS = frozenset(
    {"EventId", "EventType", "SourceNode", "SourceName", "Time", "ReceiveTime", "LocalTime", "Message", "Severity"}
)


class Events:
    """The events of a chain, sent to subscribers of the server's node or of the chain's.

    Parameters
    ----------
    endpoint : asyncua.Server
        Who tells them.
    nodes : Nodes
        Of the ports.
    shared : SharedMemory
        With the counts.
    watches : tuple of WatchedValue
        What is counted.
    """

    def __init__(self, endpoint: Server, nodes: Nodes, shared: SharedMemory, watches: tuple[WatchedValue, ...]) -> None:
        self._endpoint, self._nodes, self._counts = endpoint, nodes, watch_counts(shared)
        self._reader = WatchReader(watches, [nodes.place(watch.port) for watch in watches])
        self._events: dict[str, tuple[Any, ...]] = {}
        self._stale = False

    async def build(self, space: int) -> None:
        """Make the types of events."""
        sources = (ua.NodeId(ua.ObjectIds.Server), self._nodes.root(space))
        for topic, name in TYPES.items():
            kind = await self._endpoint.create_custom_event_type(space, name)
            generators = [await self._endpoint.get_event_generator(kind, source) for source in sources]
            self._events[topic] = tuple(generator.event for generator in generators)

    async def look(self) -> None:
        """Compare the newest values, and report begins and ends; the counts are read first."""
        counts = self._counts.copy()
        await self._nodes.look()
        for seen in self._reader.read(counts, self._nodes.values):
            watch = seen.watch
            message = watch.begins if seen.begins else f"{watch.ends}, after {seen.cycles:,} cycles"
            if seen.begins and watch.topic == "unsolved":
                message += self._nodes.reason()
            await self._tell(watch.topic, watch.port, message, watch.severity if seen.begins else OVER)
        if self._nodes.stale != self._stale:
            self._stale = not self._stale
            message = "no cycle is run any more" if self._stale else "cycles are run again"
            await self._tell("fault", "chain.cycle", message, 900 if self._stale else OVER)

    async def _tell(self, topic: str, port: str, message: str, severity: int) -> None:
        entity = port.partition(".")[0]
        identity, time = uuid.uuid4().bytes, datetime.datetime.now(datetime.UTC)
        for event in self._events[topic]:
            event.EventId, event.Time, event.ReceiveTime = identity, time, time
            event.LocalTime = ua.TimeZoneDataType()
            event.SourceNode, event.SourceName = ua.NodeId(entity, self._nodes.space), entity
            event.Severity, event.Message = ua.UInt16(severity), ua.LocalizedText(message)
            for subscription in tuple(self._endpoint.iserver.subscription_service.subscriptions.values()):
                # An error in a client's filter does not stop the events of the others.
                with contextlib.suppress(Exception):
                    await subscription.monitored_item_srv.trigger_event(event)


def event_filter(asked: Any) -> ua.EventFilter | None:
    """Validate a filter: bounded work, and event fields only; None if it is invalid."""
    if not isinstance(asked, ua.EventFilter) or len(asked.SelectClauses or ()) > FIELDS:
        return None
    elements = asked.WhereClause.Elements if asked.WhereClause is not None else None
    if len(elements or ()) > CONDITIONS or not all(_bounded(k, element) for k, element in enumerate(elements or ())):
        return None
    for field in asked.SelectClauses or ():
        if not _known(field):
            field.BrowsePath = [ua.QualifiedName("-")]  # (a field that there is not is answered by no value)
    asked.SelectClauses = asked.SelectClauses or []
    asked.WhereClause = asked.WhereClause or ua.ContentFilter()
    asked.WhereClause.Elements = elements or []
    return asked


def _bounded(place: int, element: Any) -> bool:
    """True if a condition refers only to later ones and to event fields."""
    operands = element.FilterOperands or []
    nested = [operand for operand in operands if isinstance(operand, ua.ElementOperand)]
    if len(operands) > OPERANDS or (nested and element.FilterOperator not in _NESTING) or len(nested) > 2:
        return False
    if any(not place < operand.Index < CONDITIONS for operand in nested):
        return False
    return all(_known(operand) for operand in _attributes(operands))


def _attributes(operands: list[Any]) -> Iterator[Any]:
    for operand in operands:
        if isinstance(operand, (ua.SimpleAttributeOperand, ua.AttributeOperand)):
            yield operand


def _known(operand: Any) -> bool:
    path = operand.BrowsePath
    if isinstance(operand, ua.AttributeOperand):
        return False
    return bool(path) and len(path) == 1 and path[0].Name in _FIELDS
