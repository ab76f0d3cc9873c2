"""Methods of a served chain, its events, and the record of both: by a client over OPC UA."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("asyncua")

from asyncua import ua

from linkwise import control, robots
from linkwise.server import Server, read_audit
from linkwise.server.opcua.events import event_filter
from linkwise.server.watches import WatchedValue, WatchReader
from support.served_chain import PASSWORD, client, node, until, write

HOME = [0.3, 0.9]


class Served:
    """A planar arm in a thread, with methods and a record."""

    def __init__(self, users: Path, audit: Path) -> None:
        target = control.FixedPosition("goal", "tool", robots.planar_2r().forward_kinematics(HOME)[:3, 3])
        self.chain = control.Chain(robots.planar_2r(), target, q0=HOME)
        self.server = Server(self.chain.ports, port=0, users=users, audit=audit, chain=self.chain)
        self.ended, self.brief = threading.Event(), threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self) -> None:
        while not self.ended.wait(2e-3):
            self.server.take()
            if self.brief.is_set():  # one cycle that has no solution, within the time between two looks
                goal = self.chain["goal.position"]
                self.chain["goal.position"] = [9.0, 0.0, 0.0]
                self.cycle()
                self.chain["goal.position"] = goal
                self.brief.clear()
            self.cycle()

    def cycle(self) -> None:
        self.chain.step(2e-3)
        self.server.publish()


@pytest.fixture(scope="module")
def served(users: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, Path]]:
    audit = tmp_path_factory.mktemp("audit") / "audit.jsonl"
    running = Served(users, audit)
    yield running, audit
    running.ended.set()
    running.thread.join()
    running.server.close()


async def call(connected: Any, name: str, *arguments: Any) -> str:
    root = await node(connected, ".")
    method = ua.CallMethodRequest(root.nodeid, (await node(connected, f".{name}")).nodeid, list(arguments))
    (result,) = await connected.uaclient.session.call([method])
    return str(result.StatusCode.name)


def test_an_operator_resets_saves_and_restores_and_all_of_it_is_on_record(served: tuple[Served, Path]) -> None:
    running, path = served
    chain = running.chain

    async def visit() -> None:
        async with client(running.server.address) as nobody, client(running.server.address, "victor", PASSWORD) as victor:
            for reader in (nobody, victor):
                assert await call(reader, "reset") == "BadUserAccessDenied"
        async with client(running.server.address, "anna", PASSWORD) as anna:
            assert await call(anna, "restore") == "BadInvalidState"
            assert await call(anna, "save", ua.Variant(1.0)) == "BadTooManyArguments"
            assert await call(anna, "save") == "Good"
            assert await write(anna, "goal.position", [1.0, 1.0, 0.0]) == "Good"
            assert until(lambda: np.abs(chain["tool.solved_position"] - [1.0, 1.0, 0.0]).max() < 1e-9)
            assert await write(anna, "tool.max_speed", 0.25) == "Good"
            assert await write(anna, "tool.max_speed", -1.0) == "BadOutOfRange"
            assert await call(anna, "restore") == "Good"
            assert chain["tool.max_speed"] == np.inf
            assert until(lambda: np.abs(chain.solved_q - HOME).max() < 1e-9)
            assert await call(anna, "reset") == "Good"

    asyncio.run(visit())
    records = read_audit(path)
    assert {(record.user, record.by) for record in records} == {("anna", "opcua")}
    assert all(record.address.startswith("127.0.0.1:") for record in records)
    known = [(record.action, record.port, record.outcome) for record in records]
    assert known == [
        ("restore", None, "refused"),
        ("save", None, "accepted"),
        ("write", "goal.position", "accepted"),
        ("write", "tool.max_speed", "accepted"),
        ("restore", None, "accepted"),
        ("reset", None, "accepted"),
    ]
    home = robots.planar_2r().forward_kinematics(HOME)[:3, 3]
    assert records[2].old == home.tolist()
    assert records[2].new == [1.0, 1.0, 0.0]
    assert (records[3].old, records[3].new) == ("inf", 0.25)


class Heard:
    """What a subscription tells."""

    def __init__(self) -> None:
        self.events: list[Any] = []

    def event_notification(self, event: Any) -> None:
        self.events.append(event)


def test_events_tell_of_a_single_unsolved_cycle_and_of_the_end_of_cycles(served: tuple[Served, Path]) -> None:
    running, _ = served
    heard, quiet = Heard(), Heard()

    async def visit() -> None:
        async with client(running.server.address) as nobody:
            subscription = await nobody.create_subscription(20, heard)
            other = await nobody.create_subscription(20, quiet)
            await subscription.subscribe_events()
            kinds = await nobody.get_node(ua.ObjectIds.BaseEventType).get_children()
            names = {(await kind.read_browse_name()).Name: kind for kind in kinds}
            await other.subscribe_events(await node(nobody, "."), names["FaultEventType"])
            running.brief.set()
            for _ in range(200):
                await asyncio.sleep(0.02)
                if len(heard.events) >= 2:
                    break

    asyncio.run(visit())
    unsolved = [event for event in heard.events if event.SourceName == "chain" and "constraints" in event.Message.Text]
    begin, end = unsolved[:2]
    assert begin.Message.Text.startswith("constraints do not hold")
    assert end.Message.Text == "all constraints hold again, after 1 cycles"
    assert begin.Severity > end.Severity
    assert begin.EventId != end.EventId
    assert not quiet.events


def where(*elements: ua.ContentFilterElement) -> ua.EventFilter:
    return ua.EventFilter(WhereClause=ua.ContentFilter(Elements=list(elements)))


def element(operator: Any, *operands: Any) -> ua.ContentFilterElement:
    return ua.ContentFilterElement(FilterOperator=operator, FilterOperands=list(operands))


ALL, LIST = ua.FilterOperator.And, ua.FilterOperator.InList
REFUSED = {
    "none": None,
    "of data": ua.DataChangeFilter(),
    "too many fields": ua.EventFilter(SelectClauses=[ua.SimpleAttributeOperand()] * 33),
    "too many conditions": where(*[element(ua.FilterOperator.OfType, ua.LiteralOperand())] * 9),
    "too many operands": where(element(LIST, *[ua.LiteralOperand()] * 33)),
    "a circle": where(element(ALL, ua.ElementOperand(0), ua.ElementOperand(0))),
    "nested lists": where(element(LIST, ua.ElementOperand(1), ua.ElementOperand(1)), element(LIST)),
    "what is no field": where(element(ALL, ua.SimpleAttributeOperand(BrowsePath=[ua.QualifiedName("__class__")]))),
}


@pytest.mark.parametrize("refused", REFUSED)
def test_filters_that_would_take_long_or_reach_elsewhere_are_refused(refused: str) -> None:
    assert event_filter(REFUSED[refused]) is None


def test_fields_that_events_do_not_have_are_left_without_a_value() -> None:
    names = ("Message", "__class__", "add_property")
    asked = ua.EventFilter(SelectClauses=[ua.SimpleAttributeOperand(BrowsePath=[ua.QualifiedName(name)]) for name in names])
    admitted = event_filter(asked)
    assert admitted is not None
    assert [clause.BrowsePath[0].Name for clause in admitted.SelectClauses] == ["Message", "-", "-"]


def test_watches_are_read_as_intervals() -> None:
    reader = WatchReader([WatchedValue("a.b", 1.0, "limit", 300, "begins", "ends")], [1])

    def read(count: int, value: float) -> list[tuple[bool, int]]:
        return [(seen.begins, seen.cycles) for seen in reader.read(np.array([count]), np.array([7.0, value]))]

    assert read(0, 1.0) == []  # the values are newer than the counts: told the next time
    assert read(2, 1.0) == [(True, 0)]
    assert read(5, 1.0) == []
    assert read(6, 0.0) == [(False, 6)]
    assert read(6, 0.0) == []
    assert read(7, 0.0) == [(True, 0), (False, 1)]
