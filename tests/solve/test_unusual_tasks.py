"""Inverse kinematics of what is unusual: arrays of every layout, inexact poses in a batch, far slides, endless ranges."""

import pickle
from typing import Any

import numpy as np
import pytest

from linkwise import Link, Mechanism, robots
from linkwise.inverse_kinematics import inverse_kinematics
from linkwise.kernel import iteration as descent
from linkwise.solve import Pose, Position, solve
from linkwise.solve.compiled_problem import KEPT, system_of


def same(one: Any, other: Any) -> bool:
    fields = ("q", "success", "reason", "position_error", "rotation_error", "iterations")
    return all(np.array_equal(getattr(one, field), getattr(other, field)) for field in fields)


@pytest.fixture(scope="module")
def puma() -> Mechanism:
    return robots.puma560()


@pytest.fixture(scope="module")
def targets(puma: Mechanism) -> np.ndarray:
    return puma.forward_kinematics(np.random.default_rng(0).uniform(puma.q_min, puma.q_max, (12, 6)))


def test_the_layout_of_the_arrays_does_not_count(puma: Mechanism, targets: np.ndarray) -> None:
    wanted = inverse_kinematics(puma, targets, method="numeric")
    wide = np.full((12, 4, 8), np.nan)
    wide[..., ::2] = targets
    shifted = np.frombuffer(b"\0" + targets.tobytes(), dtype=np.uint8)[1:].view(np.float64).reshape(targets.shape)
    turned = np.ascontiguousarray(targets[:, ::-1, ::-1])[:, ::-1, ::-1]
    frozen = targets.copy()
    frozen.flags.writeable = False
    for given in (wide[..., ::2], shifted, turned, frozen, np.asfortranarray(targets), targets.astype(">f8")):
        assert same(inverse_kinematics(puma, given, method="numeric"), wanted)
        one = inverse_kinematics(puma, given[3], method="numeric")
        assert np.array_equal(one.q, wanted.q[3])
    starts = np.zeros(12)
    starts[::2] = 0.1
    for strided in (starts[::2], starts[-2::-2]):
        plain = inverse_kinematics(puma, targets[0], q0=strided.copy(), method="numeric")
        assert np.array_equal(inverse_kinematics(puma, targets[0], q0=strided, method="numeric").q, plain.q)
    assert inverse_kinematics(puma, targets[:0], method="numeric").q.shape == (0, 6)
    assert inverse_kinematics(puma, targets[0], q0=np.zeros((0, 3, 6)), method="numeric").success.shape == (0, 3)


def test_one_inexact_pose_changes_nothing_for_the_others(puma: Mechanism, targets: np.ndarray) -> None:
    wanted = inverse_kinematics(puma, targets, method="numeric")
    mixed = targets.copy()
    mixed[0] = mixed[0].round(8)
    found = inverse_kinematics(puma, mixed, method="numeric")
    assert np.array_equal(found.q[1:], wanted.q[1:])
    assert np.array_equal(found.q[0], inverse_kinematics(puma, mixed[0], method="numeric").q)
    masked = inverse_kinematics(puma, targets, mask=[1] * 6, method="numeric")
    assert same(masked, wanted)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"T": np.eye(4) + 0j}, "T holds complex128; expected rigid poses"),
        ({"T": np.eye(4).astype(str)}, "T holds <U32; expected rigid poses"),
        ({"link": [1]}, r"link is \[1\]; expected a link's name, an index, or 'tool'"),
        ({"link": True}, "link is True; expected a link's name"),
        ({"link": 1.0}, "link is 1.0; expected a link's name"),
    ],
)
def test_what_is_no_pose_and_no_link_is_named(puma: Mechanism, change: dict[str, Any], message: str) -> None:
    inverse_kinematics(puma, np.eye(4), link=1, method="numeric")  # (what is kept for link 1 is not for True)
    with pytest.raises(Exception, match=message) as caught:
        inverse_kinematics(puma, **{"T": np.eye(4), "method": "numeric", **change})
    assert type(caught.value).__name__ == "ArgumentError"


def test_out_of_reach_is_not_called_a_stall() -> None:
    """Rounding keeps the slope from falling below 1e-16 of the squared error: that is rest too."""
    rng = np.random.default_rng(3)
    crank = Mechanism([Link.dh(a=1.0, convention="standard")])
    for arm, mask in ((robots.planar_2r(), [1, 1, 0, 0, 0, 0]), (robots.planar_2r(), None), (crank, None)):
        T = arm.forward_kinematics(rng.uniform(-3.0, 3.0, (200, arm.n)))
        T[:, :3, 3] *= (2.1 / np.linalg.norm(T[:, :3, 3], axis=1) * rng.uniform(1.0, 20.0, 200))[:, None]
        found = inverse_kinematics(arm, T, mask=mask, method="numeric")
        assert set(found.reason) == {"unreachable"}


def test_a_slide_far_from_its_goal() -> None:
    """Far in lengths of the mechanism, which here is 1 m."""
    slide = Mechanism([Link(joint="prismatic", limits=(0.0, np.inf))])
    T = slide.forward_kinematics(np.linspace(0.0, 1000.0, 50)[:, None])
    assert inverse_kinematics(slide, T).success.all()
    T = slide.forward_kinematics(np.linspace(-1000.0, -1.0, 50)[:, None])
    found = inverse_kinematics(slide, T)
    assert set(found.reason) == {"limit"}
    assert np.array_equal(found.q, np.zeros((50, 1)))


@pytest.mark.parametrize("bound", [1e6, 1e12, 1e200, np.finfo(float).max])
def test_limits_that_are_none(bound: float) -> None:
    """Files write them for joints without limits: the rest of the mechanism still counts."""
    links = [
        Link(joint="prismatic", limits=(-bound, bound)),
        *[Link.dh(a=0.5, alpha=alpha, convention="standard", limits=(-bound, bound)) for alpha in (1.5, -1.5, 0.3)],
    ]
    mech = Mechanism(links)
    q = np.random.default_rng(4).uniform(-2.0, 2.0, (50, 4))
    found = inverse_kinematics(mech, mech.forward_kinematics(q), q0=q + 0.05)
    assert found.success.all()
    assert np.median(np.abs(found.q - q).max(axis=1)) < 1e-6


def test_what_is_all_but_met_is_looked_for_longer() -> None:
    """A pose of the arm near its wrist singularity, in whose neighbourhood a descent creeps."""
    links = [link.replace(limits=(-np.pi, np.pi)) for link in robots.ur5().links]
    mech = robots.ur5().replace(links=links)
    T = mech.forward_kinematics([-2.69456833, 0.70998027, 2.54141454, 2.23677629, 3.14042971, -2.34608581])
    for seed in range(4):
        assert inverse_kinematics(mech, T, seed=seed, method="numeric").success


def test_what_is_kept_stays_small(puma: Mechanism, targets: np.ndarray) -> None:
    for seed in range(3 * KEPT):
        assert inverse_kinematics(puma, targets[0], seed=seed, tol=1e-9 * (1 + seed), method="numeric").success
    system = system_of(puma, [Pose("tool", np.eye(4))])
    for kept in (system._random_starts, type(system).settings):
        assert 0 < kept.cache_info().currsize <= KEPT
    solve(puma, Position("tool", targets[:, :3, 3]))
    compiled = system_of(puma, [Position("tool", [0.0, 0.0, 0.0])]).problem.constraints
    assert [np.shape(constraint.numbers) for constraint in compiled] == [(16,)]


def test_a_mechanism_that_was_solved_is_pickled(puma: Mechanism, targets: np.ndarray) -> None:
    wanted = inverse_kinematics(puma, targets, method="numeric")
    again = pickle.loads(pickle.dumps(puma))
    assert again == puma
    assert hash(again) == hash(puma)
    assert same(inverse_kinematics(again, targets, method="numeric"), wanted)
    assert same(pickle.loads(pickle.dumps(wanted)), wanted)


def test_without_llvm_what_cannot_be_reached_is_told_too(monkeypatch: pytest.MonkeyPatch) -> None:
    arm = robots.planar_2r().replace_link(1, limits=(0.1, 0.5))
    T = robots.planar_2r().forward_kinematics(np.random.default_rng(5).uniform(-2.0, 2.0, (8, 2)))
    T[::4, :2, 3] *= 5.0
    mask = [1, 1, 0, 0, 0, 0]
    wanted = inverse_kinematics(arm, T, mask=mask, method="numeric")
    monkeypatch.setattr(descent, "default_backend", lambda: "numpy")
    found = inverse_kinematics(arm.replace(name="arm again"), T, mask=mask, method="numeric")
    assert len(set(wanted.reason)) == 3
    assert np.array_equal(found.reason, wanted.reason)
    assert np.abs(found.position_error - wanted.position_error).max() < 1e-9
