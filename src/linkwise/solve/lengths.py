"""Lengths that make metres and radians comparable: of a mechanism, of its loops, of a frame.

Each defines a tolerance: half of what stands between all frames (`size_of`, constraints), the longest distance between two
joints (`longest_offset`, loops), the distance of a frame from the axes that turn it (`characteristic_length`, velocities).
"""

from __future__ import annotations

import numpy as np

from linkwise.algorithm import kernel_of
from linkwise.kinematics.loop_constraints import loop_frames, own_bodies
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import FloatArray

#: Greatest contribution of a slide to the size of a mechanism, relative to the other lengths: very wide limits would make
#: these negligible.
LONGEST_SLIDE = 100.0

#: Offsets below this part of the greatest length of a mechanism, or of 1 m, are rounding.
ROUNDING = 1e-13

#: Random configurations at which distances are measured.
SAMPLES = 256


def size_of(tree: Tree) -> float:
    """Characteristic length of the mechanism, m: half the sum of the distances between its frames; 1 if that is zero."""
    total = float(np.linalg.norm(tree.tool[:3, 3]))
    slides = 0.0
    for link in tree.links:
        total += float(np.linalg.norm(link.before[:3, 3]) + np.linalg.norm(link.after[:3, 3]))
        for part, limits in zip(link.joint_model.turns_and_slides, link.coordinate_limits, strict=True):
            if part.is_length and limits is not None:
                slides += float(max(abs(bound) if np.isfinite(bound) else 0.0 for bound in limits))
    return 0.5 * (total + min(slides, LONGEST_SLIDE * (total or 1.0))) or 1.0


def longest_offset(tree: Tree) -> float:
    """The longest offset between joints, or from a joint to a loop's frame, m; 1 where all is at one point."""
    bodies = own_bodies(tree)
    reach = [body.placement[:3, 3] for body in bodies.bodies if body.parent >= 0]
    grounded = [body.placement for body in bodies.bodies if body.parent < 0]
    for loop in tree.loops:
        for body, frame in loop_frames(tree, bodies, loop):
            (reach if body >= 0 else grounded).append(frame[:3, 3] if body >= 0 else frame)
    reach += [(np.linalg.inv(np.asarray(tree.base)) @ t)[:3, 3] for t in grounded]
    longest = max(float(np.linalg.norm(offset)) for offset in reach)
    frames = [*(body.placement for body in bodies.bodies), tree.base]
    greatest = max(1.0, *(float(np.linalg.norm(np.asarray(frame)[:3, 3])) for frame in frames))
    return longest if longest > ROUNDING * greatest else 1.0


def characteristic_length(mechanism: Tree, link: int | str = "tool") -> float:
    """The length (m) by which a frame's speed is divided to be compared with angular speed.

    The root mean square of the distance from the frame to the axes that turn it, over random configurations, to two digits:
    measured with it, the singular values of a small arm are those of a large one of the same shape. 1 m where nothing turns
    the frame, or all axes go through it. (J. Angeles, *Fundamentals of Robotic Mechanical Systems*, calls "characteristic" a
    length that makes a Jacobian homogeneous; his is another one.)

    Parameters
    ----------
    mechanism : Mechanism
        On a fixed base.
    link : int or str
        The frame: ``"tool"``, or a link by name or index, as in `Mechanism.jacobian`.

    Examples
    --------
    >>> from linkwise import robots
    >>> characteristic_length(robots.puma560()), characteristic_length(robots.planar_2r())
    (0.4, 1.2)
    """
    return mechanism.memo("characteristic_length", link, lambda: _length(mechanism, link))


def _length(mechanism: Tree, link: int | str) -> float:
    size = _distance(mechanism, link, _distance(mechanism, link, 0.0) or 1.0)
    return float(f"{size:.1e}") if size else 1.0


def _distance(mechanism: Tree, link: int | str, slide: float) -> float:
    """The root mean square of the distance to the axes, 0 where there are none; slides move by so much, m."""
    jac = kernel_of(mechanism, "jacobian", None, {"link": link})(random_configurations(mechanism, slide))
    turns, arms = np.linalg.norm(jac[:, 3:], axis=1), np.linalg.norm(jac[:, :3], axis=1)
    apart = arms[turns > 0.5 * turns.max(initial=0.0)]
    size = float(np.sqrt(np.mean(np.square(apart)))) if apart.size else 0.0
    return size if size > 1e-9 else 0.0


def random_configurations(mechanism: Tree, slide: float) -> FloatArray:
    """Random configurations (k, nq) within the limits; unlimited slides within `slide` on both sides of zero."""
    low, high = mechanism.q_min, mechanism.q_max
    bounded = np.isfinite(low) & np.isfinite(high)
    about = np.where(mechanism.is_length, slide, np.pi)
    start, end = np.where(bounded, low, -about), np.where(bounded, high, about)
    rng = np.random.default_rng(0)
    joints = rng.uniform(start, end, (SAMPLES, mechanism.n))
    return np.concatenate([*(at.joint.random(rng, SAMPLES, at.most) for at in mechanism.manifold_joints), joints], axis=1)
