"""Comparison of TEST, TEST_NEW and Linkwise on the same two floating links: distances, momentum, picture.

The reference is the two links as a `Mechanism` with a floating base. Momentum stays as it was at the start; given the speed
of the motor, its six numbers fix the six speeds of the base. So only the pose of the base is integrated, and momentum is
kept to rounding whatever the step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise.errors import ArgumentError
from linkwise.mechanism import Mechanism
from linkwise.model.link import Link
from linkwise.plot.figure import colour, figure, style
from linkwise.spacelib.kinds import whole
from linkwise.spacelib.programs.floating import History, TwoLinks, check_motor, momentum, run_test, run_test_new
from linkwise.spacelib.programs.laws import Motion, refined
from linkwise.spatial.quaternion import rotation_quaternion
from linkwise.spatial.scalar import FloatArray
from linkwise.trajectory.piecewise_polynomial import PiecewisePolynomial

if TYPE_CHECKING:
    from linkwise.spacelib.programs.floating import TwoLinks


#: Steps of the Runge-Kutta method for each sample of the motor's motion: doubled until they are enough.
FEWEST, MOST = 8, 1024

#: Half the step may change no element of the pose by more than this, or this times the greatest of all.
TOLERANCE = 1e-11

_NOT_FIXED = "momentum does not fix the speeds of the base: the two links have no extent, or numbers become too large"

#: Nodes of the stages of the classical Runge-Kutta method (W. Kutta, 1901), and their weights.
_STAGES = ((0.0, 1 / 6), (0.5, 1 / 3), (0.5, 1 / 3), (1.0, 1 / 6))


def mechanism(links: TwoLinks) -> Mechanism:
    """The two links as a mechanism: link 1 is the floating base, link 2 turns about its z axis; no gravity.

    Parameters
    ----------
    links : TwoLinks
        Their inertias.

    Examples
    --------
    >>> from linkwise.spacelib.programs import floating, formats
    >>> mechanism(floating.read_two_links(formats.path("TEST.DAT"))).velocity_names
    ('base_vx', 'base_vy', 'base_vz', 'base_wx', 'base_wy', 'base_wz', 'link2')
    """
    parts = [
        _link(links.J1, joint="fixed", name="link1"),
        _link(links.J2, joint="revolute", name="link2"),
    ]
    return Mechanism(parts, floating=True, gravity=(0.0, 0.0, 0.0), name="two links")


def run_floating_base(links: TwoLinks, motion: Motion, *, tolerance: float = TOLERANCE) -> History:
    """The motion of the two links by Linkwise's dynamics of a floating base.

    Between samples the motor follows the polynomials of degree five through position, speed and acceleration. The pose of
    the base is integrated by the classical Runge-Kutta method, its speeds come from momentum, and its acceleration from the
    six rows of inverse dynamics that belong to it, which are zero where nothing holds the base.

    Parameters
    ----------
    links : TwoLinks
        The bodies and their start.
    motion : Motion
        Motion of the motor, one joint.
    tolerance : float
        By how much half the step may change the pose at most (m; elements of the quaternion).

    Returns
    -------
    History

    Raises
    ------
    ArgumentError
        Where the motion is of more joints than one or of no instants, a thousand steps for each sample do not meet the
        tolerance, or numbers become too large.

    Examples
    --------
    >>> from linkwise.spacelib.programs import floating, formats, laws
    >>> links = floating.read_two_links(formats.path("TEST.DAT"))
    >>> made = run_floating_base(links, laws.motor_motion())
    >>> bool(abs(made.momentum - made.momentum[0]).max() < 1e-13)
    True
    """
    return with_check(links, motion, tolerance=tolerance)[0]


def with_check(links: TwoLinks, motion: Motion, *, tolerance: float = TOLERANCE) -> tuple[History, History]:
    """As `run_floating_base`, and again with half the step as a check of the result.

    Parameters
    ----------
    links, motion, tolerance
        As for `run_floating_base`.

    Raises
    ------
    ArgumentError
        As there.
    """
    check_motor("Linkwise", motion)
    body = mechanism(links)
    try:
        with np.errstate(all="ignore"):
            return _checked(_System(body, _start_momentum(body, links, motion)), links, motion, tolerance)
    except np.linalg.LinAlgError as error:
        raise ArgumentError(_NOT_FIXED) from error


def _checked(system: _System, links: TwoLinks, motion: Motion, tolerance: float) -> tuple[History, History]:
    """The motion with steps that are short enough, and with half of them."""
    substeps, coarse = FEWEST, _poses(system, links, motion, FEWEST)
    while (substeps := 2 * substeps) <= MOST:
        fine = _poses(system, links, motion, substeps)
        if np.abs(fine - coarse).max() <= tolerance * max(1.0, float(np.abs(fine).max())):
            return _history(system, links, motion, coarse), _history(system, links, motion, fine)
        coarse = fine
    raise ArgumentError(f"{MOST} steps for each sample of the motion do not meet the tolerance {tolerance!r}")


def _poses(system: _System, links: TwoLinks, motion: Motion, substeps: int) -> FloatArray:
    """Position and quaternion (k, 7) of the base at the samples."""
    times, weights = _stage_times(motion.t, substeps)
    between = PiecewisePolynomial(motion.t, motion.q, motion.qp, motion.qpp)
    angles, rates, _ = (values[:, 0].reshape(times.shape) for values in between(times.ravel()))
    pose = np.concatenate([links.m1[:3, 3], rotation_quaternion(links.m1[:3, :3])])
    poses = [pose]
    for k in range(len(times)):
        pose = system.step(pose, angles[k], rates[k], motion.dt / substeps, weights)
        if not np.isfinite(pose).all():
            raise ArgumentError(_NOT_FIXED)
        if (k + 1) % substeps == 0:
            poses.append(pose)
    return np.array(poses)


@dataclass(frozen=True)
class _System:
    """The mechanism, and the momentum (6,) that it keeps."""

    body: Mechanism
    momentum: FloatArray

    def speeds(self, q: FloatArray, rate: FloatArray) -> FloatArray:
        """Velocities (..., 7) with the conserved momentum, that of the joint given."""
        columns = np.asarray(self.body.momentum(q[..., None, :], np.eye(7)))  # each row is the momentum of one unit velocity
        left = self.momentum - columns[..., 6, :] * rate[..., None]
        base = np.linalg.solve(np.swapaxes(columns[..., :6, :], -1, -2), left[..., None])[..., 0]
        return np.concatenate([base, rate[..., None]], axis=-1)

    def step(self, pose: FloatArray, angles: FloatArray, rates: FloatArray, step: float, weights: FloatArray) -> FloatArray:
        """One step of the pose; the motor's angle and velocity are given at the stages."""
        rate_of = self.body.kernel("configuration_rate")
        slope, total = np.zeros(7), np.zeros(7)
        for (place, _), weight, angle, rate in zip(_STAGES, weights, angles, rates, strict=True):
            q = np.append(pose + place * step * slope, angle)
            slope = np.asarray(rate_of(q, self.speeds(q, np.asarray(rate))))[:7]
            total += weight * slope
        there = pose + step * total
        there[3:] /= np.linalg.norm(there[3:])
        return there


def _stage_times(t: FloatArray, substeps: int) -> tuple[FloatArray, FloatArray]:
    """Times (steps, 4) of all stages, and their weights."""
    start = (t[:-1, None] + np.diff(t)[:, None] * (np.arange(substeps) / substeps)).ravel()
    step = np.repeat(np.diff(t) / substeps, substeps)
    places, weights = (np.array(part) for part in zip(*_STAGES, strict=True))
    return np.clip(start[:, None] + step[:, None] * places, t[0], t[-1]), weights


def _start_momentum(body: Mechanism, links: TwoLinks, motion: Motion) -> FloatArray:
    """Momentum (6,) at the first instant: of the base's velocity matrix, and the motor's speed."""
    R, p = links.m1[:3, :3], links.m1[:3, 3]
    w = np.array([links.W1[2, 1], links.W1[0, 2], links.W1[1, 0]])
    v = links.W1[:3, :3] @ p + links.W1[:3, 3]
    q = np.concatenate([p, rotation_quaternion(R), motion.q[0]])
    return np.asarray(body.momentum(q, np.concatenate([R.T @ v, R.T @ w, motion.qp[0]])))


def _history(system: _System, links: TwoLinks, motion: Motion, poses: FloatArray) -> History:
    """All matrices of the links from the poses of the base."""
    motor = (motion.q[:, 0], motion.qp[:, 0], motion.qpp[:, 0])
    q = np.concatenate([poses, motion.q], axis=1)
    qd = system.speeds(q, motor[1])
    T, W, H = system.body.motion(q, qd, _accelerations(system.body, q, qd, motor[2]))
    parts = (T[:, 0], T[:, 1], W[:, 0], W[:, 1])
    if not np.isfinite(H).all():
        raise ArgumentError(_NOT_FIXED)
    return History("Linkwise", motion.dt, motion.t, *motor, *parts, H[:, 0], H[:, 1], momentum(links, *parts))


def _accelerations(body: Mechanism, q: FloatArray, qd: FloatArray, joint: FloatArray) -> FloatArray:
    """Accelerations (k, 7), with that of the joint given: the base rows of M qdd + bias are zero."""
    M, bias = np.asarray(body.mass_matrix(q)), np.asarray(body.bias_torque(q, qd))
    right = -(bias[:, :6] + M[:, :6, 6] * joint[:, None])
    base = np.linalg.solve(M[:, :6, :6], right[..., None])[..., 0]
    return np.concatenate([base, joint[:, None]], axis=1)


def _link(J: FloatArray, joint: str, name: str) -> Link:
    """A link, its joint about z, with mass, centre of mass, and tensor about it, of an inertia matrix about the origin."""
    mass = float(J[3, 3])
    com = J[:3, 3] / mass
    second = J[:3, :3] - mass * np.outer(com, com)
    tensor = np.trace(second) * np.eye(3) - second
    return Link(joint=joint, name=name, axis=(0.0, 0.0, 1.0), mass=mass, com=com, inertia=tensor)


@dataclass(frozen=True, eq=False)
class Compared:
    """One program compared with the reference.

    Attributes
    ----------
    history : History
        What it computed.
    distance : ndarray (k,)
        The greater distance of a link's centre of mass from where it should be, m.
    angle : ndarray (k,)
        Angle by which link 1 is turned away from where it should be, rad.
    linear, angular : ndarray (k,)
        Change since the start of linear momentum, kg m/s, and of angular momentum about the origin, kg m2/s.
    """

    history: History
    distance: FloatArray
    angle: FloatArray
    linear: FloatArray
    angular: FloatArray


def compare(links: TwoLinks, motion: Motion, *, halvings: int = 0, as_listed: bool = False) -> list[Compared]:
    """Run all three and hold them against Linkwise's dynamics of a floating base with half its step.

    Parameters
    ----------
    links : TwoLinks
        The bodies and their start.
    motion : Motion
        Motion of the motor.
    halvings : int
        How often the programs are run again, with half the step each time.
    as_listed : bool
        Whether TEST and TEST_NEW with the slips of their listings are run too.

    Returns
    -------
    list of Compared
        Program after program, each with the longest step first.

    Raises
    ------
    ArgumentError
        For fewer than no halvings, and as for `run_test` and `with_check`.

    Examples
    --------
    >>> from linkwise.spacelib.programs import floating, formats, laws
    >>> links = floating.read_two_links(formats.path("TEST.DAT"))
    >>> for one in compare(links, laws.motor_motion()):
    ...     print(one.history.program, bool(one.angular.max() < 1e-12), bool(one.angle.max() < 1e-4))
    TEST False False
    TEST_NEW True True
    Linkwise True True
    """
    whole("halvings", halvings, least=0)
    ours, reference = with_check(links, motion)
    comparisons = []
    for program in (run_test, run_test_new):
        for listed in (False, True) if as_listed else (False,):
            for k in range(halvings + 1):
                history = program(links, refined(motion, 2**k), as_listed=listed)
                comparisons.append(compared(links, history, reference))
    return [*comparisons, compared(links, ours, reference)]


def compared(links: TwoLinks, history: History, reference: History) -> Compared:
    """One history compared with the reference, at the reference's instants.

    Parameters
    ----------
    links : TwoLinks
        The bodies.
    history, reference : History
        Of the same motion; the instants of the first contain those of the second, evenly.
    """
    every = slice(None, None, (len(history.t) - 1) // max(1, len(reference.t) - 1) or 1)
    places, wanted = centres(links, history)[:2, every], centres(links, reference)[:2]
    distance = np.linalg.norm(places - wanted, axis=-1).max(axis=0)
    turn = history.m1[every, :3, :3] - reference.m1[:, :3, :3]
    angle = 2.0 * np.arcsin(np.minimum(np.linalg.norm(turn, axis=(1, 2)) / np.sqrt(8.0), 1.0))
    change = history.momentum[every] - history.momentum[0]
    linear = np.linalg.norm(change[:, :3, 3], axis=-1)
    angular = np.linalg.norm(change[:, [2, 0, 1], [1, 2, 0]], axis=-1)
    return Compared(history, distance, angle, linear, angular)


def centres(links: TwoLinks, history: History) -> FloatArray:
    """Centres of mass (3, k, 3) of link 1, link 2 and both together, m."""
    masses = np.array([links.J1[3, 3], links.J2[3, 3]])
    bodies = np.stack([(m @ J[:, 3] / J[3, 3])[:, :3] for m, J in ((history.m1, links.J1), (history.m2, links.J2))])
    return np.concatenate([bodies, np.tensordot(masses / masses.sum(), bodies, 1)[None]])


def names(comparisons: Sequence[Compared]) -> list[str]:
    """Name of each program, with its step if it was run with several."""
    programs = [item.history.program for item in comparisons]
    return [
        f"{name}, dt = {1e3 * item.history.dt:.3g} ms" if programs.count(name) > 1 else name
        for name, item in zip(programs, comparisons, strict=True)
    ]


#: Number of instants at which the bodies are drawn.
POSTURES = 5

#: Zero is drawn at the lower edge of a logarithmic axis.
LEAST = 1e-17

#: Line widths of the first and of the last program, so that overlapping lines are visible.
THICK, THIN = 7.0, 1.4


def draw(links: TwoLinks, comparisons: Sequence[Compared], names: Sequence[str]) -> Any:
    """Draw the bodies at some instants, the paths of their centres of mass, and errors against time.

    Parameters
    ----------
    links : TwoLinks
        The bodies.
    comparisons : sequence of Compared
        Results of the programs; the bodies are drawn as the last one has them.
    names : sequence of str
        What each is called.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    MissingExtraError
        Where matplotlib is not installed.
    """
    picture = figure(9.0, 8.2)
    grid = picture.add_gridspec(2, 2, height_ratios=(1.25, 1.0))
    _paths(picture.add_subplot(grid[0, :]), links, comparisons, names)
    distance, change = picture.add_subplot(grid[1, 0]), picture.add_subplot(grid[1, 1])
    for k, (item, name) in enumerate(zip(comparisons, names, strict=True)):
        t = item.history.t[:: max(1, (len(item.history.t) - 1) // max(1, len(item.distance) - 1))]
        look = {"color": colour(k), "linestyle": style(k), "label": name, "linewidth": 1.4}
        distance.semilogy(t, np.maximum(item.distance, LEAST), **look)
        change.semilogy(t, np.maximum(np.hypot(item.linear, item.angular), LEAST), **look)
    distance.set(xlabel="time [s]", ylabel="[m]", title="centres of mass: distance from the reference")
    change.set(xlabel="time [s]", ylabel="[kg m/s, kg m²/s]", title="momentum: change since the start")
    for axis in (distance, change):
        axis.title.set_fontsize(10)
        axis.grid(color="0.9")
        axis.legend(fontsize=8)
    return picture


def _paths(axis: Any, links: TwoLinks, comparisons: Sequence[Compared], names: Sequence[str]) -> None:
    """Bodies and paths, projected on the two axes of frame (0) along which they spread most."""
    paths = [centres(links, item.history) for item in comparisons]
    last = comparisons[-1].history
    bodies = [np.stack([_rod(m, J) for m in poses]) for poses, J in ((last.m1, links.J1), (last.m2, links.J2))]
    spread = np.ptp(np.concatenate([body.reshape(-1, 3) for body in bodies]), axis=0)
    across, up = sorted(np.argsort(spread)[-2:].tolist())
    for k in np.linspace(0, len(last.t) - 1, POSTURES).round().astype(int).tolist():
        share = k / max(1, len(last.t) - 1)
        for body, grey, dashes in zip(bodies, ("0.25", "0.55"), ("-", "--"), strict=True):
            axis.plot(
                *body[k][:, [across, up]].T, color=grey, linestyle=dashes, linewidth=1.6, alpha=0.25 + 0.75 * share, zorder=2
            )
        axis.plot(*last.m1[k, [across, up], 3], "o", color="0.25", markersize=4, alpha=0.25 + 0.75 * share, zorder=3)
    for k, (path, name) in enumerate(zip(paths, names, strict=True)):
        width = np.interp(k, (0, max(1, len(comparisons) - 1)), (THICK, THIN))
        for which, body in enumerate(path):
            label = name if which == 0 else None
            axis.plot(*body[:, [across, up]].T, color=colour(k), linewidth=width, label=label, zorder=4 + k)
    total = paths[-1][2][:, [across, up]]
    axis.plot(*total.T, color="black", linestyle=":", linewidth=1.0, label="total centre of mass", zorder=9)
    axis.plot([], [], color="0.25", label="link 1")
    axis.plot([], [], color="0.55", linestyle="--", label="link 2")
    for k in (0, len(last.t) - 1):
        joint = last.m1[k, [across, up], 3]
        axis.annotate(f"{last.t[k]:.3g} s", joint, xytext=(-12, -16), textcoords="offset points", fontsize=8, color="0.3")
    axis.set_aspect("equal", adjustable="datalim")
    axis.set(
        xlabel=f"{'xyz'[across]} [m]",
        ylabel=f"{'xyz'[up]} [m]",
        title=f"paths of the centres of mass; in grey the links at {POSTURES} instants",
    )
    axis.title.set_fontsize(10)
    axis.margins(x=0.08)
    axis.grid(color="0.93")
    axis.legend(fontsize=8, loc="upper left", ncols=2)


def _rod(m: FloatArray, J: FloatArray) -> FloatArray:
    """A rod (2, 3) from the joint through the centre of mass, twice as far; a short one for a body centred on the joint."""
    com = J[:3, 3] / J[3, 3]
    end = 2.0 * com if com.any() else np.array([0.1, 0.0, 0.0])
    return np.stack([m[:3, 3], m[:3, :3] @ end + m[:3, 3]])
