"""The motion along paths of polynomials at instants, a loop over paths: joints stand in vector lanes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from linkwise.kernel.backends.llvm.body import inlined
from linkwise.kernel.backends.llvm.path_speeds import each_path, lane_text, load_lanes, loop_gufunc
from linkwise.kernel.backends.llvm.text import Text
from linkwise.kernel.gufunc import Face
from linkwise.kernel.reachability import LANES
from linkwise.kernel.tape import Tape

#: Counts the changes of this text, so that object code of an older one is not used.
LOWERING = "6"

MOTION = Face(
    "path_motion",
    {"time": ("k",), "times": ("m",), "x": ("m",), "nodes": ("m",), "rate": ("n",), "piece": ("n",), "begin": ("p",),
     "length": ("p",), "pace": ("p",), "ends": ("p", "c", "w")},
    {"q": ("k", "j"), "qd": ("k", "j"), "qdd": ("k", "j")},
)  # fmt: skip


def motion(tape: Tape) -> Callable[..., Any]:
    """Position, velocity and acceleration at instants, by a tape for one joint; see `linkwise.trajectory.compiled_path`."""
    return loop_gufunc(MOTION, [_motion(tape)], f"{LOWERING} {tape.digest}")


def _motion(tape: Tape) -> str:
    """The loop over paths and instants: an interval is looked for from that of the instant before on."""
    t = lane_text("main")
    t.begin()
    for name, place in (("count", 0), ("k", 1), ("m", 2), ("width", 6), ("joints", 7)):
        t.do(f"%{name} = load i64, ptr {t.at('i64', '%dimensions', place)}")
    t.do(f"%groups = udiv i64 %width, {LANES}")
    t.do("%n = sub i64 %m, 1")
    t.do("%final = sub i64 %n, 1")
    with each_path(t, MOTION) as base:
        stop, last = t.load("double", base["times"], "%n"), t.load("double", base["x"], "%n")
        rests = t.emit(f"fcmp oeq double {last}, 0.0")
        before = t.block
        t.do("br label %instant")
        t.start("instant")
        t.do(f"%i = phi i64 [ 0, %{before} ], [ %i.next, %instant.done ]")
        t.do(f"%kept = phi i64 [ 0, %{before} ], [ %at, %instant.done ]")
        time = t.load("double", base["time"], "%i")
        _cursor(t, base["times"], time)
        _instant(t, tape, base, time, stop, rests)
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
    t.do("br label %instant.done")
    t.start("instant.done")
