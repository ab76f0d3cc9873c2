"""The arithmetic of a tape as straight-line LLVM text, one configuration per vector lane."""

from __future__ import annotations

from linkwise.kernel.backends.llvm.argument_reduction import beyond
from linkwise.kernel.backends.llvm.atan import plane_angle
from linkwise.kernel.backends.llvm.schedule import Plan
from linkwise.kernel.backends.llvm.sincos import sine_cosine
from linkwise.kernel.backends.llvm.text import Text
from linkwise.kernel.tape import Tape

_UNARY = {"sqrt": "sqrt", "abs": "fabs"}
_BINARY = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}


def body(tape: Tape, t: Text) -> str:
    """Emit ``void @body(ptr in, ptr out)``: element k of all lanes is the vector at index k of ``in``, of ``out``."""
    plan = Plan(tape, has_fma=t.has_fma)
    return "\n".join([*part_functions(tape, t, plan), whole(tape, t, plan)])


def part_functions(tape: Tape, t: Text, plan: Plan) -> list[str]:
    """Emit ``void @part(ptr in, ptr out, ptr space)`` for each part of a plan; ``space`` is for what goes between them."""
    return [_part(tape, t, plan, number) for number in range(len(plan.parts))]


def whole(tape: Tape, t: Text, plan: Plan) -> str:
    """Emit ``body``, which runs all parts on one block."""
    t.lines.clear()
    t.do(f"%space = alloca [{max(1, plan.space)} x {t.vector}], align {max(64, t.vector_size)}")
    for number in range(len(plan.parts)):
        t.do(f"call void @part{number}_{t.tag}(ptr %in, ptr %out, ptr %space)")
    t.do("ret void")
    return _function(t, f"body_{t.tag}", ("in", "out"))


def blocks(tape: Tape, t: Text, plan: Plan) -> str:
    """Emit the parts and ``void @blocks(ptr in, ptr out, ptr space, i64 count)``.

    Blocks lie one behind the other; each part runs on all of them before the next one.
    """
    functions = part_functions(tape, t, plan)
    t.begin()
    sizes = {"in": tape.input_count, "out": len(tape.results), "space": plan.space}
    for number in range(len(plan.parts)):
        with t.loop(f"run{number}", "%count") as block:
            places = []
            for name, size in sizes.items():
                place = t.at("i8", f"%{name}", t.emit(f"mul i64 {block}, {size * t.vector_size}"))
                places.append(f"ptr {place}")
            t.do(f"call void @part{number}_{t.tag}({', '.join(places)})")
    t.do("ret void")
    return "\n".join([*functions, _function(t, f"blocks_{t.tag}", ("in", "out", "space"), ", i64 %count")])


def _part(tape: Tape, t: Text, plan: Plan, number: int) -> str:
    t.lines.clear()
    t.start("entry")
    t.do(f"%lanes = alloca [3 x {t.vector}], align 64")
    _Writer(tape, t, plan).write(number)
    return _function(t, f"part{number}_{t.tag}", ("in", "out", "space"))


def _function(t: Text, name: str, pointers: tuple[str, ...], rest: str = "") -> str:
    """A function of the lines written."""
    lines = t.lines if t.lines[0] == "entry:" else ["entry:", *t.lines]
    arguments = ", ".join(f"ptr noalias %{pointer}" for pointer in pointers)
    return "\n".join([f"define internal void @{name}({arguments}{rest}) noinline #0 {{", *lines, "}"])


class _Writer:
    """Writes one part."""

    def __init__(self, tape: Tape, t: Text, plan: Plan) -> None:
        self.tape, self.t, self.plan = tape, t, plan
        self.names: dict[int, str] = {}

    def write(self, number: int) -> None:
        """Emit a part; what goes to the outputs, and what later parts need, is stored as soon as it is known."""
        if number == 0:
            for slot in (slot for slot in self.plan.outputs if slot < self.tape.input_count):
                self._store(slot)
        for group, step in enumerate(self.plan.parts[number]):
            if isinstance(step, tuple):
                self._circular(group, step)
            else:
                self._instruction(step)
            for slot in self.plan.makes(step):
                self._store(slot)
        self.t.do("ret void")

    def name(self, slot: int) -> str:
        """The name of the value in a slot; what this part did not compute is loaded where it is first needed."""
        number = self.tape.constant(slot)
        if number is not None:
            return self.t.number(number)
        if slot not in self.names:
            self.names[slot] = self.t.get(*self._home(slot))
        return self.names[slot]

    def _home(self, slot: int) -> tuple[str, int]:
        """Where a value is found that this part did not compute."""
        if slot < self.tape.input_count:
            return "%in", slot
        if slot in self.plan.outputs:
            return "%out", self.plan.outputs[slot][0]
        return "%space", self.plan.places[slot]

    def _store(self, slot: int) -> None:
        if slot in self.plan.places:
            self.t.put(self.name(slot), "%space", self.plan.places[slot])
        for place in self.plan.outputs.get(slot, ()):
            self.t.put(self.name(slot), "%out", place)

    def _instruction(self, slot: int) -> None:
        instruction = self.tape.code[slot - self.tape.first_result]
        op, args = instruction.op, instruction.args
        if slot in self.plan.product_of:
            self.names[slot] = self._fused(op, args, self.plan.product_of[slot])
        elif op == "neg":
            self.names[slot] = self._negative(args[0])
        elif op == "sign":
            self.names[slot] = self._sign(self.name(args[0]))
        elif op == "atan2":
            self.names[slot] = plane_angle(self.t, self.name(args[0]), self.name(args[1]))
        elif op == "select":
            self.names[slot] = self._selection(*map(self.name, args))
        elif op in _UNARY:
            self.names[slot] = self.t.call(_UNARY[op], self.name(args[0]))
        else:
            self.names[slot] = self.t.op(_BINARY[op], *map(self.name, args))

    def _fused(self, op: str, args: tuple[int, ...], product: int) -> str:
        """One fused multiply-add for a product that is an operand of a sum or a difference."""
        x, y = self.tape.code[product - self.tape.first_result].args
        if op == "add":
            other = args[1] if args[0] == product else args[0]
            return self.t.call("fma", self.name(x), self.name(y), self.name(other))
        if args[0] == product:
            return self.t.call("fma", self.name(x), self.name(y), self._negative(args[1]))
        return self.t.call("fma", self._negative(x), self.name(y), self.name(args[0]))

    def _negative(self, slot: int) -> str:
        number = self.tape.constant(slot)
        if number is not None:
            return self.t.number(-number)
        return self.t.negative(self.name(slot))

    def _sign(self, x: str) -> str:
        t = self.t
        one = t.call("copysign", t.number(1.0), x)
        return t.choose(t.emit(f"fcmp one {t.vector} {x}, {t.number(0.0)}"), one, x)

    def _selection(self, c: str, x: str, y: str) -> str:
        """Emit: x where c > 0, else y.

        The bits of c, less one, are compared as integers, for a comparison of floats would raise the invalid flag for a NaN:
        as unsigned numbers those of zero and of what is negative come out beyond those of infinity, as a NaN's do.
        """
        t = self.t
        infinity = (0x7FF << 52) if t.size == 8 else (0xFF << 23)
        before = t.emit(f"sub {t.integers} {t.bits(c)}, {t.whole(1)}")
        return t.choose(t.emit(f"icmp ult {t.integers} {before}, {t.whole(infinity)}"), x, y)

    def _circular(self, level: int, angles: tuple[int, ...]) -> None:
        """Sine and cosine of several angles by the fast polynomials; lanes with huge arguments are put right in cold code.

        Huge arguments are zero for the polynomials, which would overflow.
        """
        t, v, mask = self.t, self.t.vector, self.t.mask
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
        tame = [t.choose(huge, t.number(0.0), x) for huge, x in zip(over, xs, strict=True)]
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
            for slot in self.plan.circular[angle]:
                self.names[slot] = merged[self.tape.code[slot - self.tape.first_result].op == "cos"]

    def _slow(self, x: str, sine: str, cosine: str) -> tuple[str, str]:
        """Correct the lanes whose argument is huge, through memory."""
        t = self.t
        for k, value in enumerate((x, sine, cosine)):
            t.put(value, "%lanes", k)
        t.do(f"call void @slow_{t.tag}(ptr %lanes)")
        return t.get("%lanes", 1), t.get("%lanes", 2)
