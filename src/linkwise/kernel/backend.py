"""The protocol of back ends, and the table of those registered."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

from linkwise.errors import KernelError, choices, shown
from linkwise.kernel.gufunc import Entry
from linkwise.kernel.tape import Tape

T = TypeVar("T")

#: The back ends by name.
BACKENDS: dict[str, Backend] = {}


class CompiledKernel(NamedTuple):
    """The makers of the gufunc and of the entry for one configuration, the latter None if there is none."""

    ufunc: Callable[[], Any]
    entry: Callable[[], Entry | None] = lambda: None


class Backend(ABC):
    """A way to run kernels and programs of kernels; `backend` registers one.

    What a back end has not, None stands for: then each step is run by a kernel of its own.
    """

    name: ClassVar[str]
    preference: ClassVar[int] = -1
    """Of those that are available, the one that is preferred most is taken where none is named."""
    parallel: ClassVar[bool] = False
    """Whether its gufuncs run without the interpreter's lock, so that several threads gain time."""

    def available(self) -> bool:
        """True if the back end runs on this machine."""
        return True

    @abstractmethod
    def build(self, tape: Tape, doc: str, lanes: int | None) -> CompiledKernel:
        """Build a lazy gufunc of a tape in float64 and float32, with `lanes` rows side by side if possible."""

    def dispatcher(self) -> Any:
        """The `linkwise.kernel.gufunc.Entry` that finds the kernel of calls with a word as keyword."""
        return None

    @abstractmethod
    def iteration(self, program: Any, lanes: int | None) -> Callable[..., Any]:
        """Compile a `linkwise.kernel.iteration.IterationProgram`; see `linkwise.kernel.iteration.Descent`."""

    def rollout(self, program: Any) -> Callable[..., Any] | None:
        """Compile a `linkwise.kernel.rollout.RolloutProgram`; see `linkwise.kernel.rollout.Rollout`."""
        return None

    def sequence(self, steps: Any, held: list[Any]) -> Callable[[], Any] | None:
        """Compile the steps of a `linkwise.kernel.sequence.Sequence`; referenced objects are appended to `held`."""
        return None

    def reachability(self) -> Callable[..., Any] | None:
        """The passes of `linkwise.kernel.reachability` as a gufunc."""
        return None

    def path_speeds(
        self, rows: Tape | None, caps: Tape, efforts: Tape | None, drag: Any = None
    ) -> Callable[..., Any] | None:  # fmt: skip
        """Return both passes along polynomials as a gufunc, with tapes for the lines and the greatest x of one joint.

        The tapes are for lines of accelerations, for the greatest x, and for lines of efforts; `drag` is the matrix that
        gives Bernstein coefficients from values of friction within an interval, where there is any.
        """
        return None

    def path_samples(self) -> Callable[..., Any] | None:
        """Values and derivatives of polynomials at places, as a gufunc."""
        return None

    def path_motion(self, tape: Tape) -> Callable[..., Any] | None:
        """The motion along polynomials at instants, with a tape for one joint, as a gufunc."""
        return None

    def xla_handler(self, ufunc: Any, tape: Tape, dtype: str, version: tuple[int, int]) -> tuple[int, Any] | None:
        """Return the address of a handler of XLA's foreign function interface, and the objects that must outlive it."""
        return None

    def launcher(self, program: Any) -> Any:
        """Return the GPU runner of a tape, a rollout or an iteration; see `linkwise.kernel.backends.nvptx.launch.Launcher`.

        Raises
        ------
        KernelError
            Where it has no code for them.
        """
        raise KernelError(f"the back end {self.name!r} has no code for GPUs; expected 'llvm', with llvmlite installed")


def backend(kind: type[Backend]) -> type[Backend]:
    """Register a back end."""
    BACKENDS[kind.name] = kind()
    return kind


def default_backend() -> str:
    """The back end that is preferred most of those that are available."""
    return max((kind for kind in BACKENDS.values() if kind.available()), key=lambda kind: kind.preference).name


def backend_of(name: str | None) -> Backend:
    """The back end of a name, the default one without.

    Raises
    ------
    KernelError
        For an unknown name; it lists those there are.
    """
    if name is not None and (not isinstance(name, str) or name not in BACKENDS):
        raise KernelError(f"backend is {shown(name)}; expected {choices(sorted(BACKENDS))}")
    return BACKENDS[name or default_backend()]


class Lazy(Generic[T]):
    """A value computed on first use, once, by whichever thread comes first."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make, self._lock = make, threading.RLock()
        self._value: T | None = None

    def __call__(self) -> T:
        """The value."""
        if self._value is None:
            with self._lock:
                if self._value is None:
                    self._value = self._make()
        return self._value
