"""How each coordinate enters the results of a tape: by which multiple in sine and cosine, by which power outside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError
from linkwise.kernel.tape import Instruction, Tape

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Degrees:
    """Bounds for one result, coordinate by coordinate.

    Attributes
    ----------
    harmonics : tuple of int
        Greatest multiple of each coordinate in the arguments of sine and cosine.
    powers : tuple of int
        Greatest power of each coordinate outside them.
    """

    harmonics: tuple[int, ...]
    powers: tuple[int, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """How many samples along each coordinate settle the result: 1 where it does not depend on it."""
        return tuple(1 + (2 * h or p) for h, p in zip(self.harmonics, self.powers, strict=True))

    @property
    def size(self) -> int:
        """How many samples settle the result."""
        return prod(self.shape)

    def at_most(self, bounds: Sequence[int]) -> Degrees:
        """The same, where it is known that no degree is greater than its bound."""
        return Degrees(tuple(map(min, self.harmonics, bounds)), tuple(map(min, self.powers, bounds)))


@dataclass(frozen=True)
class _Value:
    """What is known of one slot; ``linear`` are its coefficients where it is linear in the coordinates."""

    harmonics: IntArray
    powers: IntArray
    linear: npt.NDArray[np.float64] | None


def degrees(tape: Tape, names: tuple[str, ...]) -> list[Degrees]:
    """Bound the degrees of every result of a tape whose only input is q, from what the tape does.

    Parameters
    ----------
    tape : Tape
        With one input, the coordinates.
    names : tuple of str
        What messages call the coordinates.

    Raises
    ------
    ArgumentError
        Where a result is no polynomial in sines, cosines and coordinates, or a coordinate stands both inside and outside a
        sine, as a screw's does.

    Examples
    --------
    >>> from linkwise.kernel.tape import trace
    >>> made = trace(lambda q: q[:1] * q[0] * q[1].sin(), "made", {"q": (2,)}, {"y": (1,)})
    >>> degrees(made, ("slide", "turn"))[0].shape
    (3, 3)
    """
    n = tape.input_count
    nothing = np.zeros(n, dtype=np.int64)
    values = [_Value(nothing, row, row.astype(np.float64)) for row in np.eye(n, dtype=np.int64)]
    values += [_Value(nothing, nothing, np.zeros(n))] * len(tape.constants)
    for instruction in tape.code:
        values.append(_after(tape, instruction, values, names))
    found = []
    for slot in tape.results:
        value = values[slot]
        for k in np.flatnonzero((value.harmonics > 0) & (value.powers > 0)):
            raise ArgumentError(
                f"coordinate {names[k]!r} stands both inside and outside of sine and cosine, as a screw's does"
            )
        found.append(Degrees(tuple(map(int, value.harmonics)), tuple(map(int, value.powers))))
    return found


def _after(tape: Tape, instruction: Instruction, values: list[_Value], names: tuple[str, ...]) -> _Value:
    """What is known of an operation's result."""
    op, args = instruction.op, [values[arg] for arg in instruction.args]
    numbers = [tape.constant(arg) for arg in instruction.args]
    harmonics, powers = args[0].harmonics, args[0].powers
    if op in {"add", "sub"}:
        both = [arg.linear for arg in args]
        sign = 1.0 if op == "add" else -1.0
        linear = None if both[0] is None or both[1] is None else both[0] + sign * both[1]
        return _Value(np.maximum(harmonics, args[1].harmonics), np.maximum(powers, args[1].powers), linear)
    if op == "mul":
        return _Value(harmonics + args[1].harmonics, powers + args[1].powers, _product(args, numbers))
    if op == "div" and not (args[1].harmonics.any() or args[1].powers.any()):
        divisor = numbers[1]
        return _Value(harmonics, powers, None if args[0].linear is None or not divisor else args[0].linear / divisor)
    if op == "neg":
        return _Value(harmonics, powers, None if args[0].linear is None else -args[0].linear)
    if not any(arg.harmonics.any() or arg.powers.any() for arg in args):
        return _Value(harmonics, powers, None)
    if op in {"sin", "cos"} and args[0].linear is not None:
        return _Value(_multiples(args[0].linear, names), np.zeros_like(powers), None)
    raise ArgumentError(f"{tape.name} takes {op} of an expression in the coordinates, which is no sum of sines and cosines")


def _product(args: list[_Value], numbers: list[float | None]) -> npt.NDArray[np.float64] | None:
    """The linear form of a number times a linear form."""
    for k in (0, 1):
        number, other = numbers[k], args[1 - k].linear
        if number is not None and other is not None:
            return number * other
    return None


def _multiples(linear: npt.NDArray[np.float64], names: tuple[str, ...]) -> Any:
    """The whole multiples of the coordinates in an angle."""
    for k in np.flatnonzero(linear != np.rint(linear)):
        raise ArgumentError(f"sine and cosine of {linear[k]:g} times coordinate {names[k]!r}, which is no whole multiple")
    return np.abs(np.rint(linear)).astype(np.int64)
