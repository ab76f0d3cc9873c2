"""The two passes of `linkwise.kernel.reachability` over the nodes of a path, as LLVM text; limits in vector lanes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from linkwise.kernel.backends.llvm import lowering as llvm
from linkwise.kernel.backends.llvm.loading import load_made
from linkwise.kernel.backends.llvm.processor import machine_key
from linkwise.kernel.backends.llvm.text import Text, scalar
from linkwise.kernel.gufunc import LOOP, Face, Memory, make
from linkwise.kernel.reachability import EDGES, LANES, ROUNDING, STEPS

#: Counts the changes of this text, so that object code of an older one is not used.
LOWERING = "5"

VECTOR, PAIR = f"<{LANES} x double>", "{ double, double }"
#: The bounds of u, and what order makes one of two lines the tighter one.
SIDES = (("low", "ogt"), ("high", "olt"))
NAN, INFINITE = "0x7FF8000000000000", "0x7FF0000000000000"

FACE = Face("profiles", {"lines": ("n", "b", 3, LANES), "cap": ("m",), "rate": ("n",), "ends": (2,)}, {"sets": ("m", 3)})


@cache
def compiled() -> Callable[..., Any]:
    """The passes as a gufunc."""
    code = load_made(machine_key(f"reachability {LOWERING}", "float64"), lambda: llvm.compiled(llvm.module(parts())))
    memory = Memory(FACE, [("float64", LOOP(code.address("loop_double")))], "")
    memory.held.append(code)
    gufunc: Callable[..., Any] = make(memory, 4, 1)
    return gufunc


def parts() -> list[str]:
    """``@bounds``, ``@values``, the two searches, and ``@loop_double`` over the arguments of `FACE`."""
    return [_bounds(), _values(), _search("downward"), _search("upward"), _main((*FACE.inputs, *FACE.outputs))]


def along_paths(names: Sequence[str], fill: str) -> list[str]:
    """The same for arguments of these names, among them ``x``, ``times`` and ``edges``, which are written.

    The call `fill` writes the lines of an interval ``{k}``, the cap at the node after it, and whether its limits allow u = 0
    at x = 0; it is made one interval ahead of the backward pass, which leaves the processor free for it.
    """
    return [*parts()[:-1], _main(names, fill)]


def _bounds() -> str:
    """Least upper and greatest lower bound of u at x, their slopes and their values at x = 0: six numbers."""
    fused = llvm.host().has_fma
    line = "call {v} @llvm.fma.v{n}f64({v} %slope, {v} %xs, {v} %{side})" if fused else "fadd {v} %slope.x, %{side}"
    lows, highs = (line.format(v=VECTOR, n=LANES, side=side) for side in ("low", "high"))
    product = "" if fused else f"  %slope.x = fmul {VECTOR} %slope, %xs\n"
    sources = {"low.first": "low.begin", "high.first": "high.begin", "slope.first": "slope.begin", "x": "xs"}
    sources |= {"low.ahead": "low.set", "high.ahead": "high.set"}
    spread = "".join(_spread(source, target) for source, target in sources.items())
    return f"""
define internal void @bounds(ptr %lines, i64 %blocks, double %rate, ptr %next, double %x, ptr %out) #0 {{
entry:
  %next.low = load double, ptr %next
  %next.high.at = getelementptr double, ptr %next, i64 1
  %next.high = load double, ptr %next.high.at
  %low.gap = fsub double %next.low, %x
  %high.gap = fsub double %next.high, %x
  %low.first = fmul double %low.gap, %rate
  %high.first = fmul double %high.gap, %rate
  %slope.first = fneg double %rate
  %low.ahead = fmul double %next.low, %rate
  %high.ahead = fmul double %next.high, %rate
{spread}
  br label %test
test:
  %k = phi i64 [ 0, %entry ], [ %k1, %act ]
  %low.best = phi {VECTOR} [ %low.begin, %entry ], [ %low.better, %act ]
  %low.slope = phi {VECTOR} [ %slope.begin, %entry ], [ %low.slope1, %act ]
  %low.start = phi {VECTOR} [ %low.set, %entry ], [ %low.start1, %act ]
  %high.best = phi {VECTOR} [ %high.begin, %entry ], [ %high.better, %act ]
  %high.slope = phi {VECTOR} [ %slope.begin, %entry ], [ %high.slope1, %act ]
  %high.start = phi {VECTOR} [ %high.set, %entry ], [ %high.start1, %act ]
  %more = icmp ult i64 %k, %blocks
  br i1 %more, label %act, label %done
act:
  %skip = mul i64 %k, 3
  %block = getelementptr {VECTOR}, ptr %lines, i64 %skip
  %low.at = getelementptr {VECTOR}, ptr %block, i64 1
  %high.at = getelementptr {VECTOR}, ptr %block, i64 2
  %slope = load {VECTOR}, ptr %block, align 8
  %low = load {VECTOR}, ptr %low.at, align 8
  %high = load {VECTOR}, ptr %high.at, align 8
{product}  %low.value = {lows}
  %high.value = {highs}
  %low.is = fcmp ogt {VECTOR} %low.value, %low.best
  %high.is = fcmp olt {VECTOR} %high.value, %high.best
  %low.better = select <{LANES} x i1> %low.is, {VECTOR} %low.value, {VECTOR} %low.best
  %low.slope1 = select <{LANES} x i1> %low.is, {VECTOR} %slope, {VECTOR} %low.slope
  %low.start1 = select <{LANES} x i1> %low.is, {VECTOR} %low, {VECTOR} %low.start
  %high.better = select <{LANES} x i1> %high.is, {VECTOR} %high.value, {VECTOR} %high.best
  %high.slope1 = select <{LANES} x i1> %high.is, {VECTOR} %slope, {VECTOR} %high.slope
  %high.start1 = select <{LANES} x i1> %high.is, {VECTOR} %high, {VECTOR} %high.start
  %k1 = add i64 %k, 1
  br label %test
done:
{_reduced("low", "ogt", 0)}{_reduced("high", "olt", 3)}
  ret void
}}
"""


def _values() -> str:
    """Least upper and greatest lower bound of u at x alone, which most nodes need no more than."""
    t = Text("double", LANES, llvm.host().has_fma)
    t.begin()
    rate, x = t.broadcast("%rate"), t.broadcast("%x")
    gaps = [t.emit(f"fsub double {t.load('double', '%next', k)}, %x") for k in range(2)]
    sides = [(name, order, t.op("fmul", t.broadcast(gap), rate)) for (name, order), gap in zip(SIDES, gaps, strict=True)]
    t.go_on("test")
    t.do("%k = phi i64 [ 0, %entry ], [ %k1, %act ]")
    for name, _, first in sides:
        t.do(f"%{name} = phi {VECTOR} [ {first}, %entry ], [ %{name}.better, %act ]")
    t.do("%more = icmp ult i64 %k, %blocks")
    t.do("br i1 %more, label %act, label %done")
    t.start("act")
    block = t.at(VECTOR, "%lines", t.emit("mul i64 %k, 3"))
    slope, *starts = (t.emit(f"load {VECTOR}, ptr {t.at(VECTOR, block, row)}, align 8") for row in range(3))
    for (name, order, _), start in zip(sides, starts, strict=True):
        value = t.fma(slope, x, start)
        test = t.emit(f"fcmp {order} {VECTOR} {value}, %{name}")
        t.do(f"%{name}.better = select <{LANES} x i1> {test}, {VECTOR} {value}, {VECTOR} %{name}")
    t.do("%k1 = add i64 %k, 1")
    t.do("br label %test")
    t.start("done")
    pair = "undef"
    for k, (side, order, _) in enumerate(sides):
        best, half = f"%{side}", LANES // 2
        while half:
            mask = f"<{LANES} x i32> <{', '.join(f'i32 {k ^ half}' for k in range(LANES))}>"
            other = t.emit(f"shufflevector {VECTOR} {best}, {VECTOR} poison, {mask}")
            best, half = t.choose(t.emit(f"fcmp {order} {VECTOR} {best}, {other}"), best, other), half // 2
        number = t.emit(f"extractelement {VECTOR} {best}, i32 0")
        pair = t.emit(f"insertvalue {PAIR} {pair}, double {number}, {k}")
    t.do(f"ret {PAIR} {pair}")
    return t.function(f"define internal {PAIR} @values(ptr %lines, i64 %blocks, double %rate, ptr %next, double %x)")


def _spread(source: str, target: str) -> str:
    """One number in all lanes."""
    return (
        f"  %{target}.one = insertelement {VECTOR} undef, double %{source}, i32 0\n"
        f"  %{target} = shufflevector {VECTOR} %{target}.one, {VECTOR} undef, <{LANES} x i32> zeroinitializer\n"
    )


def _reduced(side: str, order: str, place: int) -> str:
    """The best of all lanes, its slope and its value at x = 0, by halves, written to three places of ``%out``."""
    lines, half = [], LANES // 2
    values = [f"%{side}.{word}" for word in ("best", "slope", "start")]
    while half:
        mask = f"<{LANES} x i32> <{', '.join(f'i32 {k ^ half}' for k in range(LANES))}>"
        others = [f"{value}.other{half}" for value in values]
        for other, value in zip(others, values, strict=True):
            lines.append(f"  {other} = shufflevector {VECTOR} {value}, {VECTOR} undef, {mask}")
        lines.append(f"  %{side}.test{half} = fcmp {order} {VECTOR} {others[0]}, {values[0]}")
        for other, value in zip(others, values, strict=True):
            lines.append(f"  {value}.{half} = select <{LANES} x i1> %{side}.test{half}, {VECTOR} {other}, {VECTOR} {value}")
        values, half = [f"{value}.{half}" for value in values], half // 2
    for k, value in enumerate(values):
        lines.append(f"  {value}.one = extractelement {VECTOR} {value}, i32 0")
        lines.append(f"  {value}.place = getelementptr double, ptr %out, i64 {place + k}")
        lines.append(f"  store double {value}.one, ptr {value}.place")
    return "\n".join(lines) + "\n"


def _loaded(prefix: str = "") -> str:
    """The six numbers that ``@bounds`` has written."""
    names = [f"{prefix}{name}" for name in ("low", "low.slope", "low.start", "high", "high.slope", "high.start")]
    return "\n".join(
        f"  %{name}.from = getelementptr double, ptr %space, i64 {k}\n  %{name} = load double, ptr %{name}.from"
        for k, name in enumerate(names)
    )


def _search(direction: str) -> str:
    """From x on, downward or upward, the first at which there is room for u; NaN where there is none."""
    towards, onward = ("olt", "olt") if direction == "downward" else ("ogt", "ogt")
    return f"""
define internal double @{direction}(ptr %lines, i64 %blocks, double %rate, ptr %next, double %start, ptr %space) #0 {{
entry:
  %next.high.at = getelementptr double, ptr %next, i64 1
  %next.high = load double, ptr %next.high.at
  %size = fadd double %start, %next.high
  %room = fmul double %size, {scalar(-ROUNDING, "double").split()[-1]}
  %first.pair = call {PAIR} @values(ptr %lines, i64 %blocks, double %rate, ptr %next, double %start)
  %first.low = extractvalue {PAIR} %first.pair, 0
  %first.high = extractvalue {PAIR} %first.pair, 1
  %room.there = fcmp ole double %first.low, %first.high
  br i1 %room.there, label %first, label %step
first:
  ret double %start
step:
  %x = phi double [ %start, %entry ], [ %kept, %again ]
  %k = phi i64 [ 0, %entry ], [ %k1, %again ]
  call void @bounds(ptr %lines, i64 %blocks, double %rate, ptr %next, double %x, ptr %space)
{_loaded()}
  %gap = fsub double %high, %low
  %open = fcmp oge double %gap, 0.0
  br i1 %open, label %stay, label %newton
newton:
  %slope = fsub double %high.slope, %low.slope
  %right = fcmp {towards} double %slope, 0.0
  br i1 %right, label %move, label %empty
move:
  %apart = fsub double %low.start, %high.start
  %moved = fdiv double %apart, %slope
  %negative = fcmp olt double %moved, %room
  br i1 %negative, label %empty, label %keep
keep:
  %below = fcmp olt double %moved, 0.0
  %kept = select i1 %below, double 0.0, double %moved
  %progress = fcmp {onward} double %kept, %x
  br i1 %progress, label %again, label %stay
again:
  %k1 = add i64 %k, 1
  %more = icmp ult i64 %k1, {STEPS}
  br i1 %more, label %step, label %stay.last
stay.last:
  ret double %kept
stay:
  ret double %x
empty:
  ret double {NAN}
}}
"""


#: Where limits are written on the way: space for what is kept from interval to interval, a vector a joint and one more.
_CARRY = f"""  %w.at = getelementptr i64, ptr %dimensions, i64 9
  %w = load i64, ptr %w.at
  %room = add i64 %w, 1
  %carry = alloca {VECTOR}, i64 %room, align 64
"""

#: What a path begins with there.
_BEGIN = f"""  store {VECTOR} <{", ".join(["double " + INFINITE] * LANES)}>, ptr %carry, align 64
  %k.last = sub i64 %n, 1
  %speed.first = call double @llvm.sqrt.f64(double %x.first)
"""

#: Where the backward pass needs no search for the least x: where u = 0 is allowed at x = 0.
_SKIP = """  %held.at = getelementptr double, ptr %held, i64 %i1
  %held.here = load double, ptr %held.at
  %stands = fcmp une double %held.here, 0.0
  %next.low.here = load double, ptr %next
  %next.rests = fcmp oeq double %next.low.here, 0.0
  %no.search = and i1 %stands, %next.rests
  br i1 %no.search, label %back.low, label %back.search
"""

#: Times and speeds along the forward pass, and what is written of them.
_CLOCK = f"""  %time = phi double [ 0.0, %back ], [ %time.next, %forth.move ]
  %speed = phi double [ %speed.first, %back ], [ %speed.next, %forth.move ]
  %slowest = phi double [ {INFINITE}, %back ], [ %slowest.next, %forth.move ]
  %fastest = phi double [ %speed.first, %back ], [ %fastest.next, %forth.move ]
  %x.at = getelementptr double, ptr %x, i64 %f
  %time.at = getelementptr double, ptr %times, i64 %f
  store double %time, ptr %time.at
"""
_TICK = """  %speed.next = call double @llvm.sqrt.f64(double %x.next)
  %pace = fadd double %speed, %speed.next
  %pace.rate = fmul double %pace, %f.rate
  %spent = fdiv double 1.0, %pace.rate
  %time.next = fadd double %time, %spent
  %slower = fcmp olt double %pace, %slowest
  %slowest.next = select i1 %slower, double %pace, double %slowest
  %faster = fcmp ogt double %speed.next, %fastest
  %fastest.next = select i1 %faster, double %speed.next, double %fastest
"""


#: Where the first of `EDGES` are.
_EDGES = (("sets", 0), ("sets", 1), ("cap", 0), ("cap", "%n"))


def _edges() -> str:
    """What is written of a path at its end."""
    loads = [(name, *place) for name, place in zip(EDGES, _EDGES, strict=False)]
    lines = [
        f"  %edge.{name}.from = getelementptr double, ptr %{source}, i64 {place}\n"
        f"  %edge.{name} = load double, ptr %edge.{name}.from"
        for name, source, place in loads
    ]
    values = [f"%edge.{name}" for name, *_ in loads] + ["%slowest", "%fastest"]
    lines += [
        f"  %edge.{k} = getelementptr double, ptr %edges, i64 {k}\n  store double {value}, ptr %edge.{k}"
        for k, value in enumerate(values)
    ]
    return "\n".join(lines) + "\n"


def _main(names: Sequence[str], fill: str = "") -> str:
    """``@loop_double``: both passes over all paths; with a call `fill` as `along_paths` says."""
    rows = "\n".join(
        f"  %{name}.arg = getelementptr ptr, ptr %args, i64 {k}\n  %{name}.data = load ptr, ptr %{name}.arg\n"
        f"  %{name}.step.at = getelementptr i64, ptr %steps, i64 {k}\n  %{name}.step = load i64, ptr %{name}.step.at"
        for k, name in enumerate(names)
    )
    places = "\n".join(
        f"  %{name}.skip = mul i64 %j, %{name}.step\n  %{name} = getelementptr i8, ptr %{name}.data, i64 %{name}.skip"
        for name in names
    )
    return f"""
define void @loop_double(ptr %args, ptr %dimensions, ptr %steps, ptr %data) #0 {{
entry:
  %space = alloca [6 x double], align 8
{_CARRY if fill else ""}  %count = load i64, ptr %dimensions
  %n.at = getelementptr i64, ptr %dimensions, i64 1
  %n = load i64, ptr %n.at
  %blocks.at = getelementptr i64, ptr %dimensions, i64 2
  %blocks = load i64, ptr %blocks.at
  %size = mul i64 %blocks, {3 * LANES}
{rows}
  %none = icmp sle i64 %count, 0
  br i1 %none, label %end, label %path
path:
  %j = phi i64 [ 0, %entry ], [ %j1, %path.done ]
{places}
  %x.first = load double, ptr %ends
{_BEGIN + "  " + fill.format(k="%k.last") if fill else ""}
  %end.at = getelementptr double, ptr %ends, i64 1
  %x.last = load double, ptr %end.at
  %last.row = mul i64 %n, 3
  %last = getelementptr double, ptr %sets, i64 %last.row
  %last.high = getelementptr double, ptr %last, i64 1
  store double %x.last, ptr %last
  store double %x.last, ptr %last.high
  br label %back
back:
  %i = phi i64 [ %n, %path ], [ %i1, %back.done ]
  %back.over = icmp eq i64 %i, 0
  br i1 %back.over, label %forth, label %back.act
back.act:
  %i1 = sub i64 %i, 1
  %here.row = mul i64 %i1, 3
  %here = getelementptr double, ptr %sets, i64 %here.row
  %here.high = getelementptr double, ptr %here, i64 1
  %next = getelementptr double, ptr %here, i64 3
  %next.high.at = getelementptr double, ptr %here, i64 4
  %next.high = load double, ptr %next.high.at
{"  %k.before = sub i64 %i1, 1" + chr(10) + "  " + fill.format(k="%k.before") if fill else ""}
  %lost = fcmp uno double %next.high, 0.0
  br i1 %lost, label %back.lost, label %back.high
back.lost:
  store double {NAN}, ptr %here
  store double {NAN}, ptr %here.high
  br label %back.done
back.high:
  %lines.skip1 = mul i64 %i1, %size
  %lines.here = getelementptr double, ptr %lines, i64 %lines.skip1
  %rate.at = getelementptr double, ptr %rate, i64 %i1
  %rate.here = load double, ptr %rate.at
  %cap.at = getelementptr double, ptr %cap, i64 %i1
  %cap.here = load double, ptr %cap.at
  %high = call double @downward(ptr %lines.here, i64 %blocks, double %rate.here, ptr %next, double %cap.here, ptr %space)
{_SKIP if fill else "  br label %back.search"}
back.search:
  %low.found = call double @upward(ptr %lines.here, i64 %blocks, double %rate.here, ptr %next, double 0.0, ptr %space)
  br label %back.low
back.low:
  %low = phi double [ %low.found, %back.search ]{", [ 0.0, %back.high ]" if fill else ""}
  %low.less = fcmp olt double %low, %high
  %low.kept = select i1 %low.less, double %low, double %high
  store double %low.kept, ptr %here
  store double %high, ptr %here.high
  br label %back.done
back.done:
  br label %back
forth:
  %f = phi i64 [ 0, %back ], [ %f1, %forth.move ]
  %x.here = phi double [ %x.first, %back ], [ %x.next, %forth.move ]
{_CLOCK if fill else ""}  %f.row = mul i64 %f, 3
  %f.here = getelementptr double, ptr %sets, i64 %f.row
{"" if fill else "  %x.at = getelementptr double, ptr %f.here, i64 2"}
  store double %x.here, ptr %x.at
  %forth.over = icmp eq i64 %f, %n
  br i1 %forth.over, label %path.done, label %forth.act
forth.act:
  %f.next = getelementptr double, ptr %f.here, i64 3
  %f.lines.skip = mul i64 %f, %size
  %f.lines = getelementptr double, ptr %lines, i64 %f.lines.skip
  %f.rate.at = getelementptr double, ptr %rate, i64 %f
  %f.rate = load double, ptr %f.rate.at
  %f.span = fdiv double 1.0, %f.rate
  %f.pair = call {PAIR} @values(ptr %f.lines, i64 %blocks, double %f.rate, ptr %f.next, double %x.here)
  %f.low.least = extractvalue {PAIR} %f.pair, 0
  %f.high.most = extractvalue {PAIR} %f.pair, 1
  %f.room = fcmp ole double %f.low.least, %f.high.most
  br i1 %f.room, label %forth.move, label %forth.flatter
forth.flatter:
  call void @bounds(ptr %f.lines, i64 %blocks, double %f.rate, ptr %f.next, double %x.here, ptr %space)
{_loaded("f.")}
  %f.low.steep = call double @llvm.fabs.f64(double %f.low.slope)
  %f.high.steep = call double @llvm.fabs.f64(double %f.high.slope)
  %f.flat = fcmp olt double %f.high.steep, %f.low.steep
  %f.flatter = select i1 %f.flat, double %f.high, double %f.low
  br label %forth.move
forth.move:
  %u = phi double [ %f.high.most, %forth.act ], [ %f.flatter, %forth.flatter ]
  %x.change = fmul double %u, %f.span
  %x.free = fadd double %x.here, %x.change
  %next.least = load double, ptr %f.next
  %f.next.high = getelementptr double, ptr %f.next, i64 1
  %next.most = load double, ptr %f.next.high
  %x.under = fcmp olt double %x.free, %next.least
  %x.raised = select i1 %x.under, double %next.least, double %x.free
  %x.over = fcmp ogt double %x.raised, %next.most
  %x.next = select i1 %x.over, double %next.most, double %x.raised
{_TICK if fill else ""}  %f1 = add i64 %f, 1
  br label %forth
path.done:
{_edges() if fill else ""}  %j1 = add i64 %j, 1
  %more.path = icmp ult i64 %j1, %count
  br i1 %more.path, label %path, label %end
end:
  ret void
}}
"""
