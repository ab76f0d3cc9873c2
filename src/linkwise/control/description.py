"""Contents of a chain file: mechanism, start, constraints, initial values and routes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from linkwise.control.constraints import CONVENTIONS, KINDS, SCALARS, VECTORS, ChainConstraint
from linkwise.control.cycle.joint_ports import single_joints
from linkwise.control.cycle.layout import RESERVED, UNIT_LENGTH, UNIT_ROUNDING, Layout
from linkwise.control.keep_clear import KeepClear, require_clear
from linkwise.control.limits.cone_limits import CONE_ROUNDING
from linkwise.control.links import START, is_word
from linkwise.control.ports import Ports
from linkwise.errors import ArgumentError, Problem, choices, suggestion
from linkwise.mechanism import Mechanism
from linkwise.model.assembly import separated
from linkwise.model.validation import Checker, frozen
from linkwise.solve.validation import settle
from linkwise.spatial.scalar import FloatArray

Triple = tuple[float, float, float]

#: The first value of a port.
Value = float | bool | int | tuple[float, ...]

#: Fields of a row that only some kinds of constraints have.
SPECIFIC = ("to", *VECTORS, *SCALARS, "rotation")

_NOTHING = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class ConstraintRow:
    """A constraint as a file says it: words and numbers.

    Parameters
    ----------
    name : str
        Of the constraint; its ports are called by it.
    kind : {"fixed position", "fixed rotation", "moving position", "velocity", "loop", "driven joint"}
        What must hold.
    link : str
        Whose end it is on: a link, or ``"tool"``.
    to : str, optional
        The link whose end the first one meets, or ``"start"``; of a loop.
    position : (3,) sequence of float, optional
        m, in the world.
    angles : (3,) sequence of float, optional
        About x, y and z, rad, in the convention of the chain.
    velocity, angular_velocity : (3,) sequence of float, optional
        m/s and rad/s, axes of the world. Those of a moving position are zero where they are left out.
    value, speed : float, optional
        Of a driven joint, rad and rad/s, or m and m/s; the value where the chain begins, and zero, where they are left out.
    rotation : bool
        Whether the ends of a loop are turned alike, too.
    enabled : bool
        Whether it holds from the first cycle on.

    Raises
    ------
    ModelError
        With every problem found: the constraint, the field, the value, what was expected.

    Examples
    --------
    >>> row = ConstraintRow("hold", "fixed position", "hook", position=(12, 0, 8))
    >>> row.arguments
    {'name': 'hold', 'link': 'hook', 'position': (12.0, 0.0, 8.0), 'enabled': True}
    """

    name: str
    kind: str
    link: str
    to: str | None = None
    position: Triple | None = None
    angles: Triple | None = None
    velocity: Triple | None = None
    angular_velocity: Triple | None = None
    value: float | None = None
    speed: float | None = None
    rotation: bool = False
    enabled: bool = True

    def __post_init__(self) -> None:
        check = Checker(f"constraint {self.name!r}")
        for said in ("name", "link"):
            if not is_word(value := getattr(self, said)):
                check.report(said, value, "a name")
            elif said == "name" and "." in value:
                check.report(said, value, "a name without a dot")
        for said in ("rotation", "enabled"):
            object.__setattr__(self, said, check.flag(said, getattr(self, said)))
        for said in VECTORS:
            if (value := getattr(self, said)) is not None:
                object.__setattr__(self, said, tuple(check.vector(said, value).tolist()))
        for said in SCALARS:
            if (value := getattr(self, said)) is not None:
                object.__setattr__(self, said, check.number(said, value))
        if check.choice("kind", self.kind, KINDS) == self.kind:
            self._check_kind(check)
        check.finish()
        if self.kind == "moving position":
            object.__setattr__(self, "velocity", self.velocity or _NOTHING)
            object.__setattr__(self, "angular_velocity", self.angular_velocity or (_NOTHING if self.angles else None))
        if self.kind == "driven joint":
            object.__setattr__(self, "speed", self.speed or 0.0)

    def _check_kind(self, check: Checker) -> None:
        """Whether it has what its kind needs, and nothing that its kind knows nothing of."""
        kind = KINDS[self.kind]
        for name in SPECIFIC:
            value = getattr(self, name)
            if value is None and name in kind.needed:
                expected = "the name of a link" if name == "to" else "three numbers"
                check.report(name, value, f"{expected}, which a {self.kind} constraint needs")
            elif value is not None and value is not False and name not in kind.specific():
                check.report(name, value, f"nothing, for a {self.kind} constraint has {_members(kind.specific())}")
        if self.to is not None and (not is_word(self.to) or self.to == self.link):
            check.report("to", self.to, f"the name of another link than {self.link!r}")
        if self.kind == "velocity" and self.velocity is None and self.angular_velocity is None:
            check.report("velocity", None, "three numbers, or an angular_velocity")
        if self.kind == "moving position" and self.angular_velocity is not None and self.angles is None:
            check.report("angular_velocity", self.angular_velocity, "nothing where there are no angles")

    @classmethod
    def of(cls, constraint: ChainConstraint) -> ConstraintRow:
        """The row of a constraint of `linkwise.control.constraints`.

        Examples
        --------
        >>> from linkwise.control.constraints import LoopClosure
        >>> ConstraintRow.of(LoopClosure("pin", "rod", "slide")).to
        'slide'
        """
        specific = {name: getattr(constraint, name) for name in constraint.specific()}
        return cls(constraint.name, constraint.kind, constraint.link, enabled=constraint.enabled, **specific)

    @property
    def fields(self) -> dict[str, Any]:
        """What it was made from, by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def arguments(self) -> dict[str, Any]:
        """What the class of its kind takes, by name."""
        said = {name: value for name in KINDS[self.kind].specific() if (value := getattr(self, name)) is not None}
        return {"name": self.name, "link": self.link, **said, "enabled": self.enabled}

    def constraint(self) -> ChainConstraint:
        """Build the constraint of the row."""
        return KINDS[self.kind](**self.arguments)

    @property
    def vectors(self) -> dict[str, Triple]:
        """What it has that is a vector, by name."""
        return {said: value for said in VECTORS if (value := getattr(self, said)) is not None}

    @property
    def inputs(self) -> tuple[str, ...]:
        """The inputs that it has, without its name."""
        return ("enabled", *self.vectors, *(SCALARS if self.kind == "driven joint" else ()))


def _members(names: Iterable[str]) -> str:
    listed = tuple(names)
    return " and ".join(listed) if len(listed) < 3 else f"{', '.join(listed[:-1])} and {listed[-1]}"


#: How many names a message lists at most where it cannot offer a near one.
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
    """What was expected where a name is not there: all of them if they are few, and the nearest one.

    Examples
    --------
    >>> near("bom", ["boom", "jib"])
    "'boom' or 'jib' (did you mean 'boom'?)"
    """
    known = list(names)
    guess = suggestion(str(name)[:80], known)
    listed = known if len(known) <= MOST_NAMES else known[:3]
    return f"{choices(listed)}{guess}" if listed is known else f"one of {len(known)}, such as {choices(listed)}{guess}"


def ends_of(mechanism: Mechanism) -> tuple[str, ...]:
    """Whose ends have a place and a speed: all links, and the tool."""
    return (*mechanism.link_names, *(() if "tool" in mechanism.link_names else ("tool",)))


def joints_of(mechanism: Mechanism) -> dict[str, str]:
    """The name of the free parameter, ``"theta"`` or ``"d"``, of each link that has one: joints of one coordinate.

    Examples
    --------
    >>> from linkwise import robots
    >>> joints_of(robots.scara_icomatic())
    {'link1': 'theta', 'link2': 'theta', 'link3': 'd'}
    """
    return dict(single_joints(mechanism))


def usual_routes(layout: Layout) -> dict[str, str]:
    """What feeds the values of all joints unless stated otherwise: what they are solved to be.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> usual_routes(Layout(arm, (), arm.neutral))
    {'link1.theta': 'link1.theta_solved', 'link2.theta': 'link2.theta_solved'}
    """
    return {at.value: at.solved for at in layout.variables}


def beginning(mechanism: Mechanism, q: FloatArray) -> FloatArray:
    """The configuration (nq,) within the limits, its quaternions of length 1; it raises where one is far from that."""
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


def check_constraints(check: Checker, mechanism: Mechanism, rows: Sequence[ConstraintRow]) -> list[ConstraintRow]:
    """Those whose names differ from each other and from all links, and whose links are there; the others are reported."""
    ends = ends_of(mechanism)
    seen: set[str] = set()
    good = []
    for k, row in enumerate(rows):
        problems = []
        if row.name in {*seen, *ends, *RESERVED}:
            whose = "a constraint" if row.name in seen else "a link" if row.name in ends else "the chain itself"
            problems.append(("name", row.name, f"another name (this one is that of {whose})"))
        known = tuple(joints_of(mechanism)) if row.kind == "driven joint" else ends
        if row.link not in known:
            problems.append(("link", row.link, near(row.link, known) if known else "a link with a joint; no joint moves"))
        if row.to is not None and row.to not in {START, *ends}:
            problems.append(("to", row.to, near(row.to, [START, *(end for end in ends if end != row.link)])))
        check.problems += [Placed(f"constraint {row.name!r}", *said, ("constraint", k, said[0])) for said in problems]
        good += [] if problems else [row]
        seen.add(row.name)
    return good


def check_clear(check: Checker, mechanism: Mechanism, clear: Any, rows: Sequence[ConstraintRow], q0: FloatArray) -> Any:
    """What keeps a chain clear, if it can; what is wrong with it is reported."""
    if clear is None:
        return None
    if not isinstance(clear, KeepClear):
        check.report("clear", clear, "a KeepClear, or None")
        return None
    if clear.name in {*ends_of(mechanism), *RESERVED, *(row.name for row in rows)} or not is_word(clear.name):
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
    rows: Sequence[ConstraintRow],
    clear: KeepClear | None,
    settings: Mapping[str, Any],
    values: Any,
    routes: Any,
) -> tuple[dict[str, Any], dict[str, str]]:
    """The first values and the routes, as far as the chain that has these constraints takes them; the rest is reported."""
    for key, ports_named in (("values", values), ("routes", routes)):
        if not isinstance(ports_named, Mapping):
            check.report(key, ports_named, "a mapping by the names of ports")
    values, routes = (mapping if isinstance(mapping, Mapping) else {} for mapping in (values, routes))
    try:
        layout = Layout(mechanism, _built(rows, clear), mechanism.neutral)
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
    parts: list[ConstraintRow | KeepClear] = [*rows, *([] if clear is None else [clear])]
    owners = {f"{part.name}.{quantity}": "its constraint" for part in parts for quantity in part.inputs}
    owners |= {f"chain.{key}": f"the key {key}" for key in OWN_KEYS}
    kept = {
        ports[name].name: value
        for name in values
        if _once(check, ports, "values", values, name)
        and (value := _settled(check, ports, owners, name, values[name])) is not None
    }
    _check_limits(check, mechanism, ports, kept)
    return kept, routed


def _built(rows: Sequence[ConstraintRow], clear: KeepClear | None) -> tuple[ChainConstraint, ...]:
    return (*(row.constraint() for row in rows), *(() if clear is None else (clear,)))


def _once(check: Checker, ports: Ports, field: str, entries: Mapping[Any, Any], name: Any) -> bool:
    """Whether a port is named once: by its link or by its joint, not by both."""
    if name not in ports or name == ports[name].name or ports[name].name not in entries:
        return True
    message = f"port {name!r} is {ports[name].name!r}, which is given too; expected one of them"
    check.problems.append(Placed("chain", field, name, "", (field, name), message))
    return False


def _routed(check: Checker, ports: Ports, target: Any, source: Any) -> bool:
    """Whether a route can be; it is there then, or there no more for the source ``""``."""
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


def _settled(check: Checker, ports: Ports, owners: Mapping[str, str], name: Any, value: Any) -> Any:
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
    """Write a first value; what is wrong with it, or nothing."""
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
    """The least value of each joint is not above the greatest, where first values change them."""
    for link in joints_of(mechanism):
        said = [port for port in (f"{link}.limits.min", f"{link}.limits.max") if port in values]
        low, high = ports.read(f"{link}.limits.min"), ports.read(f"{link}.limits.max")
        if said and low > high:  # type: ignore[operator]
            message = (
                f"port {said[0]!r} is given {values[said[0]]!r}; expected limits.min <= limits.max, here {low} > {high}"
            )
            check.problems.append(Placed("chain", "values", said[0], "", ("values", said[0]), message))


@dataclass(frozen=True, eq=False)
class ChainDescription:
    """What the file of a chain holds.

    Parameters
    ----------
    name : str
        Of the chain.
    mechanism : Mechanism
        Links and joints, on the start.
    q0 : (nq,) array_like, optional
        Where the joints begin, rad and m, within the limits; where it is left out at zero, or at the nearest limit.
    constraints : iterable of ConstraintRow
        What must hold.
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
        Of a cycle, s, where something runs it at a rate.
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
    constraints: tuple[ConstraintRow, ...] = ()
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
        rows = tuple(row for row in items if isinstance(row, ConstraintRow))
        if len(rows) < len(items):
            check.report("constraints", self.constraints, "a sequence of ConstraintRow")
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
        """First values of inputs, those included that have a field of their own; constraints hold theirs themselves."""
        return {**{f"chain.{key}": getattr(self, key) for key in OWN_KEYS}, **self.values}

    @property
    def built(self) -> tuple[ChainConstraint, ...]:
        """Its constraints, built."""
        return _built(self.constraints, self.clear)

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for equal descriptions."""
        settings = (self.angles, self.period, self.calculations_per_cycle, self.calculation_precision)
        begin = (self.name, self.mechanism, self.q0.tobytes(), self.constraints, self.clear and self.clear.content)
        return (*begin, dict(self.values), dict(self.routes), *settings)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ChainDescription) and self.key == other.key

    __hash__ = None  # type: ignore[assignment]  # (values and routes are mappings)


def _start(check: Checker, mechanism: Mechanism, q0: Any) -> FloatArray:
    """Where the joints begin, read-only."""
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
