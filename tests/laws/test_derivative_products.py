"""Products of derivatives with vectors: both modes against each other, full derivatives, finite differences, and twice."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkwise import Link, Mechanism, Motor, robots, symbols
from linkwise.algorithm import ALGORITHMS, find
from linkwise.kernel import Kernel
from linkwise.kernel.kernel import DerivativeProduct
from support.exact_derivatives import rates
from support.random_mechanisms import (
    Interpreted,
    arguments,
    arm,
    direct,
    mechanisms,
    parts,
    random_mechanism,
    random_state,
    relative,
    variant,
)

find("inverse_dynamics")

LARGE = ("derivatives", "hessian_product", "lagrange_dynamics")
"""Ends of names of algorithms whose tapes are long: to differentiate all of them again would take minutes."""

BOUND = 1e-13
"""Rounding of some thousand operations, relative to the sizes of what is added up; seen: 2e-14."""


def gap(kernel: Kernel, args: list[Any], rng: np.random.Generator, **by: Any) -> float:
    """How far <cotangents, jvp(tangents)> and <vjp(cotangents), tangents> are apart, as a share of what is added up."""
    vjp, jvp = kernel.vjp.by(**by), kernel.jvp.by(**by)
    bars = [rng.normal(size=shape) for shape in kernel.tape.outputs.values()]
    dots = [rng.normal(size=shape) for shape in vjp.tape.outputs.values()]
    left = [np.asarray(a) * b for a, b in zip(bars, parts(jvp(*args, *dots)), strict=True)]
    right = [np.asarray(a) * b for a, b in zip(dots, parts(vjp(*args, *bars)), strict=True)]
    size = max(sum(np.abs(part).sum() for part in side) for side in (left, right))
    difference = sum(np.sum(part) for part in left) - sum(np.sum(part) for part in right)
    return float(abs(difference) / size) if size else 0.0


@pytest.mark.parametrize("name", sorted(n for n in ALGORITHMS if not (n.endswith(LARGE) or find(n).needs_loops)))
@pytest.mark.parametrize("which", ["sprung", "floating 1", "coupled 4"])
def test_both_modes_are_transposed(which: str, name: str) -> None:
    """Of every algorithm; with quaternions by small motions and by the numbers."""
    mech = arm() if which == "sprung" else variant(which)
    kernel = mech.kernel(name, backend="numpy")
    args = arguments(mech, name)
    ways = (True, False) if mech.floating else (True,)
    errors = [gap(kernel, args, np.random.default_rng(1), tangent=tangent) for tangent in ways]
    print(errors)
    assert max(errors) <= BOUND


@given(
    mechanisms(5, of=Interpreted),
    st.integers(0, 2**16),
    st.sampled_from(["inverse_dynamics", "forward_dynamics", "jacobian"]),
)
def test_both_modes_are_transposed_on_any_mechanism(mech: Mechanism, seed: int, name: str) -> None:
    error = gap(mech.kernel(name), arguments(mech, name), np.random.default_rng(seed))
    print(error)
    assert error <= BOUND


@pytest.mark.parametrize(
    "which", ["joints 1", "rotors 1", "floating 1", "floating rotors 2", "floating freedoms 4", "coupled 4"]
)
@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics"])
def test_products_of_the_full_derivatives(which: str, name: str) -> None:
    """The full ones come from other equations; solving loses the condition of M, at most twice."""
    mech = variant(which)
    state, rng = random_state(mech, 1), np.random.default_rng(2)
    tables = direct(mech, f"{name}_derivatives", *state)
    kernel = mech.kernel(name)
    bar, dots = rng.normal(size=mech.nv), rng.normal(size=(3, mech.nv))
    found = kernel.vjp(*state, bar)
    errors = [relative(a, bar @ table) for a, table in zip(found, tables, strict=True)]
    wanted = sum(table @ dot for table, dot in zip(tables, dots, strict=True))
    errors.append(relative(kernel.jvp(*state, *dots), wanted))
    condition = np.linalg.cond(direct(mech, "mass_matrix", state[0])) if name.startswith("forward") else 1.0
    print(errors, f"condition {condition:.0f}")
    assert max(errors) <= 10 * BOUND + 100 * np.finfo(float).eps * condition


def test_with_closed_loops() -> None:
    """Of forward dynamics that keeps the loop of a four-bar closed, against its full derivatives; seen: 3e-13."""
    bars = robots.four_bar()
    q, qd = np.array(bars.neutral), np.zeros(bars.nv)
    tau, bar = np.array([1.0, -0.5, 0.3]), np.array([0.4, 2.0, -1.0])
    tables = bars.forward_dynamics_derivatives(q, qd, tau)
    found = bars.kernel("forward_dynamics").vjp(q, qd, tau, bar)
    errors = [np.abs(a - bar @ table).max() / max(1.0, np.abs(table).max()) for a, table in zip(found, tables, strict=True)]
    print(errors)
    assert max(errors) <= 1e-11


def test_small_motions_along_integrate() -> None:
    """What the cotangent of q means with a floating base: central differences along `integrate`, h = 1e-5.

    Truncation h^2 = 1e-10 times a third derivative, rounding eps / h = 2e-11 times the function.
    """
    mech = variant("floating freedoms 4")
    q, qd, qdd = random_state(mech, 4)
    kernel, bar = mech.kernel("inverse_dynamics"), np.random.default_rng(3).normal(size=mech.nv)
    found = kernel.vjp.by("q")(q, qd, qdd, bar)
    step, h = np.eye(mech.nv), 1e-5
    ahead, behind = (kernel(mech.integrate(q, sign * h * step, 1.0), qd, qdd) @ bar for sign in (1.0, -1.0))
    error = relative(found, (ahead - behind) / (2 * h))
    print(error)
    assert error <= 1e-8
    plain = kernel.vjp.by("q", tangent=False)(q, qd, qdd, bar)
    assert plain.shape == (mech.nq,)
    assert relative(found, plain @ rates(mech, q)) <= BOUND


@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics"])
def test_second_order_is_symmetric_and_that_of_the_hessian_product(name: str) -> None:
    """The product with one vector, in reverse over reverse and in forward over reverse, of which neither order matters."""
    mech = variant("joints 1")
    state, rng = random_state(mech, 5), np.random.default_rng(6)
    kernel, n = mech.kernel(name), mech.nv
    weights, one, other = rng.normal(size=(3, 3, n))
    vjp = kernel.vjp
    hessian_one = vjp.vjp.by(*kernel.tape.inputs)(*state, weights[0], *one)
    hessian_other = vjp.jvp.by(*kernel.tape.inputs)(*state, weights[0], *other)
    left = sum(a @ b for a, b in zip(hessian_one, other, strict=True))
    right = sum(a @ b for a, b in zip(hessian_other, one, strict=True))
    q_q, q_qd, qd_qd, u_q = mech.kernel(f"{name}_hessian_product")(*state, weights[0])
    wanted = one[0] @ q_q @ other[0] + one[0] @ q_qd @ other[1] + other[0] @ q_qd @ one[1] + one[1] @ qd_qd @ other[1]
    wanted += one[2] @ u_q @ other[0] + other[2] @ u_q @ one[0]
    size = sum(np.abs(a) @ np.abs(b) for a, b in zip(hessian_one, other, strict=True))
    print(abs(left - right) / size, abs(left - wanted) / size)
    assert abs(left - right) <= 100 * BOUND * size
    assert abs(left - wanted) <= 100 * BOUND * size


def test_third_order() -> None:
    """Reverse mode three times, its names all new, against a difference of the second, h = 1e-5; see above for the bound."""
    arm = robots.planar_2r()
    kernel, rng = arm.kernel("potential_energy"), np.random.default_rng(7)
    q, p, r, s = rng.normal(size=(4, 2))
    twice = kernel.vjp.by("q").vjp.by("q")
    thrice = twice.vjp.by("q")
    assert [name for name in thrice.tape.inputs if name.startswith("q")] == ["q", "q_bar_bar", "q_bar_bar2"]
    found = thrice(q, 1.0, p, r) @ s
    ahead, behind = (twice(q + sign * 1e-5 * s, 1.0, p) @ r for sign in (1.0, -1.0))
    print(found, (ahead - behind) / 2e-5)
    assert abs(found - (ahead - behind) / 2e-5) <= 1e-8 * max(1.0, abs(found))


def test_a_mechanism_whose_kernels_loop_over_bodies() -> None:
    """The products are those of the straight-line code."""
    mech = random_mechanism(8, ["revolute"] * 33, list(range(-1, 32)), motors=False)
    kernel = mech.kernel("inverse_dynamics")
    assert kernel.tier == "looped"
    assert isinstance(kernel.vjp, DerivativeProduct)
    args = arguments(mech, "inverse_dynamics")
    bar = np.ones(mech.nv)
    found = kernel.vjp.by("qd", "qdd")(*args, bar)
    _, by_qd, mass = mech.inverse_dynamics_derivatives(*args)
    errors = [relative(found[0], bar @ by_qd), relative(found[1], bar @ mass)]
    print(errors)
    assert max(errors) <= BOUND


@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics", "jacobian"])
def test_by_the_symbols_of_a_mechanism(name: str) -> None:
    """Both modes, on a floating base; against central differences, h = 1e-5, see above for the bound."""
    mass, friction, length = symbols("mass friction length")
    place = np.eye(4, dtype=object)
    place[0, 3] = length
    hull = Link(joint="fixed", mass=mass, inertia=(0.1, 0.2, 0.15))
    arm = Link(axis=(0, 1, 0), before=place, mass=1.0, com=(0.2, 0, 0), motor=Motor(viscous=friction))
    mech = Mechanism([hull, arm], floating=True)
    kernel, values, rng = mech.kernel(name, backend="numpy"), np.array([2.0, 0.3, 0.5]), np.random.default_rng(8)
    known = mech.substitute(dict(zip(mech.symbols, values, strict=True)))
    args = [*random_state(known, 4)[: len(kernel.tape.inputs) - 1], values]
    assert gap(kernel, args, rng) <= BOUND
    (bar,) = (rng.normal(size=shape) for shape in kernel.tape.outputs.values())
    found = kernel.vjp.by("parameters")(*args, bar)
    ahead, behind = (
        np.array([np.sum(bar * kernel(*args[:-1], values + sign * 1e-5 * step)) for step in np.eye(3)])
        for sign in (1.0, -1.0)
    )
    error = relative(found, (ahead - behind) / 2e-5)
    print(error)
    assert error <= 1e-8
