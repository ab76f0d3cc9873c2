"""All positions of six joints of any geometry, at most one of them sliding, and a proof of completeness.

They are roots of the determinant on the circle; formulations differ in which joint is hidden, and which pair is eliminated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import cycle, product
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linkwise.inverse_kinematics.closed_form import loop_closing
from linkwise.inverse_kinematics.closed_form import offset_wrist as reduced
from linkwise.inverse_kinematics.closed_form.answers import (
    APART,
    HALFWAY_RANK,
    HALFWAY_STEPS,
    NO_MORE_OPEN,
    OPEN,
    SAME,
    SHUT,
    Answers,
    Mask,
    closed_loops,
    closed_to_rounding,
    distinct,
    pairs_of_poses,
    rows_of_poses,
    wrapped,
)
from linkwise.inverse_kinematics.closed_form.axis_chain import AxisChain, angle, feet
from linkwise.inverse_kinematics.closed_form.circle_determinant import (
    DEGREE,
    Slides,
    kernels,
    pair_kernels,
)
from linkwise.inverse_kinematics.closed_form.circle_roots import (
    ALONE,
    BESIDE_CIRCLE,
    STRAY,
    circle_points,
    no_other_roots,
    roots_of,
)
from linkwise.inverse_kinematics.closed_form.tapes import Functions
from linkwise.solve.constraints.pose import EXACT
from linkwise.solve.validation import FARTHEST
from linkwise.spatial.rotation import rotations_about
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.transform import inverse, transforms

#: Poses in one call of the kernels: their intermediate values stay in the caches.
AT_ONCE = 256

#: Poses by which formulations are compared, and the share of them that a usable one solves.
TRIALS, USABLE = 192, 0.9

#: Axes at less than this angle, rad, have no common normal worth a place.
PARALLEL = 3e-5

#: Number of further formulations tried where the first ones prove nothing, then number of neighbouring poses, and their
#: distance (rad, relative to the arm's size).
SECOND_OPINIONS, NUDGES, NUDGE = 6, 6, 3e-3

#: Squared bounds within which a pose is used unchanged: deviation from a rigid one, and distance from the origin.
_SOUND: FloatArray = np.array([EXACT, FARTHEST**2])

_CIRCLE = circle_points(DEGREE)


class Formulation(NamedTuple):
    """Choice of the hidden joint (0 to 5) and of the sense of the loop: reversed, the pair before it is eliminated.

    The joint that slides, if one does (0 to 5), is neither the hidden one nor the one opposite to it.
    """

    hidden: int
    backwards: bool
    sliding: int | None = None

    def order(self) -> list[int]:
        """The joints as the elimination takes them, the hidden one first."""
        step = -1 if self.backwards else 1
        return [(self.hidden + step * k) % 6 for k in range(6)]

    def loop(self, placements: FloatArray) -> FloatArray:
        """Placements (N, 6, 4, 4), each of the axis after its joint, as the elimination takes them: (N, 6, 3, 4)."""
        order = self.order()
        before = [(k - 1) % 6 for k in order]  # (reversed, the successor of a joint is its predecessor)
        taken = inverse(placements[:, before]) if self.backwards else placements[:, order]
        return np.ascontiguousarray(taken[:, :, :3])

    def template(self, between: FloatArray) -> tuple[FloatArray, int]:
        """The placements (6, 3, 4) of a loop, those between the axes (5, 4, 4) known; and which one the pose gives."""
        placements = np.concatenate([between, np.eye(4)[None]])
        step = -1 if self.backwards else 0
        return self.loop(placements[None])[0], [(k + step) % 6 for k in self.order()].index(5)

    def angles(self, q: FloatArray) -> FloatArray:
        """Angles, or shifts, (M, 6) of the joints in their order."""
        placed = q[:, _PLACES[self.hidden, self.backwards]]
        return -placed if self.backwards else placed

    def sliding_order(self) -> tuple[bool, ...]:
        """Which joints slide, in the order of the elimination."""
        return tuple(k == self.sliding for k in self.order())

    def pairs(self) -> Slides:
        """Which joints of the two pairs slide."""
        _, first, second, _, third, fourth = self.sliding_order()
        return Slides(first, second, third, fourth)

    def solve(self, placements: FloatArray) -> Answers:
        """Solutions of loops (N, 6, 4, 4)."""
        return _solve_ordered(self.loop(placements), self)

    def samples(self, placements: FloatArray) -> FloatArray:
        """The determinants of loops (N, 6, 4, 4) on the circle."""
        with np.errstate(all="ignore"):
            equations, _ = pair_kernels(self.pairs())["eliminate_pair"](self.loop(placements))
            return np.asarray(kernels()["determinant"](equations[:, None], _CIRCLE))

    def hidden_angles(self, q: FloatArray) -> FloatArray:
        """Angles on the circle of joints (M, 6)."""
        return -q[:, self.hidden] if self.backwards else q[:, self.hidden]

    def polynomials(self) -> Functions:
        """Compiled functions that compute roots from samples."""
        return kernels()

    @staticmethod
    def all(sliding: int | None) -> list[list[Formulation]]:
        """All formulations for a chain with one sliding joint or none: those that are tried first, and others.

        A joint that slides is eliminated first: where it is not, other kernels are needed.
        """
        every = [Formulation(hidden, backwards, sliding) for hidden, backwards in product(range(6), (False, True))]
        if sliding is None:
            return [every]
        usable = [formulation for formulation in every if (formulation.hidden - sliding) % 3]
        return [[formulation for formulation in usable if any(formulation.pairs()[:2]) == first] for first in (True, False)]


#: Positions of the joint angles in the results of the elimination.
_PLACES = {formulation[:2]: np.argsort(formulation.order()) for formulation in Formulation.all(None)[0]}


class GeneralArm:
    """Six joints of any geometry, of which one at most slides.

    Parameters
    ----------
    chain : AxisChain
        Their axes.

    Attributes
    ----------
    formulations : list of Formulation
        Those that are not singular for this geometry, the best first, by trial on positions at random; at least one.
    score : float
        What share of these positions, and of the proofs that they are all of their pose, the first gives, 0 to 1.
    offset_wrist : OffsetWrist or None
        The numbers of a special geometry, which is solved first; what that does not prove goes the general way.
    """

    def __init__(self, chain: AxisChain) -> None:
        self.chain = chain
        frames = _axis_frames(chain)
        frames[:, :3, 3] /= chain.size
        self._first, self._last = frames[0], inverse(frames[5])
        self._between = inverse(frames[:5]) @ frames[1:]
        self._longest = (1.0 + 1e-9) * float(np.linalg.norm(self._between[:, :3, 3], axis=1).sum())
        self._slides = chain.translates
        self.period = np.where(self._slides, 0.0, 2.0 * np.pi)
        self._longest = np.inf if any(self._slides) else self._longest
        self.formulations = self._ranked()
        self.offset_wrist = reduced.offset_wrist(chain)
        self._frame, self._home = inverse(chain.frame), inverse(chain.home)
        best = self.formulations[0] if self.offset_wrist is None else None
        formulation = best if isinstance(best, Formulation) else Formulation(0, False)
        self._loop, self._slot = formulation.template(self._between)
        ends = [(inverse(self._first), inverse(self._last))]
        if self.offset_wrist is not None:
            to_origin = np.eye(4)
            to_origin[:3, 3] = self.offset_wrist.origin / chain.size
            ends.append((inverse(to_origin), to_origin))
        self._ends = [
            (
                np.ascontiguousarray((before @ _scaled(self._frame, chain.size))[:3]),
                np.ascontiguousarray((_scaled(self._home, chain.size) @ after)[:3]),
                np.asarray(chain.size),
            )
            for before, after in ends
        ]

    def placements(self, displacements: FloatArray) -> FloatArray:
        """L_1 to L_6 (N, 6, 4, 4) of the loop for displacements (N, 4, 4) of the chain."""
        back = inverse(displacements)
        back[:, :3, 3] /= self.chain.size
        result = np.empty((len(back), 6, 4, 4))
        result[:, :5] = self._between
        result[:, 5] = self._last @ back @ self._first
        return result

    def placements_of(self, poses: FloatArray) -> FloatArray:
        """L_1 to L_6 (N, 6, 4, 4) of the loop for poses (N, 4, 4) of the frame."""
        return self.placements(self._frame @ poses @ self._home)

    def loops(self, poses: FloatArray) -> FloatArray:
        """The loops (N, 6, 3, 4), in the order of the chain, of poses (N, 4, 4) of the frame."""
        return np.ascontiguousarray(self.placements_of(poses)[:, :, :3])

    def solve(self, poses: FloatArray, *, checked: bool = False, thorough: bool = True) -> tuple[Answers, bool]:
        """Return all solutions of poses (N, 4, 4) of the frame, and whether these are exact and within reach, or `checked`.

        Other ways are gone where the first proves nothing, if `thorough`.
        """
        if not len(poses):
            return Answers(np.zeros(0, dtype=np.intp), np.zeros((0, 6)), np.zeros(0, dtype=bool)), True
        blocks, doubtful, proofs, sound = [], [], [], True
        for k in range(0, len(poses), AT_ONCE):
            (pose, angles, proven), checks = self._first_way(poses[k : k + AT_ONCE])
            sound = sound and (checked or bool((checks[:, :2] <= _SOUND).all()))
            if not proven.all():
                settled = proven[pose]
                doubtful.append((pose[~settled] + k, angles[~settled]))
                pose, angles = pose[settled], angles[settled]
            blocks.append((pose + k if k else pose, angles))
            proofs.append(proven)
        proven = np.concatenate(proofs) if len(proofs) > 1 else proofs[0]
        if doubtful:
            again = _joined(doubtful)
            again = self._settled(poses, *again, proven) if sound and thorough else distinct(*again, self.period)
            edges = np.searchsorted(again[0], AT_ONCE * np.arange(len(blocks) + 1))
            for k in np.flatnonzero(edges[1:] > edges[:-1]).tolist():
                (pose, angles), (more, others) = blocks[k], (part[edges[k] : edges[k + 1]] for part in again)
                places = np.searchsorted(pose, more)
                blocks[k] = np.insert(pose, places, more), np.insert(angles, places, others, axis=0)
        return Answers(*_joined(blocks), proven), sound

    def _settled(
        self, poses: FloatArray, pose: npt.NDArray[np.intp], angles: FloatArray, proven: Mask
    ) -> tuple[npt.NDArray[np.intp], FloatArray]:
        """Return sorted pose indices and solutions of the poses that are not yet proven, and prove them where possible."""
        open_poses, parts = np.flatnonzero(~proven), []
        for k in range(0, len(open_poses), AT_ONCE):
            these = open_poses[k : k + AT_ONCE]
            first = np.flatnonzero(np.isin(pose, these))
            more = self._complete(poses[these], np.searchsorted(these, pose[first]), angles[first])
            proven[these] = more.proven
            parts.append((these[more.pose], more.angles))
        pose, angles = _joined(parts)
        order = np.argsort(pose, kind="stable")
        return pose[order], angles[order]

    def _first_way(self, poses: FloatArray) -> tuple[Answers, FloatArray]:
        """Solutions by the special geometry, or by the best formulation, and the checks of `carried`."""
        carried = loop_closing.carrying()
        product, back, checks = carried(poses, *self._ends[0])
        if self.offset_wrist is None:
            loop = np.empty((len(poses), 6, 3, 4))
            loop[:] = self._loop
            loop[:, self._slot] = product if self.formulations[0].backwards else back
            answers = _solve_ordered(loop, self.formulations[0])
        else:
            seen = np.empty((len(poses), 2, 3, 4))
            seen[:, 0], seen[:, 1] = carried(poses, *self._ends[1])[0], back
            answers = reduced.solve_offset_wrist(seen, self._loop[:5], self.offset_wrist)
        if not answers.proven.all():
            answers.proven[checks[:, 2] > self._longest**2] = True  # (no reach is as long)
        return answers, checks

    def _checks(self, poses: FloatArray) -> FloatArray:
        """The checks (N, 3) of poses, see `carried`."""
        return np.asarray(loop_closing.carrying()(poses, *self._ends[0])[2])

    def _formulations(self) -> list[list[Any]]:
        """The compared formulations: the first ones, and others where none of these is usable."""
        return Formulation.all(self._slides.index(True) if any(self._slides) else None)

    def _complete(self, poses: FloatArray, pose: npt.NDArray[np.intp], angles: FloatArray) -> Answers:
        """Complete partly known solutions of poses (N, 4, 4) by proofs, other formulations and neighbouring poses."""
        placements = self.placements_of(poses)
        proven: Mask = np.zeros(len(poses), dtype=bool)
        left, settled = np.arange(len(poses)), []
        for solver in (None, *self._sources()):
            if solver is not None:
                more = solver(placements[left])
                proven[left[more.proven]] = True
                pose, angles = np.concatenate([pose, left[more.pose]]), np.concatenate([angles, more.angles])
            pose, angles = distinct(pose, angles, period=self.period)
            self._prove(
                placements, pose, angles, proven
            )  # (with a root of several solutions that are one, as often as found)
            count, (pose, angles) = len(pose), self.merged(poses, pose, angles)
            if len(pose) < count:
                self._prove(placements, pose, angles, proven)
            done = proven[pose]
            settled.append((pose[done], angles[done]))
            pose, angles, left = pose[~done], angles[~done], np.flatnonzero(~proven)
            if not left.size:
                break
        return Answers(*_joined([*settled, (pose, angles)]), proven)

    def _sources(self) -> Iterator[Callable[[FloatArray], Answers]]:
        """Yield further sources of solutions for placements (N, 6, 4, 4)."""
        for formulation in self.formulations[int(self.offset_wrist is None) : SECOND_OPINIONS]:
            yield formulation.solve
        yield self._beside

    def _prove(self, placements: FloatArray, pose: npt.NDArray[np.intp], angles: FloatArray, proven: Mask) -> None:
        """Note for which placements solutions, poses in rising order, are proven to be all: no other root is left."""
        for formulation in self.formulations[:SECOND_OPINIONS]:
            left = np.flatnonzero(~proven)
            if not left.size:
                return
            known, _ = rows_of_poses(pose, formulation.hidden_angles(angles), len(proven))
            samples = formulation.samples(placements[left])
            proven[left] = no_other_roots(samples, known[left], formulation.polynomials())

    def _beside(self, placements: FloatArray) -> Answers:
        """Solutions of poses that are led to from those of poses beside them, where roots are no longer together."""
        rng, parts = np.random.default_rng(0), []
        for _, formulation in zip(range(NUDGES), cycle(self.formulations[:2]), strict=False):
            moved = placements.copy()
            turn, shift = rng.normal(size=(2, 3)) * NUDGE
            angle = np.asarray(np.linalg.norm(turn))
            moved[:, 5] = moved[:, 5] @ transforms(rotations_about(turn / angle, angle), shift)
            near = formulation.solve(moved)
            q, opened = closed_loops(np.ascontiguousarray(placements[near.pose][:, :, :3]), near.angles, self._slides)
            good = opened < OPEN
            parts.append((near.pose[good], q[good]))
        return Answers(*_joined(parts), np.zeros(len(placements), dtype=bool))

    def merged(
        self, poses: FloatArray, pose: npt.NDArray[np.intp], angles: FloatArray, fixed: int | None = None
    ) -> tuple[npt.NDArray[np.intp], FloatArray]:
        """Merge solutions (M, 6) of poses where a nearly singular loop does not separate neighbours.

        Neighbours are closed to rounding first; the joint `fixed` stays. Halfway between two solutions, where it closes
        in all directions but the nearly singular one, the loop is open by the curvature times the square of their distance;
        between two approximations of one it is open no more than at these.
        """
        close = np.zeros(len(pose), dtype=bool)
        for later, earlier in pairs_of_poses(pose):
            near = np.abs(wrapped(angles[later] - angles[earlier], self.period)).max(axis=1) < APART
            close[later[near]] = close[earlier[near]] = True
        if not close.any():
            return pose, angles
        rows = np.flatnonzero(close)
        loop = self.loops(poses[pose[rows]])
        q, opened = closed_to_rounding(loop, angles[rows], self._slides, self.period, fixed=fixed)
        kept: list[int] = []
        for k in np.argsort(opened, kind="stable").tolist():
            others = [j for j in kept if pose[rows[j]] == pose[rows[k]]]
            away = wrapped(q[others] - q[k], self.period)
            distance = np.abs(away).max(axis=1, initial=0.0)
            same = distance < SAME
            near = np.flatnonzero(distance < APART)
            if near.size and not same.any():
                repeated, middle = np.repeat(loop[[k]], len(near), axis=0), q[k] + 0.5 * away[near]
                _, halfway = closed_to_rounding(
                    repeated, middle, self._slides, self.period, rank=HALFWAY_RANK, steps=HALFWAY_STEPS, fixed=fixed
                )
                same[near] = halfway < max(NO_MORE_OPEN * opened[k], SHUT)
            if not same.any():
                kept.append(k)
        angles = angles.copy()
        angles[rows[kept]] = q[kept]
        close[rows[kept]] = False
        return pose[~close], angles[~close]

    def _ranked(self) -> list[Any]:
        """The formulations, those first that prove and find the most on positions at random."""
        q = np.random.default_rng(7).uniform(-np.pi, np.pi, (TRIALS, 6))
        q[:, self._slides] *= 1.0 / np.pi
        placements = self._closed_by(q)
        scores: list[tuple[tuple[int, int], Any]] = []
        for formulations in self._formulations():
            for formulation in formulations:
                answers = formulation.solve(placements)
                away = np.abs(wrapped(answers.angles - q[answers.pose], self.period)).max(axis=1, initial=0.0)
                recovered = len(set(answers.pose[away < SAME].tolist()))
                scores.append(((recovered + int(answers.proven.sum()), recovered), formulation))
            scores.sort(key=lambda scored: scored[0], reverse=True)
            if scores[0][0][1] >= USABLE * TRIALS:
                break
        self.score = scores[0][0][0] / (2.0 * TRIALS)
        return [scores[0][1], *(formulation for score, formulation in scores[1:] if score[1] >= USABLE * TRIALS)]

    def _closed_by(self, q: FloatArray) -> FloatArray:
        """Placements of the loop (N, 6, 4, 4) that joints (N, 6) close."""
        reached, z = np.broadcast_to(np.eye(4), (len(q), 4, 4)), np.array([0.0, 0.0, 1.0])
        for k, slides in enumerate(self._slides):
            angle = np.zeros(len(q)) if slides else q[:, k]
            reached = reached @ transforms(rotations_about(z, angle), (q[:, k] - angle)[:, None] * z)
            if k < 5:
                reached = reached @ self._between[k]
        result = np.empty((len(q), 6, 4, 4))
        result[:, :5], result[:, 5] = self._between, inverse(reached)
        return result


def _joined(parts: list[tuple[npt.NDArray[np.intp], FloatArray]]) -> tuple[npt.NDArray[np.intp], FloatArray]:
    """Poses (M,) and angles (M, 6) of several parts, one after the other."""
    if len(parts) == 1:
        return parts[0]
    pose, angles = (np.concatenate(part) for part in zip(*parts, strict=True))
    return pose, angles


def _scaled(T: FloatArray, size: float) -> FloatArray:
    """A placement (4, 4), its lengths in sizes."""
    result = T.copy()
    result[:3, 3] /= size
    return result


def _axis_frames(chain: AxisChain) -> FloatArray:
    """Frames (6, 4, 4) with z along the axes, each in the middle of the feet of its common normals with its neighbours."""
    frames = np.tile(np.eye(4), (6, 1, 1))
    for k, axis in enumerate(chain.axes):
        neighbours = [j for j in (k - 1, k + 1) if 0 <= j < 6 and angle(chain, k, j) > PARALLEL]
        origin = np.mean([feet(chain, k, j)[0] for j in neighbours], axis=0) if neighbours else chain.points[k]
        x = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
        x /= np.linalg.norm(x)
        frames[k, :3] = np.column_stack([x, np.cross(axis, x), axis, origin])
    return frames


def _solve_ordered(loop: FloatArray, formulation: Formulation) -> Answers:
    """Solutions of loops (N, 6, 3, 4) in the order of a formulation."""
    functions = kernels().for_rows(len(loop))
    slides, pairs, period = _kinds(formulation)
    eliminate_pair, joint_angles = pair_kernels(pairs).for_rows(len(loop)).values()
    with np.errstate(all="ignore"):  # (a formulation may be singular at a pose: nothing is proven then)
        equations, pair = eliminate_pair(loop)
        c, error = functions["coefficients"](functions["determinant"](equations[:, None], _CIRCLE))
        radii, circle, kind = functions["classified"](c, roots_of(c), error)
        if len(loop) > 1:
            pose, which = np.nonzero(kind)
            radii, circle, kind, loops = radii[pose, which], circle[pose, which], kind[pose, which], loop[pose]
            begun = joint_angles(equations[pose], pair[pose], loops, circle)
        else:
            which = kind[0].nonzero()[0]
            pose, loops = np.zeros(len(which), dtype=np.intp), np.repeat(loop, len(which), axis=0)
            radii, circle, kind = radii[0, which], circle[0, which], kind[0, which]
            begun = joint_angles(equations, pair, loop, circle)
        q, opened = closed_loops(loops, begun, slides)
        good = opened < OPEN
        # (solutions of two roots are two: each is nearer to its own root than the roots are to each other)
        accounted = good & (kind == ALONE) & (np.abs(wrapped(q[:, 0] - begun[:, 0])) <= 2.0 * radii + STRAY)
    proven: Mask = np.ones(len(loop), dtype=bool)
    # (a solution of a root that is not on the circle: a double one, or one that another disc lost)
    proven[pose[np.where(kind == BESIDE_CIRCLE, good, ~accounted)]] = False
    angles = formulation.angles(wrapped(q[good], period))
    return Answers(pose[good], angles, proven)


@cache
def _kinds(formulation: Formulation) -> tuple[tuple[bool, ...], Slides, FloatArray]:
    """Sliding joints in the order of a formulation and in its pairs, and the periods of its joints."""
    slides = formulation.sliding_order()
    return slides, formulation.pairs(), np.where(slides, 0.0, 2.0 * np.pi)
