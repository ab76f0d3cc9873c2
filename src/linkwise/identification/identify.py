"""Base parameters from recorded motions and efforts: values, uncertainty, and prediction error."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from linkwise.algorithm import kernel_of
from linkwise.dynamics import parameter_names, parameter_values
from linkwise.dynamics.closed_loops.nullspace import driven_speeds, refuse_driven
from linkwise.dynamics.closed_loops.regressor import closed_efforts, closed_regressor
from linkwise.errors import ArgumentError, shown
from linkwise.identification.condition import check_excited, condition_numbers
from linkwise.identification.estimate import Estimate, MotionEquations, equations, estimate
from linkwise.identification.parameters import Unknowns, spring_efforts, unknowns
from linkwise.model.formatting.table import Table, laid_out
from linkwise.model.link import Link
from linkwise.model.motor import Motor
from linkwise.model.parameters import LINK, MOTOR, numbers_of
from linkwise.model.tree import Tree, require_numeric_tree
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import numbers, vectors, whole
from linkwise.trajectory.trajectory import Trajectory

M = TypeVar("M", bound=Tree)

#: Residuals whose neighbours correlate more than this make the deviations too small.
CORRELATED = 0.3

#: Residuals below this share of the scatter do not matter.
NOTICED = 1e-2

#: Greatest width of a combination in the table.
LONGEST = 56

#: Assumed mass of a link with a first moment and without mass, kg.
NEEDED = 1.0

#: A mass below this is none, kg.
NOTHING = 1e-9

_SIGNS = {"Jm": 1.0, "B": 1.0, "Tc+": 1.0, "Tc-": -1.0}


@dataclass(frozen=True, eq=False, repr=False)
class Identification(Generic[M]):
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
    driven : list of int or None
        With loops, the speeds whose equations were taken.

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

    mechanism: M
    wanted: Unknowns
    estimate: Estimate
    condition: float
    raw_condition: float
    counts: npt.NDArray[np.int64]
    residual: FloatArray
    succession: FloatArray
    driven: list[int] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Combination of parameters of each value (b,)."""
        return self.wanted.base.names

    @property
    def labels(self) -> tuple[str, ...]:
        """Short names (b,): an R marks a parameter that others are grouped with."""
        return self.wanted.labels

    @property
    def values(self) -> FloatArray:
        """Estimated values (b,), SI units; zero for dropped parameters."""
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
        """Mask of the estimated parameters (b,); the others were dropped as not essential."""
        return self.estimate.kept

    @property
    def effort_std(self) -> FloatArray:
        """Standard deviation of the efforts (nv,) by which the equations were weighted, N m or N."""
        return self.estimate.effort_std

    @property
    def parameters(self) -> FloatArray:
        """All parameters (P,): base parameters at their own columns, known values, zero elsewhere.

        ``mechanism.regressor(q, qd, qdd) @ parameters`` are the efforts; the single numbers mean nothing.
        """
        parameters = self.wanted.known.copy()
        parameters[self.wanted.base.columns] = self.values
        return parameters

    def predict(self, q: npt.ArrayLike, qd: npt.ArrayLike, qdd: npt.ArrayLike) -> FloatArray:
        """Return the efforts (..., nv) of a motion by the identified parameters; with loops, of the driven coordinates.

        Parameters
        ----------
        q : (..., nq) array_like
            Coordinates, rad or m.
        qd, qdd : (..., nv) array_like
            Velocities and accelerations.

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
        mech = self.mechanism
        q, qd, qdd = vectors("q", q, mech.nq), vectors("qd", qd, mech.nv), vectors("qdd", qdd, mech.nv)
        springs = spring_efforts(mech, q, qd, qdd) if mech.springs else np.zeros(mech.nv)
        if self.driven is not None:
            driven = closed_efforts(mech, q, springs, self.driven, name="predict")
            return closed_regressor(mech, q, qd, qdd, self.driven, name="predict") @ self.parameters + driven
        return np.asarray(kernel_of(mech, "regressor")(q, qd, qdd) @ self.parameters + springs)

    def to_mechanism(self) -> M:
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
        from linkwise.plot.identification import draw

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
        joints = zip(
            self.mechanism.velocity_names, self.counts, self.effort_std, self.residual, self.succession, strict=True
        )
        rows = tuple(
            (name, f"{m}", f"{s:.3g}", f"{r:.3g}", f"{c:.2f}")
            for k, (name, m, s, r, c) in enumerate(joints)
            if self.driven is None or k in self.driven
        )
        efforts = Table((), ("effort of", "equations", "scatter", "residual rms", "succession"), rows)
        values = Table(tuple(lines), ("parameter", "value", "deviation", "percent", "is"), self._rows())
        return f"{laid_out(values)}\n{laid_out(efforts)}"

    def _rows(self) -> tuple[tuple[str, ...], ...]:
        columns = zip(self.labels, self.values, self.deviations, self.relative, self.kept, self.names, strict=True)
        return tuple(
            (label, f"{value:.5g}", f"{deviation:.2g}", _percent(share), _shortened(name))
            if kept
            else (label, "0", "", "", f"left out: {_shortened(name)}")
            for label, value, deviation, share, kept, name in columns
        )


def _percent(share: float) -> str:
    return f"{100 * share:.2g}" if share < 0.1 else f"{100 * share:.0f}"


def _shortened(name: str) -> str:
    return name if len(name) <= LONGEST else name[: name.rindex(" ", 0, LONGEST - 4)] + " ..."


def rebuilt(mechanism: M, unknowns: Unknowns, values: FloatArray, deviations: FloatArray) -> M:
    """Return the mechanism with its base parameters changed to `values` (b,); see `Identification.to_mechanism`."""
    numbers = _distributed(mechanism, unknowns, values)
    _check_motors(mechanism, numbers, dict(zip(unknowns.base.columns.tolist(), deviations, strict=True)))
    of_links = numbers[: len(LINK) * len(mechanism.links)].reshape(-1, len(LINK)).copy()
    of_links[mechanism.tool_index] -= _of_payload(mechanism)
    of_motors = iter(numbers[len(LINK) * len(mechanism.links) :].reshape(-1, len(MOTOR)))
    links = [_link(link, row) for link, row in zip(mechanism.links, of_links, strict=True)]
    links = [link.replace(motor=_motor(link.motor, next(of_motors))) if link.motor else link for link in links]
    motors = [_motor(motor, next(of_motors)) for motor in mechanism.motors]
    return mechanism.replace(links=links, motors=motors)


def _distributed(mechanism: Tree, unknowns: Unknowns, values: FloatArray) -> FloatArray:
    """All parameters (P,): the base parameters' own columns absorb the difference to the other, unchanged ones."""
    base, free = unknowns.base, parameter_values(mechanism).copy()
    single = np.zeros(len(free), dtype=bool)
    single[base.columns] = True
    for _ in range(len(mechanism.links) + 1):
        free[base.columns] = values - base.matrix[:, ~single] @ free[~single]
        lacking = [k for k in _massless(mechanism, free) if not single[len(LINK) * k]]
        if not lacking:
            break
        free[[len(LINK) * k for k in lacking]] += NEEDED
    return free


def _massless(mechanism: Tree, numbers: FloatArray) -> Iterator[int]:
    """The links that have a first moment and no mass."""
    rows = numbers[: len(LINK) * len(mechanism.links)].reshape(-1, len(LINK)).copy()
    rows[-1] -= _of_payload(mechanism)
    for k, row in enumerate(rows):
        if abs(row[0]) < NOTHING and row[1:4].any():
            yield k


def _of_payload(mechanism: Tree) -> FloatArray:
    """The parameters (10,) that the payload adds to the link of the tool."""
    load = mechanism.payload
    pseudo = np.asarray(load.pseudo)
    return numbers_of(mechanism.tool @ pseudo @ mechanism.tool.T)


def _link(link: Link, numbers: FloatArray) -> Link:
    """The link with mass, centre of mass and tensor from its ten parameters (Steiner)."""
    mass, moment = float(numbers[0]), numbers[1:4]
    com = moment / mass if mass else np.zeros(3)
    shift = mass * (com @ com * np.eye(3) - np.outer(com, com))
    tensor = numbers[4:] - shift[[0, 1, 2, 0, 1, 0], [0, 1, 2, 1, 2, 2]]
    return link.replace(mass=mass, com=com, inertia=tensor, physical=False)


def _motor(motor: Motor, numbers: FloatArray) -> Motor:
    """The motor with other inertia and friction; its body, if it had one, is counted to the link."""
    inertia, viscous, forth, back = map(float, numbers)
    bare = motor.replace(mass=0.0, com=(0.0, 0.0, 0.0), rotor_inertia=0.0, inertia=0.0)
    holds = bare.breakaway is None or (bare.breakaway[0] >= forth and bare.breakaway[1] <= back)
    breakaway = bare.breakaway if holds else None
    return bare.replace(inertia=inertia, viscous=viscous, coulomb=(forth, back), breakaway=breakaway)


def _check_motors(mechanism: Tree, numbers: FloatArray, deviations: dict[int, float]) -> None:
    names, wrong = parameter_names(mechanism), []
    for c in range(len(LINK) * len(mechanism.links), len(names)):
        sign = _SIGNS[MOTOR[(c - len(LINK) * len(mechanism.links)) % len(MOTOR)]]
        if sign * numbers[c] < 0:
            deviation = f" (deviation {deviations[c]:.2g})" if c in deviations else ""
            wrong.append(f"{names[c]} is {numbers[c]:.3g}{deviation}; expected {'>=' if sign > 0 else '<='} 0")
    if wrong:
        text = "no motor has these identified parameters; leave them out (essential=) or make them known (known=)"
        raise ArgumentError("\n".join([text, *wrong]))


def identify(
    mech: M,
    q: npt.ArrayLike,
    qd: npt.ArrayLike,
    qdd: npt.ArrayLike,
    tau: npt.ArrayLike,
    *,
    known: str | Iterable[str] = (),
    effort_std: npt.ArrayLike | None = None,
    essential: float | None = None,
    decimate: int = 1,
    least_speed: npt.ArrayLike = 0.0,
    driven: Sequence[int | str] | int | str | None = None,
) -> Identification[M]:
    """Estimate the base parameters of a mechanism from motions and the efforts that they took, by weighted least squares.

    Each joint's equations are weighted by the scatter of its efforts, found from the residuals (M. Gautier, "Dynamic
    identification of robots with power model", ICRA 1997). With loops there are those of the driven coordinates alone, in
    which the forces of the loops do no work, and the base parameters are those of the positions recorded. The deviations
    that come with the values hold if what is wrong with `tau` is independent from sample to sample, and what is wrong with
    q, qd and qdd matters little beside it. Springs of the mechanism are known, and what they take is subtracted first.

    Parameters
    ----------
    mech : Mechanism
        Its geometry, gravity, gear ratios, and which joints have motors count; its masses, inertias and frictions
        count only where they are `known`.
    q : (..., T, nq) array_like
        Coordinates, rad or m: one motion of T samples, or several.
    qd, qdd : (..., T, nv) array_like
        Velocities and accelerations; `differentiate` finds them from measured positions.
    tau : (..., T, nv) array_like
        Efforts of the motors at the joints, N m or N (motor torque times gear ratio).
    known : str or sequence of str
        Parameters that are as `mech` says and are not to be found: names from ``mech.parameter_names`` (``"M2"``), kinds
        (``"Tc+"``), ``"friction"`` (B, Tc+ and Tc-) or ``"rotors"`` (Jm). With ``mech.without_friction()`` and
        ``known="friction"`` there is none.
    effort_std : float or (nv,) array_like, optional
        Standard deviation of the measured efforts, where it is known; it then says the weights and the deviations.
    essential : float, optional
        Leave out, one after another, the parameters whose deviation is above this share of their value (0.3, say).
    decimate : int
        Filter efforts and regressor alike, and keep every so many samples (needs SciPy): removes from measured
        efforts what is faster than the motion.
    least_speed : float or (n,) array_like
        Leave out the equation of a joint wherever it is slower than this, rad/s or m/s: near zero, where Coulomb friction
        jumps, a small error of the speed is a large one of the effort.
    driven : sequence of int or str, optional
        With loops, whose equations are taken: as many coordinates as there are degrees of freedom, by name or by the index
        of their speed; by default those with motors. Efforts of all others count too, and are zero where nothing drives.

    Returns
    -------
    Identification

    Raises
    ------
    ArgumentError
        Where shapes or values do not fit, or a motion opens loops; where samples are too few; where the motion does not tell
        all base parameters apart, naming those that it does not.
    MissingExtraError
        Where `decimate` is asked for and SciPy is not installed.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> q, qd, qdd = np.random.default_rng(0).normal(size=(3, 200, 2))
    >>> found = identify(arm, q, qd, qdd, arm.inverse_dynamics(q, qd, qdd))
    >>> [(name, abs(round(float(value), 9))) for name, value in zip(found.names, found.values)][:2]
    [('MX1 + M1 + M2', 1.5), ('MY1', 0.0)]
    """
    require_numeric_tree(mech, "identify")
    motion = _checked(mech, q=q, qd=qd, qdd=qdd, tau=tau)
    if mech.springs:
        motion["tau"] = motion["tau"] - spring_efforts(mech, motion["q"], motion["qd"], motion["qdd"])
    parameters = unknowns(mech, known, motion["q"] if mech.loops else None)
    share = None if essential is None else float(_number("essential", essential, ()))
    deviation = None if effort_std is None else np.broadcast_to(_number("effort_std", effort_std, (mech.nv,)), mech.nv)
    every = whole("decimate", decimate, 1)
    slowest = np.zeros(mech.nv)
    slowest[mech.nv - mech.n :] = _number("least_speed", least_speed, (mech.n,), zero=True)
    refuse_driven(mech, driven, "identify")
    at = driven_speeds(mech, driven, "identify") if mech.loops else None
    system = equations(mech, parameters, motion, every, slowest, at)
    check_excited(system.table.reshape(-1, len(parameters.base)), parameters.labels)
    estimated = estimate(system, deviation, share)
    size, succession = _residuals(system, estimated.values)
    conditions = condition_numbers(system.table)
    return Identification(mech, parameters, estimated, *conditions, system.counts, size, succession, at)


def _checked(tree: Tree, **arrays: Any) -> dict[str, FloatArray]:
    """The four arrays, of the same samples."""
    if not tree.nv:
        raise ArgumentError(f"{tree.name!r} has no joints: no parameter can be identified")
    motion = {}
    for field, value in arrays.items():
        size = tree.nq if field == "q" else tree.nv
        motion[field] = numbers(field, value, f"finite real numbers (..., T, {size})", copy=False)
        if motion[field].ndim < 2 or motion[field].shape[-1] != size:
            raise ArgumentError(f"{field} has the shape {motion[field].shape}; expected (..., T, {size}), T samples")
    if len({array.shape[:-1] for array in motion.values()}) > 1:
        shapes = ", ".join(f"{field} {array.shape}" for field, array in motion.items())
        raise ArgumentError(f"the shapes are {shapes}; expected the same samples in each")
    return motion


def _number(field: str, value: Any, shape: tuple[int, ...], *, zero: bool = False) -> FloatArray:
    """A positive number, or an array of such of the given shape."""
    expected = f"a number {'>=' if zero else '>'} 0" + (f", or {shape[0]} of them" if shape else "")
    array = numbers(field, value, expected)
    if array.shape not in {(), shape} or not np.all((array > 0) | (zero & (array == 0))):
        raise ArgumentError(f"{field} is {shown(value)}; expected {expected}")
    return array


def _residuals(system: MotionEquations, values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Root mean square (nv,) of the residual of each effort, and its correlation with the next in time."""
    residual = system.residual(values)
    squares, products = (residual**2).sum(axis=0), (residual[1:] * residual[:-1]).sum(axis=0)
    safe = np.where(squares > 0, squares, 1.0)
    return np.asarray(np.sqrt(squares / np.maximum(system.counts, 1))), np.asarray(products / safe)
