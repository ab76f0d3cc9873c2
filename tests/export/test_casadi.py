"""Kernels as functions of CasADi: values and derivatives of both kinds are the kernel's, and an optimisation takes them."""

from __future__ import annotations

import gc
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from linkwise import robots
from linkwise.errors import MissingExtraError
from linkwise.kernel import Kernel, trace
from linkwise.spatial.scalar import atan2, select, sign
from support.random_mechanisms import craft

KINDS = pytest.mark.parametrize("expand", [False, True], ids=["external", "expanded"])

#: Some hundred operations on numbers up to 10 lie between; a unit in the last place of 10 is 2e-15.
BOUND = 1e-13


def test_without_casadi_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "casadi", None)
    with pytest.raises(MissingExtraError, match=r'inverse_dynamics\.to_casadi\(\) needs CasADi: pip install "casadi'):
        robots.load("planar_2r").replace().kernel("inverse_dynamics").to_casadi()


@pytest.fixture(scope="module")
def casadi() -> Any:
    return pytest.importorskip("casadi")


def states(kernel: Kernel, seed: int = 0) -> list[Any]:
    rng = np.random.default_rng(seed)
    return [rng.uniform(-1.0, 1.0, shape) for shape in kernel.tape.inputs.values()]


@KINDS
@pytest.mark.parametrize("name", ["inverse_dynamics", "link_poses", "kinetic_energy", "integrate", "jacobian_dot"])
def test_values_are_those_of_the_kernel(casadi: Any, name: str, expand: bool) -> None:
    kernel = robots.planar_2r().kernel(name)
    function, arguments = kernel.to_casadi(expand=expand), states(kernel)
    values, wanted = np.array(function(*arguments)), kernel(*arguments)
    residual = np.abs(values.reshape(np.shape(wanted)) - wanted).max()
    assert residual <= (BOUND if expand else 0.0), residual
    assert kernel.to_casadi(expand=expand) is function
    assert function.name() == name


@KINDS
def test_derivatives_of_both_modes_and_orders_are_exact(casadi: Any, expand: bool) -> None:
    """The Jacobian is that of `derivative`, gradient and Hessian of a product with weights are those of its products."""
    kernel = robots.planar_2r().kernel("inverse_dynamics")
    function, x = kernel.to_casadi(expand=expand), states(kernel)
    blocks = function.jacobian()(*x, np.zeros(2))
    for block, by in zip(blocks, kernel.tape.inputs, strict=True):
        assert np.abs(np.array(block) - kernel.derivative(by)(*x)).max() <= BOUND, by
    weights = np.array([0.5, -2.0])
    joined = casadi.MX.sym("x", 6)
    parts = casadi.vertsplit(joined, 2)
    hessian, gradient = casadi.hessian(casadi.dot(weights, function(*parts)), joined)
    at = np.concatenate(x)
    values = [np.array(v) for v in casadi.Function("both", [joined], [gradient, hessian])(at)]
    assert np.abs(values[0].ravel() - np.concatenate(kernel.vjp(*x, weights))).max() <= BOUND
    row = np.eye(6)[3]
    along = kernel.vjp.jvp.by("q", "qd", "qdd")(*x, weights, *np.split(row, 3))
    assert np.abs(values[1][3] - np.concatenate(along)).max() <= BOUND
    assert np.abs(values[1] - values[1].T).max() <= BOUND


@KINDS
def test_every_operation_is_known(casadi: Any, expand: bool) -> None:
    def every(x: Any) -> Any:
        a, b = x
        results = [a + b, a - b, a * b, a / b, -a, abs(a).sqrt(), a.sin(), b.cos(), sign(a), atan2(a, b), select(a, b, a)]
        return np.array(results)

    kernel = Kernel(trace(every, "every", {"x": (2,)}, {"y": (11,)}))
    for x in ([0.3, -1.2], [-0.7, 0.4]):
        residual = np.abs(np.array(kernel.to_casadi(expand=expand)(x)).ravel() - kernel(x)).max()
        assert residual <= 4.5e-16, residual  # (two units in the last place of 1)


@KINDS
def test_quaternions_are_differentiated_by_their_numbers(casadi: Any, expand: bool) -> None:
    kernel = craft().kernel("kinetic_energy")
    x = states(kernel, 1)
    block = np.array(kernel.to_casadi(expand=expand).jacobian()(*x, 0.0)[0])
    wanted = kernel.vjp.by("q", tangent=False)(*x, 1.0)
    assert np.abs(block.ravel() - wanted).max() <= BOUND * np.abs(wanted).max()


def test_an_external_function_outlives_its_mechanism(casadi: Any) -> None:
    q = casadi.MX.sym("q", 2)
    outer = casadi.Function(
        "outer", [q], [casadi.gradient(robots.planar_2r().replace().kernel("potential_energy").to_casadi()(q), q)]
    )
    gc.collect()
    assert np.abs(np.array(outer([0.1, 0.2])).ravel() - robots.planar_2r().gravity_torque([0.1, 0.2])).max() <= BOUND


def test_optimisation_of_a_motion(casadi: Any) -> None:
    """The rest-to-rest motion of least torque, of cubic pieces: both kinds come to the same, and the torques are its own."""
    arm, steps, dt = robots.planar_2r(), 4, 0.25
    motions = []
    for expand in (False, True):
        torque = arm.kernel("inverse_dynamics").to_casadi(expand=expand)
        problem = casadi.Opti()
        q, qd, qdd = problem.variable(2, steps + 1), problem.variable(2, steps + 1), problem.variable(2, steps + 1)
        for k in range(steps):
            problem.subject_to(qd[:, k + 1] == qd[:, k] + dt / 2 * (qdd[:, k] + qdd[:, k + 1]))
            problem.subject_to(q[:, k + 1] == q[:, k] + dt * qd[:, k] + dt**2 * (qdd[:, k] / 3 + qdd[:, k + 1] / 6))
        for value, column in ((q[:, 0], [0, 0]), (q[:, -1], [1, -0.5]), (qd[:, 0], [0, 0]), (qd[:, -1], [0, 0])):
            problem.subject_to(value == column)
        efforts = [torque(q[:, k], qd[:, k], qdd[:, k]) for k in range(steps + 1)]
        problem.minimize(sum(casadi.sumsqr(effort) for effort in efforts))
        problem.solver("ipopt", {"print_time": False}, {"print_level": 0, "sb": "yes", "tol": 1e-10})
        solution = problem.solve()
        motions.append(solution.value(q))
        computed = arm.inverse_dynamics(*(solution.value(x).T for x in (q, qd, qdd)))
        assert np.abs(computed - np.array([solution.value(effort) for effort in efforts])).max() <= BOUND * 100
    assert np.abs(motions[0] - motions[1]).max() <= 1e-8  # (the solver's tolerance, times the condition of the problem)


def test_the_example_of_the_page(casadi: Any) -> None:
    page = (Path(__file__).parents[2] / "docs" / "arrays.md").read_text("utf-8")
    code = re.search(r"```python\nimport casadi\n(.*?)```", page, re.DOTALL)
    assert code
    names: dict[str, Any] = {"casadi": casadi}
    exec(code[1], names)
    assert np.abs(names["efforts"][0]).max() < 60.0
    assert np.sum(names["efforts"] ** 2) == pytest.approx(names["motion"].value(names["problem"].f), rel=1e-9)
