"""A chain of plain arithmetic, that runs in a thread and is served; and those who come to it."""

import math
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from asyncua import Client, ua

from linkwise.control.port import Port
from linkwise.control.ports import Ports
from linkwise.server import Server
from linkwise.server.opcua.nodes import SPACE

PERIOD = 5e-3
PASSWORD = "correct horse"
INPUTS = (
    Port("target.position", "in", shape=(3,), unit="m", description="where the tool shall be"),
    Port("tool.max_speed", "in", unit="m/s", initial=math.inf, positive=True, finite=False),
    Port("chain.calculations_per_cycle", "in", "int", initial=100, least=1),
    Port("target.enabled", "in", "bool", initial=True),
    Port("chain.mode", "in", "choice", choices=("hold", "follow")),
    Port("arm.theta", "in", unit="rad", finite=False),
    Port("jog.velocity", "in", shape=(3,), unit="m/s", finite=False),
    Port("hand.quaternion", "in", shape=(4,), initial=(1.0, 0.0, 0.0, 0.0), finite=False),
)
OUTPUTS = (
    Port("arm.theta_solved", "out", unit="rad"),
    Port("tool.position", "out", shape=(3,), unit="m"),
    Port("tool.rotation_matrix", "out", shape=(3, 3)),
    Port("chain.reason", "out", "choice", choices=("solved", "far")),
    Port("chain.cycle", "out", "int"),
    Port("chain.unsolved", "out", "bool"),
    *(Port(f"sums.s{k}", "out", unit="m") for k in range(30)),
)


class AChain:
    """The tool is twice as far as the target; every sum is the cycle's number plus its own."""

    def __init__(self) -> None:
        self.ports = Ports(INPUTS + OUTPUTS)
        self.ports.route("arm.theta_solved", "arm.theta")
        view = self.ports.view
        self._target = view("target.position")
        values, place = self.ports.values, self.ports.slice_of
        self._tool, self._matrix = values[place("tool.position")], values[place("tool.rotation_matrix")]
        self._cycle, self._reason = values[place("chain.cycle")], values[place("chain.reason")]
        self._sums = values[place("sums.s0").start :]

    def step(self, dt: float) -> None:
        self.ports.apply_routes()
        self._cycle += 1
        self._tool[:] = 2 * self._target
        self._matrix[:] = range(9)
        self._reason[:] = abs(self._target).sum() > 3
        self._sums[:] = range(30)
        self._sums += self._cycle


class Running:
    """The chain in a thread, its cycles at a slow rate; it can be held."""

    def __init__(self, **options: Any) -> None:
        self.chain = AChain()
        self.server = Server(self.chain.ports, port=0, name="press", publish=50, **options)
        self.held, self._ended = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        """Cycles as of `run`, but without its hold on the garbage collector, which is the tests' as well."""
        while not self._ended.wait(PERIOD):
            if not self.held.is_set():
                self.server.take()
                self.chain.step(PERIOD)
                self.server.publish()

    def __enter__(self) -> Self:
        assert self.moves_on()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        self._thread.join()
        self.server.close()

    def read(self, name: str) -> Any:
        value = self.chain.ports.read(name)
        return value.tolist() if hasattr(value, "tolist") else value

    def moves_on(self) -> bool:
        """Whether cycles are being run."""
        before = self.read("chain.cycle")
        return bool(until(lambda: self.read("chain.cycle") > before + 5))


def until(holds: Callable[[], object], patience: float = 30.0) -> object:
    """What holds, waited for; whatever it is after that long."""
    deadline = time.monotonic() + patience
    while not (found := holds()) and time.monotonic() < deadline:
        time.sleep(0.01)
    return found


def client(address: str, name: str | None = None, password: str | None = None, timeout: float = 30) -> Client:
    made = Client(address, timeout=timeout)
    if name is not None:
        made.set_user(name)
        made.set_password(password or "")
    return made


async def node(connected: Client, name: str) -> Any:
    return connected.get_node(ua.NodeId(name, await connected.get_namespace_index(SPACE)))


async def read(connected: Client, name: str) -> Any:
    return await (await node(connected, name)).read_value()


async def write(connected: Client, name: str, value: Any, kind: str = "Double", attribute: int = 13) -> str:
    """Write, and say what became of it."""
    item = ua.WriteValue(
        NodeId=(await node(connected, name)).nodeid,
        AttributeId=ua.UInt32(attribute),
        Value=ua.DataValue(ua.Variant(value, getattr(ua.VariantType, kind))),
    )
    (status,) = await connected.uaclient.session.write(ua.WriteParameters([item]))
    return str(status.name)


def alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{process}/stat")
    return not (stat.exists() and stat.read_text().rpartition(")")[2].split()[0] == "Z")
