"""Contacts: against Pinocchio's constraint dynamics, on redundant points, with forces shared, and in impacts."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from linkwise import Link, Mechanism, robots
from linkwise.dynamics import Contact, Contacts
from linkwise.errors import ArgumentError, LinkwiseError
from linkwise.spatial.rotation import rotation_about
from support.random_mechanisms import columns_at_once, random_state, relative, variant

pytestmark = pytest.mark.usefixtures("uncompiled")

ROUNDING = 1e-10
"""Times the condition of M and of the Delassus matrix, some 1e4 together; seen: 2e-13."""

NAMES = ("joints 0", "joints 3", "floating 0", "floating rotors 3")
UP = np.array([0.0, 0.0, 1.0])


def on_tip(mech: Mechanism, kind: str) -> list[Contact]:
    """A point of the last link, and along a normal one of the first."""
    tip = mech.link_names[-1]
    points = [Contact("tip", tip, (0.1, -0.2, 0.3), kind, normal=(0.2, 0.3, 1.0))]
    if mech.nv > 6:
        points.append(Contact("side", mech.link_names[0], (0.3, 0.1, 0.0), "normal", normal=(1.0, 0.5, 0.0)))
    return points


@cache
def quadruped(legs: int = 4) -> Mechanism:
    """A trunk with legs of two joints each, some 12 kg with four of them."""
    links = [Link(name="trunk", joint="fixed", parent="base", mass=8.0, inertia=np.diag([0.05, 0.12, 0.15]))]
    for k, (x, y) in enumerate([(0.3, 0.15), (0.3, -0.15), (-0.3, 0.15), (-0.3, -0.15)][:legs]):
        hip, thigh = np.eye(4), np.eye(4)
        hip[:3, 3], thigh[2, 3] = (x, y, 0.0), -0.25
        rod = {
            "joint": "revolute",
            "axis": (0, 1, 0),
            "mass": 0.5,
            "com": (0, 0, -0.12),
            "inertia": np.diag([3e-3, 3e-3, 3e-4]),
        }
        links.append(Link(name=f"thigh{k}", parent="trunk", before=hip, after=np.eye(4), **rod))
        links.append(Link(name=f"shank{k}", parent=f"thigh{k}", before=thigh, after=np.eye(4), **rod))
    return Mechanism(links, floating=True, name="quadruped")


def feet(friction: float = 0.6, **options: Any) -> list[Contact]:
    return [Contact(f"foot{k}", f"shank{k}", (0, 0, -0.25), friction=friction, **options) for k in range(4)]


def standing(mech: Mechanism, lean: float = 0.0) -> np.ndarray:
    """Knees bent, the trunk leaning about x."""
    q = np.array(mech.neutral)
    q[3:7] = np.cos(lean / 2), np.sin(lean / 2), 0.0, 0.0
    q[7:] = [0.5, -1.0] * 4
    return q


@pytest.mark.parametrize(
    ("name", "kind"),
    [("joints 3", "point"), *((f"floating {seed}", kind) for seed in (0, 1, 2) for kind in ("point", "frame"))],
)
def test_constraint_dynamics_of_pinocchio(name: str, kind: str) -> None:
    """The tip held at a point or as a frame: accelerations and forces, by another algorithm from another description."""
    pin = pytest.importorskip("pinocchio")
    from support.pinocchio_model import Twin

    mech = variant(name).without_friction()
    peer = Twin(mech)
    q, qd, tau = random_state(mech, 1)
    contacts = Contacts(mech, on_tip(mech, kind)[:1])
    qd, _ = contacts.impact(q, qd)  # (what is held stands; of what moves Pinocchio takes the spatial acceleration)
    qdd, forces = contacts.forward_dynamics(q, qd, tau)
    joint, pose = peer.carried[len(mech.links) - 1]
    place = np.array(pose)
    place[:3, 3] += place[:3, :3] @ np.array([0.1, -0.2, 0.3])
    there = pin.ContactType.CONTACT_3D if kind == "point" else pin.ContactType.CONTACT_6D
    model = pin.RigidConstraintModel(there, peer.model, joint, pin.SE3(place), pin.LOCAL_WORLD_ALIGNED)
    models, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    models.append(model)
    datas.append(model.createData())
    pin.initConstraintDynamics(peer.model, peer.data, models, datas)
    settings = pin.ProximalSettings(1e-14, 1e-12, 30)
    wanted = peer.back(
        pin.constraintDynamics(peer.model, peer.data, peer.at(q), peer.to(qd), peer.to(tau), models, datas, settings)
    )
    pressed = datas[0].contact_force.vector[: len(forces)]
    errors = relative(qdd, wanted), relative(forces, pressed)
    print(errors)
    assert max(errors) < 1e-11, "the condition of M and of the Delassus matrix; seen: 5e-14"


@pytest.mark.parametrize("name", NAMES[1:])
def test_what_is_held_does_not_accelerate_and_forces_are_the_reason(name: str) -> None:
    mech = variant(name)
    q, qd, tau = random_state(mech, 2)
    contacts = Contacts(mech, on_tip(mech, "point"))
    jac, bias = contacts.jacobian(q), contacts.bias(q, qd)
    qdd, forces = contacts.forward_dynamics(q, qd, tau)
    errors = [
        relative(jac @ qdd, -bias),
        relative(mech.inverse_dynamics(q, qd, qdd), tau + jac.T @ forces),
        relative(contacts.delassus(q), jac @ np.linalg.inv(mech.mass_matrix(q)) @ jac.T),
    ]
    h = 1e-5
    later = contacts.jacobian(mech.integrate(q, qd, h)) - contacts.jacobian(mech.integrate(q, qd, -h))
    assert relative(later @ qd / (2 * h), bias) < 1e-8, "central differences: h^2 and eps / h"
    damped, _ = contacts.forward_dynamics(q, qd, tau, damping=3.0)
    errors.append(relative(jac @ damped, -bias - 3.0 * jac @ qd))
    print([f"{error:.1e}" for error in errors])
    assert max(errors) < ROUNDING


@pytest.mark.parametrize("kind", ["normal", "point", "frame"])
@pytest.mark.parametrize("name", NAMES[1:])
def test_a_link_that_slides_on_another(name: str, kind: str) -> None:
    """The bias is dJ/dt qd also where the two links move against each other, in a batch too."""
    mech = variant(name)
    q, qd, _ = random_state(mech, 1, (2,))
    first, second = mech.link_names[-1], mech.link_names[len(mech.links) // 2 - 1]
    contacts = Contacts(mech, [Contact("slide", first, (0.1, -0.2, 0.3), kind, normal=(0.2, 0.3, 1.0), to=second)])
    h = 1e-5
    later = contacts.jacobian(mech.integrate(q, qd, h)) - contacts.jacobian(mech.integrate(q, qd, -h))
    error = relative(np.einsum("...ij,...j->...i", later, qd) / (2 * h), contacts.bias(q, qd))
    print(error)
    assert error < 1e-6, "central differences: h^2 and eps / h; without the turning of the second link: 0.05 to 5"


def test_a_foot_on_four_points_moves_as_a_foot_that_is_held() -> None:
    """Twelve equations, of which six are independent: the same accelerations, the same wrench, the least forces."""
    mech = quadruped()
    q, qd, tau = random_state(mech, 3)
    tau[:6] = 0.0
    corners = [(0.1, 0.05, -0.2), (0.1, -0.05, -0.2), (-0.1, 0.05, -0.2), (-0.1, -0.05, -0.2)]
    many = Contacts(mech, [Contact(f"c{k}", "trunk", point) for k, point in enumerate(corners)])
    one = Contacts(mech, [Contact("sole", "trunk", (0, 0, -0.2), "frame")])
    qd, _ = one.impact(q, qd)  # (of a foot that stands)
    (qdd, forces), (wanted, wrench) = many.forward_dynamics(q, qd, tau), one.forward_dynamics(q, qd, tau)
    pressed = forces.reshape(4, 3)
    sole = mech.forward_kinematics(q, link="trunk")
    arms = np.array(corners) @ sole[:3, :3].T - sole[:3, :3] @ [0.0, 0.0, -0.2]
    total = np.concatenate([pressed.sum(axis=0), np.cross(arms, pressed).sum(axis=0)])
    table = np.concatenate([np.concatenate([np.eye(3), np.cross(arm, np.eye(3)).T]) for arm in arms], axis=1)
    errors = relative(qdd, wanted), relative(total, wrench), relative(forces, np.linalg.pinv(table) @ wrench)
    print(errors)
    assert max(errors) < ROUNDING


def test_points_that_contradict_each_other_have_no_answer() -> None:
    """The corners of a sole that turns in the air are not held: their accelerations are not those of one body."""
    mech = quadruped()
    q, qd, tau = random_state(mech, 3, (2,))
    corners = Contacts(mech, [Contact(f"c{k}", "trunk", (0.1 * (k % 2), 0.1 * (k // 2), 0.05 * k * k)) for k in range(4)])
    qd[1] = corners.impact(q[1], qd[1])[0]
    qdd, forces = corners.forward_dynamics(q, qd, tau)
    assert np.isnan(qdd[0]).all()
    assert np.isnan(forces[0]).all()
    assert np.isfinite(qdd[1]).all()


def test_contacts_between_links() -> None:
    """Two arms joined at their tips accelerate as the four-bar linkage that they are."""
    bars = robots.four_bar()
    loop = bars.loops[0]
    tree = bars.replace(loops=())
    contact = Contact("pin", loop.first, loop.first_frame[:3, 3], to=loop.second)
    linkage = bars.linkage()
    q = linkage.position([0.7]).q
    qd = linkage.velocity(q, [1.3])
    tau = np.array([0.3, -0.2, 0.1])
    qdd, _ = Contacts(tree, [contact]).forward_dynamics(q, qd, tau)
    error = relative(qdd, bars.forward_dynamics(q, qd, tau))
    print(error)
    assert error < ROUNDING


def test_forces_are_shared_and_give_the_motion_back() -> None:
    mech = quadruped()
    contacts = Contacts(mech, feet())
    q = standing(mech)
    rest = np.zeros(mech.nv)
    tau, forces = contacts.inverse_dynamics(q, rest, rest)
    weight = 12.0 * np.linalg.norm(mech.gravity)
    assert np.abs(forces.reshape(4, 3).sum(axis=0) - weight * UP).max() < 1e-10 * weight
    assert not tau[:6].any()
    qdd, again = contacts.forward_dynamics(q, rest, tau)
    print(np.abs(qdd).max(), relative(again, forces))
    assert np.abs(qdd).max() < 1e-9
    lifted, shared = contacts.inverse_dynamics(q, rest, rest, active=["foot0", "foot3", "foot1"])
    assert set(contacts.by_name(shared, ["foot0", "foot3", "foot1"])) == {"foot0", "foot3", "foot1"}
    assert np.abs(contacts.forward_dynamics(q, rest, lifted, ["foot0", "foot3", "foot1"])[0]).max() < 1e-9
    with pytest.raises(LinkwiseError, match="'foot0'"):
        contacts.inverse_dynamics(q, rest, rest, active=["foot0"])


def test_a_free_body_is_held_by_contacts_too() -> None:
    """A ball beside an arm lies on three points of the ground: it has no efforts, and they carry its weight."""
    arm, ball = robots.planar_2r(), Link(name="ball", joint="floating", parent="base", mass=2.0, inertia=np.eye(3) * 0.01)
    mech = arm.replace(links=[*arm.links, ball])
    points = [(0.1, 0.0, 0.0), (-0.1, 0.1, 0.0), (-0.1, -0.1, 0.0)]
    contacts = Contacts(mech, [Contact(f"p{k}", "ball", point) for k, point in enumerate(points)])
    q, rest = np.asarray(mech.neutral), np.zeros(mech.nv)
    tau, forces = contacts.inverse_dynamics(q, rest, rest)
    free = next(at for at in mech.manifold_joints)
    assert not tau[free.v].any()
    assert np.abs(forces.reshape(3, 3).sum(axis=0) + 2.0 * np.asarray(mech.gravity)).max() < 1e-12
    assert relative(np.delete(tau, range(mech.nv)[free.v]), arm.gravity_torque(np.zeros(2))) < 1e-14


@pytest.mark.parametrize("lean", [0.0, 0.2])
def test_forces_in_friction_cones(lean: float) -> None:
    """On a slope the least forces may leave a cone: those of the quadratic program do not, and hold the body as well."""
    pytest.importorskip("daqp")
    mech = quadruped()
    slope = rotation_about((1, 0, 0), lean) @ UP
    contacts = Contacts(mech, feet(0.25, normal=slope))
    q, rest = standing(mech, lean), np.zeros(mech.nv)
    tau, forces = contacts.inverse_dynamics(q, rest, rest, cones=True)
    pressed = forces.reshape(4, 3)
    along = pressed @ slope
    across = np.linalg.norm(pressed - np.outer(along, slope), axis=1)
    assert (across <= 0.25 * along * (1 + 1e-9)).all()
    assert np.abs(contacts.forward_dynamics(q, rest, tau)[0]).max() < 1e-8
    least = contacts.inverse_dynamics(q, rest, rest)[1]
    assert np.linalg.norm(forces) >= np.linalg.norm(least) * (1 - 1e-12)
    with pytest.raises(LinkwiseError, match="friction cones"):
        Contacts(mech, feet(0.1, normal=rotation_about((1, 0, 0), 0.3) @ UP)).inverse_dynamics(q, rest, rest, cones=True)
    clinging = Contacts(mech, feet(np.inf, normal=slope)).inverse_dynamics(q, rest, rest, cones=True)[1]
    assert relative(clinging, least) < 1e-8  # (to the tolerance of the quadratic program)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("restitution", [0.0, 0.4, 1.0])
def test_impacts(name: str, restitution: float) -> None:
    """Momentum changes by the impulses alone; a smooth elastic impact keeps the energy."""
    mech = variant(name)
    q, qd, _ = random_state(mech, 4)
    contacts = Contacts(mech, [Contact("tip", mech.link_names[-1], (0.1, 0.2, 0.0), "normal", normal=(0.1, 0.4, 1.0))])
    after, impulses = contacts.impact(q, qd, restitution=restitution)
    jac, mass = contacts.jacobian(q), mech.mass_matrix(q)
    errors = [relative(mass @ (after - qd), jac.T @ impulses), float(np.abs(jac @ (after + restitution * qd)).max())]
    lost = 0.5 * qd @ mass @ qd - 0.5 * after @ mass @ after
    wanted = 0.5 * (1 - restitution**2) * (jac @ qd) @ np.linalg.solve(contacts.delassus(q), jac @ qd)
    errors.append(abs(lost - wanted) / (0.5 * qd @ mass @ qd))
    print([f"{error:.1e}" for error in errors])
    assert max(errors) < ROUNDING


def test_a_point_sticks_and_leaves_along_its_normal() -> None:
    mech = quadruped()
    q, qd, _ = random_state(mech, 5)
    contacts = Contacts(mech, feet()[:2])
    after, _ = contacts.impact(q, qd, restitution=0.3)
    before, left = (contacts.jacobian(q) @ rates for rates in (qd, after))
    wanted = np.concatenate([-0.3 * (part @ UP) * UP for part in np.split(before, 2)])
    assert np.abs(left - wanted).max() < 1e-12


DERIVATIVES = 1e-7
"""Of Richardson's differences: their rounding, times the condition; seen: 2e-8 on six joints, of which a point takes three,
and else 2e-11."""


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("joints 0", "normal"),
        ("joints 3", "point"),
        *((name, kind) for name in NAMES[2:] for kind in ("point", "normal", "frame")),
        ("quadruped", "point"),
        *(("grip", kind) for kind in ("point", "normal", "frame")),
    ],
)
def test_derivatives_are_those_of_differences(name: str, kind: str) -> None:
    """Richardson's differences of accelerations and forces, with the tip and a second link held; or links to each other."""
    legs = {"quadruped": 4, "grip": 2}.get(name)
    mech = quadruped(legs) if legs else variant(name).without_friction()
    points = feet()[:2] if name == "quadruped" else on_tip(mech, kind)
    if name == "grip":  # (the law of the matrices holds where the links are apart too)
        load = Link(name="load", joint="floating", mass=0.7, com=(0.1, 0, 0.05), inertia=np.diag([0.02, 0.03, 0.04]))
        mech = mech.replace(links=[*mech.links, load])
        grip = Contact("grip", "shank0", (0.0, 0.1, -0.2), kind, (0.2, 0.3, 1.0), to="load")
        points = [grip, Contact("lean", "thigh1", (0.1, 0, 0), "normal", to="shank0"), feet()[1]]
    held = Contacts(mech, points)
    q, qd, tau = random_state(mech, 5)
    exact = held.forward_dynamics_derivatives(q, qd, tau, damping=3.0)
    integrate = mech.kernel("integrate")

    def at(step: np.ndarray, speed: np.ndarray, effort: np.ndarray) -> np.ndarray:
        moved = held.forward_dynamics(integrate(q, step, 1.0), qd + speed, tau + effort, damping=3.0)
        return np.concatenate(moved, axis=-1)

    still = np.zeros((4 * mech.nv, mech.nv))
    ways = {"dq": lambda x: at(x, still, still), "dqd": lambda x: at(still, x, still), "dtau": lambda x: at(still, still, x)}
    for by, function in ways.items():
        wanted = columns_at_once(function, mech.nv)
        for of, rows in (("dqdd", slice(mech.nv)), ("df", slice(mech.nv, None))):
            error = relative(getattr(exact, f"{of}_{by}"), wanted[rows])
            print(f"{of}_{by}: {error:.1e}")
            assert error < DERIVATIVES
    batch = held.forward_dynamics_derivatives(*(np.stack([x, x]) for x in (q, qd, tau)), damping=3.0)
    assert all(relative(table[1], vars(exact)[field]) < ROUNDING for field, table in vars(batch).items())


def test_derivatives_of_forces_that_are_shared() -> None:
    """A foot on four points: the least forces change with the foot's orientation too."""
    mech = quadruped(1)
    points = [(x, y, -0.2) for x in (0.1, -0.1) for y in (0.1, -0.1)]
    held = Contacts(mech, [Contact(f"p{k}", "shank0", point) for k, point in enumerate(points)])
    q, qd, tau = random_state(mech, 5)
    qd = held.impact(q, qd)[0]
    exact = held.forward_dynamics_derivatives(q, qd, tau)

    def at(step: np.ndarray) -> np.ndarray:
        still = np.zeros(step.shape)
        return np.concatenate(
            held.forward_dynamics(mech.kernel("integrate")(q, step, 1.0), qd + still, tau + still), axis=-1
        )

    wanted = columns_at_once(at, mech.nv)
    assert relative(exact.dqdd_dq, wanted[: mech.nv]) < DERIVATIVES
    assert relative(exact.df_dq, wanted[mech.nv :]) < DERIVATIVES


def test_no_derivative_where_equations_only_just_agree() -> None:
    """An arm that is stretched to the point where it is held: any bend contradicts."""
    arm = robots.planar_2r()
    held = Contacts(arm, [Contact("tip", "link2", (0.1, 0.0, 0.0))])
    state = [0.3, 0.0], [0.0, 0.0], [1.0, 2.0]
    exact = held.forward_dynamics_derivatives(*state)
    assert np.isfinite(held.forward_dynamics(*state)[0]).all()
    assert np.isnan(exact.df_dq).any()
    assert np.isfinite(exact.df_dtau).all()


def test_efforts_accelerate_by_the_projected_inverse_of_the_mass_matrix() -> None:
    mech = variant("joints 3").without_friction()
    tip = mech.links[-1].name
    held = Contacts(mech, [Contact("tip", tip)])
    q, qd, tau = random_state(mech, 2)
    exact = held.forward_dynamics_derivatives(q, qd, tau)
    residual = held.jacobian(q) @ exact.dqdd_dtau
    assert np.abs(residual).max() < 1e-9 * np.abs(exact.dqdd_dtau).max()  # what is held is not accelerated by efforts
    assert np.abs(exact.dqdd_dtau - exact.dqdd_dtau.T).max() < 1e-9 * np.abs(exact.dqdd_dtau).max()  # projected inverse mass


@pytest.mark.parametrize("kind", ["normal", "point", "frame"])
@pytest.mark.parametrize("to", ["trunk", "thigh1", "shank1"])
def test_contacts_between_links_do_no_work(kind: str, to: str) -> None:
    """Changes of efforts make changes of forces whose power along the motion that they leave is zero, and J dqdd = 0."""
    mech = quadruped()
    held = Contacts(mech, [Contact("grip", "shank0", (0.0, 0.1, -0.2), kind, (0.2, 0.3, 1.0), to=to)])
    q, qd, tau = random_state(mech, 7)
    exact = held.forward_dynamics_derivatives(q, qd, tau)
    jac, mass = held.jacobian(q), mech.mass_matrix(q)
    residuals = [
        relative(mass @ exact.dqdd_dtau - jac.T @ exact.df_dtau, np.eye(mech.nv)),
        float(np.abs(jac @ exact.dqdd_dtau).max()),
    ]
    print(residuals)
    assert max(residuals) < ROUNDING


def test_batches_are_loops_over_their_rows() -> None:
    mech = quadruped()
    contacts = Contacts(mech, feet()[:3])
    q, qd, tau = random_state(mech, 6, (2, 3))
    results = [
        contacts.forward_dynamics(q, qd, tau),
        contacts.impact(q, qd, ["foot1"], 0.5),
        contacts.inverse_dynamics(q, qd, tau),
    ]
    for k in np.ndindex(2, 3):
        alone = [
            contacts.forward_dynamics(q[k], qd[k], tau[k]),
            contacts.impact(q[k], qd[k], ["foot1"], 0.5),
            contacts.inverse_dynamics(q[k], qd[k], tau[k]),
        ]
        for rows, single in zip(results, alone, strict=True):
            assert max(relative(row[k], other) for row, other in zip(rows, single, strict=True)) < ROUNDING


def test_with_no_contact_on_nothing_is_held() -> None:
    mech = quadruped()
    q, qd, tau = random_state(mech, 7)
    qdd, forces = Contacts(mech, feet()).forward_dynamics(q, qd, tau, active=[])
    assert forces.shape == (0,)
    assert relative(qdd, mech.forward_dynamics(q, qd, tau)) < ROUNDING


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda m: Contact("a", "trunk", (0, 0)), "contact 'a': point"),
        (lambda m: Contact("a", "trunk", kind="plane"), "'plane'.*'normal', 'point' or 'frame'"),
        (lambda m: Contact("a", "trunk", normal=(0, 0, 0)), "normal is"),
        (lambda m: Contact("a", "trunk", friction=-1.0), "friction is -1.0"),
        (lambda m: Contacts(m, [Contact("a", "trunk")] * 2), "contact 'a' occurs 2 times"),
        (lambda m: Contacts(m, [Contact("a", "tail")]), "no link 'tail'"),
        (lambda m: Contacts(m, [Contact("a", "trunk", to="tail")]), "no link 'tail'"),
        (lambda m: Contacts(m, [Contact("a", "trunk", to="trunk")]), "to is 'trunk'; expected another link"),
        (lambda m: Contacts(m, feet()).delassus([np.nan] * m.nq), "q is nan at"),
        (lambda m: Contacts(m, feet()).impact(m.neutral, [np.inf] * m.nv), "qd is inf at"),
        (lambda m: Contacts(m, feet()).forward_dynamics(m.neutral, [0.0] * m.nv, [0.0]), "tau is|tau has"),
        (lambda m: Contacts(m, feet()).jacobian(m.neutral, ["toe"]), "no contact 'toe'.*'foot0'"),
        (lambda m: Contacts(m, feet()).jacobian(m.neutral, "foot0"), "active is 'foot0'"),
        (lambda m: Contacts(m, feet()).jacobian(m.neutral, ["foot0", "foot0"]), "expected each contact once"),
        (lambda m: Contacts(m, feet()).by_name([1.0, 2.0]), "forces has the shape"),
        (lambda m: Contacts(m, feet()).after(m.neutral, [0.0] * m.nv, [1.0]), "impulses has the shape"),
        (lambda m: Contacts(m, feet()).impact([m.neutral] * 2, np.zeros((3, m.nv))), r"impact: .* q \(2,\), qd \(3,\)"),
        (lambda m: Contacts(m, ["foot0"]), "contacts has 'foot0'; expected Contacts"),
        (lambda m: Contacts(m, feet()).impact(m.neutral, [0.0] * m.nv, restitution=1.5), "restitution is 1.5"),
        (lambda m: Contacts(m, feet()).forward_dynamics(m.neutral, *[[0.0] * m.nv] * 2, damping=-1.0), "damping is -1.0"),
        (lambda m: Contacts(m, [Contact("a", "trunk")]).inverse_dynamics(*rest(m), cones=True), "'a' has no friction"),
        (lambda m: Contacts(m, feet(kind="frame")).inverse_dynamics(*rest(m), cones=True), "'foot0' is a frame"),
    ],
)
def test_mistakes_are_named(make: Any, expected: str) -> None:
    with pytest.raises(ArgumentError, match=expected):
        make(quadruped())


def rest(mech: Mechanism) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return np.asarray(mech.neutral), np.zeros(mech.nv), np.zeros(mech.nv)
