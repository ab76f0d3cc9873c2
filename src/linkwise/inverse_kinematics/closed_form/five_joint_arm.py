"""All positions of five joints of any geometry: those of six joints, one of them virtual, at which that one is at zero.

A pose that five joints reach is reached by six too, with a revolute joint beyond the last that stays at zero; all solutions
of six joints, at most 16, hold those of five. Where none of them has the virtual joint near zero, the pose is out of reach.
"""

from __future__ import annotations

import numpy as np

from linkwise.inverse_kinematics.closed_form.answers import Answers, closed_loops, distinct
from linkwise.inverse_kinematics.closed_form.axis_chain import AxisChain
from linkwise.inverse_kinematics.closed_form.general_arm import GeneralArm
from linkwise.spatial.scalar import FloatArray

#: Virtual axes that are compared, and how many of them are kept: the others are asked where the first proves nothing.
AXES, KEPT = 4, 3

#: A solution whose virtual joint is this near to zero, rad, may be one of five joints.
NEAR_ZERO = 1e-3

#: A solution of five joints leaves the loop open by less, rad and shares of the arm's size; a forward pass decides.
NEARLY = 1e-7


class FiveJointArm:
    """Five joints of any geometry, of which one at most slides.

    Parameters
    ----------
    chain : AxisChain
        Their axes.

    Attributes
    ----------
    arms : list of GeneralArm
        With a virtual sixth axis each, the best first, by trial.
    """

    offset_wrist = None

    def __init__(self, chain: AxisChain) -> None:
        self.chain = chain
        rng = np.random.default_rng(5)
        arms = []
        for _ in range(AXES):  # (a revolute joint beyond the last, its axis about half an arm's size away)
            axis, away = rng.normal(size=3), 0.3 * chain.size * rng.normal(size=3)
            arms.append(GeneralArm(chain.with_revolute(5, axis / np.linalg.norm(axis), chain.points[-1] + away)))
        self.arms = sorted(arms, key=lambda arm: -arm.score)[:KEPT]

    def solve(self, poses: FloatArray, *, checked: bool = False) -> tuple[Answers, bool]:
        """As `GeneralArm.solve`: all solutions for poses (N, 4, 4) of the frame."""
        proven = np.zeros(len(poses), dtype=bool)
        pose, angles = np.zeros(0, dtype=np.intp), np.zeros((0, 6))
        left = np.arange(len(poses))
        for arm in (*self.arms, None):
            answers, sound = (arm or self.arms[0]).solve(poses[left], checked=checked, thorough=arm is None)
            if not sound:
                return Answers(pose, angles[:, :5], proven), False
            proven[left] = answers.proven
            at, q = self._held(arm or self.arms[0], poses[left], answers)
            pose, angles = np.concatenate([pose, left[at]]), np.concatenate([angles, q])
            left = left[~answers.proven]
            if not left.size:
                break
        first = self.arms[0]
        pose, angles = distinct(pose, angles, period=first.period)  # (two of six joints may be one of five, even if proven)
        pose, angles = first.merged(poses, pose, angles, held=5)
        return Answers(pose, angles[:, :5], proven), True

    def _held(self, arm: GeneralArm, poses: FloatArray, answers: Answers) -> tuple[np.ndarray, FloatArray]:
        """Of which pose and where (M, 6) solutions of six joints are with the virtual one at zero."""
        near = np.flatnonzero(np.abs(answers.angles[:, 5]) < NEAR_ZERO)
        pose, q = answers.pose[near], answers.angles[near].copy()
        q[:, 5] = 0.0
        q, opened = closed_loops(arm.loops(poses[pose]), q, arm.chain.translates, held=5)
        good = opened < NEARLY
        return pose[good], q[good]
