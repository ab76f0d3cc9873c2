"""Whether every coordinate moves some inertia: known from each joint alone where that is enough."""

from __future__ import annotations

import numpy as np
import pytest

from linkwise import Mechanism
from linkwise.dynamics import inertia_check
from linkwise.errors import ModelError
from linkwise.model.body import moving_bodies
from support.random_mechanisms import direct, random_mechanism

PARTS = ("universal", "cylindrical", "planar")


@pytest.mark.parametrize("kind", PARTS)
def test_pivots_of_a_joint_alone_are_those_of_its_mass_matrix(kind: str) -> None:
    mech = random_mechanism(3, [kind], None, ["general"], motors=False)
    bodies = moving_bodies(mech).bodies
    matrix = direct(mech, "mass_matrix", [-body.angle * body.turn for body in bodies])
    alone = inertia_check._pivots(inertia_check._alone([bodies]))[0]
    assert np.allclose(alone, inertia_check._pivots(matrix[::-1, ::-1]), rtol=1e-12)  # (condition some 100)


def test_large_mechanisms_need_no_mass_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    """M of 400 coordinates took seconds to factor, at each first call of forward dynamics."""
    kinds = [("revolute", "ball", *PARTS)[k % 5] for k in range(200)]
    monkeypatch.setattr(inertia_check, "_mass_matrix", None)
    inertia_check.check_inertia(random_mechanism(5, kinds, list(range(-1, 199)), ["general"] * 200))


@pytest.mark.parametrize("kind", PARTS)
def test_parts_that_move_nothing_are_named(kind: str) -> None:
    mech = random_mechanism(3, ["revolute", kind], [-1, 0], ["general"] * 2, motors=False)
    light = mech.links[1].replace(mass=0.0, com=(0, 0, 0), inertia=np.zeros((3, 3)))
    with pytest.raises(ModelError, match=r"joint 'part1_.*inertia is 0.0"):
        inertia_check.check_inertia(Mechanism([mech.links[0], light]))
