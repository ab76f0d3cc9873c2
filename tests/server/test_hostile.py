"""Clients that do not behave change nothing, and are counted."""

import asyncio
import contextlib
import socket
import struct
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("asyncua")

from asyncua import Client, ua
from asyncua.common.utils import ServiceError
from asyncua.ua.uaerrors import UaStatusCodeError

from linkwise.server.opcua import connections
from linkwise.server.opcua.connections import CHUNK
from support.served_chain import PASSWORD, Running, client, node, read, until, write

HELLO = struct.pack("<5I", 0, 65535, 65535, 0, 0) + struct.pack("<i", 20) + b"opc.tcp://127.0.0.1/"


@pytest.fixture(autouse=True)
def nothing_changes(served: Running) -> Iterator[None]:
    """Whatever a test does, inputs stay, no port accepts a thing, and cycles go on."""
    place = served.chain.ports.slice_of("arm.theta").start
    before = served.chain.ports.inputs[:place].copy()
    accepted = served.server.counts["accepted"]
    yield
    assert served.moves_on()
    assert (served.chain.ports.inputs[:place] == before).all()
    assert served.server.counts["accepted"] == accepted
    assert served.server.state == "serving"


def address(served: Running) -> tuple[str, int]:
    host, port = served.server.address.removeprefix("opc.tcp://").split("/")[0].rsplit(":", 1)
    return host, int(port)


def greeting(size: int | None = None, kind: bytes = b"HELF", body: bytes = HELLO) -> bytes:
    return kind + struct.pack("<I", 8 + len(body) if size is None else size) + body


def connected(served: Running) -> socket.socket:
    """A connection that was not turned away: others of this test may be on their way out."""

    def attempt() -> socket.socket | None:
        made = socket.create_connection(address(served), timeout=20)
        with contextlib.suppress(OSError):
            made.sendall(greeting())
            if made.recv(8)[:3] == b"ACK":
                return made
        made.close()
        return None

    found = until(attempt)
    assert isinstance(found, socket.socket)
    found.recv(100)
    return found


def ended(one: socket.socket) -> bool:
    """Whether the server ends the connection within the time that it gives a client to begin a session, or twice that."""
    one.settimeout(2 * connections.HANDSHAKE)
    try:
        while one.recv(65536):
            pass
    except ConnectionError:
        return True
    except TimeoutError:
        return False
    return True


def test_who_gives_no_name_reads_and_writes_nothing(served: Running) -> None:
    async def visit() -> None:
        async with client(served.server.address) as guest:
            assert await read(guest, "chain.cycle") > 0
            assert await write(guest, "target.position", [9.0, 9.0, 9.0]) == "BadUserAccessDenied"
            assert await write(guest, "tool.position", [9.0, 9.0, 9.0]) == "BadUserAccessDenied"
            target = await node(guest, "target.position")
            assert ua.AccessLevel.CurrentWrite not in await target.get_user_access_level()
            assert ua.AccessLevel.CurrentWrite in await target.get_access_level()

    denied = served.server.counts["denied"]
    asyncio.run(visit())
    assert until(lambda: served.server.counts["denied"] == denied + 2)


@pytest.mark.parametrize(
    ("name", "password"),
    [
        ("admin", "wrong"),
        ("Admin", ""),
        ("admin", PASSWORD),
        ("nobody", PASSWORD),
        ("anna", "wrong"),
        ("anna", ""),
        ("ANNA", PASSWORD),
    ],
)
def test_a_name_without_its_password_is_not_let_in(served: Running, name: str, password: str) -> None:
    async def visit() -> None:
        async with client(served.server.address, name, password):
            raise AssertionError("was let in")

    with pytest.raises(UaStatusCodeError) as refused:
        asyncio.run(visit())
    assert refused.value.code == ua.StatusCodes.BadUserAccessDenied


def test_a_viewer_only_views(served: Running) -> None:
    async def visit() -> None:
        async with client(served.server.address, "victor", PASSWORD) as victor:
            assert await read(victor, "tool.max_speed") > 0
            assert await write(victor, "target.position", [9.0, 9.0, 9.0]) == "BadUserAccessDenied"

    asyncio.run(visit())


def test_an_operator_cannot_write_what_is_no_input_or_no_value_of_it(served: Running) -> None:
    nan, far = float("nan"), float("inf")
    table: list[tuple[str, Any, str, str]] = [
        ("tool.position", [9.0, 9.0, 9.0], "Double", "BadNotWritable"),
        ("chain.cycle", 0, "Int64", "BadNotWritable"),
        ("arm.theta", 9.0, "Double", "BadNotWritable"),
        ("target.nothing", 9.0, "Double", "BadNodeIdUnknown"),
        ("target.position", [9.0, nan, 9.0], "Double", "BadOutOfRange"),
        ("target.position", [9.0, far, 9.0], "Double", "BadOutOfRange"),
        ("target.position", [9.0, 9.0], "Double", "BadOutOfRange"),
        ("target.position", [9.0] * 4, "Double", "BadOutOfRange"),
        ("target.position", [], "Double", "BadOutOfRange"),
        ("target.position", 9.0, "Double", "BadTypeMismatch"),
        ("target.position", [9.0] * 3, "Float", "BadTypeMismatch"),
        ("target.position", [9, 9, 9], "Int64", "BadTypeMismatch"),
        ("target.position", None, "Null", "BadTypeMismatch"),
        ("target.position", ["9"] * 3, "String", "BadTypeMismatch"),
        ("tool.max_speed", nan, "Double", "BadOutOfRange"),
        ("tool.max_speed", 0.0, "Double", "BadOutOfRange"),
        ("tool.max_speed", -1.0, "Double", "BadOutOfRange"),
        ("tool.max_speed", [1.0], "Double", "BadTypeMismatch"),
        ("chain.calculations_per_cycle", 0, "Int64", "BadOutOfRange"),
        ("chain.calculations_per_cycle", 2**60, "Int64", "BadOutOfRange"),
        ("chain.calculations_per_cycle", 5.0, "Double", "BadTypeMismatch"),
        ("target.enabled", 1, "Int64", "BadTypeMismatch"),
        ("chain.mode", "run away", "String", "BadOutOfRange"),
        ("chain.mode", "x" * 50_000, "String", "BadOutOfRange"),
    ]

    async def visit() -> None:
        async with client(served.server.address, "anna", PASSWORD) as anna:
            for name, value, kind, told in table:
                assert (name, await write(anna, name, value, kind)) == (name, told)
            level = int(ua.AttributeIds.UserAccessLevel)
            assert await write(anna, "tool.position", 3, "Byte", level) == "BadNotWritable"
            assert await write(anna, "target.position", 1, "Byte", level) == "BadNotWritable"
            target = await node(anna, "target.position")
            good, bad = (
                ua.Variant([9.0] * 3, ua.VariantType.Double),
                ua.StatusCode(ua.UInt32(ua.StatusCodes.BadSensorFailure)),
            )
            for item in (
                ua.WriteValue(target.nodeid, ua.UInt32(13), "0:1", ua.DataValue(good)),
                ua.WriteValue(target.nodeid, ua.UInt32(13), "", ua.DataValue(good, bad)),
            ):
                (status,) = await anna.uaclient.session.write(ua.WriteParameters([item]))
                assert status.name == "BadWriteNotSupported"

    denied = served.server.counts["denied"]
    asyncio.run(visit())
    assert until(lambda: served.server.counts["denied"] == denied + len(table) + 4)


def test_even_an_operator_cannot_change_what_there_is(served: Running) -> None:
    async def visit() -> None:
        async with client(served.server.address, "anna", PASSWORD) as anna:
            target = await node(anna, "target.position")
            for attempt in (
                lambda: target.add_variable(target.nodeid.NamespaceIndex, "more", 1.0),
                lambda: anna.delete_nodes([target]),
                lambda: anna.nodes.server.call_method(ua.NodeId(ua.ObjectIds.Server_GetMonitoredItems), ua.UInt32(1)),
                lambda: target.add_reference(anna.nodes.objects, ua.ObjectIds.Organizes),
                lambda: anna.uaclient.session._send_request(ua.RegisterServerRequest()),
            ):
                with pytest.raises((UaStatusCodeError, ServiceError)) as refused:
                    await attempt()
                unserved = (ua.StatusCodes.BadServiceUnsupported, ua.StatusCodes.BadMethodInvalid)  # (the latter of methods)
                assert refused.value.code in unserved
            assert await write(anna, "tool.position", [0.0] * 3) == "BadNotWritable"

    asyncio.run(visit())


async def sessionless(served: Running) -> Client:
    """Connected, with a channel and nothing more."""
    made = client(served.server.address)
    await made.connect_socket()
    await made.send_hello()
    await made.open_secure_channel()
    return made


def test_a_session_cannot_be_taken_over_by_its_number(served: Running) -> None:
    """Its number can be guessed, and a refused attempt must not leave the other's rights behind either."""

    async def visit() -> None:
        async with client(served.server.address, "anna", PASSWORD) as anna:
            target = await node(anna, "target.position")
            thief = await sessionless(served)
            thief.uaclient.session.restore_authentication_token(anna.uaclient.session.authentication_token)
            parameters = ua.ActivateSessionParameters()
            parameters.UserIdentityToken = ua.AnonymousIdentityToken(PolicyId="anonymous")
            item = ua.WriteValue(
                target.nodeid, ua.UInt32(13), "", ua.DataValue(ua.Variant([9.0] * 3, ua.VariantType.Double))
            )
            thief.uaclient.pre_request_hook = None
            with pytest.raises(UaStatusCodeError) as refused:
                await thief.uaclient.session.activate_session(parameters)
            assert refused.value.code == ua.StatusCodes.BadSessionIdInvalid
            request = ua.WriteRequest()
            request.Parameters = ua.WriteParameters([item])
            with pytest.raises(UaStatusCodeError) as refused:
                await thief.uaclient._send_request(request)
            assert refused.value.code == ua.StatusCodes.BadUserAccessDenied
            thief.disconnect_socket()
            assert await read(anna, "chain.cycle") > 0

    asyncio.run(visit())


def test_nobody_has_a_say_over_the_subscriptions_of_others(served: Running) -> None:
    class Listener:
        heard = 0

        def datachange_notification(self, node: object, value: object, data: object) -> None:
            Listener.heard += 1

    async def visit() -> None:
        async with client(served.server.address) as guest, client(served.server.address) as other:
            subscription = await guest.create_subscription(20, Listener())
            await subscription.subscribe_data_change(await node(guest, "chain.cycle"))
            number = subscription.subscription_id
            session = other.uaclient.session
            mode = ua.SetPublishingModeParameters(SubscriptionIds=[ua.UInt32(number)], PublishingEnabled=False)
            for attempt in (
                lambda: session.delete_subscriptions([number]),
                lambda: session.set_publishing_mode(mode),
                lambda: session.delete_monitored_items(
                    ua.DeleteMonitoredItemsParameters(ua.UInt32(number), [ua.UInt32(112)])
                ),
            ):
                with pytest.raises(UaStatusCodeError) as refused:
                    await attempt()
                assert refused.value.code == ua.StatusCodes.BadSubscriptionIdInvalid
            heard = Listener.heard
            for _ in range(3000):
                if Listener.heard > heard + 2:
                    break
                await asyncio.sleep(0.01)
            assert Listener.heard > heard + 2

    asyncio.run(visit())


def test_who_gives_no_name_cannot_take_all_places(served: Running) -> None:
    """Twenty connections are served, ten of them without a name."""

    async def visit() -> None:
        async with contextlib.AsyncExitStack() as stack:
            for _ in range(10):
                await stack.enter_async_context(client(served.server.address))
            with pytest.raises(UaStatusCodeError) as refused:
                await stack.enter_async_context(client(served.server.address))
            assert refused.value.code == ua.StatusCodes.BadTooManySessions
            async with client(served.server.address, "anna", PASSWORD) as anna:
                assert await read(anna, "chain.cycle") > 0
        await asyncio.sleep(0.1)
        async with client(served.server.address) as guest:
            assert await read(guest, "chain.cycle") > 0

    assert until(lambda: served.server.counts["sessions"] == 0)
    asyncio.run(visit())


def test_hundreds_of_sockets_that_say_nothing_keep_nobody_out(served: Running) -> None:
    turned_away = served.server.counts["turned_away"]
    sockets = []
    try:
        for _ in range(400):
            sockets.append(socket.create_connection(address(served), timeout=20))

        async def visit() -> str:
            async with client(served.server.address, "anna", PASSWORD, timeout=5) as anna:
                return await write(anna, "tool.position", [9.0, 9.0, 9.0])

        def visited() -> str | None:
            with contextlib.suppress(ConnectionError, TimeoutError):
                return asyncio.run(visit())
            return None

        assert until(visited) == "BadNotWritable"
        assert served.server.counts["turned_away"] - turned_away >= 400 - 20
        assert served.server.counts["connections"] <= 20
    finally:
        for one in sockets:
            one.close()


@pytest.mark.parametrize(
    "sent",
    [
        b"GET / HTTP/1.1\r\nHost: plc\r\n\r\n",
        b"\x00" * 64,
        b"\xff" * 5000,
        greeting(size=0xFFFFFFFF),
        greeting(size=CHUNK + 1),
        greeting(size=8),
        greeting(size=3),
        greeting(body=struct.pack("<5I", 0, 1, 1, 0, 0) + struct.pack("<i", -1)),
        greeting(body=b"short"),
        greeting() + greeting(kind=b"MSGF", body=b"\x00" * 4 + b"\x07\x00\x00\x00" + b"\xaa" * 60),
        greeting() + greeting(kind=b"OPNF", body=b"\x00" * 4 + b"\xff" * 100),
        greeting() + greeting(kind=b"ERRF", body=b"\x00" * 8),
    ],
)
def test_what_is_no_message_ends_the_connection(served: Running, sent: bytes) -> None:
    one = connected(served) if sent.startswith(greeting()) else socket.create_connection(address(served), timeout=20)
    with one:
        with contextlib.suppress(ConnectionError):
            one.sendall(sent.removeprefix(greeting()))
        assert ended(one)


def test_a_message_in_more_pieces_than_are_allowed_is_refused(served: Running) -> None:
    """Two megabytes in pieces that each are of good size; one is the most."""

    async def visit() -> None:
        async with client(served.server.address, "anna", PASSWORD) as anna:
            anna.uaclient.protocol._connection._limits.max_message_size = 0
            anna.uaclient.protocol._connection._limits.max_chunk_count = 0
            with pytest.raises((UaStatusCodeError, ConnectionError)):
                await write(anna, "chain.mode", "x" * 2_000_000, "String")

    with contextlib.suppress(ConnectionError):
        asyncio.run(visit())
