"""Chains with joints that slide, or with fewer than six joints: every answer is one by a forward pass of the test's own, the
position that a pose was made of is among them, singular or not, and poses out of reach have none."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from linkwise.inverse_kinematics.closed_form.axis_chain import chain_of
from linkwise.inverse_kinematics.closed_form.decomposition import take_apart
from linkwise.inverse_kinematics.closed_form.program import ClosedFormProgram
from linkwise.kernel import Kernel
from support.axis_arms import Arm, X, Y, Z, apart, arm, branches, direction, exponential, in_plane, loose, meeting, run

COUNT = 40
EXACT = 1e-9
"""m and rad: what counts as reached."""

FOUND = 1e-6
"""Near a double root a branch is known to half the digits only."""


def _complete(made: Arm, asks: str = "pose") -> None:
    """The true joints are among the branches, and so is one that reaches the pose to rounding."""
    chain, _ = chain_of(made.mech)
    assert chain is not None
    found = take_apart(chain, None, asks)
    assert found is not None
    q = np.random.default_rng(0).uniform(-2.5, 2.5, (COUNT, made.mech.n))
    poses = made.forward(q)
    answers = branches(made.mech, found, poses, q)
    assert apart(answers, q, made.axes).max() < FOUND
    part = {"pose": np.s_[..., :3, :], "position": np.s_[..., :3, 3:], "orientation": np.s_[..., :3, :3]}[asks]
    miss = np.abs(made.forward(answers) - poses[:, None])[part].max(axis=(-1, -2))
    assert np.nanmin(miss, axis=1).max() < EXACT


@pytest.mark.parametrize(
    ("kinds", "at"),
    [("RRP", 3), ("RPR", 1), ("RPP", 2), ("PRR", 0), ("PPR", 3)],
)
def test_three_axes_that_meet_beside_any_three_joints(kinds: str, at: int) -> None:
    rng = np.random.default_rng(1)
    others = loose(kinds, rng)
    _complete(arm([*others[:at], *meeting(3, rng), *others[at:]], rng))


@pytest.mark.parametrize("kinds", ["PPPRRR", "RPRPRP", "PRRRPP"])
def test_three_that_turn_and_three_that_slide(kinds: str) -> None:
    rng = np.random.default_rng(2)
    _complete(arm(loose(kinds, rng), rng))


@pytest.mark.parametrize(
    ("before", "plane", "after"),
    [("R", "RRR", "R"), ("", "RPR", "RR"), ("PR", "RRR", "R"), ("R", "RRP", "RP"), ("RR", "RRR", "P")],
)
def test_a_run_in_a_plane(before: str, plane: str, after: str) -> None:
    rng = np.random.default_rng(3)
    _complete(arm([*loose(before, rng), *in_plane(plane, rng), *loose(after, rng)], rng))


@pytest.mark.parametrize("kinds", ["".join(k) for n in (1, 2, 3) for k in product("RP", repeat=n)])
def test_up_to_three_joints_anywhere(kinds: str) -> None:
    rng = np.random.default_rng(4)
    made = arm(loose(kinds, rng), rng)
    _complete(made)
    _complete(made, "position")
    if "P" not in kinds:
        _complete(made, "orientation")


@pytest.mark.parametrize("kinds", ["RRRR", "RPRR", "PRRP", "RRRPP", "PPRRP"])
def test_four_and_five_joints_anywhere(kinds: str) -> None:
    rng = np.random.default_rng(5)
    _complete(arm(loose(kinds, rng), rng))


@pytest.mark.parametrize("kinds", ["R", "RR", "RRR", "RPR", "PRR", "RRP", "PRP", "PPR", "RP", "PR"])
def test_planar_arms(kinds: str) -> None:
    rng = np.random.default_rng(6)
    made = arm(in_plane(kinds, rng), rng)
    _complete(made)
    if len(kinds) < 3:
        _complete(made, "position")


@pytest.mark.parametrize("kinds", ["RRP", "RPR", "PRR", "RRRP", "RRPR", "RPRR", "PRRR"])
def test_scara_arms_with_the_slide_anywhere(kinds: str) -> None:
    rng = np.random.default_rng(7)
    made = arm([(kind, along if kind == "R" else -Z, p) for kind, along, p in in_plane(kinds, rng, Z)], rng)
    _complete(made)
    if len(kinds) == 3:
        _complete(made, "position")


@pytest.mark.parametrize(("kinds", "at"), [("RRR", 0), ("RPR", 2), ("RRR", 3)])
def test_two_axes_that_meet_beside_three_joints(kinds: str, at: int) -> None:
    rng = np.random.default_rng(8)
    others = loose(kinds, rng)
    _complete(arm([*others[:at], *meeting(2, rng), *others[at:]], rng))


BASE = np.zeros(3)
WRIST = np.array([0.0, 0.0, 0.8])
BESIDE = np.array([0.0, 0.15, 0.4])
HAND = [("R", Z, WRIST), ("R", Y, WRIST), ("R", Z, WRIST)]
BENT = [("R", Y, [0.03, 0, 0.1]), ("R", Y, [0.03, 0, 0.25]), ("R", Y, [0.03, 0, 0.4])]
KNOWN = {
    "gantry": [("P", X, BASE), ("P", Y, BASE), ("P", Z, BASE), *HAND],
    "cylindrical": [("R", Z, BASE), ("P", Z, BASE), ("P", X, BASE), ("R", X, WRIST), ("R", Y, WRIST), ("R", X, WRIST)],
    "polar": [("R", Z, BASE), ("R", Y, BASE), ("P", X, BASE), ("R", X, 0.5 * X), ("R", Y, 0.5 * X), ("R", X, 0.5 * X)],
    "stanford": [("R", Z, BASE), ("R", Y, BESIDE), ("P", Z, BESIDE), ("R", Z, BESIDE), ("R", Y, BESIDE), ("R", Z, BESIDE)],
    "slides between": [("R", Z, BASE), ("P", X, BASE), ("R", Y, 0.1 * X), ("P", Y, BASE), ("R", Z, BESIDE), ("P", Z, BASE)],
    "scara": [("R", Z, BASE), ("R", Z, 0.4 * X), ("P", Z, 0.7 * X), ("R", Z, 0.7 * X)],
    "five joints, offset": [("R", Z, BASE), *BENT, ("R", Z, [0.07, 0, 0.6])],
    "four joints": [("R", Z, BASE), *BENT],
    "three joints": [("R", Z, BASE), ("R", Y, 0.1 * X), ("R", Z, [0.1, 0.2, 0.3])],
    "hand": HAND,
    "planar": [("R", Z, BASE), ("R", Z, X), ("R", Z, 1.7 * X)],
}


@pytest.fixture(scope="module", params=KNOWN)
def known(request: pytest.FixtureRequest) -> tuple[Arm, Kernel]:
    made = arm(KNOWN[request.param], np.random.default_rng(9))
    chain, _ = chain_of(made.mech)
    assert chain is not None
    found = take_apart(chain)
    assert found is not None
    return made, ClosedFormProgram(made.mech, "tool", *found).kernel("numpy")


def test_singular_positions_have_answers_and_all_of_them_hold(known: tuple[Arm, Kernel]) -> None:
    made, kernel = known
    rng = np.random.default_rng(10)
    q = rng.uniform(-2.5, 2.5, (300, made.mech.n))
    q = np.where(rng.random(q.shape) < 0.5, rng.choice([0.0, np.pi / 2, -np.pi / 2], q.shape), q)
    poses = made.forward(q)
    answers, count = run(kernel, poses, np.full(made.mech.n, 0.3), EXACT)
    assert count.min() >= 1
    rows = np.arange(answers.shape[1])[None] < count[:, None]
    assert np.array_equal(rows, ~np.isnan(answers).any(axis=-1))
    miss = np.abs(made.forward(np.where(rows[..., None], answers, 0.0)) - poses[:, None]).max(axis=(-1, -2))
    assert miss[rows].max() < 2 * EXACT  # an element of a matrix, and the rounding of another forward pass


@pytest.mark.parametrize("known", [name for name, axes in KNOWN.items() if len(axes) < 6], indirect=True)
def test_a_pose_that_fewer_than_six_joints_cannot_make_has_no_answer(known: tuple[Arm, Kernel]) -> None:
    made, kernel = known
    rng = np.random.default_rng(11)
    moves = np.stack([exponential("R", direction(rng), rng.uniform(-1, 1, 3), np.asarray(1.0)) for _ in range(COUNT)])
    poses = moves @ made.forward(rng.uniform(-2.5, 2.5, (COUNT, made.mech.n)))
    assert run(kernel, poses, np.zeros(made.mech.n), EXACT)[1].max() == 0


@pytest.mark.parametrize("known", ["stanford"], indirect=True)
def test_a_place_out_of_reach_has_no_answer(known: tuple[Arm, Kernel]) -> None:
    """The point where the last axes meet is put on the first one, which the offset between them forbids."""
    made, kernel = known
    rng = np.random.default_rng(12)
    turns = np.stack([exponential("R", direction(rng), BESIDE, np.asarray(angle)) for angle in rng.uniform(0, 3, COUNT)])
    poses = made.mech.base @ exponential("P", np.array([0.0, -0.15, 0.2]), BESIDE, np.asarray(1.0)) @ turns @ made.mech.tool
    assert run(kernel, poses, np.zeros(6), EXACT)[1].max() == 0


@pytest.mark.parametrize(("kinds", "asks"), [("RRRRR", "pose"), ("PPPP", "pose"), ("RRRR", "position")])
def test_what_cannot_be_taken_apart(kinds: str, asks: str) -> None:
    chain, _ = chain_of(arm(loose(kinds, np.random.default_rng(13))).mech)
    assert chain is not None
    assert take_apart(chain, None, asks) is None


def test_a_point_in_a_plane_leaves_three_joints_open() -> None:
    chain, _ = chain_of(arm(in_plane("RRR", np.random.default_rng(14))).mech)
    assert chain is not None
    assert take_apart(chain, None, "position") is None


def test_joints_that_change_places_keep_their_coordinates() -> None:
    rng = np.random.default_rng(15)
    made = arm([(kind, Z, point) for kind, _, point in loose("RRPR", rng)], rng)
    chain, _ = chain_of(made.mech)
    assert chain is not None
    found = take_apart(chain)
    assert found is not None
    assert sorted(found[0].coordinates) == [0, 1, 2, 3]
    assert [found[0].translates[found[0].coordinates.index(k)] for k in range(4)] == [False, False, True, False]


@pytest.mark.parametrize("noise", [2e-6])
def test_axes_that_are_nearly_special(noise: float) -> None:
    """The chain nearby in which they are special is solved, and each branch brought over to the true one."""
    rng = np.random.default_rng(3)
    exact = [*loose("PR", rng), *in_plane("RRR", rng), *loose("R", rng)]
    axes = []
    for kind, along, point in exact:
        rough = np.asarray(along) + noise * rng.normal(size=3)
        axes.append((kind, rough / np.linalg.norm(rough), np.asarray(point) + noise * rng.normal(size=3)))
    made = arm(axes, rng)
    chain, _ = chain_of(made.mech)
    assert chain is not None
    found = take_apart(chain)
    assert found is not None
    near = found[1].near
    assert near is not None
    assert noise / 10 < near.misfit < 10 * noise
    q = np.random.default_rng(1).uniform(-2.5, 2.5, (1000, made.mech.n))
    poses = made.forward(q)
    answers, count = run(ClosedFormProgram(made.mech, "tool", *found).kernel("numpy"), poses, q, EXACT)
    missed = np.abs(made.forward(np.nan_to_num(answers)) - poses[:, None]).max(axis=(-1, -2))
    assert missed[~np.isnan(answers[..., 0])].max() < 2 * EXACT
    assert (count == 0).mean() < 0.005  # near singular positions the two chains differ by the root of the noise
    assert (apart(answers, q, made.axes) > FOUND).mean() < 0.01
