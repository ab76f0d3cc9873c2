"""Digests of the tapes of many kernels, traced in one process, printed as JSON: `python tape_digests.py ORDER`.

With the order 0 the kernels are traced one after the other; with 1 or 2 every second one is, in a random order, each
after unrelated work of which a part stays alive, and with the garbage collector run at other times.
"""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any

import numpy as np
from bundled import BUNDLED

import linkwise as lw
from linkwise.algorithm import ALGORITHMS
from linkwise.dynamics import base_bodies
from linkwise.expr.node import parameter, symbol
from linkwise.expr.simplify import shortened
from linkwise.kernel import trace
from linkwise.kernel.tape import Tape

WHOLE = {"planar_2r", "scara_icomatic", "four_bar"}
"""Robots of which every algorithm is traced: turns alone, a slide, a loop; of the others those in `SHORT`."""

LONG = ("second_derivatives", "hessian_product")
"""Ends of names of algorithms whose tapes are long: they are traced for the smallest robot, in numbers and in symbols."""

SHORT = {"forward_kinematics", "jacobian", "inverse_dynamics", "mass_matrix", "gravity_torque"}

GROUPS: tuple[tuple[str, ...], ...] = ((), ("inertial",), ("lengths", "gravity"))

NAMES = ("a", "b", "c", "m", "MX1", "XX2", "g", "a2")


def of_expressions() -> lw.Mechanism:
    """An arm whose numbers are expressions in parameters: differences and products that other graphs may have as well."""
    a, b, m = map(parameter, "abm")
    links = [
        lw.Link.dh(a=a - b, alpha=1.0, convention="standard", mass=2 * m, com=(b * (2.0 * a), a * (b - a), 0.1)),
        lw.Link.dh(a=(b + a) * b, convention="standard", mass=m + b, com=(a * b, m - a, 0)),
    ]
    return lw.Mechanism(links, gravity=(0, parameter("g"), 1))


def of_kernel(make: Callable[[], lw.Mechanism], name: str) -> str:
    """The digest of one algorithm's tape."""
    return make().kernel(name, backend="numpy").tape.digest


def of_base_bodies() -> str:
    """The digest of a recursion over symbols of base parameters, shortened with the symbols that all graphs share."""
    robot = lw.robots.load("planar_3r").symbolic("lengths", "gravity")
    q, qd, qdd = (np.array([symbol(f"{name}{k}") for k in range(3)], dtype=object) for name in ("q", "qd", "qdd"))
    outputs = shortened(list(base_bodies(robot, second_moments=True).efforts(robot, q, qd, qdd)))
    names = sorted({str(node.value) for node in _symbols(outputs)} - {str(s.value) for s in (*q, *qd, *qdd)})
    inputs = {"q": q, "qd": qd, "qdd": qdd, "p": np.array([parameter(name) for name in names], dtype=object)}
    return Tape.from_graph("base", inputs, {"tau": np.array(outputs, dtype=object)}).digest


def _symbols(outputs: list[Any]) -> list[Any]:
    from linkwise.expr.ordering import schedule

    return [node for node in schedule(outputs) if node.op == "symbol"]


def of_text() -> str:
    """Equations in symbols, as text."""
    return lw.robots.load("planar_2r").symbolic().derive("inverse_dynamics", form="explicit").to_text()


def jobs() -> dict[str, Callable[[], str]]:
    """What is traced, by name."""
    found: dict[str, Callable[[], str]] = {"base bodies": of_base_bodies, "text": of_text}
    for robot in BUNDLED:
        names = ALGORITHMS if robot in WHOLE else SHORT
        for name in (name for name in names if robot == "planar_2r" or not name.endswith(LONG)):
            found[f"{robot} {name}"] = partial(of_kernel, partial(lw.robots.load, robot), name)
    for groups in GROUPS:
        for robot, names in (("planar_2r", ALGORITHMS), ("puma560", ("inverse_dynamics", "forward_kinematics"))):
            for name in names:
                make = partial(lambda robot, groups: lw.robots.load(robot).symbolic(*groups), robot, groups)
                found[f"{robot} {groups} {name}"] = partial(of_kernel, make, name)
    for name in ALGORITHMS:
        found[f"expressions {name}"] = partial(of_kernel, of_expressions, name)
    return found


def unrelated(random: Random) -> list[Any]:
    """Expressions of the same parameters, made in a random order, and a traced graph of them."""
    kept: list[Any] = [parameter(name) for name in random.sample(NAMES, len(NAMES))]
    for _ in range(20):
        x, y = random.sample(kept, 2)
        kept.append(random.choice([x + y, x - y, x * y, x * (2.0 * y), x * x]))
    trace(lambda q: np.array([q[0] * node for node in kept], dtype=object), "f", {"q": (1,)}, parameters=kept[: len(NAMES)])
    return random.sample(kept, 12)


def digests(order: int) -> dict[str, str]:
    """The digests, by name; an error's class where a mechanism does not have the algorithm."""
    random = Random(order)
    todo = list(jobs().items())
    kept: list[Any] = []
    if order:
        todo = todo[order % 2 :: 2]
        random.shuffle(todo)
        gc.set_threshold(random.choice([50, 100_000]), 5, 5)
    found = {}
    for name, job in todo:
        if order:
            kept.append(unrelated(random))
            kept = kept[-50:]
        try:
            found[name] = job()
        except lw.errors.LinkwiseError as error:
            found[name] = type(error).__name__
    return found


if __name__ == "__main__":
    print(json.dumps(digests(int(sys.argv[1]))))
