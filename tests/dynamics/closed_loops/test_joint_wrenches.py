"""What joints carry with loops closed, those that were cut too: each link is in balance, and joints take no work."""

from __future__ import annotations

import numpy as np
import pytest

from linkwise import Link, Loop, Mechanism, Wrench, robots
from linkwise.dynamics import closed_joint_wrenches
from linkwise.errors import ArgumentError
from linkwise.loops.loop_solver import closed_samples, closing
from linkwise.spatial.transform import translation
from support.random_linkages import bennett, closed_state, cut, near_zero, parallelogram, random_loop
from support.random_mechanisms import relative

pytestmark = pytest.mark.usefixtures("uncompiled")


def moving(name: str) -> tuple[Mechanism, list[str], list[np.ndarray]]:
    """A mechanism, driven coordinates, and closed states."""
    if name == "bennett":
        mech, q = bennett()
        driven = ["l0"]
    elif name == "floating":
        mech, q = random_loop(41, "point", ["revolute"] * 4, motor=False, floating=True)
        driven = [*mech.velocity_names[:6], mech.names[0]]
    elif name == "spatial":
        mech, q = random_loop(42, "full", ["revolute", "prismatic", "screw", *["revolute"] * 4], motor=False)
        driven = [mech.names[0]]
    else:
        mech = robots.load(name).replace()
        q = near_zero(mech)
        driven = {"five_bar": ["left_crank", "right_crank"]}.get(name, ["crank"])
    qd, tau = closed_state(mech, q, 5)
    at = [mech.velocity_names.index(k) for k in driven]
    tau[[k for k in range(mech.nv) if k not in at]] = 0.0
    qdd = mech.kernel("closed_forward_dynamics", backend="numpy")(q, qd, tau)[0]
    return mech, driven, [q, qd, qdd]


def needed(mech: Mechanism, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
    """Force and moment about the world origin (L, 6) that each link takes, by Newton's and Euler's equations."""
    poses, velocities, accelerations = mech.motion(q, qd, qdd)
    result = np.zeros((len(mech.links), 6))
    for k, link in enumerate(mech.links):
        rotation, com = poses[k][:3, :3], poses[k] @ np.append(link.body.com, 1.0)
        spin, change = ((m[[2, 0, 1], [1, 2, 0]] - m[[1, 2, 0], [2, 0, 1]]) / 2 for m in (velocities[k], accelerations[k]))
        tensor = rotation @ link.body.tensor @ rotation.T
        force = link.body.mass * ((accelerations[k] @ com)[:3] - mech.gravity)
        result[k] = *force, *(tensor @ change + np.cross(spin, tensor @ spin) + np.cross(com[:3], force))
    return result


@pytest.mark.parametrize(
    ("name", "pushed"),
    [
        ("four_bar", False),
        ("five_bar", True),
        ("slider_crank", False),
        ("bennett", True),
        ("spatial", False),
        ("floating", True),
    ],
)
def test_each_link_is_in_balance(name: str, pushed: bool) -> None:
    mech, driven, states = moving(name)
    target = str(mech.link_names[-1])
    push = {target: Wrench((3.0, -2.0, 1.0), (0.1, 0.3, -0.2), (0.0, 0.0, 0.0), "world")} if pushed else None
    wrenches = closed_joint_wrenches(mech, *states, driven, push)
    balance = wrenches.joints.copy()
    for k, parent in enumerate(mech.parents):
        if parent >= 0:
            balance[parent] -= wrenches.joints[k]
    for loop, wrench in zip(mech.loops, wrenches.loops, strict=True):
        for link, sign in ((loop.second, 1.0), (loop.first, -1.0)):
            if link != "base":
                balance[mech.link_index(link)] += sign * wrench
    if pushed:
        balance[mech.link_index(target)] += [3.0, -2.0, 1.0, 0.1, 0.3, -0.2]
    size = np.abs(wrenches.joints).max()
    error = np.abs(balance - needed(mech, *states)).max() / size
    print(name, f"{error:.1e}")
    assert error < 1e-10
    assert np.array_equal(mech.joint_wrenches(*states, push, driven), wrenches.joints)


@pytest.mark.parametrize("name", ["five_bar", "bennett"])
def test_joints_pass_on_their_efforts_alone(name: str) -> None:
    """Along a joint's own freedom: the effort of one that is driven, less what rubs in it, nothing of another."""
    mech, driven, (q, qd, qdd) = moving(name)
    mech = mech.replace(links=[link.replace(motor=None) for link in mech.links])
    tau, wrenches = mech.actuator_efforts(q, qd, qdd, driven), mech.joint_wrenches(q, qd, qdd, driven=driven)
    tree, poses = cut(mech), mech.link_poses(q)

    def twists(k: int) -> np.ndarray:
        """Velocity at the world origin and angular velocity (6, nv) of a link."""
        if k < 0:
            return np.zeros((6, mech.nv))
        jac = tree.jacobian(q, link=k)
        return np.concatenate([jac[:3] + np.cross(poses[k][:3, 3], jac[3:].T).T, jac[3:]])

    apart = [(twists(k) - twists(parent))[:, k] for k, parent in enumerate(mech.parents)]
    along = np.array([twist @ wrench for twist, wrench in zip(apart, wrenches, strict=True)])
    assert relative(along, tau) < 1e-9


def test_it_does_not_matter_where_a_loop_is_cut() -> None:
    """A four-bar cut at either end of its rocker: a joint carries the same where it is in the tree and where it is cut."""
    rows = [{"mass": mass, "com": (0.03, 0.01, 0.0), "inertia": (1e-3, 2e-3, 3e-3)} for mass in (0.2, 0.6, 0.4)]
    crank = Link(name="crank", parent="base", **rows[0])
    coupler = Link(name="coupler", parent="crank", before=translation(0.04), **rows[1])
    at_base = Link(name="rocker", parent="base", before=translation(0.1), **rows[2])
    at_pin = Link(name="rocker", parent="coupler", before=translation(0.12), after=translation(-0.08), **rows[2])
    pin = Loop("hinge", "coupler", "rocker", translation(0.12), translation(0.08))
    pivot = Loop("hinge", "base", "rocker", translation(0.1))
    one, two = (
        Mechanism([crank, coupler, rocker], loops=[loop], gravity=(0.0, -9.81, 0.0), name="bars")
        for rocker, loop in ((at_base, pin), (at_pin, pivot))
    )
    q = closed_samples(closing(one), count=1)[0]
    qd, tau = closed_state(one, q, 2)
    tau[1:] = 0.0
    states = [q, qd, one.kernel("closed_forward_dynamics", backend="numpy")(q, qd, tau)[0]]
    others = [np.array([value[0], value[1], value[2] - value[0] - value[1]]) for value in states]
    first, second = (closed_joint_wrenches(mech, *motion, "crank") for mech, motion in ((one, states), (two, others)))
    errors = [
        relative(first.tau, second.tau),
        relative(first.joints[:2], second.joints[:2]),
        relative(first.loops[0], second.joints[2]),
        relative(first.joints[2], second.loops[0]),
    ]
    print([f"{error:.1e}" for error in errors])
    assert max(errors) < 1e-10


def test_a_parallelogram_in_batches() -> None:
    """Loops and batches of any shape; a motion in its plane takes nothing across it."""
    mech = parallelogram()
    u = np.linspace(0.3, 1.2, 6).reshape(2, 3)
    spread = np.array([1.0, -1.0, 1.0])
    q, qd = u[..., None] * spread, 2.0 * u[..., None] * spread
    wrenches = closed_joint_wrenches(mech, q, qd, 0.5 * q, "crank")
    assert wrenches.joints.shape == (2, 3, 3, 6)
    assert wrenches.loops.shape == (2, 3, 1, 6)
    alone = closed_joint_wrenches(mech, q[1, 2], qd[1, 2], 0.5 * q[1, 2], "crank")
    assert relative(wrenches.joints[1, 2], alone.joints) < 1e-13
    for call, message in [
        (lambda: mech.joint_wrenches(q + 0.1, qd, q, driven="crank"), "are open at q"),
        (lambda: mech.joint_wrenches(q, qd + np.eye(3)[0], q, driven="crank"), "opens loops"),
        (lambda: mech.joint_wrenches(q, qd, 0.5 * q), "driven is missing"),
        (lambda: robots.planar_2r().joint_wrenches([0, 0], [0, 0], [0, 0], driven=0), "'planar_2r' has no loops"),
        (lambda: mech.kernel("joint_wrenches"), "the method joint_wrenches of Mechanism takes"),
    ]:
        with pytest.raises(ArgumentError, match=message):
            call()
