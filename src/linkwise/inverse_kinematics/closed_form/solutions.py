"""All solutions of poses as arrays, with flags of completeness."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from linkwise.arrays import Signature, apply, plain
from linkwise.errors import ArgumentError
from linkwise.inverse_kinematics.closed_form.program import LIMITED
from linkwise.solve.validation import settle
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import choice, numbers, vectors


class Labels(Protocol):
    """Assigns names to configurations."""

    def of(self, q: npt.ArrayLike) -> dict[str, Any]:
        """Words by name for coordinates q (..., n)."""


#: Metric of joint coordinates; see `Solutions.nearest`.
Metric = npt.ArrayLike | str | Callable[[FloatArray], npt.ArrayLike] | None


def distances(away: FloatArray, metric: Metric = None) -> FloatArray:
    """Distances (...) for differences (..., n) of joint coordinates, or their squares; see `Solutions.nearest`."""
    if callable(metric):
        return np.asarray(metric(away), dtype=float)
    if isinstance(metric, str):
        choice("metric", metric, ("greatest",))
        return np.asarray(np.abs(away).max(axis=-1))
    n = away.shape[-1]
    weights = np.ones(n) if metric is None else numbers("metric", metric, f"weights ({n},) or a matrix ({n}, {n})")
    if weights.shape not in {(n,), (n, n)}:
        raise ArgumentError(f"metric has the shape {weights.shape}; expected weights ({n},) or a matrix ({n}, {n})")
    least = weights.min(initial=0.0) if weights.ndim == 1 else np.linalg.eigvalsh(0.5 * (weights + weights.T))[0]
    if least < -1e-12 * np.abs(weights).max(initial=0.0):
        raise ArgumentError(f"metric has the weight {least:g}; expected weights of at least 0, or a positive matrix")
    if weights.ndim == 1:
        return np.asarray((away * away) @ weights)
    return np.asarray(np.einsum("...i,ij,...j", away, weights, away))


#: Why it is not proven that there are no other solutions.
UNPROVEN: dict[str, str] = {
    "starts": "solutions come from random starts: the pose leaves a joint undetermined, or there is no other way",
    "roots": "roots of the elimination are too near to each other, or no solution is confirmed for one",
    "limits": "a solution beyond the joint limits is one of a continuum, or two in one: others may be within the limits",
    "rows": "there are more, the nearest are here: a graph of `torch.compile` has rows for those of a regular pose",
}

#: Cause of a pose whose roots are inconclusive, besides those of `linkwise.inverse_kinematics.closed_form.program`.
ROOTS = 32.0

#: Cause of a pose with more solutions than rows.
MORE = 64.0


@dataclass(frozen=True, eq=False, repr=False)
class Solutions:
    """Joint coordinates of all solutions: for each pose one row per solution, the nearest first.

    Of a single pose it is used like the array (k, n) of its solutions: length, index, iteration, `numpy.asarray`. Of a
    batch, iterating goes through the poses, in one row for a batch of any shape, and gives such an array each.

    Attributes
    ----------
    q : ndarray (..., K, n)
        Joint coordinates, rad or m; NaN in the rows from `count` on, so without NaN for a single pose. A graph of
        `torch.compile` has as many rows as a regular pose has solutions at most; of more the nearest, not `complete` then.
    count : ndarray (...)
        How many solutions each pose has.
    complete : ndarray (...)
        False where it is not proven that there are no other solutions.
    unreachable : ndarray (...)
        True where it is proven that no position of the joints, within the limits where these were asked for, reaches the
        pose: there is no solution, and none can be missing. What was left out of the solutions afterwards does not count.
    reason : ndarray (...)
        Why it is not proven, a key of `UNPROVEN`; ``"complete"`` where it is.
    cause : ndarray (...), optional
        The same in numbers, as the solvers have it.
    labels : object, optional
        What names the configurations: `linkwise.inverse_kinematics.branches.configuration.ConfigurationLabels`.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.puma560()
    >>> T = arm.forward_kinematics([[0.1, 0.8, -2.0, 0.3, 0.5, 0.2], [0.3, 0.6, -1.0, 0.2, 0.4, 0.1]])
    >>> found = arm.all_inverse_kinematics(T)
    >>> found, [len(q) for q in found] == found.count.tolist(), found.complete.tolist()
    (<Solutions: 2 poses, 2 to 3 each>, True, [True, True])
    >>> one = arm.all_inverse_kinematics(T[0])
    >>> one, one[0].shape
    (<Solutions: 3 of one pose>, (6,))
    """

    q: FloatArray
    count: npt.NDArray[np.intp]
    complete: npt.NDArray[np.bool_]
    labels: Labels | None = None
    unreachable: npt.NDArray[np.bool_] = field(default=None)  # type: ignore[arg-type]
    cause: npt.NDArray[np.float64] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Derive the reachability flags if they are unknown."""
        if self.unreachable is None:
            settle(self, unreachable=np.asarray(self.complete & (self.count == 0)))

    @property
    def reason(self) -> npt.NDArray[np.str_]:
        """Reason why other solutions may exist, see `UNPROVEN`; ``"complete"`` where there are none."""
        complete = plain(self.complete)
        cause = np.zeros(complete.shape) if self.cause is None else self.cause
        words = np.where(cause >= ROOTS, "roots", np.where(cause >= LIMITED, "limits", "starts"))
        words = np.where(cause >= MORE, "rows", words)
        return np.asarray(np.where(complete, "complete", words))

    @property
    def configuration(self) -> dict[str, npt.NDArray[np.str_]]:
        """A word for each solution (..., K), by name, such as ``"up"`` for the elbow; empty words from `count` on.

        The names are those of `configuration_labels`; there are none where the arm has none.
        """
        return {} if self.labels is None else self.labels.of(plain(self.q))

    def nearest(self, q0: npt.ArrayLike, metric: Metric = None) -> FloatArray:
        """The solution (..., n) of each pose that is nearest to q0 (..., n); NaN where a pose has none.

        Parameters
        ----------
        q0 : (..., n) array_like
            Where distances are measured from, rad or m.
        metric : array_like, str or callable, optional
            Weights (n,) of the squared differences, or a matrix (n, n); ``"greatest"`` compares the greatest difference of
            a joint; a function takes differences (..., n) and gives distances (...). Without it all joints weigh the same.

        Examples
        --------
        >>> from linkwise import robots
        >>> arm = robots.ur5()
        >>> solutions = arm.all_inverse_kinematics(arm.forward_kinematics([0.1, -0.8, 1.0, 0.3, 0.5, 0.2]))
        >>> solutions.nearest([0.0, -1.0, 1.2, 0.2, 0.5, 0.0], metric=[1, 1, 1, 0, 0, 0]).round(6).tolist()
        [0.1, -0.8, 1.0, 0.3, 0.5, 0.2]
        """
        n = self.q.shape[-1]
        away = plain(self.q) - vectors("q0", q0, n)[..., None, :]
        distance = distances(away, metric)
        if not distance.shape[-1]:
            return np.full((*distance.shape[:-1], n), np.nan)
        best = np.argmin(np.where(np.isnan(distance), np.inf, distance), axis=-1)
        sizes = (1,) * (best.ndim + 2 - self.q.ndim) + self.q.shape[:-2]
        places = [at % size for at, size in zip(np.indices(best.shape), sizes, strict=True)]
        return self.q[(*places[best.ndim + 2 - self.q.ndim :], best)]  # type: ignore[no-any-return]

    def __len__(self) -> int:
        return prod(self.count.shape) if self.count.ndim else int(self.count)

    def __iter__(self) -> Iterator[FloatArray]:
        if not self.count.ndim:
            return iter(self.q[: len(self)])
        rows = self.q.reshape(len(self), *self.q.shape[-2:])
        return (row[:count] for row, count in zip(rows, plain(self.count).ravel(), strict=True))

    def __getitem__(self, which: Any) -> FloatArray:
        """A solution (n,) of a single pose, or the solutions (k, n) of one pose of a batch, by its index."""
        if not self.count.ndim:
            return self.q[: len(self)][which]  # type: ignore[no-any-return]
        count = plain(self.count)[which]
        if np.ndim(count):
            raise IndexError(f"index {which!r} is of several poses; expected that of one, of the shape {self.count.shape}")
        return self.q[which][: int(count)]  # type: ignore[no-any-return]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> FloatArray:
        q = plain(self.q)
        return np.array(q if self.count.ndim else q[: len(self)], dtype=dtype, copy=copy)

    def where(self, keep: npt.ArrayLike) -> Solutions:
        """Select solutions by `keep` (..., K), in the same order; `complete` still refers to all solutions.

        Examples
        --------
        >>> from linkwise import robots
        >>> arm = robots.puma560()
        >>> found = arm.all_inverse_kinematics(arm.forward_kinematics([0.1, 0.8, -2.0, 0.3, 0.5, 0.2]))
        >>> found.where(found.q[..., 4] > 0.0)
        <Solutions: 2 of one pose>
        """
        ranks = np.arange(self.q.shape[-2])
        kept = np.broadcast_to(np.asarray(plain(keep), dtype=bool), self.q.shape[:-1])
        kept = kept & (ranks < plain(self.count)[..., None])
        order = np.argsort(~kept, axis=-1, kind="stable")
        count = np.asarray(kept.sum(axis=-1), dtype=np.intp)
        most = int(count.max(initial=0))

        def chosen(module: Any, q: Any) -> tuple[Any]:
            absent = module.asarray(ranks[:most] >= count[..., None])[..., None]
            return (module.where(absent, np.nan, q[(*np.indices(order.shape)[:-1], order)][..., :most, :]),)

        core = self.q.shape[-2:]
        (q,) = apply("Solutions.where", chosen, Signature((core,), ((most, core[-1]),), ("float64",)), (self.q,))
        return replace(self, q=q, count=count)

    def __repr__(self) -> str:
        count = plain(self.count)
        if not count.ndim:
            return f"<Solutions: {count} of one pose>"
        if not count.size:
            return "<Solutions: 0 poses>"
        return f"<Solutions: {count.size} poses, {count.min()} to {count.max()} each>"
