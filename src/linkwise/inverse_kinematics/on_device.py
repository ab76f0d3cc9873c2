"""Inverse kinematics on a GPU: a pose a thread, by the compiled iteration, and a forward pass that checks the solutions."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from linkwise.arrays.cuda import FRAMEWORK, placed
from linkwise.errors import ArgumentError
from linkwise.kernel.backend import backend_of, default_backend
from linkwise.kernel.iteration import Descent
from linkwise.model.tree import Tree
from linkwise.solve.compiled_problem import system_of
from linkwise.solve.constraints.pose import Pose
from linkwise.solve.solution import Solution


def solve_on_device(
    mechanism: Tree,
    T: Any,
    q0: Any = None,
    *,
    link: int | str = "tool",
    mask: Any = None,
    frame: str = "world",
    tol: float = 1e-9,
    seed: int = 0,
    method: str = "auto",
    limits: bool = True,
    clear: Any = None,
    backend: str | None = None,
) -> Solution:
    """Solve poses T (..., 4, 4) on a device; see `linkwise.Mechanism.inverse_kinematics`.

    It iterates from q0 and then from random starts, also where there is a closed form. Without success q is where the last
    start came to, not the nearest pose; the reason is None. Poses must be exact to rounding: others are not solved.

    Raises
    ------
    ArgumentError
        For what does not run there, and shapes that do not fit.
    """
    if method not in {"auto", "numeric"} or clear is not None:
        name, value = ("clear", clear) if clear is not None else ("method", method)
        raise ArgumentError(f"inverse_kinematics: {name} is {value!r}; expected 'auto' or 'numeric', and no clear")
    backend_of(backend)
    system = system_of(mechanism, [Pose(link, np.eye(4), mask, frame)], limits=limits, backend=default_backend())
    if system.problem.tree.manifold_joints or len(system.idle):
        raise ArgumentError(
            f"inverse_kinematics: {mechanism.name!r} has quaternions or joints that do not move {link!r}: not on a GPU"
        )
    nq = mechanism.nq
    arguments = placed("inverse_kinematics", {"T": T} if q0 is None else {"T": T, "q0": q0})
    if arguments.dtype != "float64":
        raise ArgumentError(f"inverse_kinematics: T holds {arguments.dtype}; expected float64 on a GPU")
    library = arguments.library
    numbers = [library.asarray(x) for x in (system.starts(seed), system.settings(tol))]
    values = {"T": T, "q0": library.asarray(system.start) if q0 is None else q0}
    here = placed("inverse_kinematics", values | dict(zip(("starts", "settings"), numbers, strict=True)))
    batch = _batch(here.views[0].shape, here.views[1].shape, nq)
    cores = ((4, 4), (nq,), here.views[2].shape, here.views[3].shape)
    rows = [here.rows(k, batch, core) for k, core in enumerate(cores)]
    result, address = here.new((*batch, system.row))
    iteration = system.reaching
    assert isinstance(iteration, Descent)  # (a back end is named)
    launcher = backend_of(None).launcher(iteration.program)
    places = [*(place for place, _ in rows), (address, 8 * system.row)]
    launcher.tasks(library.device, library.stream, prod(batch), cores[2][0], places)
    here.finish()
    q = library.copied(result[..., :nq], (*batch, nq))
    distance, angle, outside = FRAMEWORK.of_kernel(system.checks)(T.reshape((*T.shape[:-2], 16)), q)
    success = (result[..., -1] > 0.0) & (distance <= tol) & (angle <= tol) & (outside == 0.0)
    steps = library.cast(result[..., nq], "int64")
    shared: dict[str, Any] = {"limits": system.bounds, "names": system.names, "tol": tol}
    errors = {"position_error": distance, "rotation_error": angle}
    return Solution.of(q=q, success=success, reason=None, **errors, iterations=steps, **shared)


def _batch(poses: tuple[int, ...], start: tuple[int, ...], nq: int) -> tuple[int, ...]:
    if poses[-2:] != (4, 4) or start[-1:] != (nq,):
        raise ArgumentError(f"inverse_kinematics: T {poses} and q0 {start}; expected (..., 4, 4) and (..., {nq})")
    try:
        return np.broadcast_shapes(poses[:-2], start[:-1])
    except ValueError as error:
        raise ArgumentError(f"inverse_kinematics: T {poses} and q0 {start} do not broadcast") from error
