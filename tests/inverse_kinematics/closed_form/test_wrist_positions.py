"""Positions by three joints of any kinds: the true joints are among the branches, and the branches take the point there."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from linkwise.inverse_kinematics.closed_form.position import three_joints
from linkwise.inverse_kinematics.closed_form.position_pairs import plan_of, side
from linkwise.inverse_kinematics.closed_form.problem import NO_TURN
from linkwise.inverse_kinematics.closed_form.problem import Axis as JointAxis
from linkwise.kernel import Kernel, trace
from linkwise.spatial.rotation import rotation_between
from linkwise.spatial.scalar import Array
from support.axis_arms import Axis, direction, exponential

KINDS = ["".join(kinds) for kinds in product("RP", repeat=3)]
COUNT = 100
SIZE = 2.0


def _axes(kinds: str, special: str, rng: np.random.Generator) -> list[Axis]:
    made: list[Axis] = [(kind, direction(rng), rng.uniform(-1, 1, 3)) for kind in kinds]
    for name, i, j in (("12", 0, 1), ("23", 1, 2)):
        kind, along, point = made[j]
        if special == f"parallel {name}":
            made[j] = (kind, made[i][1], point)
        elif special == f"meeting {name}":
            made[j] = (kind, along, made[i][2] + 0.3 * made[i][1])
    return made


def _carried(axes: list[Axis], values: np.ndarray, p: np.ndarray) -> np.ndarray:
    point = np.broadcast_to(np.append(p, 1.0), (*values.shape[:-1], 4))[..., None]
    for k in (2, 1, 0):
        point = exponential(*axes[k], values[..., k]) @ point
    return point[..., :3, 0]


@pytest.mark.parametrize("special", ["", "parallel 12", "meeting 23"])
@pytest.mark.parametrize("kinds", KINDS)
def test_the_joints_are_among_the_branches(kinds: str, special: str) -> None:
    rng = np.random.default_rng(KINDS.index(kinds))
    given = _axes(kinds, special, rng)
    p = rng.uniform(-1, 1, 3)
    axes = [
        JointAxis(k, rotation_between((0, 0, 1), along), np.asarray(point), kind == "P", 0.0 if kind == "P" else NO_TURN)
        for k, (kind, along, point) in enumerate(given)
    ]
    first, last = side(axes[0], axes[1], p, SIZE), side(axes[2], axes[1], p, SIZE)
    matrices = [np.asarray(each.matrix, dtype=float)[None] for each in (first, last)]
    plan = plan_of(matrices[0], matrices[1], (first.curve, last.curve), (True, True))
    if special == "parallel 12" and kinds.startswith("PP"):
        assert plan is None  # two joints slide along the same line
        return
    assert plan is not None

    def run(t: Array) -> Array:
        found = three_joints(axes, p, t, plan, SIZE)
        return np.array(
            [[v if a.translates else v.s.atan2(v.c) for a, v in zip(axes, values, strict=True)] for values in found]
        )

    values = rng.uniform(-3, 3, (COUNT, 3))
    goals = _carried(given, values, p)
    with np.errstate(all="ignore"):
        found = np.asarray(Kernel(trace(run, "run", {"t": (3,)}), "numpy")(goals))
    away = found - values[:, None]
    turns = [kind == "R" for kind in kinds]
    away[..., turns] = np.angle(np.exp(1j * away[..., turns]))
    nearest = np.nanmin(np.abs(away).max(axis=-1), axis=1)
    assert nearest.max() < 1e-7  # near a double root rounding costs half the digits, and one step brings most of them back
    miss = np.linalg.norm(_carried(given, found, p) - goals[:, None], axis=-1)
    assert np.nanmin(miss, axis=1).max() < 1e-12  # rounding of a few metres, a few hundred operations
