"""A planar mechanism as a table: a row a link, with the constants of its T_i."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from linkwise.model.symbolic import any_nonzero
from linkwise.model.table import Table, laid_out, plain
from linkwise.planar.link import Link
from linkwise.planar.structure import parent_name

if TYPE_CHECKING:
    from linkwise.planar.mechanism import Mechanism


def text(mechanism: Mechanism) -> str:
    """Write the table in plain aligned text: lengths in m, angles in rad.

    Examples
    --------
    >>> from linkwise import planar
    >>> print(text(planar.Mechanism([planar.Link(), planar.Link(a=0.5)], name="two")))
    two: 2 links in the plane, 2 coordinates; lengths in m, angles in rad
    <BLANKLINE>
    link   on     joint       a  theta  polygons
    link1  world  revolute  0    q1            0
    link2  link1  revolute  0.5  q2            0
    """
    tilted = any(any_nonzero(link.at) for link in mechanism.links)
    header = ["link", "on", "joint", "a", "theta", *(["at x", "y", "phi"] if tilted else []), "polygons"]
    rows = []
    first = 1
    for k, link in enumerate(mechanism.links):
        at = [_plain(value) for value in link.at] if tilted else []
        names = plain(link.name), plain(parent_name(mechanism, k))
        rows.append((*names, link.joint, *_constants(link, first), *at, str(len(link.polygons))))
        first += len(link.coordinate_names)
    loops = [
        f"loop {plain(loop.name)}: {loop.joint} joint of {plain(loop.first)} at {_point(loop.first_point)}"
        f" and {plain(loop.second)} at {_point(loop.second_point)}"
        for loop in mechanism.loops
    ]
    said = f"{len(mechanism.links)} link{_s(len(mechanism.links))} in the plane, {mechanism.nq} coordinate{_s(mechanism.nq)}"
    headline = f"{plain(mechanism.name)}: {said}; lengths in m, angles in rad"
    return "\n".join([laid_out(Table((headline,), tuple(header), tuple(rows))), *loops])


def _constants(link: Link, first: int) -> list[str]:
    """The cells of a and theta: the constant, and the coordinate q that is added to it."""
    if link.joint == "free":
        return [f"q{first}, q{first + 1}", f"q{first + 2}"]
    a, theta = (f"q{first}{_added(value)}" for value in (link.a, link.theta))
    return [
        a if link.joint == "prismatic" else _plain(link.a),
        theta if link.joint == "revolute" else _plain(link.theta),
    ]


def _added(value: Any) -> str:
    if not any_nonzero(value):
        return ""
    return f" - {-value:g}" if isinstance(value, float) and value < 0 else f" + {_plain(value)}"


def _plain(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _point(point: Any) -> str:
    return f"({', '.join(map(_plain, point.tolist()))})"


def _s(count: int) -> str:
    return "" if count == 1 else "s"
