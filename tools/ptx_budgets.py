"""Assemble the code for GPUs, and compare its registers and spills with budgets: ``python tools/ptx_budgets.py``.

Needs no GPU, but NVIDIA's assembler: ``ptxas`` on the path, or of the package nvidia-cuda-nvcc. A register has 32 bits; a
thread has 255, and what it needs beyond is spilled to memory. Exit status 1 where a budget is exceeded.
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
from linkwise.kernel.backends.nvptx import lowering
from linkwise.simulation.integrators import program
from linkwise.simulation.plant import Plant
from linkwise.solve.compiled_problem import system_of
from linkwise.solve.constraints.pose import Pose

ARCHITECTURES = ("sm_80", "sm_90", "sm_100")

#: Most registers of each, by robot; none may spill.
BUDGETS = {
    "puma560": {
        "inverse_dynamics": 128, "forward_dynamics": 144, "link_poses": 96, "forward_kinematics": 80, "jacobian": 80,
        "mass_matrix": 72, "rollout": 184, "inverse kinematics": 136,
    },
    "panda": {
        "inverse_dynamics": 184, "forward_dynamics": 255, "link_poses": 96, "forward_kinematics": 80, "jacobian": 80,
        "mass_matrix": 112, "rollout": 255, "inverse kinematics": 232,
    },
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


def programs(arm: Any, names: Any) -> dict[str, Any]:
    """What is assembled for a robot."""
    known: dict[str, Any] = {
        "rollout": lambda: program(Plant(arm), "rk4", None, True),
        "inverse kinematics": lambda: system_of(arm, [Pose("tool", np.eye(4))]).reaching.program,
    }
    return {name: known[name]() if name in known else arm.kernel(name).tape for name in names}


def main() -> int:
    if ptxas() is None:
        print("there is no ptxas here: pip install nvidia-cuda-nvcc")
        return 0
    print(f"{'':31}{'':6}" + "".join(f"{architecture:>14}" for architecture in ARCHITECTURES) + "   registers/bytes spilled")
    exceeded = False
    for robot, budgets in BUDGETS.items():
        for name, item in programs(getattr(lw.robots, robot)(), budgets).items():
            for dtype in ("float64", "float32") if hasattr(item, "inputs") else ("float64",):
                cells = [assembled(lowering.ptx(item, dtype), architecture) for architecture in ARCHITECTURES]
                over = any(registers > budgets[name] or spilled for registers, spilled in cells)
                exceeded |= over
                shown = "".join(f"{f'{registers}/{spilled}':>14}" for registers, spilled in cells)
                print(f"{robot:8}{name:21}{dtype:>8}{shown}{'   over the budget' if over else ''}")
    return int(exceeded)


if __name__ == "__main__":
    sys.exit(main())
