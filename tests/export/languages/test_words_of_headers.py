"""What exported code tells its reader beside sizes: whose frame it is, the order of the joints, the order of the numbers."""

import numpy as np
import pytest

import linkwise as lw
from linkwise import Link, Mechanism
from linkwise.export.mechanism import export

HAND = Mechanism(
    [
        Link(name="arm", joint_name="swing"),
        Link(name="palm", joint="fixed"),
        Link(name="finger", joint="prismatic", parent="arm", joint_name="grip"),
    ],
    tool_link="palm",
    name="hand",
)
MOVED = HAND.with_tool(np.array([[1.0, 0, 0, 0.1], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]))


def words(mechanism: Mechanism, kernel: str, language: str = "c", **options: object) -> str:
    """A header on one line, without the marks of its comments."""
    files = export(mechanism, kernel, language, options=options).files
    text = files[f"{mechanism.name}.{'h' if language == 'c' else 'rs'}"]
    return " ".join(text.replace(" * ", " ").replace("///", " ").split())


@pytest.mark.parametrize("kernel", ["forward_kinematics", "jacobian"])
def test_whose_frame_it_is(kernel: str) -> None:
    assert f"{kernel} of hand, of the tool, the frame of palm." in words(HAND, kernel)
    assert f"{kernel} of hand, of the tool on palm." in words(MOVED, kernel)
    assert f"{kernel} of hand, link finger." in words(HAND, kernel, link="finger")
    assert f"{kernel} of hand, of the tool, the frame of palm" in words(HAND, kernel, link="tool")


def test_no_frame_where_there_is_none() -> None:
    assert "mass_matrix of hand. " in words(HAND, "mass_matrix")


def test_the_order_of_joints_and_numbers() -> None:
    told = words(HAND, "forward_kinematics")
    assert "The order of q is that of the joints swing, grip." in told
    assert "T (4, 4), row-major: homogeneous transform" in told
    assert "q (2): joint coordinates" in told
    assert "`J` (6, 2), row-major: Jacobian" in words(HAND, "jacobian", "rust")


def test_row_major_is_true() -> None:
    made = export(lw.robots.planar_2r(), "mass_matrix", "python").files
    assert "row-major" not in next(iter(made.values()))  # an array there, of two axes
