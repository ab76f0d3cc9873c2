"""Kernels on arrays of a GPU: the whole way to the driver, which is a fake that runs the threads on the processor."""

from __future__ import annotations

import ctypes
import re
import sys
from importlib import import_module
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from linkwise import Feedback, Link, Mechanism, Sampled, robots, simulate
from linkwise.arrays import cuda
from linkwise.arrays import cuda_driver as driver_module
from linkwise.errors import ArgumentError, KernelError
from linkwise.kernel.backends.llvm import lowering as llvm
from support.fake_cuda import Cupy, FakeCuda, install

pytestmark = pytest.mark.skipif(not llvm.host().has_fma, reason="the processor rounds products, a GPU does not")


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeCuda:
    return install(monkeypatch, devices=2)


@pytest.fixture
def cupy(fake: FakeCuda, monkeypatch: pytest.MonkeyPatch) -> Cupy:
    module = Cupy(fake)
    monkeypatch.setitem(sys.modules, "cupy", module)
    return module


ARM = robots.planar_2r().replace()  # (its kernels are not those of other tests, which know no fake)


def states(*batch: int, count: int = 3) -> list[Any]:
    return list(np.random.default_rng(0).uniform(-3.0, 3.0, (count, *batch, 2)))


class Foreign:
    """An array of a library that is not known, by one of the two protocols."""

    def __init__(self, fake: FakeCuda, array: Any, stream: int | None = None, device: int = 0) -> None:
        self.array, self.stream = array, stream
        fake.place(array, device)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {**self.array.__array_interface__, "stream": self.stream, "version": 3}


class ByDLPack:
    """The same with DLPack alone."""

    def __init__(self, fake: FakeCuda, array: Any) -> None:
        self.array, self.streams = array, []
        fake.place(array)

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0

    def __dlpack__(self, stream: int) -> Any:
        self.streams.append(stream)
        return self.array.__dlpack__()


def test_a_kernel_takes_arrays_of_cupy_and_gives_them(fake: FakeCuda, cupy: Cupy) -> None:
    kernel, arrays = ARM.kernel("inverse_dynamics"), states(5, 200)
    result = kernel.cuda()(*map(cupy.asarray, arrays))
    assert type(result) is cupy.ndarray
    assert np.array_equal(result.array, kernel(*arrays))
    assert fake.launches == [(8, 128, 7, 0)]  # (blocks for 1000 rows, the stream of CuPy, the device)
    assert not fake.waited
    assert not fake.contexts
    assert np.array_equal(ARM.inverse_dynamics(*map(cupy.asarray, arrays)).array, kernel(*arrays))


def test_a_batch_broadcasts_and_rows_that_are_spread_out_are_copied(fake: FakeCuda, cupy: Cupy) -> None:
    kernel, (q, qd, qdd) = ARM.kernel("inverse_dynamics"), states(4, 3)
    for few in (qd[0], qd[:1], qd[0, 0], qd[:, :1]):
        result = kernel.cuda()(*map(cupy.asarray, (q, few, qdd)))
        assert np.array_equal(result.array, kernel(q, few, qdd))
    strided = cupy.ndarray(np.stack([q, q], axis=-1), 0)[..., 0]
    assert np.array_equal(kernel.cuda()(strided, cupy.asarray(qd), cupy.asarray(qdd)).array, kernel(q, qd, qdd))
    assert kernel.cuda()(*map(cupy.asarray, (q[:0], qd[:0], qdd[:0]))).shape == (0, 3, 2)
    many = ARM.kernel("forward_kinematics").cuda()(cupy.asarray(q[:, ::2]))
    assert np.array_equal(many.array, ARM.forward_kinematics(q[:, ::2]))


def test_float32_and_several_results(fake: FakeCuda, cupy: Cupy) -> None:
    kernel, arrays = ARM.kernel("inverse_dynamics_derivatives"), [x.astype(np.float32) for x in states(9)]
    for result, expected in zip(kernel.cuda()(*map(cupy.asarray, arrays)), kernel(*arrays), strict=True):
        assert result.array.dtype == np.float32
        assert np.array_equal(result.array, expected)


def test_arrays_of_any_library_on_their_own_stream(fake: FakeCuda) -> None:
    kernel, arrays = ARM.kernel("gravity_torque"), states(6, count=1)
    result = kernel.cuda()(Foreign(fake, arrays[0], stream=11))
    interface = result.__cuda_array_interface__
    numbers = (ctypes.c_double * 12).from_address(interface["data"][0])
    assert np.array_equal(np.reshape(numbers, (6, 2)), kernel(*arrays))
    assert interface["typestr"] == "<f8"
    assert fake.launches[-1][2] == 11
    assert fake.waited == [11]
    del result, numbers
    assert "cuMemFree_v2" in fake.calls
    shared = ByDLPack(fake, arrays[0])
    again = kernel.cuda()(shared)
    assert again.shape == (6, 2)
    assert shared.streams == [1]


def test_what_another_stream_writes_is_waited_for(fake: FakeCuda) -> None:
    q, qd, qdd = states(3)
    result = ARM.kernel("inverse_dynamics").cuda()(
        Foreign(fake, q, stream=11), Foreign(fake, qd, stream=12), ByDLPack(fake, qdd)
    )
    assert fake.waited == [12, 0, 11]  # (the last: until the result is there)
    assert fake.launches[-1][2] == 11
    assert result.shape == (3, 2)


def test_arrays_of_jax_get_a_result_that_is_ready(fake: FakeCuda, monkeypatch: pytest.MonkeyPatch) -> None:
    class Array(Foreign):
        dtype = np.dtype(np.float64)

        def block_until_ready(self) -> Array:
            ready.append(self)
            return self

    class Jax:
        numpy = property(lambda self: self)

        def local_devices(self, backend: str) -> list[Any]:
            return [SimpleNamespace(local_hardware_id=k, name=f"{backend}:{k}") for k in (1, 0)]

        def zeros(self, shape: Any, dtype: str, device: Any) -> Array:
            assert device.name == "cuda:0"
            return Array(fake, np.zeros(shape, dtype))

    ready: list[Any] = []

    Array.__module__ = "jaxlib.xla_extension"
    monkeypatch.setitem(sys.modules, "jax", Jax())
    q = states(6, count=1)[0]
    argument = Array(fake, q)
    result = ARM.kernel("gravity_torque").cuda()(argument)
    assert type(result) is Array
    assert ready[0] is argument  # (XLA may still write it, on a stream that nobody sees)
    assert np.array_equal(result.array, ARM.gravity_torque(q))
    assert fake.waited == [0]
    monkeypatch.setattr(Array, "dtype", np.dtype(np.float32))
    with pytest.raises(ArgumentError, match="unless jax_enable_x64 is set"):
        ARM.kernel("gravity_torque").cuda()(Array(fake, q))


def test_on_the_second_device(fake: FakeCuda, cupy: Cupy) -> None:
    q = states(6, count=1)[0]
    assert ARM.kernel("gravity_torque").cuda()(cupy.ndarray(q[:0].copy(), 1)).place == 1  # (of no row too)
    assert not fake.launches
    twice = cupy.ndarray(np.stack([q, q], axis=-1), 1)[..., 0]
    assert ARM.kernel("gravity_torque").cuda()(twice).place == 1
    result = ARM.kernel("gravity_torque").cuda()(Foreign(fake, q, device=1))
    assert fake.launches[-1][3] == 1
    assert result.device.number == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("numpy", "gravity_torque: q is on the CPU; expected an array on a GPU, of CuPy, PyTorch or JAX"),
        ("list", "gravity_torque: q is a list; expected"),
        ("integers", "gravity_torque: q holds int64; expected float32 or float64"),
        ("shape", r"gravity_torque: q has the shape \(6, 3\); expected \(..., 2\)"),
        ("nowhere", "q is on no device; expected it on device 0"),
        ("order", "q holds float64 in the other order of bytes; expected float32 or float64"),
        ("mask", "q holds float64 with a mask; expected float32 or float64"),
    ],
)
def test_what_is_refused(fake: FakeCuda, cupy: Cupy, arguments: str, message: str) -> None:
    q = np.zeros((6, 2))
    lost = Foreign(fake, q.copy())
    masked = SimpleNamespace(__cuda_array_interface__={**lost.__cuda_array_interface__, "mask": lost})
    fake.memory.pop(lost.array.ctypes.data)
    value = {
        "numpy": q,
        "list": [0.0, 0.0],
        "integers": cupy.asarray(q.astype(np.int64)),
        "shape": cupy.asarray(np.zeros((6, 3))),
        "nowhere": lost,
        "order": Foreign(fake, q.astype(">f8")),
        "mask": masked,
    }[arguments]
    with pytest.raises(ArgumentError, match=message):
        ARM.kernel("gravity_torque").cuda()(value)


def test_arguments_must_be_of_one_library_device_and_type(fake: FakeCuda, cupy: Cupy) -> None:
    kernel, arrays = ARM.kernel("inverse_dynamics"), states(4)
    first, second, third = map(cupy.asarray, arrays)
    for wrong, message in (
        (Foreign(fake, arrays[2]), "q is of cupy and qdd of cuda; expected one library"),
        (cupy.asarray(arrays[2].astype(np.float32)), "q holds float64 and qdd float32; expected one type"),
        (cupy.ndarray(arrays[2], 1), "qdd is on device 1; expected it on device 0, with the others"),
    ):
        with pytest.raises(ArgumentError, match=message):
            kernel.cuda()(first, second, wrong)
    with pytest.raises(ArgumentError, match="'qdd' is missing"):
        kernel.cuda()(first, second)
    with pytest.raises(ArgumentError, match="qd is on the CPU"):
        kernel.cuda()(first, arrays[1], third)


def test_a_library_without_copies_says_so(fake: FakeCuda) -> None:
    q = states(4, count=1)[0]
    with pytest.raises(ArgumentError, match="not evenly spaced"):
        ARM.kernel("gravity_torque").cuda()(Foreign(fake, np.stack([q, q], axis=-1)[..., 0]))


def test_the_driver_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda name: (_ for _ in ()).throw(OSError(name)))
    driver_module.driver.cache_clear()
    with pytest.raises(KernelError, match=r"there is no driver for GPUs \(\S+ was not found\): NVIDIA's driver must be"):
        driver_module.driver()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"version": 10020}, "NVIDIA's driver is of CUDA 10.2; expected 11.0 or newer: it must be updated"),
        ({"devices": 0}, r"cuInit failed with CUDA_ERROR_NO_DEVICE \(100\): NVIDIA's driver must be installed"),
    ],
)
def test_the_driver_is_too_old_or_has_no_device(options: Any, message: str) -> None:
    with pytest.raises(KernelError, match=message):
        driver_module.Driver(FakeCuda(**options))


def test_a_device_that_is_too_old_and_code_that_is_refused(fake: FakeCuda, cupy: Cupy) -> None:
    q, function = cupy.asarray(np.zeros((2, 2))), ARM.replace(gravity=(0, 1, 0)).kernel("gravity_torque").cuda()
    fake.capability = 61
    with pytest.raises(KernelError, match=r"has the compute capability 6\.1; expected 7\.0 or more"):
        function(q)
    device = driver_module.Driver(FakeCuda()).devices[0]
    with pytest.raises(KernelError, match=r"CUDA_ERROR_INVALID_PTX \(218\): ptxas: line 1 error"):
        device.load(b"nonsense")
    assert not device.driver.library.contexts  # (the context is put back)


def test_memory_that_is_not_there_and_other_threads(fake: FakeCuda) -> None:
    q = states(4, count=1)[0]
    function, results = ARM.kernel("gravity_torque").cuda(), []
    threads = [Thread(target=lambda: results.append(function(Foreign(fake, q.copy())))) for _ in range(3)]
    for thread in threads:
        thread.start()
        thread.join()
    assert [result.shape for result in results] == [(4, 2)] * 3  # (each thread takes the context, and puts it back)
    fake.fail["cuMemAlloc_v2"] = 2
    with pytest.raises(KernelError, match=r"cuMemAlloc_v2 failed with CUDA_ERROR \(2\)"):
        function(Foreign(fake, q))
    assert not fake.contexts


def test_what_has_no_code_for_a_device_is_refused(fake: FakeCuda, cupy: Cupy, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ArgumentError, match="out= is for NumPy arrays"):
        ARM.kernel("gravity_torque")(cupy.asarray(np.zeros(2)), out=None)
    with pytest.raises(KernelError, match="the back end 'numpy' has no code for GPUs; expected 'llvm'"):
        ARM.kernel("gravity_torque", backend="numpy").cuda()
    monkeypatch.setattr("linkwise.kernel.backends.nvptx.launch.MOST_OPERATIONS", 1)
    with pytest.raises(KernelError, match="expected at most 1 for code for a GPU"):
        ARM.kernel("coriolis_matrix").cuda()
    with pytest.raises(ArgumentError, match="no code for a GPU"):
        cuda.FRAMEWORK.map(np.sin, None, ())  # type: ignore[arg-type]


def test_the_example_of_the_page(fake: FakeCuda, cupy: Cupy) -> None:
    page = (Path(__file__).parents[2] / "docs" / "gpu.md").read_text("utf-8")
    (block,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    exec(block.replace("4096", "512"), {})


# ── PyTorch ───────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def on_gpu(fake: FakeCuda, monkeypatch: pytest.MonkeyPatch) -> Any:
    """What puts a tensor on the fake device: it looks as if it were there."""
    torch = pytest.importorskip("torch")

    class OnDevice(torch.Tensor):  # type: ignore[misc, name-defined]
        @property
        def device(self) -> Any:
            return torch.device("cuda:0")

        def to(self, *place: Any) -> Any:
            return put(self.as_subclass(torch.Tensor).to(place[-1])) if isinstance(place[-1], torch.dtype) else self

    class Stream:
        cuda_stream = 5

    def put(tensor: Any) -> Any:
        fake.place(np.asarray(tensor.detach().resolve_neg()))
        return tensor.as_subclass(OnDevice)

    def empty(shape: Any, dtype: Any, device: Any) -> Any:
        assert device == "cuda:0"
        return put(torch.from_numpy(np.empty(shape, str(dtype).removeprefix("torch."))))

    module = import_module("linkwise.arrays.torch")
    monkeypatch.setattr(module, "_PLAIN", {torch.Tensor, OnDevice})
    monkeypatch.setattr(torch.cuda, "current_stream", lambda place: Stream)
    monkeypatch.setattr(
        cuda.TorchArrays, "empty", lambda self, shape, dtype: empty(shape, getattr(torch, dtype), self.place)
    )
    monkeypatch.setattr(cuda.TorchArrays, "asarray", lambda self, array: put(torch.from_numpy(np.array(array))))
    constant, view = module.TorchFramework.constant, cuda.view

    def seen(subject: str, name: str, value: Any) -> Any:  # (cotangents come without the look of the device)
        return view(subject, name, put(value) if type(value) is torch.Tensor else value)

    monkeypatch.setattr(cuda, "view", seen)

    def there(self: Any, array: Any, *, near: Any = None) -> Any:
        tensor = constant(self, array)
        return put(tensor) if isinstance(near, OnDevice) else tensor

    monkeypatch.setattr(module.TorchFramework, "constant", there)
    return put


def test_tensors_on_a_device_with_gradients(fake: FakeCuda, on_gpu: Any) -> None:
    import torch

    arrays = states(9)
    tensors = [on_gpu(torch.from_numpy(x)) for x in arrays]
    result = ARM.inverse_dynamics(*tensors)
    assert np.array_equal(result.detach().numpy(), ARM.inverse_dynamics(*arrays))
    assert fake.launches[-1][2] == 5  # (the stream of torch)
    launched = len(fake.launches)
    ARM.inverse_dynamics(*(tensor.requires_grad_() for tensor in tensors)).backward(on_gpu(torch.ones(9, 2).double()))
    expected = ARM.kernel("inverse_dynamics").vjp(*arrays, np.ones((9, 2)))
    for tensor, slope in zip(tensors, expected, strict=True):
        assert np.array_equal(tensor.grad.numpy(), slope)
    assert len(fake.launches) == launched + 2


def test_the_sign_that_a_tensor_has_yet_to_apply_and_gradients_that_would_be_lost(fake: FakeCuda, on_gpu: Any) -> None:
    import torch

    q = states(4, count=1)[0]
    function = ARM.kernel("gravity_torque").cuda()
    turned = torch.complex(torch.zeros(4, 2).double(), torch.from_numpy(-q)).conj().imag
    assert turned.is_neg()
    assert np.array_equal(function(on_gpu(turned)).numpy(), ARM.gravity_torque(q))
    with pytest.raises(ArgumentError, match=r"q requires a gradient, .* expected kernel\.torch\(\) in place"):
        function(on_gpu(torch.from_numpy(q)).requires_grad_())


def test_tensors_of_two_devices_are_refused(fake: FakeCuda, on_gpu: Any) -> None:
    import torch

    q, qd, qdd = (torch.from_numpy(x) for x in states(4))
    with pytest.raises(ArgumentError, match="q is on the device cuda:0 and qd on cpu; expected one device"):
        ARM.inverse_dynamics(on_gpu(q), qd, on_gpu(qdd))


def test_inverse_kinematics_of_tensors_has_the_derivatives_of_the_processor(fake: FakeCuda, on_gpu: Any) -> None:
    import torch

    q = np.array([[0.3, 0.9], [0.5, 1.4], [0.2, 1.0]])
    T = torch.from_numpy(ARM.forward_kinematics(q))
    T[2, 0, 3] = 9.0  # (out of reach)
    options: dict[str, Any] = {"mask": [1, 1, 0, 0, 0, 0], "tol": 1e-12, "q0": torch.from_numpy(q + 0.05)}
    slopes = []
    for poses, start in ((T.clone(), options.pop("q0")), (on_gpu(T.clone()), on_gpu(torch.from_numpy(q + 0.05)))):
        solution = ARM.inverse_kinematics(poses.requires_grad_(), start, method="numeric", **options)
        solution.q.sum().backward()
        slopes.append(poses.grad.numpy())
    assert np.array_equal(solution.position_error.detach().numpy() <= 1e-12, solution.success.numpy())
    assert len(fake.launches) > 5
    # (a step of the processor's solver and of the device's differ in nothing; the inverse is that of another library)
    assert np.allclose(slopes[1], slopes[0], rtol=1e-9, atol=0.0, equal_nan=True)
    assert np.isfinite(slopes[1][:2]).all()
    assert np.isnan(slopes[1][2]).any()
    poses.grad = None
    free = ARM.inverse_kinematics(poses, mask=[1, 0, 0, 0, 0, 0]).q  # (a joint is left over)
    free.sum().backward()
    assert np.isnan(poses.grad.numpy()).any(axis=(-2, -1)).all()


# ── inverse kinematics and rollouts ───────────────────────────────────────────────────────────────


def test_rollouts_give_the_bits_of_the_processor(fake: FakeCuda, cupy: Cupy) -> None:
    q0, qd0 = states(5, count=2)
    torque = np.random.default_rng(1).uniform(-9.0, 9.0, (5, 20, 2))
    options: dict[str, Any] = {"t": (0.2, 0.01), "record": 5}
    for pushed in (None, torque, torque[:1], torque[0, 0]):
        there = None if pushed is None else cupy.asarray(pushed)
        motion = simulate(ARM, cupy.asarray(q0), cupy.asarray(qd0), torque=there, **options)
        expected = simulate(ARM, q0, qd0, torque=pushed, **options)
        for name in ("q", "qd", "qdd", "tau"):
            assert np.array_equal(getattr(motion, name).array, getattr(expected, name)), name
    assert motion.q.shape == (5, 5, 2)
    assert fake.launches[-1][0] == 1
    assert np.array_equal(simulate(ARM, cupy.asarray(q0), **options).q.array, simulate(ARM, q0, **options).q)


def test_rollouts_with_a_law_and_with_quaternions(fake: FakeCuda, cupy: Cupy) -> None:
    q0 = states(4, count=1)[0]
    law = Feedback(lambda t, q, qd, goal, kp: kp * (goal - q) - 5.0 * qd, goal=Sampled(states(4, 1, count=1)[0]), kp=30.0)
    motion, expected = (simulate(ARM, x, torque=law, t=(0.1, 0.01)) for x in (cupy.asarray(q0), q0))
    assert np.array_equal(motion.q.array, expected.q)
    assert np.array_equal(motion.tau.array, expected.tau)
    body = Mechanism([Link(joint="fixed", mass=1.0, inertia=(1.0, 2.0, 2.5))], floating=True)
    start = np.random.default_rng(2).normal(size=(3, body.nq))
    motion, expected = (simulate(body, x, t=(0.05, 0.01)) for x in (cupy.asarray(start), start))
    # (the first quaternion is brought to unit length by another way than the processor's, a unit or two apart)
    assert np.allclose(motion.q.array, expected.q, rtol=0.0, atol=1e-13)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "rk45"}, "method is 'rk45'; expected one with fixed steps on a GPU"),
        ({"energies": True}, "energies is not for arrays on a GPU"),
        ({"torque": lambda t, q, qd: 0.0 * qd}, "torque is a function; expected an array or a Feedback on a GPU"),
        ({"events": lambda t, q, qd: q[..., 0]}, "events are for NumPy arrays; arrays of cuda have none"),
    ],
)
def test_rollouts_that_are_refused(fake: FakeCuda, cupy: Cupy, options: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        simulate(ARM, cupy.asarray(np.zeros(2)), t=(0.1, 0.01), **options)


def test_inverse_kinematics_in_a_batch(fake: FakeCuda, cupy: Cupy) -> None:
    q = np.random.default_rng(3).uniform(0.2, 2.0, (4, 2))
    T = ARM.forward_kinematics(q)
    T[3, 0, 3] = 9.0  # (out of reach)
    options: dict[str, Any] = {"mask": [1, 1, 0, 0, 0, 0], "tol": 1e-10, "seed": 2}
    solution = ARM.inverse_kinematics(cupy.asarray(T), **options)
    expected = ARM.inverse_kinematics(T, method="numeric", **options)
    assert solution.success.array.tolist() == [True, True, True, False] == expected.success.tolist()
    assert np.array_equal(solution.q.array[:3], expected.q[:3])
    assert solution.iterations.array[:3].tolist() == expected.iterations[:3].tolist()
    reached = ARM.forward_kinematics(solution.q.array)[:3, :3, 3]
    assert np.linalg.norm(reached - T[:3, :3, 3], axis=-1).max() <= 1e-10
    again = ARM.inverse_kinematics(cupy.asarray(T[:3]), q0=cupy.asarray(q[:3] + 0.1), **options)
    assert again.success.array.all()
    assert np.allclose(again.q.array, q[:3], rtol=0.0, atol=1e-8)  # (the tolerance, over slopes of a tenth)


def test_arrays_of_jax_are_solved_and_simulated(fake: FakeCuda, monkeypatch: pytest.MonkeyPatch) -> None:
    """JAX's own arrays, on the CPU, which the driver that is none takes for its memory."""
    jax = pytest.importorskip("jax")
    adapter, view = import_module("linkwise.arrays.jax"), cuda.view

    def seen(subject: str, name: str, value: Any) -> Any:
        if not isinstance(value, jax.Array):
            return view(subject, name, value)
        strides = np.asarray(value).strides
        return cuda.View(value, value.shape, strides, str(value.dtype), value.unsafe_buffer_pointer(), device=0)

    monkeypatch.setattr(cuda, "view", seen)
    monkeypatch.setattr(cuda.JaxArrays, "_place", lambda self: jax.devices()[0])
    monkeypatch.setattr(adapter, "_platforms", lambda value: {"gpu"} if isinstance(value, jax.Array) else set())
    q = np.random.default_rng(3).uniform(0.2, 2.0, (4, 2))
    with jax.enable_x64(True):
        T = jax.numpy.asarray(ARM.forward_kinematics(q))
        options: dict[str, Any] = {"mask": [1, 1, 0, 0, 0, 0], "tol": 1e-10}
        solution, expected = ARM.inverse_kinematics(T, **options), ARM.inverse_kinematics(np.asarray(T), **options)
        assert isinstance(solution.q, jax.Array)
        assert solution.success.all()
        assert np.abs(ARM.forward_kinematics(np.asarray(solution.q)) - T)[..., :2, 3].max() <= 1e-10
        assert float(solution.position_error.max()) <= 1e-10 >= expected.position_error.max()
        motion, known = (simulate(ARM, x, t=(0.1, 0.01)) for x in (jax.numpy.asarray(q), q))
        assert np.array_equal(motion.q, known.q)
        assert isinstance(motion.qdd, jax.Array)
    with jax.enable_x64(False):  # (there the other numbers would be float32 too, and the code reads float64)
        with pytest.raises(ArgumentError, match="T holds float32"):
            ARM.inverse_kinematics(jax.numpy.eye(4))
        with pytest.raises(ArgumentError, match="q0 holds float32"):
            simulate(ARM, jax.numpy.zeros(2), t=(0.1, 0.01))
    assert {stream for _, _, stream, _ in fake.launches} == {0}
    assert fake.waited


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "closed_form"}, "method is 'closed_form'; expected 'auto' or 'numeric'"),
        ({"q0": np.zeros(2)}, r"T is of cupy and q0 of|q0 is on the CPU"),
    ],
)
def test_inverse_kinematics_that_is_refused(fake: FakeCuda, cupy: Cupy, options: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        ARM.inverse_kinematics(cupy.asarray(np.eye(4)), **options)
    with pytest.raises(ArgumentError, match="T holds float32; expected float64 on a GPU"):
        ARM.inverse_kinematics(cupy.asarray(np.eye(4, dtype=np.float32)))
