"""The compiled entry for one configuration: outputs are used again only when nobody can tell."""

from __future__ import annotations

import copy
import gc
import inspect
import os
import pickle
import threading
import weakref

import numpy as np
import pytest

from linkwise import Mechanism, robots
from linkwise.errors import ArgumentError
from linkwise.kernel import Kernel, gufunc, trace
from linkwise.kernel.backends.llvm.fastcall import MOST_SCALARS, POOL

pytestmark = pytest.mark.skipif(not gufunc.usable(), reason="this Python has no compiled entry")


@pytest.fixture
def puma() -> Mechanism:
    mech = robots.puma560()
    mech.forward_kinematics(np.zeros(6))
    assert type(mech.__dict__["forward_kinematics"]).__name__ == "builtin_function_or_method"
    return mech


def configurations(count: int) -> np.ndarray:
    return np.random.default_rng(1).uniform(-2, 2, (count, 6))


def test_results_that_are_kept_never_change(puma: Mechanism) -> None:
    q = configurations(50)
    kept = [puma.forward_kinematics(row) for row in q]
    assert np.array_equal(kept, puma.forward_kinematics(q))
    assert len({pose.ctypes.data for pose in kept}) == len(kept)


def test_results_that_are_dropped_are_used_again(puma: Mechanism) -> None:
    q = configurations(20)
    places = {puma.forward_kinematics(row).ctypes.data for row in q}
    assert len(places) <= POOL  # the test of the tests above: there is something to get wrong


def test_a_view_keeps_its_array(puma: Mechanism) -> None:
    q = configurations(12)
    rotations = [puma.forward_kinematics(row)[:3, :3] for row in q]
    assert np.array_equal(rotations, puma.forward_kinematics(q)[:, :3, :3])
    buffers = [memoryview(puma.forward_kinematics(row)) for row in q]
    assert np.array_equal(buffers, puma.forward_kinematics(q))


def test_a_weak_reference_is_respected(puma: Mechanism) -> None:
    references = []
    for row in configurations(8):
        references.append(weakref.ref(puma.forward_kinematics(row)))
    again = [puma.forward_kinematics(row) for row in configurations(8)]
    alive = [reference() for reference in references]
    assert all(a is not b for a in alive if a is not None for b in again)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # in-place changes of shape are on their way out of NumPy
def test_arrays_that_were_changed_in_place_are_not_used_again(puma: Mechanism) -> None:
    q = configurations(1)[0]
    wanted = np.array(puma.forward_kinematics(q))

    def reshape(pose: np.ndarray) -> None:
        pose.shape = (16,)

    def close(pose: np.ndarray) -> None:
        pose.setflags(write=False)

    def retype(pose: np.ndarray) -> None:
        pose.dtype = np.int64

    for change in (reshape, close, retype):
        for _ in range(2 * POOL):
            change(puma.forward_kinematics(q))
        found = puma.forward_kinematics(q)
        assert found.shape == (4, 4)
        assert found.flags.writeable
        assert np.array_equal(found, wanted)


def test_the_result_as_argument(puma: Mechanism) -> None:
    q, qd, qdd = configurations(3)
    puma.inverse_dynamics(q, qd, qdd)
    nested = puma.inverse_dynamics(puma.inverse_dynamics(q, qd, qdd), qd, qdd)
    first = puma.kernel("inverse_dynamics").ufunc(q, qd, qdd)
    assert np.array_equal(nested, puma.kernel("inverse_dynamics").ufunc(first, qd, qdd))


def test_other_calls_are_handed_over(puma: Mechanism) -> None:
    q = configurations(4)
    by_row = np.array([puma.forward_kinematics(row) for row in q])
    assert np.array_equal(puma.forward_kinematics(q=q[0]), by_row[0])
    assert np.array_equal(puma.forward_kinematics(q), by_row)
    assert np.array_equal(puma.forward_kinematics(q[0].tolist()), by_row[0])
    assert np.array_equal(puma.forward_kinematics(np.repeat(q[0], 2)[::2]), by_row[0])
    assert np.array_equal(puma.forward_kinematics(q[0].astype(">f8")), by_row[0])
    assert puma.forward_kinematics(q[0].astype(np.float32)).dtype == np.float32
    assert not np.array_equal(puma.forward_kinematics(q[0], "link3"), by_row[0])
    with pytest.raises(ArgumentError, match=r"forward_kinematics.*\(5,\).*\(\.\.\., 6\)"):
        puma.forward_kinematics(q[0][:5])
    with pytest.raises(TypeError):
        puma.forward_kinematics()


def test_threads_get_arrays_of_their_own(puma: Mechanism) -> None:
    q = configurations(200)
    wanted = puma.forward_kinematics(q)
    faults: list[int] = []

    def work() -> None:
        for _ in range(20):
            kept = [puma.forward_kinematics(row) for row in q]
            if not np.array_equal(kept, wanted):
                faults.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults


def test_a_thread_with_a_small_stack_gets_the_largest_output() -> None:
    """What is computed in does not fit on its 128 KiB: there are 16 bytes for each number."""
    size = MOST_SCALARS - 2

    def compute(x: np.ndarray) -> np.ndarray:
        y = np.zeros(size, dtype=object)
        y[[0, size - 1]] = x[0] * x[1], x[0] + x[1]
        return y

    kernel = Kernel(trace(compute, "wide", {"x": (2,)}, {"y": (size,)}), "llvm")
    call = kernel.entry(kernel.ufunc)
    assert call is not None
    results = []
    before = threading.stack_size(1 << 17)
    try:
        thread = threading.Thread(target=lambda: results.append(call(np.array([3.0, 5.0]))))
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    expected = np.zeros(size)
    expected[[0, -1]] = 15.0, 8.0
    assert np.array_equal(results[0], expected)


def test_function_outlives_mechanism() -> None:
    mech = robots.planar_2r().replace(name="soon forgotten")
    z = np.zeros(2)
    mech.inverse_dynamics(z, z, z)
    function = mech.inverse_dynamics
    wanted = np.array(function(z, z, z))
    del mech
    gc.collect()
    assert np.array_equal(function(z, z, z), wanted)


def test_kernels_of_forgotten_mechanisms_are_freed() -> None:
    mech = robots.planar_2r().replace(name="soon forgotten")
    z = np.zeros(2)
    mech.inverse_dynamics(z, z, z)
    mech.inverse_dynamics(z.astype(np.float32), z.astype(np.float32), z.astype(np.float32))
    kernel = weakref.ref(mech.kernel("inverse_dynamics"))
    del mech
    gc.collect()
    assert kernel() is None


def test_copies_and_pickles_leave_compiled_entries_behind(puma: Mechanism) -> None:
    q = configurations(1)[0]
    wanted = np.array(puma.forward_kinematics(q))
    for other in (copy.copy(puma), copy.deepcopy(puma), pickle.loads(pickle.dumps(puma))):
        assert other == puma
        assert np.array_equal(other.forward_kinematics(q), wanted)


def test_bound_methods_pickle_before_and_after(puma: Mechanism) -> None:
    q = configurations(1)[0]
    again = pickle.loads(pickle.dumps(puma.forward_kinematics))
    assert np.array_equal(again(q), puma.forward_kinematics(q))


def test_signature_and_documentation_stay(puma: Mechanism) -> None:
    fresh = robots.planar_2r().replace(name="fresh")
    names = [list(inspect.signature(mech.forward_kinematics).parameters) for mech in (puma, fresh)]
    assert names[0] == names[1] == ["q", "link"]
    assert inspect.getdoc(puma.forward_kinematics) == inspect.getdoc(Mechanism.forward_kinematics.method)


def test_a_subclass_may_override() -> None:
    class Twice(Mechanism):
        def inverse_dynamics(self, q, qd, qdd, external=None):
            return 2 * super().inverse_dynamics(q, qd, qdd, external)

    plain = robots.planar_2r()
    twice = Twice(plain.links, gravity=(0, -9.81, 0))
    z = np.zeros(2)
    wanted = 2 * plain.replace(gravity=(0, -9.81, 0)).inverse_dynamics(z, z, z)
    for _ in range(3):
        assert np.array_equal(twice.inverse_dynamics(z, z, z), wanted)


@pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning")  # (JAX, where another test has woken it, warns of every fork)
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # forking a process that has threads is frowned upon
def test_a_forked_child_has_arrays_of_its_own(puma: Mechanism) -> None:
    q = configurations(1)[0]
    puma.kernel("inverse_dynamics").ufunc(q, q, q)  # loaded here, its entry made in both processes
    wanted = puma.kernel("inverse_dynamics").ufunc(q, q, q)
    child = os.fork()
    if child == 0:
        ok = all(np.array_equal(puma.inverse_dynamics(q, q, q), wanted) for _ in range(100))
        os._exit(0 if ok else 1)
    for _ in range(100):
        assert np.array_equal(puma.inverse_dynamics(q, q, q), wanted)
    assert os.waitpid(child, 0)[1] == 0
    assert np.array_equal(puma.inverse_dynamics(q, q, q), wanted)


def test_a_function_dies_after_what_it_stands_on() -> None:
    mech = robots.planar_2r().replace(name="one more")
    z = np.zeros(2)
    mech.inverse_dynamics(z, z, z)
    kernel, function = mech.kernel("inverse_dynamics"), mech.inverse_dynamics
    del mech
    gc.collect()
    del kernel
    gc.collect()
    assert function(z, z, z).shape == (2,)
    del function
    gc.collect()
