"""Random points, lines and planes in SpaceLib's layouts, and a function on symbols beside the same on numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import sympy

from linkwise.expr import evaluate, symbol

EPS = np.finfo(float).eps


def random_points(rng: np.random.Generator, *batch: int) -> np.ndarray:
    return with_last(rng.normal(size=(*batch, 3)), 1.0)


def random_lines(rng: np.random.Generator, *batch: int) -> np.ndarray:
    """Points and directions of any length from 1/1000 to 1000."""
    lengths = 10 ** rng.uniform(-3, 3, (*batch, 1))
    return lines(rng.normal(size=(*batch, 3)), lengths * rng.normal(size=(*batch, 3)))


def random_planes(rng: np.random.Generator, *batch: int) -> np.ndarray:
    """Normals of any length from 1/1000 to 1000."""
    return rng.normal(size=(*batch, 4)) * 10 ** rng.uniform(-3, 3, (*batch, 1))


def with_last(places: Any, last: float) -> np.ndarray:
    places = np.asarray(places, dtype=float)
    return np.concatenate([places, np.full((*places.shape[:-1], 1), last)], axis=-1)


def lines(places: Any, directions: Any) -> np.ndarray:
    return np.stack([with_last(places, 1.0), with_last(directions, 0.0)], axis=-1)


def unit(v: Any) -> np.ndarray:
    return np.asarray(v / np.linalg.norm(v, axis=-1, keepdims=True))


def inner(a: Any, b: Any) -> np.ndarray:
    return np.asarray((np.asarray(a) * b).sum(axis=-1))


def parts(result: Any) -> list[np.ndarray]:
    return [np.asarray(part) for part in (result if isinstance(result, tuple) else (result,))]


def same_bits(many: Any, loop: list[Any]) -> bool:
    """Whether the results of a batch are those of the calls one by one, NaN where there is NaN."""
    columns = zip(*map(parts, loop), strict=True)
    return all(np.array_equal(a, np.stack(b), equal_nan=True) for a, b in zip(parts(many), columns, strict=True))


def on_sympy(function: Callable[..., Any], *args: Any) -> list[np.ndarray]:
    """The results with a SymPy symbol in the place of every float of an array, and the numbers then put in."""
    given, values = _named(args, lambda name: sympy.Symbol(name, real=True))
    made = parts(function(*given))
    return [
        np.array([float(sympy.sympify(item).subs(values)) for item in part.ravel()]).reshape(part.shape) for part in made
    ]


def on_expressions(function: Callable[..., Any], *args: Any) -> list[np.ndarray]:
    """The results with a Linkwise symbol in the place of every float of an array, evaluated at the numbers."""
    given, values = _named(args, symbol)
    made = parts(function(*given))
    return [np.array(evaluate(list(part.ravel()), values)).reshape(part.shape) for part in made]


def _named(args: tuple[Any, ...], make: Callable[[str], Any]) -> tuple[list[Any], dict[Any, float]]:
    """Arguments with names for their floats; the 1 and 0 that end points and directions, and whole numbers, stay."""
    values: dict[Any, float] = {}
    given = []
    for k, arg in enumerate(args):
        if isinstance(arg, int):
            given.append(arg)
            continue
        array = np.array(arg, dtype=object)
        for place in np.ndindex(array.shape):
            if array[place] not in (0.0, 1.0):
                named = make(f"x{k}_{'_'.join(map(str, place))}")
                values[named] = float(array[place])
                array[place] = named
        given.append(array if array.ndim else array.item())
    return given, values
