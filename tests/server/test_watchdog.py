"""Speeds that a client leaves behind come to an end."""

import asyncio

import numpy as np
import pytest

pytest.importorskip("asyncua")

from linkwise import control, robots
from linkwise.control.port import Port
from linkwise.control.ports import Ports
from linkwise.server import Server
from linkwise.server.shared_memory import ChainCommand
from linkwise.server.watchdog import Watchdog
from support.served_chain import PASSWORD, Running, client, until, write

PORTS = (
    Port("jog.velocity", "in", shape=(3,), unit="m/s", finite=False),
    Port("boom.theta_speed", "in", unit="rad/s", finite=False),
    Port("boom.max_speed", "in", unit="m/s", initial=2.0),
    Port("hold.position", "in", shape=(3,), unit="m", finite=False),
    Port("boom.calculated_theta_speed", "out", unit="rad/s"),
)


def test_only_speeds_that_were_written_are_stopped_and_only_when_they_are_old() -> None:
    ports, now = Ports(PORTS), [0.0]
    dog = Watchdog(ports, 0.5, clock=lambda: now[0])
    ports.write("boom.theta_speed", 0.7)  # (by the program itself: nobody's to refresh)
    for name, value in (("jog.velocity", [0.1, 0.0, -0.2]), ("hold.position", [1.0, 2.0, 3.0]), ("boom.max_speed", 1.0)):
        ports.write(name, value)
        dog.written(name)
    for now[0] in (0.1, 0.3, 0.5):
        dog.look()
    assert ports.read("jog.velocity").tolist() == [0.1, 0.0, -0.2]
    dog.written("jog.velocity")  # again, at 0.5 s
    now[0] = 0.9
    dog.look()
    assert dog.stopped == 0
    now[0] = 1.01
    dog.look()
    assert (ports.read("jog.velocity").tolist(), dog.stopped) == ([0.0] * 3, 1)
    assert ports.read("boom.theta_speed") == 0.7
    assert ports.read("hold.position").tolist() == [1.0, 2.0, 3.0]
    assert ports.read("boom.max_speed") == 1.0
    ports.write("jog.velocity", [np.nan] * 3)
    dog.written("jog.velocity")
    now[0] = 9.0
    dog.look()
    assert (ports.read("jog.velocity").tolist(), dog.stopped) == ([0.0] * 3, 2)


def test_a_speed_that_comes_back_with_a_state_is_stopped_too() -> None:
    """Saved while a client jogs, restored when nobody does."""
    chain = control.Chain(robots.planar_2r(), control.Velocity("jog", "tool", velocity=[0.0, 0.0, 0.0]), q0=[0.3, 0.9])
    with Server(chain.ports, port=0, hold_after=0.05, chain=chain) as server:
        jog = memoryview(np.array([0.1, 0.0, 0.0]))
        assert server._accept(server._names.index("jog.velocity"), jog)
        assert server._accept(ChainCommand.save, jog)
        for stops in (1, 2):
            assert until(lambda least=stops: (server.take(), server.stopped)[1] >= least, patience=5.0)
            assert chain["jog.velocity"].tolist() == [0.0, 0.0, 0.0]
            assert server._accept(ChainCommand.restore, jog)
            assert chain["jog.velocity"].tolist() == [0.1, 0.0, 0.0]


def test_a_routed_speed_is_left_to_its_source() -> None:
    ports, now = Ports(PORTS), [0.0]
    dog = Watchdog(ports, 0.5, clock=lambda: now[0])
    ports.write("boom.theta_speed", 0.7)
    dog.written("boom.theta_speed")
    ports.route("boom.calculated_theta_speed", "boom.theta_speed")
    now[0] = 1.0
    dog.look()
    assert (ports.read("boom.theta_speed"), dog.stopped) == (0.7, 0)


def test_a_client_that_goes_leaves_no_speed_behind(served: Running) -> None:
    async def visit() -> None:
        async with client(served.server.address, "anna", PASSWORD) as anna:
            assert await write(anna, "jog.velocity", [0.1, 0.0, 0.0]) == "Good"

    before = served.server.stopped
    asyncio.run(visit())
    assert until(lambda: served.server.stopped == before + 1)
    assert served.read("jog.velocity") == [0.0, 0.0, 0.0]
