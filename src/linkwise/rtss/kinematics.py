"""Kinematics, dynamics and trajectories of the toolbox over Linkwise's functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError, shown
from linkwise.inverse_kinematics import newton_raphson
from linkwise.mechanism import Mechanism
from linkwise.rtss.arguments import also, coordinates, vector, vectors
from linkwise.rtss.link import rt_link
from linkwise.rtss.quaternion import ratios_of
from linkwise.rtss.robot import free_fall_of, mechanism_of, rt_robot, under_gravity, weightless
from linkwise.simulation import simulate
from linkwise.solve import REASONS
from linkwise.spatial.rotation import rotations_about
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.transform import transforms
from linkwise.spatial.validation import choice, flag, numbers, rigid_poses
from linkwise.trajectory.cartesian import Legs
from linkwise.trajectory.piecewise_polynomial import PiecewisePolynomial
from linkwise.trajectory.validation import ends, instants

#: The two measures of `rt_maniplty`, and what they may be called.
MEASURES = ("yoshikawa", "yoshi", "y", "asada", "asa", "a")


def rt_fkine(robot: rt_robot | Mechanism, q: npt.ArrayLike) -> FloatArray:
    """Pose of the tool, T_world_tool (..., 4, 4), at joint coordinates.

    Parameters
    ----------
    robot : rt_robot or Mechanism
        Base and tool are included.
    q : (..., n) array_like
        Joint coordinates, rad or m: one configuration (n,), or a row for each point of a trajectory (m, n).

    Returns
    -------
    ndarray (4, 4) or (m, 4, 4)
        The point comes first here; the original has 4 x 4 x m.

    Raises
    ------
    ArgumentError
        Where q has another shape.

    Examples
    --------
    >>> from linkwise.rtss import rt_twolink
    >>> rt_fkine(rt_twolink(), [0.0, np.pi / 2])[:3, 3].round(12).tolist()
    [1.0, 1.0, 0.0]
    """
    return mechanism_of("rt_fkine", robot).forward_kinematics(coordinates("rt_fkine: q", q))


def rt_jacob0(robot: rt_robot | Mechanism, q: npt.ArrayLike) -> FloatArray:
    """Jacobian (..., 6, n) of the tool in world axes: linear rows, then angular ones.

    Parameters
    ----------
    robot : rt_robot or Mechanism
    q : (..., n) array_like
        Joint coordinates; the original takes one configuration.

    Raises
    ------
    ArgumentError
        Where q has another shape.

    Examples
    --------
    >>> from linkwise.rtss import rt_twolink
    >>> rt_jacob0(rt_twolink(), [0.0, 0.0])[1].tolist()
    [2.0, 1.0]
    """
    return mechanism_of("rt_jacob0", robot).jacobian(coordinates("rt_jacob0: q", q))


def rt_jacobn(robot: rt_robot | Mechanism, q: npt.ArrayLike) -> FloatArray:
    """Jacobian (..., 6, n) of the tool in its own axes; see `rt_jacob0`.

    Examples
    --------
    >>> from linkwise.rtss import rt_twolink
    >>> rt_jacobn(rt_twolink(), [np.pi / 2, 0.0])[1].round(12).tolist()
    [2.0, 1.0]
    """
    return mechanism_of("rt_jacobn", robot).jacobian(coordinates("rt_jacobn: q", q), frame="body")


def rt_maniplty(robot: rt_robot | Mechanism, q: npt.ArrayLike, which: str = "yoshikawa") -> FloatArray:
    """How far from singular a configuration is: 0 where it is.

    Parameters
    ----------
    robot : rt_robot or Mechanism
    q : (..., n) array_like
        Joint coordinates.
    which : {"yoshikawa", "asada"}
        ``"yoshikawa"`` (or yoshi, y): sqrt(det(J J')) (T. Yoshikawa, "Manipulability of robotic mechanisms", 1985); it mixes
        m and rad. ``"asada"`` (or asa, a): the least eigenvalue of the inertia that the tool shows (`rt_cinertia`) over the
        greatest, from 0 to 1 (H. Asada, 1983).

    Returns
    -------
    ndarray (...)

    Raises
    ------
    ArgumentError
        For another measure, for which the original gives an empty matrix without a word; or where q has another shape.

    Notes
    -----
    With fewer than six joints ``"yoshikawa"`` is sqrt(det(J' J)), all six rows counted, where the original gives 0 or
    rounding; `Mechanism.manipulability` takes the rows of translation or of rotation alone. ``"asada"`` is 0 at a singular
    configuration, where the original inverts a singular matrix.

    Examples
    --------
    >>> from linkwise.rtss import rt_puma560
    >>> rt_maniplty(rt_puma560(), [[0, np.pi / 4, -np.pi, 1, np.pi / 4, 0], [0.0] * 6]).round(4).tolist()
    [0.0786, 0.0]
    """
    measure = choice("rt_maniplty: which", which, MEASURES)
    q = coordinates("rt_maniplty: q", q)
    if measure.startswith("y"):
        return mechanism_of("rt_maniplty", robot).manipulability(q)
    return mechanism_of("rt_maniplty", robot, dynamic=True).dynamic_manipulability(q, measure="asada")


#: Greatest distance (m) and angle (rad) from the pose; the original takes it for the length of the last step.
TOLERANCE = 1e-11

#: Most steps for one pose.
ITERATIONS = 1000


@also(m="mask")
def rt_ikine(
    robot: rt_robot | Mechanism,
    T: npt.ArrayLike,
    q0: npt.ArrayLike | None = None,
    mask: npt.ArrayLike | None = None,
) -> FloatArray:
    """Joint coordinates that bring the tool to a pose, or along a trajectory, by Newton-Raphson steps from q0.

    Parameters
    ----------
    robot : rt_robot or Mechanism
    T : (4, 4) or (m, 4, 4) array_like
        T_world_tool, rigid; a rotation that is so to 1e-6 only is first made orthonormal. Of a trajectory each pose starts
        from the solution of the one before.
    q0 : (n,) array_like, optional
        Where to start, rad or m; zero unless given.
    mask : (6,) array_like, optional
        1 for what counts, 0 for what is left free: translation along x, y, z, rotation about x, y, z of the world. With
        fewer than six joints it must be given, with as many ones as there are joints.

    Returns
    -------
    ndarray (n,) or (m, n)
        The user's coordinates: what is an offset in the model is not in them. Joint limits are not looked at.

    Raises
    ------
    ArgumentError
        Where the pose is not reached; where shapes, or joints and mask, do not fit.

    Notes
    -----
    The steps are those of `linkwise.inverse_kinematics.newton_raphson`, with 1000 of them at most. Deliberately different
    from the original: success is judged by the pose that is reached, to 1e-11 m and rad, not by the length of the last step;
    the mask leaves rows out of the Jacobian too; with fewer than six joints a missing mask is an error, there it is a
    remark; a step turns no joint by more than half a radian. Which of several solutions is found from far away may therefore
    differ. Robots in other units than m are judged in theirs; with lengths above some 1e4 rounding alone is more than that.
    `Mechanism.inverse_kinematics` and `linkwise.solve` tell more, and give up less easily.

    Examples
    --------
    >>> from linkwise.rtss import rt_fkine, rt_puma560
    >>> arm = rt_puma560()
    >>> q = [0.1, 0.8, -2.0, 0.3, 0.5, 0.2]
    >>> rt_ikine(arm, rt_fkine(arm, q), [0, 0.7, -1.9, 0.2, 0.4, 0]).round(9).tolist()
    [0.1, 0.8, -2.0, 0.3, 0.5, 0.2]
    """
    mechanism = mechanism_of("rt_ikine", robot)
    n = mechanism.n
    wanted = rigid_poses("rt_ikine: T", T)
    if wanted.ndim > 3:
        raise ArgumentError(f"rt_ikine: T has the shape {wanted.shape}; expected (4, 4) or (m, 4, 4)")
    q = np.zeros(n) if q0 is None else vector("rt_ikine: q0", q0, n)
    counted = _mask(mask, n)
    solutions = np.empty((*wanted.shape[:-2], n))
    for place in np.ndindex(wanted.shape[:-2]):
        options: dict[str, Any] = {"mask": counted, "tol": TOLERANCE, "iterations": ITERATIONS, "limits": False}
        answer = newton_raphson(mechanism, wanted[place], q, **options)
        if not answer.success:
            which = f" {place[0]} of T" if place else ""
            errors = f"{answer.position_error:.3g} m and {answer.rotation_error:.3g} rad"
            missed = f"pose{which} is not reached, {errors} are left after {answer.iterations} steps"
            raise ArgumentError(f"rt_ikine: {missed}: {REASONS[str(answer.reason)]}")
        solutions[place] = q = answer.q
    return solutions


def _mask(value: Any, n: int) -> FloatArray | None:
    if value is None:
        if n < 6:
            raise ArgumentError(f"rt_ikine: mask is missing; {n} joints cannot reach every pose; expected six of 0 or 1")
        return None
    mask = vector("rt_ikine: mask", value, 6)
    if not np.isin(mask, (0.0, 1.0)).all() or (n < 6 and mask.sum() != n) or not mask.any():
        many = f"{n} of them 1, as there are {n} joints" if n < 6 else "not all 0"
        raise ArgumentError(f"rt_ikine: mask is {shown(value)}; expected six of 0 or 1, {many}")
    return mask


@also(Q="q")
def rt_rne(
    robot: rt_robot | Mechanism,
    q: npt.ArrayLike,
    qd: npt.ArrayLike | None = None,
    qdd: npt.ArrayLike | None = None,
    grav: npt.ArrayLike | None = None,
    fext: npt.ArrayLike | None = None,
) -> FloatArray:
    """Joint efforts (..., n) that a motion takes: ``rt_rne(robot, q, qd, qdd)`` or ``rt_rne(robot, Q)``, Q = [q qd qdd].

    Parameters
    ----------
    robot : rt_robot or Mechanism
        Rotors and friction are counted, friction by the rule of the robot.
    q, qd, qdd : (..., n) array_like
        Coordinates, speeds, accelerations; or q alone (..., 3n), with grav and fext in the next two places.
    grav : (3,) array_like, optional
        Gravity instead of that of the robot, in world axes, with the sign in which the robot takes its own: for an
        `rt_robot`, as in the original, (0, 0, 9.81) points up unless it was made with ``gravity_sign="free_fall"``; for a
        `Mechanism` it is the acceleration of free fall.
    fext : (..., 6) array_like, optional
        Force (N) and moment (N m) that the tool exerts **on the surroundings**, at its origin, in its axes: minus
        what `Mechanism.inverse_dynamics` takes.

    Returns
    -------
    ndarray (..., n)
        N m or N.

    Raises
    ------
    ArgumentError
        Where shapes do not fit.
    ModelError
        Naming the links whose mass, centre of mass or tensor is not set.

    Notes
    -----
    Deliberately different from the original: fext acts at the tool, where the original forgets `robot.tool` and takes the
    last link's frame; gravity is in world axes, there in those of the base; the offset of a prismatic joint counts. Friction
    is by ``robot.friction``: ``"toolbox7"`` reproduces the numbers of the original.

    Examples
    --------
    >>> from linkwise.rtss import rt_puma560
    >>> arm = rt_puma560()
    >>> rt_rne(arm, np.zeros(6), np.zeros(6), np.zeros(6))[1:3].round(4).tolist()
    [37.4837, 0.2489]
    >>> bool(rt_rne(arm, np.zeros(18), (0, 0, 0)).any())
    False
    """
    return _inverse("rt_rne", robot, (q, qd, qdd), grav, fext)


@also(Q="q")
def rt_frne(
    robot: rt_robot | Mechanism,
    q: npt.ArrayLike,
    qd: npt.ArrayLike | None = None,
    qdd: npt.ArrayLike | None = None,
    grav: npt.ArrayLike | None = None,
    fext: npt.ArrayLike | None = None,
) -> FloatArray:
    """Joint efforts (..., n) that a motion takes: `rt_rne` by another name.

    The original has one function in its own language and one in C; here both are the same compiled kernel.

    Examples
    --------
    >>> from linkwise.rtss import rt_puma560
    >>> rt_frne(rt_puma560(), np.zeros(18))[1:3].round(4).tolist()
    [37.4837, 0.2489]
    """
    return _inverse("rt_frne", robot, (q, qd, qdd), grav, fext)


def rt_accel(
    robot: rt_robot | Mechanism,
    q: npt.ArrayLike,
    qd: npt.ArrayLike | None = None,
    torque: npt.ArrayLike | None = None,
) -> FloatArray:
    """Accelerations (..., n) under the efforts of the motors: ``rt_accel(robot, q, qd, torque)``, or one array of all three.

    Parameters
    ----------
    robot : rt_robot or Mechanism
    q, qd, torque : (..., n) array_like
        Coordinates, speeds, efforts; or q alone (..., 3n). The original takes one configuration.

    Raises
    ------
    ArgumentError
        Where shapes do not fit.
    ModelError
        Where masses are not set, or a joint moves no inertia.

    Examples
    --------
    >>> from linkwise.rtss import rt_twolink
    >>> rt_accel(rt_twolink(), [0.0, 0.0], [0.0, 0.0], [8.0, 0.0]).round(9).tolist()
    [2.0, -3.0]
    """
    mechanism = mechanism_of("rt_accel", robot, dynamic=True)
    state, further = _three("rt_accel", mechanism.n, (q, qd, torque), ("q", "qd", "torque"))
    if any(value is not None for value in further):
        raise ArgumentError("rt_accel: [q qd torque] is one array (..., 3n); nothing goes with it")
    return mechanism.forward_dynamics(state[0], state[1], state[2])


def rt_inertia(robot: rt_robot | Mechanism, q: npt.ArrayLike) -> FloatArray:
    """Joint-space inertia matrix (..., n, n), rotors counted; the original has n x n x m.

    Examples
    --------
    >>> from linkwise.rtss import rt_twolink
    >>> rt_inertia(rt_twolink(), [0.0, 0.0]).tolist()
    [[13.0, 6.0], [6.0, 4.0]]
    """
    return mechanism_of("rt_inertia", robot, dynamic=True).mass_matrix(coordinates("rt_inertia: q", q))


def rt_cinertia(robot: rt_robot | Mechanism, q: npt.ArrayLike) -> FloatArray:
    """Inertia (..., 6, 6) that the tool shows, in world axes: inverse(J') M inverse(J), for six joints or more.

    Parameters
    ----------
    robot : rt_robot or Mechanism
        More than six joints are allowed here: inverse(J inverse(M) J').
    q : (..., n) array_like
        Joint coordinates.

    Raises
    ------
    ArgumentError
        For fewer than six joints, which leave the tool directions without an inertia.
    ModelError
        Where masses are not set.

    Notes
    -----
    At a singular configuration the original inverts a singular matrix. Here it is the pseudo-inverse of the inverse inertia,
    zero in directions in which the tool cannot accelerate; see `Mechanism.operational_space_inertia`.

    Examples
    --------
    >>> from linkwise.rtss import rt_puma560
    >>> rt_cinertia(rt_puma560(), [0, np.pi / 4, np.pi, 0, np.pi / 4, 0])[0, 0].round(4).item()
    17.2954
    """
    mechanism = mechanism_of("rt_cinertia", robot, dynamic=True)
    if mechanism.n < 6:
        raise ArgumentError(f"rt_cinertia: {mechanism.name!r} has {mechanism.n} joints; expected six or more")
    return mechanism.operational_space_inertia(coordinates("rt_cinertia: q", q))


def rt_coriolis(robot: rt_robot | Mechanism, q: npt.ArrayLike, qd: npt.ArrayLike, *, friction: bool = False) -> FloatArray:
    """Coriolis and centrifugal efforts (..., n): a vector, C(q, qd) qd. `Mechanism.coriolis_matrix` gives the matrix C.

    Parameters
    ----------
    robot : rt_robot or Mechanism
    q, qd : (..., n) array_like
        Coordinates and speeds.
    friction : bool
        Whether friction is added. The original's manual says that it is ignored, and its code adds it; here the manual holds
        unless this is True.

    Raises
    ------
    ArgumentError
        Where shapes do not fit.
    ModelError
        Where masses are not set.

    Notes
    -----
    Releases of the MATLAB toolbox from 8 on return the matrix under this name.

    Examples
    --------
    >>> from linkwise.rtss import rt_twolink
    >>> rt_coriolis(rt_twolink(), [0.0, np.pi / 2], [1.0, 0.0]).round(9).tolist()
    [0.0, 2.0]
    """
    flag("rt_coriolis: friction", friction)
    mechanism = weightless(mechanism_of("rt_coriolis", robot, dynamic=True))
    q, qd = coordinates("rt_coriolis: q", q), coordinates("rt_coriolis: qd", qd)
    effort = mechanism.bias_torque(q, qd)
    return np.asarray(effort + mechanism.friction_torque(qd)) if friction else effort


def rt_gravload(robot: rt_robot | Mechanism, q: npt.ArrayLike, grav: npt.ArrayLike | None = None) -> FloatArray:
    """Efforts (..., n) that hold the robot at rest against gravity.

    Parameters
    ----------
    robot : rt_robot or Mechanism
    q : (..., n) array_like
        Joint coordinates.
    grav : (3,) array_like, optional
        As for `rt_rne`.

    Raises
    ------
    ArgumentError
        Where shapes do not fit.
    ModelError
        Where masses are not set.

    Examples
    --------
    >>> from linkwise.rtss import rt_puma560
    >>> rt_gravload(rt_puma560(), np.zeros(6))[:3].round(4).tolist()
    [0.0, 37.4837, 0.2489]
    """
    return _field("rt_gravload", robot, grav).gravity_torque(coordinates("rt_gravload: q", q))


def rt_itorque(robot: rt_robot | Mechanism, q: npt.ArrayLike, qdd: npt.ArrayLike) -> FloatArray:
    """Efforts (..., n) of inertia alone, M(q) qdd.

    Parameters
    ----------
    robot : rt_robot or Mechanism
    q, qdd : (..., n) array_like
        Coordinates and accelerations.

    Raises
    ------
    ArgumentError
        Where shapes do not fit.
    ModelError
        Where masses are not set.

    Examples
    --------
    >>> from linkwise.rtss import rt_twolink
    >>> rt_itorque(rt_twolink(), [0.0, 0.0], [1.0, 0.0]).tolist()
    [13.0, 6.0]
    """
    mechanism = weightless(mechanism_of("rt_itorque", robot, dynamic=True))
    q, qdd = coordinates("rt_itorque: q", q), coordinates("rt_itorque: qdd", qdd)
    return mechanism.inverse_dynamics(q, np.zeros(mechanism.n), qdd)


def _field(function: str, robot: Any, grav: Any) -> Mechanism:
    """The mechanism of a robot with masses, in its own gravity or in another."""
    mechanism = mechanism_of(function, robot, dynamic=True)
    return mechanism if grav is None else under_gravity(mechanism, free_fall_of(function, robot, grav))


def _inverse(function: str, robot: Any, motion: tuple[Any, Any, Any], grav: Any, fext: Any) -> FloatArray:
    n = mechanism_of(function, robot).n
    state, further = _three(function, n, motion, ("q", "qd", "qdd"))
    options = {"grav": grav, "fext": fext}
    for name, value in zip(options, further, strict=False):
        if value is not None and options[name] is not None:
            raise ArgumentError(f"{function}: {name} is given twice")
        options[name] = options[name] if value is None else value
    mechanism = _field(function, robot, options["grav"])
    if options["fext"] is None:
        return mechanism.inverse_dynamics(state[0], state[1], state[2])
    on_the_tool = 0.0 - vectors(f"{function}: fext", options["fext"], 6)
    return mechanism.inverse_dynamics(state[0], state[1], state[2], on_the_tool)


def _three(
    function: str, n: int, values: tuple[Any, Any, Any], names: tuple[str, str, str]
) -> tuple[list[FloatArray], list[Any]]:
    """Three arrays (..., n), and what else was given: the second and third argument where the first holds all three."""
    first = numbers(f"{function}: {names[0]}", values[0], f"real numbers (..., {n})", finite=False)
    for name, value in zip(names, (first, *values[1:]), strict=True):
        coordinates(f"{function}: {name}", value)
    if first.shape[-1:] == (3 * n,):
        return [first[..., k * n : (k + 1) * n] for k in range(3)], list(values[1:])
    missing = [name for name, value in zip(names, values, strict=True) if value is None]
    if missing:
        expected = f"{', '.join(names)} (..., {n}), or all in one array (..., {3 * n})"
        shape = f"{names[0]} has the shape {first.shape}"
        raise ArgumentError(f"{function}: {' and '.join(missing)} missing; expected {expected}, and {shape}")
    return [first, *values[1:]], []


#: Of the gear, for `rt_friction`.
SIDES = ("joint", "motor")

Some = TypeVar("Some", rt_link, rt_robot, Mechanism)


@also(obj="robot")
def rt_friction(robot: rt_robot | rt_link | Mechanism, qd: npt.ArrayLike, *, side: str = "joint") -> FloatArray:
    """Friction that the motors must overcome at joint speeds; it has the sign of the speed.

    Parameters
    ----------
    robot : rt_robot, rt_link or Mechanism
    qd : (..., n) array_like, or (...) for a link
        Joint speeds, rad/s or m/s.
    side : {"joint", "motor"}
        ``"joint"``: what is felt at the joints (N m or N), by the rule of the robot (`rt_robot` has ``friction=``), as it is
        counted in `rt_rne`; a link by itself goes by ``"reflected"``. ``"motor"``: what the original returns, B qd + Tc of
        each motor, with the gear left out.

    Returns
    -------
    ndarray
        Shaped as qd.

    Raises
    ------
    ArgumentError
        For another side, another object, or qd of another shape.

    Notes
    -----
    Different from the original, which returns the part on the motor's side and leaves the gear to the caller; by its
    rule (``friction="toolbox7"``) the joint feels G times that.

    Examples
    --------
    >>> from linkwise.rtss import rt_puma560
    >>> waist = rt_puma560().links[0]
    >>> rt_friction(waist, [2.0, -1.0]).round(4).tolist()
    [36.335, -33.0377]
    >>> rt_friction(waist, [2.0, -1.0], side="motor").round(6).tolist()
    [0.39796, -0.43648]
    """
    choice("rt_friction: side", side, SIDES)
    if isinstance(robot, rt_link):
        speeds = numbers("rt_friction: qd", qd, "joint speeds", finite=False)
        alone = _changed(rt_link(), B=robot.B, Tc=robot.Tc, G=robot.G)
        return rt_friction(rt_robot([alone]), speeds[..., None], side=side)[..., 0]
    if side == "motor" and isinstance(robot, rt_robot):
        robot = rt_robot(robot, [_changed(link, G=1.0) for link in robot.links])
    mechanism = mechanism_of("rt_friction", robot)
    return (_ungeared(mechanism) if side == "motor" else mechanism).friction_torque(coordinates("rt_friction: qd", qd))


@also(obj="robot")
def rt_nofriction(robot: Some, which: str | None = None) -> Some:
    """The same robot or link without Coulomb friction, or without any.

    Parameters
    ----------
    robot : rt_robot, rt_link or Mechanism
        It stays as it is.
    which : {"all"}, optional
        ``"all"`` takes viscous friction off too.

    Returns
    -------
    The same kind of object
        A robot's name begins with ``NF/``.

    Raises
    ------
    ArgumentError
        For another word (of which the original reads the first three letters), or another object.

    Examples
    --------
    >>> from linkwise.rtss import rt_puma560
    >>> free = rt_nofriction(rt_puma560())
    >>> free.name, free.links[0].Tc.tolist(), free.links[0].B
    ('NF/Puma 560', [0.0, 0.0], 0.00148)
    >>> rt_nofriction(free.links[0], "all").B
    0.0
    """
    if which is not None and (not isinstance(which, str) or which.lower() != "all"):
        raise ArgumentError(f"rt_nofriction: which is {shown(which)}; expected 'all' or None (Coulomb friction only)")
    zeros = {"Tc": 0.0} if which is None else {"Tc": 0.0, "B": 0.0}
    without: Any
    if isinstance(robot, rt_link):
        without = _changed(robot, **zeros)
    elif isinstance(robot, rt_robot):
        without = _named(f"NF/{robot.name}", robot, [_changed(link, **zeros) for link in robot.links])
    elif isinstance(robot, Mechanism):
        without = robot.without_friction(viscous=which is not None).replace(name=f"NF/{robot.name}")
    else:
        raise ArgumentError(f"rt_nofriction: {shown(robot)} was given; expected an rt_robot, an rt_link or a Mechanism")
    result: Some = without
    return result


def _named(name: str, robot: rt_robot, links: list[rt_link]) -> rt_robot:
    """The robot with other links, under another name."""
    named = rt_robot(robot, links)
    named.name = name
    return named


def _changed(link: rt_link, **values: Any) -> rt_link:
    """A copy of a link with other values."""
    changed = rt_link(link)
    changed.assign(values)
    return changed


def _ungeared(mechanism: Mechanism) -> Mechanism:
    """The mechanism with all gears taken out."""
    links = [link.replace(motor=link.motor.replace(gear_ratio=1.0)) if link.motor else link for link in mechanism.links]
    return mechanism.replace(links=links, motors=[motor.replace(gear_ratio=1.0) for motor in mechanism.motors])


Arm = TypeVar("Arm", rt_robot, Mechanism)


def rt_perturb(robot: Arm, p: float = 0.1, seed: int = 0) -> Arm:
    """The same robot with the mass and the tensor of each link multiplied by factors of their own.

    Parameters
    ----------
    robot : rt_robot or Mechanism
        It stays as it is.
    p : float
        The factors are drawn evenly from 1 - p to 1 + p; 0 to less than 1.
    seed : int
        Which draw. The original draws anew at every call; here the same seed gives the same robot.

    Returns
    -------
    The same kind of object
        Its name begins with ``P/``.

    Raises
    ------
    ArgumentError
        For another object, or p outside its range.

    Examples
    --------
    >>> from linkwise.rtss import rt_puma560
    >>> other = rt_perturb(rt_puma560(), 0.2, seed=1)
    >>> other.name, bool(0.8 < other.links[1].m / 17.4 < 1.2)
    ('P/Puma 560', True)
    """
    perturbed = mechanism_of("rt_perturb", robot).perturb(p, seed)
    changed: Any = perturbed.replace(name=f"P/{robot.name}")
    if isinstance(robot, rt_robot):
        links = [rt_link(link) for link in robot.links]
        for link, other in zip(links, perturbed.links, strict=True):
            values = {"m": other.body.mass, "I": other.body.tensor}  # as far as the link has any
            link.assign({field: value for field, value in values.items() if not link.missing(field)})
        changed = _named(f"P/{robot.name}", robot, links)
    result: Arm = changed
    return result


@also(tv="t")
def rt_jtraj(
    q0: npt.ArrayLike,
    q1: npt.ArrayLike,
    t: npt.ArrayLike,
    qd0: npt.ArrayLike = 0.0,
    qd1: npt.ArrayLike = 0.0,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Move from one configuration to another by polynomials of degree five, without acceleration at both ends.

    Parameters
    ----------
    q0, q1 : (..., n) array_like
        Where it begins and ends, rad or m; a number is one joint.
    t : int or (m,) array_like
        How many points, evenly from time 0 to 1; or the times, s: the motion lasts from **0** to the greatest of them,
        in whatever order they stand, so times that begin later begin on the way.
    qd0, qd1 : (..., n) array_like, optional
        Speeds at the beginning and the end; zero unless given.

    Returns
    -------
    q, qd, qdd : ndarray (..., m, n)
        All three always, with a row for each time.

    Raises
    ------
    ArgumentError
        Where shapes or times do not fit.

    Notes
    -----
    `linkwise.trajectory.trapezoidal` does the same from the first of its instants to the last, and gives a `Trajectory`.

    Examples
    --------
    >>> q, qd, qdd = rt_jtraj([0.0, 1.0], [1.0, 0.0], [0.0, 1.0, 2.0])
    >>> q.tolist(), qd[1].tolist()
    ([[0.0, 1.0], [0.5, 0.5], [1.0, 0.0]], [0.9375, -0.9375])
    """
    speeds = {"qd0": numbers("rt_jtraj: qd0", qd0), "qd1": numbers("rt_jtraj: qd1", qd1)}
    ends_of_motion = ends(q0=_row("rt_jtraj: q0", q0), q1=_row("rt_jtraj: q1", q1), **speeds)
    times = _times(t)
    first, second = (np.stack((ends_of_motion[a], ends_of_motion[b]), axis=-2) for a, b in (("q0", "q1"), ("qd0", "qd1")))
    with np.errstate(all="ignore"):
        motion = PiecewisePolynomial(np.array([0.0, times.max()]), first, second, np.zeros_like(first))(times)
    if not all(np.isfinite(part).all() for part in motion):
        raise ArgumentError(f"rt_jtraj: speeds and accelerations of a motion of {times.max():.6g} s are not finite numbers")
    return motion


def rt_ctraj(T0: npt.ArrayLike, T1: npt.ArrayLike, n: npt.ArrayLike) -> FloatArray:
    """Poses on the straight line from one to another, the orientation turning about one axis.

    Parameters
    ----------
    T0, T1 : (4, 4) array_like
        Rigid transforms.
    n : int or (m,) array_like
        How many poses, at equal distances; or how far each is, 0 to 1, as `rt_jtraj` from 0 to 1 gives it.

    Returns
    -------
    ndarray (m, 4, 4)
        The pose comes first here; the original has 4 x 4 x m.

    Raises
    ------
    ArgumentError
        As for `rt_trinterp`, and where n is no whole number above 1.

    Examples
    --------
    >>> from linkwise.rtss import rt_transl
    >>> rt_transl(rt_ctraj(np.eye(4), rt_transl(1, 2, 3), 3)).tolist()
    [[0.0, 0.0, 0.0], [0.5, 1.0, 1.5], [1.0, 2.0, 3.0]]
    """
    count = numbers("rt_ctraj: n", n, "a whole number above 1, or numbers from 0 to 1")
    ratios = count if count.ndim else np.linspace(0.0, 1.0, _count("rt_ctraj: n", n))
    return _between("rt_ctraj", T0, T1, ratios, "n")


def rt_trinterp(T0: npt.ArrayLike, T1: npt.ArrayLike, r: npt.ArrayLike) -> FloatArray:
    """Pose on the way from one to another: on the straight line, turned about the one axis in the ratio r.

    Parameters
    ----------
    T0, T1 : (4, 4) array_like
        Rigid transforms.
    r : float or (m,) array_like
        How far, 0 to 1. The original takes one number.

    Returns
    -------
    ndarray (4, 4) or (m, 4, 4)

    Raises
    ------
    ArgumentError
        Where a pose is not rigid, r lies outside 0 to 1, or the orientations are half a turn apart.

    Notes
    -----
    Mended: the turn is the shortest. The original goes by quaternions and turns the long way round where their product is
    negative. At half a turn, where no way is the shorter, this is an error.

    Examples
    --------
    >>> from linkwise.rtss import rt_rotz, rt_tr2rpy
    >>> rt_tr2rpy(rt_trinterp(rt_rotz(0.2), rt_rotz(0.6), 0.25)).round(9).tolist()
    [0.3, 0.0, 0.0]
    """
    return _between("rt_trinterp", T0, T1, r, "r")


def _between(function: str, T0: Any, T1: Any, ratios: Any, name: str) -> FloatArray:
    first, last = rigid_poses(f"{function}: T0", T0), rigid_poses(f"{function}: T1", T1)
    if first.shape != (4, 4) or last.shape != (4, 4):
        raise ArgumentError(f"{function}: T0 and T1 have the shapes {first.shape} and {last.shape}; expected (4, 4)")
    share = ratios_of(f"{function}: {name}", ratios)
    try:
        segment = Legs.between(np.stack([first, last]))
    except ArgumentError as error:
        raise ArgumentError(f"{function}: T0 and T1 are half a turn apart; which way round is not said") from error
    rotation = segment.rotation @ rotations_about(segment.axis[0], segment.angle[0] * share)
    return transforms(rotation, segment.position * (1.0 - share[..., None]) + last[:3, 3] * share[..., None])


#: How many points a number may ask for; a vector of times may have more.
MOST = 1_000_000


def _times(t: Any) -> FloatArray:
    expected = "a whole number above 1, or times (m,), s, none below 0 and one above it"
    array = numbers("rt_jtraj: t", t, expected)
    if not array.ndim:
        return np.linspace(0.0, 1.0, _count("rt_jtraj: t", t))
    if array.size != max(array.shape) or np.min(array, initial=0.0) < 0.0 or np.max(array, initial=0.0) == 0.0:
        raise ArgumentError(f"rt_jtraj: t is {shown(array.tolist())}; expected {expected}")
    return array.reshape(-1)


def _count(field: str, value: Any) -> int:
    number = numbers(field, value, "a whole number above 1")
    if isinstance(value, (bool, np.bool_)) or number < 2 or number != int(number):
        raise ArgumentError(f"{field} is {shown(value)}; expected a whole number above 1")
    if number > MOST:
        raise ArgumentError(f"{field} is {shown(value)}; expected at most {MOST}")
    return int(number)


def _row(field: str, value: Any) -> FloatArray:
    """Configurations (..., n); of one number a row of one joint."""
    return np.atleast_1d(numbers(field, value))


def rt_fdyn(
    robot: rt_robot | Mechanism,
    t0: float,
    t: npt.ArrayLike,
    torqfun: Callable[..., Any] | None = None,
    q0: npt.ArrayLike | None = None,
    qd0: npt.ArrayLike | None = None,
    *args: Any,
    method: str = "lsoda",
    rtol: float = 1e-8,
    atol: float = 1e-10,
) -> tuple[FloatArray, FloatArray]:
    """Joint coordinates and speeds that follow in time from the torques of the motors.

    Parameters
    ----------
    robot : rt_robot or Mechanism
    t0 : float
        When it begins, s.
    t : (m,) array_like or float
        When the state is asked for, s, ascending from t0 on.
    torqfun : callable, optional
        ``torqfun(t, q, qd, *args)`` gives the efforts (n,) of the motors; None is no effort. The original takes the name of
        a function, here it is the function.
    q0, qd0 : (n,) array_like, optional
        State at t0; zero unless given.
    *args
        Handed on to torqfun.
    method, rtol, atol
        As for `linkwise.simulate`: ``"lsoda"`` is the integrator of the original. A method with fixed steps goes from one
        of the instants to the next, which must then be at equal distances.

    Returns
    -------
    q, qd : ndarray (m, n)
        A row for each time; the original has a column for each.

    Raises
    ------
    ArgumentError
        Where times or shapes do not fit, or torqfun cannot be called.
    SimulationError
        Where the integration fails.
    MissingExtraError
        Without SciPy, for ``"lsoda"`` and the other adaptive methods.

    Notes
    -----
    Coulomb friction jumps at rest, where adaptive methods take ever shorter steps: use `rt_nofriction`.
    `linkwise.simulate` gives accelerations, torques and energies too, and many rollouts at once.

    Examples
    --------
    >>> from linkwise.rtss import rt_nofriction, rt_puma560
    >>> q, qd = rt_fdyn(rt_nofriction(rt_puma560()), 0.0, [0.0, 0.1, 0.2])
    >>> q.shape, q[-1, :3].round(3).tolist()
    ((3, 6), [-0.003, -0.15, 0.035])
    """
    mechanism = mechanism_of("rt_fdyn", robot, dynamic=True)
    if torqfun is not None and not callable(torqfun):
        raise ArgumentError(f"rt_fdyn: torqfun is {shown(torqfun)}; expected a function torqfun(t, q, qd, ...) or None")
    start = numbers("rt_fdyn: t0", t0, "a time, s")
    if start.ndim:
        raise ArgumentError(f"rt_fdyn: t0 has the shape {start.shape}; expected a time, s")
    moments = numbers("rt_fdyn: t", t, "finite times (T,), s, ascending: 1 instant or more")
    times = instants(np.atleast_1d(moments), "rt_fdyn: t")
    if times[0] < start or times[-1] <= start:
        expected = f"times from t0 = {float(start)!r} on, and after it"
        raise ArgumentError(f"rt_fdyn: t is {shown(times.tolist())}; expected {expected}")
    before = int(times[0] > start)
    whole = np.concatenate([[float(start)], times]) if before else times

    def torque(time: float, q: FloatArray, qd: FloatArray) -> Any:
        assert torqfun is not None
        return torqfun(time, q, qd, *args)

    options = {"method": method, "rtol": rtol, "atol": atol}
    motion = simulate(mechanism, q0, qd0, torque=None if torqfun is None else torque, t=whole, **options)  # type: ignore[arg-type]
    return motion.q[..., before:, :], motion.qd[..., before:, :]


__all__ = [name for name in dir() if name.startswith("rt_")]
