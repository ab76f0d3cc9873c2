"""Greatest speeds along paths of polynomials: limits' lines and both passes, a loop over paths, joints in vector lanes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from linkwise.kernel.backends.llvm import lowering as llvm
from linkwise.kernel.backends.llvm import reachability
from linkwise.kernel.backends.llvm.body import body
from linkwise.kernel.backends.llvm.loading import load_made
from linkwise.kernel.backends.llvm.processor import machine_key
from linkwise.kernel.backends.llvm.text import Text
from linkwise.kernel.gufunc import LOOP, Face, Memory, make
from linkwise.kernel.reachability import EDGES, LANES, STENCIL
from linkwise.kernel.tape import Tape

#: Counts the changes of this text, so that object code of an older one is not used.
LOWERING = "5"

#: Bernstein coefficients of what is limited, and so rows of lines of one joint.
ROWS = 5

SPEEDS: dict[str, tuple[int | str, ...]] = {
    "lines": ("n", "b", 3, LANES), "sets": ("m", 3), "cap": ("m",), "most": ("m",), "rate": ("n",), "ends": (2,),
    "knots": ("p", 6, "w"), "weights": ("n", "d", 6), "piece": ("n",), "limits": ("l", "w"), "held": ("n",),
}  # fmt: skip

#: What limits of efforts need besides.
EFFORTS: dict[str, tuple[int | str, ...]] = {"terms": ("t", 3, "w"), "stencils": ("n", "d", STENCIL), "first": ("n",)}

OUTPUTS: dict[str, tuple[int | str, ...]] = {"x": ("m",), "times": ("m",), "edges": (len(EDGES),)}

SAMPLES = Face("path_samples", {"weights": ("t", 3, 6), "piece": ("t",), "ends": ("p", 6, "w")}, {"state": ("t", 3, "w")})


def speeds(rows: Tape | None, caps: Tape, efforts: Tape | None) -> Callable[..., Any]:
    """The passes over lines that tapes make, and another one the greatest x at both ends; see `Backend.path_speeds`."""
    inputs = SPEEDS | (EFFORTS if efforts else {})
    face = Face("path_speeds", inputs, OUTPUTS)
    tapes = {"rows": rows, "caps": caps, "efforts": efforts}
    bodies = [lane_body(tape, name) for name, tape in tapes.items() if tape]
    used = [name for name in inputs if name not in ("sets", "ends")]
    fill = _fill(", ".join(f"ptr %{name}" for name in used), rows is not None, efforts is not None)
    call = "call void @fill(i64 {k}, " + ", ".join(f"ptr %{name}" for name in used) + ", i64 %n, i64 %w, ptr %carry)"
    parts = [*bodies, fill, *reachability.along_paths((*inputs, *OUTPUTS), call)]
    digests = " ".join(tape.digest if tape else "none" for tape in tapes.values())
    return loop_gufunc(face, parts, f"{LOWERING} {reachability.LOWERING} {STENCIL} {digests}")


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


def lane_body(tape: Tape, part: str) -> str:
    """A tape for one joint as a function over vectors of joints."""
    return body(tape, lane_text(part))


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


def _fill(pointers: str, rates: bool, efforts: bool) -> str:
    """``@fill``: of interval k the lines of all limits, the cap at the node after it, and whether the path can stand there.

    The Bernstein coefficients of slopes are sums of values at the ends of the piece, and those of efforts of values at
    places about the interval, weighted by numbers that all paths share. ``%carry`` holds what is known from interval k + 1:
    the caps at its first node by its own limits, which are all that is left with k = -1, and the coefficients there.
    """
    t = lane_text("fill")
    t.begin()
    for name, size in (("in", 17), ("caps", 2), ("near", 1), ("far", 1), ("most.low", 1)):
        t.do(f"%{name} = alloca [{size} x {t.vector}], align 64")
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
    t.put(t.number(0.0), "%most.low", 0)
    begin = t.emit(f"mul i64 %k, {t.emit(f'mul i64 %groups, {rates + efforts}')}")
    with t.loop("group", "%groups") as group:
        lane = t.emit(f"mul i64 {group}, {LANES}")
        place = t.emit(f"add i64 {begin}, {group}")
        _rate_lines(t, first, lane, matrix, pace, place if rates else None)
        if efforts:
            _effort_lines(t, "%k", lane, span, t.emit(f"add i64 {place}, %groups") if rates else place)
    over = t.emit(f"fcmp ogt {t.vector} {t.get('%most.low', 0)}, zeroinitializer")
    bits = t.emit(f"bitcast {t.mask} {over} to i{LANES}")
    stands = t.emit(f"uitofp i1 {t.emit(f'icmp eq i{LANES} {bits}, 0')} to double")
    t.do(f"store double {stands}, ptr {t.at('double', '%held', '%k')}, align 8")
    t.do("br label %over")
    t.start("over")
    _store_cap(t, _less(t, t.get("%carry", 0), t.get("%far", 0)), "%behind")
    t.put(t.get("%near", 0), "%carry", 0)
    t.do("ret void")
    return t.function(f"define internal void @fill(i64 %k, {pointers}, i64 %n, i64 %w, ptr %carry)")


def _coefficients(t: Text, name: str, matrix: str, values: list[str], place: int, kept: str) -> None:
    """Emit: the coefficients of a polynomial in an interval, from some place of the inputs on.

    The last one is the first one of the next interval, which is kept, but in the last interval.
    """
    t.do(f"br i1 %final, label %{name}.last, label %{name}.all")
    t.start(f"{name}.last")
    t.put(_times(t, matrix, ROWS - 1, values), kept, 0)
    t.do(f"br label %{name}.all")
    t.start(f"{name}.all")
    first, *others = [_times(t, matrix, row, values) for row in range(ROWS - 1)]
    for row, value in enumerate([first, *others, t.get(kept, 0)]):
        t.put(value, "%in", place + row)
    t.put(first, kept, 0)


def _rate_lines(t: Text, first: str, lane: str, matrix: str, pace: str, place: str | None) -> None:
    """Emit: caps for velocities, and lines for accelerations unless there is no place for them."""
    at = t.emit(f"add i64 {first}, {lane}")
    values = []
    for _ in range(6):
        values.append(load_lanes(t, "%knots", at))
        at = t.emit(f"add i64 {at}, %w")
    _coefficients(t, "slope", matrix, values, 0, t.at(t.vector, "%carry", t.emit(f"add i64 {lane}, 1")))
    t.put(pace, "%in", ROWS)
    t.put(load_lanes(t, "%limits", lane), "%in", ROWS + 1)
    t.put(load_lanes(t, "%limits", t.emit(f"add i64 %w, {lane}")), "%in", ROWS + 2)
    if place is not None:
        target = t.at(t.vector, "%lines", t.emit(f"mul i64 {place}, {3 * ROWS}"))
        t.do(f"call void @body_{lane_text('rows').tag}(ptr %in, ptr {target})")
    t.do(f"call void @body_{lane_text('caps').tag}(ptr %in, ptr %caps)")
    for side, name in enumerate(("%near", "%far")):
        t.put(_less(t, t.get("%caps", side), t.get(name, 0)), name, 0)


def _effort_lines(t: Text, k: str, lane: str, span: str, place: str) -> None:
    """Emit: lines for efforts, and the greatest lower and least upper one at x = 0, its sign turned, in ``%most.low``."""
    stencil = t.at("double", "%stencils", t.emit(f"mul i64 {k}, {ROWS * STENCIL}"))
    sample = t.emit(f"fptoui double {t.load('double', '%first', k)} to i64")
    width = t.emit("mul i64 %w, 3")
    for term in range(3):
        offset = t.emit(f"add i64 {lane}, {t.emit(f'mul i64 %w, {term}')}")
        at = t.emit(f"add i64 {t.emit(f'mul i64 {sample}, {width}')}, {offset}")
        values = []
        for _ in range(STENCIL):
            values.append(load_lanes(t, "%terms", at))
            at = t.emit(f"add i64 {at}, {width}")
        kept = t.at(t.vector, "%carry", t.emit(f"add i64 {lane}, {2 + term}"))
        _coefficients(t, f"term{term}", stencil, values, term * ROWS, kept)
    t.put(span, "%in", 3 * ROWS)
    t.put(load_lanes(t, "%limits", t.emit(f"add i64 {t.emit('mul i64 %w, 2')}, {lane}")), "%in", 3 * ROWS + 1)
    target = t.at(t.vector, "%lines", t.emit(f"mul i64 {place}, {3 * ROWS}"))
    t.do(f"call void @body_{lane_text('efforts').tag}(ptr %in, ptr {target})")
    worst = t.get("%most.low", 0)
    for row in range(ROWS):
        for value in (t.get(target, 3 * row + 1), t.negative(t.get(target, 3 * row + 2))):
            worst = t.choose(t.emit(f"fcmp ogt {t.vector} {value}, {worst}"), value, worst)
    t.put(worst, "%most.low", 0)


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


def _samples() -> str:
    """The loop over paths and places."""
    t = lane_text("main")
    t.begin()
    for name, place in (("count", 0), ("t", 1), ("w", 5)):
        t.do(f"%{name} = load i64, ptr {t.at('i64', '%dimensions', place)}")
    t.do(f"%groups = udiv i64 %w, {LANES}")
    t.do("%none = icmp sle i64 %count, 0")
    t.do("br i1 %none, label %end, label %start")
    t.start("start")
    with t.loop("path", "%count") as j:
        base = {}
        for place, name in enumerate((*SAMPLES.inputs, *SAMPLES.outputs)):
            data, step = t.load("ptr", "%args", place), t.load("i64", "%steps", place)
            base[name] = t.at("i8", data, t.emit(f"mul i64 {j}, {step}"))
        with t.loop("sample", "%t") as k:
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
    t.do("br label %end")
    t.start("end")
    t.do("ret void")
    return t.function("define void @loop_double(ptr %args, ptr %dimensions, ptr %steps, ptr %data)")
