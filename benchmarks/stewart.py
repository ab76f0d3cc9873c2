"""Forward kinematics of a Gough-Stewart platform beside Newton's method written by hand: ``python benchmarks/stewart.py``.

Leg lengths in, the pose of the platform out, from the middle of the workspace each time. By hand: six equations in the
six coordinates of the pose, the Jacobian written out (screw coordinates of the legs), all poses at once in NumPy, as many
steps as the worst of them takes to 1e-12 m. Linkwise is given the mechanism alone: it solves all eighteen closure
equations, and checks them. Both must find the poses that the lengths were made from. One core, one thread.
"""

from __future__ import annotations

import numpy as np
from timing import least, pin_to_one_core, seconds

import linkwise as lw
from linkwise.loops import Linkage

COUNT = 20_000
POSE = ("x", "y", "z", "yaw", "pitch", "roll")
AGREE = 1e-9
"""Greatest difference of a coordinate of the pose from the one that the lengths were made from, m and rad."""


class ByHand:
    """Newton's method on the lengths of the legs."""

    def __init__(self, mech: lw.Mechanism) -> None:
        home = dict(zip(mech.link_names, mech.link_poses(mech.neutral), strict=True))
        self.middle = home["platform"][:3, 3]
        self.on_base = np.array([home[f"cross{k}"][:3, 3] for k in range(1, 7)])
        self.on_platform = np.array([loop.second_frame[:3, 3] for loop in mech.loops])
        self.home = np.array([mech.links[mech.link_index(f"leg{k}")].offset for k in range(1, 7)])

    def legs(self, pose: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Vectors along the legs, and from the platform's middle to its joints, (..., 6, 3)."""
        arms = self.on_platform @ np.swapaxes(rotation(pose[:, 3:]), -1, -2)
        return (self.middle + pose[:, None, :3]) + arms - self.on_base, arms

    def solve(self, strokes: np.ndarray) -> np.ndarray:
        """Poses (..., 6) for strokes (..., 6), from the middle."""
        pose = np.zeros_like(strokes)
        for _ in range(30):
            along, arms = self.legs(pose)
            length = np.linalg.norm(along, axis=-1)
            left = length - self.home - strokes
            if np.abs(left).max() < 1e-12:
                return pose
            unit = along / length[..., None]
            jac = np.concatenate([unit, np.cross(arms, unit)], axis=-1)
            twist = np.linalg.solve(jac, -left[..., None])[..., 0]
            pose = pose + np.concatenate([twist[:, :3], rates(pose[:, 3:], twist[:, 3:])], axis=-1)
        raise RuntimeError("no convergence in 30 steps")


def rotation(angles: np.ndarray) -> np.ndarray:
    """Rz(yaw) Ry(pitch) Rx(roll) (..., 3, 3)."""
    (a, b, c), (sa, sb, sc) = np.cos(angles).T, np.sin(angles).T
    rows = [
        [a * b, a * sb * sc - sa * c, a * sb * c + sa * sc],
        [sa * b, sa * sb * sc + a * c, sa * sb * c - a * sc],
        [-sb, b * sc, b * c],
    ]
    return np.moveaxis(np.array(rows), -1, 0)


def rates(angles: np.ndarray, omega: np.ndarray) -> np.ndarray:
    """Small changes of yaw, pitch and roll for a small rotation, world axes."""
    yaw, pitch = angles[:, 0], angles[:, 1]
    level = np.cos(yaw) * omega[:, 0] + np.sin(yaw) * omega[:, 1]
    across = np.cos(yaw) * omega[:, 1] - np.sin(yaw) * omega[:, 0]
    return np.stack([omega[:, 2] + level * np.tan(pitch), across, level / np.cos(pitch)], axis=-1)


def main() -> None:
    pin_to_one_core()
    mech = lw.robots.stewart()
    forward = Linkage(mech, [f"leg{k}" for k in range(1, 7)], q0=mech.neutral)
    inverse, hand = Linkage(mech, POSE, q0=mech.neutral), ByHand(mech)
    rng = np.random.default_rng(0)
    poses = np.concatenate([rng.uniform(-0.1, 0.1, (COUNT, 3)), rng.uniform(-0.25, 0.25, (COUNT, 3))], axis=1)
    made = inverse.position(poses)
    strokes = np.linalg.norm(hand.legs(poses)[0], axis=-1) - hand.home
    columns = [mech.names.index(f"leg{k}") for k in range(1, 7)]
    found = forward.position(strokes)
    print(f"{COUNT:,} poses within 0.1 m and 0.25 rad of the middle; leg lengths agree to", end=" ")
    print(f"{np.abs(made.q[:, columns] - strokes).max():.0e} m")
    print(
        f"closed: {made.success.mean():.2%} inverse, {found.success.mean():.2%} forward, to {found.closure_error.max():.0e}"
    )
    for name, pose in (("Linkwise", found.q[:, :6]), ("by hand", hand.solve(strokes))):
        apart = np.abs(pose - poses).max()
        print(f"{name}: poses found again to {apart:.0e}")
        if not apart < AGREE:
            raise SystemExit("the poses do not agree; nothing is timed")
    ours = least(seconds(lambda: forward.position(strokes)), 10) / COUNT * 1e6
    theirs = least(seconds(lambda: hand.solve(strokes)), 5) / COUNT * 1e6
    back = least(seconds(lambda: inverse.position(poses)), 10) / COUNT * 1e6
    one, start = np.ascontiguousarray(strokes[0]), np.array(mech.neutral)
    single = least(seconds(lambda: forward.position(one, start)), 10) * 1e6
    verdict = "aim reached" if ours <= 3.0 else "passed" if ours <= 10.0 else "BELOW"
    print(f"forward, batch      {ours:7.2f} us a pose   at most 10 us, aim 3 us: {verdict}")
    print(f"  by hand in NumPy  {theirs:7.2f} us a pose   {theirs / ours:.1f} times as long")
    print(f"inverse, batch      {back:7.2f} us a pose")
    print(f"forward, one call   {single:7.1f} us")


if __name__ == "__main__":
    main()
