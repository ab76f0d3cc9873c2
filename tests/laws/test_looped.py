"""Kernels that loop over bodies give what straight-line code gives: every kind of joint, carried rotors, free bases."""

from __future__ import annotations

from functools import partial
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import linkwise as lw
from linkwise import Mechanism
from linkwise.algorithm import algorithm_options, find
from linkwise.model.body import moving_bodies
from linkwise.model.body_transform import joint_transforms
from linkwise.sweeps.drivers import LOOPED
from linkwise.sweeps.unrolled import unrolled
from support.random_mechanisms import (
    COUPLED,
    FREE,
    SEVERAL_KINDS,
    SOLVE_WITH_MASS_MATRIX,
    afloat,
    direct,
    parts,
    random_mechanism,
    random_state,
    variant,
    with_rotors,
)

WRENCHES = {"wrenches": ((0, "body"), ("tool", "world"), (1, "spatial"))}
TURNING = {"wrenches": ((0, "body"), ("tool", "body"))}
OPTIONS: dict[str, list[dict[str, Any]]] = {
    "forward_kinematics": [{}, {"link": 1}],
    "jacobian": [{}, {"frame": "body"}, {"link": 0}],
    "jacobian_dot": [{}, {"frame": "body"}, {"link": 0}],
    "center_of_mass": [{}, {"link": 1}],
    "center_of_mass_jacobian": [{}, {"link": 1}],
    "momentum": [{}, {"about": "com"}],
    "momentum_dot": [{}, {"about": "com"}],
    "gravity_torque_external": [{}, WRENCHES],
    "inverse_dynamics_external": [{}, WRENCHES],
    "joint_wrenches_external": [{}, WRENCHES],
    "forward_dynamics_external": [{}, WRENCHES],
    "external_efforts": [{}, WRENCHES],
    "inverse_dynamics_external_derivatives": [{}, TURNING],
    "forward_dynamics_external_derivatives": [{}, TURNING],
    "frame_velocity_derivatives": [{}, {"frame": "body"}, {"link": 0}],
    "frame_acceleration_derivatives": [{}, {"frame": "body"}, {"link": 0}],
}
CASES = [(name, options) for name in LOOPED for options in OPTIONS.get(name, [{}])]
EXACT = 1e-13
"""Relative to the largest number, one at least: both tiers add up some hundred products of such numbers in another order."""


def inputs(mech: Mechanism, name: str, options: dict[str, Any], rows: int, seed: int = 0) -> list[np.ndarray]:
    declared = find(name)
    rng = np.random.default_rng([seed, 23])
    shapes = declared.shapes(mech, declared.inputs, algorithm_options(mech, declared, options))
    state = dict(zip(("q", "qd", "qdd"), random_state(mech, seed, (rows,)), strict=True))
    return [state[key] if key in state else rng.normal(size=(rows, *shape)) for key, shape in shapes.items()]


def looped(mech: Mechanism, name: str, **options: Any) -> Any:
    return Mechanism.kernel(mech, name, tier="looped", **options)


def condition(mech: Mechanism, name: str, q: np.ndarray) -> float:
    """What rounding grows by: the condition of M, where that is solved with."""
    if name.removesuffix("_external") not in SOLVE_WITH_MASS_MATRIX:
        return 1.0
    matrices = [direct(mech, "mass_matrix", row) for row in np.atleast_2d(q)]
    return float(np.linalg.cond(matrices).max())


def difference(found: Any, wanted: Any) -> float:
    pairs = list(zip(parts(found), parts(wanted), strict=True))
    assert all(a.shape == b.shape for a, b in pairs)
    size = max((np.abs(b).max() for _, b in pairs if b.size), default=0.0)
    return max((np.abs(a - b).max() for a, b in pairs if a.size), default=0.0) / max(size, 1.0)


@pytest.mark.parametrize("name", [*FREE[::4], COUPLED[0], COUPLED[-1]])
def test_as_the_straight_line_and_a_batch_as_a_loop(name: str) -> None:
    mech, worst = variant(name), 0.0
    for algorithm, options in CASES:
        kernel, args = looped(mech, algorithm, **options), inputs(mech, algorithm, options, 7)
        found, rows = kernel(*args), [[arg[k] for arg in args] for k in range(7)]
        for k, row in enumerate(rows):
            same = zip(parts(found), parts(kernel(*row)), strict=True)
            assert all(np.array_equal(a[k], b) for a, b in same), (algorithm, options)
        bound = EXACT * max(1.0, condition(mech, algorithm, args[0]) / 10.0)
        for k in (0, 6):
            straight = direct(mech, algorithm, *rows[k], **options)
            error = difference(tuple(part[k] for part in parts(found)), straight)
            assert error < bound, (algorithm, options, error)
            worst = max(worst, error / bound)
        if "rotors" in name:  # in programs with rotors are the steps of those without
            single = kernel(*(arg.astype(np.float32) for arg in args))
            assert all(part.dtype == np.float32 for part in parts(single))
            assert difference(single, found) < 1e8 * bound, (algorithm, options)
    print(f"{name}: {len(CASES)} kernels, at most {worst:.2g} of the bound")


@pytest.mark.parametrize("seed", range(60))
def test_random_mechanisms(seed: int) -> None:
    """Each with other kinds of joints, most with free bodies or rotors on their links."""
    kinds = [*(("revolute", "prismatic", "screw", "fixed", *SEVERAL_KINDS)[k] for k in range(seed % 9, 9, 2)), "revolute"]
    mech = random_mechanism(seed, kinds)
    mech = with_rotors(mech, seed) if seed % 3 == 0 else mech
    mech = afloat(mech, seed) if seed % 2 else mech
    for name in (
        "inverse_dynamics",
        "mass_matrix",
        "coriolis_matrix",
        "inverse_dynamics_derivatives",
        "joint_wrenches",
        "regressor",
    ):
        args = inputs(mech, name, {}, 1, seed)
        wanted = direct(mech, name, *(arg[0] for arg in args))
        error = difference(tuple(part[0] for part in parts(looped(mech, name)(*args))), wanted)
        assert error < EXACT, (name, error)
    q, qd, qdd = random_state(mech, seed)
    tau = looped(mech, "inverse_dynamics")(q, qd, qdd)
    error = np.abs(looped(mech, "forward_dynamics")(q, qd, tau) - qdd).max()
    assert error < 1e-13 * np.linalg.cond(looped(mech, "mass_matrix")(q)) * max(1.0, np.abs(tau).max())


@pytest.mark.parametrize("name", ["rotors 2", "floating rotors 3", "freedoms rotors 4"])
def test_one_description_two_drivers(name: str) -> None:
    """The steps unrolled over the bodies are what the loop computes."""
    mech = variant(name)
    for algorithm, options in CASES:
        args = [arg[0] for arg in inputs(mech, algorithm, options, 1)]
        bodies = moving_bodies(mech).regrouped() if LOOPED[algorithm].regrouped else moving_bodies(mech)
        joints = joint_transforms(bodies, args[0] if "q" in find(algorithm).inputs else mech.neutral)
        found = looped(mech, algorithm, **options)(*args)
        wanted = unrolled(algorithm, mech, bodies, joints, *args, **options)
        bound = EXACT * max(1.0, condition(mech, algorithm, args[0]) / 10.0)
        assert difference(found, wanted) < bound, (algorithm, options)


@pytest.mark.parametrize("name", ["random 1", "rotors 2"])
def test_links_may_stand_before_their_parents(name: str) -> None:
    """What links pass to their parents does not depend on the order of the list."""
    mech = variant(name)
    count = len(mech.links)
    order = [*reversed(range(count - 1)), count - 1]  # (the last one carries the tool)
    other = mech.replace(links=[mech.links[k] for k in order])
    picked = [mech.coordinates[k] for k in order if mech.coordinates[k] >= 0]
    state = random_state(mech, 3)
    there = [values[picked] for values in state]
    for algorithm in ("link_poses", "joint_wrenches", "motion"):
        used = slice(0, len(find(algorithm).inputs))
        wanted, result = looped(mech, algorithm)(*state[used]), looped(other, algorithm)(*there[used])
        for expected, value in zip(parts(wanted), parts(result), strict=True):
            assert difference(value, expected[order]) < EXACT, algorithm


def humanoid(joints: int = 64) -> Mechanism:
    """A tree of revolute joints that floats."""
    parents = [-1, *((k - 1 if k % 7 else k // 2) for k in range(1, joints))]
    return afloat(random_mechanism(5, ["revolute"] * joints, parents, ["general"] * joints))


def test_size_chooses_the_tier_and_nothing_is_traced(monkeypatch: pytest.MonkeyPatch) -> None:
    assert {lw.robots.puma560().kernel(name).tier for name in ("inverse_dynamics", "mass_matrix")} == {"straight"}
    mech = humanoid()
    for name in LOOPED:
        looped(mech, name)(*inputs(mech, name, {}, 2))

    def refuse(*args: Any, **options: Any) -> None:
        raise AssertionError("the tracer ran")

    monkeypatch.setattr("linkwise.algorithm.trace", refuse)
    other = humanoid().with_payload(3.0).replace(gravity=(0.1, 0.2, -9.0))
    for name in LOOPED:
        kernel = other.kernel(name)
        assert kernel.tier == "looped"
        assert all(np.isfinite(part).all() for part in parts(kernel(*inputs(other, name, {}, 2))))
    assert "looped" in repr(other.kernel("mass_matrix"))


def test_a_humanoid_beside_pinocchio() -> None:
    from support.pinocchio_model import Twin, pin

    mech = humanoid()
    twin, (q, qd, qdd) = Twin(mech), random_state(mech, 2)
    tau = twin.back(pin.rnea(twin.model, twin.data, twin.at(q), twin.to(qd), twin.to(qdd)))
    found = mech.without_friction().inverse_dynamics(q, qd, qdd)
    print(f"humanoid of {mech.nv}: inverse dynamics to {difference(found, tau):.1e} of Pinocchio's")
    assert difference(found, tau) < EXACT


@pytest.mark.parametrize("distance", [0.0, 1e3, 1e6])
def test_far_from_the_origin(distance: float) -> None:
    """Bodies are seen from their own origins: where the base stands changes only what counts from the world's origin."""
    mech = random_mechanism(7, ["revolute", "prismatic", "ball", "revolute"])
    base = np.eye(4)
    base[:3, 3] = distance
    moved, args = mech.replace(base=base @ mech.base), random_state(mech, 3)
    for name, count in (
        ("inverse_dynamics", 3),
        ("mass_matrix", 1),
        ("inverse_dynamics_derivatives", 3),
        ("forward_dynamics", 3),
    ):
        error = difference(looped(moved, name)(*args[:count]), looped(mech, name)(*args[:count]))
        assert error < EXACT, (name, error)
    energy = difference(
        looped(moved, "potential_energy")(args[0]), moved.kernel("potential_energy", backend="numpy")(args[0])
    )
    assert energy < 1e-15 * (10.0 + distance)  # (first moments about the origin are as large as the way there)


@given(st.integers(1, 40), st.booleans(), st.integers(0, 5))
def test_shapes_strides_and_outputs(rows: int, transposed: bool, seed: int) -> None:
    mech = variant("floating 1")
    q, qd, qdd = random_state(mech, seed, (rows,))
    kernel = looped(mech, "inverse_dynamics")
    wanted = kernel(q, qd, qdd)
    other = np.asfortranarray(qd) if transposed else np.repeat(qd, 2, axis=1)[:, ::2]
    assert np.array_equal(kernel(q, other, qdd), wanted)
    wide = np.full((rows, 2, mech.nv), np.nan)
    assert np.array_equal(kernel(q, qd, qdd, out=wide[:, 1]), wanted)
    assert np.isnan(wide[:, 0]).all()
    assert np.array_equal(kernel(q[:1], qd, qdd)[-1], kernel(q[0], qd[-1], qdd[-1]))
    assert kernel(q[:0], qd[:0], qdd[:0]).shape == (0, mech.nv)


def test_a_number_that_is_none_stays_in_its_row() -> None:
    mech = variant("floating rotors 3")
    for name, options in CASES:
        args = inputs(mech, name, options, 6)
        clean = parts(looped(mech, name, **options)(*args))
        with np.errstate(invalid="ignore"):
            args[-1][2] = np.nan
            spoiled = parts(looped(mech, name, **options)(*args))
        for one, two in zip(clean, spoiled, strict=True):
            assert np.array_equal(np.delete(one, 2, axis=0), np.delete(two, 2, axis=0)), name


def test_kernels_pickle_and_refuse() -> None:
    import pickle

    mech = variant("rotors 3")
    q, qd, qdd = random_state(mech, 1, (4,))
    kernel = looped(mech, "inverse_dynamics")
    again = pickle.loads(pickle.dumps(kernel))
    assert again.tier == "looped"
    assert np.array_equal(again(q, qd, qdd), kernel(q, qd, qdd))
    with pytest.raises(lw.errors.ArgumentError, match=r"qd has the shape \(3,\)"):
        kernel(q, np.zeros(3), qdd)
    cases = [
        (mech, "inverse_dynamics", "loop", "tier.*'loop'.*'straight' or 'looped'"),
        (mech, "lagrangian", "looped", "lagrangian.*steps"),
        (lw.robots.four_bar(), "mass_matrix", "looped", "mass_matrix.*closed loops"),
        (lw.robots.puma560().symbolic("lengths"), "mass_matrix", "looped", "mass_matrix.*symbols"),
    ]
    for mechanism, name, tier, message in cases:
        with pytest.raises(lw.errors.ArgumentError, match=message):
            mechanism.kernel(name, tier=tier)
    with pytest.raises(lw.errors.ArgumentError, match="wrenches in the world's axes"):
        mech.kernel("inverse_dynamics_external_derivatives", tier="looped", wrenches=(("tool", "world"),))


@pytest.mark.parametrize(("name", "option"), [("jacobian", "frame"), ("jacobian_dot", "frame"), ("momentum", "about")])
@pytest.mark.parametrize("wrong", ["World", 1, ["body"]])
def test_options_that_there_are_not(name: str, option: str, wrong: Any) -> None:
    """What steps do not know is no frame of another name."""
    mech = lw.robots.planar_2r()
    for kernel in (mech.kernel, partial(mech.kernel, tier="looped"), lw.stack([mech, mech]).kernel):
        with pytest.raises(lw.errors.ArgumentError, match=f"{option} is .*expected"):
            kernel(name, **{option: wrong})


@pytest.mark.parametrize("tier", ["straight", "looped"])
def test_no_wrenches_at_all(tier: str) -> None:
    with pytest.raises(lw.errors.ArgumentError, match=r"wrenches is \(\); expected one"):
        lw.robots.planar_2r().kernel("inverse_dynamics_external", tier=tier, wrenches=())
    arms = lw.stack([lw.robots.planar_2r()] * 2)
    tau = arms.kernel("inverse_dynamics_external", wrenches=[(0, "body")])([0.1, 0.2], [0, 0], [0, 0], np.ones((1, 6)))
    assert tau.shape == (2, 2)


@pytest.mark.parametrize("distance", [1e3, 1e6])
def test_lever_arms_lose_digits_in_proportion_to_the_distance_of_the_base(distance: float) -> None:
    """The looped Jacobian subtracts positions in the world, each rounded to half a unit of about 1.7 times the distance."""
    arm = lw.robots.puma560()
    base = np.eye(4)
    base[:3, 3] = distance, -distance, distance
    arm = arm.replace(base=base)
    q = inputs(arm, "jacobian", {}, 20)[0]
    error = np.abs(looped(arm, "jacobian")(q) - arm.kernel("jacobian", tier="straight")(q)).max()
    print(f"{error:.1e} at {distance:g} m")
    assert error <= 4.0 * np.finfo(float).eps * distance
