"""A kernel as users meet it: names, choices, pickles, threads, and life without llvmlite."""

from __future__ import annotations

import multiprocessing
import operator
import pickle
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
import pytest

from linkwise import Mechanism, robots
from linkwise.errors import ArgumentError, KernelError
from linkwise.kernel import Kernel, trace
from linkwise.kernel.backends import numpy as numpy_lowering
from linkwise.kernel.gufunc import signature
from support.random_mechanisms import random_state, sample


def test_it_is_a_gufunc() -> None:
    kernel = robots.load("puma560").kernel("inverse_dynamics")
    assert isinstance(kernel.ufunc, np.ufunc)
    assert kernel.ufunc.signature == signature(kernel.tape) == "(6),(6),(6)->(6)"
    assert kernel.ufunc.__name__ == kernel.name == "inverse_dynamics"
    assert kernel.ufunc.types == ["fff->f", "ddd->d"]
    assert "inverse_dynamics(" in kernel.ufunc.__doc__
    assert "Luh" in kernel.ufunc.__doc__
    assert "inverse_dynamics" in repr(kernel)


def test_keywords_of_a_gufunc() -> None:
    kernel = robots.load("puma560").kernel("inverse_dynamics")
    state = random_state(robots.load("puma560"), 0, (5,))
    wanted = kernel(*state)
    across = [np.ascontiguousarray(part.T) for part in state]
    assert np.array_equal(kernel(*across, axes=[0, 0, 0, 0]), wanted.T)
    assert np.array_equal(kernel(*across, axis=0), wanted.T)
    narrow = kernel(*state, dtype=np.float32, casting="same_kind")
    assert narrow.dtype == np.float32


def test_one_kernel_for_each_choice_of_options() -> None:
    mech = sample(2)
    assert mech.kernel("jacobian") is mech.kernel("jacobian")
    assert mech.kernel("jacobian", frame="body") is not mech.kernel("jacobian")
    assert mech.kernel("jacobian", backend="numpy") is not mech.kernel("jacobian")


def test_unknown_names_are_answered_with_what_there_is() -> None:
    mech = sample(2)
    with pytest.raises(ArgumentError, match=r"'inverse'.*'inverse_dynamics'.*'jacobian'"):
        mech.kernel("inverse")
    with pytest.raises(ArgumentError, match=r"jacobian.*'link'.*'frame'"):
        mech.kernel("jacobian", side="left")
    with pytest.raises(ArgumentError, match=r"frame is 'tool'; expected 'world' or 'body'"):
        mech.jacobian(np.zeros(mech.n), frame="tool")
    with pytest.raises(ArgumentError, match=r"no link 'nose'; this mechanism has 'part0'"):
        mech.forward_kinematics(np.zeros(mech.n), link="nose")
    with pytest.raises(ArgumentError, match=r"no link 99"):
        mech.jacobian(np.zeros(mech.n), link=99)
    with pytest.raises(KernelError, match=r"backend is 'cuda'; expected 'llvm' or 'numpy'"):
        mech.kernel("jacobian", backend="cuda")


@pytest.mark.parametrize("backend", ["llvm", "numpy"])
def test_kernels_pickle(backend: str) -> None:
    kernel = sample(2).kernel("inverse_dynamics", backend=backend)
    state = random_state(sample(2), 0, (3,))
    again = pickle.loads(pickle.dumps(kernel))
    assert again.backend == backend
    assert again.tape == kernel.tape
    assert again.ufunc.__doc__ == kernel.ufunc.__doc__
    assert np.array_equal(again(*state), kernel(*state))


def test_other_processes_compute_the_same() -> None:
    """Kernels and mechanisms go to freshly started processes and come back."""
    mech = sample(2)
    state = random_state(mech, 0, (4,))
    wanted = mech.inverse_dynamics(*state)
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        by_kernel = pool.submit(mech.kernel("inverse_dynamics"), *state)
        by_mechanism = pool.submit(operator.methodcaller("inverse_dynamics", *state), mech)
        back = pool.submit(operator.methodcaller("replace", name="other"), mech)
        assert np.array_equal(by_kernel.result(), wanted)
        assert np.array_equal(by_mechanism.result(), wanted)
        assert back.result() == mech.replace(name="other")


def test_the_interpreter_is_free_during_a_long_call() -> None:
    """Another thread goes on while a batch is computed: it counts milliseconds.

    Were the lock held, it would count one at most.
    """

    def long(x: np.ndarray) -> np.ndarray:
        value = x[0]
        for _ in range(300):
            value = value.sin()
        return np.array([value], dtype=object)

    kernel = Kernel(trace(long, "long", {"x": (1,)}, {"y": (1,)}), "llvm")
    batch = np.broadcast_to(np.array([0.5]), (600_000, 1))
    kernel(batch[:1])
    count, stop = [0], threading.Event()

    def tick() -> None:
        while not stop.is_set():
            count[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    before, start = count[0], time.perf_counter()
    kernel(batch)
    after, took = count[0], time.perf_counter() - start
    stop.set()
    thread.join()
    print(f"{after - before} ticks in {took:.2f} s")
    assert after - before >= 5


def test_mechanisms_first_used_by_many_threads() -> None:
    mech = sample(7).replace(name="fresh")
    state = random_state(mech)
    results: list[np.ndarray] = []
    barrier = threading.Barrier(8)

    def work() -> None:
        barrier.wait()
        results.append(mech.inverse_dynamics(*state))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 8
    assert all(np.array_equal(result, results[0]) for result in results)


WITHOUT_LLVMLITE = """
import sys
sys.modules["llvmlite"] = None
import numpy as np
import linkwise as lw
arm = lw.robots.load("puma560")
q = np.linspace(-1, 1, 18).reshape(3, 6)
for args in ((q,), (q[0],)):
    print(repr(arm.forward_kinematics(*args).tolist()))
print(repr(arm.inverse_dynamics(q, q, q).tolist()))
print(repr(arm.inverse_dynamics(q[1], q[1], q[1], np.arange(6.0)).tolist()))
assert arm.kernel("jacobian").backend == "numpy"
assert arm.forward_kinematics(q.astype("f4")).dtype == np.float32
assert arm.forward_kinematics(q[:0]).shape == (0, 4, 4)
"""


def test_without_llvmlite() -> None:
    """A machine without llvmlite still gets answers, the same to rounding."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", WITHOUT_LLVMLITE], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    poses, pose, efforts, effort = (np.array(eval(line)) for line in done.stdout.splitlines())
    mech, q = robots.load("puma560"), np.linspace(-1, 1, 18).reshape(3, 6)
    pairs = [
        (poses, mech.forward_kinematics(q)),
        (pose, mech.forward_kinematics(q[0])),
        (efforts, mech.inverse_dynamics(q, q, q)),
        (effort, mech.inverse_dynamics(q[1], q[1], q[1], np.arange(6.0))),
    ]
    errors = [np.abs(found - wanted).max() / np.abs(wanted).max() for found, wanted in pairs]
    print(errors)
    # A few hundred roundings, fused or not.
    assert max(errors) <= 1e-14


@pytest.mark.parametrize("name", ["sqrt", "empty", "array", "number", "abs"])
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_kernel_may_be_called_as_a_function_that_its_source_uses(name: str) -> None:
    kernel = Kernel(trace(lambda x: np.sqrt(abs(x)) * 2.0, name, {"x": (1,)}, {"y": (1,)}), "numpy")
    assert kernel(np.array([9.0])).tolist() == [6.0]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_fault_in_the_numpy_lowering_leaves_no_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the NumPy loop fails (memory, say) the result must not look like an answer."""
    monkeypatch.setattr(numpy_lowering, "source", lambda tape: "def computed(x):\n    raise MemoryError")
    kernel = Kernel(trace(lambda x: x * 2.0, "faulty", {"x": (1,)}, {"y": (1,)}), "numpy")
    try:
        result = kernel(np.ones((5, 1)))
    except MemoryError:
        return
    assert np.isnan(result).all()


def test_mechanisms_with_nothing_that_moves() -> None:
    from linkwise import Link

    still = Mechanism([Link(joint="fixed", before=np.eye(4), mass=1.0)])
    none = np.zeros(0)
    assert still.n == 0
    assert np.array_equal(still.forward_kinematics(none), np.eye(4))
    assert still.jacobian(none).shape == (6, 0)
    assert still.inverse_dynamics(none, none, none).shape == (0,)
    assert np.allclose(still.joint_wrenches(none, none, none), [[0, 0, 9.81, 0, 0, 0]])
    assert still.forward_kinematics(np.zeros((3, 0))).shape == (3, 4, 4)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((np.zeros(5), np.zeros(6), np.zeros(6)), r"q has the shape \(5,\); expected \(\.\.\., 6\)"),
        (
            (np.zeros((3, 6)), np.zeros((2, 6)), np.zeros(6)),
            r"the batch shapes do not fit .*: q \(3,\), qd \(2,\), qdd \(\)",
        ),
        ((["a"] * 6, np.zeros(6), np.zeros(6)), r"q holds <U1; expected real numbers \(\.\.\., 6\)"),
        ((np.zeros(6), np.zeros(6, complex), np.zeros(6)), r"qd holds complex128; expected real numbers"),
        ((np.zeros(6), np.zeros(6), [[0.0], [0.0, 1.0]]), r"qdd is not an array; expected \(\.\.\., 6\)"),
    ],
)
def test_arguments_that_do_not_fit_are_named(args: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ArgumentError, match="inverse_dynamics: " + message):
        robots.puma560().inverse_dynamics(*args)
