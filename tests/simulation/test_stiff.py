"""Stiff springs and dampers by the implicit method, at the steps of the slow motion."""

import numpy as np
import pytest
from tests.support.random_mechanisms import random_mechanism

from linkwise import EndStop, Link, Loop, Mechanism, Motor, Spring, simulate
from linkwise.robots import five_bar


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


@pytest.mark.filterwarnings("ignore:simulate. the energy error")
@pytest.mark.parametrize(("stiffness", "damping"), [(1e6, 0.0), (1e6, 1e5), (1e8, 0.0)])
def test_a_hard_stop_that_is_hit_within_a_step_throws_nothing_back(stiffness: float, damping: float) -> None:
    """Steps of 2 ms are 0.5 to 5 periods of the stop: what is lost depends on them, but nothing comes back faster."""
    body = {"mass": 1.0, "com": (0, 0, -0.5), "inertia": (0.1, 0.1, 0.1), "axis": (0, 1, 0)}
    stop = EndStop("rod", stiffness, damping, limits=(-0.5, 0.5))
    rod = Mechanism([Link(name="rod", **body)], springs=[stop])
    motion = simulate(rod, [0.0], [4.0], t=(1.0, 2e-3), method="ros2")
    print(np.abs(motion.q).max(), np.abs(motion.qd).max())
    assert np.abs(motion.q).max() < 0.505  # of 4 rad/s a step of 2 ms leads 0.008 rad beyond, unbraked
    assert np.abs(motion.qd).max() < 1.1 * 4.0  # (43910 rad/s where the stop acts in the second stage alone)


def stiff_five_bar(stiffness: float) -> tuple[Mechanism, np.ndarray]:
    """A five-bar that falls, a spring in the pin of a crank and a rod, and where it begins, at rest with the spring."""
    bars = five_bar()
    q0 = bars.linkage([0, 2]).position([0.1, 0.2]).q
    return bars.replace(springs=[Spring("left_rod", stiffness, rest=float(q0[1]), damping=1e-4 * stiffness)]), q0


@pytest.mark.parametrize("stabilization", ["projection", "baumgarte", "none"])
def test_a_stiff_spring_in_a_loop(stabilization: str) -> None:
    """Of order 2 at steps of up to ten times the spring's own time, at which rk4 has no finite state."""
    bars, q0 = stiff_five_bar(1e4)
    reference = simulate(bars, q0, t=(0.5, 2e-5), record=25_000).q[-1]
    motions = [simulate(bars, q0, t=(0.5, h), method="ros2", stabilization=stabilization) for h in (1e-2, 1.25e-3, 6.25e-4)]
    errors = [float(np.abs(motion.q[-1] - reference).max()) for motion in motions]
    gaps = [float(np.abs(bars.kernel("closure")(motion.q)).max()) for motion in motions]
    explicit = simulate(bars, q0, t=(0.5, 2.5e-3), diverged="mark").q[-1]
    print(stabilization, errors, slopes(errors[1:]), gaps)
    assert errors[0] < 6e-3  # 50 steps, in which the slow coordinates turn by up to 1.9 rad
    assert slopes(errors[1:])[0] > 1.9
    assert not np.isfinite(explicit).all()
    assert stabilization != "projection" or max(gaps) < 1e-11 * 0.5


def test_an_ever_stiffer_spring_in_a_loop_is_a_lock() -> None:
    """The steps stay at 5 ms; the difference to the locked mechanism is that of the method, not the stiffness."""
    slow = [0, 2, 3]
    errors = []
    for stiffness in (1e6, 1e9):
        bars, q0 = stiff_five_bar(stiffness)
        locked = five_bar().lock({"left_rod": float(q0[1])})
        reference = simulate(locked, q0[slow], t=(0.5, 1e-3)).q[-1]
        motion = simulate(bars, q0, t=(0.5, 5e-3), method="ros2")
        errors.append(float(np.abs(motion.q[-1, slow] - reference).max()))
        assert np.abs(bars.kernel("closure")(motion.q)).max() < 1e-11 * 0.5
    print(errors)
    assert max(errors) < 5e-3  # 100 steps; half of them leave a quarter


def test_a_loop_through_a_ball_joint_keeps_the_order() -> None:
    crank, socket = np.eye(4), np.eye(4)
    crank[0, 3], socket[0, 3] = 0.1, 0.2
    across = np.array([[1.0, 0, 0, 0.4], [0, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 1]])
    end = np.eye(4)
    end[0, 3] = 0.42
    body = {"mass": 1.0, "com": (0.1, 0, 0), "inertia": (1e-3, 2e-3, 2e-3)}
    rods = Mechanism(
        [
            Link(name="crank", joint="revolute", **body),
            Link(name="rod", joint="ball", parent="crank", before=crank, **body),
            Link(name="rocker", joint="revolute", parent="base", before=across, **body),
        ],
        loops=[Loop("point", "rod", "rocker", end, socket)],
        springs=[Spring("rocker", 2e2, damping=0.5)],
    )
    q0 = rods.linkage(["crank"]).position([0.4]).q
    reference = simulate(rods, q0, t=(0.1, 1e-4), record=1000).q[-1]
    errors = [
        float(np.abs(simulate(rods, q0, t=(0.1, 0.1 / n), method="ros2").q[-1] - reference).max()) for n in (32, 64, 128)
    ]
    print(errors, slopes(errors))
    assert np.allclose(slopes(errors)[-1], 2.0, atol=0.2)


def test_a_batch_of_loops_is_a_loop_and_numpy_agrees() -> None:
    bars, q0 = stiff_five_bar(1e4)
    starts = np.stack([q0, bars.linkage([0, 1]).position([0.2, q0[1]]).q])
    both = simulate(bars, starts, t=(0.1, 5e-3), method="ros2")
    assert np.array_equal(simulate(bars, starts[1], t=(0.1, 5e-3), method="ros2").q, both.q[1])
    other = simulate(bars, starts, t=(0.1, 5e-3), method="ros2", backend="numpy")
    assert np.abs(other.q - both.q).max() < 1e-11  # rounding, through equations whose numbers differ by 1e4
