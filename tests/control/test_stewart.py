"""A Stewart platform in a control loop: six legs driven, eighteen closure equations closed in every cycle."""

import numpy as np
import pytest

from linkwise import robots
from linkwise.control import Chain, DrivenJoint
from support.chains import given_back

LEGS = [f"leg{k}" for k in range(1, 7)]
FASTEST = 0.05


@given_back
def platform() -> Chain:
    return Chain(robots.stewart(), [DrivenJoint(f"drive {leg}", leg) for leg in LEGS])


def open_by(chain: Chain) -> float:
    """How far apart the two ends of a loop are at most, m, by the mechanism's own link poses."""
    mech = chain.mechanism
    q = np.array([chain[f"{link}.{letter}_solved"] for link, letter in chain.layout.joints])
    poses = dict(zip(mech.link_names, mech.link_poses(q), strict=True)) | {"base": np.eye(4)}
    gaps = [poses[a.first] @ a.first_frame - poses[a.second] @ a.second_frame for a in mech.loops]
    return max(float(np.linalg.norm(gap[:3, 3])) for gap in gaps)


def test_legs_are_driven_and_the_platform_follows_within_its_greatest_speed() -> None:
    chain = platform()
    first = np.array([chain[f"{leg}.d_solved"] for leg in LEGS])
    start = np.array(chain["platform.solved_position"])
    strokes = np.array([0.08, 0.05, 0.08, 0.05, 0.08, 0.05])
    chain["platform.max_speed"], chain["platform.max_acceleration"], chain["platform.max_deceleration"] = FASTEST, 0.2, 0.2
    for leg, value in zip(LEGS, first + strokes, strict=True):
        chain[f"drive {leg}.value"] = value
    before, speeds, gaps = start, [], []
    for _ in range(400):
        assert chain.step(0.01)
        now = np.array(chain["platform.solved_position"])
        speeds.append(float(np.linalg.norm(now - before)) / 0.01)
        gaps.append(open_by(chain))
        before = now
    assert not chain["chain.limited"]
    assert np.abs([chain[f"{leg}.d_solved"] for leg in LEGS] - first - strokes).max() < 1e-9
    assert before[2] - start[2] > 0.05  # it was lifted
    print(f"fastest {max(speeds):.6f} m/s, loops open by {max(gaps):.1e} m at most")
    # The greatest speed is reached, and kept but for the rounding of two places over a cycle.
    assert 0.99 * FASTEST < max(speeds) <= FASTEST * (1.0 + 1e-9)
    assert max(gaps) < 1e-9


def test_calculated_velocities_agree() -> None:
    chain = platform()
    value = float(chain["drive leg1.value"])
    for k in range(20):
        chain["drive leg1.value"], chain["drive leg1.speed"] = value + 0.1 * 0.001 * k, 0.1
        assert chain.step(0.001)
    jacobian, predicted, measured = (
        chain[f"platform.calculated_velocity.{m}"] for m in ("jacobian", "predicted", "measured")
    )
    assert np.linalg.norm(jacobian) > 0.01
    # First order in the cycle: half the acceleration times 1 ms, of a platform of about a metre at 0.1 m/s.
    assert np.linalg.norm(predicted - jacobian) < 1e-4
    assert np.linalg.norm(measured - jacobian) < 2e-4
    assert chain["leg1.calculated_d_speed"] == pytest.approx(0.1, abs=1e-6)
