import numpy as np
import pytest
import sympy

from linkwise.errors import ArgumentError
from linkwise.spacelib.programs import robscara

PRINTED_W04 = [[0, -7.854, 0, 0.916], [7.854, 0, 0, -0.916], [0, 0, 0, -0.5], [0] * 4]
PRINTED_W04A = [[0, -7.854, 0, -3.42], [7.854, 0, 0, 1.587], [0, 0, 0, -0.5], [0] * 4]
UP = (robscara.Q[0], robscara.Q[1], -0.5)


@pytest.mark.parametrize("found", [robscara.robscara(sense="as listed"), robscara.robscara(UP, sense="up")])
def test_the_printed_matrices(found: robscara.RobScara) -> None:
    np.testing.assert_allclose(found.W04, PRINTED_W04, atol=5.001e-4)  # three decimals
    np.testing.assert_allclose(found.W04a, PRINTED_W04A, atol=5.001e-4)
    np.testing.assert_allclose(found.m04[:3, 3], [0.319, 0.552, 1.0], atol=5.001e-4)


def test_the_listing_is_not_a_motion_and_the_others_are() -> None:
    """The velocity matrix must be the derivative of the position, central differences of step 1e-6."""
    q, qp, step = np.array(robscara.Q), np.array(robscara.QP), 1e-6
    for sense, wanted in (("down", True), ("up", True), ("as listed", False)):
        after, before = (robscara.robscara(q + sign * step * qp, qp, sense).m04 for sign in (1, -1))
        found = robscara.robscara(q, qp, sense)
        assert np.allclose(found.W04 @ found.m04, (after - before) / (2 * step), atol=1e-8) is wanted


def test_frame_a_has_the_axes_of_the_base() -> None:
    found = robscara.robscara((0.3, -0.4, 0.2), (1.0, 2.0, 3.0))
    assert np.array_equal(found.m0a[:3, :3], np.eye(3))
    tip = found.m04[:, 3]
    np.testing.assert_allclose(found.W04a[:, 3], found.W04 @ tip, atol=1e-15)  # velocity of the gripper, a few products


def test_symbols() -> None:
    a, b, h, va, vb, vh = sympy.symbols("a b h va vb vh")
    found = robscara.robscara([a, b, h], [va, vb, vh])
    arm = sympy.Rational(33, 100)
    reach = [arm * (turn(a) + turn(a + b)) for turn in (sympy.cos, sympy.sin)]
    x = sympy.Matrix([*reach, sympy.Rational(3, 2) - h])
    assert sympy.simplify(sympy.Matrix(found.m04[:3, 3]) - x).is_zero_matrix
    rate = x.diff(a) * va + x.diff(b) * vb + x.diff(h) * vh
    assert sympy.simplify(sympy.Matrix(found.W04a[:3, 3]) - rate).is_zero_matrix


def test_refusals() -> None:
    with pytest.raises(ArgumentError, match=r"sense.*'left'.*'down'.*'up'.*'as listed'"):
        robscara.robscara(sense="left")
    with pytest.raises(ArgumentError, match="q has 2 entries"):
        robscara.robscara([0.0, 1.0])
    with pytest.raises(ArgumentError, match="nan"):
        robscara.robscara([0.0, float("nan"), 1.0])
