"""One arm described in two ways moves alike and takes the same efforts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkwise import Link, Mechanism
from linkwise.model.inertia import Inertia
from linkwise.spatial.transform import dh_modified, dh_standard, inverse
from support.random_mechanisms import (
    DH_KINDS,
    direct,
    mechanisms,
    random_body,
    random_mechanism,
    random_pose,
    random_state,
    relative,
)

BOUND = 1e-13
"""The two descriptions round differently in a few hundred operations; seen: 3e-15."""

seeds = st.integers(0, 2**16)


def dynamics(mech: Mechanism, *state: np.ndarray) -> np.ndarray:
    return direct(mech, "inverse_dynamics", *state)


def moved(body: Inertia, pose: np.ndarray) -> dict[str, Any]:
    """The fields of a body given in frame b, in frame a, with pose = T_a_b."""
    turn = pose[:3, :3]
    tensor = turn @ body.tensor @ turn.T
    return {"mass": body.mass, "com": turn @ body.com + pose[:3, 3], "inertia": 0.5 * (tensor + tensor.T)}


@given(seeds, st.lists(st.sampled_from(DH_KINDS), min_size=1, max_size=6).filter(lambda kinds: set(kinds) != {"fixed"}))
def test_standard_and_modified_rows(seed: int, kinds: list[str]) -> None:
    standard = random_mechanism(seed, kinds, list(range(-1, len(kinds) - 1)), ["standard"] * len(kinds))
    links, a, alpha = [], 0.0, 0.0
    for link in standard.links:
        row = link.dh_row
        to_modified = dh_standard(0.0, 0.0, row.a, row.alpha)
        links.append(
            Link.dh(
                row.theta, row.d, a, alpha, convention="modified", joint=link.joint, offset=link.offset, motor=link.motor,
                **moved(link.body, to_modified),
            )
        )  # fmt: skip
        a, alpha = row.a, row.alpha
    tool = dh_modified(0.0, 0.0, a, alpha) @ standard.tool
    modified = Mechanism(links, base=standard.base, tool=tool, gravity=standard.gravity)
    state = random_state(standard, seed)
    errors = [
        relative(direct(modified, "forward_kinematics", state[0]), direct(standard, "forward_kinematics", state[0])),
        relative(direct(modified, "jacobian", state[0]), direct(standard, "jacobian", state[0])),
        relative(dynamics(modified, *state), dynamics(standard, *state)),
    ]
    print(errors)
    assert max(errors) <= BOUND


def split(mech: Mechanism, k: int, rng: np.random.Generator) -> Mechanism:
    """Link k in two: a part on the joint that keeps part of the mass, and the rest, fixed to it, in the old frame."""
    link, cut = mech.links[k], random_pose(rng)
    extra = random_body(rng)
    whole = moved(link.body, np.eye(4))
    inner = link.replace(name="inner", after=cut, **extra)
    rest_pose = np.asarray(inverse(cut)) @ link.after
    # What the inner part carries is taken off the outer part: together they weigh what the link weighed.
    taken = moved(Inertia(**extra), np.asarray(inverse(rest_pose)))
    mass = whole["mass"] - taken["mass"]
    com = (whole["mass"] * link.body.com - taken["mass"] * taken["com"]) / mass

    def about_origin(body: dict[str, Any]) -> np.ndarray:
        c = np.asarray(body["com"])
        return body["inertia"] + body["mass"] * (c @ c * np.eye(3) - np.outer(c, c))

    tensor = about_origin(whole) - about_origin(taken) - mass * (com @ com * np.eye(3) - np.outer(com, com))
    outer = Link(
        joint="fixed", before=rest_pose, name=link.name, parent="inner", mass=mass, com=com, inertia=tensor, physical=False
    )
    return mech.replace(links=[*mech.links[:k], inner, outer, *mech.links[k + 1 :]])


@given(mechanisms(), seeds)
def test_splitting_a_link_by_a_fixed_joint(mech: Mechanism, seed: int) -> None:
    rng = np.random.default_rng(seed)
    k = int(rng.integers(len(mech.links)))
    halves = split(mech, k, rng)
    state = random_state(mech, seed)
    assert halves.n == mech.n
    errors = [
        relative(dynamics(halves, *state), dynamics(mech, *state)),
        relative(np.delete(direct(halves, "link_poses", state[0]), k, 0), direct(mech, "link_poses", state[0])),
        relative(np.delete(direct(halves, "joint_wrenches", *state), k + 1, 0), direct(mech, "joint_wrenches", *state)),
        relative(direct(halves, "jacobian", state[0]), direct(mech, "jacobian", state[0])),
    ]
    print(errors)
    # The outer part's tensor is a difference that cancels up to two digits, once.
    assert max(errors) <= 100 * BOUND


@given(mechanisms(), seeds)
def test_the_order_of_the_list_is_only_an_order(mech: Mechanism, seed: int) -> None:
    rng = np.random.default_rng(seed)
    count = len(mech.links)
    shuffled = [*rng.permutation(count - 1), count - 1]  # the last link stays: it carries the tool
    other = mech.replace(links=[mech.links[k] for k in shuffled])
    picked = [mech.coordinates[k] for k in shuffled if mech.coordinates[k] >= 0]
    state = random_state(mech, seed)
    there = [values[picked] for values in state]
    errors = [
        relative(direct(other, "link_poses", there[0]), direct(mech, "link_poses", state[0])[shuffled]),
        relative(dynamics(other, *there), dynamics(mech, *state)[picked]),
        relative(direct(other, "joint_wrenches", *there), direct(mech, "joint_wrenches", *state)[shuffled]),
        relative(direct(other, "jacobian", there[0]), direct(mech, "jacobian", state[0])[:, picked]),
    ]
    print(errors)
    assert max(errors) <= BOUND


@given(mechanisms(), seeds)
def test_a_payload_is_a_mass_on_the_tool(mech: Mechanism, seed: int) -> None:
    body = random_body(np.random.default_rng(seed))
    carrying = mech.with_payload(**body)
    fixed = Link(joint="fixed", before=mech.tool, name="payload", parent=mech.links[-1].name, **body)
    welded = mech.replace(links=[*mech.links, fixed], tool=None)
    state = random_state(mech, seed)
    errors = [
        relative(dynamics(carrying, *state), dynamics(welded, *state)),
        relative(direct(carrying, "joint_wrenches", *state), direct(welded, "joint_wrenches", *state)[:-1]),
    ]
    print(errors)
    assert max(errors) <= BOUND
    assert carrying.with_payload() == mech
    assert np.array_equal(dynamics(carrying.with_payload(), *state), dynamics(mech, *state))


def test_teeth() -> None:
    """A gram of payload is seen."""
    mech = random_mechanism(3)
    state = random_state(mech)
    assert relative(dynamics(mech.with_payload(1e-3), *state), dynamics(mech, *state)) > 1e4 * BOUND


@pytest.mark.parametrize("turn", [0.0, 0.7])
def test_turning_the_world_changes_no_effort(turn: float) -> None:
    mech = random_mechanism(5)
    whole = random_pose(np.random.default_rng(int(10 * turn)))
    gravity = whole[:3, :3] @ mech.gravity
    other = mech.replace(base=whole @ mech.base, gravity=gravity)
    state = random_state(mech)
    error = relative(dynamics(other, *state), dynamics(mech, *state))
    print(f"{error:.1e}")
    assert error <= BOUND
