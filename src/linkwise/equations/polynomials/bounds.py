"""What a tape does to its variables: which are angles, which powers occur, and which functions of parameters there are.

Read off the operations before anything is computed, so that the fields of the keys are known to be wide enough.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NoReturn

import numpy as np

from linkwise.equations.polynomials.key_packing import IntArray, Need
from linkwise.errors import ArgumentError
from linkwise.kernel.tape import Tape

POLYNOMIAL = frozenset({"add", "sub", "mul", "neg"})
"""Operations on polynomials that always give polynomials."""


@dataclass(frozen=True)
class Linear:
    """A number plus numbers times variables."""

    offset: float
    factors: dict[int, float]

    def plus(self, other: Linear, sign: float) -> Linear:
        """The sum, or the difference."""
        factors = dict(self.factors)
        for k, factor in other.factors.items():
            factors[k] = factors.get(k, 0.0) + sign * factor
        return Linear(self.offset + sign * other.offset, {k: factor for k, factor in factors.items() if factor})

    def times(self, factor: float) -> Linear:
        """The multiple."""
        return Linear(self.offset * factor, {k: factor * each for k, each in self.factors.items()})


@dataclass
class Seen:
    """What is known of one slot: bounds of harmonics and powers (V,), which variables it has, and in which form.

    ``single``: whether it is one term for certain. ``powers``, ``all``: bit sets of the variables outside of sine and
    cosine, and of all.
    """

    harmonic: IntArray
    low: IntArray
    high: IntArray
    powers: int
    all: int
    single: bool
    linear: Linear | None


@dataclass
class Survey:
    """The variables of a tape: its inputs, then the atoms, which are functions of parameters that are no polynomials.

    Attributes
    ----------
    tape : Tape
        The function.
    names : tuple of str
        What messages call the inputs.
    fixed : int
        Bit set of the inputs that are parameters.
    atoms : dict of int to int
        By the slot of an atom its variable; of a quotient, whose atom is one divided by the divisor, the slot is the
        quotient's.
    waves : dict of int to Linear
        By the slot of a sine or cosine its argument.
    needs : list of Need
        For every variable.
    """

    tape: Tape
    names: tuple[str, ...]
    fixed: int
    signs: int = 0
    atoms: dict[int, int] = field(default_factory=dict)
    waves: dict[int, Linear] = field(default_factory=dict)
    needs: list[Need] = field(default_factory=list)
    count: int = 0


def survey(tape: Tape, names: tuple[str, ...], fixed: Iterable[int], signs: Iterable[int] = ()) -> Survey:
    """Walk through a tape and note what its variables are used for.

    Parameters
    ----------
    tape : Tape
        The function.
    names : tuple of str
        What messages call the elements of the inputs.
    fixed : iterable of int
        Which inputs are parameters: any function of them may occur.
    signs : iterable of int
        Which inputs are speeds: the sign of one may occur.

    Raises
    ------
    ArgumentError
        Where a result is no polynomial in sines, cosines, coordinates and functions of parameters.
    """
    found = Survey(tape, names, _bits(fixed), _bits(signs))
    return _Walk(found).done()


def _bits(places: Iterable[int]) -> int:
    return sum(1 << k for k in places)


def members(bits: int) -> list[int]:
    """The elements of a bit set."""
    made = []
    while bits:
        lowest = bits & -bits
        made.append(lowest.bit_length() - 1)
        bits ^= lowest
    return made


class _Walk:
    """One walk through a tape."""

    def __init__(self, found: Survey) -> None:
        self.found, tape = found, found.tape
        inputs = tape.input_count
        self.size = inputs + sum(each.op not in POLYNOMIAL for each in tape.code)
        found.count = inputs
        self.zero = np.zeros(self.size, dtype=np.int64)
        self.seen = [self._variable(k) for k in range(inputs)]
        self.seen += [self._seen(self.zero, self.zero, 0, 0, True, Linear(value, {})) for value in tape.constants]
        self.apart = [0] * self.size
        self.multiplied: set[tuple[int, int]] = set()
        self.divisors: dict[int, int] = {}

    def done(self) -> Survey:
        """Go through the code, then see what the results need."""
        tape, found = self.found.tape, self.found
        made: dict[str, Callable[[int, list[int]], Seen]] = {"add": self._sum, "sub": self._sum, "mul": self._product}
        made |= {"neg": self._negated, "div": self._quotient, "sin": self._wave, "cos": self._wave}
        for slot, each in enumerate(tape.code, tape.first_result):
            self.op = each.op
            self.seen.append(made.get(each.op, self._atom)(slot, list(each.args)))
        needed = [self.seen[slot] for slot in self._needed()]
        every = [self.zero[None]]
        harmonic = np.concatenate([*every, *(each.harmonic[None] for each in needed)]).max(axis=0)
        low = np.concatenate([*every, *(each.low[None] for each in needed)]).min(axis=0)
        high = np.concatenate([*every, *(each.high[None] for each in needed)]).max(axis=0)
        apart = [frozenset(members(bits)) for bits in self.apart]
        found.needs = [Need(int(harmonic[k]), int(low[k]), int(high[k]), apart[k]) for k in range(found.count)]
        return found

    def _needed(self) -> list[int]:
        """The slots that are worked out as polynomials: not the arguments of sine and cosine alone."""
        tape, wanted = self.found.tape, set(self.found.tape.results)
        for slot in range(tape.first_result + len(tape.code) - 1, tape.first_result - 1, -1):
            if slot in wanted and slot not in self.found.waves:
                wanted.update(tape.code[slot - tape.first_result].args)
        return sorted(wanted)

    def _seen(self, low: IntArray, high: IntArray, powers: int, every: int, single: bool, linear: Linear | None) -> Seen:
        return Seen(self.zero, low, high, powers, every, single, linear)

    def _variable(self, k: int) -> Seen:
        unit = self.zero.copy()
        unit[k] = 1
        return self._seen(unit, unit, 1 << k, 1 << k, True, Linear(0.0, {k: 1.0}))

    def _sum(self, slot: int, args: list[int]) -> Seen:
        a, b = (self.seen[arg] for arg in args)
        linear = a.linear.plus(b.linear, 1.0 if self.op == "add" else -1.0) if a.linear and b.linear else None
        harmonic = a.harmonic if a.harmonic is b.harmonic else np.maximum(a.harmonic, b.harmonic)
        low, high = np.minimum(a.low, b.low), np.maximum(a.high, b.high)
        return Seen(harmonic, low, high, a.powers | b.powers, a.all | b.all, False, linear)

    def _negated(self, slot: int, args: list[int]) -> Seen:
        a = self.seen[args[0]]
        return Seen(a.harmonic, a.low, a.high, a.powers, a.all, a.single, a.linear and a.linear.times(-1.0))

    def _product(self, slot: int, args: list[int]) -> Seen:
        a, b = (self.seen[arg] for arg in args)
        if not b.all:
            a, b = b, a
        if not a.all:
            linear = b.linear and a.linear and b.linear.times(a.linear.offset)
            return Seen(b.harmonic, b.low, b.high, b.powers, b.all, b.single, linear)
        return self._multiplied(a, b)

    def _multiplied(self, a: Seen, b: Seen) -> Seen:
        pair = (a.powers, b.powers)
        if a.powers and b.powers and pair not in self.multiplied:
            self.multiplied.add(pair)
            for one, other in (pair, pair[::-1]):
                for k in members(one):
                    self.apart[k] |= other
        low, high = a.low + b.low, a.high + b.high
        return Seen(a.harmonic + b.harmonic, low, high, a.powers | b.powers, a.all | b.all, a.single and b.single, None)

    def _quotient(self, slot: int, args: list[int]) -> Seen:
        a, b = (self.seen[arg] for arg in args)
        if not b.all and b.linear and b.linear.offset:
            return Seen(
                a.harmonic, a.low, a.high, a.powers, a.all, a.single, a.linear and a.linear.times(1 / b.linear.offset)
            )
        if b.all & ~self.found.fixed:
            self._refuse()
        if not b.single:
            return self._multiplied(a, self._new_atom(slot, b, args[1]))
        for k in members(b.powers):
            self.apart[k] |= 1 << k
        return self._multiplied(a, Seen(b.harmonic, -b.high, -b.low, b.powers, b.all, True, None))

    def _wave(self, slot: int, args: list[int]) -> Seen:
        a = self.seen[args[0]]
        whole = a.linear is not None and all(factor == round(factor) for factor in a.linear.factors.values())
        if not a.all & ~self.found.fixed and not whole:
            return self._new_atom(slot, a)
        if a.linear is None:
            self._refuse()
        for k, factor in a.linear.factors.items():
            if factor != round(factor):
                called = f"coordinate {self.found.names[k]!r}"
                raise ArgumentError(f"sine and cosine of {factor:g} times {called}, which is no whole multiple")
        self.found.waves[slot] = a.linear
        harmonic = self.zero.copy()
        for k, factor in a.linear.factors.items():
            harmonic[k] = abs(round(factor))
        return Seen(harmonic, self.zero, self.zero, 0, a.all, False, None)

    def _atom(self, slot: int, args: list[int]) -> Seen:
        a = self.seen[args[0]]
        every = 0
        for arg in args:
            every |= self.seen[arg].all
        known = self.found.signs
        if every & ~self.found.fixed and not (self.op in {"sign", "abs"} and a.single and not every & ~known):
            self._refuse()
        return self._new_atom(slot, Seen(self.zero, self.zero, self.zero, 0, every, True, None))

    def _new_atom(self, slot: int, of: Seen, divisor: int | None = None) -> Seen:
        """A variable for the function of parameters in a slot, or for one divided by that in another slot."""
        if divisor is not None and divisor in self.divisors:
            k = self.divisors[divisor]
        else:
            k = self.found.count
            self.found.count += 1
            if divisor is not None:
                self.divisors[divisor] = k
        self.found.atoms[slot] = k
        made = self._variable(k)
        if of.all & ~self.found.fixed:
            self.found.signs |= 1 << k
        else:
            self.found.fixed |= 1 << k
        return made

    def _refuse(self) -> NoReturn:
        name = self.found.tape.name
        raise ArgumentError(
            f"{name} takes {self.op} of an expression in the coordinates, which is no sum of sines and cosines"
        )
