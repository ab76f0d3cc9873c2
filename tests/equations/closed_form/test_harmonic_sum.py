"""Sums of harmonics: values, derivatives, collecting, cleaning."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from linkwise.equations.closed_form.harmonic import HarmonicSum, collected, combined, harmonic_sum_of
from linkwise.equations.polynomials.polynomial import ROUNDING, Fields, Need, first_signs
from linkwise.equations.polynomials.polynomial import collected as gathered

Bounds = list[tuple[int, int]]
"""Of each coordinate the greatest harmonic and the greatest power; one of them is 0."""


def random_sum(seed: int, bounds: Bounds, terms: int = 12) -> HarmonicSum:
    """A sum within the bounds, with canonical rows that do not repeat."""
    rng = np.random.default_rng(seed)
    h = np.stack([rng.integers(-d, d + 1, terms) for d, _ in bounds], axis=1)
    p = np.stack([rng.integers(0, d + 1, terms) for _, d in bounds], axis=1)
    sign = first_signs(h)
    h = h * np.where(sign < 0, -1, 1)[:, None]
    keys, _ = collected(np.hstack([h, p]).astype(np.int16))
    n = h.shape[1]
    h, p = keys[:, :n], keys[:, n:]
    c, s = rng.uniform(0.5, 2.0, (2, len(keys))) * rng.choice([-1, 1], (2, len(keys)))
    return HarmonicSum(h, p, c, s * h.any(axis=1), 1.0)


BOUNDS = st.lists(st.tuples(st.booleans(), st.integers(0, 3)), min_size=1, max_size=3).map(
    lambda axes: [(d * turns, d * (not turns)) for turns, d in axes]
)


@given(st.integers(0, 10_000), BOUNDS)
def test_a_polynomial_gives_back_every_coefficient(seed: int, bounds: Bounds) -> None:
    """Exactly: halves and doubles are exact in binary."""
    made = random_sum(seed, bounds)
    fields = Fields.of([Need(h, 0, p, frozenset(range(len(bounds)))) for h, p in bounds])
    keys = np.zeros((fields.words, made.terms), dtype=np.int64)
    for k, (h, p) in enumerate(bounds):
        keys += fields.step(k, True)[:, None] * made.harmonics[:, k] if h else 0
        keys += fields.step(k)[:, None] * made.powers[:, k] if p else 0
    turned = made.harmonics.any(axis=1)
    values = np.where(turned, 0.5, 1.0) * (made.cosine - 1j * made.sine)
    back = 2 * sum(fields.step(k, True)[:, None] * made.harmonics[:, k] for k, (h, _) in enumerate(bounds) if h)
    both = np.hstack([keys, (keys - back)[:, turned]])
    values = np.concatenate([values, values[turned].conj()])
    found = harmonic_sum_of(fields, gathered(both, values, np.abs(values)), 0.0)
    assert found.terms == 0  # (beside an infinite scale all is rounding; beside a scale of 0 as well)
    found = harmonic_sum_of(fields, gathered(both, values, np.abs(values)), 1e-3)
    order = np.lexsort(np.hstack([made.harmonics, made.powers]).T[::-1])
    for name in ("harmonics", "powers", "cosine", "sine"):
        assert np.array_equal(getattr(found, name), getattr(made, name)[order])


@given(st.integers(0, 10_000), BOUNDS)
def test_derivative(seed: int, bounds: Bounds) -> None:
    made = random_sum(seed, bounds)
    q, h = np.random.default_rng(seed).uniform(-1, 1, len(bounds)), 1e-5
    for k, step in enumerate(h * np.eye(len(q))):
        assert made.depending(k) == made.derivative(k).terms
        wanted = (made(q + step) - made(q - step)) / (2 * h)
        # rounding 24 * 2 * eps / h = 1e-9, cut off 24 * 27 * h^2 = 6.5e-8 / 6 (12 terms, coefficients up to 2, degree 3)
        assert abs(made.derivative(k)(q) - wanted) < 2e-8


def test_value_broadcasts() -> None:
    made = random_sum(1, [(2, 0), (2, 0), (0, 2)])
    q = np.random.default_rng(2).uniform(-1, 1, (4, 5, 3))
    assert made(q).shape == (4, 5)
    assert abs(made(q)[2, 3] - made(q[2, 3])) <= 1e-14 * 24  # (12 terms up to 2, summed in another order)
    by_hand = sum(
        (c * np.cos(h @ q[0, 0]) + s * np.sin(h @ q[0, 0])) * np.prod(q[0, 0] ** p)
        for h, p, c, s in zip(made.harmonics, made.powers, made.cosine, made.sine, strict=True)
    )
    assert abs(made(q)[0, 0] - by_hand) <= 1e-14 * 24


def test_combined_collects_and_drops_what_cancels() -> None:
    made = random_sum(3, [(2, 0), (1, 0)])
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
