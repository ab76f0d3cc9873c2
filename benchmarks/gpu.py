"""Kernels on a GPU of NVIDIA with PyTorch: ``python benchmarks/gpu.py``.

PUMA 560, float64 and float32, 10^6 and 10^7 configurations that are on the device and stay there: inverse and forward
dynamics, poses, Jacobian, inverse kinematics (10^6), rollouts. Each result is first compared with the processor's, bit for
bit. Times are medians between events on the stream; the share is that of the bandwidth at which the device copies memory,
for what must be read and written. A Panda beside pytorch_kinematics and MuJoCo MJX where
these are installed, which must agree.
Where there is no device it says so in one line.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import linkwise as lw
from linkwise.arrays.cuda_driver import driver
from linkwise.errors import FileError, KernelError

NAMES = ("inverse_dynamics", "forward_dynamics", "forward_kinematics", "jacobian")
ROWS, CHECKED, ROUNDS, STEPS = (1_000_000, 10_000_000), 50_000, 9, 100


def elapsed(torch: Any, action: Callable[[], Any]) -> float:
    """Median seconds of an action on the device, without the first, which compiles."""
    action()
    samples = []
    for _ in range(ROUNDS):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        result = action()
        end.record()
        torch.cuda.synchronize()
        samples.append(begin.elapsed_time(end) / 1e3)
        del result
    return statistics.median(samples)


def bandwidth(torch: Any) -> float:
    """Bytes a second that a copy of a gigabyte reads and writes."""
    block = torch.zeros(1 << 27, dtype=torch.float64, device="cuda")
    other = torch.empty_like(block)
    return 2 * 8 * block.numel() / elapsed(torch, lambda: other.copy_(block))


def line(name: str, rows: int, seconds: float, moved: int, peak: float, note: str = "") -> None:
    """Print one row of the table."""
    share = f"{moved / seconds / peak:8.0%}" if moved else " " * 8
    print(f"{name:36}{rows:>12,}{seconds / rows * 1e9:12.4f}{share}   {note}", flush=True)


def kernels(torch: Any, arm: Any, peak: float) -> None:
    """Kernels against the processor, and their times."""
    for dtype in ("float64", "float32"):
        for name in NAMES:
            kernel = arm.kernel(name)
            function = kernel.cuda()
            for rows in ROWS:
                arrays = [random(torch, (rows, *shape), dtype) for shape in kernel.tape.inputs.values()]
                few = function(*(x[:CHECKED] for x in arrays)).cpu().numpy()
                same = np.array_equal(few, kernel(*(x[:CHECKED].cpu().numpy() for x in arrays)))
                moved = rows * (kernel.tape.input_count + kernel.tape.output_count) * (8 if dtype == "float64" else 4)
                seconds = elapsed(torch, lambda function=function, arrays=arrays: function(*arrays))
                line(f"{name} {dtype}", rows, seconds, moved, peak, "bits equal" if same else "BITS DIFFER")
                del arrays


def random(torch: Any, shape: tuple[int, ...], dtype: str) -> Any:
    """Numbers from -1 to 1 on the device."""
    return 2.0 * torch.rand(shape, dtype=getattr(torch, dtype), device="cuda") - 1.0


def solvers(torch: Any, arm: Any, peak: float) -> None:
    """Inverse kinematics and rollouts against the processor, and their times."""
    rows = ROWS[0]
    T = arm.forward_kinematics(0.7 * random(torch, (rows, arm.n), "float64"))  # (within the limits)
    solution = arm.inverse_kinematics(T)
    expected = arm.inverse_kinematics(T[:2000].cpu().numpy(), method="numeric")
    solved = expected.success & solution.success[:2000].cpu().numpy()
    same = np.array_equal(solution.q[:2000].cpu().numpy()[solved], expected.q[solved])
    note = f"{float(solution.success.double().mean()):.2%} solved, {'bits equal' if same else 'BITS DIFFER'}"
    line("inverse_kinematics float64", rows, elapsed(torch, lambda: arm.inverse_kinematics(T)), 0, peak, note)
    state = random(torch, (100_000, arm.n), "float64")
    options = {"t": (STEPS * 1e-3, 1e-3), "record": STEPS}
    motion, few = lw.simulate(arm, state, **options), lw.simulate(arm, state[:2000].cpu().numpy(), **options)
    same = np.array_equal(motion.q[:2000].cpu().numpy(), few.q)
    seconds = elapsed(torch, lambda: lw.simulate(arm, state, **options))
    line("simulate, a step of rk4 float64", len(state) * STEPS, seconds, 0, peak, "bits equal" if same else "BITS DIFFER")


def peers(torch: Any, peak: float) -> None:
    """Work on a Panda by others, as far as they agree, behind ours."""
    arm = lw.robots.panda()
    q = [random(torch, (ROWS[0], arm.n), "float64") for _ in range(3)]
    line("Panda forward_kinematics", ROWS[0], elapsed(torch, lambda: arm.forward_kinematics(q[0])), 0, peak)
    line("Panda jacobian", ROWS[0], elapsed(torch, lambda: arm.jacobian(q[0])), 0, peak)
    line("Panda inverse_dynamics", ROWS[0], elapsed(torch, lambda: arm.inverse_dynamics(*q)), 0, peak)
    with tempfile.TemporaryDirectory() as folder:
        for suffix, compare in ((".urdf", pytorch_kinematics), (".xml", mjx)):
            path = Path(folder, f"arm{suffix}")
            try:
                lw.save(arm, path)
                compare(torch, arm, path, peak)
            except (ImportError, FileError) as error:
                print(f"{compare.__name__}: {str(error).splitlines()[0]}")


def pytorch_kinematics(torch: Any, arm: Any, path: Path, peak: float) -> None:
    """Poses and Jacobians by pytorch_kinematics."""
    import pytorch_kinematics as pk

    whole = pk.build_chain_from_urdf(path.read_bytes())
    last = whole.get_frame_names()[-1]
    chain = pk.SerialChain(whole, last).to(dtype=torch.float64, device="cuda")
    q = random(torch, (ROWS[0], arm.n), "float64")
    for name, function in (
        ("forward_kinematics", lambda: chain.forward_kinematics(q).get_matrix()),
        ("jacobian", lambda: chain.jacobian(q)),
    ):
        same = torch.allclose(function()[:1000], getattr(arm, name)(q[:1000], link=last), atol=1e-6)
        note = "agrees" if same else "another frame or other numbers"
        line(f"pytorch_kinematics {name}", len(q), elapsed(torch, function), 0, peak, note)


def mjx(torch: Any, arm: Any, path: Path, peak: float) -> None:
    """Inverse dynamics by MuJoCo MJX, compiled by XLA."""
    import jax
    import mujoco
    from mujoco import mjx as module

    model = mujoco.MjModel.from_xml_path(str(path))
    there = module.put_model(model)
    data = module.make_data(there)

    @jax.jit
    @jax.vmap
    def efforts(q: Any, qd: Any, qdd: Any) -> Any:
        return module.inverse(there, data.replace(qpos=q, qvel=qd, qacc=qdd)).qfrc_inverse

    arrays = [random(torch, (ROWS[0] // 10, arm.n), "float32") for _ in range(3)]
    copies = [jax.dlpack.from_dlpack(x) for x in arrays]
    expected = arm.inverse_dynamics(*(x[:1000] for x in arrays)).cpu().numpy()
    same = np.allclose(np.asarray(efforts(*copies))[:1000], expected, rtol=1e-3, atol=1e-2)
    seconds = elapsed(torch, lambda: efforts(*copies).block_until_ready())
    line("MJX inverse_dynamics float32", len(arrays[0]), seconds, 0, peak, "agrees" if same else "other numbers")


def main() -> None:
    """Print the table."""
    try:
        device = driver().devices[0]
    except KernelError as error:
        sys.exit(f"nothing is measured: {error}")
    try:
        import torch
    except ImportError:
        sys.exit("nothing is measured: this benchmark needs PyTorch with CUDA")
    if not torch.cuda.is_available():
        sys.exit("nothing is measured: this PyTorch has no CUDA")
    arm, peak = lw.robots.puma560(), bandwidth(torch)
    capability = device.capability / 10
    print(f"{torch.cuda.get_device_name()}, compute capability {capability}; copies at {peak / 1e12:.2f} TB/s")
    print(f"{'':36}{'rows':>12}{'ns a row':>12}{'share':>8}")
    kernels(torch, arm, peak)
    solvers(torch, arm, peak)
    peers(torch, peak)


if __name__ == "__main__":
    main()
