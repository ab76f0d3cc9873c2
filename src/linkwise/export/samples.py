"""Random test points of exported code with the results of the gufunc, and bounds of the rounding error.

Running error analysis: J. H. Wilkinson, "Error analysis revisited", IMA Bulletin 22, 1986; N. J. Higham, "Accuracy and
Stability of Numerical Algorithms", 2nd edition, 2002, section 3.3. Here it is carried through the operations of a tape.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError
from linkwise.export.ports import PARAMETERS
from linkwise.expr.operations import OPERATIONS
from linkwise.kernel.kernel import Kernel
from linkwise.kernel.tape import Tape
from linkwise.spatial.scalar import FloatArray

#: Unit roundoff of each precision: the greatest relative error of one rounding.
UNITS = {"double": 2.0**-53, "single": 2.0**-24}

#: Additional error of a result that is too small for full precision.
SMALLEST = {"double": 2.0**-1074, "single": 2.0**-149}

#: Error of a sine, a cosine or an arctangent in unit roundoffs: 2 units in the last place, as CUDA's manual states; the
#: usual C libraries, and the machine code here, are more accurate.
LIBRARY = 4.0


@dataclass(frozen=True)
class Bounded:
    """A computed value, and the bound of its error."""

    value: float
    error: float


def bounded(tape: Tape, point: Sequence[float] | FloatArray, precision: str = "double") -> list[Bounded]:
    """Evaluate a tape with bounds of the rounding errors.

    Parameters
    ----------
    tape : Tape
        What is computed.
    point : sequence of float
        The elements of the inputs, in order; they count as exact.
    precision : {"double", "single"}
        In which operations are rounded. The numbers of the tape are rounded to it too.

    Returns
    -------
    list of Bounded
        For each element of the outputs its value, computed in double, and a bound of the difference between the exact value
        and any computation in that precision of the same operations, products and sums fused or not. The bound is infinite
        where rounding can change what is chosen, or lead across a pole.
    """
    unit, tiny = UNITS[precision], SMALLEST[precision]
    held = 0.0 if precision == "double" else unit
    values = [*map(float, point), *tape.constants]
    errors = [0.0] * len(point) + [held * abs(number) for number in tape.constants]
    for instruction in tape.code:
        operands = [values[arg] for arg in instruction.args]
        value = OPERATIONS[instruction.op].value(*operands)
        carried, roundings = _CARRIED[instruction.op](value, operands, [errors[arg] for arg in instruction.args])
        values.append(value)
        if roundings:  # the rounding is of the value computed, which is off itself
            carried += (roundings * unit + UNITS["double"]) * (abs(value) + carried) + tiny
        unknown = math.isnan(carried)  # (0 times infinity)
        errors.append(0.0 if not math.isfinite(value) else math.inf if unknown else carried)
    # 1.01: the bound is itself computed, with some thousand roundings at most of numbers that are never subtracted
    return [Bounded(values[slot], 1.01 * errors[slot]) for slot in tape.results]


def _quotient(z: float, x: list[float], e: list[float]) -> tuple[float, float]:
    left = abs(x[1]) - e[1]
    return ((e[0] + abs(z) * e[1]) / left if left > 0 else math.inf), 1.0


def _angle(z: float, x: list[float], e: list[float]) -> tuple[float, float]:
    """Error bound of an angle by the distance from the origin; infinite if rounding may cross the branch cut."""
    radius, off = math.hypot(*x), math.hypot(*e)
    crosses = x[1] - e[1] <= 0 and 0 < e[0] >= abs(x[0])
    return (off / (radius - off) if off < radius and not crosses else math.inf if off else 0.0), LIBRARY


def _select(z: float, x: list[float], e: list[float]) -> tuple[float, float]:
    if math.isnan(x[0]) or abs(x[0]) > e[0] or e[0] == 0:
        return (e[1] if x[0] > 0 else e[2]), 0.0
    return abs(x[1] - x[2]) + e[1] + e[2], 0.0


#: Propagated error of each operation, of its value z, operands x and their errors e, and its own error in unit roundoffs.
_CARRIED: dict[str, Callable[[float, list[float], list[float]], tuple[float, float]]] = {
    **dict.fromkeys(("add", "sub"), lambda z, x, e: (e[0] + e[1], 1.0)),
    "mul": lambda z, x, e: (abs(x[0]) * e[1] + abs(x[1]) * e[0] + e[0] * e[1], 1.0),
    "div": _quotient,
    **dict.fromkeys(("neg", "abs"), lambda z, x, e: (e[0], 0.0)),
    "sqrt": lambda z, x, e: (0.0 if e[0] == 0 else e[0] / z if x[0] > e[0] else math.inf, 1.0),
    **dict.fromkeys(("sin", "cos"), lambda z, x, e: (min(e[0], 2.0), LIBRARY)),
    "sign": lambda z, x, e: (0.0 if abs(x[0]) > e[0] or e[0] == 0 else math.inf, 0.0),
    "atan2": _angle,
    "select": _select,
}


#: Inputs are multiples of 1 / 64, which are exact in either precision and short in decimals.
_STEP = 64.0

#: Points tried for one row if rounding can change a selection.
_TRIES = 20


@dataclass(frozen=True)
class Samples:
    """Test samples: inputs, expected outputs, and tolerances.

    Attributes
    ----------
    inputs : array (rows, inputs)
        All inputs of a configuration in a row, in order.
    wanted : array (rows, outputs)
        What the gufunc gives.
    allowed : array (rows, outputs)
        How far rounding can take two computations apart: see `linkwise.export.samples`. Infinite where it can change
        what is chosen.
    """

    inputs: FloatArray
    wanted: FloatArray
    allowed: FloatArray

    @property
    def tell(self) -> bool:
        """True if something can be compared: some expected value is finite with a finite tolerance; or there are none."""
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
        Precision of the code that is to be tested.
    seed : int
        Seed of the random numbers.
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
        point, bounds = max(tried, key=lambda candidate: int(np.isfinite(candidate[1]).sum()))
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
    """One configuration; parameters are positive, as masses and lengths are."""
    parts = []
    for name, shape in tape.inputs.items():
        ends = (0.25, 2.0) if name == PARAMETERS else (-2.0, 2.0)
        drawn = np.round(draw.uniform(*ends, prod(shape)) * _STEP) / _STEP
        parts.append(np.ravel(kept.get(name, drawn)))
    return np.concatenate([*parts, np.zeros(0)])


def _with_bounds(tape: Tape, point: FloatArray, precision: str) -> tuple[FloatArray, FloatArray]:
    """The point, and the greatest difference between a computation in a precision and the gufunc."""
    pairs = zip(bounded(tape, point, precision), bounded(tape, point), strict=True)
    return point, np.array([here.error + there.error for here, there in pairs])
