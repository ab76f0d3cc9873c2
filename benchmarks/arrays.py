"""The same work on the arrays of every library: ``python benchmarks/arrays.py [--rounds 3] [--most 1000000]``.

A PUMA 560 without friction, in float64, on one core: its inverse and forward dynamics, the poses of its links, the Jacobian
of its tool, and the gradient of a torque error by q, qd and qdd: of the sum of squares of (inverse dynamics - measured).
Each way is checked against the gufunc before it is timed. Printed is the least processor time of some rounds, in nanoseconds
a configuration; a dash is what a way has not, ``...`` what would take longer than the benchmark may. Libraries that are not
installed are left out.
"""

from __future__ import annotations

import argparse
import re
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np
from timing import least, pin_to_one_core, seconds

import linkwise as lw

ARM = lw.robots.puma560().without_friction()
SIZES = (1, 10_000, 1_000_000)
INPUTS = {"inverse_dynamics": 3, "forward_dynamics": 3, "link_poses": 1, "jacobian": 1}
GRADIENT = "gradient of a torque error"
WORK = (*INPUTS, GRADIENT)

#: Seconds that one call may take at the greatest size, from what a configuration took at the size before.
LONGEST = 3.0

#: A way of doing a piece of work: from its arrays to what is called; None where it has no such work.
Way = Callable[[str, list[Any]], Callable[[], Any] | None]


def states(size: int) -> list[Any]:
    """Random q, qd and qdd, rows of 6; one configuration is a vector."""
    values = np.random.default_rng(0).uniform(-1.0, 1.0, (3, size, 6))
    return list(values if size > 1 else values[:, 0])


def arguments(work: str, size: int) -> list[Any]:
    """The arrays of a piece of work; for the gradient also the measured torque."""
    arrays = states(size)
    return [*arrays, np.ones_like(arrays[0])] if work == GRADIENT else arrays[: INPUTS[work]]


def error_of(torque: Any, measured: Any) -> Any:
    """The sum of squares of a torque error."""
    return ((torque - measured) ** 2).sum()


def by_numpy() -> Iterator[tuple[str, Way]]:
    """Kernels on NumPy arrays."""

    def gradient(q: Any, qd: Any, qdd: Any, measured: Any) -> Any:
        kernel = ARM.kernel("inverse_dynamics")
        return kernel.vjp(q, qd, qdd, 2.0 * (kernel(q, qd, qdd) - measured))

    yield "NumPy", lambda work, x: partial(gradient if work == GRADIENT else ARM.kernel(work), *x)


def by_torch() -> Iterator[tuple[str, Way]]:
    """Kernels on tensors, with and without gradients, and inside of the compiler."""
    import torch

    torch.set_num_threads(1)
    torque = ARM.kernel("inverse_dynamics").torch()

    def loss(*x: Any) -> Any:
        return error_of(torque(*x[:3]), x[3])

    def backward(function: Any, x: list[Any]) -> Any:
        return torch.autograd.grad(function(*x), x[:3])

    def plain(work: str, arrays: list[Any], of: Callable[..., Any] = lambda function: function) -> Any:
        x = [torch.from_numpy(array) for array in arrays]
        if work != GRADIENT:
            return partial(of(ARM.kernel(work).torch()), *x)
        return partial(backward, of(loss), [tensor.requires_grad_(k < 3) for k, tensor in enumerate(x)])

    def compiled(work: str, arrays: list[Any]) -> Any:
        torch._dynamo.reset()
        return (
            plain(work, arrays, partial(torch.compile, fullgraph=True)) if work in {"inverse_dynamics", GRADIENT} else None
        )

    yield "torch", plain
    yield "torch.compile", compiled


def by_xla(function_of: Callable[[str], Any], work: str, arrays: list[Any], *, fused: bool = True) -> Any:
    """What XLA compiles of functions of arrays of JAX, one for each piece of work, and the gradient by the first.

    XLA for the processor fuses operations, and then computes some again for each element; ``fused`` says whether it may.
    """
    import jax

    jax.config.update("jax_enable_x64", True)
    x = [jax.numpy.asarray(array) for array in arrays]
    if work == GRADIENT:
        torque = function_of("inverse_dynamics")
        function = jax.grad(lambda *x: error_of(torque(*x[:3]), x[3]), (0, 1, 2))
    else:
        function = function_of(work)
    run = jax.jit(function, compiler_options=None if fused else {"xla_disable_hlo_passes": "fusion"})
    return lambda: jax.block_until_ready(run(*x))


def mapped(one: Callable[..., Any]) -> Callable[..., Any]:
    """A function of JAX, of one configuration, that takes a batch too."""
    import jax

    return lambda *x: one(*x) if x[0].ndim == 1 else jax.vmap(one)(*x)


def by_jax() -> Iterator[tuple[str, Way]]:
    """Kernels that XLA calls, and the exported source that XLA compiles."""
    from linkwise.export.languages.jax import jax_function

    yield "JAX", partial(by_xla, lambda name: ARM.kernel(name).jax())
    yield "JAX, exported source by XLA", partial(by_xla, lambda name: mapped(jax_function(ARM.kernel(name))))


def by_mjx() -> Iterator[tuple[str, Way]]:
    """MuJoCo on JAX, without constraints; its bodies are in the links' frames but for `after`."""
    import jax
    import jax.numpy as jnp
    import mujoco
    from rollouts import to_mujoco

    with redirect_stdout(StringIO()), redirect_stderr(StringIO()):  # (it says that Warp is missing)
        mjx = import_module("mujoco.mjx")
    model, tip = to_mujoco(ARM), ARM.links[-1].after @ ARM.tool
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    jax.config.update("jax_enable_x64", True)
    there, body = mjx.put_model(model), model.nbody - 1
    data = mjx.make_data(there)

    def poses(q: Any) -> Any:
        moved = mjx.kinematics(there, data.replace(qpos=q))
        return moved.xpos, moved.xmat

    def jacobian(q: Any) -> Any:
        moved = mjx.com_pos(there, mjx.kinematics(there, data.replace(qpos=q)))
        point = moved.xpos[body] + moved.xmat[body].reshape(3, 3) @ tip[:3, 3]
        return jnp.concatenate([part.T for part in mjx.jac(there, moved, point, body)])

    calls: Mapping[str, Callable[..., Any]] = {
        "inverse_dynamics": lambda q, qd, qdd: mjx.inverse(there, data.replace(qpos=q, qvel=qd, qacc=qdd)).qfrc_inverse,
        "forward_dynamics": lambda q, qd, tau: mjx.forward(there, data.replace(qpos=q, qvel=qd, qfrc_applied=tau)).qacc,
        "link_poses": poses,
        "jacobian": jacobian,
    }
    for name, fused in (("MJX", True), ("MJX, unfused", False)):
        yield name, partial(by_xla, lambda work: mapped(calls[work]), fused=fused)


def by_frax() -> Iterator[tuple[str, Way]]:
    """Its own arm, read from the URDF that Linkwise writes; inertias of the rotors, which it has not, are added."""
    with catch_warnings():
        simplefilter("ignore")  # (of settings that it recommends)
        import frax
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    still = '<mass value="0"/><inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/>'
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "arm.urdf")
        lw.save(ARM, path, allow_loss=True)
        text = path.read_text(encoding="utf-8")  # (every link must have an inertia there)
        text = re.sub(r'<link name="(\w+)"\s*/>', rf'<link name="\1"><inertial>{still}</inertial></link>', text)
        path.write_text(text, encoding="utf-8")
        arm = frax.Manipulator(str(path), ee_offset=np.array(ARM.tool))
    rotors = jnp.array([link.motor.reflected_inertia if link.motor else 0.0 for link in ARM.links])
    upwards = jnp.array([*-np.array(ARM.gravity), 0.0, 0.0, 0.0])
    calls: Mapping[str, Callable[..., Any]] = {
        "inverse_dynamics": lambda q, qd, qdd: arm.rnea(q, qd, qdd, upwards, None) + rotors * qdd,
        "forward_dynamics": lambda q, qd, tau: jnp.linalg.solve(
            arm.crba(q) + jnp.diag(rotors), tau - arm.nonlinear_bias(q, qd)
        ),
        "link_poses": arm.joint_to_world_transforms,
        "jacobian": arm.ee_jacobian,
    }
    yield "frax", partial(by_xla, lambda name: mapped(calls[name]))


def by_dask() -> Iterator[tuple[str, Way]]:
    """Chunks of 100,000 rows, by Dask's threads."""
    import dask
    import dask.array as da

    def way(work: str, arrays: list[Any]) -> Any:
        x = [da.from_array(array, chunks=(min(len(array), 100_000), 6)) for array in arrays if array.ndim > 1]
        if work == GRADIENT or not x:
            return None
        return lambda: dask.compute(ARM.kernel(work)(*x), scheduler="threads")[0]

    yield "Dask", way


def by_casadi() -> Iterator[tuple[str, Way]]:
    """As an external function, and as CasADi's own graph."""
    import casadi

    def way(expand: bool, work: str, arrays: list[Any]) -> Any:
        count = 1 if arrays[0].ndim == 1 else len(arrays[0])
        if count > 10_000 or (not expand and count > 1):
            return None
        function = ARM.kernel("inverse_dynamics" if work == GRADIENT else work).to_casadi(expand=expand)
        if work == GRADIENT:
            kind = casadi.SX if expand else casadi.MX
            x = [kind.sym(f"x{k}", 6) for k in range(4)]
            difference = function(*x[:3]) - x[3]
            parts = [casadi.gradient(casadi.dot(difference, difference), part) for part in x[:3]]
            function = casadi.Function("gradient", x, parts)
        mapped = function if count == 1 else function.map(count)
        columns = [casadi.DM(np.atleast_2d(array).T) for array in arrays]
        return lambda: mapped(*columns)

    yield "CasADi, external function", partial(way, False)
    yield "CasADi, expanded", partial(way, True)


def by_pytorch_kinematics() -> Iterator[tuple[str, Way]]:
    """Its own chain, read from the URDF that Linkwise writes, in float64."""
    import pytorch_kinematics
    import torch

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "arm.urdf")
        lw.save(ARM, path, allow_loss=True)  # (of motors, which kinematics do not need)
        text = path.read_text(encoding="utf-8")
    tip = "tool" if 'link name="tool"' in text else ARM.links[-1].name
    chain = pytorch_kinematics.build_serial_chain_from_urdf(text.encode(), tip).to(dtype=torch.float64)

    def way(work: str, arrays: list[Any]) -> Any:
        if work not in {"link_poses", "jacobian"}:
            return None
        q = torch.from_numpy(arrays[0])
        if work == "jacobian":
            return lambda: chain.jacobian(q)
        return lambda: chain.forward_kinematics(q, end_only=False)

    yield "pytorch_kinematics", way


def by_pinocchio() -> Iterator[tuple[str, Way]]:
    """A loop of Python."""
    import pinocchio as pin
    from peers import to_pinocchio

    model, frame = to_pinocchio(ARM)
    data = model.createData()

    def poses(q: Any) -> Any:
        pin.forwardKinematics(model, data, q)
        return data.oMi

    calls: Mapping[str, Callable[..., Any]] = {
        "inverse_dynamics": lambda q, qd, qdd: pin.rnea(model, data, q, qd, qdd),
        "forward_dynamics": lambda q, qd, tau: pin.aba(model, data, q, qd, tau),
        "link_poses": poses,
        "jacobian": lambda q: pin.computeFrameJacobian(model, data, q, frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED),
    }

    def loop(call: Callable[..., Any], rows: list[Any]) -> None:
        for row in rows:
            call(*row)

    def way(work: str, arrays: list[Any]) -> Any:
        if work == GRADIENT:
            return None
        rows = list(zip(*arrays, strict=True)) if arrays[0].ndim > 1 else [tuple(arrays)]
        return partial(loop, calls[work], rows) if len(rows) > 1 else partial(calls[work], *arrays)

    yield "Pinocchio, loop of Python", way


GROUPS = (by_numpy, by_torch, by_jax, by_dask, by_casadi, by_pytorch_kinematics, by_mjx, by_frax, by_pinocchio)

#: What other libraries give in another form, and how near the same numbers are: that of the URDF has fewer digits.
OTHERWISE = {
    (name, "link_poses") for name in ("Pinocchio, loop of Python", "pytorch_kinematics", "MJX", "MJX, unfused", "frax")
}
NEAR = {"pytorch_kinematics": 1e-6}


def numbers(result: Any) -> Any:
    """All numbers of a result."""
    parts = result if isinstance(result, tuple) else (result,)
    return np.concatenate([np.ravel(np.asarray(part)) for part in parts])


def checked(name: str, work: str, way: Way) -> bool:
    """Whether there is such a way, which gives what the gufunc gives, to rounding."""
    arrays = arguments(work, 10 if name in {"Dask", "NumPy"} else 1)
    action = way(work, arrays)
    if action is None:
        return False
    if (name, work) not in OTHERWISE:
        wanted = numbers(next(by_numpy())[1](work, arrays)())  # type: ignore[misc]
        assert np.abs(numbers(action()) - wanted).max() <= NEAR.get(name, 1e-12) * np.abs(wanted).max(), (name, work)
    return True


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--most", type=int, default=max(SIZES), help="configurations at most")
    options = parser.parse_args()
    simplefilter("ignore")
    pin_to_one_core()
    sizes = [size for size in SIZES if size <= options.most]
    print(f"{'ns a configuration, in a batch of':58}" + "".join(f"{size:>12,}" for size in sizes), flush=True)
    for group in GROUPS:
        try:
            ways = list(group())
        except ImportError as error:
            print(f"({error.name} is not installed)")
            continue
        for name, way in ways:
            for work in WORK:
                if checked(name, work, way):
                    row = "".join(f"{text:>12}" for text in measured(work, way, sizes, options.rounds))
                    print(f"{work + ': ' + name:58}{row}", flush=True)


def measured(work: str, way: Way, sizes: list[int], rounds: int) -> Iterator[str]:
    """Nanoseconds a configuration at each size."""
    last = 0.0
    for size in sizes:
        if size == max(SIZES) and last * size > LONGEST:
            yield "..."
            continue
        action = way(work, arguments(work, size))
        if action is None:
            yield "-"
            continue
        last = least(seconds(action, 0.01, time.process_time), rounds) / size
        yield f"{last * 1e9:.1f}" if last < 1e-6 else f"{last * 1e9:.0f}"


if __name__ == "__main__":
    main()
