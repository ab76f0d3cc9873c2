"""Each subproblem: its angles fulfil its equation, the true one is among them; without an answer the nearest is given."""

from __future__ import annotations

import math

import numpy as np
import pytest

from linkwise.inverse_kinematics.closed_form.subproblems import (
    Turn,
    align,
    component,
    cone,
    length_between,
    linear,
    turned,
    two_axes,
    unturned,
)
from support.axis_arms import direction

FREE = Turn(math.cos(0.4), math.sin(0.4))

SAME = 1e-9
"""Angles away from double roots: rounding over a slope of 1e-3 at least."""


def _turn(angle: float) -> Turn:
    return Turn(math.cos(angle), math.sin(angle))


def _angle(turn: Turn) -> float:
    assert abs(turn.c**2 + turn.s**2 - 1.0) < 1e-14
    return math.atan2(turn.s, turn.c)


def _away(turn: Turn, angle: float) -> float:
    return abs(math.remainder(_angle(turn) - angle, 2 * math.pi))


@pytest.fixture(params=range(20))
def drawn(request: pytest.FixtureRequest) -> tuple[np.random.Generator, np.ndarray, np.ndarray, np.ndarray, float]:
    rng = np.random.default_rng(request.param)
    return rng, direction(rng), rng.normal(size=3), rng.normal(size=3), rng.uniform(-3, 3)


def test_turning_is_rodrigues_and_back(drawn: tuple[np.random.Generator, np.ndarray, np.ndarray, np.ndarray, float]) -> None:
    _, k, p, q, angle = drawn
    x, y, z = k
    skew = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    matrix = np.eye(3) + math.sin(angle) * skew + (1 - math.cos(angle)) * skew @ skew
    assert np.abs(turned(k, _turn(angle), p) - matrix @ p).max() < 1e-14
    assert np.abs(unturned(k, _turn(angle), p) - matrix.T @ p).max() < 1e-14
    assert _away(_turn(0.7).plus(_turn(angle)), 0.7 + angle) < 1e-14
    assert _away(_turn(0.7).minus(_turn(angle)), 0.7 - angle) < 1e-14
    assert np.isfinite(q).all()


def test_one_vector_into_another(drawn: tuple[np.random.Generator, np.ndarray, np.ndarray, np.ndarray, float]) -> None:
    _, k, p, q, angle = drawn
    assert _away(align(k, p, turned(k, _turn(angle), p), FREE), angle) < SAME
    nearest = align(k, p, q, FREE)
    trials = [np.linalg.norm(turned(k, _turn(t), p) - q) for t in np.linspace(0, 2 * math.pi, 721)]
    assert np.linalg.norm(turned(k, nearest, p) - q) <= min(trials) + 1e-12
    assert align(k, 2.0 * k, q, FREE, 1e-13) == FREE


def test_component_and_distance(drawn: tuple[np.random.Generator, np.ndarray, np.ndarray, np.ndarray, float]) -> None:
    _, k, p, q, angle = drawn
    there = turned(k, _turn(angle), p)
    first, second, miss = component(k, q, p, float(q @ there), FREE)
    assert min(_away(first, angle), _away(second, angle)) < SAME
    assert abs(miss) < 1e-12
    for turn in (first, second):
        assert abs(float(q @ turned(k, turn, p)) - float(q @ there)) < 1e-12
    square = float(np.sum((there - q) ** 2))
    first, second, miss = length_between(k, p, q, square, FREE)
    assert min(_away(first, angle), _away(second, angle)) < SAME
    for turn in (first, second):
        assert abs(float(np.sum((turned(k, turn, p) - q) ** 2)) - square) < 1e-12


def test_two_axes(drawn: tuple[np.random.Generator, np.ndarray, np.ndarray, np.ndarray, float]) -> None:
    rng, k, p, _, angle = drawn
    other, second = direction(rng), rng.uniform(-3, 3)
    q = turned(k, _turn(angle), turned(other, _turn(second), p))
    found = two_axes(k, other, p, q, FREE, FREE)
    assert min(_away(a, angle) + _away(b, second) for a, b, _ in found) < 1e-8
    for a, b, miss in found:
        assert np.abs(turned(k, a, turned(other, b, p)) - q).max() < 1e-8
        assert abs(miss) < 1e-12


@pytest.mark.parametrize("size", [1.0, 1e-5, 1e-8, 1e-11, 0.0])
def test_a_cone_keeps_small_angles(size: float) -> None:
    """Where the axis of a cone and what is turned about it come into one line, the small angle between them is not lost."""
    h, k = np.array([0.0, 0.0, 1.0]), np.array([0.0, 1.0, 0.0])
    v = np.array([math.sin(size), 0.0, math.cos(size)])
    first, second, miss = cone(k, h, h, v, FREE)
    assert sorted([_angle(first), _angle(second)]) == pytest.approx([-size, size], rel=1e-12, abs=1e-16)
    assert miss == 0.0
    first, second, _ = cone(k, h, h, -v, FREE)
    assert sorted(abs(_angle(turn)) for turn in (first, second)) == pytest.approx([math.pi - size] * 2, rel=1e-15)


def test_without_an_answer_the_nearest() -> None:
    first, second, miss = linear(3.0, 4.0, 6.0, FREE)
    assert first == second
    assert (first.c, first.s, miss) == pytest.approx((0.6, 0.8, 1.0), abs=1e-15)
    first, second, miss = linear(3.0, 4.0, -6.0, FREE)
    assert (first.c, first.s, miss) == pytest.approx((-0.6, -0.8, 1.0), abs=1e-15)
    assert linear(0.0, 0.0, 0.0, FREE) == (FREE, FREE, 0.0)
    assert linear(1e-15, 0.0, 0.5, FREE)[:2] == (FREE, FREE)
