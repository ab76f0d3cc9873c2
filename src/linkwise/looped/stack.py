"""Many mechanisms of one structure in one call."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np

from linkwise import arrays
from linkwise.algorithm import algorithm_options, find
from linkwise.arrays import DifferentiableFramework, Framework, Signature
from linkwise.dynamics.external import wrench_arguments
from linkwise.errors import ArgumentError, choices, members, shown
from linkwise.kernel.backend import Lazy
from linkwise.kernel.backends.llvm.looped_loading import gufunc
from linkwise.kernel.kernel import check_arguments, check_count
from linkwise.kernel.looped import LoopedData
from linkwise.looped.kernel import LoopedKernel, code_for, data_of, refused
from linkwise.model.tree import Tree
from linkwise.model.validation import items
from linkwise.spatial.scalar import FloatArray
from linkwise.sweeps.drivers import LOOPED


class Stack:
    """Mechanisms that differ in numbers alone, as a batch: see `stack`.

    It has the methods of `linkwise.Mechanism` for the algorithms that loop over bodies. The batch shapes of their arguments
    are broadcast against the shape of the stack.

    Attributes
    ----------
    mechanisms : tuple of Mechanism
        In C order.
    shape : tuple of int
        The shape of the stack.
    """

    def __init__(self, mechanisms: Iterable[Tree], shape: tuple[int, ...]) -> None:
        self.mechanisms, self.shape = tuple(mechanisms), shape
        self._functions: dict[Any, Callable[..., Any]] = {}

    def kernel(self, name: str, **options: Any) -> Callable[..., Any]:
        """The function of an algorithm for all mechanisms of the stack.

        Parameters
        ----------
        name : str
            Name of the algorithm: one that loops over bodies.
        **options
            Of the algorithm.

        Raises
        ------
        ArgumentError
            Naming the algorithms, the options, or the mechanism that cannot have it, or differs in more than numbers.
        """
        if arrays.is_traced():
            arrays.refuse(arrays.no_graph(f"{name} of a stack"))
        if name not in LOOPED:
            raise ArgumentError(f"stack: no algorithm {name!r} that loops over bodies; there is {members(sorted(LOOPED))}")
        chosen = algorithm_options(self.mechanisms[0], find(name), options)
        key = (name, *chosen.items())
        if key not in self._functions:
            self._functions[key] = _StackedFunction(self, name, chosen)
        return self._functions[key]

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in LOOPED or name.endswith("_external"):
            raise AttributeError(f"a stack has no {name!r}; it has {choices(sorted(dir(self)))}")
        return partial(self._call, name)

    def __dir__(self) -> list[str]:
        return ["kernel", "mechanisms", "shape", *(name for name in LOOPED if not name.endswith("_external"))]

    def _call(self, name: str, *args: Any, external: Any = None, **options: Any) -> Any:
        if external is None:
            return self.kernel(name, **options)(*args)
        if f"{name}_external" not in LOOPED:
            raise ArgumentError(f"stack: {name} takes no external wrenches")
        wrenches, values = wrench_arguments(external)
        return self.kernel(f"{name}_external", **wrenches, **options)(*args, values)

    def __len__(self) -> int:
        return len(self.mechanisms)

    def __repr__(self) -> str:
        return f"<Stack of {len(self)} mechanisms like {self.mechanisms[0].name!r}, shape {self.shape}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.mechanisms, self.shape)


class _StackedFunction:
    """One algorithm on a stack: the gufunc whose first input is the constants of each mechanism."""

    def __init__(self, whole: Stack, name: str, chosen: dict[str, Any]) -> None:
        first, declared = whole.mechanisms[0], find(name)
        self.kernel = LoopedKernel(first, declared, chosen)
        for mechanism in whole.mechanisms:
            reason = refused(mechanism, declared, chosen) or ("joints follow others" if mechanism.coupled else "")
            if reason:
                raise ArgumentError(f"stack: {name} of {mechanism.name!r} does not loop over bodies: {reason}")
        for twisted in (True, False):  # (where some axes cross a common normal that others do not have, none is twisted)
            data = [data_of(mechanism, declared, chosen, twisted=twisted) for mechanism in whole.mechanisms]
            if all(np.array_equal(data[0].ints["bodies"], other.ints["bodies"]) for other in data):
                break
        code = code_for(first, declared, chosen)
        for mechanism, other in zip(whole.mechanisms, data, strict=True):
            _compare(first, mechanism, data[0], other, same_code=code_for(mechanism, declared, chosen) is code)
        numbers = np.array([mechanism.all_numbers(code.layout) for mechanism in data])
        self.numbers: FloatArray = numbers.reshape(*whole.shape, -1)
        self._rows = StackedRows(self.kernel, data[0], twisted=twisted)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Compute, as a gufunc does."""
        tape = self.kernel.tape
        library = arrays.of(tape.name, args)
        if library is not None:
            return self._by(library, *args, **kwargs)
        try:
            return self._rows.ufunc()(self.numbers, *args, **kwargs)
        except (ValueError, TypeError, OverflowError):
            check_count(tape, args)
            check_arguments(tape, args, {"stack": self.numbers.shape[:-1]})
            raise

    def _by(self, library: Framework, *args: Any) -> Any:
        """Compute with arrays of another library; a task gets the numbers of its mechanisms alone."""
        tape = self.kernel.tape
        check_count(tape, args)
        library.check(tape.name, dict(zip(tape.inputs, zip(args, tape.inputs.values(), strict=True), strict=True)))
        shapes = (self.numbers.shape[-1:], *tape.inputs.values())
        signature = Signature(shapes, tuple(tape.outputs.values()), ("float64",) * len(tape.outputs))
        if isinstance(library, DifferentiableFramework):
            args = tuple(library.without_derivatives(f"{tape.name} of a stack", arg) for arg in args)
        results = library.map(self._rows, signature, (library.batch("stack", self.numbers, shapes[0]), *args))
        return results if len(results) > 1 else results[0]


class StackedRows:
    """The gufunc of a stack, whose first argument is the numbers of each mechanism; it pickles as that of the first."""

    def __init__(self, kernel: LoopedKernel, data: LoopedData, *, twisted: bool) -> None:
        self.kernel, self.twisted = kernel, twisted
        self.ufunc = Lazy(lambda: gufunc(kernel.code, data, kernel.doc, stacked=True))

    def __call__(self, *args: Any) -> tuple[Any, ...]:
        """Compute; the results in float64."""
        results = self.ufunc()(*(np.asarray(arg, np.float64) for arg in args))
        return results if isinstance(results, tuple) else (results,)

    def __reduce__(self) -> tuple[Any, ...]:
        return _rows_again, (self.kernel, self.twisted)


def _rows_again(kernel: LoopedKernel, twisted: bool) -> StackedRows:
    tree, name, options = kernel.arguments
    key = (name, twisted, *options.items())
    return tree.memo(
        "stack", key, lambda: StackedRows(kernel, data_of(tree, find(name), options, twisted=twisted), twisted=twisted)
    )


def _compare(first: Tree, mechanism: Tree, data: LoopedData, other: LoopedData, *, same_code: bool) -> None:
    """Raise `ArgumentError` where two mechanisms differ in more than numbers."""
    same = same_code and data.sizes == other.sizes and data.sparse == other.sparse
    same = same and all(np.array_equal(rows, other.ints[name]) for name, rows in data.ints.items())
    if not (same and np.array_equal(data.parents, other.parents) and np.array_equal(data.order, other.order)):
        raise ArgumentError(
            f"stack: {mechanism.name!r} differs from {first.name!r} in more than numbers; expected the same joints in the"
            " same tree, and motors and springs on the same joints"
        )


def stack(mechanisms: Any) -> Stack:
    """Mechanisms of one structure, that differ in numbers alone, as a batch: each call computes for all of them.

    Nothing is compiled for their numbers. Masses, lengths, axes, payloads, gravity, motors and springs on joints may differ;
    the tree, the kinds of joints and which of them have motors and springs may not.

    Parameters
    ----------
    mechanisms : nested sequence of Mechanism
        Its shape is that of the stack.

    Returns
    -------
    Stack
        With methods such as ``inverse_dynamics(q, qd, qdd)``, whose arguments are broadcast against the stack.

    Raises
    ------
    ArgumentError
        Where there is none, or one of them is not a mechanism or of another structure.

    Examples
    --------
    >>> import linkwise as lw
    >>> arm = lw.robots.planar_2r()
    >>> arms = lw.stack([arm, arm.with_payload(2.0), arm.replace(gravity=(0, 0, 0))])
    >>> arms.gravity_torque([0.0, 0.0]).round(3)
    array([[19.62 ,  4.905],
           [58.86 , 24.525],
           [ 0.   ,  0.   ]])
    """
    shape: list[int] = []
    level: list[Any] = [mechanisms]
    while level and not any(isinstance(item, Tree) for item in level):
        rows = [list(items(item)) for item in level]
        others = [item for item, row in zip(level, rows, strict=True) if row and row[0] is item]
        if others:
            raise ArgumentError(f"stack: {shown(others[0])} is not a mechanism; expected one or more, or sequences of them")
        if len({len(row) for row in rows}) != 1:
            raise ArgumentError(f"stack: rows of {members(str(len(row)) for row in rows)}; expected rows of one length")
        shape.append(len(rows[0]))
        level = [item for row in rows for item in row]
    wrong = [item for item in level if not isinstance(item, Tree)]
    if wrong or not level:
        problem = f"{wrong[0]!r} is not a mechanism" if wrong else "there is no mechanism"
        raise ArgumentError(f"stack: {problem}; expected one or more, or sequences of them")
    return Stack(level, tuple(shape))
