"""Validation of numeric arguments of solvers."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError, members, shown
from linkwise.model.link_tree import find_index
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import numbers, refuse_member, vectors


def positive(field: str, value: Any, *, zero: bool = False) -> float:
    """One finite number above zero, or zero where that is allowed."""
    expected = f"a number {'>=' if zero else '>'} 0"
    number = numbers(field, value, expected)
    if number.ndim or isinstance(value, (bool, np.bool_)) or not (number > 0 or (zero and number == 0)):
        raise ArgumentError(f"{field} is {shown(value)}; expected {expected}")
    return float(number)


#: A length beyond this, m, would leave the range of floating-point arithmetic in the sums of squares.
FARTHEST = 1e50


def numbers_between(field: str, value: npt.ArrayLike, expected: str, most: float, least: float = 0.0) -> FloatArray:
    """Numbers (...) between two bounds."""
    values = numbers(field, value, expected)
    if ((values < least) | (values > most)).any():
        raise ArgumentError(f"{field} is {shown(value)}; expected {expected}")
    return values


#: A direction given by a vector shorter than this has lost digits in its square.
SHORTEST = 1e-150


def settle(instance: Any, **fields: Any) -> None:
    """Set the fields of a frozen object during construction."""
    for field, value in fields.items():
        object.__setattr__(instance, field, value)


def reference(field: str, value: Any, expected: str) -> int | str:
    """A name or an index; whether a mechanism has it is checked later."""
    if isinstance(value, str):
        return value
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return int(value)
    raise ArgumentError(f"{field} is {shown(value)}; expected {expected}")


def link_given(link: Any) -> int | str:
    """A name or an index of a link."""
    return reference("link", link, "a link's name, an index, or 'tool'")


def joint_given(field: str, joint: Any) -> int | str:
    """A name or an index of a joint coordinate."""
    return reference(field, joint, "the name of a joint coordinate or its index")


def joint_index(tree: Tree, field: str, joint: Any) -> int:
    """Place of a joint coordinate among the n, by its name or by an index that may count from the end.

    Raises
    ------
    ArgumentError
        Naming the coordinates there are.
    """
    index = find_index(joint, tree.names)
    if index is None:
        choices_text = f"{members(tree.names)}, or indices {-tree.n} to {tree.n - 1}" if tree.n else "none"
        raise ArgumentError(f"{field} is {joint!r}; the joint coordinates of {tree.name!r} are {choices_text}")
    return index


def points(field: str, value: npt.ArrayLike) -> FloatArray:
    """Points (..., 3), m."""
    values = vectors(field, value, 3)
    if np.abs(values).max(initial=0.0) > FARTHEST:
        raise ArgumentError(f"{field} reaches {np.abs(values).max():g} m; expected points up to {FARTHEST:g} m")
    return values


def directions(field: str, value: npt.ArrayLike) -> FloatArray:
    """Unit vectors (..., 3) of vectors that are not zero."""
    values = vectors(field, value, 3)
    largest = np.abs(values).max(axis=-1, keepdims=True, initial=0.0)
    refuse_member(largest[..., 0] < SHORTEST, field, values, "a vector that is not zero")
    values = values / largest
    return np.asarray(values / np.linalg.norm(values, axis=-1, keepdims=True))


def words(values: FloatArray) -> tuple[float, ...]:
    """Numbers in the form of a cache key, without signed zeros."""
    return tuple(float(value) + 0.0 for value in values.ravel())
