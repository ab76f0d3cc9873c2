"""The tool on any link: everything that speaks of the tool speaks of that link."""

from __future__ import annotations

import numpy as np
import pytest

from linkwise import Mechanism
from linkwise.errors import ModelError
from support.random_mechanisms import direct, random_mechanism, random_pose, random_state, relative

ROUNDING = 1e-14
"""The same sums in another order."""


def two_arms(**values: object) -> Mechanism:
    """A trunk with two arms of two joints; the tool is on the first arm, which does not come last."""
    kinds, parents = ["revolute", "revolute", "prismatic", "screw", "revolute"], [-1, 0, 1, 0, 3]
    return random_mechanism(3, kinds, parents, tool_link="part2", **values)


def reordered(mech: Mechanism) -> tuple[Mechanism, list[int]]:
    """The same mechanism with the arm that has the tool at the end of the list, and the new order of its joints."""
    order = [0, 3, 4, 1, 2]
    return mech.replace(links=[mech.links[k] for k in order], tool_link=None), order


@pytest.mark.parametrize("name", ["forward_kinematics", "jacobian", "jacobian_dot", "inverse_dynamics_external",
    "forward_dynamics_external", "joint_wrenches_external", "center_of_mass", "mass_matrix", "regressor",
    "inverse_operational_space_inertia"])  # fmt: skip
def test_it_is_as_if_that_link_came_last(name: str) -> None:
    mech = two_arms().with_payload(0.7, (0.1, -0.05, 0.2), (0.01, 0.02, 0.015))
    last, order = reordered(mech)
    q, qd, qdd = random_state(mech, 5)
    push = np.array([3.0, -2.0, 5.0, 0.4, 0.3, -0.2])
    motion, driven = (q, qd, qdd), (q, qd, qdd, push)
    inputs = {"jacobian_dot": (q, qd), "regressor": motion, "joint_wrenches_external": driven}
    given = inputs.get(name, driven if name.endswith("external") else (q,))
    there = [value[order] if len(value) == mech.n else value for value in given]
    found, wanted = direct(mech, name, *given), direct(last, name, *there)
    back = np.argsort(order)
    if name in {"jacobian", "jacobian_dot"}:
        wanted = wanted[:, back]
    elif name == "mass_matrix":
        wanted = wanted[np.ix_(back, back)]
    elif name in {"inverse_dynamics_external", "forward_dynamics_external", "joint_wrenches_external"}:
        wanted = wanted[back]
    elif name == "regressor":
        wanted = (wanted @ last.parameters)[back]
        found = found @ mech.parameters
    assert relative(found, wanted) <= ROUNDING * (100 if "forward_dynamics" in name or "inverse_op" in name else 1)


def test_it_is_named_and_told() -> None:
    mech = two_arms()
    assert (mech.tool_link, mech.tool_index) == ("part2", 2)
    assert "tool on part2 at xyz" in repr(mech)
    assert mech.with_tool(np.eye(4), "part4").tool_link is None  # the last of the list needs no name
    assert mech.with_tool(np.eye(4)).tool_link == "part2"
    pose = random_pose(np.random.default_rng(1))
    assert np.array_equal(mech.with_tool(pose, "part1").tool, pose)
    assert mech.replace(tool_link=None) != mech
    with pytest.raises(ModelError) as caught:
        mech.with_tool(np.eye(4), "hand")
    assert "tool_link is 'hand'; expected 'part0', 'part1', 'part2', 'part3' or 'part4'" in str(caught.value)
