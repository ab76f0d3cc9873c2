"""Copying an argument with any strides to and from vector lanes, as LLVM text."""

from __future__ import annotations

from linkwise.kernel.llvm_text import Text

DIMENSIONS = 3
"""Greatest number of core dimensions of an input or output."""


def copying(t: Text) -> str:
    """Emit ``copy_in`` and ``copy_out``: an argument with any strides to and from vector lanes."""
    s, w, align = t.scalar, t.width, t.size
    return f"""
define internal void @copy_in_{t.tag}(ptr %src, i64 %lanes, i64 %row, ptr %steps, ptr %dims, ptr %dst) noinline nounwind {{
entry:
  %last = sub i64 %lanes, 1
  br label %loop
loop:
  %e = phi i64 [ 0, %entry ], [ %e1, %next ]
  %off = call i64 @element(i64 %e, ptr %steps, ptr %dims)
  %from = getelementptr i8, ptr %src, i64 %off
  %to = getelementptr {t.vector}, ptr %dst, i64 %e
  br label %lane
lane:
  %l = phi i64 [ 0, %loop ], [ %l1, %lane ]
  %over = icmp ugt i64 %l, %last
  %real = select i1 %over, i64 %last, i64 %l
  %shift = mul i64 %real, %row
  %p = getelementptr i8, ptr %from, i64 %shift
  %x = load {s}, ptr %p, align 1
  %q = getelementptr {s}, ptr %to, i64 %l
  store {s} %x, ptr %q, align {align}
  %l1 = add i64 %l, 1
  %more = icmp ult i64 %l1, {w}
  br i1 %more, label %lane, label %next
next:
  %e1 = add i64 %e, 1
  %count = load i64, ptr %dims
  %again = icmp ult i64 %e1, %count
  br i1 %again, label %loop, label %done
done:
  ret void
}}

define internal void @copy_out_{t.tag}(ptr %src, i64 %lanes, i64 %row, ptr %steps, ptr %dims, ptr %dst) noinline nounwind {{
entry:
  br label %loop
loop:
  %e = phi i64 [ 0, %entry ], [ %e1, %next ]
  %off = call i64 @element(i64 %e, ptr %steps, ptr %dims)
  %to = getelementptr i8, ptr %dst, i64 %off
  %from = getelementptr {t.vector}, ptr %src, i64 %e
  br label %lane
lane:
  %l = phi i64 [ 0, %loop ], [ %l1, %lane ]
  %q = getelementptr {s}, ptr %from, i64 %l
  %x = load {s}, ptr %q, align {align}
  %shift = mul i64 %l, %row
  %p = getelementptr i8, ptr %to, i64 %shift
  store {s} %x, ptr %p, align 1
  %l1 = add i64 %l, 1
  %more = icmp ult i64 %l1, %lanes
  br i1 %more, label %lane, label %next
next:
  %e1 = add i64 %e, 1
  %count = load i64, ptr %dims
  %again = icmp ult i64 %e1, %count
  br i1 %again, label %loop, label %done
done:
  ret void
}}
"""


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
