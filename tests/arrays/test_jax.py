"""Kernels on arrays of JAX: the bits of the kernel, derivatives in every way that JAX takes them."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import numpy as np
import pytest

from linkwise import robots, stack
from linkwise.errors import ArgumentError, MissingExtraError
from support.libraries import library_of
from support.random_mechanisms import craft

DOCS = Path(__file__).parents[2] / "docs"


def test_without_jax_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(MissingExtraError, match=r'inverse_dynamics\.jax\(\) needs JAX: pip install "jax'):
        robots.load("planar_2r").replace().kernel("inverse_dynamics").jax()


@pytest.fixture(scope="module")
def jax() -> Iterator[Any]:
    with library_of("jax"):
        import jax

        yield jax


def states(jax: Any, rows: int = 5) -> list[Any]:
    return [jax.numpy.asarray(x) for x in np.random.default_rng(0).normal(size=(3, rows, 2))]


def test_the_bits_are_those_of_the_kernel(jax: Any) -> None:
    arm, (q, qd, qdd) = robots.planar_2r(), states(jax)
    kernel = arm.kernel("inverse_dynamics")
    function, wanted = kernel.jax(), kernel(*map(np.asarray, (q, qd, qdd)))
    assert kernel.jax() is function
    for call in (function, jax.jit(function), jax.vmap(function), arm.inverse_dynamics):
        assert np.array_equal(call(q, qd, qdd), wanted)
    one = kernel(np.asarray(q), np.asarray(qd[0]), np.asarray(qdd[0]))
    assert np.array_equal(function(q, qd[0], qdd[0]), one)
    assert np.array_equal(jax.vmap(function, (0, None, None))(q, qd[0], qdd[0]), one)
    assert np.array_equal(jax.vmap(function, (1, None, None))(q.T, qd[0], qdd[0]), one)
    table = kernel(np.asarray(q)[:, None], np.asarray(qd), np.asarray(qdd))
    assert np.array_equal(jax.vmap(function, (0, None, None))(q, qd, qdd), table)
    narrow = [x.astype(np.float32) for x in (q, qd, qdd)]
    assert np.array_equal(function(*narrow), kernel(*map(np.asarray, narrow)))
    assert function(*narrow).dtype == np.float32
    assert function(narrow[0], qd, qdd).dtype == np.float64


def test_threads_that_compile_one_kernel_at_once(jax: Any) -> None:
    kernel, (q, _, _), together = (
        robots.planar_2r().replace(gravity=(0, -3, 0)).kernel("gravity_torque"),
        states(jax),
        Barrier(4),
    )

    def compiled(k: int) -> Any:
        function = jax.jit(lambda q: k * kernel.jax()(q))
        together.wait()
        return function(q)

    with ThreadPoolExecutor(4) as pool:
        for k, result in enumerate(pool.map(compiled, range(4))):
            assert np.array_equal(result, k * kernel(np.asarray(q)))


def test_subnormal_numbers_are_no_zeros(jax: Any) -> None:
    """XLA's threads flush them; the sign of a velocity decides on Coulomb friction however small it is."""
    arm, tiny = robots.puma560(), np.full(6, 1e-312)
    assert np.array_equal(arm.friction_torque(jax.numpy.asarray(tiny)), arm.friction_torque(tiny))


def test_kernels_that_loop_and_several_outputs(jax: Any) -> None:
    arm, (q, qd, _) = robots.planar_2r(), states(jax)
    kernels = [arm.kernel("mass_matrix", tier=tier) for tier in ("straight", "looped")]
    assert len({kernel.identity for kernel in kernels}) == 2
    for kernel in kernels:
        assert np.array_equal(jax.jit(kernel.jax())(q), kernel(np.asarray(q)))
    results = jax.jit(arm.energy_regressor)(q, qd)
    for result, wanted in zip(results, arm.energy_regressor(np.asarray(q), np.asarray(qd)), strict=True):
        assert np.array_equal(result, wanted)


def test_derivatives_in_both_modes(jax: Any) -> None:
    """Against the full derivatives; to the rounding of a few hundred operations."""
    arm, state = robots.planar_2r(), states(jax)
    function, numbers = arm.kernel("inverse_dynamics").jax(), list(map(np.asarray, state))
    for jacobian in (jax.jacrev, jax.jacfwd):
        tables = jax.jit(jax.vmap(jacobian(function, argnums=(0, 1, 2))))(*state)
        for table, wanted in zip(tables, arm.inverse_dynamics_derivatives(*numbers), strict=True):
            assert np.abs(table - wanted).max() < 1e-13
    weights = np.array([1.0, -2.0])
    wanted = arm.inverse_dynamics_hessian_product(*numbers, weights)[0]
    for outer, inner in ((jax.jacfwd, jax.jacrev), (jax.jacrev, jax.jacfwd)):
        curvature = jax.jit(jax.vmap(outer(inner(lambda *state: function(*state) @ weights))))(*state)
        assert np.abs(curvature - wanted).max() < 1e-13
    by_one = jax.grad(lambda qd: function(state[0], qd, state[2]).sum())(state[1][0])  # (one velocity for all)
    assert (
        np.abs(by_one - arm.inverse_dynamics_derivatives(numbers[0], numbers[1][0], numbers[2])[1].sum((0, 1))).max() < 1e-12
    )


def test_with_quaternions_by_their_numbers(jax: Any) -> None:
    from jax.test_util import check_grads

    kernel = craft().kernel("kinetic_energy")
    random = np.random.default_rng(1)
    check_grads(kernel.jax(), [jax.numpy.asarray(random.normal(size=s)) for s in kernel.tape.inputs.values()], order=1)


def test_steps_in_a_scan(jax: Any) -> None:
    arm, (q, qd, tau) = robots.planar_2r(), states(jax)

    def last(q: Any) -> Any:
        def step(q: Any, row: Any) -> Any:
            return q + 0.1 * arm.forward_dynamics(q, *row), None

        return jax.lax.scan(step, q, (qd, tau))[0]

    wanted = np.asarray(q[0])
    for row in zip(np.asarray(qd), np.asarray(tau), strict=True):
        wanted = wanted + 0.1 * arm.forward_dynamics(wanted, *row)
    assert np.abs(jax.jit(last)(q[0]) - wanted).max() < 1e-13
    assert np.abs(jax.jit(jax.jacrev(last))(q[0]) - jax.jit(jax.jacfwd(last))(q[0])).max() < 1e-12


def test_an_unknown_interface_is_not_used(jax: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where a field of a structure is elsewhere, kernels are called through Python, and a warning says so."""
    from linkwise.arrays import jax as adapter

    header = (Path(jax.ffi.include_dir()) / "xla/ffi/api/c_api.h").read_text("utf-8")
    place = tmp_path / "xla" / "ffi" / "api"
    place.mkdir(parents=True)
    (place / "c_api.h").write_text(header.replace("XLA_FFI_DataType dtype;\n  void* data;", "void* data;"), "utf-8")
    assert adapter.interface_version() is not None
    monkeypatch.setattr(jax.ffi, "include_dir", lambda: str(tmp_path))
    monkeypatch.setattr(adapter, "interface_version", adapter.interface_version.__wrapped__)
    monkeypatch.setattr(adapter, "_targets", {})
    kernel, (q, _, _) = robots.planar_2r().kernel("gravity_torque"), states(jax)
    with pytest.warns(UserWarning, match="JAX calls kernels through Python"):
        assert np.array_equal(jax.jit(kernel.jax())(q), kernel(np.asarray(q)))


def test_what_does_not_fit_is_named(jax: Any) -> None:
    arm, (q, qd, qdd) = robots.planar_2r(), states(jax)
    function = arm.kernel("inverse_dynamics").jax()
    with pytest.raises(ArgumentError, match=r"'qdd' is missing"):
        function(q, qd)
    with pytest.raises(ArgumentError, match=r"qdd has the shape \(3,\); expected \(\.\.\., 2\)"):
        function(q, qd, jax.numpy.zeros(3))
    with pytest.raises(ArgumentError, match=r"qd holds complex128; expected real numbers"):
        function(q, np.zeros(2, complex), qdd)
    with pytest.raises(ArgumentError, match=r"the batch shapes do not fit each other: q \(5,\), qd \(3,\)"):
        function(q, qd[:3], qdd)
    with pytest.raises(ArgumentError, match=r"inverse_dynamics: q holds int64; expected float32 or float64"):
        arm.inverse_dynamics(q.astype(int), qd, qdd)
    with pytest.raises(ArgumentError, match=r"q holds complex128; expected float32 or float64: \.real"):
        arm.inverse_dynamics(q.astype(complex), qd, qdd)
    with pytest.raises(ArgumentError, match=r"inverse_dynamics: out= is for NumPy arrays; arrays of jax take none"):
        arm.kernel("inverse_dynamics")(q, qd, qdd, out=np.zeros((5, 2)))


def test_transformations_of_what_is_no_kernel(jax: Any) -> None:
    """Poses that are mapped over beside starts that are not; a stack, which has no derivatives, and says so."""
    arm, mask = robots.planar_2r(), [1, 1, 0, 0, 0, 0]
    q = np.random.default_rng(0).uniform(0.2, 1.0, (2, 4, 2))
    T, starts = arm.forward_kinematics(q[0]), q[1, :3]
    mapped = jax.vmap(lambda T: arm.inverse_kinematics(T, q0=starts, mask=mask).q)(jax.numpy.asarray(T))
    assert np.array_equal(mapped, arm.inverse_kinematics(T[:, None], q0=starts, mask=mask).q)
    arms = stack([arm, arm.with_payload(1.0)])
    row = jax.numpy.asarray(q[0, 0])
    assert np.array_equal(jax.jit(arms.gravity_torque)(row), arms.gravity_torque(q[0, 0]))
    assert jax.vmap(arms.gravity_torque)(jax.numpy.asarray(q[0])).shape == (4, 2, 2)
    with pytest.raises(ArgumentError, match="gravity_torque of a stack has no derivatives by jax"):
        jax.grad(lambda q: arms.gravity_torque(q).sum())(row)


def test_the_example_of_the_page(jax: Any) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / "arrays.md").read_text("utf-8"), re.DOTALL)
    (code,) = [block for block in blocks if "import jax" in block]
    exec(code, {})
