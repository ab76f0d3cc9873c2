"""Arguments of the toolbox's functions: arrays, checked, and parameters with more than one name."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, signature
from typing import Any, ParamSpec, TypeVar

import numpy as np

from linkwise.errors import ArgumentError
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import numbers, real, refuse_elements, shaped


def coordinates(field: str, value: Any) -> Any:
    """Coordinates, velocities or accelerations for a kernel: not infinite; NaN is permitted, and stays in its row.

    Raises
    ------
    ArgumentError
        Where something is infinite. What is no array of numbers is left to the kernel, which knows the shape.
    """
    try:
        array = real(value)
    except TypeError:
        return value
    refuse_elements(np.isinf(array), field, array, "finite numbers")
    return value


def vector(field: str, value: Any, size: int) -> FloatArray:
    """One vector of so many finite numbers, as a row or a column."""
    expected = f"{size} finite numbers"
    array = numbers(field, value, expected)
    if array.size != size or max(array.shape, default=0) != size:
        raise ArgumentError(f"{field} has the shape {array.shape}; expected {expected}")
    return array.reshape(size)


def vectors(field: str, value: Any, size: int) -> FloatArray:
    """Vectors (..., size) of finite numbers."""
    expected = f"finite numbers (..., {size})"
    return shaped(field, value, ..., size, expected=expected, layout=expected)


def matrices(field: str, value: Any, size: int = 4) -> FloatArray:
    """Matrices (..., size, size) of finite numbers."""
    expected = f"finite numbers (..., {size}, {size})"
    return shaped(field, value, ..., size, size, expected=expected, layout=expected)


P = ParamSpec("P")
R = TypeVar("R")

_BY_PLACE = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)


def also(**names: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let a function take arguments under other names too.

    Parameters
    ----------
    **names
        By the other name, that of the argument.

    Raises
    ------
    ArgumentError
        From the function, where an argument comes under two names, or by its place and under another name.

    Examples
    --------
    >>> @also(m="mask")
    ... def rows(mask):
    ...     return sum(mask)
    >>> rows(m=[1, 1, 0]), rows(mask=[1, 0, 0])
    (2, 1)
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        by_place = [p.name for p in signature(function).parameters.values() if p.kind in _BY_PLACE]

        @wraps(function)
        def run(*args: P.args, **kwargs: P.kwargs) -> R:
            for other in names.keys() & kwargs.keys():
                if names[other] in kwargs or names[other] in by_place[: len(args)]:
                    both = f"{other} and {names[other]}"
                    raise ArgumentError(f"{function.__name__}: {both} are the same; expected one of them")
                kwargs[names[other]] = kwargs.pop(other)
            return function(*args, **kwargs)

        vars(run)["other_names"] = dict(names)
        return run

    return decorate
