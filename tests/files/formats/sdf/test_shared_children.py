"""Links with two parents: trees that share a child, and joints of several coordinates whose child the ground holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from linkwise import Link, Mechanism, files, loads
from linkwise.errors import FileError
from linkwise.spatial.transform import inverse


def body(name: str, pose: str, mass: float) -> str:
    moments = f"<ixx>{0.1 * mass}</ixx><iyy>{0.12 * mass}</iyy><izz>{0.15 * mass}</izz><ixy>0.01</ixy>"
    inertial = f"<mass>{mass}</mass><pose>0.1 0.02 -0.03 0 0 0</pose><inertia>{moments}</inertia>"
    return f'<link name="{name}"><pose>{pose}</pose><inertial>{inertial}</inertial></link>'


def joint(name: str, parent: str, child: str, kind: str = "revolute", axes: str = "<axis><xyz>0 1 0</xyz></axis>") -> str:
    return f'<joint name="{name}" type="{kind}"><parent>{parent}</parent><child>{child}</child>{axes}</joint>'


def model(*parts: str) -> str:
    return f'<sdf version="1.9" xmlns:drake="http://drake.mit.edu"><model name="m">{"".join(parts)}</model></sdf>'


LEFT, MIDDLE = body("left", "0 0 1 0.1 0.2 0.3", 1.0), body("middle", "0.5 0 1 0 0 0.2", 3.0)
RIGHT, FAR = body("right", "1 0 1 0 0.3 0", 2.0), body("far", "1.5 0 1 0.2 0 0", 0.5)
FIRST, SECOND = (
    joint("first", "left", "middle"),
    joint("second", "right", "middle", "prismatic", "<axis><xyz>1 0 0</xyz></axis>"),
)
UNIVERSAL = "<axis><xyz>0 1 0</xyz></axis><axis2><xyz>1 0 0</xyz></axis2>"

SHARED = {
    "two": (model(LEFT, RIGHT, MIDDLE, FIRST, SECOND), 8),
    "three": (model(LEFT, RIGHT, FAR, MIDDLE, FIRST, SECOND, joint("third", "far", "middle")), 9),
    "at the second link": (model(LEFT, MIDDLE, RIGHT, FAR, FIRST, SECOND, joint("third", "right", "far")), 9),
    "second tree of two": (
        model(LEFT, MIDDLE, RIGHT, FAR, FIRST, joint("tip", "right", "far"), joint("end", "far", "middle")),
        9,
    ),
    "beside the ground": (model(LEFT, RIGHT, MIDDLE, FIRST, SECOND, FAR, joint("post", "world", "far")), 9),
}


@pytest.mark.parametrize("name", SHARED)
def test_free_trees_that_share_a_child_are_one_tree(name: str, tmp_path: Path) -> None:
    text, freedoms = SHARED[name]
    mechanism = loads(text)
    assert not mechanism.loops
    assert mechanism.nv == freedoms
    assert sum(link.body.mass for link in mechanism.links) == text.count("<mass>1.0") + 2 * text.count(
        "<mass>2.0"
    ) + 3 * text.count("<mass>3.0") + 0.5 * text.count("<mass>0.5")
    pytest.importorskip("pydrake", exc_type=ImportError)
    from support.drake_from_file import DrakeTwin, drake_plant

    (tmp_path / "model.sdf").write_text(text)
    plant = drake_plant(tmp_path / "model.sdf", [])
    twin = DrakeTwin(mechanism, plant)
    assert plant.num_velocities() == freedoms
    for seed in range(3):
        for what, difference in twin.residuals(seed):
            assert difference < 1e-12, f"{what}: {difference:.1e}"  # rounding of four bodies


def test_limits_and_motors_stay_with_their_joint() -> None:
    limited = "<axis><xyz>1 0 0</xyz><limit><lower>-0.2</lower><upper>0.3</upper><effort>7</effort></limit></axis>"
    mechanism = loads(model(LEFT, RIGHT, MIDDLE, FIRST, joint("second", "right", "middle", "prismatic", limited)))
    right = mechanism.links[mechanism.link_index("right")]
    assert (right.limits, right.tau_max, right.parent) == ((-0.2, 0.3), 7.0, "middle")


def test_that_a_joint_carries_its_parent_is_remarked(tmp_path: Path) -> None:
    (tmp_path / "model.sdf").write_text(SHARED["two"][0])
    remarks = [str(remark) for remark in files.remarks(tmp_path / "model.sdf")]
    assert any("'second'" in text and "'right', its parent" in text and "held by 'left'" in text for text in remarks)


def acceleration(mechanism: Mechanism, name: str) -> Any:
    """Linear and angular acceleration of a link at rest, where the file describes it."""
    q, still = mechanism.neutral, np.zeros(mechanism.nv)
    qdd = mechanism.forward_dynamics(q, still, still)
    return mechanism.frame_acceleration(q, still, qdd, name)


HANGERS = {
    "universal": joint("hanger", "left", "middle", "universal", UNIVERSAL),
    "planar": '<frame name="end" attached_to="left"><pose relative_to="middle"/></frame>'
    '<drake:joint name="hanger" type="planar">'
    "<drake:parent>end</drake:parent><drake:child>middle</drake:child></drake:joint>",
}

#: Joints from the middle link to the left one that move it alike.
SAME = {
    "universal": [{"axis": (1, 0, 0)}, {"axis": (0, 1, 0)}],
    "planar": [{"joint": "prismatic", "axis": (1, 0, 0)}, {"joint": "prismatic", "axis": (0, 1, 0)}, {"axis": (0, 0, 1)}],
}


@pytest.mark.parametrize("kind", HANGERS)
def test_a_joint_of_several_coordinates_whose_child_the_ground_holds(kind: str) -> None:
    """A floating link and a loop, with the freedoms of the joint: it falls as the same link on single joints does."""
    mechanism = loads(model(LEFT, MIDDLE, joint("weld", "world", "middle", "fixed", ""), HANGERS[kind]))
    assert mechanism.mobility().freedoms == len(SAME[kind])
    poses = dict(zip(mechanism.link_names, mechanism.link_poses(mechanism.neutral), strict=True))
    links = [Link(joint="fixed", name="middle", parent="base", before=poses["middle"])]
    links += [
        Link(name=f"part{k}", parent=links[-1].name if not k else f"part{k - 1}", **axis)
        for k, axis in enumerate(SAME[kind])
    ]
    left = mechanism.links[mechanism.link_index("left")].body
    links.append(Link(joint="fixed", name="left", before=inverse(poses["middle"]) @ poses["left"], body=left))
    tree = Mechanism(links, gravity=mechanism.gravity)
    found, wanted = acceleration(mechanism, "left"), acceleration(tree, "left")
    print(found, f"{np.abs(found - wanted).max():.1e}")
    assert np.abs(found - wanted).max() < 1e-11  # (accelerations of some 10, and a solution of eight equations)


def test_two_universal_joints_to_one_link_are_refused() -> None:
    with pytest.raises(FileError, match="a universal joint cannot close a loop"):
        loads(
            model(
                LEFT,
                RIGHT,
                MIDDLE,
                joint("u", "left", "middle", "universal", UNIVERSAL),
                joint("v", "right", "middle", "universal", UNIVERSAL),
            )
        )
