"""Simulate with arrays of a library that differentiates: the steps one by one, by kernels that it knows the derivatives of.

Derivatives are those of the discrete steps, backward through time; what is between checkpoints is computed again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from linkwise.arrays import DifferentiableFramework
from linkwise.errors import ArgumentError
from linkwise.kernel import Kernel
from linkwise.model.tree import Tree
from linkwise.simulation.integrators import program
from linkwise.simulation.task import Task
from linkwise.simulation.torque import Feedback, torque_axes
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import common_batch

#: A torque for each rollout (B, nv) at a time, as arrays of the library: ``torque(t, q, qd)``.
Law = Callable[[Any, Any, Any], Any]


def check_differentiable(mech: Tree, task: Task, library: str) -> None:
    """Raise `ArgumentError` for what a rollout by steps of a library has not."""
    purpose = f"derivatives by {library}"
    task.require_plain_steps(purpose, f"for {purpose}", diverged=task.mark)
    if mech.loops:
        raise ArgumentError(f"simulate: {mech.name!r} has closed loops; derivatives by {library} are of open mechanisms")


def differentiable_states(
    library: DifferentiableFramework, mech: Tree, task: Task, q0: Any, qd0: Any, torque: Any
) -> tuple[Any, Any, Any, Any]:
    """Return q (..., R, nq), qd, qdd and tau (..., R, nv) at the recorded instants, with derivatives."""
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
    """What gives torques at a state, as a function of the library's arrays; None where they are known beforehand."""
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
    """Torques (..., rows, nv), and which row holds at each instant; None where a function gives them."""
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
    """From a state (q, qd), with the time and the torque, to the next; and what is recorded."""
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
    """The stage of the integrator, what brings quaternions to unit length, and the coefficients of the stages."""

    def make() -> tuple[Kernel, Kernel | None, tuple[tuple[float, float, float], ...]]:
        steps = program(task.plant, task.method, None, True)
        return Kernel(steps.stage), Kernel(steps.finish) if steps.finish else None, steps.coefficients

    return task.plant.tree.memo("simulate", ("differentiable", task.method, *task.plant.choices), make)
