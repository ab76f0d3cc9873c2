"""All joint coordinates of a mechanism's six revolute joints for poses, by elimination."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from linkwise.algorithm import kernel_of
from linkwise.errors import ArgumentError
from linkwise.inverse_kinematics.closed_form.axis_chain import AxisChain, chain_of
from linkwise.inverse_kinematics.closed_form.closed_form import TOLERANCE, Solutions
from linkwise.inverse_kinematics.closed_form.decomposition import independent
from linkwise.inverse_kinematics.closed_form.general_arm import GeneralArm
from linkwise.model.tree import Tree
from linkwise.solve.joint_limits import JointRanges, start_position
from linkwise.solve.validation import FARTHEST, positive
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.transform import inverse
from linkwise.spatial.validation import common_batch, flag, rigid_poses, vectors


class Elimination:
    """What solves a frame that six revolute joints move, whatever their geometry; made by `elimination`.

    Attributes
    ----------
    exists : bool
        True, as a `ClosedForm` says it.
    family : str
        How it is solved, in words.
    """

    exists = True

    def __init__(self, mechanism: Tree, link: int | str, chain: AxisChain) -> None:
        self.mechanism, self.link, self.chain = mechanism, link, chain
        self.arm = GeneralArm(chain)
        degree = 16 if self.arm.offset_wrist is None else 8
        self.family = f"elimination: a polynomial of degree {degree} in the angle of one joint"
        idle = np.isin(np.arange(mechanism.n), chain.coordinates, invert=True)
        self.start = start_position(mechanism, idle)

    def all(
        self, T: npt.ArrayLike, q0: npt.ArrayLike | None = None, limits: bool = True, *, tol: float = TOLERANCE
    ) -> Solutions:
        """Every solution for poses, the nearest to q0 first; see `linkwise.inverse_kinematics.all_inverse_kinematics`."""
        poses = rigid_poses("T", T)
        if np.abs(poses[..., :3, 3]).max(initial=0.0) > FARTHEST:
            raise ArgumentError(f"T has a position beyond {FARTHEST:g} m; expected positions up to {FARTHEST:g} m")
        n, near = self.mechanism.n, positive("tol", tol)
        start = self.start if q0 is None else vectors("q0", q0, n)
        batch = common_batch(T=poses.shape[:-2], q0=start.shape[:-1])
        poses = np.broadcast_to(poses, (*batch, 4, 4)).reshape(-1, 4, 4)
        start = np.broadcast_to(start, (*batch, n)).reshape(-1, n)
        answers = self.arm.solve(inverse(self.chain.frame) @ poses @ inverse(self.chain.home))
        q = start[answers.pose]
        q[:, self.chain.coordinates] = (answers.angles - self.chain.shifts) / self.chain.ratios
        ranges = JointRanges.of(self.mechanism, limits=flag("limits", limits))
        q = ranges.nearest_turns(q, start[answers.pose])
        reached = kernel_of(self.mechanism, "forward_kinematics", None, {"link": self.link})(q)
        away = reached - poses[answers.pose]
        distance = np.linalg.norm(away[:, :3, 3], axis=1)
        angle = np.sqrt(0.5 * np.sum(away[:, :3, :3] ** 2, axis=(1, 2)))
        good = (distance <= near) & (angle <= near)
        proven = answers.proven.copy()
        proven[answers.pose[~good]] = False
        inside = ((q >= ranges.low - near) & (q <= ranges.high + near)).all(axis=1)
        keep = np.flatnonzero(good & inside)
        pose = answers.pose[keep]
        q = np.clip(q[keep], ranges.low, ranges.high)
        order = np.lexsort((np.sum((q - start[pose]) ** 2, axis=1), pose))
        return _listed(pose[order], q[order], proven, batch)


def _listed(pose: npt.NDArray[np.intp], q: FloatArray, proven: npt.NDArray[np.bool_], batch: tuple[int, ...]) -> Solutions:
    """Solutions (M, n) of poses (M,) in rising order."""
    count = np.bincount(pose, minlength=len(proven)).astype(np.intp)
    rows = np.full((len(proven), int(count.max(initial=0)), q.shape[1]), np.nan)
    rows[pose, np.arange(len(pose)) - np.repeat(np.cumsum(count) - count, count)] = q
    return Solutions(rows.reshape(*batch, *rows.shape[1:]), count.reshape(batch), proven.reshape(batch))


def elimination(mechanism: Tree, link: int | str = "tool") -> Elimination | None:
    """What solves a frame by elimination, None where it is not moved by six independent revolute joints.

    Parameters
    ----------
    mechanism : Mechanism
        On a fixed base, without loops on the way to the frame.
    link : int or str
        Which frame.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.load("gen3_lite")
    >>> solver = elimination(arm)
    >>> T = arm.forward_kinematics([0.1, 0.5, -0.4, 0.3, 0.8, 0.2])
    >>> solutions = solver.all(T, limits=False)
    >>> len(solutions), bool(solutions.complete), bool(abs(arm.forward_kinematics(solutions) - T).max() < 1e-9)
    (8, True, True)
    """
    chain, _ = chain_of(mechanism, link)
    if chain is None or len(chain) != 6 or any(chain.translates) or not np.all(np.abs(chain.ratios) == 1.0):
        return None  # (a joint that follows at another ratio has more, or fewer, positions than its angle)
    if not independent(chain, None, "pose"):
        return None
    return mechanism.memo("elimination", link, lambda: Elimination(mechanism, link, chain))
