"""The 4x4 matrix method as the program of the SpaceLib manual (section 7.1) computes it: written apart from the library.

Names are the manual's: A relative position, W and H relative velocity and acceleration in the joint's frame, T absolute
position, WO and HO the relative matrices in frame 0, WA and HA absolute, JO inertia in frame 0, FI action of gravity and
inertia on a link, ACTO action on joint i (of link i on link i-1, so minus what the link receives).
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from linkwise import Inertia, Mechanism


def velocity_and_acceleration(kind: str, axis: np.ndarray, pitch: float, qp: float, qpp: float) -> tuple[np.ndarray, ...]:
    x, y, z = axis
    unit = np.zeros((4, 4))
    if kind in {"revolute", "screw"}:
        unit[:3, :3] = [[0, -z, y], [z, 0, -x], [-y, x, 0]]
    if kind == "prismatic":
        unit[:3, 3] = axis
    if kind == "screw":
        unit[:3, 3] = pitch * axis
    return unit * qp, unit * qpp + unit @ unit * qp**2


def pseudo_inertia(body: Inertia) -> np.ndarray:
    """J: integral of p p' dm. From Ixx = integral of y2 + z2 and so on, integral of x2 = (Iyy + Izz - Ixx) / 2."""
    moved = np.zeros((4, 4))
    i = body.tensor
    moved[0, 0] = (i[1, 1] + i[2, 2] - i[0, 0]) / 2
    moved[1, 1] = (i[2, 2] + i[0, 0] - i[1, 1]) / 2
    moved[2, 2] = (i[0, 0] + i[1, 1] - i[2, 2]) / 2
    moved[0, 1] = moved[1, 0] = -i[0, 1]
    moved[0, 2] = moved[2, 0] = -i[0, 2]
    moved[1, 2] = moved[2, 1] = -i[1, 2]
    point = np.append(body.com, 1.0)
    return moved + body.mass * np.outer(point, point)


def skew(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a @ b - (a @ b).T


def wrench(phi: np.ndarray) -> np.ndarray:
    """Force and moment of an action matrix."""
    return np.array([phi[0, 3], phi[1, 3], phi[2, 3], phi[2, 1], phi[0, 2], phi[1, 0]])


def action(external: np.ndarray) -> np.ndarray:
    fx, fy, fz, cx, cy, cz = external
    return np.array([[0, -cz, cy, fx], [cz, 0, -cx, fy], [-cy, cx, 0, fz], [-fx, -fy, -fz, 0]])


def rob_mat(
    mech: Mechanism, q: np.ndarray, qp: np.ndarray, qpp: np.ndarray, external: np.ndarray | None = None
) -> SimpleNamespace:
    """Everything the program prints, for one motion point; L is each joint's unit velocity matrix in frame 0."""
    count = len(mech.links)
    T, WA, HA, JO, L, FI = ([np.zeros((4, 4))] * count for _ in range(6))
    Hg = np.zeros((4, 4))
    Hg[:3, 3] = mech.gravity
    done: set[int] = set()
    while len(done) < count:
        for k, link in enumerate(mech.links):
            parent = mech.parents[k]
            if k in done or (parent >= 0 and parent not in done):
                continue
            done.add(k)
            carrier = np.asarray(mech.base) if parent < 0 else T[parent]
            i = mech.coordinates[k]
            q_i, qp_i, qpp_i = (q[i], qp[i], qpp[i]) if i >= 0 else (0.0, 0.0, 0.0)
            T[k] = carrier @ np.asarray(link.placement(q_i), dtype=float)
            at = carrier @ link.before
            back = np.linalg.inv(at)
            W, H = velocity_and_acceleration(link.joint, link.axis, link.pitch, qp_i, qpp_i)
            WO, HO = at @ W @ back, at @ H @ back
            L[k] = at @ velocity_and_acceleration(link.joint, link.axis, link.pitch, 1.0, 0.0)[0] @ back
            W_carrier, H_carrier = (WA[parent], HA[parent]) if parent >= 0 else (np.zeros((4, 4)), np.zeros((4, 4)))
            WA[k] = W_carrier + WO
            HA[k] = H_carrier + HO + 2 * W_carrier @ WO
            JO[k] = T[k] @ pseudo_inertia(link.body) @ T[k].T
    tool = T[-1] @ mech.tool
    JO[-1] = JO[-1] + tool @ pseudo_inertia(mech.payload) @ tool.T
    for k in range(count):
        FI[k] = skew(Hg - HA[k], JO[k])
    if external is not None:
        FI[-1] = FI[-1] + tool @ action(external) @ tool.T
    below = [{k} for k in range(count)]
    for k in range(count):
        up = mech.parents[k]
        while up >= 0:
            below[up].add(k)
            up = mech.parents[up]
    ACTO = [np.sum([FI[j] for j in below[k]], axis=0) for k in range(count)]
    return SimpleNamespace(T=T, WA=WA, HA=HA, JO=JO, L=L, FI=FI, ACTO=ACTO, tool=tool)


def pse_dot(L: np.ndarray, phi: np.ndarray) -> float:
    """Work of an action for a unit of joint speed: the pseudo scalar product of an L and a Phi matrix."""
    return float(
        sum(L[i, 3] * phi[i, 3] for i in range(3)) + L[2, 1] * phi[2, 1] + L[0, 2] * phi[0, 2] + L[1, 0] * phi[1, 0]
    )


def energy(mech: Mechanism, q: np.ndarray, qp: np.ndarray) -> float:
    """Kinetic plus potential energy: 1/2 trace(W J W') - trace of Hg J, summed over links and payload."""
    found = rob_mat(mech, q, qp, np.zeros_like(qp))
    total = 0.0
    for W, J in zip(found.WA, found.JO, strict=True):
        total += 0.5 * np.trace(W @ J @ W.T) - float(mech.gravity @ J[:3, 3])
    return float(total)
