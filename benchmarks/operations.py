"""How many operations the dynamics take, beside what other generators of robot models emit; no clock is involved.

A product of k factors is k - 1 multiplications (M), a sum of k terms k - 1 additions (A); a change of sign is free; sines
and cosines are counted apart (T). Inertial parameters, lengths and gravity are symbols, one for each base parameter that is
not zero; no friction, no motors. "as it is" counts everything; "prepared" leaves out what depends on parameters only, which
a controller computes once; "shortened" is after the rewriting of `linkwise.expr.simplify`.

Each symbol is what the recursion takes: some first moments stand as point masses on the way to the next joint, MX over a
length (see `linkwise.dynamics.optimise.first_moment_split`), which asks for numbers that a robot has and a symbol has not.
What a user gets from `linkwise.dynamics.base_bodies`, with lengths and gravity as symbols, stands below each;
`Mechanism.symbolic`, where the parameters of all links are symbols and are grouped in the kernel itself, takes more. Last,
the bundled robots with their numbers, without motors and friction, loops cut; two have no inertias.

The peers' figures were counted by the same rule on the code that they emit: OpenSYMORO ba07d97 (modified DH) and SymPyBotics
5d4613a (modified DH; standard DH for the planar arms, whose last length it carries).

    python benchmarks/operations.py
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np

import linkwise as lw
from linkwise.dynamics import base_bodies
from linkwise.dynamics.inverse_dynamics import recursion_of_points
from linkwise.dynamics.mass_matrix import composite_mass_matrix
from linkwise.dynamics.optimise.first_moment_split import PointMasses, point_masses
from linkwise.dynamics.optimise.nonrotating_frames import carried_axes, level
from linkwise.expr.count import operation_count
from linkwise.expr.node import Expr, parameter, symbol
from linkwise.expr.ordering import operations_needed
from linkwise.expr.simplify import shortened
from linkwise.model.body import Bodies, moving_bodies

SMALL = 1e-12
"""Below this a number of a table is rounding of zero."""

LETTERS = ("xx xy xz mx", "xy yy yz my", "xz yz zz mz", "mx my mz m")
"""Names of the elements of a pseudo-inertia."""

KERNELS = ("inverse_dynamics", "mass_matrix", "coriolis_matrix", "gravity_torque", "bias_torque")


@dataclass(frozen=True)
class Case:
    """One set of symbols: a robot, its numbers or generic ones in their place, and what others emit for it."""

    title: str
    robot: str
    generic: bool = False
    symmetric_tip: bool = False
    peers: str = ""


CASES = (
    Case(
        "PUMA 560, 21 parameters (zeros of Armstrong's)",
        "puma560",
        peers="OpenSYMORO 203M 150A, M 175M 104A; SymPyBotics 246M 191A, M 253M 171A (not in base parameters)",
    ),
    Case("PUMA 560, 20 parameters (and Ixx = Iyy of the last)", "puma560", symmetric_tip=True),
    Case(
        "PUMA 560, all 36 base parameters",
        "puma560",
        generic=True,
        peers="OpenSYMORO 301M 240A, M 247M 163A; SymPyBotics 301M 240A, M 289M 212A",
    ),
    Case(
        "Stanford arm, all 33 base parameters",
        "stanford",
        generic=True,
        peers="OpenSYMORO 262M 211A, M 147M 105A; SymPyBotics 264M 215A, M 242M 169A",
    ),
    Case("planar 2R", "planar_2r", peers="OpenSYMORO 17M 10A, M 5M 3A; SymPyBotics 46M 29A, M 15M 12A"),
    Case("planar 3R", "planar_3r", peers="OpenSYMORO 33M 23A, M 18M 11A; SymPyBotics 83M 56A, M 36M 32A"),
)


def main() -> None:
    """Print both tables."""
    print(f"{'with symbols':24}" + "".join(f"{name:>16}" for name in ("as it is", "prepared", "shortened", "prepared")))
    for case in CASES:
        print(case.title)
        for what, outputs in zip(("inverse dynamics", "mass matrix"), of_symbols(case), strict=True):
            shorter = shortened(outputs)
            columns = (counted(outputs), prepared(outputs), counted(shorter), prepared(shorter))
            print(f"    {what:20}" + "".join(f"{column:>16}" for column in columns))
        if not (case.generic or case.symmetric_tip):
            print(f"    {'by base_bodies':20}{of_base_bodies(case.robot):>48}   inverse dynamics")
            print(
                f"    {'by symbolic':20}{of_kernel(bare(case.robot).symbolic(), 'inverse_dynamics'):>48}   inverse dynamics"
            )
        if case.peers:
            print(f"    {case.peers}")
    print(f"\n{'with numbers':16}" + "".join(f"{name:>20}" for name in KERNELS))
    for name in lw.robots.names():
        robot = bare(name)
        print(f"{name:16}" + "".join(f"{of_kernel(robot, kernel):>20}" for kernel in KERNELS))


def of_symbols(case: Case) -> tuple[list[Any], list[Any]]:
    """Inverse dynamics and mass matrix, as lists of expressions."""
    robot = lw.robots.load(case.robot)
    made = moving_bodies(robot)
    plain = level_only((generic(made) if case.generic else made).regrouped())
    points = point_masses(plain)
    gravity = np.where(np.asarray(robot.gravity) != 0, -parameter("g"), 0.0)
    tree: Any = SimpleNamespace(gravity=gravity, nq=robot.n, nv=robot.n, n=robot.n, links=(), order=(), drives=())
    q, qd, qdd = (np.array([symbol(f"{name}{k}") for k in range(robot.n)], dtype=object) for name in ("q", "qd", "qdd"))
    ways = {k: tuple((axis, parameter(f"m{k}{axis}")) for axis, _ in way) for k, way in points.ways.items()}
    taken = PointMasses(named(level_only(points.built), case.symmetric_tip), ways)
    inverse = list(recursion_of_points(tree, taken, q, qd, qdd))
    mass = composite_mass_matrix(tree, *carried_axes(named(plain, case.symmetric_tip), q, tips=False))
    return inverse, list(mass[np.triu_indices(robot.n)])


def of_base_bodies(name: str) -> str:
    """Inverse dynamics in base parameters that are symbols, as `linkwise.dynamics.base_bodies` gives them, shortened."""
    robot = bare(name).symbolic("lengths", "gravity")
    q, qd, qdd = (np.array([symbol(f"{name}{k}") for k in range(robot.n)], dtype=object) for name in ("q", "qd", "qdd"))
    return counted(shortened(list(base_bodies(robot, second_moments=True).efforts(robot, q, qd, qdd))))


def generic(made: Bodies) -> Bodies:
    """Bodies of which no parameter is zero."""
    rng = np.random.default_rng(0)
    clouds = [np.concatenate([rng.uniform(-0.3, 0.4, (3, 8)), np.ones((1, 8))]) for _ in made.bodies]
    pairs = zip(made.bodies, clouds, strict=True)
    return replace(made, rotors=(), bodies=tuple(replace(body, inertia=cloud @ cloud.T) for body, cloud in pairs))


def level_only(made: Bodies) -> Bodies:
    """Where bodies turn about one direction only, Izz in the place of the whole block."""
    bodies = []
    for body, flat in zip(made.bodies, level(made), strict=True):
        inertia = body.inertia.copy()
        if flat:
            inertia[0, 0] += inertia[1, 1]
            inertia[1, 1] = inertia[0, 1] = inertia[1, 0] = 0.0
        bodies.append(replace(body, inertia=inertia))
    return replace(made, rotors=(), bodies=tuple(bodies))


def named(made: Bodies, symmetric_tip: bool) -> Bodies:
    """A symbol for every number that is not zero; signs of lengths are kept."""
    bodies = []
    for k, body in enumerate(made.bodies):
        inertia = np.where(np.abs(body.inertia) < SMALL, 0.0, body.inertia).astype(object)
        for i, j in zip(*np.nonzero(inertia), strict=True):
            name = LETTERS[i].split()[j]
            inertia[i, j] = parameter(f"{'xx' if name == 'yy' and symmetric_tip and k == made.tool[0] else name}{k}")
        placement = body.placement.astype(object)
        for i in range(3):
            length = body.placement[i, 3]
            placement[i, 3] = float(np.sign(length)) * parameter(f"r{k}{'xyz'[i]}") if length else 0.0
        bodies.append(replace(body, inertia=inertia, placement=placement))
    return replace(made, bodies=tuple(bodies))


def counted(outputs: Sequence[Any]) -> str:
    """As 12M 3A 4T."""
    return written(operation_count(outputs))


def prepared(outputs: Sequence[Any]) -> str:
    """The same without what depends on parameters only."""
    moving: dict[Expr, bool] = {}
    total = operation_count(outputs)
    for node in operations_needed(outputs):
        moving[node] = any(moving.get(arg, arg.op == "symbol" and arg.value[0] == "q") for arg in node.args)
        if not moving[node] and node.op in {"mul", "add", "sub"}:
            total["mul" if node.op == "mul" else "add"] -= 1
    return written(total)


def written(total: dict[str, int]) -> str:
    """Counts by kind as 12M 3A 4T."""
    found = f"{total.get('mul', 0)}M {total.get('add', 0)}A"
    turns = total.get("sin", 0) + total.get("cos", 0)
    return f"{found} {turns}T" if turns else found


def bare(name: str) -> lw.Mechanism:
    """A robot without motors, with its loops cut."""
    robot = lw.robots.load(name)
    return robot.replace(links=[link.replace(motor=None) for link in robot.links], loops=(), motors=())


def of_kernel(robot: lw.Mechanism, name: str) -> str:
    """What a kernel of a mechanism with numbers takes."""
    return written(dict(robot.kernel(name).operations))


if __name__ == "__main__":
    main()
