"""Compiled functions of contacts: beside those of the parts, with contacts switched by a number in each configuration."""

from __future__ import annotations

from dataclasses import astuple

import numpy as np
import pytest

from linkwise import Link, Mechanism, robots
from linkwise.dynamics import Contact, Contacts, Wrench
from linkwise.errors import ArgumentError
from support.random_mechanisms import coupled, random_state, relative, sprung, variant

pytestmark = pytest.mark.usefixtures("uncompiled")

ROUNDING = 1e-10
"""Times the condition of M and of the Delassus matrix, some 1e5 together in the worst of these; seen: 3e-12."""


def contacts_on(mech: Mechanism) -> list[Contact]:
    """A point of the last link, one along a normal, and with six more velocities one between links."""
    names = mech.link_names
    made = [Contact("tip", names[-1], (0.1, -0.2, 0.3), normal=(0.2, 0.3, 1.0))]
    if mech.nv > 6:
        made.append(Contact("side", names[0], (0.3, 0.1, 0.0), "normal", normal=(1.0, 0.5, 0.0)))
    if mech.nv > 9:
        made.append(Contact("between", names[-2], (0.0, 0.1, 0.2), "normal", normal=(0.0, 0.6, 0.8), to=names[0]))
    return made


def cases() -> dict[str, Mechanism]:
    return {
        "joints": variant("joints 3"),
        "floating rotors": variant("floating rotors 3"),
        "ball joints": variant("floating freedoms 3"),
        "followers": coupled(variant("floating 0"), 1),
        "springs": sprung(variant("floating 0")),
    }


@pytest.mark.parametrize("name", ["joints", "floating rotors", "ball joints", "followers", "springs"])
def test_they_are_those_of_the_parts(name: str) -> None:
    """Each set of contacts, in a batch: matrices, motions, forces, impacts and derivatives, from two ways."""
    mech = cases()[name]
    contacts = Contacts(mech, contacts_on(mech))
    q, qd, tau = random_state(mech, 2, (2,))
    for active in (None, contacts.names[:1], contacts.names[::-1]):
        assert contacts._selection(active) is not None
        ours, parts = (
            [
                one.jacobian(q, active),
                one.bias(q, qd, active),
                one.delassus(q, active),
                *one.forward_dynamics(q, qd, tau, active, damping=0.7),
                *one.impact(q, qd, active, restitution=0.3),
                *astuple(one.forward_dynamics_derivatives(q, qd, tau, active, damping=0.7)),
            ]
            for one in (contacts, contacts.equations)
        )
        worst = max(relative(one, other) for one, other in zip(ours, parts, strict=True))
        print(f"{name}, {active}: residual {worst:.1e}")
        assert worst < ROUNDING


def test_products_of_large_matrices_are_those_of_small_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """Written out or by NumPy, one configuration or pieces of a batch."""
    mech = variant("floating rotors 3")
    contacts, state = Contacts(mech, contacts_on(mech)), random_state(mech, 4, (3,))
    written = astuple(contacts.forward_dynamics_derivatives(*state))
    monkeypatch.setattr("linkwise.dynamics.contacts.WRITTEN_OUT", 0)
    monkeypatch.setattr("linkwise.dynamics.contacts.AT_ONCE", 2)
    batch = astuple(contacts.forward_dynamics_derivatives(*state))
    single = astuple(contacts.forward_dynamics_derivatives(*(part[1] for part in state)))
    for one, other, alone in zip(written, batch, single, strict=True):
        assert relative(other, one) < 1e-12  # (the same sums in another order)
        assert np.array_equal(other[1], alone)


def test_wrenches_act_beside_contacts() -> None:
    mech = variant("floating rotors 3")
    contacts, (q, qd, tau) = Contacts(mech, contacts_on(mech)), random_state(mech, 5)
    push = {mech.link_names[1]: Wrench((1.0, 2.0, 3.0), point=(0.1, 0.2, 0.3), frame="world")}
    ours, parts = (one.forward_dynamics(q, qd, tau, external=push) for one in (contacts, contacts.equations))
    assert max(map(relative, ours, parts)) < ROUNDING


def test_each_configuration_of_a_batch_has_its_own_contacts() -> None:
    mech = variant("floating rotors 3")
    contacts = Contacts(mech, contacts_on(mech)[:2])
    q, qd, tau = random_state(mech, 6, (3,))
    switches = np.array([[1.0, 1.0], [0.0, 1.0], [0.0, 0.0]])
    damping = np.array([[0.0, 0.5], [0.1, 0.2], [0.3, 0.4]])
    qdd, forces = contacts.kernel("forward_dynamics")(q, qd, tau, switches, damping)
    for k, active in enumerate((["tip", "side"], ["side"])):
        mine = contacts.kernel("forward_dynamics")(q[k], qd[k], tau[k], switches[k], damping[k])
        assert np.array_equal(mine[0], qdd[k])
        if k == 1:
            alone = contacts.equations.forward_dynamics(q[k], qd[k], tau[k], active, damping=0.2)
            assert relative(qdd[k], alone[0]) < ROUNDING
            assert (forces[k, :3] == 0.0).all()
    assert relative(qdd[2], mech.forward_dynamics(q[2], qd[2], tau[2])) < ROUNDING


def test_where_equations_depend_kernels_say_so_and_methods_solve_them() -> None:
    """Two points along a stretched arm, and a plane across which nothing moves."""
    arm = robots.planar_2r()
    contacts = Contacts(arm, [Contact("tip", "link2", kind="point")])
    assert contacts._selection(None) is not None  # (the row across the plane is zero whatever the coordinates)
    kernel, still = contacts.kernel("forward_dynamics"), [0.0, 0.0]
    q = np.array([[0.1, 0.5], [0.1, 0.0]])
    qdd, forces = kernel(q, still, still, [1.0], [0.0])
    assert np.isfinite(qdd[0]).all()
    assert np.isnan(qdd[1]).all()
    assert np.isnan(forces[1]).all()
    solved = contacts.forward_dynamics(q, still, still)
    parts = contacts.equations.forward_dynamics(q, still, still)
    assert np.array_equal(solved[0][1], parts[0][1], equal_nan=True)
    assert relative(solved[1][0], parts[1][0]) < ROUNDING
    alone = contacts.forward_dynamics(q[1], still, still)
    assert np.array_equal(alone[1], parts[1][1], equal_nan=True)


def test_what_is_not_compiled() -> None:
    foot = Mechanism([Link(name="foot", joint="fixed", parent="base", mass=1.0, inertia=(0.1, 0.1, 0.1))], floating=True)
    corners = [Contact(f"{x}{y}", "foot", (x, y, 0.0)) for x in (-0.1, 0.1) for y in (-0.1, 0.1)]
    assert Contacts(foot, corners)._selection(None) is None  # (twelve equations of six velocities)
    assert Contacts(foot, corners)._selection(["-0.1-0.1"]) is not None
    assert Contacts(robots.four_bar(), [Contact("held", "crank")])._selection(None) is None
    assert Contacts(foot, [])._selection(None) is None
    with pytest.raises(ArgumentError, match="loops"):
        Contacts(robots.four_bar(), [Contact("held", "crank")]).kernel("jacobian")
    with pytest.raises(ArgumentError, match="no contacts"):
        Contacts(foot, []).kernel("jacobian")
    with pytest.raises(ArgumentError, match=r"'impacts'.*'impact'"):
        Contacts(foot, corners).kernel("impacts")


def test_an_empty_batch() -> None:
    mech = variant("floating rotors 3")
    contacts, state = Contacts(mech, contacts_on(mech)), random_state(mech, 1, (0,))
    assert contacts.forward_dynamics(*state)[0].shape == (0, mech.nv)
    assert contacts.forward_dynamics_derivatives(*state).df_dq.shape == (0, 5, mech.nv)
    assert contacts.impact(*state[:2])[1].shape == (0, 5)
