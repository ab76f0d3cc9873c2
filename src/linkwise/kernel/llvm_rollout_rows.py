"""Moving the arrays of a rollout to and from vector lanes, and vectors from place to place, as LLVM text."""

from __future__ import annotations

from linkwise.kernel.llvm_rows import rows_in, rows_out
from linkwise.kernel.llvm_text import Text


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
    verb = "read" if inward else "write"
    head = f"define internal void @{verb}_{name}(ptr %port, i64 %begin, i64 %lanes, i64 %k, ptr %block) noinline #0 {{"
    return "\n".join([head, "entry:", *t.lines, "}"])


def _slowly(t: Text, size: int, *, inward: bool) -> None:
    """One element of one lane after the other."""
    t.do("%final = sub i64 %lanes, 1")
    t.do("br label %lane")
    t.start("lane")
    t.do("%l = phi i64 [ 0, %slow ], [ %l.next, %done ]")
    t.do("%beyond = icmp ugt i64 %l, %final")
    t.do("%real = select i1 %beyond, i64 %final, i64 %l")
    t.do("%shift = mul i64 %real, %row")
    t.do("%source = getelementptr i8, ptr %here, i64 %shift")
    t.do("br label %element")
    t.start("element")
    t.do("%e = phi i64 [ 0, %lane ], [ %e.next, %element ]")
    t.do(f"%far = getelementptr {t.scalar}, ptr %source, i64 %e")
    t.do(f"%wide = mul i64 %e, {t.width}")
    t.do("%place = add i64 %wide, %l")
    t.do(f"%near = getelementptr {t.scalar}, ptr %block, i64 %place")
    source, target = ("%far", "%near") if inward else ("%near", "%far")
    t.do(f"%x = load {t.scalar}, ptr {source}, align {t.size}")
    t.do(f"store {t.scalar} %x, ptr {target}, align {t.size}")
    t.do("%e.next = add i64 %e, 1")
    t.do(f"%again = icmp ult i64 %e.next, {size}")
    t.do("br i1 %again, label %element, label %done")
    t.start("done")
    t.do("%l.next = add i64 %l, 1")
    t.do(f"%further = icmp ult i64 %l.next, {t.width if inward else '%lanes'}")
    t.do("br i1 %further, label %lane, label %out")
    t.start("out")
    t.do("ret void")


def moving(t: Text) -> str:
    """Emit ``void @move(ptr to, ptr from, i64 count)``: so many vectors, one or more, from one place to another."""
    v, align = t.vector, t.vector_size
    return f"""
define internal void @move(ptr %to, ptr %from, i64 %count) noinline nounwind {{
entry:
  br label %loop
loop:
  %k = phi i64 [ 0, %entry ], [ %k1, %loop ]
  %source = getelementptr {v}, ptr %from, i64 %k
  %target = getelementptr {v}, ptr %to, i64 %k
  %x = load {v}, ptr %source, align {align}
  store {v} %x, ptr %target, align {align}
  %k1 = add i64 %k, 1
  %more = icmp ult i64 %k1, %count
  br i1 %more, label %loop, label %done
done:
  ret void
}}
"""
