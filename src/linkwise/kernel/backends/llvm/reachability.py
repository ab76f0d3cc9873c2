"""The two passes of `linkwise.kernel.reachability` over the nodes of a path, as LLVM text; limits in vector lanes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

from linkwise.kernel.backends.llvm import lowering as llvm
from linkwise.kernel.backends.llvm.loading import loop_gufunc
from linkwise.kernel.backends.llvm.text import Text, scalar
from linkwise.kernel.gufunc import Face
from linkwise.kernel.reachability import LANES, ROUNDING, STEPS

#: Counts the changes of this text, so that object code of an older one is not used.
LOWERING = "6"

#: Bounds of u, and the comparison that selects the tighter of two lines.
SIDES = (("low", "ogt"), ("high", "olt"))
NAN, INFINITE = "0x7FF8000000000000", "0x7FF0000000000000"

#: Arguments of a function of an interval's limits: these, the set of the next node, and x.
INTERVAL = "ptr %lines, i64 %blocks, double %rate, ptr %next, double %x"

FACE = Face("profiles", {"lines": ("n", "b", 3, LANES), "cap": ("m",), "rate": ("n",), "ends": (2,)}, {"sets": ("m", 3)})


@cache
def compiled() -> Callable[..., Any]:
    """The passes as a gufunc."""
    return loop_gufunc(FACE, parts, LOWERING)


def parts() -> list[str]:
    """``@values``, ``@bounds``, the two searches, and ``@loop_double`` over the arguments of `FACE`."""
    return [*_searches(), _Passes((*FACE.inputs, *FACE.outputs)).text()]


def along_paths(names: Sequence[str], taken: Sequence[str]) -> list[str]:
    """The same for arguments of these names, among them ``x``, ``times`` and ``edges``, which are written.

    ``@fill`` is called with the arguments `taken`: it writes the lines of an interval, the cap at the node after it, and
    whether its limits allow u = 0 at x = 0. It is called one interval ahead of the backward pass, which leaves the processor
    free for it.
    """
    return [*_searches(), _Passes(names, taken).text()]


def lane_text(part: str) -> Text:
    """Text of a function whose vectors contain limits, or joints."""
    t = Text("double", LANES, llvm.host().has_fma, part)
    t.begin()
    return t


def across_lanes(t: Text, value: str, half: int) -> str:
    """Emit: each lane has the number of the lane that is `half` of a group away."""
    mask = f"<{LANES} x i32> <{', '.join(f'i32 {k ^ half}' for k in range(LANES))}>"
    return t.emit(f"shufflevector {t.vector} {value}, {t.vector} poison, {mask}")


def load_sizes(t: Text, /, **places: int) -> None:
    """Emit: sizes of dimensions, by names of values and their places in the gufunc's table."""
    for name, place in places.items():
        t.do(f"%{name} = load i64, ptr {t.at('i64', '%dimensions', place)}")


@contextmanager
def each_path(t: Text, names: Sequence[str]) -> Iterator[dict[str, str]]:
    """Emit a loop over ``%count`` paths, and the return after it: where the arguments of each begin, by their names."""
    with t.when(t.emit("icmp sgt i64 %count, 0"), "paths"), t.loop("path", "%count") as j:
        base = {}
        for place, name in enumerate(names):
            data, step = t.load("ptr", "%args", place), t.load("i64", "%steps", place)
            base[name] = t.at("i8", data, t.emit(f"mul i64 {j}, {step}"))
        yield base
    t.do("ret void")


LOOP_HEAD = "define void @loop_double(ptr %args, ptr %dimensions, ptr %steps, ptr %data)"


def _searches() -> list[str]:
    """Most nodes need no more than the bounds of u at x; Newton's method their slopes and their values at x = 0 too."""
    bounds = [_bounds("values", ("best",)), _bounds("bounds", ("best", "slope", "start"))]
    return [*bounds, _search("downward", "olt"), _search("upward", "ogt")]


def _structure(count: int) -> str:
    return f"{{ {', '.join(['double'] * count)} }}"


def _bounds(name: str, words: Sequence[str]) -> str:
    """Greatest lower and least upper bound of u at x: value, slope and value at x = 0 of each."""
    t = lane_text("bounds")
    rate, x = t.broadcast("%rate"), t.broadcast("%x")
    begins, tightest = {}, []
    for k, (side, _) in enumerate(SIDES):
        following = t.broadcast(t.load("double", "%next", k))
        value = t.op("fmul", t.op("fsub", following, x), rate)
        begins[side] = (value, t.negative(rate), t.op("fmul", following, rate))[: len(words)]
    t.go_on("test")
    t.do("%k = phi i64 [ 0, %entry ], [ %k1, %act ]")
    for side, begin in begins.items():
        for word, value in zip(words, begin, strict=True):
            t.do(f"%{side}.{word} = phi {t.vector} [ {value}, %entry ], [ %{side}.{word}1, %act ]")
    t.do("%more = icmp ult i64 %k, %blocks")
    t.do("br i1 %more, label %act, label %done")
    t.start("act")
    block = t.at(t.vector, "%lines", t.emit("mul i64 %k, 3"))
    slope, *starts = (t.emit(f"load {t.vector}, ptr {t.at(t.vector, block, row)}, align 8") for row in range(3))
    for (side, order), start in zip(SIDES, starts, strict=True):
        value = t.fma(slope, x, start)
        tighter = t.emit(f"fcmp {order} {t.vector} {value}, %{side}.best")
        for word, number in zip(words, (value, slope, start), strict=False):
            t.do(f"%{side}.{word}1 = select {t.mask} {tighter}, {t.vector} {number}, {t.vector} %{side}.{word}")
    t.do("%k1 = add i64 %k, 1")
    t.do("br label %test")
    t.start("done")
    for side, order in SIDES:
        values, half = [f"%{side}.{word}" for word in words], LANES // 2
        while half:
            others = [across_lanes(t, value, half) for value in values]
            tighter = t.emit(f"fcmp {order} {t.vector} {others[0]}, {values[0]}")
            values = [t.choose(tighter, other, value) for other, value in zip(others, values, strict=True)]
            half //= 2
        tightest += values
    kind, result = _structure(len(tightest)), "undef"
    for k, value in enumerate(tightest):
        number = t.emit(f"extractelement {t.vector} {value}, i32 0")
        result = t.emit(f"insertvalue {kind} {result}, double {number}, {k}")
    t.do(f"ret {kind} {result}")
    return t.function(f"define internal {kind} @{name}({INTERVAL})")


def _arguments(interval: Sequence[str]) -> str:
    """Arguments for `INTERVAL`."""
    return ", ".join(f"{kind.split()[0]} {value}" for kind, value in zip(INTERVAL.split(", "), interval, strict=True))


def _call(t: Text, name: str, count: int, interval: Sequence[str]) -> list[str]:
    """Emit: the numbers that ``@values`` or ``@bounds`` finds for an interval."""
    kind = _structure(count)
    result = t.emit(f"call {kind} @{name}({_arguments(interval)})")
    return [t.emit(f"extractvalue {kind} {result}, {k}") for k in range(count)]


def _search(direction: str, order: str) -> str:
    """Search from x downward or upward for the first x with feasible u; NaN if there is none."""
    t = lane_text(direction)

    def op(name: str, x: str, y: str) -> str:
        return t.emit(f"{name} double {x}, {y}")

    interval = ("%lines", "%blocks", "%rate", "%next")
    size = op("fadd", "%x", t.load("double", "%next", 1))
    room = op("fmul", size, scalar(-ROUNDING, "double").split()[-1])
    t.branch(op("fcmp ole", *_call(t, "values", 2, (*interval, "%x"))), "first", "step")
    t.start("first")
    t.do("ret double %x")
    t.start("step")
    t.do("%here = phi double [ %x, %entry ], [ %kept, %again ]")
    t.do("%k = phi i64 [ 0, %entry ], [ %k1, %again ]")
    low, low_slope, low_start, high, high_slope, high_start = _call(t, "bounds", 6, (*interval, "%here"))
    t.branch(op("fcmp oge", op("fsub", high, low), "0.0"), "stay", "newton")
    t.start("newton")
    slope = op("fsub", high_slope, low_slope)
    t.branch(op(f"fcmp {order}", slope, "0.0"), "move", "empty")
    t.start("move")
    moved = op("fdiv", op("fsub", low_start, high_start), slope)
    t.branch(op("fcmp olt", moved, room), "empty", "keep")
    t.start("keep")
    t.do(f"%kept = select i1 {op('fcmp olt', moved, '0.0')}, double 0.0, double {moved}")
    t.branch(op(f"fcmp {order}", "%kept", "%here"), "again", "stay")
    t.start("again")
    t.do("%k1 = add i64 %k, 1")
    t.branch(t.emit(f"icmp ult i64 %k1, {STEPS}"), "step", "stay.last")
    for block, result in (("stay.last", "%kept"), ("stay", "%here"), ("empty", NAN)):
        t.start(block)
        t.do(f"ret double {result}")
    return t.function(f"define internal double @{direction}({INTERVAL})")


class _Passes:
    """Writes both passes over all paths; the arguments of ``@fill`` are those of `along_paths`."""

    def __init__(self, names: Sequence[str], taken: Sequence[str] = ()) -> None:
        self.names, self.taken, self.t = names, taken, lane_text("main")
        self.base: dict[str, str] = {}

    def text(self) -> str:
        """Emit ``@loop_double``."""
        t = self.t
        load_sizes(t, count=0, n=1, blocks=2, **({"w": 9} if self.taken else {}))
        if self.taken:  # (values carried from interval to interval: a vector per joint and one more)
            t.do(f"%carry = alloca {t.vector}, i64 {t.emit('add i64 %w, 1')}, align 64")
        t.do(f"%size = mul i64 %blocks, {3 * LANES}")
        with each_path(t, self.names) as self.base:
            first, final = (t.load("double", self.base["ends"], k) for k in range(2))
            begin = {"x": first}
            if self.taken:
                speed = self._root(first)
                begin |= {"time": "0.0", "speed": speed, "slowest": INFINITE, "fastest": speed}
                t.put(f"<{', '.join(['double ' + INFINITE] * LANES)}>", "%carry", 0)
                self._fill(t.emit("sub i64 %n, 1"))
            self._store_set(self._set("%n"), final, final)
            self._backward()
            self._forward(begin)
        return t.function(LOOP_HEAD)

    def _op(self, name: str, x: str, y: str) -> str:
        return self.t.emit(f"{name} double {x}, {y}")

    def _root(self, x: str) -> str:
        return self.t.emit(f"call double @llvm.sqrt.f64(double {x})")

    def _chosen(self, order: str, x: str, y: str) -> str:
        """Emit: x where it is in that order to y, else y."""
        return self.t.emit(f"select i1 {self._op(f'fcmp {order}', x, y)}, double {x}, double {y}")

    def _fill(self, interval: str) -> None:
        pointers = ", ".join(f"ptr {self.base[name]}" for name in self.taken)
        self.t.do(f"call void @fill(i64 {interval}, {pointers}, i64 %n, i64 %w, ptr %carry)")

    def _store(self, value: str, place: str) -> None:
        self.t.do(f"store double {value}, ptr {place}")

    def _set(self, node: str) -> str:
        """Emit: address of the interval of a node, its least and greatest x."""
        return self.t.at("double", self.base["sets"], self.t.emit(f"mul i64 {node}, 3"))

    def _store_set(self, place: str, low: str, high: str) -> None:
        self._store(low, place)
        self._store(high, self.t.at("double", place, 1))

    def _interval(self, k: str, following: str) -> tuple[str, ...]:
        """Emit: the arguments that functions of an interval have in common, without x."""
        lines = self.t.at("double", self.base["lines"], self.t.emit(f"mul i64 {k}, %size"))
        return lines, "%blocks", self.t.load("double", self.base["rate"], k), following

    def _backward(self) -> None:
        """Emit the backward pass: the interval of x at each node from which the next node's interval can be reached."""
        t, before = self.t, self.t.block
        t.go_on("back")
        t.do(f"%i = phi i64 [ %n, %{before} ], [ %i1, %back.done ]")
        t.do(f"br i1 {t.emit('icmp eq i64 %i, 0')}, label %forth, label %back.act")
        t.start("back.act")
        t.do("%i1 = sub i64 %i, 1")
        here = self._set("%i1")
        following = t.at("double", here, 3)
        most = t.load("double", following, 1)
        if self.taken:
            self._fill(t.emit("sub i64 %i1, 1"))
        t.do(f"br i1 {self._op('fcmp uno', most, '0.0')}, label %back.lost, label %back.high")
        t.start("back.lost")
        self._store_set(here, NAN, NAN)
        t.do("br label %back.done")
        t.start("back.high")
        interval, cap = self._interval("%i1", following), t.load("double", self.base["cap"], "%i1")
        high = t.emit(f"call double @downward({_arguments((*interval, cap))})")
        if self.taken:  # (where u = 0 is allowed at x = 0, that is the least x)
            stands = self._op("fcmp une", t.load("double", self.base["held"], "%i1"), "0.0")
            rests = self._op("fcmp oeq", t.load("double", following, 0), "0.0")
            t.do(f"br i1 {t.emit(f'and i1 {stands}, {rests}')}, label %back.low, label %back.search")
            t.start("back.search")
        else:
            t.go_on("back.search")
        reached = t.emit(f"call double @upward({_arguments((*interval, '0.0'))})")
        t.go_on("back.low")
        low = t.emit(f"phi double [ {reached}, %back.search ]{', [ 0.0, %back.high ]' if self.taken else ''}")
        self._store_set(here, self._chosen("olt", low, high), high)
        t.go_on("back.done")
        t.do("br label %back")
        t.start("forth")

    def _forward(self, begin: dict[str, str]) -> None:
        """Emit the forward pass: the greatest x at each node that leads into the next node's interval."""
        t = self.t
        t.do("%f = phi i64 [ 0, %back ], [ %f1, %forth.move ]")
        for name, value in begin.items():
            t.do(f"%{name} = phi double [ {value}, %back ], [ %{name}1, %forth.move ]")
        here = self._set("%f")
        if self.taken:
            self._store("%time", t.at("double", self.base["times"], "%f"))
        self._store("%x", t.at("double", self.base["x"], "%f") if self.taken else t.at("double", here, 2))
        t.do(f"br i1 {t.emit('icmp eq i64 %f, %n')}, label %path.over, label %forth.act")
        t.start("forth.act")
        following = t.at("double", here, 3)
        interval = (*self._interval("%f", following), "%x")
        low, high = _call(t, "values", 2, interval)
        t.do(f"br i1 {self._op('fcmp ole', low, high)}, label %forth.move, label %forth.flatter")
        t.start("forth.flatter")  # (by rounding no u is allowed: of both bounds the one that changes less with x)
        lowest, low_slope, _, highest, high_slope, _ = _call(t, "bounds", 6, interval)
        steep = [t.emit(f"call double @llvm.fabs.f64(double {slope})") for slope in (high_slope, low_slope)]
        flatter = t.emit(f"select i1 {self._op('fcmp olt', *steep)}, double {highest}, double {lowest}")
        t.go_on("forth.move")
        u, rate = t.emit(f"phi double [ {high}, %forth.act ], [ {flatter}, %forth.flatter ]"), interval[2]
        free = self._op("fadd", "%x", self._op("fmul", u, self._op("fdiv", "1.0", rate)))
        least, most = (t.load("double", following, k) for k in range(2))
        raised = self._chosen("ogt", least, free)
        t.do(f"%x1 = select i1 {self._op('fcmp ogt', raised, most)}, double {most}, double {raised}")
        if self.taken:
            t.do("%speed1 = call double @llvm.sqrt.f64(double %x1)")
            pace = self._op("fadd", "%speed", "%speed1")
            spent = self._op("fdiv", "1.0", self._op("fmul", pace, rate))
            t.do(f"%time1 = fadd double %time, {spent}")
            for name, order, value in (("slowest", "olt", pace), ("fastest", "ogt", "%speed1")):
                t.do(f"%{name}1 = select i1 {self._op(f'fcmp {order}', value, f'%{name}')}, double {value}, double %{name}")
        t.do("%f1 = add i64 %f, 1")
        t.do("br label %forth")
        t.start("path.over")
        if self.taken:
            known = [
                t.load("double", self.base[name], k) for name, k in (("sets", 0), ("sets", 1), ("cap", 0), ("cap", "%n"))
            ]
            for k, value in enumerate([*known, "%slowest", "%fastest"]):  # (in the order of `EDGES`)
                self._store(value, t.at("double", self.base["edges"], k))
