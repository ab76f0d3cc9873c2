"""Names and units of coordinates, velocities, accelerations and efforts."""

from __future__ import annotations

from collections.abc import Iterator

from linkwise.model.formatting.table import plain
from linkwise.model.tree import BASE_EFFORTS, Tree

#: Coordinates, velocities, accelerations.
GROUPS = ("q", "qd", "qdd")

#: The same, and efforts.
QUANTITIES = (*GROUPS, "tau")

#: Of a joint that turns and of one that slides.
UNITS = {"q": ("rad", "m"), "qd": ("rad/s", "m/s"), "qdd": ("rad/s2", "m/s2"), "tau": ("N m", "N")}

#: Of a floating base.
BASE_UNITS = {
    "q": ("m", "m", "m", "1", "1", "1", "1"),
    "qd": ("m/s", "m/s", "m/s", "rad/s", "rad/s", "rad/s"),
    "qdd": ("m/s2", "m/s2", "m/s2", "rad/s2", "rad/s2", "rad/s2"),
    "tau": ("N", "N", "N", "N m", "N m", "N m"),
}


def joint_columns(tree: Tree) -> Iterator[tuple[str, bool, int, int]]:
    """Name of each joint, whether it slides, its place among the coordinates and its place among the velocities."""
    for k, (name, is_length) in enumerate(zip(tree.names, tree.is_length, strict=True)):
        yield plain(name), is_length, k + tree.nq - tree.n, k + tree.nv - tree.n


def names(tree: Tree, quantity: str) -> tuple[str, ...]:
    """Names of the columns of a quantity, those of a floating base first.

    Examples
    --------
    >>> from linkwise import robots
    >>> names(robots.planar_2r(), "tau")
    ('link1', 'link2')
    """
    if quantity == "q":
        return tree.coordinate_names
    return (BASE_EFFORTS if tree.floating else ()) + tree.names if quantity == "tau" else tree.speed_names


def units(tree: Tree, quantity: str) -> list[str]:
    """Units of the columns of a quantity.

    Examples
    --------
    >>> from linkwise import robots
    >>> units(robots.scara_icomatic(), "qd")
    ['rad/s', 'rad/s', 'm/s']
    """
    base = BASE_UNITS[quantity] if tree.floating else ()
    return [*base, *(UNITS[quantity][is_length] for is_length in tree.is_length)]


def labelled(tree: Tree, quantity: str) -> list[str]:
    """Names of the columns of a quantity, each with its unit in brackets.

    Examples
    --------
    >>> from linkwise import robots
    >>> labelled(robots.planar_2r(), "qd")
    ['link1 [rad/s]', 'link2 [rad/s]']
    """
    return [f"{name} [{unit}]" for name, unit in zip(names(tree, quantity), units(tree, quantity), strict=True)]
