"""Chains nearby in which axes that are nearly parallel, or nearly meet, do so exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from linkwise.solve.closed_form.geometry import Chain, angle, common_point, tidy


def made_parallel(chain: Chain, joints: Sequence[int]) -> Chain:
    """The chain with the axes of some joints along the first of them, or against it; its misfit grows by the angle."""
    axes, first = chain.axes.copy(), chain.axes[joints[0]]
    for k in joints[1:]:
        axes[k] = first if float(first @ chain.axes[k]) > 0 else -first
    misfit = max(angle(chain, joints[0], k) for k in joints)
    return replace(chain, axes=axes + 0.0, misfit=max(chain.misfit, misfit))


def made_meet(chain: Chain, joints: Sequence[int]) -> Chain:
    """The chain with one point for the axes of some joints; its misfit grows by the greatest distance, in its size."""
    point, gap = common_point(chain, *joints)
    points = chain.points.copy()
    points[list(joints)] = point
    return replace(chain, points=tidy(points), misfit=max(chain.misfit, gap / chain.size))


def as_read(near: Chain, chain: Chain) -> Chain:
    """A chain made from one read from its end, read from its beginning again: `chain` is what it was made from."""
    back = near.reversed()
    return replace(chain, axes=back.axes, points=np.array(back.points), misfit=near.misfit)
