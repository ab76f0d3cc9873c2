"""Kernels that loop over the bodies of a mechanism: the same machine code for all mechanisms, with their tables as data."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import prod
from typing import Any

import numpy as np

from linkwise.kernel.backends.llvm import looped as lowering
from linkwise.kernel.backends.llvm import processor
from linkwise.kernel.backends.llvm.loading import Code, load_made
from linkwise.kernel.backends.llvm.lowering import host
from linkwise.kernel.gufunc import LOOP, Face, Memory, make
from linkwise.kernel.looped import ROW, Header, LoopedProgram, elements
from linkwise.spatial.scalar import FloatArray
from linkwise.sweeps.driver import NUMBERS, kinds_of, numbers_of
from linkwise.sweeps.tables import Rows, flat_numbers

#: Lanes of the code for one or two configurations.
FEW = 2


@cache
def code_of(digest: str, dtype: str, lanes: int | None, stacked: bool, program: Callable[[], LoopedProgram]) -> Code:
    """The machine code of a program, from the disk where it is kept."""
    key = processor.machine_key(f"{digest} {lowering.LOOPED} {lanes} {stacked}", dtype)
    tag = host().text({"float64": "double", "float32": "float"}[dtype], lanes).tag
    return load_made(key, lambda: lowering.object_code(program(), dtype, lanes, stacked=stacked), lambda: tag)


class Instance:
    """A program with the sizes and tables of one mechanism.

    Parameters
    ----------
    program : LoopedProgram
        What to compute.
    rows : Rows
        Of the mechanism.
    sizes : mapping of str to int
        "nq", "nv", "links" and others that the shapes of its arrays name.
    sparse : bool
        Whether some elements of tables (nv, nv) or (6, nv) are zero whatever the coordinates.
    """

    def __init__(self, program: LoopedProgram, rows: Rows, sizes: Mapping[str, int], *, sparse: bool) -> None:
        self.program, self.rows, self.sizes, self.sparse = program, rows, dict(sizes), sparse
        self.header = Header.of(program)
        self.numbers = self._numbers()

    def _numbers(self) -> FloatArray:
        """The constants of the mechanism, then those of all rows."""
        parts = [np.ravel(np.asarray(self.rows.constants[name], dtype=np.float64)) for name in NUMBERS["globals"]]
        parts += [flat_numbers(self.rows.tables[table], table) for table in self.program.tables]
        return np.concatenate(parts)

    def words(self, vector_size: int, *, stacked: bool) -> Any:
        """The table of whole numbers that machine code reads."""
        values: dict[str, int] = {name: 0 for name in self.header.words}
        ints: list[int] = []
        start, first = 0, sum(prod(shape) for shape in NUMBERS["globals"].values())
        for table, layout in self.program.tables.items():
            rows, names = self.rows.tables[table], [kind.name for kind in kinds_of(table)]
            values[f"{table} rows"], values[f"{table} ints"] = len(rows), self.header.count + len(ints)
            values[f"{table} numbers"], values[f"{table} records"] = first, start
            start += (len(rows) + 1) * layout.record
            first += len(rows) * numbers_of(table)
            for row in rows:
                ints += [row.parent, names.index(row.kind.name), row.q, row.v, row.body, row.kind.nv, row.link, row.drive]
        values["parents"] = self.header.count + len(ints)
        ints += self.rows.parents
        values["order"] = self.header.count + len(ints)
        ints += self.rows.order
        sizes = self.sizes
        for name, shape in self.program.arrays.items():
            values[f"start {name}"] = start
            start += elements(shape, sizes) + (self.sizes["nv"] if shape == ("nv", "nv") else 0)
            if name in self.program.outputs and self.sparse:
                values[f"clear {name}"] = elements(shape, sizes)
        values["stacked"] = start
        start += len(self.numbers) if stacked else 0
        values["bytes"] = start * vector_size
        for name, shape in {"numbers": (len(self.numbers),), **self.program.inputs, **self.program.outputs}.items():
            plain = [size if isinstance(size, int) else sizes[size] for size in shape]
            for k, value in enumerate([prod(plain), *[1] * (3 - len(plain)), *plain]):
                values[f"dims {name} {k}"] = value
        for name in self.header.words:
            if name.startswith("size "):
                values[name] = sizes[name.removeprefix("size ")]
        return np.array([*values.values(), *ints], dtype=np.int64)

    def face(self) -> Face:
        """Names and shapes for NumPy: the constants are the first input."""
        sizes = self.sizes

        def plain(shape: Sequence[int | str]) -> tuple[int | str, ...]:
            return tuple(size if isinstance(size, int) else sizes[size] for size in shape)

        inputs = {"numbers": (len(self.numbers),), **{name: plain(shape) for name, shape in self.program.inputs.items()}}
        return Face(self.program.name, inputs, {name: plain(shape) for name, shape in self.program.outputs.items()})

    def ufunc(self, digest: str, doc: str, *, stacked: bool) -> Any:
        """The gufunc."""
        face = self.face()
        wide = self._loaded(digest, "float64", None, stacked)
        few = self._loaded(digest, "float64", FEW, stacked)
        words = self.words(host().vector_bytes, stacked=stacked)
        small = self.words(8 * FEW, stacked=stacked)
        index = list(self.header.words)
        words[index.index("few")], words[index.index("few data")] = few.address("loop_double"), small.ctypes.data
        memory = Memory(face, [("float32", LOOP()), ("float64", LOOP(wide.address("loop_double")))], doc)
        memory.held += [wide, few, words, small, self]
        memory.data[1] = words.ctypes.data
        lock, single = threading.Lock(), list[Any]()
        plain = self.words(host().vector_bytes, stacked=stacked)

        def later(args: int, dimensions: int, steps: int, data: int) -> None:
            with lock:
                if not single:
                    code = self._loaded(digest, "float32", None, stacked)
                    single.extend([LOOP(code.address("loop_float")), code, plain])
            single[0](args, dimensions, steps, plain.ctypes.data)

        memory.set_loop(0, LOOP(later))
        return make(memory, len(face.inputs), len(face.outputs))

    def _loaded(self, digest: str, dtype: str, lanes: int | None, stacked: bool) -> Code:
        return code_of(digest, dtype, lanes, stacked, lambda: self.program)


__all__ = ["ROW", "Instance", "code_of", "ctypes"]
