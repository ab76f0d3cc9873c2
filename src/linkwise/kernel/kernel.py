"""A compiled function: a tape, and everything that can be made of it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from linkwise.errors import KernelError, choices
from linkwise.kernel import c, llvm, numpy
from linkwise.kernel.entry import make_callable, usable
from linkwise.kernel.gufunc import LOOP, Gufunc
from linkwise.kernel.llvm_entry import has_entry
from linkwise.kernel.loading import Code, load
from linkwise.kernel.tape import Tape

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

    Examples
    --------
    >>> from linkwise.kernel.tape import trace
    >>> square = Kernel(trace(lambda x: x * x, "square", {"x": (2,)}, {"y": (2,)}))
    >>> square([3.0, 4.0])
    array([ 9., 16.])
    >>> square.operations
    {'mul': 2}
    """

    def __init__(self, tape: Tape, backend: str | None = None, doc: str = "") -> None:
        if backend is not None and backend not in BACKENDS:
            raise KernelError(f"backend is {backend!r}; expected {choices(BACKENDS)}")
        self.tape = tape
        self.backend = backend or default_backend()
        self.doc = doc
        self._lock = threading.RLock()
        self._gufunc: Gufunc | None = None
        self._loaded: dict[str, Code] = {}
        self._keep: list[Any] = []

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.ufunc(*args, **kwargs)

    @property
    def name(self) -> str:
        """Name of the function."""
        return self.tape.name

    @property
    def operations(self) -> dict[str, int]:
        """How many operations one evaluation takes, by kind."""
        return self.tape.operations

    @property
    def ufunc(self) -> Any:
        """The gufunc itself; compiled when first asked for."""
        if self._gufunc is None:
            with self._lock:
                if self._gufunc is None:
                    self._gufunc = self._build()
        return self._gufunc.ufunc

    def entry(self, fallback: Callable[..., Any]) -> Any:
        """Make a Python function that computes one configuration without NumPy's dispatch.

        Parameters
        ----------
        fallback : callable
            Gets every call with anything but contiguous float64 vectors of the right length.

        Returns
        -------
        callable or None
            None where this machine, or the shape of the kernel, has no compiled entry.
        """
        if self.backend != "llvm" or not has_entry(self.tape) or not usable():
            return None
        _ = self.ufunc
        address = self._loaded["float64"].address("call")
        return make_callable(address, fallback, self.name, self.doc, self._keep)

    def to_c(self) -> str:
        """C99 source that needs nothing but math.h."""
        return c.source(self.tape)

    def to_python(self) -> str:
        """Python source that needs nothing but NumPy."""
        return numpy.source(self.tape)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.tape, None if self.backend == default_backend() else self.backend, self.doc)

    def __repr__(self) -> str:
        shapes = [", ".join(f"{k} {v}" for k, v in group.items()) for group in (self.tape.inputs, self.tape.outputs)]
        return f"<Kernel {self.name}: {shapes[0]} -> {shapes[1]}, {self.backend}>"

    def _build(self) -> Gufunc:
        if self.backend == "numpy":
            loops = [(dtype, numpy.loop(self.tape, dtype)) for dtype in ("float32", "float64")]
            return Gufunc(self.tape, loops, self.doc)
        return Gufunc(self.tape, [("float32", self._single_stand_in()), ("float64", self._loop("float64"))], self.doc)

    def _loop(self, dtype: str) -> int:
        """The address of the compiled inner loop for one scalar type."""
        with self._lock:
            if dtype not in self._loaded:
                self._loaded[dtype] = load(self.tape, dtype)
            return self._loaded[dtype].address(f"loop_{llvm.SCALARS[dtype]}")

    def _single_stand_in(self) -> Any:
        """A float32 loop that compiles the real one when it is first run, and takes its place: few ever need it."""

        def run(args: int, dimensions: int, steps: int, data: int) -> None:
            address = self._loop("float32")
            if self._gufunc is not None:
                self._gufunc.replace_loop(0, address)
            LOOP(address)(args, dimensions, steps, data)

        return LOOP(run)


def default_backend() -> str:
    """``"llvm"`` where llvmlite is installed, else ``"numpy"``."""
    from importlib.util import find_spec

    return "llvm" if find_spec("llvmlite") else "numpy"
