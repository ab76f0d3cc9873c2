"""Programs on a device: rows of arrays by their addresses, on a stream. Nothing is copied, and nothing is waited for."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from linkwise.arrays.cuda import Rows
from linkwise.arrays.cuda_driver import Device
from linkwise.errors import KernelError
from linkwise.kernel.backends.llvm.rollout import bits, table_of
from linkwise.kernel.backends.nvptx.lowering import ITERATION_WORDS, ptx
from linkwise.kernel.backends.nvptx.xla_handler import handler
from linkwise.kernel.iteration import IterationProgram
from linkwise.kernel.rollout import RolloutProgram
from linkwise.kernel.tape import Tape

#: Operations up to which a tape becomes code for a thread; the driver takes minutes for more.
MOST_OPERATIONS = 60_000


class Launcher:
    """A program, loaded into each device when it is first run there.

    Raises
    ------
    KernelError
        For a tape that is too long.
    """

    def __init__(self, program: Tape | RolloutProgram | IterationProgram) -> None:
        if isinstance(program, Tape) and program.length > MOST_OPERATIONS:
            raise KernelError(
                f"{program.name} has {program.length} operations; expected at most {MOST_OPERATIONS} for code for a GPU"
            )
        self.program = program
        self._functions: dict[tuple[int, str], Any] = {}

    def _launch(self, device: Device, stream: int, dtype: str, count: int, parameters: Sequence[Any]) -> None:
        key = device.number, dtype
        function = self._functions.get(key)
        if function is None:
            function = self._functions[key] = device.load(ptx(self.program, dtype, device.capability))
        device.launch(function, stream, count, parameters)

    def rows(self, device: Device, stream: int, dtype: str, count: int, arrays: Sequence[Rows]) -> None:
        """Compute so many rows of a tape; the arrays are the inputs and the outputs."""
        parameters = [ctypes.c_int64(word) for array in arrays for word in array]
        self._launch(device, stream, dtype, count, [ctypes.c_int64(count), *parameters])

    def xla_handler(self, dtype: str, version: tuple[int, int]) -> tuple[int, Any]:
        """Address of the XLA handler that computes rows of a tape, and the objects that must outlive it."""
        assert isinstance(self.program, Tape)
        function = handler(self.rows, self.program, dtype, version)
        return ctypes.cast(function, ctypes.c_void_p).value or 0, function

    def tasks(self, device: Device, stream: int, count: int, starts: int, arrays: Sequence[Rows]) -> None:
        """Iterate on so many tasks, from so many starts after q0; the arrays are those of `Descent` and its result."""
        words = ([address for address, _ in arrays], [count, 0, 0, starts], [step for _, step in arrays])
        parameters = [
            (ctypes.c_int64 * size)(*numbers) for size, numbers in zip(ITERATION_WORDS.values(), words, strict=True)
        ]
        self._launch(device, stream, "float64", count, parameters)

    def rollouts(
        self, device: Device, stream: int, clock: tuple[int, int, float, float], count: int, ports: Sequence[Sequence[int]]
    ) -> None:
        """Integrate `count` rollouts: number of steps, recording interval, start and length of a step (s); see `PORT`."""
        steps, record, start, step = clock
        assert isinstance(self.program, RolloutProgram)
        table = table_of(self.program, (count, steps, 0, record, bits(start), bits(step), 0), step, ports)
        self._launch(device, stream, "float64", count, [(ctypes.c_int64 * len(table))(*table.tolist())])


_LAUNCHERS: dict[str, Launcher] = {}


def launcher_of(program: Tape | RolloutProgram | IterationProgram) -> Launcher:
    """The one launcher of a program in this process."""
    return _LAUNCHERS.get(program.digest) or _LAUNCHERS.setdefault(program.digest, Launcher(program))
