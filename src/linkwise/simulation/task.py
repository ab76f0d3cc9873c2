"""Validated arguments of `simulate` in one form: a `Task`."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from linkwise.dynamics.external import wrench_arguments, wrench_frames
from linkwise.errors import ArgumentError, choices, shown
from linkwise.kernel.backend import backend_of
from linkwise.kernel.tape import Shape
from linkwise.model.spring import EndStop
from linkwise.model.tree import Tree, require_numeric_tree
from linkwise.simulation.energy_balance import jumps
from linkwise.simulation.events import Watch, watches
from linkwise.simulation.ground import Ground
from linkwise.simulation.integrators import INTEGRATORS
from linkwise.simulation.loop_closure import closed_start
from linkwise.simulation.plant import Plant
from linkwise.simulation.torque import Torque, flat
from linkwise.solve.validation import positive
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import choice, common_batch, first_place, flag, numbers, shaped, whole
from linkwise.trajectory.validation import instants

#: Relative tolerance of equal steps, in addition to the rounding of the instants.
EVEN = 1e-9

#: SciPy's names of the adaptive methods.
ADAPTIVE = {"rk23": "RK23", "rk45": "RK45", "dop853": "DOP853", "radau": "Radau", "bdf": "BDF", "lsoda": "LSODA"}

DIVERGED = ("raise", "mark")

#: Models of Coulomb friction at rest.
FRICTION = ("sign", "stiction")

#: Methods of stabilizing closed loops.
STABILIZATIONS = ("projection", "baumgarte", "none")

#: Baumgarte's rate times the step: by default, and at most. The semi-implicit Euler method is the first of the fixed ones to
#: become unstable, where x^2 + 4 x = 4 for this x.
STABLE, MOST_STABLE = 0.1, 0.8


@dataclass(frozen=True)
class Task:
    """An integration with all its options.

    Attributes
    ----------
    plant : Plant
        What moves.
    every : ndarray (T,)
        Instants, s.
    step : float
        Their distance, s, where it is the same for all.
    batch : tuple of int
        The batch shape.
    q, qd : ndarray (B, nq), (B, nv)
        Initial states.
    torque : Torque
        What drives it.
    method : str
        Name of the integrator.
    record : int
        Every which instant is recorded.
    hold : bool
        Whether the torque of a law is that of the last instant.
    events : tuple of Watch
        What is watched for.
    energies : bool
        Whether energies are recorded.
    tolerances : dict
        Of the adaptive methods, as SciPy calls them.
    mark : bool
        Whether what cannot be followed is left as NaN, instead of raising.
    backend : str or None
        Of the kernels.
    hybrid : bool
        Whether dry friction sticks and end stops are hit, as events.
    ground : Ground or None
        On which contacts land, as events.
    """

    plant: Plant
    every: FloatArray
    step: float
    batch: Shape
    q: FloatArray
    qd: FloatArray
    torque: Torque
    method: str
    record: int
    hold: bool
    events: tuple[Watch, ...]
    energies: bool
    tolerances: dict[str, float]
    mark: bool
    backend: str | None
    hybrid: bool
    ground: Ground | None

    @property
    def fixed(self) -> bool:
        """True for a fixed-step method."""
        return self.method in INTEGRATORS

    @property
    def steps(self) -> int:
        """Number of steps through the instants."""
        return len(self.every) - 1

    @property
    def t(self) -> FloatArray:
        """The recorded instants (R,)."""
        return np.ascontiguousarray(self.every[:: self.record])

    @property
    def zero_order_hold(self) -> bool:
        """True if the torque is discontinuous at instants."""
        return self.torque.varies or (self.hold and self.torque.is_law)

    @property
    def balanced(self) -> bool:
        """True if the work since the start follows from the record."""
        constant = not (self.torque.is_law or self.torque.varies)
        stepwise = self.record == 1 and (self.hold or not self.torque.is_law)
        return (constant or stepwise) and not jumps(self.plant.tree)

    def require_plain_steps(self, purpose: str, where: str, **refused: bool) -> None:
        """Raise `ArgumentError` unless the rollout has plain fixed steps, and for the options in `refused`."""
        refused |= {"energies": self.energies, "friction": self.hybrid, "backend": self.backend is not None}
        wrong = [name for name, there in refused.items() if there]
        if wrong:
            raise ArgumentError(f"simulate: {wrong[0]} is not for {purpose}; expected it left out")
        if not self.fixed:
            raise ArgumentError(f"simulate: method is {self.method!r}; expected one with fixed steps {where}")


def _plant(tree: Tree, external: Any, kept: tuple[str, float]) -> Plant:
    if external is None:
        return Plant(tree, None, None, *kept)
    options, values = wrench_arguments(external)
    wrenches = wrench_frames(tree, options.get("wrenches"))
    layout = "(6,): a constant force and moment, on the tool in its axes, or on each of the links"
    values = shaped("simulate: external", values, *([len(wrenches)] if wrenches else []), 6, layout=layout)
    return Plant(tree, tuple(values.ravel().tolist()), wrenches, *kept)


def _hybrid(tree: Tree, friction: str, method: str, *, fixed: bool) -> bool:
    """True if the motion is integrated from event to event."""
    stops = [term.element for term in tree.force_terms if isinstance(term.element, EndStop) and term.element.impulsive]
    if friction == FRICTION[0] and not stops:
        return False
    cause = (
        f"friction is {friction!r}" if friction != FRICTION[0] else f"the end stop of {stops[0].joint!r} has a restitution"
    )
    if fixed:
        raise ArgumentError(f"simulate: {cause}, but method is {method!r}; expected {choices(ADAPTIVE)}")
    if friction == FRICTION[0] and jumps(tree):
        raise ArgumentError(f"simulate: {cause}, and there is Coulomb friction; expected friction='stiction'")
    return True


def _ground(tree: Tree, ground: Any, method: str, *, fixed: bool, hybrid: bool) -> Ground | None:
    """Validate the ground, whose contacts must be those of the simulated mechanism."""
    if ground is None:
        return None
    if not isinstance(ground, Ground):
        raise ArgumentError(f"simulate: ground is {shown(ground)}; expected a Ground")
    if ground.contacts.tree != tree:
        name = ground.contacts.tree.name
        raise ArgumentError(
            f"simulate: the contacts of the ground are those of {name!r}, another mechanism than {tree.name!r}"
        )
    if fixed:
        raise ArgumentError(f"simulate: there is a ground, but method is {method!r}; expected {choices(ADAPTIVE)}")
    if hybrid:
        raise ArgumentError("simulate: a ground goes with friction='sign' and without rigid end stops")
    return ground


def _stabilization(tree: Tree, word: Any, rate: Any, step: float, *, fixed: bool) -> tuple[str, float]:
    """Stabilization of closed loops, and Baumgarte's rate, 1/s."""
    kind = choice("simulate: stabilization", word, STABILIZATIONS)
    if not tree.loops and kind != STABILIZATIONS[0]:
        raise ArgumentError(f"simulate: stabilization is {kind!r}; {tree.name!r} has no loops to keep closed")
    if kind != "baumgarte":
        if rate is not None:
            raise ArgumentError(f"simulate: stabilization_rate is {shown(rate)}; it is for stabilization='baumgarte'")
        return kind, 0.0
    if rate is None:
        return kind, STABLE / step if step else 0.0
    value = positive("simulate: stabilization_rate", rate)
    if fixed and value * step > MOST_STABLE:
        raise ArgumentError(
            f"simulate: stabilization_rate is {value:g}; steps of {step:g} s need at most {MOST_STABLE / step:g} 1/s"
        )
    return kind, value


def checked_task(tree: Tree, q0: Any, qd0: Any, torque: Any, external: Any, t: Any, **options: Any) -> Task:
    """Check the arguments of `simulate`; `options` are its other ones."""
    require_numeric_tree(tree, "simulate")
    if not tree.nv:
        raise ArgumentError(f"simulate: {tree.name!r} has no joints and does not float: nothing can move")
    method = choice("simulate: method", options["method"], [*INTEGRATORS, *ADAPTIVE])
    diverged = choice("simulate: diverged", options["diverged"], DIVERGED)
    backend, fixed, hold = options["backend"], method in INTEGRATORS, options["hold"]
    backend_of(backend)
    energies = flag("simulate: energies", options["energies"])
    hold = fixed if hold is None else flag("simulate: hold", hold, "True, False or None")
    every, step = _clock(t, even=fixed)
    steps = len(every) - 1
    record = whole("simulate: record", options["record"], 1, "a whole number >= 1: every which instant is kept")
    if steps and record > steps:
        raise ArgumentError(f"simulate: record is {record}; there are only {steps} steps")
    kept = options["stabilization"], options["stabilization_rate"]
    plant = _plant(tree, external, _stabilization(tree, *kept, step, fixed=fixed))
    states = {"q0": _state(tree, "q0", q0, tree.nq), "qd0": _state(tree, "qd0", qd0, tree.nv)}
    batches = {name: array.shape[:-1] for name, array in states.items()}
    source = Torque.of(tree, torque, steps, common_batch("simulate", **batches))
    batch = common_batch("simulate", **{**batches, **source.batches})
    q, qd = closed_start(tree, batch, *(_laid_out(array, batch) for array in states.values()))
    events = watches(options["events"])
    tolerances = {} if fixed else {name: positive(f"simulate: {name}", options[name]) for name in ("rtol", "atol")}
    mark = diverged == "mark"
    hybrid = _hybrid(tree, choice("simulate: friction", options["friction"], FRICTION), method, fixed=fixed)
    ground = _ground(tree, options["ground"], method, fixed=fixed, hybrid=hybrid)
    ending = tolerances, mark, backend, hybrid, ground
    return Task(plant, every, step, batch, q, qd, source, method, record, hold, events, energies, *ending)


def _state(tree: Tree, name: str, value: Any, size: int) -> FloatArray:
    """Initial coordinates or velocities (..., size)."""
    neutral = tree.neutral if name == "q0" else np.zeros(size)
    layout = f"(..., {size}) for {tree.name!r}"
    state = shaped(f"simulate: {name}", neutral if value is None else value, ..., size, layout=layout, copy=False)
    for at in tree.manifold_joints if name == "q0" else ():
        place = at.quaternion
        state = np.concatenate([state[..., : place.start], _unit(state, place), state[..., place.stop :]], axis=-1)
    return state


def _unit(state: FloatArray, at: slice) -> FloatArray:
    """The quaternions (..., 4) in some places of configurations at unit length, whatever other than zero they have."""
    quaternion = state[..., at]
    largest = np.abs(quaternion).max(axis=-1, keepdims=True)
    if not np.all(largest):
        place = first_place(largest[..., 0] == 0.0)
        raise ArgumentError(
            f"simulate: q0[..., {at.start}:{at.stop}] has the length 0{f' at {place}' if place else ''}; "
            "expected a quaternion (w, x, y, z) of any other length"
        )
    scaled = np.ldexp(quaternion, -np.frexp(largest)[1])  # so that squares neither overflow nor vanish
    return np.asarray(scaled / np.linalg.norm(scaled, axis=-1, keepdims=True))


def _laid_out(state: FloatArray, batch: Shape) -> FloatArray:
    """Initial values (B, size) of the whole batch."""
    return np.ascontiguousarray(np.broadcast_to(flat(state, batch, 1), (prod(batch), state.shape[-1])))


def _clock(t: Any, *, even: bool) -> tuple[FloatArray, float]:
    """Instants, from an array or from a tuple (t_end, dt), and their distance."""
    expected = "expected instants (T,), s, or a tuple (t_end, dt)"
    if t is None:
        raise ArgumentError(f"simulate: t is missing; {expected}")
    if isinstance(t, tuple):
        return _counted(t)
    times = numbers("simulate: t", t)
    if times.ndim != 1 or not times.size:
        raise ArgumentError(f"simulate: t has the shape {times.shape}; {expected}")
    try:
        times = instants(times)
    except ArgumentError as error:
        raise ArgumentError(f"simulate: {error}") from error
    gaps = np.diff(times)
    step = float((times[-1] - times[0]) / max(1, len(gaps)))
    uneven = np.abs(gaps - step) > EVEN * step + 4.0 * np.finfo(np.float64).eps * float(np.abs(times).max())
    if even and np.any(uneven):
        k = int(np.argmax(uneven))
        raise ArgumentError(
            f"simulate: t[{k}] to t[{k + 1}] is {gaps[k]:.12g} s, the mean interval {step:.12g} s; "
            "a fixed-step method needs equal intervals"
        )
    return times, step


def _counted(t: tuple[Any, ...]) -> tuple[FloatArray, float]:
    numeric = all(isinstance(v, (int, float, np.integer, np.floating)) and not isinstance(v, bool) for v in t)
    if len(t) == 2 and numeric and all(0 < float(v) < np.inf for v in t):
        end, step = map(float, t)
        steps = round(end / step)
        if steps and abs(steps * step - end) <= 1e-9 * end:
            return np.linspace(0.0, end, steps + 1), end / steps
    raise ArgumentError(f"simulate: t is {shown(t)}; expected (t_end, dt), both > 0, s, t_end a multiple of dt")
