"""Lanes that take steps until they are done, and are refilled: the loop around the arithmetic of a step, as LLVM text.

``void @loop_double(ptr args, ptr dimensions, ptr steps, ptr data)`` is the inner loop of the gufunc that
`linkwise.kernel.iteration` describes. Where there are fewer tasks than lanes, the lanes take the starts of one task side by
side, and the first start in order that arrives counts: what comes out is the same as with one start after the other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from linkwise.kernel.backends.llvm import lowering as llvm
from linkwise.kernel.backends.llvm.body import body
from linkwise.kernel.backends.llvm.loading import gufunc_of, laned, load_made
from linkwise.kernel.backends.llvm.processor import machine_key
from linkwise.kernel.backends.llvm.rows import moving, set_constants
from linkwise.kernel.backends.llvm.text import Text
from linkwise.kernel.gufunc import Face
from linkwise.kernel.iteration import IterationProgram


def descent(program: IterationProgram, t: Text) -> list[str]:
    """Emit the body of a step, what moves rows, and ``@loop_double``."""
    arithmetic = body(program.step, t)
    t.begin()
    set_constants(t, program.step, "%out")
    constants = f"define internal void @constants(ptr %out) noinline #0 {{\n{chr(10).join(t.lines)}\n  ret void\n}}\n"
    return [arithmetic, constants, moving(t), _rows(t), *_lanes(program, t)]


def _rows(t: Text) -> str:
    """One row of numbers to one lane of a block, from an element on, and back from its beginning; zero or more numbers."""
    return _copy("put", "ptr %block, i64 %first, i64 %lane", t, ("%row", "%k"), ("%block", "%place"), "%first") + _copy(
        "get", "ptr %block, i64 %lane", t, ("%block", "%place"), ("%row", "%k"), "0"
    )


def _copy(name: str, arguments: str, t: Text, source: tuple[str, str], target: tuple[str, str], first: str) -> str:
    """A loop over the numbers of a row: ``%k`` counts them, ``%place`` is where they stand in the block."""
    return f"""
define internal void @{name}({arguments}, ptr %row, i64 %count) #0 {{
entry:
  br label %test
test:
  %k = phi i64 [ 0, %entry ], [ %k1, %act ]
  %more = icmp ult i64 %k, %count
  br i1 %more, label %act, label %done
act:
  %at = add i64 {first}, %k
  %wide = mul i64 %at, {t.width}
  %place = add i64 %wide, %lane
  %from = getelementptr double, ptr {source[0]}, i64 {source[1]}
  %x = load double, ptr %from, align 8
  %to = getelementptr double, ptr {target[0]}, i64 {target[1]}
  store double %x, ptr %to, align 8
  %k1 = add i64 %k, 1
  br label %test
done:
  ret void
}}
"""


def _lanes(program: IterationProgram, t: Text) -> list[str]:
    """Beginning a lane, writing one out, and the loop over tasks."""
    sizes = program.sizes
    state = sizes["parameters"] + sizes["q0"] + sizes["settings"]
    row_length = sizes["q0"] + sizes["aux"] + 1
    zeros = f"@zeros = internal constant [{sizes['aux']} x double] zeroinitializer"
    align = max(64, t.vector_size)
    width, whole = t.width, (1 << t.width) - 1
    loop = _one_by_one(t) if width == 1 else f"{_side_by_side(width)}{_abreast(width, whole)}\n{_refill(width, whole)}"
    main = f"""
define void @loop_double(ptr %args, ptr %dimensions, ptr %steps, ptr %data{t.share}) #0 {{
entry:
  %in = alloca [{state + row_length - 1} x {t.vector}], align {align}
  %out = alloca [{row_length} x {t.vector}], align {align}
  %task.of = alloca [{width} x i64], align 8
  %attempt.of = alloca [{width} x i64], align 8
  %count = load i64, ptr %dimensions
  %starts.at = getelementptr i64, ptr %dimensions, i64 3
  %starts = load i64, ptr %starts.at
  %attempts = add i64 %starts, 1
  %none = icmp sle i64 %count, {t.first}
  br i1 %none, label %end, label %choose
choose:
  call void @constants(ptr %out)
{loop}end:
  ret void
}}
"""
    return [zeros, _begin(program, t), main]


def _begin(program: IterationProgram, t: Text) -> str:
    """Emit ``@begin``, ``@finish`` and ``@advance``: a task put into a lane, its row written, a step of all lanes."""
    sizes = program.sizes
    p, n, s, aux = sizes["parameters"], sizes["q0"], sizes["settings"], sizes["aux"]
    state, width, row_length = p + n + s, t.width, n + aux + 1
    return f"""
define internal void @begin(ptr %args, ptr %steps, ptr %in, i64 %lane, i64 %task, i64 %attempt) noinline #0 {{
entry:
  {_argument(0)}
  {_argument(1)}
  {_argument(2)}
  {_argument(3)}
  call void @put(ptr %in, i64 0, i64 %lane, ptr %row0, i64 {p})
  call void @put(ptr %in, i64 {p}, i64 %lane, ptr %row1, i64 {n})
  call void @put(ptr %in, i64 {p + n}, i64 %lane, ptr %row3, i64 {s})
  %first = icmp eq i64 %attempt, 0
  %before = sub i64 %attempt, 1
  %skip = mul i64 %before, {n}
  %start = getelementptr double, ptr %row2, i64 %skip
  %from = select i1 %first, ptr %row1, ptr %start
  call void @put(ptr %in, i64 {state}, i64 %lane, ptr %from, i64 {n})
  call void @put(ptr %in, i64 {state + n}, i64 %lane, ptr @zeros, i64 {aux})
  ret void
}}

define internal void @finish(ptr %args, ptr %steps, ptr %out, i64 %lane, i64 %task) noinline #0 {{
entry:
  {_argument(4)}
  call void @get(ptr %out, i64 %lane, ptr %row4, i64 {row_length})
  ret void
}}

define internal i64 @advance(ptr %in, ptr %out) noinline #0 {{
entry:
  call void @body_{t.tag}(ptr %in, ptr %out)
  %state = getelementptr {t.vector}, ptr %in, i64 {state}
  call void @move(ptr %state, ptr %out, i64 {n + aux})
  %at = getelementptr {t.vector}, ptr %out, i64 {row_length - 1}
  %status = load {t.vector}, ptr %at, align {t.vector_size}
  %over = fcmp une {t.vector} %status, {t.number(0.0)}
  %good = fcmp ogt {t.vector} %status, {t.number(0.0)}
  %over.bits = bitcast <{width} x i1> %over to i{width}
  %good.bits = bitcast <{width} x i1> %good to i{width}
  %over.word = zext i{width} %over.bits to i64
  %good.word = zext i{width} %good.bits to i64
  %high = shl i64 %good.word, 32
  %both = or i64 %over.word, %high
  ret i64 %both
}}
"""


def _one_by_one(t: Text) -> str:
    """One lane: every `step`-th task from the first on, one start after the other."""
    return f"""  br label %task
task:
  %j = phi i64 [ {t.first}, %choose ], [ %j1, %write ]
  br label %start
start:
  %attempt = phi i64 [ 0, %task ], [ %attempt1, %tried ]
  call void @begin(ptr %args, ptr %steps, ptr %in, i64 0, i64 %j, i64 %attempt)
  br label %run
run:
  %both = call i64 @advance(ptr %in, ptr %out)
  %quiet = icmp eq i64 %both, 0
  br i1 %quiet, label %run, label %tried
tried:
  %solved = icmp ugt i64 %both, 1
  %attempt1 = add i64 %attempt, 1
  %spent = icmp uge i64 %attempt1, %attempts
  %final = or i1 %solved, %spent
  br i1 %final, label %write, label %start
write:
  call void @finish(ptr %args, ptr %steps, ptr %out, i64 0, i64 %j)
  %j1 = add i64 %j, {t.step}
  %more.task = icmp ult i64 %j1, %count
  br i1 %more.task, label %task, label %end
"""


def _side_by_side(width: int) -> str:
    """Whether lanes take the starts of one task, or tasks."""
    return f"""  %few = icmp slt i64 %count, {width}
  %several = icmp sgt i64 %starts, 0
  %abreast = and i1 %few, %several
  br i1 %abreast, label %task, label %fill
"""


def _abreast(width: int, whole: int) -> str:
    """Fewer tasks than lanes: the lanes take the starts of one task side by side, the first that arrives counts."""
    return f"""
task:
  %j = phi i64 [ 0, %choose ], [ %j1, %task.done ]
  br label %heat
heat:
  %first = phi i64 [ 0, %task ], [ %first1, %heat.lost ]
  br label %line
line:
  %l = phi i64 [ 0, %heat ], [ %l1, %line ]
  %a = add i64 %first, %l
  %real = icmp ult i64 %a, %attempts
  %a.real = select i1 %real, i64 %a, i64 0
  call void @begin(ptr %args, ptr %steps, ptr %in, i64 %l, i64 %j, i64 %a.real)
  %l1 = add i64 %l, 1
  %more.line = icmp ult i64 %l1, {width}
  br i1 %more.line, label %line, label %go
go:
  %left = sub i64 %attempts, %first
  %crowd = icmp uge i64 %left, {width}
  %bit.left = shl i64 1, %left
  %mask.left = sub i64 %bit.left, 1
  %all = select i1 %crowd, i64 {whole}, i64 %mask.left
  br label %run
run:
  %running = phi i64 [ %all, %go ], [ %running, %run ], [ %running1, %checked ]
  %won = phi i64 [ 0, %go ], [ %won, %run ], [ %won1, %checked ]
  %both = call i64 @advance(ptr %in, ptr %out)
  %over = and i64 %both, %running
  %quiet = icmp eq i64 %over, 0
  br i1 %quiet, label %run, label %check
check:
  %good.high = lshr i64 %both, 32
  %good = and i64 %good.high, %running
  %still = icmp eq i64 %good, 0
  br i1 %still, label %lost, label %gained
gained:
  %winner = call i64 @llvm.cttz.i64(i64 %good, i1 true)
  call void @finish(ptr %args, ptr %steps, ptr %out, i64 %winner, i64 %j)
  %bit = shl i64 1, %winner
  %below = sub i64 %bit, 1
  br label %checked
lost:
  %any = icmp eq i64 %won, 0
  br i1 %any, label %note, label %noted
note:
  %loser = call i64 @llvm.cttz.i64(i64 %over, i1 true)
  call void @finish(ptr %args, ptr %steps, ptr %out, i64 %loser, i64 %j)
  br label %noted
noted:
  br label %checked
checked:
  %keep = phi i64 [ %below, %gained ], [ {whole}, %noted ]
  %won1 = phi i64 [ 1, %gained ], [ %won, %noted ]
  %not = xor i64 %over, -1
  %less = and i64 %running, %not
  %running1 = and i64 %less, %keep
  %again = icmp ne i64 %running1, 0
  br i1 %again, label %run, label %heat.over
heat.over:
  %found = icmp ne i64 %won1, 0
  br i1 %found, label %task.done, label %heat.lost
heat.lost:
  %first1 = add i64 %first, {width}
  %rest = icmp ult i64 %first1, %attempts
  br i1 %rest, label %heat, label %task.done
task.done:
  %j1 = add i64 %j, 1
  %more.task = icmp ult i64 %j1, %count
  br i1 %more.task, label %task, label %end"""


def _refill(width: int, whole: int) -> str:
    """A task a lane; a lane that is done takes the next start or the next task."""
    return f"""
fill:
  %f = phi i64 [ 0, %choose ], [ %f1, %fill ]
  %has = icmp ult i64 %f, %count
  %f.real = select i1 %has, i64 %f, i64 0
  call void @begin(ptr %args, ptr %steps, ptr %in, i64 %f, i64 %f.real, i64 0)
  %task.f = getelementptr i64, ptr %task.of, i64 %f
  store i64 %f.real, ptr %task.f
  %attempt.f = getelementptr i64, ptr %attempt.of, i64 %f
  store i64 0, ptr %attempt.f
  %f1 = add i64 %f, 1
  %more.fill = icmp ult i64 %f1, {width}
  br i1 %more.fill, label %fill, label %filled
filled:
  %full = icmp uge i64 %count, {width}
  %bit.count = shl i64 1, %count
  %mask.count = sub i64 %bit.count, 1
  %lanes = select i1 %full, i64 {whole}, i64 %mask.count
  %begun = select i1 %full, i64 {width}, i64 %count
  br label %step
step:
  %active = phi i64 [ %lanes, %filled ], [ %active, %step ], [ %active1, %resume ]
  %next = phi i64 [ %begun, %filled ], [ %next, %step ], [ %next1, %resume ]
  %word = call i64 @advance(ptr %in, ptr %out)
  %stopped = and i64 %word, %active
  %calm = icmp eq i64 %stopped, 0
  br i1 %calm, label %step, label %sort
sort:
  %good.word = lshr i64 %word, 32
  br label %handle
handle:
  %bits = phi i64 [ %stopped, %sort ], [ %bits1, %handled ]
  %active0 = phi i64 [ %active, %sort ], [ %active1, %handled ]
  %next0 = phi i64 [ %next, %sort ], [ %next1, %handled ]
  %lane = call i64 @llvm.cttz.i64(i64 %bits, i1 true)
  %lane.bit = shl i64 1, %lane
  %solved.bit = and i64 %good.word, %lane.bit
  %solved = icmp ne i64 %solved.bit, 0
  %attempt.at = getelementptr i64, ptr %attempt.of, i64 %lane
  %attempt = load i64, ptr %attempt.at
  %attempt1 = add i64 %attempt, 1
  %spent = icmp uge i64 %attempt1, %attempts
  %final = or i1 %solved, %spent
  %task.at = getelementptr i64, ptr %task.of, i64 %lane
  %its = load i64, ptr %task.at
  br i1 %final, label %write, label %retry
retry:
  store i64 %attempt1, ptr %attempt.at
  call void @begin(ptr %args, ptr %steps, ptr %in, i64 %lane, i64 %its, i64 %attempt1)
  br label %handled
write:
  call void @finish(ptr %args, ptr %steps, ptr %out, i64 %lane, i64 %its)
  %waiting = icmp ult i64 %next0, %count
  br i1 %waiting, label %fresh, label %idle
fresh:
  store i64 %next0, ptr %task.at
  store i64 0, ptr %attempt.at
  call void @begin(ptr %args, ptr %steps, ptr %in, i64 %lane, i64 %next0, i64 0)
  %next.up = add i64 %next0, 1
  br label %handled
idle:
  %lane.not = xor i64 %lane.bit, -1
  %active.less = and i64 %active0, %lane.not
  br label %handled
handled:
  %active1 = phi i64 [ %active0, %retry ], [ %active0, %fresh ], [ %active.less, %idle ]
  %next1 = phi i64 [ %next0, %retry ], [ %next.up, %fresh ], [ %next0, %idle ]
  %bits.less = sub i64 %bits, 1
  %bits1 = and i64 %bits, %bits.less
  %more.bits = icmp ne i64 %bits1, 0
  br i1 %more.bits, label %handle, label %handled.all
handled.all:
  %going = icmp ne i64 %active1, 0
  br i1 %going, label %resume, label %end
resume:
  br label %step
"""


def _argument(k: int) -> str:
    """The row of one argument for the task at hand."""
    return (
        f"%args{k} = getelementptr ptr, ptr %args, i64 {k}\n  %data{k} = load ptr, ptr %args{k}\n"
        f"  %steps{k} = getelementptr i64, ptr %steps, i64 {k}\n  %step{k} = load i64, ptr %steps{k}\n"
        f"  %skip{k} = mul i64 %task, %step{k}\n  %row{k} = getelementptr i8, ptr %data{k}, i64 %skip{k}"
    )


def compiled(program: IterationProgram, lanes: int | None) -> Callable[..., Any]:
    """A program as a gufunc; see `linkwise.kernel.iteration.Descent`."""
    key = machine_key(laned(program.digest, lanes), "float64")
    code = load_made(key, lambda: object_code(program, lanes), lambda: llvm.vectors("float64", lanes).tag)
    sizes = program.sizes
    inputs: dict[str, tuple[int | str, ...]] = {"parameters": ("p",), "q0": ("n",), "starts": ("k", "n"), "settings": ("s",)}
    face = Face(program.step.name, inputs, {"found": (sizes["q"] + sizes["aux"] + 1,)})
    return gufunc_of(code, face)


def object_code(program: IterationProgram, lanes: int | None = None) -> bytes:
    """Compile a program to an object file."""
    return llvm.compiled(llvm.module(descent(program, llvm.host().text("double", lanes))))
