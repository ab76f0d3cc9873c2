"""The closed form as users hold it: limits, order, turns, starts, batches, and what is said where there is none."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pytest

from linkwise import Link, Mechanism, robots
from linkwise.errors import ArgumentError
from linkwise.inverse_kinematics import all_inverse_kinematics
from linkwise.inverse_kinematics.closed_form import NoClosedFormError, Solutions, closed_form
from linkwise.inverse_kinematics.closed_form.decomposition import recognised
from linkwise.inverse_kinematics.closed_form.program import ClosedFormProgram
from linkwise.model.mimic import Mimic
from linkwise.solve.joint_limits import start_position
from support.axis_arms import X, Y, Z, arm, loose

TURN = 2 * np.pi


@pytest.fixture(scope="module")
def ur5() -> Mechanism:
    return robots.ur5()


@pytest.fixture(scope="module")
def puma() -> Mechanism:
    return robots.puma560()


def _sample(mech: Mechanism, count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    low, high = mech.q_min, mech.q_max
    q = np.random.default_rng(seed).uniform(low, high, (count, mech.n))
    return q, mech.forward_kinematics(q)


def _rows(found: Solutions | np.ndarray) -> list[np.ndarray]:
    return list(found) if isinstance(found, Solutions) else [found]


def test_answers_are_within_limits_in_order_and_all_there(puma: Mechanism) -> None:
    q, poses = _sample(puma, 500)
    q0 = np.random.default_rng(1).uniform(puma.q_min, puma.q_max, (500, 6))
    inside = all_inverse_kinematics(puma, poses, q0=q0)
    whole = all_inverse_kinematics(puma, poses, q0=q0, limits=False)
    assert isinstance(inside, Solutions)
    assert isinstance(whole, Solutions)
    assert (whole.count == 8).all()
    low, high = puma.q_min, puma.q_max
    for start, some, every, true in zip(q0, inside, whole, q, strict=True):
        assert ((some >= low) & (some <= high)).all()
        assert (np.diff(np.linalg.norm(some - start, axis=1)) >= 0).all()
        assert (np.abs(every - start) <= np.pi + 1e-12).all()  # without limits each angle is as near as it can be
        turns = np.round((every - 0.5 * (low + high)) / TURN)
        lifted = np.stack([every - TURN * (turns + k) for k in (-1, 0, 1)])
        fits = ((lifted >= low) & (lifted <= high)).any(axis=0).all(axis=1)
        assert fits.sum() == len(some)
        assert np.abs(some - true).max(axis=1).min() < 1e-6 or np.abs(np.sin(0.5 * (some - true))).max(axis=1).min() < 1e-6


def test_whole_turns_are_taken_towards_the_start_and_counted_once(ur5: Mechanism) -> None:
    """Limits of two turns hold each angle twice: the one nearer to the start counts."""
    q, poses = _sample(ur5, 300, seed=2)
    near = all_inverse_kinematics(ur5, poses, q0=q)
    for true, rows in zip(q, near, strict=True):
        assert np.abs(rows[0] - true).max() < 1e-6
        assert (np.abs(rows) <= TURN).all()
        spread = [np.abs(np.exp(1j * rows) - np.exp(1j * row)).max(axis=1) for row in rows]
        assert ((np.array(spread) < 1e-6).sum(axis=1) == 1).all()


def test_the_start_left_out_and_the_start_outside_the_limits(puma: Mechanism) -> None:
    _, poses = _sample(puma, 50)
    default = all_inverse_kinematics(puma, poses)
    said = all_inverse_kinematics(puma, poses, q0=start_position(puma))
    far = all_inverse_kinematics(puma, poses, q0=np.full(6, 40.0))
    for a, b, c in zip(default, said, far, strict=True):
        assert np.array_equal(a, b)
        assert len(c) == len(a)
        assert (np.diff(np.linalg.norm(c - 40.0, axis=1)) >= 0).all()
        assert ((c >= puma.q_min) & (c <= puma.q_max)).all()


@pytest.mark.parametrize("name", ["puma560", "ur5"])
def test_a_batch_has_the_bits_of_a_loop(name: str) -> None:
    mech = getattr(robots, name)()
    q, poses = _sample(mech, 40)
    form = closed_form(mech)
    whole = form.all(poses.reshape(4, 10, 4, 4), q.reshape(4, 10, 6))
    assert isinstance(whole, Solutions)
    assert (whole.q.shape, whole.count.shape, len(whole)) == ((4, 10, 8, 6), (4, 10), 40)
    nearest = form.nearest(poses, q)
    for k, rows in enumerate(whole):
        one = form.all(poses[k], q[k])
        assert np.array_equal(one, rows)
        assert np.array_equal(one, whole[divmod(k, 10)])
        for part, single in zip(nearest, form.nearest(poses[k], q[k]), strict=True):
            assert np.array_equal(part[k], single)
        assert np.array_equal(nearest[0][k], rows[0])


def test_a_batch_of_starts_for_one_pose(ur5: Mechanism) -> None:
    q, poses = _sample(ur5, 1)
    starts = np.random.default_rng(3).uniform(-3, 3, (5, 6))
    found = closed_form(ur5).all(poses[0], starts)
    assert isinstance(found, Solutions)
    for start, rows in zip(starts, found, strict=True):
        assert np.array_equal(rows, closed_form(ur5).all(poses[0], start))
    assert np.isfinite(q).all()


def test_a_free_joint_stays_at_the_start(puma: Mechanism) -> None:
    """With the wrist straight joints 4 and 6 turn about one axis: joint 4 stays where it was."""
    q = np.array([0.3, 0.9, -1.2, 0.7, 0.0, -0.4])
    q0 = np.array([0.2, 1.0, -1.0, 0.2, 0.3, 0.1])
    pose = puma.forward_kinematics(q)
    rows = np.asarray(all_inverse_kinematics(puma, pose, q0=q0))
    assert np.abs(puma.forward_kinematics(rows) - pose).max() < 1e-12
    straight = rows[np.abs(rows - [0.3, 0.9, -1.2, 0.2, 0.0, 0.1]).max(axis=1) < 1e-6]
    assert len(straight) == 1


def test_the_same_without_llvm(ur5: Mechanism) -> None:
    chain, family, _ = recognised(ur5)
    assert chain is not None
    assert family is not None
    slow = ClosedFormProgram(ur5, "tool", chain, family).kernel("numpy")
    q, poses = _sample(ur5, 50)
    bounds = np.concatenate([ur5.q_min, ur5.q_max, [1e-9, np.nan]])
    with np.errstate(all="ignore"):
        found, count, *_ = slow(poses.reshape(50, 16), q, bounds)
    fast = closed_form(ur5).all(poses, q)
    assert isinstance(fast, Solutions)
    assert np.array_equal(count, fast.count)
    assert np.nanmax(np.abs(np.sin(0.5 * (found - fast.q)))) < 1e-6


def test_other_frames_and_joints_beside_the_way() -> None:
    """A gripper whose fingers follow each other, and whose joint keeps what the start says, within its limits."""
    flat = robots.planar_3r()
    hand = flat.link_names[-1]
    fingers = [
        Link(joint="prismatic", name="left", axis=Y, limits=(0.0, 0.04), parent=hand),
        Link(joint="prismatic", name="right", axis=-Y, parent=hand, mimic=Mimic("left")),
    ]
    mech = Mechanism([*flat.links, *fingers])
    form = closed_form(mech, hand)
    assert form.exists, form.why
    q = np.array([0.1, 0.8, -1.0, 0.02])
    rows = np.asarray(form.all(mech.forward_kinematics(q, link=hand), [*q[:3], 0.09]))
    assert np.abs(rows[0] - [*q[:3], 0.04]).max() < 1e-9
    assert np.abs(mech.forward_kinematics(rows, link=hand) - mech.forward_kinematics(q, link=hand)).max() < 1e-12
    assert closed_form(mech, "left").family != form.family


def test_what_is_kept_and_what_it_says(ur5: Mechanism) -> None:
    form = closed_form(ur5)
    assert closed_form(ur5) is form
    assert repr(form) == "<ClosedForm of ur5: the axes of joints 2, 3 and 4 are parallel>"
    assert (form.exists, form.why) == (True, "")
    _, poses = _sample(ur5, 3)
    found = form.all(poses)
    assert repr(found).startswith("<Solutions: 3 poses, ")
    assert repr(form.all(poses[:0])) == "<Solutions: 0 poses>"
    with pytest.raises(IndexError, match="several poses"):
        found[0:2]  # type: ignore[index]
    again = pickle.loads(pickle.dumps(ur5))
    assert np.array_equal(closed_form(again).all(poses[0]), form.all(poses[0]))


GENERIC = arm(loose("RRRRRR", np.random.default_rng(0))).mech

COAXIAL = arm([("R", Z, 0 * Z), ("R", Z, 0 * Z), *loose("RRRR", np.random.default_rng(0))]).mech


@pytest.mark.parametrize(
    ("mech", "words"),
    [
        (robots.panda(), "infinitely many solutions"),
        (GENERIC, "no three neighbouring axes are parallel or meet in a point"),
        (COAXIAL, "not independent"),
        (robots.four_bar(), "closed loops"),
        (robots.puma560().replace(floating=True), "the base floats"),
        (
            Mechanism([Link(joint="fixed", name="foot"), *robots.puma560().links], tool_link="foot"),
            "no joint moves this frame",
        ),
        (Mechanism([Link(joint="screw", pitch=0.1), *robots.puma560().links]), "neither revolute nor prismatic"),
        (
            Mechanism([Link(name="a", axis=X), Link(name="b", axis=Y, mimic=Mimic("a", ratio=2.0)), Link(axis=Z)]),
            "follow each other",
        ),
    ],
)
def test_no_closed_form_says_why_and_names_another_way(mech: Mechanism, words: str) -> None:
    form = closed_form(mech)
    assert not form.exists
    assert words in form.why
    assert not form.family
    with pytest.raises(NoClosedFormError, match="has no closed form for this frame"):
        form.all(np.eye(4))
    with pytest.raises(ArgumentError, match="floats" if mech.floating else "inverse_kinematics"):
        all_inverse_kinematics(mech, np.eye(4), method="closed_form")


POSE = robots.puma560().forward_kinematics(np.full(6, 0.3))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"T": np.eye(3)}, r"T has the shape \(3, 3\); expected rigid poses"),
        ({"T": 2.0 * POSE}, "expected a rigid pose"),
        ({"T": np.diag([1.0, 1.0, -1.0, 1.0])}, "expected a rigid pose"),
        ({"T": np.stack([POSE, np.diag([1.0, 1.0, -1.0, 1.0])])}, r"T\[1\] is"),
        ({"T": np.where(np.eye(4) > 0, np.nan, POSE)}, "T is nan"),
        ({"T": POSE + np.array([[0, 0, 0, np.inf]] + [[0, 0, 0, 0]] * 3)}, "T is inf"),
        ({"T": POSE + np.array([[0, 0, 0, 1e60]] + [[0, 0, 0, 0]] * 3)}, "expected positions up to"),
        ({"T": "pose"}, "T holds"),
        ({"q0": np.zeros(5)}, r"q0 has the shape \(5,\); expected \(..., 6\)"),
        ({"q0": np.full(6, np.nan)}, "q0 is nan"),
        ({"q0": np.full(6, 1e60)}, "q0 is 1e.60"),
        (
            {"T": np.stack([POSE] * 3), "q0": np.zeros((2, 6))},
            r"the batch shapes do not fit each other: T \(3,\), q0 \(2,\)",
        ),
        ({"limits": "no"}, "limits is 'no'; expected True or False"),
        ({"link": "hand"}, "no link 'hand'"),
    ],
)
def test_arguments_that_cannot_be_used(puma: Mechanism, arguments: dict[str, object], words: str) -> None:
    given = {"T": POSE, **arguments}
    with pytest.raises(ArgumentError, match=words):
        all_inverse_kinematics(puma, given.pop("T"), **given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"asks": "all"}, "asks is 'all'; expected 'pose', 'position' or 'orientation'"),
        ({"fixed": {"elbow": 0.0}}, "fixed is 'elbow'"),
        ({"fixed": {0: 0.0, 1: 0.0}}, "expected one joint and its value"),
        ({"fixed": {9: 0.0}}, "indices -6 to 5"),
        ({"fixed": {}}, "expected one joint and its value"),
        ({"link": [1]}, r"link is \[1\]; expected"),
    ],
)
def test_what_cannot_be_asked_for(puma: Mechanism, arguments: dict[str, object], words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        closed_form(puma, **arguments)  # type: ignore[arg-type]


def test_any_numbers_that_are_poses(puma: Mechanism) -> None:
    """Lists, rows out of order, other float types, and rotations that are right to six digits only."""
    plain = np.asarray(all_inverse_kinematics(puma, POSE))
    assert len(plain) > 0
    for other in (POSE.tolist(), np.asfortranarray(POSE), POSE.astype(">f8"), np.stack([POSE, POSE])[::-1][0]):
        assert np.array_equal(all_inverse_kinematics(puma, other), plain)
    rough = np.asarray(all_inverse_kinematics(puma, POSE.round(7)))
    assert np.abs(rough - plain).max() < 1e-5
    single = np.asarray(all_inverse_kinematics(puma, POSE.astype(np.float32)))
    assert single.dtype == np.float64
    assert np.abs(single - plain).max() < 1e-4


def test_results_are_the_callers_own(puma: Mechanism) -> None:
    """What a call gives is not written over by later ones."""
    _, poses = _sample(puma, 20)
    form = closed_form(puma)
    kept = [form.all(pose) for pose in poses]
    copies = [np.array(form.all(pose)) for pose in poses]
    assert all(np.array_equal(a, b) for a, b in zip(kept, copies, strict=True))
    assert all(a is not b for a, b in pairwise(kept))


def test_large_batches_go_in_blocks(puma: Mechanism) -> None:
    """Whatever goes together, the numbers are the same; starts with a batch of their own too."""
    q, poses = _sample(puma, 90)
    form = closed_form(puma)
    many = np.tile(poses, (100, 1, 1, 1))
    for start in (None, q):
        few, lots = form.nearest(poses, start), form.nearest(many, start)
        for part, whole in zip(few, lots, strict=True):
            assert whole.shape == (100, *part.shape)
            assert (whole == part).all()


def test_a_tolerance_of_ones_own(puma: Mechanism) -> None:
    _, poses = _sample(puma, 20)
    form = closed_form(puma)
    assert not form.nearest(poses, tol=1e-30)[1].any()
    assert form.nearest(poses, tol=1e-6)[1].all()
    with pytest.raises(ArgumentError, match="tol is -1"):
        form.nearest(poses, tol=-1.0)


@pytest.mark.parametrize("method", ["closed_form", "numeric"])
def test_without_limits_and_start_angles_are_within_half_a_turn(method: str) -> None:
    """Each in (-pi, pi], where the default start, 0.3 rad aside, lets them be beyond; a joint that is held stays."""
    arm = robots.puma560()
    rng = np.random.default_rng(2)
    poses = arm.forward_kinematics(rng.uniform(-np.pi, np.pi, (3 if method == "numeric" else 200, 6)))
    near = all_inverse_kinematics(arm, poses, q0=start_position(arm), limits=False, method=method, starts=30)
    free = all_inverse_kinematics(arm, poses, limits=False, method=method, starts=30)
    assert np.array_equal(free.count, near.count)
    assert np.nanmax(free.q) <= np.pi
    assert np.nanmin(free.q) > -np.pi
    turns = (free.q - near.q) / (2.0 * np.pi)
    assert np.nanmax(np.abs(turns - np.round(turns))) < 1e-15
    assert method == "numeric" or np.nanmax(np.abs(turns)) > 0.5  # (some were beyond)
