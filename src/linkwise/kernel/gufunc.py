"""NumPy generalised ufuncs from function pointers, and the compiled entry for one configuration."""

from __future__ import annotations

import _thread
import ctypes
import inspect
import signal
import struct
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from math import prod
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from linkwise.kernel.tape import Tape
from linkwise.torch_graphs import constant_in_graphs

#: ``void loop(char **args, npy_intp *dimensions, npy_intp *steps, void *data)``.
LOOP = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)

_FROM_DATA_AND_SIGNATURE = 31
_NUMBERS = {"float32": 11, "float64": 12}
_NO_IDENTITY = -1


@dataclass(frozen=True)
class Face:
    """The declaration of a function for NumPy: its name, and its inputs and outputs, whose sizes are numbers or letters."""

    name: str
    inputs: Mapping[str, tuple[int | str, ...]]
    outputs: Mapping[str, tuple[int | str, ...]]


class Memory:
    """Memory that NumPy points to: loops, types, texts. A gufunc references it, not conversely."""

    def __init__(self, tape: Tape | Face, loops: Sequence[tuple[str, Any]], doc: str) -> None:
        count, arguments = len(loops), len(tape.inputs) + len(tape.outputs)
        self.held: list[Any] = []
        self.functions = (ctypes.c_void_p * count)()
        self.data = (ctypes.c_void_p * count)()
        numbers = [_NUMBERS[dtype] for dtype, _ in loops for _ in range(arguments)]
        self.types = (ctypes.c_char * (count * arguments))(*[bytes([number]) for number in numbers])
        self.texts = [text.encode() for text in (tape.name, doc, signature(tape))]
        for index, (_, loop) in enumerate(loops):
            self.set_loop(index, loop)

    def set_loop(self, index: int, loop: Any) -> None:
        """Put a loop in its place; one that was there stays alive, for it may be running."""
        self.held.append(loop)
        self.functions[index] = ctypes.cast(loop, ctypes.c_void_p).value


def make(memory: Memory, inputs: int, outputs: int) -> Any:
    """Build the gufunc of this memory, which it keeps alive."""
    name, doc, core = memory.texts
    ufunc = _maker()(
        memory.functions, memory.data, memory.types, len(memory.functions), inputs, outputs, _NO_IDENTITY, name, doc, 0, core
    )  # fmt: skip
    try:
        ufunc.__dict__["linkwise"] = memory
    except (AttributeError, TypeError):  # older ufuncs take no attributes
        _kept.append(memory)
    return ufunc


_kept: list[Memory] = []


def signature(tape: Tape | Face) -> str:
    """The gufunc signature, as in ``(6),(6),(6)->(6)``; a size 0 gets a name.

    Examples
    --------
    >>> signature(Tape("f", {"q": (6,)}, {"T": (4, 4)}, (), (), (0,) * 16))
    '(6)->(4,4)'
    """

    def group(shapes: Sequence[tuple[int | str, ...]]) -> str:
        return ",".join("(" + ",".join(str(size) if size else "none" for size in shape) + ")" for shape in shapes)

    return f"{group(list(tape.inputs.values()))}->{group(list(tape.outputs.values()))}"


def python_loop(face: Tape | Face, dtype: str, run: Callable[[int, int, int, int], None]) -> Any:
    """Wrap a Python function as the inner loop of a gufunc; if it fails, all outputs are NaN and Python reports the error.

    Nothing that it raises comes out of NumPy. So an interrupt waits until the main thread has left the loop.
    """

    def loop(args: int, dimensions: int, steps: int, data: int) -> None:
        try:
            run(args, dimensions, steps, data)
        except BaseException as error:
            for output in loop_arrays(face, dtype, args, dimensions, steps)[len(face.inputs) :]:
                output[...] = np.nan
            if not isinstance(error, KeyboardInterrupt):
                raise
            threading.Thread(target=_interrupt_after, args=(sys._getframe(),), daemon=True).start()

    return LOOP(loop)


def _interrupt_after(frame: Any) -> None:
    """Interrupt the main thread when it is not in a call any more."""
    main = threading.main_thread().ident or 0
    while frame in _calls(sys._current_frames().get(main)):
        time.sleep(1e-3)
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(main, signal.SIGINT)  # (which ends a system call that it waits in too)
    else:
        _thread.interrupt_main()


def _calls(frame: Any) -> Iterator[Any]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def loop_arrays(face: Tape | Face, dtype: str, args: int, dimensions: int, steps: int) -> list[Any]:
    """The rows of all inputs and outputs that an inner loop is called with, as arrays."""
    shapes: list[Any] = [*face.inputs.values(), *face.outputs.values()]
    rows = ctypes.c_ssize_t.from_address(dimensions).value
    pointers = (ctypes.c_void_p * len(shapes)).from_address(args)
    strides = (ctypes.c_ssize_t * (len(shapes) + sum(map(len, shapes)))).from_address(steps)
    results, first = [], len(shapes)
    for k, shape in enumerate(shapes):
        inner = strides[first : first + len(shape)]
        first += len(shape)
        results.append(_view(pointers[k], (rows, *shape), (strides[k], *inner), np.dtype(dtype)))
    return results


class _At:
    """Memory at an address, as NumPy's array interface describes it."""

    def __init__(self, interface: dict[str, Any]) -> None:
        self.__array_interface__ = interface


def _view(address: int | None, shape: tuple[int, ...], strides: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    if not prod(shape):
        return np.empty(shape, dtype)
    interface = {"version": 3, "data": (address, False), "shape": shape, "strides": strides, "typestr": dtype.str}
    return np.asarray(_At(interface))


@cache
def _maker() -> Any:
    """PyUFunc_FromFuncAndDataAndSignature, out of the table that NumPy offers to extensions."""
    capsule: Any = np._core._multiarray_umath._UFUNC_API  # type: ignore[attr-defined]
    c = ctypes
    kind = c.PYFUNCTYPE(
        c.py_object, c.c_void_p, c.c_void_p, c.c_void_p, c.c_int, c.c_int, c.c_int, c.c_int, c.c_char_p, c.c_char_p, c.c_int,
        c.c_char_p,
    )  # fmt: skip
    return kind(api_table(capsule)[_FROM_DATA_AND_SIGNATURE])


def api_table(capsule: Any) -> Any:
    """The array of pointers inside a capsule."""
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return ctypes.cast(get(capsule, None), ctypes.POINTER(ctypes.c_void_p))


#: Offsets of the fields of a NumPy array object, in bytes, on a 64-bit machine.
OFFSETS = {"type": 8, "data": 16, "nd": 24, "dimensions": 32, "descr": 56, "flags": 64, "weakrefs": 72}

#: Offset of the number in a float object of Python.
FLOAT = 16

#: C contiguous and aligned.
FLAGS = 0x101

#: A number for the test whether it is there.
PROBE = 0.1

_FASTCALL_KEYWORDS = 0x0080 | 0x0002


class _MethodDef(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


class Entry(NamedTuple):
    """The compiled entry of a kernel: the address of its machine code, and the objects that must outlive it."""

    address: int
    keep: tuple[Any, ...]


#: Item of a `_HandOver` that is the table of its dispatcher, the number of slots there, and the words of a slot: the number
#: of arguments, the addresses of keyword and value, the address of the machine code and that of what it is bound to. Before
#: the slots stands the address of the machine code of calls without keywords, 0 while there is no dispatcher.
TABLE, SLOTS, SLOT = 7, 4, 5

#: Objects that are kept for each slot, behind the first one of the list.
HELD = 4


def option_of(args: Sequence[Any]) -> tuple[str, Any] | None:
    """Option and value that the last argument stands for beside its array, as `LinkWrenches` does; else None.

    Arrays of other libraries may answer to any attribute, but not with a tuple.
    """
    words = getattr(args[-1], "kernel_words", None) if args else None
    return words if isinstance(words, tuple) else None


class _HandOver(tuple[Any, ...]):
    """State bound to a function of `make_callable`.

    The fallback, the method definition, what to keep, what to ask for an entry, kernels by the words that they were called
    with, what gives the kernel of some words, and what gives that of a call which `torch.compile` traces; the table of the
    dispatcher, and a list of what gives the dispatcher and of objects whose addresses are in the table. The class has a
    method under the name of each such function, which `torch.compile` traces in its place.

    A tuple, for the garbage collector never empties one before its time, and what is kept stands in an array of objects,
    which it does not look into. Pickling the function leads back to the method.
    """

    __slots__ = ()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if kwargs:
            try:
                kernel = self[4].get((len(args), *kwargs.items()))
            except TypeError:  # (unhashable)
                kernel = None
            if kernel is None:
                return self._of_words(args, kwargs)
            if len(self[8]) <= SLOTS * HELD:  # (an equal word, but another object)
                self._dispatch(len(args), kwargs, getattr(kernel, "__self__", None))
            return kernel(*args)
        words = option_of(args)
        if words is not None:
            kernel = self[4].get((len(args), words))
            return self._of_object(args, words) if kernel is None else kernel(*args[:-1], args[-1].kernel_array)
        result = self[0](*args)
        for question in self[3][:1]:  # (another thread may have had its answer)
            self._take(question(args))
        return result

    def _of_words(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Result of a call with keywords whose kernel is not known yet."""
        fallback, _, _, _, kernels, kernel_of, *_ = self
        result = fallback(*args, **kwargs)
        if kernel_of is not None and all(type(value) is str for value in kwargs.values()):
            kernel = kernels[len(args), *kwargs.items()] = kernel_of(args, kwargs) or partial(fallback, **kwargs)
            self._dispatch(len(args), kwargs, getattr(kernel, "__self__", None))
        return result

    def _dispatch(self, count: int, words: Mapping[str, str], owner: Any) -> None:
        """Put a call with one word into the table of the dispatcher, if its kernel has an entry and there is room."""
        _, method, _, _, _, _, _, table, held = self
        if type(owner) is not _HandOver or len(words) != 1 or held[0] is None:
            return
        dispatcher, slot = held[0](), len(held) // HELD
        if dispatcher is None or slot >= SLOTS:
            return
        ((name, value),) = words.items()
        held += [dispatcher, name, value, owner]
        table[1 + SLOT * slot : 1 + SLOT * (slot + 1)] = count, id(name), id(value), owner[1].function, id(owner)
        if not table[0]:
            table[0], method.function = method.function, dispatcher.address

    def _of_object(self, args: tuple[Any, ...], words: tuple[str, str]) -> Any:
        """Result of a call whose last argument is an option and an array in one, and whose kernel is not known yet."""
        fallback, _, _, _, kernels, kernel_of, *_ = self
        result = fallback(*args)
        kernel = None if kernel_of is None else kernel_of(args, {})
        if kernel is not None:
            kernels[len(args), words] = kernel
        return result

    def _take(self, entry: Entry | None) -> None:
        """Install the machine code of an entry if there is any, and drop the request."""
        _, method, kept, questions, _, _, _, table, _ = self
        if entry is not None:
            kept[0] = entry.keep
            if table[0]:
                table[0] = entry.address
            else:
                method.function = entry.address
            questions.clear()

    def __reduce__(self) -> tuple[Any, ...]:
        owner = getattr(self[0], "__self__", None)
        if owner is None:
            raise TypeError("this compiled entry does not pickle; its kernel does")
        return _itself, (owner,)


def _itself(owner: Any) -> Any:
    return owner


#: Of each input of a kernel the place or the name of the argument, or a number that stands for it where it is left out.
Places: TypeAlias = tuple[int | str | float, ...]

#: Types of arguments that choose a kernel; all others are arrays.
_WORDS = (str, int, type(None))


def _traced(name: str) -> Callable[..., Any]:
    """The method of `_HandOver` that `torch.compile` traces; which kernel it calls is constant in the graph."""

    def call(self: _HandOver, *args: Any, **kwargs: Any) -> Any:
        return call_in_graph(self, None, args, kwargs)

    call.__name__ = name
    return call


def call_in_graph(method: Any, owner: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Method as traced by `torch.compile`: bound to an owner, or of a method and its owner."""
    from linkwise.arrays.torch import in_graph

    words = [arg if isinstance(arg, _WORDS) else ... for arg in args]
    named = {key: value if isinstance(value, _WORDS) else ... for key, value in kwargs.items()}
    key, places = _traced_kernel(method, owner, words, named)
    values = [kwargs[at] if isinstance(at, str) else at if isinstance(at, float) else args[at] for at in places]
    return in_graph(key, values)


@constant_in_graphs
def _traced_kernel(method: Any, owner: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[str, Places]:
    """Key of a kernel for torch, and the positions of its arguments; arrays are ... here."""
    from linkwise.arrays.torch import key_of

    ask = method[6] if owner is None else partial(method.in_graph, owner)
    kernel, places = ask(args, kwargs)
    return key_of(kernel), places


def make_callable(
    fallback: Callable[..., Any],
    name: str,
    doc: str,
    entry: Entry | None = None,
    later: Callable[[tuple[Any, ...]], Entry | None] | None = None,
    kernel_of: Callable[[tuple[Any, ...], dict[str, Any]], Callable[..., Any] | None] | None = None,
    in_graph: Callable[[Sequence[Any], Mapping[str, Any]], tuple[Any, Places]] | None = None,
    dispatcher: Callable[[], Entry | None] | None = None,
) -> Any:
    """Wrap a compiled entry as a Python function; calls that it rejects are forwarded to the fallback.

    Parameters
    ----------
    fallback : callable
        Takes the same arguments, any way they may come.
    name, doc : str
        Of the function; see `documentation`.
    entry : Entry, optional
        What is called. Without, all calls go to the fallback, until `later` gives it.
    later : callable, optional
        Asked after each call without keywords, with its arguments, until it gives the entry; then the function, whoever
        holds it, calls that.
    kernel_of : callable, optional
        Asked once for each choice of words as keywords: what takes the arguments of such calls from then on, None for the
        fallback.
    in_graph : callable, optional
        Asked for each call that `torch.compile` traces, with ... in the place of arrays: the kernel of the call, and its
        `Places`.
    dispatcher : callable, optional
        Asked when there is a kernel of some words: the machine code that finds it.
    """
    address, keep = entry or no_entry()
    kept = np.empty(1, dtype=object)
    kept[0] = keep
    method = _MethodDef(name.encode(), address, _FASTCALL_KEYWORDS, doc.encode())
    table = np.zeros(1 + SLOTS * SLOT, dtype=np.int64)
    bound = _HandOver((fallback, method, kept, [later] if later else [], {}, kernel_of, in_graph, table, [dispatcher]))
    if in_graph and not hasattr(_HandOver, name):
        setattr(_HandOver, name, _traced(name))
    return _function_maker()(ctypes.addressof(method), bound, None)


def documentation(function: Callable[..., Any], name: str, doc: str) -> str:
    """Text for `make_callable` out of which Python reads a signature and the documentation."""
    return f"{name}{_plain_signature(function)}\n--\n\n{inspect.getdoc(function) or doc}"


def _plain_signature(function: Callable[..., Any]) -> str:
    """The parameters and their defaults, as CPython wants them at the head of a built-in function's documentation."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return "(*args, **kwargs)"
    plain = [parameter.replace(annotation=parameter.empty) for parameter in signature.parameters.values()]
    return str(signature.replace(parameters=plain, return_annotation=signature.empty))


@cache
def _function_maker() -> Any:
    new = ctypes.pythonapi.PyCFunction_NewEx
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
    return new


def is_single(args: Sequence[Any], dimensions: Sequence[int]) -> bool:
    """True if all arguments are what a compiled entry takes: arrays of float64 of so many dimensions, for 0 a float."""
    return len(args) == len(dimensions) and all(
        (type(arg) is np.ndarray and arg.ndim == count and arg.dtype.char == "d") if count else type(arg) is float
        for arg, count in zip(args, dimensions, strict=True)
    )


@cache
def no_entry() -> Entry:
    """Substitute for a compiled entry that forwards every call: a function of Python with its signature."""
    return Entry(ctypes.cast(ctypes.pythonapi.PyObject_Vectorcall, ctypes.c_void_p).value or 0, ())


@cache
def tuple_items() -> int:
    """Offset of the first item of a tuple, bytes; 0 where the objects of tuples are laid out otherwise than known."""
    known = (PROBE,)
    if ctypes.c_ssize_t.from_address(id(known) + 16).value != 1:
        return 0
    return next((at for at in (24, 32) if ctypes.c_void_p.from_address(id(known) + at).value == id(PROBE)), 0)


@cache
def usable() -> bool:
    """True if array objects have the layout that the compiled entry reads, tested on a known array."""
    plain = (
        sys.implementation.name == "cpython"
        and struct.calcsize("P") == 8
        and sys.byteorder == "little"
        and not hasattr(sys, "gettotalrefcount")
        and getattr(sys, "_is_gil_enabled", lambda: True)()
    )
    if not plain:
        return False
    known = np.array([1.5, 2.5, 3.5])
    held = [np.empty(3)]
    count = ctypes.c_int32.from_address(id(held[0])).value
    weakrefs = id(known) + OFFSETS["weakrefs"]
    before = ctypes.c_void_p.from_address(weakrefs).value
    reference = weakref.ref(known)
    after = ctypes.c_void_p.from_address(weakrefs).value

    def at(field: str, form: str) -> int:
        return int(struct.unpack(form, ctypes.string_at(id(known) + OFFSETS[field], struct.calcsize(form)))[0])

    array_type, descr = id(np.ndarray), id(np.dtype(np.float64))
    looks_right = (
        at("type", "P") == array_type
        and count == 1
        and before is None
        and after == id(reference)
        and at("data", "P") == known.ctypes.data
        and at("nd", "i") == 1
        and at("descr", "P") == descr
        and at("flags", "i") & FLAGS == FLAGS
    )
    looks_right = looks_right and ctypes.c_double.from_address(id(PROBE) + FLOAT).value == PROBE
    return looks_right and ctypes.c_ssize_t.from_address(at("dimensions", "P")).value == known.size
