"""A link in the plane: its polygons, and the joint that carries it, with the constants of the transform T_i."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from linkwise.model.inertia import Inertia
from linkwise.model.symbolic import any_nonzero
from linkwise.model.validation import Checker, frozen
from linkwise.planar.polygon import given_polygons
from linkwise.planar.record import PlanarRecord, number_text, point_text, word
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import real_or_empty

JointKind = Literal["revolute", "prismatic", "fixed", "free"]

JOINTS: dict[str, tuple[bool, ...]] = {
    "revolute": (True,),
    "prismatic": (False,),
    "fixed": (),
    "free": (False, False, True),
}
"""The coordinates that each kind of joint leaves: whether each is an angle, rad, or a length, m."""

WORLD = "world"
"""What stands in the place of a parent's name for the ground."""


@dataclass(frozen=True, eq=False)
class Link(PlanarRecord):
    """A rigid link A_i in the plane, hung by a joint on its parent.

    Its body frame has the origin at the joint with the parent and the x axis, by habit, through the next joint. The
    transform T_i takes points from there to the parent's body frame (S. M. LaValle, *Planning Algorithms*, 2006, section
    3.3): a turn by theta_i, then a shift by a_{i-1} along x. For a revolute joint the coordinate is theta_i, for a prismatic
    one a_{i-1}; the other is a constant.

    Parameters
    ----------
    polygons : (m, 2) array_like, or a sequence of such
        The shape in the body frame, m: one simple polygon or several, in either sense, the first point not repeated. None
        is allowed.
    joint : {"revolute", "prismatic", "fixed", "free"}
        Between parent and link. Free is for a link on the world: its three coordinates are x, y and theta.
    a, theta : float
        The constants of T_i: a_{i-1}, the distance between the two joints in the parent, m, and the angle, rad. The
        coordinate is added to theta (revolute) or to a (prismatic), so 0 there makes the coordinate the text's own variable.
        An angle of more than a turn is refused, here and in `at`: it is mostly one in degrees.
    at : (3,) array_like
        x, y (m) and angle phi (rad), in the parent's body frame, of the frame in which `a` and `theta` are measured: where a
        parent has several children, or the joint is not on its x axis. Zero is the text's chain; an angle phi alone is the
        second x axis of a junction in a tree, with theta'' = theta' + phi (section 3.4).
    parent : str, optional
        Name of the parent, ``"world"``, or None for the link before in the list (the world for the first).
    name : str, optional
        Unique in a mechanism; ``link1``, ``link2``, ... where none is given.
    joint_name : str, optional
        The joint's own name, where it differs from the link's: that of its coordinate. None for a fixed or a free link.
    limits : (2,) array_like, optional
        Least and greatest value of the coordinate, rad or m; (3, 2), for x, y and theta, for a free link.
    mass : float
        kg; 0 where nothing is known. Nothing is guessed from the polygons.
    com : (2,) array_like
        Centre of mass in the body frame, m.
    inertia : float
        Moment of inertia about the centre of mass, kg m2.

    Raises
    ------
    ModelError
        With every problem found: the link, the field, the value, what was expected.

    Examples
    --------
    >>> from linkwise import planar
    >>> forearm = planar.Link(planar.bar(0.5, 0.1), a=1.0, name="forearm")
    >>> forearm
    Link('forearm', 'revolute', a=1, 1 polygon)
    """

    numeric = ("a", "theta", "at", "mass", "com", "inertia")

    polygons: tuple[FloatArray, ...]
    joint: JointKind
    a: Any
    theta: Any
    at: tuple[Any, Any, Any]
    parent: str | None
    name: str | None
    joint_name: str | None
    limits: FloatArray | None
    mass: Any
    com: FloatArray
    inertia: Any

    def __init__(
        self,
        polygons: Any = (),
        joint: str = "revolute",
        *,
        a: Any = 0.0,
        theta: Any = 0.0,
        at: Any = (0.0, 0.0, 0.0),
        parent: str | None = None,
        name: str | None = None,
        joint_name: str | None = None,
        limits: Any = None,
        mass: Any = 0.0,
        com: Any = (0.0, 0.0),
        inertia: Any = 0.0,
    ) -> None:
        check = Checker(f"link {name!r}" if name else "link")
        kind = check.choice("joint", joint, JOINTS)
        values: dict[str, Any] = {
            "polygons": given_polygons(check, "polygons", polygons),
            "joint": kind,
            "a": check.number("a", a),
            "theta": check.angle("theta", theta),
            "at": _at(check, at),
            "parent": parent if parent is None else word(check, "parent", parent),
            "name": _name(check, name),
            "joint_name": joint_name if joint_name is None else word(check, "joint_name", joint_name),
            "limits": _limits(check, limits, str(kind)),
            "mass": check.number("mass", mass, least=0.0),
            "com": check.vector("com", com, 2),
            "inertia": check.number("inertia", inertia, least=0.0),
        }
        if kind == "free":
            for field in ("a", "theta", "at"):
                if any_nonzero(values[field]):
                    check.report(field, values[field], "0 for a free link: its coordinates say where it is")
        if joint_name is not None and len(JOINTS[kind]) != 1:
            check.report("joint_name", joint_name, f"None, for a {kind} link has no joint with one coordinate")
        check.finish()
        self._assign(values)

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """Names of its coordinates: the joint's, or the link's; of a free link ``name.x``, ``name.y`` and ``name.theta``."""
        if self.joint == "free":
            return (f"{self.name}.x", f"{self.name}.y", f"{self.name}.theta")
        return (str(self.joint_name or self.name),) * len(self.turns)

    @property
    def turns(self) -> tuple[bool, ...]:
        """Whether each of its coordinates is an angle, rad (k,); the others are lengths, m."""
        return JOINTS[self.joint]

    @property
    def bounds(self) -> FloatArray:
        """Least and greatest values of its coordinates (k, 2), infinite where there are none."""
        count = len(self.turns)
        return np.tile([-np.inf, np.inf], (count, 1)) if self.limits is None else self.limits.reshape(count, 2)

    @property
    def body(self) -> Inertia:
        """The inertia of a lamina in the plane z = 0: of its other two principal moments, each is half of `inertia`."""
        x, y = self.com
        half = 0.5 * self.inertia
        return Inertia(self.mass, (x, y, 0.0), (half, half, self.inertia))

    def __repr__(self) -> str:
        parts = [repr(self.name), repr(self.joint)] if self.name else [repr(self.joint)]
        parts += [
            f"{field}={number_text(getattr(self, field))}" for field in ("a", "theta") if any_nonzero(getattr(self, field))
        ]
        parts += [f"at={point_text(self.at)}"] if any_nonzero(self.at) else []
        parts += [f"parent={self.parent!r}"] if self.parent else []
        count = len(self.polygons)
        parts.append("1 polygon" if count == 1 else f"{count} polygons")
        return f"Link({', '.join(parts)})"


def _at(check: Checker, at: Any) -> tuple[Any, Any, Any]:
    x, y, phi = check.finite("at", at, (3,), "3 finite numbers: x, y (m) and the angle (rad)").tolist()
    return x, y, check.angle("at, the angle,", phi)


def _name(check: Checker, name: Any) -> str | None:
    if name in (WORLD, "base"):
        check.report("name", name, f"another word ({name!r} means the ground)")
    return name if name is None else word(check, "name", name)


def _limits(check: Checker, limits: Any, kind: str) -> FloatArray | None:
    """The limits, read-only; None where there are none, or after a report."""
    if limits is None:
        return None
    if kind == "fixed":
        check.report("limits", limits, "None, for a fixed link has no coordinate")
        return None
    shape = (3, 2) if kind == "free" else (2,)
    expected = "a row of two numbers, least and greatest, for each of x, y and theta" if kind == "free" else "two numbers"
    bounds = real_or_empty(limits)
    least, most = (bounds[..., 0], bounds[..., 1]) if bounds.shape == shape else (np.inf, -np.inf)
    if not np.all((least <= most) & (least < np.inf) & (most > -np.inf)):
        check.report("limits", limits, f"{expected}, the least first, neither NaN, or None")
        return None
    return None if np.isinf(bounds).all() else frozen(bounds + 0.0)
