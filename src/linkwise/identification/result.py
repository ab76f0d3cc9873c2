"""What identification gives: values, how sure they are, and how well they predict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.identification.estimate import Estimate
from linkwise.identification.rebuild import rebuilt
from linkwise.identification.unknowns import Unknowns
from linkwise.mechanism import Mechanism
from linkwise.model.table import Table, laid_out
from linkwise.spatial.scalar import FloatArray
from linkwise.trajectory.trajectory import Trajectory

CORRELATED = 0.3
"""Residuals whose neighbours correlate more than this make the deviations too small."""

NOTICED = 1e-2
"""Residuals below this share of the scatter do not matter."""

LONGEST = 56
"""Of a combination in the table."""


@dataclass(frozen=True, eq=False, repr=False)
class Identification:
    """Base parameters found from recorded motions.

    Attributes
    ----------
    mechanism : Mechanism
        The mechanism whose parameters were unknown.
    wanted : Unknowns
        The base parameters as combinations of parameters, and those that were known.
    estimate : Estimate
        What least squares gave.
    condition, raw_condition : float
        Condition number of the regressor with its columns scaled to length one, and as it is.
    counts : ndarray (nv,)
        How many equations each effort gave, of all motions together.
    residual : ndarray (nv,)
        Root mean square of what is left of each effort, N m or N.
    succession : ndarray (nv,)
        Correlation of each joint's residual with the next in time: near 0 if they are independent, as the deviations
        suppose.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import identification, robots
    >>> arm = robots.planar_2r()
    >>> q, qd, qdd = np.random.default_rng(0).normal(size=(3, 200, 2))
    >>> found = identification.identify(arm, q, qd, qdd, arm.inverse_dynamics(q, qd, qdd))
    >>> bool((found.residual < 1e-9).all()), found.counts.tolist()
    (True, [200, 200])
    """

    mechanism: Mechanism
    wanted: Unknowns
    estimate: Estimate
    condition: float
    raw_condition: float
    counts: npt.NDArray[np.int64]
    residual: FloatArray
    succession: FloatArray

    @property
    def names(self) -> tuple[str, ...]:
        """Which combination of parameters each is (b,)."""
        return self.wanted.base.names

    @property
    def labels(self) -> tuple[str, ...]:
        """Short names (b,): an R marks a parameter that others are grouped with."""
        return self.wanted.labels

    @property
    def values(self) -> FloatArray:
        """What was found (b,), SI units; zero where a parameter was left out."""
        return self.estimate.values

    @property
    def covariance(self) -> FloatArray:
        """Covariance (b, b) of the values; NaN where a parameter was left out."""
        return self.estimate.covariance

    @property
    def deviations(self) -> FloatArray:
        """Standard deviations (b,) of the values; NaN where a parameter was left out."""
        return np.asarray(np.sqrt(np.diag(self.covariance)))

    @property
    def relative(self) -> FloatArray:
        """Standard deviations over the sizes of the values (b,)."""
        with np.errstate(divide="ignore"):
            return np.asarray(self.deviations / np.abs(self.values))

    @property
    def kept(self) -> npt.NDArray[np.bool_]:
        """Which parameters were estimated (b,); the others were left out as not essential."""
        return self.estimate.kept

    @property
    def effort_std(self) -> FloatArray:
        """Standard deviation of the efforts (nv,) by which the equations were weighted, N m or N."""
        return self.estimate.effort_std

    @property
    def parameters(self) -> FloatArray:
        """All parameters (P,): base parameters at their own columns, what was known, zero elsewhere.

        ``mechanism.regressor(q, qd, qdd) @ parameters`` are the efforts; the single numbers mean nothing.
        """
        made = self.wanted.given.copy()
        made[self.wanted.base.columns] = self.values
        return made

    def predict(self, q: npt.ArrayLike, qd: npt.ArrayLike, qdd: npt.ArrayLike) -> FloatArray:
        """Return the efforts (..., nv) that a motion takes by what was identified.

        Parameters
        ----------
        q : (..., nq) array_like
            Coordinates, rad or m.
        qd, qdd : (..., nv) array_like
            Speeds and accelerations.

        Examples
        --------
        >>> from linkwise import robots
        >>> from linkwise.identification import identify
        >>> arm = robots.planar_2r()
        >>> motion = np.random.default_rng(0).normal(size=(3, 100, 2))
        >>> found = identify(arm, *motion, arm.inverse_dynamics(*motion))
        >>> found.predict([0.0, 0.0], [0.0, 0.0], [0.0, 0.0]).round(6)
        array([19.62 ,  4.905])
        """
        return np.asarray(self.mechanism.regressor(q, qd, qdd) @ self.parameters)

    def to_mechanism(self) -> Mechanism:
        """Return a mechanism that has these base parameters exactly, and so the same efforts.

        Only combinations can be identified; what they leave open (most masses, among others) is taken from the mechanism
        that was identified. Its links may therefore be none that can exist: they are marked ``physical=False``. Where a link
        needs a mass to have a first moment and none is known, it is 1 kg. Rotors that are bodies of their own are counted to
        the links that carry them; the payload stays.

        Raises
        ------
        ArgumentError
            Where a rotor inertia or a friction was found with the wrong sign, which no motor can have: by noise, if its
            deviation is as large. Leave such parameters out with `essential`, or make them `known`.

        Examples
        --------
        >>> from linkwise import robots
        >>> from linkwise.identification import identify
        >>> arm = robots.planar_2r()
        >>> motion = np.random.default_rng(0).normal(size=(3, 100, 2))
        >>> model = identify(arm, *motion, 2 * arm.inverse_dynamics(*motion)).to_mechanism()
        >>> model.gravity_torque([0.0, 0.0]).round(6)
        array([39.24,  9.81])
        """
        return rebuilt(self.mechanism, self.wanted, self.values, self.deviations)

    def plot(self, record: Trajectory, title: str = "") -> Any:
        """Draw the measured efforts of a motion, those predicted for it, and the difference; nothing is shown or blocked.

        Parameters
        ----------
        record : Trajectory
            With tau: one that was identified from, or better another.
        title : str
            Stands above.

        Returns
        -------
        matplotlib.figure.Figure

        Raises
        ------
        ArgumentError
            Where the record has no tau, or is of another mechanism.
        MissingExtraError
            Where matplotlib is not installed.

        Examples
        --------
        >>> from linkwise import robots, trajectory
        >>> from linkwise.identification import identify
        >>> arm = robots.planar_2r()
        >>> motion = np.random.default_rng(0).normal(size=(3, 100, 2))
        >>> found = identify(arm, *motion, arm.inverse_dynamics(*motion))
        >>> move = trajectory.quintic([0.0, 0.0], [1.0, 1.0], 1.0)
        >>> record = move.with_records(tau=arm.inverse_dynamics(move.q, move.qd, move.qdd))
        >>> len(found.plot(record).axes)  # doctest: +SKIP
        4
        """
        from linkwise.identification.drawing import draw

        return draw(self, record, title)

    def __repr__(self) -> str:
        left_out = int((~self.kept).sum())
        lines = [
            f"{self.mechanism.name!r}: {len(self.values)} base parameters from {self.counts.sum()} equations"
            + (f", of which {left_out} are left out as not essential" if left_out else ""),
            f"condition number of the regressor {self.condition:.3g} with scaled columns, {self.raw_condition:.3g} as it is",
            "values and deviations in SI units, friction and rotor inertia on the motor's side of the gear",
        ]
        if np.any((self.succession > CORRELATED) & (self.residual > NOTICED * self.effort_std)):
            lines.append("residuals follow each other: the deviations are too small (model, filter, or more decimation)")
        joints = zip(self.mechanism.speed_names, self.counts, self.effort_std, self.residual, self.succession, strict=True)
        rows = tuple((name, f"{m}", f"{s:.3g}", f"{r:.3g}", f"{c:.2f}") for name, m, s, r, c in joints)
        efforts = Table((), ("effort of", "equations", "scatter", "residual rms", "succession"), rows)
        found = Table(tuple(lines), ("parameter", "value", "deviation", "percent", "is"), self._rows())
        return f"{laid_out(found)}\n{laid_out(efforts)}"

    def _rows(self) -> tuple[tuple[str, ...], ...]:
        found = zip(self.labels, self.values, self.deviations, self.relative, self.kept, self.names, strict=True)
        return tuple(
            (label, f"{value:.5g}", f"{deviation:.2g}", _percent(share), _shortened(name))
            if kept
            else (label, "0", "", "", f"left out: {_shortened(name)}")
            for label, value, deviation, share, kept, name in found
        )


def _percent(share: float) -> str:
    return f"{100 * share:.2g}" if share < 0.1 else f"{100 * share:.0f}"


def _shortened(name: str) -> str:
    return name if len(name) <= LONGEST else name[: name.rindex(" ", 0, LONGEST - 4)] + " ..."
