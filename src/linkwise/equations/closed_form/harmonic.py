"""The harmonic form of the equations of motion: every entry a sum of sines and cosines of whole combinations of angles.

The kinetic energy is quadratic in the 4x4 transform of every joint, the potential energy linear. So each joint angle enters
M(q) in harmonics up to 2 and g(q) up to 1, and each sliding coordinate in powers up to 2 and 1. The kernels' tapes are
evaluated on such sums (see `linkwise.equations.polynomials.polynomial`), which settles them with no algebra and no samples.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement
from math import prod

import numpy as np
import numpy.typing as npt

from linkwise.algorithm import kernel_of
from linkwise.dynamics.recursions import reflected_inertias
from linkwise.equations.closed_form.closed_form import EXACT, kernel_values
from linkwise.equations.polynomials.expansion import Survey, christoffel, expanded, parallel_groups, survey
from linkwise.equations.polynomials.polynomial import ROUNDING, Fields, Polynomial, first_signs, number
from linkwise.errors import ArgumentError, KernelError, members
from linkwise.model.body import moving_bodies
from linkwise.model.coupling import coupling
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import numbers

#: The greatest harmonic: they are stored in 16 bits.
GREATEST = 2**15 - 1

#: Cosines computed at a time.
_AT_ONCE = 1 << 18


@dataclass(frozen=True, eq=False)
class HarmonicSum:
    """The function sum_t (cosine_t cos(h_t q) + sine_t sin(h_t q)) prod_k q_k^(p_tk) of the coordinates q (n,).

    Attributes
    ----------
    harmonics : ndarray (T, n)
        h, whole numbers; the first one other than 0 in each row is positive.
    powers : ndarray (T, n)
        p, whole numbers.
    cosine, sine : ndarray (T,)
        The coefficients. Of a row without harmonics the cosine is the coefficient itself.
    scale : float
        How large the function is: what is small beside it is a rounding error.

    Examples
    --------
    >>> made = HarmonicSum(np.array([[0, 0], [1, 1]]), np.zeros((2, 2), int), np.array([1.0, 2.0]), np.zeros(2), 2.0)
    >>> round(float(made(np.array([0.0, 0.0]))), 12), made.terms
    (3.0, 2)
    """

    harmonics: npt.NDArray[np.int16]
    powers: npt.NDArray[np.int16]
    cosine: FloatArray
    sine: FloatArray
    scale: float

    @property
    def terms(self) -> int:
        """Number of different combinations of coordinates; each has a cosine, a sine, or both."""
        return len(self.cosine)

    def __call__(self, q: npt.ArrayLike) -> FloatArray:
        """The value (...,) at coordinates q (..., n)."""
        points = numbers("q", q, finite=False, copy=False)
        flat = points.reshape(-1, points.shape[-1])
        total = np.zeros(len(flat))
        step = max(1, _AT_ONCE // max(1, len(flat)))
        for start in range(0, len(self.cosine), step):
            part = slice(start, start + step)
            angle = flat @ self.harmonics[part].T
            wave = np.cos(angle) * self.cosine[part] + np.sin(angle) * self.sine[part]
            for k in np.flatnonzero(self.powers[part].any(axis=0)):
                wave *= flat[:, k : k + 1] ** self.powers[part, k]
            total += wave.sum(axis=-1)
        return total.reshape(points.shape[:-1])

    def depending(self, k: int) -> int:
        """Number of terms that depend on the coordinate k, as many as its derivative has."""
        return int(np.count_nonzero((self.harmonics[:, k] != 0) | (self.powers[:, k] != 0)))

    def derivative(self, k: int) -> HarmonicSum:
        """The derivative by the coordinate k, term by term."""
        turning, sliding = self.harmonics[:, k] != 0, self.powers[:, k] != 0
        kept = turning | sliding
        h, p = self.harmonics[kept], self.powers[kept].copy()
        factor = np.where(turning[kept], h[:, k], p[:, k])
        p[:, k] = np.where(turning[kept], p[:, k], p[:, k] - 1)
        c, s = self.cosine[kept] * factor, self.sine[kept] * factor
        cosine, sine = np.where(turning[kept], s, c), np.where(turning[kept], -c, s)
        return HarmonicSum(h, p, cosine, sine, self.scale)

    def cleaned(self) -> HarmonicSum:
        """Drop terms below `ROUNDING`; round numbers that differ from twelve decimal places by their last bits."""
        cosine, sine = (_cleaned(part, self.scale) for part in (self.cosine, self.sine))
        kept = (cosine != 0) | (sine != 0)
        return HarmonicSum(self.harmonics[kept], self.powers[kept], cosine[kept], sine[kept], self.scale)


def harmonic_sum_of(fields: Fields, entry: Polynomial, scale: float) -> HarmonicSum:
    """A polynomial in coordinates as a sum of harmonics.

    Parameters
    ----------
    fields : Fields
        Of its keys.
    entry : Polynomial
        Real, without symbols.
    scale : float
        How large it is where it does not cancel.
    """
    harmonics, powers = fields.exponents(entry.keys, True), fields.exponents(entry.keys, False)
    sign = first_signs(harmonics)
    order = np.flatnonzero(sign >= 0)  # the keys have the order of the harmonics
    twice = np.where(sign[order] > 0, 2.0, 1.0)
    cosine, sine = twice * entry.values[order].real, -twice * entry.values[order].imag * (sign[order] > 0)
    rows, lengths = harmonics[order].astype(np.int16), powers[order].astype(np.int16)
    return HarmonicSum(rows, lengths, cosine, sine, scale).cleaned()


def combined(weights: Sequence[float], parts: Sequence[HarmonicSum]) -> HarmonicSum:
    """The weighted sum of functions of the same coordinates, equal harmonics and powers collected, and `cleaned`."""
    n = parts[0].harmonics.shape[1]
    keys = np.concatenate([np.hstack([part.harmonics, part.powers]) for part in parts])
    cosine = np.concatenate([w * part.cosine for w, part in zip(weights, parts, strict=True)])
    sine = np.concatenate([w * part.sine for w, part in zip(weights, parts, strict=True)])
    rows, place = collected(keys)
    total = [np.bincount(place, part, minlength=len(rows)).astype(np.float64) for part in (cosine, sine)]
    scale = max(part.scale for part in parts)
    return HarmonicSum(rows[:, :n], rows[:, n:], total[0], total[1], scale).cleaned()


def _cleaned(values: FloatArray, scale: float) -> FloatArray:
    """Coefficients without rounding errors where these can be recognised: 0.49999999999999994 is 0.5."""
    if not scale:
        return np.zeros_like(values)
    short = np.round(values, int(np.floor(-np.log10(1e-12 * scale))))
    near = np.abs(values - short) <= 4 * np.finfo(np.float64).eps * scale
    return np.where(np.abs(values) < ROUNDING * scale, 0.0, np.where(near, short, values))


def collected(keys: npt.NDArray[np.int16]) -> tuple[npt.NDArray[np.int16], npt.NDArray[np.intp]]:
    """The different rows, in lexical order, and which of them each row is."""
    if not len(keys):
        return keys, np.zeros(0, dtype=np.intp)
    rows, place = np.unique(keys, axis=0, return_inverse=True)
    return rows, place.reshape(-1)


#: Terms that one entry may have: 4,194,304; they then take up to half a gigabyte.
LARGEST = 1 << 22

#: Terms that the Christoffel symbols may have, added up before any of them cancel: nearly a gigabyte.
MOST_SYMBOLS = 10_000_000

Rows = tuple[tuple[HarmonicSum, ...], ...]


class HarmonicForm:
    """M(q), C(q, qd) and g(q) of a mechanism as sums of harmonics, each computed and verified on first use.

    Parameters
    ----------
    tree : Tree
        On a fixed base, with revolute and prismatic joints.

    Raises
    ------
    ArgumentError
        Where there is no harmonic form: a floating base, screw joints, joints that follow others by a ratio that is no whole
        number or too great; where there may be more than `LARGEST` terms in one entry; for symbols, for which
        `linkwise.equations.closed_form.closed_form.harmonic` is.

    Examples
    --------
    >>> from linkwise import robots
    >>> form = HarmonicForm(robots.puma560())
    >>> form.M[0][0].terms, form.residual < 1e-13
    (42, True)
    """

    def __init__(self, tree: Tree) -> None:
        advice = "equations(form='graph') has them"
        for at in tree.manifold_joints:
            subject = "a floating base" if at.link < 0 else f"the {at.joint.kind} joint {at.name!r}"
            raise ArgumentError(f"{tree.name}: {subject} is placed by a quaternion, not by angles; {advice}")
        if tree.symbols:
            raise ArgumentError(f"{tree.name} has the symbols {members(tree.symbols)}; the harmonic form is for numbers")
        self.tree = tree
        self._residuals: dict[str, float] = {}
        self._surveys: dict[str, Survey] = {}
        for name, result, power in (("mass_matrix", "M", 2), ("gravity_torque", "g", 1)):
            try:
                surveyed = survey(kernel_of(tree, name, "numpy", {}).tape, tree.names, ())
                _check_screws(surveyed)
            except ArgumentError as error:
                raise ArgumentError(f"{tree.name}: {result}(q) has no harmonic form: {error}; {advice}") from None
            self._surveys[name] = surveyed
            self._check_size(surveyed, power, advice)

    def _check_size(self, surveyed: Survey, power: int, advice: str) -> None:
        """Reject expressions that would be too long; angles about parallel axes form only two sums."""
        tree = self.tree
        reach = [sum(_steps(j.ratio) for j in tree.followers if j.coordinate == k) for k in range(tree.n)]
        greatest = [min(need.harmonic, power * r) for need, r in zip(surveyed.needs, reach, strict=False)]
        if max(greatest, default=0) > GREATEST:
            problem = f"sine and cosine of up to {max(greatest):,} times a coordinate, more than {GREATEST:,}"
            raise ArgumentError(f"{tree.name}: too many harmonics: {problem}; {advice}")
        size = prod(1 + min(need.high, power * r) for need, r in zip(surveyed.needs, reach, strict=False))
        for group in parallel_groups(tree):
            there = [greatest[k] for k in group.coordinates if greatest[k]]
            alone = prod(2 * h + 1 for h in there)
            together = 2 * len(there) * (len(there) + 1) + 1 if len(group.sums) == len(group.coordinates) else alone
            size *= min(alone, together)
        if size > LARGEST:
            problem = f"an entry may have {size:,} terms, more than {LARGEST:,}"
            raise ArgumentError(f"{tree.name}: too many joints for the harmonic form: {problem}; {advice}")

    def _expanded(self, name: str) -> tuple[Fields, list[Polynomial]]:
        surveyed = self._surveys[name]
        fields = Fields.of(surveyed.needs)
        return fields, expanded(surveyed, fields)[0]

    @cached_property
    def M(self) -> Rows:
        """The mass matrix, (n, n); the lower half are the same objects as the upper one."""
        n = self.tree.n
        fields, entries = self._expanded("mass_matrix")
        rotors = [number(-inertia, fields.words) for inertia in reflected_inertias(self.tree)]
        bodies = [float(np.abs((entries[i * n + i] + rotors[i]).values).sum()) for i in range(n)]
        sums: dict[tuple[int, int], HarmonicSum] = {}
        for i, j in combinations_with_replacement(range(n), 2):
            entry = entries[i * n + j]
            scale = 0.0 if i == j else (bodies[i] * bodies[j]) ** 0.5  # bounds the bodies' part: positive semidefinite
            sums[i, j] = sums[j, i] = harmonic_sum_of(fields, entry, max(scale, float(np.abs(entry.values).sum())))
        rows = tuple(tuple(sums[i, j] for j in range(n)) for i in range(n))
        self._check("mass_matrix", lambda q, qd: matrix_value(rows, q), largest(rows))
        return rows

    @cached_property
    def g(self) -> tuple[HarmonicSum, ...]:
        """The efforts of gravity, (n,)."""
        pull = float(np.linalg.norm(self.tree.gravity))
        mass = sum(abs(float(body.inertia[3, 3])) for body in moving_bodies(coupling(self.tree).uncoupled).bodies)
        fields, entries = self._expanded("gravity_torque")
        sums = []
        for i, entry in enumerate(entries):
            scale = max(float(np.abs(entry.values).sum()), pull * (mass * self.M[i][i].scale) ** 0.5)  # Cauchy and Schwarz
            sums.append(harmonic_sum_of(fields, entry, scale))
        self._check("gravity_torque", lambda q, qd: vector_value(sums, q), largest([sums]))
        return tuple(sums)

    @cached_property
    def christoffel(self) -> tuple[Rows, ...]:
        """Christoffel symbols (n, n, n): C_ij = sum_k c_ijk qd_k, c_ijk = (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) / 2.

        R. M. Murray, Z. Li, S. S. Sastry, *A Mathematical Introduction to Robotic Manipulation* (1994), eq. 4.23.

        Raises
        ------
        ArgumentError
            Where their terms might be more than `MOST_SYMBOLS`.
        """
        M, n = self.M, self.tree.n
        triples = [(i, j, k) for i in range(n) for j, k in combinations_with_replacement(range(n), 2)]
        size = sum(M[i][j].depending(k) + M[i][k].depending(j) + M[j][k].depending(i) for i, j, k in triples)
        if size > MOST_SYMBOLS:
            problem = f"up to {size:,} terms, more than {MOST_SYMBOLS:,}"
            raise ArgumentError(f"{self.tree.name}: too many joints for the Christoffel symbols: {problem}")
        symbols = christoffel(M, HarmonicSum.derivative, lambda *parts: combined([0.5, 0.5, -0.5], parts))
        table = tuple(tuple(map(tuple, rows)) for rows in symbols)
        self._check("coriolis_matrix", lambda q, qd: coriolis_value(table, q, qd), largest(self.M))
        return table

    @cached_property
    def terms(self) -> dict[str, int]:
        """Number of terms of M (its upper half), C (as Christoffel symbols, c_ijk with j <= k) and g."""
        pairs = [*combinations_with_replacement(range(self.tree.n), 2)]
        mass = sum(self.M[i][j].terms for i, j in pairs)
        symbols = sum(rows[j][k].terms for rows in self.christoffel for j, k in pairs)
        return {"M": mass, "C": symbols, "g": sum(entry.terms for entry in self.g)}

    @property
    def residual(self) -> float:
        """Largest difference of M, C and g from the kernels at random points, angles to pi and velocities to 1.

        Relative to the largest entry of each matrix, or for C, which may vanish, of M. Needs the Christoffel symbols.
        """
        _ = self.M, self.g, self.christoffel
        return max(self._residuals.values())

    def _check(self, name: str, function: Callable[[FloatArray, FloatArray], FloatArray], scale: float) -> None:
        """Compare with the kernel at random points; store the difference."""
        rng = np.random.default_rng(0)
        q, qd = rng.uniform(-np.pi, np.pi, (8, self.tree.n)), rng.uniform(-1.0, 1.0, (8, self.tree.n))
        wanted = kernel_values(self.tree, name, {"q": q, "qd": qd})
        difference = float(np.abs(function(q, qd) - wanted).max(initial=0.0))
        size = max(scale, float(np.abs(wanted).max(initial=0.0)))
        self._residuals[name] = difference / size if size else difference
        if not self._residuals[name] <= EXACT:
            problem = f"differs from {name} by {self._residuals[name]:.1e}, relative to the largest entry"
            raise KernelError(f"{self.tree.name}: the harmonic form {problem}; it is not exact for this mechanism")


def _check_screws(surveyed: Survey) -> None:
    """Reject coordinates that are both an angle and a length."""
    for k, need in enumerate(surveyed.needs):
        if need.harmonic and (need.low or need.high):
            called = f"coordinate {surveyed.names[k]!r}"
            raise ArgumentError(f"{called} stands both inside and outside of sine and cosine, as a screw's does")


def _steps(ratio: float) -> int:
    """Degree by which a joint with this ratio raises that of its coordinate: 1 for a sliding joint, at least 1."""
    return max(1, round(abs(ratio)))


def largest(rows: Sequence[Sequence[HarmonicSum]]) -> float:
    """The largest scale of some entries."""
    return max((entry.scale for row in rows for entry in row), default=0.0)


def vector_value(entries: Sequence[HarmonicSum], q: FloatArray) -> FloatArray:
    """Values (..., n) of a row of entries at coordinates q (..., n)."""
    return np.stack([entry(q) for entry in entries], axis=-1) if entries else np.zeros(q.shape)


def matrix_value(rows: Rows, q: FloatArray) -> FloatArray:
    """Values (..., n, n) of a matrix of entries at coordinates q (..., n)."""
    known = {id(entry): entry for row in rows for entry in row}
    values = {key: entry(q) for key, entry in known.items()}
    stacked = [np.stack([values[id(entry)] for entry in row], axis=-1) for row in rows]
    return np.stack(stacked, axis=-2) if rows else np.zeros((*q.shape, 0))


def coriolis_value(table: tuple[Rows, ...], q: FloatArray, qd: FloatArray) -> FloatArray:
    """C (..., n, n) from the Christoffel symbols at coordinates q and velocities qd (..., n)."""
    if not table:
        return np.zeros((*q.shape, 0))
    return np.stack([(matrix_value(rows, q) * qd[..., None, :]).sum(axis=-1) for rows in table], axis=-2)
