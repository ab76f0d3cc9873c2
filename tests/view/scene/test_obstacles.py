"""Obstacles and nearest points in pictures and in the browser."""

import numpy as np
import pytest

import linkwise as lw
from linkwise.errors import ArgumentError
from linkwise.spatial.quaternion import quaternion_rotation
from linkwise.spatial.transform import transform
from linkwise.view.scene.obstacles import NearestPoints, collision_primitives, obstacle_primitives

ARM = lw.robots.planar_2r().with_shapes([lw.Shape.rod(name, (-1, 0, 0), (0, 0, 0), 0.05) for name in ("link1", "link2")])
BALL = lw.Shape("world", "sphere", 0.1, origin=(2.0, 0.5, 0.0), name="ball")


def test_obstacles_stand_in_the_world() -> None:
    base = transform(None, [1.0, 2.0, 3.0])
    (ball,) = obstacle_primitives(base, [BALL])
    assert ball.link == -1
    assert abs(base @ ball.frame - BALL.origin).max() < 1e-15
    assert [primitive.link for primitive in collision_primitives(ARM)] == [0, 1]
    mesh = lw.Shape("world", "mesh", (1, 1, 2), filename="a.stl", vertices=np.array([[0, 0, 0], [1, 2, 1.0]]))
    (box,) = obstacle_primitives(np.eye(4), [mesh])
    assert box.size == (1.0, 2.0, 2.0)
    assert box.frame[:3, 3].tolist() == [0.5, 1.0, 1.0]


def test_the_nearest_pair_comes_first() -> None:
    points, distances, pairs = NearestPoints.at(ARM, np.zeros(2), lw.Clear(0.0, [BALL]))
    assert pairs[0] == ("link2", BALL.name)
    assert np.allclose(points[0], [[2.0, 0.05, 0.0], [2.0, 0.4, 0.0]], atol=1e-15)
    assert abs(distances[0] - 0.35) < 1e-15
    assert NearestPoints.at(lw.robots.planar_3r(), np.zeros(3), lw.Clear(0.0, [BALL])).pairs == ()


def test_a_picture_has_them() -> None:
    pytest.importorskip("matplotlib")
    axes = ARM.draw([0.0, 0.0], obstacles=[BALL]).axes[0]
    assert any("0.35 m" in text.get_text() for text in axes.texts)


def test_a_page_has_them() -> None:
    pytest.importorskip("viser")
    with lw.view.browse(ARM, q=[0.0, 0.0], obstacles=[BALL], port=0) as viewer:
        painter = viewer._scene
        painter.show([0.0, 0.0])
        line, *ends = painter._witnesses[0]
        first = np.array([end.position for end in ends])
        painter.show([0.3, 0.0])
        assert abs(first - [[2.0, 0.05, 0.0], [2.0, 0.4, 0.0]]).max() < 1e-6
        moved = np.array([end.position for end in ends])
        assert abs(moved - first).max() > 0.01
        turned = quaternion_rotation(np.array(line.wxyz)) @ [0.0, 0.0, line.scale[2]]
        assert np.allclose(line.position + turned, moved[1], atol=1e-6)


def test_a_floating_base_does_not_carry_obstacles() -> None:
    pytest.importorskip("viser")
    boat = lw.Mechanism([lw.Link(name="body", joint="fixed", mass=1.0, inertia=(1, 1, 1))], floating=True)
    with pytest.raises(ArgumentError, match="floats"):
        lw.view.browse(boat, obstacles=[BALL], port=0)
