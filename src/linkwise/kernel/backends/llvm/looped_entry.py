"""The entry of looped code for one configuration, as LLVM text: the same for all mechanisms but for a table of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
import numpy.typing as npt

from linkwise.kernel.backends.llvm.fastcall import EntryCode
from linkwise.kernel.backends.llvm.text import Text

#: Scalars in and out of a function that gets an entry: it keeps arrays of this size, and the interpreter's lock.
MOST_SCALARS = 20_000


class LoopedEntry(EntryCode):
    """Writes ``call``, see `linkwise.kernel.backends.llvm.fastcall`, around a loop for gufuncs.

    What mechanisms differ in stands in the global ``place``: see `numbers`.

    Parameters
    ----------
    inputs : int
        Number of the inputs, which are vectors.
    outputs : sequence of int
        The number of dimensions of each output.
    t : Text
        Where to write it.
    """

    def __init__(self, inputs: int, outputs: Sequence[int], t: Text) -> None:
        self.t = t
        self.sizes = [f"%size{k}" for k in range(inputs)]
        self.shapes = [tuple(f"%length{k}.{axis}" for axis in range(count)) for k, count in enumerate(outputs)]
        self.count = inputs + len(outputs)

    def _room(self) -> list[str]:
        """Load what is known of the mechanism; room for what the loop is called with."""
        t, names = self.t, ["%loop", "%data", *self.sizes, *(length for shape in self.shapes for length in shape)]
        for k, name in enumerate(names):
            t.do(f"{name} = load {'ptr' if k < 2 else 'i64'}, ptr {t.at('i64', '@place', k)}")
        t.do(f"%arguments = alloca [{self.count} x ptr]")
        t.do(f"%numbers = alloca [{self.count} x double]")
        t.do("%one = alloca i64")
        t.do("store i64 1, ptr %one")
        words = len(names) + self.count + len(names) - 2
        self.steps = t.at("i64", "@place", len(names))
        return [f"@place = dso_local global [{words} x i64] zeroinitializer"]

    def _shapes(self) -> list[str]:
        return []

    def _shape(self, k: int) -> str:
        return self.t.at("i64", "@place", 2 + len(self.sizes) + sum(map(len, self.shapes[:k])))

    def _compute(self) -> None:
        t = self.t
        t.start("run")
        scalars = {}
        for k in range(self.count):
            number = k - len(self.sizes)
            if number < 0:
                value = f"%data{k}"
            elif self.shapes[number]:
                value = self.data_of(f"%result{number}")
            else:
                value = scalars[number] = t.at("double", "%numbers", number)
            t.do(f"store ptr {value}, ptr {t.at('ptr', '%arguments', k)}")
        t.do(f"call void %loop(ptr %arguments, ptr %one, ptr {self.steps}, ptr %data)")
        for number, source in scalars.items():
            self._make_scalar(number, source)


def numbers(inputs: Sequence[int], outputs: Sequence[tuple[int, ...]], loop: int, data: int) -> npt.NDArray[np.int64]:
    """What stands in ``place``.

    The loop and its data, the size of each input, the shapes of the outputs, and the strides that the loop gets.

    Parameters
    ----------
    inputs : sequence of int
        Sizes of the inputs.
    outputs : sequence of tuple of int
        Shapes of the outputs.
    loop, data : int
        Addresses of the loop, and of what it gets as its data.
    """
    lengths = [length for shape in outputs for length in shape]
    strides = [8 * prod(shape[axis + 1 :]) for shape in outputs for axis in range(len(shape))]
    outer = [0] * (len(inputs) + len(outputs))
    return np.array([loop, data, *inputs, *lengths, *outer, *([8] * len(inputs)), *strides], dtype=np.int64)
