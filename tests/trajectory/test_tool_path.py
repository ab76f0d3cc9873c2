"""Paths of the tool: lines, arcs and blends, in joints."""

import numpy as np
import pytest

import linkwise as lw
from linkwise.errors import ArgumentError
from linkwise.spatial.rotation import rotation_z
from linkwise.trajectory import JointPath, MotionLimits, time_optimal, tool_path

Q0 = np.array([0.1, 0.2, -0.3, 0.2, 0.5, 0.1])


@pytest.fixture(scope="module")
def arm() -> lw.Mechanism:
    return lw.robots.puma560()


def shifted(pose: np.ndarray, *by: float) -> np.ndarray:
    result = pose.copy()
    result[:3, 3] += by
    return result


@pytest.fixture(scope="module")
def stations(arm: lw.Mechanism) -> list[np.ndarray]:
    start = arm.forward_kinematics(Q0)
    corner = shifted(start, -0.1, 0.3, -0.1)
    corner[:3, :3] = corner[:3, :3] @ rotation_z(0.5)
    return [start, shifted(start, 0.0, 0.2, 0.0), corner, shifted(corner, -0.1, 0.0, 0.0)]


@pytest.fixture(scope="module")
def path(arm: lw.Mechanism, stations: list[np.ndarray]) -> JointPath:
    return tool_path(arm, stations, Q0, blend=0.05, arcs={1: stations[0][:3, 3] + [-0.02, 0.27, -0.02]}, pieces=60)


def test_the_path_is_smooth_and_the_parameter_is_length(arm: lw.Mechanism, path: JointPath) -> None:
    s, h = np.linspace(0.0, path.s[-1], 301)[1:-1] + 1e-5, 1e-6
    q, dq, ddq = path.at(s)
    for value, before, after in ((dq, path.at(s - h)[0], path.at(s + h)[0]), (ddq, path.at(s - h)[1], path.at(s + h)[1])):
        assert np.abs((after - before) / (2 * h) - value).max() < 1e-6  # rounding of 10 over h, far from the knots
    speed = np.linalg.norm((arm.jacobian(q)[:, :3] @ dq[..., None])[..., 0], axis=1)
    outside = np.abs(s - 0.2) > 0.026
    print(speed[(s < 0.17)].min(), speed.max())
    assert np.allclose(speed[s < 0.17], 1.0, atol=1e-7)
    assert np.all(speed[outside] <= 1.0 + 1e-6)


def test_lines_are_straight_and_corners_are_cut_by_a_quarter_of_the_blend(
    arm: lw.Mechanism, path: JointPath, stations: list
) -> None:
    points = arm.forward_kinematics(path.at(np.linspace(0.0, path.s[-1], 2001))[0])[:, :3, 3]
    line = points[: int(2000 * 0.17 / path.s[-1])]
    off = np.abs(line - stations[0][:3, 3])[:, [0, 2]].max()
    print(f"off the line by {off:.1e} m")
    assert off < 1e-8  # pieces of 8 mm with exact second derivatives: sixth order
    nearest = np.linalg.norm(points - stations[1][:3, 3], axis=1).min()
    assert 1e-4 < nearest <= 0.05 / 4
    assert np.allclose(points[[0, -1]], [stations[0][:3, 3], stations[-1][:3, 3]], atol=1e-9)


def test_an_arc_passes_its_point(arm: lw.Mechanism, stations: list) -> None:
    point = stations[0][:3, 3] + [-0.05, 0.05, 0.0]
    half = tool_path(arm, [stations[0], shifted(stations[0], 0.0, 0.1, 0.0)], Q0, arcs={0: point}, pieces=30)
    assert np.isclose(half.s[-1], 0.05 * np.pi, rtol=1e-12)
    middle = arm.forward_kinematics(half.at(0.5 * half.s[-1])[0])[:3, 3]
    assert np.allclose(middle, point, atol=1e-8)


def test_it_runs_within_limits(arm: lw.Mechanism, path: JointPath) -> None:
    limits = MotionLimits(tau_max=[97.6, 186.4, 89.4, 24.2, 20.1, 21.3], tool_speed=0.8)
    move = time_optimal(path, arm, limits, intervals=120)
    q, qd, qdd = move.at(np.arange(0.0, move.duration, 1e-3))
    assert (np.abs(arm.inverse_dynamics(q, qd, qdd)) / limits.tau_max).max() < 1.0 + 1e-9
    speed = np.linalg.norm((arm.jacobian(q)[:, :3] @ qd[..., None])[..., 0], axis=1)
    assert 0.79 < speed.max() < 0.8 * (1.0 + 1e-9)


def test_seven_joints(arm: lw.Mechanism) -> None:
    panda, q0 = lw.robots.panda(), np.array([0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.5])
    start = panda.forward_kinematics(q0)
    path = tool_path(panda, [start, shifted(start, 0.0, 0.2, 0.0)], q0, pieces=40)
    points = panda.forward_kinematics(path.at(np.linspace(0, path.s[-1], 401))[0])[:, :3, 3]
    off = np.abs(points - start[:3, 3])[:, [0, 2]].max()
    print(f"{off:.1e} m")
    assert off < 1e-5  # a cubic spline through knots 5 mm apart that is not bent at its ends


def test_messages(arm: lw.Mechanism, stations: list) -> None:
    start = stations[0]
    with pytest.raises(ArgumentError, match=r"the tool cannot be at s = .* % of the way"):
        tool_path(arm, [start, shifted(start, 0.0, 3.0, 0.0)], Q0, pieces=10)
    with pytest.raises(ArgumentError, match="legs 0 and 1 meet in a corner at pose 1"):
        tool_path(arm, stations[:3], Q0)
    with pytest.raises(ArgumentError, match=r"blend is 0\.5; expected at most"):
        tool_path(arm, stations[:3], Q0, blend=0.5)
    with pytest.raises(ArgumentError, match="is on the line of its poses"):
        tool_path(arm, stations[:2], Q0, arcs={0: start[:3, 3] + [0.0, 0.1, 0.0]})
    a, b = np.array([0.1, 0.2, -0.3, 0.2, 0.3, 0.1]), np.array([0.1, 0.2, -0.3, 0.2, -0.3, 0.1])
    with pytest.raises(ArgumentError, match=r"passes a singularity at s = 0\.3 \(50 % of the way\)"):
        tool_path(arm, [arm.forward_kinematics(a), arm.forward_kinematics(b)], a, pieces=10)
