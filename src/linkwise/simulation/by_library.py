"""Simulate from initial states that are arrays of another library.

With derivatives, the steps go one by one, by kernels that the library knows the derivatives of; else chunk by chunk where
it has chunks.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from linkwise.arrays import DifferentiableFramework, Framework, GraphOutput, Signature, constant_in_graphs
from linkwise.errors import ArgumentError
from linkwise.kernel import Kernel
from linkwise.model.tree import Tree
from linkwise.simulation.integrators import program
from linkwise.simulation.task import Task, checked_task
from linkwise.simulation.torque import Feedback, torque_axes
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import common_batch
from linkwise.trajectory.trajectory import Trajectory

#: A torque for each rollout (B, nv) at a time, as arrays of the library: ``torque(t, q, qd)``.
Law = Callable[[Any, Any, Any], Any]


def check_differentiable(mech: Tree, task: Task, library: str) -> None:
    """Raise `ArgumentError` for options that rollouts with another library do not support."""
    purpose = f"derivatives by {library}"
    task.require_plain_steps(purpose, f"for {purpose}", diverged=task.mark)
    if mech.loops:
        raise ArgumentError(f"simulate: {mech.name!r} has closed loops; derivatives by {library} are of open mechanisms")


def differentiable_states(
    library: DifferentiableFramework, mech: Tree, task: Task, q0: Any, qd0: Any, torque: Any
) -> tuple[Any, Any, Any, Any]:
    """Return q (..., R, nq), qd, qdd and tau (..., R, nv) at the recorded instants, with derivatives.

    These are those of the discrete steps, backward through time; what is between checkpoints is computed again.
    """
    steps, nq, nv = task.steps, mech.nq, mech.nv
    near = next((value for value in (q0, qd0, torque) if library.owns(value)), None)
    rows, efforts = _efforts(library, torque, steps, nv, near)
    initial = [(mech.neutral if q0 is None else q0, nq), (np.zeros(nv) if qd0 is None else qd0, nv)]
    for name, (value, size) in zip(("q0", "qd0"), initial, strict=True):
        if tuple(np.shape(value)[-1:]) != (size,):
            raise ArgumentError(f"simulate: {name} has the shape {tuple(np.shape(value))}; expected (..., {size})")
    shapes = {name: tuple(np.shape(value)[:-1]) for name, (value, _) in zip(("q0", "qd0"), initial, strict=True)}
    batch = common_batch("simulate", **shapes, **({} if efforts is None else {"torque": tuple(efforts.shape[:-2])}))
    q, qd = (_whole(library, value, (*batch, size), near).reshape(-1, size) for value, size in initial)
    if mech.manifold_joints:
        q = mech_function(library, mech, "integrate")(
            q, library.constant(np.zeros(nv), near=q), library.constant(0.0, near=q)
        )
    if efforts is not None:
        efforts = _whole(library, efforts[..., rows, :], (*batch, steps + 1, nv), near)
        efforts = efforts.reshape(-1, steps + 1, nv).swapaxes(0, 1)
    step = _step(library, task, _law(library, mech, torque, q), efforts is None)
    times = library.constant(np.asarray(task.every), near=q)
    _, outputs = library.scan(step, (q, qd), (times,) if efforts is None else (times, efforts))
    q, qd, qdd, tau = (x[:: task.record].swapaxes(0, 1) for x in outputs)
    return tuple(x.reshape(*batch, *x.shape[1:]) for x in (q, qd, qdd, tau))


def mech_function(library: DifferentiableFramework, mech: Tree, name: str) -> Callable[..., Any]:
    """A kernel of a mechanism as a function of a library's arrays."""
    kernel: Any = mech.kernel(name)  # type: ignore[attr-defined]
    return library.of_kernel(kernel)


def _law(library: DifferentiableFramework, mech: Tree, torque: Any, near: Any) -> Law | None:
    """Torque at a state as a function of the library's arrays; None if the torques are given as arrays."""
    if not isinstance(torque, Feedback):
        return torque if callable(torque) else None
    changing = next((name for name, value in torque.inputs.items() if value.rows > 1 or value.batch), None)
    if changing is not None:
        raise ArgumentError(
            f"simulate: {changing} of {torque!r} is sampled; expected one value with arrays of {library.name}, or a function"
        )
    law = library.of_kernel(torque.kernel(mech))
    parameters = [library.constant(value.values[0], near=near) for value in torque.inputs.values()]
    return lambda t, q, qd: law(t, q, qd, *parameters)


def _efforts(library: DifferentiableFramework, torque: Any, steps: int, nv: int, near: Any) -> tuple[Any, Any]:
    """Torques (..., rows, nv), and the active row of each instant; None if the torque is a function."""
    if callable(torque):
        return None, None
    value = np.zeros(nv) if torque is None else torque
    array = torque_axes(_array(library, value, near), nv, steps)
    return np.minimum(np.arange(steps + 1), array.shape[-2] - 1), array


def _array(library: DifferentiableFramework, value: Any, near: Any) -> Any:
    """A value as an array of the library, where another one is."""
    return value if library.owns(value) else library.constant(np.asarray(value, dtype=float), near=near)


def _whole(library: DifferentiableFramework, value: Any, shape: tuple[int, ...], near: Any) -> Any:
    """A value spread over a batch."""
    array = _array(library, value, near)
    return array if tuple(array.shape) == shape else array + library.constant(np.zeros(shape), near=array)


def _step(
    library: DifferentiableFramework, task: Task, law: Law | None, free: bool
) -> Callable[[Any, Any], tuple[Any, Any]]:
    """Build the step from a state (q, qd), with time and torque, to the next, and the record."""
    stage, finish, coefficients = _kernels(task)
    scaled = [tuple(task.step * factor for factor in row) for row in coefficients]
    run, end = library.of_kernel(stage), library.of_kernel(finish) if finish is not None else None

    def torque(time: Any, q: Any, qd: Any) -> FloatArray:
        assert law is not None
        value: FloatArray = law(time, q, qd)
        return value

    def step(state: Any, row: Any) -> tuple[Any, Any]:
        q, qd = state
        tau = torque(row[0], q, qd) if free else row[1]
        *point, qdd = run(q, qd, q, qd, q, qd, tau, *scaled[0][:2])
        record, effort = (q, qd, qdd, tau), tau
        for advance, weight, delay in scaled[1:]:
            if free and not task.hold:
                effort = torque(row[0] + delay, point[0], point[1])
            *point, _ = run(*point, q, qd, effort, advance, weight)
        q, qd = point[2], point[3]
        if end is not None:
            q = end(q)
        return (q, qd), record

    return step


def _kernels(task: Task) -> tuple[Kernel, Kernel | None, tuple[tuple[float, float, float], ...]]:
    """Kernels of the integrator's stage and of quaternion normalization, and the stages' coefficients."""

    def make() -> tuple[Kernel, Kernel | None, tuple[tuple[float, float, float], ...]]:
        steps = program(task.plant, task.method, None, True)
        return Kernel(steps.stage), Kernel(steps.finish) if steps.finish else None, steps.coefficients

    return task.plant.tree.memo("simulate", ("differentiable", task.method, *task.plant.choices), make)


#: The arrays of a motion, and those that energies add.
STATES, ENERGIES = ("q", "qd", "qdd", "tau"), ("kinetic", "potential")


def simulate_by(
    library: Framework, simulate: Callable[..., Trajectory], mech: Tree, q0: Any, qd0: Any, torque: Any, **options: Any
) -> Trajectory:
    """A trajectory whose arrays are those of a library; Dask's are lazy.

    Raises
    ------
    ArgumentError
        For events, of which there is no array.
    """
    for name in ("events", "ground"):
        if options.get(name) is not None:
            raise ArgumentError(f"simulate: {name} are for NumPy arrays; arrays of {library.name} have none")
    values = {"q0": (q0, (mech.nq,)), "qd0": (qd0, (mech.nv,))}
    sampled = torque is not None and not callable(torque) and hasattr(torque, "shape")
    if sampled:
        values["torque"] = (torque, tuple(torque.shape)[-2:])
    arrays = {name: (value, core) for name, (value, core) in values.items() if value is not None}
    library.check("simulate", arrays)
    function = callable(torque) and not isinstance(torque, Feedback)
    if isinstance(library, DifferentiableFramework) and (function or library.differentiates((q0, qd0, torque))):
        task = checked_task(mech, None, None, None, **options)
        check_differentiable(mech, task, library.name)
        return _trajectory(mech, task.t, STATES, differentiable_states(library, mech, task, q0, qd0, torque))
    if library.on_device((q0, qd0, torque)):
        from linkwise.simulation.on_device import device_states

        law = torque if callable(torque) else None
        task = checked_task(mech, None, None, law, **options)
        return _trajectory(mech, task.t, STATES, device_states(mech, task, q0, qd0, torque))
    if not sampled:
        options["torque"] = torque
    times = checked_task(mech, None, None, None, **{name: value for name, value in options.items() if name != "torque"}).t
    rows, names = len(times), STATES + (ENERGIES if options["energies"] else ())
    outputs = ((rows, mech.nq), *((rows, mech.nv),) * 3, *((rows,),) * (len(names) - len(STATES)))
    signature = Signature(tuple(core for _, core in arrays.values()), outputs, ("float64",) * len(names), names)
    results = library.map(
        partial(_states, simulate, mech, tuple(arrays), names, options), signature, [value for value, _ in arrays.values()]
    )
    return _trajectory(mech, times, names, results)


def _trajectory(mech: Tree, times: FloatArray, names: tuple[str, ...], results: tuple[Any, ...]) -> Trajectory:
    """A trajectory of arrays as they are, unchecked."""
    motion = object.__new__(Trajectory)
    missing = dict.fromkeys(("kinetic", "potential", "energy_error", "poses", "evaluate"))
    motion.__dict__.update(missing, t=times, names=tuple(mech.names), is_length=tuple(mech.is_length), events=())
    motion.__dict__.update(zip(names, results, strict=True), manifold_joints=mech.manifold_joints)
    return motion


def graph_rows(mech: Tree, *, q0: Any = None, qd0: Any = None, torque: Any = None, **options: Any) -> dict[str, Any]:
    """Output shapes of a trajectory in graphs of `torch.compile`."""
    rows = len(checked_task(mech, None, None, None, **options).t)
    names = STATES + (ENERGIES if options["energies"] else ())
    sizes = dict.fromkeys(STATES, (mech.nv,)) | {"q": (mech.nq,)}
    return {name: GraphOutput((rows, *sizes.get(name, ()))) for name in names}


def trajectory_in_graph(mech: Tree, tensors: dict[str, Any], options: dict[str, Any], **rows: Any) -> Trajectory:
    """A trajectory within a graph."""
    motion: Trajectory = object.__new__(Trajectory)
    for name, value in (*_fixed_fields(mech, tuple(options), *options.values()), *rows.items()):
        object.__setattr__(motion, name, rows["q"].new_tensor(value) if name == "t" else value)
    return motion


@constant_in_graphs
def _fixed_fields(mech: Tree, names: tuple[str, ...], *values: Any) -> tuple[tuple[str, Any], ...]:
    options = dict(zip(names, values, strict=True))
    others = {name: value for name, value in options.items() if name not in {"q0", "qd0", "torque"}}
    times = checked_task(mech, None, None, None, **others).t
    return tuple(vars(_trajectory(mech, times.tolist(), (), ())).items())


def _states(
    simulate: Callable[..., Trajectory],
    mech: Tree,
    arguments: tuple[str, ...],
    names: tuple[str, ...],
    options: Any,
    *arrays: Any,
) -> tuple[Any, ...]:
    motion = simulate(mech, **dict(zip(arguments, arrays, strict=True)), **options)
    return tuple(np.asarray(getattr(motion, name)) for name in names)
