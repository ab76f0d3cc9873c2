"""The quaternion object against rotation matrices, and the arcs between two of them."""

import copy
import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkwise.errors import ArgumentError
from linkwise.rtss import rt_q2tr, rt_qinterp, rt_quaternion, rt_rotvec, rt_rotx, rt_roty, rt_rpy2tr
from linkwise.rtss.fields import FieldError
from support.messages import unnamed

EPS = np.finfo(float).eps
RNG = np.random.default_rng(1843)

elements = st.lists(st.floats(-4, 4), min_size=4, max_size=4).filter(lambda q: np.linalg.norm(q) > 0.1)


def rotation(q: rt_quaternion) -> np.ndarray:
    return rt_q2tr(q)[:3, :3]


def test_every_way_to_make_one() -> None:
    T = rt_rotvec([1, -2, 0.5], 0.8)
    made = rt_quaternion([1, -2, 0.5], 0.8)
    for q in (
        rt_quaternion(T),
        rt_quaternion(T[:3, :3]),
        rt_quaternion(made),
        rt_quaternion(made.d),
        rt_quaternion([made.d]),
    ):
        assert np.abs(q.d - made.d).max() < 4 * EPS
        assert abs(q.norm() - 1) < 4 * EPS
    assert made.s == pytest.approx(np.cos(0.4), abs=EPS)
    assert np.abs(made.v - np.sin(0.4) * np.array([1, -2, 0.5]) / np.sqrt(5.25)).max() < EPS
    assert np.abs(made.t - T).max() < 4 * EPS
    assert np.array_equal(made.r, made.t[:3, :3])
    assert np.array_equal(rt_quaternion([1, 2, 3, 4]).double(), [1, 2, 3, 4])


def test_equal_elements_make_equal_quaternions() -> None:
    q = rt_quaternion([1, 2, 3, 4])
    assert q == rt_quaternion(q.d)
    assert len({q, rt_quaternion(q.d), rt_quaternion(-q.d)}) == 2  # one rotation, two quaternions
    assert q != [1, 2, 3, 4]


@given(elements, elements)
def test_products_and_quotients_are_those_of_rotations(a: list[float], b: list[float]) -> None:
    """A rounding of some units for each factor; the shorter one is 0.1 long and the longer one 8."""
    p, q = rt_quaternion(a), rt_quaternion(b)
    assert np.abs(rotation(p * q) - rotation(p) @ rotation(q)).max() < 32 * EPS
    assert np.abs(rotation(p / q) - rotation(p) @ rotation(q).T).max() < 32 * EPS
    assert (p * q).norm() == pytest.approx(p.norm() * q.norm(), rel=8 * EPS)
    assert np.abs((q * q.inv()).d - [1, 0, 0, 0]).max() < 8 * EPS
    assert np.abs((p * q / q).d - p.d).max() < 32 * EPS * p.norm()
    assert np.abs((p / 2.0).d * 2 - p.d).max() == 0
    assert np.abs(p.unit().d * p.norm() - p.d).max() < 4 * EPS * p.norm()


@given(elements, st.integers(-5, 5))
def test_powers(a: list[float], power: int) -> None:
    """As long as made of length 1; the original gives q for the power 0."""
    q = rt_quaternion(a).unit()
    expected = np.linalg.matrix_power(rotation(q), power)
    assert np.abs(rotation(q**power) - expected).max() < 64 * EPS
    assert np.array_equal((q**0).d, [1, 0, 0, 0])


@given(elements)
def test_vectors_are_turned(a: list[float]) -> None:
    q, v = rt_quaternion(a), RNG.standard_normal((2, 5, 3))
    assert np.abs(q * v - v @ rotation(q).T).max() < 32 * EPS
    assert np.array_equal(q * v[0, 0], (q * v)[0, 0])
    column = q * v[0, 0][:, None]
    assert column.shape == (3, 1)
    assert np.array_equal(column[:, 0], q * v[0, 0])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("size", [2.0**-800, 2.0**800])
def test_lengths_whose_squares_are_no_numbers(size: float) -> None:
    """The same to the last bit as without the power of two, which nothing rounds."""
    plain = np.array([0.6, 0.0, -0.5, 0.3])
    q, unit = rt_quaternion(plain * size), rt_quaternion(plain).unit()
    assert (q.norm(), q.unit()) == (rt_quaternion(plain).norm() * size, unit)
    assert q * [1.0, 2.0, 3.0] == pytest.approx(unit * [1.0, 2.0, 3.0], abs=16 * EPS)
    assert (q * q.inv()).d == pytest.approx([1.0, 0.0, 0.0, 0.0], abs=4 * EPS)
    assert rotation(q) == pytest.approx(rotation(unit), abs=4 * EPS)
    other = -plain[::-1]
    assert rt_qinterp(q, rt_quaternion(other * size), 1.0) == rt_qinterp(rt_quaternion(plain), rt_quaternion(other), 1.0)
    assert rt_quaternion(plain[1:] * size, 0.7) == rt_quaternion(plain[1:], 0.7)


def test_it_looks_as_in_the_original_and_never_changes() -> None:
    q = rt_quaternion(rt_rotx(0.2))
    assert repr(q) == "0.995004 <0.099833, 0.000000, 0.000000>"
    with pytest.raises(FieldError, match=r"quaternion.*assigning"):
        q.s = 1  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        q.d[0] = 1
    for other in (copy.copy(q), copy.deepcopy(q), pickle.loads(pickle.dumps(q))):
        assert np.array_equal(other.d, q.d)


def test_interpolation_keeps_a_steady_pace() -> None:
    q1, q2 = rt_quaternion(rt_rotx(0.3)), rt_quaternion(rt_roty(-0.5))
    ratios = np.linspace(0, 1, 7)
    arc = rt_qinterp(q1, q2, ratios)
    assert np.abs(arc[0].d - q1.d).max() < 2 * EPS
    assert np.abs(arc[-1].d - q2.d).max() < 4 * EPS
    steps = [(b / a).s for a, b in pairwise(arc)]
    assert np.ptp(steps) < 8 * EPS
    whole = np.arccos(q1.d @ q2.d)
    for r, q in zip(ratios, arc, strict=True):  # K. Shoemake's formula with two sines, which loses digits at small angles
        expected = (np.sin((1 - r) * whole) * q1.d + np.sin(r * whole) * q2.d) / np.sin(whole)
        assert np.abs(q.d - expected).max() < 16 * EPS
    one = rt_qinterp(q1, q2, ratios[2])
    assert np.array_equal(one.d, arc[2].d)


def test_interpolation_between_near_ones_and_the_long_way_round() -> None:
    q = rt_quaternion(rt_rpy2tr(0.1, 0.2, 0.3))
    assert np.array_equal(rt_qinterp(q, q, 0.5).d, q.unit().d)
    near = rt_quaternion([1, 0, 0], 1e-9) * q
    assert np.abs((rt_qinterp(q, near, 0.5) / q).v - [0.25e-9, 0, 0]).max() < 4 * EPS

    a, b = rt_quaternion([0, 0, 1], 0.2), rt_quaternion([0, 0, 1], 6.0)
    long, short = (rt_qinterp(a, b, 0.5, shortest=shortest) for shortest in (False, True))
    assert np.abs(rotation(long) - rt_rotvec([0, 0, 1], 3.1)[:3, :3]).max() < 8 * EPS
    assert np.abs(rotation(short) - rt_rotvec([0, 0, 1], 3.1 - np.pi)[:3, :3]).max() < 8 * EPS


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda q: rt_quaternion([1, 2, 3]),
            "rt_quaternion: v has the shape (3,); expected a quaternion, a rotation (3, 3), a transform (4, 4), four "
            "elements, or an axis and an angle",
        ),
        (
            lambda q: rt_quaternion(2 * np.eye(3)),
            "rt_quaternion: v is [[2.0, 0.0, 0.0, 0.0], [0.0, 2.0, 0.0, 0.0], [0.0, 0.0, 2.0, 0.0], [0.0, 0.0,...; "
            "expected a rigid pose: orthonormal right-handed rotation, last row 0 0 0 1",
        ),
        (lambda q: rt_quaternion([0, 0, 0], 1), "rt_quaternion: v is [0, 0, 0]; expected an axis with a direction"),
        (lambda q: rt_quaternion([0, 0, 1], [1]), "rt_quaternion: theta has the shape (1,); expected an angle, rad"),
        (lambda q: q**0.5, "a quaternion has the exponent 0.5; expected a whole number"),
        (lambda q: q / 0, "a quaternion is divided by 0; expected a quaternion or a number other than 0"),
        (lambda q: q * 2, "a quaternion is multiplied with an array of shape (); expected a quaternion or vectors (..., 3)"),
        (lambda q: rt_quaternion([0, 0, 0, 0]).inv(), "a quaternion of length zero cannot be inverted"),
        (lambda q: rt_quaternion([0, 0, 0, 0]).unit(), "a quaternion of length zero cannot be made one of length 1"),
        (lambda q: rt_q2tr(rt_quaternion([0, 0, 0, 0])), "a quaternion of length zero cannot be made a transform"),
        (lambda q: rt_q2tr([1, 0, 0, 0]), "rt_q2tr: q is [1, 0, 0, 0]; expected an rt_quaternion"),
        (lambda q: rt_qinterp(q, q, [0.0, 1.1]), "rt_qinterp: r is 1.1; expected numbers from 0 to 1"),
        (
            lambda q: rt_qinterp(q, q, np.zeros((2, 2))),
            "rt_qinterp: r has the shape (2, 2); expected one number from 0 to 1, or a vector of them",
        ),
        (
            lambda q: rt_qinterp(q, q / -1, 0.5),
            "rt_qinterp: q1 and q2 are opposite, the same rotation; shortest=True stays there",
        ),
        (lambda q: rt_qinterp(q, 1, 0.5), "rt_qinterp: q2 is 1; expected an rt_quaternion"),
    ],
)
def test_what_cannot_be_is_told(call: object, message: str) -> None:
    with pytest.raises(ArgumentError) as told:
        call(rt_quaternion([1, 0, 0, 0]))  # type: ignore[operator]
    assert unnamed(told.value, message) == []
