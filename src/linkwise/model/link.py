"""One link and the joint that carries it: placement A J(q) B from the parent's frame to the link's."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from linkwise.errors import ArgumentError, ModelError, Problem, choices, shown
from linkwise.expr.node import Expr
from linkwise.model.formatting.link_text import link_text
from linkwise.model.inertia import Inertia
from linkwise.model.joints import DEFAULT, JOINTS, RIGID, Joint, make_joint
from linkwise.model.mimic import Mimic
from linkwise.model.motor import Motor
from linkwise.model.symbolic import any_nonzero, parameters_in, same, substituted
from linkwise.model.validation import Checker, Record, frozen, items
from linkwise.spatial.rotation import rotation_x, rotation_z
from linkwise.spatial.scalar import Array, FloatArray, array
from linkwise.spatial.transform import transform, translation
from linkwise.spatial.validation import listed, readable

CONVENTIONS: tuple[str, ...] = ("standard", "modified")

#: The letters of joints that a row of Denavit-Hartenberg parameters can have, and the names of their kinds.
DH_LETTERS = {kind.letter: name for name, kind in JOINTS.items() if kind.dh_parameter is not None}

#: The same kinds by the parameter of the row that their coordinate is added to.
DH_KINDS = {str(JOINTS[name].dh_parameter): name for name in DH_LETTERS.values()}

#: Default axis of a joint.
Z_AXIS = (0.0, 0.0, 1.0)

#: Two axes are parallel if the sine of their angle is less.
PARALLEL = 1e-9

DH_COLUMNS = ("theta", "d", "a", "alpha", "b")


@dataclass(frozen=True, eq=False)
class DHRow(Record):
    """Denavit-Hartenberg parameters from which a link was built, kept for tables."""

    convention: str
    theta: float
    d: float
    a: float
    alpha: float
    b: float = 0.0

    @cached_property
    def parts(self) -> tuple[Array, Array]:
        """Transforms before and after the motion of a joint about or along z, each (4, 4)."""
        about_z, about_x = rotation_z(self.theta), rotation_x(self.alpha)
        if self.convention == "standard":
            parts = transform(about_z), transform(about_x, array([self.a, self.b, self.d]))
        else:
            parts = transform(about_x, array([self.a, 0.0, 0.0])) @ transform(about_z), translation(0.0, 0.0, self.d)
        return parts[0] + 0.0, parts[1] + 0.0  # (without negative zeros)


@dataclass(frozen=True, eq=False)
class Link(Record):
    """A rigid link, placed on its parent by the constant A, the joint's motion J(q), and the constant B.

    ``T_parent_link(q) = A @ J(q + offset) @ B``, where J turns about, slides along, or screws about `axis`
    through the origin of A, or is what a kind with several freedoms does (see `linkwise.model.joints`). Every convention is
    a constructor of this one form.

    Parameters
    ----------
    joint : str or Joint
        Kind of the joint between parent and link: revolute, prismatic, screw, universal, cylindrical, planar, ball, fixed,
        floating, or another that is registered; or a joint itself.
    before, after : (4, 4) array_like, optional
        The constants A and B, rigid transforms; identity by default.
    axis : (3,) or (2, 3) array_like
        Direction of the joint axis in the frame of A; normalised. Of a universal joint both, that of the parent first; of a
        planar one the normal; of a ball joint the axis that limits hold in a cone.
    pitch : float
        Advance of a screw joint, m/rad.
    offset : float
        Added to the joint coordinate (rad or m); of a revolute joint a turn at most. Only for one coordinate.
    limits : (2,) or (nv, 2) array_like, optional
        Least and greatest joint coordinate, before the offset is added; may be infinite. A row for each of
        several coordinates; of a ball joint 0 and half the opening of a cone, rad: the angle by which the axis may lean.
    name : str, optional
        Unique in a mechanism; ``link1``, ``link2``, ... where none is given.
    parent : str, optional
        Name of the parent link, ``"base"``, or None for the link before in the list.
    mass, com, inertia, physical
        See `Inertia`: about the centre of mass, in this link's axes.
    body : Inertia, optional
        In the place of these four.
    motor : Motor, optional
        What drives the joint; its `joint` is left out, or is this joint's name.
    joint_name : str, optional
        The joint's own name, where it differs from the link's: that of its coordinate.
    qd_max, qdd_max, tau_max : float, optional
        Greatest velocity (rad/s or m/s), acceleration (rad/s2 or m/s2) and effort (N m or N) of the joint, both ways;
        what plans motions may ask for them.
    mimic : Mimic, optional
        The joint that this one follows; it then has no coordinate of its own.

    Raises
    ------
    ModelError
        With every problem found: the link, the field, the value, what was expected.

    Examples
    --------
    >>> link = Link(joint="revolute", axis=(0, 1, 0), name="elbow", mass=2.0)
    >>> link.placement(0.0).tolist()[0]
    [1.0, 0.0, 0.0, 0.0]
    """

    joint: str
    joint_model: Joint
    before: FloatArray
    after: FloatArray
    axis: FloatArray
    pitch: float
    offset: float
    limits: tuple[Any, ...] | None
    name: str | None
    parent: str | None
    body: Inertia
    motor: Motor | None
    joint_name: str | None
    qd_max: Any
    qdd_max: Any
    tau_max: Any
    mimic: Mimic | None
    dh_row: DHRow | None

    def __init__(
        self,
        *,
        joint: str | Joint = DEFAULT,
        before: Any = None,
        after: Any = None,
        axis: Any = Z_AXIS,
        pitch: Any = 0.0,
        offset: Any = 0.0,
        limits: Any = None,
        name: str | None = None,
        parent: str | None = None,
        mass: Any = 0.0,
        com: Any = (0.0, 0.0, 0.0),
        inertia: Any = 0.0,
        physical: bool = True,
        body: Inertia | None = None,
        motor: Motor | None = None,
        joint_name: str | None = None,
        qd_max: Any = None,
        qdd_max: Any = None,
        tau_max: Any = None,
        mimic: Mimic | None = None,
        dh_row: DHRow | None = None,
    ) -> None:
        check = Checker(f"link {name!r}" if isinstance(name, str) and name else "link")
        direction, advance = _axes(check, joint, axis), check.number("pitch", pitch)
        model = _joint(check, joint, direction, advance)
        values: dict[str, object] = {
            "joint": model.kind,
            "joint_model": model,
            "before": check.rigid("before", before),
            "after": check.rigid("after", after),
            "axis": getattr(model, "axis", direction),
            "pitch": getattr(model, "pitch", advance),
            "dh_row": dh_row,
            "body": _body(check, body, mass, com, inertia, physical),
        }
        fields = {"offset": offset, "limits": limits, "name": name, "parent": parent, "motor": motor}
        fields |= {"joint_name": joint_name, "qd_max": qd_max, "qdd_max": qdd_max, "tau_max": tau_max, "mimic": mimic}
        values |= {field: _CHECKED_ALONE[field](check, model, value) for field, value in fields.items()}
        _check_together(check, values)
        check.finish()
        self._assign(values)

    @classmethod
    def dh(
        cls,
        theta: Any = 0.0,
        d: Any = 0.0,
        a: Any = 0.0,
        alpha: Any = 0.0,
        *,
        b: Any = 0.0,
        convention: str,
        joint: str = DEFAULT,
        offset: Any = 0.0,
        limits: Any = None,
        name: str | None = None,
        parent: str | None = None,
        mass: Any = 0.0,
        com: Any = (0.0, 0.0, 0.0),
        inertia: Any = 0.0,
        physical: bool = True,
        body: Inertia | None = None,
        motor: Motor | None = None,
        joint_name: str | None = None,
        qd_max: Any = None,
        qdd_max: Any = None,
        tau_max: Any = None,
        mimic: Mimic | None = None,
    ) -> Link:
        """Build a link from a row of Denavit-Hartenberg parameters; the convention must be given.

        Parameters
        ----------
        theta, d, a, alpha : float
            Angle about z (rad), distance along z (m), distance along x (m), angle about x (rad). The joint coordinate
            is added to theta (revolute) or to d (prismatic). Angles of more than a turn, mostly degrees, are refused.
        b : float
            The extra shift along y of the extended convention (m), standard only.
        convention : {"standard", "modified"}
            Standard: Rz(theta) Tz(d) Tx(a) Ty(b) Rx(alpha). Modified: Rx(alpha) Tx(a) Rz(theta) Tz(d).
        joint : str
            Kind of the joint: revolute, prismatic or fixed.
        offset, limits, name, parent, mass, com, inertia, physical, body, motor, joint_name, qd_max, qdd_max, tau_max, mimic
            As for `Link`.

        Raises
        ------
        ModelError
            With every problem found.

        Notes
        -----
        Sources of the formulas: `linkwise.spatial.transform.dh_standard` and `dh_modified`.

        Examples
        --------
        >>> import math
        >>> shoulder = Link.dh(d=0.672, alpha=math.pi / 2, convention="standard", name="shoulder")
        >>> shoulder.placement(0.0)[:3, 3].tolist()
        [0.0, 0.0, 0.672]
        """
        check = Checker(f"link {name!r}" if isinstance(name, str) and name else "link")
        fields: dict[str, Any] = {"offset": offset, "limits": limits, "name": name, "parent": parent, "motor": motor}
        fields |= {"mass": mass, "com": com, "inertia": inertia, "physical": physical, "body": body}
        fields |= {"joint_name": joint_name, "qd_max": qd_max, "qdd_max": qdd_max, "tau_max": tau_max, "mimic": mimic}
        kind = check.choice("joint", joint, DH_LETTERS.values())
        form = check.choice("convention", convention, CONVENTIONS)
        numbers = {"theta": theta, "d": d, "a": a, "alpha": alpha, "b": b}
        turns = ("theta", "alpha")
        results = {
            key: check.angle(key, value) if key in turns else check.number(key, value) for key, value in numbers.items()
        }
        row = DHRow(form, **results)
        if form == "modified" and any_nonzero(row.b):
            check.report("b", b, "0 (the shift b belongs to the extended standard convention)")
        if check.problems:
            check.problems += _other_problems(cls, joint=kind, **fields)
        check.finish()
        before, after = _dh_parts(row, JOINTS[kind].nq > 0)
        return cls(joint=kind, before=before, after=after, dh_row=row, **fields)

    @property
    def moves(self) -> bool:
        """True if the joint has a coordinate."""
        return self.joint_model.nq > 0

    @property
    def has_quaternion(self) -> bool:
        """True if velocities of the joint are not the rates of its coordinates."""
        return self.joint_model.nq != self.joint_model.nv

    @cached_property
    def coordinate_names(self) -> tuple[str, ...]:
        """Names of its joint coordinates; none of a fixed link, nor of a joint with a quaternion."""
        if not self.moves or self.has_quaternion:
            return ()
        return tuple(f"{self.coordinate_name}{ending}" for ending, _ in self.joint_model.columns("q"))

    @property
    def coordinate_limits(self) -> tuple[Any, ...]:
        """Least and greatest value of each joint coordinate, or None."""
        several = len(self.coordinate_names) > 1 and self.limits is not None
        return tuple(self.limits or ()) if several else (self.limits,) * len(self.coordinate_names)

    @property
    def cone(self) -> float:
        """Half the opening of the cone in which the axis of a ball joint stays, rad; infinite without limits."""
        return math.inf if self.limits is None else float(self.limits[1])

    def greatest(self, name: str) -> tuple[float | None, ...]:
        """The entry of each joint coordinate in the field `qd_max`, `qdd_max` or `tau_max`."""
        value = getattr(self, name)
        return value if isinstance(value, tuple) else (value,) * len(self.coordinate_names)

    def motion(self, q: Any = None) -> Array:
        """J(q + offset) (4, 4): the joint's own motion, at q (rad or m), any scalar, or (nq,) where it has several."""
        readable("q", q)
        if self.joint_model.nq == 1:
            return self.joint_model.placement(array([(0.0 if q is None else q) + self.offset]))
        return self.joint_model.placement(self.joint_model.neutral if q is None or not self.moves else array(q))

    def placement(self, q: Any = None) -> Array:
        """T_parent_link (4, 4) at the joint coordinate q (rad or m), or (nq,) where it has several; neutral without it."""
        return np.asarray(self.before @ self.motion(q) @ self.after)

    def replace(self, **changes: Any) -> Link:
        """The same link with other values for some fields (any argument of `Link`); checked again.

        Examples
        --------
        >>> Link(name="a").replace(mass=1.5).body.mass
        1.5
        """
        if changes.keys() <= _CHECKED_ALONE.keys():
            name = changes.get("name", self.name)
            check = Checker(f"link {name!r}" if isinstance(name, str) and name else "link")
            fields = {field: _CHECKED_ALONE[field](check, self.joint_model, value) for field, value in changes.items()}
            _check_together(check, {**self.__dict__, **fields})
            check.finish()
            return self.unchecked(**fields)
        body = self.body
        values = {**self._values(), "mass": body.mass, "com": body.com, "inertia": body.tensor, "physical": body.physical}
        if {"joint", "before", "after", "axis"} & changes.keys():
            values["dh_row"] = None
        if "joint" in changes and self.axis.ndim > 1 and changes["joint"] != self.joint:
            values["axis"] = Z_AXIS
        values = self._with(changes, values, "a link")
        if "joint" in changes and "limits" not in changes and self._other_coordinates(changes["joint"]):
            values["limits"] = None  # (they are of other coordinates)
        for field in _OF_BODY if not _OF_BODY & changes.keys() else {"body"} - changes.keys():
            del values[field]
        return Link(**values)

    def _other_coordinates(self, joint: Any) -> bool:
        """True if a movable joint, or joint type, has another number of coordinates or velocities."""
        kind: Any = JOINTS.get(joint) if isinstance(joint, str) else joint
        sizes = (getattr(kind, "nq", 0), getattr(kind, "nv", 0))
        return sizes[0] > 0 and sizes != (self.joint_model.nq, self.joint_model.nv)

    def __repr__(self) -> str:
        return link_text(self)

    def _values(self) -> dict[str, Any]:
        """The arguments that make this link."""
        values = super()._values()
        del values["joint_model"]
        if not self.joint_model.named_by_link():
            del values["axis"], values["pitch"]
            values["joint"] = self.joint_model
        return values

    @property
    def numbers(self) -> tuple[Any, ...]:
        """All fields that may contain symbols, in the order in which they are counted."""
        motor = () if self.motor is None else self.motor.numbers
        if self.dh_row is not None:
            row = self.dh_row
            return (row.theta, row.d, row.a, row.b, row.alpha, self.offset, *self.body.numbers, *motor)
        joint = () if self.joint_model.named_by_link() else self.joint_model.numbers
        return (self.before, self.after, self.pitch, *joint, self.offset, *self.body.numbers, *motor)

    @cached_property
    def parameters(self) -> tuple[Expr, ...]:
        """Symbols of these fields without duplicates, in their order."""
        return parameters_in(self.numbers)

    def substituted(self, numbers: Mapping[Expr, Any]) -> Link:
        """Replace symbols by numbers or other expressions and validate again."""
        motor = None if self.motor is None else self.motor.substituted(numbers)
        body = self.body.substituted(numbers, f"link {self.name!r}")
        others = {**self.beside_placement, "body": body, "motor": motor, "offset": substituted(self.offset, numbers)}
        row = self.dh_row
        if row is None:
            if not isinstance(others["joint"], str):
                others["joint"] = self.joint_model.substituted(numbers)
            placed = {name: value for name, value in self._values().items() if name in _PLACING}
            return Link(**others, **{name: substituted(value, numbers) for name, value in placed.items()})
        theta, d, a, alpha, b = (substituted(value, numbers) for value in (row.theta, row.d, row.a, row.alpha, row.b))
        return Link.dh(theta, d, a, alpha, b=b, convention=row.convention, **others)

    @property
    def beside_placement(self) -> dict[str, Any]:
        """The arguments that make this link, without those for its placement and its axis."""
        return {name: value for name, value in self._values().items() if name not in {*_PLACING, "dh_row"}}

    @cached_property
    def coordinate_name(self) -> str:
        """Name of the joint and of its coordinate: the joint's own name, or the link's."""
        return str(self.joint_name or self.name)


_OF_BODY = {"mass", "com", "inertia", "physical"}
_PLACING = ("before", "after", "axis", "pitch")


def _body(check: Checker, body: Any, mass: Any, com: Any, inertia: Any, physical: bool) -> Inertia:
    """Inertia as one argument, or built from its numbers."""
    result = Inertia.checked(check, mass, com, inertia, physical)
    if body is None:
        return result
    if not isinstance(body, Inertia) or not result.is_zero or any_nonzero(result.com):
        check.report("body", body, "an Inertia, in the place of mass, com and inertia, or None")
        return result
    return body


def _other_problems(kind: type[Link], **fields: Any) -> tuple[Problem, ...]:
    """Problems of a link other than those of its placement."""
    try:
        kind(**fields)
    except ModelError as error:
        return error.problems
    return ()


def _joint(check: Checker, joint: Any, axis: FloatArray, pitch: Any) -> Joint:
    """The joint itself, or the one of a named kind about or along an axis."""
    if isinstance(joint, Joint):
        if joint.nq != joint.nv and joint.quaternion is None:
            check.report("joint", joint, "a joint with as many velocities as coordinates, or one that says its quaternion")
            return make_joint(RIGID, axis)
        return joint
    kinds = [name for name, kind in JOINTS.items() if kind.named_by_link()]
    return make_joint(check.choice("joint", joint, kinds), axis, pitch)


def _axes(check: Checker, joint: Any, axis: Any) -> FloatArray:
    """The unit axis (3,) of a joint, or the axes (2, 3) of one that has two."""
    count = JOINTS[joint].axes if isinstance(joint, str) and joint in JOINTS else 1
    if count == 1:
        return check.direction("axis", axis)
    known = len(check.problems)
    rows = check.finite("axis", axis, (count, 3), f"{count} axes of 3 finite numbers each", most=math.inf)
    if len(check.problems) > known:
        return np.eye(3)[:count]
    axes = np.array([check.direction("axis", row) for row in rows])
    if len(check.problems) == known and np.linalg.norm(np.cross(axes[0], axes[1])) < PARALLEL:
        check.report("axis", axis, "two axes that are not parallel")
    return frozen(axes)


def _dh_parts(row: DHRow, moves: bool) -> tuple[Array, Array]:
    """A and B of the general form: the transforms before and after the joint's motion about or along z."""
    before, after = row.parts
    return (before, after) if moves else (before @ after, np.eye(4))


def _offset(check: Checker, joint: Joint, offset: Any) -> Any:
    return check.angle("offset", offset) if joint.periodic else check.number("offset", offset)


def _limits(check: Checker, joint: Joint, limits: Any) -> tuple[Any, ...] | None:
    """Least and greatest coordinate, one row for each of several, or half the opening angle of a cone."""
    if limits is None:
        return None
    count = len(joint.turns_and_slides)
    if count > 1:
        rows = list(limits) if isinstance(limits, (Sequence, np.ndarray)) and not isinstance(limits, str) else []
        if len(rows) != count or any(np.ndim(row) != 1 for row in rows if row is not None):
            check.report("limits", limits, f"{count} rows of two numbers, lower and upper, or None")
            return None
        pairs = tuple(None if row is None else _range(check, limits, row) for row in rows)
        return pairs if any(pairs) else None
    pair = _range(check, limits, limits)
    if not joint.nq or count or pair is None:
        return pair
    conical = joint.cone_axis is not None
    if not conical or pair[0] != 0.0 or not 0.0 < pair[1] < math.pi:
        expected = "0 and half the opening of a cone, less than pi" if conical else "None for this kind of joint"
        check.report("limits", limits, expected)
        return None
    return pair


def _range(check: Checker, limits: Any, pair: Any) -> tuple[float, float] | None:
    try:
        low, high = (float(value) for value in (() if isinstance(pair, str) else readable("limits", pair)))
    except (TypeError, ValueError, OverflowError):
        check.report("limits", limits, "two numbers, lower and upper, or None")
        return None
    if not low <= high:
        check.report("limits", limits, "the lower limit first, then the upper, neither NaN")
        return None
    if low == np.inf or high == -np.inf:
        check.report("limits", limits, "limits with a finite number between them")
        return None
    return None if (low, high) == (-np.inf, np.inf) else (low, high)


def _name(check: Checker, field: str, name: object) -> str | None:
    if name is None:
        return None
    if not isinstance(name, str) or not name.strip():
        check.report(field, name, "a word, or None")
        return None
    if field == "name" and name == "base":
        check.report(field, name, "another word ('base' means the ground)")
    return name


def _greatest(check: Checker, joint: Joint, field: str, value: Any) -> Any:
    """A number that is not negative, or one for each of several coordinates; None where nothing limits."""
    count = len(joint.turns_and_slides)
    if value is None or (isinstance(value, (int, float)) and value == np.inf):
        return None
    if isinstance(value, (list, tuple, np.ndarray)) and count > 1:
        if len(value) != count:
            check.report(field, value, f"one number, or {count}")
            return None
        rows = tuple(_greatest(check, joint.turns_and_slides[0], field, row) for row in value)
        return rows if any(row is not None for row in rows) else None
    return check.number(field, value, least=0.0, most=math.inf, known=True)


def _check_together(check: Checker, values: dict[str, Any]) -> None:
    """Check fields against each other."""
    model: Joint = values["joint_model"]
    if any_nonzero(values["pitch"]) and not hasattr(model, "pitch"):
        check.report("pitch", values["pitch"], f"0 for a {model.kind} joint (only a screw has a pitch)")
    if not model.nq:
        nothing = dict.fromkeys(("limits", "motor", "qd_max", "qdd_max", "tau_max", "mimic"))
        for field, blank in {**nothing, "offset": 0.0}.items():
            if isinstance(values[field], Expr) or values[field] != blank:
                check.report(field, values[field], "nothing, for a fixed link has no coordinate")
    elif len(model.turns_and_slides) != 1:
        quaternion = ("qd_max", "qdd_max", "tau_max") if model.nq != model.nv else ()
        for field, blank in {**dict.fromkeys(("motor", "mimic", *quaternion)), "offset": 0.0}.items():
            if isinstance(values[field], Expr) or values[field] != blank:
                why = f"a {model.kind} joint has {model.nq} coordinates"
                advice = f"{why}; a motor of one of them goes into Mechanism(motors=...)" if field == "motor" else why
                check.report(field, values[field], f"{blank} ({advice})")
    row = values["dh_row"]
    if row is not None and not _is_row_of(row, model, values):
        check.report("dh_row", row, "the row that before and after were made from, or None; `Link.dh` sets it")
    mimic, motor = values["mimic"], values["motor"]
    if mimic is not None and not isinstance(mimic, Mimic):
        check.report("mimic", mimic, "a Mimic or None")
    if motor is not None and not isinstance(motor, Motor):
        check.report("motor", motor, "a Motor or None")
    elif motor is not None and motor.joint not in {None, values["joint_name"] or values["name"]}:
        called = values["joint_name"] or values["name"]
        expected = f"{called!r} or nothing" if called else "nothing"
        check.report("motor.joint", motor.joint, f"{expected} (a motor of another joint goes into Mechanism(motors=...))")


def _is_row_of(row: Any, model: Joint, values: dict[str, Any]) -> bool:
    """True if a value is the DH row that `before`, `after` and the axis were made from."""
    if not isinstance(row, DHRow) or model.dh_parameter is None:
        return False
    parts = (*_dh_parts(row, model.nq > 0), np.array([0.0, 0.0, 1.0]))
    return all(map(same, parts, (values["before"], values["after"], values["axis"])))


#: Fields that may change without the joint and its placement, with their validation.
_CHECKED_ALONE: dict[str, Callable[[Checker, Joint, Any], Any]] = {
    "offset": _offset,
    "limits": _limits,
    "name": lambda check, joint, value: _name(check, "name", value),
    "parent": lambda check, joint, value: _name(check, "parent", value),
    "body": lambda check, joint, value: _body(check, value, 0.0, (0.0, 0.0, 0.0), 0.0, True),
    "motor": lambda check, joint, value: value,
    "joint_name": lambda check, joint, value: _name(check, "joint_name", value),
    "qd_max": lambda check, joint, value: _greatest(check, joint, "qd_max", value),
    "qdd_max": lambda check, joint, value: _greatest(check, joint, "qdd_max", value),
    "tau_max": lambda check, joint, value: _greatest(check, joint, "tau_max", value),
    "mimic": lambda check, joint, value: value,
}


def links_from_dh(
    rows: Iterable[Sequence[float]], *, convention: str, order: Sequence[str], joints: str | None
) -> list[Link]:
    """The links ``link1``, ``link2``, ... of a chain; see `Mechanism.from_dh`.

    Raises
    ------
    ArgumentError
        Where columns, letters and rows do not match.
    """
    try:
        table = [tuple(row) for row in rows]
    except TypeError as error:
        raise ArgumentError(f"rows is {shown(rows)}; expected rows of numbers, one for each link") from error
    expected = f"each of {choices(DH_COLUMNS[:4])} once, and 'b' if needed"
    columns = listed("order", order, expected)
    if sorted(map(str, columns)) not in (sorted(DH_COLUMNS[:4]), sorted(DH_COLUMNS)):
        raise ArgumentError(f"order is {shown(order)}; expected {expected}")
    letters = ["R"] * len(table) if joints is None else list(joints if isinstance(joints, str) else items(joints))
    if len(letters) != len(table) or not all(isinstance(letter, str) and letter in DH_LETTERS for letter in letters):
        raise ArgumentError(f"joints is {shown(joints)}; expected {len(table)} of the letters {choices(DH_LETTERS)}")
    for k, row in enumerate(table):
        if len(row) != len(columns):
            raise ArgumentError(f"row {k} is {shown(row)}; expected {len(columns)} numbers: {', '.join(columns)}")
    links = []
    for k, (row, letter) in enumerate(zip(table, letters, strict=True)):
        numbers: dict[str, Any] = dict(zip(columns, row, strict=True))
        links.append(Link.dh(**numbers, convention=convention, joint=DH_LETTERS[letter], name=f"link{k + 1}"))
    return links
