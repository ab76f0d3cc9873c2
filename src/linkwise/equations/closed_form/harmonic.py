"""The harmonic form of the equations of motion: every entry a sum of sines and cosines of whole combinations of angles.

The kinetic energy is quadratic in the 4x4 transform of every joint, the potential energy linear. So each joint angle enters
M(q) in harmonics up to 2 and g(q) up to 1, and each sliding coordinate in powers up to 2 and 1. The kernels' tapes are
evaluated on such sums (see `linkwise.equations.polynomials.polynomial`), which settles them with no algebra and no samples.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from math import prod

import numpy as np

from linkwise.algorithm.compile import kernel_of
from linkwise.dynamics.motor_terms import reflected_inertias
from linkwise.equations.closed_form.closed_form import EXACT, kernel_values
from linkwise.equations.closed_form.harmonic_sum import GREATEST, HarmonicSum, combined, harmonic_sum_of
from linkwise.equations.polynomials.bounds import Survey, survey
from linkwise.equations.polynomials.evaluation import expanded
from linkwise.equations.polynomials.expansion import christoffel
from linkwise.equations.polynomials.key_packing import Fields
from linkwise.equations.polynomials.parallel_axes import parallel_groups
from linkwise.equations.polynomials.polynomial import Polynomial, number
from linkwise.errors import ArgumentError, KernelError, members
from linkwise.model.body_tree import moving_bodies
from linkwise.model.coupling import coupling
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import FloatArray

LARGEST = 1 << 22
"""Terms that one entry may have: 4,194,304; they then take up to half a gigabyte."""

MOST_SYMBOLS = 10_000_000
"""Terms that the Christoffel symbols may have, added up before any of them cancel: nearly a gigabyte."""

Rows = tuple[tuple[HarmonicSum, ...], ...]


class HarmonicForm:
    """M(q), C(q, qd) and g(q) of a mechanism as sums of harmonics, each worked out when first asked for and checked.

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
        if tree.floating:
            raise ArgumentError(f"{tree.name}: a floating base is placed by a quaternion, not by angles; {advice}")
        if tree.symbols:
            raise ArgumentError(
                f"{tree.name}: {members(tree.symbols)} are symbols; the harmonic form of numbers is for numbers"
            )
        self.tree = tree
        self._surveys: dict[str, Survey] = {}
        for name, result, power in (("mass_matrix", "M", 2), ("gravity_torque", "g", 1)):
            try:
                found = survey(kernel_of(tree, name, "numpy", {}).tape, tree.names, ())
                _check_screws(found)
            except ArgumentError as error:
                raise ArgumentError(f"{tree.name}: {result}(q) has no harmonic form: {error}; {advice}") from None
            self._surveys[name] = found
            self._check_size(found, power, advice)

    def _check_size(self, found: Survey, power: int, advice: str) -> None:
        """Refuse what would be too long; of angles about parallel axes there are only two sums at once."""
        tree = self.tree
        reach = [sum(_steps(j.ratio) for j in tree.followers if j.coordinate == k) for k in range(tree.n)]
        greatest = [min(need.harmonic, power * r) for need, r in zip(found.needs, reach, strict=False)]
        if max(greatest, default=0) > GREATEST:
            problem = f"sine and cosine of up to {max(greatest):,} times a coordinate, more than {GREATEST:,}"
            raise ArgumentError(f"{tree.name}: too many harmonics: {problem}; {advice}")
        size = prod(1 + min(need.high, power * r) for need, r in zip(found.needs, reach, strict=False))
        for group in parallel_groups(tree):
            there = [greatest[k] for k in group.coordinates if greatest[k]]
            alone = prod(2 * h + 1 for h in there)
            together = 2 * len(there) * (len(there) + 1) + 1 if len(group.sums) == len(group.coordinates) else alone
            size *= min(alone, together)
        if size > LARGEST:
            problem = f"an entry may have {size:,} terms, more than {LARGEST:,}"
            raise ArgumentError(f"{tree.name}: too many joints for the harmonic form: {problem}; {advice}")

    def _expanded(self, name: str) -> tuple[Fields, list[Polynomial]]:
        found = self._surveys[name]
        fields = Fields.of(found.needs)
        return fields, expanded(found, fields)[0]

    @cached_property
    def M(self) -> Rows:
        """The mass matrix, (n, n); the lower half are the same objects as the upper one."""
        n = self.tree.n
        fields, entries = self._expanded("mass_matrix")
        rotors = [number(-each, fields.words) for each in reflected_inertias(self.tree)]
        bodies = [float(np.abs((entries[i * n + i] + rotors[i]).values).sum()) for i in range(n)]
        made: dict[tuple[int, int], HarmonicSum] = {}
        for i in range(n):
            for j in range(i, n):
                entry = entries[i * n + j]
                scale = 0.0 if i == j else (bodies[i] * bodies[j]) ** 0.5  # bounds the bodies' part: positive semidefinite
                made[i, j] = made[j, i] = harmonic_sum_of(fields, entry, max(scale, float(np.abs(entry.values).sum())))
        rows = tuple(tuple(made[i, j] for j in range(n)) for i in range(n))
        self._check("mass_matrix", lambda q, qd: matrix_value(rows, q), largest(rows))
        return rows

    @cached_property
    def g(self) -> tuple[HarmonicSum, ...]:
        """The efforts of gravity, (n,)."""
        pull = float(np.linalg.norm(self.tree.gravity))
        mass = sum(abs(float(body.inertia[3, 3])) for body in moving_bodies(coupling(self.tree).uncoupled).bodies)
        fields, entries = self._expanded("gravity_torque")
        made = []
        for i, entry in enumerate(entries):
            scale = max(float(np.abs(entry.values).sum()), pull * (mass * self.M[i][i].scale) ** 0.5)  # Cauchy and Schwarz
            made.append(harmonic_sum_of(fields, entry, scale))
        self._check("gravity_torque", lambda q, qd: vector_value(made, q), largest([made]))
        return tuple(made)

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
        triples = [(i, j, k) for i in range(n) for j in range(n) for k in range(j, n)]
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
        """How many terms M (its upper half), C (as Christoffel symbols, c_ijk with j <= k) and g have."""
        n = self.tree.n
        mass = sum(self.M[i][j].terms for i in range(n) for j in range(i, n))
        symbols = sum(self.christoffel[i][j][k].terms for i in range(n) for j in range(n) for k in range(j, n))
        return {"M": mass, "C": symbols, "g": sum(entry.terms for entry in self.g)}

    @property
    def residual(self) -> float:
        """The largest difference of M, C and g from the kernels at random points, angles to pi and speeds to 1.

        Relative to the largest entry of each matrix, or for C, which may vanish, of M. Needs the Christoffel symbols.
        """
        _ = self.M, self.g, self.christoffel
        return max(self._residuals.values())

    @cached_property
    def _residuals(self) -> dict[str, float]:
        return {}

    def _check(self, name: str, function: Callable[[FloatArray, FloatArray], FloatArray], scale: float) -> None:
        """Compare with the kernel at random points; keep how large the difference is."""
        rng = np.random.default_rng(0)
        q, qd = rng.uniform(-np.pi, np.pi, (8, self.tree.n)), rng.uniform(-1.0, 1.0, (8, self.tree.n))
        wanted = kernel_values(self.tree, name, {"q": q, "qd": qd})
        difference = float(np.abs(function(q, qd) - wanted).max(initial=0.0))
        size = max(scale, float(np.abs(wanted).max(initial=0.0)))
        self._residuals[name] = difference / size if size else difference
        if not self._residuals[name] <= EXACT:
            found = f"differs from {name} by {self._residuals[name]:.1e}, relative to the largest entry"
            raise KernelError(f"{self.tree.name}: the harmonic form {found}; it is not exact for this mechanism")


def _check_screws(found: Survey) -> None:
    """Refuse coordinates that are an angle and a length at once."""
    for k, need in enumerate(found.needs):
        if need.harmonic and (need.low or need.high):
            called = f"coordinate {found.names[k]!r}"
            raise ArgumentError(f"{called} stands both inside and outside of sine and cosine, as a screw's does")


def _steps(ratio: float) -> int:
    """By how much a joint that moves at this ratio raises the degree of its coordinate: 1 for a sliding one, never less."""
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
    """C (..., n, n) from the Christoffel symbols at coordinates q and speeds qd (..., n)."""
    if not table:
        return np.zeros((*q.shape, 0))
    return np.stack([(matrix_value(rows, q) * qd[..., None, :]).sum(axis=-1) for rows in table], axis=-2)
