"""Closed forms of kinematics and dynamics: every entry of a matrix written out, in symbols, numbers, and angles.

There are two. The explicit form has products of cosines and sines of angles, where those of joints with parallel axes are
added up (c23), collected by the symbols in which it is linear. The harmonic form has one cosine or sine of a whole
combination of angles in each term.

The explicit form has fewer terms where cosines and sines of sums become products: for two angles a and b (or one angle
twice), A cos(a + b) + B cos(a - b) is 2 A cos a cos b with A = B and -2 A sin a sin b with A = -B; in general it is
2 A cos a cos b + (B - A) cos(a - b), so that sin^2 stands for 1 - cos^2. The same holds for sines.

Small terms can be left out, with a bound of the error, as B. Armstrong, O. Khatib and J. Burdick abbreviated the equations
of the PUMA 560 ("The explicit dynamic model and inertial parameters of the PUMA 560 arm", ICRA 1986).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.algorithm import find, kernel_of
from linkwise.equations.closed_form.base_symbols import BaseSymbols, with_base_symbols
from linkwise.equations.closed_form.listing import Part, Terms, TermWriter, document, greatest, is_sine, terms_of
from linkwise.equations.document import Listing, Sum, by_output
from linkwise.equations.polynomials.expansion import Expansion, expansion, known_values, parallel_groups
from linkwise.equations.polynomials.polynomial import ROUNDING, IntArray, Vector, Wave, Waves, identified, joined
from linkwise.errors import ArgumentError, KernelError, members, shown
from linkwise.expr.evaluate import evaluate
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import FloatArray


def small_terms(
    form: ClosedFormResult,
    significance: float,
    values: Mapping[str, float] | None = None,
    speeds: Any = 1.0,
    of_row: float = 0.0,
) -> ClosedFormResult:
    """Drop the terms whose amplitude is below a part of the largest one of their entry, or of their row.

    Parameters
    ----------
    form : ClosedFormResult
        All terms.
    significance : float
        The part, from 0, which leaves all in, to below 1.
    values : mapping of str to float, optional
        Numbers for the symbols of the mechanism, by which amplitudes are compared.
    speeds : float or (nv,) array_like
        How fast each joint may be, rad/s or m/s: with these the terms of C are compared, and what is left out is bounded.
        Sliding coordinates are taken to be within their limits, or within 1 m where there are none.
    of_row : float
        The same of the largest term of the row, which in a dynamic matrix is what one joint feels.

    Raises
    ------
    ArgumentError
        Where there is no number for a symbol, or the significance is none.
    """
    for name, part in (("significance", significance), ("of_row", of_row)):
        if isinstance(part, bool) or not isinstance(part, (int, float)) or not 0 <= part < 1:
            raise ArgumentError(f"{name} is {shown(part)}; expected a number from 0 to below 1")
    if not significance and not of_row:
        return form
    speed = np.broadcast_to(np.abs(np.asarray(speeds, dtype=float)), (form.tree.nv,))
    weights = _weights(form, values or {}, speed)
    small = _small(form.data, weights, significance, of_row)
    kept, dropped = (replace(form.data, waves=form.data.waves.part(which)) for which in (~small, small))
    return replace(form, data=kept, dropped=dropped, weights=np.abs(weights), speed=speed)


def _weights(form: ClosedFormResult, values: Mapping[str, float], speed: FloatArray) -> FloatArray:
    """Signed product of symbols of each owner, and the magnitude of its velocities and coordinates."""
    tree = form.tree
    missing = [name for name in tree.symbols if name not in values]
    if missing:
        raise ArgumentError(f"to leave out small terms, values must have numbers for {members(missing)}")
    parameters = np.array([[float(values[name]) for name in tree.symbols]]).reshape(1, -1)
    reach = np.ones(tree.nq)
    if tree.n:
        limits = np.maximum(np.abs(tree.q_min), np.abs(tree.q_max))
        reach[tree.nq - tree.n :] = np.where(np.isfinite(limits), limits, 1.0)
    arrays = {"q": reach[None], "qd": speed[None], "qdd": np.ones((1, tree.nv)), "parameters": parameters}
    return np.asarray(form.data.monomials(form.known(arrays))[0])


def _small(terms: Terms, weights: FloatArray, significance: float, of_row: float) -> npt.NDArray[np.bool_]:
    """Mask of dropped terms, compared with all others of the same waves; cosine and sine of an angle count together."""
    waves = terms.waves
    if not terms.count:
        return np.zeros(0, dtype=bool)
    moving = [k for k in range(terms.powers.shape[1]) if k not in terms.expansion.symbols]
    _, motion = np.unique(terms.powers[:, moving], axis=0, return_inverse=True)
    rows = [terms.element[waves.owner], motion.reshape(-1)[waves.owner]]
    codes = waves.codes.T
    _, wave = np.unique(identified([*rows, *codes]), return_inverse=True)
    pair = list(codes)
    if len(codes) == 1:  # then cosine and sine of an angle are adjacent in the table
        pair = [codes[0] - is_sine(waves.tables[0])[codes[0]]]
    _, both = np.unique(identified([*rows, *pair]), return_inverse=True)
    wave, both = wave.reshape(-1), both.reshape(-1)
    first = np.unique(wave, return_index=True)[1]
    squares = np.bincount(wave, waves.values * weights[waves.owner]) ** 2
    amplitude = np.sqrt(np.bincount(both[first], squares))[both]
    in_row = terms.rows()[rows[0]]
    least = np.maximum(significance * greatest(rows[0], amplitude), of_row * greatest(in_row, amplitude))
    return np.asarray(amplitude < least)


#: Terms above which only one order of the groups is tried.
MANY = 30_000


#: Ways to write A cos(a + b) + B cos(a - b): as cos a cos b but where sin a sin b alone is enough; or always as one.
FREE, EVEN, ODD = range(3)


@dataclass(frozen=True)
class Pair:
    """A combination of angles that is a + b, with the two angles."""

    total: Vector
    a: Vector
    b: Vector

    @property
    def difference(self) -> tuple[Vector, int]:
        """A - b, its first multiple positive, and with which sign; zeros where a is b."""
        between = tuple(x - y for x, y in zip(self.a, self.b, strict=True))
        positive = _positive(between)
        return positive, 1 if positive == between else -1


def with_products(waves: Waves, sums: Sequence[Sequence[Vector]]) -> Waves:
    """Rewrite terms with the sums of angles of each group.

    Which group comes first decides how well it goes; each owner gets the order that leaves it the fewest terms, of some.

    Parameters
    ----------
    waves : Waves
        As `linkwise.equations.polynomials.polynomial.in_waves` gives them.
    sums : sequence of sequence of tuple
        For each group the combinations of its angles that are angles of their own.
    """
    pairs = [_pairs([_positive(vector) for vector in vectors]) for vectors in sums]
    waves = _with_all_products(waves, pairs)
    best = _rewritten(waves, pairs, range(len(sums)))
    owners = int(waves.owner.max(initial=-1)) + 1
    if waves.terms <= MANY:
        for first, style in product(range(len(sums)), (FREE, EVEN, ODD)):
            count = np.bincount(best.owner, minlength=owners)
            hard = waves.part(count[waves.owner] > 2)
            others = [k for k in range(len(sums)) if k != first]
            for order in (others, others[::-1]) if len(others) > 1 else (others,):
                other = _rewritten(_rewritten(hard, pairs, (first,), style), pairs, order)
                terms = np.bincount(other.owner, minlength=owners)
                better = (terms > 0) & (terms < np.bincount(best.owner, minlength=owners))
                best = joined(best.part(~better[best.owner]), other.part(better[other.owner]))
    return best.merged()


def _positive(vector: Vector) -> Vector:
    return vector if next((x for x in vector if x), 1) > 0 else tuple(-x for x in vector)


def _pairs(vectors: Sequence[Vector]) -> list[Pair]:
    """Sums of two vectors, with the first multiple positive, without duplicates."""
    pairs: dict[Vector, Pair] = {}
    for i, a in enumerate(vectors):
        for b in vectors[i:]:
            total = tuple(x + y for x, y in zip(a, b, strict=True))
            if next((x for x in total if x), 0) > 0 and total not in vectors:
                pairs.setdefault(total, Pair(total, a, b))
    return list(pairs.values())


def _with_all_products(waves: Waves, pairs: Sequence[Sequence[Pair]]) -> Waves:
    """The same with tables that have every wave that rewriting may need."""
    tables = tuple(map(list, waves.tables))
    for table, some in zip(tables, pairs, strict=True):
        for pair, name in product(some, ("cos", "sin")):
            if ((name, pair.total, 1),) in table:
                added = (_difference(pair, name), *_products(pair, name))
                table += [wave for wave in added if wave is not None and wave not in table]
    return replace(waves, tables=tables)


def _difference(pair: Pair, name: str) -> Wave | None:
    """The partner of the cosine or sine of a sum; None for sin 0."""
    vector, _ = pair.difference
    if any(vector):
        return ((name, vector, 1),)
    return () if name == "cos" else None


def _products(pair: Pair, name: str) -> tuple[Wave, Wave]:
    """Cos a cos b and sin a sin b for a cosine, sin a cos b and cos a sin b for a sine."""
    other = "sin" if name == "cos" else "cos"
    return _product((name, pair.a), ("cos", pair.b)), _product((other, pair.a), ("sin", pair.b))


def _product(first_wave: tuple[str, Vector], second_wave: tuple[str, Vector]) -> Wave:
    """Product of two waves; sines before cosines, so that equal products are identical."""
    if first_wave == second_wave:
        return ((*first_wave, 2),)
    first, second = sorted((first_wave, second_wave), key=lambda wave: (wave[0] == "cos", wave[1][::-1]))
    return (*first, 1), (*second, 1)


def _rewritten(waves: Waves, pairs: Sequence[Sequence[Pair]], order: Sequence[int], style: int = FREE) -> Waves:
    """Rewrite one group after the other."""
    for group in order:
        table = waves.tables[group]
        for pair, name in product(pairs[group], ("cos", "sin")):
            wave: Wave = ((name, pair.total, 1),)
            if wave in table and (waves.codes[:, group] == table.index(wave)).any():
                waves = _put_together(waves, group, pair, name, style)
    return waves


def _put_together(waves: Waves, group: int, pair: Pair, name: str, style: int) -> Waves:
    """Rewrite one cosine or sine of a sum, and its partner, in all terms."""
    table = waves.tables[group]
    even, odd = (table.index(wave) for wave in _products(pair, name))
    partner = _difference(pair, name)
    codes, values, sizes = waves.codes.copy(), waves.values.copy(), waves.sizes.copy()
    rows = np.flatnonzero(codes[:, group] == table.index(((name, pair.total, 1),)))
    if partner is None:  # sin 2a = 2 sin a cos a
        codes[rows, group], values[rows], sizes[rows] = even, 2 * values[rows], 2 * sizes[rows]
        return Waves(waves.owner, codes, values, sizes, waves.tables)
    sign = pair.difference[1] if name == "sin" else 1
    rows, others = _partners(waves, group, rows, table.index(partner))
    a, b = values[rows], sign * values[others]
    near = ROUNDING * (sizes[rows] + sizes[others])
    same, opposite = np.abs(a - b) <= near, np.abs(a + b) <= near
    other = opposite if style == FREE else np.full(len(rows), style == ODD)
    codes[rows, group] = np.where(other, odd, even)
    values[rows] = np.where(other, -2 * a if name == "cos" else 2 * a, 2 * a)
    values[others] = sign * np.where(other, np.where(opposite, 0.0, b + a), np.where(same, 0.0, b - a))
    sizes[others] = sizes[others] + sizes[rows]
    sizes[rows] *= 2
    kept = values != 0
    return Waves(waves.owner[kept], codes[kept], values[kept], sizes[kept], waves.tables)


def _partners(waves: Waves, group: int, rows: IntArray, partner: int) -> tuple[IntArray, IntArray]:
    """Terms that have a partner, which differs in the wave of one group only, and these partners."""
    others = waves.codes.copy()
    others[:, group] = 0
    ids = identified([waves.owner, *others.T])
    candidates = np.flatnonzero(waves.codes[:, group] == partner)
    order = candidates[np.argsort(ids[candidates], kind="stable")]
    place = np.searchsorted(ids[order], ids[rows])
    matched = place < len(order)
    matched[matched] = ids[order[place[matched]]] == ids[rows[matched]]
    return rows[matched], order[place[matched]]


#: A closed form that differs from the kernel by more, relative to the largest entry, is not handed out.
EXACT = 1e-11

#: Results of closed forms by algorithm, with the algorithm of each.
RESULTS = {
    "forward_kinematics": {"T": "forward_kinematics"},
    "jacobian": {"J": "jacobian"},
    "mass_matrix": {"M": "mass_matrix"},
    "coriolis_matrix": {"C": "coriolis_matrix"},
    "gravity_torque": {"tau": "gravity_torque"},
    "inverse_dynamics": {"M": "mass_matrix", "C": "coriolis_matrix", "g": "gravity_torque", "f": "friction_torque"},
    "regressor": {"Y": "regressor"},
    "closure_jacobian": {"J": "closure_jacobian"},
}

#: Results of which only the upper half has terms.
SYMMETRIC = frozenset({"M"})


@dataclass(frozen=True, eq=False, repr=False)
class ClosedFormResult:
    """An algorithm's result for one mechanism, in closed form.

    Made by `explicit` and `harmonic`, and compared with the kernels as it is made.

    Attributes
    ----------
    tree : Tree
        The mechanism.
    quantity : str
        The algorithm. ``"inverse_dynamics"`` is M qdd + C qd + g + f, each in closed form.
    form : {"explicit", "harmonic"}
        Which of the two it is.
    data : Terms
        The terms, as arrays.
    residual : float
        The largest difference from the kernels at random points, relative to the largest entry of a result; of what was
        dropped it does not speak.
    dropped : Terms or None
        The terms that were left out.
    weights : ndarray or None
        By owner of these, how large its speeds and sliding coordinates can be.
    based : BaseSymbols or None
        The base parameters in which it is written.
    speed : ndarray (nv,) or None
        The greatest speeds for which terms were left out; None for 1.
    """

    tree: Tree
    quantity: str
    form: str
    data: Terms
    options: Mapping[str, Any] = field(default_factory=dict)
    residual: float = 0.0
    dropped: Terms | None = None
    weights: FloatArray | None = None
    based: BaseSymbols | None = None
    speed: FloatArray | None = None

    @property
    def terms(self) -> dict[str, int]:
        """Number of terms of each result; of a symmetric matrix the upper half.

        In the harmonic form cosine and sine of one combination of angles count as one: they are one wave.
        """
        return {name: int(count.sum()) for name, count in self.data.counts(pairs=self.form == "harmonic").items()}

    @property
    def entries(self) -> dict[str, Any]:
        """Each result as an array of `linkwise.equations.document.Sum`; of a symmetric matrix the upper half."""
        sums = TermWriter(self.data.expansion).sums(self.data)
        flat = np.array([*(sums.get(place, Sum()) for place in range(self.data.size)), None], dtype=object)
        return by_output(flat[:-1], self.data.shapes)

    @property
    def speeds(self) -> FloatArray:
        """Velocity limits (nv,) for which `bounds` are valid."""
        return np.ones(self.tree.nv) if self.speed is None else self.speed

    @property
    def assumed(self) -> str:
        """Range of motions for which `bound` is valid."""
        phrases = ["sliding coordinates within their limits, or 1 m"] if any(self.tree.is_length) else []
        if "C" in RESULTS[self.quantity]:
            further = " and accelerations up to 1" if self.quantity == "inverse_dynamics" else ""
            phrases.append(f"speeds up to {_words(self.speeds)}{further}")
        return " with ".join(phrases)

    @property
    def bounds(self) -> dict[str, FloatArray]:
        """Upper bound of the error of each entry: the sum of the dropped amplitudes.

        That of C at the speeds that were given when terms were left out, 1 by default.
        """
        if self.dropped is None or self.weights is None:
            return {name: np.zeros(shape) for name, shape in self.data.shapes.items()}
        return self.dropped.totals(np.abs(self.dropped.waves.values) * self.weights[self.dropped.waves.owner])

    @property
    def bound(self) -> float:
        """The largest of `bounds`; of the inverse dynamics that of the efforts, with accelerations of 1 too."""
        bounds = self.bounds
        if self.quantity == "inverse_dynamics":
            return float(self.effort_bounds(self.speeds, np.ones(self.tree.nv)).max(initial=0.0))
        return max((float(elements.max(initial=0.0)) for elements in bounds.values()), default=0.0)

    def effort_bounds(self, qd: Any, qdd: Any) -> FloatArray:
        """Upper bound (nv,) of the error of each effort of the inverse dynamics.

        Parameters
        ----------
        qd, qdd : (nv,) array_like
            The greatest speeds, at most those for which terms were left out, and accelerations.
        """
        bounds = self.bounds
        mass, speeds = np.triu(bounds["M"]) + np.triu(bounds["M"], 1).T, np.asarray(qd)
        if np.any(np.abs(speeds) > self.speeds):
            raise ArgumentError(f"speeds are {shown(speeds.tolist())}; bounds are known up to {self.speeds.tolist()}")
        return np.asarray(mass @ np.abs(qdd) + bounds["C"] @ np.abs(qd) + bounds["g"] + bounds["f"])

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence on the dropped terms."""
        if self.dropped is None or not self.dropped.count:
            return ()
        left = f"{self.dropped.count} small terms are left out; no element is off by more than {self.bound:.3g}"
        return (f"{left}{', with ' if self.assumed else ''}{self.assumed}.",)

    def __repr__(self) -> str:
        counts = ", ".join(f"{count} in {name}" for name, count in self.terms.items())
        return f"<ClosedFormResult of {self.quantity}, {self.tree.name}, {self.form}: terms {counts}>"

    def listing(self) -> Listing:
        """The printed listing."""
        return document(self.tree, self.data, self.based, harmonic=self.form == "harmonic", notes=self.notes)

    def __call__(self, *values: Any) -> FloatArray:
        """Evaluate at numbers: the arguments of the kernel of the same name, then the values of the symbols."""
        names = [*find(self.quantity).inputs, *(("parameters",) if self.tree.symbols else ())]
        if len(values) != len(names):
            raise ArgumentError(f"{self.quantity} takes {members(names)}; {len(values)} were given")
        arrays = [np.asarray(array, dtype=float) for array in values]
        batch = np.broadcast_shapes(*(array.shape[:-1] for array in arrays))
        flat = [np.broadcast_to(array, (*batch, array.shape[-1])).reshape(-1, array.shape[-1]) for array in arrays]
        inputs = dict(zip(names, flat, strict=True))
        results = self.results(inputs)
        value = next(iter(results.values()))
        if self.quantity == "inverse_dynamics":
            value = (results["M"] @ inputs["qdd"][..., None] + results["C"] @ inputs["qd"][..., None])[..., 0]
            value = value + results["g"] + results["f"]
        return np.asarray(value.reshape(*batch, *value.shape[1:]))

    def results(self, arrays: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
        """Results (K, ...) for inputs (K, ...) by name; missing ones are 0."""
        values = self.data.values(self.known(arrays))
        for name in SYMMETRIC & values.keys():
            values[name] = np.triu(values[name]) + np.swapaxes(np.triu(values[name], 1), -1, -2)
        return values

    def known(self, arrays: Mapping[str, FloatArray]) -> FloatArray:
        """Values (K, V) of all variables, from inputs (K, ...) by name."""
        count = len(next(iter(arrays.values())))
        points = {name: arrays.get(name, np.zeros((count, size))) for name, size in input_sizes(self.tree).items()}
        if self.based is not None:
            points["parameters"] = self.based.parameters(self.tree, points["parameters"])
        return known_values(self.data.expansion, np.hstack(list(points.values())))


def _words(values: FloatArray) -> str:
    """Numbers in a row; one where they are all the same."""
    return f"{values[0]:g}" if np.ptp(values) == 0 else ", ".join(f"{value:g}" for value in values)


def input_sizes(tree: Tree) -> dict[str, int]:
    """Sizes of the inputs of an expansion."""
    return {"q": tree.nq, "qd": tree.nv, "qdd": tree.nv, "parameters": len(tree.symbols)}


def explicit(tree: Tree, quantity: str, **options: Any) -> ClosedFormResult:
    """Write an algorithm's result explicitly: every entry a sum of products of symbols, cosines and sines.

    Parameters
    ----------
    tree : Tree
        The mechanism, of numbers and symbols.
    quantity : str
        One of `RESULTS`.
    significance, values, speeds, of_row
        Which small terms are left out: see `linkwise.equations.closed_form.closed_form.small_terms`.
    base : bool
        Whether to write it in base parameters (see `linkwise.equations.closed_form.base_symbols`).
    **options
        Of the algorithm.

    Returns
    -------
    ClosedFormResult
        Compared with the kernels.

    Raises
    ------
    ArgumentError
        For something else; where there is no such form, or it is too long.
    KernelError
        Where it differs from the kernel.

    Examples
    --------
    >>> from linkwise import robots
    >>> from linkwise.equations.writers.text import to_text
    >>> arm = robots.planar_2r().symbolic("inertial", "lengths", "gravity")
    >>> print(to_text(explicit(arm, "gravity_torque").listing()))
    Abbreviations
      c1 = cos(q1)          c12 = cos(q1 + q2)
    <BLANKLINE>
    Gravity
      tau1 = M1·a1·g·c1 + MX1·g·c1 + M2·g·(a1·c1 + a2·c12) + MX2·g·c12
      tau2 = M2·a2·g·c12 + MX2·g·c12
    """
    return closed_form(tree, quantity, "explicit", **options)


def harmonic(tree: Tree, quantity: str, **options: Any) -> ClosedFormResult:
    """Write an algorithm's result in harmonic form.

    Parameters
    ----------
    tree : Tree
        The mechanism, of numbers and symbols.
    quantity : str
        One of `RESULTS`.
    significance, values, speeds, of_row
        Which small terms are left out: see `linkwise.equations.closed_form.closed_form.small_terms`.
    base : bool
        Whether to write it in base parameters.
    **options
        Of the algorithm.

    Returns
    -------
    ClosedFormResult
        Compared with the kernels before anything was left out; its `bound` says how far it may be off.

    Raises
    ------
    ArgumentError
        As for `explicit`; where small terms shall be left out and no numbers are
        known.

    Examples
    --------
    >>> from linkwise import robots
    >>> whole = harmonic(robots.puma560(), "mass_matrix")
    >>> short = harmonic(robots.puma560(), "mass_matrix", significance=0.01)
    >>> whole.terms, short.terms, short.bound < 0.05
    ({'M': 187}, {'M': 80}, True)
    """
    return closed_form(tree, quantity, "harmonic", **options)


def closed_form(
    tree: Tree,
    quantity: str,
    form: str = "explicit",
    *,
    significance: float = 0.0,
    values: Mapping[str, float] | None = None,
    speeds: Any = 1.0,
    of_row: float = 0.0,
    base: bool = False,
    **options: Any,
) -> ClosedFormResult:
    """Write an algorithm's result in one of the two forms; the rest as for `explicit` and `harmonic`."""
    based = with_base_symbols(tree) if base else None
    expanded, shapes, parts = parts_of(tree, quantity, based, options)
    if form == "harmonic":
        angles = [tuple(k for k, need in enumerate(expanded.needs) if need.harmonic)]
        terms = terms_of(expanded, shapes, parts, angles)
    else:
        groups, sums = _groups(expanded)
        terms = terms_of(expanded, shapes, parts, groups)
        terms = replace(terms, waves=with_products(terms.waves, sums))
    whole = checked(ClosedFormResult(tree, quantity, form, terms, options, based=based))
    return small_terms(whole, significance, values, speeds, of_row)


def parts_of(
    tree: Tree, quantity: str, based: BaseSymbols | None, options: Mapping[str, Any]
) -> tuple[Expansion, dict[str, tuple[int, ...]], list[Part]]:
    """Polynomials of an algorithm's results, and the shapes of the results."""
    if quantity not in RESULTS:
        raise ArgumentError(f"there is no closed form of {shown(quantity)}; there is one of {members(RESULTS)}")
    wanted = RESULTS[quantity]
    if quantity in {"inverse_dynamics", "forward_dynamics"}:
        tree.require_no_springs(f"a closed form of {quantity}")
    tapes = {name: (algorithm, options) for name, algorithm in wanted.items()}
    derived = "C" in wanted and not tree.manifold_joints  # there the velocities are not derivatives of coordinates
    if derived:
        del tapes["C"]
        tapes["M"] = ("mass_matrix", {})
    expanded = expansion(tree if based is None else based.tree, tapes)
    if based is not None:
        expanded = expanded.without(based.zeros)
    shapes = {name: (tree.nv, tree.nv) if name == "C" else expanded.results[name].shape for name in wanted}
    parts: list[Part] = []
    for name, shape in shapes.items():
        if name == "C" and derived:
            table: Any = expanded.christoffel
            parts += [Part(name, index[:2], table[index], (tree.nq + index[2],)) for index in np.ndindex(*table.shape)]
        else:
            table = expanded.results[name]
            places = (index for index in np.ndindex(*shape) if name not in SYMMETRIC or index[0] <= index[1])
            parts += [Part(name, index, table[index]) for index in places]
    return expanded, shapes, parts


def checked(form: ClosedFormResult) -> ClosedFormResult:
    """The form with its residual, after a comparison with the kernels."""
    tree, rng = form.tree, np.random.default_rng(0)
    worst = 0.0
    arrays = {name: rng.uniform(-1.0, 1.0, (4, size)) for name, size in input_sizes(tree).items()}
    arrays["q"] *= np.pi
    arrays["parameters"] = 0.5 + 0.5 * np.abs(arrays["parameters"])
    for at in tree.manifold_joints:
        arrays["q"][:, at.quaternion] /= np.linalg.norm(arrays["q"][:, at.quaternion], axis=1, keepdims=True)
    known, amounts = form.known(arrays), form.data.sizes(form.known(arrays))
    values = form.data.values(known)
    for name, algorithm in RESULTS[form.quantity].items():
        wanted = kernel_values(tree, algorithm, arrays, form.options if algorithm == form.quantity else {})
        upper = np.triu(wanted) if name in SYMMETRIC else wanted
        size = max(float(amounts[name].max(initial=0.0)), float(np.abs(wanted).max(initial=0.0)))
        difference = float(np.abs(values[name] - upper).max(initial=0.0))
        if difference > EXACT * size:
            size = max(size, _cancelled(tree, algorithm, arrays))
        worst = max(worst, difference / size if size else difference)
    if not worst <= EXACT:
        raise KernelError(f"{tree.name}: the {form.form} form of {form.quantity} differs from the kernel by {worst:.1e}")
    return replace(form, residual=worst)


def kernel_values(
    tree: Tree, algorithm: str, arrays: Mapping[str, FloatArray], options: Mapping[str, Any] | None = None
) -> FloatArray:
    """Results of an algorithm's kernel for inputs by name."""
    kernel = kernel_of(tree, algorithm, "numpy", dict(options or {}))
    return np.asarray(kernel(*(arrays[key] for key in kernel.tape.inputs)))


def _cancelled(tree: Tree, algorithm: str, arrays: Mapping[str, FloatArray]) -> float:
    """Scale of cancelling terms of a result, whose rounding remains in the kernel where the result vanishes.

    For C that is M, at velocities up to 1; for the efforts of gravity |g| (m M_ii)^(1/2), by Cauchy and Schwarz.
    """
    if algorithm not in {"coriolis_matrix", "gravity_torque"}:
        return 0.0
    size = float(np.abs(kernel_values(tree, "mass_matrix", arrays)).max(initial=0.0))
    if algorithm == "coriolis_matrix":
        return size
    bodies = [link.body.mass for link in tree.links] + [tree.payload.mass] + [drive.motor.mass for drive in tree.drives]
    point = dict(zip(tree.parameters_used, arrays["parameters"][0].tolist(), strict=True))
    mass, pull = (np.abs(evaluate(elements, point)) for elements in (bodies, list(tree.gravity)))
    return float(np.linalg.norm(pull) * (mass.sum() * size) ** 0.5)


def _groups(expansion: Expansion) -> tuple[list[tuple[int, ...]], list[list[tuple[int, ...]]]]:
    """Groups of angles, and the sums in each; symbols that are angles are separate."""
    groups = parallel_groups(expansion.tree)
    angles = {k for k, need in enumerate(expansion.needs) if need.harmonic}
    grouped = {k for group in groups for k in group.coordinates}
    alone = [(k,) for k in sorted(angles - grouped)]
    sums = [[tuple(angle.get(k, 0) for k in group.coordinates) for angle in group.sums] for group in groups]
    unit: list[tuple[int, ...]] = [(1,)]
    return [*(group.coordinates for group in groups), *alone], [*sums, *(unit for _ in alone)]
