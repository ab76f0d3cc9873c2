"""The harmonic form is the kernels', coefficient by coefficient exact, for whatever has one; the rest is refused."""

import time
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkwise import Link, Mechanism, Mimic, Motor, robots
from linkwise.equations import HarmonicForm
from linkwise.equations.closed_form import harmonic as module
from linkwise.equations.closed_form.harmonic import coriolis_value, largest, matrix_value, vector_value
from linkwise.errors import ArgumentError, KernelError
from support.messages import unnamed
from support.random_mechanisms import afloat, direct, random_mechanism, random_state, relative, with_rotors

SAME = 1e-12
"""Relative to the largest entry: up to some thousand coefficients with errors of 1e-15 each, of random signs."""


def assert_same(arm: Mechanism, form: HarmonicForm) -> None:
    q, qd, _ = random_state(arm, 5)
    mass, coriolis = direct(arm, "mass_matrix", q), direct(arm, "coriolis_matrix", q, qd)
    assert relative(matrix_value(form.M, q), mass) < SAME
    assert np.abs(vector_value(form.g, q) - direct(arm, "gravity_torque", q)).max(initial=0.0) <= SAME * largest([form.g])
    size = max(np.abs(mass).max(initial=0.0), np.abs(coriolis).max(initial=0.0))  # (one joint has none; speeds are about 1)
    assert np.abs(coriolis_value(form.christoffel, q, qd) - coriolis).max(initial=0.0) <= SAME * size
    assert form.residual < SAME


@given(
    st.integers(0, 10_000), st.lists(st.sampled_from(["revolute", "revolute", "prismatic", "fixed"]), min_size=1, max_size=4)
)
def test_random_chains_and_trees(seed: int, kinds: list[str]) -> None:
    arm = random_mechanism(seed, kinds)
    assert_same(arm, HarmonicForm(arm))


@pytest.mark.parametrize("seed", range(6))
def test_rotors_that_links_carry(seed: int) -> None:
    arm = with_rotors(random_mechanism(seed, ["revolute", "prismatic", "revolute"]), seed)
    assert_same(arm, HarmonicForm(arm))


@pytest.mark.parametrize("name", ["planar_2r", "planar_3r", "scara_icomatic", "smart", "puma560", "ur5", "stanford"])
def test_ready_robots(name: str) -> None:
    arm = robots.load(name)
    assert_same(arm, HarmonicForm(arm))


def test_massless_links_with_rotors_on_others() -> None:
    """Only the spin of the rotor couples the two joints: nothing of the links says how large that is."""
    rotor = Motor(gear_ratio=30.0, carrier="a", axis=(0.6, 0.0, 0.8), inertia=1e-3)
    arm = Mechanism([Link(name="a", mass=1.0, com=(0.1, 0, 0)), Link(name="b", axis=(1, 0, 0), motor=rotor)])
    form = HarmonicForm(arm)
    assert_same(arm, form)
    assert form.M[0][1].cosine.tolist() == [30.0 * 1e-3 * 0.8]


def test_puma_560_all_six_joints(capsys: pytest.CaptureFixture[str]) -> None:
    arm = robots.puma560().replace(name="puma")  # (nothing traced or compiled before)
    tracemalloc.start()
    begin = time.perf_counter()
    form = HarmonicForm(arm)
    terms = form.terms
    took = time.perf_counter() - begin
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    with capsys.disabled():
        print(f"\nPUMA 560, harmonic form: {terms} terms, {took:.2f} s, peak {peak:.1f} MB")
    assert terms == {"M": 187, "C": 823, "g": 25}
    assert form.residual < 1e-14
    assert peak < 20.0
    assert took < 20.0
    kept = np.concatenate([np.hypot(e.cosine, e.sine) / e.scale for row in form.M for e in row])
    assert kept.min() > 1e-7  # far above rounding: the 187 are the arm's own


def test_standard_and_modified_rows_of_one_arm_give_the_same_terms() -> None:
    body = {"mass": 1.5, "com": (0.1, 0.02, -0.03), "inertia": (0.03, 0.02, 0.01)}
    alpha, a, d = np.array([np.pi / 2, 0.3, -np.pi / 2]), np.array([0.2, 0.4, 0.1]), np.array([0.5, 0.1, 0.2])
    standard, modified = [], []
    for k in range(3):
        before = (alpha[k - 1], a[k - 1]) if k else (0.0, 0.0)
        row = Link.dh(0.0, d[k], before[1], before[0], convention="modified", **body)
        # The frame of the standard row is that of the next modified row without its joint: the same body seen from there.
        shift = Link.dh(0.0, d[k], a[k], alpha[k], convention="standard")
        turn = shift.after[:3, :3]
        moved = turn.T @ (np.array(body["com"]) - (shift.after[:3, 3] - np.array([0, 0, d[k]])))
        tensor = turn.T @ np.diag(body["inertia"]) @ turn
        fields = {"mass": body["mass"], "com": moved, "inertia": tensor}
        standard.append(Link.dh(0.0, d[k], a[k], alpha[k], convention="standard", **fields))
        modified.append(row)
    first, second = HarmonicForm(Mechanism(standard)), HarmonicForm(Mechanism(modified))
    assert first.terms == second.terms
    for i in range(3):
        for one, other in [*zip(first.M[i], second.M[i], strict=True), (first.g[i], second.g[i])]:
            assert np.array_equal(one.harmonics, other.harmonics)
            assert np.abs(one.cosine - other.cosine).max(initial=0.0) <= 1e-14 * one.scale
            assert np.abs(one.sine - other.sine).max(initial=0.0) <= 1e-14 * one.scale


def test_harmonics_of_a_small_arm_are_those_of_its_textbook() -> None:
    form = HarmonicForm(robots.planar_2r())
    assert form.M[0][0].harmonics.tolist() == [[0, 0], [0, 1]]
    assert np.allclose(form.M[0][0].cosine, [5 / 3, 1.0], rtol=0, atol=1e-15)
    assert form.M[1][0] is form.M[0][1]
    assert form.g[0].harmonics.tolist() in ([[1, 0], [1, 1]], [[1, 1], [1, 0]])


def test_joints_that_follow_by_whole_multiples() -> None:
    def arm(ratio: float) -> Mechanism:
        body = {"mass": 1.0, "com": (0.4, 0.1, 0.0), "inertia": (0.01, 0.01, 0.01)}
        links = [Link.dh(a=0.5, alpha=0.3, convention="standard", name=f"j{k}", **body) for k in range(3)]
        return Mechanism([*links[:2], links[2].replace(mimic=Mimic("j1", ratio, 0.2))], name="finger")

    for ratio in (1.0, -2.0, 3.0):
        assert_same(arm(ratio), HarmonicForm(arm(ratio)))
    with pytest.raises(ArgumentError) as caught:
        HarmonicForm(arm(0.5))
    assert (
        unnamed(
            caught.value,
            "finger: M(q) has no harmonic form: sine and cosine of 0.5 times coordinate 'j1', which is no whole multiple;"
            " equations(form='graph') has them",
        )
        == []
    )


def test_multiples_that_do_not_fit_in_16_bits_are_refused() -> None:
    """Once they ran over, and the form was wrong."""
    body = {"mass": 1.0, "com": (0.05, 0.02, 0.01), "inertia": (0.02, 0.03, 0.025)}

    def geared(ratio: float) -> Mechanism:
        return Mechanism(
            [Link(name="a", **body), Link(name="b", mimic=Mimic("a", ratio), axis=(1, 0, 0), **body)], name="gear"
        )

    assert HarmonicForm(geared(16_383.0)).M[0][0].harmonics.max() == 32_766
    with pytest.raises(ArgumentError) as caught:
        HarmonicForm(geared(16_384.0))
    assert (
        unnamed(
            caught.value,
            "gear: too many harmonics: sine and cosine of up to 32,768 times a coordinate, more than 32,767;"
            " equations(form='graph') has them",
        )
        == []
    )
    assert geared(16_384.0).equations().form == "graph"


def test_christoffel_symbols_are_bounded_before_they_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_SYMBOLS", 5)
    with pytest.raises(ArgumentError) as caught:
        _ = HarmonicForm(robots.planar_2r()).christoffel
    said = "planar_2r: too many joints for the Christoffel symbols: up to 6 terms, more than 5"
    assert unnamed(caught.value, said) == []


def test_without_joints_there_is_nothing() -> None:
    form = HarmonicForm(Mechanism([Link(joint="fixed", mass=1.0)]))
    assert (form.M, form.g, form.christoffel, form.residual) == ((), (), (), 0.0)
    assert form.terms == {"M": 0, "C": 0, "g": 0}


def test_refused() -> None:
    screw = random_mechanism(1, ["revolute", "screw"])
    long = Mechanism.from_dh([(0, 0.1, 0.2, 0.5)] * 13, convention="standard", name="snake")
    heavy = long.replace(links=[link.replace(mass=1.0, com=(0.1, 0.2, 0.3), inertia=(1, 2, 2.5)) for link in long.links])
    refused = {
        "random1: a floating base is placed by a quaternion, not by angles; equations(form='graph') has them": afloat(
            random_mechanism(1, ["revolute"])
        ),
        "random1: M(q) has no harmonic form: coordinate 'part1' stands both inside and outside of sine and cosine,"
        " as a screw's does; equations(form='graph') has them": screw,
        "snake: too many joints for the harmonic form: an entry may have 244,140,625 terms, more than 4,194,304;"
        " equations(form='graph') has them": heavy,
    }
    for message, arm in refused.items():
        with pytest.raises(ArgumentError) as caught:
            HarmonicForm(arm)
        assert unnamed(caught.value, message) == []


def test_a_form_that_is_not_exact_is_not_handed_out(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = module.harmonic_sum_of
    monkeypatch.setattr(module, "harmonic_sum_of", lambda fields, entry, scale: exact(fields, entry.scaled(1 + 1e-9), scale))
    with pytest.raises(KernelError) as caught:
        _ = HarmonicForm(robots.planar_2r()).M
    assert (
        unnamed(
            caught.value,
            "planar_2r: the harmonic form differs from mass_matrix by 6.7e-10, relative to the largest entry;"
            " it is not exact for this mechanism",
        )
        == []
    )


def test_seven_joints_of_any_kind() -> None:
    """The dense worst case, beyond what is read: 23,608 terms in the mass matrix."""
    arm = random_mechanism(1, ["revolute"] * 7, list(range(-1, 6)), ["general"] * 7)
    form = HarmonicForm(arm)
    q = random_state(arm, 3)[0]
    assert relative(matrix_value(form.M, q), direct(arm, "mass_matrix", q)) < SAME
    assert sum(form.M[i][j].terms for i in range(7) for j in range(i, 7)) == 23_608
