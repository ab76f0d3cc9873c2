"""Contacts of mechanisms with closed loops: both constraints at once."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from linkwise import Loop, Mechanism, Wrench, robots
from linkwise.dynamics import Contact, Contacts
from linkwise.errors import ArgumentError, LinkwiseError
from linkwise.spatial.transform import translation
from support.random_linkages import bennett, closed_state, near_zero, random_loop
from support.random_mechanisms import random_link, relative

pytestmark = pytest.mark.usefixtures("uncompiled")

ROUNDING = 1e-10
"""Times the condition of M and of the constraints together, some 1e4; seen: 3e-12."""

POINT = np.array([0.1, -0.2, 0.3])
MIXED = ["revolute", "prismatic", "screw", "revolute", "prismatic", "revolute", "prismatic"]


@cache
def linkage(name: str) -> tuple[Mechanism, np.ndarray]:
    """A mechanism with loops, closed."""
    if name == "floating":
        return random_loop(23, "point", ["revolute"] * 4, motor=False, floating=True)
    if name == "full":
        return random_loop(21, "full", [*MIXED, "revolute", "revolute", "revolute"], motor=False)
    if name == "bennett":
        return bennett()
    mech = robots.load(name)
    return mech, near_zero(mech)


CASES = [("floating", "point"), ("full", "point"), ("five_bar", "normal"), ("stewart", "point"), ("stewart", "frame")]


def held(name: str, kind: str) -> tuple[Contacts, np.ndarray]:
    mech, q = linkage(name)
    tip = mech.loops[0].second if name != "five_bar" else mech.loops[0].first
    return Contacts(mech, [Contact("tip", tip, POINT, kind, normal=(0.3, 1.0, 0.0))]), q


def still(contacts: Contacts, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """Speeds that keep loops closed and what is held at rest."""
    return contacts.impact(q, qd)[0]


@pytest.mark.parametrize("kind", ["point", "normal", "frame"])
def test_a_loop_is_a_contact_between_two_links(kind: str) -> None:
    """Accelerations and forces of a body that floats are those of its tree with one contact more."""
    contacts, q = held("floating", kind)
    (mech, loop), (tip,) = (contacts.tree, contacts.tree.loops[0]), contacts.contacts
    qd, tau = closed_state(mech, q, 3)
    qdd, force = contacts.forward_dynamics(q, qd, tau)
    ends = Contact("ends", loop.second, loop.second_frame[:3, 3], to=loop.first)
    wanted, forces = Contacts(mech.replace(loops=()), [tip, ends]).forward_dynamics(q, qd, tau)
    assert relative(qdd, wanted) < ROUNDING
    assert relative(force, forces[:-3]) < ROUNDING


@pytest.mark.parametrize("name", ["full"])
def test_a_point_that_is_held_is_one_more_loop(name: str) -> None:
    """Accelerations and forces are those of a loop to the base."""
    contacts, q = held(name, "point")
    mech, link, at = contacts.tree, contacts.contacts[0].link, translation(*POINT)
    qd, tau = closed_state(mech, q, 3)
    qd = still(contacts, q, qd)
    qdd, force = contacts.forward_dynamics(q, qd, tau)
    more = mech.replace(loops=[*mech.loops, Loop("point", "base", link, translation(*contacts.positions(q)[0]), at)])
    forces = more.constraint_forces(q, qd, tau)
    assert relative(qdd, more.forward_dynamics(q, qd, tau)) < ROUNDING
    assert relative(force, forces[-3:]) < ROUNDING
    loops = mech.constraint_forces(q, qd, tau + contacts.jacobian(q).T @ force)
    assert relative(loops, forces[:-3]) < ROUNDING


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_both_constraints_hold_and_their_forces_are_the_reason(name: str, kind: str) -> None:
    contacts, q = held(name, kind)
    mech = contacts.tree
    qd, tau = closed_state(mech, q, 4)
    jac, closing = contacts.jacobian(q), mech.kernel("closure_jacobian")(q)
    qdd, force = contacts.forward_dynamics(q, qd, tau, damping=2.0)
    assert relative(jac @ qdd, -contacts.bias(q, qd) - 2.0 * jac @ qd) < ROUNDING
    assert relative(closing @ qdd, -mech.kernel("closure_bias")(q, qd)) < ROUNDING
    loops = mech.constraint_forces(q, qd, tau + jac.T @ force)
    needed = mech.replace(loops=()).inverse_dynamics(q, qd, qdd)
    assert relative(tau + jac.T @ force + closing.T @ loops, needed) < ROUNDING


def repeated(name: str) -> tuple[Contacts, np.ndarray]:
    """Contacts of which loops hold a part already: all of it, one of two, all but one direction of two points."""
    mech, q = random_loop(200, "full", ["revolute"] * 8, floating=True) if name == "weld" else linkage(name)
    loop = mech.loops[0]
    if name == "weld":
        return Contacts(mech, [Contact("tip", loop.second, POINT, to=loop.first)]), q
    if name == "floating":
        ends = Contact("ends", loop.second, loop.second_frame[:3, 3], to=loop.first)
        return Contacts(mech, [ends, Contact("tip", loop.second, POINT, "normal", (0.3, 1.0, 0.0))]), q
    return Contacts(mech, [Contact("a", "coupler", (0.1, 0, 0)), Contact("b", "rocker", (0.2, 0, 0))]), q


REPEATED = ["weld", "floating", "four_bar"]


@pytest.mark.parametrize(
    ("name", "kind"), [*(case for case in CASES if case[0] != "stewart"), *((name, "") for name in REPEATED)]
)
def test_derivatives_are_those_of_differences(name: str, kind: str) -> None:
    """Along a motion that keeps the loops closed."""
    contacts, q = held(name, kind) if kind else repeated(name)
    mech = contacts.tree
    qd, tau = closed_state(mech, q, 5)
    way, push = closed_state(mech, q, 6)
    qd = 0.0 * qd if name == "four_bar" else qd  # (nothing moves there that is held)
    exact = contacts.forward_dynamics_derivatives(q, qd, tau, damping=2.0)
    h, project = 1e-5, mech.kernel("project_to_loops")

    def beside(step: float) -> list[np.ndarray]:
        state = project(mech.integrate(q, way, step), qd + step * push)
        return [*contacts.forward_dynamics(*state, tau + step * push, damping=2.0), state[1]]

    (qdd, force, rates), before = beside(h), beside(-h)
    speeds = (rates - before[2]) / (2 * h)
    for later, earlier, by in (
        (qdd, before[0], (exact.dqdd_dq, exact.dqdd_dqd, exact.dqdd_dtau)),
        (force, before[1], (exact.df_dq, exact.df_dqd, exact.df_dtau)),
    ):
        slope = by[0] @ way + by[1] @ speeds + by[2] @ push
        assert relative(slope, (later - earlier) / (2 * h)) < 1e-6, "central differences: h^2 and eps / h"


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_impacts(name: str, kind: str) -> None:
    contacts, q = held(name, kind)
    mech = contacts.tree
    qd, _ = closed_state(mech, q, 7)
    jac, mass = contacts.jacobian(q), np.asarray(mech.mass_matrix(q))
    after, impulse = contacts.impact(q, qd, restitution=0.4)
    closing = mech.kernel("closure_jacobian")(q)
    free = np.linalg.svd(closing)[2][np.linalg.matrix_rank(closing, rtol=1e-9) :]
    assert np.abs(closing @ after).max() < ROUNDING
    assert relative(free @ (mass @ (after - qd)), free @ (jac.T @ impulse)) < ROUNDING
    axis = np.array([1.0]) if kind == "normal" else np.append(contacts.contacts[0].normal, np.zeros(len(jac) - 3))
    if kind != "frame":
        assert relative(jac @ after, -0.4 * (axis @ jac @ qd) * axis) < ROUNDING
    stopped = contacts.impact(q, qd)[0]
    assert np.abs(jac @ stopped).max() < ROUNDING
    assert relative(qd @ mass @ qd - stopped @ mass @ stopped, (qd - stopped) @ mass @ (qd - stopped)) < ROUNDING


@pytest.mark.parametrize(
    ("name", "kind", "driven"),
    [
        ("floating", "frame", [6, 7, 8, 9]),
        ("full", "point", [1]),
        ("five_bar", "normal", [0]),
        ("stewart", "point", [0, 6, 8]),
    ],
)
def test_forces_and_drives_share_the_load(name: str, kind: str, driven: list[int]) -> None:
    """What is not driven is held by the contacts: the efforts and forces give the motion back, with the least forces."""
    contacts, q = held(name, kind)
    mech = contacts.tree
    qd = still(contacts, q, closed_state(mech, q, 8)[0])
    qdd, _ = contacts.forward_dynamics(q, qd, closed_state(mech, q, 9)[1])
    tau, force = contacts.inverse_dynamics(q, qd, qdd, driven=driven)
    assert not np.delete(tau, driven).any()
    assert relative(mech.forward_dynamics(q, qd, tau + contacts.jacobian(q).T @ force), qdd) < 1e-8, "conditions of both"
    closing = mech.kernel("closure_jacobian")(q)
    free = np.linalg.svd(closing)[2][np.linalg.matrix_rank(closing, rtol=1e-9) :].T
    drives = free[driven]
    idle = free @ np.linalg.svd(drives)[2][np.linalg.matrix_rank(drives, rtol=1e-9) :].T
    least = np.linalg.pinv(idle.T @ contacts.jacobian(q).T, rcond=1e-9)
    assert relative(force, least @ (idle.T @ mech.replace(loops=()).inverse_dynamics(q, qd, qdd))) < 1e-8, "the same"


def test_a_batch_is_a_loop() -> None:
    contacts, q = held("floating", "frame")
    mech = contacts.tree
    qs = np.array([q, mech.kernel("project_to_loops")(q + 1e-3 * np.eye(mech.nq)[8], np.zeros(mech.nv))[0]])
    qd, tau = (np.array(rows) for rows in zip(*(closed_state(mech, row, 3) for row in qs), strict=True))
    qdd, force = contacts.forward_dynamics(qs, qd, tau)
    held_qd = contacts.impact(qs, qd)[0]
    efforts = contacts.inverse_dynamics(qs, qd, qdd, driven=[6, 7, 8, 9])
    for k in range(2):
        for batch, alone in (
            ((qdd, force), contacts.forward_dynamics(qs[k], qd[k], tau[k])),
            ((held_qd,), contacts.impact(qs[k], qd[k])[:1]),
            (efforts, contacts.inverse_dynamics(qs[k], qd[k], qdd[k], driven=[6, 7, 8, 9])),
        ):
            for values, value in zip(batch, alone, strict=True):
                assert relative(values[k], value) < ROUNDING


def malformed() -> dict[str, tuple[Any, type[Exception], str]]:
    contacts, q = held("five_bar", "normal")
    zeros, ones = np.zeros(contacts.tree.nv), np.ones(contacts.tree.nv)
    return {
        "open": (lambda: contacts.impact(q + 0.1, zeros), ArgumentError, "impact: loops of 'five_bar' are open"),
        "speeds": (lambda: contacts.impact(q, ones), ArgumentError, "impact: qd opens loops"),
        "motion": (lambda: contacts.inverse_dynamics(q, zeros, ones), ArgumentError, "inverse_dynamics: qdd opens loops"),
        "driven": (lambda: contacts.inverse_dynamics(q, zeros, zeros, driven="knee"), ArgumentError, "driven has 'knee'"),
        "none": (lambda: contacts.inverse_dynamics(q, zeros, zeros, [], driven=[0]), LinkwiseError, "what floats or is not"),
    }


@pytest.mark.parametrize("name", ["open", "speeds", "motion", "driven", "none"])
def test_malformed(name: str) -> None:
    call, error, message = malformed()[name]
    with pytest.raises(error, match=message):
        call()


def test_states_beside_closed_ones_have_no_accelerations() -> None:
    contacts, q = held("five_bar", "normal")
    assert np.isnan(contacts.forward_dynamics(q + 0.1, *[np.zeros(contacts.tree.nv)] * 2)[0]).all()


@pytest.mark.parametrize("name", ["loop", "weld"])
def test_a_contact_that_holds_what_cannot_move_changes_nothing(name: str) -> None:
    """Between the ends of a loop that welds them, and between two links of one rigid body: only rounding is left of J."""
    if name == "loop":
        mech, q = random_loop(200, "full", ["revolute"] * 8, floating=True)
        contact = Contact("tip", mech.loops[0].second, POINT, to=mech.loops[0].first)
    else:
        rng = np.random.default_rng(2)
        links = [random_link(rng, "fixed" if k == "c" else "revolute", name=k) for k in "abc"]
        mech, q = Mechanism(links), np.array([0.3, 0.4])
        contact = Contact("tip", "c", POINT, to="b")
    contacts, (qd, tau) = Contacts(mech, [contact]), closed_state(mech, q, 3) if mech.loops else (q, q)
    qdd, force = contacts.forward_dynamics(q, qd, tau)
    assert relative(qdd, mech.forward_dynamics(q, qd, tau)) < ROUNDING
    assert not force.any()
    assert relative(contacts.impact(q, qd)[0], qd) < ROUNDING
    if mech.loops:
        with pytest.raises(LinkwiseError, match="what floats or is not driven"):
            contacts.inverse_dynamics(q, 0 * qd, 0 * qd, driven=[6, 7])


@pytest.mark.parametrize("name", ["open", "five_bar"])
def test_wrenches_beside_the_contacts(name: str) -> None:
    """Wrenches act as their efforts J' w at each state: on accelerations, forces, their derivatives, and loads shared."""
    mech, q = (robots.planar_3r(), np.array([0.3, 0.5, -0.4])) if name == "open" else linkage(name)
    first, tip = mech.link_names[0], mech.link_names[-1]
    held_link = mech.loops[0].first if mech.loops else tip
    contacts = Contacts(mech, [Contact("tip", held_link, POINT, "normal", normal=(0.3, 1.0, 0.0))])
    push = {
        first: Wrench((2.0, -3.0, 0.0), (0.0, 0.0, 0.4), point=(0.1, 0.2, 0.0)),
        tip: Wrench((1.0, 2.0, 0.0), frame="world"),
    }
    closure = mech.kernel("closure_jacobian")(q) if mech.loops else np.zeros((1, mech.nv))
    allowed = np.linalg.svd(closure)[2][np.linalg.matrix_rank(closure) :].T
    qd = still(contacts, q, allowed @ np.linspace(0.4, -0.3, allowed.shape[1]))
    tau = np.linspace(-1.0, 1.0, mech.nv)
    felt = mech.kernel("external_efforts", wrenches=((first, "body"), (tip, "world")))
    efforts = felt(q, [push[first].vector, push[tip].vector])
    pushed = contacts.forward_dynamics(q, qd, tau, external=push)
    for value, expected in zip(pushed, contacts.forward_dynamics(q, qd, tau + efforts), strict=True):
        assert relative(value, expected) < ROUNDING
    by, step = contacts.forward_dynamics_derivatives(q, qd, tau, external=push), 1e-5
    ways = {"dtau": (mech.nv, lambda x: contacts.forward_dynamics(q, qd, tau + x, external=push)[1])}
    if not mech.loops:
        ways["dq"] = (mech.nv, lambda x: contacts.forward_dynamics(q + x, qd, tau, external=push)[1])
    for way, (count, function) in ways.items():
        slopes = [(function(x) - function(-x)) / (2.0 * step) for x in step * np.eye(count)]
        assert relative(getattr(by, f"df_{way}"), np.stack(slopes, axis=-1)) < 1e-6
    many = contacts.forward_dynamics_derivatives(q, qd, np.stack([tau, 2.0 * tau]), external=push)
    assert all(relative(table[0], vars(by)[field]) < ROUNDING for field, table in vars(many).items())
    shared = contacts.inverse_dynamics(q, qd, pushed[0], driven=[0] if mech.loops else [0, 1], external=push)
    assert relative(contacts.forward_dynamics(q, qd, shared[0], external=push)[0], pushed[0]) < ROUNDING
    if mech.loops:
        lent = mech.constraint_forces(q, qd, tau, external=push)
        assert relative(lent, mech.constraint_forces(q, qd, tau + efforts)) < ROUNDING
