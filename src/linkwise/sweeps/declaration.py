"""Declaration of algorithms in steps."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

#: Every algorithm in steps, by the name of the algorithm that it computes.
LOOPED: dict[str, LoopedAlgorithm] = {}


@dataclass(frozen=True)
class LoopedAlgorithm:
    """The declaration of an algorithm in steps.

    Attributes
    ----------
    name : str
        The algorithm of `linkwise.algorithm.ALGORITHMS` that it computes.
    function : callable
        ``function(sweeps, **variants)``.
    variants : tuple of str
        Options of the algorithm that change the steps; others change the tables alone.
    regrouped : bool
        Whether inertias are moved to parents that feel them alike.
    path : bool
        Whether only the bodies that carry a frame count.
    moment : bool
        Whether it needs the mass, and the first moment of what the ground holds.
    """

    name: str
    function: Callable[..., None]
    variants: tuple[str, ...]
    regrouped: bool
    path: bool
    moment: bool


def looped(
    name: str, *, regrouped: bool = False, path: bool = False, moment: bool = False
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declare the decorated function as the steps of an algorithm."""

    def declare(function: Callable[..., Any]) -> Callable[..., Any]:
        parameters = inspect.signature(function).parameters.values()
        variants = tuple(parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY)
        LOOPED[name] = LoopedAlgorithm(name, function, variants, regrouped, path, moment)
        return function

    return declare
