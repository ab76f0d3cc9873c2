"""LLVM text being written: fresh names, vectors of numbers."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

#: Contents of the global table ``runtime`` of a kernel, in order: pointers filled in after loading.
RUNTIME = (
    "array_type",
    "descr",
    "new_array",
    "new_scalar",
    "new_tuple",
    "set_item",
    "decref",
    "vectorcall",
    "float_type",
    "sin",
    "cos",
    "malloc",
    "free",
    "memset",
    "slow",
    "copy_in",
    "copy_out",
    "send",
)

#: Functions of our own code, shared by all kernels on the same vectors: see `support` of the lowering.
SUPPORT = ("slow", "copy_in", "copy_out", "send")


@dataclass
class Text:
    """The lines of one function body for vectors of one type.

    Attributes
    ----------
    scalar : str
        ``"double"`` or ``"float"``.
    width : int
        Lanes of a vector.
    has_fma : bool
        Whether the host fuses a multiplication and an addition.
    part : str
        Which of several bodies in a module it is: its name is part of the tag of its functions.
    splats : bool
        Whether a vector of equal numbers may be written in short, which LLVM reads from version 19 on.
    """

    #: The first row that a function computes.
    first: ClassVar[str] = "0"

    #: Parameter of a function over rows in addition to its arguments.
    share: ClassVar[str] = ""

    scalar: str
    width: int
    has_fma: bool
    part: str = ""
    splats: bool = False
    lines: list[str] = field(default_factory=list)
    state: dict[str, Any] = field(default_factory=lambda: {"names": 0, "block": "entry"})

    @property
    def names(self) -> int:
        """Number of named values."""
        return int(self.state["names"])

    @property
    def block(self) -> str:
        """The basic block that is being written."""
        return str(self.state["block"])

    def as_double(self) -> Text:
        """The same function body, written in vectors of doubles."""
        return self if self.scalar == "double" else replace(self, scalar="double")

    @cached_property
    def vector(self) -> str:
        """The vector type."""
        return f"<{self.width} x {self.scalar}>"

    @property
    def tag(self) -> str:
        """The suffix of functions for these vectors: ``double8``, ``double8_law``."""
        return f"{self.scalar}{self.width}{'_' * bool(self.part)}{self.part}"

    @property
    def step(self) -> str:
        """Rows from one block that a function computes to the next."""
        return str(self.width)

    def another(self, part: str) -> Text:
        """An empty function body for the same vectors, of another part."""
        return replace(self, part=part, lines=[], state={"names": 0, "block": "entry"})

    @cached_property
    def suffix(self) -> str:
        """Vector type in names of intrinsics: ``v8f64``."""
        return f"v{self.width}f{64 if self.scalar == 'double' else 32}"

    @property
    def size(self) -> int:
        """Bytes of a scalar."""
        return 8 if self.scalar == "double" else 4

    @cached_property
    def vector_size(self) -> int:
        """Bytes of a vector."""
        return self.size * self.width

    def begin(self) -> None:
        """Begin another function."""
        self.lines.clear()
        self.start("entry")

    def emit(self, expression: str) -> str:
        """Write one instruction; return the name of its value."""
        count = self.state["names"] = self.state["names"] + 1
        name = f"%v{count}"
        self.lines.append(f"  {name} = {expression}")
        return name

    def do(self, instruction: str) -> None:
        """Write one instruction that has no value."""
        self.lines.append(f"  {instruction}")

    def start(self, block: str) -> None:
        """Begin a basic block."""
        self.lines.append(f"{block}:")
        self.state["block"] = block

    def branch(self, condition: str, then: str, otherwise: str) -> None:
        """Write a branch to one of two blocks."""
        self.do(f"br i1 {condition}, label %{then}, label %{otherwise}")

    def go_on(self, block: str) -> None:
        """Begin a basic block that the one before leads to, and others may."""
        self.do(f"br label %{block}")
        self.start(block)

    @property
    def integers(self) -> str:
        """The vector type of whole numbers as wide as the scalars."""
        return f"<{self.width} x i{8 * self.size}>"

    @property
    def mask(self) -> str:
        """The vector type of truth values."""
        return f"<{self.width} x i1>"

    def number(self, value: float) -> str:
        """A vector constant with one number in all lanes."""
        return f"splat ({scalar(value, self.scalar)})" if self.splats else splat(value, self.scalar, self.width)

    def whole(self, value: int) -> str:
        """The same of a whole number."""
        return "<" + ", ".join([f"i{8 * self.size} {value}"] * self.width) + ">"

    def runtime(self, name: str) -> str:
        """Emit: a pointer of the table ``runtime``."""
        address = self.emit(f"getelementptr ptr, ptr @runtime, i64 {RUNTIME.index(name)}")
        return self.emit(f"load ptr, ptr {address}")

    def op(self, name: str, x: str, y: str) -> str:
        """Emit an operation on two vectors."""
        return self.emit(f"{name} {self.vector} {x}, {y}")

    def call(self, intrinsic: str, *args: str) -> str:
        """Emit the call of an intrinsic function on vectors."""
        operands = ", ".join(f"{self.vector} {arg}" for arg in args)
        return self.emit(f"call {self.vector} @llvm.{intrinsic}.{self.suffix}({operands})")

    def fma(self, x: str, y: str, z: str) -> str:
        """Emit x y + z, fused where the host can."""
        return self.call("fma", x, y, z) if self.has_fma else self.op("fadd", self.op("fmul", x, y), z)

    def horner(self, z: str, coefficients: Sequence[float]) -> str:
        """Emit a polynomial in z, its lowest coefficient first."""
        total = self.number(coefficients[-1])
        for coefficient in reversed(coefficients[:-1]):
            total = self.fma(z, total, self.number(coefficient))
        return total

    def negative(self, x: str) -> str:
        """Emit -x."""
        return self.emit(f"fneg {self.vector} {x}")

    def choose(self, mask: str, x: str, y: str) -> str:
        """Emit: x where the mask is set, else y."""
        return self.emit(f"select {self.mask} {mask}, {self.vector} {x}, {self.vector} {y}")

    def bits(self, x: str) -> str:
        """Emit: the bits of a vector as whole numbers."""
        return self.emit(f"bitcast {self.vector} {x} to {self.integers}")

    def float(self, bits: str) -> str:
        """Emit: the vector that has these bits."""
        return self.emit(f"bitcast {self.integers} {bits} to {self.vector}")

    @contextmanager
    def loop(self, name: str, count: object, *, step: int = 1) -> Iterator[str]:
        """Emit a loop with an index from 0 to below `count`, which must be positive."""
        before = self.block
        self.go_on(name)
        place = len(self.lines)
        yield f"%{name}.k"
        self.lines.insert(place, f"  %{name}.k = phi i64 [ 0, %{before} ], [ %{name}.next, %{self.block} ]")
        self.do(f"%{name}.next = add i64 %{name}.k, {step}")
        self.do(f"%{name}.more = icmp ult i64 %{name}.next, {count}")
        self.do(f"br i1 %{name}.more, label %{name}, label %{name}.done")
        self.start(f"{name}.done")

    @contextmanager
    def counted(self, name: str, count: object, first: object = 0) -> Iterator[str]:
        """Emit a loop with an index from `first` to below `count`, possibly empty."""
        before = self.block
        self.go_on(f"{name}.test")
        place = len(self.lines)
        self.do(f"%{name}.more = icmp slt i64 %{name}.k, {count}")
        self.do(f"br i1 %{name}.more, label %{name}, label %{name}.done")
        self.start(name)
        yield f"%{name}.k"
        self.do(f"%{name}.next = add i64 %{name}.k, 1")
        self.lines.insert(place, f"  %{name}.k = phi i64 [ {first}, %{before} ], [ %{name}.next, %{self.block} ]")
        self.do(f"br label %{name}.test")
        self.start(f"{name}.done")

    @contextmanager
    def when(self, condition: str, name: str) -> Iterator[None]:
        """Emit a block that is executed if a condition holds."""
        self.do(f"br i1 {condition}, label %{name}, label %{name}.done")
        self.start(name)
        yield
        self.go_on(f"{name}.done")

    def function(self, head: str, *, kind: str = "#0") -> str:
        """The function of the lines that were written, which begins with the block ``entry``."""
        return "\n".join([f"{head} {kind} {{", *([] if self.lines[:1] == ["entry:"] else ["entry:"]), *self.lines, "}\n"])

    def at(self, kind: str, base: str, index: object) -> str:
        """Emit the address of an element of an array."""
        return self.emit(f"getelementptr {kind}, ptr {base}, i64 {index}")

    def load(self, kind: str, base: str, index: object) -> str:
        """Emit the load of an element of a table."""
        return self.emit(f"load {kind}, ptr {self.at(kind, base, index)}")

    def all(self, first: str, *conditions: str) -> str:
        """Emit the conjunction of conditions."""
        for condition in conditions:
            first = self.emit(f"and i1 {first}, {condition}")
        return first

    def broadcast(self, number: str) -> str:
        """Emit the vector that has a number in all lanes."""
        first = self.emit(f"insertelement {self.vector} poison, {self.scalar} {number}, i32 0")
        return self.emit(f"shufflevector {self.vector} {first}, {self.vector} poison, <{self.width} x i32> zeroinitializer")

    def copy(self, to: str, source: str, to_align: int, source_align: int) -> None:
        """Emit: copy one scalar."""
        value = self.emit(f"load {self.scalar}, ptr {source}, align {source_align}")
        self.do(f"store {self.scalar} {value}, ptr {to}, align {to_align}")

    def get(self, buffer: str, k: object) -> str:
        """Emit: load vector k of a block."""
        return self.emit(f"load {self.vector}, ptr {self.at(self.vector, buffer, k)}, align {self.vector_size}")

    def put(self, value: str, buffer: str, k: object) -> None:
        """Emit: store a vector as number k of a block."""
        self.do(f"store {self.vector} {value}, ptr {self.at(self.vector, buffer, k)}, align {self.vector_size}")


def splat(value: float, kind: str, width: int) -> str:
    """A vector constant with one number in all lanes."""
    return "<" + ", ".join([scalar(value, kind)] * width) + ">"


def scalar(value: float, kind: str) -> str:
    """A constant, rounded to the scalar type, written exactly."""
    if kind == "float":
        value = struct.unpack("<f", struct.pack("<f", value))[0]
    bits = struct.unpack("<Q", struct.pack("<d", value))[0]
    return f"{kind} 0x{bits:016X}"
