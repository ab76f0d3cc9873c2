"""Polynomials as arrays: arithmetic against evaluation at points, fields that hold what they must, what is refused."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkwise import Link, Mechanism, robots, symbols
from linkwise.equations.polynomials import polynomial as module
from linkwise.equations.polynomials.expansion import expanded, expansion, expansion_of, members, survey, values
from linkwise.equations.polynomials.polynomial import BITS, Fields, Need, Polynomial, collected, nothing, number, total
from linkwise.errors import ArgumentError
from linkwise.kernel.tape import trace
from support.messages import unnamed

COUNT = 5
"""Variables: two angles, three symbols."""


def random_polynomial(fields: Fields, rng: np.random.Generator, terms: int = 6) -> Polynomial:
    """Real, of degree 1 in each variable."""
    keys = np.zeros((fields.words, terms), dtype=np.int64)
    turns = np.zeros_like(keys)
    for k in range(2):
        turns += fields.step(k, True)[:, None] * rng.integers(-1, 2, terms)
    for k in range(2, COUNT):
        keys += fields.step(k)[:, None] * rng.integers(0, 2, terms)
    coefficients = rng.uniform(0.5, 2.0, terms) + 1j * rng.uniform(-1.0, 1.0, terms)
    both = np.concatenate([coefficients, coefficients.conj()])
    return collected(np.hstack([keys + turns, keys - turns]), both, np.abs(both))


def value(fields: Fields, poly: Polynomial, point: np.ndarray) -> complex:
    angle = fields.exponents(poly.keys, True) @ point
    return complex((poly.values * np.exp(1j * angle) * np.prod(point ** fields.exponents(poly.keys, False), axis=1)).sum())


def wide(spread: int) -> Fields:
    """Fields for degree 3; with a spread above 20 they take several words."""
    every = frozenset(range(COUNT))
    angles = [Need(harmonic=3 << spread, apart=every)] * 2
    return Fields.of([*angles, *[Need(high=3 << spread, apart=every)] * 3])


@pytest.mark.parametrize("spread", [0, 25])
@given(seed=st.integers(0, 10_000))
def test_sums_and_products_are_those_of_the_values(spread: int, seed: int) -> None:
    fields = wide(spread)
    assert (fields.words > 1) == (spread > 0)
    rng = np.random.default_rng(seed)
    a, b, c = (random_polynomial(fields, rng) for _ in range(3))
    point = rng.uniform(0.5, 1.5, COUNT)
    x, y, z = (value(fields, each, point) for each in (a, b, c))
    # 12 terms of at most 2.3 * 1.5^3 = 7.8 each; products of three 830,000: a rounding error of 1e-16 each, added up
    assert abs(value(fields, a + b - c, point) - (x + y - z)) < 1e-12
    assert abs(value(fields, a * b * c, point) - x * y * z) < 1e-9
    assert abs(value(fields, a * b, point) - x * y) < 1e-11
    left, right = a * b * c, c * b * a
    assert np.array_equal(left.keys, right.keys)
    assert np.abs(left.values - right.values).max() <= 1e-14 * left.sizes.max()


@given(seed=st.integers(0, 10_000))
def test_what_cancels_leaves_nothing(seed: int) -> None:
    """(a + b)^2 - a^2 - 2 a b - b^2 has no term, though each is made of rounded numbers."""
    fields = wide(0)
    rng = np.random.default_rng(seed)
    a, b = (random_polynomial(fields, rng).scaled(math.pi) for _ in range(2))
    left = (a + b) * (a + b)
    assert total([left, -(a * a), -(a * b).scaled(2.0), -(b * b)]).terms == 0


def test_small_numbers_beside_large_ones_stay() -> None:
    """A coefficient is compared with what was added up to make it, not with the others."""
    fields = wide(0)
    tiny = number(1e-30, fields.words).moved(fields.step(2))
    made = number(1e10, fields.words) + tiny
    assert sorted(np.abs(made.values).tolist()) == [1e-30, 1e10]
    assert number(0.0, 2).terms == nothing(2).terms == 0


def test_fields_are_shared_by_what_never_meets() -> None:
    """Sixty inertial parameters of which each term has one take six bits, not sixty."""
    needs = [Need(harmonic=2), *[Need(high=1, apart=frozenset({61}))] * 60, Need(high=2, apart=frozenset(range(62)))]
    fields = Fields.of(needs)
    assert fields.words == 1
    assert [(len(each.variables), each.width) for each in fields.fields] == [(1, 3), (1, 2), (60, 6)]
    keys = np.stack([fields.step(k) + 2 * fields.step(61) - fields.step(0, True) for k in (1, 30, 60)], axis=1)
    assert fields.exponents(keys, True)[:, 0].tolist() == [-1, -1, -1]
    powers = fields.exponents(keys, False)
    assert [np.flatnonzero(row).tolist() for row in powers] == [[1, 61], [30, 61], [60, 61]]
    assert fields.exponents(keys, False, [60, 61, 2]).tolist() == [[0, 2, 0], [0, 2, 0], [1, 2, 0]]
    assert [fields.exponent(keys, k, False).tolist() for k in (30, 61)] == [[0, 1, 0], [2, 2, 2]]
    assert np.array_equal(fields.powers_alone(keys), keys + fields.step(0, True)[:, None])
    assert BITS == 62


def test_a_product_that_would_be_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_TERMS", 10)
    fields = wide(0)
    poly = random_polynomial(fields, np.random.default_rng(0))
    with pytest.raises(ArgumentError, match=r"explicit.*product"):
        _ = poly * poly


def surveyed(function, count=1):
    made = trace(function, "made", {"x": (4,)}, {"y": (count,)})
    return survey(made, ("a", "b", "m", "l"), (2, 3), (1,))


def test_each_operation() -> None:
    def results(x):
        turned = (0.5 - (x[0] + x[3] * 2.0) / 1.0).sin()
        first = [turned * turned, x[1] * x[1] * x[1] - x[1], -turned + x[1], turned / 3.0, x[2] / x[3]]
        return [*first, x[1] / (x[2] + x[3]), (x[2] + 1.0).sqrt() * x[1].sign(), abs(x[1].sign()), (x[2] * 0.5).cos()]

    found = surveyed(results, 9)
    fields = Fields.of(found.needs)
    made, atoms = expanded(found, fields)
    assert [found.needs[k].harmonic for k in range(4)] == [2, 0, 0, 4]
    assert [(found.needs[k].low, found.needs[k].high) for k in range(4)] == [(0, 0), (0, 3), (0, 1), (-1, 1)]
    assert [name for name, _ in atoms.values()] == ["div", "sqrt", "sign", "abs", "cos"]
    assert [poly.terms for poly in made] == [3, 2, 3, 2, 1, 1, 1, 1, 1]


def test_what_has_no_closed_form_is_refused() -> None:
    tail = "of coordinates, which is no sum of sines and cosines"
    refused = {
        f"made takes sqrt {tail}": lambda x: [x[0].sqrt()],
        f"made takes abs {tail}": lambda x: [abs(x[0])],
        f"made takes sign {tail}": lambda x: [(x[1] + x[2]).sign()],
        f"made takes atan2 {tail}": lambda x: [x[0].atan2(x[2])],
        f"made takes select {tail}": lambda x: [x[0].select(1.0, 2.0)],
        f"made takes div {tail}": lambda x: [1.0 / x[0]],
        f"made takes sin {tail}": lambda x: [x[0].cos().sin()],
        f"made takes cos {tail}": lambda x: [(x[0] * x[2]).cos()],
        "sine and cosine of 0.5 times coordinate 'a', which is no whole multiple": lambda x: [(x[0] * 0.5).sin()],
    }
    for message, function in refused.items():
        with pytest.raises(ArgumentError) as caught:
            surveyed(function)
        assert unnamed(caught.value, message) == []
    assert members(0b101001) == [0, 3, 5]


def test_functions_of_symbols_are_atoms() -> None:
    m, a = symbols("m a")
    arm = Mechanism([Link(mass=m, com=(a, 0, 0))])
    wanted = {
        "y": np.array([m / (m + a), (m * m + a).sqrt() + (0.5 * a).sin() * 2.0, (a.cos() + m.cos()) / a], dtype=object)
    }
    made = expansion_of(arm, wanted)
    point = np.array([[0.0, 0.0, 0.0, 1.3, 0.7]])
    found = values(made, list(made.results["y"]), point)[0]
    m, a = 1.3, 0.7
    assert (
        np.abs(found - [m / (m + a), math.sqrt(m * m + a) + 2 * math.sin(a / 2), (math.cos(a) + math.cos(m)) / a]).max()
        < 1e-15
    )
    assert made.symbols == frozenset(range(3, len(made.needs)))


def test_symbolic_twists_are_angles_among_others() -> None:
    """cos(alpha1)^2 + sin(alpha1)^2 is 1: no term of a rotation's inverse times itself is left but the ones."""
    alpha = symbols("alpha1")
    arm = Mechanism([Link.dh(a=0.3, alpha=alpha, convention="standard"), Link.dh(a=0.2, convention="standard")])
    made = expansion(arm, {"T": ("forward_kinematics", {})})
    rotation = made.results["T"][:3, :3]
    for i in range(3):
        for j in range(3):
            entry = total([rotation[i, k] * rotation[j, k] for k in range(3)])
            assert (entry - number(float(i == j), 1)).terms == 0


def test_the_terms_of_the_puma_are_found_without_a_sample() -> None:
    made = expansion(robots.puma560(), {"M": ("mass_matrix", {})})
    assert sum((made.results["M"][i, j].terms + 1) // 2 for i in range(6) for j in range(i, 6)) == 187
