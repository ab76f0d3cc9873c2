"""Names and units of coordinates, velocities, accelerations and efforts."""

from __future__ import annotations

from collections.abc import Iterator

from linkwise.model.formatting.table import plain
from linkwise.model.tree import Tree

#: Coordinates, velocities, accelerations.
GROUPS = ("q", "qd", "qdd")

#: The same, and efforts.
QUANTITIES = (*GROUPS, "tau")


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
    quantity = "qd" if quantity == "qdd" else quantity
    return tuple(name for name, _ in tree.columns(quantity))


def units(tree: Tree, quantity: str) -> list[str]:
    """Units of the columns of a quantity.

    Examples
    --------
    >>> from linkwise import robots
    >>> units(robots.scara_icomatic(), "qd")
    ['rad/s', 'rad/s', 'm/s']
    """
    return [unit for _, unit in tree.columns(quantity)]


def labelled(tree: Tree, quantity: str) -> list[str]:
    """Names of the columns of a quantity, each with its unit in brackets.

    Examples
    --------
    >>> from linkwise import robots
    >>> labelled(robots.planar_2r(), "qd")
    ['link1 [rad/s]', 'link2 [rad/s]']
    """
    return [f"{name} [{unit}]" for name, unit in zip(names(tree, quantity), units(tree, quantity), strict=True)]
