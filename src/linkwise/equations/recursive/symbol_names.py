"""What the intermediate values of a tape are: each is compared, at random points, with the quantities that textbooks name.

Two expressions of the kind that recursions make, which agree at random points to rounding, are equal but for a set of
measure zero. So a value is called by its meaning whatever way it was computed, and a recursion need not be told the names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from linkwise.equations.recursive.document_from_tape import Known, Meanings
from linkwise.errors import LinkwiseError
from linkwise.expr.node import parameter
from linkwise.kernel.tape import Tape
from linkwise.model.body import Bodies, moving_bodies
from linkwise.model.symbolic import parameters_in
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import FloatArray

#: Random points at which values must agree.
SAMPLES = 2

#: Relative difference of equal values: rounding of a recursion.
AGREEMENT = 1e-11

#: What the first letters of names say; all vectors in the body's own axes, z along its joint, unless said otherwise.
LEGEND = {
    "w": "angular velocity of body {k}, rad/s",
    "wd": "angular acceleration of body {k}, rad/s2",
    "v": "velocity of the origin of body {k}, m/s",
    "a": "acceleration of the origin of body {k}, less gravity, m/s2",
    "U": "acceleration of points of body {k}: that at r accelerates by a + U r, 1/s2",
    "F": "force that accelerates body {k}, N",
    "N": "moment that accelerates body {k}, about its origin, N m",
    "f": "force on body {k} from the body before it, N",
    "n": "moment on body {k} from the body before it, about the origin of body {k}, N m",
    "R": "rotation from body {k} to the world",
    "A": "rotation from body {k} to the body before it",
    "p": "origin of body {k} in the world, m",
    "h": "first moments of body {k} and all beyond, kg m",
    "P": "second moments (integral of r r' dm) of body {k} and all beyond, kg m2",
    "I": "inertia tensor of body {k} and all beyond about its origin, kg m2",
}

_AXES = "xyz"

_FIELDS = ("placement", "inertia", "angle", "pitch")


def meanings_of(tree: Tree, tape: Tape, *, bodies: Bodies | None = None, seed: int = 0) -> Meanings:
    """Find out which values of a tape have a meaning.

    Parameters
    ----------
    tree : Tree
        The mechanism.
    tape : Tape
        One of its algorithms; inputs ``q``, ``qd``, ``qdd`` and ``parameters`` are understood.
    bodies : Bodies, optional
        On which it ran, if not on those of the mechanism, regrouped.
    seed : int
        Of the random points.

    Returns
    -------
    Meanings
        Empty where joints follow others, or where the reduction to bodies is not that of the algorithm.
    """
    if tree.coupled or "q" not in tape.inputs:
        return Meanings()
    given = _points(tape, seed)
    try:
        made = _numeric(tree, bodies or moving_bodies(tree).regrouped(), tape, given)
    except LinkwiseError:
        return Meanings()
    found: dict[str, tuple[int, list[float]]] = {}
    for row, (numbers, gravity) in zip(given, made, strict=True):
        state = _state(tape, tree, row)
        moved = _moved(numbers, state, gravity)
        for name, place, value in [*_outward(numbers, state, moved), *_inward(numbers, state, moved)]:
            found.setdefault(name, (place, []))[1].append(value)
    return _matched(tape, given, found, _titles(made[0][0], tree))


def _points(tape: Tape, seed: int) -> list[FloatArray]:
    """Random values of all inputs, away from 0; a quaternion need not be a unit for two ways to agree, but is."""
    rng = np.random.default_rng(seed)
    size = tape.input_count
    return [rng.uniform(0.3, 1.4, size) * rng.choice([-1.0, 1.0], size) for _ in range(SAMPLES)]


def _state(tape: Tape, tree: Tree, row: FloatArray) -> dict[str, FloatArray]:
    found, start = {"qd": np.zeros(tree.nv), "qdd": np.zeros(tree.nv)}, 0
    for name, shape in tape.inputs.items():
        found[name] = row[start : start + prod(shape)]
        start += prod(shape)
    if tree.floating:
        quaternion = found["q"][3:7]
        quaternion /= np.linalg.norm(quaternion)
    return found


def _numeric(tree: Tree, made: Bodies, tape: Tape, given: list[FloatArray]) -> list[tuple[Bodies, FloatArray]]:
    """At each point the bodies and gravity with numbers for symbols."""
    fields = [np.asarray(getattr(body, name)) for body in made.bodies for name in _FIELDS]
    arrays = [*fields, np.asarray(tree.gravity)]
    names = tape.labels.get("parameters", ())
    if not names:
        return [(made, np.asarray(tree.gravity, dtype=float))] * len(given)
    used = {str(node.value): node for node in parameters_in(arrays)}
    symbols = {"parameters": np.array([used.get(name, parameter(name)) for name in names], dtype=object)}
    flat = np.concatenate([array.ravel().astype(object) for array in arrays])
    constants = Tape.from_graph("constants", symbols, {"values": flat})
    start = sum(prod(shape) for name, shape in tape.inputs.items() if name != "parameters")
    values = slot_values(constants, np.array([row[start:] for row in given]).T)[list(constants.results)]
    found = []
    for column in values.T:
        pieces = iter(np.split(column, np.cumsum([array.size for array in arrays])))
        numbers = [piece.reshape(array.shape) for piece, array in zip(pieces, arrays, strict=False)]
        bodies = []
        for k, body in enumerate(made.bodies):
            placement, inertia, angle, pitch = numbers[4 * k : 4 * k + 4]
            bodies.append(replace(body, placement=placement, inertia=inertia, angle=float(angle), pitch=float(pitch)))
        found.append((replace(made, bodies=tuple(bodies)), numbers[-1]))
    return found


Named = Iterator[tuple[str, int, float]]
State = Mapping[str, FloatArray]
Motion = Sequence[Mapping[str, FloatArray]]


def _outward(made: Bodies, state: State, motion: Motion) -> Named:
    """Names, headings and values of what is found from the ground outward."""
    from linkwise.kinematics.forward_kinematics import body_poses

    poses = body_poses(made, state["q"])
    for k, moved in enumerate(motion):
        n = _number(made, k)
        for letter in ("w", "wd", "v", "a", "F", "N"):
            yield from _vector(letter, n, k, moved[letter])
        yield from _matrix("U", n, k, moved["U"])
        yield from _matrix("A", n, k, moved["A"], "_")
        yield from _matrix("R", n, k, np.asarray(poses[k][:3, :3], dtype=float), "_")
        yield from _vector("p", n, k, np.asarray(poses[k][:3, 3], dtype=float))


def _inward(made: Bodies, state: State, motion: Motion) -> Named:
    """The same of what is summed up from the tips inward."""
    from linkwise.kinematics.body_transform import joint_transforms

    joints, count = joint_transforms(made, state["q"]), len(made.bodies)
    force, moment = [m["F"] for m in motion], [m["N"] for m in motion]
    total = [body.inertia for body in made.bodies]
    for k in reversed(range(count)):
        parent, n, place = made.bodies[k].parent, _number(made, k), 2 * count - 1 - k
        yield from _vector("f", n, place, force[k])
        yield from _vector("n", n, place, moment[k])
        yield from _vector("h", n, place, total[k][:3, 3])
        block = total[k][:3, :3]
        yield from _symmetric("P", n, place, block)
        yield from _symmetric("I", n, place, np.trace(block) * np.eye(3) - block)
        if parent >= 0:
            rotation, origin = (np.asarray(x, dtype=float) for x in (joints[k].rotation, joints[k].origin))
            there = np.eye(4)
            there[:3, :3], there[:3, 3] = rotation, origin
            total[parent] = total[parent] + there @ total[k] @ there.T
            force[parent] = force[parent] + rotation @ force[k]
            moment[parent] = moment[parent] + rotation @ moment[k] + np.cross(origin, rotation @ force[k])


def _moved(made: Bodies, state: Mapping[str, FloatArray], gravity: FloatArray) -> list[dict[str, FloatArray]]:
    """The motion of every body in its own axes, and the force and moment that it takes, by the textbook."""
    from linkwise.kinematics.body_transform import joint_transforms

    zero = np.zeros(3)
    ground = {"w": zero, "wd": zero, "v": zero, "a": -gravity, "U": np.zeros((3, 3))}
    found: list[dict[str, FloatArray]] = []
    for body, joint in zip(made.bodies, joint_transforms(made, state["q"]), strict=True):
        up = found[body.parent] if body.parent >= 0 else ground
        rotation, origin = (np.asarray(x, dtype=float) for x in (joint.rotation, joint.origin))
        rate, rise = (np.asarray(joint.rate(state[x]), dtype=float) for x in ("qd", "qdd"))
        carried = rotation.T @ up["w"]
        w = carried + rate[3:]
        wd = rotation.T @ up["wd"] + np.cross(carried, rate[3:]) + rise[3:]
        v = rotation.T @ (up["v"] + np.cross(up["w"], origin)) + rate[:3]
        a = rotation.T @ (up["a"] + up["U"] @ origin) + 2.0 * np.cross(carried, rate[:3]) + rise[:3]
        if body.free:
            a = a + np.cross(w, v) - 2.0 * np.cross(carried, rate[:3])
        spin = _skew(wd) + _skew(w) @ _skew(w)
        block, first, mass = body.inertia[:3, :3], body.inertia[:3, 3], body.inertia[3, 3]
        product = spin @ block
        turning = np.array([product[2, 1] - product[1, 2], product[0, 2] - product[2, 0], product[1, 0] - product[0, 1]])
        found.append({"w": w, "wd": wd, "v": v, "a": a, "U": spin, "A": rotation})
        found[-1] |= {"F": mass * a + spin @ first, "N": turning + np.cross(first, a)}
    return found


def _skew(x: FloatArray) -> FloatArray:
    return np.array([[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]])


def _vector(letter: str, n: int, place: int, value: FloatArray) -> Named:
    for axis, number in zip(_AXES, value, strict=True):
        yield f"{letter}{n}{axis}", place, float(number)


def _matrix(letter: str, n: int, place: int, value: FloatArray, joint: str = "") -> Named:
    for i, j in np.ndindex(3, 3):
        element = f"{i + 1}{j + 1}" if joint else _AXES[i] + _AXES[j]
        yield f"{letter}{n}{joint}{element}", place, float(value[i, j])


def _symmetric(letter: str, n: int, place: int, value: FloatArray) -> Named:
    for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (0, 2)):
        yield f"{letter}{n}{_AXES[i]}{_AXES[j]}", place, float(value[i, j])


def _number(made: Bodies, k: int) -> int:
    """What a body is called: the number of its joint's coordinate, 0 for a floating base."""
    body = made.bodies[k]
    free = sum(6 for other in made.bodies if other.free)
    return 0 if body.free else body.speed - free + 1


def _titles(made: Bodies, tree: Tree) -> tuple[str, ...]:
    names = ["the base" if body.free else f"joint {_number(made, k)}" for k, body in enumerate(made.bodies)]
    return (*(f"Outward: {name}" for name in names), *(f"Inward: {name}" for name in reversed(names)), "Together")


def _matched(
    tape: Tape, given: list[FloatArray], found: Mapping[str, tuple[int, list[float]]], titles: tuple[str, ...]
) -> Meanings:
    """The slots that agree with named quantities; of two names for one value the first."""
    values = slot_values(tape, np.array(given).T)
    names = [
        name for name, (_, row) in found.items() if all(abs(x) > 1e-9 for x in row) and np.ptp(row) > 1e-9 * abs(row[0])
    ]
    if not names:
        return Meanings()
    wanted = np.array([found[name][1] for name in names])
    order = np.argsort(wanted[:, 0], kind="stable")
    sorted_first = wanted[order, 0]
    known: dict[int, Known] = {}
    legend: dict[str, str] = {}
    used: set[str] = set()
    trivial = {tuple(row) for row in values[: tape.first_result]}
    for slot in range(tape.first_result, len(values)):
        row = values[slot]
        if (
            tape.code[slot - tape.first_result].op in {"neg", "sin", "cos"}
            or not np.all(np.isfinite(row))
            or tuple(row) in trivial
        ):
            continue
        near = AGREEMENT * abs(row[0])
        low, high = np.searchsorted(sorted_first, [row[0] - near, row[0] + near])
        for k in sorted(order[low:high]):
            name = names[k]
            if name not in used and np.all(np.abs(wanted[k] - row) <= AGREEMENT * np.abs(row)):
                used.add(name)
                known[slot] = Known(name, found[name][0])
                letter = name.rstrip("xyz0123456789_")
                legend[name] = LEGEND[letter].format(k=name[len(letter) :].strip("xyz").partition("_")[0])
                break
    return Meanings(known, titles, legend)


def slot_values(tape: Tape, points: FloatArray) -> FloatArray:
    """The value in every slot of a tape (slots, K) at points (inputs, K)."""
    from linkwise.equations.evaluation import FUNCTIONS

    table: dict[str, Any] = {**FUNCTIONS, "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}
    table["neg"] = np.negative
    made = np.empty((tape.first_result + len(tape.code), points.shape[1]))
    made[: len(points)] = points
    made[len(points) : tape.first_result] = np.array(tape.constants)[:, None] if tape.constants else 0.0
    with np.errstate(all="ignore"):
        for slot, instruction in enumerate(tape.code, tape.first_result):
            made[slot] = table[instruction.op](*(made[arg] for arg in instruction.args))
    return made
