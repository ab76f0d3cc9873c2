"""What the conventions page says of Pinocchio and MuJoCo holds."""

import numpy as np
import pytest

import linkwise as lw
from linkwise.spatial.rotation import rotation_about
from linkwise.spatial.transform import transform

RNG = np.random.default_rng(5)
SHIFTS = RNG.uniform(-0.5, 0.5, (3, 3))
AXES = RNG.normal(size=(3, 3)) / 2
BEFORE = [np.asarray(transform(rotation_about(a / np.linalg.norm(a), 0.7), p)) for a, p in zip(AXES, SHIFTS, strict=True)]
MASS, COM, SIX = 2.0, np.array([0.1, -0.2, 0.05]), (0.05, 0.06, 0.07, 0.004, -0.003, 0.002)
"""The second link's body; the six numbers are Ixx Iyy Izz Ixy Iyz Ixz."""

LINKS = [lw.Link(before=before) for before in BEFORE]
LINKS[1] = LINKS[1].replace(mass=MASS, com=COM, inertia=SIX)
ARM = lw.Mechanism(LINKS)
Q, QD, QDD = RNG.uniform(-1, 1, (3, 3))


def tensor() -> np.ndarray:
    xx, yy, zz, xy, yz, xz = SIX
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def test_pinocchio_has_these_names_and_signs() -> None:
    pin = pytest.importorskip("pinocchio", exc_type=ImportError)
    model, joint = pin.Model(), 0
    for k, before in enumerate(BEFORE):
        joint = model.addJoint(joint, pin.JointModelRZ(), pin.SE3(before[:3, :3], before[:3, 3]), f"joint{k}")
        if k == 1:
            model.appendBodyToJoint(joint, pin.Inertia(MASS, COM, tensor()), pin.SE3.Identity())
    frame = model.addFrame(pin.Frame("tool", joint, 0, pin.SE3.Identity(), pin.FrameType.OP_FRAME))
    data = model.createData()
    base, body, world = (
        pin.computeFrameJacobian(model, data, Q, frame, kind) for kind in (pin.LOCAL_WORLD_ALIGNED, pin.LOCAL, pin.WORLD)
    )
    ours, p = ARM.jacobian(Q), ARM.forward_kinematics(Q)[:3, 3]
    np.testing.assert_allclose(ours, base, atol=1e-12)
    np.testing.assert_allclose(ARM.jacobian(Q, frame="body"), body, atol=1e-12)
    np.testing.assert_allclose(ours[:3] + np.cross(p, ours[3:], axisb=0, axisc=0), world[:3], atol=1e-12)
    np.testing.assert_allclose(ARM.inverse_dynamics(Q, QD, QDD), pin.rnea(model, data, Q, QD, QDD), atol=1e-12)
    assert model.gravity.linear[2] < 0


def test_mujoco_has_these_names_and_orders() -> None:
    mujoco = pytest.importorskip("mujoco", exc_type=ImportError)
    xx, yy, zz, xy, yz, xz = SIX
    inertial = '<inertial pos="0 0 0" mass="1e-9" diaginertia="1e-12 1e-12 1e-12"/>'
    full = f'<inertial pos="{" ".join(map(str, COM))}" mass="{MASS}" fullinertia="{xx} {yy} {zz} {xy} {xz} {yz}"/>'
    text = '<site name="tool"/>'
    for k in (2, 1, 0):
        place, axes = (" ".join(map(repr, v.tolist())) for v in (BEFORE[k][:3, 3], BEFORE[k][:3, :2].T.ravel()))
        head = f'<body pos="{place}" xyaxes="{axes}"><joint axis="0 0 1"/>'
        text = f"{head}{full if k == 1 else inertial}{text}</body>"
    model = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{text}</worldbody></mujoco>")
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:], data.qacc[:] = Q, QD, QDD
    mujoco.mj_inverse(model, data)
    position, rotation = np.empty((2, 3, 3))
    mujoco.mj_jacSite(model, data, position, rotation, 0)
    np.testing.assert_allclose(ARM.jacobian(Q), np.vstack([position, rotation]), atol=1e-12)
    turned = data.site_xmat[0].reshape(3, 3).T
    np.testing.assert_allclose(ARM.jacobian(Q, frame="body"), np.vstack([turned @ position, turned @ rotation]), atol=1e-12)
    np.testing.assert_allclose(ARM.inverse_dynamics(Q, QD, QDD), data.qfrc_inverse, atol=1e-6)
    assert model.opt.gravity[2] < 0
