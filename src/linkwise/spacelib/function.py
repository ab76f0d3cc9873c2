"""Declarations of SpaceLib's functions, with one body over scalars for numbers, batches of numbers, and symbols.

The body of a function is written once, over arrays of scalars. For numbers it is traced and compiled, once for each
choice of its whole-number arguments, and the machine code runs over the leading axes. For SymPy symbols the same trace is
written out in SymPy; for Linkwise expressions the body runs on them. The annotations of its parameters say what kind each
argument must be (`linkwise.spacelib.kinds`); the decorator `spacelib` adds its names in the three releases.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, wraps
from itertools import islice
from math import isfinite
from threading import RLock
from typing import Any, TypeVar

import numpy as np

from linkwise.errors import ArgumentError
from linkwise.expr.node import Expr
from linkwise.kernel import Kernel, trace
from linkwise.spacelib.kinds import SCALAR, Choice, Kind, check_unmixed, exact, kind_of, opened
from linkwise.spatial.scalar import Array
from linkwise.spatial.validation import common_batch, first_place

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")

_making = RLock()

_TRUE = np.True_  # the one object there is of it: the result of one comparison of NumPy's scalars

#: The sections of the manual and their headings; those of its appendix A have only names of C and Maple.
SECTIONS = {
    "3.1": "Position",
    "3.2": "Velocity and acceleration",
    "3.3": "Inertia and actions",
    "3.4": "Transformations",
    "3.5": "Cardan and Euler angles",
    "3.6": "Frames",
    "3.7": "Points, lines, planes",
    "3.8": "Matrices and vectors",
    "3.9": "Copying",
    "3.10": "Printing",
    "4": "Linear systems",
    "A.1": "Fixed conventions",
    "A.2": "Tests of matrices and vectors",
    "A.3": "Further names of C and Maple",
}


@dataclass(frozen=True)
class Name:
    """One function, or constant, under all its names.

    Attributes
    ----------
    function : str
        Its name here: that of the MATLAB release where it has one.
    value : object
        The function or constant.
    group, section : str
        The heading it stands under, and the section of the manual.
    matlab, c, maple : tuple of str
        Its names in the three releases; the first is the one that the manual's text uses. Empty where a release lacks it.
    does : str
        Its purpose, in a few words.
    linkwise : str
        The same without SpaceLib, in Python: ``arm`` is a `Mechanism`, ``np`` is NumPy, ``Rotation`` is that of
        `scipy.spatial.transform`, and other modules are those of `linkwise.spatial`. Empty where there is no other.
    note : str
        Remarks about the names.
    """

    function: str
    value: Any
    group: str
    section: str
    matlab: tuple[str, ...]
    c: tuple[str, ...]
    maple: tuple[str, ...]
    does: str
    linkwise: str
    note: str


#: The functions of each section, in the order of their definition.
DECLARED: dict[str, list[Name]] = {section: [] for section in SECTIONS}


def spacelib(
    section: str,
    does: str,
    linkwise: str = "",
    *,
    name: str = "",
    matlab: str | None = None,
    c: str | None = None,
    maple: str | None = None,
    note: str = "",
) -> Callable[[T], T]:
    """Declare a function of SpaceLib under its names; where its parameters are annotated with kinds, it is a `function`.

    Parameters
    ----------
    section : str
        Section of the manual, of `SECTIONS`.
    does : str
        Purpose in a few words, for the table of names and for `lookfor`.
    linkwise : str
        The same without SpaceLib, see `Name`.
    name : str
        Name of a constant.
    matlab, c, maple : str, optional
        Names in the three releases, apart by blanks; empty where a release lacks it. Of MATLAB and C the name of the
        function unless given; of Maple the first of C's. The appendix has none of MATLAB.
    note : str
        Remarks about the names.
    """

    def declare(body: Any) -> Any:
        public = function()(body) if callable(body) and _kinds(body) else body
        called, appendix = name or body.__name__, section.startswith("A")
        in_matlab = (() if appendix else (called,)) if matlab is None else tuple(matlab.split())
        in_c = (called,) if c is None else tuple(c.split())
        in_maple = (in_c or (called,))[:1] if maple is None else tuple(maple.split())
        place = SECTIONS[section], "A" if appendix else section
        DECLARED[section].append(Name(called, public, *place, in_matlab, in_c, in_maple, does, linkwise, note))
        return public

    return declare


def exported(module: str) -> list[str]:
    """The functions that a module declares: its ``__all__``."""
    return [row.function for rows in DECLARED.values() for row in rows if row.value.__module__ == module]


def function(
    *,
    name: str = "",
    codes: Sequence[int] = (),
    refuse: Sequence[str] = (),
    symbolic: Callable[..., Any] | None = None,
    direct: bool = False,
) -> Callable[[F], F]:
    """Make a function over scalars one of numbers, batches and symbols.

    Each parameter is annotated with its kind, one of `linkwise.spacelib.kinds`; those with a default may be left out.

    Parameters
    ----------
    name : str
        The function's name in messages; its own by default.
    codes : sequence of int, optional
        Which of the results are whole numbers, such as return codes.
    refuse : sequence of str, optional
        Messages for trailing results of the body that must be above zero; these are not returned. On SymPy symbols a call
        is refused where one is known not to be; on Linkwise expressions nothing is known, and nothing refused.
    symbolic : callable, optional
        A body for symbols, where the result of the body on symbols is not the usual formula.
    direct : bool
        Whether the body is NumPy that takes batches, and symbols in object arrays, as they come.
    """

    def declare(body: F) -> F:
        kinds, signature = _kinds(body), inspect.signature(body)
        called = name or body.__name__.lstrip("_")
        if list(signature.parameters) != list(kinds):
            raise TypeError(f"{called} takes {list(signature.parameters)}; kinds are given for {list(kinds)}")
        call = Declaration(called, body, kinds, tuple(codes), tuple(refuse), symbolic or body, direct)
        defaults, count = body.__defaults__ or (), len(kinds)
        plain = [parameter.replace(annotation=parameter.empty) for parameter in signature.parameters.values()]
        shown_as = inspect.Signature(plain)

        @wraps(body)
        def run(*args: Any, **named: Any) -> Any:
            left = count - len(args)
            if left == 0 and not named:
                return call(args)
            if 0 < left <= len(defaults) and not named:
                return call((*args, *defaults[-left:]))
            bound = bind(called, shown_as, args, named)
            bound.apply_defaults()
            return call(tuple(bound.arguments.values()))

        run.__signature__ = shown_as  # type: ignore[attr-defined]
        return run  # type: ignore[return-value]

    return declare


def _kinds(body: Callable[..., Any]) -> dict[str, Kind | Choice]:
    """Parameters annotated with the name of a kind; empty for a `function`."""
    if hasattr(body, "__wrapped__"):
        return {}
    named = {name: body.__globals__.get(annotation, annotation) for name, annotation in body.__annotations__.items()}
    return {name: kind for name, value in named.items() if (kind := kind_of(value)) is not None}


def bind(name: str, signature: inspect.Signature, args: Any, named: Any) -> inspect.BoundArguments:
    """Match arguments with parameters; a mismatch is reported with the name of the function."""
    try:
        return signature.bind(*args, **named)
    except TypeError as error:
        raise TypeError(f"{name}{signature}: {error}") from None


def refuse_unless(name: str, fine: Array, message: str) -> None:
    """Raise `ArgumentError` with the message, and where in the batch, unless all is fine."""
    if not fine.all():
        place = first_place(~fine)
        raise ArgumentError(f"{name}: {message}{f', at {place} of the batch' if place else ''}")


@dataclass(frozen=True, eq=False)
class Declaration:
    """A function over scalars, and the kinds of its arguments and results.

    Attributes
    ----------
    name : str
        As users call it.
    body : callable
        Over arrays of scalars; it takes the arguments in the order of ``kinds``.
    kinds : mapping of str to Kind or Choice
        The kind of each argument.
    codes, refuse, symbolic, direct
        See `function`.
    plans : dict
        What computes for each choice of whole-number arguments and shapes that was called.
    """

    name: str
    body: Callable[..., Any]
    kinds: Mapping[str, Kind | Choice]
    codes: tuple[int, ...]
    refuse: tuple[str, ...]
    symbolic: Callable[..., Any]
    direct: bool
    plans: dict[tuple[Any, ...], Callable[[Sequence[Any]], Any]] = field(default_factory=dict)

    @cached_property
    def fields(self) -> list[tuple[str, Kind | Choice, bool, int | None]]:
        """Names in messages, kinds, number flags, and axes (unless a choice) of the arguments."""
        scalar = kind_of(SCALAR)
        return [
            (f"{self.name}: {name}", kind, kind is scalar, kind.axes if isinstance(kind, Kind) else None)
            for name, kind in self.kinds.items()
        ]

    def __call__(self, args: Sequence[Any]) -> Any:
        """Read the arguments, and run the function's plan for these."""
        values: list[Any] = []
        key: list[Any] = []
        symbols = False
        for (label, kind, scalar, axes), arg in zip(self.fields, args, strict=True):
            if scalar and arg.__class__ is float and isfinite(arg):
                values.append(arg)
                continue
            value: Any = kind.read(label, arg)
            values.append(value)
            if axes is None:
                key.append(value)
                continue
            symbols = symbols or value.dtype.hasobject
            if axes:
                key.append(value.shape[-axes:])
        if symbols:
            self.check_axes(values)
            return _on_symbols(self, values)
        choice = tuple(key)
        return (self.plans.get(choice) or self._plan(choice, values))(values)

    def _computed(self, values: Sequence[Any]) -> Any:
        try:
            return self.finished(self.body(*values))
        except ValueError as error:
            if not isinstance(error, ArgumentError):
                self.check_batches(values)
            raise

    def _plan(self, key: tuple[Any, ...], values: Sequence[Any]) -> Callable[[Sequence[Any]], Any]:
        """Plan for these choices and shapes; a body that accepts batches needs no compiling."""
        with _making:
            if key not in self.plans:
                self.check_axes(values)
                self.plans[key] = self._computed if self.direct else _Plan(self, values)
            return self.plans[key]

    def arrays(self, values: Sequence[Any]) -> Iterator[tuple[int, str, Kind, Any]]:
        """The place, name, kind and value of each argument that is not a whole number."""
        for place, ((name, kind), value) in enumerate(zip(self.kinds.items(), values, strict=True)):
            if isinstance(kind, Kind):
                yield place, name, kind, value

    def finished(self, results: Any) -> Any:
        """The results of numbers: refused where they must be, codes as whole numbers, one result or a tuple of them."""
        if not isinstance(results, tuple):
            return results
        keep = len(results)
        if self.refuse:
            keep -= len(self.refuse)
            for message, measure in zip(self.refuse, results[keep:], strict=True):
                fine = measure > 0
                if fine is not _TRUE:
                    refuse_unless(self.name, np.asarray(fine), message)
            results = results[:keep]
        if self.codes:
            results = tuple(_code(result) if k in self.codes else result for k, result in enumerate(results))
        return results[0] if keep == 1 else results

    def check_batches(self, values: Sequence[Any]) -> None:
        """Reject arrays whose batch shapes do not broadcast."""
        shapes = {name: np.shape(value)[: np.ndim(value) - kind.axes] for _, name, kind, value in self.arrays(values)}
        common_batch(self.name, **shapes)

    def check_axes(self, values: Sequence[Any]) -> None:
        """Reject arrays whose axes of one name differ in size."""
        named = [(name, kind.names, value.shape[-kind.axes :]) for _, name, kind, value in self.arrays(values) if kind.names]
        sizes: dict[str, int] = {}
        pairs = (pair for _, axes, shape in named for pair in zip(axes, shape, strict=True))
        if all(sizes.setdefault(axis, size) == size for axis, size in pairs):
            return
        shapes = ", ".join(f"{name} {shape}" for name, _, shape in named)
        *expected, last = (f"({', '.join(axes)})" for _, axes, _ in named)
        raise ArgumentError(f"{self.name}: the shapes are {shapes}; expected {', '.join(expected)} and {last}")


def _code(part: Any) -> Any:
    return part.astype(int) if isinstance(part, np.ndarray) and part.ndim else int(part)


class _Plan:
    """Trace of a body for one choice of integer arguments and shapes, and its machine code."""

    def __init__(self, declared: Declaration, values: Sequence[Any]) -> None:
        self.declared = declared
        self.places: list[int] = []
        shapes = {}
        for place, name, kind, value in declared.arrays(values):
            self.places.append(place)
            shapes[name] = value.shape[value.ndim - kind.axes :] if kind.axes else ()
        self.single = True
        self.tape = trace(lambda *symbols: self._run(values, symbols), declared.name, shapes)
        self.kernel = Kernel(self.tape, doc=declared.body.__doc__ or "")

    def __call__(self, values: Sequence[Any]) -> Any:
        """Compute on numbers."""
        try:
            with np.errstate(all="ignore"):  # a case that is not chosen may divide by zero
                results = self.kernel.ufunc(*[values[place] for place in self.places])
        except ValueError:
            self.declared.check_batches(values)
            raise
        return self.declared.finished(results)

    def _run(self, values: Sequence[Any], symbols: Sequence[Array]) -> Any:
        args = list(values)
        for place, array in zip(self.places, symbols, strict=True):
            args[place] = opened(array)
        results = self.declared.body(*args)
        self.single = not isinstance(results, tuple)
        return results


def _on_symbols(declared: Declaration, values: Sequence[Any]) -> Any:
    """Arrays (dtype object) of expressions; a scalar as the expression itself.

    In SymPy a special case is met where it is known to hold: a null vector, a translation as the displacement. Else the
    result is the formula of the general case.

    Raises
    ------
    ArgumentError
        For a batch, where SymPy's symbols and Linkwise's come together, and where a call is known to be one that numbers
        are refused for.
    """
    arrays = list(declared.arrays(values))
    for _, name, kind, value in arrays:
        if np.ndim(value) != kind.axes:
            shape = np.shape(value)
            raise ArgumentError(f"{declared.name}: {name} has the shape {shape}; symbols are taken one at a time, no batch")
    in_sympy = check_unmixed(declared.name, *(value for _, _, _, value in arrays))
    if in_sympy and not declared.direct and declared.symbolic is declared.body:
        return _traced_in_sympy(declared, values)
    args = list(values)
    for place, _, _, value in arrays:
        args[place] = opened(exact(value) if in_sympy else value)
    return _closed(declared, declared.symbolic(*args))


def _traced_in_sympy(declared: Declaration, values: Sequence[Any]) -> Any:
    """The traced body in SymPy; of a choice between cases the general one, unless the other is known to hold."""
    from linkwise.equations.tape_to_sympy import decided

    plan = _Plan(declared, values)
    items = iter(decided(plan.tape, [item for place in plan.places for item in exact(values[place]).ravel()]))
    arrays = []
    for shape in plan.tape.outputs.values():
        array = np.empty(shape, dtype=object)
        array.ravel()[:] = list(islice(items, array.size))
        arrays.append(array)
    return _closed(declared, arrays[0] if plan.single else tuple(arrays))


def _closed(declared: Declaration, results: Any) -> Any:
    """Short, without the measures, which are known to be above zero or not known at all; known codes as whole numbers."""
    parts = results if isinstance(results, tuple) else (results,)
    keep = len(parts) - len(declared.refuse)
    for message, measure in zip(declared.refuse, map(opened, parts[keep:]), strict=True):
        if getattr(measure, "is_extended_nonpositive", False):
            raise ArgumentError(f"{declared.name}: {message}")
    finished = [opened(_short(part)) for part in parts[:keep]]
    for k in declared.codes:
        if not isinstance(finished[k], Expr) and not getattr(finished[k], "free_symbols", None):
            finished[k] = int(finished[k])
    return finished[0] if len(finished) == 1 else tuple(finished)


def _short(part: Any) -> Any:
    """An array of SymPy's expressions with the squares of sines and cosines gathered."""
    from linkwise.expr.sympy.trig_simplify import gathered

    if not isinstance(part, np.ndarray):
        return gathered(part) if hasattr(part, "free_symbols") else part
    if part.dtype == object:
        for place in np.ndindex(part.shape):
            if hasattr(part[place], "free_symbols"):
                part[place] = gathered(part[place])
    return part
