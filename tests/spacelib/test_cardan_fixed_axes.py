"""The names for fixed sequences of axes, against the functions that take the axes, and against SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from linkwise.errors import ArgumentError
from linkwise.spacelib import cardan
from linkwise.spacelib.cardan import cardatoh, cardatom, cardatow, htocarda, mtocarda, wtocarda
from linkwise.spacelib.constants import X, Y, Z

FAMILIES = [("card", (X, Y, Z), "XYZ"), ("eul", (Z, X, Z), "ZXZ"), ("naut", (Z, Y, X), "ZYX")]


@pytest.mark.parametrize(("name", "axes", "letters"), FAMILIES)
def test_all_six(name: str, axes: tuple[int, int, int], letters: str) -> None:
    rng = np.random.default_rng(1)
    q, qp, qpp, point = rng.uniform(0.1, 1.4, (4, 7, 3))
    m = getattr(cardan, f"{name}toM")(q, point)
    w = getattr(cardan, f"{name}toW")(q, qp, point)
    h = getattr(cardan, f"{name}toH")(q, qp, qpp, point)
    assert np.abs(m[:, :3, :3] - Rotation.from_euler(letters, q).as_matrix()).max() <= 2e-15  # a dozen roundings
    assert np.array_equal(m, cardatom(q, *axes, point))
    assert np.array_equal(w, cardatow(q, qp, *axes, point))
    assert np.array_equal(h, cardatoh(q, qp, qpp, *axes, point))
    assert np.array_equal(getattr(cardan, f"Mto{name}")(m), mtocarda(m, *axes))
    assert np.array_equal(getattr(cardan, f"Wto{name}")(m, w), wtocarda(m, w, *axes))
    found = getattr(cardan, f"Hto{name}")(m, w, h)
    assert np.array_equal(found, htocarda(m, w, h, *axes))
    # An error of a rounding, times the square of the inverse of A, up to 1 / sin(0.1).
    assert max(np.abs(found[0] - q).max(), np.abs(found[2] - qp).max(), np.abs(found[4] - qpp).max()) <= 3e-15 * 100


def test_errors_name_the_function_that_does_it() -> None:
    with pytest.raises(ArgumentError, match=r"mtocarda.*\(3, 3\).*\(\.\.\., 4, 4\)"):
        cardan.Mtonaut(np.eye(3))
