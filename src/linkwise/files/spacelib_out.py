"""The text layout of SpaceLib's OUT files: twelve 4x4 matrices of each link at each instant.

G. Legnani et al., *SpaceLib for MATLAB, User's Manual*, section 7.1, program ROB_MAT, with the labels put right where the
listing slips: W and H are seen in frame (i-1), and the labels of HA and JO are whole. ACTO(i) is the action of link i on
link i-1, the opposite of `Mechanism.joint_wrenches`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from linkwise.files.csv_results import formatted
from linkwise.model.link import Link
from linkwise.model.tree import Tree
from linkwise.spatial.matrix_method import (
    action_matrix,
    gravity_matrix,
    skew_part,
    tensor_to_frame,
    to_frame,
    velocity_matrix,
)
from linkwise.spatial.scalar import FloatArray

LABELS = (
    "Relative Position Matrix A",
    "Absolute Position Matrix T",
    "Relative Velocity Matrix in frame (i-1) W",
    "Relative Velocity Matrix in frame (0) WO",
    "Absolute Velocity Matrix in frame (0) WA",
    "Relative Acceleration Matrix in frame (i-1) H",
    "Relative Acceleration Matrix in frame (0) HO",
    "Absolute Acceleration Matrix in frame (0) HA",
    "Inertia Matrix in frame (i) J",
    "Inertia Matrix in frame (0) JO",
    "Total actions FI",
    "Actions on Joint (i) ACTO",
)

#: Phi (6, 4, 4) of unit forces along and unit moments about x, y, z.
ACTIONS = np.array([action_matrix(unit[:3], unit[3:]) for unit in np.eye(6)], dtype=float)


def matrices(
    tree: Tree, qd: FloatArray, qdd: FloatArray, T: FloatArray, W: FloatArray, H: FloatArray, actions: FloatArray
) -> FloatArray:
    """Return the matrices of the layout (k, L, 12, 4, 4), in the order of `LABELS`.

    Parameters
    ----------
    tree : Tree
        The mechanism; i-1 stands for the parent of link i.
    qd, qdd : ndarray (k, n)
        Joint rates and accelerations.
    T, W, H : ndarray (k, L, 4, 4)
        Absolute pose, velocity and acceleration matrices, see `Mechanism.motion`.
    actions : ndarray (k, L, 6)
        See `Mechanism.joint_wrenches`.
    """
    carriers = [T[:, parent] if parent >= 0 else np.broadcast_to(tree.base, T[:, 0].shape) for parent in tree.parents]
    carrier = np.stack(carriers, axis=1)
    back = np.linalg.inv(carrier)
    screw = np.array([_screw(link) for link in tree.links])
    rate, second = (_of_links(tree, values) for values in (qd, qdd))
    screw_0 = carrier @ screw @ back
    inertia = _inertias(tree)
    inertia_0 = tensor_to_frame(inertia, T)
    parts = (
        back @ T,
        T,
        screw * rate,
        screw_0 * rate,
        W,
        screw * second + (screw @ screw) * rate**2,
        screw_0 * second + (screw_0 @ screw_0) * rate**2,
        H,
        np.broadcast_to(inertia, T.shape),
        inertia_0,
        skew_part(gravity_matrix(tree.gravity) - H, inertia_0),
        -np.tensordot(actions, ACTIONS, axes=1),
    )
    return np.stack(parts, axis=2)


def text(values: FloatArray) -> Iterator[str]:
    """Lay out matrices (k, L, 12, 4, 4), in parts; numbers to four decimals."""
    links = values.shape[1]
    row = "%12.4f" * 4 + "\n"
    body = "".join(f"{label}\n{row * 4}\n" for label in LABELS)
    instant = "".join(f"\n\n Link {k + 1} \n\n{body}" for k in range(links))
    rounded = np.round(values.reshape(len(values), -1), 4) + 0.0  # no minus before zero
    return formatted(rounded, instant)


def _screw(link: Link) -> FloatArray:
    """L (4, 4): velocity matrix per unit joint speed, in the parent's frame; zero for a fixed link."""
    screws = link.joint_model.screws
    linear, angular = np.zeros((2, 3)) if screws is None or not len(screws) else np.reshape(screws, (2, 3))
    return np.asarray(to_frame(velocity_matrix(angular, linear), link.before), dtype=float)


def _of_links(tree: Tree, values: FloatArray) -> FloatArray:
    """The value (k, L, 1, 1) of each link's own joint, zero where it has none."""
    ratios = np.array([joint.ratio for joint in tree.followers])
    padded = np.concatenate((values, np.zeros((len(values), 1))), axis=1)
    return (ratios * padded[:, list(tree.coordinates)])[..., None, None]


def _inertias(tree: Tree) -> FloatArray:
    """Pseudo-inertia (L, 4, 4) of each link about its frame's origin; the one with the tool carries the payload."""
    bodies = [link.body.pseudo for link in tree.links]
    bodies[tree.tool_index] = bodies[tree.tool_index] + tensor_to_frame(tree.payload.pseudo, tree.tool)
    return np.array(bodies, dtype=float)
