"""A compiled method is fast for whoever holds it, from whenever they took it, and is the method that it was."""

from __future__ import annotations

import copy
import functools
import gc
import inspect
import pickle
import sys
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from linkwise import Mechanism, robots
from linkwise.errors import ArgumentError
from linkwise.kernel import gufunc
from linkwise.kernel.gufunc import make_callable

pytestmark = pytest.mark.skipif(not gufunc.usable(), reason="this Python has no compiled entry")
pytest.importorskip("llvmlite", reason="an entry is machine code")

Q = np.array([0.1, -0.7])


@pytest.fixture
def arm() -> Mechanism:
    """One of its own, on which nothing was called yet."""
    return robots.planar_2r().replace(name="one of its own")


class Counting(Mechanism):
    """Counts what the entry does not take: each such call asks for the kernel."""

    calls = 0

    def kernel(self, name: str, **options: Any) -> Any:
        type(self).calls += 1
        return super().kernel(name, **options)


class Overriding(Counting):
    def forward_kinematics(self, q: Any, link: int | str = "tool") -> Any:
        return super().forward_kinematics(q, link) if link != "tool" else super().forward_kinematics(q)


HOLDERS: dict[str, Callable[[Mechanism], Callable[[Any], Any]]] = {
    "attribute": lambda arm: arm.forward_kinematics,
    "partial": lambda arm: functools.partial(arm.forward_kinematics),
    "map": lambda arm: lambda q, fk=arm.forward_kinematics: next(map(fk, [q])),
    "of the class": lambda arm: functools.partial(Mechanism.forward_kinematics, arm),
    "of super": lambda arm: super(Counting, arm).forward_kinematics,
    "deep copy": lambda arm: copy.deepcopy(arm.forward_kinematics),
    "sent": lambda arm: pickle.loads(pickle.dumps(arm.forward_kinematics)),
}


@pytest.mark.parametrize("holder", HOLDERS)
@pytest.mark.parametrize("kind", [Counting, Overriding])
def test_held_before_the_first_call(kind: type[Counting], holder: str, arm: Mechanism) -> None:
    mech = kind(arm.links, name="of a class of its own")
    held = HOLDERS[holder](mech)
    wanted = arm.kernel("forward_kinematics")(Q)
    assert np.array_equal(held(Q), wanted)
    kind.calls = 0
    assert all(np.array_equal(held(Q), wanted) for _ in range(10))
    assert kind.calls == 0, "every call after the first one goes to the machine code"
    assert np.array_equal(held(Q.tolist()), wanted)
    assert kind.calls == 1


def test_calls_that_are_not_plain_do_not_make_the_entry(arm: Mechanism) -> None:
    held = arm.forward_kinematics
    for _ in range(2):
        assert held(q=Q).shape == held(Q, -1).shape == (4, 4)
    with pytest.raises(ArgumentError, match="forward_kinematics: q has the shape"):
        held(np.zeros(3))
    assert np.array_equal(held(Q), arm.kernel("forward_kinematics")(Q))


def test_one_function_for_all(arm: Mechanism) -> None:
    before = arm.jacobian
    before(Q)
    assert arm.jacobian is before
    assert arm.jacobian == before
    assert arm.jacobian != arm.replace(name="another").jacobian


def test_signature_and_documentation(arm: Mechanism) -> None:
    plain = inspect.signature(Mechanism.inverse_dynamics)
    for _ in range(2):
        held = arm.inverse_dynamics
        assert [(p.name, p.default) for p in inspect.signature(held).parameters.values()] == [
            (p.name, p.default) for p in list(plain.parameters.values())[1:]
        ]
        assert inspect.getdoc(held) == inspect.getdoc(Mechanism.inverse_dynamics)
        assert held.__name__ == "inverse_dynamics"
        held(Q, Q, Q)


@pytest.mark.parametrize("call", [False, True])
def test_mechanisms_and_their_code_are_freed(call: bool, arm: Mechanism) -> None:
    mech = arm.replace(name="soon forgotten")
    held, kernel = mech.forward_kinematics, weakref.ref(mech.kernel("forward_kinematics"))
    if call:
        held(Q)
    wanted, owner = np.array(mech.kernel("forward_kinematics")(Q)), weakref.ref(mech)
    del mech
    gc.collect()
    assert np.array_equal(held(Q), wanted), "what is held keeps its mechanism"
    assert owner() is not None
    del held
    gc.collect()
    assert owner() is None
    assert kernel() is None


def test_many_threads_call_first(arm: Mechanism) -> None:
    held, barrier, results = arm.forward_kinematics, threading.Barrier(8), list[np.ndarray]()

    def work() -> None:
        barrier.wait()
        results.extend([held(Q), arm.forward_kinematics(Q)])

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 16
    assert all(np.array_equal(result, arm.kernel("forward_kinematics")(Q)) for result in results)


def test_threads_take_the_entry_at_the_same_time() -> None:
    """A call that ends after another one has put the entry in its place finds nothing left to ask for."""
    errors = list[BaseException]()
    interval = sys.getswitchinterval()
    compiled = robots.planar_2r().kernel("forward_kinematics").machine_entry()
    sys.setswitchinterval(1e-7)  # threads take turns wherever they can
    try:
        for _ in range(300):
            held = make_callable(lambda q: q, "held", "held(q)\n--\n\n", later=lambda args: compiled)
            barrier = threading.Barrier(6)

            def work(held: Any = held, barrier: threading.Barrier = barrier) -> None:
                barrier.wait()
                try:
                    held([0.1, 0.2])
                except BaseException as error:
                    errors.append(error)

            threads = [threading.Thread(target=work) for _ in range(6)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert errors == []


def test_an_error_of_the_first_call_leaves_the_next_one_free(arm: Mechanism, monkeypatch: pytest.MonkeyPatch) -> None:
    held = arm.forward_kinematics
    monkeypatch.setattr(Mechanism, "kernel", lambda *args, **options: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        held(Q)
    monkeypatch.undo()
    assert np.array_equal(held(Q), arm.kernel("forward_kinematics")(Q))


def test_calls_with_words_as_options(arm: Mechanism) -> None:
    """The second call goes straight to the kernel: the same numbers, and the same errors."""
    wanted = arm.kernel("jacobian", frame="body")(Q)
    inner = arm.kernel("jacobian", frame="body", link=0)(Q)
    for _ in range(3):
        assert np.array_equal(arm.jacobian(Q, frame="body"), wanted)
        assert np.array_equal(arm.jacobian(Q, link="tool", frame="body"), wanted)
        assert np.array_equal(arm.jacobian(q=Q, frame="body"), wanted)
        assert np.array_equal(arm.jacobian(Q, 0, frame="body"), inner)
        assert np.array_equal(arm.jacobian(np.stack([Q, Q]), frame="body")[1], wanted)
        with pytest.raises(ArgumentError, match="frame"):
            arm.jacobian(Q, frame="front")
        with pytest.raises(ArgumentError, match="q"):
            arm.jacobian(np.zeros(7), frame="body")
        with pytest.raises(TypeError, match="way"):
            arm.jacobian(Q, way="body")
