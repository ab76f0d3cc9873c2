"""The solution of a configuration that is asked for, or why there is none."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from linkwise import robots
from linkwise.errors import ArgumentError
from linkwise.solve import Solution

UR5 = robots.ur5()
Q = np.array([0.1, -0.8, 1.0, 0.3, 0.5, 0.2])
T = UR5.forward_kinematics(Q)


@pytest.mark.parametrize("elbow", ["up", "down"])
@pytest.mark.parametrize("shoulder", ["left", "right"])
def test_the_solution_has_the_words(elbow: str, shoulder: str) -> None:
    asked = {"elbow": elbow, "shoulder": shoulder}
    solution = UR5.inverse_kinematics(T, q0=Q, configuration=asked)
    assert solution.success
    words = UR5.configuration_labels(solution.q)
    assert {name: words[name] for name in asked} == asked
    assert np.abs(UR5.forward_kinematics(solution.q) - T).max() < 1e-12
    listed = UR5.all_inverse_kinematics(T, q0=Q, configuration=asked)
    assert np.array_equal(listed[0], solution.q)  # (the nearest to q0)


def test_a_batch_is_a_loop_and_says_where_there_is_none() -> None:
    puma = robots.puma560()
    q = np.random.default_rng(0).uniform(np.maximum(puma.q_min, -3), np.minimum(puma.q_max, 3), (6, 6))
    poses = puma.forward_kinematics(q)
    poses[5, 0, 3] += 5.0
    whole = puma.inverse_kinematics(poses, configuration={"elbow": "up"})
    assert set(whole.reason) == {"converged", "configuration", "unreachable"}
    labels = puma.configuration_labels(whole.q)["elbow"]
    assert (labels[whole.success] == "up").all()
    assert (labels[whole.reason == "configuration"] == "down").all()
    for k in range(6):
        one = puma.inverse_kinematics(poses[k], configuration={"elbow": "up"})
        assert isinstance(one, Solution)
        assert np.array_equal(one.q, whole.q[k])
        assert (one.success, one.reason) == (whole.success[k], whole.reason[k])
    assert "configuration" in whole.explain(int(np.argmax(whole.reason == "configuration")))


def test_a_tolerance_below_rounding_is_not_called_converged() -> None:
    solution = UR5.inverse_kinematics(T, q0=Q, configuration={"elbow": "up"}, tol=1e-30)
    assert (solution.success, solution.reason) == (False, "stalled")


def test_solutions_with_their_labels_are_pickled() -> None:
    solutions = UR5.all_inverse_kinematics(T, q0=Q)
    again = pickle.loads(pickle.dumps(solutions))
    assert np.array_equal(again.q, solutions.q)
    assert again.configuration["elbow"].tolist() == solutions.configuration["elbow"].tolist()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"configuration": {"elbo": "up"}}, "configuration has 'elbo'; 'ur5' has"),
        ({"configuration": {"elbow": "above"}}, "configuration.'elbow'. is 'above'; expected 'up' or 'down'"),
        ({"configuration": "up"}, "configuration is 'up'; expected words by name"),
        ({"configuration": {"elbow": "up"}, "mask": [1, 1, 1, 0, 0, 0]}, "goes with whole poses"),
        ({"configuration": {"elbow": "up"}, "method": "newton_raphson"}, "with method 'auto'"),
    ],
)
def test_what_cannot_be_is_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        UR5.inverse_kinematics(T, **options)


def test_an_arm_without_words_says_so() -> None:
    with pytest.raises(ArgumentError, match="'panda' has none: the Jacobian is not square"):
        robots.panda().inverse_kinematics(np.eye(4), configuration={"elbow": "up"})
