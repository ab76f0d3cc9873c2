"""Single numbers that solvers are given, checked."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError, members, shown
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import numbers


def positive(field: str, value: Any, *, zero: bool = False) -> float:
    """One finite number above zero, or zero where that is allowed."""
    expected = f"a number {'>=' if zero else '>'} 0"
    number = numbers(field, value, expected)
    if number.ndim or isinstance(value, (bool, np.bool_)) or not (number > 0 or (zero and number == 0)):
        raise ArgumentError(f"{field} is {shown(value)}; expected {expected}")
    return float(number)


def count(field: str, value: Any) -> int:
    """One whole number above zero."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise ArgumentError(f"{field} is {shown(value)}; expected a whole number >= 1")
    return int(value)


def whole(field: str, value: Any) -> int:
    """One whole number, zero or above."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 0:
        raise ArgumentError(f"{field} is {shown(value)}; expected a whole number >= 0")
    return int(value)


#: A length beyond this, m, would leave the range of floating-point arithmetic in the sums of squares.
FARTHEST = 1e50

#: A direction given by a vector shorter than this has lost digits in its square.
SHORTEST = 1e-150


def settle(made: Any, **fields: Any) -> None:
    """Set the fields of a frozen object that is being made."""
    for field, value in fields.items():
        object.__setattr__(made, field, value)


def link_given(link: Any) -> int | str:
    """What may name a link: an index or a name; whether it is there is asked of a mechanism."""
    if isinstance(link, str) or (isinstance(link, (int, np.integer)) and not isinstance(link, (bool, np.bool_))):
        return link if isinstance(link, str) else int(link)
    raise ArgumentError(f"link is {shown(link)}; expected a link's name, an index, or 'tool'")


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
    choices_text = f"{members(tree.names)}, or indices {-tree.n} to {tree.n - 1}" if tree.n else "none"
    raise ArgumentError(f"{field} is {joint!r}; the joint coordinates of {tree.name!r} are {choices_text}")


def vectors(field: str, value: npt.ArrayLike) -> FloatArray:
    """Vectors (..., 3) of finite numbers."""
    vectors_given = numbers(field, value, "vectors (..., 3)")
    if vectors_given.shape[-1:] != (3,):
        raise ArgumentError(f"{field} has the shape {vectors_given.shape}; expected (..., 3)")
    return vectors_given


def points(field: str, value: npt.ArrayLike) -> FloatArray:
    """Points (..., 3), m."""
    values = vectors(field, value)
    if np.abs(values).max(initial=0.0) > FARTHEST:
        raise ArgumentError(f"{field} reaches {np.abs(values).max():g} m; expected points up to {FARTHEST:g} m")
    return values


def directions(field: str, value: npt.ArrayLike) -> FloatArray:
    """Unit vectors (..., 3) of vectors that are not zero."""
    values = vectors(field, value)
    largest = np.abs(values).max(axis=-1, keepdims=True, initial=0.0)
    if (largest < SHORTEST).any():
        place = tuple(int(k) for k in np.argwhere(largest[..., 0] < SHORTEST)[0])
        which = f"{field}[{', '.join(map(str, place))}]" if place else field
        raise ArgumentError(f"{which} is {shown(values[place].tolist())}; expected a vector that is not zero")
    values = values / largest
    return np.asarray(values / np.linalg.norm(values, axis=-1, keepdims=True))


def one(field: str, vector: FloatArray) -> FloatArray:
    """The same, if it is one vector (3,): what belongs to the link is one for all tasks."""
    if vector.shape != (3,):
        raise ArgumentError(f"{field} has the shape {vector.shape}; expected (3,)")
    return vector


def words(values: FloatArray) -> tuple[float, ...]:
    """Numbers as they stand in a key; no zero has a sign."""
    return tuple(float(value) + 0.0 for value in values.ravel())


def flag(field: str, value: Any) -> bool:
    """True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise ArgumentError(f"{field} is {shown(value)}; expected True or False")
    return bool(value)


def batch_of(**shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The batch shape of several arguments, given theirs by name."""
    try:
        return np.broadcast_shapes(*shapes.values())
    except ValueError as error:
        listed = " and ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise ArgumentError(f"the batch shapes {listed} do not broadcast") from error
