"""A server in a process of its own, and clients that behave."""

import asyncio
import json
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

pytest.importorskip("asyncua")

from asyncua import ua

from linkwise.errors import ArgumentError, FileError, MissingExtraError
from linkwise.server import Server, ServerError, service
from linkwise.server.opcua.nodes import SPACE
from support.served_chain import INPUTS, OUTPUTS, PASSWORD, AChain, Running, client, node, read, until, write

ELSEWHERE = """
import asyncio, json, sys
from asyncua import Client, ua

async def main():
    client = Client(sys.argv[1], timeout=30)
    client.set_user("anna")
    client.set_password(sys.argv[2])
    async with client:
        space = await client.get_namespace_index("urn:linkwise:ports")
        nodes = [client.get_node(ua.NodeId(name, space)) for name in json.loads(sys.argv[3])]
        before = await client.read_values(nodes)
        target = client.get_node(ua.NodeId("target.position", space))
        await target.write_value([0.5, -0.25, 2.0], ua.VariantType.Double)
        print(json.dumps({"before": before, "after": await client.read_values(nodes)}))

asyncio.run(main())
"""


def test_a_client_in_another_process_reads_forty_ports_writes_one_and_sees_its_effect(served: Running) -> None:
    names = [port.name for port in INPUTS + OUTPUTS]
    assert len(names) >= 40
    told = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(ELSEWHERE), served.server.address, PASSWORD, json.dumps(names)],
        capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip
    assert told.returncode == 0, told.stderr
    seen = json.loads(told.stdout)
    before, after = (dict(zip(names, seen[when], strict=True)) for when in ("before", "after"))
    assert after["target.position"] == [0.5, -0.25, 2.0]
    assert after["tool.position"] == [1.0, -0.5, 4.0]  # in the very next read: the cycle that took it is done
    for values in (before, after):  # all of one cycle
        assert [values[f"sums.s{k}"] for k in range(30)] == [k + values["chain.cycle"] for k in range(30)]
        assert values["tool.position"] == [2 * x for x in values["target.position"]]
    assert before["chain.cycle"] < after["chain.cycle"]
    assert served.read("target.position") == [0.5, -0.25, 2.0]


def test_every_kind_of_input_can_be_written_and_read_back(served: Running) -> None:
    told = {
        "target.position": ([1.0, 2.0, 3.0], "Double"),
        "tool.max_speed": (0.25, "Double"),
        "chain.calculations_per_cycle": (7, "Int64"),
        "target.enabled": (False, "Boolean"),
        "chain.mode": ("follow", "String"),
        "hand.quaternion": ([0.0, 0.6, 0.0, 0.8], "Double"),
    }

    async def visit() -> None:
        async with client(served.server.address, "anna", PASSWORD) as anna:
            for name, (value, kind) in told.items():
                assert await write(anna, name, value, kind) == "Good"
                assert await read(anna, name) == value == served.read(name)
                assert type(await read(anna, name)) is type(value)
            assert await read(anna, "chain.reason") == "far"
            assert await write(anna, "tool.max_speed", float("inf")) == "Good"

    asyncio.run(visit())


def test_several_values_written_at_once_reach_one_cycle(served: Running) -> None:
    async def visit() -> None:
        async with client(served.server.address, "anna", PASSWORD) as anna:
            nodes = [await node(anna, name) for name in ("target.position", "tool.position", "tool.max_speed")]
            items = [
                ua.WriteValue(each.nodeid, ua.UInt32(13), "", ua.DataValue(ua.Variant(value, ua.VariantType.Double)))
                for each, value in zip(nodes, ([4.0, 5.0, 6.0], [0.0] * 3, 0.5), strict=True)
            ]
            found = await anna.uaclient.session.write(ua.WriteParameters(items))
            assert [status.name for status in found] == ["Good", "BadNotWritable", "Good"]
            assert await anna.read_values(nodes) == [[4.0, 5.0, 6.0], [8.0, 10.0, 12.0], 0.5]

    asyncio.run(visit())


def test_a_variable_tells_its_type_shape_unit_meaning_and_who_may_write(served: Running) -> None:
    async def visit() -> None:
        async with client(served.server.address, "anna", PASSWORD) as anna:
            target, matrix = await node(anna, "target.position"), await node(anna, "tool.rotation_matrix")
            assert await target.read_data_type_as_variant_type() == ua.VariantType.Double
            assert (await target.read_value_rank(), await target.read_array_dimensions()) == (ua.ValueRank.OneDimension, [3])
            assert (await matrix.read_value_rank(), await matrix.read_array_dimensions()) == (
                ua.ValueRank.TwoDimensions,
                [3, 3],
            )
            assert await matrix.read_value() == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
            assert (await target.read_description()).Text == "where the tool shall be; in m"
            (unit,) = await target.get_properties()
            assert (await unit.read_browse_name()).Name == "EngineeringUnits"
            assert (await unit.read_value()).UnitId == 5067858
            mode = await node(anna, "chain.mode")
            assert (await mode.read_description()).Text == "one of: hold, follow"
            assert (await mode.read_value_rank(), await mode.get_properties()) == (ua.ValueRank.Scalar, [])
            for name, may in (("target.position", True), ("tool.position", False), ("arm.theta", False)):
                for access in (
                    await (await node(anna, name)).get_access_level(),
                    await (await node(anna, name)).get_user_access_level(),
                ):
                    assert (ua.AccessLevel.CurrentWrite in access) is may

    asyncio.run(visit())


def test_ports_are_found_by_browsing(served: Running) -> None:
    async def visit() -> None:
        async with client(served.server.address) as guest:
            space = await guest.get_namespace_index(SPACE)
            tool = await guest.nodes.objects.get_child([f"{space}:press", f"{space}:tool"])
            names = {(await child.read_browse_name()).Name for child in await tool.get_children()}
            assert names == {"position", "rotation_matrix", "max_speed"}
            assert (
                await guest.nodes.objects.get_child([f"{space}:press", f"{space}:chain", f"{space}:cycle"])
            ).nodeid == ua.NodeId("chain.cycle", space)

    asyncio.run(visit())


def test_who_subscribes_is_told_what_changes(served: Running) -> None:
    class Listener:
        def __init__(self) -> None:
            self.heard: list[int] = []

        def datachange_notification(self, node: object, value: int, data: object) -> None:
            self.heard.append(value)

    async def visit() -> list[int]:
        listener = Listener()
        async with client(served.server.address) as guest:
            subscription = await guest.create_subscription(20, listener)
            await subscription.subscribe_data_change(await node(guest, "chain.cycle"))
            await waited(lambda: len(listener.heard) > 5)
            await subscription.delete()
        return listener.heard

    heard = asyncio.run(visit())
    assert len(heard) > 5
    assert heard == sorted(set(heard))


async def waited(holds: object) -> None:
    for _ in range(3000):
        if holds():  # type: ignore[operator]
            return
        await asyncio.sleep(0.01)


def test_values_of_a_cycle_that_stands_still_are_told_to_be_old_and_nothing_is_written(served: Running) -> None:
    async def visit() -> None:
        async with client(served.server.address, "anna", PASSWORD) as anna:
            cycle = await node(anna, "chain.cycle")
            assert (await cycle.read_data_value()).StatusCode.is_good()
            assert await write(anna, "target.position", [1.0, 1.0, 1.0]) == "Good"
            served.held.set()
            try:
                for _ in range(3000):
                    found = await cycle.read_data_value(raise_on_bad_status=False)
                    if not found.StatusCode.is_good():
                        break
                    await asyncio.sleep(0.01)
                assert found.StatusCode.name == "UncertainLastUsableValue"
                assert found.Value.Value == served.read("chain.cycle")
                assert await write(anna, "target.position", [9.0, 9.0, 9.0]) == "BadNoCommunication"
            finally:
                served.held.clear()
            for _ in range(3000):
                if (await cycle.read_data_value(raise_on_bad_status=False)).StatusCode.is_good():
                    break
                await asyncio.sleep(0.01)
            assert (await cycle.read_data_value()).StatusCode.is_good()
            assert await read(anna, "target.position") == [1.0, 1.0, 1.0]

    asyncio.run(visit())


def test_what_the_chain_itself_refuses_comes_back_as_refused(served: Running) -> None:
    """An input that was routed after the server began: only the chain knows."""
    before = served.server.counts["refused"]
    served.chain.ports.route("tool.position", "target.position")
    try:

        async def visit() -> None:
            async with client(served.server.address, "anna", PASSWORD) as anna:
                assert await write(anna, "target.position", [7.0, 7.0, 7.0]) == "BadOutOfRange"

        asyncio.run(visit())
    finally:
        served.chain.ports.unroute("target.position")
    served.chain.ports.write("target.position", [0.0, 0.0, 0.0])
    assert until(lambda: served.server.counts["refused"] == before + 1)
    assert "is fed by 'tool.position'" in served.server.last_refusal


def test_a_port_that_is_taken_or_a_host_that_is_not_here_is_told(served: Running, tmp_path: Path) -> None:
    taken = int(served.server.address.split(":")[2].split("/")[0])
    with pytest.raises(ServerError, match=f"no server at 127.0.0.1:{taken}: .*in use"):
        Server(AChain().ports, port=taken)
    with pytest.raises(ServerError, match=r"no server at 127\.99\.99\.256:0: "):
        Server(AChain().ports, host="127.99.99.256", port=0, certificates=tmp_path / "made")
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    ("begin", "told"),
    [
        ("import sys; sys.exit('first line\\nno luck')", "no luck"),
        ("""print('{"error": "no room"}')""", "no room"),
        ("pass", "no answer"),
        ("print()", "no answer"),
    ],
)
def test_why_a_server_did_not_begin_is_told(begin: str, told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "_BEGIN", begin)
    with pytest.raises(ServerError, match=f"no server at 127.0.0.1:0: {told}"):
        Server(AChain().ports, port=0)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"host": "0.0.0.0"}, "host '0.0.0.0' is reached from other machines, which are served encrypted only"),
        ({"host": "192.0.2.1"}, "host '192.0.2.1' is reached from other machines"),
        ({"host": "plc.example"}, "host 'plc.example' is reached from other machines"),
        ({"host": "::"}, "host '::' is reached from other machines"),
        ({"host": ""}, "the host is ''"),
        ({"port": 70000}, "port is 70000; expected a number from 0 to 65535"),
        ({"publish": 0}, "publish is 0; expected a number from 0.1 to 1000"),
        ({"stale": float("nan")}, "stale is nan"),
        ({"connections": True}, "connections is True"),
        ({"hold_after": 0}, "hold_after is 0"),
    ],
)
def test_what_cannot_be_served_is_told_before_anything_starts(options: dict[str, object], told: str) -> None:
    with pytest.raises(ArgumentError, match=told.replace("(", r"\(")):
        Server(AChain().ports, **options)  # type: ignore[arg-type]


def test_a_file_of_users_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="there is no such file"):
        Server(AChain().ports, users=tmp_path / "nobody.txt")


def test_without_asyncua_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r'library.*install.*"asyncua>=2\.1,<2\.2"'):
        Server(AChain().ports)
