"""The loop of a rollout around the arithmetic of its tapes, as LLVM text: steps inside, rollouts in vector lanes.

``void @rollout(ptr table)`` reads everything from one table of 64-bit words: the `HEAD`, three numbers per stage (`STAGE`),
then four words (`PORT`) for each array that is read or written. A block of ``width`` rollouts goes through all its instants
before the next block begins; its state never leaves the work space, of one vector per scalar.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from linkwise.kernel import threads
from linkwise.kernel.backends.llvm import lowering as llvm
from linkwise.kernel.backends.llvm.body import body
from linkwise.kernel.backends.llvm.loading import load_made
from linkwise.kernel.backends.llvm.processor import machine_key
from linkwise.kernel.backends.llvm.rows import moving, port, set_constants
from linkwise.kernel.backends.llvm.text import Text
from linkwise.kernel.rollout import Recorded, RolloutProgram, scaled
from linkwise.spatial.scalar import FloatArray

#: Steps of one call into machine code: between two calls Python sees to signals.
AT_ONCE = 400_000

_ROLLOUT = ctypes.CFUNCTYPE(None, ctypes.c_void_p)

#: Rollouts; steps; index of the first instant; instants from one record to the next; time of instant 0 and length of a step
#: (s, float64); the work space.
HEAD = ("count", "steps", "first", "record", "start", "step", "work")

#: Coefficients of one stage, times the length of a step (float64): factor to the next stage, share of the sum, time.
STAGE = ("advance", "weight", "delay")

#: Record of an array: its address, strides of rollouts and of instants in bytes, index of its last instant.
PORT = ("data", "row", "time", "last")


@dataclass(frozen=True)
class Space:
    """Offsets in the work space, in vectors."""

    state: int
    stage: int
    tau: int
    outputs: int
    law: int
    size: int

    @classmethod
    def of(cls, program: RolloutProgram) -> Space:
        """Lay out the work space of a program: the state, the stage's inputs and outputs, the law's inputs."""
        whole = program.nq + program.nv
        outputs = whole + program.stage.input_count
        law = outputs + len(program.stage.results)
        return cls(0, whole, 4 * whole, outputs, law, law + (program.law.input_count if program.law else 0))


def rollout(program: RolloutProgram, make: Text) -> list[str]:
    """Emit the bodies, the copying of arrays, and ``@rollout``."""
    return _Rollout(program, make).parts()


def words(program: RolloutProgram) -> int:
    """Length of the table."""
    return len(HEAD) + len(STAGE) * len(program.coefficients) + len(PORT) * (2 + len(program.reads) + 4)


class _Rollout:
    def __init__(self, program: RolloutProgram, like: Text) -> None:
        self.program, self.like = program, like
        self.space = Space.of(program)
        self.t = like.another("main")
        self.whole = program.nq + program.nv
        self.reads = program.reads
        self.writes = {"q": program.nq, "qd": program.nv, "qdd": program.nv, "tau": program.nv}

    def parts(self) -> list[str]:
        program = self.program
        parts = []
        for part, tape in program.tapes.items():
            parts.append(body(tape, self.like.another(part)))
        parts.append(moving(self.t))
        sizes = {"q0": program.nq, "qd0": program.nv} | {name: size for name, (size, _) in self.reads.items()}
        parts += [port(self.like.another("read"), name, size, inward=True) for name, size in sizes.items()]
        parts += [port(self.like.another("write"), name, size, inward=False) for name, size in self.writes.items()]
        self._main()
        head = f"define void @rollout(ptr %table{self.t.share}) #0 {{\nentry:\n"
        return [*parts, head + "\n".join(self.t.lines) + "\n}\n"]

    # ── small things ──────────────────────────────────────────────────────────────────────────────

    def _at(self, index: int) -> str:
        """A place in the work space."""
        return self.t.emit(f"getelementptr {self.t.vector}, ptr %work, i64 {index}")

    def _word(self, index: int, kind: str = "i64") -> str:
        return self.t.emit(f"load {kind}, ptr {self.t.at('i64', '%table', index)}")

    def _coefficient(self, stage: int, name: str) -> str:
        return self._word(len(HEAD) + len(STAGE) * stage + STAGE.index(name), "double")

    def _move(self, to: int, source: int, count: int) -> None:
        self.t.do(f"call void @move(ptr {self._at(to)}, ptr {self._at(source)}, i64 {count})")

    def _spread(self, number: str, index: int) -> None:
        """Put one number into all lanes of a place."""
        self.t.put(self.t.broadcast(number), "%work", index)

    def _body(self, part: str, inputs: int, outputs: int) -> None:
        self.t.do(f"call void @body_{self.like.another(part).tag}(ptr {self._at(inputs)}, ptr {self._at(outputs)})")

    def _transfer(self, name: str, at: int, instant: str, *, inward: bool) -> None:
        ports = ["q0", "qd0", *self.reads] if inward else list(self.writes)
        before = 0 if inward else 2 + len(self.reads)
        word = len(HEAD) + len(STAGE) * len(self.program.coefficients) + len(PORT) * (before + ports.index(name))
        port = self.t.emit(f"getelementptr i64, ptr %table, i64 {word}")
        verb = "read" if inward else "write"
        self.t.do(f"call void @{verb}_{name}(ptr {port}, i64 %begin, i64 %lanes, i64 {instant}, ptr {self._at(at)})")

    # ── the loop ──────────────────────────────────────────────────────────────────────────────────

    def _main(self) -> None:
        t = self.t
        head: tuple[str, ...] = HEAD
        if t.share:  # (each thread has its own work space)
            t.do(f"%work = alloca [{self.space.size} x {t.vector}], align 16")
            head = HEAD[:-1]
        for k, name in enumerate(head):
            kind = {"start": "double", "step": "double", "work": "ptr"}.get(name, "i64")
            t.do(f"%{name} = load {kind}, ptr {t.at('i64', '%table', k)}")
        set_constants(t, self.program.stage, self._at(self.space.outputs))
        if self.program.law is not None:
            set_constants(t, self.program.law, self._at(self.space.tau))
        t.do("br label %block")
        before = t.block
        t.start("block")
        t.do(f"%begin = phi i64 [ {t.first}, %{before} ], [ %begin.next, %over ]")
        t.do("%left = sub i64 %count, %begin")
        t.do("%more = icmp sgt i64 %left, 0")
        t.do("br i1 %more, label %load, label %end")
        t.start("load")
        t.do(f"%short = icmp slt i64 %left, {t.width}")
        t.do(f"%lanes = select i1 %short, i64 %left, i64 {t.width}")
        self._transfer("q0", self.space.state, "0", inward=True)
        self._transfer("qd0", self.space.state + self.program.nq, "0", inward=True)
        t.go_on("instant")
        for name, first in (("k", "0"), ("due", "0"), ("slot", "0")):
            t.do(f"%{name} = phi i64 [ {first}, %load ], [ %{name}.next, %advance ]")
        t.do("%index = add i64 %first, %k")
        self._read_inputs()
        self._first_stage()
        self._record()
        t.do("%last = icmp uge i64 %k, %steps")
        t.do("br i1 %last, label %over, label %advance")
        t.start("advance")
        self._advance()
        t.do("%k.next = add i64 %k, 1")
        t.do("br label %instant")
        t.start("over")
        t.do(f"%begin.next = add i64 %begin, {t.step}")
        t.do("br label %block")
        t.start("end")
        t.do("ret void")

    def _read_inputs(self) -> None:
        """Read the inputs of this instant; arrays without further rows keep their last one."""
        t, where = self.t, self.space
        t.do("%fresh = icmp eq i64 %k, 0")
        word = len(HEAD) + len(STAGE) * len(self.program.coefficients) + len(PORT) * 2 + PORT.index("last")
        for name, (_, offset) in self.reads.items():
            last = self._word(word)
            word += len(PORT)
            there = t.emit(f"icmp ule i64 %index, {last}")
            with t.when(t.emit(f"or i1 {there}, %fresh"), f"read.{name}"):
                self._transfer(name, (where.law if self.program.law else where.tau) + offset, "%index", inward=True)

    def _first_stage(self) -> None:
        """The state is the first point, and the start of the sum; the law sees it."""
        t, where = self.t, self.space
        number = t.emit("uitofp i64 %index to double")
        passed = t.emit(f"fmul double {number}, %step")
        t.do(f"%now = fadd double %start, {passed}")
        self._move(where.stage, where.state, self.whole)
        self._move(where.stage + self.whole, where.state, self.whole)
        self._move(where.stage + 2 * self.whole, where.state, self.whole)
        self._stage(0, "%now", ask=True)

    def _stage(self, k: int, time: str, *, ask: bool) -> None:
        where = self.space
        if self.program.law is not None and ask:
            self._spread(time, where.law)
            self._move(where.law + 1, where.stage, self.whole)
            self._body("law", where.law, where.tau)
        numbers = where.tau + self.program.nv
        self._spread(self._coefficient(k, "advance"), numbers)
        self._spread(self._coefficient(k, "weight"), numbers + 1)
        self._body("stage", where.stage, where.outputs)

    def _record(self) -> None:
        t, where = self.t, self.space
        t.do("%wanted = icmp eq i64 %due, 0")
        t.do("br i1 %wanted, label %write, label %written")
        before = t.block
        t.start("write")
        places = {
            "q": where.state,
            "qd": where.state + self.program.nq,
            "qdd": where.outputs + 2 * self.whole,
            "tau": where.tau,
        }
        for name, place in places.items():
            self._transfer(name, place, "%slot", inward=False)
        t.do("%slot.more = add i64 %slot, 1")
        t.go_on("written")
        t.do(f"%due.left = phi i64 [ %due, %{before} ], [ %record, %write ]")
        t.do(f"%slot.next = phi i64 [ %slot, %{before} ], [ %slot.more, %write ]")
        t.do("%due.next = sub i64 %due.left, 1")

    def _advance(self) -> None:
        """The stages after the first, then the new state."""
        t, where, program = self.t, self.space, self.program
        for k in range(1, len(program.coefficients)):
            self._move(where.stage, where.outputs, 2 * self.whole)
            time = t.emit(f"fadd double %now, {self._coefficient(k, 'delay')}")
            self._stage(k, time, ask=not program.hold)
        total = where.outputs + self.whole
        if program.finish is None:
            self._move(where.state, total, self.whole)
        else:
            self._body("finish", total, where.state)
            if len(program.finish.results) == program.nq:
                self._move(where.state + program.nq, total + program.nq, program.nv)


def compiled(program: RolloutProgram) -> Callable[..., Recorded]:
    """Compile a program; the result is called like `linkwise.kernel.rollout.Rollout`."""
    code = load_made(
        machine_key(program.digest, "float64"), lambda: object_code(program), lambda: llvm.vectors("float64").tag
    )

    stages = [program.stage] if program.law is None else [program.stage, program.law]
    operations = len(program.coefficients) * sum(threads.cost(tape) for tape in stages)

    def run(
        q: FloatArray, qd: FloatArray, reads: Sequence[FloatArray], *, start: float, step: float, steps: int, record: int
    ) -> Recorded:
        function = _ROLLOUT(code.address("rollout"))  # (the code lives as long as this function)
        inputs = [_rows(array) for array in reads]
        recorded = Recorded.empty(len(q), steps // record + 1, program.nq, program.nv)
        width = llvm.host().text("double").width
        across = min(len(q), max(width, AT_ONCE // max(1, steps) // width * width)) or 1
        along = max(1, AT_ONCE // across // record) * record
        q, qd = np.ascontiguousarray(q)[:, None], np.ascontiguousarray(qd)[:, None]

        def integrate(part: slice) -> Iterator[None]:
            work, align = _work_space(program)
            for row in range(part.start, part.stop, across):
                rows = slice(row, min(row + across, part.stop))
                now = (q[rows], qd[rows])
                for first in range(0, max(1, steps), along):
                    here = slice(first // record, None)
                    out = [array[rows, here] for array in (recorded.q, recorded.qd, recorded.qdd, recorded.tau)]
                    read = [array if len(array) == 1 else array[rows] for array in inputs]
                    ports = [_port(array) for array in (*now, *read, *out)]
                    head = (len(now[0]), min(along, steps - first), first, record, bits(start), bits(step), align)
                    table = table_of(program, head, step, ports)
                    function(table.ctypes.data)
                    now = (out[0][:, along // record :], out[1][:, along // record :])
                    yield
            del work

        threads.run(integrate, threads.pieces(len(q), operations * max(1, steps), width))
        return recorded

    return run


def object_code(program: RolloutProgram) -> bytes:
    """Compile a program to an object file."""
    return llvm.compiled(llvm.module(rollout(program, llvm.host().text("double"))))


def table_of(
    program: RolloutProgram, head: Sequence[int], step: float, ports: Sequence[Sequence[int]]
) -> npt.NDArray[np.int64]:
    """The table that the machine code reads: the numbers of `HEAD`, those of the stages, those of the arrays."""
    stages = [bits(number) for stage in scaled(program.coefficients, step) for number in stage]
    return np.array([*head, *stages, *(word for port in ports for word in port)], dtype=np.int64)


def _work_space(program: RolloutProgram) -> tuple[FloatArray, int]:
    """Room for the state and the stages of one block, and where it begins."""
    room = np.empty(Space.of(program).size * llvm.host().text("double").width + 8)
    return room, (int(room.ctypes.data) + 63) // 64 * 64


def _rows(array: npt.ArrayLike) -> FloatArray:
    """The same with the numbers of a row side by side; strides of zero, where something is repeated, are kept."""
    rows = np.asarray(array, dtype=np.float64)
    return rows if rows.strides[-1] == rows.itemsize or rows.shape[-1] == 1 else np.ascontiguousarray(rows)


def _port(array: FloatArray) -> tuple[int, int, int, int]:
    """The four words of `PORT`."""
    row = 0 if array.shape[0] == 1 else array.strides[0]
    return int(array.ctypes.data), row, array.strides[1], array.shape[1] - 1


def bits(number: float) -> int:
    """The bits of a float64 as an integer."""
    return int(np.float64(number).view(np.int64))
