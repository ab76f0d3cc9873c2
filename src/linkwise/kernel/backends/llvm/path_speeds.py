"""Greatest speeds along paths of polynomials: limits' lines and both passes, a loop over paths, joints in vector lanes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from linkwise.kernel.backends.llvm import lowering as llvm
from linkwise.kernel.backends.llvm import reachability
from linkwise.kernel.backends.llvm.body import inlined
from linkwise.kernel.backends.llvm.loading import load_made
from linkwise.kernel.backends.llvm.processor import machine_key
from linkwise.kernel.backends.llvm.text import Text
from linkwise.kernel.gufunc import LOOP, Face, Memory, make
from linkwise.kernel.reachability import EDGES, LANES, STENCIL
from linkwise.kernel.tape import Tape

#: Counts the changes of this text, so that object code of an older one is not used.
LOWERING = "9"

#: Bernstein coefficients of what is limited, and so rows of lines of one joint.
ROWS = 5

SPEEDS: dict[str, tuple[int | str, ...]] = {
    "lines": ("n", "b", 3, LANES), "sets": ("m", 3), "cap": ("m",), "most": ("m",), "rate": ("n",), "ends": (2,),
    "knots": ("p", 6, "w"), "weights": ("n", "d", 6), "piece": ("n",), "limits": ("l", "w"), "held": ("n",),
}  # fmt: skip

#: What limits of efforts need besides.
EFFORTS: dict[str, tuple[int | str, ...]] = {"terms": ("t", 3, "w"), "stencils": ("n", "d", STENCIL), "first": ("n",)}

#: What friction needs besides: what is added to c and b at places within each interval, and what is taken off the limits.
DRAG: dict[str, tuple[int | str, ...]] = {"drag": ("n", "d", 2, "w"), "reserve": ("n", "w")}

OUTPUTS: dict[str, tuple[int | str, ...]] = {"x": ("m",), "times": ("m",), "edges": (len(EDGES),)}

SAMPLES = Face("path_samples", {"weights": ("t", 3, 6), "piece": ("t",), "ends": ("p", 6, "w")}, {"state": ("t", 3, "w")})


def speeds(rows: Tape | None, caps: Tape, efforts: Tape | None, drag: Any = None) -> Callable[..., Any]:
    """The passes over lines that tapes make, and another one the greatest x at both ends; see `Backend.path_speeds`."""
    inputs = SPEEDS | (EFFORTS if efforts else {}) | (DRAG if drag is not None else {})
    face = Face("path_speeds", inputs, OUTPUTS)
    used = [name for name in inputs if name not in ("sets", "ends")]
    fill = _fill(", ".join(f"ptr %{name}" for name in used), rows, caps, efforts, drag)
    call = "call void @fill(i64 {k}, " + ", ".join(f"ptr %{name}" for name in used) + ", i64 %n, i64 %w, ptr %carry)"
    parts = [fill, *reachability.along_paths((*inputs, *OUTPUTS), call)]
    digests = " ".join(tape.digest if tape else "none" for tape in (rows, caps, efforts))
    version = f"{LOWERING} {reachability.LOWERING} {STENCIL} {digests} {drag is not None}"
    return loop_gufunc(face, parts, version)


def samples() -> Callable[..., Any]:
    """Values and derivatives of polynomials, each a sum of six numbers at the ends of its piece."""
    return loop_gufunc(SAMPLES, [_samples()], LOWERING)


def loop_gufunc(face: Face, parts: list[str], version: str) -> Callable[..., Any]:
    """The gufunc of a module that defines ``@loop_double``; its version is part of the key of its object code."""
    code = load_made(machine_key(f"{face.name} {version}", "float64"), lambda: llvm.compiled(llvm.module(parts)))
    memory = Memory(face, [("float64", LOOP(code.address("loop_double")))], "")
    memory.held.append(code)
    gufunc: Callable[..., Any] = make(memory, len(face.inputs), len(face.outputs))
    return gufunc


def lane_text(part: str) -> Text:
    """The text of a function whose vectors hold joints."""
    return Text("double", LANES, llvm.host().has_fma, part)


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


def _fill(pointers: str, rows: Tape | None, caps: Tape, efforts: Tape | None, drag: Any) -> str:
    """``@fill``: of interval k the lines of all limits, the cap at the node after it, and whether the path can stand there.

    The Bernstein coefficients of slopes are sums of values at the ends of the piece, and those of efforts of values at
    places about the interval, weighted by numbers that all paths share. ``%carry`` holds what is known from interval k + 1:
    the caps at its first node by its own limits, which are all that is left with k = -1, and the coefficients there.
    """
    t = lane_text("fill")
    t.begin()
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
    """Emit: lines for efforts, and by how much these exceed limits at rest, in ``%excess``."""
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
    """Emit: the coefficients of what friction adds to c, or to b, from its values."""
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
    """Emit: the least of all lanes, and of what is allowed at a node at most, is its cap."""
    half = LANES // 2
    while half:
        mask = f"<{LANES} x i32> <{', '.join(f'i32 {k ^ half}' for k in range(LANES))}>"
        value = _less(t, value, t.emit(f"shufflevector {t.vector} {value}, {t.vector} poison, {mask}"))
        half //= 2
    number, most = t.emit(f"extractelement {t.vector} {value}, i32 0"), t.load("double", "%most", node)
    less = t.emit(f"fcmp olt double {number}, {most}")
    least = t.emit(f"select i1 {less}, double {number}, double {most}")
    t.do(f"store double {least}, ptr {t.at('double', '%cap', node)}, align 8")


@contextmanager
def each_path(t: Text, face: Face) -> Iterator[dict[str, str]]:
    """The loop over paths: where the arrays of each begin, by their names."""
    t.do("%none = icmp sle i64 %count, 0")
    t.do("br i1 %none, label %end, label %start")
    t.start("start")
    with t.loop("path", "%count") as j:
        base = {}
        for place, name in enumerate((*face.inputs, *face.outputs)):
            data, step = t.load("ptr", "%args", place), t.load("i64", "%steps", place)
            base[name] = t.at("i8", data, t.emit(f"mul i64 {j}, {step}"))
        yield base


def _samples() -> str:
    """The loop over paths and places."""
    t = lane_text("main")
    t.begin()
    for name, place in (("count", 0), ("t", 1), ("w", 5)):
        t.do(f"%{name} = load i64, ptr {t.at('i64', '%dimensions', place)}")
    t.do(f"%groups = udiv i64 %w, {LANES}")
    with each_path(t, SAMPLES) as base, t.loop("sample", "%t") as k:
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
    t.go_on("end")
    t.do("ret void")
    return t.function("define void @loop_double(ptr %args, ptr %dimensions, ptr %steps, ptr %data)")
