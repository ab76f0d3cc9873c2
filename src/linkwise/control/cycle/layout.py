"""Ports of a chain, and their places in the vector of values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import inf
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.control.constraints import ChainConstraint, LoopClosure, Mistakes
from linkwise.control.cycle.joint_ports import joint_variables, link_name, single_joints
from linkwise.control.keep_clear import KeepClear
from linkwise.control.port import Kind, Port
from linkwise.control.ports import Ports
from linkwise.errors import ArgumentError, choices, shown
from linkwise.model.loop import BASE
from linkwise.model.tree import Tree
from linkwise.solve.constraints.constraint import squared
from linkwise.spatial.scalar import Array, FloatArray, root, select
from linkwise.spatial.validation import readable

#: Why a cycle ended as it did, by the code of the port ``chain.reason``.
REASONS: tuple[str, ...] = ("converged", "unreachable", "limit", "iterations", "input")

#: Methods of calculating velocities of ends.
METHODS: dict[str, str] = {
    "measured": "by the input values of the last cycle and this one",
    "predicted": "from the solved values to the predicted ones",
    "jacobian": "by the Jacobian, without limits of speed",
}

RESERVED = ("chain", "start")

#: A sensor's value of this size is invalid; so is a lower joint limit of this size, or an upper one below its negative.
MOST = 1e100

#: Inputs written by sensors and clients: numbers that are not finite are reported, not rejected.
TAKES_ANYTHING = {
    "theta",
    "theta_speed",
    "d",
    "d_speed",
    "translation",
    "quaternion",
    "joint_linear_velocity",
    "joint_angular_velocity",
    "value",
    "speed",
    "position",
    "angles",
    "velocity",
    "angular_velocity",
}

_WORDS = {
    "position": ("m", "place"),
    "angles": ("rad", "angles about x, y and z"),
    "velocity": ("m/s", "velocity"),
    "angular_velocity": ("rad/s", "angular velocity about x, y and z"),
}


#: Tolerance of the length of an input quaternion; beyond it the orientation is invalid.
UNIT_LENGTH = 1e-2

#: A quaternion whose square is so near to 1 is left as it is.
UNIT_ROUNDING = 1e-14


def ends_of(tree: Tree) -> tuple[str, ...]:
    """The frames with a position and a velocity: the ends of all links, and the tool."""
    return (*tree.link_names, *(() if "tool" in tree.link_names else ("tool",)))


class Layout:
    """The ports of a chain.

    Parameters
    ----------
    tree : Tree
        The mechanism.
    constraints : sequence of ChainConstraint
        Each has ports under its name.
    q0 : ndarray (nq,)
        First values of the joint coordinates.

    Attributes
    ----------
    ends : tuple of str
        Links, in the order of the mechanism, and ``"tool"`` unless a link is called so.
    joints : tuple of (str, str)
        For each coordinate (n,) its link, and ``"theta"`` or ``"d"``.
    manifold_joints : tuple of (str, ManifoldJoint)
        The joints with quaternions, each with what its ports are called by: its link, or "base".
    conical : tuple of str
        Those of them that limits may hold in a cone.
    variables : tuple of JointVariable
        The values of all joints, in the order of the configuration (nq,).
    """

    def __init__(self, tree: Tree, constraints: Sequence[ChainConstraint], q0: FloatArray) -> None:
        self.tree, self.constraints = tree, tuple(constraints)
        self.ends = ends_of(tree)
        self.joints, self.variables = single_joints(tree), joint_variables(tree)
        self.manifold_joints = tuple((link_name(tree, at), at) for at in tree.manifold_joints)
        self.conical = tuple(link for link, at in self.manifold_joints if at.joint.cone_axis is not None)
        self.reserved = (*RESERVED, BASE) if tree.floating else RESERVED
        self._check()
        ports = [*self._inputs(q0), *self._outputs()]
        self.ports = Ports(ports, self._aliases([port.name for port in ports]))
        self.inputs, self.outputs = len(self.ports.inputs), len(self.ports.outputs)

    def take(self, values: Array, name: str) -> Any:
        """The value of an input out of all inputs (I,): a scalar, or an array of its shape."""
        numbers, shape = values[self.ports.slice_of(name)], self.ports[name].shape
        return numbers.reshape(shape) if shape else numbers[0]

    def put(self, values: Array, name: str, value: Any) -> None:
        """Set the value of an output among all outputs (O,)."""
        place = self.ports.slice_of(name)
        values[place.start - self.inputs : place.stop - self.inputs] = np.asarray(value, dtype=object).reshape(-1)

    def coordinates(self, values: Array, suffix: str) -> Array:
        """Values of all joints (nq,) for ``""``, their velocities (nv,) for ``"_speed"``, or (n,) as ``".limits.min"``."""
        if suffix in {"", "_speed"}:
            names = [at.speed if suffix else at.value for at in self.variables]
        else:
            names = [f"{link}{suffix}" for link, _ in self.joints]
        return np.array([value for name in names for value in values[self.ports.slice_of(name)]], dtype=object)

    def cones(self, values: Array) -> Array:
        """Half the openings of the cones (c,) of joints with quaternions that may have one, rad."""
        return np.array([self.take(values, f"{link}.limits.cone") for link in self.conical])

    def greatest(self, values: Array, quantity: str) -> Array:
        """``max_speed``, ``max_acceleration`` or ``max_deceleration`` of all ends, and of all joints' `blocks`: (L + b,)."""
        names = [f"{end}.max_{quantity}" for end in self.ends]
        names += [at.greatest(quantity) for at in self.variables]
        return np.array([self.take(values, name) for name in names], dtype=object)

    def cleaned(self, values: Array, before: Array) -> tuple[Array, Any]:
        """All inputs (I,), NaN replaced by the previous values; and the number of replacements."""
        cleaned, wrong = values.copy(), 0.0
        for name, port in self.ports.items():
            if port.shape == (4,) and port.direction == "in":
                place = self.ports.slice_of(name)
                cleaned[place], good = _orientation(values[place], before[place])
                wrong = wrong + select(good, 0.0, 1.0)
            elif port.direction == "in" and port.interval is None:
                for k in range(*self.ports.slice_of(name).indices(self.inputs)):
                    size = _size(name, values[k])
                    good = MOST - size  # (not above zero for NaN)
                    cleaned[k] = select(good, values[k], before[k])
                    wrong = wrong + select(good, 0.0, 1.0)
        return cleaned, wrong

    def stand_ins(self, q0: FloatArray) -> FloatArray:
        """Replacements (I,) of NaN inputs before the first valid ones: joint positions, their limits, zeros."""
        values = np.zeros(self.inputs)
        for at in self.variables:
            values[self.ports.slice_of(at.value)] = q0[at.q]
        for (link, _), *ends in zip(self.joints, self.tree.q_min, self.tree.q_max, strict=True):
            for name, number in zip((f"{link}.limits.min", f"{link}.limits.max"), ends, strict=True):
                values[self.ports.slice_of(name)] = number
        return values

    def _aliases(self, names: Sequence[str]) -> dict[str, str]:
        """Names of the ports of moving links by the joint's own name; none where the chain calls something else so."""
        taken = {*self.ends, *(constraint.name for constraint in self.constraints), *self.reserved}
        aliases: dict[str, str] = {}
        named = [(joint, link) for joint, (link, _) in zip(self.tree.names, self.joints, strict=True)]
        for joint, link in [*named, *((at.name, link) for link, at in self.manifold_joints)]:
            if joint not in taken:
                aliases |= {joint + name[len(link) :]: name for name in names if name.startswith(f"{link}.")}
        return aliases

    def _check(self) -> None:
        if not self.tree.nv:
            raise ArgumentError(f"{self.tree.name!r} has no joint that moves")
        mistakes = Mistakes()
        names = [*self.ends, *(constraint.name for constraint in self.constraints), *self.reserved]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            mistakes.note(
                f"{', '.join(map(repr, twice))} would name two things of the chain; expected names of constraints and links "
                f"that differ from each other and from {choices(self.reserved)}"
            )
        for constraint in self.constraints:
            for message in self._misfits(constraint):
                mistakes.note(message)
        mistakes.finish()

    def _misfits(self, constraint: ChainConstraint) -> list[str]:
        """Errors of a constraint that refers to unknown links, or to links without a joint."""
        moving, messages = [link for link, _ in self.joints], []
        if constraint.scalars and constraint.link not in moving:
            expected = f"one with a joint of one coordinate of its own: {choices(moving) if moving else 'none has one'}"
            return [f"constraint {constraint.name!r}: link is {constraint.link!r}; expected {expected}"]
        there = [*self.ends, "start"] if isinstance(constraint, LoopClosure) else list(self.ends)
        for field in ("link", "to"):
            named = getattr(constraint, field, None)
            if named is not None and named not in (there if field == "to" else self.ends):
                expected = choices(there if field == "to" else self.ends)
                messages.append(f"constraint {constraint.name!r}: {field} is {named!r}; expected {expected}")
        return messages

    @classmethod
    def fitting(
        cls, tree: Tree, constraints: Sequence[ChainConstraint], q0: FloatArray, mistakes: Mistakes
    ) -> Layout | None:
        """Build the ports of a chain; errors of unsuitable constraints are recorded, and their ports left out."""
        layout = mistakes.take(cls, tree, constraints, q0)
        if layout is not None or not tree.nv:
            return layout
        plain = cls(tree, (), q0)
        taken, good = {*plain.ends, *plain.reserved}, []
        for constraint in constraints:
            if constraint.name not in taken and not plain._misfits(constraint):
                good.append(constraint)
            taken.add(constraint.name)
        return cls(tree, good, q0)

    def _inputs(self, q0: FloatArray) -> Iterator[Port]:
        yield _port("chain.calculations_per_cycle", "1", "most iterations of a cycle", 100, kind="int", least=1, most=10_000)
        yield _port("chain.calculation_precision", "1", "greatest error of a constraint, m and rad", 1e-10, least=1e-14)
        words = "whether the solver starts all over the joint ranges where nothing near is a solution"
        yield _port("chain.global_search", "", words, False, kind="bool")
        for quantity, (unit, words) in _WORDS.items():
            yield _port(f"start.{quantity}", unit, f"{words} of the start, in the world", np.zeros(3))
        for at in self.variables:  # (side by side, as their solved values: one copy routes them all)
            value = q0[at.q] if at.shape else float(q0[at.q][0])
            yield _port(at.value, at.value_unit, "joint value that the cycle begins with", value)
        yield from self._free_inputs()
        for i, (link, letter) in enumerate(self.joints):
            unit = _unit(letter)
            low, high = self.tree.q_min[i], self.tree.q_max[i]
            yield _port(f"{link}.{letter}_speed", f"{unit}/s", "speed at which the joint is moved", 0.0)
            yield _port(f"{link}.limits.min", unit, "least joint value", float(low), infinite=True)
            yield _port(f"{link}.limits.max", unit, "greatest joint value", float(high), infinite=True)
            yield _limit(f"{link}.max_{letter}_speed", f"{unit}/s", "greatest speed", float(self.tree.qd_max[i]))
            for quantity in ("acceleration", "deceleration"):
                most = float(self.tree.qdd_max[i])
                yield _limit(f"{link}.max_{letter}_{quantity}", f"{unit}/s2", f"greatest {quantity}", most)
            yield from _regulator(link)
        for end in self.ends:
            for quantity, unit in (("speed", "m/s"), ("acceleration", "m/s2"), ("deceleration", "m/s2")):
                yield _limit(f"{end}.max_{quantity}", unit, f"greatest {quantity} of the end")
        for constraint in self.constraints:
            name = constraint.name
            yield _port(f"{name}.enabled", "", "whether the constraint holds", constraint.enabled, kind="bool")
            unit = _unit(self._driven(constraint)) if constraint.scalars else ""
            for quantity, number in constraint.scalars.items():
                first = q0[self.tree.nq - self.tree.n + self._joint(constraint)] if number is None else number
                words = f"{quantity} at which the joint of {constraint.link} is held, or moved"
                yield _port(f"{name}.{quantity}", unit if quantity == "value" else f"{unit}/s", words, float(first))
            if isinstance(constraint, KeepClear):
                yield _port(f"{name}.margin", "m", "how far shapes stay apart", constraint.clear.margin, least=0.0)
            for quantity, value in constraint.vectors.items():
                unit, words = _WORDS[quantity]
                yield _port(f"{name}.{quantity}", unit, f"{words} of the end of {constraint.link}, in the world", value)

    def _free_inputs(self) -> Iterator[Port]:
        """The inputs of joints with quaternions."""
        for at in self.variables:
            if at.shape:
                unit, about = at.unit, "of the joint, in the axes of its link"
                yield _port(at.speed, f"{unit}/s", f"velocity {about}", np.zeros(3))
                for quantity, power in (("speed", ""), ("acceleration", "2"), ("deceleration", "2")):
                    yield _limit(at.greatest(quantity), f"{unit}/s{power}", f"greatest {quantity} {about}")
        for link, joint in self.manifold_joints:
            if link in self.conical:
                words = "half the opening of the cone that its axis stays in"
                yield _port(f"{link}.limits.cone", "rad", words, joint.most, least=0.0, infinite=True)
            yield from _regulator(link)

    def _outputs(self) -> Iterator[Port]:
        yield _out("chain.unsolved", "", "whether something is lacking", kind="bool")
        yield _out("chain.reason", "", "why the cycle ended", kind="choice", words=REASONS)
        yield _out("chain.distance", "m", "what is lacking of places, in all")
        yield _out("chain.angle", "rad", "what is lacking of rotations, in all")
        yield _out("chain.iterations", "1", "steps of the solver", kind="int")
        yield _out("chain.limited", "", "whether a greatest speed or acceleration holds the chain back", kind="bool")
        yield _out("chain.kept", "", "whether all greatest speeds and accelerations could be kept", kind="bool")
        yield _out("chain.cycle", "1", "cycles so far", kind="int")
        yield _out("chain.time", "s", "sum of the cycles so far")
        yield _out("chain.period", "s", "length of the cycle")
        for at in self.variables:
            yield _out(at.solved, at.value_unit, "joint value that meets the constraints", at.shape)
        for link in [*self.conical, *(link for link, _ in self.joints)]:
            yield _out(f"{link}.limits.reached", "", "whether the solved value is at one of the limits", kind="bool")
        for at in self.variables:
            yield _out(at.predicted, at.value_unit, "joint value for the start of the next cycle", at.shape)
        for at in self.variables:
            yield _out(at.calculated, f"{at.unit}/s", "speed for the joint, after its regulator", at.speed_shape)
        for at in self.variables:
            about = "value predicted for now in the last cycle, less the joint value that came in"
            yield _out(at.error, at.unit, about, at.speed_shape)
        for end in self.ends:
            yield _out(f"{end}.position", "m", "end for the input values, from the start", (3,))
            yield _out(f"{end}.rotation_matrix", "1", "rotation of the end for the input values", (3, 3))
            yield _out(f"{end}.solved_position", "m", "end for the solved values, from the start", (3,))
            yield _out(f"{end}.solved_rotation", "1", "rotation of the end for the solved values", (3, 3))
            yield _out(f"{end}.predicted_position", "m", "end at the start of the next cycle, from the start", (3,))
            yield _out(f"{end}.world_position", "m", "solved end, in the world", (3,))
            for method, words in METHODS.items():
                yield _out(f"{end}.calculated_velocity.{method}", "m/s", f"velocity of the end, {words}", (3,))
                yield _out(f"{end}.calculated_angular_velocity.{method}", "rad/s", f"its angular velocity, {words}", (3,))
        for constraint in self.constraints:
            if isinstance(constraint, KeepClear):  # (side by side: the cycle writes both)
                yield _out(f"{constraint.name}.distance", "m", "least distance of shapes at the solved values")
                yield _out(f"{constraint.name}.limited", "", "whether it holds the chain back", kind="bool")
            if constraint.place:
                yield _out(f"{constraint.name}.distance", "m", "how far from holding")
            if constraint.turn:
                yield _out(f"{constraint.name}.angle", "rad", "how far from holding")
            if constraint.scalars:
                letter = self._driven(constraint)
                yield _out(
                    f"{constraint.name}.{'distance' if letter == 'd' else 'angle'}", _unit(letter), "how far from holding"
                )

    def _joint(self, constraint: ChainConstraint) -> int:
        """The coordinate that a constraint drives."""
        return [link for link, _ in self.joints].index(constraint.link)

    def _driven(self, constraint: ChainConstraint) -> str:
        """Return ``"theta"`` or ``"d"`` of the constrained joint."""
        return self.joints[self._joint(constraint)][1]


def _size(name: str, value: Any) -> Any:
    """Value of an input for the test of its range: lower limits may be minus infinity, upper ones plus infinity."""
    signs = {".limits.min": 1.0, ".limits.max": -1.0}
    return signs[name[-11:]] * value if name[-11:] in signs else abs(value)


def _orientation(values: Array, before: Array) -> tuple[Array, Any]:
    """Normalized quaternion (4,) of an input, or the previous one; the last element is positive for the former."""
    square = squared(values)
    near = UNIT_LENGTH - abs(root(square) - 1.0)  # (not above zero for NaN)
    scale = select(abs(square - 1.0) - UNIT_ROUNDING, 1.0 / root(square), 1.0)
    good = select(near, 1.0, 0.0)
    return np.array([select(good, value * scale, old) for value, old in zip(values, before, strict=True)]), good


def _unit(letter: str) -> str:
    return "m" if letter == "d" else "rad"


def _port(
    name: str,
    unit: str,
    words: str,
    value: Any,
    *,
    kind: Kind = "float",
    least: float | None = None,
    most: float | None = None,
    positive: bool = False,
    infinite: bool = False,
) -> Port:
    """An input."""
    anything = name.rsplit(".", 1)[1] in TAKES_ANYTHING and ".regulator." not in name
    shape = np.shape(value)
    return Port(
        name=name, direction="in", kind=kind, shape=shape, unit=unit, description=words, initial=value,
        least=least, most=most, positive=positive, finite=not anything and not infinite,
    )  # fmt: skip


def _regulator(link: str) -> Iterator[Port]:
    """The inputs of the regulator of a joint."""
    yield _port(f"{link}.regulator.p", "1", "share of the speed itself", 1.0, least=-MOST, most=MOST)
    yield _port(f"{link}.regulator.i", "1/s", "share of its integral", 0.0, least=-MOST, most=MOST)
    yield _port(f"{link}.regulator.d", "s", "share of its rate", 0.0, least=-MOST, most=MOST)
    yield _port(f"{link}.regulator.r", "1", "share of a change that acts in one cycle", 1.0, positive=True, most=1.0)


def _limit(name: str, unit: str, words: str, value: float = inf) -> Port:
    """An input that is a limit, infinite for none."""
    return _port(name, unit, words, value, positive=True, infinite=True)


def _out(
    name: str, unit: str, about: str, shape: tuple[int, ...] = (), *, kind: Kind = "float", words: tuple[str, ...] = ()
) -> Port:
    """An output."""
    return Port(name=name, direction="out", kind=kind, shape=shape, unit=unit, description=about, choices=words)


class JointValues:
    """Views of the joint values in the ports of a chain, in the order of the configuration and of the velocities.

    Parameters
    ----------
    layout : Layout
        Layout of the chain.

    Attributes
    ----------
    solved, predicted : ndarray (nq,)
        The solved values, and the predicted ones: as they stand in the ports, changed by each cycle.
    speeds : ndarray (nv,)
        The calculated speeds.
    """

    def __init__(self, layout: Layout) -> None:
        self._inputs = tuple(at.value for at in layout.variables)
        self._rates = tuple(at.speed for at in layout.variables)
        self._routed = frozenset((*self._inputs, *self._rates))
        self.solved = _view(layout.ports, [at.solved for at in layout.variables])
        self.predicted = _view(layout.ports, [at.predicted for at in layout.variables])
        self.speeds = _view(layout.ports, [at.calculated for at in layout.variables])
        self._at = _view(layout.ports, self._inputs)
        places = (layout.ports.slice_of(name) for name in self._rates)
        self._rate_places = [k for place in places for k in range(place.start, place.stop)]
        self._words = {"q": "a number for each joint", "qd": "a number for each joint"}
        if layout.manifold_joints:
            tree = layout.tree
            self._words = {
                "q": f"nq = {tree.nq} numbers: {', '.join(tree.coordinate_names)}",
                "qd": f"nv = {tree.nv} numbers: {', '.join(tree.velocity_names)}",
            }

    def feed(self, ports: Ports, q: npt.ArrayLike, qd: npt.ArrayLike | None) -> None:
        """Write the joint values (nq,), and velocities (nv,) if any, and disconnect their routes."""
        at = self._numbers("q", q, len(self._at))
        rates = None if qd is None else self._numbers("qd", qd, len(self._rate_places))
        if not self._routed.isdisjoint(routed := ports.routed):
            for name in (*self._inputs, *(self._rates if rates is not None else ())):
                if name in routed:
                    ports.unroute(name)
        self._at[:] = at
        if rates is not None:
            ports.values[self._rate_places] = rates

    def _numbers(self, field: str, value: npt.ArrayLike, n: int) -> FloatArray:
        """Convert to n numbers, finite or not: the cycle reports those that are not."""
        try:
            result = np.asarray(readable(field, value), dtype=np.float64)
        except (TypeError, ValueError):
            raise ArgumentError(f"{field} is {shown(value)}; expected {n} numbers, {self._words[field]}") from None
        if result.shape != (n,):
            raise ArgumentError(f"{field} has the shape {result.shape}; expected ({n},), {self._words[field]}")
        return result


def _view(ports: Ports, names: Sequence[str]) -> FloatArray:
    """The numbers of ports that lie side by side."""
    places = [ports.slice_of(name) for name in names]
    assert all(first.stop == second.start for first, second in pairwise(places))
    return ports.values[places[0].start : places[-1].stop]
