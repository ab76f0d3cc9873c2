"""`Kernel`: a compiled function and its tape, and its exact derivatives, which are kernels again."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from math import prod
from typing import Any, ClassVar

import numpy as np

from linkwise import arrays
from linkwise.errors import ArgumentError, KernelError, members
from linkwise.expr.node import Expr
from linkwise.extras import optional
from linkwise.kernel import threads, writers
from linkwise.kernel.backend import Lazy, backend_of, default_backend
from linkwise.kernel.deferred_tape import derived_tape
from linkwise.kernel.differentiation import PRODUCTS, Directions, full_derivative
from linkwise.kernel.gufunc import Entry, documentation, is_single, make_callable
from linkwise.kernel.interning import interned
from linkwise.kernel.tape import Tape
from linkwise.kernel.threads import WORKERS
from linkwise.spatial.scalar import Array
from linkwise.spatial.validation import common_batch, is_masked


class Kernel:
    """A function of arrays, as a NumPy gufunc in float64 and float32.

    Calling it broadcasts over leading axes and takes ``out=`` and the other keywords of a ufunc. It is compiled at the first
    use, once, whichever thread comes first; it pickles as its tape, and a process that unpickles it again has it once.

    Parameters
    ----------
    tape : Tape
        The computation.
    backend : str, optional
        How, one of `linkwise.kernel.backend.BACKENDS`; ``"llvm"`` wherever llvmlite is installed, else ``"numpy"``.
    doc : str
        Text for the ufunc.
    lanes : int, optional
        How many configurations are computed side by side, 2 or more; as many as the processor has room for if left out. For
        calls with one or two, 2 is fastest.
    motions : mapping of str to Tape, or callable, optional
        How inputs with quaternions move: see `linkwise.kernel.differentiation.Directions`; or what gives it when asked.

    Examples
    --------
    >>> from linkwise.kernel.tape import trace
    >>> square = Kernel(trace(lambda x: x * x, "square", {"x": (2,)}, {"y": (2,)}))
    >>> square([3.0, 4.0])
    array([ 9., 16.])
    >>> square.operations
    {'mul': 2}
    """

    #: Compilation of the algorithm: "straight" or "looped", see `linkwise.Mechanism.kernel`.
    tier: ClassVar[str] = "straight"

    #: The kernel that this one is a product with the derivatives of, None for all others.
    source: Any = None

    def __init__(
        self,
        tape: Tape,
        backend: str | None = None,
        doc: str = "",
        lanes: int | None = None,
        motions: Mapping[str, Tape] | Callable[[], Mapping[str, Tape]] | None = None,
    ) -> None:
        self.backend = backend_of(backend).name
        if not tape.inputs:
            raise KernelError(f"{tape.name} has no inputs: it is a number, and no function")
        self.tape, self.doc, self.lanes, self._motions = tape, doc, lanes, motions or {}
        self._compiled = Lazy(lambda: backend_of(self.backend).build(tape, doc, lanes))
        self._ufunc: Any = None
        self.single: Any = None
        self.array_functions: dict[Any, Callable[..., Any]] = {}
        self._derivatives: dict[Any, Kernel] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Compute, as the gufunc does.

        Raises
        ------
        ArgumentError
            Where an argument has a wrong shape: which, and what was expected.
        """
        single = self.single
        if single is None:
            if kwargs or not is_single(args, [len(shape) for shape in self.tape.inputs.values()]):
                return self._general(*args, **kwargs)
            single = self.single = self.entry(self._general) or self._general
        return single(*args, **kwargs)

    def _general(self, *args: Any, **kwargs: Any) -> Any:
        """Compute any number of configurations."""
        for arg in args:
            if type(arg) is not np.ndarray:
                framework = arrays.of(self.name, args)
                if framework is not None:
                    return framework.call(self, args, kwargs)
                if any(map(is_masked, args)):
                    check_arguments(self.tape, args)
                break
        try:
            call = (self._ufunc or self.ufunc) if WORKERS.get() == 1 else self._threaded
            return call(*args, **kwargs)
        except (ValueError, TypeError, OverflowError):
            check_count(self.tape, args)
            check_arguments(self.tape, args)
            raise

    def _threaded(self, *args: Any, **kwargs: Any) -> Any:
        """Call the gufunc, large batches on the number of threads of `linkwise.set_threads`."""
        if not self._divides():
            return self.ufunc(*args, **kwargs)
        return threads.call(self.ufunc, threads.cost(self.tape), args, kwargs)

    def pieces(self, rows: int) -> list[slice]:
        """Divide configurations among threads, for callers with further work on each piece."""
        return threads.pieces(rows, threads.cost(self.tape)) if self._divides() else [slice(0, rows)]

    def _divides(self) -> bool:
        return threads.get_threads() > 1 and backend_of(self.backend).parallel

    @property
    def name(self) -> str:
        """Name of the function."""
        return self.tape.name

    @cached_property
    def identity(self) -> str:
        """Identifier of the function and of its compilation, equal in every process."""
        return hashlib.sha256(repr((self.tape.digest, self.backend, self.tier, self.lanes)).encode()).hexdigest()

    def check_argument(self, name: str, value: Any) -> None:
        """Raise `ArgumentError` if the value of an input does not consist of real numbers, or has a wrong shape."""
        batch_of(self.tape, name, value)

    @property
    def operations(self) -> dict[str, int]:
        """Number of operations of one evaluation, by kind."""
        return self.tape.operations

    @property
    def operations_before(self) -> dict[str, int]:
        """The same of the algorithm as it is written, before its graph was shortened."""
        return dict(self.tape.operations_before) or self.operations

    @property
    def ufunc(self) -> Any:
        """The gufunc; compiled on first use."""
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
        """The machine code that `entry` calls, compiled; None if there is none."""
        return self._compiled().entry()

    def xla_handler(self, dtype: str, version: tuple[int, int]) -> tuple[int, Any] | None:
        """Machine code for XLA, and the objects that must outlive it; None if the kernel has none: see `Backend`."""
        return backend_of(self.backend).xla_handler(self.ufunc, self.tape, dtype, version)

    def launcher(self) -> Any:
        """The runner on GPUs; see `Backend`."""
        return backend_of(self.backend).launcher(self.tape)

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
            derivative = Kernel(full_derivative(self.tape, by), self.backend, doc, self.lanes, self._motions)
            self._derivatives.setdefault(by, derivative)
        return self._derivatives[by]

    @cached_property
    def sparsity(self) -> dict[str, tuple[Array, ...]]:
        """Indices of the elements of each output that are not zero whatever the inputs, as `numpy.nonzero` returns them.

        Elements that depend on the inputs, and other constants, are among them. An output that is a number has none.
        """
        positions = {name: np.array(kept, dtype=np.intp) for name, kept in self.tape.nonzeros.items()}
        outputs = self.tape.outputs.items()
        return {name: np.unravel_index(positions[name], shape) if shape else () for name, shape in outputs}

    @property
    def nonzeros(self) -> Kernel:
        """The kernel whose outputs are the vectors of those elements that are not zero whatever the inputs.

        Their indices are `sparsity`. No zeros are written, which is most of the time that regressors, Hessians and
        derivatives of large trees take. An output that is zero throughout is left out, a number stays a number.

        Raises
        ------
        KernelError
            Where all outputs are zero.

        Examples
        --------
        >>> from linkwise.kernel.tape import trace
        >>> square = Kernel(trace(lambda x: x * x, "square", {"x": (2,)}, {"y": (2,)})).derivative("x")
        >>> square.nonzeros([3.0, 4.0])
        array([6., 8.])
        >>> dense = np.zeros((2, 2))
        >>> dense[square.sparsity["dy_dx"]] = square.nonzeros([3.0, 4.0])
        >>> dense.tolist()
        [[6.0, 0.0], [0.0, 8.0]]
        """
        if "nonzeros" not in self._derivatives:
            tape = derived_tape(self.tape, "nonzeros", self.tape.without_zeros)
            doc = f"The elements of {self.name} that are not zero whatever the inputs."
            self._derivatives.setdefault("nonzeros", Kernel(tape, self.backend, doc, self.lanes, self._motions))
        return self._derivatives["nonzeros"]

    @property
    def motions(self) -> Mapping[str, Tape]:
        """Motion of inputs with quaternions."""
        if callable(self._motions):
            self._motions = self._motions()
        return self._motions

    @property
    def vjp(self) -> DerivativeProduct:
        """The product of vectors with the derivatives: reverse mode, at about twice the cost of the function.

        ``kernel.vjp(*inputs, *cotangents)`` takes one cotangent of the shape of each output behind the inputs, and gives one
        of each input: of the shape of the input, but for a configuration with quaternions of the shape (..., nv). With f the
        sum of all cotangents times outputs, these are the derivatives of f. See `DerivativeProduct.by` for some inputs only.

        Examples
        --------
        >>> from linkwise import robots
        >>> kernel = robots.planar_2r().kernel("inverse_dynamics")
        >>> q_bar, qd_bar, qdd_bar = kernel.vjp([0.0, 0.5], [1.0, 2.0], [0.0, 0.0], [1.0, -2.0])
        >>> qd_bar.round(3)
        array([-1.918, -1.438])
        >>> kernel.vjp
        <Kernel inverse_dynamics_vjp: q (2,), qd (2,), qdd (2,), tau_bar (2,) -> q_bar (2,), qd_bar (2,), qdd_bar (2,), llvm>
        """
        return self.product("vjp", tuple(self.tape.inputs), tangent=True)

    @property
    def jvp(self) -> DerivativeProduct:
        """The product of the derivatives with vectors: forward mode, at about twice the cost of the function.

        ``kernel.jvp(*inputs, *tangents)`` takes one tangent of each input behind the inputs, of the shape of the input, but
        for a configuration with quaternions of the shape (..., nv); it gives the rate of each output as the inputs move so.

        Examples
        --------
        >>> from linkwise import robots
        >>> kernel = robots.planar_2r().kernel("forward_kinematics")
        >>> kernel.jvp([0.0, 0.5], [1.0, 0.0])[:3, 3].round(3) + 0.0  # (the velocity of the tool)
        array([-0.479,  1.878,  0.   ])
        """
        return self.product("jvp", tuple(self.tape.inputs), tangent=True)

    def product(self, mode: str, names: tuple[str, ...], *, tangent: bool) -> DerivativeProduct:
        """The product of its derivatives by some inputs; see `DerivativeProduct`."""
        key = mode, names, tangent or not self.motions
        if key not in self._derivatives:
            self._derivatives.setdefault(key, DerivativeProduct(self, *key))
        result = self._derivatives[key]
        assert isinstance(result, DerivativeProduct)
        return result

    def torch(self) -> Callable[..., Any]:
        """The kernel as a function of torch tensors, which torch differentiates; nothing is copied.

        Tensors on a GPU of NVIDIA are computed there (see `cuda`), others must be on the CPU. It broadcasts as the kernel
        does, in float64, or in float32 where all tensors are. Derivatives of any order, in
        reverse and forward mode, are kernels too (see `vjp`): ``backward``, ``torch.func`` (``grad``, ``jacrev``,
        ``jacfwd``, ``hessian``, ``jvp``, ``vmap``). Those by a configuration with quaternions are by its nq numbers.
        ``torch.compile(fullgraph=True)`` takes it as one operator, these transformations inside too.

        Raises
        ------
        MissingExtraError
            Where torch is not installed.
        """
        optional("torch", f"{self.name}.torch() needs PyTorch", "torch")
        return arrays.by_name("torch").of_kernel(self)

    def jax(self) -> Callable[..., Any]:
        """The kernel as a function of JAX arrays, which JAX differentiates and compiles; those on a GPU are computed there.

        It goes through ``jit``, ``grad``, ``jacfwd``, ``jacrev``, ``hessian``, ``vmap`` and ``scan``. XLA calls the kernel's
        machine code itself, so the numbers are those of the kernel, bit for bit. It broadcasts as the
        kernel does, in float32, or in float64 where an array is float64 (``jax_enable_x64``). Derivatives of any order are
        kernels too (see `vjp` and `jvp`); those by a configuration with quaternions are by its nq numbers. `to_jax` is the
        source for what XLA must see through, and faster inside of a scan with one configuration a step.

        Raises
        ------
        MissingExtraError
            Where jax is not installed.
        """
        optional("jax", f"{self.name}.jax() needs JAX", "jax")
        return arrays.by_name("jax").of_kernel(self)

    def cuda(self) -> Callable[..., Any]:
        """The kernel as a function of arrays on a GPU of NVIDIA, which stay there; one thread computes one configuration.

        It takes what has ``__cuda_array_interface__`` or DLPack: arrays of CuPy, PyTorch, JAX, Numba; all of one library and
        device, all float64 or all float32. It broadcasts as the kernel does, runs on the stream that is current in CuPy or
        PyTorch (arrays of JAX are waited for), and gives arrays of the same library. Rows whose numbers do not lie side by
        side are copied first. The code is PTX from the kernel's own lowering, which the driver compiles: no toolkit is
        needed. There are no derivatives here, and tensors that require them are refused: `torch`, `jax` and the methods of a
        mechanism have them.

        Raises
        ------
        KernelError
            Where there is no GPU, or its driver is missing or too old; for a kernel that is too long for a thread.
        """
        return arrays.by_name("cuda").of_kernel(self)

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
        """Write the computation as text with named intermediate values; see `linkwise.equations.writers.text.to_text`."""
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

    def to_casadi(self, *, expand: bool = False) -> Any:
        """The same as a ``casadi.Function`` with exact derivatives of any order, which needs the extra ``casadi``.

        Its inputs and outputs have the kernel's names (an output that is called like an input has ``_result`` behind it).
        Vectors are columns, and matrices of a stack stand below each other. ``map`` gives that of many configurations.

        Parameters
        ----------
        expand : bool
            Whether CasADi gets the graph of all operations (SX), which it differentiates and evaluates by itself and sees
            the zeros of; else an external function that calls the kernel (some 80 µs each, in one thread), its derivatives
            `jvp` and `vjp` by the numbers of all inputs.

        Raises
        ------
        MissingExtraError
            Where CasADi is not installed.
        """
        return self.write("casadi", expand=expand)

    def __reduce__(self) -> tuple[Any, ...]:
        backend = None if self.backend == default_backend() else self.backend
        motions = [(name, tape.digest) for name, tape in self.motions.items()]
        key = repr((self.tape.digest, sorted(self.tape.labels.items()), motions, backend, self.lanes, self.doc))
        named = self.tape.origins or type(self) is not Kernel
        return interned(None if named else key, type(self), (self.tape, backend, self.doc, self.lanes, self.motions))

    def __repr__(self) -> str:
        shapes = [", ".join(f"{k} {v}" for k, v in group.items()) for group in (self.tape.inputs, self.tape.outputs)]
        tier = "" if self.tier == "straight" else f", {self.tier}"
        return f"<Kernel {self.name}: {shapes[0]} -> {shapes[1]}, {self.backend}{tier}>"


class DerivativeProduct(Kernel):
    """The derivatives of a kernel times vectors, as a kernel, which has derivatives again: `Kernel.vjp`, `Kernel.jvp`.

    An input that is a configuration with quaternions moves with a velocity, nv numbers, as `linkwise.Mechanism.integrate`
    takes it; all outputs are plain numbers. Where there is no derivative, the result is that of
    `linkwise.expr.operations.OPERATIONS`: 0 for abs and sign at 0, the derivative of the operand that is chosen at a case
    distinction, NaN for the angle or the length of a zero vector. A kernel that loops over bodies is differentiated as
    straight-line code, which takes long to compile.

    Parameters
    ----------
    source : Kernel
        What is differentiated.
    mode : {"vjp", "jvp"}
        From which side the vectors come.
    names : tuple of str
        The inputs that it is differentiated by.
    tangent : bool
        Whether inputs with quaternions move with velocities.
    """

    def __init__(self, source: Kernel, mode: str, names: tuple[str, ...], tangent: bool) -> None:
        motions = {name: tape for name, tape in source.motions.items() if name in names and tangent}
        directions = Directions(names, motions)
        tape = derived_tape(
            source.tape,
            (mode, names, [(name, tape.digest) for name, tape in motions.items()]),
            lambda: PRODUCTS[mode](source.tape, directions),
        )
        doc = f"The derivatives of {source.name} by {members(names)} times vectors ({mode})."
        super().__init__(tape, source.backend, doc, source.lanes, source.motions)
        self.source, self.mode, self.names, self.tangent = source, mode, names, tangent

    def by(self, *names: str, tangent: bool = True) -> DerivativeProduct:
        """The product of derivatives by some of the inputs.

        Parameters
        ----------
        *names : str
            Inputs of the function, in the order in which their tangents or cotangents come; all without any.
        tangent : bool
            Whether the derivatives by a configuration with quaternions are by a small motion (nv numbers, in the axes of the
            body), or else by its nq numbers as if they were independent.

        Raises
        ------
        ArgumentError
            Naming the inputs there are.

        Examples
        --------
        >>> from linkwise import robots
        >>> kernel = robots.planar_2r().kernel("inverse_dynamics")
        >>> kernel.vjp.by("qd")([0.0, 0.5], [1.0, 2.0], [0.0, 0.0], [1.0, -2.0]).round(3)
        array([-1.918, -1.438])
        """
        inputs = self.source.tape.inputs
        wrong = [name for name in names if name not in inputs or names.count(name) > 1]
        if wrong:
            why = "twice" if wrong[0] in inputs else "no input of it"
            raise ArgumentError(f"{self.name} by {wrong[0]!r}: {why}; {self.source.name} has {members(inputs)}")
        source: Kernel = self.source
        return source.product(self.mode, names or tuple(inputs), tangent=tangent)

    def __reduce__(self) -> tuple[Any, ...]:
        return _product, (self.source, self.mode, self.names, self.tangent)


def _product(source: Kernel, mode: str, names: tuple[str, ...], tangent: bool) -> DerivativeProduct:
    return source.product(mode, names, tangent=tangent)


class _Checked:
    """A gufunc with empty vectors, whose lengths NumPy does not check."""

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
    """Raise `ArgumentError` if arguments do not consist of real numbers, have wrong shapes, or do not broadcast.

    `others` are batch shapes beside those of the arguments.
    """
    batches = {name: batch_of(tape, name, arg) for name, arg in zip(tape.inputs, args, strict=False)}
    common_batch(tape.name, **(dict(others or {}) | batches))


def batch_of(tape: Tape, name: str, arg: Any) -> tuple[int, ...]:
    """The batch shape of an argument; raise `ArgumentError` if it does not consist of real numbers or has a wrong shape."""
    shape = tape.inputs[name]
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
    return array.shape[:split]
