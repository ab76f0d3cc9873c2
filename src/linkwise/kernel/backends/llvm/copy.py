"""Copying an argument with any strides to and from vector lanes, as LLVM text."""

from __future__ import annotations

from linkwise.kernel.backends.llvm.text import Text

DIMENSIONS = 3
"""Greatest number of core dimensions of an input or output."""


def copying(t: Text) -> str:
    """Emit ``copy_in`` and ``copy_out``: an argument with any strides to and from vector lanes.

    Spare lanes get the last row.
    """
    return _copying(t, inward=True) + "\n" + _copying(t, inward=False)


def _copying(t: Text, *, inward: bool) -> str:
    t.begin()
    last = t.emit("sub i64 %lanes, 1") if inward else ""
    with t.loop("element", "%count") as element:
        offset = t.emit(f"call i64 @element(i64 {element}, ptr %steps, ptr %dims)")
        outside = t.at("i8", "%src" if inward else "%dst", offset)
        inside = t.at(t.vector, "%dst" if inward else "%src", element)
        with t.loop("lane", t.width if inward else "%lanes") as lane:
            row = lane
            if inward:
                over = t.emit(f"icmp ugt i64 {lane}, {last}")
                row = t.emit(f"select i1 {over}, i64 {last}, i64 {lane}")
            far = t.at("i8", outside, t.emit(f"mul i64 {row}, %row"))
            near = t.at(t.scalar, inside, lane)
            t.copy(near, far, t.size, 1) if inward else t.copy(far, near, 1, t.size)
        t.do("%count = load i64, ptr %dims")
    t.do("ret void")
    name = "in" if inward else "out"
    arguments = "ptr %src, i64 %lanes, i64 %row, ptr %steps, ptr %dims, ptr %dst"
    return t.function(f"define internal void @copy_{name}_{t.tag}({arguments})", kind="noinline nounwind")


def sending(t: Text) -> str:
    """Emit ``void @send(ptr to, ptr from, i64 bytes)``: copy past the caches. Both lie alike on cache lines."""
    return f"""
define internal void @send_{t.tag}(ptr noalias %to, ptr noalias %from, i64 %bytes) noinline nounwind #0 {{
entry:
  %start = ptrtoint ptr %to to i64
  %minus = sub i64 0, %start
  %gap = and i64 %minus, 63
  %short = icmp ult i64 %bytes, %gap
  %head = select i1 %short, i64 %bytes, i64 %gap
  %lines.end = sub i64 %bytes, 63
  br label %begin
begin:
  %b = phi i64 [ 0, %entry ], [ %b1, %first ]
  %before = icmp ult i64 %b, %head
  br i1 %before, label %first, label %lines
first:
  %p = getelementptr i8, ptr %from, i64 %b
  %q = getelementptr i8, ptr %to, i64 %b
  %x = load {t.scalar}, ptr %p, align {t.size}
  store {t.scalar} %x, ptr %q, align {t.size}
  %b1 = add i64 %b, {t.size}
  br label %begin
lines:
  %l = phi i64 [ %head, %begin ], [ %l1, %line ]
  %full = icmp slt i64 %l, %lines.end
  br i1 %full, label %line, label %rest
line:
{_line(t)}
  %l1 = add i64 %l, 64
  br label %lines
rest:
  %r = phi i64 [ %l, %lines ], [ %r1, %last ]
  %more = icmp ult i64 %r, %bytes
  br i1 %more, label %last, label %done
last:
  %p3 = getelementptr i8, ptr %from, i64 %r
  %q3 = getelementptr i8, ptr %to, i64 %r
  %x3 = load {t.scalar}, ptr %p3, align {t.size}
  store {t.scalar} %x3, ptr %q3, align {t.size}
  %r1 = add i64 %r, {t.size}
  br label %rest
done:
  ret void
}}

!2 = !{{i32 1}}
"""


def _line(t: Text) -> str:
    """One cache line, by one vector or more."""
    lines = []
    for k in range(0, 64, t.vector_size):
        lines += [
            f"  %at{k} = add i64 %l, {k}",
            f"  %from{k} = getelementptr i8, ptr %from, i64 %at{k}",
            f"  %to{k} = getelementptr i8, ptr %to, i64 %at{k}",
            f"  %v{k} = load {t.vector}, ptr %from{k}, align {t.vector_size}",
            f"  store {t.vector} %v{k}, ptr %to{k}, align {t.vector_size}, !nontemporal !2",
        ]
    return "\n".join(lines)


ELEMENT = """
define internal i64 @element(i64 %e, ptr %steps, ptr %dims) alwaysinline nounwind {
  %p1 = getelementptr i64, ptr %dims, i64 2
  %p2 = getelementptr i64, ptr %dims, i64 3
  %d1 = load i64, ptr %p1
  %d2 = load i64, ptr %p2
  %i2 = urem i64 %e, %d2
  %r = udiv i64 %e, %d2
  %i1 = urem i64 %r, %d1
  %i0 = udiv i64 %r, %d1
  %s0 = load i64, ptr %steps
  %q1 = getelementptr i64, ptr %steps, i64 1
  %q2 = getelementptr i64, ptr %steps, i64 2
  %s1 = load i64, ptr %q1
  %s2 = load i64, ptr %q2
  %o0 = mul i64 %i0, %s0
  %o1 = mul i64 %i1, %s1
  %o2 = mul i64 %i2, %s2
  %o01 = add i64 %o0, %o1
  %o = add i64 %o01, %o2
  ret i64 %o
}
"""
