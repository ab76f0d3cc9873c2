"""Loops through ball joints and through bodies that float: what the speeds of joints with quaternions do for closing."""

import numpy as np
import pytest
from scipy.optimize import brentq

import linkwise as lw
from linkwise.errors import ArgumentError
from linkwise.loops import Linkage, assemble
from linkwise.spatial.rotation import rotation_between

CRANK, ROD, ROCKER = 0.1, 0.42, 0.2


def at(*position, rotation=None):
    place = np.eye(4)
    place[:3, 3] = position
    place[:3, :3] = np.eye(3) if rotation is None else rotation
    return place


GROUND = at(0.4, 0.1, 0.05, rotation=np.array([[1.0, 0, 0], [0, 0, -1.0], [0, 1.0, 0]]))  # the rocker's joint


def rssr(limits=None):
    """A spatial four-bar: crank, rod between two ball joints, rocker; the loop is the second ball joint."""
    axis = {} if limits is None else {"axis": (1, 0, 0), "limits": limits}
    return lw.Mechanism(
        [
            lw.Link(name="crank", joint="revolute", mass=1.0, com=(0.05, 0, 0), inertia=(1e-3, 2e-3, 2e-3)),
            lw.Link(
                name="rod", joint="ball", parent="crank", before=at(CRANK, 0, 0), mass=0.5, com=(0.2, 0.01, 0),
                inertia=(4e-4, 1e-2, 1e-2), **axis,
            ),
            lw.Link(
                name="rocker", joint="revolute", parent="base", before=GROUND, mass=0.7, com=(0.1, 0, 0),
                inertia=(1e-3, 4e-3, 4e-3),
            ),
        ],
        loops=[lw.Loop("point", "rod", "rocker", at(ROD, 0, 0), at(ROCKER, 0, 0), name="socket")],
        name="rssr",
    )  # fmt: skip


@pytest.fixture(scope="module")
def linkage():
    return Linkage(rssr(), ["crank"])


def ends(crank, rocker):
    """The two ends of the rod (..., 3), from the two angles alone."""
    first = CRANK * np.stack([np.cos(crank), np.sin(crank), np.zeros_like(crank)], axis=-1)
    second = ROCKER * np.stack([np.cos(rocker), np.sin(rocker), np.zeros_like(rocker)], axis=-1)
    return first, second @ GROUND[:3, :3].T + GROUND[:3, 3]


def test_the_rod_spins_freely_and_rests(linkage):
    print(linkage, linkage.idle)
    assert linkage.driven == ("crank",)
    assert linkage.passive == ("rod_wy", "rod_wz", "rocker")
    assert linkage.idle == ("rod_wx",)  # (along the rod)
    degrees = linkage.mechanism.mobility()
    assert (int(degrees), degrees.counted) == (2, 2)


def test_positions_are_those_of_the_distance_equation(linkage):
    """A whole turn: the ends of the rod are its length apart, which alone decides the rocker's angle."""
    turn = linkage.trace(linkage.q0[4] + np.linspace(0.0, 2.0 * np.pi, 181))
    assert turn.success.all()
    first, second = ends(turn.q[:, 4], turn.q[:, 5])
    error = np.abs(np.linalg.norm(first - second, axis=1) - ROD).max()

    def missing(rocker, crank):
        return np.linalg.norm(np.subtract(*ends(np.array(crank), np.array(rocker)))) - ROD

    roots = [brentq(missing, rocker - 0.1, rocker + 0.1, (crank,), xtol=1e-14) for crank, rocker in turn.q[::20, 4:]]
    apart = np.abs(turn.q[::20, 5] - roots).max()
    units = np.abs(np.linalg.norm(turn.q[:, :4], axis=1) - 1.0).max()
    print(f"length of the rod to {error:.1e} m, rocker to {apart:.1e} rad, quaternions to {units:.1e}")
    assert error < 1e-12 * ROD
    assert apart < 1e-11  # rad; a root of a function of 1e-16 m, 2e-2 m/rad steep at least
    assert units < 1e-15
    whole = linkage.position(turn.q[::20, 4:5], np.broadcast_to(turn.q[0], (10, 6)))  # from one start, a batch
    assert whole.success.all()
    assert np.abs(whole.q[:, 5] - turn.q[::20, 5])[:9].max() < 1e-11  # (the spin of the rod depends on the way)


def test_velocities_and_accelerations(linkage):
    """Against differences of positions along a motion of the crank, u = u0 + 2 t + t^2 / 4."""
    q, h = linkage.position(linkage.q0[4:5] + 0.4).q, 1e-4
    qd = linkage.velocity(q, [2.0])
    qdd = linkage.acceleration(q, qd, [0.5])
    around = [linkage.position([q[4] + 2.0 * t + 0.25 * t * t], q).q for t in (-h, h)]
    speed = linkage.mechanism.difference(*around) / (2.0 * h)
    rates = [linkage.velocity(position, [2.0 + 0.5 * t]) for position, t in zip(around, (-h, h), strict=True)]
    rise = (rates[1] - rates[0]) / (2.0 * h)
    print(f"speeds {np.abs(speed - qd).max():.1e} rad/s, accelerations {np.abs(rise - qdd).max():.1e} rad/s2")
    assert np.abs(speed - qd).max() < 1e-6  # h^2 times third derivatives of some 10 rad/s3
    assert np.abs(rise - qdd).max() < 1e-5
    assert qd[0] == qdd[0] == 0.0  # the spin rests
    jac, bias = (linkage.mechanism.kernel(name) for name in ("closure_jacobian", "closure_bias"))
    assert np.abs(jac(q) @ qdd + bias(q, qd)).max() < 1e-13


def test_forward_dynamics_are_pinocchios(linkage):
    pin = pytest.importorskip("pinocchio", exc_type=ImportError)
    mech, model = linkage.mechanism, pin.Model()
    joints, kinds = [], (pin.JointModelRZ, pin.JointModelSpherical, pin.JointModelRZ)
    for link, kind, parent in zip(mech.links, kinds, (0, 1, 0), strict=True):
        joints.append(model.addJoint(parent, kind(), pin.SE3(np.array(link.before)), link.name))
        inertia = pin.Inertia(link.body.mass, np.array(link.body.com), np.array(link.body.tensor))
        model.appendBodyToJoint(joints[-1], inertia, pin.SE3.Identity())
    places = [pin.SE3(at(length, 0, 0)) for length in (ROD, ROCKER)]
    contact = pin.RigidConstraintModel(
        pin.ContactType.CONTACT_3D, model, joints[1], places[0], joints[2], places[1], pin.ReferenceFrame.LOCAL
    )
    data, models, datas = model.createData(), pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    models.append(contact)
    datas.append(contact.createData())
    pin.initConstraintDynamics(model, data, models, datas)
    q = linkage.position(linkage.q0[4:5] + 1.0).q
    qd = linkage.velocity(q, [3.0]) + np.array([0.7, 0, 0, 0, 0])  # (the rod spins, too)
    tau = np.array([0.01, -0.02, 0.03, 0.2, -0.1])
    qdd, force = mech.kernel("closed_forward_dynamics")(q, qd, tau)
    order = [3, 0, 1, 2, 4]  # crank, rod, rocker
    theirs = np.concatenate([q[4:5], q[1:4], q[:1], q[5:]]), qd[order], tau[order]
    expected = pin.constraintDynamics(model, data, *theirs, models, datas, pin.ProximalSettings(1e-15, 1e-15, 1e-8, 60))
    error = np.abs(qdd[order] - expected).max() / np.abs(expected).max()
    missed = np.abs(force + datas[0].contact_force.linear).max() / np.abs(force).max()
    print(f"accelerations {error:.1e}, force of the socket {missed:.1e}")
    assert max(error, missed) < 1e-10  # (as for other loops: rounding times the condition of J inverse(M) J')


def test_simulation_keeps_energy_and_closure(linkage):
    q = linkage.position(linkage.q0[4:5]).q
    motion = lw.simulate(linkage.mechanism, q, linkage.velocity(q, [2.0]), t=(1.0, 1e-3), energies=True)
    gap, drift = np.abs(linkage.mechanism.kernel("closure")(motion.q)).max(), np.ptp(motion.energy)
    print(f"open by {gap:.1e} m, energy to {drift:.1e} J of {np.ptp(motion.kinetic):.2g} J exchanged")
    assert gap < 1e-11
    assert drift < 1e-9  # steps of 1e-3 s, of order 4


def free_stewart():
    """The Stewart platform with a platform that floats as a body of its own, in the place of six joints."""
    robot = lw.robots.stewart()
    pose = robot.forward_kinematics(robot.neutral, link="roll")
    legs = [link for link in robot.links if link.name not in ("x", "y", "z", "yaw", "pitch", "roll")]
    return robot.replace(links=[lw.Link(name="roll", joint="floating", before=pose), *legs], tool_link="platform")


def test_a_free_platform_on_six_legs():
    """The pose from the lengths of the legs, which are distances of its ball joints from where the legs stand."""
    robot = free_stewart()
    start = robot.forward_kinematics(robot.neutral)
    pose = start @ at(0.05, 0.0, 0.1, rotation=rotation_between((0.0, 0.0, 1.0), (0.0, 0.28, 0.96)))
    balls = [loop.second_frame[:, 3] for loop in robot.loops]
    feet = [robot.forward_kinematics(robot.neutral, f"cross{k}")[:3, 3] for k in range(1, 7)]
    lengths = [
        np.linalg.norm((pose @ ball)[:3] - foot) - np.linalg.norm((start @ ball)[:3] - foot)
        for ball, foot in zip(balls, feet, strict=True)
    ]
    forward = Linkage(robot, [f"leg{k}" for k in range(1, 7)], q0=robot.neutral)
    solved = forward.position(lengths)
    error = np.abs(robot.forward_kinematics(solved.q) - pose).max()
    print(f"pose of the platform to {error:.1e}; {forward.passive[:6]}, idle {forward.idle}")
    assert solved.success
    assert error < 1e-11  # the closure to 1e-12 of lengths of 1 m, times the condition of the legs
    assert forward.idle == ()
    assert int(robot.mobility()) == 6


def test_the_cone_of_a_ball_joint_is_kept():
    mech = rssr(limits=(0.0, 0.6))
    turn = Linkage(mech, ["crank"]).trace(np.linspace(0.0, 2.0 * np.pi, 91))
    joint = mech.manifold_joints[0]
    lean = np.array([float(joint.joint.excess(q[joint.q], joint.most)) for q in turn.q])
    print(f"beyond by {lean.max():.2g} rad at most; {np.unique(turn.reason)}")
    assert (turn.reason[lean > 1e-11] == "limit").all()
    assert (lean > 1e-3).any()
    assert set(turn.reason[lean < -1e-11]) == {"converged"}
    closed = assemble(mech, turn.q[int(np.argmax(lean))])  # an assembly is looked for within the limits
    assert closed.success
    assert float(joint.joint.excess(closed.q[joint.q], joint.most)) <= 1e-12


def test_refusals():
    mech = rssr()
    with pytest.raises(ArgumentError, match="'crank' and 'rocker'"):
        Linkage(mech, ["rod"])
    with pytest.raises(ArgumentError, match="1 coordinate is driven"):
        Linkage(mech, ["crank", "rocker"])


def test_mujoco_has_the_same_closure(linkage):
    """The gap of its connect constraint, and its Jacobian, at open loops too."""
    mujoco = pytest.importorskip("mujoco", exc_type=ImportError)
    ground = rotation_between((0.0, 0.0, 1.0), GROUND[:3, 2])
    assert np.allclose(ground[:, 2], GROUND[:3, 2])
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><option jacobian="dense"/><worldbody>
        <body name="crank"><joint type="hinge"/><geom size="0.01"/>
          <body name="rod" pos="{CRANK} 0 0"><joint type="ball"/><geom size="0.01"/><site name="a" pos="{ROD} 0 0"/></body>
        </body>
        <body name="rocker" pos="0.4 0.1 0.05" quat="{np.sqrt(0.5)} {np.sqrt(0.5)} 0 0"><joint type="hinge"/>
          <geom size="0.01"/><site name="b" pos="{ROCKER} 0 0"/></body>
        </worldbody><equality><connect site1="a" site2="b"/></equality></mujoco>"""
    )
    data, mech = mujoco.MjData(model), linkage.mechanism
    q = mech.random_configuration(5)
    data.qpos[:] = np.concatenate([q[4:5], q[:4], q[5:]])
    mujoco.mj_forward(model, data)
    rotation = mech.forward_kinematics(q, "rod")[:3, :3]  # (MuJoCo's rows are in world axes, first less second)
    gap = -rotation @ mech.kernel("closure")(q)
    rates = -rotation @ mech.kernel("closure_jacobian")(q)[:, [3, 0, 1, 2, 4]]
    joints = slice(0, 3)
    error = np.abs(gap - data.efc_pos[joints]).max()
    print(f"gap to {error:.1e} m of {np.abs(gap).max():.2g} m")
    assert error < 1e-14
    # seen from the moving frame of the rod, the gap turns with it: R d/dt(R' p) = dp/dt - w x p
    turned = np.zeros((3, 5))
    spin = np.column_stack([[0, 0, 1.0], rotation])  # of the rod per speed of crank and ball joint
    turned[:, :4] = np.cross(spin.T, gap).T
    missed = np.abs(rates + turned - data.efc_J.reshape(-1, 5)[joints]).max()
    print(f"Jacobian to {missed:.1e}")
    assert missed < 1e-14
