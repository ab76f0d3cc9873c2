"""Sliders of ball joints and of bodies that float: their angles make the configuration again, and never jump."""

import math

import numpy as np
import pytest

import linkwise as lw
from linkwise.errors import ArgumentError
from linkwise.inverse_kinematics import TargetFollower
from linkwise.view.browser.panel import free_scales
from linkwise.view.browser.slider_coordinates import SliderCoordinates

LINKS = [
    lw.Link(name="hip", joint="ball", limits=(0.0, 1.0)),
    lw.Link(name="knee"),
    lw.Link(name="box", joint="floating", parent="base"),
]


def turn_between(mechanism: lw.Mechanism, q: np.ndarray, other: np.ndarray) -> float:
    return float(np.abs(mechanism.difference(q, other)).max())


def test_there_are_three_for_a_ball_joint_and_six_for_a_body() -> None:
    mechanism = lw.Mechanism(LINKS)
    scales = free_scales(mechanism, 0.83, np.array(mechanism.neutral))
    names = ["hip roll", "hip pitch", "hip yaw", "box x", "box y", "box z", "box roll", "box pitch", "box yaw"]
    assert [scale.label.rpartition(" ")[0] for scale in scales] == names
    assert [scale.label.rpartition(" ")[2] for scale in scales] == [*["[deg]"] * 3, *["[m]"] * 3, *["[deg]"] * 3]
    assert "57.2958 deg" in scales[0].hint
    assert all(scale.least <= -0.9 and scale.most >= 0.9 for scale in scales[3:6])
    base = free_scales(mechanism.replace(floating=True), 1.0, np.array(mechanism.replace(floating=True).neutral))
    assert [scale.label for scale in base[:4]] == ["base x [m]", "base y [m]", "base z [m]", "base roll [deg]"]


def test_they_make_the_configuration_again() -> None:
    mechanism, worst = lw.Mechanism(LINKS), 0.0
    for seed in range(200):
        q = mechanism.random_configuration(seed)
        sliders = SliderCoordinates(mechanism, q)
        values = sliders.show(q)
        again = q.copy()
        for k in range(9):
            again[mechanism.manifold_joints[k > 2].q] = sliders.moved(k, values[k], again)
        worst = max(worst, turn_between(mechanism, q, again))
        np.testing.assert_array_equal(sliders.show(again), values)  # what says it already stays, bit for bit
    print(f"configuration after its sliders: {worst:.1e} rad or m")
    assert worst < 2e-15


def test_dragged_through_whole_turns_and_locks_only_one_moves() -> None:
    mechanism = lw.Mechanism([lw.Link(name="hip", joint="ball")])
    follower = TargetFollower(mechanism)
    for slider in range(3):
        for others in ([0.3, -0.4, 0.5], [0.0, 0.5 * math.pi, 0.2], [2.0, -0.5 * math.pi, -3.0]):
            q = np.array(mechanism.neutral)
            sliders = SliderCoordinates(mechanism, q)
            for k in range(3):
                q = follower.place("hip", sliders.moved(k, others[k], q), q).q
            for value in np.linspace(others[slider], others[slider] + 4.0 * math.pi, 101):
                before = q
                q = follower.place("hip", sliders.moved(slider, float(value), q), q).q
                assert turn_between(mechanism, before, q) < 0.126  # the step of the slider, 4 pi/100
                expected = np.array(others)
                expected[slider] = value
                np.testing.assert_array_equal(sliders.show(q), expected)


def test_what_turns_by_itself_is_followed_without_jumps() -> None:
    mechanism = lw.Mechanism([lw.Link(name="hip", joint="ball")])
    rng = np.random.default_rng(4)
    for _ in range(8):
        q, spin = mechanism.random_configuration(int(rng.integers(1000))), rng.standard_normal(3)
        sliders, least = SliderCoordinates(mechanism, q), 1.0
        for _ in range(200):
            q = mechanism.integrate(q, spin, 0.01)
            before = sliders.values
            values = sliders.show(q)
            level = abs(math.cos(before[1]))
            least = min(least, level)
            step = 0.01 * float(np.linalg.norm(spin))
            assert np.abs(values - before).max() < 4.0 * step / max(level - step, 0.25 * step) + 1e-9
    # straight through the lock: roll and yaw stand where they were, and the pitch goes on beyond a right angle
    sliders = SliderCoordinates(mechanism, mechanism.neutral)
    for angle in np.linspace(0.0, 2.0 * math.pi, 361):
        values = sliders.show(mechanism.integrate(mechanism.neutral, [0.0, angle, 0.0], 1.0))
        np.testing.assert_allclose(values, [0.0, angle, 0.0], rtol=0.0, atol=1e-14)


def test_a_cone_holds_it_back() -> None:
    mechanism = lw.Mechanism(LINKS)
    q = np.array(mechanism.neutral)
    sliders, follower = SliderCoordinates(mechanism, q), TargetFollower(mechanism)
    dragged = follower.place("hip", sliders.moved(0, 1.5, q), q)
    assert not dragged.reached
    assert "'hip' is at its limit" in dragged.reason
    np.testing.assert_allclose(sliders.show(dragged.q)[:3], [1.0, 0.0, 0.0], rtol=0.0, atol=1e-14)
    free = follower.place("box", sliders.moved(4, 0.25, q), q)
    assert free.reached
    assert free.q[mechanism.manifold_joints[1].q][:3].tolist() == [0.0, 0.25, 0.0]


def test_a_loop_stays_closed() -> None:
    T = np.eye(4)
    T[0, 3] = 0.5
    links = [
        lw.Link(name="hip", joint="ball", after=T),
        lw.Link(name="knee", axis=(0, 1, 0), after=T),
        lw.Link(name="rod", parent="base", axis=(0, 0, 1), after=T),
        lw.Link(name="end", axis=(0, 1, 0), after=T),
    ]
    loop = lw.Loop("point", "knee", "end", np.eye(4), np.eye(4))
    mechanism = lw.Mechanism(links, loops=[loop])
    follower = TargetFollower(mechanism)
    q = follower.start()
    sliders = SliderCoordinates(mechanism, q)
    dragged = follower.place("hip", sliders.moved(1, sliders.values[1] + 0.2, q), q)
    print(f"loop open by {dragged.closure_error:.1e} m")
    assert dragged.closure_error < 1e-9


@pytest.mark.parametrize(("joint", "values"), [("knee", [1.0]), ("hip", [1.0, 0.0, 0.0]), ("hip", [0.0, 0.0, 0.0, 0.0])])
def test_wrong_joints_and_sizes(joint: str, values: list[float]) -> None:
    mechanism = lw.Mechanism(LINKS)
    with pytest.raises(ArgumentError):
        TargetFollower(mechanism).place(joint, values, mechanism.neutral)
