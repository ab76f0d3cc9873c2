"""Dynamics of the toolbox over Linkwise's functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError, shown
from linkwise.mechanism import Mechanism
from linkwise.rtss.arguments import also, coordinates, vectors
from linkwise.rtss.link import rt_link
from linkwise.rtss.robot import free_fall_of, mechanism_of, rt_robot, under_gravity, weightless
from linkwise.simulation import simulate
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import choice, flag, numbers
from linkwise.trajectory.validation import instants


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
    """Three arrays (..., n), and the other arguments: the second and third one if the first contains all three."""
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


#: Sides of the gear, for `rt_friction`.
SIDES = ("joint", "motor")

Some = TypeVar("Some", rt_link, rt_robot, Mechanism)


@also(obj="robot")
def rt_friction(robot: rt_robot | rt_link | Mechanism, qd: npt.ArrayLike, *, side: str = "joint") -> FloatArray:
    """Friction that the motors must overcome at joint velocities; it has the sign of the speed.

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
        speeds = numbers("rt_friction: qd", qd, "joint velocities", finite=False)
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
    """The mechanism without gears."""
    links = [link.replace(motor=link.motor.replace(gear_ratio=1.0)) if link.motor else link for link in mechanism.links]
    return mechanism.replace(links=links, motors=[motor.replace(gear_ratio=1.0) for motor in mechanism.motors])


Arm = TypeVar("Arm", rt_robot, Mechanism)


def rt_perturb(robot: Arm, p: float = 0.1, seed: int = 0) -> Arm:
    """The same robot with the mass and the tensor of each link multiplied by independent factors.

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
            values = {"m": other.body.mass, "I": other.body.tensor}  # if the link has any
            link.assign({field: value for field, value in values.items() if not link.missing(field)})
        changed = _named(f"P/{robot.name}", robot, links)
    result: Arm = changed
    return result


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
    """Joint coordinates and velocities in time under the torques of the motors.

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
