"""Closed loops as data: what they say, what they may not, and what is refused until it can be answered."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from linkwise import Link, Loop, Mechanism, simulate
from linkwise.algorithm import ALGORITHMS, find
from linkwise.algorithm import CLOSED as ON_LOOPS
from linkwise.dynamics import spatial_operators
from linkwise.errors import ArgumentError, ModelError
from linkwise.spatial.transform import translation
from support.messages import unnamed

EFFORTS = {
    "inverse_dynamics", "inverse_dynamics_external", "gravity_torque",
    "bias_torque", "inverse_dynamics_derivatives", "joint_wrenches", "gravity_torque_external", "inverse_mass_matrix",
    "joint_wrenches_external", "regressor", "inverse_operational_space_inertia", "lagrange_dynamics",
    "gravity_regressor", "momentum_regressor", "inverse_dynamics_external_derivatives",
    "inverse_dynamics_second_derivatives", "inverse_dynamics_hessian_product", "path_dynamics", "path_effort_shares",
}  # fmt: skip
"""What depends on the forces that close the loops, and has no answer where these are not known."""

CLOSED = {
    "forward_dynamics", "forward_dynamics_external",
    "forward_dynamics_derivatives", "forward_dynamics_external_derivatives",
    "forward_dynamics_second_derivatives", "forward_dynamics_hessian_product",
}  # fmt: skip
"""What finds these forces: see tests/dynamics/closed_loops."""


def four_bar() -> Mechanism:
    """A crank, a coupler and a rocker; the coupler's end is pinned to the rocker's."""
    body = {"mass": 1.0, "inertia": (0.01, 0.01, 0.01)}
    return Mechanism(
        [
            Link(name="crank", parent="base", **body),
            Link(name="coupler", before=translation(0.2, 0.0, 0.0), **body),
            Link(name="rocker", parent="base", before=translation(0.5, 0.0, 0.0), **body),
        ],
        loops=[Loop("hinge", "coupler", "rocker", translation(0.6, 0, 0), translation(0.4, 0, 0), "pin")],
        name="four-bar",
    )


def test_it_is_part_of_the_mechanism() -> None:
    mech = four_bar()
    (loop,) = mech.loops
    assert repr(loop) == "Loop('hinge', 'coupler', 'rocker', name='pin')"
    assert (loop.first_frame[0, 3], loop.second_frame[0, 3]) == (0.6, 0.4)
    assert pickle.loads(pickle.dumps(mech)) == mech
    assert mech.replace(loops=()) != mech
    assert "loop pin: axes and points on coupler and on rocker coincide" in repr(mech)
    with pytest.raises(ValueError, match="read-only"):
        loop.first_frame[0, 0] = 2.0


@pytest.mark.parametrize("name", sorted(name for name in ALGORITHMS if not find(name).needs_loops and name not in CLOSED))
def test_what_the_loops_push_is_not_guessed(name: str) -> None:
    mech, declared = four_bar(), ALGORITHMS[name]
    given = [np.zeros(shape) for shape in declared.shapes(mech, declared.inputs).values()]
    if name in EFFORTS:
        with pytest.raises(ArgumentError) as caught:
            mech.kernel(name, backend="numpy")
        called = name.replace("_external", "")
        hint = "actuator_efforts(q, qd, qdd, driven=[...]) gives the efforts with loops closed; "
        method = f"the method {called} of Mechanism takes driven=[...] and keeps loops closed; "
        hints = {"inverse_dynamics": hint} | dict.fromkeys(ON_LOOPS, method)
        said = (
            "'four-bar' has closed loops, 'pin'; {} is for mechanisms without loops"
            " ({}replace(loops=()) gives the tree, cut open)"
        )
        assert unnamed(caught.value, said.format(called, hints.get(called, ""))) == []
    else:
        cut = mech.replace(loops=())
        assert np.array_equal(mech.kernel(name, backend="numpy")(*given), cut.kernel(name, backend="numpy")(*given))


def test_nor_is_its_motion() -> None:
    with pytest.raises(ArgumentError, match=r"0.*'four-bar'.*0\.167.*0\.6"):
        simulate(four_bar(), [0.0] * 3, [0.0] * 3, t=(0.1, 0.01))
    with pytest.raises(ArgumentError, match=r"'pin'.*spatial_operators"):
        spatial_operators(four_bar(), [0.0] * 3)


def test_what_cannot_be() -> None:
    with pytest.raises(ModelError) as caught:
        Loop("ball", "", 3, first_frame=np.ones((4, 4)), name=" ")  # type: ignore[arg-type]
    assert [problem.field for problem in caught.value.problems] == ["kind", "first", "second", "first_frame", "name"]
    assert str(caught.value).splitlines()[0] == "loop ' ': kind is 'ball'; expected 'full', 'point' or 'hinge'"
    with pytest.raises(ModelError) as caught:
        Loop("full", "crank", "crank")
    assert unnamed(caught.value, "loop: second is 'crank'; expected another link than 'crank'") == []
    with pytest.raises(ModelError) as caught:
        four_bar().replace(loops=[Loop("full", "crank", "rod"), Loop("full", "wheel", "base", name="axle")])
    ends = "expected 'base', 'crank', 'coupler' or 'rocker'"
    said = [f"loops[0]: second is 'rod'; {ends}", f"loop 'axle': first is 'wheel'; {ends}"]
    assert str(caught.value).splitlines() == said
    with pytest.raises(ModelError, match="expected a sequence of Loop"):
        four_bar().replace(loops=["pin"])
