"""The compiled entry: what it takes itself, what it hands over, and what else may hold a result."""

from __future__ import annotations

import gc
import sys
import threading
from typing import Any

import numpy as np
import pytest

from linkwise import Kernel, LinkWrenches, Mechanism, algorithm, robots
from linkwise.errors import ArgumentError
from linkwise.kernel import gufunc, trace
from linkwise.kernel.backends.llvm import backend
from support.random_mechanisms import random_mechanism, random_state


@pytest.fixture
def arm() -> Mechanism:
    """A mechanism of its own, with a kernel of its own, warmed up."""
    mech = robots.load("puma560").replace(name="arm")
    mech.inverse_dynamics(*random_state(mech))
    return mech


def states(mech: Mechanism, count: int) -> list[tuple[np.ndarray, ...]]:
    return [random_state(mech, seed) for seed in range(count)]


@pytest.mark.parametrize(
    "keep",
    [
        lambda r: r[1:4],
        lambda r: r.reshape(2, 3),
        lambda r: r.T,
        memoryview,
        iter,
        lambda r: r.flat,
        lambda r: [r],
        lambda r: np.broadcast_to(r, (3, 6)),
        lambda r: np.asarray(r).view(),
        np.from_dlpack,
        lambda r: lambda: r,
        lambda r: r.__array_interface__ and r.view(np.ndarray),
        lambda r: np.lib.stride_tricks.as_strided(r, (6,), (8,)),
        np.frombuffer,
    ],
)
def test_what_looks_into_a_result_keeps_it(arm: Mechanism, keep: Any) -> None:
    first, second = states(arm, 2)
    kept = keep(arm.inverse_dynamics(*first))
    before = [np.array(item) for item in ([kept()] if callable(kept) else [kept])] if not hasattr(kept, "__next__") else None
    for _ in range(10):
        arm.inverse_dynamics(*second)
    if before is None:
        assert list(kept) == arm.kernel("inverse_dynamics").ufunc(*first).tolist()
    else:
        assert np.array_equal(before[0], np.array(kept() if callable(kept) else kept))


def spoil_size(result: np.ndarray) -> None:
    result.resize(3, refcheck=False)


def spoil_size_and_back(result: np.ndarray) -> None:
    result.resize(6000, refcheck=False)
    result.resize(6, refcheck=False)


def spoil_values(result: np.ndarray) -> None:
    result[:] = np.nan


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("spoil", [spoil_size, spoil_size_and_back, spoil_values])
def test_what_a_caller_does_to_a_result_is_not_seen_by_the_next(arm: Mechanism, spoil: Any) -> None:
    first, second = states(arm, 2)
    wanted = arm.kernel("inverse_dynamics").ufunc(*second)
    for _ in range(8):
        try:
            spoil(arm.inverse_dynamics(*first))
        except (ValueError, AttributeError):
            return  # this NumPy refuses it
        after = arm.inverse_dynamics(*second)
        assert after.dtype == np.float64
        assert after.flags.writeable
        assert np.array_equal(after, wanted)
        del after


def test_a_result_may_be_an_argument(arm: Mechanism) -> None:
    q = random_state(arm)[0]
    chained = q
    copied = q
    for _ in range(10):
        chained = arm.inverse_dynamics(chained * 1e-3, q, q)
        copied = np.array(arm.kernel("inverse_dynamics").ufunc(copied * 1e-3, q, q))
    assert np.array_equal(chained, copied)
    direct = arm.inverse_dynamics(arm.inverse_dynamics(q, q, q), arm.inverse_dynamics(q, q, q), q)
    tau = arm.kernel("inverse_dynamics").ufunc(q, q, q)
    assert np.array_equal(direct, arm.kernel("inverse_dynamics").ufunc(tau, tau, q))


def test_results_outlive_the_mechanism() -> None:
    mech = random_mechanism(40)
    result = mech.inverse_dynamics(*random_state(mech))
    result = mech.inverse_dynamics(*random_state(mech))
    copy, function = result.copy(), mech.forward_kinematics
    q = random_state(mech)[0]
    pose = function(q)
    del mech
    gc.collect()
    junk = [np.full(8, np.nan) for _ in range(1000)]
    assert np.array_equal(result, copy)
    assert np.array_equal(function(q), pose)
    del junk


def test_references_are_counted_right(arm: Mechanism) -> None:
    """Neither arguments nor results leak or are freed too often."""
    point = random_state(arm)
    for _ in range(10):
        arm.inverse_dynamics(*point)
    gc.collect()
    before = [sys.getrefcount(arg) for arg in point]
    blocks = sys.getallocatedblocks()
    for _ in range(5000):
        arm.inverse_dynamics(*point)
    assert [sys.getrefcount(arg) for arg in point] == before
    assert sys.getallocatedblocks() - blocks < 50
    held = [arm.inverse_dynamics(*point) for _ in range(100)]
    assert all(sys.getrefcount(held[-1 - k]) <= 3 for k in range(100))


def test_many_threads_share_one_kernel(arm: Mechanism) -> None:
    points = states(arm, 8)
    wanted = [arm.kernel("inverse_dynamics").ufunc(*point) for point in points]
    wrong: list[int] = []

    def work(k: int) -> None:
        previous = None
        for _ in range(3000):
            result = arm.inverse_dynamics(*points[k])
            if not np.array_equal(result, wanted[k]) or (previous is not None and not np.array_equal(previous, wanted[k])):
                wrong.append(k)
            previous = result

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert not wrong


class Marked(np.ndarray):
    """A subclass of the array, which the entry must not take for one."""


def test_everything_else_is_handed_over(arm: Mechanism) -> None:
    """Any argument but contiguous float64 vectors of the right length gives what the gufunc gives, or its error."""
    q, qd, qdd = random_state(arm)
    wanted = arm.kernel("inverse_dynamics").ufunc(q, qd, qdd)
    n = arm.n
    others: list[Any] = [
        q.tolist(), tuple(q), np.repeat(q, 2)[::2], q[::-1][::-1], q.astype(">f8"), q.view(Marked), q[None][0],
        np.ma.array(q).data, np.frombuffer(q.tobytes()),
    ]  # fmt: skip
    for other in others:
        assert np.array_equal(np.asarray(arm.inverse_dynamics(other, qd, qdd)), wanted)
        assert np.array_equal(np.asarray(arm.inverse_dynamics(other, qdd=qdd, qd=qd)), wanted)
    unaligned = np.zeros(8 * n + 1, np.uint8)[1:].view(float)
    unaligned[:] = q
    assert np.array_equal(arm.inverse_dynamics(unaligned, qd, qdd), wanted)
    close = arm.inverse_dynamics(q.astype(np.float32), qd.astype(np.float32), qdd.astype(np.float32))
    assert close.dtype == np.float32
    assert arm.inverse_dynamics(q[None], qd, qdd).shape == (1, n)
    assert np.array_equal(arm.inverse_dynamics(q, qd, qdd, external=None), wanted)
    assert np.array_equal(
        arm.inverse_dynamics(q, qd, qdd, np.zeros(6)), arm.inverse_dynamics(q, qd, qdd, external=np.zeros(6))
    )
    for bad in (np.zeros(n + 1), np.zeros(0), np.zeros(()), "abc", None, {}, np.zeros(n, complex)):
        with pytest.raises((TypeError, ValueError)):
            arm.inverse_dynamics(bad, qd, qdd)
    with pytest.raises(TypeError):
        arm.inverse_dynamics(q, qd, qdd, speed=1)  # type: ignore[call-arg]
    assert np.array_equal(arm.inverse_dynamics(q, qd, qdd), wanted)


def test_links_and_frames_by_name_fall_through(arm: Mechanism) -> None:
    q = random_state(arm)[0]
    arm.jacobian(q)
    body = arm.jacobian(q, frame="body")
    assert np.array_equal(body, arm.kernel("jacobian", frame="body").ufunc(q))
    assert np.array_equal(arm.jacobian(q, -1, "body"), body)
    assert np.array_equal(arm.jacobian(q, link=2), arm.kernel("jacobian", link=2).ufunc(q))
    assert np.array_equal(arm.forward_kinematics(q, arm.link_names[2]), arm.forward_kinematics(q, 2))


def test_without_the_entry_answers_are_the_same(arm: Mechanism, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where arrays are laid out otherwise the methods use the gufunc."""
    for module in (backend, algorithm):
        monkeypatch.setattr(module, "usable", lambda: False)
    other = arm.replace(name="other")
    point = random_state(arm)
    assert np.array_equal(other.inverse_dynamics(*point), arm.inverse_dynamics(*point))
    assert type(other.inverse_dynamics).__name__ != "builtin_function_or_method"
    assert other.kernel("inverse_dynamics").entry(lambda: None) is None


def test_the_layout_check_sees_a_wrong_offset(monkeypatch: pytest.MonkeyPatch) -> None:
    gufunc.usable.cache_clear()
    try:
        monkeypatch.setitem(gufunc.OFFSETS, "data", gufunc.OFFSETS["data"] + 8)
        assert not gufunc.usable()
    finally:
        monkeypatch.undo()
        gufunc.usable.cache_clear()
    assert gufunc.usable() in {True, False}


def test_help_and_signature() -> None:
    import inspect

    assert "external" in inspect.signature(Mechanism.inverse_dynamics).parameters
    assert "fforts" in (Mechanism.inverse_dynamics.__doc__ or "")
    mech = robots.load("planar_2r").replace(name="documented")
    mech.forward_kinematics([0.0, 0.0])
    assert mech.forward_kinematics.__doc__


def test_wrenches_on_all_links_take_one_kernel() -> None:
    """`LinkWrenches` is an option and an array: calls with it go to the kernel of its axes, single ones past NumPy."""
    arm = robots.load("puma560").replace(name="loaded")
    state, wrenches = random_state(arm), np.random.default_rng(5).normal(size=(len(arm.links), 6))
    for name, count in (("inverse_dynamics", 3), ("forward_dynamics", 3), ("gravity_torque", 1)):
        method = getattr(arm, name)
        for frame in ("body", "world", "spatial", "body", "world"):
            kernel = arm.kernel(f"{name}_external", wrenches=frame)
            loads = LinkWrenches(wrenches, frame=frame)
            wanted = kernel.ufunc(*state[:count], wrenches)
            assert np.array_equal(method(*state[:count], loads), wanted)
            assert np.array_equal(method(*state[:count], loads), wanted)
            assert np.array_equal(method(*state[:count], external=loads), wanted)
            assert np.array_equal(kernel(*state[:count], np.asfortranarray(wrenches)), wanted), "not contiguous"
            assert method(*state[:count], LinkWrenches(wrenches[None], frame=frame)).shape == (1, arm.nv)
        with pytest.raises(ArgumentError):
            method(*state[:count], LinkWrenches(wrenches[:2]))
        assert np.array_equal(method(*state[:count]), arm.kernel(name).ufunc(*state[:count]))


def test_wrenches_on_closed_loops_are_refused_at_every_call() -> None:
    linkage = robots.load("four_bar")
    state, loads = random_state(linkage), LinkWrenches(np.zeros((len(linkage.links), 6)))
    for _ in range(3):
        with pytest.raises(ArgumentError, match="closed loops"):
            linkage.inverse_dynamics(*state, loads)


def test_numbers_and_matrices_are_taken_or_handed_over() -> None:
    """A float of Python and a contiguous matrix of the right shape are read as they are; all else gives the same."""
    arm = robots.load("puma560").replace(name="stepped")
    q, qd, _ = random_state(arm)
    for _ in range(3):
        assert np.array_equal(arm.integrate(q, qd, 0.25), q + 0.25 * qd)
        assert np.array_equal(arm.integrate(q, qd), q + qd)
        for other in (np.float64(0.25), np.array(0.25)):
            assert np.array_equal(arm.integrate(q, qd, other), q + 0.25 * qd)
        assert np.array_equal(arm.integrate(q, qd, 1), q + qd)
        assert np.array_equal(arm.integrate(q, qd, dt=0.25), q + 0.25 * qd)
        assert arm.integrate(q, qd, np.array([0.25, 1.0])).shape == (2, 6)
        with pytest.raises((TypeError, ValueError)):
            arm.integrate(q, qd, "0.25x")
    kernel = Kernel(trace(lambda m, s: m @ m * s, "square", {"m": (2, 2), "s": ()}, {"p": (2, 2)}))
    m = np.array([[1.0, 2.0], [3.0, 4.0]])
    for value in (m, m.T, np.asfortranarray(m), m[::-1][::-1], m.tolist(), m.astype(int)):
        assert np.array_equal(kernel(value, 0.5), np.asarray(value) @ np.asarray(value) * 0.5)
    for bad in (m[:1], m.ravel(), np.zeros((2, 3))):
        with pytest.raises(ArgumentError):
            kernel(bad, 0.5)


def test_words_as_keywords_find_their_kernels() -> None:
    """More words than the table has slots, words that are no constants, plain calls between, and what is wrong."""
    arm = robots.load("puma560").replace(name="worded")
    q, qd, _ = random_state(arm)
    reference = robots.load("puma560")
    wanted = {name: reference.kernel("jacobian", link=name).ufunc(q) for name in arm.link_names}
    plain, body = reference.kernel("jacobian").ufunc(q), reference.kernel("jacobian", frame="body").ufunc(q)
    assert len(wanted) > gufunc.SLOTS
    for _ in range(4):
        for name in arm.link_names:
            assert np.array_equal(arm.jacobian(q, link=name), wanted[name])
            assert np.array_equal(arm.jacobian(q, link="".join(list(name))), wanted[name])
        assert np.array_equal(arm.jacobian(q), plain)
        assert np.array_equal(arm.jacobian(q, frame="body"), body)
        assert np.array_equal(arm.jacobian(q[None], frame="body")[0], body)
        assert np.array_equal(arm.jacobian(q=q, frame="body"), body)
        assert np.array_equal(arm.jacobian(q, link=arm.link_names[0], frame="world"), wanted[arm.link_names[0]])
        for bad in ({"frame": "tool"}, {"link": "nowhere"}, {"frames": "body"}):
            with pytest.raises((ArgumentError, TypeError)):
                arm.jacobian(q, **bad)
        with pytest.raises((ArgumentError, TypeError)):
            arm.jacobian(frame="body")
    assert np.array_equal(arm.momentum(q, qd, about="com"), reference.kernel("momentum", about="com").ufunc(q, qd))
    assert np.array_equal(arm.momentum(q, qd, about="origin"), arm.momentum(q, qd))


def test_calls_with_words_outlive_the_mechanism_and_count_references() -> None:
    arm = robots.load("puma560").replace(name="short-lived")
    q, (method, other) = random_state(arm)[0], (arm.jacobian, robots.load("puma560").replace(name="other").jacobian)
    word = "body"
    for _ in range(3):
        wanted = method(q, frame="body")
    assert np.array_equal(other(q, frame="body"), wanted)
    before = sys.getrefcount(word)
    for _ in range(100):
        method(q, frame="body")
    assert sys.getrefcount(word) == before
    del arm
    gc.collect()
    assert np.array_equal(method(q, frame="body"), wanted)
