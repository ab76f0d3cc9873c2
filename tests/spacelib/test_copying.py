"""Copies of matrices and of their parts."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sympy

from linkwise.errors import ArgumentError
from linkwise.spacelib.constants import Col, Row
from linkwise.spacelib.matrices import mcopy, mmcopy, mvcopy, vmcopy
from support.messages import unnamed

A = np.arange(24.0).reshape(2, 3, 4)


def test_copies_hold_the_same_and_share_nothing() -> None:
    for made, wanted in [
        (mcopy(A), A),
        (mcopy([1, 2]), np.array([1.0, 2.0])),
        (mmcopy(A, 2, 3), A[:, :2, :3]),
        (mvcopy(A[0], 3, 4, 4, Col), A[0, :, 3]),
        (mvcopy(A, 3, 4, 1, Row), A[:, 0]),
        (vmcopy([7.0, 8.0, 9.0, 1.0], 3, 4, Col, A, 3, 4), np.concatenate([A[..., :3], [[[7], [8], [9]]] * 2], axis=2)),
    ]:
        assert np.array_equal(made, wanted)
        assert made.flags.writeable
        assert made.flags.owndata
        assert not np.shares_memory(made, A)


def test_vector_into_row_or_column() -> None:
    """As the manual's program ELB_I_DH calls it: three entries of a point into the fourth column."""
    M = np.eye(4)
    made = vmcopy([1.0, 2.0, 3.0, 1.0], 3, 4, Col, M, 4, 4)
    assert made[:, 3].tolist() == [1.0, 2.0, 3.0, 1.0]
    assert np.array_equal(M, np.eye(4))
    assert np.array_equal(mvcopy(made, 4, 4, 4, Col)[:3], [1.0, 2.0, 3.0])
    assert vmcopy([[5.0], [6.0]], 2, 1, Row, M, 4, 4)[0].tolist() == [5.0, 6.0, 0.0, 0.0]
    vectors = np.arange(6.0).reshape(2, 3)
    batch = vmcopy(vectors, 3, 4, Col, M, 4, 4)
    assert all(np.array_equal(batch[k], vmcopy(vectors[k], 3, 4, Col, M, 4, 4)) for k in range(2))


def test_symbols() -> None:
    x = sympy.Symbol("x")
    made = vmcopy([x, 0.5, 0], 3, 1, Col, np.eye(3), 3, 3)
    assert made.tolist() == [[x, 0, 0], [sympy.Rational(1, 2), 1, 0], [0, 0, 1]]
    assert mvcopy(made, 3, 3, 1, Row).tolist() == [x, 0, 0]
    assert mmcopy(made, 1, 1).tolist() == mcopy([[x]]).tolist() == [[x]]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: mmcopy(A, 4, 1), "mmcopy: im is 4; expected a whole number from 1 to 3"),
        (lambda: mmcopy([1.0], 1, 1), "mmcopy: A is of shape (1,); expected a matrix (..., m, n)"),
        (lambda: mvcopy(A, 3, 3, 1, Row), "mvcopy: A is of shape (2, 3, 4); expected (..., 3, 3), as rows and cols say"),
        (lambda: mvcopy(A, 3, 4, 0, Row), "mvcopy: val is 0; expected a whole number from 1 to 3"),
        (lambda: mvcopy(A, 3, 4, 5, Col), "mvcopy: val is 5; expected a whole number from 1 to 4"),
        (lambda: mvcopy(A, 3, 4, 1, 2), "mvcopy: type is 2; expected 'Row (0)' or 'Col (1)'"),
        (lambda: vmcopy([1.0], 2, 1, Row, A, 3, 4), "vmcopy: dim is 2; expected a whole number from 1 to 1"),
        (lambda: vmcopy(np.ones(9), 4, 1, Col, A, 3, 4), "vmcopy: dim is 4; expected a whole number from 1 to 3"),
        (lambda: vmcopy(1.0, 1, 1, Row, A, 3, 4), "vmcopy: v is 1.0; expected a vector (..., k)"),
        (
            lambda: vmcopy(np.ones((3, 4)), 4, 1, Row, A, 3, 4),
            "vmcopy: the batch shapes do not fit each other: v (3,), A (2,)",
        ),
        (lambda: mcopy([np.nan]), "mcopy: A1 is nan at (0,); expected finite numbers"),
    ],
)
def test_refused(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        call()
    assert unnamed(caught.value, message) == []
