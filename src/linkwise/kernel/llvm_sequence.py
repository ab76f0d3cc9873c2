"""Calls one after the other, as LLVM text: a loop over a table of records that says what to call, copy and skip.

``void @loop_double(ptr table)`` reads records of `WORDS` words of 64 bits, the first of which is one of `OPERATIONS`:

    call      function, arguments, dimensions, steps: the inner loop of a gufunc
    copy      to, from, count: numbers of 64 bits
    unless    address, records: these many are skipped unless the number there is above zero
    skip      records: these many are skipped
    end
"""

from __future__ import annotations

OPERATIONS = ("end", "call", "copy", "unless", "skip")
WORDS = 5


def sequence() -> str:
    """Emit ``@loop_double``."""
    fields = "\n".join(
        f"  %at{k} = getelementptr i64, ptr %record, i64 {k}\n  %word{k} = load i64, ptr %at{k}\n"
        f"  %pointer{k} = inttoptr i64 %word{k} to ptr"
        for k in range(WORDS)
    )
    return f"""
define void @loop_double(ptr %table) #0 {{
entry:
  br label %next
next:
  %record = phi ptr [ %table, %entry ], [ %after, %done ]
{fields}
  switch i64 %word0, label %end [ i64 1, label %call i64 2, label %copy i64 3, label %unless i64 4, label %skip ]
call:
  call void %pointer1(ptr %pointer2, ptr %pointer3, ptr %pointer4, ptr null)
  br label %done
copy:
  %k = phi i64 [ 0, %next ], [ %k1, %element ]
  %more = icmp ult i64 %k, %word3
  br i1 %more, label %element, label %done
element:
  %from = getelementptr i64, ptr %pointer2, i64 %k
  %x = load i64, ptr %from
  %to = getelementptr i64, ptr %pointer1, i64 %k
  store i64 %x, ptr %to
  %k1 = add i64 %k, 1
  br label %copy
unless:
  %above = call i1 @positive(ptr %pointer1)
  %leap.unless = select i1 %above, i64 0, i64 %word2
  br label %done
skip:
  br label %done
done:
  %leap = phi i64 [ 0, %call ], [ 0, %copy ], [ %leap.unless, %unless ], [ %word1, %skip ]
  %ahead = add i64 %leap, 1
  %words = mul i64 %ahead, {WORDS}
  %after = getelementptr i64, ptr %record, i64 %words
  br label %next
end:
  ret void
}}

define internal i1 @positive(ptr %at) #0 {{
  %x = load double, ptr %at, align 8
  %yes = fcmp ogt double %x, 0.0
  ret i1 %yes
}}
"""
