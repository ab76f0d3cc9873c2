"""The arithmetic of a tape as straight-line LLVM text, one configuration per vector lane."""

from __future__ import annotations

from linkwise.kernel.llvm_math import sine_cosine
from linkwise.kernel.llvm_reduction import beyond
from linkwise.kernel.llvm_text import Text
from linkwise.kernel.tape import Tape

_UNARY = {"sqrt": "sqrt", "abs": "fabs"}
_BINARY = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}


def body(tape: Tape, t: Text) -> str:
    """Emit ``void @body(ptr in, ptr out)``: element k of all lanes is the vector at index k of ``in``, of ``out``."""
    writer = _Writer(tape, t)
    writer.write()
    return "\n".join(
        [
            f"define internal void @body_{t.tag}(ptr noalias %in, ptr noalias %out) noinline #0 {{",
            "entry:",
            f"  %space = alloca [3 x {t.vector}], align 64",
            *t.lines,
            "}",
        ]
    )


class _Writer:
    def __init__(self, tape: Tape, t: Text) -> None:
        self.tape, self.t = tape, t
        self.names: dict[int, str] = {}
        self.negated: dict[int, str] = {}
        self.fused = _fused_products(tape) if t.has_fma else _Fusion()
        self.pairs: dict[int, tuple[str, str]] = {}

    def write(self) -> None:
        """Emit everything: first what angles need and their sines and cosines, level by level, then the rest in order."""
        levels = _levels(self.tape)
        first = self.tape.first_result
        for level in range(1, max(levels, default=0) + 1):
            here = [k for k, value in enumerate(levels) if value == level and self.tape.code[k].op in {"sin", "cos"}]
            angles = list(dict.fromkeys(self.tape.code[k].args[0] for k in here))
            for slot in sorted(self._needed(angles)):
                self._instruction(slot)
            self._circular(level, angles)
        for k in range(len(self.tape.code)):
            self._instruction(first + k)
        for k, slot in enumerate(self.tape.results):
            if self.tape.constant(slot) is None:
                self._store(k, self.name(slot))
        self.t.do("ret void")

    def _needed(self, slots: list[int]) -> set[int]:
        """The instructions that these slots depend on, themselves included."""
        found: set[int] = set()
        waiting = [slot for slot in slots if slot >= self.tape.first_result]
        while waiting:
            slot = waiting.pop()
            if slot not in found:
                found.add(slot)
                args = self.tape.code[slot - self.tape.first_result].args
                waiting += [arg for arg in args if arg >= self.tape.first_result]
        return found

    def name(self, slot: int) -> str:
        """The name of the value in a slot; inputs are loaded where they are first needed, constants written in place."""
        number = self.tape.constant(slot)
        if number is not None:
            return self.t.number(number)
        if slot not in self.names:
            address = self.t.emit(f"getelementptr {self.t.vector}, ptr %in, i64 {slot}")
            self.names[slot] = self.t.emit(f"load {self.t.vector}, ptr {address}, align {self.t.vector_size}")
        return self.names[slot]

    def _instruction(self, slot: int) -> None:
        instruction = self.tape.code[slot - self.tape.first_result]
        op, args = instruction.op, instruction.args
        if slot in self.names:
            return
        if op in {"sin", "cos"}:
            self.names[slot] = self.pairs[args[0]][op == "cos"]
        elif slot in self.fused.absorbed:
            return
        elif slot in self.fused.product_of:
            self.names[slot] = self._fused(op, args, self.fused.product_of[slot])
        elif op == "neg":
            self.names[slot] = self._negative(args[0])
        elif op == "sign":
            self.names[slot] = self._sign(self.name(args[0]))
        elif op in _UNARY:
            self.names[slot] = self._call(_UNARY[op], [self.name(args[0])])
        else:
            x, y = (self.name(arg) for arg in args)
            self.names[slot] = self.t.emit(f"{_BINARY[op]} {self.t.vector} {x}, {y}")

    def _fused(self, op: str, args: tuple[int, ...], product: int) -> str:
        """One fused multiply-add for a product that is an operand of a sum or a difference."""
        x, y = self.tape.code[product - self.tape.first_result].args
        if op == "add":
            other = args[1] if args[0] == product else args[0]
            return self._call("fma", [self.name(x), self.name(y), self.name(other)])
        if args[0] == product:
            return self._call("fma", [self.name(x), self.name(y), self._negative(args[1])])
        return self._call("fma", [self._negative(x), self.name(y), self.name(args[0])])

    def _negative(self, slot: int) -> str:
        number = self.tape.constant(slot)
        if number is not None:
            return self.t.number(-number)
        return self.t.emit(f"fneg {self.t.vector} {self.name(slot)}")

    def _sign(self, x: str) -> str:
        v, mask = self.t.vector, f"<{self.t.width} x i1>"
        one = self._call("copysign", [self.t.number(1.0), x])
        moving = self.t.emit(f"fcmp one {v} {x}, {self.t.number(0.0)}")
        return self.t.emit(f"select {mask} {moving}, {v} {one}, {v} {x}")

    def _call(self, function: str, args: list[str]) -> str:
        v = self.t.vector
        return self.t.emit(f"call {v} @llvm.{function}.{self.t.suffix}({', '.join(f'{v} {arg}' for arg in args)})")

    def _store(self, k: int, name: str) -> None:
        address = self.t.emit(f"getelementptr {self.t.vector}, ptr %out, i64 {k}")
        self.t.do(f"store {self.t.vector} {name}, ptr {address}, align {self.t.vector_size}")

    def _circular(self, level: int, angles: list[int]) -> None:
        """Sine and cosine of several angles by the fast polynomials; lanes with huge arguments are put right in cold code.

        Huge arguments are zero for the polynomials, which would overflow.
        """
        t, v, mask = self.t, self.t.vector, f"<{self.t.width} x i1>"
        xs = [self.name(angle) for angle in angles]
        over = [beyond(t, x, t.width) for x in xs]
        some = over[0]
        for huge in over[1:]:
            some = t.emit(f"or {mask} {some}, {huge}")
        bits = t.emit(f"bitcast {mask} {some} to i{t.width}")
        any_huge = t.emit(f"icmp ne i{t.width} {bits}, 0")
        before = t.block
        t.do(f"br i1 {any_huge}, label %tame{level}, label %fast{level}, !prof !0")
        t.start(f"tame{level}")
        tame = [t.emit(f"select {mask} {huge}, {v} {t.number(0.0)}, {v} {x}") for huge, x in zip(over, xs, strict=True)]
        t.do(f"br label %fast{level}")
        t.start(f"fast{level}")
        small = [t.emit(f"phi {v} [ {x}, %{before} ], [ {other}, %tame{level} ]") for x, other in zip(xs, tame, strict=True)]
        fast = [sine_cosine(t, x) for x in small]
        t.do(f"br i1 {any_huge}, label %slow{level}, label %both{level}, !prof !0")
        t.start(f"slow{level}")
        slow = [self._slow(x, *pair) for x, pair in zip(xs, fast, strict=True)]
        t.do(f"br label %both{level}")
        t.start(f"both{level}")
        for angle, quick, exact in zip(angles, fast, slow, strict=True):
            merged = [
                t.emit(f"phi {v} [ {a}, %fast{level} ], [ {b}, %slow{level} ]") for a, b in zip(quick, exact, strict=True)
            ]
            self.pairs[angle] = (merged[0], merged[1])

    def _slow(self, x: str, sine: str, cosine: str) -> tuple[str, str]:
        """Correct the lanes whose argument is huge, through memory."""
        t, v = self.t, self.t.vector
        address = "%space"
        for k, value in enumerate((x, sine, cosine)):
            place = t.emit(f"getelementptr {v}, ptr {address}, i64 {k}")
            t.do(f"store {v} {value}, ptr {place}, align {t.vector_size}")
        t.do(f"call void @slow_{t.tag}(ptr {address})")
        results = []
        for k in (1, 2):
            place = t.emit(f"getelementptr {v}, ptr {address}, i64 {k}")
            results.append(t.emit(f"load {v}, ptr {place}, align {t.vector_size}"))
        return results[0], results[1]


def _levels(tape: Tape) -> list[int]:
    """For each instruction, how many sines or cosines deep it stands; a sine itself counts."""
    first = tape.first_result
    levels: list[int] = []
    for instruction in tape.code:
        inner = max((levels[arg - first] for arg in instruction.args if arg >= first), default=0)
        levels.append(inner + (instruction.op in {"sin", "cos"}))
    return levels


class _Fusion:
    """Which products disappear into fused multiply-adds."""

    def __init__(self) -> None:
        self.product_of: dict[int, int] = {}
        self.absorbed: set[int] = set()


def _fused_products(tape: Tape) -> _Fusion:
    """Fuse every sum or difference with one product operand; a product that all its users fuse is not computed alone."""
    first, found = tape.first_result, _Fusion()
    uses: dict[int, int] = {}
    for instruction in tape.code:
        for arg in instruction.args:
            uses[arg] = uses.get(arg, 0) + 1
    for slot in tape.results:
        uses[slot] = uses.get(slot, 0) + 1
    taken: dict[int, int] = {}
    for k, instruction in enumerate(tape.code):
        if instruction.op not in {"add", "sub"}:
            continue
        products = [arg for arg in instruction.args if arg >= first and tape.code[arg - first].op == "mul"]
        if products:
            best = min(products, key=lambda arg: (uses[arg], arg))
            found.product_of[first + k] = best
            taken[best] = taken.get(best, 0) + 1
    found.absorbed = {slot for slot, count in taken.items() if count == uses[slot]}
    return found
