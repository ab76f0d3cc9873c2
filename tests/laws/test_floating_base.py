"""A floating base: the same mechanism on joints that leave it free, and pinned down it is the fixed one."""

from __future__ import annotations

import numpy as np
import pytest

from linkwise import Link, Mechanism
from linkwise.spatial.quaternion import quaternion_rotation
from support.random_mechanisms import FLOATING, direct, random_rotation, random_state, relative, variant

at_each = pytest.mark.parametrize("name", FLOATING)
BOUND = 5e-14
"""Rounding; seen: 5e-15."""


def on_the_ground(mech: Mechanism) -> Mechanism:
    """The same links on a fixed base."""
    return mech.replace(floating=False)


@at_each
def test_held_still_it_is_the_fixed_mechanism(name: str) -> None:
    """With the base at the origin and at rest: joint efforts and M are those of the fixed one, and the force and moment
    on the base are the joint actions between it and what stands on it."""
    mech = variant(name).replace(base=np.eye(4))
    fixed = on_the_ground(mech)
    _, qd, qdd = random_state(fixed, 1)
    joints = np.random.default_rng(2).uniform(-2, 2, mech.n)
    q = np.concatenate([[0, 0, 0, 1, 0, 0, 0], joints])
    tau = direct(mech, "inverse_dynamics", q, np.append(np.zeros(6), qd), np.append(np.zeros(6), qdd))
    mass = direct(mech, "mass_matrix", q)
    actions = direct(fixed, "joint_wrenches", joints, qd, qdd)
    given = np.sum([actions[k] for k, parent in enumerate(mech.parents) if parent < 0], axis=0)
    for drive in mech.drives:  # `joint_wrenches` has the links' actions; the base's own rotors load the base
        if drive.carrier == -1:
            motor, axis = drive.motor, np.asarray(drive.motor.axis)
            weight = -motor.mass * mech.gravity
            spin = motor.gear_ratio * motor.inertia * qdd[drive.coordinate] * axis
            given = given + np.concatenate([weight, np.cross(motor.com, weight) + spin])
    errors = {
        "efforts": relative(tau[6:], direct(fixed, "inverse_dynamics", joints, qd, qdd)),
        "M": relative(mass[6:, 6:], direct(fixed, "mass_matrix", joints)),
        "base": relative(tau[:6], given),
        "joint actions": relative(
            direct(mech, "joint_wrenches", q, np.append(np.zeros(6), qd), np.append(np.zeros(6), qdd)), actions
        ),
        "poses": relative(direct(mech, "link_poses", q), direct(fixed, "link_poses", joints)),
    }
    coriolis = direct(mech, "coriolis_matrix", q, np.append(np.zeros(6), qd))
    errors["C"] = relative(coriolis[6:, 6:], direct(fixed, "coriolis_matrix", joints, qd))
    print(errors)
    assert max(errors.values()) <= BOUND


AXES = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1)}


def carried_by_joints(mech: Mechanism) -> Mechanism:
    """The floating mechanism at the end of three prismatic and three revolute joints without mass, about z, y and x."""
    chain = [Link(joint="prismatic", axis=axis, name=f"slide_{name}") for name, axis in AXES.items()]
    chain += [Link(axis=AXES[name], name=f"turn_{name}") for name in "zyx"]
    first, *rest = chain
    made = [first.replace(parent="base"), *(link.replace(parent=chain[k].name) for k, link in enumerate(rest))]
    on = chain[-1].name
    links = [link.replace(parent=on) if mech.parents[k] < 0 else link for k, link in enumerate(mech.links)]
    motors = [motor.replace(carrier=on) if motor.carrier == "base" else motor for motor in mech.motors]
    return mech.replace(links=[*made, *links], motors=motors, floating=False)


def quaternion(rotation: np.ndarray) -> np.ndarray:
    """Of a rotation by less than pi."""
    w = 0.5 * np.sqrt(1 + np.trace(rotation))
    axial = [rotation[2, 1] - rotation[1, 2], rotation[0, 2] - rotation[2, 0], rotation[1, 0] - rotation[0, 1]]
    return np.array([w, *(np.array(axial) / (4 * w))])


@at_each
def test_six_joints_without_mass_are_a_floating_base(name: str) -> None:
    """Twist = J rates with J (6, 6) the Jacobian of the last of the six joints, in its own axes; so M_joints = J' M J,
    tau_joints = J' tau, and accelerations follow with dJ/dt."""
    mech = variant(name)
    chain = carried_by_joints(mech)
    q, qd, qdd = random_state(chain, 3)
    q[3:6] *= 0.3  # away from where the three axes lie in a plane
    jacobian = direct(chain, "jacobian", q, link=5, frame="body")[:, :6]
    change = direct(chain, "jacobian_dot", q, qd, link=5, frame="body")[:, :6]
    pose = np.linalg.inv(mech.base) @ direct(chain, "link_poses", q)[5]
    there = np.concatenate([pose[:3, 3], quaternion(pose[:3, :3]), q[6:]])
    assert np.abs(quaternion_rotation(there[3:7]).astype(float) - pose[:3, :3]).max() <= 1e-15

    tie = np.eye(mech.nv)
    tie[:6, :6] = jacobian
    speeds = tie @ qd
    # qdd of the base is the derivative of its speeds in its own axes, so of J rates with J in those axes.
    rises = tie @ qdd + np.concatenate([change @ qd[:6], np.zeros(mech.n)])
    errors = {
        "M": relative(direct(chain, "mass_matrix", q), tie.T @ direct(mech, "mass_matrix", there) @ tie),
        "efforts": relative(
            direct(chain, "inverse_dynamics", q, qd, qdd), tie.T @ direct(mech, "inverse_dynamics", there, speeds, rises)
        ),
        "poses": relative(direct(chain, "link_poses", q)[6:], direct(mech, "link_poses", there)),
        "actions": relative(
            direct(chain, "joint_wrenches", q, qd, qdd)[6:], direct(mech, "joint_wrenches", there, speeds, rises)
        ),
        "Jacobian": relative(direct(chain, "jacobian", q), direct(mech, "jacobian", there) @ tie),
        "motion": relative(direct(chain, "motion", q, qd, qdd)[2][6:], direct(mech, "motion", there, speeds, rises)[2]),
        "momentum": relative(direct(chain, "momentum", q, qd), direct(mech, "momentum", there, speeds)),
        "energy": relative(direct(chain, "kinetic_energy", q, qd), direct(mech, "kinetic_energy", there, speeds)),
        "height": relative(direct(chain, "potential_energy", q), direct(mech, "potential_energy", there)),
        "operational space": relative(
            direct(chain, "inverse_operational_space_inertia", q), direct(mech, "inverse_operational_space_inertia", there)
        )
        / np.linalg.cond(direct(chain, "mass_matrix", q)),
    }
    print(errors)
    assert max(errors.values()) <= BOUND
    dot = relative(
        direct(chain, "jacobian_dot", q, qd) @ qd + direct(chain, "jacobian", q) @ qdd,
        direct(mech, "jacobian_dot", there, speeds) @ speeds + direct(mech, "jacobian", there) @ rises,
    )
    print(f"{dot:.1e}")
    assert dot <= BOUND


@at_each
def test_the_length_of_the_quaternion_does_not_matter(name: str) -> None:
    """Nor its sign: every algorithm takes the rotation that it stands for."""
    mech = variant(name)
    q, qd, qdd = random_state(mech, 4)
    for scale in (2.0, -0.3, -1.0):
        other = q.copy()
        other[3:7] *= scale
        errors = [
            relative(direct(mech, "inverse_dynamics", other, qd, qdd), direct(mech, "inverse_dynamics", q, qd, qdd)),
            relative(direct(mech, "mass_matrix", other), direct(mech, "mass_matrix", q)),
            relative(direct(mech, "link_poses", other), direct(mech, "link_poses", q)),
        ]
        print(errors)
        assert max(errors) <= 1e-14


@at_each
def test_where_the_base_stands_changes_nothing_but_the_view(name: str) -> None:
    """Turning the world under it, gravity too: M, efforts and accelerations are those of before."""
    mech = variant(name)
    q, qd, qdd = random_state(mech, 5)
    turn = np.eye(4)
    turn[:3, :3], turn[:3, 3] = random_rotation(np.random.default_rng(6)), [0.3, -2.0, 1.0]
    other = mech.replace(base=turn @ mech.base, gravity=turn[:3, :3] @ mech.gravity)
    errors = [
        relative(direct(other, "inverse_dynamics", q, qd, qdd), direct(mech, "inverse_dynamics", q, qd, qdd)),
        relative(direct(other, "mass_matrix", q), direct(mech, "mass_matrix", q)),
        relative(direct(other, "momentum", q, qd)[:3], turn[:3, :3] @ direct(mech, "momentum", q, qd)[:3]),
    ]
    print(errors)
    assert max(errors) <= BOUND


def test_a_thrown_body_falls_and_spins_as_euler_says() -> None:
    """One rigid body: acceleration of its centre g, and I dw/dt = -w x I w."""
    tensor = np.diag([0.3, 0.5, 0.7])
    body = Mechanism([Link(joint="fixed", mass=2.0, inertia=tensor)], floating=True)
    q = np.array([1.0, 2.0, 3.0, *quaternion(random_rotation(np.random.default_rng(1)))])
    qd = np.array([0.4, -0.3, 0.2, 1.0, -2.0, 0.5])
    rotation = quaternion_rotation(q[3:7]).astype(float)
    found = direct(body, "forward_dynamics", q, qd, np.zeros(6))
    velocity, omega = qd[:3], qd[3:]
    wanted = [
        rotation.T @ body.gravity - np.cross(omega, velocity),
        -np.linalg.solve(tensor, np.cross(omega, tensor @ omega)),
    ]
    assert relative(found, np.concatenate(wanted)) <= 1e-14


def test_teeth() -> None:
    """A quaternion turned by a millionth of a radian is seen."""
    mech = variant("floating 0")
    q, qd, qdd = random_state(mech, 1)
    off = direct(mech, "integrate", q, np.eye(mech.nv)[4] * 1e-6, 1.0)
    assert (
        relative(direct(mech, "inverse_dynamics", off, qd, qdd), direct(mech, "inverse_dynamics", q, qd, qdd)) > 100 * BOUND
    )
