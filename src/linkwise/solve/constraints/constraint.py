"""What every constraint is: numbers that may differ from task to task, and equations over them, written once on scalars."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise.kinematics.forward_kinematics import forward_kinematics
from linkwise.kinematics.jacobian import jacobian
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import Array, FloatArray


class Configuration:
    """A mechanism at one configuration: poses and Jacobians that several constraints need are computed once.

    Parameters
    ----------
    tree : Tree
        The mechanism.
    q : ndarray (nq,)
        Scalars.
    """

    def __init__(self, tree: Tree, q: Array) -> None:
        self.tree, self.q = tree, q
        self._poses: dict[int | str, Array] = {}
        self._jacobians: dict[int | str, Array] = {}

    def pose(self, link: int | str) -> Array:
        """T_world_link (4, 4); -1 is the tool."""
        if link not in self._poses:
            self._poses[link] = forward_kinematics(self.tree, self.q, link=link)
        return self._poses[link]

    def jacobian(self, link: int | str) -> Array:
        """J (6, nv) of the link's frame, world axes."""
        if link not in self._jacobians:
            self._jacobians[link] = jacobian(self.tree, self.q, link=link)
        return self._jacobians[link]


@dataclass(frozen=True)
class ConstraintEquations:
    """Equations of a constraint at one configuration.

    Attributes
    ----------
    residual : ndarray (m,)
        What is lacking: zero where the constraint holds; m or rad.
    rates : ndarray (m, nv)
        What a step must fulfil, ``rates @ dq = residual``: minus the derivative of the residual, or of another residual with
        the same zeros whose slope ``rates.T @ residual`` is.
    angles : tuple of bool
        Which residuals are angles, (m,).
    exact : ndarray (m, nv), optional
        Minus the derivative of the residual, where `rates` is that of another one.
    """

    residual: Array
    rates: Array
    angles: tuple[bool, ...]
    exact: Array | None = None

    def times(self, gain: Any) -> ConstraintEquations:
        """The same equations times a scalar."""
        exact = None if self.exact is None else self.exact * gain
        return ConstraintEquations(self.residual * gain, self.rates * gain, self.angles, exact)


class Constraint(ABC):
    """What must hold of a mechanism.

    A subclass says its equations over scalars. `numbers` are what may differ from task to task; `key` is everything else, so
    that tasks of one kind share their compiled solver.
    """

    @property
    @abstractmethod
    def numbers(self) -> FloatArray:
        """The numbers of the task (..., p)."""

    @property
    @abstractmethod
    def key(self) -> tuple[Any, ...]:
        """Equal for constraints that differ in their numbers only; hashable."""

    @abstractmethod
    def equations(self, view: Configuration, p: Array) -> ConstraintEquations:
        """The equations at a configuration, for the numbers p (p,)."""

    @abstractmethod
    def errors(self, view: Configuration, p: Array) -> tuple[Any, Any]:
        """How far from holding: the squares of a distance (m2) and of an angle (rad2)."""

    @abstractmethod
    def check(self, tree: Tree) -> None:
        """Raise `ArgumentError` unless it can be asked of this mechanism."""

    def kind(self) -> Constraint:
        """The same constraint for the compiled solver to keep: a subclass may leave out the numbers of a large batch."""
        return self

    def counted(self, tree: Tree) -> tuple[int, ...]:
        """Joint coordinates, by index, whose whole turns count: none, unless a subclass says so."""
        return ()


def squared(values: Array) -> Any:
    """The sum of the squares of scalars; 0 where there are none."""
    return np.asarray(values) @ np.asarray(values) if len(values) else 0.0
