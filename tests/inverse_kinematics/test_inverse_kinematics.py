"""Inverse kinematics: what is claimed is true, what can be reached is, and what cannot is told apart."""

from typing import Any

import numpy as np
import pytest

from linkwise import Link, Loop, Mechanism, robots
from linkwise.inverse_kinematics import inverse_kinematics, newton_raphson
from linkwise.inverse_kinematics.pose_error import pose_error
from linkwise.kernel import iteration as descent
from linkwise.solve import REASONS, Pose, solve
from linkwise.solve.compiled_problem import system_of
from linkwise.solve.solve import nearest
from support.random_mechanisms import random_pose

ARMS = ("puma560", "ur5", "panda")


def random_positions(mech: Mechanism, count: int, seed: int) -> np.ndarray:
    low, high = np.clip(np.column_stack([mech.q_min, mech.q_max]), -np.pi, np.pi).T
    return np.random.default_rng(seed).uniform(low, high, (count, mech.n))


def errors(mech: Mechanism, q: np.ndarray, T: np.ndarray, link: int | str = "tool") -> tuple[np.ndarray, np.ndarray]:
    """Distances and angles, by the forward kinematics and a rotation vector, not by what the solver is made of."""
    found = pose_error(mech.forward_kinematics(q, link=link), T)
    return np.linalg.norm(found[..., :3], axis=-1), np.linalg.norm(found[..., 3:], axis=-1)


def check_claims(mech: Mechanism, found: Any, T: np.ndarray, tol: float) -> None:
    """Success is where the pose is reached within the limits, and the errors told are those of q."""
    distance, angle = errors(mech, found.q, T)
    within = ((found.q >= mech.q_min) & (found.q <= mech.q_max)).all(axis=-1)
    assert within.all(), "no answer, solved or not, leaves the limits"
    assert np.allclose(found.position_error, distance, rtol=1e-6, atol=1e-14)
    assert np.allclose(found.rotation_error, angle, rtol=1e-6, atol=5e-8)  # an angle from its cosine, near half a turn
    # (errors near the tolerance may round to either side)
    assert (
        np.array_equal(found.success, (distance <= tol) & (angle <= tol))
        or (np.abs(np.maximum(distance, angle) - tol)[found.success != ((distance <= tol) & (angle <= tol))] < 1e-14).all()
    )
    assert np.array_equal(found.success, found.reason == "converged")
    assert set(np.unique(found.reason)) <= set(REASONS)


@pytest.mark.parametrize("name", ARMS)
def test_every_random_pose_of_the_arms_is_reached_within_their_limits(name: str) -> None:
    mech = robots.load(name)
    T = mech.forward_kinematics(random_positions(mech, 3000, 1))
    found = inverse_kinematics(mech, T, method="numeric")
    print(f"{name}: {found}, errors up to {found.position_error.max():.1e} m, {found.rotation_error.max():.1e} rad")
    assert found.success.all()
    check_claims(mech, found, T, 1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_random_bases_tools_and_limits(seed: int) -> None:
    rng = np.random.default_rng(100 + seed)
    n = int(rng.integers(6, 8))
    links = [
        Link.dh(
            theta=rng.normal(), d=0.3 * rng.normal(), a=0.3 * rng.normal(),
            alpha=rng.choice([0.0, np.pi / 2, -np.pi / 2, 0.7]),
            convention=str(rng.choice(["standard", "modified"])), joint="prismatic" if rng.random() < 0.15 else "revolute",
            offset=rng.normal(), limits=sorted(rng.uniform(-2.5, 2.5, 2)),
        )
        for _ in range(n)
    ]  # fmt: skip
    mech = Mechanism(links, base=random_pose(rng), tool=random_pose(rng, 0.2))
    q = rng.uniform(mech.q_min, mech.q_max, (300, n))
    T = mech.forward_kinematics(q)
    found = inverse_kinematics(mech, T, method="numeric")
    check_claims(mech, found, T, 1e-9)
    assert found.success.mean() >= 0.99  # (300 of such narrow ranges: a miss is possible, and is told)


def test_a_batch_gives_the_bits_of_a_loop_and_equal_seeds_equal_answers() -> None:
    mech = robots.panda()
    T = mech.forward_kinematics(random_positions(mech, 60, 2))
    T[::10, :3, 3] *= 5.0  # out of reach
    whole = inverse_kinematics(mech, T, method="numeric")
    for k in range(len(T)):
        one = inverse_kinematics(mech, T[k], method="numeric")
        assert np.array_equal(one.q, whole.q[k])
        fields = ("success", "reason", "position_error", "rotation_error", "iterations")
        assert [getattr(one, field) for field in fields] == [getattr(whole, field)[k] for field in fields]
    again = inverse_kinematics(mech, T, method="numeric", seed=0)
    assert np.array_equal(again.q, whole.q)
    other = inverse_kinematics(mech, T, method="numeric", seed=1)
    assert np.array_equal(other.success, whole.success)
    assert not np.array_equal(other.q, whole.q)
    shaped = inverse_kinematics(mech, T.reshape(3, 20, 4, 4), method="numeric")
    assert shaped.q.shape == (3, 20, 7)
    assert np.array_equal(shaped.q.reshape(-1, 7), whole.q)


SINGULAR = {
    "puma560": [[0.3, -0.1, -0.9, 0.4, 0.0, 0.2], [0.3, -0.7, np.arctan2(0.0203, 0.4318) - np.pi / 2, 0.4, 0.5, 0.2]],
    "ur5": [[0.3, -1.2, 1.5, 0.4, 0.0, 0.2], [0.3, -1.2, 0.0, 0.4, 0.7, 0.2]],
    "panda": [[0.3, 0.0, np.pi / 2, -1.5, 0.0, 1.2, 0.2], [0.3, 0.0, np.pi / 2, -1.5, np.pi / 2, 1.2, 0.2]],
}


@pytest.mark.parametrize("method", ["numeric", "auto"])
@pytest.mark.parametrize("name", ARMS)
def test_singular_poses_are_reached(name: str, method: str) -> None:
    mech = robots.load(name)
    rng = np.random.default_rng(3)
    q = np.repeat(SINGULAR[name], 40, axis=0)
    others = [0, 3, mech.n - 1]
    q[:, others] += rng.uniform(-0.6, 0.6, (len(q), 3))
    T = mech.forward_kinematics(q)
    values = np.linalg.svd(mech.jacobian(q), compute_uv=False)
    found = inverse_kinematics(mech, T, method=method)
    print(f"{name}: smallest singular values up to {values[:, -1].max():.1e}; {found}")
    assert values[:, -1].max() < 1e-14, "singular, to rounding"
    assert found.success.all()
    check_claims(mech, found, T, 1e-9)


def test_out_of_reach_the_nearest_is_found_and_told() -> None:
    arm = robots.planar_2r()
    way = np.array([3.0, 4.0]) / 5.0
    for distance, wanted in [(3.0, 1.0), (2.0, 0.0), (50.0, 48.0)]:
        T = np.eye(4)
        T[:2, 3] = distance * way
        found = arm.inverse_kinematics(T, mask=[1, 1, 0, 0, 0, 0])
        assert found.position_error == pytest.approx(wanted, abs=1e-9)
        assert np.allclose(arm.forward_kinematics(found.q)[:2, 3], min(2.0, distance) * way, atol=1e-6)
        assert found.reason == ("converged" if distance <= 2 else "unreachable")
    assert "out of reach" in found.explain()
    assert "48 m" in found.explain()


def test_limits_in_the_way_are_named() -> None:
    stiff = robots.planar_2r().replace_link(1, limits=(0.1, 0.5))
    T = robots.planar_2r().forward_kinematics([0.3, 1.5])
    found = stiff.inverse_kinematics(T, mask=[1, 1, 0, 0, 0, 0])
    assert (found.success, found.reason) == (False, "limit")
    assert found.active_limits.tolist() == [0, 1]
    assert "link2 at its greatest value" in found.explain()
    assert 0.1 <= found.q[1] <= 0.5
    free = stiff.inverse_kinematics(T, mask=[1, 1, 0, 0, 0, 0], limits=False)
    assert free.success
    assert free.active_limits.tolist() == [0, 0]


def test_an_answer_on_a_limit_is_inside_it() -> None:
    mech = robots.puma560()
    low, high = mech.q_min, mech.q_max
    q = random_positions(mech, 200, 4)
    pick = np.random.default_rng(5).integers(0, 6, 200)
    q[np.arange(200), pick] = np.where(pick % 2, low[pick], high[pick])
    T = mech.forward_kinematics(q)
    found = inverse_kinematics(mech, T, method="numeric")
    assert found.success.all()
    check_claims(mech, found, T, 1e-9)


def test_ranges_of_more_than_a_turn_give_the_answer_nearest_to_the_start() -> None:
    arm = robots.planar_2r().replace(links=[Link.dh(a=1.0, convention="standard", limits=(-12.0, 12.0)) for _ in range(2)])
    T = arm.forward_kinematics([0.4, 1.2])
    for turns in ([0, 0], [1, 0], [-1, 1]):
        q0 = np.array([0.5, 1.0]) + 2 * np.pi * np.array(turns)
        found = arm.inverse_kinematics(T, q0=q0, mask=[1, 1, 0, 0, 0, 0])
        assert np.allclose(found.q, [0.4, 1.2] + 2 * np.pi * np.array(turns), atol=1e-8)
    endless = robots.planar_2r()
    found = endless.inverse_kinematics(T, q0=[100.4, 1.0], mask=[1, 1, 0, 0, 0, 0])
    assert abs(found.q - [100.4, 1.0]).max() <= np.pi


@pytest.mark.parametrize("frame", ["world", "body"])
@pytest.mark.parametrize(
    "mask", [(1, 1, 1, 0, 0, 0), (0, 0, 0, 1, 1, 1), (1, 1, 1, 1, 1, 0), (0, 1, 1, 0, 0, 1), (0, 0, 0, 0, 1, 0)]
)
def test_a_mask_leaves_axes_free_in_either_frame(mask: tuple[int, ...], frame: str) -> None:
    mech = robots.puma560()
    q = random_positions(mech, 40, 6)
    T = mech.forward_kinematics(q)
    found = inverse_kinematics(mech, T, mask=mask, frame=frame)
    assert found.success.all()
    left = pose_error(mech.forward_kinematics(found.q), T, frame) * np.array(mask)
    assert np.abs(left).max() < 2e-9
    plain = newton_raphson(mech, T, q + 0.01, mask=mask, frame=frame, limits=False)
    assert plain.success.mean() > 0.9, "the same equations as the textbook method's"


def test_other_frames_and_named_methods() -> None:
    mech = robots.puma560()
    q = random_positions(mech, 30, 7)
    for link in (2, "link3"):
        T = mech.forward_kinematics(q, link=link)
        found = inverse_kinematics(mech, T, link=link)
        assert found.success.all()
        assert max(error.max() for error in errors(mech, found.q, T, link)) <= 1e-9
    T = mech.forward_kinematics(q[0])
    for method in ("newton_raphson", "steepest_descent", "numeric", "auto"):
        one = mech.inverse_kinematics(T, q0=q[0] + 0.02, method=method)
        assert one.success, method


def test_poses_with_printed_digits_are_taken_as_their_nearest_rotation() -> None:
    mech = robots.ur5()
    T = mech.forward_kinematics(random_positions(mech, 20, 8))
    found = inverse_kinematics(mech, T.round(7))
    assert found.success.all()
    assert errors(mech, found.q, T)[0].max() < 1e-6


def test_a_floating_base_takes_part() -> None:
    craft = robots.planar_2r().replace(floating=True)
    q = np.array([0.3, -0.2, 0.5, 0.5, 0.5, 0.5, 0.5, 0.4, -0.6])
    T = craft.forward_kinematics(q)
    found = craft.inverse_kinematics(T)
    assert found.success
    assert np.linalg.norm(found.q[3:7]) == pytest.approx(1.0, abs=1e-12)
    assert max(errors(craft, found.q, T)) <= 1e-9


def test_without_llvm_the_same_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    mech = robots.puma560()
    T = mech.forward_kinematics(random_positions(mech, 40, 9))
    wanted = inverse_kinematics(mech, T, method="numeric")
    monkeypatch.setattr(descent, "default_backend", lambda: "numpy")
    plain = mech.replace(name="puma again")
    found = inverse_kinematics(plain, T, method="numeric")
    assert system_of(plain, [Pose("tool", np.eye(4))]).reaching.backend == "numpy"
    assert found.success.all()
    assert np.abs(found.q - wanted.q).max() < 1e-6  # (roundings differ, and a start that only just arrives may not)


def test_the_nearest_of_several_starts_is_kept() -> None:
    mech = robots.puma560()
    T = mech.forward_kinematics(random_positions(mech, 5, 10))
    T[:, :3, 3] *= 3.0
    system = system_of(mech, [Pose("tool", np.eye(4))])
    near = nearest(mech, system, T.reshape(5, 16), np.tile(system.start, (5, 1)), 1e-9, 0)
    rng = np.random.default_rng(11)
    for k in range(5):
        trial = mech.forward_kinematics(rng.uniform(mech.q_min, mech.q_max, (20_000, 6)))
        away = np.linalg.norm(trial[:, :3, 3] - T[k, :3, 3], axis=1) / system.problem.length
        turn = 3.0 - np.einsum("nij,ij->n", trial[:, :3, :3], T[k, :3, :3])  # 4 sin(t/2)^2
        best = (near.position_error[k] / system.problem.length) ** 2 + 4.0 * np.sin(near.rotation_error[k] / 2) ** 2
        assert best <= (away**2 + turn).min() + 1e-12


ARM, POSE = robots.planar_2r(), np.eye(4)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"method": "magic"}, "method is 'magic'; expected 'auto', 'closed_form', 'numeric', 'newton_raphson' or"),
        ({"frame": "tool", "mask": [1, 1, 0, 0, 0, 0]}, "frame is 'tool'; expected 'world' or 'body'"),
        ({"frame": "tool"}, "frame is 'tool'; expected 'world' or 'body'"),
        ({"limits": 1}, "limits is 1; expected True or False"),
        ({"tol": 0.0}, "tol is 0.0; expected a number > 0"),
        ({"tol": "fine"}, "tol holds <U4; expected a number > 0"),
        ({"seed": -1}, "seed is -1"),
        ({"q0": [0.0] * 3}, r"q0 has the shape \(3,\); expected \(..., 2\)"),
        ({"q0": [0.0, np.nan]}, r"q0 is nan at \(1,\)"),
        ({"link": "hand"}, "no link 'hand'; this mechanism has"),
        ({"T": np.eye(3)}, r"T has the shape \(3, 3\); expected rigid poses"),
        ({"T": 2 * np.eye(4)}, "expected a rigid pose: orthonormal right-handed rotation"),
        ({"T": np.diag([1.0, 1, -1, 1])}, "expected a rigid pose: orthonormal right-handed rotation"),
        ({"T": np.full((4, 4), np.nan)}, "T is nan at"),
        ({"T": "here"}, "T holds <U4; expected rigid poses"),
        ({"T": [np.eye(4)] * 2, "q0": np.zeros((3, 2))}, "do not fit each other"),
        ({"mask": [1, 1, 2, 0, 0, 0]}, r"mask is \[1, 1, 2, 0, 0, 0\]; expected six of 0 or 1"),
        ({"mask": [0] * 6}, "expected six of 0 or 1, not all 0"),
    ],
)
def test_what_is_wrong_is_named(change: dict[str, Any], message: str) -> None:
    given = {"T": POSE, **change}
    with pytest.raises(Exception, match=message) as caught:
        inverse_kinematics(ARM, given.pop("T"), **given)
    assert type(caught.value).__name__ == "ArgumentError"


def test_what_cannot_be_solved_is_refused() -> None:
    post = Mechanism([Link(joint="fixed")], name="post")
    with pytest.raises(Exception, match="'post' has no joint that moves"):
        post.inverse_kinematics(POSE)
    with pytest.raises(Exception, match="constraints are none"):
        solve(ARM, [])
    with pytest.raises(Exception, match="constraints hold 3"):
        solve(ARM, [3])  # type: ignore[list-item]
    batch = ARM.inverse_kinematics(np.tile(POSE, (4, 1, 1)), mask=[1, 1, 0, 0, 0, 0])
    with pytest.raises(Exception, match="describes one"):
        batch.explain()
    with pytest.raises(Exception, match="index is 7; expected one into the batch"):
        batch.explain(7)
    assert batch.explain(2) == batch.explain((2,))
    assert Loop  # (loops: tests/solve/constraints)


def test_the_nearest_pose_is_told_without_idle_turns() -> None:
    mech = robots.ur5()
    T = mech.forward_kinematics([0.3, -1.2, 0.5, 0.4, 0.7, 0.2])
    T[:3, 3] = [1.6, 0.1, 0.2]
    found = mech.inverse_kinematics(T)
    assert found.reason == "unreachable"
    assert np.abs(found.q).max() < np.pi + 0.4  # (the start is within 0.3 rad of zero)
    assert not found.active_limits.any()


def test_a_coordinate_beyond_its_limits_is_called_so() -> None:
    mech = robots.puma560()
    T = mech.forward_kinematics([0.0, 0.5, -1.0, 3.1, 0.4, 0.0])
    found = newton_raphson(mech, T, [0.0, 0.5, -1.0, 3.1, 0.4, 0.0])
    assert found.reason == "limit"
    assert "link4 beyond its greatest value" in found.explain()
