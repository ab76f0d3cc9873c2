"""Rollouts on a GPU: all steps of all rollouts in one launch, a rollout a thread, the steps those of the processor."""

from __future__ import annotations

from functools import partial
from math import prod
from typing import Any

import numpy as np

from linkwise.arrays.cuda import FRAMEWORK, placed
from linkwise.errors import ArgumentError
from linkwise.kernel.backend import backend_of
from linkwise.model.tree import Tree
from linkwise.simulation.integrators import program
from linkwise.simulation.task import Task
from linkwise.simulation.torque import compiled, torque_axes


def device_states(mech: Tree, task: Task, q0: Any, qd0: Any, torque: Any) -> tuple[Any, Any, Any, Any]:
    """Return q (..., R, nq), qd, qdd and tau (..., R, nv) at the recorded instants, as arrays on the device.

    Parameters
    ----------
    mech : Mechanism
        What moves.
    task : Task
        How, and what drives it where it is no array on a device.
    q0, qd0, torque : array on a device, or array of NumPy, or None
        As `simulate` takes them.

    Raises
    ------
    ArgumentError
        For what does not run there, and shapes that do not fit.
    """
    _check(mech, task)
    nq, nv, steps = mech.nq, mech.nv, task.steps // task.record * task.record
    library = placed(
        "simulate", {name: x for name, x in (("q0", q0), ("qd0", qd0), ("torque", torque)) if FRAMEWORK.on_device([x])}
    ).library

    def there(value: Any, default: Any) -> Any:
        return (
            value
            if FRAMEWORK.on_device([value])
            else library.asarray(np.asarray(default if value is None else value, float))
        )

    reads = list(task.torque.arrays.values()) if task.torque.law is not None else []
    values = [there(q0, mech.neutral), there(qd0, np.zeros(nv))]
    if mech.manifold_joints:  # (quaternions to unit length)
        still = library.asarray(np.zeros(nv)), library.asarray(np.zeros(()))
        values[0] = FRAMEWORK.of_kernel(mech.kernel("integrate"))(values[0], *still)  # type: ignore[attr-defined]
    values += [there(array, None) for array in reads] or [torque_axes(there(torque, np.zeros(nv)), nv, task.steps)]
    names = ("q0", "qd0", *task.torque.arrays)
    here = placed("simulate", dict(zip(names, values, strict=True)))
    cores = [(nq,), (nv,), *(view.shape[-2:] for view in here.views[2:])]
    batch = _batch(names, [view.shape for view in here.views], cores)
    if here.dtype != "float64":
        raise ArgumentError(f"simulate: q0 holds {here.dtype}; expected float64 on a GPU")
    rows = [here.rows(k, batch, core) for k, core in enumerate(cores)]
    ports = [(address, step, 0, 0) for (address, step), _ in rows[:2]]
    for ((address, step), _), (instants, size) in zip(rows[2:], cores[2:], strict=True):
        ports.append((address, step, 8 * size, instants - 1))
    records = steps // task.record + 1
    results = [(here.new((*batch, records, size)), 8 * size) for size in (nq, nv, nv, nv)]
    ports += [(address, records * row, row, records - 1) for (_, address), row in results]
    hold = task.hold or not task.torque.is_law
    key = ("program", task.method, hold, *task.plant.choices)
    steps_of = partial(program, task.plant, task.method, task.torque.law, hold)
    launcher = backend_of(None).launcher(compiled(task.plant.tree, task.torque.law, key, steps_of))
    clock = steps, task.record, float(task.t[0]), task.step
    launcher.rollouts(library.device, library.stream, clock, prod(batch), ports)
    here.finish()
    q, qd, qdd, tau = (array for (array, _), _ in results)
    return q, qd, qdd, tau


def _check(mech: Tree, task: Task) -> None:
    task.require_plain_steps("arrays on a GPU", "on a GPU")
    if task.torque.function is not None:
        raise ArgumentError("simulate: torque is a function; expected an array or a Feedback on a GPU")
    if mech.loops:
        raise ArgumentError(f"simulate: {mech.name!r} has closed loops; on a GPU it must be an open mechanism")


def _batch(names: Any, shapes: Any, cores: Any) -> tuple[int, ...]:
    """The batch shape of all."""
    for name, shape, core in zip(names, shapes, cores, strict=True):
        if shape[len(shape) - len(core) :] != core:
            raise ArgumentError(f"simulate: {name} has the shape {shape}; expected (..., {core[-1]})")
    batches = [shape[: len(shape) - len(core)] for shape, core in zip(shapes, cores, strict=True)]
    try:
        return np.broadcast_shapes(*batches)
    except ValueError as error:
        known = ", ".join(f"{name} {batch}" for name, batch in zip(names, batches, strict=True))
        raise ArgumentError(f"simulate: the batch shapes do not broadcast: {known}") from error
