"""A model never changes; other models are made from it, exactly; equal models are equal in every way."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given

from linkwise import Inertia, Link, Mechanism, Motor
from linkwise.errors import ArgumentError
from support.random_mechanisms import mechanisms, random_mechanism, random_pose, random_state, sample


def arrays(mech: Mechanism) -> list[np.ndarray]:
    found = [
        mech.base,
        mech.tool,
        mech.gravity,
        mech.q_min,
        mech.q_max,
        mech.payload.com,
        mech.payload.tensor,
    ]
    for link in mech.links:
        found += [link.before, link.after, link.axis, link.body.com, link.body.tensor]
    return found


def test_arrays_are_closed() -> None:
    mech = sample(0).with_payload(1.0)
    for array in arrays(mech):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0.0


def test_fields_are_closed() -> None:
    mech = random_mechanism(0)
    link, motor = mech.links[0], Motor(inertia=1e-3)
    with pytest.raises(AttributeError, match=r"never changes; use replace\(gravity=\.\.\.\)"):
        mech.gravity = np.zeros(3)  # type: ignore[misc]
    with pytest.raises(AttributeError):
        mech.anything = 1  # type: ignore[attr-defined]
    for item, field in ((link, "mass"), (link, "offset"), (motor, "inertia"), (link.body, "mass")):
        with pytest.raises((FrozenInstanceError, AttributeError)):
            setattr(item, field, 1.0)


def test_fields_are_not_deleted() -> None:
    mech = random_mechanism(0)
    with pytest.raises(AttributeError):
        del mech.gravity


def test_what_was_passed_may_change_afterwards() -> None:
    base, com = np.eye(4), np.zeros(3)
    mech = Mechanism([Link(com=com, mass=1.0)], base=base)
    base[0, 3], com[0] = 5.0, 5.0
    assert mech.base[0, 3] == 0.0
    assert mech.links[0].body.com[0] == 0.0


@given(mechanisms())
def test_equal_in_every_way(mech: Mechanism) -> None:
    for other in (pickle.loads(pickle.dumps(mech)), copy.copy(mech), copy.deepcopy(mech), mech.replace()):
        assert other == mech
        assert hash(other) == hash(mech)
        assert repr(other) == repr(mech)
        assert other.key == mech.key


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda item: pickle.loads(pickle.dumps(item))])
def test_copies_are_closed_too(copied: Callable[[object], object]) -> None:
    mech = sample(0).with_payload(1.0)
    assert not any(array.flags.writeable for array in arrays(copied(mech)))
    link = copied(mech.links[0])
    assert not any(array.flags.writeable for array in (link.before, link.after, link.axis, link.body.com, link.body.tensor))
    assert not copied(mech.payload).tensor.flags.writeable


def test_any_difference_makes_a_difference() -> None:
    mech = sample(0)
    others = [
        mech.replace(gravity=(0, 0, -9.8)),
        mech.replace(base=None),
        mech.replace(tool=None),
        mech.replace(name="other"),
        mech.with_payload(1e-9),
        mech.replace(floating=True),
        mech.replace(motors=[Motor(joint=mech.names[0])]),
        mech.replace_link(0, offset=0.123),
        mech.replace_link(0, mass=mech.links[0].body.mass + 1e-12),
        mech.replace_link(0, motor=Motor(inertia=1e-9)),
        mech.replace_link(0, limits=(-1, 1)),
        mech.replace(links=[*mech.links[:-1], mech.links[-1].replace(name="renamed")]),
    ]
    assert all(other != mech for other in others)
    assert len({mech, *others}) == len(others) + 1
    assert mech != "mechanism"
    assert mech.links[0] != 3
    assert Inertia(1.0) == Inertia(1.0)
    assert Inertia(1.0) != Inertia(1.0, physical=False)


def test_replacing_a_link_keeps_its_other_fields() -> None:
    mech = random_mechanism(8)
    for k, link in enumerate(mech.links):
        changed = mech.replace_link(k, mass=2.5)
        assert changed.links[k].body.mass == 2.5
        assert changed.links[k].replace(mass=link.body.mass) == link
        assert mech.replace_link(str(link.name)) == mech
        assert changed.links[:k] + changed.links[k + 1 :] == mech.links[:k] + mech.links[k + 1 :]


def test_tool_and_payload_go_on_and_off() -> None:
    mech = sample(3)
    tool = random_pose(np.random.default_rng(0))
    assert mech.with_tool(tool).with_tool(mech.tool) == mech
    loaded = mech.with_payload(2.0, (0.1, 0, 0), (0.02, 0.02, 0.02))
    assert loaded.payload.mass == 2.0
    assert loaded.with_payload() == mech
    assert loaded.links == mech.links, "the payload is kept apart from the last link"


def test_friction_goes_off() -> None:
    mech = random_mechanism(12)
    smooth = mech.without_friction()
    assert mech.drives
    for before, after in zip(mech.drives, smooth.drives, strict=True):
        assert (after.motor.viscous, after.motor.coulomb) == (0.0, (0.0, 0.0))
        assert (after.motor.inertia, after.motor.gear_ratio) == (before.motor.inertia, before.motor.gear_ratio)
    assert smooth.without_friction() == smooth
    assert all(drive.motor.viscous == 0 for drive in mech.without_friction(coulomb=False).drives)
    assert mech.without_friction(coulomb=False, viscous=False) == mech
    bare = mech.replace(links=[link.replace(motor=None) for link in mech.links])
    assert bare.without_friction() == bare


def test_perturbation() -> None:
    mech = sample(5)
    other = mech.perturb(0.1, seed=3)
    assert other == mech.perturb(0.1, seed=3)
    assert other != mech.perturb(0.1, seed=4)
    assert mech.perturb(0.0) == mech
    factors = []
    for before, after in zip(mech.links, other.links, strict=True):
        mass = after.body.mass / before.body.mass
        tensor = after.body.tensor / before.body.tensor
        assert np.ptp(tensor) < 1e-12
        factors += [mass, tensor[0, 0]]
        assert np.array_equal(after.body.com, before.body.com)
        assert after.motor == before.motor
    assert all(0.9 <= factor <= 1.1 for factor in factors)
    assert len({round(factor, 9) for factor in factors}) == len(factors)


def test_kernels_stay_with_their_mechanism() -> None:
    """A mechanism that was computed with is as equal, hashable and picklable as a fresh one."""
    mech = random_mechanism(9)
    state = random_state(mech)
    before = hash(mech)
    tau = mech.inverse_dynamics(*state)
    mech.jacobian(state[0])
    assert hash(mech) == before
    again = pickle.loads(pickle.dumps(mech))
    assert again == mech
    assert np.array_equal(again.inverse_dynamics(*state), tau)
    assert np.array_equal(copy.deepcopy(mech).inverse_dynamics(*state), tau)
    heavier = mech.replace_link(0, mass=100.0)
    assert not np.array_equal(heavier.inverse_dynamics(*state), tau)


def test_memo_makes_once_and_stays_with_its_mechanism() -> None:
    mech, calls = random_mechanism(9), []

    def make() -> list[int]:
        calls.append(1)
        return calls

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda _: mech.memo("test", "key", make), range(64)))
    assert len(calls) == 1
    assert all(result is calls for result in results)
    assert mech.memo("test", "other key", lambda: 3) == 3
    for other in (mech.replace(name="other"), pickle.loads(pickle.dumps(mech)), copy.copy(mech), copy.deepcopy(mech)):
        assert other.memo("test", "key", lambda: "made anew") == "made anew"


def test_memo_keeps_nothing_of_a_failure() -> None:
    mech = random_mechanism(9)

    def fail() -> int:
        raise ArgumentError("no")

    for _ in range(2):
        with pytest.raises(ArgumentError):
            mech.memo("test", "key", fail)
    assert mech.memo("test", "key", lambda: 1) == 1


def test_names_limits_and_indices() -> None:
    links = [
        Link(name="a", limits=(-1, 2)),
        Link(joint="fixed", name="b"),
        Link(joint="prismatic", limits=(0, np.inf)),
        Link(limits=(-np.inf, np.inf)),
    ]
    mech = Mechanism(links)
    assert mech.n == 3
    assert mech.link_names == ("a", "b", "link3", "link4")
    assert mech.names == ("a", "link3", "link4")
    assert np.column_stack([mech.q_min, mech.q_max]).tolist() == [[-1, 2], [0, np.inf], [-np.inf, np.inf]]
    assert mech.coordinates == (0, -1, 1, 2)
    assert mech.parents == (-1, 0, 1, 2)
    assert mech.path(3) == (0, 1, 2, 3)
    assert [mech.link_index(k) for k in ("a", "link4", -1, 0)] == [0, 3, 3, 0]
    tree = Mechanism([Link(name="b", parent="a"), Link(name="a", parent="base"), Link(name="c", parent="a")])
    assert tree.parents == (1, -1, 1)
    assert tree.order[0] == 1


@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e200])
def test_axes_are_normalised_and_stay_so(scale: float) -> None:
    axis = np.array([0.3, -0.4, 0.8]) * scale
    link = Link(axis=axis)
    assert np.linalg.norm(link.axis) == pytest.approx(1.0, abs=2e-16)
    assert link.replace(mass=1.0).axis.tolist() == link.axis.tolist()
    assert Link(axis=link.axis).axis.tolist() == link.axis.tolist()


def test_links_without_names_never_take_one_that_is_given() -> None:
    assert Mechanism([Link(name="link2"), Link(), Link()]).link_names == ("link2", "link2_", "link3")
