"""The closure equations, their Jacobian and its rate: against finite differences and SciPy, in batches and lowerings."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from linkwise import Link, Loop, Mechanism
from linkwise.errors import ArgumentError
from linkwise.loops.loop_solver import CLOSED, closed_near, closing
from linkwise.spatial.transform import transform
from support.loop_mechanisms import closed_at, planar_four_bar, planar_slider_crank, spatial_loop, triangle
from support.random_mechanisms import random_mechanism, random_pose

H = 1e-6
DIFFERENCES = 2e-8
"""A central difference of step 1e-6: 1e-12 times third derivatives (up to 1e3 here), and rounding, 1e-10 times sizes."""
NAMES = ("closure", "closure_facing", "closure_jacobian", "closure_bias")


def branched(*, floating: bool) -> tuple[Mechanism, np.ndarray]:
    """A tree with a loop of each kind, one of them between two branches, one to the base."""
    rng = np.random.default_rng(1)
    kinds = ("revolute", "prismatic", "screw", "revolute", "fixed", "revolute", "revolute")
    mech = random_mechanism(3, kinds, (-1, 0, 1, 0, 3, 4, 1), base=random_pose(rng), floating=floating)
    n = mech.link_names
    loops = [
        Loop("full", n[2], n[5], random_pose(rng)),
        Loop("hinge", "base", n[6], random_pose(rng)),
        Loop("point", n[1], "base", random_pose(rng)),
    ]
    mech = mech.replace(loops=loops)
    q = mech.integrate(mech.neutral, rng.normal(size=mech.nv))
    return closed_at(mech, q), q


CASES = {
    "branched": lambda: branched(floating=False),
    "branched, floating": lambda: branched(floating=True),
    "hinge, mimic": lambda: spatial_loop("hinge", mimic=True),
    "point, floating, mimic": lambda: spatial_loop("point", floating=True, mimic=True),
}


@cache
def made(name: str) -> tuple[Mechanism, np.ndarray]:
    """A mechanism of this module alone, which keeps its kernels, and a closed position."""
    mech, q = CASES[name]()
    return mech.replace(), q


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest, uncompiled: None) -> tuple[Mechanism, np.ndarray]:
    return made(request.param)


def test_closed_where_the_frames_meet(case: tuple[Mechanism, np.ndarray]) -> None:
    mech, q = case
    residual = mech.kernel("closure")(q)
    print(f"greatest residual {np.abs(residual).max():.1e}")
    assert np.abs(residual).max() < 1e-14  # some ten products of numbers of size 1
    assert np.allclose(mech.kernel("closure_facing")(q), 1.0, rtol=0, atol=1e-14)


def test_jacobian_is_the_derivative_where_closed(case: tuple[Mechanism, np.ndarray]) -> None:
    mech, q = case
    closure = mech.kernel("closure")
    steps = np.eye(mech.nv) * H
    found = (closure(mech.integrate(q, steps)) - closure(mech.integrate(q, -steps))).T / (2 * H)
    difference = np.abs(found - mech.kernel("closure_jacobian")(q)).max()
    print(f"difference {difference:.1e}")
    assert difference < DIFFERENCES


def test_position_rows_are_the_derivative_everywhere(case: tuple[Mechanism, np.ndarray]) -> None:
    mech, q = case
    away = mech.integrate(q, np.random.default_rng(2).normal(0, 0.5, mech.nv))
    closure = mech.kernel("closure")
    assert np.abs(closure(away)).max() > 0.1
    steps = np.eye(mech.nv) * H
    found = (closure(mech.integrate(away, steps)) - closure(mech.integrate(away, -steps))).T / (2 * H)
    sizes = {"full": 6, "hinge": 5, "point": 3}
    starts = np.cumsum([0, *[sizes[loop.kind] for loop in mech.loops]])[:-1]
    rows = [start + k for start in starts for k in range(3)]
    assert np.abs(found - mech.kernel("closure_jacobian")(away))[rows].max() < DIFFERENCES


@pytest.mark.parametrize("where", ["closed", "open"])
def test_bias_is_the_rate_of_the_jacobian(case: tuple[Mechanism, np.ndarray], where: str) -> None:
    mech, q = case
    rng = np.random.default_rng(3)
    here = q if where == "closed" else mech.integrate(q, rng.normal(0, 0.5, mech.nv))
    qd = rng.normal(size=mech.nv)
    jacobian = mech.kernel("closure_jacobian")
    rate = (jacobian(mech.integrate(here, H * qd)) - jacobian(mech.integrate(here, -H * qd))) / (2 * H)
    difference = np.abs(rate @ qd - mech.kernel("closure_bias")(here, qd)).max()
    print(f"difference {difference:.1e}")
    assert difference < DIFFERENCES


@pytest.mark.usefixtures("uncompiled")
def test_moving_the_whole_changes_nothing() -> None:
    mech, q = branched(floating=True)
    moved = q.copy()
    moved[:7] = [1.0, -2.0, 0.5, 0.5, -0.5, 0.5, 0.5]
    for name in ("closure", "closure_jacobian"):
        assert np.array_equal(mech.kernel(name)(q), mech.kernel(name)(moved))
    assert np.array_equal(mech.kernel("closure_jacobian")(q)[:, :6], np.zeros((14, 6)))


ANGLES = [0.0, 1e-9, 1e-3, 1.0, 2.0, 2.0944, 2.0945, 3.0, np.pi - 1e-6, np.pi]


@pytest.mark.parametrize("angle", ANGLES)
def test_a_full_closure_measures_the_rotation(angle: float) -> None:
    """SciPy's rotation vector, at every angle up to the half turn, about generic axes and those of the frame."""
    generic = np.random.default_rng(4).normal(size=(4, 3))
    for axis in [*np.eye(3), *generic / np.linalg.norm(generic, axis=1, keepdims=True)]:
        second = transform(Rotation.from_rotvec(angle * axis).as_matrix(), (0.1, 0.2, 0.3))
        mech = Mechanism([Link(name="a", joint="revolute")], loops=[Loop("full", "base", "a", None, second)])
        found = mech.kernel("closure", backend="numpy")([0.0])
        wanted = 2 * np.sin(angle / 2) * axis
        if angle == np.pi and found[3:] @ wanted < 0:  # (a half turn has two axes)
            wanted = -wanted
        assert np.allclose(found[:3], [0.1, 0.2, 0.3], rtol=0, atol=1e-15)
        # the elements of the matrix are rounded to 1e-16, the root of the greatest of four that add to 4 keeps that
        assert np.allclose(found[3:], wanted, rtol=0, atol=2e-15 if angle < 3.14 else 1e-14)


def test_opposed_axes_are_told() -> None:
    """A hinge whose second axis is turned round closes by its five rows, and by no means else."""
    flipped = np.diag([1.0, -1.0, -1.0, 1.0])
    flipped[0, 3] = 3.0
    mech = planar_four_bar(1.0, 4.0, 3.0, 4.0)
    loop = Loop("hinge", "coupler", "rocker", mech.loops[0].first_frame, flipped)
    mech = mech.replace(loops=[loop])
    task = closing(mech)
    q, error, _ = closed_near(task, np.array([[0.3, 0.9, 1.5]]))
    assert np.abs(mech.kernel("closure")(q)).max() < 1e-12
    assert mech.kernel("closure_facing")(q)[0, 0] == -1.0
    assert error[0] == 2.0


@pytest.mark.parametrize("name", NAMES)
def test_a_batch_equals_a_loop_in_every_lowering(name: str) -> None:
    mech, q = branched(floating=True)
    rng = np.random.default_rng(5)
    count = 5
    several = mech.integrate(q, rng.normal(0, 0.5, (count, mech.nv)))
    args = (several, rng.normal(size=(count, mech.nv))) if name == "closure_bias" else (several,)
    kernel = mech.kernel(name)
    batch = kernel(*args)
    assert np.array_equal(batch, [kernel(*(arg[k] for arg in args)) for k in range(count)])
    slow = mech.kernel(name, backend="numpy")(*args)
    assert np.allclose(batch, slow, rtol=0, atol=2e-14 * np.abs(slow).max())  # (some products are fused, some are not)


@pytest.mark.parametrize("name", NAMES)
def test_without_loops_there_is_nothing_to_say(name: str) -> None:
    arm = Mechanism([Link(name="a", joint="revolute")], name="arm")
    with pytest.raises(ArgumentError, match=f"'arm' has no loops; {name} is for mechanisms with them"):
        arm.kernel(name)


def test_closing_from_anywhere() -> None:
    """Damped least squares close a loop from most starts, within the limits, and say so where they do not."""
    task = closing(planar_slider_crank(limits=(0.16, 0.24)))
    starts = np.random.default_rng(6).uniform(-3, 3, (50, 3))
    q, error, _ = closed_near(task, starts)
    good = error <= CLOSED
    print(f"{good.sum()} of 50 closed")
    assert good.sum() >= 40
    assert np.abs(task.mechanism.kernel("closure")(q[good])).max() < 1e-12
    assert q[:, 2].min() >= 0.16
    assert q[:, 2].max() <= 0.24
    alone = np.array([closed_near(task, start[None])[0][0] for start in starts])
    assert np.array_equal(q, alone)


def test_a_structure_closes_where_it_can_only_be() -> None:
    q, error, _ = closed_near(closing(triangle()), np.array([[0.5, 2.5]]))
    one = np.arccos((0.8**2 + 1.0 - 0.7**2) / 1.6)
    assert error[0] <= CLOSED
    assert abs(q[0, 0] - one) < 1e-11  # the closure, over a slope of 0.7
