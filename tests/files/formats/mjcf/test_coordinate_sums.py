"""Sums of coordinates and polynomials of them, held against MuJoCo's constraints and equations of motion."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import linkwise as lw
from linkwise.errors import FileError
from linkwise.files import read, remarks

TIED = """<mujoco><option><flag contact="disable"/></option><worldbody>
  <body name="a"><joint name="q2" axis="0 1 0" ref="20" armature="0.1"/><geom size="0.1" pos="0.3 0 0"/>
    <body name="b" pos="0.5 0 0">
      <joint name="q1" axis="0 1 0" ref="-10" damping="0.4" armature="0.05" stiffness="2"/><geom size="0.1" pos="0.3 0.1 0"/>
    </body>
    <body name="c" pos="0.5 0.2 0"><joint name="q3" type="slide" axis="0 1 1" damping="0.4"/><geom size="0.1"/></body>
  </body></worldbody>
  <equality>
    <joint name="tie" joint1="q1" joint2="q2" polycoef="0.2 -1.5 0.3 0.1 -0.05"/>
    <joint joint1="q3" joint2="q2" polycoef="0 0.1 0.3"/>
  </equality></mujoco>"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "tied.xml"
    path.write_text(TIED)
    return path


def test_closure_and_jacobian_are_mujocos(path: Path) -> None:
    mujoco = pytest.importorskip("mujoco", exc_type=ImportError)
    mech, model = read(path).mechanism, mujoco.MjModel.from_xml_path(str(path))
    data, rng = mujoco.MjData(model), np.random.default_rng(0)
    assert mech.names == ("q2", "q1", "q3")
    assert mech.link_names[mech.tool_index] in {"a", "b", "c"}
    for _ in range(5):
        q, qd = rng.normal(size=(2, 3))
        data.qpos[:], data.qvel[:] = q, qd
        mujoco.mj_forward(model, data)
        residual, rows = mech.kernel("closure")(q), mech.kernel("closure_jacobian")(q)
        assert np.abs(residual - np.ravel([[x, 0, 0] for x in data.efc_pos])).max() < 1e-14  # rounding of some terms up to 5
        wanted = data.efc_J.reshape(2, 3)
        assert np.abs(rows[::3] - wanted).max() < 1e-14
        assert not rows[[1, 2, 4, 5]].any()


def test_forces_of_the_loops_act_along_mujocos_rows(path: Path) -> None:
    """M qdd + c - tau is in the space of the rows of J, and J qdd + dJ/dt qd is zero: MuJoCo's M, c and J."""
    mujoco = pytest.importorskip("mujoco", exc_type=ImportError)
    mech, model = read(path).mechanism, mujoco.MjModel.from_xml_path(str(path))
    data, rng, step = mujoco.MjData(model), np.random.default_rng(1), 1e-6

    def rows(q: np.ndarray) -> np.ndarray:
        data.qpos[:], data.qvel[:] = q, 0.0
        mujoco.mj_forward(model, data)
        return np.array(data.efc_J.reshape(2, 3))

    for lead in (0.1, 0.6, -0.4):
        x = lead - np.radians(20)
        q = np.array([lead, np.radians(-10) + np.polyval([-0.05, 0.1, 0.3, -1.5, 0.2], x), np.polyval([0.3, 0.1, 0], x)])
        assert np.abs(mech.kernel("closure")(q)).max() < 1e-15
        slopes = -rows(q)[:, 0]
        qd, tau = 0.8 * np.array([1.0, *slopes]), rng.normal(size=3)
        qdd = mech.forward_dynamics(q, qd, tau)
        mass = np.zeros((3, 3))
        data.qpos[:], data.qvel[:] = q, qd
        mujoco.mj_forward(model, data)
        mujoco.mj_fullM(model, data, mass)
        left = mass @ qdd + data.qfrc_bias - data.qfrc_passive - tau
        J = rows(q)
        along = J.T @ np.linalg.lstsq(J.T, left, rcond=None)[0]
        assert np.abs(left - along).max() < 1e-12 * np.abs(left).max()
        rate = (rows(q + step * qd) - rows(q - step * qd)) / (2 * step)
        assert np.abs(J @ qdd + rate @ qd).max() < 1e-8 * np.abs(qdd).max()  # step^2 and rounding / step


def test_the_links_that_are_added_are_named(path: Path) -> None:
    told = [str(remark) for remark in remarks(path)]
    assert any("line 9: equality joint 'tie'" in line and "'q1_polynomial', 'q1_slide'" in line for line in told), told
    mech = read(path).mechanism
    assert [link.body.mass for link in mech.links[3:]] == [0.0] * 4
    assert mech.loops[0].name == "tie"


SUMS = (
    TIED[: TIED.index("  <equality>")]
    + """
  <tendon>
    <fixed name="sum"><joint joint="q1" coef="2"/><joint joint="q3" coef="-1.5"/></fixed>
    <fixed name="all"><joint joint="q1" coef="2"/><joint joint="q3" coef="-1.5"/><joint joint="q2" coef="0.4"/></fixed>
    <fixed name="lead"><joint joint="q2" coef="0.7"/></fixed>
  </tendon>
  <equality>
    <tendon name="curved" tendon1="sum" tendon2="lead" polycoef="0.1 0.5 -0.3"/>
    <tendon name="straight" tendon1="all" polycoef="0.2"/>
    <tendon name="two" tendon1="sum" tendon2="lead" polycoef="0.3 -2"/>
  </equality></mujoco>"""
)


def test_lengths_of_tendons_too(path: Path) -> None:
    """A polynomial of one joint for a sum of two, a sum of three that is constant, and a line of a joint."""
    mujoco = pytest.importorskip("mujoco", exc_type=ImportError)
    path.write_text(SUMS)
    mech, model = read(path).mechanism, mujoco.MjModel.from_xml_path(str(path))
    data, rng = mujoco.MjData(model), np.random.default_rng(2)
    assert [loop.name for loop in mech.loops] == ["curved", "straight", "two"]
    for _ in range(5):
        q = rng.normal(size=3)
        data.qpos[:] = q
        mujoco.mj_forward(model, data)
        residual, rows = mech.kernel("closure")(q), mech.kernel("closure_jacobian")(q)
        assert np.abs(residual[::3] - data.efc_pos).max() < 1e-14  # rounding of some terms up to 5
        assert np.abs(rows[::3] - data.efc_J.reshape(3, 3)).max() < 1e-14


def test_a_polynomial_of_a_joint_that_is_held_is_dropped_on_request(path: Path) -> None:
    path.write_text(TIED.replace("</equality>", '<joint joint1="q2" polycoef="0.1"/></equality>'))
    with pytest.raises(FileError, match=r"joint 'q2' is held; with drop_unknown=True"):
        read(path)
    assert read(path, drop_unknown=True).mechanism.loops == ()


def test_a_ball_joint_in_a_tendon_is_dropped_on_request(path: Path) -> None:
    """MuJoCo refuses it too."""
    ball = '<body><joint name="ball" type="ball"/><geom size="0.1"/></body></worldbody>'
    path.write_text(SUMS.replace("</worldbody>", ball).replace('joint="q2" coef="0.4"', 'joint="ball" coef="0.4"'))
    with pytest.raises(FileError, match=r"the ball joint 'ball'.*drop_unknown=True"):
        read(path)
    assert [loop.name for loop in read(path, drop_unknown=True).mechanism.loops] == ["curved", "two"]


def test_saving_says_what_is_lost(path: Path) -> None:
    with pytest.raises(FileError, match="polynomial"):
        lw.save(read(path).mechanism, path.with_name("again.xml"))
