"""What is taken for numbers, and what is not though NumPy would cut it down to some."""

from __future__ import annotations

import warnings
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from linkwise.errors import ArgumentError
from linkwise.spatial.validation import numbers, real, unreadable, vectors
from support.messages import unnamed

TAKEN: list[tuple[Any, Any]] = [
    (1, 1.0),
    ([1, 2.5], [1.0, 2.5]),
    (np.float32(0.5), 0.5),
    (np.longdouble(2), 2.0),
    ([True, 0.5], [1.0, 0.5]),
    ([Fraction(1, 4), Decimal("0.5")], [0.25, 0.5]),
    ([10**30], [1e30]),
    ([], []),
]

REFUSED: list[tuple[Any, str]] = [
    (1j, "holds complex128"),
    (np.complex64(1), "holds complex64"),
    ([Fraction(1, 2), 1j], "holds 1j"),
    ("1.5", "holds <U3"),
    (["1.5", "2"], "holds <U3"),
    (b"1", "holds |S1"),
    (None, "holds None"),
    ([0.0, None], "holds None"),
    (np.array(["1", 2.0], dtype=object), "holds '1'"),
    (np.array([np.complex64(1), 1.0], dtype=object), "holds np.complex64(1+0j)"),
    (np.datetime64("2020-01-01"), "holds datetime64[D]"),
    ([[1.0], [1.0, 2.0]], "is not an array"),
    ({"a": 1.0}, "holds {'a': 1.0}"),
    (10**400, "holds 1000000000000000000000000000000000000..."),
]


@pytest.mark.parametrize(("value", "expected"), TAKEN)
def test_taken(value: Any, expected: Any) -> None:
    made = numbers("x", value)
    assert made.dtype == np.float64
    assert np.array_equal(made, expected)
    assert made.shape == np.shape(expected)


@pytest.mark.parametrize(("value", "found"), REFUSED)
def test_refused(value: Any, found: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ArgumentError) as caught:
            numbers("x", value, "a length, m")
    assert unnamed(caught.value, f"x {found}; expected a length, m") == []


@pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")
def test_what_numpy_would_lose_of_other_arrays() -> None:
    torch, jax = (pytest.importorskip(name, exc_type=ImportError) for name in ("torch", "jax"))
    one, reasons = torch.ones(2), []
    with torch.autograd.forward_ad.dual_level():
        reasons.append(unreadable(torch.autograd.forward_ad.make_dual(one, one)))
    torch.func.vmap(lambda x: reasons.append(unreadable(x)) or x)(one)
    jax.jit(lambda x: reasons.append(unreadable([x, 0.0])) or x)(1.0)
    assert [reason.partition(", and")[0] for reason in reasons] == [
        "is what torch differentiates by or maps over",
        "is what torch differentiates by or maps over",
        "is traced by JAX",
    ]
    assert unreadable([0.0, one.requires_grad_()[0]]).endswith("(.detach() drops it)")
    assert unreadable(one.to("meta", torch.float64).detach()).endswith("(on the CPU: .cpu())")
    assert "BFloat16" in unreadable(one.detach().bfloat16())
    assert unreadable([one.detach(), jax.numpy.ones(2), np.ones(2), 0.5]) == ""


def test_finite_unless_said() -> None:
    values = np.array([[0.0, 1.0], [np.inf, np.nan]])
    with pytest.raises(ArgumentError) as caught:
        numbers("x", values)
    assert unnamed(caught.value, "x is inf at (1, 0); expected finite real numbers") == []
    with pytest.raises(ArgumentError, match=r"^x is nan; expected finite real numbers$"):
        numbers("x", np.nan)
    assert np.array_equal(numbers("x", values, finite=False), values, equal_nan=True)


def test_a_copy_unless_said() -> None:
    values = np.ones(3)
    assert not np.shares_memory(numbers("x", values), values)
    assert numbers("x", values, copy=False) is values
    assert real(values) is values


def test_vectors_have_the_size_asked_for() -> None:
    given = np.ones((4, 3))
    found = vectors("q", given, 3)
    assert np.array_equal(found, given)
    assert found is not given
    for value, message in (
        (np.ones(2), r"q has the shape \(2,\); expected"),
        (1.0, r"q has the shape \(\)"),
        ([1j] * 3, "complex"),
    ):
        with pytest.raises(ArgumentError, match=message):
            vectors("q", value, 3)
    with pytest.raises(ArgumentError, match="q is nan"):
        vectors("q", [0.0, np.nan, 0.0], 3)
    assert np.isnan(vectors("q", [0.0, np.nan, 0.0], 3, finite=False)[1])
