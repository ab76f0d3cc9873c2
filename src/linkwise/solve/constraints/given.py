"""What constraints are given, checked: links, joints, directions and points."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError, members, shown
from linkwise.model.tree import Tree
from linkwise.spatial.numbers import numbers
from linkwise.spatial.scalar import FloatArray

FARTHEST = 1e50
"""A length beyond this, m, would leave the range of floating-point arithmetic in the sums of squares."""

SHORTEST = 1e-150
"""A direction given by a vector shorter than this has lost digits in its square."""


def settle(made: Any, **fields: Any) -> None:
    """Set the fields of a frozen object that is being made."""
    for field, value in fields.items():
        object.__setattr__(made, field, value)


def link_given(link: Any) -> int | str:
    """What may name a link: an index or a name; whether it is there is asked of a mechanism."""
    if isinstance(link, str) or (isinstance(link, (int, np.integer)) and not isinstance(link, (bool, np.bool_))):
        return link if isinstance(link, str) else int(link)
    raise ArgumentError(f"link is {shown(link)}; expected a link's name, an index, or -1 for the tool")


def joint_given(field: str, joint: Any) -> int | str:
    """What may name a joint coordinate: an index or a name."""
    if isinstance(joint, str) or (isinstance(joint, (int, np.integer)) and not isinstance(joint, (bool, np.bool_))):
        return joint if isinstance(joint, str) else int(joint)
    raise ArgumentError(f"{field} is {shown(joint)}; expected the name of a joint coordinate or its index")


def joint_index(tree: Tree, field: str, joint: int | str) -> int:
    """Place of a joint coordinate among the n, by its name or by an index that may count from the end.

    Raises
    ------
    ArgumentError
        Naming the coordinates there are.
    """
    if isinstance(joint, str) and joint in tree.names:
        return tree.names.index(joint)
    if not isinstance(joint, str) and -tree.n <= joint < tree.n:
        return int(joint) % tree.n
    found = f"{members(tree.names)}, or indices {-tree.n} to {tree.n - 1}" if tree.n else "none"
    raise ArgumentError(f"{field} is {joint!r}; the joint coordinates of {tree.name!r} are {found}")


def vectors(field: str, value: npt.ArrayLike) -> FloatArray:
    """Vectors (..., 3) of finite numbers."""
    made = numbers(field, value, "vectors (..., 3)")
    if made.shape[-1:] != (3,):
        raise ArgumentError(f"{field} has the shape {made.shape}; expected (..., 3)")
    return made


def points(field: str, value: npt.ArrayLike) -> FloatArray:
    """Points (..., 3), m."""
    made = vectors(field, value)
    if np.abs(made).max(initial=0.0) > FARTHEST:
        raise ArgumentError(f"{field} reaches {np.abs(made).max():g} m; expected points up to {FARTHEST:g} m")
    return made


def directions(field: str, value: npt.ArrayLike) -> FloatArray:
    """Unit vectors (..., 3) of vectors that are not zero."""
    made = vectors(field, value)
    largest = np.abs(made).max(axis=-1, keepdims=True, initial=0.0)
    if (largest < SHORTEST).any():
        place = tuple(int(k) for k in np.argwhere(largest[..., 0] < SHORTEST)[0])
        which = f"{field}[{', '.join(map(str, place))}]" if place else field
        raise ArgumentError(f"{which} is {shown(made[place].tolist())}; expected a vector that is not zero")
    made = made / largest
    return np.asarray(made / np.linalg.norm(made, axis=-1, keepdims=True))


def one(field: str, made: FloatArray) -> FloatArray:
    """The same, if it is one vector (3,): what belongs to the link is one for all tasks."""
    if made.shape != (3,):
        raise ArgumentError(f"{field} has the shape {made.shape}; expected (3,)")
    return made


def words(made: FloatArray) -> tuple[float, ...]:
    """Numbers as they stand in a key; no zero has a sign."""
    return tuple(float(value) + 0.0 for value in made.ravel())
