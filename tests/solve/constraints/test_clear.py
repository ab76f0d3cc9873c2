"""Clearance as a constraint: solutions keep the margin, batches and other obstacles need no other solver."""

import numpy as np
import pytest

import linkwise as lw
from linkwise.errors import ArgumentError
from linkwise.kernel import trace
from linkwise.kernel.kernel import Kernel
from linkwise.solve.constraints import Configuration

BALL = lw.Shape("world", "sphere", 0.2, origin=(1.2, 0.5, 0.0))


def with_rods(arm):
    return arm.with_shapes([lw.Shape.rod(name, (-0.9, 0, 0), (-0.1, 0, 0), 0.05) for name in arm.link_names])


@pytest.fixture(scope="module")
def arm():
    return with_rods(lw.robots.planar_3r())


def test_solutions_keep_the_margin(arm):
    """Points all around the ball; each solution is checked by the distances alone."""
    turn = np.linspace(-np.pi, np.pi, 60, endpoint=False)
    points = np.stack([1.2 + 0.5 * np.cos(turn), 0.5 + 0.5 * np.sin(turn), 0 * turn], axis=-1)
    tool = lw.Position("tool", points, mask=[1, 1, 0])
    free, clear = arm.solve(tool), arm.solve([tool, lw.Clear(0.05, [BALL])])
    least = arm.clearance(clear.q, [BALL]).least
    before = arm.clearance(free.q, [BALL]).least
    print(free, clear, (before < 0.05).sum(), least[clear.success].min())
    assert clear.success.all()
    assert least.min() >= 0.05 - 1e-9
    assert (before < 0.05).sum() > 10
    assert abs(arm.forward_kinematics(clear.q)[:, :2, 3] - points[:, :2]).max() < 1e-8


def test_a_batch_is_a_loop(arm):
    points = np.array([[1.2, 1.0, 0.0], [1.7, 0.5, 0.0], [1.2, 0.05, 0.0]])
    many = arm.solve([lw.Position("tool", points, mask=[1, 1, 0]), lw.Clear(0.05, [BALL])])
    for k, point in enumerate(points):
        one = arm.solve([lw.Position("tool", point, mask=[1, 1, 0]), lw.Clear(0.05, [BALL])])
        assert np.array_equal(one.q, many.q[k])


def test_places_of_obstacles_are_numbers_of_the_task(arm):
    keys = {lw.Clear(0.1, [lw.Shape("world", "sphere", 0.2, origin=(x, 0.5, 0.0))]).key for x in (1.0, 2.0)}
    assert len(keys) == 1
    assert lw.Clear(0.1, [lw.Shape.rod("world", (0, 0, 0), (1, 0, 0), 0.1)]).key not in keys


def test_the_slope_is_that_of_the_residual(arm):
    """Central differences of 1e-6: rounding of 1e-16 / 1e-6, and no third derivative to speak of."""
    clear = lw.Clear(0.4, [BALL])

    def equations(q, p):
        result = clear.equations(Configuration(arm, q), p)
        return result.residual, result.rates

    kernel = Kernel(trace(equations, "clear", {"q": (3,), "p": clear.numbers.shape}))
    q = arm.random_configuration(4, 50)
    value, rates = kernel(q, clear.numbers)
    differences = [(kernel(q + h, clear.numbers)[0] - kernel(q - h, clear.numbers)[0]) / 2e-6 for h in 1e-6 * np.eye(3)]
    error = abs(np.stack(differences, axis=-1) + rates).max(axis=(1, 2))
    print((value > 0).sum(), error.max())
    assert (value > 0).sum() > 10
    assert (value == 0).any()
    assert error[value[:, 0] > 1e-5].max() < 1e-8
    assert not rates[value[:, 0] == 0].any()


def test_what_cannot_be_met_is_said(arm):
    found = arm.solve([lw.Position("tool", [1.2, 0.5, 0.0], mask=[1, 1, 0]), lw.Clear(0.05, [BALL])])
    assert not found.success
    assert found.reason in {"unreachable", "singular"}


def test_inverse_kinematics_and_all_solutions():
    puma = lw.robots.puma560()
    puma = puma.with_shapes([lw.Shape.rod("link3", (0, 0, 0), (0, 0, 0.43), 0.06)])
    post = lw.Clear(0.02, [lw.Shape.rod("world", (0.4, 0.3, -1.0), (0.4, 0.3, 1.0), 0.1)])
    q = puma.random_configuration(1, 60)
    T = puma.forward_kinematics(q[post.satisfied(puma, q)])
    every, clear = puma.all_inverse_kinematics(T), puma.all_inverse_kinematics(T, clear=post)
    least = [puma.clearance(rows, post.obstacles).least for rows in every]
    assert [len(rows) for rows in clear] == [int((x >= 0.02).sum()) for x in least]
    assert clear.count.sum() < every.count.sum()
    found = puma.inverse_kinematics(T, clear=post)
    print(every, clear, found)
    assert found.success.all()
    assert puma.clearance(found.q, post.obstacles).least.min() >= 0.02 - 1e-9
    assert abs(puma.forward_kinematics(found.q) - T).max() < 1e-8


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda arm: lw.Clear(-0.1), "margin"),
        (lambda arm: lw.robots.planar_3r().solve([lw.Clear(0.1, [BALL])]), "no collision shapes"),
        (lambda arm: with_rods(lw.robots.planar_2r()).solve([lw.Clear(0.1)]), "no pair"),
        (lambda arm: arm.inverse_kinematics(np.eye(4), method="newton_raphson", clear=lw.Clear(0.1)), "clear goes with"),
    ],
)
def test_bad_input(arm, make, message):
    with pytest.raises(ArgumentError, match=message):
        make(arm)
