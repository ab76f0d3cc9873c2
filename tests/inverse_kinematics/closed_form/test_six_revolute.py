"""Six revolute joints of each family: every answer is one by a forward pass of the test's own, the position that a pose was
made of is among them, singular or not, and poses out of reach have none."""

from __future__ import annotations

import numpy as np
import pytest

from linkwise import Mechanism, robots
from linkwise.inverse_kinematics.closed_form import ClosedForm, closed_form
from linkwise.inverse_kinematics.closed_form.decomposition import recognised
from linkwise.inverse_kinematics.closed_form.program import SEARCH, ClosedFormProgram
from linkwise.kernel import Kernel
from support.axis_arms import Arm, X, Y, Z, apart, arm, branches, in_plane, loose, meeting, run
from support.random_mechanisms import random_pose

COUNT = 200

ANSWER = 1e-9
"""m and rad: the tolerance of an answer."""

ROUNDING = 1e-12
"""What is asked of arms that need no polynomial: a few hundred roundings of lengths up to 5 m."""

FOUND = 1e-6
"""Near a double root, where two answers become one, angles are known to half the digits only."""


def _triple(kind: str, first: int, rng: np.random.Generator) -> Arm:
    """Three neighbours that meet in a point or are parallel, the others anywhere."""
    axes = loose("RRRRRR", rng)
    axes[first : first + 3] = meeting(3, rng) if kind == "meet" else in_plane("RRR", rng)
    return arm(axes, rng)


def _special(name: str, rng: np.random.Generator) -> Arm:
    """Three that meet, or are parallel, with more about the others that makes their equations separate."""
    wrist = meeting(3, rng)
    a, b, c = loose("RRR", rng)
    across = np.cross(a[1], b[1])
    axes = {
        "1 and 2 meet": [*meeting(2, rng), c, *wrist],
        "2 and 3 meet": [a, *meeting(2, rng), *wrist],
        "1 and 2 parallel": [a, ("R", -a[1], b[2]), c, *wrist],
        "2 and 3 parallel": [a, b, ("R", b[1], c[2]), *wrist],
        "first two of the arm in a plane": [("R", Z, 0 * Z), ("R", Y, 0.2 * X), ("R", Y, Z), *wrist],
        "spherical shoulder, elbow": [*wrist, a, ("R", -a[1], b[2]), c],
        "inside, last two meet": [a, *wrist, *meeting(2, rng)],
        "inside, last two parallel": [a, *wrist, b, ("R", b[1], c[2])],
        "parallel, last two meet": [a, *in_plane("RRR", rng), *meeting(2, rng)],
        "parallel, last two parallel": [a, *in_plane("RRR", rng), b, ("R", -b[1], c[2])],
        "parallel last, 2 and 3 meet": [a, *meeting(2, rng), *in_plane("RRR", rng)],
        "parallel last, 2 and 3 parallel": [a, b, ("R", b[1], c[2]), *in_plane("RRR", rng)],
        "parallel first, 4 and 5 meet": [*in_plane("RRR", rng), *meeting(2, rng), c],
        "right angles": [("R", Z, 0 * Z), *in_plane("RRR", rng, Y), ("R", Z, X + 0.3 * Y), ("R", Y, X - Z)],
        "skew wrist": [a, b, ("R", b[1], c[2]), ("R", across / np.linalg.norm(across), wrist[0][2]), *wrist[1:]],
    }[name]
    return arm(axes, rng)


SPECIAL = (
    "1 and 2 meet",
    "2 and 3 meet",
    "1 and 2 parallel",
    "2 and 3 parallel",
    "first two of the arm in a plane",
    "spherical shoulder, elbow",
    "inside, last two meet",
    "inside, last two parallel",
    "parallel, last two meet",
    "parallel, last two parallel",
    "parallel last, 2 and 3 meet",
    "parallel last, 2 and 3 parallel",
    "parallel first, 4 and 5 meet",
    "right angles",
    "skew wrist",
)


def _raw(made: Arm, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, bool]:
    """Branches as they come for the poses of q, how far each is from its pose, and whether they want refining."""
    chain, family, why = recognised(made.mech)
    assert family is not None, why
    assert chain is not None
    found = branches(made.mech, (chain, family), made.forward(q), q)
    return found, np.abs(made.forward(found) - made.forward(q)[:, None]).max(axis=(-1, -2)), family.refine


@pytest.mark.parametrize("first", [0, 1, 2, 3])
@pytest.mark.parametrize("kind", ["meet", "parallel"])
def test_three_axes_anywhere_in_the_chain(kind: str, first: int) -> None:
    made = _triple(kind, first, np.random.default_rng(10 * first + len(kind)))
    q = np.random.default_rng(1).uniform(-3, 3, (COUNT, 6))
    found, miss, refine = _raw(made, q)
    assert refine
    assert apart(found, q, made.axes).max() < 1e-4
    near = miss < 1e-5
    assert near.any(axis=1).all()
    assert (near.sum(axis=1) % 2 == 0).mean() > 0.97  # (answers come in pairs, but for the polynomial's near misses)


@pytest.mark.parametrize("name", SPECIAL)
def test_special_positions_need_no_polynomial(name: str) -> None:
    made = _special(name, np.random.default_rng(3))
    q = np.random.default_rng(1).uniform(-3, 3, (COUNT, 6))
    found, miss, refine = _raw(made, q)
    assert not refine
    assert apart(found, q, made.axes).max() < FOUND
    exact = miss < ROUNDING
    assert exact.any(axis=1).all()
    assert not ((miss > ROUNDING) & (miss < 1e-6)).any()  # (what is no answer is far from one)


@pytest.fixture(scope="module", params=["spherical", "parallel"])
def general(request: pytest.FixtureRequest) -> tuple[Arm, Kernel]:
    kind, first = {"spherical": ("meet", 3), "parallel": ("parallel", 1)}[request.param]
    made = _triple(kind, first, np.random.default_rng(2))
    chain, family, _ = recognised(made.mech)
    assert chain is not None
    assert family is not None
    return made, ClosedFormProgram(made.mech, "tool", chain, family).kernel("numpy")


def _singular(mech: Mechanism, count: int, seed: int = 0) -> np.ndarray:
    """Positions (k, 6) in which the Jacobian lacks rank, to rounding: by bisection of its determinant along lines."""
    rng = np.random.default_rng(seed)
    start, way = rng.uniform(-3, 3, (count, 6)), rng.normal(size=(count, 6))

    def sign(t: np.ndarray) -> np.ndarray:
        return np.sign(np.linalg.det(mech.jacobian(start + t[:, None] * way)))

    low, high = np.zeros(count), np.ones(count)
    first = sign(low)
    start, way, low, high, first = (v[sign(high) != first] for v in (start, way, low, high, first))
    for _ in range(60):
        middle = 0.5 * (low + high)
        same = sign(middle) == first
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return start + low[:, None] * way


def test_general_arms_refined(general: tuple[Arm, Kernel]) -> None:
    made, kernel = general
    q = np.random.default_rng(4).uniform(-3, 3, (500, 6))
    poses = made.forward(q)
    found, count = run(kernel, poses, np.zeros(6), ANSWER)
    assert apart(found, q, made.axes).max() < FOUND
    missed = np.abs(made.forward(found) - poses[:, None]).max(axis=(-1, -2))
    assert np.nanmax(missed) < ANSWER
    assert np.nanquantile(missed, 0.99) < ROUNDING
    assert (count % 2 == 0).mean() > 0.99


def test_general_arms_in_singular_positions(general: tuple[Arm, Kernel]) -> None:
    made, kernel = general
    q = _singular(made.mech, 1000)
    assert len(q) > 300
    poses = made.forward(q)
    found, count = run(kernel, poses, np.zeros(6), ANSWER)
    assert count.all()
    assert np.abs(made.forward(found[:, 0]) - poses).max() < ANSWER


@pytest.fixture(scope="module", params=["puma560", "ur5", "elbow"])
def known(request: pytest.FixtureRequest) -> tuple[Mechanism, ClosedForm]:
    rng = np.random.default_rng(5)
    mech = getattr(robots, request.param)().replace(base=random_pose(rng)).with_tool(random_pose(rng))
    return mech, closed_form(mech)


@pytest.mark.parametrize("straight", [(), (4,), (2,), (2, 4), (0, 2, 4), (1, 3), (3, 5), (0, 1, 2, 3, 4, 5)])
def test_known_arms_singular_or_not(known: tuple[Mechanism, ClosedForm], straight: tuple[int, ...]) -> None:
    """Joint 5 straight is the wrist's singular position of both; joint 3 straight the elbow's."""
    mech, form = known
    low, high = np.clip(np.column_stack([mech.q_min, mech.q_max]).T, -3, 3)
    q = np.random.default_rng(6).uniform(low, high, (1000, 6))
    q[:, list(straight)] = 0.0
    if mech.name == "puma560" and 2 in straight:
        q[:, 2] = -np.arctan2(0.4318, 0.0203)  # (the wrist lies beside the forearm)
    poses = mech.forward_kinematics(q)
    answer, found, *errors = form.nearest(poses)
    assert found.all()
    assert np.max(errors) < ROUNDING
    assert np.abs(mech.forward_kinematics(answer) - poses).max() < ROUNDING
    assert ((answer >= mech.q_min) & (answer <= mech.q_max)).all()
    everything = form.all(poses)
    reached = mech.forward_kinematics(np.nan_to_num(everything.q))[~np.isnan(everything.q[..., 0])]
    assert np.abs(reached - np.repeat(poses, everything.count, axis=0)).max() < ROUNDING


def test_singular_positions_by_the_determinant(known: tuple[Mechanism, ClosedForm]) -> None:
    mech, form = known
    q = _singular(mech, 2000, seed=8)
    assert len(q) > 300
    _, found, *errors = form.nearest(mech.forward_kinematics(q), limits=False)
    assert found.all()
    assert np.max(errors) < ROUNDING


def test_out_of_reach_has_no_answer(known: tuple[Mechanism, ClosedForm]) -> None:
    mech, form = known
    poses = mech.forward_kinematics(np.random.default_rng(7).uniform(-3, 3, (100, 6)))
    poses[:, :3, 3] += 10.0 * mech.base[:3, 2]  # (no arm here is longer than 5 m)
    found = form.all(poses, limits=False)
    assert not found.count.any()
    assert np.isnan(found.q).all()
    _, reached, position, _ = form.nearest(poses, limits=False)
    assert not reached.any()
    assert position.min() > 0.1


def test_nearly_special_arms_are_refined() -> None:
    """Right angles written as 1.5708 leave axes not quite parallel, and not quite meeting."""
    mech = robots.smart()
    chain, family, _ = recognised(mech)
    assert chain is not None
    assert family is not None
    assert family.name == "the axes of joints 4, 5 and 6 meet in a point"
    kernel = ClosedFormProgram(mech, "tool", chain, family).kernel("numpy")
    q = np.random.default_rng(8).uniform(-3, 3, (300, 6))
    poses = mech.forward_kinematics(q)
    found, count = run(kernel, poses, q, ANSWER)
    assert count.all()
    assert apart(found, q, [("R", Z, Z)] * 6).max() < FOUND
    missed = np.abs(mech.forward_kinematics(np.nan_to_num(found)) - poses[:, None]).max(axis=(-1, -2))
    assert missed[~np.isnan(found[..., 0])].max() < ANSWER
    # Near a wrist in line several branches of the special arm are one, or none, where this arm has two.
    q[:, 4] = np.random.default_rng(9).normal(scale=1e-4, size=300)
    bounds = np.array([*[-np.inf] * 6, *[np.inf] * 6, ANSWER, np.nan])
    with np.errstate(all="ignore"):
        found, _, _, errors = kernel.ufunc(mech.forward_kinematics(q).reshape(-1, 16), q, bounds)
    lost = apart(found, q, [("R", Z, Z)] * 6) > 1e-3
    assert lost.sum() > 3
    assert (errors[lost, 3] >= SEARCH).all()


def test_a_wrist_in_line_is_one_answer_and_stays_at_the_start() -> None:
    """With joint 5 at zero joints 4 and 6 turn against each other: of both signs of the wrist only one is given."""
    mech = robots.puma560()
    rng = np.random.default_rng(8)
    for _ in range(20):
        q = rng.uniform(mech.q_min, mech.q_max)
        q[4] = 0.0
        found = mech.all_inverse_kinematics(mech.forward_kinematics(q), q0=q)
        assert np.abs(found[0] - q).max() < 1e-6
        in_line = found[np.abs(found[:, 4]) < 1e-6]
        assert all(np.abs(a[:3] - b[:3]).max() > 1e-3 for k, a in enumerate(in_line) for b in in_line[:k])
