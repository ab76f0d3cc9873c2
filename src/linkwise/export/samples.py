"""Random points with the results of the gufunc, for the tests that exported code brings along."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from math import prod

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError
from linkwise.export.error_bound import bounded
from linkwise.export.ports import PARAMETERS
from linkwise.kernel.kernel import Kernel
from linkwise.kernel.tape import Tape
from linkwise.spatial.scalar import FloatArray

_STEP = 64.0
"""Inputs are multiples of 1 / 64, which are exact in either precision and short in decimals."""

_TRIES = 20
"""Points that are drawn for one row, where rounding can change what is chosen."""


@dataclass(frozen=True)
class Samples:
    """What goes in, what should come out, and how far it may be off.

    Attributes
    ----------
    given : array (rows, inputs)
        All inputs of a configuration in a row, in order.
    wanted : array (rows, outputs)
        What the gufunc gives.
    allowed : array (rows, outputs)
        How far rounding can take two computations apart: see `linkwise.export.error_bound`. Infinite where it can change
        what is chosen.
    """

    given: FloatArray
    wanted: FloatArray
    allowed: FloatArray

    @property
    def tell(self) -> bool:
        """Whether anything can be compared: some number is one, and rounding does not decide which; or there are none."""
        return not self.wanted.size or bool((~np.isnan(self.wanted) & np.isfinite(self.allowed)).any())


def samples(
    tape: Tape,
    rows: int = 4,
    precision: str = "double",
    seed: int = 0,
    same: Collection[str] = (),
    points: Mapping[str, npt.ArrayLike] | None = None,
) -> Samples:
    """Draw random points, and compute them.

    Parameters
    ----------
    tape : Tape
        What is computed.
    rows : int
        How many points.
    precision : {"double", "single"}
        Of the code that is to be tested.
    seed : int
        Of the random numbers.
    same : collection of str
        Inputs that are the same in all rows.
    points : mapping of str to array (n, ...), optional
        For the name of an input values to take instead of random ones, one after the other: see `given_points`.
    """
    draw = np.random.default_rng(seed)
    chosen = given_points(tape, points or {}, precision)
    kept: dict[str, FloatArray] = {}
    drawn, allowed = [], []
    for row in range(rows):
        kept |= {name: values[0 if name in same else row % len(values)] for name, values in chosen.items()}
        tried = [_with_bounds(tape, _point(tape, draw, kept), precision)]
        while not np.isfinite(tried[-1][1]).all() and len(tried) < _TRIES:
            tried.append(_with_bounds(tape, _point(tape, draw, kept), precision))
        point, bounds = max(tried, key=lambda found: int(np.isfinite(found[1]).sum()))
        kept |= {name: part for name, part in _inputs(tape, point).items() if name in same}
        drawn.append(point)
        allowed.append(bounds)
    table = np.reshape(drawn, (rows, tape.input_count))
    return Samples(table, computed(tape, table), np.reshape(allowed, (rows, len(tape.results))))


def given_points(tape: Tape, points: Mapping[str, npt.ArrayLike], precision: str) -> dict[str, FloatArray]:
    """Values of inputs (n, size), rounded to a precision, of those names that the tape has.

    Raises
    ------
    ArgumentError
        Where there is no value, or one has another shape than the input.
    """
    chosen = {}
    for name, shape in tape.inputs.items():
        if name in points:
            values = np.asarray(points[name], np.float32 if precision == "single" else float).astype(float)
            if values.shape[1:] != shape or not len(values):
                raise ArgumentError(
                    f"points: {name} has the shape {values.shape}; {tape.name} takes {('n', *shape)}".replace("'", "")
                )
            chosen[name] = values.reshape(len(values), -1)
    return chosen


def computed(tape: Tape, points: FloatArray) -> FloatArray:
    """The results (rows, outputs) of the gufunc at points (rows, inputs)."""
    arrays = [part.reshape(len(points), *tape.inputs[name]) for name, part in _inputs(tape, points).items()]
    with np.errstate(all="ignore"):
        result = Kernel(tape)(*arrays)
    outputs = result if isinstance(result, tuple) else (result,)
    return np.concatenate([np.reshape(array, (len(points), -1)) for array in outputs], axis=1)


def _inputs(tape: Tape, points: FloatArray) -> dict[str, FloatArray]:
    """The part of a point, or of many, that each input is."""
    ends = np.cumsum([prod(shape) for shape in tape.inputs.values()])
    return dict(zip(tape.inputs, np.split(points, ends[:-1], axis=-1), strict=True))


def _point(tape: Tape, draw: np.random.Generator, kept: dict[str, FloatArray]) -> FloatArray:
    """One configuration; parameters are positive, so that masses and lengths are."""
    parts = []
    for name, shape in tape.inputs.items():
        ends = (0.25, 2.0) if name == PARAMETERS else (-2.0, 2.0)
        drawn = np.round(draw.uniform(*ends, prod(shape)) * _STEP) / _STEP
        parts.append(np.ravel(kept.get(name, drawn)))
    return np.concatenate([*parts, np.zeros(0)])


def _with_bounds(tape: Tape, point: FloatArray, precision: str) -> tuple[FloatArray, FloatArray]:
    """The point, and how far a computation in a precision and the gufunc can be apart."""
    pairs = zip(bounded(tape, point, precision), bounded(tape, point), strict=True)
    return point, np.array([here.error + there.error for here, there in pairs])
