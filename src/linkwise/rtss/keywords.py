"""Arguments that may be named by more than one keyword."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, signature
from typing import ParamSpec, TypeVar

from linkwise.errors import ArgumentError

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
                    raise ArgumentError(
                        f"{function.__name__}: {other} and {names[other]} are the same; expected one of them"
                    )
                kwargs[names[other]] = kwargs.pop(other)
            return function(*args, **kwargs)

        vars(run)["other_names"] = dict(names)
        return run

    return decorate
