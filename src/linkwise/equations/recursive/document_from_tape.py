"""Listing of a tape in readable order: named intermediate values, each computed once, and the results."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from linkwise.equations.document import (
    Assignment,
    Call,
    Listing,
    Power,
    Section,
    Sum,
    Term,
    by_output,
    element_name,
    leaf,
    separator_for,
)
from linkwise.equations.writers.names import Names, input_names, wave_name
from linkwise.errors import ArgumentError, members
from linkwise.kernel.tape import Tape

#: Brackets within each other that a line may have.
MOST_DEEP = 2


@dataclass(frozen=True)
class Extent:
    """Size of an expression: characters, nesting of brackets, terms; and whether it is a mere name."""

    length: int
    depth: int
    terms: int
    atom: bool

    @classmethod
    def of_name(cls) -> Extent:
        """Size of the name of an intermediate value."""
        return cls(4, 0, 1, True)


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


def composed(op: str, args: Sequence[Sum]) -> Sum:
    """Result of an operation; brackets in sums are expanded, products and powers merged.

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
    """One term unchanged, a sum of several in brackets; -(x - y) for y - x, where only minus signs would remain."""
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
    """Merge equal factors to powers; numerator and denominator are not cancelled."""
    powers: dict[tuple[object, bool], Power] = {}
    for factor in factors:
        key = (factor.base, factor.exponent > 0)
        before = powers.get(key)
        powers[key] = Power(factor.base, factor.exponent + (before.exponent if before else 0))
    return tuple(sorted(powers.values(), key=lambda factor: isinstance(factor.base, Sum)))


def whole_angle(tape: Tape, coordinates: Mapping[int, int]) -> dict[int, dict[int, int]]:
    """The slots that hold whole combinations of coordinates: multiples by number of the coordinate.

    Parameters
    ----------
    tape : Tape
        The function.
    coordinates : mapping of int to int
        The number of the coordinate in a slot.
    """
    angles: dict[int, dict[int, float]] = {slot: {k: 1} for slot, k in coordinates.items()}
    for slot, instruction in enumerate(tape.code, tape.first_result):
        args = instruction.args
        if instruction.op in {"add", "sub"} and all(arg in angles for arg in args):
            sign = 1 if instruction.op == "add" else -1
            first, second = angles[args[0]], angles[args[1]]
            total = {k: first.get(k, 0) + sign * second.get(k, 0) for k in {**first, **second}}
            angles[slot] = {k: count for k, count in total.items() if count}
        elif instruction.op == "neg" and args[0] in angles:
            angles[slot] = {k: -count for k, count in angles[args[0]].items()}
        elif instruction.op == "mul":
            for number, other_slot in (args, args[::-1]):
                factor = tape.constant(number)
                if factor is not None and other_slot in angles:
                    angles[slot] = {k: factor * count for k, count in angles[other_slot].items()}
    whole = {slot: angle for slot, angle in angles.items() if all(float(c).is_integer() for c in angle.values())}
    return {slot: {k: int(count) for k, count in angle.items()} for slot, angle in whole.items()}


_CONSTANT = -2

#: Heading of values that depend on parameters of the mechanism only.
CONSTANTS = "Constants"

#: Characters, roughly, that a value may have before parts of it get names of their own.
LONGEST = 72


@dataclass(frozen=True)
class Meanings:
    """Meanings of the intermediate values of a tape.

    Attributes
    ----------
    known : mapping of int to (str, int)
        By slot its name, and under which of the headings it stands.
    titles : tuple of str
        The headings, in order.
    legend : mapping of str to str
        What each of the names means.
    """

    known: Mapping[int, tuple[str, int]] = field(default_factory=dict)
    titles: tuple[str, ...] = ()
    legend: Mapping[str, str] = field(default_factory=dict)


def recursive_listing(tape: Tape, title: str = "", meanings: Meanings | None = None) -> Listing:
    """Write a tape as assignments, in its order.

    A value that is used more than once, that has a meaning, or that would make a line too long, gets a name; all others
    stand where they are used. Nothing is computed twice, so the listing takes the operations of the tape.

    Parameters
    ----------
    tape : Tape
        The function.
    title : str
        The heading; the name of the tape if left out.
    meanings : Meanings, optional
        Names for intermediate values; the others are called ``t1``, ``t2``, ..., sines and cosines of coordinates ``s1``,
        ``c23``.

    Examples
    --------
    >>> from linkwise.equations.writers.text import to_text
    >>> from linkwise.kernel.tape import trace
    >>> made = trace(lambda q: q[0].sin() * (q[1] + 2.0) + q[0].sin(), "y", {"q": (2,)}, {"y": ()})
    >>> print(to_text(recursive_listing(made)))
    y
    <BLANKLINE>
    Sines and cosines
      s1 = sin(q1)
    <BLANKLINE>
    Results
      y = s1 + s1·(2 + q2)
    """
    return _Lister(tape, meanings or Meanings()).listing(title or tape.name)


class _Lister:
    """The state of the work on one tape."""

    def __init__(self, tape: Tape, meanings: Meanings) -> None:
        self.tape, self.meanings = tape, meanings
        self.inputs = labels_of(tape)
        self.slots = by_output(np.arange(tape.input_count), tape.inputs)
        self.names = Names(self.inputs)
        self.separator = _separator(tape)
        self.results = _element_names(tape)
        for name in self.results:
            self.names.unique(name)
        self.uses, self.result_slots = _uses(tape), set(tape.results)
        self.angles, self.waves = self._waves()
        self.constant = self._constant()
        self.prepared = self._prepared()

    def listing(self, title: str) -> Listing:
        """The whole of it."""
        named = self._worth_a_name()
        places = self._places()
        waves = sorted(named & self.waves.keys(), key=lambda slot: (self.waves[slot][1:], self.waves[slot]))
        others = sorted(named - self.waves.keys(), key=lambda slot: (slot not in self.constant, places[slot], slot))
        order = [*waves, *others]
        called = {slot: self._name(slot) for slot in order}
        values = self._values(called)
        sections: dict[int, list[Assignment]] = {}
        for slot in order:
            place = -1 if slot in self.waves else _CONSTANT if slot in self.constant else places[slot]
            sections.setdefault(place, []).append(Assignment(called[slot], (), values[slot]))
        titles = {**dict(enumerate(self.meanings.titles)), -1: "Sines and cosines", _CONSTANT: CONSTANTS}
        parts = [Section(titles.get(k, "Intermediate values"), tuple(lines)) for k, lines in sorted(sections.items())]
        results = Section("Results", tuple(self._result_lines(called, values)))
        legend = _first_of_each({called[slot]: self.meanings.legend.get(called[slot], "") for slot in order})
        origins = getattr(self.tape, "origins", {})
        return Listing(title, (*parts, results), dict(self.tape.outputs), legend, origins=origins, separator=self.separator)

    def _waves(self) -> tuple[set[int], dict[int, str]]:
        """Slots of angles that occur only in sines and cosines, and the names of these."""
        waves = {}
        labels = {slot: self.inputs[slot] for slot in self.slots.get("q", ())}
        coordinates = {slot: int(label[1:]) for slot, label in labels.items() if re.fullmatch(r"q\d+", label)}
        angles = whole_angle(self.tape, coordinates)
        for slot, instruction in enumerate(self.tape.code, self.tape.first_result):
            if instruction.op in {"sin", "cos"} and angles.get(instruction.args[0]):
                waves[slot] = wave_name(instruction.op, angles[instruction.args[0]])
        return set(angles) - self._outside(angles.keys(), waves.keys()), waves

    def _outside(self, angles: Collection[int], waves: Collection[int]) -> set[int]:
        """Angles with other uses, and those from which these are computed."""
        outside = set[int](self.tape.results)
        for slot in range(len(self.uses) - 1, self.tape.first_result - 1, -1):
            if slot not in waves and (slot not in angles or slot in outside):
                outside.update(self.tape.code[slot - self.tape.first_result].args)
        return outside

    def _constant(self) -> set[int]:
        """The slots that depend on parameters of the mechanism alone."""
        tape = self.tape
        constant = {*self.slots.get("parameters", ()), *range(tape.input_count, tape.first_result)}
        for slot, instruction in enumerate(tape.code, tape.first_result):
            if all(arg in constant for arg in instruction.args):
                constant.add(slot)
        return constant

    def _prepared(self) -> set[int]:
        """The slots of constants that something takes which is none: they can be worked out beforehand."""
        if "parameters" not in self.tape.inputs:
            return set()
        others = [i for slot, i in enumerate(self.tape.code, self.tape.first_result) if slot not in self.constant]
        return {arg for instruction in others for arg in instruction.args if arg in self.constant}

    def _name(self, slot: int) -> str:
        wanted = self.meanings.known[slot][0] if slot in self.meanings.known else self.waves.get(slot)
        return self.names.unique(wanted) if wanted else self.names.next("t")

    def _worth_a_name(self) -> set[int]:
        """The slots that get names."""
        tape, named, sizes = self.tape, set[int](), self._leaf_extents()
        for slot, instruction in enumerate(tape.code, tape.first_result):
            waiting = [arg for arg in dict.fromkeys(instruction.args) if not sizes[arg].atom]
            extent = extent_after(instruction.op, [sizes[arg] for arg in instruction.args])
            while waiting and (extent.length > LONGEST or extent.depth > MOST_DEEP):
                longest = max(
                    waiting, key=lambda arg: (sizes[arg].depth if extent.depth > MOST_DEEP else 0, sizes[arg].length)
                )
                waiting.remove(longest)
                named.add(longest)
                sizes[longest] = Extent.of_name()
                extent = extent_after(instruction.op, [sizes[arg] for arg in instruction.args])
            wanted = self.uses[slot] > 1 or slot in self.waves or slot in self.prepared or self._is_known(slot)
            if wanted and not extent.atom and slot not in self.angles:
                named.add(slot)
                extent = Extent.of_name()
            sizes.append(extent)
        return named

    def _is_known(self, slot: int) -> bool:
        return slot in self.meanings.known and self.uses[slot] > (slot in self.result_slots)

    def _leaf_extents(self) -> list[Extent]:
        written = [*self.inputs, *(f"{value:.6g}" for value in self.tape.constants)]
        return [Extent(len(text), 0, 1, True) for text in written]

    def _places(self) -> list[int]:
        """Section of each slot: that of its meaning, or that of its first use."""
        tape, last = self.tape, max(0, len(self.meanings.titles) - 1)
        least = [0] * tape.first_result
        for slot, instruction in enumerate(tape.code, tape.first_result):
            _, place = self.meanings.known.get(slot, ("", 0))
            least.append(max([place, *(least[arg] for arg in instruction.args)]))
        places = [last] * len(least)
        for slot in range(len(least) - 1, tape.first_result - 1, -1):
            if slot in self.meanings.known:
                places[slot] = least[slot]
            for arg in tape.code[slot - tape.first_result].args:
                places[arg] = min(places[arg], places[slot])
        return places

    def _values(self, called: Mapping[int, str]) -> dict[int, Sum]:
        """Values of the slots; of a named slot the assigned one."""
        values: dict[int, Sum] = {slot: leaf(name) for slot, name in enumerate(self.inputs)}
        seen = dict(values)
        for k, value in enumerate(self.tape.constants, len(self.inputs)):
            values[k] = seen[k] = Sum((Term(value),)) if value else Sum()
        for slot, instruction in enumerate(self.tape.code, self.tape.first_result):
            values[slot] = composed(instruction.op, [seen[arg] for arg in instruction.args])
            seen[slot] = leaf(called[slot]) if slot in called else values[slot]
        return values

    def _result_lines(self, called: Mapping[int, str], values: Mapping[int, Sum]) -> Iterable[Assignment]:
        first: dict[int, str] = {}
        slots = iter(self.tape.results)
        for name, shape in self.tape.outputs.items():
            for index in np.ndindex(*shape):
                slot = next(slots)
                value = leaf(called[slot]) if slot in called else values[slot]
                if slot in first and value.terms and value.terms[0].factors:
                    value = leaf(first[slot])
                first.setdefault(slot, element_name(name, index, self.separator))
                yield Assignment(name, tuple(map(int, index)), value)


def _first_of_each(legend: Mapping[str, str]) -> dict[str, str]:
    """The first name of each kind: the others differ in a number."""
    firsts: dict[str, tuple[str, str]] = {}
    for name, text in legend.items():
        if text:
            firsts.setdefault("".join(letter for letter in text if not letter.isdigit()), (name, text))
    return dict(firsts.values())


def labels_of(tape: Tape) -> list[str]:
    """Names of the elements of the inputs, in order: the tape's labels, else ``q1``, ``A12`` and so on.

    Raises
    ------
    ArgumentError
        Where a symbol of the mechanism has the name of a coordinate, or of an element of the result.
    """
    labels: Mapping[str, Sequence[str]] = getattr(tape, "labels", {})
    names: list[str] = []
    for name, shape in tape.inputs.items():
        names += labels[name] if name in labels else input_names(name, shape)
    parameters, others = labels.get("parameters", ()), {*_element_names(tape)}
    twice = [name for name, count in Counter(names).items() if count > 1 or (name in parameters and name in others)]
    if twice:
        problem = f"in {tape.name} {members(twice)} would stand for a symbol of the mechanism and for something else"
        raise ArgumentError(f"{problem}; expected symbols called unlike coordinates, inputs and elements of the result")
    return names


def _element_names(tape: Tape) -> list[str]:
    separator = _separator(tape)
    return [element_name(name, index, separator) for name, shape in tape.outputs.items() for index in np.ndindex(*shape)]


def _separator(tape: Tape) -> str:
    return separator_for(tape.outputs, getattr(tape, "labels", {}).get("parameters", ()))


def _uses(tape: Tape) -> list[Any]:
    """Number of uses of each slot: by operations, and as a result once, however many elements it is."""
    uses = Counter([*(arg for instruction in tape.code for arg in instruction.args), *set(tape.results)])
    return [uses[slot] for slot in range(tape.first_result + len(tape.code))]
