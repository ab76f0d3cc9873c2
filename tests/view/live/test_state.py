"""What the values of a chain say to who watches it."""

import numpy as np
import pytest

from linkwise import control, robots
from linkwise.control.ports import Ports
from linkwise.view.live.settings import live_settings, targets_of
from linkwise.view.live.state import LiveState


@pytest.fixture
def chain() -> control.Chain:
    constraints = [
        control.MovingPosition("goal", "tool", [0.5, 0.2, 0.3], angles=[0.0, 0.0, 0.0], enabled=False),
        control.FixedPosition("fed", "link3", [0.1, 0.2, 0.3], enabled=False),
        control.Velocity("jog", "tool", velocity=[0.0, 0.0, 0.0]),
    ]
    routes = {"fed.position": "goal.position"}
    return control.Chain(robots.puma560(), constraints, q0=[0.1, 0.8, -2.0, 0.1, 0.5, 0.2], routes=routes)


def state_of(chain: control.Chain) -> LiveState:
    class Settings:
        angles = chain.angles

    for name, value in live_settings(chain).items():
        setattr(Settings, name, value)
    ports = Ports(tuple(port for _, port in chain.ports.items()))
    ports.values[:] = chain.ports.values
    return LiveState(Settings(), ports)  # type: ignore[arg-type]


def test_targets_are_constraints_with_a_place_or_an_orientation_movable_unless_fed(chain: control.Chain) -> None:
    assert [(t.name, t.position, t.angles, t.movable) for t in targets_of(chain)] == [
        ("goal", True, True, True),
        ("fed", True, False, False),
    ]


def test_the_pose_is_that_of_the_world_positions(chain: control.Chain) -> None:
    chain["start.position"], chain["start.angles"] = [1.0, -2.0, 0.5], [0.3, -0.2, 0.9]
    chain["goal.angles"] = [0.1, 0.2, 0.3]
    chain.step(0.01)
    state = state_of(chain)
    assert np.array_equal(state.q, chain.solved_q)
    end = state.start @ chain.mechanism.forward_kinematics(state.q)
    assert end[:3, 3] == pytest.approx(chain["tool.world_position"], abs=1e-14)  # two orders of the same products
    pose = state.target(targets_of(chain)[0])
    assert pose[:3, 3].tolist() == [0.5, 0.2, 0.3]
    assert control.rotation_angles(pose[:3, :3]) == pytest.approx([0.1, 0.2, 0.3], abs=1e-15)


def test_limits_that_bind_are_named(chain: control.Chain) -> None:
    goal = targets_of(chain)[0]
    assert state_of(chain).reached(goal)  # (switched off)
    chain["link2.limits.max"] = float(chain["link2.theta_solved"])
    chain["link1.max_theta_speed"], chain["link1.theta_speed"] = 0.5, 0.0
    chain["goal.enabled"] = True
    for _ in range(3):
        chain.step(0.01)
    state = state_of(chain)
    assert not state.reached(goal)
    assert [(name, unit) for name, _, unit in state.at_speeds()] == [("link1", "rad/s")]
    assert state.at_speeds()[0][1] == pytest.approx(0.5, rel=1e-6)
    chain["goal.enabled"] = False
    chain["link2.limits.max"] = float(chain["link2.theta_solved"]) - 0.1
    chain.step(0.01)
    assert state_of(chain).at_limits() == ["link2"]
