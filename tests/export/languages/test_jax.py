"""Exported JAX traces under jit, vmap and grad, and its derivatives are numbers at rest too."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from linkwise import robots
from linkwise.export import jax_function, to_jax
from linkwise.export.samples import samples
from linkwise.kernel import trace
from linkwise.spatial.scalar import atan2, root, select
from support.exported_code import arguments, drawn_for, hostile, off, plain

jax = pytest.importorskip("jax", exc_type=ImportError)


@pytest.fixture(autouse=True)
def double() -> Iterator[None]:
    """Computes in double precision."""
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


def test_everything_is_what_the_gufunc_gives() -> None:
    for tape, name in ((plain(), "plain"), (hostile(), "hostile")):
        drawn = drawn_for(name)
        found = jax.jit(jax.vmap(jax_function(tape)))(*arguments(tape, drawn))
        assert off(drawn, tuple(map(np.asarray, found))) <= 1.0


def test_a_robot() -> None:
    """Value and derivatives, at rest, where the friction of the motors has its corner."""
    arm = robots.load("puma560")
    tape = arm.kernel("friction_torque").tape
    function, drawn = jax_function(tape), samples(tape)
    assert off(drawn, np.asarray(jax.jit(jax.vmap(function))(*arguments(tape, drawn)))) <= 1.0
    slopes = np.asarray(jax.jit(jax.jacfwd(function))(np.zeros(6)))
    wanted = arm.inverse_dynamics_derivatives(np.zeros(6), np.zeros(6), np.zeros(6))[1]
    # at rest only viscous friction depends on the speeds; a sum of some products of numbers of its size
    assert np.abs(slopes - wanted).max() <= 1e-13 * np.abs(wanted).max()


def test_derivatives_of_dynamics() -> None:
    arm = robots.load("planar_2r")
    function = jax_function(arm.kernel("inverse_dynamics").tape)
    state = (np.array([0.3, -0.4]), np.array([1.5, -0.5]), np.array([0.25, 2.0]))
    for a, b in zip(
        jax.jit(jax.jacrev(function, argnums=(0, 1, 2)))(*state), arm.inverse_dynamics_derivatives(*state), strict=True
    ):
        # some ten products and sums for each element
        assert np.abs(np.asarray(a) - b).max() <= 1e-14 * max(1.0, np.abs(b).max())


def corners(x: Any) -> Any:
    """A root, a quotient, an angle and an absolute value at zero, none of them chosen or all harmless there."""
    length = root(x[0] * x[0] + x[1] * x[1])
    unit = select(length, x[0] / length, 1.0)
    return np.array([length + x[2], unit * x[2], atan2(x[1], x[0]) + x[2], abs(x[0]) + x[2] * x[2], x[0].sign() * x[2]])


def test_derivatives_at_a_corner_are_numbers() -> None:
    tape = trace(corners, "corners", {"x": (3,)}, {"y": (5,)})
    function = jax_function(tape)
    point = np.array([0.0, 0.0, 0.75])
    assert np.asarray(jax.jit(function)(point)).tolist() == [0.75, 0.75, 0.75, 0.5625, 0.0]
    wanted = [[0, 0, 1], [0, 0, 1], [0, 0, 1], [0, 0, 1.5], [0, 0, 0]]
    for derivative in (jax.jacfwd, jax.jacrev):
        assert np.asarray(jax.jit(derivative(function))(point)).tolist() == wanted
    away = np.array([0.5, -0.25, 0.75])
    step = 1e-6
    fast = jax.jit(function)
    numeric = [(fast(away + step * unit) - fast(away - step * unit)) / (2 * step) for unit in np.eye(3)]
    # central differences: step^2 times a third derivative of order 10, and 1e-16 / step
    assert np.abs(np.asarray(jax.jit(jax.jacfwd(function))(away)) - np.array(numeric).T).max() <= 1e-9


def test_infinite_and_negative_arguments_are_what_numpy_says() -> None:
    tape = trace(lambda x: np.array([x[0].sqrt(), x[0] / x[1], x[1].atan2(x[0])]), "special", {"x": (2,)}, {"y": (3,)})
    points = np.array([[-1.0, 0.0], [0.0, 0.0], [np.inf, np.inf], [np.nan, 1.0], [-2.0, -0.0], [np.inf, -1.0]])
    found = np.asarray(jax.jit(jax.vmap(jax_function(tape)))(points))
    with np.errstate(all="ignore"):
        from linkwise.kernel import Kernel

        wanted = Kernel(tape)(points)
    assert np.array_equal(np.isnan(found), np.isnan(wanted))
    assert np.allclose(found, wanted, rtol=1e-15, equal_nan=True)


def test_types() -> None:
    function = jax.jit(jax_function(plain()))
    given = [np.array([0.5, -0.25], np.float32), np.float32(0.5), np.ones(4, np.float32)]
    assert {str(part.dtype) for part in function(*given)} == {"float32"}
    assert {str(part.dtype) for part in function([0.5, 0.25], 0.5, np.ones(4))} == {"float64"}
    with pytest.raises(ValueError, match=r"q has the shape \(3, 2\); expected \(2,\)"):
        function(np.zeros((3, 2)), 0.5, np.ones(4))


def test_the_source_needs_jax_alone() -> None:
    source = to_jax([plain(), hostile()])
    assert [line for line in source.splitlines() if "import" in line] == ["import jax", "import jax.numpy as jnp"]
    assert source.isascii()
