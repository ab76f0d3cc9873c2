"""Distances of segments from boxes, beside a search along the segment, and of capsules from boxes beside coal."""

import numpy as np
import pytest

import linkwise as lw
from linkwise.clearance.kernels import box_gaps
from linkwise.spatial.rotation import rotation_about

HALF = np.array([0.6, 0.3, 0.05])


def placed(seed: int, count: int, kind: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Segments about a box (16,), all in one turned frame."""
    draw = np.random.default_rng(seed)
    p, d = draw.normal(size=(2, count, 3))
    if kind == "along an edge":
        d[:, draw.integers(0, 3)] = 0.0
    if kind == "along an axis":
        d[:, :2] = 0.0
    if kind == "point":
        d[:] = 0.0
    if kind == "on a face":
        p, d = p * HALF, d * HALF
        p[:, 2], d[:, 2] = HALF[2], 0.0
    R, center = rotation_about([0.6, 0.0, 0.8], draw.uniform(-3, 3)), draw.normal(size=3)
    return p @ R.T + center, d @ R.T, np.concatenate([R.ravel(), center, HALF, [0.0]])


def search(p: np.ndarray, d: np.ndarray, box: np.ndarray) -> np.ndarray:
    """The least distance of points of segments (N, 3) from a box, by narrowing a bracket: it is convex along them."""
    R, center, half = box[:9].reshape(3, 3), box[9:12], box[12:15]

    def distance(s: np.ndarray) -> np.ndarray:
        y = (p + d * s[:, None] - center) @ R
        return np.linalg.norm(np.maximum(np.abs(y) - half, 0.0), axis=1)

    low, high = np.zeros(len(p)), np.ones(len(p))
    for _ in range(120):
        a, b = low + (high - low) / 3, high - (high - low) / 3
        first = distance(a) <= distance(b)
        low, high = np.where(first, low, a), np.where(first, b, high)
    return np.min([distance(0.5 * (low + high)), distance(low), distance(high)], axis=0)


@pytest.mark.parametrize("kind", ["any", "along an edge", "along an axis", "point", "on a face"])
def test_distances_are_those_of_a_search_and_the_points_are_where_they_say(kind: str, uncompiled: None) -> None:
    p, d, box = placed(3, 400, kind)
    distance, apart, between, first, second = box_gaps(p, d, box)
    expected = search(p, d, box)
    outside = expected > 1e-9
    assert np.abs(distance - expected)[outside].max(initial=0.0) <= 1e-13  # sums of coordinates of a few m
    assert (distance[~outside] <= 1e-9).all()
    assert np.abs(first + np.where(distance > 0, 1, -1)[:, None] * apart - second)[distance != 0].max() <= 1e-14
    assert np.abs(np.linalg.norm(apart, axis=1) - between).max() <= 1e-14
    R, center, half = box[:9].reshape(3, 3), box[9:12], box[12:15]
    assert (np.abs((second - center) @ R) <= half + 1e-12)[outside].all()
    moved, *_ = box_gaps(p - apart * (distance < 0)[:, None] * (1 + 1e-9), d, box)
    assert (moved[distance < 0] >= -1e-9).all()  # (what a segment inside is moved back by takes it out)


def test_capsules_and_boxes_are_as_far_apart_as_coal_says() -> None:
    pytest.importorskip("coal")
    arm = lw.robots.planar_2r()
    arm = arm.with_shapes([lw.Shape.rod(name, (-0.9, 0, 0), (0, 0, 0.2), 0.05) for name in arm.link_names])
    boxes = [
        lw.Shape("world", "box", (0.4, 1.0, 0.02), origin=(1.0, 0.9, 0.3), name="board"),
        lw.Shape("world", "box", (0.1, 0.1, 1.0), origin=(-1.2, 0.6, 0.0), name="post"),
    ]
    q = arm.random_configuration(0, 200)
    bound, exact = arm.clearance(q, boxes), arm.clearance(q, boxes, exact=True)
    apart = exact.distance > 0
    error = np.abs(bound.distance - exact.distance)[apart].max()
    print(f"{error:.1e}")
    assert error <= 1e-10 * np.linalg.norm([0.4, 1.0, 0.02]) / 2.0 + 1e-12  # (coal's boxes may be as much longer)
    assert (bound.distance <= exact.distance + 1e-8).all()  # (coal's tolerance of depths)
    assert bound.excess.tolist() == [0.0] * len(bound.pairs)
    between = np.linalg.norm(bound.points[..., 1, :] - bound.points[..., 0, :], axis=-1)
    assert np.abs(between - np.abs(bound.distance)).max() <= 1e-12


def test_gradients_are_the_differences_of_distances(uncompiled: None) -> None:
    arm = lw.robots.planar_2r()
    arm = arm.with_shapes([lw.Shape.rod(name, (-0.9, 0, 0), (0, 0, 0.2), 0.05) for name in arm.link_names])
    box = lw.Shape("world", "box", (0.4, 1.0, 0.2), origin=(1.0, 0.9, 0.1))
    q = arm.random_configuration(1, 60)
    result, step = arm.clearance(q, [box]), 1e-6
    for k in range(arm.n):
        ahead, behind = (arm.clearance(q + sign * step * np.eye(arm.n)[k], [box]).distance for sign in (1, -1))
        slopes = (ahead - behind) / (2 * step)
        error = np.abs(slopes - result.gradient[..., k])
        assert np.quantile(error, 0.9) <= 1e-8  # central differences; the nearest point jumps at a few configurations
