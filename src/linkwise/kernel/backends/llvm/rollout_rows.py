"""Moving the arrays of a rollout to and from vector lanes, and vectors from place to place, as LLVM text."""

from __future__ import annotations

from dataclasses import replace

from linkwise.kernel.backends.llvm.rows import rows_in, rows_out
from linkwise.kernel.backends.llvm.text import Text


def port(t: Text, name: str, size: int, *, inward: bool) -> str:
    """Emit ``@read_NAME`` or ``@write_NAME``: the rows of one array at one instant, to or from lanes.

    Spare lanes get the last row, and are not written.
    """
    t.do("%row.at = getelementptr i64, ptr %port, i64 1")
    t.do("%time.at = getelementptr i64, ptr %port, i64 2")
    t.do("%data = load ptr, ptr %port")
    t.do("%row = load i64, ptr %row.at")
    t.do("%time = load i64, ptr %time.at")
    index = "%k"
    if inward:
        t.do("%last.at = getelementptr i64, ptr %port, i64 3")
        t.do("%last = load i64, ptr %last.at")
        t.do("%past = icmp ugt i64 %k, %last")
        index = t.emit("select i1 %past, i64 %last, i64 %k")
    t.do("%skip = mul i64 %begin, %row")
    t.do(f"%passed = mul i64 {index}, %time")
    t.do("%offset = add i64 %skip, %passed")
    t.do("%here = getelementptr i8, ptr %data, i64 %offset")
    t.do(f"%all = icmp eq i64 %lanes, {t.width}")
    t.do("br i1 %all, label %fast, label %slow")
    t.start("fast")
    rows = ["%here"]
    for _ in range(1, t.width):
        rows.append(t.emit(f"getelementptr i8, ptr {rows[-1]}, i64 %row"))
    (rows_in if inward else rows_out)(t, rows, "%block", size)
    t.do("ret void")
    t.start("slow")
    _slowly(t, size, inward=inward)
    head = f"define internal void @{'read' if inward else 'write'}_{name}"
    return t.function(f"{head}(ptr %port, i64 %begin, i64 %lanes, i64 %k, ptr %block) noinline").rstrip()


def _slowly(t: Text, size: int, *, inward: bool) -> None:
    """One element of one lane after the other; spare lanes get the last row."""
    last = t.emit("sub i64 %lanes, 1")
    with t.loop("lane", t.width if inward else "%lanes") as lane:
        beyond = t.emit(f"icmp ugt i64 {lane}, {last}")
        row = t.emit(f"select i1 {beyond}, i64 {last}, i64 {lane}")
        start = t.at("i8", "%here", t.emit(f"mul i64 {row}, %row"))
        with t.loop("element", size) as element:
            far = t.at(t.scalar, start, element)
            wide = t.emit(f"mul i64 {element}, {t.width}")
            near = t.at(t.scalar, "%block", t.emit(f"add i64 {wide}, {lane}"))
            t.copy(*((near, far) if inward else (far, near)), t.size, t.size)
    t.do("ret void")


def moving(t: Text) -> str:
    """Emit ``void @move(ptr to, ptr from, i64 count)``: so many vectors, one or more, from one place to another."""
    t = replace(t, lines=[], state={"names": 0, "block": "entry"})
    with t.loop("loop", "%count") as k:
        source, target = t.at(t.vector, "%from", k), t.at(t.vector, "%to", k)
        value = t.emit(f"load {t.vector}, ptr {source}, align {t.vector_size}")
        t.do(f"store {t.vector} {value}, ptr {target}, align {t.vector_size}")
    t.do("ret void")
    return t.function("define internal void @move(ptr %to, ptr %from, i64 %count)", kind="noinline nounwind")
