"""Joint accelerations for the acceleration of a frame."""

from __future__ import annotations

import numpy.typing as npt

from linkwise.inverse_kinematics.velocity.joint_velocities import solved, vectors
from linkwise.inverse_kinematics.velocity.solution import VelocitySolution
from linkwise.inverse_kinematics.velocity.task import REGION, acceleration_bounds, check_limits, rate_task
from linkwise.model.tree import Tree
from linkwise.solve.validation import positive


def joint_accelerations(
    mechanism: Tree,
    q: npt.ArrayLike,
    qd: npt.ArrayLike,
    acceleration: npt.ArrayLike,
    *,
    link: int | str = "tool",
    frame: str = "world",
    mask: npt.ArrayLike | None = None,
    damping: float | str | None = "auto",
    region: float = REGION,
    limits: str | None = "scale",
    qdd_max: npt.ArrayLike | None = None,
    qd_max: npt.ArrayLike | None = None,
    dt: float | None = None,
    secondary: npt.ArrayLike | None = None,
    weights: npt.ArrayLike | None = None,
    length: float | None = None,
) -> VelocitySolution:
    """Joint accelerations that give a frame an acceleration, or come nearest to it: J qdd = a - dJ/dt qd.

    Singular positions, masks, weights and the secondary motion are treated as by `joint_velocities`.

    Parameters
    ----------
    mechanism : Mechanism
        On a fixed base, without loops.
    q, qd : (..., n) array_like
        Joint coordinates and speeds.
    acceleration : (..., 6) array_like
        Of the frame's origin, m/s2, and angular, rad/s2: the derivative of the twist. In the frame's own axes ("body") that
        is the rate of the twist's components there, as with `Mechanism.jacobian_dot`.
    limits : {"scale", "qp", None}
        How `qdd_max` is kept. "scale": the acceleration asked for is reduced by one factor; that which the speeds alone
        bring is compensated for in full, and where the bounds do not allow even that, rates are cut and the residual tells.
        "qp": the accelerations within the bounds that come nearest.
    qdd_max : (n,) array_like, optional
        Greatest accelerations, rad/s2 or m/s2, both ways; those of the mechanism by default.
    qd_max : (n,) array_like, optional
        Greatest speeds, which count where `dt` is given; those of the mechanism by default.
    dt : float, optional
        Where given, s, no joint may accelerate so much that it would pass its greatest speed within this time. One that is
        faster brakes as hard as `qdd_max` lets it.
    link, frame, mask, damping, region, secondary, weights, length
        As for `joint_velocities`, `secondary` being accelerations.

    Returns
    -------
    VelocitySolution
        Shaped as q, qd and acceleration broadcast.

    Raises
    ------
    ArgumentError
        Naming the argument at fault; for floating bases and mechanisms with loops.
    MissingExtraError
        For ``limits="qp"`` without the library that it needs.

    Notes
    -----
    J. Y. S. Luh, M. W. Walker and R. P. C. Paul, "Resolved-acceleration control of mechanical manipulators", IEEE Trans.
    Automatic Control 25(3), 1980.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm, q, qd = robots.puma560(), [0.1, 0.8, -2.0, 0.3, 0.5, 0.2], [0.3, -0.2, 0.5, 0.1, -0.4, 0.2]
    >>> made = joint_accelerations(arm, q, qd, [0.0] * 6)
    >>> bias = arm.jacobian_dot(q, qd) @ qd
    >>> made.exact, bool(abs(arm.jacobian(q) @ made.qdd + bias).max() < 1e-12)
    (True, True)
    """
    mechanism.require_numbers("joint_accelerations")
    task = rate_task(mechanism, 2, link, frame, mask, damping, region, weights, length)
    check_limits(limits)
    n = task.n
    at, speed, wanted = vectors("q", q, n), vectors("qd", qd, n), vectors("acceleration", acceleration, 6)
    beside = task.nothing if secondary is None else vectors("secondary", secondary, n)
    step = None if dt is None else positive("dt", dt)
    bounds = acceleration_bounds(task, speed, qdd_max, qd_max, step)
    return solved(task, (at, speed), wanted, beside, bounds, limits)
