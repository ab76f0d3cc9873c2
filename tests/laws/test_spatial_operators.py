"""The identities of the spatial operators, regrouped bodies, and the operational-space inertia.

G. Rodriguez, A. Jain, K. Kreutz-Delgado, "Spatial operator algebra for multibody system dynamics", 1992; O. Khatib, 1987.
"""

from __future__ import annotations

import numpy as np
import pytest

from linkwise import Link, Mechanism
from linkwise.dynamics import operational_space_inertia
from linkwise.dynamics.inverse_dynamics import recursion
from linkwise.model.assembly import separated
from linkwise.model.body import moving_bodies
from support.random_mechanisms import FREE, direct, random_state, relative, variant

BOUND = 5e-14
"""Rounding; the operators are products of up to seven 6x6 transports; seen: 3e-15."""

EPS = np.finfo(float).eps


@pytest.mark.parametrize("name", FREE)
def test_factors_of_the_mass_matrix_and_of_its_inverse(name: str) -> None:
    mech = variant(name)
    q = random_state(mech, 1)[0]
    o, mass = mech.spatial_operators(q), direct(mech, "mass_matrix", q)
    one = np.eye(mech.nv)
    half, back = one + o.H @ o.phi @ o.K, one - o.H @ o.psi @ o.K
    condition = np.linalg.cond(mass)
    errors = {
        "H phi (M phi* H* + B) + (H phi B)* + R": relative(
            o.H @ o.phi @ (o.M @ o.phi.T @ o.H.T + o.B) + (o.H @ o.phi @ o.B).T + o.R, mass
        ),
        "(1 + H phi K) D (1 + H phi K)*": relative(half @ o.D @ half.T, mass),
        "(1 + H phi K)(1 - H psi K)": np.abs(half @ back - one).max() / (np.abs(half).max() * np.abs(back).max()),
        "inverse": relative(back.T @ np.linalg.inv(o.D) @ back, np.linalg.inv(mass)) / condition,
    }
    print(errors)
    assert max(errors.values()) <= BOUND


@pytest.mark.parametrize("name", FREE)
def test_structure(name: str) -> None:
    """Phi and psi are unit upper triangular, M and D block diagonal, D positive; velocities are phi* H* qd."""
    mech = separated(variant(name))  # (the operators are of one body for each coordinate)
    q, qd, _ = random_state(mech, 2)
    o = mech.spatial_operators(q)
    size = len(o.phi)
    lower = np.tril_indices(size, -1)
    for operator in (o.phi, o.psi):
        blocks = operator.reshape(size // 6, 6, size // 6, 6).swapaxes(1, 2)
        assert np.array_equal(np.diagonal(operator), np.ones(size))
        assert not operator[lower].any()
        assert all(np.array_equal(blocks[k, k], np.eye(6)) for k in range(size // 6))
    assert np.abs(o.M - o.M.T).max() <= 1e-15 * np.abs(o.M).max()
    assert np.linalg.eigvalsh(o.D).min() > 0
    inside = np.kron(np.eye(size // 6), np.ones((6, 6))) > 0
    assert not o.M[~inside].any()
    velocity = (o.phi.T @ o.H.T @ qd).reshape(-1, 6)
    moved = [body.link for body in moving_bodies(mech).bodies]
    errors = [relative(velocity[k], direct(mech, "jacobian", q, link=link, frame="body") @ qd)
              for k, link in enumerate(moved) if link >= 0 and link != len(mech.links) - 1]  # fmt: skip
    if mech.floating:
        errors.append(relative(velocity[0], qd[:6]))
    print(errors)
    assert max(errors, default=0.0) <= BOUND


def test_batches_of_operators() -> None:
    mech = variant("floating rotors 2")
    q = random_state(mech, 3, (2, 3))[0]
    many = mech.spatial_operators(q)
    for index in np.ndindex(2, 3):
        one = mech.spatial_operators(q[index])
        for field in ("phi", "D", "K", "psi"):
            assert relative(getattr(many, field)[index], getattr(one, field)) <= 1e-14, field


@pytest.mark.parametrize("name", FREE)
def test_regrouped_bodies_take_the_same_efforts(name: str) -> None:
    """And need no more numbers: what a joint cannot show of its body is felt at the parent's."""
    mech = variant(name)
    q, qd, qdd = random_state(mech, 4)
    made = moving_bodies(mech)
    whole = recursion(mech, made, q, qd, qdd).astype(float)
    error = relative(recursion(mech, made.regrouped(), q, qd, qdd).astype(float), whole)
    numbers = [sum(int(np.count_nonzero(body.inertia)) for body in some.bodies) for some in (made, made.regrouped())]
    print(f"{error:.1e}, {numbers}")
    assert error <= BOUND
    assert numbers[1] < numbers[0]


@pytest.mark.parametrize("name", FREE)
def test_operational_space_inertia(name: str) -> None:
    """Lambda = inverse of J inverse(M) J', its pseudo-inverse where the frame cannot accelerate every way."""
    mech = variant(name)
    q = random_state(mech, 5)[0]
    mass = direct(mech, "mass_matrix", q)
    for link, frame in (("tool", "world"), ("tool", "body"), (1, "world")):
        jacobian = direct(mech, "jacobian", q, link=link, frame=frame)
        found = direct(mech, "inverse_operational_space_inertia", q, link=link, frame=frame)
        wanted = jacobian @ np.linalg.solve(mass, jacobian.T)
        error = np.abs(found - wanted).max() / max(np.abs(wanted).max(), 1e-300)
        print(f"{error:.1e}")
        assert error <= 10 * EPS * np.linalg.cond(mass)
        assert np.array_equal(found, found.T)
    for axes, rows in (("all", slice(0, 6)), ("translation", slice(0, 3)), ("rotation", slice(3, 6))):
        jacobian = direct(mech, "jacobian", q)[rows]
        mobility = jacobian @ np.linalg.solve(mass, jacobian.T)
        found = mech.operational_space_inertia(q, mask=axes)
        # The defining properties of a pseudo-inverse, symmetric; each product loses the condition of what is not singular.
        values = np.linalg.eigvalsh(mobility)
        known = values[values > 1e-9 * values.max()]
        loss = 100 * EPS * np.linalg.cond(mass) * known.max() / known.min()
        assert found.shape == mobility.shape
        assert np.abs(mobility @ found @ mobility - mobility).max() <= loss * np.abs(mobility).max()
        assert np.abs(found @ mobility @ found - found).max() <= loss * np.abs(found).max()
        assert np.abs(found - found.T).max() <= loss * np.abs(found).max()


def test_a_point_mass_shows_its_mass() -> None:
    """A free body of 3 kg, pushed at its centre: 3 kg every way, and its own moments of inertia."""
    body = Mechanism([Link(joint="fixed", mass=3.0, inertia=(0.1, 0.2, 0.3))], floating=True)
    q = np.array([1.0, 2.0, 3.0, 1.0, 0.0, 0.0, 0.0])
    assert np.allclose(body.operational_space_inertia(q), np.diag([3, 3, 3, 0.1, 0.2, 0.3]), rtol=1e-14, atol=1e-15)


def test_where_the_rotors_are() -> None:
    """On the body before the joint, further in, further out, on the joint's own body and on another branch."""
    kinds = set()
    for name in FREE:
        made = moving_bodies(variant(name))
        driven = {freedom.speed: k for k, body in enumerate(made.bodies) for freedom in body.freedoms}
        for rotor in made.rotors:
            inner, outer = sorted((rotor.body, driven[rotor.speed]))
            beyond = made.bodies[driven[rotor.speed]].parent
            kinds.add(
                "own" if inner == outer
                else "before" if rotor.body == beyond
                else "branch" if inner not in made.path(outer)
                else "inner" if rotor.body == inner
                else "outer"
            )  # fmt: skip
    assert kinds == {"own", "before", "inner", "outer", "branch"}


def test_teeth() -> None:
    """K without the rotor's inertia is seen."""
    mech = variant("joints 0")
    assert mech.drives
    q = random_state(mech, 1)[0]
    o, bare = mech.spatial_operators(q), mech.replace(links=[link.replace(motor=None) for link in mech.links])
    half = np.eye(mech.n) + o.H @ o.phi @ bare.spatial_operators(q).K
    assert relative(half @ o.D @ half.T, direct(mech, "mass_matrix", q)) > 1e6 * BOUND


@pytest.mark.parametrize(("heavy", "light"), [(43.0, 1e-3), (5000.0, 1e-4), (1e4, 1e-6)])
def test_operational_space_inertia_of_a_light_link_on_a_heavy_body(heavy: float, light: float) -> None:
    """Its inverse mixes 1/kg and 1/(kg m2) of very different sizes, and has full rank all the same."""
    hull = Link(joint="fixed", mass=heavy, inertia=(heavy, heavy, 0.8 * heavy))
    flap = Link(axis=(0, 1, 0), mass=light, com=(0.1, 0, 0), inertia=(light, light, light))
    craft = Mechanism([hull, flap], floating=True)
    inverse = direct(craft, "inverse_operational_space_inertia", craft.neutral)
    found = operational_space_inertia(inverse)
    size = np.sqrt(np.outer(np.diag(inverse), np.diag(found)))
    error = np.abs(inverse @ found - np.eye(6)) / (1 + size)
    print(f"{error.max():.1e}")
    assert error.max() <= 1e-9, "the condition of the scaled matrix, at most 1e6 here, times rounding"


def test_of_a_hundred_joints_a_kernel_computes_one_transport_a_body() -> None:
    """The rest are products of 6x6 blocks, as many as there are paths: nothing grows with the cube of the joints."""
    count = 100
    chain = Mechanism(
        [
            Link.dh(a=0.1, alpha=0.3 * (k % 3), convention="standard", mass=1.0, com=(-0.05, 0, 0), inertia=(0.1, 0.1, 0.1))
            for k in range(count)
        ]
    )
    q = np.linspace(-1.0, 1.0, count)
    o = chain.spatial_operators(q)
    kernel = chain.recall("spatial_operators", "transports")
    assert kernel.tape.outputs == {"transports": (count, 6, 6)}
    half = np.eye(count) + o.H @ o.phi @ o.K
    mass = chain.mass_matrix(q)
    error = relative(half @ o.D @ half.T, mass), np.abs(half @ (np.eye(count) - o.H @ o.psi @ o.K) - np.eye(count)).max()
    print(f"{error[0]:.1e}, {error[1]:.1e}")
    assert error[0] < 1e-12  # (rounding of products of a hundred transports, each of a few units in the last place)
    assert error[1] < 1e-12 * np.abs(half).max() * np.abs(o.psi).max()
