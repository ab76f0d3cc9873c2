"""A loop must be closed: a frame on one link meets a frame on another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError, choices, shown
from linkwise.kinematics.loop_constraints import half_sine, loop_seen
from linkwise.model.loop import Loop
from linkwise.model.tree import Tree
from linkwise.solve.constraints.axis_alignment import angle_to, facing
from linkwise.solve.constraints.constraint import Configuration, Constraint, ConstraintEquations, importance, squared
from linkwise.solve.validation import settle
from linkwise.spatial.scalar import Array, FloatArray, atan2, root, select


@dataclass(frozen=True, eq=False, repr=False)
class Closed(Constraint):
    """A loop is closed: its two frames, their origins, or their origins and z axes coincide.

    The loops that a mechanism is described with are closed in every task without being named. To ask it of others is to hold
    links together for one task: ``Closed(Loop("point", "left finger", "right finger"))``.

    Parameters
    ----------
    loop : Loop, str or int
        The loop: any on links of the mechanism; or one of the mechanism's own by name, or by index from 0.
    weight, priority
        See `Constraint`.

    Raises
    ------
    ArgumentError
        Naming what is wrong.

    Examples
    --------
    >>> from linkwise import Loop, robots
    >>> from linkwise.solve import Coordinate, solve
    >>> arm = robots.planar_3r()
    >>> pin = np.eye(4)
    >>> pin[:3, 3] = [1.0, 1.5, 0.0]
    >>> found = solve(arm, [Closed(Loop("point", "base", arm.link_names[-1], pin)), Coordinate(0, 0.9)])
    >>> found.success, arm.forward_kinematics(found.q)[:2, 3].round(6).tolist()
    (True, [1.0, 1.5])
    """

    keyed: ClassVar[tuple[str, ...]] = ("loop",)
    loop: Loop | str | int

    def __init__(self, loop: Loop | str | int, *, weight: npt.ArrayLike | None = None, priority: int | None = None) -> None:
        settle(self, **importance(weight, priority))
        known = isinstance(loop, (Loop, str, int, np.integer)) and not isinstance(loop, (bool, np.bool_))
        if not known:
            raise ArgumentError(f"loop is {shown(loop)}; expected a Loop, or the name or index of one of the mechanism")
        settle(self, loop=int(loop) if isinstance(loop, np.integer) else loop)

    @property
    def numbers(self) -> FloatArray:
        """None (0,): all tasks have the same frames."""
        return np.zeros(0)

    def check(self, tree: Tree) -> None:
        """Raise `ArgumentError` unless the loop, or its links, exist."""
        loop = self.on(tree)
        for field in ("first", "second"):
            if getattr(loop, field) not in {"base", *tree.link_names}:
                raise ArgumentError(
                    f"{loop!r}: {field} is {getattr(loop, field)!r}; expected {choices(['base', *tree.link_names])}"
                )

    def on(self, tree: Tree) -> Loop:
        """The loop that is meant, on a mechanism."""
        loops, named_loop = tree.loops, self.loop
        if isinstance(named_loop, Loop):
            return named_loop
        if isinstance(named_loop, int) and -len(loops) <= named_loop < len(loops):
            return loops[named_loop]
        named = [loop for loop in loops if loop.name == named_loop]
        if len(named) == 1:
            return named[0]
        several = f"{len(named)} loops {named_loop!r}; name one by its index" if named else f"no loop {named_loop!r}"
        there = [loop.name or repr(loop) for loop in loops]
        raise ArgumentError(f"{tree.name!r} has {several}; {f'there are {there}' if there else 'there is none'}")

    def equations(self, view: Configuration, p: Array) -> ConstraintEquations:
        """Three, five or six equations, in the axes of the first frame.

        The way that is left, R1'(p1 - p2), with its exact derivative; for a full closure the turn as 2 sin(t/2) times its
        axis for an angle t, whose rates are those of the rotation, with the slope of 4 (1 - cos(t/2)); for a hinge the two
        of `linkwise.solve.constraints.axis_alignment`, which tell axes of opposite sense from axes that meet.
        """
        return loop_equations(view.tree, self.on(view.tree), view.q)

    def errors(self, view: Configuration, p: Array) -> tuple[Any, Any]:
        """The squares of the distance of the origins, and of the angle between the frames or the z axes, from 0 to pi."""
        loop = self.on(view.tree)
        gap, rotation, _ = loop_seen(view.tree, loop, view.q)
        if loop.kind == "point":
            return squared(gap), 0.0
        angle = angle_to(rotation[:, 2]) if loop.kind == "hinge" else _angle(rotation)
        return squared(gap), angle * angle


def with_loops(mechanism: Tree, constraints: Sequence[Constraint]) -> list[Constraint]:
    """Add the loops of the mechanism to the constraints.

    Raises
    ------
    ArgumentError
        Where one cannot be asked of the mechanism, or there is none.
    """
    listed = list(constraints)
    for constraint in listed:
        constraint.check(mechanism)
    named = {constraint.on(mechanism) for constraint in listed if isinstance(constraint, Closed)}
    listed += [Closed(loop) for loop in mechanism.loops if loop not in named]
    if not listed:
        raise ArgumentError("constraints are none; expected one or more, such as Pose(link, T)")
    return listed


def loop_equations(tree: Tree, loop: Loop, q: Array, *, sines: bool = False) -> ConstraintEquations:
    """The equations of a loop, as `Closed.equations` gives them; with `sines` those of a hinge are the sines of angles."""
    gap, rotation, rates = loop_seen(tree, loop, q)
    if loop.kind == "point":
        return ConstraintEquations(-gap, rates[:3], (False,) * 3)
    if loop.kind == "full":
        turn, turning = -half_sine(rotation), rates[3:]
    elif sines:
        turn, turning = np.array([rotation[1, 2], -rotation[0, 2]]), rates[3:5]
    else:
        turn, turning = facing(rotation[:, 2], -rates[3:])
    angles = (False,) * 3 + (True,) * len(turn)
    return ConstraintEquations(np.concatenate([-gap, turn]), np.concatenate([rates[:3], turning]), angles)


def _angle(rotation: Array) -> Any:
    """The angle of a rotation, from 0 to pi: |R - 1| is 2 sqrt(2) sin(t/2), and the trace 4 cos(t/2)^2 - 1."""
    sine = root(squared((rotation - np.eye(3)).ravel())) * (0.5 / np.sqrt(2.0))
    square = 1.0 + rotation[0, 0] + rotation[1, 1] + rotation[2, 2]
    return 2.0 * atan2(sine, 0.5 * root(select(square, square, 0.0)))
