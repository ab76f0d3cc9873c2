"""A small chain with everything that recording, saving and replaying must carry: feedback through a route, and a memory."""

import numpy as np

from linkwise.control import state
from linkwise.control.port import Port
from linkwise.control.ports import Ports
from linkwise.control.recording import Recorder

PORTS = (
    Port("arm.theta", "in", unit="rad", finite=False),
    Port("chain.mode", "in", "choice", choices=("hold", "follow, fast")),
    Port("chain.limit", "in", "int", initial=100, least=1),
    Port("target.position", "in", shape=(3,), unit="m"),
    Port("target.enabled", "in", "bool", initial=True),
    Port("wind.speed", "in", unit="m/s", finite=False),
    Port("arm.theta_solved", "out", unit="rad"),
    Port("tool.rotation_matrix", "out", shape=(3, 3)),
    Port("chain.cycle", "out", "int"),
    Port("chain.reason", "out", "choice", choices=("solved", "limited")),
)


class AChain:
    """Swings towards a target: the angle comes back through a route, the rate is kept inside."""

    def __init__(self, name: str = "a", ports: tuple[Port, ...] = PORTS) -> None:
        self.ports, self.carry, self.settings = Ports(ports), np.zeros(3), {"name": name}
        self.ports.route("arm.theta_solved", "arm.theta")
        self.recorder: Recorder | None = None

    def step(self, dt: float) -> None:
        ports = self.ports
        ports.apply_routes()
        theta, target = ports.read("arm.theta"), ports.view("target.position")
        pull = (
            ports.read("target.enabled") * np.sin(target.sum() - theta) * (1 + (ports.read("chain.mode") == "follow, fast"))
        )
        pull += np.nan_to_num(ports.read("wind.speed"))
        self.carry[1] += dt * (3.0 * pull - 0.7 * self.carry[1])
        self.carry[0] += dt
        self.carry[2] += 1
        solved = theta + dt * self.carry[1]
        turn = np.array([[np.cos(solved), -np.sin(solved), 0.0], [np.sin(solved), np.cos(solved), 0.0], [0.0, 0.0, 1.0]])
        ports.outputs[...] = [solved, *turn.ravel(), self.carry[2], float(abs(solved) > 0.1)]
        if self.recorder:
            self.recorder.take(self.carry[0], dt)

    def save(self) -> state.State:
        return state.save(self.ports, self.carry, self.settings)

    def restore(self, saved: state.State) -> None:
        state.restore(self.ports, self.carry, saved, self.settings)

    def record(self, length: int, names: str | None = None, every: int = 1) -> Recorder:
        self.recorder = Recorder(self.ports, length, names, every=every, start=self.save(), carry=self.carry)
        return self.recorder


def run(chain: AChain, cycles: int, seed: int = 3) -> None:
    """Cycles of uneven length with changing inputs; the wind is now and then no number."""
    rng = np.random.default_rng(seed)
    for _ in range(cycles):
        chain.ports.write("target.position", rng.normal(size=3))
        chain.ports.write("target.enabled", bool(rng.random() < 0.8))
        chain.ports.write("chain.mode", ("hold", "follow, fast")[int(rng.integers(2))])
        chain.ports.write("wind.speed", float(rng.choice([np.nan, rng.normal()])))
        chain.step(float(rng.uniform(0.001, 0.02)))
