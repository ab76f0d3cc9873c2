"""Every kind of joint: its motion subspace is the derivative of its placement; a kind of a user's own computes alike."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from linkwise import Link, Mechanism, Motor, symbols
from linkwise.errors import ArgumentError, FileError, ModelError
from linkwise.files import save
from linkwise.inverse_kinematics import NoClosedFormError
from linkwise.kernel.sources import is_own
from linkwise.model.joints import (
    JOINTS,
    Ball,
    Curvilinear,
    Cylindrical,
    Fixed,
    Floating,
    Joint,
    Planar,
    PolynomialSlide,
    Prismatic,
    Revolute,
    Screw,
    Universal,
)
from linkwise.model.joints.joint import joint
from linkwise.spatial.rotation import rotation_about, rotation_z
from linkwise.spatial.scalar import Array, cos_sin
from linkwise.spatial.transform import inverse, transform
from support.random_mechanisms import Interpreted, direct

STEP = 1e-6
"""Of central differences: their error is some 1e-10 here."""

CLOSE = 1e-8
EXACT = 1e-11
"""Times the size of the result: rounding of some hundred operations."""

AXES = ((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.48, -0.6, 0.64))


@joint
@dataclass(frozen=True, eq=False)
class Cam(Joint):
    """A follower on a cam: it tilts by q, turns by sin q, and is lifted along a curve, so that S depends on q."""

    kind: ClassVar[str] = "cam"
    letter: ClassVar[str] = "C"
    lift: Any

    def placement(self, q: Array) -> Array:
        c, s = cos_sin(q[0])
        tilted = transform(rotation_about([0.6, 0.0, 0.8], q[0]), [self.lift * c, 0.1 * q[0] * q[0], 0.0])
        return np.asarray(tilted @ transform(rotation_z(s), [0.0, 0.2, self.lift * s]))


def teardown_module() -> None:
    del JOINTS["cam"]


def joints() -> list[Joint]:
    some: list[Joint] = [Fixed(), Floating(), Cam(0.3)]
    for axis in map(np.array, AXES):
        some += [Revolute(axis), Prismatic(axis), Screw(axis, -0.25), Cylindrical(axis), Planar(axis), Ball(axis)]
    path = np.array([0.5, 0.25 * np.pi, 0.5, 0.25 * np.pi]), np.array([0.0, 4.0, 0.0, 4.0])
    some += [
        PolynomialSlide(np.array(AXES[2]), np.array([0.3, -0.2, 0.1])),
        PolynomialSlide(np.array(AXES[0]), np.array([2.0])),
    ]
    some += [Curvilinear(*path), Curvilinear(*path, repeats=True), Curvilinear([2.0], [-0.7])]
    return [*some, Universal(np.array(AXES[:2])), Universal(np.array(AXES[1:]))]


def coordinates(kind: Joint, rng: np.random.Generator) -> np.ndarray:
    q = rng.uniform(-1.5, 1.5, kind.nq)
    if kind.quaternion is not None:
        q[kind.quaternion] /= np.linalg.norm(q[kind.quaternion])
    return q


def vee(matrix: np.ndarray) -> np.ndarray:
    return np.array([matrix[0, 3], matrix[1, 3], matrix[2, 3], matrix[2, 1], matrix[0, 2], matrix[1, 0]])


def test_every_registered_kind_is_looked_at() -> None:
    assert {type(some) for some in joints()} - {Cam} == {kind for kind in JOINTS.values() if is_own(kind)}


@pytest.mark.parametrize("some", joints(), ids=repr)
def test_the_subspace_is_the_derivative_of_the_placement(some: Joint) -> None:
    rng = np.random.default_rng(1)
    for _ in range(3):
        q = coordinates(some, rng)
        placed = np.asarray(some.placement(q), dtype=float)
        columns = np.asarray(some.subspace(q), dtype=float)
        assert columns.shape == (6, some.nv)
        for k, unit in enumerate(np.eye(some.nv)):
            ends = [np.asarray(some.placement(some.integrate(q, sign * STEP * unit)), dtype=float) for sign in (1, -1)]
            assert np.abs(vee(inverse(placed) @ (ends[0] - ends[1]) / (2 * STEP)) - columns[:, k]).max(initial=0) < CLOSE


@pytest.mark.parametrize("some", joints(), ids=repr)
def test_rates_follow_from_the_velocities(some: Joint) -> None:
    """dq/dt, dS/dt, and the way from one configuration to another, by differences along a motion."""
    rng = np.random.default_rng(2)
    q, qd = coordinates(some, rng), rng.uniform(-1.0, 1.0, some.nv)
    ahead, behind = (np.asarray(some.integrate(q, sign * STEP * qd), dtype=float) for sign in (1, -1))
    assert np.abs((ahead - behind) / (2 * STEP) - np.asarray(some.q_dot(q, qd), dtype=float)).max(initial=0) < CLOSE
    change = (np.asarray(some.subspace(ahead), dtype=float) - np.asarray(some.subspace(behind), dtype=float)) / (2 * STEP)
    assert np.abs(change - np.asarray(some.subspace_rate(q, qd), dtype=float)).max(initial=0) < CLOSE
    there = np.asarray(some.integrate(q, 0.3 * qd), dtype=float)
    assert np.abs(some.difference(q, there) - 0.3 * qd).max(initial=0) < EXACT


@pytest.mark.parametrize("some", joints(), ids=repr)
def test_joints_compare_and_pickle_by_their_numbers(some: Joint) -> None:
    again = pickle.loads(pickle.dumps(some))
    assert again == some
    assert hash(again) == hash(some)
    assert some != (Revolute(np.array([0.0, 1.0, 0.0])))
    assert len(some.numbers) == len(fields(some))


def mechanism(*, floating: bool = False, lift: Any = 0.3) -> Mechanism:
    """A tree with two cams, one of them before a revolute joint, a branch, and a screw between."""
    body: dict[str, Any] = {"mass": 1.5, "com": (0.1, -0.2, 0.3), "inertia": (0.5, 0.6, 0.4, 0.02, -0.03, 0.01)}
    A = transform(rotation_about([0.0, 0.6, 0.8], 0.7), [0.2, 0.1, -0.3])
    links = [
        Link(joint="revolute", axis=(0.48, -0.6, 0.64), before=A, motor=Motor(inertia=1e-3, gear_ratio=30.0), **body),
        Link(joint=Cam(lift), before=A, after=A, offset=0.2, motor=Motor(inertia=2e-3, gear_ratio=5.0, viscous=0.1), **body),
        Link(joint="prismatic", axis=(1, 0, 0), before=A, **body),
        Link(joint=Cam(0.1), before=A, parent="link2", **body),
        Link(joint="screw", pitch=0.1, **body),
        Link(joint="revolute", before=A, after=A, **body),
    ]
    return Interpreted(links, tool=A, floating=floating)


def state(mech: Mechanism) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(3)
    q = rng.uniform(-1.0, 1.0, mech.nq)
    if mech.floating:
        q[3:7] /= np.linalg.norm(q[3:7])
    return q, rng.uniform(-1.0, 1.0, mech.nv), rng.uniform(-1.0, 1.0, mech.nv)


def near(found: Any, wanted: Any, bound: float = EXACT) -> bool:
    return bool(np.abs(np.asarray(found) - wanted).max() <= bound * max(1.0, np.abs(wanted).max()))


@pytest.mark.parametrize("floating", [False, True])
def test_a_cam_has_the_efforts_that_its_energies_give(floating: bool) -> None:
    mech = mechanism(floating=floating)
    q, qd, qdd = state(mech)
    tau = direct(mech, "inverse_dynamics", q, qd, qdd)
    assert near(tau, direct(mech, "lagrange_dynamics", q, qd, qdd))
    M = direct(mech, "mass_matrix", q)
    assert near(M @ qdd + direct(mech, "bias_torque", q, qd) + direct(mech, "friction_torque", qd), tau)
    assert near(0.5 * qd @ M @ qd, direct(mech, "kinetic_energy", q, qd))
    assert near(direct(mech, "forward_dynamics", q, qd, tau), qdd, 1e-9)
    assert near(direct(mech, "regressor", q, qd, qdd) @ mech.parameters, tau)


@pytest.mark.parametrize("floating", [False, True])
def test_long_way_round_for_a_cam(floating: bool) -> None:
    """Both recursions for the acceleration, whichever is the shorter on this mechanism."""
    from linkwise.dynamics.forward_dynamics import articulated_acceleration
    from linkwise.dynamics.recursions import friction
    from linkwise.model.body import moving_bodies

    mech = mechanism(floating=floating)
    q, qd, qdd = state(mech)
    tau = mech.inverse_dynamics(q, qd, qdd)
    given = [np.asarray(x, dtype=object) for x in (q, qd, tau)]
    left = given[2] - friction(mech, given[1])
    found = articulated_acceleration(mech, moving_bodies(mech).regrouped(), given[0], given[1], left)
    assert near(np.asarray(found, dtype=float), qdd, 1e-9)


@pytest.mark.parametrize("link", ["tool", 1, 3])
@pytest.mark.parametrize("floating", [False, True])
def test_velocities_of_a_cam_are_derivatives_of_poses(floating: bool, link: int | str) -> None:
    mech = mechanism(floating=floating)
    q, qd, qdd = state(mech)
    J, Jd = mech.jacobian(q, link), mech.jacobian_dot(q, qd, link)
    ends = [mech.integrate(q, sign * STEP * qd) for sign in (1, -1)]
    T, (ahead, behind) = mech.forward_kinematics(q, link), [mech.forward_kinematics(end, link) for end in ends]
    spin = (ahead - behind)[:3, :3] @ T[:3, :3].T / (2 * STEP)
    velocity = np.concatenate([(ahead - behind)[:3, 3] / (2 * STEP), [spin[2, 1], spin[0, 2], spin[1, 0]]])
    assert near(J @ qd, velocity, CLOSE)
    change = (mech.jacobian(ends[0], link) - mech.jacobian(ends[1], link)) / (2 * STEP)
    assert near(Jd, change, CLOSE)
    poses, W, H = mech.motion(q, qd, qdd)
    if isinstance(link, int):
        point = poses[link] @ [0.0, 0.0, 0.0, 1.0]
        assert near((W[link] @ point)[:3], velocity[:3], CLOSE)
        assert near((H[link] @ point)[:3], (J @ qdd + Jd @ qd)[:3])
    body = mech.jacobian(q, link, frame="body")
    assert near(T[:3, :3] @ body[:3], J[:3])


def test_joint_wrenches_of_a_cam_do_the_work_of_its_effort() -> None:
    """The wrench through each joint, times its unit motion, is its effort without the motor."""
    mech = mechanism().replace(motors=[])
    mech = mech.replace(links=[link.replace(motor=None) for link in mech.links])
    q, qd, qdd = state(mech)
    tau, wrenches = mech.inverse_dynamics(q, qd, qdd), mech.joint_wrenches(q, qd, qdd)
    for k in range(mech.n):
        unit = np.eye(mech.n)[k]
        ends = [mech.link_poses(q + sign * STEP * unit)[k] for sign in (1, -1)]
        here = mech.link_poses(q)[k]
        rate = (ends[0] - ends[1]) @ inverse(here) / (2 * STEP)
        motion = np.array([rate[0, 3], rate[1, 3], rate[2, 3], rate[2, 1], rate[0, 2], rate[1, 0]])
        assert abs(wrenches[k] @ motion - tau[k]) < 1e-7 * max(1.0, abs(tau).max())


def test_what_needs_a_constant_subspace_says_so() -> None:
    mech = mechanism()
    q, qd, qdd = state(mech)
    calls = {
        "inverse_dynamics_derivatives": (q, qd, qdd),
        "forward_dynamics_derivatives": (q, qd, qdd),
        "coriolis_matrix": (q, qd),
    }
    for name, given in calls.items():
        with pytest.raises(ArgumentError, match=r"link 2.*'cam'"):
            mech.kernel(name)(*given)
    with pytest.raises(ArgumentError, match="cam"):
        mech.base_parameters()


def test_a_link_keeps_its_cam() -> None:
    link = Link(joint=Cam(0.3), offset=0.2, name="follower")
    assert link.joint == "cam"
    assert link.replace(mass=2.0).joint_model == Cam(0.3)
    assert pickle.loads(pickle.dumps(link)) == link != Link(joint=Cam(0.4), offset=0.2, name="follower")
    assert "cam" in repr(link)
    assert near(link.placement(0.3), Cam(0.3).placement(np.array([0.5])))
    assert "C" in str(Mechanism([link]))
    assert Link(joint=Floating(), name="body") == Link(joint="floating", name="body")
    with pytest.raises(ModelError, match="'revolute', 'prismatic', 'screw', 'universal'"):
        Link(joint="cam")


def test_a_cam_may_have_symbols() -> None:
    lift = symbols("lift")
    mech = mechanism(lift=lift)
    assert mech.symbols == ("lift",)
    q, qd, qdd = state(mech)
    wanted = mechanism(lift=0.25).inverse_dynamics(q, qd, qdd)
    assert near(mech.kernel("inverse_dynamics")(q, qd, qdd, [0.25]), wanted)
    assert near(mech.substitute(lift=0.25).inverse_dynamics(q, qd, qdd), wanted)


@pytest.mark.parametrize("suffix", [".toml", ".urdf", ".dat"])
def test_no_format_writes_a_joint_that_it_cannot_read_again(suffix: str, tmp_path: Path) -> None:
    mechanism = Mechanism([Link(name="follower", joint=Cam(lift=0.1), mass=1.0)])
    with pytest.raises(FileError, match=r"follower.*cam"):
        save(mechanism, tmp_path / f"a{suffix}", allow_loss=True)
    assert not [*tmp_path.iterdir()]


def test_an_arm_with_a_cam_has_no_closed_form_and_is_solved_numerically() -> None:
    arm = Mechanism(
        [Link(axis=(0, 0, 1)), Link(joint=Cam(0.3)), Link(axis=(0, 1, 0))], tool=transform(None, [0.3, 0.0, 0.1])
    )
    q = np.array([0.3, 0.4, 0.5])
    T = arm.forward_kinematics(q)
    with pytest.raises(NoClosedFormError, match="neither revolute nor prismatic"):
        arm.all_inverse_kinematics(T)
    answer = arm.inverse_kinematics(T)
    assert answer.success
    assert near(arm.forward_kinematics(answer.q), T, 1e-9)
