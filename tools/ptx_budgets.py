"""Assemble the code for GPUs, and compare its registers and spills with budgets: ``python tools/ptx_budgets.py``.

All algorithms of an arm, of one on a floating base and of a closed loop, in float64 and float32, rollouts and inverse
kinematics; some of a Panda. Needs no GPU, but NVIDIA's assembler: ``ptxas`` on the path, or of the package
nvidia-cuda-nvcc. A register has 32 bits; a thread has 255, and what it needs beyond is spilled to memory. Takes two minutes.
Exit status 1 where a budget is exceeded.

With ``--bits`` the text of all these algorithms, of up to 3500 operations, is compiled for the processor instead, and must
give the bits of the gufunc: exit status 1 where one does not.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import linkwise as lw
from linkwise.algorithm import ALGORITHMS
from linkwise.errors import ArgumentError
from linkwise.kernel import Tape
from linkwise.kernel.backends.nvptx import lowering
from linkwise.simulation.integrators import program
from linkwise.simulation.plant import Plant
from linkwise.solve.compiled_problem import system_of
from linkwise.solve.constraints.pose import Pose

ARCHITECTURES = ("sm_80", "sm_90", "sm_100")

#: Operations of a tape up to which bits are compared.
LONGEST = 3500

#: Most registers of each; what is not named may have all.
REGISTERS = {
    "puma560": {
        "inverse_dynamics": 128, "forward_dynamics": 144, "link_poses": 96, "forward_kinematics": 80, "jacobian": 80,
        "mass_matrix": 72, "rollout": 184, "inverse kinematics": 136,
    },
    "panda": {
        "inverse_dynamics": 184, "forward_dynamics": 255, "link_poses": 96, "forward_kinematics": 80, "jacobian": 80,
        "mass_matrix": 112, "rollout": 255, "inverse kinematics": 232,
    },
}  # fmt: skip

#: Most bytes that are spilled in float64, in float32 a third of it; what is not named may spill none.
SPILLS = {
    "puma560": {
        "centroidal_momentum_derivatives": 1024, "forward_dynamics_derivatives": 640,
        "forward_dynamics_external_derivatives": 1280, "forward_dynamics_hessian_product": 8192,
        "forward_dynamics_second_derivatives": 24576, "inverse_dynamics_derivatives": 384,
        "inverse_dynamics_external_derivatives": 768, "inverse_dynamics_hessian_product": 1792,
        "inverse_dynamics_second_derivatives": 7680, "lagrange_dynamics": 896,
    },
    "floating planar_2r": {
        "centroidal_momentum_derivatives": 384, "forward_dynamics_hessian_product": 2048,
        "forward_dynamics_second_derivatives": 5120, "inverse_dynamics_hessian_product": 128,
        "inverse_dynamics_second_derivatives": 384,
    },
    "four_bar": {"forward_dynamics_hessian_product": 1280, "forward_dynamics_second_derivatives": 896},
}  # fmt: skip


def ptxas() -> str | None:
    """The assembler, where it is installed."""
    installed = sorted(Path(sysconfig.get_path("purelib")).glob("nvidia/*/bin/ptxas"))
    return shutil.which("ptxas") or (str(installed[-1]) if installed else None)


def assembled(ptx: bytes, architecture: str) -> tuple[int, int]:
    """Registers of a thread, and bytes that it spills."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "kernel.ptx")
        source.write_bytes(ptx)
        command = [ptxas() or "ptxas", f"-arch={architecture}", "-v", str(source), "-o", str(Path(folder, "kernel.cubin"))]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    registers = max(map(int, re.findall(r"Used (\d+) registers", said)))
    return registers, sum(map(int, re.findall(r"(\d+) bytes spill stores", said)))


def mechanism(robot: str) -> Any:
    """A robot of Linkwise by its name, on a floating base where that says so."""
    arm = getattr(lw.robots, robot.removeprefix("floating "))()
    base = lw.Link(name="trunk", joint="fixed", mass=3.0, inertia=(0.1, 0.2, 0.25))
    return lw.Mechanism([base, *arm.links], floating=True) if robot.startswith("floating ") else arm


def programs(robot: str) -> list[str]:
    """What is assembled for a robot: all that it may have, or only what has a budget of registers."""
    return [*(sorted(ALGORITHMS) if robot in SPILLS else ()), *REGISTERS.get(robot, ())]


def program_of(arm: Any, name: str) -> Any:
    """One of them; None where the robot has it not."""
    if name == "rollout":
        return program(Plant(arm), "rk4", None, True)
    if name == "inverse kinematics":
        return system_of(arm, [Pose("tool", np.eye(4))]).reaching.program
    try:
        return arm.kernel(name).tape
    except ArgumentError:  # (of closed loops where there are none, or of trees where there are some)
        return None


def over_budget(robot: str, name: str, dtype: str, registers: int, spilled: int) -> bool:
    """Whether a program takes more than it may."""
    allowed = SPILLS.get(robot, {}).get(name, 0) // (1 if dtype == "float64" else 3)
    return registers > REGISTERS.get(robot, {}).get(name, 255) or spilled > allowed


def bits() -> int:
    """Compare the text of threads with gufuncs; how many differ."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    from support.fake_cuda import rows_of

    differing = count = 0
    for robot in SPILLS:
        arm = mechanism(robot)
        for name in programs(robot):
            if name not in ALGORITHMS or (tape := program_of(arm, name)) is None or tape.length > LONGEST:
                continue
            for dtype in ("float64", "float32"):
                rng = np.random.default_rng(0)
                arrays = [rng.uniform(-2.0, 2.0, (7, *shape)).astype(dtype) for shape in tape.inputs.values()]
                with np.errstate(all="ignore"):
                    pairs = zip(*map(_tuple, (rows_of(tape, *arrays, dtype=dtype), arm.kernel(name)(*arrays))), strict=True)
                same = all(np.array_equal(result, wanted, equal_nan=True) for result, wanted in pairs)
                differing, count = differing + (not same), count + 1
                if not same:
                    print(f"{robot} {name} {dtype}: other bits", flush=True)
    print(f"{count} programs, {differing} with other bits than the gufunc")
    return differing


def _tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, tuple | list) else (value,)


def main() -> int:
    if sys.argv[1:] == ["--bits"]:
        return int(bits() > 0)
    if ptxas() is None:
        print("there is no ptxas here: pip install nvidia-cuda-nvcc")
        return 0
    print(f"{'':66}" + "".join(f"{architecture:>14}" for architecture in ARCHITECTURES) + "   registers/bytes spilled")
    exceeded = count = 0
    for robot in dict.fromkeys([*REGISTERS, *SPILLS]):
        arm = mechanism(robot)
        for name in dict.fromkeys(programs(robot)):
            if (item := program_of(arm, name)) is None:
                continue
            for dtype in ("float64", "float32") if isinstance(item, Tape) else ("float64",):
                cells = [assembled(lowering.ptx(item, dtype), architecture) for architecture in ARCHITECTURES]
                over = any(over_budget(robot, name, dtype, *cell) for cell in cells)
                exceeded, count = exceeded + over, count + 1
                shown = "".join(f"{f'{registers}/{spilled}':>14}" for registers, spilled in cells)
                print(f"{robot:19}{name:39}{dtype:>8}{shown}{'   over the budget' if over else ''}", flush=True)
    print(f"{count} programs, {exceeded} over the budget")
    return int(exceeded > 0)


if __name__ == "__main__":
    sys.exit(main())
