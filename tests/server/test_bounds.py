"""What one client asks for is bounded: in work, in memory, in what is kept for it. Nothing of it ends the server."""

import asyncio
import socket
import struct
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

pytest.importorskip("asyncua")

from asyncua import Client, ua
from asyncua.common.utils import Buffer, NotEnoughData
from asyncua.ua import ua_binary
from asyncua.ua.ua_binary import Primitives, nodeid_to_binary, struct_to_binary
from asyncua.ua.uaerrors import UaStatusCodeError

from linkwise.server.opcua import sessions
from linkwise.server.opcua.sessions import BROWSES, ITEMS, PATHS, READS, WRITES, network
from support.served_chain import PASSWORD, Running, client, node, read

from .test_hostile import address, greeting

MANY = 2**31 - 1
GREATEST = 200_000
"""What the server may grow by, kB: a tenth of what the smallest of these attacks takes where nothing bounds it."""


def header(extension: bytes = b"") -> bytes:
    """A GetEndpoints request up to its parameters, with an extension object in its header."""
    kind = nodeid_to_binary(ua.FourByteNodeId(ua.ObjectIds.GetEndpointsRequest_Encoding_DefaultBinary))
    if not extension:
        return kind + struct_to_binary(ua.RequestHeader())
    plain = struct_to_binary(ua.RequestHeader())
    named = nodeid_to_binary(ua.typeid_by_extension_objects[ua.LiteralOperand])
    return kind + plain[: -len(b"\0\0\0")] + named + b"\1" + struct.pack("<i", len(extension)) + extension


def variants(one: bytes, count: int) -> bytes:
    return b"\x98" + struct.pack("<i", count) + one * count


BOMBS = {
    "texts that go back in the message": header() + Primitives.String.pack("") + struct.pack("<ii", MANY, -4) + b"\0" * 8,
    "an array of nothing": header(b"\x80" + struct.pack("<i", MANY)),
    "arrays with dimensions beyond what comes": header(variants(b"\xc1" + struct.pack("<iii", 0, 1, 1_000_000), 3000)),
}


def grown(served: Running) -> int:
    """The most memory that the server ever had, kB; nothing where the system does not tell."""
    try:
        with open(f"/proc/{served.server._process.pid}/status", encoding="ascii") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))
    except FileNotFoundError:
        return 0


@pytest.mark.parametrize("body", BOMBS.values(), ids=BOMBS)
def test_a_few_bytes_do_not_keep_the_server_busy(served: Running, body: bytes) -> None:
    before = grown(served)
    with socket.create_connection(address(served), timeout=20) as one:
        one.sendall(greeting())
        one.recv(100)
        one.sendall(b"MSGF" + struct.pack("<IIIII", 24 + len(body), 0, 0, 1, 1) + body)
        one.recv(100)  # (a refusal, or nothing where it is cut off)

    async def visit() -> None:
        async with client(served.server.address) as guest:
            assert await read(guest, "chain.cycle") > 0

    asyncio.run(visit())
    assert grown(served) - before < GREATEST


def test_lengths_are_bounded_where_messages_are_read() -> None:
    from linkwise.server.opcua import connections

    connections.bound()
    with pytest.raises(NotEnoughData):
        Buffer(b"abcdefgh", 4).read(-4)
    assert Buffer(b"abcdefgh", 4).read(4) == b"efgh"
    empty = ua.Variant([], ua.VariantType.Null, is_array=True)
    assert ua_binary.variant_from_binary(Buffer(ua_binary.variant_to_binary(empty))).Value == []
    square = ua.Variant([[1.0, 2.0, 3.0]] * 3, ua.VariantType.Double, Dimensions=[3, 3], is_array=True)
    assert ua_binary.variant_from_binary(Buffer(ua_binary.variant_to_binary(square))).Value == square.Value


Ask = Callable[[Client, ua.NodeId], Awaitable[Any]]


def attribute(port: ua.NodeId, part: str | None = None) -> ua.ReadValueId:
    return ua.ReadValueId(NodeId=port, AttributeId=ua.UInt32(ua.AttributeIds.Value), IndexRange=part)


def item(port: ua.NodeId, handle: int = 1, **asked: Any) -> ua.MonitoredItemCreateRequest:
    wanted = ua.MonitoringParameters(ClientHandle=ua.UInt32(handle), QueueSize=ua.UInt32(2**31), **asked)
    return ua.MonitoredItemCreateRequest(
        ItemToMonitor=attribute(port), MonitoringMode=ua.MonitoringMode.Reporting, RequestedParameters=wanted
    )


async def subscribed(guest: Client, interval: float = 50.0) -> ua.CreateSubscriptionResult:
    asked = ua.CreateSubscriptionParameters(
        RequestedPublishingInterval=interval,
        RequestedLifetimeCount=ua.UInt32(100),
        RequestedMaxKeepAliveCount=ua.UInt32(10),
        PublishingEnabled=True,
    )
    made: ua.CreateSubscriptionResult = await guest.uaclient.session.create_subscription(asked, lambda *_: None)
    return made


async def watch(guest: Client, subscription: int, items: list[ua.MonitoredItemCreateRequest]) -> list[str]:
    asked = ua.CreateMonitoredItemsParameters(ua.UInt32(subscription), ua.TimestampsToReturn.Both, items)
    return [made.StatusCode.name for made in await guest.uaclient.create_monitored_items(asked)]


REQUESTS: dict[str, Ask] = {
    "read": lambda guest, port: guest.uaclient.session.read(ua.ReadParameters(NodesToRead=[attribute(port)] * (READS + 1))),
    "browse": lambda guest, port: guest.uaclient.session.browse(
        ua.BrowseParameters(NodesToBrowse=[ua.BrowseDescription(NodeId=port)] * (BROWSES + 1))
    ),
    "find": lambda guest, port: guest.uaclient.session.translate_browsepaths_to_nodeids(
        [ua.BrowsePath(StartingNode=port)] * (PATHS + 1)
    ),
    "write": lambda guest, port: guest.uaclient.session.write(
        ua.WriteParameters([ua.WriteValue(NodeId=port, AttributeId=ua.UInt32(13))] * (WRITES + 1))
    ),
}


@pytest.mark.parametrize("ask", REQUESTS.values(), ids=REQUESTS)
def test_a_request_for_too_much_at_once_is_refused(served: Running, ask: Ask) -> None:
    async def visit() -> str:
        async with client(served.server.address, "anna", PASSWORD) as operator:
            port = (await node(operator, "tool.max_speed")).nodeid
            with pytest.raises(UaStatusCodeError) as refusal:
                await ask(operator, port)
            return type(refusal.value).__name__

    assert asyncio.run(visit()) == "BadTooManyOperations"


def test_the_standards_nodes_tell_the_limits_and_no_long_texts(served: Running) -> None:
    async def visit() -> tuple[int, Any]:
        async with client(served.server.address) as guest:
            limit = ua.ObjectIds.Server_ServerCapabilities_OperationLimits_MaxNodesPerRead
            schema = guest.get_node(ua.NodeId(ua.ObjectIds.OpcUa_XmlSchema))
            return await guest.get_node(ua.NodeId(limit)).read_value(), await schema.read_value()

    assert asyncio.run(visit()) == (READS, None)


FILTERS = {
    "of events": ua.EventFilter(),
    "with a deadband": ua.DataChangeFilter(
        Trigger=ua.DataChangeTrigger.StatusValue, DeadbandType=ua.UInt32(ua.DeadbandType.Absolute), DeadbandValue=0.1
    ),
}


@pytest.mark.parametrize("name", ["chain.cycle", "chain.reason", "tool.position"])
@pytest.mark.parametrize("asked", FILTERS.values(), ids=FILTERS)
def test_a_filter_that_cannot_be_applied_is_refused_and_ends_nothing(served: Running, asked: Any, name: str) -> None:
    """The library raises where it applies one to a value of another kind, in the loop that looks at the values."""

    async def visit() -> tuple[list[str], str]:
        async with client(served.server.address) as guest:
            port = (await node(guest, name)).nodeid
            made = await subscribed(guest)
            told = await watch(guest, made.SubscriptionId, [item(port, Filter=asked), item(port)])
            changed = ua.MonitoredItemModifyRequest(
                MonitoredItemId=ua.UInt32(112), RequestedParameters=ua.MonitoringParameters(Filter=asked)
            )
            with pytest.raises(UaStatusCodeError) as refusal:
                await guest.uaclient.modify_monitored_items(
                    ua.ModifyMonitoredItemsParameters(made.SubscriptionId, ua.TimestampsToReturn.Both, [changed])
                )
            return told, type(refusal.value).__name__

    assert asyncio.run(visit()) == (["BadMonitoredItemFilterUnsupported", "Good"], "BadMonitoredItemFilterUnsupported")
    assert served.moves_on()
    assert served.server.state == "serving"


def test_a_part_of_an_array_is_refused_not_answered_with_all_of_it(served: Running) -> None:
    async def visit() -> tuple[str, list[str]]:
        async with client(served.server.address) as guest:
            port = (await node(guest, "tool.position")).nodeid
            (got,) = await guest.uaclient.session.read(ua.ReadParameters(NodesToRead=[attribute(port, "1")]))
            part = item(port)
            part.ItemToMonitor.IndexRange = "1"
            made = await subscribed(guest)
            return got.StatusCode.name, await watch(guest, made.SubscriptionId, [part])

    assert asyncio.run(visit()) == ("BadIndexRangeInvalid", ["BadIndexRangeInvalid"])


def test_what_is_watched_is_bounded_over_all_sessions(served: Running) -> None:
    """Two sessions without a name have the half that is theirs; one with a name still has room."""

    async def visit() -> list[str]:
        found = []
        async with client(served.server.address) as one, client(served.server.address) as two:
            port = (await node(one, "chain.mode")).nodeid
            for guest in (one, two, two):
                made = await subscribed(guest)
                try:
                    found += set(await watch(guest, made.SubscriptionId, [item(port, k) for k in range(ITEMS)]))
                except UaStatusCodeError as refusal:
                    found.append(type(refusal).__name__)
            async with client(served.server.address, "anna", PASSWORD) as operator:
                made = await subscribed(operator)
                found += await watch(operator, made.SubscriptionId, [item(port)])
        return found

    assert sessions.ALL_ITEMS // 2 == 2 * ITEMS
    assert asyncio.run(visit()) == ["Good", "Good", "BadTooManyMonitoredItems", "Good"]


@pytest.mark.parametrize(
    ("asked", "given"), [(1e300, 60_000.0), (float("inf"), 60_000.0), (float("nan"), 20.0), (-1.0, 20.0)]
)
def test_messages_of_a_subscription_come_neither_too_often_nor_never(served: Running, asked: float, given: float) -> None:
    async def visit() -> float:
        async with client(served.server.address) as guest:
            return float((await subscribed(guest, asked)).RevisedPublishingInterval)

    assert asyncio.run(visit()) == given


def test_an_address_is_one_of_ipv4_or_a_network_of_ipv6() -> None:
    assert network(("127.0.0.1", 5)) != network(("127.0.0.2", 5))
    assert network(("2001:db8::1", 5, 0, 0)) == network(("2001:db8::2", 5, 0, 0)) != network(("2001:db9::1", 5, 0, 0))
    assert network(None) == network(("a socket",)) == ""
