"""How an iteration goes about a problem: the model of a step, its damping, what is accepted, and when it ends.

A policy is constant while a step is traced: what it leaves out adds no operation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Damping:
    """The damping of a step (K. Levenberg 1944, D. Marquardt 1963).

    Attributes
    ----------
    initial : float
        Of the first step.
    decrease, increase : float
        Its factors after a step that is accepted, and after one that is not; 1 keeps it.
    floor : float
        The least damping; with `times_error` what is added to it.
    times_error : bool
        Whether it is in proportion to the squared error, which keeps the end quadratic (T. Sugihara,
        "Solvability-unconcerned inverse kinematics by the Levenberg-Marquardt method", IEEE Trans. Robotics 27(5), 2011;
        where rows depend on each other N. Yamashita, M. Fukushima, Computing Suppl. 15, 2001).
    most_error : float
        The squared error beyond which the damping does not grow: what slides far would come no nearer otherwise.
    hopeless : float
        Where a start is given up.
    """

    initial: float
    decrease: float = 1.0
    increase: float = 1.0
    floor: float = 1e-13
    times_error: bool = True
    most_error: float = 10.0
    hopeless: float = 1e12


@dataclass(frozen=True)
class Policy:
    """One way of iterating; see the presets below.

    Attributes
    ----------
    accept : {"always", "decrease"}
        "always": every step is taken, whole turns are taken off on the way, and a start that does not progress is given up.
        "decrease": every iterate is within the bounds, and none has a greater error than the one before.
    damping : Damping
        Of the steps.
    model : {"gauss_newton", "newton"}
        Whether the second derivative of the residual counts, where it is not too long and there is no floating base.
    by_rows : bool
        Whether a step is computed as a combination of the rows, whatever their number: what no row asks for stays to the
        last bit then. Otherwise through the smaller of the two normal matrices.
    max_step : float or None
        No joint turns further in a step, rad, or slides, in units of the problem's length.
    at_rest : float
        The squared slope along the free joints, as a share of the squared error, at which it is at rest. A step along a
        slope of 1e-16 of it is lost in the rounding of the error.
    early : bool
        Whether a step that arrives is the last; otherwise the next one looks.
    """

    accept: Literal["always", "decrease"]
    damping: Damping
    model: Literal["gauss_newton", "newton"] = "gauss_newton"
    by_rows: bool = False
    max_step: float | None = None
    at_rest: float = 1e-14
    early: bool = False


REACH = Policy("always", Damping(0.1))
"""Towards a solution: needs no trial steps, and converges quadratically."""

BEST_FIT = Policy(
    "decrease",
    Damping(1e-2, decrease=0.2, increase=4.0, floor=1e-13, times_error=False, hopeless=1e10),
    model="newton",
    at_rest=1e-13,
)
"""To where the constraints are met best within the limits."""

TRACK = Policy("decrease", Damping(0.1, decrease=0.2, increase=10.0), by_rows=True, max_step=1.0, at_rest=1e-16, early=True)
"""In each cycle of a chain: what stops early, or cannot arrive, is the best of those on its way."""

CLOSE = Policy(
    "decrease",
    Damping(1.0, decrease=0.2, increase=8.0, floor=1e-15, most_error=1.0, hopeless=1e9),
    max_step=0.5,
)
"""To closed loops, lengths in units of the longest offset; run over arrays by `linkwise.loops.loop_solver`, for a step of a
large mechanism is two to three times as fast in matrices as instruction by instruction, and needs no tracing."""
