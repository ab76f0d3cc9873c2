"""Chains for the tests, each compiled once and given back as at its beginning, and plain NumPy to check them with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, wraps
from math import pi

import numpy as np

from linkwise import Mechanism, robots
from linkwise.control import (
    Chain,
    FixedLink,
    FixedPosition,
    FixedRotation,
    LoopClosure,
    MovingPosition,
    PrismaticLink,
    RevoluteLink,
    State,
    Velocity,
)

PRECISION = 1e-10
"""The first value of ``chain.calculation_precision``: what is solved lacks no more, m and rad."""

EPS = float(np.finfo(float).eps)

PUMA_START = np.array([0.1, 0.8, -2.6, 0.2, 0.5, 0.3])

TOOL_GOAL = (np.array([0.7, 0.0, 0.35]), np.array([0.65, 0.75, 0.8]))
"""A place and angles within its reach."""

CRANE = (
    RevoluteLink("mast", d=1.0, alpha=pi / 2, theta=0.3, limits=(-2.5, 2.5)),
    RevoluteLink("boom", a=2.0, alpha=pi / 2, theta=0.5, limits=(-0.2, 1.4)),
    PrismaticLink("jib", d=1.0, limits=(0.4, 2.5)),
    FixedLink("hook", a=0.1, d=0.2),
    RevoluteLink("lamp", a=2.2, theta=0.1, predecessor="mast"),
    FixedLink("weight", a=-0.5, d=0.1, predecessor="mast"),
    FixedLink("flag", a=0.3, theta=0.4, predecessor="boom"),
)


def given_back(make: Callable[[], Chain]) -> Callable[[], Chain]:
    """Make a chain once; each call gives it back as at its beginning: with its first inputs, routes and memory."""

    @cache
    def made() -> tuple[Chain, State, np.ndarray]:
        chain = make()
        return chain, chain.save(), chain.q0.copy()

    @wraps(make)
    def again() -> Chain:
        chain, first, q0 = made()
        chain.q0 = q0.copy()
        chain.restore(first)
        return chain

    return again


@given_back
def puma() -> Chain:
    """Six joints that turn; all kinds of constraints are on the tool, none of them enabled."""
    constraints = [
        FixedPosition("place", "tool", enabled=False),
        FixedRotation("turn", "tool", enabled=False),
        MovingPosition("target", "tool", angles=(0.0, 0.0, 0.0), enabled=False),
        Velocity("speed", "tool", (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), enabled=False),
    ]
    return Chain(robots.puma560(), constraints, q0=PUMA_START)


@given_back
def crane() -> Chain:
    """Joints that turn and one that slides, fixed links, one link with many successors; no constraint is enabled."""
    constraints = [
        FixedPosition("place", "hook", enabled=False),
        MovingPosition("target", "hook", enabled=False),
        Velocity("speed", "hook", (0.0, 0.0, 0.0), enabled=False),
        LoopClosure("grip", "hook", "lamp", enabled=False),
    ]
    return Chain(CRANE, constraints, name="crane")


@given_back
def four_bar() -> Chain:
    """A crank that turns whole turns, a coupler and a rocker; a target for the coupler's point, a velocity for it."""
    constraints = [
        FixedRotation("turn", "crank", enabled=False),
        MovingPosition("target", "tool", enabled=False),
        Velocity("speed", "tool", (0.0, 0.0, 0.0), enabled=False),
    ]
    return Chain(robots.four_bar(), constraints)


@given_back
def slider_crank() -> Chain:
    """A crank, a rod and a slider that slides, closed by a loop of the mechanism."""
    constraints = [FixedPosition("place", "slider", enabled=False), Velocity("speed", "slider", (0, 0, 0), enabled=False)]
    return Chain(robots.slider_crank(), constraints, q0=[0.5, -0.6, 0.0])


def dh(theta: float = 0.0, d: float = 0.0, a: float = 0.0, alpha: float = 0.0) -> np.ndarray:
    """Rz(theta) Tz(d) Tx(a) Rx(alpha), written out."""
    c, s, ca, sa = np.cos(theta), np.sin(theta), np.cos(alpha), np.sin(alpha)
    return np.array([[c, -s * ca, s * sa, a * c], [s, c * ca, -c * sa, a * s], [0.0, sa, ca, d], [0.0, 0.0, 0.0, 1.0]])


def crane_ends(mast: float, boom: float, jib: float, lamp: float) -> dict[str, np.ndarray]:
    """Poses (4, 4) of all ends of the crane, relative to its start."""
    ends = {"mast": dh(mast, 1.0, 0.0, pi / 2)}
    ends["boom"] = ends["mast"] @ dh(boom, 0.0, 2.0, pi / 2)
    ends["jib"] = ends["boom"] @ dh(d=jib)
    ends["hook"] = ends["jib"] @ dh(d=0.2, a=0.1)
    ends["lamp"] = ends["mast"] @ dh(lamp, a=2.2)
    ends["weight"] = ends["mast"] @ dh(d=0.1, a=-0.5)
    ends["flag"] = ends["boom"] @ dh(0.4, a=0.3)
    return ends


HOOK_GOAL = crane_ends(0.5, 0.7, 1.3, 0.1)["hook"][:3, 3]
"""A place within its reach."""


def rot(axis: str, angle: float) -> np.ndarray:
    """Rotation (3, 3) about an axis by name."""
    c, s = np.cos(angle), np.sin(angle)
    i, j = {"x": (1, 2), "y": (2, 0), "z": (0, 1)}[axis]
    made = np.eye(3)
    made[i, i], made[i, j], made[j, i], made[j, j] = c, -s, s, c
    return made


def xyz(angles: Sequence[float]) -> np.ndarray:
    """About the fixed x, then y, then z."""
    return rot("z", angles[2]) @ rot("y", angles[1]) @ rot("x", angles[0])


def zyx(angles: Sequence[float]) -> np.ndarray:
    """About the fixed z, then y, then x."""
    return rot("x", angles[0]) @ rot("y", angles[1]) @ rot("z", angles[2])


def turn(rotation: np.ndarray) -> np.ndarray:
    """The vector (3,), rad, of a rotation well below half a turn, from its skew part."""
    axis = 0.5 * np.array(
        [rotation[2, 1] - rotation[1, 2], rotation[0, 2] - rotation[2, 0], rotation[1, 0] - rotation[0, 1]]
    )
    sine = float(np.linalg.norm(axis))
    return axis * (np.arctan2(sine, 0.5 * (np.trace(rotation) - 1.0)) / sine if sine > 1e-300 else 1.0)


def solved(chain: Chain) -> np.ndarray:
    """Solved joint values (n,)."""
    return np.array([chain[f"{link}.{letter}_solved"] for link, letter in chain.layout.joints])


def predicted(chain: Chain) -> np.ndarray:
    """Predicted joint values (n,)."""
    return np.array([chain[f"{link}.predicted_{letter}"] for link, letter in chain.layout.joints])


def place_of(mechanism: Mechanism, q: np.ndarray, link: int | str = "tool") -> np.ndarray:
    """Pose (4, 4) of a link by a pass of its own."""
    return np.asarray(mechanism.forward_kinematics(q, link=link))


def enable(chain: Chain, name: str, **values: object) -> None:
    """Enable a constraint and write its inputs."""
    for what, value in values.items():
        chain[f"{name}.{what}"] = value
    chain[f"{name}.enabled"] = True


def exceeded(
    places: np.ndarray, periods: np.ndarray, speed: float, acceleration: float, deceleration: float, size: float
) -> tuple[float, float, float]:
    """By how much the way of a point, from rest, exceeds its limits beyond rounding: speed, acceleration, deceleration.

    The velocity in a cycle is the way over its length; two of them lie half the sum of their lengths apart. A place is
    rounded by a few units in the last place of `size`, m, here and in the chain.
    """
    off, periods = 16 * EPS * size, np.asarray(periods)
    velocities = np.diff(places, axis=0) / periods[:, None]
    lengths = np.linalg.norm(velocities, axis=1)
    between = 0.5 * (periods[1:] + periods[:-1])
    gain = np.diff(lengths) / between
    over = [lengths - speed - off / periods, gain - acceleration - 2 * off / (between * periods.min())]
    over.append(-gain - deceleration - 2 * off / (between * periods.min()))
    return tuple(float(max(0.0, part.max(initial=0.0))) for part in over)


def run(chain: Chain, cycles: int, dt: float = 0.01) -> np.ndarray:
    """Solved joint values (cycles + 1, n), the first as they are now."""
    rows = [solved(chain)]
    for _ in range(cycles):
        chain.step(dt)
        rows.append(solved(chain))
    return np.array(rows)


def ways(chain: Chain, rows: np.ndarray, link: int | str = "tool") -> np.ndarray:
    """Places (T, 3) of a link at rows of joint values, by passes of their own."""
    return np.array([place_of(chain.mechanism, row, link)[:3, 3] for row in rows])


def finite(chain: Chain) -> bool:
    """Whether all outputs are numbers."""
    return bool(np.isfinite(chain.ports.outputs).all())


def inside(chain: Chain, rows: np.ndarray) -> bool:
    """Whether all joint values are within the limits that the ports say, exactly."""
    low, high = (np.array([chain[f"{link}.limits.{end}"] for link, _ in chain.layout.joints]) for end in ("min", "max"))
    return bool(((rows >= low) & (rows <= high)).all())


def bounded(chain: Chain, link: str, speed: float = 0.5, acceleration: float = 1.0, deceleration: float = 1.0) -> None:
    """Give an end greatest speed (m/s) and accelerations (m/s2)."""
    for what, value in (("speed", speed), ("acceleration", acceleration), ("deceleration", deceleration)):
        chain[f"{link}.max_{what}"] = value
