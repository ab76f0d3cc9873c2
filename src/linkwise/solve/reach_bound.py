"""Whether targets are farther away than the links of a chain reach: then no joint values lead there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec

import numpy as np
import numpy.typing as npt

from linkwise.model.tree import Tree
from linkwise.solve.solution import Solution
from linkwise.spatial.scalar import FloatArray

if TYPE_CHECKING:
    from linkwise.model.link import Link

Given = ParamSpec("Given")


def farthest(mechanism: Tree, link: int | str = "tool") -> tuple[FloatArray, float]:
    """The first joint (3,) on the way to a frame, world frame, m, and a distance from it that the frame never exceeds, m.

    The lengths between the joints on the way, and the farthest that each slides, are added up: a bound, which a straight
    chain attains. It is infinite for what slides without limits, and for a base that floats.

    Examples
    --------
    >>> from linkwise import robots
    >>> farthest(robots.planar_2r())[1]
    2.0
    """
    here, start, total = np.asarray(mechanism.base, dtype=float), np.zeros(3), 0.0
    moving = False
    for k in mechanism.path(link):
        link_k = mechanism.links[k]
        here = here @ link_k.before
        if link_k.moves:
            start, total = (start, total + float(np.linalg.norm(here[:3, 3]))) if moving else (here[:3, 3].copy(), 0.0)
            total, moving, here = total + _slides(link_k), True, np.eye(4)
        here = here @ link_k.after
    here = here @ mechanism.frame(link)[1]
    if mechanism.floating or not moving:
        return start, np.inf
    return start, total + float(np.linalg.norm(here[:3, 3]))


def _slides(link: Link) -> float:
    """How far a joint shifts its link at most, m."""
    advance = abs(float(getattr(link.joint_model, "advance", 0.0)))
    if not advance:
        return 0.0
    return advance * (np.inf if link.limits is None else max(abs(limit + link.offset) for limit in link.limits))


def telling_reach(solver: Callable[Given, Solution]) -> Callable[Given, Solution]:
    """A solver of poses whose answers without success know how far away the targets are."""
    look: Callable[..., Solution] = _told

    @wraps(solver)
    def solve(*args: Given.args, **options: Given.kwargs) -> Solution:
        solution = solver(*args, **options)
        return solution if solution.success is True or np.all(solution.success) else look(solution, *args, **options)

    return solve


def _told(
    solution: Solution,
    mechanism: Tree,
    T: npt.ArrayLike,
    *,
    link: int | str = "tool",
    mask: npt.ArrayLike | None = None,
    frame: str = "world",
    limits: bool = True,
    **_: Any,
) -> Solution:
    counts = np.ones(3) if mask is None else np.asarray(mask, dtype=float)[:3]
    start, most = farthest(mechanism, link)
    slid = not limits and any(mechanism.slides)
    if not np.isfinite(most) or slid or (frame == "body" and not counts.all()):
        return solution
    away = np.linalg.norm((np.asarray(T, dtype=float)[..., :3, 3] - start) * (counts != 0.0), axis=-1)
    return replace(solution, away=np.broadcast_to(away, np.shape(solution.success)), reach=most)
