"""All joint coordinates of a mechanism with five or six joints for poses, by elimination."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from linkwise.algorithm import kernel_of
from linkwise.inverse_kinematics.closed_form.answers import Answers, closed_loops, distinct, rows_of_poses
from linkwise.inverse_kinematics.closed_form.at_limits import BESIDE, brought_within, nearly_singular, periods
from linkwise.inverse_kinematics.closed_form.axis_chain import AxisChain, chain_of
from linkwise.inverse_kinematics.closed_form.compiled import TOLERANCE, pose_matrices, refuse
from linkwise.inverse_kinematics.closed_form.decomposition import independent
from linkwise.inverse_kinematics.closed_form.general_arm import AT_ONCE, GeneralArm
from linkwise.inverse_kinematics.closed_form.offset_wrist import offset_wrist
from linkwise.inverse_kinematics.closed_form.program import LIMITED
from linkwise.inverse_kinematics.closed_form.solutions import ROOTS, Solutions
from linkwise.inverse_kinematics.closed_form.two_sliding import TwoSlidingArm
from linkwise.model.tree import Tree
from linkwise.solve.constraints.pose import exact_poses
from linkwise.solve.joint_limits import JointRanges, start_position
from linkwise.solve.validation import link_given, positive
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import common_batch, flag, vectors

#: Candidate virtual axes, and how many of them are kept: the later ones are used where the first proves nothing.
AXES, KEPT = 4, 3

#: A solution whose virtual joint is this near to zero, rad, may be one of five joints.
NEAR_ZERO = 1e-3

#: A solution of five joints leaves the loop open by less, rad and shares of the arm's size; a forward pass decides.
NEARLY = 1e-7


class FiveJointArm:
    """Five joints of any geometry, of which one at most slides: six joints, one of them virtual, at which it is at zero.

    A pose that five joints reach is reached by six too, with a revolute joint beyond the last that stays at zero; all
    solutions of six joints, at most 16, hold those of five. Where none has the virtual joint near zero, the pose is out of
    reach.

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
        """Return all solutions for poses (N, 4, 4) of the frame, as `GeneralArm.solve` does."""
        proven = np.zeros(len(poses), dtype=bool)
        pose, angles = np.zeros(0, dtype=np.intp), np.zeros((0, 6))
        left = np.arange(len(poses))
        for arm in (*self.arms, None):
            answers, sound = (arm or self.arms[0]).solve(poses[left], checked=checked, thorough=arm is None)
            if not sound:
                return Answers(pose, angles[:, :5], proven), False
            proven[left] = answers.proven
            at, q = self._virtual_at_zero(arm or self.arms[0], poses[left], answers)
            pose, angles = np.concatenate([pose, left[at]]), np.concatenate([angles, q])
            left = left[~answers.proven]
            if not left.size:
                break
        first = self.arms[0]
        pose, angles = distinct(pose, angles, period=first.period)  # (two of six joints may be one of five, even if proven)
        pose, angles = first.merged(poses, pose, angles, fixed=5)
        return Answers(pose, angles[:, :5], proven), True

    def _virtual_at_zero(self, arm: GeneralArm, poses: FloatArray, answers: Answers) -> tuple[np.ndarray, FloatArray]:
        """Return the pose index and coordinates (M, 6) of solutions of six joints with the virtual one at zero."""
        near = np.flatnonzero(np.abs(answers.angles[:, 5]) < NEAR_ZERO)
        pose, q = answers.pose[near], answers.angles[near].copy()
        q[:, 5] = 0.0
        q, opened = closed_loops(arm.loops(poses[pose]), q, arm.chain.translates, fixed=5)
        good = opened < NEARLY
        return pose[good], q[good]


class Elimination:
    """Solver of a frame moved by five or six joints of any geometry, created by `elimination`.

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
        self.arm = arm_of(chain)
        self._units = np.where(chain.translates, chain.size, 1.0)
        self._period = periods(chain, mechanism.n)
        self._per_period = np.divide(1.0, self._period, out=np.zeros(mechanism.n), where=self._period > 0.0)
        beside = ", with a virtual sixth joint" if len(chain) == 5 else ""
        self.family = f"elimination: a polynomial of degree {degree_of(chain)} in the angle of one joint{beside}"
        idle = np.isin(np.arange(mechanism.n), chain.coordinates, invert=True)
        self.start = start_position(mechanism, idle)
        self._beside, self._link = chain.coordinates != tuple(range(mechanism.n)), {"link": link}
        self._plain = bool((self._units == chain.ratios).all() and not chain.shifts.any())

    def all(
        self, T: npt.ArrayLike, q0: npt.ArrayLike | None = None, limits: bool = True, *, tol: float = TOLERANCE
    ) -> Solutions:
        """All solutions of poses, the nearest to q0 first; see `linkwise.inverse_kinematics.all_inverse_kinematics`."""
        poses, n = pose_matrices(T), self.mechanism.n
        near = TOLERANCE if tol is TOLERANCE else positive("tol", tol)
        start = self.start if q0 is None else vectors("q0", q0, n)
        batch = poses.shape[:-2]
        if start.ndim > 1:
            batch = common_batch(T=batch, q0=start.shape[:-1])
            poses = np.broadcast_to(poses, (*batch, 4, 4))
        poses = poses.reshape(-1, 4, 4)
        answers, sound = self.arm.solve(poses)
        if not sound:
            refuse(poses, start)
            poses = exact_poses(poses)
            answers, _ = self.arm.solve(poses, checked=True)
        if start.ndim > 1:
            start = np.broadcast_to(start, (*batch, n)).reshape(-1, n)
        ranges = JointRanges.of(self.mechanism, limits=flag("limits", limits))
        cause = np.where(answers.proven, 0.0, ROOTS)
        if not batch:
            _, q = self._confirmed(answers.pose, answers.angles, cause, poses, start, ranges, near)
            cause = cause.reshape(())
            return Solutions(q, np.asarray(len(q)), np.asarray(cause == 0.0), cause=cause)
        edges = np.searchsorted(answers.pose, np.arange(0, len(poses) + AT_ONCE, AT_ONCE))
        parts = [
            self._confirmed(answers.pose[low:high], answers.angles[low:high], cause, poses, start, ranges, near)
            for low, high in pairwise(edges)
        ]
        pose, q = (np.concatenate(part) for part in zip(*parts, strict=True)) if parts else (answers.pose, np.zeros((0, n)))
        return _listed(pose, q, cause, batch)

    def _confirmed(
        self,
        pose: npt.NDArray[np.intp],
        angles: FloatArray,
        cause: FloatArray,
        poses: FloatArray,
        start: FloatArray,
        ranges: JointRanges,
        near: float,
    ) -> tuple[npt.NDArray[np.intp], FloatArray]:
        """Return pose index and coordinates (K, n) of the angles (M, 6) that forward kinematics confirms within the ranges.

        The nearest to starts (n,) or (N, n) are first; of a pose with others the cause (N,) says what is unproven.
        """
        begin = start if start.ndim == 1 else start[pose]
        q = angles if self._plain else (angles * self._units - self.chain.shifts) / self.chain.ratios
        if self._beside:
            q, six = np.empty((len(pose), self.mechanism.n)), q
            q[:], q[:, self.chain.coordinates] = begin, six
        turned = begin - q
        turned *= self._per_period
        np.rint(turned, out=turned)
        turned *= self._period
        turned += q
        within: npt.NDArray[np.bool_] | None = None
        free = turned
        if ranges.limited and not ((turned >= ranges.low) & (turned <= ranges.high)).all():
            free = turned.copy()
            with np.errstate(invalid="ignore"):  # (infinite limits of coordinates without a period)
                turned -= self._period * np.fmax(np.ceil((turned - ranges.high - near) * self._per_period), 0.0)
                turned += self._period * np.fmax(np.ceil((ranges.low - near - turned) * self._per_period), 0.0)
            inside = np.clip(turned, ranges.low, ranges.high)
            within = np.all(np.abs(turned - inside) <= near, axis=1)
            turned = np.where(within[:, None], inside, turned)
        reached = kernel_of(self.mechanism, "forward_kinematics", None, self._link)(turned)
        away = (reached - (poses if len(poses) == 1 else poses[pose])).reshape(-1, 16)
        squares = (away * away) @ _PARTS
        if not (squares <= near * near).all() or within is not None:
            keep = (squares <= near * near).all(axis=1)
            cause[pose[~keep]] = ROOTS
            if within is not None:
                turned, within = self._at_limits(pose, free, turned, keep, within, cause, poses, ranges, near)
                keep = keep & within
            pose, turned, begin = pose[keep], turned[keep], begin if begin.ndim == 1 else begin[keep]
        away = turned - begin
        distance = np.einsum("ij,ij->i", away, away)
        if len(poses) == 1:
            return pose, turned[distance.argsort(kind="stable")]
        order = (pose + 1j * distance).argsort(kind="stable")  # (complex numbers are in order by real parts first)
        return pose[order], turned[order]

    def _at_limits(
        self,
        pose: npt.NDArray[np.intp],
        free: FloatArray,
        turned: FloatArray,
        good: npt.NDArray[np.bool_],
        within: npt.NDArray[np.bool_],
        cause: FloatArray,
        poses: FloatArray,
        ranges: JointRanges,
        near: float,
    ) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
        """Add nearby solutions at the limits to solutions (M, n) with undetermined parts; mark those within the limits."""
        out, columns = np.flatnonzero(good & ~within), list(self.chain.coordinates)
        rates = kernel_of(self.mechanism, "jacobian", None, self._link)(free[out])
        out = out[nearly_singular(rates[..., columns] if self._beside else rates)]
        if not out.size:
            return turned, within
        wanted = np.broadcast_to(poses, (len(cause), 4, 4))[pose[out]]
        parts = ranges, self._period, near, columns
        moved, reached, doubtful = brought_within(self.mechanism, self.link, wanted, free[out], *parts)
        doubted = pose[out[doubtful & ~reached]]
        cause[doubted] = np.maximum(cause[doubted], LIMITED)
        turned, within = turned.copy(), within.copy()
        for k, row in zip(out[reached], moved[reached], strict=True):
            others = turned[(pose == pose[k]) & good & within]
            if not len(others) or np.abs(others - row).max(axis=1).min() > BESIDE:
                turned[k], within[k] = row, True
        return turned, within


#: Sums of the squares of a difference of poses (16,): of the position, and of the rotation for the square of its angle.
_PARTS: FloatArray = np.zeros((4, 4, 2))
_PARTS[:3, 3, 0], _PARTS[:3, :3, 1] = 1.0, 0.5
_PARTS = _PARTS.reshape(16, 2)


def _listed(pose: npt.NDArray[np.intp], q: FloatArray, cause: FloatArray, batch: tuple[int, ...]) -> Solutions:
    """Solutions (M, n) of poses (M,) in rising order."""
    rows, count = rows_of_poses(pose, q, len(cause))
    return Solutions(
        rows.reshape(*batch, *rows.shape[1:]),
        count.reshape(batch),
        (cause == 0.0).reshape(batch),
        cause=cause.reshape(batch),
    )


def elimination(mechanism: Tree, link: int | str = "tool") -> Elimination | None:
    """Build the elimination of a frame; None unless it has five or six independent joints, at most two of them sliding.

    Of six joints two may slide, of five one; more of them have closed forms.

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

    def solver() -> Elimination | None:
        chain, _ = chain_of(mechanism, link)
        return Elimination(mechanism, link, chain) if chain is not None and eliminates(chain) else None

    return mechanism.memo("elimination", link_given(link), solver)


def eliminates(chain: AxisChain) -> bool:
    """True for five independent joints, at most one sliding, or six, at most two sliding."""
    return len(chain) in {5, 6} and sum(chain.translates) <= len(chain) - 4 and independent(chain, None, "pose")


def arm_of(chain: AxisChain) -> GeneralArm | FiveJointArm:
    """Build the solver of a chain that `eliminates` accepts."""
    if len(chain) == 5:
        return FiveJointArm(chain)
    return GeneralArm(chain) if sum(chain.translates) < 2 else TwoSlidingArm(chain)


def degree_of(chain: AxisChain) -> int:
    """The degree of the polynomial in one angle that is left; a root of an offset wrist belongs to two solutions at most."""
    return 8 if sum(chain.translates) == 2 or (len(chain) == 6 and offset_wrist(chain) is not None) else 16


def most_solutions(chain: AxisChain) -> int:
    """Greatest number of solutions of a pose, by the degree of the polynomial."""
    return 8 if sum(chain.translates) == 2 else 16
