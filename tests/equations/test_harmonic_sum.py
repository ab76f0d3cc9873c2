"""Sums of harmonics: values, derivatives, collecting, cleaning."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkwise.equations.degrees import Degrees
from linkwise.equations.harmonic_sum import ROUNDING, HarmonicSum, collected, combined
from linkwise.equations.sampling import first_signs, harmonics_of, nodes, samples


def random_sum(seed: int, degrees: Degrees, terms: int = 12) -> HarmonicSum:
    """A sum within the degrees, with canonical rows that do not repeat."""
    rng = np.random.default_rng(seed)
    h = np.stack([rng.integers(-d, d + 1, terms) for d in degrees.harmonics], axis=1)
    p = np.stack([rng.integers(0, d + 1, terms) for d in degrees.powers], axis=1)
    sign = first_signs(h)
    h = h * np.where(sign < 0, -1, 1)[:, None]
    keys, _ = collected(np.hstack([h, p]).astype(np.int16))
    n = h.shape[1]
    h, p = keys[:, :n], keys[:, n:]
    c, s = rng.uniform(0.5, 2.0, (2, len(keys))) * rng.choice([-1, 1], (2, len(keys)))
    return HarmonicSum(h, p, c, s * h.any(axis=1), 1.0)


BOUNDS = st.lists(st.tuples(st.booleans(), st.integers(0, 3)), min_size=1, max_size=3).map(
    lambda axes: Degrees(tuple(d * turns for turns, d in axes), tuple(d * (not turns) for turns, d in axes))
)


@given(st.integers(0, 10_000), BOUNDS)
def test_samples_on_the_grid_give_back_every_coefficient(seed: int, degrees: Degrees) -> None:
    made = random_sum(seed, degrees)
    scale = float(np.abs(np.concatenate([made.cosine, made.sine])).sum())
    found = harmonics_of(samples(made, degrees), degrees, scale)
    order, wanted = (np.lexsort(np.hstack([each.harmonics, each.powers]).T) for each in (found, made))
    assert np.array_equal(found.harmonics[order], made.harmonics[wanted])
    assert np.array_equal(found.powers[order], made.powers[wanted])
    # A transform adds up to 343 samples; the inverse of a Vandermonde matrix on four nodes has a norm below 10 an axis.
    for given_, back in ((made.cosine[wanted], found.cosine[order]), (made.sine[wanted], found.sine[order])):
        assert np.abs(given_ - back).max(initial=0.0) <= 1e-13 * scale


@given(st.integers(0, 10_000), BOUNDS)
def test_derivative(seed: int, degrees: Degrees) -> None:
    made = random_sum(seed, degrees)
    q, h = np.random.default_rng(seed).uniform(-1, 1, len(degrees.shape)), 1e-5
    for k, step in enumerate(h * np.eye(len(q))):
        assert made.depending(k) == made.derivative(k).terms
        wanted = (made(q + step) - made(q - step)) / (2 * h)
        # rounding 24 * 2 * eps / h = 1e-9, cut off 24 * 27 * h^2 = 6.5e-8 / 6 (12 terms, coefficients up to 2, degree 3)
        assert abs(made.derivative(k)(q) - wanted) < 2e-8


def test_value_broadcasts() -> None:
    made = random_sum(1, Degrees((2, 2, 0), (0, 0, 2)))
    q = np.random.default_rng(2).uniform(-1, 1, (4, 5, 3))
    assert made(q).shape == (4, 5)
    assert abs(made(q)[2, 3] - made(q[2, 3])) <= 1e-14 * 24  # (12 terms up to 2, summed in another order)
    by_hand = sum(
        (c * np.cos(h @ q[0, 0]) + s * np.sin(h @ q[0, 0])) * np.prod(q[0, 0] ** p)
        for h, p, c, s in zip(made.harmonics, made.powers, made.cosine, made.sine, strict=True)
    )
    assert abs(made(q)[0, 0] - by_hand) <= 1e-14 * 24


def test_combined_collects_and_drops_what_cancels() -> None:
    made = random_sum(3, Degrees((2, 1), (0, 0)))
    assert combined([1.0, -1.0], [made, made]).terms == 0
    twice = combined([0.5, 1.5], [made, made])
    q = np.array([0.3, 0.4])
    assert twice.terms == made.terms
    assert abs(twice(q) - 2 * made(q)) <= 1e-14 * 24


def test_cleaning() -> None:
    rows = np.array([[0], [1], [2], [3]], dtype=np.int16)
    third, near = 1 / 3, 0.5 - 2**-54
    made = HarmonicSum(rows, 0 * rows, np.array([near, third, 0.5 * ROUNDING, 0.0]), np.array([0, 0, 0, 1.0]), 1.0).cleaned()
    assert made.harmonics.ravel().tolist() == [0, 1, 3]
    assert (made.cosine.tolist(), made.sine.tolist()) == ([0.5, third, 0.0], [0.0, 0.0, 1.0])
    nothing = HarmonicSum(rows, 0 * rows, np.zeros(4), np.zeros(4), 0.0).cleaned()
    assert nothing.terms == 0
    assert nothing([0.1]) == 0.0


@pytest.mark.parametrize("degree", range(6))
def test_nodes_are_different_and_of_length_one_at_most(degree: int) -> None:
    found = nodes(degree)
    assert len(set(found.round(12))) == degree + 1
    assert np.abs(found).max() <= 1
