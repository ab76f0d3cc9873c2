"""`Kernel`: a compiled function and its tape, and the exact derivatives of a tape."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any, ClassVar

import numpy as np

from linkwise.errors import ArgumentError, KernelError, members
from linkwise.expr.derivative import derivative
from linkwise.expr.node import Expr, symbol
from linkwise.kernel import threads, writers
from linkwise.kernel.backend import Lazy, backend_of, default_backend
from linkwise.kernel.gufunc import Entry, documentation, is_single, make_callable
from linkwise.kernel.tape import Tape
from linkwise.kernel.threads import WORKERS
from linkwise.spatial.validation import common_batch, is_masked


def differentiated(tape: Tape, by: str) -> Tape:
    """The derivatives of all outputs by one input.

    Parameters
    ----------
    tape : Tape
        The function.
    by : str
        Name of the input.

    Returns
    -------
    Tape
        With the same inputs; an output ``Y`` of shape s becomes ``dY_dX`` of shape s + the shape of X.
    """
    symbols: dict[str, Any] = {}
    for name, shape in tape.inputs.items():
        symbols[name] = np.array([symbol(f"{name}[{k}]") for k in range(prod(shape))], dtype=object).reshape(shape)
    results = tape.graph([node for array in symbols.values() for node in array.ravel()])
    table = derivative(results, list(symbols[by].ravel()))
    outputs, start = {}, 0
    for name, shape in tape.outputs.items():
        stop = start + prod(shape)
        outputs[f"d{name}_d{by}"] = table[start:stop].reshape((*shape, *tape.inputs[by]))
        start = stop
    labels = {name: names for name, names in tape.labels.items() if name in symbols}
    result = Tape.from_graph(f"{tape.name}_by_{by}", symbols, outputs, labels)
    return replace(result, origins=tape.origins)


class Kernel:
    """A function of arrays, as a NumPy gufunc in float64 and float32.

    Calling it broadcasts over leading axes and takes ``out=`` and the other keywords of a ufunc. It is compiled at the first
    use, once, whichever thread comes first; it pickles as its tape.

    Parameters
    ----------
    tape : Tape
        What to compute.
    backend : str, optional
        How, one of `linkwise.kernel.backend.BACKENDS`; ``"llvm"`` wherever llvmlite is installed, else ``"numpy"``.
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

    #: How it was made from the algorithm: "straight" or "looped", see `linkwise.Mechanism.kernel`.
    tier: ClassVar[str] = "straight"

    def __init__(self, tape: Tape, backend: str | None = None, doc: str = "", lanes: int | None = None) -> None:
        self.backend = backend_of(backend).name
        if not tape.inputs:
            raise KernelError(f"{tape.name} has no inputs: it is a number, and no function")
        self.tape, self.doc, self.lanes = tape, doc, lanes
        self._compiled = Lazy(lambda: backend_of(self.backend).build(tape, doc, lanes))
        self._ufunc: Any = None
        self._single: Any = None
        self._derivatives: dict[str, Kernel] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Compute, as the gufunc does.

        Raises
        ------
        ArgumentError
            Where an argument has a wrong shape: which, and what was expected.
        """
        single = self._single
        if single is None:
            if kwargs or not is_single(args):
                return self._general(*args, **kwargs)
            single = self._single = self.entry(self._general) or self._general
        return single(*args, **kwargs)

    def _general(self, *args: Any, **kwargs: Any) -> Any:
        """Compute any number of configurations."""
        for arg in args:
            if type(arg) is not np.ndarray and is_masked(arg):
                check_arguments(self.tape, args)
        try:
            call = (self._ufunc or self.ufunc) if WORKERS.get() == 1 else self._threaded
            return call(*args, **kwargs)
        except (ValueError, TypeError, OverflowError):
            check_count(self.tape, args)
            check_arguments(self.tape, args)
            raise

    def _threaded(self, *args: Any, **kwargs: Any) -> Any:
        """Call the gufunc, large batches on as many threads as `linkwise.set_threads` says."""
        if threads.get_threads() == 1 or not backend_of(self.backend).parallel:
            return self.ufunc(*args, **kwargs)
        return threads.call(self.ufunc, threads.cost(self.tape), args, kwargs)

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
            ufunc = self._compiled().ufunc()
            self._ufunc = ufunc if all(map(prod, self.tape.inputs.values())) else _Checked(self.tape, ufunc)
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
        return self._compiled().entry()

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
        if by not in self._derivatives:
            doc = f"Derivatives of {self.name} by {by}."
            self._derivatives.setdefault(by, Kernel(differentiated(self.tape, by), self.backend, doc, self.lanes))
        return self._derivatives[by]

    def write(self, name: str, **options: Any) -> Any:
        """Write the kernel in another language, or as equations.

        Parameters
        ----------
        name : str
            A language of `linkwise.export.LANGUAGES`, or ``"text"``, ``"markdown"``, ``"latex"``, ``"sympy"``, ``"source"``.
        **options
            Of that writer.

        Raises
        ------
        ArgumentError
            For another name; it lists those there are.
        """
        return writers.write(self, name, **options)

    def to_c(self, **options: Any) -> Any:
        """C99 source that needs nothing but math.h, its header and a test; see `linkwise.export.to_c` for the options."""
        return self.write("c", **options)

    def to_python(self, **options: Any) -> str:
        """Python source that needs nothing but NumPy; see `linkwise.export.to_python`."""
        return str(self.write("python", **options))

    def to_jax(self, **options: Any) -> str:
        """Python source on ``jax.numpy``, for one configuration; see `linkwise.export.to_jax` and its `jax_function`."""
        return str(self.write("jax", **options))

    def to_cuda(self, **options: Any) -> str:
        """CUDA source with a thread for each configuration; see `linkwise.export.to_cuda`."""
        return str(self.write("cuda", **options))

    def to_rust(self, **options: Any) -> str:
        """Rust source on arrays by reference, with unit tests; see `linkwise.export.to_rust`."""
        return str(self.write("rust", **options))

    def to_text(self, **options: Any) -> str:
        """What is computed as plain text, intermediate values named; see `linkwise.equations.writers.text.to_text`."""
        return str(self.write("text", **options))

    def to_markdown(self, **options: Any) -> str:
        """The same as Markdown; see `linkwise.equations.writers.markdown.to_markdown`."""
        return str(self.write("markdown", **options))

    def to_latex(self, **options: Any) -> str:
        """The same as LaTeX with amsmath; see `linkwise.equations.writers.latex.to_latex`."""
        return str(self.write("latex", **options))

    def to_sympy(self) -> tuple[list[tuple[Any, Any]], dict[str, Any]]:
        """The same in SymPy: assignments to intermediate symbols in order, and the results as matrices in these."""
        assignments, results = self.write("sympy")
        return assignments, results

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.tape, None if self.backend == default_backend() else self.backend, self.doc, self.lanes)

    def __repr__(self) -> str:
        shapes = [", ".join(f"{k} {v}" for k, v in group.items()) for group in (self.tape.inputs, self.tape.outputs)]
        tier = "" if self.tier == "straight" else f", {self.tier}"
        return f"<Kernel {self.name}: {shapes[0]} -> {shapes[1]}, {self.backend}{tier}>"


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


def check_arguments(tape: Tape, args: Sequence[Any], others: Mapping[str, tuple[int, ...]] | None = None) -> None:
    """Raise `ArgumentError` if an argument is not made of real numbers, has a wrong shape, or does not fit the others.

    `others` are batch shapes beside those of the arguments.
    """
    batches = dict(others or {})
    for (name, shape), arg in zip(tape.inputs.items(), args, strict=False):
        wanted = f"({', '.join(['...', *map(str, shape)])})"
        if is_masked(arg):
            raise ArgumentError(f"{tape.name}: {name} has masked elements; expected real numbers {wanted}")
        try:
            array = np.asarray(arg)
        except ValueError as error:
            raise ArgumentError(f"{tape.name}: {name} is not an array; expected {wanted}") from error
        if array.dtype == object and any(hasattr(item, "free_symbols") or isinstance(item, Expr) for item in array.flat):
            advice = f"derive({tape.name!r}) of a mechanism, or to_sympy() of its kernel, is the result in symbols"
            raise ArgumentError(f"{tape.name}: {name} holds symbols; expected real numbers {wanted} ({advice})")
        if not np.can_cast(array.dtype, np.float64):
            raise ArgumentError(f"{tape.name}: {name} holds {array.dtype}; expected real numbers {wanted}")
        split = array.ndim - len(shape)
        if split < 0 or array.shape[split:] != shape:
            raise ArgumentError(f"{tape.name}: {name} has the shape {array.shape}; expected {wanted}")
        batches[name] = array.shape[:split]
    common_batch(tape.name, **batches)
