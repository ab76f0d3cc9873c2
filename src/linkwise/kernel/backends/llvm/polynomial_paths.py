"""Loops over paths of polynomials, joints in vector lanes: velocity limits by both passes, samples, and the motion."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from linkwise.kernel.backends.llvm.body import inlined
from linkwise.kernel.backends.llvm.loading import loop_gufunc
from linkwise.kernel.backends.llvm.reachability import LOOP_HEAD, across_lanes, along_paths, each_path, lane_text, load_sizes
from linkwise.kernel.backends.llvm.reachability import LOWERING as PASSES
from linkwise.kernel.backends.llvm.text import Text
from linkwise.kernel.gufunc import Face
from linkwise.kernel.reachability import EDGES, LANES, STENCIL
from linkwise.kernel.tape import Tape

#: Counts the changes of this text, so that object code of an older one is not used.
LOWERING = "10"

#: Bernstein coefficients of each limited quantity, the number of rows of lines of one joint.
ROWS = 5

SPEEDS: dict[str, tuple[int | str, ...]] = {
    "lines": ("n", "b", 3, LANES), "sets": ("m", 3), "cap": ("m",), "most": ("m",), "rate": ("n",), "ends": (2,),
    "knots": ("p", 6, "w"), "weights": ("n", "d", 6), "piece": ("n",), "limits": ("l", "w"), "held": ("n",),
}  # fmt: skip

#: Further arguments of effort limits.
EFFORTS: dict[str, tuple[int | str, ...]] = {"terms": ("t", 3, "w"), "stencils": ("n", "d", STENCIL), "first": ("n",)}

#: Further arguments of friction: additions to c and b at places within each interval, and reductions of the limits.
DRAG: dict[str, tuple[int | str, ...]] = {"drag": ("n", "d", 2, "w"), "reserve": ("n", "w")}

OUTPUTS: dict[str, tuple[int | str, ...]] = {"x": ("m",), "times": ("m",), "edges": (len(EDGES),)}

SAMPLES = Face("path_samples", {"weights": ("t", 3, 6), "piece": ("t",), "ends": ("p", 6, "w")}, {"state": ("t", 3, "w")})

MOTION = Face(
    "path_motion",
    {"time": ("k",), "times": ("m",), "x": ("m",), "nodes": ("m",), "rate": ("n",), "piece": ("n",), "begin": ("p",),
     "length": ("p",), "pace": ("p",), "ends": ("p", "c", "w")},
    {"q": ("k", "j"), "qd": ("k", "j"), "qdd": ("k", "j")},
)  # fmt: skip


def speeds(rows: Tape | None, caps: Tape, efforts: Tape | None, drag: Any = None) -> Callable[..., Any]:
    """Emit the passes over the lines of tapes, and one for the greatest x at both ends; see `Backend.path_speeds`."""
    inputs = SPEEDS | (EFFORTS if efforts else {}) | (DRAG if drag is not None else {})
    face = Face("path_speeds", inputs, OUTPUTS)
    used = [name for name in inputs if name not in ("sets", "ends")]

    def parts() -> list[str]:
        return [_fill(used, rows, caps, efforts, drag), *along_paths((*inputs, *OUTPUTS), used)]

    digests = " ".join(tape.digest if tape else "none" for tape in (rows, caps, efforts))
    version = f"{LOWERING} {PASSES} {STENCIL} {digests} {drag is not None}"
    return loop_gufunc(face, parts, version)


def samples() -> Callable[..., Any]:
    """Values and derivatives of polynomials, each a sum of six numbers at the ends of its piece."""
    return loop_gufunc(SAMPLES, lambda: [_samples()], LOWERING)


def motion(tape: Tape) -> Callable[..., Any]:
    """Position, velocity and acceleration at instants, by a tape for one joint."""
    return loop_gufunc(MOTION, lambda: [_motion(tape)], f"{LOWERING} {tape.digest}")


def load_lanes(t: Text, base: str, index: str) -> str:
    """Emit: load a vector of numbers in an array, from some number on."""
    return t.emit(f"load {t.vector}, ptr {t.at('double', base, index)}, align 8")


def store_lanes(t: Text, value: str, base: str, index: str) -> None:
    """Emit: store a vector into an array, from some number on."""
    t.do(f"store {t.vector} {value}, ptr {t.at('double', base, index)}, align 8")


def _less(t: Text, x: str, y: str) -> str:
    return t.choose(t.emit(f"fcmp olt {t.vector} {x}, {y}"), x, y)


def _times(t: Text, matrix: str, row: int, values: list[str]) -> str:
    """Emit: a row of a matrix times vectors."""
    total = t.op("fmul", t.broadcast(t.load("double", matrix, row * len(values))), values[0])
    for column, value in enumerate(values[1:], 1):
        total = t.fma(t.broadcast(t.load("double", matrix, row * len(values) + column)), value, total)
    return total


def _fill(taken: Sequence[str], rows: Tape | None, caps: Tape, efforts: Tape | None, drag: Any) -> str:
    """``@fill``: of interval k the lines of all limits, the cap at its end node, and whether the path can rest there.

    The Bernstein coefficients of slopes are sums of values at the ends of the piece, and those of efforts of values at
    places about the interval, weighted by numbers that all paths share. ``%carry`` holds what is known from interval k + 1:
    the caps at its first node by its own limits, which are all that is left with k = -1, and the coefficients there.
    """
    t = lane_text("fill")
    for name in ("near", "far", "excess"):
        t.do(f"%{name} = alloca {t.vector}, align 64")
    t.do(f"%groups = udiv i64 %w, {LANES}")
    for name in ("near", "far"):
        t.put(t.number(float("inf")), f"%{name}", 0)
    t.do("%behind = add i64 %k, 1")
    t.do("%final = icmp eq i64 %behind, %n")
    t.do("%is = icmp sge i64 %k, 0")
    t.do("br i1 %is, label %interval, label %over")
    t.start("interval")
    rate = t.load("double", "%rate", "%k")
    pace = t.broadcast(t.emit(f"fadd double {rate}, {rate}"))
    span = t.broadcast(t.emit(f"fdiv double 1.0, {rate}")) if efforts else ""
    piece = t.emit(f"fptoui double {t.load('double', '%piece', '%k')} to i64")
    first = t.emit(f"mul i64 {t.emit(f'mul i64 {piece}, 6')}, %w")
    matrix = t.at("double", "%weights", t.emit(f"mul i64 %k, {ROWS * 6}"))
    t.put(t.number(0.0), "%excess", 0)
    begin = t.emit(f"mul i64 %k, {t.emit(f'mul i64 %groups, {(rows is not None) + (efforts is not None)}')}")
    with t.loop("group", "%groups") as group:
        lane = t.emit(f"mul i64 {group}, {LANES}")
        place = t.emit(f"add i64 {begin}, {group}")
        rates = [*_slopes(t, first, lane, matrix), pace, _limit(t, 0, lane), _limit(t, 1, lane)]
        if rows:
            _store_lines(t, inlined(rows, t, rates), place)
            place = t.emit(f"add i64 {place}, %groups")
        for name, cap in zip(("%near", "%far"), inlined(caps, t, rates), strict=True):
            t.put(_less(t, cap, t.get(name, 0)), name, 0)
        if efforts:
            _store_lines(t, _effort_lines(t, efforts, lane, span, drag), place)
    over = t.emit(f"fcmp ogt {t.vector} {t.get('%excess', 0)}, zeroinitializer")
    bits = t.emit(f"bitcast {t.mask} {over} to i{LANES}")
    stands = t.emit(f"uitofp i1 {t.emit(f'icmp eq i{LANES} {bits}, 0')} to double")
    t.do(f"store double {stands}, ptr {t.at('double', '%held', '%k')}, align 8")
    t.go_on("over")
    _store_cap(t, _less(t, t.get("%carry", 0), t.get("%far", 0)), "%behind")
    t.put(t.get("%near", 0), "%carry", 0)
    t.do("ret void")
    pointers = ", ".join(f"ptr %{name}" for name in taken)
    return t.function(f"define internal void @fill(i64 %k, {pointers}, i64 %n, i64 %w, ptr %carry)")


def _coefficients(t: Text, name: str, matrix: str, values: list[str], kept: str) -> list[str]:
    """Emit: the coefficients of a polynomial in an interval.

    The last one is the first one of the next interval, which is kept, but in the last interval.
    """
    with t.when("%final", name):
        t.put(_times(t, matrix, ROWS - 1, values), kept, 0)
    results = [*(_times(t, matrix, row, values) for row in range(ROWS - 1)), t.get(kept, 0)]
    t.put(results[0], kept, 0)
    return results


def _limit(t: Text, kind: int, lane: str) -> str:
    """Emit: limits of velocity, acceleration or effort."""
    return load_lanes(t, "%limits", t.emit(f"add i64 {t.emit(f'mul i64 %w, {kind}')}, {lane}"))


def _slopes(t: Text, first: str, lane: str, matrix: str) -> list[str]:
    """Emit: the coefficients of the derivative of the path."""
    at = t.emit(f"add i64 {first}, {lane}")
    values = []
    for _ in range(6):
        values.append(load_lanes(t, "%knots", at))
        at = t.emit(f"add i64 {at}, %w")
    return _coefficients(t, "slope", matrix, values, t.at(t.vector, "%carry", t.emit(f"add i64 {lane}, 1")))


def _effort_lines(t: Text, efforts: Tape, lane: str, span: str, drag: Any) -> list[str]:
    """Emit: lines for efforts, and their excess over the limits at rest, in ``%excess``."""
    stencil = t.at("double", "%stencils", t.emit(f"mul i64 %k, {ROWS * STENCIL}"))
    sample = t.emit(f"fptoui double {t.load('double', '%first', '%k')} to i64")
    width, values = t.emit("mul i64 %w, 3"), []
    for term in range(3):
        offset = t.emit(f"add i64 {lane}, {t.emit(f'mul i64 %w, {term}')}")
        at, places = t.emit(f"add i64 {t.emit(f'mul i64 {sample}, {width}')}, {offset}"), []
        for _ in range(STENCIL):
            places.append(load_lanes(t, "%terms", at))
            at = t.emit(f"add i64 {at}, {width}")
        kept = t.at(t.vector, "%carry", t.emit(f"add i64 {lane}, {2 + term}"))
        values += _coefficients(t, f"term{term}", stencil, places, kept)
    limit, worst = _limit(t, 2, lane), t.get("%excess", 0)
    if drag is not None:
        for kind, first in ((0, 2 * ROWS), (1, ROWS)):
            more = _drag(t, drag, lane, kind)
            values[first : first + ROWS] = [
                t.op("fadd", x, y) for x, y in zip(values[first : first + ROWS], more, strict=True)
            ]
        reserve = load_lanes(t, "%reserve", t.emit(f"add i64 {t.emit('mul i64 %k, %w')}, {lane}"))
        limit = t.op("fsub", limit, reserve)
    for value in values[2 * ROWS :]:
        excess = t.op("fsub", t.call("fabs", value), limit)
        worst = t.choose(t.emit(f"fcmp ogt {t.vector} {excess}, {worst}"), excess, worst)
    t.put(worst, "%excess", 0)
    return inlined(efforts, t, [*values, span, limit])


def _drag(t: Text, matrix: Any, lane: str, kind: int) -> list[str]:
    """Emit: coefficients of friction in c, or in b, from its values."""
    begin = t.emit(f"mul i64 {t.emit(f'mul i64 %k, {2 * ROWS}')}, %w")
    values = []
    for place in range(ROWS):
        skip = t.emit(f"add i64 {begin}, {t.emit(f'mul i64 %w, {2 * place + kind}')}")
        values.append(load_lanes(t, "%drag", t.emit(f"add i64 {skip}, {lane}")))
    results = []
    for row in matrix.tolist():
        total = t.number(0.0)
        for weight, value in zip(row, values, strict=True):
            total = t.fma(t.number(weight), value, total) if weight else total
        results.append(total)
    return results


def _store_lines(t: Text, lines: list[str], place: str) -> None:
    """Emit: store the lines of the joints in some lanes, of one kind of limits."""
    target = t.at(t.vector, "%lines", t.emit(f"mul i64 {place}, {3 * ROWS}"))
    for k, line in enumerate(lines):
        t.put(line, target, k)


def _store_cap(t: Text, value: str, node: str) -> None:
    """Emit: the cap of a node is the least of all lanes and of its upper limit."""
    half = LANES // 2
    while half:
        value = _less(t, value, across_lanes(t, value, half))
        half //= 2
    number, most = t.emit(f"extractelement {t.vector} {value}, i32 0"), t.load("double", "%most", node)
    less = t.emit(f"fcmp olt double {number}, {most}")
    least = t.emit(f"select i1 {less}, double {number}, double {most}")
    t.do(f"store double {least}, ptr {t.at('double', '%cap', node)}, align 8")


def _samples() -> str:
    """The loop over paths and places."""
    t = lane_text("main")
    load_sizes(t, count=0, t=1, w=5)
    t.do(f"%groups = udiv i64 %w, {LANES}")
    with each_path(t, (*SAMPLES.inputs, *SAMPLES.outputs)) as base, t.loop("sample", "%t") as k:
        piece = t.emit(f"fptoui double {t.load('double', base['piece'], k)} to i64")
        first = t.emit(f"mul i64 {piece}, {t.emit('mul i64 %w, 6')}")
        row = t.emit(f"mul i64 {k}, {t.emit('mul i64 %w, 3')}")
        matrix = t.at("double", base["weights"], t.emit(f"mul i64 {k}, 18"))
        with t.loop("group", "%groups") as group:
            lane = t.emit(f"mul i64 {group}, {LANES}")
            at, values = t.emit(f"add i64 {first}, {lane}"), []
            for _ in range(6):
                values.append(load_lanes(t, base["ends"], at))
                at = t.emit(f"add i64 {at}, %w")
            at = t.emit(f"add i64 {row}, {lane}")
            for term in range(3):
                store_lanes(t, _times(t, matrix, term, values), base["state"], at)
                at = t.emit(f"add i64 {at}, %w")
    return t.function(LOOP_HEAD)


def _motion(tape: Tape) -> str:
    """The loop over paths and instants: an interval is looked for from that of the instant before on."""
    t = lane_text("main")
    load_sizes(t, count=0, k=1, m=2, width=6, joints=7)
    t.do(f"%groups = udiv i64 %width, {LANES}")
    t.do("%n = sub i64 %m, 1")
    t.do("%final = sub i64 %n, 1")
    with each_path(t, (*MOTION.inputs, *MOTION.outputs)) as base:
        stop, last = t.load("double", base["times"], "%n"), t.load("double", base["x"], "%n")
        rests = t.emit(f"fcmp oeq double {last}, 0.0")
        before = t.block
        t.go_on("instant")
        t.do(f"%i = phi i64 [ 0, %{before} ], [ %i.next, %instant.done ]")
        t.do(f"%kept = phi i64 [ 0, %{before} ], [ %at, %instant.done ]")
        time = t.load("double", base["time"], "%i")
        _cursor(t, base["times"], time)
        _instant(t, tape, base, time, stop, rests)
        t.do("%i.next = add i64 %i, 1")
        t.do("%i.more = icmp ult i64 %i.next, %k")
        t.do("br i1 %i.more, label %instant, label %path.over")
        t.start("path.over")
    return t.function(LOOP_HEAD)


def _cursor(t: Text, times: str, time: str) -> None:
    """Emit: ``%at``, the last interval that begins at or before a time, clamped to the first and the last one."""
    t.go_on("back")
    t.do("%low = phi i64 [ %kept, %instant ], [ %lower, %back.move ]")
    late = t.emit(f"fcmp ogt double {t.load('double', times, '%low')}, {time}")
    t.do(f"%back.more = and i1 {late}, {t.emit('icmp ugt i64 %low, 0')}")
    t.do("br i1 %back.more, label %back.move, label %forth")
    t.start("back.move")
    t.do("%lower = sub i64 %low, 1")
    t.do("br label %back")
    t.start("forth")
    t.do("%at = phi i64 [ %low, %back ], [ %higher, %forth.move ]")
    t.do("%higher = add i64 %at, 1")
    early = t.emit(f"fcmp ole double {t.load('double', times, '%higher')}, {time}")
    t.do(f"%forth.more = and i1 {early}, {t.emit('icmp ult i64 %at, %final')}")
    t.do("br i1 %forth.more, label %forth.move, label %known")
    t.start("forth.move")
    t.do("br label %forth")
    t.start("known")


def _instant(t: Text, tape: Tape, base: dict[str, str], time: str, stop: str, rests: str) -> None:
    """Emit: where along its piece the path is, squared speed and acceleration there, and the motion of all joints."""

    def op(name: str, x: str, y: str) -> str:
        return t.emit(f"{name} double {x}, {y}")

    def chosen(test: str, x: str, y: str) -> str:
        return t.emit(f"select i1 {test}, double {x}, double {y}")

    (s0, s1), (x0, x1) = ([t.load("double", base[name], at) for at in ("%at", "%higher")] for name in ("nodes", "x"))
    step, rate = op("fsub", s1, s0), t.load("double", base["rate"], "%at")
    u = op("fmul", op("fsub", x1, x0), rate)
    after, past = t.emit(f"fcmp oge double {time}, {stop}"), t.emit(f"fcmp ogt double {time}, {stop}")
    since = op("fsub", chosen(after, stop, time), t.load("double", base["times"], "%at"))
    speed = t.emit(f"call double @llvm.sqrt.f64(double {x0})")
    distance = op("fmul", op("fadd", speed, op("fmul", op("fmul", "5.0e-1", u), since)), since)
    share = op("fmul", distance, op("fadd", rate, rate))
    share = chosen(t.emit(f"fcmp ogt double {share}, 0.0"), share, "0.0")
    share = chosen(t.emit(f"or i1 {after}, {t.emit(f'fcmp ogt double {share}, 1.0')}"), "1.0", share)
    x = op("fadd", x0, op("fmul", op("fmul", op("fmul", "2.0", u), step), share))
    still = t.emit(f"or i1 {past}, {t.emit(f'and i1 {after}, {rests}')}")
    none = t.emit(f"or i1 {still}, {t.emit(f'fcmp olt double {x}, 0.0')}")
    x, u = chosen(none, "0.0", x), chosen(still, "0.0", u)
    number = t.load("double", base["piece"], "%at")
    piece = t.emit(f"fptoui double {number} to i64")
    length, pace = (t.load("double", base[name], piece) for name in ("length", "pace"))
    offset = op("fsub", s0, t.load("double", base["begin"], piece))
    z = op("fmul", op("fadd", offset, op("fmul", share, step)), pace)
    z = chosen(t.emit(f"fcmp ogt double {z}, 1.0"), "1.0", z)
    speed = t.emit(f"call double @llvm.sqrt.f64(double {x})")
    everywhere = [t.broadcast(number) for number in (length, pace, z, u, x, speed)]
    first = t.emit(f"mul i64 {piece}, {t.emit('mul i64 %width, 6')}")
    row = t.emit("mul i64 %i, %joints")
    with t.loop("group", "%groups") as group:
        lane = t.emit(f"mul i64 {group}, {LANES}")
        at, ends = t.emit(f"add i64 {first}, {lane}"), []
        for _ in range(6):
            ends.append(load_lanes(t, base["ends"], at))
            at = t.emit(f"add i64 {at}, %width")
        left, begin = t.emit(f"sub i64 %joints, {lane}"), t.emit(f"add i64 {row}, {lane}")
        first = t.emit(f"insertelement {t.integers} poison, i64 {left}, i32 0")
        every = t.emit(f"shufflevector {t.integers} {first}, {t.integers} poison, <{LANES} x i32> zeroinitializer")
        numbers = "<" + ", ".join(f"i64 {k}" for k in range(LANES)) + ">"
        mask = t.emit(f"icmp ult {t.integers} {numbers}, {every}")
        for name, value in zip(MOTION.outputs, inlined(tape, t, [*ends, *everywhere]), strict=True):
            target = t.at("double", base[name], begin)
            t.do(f"call void @llvm.masked.store.{t.suffix}.p0({t.vector} {value}, ptr {target}, i32 8, {t.mask} {mask})")
    t.go_on("instant.done")
