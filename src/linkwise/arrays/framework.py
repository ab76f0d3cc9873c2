"""The protocol of array libraries, and the recognition of their arrays without importing them."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache, partial, reduce
from importlib import import_module
from typing import Any, ClassVar, NamedTuple

import numpy as np

from linkwise.errors import ArgumentError
from linkwise.spatial.validation import numbers as plain_numbers
from linkwise.spatial.validation import readable
from linkwise.torch_graphs import is_traced, no_graph, outside_graphs, refuse

#: The library of an array by the top-level module of its type; each has a file of this package under its name.
LIBRARIES = {"torch": "torch", "jax": "jax", "jaxlib": "jax", "dask": "dask", "xarray": "xarray", "cupy": "cuda"}

Shape = tuple[int, ...]

_REAL = frozenset(map(np.dtype, ("float32", "float64")))


class Signature(NamedTuple):
    """Signature of a function of NumPy arrays for one item of a batch, as that of a gufunc.

    Attributes
    ----------
    inputs, outputs : tuple of tuple of int
        The shape of each argument and of each result; None for a size of a result that depends on numbers.
    dtypes : tuple of str
        What each result holds, as ``"float64"``.
    names : tuple of str
        What results are called, by libraries whose arrays have names; none where they have none of their own.
    """

    inputs: tuple[tuple[Any, ...], ...]
    outputs: tuple[tuple[Any, ...], ...]
    dtypes: tuple[str, ...]
    names: tuple[str, ...] = ()


class Framework(ABC):
    """An array library: the execution of kernels, and of functions of NumPy arrays, on its arrays.

    A file ``linkwise/arrays/NAME.py`` has the instance as ``FRAMEWORK``; it is imported when such an array is first met, so
    it imports its library at its top.
    """

    name: ClassVar[str]
    contains: ClassVar[frozenset[str]] = frozenset()
    """Other libraries whose arrays it takes in the same call, as xarray takes those of Dask."""

    functions: ClassVar[Any] = None
    """The module whose functions are called as those of NumPy are, and have derivatives where the library has; or None."""

    @abstractmethod
    def owns(self, value: Any) -> bool:
        """True if it is an array of this library, not another of its objects."""

    @abstractmethod
    def function(self, kernel: Any) -> Callable[..., Any]:
        """A kernel as a function of arrays of this library: with batch shapes that broadcast."""

    @abstractmethod
    def map(self, function: Callable[..., Any], signature: Signature, arguments: Sequence[Any]) -> tuple[Any, ...]:
        """Call a function of NumPy arrays that broadcasts over batches, as a function of arrays of this library.

        Parameters
        ----------
        function : callable
            Takes arrays and returns a tuple of arrays, with any batch shape in front of the shapes of the signature.
        signature : Signature
            The shapes without the batch.
        arguments : sequence of array
            Of this library or of NumPy.

        Returns
        -------
        tuple of array
            Of this library. They carry no derivatives: who calls adds them.
        """

    def on_device(self, arguments: Sequence[Any]) -> bool:
        """True if an argument is in the memory of a GPU, where the compiled code then runs."""
        return False

    def takes(self, dtype: Any) -> bool:
        """True if kernels accept such elements: by default those that convert to float64."""
        return np.can_cast(dtype, np.float64)

    def placed(self, array: Any) -> AbstractContextManager[Any]:
        """Within this, the library makes arrays where another one is."""
        return nullcontext()

    def batch(self, name: str, array: Any, core: Shape) -> Any:
        """An array of NumPy with a batch, as `map` takes it beside arrays of this library."""
        return array

    def check(self, subject: str, arguments: Mapping[str, tuple[Any, Shape]]) -> None:
        """Check arguments of `map`, also those that are computed later.

        Parameters
        ----------
        subject : str
            The function, for messages.
        arguments : mapping of str to (object, tuple of int)
            The value of each argument, and its shape without the batch. Those that are no arrays of this library pass.

        Raises
        ------
        ArgumentError
            For an array of another type or shape: which.
        """
        for name, (value, core) in arguments.items():
            if not self.owns(value) or self.on_device([value]):  # (the code for a device checks this itself)
                continue
            if not self.takes(value.dtype):
                kind = str(value.dtype).removeprefix("torch.")
                raise ArgumentError(f"{subject}: {name} holds {kind}; expected float32 or float64")
            shape = tuple(value.shape)
            if shape[max(len(shape) - len(core), 0) :] != core:
                expected = ", ".join(("...", *map(str, core)))
                raise ArgumentError(f"{subject}: {name} has the shape {shape}; expected ({expected})")

    def call(self, kernel: Any, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        """Call a kernel, or a method that is one, with arrays of this library.

        Raises
        ------
        ArgumentError
            For keywords of a ufunc, as ``out=``.
        """
        if keywords:
            names = ", ".join(f"{name}=" for name in keywords)
            raise ArgumentError(f"{kernel.name}: {names} is for NumPy arrays; arrays of {self.name} take none")
        return self.of_kernel(kernel)(*arguments)

    def check_other(self, kernel: Any, name: str, value: Any) -> None:
        """Raise `ArgumentError` for an argument of a kernel that is no array of this library, nor real numbers."""
        if type(value) is np.ndarray and value.dtype in _REAL:
            return
        other = of(kernel.name, [value])
        if other is not None:
            both = f"arrays of {self.name} and of {other.name} ({name})"
            raise ArgumentError(f"{kernel.name}: {both} in one call; expected those of one library")
        kernel.check_argument(name, value)

    def of_kernel(self, kernel: Any) -> Callable[..., Any]:
        """The `function` of a kernel, the same each time."""
        known: Callable[..., Any] | None = kernel.array_functions.get(self.name)
        if known is None:
            known = kernel.array_functions.setdefault(self.name, self.function(kernel))
            known.__name__ = known.__qualname__ = kernel.name
            known.__doc__ = kernel.doc
        return known


class DifferentiableFramework(Framework):
    """A library that differentiates functions of its arrays."""

    def takes(self, dtype: Any) -> bool:
        """True for real numbers of kernels: integers have no derivatives."""
        return str(dtype).removeprefix("torch.") in {"float32", "float64"}

    @abstractmethod
    def differentiates(self, arguments: Sequence[Any]) -> bool:
        """True if derivatives by these arguments may be requested."""

    @abstractmethod
    def without_derivatives(self, subject: str, array: Any) -> Any:
        """The array; differentiation by it raises an `ArgumentError` instead of returning zeros."""

    def opaque(self, function: Callable[..., Any], signature: Signature, arguments: Sequence[Any]) -> tuple[Any, ...]:
        """Call a function of arrays of this library, which broadcasts over batches; the results carry no derivatives."""
        return tuple(function(*map(self.constant, arguments)))

    @abstractmethod
    def constant(self, array: Any, *, near: Any = None) -> Any:
        """The array as one that nothing is differentiated by, on the device of another one."""

    @abstractmethod
    def scan(self, step: Callable[[Any, Any], tuple[Any, Any]], state: Any, rows: Any) -> tuple[Any, Any]:
        """Take steps one after the other, and recompute intermediate values for derivatives.

        Parameters
        ----------
        step : callable
            ``step(state, row) -> (state, output)``; state, row and output are tuples of arrays.
        state : tuple of array
            At the beginning.
        rows : tuple of array
            What each step takes, along the first axis.

        Returns
        -------
        tuple
            The last state, and the outputs of all steps, along a new first axis.
        """


def batch_shape(kernel: Any, shapes: Sequence[Shape]) -> Shape:
    """Batch shape of a kernel's arguments of these shapes; else raise the kernel's error."""
    cores = tuple(kernel.tape.inputs.values())
    splits = [max(len(shape) - len(core), 0) for shape, core in zip(shapes, cores, strict=False)]
    try:
        if tuple(shape[split:] for shape, split in zip(shapes, splits, strict=True)) == cores:
            return np.broadcast_shapes(*(shape[:split] for shape, split in zip(shapes, splits, strict=True)))
    except ValueError:
        pass
    kernel(*[np.broadcast_to(0.0, shape) for shape in shapes])
    raise ArgumentError(f"{kernel.name}: shapes {shapes} do not fit")


def no_derivatives(subject: str, library: str) -> ArgumentError:
    """The error for derivatives that there are not."""
    return ArgumentError(f"{subject} has no derivatives by {library}; expected arrays that nothing is differentiated by")


def of(subject: str, arguments: Sequence[Any]) -> Framework | None:
    """Library of the arrays among the arguments; None for NumPy only.

    Parameters
    ----------
    subject : str
        The function that is called, for the message.
    arguments : sequence of object
        Its arguments.

    Raises
    ------
    ArgumentError
        Where arrays of two libraries meet that do not take each other: which.

    Examples
    --------
    >>> of("forward_kinematics", [[0.0, 0.5]]) is None
    True
    """
    result: Framework | None = None
    for value in arguments:
        name = _library(type(value))  # type: ignore[arg-type]
        if name is None or (result is not None and name in {result.name, *result.contains}):
            continue
        if is_traced():
            refuse(no_graph(subject))
        other = by_name(name)
        if not other.owns(value):
            continue
        if result is not None and result.name not in other.contains:
            raise ArgumentError(
                f"{subject}: arrays of {result.name} and of {name} in one call; expected those of one library"
            )
        result = other
    return result


def shape_of(mechanism: Any, core: tuple[Any, ...], trailing: Shape) -> Shape:
    """A shape in numbers: a name is an attribute of the mechanism, `...` is any further dimensions of the array."""
    sizes = tuple(getattr(mechanism, size) if isinstance(size, str) else size for size in core if size is not ...)
    return (*trailing[: len(trailing) - len(sizes)], *sizes) if ... in core else sizes


def functions_of(subject: str, arguments: Sequence[Any]) -> Any:
    """Module of differentiable functions for these arguments; None if there is none, as for NumPy."""
    if is_traced():
        return sys.modules["torch"]
    library = of(subject, arguments)
    return None if library is None else library.functions


def constant(array: Any) -> Any:
    """An array of a library with derivatives as one that nothing is differentiated by, also where `torch.compile` traces."""
    return array.detach() if hasattr(array, "detach") else by_name("jax").constant(array)  # type: ignore[attr-defined]


def jumps(module: Any, change: Any, flags: Any) -> Any:
    """Zeros (...), whose derivatives are infinite or NaN if a flagged element along the last axis changes."""
    most = module.finfo(change.dtype).max
    return module.where(flags, change * most * most, 0.0 * change).sum(-1)


def apply(
    subject: str, function: Callable[..., tuple[Any, ...]], signature: Signature, arguments: Sequence[Any]
) -> tuple[Any, ...]:
    """Call a function that is written for NumPy's module and for those that have functions of the same names.

    Parameters
    ----------
    subject : str
        Who calls, for messages.
    function : callable
        ``function(module, *arrays)`` returns a tuple of arrays, and broadcasts over batches.
    signature : Signature
        The shapes without the batch.
    arguments : sequence of array_like
        Of one library, or of NumPy.

    Examples
    --------
    >>> signature = Signature(((2,),), ((),), ("float64",))
    >>> apply("sum", lambda module, x: (module.sum(x, axis=-1),), signature, [np.ones((3, 2))])
    (array([2., 2., 2.]),)
    """
    if is_traced():
        return function(sys.modules["torch"], *arguments)
    library = of(subject, arguments)
    if library is None:
        return function(np, *arguments)
    if library.functions is None:
        return library.map(partial(function, np), signature, arguments)
    alike = _alike(subject, library, arguments)
    with library.placed(alike[0]):
        return function(library.functions, *alike)


def _alike(subject: str, library: Any, arguments: Sequence[Any]) -> list[Any]:
    """The arguments as arrays of the library, of one type."""
    near = next(value for value in arguments if library.owns(value))
    own = [x if library.owns(x) else library.constant(numbers(subject, x), near=near) for x in arguments]
    kind = reduce(library.functions.promote_types, [x.dtype for x in own])
    return [x if x.dtype == kind else x.to(kind) if hasattr(x, "detach") else x.astype(kind) for x in own]


@outside_graphs("what NumPy computes from values, texts for instance,")
def plain(array: Any) -> Any:
    """Convert an array of any library to NumPy; tracers are not accepted."""
    if type(array) is np.ndarray:
        return array
    return np.asarray(array.detach().cpu() if hasattr(array, "detach") else array)


#: Types that are not arrays of a library other than NumPy.
PLAIN = frozenset({np.ndarray, list, tuple, float, int, bool, str, type(None)})


def numbers(subject: str, value: Any) -> Any:
    """The value, if it is an array of a library; else a NumPy array of float64, or of float32 if it has that type."""
    if is_traced() or of(subject, [value]) is not None:
        return value
    try:
        array = np.asarray(readable(subject, value))
    except ValueError as error:
        raise ArgumentError(f"{subject} is not an array; expected real numbers") from error
    if array.dtype.kind not in "biuf":
        array = plain_numbers(subject, value, finite=False)
    return array.astype(np.result_type(array, np.float32), copy=False)


@cache
def by_name(name: str) -> Framework:
    """The library of a name, imported."""
    result: Framework = import_module(f"linkwise.arrays.{name}").FRAMEWORK
    return result


def library_name(value: Any) -> str | None:
    """The file of this package for an array; None for those of NumPy and of libraries that are not known."""
    return _library(type(value))  # type: ignore[arg-type]


@cache
def _library(kind: type) -> str | None:
    """Library of a type, or of one of its base classes."""
    roots = (base.__module__.partition(".")[0] for base in kind.__mro__)
    return next((LIBRARIES[root] for root in roots if root in LIBRARIES), None)
