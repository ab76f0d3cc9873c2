"""Declaration of a fixed-step integrator, and its tracing on a mechanism to a `RolloutProgram`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from linkwise.algorithm import find
from linkwise.kernel.rollout import RolloutProgram
from linkwise.kernel.tape import Tape, trace
from linkwise.kinematics.configuration import with_unit_quaternions
from linkwise.simulation.plant import Plant
from linkwise.simulation.torque import Feedback
from linkwise.spatial.scalar import Array


class Phase(NamedTuple):
    """Configuration (nq,) and velocity (nv,) over scalars, or a sum of their rates."""

    q: Array
    qd: Array


#: The point of the next stage, the sum, and the accelerations (nv,) at the point of this one.
Stage = tuple[Phase, Phase, Array]

StageFunction = Callable[[Plant, Phase, Phase, Phase, Array, Any, Any], Stage]


@dataclass(frozen=True)
class Integrator:
    """An integrator: one function for all its stages, and the coefficients of each.

    Attributes
    ----------
    name : str
        What `simulate` finds it by.
    stage : callable
        ``stage(plant, now, total, begin, tau, advance, weight)`` over scalars: `now` the point of the stage, `total` the sum
        so far (first the state), `begin` the state at the step's beginning. After the last stage the sum is the new state.
    coefficients : tuple of (advance, weight, delay)
        Coefficients of each stage, see `RolloutProgram`.
    explicit : bool
        See `integrator`.
    """

    name: str
    stage: StageFunction
    coefficients: tuple[tuple[float, float, float], ...]
    explicit: bool = False


#: Every fixed-step integrator, by name.
INTEGRATORS: dict[str, Integrator] = {}


def integrator(
    name: str, *coefficients: tuple[float, float, float], explicit: bool = False
) -> Callable[[StageFunction], StageFunction]:
    """Declare the decorated stage function as an integrator.

    Parameters
    ----------
    name : str
        What `simulate` finds it by.
    *coefficients : (advance, weight, delay)
        Of each stage, in steps: what leads from the state to the point of the next stage, the stage's share in the sum, and
        the time of its own point.
    explicit : bool
        Whether the stage is arithmetic and methods of the plant alone, which may be a `BatchPlant` then, as in
        `explicit_stage`.
    """

    def declare(stage: StageFunction) -> StageFunction:
        INTEGRATORS[name] = Integrator(name, stage, coefficients, explicit or stage is explicit_stage)
        return stage

    return declare


def explicit_stage(plant: Plant, now: Phase, total: Phase, begin: Phase, tau: Array, advance: Any, weight: Any) -> Stage:
    """One evaluation of an explicit Runge-Kutta method in which each stage depends only on the one before it."""
    rates = Phase(plant.configuration_rate(now.q, now.qd), plant.accelerations(now.q, now.qd, tau))
    following = Phase(begin.q + advance * rates.q, begin.qd + advance * rates.qd)
    return following, Phase(total.q + weight * rates.q, total.qd + weight * rates.qd), rates.qd


def program(plant: Plant, method: str, law: Feedback | None, hold: bool) -> RolloutProgram:
    """Trace an integrator on a mechanism, and a law of control with it."""
    scheme, tree = INTEGRATORS[method], plant.tree
    nq, nv = tree.nq, tree.nv
    state = {name: (nv if "qd" in name else nq,) for name in ("q", "qd", "q_sum", "qd_sum", "q_from", "qd_from")}
    outputs = {"q_next": (nq,), "qd_next": (nv,), "q_total": (nq,), "qd_total": (nv,), "qdd": (nv,)}

    def stage(*scalars: Array) -> tuple[Array, ...]:
        phases = [Phase(*scalars[k : k + 2]) for k in (0, 2, 4)]
        tau, advance, weight = scalars[6:]
        following, total, qdd = scheme.stage(plant, phases[0], phases[1], phases[2], tau, advance[()], weight[()])
        return *following, *total, qdd

    tape = trace(stage, f"{method}_stage", {**state, "tau": (nv,), "advance": (), "weight": ()}, outputs)
    alone = len(scheme.coefficients) == 1
    return RolloutProgram(tape, scheme.coefficients, law.tape(tree) if law else None, _finish(plant), hold or alone)


def _finish(plant: Plant) -> Tape | None:
    """Correction of the state at the end of a step: closed loops, quaternions of unit length."""
    tree = plant.tree
    nq, nv = tree.nq, tree.nv
    if plant.projects:
        project = partial(find("project_to_loops").function, tree)
        return trace(project, "finish", {"q": (nq,), "qd": (nv,)}, {"q_closed": (nq,), "qd_closed": (nv,)})
    if not tree.manifold_joints:
        return None
    return trace(partial(with_unit_quaternions, tree), "finish", {"q": (nq,)}, {"q_unit": (nq,)})
