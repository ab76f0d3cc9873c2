"""A phase of a program that is arithmetic written out, between its arrays, as LLVM text."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate
from math import prod
from typing import Any

from linkwise.expr.ordering import MANY
from linkwise.kernel.backends.llvm.body import Plan, _Writer, numbers
from linkwise.kernel.backends.llvm.lowering import host
from linkwise.kernel.backends.llvm.phases import Words, phase_head
from linkwise.kernel.backends.llvm.text import Text
from linkwise.kernel.looped import ProgramLayout
from linkwise.kernel.tape import Shape, Tape

#: Array of the values passed between parts.
SPACE = "space"


def space(tapes: Sequence[Tape]) -> int:
    """Greatest number of elements passed between parts of a program's tapes on this machine."""
    plain = sum(tape.length for tape in tapes) > MANY
    return max(_plan(tape, has_fma=host().has_fma, plain=plain).space for tape in tapes)


def _plan(tape: Tape, **options: bool) -> Plan:
    """Plan of a tape, cached."""
    plans: dict[Any, Plan] = tape.__dict__.setdefault("plans", {})
    key = tuple(options.items())
    return plans[key] if key in plans else plans.setdefault(key, Plan(tape, **options))


def written_out(tape: Tape, t: Text, layout: ProgramLayout, number: int) -> str:
    """Emit phase `number`: its parts, each a function of the addresses of all arrays, and their calls.

    Elements that are zero whatever goes in are left as they are.
    """
    plan = _plan(tape, has_fma=t.has_fma, plain=layout.length > MANY)
    t = t.another(f"p{number}")
    names = [*tape.inputs, *tape.outputs, SPACE]
    pointers = ", ".join(f"ptr noalias %{name}" for name in names)
    functions = numbers(tape, t, plan)
    for part in range(len(plan.parts)):
        t.begin()
        t.do(f"%lanes = alloca [3 x {t.vector}], align 64")
        _BetweenArrays(tape, t, plan).write(part)
        functions.append(t.function(f"define internal void @part{part}_{t.tag}({pointers})", kind="noinline #0"))
    t.begin()
    words = Words(t, layout, "start").placed(layout)
    arguments = ", ".join(f"ptr {words.array(name)}" for name in names)
    for part in range(len(plan.parts)):
        t.do(f"call void @part{part}_{t.tag}({arguments})")
    t.do("ret void")
    return "\n".join([*functions, t.function(phase_head(number), kind="noinline #0")])


class _BetweenArrays(_Writer):
    """Writes one part, which finds each array where that is."""

    def __init__(self, tape: Tape, t: Text, plan: Plan) -> None:
        super().__init__(tape, t, plan)
        self.inputs, self.outputs = _Places(tape.inputs), _Places(tape.outputs)

    def write(self, number: int) -> None:
        """Emit a part; the first one also writes the constant outputs."""
        if number == 0:
            for k, slot in enumerate(self.tape.results):
                if self.tape.constant(slot):
                    self.t.put(self.name(slot), *self.target(k))
        super().write(number)

    def source(self, k: int) -> tuple[str, int]:
        """See `_Writer`."""
        return self.inputs[k]

    def target(self, k: int) -> tuple[str, int]:
        """See `_Writer`."""
        return self.outputs[k]


class _Places:
    """Elements of arrays, numbered through: the address of the array, and the element's place in it."""

    def __init__(self, shapes: Mapping[str, Shape]) -> None:
        self.names = list(shapes)
        self.ends = list(accumulate(map(prod, shapes.values())))

    def __getitem__(self, k: int) -> tuple[str, int]:
        array = bisect_right(self.ends, k)
        return f"%{self.names[array]}", k - (self.ends[array - 1] if array else 0)
