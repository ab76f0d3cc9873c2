"""The two floating links of TEST as a `Mechanism` with a floating base, and their motion by its dynamics.

Momentum stays as it was at the start; given the speed of the motor, its six numbers fix the six speeds of the base. So only
the pose of the base is integrated, and momentum is kept to rounding whatever the step.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkwise.errors import ArgumentError
from linkwise.mechanism import Mechanism
from linkwise.model.link import Link
from linkwise.spacelib.programs.floating import History
from linkwise.spacelib.programs.motions import Motion
from linkwise.spacelib.programs.two_links import TwoLinks, momentum
from linkwise.spatial.quaternion import rotation_quaternion
from linkwise.spatial.scalar import FloatArray
from linkwise.trajectory.hermite import Hermite

SUBSTEPS = 8
"""Steps of the Runge-Kutta method for each sample of the motor's motion."""

_STAGES = ((0.0, 1 / 6), (0.5, 1 / 3), (0.5, 1 / 3), (1.0, 1 / 6))
"""Where each stage of the classical Runge-Kutta method stands (W. Kutta, 1901), and its weight."""


def mechanism(links: TwoLinks) -> Mechanism:
    """The two links as a mechanism: link 1 is the floating base, link 2 turns about its z axis; no gravity.

    Parameters
    ----------
    links : TwoLinks
        Their inertias.

    Examples
    --------
    >>> from linkwise.spacelib.programs import bundled, two_links
    >>> mechanism(two_links.read_two_links(bundled.path("TEST.DAT"))).speed_names
    ('base_vx', 'base_vy', 'base_vz', 'base_wx', 'base_wy', 'base_wz', 'link2')
    """
    parts = [
        Link(joint="fixed", name="link1", **_body(links.J1)),
        Link(joint="revolute", name="link2", axis=(0.0, 0.0, 1.0), **_body(links.J2)),
    ]
    return Mechanism(parts, floating=True, gravity=(0.0, 0.0, 0.0), name="two links")


def run_floating_base(links: TwoLinks, motion: Motion, *, substeps: int = SUBSTEPS) -> History:
    """The motion of the two links by Linkwise's dynamics of a floating base.

    Between samples the motor follows the polynomials of degree five through position, speed and acceleration. The pose of
    the base is integrated by the classical Runge-Kutta method, its speeds come from momentum, and its acceleration from the
    six rows of inverse dynamics that belong to it, which are zero where nothing holds the base.

    Parameters
    ----------
    links : TwoLinks
        The bodies and their start.
    motion : Motion
        Of the motor, one joint.
    substeps : int
        Steps for each sample.

    Returns
    -------
    History

    Raises
    ------
    ArgumentError
        Where the motion is of more joints than one, or a number of steps below one.

    Examples
    --------
    >>> from linkwise.spacelib.programs import bundled, laws, two_links
    >>> links = two_links.read_two_links(bundled.path("TEST.DAT"))
    >>> made = run_floating_base(links, laws.motor_motion())
    >>> bool(abs(made.momentum - made.momentum[0]).max() < 1e-13)
    True
    """
    if motion.q.shape[1] != 1:
        raise ArgumentError(f"the motion is of {motion.q.shape[1]} joints; expected that of the one motor")
    if substeps < 1:
        raise ArgumentError(f"substeps is {substeps!r}; expected 1 or more")
    body = mechanism(links)
    system = _System(body, _start_momentum(body, links, motion))
    motor = motion.q[:, 0], motion.qp[:, 0], motion.qpp[:, 0]
    times, weights = _stage_times(motion.t, substeps)
    between = Hermite(motion.t, motion.q, motion.qp, motion.qpp)
    at, speeds, _ = (values[:, 0].reshape(times.shape) for values in between(times.ravel()))
    pose = np.concatenate([links.m1[:3, 3], rotation_quaternion(links.m1[:3, :3])])
    poses = [pose]
    step = motion.dt / substeps
    for k, (angles, rates) in enumerate(zip(at, speeds, strict=True), 1):
        pose = system.step(pose, angles, rates, step, weights)
        if k % substeps == 0:
            poses.append(pose)
    return _history(system, links, motion.dt, motion.t, np.array(poses), *motor)


@dataclass(frozen=True)
class _System:
    """The mechanism, and the momentum (6,) that it keeps."""

    body: Mechanism
    momentum: FloatArray

    def speeds(self, q: FloatArray, rate: FloatArray) -> FloatArray:
        """Speeds (..., 7) with the momentum that is kept, the joint's given."""
        columns = np.asarray(self.body.momentum(q[..., None, :], np.eye(7)))  # each row the momentum of one unit speed
        left = self.momentum - columns[..., 6, :] * rate[..., None]
        base = np.linalg.solve(np.swapaxes(columns[..., :6, :], -1, -2), left[..., None])[..., 0]
        return np.concatenate([base, rate[..., None]], axis=-1)

    def step(self, pose: FloatArray, angles: FloatArray, rates: FloatArray, step: float, weights: FloatArray) -> FloatArray:
        """One step of the pose; the motor's angle and speed stand at the stages."""
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


def _history(system: _System, links: TwoLinks, dt: float, t: FloatArray, poses: FloatArray, *motor: FloatArray) -> History:
    """All matrices of the links from the poses of the base."""
    body, (angle, rate, acceleration) = system.body, motor
    q = np.concatenate([poses, angle[:, None]], axis=1)
    qd = system.speeds(q, rate)
    T, W, H = body.motion(q, qd, _accelerations(body, q, qd, acceleration))
    made = momentum(links, T[:, 0], T[:, 1], W[:, 0], W[:, 1])
    return History("Linkwise", dt, t, angle, rate, acceleration, T[:, 0], T[:, 1], W[:, 0], W[:, 1], H[:, 0], H[:, 1], made)


def _accelerations(body: Mechanism, q: FloatArray, qd: FloatArray, joint: FloatArray) -> FloatArray:
    """Accelerations (k, 7), with that of the joint given: the base rows of M qdd + bias are zero."""
    M, bias = np.asarray(body.mass_matrix(q)), np.asarray(body.bias_torque(q, qd))
    right = -(bias[:, :6] + M[:, :6, 6] * joint[:, None])
    base = np.linalg.solve(M[:, :6, :6], right[..., None])[..., 0]
    return np.concatenate([base, joint[:, None]], axis=1)


def _body(J: FloatArray) -> dict[str, object]:
    """Mass, centre of mass, and tensor about it, of an inertia matrix about the frame's origin."""
    mass = float(J[3, 3])
    com = J[:3, 3] / mass
    second = J[:3, :3] - mass * np.outer(com, com)
    return {"mass": mass, "com": com, "inertia": np.trace(second) * np.eye(3) - second}
