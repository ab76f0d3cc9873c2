"""The equations of a mechanism multiplied out: every entry a polynomial in symbols, and in sines and cosines of angles.

The recursions are run once on symbols, which gives a tape. A survey of its operations finds which variables are angles,
which powers occur, and which functions of parameters there are, so that the fields of the keys are wide enough. Then the
tape is evaluated on polynomials that are kept as arrays (see `linkwise.equations.polynomials.polynomial`), with equal terms
collected. So numbers and symbols are treated alike, and there is no algebra that simplifies: equal terms meet because their
keys are equal. For a mass matrix it takes less time than sampling it, from which a Fourier transform would give the same
harmonics: 0.1 s against 2 s for eight joints of any kind, 4 s against 21 s for ten.
"""

from __future__ import annotations

import cmath
import operator
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NoReturn

import numpy as np

from linkwise.algorithm import find
from linkwise.equations.document import by_output
from linkwise.equations.polynomials.polynomial import (
    Fields,
    IntArray,
    Need,
    Polynomial,
    collected,
    number,
    total,
)
from linkwise.errors import ArgumentError
from linkwise.expr.node import Expr, symbol
from linkwise.expr.operations import OPERATIONS
from linkwise.kernel.tape import Instruction, Tape
from linkwise.model.body import moving_bodies
from linkwise.model.coupling import coupling
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import Array, FloatArray

#: Operations on polynomials that always give polynomials.
POLYNOMIAL = frozenset({"add", "sub", "mul", "neg"})


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
        return Linear(self.offset * factor, {k: factor * coefficient for k, coefficient in self.factors.items()})


@dataclass
class Seen:
    """Properties of one slot: bounds of harmonics and powers (V,), its variables, and their form.

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
    """Survey a tape: how its variables are used.

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
    result = Survey(tape, names, _bits(fixed), _bits(signs))
    return _Walk(result).done()


def _bits(places: Iterable[int]) -> int:
    return sum(1 << k for k in places)


def members(bits: int) -> list[int]:
    """The elements of a bit set."""
    places = []
    while bits:
        lowest = bits & -bits
        places.append(lowest.bit_length() - 1)
        bits ^= lowest
    return places


class _Walk:
    """One pass over a tape."""

    def __init__(self, polynomials: Survey) -> None:
        self.polynomials, tape = polynomials, polynomials.tape
        inputs = tape.input_count
        self.size = inputs + sum(instruction.op not in POLYNOMIAL for instruction in tape.code)
        polynomials.count = inputs
        self.zero = np.zeros(self.size, dtype=np.int64)
        self.seen = [self._variable(k) for k in range(inputs)]
        self.seen += [self._seen(self.zero, self.zero, 0, 0, True, Linear(value, {})) for value in tape.constants]
        self.apart = [0] * self.size
        self.multiplied: set[tuple[int, int]] = set()
        self.divisors: dict[int, int] = {}

    def done(self) -> Survey:
        """Process the code, then determine the needs of the results."""
        tape, survey = self.polynomials.tape, self.polynomials
        rules: dict[str, Callable[[int, list[int]], Seen]] = {"add": self._sum, "sub": self._sum, "mul": self._product}
        rules |= {"neg": self._negated, "div": self._quotient, "sin": self._wave, "cos": self._wave}
        for slot, instruction in enumerate(tape.code, tape.first_result):
            self.op = instruction.op
            self.seen.append(rules.get(instruction.op, self._atom)(slot, list(instruction.args)))
        needed = [self.seen[slot] for slot in self._needed()]
        harmonic = np.max([self.zero, *(need.harmonic for need in needed)], axis=0)
        low = np.min([self.zero, *(need.low for need in needed)], axis=0)
        high = np.max([self.zero, *(need.high for need in needed)], axis=0)
        apart = [frozenset(members(bits)) for bits in self.apart]
        survey.needs = [Need(int(harmonic[k]), int(low[k]), int(high[k]), apart[k]) for k in range(survey.count)]
        return survey

    def _needed(self) -> list[int]:
        """The slots that are worked out as polynomials: not the arguments of sine and cosine alone."""
        tape, wanted = self.polynomials.tape, set(self.polynomials.tape.results)
        for slot in range(tape.first_result + len(tape.code) - 1, tape.first_result - 1, -1):
            if slot in wanted and slot not in self.polynomials.waves:
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
            for first, second in (pair, pair[::-1]):
                for k in members(first):
                    self.apart[k] |= second
        low, high = a.low + b.low, a.high + b.high
        return Seen(a.harmonic + b.harmonic, low, high, a.powers | b.powers, a.all | b.all, a.single and b.single, None)

    def _quotient(self, slot: int, args: list[int]) -> Seen:
        a, b = (self.seen[arg] for arg in args)
        if not b.all and b.linear and b.linear.offset:
            return Seen(
                a.harmonic, a.low, a.high, a.powers, a.all, a.single, a.linear and a.linear.times(1 / b.linear.offset)
            )
        if b.all & ~self.polynomials.fixed:
            self._refuse()
        if not b.single:
            return self._multiplied(a, self._new_atom(slot, b, args[1]))
        for k in members(b.powers):
            self.apart[k] |= 1 << k
        return self._multiplied(a, Seen(b.harmonic, -b.high, -b.low, b.powers, b.all, True, None))

    def _wave(self, slot: int, args: list[int]) -> Seen:
        a = self.seen[args[0]]
        whole = a.linear is not None and all(factor == round(factor) for factor in a.linear.factors.values())
        if not a.all & ~self.polynomials.fixed and not whole:
            return self._new_atom(slot, a)
        if a.linear is None:
            self._refuse()
        for k, factor in a.linear.factors.items():
            if factor != round(factor):
                called = f"coordinate {self.polynomials.names[k]!r}"
                raise ArgumentError(f"sine and cosine of {factor:g} times {called}, which is no whole multiple")
        self.polynomials.waves[slot] = a.linear
        harmonic = self.zero.copy()
        for k, factor in a.linear.factors.items():
            harmonic[k] = abs(round(factor))
        return Seen(harmonic, self.zero, self.zero, 0, a.all, False, None)

    def _atom(self, slot: int, args: list[int]) -> Seen:
        a = self.seen[args[0]]
        every = 0
        for arg in args:
            every |= self.seen[arg].all
        known = self.polynomials.signs
        if every & ~self.polynomials.fixed and not (self.op in {"sign", "abs"} and a.single and not every & ~known):
            self._refuse()
        return self._new_atom(slot, Seen(self.zero, self.zero, self.zero, 0, every, True, None))

    def _new_atom(self, slot: int, of: Seen, divisor: int | None = None) -> Seen:
        """A variable for the function of parameters in a slot, or for one divided by that in another slot."""
        if divisor is not None and divisor in self.divisors:
            k = self.divisors[divisor]
        else:
            k = self.polynomials.count
            self.polynomials.count += 1
            if divisor is not None:
                self.divisors[divisor] = k
        self.polynomials.atoms[slot] = k
        variable = self._variable(k)
        if of.all & ~self.polynomials.fixed:
            self.polynomials.signs |= 1 << k
        else:
            self.polynomials.fixed |= 1 << k
        return variable

    def _refuse(self) -> NoReturn:
        name = self.polynomials.tape.name
        raise ArgumentError(f"{name} takes {self.op} of coordinates, which is no sum of sines and cosines")


def expanded(surveyed: Survey, fields: Fields) -> tuple[list[Polynomial], Mapping[int, tuple[str, tuple[Polynomial, ...]]]]:
    """The results of a tape as polynomials.

    Parameters
    ----------
    surveyed : Survey
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
    return _Evaluation(surveyed, fields).done()


_SUMS: dict[str, Callable[..., Polynomial]] = {"add": operator.add, "sub": operator.sub, "neg": operator.neg}


class _Evaluation:
    def __init__(self, surveyed: Survey, fields: Fields) -> None:
        self.polynomials, self.fields, self.tape = surveyed, fields, surveyed.tape
        self.values: dict[int, Polynomial] = {}
        self.atoms: dict[int, tuple[str, tuple[Polynomial, ...]]] = {}
        self.last = self._last_uses()

    def done(self) -> tuple[list[Polynomial], Mapping[int, tuple[str, tuple[Polynomial, ...]]]]:
        tape, first = self.tape, self.tape.first_result
        for slot, instruction in enumerate(tape.code, first):
            if slot in self.last:
                self.values[slot] = self._value(slot, instruction)
                for arg in set(instruction.args):
                    if self.last.get(arg) == slot:
                        self.values.pop(arg, None)
        return [self._of(slot) for slot in tape.results], self.atoms

    def _last_uses(self) -> dict[int, int]:
        """Last instruction that reads each needed slot."""
        end = self.tape.first_result + len(self.tape.code)
        last = dict.fromkeys(self.tape.results, end)
        for slot in range(end - 1, self.tape.first_result - 1, -1):
            if slot in last and slot not in self.polynomials.waves:
                for arg in self.tape.code[slot - self.tape.first_result].args:
                    last.setdefault(arg, slot)
        return last

    def _of(self, slot: int) -> Polynomial:
        """Value of a slot."""
        if slot >= self.tape.first_result:
            return self.values[slot]
        value = self.tape.constant(slot)
        return self._variable(slot) if value is None else number(value, self.fields.words)

    def _variable(self, k: int) -> Polynomial:
        return number(1.0, self.fields.words).moved(self.fields.step(k))

    def _value(self, slot: int, instruction: Instruction) -> Polynomial:
        if slot in self.polynomials.waves:
            return self._wave(self.polynomials.waves[slot], instruction.op)
        if slot in self.polynomials.atoms:
            return self._atom(slot, instruction)
        if instruction.op == "mul":
            return self._product(instruction.args)
        args = [self._of(arg) for arg in instruction.args]
        if instruction.op == "div":
            divisor = args[1]  # a single term
            return args[0] * Polynomial(-divisor.keys, 1.0 / divisor.values, 1.0 / np.abs(divisor.values))
        return _SUMS[instruction.op](*args)

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

    def _atom(self, slot: int, instruction: Instruction) -> Polynomial:
        k = self.polynomials.atoms[slot]
        args = [self._of(arg) for arg in instruction.args]
        if instruction.op == "div":
            self.atoms[k] = ("div", (args[1],))
            return args[0] * self._variable(k)
        self.atoms[k] = (instruction.op, tuple(args))
        return self._variable(k)


#: Terms times points that are worked out at a time.
_AT_ONCE = 1 << 18

Atoms = Mapping[int, tuple[str, tuple[Polynomial, ...]]]


@dataclass(frozen=True, eq=False, repr=False)
class Expansion:
    """Results of algorithms for one mechanism, as polynomials.

    Attributes
    ----------
    tree : Tree
        The mechanism.
    names : tuple of str
        What the variables are called, as far as they are inputs: coordinates ``q1``, speeds ``qd1``, accelerations ``qdd1``,
        then the symbols of the mechanism. After them come the atoms.
    needs : tuple of Need
        What each variable is used for.
    fields : Fields
        How the keys are made.
    atoms : mapping of int to (str, tuple of Polynomial)
        The functions of symbols that are no polynomials, by variable.
    results : mapping of str to ndarray
        Arrays of polynomials.
    """

    tree: Tree
    names: tuple[str, ...]
    needs: tuple[Need, ...]
    fields: Fields
    atoms: Atoms
    results: Mapping[str, Array]

    @cached_property
    def symbols(self) -> frozenset[int]:
        """The variables that are symbols of the mechanism, or functions of these: all others change with the motion."""
        first = self.tree.nq + 2 * self.tree.nv
        symbols = set(range(first, len(self.names)))
        for k, (_, parts) in self.atoms.items():  # each after those that it depends on
            tables = [self.fields.exponents(part.keys, harmonic) for part in parts for harmonic in (False, True)]
            if symbols.issuperset(j for table in tables for j in np.flatnonzero(table.any(axis=0)).tolist()):
                symbols.add(k)
        return frozenset(symbols)

    def without(self, symbols: Collection[str]) -> Expansion:
        """The same where these symbols are 0."""
        gone = [self.names.index(name) for name in symbols if name in self.names]

        def kept(entry: Polynomial) -> Polynomial:
            return entry.part(np.asarray(~self.fields.exponents(entry.keys, False, gone).any(axis=1)))

        return replace(
            self, results={name: np.vectorize(kept, otypes=[object])(array) for name, array in self.results.items()}
        )

    @cached_property
    def christoffel(self) -> Array:
        """Christoffel symbols (n, n, n) of the mass matrix: C_ij = sum_k c_ijk qd_k; c_ijk and c_ikj are one object.

        c_ijk = (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) / 2: R. M. Murray, Z. Li, S. S. Sastry, *A Mathematical Introduction
        to Robotic Manipulation* (1994), eq. 4.23.
        """
        return christoffel(
            self.results["M"],
            lambda entry, k: self.derivative(entry, k).scaled(0.5),
            lambda first, second, less: total([first, second, -less]),
        )

    def derivative(self, value: Polynomial, variable: int) -> Polynomial:
        """The derivative of a polynomial by one variable."""
        parts = []
        if self.needs[variable].harmonic:
            h = self.fields.exponent(value.keys, variable, True)
            parts.append(Polynomial(value.keys, value.values * (1j * h), value.sizes * np.abs(h)).part(h != 0))
        if self.needs[variable].low or self.needs[variable].high:
            p = self.fields.exponent(value.keys, variable, False)
            lowered = Polynomial(value.keys, value.values * p, value.sizes * np.abs(p)).part(p != 0)
            parts.append(lowered.moved(-self.fields.step(variable)))
        return total(parts) if parts else value.part(slice(0))


def christoffel(mass: Any, derivative: Callable[[Any, int], Any], combined: Callable[[Any, Any, Any], Any]) -> Array:
    """Christoffel symbols (n, n, n) of a symmetric matrix (n, n) of functions; c_ijk and c_ikj are one object.

    Parameters
    ----------
    mass : sequence of sequence
        The matrix; its upper half is read.
    derivative : callable
        Of an entry by the coordinate k.
    combined : callable
        (a + b - c) / 2 of three derivatives, where `derivative` has not halved them already.
    """
    n = len(mass)
    rate = {(i, j, k): derivative(mass[i][j], k) for i in range(n) for j in range(i, n) for k in range(n)}
    rate |= {(j, i, k): part for (i, j, k), part in rate.items()}
    symbols = np.empty((n, n, n), dtype=object)
    for i, j in np.ndindex(n, n):
        for k in range(j, n):
            symbols[i, j, k] = symbols[i, k, j] = combined(rate[i, j, k], rate[i, k, j], rate[j, k, i])
    return symbols


def expansion(tree: Tree, results: Mapping[str, tuple[str, Mapping[str, Any]]]) -> Expansion:
    """Trace algorithms for a mechanism and expand their results.

    Parameters
    ----------
    tree : Tree
        The mechanism, of numbers and symbols.
    results : mapping of str to (str, mapping)
        By name of a result the algorithm that gives it, and its options.

    Raises
    ------
    ArgumentError
        Where a result is no polynomial in sines, cosines, coordinates and functions of symbols, or has too many terms.
    """
    words = coordinate_words(tree)
    variables = {key: _symbols(group) for key, group in words.items()}
    arrays = {}
    for name, (algorithm, options) in results.items():
        declared = find(algorithm)
        inputs = (variables[key] for key in declared.inputs)
        arrays[name] = np.asarray(declared.function(tree, *inputs, **options), dtype=object)
    return expansion_of(tree, arrays, variables)


def expansion_of(tree: Tree, results: Mapping[str, Array], variables: Mapping[str, Array] | None = None) -> Expansion:
    """Expand expressions in coordinates, velocities, accelerations and symbols of a mechanism.

    Parameters
    ----------
    tree : Tree
        The mechanism.
    results : mapping of str to array of Expr
        What to multiply out.
    variables : mapping of str to array of Expr, optional
        The coordinates ``q`` and their derivatives ``qd`` and ``qdd`` in it; without, there are only symbols.
    """
    words = coordinate_words(tree)
    inputs = dict(variables or {key: _symbols(group) for key, group in words.items()})
    if tree.symbols:
        inputs["parameters"] = np.array(tree.parameters_used, dtype=object)
    names = tuple(word for group in words.values() for word in group) + tuple(tree.symbols)
    tape = Tape.from_graph("equations", inputs, results)
    speeds, first = range(tree.nq, tree.nq + tree.nv), tree.nq + 2 * tree.nv
    surveyed = survey(tape, (*tree.coordinate_names, *names[tree.nq :]), range(first, len(names)), speeds)
    fields = Fields.of(surveyed.needs)
    values, atoms = expanded(surveyed, fields)
    elements = np.empty(len(values), dtype=object)
    elements[:] = values
    return Expansion(tree, names, tuple(surveyed.needs), fields, atoms, by_output(elements, tape.outputs))


def _symbols(words: Sequence[str]) -> Array:
    return np.array([symbol(word) for word in words], dtype=object)


def coordinate_words(tree: Tree) -> dict[str, list[str]]:
    """Names of coordinates, velocities and accelerations: ``q1``, ``qd1``, ``qdd1``, those of a floating base first."""
    base = [[name for name, _ in tree.columns(group)[: -tree.n or None]] for group in ("q", "qd", "qdd")]
    numbers = range(1, tree.n + 1)
    return {key: [*words, *(f"{key}{k}" for k in numbers)] for key, words in zip(("q", "qd", "qdd"), base, strict=True)}


def values(expansion: Expansion, entries: Sequence[Polynomial], points: FloatArray) -> FloatArray:
    """The values (K, E) of E polynomials at K points.

    Parameters
    ----------
    expansion : Expansion
        What they belong to.
    entries : sequence of Polynomial
        The polynomials.
    points : ndarray (K, V)
        The inputs of the expansion: coordinates, speeds, accelerations, symbols.
    """
    return _values(expansion, entries, known_values(expansion, points))


def known_values(expansion: Expansion, points: FloatArray) -> FloatArray:
    """The values (K, V) of all variables, those of the functions of symbols among them, at points (K, inputs)."""
    known = np.zeros((len(points), len(expansion.needs)))
    known[:, : points.shape[1]] = points
    for k, (name, args) in expansion.atoms.items():  # each after those that it depends on
        arguments = _values(expansion, args, known)
        if name == "div":
            known[:, k] = 1.0 / arguments[:, 0]
        else:
            known[:, k] = [OPERATIONS[name].value(*row) for row in arguments.tolist()]
    return known


def _values(expansion: Expansion, entries: Sequence[Polynomial], known: FloatArray) -> FloatArray:
    total = np.zeros((len(known), len(entries)))
    for column, entry in enumerate(entries):
        harmonics = expansion.fields.exponents(entry.keys, True)
        powers = expansion.fields.exponents(entry.keys, False)
        step = max(1, _AT_ONCE // max(1, len(known)))
        for start in range(0, entry.terms, step):
            some = slice(start, start + step)
            angle = known @ harmonics[some].T
            term = np.cos(angle) * entry.values[some].real - np.sin(angle) * entry.values[some].imag
            for k in np.flatnonzero(powers[some].any(axis=0)):
                term *= known[:, k : k + 1] ** powers[some, k]
            total[:, column] += term.sum(axis=1)
    return total


#: Tolerance of parallel axes, sine of the angle.
PARALLEL = 1e-12


@dataclass(frozen=True)
class Group:
    """Coordinates of joints whose axes stay parallel.

    Attributes
    ----------
    coordinates : tuple of int
        Which they are.
    sums : tuple of dict
        The angle of each body against what carries the group, as whole multiples by coordinate: q2, q2 + q3, ...
    """

    coordinates: tuple[int, ...]
    sums: tuple[dict[int, int], ...]


def parallel_groups(tree: Tree) -> list[Group]:
    """Rotational coordinates of a mechanism, grouped by parallel axes, in order.

    Where joints follow others, groups that share a coordinate are one.

    Examples
    --------
    >>> from linkwise import robots
    >>> [group.coordinates for group in parallel_groups(robots.puma560())]
    [(0,), (1, 2), (3,), (4,), (5,)]
    """
    joints = coupling(tree)
    axes: list[tuple[int, Array, dict[int, int]] | None] = []  # the group, its axis, and the angle about it, of each body
    sums: list[list[dict[int, int]]] = []
    for body in moving_bodies(joints.uncoupled).bodies:
        above = axes[body.parent] if body.parent >= 0 else None
        seen = None if above is None else body.placement[:3, :3].T @ above[1]
        if not body.turn:
            axes.append(None if above is None or body.joint is not None else (above[0], np.asarray(seen), above[2]))
            continue
        row = joints.spread[body.speed, tree.nv - tree.n :]
        turned = {int(k) + joints.base: round(row[k]) for k in np.flatnonzero(row)}
        sign = 0 if seen is None else _along(seen)
        if above is None or not sign:
            sums.append([])
            above = (len(sums) - 1, np.zeros(3), {})
            sign = 1
        angle = {k: above[2].get(k, 0) + sign * turned.get(k, 0) for k in {**above[2], **turned}}
        angle = {k: factor for k, factor in angle.items() if factor}
        sums[above[0]].append(angle)
        axes.append((above[0], np.array([0.0, 0.0, float(sign)]), angle))
    return _apart(sums)


def _along(axis: Array) -> int:
    """1 or -1 where a unit vector is z or -z, else 0."""
    if any(isinstance(element, Expr) for element in axis):
        return 0
    x, y, z = (float(element) for element in axis)
    return 0 if np.hypot(x, y) > PARALLEL else 1 if z > 0 else -1


def _apart(sums: list[list[dict[int, int]]]) -> list[Group]:
    """Groups without common coordinates."""
    left: list[tuple[set[int], list[dict[int, int]]]] = []
    for group in sums:
        has, all_sums = {k for angle in group for k in angle}, group
        for other in [other for other in left if other[0] & has]:
            left.remove(other)
            has, all_sums = has | other[0], other[1] + all_sums
        if has:
            left.append((has, all_sums))
    return [Group(tuple(sorted(has)), tuple(group)) for has, group in sorted(left, key=lambda pair: min(pair[0]))]
