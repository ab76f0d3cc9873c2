"""From a family and a mechanism to a compiled function: all solutions of a pose, refined and verified."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import reduce
from typing import Any

import numpy as np

from linkwise.expr.node import Expr
from linkwise.inverse_kinematics.closed_form.axis_chain import EXACT, AxisChain
from linkwise.inverse_kinematics.closed_form.problem import ROWS, Branch, Family, Setting, axes_of, product, values_at
from linkwise.inverse_kinematics.closed_form.subproblems import DEGENERATE, Turn, conditions
from linkwise.kernel import Kernel, trace
from linkwise.kinematics.forward_kinematics import forward_kinematics
from linkwise.kinematics.jacobian import jacobian
from linkwise.model.tree import Tree
from linkwise.solve.validation import FARTHEST
from linkwise.spatial.linear import factor
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array, atan2, blank, cos_sin, greatest, root, select
from linkwise.spatial.transform import inverse, transform
from linkwise.spatial.vector import inner

#: Regularization, relative to the squared length of a column of the Jacobian: it keeps a step finite where the Jacobian
#: lacks rank, and has no relevant effect on others.
DAMPING = 1e-13

#: Steps longer than this (rad, m) are rejected: they would leave the branch.
LONGEST = 0.1

#: Steps stop at errors (rad, relative to the chain's size) below this.
ENOUGH = 1e-15

#: Gauss-Newton steps: each squares the error.
STEPS = 2


def errors(reached: Array, wanted: Array) -> tuple[Any, Any]:
    """Distance (m) and angle (rad) between two poses (4, 4).

    The angle is taken as twice the sine of its half, from the difference of the matrices: exact where it is small.
    """
    offset = wanted[:3, 3] - reached[:3, 3]
    turn = (wanted[:3, :3] - reached[:3, :3]).ravel()
    return root(inner(offset, offset)), root(0.5 * inner(turn, turn))


def refined(
    tree: Tree,
    link: int | str,
    wanted: Array,
    q: Array,
    columns: Sequence[int],
    size: float,
    asks: str = "pose",
) -> Array:
    """Refine coordinates (n,) by Gauss-Newton steps towards a pose (4, 4), or the required part of it.

    `columns` are those that may move. The step is the damped least-squares one of C. W. Wampler (1986), with a damping that
    is almost nothing; where steps lead away, as they may in a singular position, the nearest of the positions counts.
    """
    best, least = q, None
    for _ in range(STEPS):
        reached = np.asarray(forward_kinematics(tree, q, link=link))
        gap = _gap(reached, wanted, size)[ROWS[asks]]
        missed = inner(gap, gap)
        best, least = (q, missed) if least is None else _better(best, least, q, missed)
        rates = np.asarray(jacobian(tree, q, link=link))[:, list(columns)]
        step = damped_step(np.concatenate([rates[:3] * (1.0 / size), rates[3:]])[ROWS[asks]], gap)
        taken = select(missed - ENOUGH * ENOUGH, select(LONGEST * LONGEST - inner(step, step), 1.0, 0.0), 0.0)
        moved = q.copy()
        for k, value in zip(columns, step, strict=True):
            moved[k] = q[k] + select(taken, value, 0.0)
        q = moved
    gap = _gap(np.asarray(forward_kinematics(tree, q, link=link)), wanted, size)[ROWS[asks]]
    return q if least is None else _better(best, least, q, inner(gap, gap))[0]


def _gap(reached: Array, wanted: Array, size: float) -> Array:
    """Position error in sizes of the chain, and rotation error (rad, to first order), six numbers."""
    offset = (wanted[:3, 3] - reached[:3, 3]) * (1.0 / size)
    turn = 0.5 * sum(cross(reached[:3, k], wanted[:3, k]) for k in range(3))
    return np.concatenate([offset, turn])


def _better(best: Array, least: Any, q: Array, missed: Any) -> tuple[Array, Any]:
    """Return the coordinates (n,) with the smaller error, and that error."""
    nearer = least - missed
    chosen = [old if old is new else select(nearer, new, old) for old, new in zip(best, q, strict=True)]
    return np.array(chosen, dtype=object), select(nearer, missed, least)


def damped_step(rates: Array, errors: Array) -> Array:
    """The step (m,) with (J'J + d) step = J' e."""
    normal = rates.T @ rates
    for i in range(len(normal)):
        normal[i, i] = normal[i, i] * (1.0 + DAMPING) + DAMPING
    return factor(normal).solve(rates.T @ errors)


#: Two solutions are one if their angles (rad) and lengths (m) differ by less than this, in the root of the sum of squares. A
#: double root has an accuracy of about 1e-8 only.
SAME = 1e-6


def clamped(x: Any, low: Any, high: Any) -> Any:
    """The value nearest to x between two bounds."""
    return select(low - x, low, select(x - high, high, x))


def towards(turn: Turn, start: Turn) -> Any:
    """Difference of two angles, in (-pi, pi]; near half a turn, the sign is that of the difference from `start`."""
    y, x = turn.s * start.c - turn.c * start.s, turn.c * start.c + turn.s * start.s
    if _negative(y) and _negative(x):
        other = atan2(-y, -x)
        return select(other, other - math.pi, other + math.pi)
    return atan2(y, x)


def _negative(value: Any) -> bool:
    return isinstance(value, Expr) and value.op == "neg"


#: Solutions this little beyond their limits (rad, m) are examined: nearly double ones are accurate to the root of rounding
#: only, usually 4e-8.
BARELY = 1e-6


def into_limits(q: Any, low: Any, high: Any, period: float, tol: Any) -> tuple[Any, Any]:
    """Bring a coordinate within its limits by full periods if possible; return also its excess over them.

    q lies within half a period of some value between the limits, so that one period at most is added or taken off. By `tol`
    it may be outside; it is then moved onto the limit.
    """
    moved, wide = q, tol + BARELY
    if period:
        moved = select(q - high - wide, q - period, select(low - wide - q, q + period, q))
    inside = clamped(moved, low, high)
    beyond = abs(moved - inside)
    return select(beyond - tol, moved, inside), beyond


def _larger(a: Any, b: Any) -> Any:
    return select(a - b, a, b)


def apart(a: Sequence[Any], b: Sequence[Any]) -> Any:
    """Half the squared distance of two solutions, each a sequence of Turns and lengths.

    1 - cos of an angle is half its square.
    """
    total: Any = 0.0
    for value, other in zip(a, b, strict=True):
        if isinstance(value, Turn):
            if value.c is not other.c or value.s is not other.s:
                total = total + (1.0 - (value.c * other.c + value.s * other.s))
        elif value is not other:
            total = total + 0.5 * (value - other) * (value - other)
    return total


def unlike(answers: Sequence[Sequence[Any]], valid: Sequence[Any]) -> list[Any]:
    """Invalidate duplicates of earlier valid solutions (validity above zero)."""
    kept: list[Any] = []
    for k, answer in enumerate(answers):
        now = valid[k]
        for j in range(k):
            now = select(0.5 * SAME * SAME - apart(answers[j], answer), select(kept[j], 0.0, now), now)
        kept.append(now)
    return kept


def ordered(keys: Sequence[Any], rows: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """Rows in the order of their keys, the least first, by comparisons that are the same whatever the keys are.

    K. E. Batcher's sorting network by merging ("Sorting networks and their applications", 1968), as D. E. Knuth writes it
    for any number (*The Art of Computer Programming* 3, algorithm 5.2.2M).
    """
    keyed = [[key, *row] for key, row in zip(keys, rows, strict=True)]
    for i, j in _network(len(keyed)):
        swap = keyed[i][0] - keyed[j][0]
        pairs = [(select(swap, b, a), select(swap, a, b)) for a, b in zip(keyed[i], keyed[j], strict=True)]
        keyed[i], keyed[j] = [a for a, _ in pairs], [b for _, b in pairs]
    return [row[1:] for row in keyed]


def _network(count: int) -> Iterator[tuple[int, int]]:
    """Comparator pairs of a sorting network, in order."""
    top = 1 << max(0, (count - 1).bit_length() - 1)
    p = top if count > 1 else 0
    while p:
        q, r, d = top, 0, p
        while d:
            yield from ((i, i + d) for i in range(count - d) if i & p == r)
            d, q, r = q - p, q >> 1, p
        p >>= 1


#: Flags of `ClosedFormProgram.run` for possibly missing rows; LIMITED is set by its completion only.
BESIDE_LIMITS, POLISH, SEARCH, LIMITED = 2.0, 4.0, 8.0, 16.0

#: A branch equals a row if their distance (rad, m) is less than this many times the branch's pose error.
TWIN = 100.0

#: Relative margin of an equation below which its unknown may rotate freely without leaving the pose.
FREE = 1e-3

#: Number of corrections of a branch of a nearby chain.
CORRECTIONS = 3

#: A branch of a nearby chain may be a solution if its pose error is less than LIKELY times the root of the misfit; an
#: unknown may be free if the size that determines it is less than LOOSE misfits.
LIKELY, LOOSE = 2.0, 10.0

#: A branch with a pose error (rad, relative to the chain's size) between the tolerance and this may be close to a solution:
#: nearly double branches are accurate to the root of rounding only, and those of a nearby chain to the root of its misfit.
NEAR = 1e-3

#: Distance of an invalid branch; better ones sort before it.
FAR = 1e30


class ClosedFormProgram:
    """The function that is compiled; see `ClosedFormProgram.run`.

    Parameters
    ----------
    tree : Tree
        The mechanism.
    link : int or str
        Which of its frames.
    chain : AxisChain
        The joints that move it.
    family : Family
        What solves them.
    """

    def __init__(self, tree: Tree, link: int | str, chain: AxisChain, family: Family) -> None:
        self.tree, self.link, self.chain, self.family = tree, link, chain, family
        self.branches = len(family.solve(np.eye(4, dtype=object), values_at(chain)))
        self._always_free = self._never_determined()
        rows = ROWS[family.asks]
        self._spare = len(chain) - len(family.fixed) < rows.stop - rows.start

    def kernel(self, backend: str | None = None) -> Kernel:
        """Compile `run`: pose (16,), q0 (n,), bounds (2 n + 2,)."""
        n, rows = self.tree.n, self.branches
        inputs = {"pose": (16,), "q0": (n,), "bounds": (2 * n + 2,)}
        outputs: dict[str, tuple[int, ...]] = {"q": (rows, n), "count": (), "nearest": (n,), "errors": (4,)}
        return Kernel(trace(self.run, "closed_form", inputs, outputs), backend)

    def run(self, pose: Array, q0: Array, bounds: Array) -> tuple[Any, ...]:
        """Return all solutions of a pose.

        Parameters
        ----------
        pose : (16,)
            The pose (4, 4), row after row.
        q0 : (n,)
            Where answers shall be near, and what is taken where a coordinate is not determined.
        bounds : (2 n + 2,)
            Least and greatest coordinates, the tolerance (m and rad), NaN (for rows without an answer).

        Returns
        -------
        tuple
            Answers (K, n), NaN from the row `count` on, the nearest to q0 first; `count`; the row nearest to q0, or, where
            there is none, the one that misses least; four numbers (4,): its position and rotation error; how far the pose
            is from rigid, 8 at least where a number is none, plus the last one; and what may be missing, 0 where the rows
            are all there are, `BESIDE_LIMITS` where a solution beyond the limits may stand for others that are within,
            `POLISH` where a branch nearly reaches the pose, `SEARCH` where an equation leaves its unknown free at this pose
            and a solution may have been left out for it.
        """
        n = self.tree.n
        low, high, tol, none = bounds[:n], bounds[n : 2 * n], bounds[2 * n], bounds[2 * n + 1]
        wanted, skewed = self._required_pose(pose.reshape(4, 4))
        start = np.array([clamped(q, a, b) for q, a, b in zip(q0, low, high, strict=True)], dtype=object)
        for place in self._fixed_coordinates():
            start[place] = q0[place]
        free = self._turns(start)
        branches, determined, likely = self._found(wanted, start, free)
        placed = [self._placed(branch, start, free, low, high, tol, wanted) for branch in branches]
        misses = [self._pose_errors(q, wanted) for q, _ in placed]
        reach = [select(tol - distance, select(tol - turn, 1.0, 0.0), 0.0) for distance, turn in misses]
        turns = [self._turns(q) for q, _ in placed]
        distinct = unlike(turns, reach)
        good = [select(beyond - tol, 0.0, one) for (_, beyond), one in zip(placed, distinct, strict=True)]
        keys = []
        for (q, _), (distance, turn), fits in zip(placed, misses, good, strict=True):
            worse = distance + turn
            keys.append(select(fits, inner(q - q0, q - q0), select(FAR - worse, FAR * (1.0 + worse), FAR * FAR)))
        rows = ordered(keys, [[fits, *miss, *q] for (q, _), miss, fits in zip(placed, misses, good, strict=True)])
        count = sum((select(row[0], 1.0, 0.0) for row in rows[1:]), select(rows[0][0], 1.0, 0.0))
        q = np.array([[select(row[0], value, none) for value in row[3:]] for row in rows], dtype=object)
        best = rows[0]
        missing = self._missing(turns, misses, tol, determined, sum(reach), best[1] + best[2])
        near = select(determined + 0.5, tol + BARELY, FAR)
        for (_, beyond), reached in zip(placed, reach, strict=True):
            beside = select(beyond - tol, select(near - beyond, BESIDE_LIMITS, 0.0), 0.0)
            missing = _larger(missing, select(reached, beside, 0.0))
        for close, one in zip(likely, [*distinct, 0.0], strict=bool(likely)):
            missing = _larger(missing, select(close, select(one, 0.0, SEARCH), 0.0))
        return (
            q,
            np.asarray(count),
            np.array(best[3:], dtype=object),
            np.array([best[1], best[2], skewed + far(q0) + missing, missing], dtype=object),
        )

    def _never_determined(self) -> set[int]:
        """The equations, by their number, that leave their unknown free at any pose: others determine it."""
        setting, free = Setting(self.chain), values_at(self.chain)
        never = set[int]()
        for values in setting.random():
            for k in self.family.fixed:
                free[k] = values[k]
            with conditions() as collected:
                self.family.solve(setting.reached(values).astype(object), free)
            failing = {k for k, (size, margin) in enumerate(collected) if not size > margin}
            never |= failing
        return never

    def _missing(
        self, answers: list[list[Any]], misses: list[tuple[Any, Any]], tol: Any, determined: Any, some: Any, best: Any
    ) -> Any:
        """Flags of possibly missing solutions, see `run`.

        As many exact equations as unknowns lose a solution, or leave its unknown free, at singular poses only, where one row
        stands for all. Of more equations than unknowns one that was left out may have determined it.
        """
        worse = [distance + turn for distance, turn in misses]
        spare = self._spare
        nearly = NEAR * min(self.chain.size, 1.0)
        if not spare and not self.family.refine:
            missed = select(nearly - best, select(best - tol, POLISH, 0.0), 0.0)  # (outside the limits only: not missing)
            return select(some, 0.0, select(determined, missed, SEARCH))
        near: Any = 0.0
        for k, miss in enumerate(worse):
            close: Any = POLISH
            for j, other in enumerate(worse):
                if spare and j != k:  # (where equations are left out, a row comes twice, once less exactly)
                    twin = TWIN * TWIN * miss * miss - apart(answers[min(j, k)], answers[max(j, k)])
                    close = select(twin, select(tol - other, 0.0, close), close)
            near = select(miss - tol, select(nearly - miss, greatest(close, near), near), near)
        if spare:
            return select(determined, near, SEARCH)
        return select(determined, near, select(some, near, SEARCH))

    def _found(self, wanted: Array, start: Array, free: list[Any]) -> tuple[list[Branch], Any, list[Any]]:
        """The branches for a pose; and 1 where equations determine all, 0 where hardly, -1 where one leaves it free.

        Where what is solved is a chain nearby, each is solved again for another pose. The last result says which branches
        (above zero) may be separate solutions of the true chain; its last element, whether there may be others.

        This is the pose that the chain nearby has where the true one has the pose wanted, as far as the branch so far tells:
        the error falls by as much as both chains differ, or by the root of it where two branches become one.
        """
        goal, near = self.chain.displacement(wanted), self.family.near
        with conditions() as collected:
            branches = self.family.solve(goal, free)
        determined: Any = 1.0
        for size, margin in dict.fromkeys(c for k, c in enumerate(collected) if k not in self._always_free):
            free_below = min(margin, max(FREE * margin, DEGENERATE))
            determined = select(
                size - margin, determined, select(size - free_below, select(determined, 0.0, determined), -1.0)
            )
        if near is None or near.misfit <= EXACT:
            return branches, determined, []
        likely: list[Any] = []
        if not self._spare:
            sizes = [size for k, (size, _) in enumerate(collected) if k not in self._always_free]
            loose = [LOOSE * near.misfit - size for size in dict.fromkeys(sizes)]
            likely = [self._likely(branch, start, free, wanted, near) for branch in branches]
            likely.append(reduce(greatest, loose, -1.0))
        for _ in range(CORRECTIONS):
            branches = [
                self.family.solve(self._corrected(goal, near, branch, start, free), free)[k]
                for k, branch in enumerate(branches)
            ]
        return branches, determined, likely

    def _likely(self, branch: Branch, start: Array, free: list[Any], wanted: Array, near: AxisChain) -> Any:
        """Above zero where the pose error of a branch of the nearby chain is as small as the root of the misfit."""
        distance, turn = self._pose_errors(self._coordinates(branch, start, free), wanted)
        return LIKELY * math.sqrt(near.misfit) - distance / self.chain.size - turn

    def _corrected(self, goal: Array, near: AxisChain, branch: Branch, start: Array, free: list[Any]) -> Array:
        """Displacement for the nearby chain, corrected by the difference of both chains in a branch."""
        q = self._coordinates(branch, start, free)
        true = self.chain.displacement(np.asarray(forward_kinematics(self.tree, q, link=self.link)))
        return np.asarray(goal @ inverse(true) @ product(axes_of(near), branch.joints))

    def _coordinates(self, branch: Branch, start: Array, free: list[Any]) -> Array:
        """The coordinates (n,) of a branch, within half a turn of the start."""
        chain, q = self.chain, start.copy()
        for k, (place, joint) in enumerate(zip(chain.coordinates, branch.joints, strict=True)):
            away = joint - free[k] if chain.translates[k] else towards(joint, free[k])
            q[place] = start[place] + away * (1.0 / float(chain.ratios[k]))
        return q

    def _fixed_coordinates(self) -> list[int]:
        """Coordinates whose values are inputs."""
        return [self.chain.coordinates[k] for k in self.family.fixed]

    def _required_pose(self, pose: Array) -> tuple[Array, Any]:
        """The pose (4, 4), its irrelevant part set to zero, and its deviation from a rigid transform."""
        if self.family.asks == "position":
            return transform(None, pose[:3, 3]), far(pose[:3, 3])
        if self.family.asks == "orientation":
            pose = pose.copy()
            pose[:3, 3] = 0.0
        return straightened(pose)

    def _pose_errors(self, q: Array, wanted: Array) -> tuple[Any, Any]:
        """Position and orientation error of coordinates (n,), by forward kinematics."""
        distance, turn = errors(np.asarray(forward_kinematics(self.tree, q, link=self.link)), wanted)
        return 0.0 if self.family.asks == "orientation" else distance, 0.0 if self.family.asks == "position" else turn

    def _turns(self, q: Array) -> list[Any]:
        """Joint values of the chain at coordinates (n,): Turns of revolute joints, lengths of sliding ones."""
        chain, joint_values = self.chain, list[Any]()
        for k, place in enumerate(chain.coordinates):
            ratio, shift = float(chain.ratios[k]), float(chain.shifts[k])
            coordinate = q[place] * ratio if ratio != 1.0 else q[place]
            joint_values.append(coordinate + shift if chain.translates[k] else _turn(coordinate, shift))
        return joint_values

    def _placed(
        self, branch: Branch, start: Array, free: list[Any], low: Array, high: Array, tol: Any, wanted: Array
    ) -> tuple[Array, Any]:
        """Coordinates (n,) of a branch, brought within the limits, and their excess where that is impossible."""
        chain, q = self.chain, self._coordinates(branch, start, free)
        if self.family.refine:
            columns = [place for place in chain.coordinates if place not in self._fixed_coordinates()]
            q = refined(self.tree, self.link, wanted, q, columns, chain.size, self.family.asks)
        most: Any = 0.0
        for k, place in enumerate(chain.coordinates):
            if k in self.family.fixed:
                excess = abs(q[place] - clamped(q[place], low[place], high[place])) - tol
                most = select(excess, FAR, most)
                continue
            period = 0.0 if chain.translates[k] else 2.0 * math.pi / abs(float(chain.ratios[k]))
            q[place], beyond = into_limits(q[place], low[place], high[place], period, tol)
            most = _larger(most, beyond)
        return q, most


def _turn(angle: Any, shift: float) -> Turn:
    """Cosine and sine of angle + shift; of a shift by quarter turns without arithmetic."""
    quarter = round(shift / (math.pi / 2))
    if abs(shift - quarter * (math.pi / 2)) > 4 * math.ulp(max(abs(shift), 1.0)):
        return Turn(*cos_sin(angle + shift))
    c, s = cos_sin(angle)
    return Turn(*((c, s), (-s, c), (-c, -s), (s, -c))[quarter % 4])


def far(values: Array) -> Any:
    """8 where one of some values is not a number or beyond `FARTHEST`, else 0."""
    outside: Any = 0.0
    for value in values:
        outside = select(FARTHEST - abs(value), outside, 8.0)
    return outside


def straightened(pose: Array) -> tuple[Array, Any]:
    """Orthonormalize the rotation of a pose (4, 4); return also the deviation of the pose from a rigid transform.

    Two steps of Newton's method for the nearest rotation, R (3 - R'R) / 2 (Å. Björck, C. Bowie, 1971), each of which squares
    the error.
    """
    r = pose[:3, :3]
    skewed = far(pose[:3, 3]) + abs(pose[3, 0]) + abs(pose[3, 1]) + abs(pose[3, 2]) + abs(pose[3, 3] - 1.0)
    skewed = skewed + select(inner(r[:, 2], cross(r[:, 0], r[:, 1])), 0.0, 8.0)
    for step in range(2):
        gram = blank(3, 3)
        for i in range(3):
            for j in range(i + 1):
                gram[i, j] = gram[j, i] = inner(r[:, i], r[:, j])
        if not step:
            skewed = skewed + sum(abs(gram[i, j] - (i == j)) for i in range(3) for j in range(i + 1))
        r = r @ (1.5 * np.eye(3) - 0.5 * gram)
    return transform(r, pose[:3, 3]), skewed
