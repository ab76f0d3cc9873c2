"""What the columns of a configuration, its rates and its efforts are called, and their units."""

from __future__ import annotations

from collections.abc import Iterator

from linkwise.files.csv_columns import GROUPS, columns
from linkwise.model.table import plain
from linkwise.model.tree import Tree

BASE_EFFORTS = ("base_fx", "base_fy", "base_fz", "base_mx", "base_my", "base_mz")
"""Force (N) and moment (N m) on a floating base, in its own axes."""

EFFORT_UNITS = ("N m", "N")
"""Of a joint that turns and of one that slides."""

QUANTITIES = (*GROUPS, "tau")
"""Coordinates, rates, accelerations, efforts."""


def joint_columns(tree: Tree) -> Iterator[tuple[str, bool, int, int]]:
    """Name of each joint, whether it slides, its place among the coordinates and its place among the speeds."""
    for k, (name, slide) in enumerate(zip(tree.names, tree.slides, strict=True)):
        yield plain(name), slide, k + tree.nq - tree.n, k + tree.nv - tree.n


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
    if quantity == "tau":
        base = ["N"] * 3 + ["N m"] * 3 if tree.floating else []
        return base + [EFFORT_UNITS[slide] for slide in tree.slides]
    declared = [column.units for column in columns(quantity, tree.n, (), tree.floating)]
    sliding = [False] * (len(declared) - tree.n) + list(tree.slides)
    return [choice[slide] for choice, slide in zip(declared, sliding, strict=True)]
