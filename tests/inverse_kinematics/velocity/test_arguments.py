"""What velocity solving refuses, and what it says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from linkwise import Link, Mechanism, robots
from linkwise.errors import ArgumentError
from linkwise.inverse_kinematics import (
    joint_accelerations,
    joint_velocities,
    manipulability_gradient,
    towards_middle,
    velocity_step,
)
from linkwise.inverse_kinematics.velocity.task import usual_rank
from linkwise.solve.lengths import characteristic_length
from linkwise.spatial.linear import orthogonal_rows

ARM = robots.planar_2r()
TWIST = [0.1, 0.2, 0.0, 0.0, 0.0, 0.3]

WRONG: list[tuple[dict[str, Any], str]] = [
    ({"q": [0.0]}, r"q has the shape \(1,\); expected \(\.\.\., 2\)"),
    ({"q": [0.0, np.nan]}, r"q is nan at \(1,\)"),
    ({"twist": [1.0, 2.0]}, r"twist has the shape \(2,\); expected \(\.\.\., 6\)"),
    ({"mask": [1, 1]}, "mask is .*; expected six of 0 or 1, not all 0"),
    ({"mask": [0] * 6}, "mask is .*; expected six of 0 or 1, not all 0"),
    ({"mask": [0, 0, 1, 1, 1, 0]}, "of which no joint that may move moves a component that counts"),
    ({"weights": np.inf}, "of which no joint that may move moves a component that counts"),
    ({"twist": np.zeros((3, 6)), "q": np.zeros((2, 2))}, r"do not fit each other: q \(2,\), twist \(3,\)"),
    ({"damping": "some"}, "damping is 'some'; expected 'auto', a number >= 0 or None"),
    ({"damping": -1.0}, "damping is -1.0; expected a number >= 0"),
    ({"region": 0.0}, "region is 0.0; expected a number > 0"),
    ({"limits": "stop"}, "limits is 'stop'; expected 'scale', 'qp' or None"),
    ({"qd_max": [1.0, -1.0]}, r"qd_max is \[1.0, -1.0\]; expected 2 numbers > 0"),
    ({"qd_max": [1.0, 2.0, 3.0]}, r"qd_max is .*; expected 2 numbers > 0"),
    ({"dt": 0.0}, "dt is 0.0; expected a number > 0"),
    ({"weights": [1.0, 0.0]}, "weights is .*; expected 2 numbers > 0, infinite for joints that must rest"),
    ({"secondary": [1.0]}, r"secondary has the shape \(1,\)"),
    ({"length": -1.0}, "length is -1.0; expected a number > 0"),
    ({"frame": "base"}, "frame is 'base'; expected 'world' or 'body'"),
    ({"link": "hand"}, "hand"),
]


@pytest.mark.parametrize(("given", "message"), WRONG, ids=lambda value: next(iter(value)) if isinstance(value, dict) else "")
def test_wrong_arguments_are_named(given: dict[str, Any], message: str) -> None:
    options: dict[str, Any] = {"q": [0.0, 1.0], "twist": TWIST, **given}
    with pytest.raises(ArgumentError, match=message):
        joint_velocities(ARM, **options)


def test_wrong_arguments_of_the_others() -> None:
    with pytest.raises(ArgumentError, match="qdd_max is 0; expected 2 numbers > 0"):
        joint_accelerations(ARM, [0.0, 1.0], [0.0, 0.0], TWIST, qdd_max=0)
    with pytest.raises(ArgumentError, match="limits is 'qp'; expected 'scale' or None"):
        velocity_step(ARM, limits="qp")
    with pytest.raises(ArgumentError, match=r"index is 3; expected one into the batch"):
        joint_velocities(ARM, [0.0, 1.0], TWIST).explain(3)
    with pytest.raises(ArgumentError, match=r"gain is -1.0; expected a number >= 0"):
        towards_middle(ARM, [0.0, 0.0], -1.0)


def test_a_damping_that_changes_all_the_time_fills_no_memory() -> None:
    arm = robots.planar_2r()
    lengths = {
        len(arm.__dict__["_rate_tasks"])
        for damping in np.linspace(0.1, 0.2, 150).tolist()
        if joint_velocities(arm, [0.0, 1.0], TWIST, damping=damping).damping == damping
    }
    assert max(lengths) == 64


def test_rigid_things_are_refused() -> None:
    block = Mechanism([Link(joint="fixed")], name="block")
    for solve in (
        lambda mech: joint_velocities(mech, np.zeros(mech.nq), TWIST),
        lambda mech: joint_accelerations(mech, np.zeros(mech.nq), np.zeros(mech.nv), TWIST),
        lambda mech: manipulability_gradient(mech, np.zeros(mech.nq)),
    ):
        with pytest.raises(ArgumentError, match="'block' has no joint that moves"):
            solve(block)


def test_rows_are_made_orthogonal_to_rounding_whatever_they_are() -> None:
    rng = np.random.default_rng(0)
    for count in range(1, 7):
        for trial in range(30):
            matrix = rng.normal(size=(count, 6)) * 10.0 ** rng.uniform(-6, 0, (count, 1))
            if trial % 3 == 0:
                matrix[rng.integers(count)] = matrix[0]
            made = orthogonal_rows(matrix)
            rows = made.rows.astype(float)
            size = np.linalg.norm(matrix)
            product = rows @ rows.T
            assert np.abs(product - np.diag(np.diag(product))).max() < 2e-15 * size**2
            values = np.sort(np.sqrt(np.array(made.squares, dtype=float)))
            assert np.abs(values - np.linalg.svd(matrix, compute_uv=False)[::-1]).max() < 3e-15 * size
            vector = rng.normal(size=count)
            turned = made.turned(vector)
            assert np.abs(made.turned_back(turned) - vector).max() < 1e-14
            assert np.abs(turned @ rows - vector @ matrix).max() < 1e-14 * size


def test_the_length_is_that_of_the_arm() -> None:
    assert characteristic_length(Mechanism([Link.dh(a=0.7, convention="standard")])) == 0.7
    gantry = Mechanism([Link(joint="prismatic", axis=axis) for axis in np.eye(3)])
    assert characteristic_length(gantry) == 1.0
    assert usual_rank(gantry, -1, (0, 1, 2, 3, 4, 5), 1.0) == 3
    assert usual_rank(robots.stanford(), -1, (0, 1, 2, 3, 4, 5), 0.2) == 6
