import math

import numpy as np
import pytest
import sympy
from scipy.spatial.transform import Rotation

from linkwise.errors import ArgumentError
from linkwise.spacelib.programs import triangle


def test_the_manuals_triangle() -> None:
    found = triangle.triangle()
    assert found.Q.tolist() == [[0, 1, 0, 2], [-1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    assert found.m10.tolist() == [[1, 0, 0, 0], [0, 1, 0, -1], [0, 0, 1, -2], [0, 0, 0, 1]]
    text = triangle.text(found)
    for line in (
        "Rotation angle phi = 1.570796 rad = 90 deg",
        "Axis direction u = [0 0 -1]",
        "Point P of the axis = [1 -1 0 1]",
        "Translation h = 0 m",
    ):
        assert line in text.splitlines()


def test_points_go_where_they_should() -> None:
    """Random rigid displacements of random triangles; the screw gives the points again."""
    rng = np.random.default_rng(1)
    for _ in range(10):
        before = rng.normal(size=(3, 3))
        turn, shift = Rotation.random(random_state=rng), rng.normal(size=3)
        after = turn.apply(before) + shift
        found = triangle.triangle(before, after)
        got = before @ found.Q[:3, :3].T + found.Q[:3, 3]
        np.testing.assert_allclose(got, after, atol=1e-13)  # lengths of about 1, some ten products each, edges down to 0.1
        assert found.phi == pytest.approx(turn.magnitude(), abs=1e-13)
        on_axis = found.Q @ found.P
        np.testing.assert_allclose(on_axis[:3], found.P[:3] + found.h * found.u, atol=1e-12)
        assert found.P[:3] @ found.u == pytest.approx(0, abs=1e-12)


def test_symbols() -> None:
    """Points that are not numbers: a shift along z of a triangle by c."""
    c = sympy.symbols("c", positive=True)
    after = [[0, 1, 2 + c, 1], [0, 6, 2 + c, 1], [0, 1, 6 + c, 1]]
    found = triangle.triangle([[0, 1, 2, 1], [0, 6, 2, 1], [0, 1, 6, 1]], after)
    shift = sympy.eye(4)
    shift[2, 3] = c
    assert sympy.simplify(sympy.Matrix(found.Q) - shift).is_zero_matrix


def test_points_on_one_line_are_refused() -> None:
    with pytest.raises(ArgumentError, match="after has 2 points; expected three"):
        triangle.triangle(after=[[0, 0, 0], [1, 0, 0]])
    line = [[0, 0, 0], [1, 0, 0], [2, 0, 0]]
    with pytest.raises(ArgumentError):
        triangle.triangle(line, triangle.AFTER)
    assert math.isfinite(triangle.triangle(triangle.BEFORE, triangle.AFTER).phi)
