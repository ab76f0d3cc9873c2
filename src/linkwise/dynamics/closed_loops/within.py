"""Whether loops are closed, over scalars."""

from __future__ import annotations

from typing import Any

from linkwise.kinematics.closure import closure, closure_facing
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import Array, FloatArray, select


def within(tree: Tree, q: Array, most: FloatArray) -> Any:
    """1 where no closure equation is violated by more than its share of ``most`` (K,), and hinges have one sense; else -1.

    Where that is NaN, it is -1 too.
    """
    flag: Any = 1.0
    for gap, size in zip(closure(tree, q), most, strict=True):
        if not _is_zero(gap):
            flag = select(size * size - gap * gap, flag, -1.0)
    for loop, facing in zip(tree.loops, closure_facing(tree, q), strict=True):
        if loop.kind == "hinge":
            flag = select(facing, flag, -1.0)
    return flag


def _is_zero(value: Any) -> bool:
    return isinstance(value, float) and value == 0.0
