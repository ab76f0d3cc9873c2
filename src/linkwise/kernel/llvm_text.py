"""LLVM text being written: fresh names, vectors of numbers."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

RUNTIME = (
    "array_type",
    "descr",
    "new_array",
    "new_scalar",
    "new_tuple",
    "set_item",
    "decref",
    "vectorcall",
    "sin",
    "cos",
    "malloc",
    "free",
)
"""What the global table ``runtime`` of a kernel holds, in order: pointers filled in after loading."""


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
    """

    scalar: str
    width: int
    has_fma: bool
    lines: list[str] = field(default_factory=list)
    names: int = 0
    block: str = "entry"

    @property
    def vector(self) -> str:
        """The vector type."""
        return f"<{self.width} x {self.scalar}>"

    @property
    def tag(self) -> str:
        """How functions for these vectors are told apart: ``double8``."""
        return f"{self.scalar}{self.width}"

    @property
    def suffix(self) -> str:
        """How intrinsics name the vector type: ``v8f64``."""
        return f"v{self.width}f{64 if self.scalar == 'double' else 32}"

    @property
    def size(self) -> int:
        """Bytes of a scalar."""
        return 8 if self.scalar == "double" else 4

    @property
    def vector_size(self) -> int:
        """Bytes of a vector."""
        return self.size * self.width

    def begin(self) -> None:
        """Begin another function."""
        self.lines.clear()
        self.start("entry")

    def emit(self, expression: str) -> str:
        """Write one instruction; return the name of its value."""
        self.names += 1
        name = f"%v{self.names}"
        self.lines.append(f"  {name} = {expression}")
        return name

    def do(self, instruction: str) -> None:
        """Write one instruction that has no value."""
        self.lines.append(f"  {instruction}")

    def start(self, block: str) -> None:
        """Begin a basic block."""
        self.lines.append(f"{block}:")
        self.block = block

    def number(self, value: float) -> str:
        """A vector constant with one number in all lanes."""
        return splat(value, self.scalar, self.width)


def splat(value: float, kind: str, width: int) -> str:
    """A vector constant with one number in all lanes."""
    return "<" + ", ".join([scalar(value, kind)] * width) + ">"


def scalar(value: float, kind: str) -> str:
    """A constant, rounded to the scalar type, written exactly."""
    if kind == "float":
        value = struct.unpack("<f", struct.pack("<f", value))[0]
    bits = struct.unpack("<Q", struct.pack("<d", value))[0]
    return f"{kind} 0x{bits:016X}"
