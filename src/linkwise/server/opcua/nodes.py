"""The ports as nodes: an object for each link and constraint, a variable for each port, read from the newest snapshot."""

from __future__ import annotations

import datetime
import time
from typing import Any

import numpy as np
from asyncua import Server, ua

from linkwise.control.ports import Ports
from linkwise.server.shared_memory import ChainCommand, Snapshots
from linkwise.spatial.scalar import FloatArray

#: The code and the name of each unit that has them.
CODES = {
    "1": ("C62", "one"),
    "m": ("MTR", "metre"),
    "rad": ("C81", "radian"),
    "s": ("SEC", "second"),
    "m/s": ("MTS", "metre per second"),
    "m/s2": ("MSK", "metre per second squared"),
    "rad/s": ("2A", "radian per second"),
    "rad/s2": ("2B", "radian per second squared"),
}

NAMESPACE = "http://www.opcfoundation.org/UA/units/un/cefact"

#: The namespace of the ports, under which they are found by name.
SPACE = "urn:linkwise:ports"

#: The type of a variable for each kind of port, and the node of that type.
TYPES = {
    "float": (ua.VariantType.Double, ua.ObjectIds.Double),
    "int": (ua.VariantType.Int64, ua.ObjectIds.Int64),
    "bool": (ua.VariantType.Boolean, ua.ObjectIds.Boolean),
    "choice": (ua.VariantType.String, ua.ObjectIds.String),
}

#: Reference from its parent to a node of each type, and its class; a method has no type.
_REFERENCES = {
    ua.ObjectIds.BaseObjectType: (ua.ObjectIds.Organizes, ua.NodeClass.Object),
    ua.ObjectIds.BaseDataVariableType: (ua.ObjectIds.HasComponent, ua.NodeClass.Variable),
    ua.ObjectIds.PropertyType: (ua.ObjectIds.HasProperty, ua.NodeClass.Variable),
    None: (ua.ObjectIds.HasComponent, ua.NodeClass.Method),
}

_READ, _WRITE = 1 << ua.AccessLevel.CurrentRead, 1 << ua.AccessLevel.CurrentWrite
_SCALAR = -1

_COMMANDS = {
    ChainCommand.reset: "begin again, at rest, where the chain began; inputs that are not routed stay",
    ChainCommand.save: "keep the state of the chain, in place of the one kept before",
    ChainCommand.restore: "go on from the state that was kept last",
}

#: Identifier of the chain: that of a port is its name, that of a link or constraint the part before its first dot.
_ROOT = "."


class Nodes:
    """The nodes of a chain's ports.

    Parameters
    ----------
    server : asyncua.Server
        Where they are.
    ports : Ports
        The server's own copy of the table, its values those of the last snapshot.
    routed : set of str
        Inputs that are fed by other ports.
    snapshots : Snapshots
        Of the values, into ``ports.values``.
    stale : float
        After so many seconds without a new snapshot the values are old.

    Attributes
    ----------
    inputs : dict
        The name of each input that may be written, by node.
    """

    def __init__(self, server: Server, ports: Ports, routed: set[str], snapshots: Snapshots, stale: float) -> None:
        self._space, self._services = server.iserver.aspace, server.iserver
        self._ports, self._routed, self._snapshots = ports, routed, snapshots
        self._stale_after, self._since, self._told_stale = stale, time.monotonic(), False
        self._names = list(ports)
        self._starts = np.array([ports.slice_of(name).start for name in self._names], dtype=np.intp)
        self._before = snapshots.values.copy()
        self._cache: dict[str, ua.DataValue] = {}
        self._values: dict[str, Any] = {}
        self._changed: set[str] = set()
        self._all: set[ua.NodeId] = set()
        self.inputs: dict[ua.NodeId, str] = {}
        self.methods: dict[ua.NodeId, ChainCommand] = {}
        self.space = 0

    @property
    def values(self) -> FloatArray:
        """The newest values (N,)."""
        return self._snapshots.values

    def place(self, name: str) -> int:
        """Index of a port's value in the vector."""
        return int(self._ports.slice_of(name).start)

    def reason(self) -> str:
        """Reason why the chain is unsolved, after a colon; empty if the chain has no such port."""
        return f": {self._ports.read('chain.reason')}" if "chain.reason" in self._ports else ""

    def root(self, space: int) -> ua.NodeId:
        """The node of the chain."""
        return ua.NodeId(_ROOT, space)

    @property
    def stale(self) -> bool:
        """True if no snapshot came for too long."""
        return time.monotonic() - self._since > self._stale_after

    async def build(self, title: str, space: int, interval: float, *, commands: bool = False) -> None:
        """Create the nodes; `interval` is the polling period, s; with methods if there are commands."""
        self.space = space
        root = await self._object(ua.NodeId(ua.ObjectIds.ObjectsFolder), ua.NodeId(_ROOT, space), title, space)
        entities: dict[str, ua.NodeId] = {}
        for name in self._names:
            entity, _, label = name.partition(".")
            if entity not in entities:
                entities[entity] = await self._object(root, ua.NodeId(entity, space), entity, space)
            await self._variable(entities[entity], name, label, space, interval)
        for command in ChainCommand if commands else ():
            name = ua.LocalizedText(command.name)
            attributes = ua.MethodAttributes(DisplayName=name, Description=ua.LocalizedText(_COMMANDS[command]))
            node = ua.NodeId(f"{_ROOT}{command.name}", space)
            self.methods[await self._add(root, node, ua.QualifiedName(command.name, space), attributes, None)] = command

    async def look(self) -> None:
        """Take the newest snapshot, and publish the changes."""
        self.refresh()
        stale = self.stale
        if stale != self._told_stale:
            self._told_stale = stale
            self._changed.update(self._names)
            self._cache.clear()
        changed, self._changed = self._changed, set()
        for name in changed:
            attribute = self._values[name]
            if attribute.datachange_callbacks:
                value = self._value(name)
                for handle, callback in tuple(attribute.datachange_callbacks.items()):
                    try:
                        await callback(handle, value)
                    except Exception:  # (one that fails is called no more, so that the others are)
                        attribute.datachange_callbacks.pop(handle, None)

    def refresh(self) -> None:
        """Take the newest snapshot; changes are published at the next poll."""
        if not self._snapshots.read():
            return
        self._since = time.monotonic()
        self._cache.clear()
        values = self._snapshots.values
        bits = values.view(np.int64) != self._before.view(np.int64)  # (NaN is not equal to itself)
        if bits.any():
            self._changed.update(self._names[k] for k in np.flatnonzero(np.logical_or.reduceat(bits, self._starts)))
            self._before[:] = values

    def known(self, node: ua.NodeId) -> bool:
        """True if a node belongs to a port."""
        return node in self._all

    def _value(self, name: str) -> ua.DataValue:
        value = self._cache.get(name)
        if value is None:
            stamp = datetime.datetime.fromtimestamp(self._snapshots.stamp, datetime.UTC)
            old = ua.StatusCodes.UncertainLastUsableValue
            status = ua.StatusCode(ua.UInt32(old)) if self.stale else ua.StatusCode()
            value = ua.DataValue(self._variant(name), status, SourceTimestamp=stamp, ServerTimestamp=stamp)
            self._cache[name] = value
        return value

    def _variant(self, name: str) -> ua.Variant:
        port = self._ports[name]
        kind, _ = TYPES[port.kind]
        value: Any = self._ports.read(name)
        if not port.shape:
            return ua.Variant(value, kind)
        return ua.Variant(value.tolist(), kind, Dimensions=list(port.shape) if len(port.shape) > 1 else None, is_array=True)

    async def _object(self, parent: ua.NodeId, node: ua.NodeId, name: str, space: int) -> ua.NodeId:
        attributes = ua.ObjectAttributes(DisplayName=ua.LocalizedText(name))
        return await self._add(parent, node, ua.QualifiedName(name, space), attributes, ua.ObjectIds.BaseObjectType)

    async def _variable(self, parent: ua.NodeId, name: str, label: str, space: int, interval: float) -> None:
        port = self._ports[name]
        node = ua.NodeId(name, space)
        writable = port.direction == "in" and name not in self._routed
        access = _READ | _WRITE if writable else _READ
        attributes = ua.VariableAttributes(
            DisplayName=ua.LocalizedText(label),
            Description=ua.LocalizedText(_described(port.description, port.unit, port.choices)),
            Value=self._variant(name),
            DataType=ua.NodeId(TYPES[port.kind][1]),
            ValueRank=ua.Int32(len(port.shape) or _SCALAR),
            ArrayDimensions=[ua.UInt32(size) for size in port.shape] or None,
            AccessLevel=ua.Byte(access),
            UserAccessLevel=ua.Byte(access),
            MinimumSamplingInterval=interval * 1e3,
        )
        where = ua.QualifiedName(label, space)
        await self._add(parent, node, where, attributes, ua.ObjectIds.BaseDataVariableType)
        self._space.set_attribute_value_callback(node, ua.AttributeIds.Value, lambda *_: self._value(name))
        self._values[name] = self._space[node].attributes[ua.AttributeIds.Value]
        self._all.add(node)
        if writable:
            self.inputs[node] = name
        if port.unit != "1":
            await self._unit(node, name, port.unit, space)

    async def _unit(self, variable: ua.NodeId, name: str, unit: str, space: int) -> None:
        """The property by which the standard states a unit (OPC 10000-8, 5.3.2)."""
        information = ua.EUInformation(
            NAMESPACE, ua.Int32(unit_id(unit)), ua.LocalizedText(unit), ua.LocalizedText(unit_name(unit))
        )
        attributes = ua.VariableAttributes(
            DisplayName=ua.LocalizedText("EngineeringUnits"),
            Value=ua.Variant(information, ua.VariantType.ExtensionObject),
            DataType=ua.NodeId(ua.ObjectIds.EUInformation),
            ValueRank=ua.Int32(_SCALAR),
            AccessLevel=ua.Byte(_READ),
            UserAccessLevel=ua.Byte(_READ),
        )
        where, node = ua.QualifiedName("EngineeringUnits", 0), ua.NodeId(f"{name}:unit", space)
        await self._add(variable, node, where, attributes, ua.ObjectIds.PropertyType)

    async def _add(
        self, parent: ua.NodeId, node: ua.NodeId, name: ua.QualifiedName, attributes: Any, definition: int | None
    ) -> ua.NodeId:
        reference, node_class = _REFERENCES[definition]
        item = ua.AddNodesItem(
            ParentNodeId=parent,
            ReferenceTypeId=ua.NodeId(reference),
            RequestedNewNodeId=node,
            BrowseName=name,
            NodeClass=node_class,
            NodeAttributes=attributes,
            TypeDefinition=ua.NodeId() if definition is None else ua.NodeId(definition),
        )
        (result,) = await self._services.isession.add_nodes([item])
        result.StatusCode.check()
        return node


def _described(text: str, unit: str, words: tuple[str, ...]) -> str:
    parts = [text, "" if unit == "1" else f"in {unit}", f"one of: {', '.join(words)}" if words else ""]
    return "; ".join(part for part in parts if part)


def unit_id(unit: str) -> int:
    """The number of a unit: the characters of its code, one byte each; -1 for a unit that has none.

    Examples
    --------
    >>> unit_id("m"), unit_id("furlong")
    (5067858, -1)
    """
    return int.from_bytes(CODES[unit][0].encode("ascii"), "big") if unit in CODES else -1


def unit_name(unit: str) -> str:
    """The unit's name in words, or itself.

    Examples
    --------
    >>> unit_name("m/s2")
    'metre per second squared'
    """
    return CODES[unit][1] if unit in CODES else unit
