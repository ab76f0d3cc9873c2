"""The base parameters in closed form: which combinations of inertial parameters determine all efforts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.dynamics.base_parameters.grouping import grouped, rotor_speeds
from linkwise.dynamics.base_parameters.identifiability import IdentifiabilityConditions, identifiability_conditions
from linkwise.dynamics.base_parameters.regressor_columns import RegressorProblem, problem_of, symbolic_geometry
from linkwise.dynamics.base_parameters.row_reduction import Point, at, reduced
from linkwise.errors import ArgumentError
from linkwise.expr.expand import Monomial, ranked, terms
from linkwise.expr.node import Expr, parameter, text
from linkwise.model.body import Bodies, moving_bodies
from linkwise.model.coupling import coupling
from linkwise.model.parameters import parameter_names, parameter_values
from linkwise.model.symbolic import any_nonzero
from linkwise.model.tree import Tree, require_tree
from linkwise.spatial.scalar import Array, array
from linkwise.spatial.validation import flag

#: Random points at which conditions with symbols are compared: equal values depend on no symbol.
POINTS = 3

#: A coefficient below this is rounding of zero, where columns are of the size of 1.
_ROUNDING = 1e-12

#: A number this close to a whole one, relative to it where it is large, is whole.
_WHOLE = 1e-12


@dataclass(frozen=True, eq=False)
class BaseForms:
    """Combinations of inertial parameters that joint efforts can identify, and that determine them.

    Attributes
    ----------
    matrix : ndarray (b, P)
        How they come from all parameters: numbers, or expressions in the symbols of lengths and angles.
    columns : ndarray (b,)
        The column of the regressor that each one takes: ``regressor[..., columns] @ values`` are the efforts.
    unseen : tuple of str
        The parameters that have no effect at all.
    parameters : tuple of str
        Names of all parameters (P,), see `linkwise.model.parameters`.
    numbers : ndarray (P,)
        Their values on this mechanism: numbers or expressions.
    minimal : bool
        Whether there are no fewer. False where joints follow others, or loops are closed: these are then the combinations of
        the mechanism whose joints all move by themselves; they determine all efforts, but some may not be distinguishable.

    Examples
    --------
    >>> from linkwise import robots
    >>> made = base_forms(robots.planar_2r())
    >>> made.matrix.shape, made.names[0]
    ((6, 20), 'MX1 + M1 + M2')
    """

    matrix: Array
    columns: npt.NDArray[np.int64]
    unseen: tuple[str, ...]
    parameters: tuple[str, ...]
    numbers: Array
    minimal: bool

    def __len__(self) -> int:
        return len(self.columns)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Formula of each combination (b,): ``"XX2 - YY2 - a2^2 M3"``."""
        return tuple(map(combination_text, self.terms))

    @property
    def values(self) -> Array:
        """Values on this mechanism (b,): numbers, or expressions in its symbols."""
        return array(_times(self.matrix, self.numbers))

    @property
    def expressions(self) -> Array:
        """Combinations (b,) as expressions in symbols of `linkwise.symbols` named like the parameters."""
        return _times(self.matrix, np.array([parameter(name) for name in self.parameters], dtype=object))

    @property
    def terms(self) -> tuple[tuple[tuple[Any, str], ...], ...]:
        """Coefficients and parameters of each combination, beginning with the parameter whose column is kept."""
        return tuple(
            combination(row, int(column), self.parameters) for row, column in zip(self.matrix, self.columns, strict=True)
        )

    def text(self) -> str:
        """One combination a line, under a title; the parameters without effect at the end."""
        return "\n".join([repr(self), *([f"no effect: {' '.join(self.unseen)}"] if self.unseen else [])])

    def __repr__(self) -> str:
        least = "" if self.minimal else " (joints follow others, or loops: some may not be distinguishable)"
        return "\n".join([f"{len(self)} base parameters of {len(self.parameters)}{least}", *self.names])


@contextmanager
def of_bounded_length(tree: Tree) -> Iterator[None]:
    """Name the mechanism in the error of expressions that grow too long."""
    try:
        yield
    except ArgumentError as error:
        advice = "put numbers in the place of some of its symbols, see substitute()"
        raise ArgumentError(f"the base parameters of {tree.name!r} are too long in closed form: {error}; {advice}") from None


def base_forms(tree: Tree, *, resting: bool = True) -> BaseForms:
    """The base parameters of a chain or a tree in closed form, also where its numbers are symbols.

    Parameters
    ----------
    tree : Tree
        Any joints, fixed or floating base, rotors on links. With closed loops the forms are those of the tree, cut open: the
        efforts of the driven coordinates are G' times those of the tree, whatever closes the loops, so these determine them
        too; `base_parameters` counts the fewest, which depend on lengths by more than sums and products.
    resting : bool
        Whether joints rest in some motions. Without rest, Coulomb friction of a joint that always feels the same load
        cannot be distinguished from that load, and is grouped with it.

    Returns
    -------
    BaseForms
        Names, coefficients, what has no effect.

    Raises
    ------
    ArgumentError
        Where the closed form becomes too long.

    Notes
    -----
    From the tips to the base, what the joint of a body does not feel of it moves to its parent (M. Gautier, W. Khalil,
    "Direct calculation of minimum set of inertial parameters of serial robots", IEEE Trans. Robotics and Automation 6(3),
    1990). Which parameters have an effect follows from the motions that the joints before it allow, see
    `linkwise.dynamics.base_parameters.identifiability`. Parameters are taken from the base to the tips, and what depends on
    those before is grouped with them. With symbols this holds for all values of them but special ones: an angle that happens
    to be right may leave fewer.

    Examples
    --------
    >>> import linkwise as lw
    >>> a1, a2 = lw.symbols("a1 a2")
    >>> arm = lw.Mechanism.from_dh([(0, 0, a1, 0), (0, 0, a2, 0)], convention="standard", gravity=(0, -9.81, 0))
    >>> print(base_forms(arm))
    6 base parameters of 20
    MX1 + a1 M1 + a1 M2
    MY1
    ZZ1 - a1^2 M1 - a1^2 M2
    MX2 + a2 M2
    MY2
    ZZ2 - a2^2 M2
    """
    require_tree(tree, "base_forms: mechanism")
    opened = tree.replace(loops=()) if tree.loops else tree
    free = coupling(opened).uncoupled if opened.coupled else opened
    bodies = moving_bodies(free)
    point = points_for(free)[0]
    with of_bounded_length(tree):
        matrix, columns = solved(free, bodies, problem_of(free, bodies, point), flag("resting", resting))
    names = parameter_names(tree)
    seen = np.array([any(isinstance(value, Expr) or value != 0 for value in column) for column in matrix.T], dtype=bool)
    return BaseForms(
        matrix,
        columns,
        tuple(name for name, there in zip(names, seen, strict=True) if not there),
        names,
        parameter_values(tree),
        not (tree.coupled or tree.loops),
    )


def solved(tree: Tree, bodies: Bodies, problem: RegressorProblem, resting: bool) -> tuple[Array, npt.NDArray[np.int64]]:
    """The matrix (b, P) of the combinations, and the columns (b,) that they take."""
    first = tree.nv - tree.n  # (Coulomb friction that changes steadily is none of a load's)
    steady = {first + drive.coordinate for drive in tree.drives if any_nonzero(drive.motor.transition_speed)}
    loaded = () if resting else tuple({drive.speed for drive in problem.columns.drives} - steady)
    plain = not symbolic_geometry(tree, bodies)
    point = {} if plain else points_for(tree)[0]
    conditions = _conditions(tree, problem, loaded, plain)
    rows, columns = grouped(problem.built, problem.columns, conditions, problem.load, point)
    if plain:
        rows = np.where(np.abs(rows) < _ROUNDING, 0.0, rows)
        rows = rows * problem.sizes / problem.sizes[columns, None]
    return array(_whole(rows)), columns


def points_for(tree: Tree) -> list[Point]:
    """Random numbers for the symbols of a mechanism."""
    rng = np.random.default_rng(0)
    symbols = tree.parameters_used
    return [dict(zip(symbols, rng.uniform(0.3, 1.3, len(symbols)).tolist(), strict=True)) for _ in range(POINTS)]


def _conditions(
    tree: Tree, problem: RegressorProblem, loaded: Sequence[int], plain: bool
) -> list[IdentifiabilityConditions]:
    """Conditions of each body: in numbers wherever they depend on no symbol."""
    result, gravity, rotors = problem.built, problem.gravity, rotor_speeds(problem.built)
    if plain:
        return identifiability_conditions(result, gravity, rotors, loaded, {})
    points = points_for(tree)
    several = [
        identifiability_conditions(_bodies_at(result, point), at(gravity, point), rotors, loaded, {}) for point in points
    ]
    same = [_agreeing(item) for item in zip(*several, strict=True)]
    if all(same):
        return [item for item in same if item is not None]
    exact = identifiability_conditions(result, gravity, rotors, loaded, points[0])
    return [fixed or item for fixed, item in zip(same, exact, strict=True)]


def _bodies_at(moving: Bodies, point: Point) -> Bodies:
    """The same bodies with numbers for the symbols of their geometry."""

    def numbered(value: Any) -> Any:
        return at(np.asarray(value, dtype=object), point)[()]

    bodies = [replace(body, placement=numbered(body.placement), pitch=float(numbered(body.pitch))) for body in moving.bodies]
    return replace(moving, bodies=tuple(bodies))


def _agreeing(several: Sequence[IdentifiabilityConditions]) -> IdentifiabilityConditions | None:
    """The conditions on a body, if they are the same at all points."""
    rows = [reduced(item.rows, range(item.rows.shape[1]), {})[0] for item in several]
    constants = [np.zeros(0) if item.constant is None else item.constant for item in several]
    for result in (rows, constants):
        if any(other.shape != result[0].shape or np.abs(other - result[0]).max(initial=0.0) > 1e-9 for other in result[1:]):
            return None
    return IdentifiabilityConditions(_whole(rows[0]), None if several[0].constant is None else _whole(constants[0]))


def _whole(values: Array) -> Array:
    """Round numbers within rounding of integers; expressions are unchanged."""
    result = values.copy()
    numeric = np.array([not isinstance(value, Expr) for value in values.flat], dtype=bool).reshape(values.shape)
    known = values[numeric].astype(float)
    nearest = np.rint(known) + 0.0
    near = np.abs(known - nearest) <= _WHOLE * np.maximum(1.0, 1e-3 * np.abs(known))
    result[numeric] = np.where(near, nearest, known)
    return result


def _times(matrix: Array, values: Array) -> Array:
    result = np.empty(len(matrix), dtype=object)
    for k, row in enumerate(matrix):
        result[k] = sum((row[j] * values[j] for j in _nonzero(row)), 0.0)
    return result


def _nonzero(row: Array) -> list[int]:
    return [j for j, value in enumerate(row) if isinstance(value, Expr) or value != 0]


def combination(row: Array, column: int | None, names: Sequence[str]) -> tuple[tuple[Any, str], ...]:
    """Coefficients of a combination (P,) and their parameters, beginning with the one whose column is kept."""
    first = [] if column is None else [column]
    order = [*first, *(j for j in _nonzero(row) if j != column)]
    return tuple((row[j], names[j]) for j in order)


#: Coefficients, numbers or expressions, and their parameters.
Combination = Sequence[tuple[Any, str]]


def combination_text(parts: Combination) -> str:
    """Write a combination as a sum, its coefficients multiplied out.

    Examples
    --------
    >>> from linkwise.expr.node import parameter
    >>> a = parameter("a2")
    >>> combination_text([(1.0, "XX2"), (-1.0, "YY2"), (2.5 - a * a, "M3")])
    'XX2 - YY2 + 2.5 M3 - a2^2 M3'
    """
    line = ""
    for coefficient, name in parts:
        for monomial, number in ranked(terms(coefficient)):
            sign = ("-" if number < 0 else "") if not line else " - " if number < 0 else " + "
            line += sign + _product(abs(number), monomial, name)
    return line or "0"


def _product(number: float, monomial: Monomial, name: str) -> str:
    size = "" if number == 1 else f"{number:.6g}"
    above = [_power(factor, power) for factor, power in monomial if power > 0]
    below = [_power(factor, -power) for factor, power in monomial if power < 0]
    top = " ".join(part for part in (size, *above) if part)
    if below:
        top = f"{top or '1'}/{below[0] if len(below) == 1 else '(' + ' '.join(below) + ')'}"
    return f"{top} {name}" if top else name


def _power(factor: Expr, power: int) -> str:
    base = text(factor)
    if factor.op in {"add", "sub", "mul", "div", "neg"}:
        base = f"({base})"
    return base if power == 1 else f"{base}^{power}"
