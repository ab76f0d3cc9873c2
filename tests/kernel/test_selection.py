"""Selections from machine code, NumPy and one at a time: the same bits; what is not chosen leaves no trace."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from linkwise.kernel import Kernel, Tape, trace
from linkwise.spatial.scalar import greatest, least, select

in_each_backend = pytest.mark.parametrize("backend", ["llvm", "numpy"])
in_each_type = pytest.mark.parametrize("dtype", [np.float64, np.float32])

TINY = {np.float64: 5e-324, np.float32: 1e-45}


def chooser() -> Tape:
    return trace(lambda p: p[0].select(p[1], p[2]), "choose", {"p": (3,)}, {"r": ()})


def table(dtype: type) -> np.ndarray:
    values = np.array([0.0, -0.0, 1.0, -1.5, TINY[dtype], -TINY[dtype], np.inf, -np.inf, np.nan, -np.nan, 3e38], dtype)
    return np.array(list(itertools.product(values, repeat=3)), dtype)


@in_each_backend
@in_each_type
def test_values(backend: str, dtype: type) -> None:
    p = table(dtype)
    with np.errstate(all="raise"):
        found = Kernel(chooser(), backend)(p)
    wanted = np.array([x if c > 0 else y for c, x, y in p], dtype)
    assert found.dtype == dtype
    whole = {8: np.int64, 4: np.int32}[found.itemsize]
    assert np.array_equal(found.view(whole), wanted.view(whole)), "the same bits, of a NaN too"


@in_each_backend
def test_numbers_among_the_operands(backend: str) -> None:
    def some(p: np.ndarray) -> np.ndarray:
        return np.array(
            [p[0].select(2.5, p[1]), p[0].select(p[1], -1.0), p[0].select(1.0, 2.0), select(p[1], p[0], p[0] * 3.0)]
        )

    p = np.array([[1.0, 7.0], [0.0, -7.0], [-2.0, 0.5]])
    wanted = [[2.5, 7, 1, 1], [-7, -1, 2, 0], [0.5, -1, 2, -2]]
    kernel = Kernel(trace(some, "some", {"p": (2,)}, {"r": (4,)}), backend)
    assert kernel(p).tolist() == wanted
    assert [kernel(row).tolist() for row in p] == wanted
    assert kernel(p.astype(np.float32)).dtype == np.float32


@in_each_backend
def test_a_value_that_is_not_chosen_may_be_anything(backend: str) -> None:
    """The quotient is taken only where the divisor is positive: elsewhere it is infinite or NaN, and is not seen."""
    kernel = Kernel(trace(lambda p: p[1].select((p[0] / p[1]).sqrt(), 0.0), "safe", {"p": (2,)}, {"r": ()}), backend)
    p = np.array([[8.0, 2.0], [8.0, 0.0], [0.0, 0.0], [8.0, -2.0], [np.nan, 0.0], [1.0, np.nan]])
    with np.errstate(all="ignore"):
        assert kernel(p).tolist() == [2.0, 0.0, 0.0, 0.0, 0.0, 0.0]


@in_each_backend
def test_least_and_greatest(backend: str) -> None:
    def both(p: np.ndarray) -> np.ndarray:
        return np.array([least(p[0], p[1]), greatest(p[0], p[1]), least(greatest(p[0], -1.0), 1.0)])

    kernel = Kernel(trace(both, "both", {"p": (2,)}, {"r": (3,)}), backend)
    values = np.array([0.0, 0.3, -2.0, 5.0, np.inf, -np.inf, np.nan, 1e308, -1e308, 5e-324])
    p = np.array(list(itertools.product(values, repeat=2)))
    with np.errstate(all="ignore"):
        found = kernel(p)
    wanted = np.stack([np.minimum(*p.T), np.maximum(*p.T), np.clip(p[:, 0], -1.0, 1.0)], axis=-1)
    assert np.array_equal(found, wanted, equal_nan=True)


def test_a_batch_is_a_loop() -> None:
    def mixed(p: np.ndarray) -> np.ndarray:
        chosen = (p[0] * p[1] - p[2]).select(p[0].sin(), p[1] * p[2])
        return np.array([chosen, chosen.select(p[2] + chosen, p[0] - chosen * p[1])])

    kernel = Kernel(trace(mixed, "mixed", {"p": (3,)}, {"r": (2,)}), "llvm")
    p = np.random.default_rng(0).normal(size=(61, 3))
    p[:, 2] = np.where(np.arange(61) % 3, p[:, 2], p[:, 0] * p[:, 1])  # (conditions next to zero)
    assert np.array_equal(kernel(p), [kernel(row) for row in p])
