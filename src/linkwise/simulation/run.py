"""The one function that lets time pass."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError, KernelError, SimulationError, choices, shown
from linkwise.kernel.kernel import BACKENDS, default_backend
from linkwise.kernel.rollout import Recorded, Rollout
from linkwise.kernel.tape import Shape
from linkwise.mechanism import Mechanism
from linkwise.simulation import adaptive, arguments
from linkwise.simulation.closed import closed_events, closed_start
from linkwise.simulation.energy import Energies, check_energy, energy_error, jumps, sampled
from linkwise.simulation.events import find, member
from linkwise.simulation.held import Held
from linkwise.simulation.loop import Loop
from linkwise.simulation.moved import Moved
from linkwise.simulation.scheme import SCHEMES, program
from linkwise.simulation.torque import Torque, asked
from linkwise.spatial.scalar import FloatArray
from linkwise.trajectory import Event, Trajectory
from linkwise.trajectory.checks import closed, flag

DIVERGED = ("raise", "mark")


def simulate(
    mech: Mechanism,
    q0: npt.ArrayLike | None = None,
    qd0: npt.ArrayLike | None = None,
    *,
    torque: Any = None,
    external: npt.ArrayLike | None = None,
    t: Any = None,
    method: str = "rk4",
    record: int = 1,
    hold: bool | None = None,
    events: Any = None,
    energies: bool = False,
    rtol: float = 1e-8,
    atol: float = 1e-10,
    diverged: str = "raise",
    backend: str | None = None,
) -> Trajectory:
    """Integrate the equations of motion in time, for one initial state or for many at once.

    With a fixed-step method the dynamics, the integrator and, if there is one, the law of control are compiled into one
    loop: a step costs no Python, and the rollouts of a batch run in the lanes of the vector unit. A batch gives the bits
    of a loop.

    Parameters
    ----------
    mech : Mechanism
        What moves. Friction of its motors counts, as in `Mechanism.forward_dynamics`. Loops stay closed: behind every step
        the state goes to the nearest one that closes them.
    q0 : (..., nq) array_like, optional
        Initial coordinates, rad or m; zero if not given, a floating base upright at the origin. A quaternion
        of any length but zero counts as its unit one. Loops must be closed there, to six digits.
    qd0 : (..., nv) array_like, optional
        Initial speeds; zero if not given.
    torque : optional
        What the motors do, N m or N (and force and moment on a floating base):

        - None: nothing.
        - An array. (nv,) is constant. (..., T - 1, nv) has a row per step, which holds through that step (zero-order
          hold); one more row, for the last instant, is only recorded. (..., 1, nv) is constant, one per rollout, and so
          is (B, nv) where B, the batch, cannot be taken for a number of steps.
        - `Feedback`: a law that is compiled in.
        - ``torque(t, q, qd) -> (..., nv)``: a function of Python, called once a step with the whole batch (by adaptive
          methods with one rollout at a time). It is the slowest.
    external : (6,) array_like, optional
        A constant force (N) and moment (N m) on the tool at its origin, in tool axes, as in `Mechanism.inverse_dynamics`.
        It is compiled in: another one compiles anew.
    t : (T,) array_like or tuple (t_end, dt)
        Instants, s: ascending, at equal distances for the fixed-step methods. A tuple of two numbers means the instants
        0, dt, ... t_end.
    method : str
        "rk4" (classical Runge-Kutta, order 4), "semi_implicit_euler" (order 1, symplectic: energy stays bounded) and
        "euler" (order 1) go by fixed steps, one from instant to instant. "rk23", "rk45", "dop853", "radau", "bdf" and
        "lsoda" are SciPy's adaptive ones, one rollout after the other; across the jump of Coulomb friction at rest they
        take ever shorter steps, so give them ``mech.nofriction(viscous=False)``, or integrate with fixed steps.
    record : int
        Every which instant is recorded, from the first on.
    hold : bool, optional
        Whether the torque that a law or function gives at an instant holds until the next, as that of a digital
        controller does; else it is asked at every stage, and the order of the method is kept. True by default for fixed
        steps, False for adaptive ones. What is `Sampled` holds from instant to instant in either case.
    events : callable, sequence or dict of them, optional
        ``g(t, q, qd) -> (...,)`` whose zeros are looked for. It gets t (...,), q (..., nq), qd (..., nv), and is
        vectorised over ``...``. Attributes as in SciPy: ``terminal`` (True, or after how many times the rollout ends),
        ``direction`` (1: from negative to positive only, -1: the reverse). What begins at zero is no event.
    energies : bool
        Whether kinetic and potential energy are recorded, and the energy error: the energy, less that at the start, less the
        work of motors, friction and the external wrench since then. It is that of the integrator (of friction and wrench
        also an integral's, of the fourth power of the recorded interval; on a floating base, of torque too, of the second),
        and None where the torque is not known between recorded instants: that of a law at every stage, or one that jumps
        there (record > 1); and with Coulomb friction, which jumps within a step.
    rtol, atol : float
        Tolerances of the adaptive methods.
    diverged : {"raise", "mark"}
        What happens where a state is not finite any more: an error that names time and rollout, or NaN from there on.
    backend : {"llvm", "numpy"}, optional
        How it is computed; LLVM wherever llvmlite is installed.

    Returns
    -------
    Trajectory
        t (R,), q (..., R, nq), qd, qdd, tau (..., R, nv) at recorded instants, R = (T - 1) // record + 1; qdd and tau are
        those of the step that begins there. After a terminal event all are NaN; ``until(time)`` of the
        trajectory leaves them out. `events` has the name, time, state, and
        index into the batch of each event, rollout by rollout.

    Raises
    ------
    ArgumentError
        For arguments that do not fit.
    SimulationError
        Where a state is not finite any more, or an adaptive method gives up.
    MissingExtraError
        For an adaptive method, where SciPy is not installed.

    Warns
    -----
    LinkwiseWarning
        Where the energy error is more than a tenth of the energy exchanged, the greatest kinetic energy, change of potential
        energy or work: the steps are too large. With fixed steps a few recorded instants of up to 64 rollouts are looked at
        also where no energies are recorded, if there is no friction and no wrench.

    Notes
    -----
    With fixed steps an event is found by the change of sign from one recorded instant to the next (two in between cancel
    out), and located by bisection on the quintic Hermite interpolant of q, qd and qdd. Its error is of the sixth power of
    the recorded interval, beside that of the integrator. Where a torque jumps between recorded instants (record > 1), only
    the third power is left. The adaptive methods use their own dense output.

    Between the instants ``at`` of the result interpolates alike. Where a torque is held, the acceleration at the end of each
    interval is taken under the torque of that interval, not under the next one that is recorded there; it is computed when
    ``at`` is first called, and lost in a file. Where the torque jumps between recorded instants (record > 1), the error of q
    is of the second power of the recorded interval, times the jumps.

    The quaternion of a floating base is brought to unit length after each step.

    Examples
    --------
    >>> import linkwise as lw
    >>> arm = lw.robots.planar_2r()
    >>> fall = simulate(arm, [0.1, 0.2], t=(1.0, 1e-3), energies=True)
    >>> fall.q.shape
    (1001, 2)
    >>> bool(np.ptp(fall.energy) < 1e-8)
    True
    >>> many = simulate(arm, np.zeros((100, 2)), np.linspace(0, 1, 100)[:, None] * [1, -1], t=(1.0, 1e-3), record=100)
    >>> many.qd.shape
    (100, 11, 2)
    """
    if not isinstance(mech, Mechanism):
        raise ArgumentError(f"simulate: mech is {shown(mech)}; expected a Mechanism")
    mech.require_numbers("simulate")
    if not mech.nv:
        raise ArgumentError(f"simulate: {mech.name!r} has no joints and does not float: nothing can move")
    method = arguments.one_of("method", method, [*SCHEMES, *adaptive.METHODS])
    diverged = arguments.one_of("diverged", diverged, DIVERGED)
    if backend is not None and backend not in BACKENDS:
        raise KernelError(f"backend is {backend!r}; expected {choices(BACKENDS)}")
    energies = flag("simulate: energies", energies)
    fixed = method in SCHEMES
    hold = fixed if hold is None else flag("simulate: hold", hold, "True, False or None")
    clock = arguments.clock(t, even=fixed)
    record = arguments.record(record, clock.steps)
    moved = Moved(mech, arguments.external(external))
    states = {name: arguments.state(mech, name, value, size) for name, value, size in _states(mech, q0, qd0)}
    batches = {name: array.shape[:-1] for name, array in states.items()}
    source = Torque.of(mech, torque, clock.steps, arguments.together(batches))
    batch = arguments.together({**batches, **source.batches})
    start = closed_start(mech, arguments.start(mech, states["q0"], states["qd0"], batch))
    held = source.varies or (hold and source.is_law)
    watched = arguments.watched(events)
    instants = np.ascontiguousarray(clock.t[::record])
    if fixed:
        made = _stepped(moved, method, start, source, clock, record, hold, backend)
        found, ends = find(moved, watched, instants, made, batch, held=held)
    else:
        tolerances = {name: arguments.tolerance(name, value) for name, value in (("rtol", rtol), ("atol", atol))}
        solver = {"method": adaptive.METHODS[method], **tolerances}
        task = adaptive.Task(moved, clock.t, start, source, hold, watched, solver, diverged == "mark", backend)
        every, found, ends = adaptive.integrate(task)
        made = Recorded(*(array[:, ::record] for array in (every.q, every.qd, every.qdd, every.tau)))
    _cut(moved, made, instants, ends, batch, mark=diverged == "mark")
    constant = not (source.is_law or source.varies)
    stepwise = record == 1 and (hold or not source.is_law)
    balanced = (constant or stepwise) and not jumps(mech)
    motion = _trajectory(
        moved, instants, made, batch, closed_events(mech, found), held=held, energies=energies, balanced=balanced
    )
    if balanced:
        some = sampled(moved, made.q, made.qd, made.tau, pushed=torque is not None) if fixed and not energies else None
        _check_energy(motion, some, batch, "shorter steps, or a method of higher order," if fixed else "smaller tolerances")
    return motion


def _check_energy(motion: Trajectory, some: Energies | None, batch: Shape, advice: str) -> None:
    """Warn where the energy error is large: at all instants where energies are recorded, else at some."""
    if motion.kinetic is not None and motion.potential is not None and motion.energy_error is not None:
        some = (motion.kinetic, motion.potential, motion.energy_error)
    if some is not None:
        check_energy(some, batch, f"{advice} may help")


def _states(mech: Mechanism, q0: Any, qd0: Any) -> tuple[tuple[str, Any, int], ...]:
    return (("q0", q0, mech.nq), ("qd0", qd0, mech.nv))


def _stepped(
    moved: Moved,
    method: str,
    start: arguments.Start,
    source: Torque,
    clock: arguments.Clock,
    record: int,
    hold: bool,
    backend: str | None,
) -> Recorded:
    """Integrate with fixed steps, as far as something is recorded."""
    integrator = _integrator(moved, method, source, hold or not source.is_law, backend)
    if source.function is not None:
        assert isinstance(integrator, Loop)
        integrator = integrator.asking(asked(source.function, start.batch, moved.tree.nv))
    steps = clock.steps // record * record
    timing = {"start": float(clock.t[0]), "step": clock.step}
    return integrator(start.q, start.qd, source.reads(start.batch), steps=steps, record=record, **timing)


def _integrator(moved: Moved, method: str, source: Torque, hold: bool, backend: str | None) -> Rollout | Loop:
    """What was compiled for this mechanism, wrench, method and law, or is now."""
    backend, mech = backend or default_backend(), moved.tree
    kept = mech.__dict__.setdefault("_rollouts", {}) if source.law is None else source.law.compiled(mech)
    looped = backend != "llvm" or source.function is not None
    key = (method, hold, backend, looped, moved.external)
    if key not in kept:
        whole = program(moved, method, source.law, hold)
        kept[key] = Loop(whole, backend) if looped else Rollout(whole)
    made: Rollout | Loop = kept[key]
    return made


def _cut(moved: Moved, made: Recorded, t: FloatArray, ends: FloatArray, batch: Shape, *, mark: bool) -> None:
    """Leave NaN after the end of each rollout, and where its state is not finite; the latter is an error unless marked."""
    whole = np.isfinite(made.q[:, -1]).all() and np.isfinite(made.qd[:, -1]).all()
    if whole and not np.isfinite(ends).any():
        return  # what is not finite once stays so
    over = t > ends[:, None]
    lost = ~(np.isfinite(made.q).all(axis=-1) & np.isfinite(made.qd).all(axis=-1)) & ~over
    if lost.any() and not mark:
        row = int(np.argmax(lost.any(axis=1)))
        first = int(np.argmax(lost[row]))
        place = member(row, batch)
        others = int(lost.any(axis=1).sum()) - 1
        which = f" in rollout {place}" if place else ""
        also = f", and {others} more rollouts" if others > 1 else ", and 1 more rollout" if others else ""
        loops = "the loops could not be kept closed, or came to a singular position; " if moved.tree.loops else ""
        raise SimulationError(
            place,
            float(t[first]),
            f"simulate: the state is not finite at t = {t[first]:g} s{which}{also}; {loops}shorter steps may help, "
            'diverged="mark" leaves NaN there',
        )
    over |= np.logical_or.accumulate(lost, axis=1)
    if over.any():
        for array in (made.q, made.qd, made.qdd, made.tau):
            array[over] = np.nan


def _trajectory(
    moved: Moved,
    t: FloatArray,
    made: Recorded,
    batch: Shape,
    events: tuple[Event, ...],
    *,
    held: bool,
    energies: bool,
    balanced: bool,
) -> Trajectory:
    records = {"q": made.q, "qd": made.qd, "qdd": made.qdd, "tau": made.tau}
    arrays: dict[str, Any] = {name: array.reshape(*batch, *array.shape[1:]) for name, array in records.items()}
    mech = moved.tree
    if energies:
        assert isinstance(mech, Mechanism)
        arrays["kinetic"] = mech.kinetic_energy(arrays["q"], arrays["qd"])
        arrays["potential"] = mech.potential_energy(arrays["q"])
        if balanced:
            energy = arrays["kinetic"] + arrays["potential"]
            arrays["energy_error"] = energy_error(moved, t, arrays["q"], arrays["qd"], arrays["tau"], energy)
    closed(*map(np.asarray, arrays.values()))
    exact = Held(moved, t, *(arrays[name] for name in records)) if held and len(t) > 1 else None
    return Trajectory(t, **arrays, events=events, evaluate=exact).of(mech)
