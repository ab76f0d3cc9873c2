"""Products of cosines and sines: the same values, no more terms, squares found again."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkwise.equations.closed_form.closed_form import Pair, with_products
from linkwise.equations.polynomials.polynomial import Waves, first_signs, identified, in_waves

GROUPS = (2, 1, 1)
SUMS = ([(1, 0), (1, 1)], [(1,)], [(1,)])


def made_of(seed: int, terms: int, owners: int = 2) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Owners, harmonics up to 2 with a positive first one, coefficients."""
    rng = np.random.default_rng(seed)
    owner, harmonics = rng.integers(0, owners, terms), rng.integers(-2, 3, (terms, 4)).astype(np.int32)
    harmonics *= np.where(first_signs(harmonics) < 0, -1, 1)[:, None].astype(np.int32)
    coefficients = rng.integers(-3, 4, terms) + 1j * rng.integers(-3, 4, terms) * harmonics.any(axis=1)
    return owner, harmonics, coefficients.astype(complex)


def values(waves: Waves, point: np.ndarray, owners: int) -> np.ndarray:
    total = np.zeros(owners)
    for owner, codes, number in zip(waves.owner, waves.codes, waves.values, strict=True):
        start = 0
        for table, code, count in zip(waves.tables, codes, GROUPS, strict=True):
            angles = point[start : start + count]
            for name, vector, power in table[code]:
                number = number * getattr(np, name)(np.dot(vector, angles)) ** power  # noqa: PLW2901
            start += count
        total[owner] += number
    return total


@given(st.integers(0, 10_000), st.integers(1, 20))
def test_the_values_stay(seed: int, terms: int) -> None:
    owner, harmonics, coefficients = made_of(seed, terms)
    point = np.random.default_rng(seed).uniform(-3, 3, 4)
    waves = in_waves(owner, harmonics, coefficients, np.abs(coefficients), GROUPS)
    short = with_products(waves, SUMS)
    twice = np.where(harmonics.any(axis=1), 2.0, 1.0)
    wanted = np.bincount(owner, (twice * coefficients * np.exp(1j * (harmonics @ point))).real, minlength=2)
    # 20 terms of at most 8.5, each split into at most 8 products: rounding errors of 1e-16 of 1,400
    assert np.abs(values(waves, point, 2) - wanted).max() < 1e-12
    assert np.abs(values(short, point, 2) - wanted).max() < 1e-12
    assert short.terms <= waves.terms


def test_a_square_of_a_sum_is_found_again() -> None:
    """(c23 s5 + s23 c4 c5)^2, which stands beside XX5 in the mass matrix of a PUMA, is two squares and a product."""
    rows: dict[tuple[int, ...], complex] = {}

    def factor(name: str, place: int) -> list[tuple[tuple[int, ...], complex]]:
        unit = ((1, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1))[place]
        turn = 0.5 if name == "c" else -0.5j
        return [(unit, turn), (tuple(-x for x in unit), np.conj(turn))]

    one, other = [factor("c", 0), factor("s", 2)], [factor("s", 0), factor("c", 1), factor("c", 2)]
    for number, factors in ((1, one * 2), (2, one + other), (1, other * 2)):
        for chosen in itertools.product(*factors):
            key = tuple(int(x) for x in np.sum([vector for vector, _ in chosen], axis=0))
            rows[key] = rows.get(key, 0) + number * np.prod([turn for _, turn in chosen])
    harmonics = np.array([key for key, value in rows.items() if abs(value) > 1e-15], dtype=np.int32)
    coefficients = np.array([value for value in rows.values() if abs(value) > 1e-15])
    half = first_signs(harmonics) >= 0
    waves = in_waves(np.zeros(half.sum(), int), harmonics[half], coefficients[half], np.abs(coefficients[half]), GROUPS)
    short = with_products(waves, SUMS)
    assert (waves.terms, short.terms) == (9, 3)
    assert sorted(short.values.tolist()) == pytest.approx([1.0, 1.0, 2.0], abs=1e-15)


def test_cosines_of_a_sum_and_a_difference_are_one_product() -> None:
    """cos(2 q2 + q3) + cos(q3) = 2 c2 c23; with a minus -2 s2 s23; the same for sines."""
    harmonics = np.array([[2, 1, 0, 0], [0, 1, 0, 0]], dtype=np.int32)
    wanted = {
        (1.0, 1.0): ("cos", "cos", 4.0),
        (1.0, -1.0): ("sin", "sin", -4.0),
        (-1j, -1j): ("sin", "cos", 4.0),
        (-1j, 1j): ("sin", "cos", 4.0),
    }
    for pair, (first, second, number) in wanted.items():
        made = with_products(in_waves(np.zeros(2, int), harmonics, np.array(pair, complex), np.ones(2), GROUPS), SUMS)
        ((one, other),) = [made.tables[0][code] for code in made.codes[:, 0]]
        assert ({one[0], other[0]}, made.values.tolist()) == ({first, second}, [number])
    assert Pair((1, 2), (1, 1), (0, 1)).difference == ((1, 0), 1)
    assert Pair((1, 2), (0, 1), (1, 1)).difference == ((1, 0), -1)
    assert Pair((2,), (1,), (1,)).difference == ((0,), 1)


def test_numbers_of_rows_do_not_run_over() -> None:
    rng = np.random.default_rng(0)
    columns = [rng.integers(0, 1 << 20, 50) for _ in range(5)]
    columns = [np.concatenate([column, column]) for column in columns]
    ids = identified(columns)
    assert np.array_equal(ids[:50], ids[50:])
    assert len(set(ids.tolist())) == 50
    order = np.argsort(ids[:50], kind="stable")
    assert np.array_equal(order, np.lexsort([column[:50] for column in columns[::-1]]))
