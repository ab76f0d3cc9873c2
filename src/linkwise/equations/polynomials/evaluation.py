"""A tape evaluated on polynomials: every result expanded, with equal terms collected."""

from __future__ import annotations

import cmath
import operator
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from linkwise.equations.polynomials.bounds import Linear, Survey
from linkwise.equations.polynomials.key_packing import Fields
from linkwise.equations.polynomials.polynomial import Polynomial, collected, number
from linkwise.kernel.tape import Instruction


def expanded(found: Survey, fields: Fields) -> tuple[list[Polynomial], Mapping[int, tuple[str, tuple[Polynomial, ...]]]]:
    """The results of a tape as polynomials.

    Parameters
    ----------
    found : Survey
        Of the tape.
    fields : Fields
        Wide enough for what the survey says that variables need.

    Returns
    -------
    results : list of Polynomial
        One for each element of the outputs.
    atoms : mapping of int to (str, tuple of Polynomial)
        By variable: the function, and its arguments; ``"div"`` is one divided by its argument.
    """
    return _Evaluation(found, fields).done()


_SUMS: dict[str, Callable[..., Polynomial]] = {"add": operator.add, "sub": operator.sub, "neg": operator.neg}


class _Evaluation:
    def __init__(self, found: Survey, fields: Fields) -> None:
        self.found, self.fields, self.tape = found, fields, found.tape
        self.values: dict[int, Polynomial] = {}
        self.atoms: dict[int, tuple[str, tuple[Polynomial, ...]]] = {}
        self.last = self._last_uses()

    def done(self) -> tuple[list[Polynomial], Mapping[int, tuple[str, tuple[Polynomial, ...]]]]:
        tape, first = self.tape, self.tape.first_result
        for slot, each in enumerate(tape.code, first):
            if slot in self.last:
                self.values[slot] = self._value(slot, each)
                for arg in set(each.args):
                    if self.last.get(arg) == slot:
                        self.values.pop(arg, None)
        return [self._of(slot) for slot in tape.results], self.atoms

    def _last_uses(self) -> dict[int, int]:
        """For every slot that is needed, the last instruction that reads it."""
        end = self.tape.first_result + len(self.tape.code)
        last = dict.fromkeys(self.tape.results, end)
        for slot in range(end - 1, self.tape.first_result - 1, -1):
            if slot in last and slot not in self.found.waves:
                for arg in self.tape.code[slot - self.tape.first_result].args:
                    last.setdefault(arg, slot)
        return last

    def _of(self, slot: int) -> Polynomial:
        """What is in a slot."""
        if slot >= self.tape.first_result:
            return self.values[slot]
        value = self.tape.constant(slot)
        return self._variable(slot) if value is None else number(value, self.fields.words)

    def _variable(self, k: int) -> Polynomial:
        return number(1.0, self.fields.words).moved(self.fields.step(k))

    def _value(self, slot: int, each: Instruction) -> Polynomial:
        if slot in self.found.waves:
            return self._wave(self.found.waves[slot], each.op)
        if slot in self.found.atoms:
            return self._atom(slot, each)
        if each.op == "mul":
            return self._product(each.args)
        args = [self._of(arg) for arg in each.args]
        if each.op == "div":
            divisor = args[1]  # a single term
            return args[0] * Polynomial(-divisor.keys, 1.0 / divisor.values, 1.0 / np.abs(divisor.values))
        return _SUMS[each.op](*args)

    def _product(self, args: Sequence[int]) -> Polynomial:
        numbers = [self.tape.constant(arg) for arg in args]
        for k, value in enumerate(numbers):
            if value is not None:
                return self._of(args[1 - k]).scaled(value)
        return self._of(args[0]) * self._of(args[1])

    def _wave(self, angle: Linear, op: str) -> Polynomial:
        """Cos a = (e^ia + e^-ia) / 2, sin a = (e^ia - e^-ia) / 2i."""
        if not angle.factors:
            return number(float(np.cos(angle.offset) if op == "cos" else np.sin(angle.offset)), self.fields.words)
        step = sum(
            (round(h) * self.fields.step(k, True) for k, h in angle.factors.items()), np.zeros(self.fields.words, np.int64)
        )
        turn = cmath.exp(1j * angle.offset) * (0.5 if op == "cos" else -0.5j)
        return collected(np.stack([step, -step], axis=1), np.array([turn, turn.conjugate()]), np.array([0.5, 0.5]))

    def _atom(self, slot: int, each: Instruction) -> Polynomial:
        k = self.found.atoms[slot]
        args = [self._of(arg) for arg in each.args]
        if each.op == "div":
            self.atoms[k] = ("div", (args[1],))
            return args[0] * self._variable(k)
        self.atoms[k] = (each.op, tuple(args))
        return self._variable(k)
