"""The fixed-step integrators, each as a stage over scalars and its coefficients."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from linkwise.algorithm import find
from linkwise.kernel.rollout import Program
from linkwise.kernel.tape import Tape, trace
from linkwise.kinematics.configuration import configuration_rate, integrate
from linkwise.model.tree import Tree
from linkwise.simulation.feedback import Feedback
from linkwise.simulation.moved import Moved
from linkwise.spatial.quaternion import unit_quaternion
from linkwise.spatial.scalar import Array

Stage = Callable[..., tuple[Array, ...]]


@dataclass(frozen=True)
class Scheme:
    """An integrator.

    Attributes
    ----------
    stage : callable
        Over scalars: what moves, then the inputs of `Program.stage`; its outputs.
    coefficients : tuple of (advance, weight, delay)
        Of each stage, see `Program`.
    """

    stage: Stage
    coefficients: tuple[tuple[float, float, float], ...]


def _explicit(
    moved: Moved,
    q: Array,
    qd: Array,
    q_sum: Array,
    qd_sum: Array,
    q_from: Array,
    qd_from: Array,
    tau: Array,
    *factors: Array,
) -> tuple[Array, ...]:
    """One evaluation of an explicit Runge-Kutta method in which each stage needs only the one before it."""
    advance, weight = (factor[()] for factor in factors)
    rate = configuration_rate(moved.tree, q, qd)
    qdd = moved.accelerations(q, qd, tau)
    ahead = (q_from + advance * rate, qd_from + advance * qdd)
    return (*ahead, q_sum + weight * rate, qd_sum + weight * qdd, qdd)


def _semi_implicit(
    moved: Moved,
    q: Array,
    qd: Array,
    q_sum: Array,
    qd_sum: Array,
    q_from: Array,
    qd_from: Array,
    tau: Array,
    *factors: Array,
) -> tuple[Array, ...]:
    """Speeds first, then the configuration along the new speeds: the symplectic Euler method.

    E. Hairer, Ch. Lubich, G. Wanner, *Geometric Numerical Integration* (2006), eq. I.1.9.
    """
    step = factors[1][()]
    qdd = moved.accelerations(q, qd, tau)
    speeds = qd + step * qdd
    there = integrate(moved.tree, q, speeds, step)
    return there, speeds, there, speeds, qdd


SCHEMES = {
    "rk4": Scheme(_explicit, ((0.5, 1 / 6, 0.0), (0.5, 1 / 3, 0.5), (1.0, 1 / 3, 0.5), (0.0, 1 / 6, 1.0))),
    "semi_implicit_euler": Scheme(_semi_implicit, ((0.0, 1.0, 0.0),)),
    "euler": Scheme(_explicit, ((0.0, 1.0, 0.0),)),
}
"""By name: the classical Runge-Kutta method (W. Kutta, 1901), of order 4; two of order 1."""


def program(moved: Moved, method: str, law: Feedback | None, hold: bool) -> Program:
    """Trace a scheme on a mechanism, and a law of control with it."""
    scheme, tree = SCHEMES[method], moved.tree
    nq, nv = tree.nq, tree.nv
    state = {name: (nv if "qd" in name else nq,) for name in ("q", "qd", "q_sum", "qd_sum", "q_from", "qd_from")}
    inputs = {**state, "tau": (nv,), "advance": (), "weight": ()}
    outputs = {"q_next": (nq,), "qd_next": (nv,), "q_total": (nq,), "qd_total": (nv,), "qdd": (nv,)}
    stage = trace(lambda *given: scheme.stage(moved, *given), f"{method}_stage", inputs, outputs)
    tape = law.tape(tree) if law else None
    return Program(stage, scheme.coefficients, tape, _finish(tree), hold or len(scheme.coefficients) == 1)


def _finish(tree: Tree) -> Tape | None:
    """What brings the state at the end of a step back to where it must be: loops closed, the quaternion of unit length."""
    nq, nv = tree.nq, tree.nv
    if tree.loops:
        project = partial(find("project_to_loops").function, tree)
        return trace(project, "finish", {"q": (nq,), "qd": (nv,)}, {"q_closed": (nq,), "qd_closed": (nv,)})
    return trace(normalised, "finish", {"q": (nq,)}, {"q_unit": (nq,)}) if tree.floating else None


def normalised(q: Array) -> Array:
    """The configuration (nq,) of a floating mechanism, or many (nq, ...), with its quaternion made a unit quaternion."""
    return np.concatenate([q[:3], unit_quaternion(q[3:7]), q[7:]])
