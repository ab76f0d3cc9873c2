"""What every family of closed forms is: how its geometry is recognised, and the branches that it gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from linkwise.inverse_kinematics.closed_form.axis_chain import AxisChain
from linkwise.spatial.scalar import Array


class Branch(NamedTuple):
    """One way to reach a pose: for each joint in the order of the chain a `Turn`, or the way (m) of a prismatic joint.

    `miss` is 0 where the equations hold, and grows with what is lacking.
    """

    joints: tuple[Any, ...]
    miss: Any = 0.0


Solve = Callable[[Array, Sequence[Any]], list[Branch]]
"""From a displacement (4, 4) and what the joints are where nothing determines them: every branch."""


@dataclass(frozen=True, eq=False)
class Family:
    """A closed form for one chain.

    Attributes
    ----------
    name : str
        The geometry, in words: ``"the axes of joints 4, 5 and 6 meet in a point"``.
    solve : callable
        Over scalars: ``solve(displacement, free) -> branches``.
    refine : bool
        Whether the branches want refining: they come from a polynomial, or the chain is one nearby.
    asks : {"pose", "position", "orientation"}
        Which part of the pose is to be reached; the other is not looked at.
    held : tuple of int
        Joints of the chain whose values are handed in, where others have what is taken if nothing determines them.
    near : AxisChain, optional
        The chain that is solved, where it may be another than the true one: its `misfit` says how far.
    """

    name: str
    solve: Solve
    refine: bool = False
    asks: str = "pose"
    held: tuple[int, ...] = ()
    near: AxisChain | None = None


def mirrored(solve: Solve) -> Solve:
    """What solves a chain, from what solves the chain read from its end."""
    from linkwise.spatial.transform import inverse

    def run(displacement: Array, free: Sequence[Any]) -> list[Branch]:
        found = solve(inverse(displacement), list(free)[::-1])
        return [Branch(tuple(branch.joints[::-1]), branch.miss) for branch in found]

    return run


def words(joints: Sequence[int]) -> str:
    """Joints as one says them, counted from 1: ``"2, 3 and 4"``."""
    names = [str(k + 1) for k in joints]
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
