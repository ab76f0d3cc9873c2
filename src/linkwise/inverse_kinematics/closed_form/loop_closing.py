"""Closure of a loop of six joints by Gauss-Newton steps over scalars, and continuation of poses towards it.

Joints turn about z or slide along it; placements lie between them: Z_1 L_1 ... Z_6 L_6 = I. Lengths are shares of the arm's
size.
"""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import numpy as np

from linkwise.inverse_kinematics.closed_form.program import damped_step
from linkwise.inverse_kinematics.closed_form.tapes import Functions, iteration
from linkwise.kernel.iteration import Descent
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array, cos_sin, root, select
from linkwise.spatial.vector import inner

#: Mask of the sliding joints of a loop; the others are revolute.
Slides = tuple[bool, ...]

ALL_TURN: Slides = (False,) * 6


def inverse_placement(T: Array) -> Array:
    """The inverse of a rigid placement (3, 4)."""
    R = T[:, :3].T
    return np.concatenate([R, -(R @ T[:, 3:])], axis=1)


def times(A: Array, B: Array) -> Array:
    """The product of rigid placements (3, 4)."""
    product = A[:, :3] @ B
    product[:, 3] = product[:, 3] + A[:, 3]
    return product


def about(c: Any, s: Any) -> Array:
    """A turn about z (3, 4)."""
    return np.array([[c, -s, 0.0, 0.0], [s, c, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]], dtype=object)


def shifted(d: Any) -> Array:
    """A shift along z (3, 4)."""
    return np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, d]], dtype=object)


def product_of(*placements: Array) -> Array:
    """The product of rigid placements (3, 4)."""
    product = placements[0]
    for T in placements[1:]:
        product = times(product, T)
    return product


def carried(pose: Array, before: Array, after: Array, size: Any) -> tuple[Array, Array, Array]:
    """A pose (4, 4), its lengths in sizes, between two placements (3, 4): the product, its inverse, and checks of the pose.

    The checks (3,) are squares: how far it is from rigid, its distance from the origin, and the product's length in sizes.
    """
    rotation, point = pose[:3, :3], pose[:3, 3]
    scaled = np.concatenate([rotation, (point * (1.0 / size))[:, None]], axis=1)
    product = product_of(before, scaled, after)
    skew = (rotation.T @ rotation - np.eye(3)).ravel()
    away = pose[3] - np.array([0.0, 0.0, 0.0, 1.0])
    right_handed = inner(rotation[:, 0], cross(rotation[:, 1], rotation[:, 2]))
    wrong = sum((select(abs(x), 1.0, 0.0) for x in away), inner(skew, skew) + inner(away, away)) + select(
        right_handed, 0.0, 1.0
    )
    return (
        product,
        inverse_placement(product),
        np.array([wrong, inner(point, point), inner(product[:, 3], product[:, 3])], dtype=object),
    )


def opening(loop: Array, q: Array, slides: Slides = ALL_TURN) -> tuple[Array, Array, Array]:
    """Closure error of joints (6,): the gap (6,), its derivative (6, 6) by the joints, and its size ().

    The size is the root of the sum of squares of the gap, in the scale of the loop's lengths, and of the angle (rad).
    """
    T, axes, points = np.eye(4, dtype=object)[:3], [], []
    for k in range(6):
        axes.append(T[:, 2])
        points.append(T[:, 3])
        T = times(times(T, shifted(q[k]) if slides[k] else about(*cos_sin(q[k]))), loop[k])
    turn = 0.5 * np.array([T[2, 1] - T[1, 2], T[0, 2] - T[2, 0], T[1, 0] - T[0, 1]], dtype=object)
    gap = np.concatenate([-T[:, 3], -turn])
    columns = [
        [*z, 0.0, 0.0, 0.0] if slide else [*cross(z, T[:, 3] - p), *z]
        for z, p, slide in zip(axes, points, slides, strict=True)
    ]
    rates = np.array(columns, dtype=object).T
    away = T[:, :3] - np.eye(3)
    return gap, rates, np.asarray(root(inner(gap[:3], gap[:3]) + 0.5 * inner(away.ravel(), away.ravel())))


def gauss_newton_step(loop: Array, q: Array, slides: Slides = ALL_TURN, fixed: int | None = None) -> tuple[Array, Array]:
    """Return joints (6,) after a Gauss-Newton step towards closure, and the closure error before it ()."""
    gap, rates, opened = opening(loop, q, slides)
    if fixed is not None:
        rates[:, fixed] = 0.0
    step = damped_step(rates, gap)
    long = inner(step, step) - 0.25
    scale = select(long, 0.5 / root(inner(step, step)), 1.0)
    return q + scale * step, opened


#: Steps that close a loop: the first are always taken, the others while the error is between CLOSED and WIDE.
FIRST_STEPS, LAST_STEPS, CLOSED, WIDE = 3, 11, 1e-12, 0.1


def closing_step(
    parameters: Array,
    q0: Array,
    settings: Array,
    q: Array,
    aux: Array,
    slides: Slides = ALL_TURN,
    fixed: int | None = None,
) -> tuple[Array, Array, Array]:
    """`gauss_newton_step` in the form of an iteration: loop, first joints, no settings, joints, count and closure error."""
    moved, opened = gauss_newton_step(parameters.reshape(6, 3, 4), q, slides, fixed)
    count, gap = aux[0] + 1.0, opened[()]
    far = select(gap - WIDE, 1.0, select(count - (LAST_STEPS + 0.5), 1.0, select(CLOSED - gap, 1.0, 0.0)))
    ended = select(count - (FIRST_STEPS + 0.5), far, select(1e-15 - gap, 1.0, 0.0))
    stays = [select(ended, before, after) for before, after in zip(q, moved, strict=True)]
    return np.array(stays, dtype=object), np.array([count, gap], dtype=object), np.asarray(ended)


@cache
def kernels(slides: Slides = ALL_TURN) -> Functions:
    """Return the compiled `opening` for the given sliding joints."""
    outputs = {"gap": (6,), "rates": (6, 6), "opened": ()}
    declared = {"opening": (partial(opening, slides=slides), {"loop": (6, 3, 4), "q": (6,)}, outputs)}
    return Functions(__name__, declared, word(slides))


@cache
def carrying() -> Any:
    """`carried` as a gufunc, which costs less to call than a kernel and is never divided among threads."""
    inputs = {"pose": (4, 4), "before": (3, 4), "after": (3, 4), "size": ()}
    outputs = {"product": (3, 4), "inverse": (3, 4), "checks": (3,)}
    return Functions(__name__, {"carried": (carried, inputs, outputs)}).ufuncs["carried"]


@cache
def closing_iteration(slides: Slides = ALL_TURN, fixed: int | None = None) -> Descent:
    """Return `closing_step` in a compiled loop; the joint `fixed` does not move."""
    name = f"closing_step{word(slides)}" + ("" if fixed is None else f"_fixed_{fixed}")
    return iteration(__name__, partial(closing_step, slides=slides, fixed=fixed), 72, 6, 2, name)


def word(slides: Slides) -> str:
    """Return the suffix of a kernel's name; empty if all joints are revolute."""
    return "_" + "".join("RP"[slide] for slide in slides) if any(slides) else ""
