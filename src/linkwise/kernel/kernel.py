"""A compiled function: a tape, and everything that can be made of it."""

from __future__ import annotations

import _thread
import threading
import weakref
from collections.abc import Callable, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise.errors import ArgumentError, KernelError, choices, members
from linkwise.expr.node import Expr
from linkwise.kernel import numpy as numpy_lowering
from linkwise.kernel.differentiated import differentiated
from linkwise.kernel.entry import Entry, documentation, make_callable, usable
from linkwise.kernel.gufunc import LOOP, Memory, make
from linkwise.kernel.llvm_entry import POOL, has_entry, pooled
from linkwise.kernel.loaders import usable as usable_loaders
from linkwise.kernel.loading import Code, fill_pool, load
from linkwise.kernel.tape import Tape
from linkwise.spatial.numbers import is_masked
from linkwise.spatial.scalar import FloatArray

if TYPE_CHECKING:
    from linkwise.equations.listing import Listing
    from linkwise.export import CSource

BACKENDS = ("llvm", "numpy")


class Kernel:
    """A function of arrays, as a NumPy gufunc in float64 and float32.

    Calling it broadcasts over leading axes and takes ``out=`` and the other keywords of a ufunc. It is compiled at the first
    use, once, whichever thread comes first; it pickles as its tape.

    Parameters
    ----------
    tape : Tape
        What to compute.
    backend : {"llvm", "numpy"}, optional
        How; LLVM wherever llvmlite is installed.
    doc : str
        Text for the ufunc.
    lanes : int, optional
        How many configurations are computed side by side, 2 or more; as many as the processor has room for if left out. For
        calls with one or two, 2 is fastest.

    Examples
    --------
    >>> from linkwise.kernel.tape import trace
    >>> square = Kernel(trace(lambda x: x * x, "square", {"x": (2,)}, {"y": (2,)}))
    >>> square([3.0, 4.0])
    array([ 9., 16.])
    >>> square.operations
    {'mul': 2}
    """

    def __init__(self, tape: Tape, backend: str | None = None, doc: str = "", lanes: int | None = None) -> None:
        if backend is not None and backend not in BACKENDS:
            raise KernelError(f"backend is {backend!r}; expected {choices(BACKENDS)}")
        if not tape.inputs:
            raise KernelError(f"{tape.name} has no inputs: it is a number, and no function")
        self.tape = tape
        self.backend = backend or default_backend()
        self.doc, self.lanes = doc, lanes
        self._lock = threading.RLock()
        self._ufunc: Any = None
        self._code: Code | None = None
        self._pool: tuple[FloatArray, ...] = ()
        self._derivatives: dict[str, Kernel] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Compute, as the gufunc does.

        Raises
        ------
        ArgumentError
            Where an argument has a wrong shape: which, and what was expected.
        """
        for arg in args:
            if type(arg) is not np.ndarray and is_masked(arg):
                check_arguments(self.tape, args)
        try:
            return self.ufunc(*args, **kwargs)
        except (ValueError, TypeError, OverflowError):
            check_count(self.tape, args)
            check_arguments(self.tape, args)
            raise

    @property
    def name(self) -> str:
        """Name of the function."""
        return self.tape.name

    @property
    def operations(self) -> dict[str, int]:
        """How many operations one evaluation takes, by kind."""
        return self.tape.operations

    @property
    def operations_before(self) -> dict[str, int]:
        """The same of the algorithm as it is written, before its graph was shortened."""
        return dict(self.tape.operations_before) or self.operations

    @property
    def ufunc(self) -> Any:
        """The gufunc itself; compiled when first asked for."""
        if self._ufunc is None:
            with self._lock:
                if self._ufunc is None:
                    self._ufunc = self._build()
        return self._ufunc

    def entry(self, fallback: Callable[..., Any]) -> Any:
        """Make a Python function that computes one configuration without NumPy's dispatch.

        Parameters
        ----------
        fallback : callable
            Gets every call with anything but contiguous float64 vectors of the right length; the function has its name,
            signature and documentation.

        Returns
        -------
        callable or None
            None where this machine, or the shape of the kernel, has no compiled entry.
        """
        entry = self.machine_entry()
        if entry is None:
            return None
        name = getattr(fallback, "__name__", self.name)
        return make_callable(fallback, name, documentation(fallback, name, self.doc), entry)

    def machine_entry(self) -> Entry | None:
        """The machine code that `entry` calls, compiled; None where there is none."""
        if self.backend != "llvm" or not has_entry(self.tape) or not usable():
            return None
        _ = self.ufunc
        code = self._code
        if code is None:
            return None
        with self._lock:
            if not self._pool:
                kept = [[np.empty(shape) for _ in range(POOL)] for shape in pooled(self.tape)]
                fill_pool(code, [word for arrays in kept for word in (*map(id, arrays), arrays[0].flags.num)])
                self._pool = tuple(array for arrays in kept for array in arrays)
        return Entry(code.address("call"), (code, self._pool))

    def derivative(self, by: str) -> Kernel:
        """The exact derivatives of all outputs by one input, as another kernel.

        Parameters
        ----------
        by : str
            Name of the input: ``"q"``, or ``"parameters"`` for the symbols of a mechanism.

        Returns
        -------
        Kernel
            With the same inputs; output ``Y`` of shape s becomes ``dY_dX`` of shape s + the shape of X.

        Raises
        ------
        ArgumentError
            Naming the inputs there are.

        Examples
        --------
        >>> from linkwise.kernel.tape import trace
        >>> square = Kernel(trace(lambda x: x * x, "square", {"x": (2,)}, {"y": (2,)}))
        >>> square.derivative("x")([3.0, 4.0]).tolist()
        [[6.0, 0.0], [0.0, 8.0]]
        """
        if by not in self.tape.inputs:
            raise ArgumentError(f"{self.name} has no input {by!r}; it has {members(self.tape.inputs)}")
        with self._lock:
            if by not in self._derivatives:
                made = differentiated(self.tape, by)
                self._derivatives[by] = Kernel(made, self.backend, f"Derivatives of {self.name} by {by}.", self.lanes)
            return self._derivatives[by]

    def to_c(self, **options: Any) -> CSource:
        """C99 source that needs nothing but math.h, its header and a test; see `linkwise.export.to_c` for the options."""
        from linkwise import export

        return export.to_c(self.tape, titles={self.name: self.doc}, **options)

    def to_python(self, **options: Any) -> str:
        """Python source that needs nothing but NumPy; see `linkwise.export.to_python`."""
        from linkwise import export

        return export.to_python(self.tape, titles={self.name: self.doc}, **options)

    def to_jax(self, **options: Any) -> str:
        """Python source on ``jax.numpy``, for one configuration; see `linkwise.export.to_jax` and its `jax_function`."""
        from linkwise import export

        return export.to_jax(self.tape, titles={self.name: self.doc}, **options)

    def to_cuda(self, **options: Any) -> str:
        """CUDA source with a thread for each configuration; see `linkwise.export.to_cuda`."""
        from linkwise import export

        return export.to_cuda(self.tape, titles={self.name: self.doc}, **options)

    def to_text(self, **options: Any) -> str:
        """What is computed as plain text, intermediate values named; see `linkwise.equations.writing.text.to_text`."""
        from linkwise.equations.writing.text import to_text

        return to_text(self._listing(), **options)

    def to_markdown(self, **options: Any) -> str:
        """The same as Markdown; see `linkwise.equations.writing.markdown.to_markdown`."""
        from linkwise.equations.writing.markdown import to_markdown

        return to_markdown(self._listing(), **options)

    def to_latex(self, **options: Any) -> str:
        """The same as LaTeX with amsmath; see `linkwise.equations.writing.latex.to_latex`."""
        from linkwise.equations.writing.latex import to_latex

        return to_latex(self._listing(), **options)

    def to_sympy(self) -> tuple[list[tuple[Any, Any]], dict[str, Any]]:
        """The same in SymPy: assignments to intermediate symbols in order, and the results as matrices in these."""
        from linkwise.equations.writing.as_sympy import to_sympy

        return to_sympy(self._listing())

    def _listing(self) -> Listing:
        from linkwise.equations.recursive.listing_of_tape import recursive_listing

        return recursive_listing(self.tape, title=self.name)

    def to_rust(self, **options: Any) -> str:
        """Rust source on arrays by reference, with unit tests; see `linkwise.export.to_rust`."""
        from linkwise import export

        return export.to_rust(self.tape, titles={self.name: self.doc}, **options)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.tape, None if self.backend == default_backend() else self.backend, self.doc, self.lanes)

    def __repr__(self) -> str:
        shapes = [", ".join(f"{k} {v}" for k, v in group.items()) for group in (self.tape.inputs, self.tape.outputs)]
        return f"<Kernel {self.name}: {shapes[0]} -> {shapes[1]}, {self.backend}>"

    def _build(self) -> Any:
        """Make the gufunc; a float32 loop is compiled when it is first run, for few ever need it."""
        if self.backend == "numpy":
            made_once = numpy_lowering.function(self.tape)
            loops = [(dtype, numpy_lowering.loop(self.tape, dtype, made_once)) for dtype in ("float32", "float64")]
            memory = Memory(self.tape, loops, self.doc)
        else:
            self._code = load(self.tape, "float64", self.lanes)
            double = LOOP(self._code.address("loop_double"))
            memory = Memory(self.tape, [("float32", LOOP()), ("float64", double)], self.doc)
            memory.held.append(self._code)
            memory.set_loop(0, _single_later(self.tape, weakref.ref(memory)))
        made = make(memory, len(self.tape.inputs), len(self.tape.outputs))
        return made if all(map(prod, self.tape.inputs.values())) else _Checked(self.tape, made)


class _Checked:
    """A gufunc of empty vectors, whose lengths NumPy does not check."""

    def __init__(self, tape: Tape, ufunc: Any) -> None:
        self.tape, self.ufunc = tape, ufunc

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        check_arguments(self.tape, args)
        return self.ufunc(*args, **kwargs)


def check_count(tape: Tape, args: Sequence[Any]) -> None:
    """Raise `ArgumentError` if there are too few arguments: which are missing, and which numbers parameters are."""
    missing = list(tape.inputs)[len(args) :]
    if not missing:
        return
    takes = f"{tape.name} takes {members(tape.inputs)}; {members(missing)} {'is' if len(missing) == 1 else 'are'} missing"
    if "parameters" in missing and "parameters" in tape.labels:
        names = members(tape.labels["parameters"])
        takes += f" (parameters are the values of {names}: the last argument of a kernel, without its name;"
        takes += f" substitute() puts numbers in their place for good; derive({tape.name!r}) writes it in symbols)"
    raise ArgumentError(takes)


def check_arguments(tape: Tape, args: Sequence[Any]) -> None:
    """Raise `ArgumentError` if an argument is not made of real numbers, has a wrong shape, or does not fit the others."""
    batches = {}
    for (name, shape), arg in zip(tape.inputs.items(), args, strict=False):
        wanted = f"({', '.join(['...', *map(str, shape)])})"
        if is_masked(arg):
            raise ArgumentError(f"{tape.name}: {name} has masked elements; expected real numbers {wanted}")
        try:
            given = np.asarray(arg)
        except ValueError as error:
            raise ArgumentError(f"{tape.name}: {name} is not an array; expected {wanted}") from error
        if given.dtype == object and any(hasattr(item, "free_symbols") or isinstance(item, Expr) for item in given.flat):
            advice = f"derive({tape.name!r}) of a mechanism, or to_sympy() of its kernel, is the result in symbols"
            raise ArgumentError(f"{tape.name}: {name} holds symbols; expected real numbers {wanted} ({advice})")
        if not np.can_cast(given.dtype, np.float64):
            raise ArgumentError(f"{tape.name}: {name} holds {given.dtype}; expected real numbers {wanted}")
        split = given.ndim - len(shape)
        if split < 0 or given.shape[split:] != shape:
            raise ArgumentError(f"{tape.name}: {name} has the shape {given.shape}; expected {wanted}")
        batches[name] = given.shape[:split]
    try:
        np.broadcast_shapes(*batches.values())
    except ValueError as error:
        found = ", ".join(f"{name} {batch}" for name, batch in batches.items())
        raise ArgumentError(f"{tape.name}: the batch shapes do not fit each other: {found}") from error


def _single_later(tape: Tape, owner: weakref.ref[Memory]) -> Any:
    """A float32 loop that compiles the real one when it is first run, and gives it its place."""
    lock, found = threading.Lock(), list[Any]()

    def run(args: int, dimensions: int, steps: int, data: int) -> None:
        with lock:
            if not found:
                found.extend(_single(tape))
                memory = owner()
                if memory is not None:
                    memory.held += found
                    memory.set_loop(0, found[0])
        found[0](args, dimensions, steps, data)

    return LOOP(run)


def _single(tape: Tape) -> tuple[Any, ...]:
    """The float32 loop, and the machine code that it is in."""
    try:
        code = load(tape, "float32")
        return LOOP(code.address("loop_float")), code
    except BaseException as error:  # nothing may escape into NumPy: what cannot be compiled is computed all the same
        if isinstance(error, KeyboardInterrupt):
            _thread.interrupt_main()
        return (numpy_lowering.loop(tape, "float32"),)


def default_backend() -> str:
    """``"llvm"`` where llvmlite is installed and what it compiles can be loaded, else ``"numpy"``."""
    return "llvm" if usable_loaders() else "numpy"
