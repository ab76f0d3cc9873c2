"""What the arithmetic of a tape is emitted as: in which order, what is fused, and what goes from part to part.

Long arithmetic is cut into parts, each a function of its own: what code generators do with a block of n instructions takes
them more than n, and a part that has just run is still where the processor finds it fast when the next block of
configurations comes. A value that a later part needs is written to memory as soon as it is known (to its place among the
outputs if it is one), and read again by each part that needs it.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush

from linkwise.kernel.tape import Tape

PART, LARGE_PART = 2000, 800
"""Greatest number of instructions of a part, but for a step that is longer by itself; of a part of large arithmetic."""

ANGLES = 24
"""Greatest number of angles whose sines and cosines are computed together."""

LARGE = 8000
"""Instructions of arithmetic that is too large for the processor to keep: two blocks share each part while it is there."""

_ANGLE = 45
"""Instructions that the sine and the cosine of one angle take, about."""

_LENGTH = {"atan2": 90}
"""Instructions that an operation takes, about, where it is not one."""

Step = int | tuple[int, ...]
"""The slot of one instruction, or the slots of angles whose sines and cosines are computed together."""


class Plan:
    """How a tape is emitted.

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
    """

    def __init__(self, tape: Tape, *, has_fma: bool) -> None:
        self.tape = tape
        self.product_of: dict[int, int] = {}
        self.absorbed: set[int] = set()
        if has_fma:
            self._fuse()
        self.circular: dict[int, list[int]] = {}
        for k, instruction in enumerate(tape.code):
            if instruction.op in {"sin", "cos"}:
                self.circular.setdefault(instruction.args[0], []).append(tape.first_result + k)
        self.outputs: dict[int, list[int]] = {}
        for k, slot in enumerate(tape.results):
            if tape.constant(slot) is None:
                self.outputs.setdefault(slot, []).append(k)
        self.together = 2 if len(tape.code) > LARGE else 1
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
        """First what angles need and their sines and cosines, level by level, then the rest in order."""
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
        """The steps cut into parts of about equal length; what is absorbed is no step."""
        steps = [step for step in self._steps() if step not in self.absorbed]
        sizes = [self._length(step) for step in steps]
        total = sum(sizes)
        count = max(1, -(-total // (PART if self.together == 1 else LARGE_PART)))
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
                last.update(dict.fromkeys(self.reads(step), number))
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


def _levels(tape: Tape) -> list[int]:
    """For each instruction, how many sines or cosines deep it stands; a sine itself counts."""
    first = tape.first_result
    levels: list[int] = []
    for instruction in tape.code:
        inner = max((levels[arg - first] for arg in instruction.args if arg >= first), default=0)
        levels.append(inner + (instruction.op in {"sin", "cos"}))
    return levels
