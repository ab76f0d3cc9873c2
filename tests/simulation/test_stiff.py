"""Stiff springs and dampers by the implicit method, at the steps of the slow motion."""

import numpy as np
import pytest
from tests.support.random_mechanisms import random_mechanism

from linkwise import Link, Mechanism, Motor, Spring, simulate
from linkwise.errors import ArgumentError
from linkwise.robots import four_bar


def chain(**fields: object) -> Mechanism:
    """Three equal links that fall, with a spring of 1e6 N m/rad in the second joint."""
    start = np.eye(4)
    start[0, 3] = 0.5
    body = {"mass": 1.0, "com": (0.25, 0, 0), "inertia": (0.02, 0.02, 0.02), "axis": (0, 1, 0)}
    links = [Link(name=name, before=np.eye(4) if name == "a" else start, **body) for name in "abc"]
    return Mechanism(links, springs=[Spring("b", stiffness=1e6, damping=1e2)], **fields)


def slopes(errors: list[float]) -> np.ndarray:
    return np.log2(np.array(errors[:-1]) / np.array(errors[1:]))


def test_a_spring_of_1e6_at_the_step_of_the_slow_motion() -> None:
    reference = simulate(chain(), [0.2, 0.0, 0.3], t=(1.0, 1e-4)).q[-1]
    locked = simulate(chain().replace(springs=()).lock({"b": 0.0}), [0.2, 0.3], t=(1.0, 1e-3)).q[-1]
    errors = [
        float(np.abs(simulate(chain(), [0.2, 0.0, 0.3], t=(1.0, step), method="ros2").q[-1] - reference).max())
        for step in (1e-2, 5e-3, 2.5e-3)
    ]
    explicit = simulate(chain(), [0.2, 0.0, 0.3], t=(1.0, 1e-3), diverged="mark").q[-1]
    print(errors, slopes(errors), explicit, reference[[0, 2]] - locked)
    assert errors[0] < 2e-3  # 100 steps; of order 2, with an angle of 3 rad passed through
    assert slopes(errors).min() > 1.8
    assert not np.isfinite(explicit).all()  # steps of 1e-3 s are ten periods of the spring
    assert np.abs(reference[[0, 2]] - locked).max() < 1e-4  # the spring gives way by the effort over 1e6


@pytest.mark.parametrize("stiffness", [1e2, 1e6, 1e12])
def test_a_step_far_longer_than_a_damped_spring_lands_at_rest(stiffness: float) -> None:
    slide = Mechanism(
        [Link(name="x", joint="prismatic", axis=(1, 0, 0), mass=1.0)], springs=[Spring("x", stiffness, damping=1)]
    )
    motion = simulate(slide, [1.0], t=(100.0, 10.0), method="ros2")
    print(motion.q[:, 0])
    # the stability function of an L-stable method of two stages falls as 1/z, here z = 10 sqrt(k) >= 100: 1/11 at most
    assert np.all(np.abs(motion.q[1:, 0]) <= 0.1 ** np.arange(1, 11))


def test_ball_joints_and_viscous_motors_keep_the_order() -> None:
    mechanism = random_mechanism(3, ["ball", "revolute", "prismatic"], motors=False)
    mechanism = mechanism.replace(motors=[Motor(viscous=5.0, joint="part1")], springs=[Spring("part2", 200.0, damping=3.0)])
    qd0 = np.linspace(-0.5, 0.5, mechanism.nv)
    reference = simulate(mechanism, qd0=qd0, t=(0.25, 1e-3)).q[-1]
    errors = [
        float(np.abs(simulate(mechanism, qd0=qd0, t=(0.25, 0.25 / n), method="ros2").q[-1] - reference).max())
        for n in (32, 64, 128)
    ]
    print(errors, slopes(errors))
    assert np.allclose(slopes(errors)[-1], 2.0, atol=0.2)


def test_a_batch_is_a_loop_and_numpy_agrees() -> None:
    starts = [[0.2, 0.0, 0.3], [-0.1, 1e-4, 0.5]]
    both = simulate(chain(), starts, t=(0.3, 5e-3), method="ros2")
    for k, start in enumerate(starts):
        assert np.array_equal(simulate(chain(), start, t=(0.3, 5e-3), method="ros2").q, both.q[k])
    other = simulate(chain(), starts, t=(0.3, 5e-3), method="ros2", backend="numpy")
    assert np.abs(other.q - both.q).max() < 1e-11  # rounding, through equations whose numbers differ by 1e6


def test_loops_are_refused() -> None:
    with pytest.raises(ArgumentError, match=r"ros2.*loops"):
        simulate(four_bar(), t=(0.1, 0.01), method="ros2")
