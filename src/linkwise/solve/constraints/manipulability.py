"""A frame must stay away from singular positions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError, shown
from linkwise.kinematics.manipulability import volume_and_slope
from linkwise.model.loop import BASE
from linkwise.model.tree import Tree
from linkwise.solve.constraints.constraint import Configuration, Constraint, ConstraintEquations, importance, outside
from linkwise.solve.lengths import characteristic_length
from linkwise.solve.validation import FARTHEST, link_given, numbers_between, settle
from linkwise.spatial.scalar import Array, FloatArray
from linkwise.spatial.validation import rows_of


@dataclass(frozen=True, eq=False, repr=False)
class Manipulability(Constraint):
    """The manipulability of a frame is as great as a value, or greater.

    It is the product of the singular values of the Jacobian's rows that count, linear ones divided by the characteristic
    length (T. Yoshikawa, 1985; see `linkwise.solve.lengths.characteristic_length`). A value that is out of reach makes it as
    great as can be.

    Parameters
    ----------
    link : int or str
        The frame: ``"tool"``, or a link by name or index, as in `Mechanism.forward_kinematics`.
    lower : (...) array_like
        The least value, >= 0.
    mask : (6,) array_like, optional
        1 for the rows that count: x, y, z, rotation about x, y, z. All by default.
    weight, priority
        See `Constraint`; a weight of 1 by default.

    Raises
    ------
    ArgumentError
        Naming what is wrong.

    Examples
    --------
    >>> from linkwise import Position, robots
    >>> arm, q0 = robots.planar_3r(), [0.1, 1.0, -0.9]
    >>> hold = Position("tool", arm.forward_kinematics(q0)[:3, 3], mask=[1, 1, 0])
    >>> solution = arm.solve([hold, Manipulability("tool", 10.0, mask=[1, 1, 0, 0, 0, 0])], q0=q0)
    >>> solution.success, solution.q.round(2).tolist()
    (True, [0.94, -0.4, -0.69])
    """

    keyed: ClassVar[tuple[str, ...]] = ("link", "rows")
    link: int | str
    lower: FloatArray
    rows: tuple[int, ...]

    def __init__(
        self,
        link: int | str,
        lower: npt.ArrayLike,
        mask: npt.ArrayLike | None = None,
        *,
        weight: npt.ArrayLike | None = 1.0,
        priority: int | None = None,
    ) -> None:
        values = numbers_between("lower", lower, f"numbers (...) from 0 to {FARTHEST:g}", FARTHEST)
        settle(self, link=link_given(link), lower=values, rows=tuple(rows_of(mask)), **importance(weight, priority))

    @property
    def numbers(self) -> FloatArray:
        """The least value (..., 1)."""
        return self.lower[..., None]

    def check(self, tree: Tree) -> None:
        """Raise `ArgumentError` unless the link exists, on a fixed base, and is not moved by joints of a loop."""
        tree.frame(self.link)
        if tree.floating:
            raise ArgumentError(f"Manipulability: {tree.name!r} has a floating base; expected a fixed one")
        places = [at.coordinate if at.coordinate >= 0 else ~k for k, at in enumerate(tree.followers)]  # (of what moves them)
        for loop in tree.loops:
            ends = (set() if end == BASE else {*tree.path(end)} for end in (loop.first, loop.second))
            joints = {places[k] for k in next(ends) ^ next(ends) if tree.links[k].moves}
            if joints & {places[k] for k in tree.path(self.link)}:
                raise ArgumentError(
                    f"Manipulability: loop {loop.name or repr(loop)} of {tree.name!r} runs through joints that move"
                    f" {shown(self.link)}; expected a frame on joints that no loop holds"
                )

    def equations(self, view: Configuration, p: Array) -> ConstraintEquations:
        """Residual of the manipulability."""
        length = characteristic_length(view.tree, self.link)
        value, slope = volume_and_slope(view.tree, self.link, self.rows, length, view.q)
        return ConstraintEquations.between(np.array([value]), slope[None], (p, [FARTHEST]), (True,))

    def errors(self, view: Configuration, p: Array) -> tuple[Any, Any]:
        """Square of the residual, which has no unit, in place of an angle."""
        value = volume_and_slope(view.tree, self.link, self.rows, characteristic_length(view.tree, self.link), view.q)[0]
        lacking = outside(value, p[0], FARTHEST)
        return 0.0, lacking * lacking
