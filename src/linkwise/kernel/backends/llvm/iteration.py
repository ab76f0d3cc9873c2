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
    """Emit the body of a step, the copying of rows, and ``@loop_double``."""
    arithmetic = body(program.step, t)
    t.begin()
    set_constants(t, program.step, "%out")
    t.do("ret void")
    constants = t.function("define internal void @constants(ptr %out)", kind="noinline #0")
    return [arithmetic, constants, moving(t), *_Lanes(program, t).parts()]


class _Lanes:
    """Writes the initialization and the output of a lane, and the loop over tasks."""

    def __init__(self, program: IterationProgram, t: Text) -> None:
        self.t, self.sizes = t, program.sizes
        self.state = sum(self.sizes[name] for name in ("parameters", "q0", "settings"))
        self.row_length = self.sizes["q0"] + self.sizes["aux"] + 1
        self.all = (1 << t.width) - 1

    def parts(self) -> list[str]:
        """Emit all functions."""
        zeros = f"@zeros = internal constant [{self.sizes['aux']} x double] zeroinitializer"
        return [zeros, *map(self._copied, (True, False)), self._begin(), self._finish(), self._advance(), self._main()]

    def _copied(self, inward: bool) -> str:
        """``@put`` and ``@get``: copy a row of numbers to one lane of a block, from an element on, and back."""
        t = self.t
        t.begin()
        with t.counted("number", "%count") as k:
            at = t.emit(f"add i64 %first, {k}") if inward else k
            place = t.at("double", "%block", t.emit(f"add i64 {t.emit(f'mul i64 {at}, {t.width}')}, %lane"))
            row = t.at("double", "%row", k)
            t.copy(*((place, row) if inward else (row, place)), 8, 8)
        t.do("ret void")
        name, first = ("put", "i64 %first, ") if inward else ("get", "")
        return t.function(f"define internal void @{name}(ptr %block, {first}i64 %lane, ptr %row, i64 %count)")

    def _row(self, k: int) -> str:
        """Emit: where the row of an argument is for the task at hand."""
        t = self.t
        return t.at("i8", t.load("ptr", "%args", k), t.emit(f"mul i64 %task, {t.load('i64', '%steps', k)}"))

    def _begin(self) -> str:
        """``@begin``: load a task into a lane, at one of its starts."""
        t, n = self.t, self.sizes["q0"]
        t.begin()
        parameters, q0, starts, settings = (self._row(k) for k in range(4))
        before = t.emit("sub i64 %attempt, 1")
        start = t.at("double", starts, t.emit(f"mul i64 {before}, {n}"))
        begun = t.emit(f"select i1 {t.emit('icmp eq i64 %attempt, 0')}, ptr {q0}, ptr {start}")
        place = 0
        rows = {parameters: "parameters", q0: "q0", settings: "settings", begun: "q0", "@zeros": "aux"}
        for row, name in rows.items():
            t.do(f"call void @put(ptr %in, i64 {place}, i64 %lane, ptr {row}, i64 {self.sizes[name]})")
            place += self.sizes[name]
        t.do("ret void")
        head = "define internal void @begin(ptr %args, ptr %steps, ptr %in, i64 %lane, i64 %task, i64 %attempt)"
        return t.function(head, kind="noinline #0")

    def _finish(self) -> str:
        """``@finish``: the row of a task written."""
        t = self.t
        t.begin()
        t.do(f"call void @get(ptr %out, i64 %lane, ptr {self._row(4)}, i64 {self.row_length})")
        t.do("ret void")
        head = "define internal void @finish(ptr %args, ptr %steps, ptr %out, i64 %lane, i64 %task)"
        return t.function(head, kind="noinline #0")

    def _advance(self) -> str:
        """``@advance``: a step of all lanes; a bit for each that is done, and 32 bits higher for each that is solved."""
        t = self.t
        t.begin()
        t.do(f"call void @body_{t.tag}(ptr %in, ptr %out)")
        state = t.emit(f"getelementptr {t.vector}, ptr %in, i64 {self.state}")
        t.do(f"call void @move(ptr {state}, ptr %out, i64 {self.row_length - 1})")
        at = t.emit(f"getelementptr {t.vector}, ptr %out, i64 {self.row_length - 1}")
        status = t.emit(f"load {t.vector}, ptr {at}, align {t.vector_size}")
        over, solved = (self._word(f"fcmp {order} {t.vector} {status}, {t.number(0.0)}") for order in ("une", "ogt"))
        high = t.emit(f"shl i64 {solved}, 32")
        t.do(f"ret i64 {t.emit(f'or i64 {over}, {high}')}")
        return t.function("define internal i64 @advance(ptr %in, ptr %out)", kind="noinline #0")

    def _word(self, test: str) -> str:
        t = self.t
        return t.emit(f"zext i{t.width} {t.emit(f'bitcast {t.mask} {t.emit(test)} to i{t.width}')} to i64")

    def _main(self) -> str:
        """``@loop_double``."""
        t = self.t
        t.begin()
        for name, size in (("in", self.state + self.row_length - 1), ("out", self.row_length)):
            t.do(f"%{name} = alloca [{size} x {t.vector}], align {max(64, t.vector_size)}")
        for name in ("tasks", "attempts") if t.width > 1 else ():
            t.do(f"%{name}.of = alloca [{t.width} x i64], align 8")
        t.do("%count = load i64, ptr %dimensions")
        t.do(f"%starts = load i64, ptr {t.at('i64', '%dimensions', 3)}")
        t.do("%attempts = add i64 %starts, 1")
        t.branch(t.emit(f"icmp sle i64 %count, {t.first}"), "end", "choose")
        t.start("choose")
        t.do("call void @constants(ptr %out)")
        if t.width == 1:
            self._one_by_one()
        else:
            self._abreast()
            self._refill()
        t.start("end")
        t.do("ret void")
        return t.function(f"define void @loop_double(ptr %args, ptr %dimensions, ptr %steps, ptr %data{t.share})")

    # ── what is emitted often ─────────────────────────────────────────────────────────────────────

    def _begin_lane(self, lane: str, task: str, attempt: str) -> None:
        self.t.do(f"call void @begin(ptr %args, ptr %steps, ptr %in, i64 {lane}, i64 {task}, i64 {attempt})")

    def _write(self, lane: str, task: str) -> None:
        self.t.do(f"call void @finish(ptr %args, ptr %steps, ptr %out, i64 {lane}, i64 {task})")

    def _step(self) -> str:
        return self.t.emit("call i64 @advance(ptr %in, ptr %out)")

    def _lowest(self, bits: str) -> str:
        return self.t.emit(f"call i64 @llvm.cttz.i64(i64 {bits}, i1 true)")

    def _is_last(self, solved: str, attempt: str) -> str:
        """Emit: true if no attempt follows."""
        t = self.t
        return t.emit(f"or i1 {solved}, {t.emit(f'icmp uge i64 {attempt}, %attempts')}")

    def _taken(self, count: str) -> str:
        """Emit: a bit for each of the first lanes that have something to do."""
        t = self.t
        some = t.emit(f"sub i64 {t.emit(f'shl i64 1, {count}')}, 1")
        return t.emit(f"select i1 {t.emit(f'icmp uge i64 {count}, {t.width}')}, i64 {self.all}, i64 {some}")

    # ── the loops over tasks ──────────────────────────────────────────────────────────────────────

    def _one_by_one(self) -> None:
        """Emit one lane: every `step`-th task from the first on, one start after the other."""
        t = self.t
        t.go_on("task")
        t.do(f"%j = phi i64 [ {t.first}, %choose ], [ %j1, %write ]")
        t.go_on("start")
        t.do("%attempt = phi i64 [ 0, %task ], [ %attempt1, %tried ]")
        self._begin_lane("0", "%j", "%attempt")
        t.go_on("run")
        word = self._step()
        t.branch(t.emit(f"icmp eq i64 {word}, 0"), "run", "tried")
        t.start("tried")
        t.do("%attempt1 = add i64 %attempt, 1")
        t.branch(self._is_last(t.emit(f"icmp ugt i64 {word}, 1"), "%attempt1"), "write", "start")
        t.start("write")
        self._write("0", "%j")
        t.do(f"%j1 = add i64 %j, {t.step}")
        t.branch(t.emit("icmp ult i64 %j1, %count"), "task", "end")

    def _abreast(self) -> None:
        """Fewer tasks than lanes: the lanes take the starts of one task side by side, the first that arrives counts."""
        t = self.t
        few, several = t.emit(f"icmp slt i64 %count, {t.width}"), t.emit("icmp sgt i64 %starts, 0")
        t.branch(t.emit(f"and i1 {few}, {several}"), "task", "tasks")
        t.start("task")
        t.do("%j = phi i64 [ 0, %choose ], [ %j1, %task.done ]")
        t.go_on("heat")
        t.do("%first = phi i64 [ 0, %task ], [ %first1, %heat.lost ]")
        with t.loop("line", t.width) as lane:
            attempt = t.emit(f"add i64 %first, {lane}")
            real = t.emit(f"icmp ult i64 {attempt}, %attempts")
            self._begin_lane(lane, "%j", t.emit(f"select i1 {real}, i64 {attempt}, i64 0"))
        begun, before = self._taken(t.emit("sub i64 %attempts, %first")), t.block
        t.go_on("run")
        t.do(f"%running = phi i64 [ {begun}, %{before} ], [ %running, %run ], [ %running1, %checked ]")
        t.do(f"%won = phi i64 [ 0, %{before} ], [ %won, %run ], [ %won1, %checked ]")
        word = self._step()
        over = t.emit(f"and i64 {word}, %running")
        t.branch(t.emit(f"icmp eq i64 {over}, 0"), "run", "check")
        t.start("check")
        good = t.emit(f"and i64 {t.emit(f'lshr i64 {word}, 32')}, %running")
        t.branch(t.emit(f"icmp eq i64 {good}, 0"), "lost", "gained")
        t.start("gained")
        winner = self._lowest(good)
        self._write(winner, "%j")
        below = t.emit(f"sub i64 {t.emit(f'shl i64 1, {winner}')}, 1")
        t.do("br label %checked")
        t.start("lost")
        with t.when(t.emit("icmp eq i64 %won, 0"), "note"):
            self._write(self._lowest(over), "%j")
        lost = t.block
        t.go_on("checked")
        keep = t.emit(f"phi i64 [ {below}, %gained ], [ {self.all}, %{lost} ]")
        t.do(f"%won1 = phi i64 [ 1, %gained ], [ %won, %{lost} ]")
        less = t.emit(f"and i64 %running, {t.emit(f'xor i64 {over}, -1')}")
        t.do(f"%running1 = and i64 {less}, {keep}")
        t.branch(t.emit("icmp ne i64 %running1, 0"), "run", "heat.over")
        t.start("heat.over")
        t.branch(t.emit("icmp ne i64 %won1, 0"), "task.done", "heat.lost")
        t.start("heat.lost")
        t.do(f"%first1 = add i64 %first, {t.width}")
        t.branch(t.emit("icmp ult i64 %first1, %attempts"), "heat", "task.done")
        t.start("task.done")
        t.do("%j1 = add i64 %j, 1")
        t.branch(t.emit("icmp ult i64 %j1, %count"), "task", "end")

    def _refill(self) -> None:
        """A task a lane; a lane that is done takes the next start or the next task."""
        t = self.t
        t.start("tasks")
        with t.loop("fill", t.width) as lane:
            real = t.emit(f"icmp ult i64 {lane}, %count")
            task = t.emit(f"select i1 {real}, i64 {lane}, i64 0")
            self._begin_lane(lane, task, "0")
            t.do(f"store i64 {task}, ptr {t.at('i64', '%tasks.of', lane)}")
            t.do(f"store i64 0, ptr {t.at('i64', '%attempts.of', lane)}")
        full = t.emit(f"icmp uge i64 %count, {t.width}")
        lanes, begun, before = self._taken("%count"), t.emit(f"select i1 {full}, i64 {t.width}, i64 %count"), t.block
        t.go_on("step")
        t.do(f"%active = phi i64 [ {lanes}, %{before} ], [ %active, %step ], [ %active2, %resume ]")
        t.do(f"%next = phi i64 [ {begun}, %{before} ], [ %next, %step ], [ %next2, %resume ]")
        word = self._step()
        stopped = t.emit(f"and i64 {word}, %active")
        t.branch(t.emit(f"icmp eq i64 {stopped}, 0"), "step", "sort")
        t.start("sort")
        good = t.emit(f"lshr i64 {word}, 32")
        t.go_on("handle")
        t.do(f"%bits = phi i64 [ {stopped}, %sort ], [ %bits1, %handled ]")
        t.do("%active1 = phi i64 [ %active, %sort ], [ %active2, %handled ]")
        t.do("%next1 = phi i64 [ %next, %sort ], [ %next2, %handled ]")
        self._next_in_lane(self._lowest("%bits"), good)
        t.branch(t.emit("icmp ne i64 %bits1, 0"), "handle", "handled.all")
        t.start("handled.all")
        t.branch(t.emit("icmp ne i64 %active2, 0"), "resume", "end")
        t.start("resume")
        t.do("br label %step")

    def _next_in_lane(self, lane: str, good: str) -> None:
        """Emit the next task of a finished lane, and the bit masks of lanes to be examined and of active ones."""
        t = self.t
        bit = t.emit(f"shl i64 1, {lane}")
        solved = t.emit(f"icmp ne i64 {t.emit(f'and i64 {good}, {bit}')}, 0")
        attempt_place, task_place = (t.at("i64", f"%{name}.of", lane) for name in ("attempts", "tasks"))
        attempt = t.emit(f"add i64 {t.load('i64', attempt_place, 0)}, 1")
        last, task = self._is_last(solved, attempt), t.load("i64", task_place, 0)
        t.branch(last, "write", "retry")
        t.start("retry")
        t.do(f"store i64 {attempt}, ptr {attempt_place}")
        self._begin_lane(lane, task, attempt)
        t.do("br label %handled")
        t.start("write")
        self._write(lane, task)
        t.branch(t.emit("icmp ult i64 %next1, %count"), "fresh", "idle")
        t.start("fresh")
        t.do(f"store i64 %next1, ptr {task_place}")
        t.do(f"store i64 0, ptr {attempt_place}")
        self._begin_lane(lane, "%next1", "0")
        following = t.emit("add i64 %next1, 1")
        t.do("br label %handled")
        t.start("idle")
        less = t.emit(f"and i64 %active1, {t.emit(f'xor i64 {bit}, -1')}")
        t.go_on("handled")
        t.do(f"%active2 = phi i64 [ %active1, %retry ], [ %active1, %fresh ], [ {less}, %idle ]")
        t.do(f"%next2 = phi i64 [ %next1, %retry ], [ {following}, %fresh ], [ %next1, %idle ]")
        t.do(f"%bits1 = and i64 %bits, {t.emit('sub i64 %bits, 1')}")


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
