"""What is called solved holds, by a check that shares nothing with the solver; limits are never crossed; a batch equals a
loop; equal seeds give equal results. For random mechanisms and random constraints that some configuration fulfils."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from linkwise import Mechanism, robots
from linkwise.solve import Solution, solve
from linkwise.solve.constraints import Aligned, Closed, Constraint, Coordinate, LookAt, Pose, Position
from support.constraint_residuals import KINDS, PAIRED, held, lacking
from support.random_mechanisms import afloat, coupled, numpy_call, random_mechanism, random_state

TOL = 1e-9
ROUNDING = 1e-13
"""Between two computations of an error, for lengths of a few m."""

RANDOM = (0, 1, 2, 3, 5, 6)


@cache
def task(seed: int) -> tuple[Mechanism, list[Constraint], np.ndarray]:
    """A mechanism with joint limits, one to three constraints, and a configuration within the limits that fulfils them."""
    rng = np.random.default_rng([seed, 31])
    mech = random_mechanism(seed + 500)
    mech = coupled(mech, seed) if seed % 4 == 1 else mech
    joints = random_state(mech, seed)[0]
    links = list(mech.links)
    for k, link in enumerate(links):
        if link.moves and not link.mimic and rng.random() < 0.7:
            value = joints[mech.coordinates[k]]
            low, high = rng.uniform(0.0, 2.5, 2) * (rng.random(2) < 0.9)  # (some stand at their limit)
            links[k] = link.replace(limits=(value - low, value + high), dh_row=link.dh_row)
    mech = mech.replace(links=links)
    q = joints
    if seed % 4 == 2:
        mech = afloat(mech, seed)
        q = np.concatenate([random_state(mech, seed)[0][:7], joints])
    kinds = [kind for kind in KINDS if (mech.n > 1 or kind not in PAIRED) and not (mech.floating and "base" in kind)]
    chosen = rng.choice(kinds, rng.integers(1, 4), replace=False)
    return mech, [held(mech, str(kind), q, rng) for kind in chosen], q


def inside(mech: Mechanism, q: np.ndarray) -> bool:
    joints = q[..., mech.nq - mech.n :]
    return bool(((joints >= mech.q_min) & (joints <= mech.q_max)).all())


def told_truly(mech: Mechanism, constraints: list[Constraint], found: Solution) -> None:
    """The errors of one answer are those of plain NumPy, and so is its success."""
    pairs = np.array([lacking(mech, constraint, found.q) for constraint in constraints])
    distance, angle = np.linalg.norm(pairs, axis=0)
    assert abs(found.position_error - distance) < ROUNDING * max(1.0, distance)
    # of a whole turn the cosine is known to 1e-8 only near half a turn
    assert abs(found.rotation_error - angle) < (1e-12 if angle < 3.0 else 2e-4)
    if found.success:
        assert max(distance, angle) <= TOL + ROUNDING


@pytest.mark.parametrize("seed", RANDOM)
def test_what_some_configuration_fulfils_is_found_and_holds(seed: int) -> None:
    mech, constraints, q = task(seed)
    assert max(max(lacking(mech, constraint, q)) for constraint in constraints) < ROUNDING
    found = solve(mech, constraints, tol=TOL)
    assert inside(mech, found.q)
    told_truly(mech, constraints, found)
    near = solve(mech, constraints, q0=numpy_call(mech, "integrate", q, np.full(mech.nv, 1e-3), 1.0), tol=TOL)
    assert inside(mech, near.q)
    told_truly(mech, constraints, near)
    assert near.success  # (a solution is a thousandth away)
    assert found.success  # (a hundred starts; what is fulfilled somewhere is seldom missed, and not here)


@pytest.mark.parametrize("seed", RANDOM[1:3])
def test_equal_seeds_give_equal_results(seed: int) -> None:
    mech, constraints, _ = task(seed)
    first, second = (solve(mech, constraints, seed=seed) for _ in range(2))
    assert np.array_equal(first.q, second.q)
    assert first.iterations == second.iterations
    again = solve(mech.replace(name="again"), constraints, seed=seed)
    assert np.array_equal(first.q, again.q)


@cache
def many() -> tuple[Mechanism, np.ndarray, np.ndarray]:
    """The bundled arm, positions (60, 3), and directions (60, 3) of an axis of its tool that it reaches; but each seventh
    position is far away."""
    arm = robots.puma560()
    T = arm.forward_kinematics(np.random.default_rng(37).uniform(arm.q_min, arm.q_max, (60, 6)))
    points = T[:, :3, 3].copy()
    points[::7] *= 3.0
    return arm, points, T[:, :3, :3] @ AXIS


AXIS = np.array([0.0, 0.6, 0.8])
FAR = np.arange(60) % 7 == 0


def there(rows: slice | int = slice(None)) -> list[Constraint]:
    _, points, directions = many()
    return [Position("tool", points[rows]), Aligned("tool", AXIS, directions[rows])]


@pytest.mark.parametrize("limits", [True, False])
def test_a_batch_is_a_loop_bit_for_bit(limits: bool) -> None:
    arm = many()[0]
    q0 = np.random.default_rng(41).uniform(-1, 1, (60, 6))
    whole = solve(arm, there(), q0=q0, limits=limits)
    assert np.array_equal(whole.success, ~FAR)
    for k in range(0, 60, 4 if limits else 11):
        one = solve(arm, there(k), q0=q0[k], limits=limits)
        assert np.array_equal(one.q, whole.q[k])
        assert (one.success, one.reason, one.iterations) == (whole.success[k], whole.reason[k], whole.iterations[k])
        assert (one.position_error, one.rotation_error) == (whole.position_error[k], whole.rotation_error[k])
    half = solve(arm, there(slice(31, None)), q0=q0[31:], limits=limits)
    assert np.array_equal(half.q, whole.q[31:])


def test_no_answer_crosses_the_limits_and_none_claims_what_is_not() -> None:
    arm, points, _ = many()
    found = solve(arm, there())
    assert inside(arm, found.q)
    assert (found.reason[~found.success] != "converged").all()
    assert (found.reason[found.success] == "converged").all()
    T = arm.forward_kinematics(found.q)
    distance = np.linalg.norm(T[:, :3, 3] - points, axis=1)
    assert np.abs(distance - found.position_error).max() < ROUNDING
    assert (distance[found.success] <= TOL + ROUNDING).all()
    assert (distance[~found.success] > 0.1).all()


def test_batches_of_numbers_broadcast() -> None:
    arm, points, _ = many()
    eye, target = points[1:4, None], np.random.default_rng(1).uniform(-1, 1, (4, 3))
    found = solve(arm, [Position("tool", eye), LookAt("tool", target)], limits=False)
    assert found.q.shape == (3, 4, 6)
    assert found.success.all()
    T = arm.forward_kinematics(found.q)
    sight = target - T[..., :3, 3]
    ahead = np.einsum("...i,...i", T[..., :3, 2], sight) / np.linalg.norm(sight, axis=-1)
    assert np.abs(ahead - 1.0).max() < 1e-15 * 10
    empty = solve(arm, [Position("tool", np.zeros((0, 3))), LookAt("tool", [1.0, 0, 0])])
    assert empty.q.shape == (0, 6)
    assert empty.success.shape == (0,)


@pytest.mark.parametrize(
    "constraints",
    [
        [Coordinate(0, 0.5), Coordinate(0, 0.6)],
        [Aligned("tool", [0, 0, 1], [0, 0, 1]), Aligned("tool", [0, 0, 1], [0, 0, -1])],
    ],
    ids=["values", "directions"],
)
def test_what_contradicts_itself_is_never_solved(constraints: list[Constraint]) -> None:
    arm = many()[0]
    found = solve(arm, constraints, tol=1e-9)
    assert not found.success
    assert found.reason != "converged"
    assert inside(arm, found.q)
    told_truly(arm, constraints, found)


def test_half_a_turn_away_is_a_start_like_any_other() -> None:
    arm = robots.puma560()
    T = arm.forward_kinematics(np.zeros(6))
    for flip in (np.diag([1.0, -1, -1]), np.diag([-1.0, 1, -1]), np.diag([-1.0, -1, 1])):
        wanted = T.copy()
        wanted[:3, :3] = T[:3, :3] @ flip
        wanted[:3, 3] = [0.3, 0.2, 0.5]
        for constraint in (Pose("tool", wanted), Aligned("tool", [0, 0, 1], wanted[:3, 2])):
            found = solve(arm, constraint, q0=np.zeros(6), limits=False)
            assert found.success
            told_truly(arm, [constraint], found)


@pytest.mark.parametrize("name", ["slider_crank", "jansen"])
def test_the_loops_of_a_mechanism_are_closed_unasked(name: str) -> None:
    mech = getattr(robots, name)()
    crank = np.linspace(-3.0, 3.0, 7)
    start = solve(mech, Coordinate(0, 0.3))
    assert start.success
    found = solve(mech, Coordinate(0, 0.3 + 0.01 * crank), q0=start.q)
    assert found.success.all()
    assert np.abs(found.q[:, 0] - 0.3 - 0.01 * crank).max() <= TOL
    assert np.abs(mech.kernel("closure")(found.q)).max() <= TOL
    assert (mech.kernel("closure_facing")(found.q) > 0.0).all()
    assert np.abs(found.q - start.q).max() < 1.0  # (the same way of assembly)
    for asked in (range(len(mech.loops)), [str(loop.name) for loop in mech.loops], mech.loops):
        named = solve(mech, [Coordinate(0, 0.3), *(Closed(loop) for loop in asked)])
        assert np.array_equal(named.q, start.q)
        assert (named.position_error, named.rotation_error) == (start.position_error, start.rotation_error)
