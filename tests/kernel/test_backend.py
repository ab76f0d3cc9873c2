"""Back ends: one is added from outside, and runs what kernels, iterations and sequences are made of."""

from collections.abc import Callable, Iterator
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

from linkwise import robots
from linkwise.errors import KernelError
from linkwise.expr.operations import OPERATIONS
from linkwise.kernel import Kernel, Tape, trace
from linkwise.kernel.backend import BACKENDS, Backend, CompiledKernel, backend, default_backend
from linkwise.kernel.iteration import Descent, IterationProgram
from linkwise.kernel.rollout import Rollout
from linkwise.kernel.sequence import KernelCall
from linkwise.spatial.scalar import select
from support.numpy_backend import compute_by_numpy


class _Interpreter(Backend):
    """One operation after the other, on Python's floats: a back end from outside the package."""

    name = "interpreter"

    def build(self, tape: Tape, doc: str, lanes: int | None) -> CompiledKernel:
        def once(*given: np.ndarray) -> np.ndarray:
            values = [*np.concatenate([np.ravel(array) for array in given]).tolist(), *tape.constants]
            for step in tape.code:
                values.append(OPERATIONS[step.op].value(*(values[arg] for arg in step.args)))
            return np.array([values[slot] for slot in tape.results])

        return CompiledKernel(
            lambda: np.vectorize(once, signature=",".join(f"(n{k})" for k in range(len(tape.inputs))) + "->(m)")
        )

    def iteration(self, program: IterationProgram, lanes: int | None) -> Callable[..., Any]:
        return BACKENDS["numpy"].iteration(program, lanes)


@pytest.fixture
def interpreter() -> Iterator[str]:
    backend(_Interpreter)
    yield "interpreter"
    del BACKENDS["interpreter"]


def test_it_is_never_taken_unless_it_is_named(interpreter: str) -> None:
    assert default_backend() != interpreter


def test_it_runs_an_algorithm(interpreter: str) -> None:
    arm = robots.puma560()
    point = np.random.default_rng(0).uniform(-1.0, 1.0, (3, 6))
    kernel = arm.kernel("inverse_dynamics", backend=interpreter)
    assert kernel.backend == interpreter
    assert kernel.machine_entry() is None
    assert np.abs(kernel(*point) - arm.inverse_dynamics(*point)).max() < 1e-13


def test_what_it_has_not_is_done_step_by_step(interpreter: str) -> None:
    kernel = Kernel(trace(lambda x: 2.0 * x, "twice", {"x": (2,)}, {"y": (2,)}), interpreter)
    x, y = np.array([1.0, 2.0]), np.zeros(2)
    assert BACKENDS[interpreter].sequence((KernelCall(kernel, (x,), (y,)),), []) is None
    assert not Rollout.runs_on(interpreter)
    with pytest.raises(KernelError, match="interpreter"):
        Rollout(Mock(), interpreter)(x[None], x[None], [], start=0.0, step=0.1, steps=1, record=1)


def test_an_iteration(interpreter: str) -> None:
    def step(parameters: Any, q0: Any, settings: Any, q: Any, aux: Any) -> Any:
        made = 0.5 * (q[0] + parameters[0] / q[0])
        near = 1e-14 - abs(made * made - parameters[0])
        return np.array([made]), aux, select(near, 1.0, 0.0)

    shapes = {"parameters": (1,), "q0": (1,), "settings": (1,), "q": (1,), "aux": (1,)}
    program = IterationProgram(trace(step, "root", shapes, {"q": (1,), "aux": (1,), "status": ()}))
    found = Descent(program, interpreter)(np.array([2.0]), np.array([1.0]), np.zeros((0, 1)), np.zeros(1))
    assert abs(found[0] - 2.0**0.5) < 1e-14


def test_an_unknown_one_is_refused_with_those_there_are() -> None:
    with pytest.raises(KernelError, match="'abacus'; expected 'llvm' or 'numpy'"):
        robots.planar_2r().kernel("jacobian", backend="abacus")


def test_the_fixture_that_leaves_kernels_to_numpy() -> None:
    """Also on a mechanism that has compiled already, which goes on with what it has compiled."""
    arm, q = robots.planar_2r(), np.array([0.1, 0.2])
    before = arm.kernel("jacobian"), arm.kernel("jacobian", link=0), arm.gravity_torque(q)
    with pytest.MonkeyPatch.context() as patch:
        compute_by_numpy(patch)
        assert {arm.kernel(name).backend for name in ("jacobian", "inverse_dynamics")} == {"numpy"}
        assert arm.kernel("jacobian", link=0).backend == "numpy"
        assert arm.kernel("jacobian", backend=default_backend()).backend == default_backend()
        assert np.abs(arm.gravity_torque(q) - before[2]).max() < 1e-13
    assert (arm.kernel("jacobian"), arm.kernel("jacobian", link=0)) == before[:2]
    assert arm.kernel("mass_matrix").backend == default_backend()
