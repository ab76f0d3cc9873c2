"""Simulate a mechanism: `simulate`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise import arrays
from linkwise.dynamics.external import External
from linkwise.errors import SimulationError
from linkwise.kernel.backend import backend_of
from linkwise.kernel.rollout import Recorded, Rollout
from linkwise.model.tree import Tree
from linkwise.simulation import adaptive
from linkwise.simulation.by_library import graph_rows, simulate_by, trajectory_in_graph
from linkwise.simulation.energy_balance import check_energy, energy_error, sampled
from linkwise.simulation.events import find, member
from linkwise.simulation.ground import Ground
from linkwise.simulation.hybrid import HybridRollout
from linkwise.simulation.integrators import INTEGRATORS, program
from linkwise.simulation.landing import GroundRollout
from linkwise.simulation.loop_closure import closed_events
from linkwise.simulation.modal import ModalRollout, modal_motion
from linkwise.simulation.plant import Plant
from linkwise.simulation.python_rollout import PythonRollout, looped_steps, traced_steps
from linkwise.simulation.task import Task, checked_task
from linkwise.simulation.torque import compiled
from linkwise.spatial.scalar import FloatArray
from linkwise.trajectory.motion import Evaluator, Event, State, interpolant
from linkwise.trajectory.trajectory import Trajectory
from linkwise.trajectory.validation import closed


@arrays.in_graphs({"q0": ("nq",), "qd0": ("nv",), "torque": (..., "nv")}, graph_rows, trajectory_in_graph)
def simulate(
    mech: Tree,
    q0: npt.ArrayLike | None = None,
    qd0: npt.ArrayLike | None = None,
    *,
    torque: Any = None,
    external: External | None = None,
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
    friction: str = "sign",
    stabilization: str = "projection",
    stabilization_rate: float | None = None,
    ground: Ground | None = None,
) -> Trajectory:
    """Integrate the equations of motion in time, for one initial state or for many at once.

    With a fixed-step method the dynamics, the integrator and, if there is one, the law of control are compiled into one
    loop: a step costs no Python, and the rollouts of a batch run in the lanes of the vector unit. A batch gives the bits
    of a loop.

    Parameters
    ----------
    mech : Mechanism
        The mechanism. Friction of its motors counts, as in `Mechanism.forward_dynamics`. `stabilization` says how loops
        are kept closed.
    q0 : (..., nq) array_like, optional
        Initial coordinates, rad or m; zero if not given, a floating base upright at the origin. A quaternion
        of any length but zero counts as its unit one. Loops must be closed there, to six digits.
    qd0 : (..., nv) array_like, optional
        Initial velocities, rad/s or m/s; zero if not given.
    torque : optional
        Efforts of the motors, N m or N (and force and moment on a floating base):

        - None: none.
        - An array. (nv,) is constant. (..., T - 1, nv) has a row per step, which holds through that step (zero-order
          hold); one more row, for the last instant, is only recorded. (..., 1, nv) is constant, one per rollout, and so
          is (B, nv) where B, the batch, cannot be taken for a number of steps.
        - `Feedback`: a law that is compiled in.
        - ``torque(t, q, qd) -> (..., nv)``: a function of Python, called once a step with the whole batch (by adaptive
          methods with one rollout at a time). It is the slowest.
    external : (6,) array_like, Wrench, LinkWrenches or mapping, optional
        Constant forces (N) and moments (N m) on the tool or on links, as in `Mechanism.inverse_dynamics`. They are compiled
        in: others compile anew.
    t : (T,) array_like or tuple (t_end, dt)
        Instants, s: ascending, at equal distances for the fixed-step methods. A tuple of two numbers means the instants
        0, dt, ... t_end.
    method : str
        "rk4" (classical Runge-Kutta, order 4), "semi_implicit_euler" (order 1, symplectic: energy stays bounded), "euler"
        (order 1) and "ros2" (order 2, implicit in springs, dampers and friction that does not jump, L-stable: stiff ones
        need no shorter steps, but what comes back from a hard end stop does) have fixed steps, one from instant to
        instant. "rk23", "rk45", "dop853", "radau", "bdf" and "lsoda" are SciPy's adaptive ones, one rollout after the other;
        across the jump of Coulomb friction at rest they take ever shorter steps, so give them ``friction="stiction"``, or
        integrate with fixed steps; with a `ground`, give the motors a transition speed.
    record : int
        Record every so many instants, from the first on.
    hold : bool, optional
        Whether the torque that a law or function gives at an instant holds until the next, as that of a digital
        controller does; else it is asked at every stage, and the order of the method is kept. True by default for fixed
        steps, False for adaptive ones. What is `Sampled` holds from instant to instant in either case.
    events : callable, sequence or dict of them, optional
        ``g(t, q, qd) -> (...,)`` whose zeros are the events. It gets t (...,), q (..., nq), qd (..., nv), and is
        vectorised over ``...``. Attributes as in SciPy: ``terminal`` (True, or after how many times the rollout ends),
        ``direction`` (1: from negative to positive only, -1: the reverse). What begins at zero is no event.
    energies : bool
        Whether kinetic and potential energy are recorded, and the energy error: the energy, less that at the start, less the
        work of motors, friction and the external wrench since then. It is that of the integrator (of friction and wrench
        also an integral's, of the fourth power of the recorded interval; on a floating base, of torque too, of the second),
        and None where the torque is not known between recorded instants: that of a law at every stage, or one that jumps
        there (record > 1); and with Coulomb friction, which jumps within a step, unless friction is "stiction".
    rtol, atol : float
        Tolerances of the adaptive methods.
    diverged : {"raise", "mark"}
        What happens where a state is not finite any more: an error that names time and rollout, or NaN from there on.
    backend : {"llvm", "numpy"}, optional
        Back end; LLVM wherever llvmlite is installed. Where forward dynamics loop over the bodies, from 32 of them
        on, explicit methods take their steps in Python by default, and nothing is compiled; "llvm" compiles them for the
        mechanism, in seconds to minutes, and is 1.5 to 4.5 times as fast then.
    friction : {"sign", "stiction"}
        What Coulomb friction is at rest. "sign": none, as in `Mechanism.forward_dynamics`; a joint chatters where it would
        stick, or creeps if its motor has a `transition_speed`. "stiction": what holds the joint, up to the breakaway
        friction; where more is needed it slips, against the Coulomb friction, which jumps. Joints that stick, slip or
        reverse, and those that hit an `EndStop` with a restitution, are located as events ("stick elbow", "slip elbow",
        "reverse elbow", "hit elbow") of an adaptive method, and the motion is known exactly between them. Under a law that
        is asked at every stage no step is longer than the longest interval of the instants: a shorter push may be missed.
    stabilization : {"projection", "baumgarte", "none"}
        What keeps loops closed. "projection": behind every step the state goes to the nearest one that closes them, measured
        by the mass matrix, to 1e-11 (E. Hairer, Ch. Lubich, G. Wanner, *Geometric Numerical Integration*, 2006, section
        IV.4). "baumgarte": the accelerations also draw open loops shut, J qdd + dJ/dt qd = -2 a J qd - a^2 e (J. Baumgarte,
        Computer Methods in Applied Mechanics and Engineering 1, 1972); less work a step, and an error that stays small but
        is there. "none": only accelerations keep them closed, and they drift open.
    stabilization_rate : float, optional
        Baumgarte's a, 1/s, for "baumgarte" alone; a tenth of the steps per second if not given, and of fixed steps 0.8 of
        them at most: beyond, the errors grow.
    ground : Ground, optional
        On which contacts land and from which they lift off, as events of an adaptive method ("land foot", "lift foot"). The
        energy error counts what impacts lose. Not with stiction and rigid end stops of joints.

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
    the third power is left. The adaptive methods use their own dense output: two crossings within one
    step are found too, where the event has no more than one extremum in any two eighths of a step that follow each other.

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
    options: dict[str, Any] = {
        "method": method, "record": record, "hold": hold, "events": events, "energies": energies,
        "rtol": rtol, "atol": atol, "diverged": diverged, "backend": backend, "friction": friction,
        "stabilization": stabilization, "stabilization_rate": stabilization_rate, "ground": ground,
    }  # fmt: skip
    library = arrays.of("simulate", (q0, qd0, torque))
    if library is not None:
        return simulate_by(library, simulate, mech, q0, qd0, torque, external=external, t=t, **options)
    task = checked_task(mech, q0, qd0, torque, external, t, **options)
    if task.fixed:
        recorded = _stepped(task)
        occurred, ends = find(task.plant, task.events, task.t, recorded, task.batch, hold=task.zero_order_hold)
    else:
        kind = GroundRollout if task.ground else HybridRollout if task.hybrid else adaptive.AdaptiveRollout
        recorded, rollouts = adaptive.integrate(task, kind)
        occurred = tuple(event for rollout in rollouts for event in rollout.events)
        ends = np.array([rollout.end for rollout in rollouts])
    _cut(task, recorded, ends)
    motion = _trajectory(task, recorded, occurred)
    if task.hybrid or task.ground:
        motion = modal_motion(task, motion, [rollout for rollout in rollouts if isinstance(rollout, ModalRollout)])
    _warn_of_energy(task, recorded, motion, driven=torque is not None)
    return motion


def _stepped(task: Task) -> Recorded:
    """Integrate with fixed steps until the last recorded instant."""
    torque, steps = task.torque, task.steps // task.record * task.record
    rollout = _rollout(task)
    timing: dict[str, Any] = {"start": float(task.t[0]), "step": task.step, "steps": steps, "record": task.record}
    if isinstance(rollout, PythonRollout):
        timing["function"] = torque.checked_function(task.batch, task.plant.tree.nv)
    return rollout(task.q, task.qd, torque.reads(task.batch), **timing)


def _rollout(task: Task) -> Rollout | PythonRollout:
    """The steps compiled for this mechanism, wrench, method and law: in machine code, or as a Python loop over kernels."""
    plant, law = task.plant, task.torque.law
    backend, hold = backend_of(task.backend).name, task.hold or not task.torque.is_law
    looped = task.backend is None and INTEGRATORS[task.method].explicit and plant.is_looped
    in_python = looped or task.torque.function is not None or not Rollout.runs_on(backend)

    def compile_steps() -> Rollout | PythonRollout:
        if looped:
            return PythonRollout(looped_steps(plant, task.method, law, hold))
        steps = program(plant, task.method, law, hold)
        return PythonRollout(traced_steps(steps, backend)) if in_python else Rollout(steps, backend)

    return compiled(plant.tree, law, (task.method, hold, backend, in_python, looped, *plant.choices), compile_steps)


def _warn_of_energy(task: Task, recorded: Recorded, motion: Trajectory, *, driven: bool) -> None:
    """Warn where the energy error is large: at all instants where energies are recorded, else at some."""
    energies = None
    if motion.kinetic is not None and motion.potential is not None and motion.energy_error is not None:
        energies = (motion.kinetic, motion.potential, motion.energy_error)
    elif task.balanced and task.fixed and not task.energies:
        energies = sampled(task.plant, recorded.q, recorded.qd, recorded.tau, driven=driven)
    if energies is not None:
        remedy = "shorter steps, or a method of higher order," if task.fixed else "smaller tolerances"
        check_energy(energies, task.batch, f"{remedy} may help")


def _cut(task: Task, recorded: Recorded, ends: FloatArray) -> None:
    """Leave NaN after the end of each rollout, and where its state is not finite; the latter is an error unless marked."""
    q, qd, t = recorded.q, recorded.qd, task.t
    if np.isfinite(q[:, -1]).all() and np.isfinite(qd[:, -1]).all() and not np.isfinite(ends).any():
        return  # a state that is not finite stays so
    over = t > ends[:, None]
    lost = ~(np.isfinite(q).all(axis=-1) & np.isfinite(qd).all(axis=-1)) & ~over
    if lost.any() and not task.mark:
        row = int(np.argmax(lost.any(axis=1)))
        time = float(t[np.argmax(lost[row])])
        place = member(row, task.batch)
        others = int(lost.any(axis=1).sum()) - 1
        which = f" in rollout {place}" if place else ""
        also = f", and {others} more rollout{'s' * (others > 1)}" if others else ""
        loops = "the loops could not be kept closed, or came to a singular position; " if task.plant.tree.loops else ""
        raise SimulationError(
            place,
            time,
            f"simulate: the state is not finite at t = {time:g} s{which}{also}; {loops}shorter steps may help, "
            'diverged="mark" leaves NaN there',
        )
    over |= np.logical_or.accumulate(lost, axis=1)
    for array in vars(recorded).values():
        array[over] = np.nan


def _trajectory(task: Task, recorded: Recorded, events: tuple[Event, ...]) -> Trajectory:
    """The trajectory of a task, with energies where they are recorded."""
    plant, t = task.plant, task.t
    motion: dict[str, Any] = {name: array.reshape(*task.batch, *array.shape[1:]) for name, array in vars(recorded).items()}
    energies: dict[str, Any] = {}
    if task.energies:
        kinetic = np.asarray(plant.kernel("kinetic_energy")(motion["q"], motion["qd"]))
        energies = {"kinetic": kinetic, "potential": np.asarray(plant.kernel("potential_energy")(motion["q"]))}
        if task.balanced:
            energy = energies["kinetic"] + energies["potential"]
            energies["energy_error"] = energy_error(plant, t, motion["q"], motion["qd"], motion["tau"], energy)
    closed(*motion.values(), *energies.values())
    evaluate = ZeroOrderHold(plant, t, **motion) if task.zero_order_hold and len(t) > 1 else None
    occurred = closed_events(plant.tree, events) if plant.projects else events
    joints = plant.tree.manifold_joints
    return Trajectory(t, **motion, **energies, events=occurred, evaluate=evaluate, manifold_joints=joints).of(plant.tree)


@dataclass(frozen=True, eq=False)
class ZeroOrderHold:
    """The evaluator of a trajectory whose torque is constant in each recorded interval.

    What it needs beside the record, the accelerations before the jumps, it computes when it is first called.

    Attributes
    ----------
    plant : Plant
        What moves.
    t : ndarray (R,)
        Recorded instants, s, R >= 2.
    q, qd, qdd, tau : ndarray (..., R, nq), (..., R, nv), ...
        What is recorded there.
    """

    plant: Plant
    t: FloatArray
    q: FloatArray
    qd: FloatArray
    qdd: FloatArray
    tau: FloatArray

    def __call__(self, time: FloatArray) -> State:
        """Return q, qd, qdd (..., K, ·) at times (K,) within the instants."""
        return self._interpolant(time)

    def member(self, place: tuple[int, ...]) -> ZeroOrderHold:
        """The same for one motion, or a smaller batch, of a batch."""
        return ZeroOrderHold(self.plant, self.t, *(array[place] for array in self._arrays))

    def first(self, kept: int) -> ZeroOrderHold | None:
        """Restrict it to the first `kept` instants; None for a single one."""
        arrays: Any = (array[..., :kept, :] for array in self._arrays)
        return ZeroOrderHold(self.plant, self.t[:kept], *arrays) if kept > 1 else None

    @property
    def _arrays(self) -> tuple[FloatArray, ...]:
        return self.q, self.qd, self.qdd, self.tau

    @cached_property
    def _interpolant(self) -> Evaluator:
        before = self.plant.compiled_accelerations(self.q[..., 1:, :], self.qd[..., 1:, :], self.tau[..., :-1, :])
        return interpolant(self.t, self.q, self.qd, self.qdd, before, joints=self.plant.tree.manifold_joints)
