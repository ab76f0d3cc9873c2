"""The arithmetic of a tape as straight-line LLVM text: order, fusion, and division into parts.

Long arithmetic is cut into parts, each a function of its own: what code generators do with a block of n instructions takes
them more than n, and a part that has just run is still where the processor finds it fast when the next block of
configurations comes. A value that a later part needs is written to memory as soon as it is known (to its place among the
outputs if it is one), and read again by each part that needs it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from typing import cast

from linkwise.kernel.backends.llvm.atan import plane_angle
from linkwise.kernel.backends.llvm.sincos import beyond, sine_cosine
from linkwise.kernel.backends.llvm.text import Text
from linkwise.kernel.tape import Tape

#: Instructions up to which arithmetic is not cut.
WHOLE = 2000

#: Greatest number of instructions of a part, unless a single step is longer; of a part of large arithmetic.
PART, LARGE_PART = 500, 300

#: Greatest number of angles whose sines and cosines are computed together.
ANGLES = 24

#: Instructions of arithmetic that exceeds the processor's caches: two blocks share each part while it is cached.
LARGE = 8000

#: Instructions that the sine and the cosine of one angle take, about.
_ANGLE = 45

#: Instructions that an operation takes, about, where it is not one.
_LENGTH = {"atan2": 90}

#: The slot of one instruction, or the slots of angles whose sines and cosines are computed together.
Step = int | tuple[int, ...]


class Plan:
    """Order and partition of the instructions of a tape.

    Attributes
    ----------
    product_of : dict of int to int
        For a sum or a difference that becomes a fused multiply-add, the slot of its product.
    absorbed : set of int
        Products that all their users fuse, so that they are not computed alone.
    parts : list of list of Step
        In the order of computation.
    outputs : dict of int to list of int
        Where among the outputs a slot goes.
    places : dict of int to int
        For each value that goes from part to part and is no output, its place in the space between them.
    space : int
        How many such places there are.
    together : int
        Blocks of configurations that are computed together.
    divided : bool
        Whether long arithmetic is cut into parts.
    plain : bool
        Whether only such instructions are emitted as LLVM selects one by one without optimisation: nothing is fused, and
        numbers are loaded from a table. It selects them three times as fast as others; where code does not fit into the
        caches, it is no slower.
    """

    def __init__(self, tape: Tape, *, has_fma: bool, divided: bool = True, plain: bool = False) -> None:
        self.tape, self.divided, self.plain = tape, divided, plain
        self.product_of: dict[int, int] = {}
        self.absorbed: set[int] = set()
        if has_fma and not plain:
            self._fuse()
        self.circular: dict[int, list[int]] = {}
        for k, instruction in enumerate(tape.code):
            if instruction.op in {"sin", "cos"}:
                self.circular.setdefault(instruction.args[0], []).append(tape.first_result + k)
        self.outputs: dict[int, list[int]] = {}
        for k, slot in enumerate(tape.results):
            if tape.constant(slot) is None:
                self.outputs.setdefault(slot, []).append(k)
        self.together = 2 if is_large(tape) else 1
        self.parts = self._parts()
        self.places: dict[int, int] = {}
        self.space = 0
        self._find_places()

    def reads(self, step: Step) -> list[int]:
        """The slots that a step reads, constants among them."""
        if isinstance(step, tuple):
            return list(step)
        args = self.tape.code[step - self.tape.first_result].args
        product = self.product_of.get(step)
        if product is None:
            return list(args)
        other = args[1] if args[0] == product else args[0]
        return [*self.tape.code[product - self.tape.first_result].args, other]

    def makes(self, step: Step) -> list[int]:
        """The slots that are known after a step."""
        return [slot for angle in step for slot in self.circular[angle]] if isinstance(step, tuple) else [step]

    def _fuse(self) -> None:
        """Fuse every sum or difference with one product operand, the one with the fewest users."""
        tape, first = self.tape, self.tape.first_result
        uses = [0] * (first + len(tape.code))
        for instruction in tape.code:
            for arg in instruction.args:
                uses[arg] += 1
        for slot in tape.results:
            uses[slot] += 1
        taken: dict[int, int] = {}
        for k, instruction in enumerate(tape.code):
            if instruction.op not in {"add", "sub"}:
                continue
            products = [arg for arg in instruction.args if arg >= first and tape.code[arg - first].op == "mul"]
            if products:
                best = min(products, key=lambda arg: (uses[arg], arg))
                self.product_of[first + k] = best
                taken[best] = taken.get(best, 0) + 1
        self.absorbed = {slot for slot, count in taken.items() if count == uses[slot]}

    def _steps(self) -> Iterator[Step]:
        """Order the steps: level by level the operands of angles with their sines and cosines, then the others."""
        tape, first = self.tape, self.tape.first_result
        levels = _levels(tape)
        done: set[int] = set()
        for level in range(1, max(levels, default=0) + 1):
            here = [k for k, value in enumerate(levels) if value == level and tape.code[k].op in {"sin", "cos"}]
            angles = list(dict.fromkeys(tape.code[k].args[0] for k in here))
            for slot in sorted(self._needed(angles) - done):
                done.add(slot)
                yield slot
            for start in range(0, len(angles), ANGLES):
                group = tuple(angles[start : start + ANGLES])
                done.update(slot for angle in group for slot in self.circular[angle])
                yield group
        yield from (slot for slot in range(first, first + len(tape.code)) if slot not in done)

    def _needed(self, slots: list[int]) -> set[int]:
        """The instructions that these slots depend on, themselves included."""
        first = self.tape.first_result
        needed: set[int] = set()
        waiting = [slot for slot in slots if slot >= first]
        while waiting:
            slot = waiting.pop()
            if slot not in needed:
                needed.add(slot)
                waiting += [arg for arg in self.tape.code[slot - first].args if arg >= first]
        return needed

    def _parts(self) -> list[list[Step]]:
        """Cut the steps into parts of about equal length; absorbed instructions are not steps."""
        steps = [step for step in self._steps() if step not in self.absorbed]
        sizes = [self._length(step) for step in steps]
        total = sum(sizes)
        length = PART if self.together == 1 else LARGE_PART
        count = -(-total // length) if self.divided and total > WHOLE else 1
        parts: list[list[Step]] = [[] for _ in range(count)]
        passed = 0
        for step, size in zip(steps, sizes, strict=True):
            parts[passed * count // total].append(step)
            passed += size
        return [part for part in parts if part] or [[]]

    def _length(self, step: Step) -> int:
        if isinstance(step, tuple):
            return _ANGLE * len(step)
        return _LENGTH.get(self.tape.code[step - self.tape.first_result].op, 1)

    def _find_places(self) -> None:
        """Give a place to each value that a later part needs; a place is free again after the last part that reads it."""
        last: dict[int, int] = {}
        for number, part in enumerate(self.parts):
            for step in part:
                for slot in self.reads(step):
                    last[slot] = number
        free: list[int] = []
        ending: dict[int, list[int]] = {}
        for number, part in enumerate(self.parts):
            for slot in (slot for step in part for slot in self.makes(step)):
                if last.get(slot, number) > number and slot not in self.outputs:
                    if not free:
                        heappush(free, self.space)
                        self.space += 1
                    self.places[slot] = heappop(free)
                    ending.setdefault(last[slot], []).append(self.places[slot])
            for place in ending.pop(number, ()):
                heappush(free, place)


def is_large(tape: Tape) -> bool:
    """True if the code is too large for the processor's caches."""
    return tape.length > LARGE


def _levels(tape: Tape) -> list[int]:
    """Nesting depth in sines and cosines of each instruction; a sine itself counts."""
    first = tape.first_result
    levels: list[int] = []
    for instruction in tape.code:
        inner = 0
        for arg in instruction.args:
            if arg >= first and levels[arg - first] > inner:
                inner = levels[arg - first]
        levels.append(inner + (instruction.op in {"sin", "cos"}))
    return levels


_UNARY = {"sqrt": "sqrt", "abs": "fabs"}
_BINARY = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}


def body(tape: Tape, t: Text) -> str:
    """Emit ``void @body(ptr in, ptr out)``: element k of all lanes is the vector at index k of ``in``, of ``out``."""
    plan = Plan(tape, has_fma=t.has_fma)
    return "\n".join([*part_functions(tape, t, plan), whole(tape, t, plan)])


def part_functions(tape: Tape, t: Text, plan: Plan) -> list[str]:
    """Emit ``void @part(ptr in, ptr out, ptr space)`` for each part of a plan; ``space`` has the values between parts."""
    return [*numbers(tape, t, plan), *(_part(tape, t, plan, number) for number in range(len(plan.parts)))]


def numbers(tape: Tape, t: Text, plan: Plan) -> list[str]:
    """Emit the table of the numbers of a plain plan, the last of which is -1."""
    if not plan.plain:
        return []
    values = [f"{t.vector} {t.number(value)}" for value in (*tape.constants, -1.0)]
    kind = f"[{len(values)} x {t.vector}]"
    return [f"@numbers_{t.tag} = internal constant {kind} [{', '.join(values)}], align {t.vector_size}"]


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


def inlined(tape: Tape, t: Text, values: Sequence[str]) -> list[str]:
    """Emit the arithmetic of a short tape without angles on vectors, in the function that is being written; its results.

    A comparison with a NaN raises the invalid flag.
    """
    plan = Plan(tape, has_fma=t.has_fma, divided=False)
    writer = _Inlined(tape, t, plan)
    writer.names.update(enumerate(values))
    for slot in plan.parts[0]:
        writer._instruction(cast(int, slot))
    return [writer.name(slot) for slot in tape.results]


def write_part(tape: Tape, t: Text, plan: Plan, number: int) -> None:
    """Begin a function with a part of the arithmetic, to its end."""
    t.begin()
    t.do(f"%lanes = alloca [3 x {t.vector}], align 64")
    _Writer(tape, t, plan).write(number)


def _part(tape: Tape, t: Text, plan: Plan, number: int) -> str:
    write_part(tape, t, plan, number)
    return _function(t, f"part{number}_{t.tag}", ("in", "out", "space"))


def _function(t: Text, name: str, pointers: tuple[str, ...], attributes: str = "") -> str:
    """A function of the lines written."""
    lines = t.lines if t.lines[0] == "entry:" else ["entry:", *t.lines]
    arguments = ", ".join(f"ptr noalias %{pointer}" for pointer in pointers)
    return "\n".join([f"define internal void @{name}({arguments}{attributes}) noinline #0 {{", *lines, "}"])


class _Writer:
    """Writes one part."""

    def __init__(self, tape: Tape, t: Text, plan: Plan) -> None:
        self.tape, self.t, self.plan = tape, t, plan
        self.names: dict[int, str] = {}

    def write(self, number: int) -> None:
        """Emit a part; outputs and values for later parts are stored as soon as they are computed."""
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
        """Name of the value in a slot; values of other parts are loaded on first use."""
        number = None if self.plan.plain else self.tape.constant(slot)
        if number is not None:
            return self.t.number(number)
        if slot not in self.names:
            self.names[slot] = self.t.get(*self._home(slot))
        return self.names[slot]

    def _home(self, slot: int) -> tuple[str, int]:
        """Memory location of a value that another part computes."""
        if slot < self.tape.input_count:
            return self.source(slot)
        if slot < self.tape.first_result:
            return f"@numbers_{self.t.tag}", slot - self.tape.input_count
        if slot in self.plan.outputs:
            return self.target(self.plan.outputs[slot][0])
        return "%space", self.plan.places[slot]

    def source(self, k: int) -> tuple[str, int]:
        """Memory location of element k of the inputs."""
        return "%in", k

    def target(self, k: int) -> tuple[str, int]:
        """Memory location of element k of the outputs."""
        return "%out", k

    def _store(self, slot: int) -> None:
        if slot in self.plan.places:
            self.t.put(self.name(slot), "%space", self.plan.places[slot])
        for place in self.plan.outputs.get(slot, ()):
            self.t.put(self.name(slot), *self.target(place))

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
        """Emit one fused multiply-add for a product that is an operand of a sum or a difference."""
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
        if self.plan.plain:
            return self.t.op("fmul", self.t.get(f"@numbers_{self.t.tag}", len(self.tape.constants)), self.name(slot))
        return self.t.negative(self.name(slot))

    def _sign(self, x: str) -> str:
        t = self.t
        unit = t.call("copysign", t.number(1.0), x)
        return t.choose(t.emit(f"fcmp one {t.vector} {x}, {t.number(0.0)}"), unit, x)

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
        """Emit sine and cosine of several angles by the fast polynomials; huge arguments are corrected in cold code.

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
        t.go_on(f"fast{level}")
        small = [t.emit(f"phi {v} [ {x}, %{before} ], [ {other}, %tame{level} ]") for x, other in zip(xs, tame, strict=True)]
        fast = [sine_cosine(t, x) for x in small]
        t.do(f"br i1 {any_huge}, label %slow{level}, label %both{level}, !prof !0")
        t.start(f"slow{level}")
        slow = [self._slow(x, *pair) for x, pair in zip(xs, fast, strict=True)]
        t.go_on(f"both{level}")
        for angle, quick, exact in zip(angles, fast, slow, strict=True):
            merged = [
                t.emit(f"phi {v} [ {a}, %fast{level} ], [ {b}, %slow{level} ]") for a, b in zip(quick, exact, strict=True)
            ]
            for slot in self.plan.circular[angle]:
                self.names[slot] = merged[self.tape.code[slot - self.tape.first_result].op == "cos"]

    def _slow(self, x: str, sine: str, cosine: str) -> tuple[str, str]:
        """Correct the lanes with huge arguments, through memory."""
        t = self.t
        for k, value in enumerate((x, sine, cosine)):
            t.put(value, "%lanes", k)
        t.do(f"call void {t.runtime('slow')}(ptr %lanes)")
        return t.get("%lanes", 1), t.get("%lanes", 2)


class _Inlined(_Writer):
    """Writes arithmetic without status flags: selections by float comparison, the greater of two by one instruction."""

    def _instruction(self, slot: int) -> None:
        code, first_result = self.tape.code, self.tape.first_result
        instruction = code[slot - first_result]
        if instruction.op != "select":
            super()._instruction(slot)
            return
        tested, *chosen = instruction.args
        x, y = map(self.name, chosen)
        difference = code[tested - first_result] if tested >= first_result else None
        if difference and difference.op == "sub" and [*difference.args] == chosen:
            first, second = x, y
        else:
            first, second = self.name(tested), self.t.number(0.0)
        self.names[slot] = self.t.choose(self.t.emit(f"fcmp ogt {self.t.vector} {first}, {second}"), x, y)
