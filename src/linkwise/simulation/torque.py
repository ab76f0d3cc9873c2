"""Torque inputs of a simulation: arrays with zero-order hold, Python functions, and compiled `Feedback` laws."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError, choices, members
from linkwise.expr import Expr
from linkwise.kernel import Kernel
from linkwise.kernel.tape import Shape, Tape, trace
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import Array, FloatArray
from linkwise.spatial.validation import numbers, whole

T = TypeVar("T")

#: Permitted operations of a law.
WORKS = (
    "what works is + - * / @, abs, np.sin, np.cos, np.sqrt, .sign() of one, linkwise.simulation.saturated for limits "
    "and the functions over scalars, such as linkwise.dynamics.gravity_torque(mech, q) for mech.gravity_torque(q)"
)


class Sampled:
    """A parameter of a `Feedback` that changes with time, or from rollout to rollout: one value for each instant.

    Parameters
    ----------
    values : (..., T - 1 or T or 1, ...) array_like
        The last `ndim` axes are one value, the axis before them is time, those before it the batch. A value holds until
        the next instant, the last one from its instant on; one value alone holds all the time.
    ndim : int
        Axes of one value: 1 for a vector, 0 for a number.

    Raises
    ------
    ArgumentError
        Where `values` are not finite real numbers, are empty, or have no axis for time.

    Examples
    --------
    >>> Sampled(np.zeros((100, 6)))
    Sampled(values of shape (6,), 100 instants, batch ())
    """

    def __init__(self, values: npt.ArrayLike, ndim: int = 1) -> None:
        self.values = numbers("Sampled: values", values)
        if self.values.ndim <= whole("Sampled: ndim", ndim, 0):
            raise ArgumentError(
                f"Sampled: values has the shape {self.values.shape}; expected an axis for time before the {ndim} of a value"
            )
        if not self.values.size:
            raise ArgumentError(f"Sampled: values has the shape {self.values.shape}; expected one number or more")
        split = self.values.ndim - ndim
        self.shape = self.values.shape[split:]
        self.rows = self.values.shape[split - 1]
        self.batch = self.values.shape[: split - 1]

    def __repr__(self) -> str:
        return f"Sampled(values of shape {self.shape}, {self.rows} instants, batch {self.batch})"


class Feedback:
    """A law tau = function(t, q, qd, **parameters), traced once and compiled into the steps of `simulate`.

    The function is written like an algorithm of this library: over scalars, for one configuration. It gets t (s), q
    (nq,), qd (nv,) and the parameters as arrays of expressions, and returns tau (nv,). Arithmetic, ``@``, ``np.sin``,
    ``np.cos``, ``np.sqrt``, ``abs``, ``.sign()`` of one of them and `saturated` work on them, and so do the functions over
    scalars in `linkwise.kinematics` and `linkwise.dynamics`, such as ``gravity_torque(mech, q)`` in the place of
    ``mech.gravity_torque(q)``; comparisons, ``if`` and ``np.clip`` do not.

    Parameters
    ----------
    function : callable
        The law.
    **parameters
        Numbers (floats or ints), and arrays or lists of them, are inputs of the compiled law: other values cost no
        compilation. A `Sampled` array has a value for each instant. Anything else (True or False, a string, a mechanism)
        is part of the law. To make a number part of the law (a count of repetitions, an exponent, an index), bind it with
        ``functools.partial`` or give it as a default value of the function's own.

    Raises
    ------
    ArgumentError
        Where the function does not take these parameters, or one of them holds numbers that are not real and finite.

    Examples
    --------
    >>> import linkwise as lw
    >>> arm = lw.robots.planar_2r()
    >>> law = Feedback(lambda t, q, qd, kp, kd: -kp * q - kd * qd, kp=[90.0, 60.0], kd=9.0)
    >>> law
    Feedback(<lambda>, kp, kd)
    >>> law(arm, 0.0, [0.1, 0.0], [0.0, 1.0])
    array([-9., -9.])

    Springs and dampers about a goal, gravity compensated, the efforts limited as those of the motors are:

    >>> from linkwise.simulation import saturated, simulate
    >>> def hold_at(t, q, qd, goal, kp, kd, most):
    ...     effort = kp * (goal - q) - kd * qd + lw.dynamics.gravity_torque(arm, q)
    ...     return saturated(effort, -most, most)
    >>> law = Feedback(hold_at, goal=[1.0, 0.5], kp=60.0, kd=15.0, most=[40.0, 20.0])
    >>> motion = simulate(arm, torque=law, t=(3.0, 1e-3))
    >>> motion.q[-1].round(2).tolist(), abs(motion.tau).max(axis=0).tolist()
    ([1.0, 0.5], [40.0, 20.0])
    """

    def __init__(self, function: Callable[..., Any], **parameters: Any) -> None:
        if not callable(function):
            raise ArgumentError(f"Feedback: function is {function!r}; expected function(t, q, qd, **parameters)")
        self.function = function
        self.name = getattr(function, "__name__", type(function).__name__)
        try:
            inspect.signature(function).bind(None, None, None, **parameters)
        except TypeError as error:
            raise ArgumentError(f"Feedback: {self.name} does not take (t, q, qd, **parameters): {error}") from error
        except ValueError:
            pass  # a function without a signature: its call raises the error
        self.parameters = parameters
        self.inputs: dict[str, Sampled] = {}
        self.fixed: dict[str, Any] = {}
        for name, value in parameters.items():
            if isinstance(value, Sampled):
                self.inputs[name] = value
            elif _is_number(value):
                array = numbers(f"Feedback: {name}", value)
                self.inputs[name] = Sampled(array[None], array.ndim)
            else:
                self.fixed[name] = value
        self._family = _Family()

    def replace(self, **parameters: Any) -> Feedback:
        """The same law with other values for some parameters; nothing is compiled again where their shapes are the same.

        Examples
        --------
        >>> law = Feedback(lambda t, q, qd, kp: -kp * q, kp=90.0)
        >>> law.replace(kp=100).parameters
        {'kp': 100}
        """
        unknown = sorted(parameters.keys() - self.parameters.keys())
        if unknown:
            raise ArgumentError(
                f"Feedback: {self.name} has no parameter {choices(unknown)}; it has {members(self.parameters)}"
            )
        other = Feedback(self.function, **{**self.parameters, **parameters})
        shapes = [{name: value.shape for name, value in law.inputs.items()} for law in (self, other)]
        alike = self.fixed.keys() == other.fixed.keys() and all(self.fixed[k] is other.fixed[k] for k in self.fixed)
        if alike and shapes[0] == shapes[1]:
            other._family = self._family
        return other

    def __call__(self, mech: Tree, t: npt.ArrayLike, q: npt.ArrayLike, qd: npt.ArrayLike) -> FloatArray:
        """The torque (..., nv) at t (s), q (..., nq), qd (..., nv), sampled parameters at their first instant."""
        first = [np.take(value.values, 0, axis=len(value.batch)) for value in self.inputs.values()]
        return self.kernel(mech)(t, q, qd, *first)  # type: ignore[no-any-return]

    def kernel(self, mech: Tree, backend: str | None = None) -> Kernel:
        """The law alone, as a compiled function of t, q, qd and the parameters."""
        return compiled(mech, self, ("law", backend), lambda: Kernel(self.tape(mech), backend))

    def compiled(self, mech: Tree) -> dict[Any, Any]:
        """Compiled programs of this law and a mechanism, shared by copies that `replace` makes without compiling.

        The mechanism keeps it, as long as one of these laws is alive: neither keeps the other.
        """
        laws = mech.__dict__.setdefault("_rollouts", {}).setdefault("laws", WeakKeyDictionary())
        compilations: dict[Any, Any] = laws.setdefault(self._family, {})
        return compilations

    def tape(self, mech: Tree) -> Tape:
        """Trace it on the coordinates of a mechanism: inputs t, q, qd and the parameters, output tau."""
        shapes = {f"given{k}": value.shape for k, value in enumerate(self.inputs.values())}
        inputs = {"t": (), "q": (mech.nq,), "qd": (mech.nv,), **shapes}
        return trace(lambda *args: self.scalars(mech, *args), "law", inputs, {"tau": (mech.nv,)})

    def scalars(self, mech: Tree, t: Array, q: Array, qd: Array, *parameters: Array) -> Array:
        """The law over scalars, checked."""
        named = {name: value[()] if value.ndim == 0 else value for name, value in zip(self.inputs, parameters, strict=True)}
        try:
            tau = np.asarray(self.function(t[()], q, qd, **named, **self.fixed), dtype=object)
        except (TypeError, AttributeError, ArgumentError) as error:
            raise ArgumentError(f"Feedback: {self.name} fails on expressions: {error}; {WORKS}") from error
        if tau.shape != (mech.nv,):
            raise ArgumentError(f"Feedback: {self.name} gives tau of shape {tau.shape}; expected ({mech.nv},)")
        return tau

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(Feedback, self.function, **self.parameters), ()

    def __repr__(self) -> str:
        return f"Feedback({', '.join([self.name, *self.parameters])})"


def compiled(tree: Tree, law: Feedback | None, key: tuple[Any, ...], make: Callable[[], T]) -> T:
    """Compile a program for a mechanism, and a law if there is one; cached."""
    compilations = tree.__dict__.setdefault("_rollouts", {}) if law is None else law.compiled(tree)
    if key not in compilations:
        compilations[key] = make()
    result: T = compilations[key]
    return result


class _Family:
    """Stands for a law and those that `replace` makes of it without compiling."""


def _is_number(value: Any) -> bool:
    """True if a parameter is a number, or an array or list of numbers, but not a bool."""
    if not isinstance(value, (int, float, np.number, np.ndarray, list, tuple)):
        return False
    try:
        kind = np.asarray(value).dtype.kind
    except ValueError:
        return False
    return kind != "b" if isinstance(value, (np.number, np.ndarray)) else kind in "iuf"


def saturated(x: Any, least: Any, most: Any) -> Any:
    """Return x, or the limit that it is beyond: ``np.clip`` for numbers and for the expressions in a `Feedback`.

    With a and b the signs of x - most and least - x, it is (-(a + b) x + (1 + a) most + (1 + b) least) / 2: no comparison,
    and no rounding, since one of the three factors is 1 and the others are 0, or two halves meet at a limit.

    Parameters
    ----------
    x : number, expression or array_like of them
        What is limited.
    least, most : number, expression or array_like of them
        Finite limits, least <= most, of a shape that broadcasts with that of x.

    Returns
    -------
    ndarray, or a scalar where all are scalars

    Raises
    ------
    ArgumentError
        Where the limits are numbers that are not finite, or least is above most.

    Examples
    --------
    >>> saturated([-3.0, 0.25, 7.0], -1.0, 2.0).tolist()
    [-1.0, 0.25, 2.0]
    """
    x, least, most = np.asarray(x), np.asarray(least), np.asarray(most)
    known = "O" not in {least.dtype.kind, most.dtype.kind}
    if known and not (np.isfinite(least).all() and np.isfinite(most).all() and np.all(least <= most)):
        raise ArgumentError(f"saturated: the limits are {least} and {most}; expected finite numbers, least <= most")
    above, below = _sign(x - most), _sign(least - x)
    return np.asarray(0.5 * (-(above + below) * x + (1.0 + above) * most + (1.0 + below) * least))[()]


def _sign(x: Any) -> Any:
    x = np.asarray(x)
    return np.asarray(_signs(x)) if x.dtype == object else np.sign(x)


_signs = np.frompyfunc(lambda x: x.sign() if isinstance(x, Expr) else float(np.sign(x)), 1, 1)


#: ``function(t, q, qd) -> tau`` over all rollouts at once: (B, nq), (B, nv) -> (B, nv).
TorqueFunction = Callable[[float, FloatArray, FloatArray], FloatArray]


@dataclass(frozen=True)
class Torque:
    """A source of torque.

    Attributes
    ----------
    arrays : dict of str to ndarray (..., rows, size)
        What is read at each instant: the torque itself, or the inputs of the law.
    law : Feedback or None
        Compiled in.
    function : callable or None
        Called at each step.
    """

    arrays: dict[str, FloatArray]
    law: Feedback | None = None
    function: Callable[..., Any] | None = None

    @classmethod
    def of(cls, tree: Tree, torque: Any, steps: int, batch: Shape) -> Torque:
        """Validate the argument of `simulate`; `batch` is the batch shape of the initial states."""
        if isinstance(torque, Feedback):
            arrays = {}
            for name, value in torque.inputs.items():
                if value.rows not in {1, steps, steps + 1}:
                    raise ArgumentError(
                        f"simulate: {name} of {torque!r} has {value.rows} instants; expected {steps} (one per step), "
                        f"{steps + 1} or 1"
                    )
                arrays[name] = value.values.reshape(*value.batch, value.rows, prod(value.shape))
            return cls(arrays, law=torque)
        if callable(torque):
            return cls({}, function=torque)
        return cls({"torque": _rows(torque, tree.nv, steps, batch)})

    @property
    def batches(self) -> dict[str, Shape]:
        """The batch shape of each array."""
        return {name: array.shape[:-2] for name, array in self.arrays.items()}

    @property
    def is_law(self) -> bool:
        """True if it depends on the state."""
        return self.law is not None or self.function is not None

    @property
    def varies(self) -> bool:
        """True if it changes at the instants."""
        return any(array.shape[-2] > 1 for array in self.arrays.values())

    def reads(self, batch: Shape) -> list[FloatArray]:
        """The arrays as (B or 1, rows, size)."""
        return [flat(array, batch, 2) for array in self.arrays.values()]

    def checked_function(self, batch: Shape, nv: int) -> TorqueFunction | None:
        """Wrap the user's function for flat rollouts: it receives and returns the batch shape.

        What it gives is checked: real numbers of a shape that fits, at each call; finite ones at the first, where the state
        surely is finite.
        """
        function = self.function
        if function is None:
            return None
        item = f"simulate: the result of torque {getattr(function, '__name__', type(function).__name__)!r}"
        shape = (*batch, nv)
        expected = f"real numbers of the shape {shape}, or of one that broadcasts to it"
        first = True

        def torque(t: float, q: FloatArray, qd: FloatArray) -> FloatArray:
            nonlocal first
            result = function(t, q.reshape(*batch, q.shape[-1]), qd.reshape(shape))
            tau = numbers(item, result, expected, finite=first, copy=False)
            first = False
            try:
                return np.broadcast_to(tau, shape).reshape(prod(batch), nv)
            except ValueError as error:
                raise ArgumentError(f"{item} has the shape {tau.shape}; expected {expected}") from error

        return torque


def flat(array: FloatArray, batch: Shape, axes: int) -> FloatArray:
    """The array broadcast to (B, ...) with so many axes after the batch; (1, ...) where it has no batch."""
    split = array.ndim - axes
    if prod(array.shape[:split]) == 1:
        return array.reshape(1, *array.shape[split:])
    return np.broadcast_to(array, (*batch, *array.shape[split:])).reshape(prod(batch), *array.shape[split:])


def torque_axes(array: Any, nv: int, steps: int) -> Any:
    """Torques of any library as (..., rows, nv), rows 1 or one per instant.

    Raises
    ------
    ArgumentError
        For another shape.
    """
    shape = tuple(array.shape)
    if not shape or shape[-1] != nv:
        raise ArgumentError(f"simulate: torque has the shape {shape}; expected (..., {nv})")
    if len(shape) == 1 or (len(shape) == 2 and shape[0] not in {1, steps, steps + 1}):
        array = array[..., None, :]
    if array.shape[-2] not in {1, steps, steps + 1}:
        raise ArgumentError(f"simulate: torque has the shape {shape}; expected (..., {steps}, {nv}): a row for each step")
    return array


def _rows(torque: Any, nv: int, steps: int, batch: Shape) -> FloatArray:
    """Torques as (..., rows, nv), rows 1 or one per instant."""
    if torque is None:
        return np.zeros((1, nv))
    tau = numbers("simulate: torque", torque, copy=False)
    kinds = f"({nv},), (..., {steps}, {nv}) with one row per step, or (..., 1, {nv}) for what is constant"
    if tau.ndim == 1 and tau.size == nv:
        return tau[None]
    rows = tau.shape[-2] if tau.ndim > 1 else 0
    per_step = rows in {1, steps, steps + 1}
    per_rollout = 1 < rows == (batch or (0,))[-1] and tau.ndim - 1 <= len(batch)
    if not (per_step or per_rollout) or tau.shape[-1] != nv:
        raise ArgumentError(f"simulate: torque has the shape {tau.shape}; expected {kinds}")
    if per_step and per_rollout:
        raise ArgumentError(
            f"simulate: torque {tau.shape} may mean {rows} instants or {rows} rollouts; say torque[None] for one row per "
            "step, torque[..., None, :] for one per rollout"
        )
    return tau[..., None, :] if per_rollout else tau
