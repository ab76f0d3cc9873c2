"""Simulate from initial states that are arrays of another library, chunk by chunk where it has chunks."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from linkwise.arrays import DifferentiableFramework, Framework, GraphOutput, Signature, constant_in_graphs
from linkwise.errors import ArgumentError
from linkwise.model.tree import Tree
from linkwise.simulation.differentiable import check_differentiable, differentiable_states
from linkwise.simulation.task import checked_task
from linkwise.simulation.torque import Feedback
from linkwise.spatial.scalar import FloatArray
from linkwise.trajectory.trajectory import Trajectory

#: The arrays of a motion, and those that energies add.
STATES, ENERGIES = ("q", "qd", "qdd", "tau"), ("kinetic", "potential")


def simulate_by(
    library: Framework, simulate: Callable[..., Trajectory], mech: Tree, q0: Any, qd0: Any, torque: Any, **options: Any
) -> Trajectory:
    """A trajectory whose arrays are those of a library; with Dask, none of them is computed yet.

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
    """The shapes of what a trajectory has in graphs of `torch.compile`."""
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
