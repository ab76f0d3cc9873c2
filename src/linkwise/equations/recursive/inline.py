"""Operations on the sums of a listing: how what stands in one line is put together, and how long it gets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from linkwise.equations.document import Call, Name, Power, Sum, Term
from linkwise.kernel.tape import Tape

MOST_DEEP = 2
"""Brackets within each other that a line may have."""


@dataclass(frozen=True)
class Extent:
    """How much room something takes: characters, brackets within each other, terms; and whether it is a mere name."""

    length: int
    depth: int
    terms: int
    atom: bool

    @classmethod
    def of_name(cls) -> Extent:
        """That of the name of an intermediate value."""
        return cls(4, 0, 1, True)

    @classmethod
    def of_number(cls, value: float) -> Extent:
        """That of a number."""
        return cls(len(f"{value:.6g}"), 0, 1, True)


def extent_after(op: str, args: Sequence[Extent]) -> Extent:
    """The room that an operation takes."""
    length = sum(arg.length for arg in args)
    if op == "neg":
        return Extent(length + 1, args[0].depth, args[0].terms, args[0].atom)
    if op in {"add", "sub"}:
        return Extent(length + 3, max(arg.depth for arg in args), sum(arg.terms for arg in args), False)
    if op in {"mul", "div"}:
        brackets = sum(2 for arg in args if arg.terms > 1)
        depth = max(arg.depth + (arg.terms > 1) for arg in args)
        return Extent(length + 1 + brackets, depth, 1, False)
    return Extent(length + len(op) + 2 * len(args), 1 + max(arg.depth for arg in args), 1, False)


def constant_sum(value: float) -> Sum:
    """A number as a sum; no terms for 0."""
    return Sum((Term(value),)) if value else Sum()


def is_atom(value: Sum) -> bool:
    """Whether it is a number, or a name, or one with a minus."""
    if not value.terms:
        return True
    term = value.terms[0]
    if len(value.terms) > 1 or len(term.factors) > 1:
        return False
    if not term.factors:
        return True
    return abs(term.number) == 1 and isinstance(term.factors[0].base, Name) and term.factors[0].exponent == 1


def composed(op: str, args: Sequence[Sum]) -> Sum:
    """What an operation gives; brackets in sums are opened, products and powers are put together.

    Examples
    --------
    >>> from linkwise.equations.document import leaf
    >>> x, y = leaf("x"), leaf("y")
    >>> composed("sub", [x, composed("neg", [y])]) == composed("add", [x, y])
    True
    """
    if op == "add":
        return Sum(_plus_first(args[0].terms + args[1].terms))
    if op == "sub":
        return Sum(_plus_first(args[0].terms + negated(args[1]).terms))
    if op == "neg":
        return negated(args[0])
    if op == "mul":
        return _product(args[0], args[1])
    if op == "div":
        return _product(args[0], _inverse(args[1]))
    return Sum((Term(1.0, (Power(Call(op, tuple(args))),)),))


def negated(value: Sum) -> Sum:
    """The same with the signs of all terms turned."""
    return Sum(tuple(Term(-term.number, term.factors) for term in value.terms))


def _plus_first(terms: tuple[Term, ...]) -> tuple[Term, ...]:
    """Terms with the first positive one in front, so that a line need not begin with a minus."""
    if terms and terms[0].number < 0:
        for k, term in enumerate(terms):
            if term.number > 0:
                return (term, *terms[:k], *terms[k + 1 :])
    return terms


def _product(x: Sum, y: Sum) -> Sum:
    if not x.terms or not y.terms:
        return Sum()
    first, second = _as_term(x), _as_term(y)
    if _divides(first) and _divides(second):
        return Sum((Term(1.0, (Power(x), Power(y))),))
    return Sum((Term(first.number * second.number, _together(first.factors + second.factors)),))


def _as_term(value: Sum) -> Term:
    """One term as it is, a sum of several in brackets; -(x - y) for y - x, where only minus signs would be left."""
    if len(value.terms) == 1:
        return value.terms[0]
    if all(term.number < 0 for term in value.terms):
        return Term(-1.0, (Power(negated(value)),))
    return Term(1.0, (Power(value),))


def _inverse(value: Sum) -> Sum:
    term = _as_term(value)
    if not term.factors or _divides(term) or abs(term.number) != 1:
        return Sum((Term(1.0, (Power(value, -1),)),))
    return Sum((Term(1.0 / term.number, tuple(Power(f.base, -f.exponent) for f in term.factors)),))


def _divides(term: Term) -> bool:
    return any(factor.exponent < 0 for factor in term.factors)


def _together(factors: tuple[Power, ...]) -> tuple[Power, ...]:
    """Equal factors as one power; what stands above is not cancelled against what stands below."""
    found: dict[tuple[object, bool], Power] = {}
    for factor in factors:
        key = (factor.base, factor.exponent > 0)
        before = found.get(key)
        found[key] = Power(factor.base, factor.exponent + (before.exponent if before else 0))
    return tuple(sorted(found.values(), key=lambda factor: isinstance(factor.base, Sum)))


def whole_angle(tape: Tape, coordinates: Mapping[int, int]) -> dict[int, dict[int, int]]:
    """The slots that hold whole combinations of coordinates: multiples by number of the coordinate.

    Parameters
    ----------
    tape : Tape
        The function.
    coordinates : mapping of int to int
        The number of the coordinate in a slot.
    """
    found: dict[int, dict[int, float]] = {slot: {k: 1} for slot, k in coordinates.items()}
    for slot, instruction in enumerate(tape.code, tape.first_result):
        args = instruction.args
        if instruction.op in {"add", "sub"} and all(arg in found for arg in args):
            sign = 1 if instruction.op == "add" else -1
            one, other = found[args[0]], found[args[1]]
            total = {k: one.get(k, 0) + sign * other.get(k, 0) for k in {**one, **other}}
            found[slot] = {k: count for k, count in total.items() if count}
        elif instruction.op == "neg" and args[0] in found:
            found[slot] = {k: -count for k, count in found[args[0]].items()}
        elif instruction.op == "mul":
            for number, other_slot in (args, args[::-1]):
                factor = tape.constant(number)
                if factor is not None and other_slot in found:
                    found[slot] = {k: factor * count for k, count in found[other_slot].items()}
    whole = {slot: angle for slot, angle in found.items() if all(float(c).is_integer() for c in angle.values())}
    return {slot: {k: int(count) for k, count in angle.items()} for slot, angle in whole.items()}
