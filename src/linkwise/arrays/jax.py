"""Kernels on arrays of JAX: one primitive, whose rules are kernels too.

XLA calls the machine code of a kernel itself, through its foreign function interface, where that is laid out as
`linkwise.kernel.backends.llvm.xla_handler` reads it; elsewhere JAX calls back into Python, which takes longer.

The rule of forward mode is `jvp` of the kernel, which is linear in the tangents; its transpose is `vjp` of the kernel. From
both JAX makes all other derivatives, of any order.
"""

from __future__ import annotations

import ctypes
import re
import warnings
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from threading import RLock
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from linkwise.arrays.framework import DifferentiableFramework, Signature, batch_shape, no_derivatives
from linkwise.errors import ArgumentError, KernelError

#: Required order of the structures in XLA's interface, so that the handler's offsets are valid.
STRUCTURES = {
    "XLA_FFI_Extension_Base": ("size_t struct_size", "XLA_FFI_Extension_Type type", "struct XLA_FFI_Extension_Base* next"),
    "XLA_FFI_Api_Version": ("size_t struct_size", "*extension_start", "int major_version", "int minor_version"),
    "XLA_FFI_Buffer": (
        "size_t struct_size", "*extension_start", "XLA_FFI_DataType dtype", "void* data", "int64_t rank", "int64_t* dims",
    ),
    "XLA_FFI_Args": ("size_t struct_size", "*extension_start", "int64_t size", "XLA_FFI_ArgType* types", "void** args"),
    "XLA_FFI_Rets": ("size_t struct_size", "*extension_start", "int64_t size", "XLA_FFI_RetType* types", "void** rets"),
    "XLA_FFI_CallFrame": (
        "size_t struct_size", "*extension_start", "const XLA_FFI_Api* api", "XLA_FFI_ExecutionContext* ctx",
        "XLA_FFI_ExecutionStage stage", "XLA_FFI_Args args", "XLA_FFI_Rets rets",
    ),
    "XLA_FFI_Metadata": ("size_t struct_size", "XLA_FFI_Api_Version api_version"),
    "XLA_FFI_Api": (
        "size_t struct_size", "*extension_start", "XLA_FFI_Api_Version api_version",
        "const XLA_FFI_InternalApi* internal_api",
        *(f"_XLA_FFI_API_STRUCT_FIELD(XLA_FFI_{name})" for name in (
            "Error_Create", "Error_GetMessage", "Error_Destroy", "Handler_Register", "Stream_Get",
        )),
    ),
    "XLA_FFI_Error_Create_Args": (
        "size_t struct_size", "*extension_start", "const char* message", "XLA_FFI_Error_Code errc",
    ),
    "XLA_FFI_Stream_Get_Args": ("size_t struct_size", "*extension_start", "XLA_FFI_ExecutionContext* ctx", "void* stream"),
    "XLA_FFI_Metadata_Extension": ("XLA_FFI_Extension_Base extension_base", "XLA_FFI_Metadata* metadata"),
}  # fmt: skip

#: Values of constants that the handler uses.
CONSTANTS = {"XLA_FFI_ExecutionStage_EXECUTE": 3, "XLA_FFI_Extension_Metadata": 1, "XLA_FFI_Error_Code_INTERNAL": 13}


class JaxFramework(DifferentiableFramework):
    """Arrays of JAX on the CPU or on a GPU of NVIDIA, and its tracers."""

    name = "jax"
    functions: ClassVar[Any] = jnp

    def owns(self, value: Any) -> bool:
        """True if it is an array, or a tracer of one."""
        return isinstance(value, jax.Array)

    def on_device(self, arguments: Sequence[Any]) -> bool:
        """True if one is an array on a GPU; tracers are on none yet."""
        return any(platform == "gpu" for x in arguments for platform in _platforms(x))

    def function(self, kernel: Any) -> Callable[..., Any]:
        """A kernel as a function of arrays; see `linkwise.kernel.Kernel.jax`."""

        def call(*args: Any) -> Any:
            results = _bound(kernel, _same_numbers(kernel, args))
            return tuple(results) if len(results) > 1 else results[0]

        return call

    def map(self, function: Callable[..., Any], signature: Signature, arguments: Sequence[Any]) -> tuple[Any, ...]:
        """Call a function of NumPy arrays; where JAX traces, when it runs, and texts are None."""
        numeric = [np.dtype(dtype).kind != "U" for dtype in signature.dtypes]
        kinds = [jax.dtypes.canonicalize_dtype(d) if flag else d for d, flag in zip(signature.dtypes, numeric, strict=True)]

        def run(*numbers: Any) -> tuple[Any, ...]:
            results = function(*[x if x.dtype.kind in "bc" else x.astype(np.float64) for x in map(np.asarray, numbers)])
            return tuple(np.asarray(result, kind) for result, kind in zip(results, kinds, strict=True))

        if self.on_device(arguments):
            raise ArgumentError("there is no code for a GPU for this; expected arrays on the CPU: jax.device_put(...)")
        arguments = [self.constant(x) if isinstance(x, jax.core.Tracer) else x for x in arguments]
        if not self.differentiates(arguments):  # (if only derivatives are taken, the numbers are known)
            return tuple(jnp.asarray(x) if flag else x for x, flag in zip(run(*arguments), numeric, strict=True))
        if any(None in shape for shape in signature.outputs):
            raise ArgumentError("the number of results depends on values; expected a call outside of jax.jit and vmap")
        pairs = list(zip(arguments, signature.inputs, strict=True))
        batch = jnp.broadcast_shapes(*[np.shape(x)[: np.ndim(x) - len(core)] for x, core in pairs])
        triples = zip(signature.outputs, kinds, numeric, strict=True)
        shapes = tuple(jax.ShapeDtypeStruct((*batch, *core), kind) for core, kind, flag in triples if flag)

        def run_numeric(*numbers: Any) -> tuple[Any, ...]:
            return tuple(result for result, flag in zip(run(*numbers), numeric, strict=True) if flag)

        ranks = [len(batch) + len(core) for _, core in pairs]  # (the same for all, for vmap puts its dimension in front)
        constants = [
            jnp.expand_dims(self.constant(x), range(rank - np.ndim(x))) for (x, _), rank in zip(pairs, ranks, strict=True)
        ]
        results = iter(jax.pure_callback(run_numeric, shapes, *constants, vmap_method="expand_dims"))
        return tuple(next(results) if flag else None for flag in numeric)

    def differentiates(self, arguments: Sequence[Any]) -> bool:
        """True if JAX traces the caller."""
        return any(isinstance(x, jax.core.Tracer) for x in arguments)

    def without_derivatives(self, subject: str, array: Any) -> Any:
        """An array whose tangents raise an error."""

        def refuse(primals: Any, tangents: Any) -> Any:
            raise no_derivatives(subject, self.name)

        same = jax.custom_jvp(lambda x: x)
        same.defjvp(refuse)
        return same(array) if isinstance(array, jax.core.Tracer) else array

    def constant(self, array: Any, *, near: Any = None) -> Any:
        """An array without derivatives."""
        return jax.lax.stop_gradient(jnp.asarray(array))

    def scan(self, step: Callable[[Any, Any], tuple[Any, Any]], state: Any, rows: Any) -> tuple[Any, Any]:
        """A `jax.lax.scan` whose steps are recomputed for their derivatives."""
        last, outputs = jax.lax.scan(jax.checkpoint(step), state, rows)
        return last, outputs


FRAMEWORK = JaxFramework()


def _same_numbers(kernel: Any, args: Sequence[Any]) -> list[Any]:
    """The arguments as arrays of one type, their shapes checked: float64 where one is, else float32."""
    names, cores = list(kernel.tape.inputs), list(kernel.tape.inputs.values())
    for name, arg in zip(names, args, strict=False):
        if isinstance(arg, jax.Array):
            _check_device(f"{kernel.name}: {name}", arg)
            if arg.dtype not in {jnp.dtype("float32"), jnp.dtype("float64")}:
                remedy = ".real" if arg.dtype.kind == "c" else ".astype(float)"
                raise ArgumentError(f"{kernel.name}: {name} holds {arg.dtype}; expected float32 or float64: {remedy}")
        else:
            FRAMEWORK.check_other(kernel, name, arg)
    batch_shape(kernel, list(map(np.shape, args)))
    wide = any(getattr(arg, "dtype", None) == np.float64 for arg in args) and jax.config.jax_enable_x64
    return _broadcast(cores, [jnp.asarray(arg, np.float64 if wide else np.float32) for arg in args])


def _check_device(subject: str, array: Any) -> None:
    """Raise `ArgumentError` for an array that is neither in the memory of the CPU nor on a GPU."""
    if wrong := _platforms(array) - {"cpu", "gpu"}:
        raise ArgumentError(f"{subject} is on {', '.join(sorted(wrong))}; expected one on the CPU or on a GPU of NVIDIA")


def _platforms(value: Any) -> set[str]:
    known = isinstance(value, jax.Array) and not isinstance(value, jax.core.Tracer)
    return {device.platform for device in value.devices()} if known else set()


def _broadcast(cores: Sequence[tuple[int, ...]], arrays: Sequence[Any]) -> list[Any]:
    """The arrays with one batch shape, but for those that have none: they are one for all."""
    batches = [array.shape[: array.ndim - len(core)] for array, core in zip(arrays, cores, strict=True)]
    if len(set(batches) - {()}) <= 1:
        return list(arrays)
    batch = np.broadcast_shapes(*batches)
    triples = zip(arrays, batches, cores, strict=True)
    return [jnp.broadcast_to(array, (*batch, *core)) if shape else array for array, shape, core in triples]


# ── the primitive ─────────────────────────────────────────────────────────────────────────────────

#: A kernel, and where it is `jvp` of another one that as the function of its tangents which it is linear in: `source`, `by`.
call_p = Primitive("linkwise")
call_p.multiple_results = True


def _bound(kernel: Any, arrays: Sequence[Any], source: Any = None, by: tuple[str, ...] = ()) -> list[Any]:
    results: list[Any] = call_p.bind(*arrays, kernel=kernel, source=source, by=by)
    return results


def _shapes(*arrays: Any, kernel: Any, source: Any, by: tuple[str, ...]) -> list[Any]:
    return [jax.core.ShapedArray(shape, arrays[0].dtype) for shape in _result_shapes(kernel, arrays)]


def _result_shapes(kernel: Any, arrays: Sequence[Any]) -> list[tuple[int, ...]]:
    pairs = zip(arrays, kernel.tape.inputs.values(), strict=True)
    batch = max((array.shape[: array.ndim - len(core)] for array, core in pairs), key=len)
    return [(*batch, *shape) for shape in kernel.tape.outputs.values()]


def _computed(*arrays: Any, kernel: Any, source: Any, by: tuple[str, ...]) -> Any:
    """Compute eagerly by JAX; the kernel stores the function, so that it is freed with the kernel."""
    key = ("jax", source is not None, *by)
    function = kernel.array_functions.get(key) or kernel.array_functions.setdefault(
        key, jax.jit(partial(call_p.bind, kernel=kernel, source=source, by=by))
    )
    return function(*arrays)


def _jvp(primals: Any, tangents: Any, *, kernel: Any, source: Any, by: tuple[str, ...]) -> tuple[Any, Any]:
    """Forward mode; a function linear in its last inputs is applied to their tangents, plus the derivative by the others."""
    results = _bound(kernel, primals, source, by)
    names = list(kernel.tape.inputs)
    constants = len(names) - len(by)
    rates: list[Any] = []
    moving = [k for k in range(constants) if type(tangents[k]) is not ad.Zero]
    if moving:
        some = tuple(names[k] for k in moving)
        rates = _directional(kernel, primals, some, [tangents[k] for k in moving], results)
    linear = [k for k in range(constants, len(names)) if type(tangents[k]) is not ad.Zero]
    if linear:
        some = tuple(by[k - constants] for k in linear)
        more = _directional(source, primals[:constants], some, [tangents[k] for k in linear], results)
        rates = [a + b for a, b in zip(rates, more, strict=True)] if rates else more
    return results, rates or [jnp.zeros_like(result) for result in results]


def _directional(
    kernel: Any, primals: Sequence[Any], by: tuple[str, ...], dots: Sequence[Any], results: Sequence[Any]
) -> list[Any]:
    """The derivatives of a kernel by some inputs times tangents, linear in these, in the shapes of the results."""
    product = kernel.jvp.by(*by, tangent=False)
    arrays = _broadcast(list(product.tape.inputs.values()), [*primals, *dots])
    rates = _bound(product, arrays, kernel, by)
    return [jnp.broadcast_to(rate, result.shape) for rate, result in zip(rates, results, strict=True)]


def _transpose(bars: Any, *arrays: Any, kernel: Any, source: Any, by: tuple[str, ...]) -> list[Any]:
    """Reverse mode: the cotangents of the tangents that are not known."""
    constants = len(arrays) - len(by)
    unknown = [k for k, array in enumerate(arrays) if ad.is_undefined_primal(array)]
    if not unknown or unknown[0] < constants:
        raise NotImplementedError(f"{kernel.name} is not linear in all that is transposed")
    names = tuple(by[k - constants] for k in unknown)
    product = source.vjp.by(*names, tangent=False)
    weights = [ad.instantiate_zeros(bar) for bar in bars]
    results = _bound(product, _broadcast(list(product.tape.inputs.values()), [*arrays[:constants], *weights]))
    cotangents: list[Any] = [None] * len(arrays)
    for k, result in zip(unknown, results, strict=True):
        shape = arrays[k].aval.shape
        extra = tuple(range(result.ndim - len(shape)))
        narrow = result.sum(extra) if extra else result
        cotangents[k] = jnp.broadcast_to(narrow, shape)
    return cotangents


def _batched(arrays: Any, axes: Any, *, kernel: Any, source: Any, by: tuple[str, ...]) -> tuple[Any, Any]:
    """`vmap`: one more dimension of the batch, in front."""
    cores = list(kernel.tape.inputs.values())
    moved = [x if axis is None else jnp.moveaxis(x, axis, 0) for x, axis in zip(arrays, axes, strict=True)]
    mapped = [axis is not None for axis in axes]
    ranks = [x.ndim - len(core) - flag for x, core, flag in zip(moved, cores, mapped, strict=True)]
    inner = max(ranks)
    for k, (x, core) in enumerate(zip(moved, cores, strict=True)):
        if mapped[k] and ranks[k] < inner:
            moved[k] = x.reshape((x.shape[0], *(1,) * (inner - ranks[k]), *x.shape[x.ndim - len(core) - ranks[k] :]))
    results = _bound(kernel, _broadcast(cores, moved), source, by)
    return results, [0] * len(results)


def _lowered(platform: str, *arrays: Any, kernel: Any, source: Any, by: tuple[str, ...]) -> list[Any]:
    dtype = arrays[0].dtype
    kinds = [jax.ShapeDtypeStruct(shape, dtype) for shape in _result_shapes(kernel, arrays)]
    target = _target(kernel, dtype.name, platform)
    if target is not None:
        return list(jax.ffi.ffi_call(target, kinds)(*arrays))
    if platform != "cpu":
        raise KernelError(f"{kernel.name}: XLA cannot call it on a GPU (the warning says why); expected arrays on the CPU")

    def run(*numbers: Any) -> Any:
        results = kernel(*[np.asarray(number) for number in numbers])
        return results if isinstance(results, tuple) else (results,)

    return list(jax.pure_callback(run, tuple(kinds), *arrays))


call_p.def_impl(_computed)
call_p.def_abstract_eval(_shapes)
ad.primitive_jvps[call_p] = _jvp
ad.primitive_transposes[call_p] = _transpose
batching.primitive_batchers[call_p] = _batched
for _platform in ("cpu", "cuda"):
    mlir.register_lowering(call_p, mlir.lower_fun(partial(_lowered, _platform), multiple_results=True), platform=_platform)


# ── XLA's interface ───────────────────────────────────────────────────────────────────────────────

_targets: dict[tuple[str, str, str], tuple[str, Any] | None] = {}
_lock = RLock()


def _target(kernel: Any, dtype: str, platform: str) -> str | None:
    """The name under which XLA knows the machine code of a kernel; None where it cannot call it."""
    key = (kernel.identity, dtype, platform)
    with _lock:  # (XLA takes a name once)
        if key not in _targets:
            version = interface_version()
            code = None
            if version is not None:
                code = (kernel if platform == "cpu" else kernel.launcher()).xla_handler(dtype, version)
            if code is not None:
                name = f"linkwise_{kernel.name}_{dtype}_{kernel.identity}"
                address = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(code[0])
                jax.ffi.register_ffi_target(name, jax.ffi.pycapsule(address), platform=platform.replace("cuda", "CUDA"))
                _targets[key] = name, (code, address, kernel)
            else:
                _targets[key] = None
        entry = _targets[key]
    return None if entry is None else entry[0]


@cache
def interface_version() -> tuple[int, int] | None:
    """The version of XLA's foreign function interface; None, with a warning, where it is not the known one."""
    try:
        text = (Path(jax.ffi.include_dir()) / "xla/ffi/api/c_api.h").read_text(encoding="utf-8")
    except (AttributeError, OSError):
        text = ""
    if ctypes.sizeof(ctypes.c_void_p) == 8 and _laid_out_as_known(text):
        major, minor = (re.search(rf"#define XLA_FFI_API_{part} (\d+)", text) for part in ("MAJOR", "MINOR"))
        if major and minor:
            return int(major[1]), int(minor[1])
    warnings.warn(
        f"the foreign function interface of jaxlib {jax.lib.__version__} is not the one that Linkwise knows:"
        " JAX calls kernels through Python, which takes some 0.1 ms a call more",
        stacklevel=2,
    )
    return None


def _laid_out_as_known(text: str) -> bool:
    """True if the header declares the structures and constants that handlers read."""
    plain = re.sub(r"//[^\n]*", "", text)
    for name, fields in STRUCTURES.items():
        body = re.search(rf"struct {name} \{{(.*?)\}}", plain, re.DOTALL)
        declared = [" ".join(field.split()) for field in body[1].split(";")] if body else []
        for field, wanted in zip([*declared, *[""] * len(fields)], fields, strict=False):
            if field != wanted.replace("*extension_start", "XLA_FFI_Extension_Base* extension_start"):
                return False
    return all(re.search(rf"\b{name} = {value}\b", plain) for name, value in CONSTANTS.items())
