"""URDFs as we read them and as Pinocchio reads them: every link's pose, velocity and acceleration, and the dynamics."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from linkwise import Mechanism
from linkwise.files.formats.urdf import reader as urdf
from linkwise.files.registry import ReadOptions
from support.pinocchio_from_urdf import UrdfTwin
from support.random_mechanisms import direct, random_state, relative

DATA = Path(__file__).parents[2] / "data"
BOUND = 1e-13
"""Relative to the largest number: some tens of roundings of 2e-16 along each of the short chains here."""

BODY = (
    '<inertial><origin xyz="0.1 -0.2 0.05" rpy="{0} -0.7 {0}"/><mass value="1.5"/>'
    '<inertia ixx="0.02" ixy="0.001" ixz="-0.002" iyy="0.03" iyz="0.003" izz="0.025"/></inertial>'
)


def chain(*kinds: str, axes: bool = True) -> str:
    """Links l0, l1, ... one on the other, each with an inertia in turned axes, each joint turned and shifted."""
    links = "".join(f'<link name="l{k}">{BODY.format(0.3 * k)}</link>' for k in range(len(kinds) + 1))
    joints = "".join(
        f'<joint name="j{k}" type="{kind}"><origin xyz="0.1 {0.05 * k} 0.3" rpy="{0.4 * k} -0.2 1.{k}"/>'
        f'<parent link="l{k}"/><child link="l{k + 1}"/>'
        + (f'<axis xyz="{k} -1 2"/>' if axes and kind != "planar" else '<axis xyz="0 0 1"/>' if kind == "planar" else "")
        + ('<limit lower="-1" upper="1" effort="1" velocity="1"/>' if kind in {"revolute", "prismatic"} else "")
        + "</joint>"
        for k, kind in enumerate(kinds)
    )
    return f'<robot name="chain">{links}{joints}</robot>'


TEXTS = {
    **{path.stem: path.read_text() for path in sorted(DATA.glob("*.urdf"))},
    "revolute": chain("revolute", "revolute", "revolute"),
    "default axes": chain("revolute", "prismatic", axes=False),
    "continuous": chain("continuous", "fixed", "continuous"),
    "prismatic": chain("prismatic", "revolute", "prismatic"),
    "fixed": chain("fixed", "revolute", "fixed", "fixed"),
    "planar below": chain("revolute", "planar", "prismatic"),
    "floating below": chain("revolute", "floating", "revolute", "floating", "prismatic"),
    "all": chain("revolute", "continuous", "prismatic", "fixed", "revolute", "continuous"),
}


@pytest.fixture(params=TEXTS, scope="module")
def pair(request: pytest.FixtureRequest) -> tuple[Mechanism, UrdfTwin]:
    description = urdf.parse(TEXTS[request.param]).description
    assert description is not None
    return description.mechanism.without_friction(), UrdfTwin(TEXTS[request.param], description.mechanism)


def state(mech: Mechanism, seed: int) -> tuple[np.ndarray, ...]:
    """At rest where there is a planar joint, whose speeds there are in moving axes."""
    q, qd, qdd = random_state(mech, seed)
    return q, qd * all(link.joint != "planar" for link in mech.links), qdd


@pytest.mark.parametrize("seed", range(3))
def test_pose_velocity_and_acceleration_of_every_link(pair: tuple[Mechanism, UrdfTwin], seed: int) -> None:
    mech, twin = pair
    q, qd, qdd = state(mech, seed)
    poses, velocity, acceleration = direct(mech, "motion", q, qd, qdd)
    wanted, moved = twin.poses(q), twin.velocities(q, qd, qdd)
    own = mech.link_names
    assert set(wanted) - set(own) <= {"base", "world"}
    scale = np.abs(np.stack([moved[name] for name in own])).max()
    for name in own:
        k = mech.link_index(name)
        assert relative(poses[k], wanted[name]) < BOUND
        at = poses[k][:, 3]
        spin = [velocity[k][2, 1], velocity[k][0, 2], velocity[k][1, 0]]
        assert np.abs([*(velocity[k] @ at)[:3], *spin] - moved[name][0]).max() < BOUND * scale
        assert np.abs((acceleration[k] @ at)[:3] - moved[name][1][:3]).max() < BOUND * scale


@pytest.mark.parametrize("seed", range(3))
def test_jacobian_and_dynamics(pair: tuple[Mechanism, UrdfTwin], seed: int) -> None:
    mech, twin = pair
    q, qd, qdd = state(mech, seed)
    assert relative(direct(mech, "mass_matrix", q), twin.mass_matrix(q)) < BOUND
    assert relative(direct(mech, "inverse_dynamics", q, qd, qdd), twin.inverse_dynamics(q, qd, qdd)) < BOUND
    for name in twin.links():
        if name in mech.link_names:
            found, wanted = direct(mech, "jacobian", q, link=name), twin.jacobian(q, name)
            assert np.abs(found - wanted).max() < BOUND * max(1.0, np.abs(wanted).max())


def test_the_first_of_two_elements_counts_on_request() -> None:
    """As in urdfdom, by which Pinocchio reads."""
    text = TEXTS["revolute"]
    text = text.replace('<axis xyz="1 -1 2"/>', '<axis xyz="1 -1 2"/><axis xyz="0 1 0"/>')
    text = text.replace("<mass", '<origin xyz="1 0 0"/><mass', 1)
    reading = urdf.parse(text, options=ReadOptions(drop_unknown=True))
    assert [str(remark).split(";")[-1] for remark in reading.remarks] == [" the first counts"] * 2
    mech = reading.description.mechanism  # type: ignore[union-attr]
    twin = UrdfTwin(text, mech)
    for state in (random_state(mech, seed) for seed in range(2)):
        assert relative(direct(mech, "inverse_dynamics", *state), twin.inverse_dynamics(*state)) < BOUND


def test_the_comparison_has_teeth() -> None:
    """One digit of one inertia, changed, is seen."""
    text = TEXTS["revolute"]
    mech = urdf.parse(text.replace('ixy="0.001"', 'ixy="0.001001"')).description.mechanism  # type: ignore[union-attr]
    q, qd, qdd = random_state(mech)
    wanted = UrdfTwin(text, mech).inverse_dynamics(q, qd, qdd)
    assert relative(direct(mech, "inverse_dynamics", q, qd, qdd), wanted) > 100 * BOUND
