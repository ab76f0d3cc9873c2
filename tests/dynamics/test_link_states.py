import numpy as np
import pytest

import linkwise as lw
from linkwise.dynamics.link_states import LinkStates, link_states
from linkwise.spatial.rotation import rotation_about


def rotation_of(q: np.ndarray) -> np.ndarray:
    w, x, y, z = q
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


@pytest.mark.parametrize("angle", [0.0, 1e-9, 0.7, 2.0, np.pi - 1e-9, np.pi, 4.0])
@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 1, 0), (0, 0, -1), (0.6, 0.0, 0.8), (-0.48, 0.6, 0.64)])
def test_quaternions_turn_back_into_the_rotation(angle: float, axis: tuple[float, ...]) -> None:
    R = np.asarray(rotation_about(axis, angle), dtype=float)
    T = np.eye(4)
    T[:3, :3] = R
    states = LinkStates(*[np.zeros(1)] * 5, T[None, None], *[np.zeros((1, 1, 4, 4))] * 2, *[np.zeros((1, 1, 6))] * 2)
    q = states.quaternions[0, 0]
    assert q[0] >= 0
    assert np.allclose(rotation_of(q), R, atol=1e-14)


@pytest.fixture
def arm() -> lw.Mechanism:
    """A turning and a sliding joint."""
    slide = lw.Link.dh(d=0.2, convention="standard", joint="prismatic", mass=1.0, inertia=(0.1, 0.1, 0.05))
    return lw.Mechanism([lw.Link.dh(d=0.3, alpha=np.pi / 2, convention="standard", mass=2.0, com=(0, 0, 0.1)), slide])


def test_velocities_are_the_differences_of_positions(arm: lw.Mechanism) -> None:
    t = np.arange(-1, 2) * 1e-4
    q = np.stack([np.sin(1 + t), 0.3 * np.cos(t)], axis=1)
    qd = np.stack([np.cos(1 + t), -0.3 * np.sin(t)], axis=1)
    qdd = np.stack([-np.sin(1 + t), -0.3 * np.cos(t)], axis=1)
    r = link_states(arm, t, q, qd, qdd)
    assert np.allclose((r.positions[2] - r.positions[0]) / 2e-4, r.velocities[1], atol=1e-7)
    assert np.allclose((r.velocities[2] - r.velocities[0]) / 2e-4, r.accelerations[1], atol=1e-7)
    assert np.allclose((r.angular_velocities[2] - r.angular_velocities[0]) / 2e-4, r.angular_accelerations[1], atol=1e-7)


def test_the_action_along_the_joint_is_the_effort_where_there_is_no_motor(arm: lw.Mechanism) -> None:
    external = np.array([1.0, -2.0, 3.0, 0.1, 0.2, 0.3])
    rng = np.random.default_rng(0)
    q, qd, qdd = rng.normal(size=(3, 4, 2))
    r = link_states(arm, np.arange(4.0), q, qd, qdd, external)
    turn, slide = np.array([0.0, 0.0, 1.0]), r.T[:, 0, :3, 2]
    assert np.allclose(r.joint_moments[:, 0] @ turn, r.tau[:, 0])
    assert np.allclose(np.einsum("ij,ij->i", r.forces[:, 1], slide), r.tau[:, 1])
    assert np.allclose(r.tau, arm.inverse_dynamics(q, qd, qdd, external))
