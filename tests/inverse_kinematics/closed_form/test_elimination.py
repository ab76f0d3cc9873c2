"""Six revolute joints of any geometry: planted positions are found again, and what is called complete is."""

from __future__ import annotations

import math

import numpy as np
import pytest

import linkwise as lw
from linkwise.errors import ArgumentError
from linkwise.inverse_kinematics.closed_form import Elimination, NoClosedFormError, closed_form, elimination
from linkwise.inverse_kinematics.closed_form.axis_chain import chain_of
from linkwise.inverse_kinematics.closed_form.circle_determinant import DEGREE, kernels
from linkwise.inverse_kinematics.closed_form.circle_roots import roots_of
from linkwise.inverse_kinematics.closed_form.offset_wrist import offset_wrist, solve_offset_wrist

QUARTER = math.pi / 2


def dh_arm(name: str, *rows: tuple[float, float, float]) -> lw.Mechanism:
    """An arm of rows a, alpha, d."""
    links = [lw.Link.dh(a=a, alpha=alpha, d=d, convention="standard") for a, alpha, d in rows]
    return lw.Mechanism(links, name=name)


def random_arm(seed: int) -> lw.Mechanism:
    """An arm of no special geometry."""
    rng = np.random.default_rng(seed)
    rows = [(rng.uniform(-0.5, 0.5), rng.uniform(-math.pi, math.pi), rng.uniform(-0.5, 0.5)) for _ in range(6)]
    return dh_arm(f"random{seed}", *rows)


def two_link_wrist(offset: float) -> lw.Mechanism:
    """Shoulder and elbow of an arm whose last two axes miss the fourth by an offset, the class of the FANUC CRX."""
    rows = (
        (0.0, -QUARTER, 0.0),
        (0.54, 0.0, 0.0),
        (0.0, -QUARTER, 0.0),
        (0.0, QUARTER, 0.54),
        (0.0, -QUARTER, offset),
        (0.0, 0.0, 0.16),
    )
    return dh_arm("offset_wrist", *rows)


def curved_wrist() -> lw.Mechanism:
    """An arm with axes at 60 degrees in its wrist, of the proportions of a Jaco."""
    part = 0.0741 * math.sin(math.radians(30.0)) / math.sin(math.radians(60.0))
    turn = math.radians(60.0)
    rows = (
        (0.0, QUARTER, 0.2755),
        (0.41, math.pi, 0.0),
        (0.0, QUARTER, -0.0098),
        (0.0, turn, -(0.2073 + part)),
        (0.0, turn, -2.0 * part),
        (0.0, math.pi, -(part + 0.16)),
    )
    return dh_arm("curved_wrist", *rows)


ARMS = {
    "random0": lambda: random_arm(0),
    "random1": lambda: random_arm(1),
    "random2": lambda: random_arm(2),
    "curved_wrist": curved_wrist,
    "offset_wrist": lambda: two_link_wrist(0.15),
    "gen3_lite": lambda: lw.robots.load("gen3_lite"),
    "hc10": lambda: lw.robots.load("hc10"),
}


OFFSET_WRISTS = {"offset_wrist", "hc10"}


def planted(arm: lw.Mechanism, count: int, seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Angles at random, and their poses."""
    q = np.random.default_rng(seed).uniform(-math.pi, math.pi, (count, 6))
    return q, arm.forward_kinematics(q)


def recovered(solutions: lw.inverse_kinematics.Solutions, q: np.ndarray) -> np.ndarray:
    """Which planted angles (N, 6) are among the solutions of their pose."""
    away = np.remainder(solutions.q - q[:, None] + math.pi, 2.0 * math.pi) - math.pi
    return np.nanmin(np.where(np.isnan(away), np.inf, np.abs(away)).max(axis=-1), axis=-1) < 1e-5


@pytest.mark.parametrize("name", ARMS)
def test_planted_positions_are_found_and_what_is_complete_misses_none(name: str) -> None:
    arm = ARMS[name]()
    q, T = planted(arm, 1500)
    solutions = arm.all_inverse_kinematics(T, limits=False)
    hit = recovered(solutions, q)
    reached = arm.forward_kinematics(np.nan_to_num(solutions.q)) - T[:, None]
    residual = np.abs(reached[~np.isnan(solutions.q[..., 0])]).max()
    print(name, "missed", int((~hit).sum()), "complete", solutions.complete.mean(), "residual", residual)
    assert not (~hit & solutions.complete).any()
    assert hit.all()
    assert residual < 1e-9  # (the tolerance of a solution)
    assert solutions.count.max() <= 16
    assert solutions.complete.mean() > 0.998  # (0.9995 the least)


@pytest.mark.parametrize("name", sorted(OFFSET_WRISTS))
def test_offset_wrists_have_the_solutions_of_the_general_elimination(name: str) -> None:
    """The polynomial of degree 8 and the determinant of degree 16 share no step but the closing one."""
    arm = ARMS[name]()
    solver = elimination(arm)
    assert isinstance(solver, Elimination)
    assert solver.arm.offset_wrist is not None
    assert "degree 8" in solver.family
    _, T = planted(arm, 400, seed=11)
    displacements = np.linalg.inv(solver.chain.frame) @ T @ np.linalg.inv(solver.chain.home)
    placements = solver.arm.placements(displacements)
    general = solver.arm.formulations[0].solve(placements)
    seen, origin = displacements[:, :3].copy(), solver.arm.offset_wrist.origin
    seen[:, :, 3] = (seen[:, :, 3] + seen[:, :, :3] @ origin - origin) / solver.chain.size
    both_seen = np.stack([seen, placements[:, 5, :3]], axis=1)
    special = solve_offset_wrist(both_seen, placements[0, :5, :3], solver.arm.offset_wrist)
    both = general.proven & special.proven
    counts = [np.bincount(answers.pose, minlength=len(T)) for answers in (general, special)]
    print(name, "proven by both", both.mean())
    assert both.mean() > 0.6  # (0.7 and 0.78 of poses are proven by the determinant)
    assert np.array_equal(counts[0][both], counts[1][both])
    assert not (counts[1][special.proven] % 2).any()  # (two shoulders)


def test_an_offset_wrist_with_two_roots_near_to_each_other() -> None:
    """Roots 4e-4 apart are known to 1e-9 only: their solutions are closed in more than one step, and none is lost."""
    arm = lw.robots.load("hc10")
    q = np.array([-1.0975917025, 2.5143135415, 1.5496942570, -1.1325208128, 0.6477786039, -0.4859388864])
    found = arm.all_inverse_kinematics(arm.forward_kinematics(q), limits=False)
    away = np.remainder(found.q - q + np.pi, 2.0 * np.pi) - np.pi
    assert np.abs(away).max(axis=1).min() < 1e-6
    assert len(found) == 12
    assert found.complete


def test_an_offset_wrist_with_its_tool_straight_down() -> None:
    """Axis 6 is parallel to axis 1 there, and roots are double: nothing is missing beside the poses next to it."""
    arm = two_link_wrist(0.15)
    _, T = planted(arm, 150)
    T[:, :3, :3] = np.diag([1.0, -1.0, -1.0])
    T[:, :3, 3] *= 0.6
    down = arm.all_inverse_kinematics(T, limits=False)
    T[:, :3, 3] += 1e-7 * np.random.default_rng(1).normal(size=(150, 3))
    T[:, :3, :3] = T[:, :3, :3] @ np.array([[1.0, 0.0, 1e-7], [0.0, 1.0, 0.0], [-1e-7, 0.0, 1.0]])
    beside = arm.all_inverse_kinematics(T, limits=False)
    print("complete", down.complete.mean(), "counts differ", (down.count != beside.count).sum())
    assert (down.count != beside.count).sum() <= 1  # (6 of 3,000, on the boundary of the reach)
    assert not ((down.count != beside.count) & down.complete & beside.complete).any()


def test_a_stretched_offset_wrist_is_not_out_of_reach_for_a_rounded_pose() -> None:
    arm = lw.robots.load("hc10")
    q = [0.0, 2.3662041050142406, 0.0, -1.704118641095352, 0.0, 0.5922349415293491]
    solutions = arm.all_inverse_kinematics(arm.forward_kinematics(q).round(10))
    assert not solutions.unreachable
    assert len(solutions) == 2  # (of both shoulders, within the tolerance of 1e-9)


def test_what_is_no_offset_wrist() -> None:
    """An offset of the shoulder, or an elbow whose axes miss each other, is another class."""
    quarter = QUARTER
    rows = [[0.0, -quarter, 0.0], [0.54, 0.0, 0.0], [0.0, -quarter, 0.0], [0.0, quarter, 0.54], [0.0, -quarter, 0.15]]
    for row, column, value in ((1, 2, 0.006), (2, 0, 0.05), (0, 0, 0.1), (0, 1, 1.5)):
        changed = [list(r) for r in rows] + [[0.0, 0.0, 0.16]]
        changed[row][column] = value
        chain, _ = chain_of(dh_arm("other", *changed))
        assert chain is not None
        assert offset_wrist(chain) is None
    chain, _ = chain_of(two_link_wrist(0.15))
    assert chain is not None
    assert offset_wrist(chain) is not None


def test_neighbours_near_a_fold_are_listed_once() -> None:
    """Two solutions 5e-4 rad apart, and their mirror images: Newton's method from many starts ends between them."""
    arm = two_link_wrist(0.15)
    q = np.random.default_rng(0).uniform(-math.pi, math.pi, (47_682, 6))[-1]
    solutions = arm.all_inverse_kinematics(arm.forward_kinematics(q), limits=False)
    away = np.abs(np.remainder(solutions.q[:, None] - solutions.q + math.pi, 2.0 * math.pi) - math.pi).max(axis=-1)
    pairs = away[np.triu_indices(len(solutions), 1)]
    print("count", len(solutions), "complete", solutions.complete, "nearest", np.sort(pairs)[:3])
    assert np.abs(np.remainder(solutions.q - q + math.pi, 2.0 * math.pi) - math.pi).max(axis=1).min() < 1e-5
    assert len(solutions) == 12
    assert (pairs < 1e-3).sum() == 2  # (two true pairs, neither merged)
    assert pairs.min() > 4e-4


def test_solutions_of_a_pose_differ() -> None:
    arm = curved_wrist()
    _, T = planted(arm, 300)
    for rows in arm.all_inverse_kinematics(T, limits=False):
        turns = np.concatenate([np.cos(rows), np.sin(rows)], axis=1)
        gaps = np.linalg.norm(turns[:, None] - turns[None], axis=-1) + 10.0 * np.eye(len(rows))
        assert gaps.min(initial=1.0) > 1e-6


@pytest.mark.parametrize("name", ["puma560", "ur5", "kr16"])
def test_sets_equal_those_of_closed_forms(name: str) -> None:
    arm = lw.robots.load(name)
    q, T = planted(arm, 300)
    other = arm.all_inverse_kinematics(T, limits=False, method="closed_form")
    solutions = arm.all_inverse_kinematics(T, limits=False, method="elimination")
    short = other.count - solutions.count
    print(name, "poses with fewer than the closed form", int((short > 0).sum()), "with more", int((short < 0).sum()))
    assert recovered(solutions, q).all()
    assert not (short > 0).any()
    assert not (solutions.complete & (short > 0)).any()


def test_the_sets_of_many_starts_are_within() -> None:
    arm = lw.robots.load("gen3_lite")
    _, T = planted(arm, 12)
    solutions = arm.all_inverse_kinematics(T, limits=False)
    sampled = arm.all_inverse_kinematics(T, limits=False, method="numeric", starts=300)
    for rows, some, complete in zip(solutions, sampled, solutions.complete, strict=True):
        assert not complete or len(some) <= len(rows)
        for q in some:
            away = np.abs(np.remainder(rows - q + math.pi, 2.0 * math.pi) - math.pi).max(axis=1)
            assert away.min() < 1e-5


def test_a_pose_out_of_reach_has_provably_no_solution() -> None:
    arm = random_arm(0)
    _, T = planted(arm, 40)
    for factor, share in (
        (1e3, 1.0),
        (3.0, 0.9),
    ):  # (beyond the sum of all lengths; within it, where rounding lets it be proven)
        far = T.copy()
        far[:, :3, 3] *= factor
        solutions = arm.all_inverse_kinematics(far, limits=False)
        print(factor, solutions.count.sum(), solutions.complete.mean())
        assert solutions.complete.mean() >= share
        assert not solutions.count[solutions.complete & (np.linalg.norm(far[:, :3, 3], axis=1) > 3.0)].any()


def test_a_batch_is_a_loop() -> None:
    arm = lw.robots.load("gen3_lite")
    _, T = planted(arm, 30)
    solutions = arm.all_inverse_kinematics(T, limits=False)
    for pose, rows in zip(T, solutions, strict=True):
        assert np.array_equal(arm.all_inverse_kinematics(pose, limits=False).q, rows)


def test_limits_and_start() -> None:
    arm = lw.robots.load("gen3_lite")
    q = np.random.default_rng(1).uniform(arm.q_min, arm.q_max, (200, 6))
    solutions = arm.all_inverse_kinematics(arm.forward_kinematics(q), q0=q)
    for rows, near in zip(solutions, q, strict=True):
        assert ((rows >= arm.q_min) & (rows <= arm.q_max)).all()
        distances = np.linalg.norm(rows - near, axis=1)
        assert (np.diff(distances) >= 0.0).all()
    first = np.array([rows[0] if len(rows) else np.full(6, np.nan) for rows in solutions])
    assert (np.abs(first - q).max(axis=1) < 1e-6).all()


def test_shapes_of_batches() -> None:
    arm = random_arm(1)
    _, T = planted(arm, 6)
    solutions = arm.all_inverse_kinematics(T.reshape(2, 3, 4, 4))
    assert solutions.count.shape == solutions.complete.shape == (2, 3)
    assert arm.all_inverse_kinematics(T[:0]).count.shape == (0,)
    assert arm.all_inverse_kinematics(T[0], q0=np.zeros((5, 6))).count.shape == (5,)


def test_a_pose_in_single_precision_is_brought_to_the_nearest_rotation() -> None:
    arm = random_arm(1)
    _, T = planted(arm, 6)
    single = T.astype(np.float32)
    exact, rounded = arm.all_inverse_kinematics(T), arm.all_inverse_kinematics(single)
    assert rounded.complete.tolist() == exact.complete.tolist()
    assert rounded.count.tolist() == exact.count.tolist()
    assert min(rounded.count) > 0
    for pose, rows in zip(single, rounded, strict=True):
        assert np.abs(arm.forward_kinematics(rows) - pose).max() < 2e-7  # (single precision of numbers up to 2)
        assert np.array_equal(arm.all_inverse_kinematics(pose).q, rows)


def test_an_arm_of_any_axes_and_units() -> None:
    """Scaled lengths scale the positions only: angles stay."""
    small = random_arm(2)
    rng = np.random.default_rng(2)
    rows = [(rng.uniform(-0.5, 0.5), rng.uniform(-math.pi, math.pi), rng.uniform(-0.5, 0.5)) for _ in range(6)]
    large = dh_arm("large", *[(1e3 * a, alpha, 1e3 * d) for a, alpha, d in rows])
    q, T = planted(small, 50)
    counts = small.all_inverse_kinematics(T).count
    scaled = large.all_inverse_kinematics(large.forward_kinematics(q))
    assert np.array_equal(scaled.count, counts)


def test_the_determinant_has_degree_eight() -> None:
    arm = random_arm(0)
    solver = elimination(arm)
    assert isinstance(solver, Elimination)
    _, T = planted(arm, 20)
    placements = solver.arm.placements_of(T)
    c, error = kernels()["coefficients"](solver.arm.formulations[0].samples(placements))
    assert c.shape == (20, DEGREE + 1, 2)
    assert roots_of(c).shape == (20, 16, 2)
    print("orders beyond", error.max())
    assert error.max() < 1e-12  # (rounding of determinants of 12 rows)


def test_refusals() -> None:
    with pytest.raises(ArgumentError, match="elimination"):
        lw.robots.panda().all_inverse_kinematics(np.eye(4), method="elimination")
    with pytest.raises(NoClosedFormError):
        lw.robots.load("gen3_lite").all_inverse_kinematics(np.eye(4), method="closed_form")
    with pytest.raises(NoClosedFormError):
        lw.robots.panda().all_inverse_kinematics(np.eye(4))
    with pytest.raises(ArgumentError, match="mask"):
        random_arm(0).all_inverse_kinematics(np.eye(4), mask=[1, 1, 1, 0, 0, 0])
    with pytest.raises(ArgumentError, match="T"):
        random_arm(0).all_inverse_kinematics(np.eye(3))
    assert not closed_form(random_arm(0)).exists
    coaxial = lw.Mechanism([lw.Link(axis=[0, 0, 1]), lw.Link(axis=[0, 0, 1]), *lw.robots.puma560().links[:4]])
    with pytest.raises(NoClosedFormError, match="not independent"):
        coaxial.all_inverse_kinematics(np.eye(4))


def test_a_row_moved_onto_a_limit_is_confirmed_where_it_was_moved_to() -> None:
    """Limits a little less than the tolerance inside of a solution: what is given back reaches the pose within it."""
    arm = lw.robots.load("hc10")
    q = np.array([0.4, -0.5, 0.9, 0.3, 1.1, 0.2])
    T = arm.forward_kinematics(q)
    inside = [link.replace(limits=(-3.0, x - 0.9e-9)) for link, x in zip(arm.links, q, strict=True)]
    solutions = arm.replace(links=inside).all_inverse_kinematics(T, method="elimination")
    errors = np.abs(arm.forward_kinematics(solutions.q) - T).max(axis=(1, 2))
    print(len(solutions), errors)
    assert (errors <= 1e-9).all()


def test_the_explanation_names_the_degree() -> None:
    assert "degree 8." in lw.robots.load("hc10").explain_solver()
    assert "degree 16." in lw.robots.load("gen3_lite").explain_solver()
