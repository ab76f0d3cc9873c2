"""Coordinates of the viewer's sliders: joint coordinates; positions and roll, pitch, yaw of joints with quaternions."""

from __future__ import annotations

import math

import numpy as np

from linkwise.model.tree import ManifoldJoint, Tree
from linkwise.spatial.quaternion import quaternion_rotation, rotation_quaternion
from linkwise.spatial.rotation import rotation_to_rpy, rpy_to_rotation
from linkwise.spatial.scalar import FloatArray

#: Sliders that say the orientation to so many rad, or the position to so many m, stay as they are.
SAME = 1e-12

#: Below this cosine of the pitch, roll and yaw rotate about one axis: their sum is divided as before.
LOCK = 1e-7

#: Names of the sliders of a position and of an orientation, and whether each is a length.
POSITION, ROTATION = ("x", "y", "z"), ("roll", "pitch", "yaw")


class SliderCoordinates:
    """The values (nv,) of all sliders, for a mechanism that moves.

    A ball joint has roll, pitch and yaw, about the fixed axes x, y and z of its parent; a body that floats, and a floating
    base, x, y, z before them. The three angles of an orientation are those nearest to the ones before, whole turns and the
    other triple with a pitch beyond a right angle included, so they do not jump while the joint turns; sliders that say an
    orientation already stay as they are.

    Parameters
    ----------
    tree : Tree
        The mechanism.
    q : (nq,) ndarray
        Where it stands at first.

    Examples
    --------
    >>> from linkwise import Link, Mechanism
    >>> hip = Mechanism([Link(name="thigh", joint="ball"), Link(name="knee")])
    >>> sliders = SliderCoordinates(hip, hip.neutral)
    >>> at = hip.manifold_joints[0]
    >>> q = np.array([*sliders.moved(0, np.pi / 2, hip.neutral), 0.5])
    >>> sliders.show(q).round(9).tolist(), q.round(3).tolist()
    ([1.570796327, 0.0, 0.0, 0.5], [0.707, 0.707, 0.0, 0.0, 0.5])
    """

    def __init__(self, tree: Tree, q: FloatArray) -> None:
        self._tree = tree
        self._free = tree.nv - tree.n
        self._values = np.zeros(tree.nv)
        self.show(q)

    @property
    def values(self) -> FloatArray:
        """Values of the sliders (nv,), m and rad."""
        return self._values.copy()

    def joint_of(self, slider: int) -> ManifoldJoint | None:
        """The joint with a quaternion that a slider moves, by its index; None for one that moves a joint coordinate."""
        return next((at for at in self._tree.manifold_joints if at.v.start <= slider < at.v.stop), None)

    def show(self, q: FloatArray) -> FloatArray:
        """The values (nv,) at the configuration q (nq,), nearest to those before."""
        self._values[self._free :] = q[self._tree.nq - self._tree.n :]
        for at in self._tree.manifold_joints:
            now, wanted = self._values[at.v], q[at.q]
            if np.abs(at.joint.difference(_coordinates(at, now, wanted), wanted)).max() > SAME:
                angles = _nearest_angles(np.asarray(quaternion_rotation(q[at.quaternion]), dtype=float), now[-3:])
                self._values[at.v] = [*wanted[:-4], *angles]
        return self.values

    def moved(self, slider: int, value: float, q: FloatArray) -> FloatArray:
        """Coordinates of a joint with a quaternion after one of its sliders has changed; q (nq,) is its present position."""
        at = self.joint_of(slider)
        assert at is not None
        self._values[slider] = value
        return _coordinates(at, self._values[at.v], q[at.q])


def _coordinates(at: ManifoldJoint, values: FloatArray, near: FloatArray) -> FloatArray:
    """The coordinates of a joint at the values of its sliders; of both quaternions the one on the side of `near`."""
    quaternion = rotation_quaternion(np.asarray(rpy_to_rotation(*values[-3:]), dtype=float))
    return np.concatenate([values[:-3], -quaternion if quaternion @ near[-4:] < 0.0 else quaternion])


def _nearest_angles(rotation: FloatArray, before: FloatArray) -> FloatArray:
    """Roll, pitch and yaw (3,) of a rotation (3, 3), nearest to those before."""
    roll, pitch, yaw = rotation_to_rpy(rotation)
    if math.hypot(rotation[0, 0], rotation[1, 0]) < LOCK:
        # Only yaw - roll (pitch up) or yaw + roll (pitch down) is determined: both change equally from their last values.
        sign = -1.0 if pitch > 0.0 else 1.0
        pitch = _turned_near(pitch, before[1])
        share = 0.5 * _turned_near(yaw + sign * roll - before[2] - sign * before[0], 0.0)
        return np.array([before[0] + sign * share, pitch, before[2] + share])
    triples = np.array([[roll, pitch, yaw], [roll + math.pi, math.pi - pitch, yaw + math.pi]])
    near = np.array([[_turned_near(value, old) for value, old in zip(triple, before, strict=True)] for triple in triples])
    return np.asarray(near[np.argmin(np.abs(near - before).sum(axis=1))])


def _turned_near(value: float, other: float) -> float:
    """The angle plus whole turns, nearest to another."""
    return float(value + math.tau * round((other - value) / math.tau))
