"""Speeds along paths of polynomials, and the motion at instants, each a loop over paths: joints stand in vector lanes."""

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
from linkwise.kernel.reachability import LANES
from linkwise.kernel.tape import Tape

#: Counts the changes of this text, so that object code of an older one is not used.
LOWERING = "1"

SPEEDS = Face(
    "path_speeds",
    {"lines": ("n", "b", 3, LANES), "most": ("m",), "rate": ("n",), "ends": (2,), "slopes": ("p", "d", "w"),
     "weights": ("n", "d", "d"), "piece": ("n",), "limits": ("l", "w")},
    {"sets": ("m", 3), "cap": ("m",)},
)  # fmt: skip

MOTION = Face(
    "path_motion",
    {"time": ("k",), "times": ("m",), "x": ("m",), "nodes": ("m",), "piece": ("n",), "begin": ("p",), "length": ("p",),
     "ends": ("p", "c", "w")},
    {"q": ("k", "j"), "qd": ("k", "j"), "qdd": ("k", "j")},
)  # fmt: skip


def speeds(rows: Tape, caps: Tape) -> Callable[..., Any]:
    """The passes over lines that one tape makes, and another one the greatest x at both ends; see `path_programs`."""
    fill = "  call void @fill(" + ", ".join(f"ptr %{name}" for name in FILLED) + ", i64 %n, i64 %blocks)"
    parts = [_body(rows, "rows"), _body(caps, "caps"), _fill(), *reachability.parts((*SPEEDS.inputs, *SPEEDS.outputs), fill)]
    return _gufunc(SPEEDS, parts, f"{rows.digest} {caps.digest}")


def motion(tape: Tape) -> Callable[..., Any]:
    """Position, velocity and acceleration at instants, by a tape for one joint; see `path_programs`."""
    return _gufunc(MOTION, [_body(tape, "motion"), _motion()], tape.digest)


def _gufunc(face: Face, parts: list[str], digest: str) -> Callable[..., Any]:
    key = machine_key(f"{face.name} {LOWERING} {reachability.LOWERING} {digest}", "float64")
    code = load_made(key, lambda: llvm.compiled(llvm.module(parts)))
    memory = Memory(face, [("float64", LOOP(code.address("loop_double")))], "")
    memory.held.append(code)
    gufunc: Callable[..., Any] = make(memory, len(face.inputs), len(face.outputs))
    return gufunc


def _text(part: str) -> Text:
    return Text("double", LANES, llvm.host().has_fma, part)


def _body(tape: Tape, part: str) -> str:
    return body(tape, _text(part))


FILLED = ("lines", "most", "rate", "slopes", "weights", "piece", "limits", "cap")


def _near(t: Text, base: str, index: str) -> str:
    """Emit: load a vector of numbers in an array, from some number on."""
    return t.emit(f"load {t.vector}, ptr {t.at('double', base, index)}, align 8")


def _less(t: Text, x: str, y: str) -> str:
    return t.choose(t.emit(f"fcmp olt {t.vector} {x}, {y}"), x, y)


def _fill() -> str:
    """``@fill``: of each interval the Bernstein coefficients of slopes, the lines from those, and the caps at the nodes."""
    t = _text("fill")
    t.begin()
    for name, count in (("in", 8), ("caps", 2), ("near", 1), ("far", 1), ("carry", 1)):
        t.do(f"%{name} = alloca [{count} x {t.vector}], align 64")
    t.do("%groups = udiv i64 %blocks, 5")
    t.do(f"%width = mul i64 %groups, {LANES}")
    t.do("%skip = mul i64 %width, 5")
    t.put(t.number(float("inf")), "%carry", 0)
    with t.loop("interval", "%n") as k:
        rate = t.load("double", "%rate", k)
        t.put(t.broadcast(t.emit(f"fadd double {rate}, {rate}")), "%in", 5)
        number = t.load("double", "%piece", k)
        first = t.emit(f"mul i64 {t.emit(f'fptoui double {number} to i64')}, %skip")
        matrix = t.at("double", "%weights", t.emit(f"mul i64 {k}, 25"))
        for name in ("near", "far"):
            t.put(t.number(float("inf")), f"%{name}", 0)
        begin = t.emit(f"mul i64 {k}, %groups")
        with t.loop("group", "%groups") as group:
            lane = t.emit(f"mul i64 {group}, {LANES}")
            at = t.emit(f"add i64 {first}, {lane}")
            values = []
            for _ in range(5):
                values.append(_near(t, "%slopes", at))
                at = t.emit(f"add i64 {at}, %width")
            for row in range(5):
                total = t.op("fmul", t.broadcast(t.load("double", matrix, 5 * row)), values[0])
                for column in range(1, 5):
                    total = t.fma(t.broadcast(t.load("double", matrix, 5 * row + column)), values[column], total)
                t.put(total, "%in", row)
            t.put(_near(t, "%limits", lane), "%in", 6)
            t.put(_near(t, "%limits", t.emit(f"add i64 %width, {lane}")), "%in", 7)
            place = t.at(t.vector, "%lines", t.emit(f"mul i64 {t.emit(f'add i64 {begin}, {group}')}, 15"))
            t.do(f"call void @body_{_text('rows').tag}(ptr %in, ptr {place})")
            t.do(f"call void @body_{_text('caps').tag}(ptr %in, ptr %caps)")
            for side, name in enumerate(("%near", "%far")):
                t.put(_less(t, t.get("%caps", side), t.get(name, 0)), name, 0)
        _store_cap(t, _less(t, t.get("%carry", 0), t.get("%near", 0)), k)
        t.put(t.get("%far", 0), "%carry", 0)
    _store_cap(t, t.get("%carry", 0), "%n")
    t.do("ret void")
    arguments = ", ".join([f"ptr %{name}" for name in FILLED] + ["i64 %n", "i64 %blocks"])
    return t.function(f"define internal void @fill({arguments})")


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


def _motion() -> str:
    """The loop over paths and instants: an interval is looked for from that of the instant before on."""
    t = _text("main")
    t.begin()
    t.do(f"%in = alloca [10 x {t.vector}], align 64")
    t.do(f"%out = alloca [3 x {t.vector}], align 64")
    for name, place in (("count", 0), ("k", 1), ("m", 2), ("width", 6), ("joints", 7)):
        t.do(f"%{name} = load i64, ptr {t.at('i64', '%dimensions', place)}")
    t.do(f"%groups = udiv i64 %width, {LANES}")
    t.do("%n = sub i64 %m, 1")
    t.do("%final = sub i64 %n, 1")
    t.do("%none = icmp sle i64 %count, 0")
    t.do("br i1 %none, label %end, label %start")
    t.start("start")
    with t.loop("path", "%count") as j:
        base = {}
        for place, name in enumerate((*MOTION.inputs, *MOTION.outputs)):
            data, step = t.load("ptr", "%args", place), t.load("i64", "%steps", place)
            base[name] = t.at("i8", data, t.emit(f"mul i64 {j}, {step}"))
        stop, last = t.load("double", base["times"], "%n"), t.load("double", base["x"], "%n")
        rests = t.emit(f"fcmp oeq double {last}, 0.0")
        before = t.block
        t.do("br label %instant")
        t.start("instant")
        t.do(f"%i = phi i64 [ 0, %{before} ], [ %i.next, %instant.done ]")
        t.do(f"%kept = phi i64 [ 0, %{before} ], [ %at, %instant.done ]")
        time = t.load("double", base["time"], "%i")
        _cursor(t, base["times"], time)
        _instant(t, base, time, stop, rests)
        t.do("%i.next = add i64 %i, 1")
        t.do("%i.more = icmp ult i64 %i.next, %k")
        t.do("br i1 %i.more, label %instant, label %path.over")
        t.start("path.over")
    t.do("br label %end")
    t.start("end")
    t.do("ret void")
    return t.function("define void @loop_double(ptr %args, ptr %dimensions, ptr %steps, ptr %data)")


def _cursor(t: Text, times: str, time: str) -> None:
    """Emit: ``%at``, the last interval that does not begin after a time, the first and the last one for what is outside."""
    t.do("br label %back")
    t.start("back")
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


def _instant(t: Text, base: dict[str, str], time: str, stop: str, rests: str) -> None:
    """Emit: where along its piece the path is, squared speed and acceleration there, and the motion of all joints."""

    def op(name: str, x: str, y: str) -> str:
        return t.emit(f"{name} double {x}, {y}")

    def chosen(test: str, x: str, y: str) -> str:
        return t.emit(f"select i1 {test}, double {x}, double {y}")

    (s0, s1), (x0, x1) = ([t.load("double", base[name], at) for at in ("%at", "%higher")] for name in ("nodes", "x"))
    step = op("fsub", s1, s0)
    u = op("fdiv", op("fmul", "5.0e-1", op("fsub", x1, x0)), step)
    after, past = t.emit(f"fcmp oge double {time}, {stop}"), t.emit(f"fcmp ogt double {time}, {stop}")
    since = op("fsub", chosen(after, stop, time), t.load("double", base["times"], "%at"))
    speed = t.emit(f"call double @llvm.sqrt.f64(double {x0})")
    way = op("fmul", op("fadd", speed, op("fmul", op("fmul", "5.0e-1", u), since)), since)
    share = op("fdiv", way, step)
    share = chosen(t.emit(f"fcmp ogt double {share}, 0.0"), share, "0.0")
    share = chosen(t.emit(f"or i1 {after}, {t.emit(f'fcmp ogt double {share}, 1.0')}"), "1.0", share)
    x = op("fadd", x0, op("fmul", op("fmul", op("fmul", "2.0", u), step), share))
    still = t.emit(f"or i1 {past}, {t.emit(f'and i1 {after}, {rests}')}")
    none = t.emit(f"or i1 {still}, {t.emit(f'fcmp olt double {x}, 0.0')}")
    x, u = chosen(none, "0.0", x), chosen(still, "0.0", u)
    number = t.load("double", base["piece"], "%at")
    piece = t.emit(f"fptoui double {number} to i64")
    length = t.load("double", base["length"], piece)
    offset = op("fsub", s0, t.load("double", base["begin"], piece))
    z = op("fdiv", op("fadd", offset, op("fmul", share, step)), length)
    z = chosen(t.emit(f"fcmp ogt double {z}, 1.0"), "1.0", z)
    for place, number in enumerate((length, z, u, x), 6):
        t.put(t.broadcast(number), "%in", place)
    first = t.emit(f"mul i64 {piece}, {t.emit('mul i64 %width, 6')}")
    row = t.emit("mul i64 %i, %joints")
    with t.loop("group", "%groups") as group:
        lane = t.emit(f"mul i64 {group}, {LANES}")
        at = t.emit(f"add i64 {first}, {lane}")
        for k in range(6):
            t.put(_near(t, base["ends"], at), "%in", k)
            at = t.emit(f"add i64 {at}, %width")
        t.do(f"call void @body_{_text('motion').tag}(ptr %in, ptr %out)")
        left = t.emit(f"sub i64 %joints, {lane}")
        few = t.emit(f"icmp ult i64 {left}, {LANES}")
        most = t.emit(f"select i1 {few}, i64 {left}, i64 {LANES}")
        begin = t.emit(f"add i64 {row}, {lane}")
        targets = [t.at("double", base[name], begin) for name in MOTION.outputs]
        with t.loop("lane", most) as one:
            for k, target in enumerate(targets):
                t.copy(t.at("double", target, one), t.at("double", t.at(t.vector, "%out", k), one), 8, 8)
    t.do("br label %instant.done")
    t.start("instant.done")
