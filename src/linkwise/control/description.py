"""Contents of a chain file: mechanism, start, constraints, initial values and routes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from linkwise.control.constraints import CONVENTIONS, ChainConstraint
from linkwise.control.cycle.joint_ports import single_joints
from linkwise.control.cycle.layout import RESERVED, UNIT_LENGTH, UNIT_ROUNDING, Layout, ends_of
from linkwise.control.keep_clear import KeepClear, require_clear
from linkwise.control.limits.point_motion import CONE_ROUNDING
from linkwise.control.links import START, is_word
from linkwise.control.ports import Ports
from linkwise.errors import ArgumentError, Problem, choices, suggestion
from linkwise.mechanism import Mechanism
from linkwise.model.assembly import separated
from linkwise.model.validation import Checker, frozen
from linkwise.solve.validation import settle
from linkwise.spatial.scalar import FloatArray

#: The first value of a port.
Value = float | bool | int | tuple[float, ...]

#: Greatest number of names in a message without a similar one.
MOST_NAMES = 12

#: Inputs of the chain itself, which a description holds in fields of their own.
OWN_KEYS: tuple[str, ...] = ("calculations_per_cycle", "calculation_precision")


@dataclass(frozen=True)
class Placed(Problem):
    """A problem and the part that it is in: ``("constraint", 2, "link")``, ``("values", "boom.max_speed")``."""

    place: tuple[object, ...] = ()
    message: str = ""

    def __str__(self) -> str:
        return self.message or super().__str__()


def near(name: object, names: Iterable[str]) -> str:
    """Valid names for an error message: all if they are few, and the most similar one.

    Examples
    --------
    >>> near("bom", ["boom", "jib"])
    "'boom' or 'jib' (did you mean 'boom'?)"
    """
    known = list(names)
    guess = suggestion(str(name)[:80], known)
    listed = known if len(known) <= MOST_NAMES else known[:3]
    return f"{choices(listed)}{guess}" if listed is known else f"one of {len(known)}, such as {choices(listed)}{guess}"


def usual_routes(layout: Layout) -> dict[str, str]:
    """Default routes: the solved values of all joints feed their inputs.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> usual_routes(Layout(arm, (), arm.neutral))
    {'link1.theta': 'link1.theta_solved', 'link2.theta': 'link2.theta_solved'}
    """
    return {at.value: at.solved for at in layout.variables}


def beginning(mechanism: Mechanism, q: FloatArray) -> FloatArray:
    """Validate a configuration (nq,): clip it to the limits, normalize quaternions, and raise an error if it is far off."""
    start, base = q.copy(), mechanism.nq - mechanism.n
    for at in mechanism.manifold_joints:
        size = float(np.linalg.norm(start[at.quaternion]))
        if not abs(size - 1.0) <= UNIT_LENGTH:
            raise ArgumentError(f"q0 has a quaternion of the length {size:.9g} for the joint {at.name!r}; expected 1")
        if abs(size * size - 1.0) > UNIT_ROUNDING:
            start[at.quaternion] /= size
        start[at.q] = at.joint.clipped(start[at.q], at.most)
    start[base:] = np.clip(start[base:], mechanism.q_min, mechanism.q_max)
    return start


def check_constraints(check: Checker, mechanism: Mechanism, rows: Sequence[ChainConstraint]) -> list[ChainConstraint]:
    """Select constraints with distinct names, other than those of links, and existing links; report the others."""
    ends = ends_of(mechanism)
    seen: set[str] = set()
    good = []
    for k, row in enumerate(rows):
        problems = []
        if row.name in {*seen, *ends, *RESERVED}:
            whose = "a constraint" if row.name in seen else "a link" if row.name in ends else "the chain itself"
            problems.append(("name", row.name, f"another name (this one is that of {whose})"))
        known = [link for link, _ in single_joints(mechanism)] if row.scalars else ends
        if row.link not in known:
            problems.append(("link", row.link, near(row.link, known) if known else "a link with a joint; no joint moves"))
        to = getattr(row, "to", START)
        if to not in {START, *ends}:
            problems.append(("to", to, near(to, [START, *(end for end in ends if end != row.link)])))
        check.problems += [Placed(f"constraint {row.name!r}", *part, ("constraint", k, part[0])) for part in problems]
        good += [] if problems else [row]
        seen.add(row.name)
    return good


def check_clear(check: Checker, mechanism: Mechanism, clear: Any, rows: Sequence[ChainConstraint], q0: FloatArray) -> Any:
    """Validate the clearance constraint; report its errors."""
    if clear is None:
        return None
    if not isinstance(clear, KeepClear):
        check.report("clear", clear, "a KeepClear, or None")
        return None
    if clear.name in {*ends_of(mechanism), *RESERVED, *(row.name for row in rows)}:
        expected = "a name that no constraint, no link and no part of the chain has"
        check.problems.append(Placed("clear", "name", clear.name, expected, ("clear", "name")))
        return None
    try:
        require_clear(clear, separated(mechanism), q0, clear.clear.margin if clear.enabled else -np.inf)
    except ArgumentError as error:
        check.problems.append(Placed("clear", "margin", clear.clear.margin, "", ("clear",), str(error)))
    return clear


def check_ports(
    check: Checker,
    mechanism: Mechanism,
    rows: Sequence[ChainConstraint],
    clear: KeepClear | None,
    settings: Mapping[str, Any],
    values: Any,
    routes: Any,
) -> tuple[dict[str, Any], dict[str, str]]:
    """Initial values and routes that are valid for a chain with these constraints; errors are reported."""
    for key, ports_named in (("values", values), ("routes", routes)):
        if not isinstance(ports_named, Mapping):
            check.report(key, ports_named, "a mapping by the names of ports")
    values, routes = (mapping if isinstance(mapping, Mapping) else {} for mapping in (values, routes))
    constraints = rows if clear is None else (*rows, clear)
    try:
        layout = Layout(mechanism, constraints, mechanism.neutral)
    except ArgumentError as error:
        check.problems.append(Placed("chain", "mechanism", mechanism.name, "", ("mechanism",), str(error)))
        return {}, {}
    ports = layout.ports
    for key, value in settings.items():
        expected = ports[f"chain.{key}"].expected
        if _written(ports, f"chain.{key}", value):
            check.report(key, value, expected)
    for target, source in usual_routes(layout).items():
        ports.route(source, target)
    routed = {
        ports[target].name: source and ports[source].name
        for target, source in routes.items()
        if _once(check, ports, "routes", routes, target) and _routed(check, ports, target, source)
    }
    owners = {f"{part.name}.{quantity}": "its constraint" for part in constraints for quantity in part.inputs}
    owners |= {f"chain.{key}": f"the key {key}" for key in OWN_KEYS}
    kept = {
        ports[name].name: value
        for name in values
        if _once(check, ports, "values", values, name)
        and (value := _validated_value(check, ports, owners, name, values[name])) is not None
    }
    _check_limits(check, mechanism, ports, kept)
    return kept, routed


def _once(check: Checker, ports: Ports, field: str, entries: Mapping[Any, Any], name: Any) -> bool:
    """True if a port is named once: by its link or by its joint, not by both."""
    if name not in ports or name == ports[name].name or ports[name].name not in entries:
        return True
    message = f"port {name!r} is {ports[name].name!r}, which is given too; expected one of them"
    check.problems.append(Placed("chain", field, name, "", (field, name), message))
    return False


def _routed(check: Checker, ports: Ports, target: Any, source: Any) -> bool:
    """Connect a route, or disconnect it for the source ``""``; False if it is invalid."""
    try:
        if ports[target].name in ports.routes:
            ports.unroute(target)
        if source != "":
            ports.route(source, target)
        elif ports[target].direction == "out":
            raise ArgumentError(f"port {target!r} is an output, which nothing can feed; route to an input")
    except ArgumentError as error:
        check.problems.append(Placed("chain", "routes", target, "", ("routes", target), str(error)))
        return False
    return True


def _validated_value(check: Checker, ports: Ports, owners: Mapping[str, str], name: Any, value: Any) -> Any:
    """The value as it is kept, or None after a report; infinity is a number, NaN is none."""
    message = f"port {name!r} is set by {owners[name]}; expected it there alone" if name in owners else ""
    fed = ports.routes.get(ports[name].name) if name in ports else None
    if fed:
        message = f"port {name!r} is fed by {fed!r}; expected no first value, or a route from '' to it"
    message = message or _written(ports, name, value)
    if message:
        check.problems.append(Placed("chain", "values", name, "", ("values", name), message))
        return None
    kept = ports.read(name)
    return tuple(kept.tolist()) if isinstance(kept, np.ndarray) else kept


def _written(ports: Ports, name: Any, value: Any) -> str:
    """Write an initial value; return the error message, or an empty text."""
    try:
        ports.write(name, value)
    except ArgumentError as error:
        return str(error)
    except OverflowError:
        return (
            f"port {name!r} is given a number beyond the range of floating-point arithmetic; expected {ports[name].expected}"
        )
    return f"port {name!r} is given NaN; expected {ports[name].expected}" if np.isnan(ports.view(name)).any() else ""


def _check_limits(check: Checker, mechanism: Mechanism, ports: Ports, values: Mapping[str, Any]) -> None:
    """Report joints whose initial lower limit is above the upper one."""
    for link, _ in single_joints(mechanism):
        stated = [port for port in (f"{link}.limits.min", f"{link}.limits.max") if port in values]
        low, high = ports.read(f"{link}.limits.min"), ports.read(f"{link}.limits.max")
        if stated and low > high:  # type: ignore[operator]
            message = (
                f"port {stated[0]!r} is given {values[stated[0]]!r}; expected limits.min <= limits.max, here {low} > {high}"
            )
            check.problems.append(Placed("chain", "values", stated[0], "", ("values", stated[0]), message))


@dataclass(frozen=True, eq=False)
class ChainDescription:
    """Contents of the file of a chain.

    Parameters
    ----------
    name : str
        Name of the chain.
    mechanism : Mechanism
        Links and joints, on the start.
    q0 : (nq,) array_like, optional
        Where the joints begin, rad and m, within the limits; where it is left out at zero, or at the nearest limit.
    constraints : iterable of ChainConstraint
        Constraints.
    clear : KeepClear, optional
        How far shapes stay apart, and from which obstacles; the last of the constraints of the chain.
    values : mapping of str to float, bool, int or sequence of float
        First values of input ports that no constraint and no other field sets, by the names of the ports, in their units.
    routes : mapping of str to str
        Which port an input takes its value from, by the name of the input; ``""`` for none. The theta or d of a joint takes
        its solved value unless stated otherwise.
    angles : {"xyz", "zyx"}
        The convention of all angles.
    period : float, optional
        Period of a cycle, s, where something runs it at a rate.
    calculations_per_cycle : int
        Most iterations of one cycle.
    calculation_precision : float
        What counts as solved, m and rad.
    reference : str or Path, optional
        How a file may refer to the mechanism: the name of a bundled one, or the file that it came from. Not compared.

    Raises
    ------
    ModelError
        With every problem found.
    """

    name: str
    mechanism: Mechanism
    q0: FloatArray = None  # type: ignore[assignment]  # (set below)
    constraints: tuple[ChainConstraint, ...] = ()
    values: Mapping[str, Value] = field(default_factory=dict)
    routes: Mapping[str, str] = field(default_factory=dict)
    angles: str = "xyz"
    period: float | None = None
    calculations_per_cycle: int = 100
    calculation_precision: float = 1e-10
    reference: str | Path | None = None
    clear: KeepClear | None = None

    def __post_init__(self) -> None:
        check = Checker(f"chain {self.name!r}")
        if not is_word(self.name):
            check.report("name", self.name, "a word")
        items = tuple(self.constraints) if isinstance(self.constraints, Iterable) else (None,)
        rows = tuple(row for row in items if isinstance(row, ChainConstraint))
        if len(rows) < len(items):
            check.report("constraints", self.constraints, "a sequence of ChainConstraint")
        if not isinstance(self.mechanism, Mechanism):
            check.report("mechanism", self.mechanism, "a Mechanism")
            self._check_settings(check)
            for key in ("values", "routes"):
                if not isinstance(getattr(self, key), Mapping):
                    check.report(key, getattr(self, key), "a mapping by the names of ports")
            check.finish()
        settle(self, constraints=rows, q0=_start(check, self.mechanism, self.q0))
        self._check_settings(check)
        good = check_constraints(check, self.mechanism, rows)
        clear = check_clear(check, self.mechanism, self.clear, rows, self.q0)
        settings = {key: getattr(self, key) for key in OWN_KEYS}
        values, routes = check_ports(check, self.mechanism, good, clear, settings, self.values, self.routes)
        settle(self, values=values, routes=routes)
        check.finish()

    def _check_settings(self, check: Checker) -> None:
        check.choice("angles", self.angles, CONVENTIONS)
        period = self.period
        if period is not None and check.number("period", period, default=1.0) <= 0:
            check.report("period", period, "a number > 0, or None")

    @property
    def ports(self) -> dict[str, Value]:
        """Initial values of inputs, including those with a separate field; constraints contain their own."""
        return {**{f"chain.{key}": getattr(self, key) for key in OWN_KEYS}, **self.values}

    @property
    def built(self) -> tuple[ChainConstraint, ...]:
        """Constraints, including the clearance constraint."""
        return self.constraints if self.clear is None else (*self.constraints, self.clear)

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for equal descriptions."""
        settings = (self.angles, self.period, self.calculations_per_cycle, self.calculation_precision)
        begin = (self.name, self.mechanism, self.q0.tobytes(), *(constraint.content for constraint in self.built))
        return (*begin, dict(self.values), dict(self.routes), *settings)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ChainDescription) and self.key == other.key

    __hash__ = None  # type: ignore[assignment]  # (values and routes are mappings)


def _start(check: Checker, mechanism: Mechanism, q0: Any) -> FloatArray:
    """Read-only initial joint positions."""
    low, high, base = mechanism.q_min, mechanism.q_max, mechanism.nq - mechanism.n
    if q0 is None:
        return frozen(beginning(mechanism, mechanism.neutral))
    expected = f"{mechanism.nq} finite numbers: {', '.join(mechanism.coordinate_names)}"
    start = check.finite("q0", q0, (mechanism.nq,), expected)
    if check.problems:
        return start
    for k in np.flatnonzero((start[base:] < low) | (start[base:] > high)).tolist():
        within = f"{mechanism.names[k]} within its limits, {low[k]:g} to {high[k]:g}"
        check.report(f"q0[{base + k}]", float(start[base + k]), within)
    for at in mechanism.manifold_joints:
        size = float(np.linalg.norm(start[at.quaternion]))
        if not abs(size - 1.0) <= UNIT_LENGTH:
            check.report(
                f"q0[{at.quaternion.start}:{at.quaternion.stop}]", size, f"a quaternion of length 1 for {at.name!r}"
            )
        elif at.joint.excess(start[at.q], at.most) > CONE_ROUNDING:
            within = f"{at.name} within its cone, {at.most:g} rad"
            check.report(f"q0[{at.quaternion.start}:{at.quaternion.stop}]", start[at.quaternion].tolist(), within)
    return start
