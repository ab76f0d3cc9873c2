"""The reduction to moving bodies: same motion, same efforts, same energy, from fewer numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkwise import Mechanism, robots
from linkwise.dynamics.inverse_dynamics import recursion
from linkwise.kernel import cache
from linkwise.kinematics.forward_kinematics import body_poses
from linkwise.model.body import Bodies, _regrouped_one_by_one, _regrouped_turning, moving_bodies
from support.random_mechanisms import mechanisms, random_mechanism, random_pose, random_state, relative


def floats(values: np.ndarray) -> np.ndarray:
    return np.asarray(values, dtype=object)


def efforts(mech: Mechanism, bodies: Bodies, state: tuple[np.ndarray, ...]) -> np.ndarray:
    return np.asarray(recursion(mech, bodies, *map(floats, state)), dtype=float)


@given(mechanisms())
def test_one_body_for_each_coordinate(mech: Mechanism) -> None:
    made = moving_bodies(mech)
    assert sorted(body.speed for body in made.bodies) == list(range(mech.n))
    assert all(body.parent < k for k, body in enumerate(made.bodies))
    for k in range(len(made.bodies)):
        path = made.path(k)
        assert path[-1] == k
        assert made.bodies[path[0]].parent == -1
    assert len(made.frames) == len(mech.links)


@given(mechanisms(), st.integers(0, 1000))
def test_frames_ride_on_their_bodies(mech: Mechanism, seed: int) -> None:
    made = moving_bodies(mech)
    q, _, _ = random_state(mech, seed)
    poses = body_poses(made, floats(q))
    found = np.array([np.asarray(poses[body] @ t, dtype=float) for body, t in made.frames])
    wanted: dict[int, np.ndarray] = {-1: np.asarray(mech.base)}
    for k in mech.order:
        own = q[mech.coordinates[k]] if mech.links[k].moves else 0.0
        wanted[k] = wanted[mech.parents[k]] @ mech.links[k].placement(own)
    error = np.abs(found - [wanted[k] for k in range(len(mech.links))]).max()
    print(f"{error:.1e}")
    assert error <= 2e-14  # some forty roundings of numbers near 1


@given(mechanisms())
def test_mass_is_kept(mech: Mechanism) -> None:
    """What moves with a body weighs what its links weigh; links on the ground do not count."""
    made = moving_bodies(mech)
    total = sum(link.body.mass for link, (body, _) in zip(mech.links, made.frames, strict=True) if body >= 0)
    assert sum(body.inertia[3, 3] for body in made.bodies) == pytest.approx(total, rel=1e-13, abs=1e-300)


@given(mechanisms(), st.integers(0, 1000))
def test_regrouping_changes_no_effort(mech: Mechanism, seed: int) -> None:
    made = moving_bodies(mech)
    state = random_state(mech, seed)
    error = relative(efforts(mech, made.regrouped(), state), efforts(mech, made, state))
    print(f"{error:.1e}")
    # What is moved is added to numbers of the same size; seen: 4e-16.
    assert error <= 5e-14


@given(mechanisms())
def test_regrouping_twice_changes_nothing_more(mech: Mechanism) -> None:
    """To rounding: what was left with a body is what only it can show."""
    once = moving_bodies(mech).regrouped()
    twice = once.regrouped()
    for a, b in zip(once.bodies, twice.bodies, strict=True):
        assert np.abs(a.inertia - b.inertia).max() <= 1e-12


@given(mechanisms(kinds=("revolute", "prismatic")))
def test_regrouped_bodies_have_few_numbers(mech: Mechanism) -> None:
    """A turning body is left without mass, height and z-moment; a sliding one with its mass and first moments alone."""
    for body in moving_bodies(mech).regrouped().bodies:
        if body.turn:
            assert not body.inertia[2:, 2:].any()
        else:
            assert not body.inertia[:3, :3].any()


def test_right_angles_leave_no_rounding() -> None:
    """A table of right angles gives placements of exact zeros and ones, so that products with them vanish."""
    for name in ("puma560", "stanford", "panda", "ur5"):
        for body in moving_bodies(robots.load(name)).bodies:
            rotation = body.placement[:3, :3]
            assert np.isin(rotation, (-1.0, 0.0, 1.0)).all(), name


@pytest.mark.parametrize("seed", range(5))
def test_the_form_of_description_costs_nothing(seed: int) -> None:
    """Frames laid anyhow (general form) take no more operations than a modified DH table of the same chain."""
    rng = np.random.default_rng(seed)
    kinds = ["revolute"] * 4
    chain = random_mechanism(seed, kinds, range(-1, 3), ["modified"] * 4, motors=False)
    turned = []
    back = np.eye(4)
    for link in chain.links:
        shift = random_pose(rng)
        turned.append(
            link.replace(
                before=np.linalg.inv(back) @ link.before, after=link.after @ shift,
                com=np.linalg.inv(shift)[:3, :3] @ link.body.com + np.linalg.inv(shift)[:3, 3],
                inertia=shift[:3, :3].T @ link.body.tensor @ shift[:3, :3],
            )
        )  # fmt: skip
        back = shift
    other = chain.replace(links=turned, tool=np.linalg.inv(back) @ chain.tool)
    state = random_state(chain)
    assert relative(other.inverse_dynamics(*state), chain.inverse_dynamics(*state)) <= 1e-12
    ours, theirs = (sum(m.kernel("inverse_dynamics").operations.values()) for m in (other, chain))
    print(ours, theirs)
    # Rounding in the turned frames can hide that an angle is a right one: a few operations.
    assert ours <= 1.05 * theirs


def test_teeth() -> None:
    """Moving the whole inertia of a turning body would be seen."""
    mech = random_mechanism(1, ["revolute"] * 3, range(-1, 2))
    made = moving_bodies(mech)
    state = random_state(mech)
    lighter = made.bodies[2].inertia - np.diag([0.01, 0.0, 0.0, 0.0])
    wrong = replace(made, bodies=(*made.bodies[:2], replace(made.bodies[2], inertia=lighter)))
    assert relative(efforts(mech, wrong, state), efforts(mech, made, state)) > 1e-6


@pytest.mark.parametrize(("robot", "share"), [("puma560", 1 / 9), ("smart", 0.24)])
def test_regrouping_saves_a_ninth_to_a_quarter(robot: str, share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the architecture page says; counted, so it does not depend on the machine."""
    monkeypatch.setenv(cache.VARIABLE, "")  # (it knows functions by the text of the modules, which does not change here)

    def counted() -> int:
        operations = robots.load(robot).replace(name="counted").kernel("inverse_dynamics").operations
        return operations["mul"] + operations["add"]

    fewer = counted()
    monkeypatch.setattr("linkwise.model.body.Bodies.regrouped", lambda bodies: bodies)
    monkeypatch.setattr("linkwise.dynamics.optimise.first_moment_split.unseen", lambda body, inertia: np.zeros((4, 4)))
    saved = 1 - fewer / counted()
    print(f"{robot}: {saved:.1%} fewer products and sums")
    assert saved == pytest.approx(share, abs=0.01)


@pytest.mark.parametrize("seed", range(6))
def test_regrouping_at_once_is_regrouping_one_by_one(seed: int) -> None:
    """To rounding, a few units in the last place for each body on the way, and with the same zeros."""
    bodies = moving_bodies(random_mechanism(seed, ["revolute"] * 9)).bodies
    at_once, in_turn = _regrouped_turning(bodies), _regrouped_one_by_one(bodies)
    size = max(np.abs(inertia).max() for inertia in in_turn)
    for one, other in zip(at_once, in_turn, strict=True):
        assert np.array_equal(one, one.T)
        assert np.array_equal(one == 0.0, other == 0.0)
        np.testing.assert_allclose(one, other, rtol=0.0, atol=100 * np.finfo(float).eps * size)
