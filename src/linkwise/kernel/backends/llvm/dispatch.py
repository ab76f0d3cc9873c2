"""Calls with one word as keyword, such as ``frame="body"``: machine code that finds the entry of their kernel.

The names of keywords, and words that stand in a program's text, are the same objects at each call. So a call is known by
three numbers, its count of arguments and the addresses of the keyword and of its value, which are compared with those of a
table. What is not in it goes the usual way, and what equals a word in it without being the same object goes there too.
"""

from __future__ import annotations

from functools import cache

from linkwise.kernel.backends.llvm import lowering, processor
from linkwise.kernel.backends.llvm.loading import Code, load_made
from linkwise.kernel.backends.llvm.text import RUNTIME
from linkwise.kernel.gufunc import OFFSETS, SLOT, SLOTS, TABLE, tuple_items

#: Counts the changes of this text.
VERSION = "1"


@cache
def dispatcher() -> Code:
    """The machine code, which defines ``call``; one for all functions, whose tables differ."""
    key = processor.machine_key(f"dispatch {VERSION} {tuple_items()} {SLOTS}", "float64")
    return load_made(key, lambda: lowering.compiled(lowering.module([text(tuple_items())])))


def text(items: int) -> str:
    """``PyObject *call(PyObject *self, PyObject **args, ssize_t nargs, PyObject *kwnames)``.

    Parameters
    ----------
    items : int
        Offset of the first item of a tuple, bytes.
    """
    lines = [
        "define ptr @call(ptr %self, ptr %args, i64 %nargs, ptr %kwnames) #0 {",
        f"%held = getelementptr i8, ptr %self, i64 {items + 8 * TABLE}",
        "%array = load ptr, ptr %held",
        f"%data = getelementptr i8, ptr %array, i64 {OFFSETS['data']}",
        "%table = load ptr, ptr %data",
        "%plain = icmp eq ptr %kwnames, null",
        "br i1 %plain, label %usual, label %words, !prof !1",
        "usual:",
        "%entry = load ptr, ptr %table",
        "%result = call ptr %entry(ptr %self, ptr %args, i64 %nargs, ptr null)",
        "ret ptr %result",
        "words:",
        "%length = getelementptr i8, ptr %kwnames, i64 16",
        "%size = load i64, ptr %length",
        "%single = icmp eq i64 %size, 1",
        "br i1 %single, label %look, label %other",
        "look:",
        f"%first = getelementptr i8, ptr %kwnames, i64 {items}",
        "%name = load i64, ptr %first",
        "%last = getelementptr ptr, ptr %args, i64 %nargs",
        "%value = load i64, ptr %last",
        "br label %slot0",
    ]
    for k in range(SLOTS):
        lines.append(f"slot{k}:")
        for j, wanted in enumerate(("%nargs", "%name", "%value")):
            lines += [
                f"%at{k}.{j} = getelementptr i64, ptr %table, i64 {1 + SLOT * k + j}",
                f"%word{k}.{j} = load i64, ptr %at{k}.{j}",
                f"%same{k}.{j} = icmp eq i64 %word{k}.{j}, {wanted}",
            ]
        lines += [
            f"%two{k} = and i1 %same{k}.0, %same{k}.1",
            f"%all{k} = and i1 %two{k}, %same{k}.2",
            f"br i1 %all{k}, label %take{k}, label %{f'slot{k + 1}' if k + 1 < SLOTS else 'other'}",
            f"take{k}:",
            f"%code{k} = getelementptr i64, ptr %table, i64 {1 + SLOT * k + 3}",
            f"%function{k} = load ptr, ptr %code{k}",
            f"%owner{k} = getelementptr i64, ptr %table, i64 {1 + SLOT * k + 4}",
            f"%of{k} = load ptr, ptr %owner{k}",
            f"%result{k} = call ptr %function{k}(ptr %of{k}, ptr %args, i64 %nargs, ptr null)",
            f"ret ptr %result{k}",
        ]
    lines += [
        "other:",
        f"%pointer = getelementptr ptr, ptr @runtime, i64 {RUNTIME.index('vectorcall')}",
        "%vectorcall = load ptr, ptr %pointer",
        "%handed = call ptr %vectorcall(ptr %self, ptr %args, i64 %nargs, ptr %kwnames)",
        "ret ptr %handed",
        "}",
    ]
    return "\n".join(lines) + "\n"
