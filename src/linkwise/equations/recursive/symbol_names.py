"""Meanings of a tape's intermediate values, by comparison with textbook quantities at random points.

Two expressions of the kind that recursions make, which agree at random points to rounding, are equal but for a set of
measure zero. So a value is called by its meaning whatever way it was computed, and a recursion needs no list of names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from linkwise.equations.document import by_output
from linkwise.equations.recursive.document_from_tape import Meanings
from linkwise.errors import LinkwiseError
from linkwise.expr.evaluate import substitute
from linkwise.expr.node import Expr
from linkwise.kernel.tape import Tape
from linkwise.model.body import Bodies, moving_bodies
from linkwise.model.symbolic import parameters_in
from linkwise.model.tree import Tree
from linkwise.spatial.rotation import axial, skew
from linkwise.spatial.scalar import FloatArray

#: Random points at which values must agree.
SAMPLES = 2

#: Relative difference of equal values: rounding of a recursion.
AGREEMENT = 1e-11

#: Meanings of the first letters of names; all vectors in the body's own axes, z along its joint, unless stated otherwise.
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
        Seed of the random points.

    Returns
    -------
    Meanings
        Empty where joints follow others, or where the reduction to bodies is not that of the algorithm.
    """
    if tree.coupled or "q" not in tape.inputs:
        return Meanings()
    points = _points(tape, seed)
    try:
        numeric = _numeric(tree, bodies or moving_bodies(tree).regrouped(), tape, points)
    except LinkwiseError:
        return Meanings()
    quantities: dict[str, tuple[int, list[float]]] = {}
    for row, (numbers, gravity) in zip(points, numeric, strict=True):
        state = _state(tape, tree, row)
        moved = _moved(numbers, state, gravity)
        for name, place, value in [*_outward(numbers, state, moved), *_inward(numbers, state, moved)]:
            quantities.setdefault(name, (place, []))[1].append(value)
    return _matched(tape, points, quantities, _titles(numeric[0][0], tree))


def _points(tape: Tape, seed: int) -> list[FloatArray]:
    """Random values of all inputs, away from 0; quaternions are normalized."""
    rng = np.random.default_rng(seed)
    size = tape.input_count
    return [rng.uniform(0.3, 1.4, size) * rng.choice([-1.0, 1.0], size) for _ in range(SAMPLES)]


def _state(tape: Tape, tree: Tree, row: FloatArray) -> dict[str, FloatArray]:
    state = {"qd": np.zeros(tree.nv), "qdd": np.zeros(tree.nv), **by_output(row, tape.inputs)}
    for at in tree.manifold_joints:
        state["q"][at.quaternion] /= np.linalg.norm(state["q"][at.quaternion])
    return state


def _numeric(tree: Tree, bodies: Bodies, tape: Tape, points: list[FloatArray]) -> list[tuple[Bodies, FloatArray]]:
    """Bodies and gravity at each point, with numbers for symbols."""
    names = tape.labels.get("parameters", ())
    symbols = parameters_in([*(getattr(body, name) for body in bodies.bodies for name in _FIELDS), tree.gravity])
    used = {str(node.value): node for node in symbols}
    at_points = []
    for row in points:
        numbers = row[tape.input_count - len(names) :].tolist()
        point = {used[name]: number for name, number in zip(names, numbers, strict=True) if name in used}
        numbered = [
            replace(body, **{name: _substituted(getattr(body, name), point) for name in _FIELDS}) for body in bodies.bodies
        ]
        at_points.append((replace(bodies, bodies=tuple(numbered)), _substituted(tree.gravity, point)))
    return at_points


def _substituted(value: Any, point: Mapping[Expr, float]) -> Any:
    return substitute(np.asarray(value, dtype=object), point).astype(float)[()]


Named = Iterator[tuple[str, int, float]]
State = Mapping[str, FloatArray]
Motion = Sequence[Mapping[str, FloatArray]]


def _outward(bodies: Bodies, state: State, motion: Motion) -> Named:
    """Yield names, headings and values of quantities of the outward recursion."""
    from linkwise.kinematics.forward_kinematics import body_poses

    poses = body_poses(bodies, state["q"])
    for k, moved in enumerate(motion):
        n = _number(bodies, k)
        pose = np.asarray(poses[k], dtype=float)
        for letter in ("w", "wd", "v", "a", "F", "N", "U"):
            yield from _elements(letter, n, k, moved[letter])
        yield from _elements("A", n, k, moved["A"], "_")
        yield from _elements("R", n, k, pose[:3, :3], "_")
        yield from _elements("p", n, k, pose[:3, 3])


def _inward(bodies: Bodies, state: State, motion: Motion) -> Named:
    """Yield names, headings and values of quantities of the inward recursion."""
    from linkwise.model.body_transform import joint_transforms

    joints, count = joint_transforms(bodies, state["q"]), len(bodies.bodies)
    force, moment = [m["F"] for m in motion], [m["N"] for m in motion]
    total = [body.inertia for body in bodies.bodies]
    for k in reversed(range(count)):
        parent, n, place = bodies.bodies[k].parent, _number(bodies, k), 2 * count - 1 - k
        block = total[k][:3, :3]
        tensor = np.trace(block) * np.eye(3) - block
        named = {"f": force[k], "n": moment[k], "h": total[k][:3, 3], "P": block, "I": tensor}
        for letter, value in named.items():
            yield from _elements(letter, n, place, value)
        if parent >= 0:
            rotation, origin = (np.asarray(x, dtype=float) for x in (joints[k].rotation, joints[k].origin))
            there = np.eye(4)
            there[:3, :3], there[:3, 3] = rotation, origin
            total[parent] = total[parent] + there @ total[k] @ there.T
            force[parent] = force[parent] + rotation @ force[k]
            moment[parent] = moment[parent] + rotation @ moment[k] + np.cross(origin, rotation @ force[k])


def _moved(bodies: Bodies, state: State, gravity: FloatArray) -> list[dict[str, FloatArray]]:
    """The motion of every body in its own axes, and the force and moment that it takes, by the textbook."""
    from linkwise.kinematics.body_motion import motions
    from linkwise.model.body_transform import joint_transforms

    joints, results = joint_transforms(bodies, state["q"]), []
    moving = motions(bodies, joints, state["qd"], state["qdd"], gravity)
    for body, joint, moved in zip(bodies.bodies, joints, moving, strict=True):
        velocity, acceleration = (np.asarray(x, dtype=float) for x in (moved.velocity, moved.acceleration))
        (v, w), (rise, wd) = np.split(velocity, 2), np.split(acceleration, 2)
        a, spin = rise + np.cross(w, v), np.asarray(skew(wd) + skew(w) @ skew(w), dtype=float)
        block, first, mass = body.inertia[:3, :3], body.inertia[:3, 3], body.inertia[3, 3]
        force, moment = mass * a + spin @ first, 2.0 * axial(spin @ block) + np.cross(first, a)
        rotation = np.asarray(joint.rotation, dtype=float)
        results.append({"w": w, "wd": wd, "v": v, "a": a, "U": spin, "A": rotation, "F": force, "N": moment})
    return results


def _elements(letter: str, n: int, place: int, value: FloatArray, joint: str = "") -> Named:
    """The elements of a vector or a matrix; of P and I, which are symmetric, the upper half."""
    for index in np.ndindex(*value.shape):
        if letter in "PI" and index[0] > index[1]:
            continue
        element = "".join(str(i + 1) if joint else _AXES[i] for i in index)
        yield f"{letter}{n}{joint}{element}", place, float(value[index])


def _number(bodies: Bodies, k: int) -> int:
    """Name of a body: the number of its joint's coordinate, 0 for a floating base; ball joints are counted last."""
    body = bodies.bodies[k]
    if body.link < 0:
        return 0
    free = [candidate for candidate in bodies.bodies if candidate.nv > 1]
    if body.nv > 1:
        return len(bodies.bodies) - len(free) + [candidate for candidate in free if candidate.link >= 0].index(body) + 1
    return body.speed - sum(candidate.nv for candidate in free) + 1


def _titles(bodies: Bodies, tree: Tree) -> tuple[str, ...]:
    names = ["the base" if body.link < 0 else f"joint {_number(bodies, k)}" for k, body in enumerate(bodies.bodies)]
    return (*(f"Outward: {name}" for name in names), *(f"Inward: {name}" for name in reversed(names)), "Together")


def _matched(
    tape: Tape, points: list[FloatArray], quantities: Mapping[str, tuple[int, list[float]]], titles: tuple[str, ...]
) -> Meanings:
    """The slots that agree with named quantities; of two names for one value the first."""
    values = slot_values(tape, np.array(points).T)
    rows = {name: np.array(row) for name, (_, row) in quantities.items()}
    names = [name for name, row in rows.items() if np.abs(row).min() > 1e-9 and np.ptp(row) > 1e-9 * abs(row[0])]
    if not names:
        return Meanings()
    wanted = np.array([rows[name] for name in names])
    order = np.argsort(wanted[:, 0], kind="stable")
    sorted_first = wanted[order, 0]
    known: dict[int, tuple[str, int]] = {}
    legend: dict[str, str] = {}
    used: set[str] = set()
    trivial = {tuple(row) for row in values[: tape.first_result]}
    for slot in range(tape.first_result, len(values)):
        row = values[slot]
        named_otherwise = tape.code[slot - tape.first_result].op in {"neg", "sin", "cos"}
        if named_otherwise or not np.all(np.isfinite(row)) or tuple(row) in trivial:
            continue
        near = AGREEMENT * abs(row[0])
        low, high = np.searchsorted(sorted_first, [row[0] - near, row[0] + near])
        for k in sorted(order[low:high]):
            name = names[k]
            if name not in used and np.all(np.abs(wanted[k] - row) <= AGREEMENT * np.abs(row)):
                used.add(name)
                known[slot] = name, quantities[name][0]
                letter = name.rstrip("xyz0123456789_")
                legend[name] = LEGEND[letter].format(k=name[len(letter) :].strip("xyz").partition("_")[0])
                break
    return Meanings(known, titles, legend)


def slot_values(tape: Tape, points: FloatArray) -> FloatArray:
    """The value in every slot of a tape (slots, K) at points (inputs, K)."""
    from linkwise.equations.document import FUNCTIONS

    table: dict[str, Any] = {**FUNCTIONS, "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}
    table["neg"] = np.negative
    values = np.empty((tape.first_result + len(tape.code), points.shape[1]))
    values[: len(points)] = points
    values[len(points) : tape.first_result] = np.array(tape.constants)[:, None] if tape.constants else 0.0
    with np.errstate(all="ignore"):
        for slot, instruction in enumerate(tape.code, tape.first_result):
            values[slot] = table[instruction.op](*(values[arg] for arg in instruction.args))
    return values
