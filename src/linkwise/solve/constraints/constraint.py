"""Interface of constraints: parameters that may differ between tasks, and equations over scalars."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from linkwise.arrays.framework import PLAIN, library_name
from linkwise.errors import ArgumentError, shown
from linkwise.kinematics.forward_kinematics import forward_kinematics
from linkwise.kinematics.jacobian import jacobian
from linkwise.model.tree import Tree
from linkwise.solve.validation import FARTHEST, numbers_between, words
from linkwise.spatial.scalar import Array, FloatArray, select
from linkwise.spatial.validation import common_batch, numbers, refuse_member, whole
from linkwise.spatial.vector import total
from linkwise.torch_graphs import constant_in_graphs, is_traced


class Configuration:
    """A mechanism at one configuration, with poses and Jacobians shared by several constraints.

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
        """T_world_link (4, 4) of a link by name or index, or of ``"tool"``."""
        if link not in self._poses:
            self._poses[link] = forward_kinematics(self.tree, self.q, link=link)
        return self._poses[link]

    def jacobian(self, link: int | str) -> Array:
        """J (6, nv) of the link's frame, world axes."""
        if link not in self._jacobians:
            self._jacobians[link] = jacobian(self.tree, self.q, link=link)
        return self._jacobians[link]


@dataclass(frozen=True)
class Interval:
    """Permitted step of a range, ``low <= rates @ dq <= high``, satisfied where ``low <= 0 <= high``.

    Attributes
    ----------
    rates : ndarray (k, nv)
        The derivative of the values that have bounds.
    low, high : ndarray (k,)
        The bounds less the values, m or rad; infinite where there are none.
    angles : tuple of bool
        Which are angles, (k,).
    """

    rates: Array
    low: Array
    high: Array
    angles: tuple[bool, ...]


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
    interval : Interval, optional
        Of a range, whose residuals and rates are zero where it holds: how far from its bounds it is.
    """

    residual: Array
    rates: Array
    angles: tuple[bool, ...]
    exact: Array | None = None
    interval: Interval | None = None

    @classmethod
    def between(cls, values: Array, rates: Array, bounds: tuple[Any, Any], angles: tuple[bool, ...]) -> ConstraintEquations:
        """Equations of values (k,), with their derivative (k, nv), that must stay within bounds (k,)."""
        low, high = (np.asarray(bound) - np.asarray(values) for bound in bounds)
        lacking = [select(a, a, select(-b, b, 0.0)) for a, b in zip(low, high, strict=True)]
        active = [select(a, 1.0, select(-b, 1.0, 0.0)) for a, b in zip(low, high, strict=True)]
        masked = np.asarray(rates) * np.array(active, dtype=object)[:, None]
        return cls(np.array(lacking, dtype=object), masked, angles, interval=Interval(rates, low, high, angles))

    def times(self, gain: Any) -> ConstraintEquations:
        """The same equations times a scalar."""
        exact = None if self.exact is None else self.exact * gain
        return ConstraintEquations(self.residual * gain, self.rates * gain, self.angles, exact, self.interval)


class Constraint(ABC):
    """A constraint on a mechanism.

    A subclass says its equations over scalars. `numbers` are what may differ from task to task; `key` is everything else, so
    that tasks of one kind share their compiled solver.

    Attributes
    ----------
    keyed : tuple of str
        The names of the attributes that `key` holds, beside the class and how many numbers there are.
    weight : ndarray (...) or None
        Of the square of what it lacks, beside the other constraints of its priority; 1 where there is none. Of priority 0
        too, what has the weight 0 need not hold.
    priority : int or None
        Its level: 0 must hold; 1, 2, ... are met as well as the levels before leave. Where there is none 0, or 1 for what
        has a weight.
    """

    keyed: ClassVar[tuple[str, ...]]
    weight: FloatArray | None = None
    priority: int | None = None

    def __new__(cls, *args: Any, **options: Any) -> Any:
        """Create a constraint; for arrays of torch or JAX a placeholder until `solve` has their numbers."""
        if is_traced():
            return super().__new__(cls) if cls is ConstraintOfArrays else ConstraintOfArrays(cls, args, options)
        values = (*args, *options.values())
        if not PLAIN.issuperset(map(type, values)) and any(library_name(value) in TRACKING for value in values):
            return ConstraintOfArrays(cls, args, options)
        return super().__new__(cls)

    @property
    @abstractmethod
    def numbers(self) -> FloatArray:
        """The numbers of the task (..., p)."""

    @cached_property
    def key(self) -> tuple[Any, ...]:
        """Equal for constraints that differ in their numbers only; hashable."""
        parts = (getattr(self, name) for name in self.keyed)
        kind = (type(self), self.numbers.shape[-1])
        return (*kind, *(words(part) if isinstance(part, np.ndarray) else part for part in parts))

    def __repr__(self) -> str:
        attributes = {name: getattr(self, name) for name in getattr(self, "keyed", ())}
        fields = [f"{name}={shown(value)}" for name, value in attributes.items() if value is not None]
        return f"{type(self).__name__}({', '.join([*fields, f'{self.numbers.shape[:-1]} tasks'])})"

    @abstractmethod
    def equations(self, view: Configuration, p: Array) -> ConstraintEquations:
        """The equations at a configuration, for the numbers p (p,)."""

    @abstractmethod
    def errors(self, view: Configuration, p: Array) -> tuple[Any, Any]:
        """Squared distance (m2) and squared angle (rad2) of the violation."""

    def interval(self, view: Configuration, p: Array) -> Interval | None:
        """Distances of a range from its bounds."""
        return self.equations(view, p).interval

    def is_of_arrays(self, tree: Tree) -> bool:
        """Whether equations and errors work on q (nq, N) and numbers (p, N) as they are: rows of joint coordinates alone."""
        return False

    @abstractmethod
    def check(self, tree: Tree) -> None:
        """Raise `ArgumentError` unless it is valid for this mechanism."""

    @property
    def level(self) -> int:
        """The priority."""
        return (0 if self.weight is None else 1) if self.priority is None else self.priority

    @property
    def task(self) -> FloatArray:
        """Parameters of the task, and the weight if there is one (..., p) or (..., p + 1)."""
        if self.weight is None:
            return self.numbers
        batch = common_batch(numbers=self.numbers.shape[:-1], weight=self.weight.shape)
        parts = (self.numbers, self.weight[..., None])
        return np.concatenate([np.broadcast_to(part, (*batch, part.shape[-1])) for part in parts], axis=-1)

    def kind(self) -> Constraint:
        """The same constraint for the compiled solver to keep: a subclass may leave out the numbers of a large batch."""
        return self

    def counted(self, tree: Tree) -> tuple[int, ...]:
        """Indices of joint coordinates whose full turns matter: none by default."""
        return ()


#: The libraries whose arrays a constraint keeps, for their derivatives.
TRACKING = ("torch", "jax")


class ConstraintOfArrays(Constraint):
    """A constraint whose parameters are arrays of torch or JAX, for `solve`.

    Parameters
    ----------
    kind : type
        The constraint.
    args, options : tuple and mapping
        Its arguments.
    """

    def __init__(self, kind: type[Constraint], args: tuple[Any, ...], options: Mapping[str, Any]) -> None:
        names = _argument_names(kind, len(args), tuple(options))
        self.constraint_type, self.options = kind, {**dict(zip(names, args, strict=True)), **options}
        self.arrays = {name: value for name, value in self.options.items() if _is_tracked(value)}

    def of_numbers(self, values: Iterable[Any]) -> Constraint:
        """The constraint with these arrays of NumPy, in the order of `arrays`."""
        constraint: Constraint = self.constraint_type(**{**self.options, **dict(zip(self.arrays, values, strict=True))})
        return constraint

    def _refuse(self, *_: Any) -> Any:
        kind, names = self.constraint_type.__name__, ", ".join(self.arrays)
        raise ArgumentError(
            f"{kind}: {names} holds an array of another library; expected one of NumPy: `solve` alone takes it"
        )

    numbers = key = property(_refuse)
    equations = errors = check = _refuse  # type: ignore[assignment]


@constant_in_graphs
def _argument_names(kind: type[Constraint], count: int, names: tuple[str, ...]) -> tuple[str, ...]:
    """The names of the first arguments, where there are others by name; raises `TypeError` where these do not fit."""
    return tuple(inspect.signature(kind).bind(*range(count), **dict.fromkeys(names)).arguments)[:count]


def _is_tracked(value: Any) -> bool:
    """True for an array that a constraint keeps; within `torch.compile` also for a NumPy array, which is a tensor there."""
    if is_traced():
        return hasattr(value, "detach") or isinstance(value, np.ndarray)
    return library_name(value) in TRACKING


def squared(values: Array) -> Any:
    """The sum of the squares of scalars; 0 where there are none."""
    vector = np.asarray(values)
    if vector.ndim > 1:
        return total(vector * vector)
    return vector @ vector if len(vector) else 0.0


def importance(weight: npt.ArrayLike | None, priority: Any) -> dict[str, Any]:
    """The fields weight and priority of a constraint, checked.

    Raises
    ------
    ArgumentError
        For a weight below zero, or a priority that is not a whole number >= 0.
    """
    weights = None
    if weight is not None:
        weights = numbers_between("weight", weight, f"numbers (...) from 0 to {FARTHEST:g}", FARTHEST)
    return {"weight": weights, "priority": None if priority is None else whole("priority", priority, 0)}


def range_bounds(lower: npt.ArrayLike | None, upper: npt.ArrayLike | None, size: int | None = None) -> FloatArray:
    """Bounds (..., 2), or (..., 2 size) of vectors: the lower ones, then the upper ones; infinite where there are none.

    Raises
    ------
    ArgumentError
        Where both are left out, or the lower is above the upper.
    """
    if lower is None and upper is None:
        raise ArgumentError("lower and upper are left out; expected one of them at least")
    ends = []
    for field, value, default in (("lower", lower, -np.inf), ("upper", upper, np.inf)):
        end = numbers(field, default if value is None else value, "numbers, also infinite ones", finite=False)
        if np.isnan(end).any() or (np.isfinite(end) & (np.abs(end) > FARTHEST)).any():
            raise ArgumentError(f"{field} is {shown(value)}; expected numbers up to {FARTHEST:g}, or infinite ones")
        if size is not None and value is not None and end.shape[-1:] != (size,):
            raise ArgumentError(f"{field} has the shape {end.shape}; expected (..., {size})")
        ends.append(end[..., None] if size is None else np.broadcast_to(end, (*end.shape[:-1], size)))
    batch = common_batch(lower=ends[0].shape[:-1], upper=ends[1].shape[:-1])
    low, high = (np.broadcast_to(end, (*batch, end.shape[-1])) for end in ends)
    refuse_member(np.any(low > high, axis=-1), "lower", low, f"no more than upper, {shown(high.tolist())}")
    return np.concatenate([low, high], axis=-1)


def outside(value: Any, lower: Any, upper: Any) -> Any:
    """Excess of a scalar over its bounds."""
    return select(lower - value, lower - value, select(value - upper, value - upper, 0.0))


def angle_bound(upper: npt.ArrayLike) -> FloatArray:
    """Upper bound of an angle (...), rad, from 0 to pi."""
    return numbers_between("upper", upper, "angles from 0 to pi, rad", np.pi)


def with_bound(values: FloatArray, bound: FloatArray) -> FloatArray:
    """Numbers (..., p) and a bound (...) behind them (..., p + 1)."""
    batch = common_batch(numbers=values.shape[:-1], upper=bound.shape)
    return np.concatenate(
        [np.broadcast_to(values, (*batch, values.shape[-1])), np.broadcast_to(bound, batch)[..., None]], -1
    )
