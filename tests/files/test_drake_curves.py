"""Drake's curvilinear joints in SDF and URDF, held against Drake itself where it is installed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from linkwise import Mechanism, files
from linkwise.errors import FileError
from linkwise.model.joints import Curvilinear
from support.random_mechanisms import direct, random_state

PIECES = ((0.5, 0.0), (0.8, 1.1), (0.6, -0.7), (0.3, 0.0))
"""A line, two arcs by radius and angle, and a line."""

OVAL = ((0.4, 0.0), (0.2, math.pi), (0.4, 0.0), (0.2, math.pi))

INERTIA = {"ixx": 0.1, "iyy": 0.2, "izz": 0.15, "ixy": 0.01, "ixz": 0.02, "iyz": -0.01}


def sdf(pieces: tuple[tuple[float, float], ...], repeats: bool) -> str:
    moments = "".join(f"<{name}>{value}</{name}>" for name, value in INERTIA.items())
    inertial = f"<inertial><pose>0.1 0.2 0.05 0 0 0</pose><mass>2</mass><inertia>{moments}</inertia></inertial>"
    curves = "".join(
        f"<drake:circular_arc><drake:radius>{size}</drake:radius><drake:angle>{angle}</drake:angle></drake:circular_arc>"
        if angle
        else f"<drake:line_segment><drake:length>{size}</drake:length></drake:line_segment>"
        for size, angle in pieces
    )
    return f"""<sdf version="1.9" xmlns:drake="http://drake.mit.edu"><model name="track">
  <link name="floor"/>
  <frame name="rail" attached_to="floor"><pose>0.3 0 0.2 0.4 0 0</pose></frame>
  <link name="cart">{inertial}</link>
  <frame name="low" attached_to="cart"><pose>0 0.1 -0.1 0 0.2 0</pose></frame>
  <link name="arm"><pose relative_to="cart">0.1 0 0.2 0 0 0</pose>{inertial}</link>
  <joint name="ground" type="fixed"><parent>world</parent><child>floor</child></joint>
  <drake:joint name="runs" type="curvilinear">
    <drake:parent>rail</drake:parent><drake:child>low</drake:child><drake:damping>0.7</drake:damping>
    <drake:initial_tangent><xyz>0 0 2</xyz></drake:initial_tangent>
    <drake:plane_normal><xyz>1 -1 0</xyz></drake:plane_normal>
    <drake:is_periodic>{str(repeats).lower()}</drake:is_periodic><drake:curves>{curves}</drake:curves>
  </drake:joint>
  <joint name="turns" type="revolute"><parent>cart</parent><child>arm</child><axis><xyz>0 1 0.3</xyz></axis></joint>
</model></sdf>"""


def urdf(pieces: tuple[tuple[float, float], ...], repeats: bool) -> str:
    moments = " ".join(f'{name}="{value}"' for name, value in INERTIA.items())
    inertial = f'<inertial><origin xyz="0.1 0.2 0.05"/><mass value="2"/><inertia {moments}/></inertial>'
    curves = "".join(
        f'<drake:circular_arc radius="{size}" angle="{angle}"/>' if angle else f'<drake:line_segment length="{size}"/>'
        for size, angle in pieces
    )
    return f"""<robot name="track" xmlns:drake="http://drake.mit.edu">
  <link name="world"/><link name="cart">{inertial}</link><link name="arm">{inertial}</link>
  <drake:joint name="runs" type="curvilinear">
    <origin xyz="0.3 0 0.2" rpy="0.4 0 0"/><parent link="world"/><child link="cart"/><dynamics damping="0.7"/>
    <drake:initial_tangent xyz="0 0 2"/><drake:plane_normal xyz="1 -1 0"/>
    <drake:is_periodic value="{str(repeats).lower()}"/><drake:curves>{curves}</drake:curves>
  </drake:joint>
  <joint name="turns" type="continuous"><parent link="cart"/><child link="arm"/><axis xyz="0 1 0.3"/></joint>
</robot>"""


WRITERS = {"sdf": sdf, "urdf": urdf}


@pytest.fixture(params=["sdf", "urdf"])
def form(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def along(mech: Mechanism, repeats: bool) -> Iterator[tuple[np.ndarray, ...]]:
    """States on each segment, before the beginning and beyond the end."""
    joint = mech.links[mech.link_index("cart")].joint_model
    assert isinstance(joint, Curvilinear)
    ends, whole = np.cumsum(joint.lengths), joint.lengths.sum()
    places = [*(ends - 0.4 * joint.lengths), -0.1, whole + 0.1, *([-3.3 * whole, 7.6 * whole] if repeats else [])]
    for seed, place in enumerate(places):
        q, qd, qdd = random_state(mech, seed)
        q[0] = place
        yield q, qd, qdd


@pytest.mark.parametrize(("pieces", "repeats"), [(PIECES, False), (OVAL, True), (PIECES, True)])
def test_moves_as_in_drake(form: str, pieces: tuple[tuple[float, float], ...], repeats: bool, tmp_path: Path) -> None:
    """Poses, Jacobian, mass matrix and inverse dynamics; lines continue, and laps repeat, as there."""
    pytest.importorskip("pydrake", exc_type=ImportError)
    from pydrake.multibody.plant import MultibodyPlant
    from pydrake.multibody.tree import MultibodyForces

    from support.drake_from_file import drake_plant

    path = tmp_path / f"track.{form}"
    path.write_text(WRITERS[form](pieces, repeats))
    mech = files.read(path).mechanism
    plant: MultibodyPlant = drake_plant(path, [])
    plant.Finalize()
    context = plant.CreateDefaultContext()
    plant.mutable_gravity_field().set_gravity_vector(np.asarray(mech.gravity))
    joint = plant.GetJointByName("runs")
    low, high = mech.q_min[0], mech.q_max[0]
    assert ([low], [high]) == (joint.position_lower_limits(), joint.position_upper_limits())
    assert mech.links[mech.link_index("cart")].motor.viscous == joint.default_damping_vector()[0]  # type: ignore[union-attr]
    worst = 0.0
    for q, qd, qdd in along(mech, repeats):
        plant.SetPositions(context, q)
        plant.SetVelocities(context, qd)
        for name in ("cart", "arm"):
            there = plant.EvalBodyPoseInWorld(context, plant.GetBodyByName(name)).GetAsMatrix4()
            worst = max(worst, np.abs(mech.forward_kinematics(q, link=name) - there).max())
            speed = plant.EvalBodySpatialVelocityInWorld(context, plant.GetBodyByName(name))
            twist = direct(mech, "jacobian", q, link=name, frame="world") @ qd
            worst = max(worst, np.abs(twist - [*speed.translational(), *speed.rotational()]).max())
        worst = max(worst, np.abs(mech.mass_matrix(q) - plant.CalcMassMatrix(context)).max())
        tau = plant.CalcInverseDynamics(context, qdd, MultibodyForces(plant))
        tau -= plant.CalcGravityGeneralizedForces(context)
        worst = max(worst, np.abs(mech.without_friction().inverse_dynamics(q, qd, qdd) - tau).max() / 50.0)
    print(f"largest difference: {worst:.1e}")
    assert worst < 1e-13  # rounding of some hundred operations on numbers up to 10, efforts up to 500 N


def test_a_path_that_repeats_should_be_closed(form: str, tmp_path: Path) -> None:
    path = tmp_path / f"track.{form}"
    for pieces, jumps in ((OVAL, False), (PIECES, True)):
        path.write_text(WRITERS[form](pieces, True))
        assert any("jumps" in str(remark) for remark in files.remarks(path)) == jumps


MISTAKES = {
    "a radius": ((0.5, 0.0), (-0.8, 1.1)),
    "a length": ((0.0, 0.0),),
    "no curves": (),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_paths_that_cannot_be(form: str, name: str, tmp_path: Path) -> None:
    path = tmp_path / f"track.{form}"
    path.write_text(WRITERS[form](MISTAKES[name], False))
    with pytest.raises(FileError, match=r"joint 'runs'.*(radius|length|drake:curves)"):
        files.read(path)


def test_a_tangent_that_is_not_in_the_plane(form: str, tmp_path: Path) -> None:
    path = tmp_path / f"track.{form}"
    path.write_text(WRITERS[form](PIECES, False).replace("1 -1 0", "1 -1 1"))
    with pytest.raises(FileError, match=r"joint 'runs'.*perpendicular"):
        files.read(path)
