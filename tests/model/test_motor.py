"""Motors: what may be said of one, where its rotor sits, which joint it drives, and how friction is felt."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from linkwise import Inertia, Link, Mechanism, Motor
from linkwise.errors import ArgumentError, ModelError
from linkwise.model.transmission import Drive
from linkwise.model.tree import Tree
from support.messages import unnamed
from support.random_mechanisms import random_body, random_rotation

ROTOR: dict[str, Any] = {"carrier": "arm", "axis": (0, 0, 1)}
BODY: dict[str, Any] = {**ROTOR, "mass": 0.4, "com": (0, 0, 0.1), "rotor_inertia": (3e-4, 3e-4, 2e-4)}


def arm(**fields: Any) -> Mechanism:
    links = [Link(name="arm", mass=1.0), Link(name="plate", joint="fixed"), Link(name="hand", mass=1.0)]
    return Mechanism(links, name="robot", **fields)


# ── one motor ─────────────────────────────────────────────────────────────────────────────────────

BAD: list[tuple[dict[str, Any], str]] = [
    ({"axis": (0, 0, 1)}, "carrier is None; expected the link that carries the rotor, or 'base', for 'axis' is given"),
    (
        {"mass": 1, "com": (1, 0, 0), "rotor_inertia": (1, 1, 1)},
        "carrier is None; expected the link that carries the rotor, or 'base', for 'mass', 'com' and 'rotor_inertia' are "
        "given",
    ),
    (
        {"carrier": "arm"},
        "axis is None; expected the direction of the rotor's spin in the carrier's axes, for a carrier is given",
    ),
    ({**ROTOR, "carrier": -1}, "carrier is -1; expected the name of a link, its index from 0, 'base', or None"),
    ({**ROTOR, "carrier": True}, "carrier is True; expected the name of a link, its index from 0, 'base', or None"),
    ({**ROTOR, "carrier": 1.5}, "carrier is 1.5; expected the name of a link, its index from 0, 'base', or None"),
    ({**ROTOR, "carrier": " "}, "carrier is ' '; expected the name of a link, its index from 0, 'base', or None"),
    ({**ROTOR, "axis": (0, 0, 0)}, "axis is (0, 0, 0); expected a vector other than zero"),
    ({**ROTOR, "axis": (0, float("nan"), 1)}, "axis is (0, nan, 1); expected 3 finite numbers"),
    ({**ROTOR, "axis": "z"}, "axis is 'z'; expected 3 finite numbers"),
    ({**ROTOR, "mass": -1}, "mass is -1; expected a finite number >= 0"),
    ({**ROTOR, "com": (0, 0)}, "com is (0, 0); expected 3 finite numbers"),
    (
        {**ROTOR, "rotor_inertia": 4},
        "rotor_inertia is 4; expected 0, 3 diagonal elements, 6 elements Ixx Iyy Izz Ixy Iyz Ixz, or a symmetric 3x3 matrix",
    ),
    (
        {**ROTOR, "rotor_inertia": (1, 1, 3)},
        "rotor_inertia is [1.0, 1.0, 3.0]; expected principal moments in which none exceeds the sum of the other two "
        "(triangle inequality)",
    ),
    (
        {**ROTOR, "rotor_inertia": (1, 1, -1)},
        "rotor_inertia is [-1.0, 1.0, 1.0]; expected principal moments >= 0 (positive semidefinite)",
    ),
    (
        {**ROTOR, "rotor_inertia": (2, 3, 4)},
        "rotor_inertia is [[2.0, 0.0, 0.0], [0.0, 3.0, 0.0], [0.0, 0.0, 4.0]]; expected equal moments across the spin axis "
        "and no products with it, for the rotor turns",
    ),
    (
        {**ROTOR, "axis": (1, 0, 0), "rotor_inertia": (3, 3, 4)},
        "rotor_inertia is [[3.0, 0.0, 0.0], [0.0, 3.0, 0.0], [0.0, 0.0, 4.0]]; expected equal moments across the spin axis "
        "and no products with it, for the rotor turns",
    ),
    (
        {**ROTOR, "rotor_inertia": (3, 3, 4), "inertia": 3.0},
        "inertia is 3.0; expected 4.0, the moment of rotor_inertia about the axis (or leave it out)",
    ),
    (
        {**ROTOR, "rotor_inertia": (3, 3, 4), "inertia": 4.0 * (1 + 1e-8)},
        "inertia is 4.00000004; expected 4.0, the moment of rotor_inertia about the axis (or leave it out)",
    ),
    ({"friction_rule": "dry"}, "friction_rule is 'dry'; expected 'reflected' or 'toolbox7'"),
    ({"friction_rule": None}, "friction_rule is None; expected 'reflected' or 'toolbox7'"),
    ({"joint": 3}, "joint is 3; expected the name of the link whose joint it drives, or None"),
    ({"joint": "hand", "inertia": -1}, "inertia is -1; expected a finite number >= 0"),
]


@pytest.mark.parametrize(("fields", "expected"), BAD)
def test_one_mistake(fields: dict[str, Any], expected: str) -> None:
    with pytest.raises(ModelError) as caught:
        Motor(**fields)
    item = "motor of 'hand'" if fields.get("joint") == "hand" else "motor"
    assert unnamed(caught.value, f"{item}: {expected}") == []


def test_all_mistakes_are_named_at_once() -> None:
    with pytest.raises(ModelError) as caught:
        Motor(inertia=-1, gear_ratio=0, carrier="arm", mass=-2, rotor_inertia=(0, 0, 1), friction_rule="x")
    fields = [problem.field for problem in caught.value.problems]
    assert sorted(fields) == ["axis", "friction_rule", "gear_ratio", "inertia", "mass", "rotor_inertia"]


@pytest.mark.parametrize("seed", range(5))
def test_the_moment_comes_from_the_tensor(seed: int) -> None:
    """A rotor about any axis; what is left out is a' I a, what is given must agree with it."""
    rng = np.random.default_rng(seed)
    turn = random_rotation(rng)
    axis, tensor = turn[:, 2], turn @ np.diag([3e-4, 3e-4, 2e-4]) @ turn.T
    motor = Motor(carrier="base", axis=5 * axis, rotor_inertia=0.5 * (tensor + tensor.T), mass=0.1)
    print(abs(motor.inertia - 2e-4) / 2e-4)
    assert motor.inertia == pytest.approx(2e-4, rel=1e-14)  # two rotations of a tensor: a dozen roundings
    assert np.abs(motor.axis - axis).max() < 1e-15
    given = motor.replace(inertia=2e-4)
    assert given.inertia == 2e-4
    assert motor.replace(axis=-axis).inertia == motor.inertia
    with pytest.raises(ModelError, match="equal moments across the spin axis"):
        motor.replace(axis=turn[:, 0])


def test_what_is_left_out_does_nothing() -> None:
    assert Motor().inertia == 0.0
    assert Motor(2e-4, **ROTOR).inertia == 2e-4
    assert Motor(2e-4, **ROTOR).locked.is_zero
    assert Motor(2e-4).carrier is Motor(2e-4).axis is Motor(2e-4).joint is None
    assert Motor(**BODY).locked == Inertia(BODY["mass"], BODY["com"], BODY["rotor_inertia"])
    assert Motor(**{**BODY, "carrier": np.int64(2)}).carrier == 2


FRICTION = [
    ("reflected", 50.0, 50**2 * 1e-3, (50 * 0.4, -50 * 0.5)),
    ("reflected", -50.0, 50**2 * 1e-3, (50 * 0.4, -50 * 0.5)),
    ("toolbox7", 50.0, 50 * 1e-3, (50 * 0.4, -50 * 0.5)),
    ("toolbox7", -50.0, -50 * 1e-3, (-50 * 0.4, 50 * 0.5)),
]


@pytest.mark.parametrize(("rule", "ratio", "viscous", "coulomb"), FRICTION)
def test_friction_rules(rule: str, ratio: float, viscous: float, coulomb: tuple[float, float]) -> None:
    motor = Motor(2e-4, ratio, 1e-3, (0.4, -0.5), friction_rule=rule)
    assert motor.reflected_viscous == viscous
    assert motor.reflected_coulomb == coulomb
    assert motor.reflected_inertia == 50**2 * 2e-4


def test_equal_in_every_way() -> None:
    motor = Motor(gear_ratio=-3, viscous=0.1, coulomb=0.2, joint="hand", friction_rule="toolbox7", **BODY)
    for other in (pickle.loads(pickle.dumps(motor)), copy.copy(motor), copy.deepcopy(motor), motor.replace()):
        assert other == motor
        assert hash(other) == hash(motor)
        assert repr(other) == repr(motor)
        assert not any(array.flags.writeable for array in (other.com, other.rotor_inertia, other.axis))
    changes: list[dict[str, Any]] = [
        {"gear_ratio": 3}, {"viscous": 0}, {"coulomb": 0}, {"joint": "arm"}, {"friction_rule": "reflected"},
        {"carrier": "base"}, {"mass": 0.5}, {"com": (0, 0, 0)}, {"rotor_inertia": (3e-4, 3e-4, 1e-4)}, {"axis": (0, 0, -1)},
    ]  # fmt: skip
    assert len({motor, *(motor.replace(**change) for change in changes)}) == len(changes) + 1
    assert motor.replace(rotor_inertia=(3e-4, 3e-4, 1e-4)).inertia == 1e-4, "a new tensor brings its moment"
    assert motor != 3
    with pytest.raises(ArgumentError, match=r"'gear'.*'inertia'.*'gear_ratio'.*'viscous'"):
        motor.replace(gear=3)


def test_repr_says_what_was_given() -> None:
    assert repr(Motor(1e-3)) == "Motor(inertia=0.001, gear_ratio=1.0, viscous=0.0, coulomb=(0.0, 0.0))"
    assert repr(Motor(1e-3, joint="a", carrier=0, axis=(0, 2, 0), friction_rule="toolbox7")) == (
        "Motor(inertia=0.001, gear_ratio=1.0, viscous=0.0, coulomb=(0.0, 0.0), carrier=0, axis=[0.0, 1.0, 0.0], joint='a', "
        "friction_rule='toolbox7')"
    )
    motor = Motor(joint="a", **BODY)
    assert eval(repr(motor), {"Motor": Motor}) == motor


# ── in a mechanism ────────────────────────────────────────────────────────────────────────────────

BAD_PLACES: list[tuple[Any, str]] = [
    (3, "mechanism 'robot': motors is 3; expected a sequence of Motor"),
    ("fast", "mechanism 'robot': motors is 'fast'; expected a sequence of Motor"),
    ([Motor(joint="arm"), 2], "mechanism 'robot': motors is [Motor(inertia=0.0,"),
    ([Motor(1.0)], "motors[0]: joint is None; expected 'arm' or 'hand'"),
    ([Motor(joint="hand"), Motor(joint="leg")], "motors[1]: joint is 'leg'; expected 'arm' or 'hand'"),
    (
        [Motor(joint="plate")],
        "motors[0]: joint is 'plate'; expected 'arm' or 'hand'; a fixed link has no joint to drive",
    ),
    (
        [Motor(joint="hand", carrier="leg", axis=(0, 0, 1))],
        "motors[0]: carrier is 'leg'; expected 'base', 'arm', 'plate' or 'hand', or an index from 0 to 2",
    ),
    (
        [Motor(joint="hand", carrier=3, axis=(0, 0, 1))],
        "motors[0]: carrier is 3; expected 'base', 'arm', 'plate' or 'hand', or an index from 0 to 2",
    ),
]


@pytest.mark.parametrize(("motors", "expected"), BAD_PLACES)
def test_a_motor_in_no_place(motors: Any, expected: str) -> None:
    with pytest.raises(ModelError) as caught:
        arm(motors=motors)
    assert str(caught.value).startswith(expected)
    assert len(caught.value.problems) == 1
    assert expected.endswith("(inertia=0.0,") or str(caught.value) == expected


def test_a_link_s_own_motor_in_no_place() -> None:
    with pytest.raises(ModelError) as caught:
        Mechanism([Link(name="arm", motor=Motor(carrier="leg", axis=(1, 0, 0)))])
    assert (
        unnamed(caught.value, "link 'arm': motor: carrier is 'leg'; expected 'base' or 'arm', or an index from 0 to 0") == []
    )
    for name, own in (("arm", "'arm' or nothing"), (None, "nothing")):
        with pytest.raises(ModelError) as caught:
            Link(name=name, motor=Motor(joint="leg"))
        item = f"link {name!r}" if name else "link"
        wanted = f"expected {own} (a motor of another joint goes into Mechanism(motors=...))"
        assert unnamed(caught.value, f"{item}: motor.joint is 'leg'; {wanted}") == []
    assert Link(name="arm", motor=Motor(joint="arm")).motor == Motor(joint="arm")


def test_drives() -> None:
    """Own motors in the order of the links, then the others; any number on a joint; base, names and indices."""
    own = Motor(1e-3, carrier="base", axis=(0, 1, 0))
    extra = [Motor(joint="hand", **BODY), Motor(2e-3, joint="hand"), Motor(3e-3, joint="arm", carrier=1, axis=(1, 0, 0))]
    mech = arm(motors=extra).replace_link("hand", motor=own)
    assert mech.motors == tuple(extra)
    assert mech.drives == (
        Drive(own, "hand", 1, -1),
        Drive(extra[0], "hand", 1, 0),
        Drive(extra[1], "hand", 1, None),
        Drive(extra[2], "arm", 0, 1),
    )
    assert arm().motors == arm().drives == ()
    assert arm(motors=iter(extra)).motors == tuple(extra)


def test_motors_are_a_part_of_the_mechanism() -> None:
    mech = arm(motors=[Motor(joint="hand", **BODY)])
    for other in (pickle.loads(pickle.dumps(mech)), copy.copy(mech), copy.deepcopy(mech), mech.replace()):
        assert other == mech
        assert other.drives == mech.drives
        assert hash(other) == hash(mech)
    assert mech.replace(motors=()) == arm()
    assert len({mech, arm(), arm(motors=[Motor(joint="arm", **BODY)]), arm(motors=[Motor(joint="hand")])}) == 4


def with_all_motors() -> Tree:
    fields: dict[str, Any] = {"viscous": 0.1, "coulomb": 0.2, "gear_ratio": -2}
    extra = [Motor(joint="hand", **BODY, **fields), Motor(2e-3, joint="arm", **fields)]
    return arm(motors=extra).replace_link("hand", motor=Motor(1e-3, **fields))


def test_friction_goes_off_every_motor() -> None:
    mech = with_all_motors()
    for drive, before in zip(mech.without_friction().drives, mech.drives, strict=True):
        assert (drive.motor.viscous, drive.motor.coulomb) == (0, (0, 0))
        assert drive.motor.replace(viscous=0.1, coulomb=0.2) == before.motor
    assert all(drive.motor.viscous == 0.1 for drive in mech.without_friction(viscous=False).drives)
    assert all(drive.motor.coulomb == (0.2, -0.2) for drive in mech.without_friction(coulomb=False).drives)


def test_the_friction_rule_of_every_motor() -> None:
    mech = with_all_motors()
    older = mech.with_friction_rule("toolbox7")
    assert {drive.motor.friction_rule for drive in older.drives} == {"toolbox7"}
    assert older != mech
    assert older.with_friction_rule("reflected") == mech
    with pytest.raises(ModelError) as caught:
        mech.with_friction_rule("toolbox 7")
    assert unnamed(caught.value, "mechanism 'robot': friction_rule is 'toolbox 7'; expected 'reflected' or 'toolbox7'") == []


def test_perturbation_reaches_the_rotors_that_are_bodies() -> None:
    mech = with_all_motors()
    other = mech.perturb(0.1, seed=3)
    before, after = mech.motors[0], other.motors[0]
    mass, tensor = after.mass / before.mass, after.inertia / before.inertia
    assert mass != tensor
    assert all(0.9 <= factor <= 1.1 and factor != 1 for factor in (mass, tensor))
    assert np.array_equal(after.rotor_inertia, before.rotor_inertia * tensor) or np.allclose(
        after.rotor_inertia, before.rotor_inertia * tensor, rtol=1e-15, atol=0
    )
    assert other.motors[1] == mech.motors[1]
    assert other.drives[0].motor == mech.drives[0].motor
    assert mech.perturb(0.0) == mech
    links = arm().replace_link("hand", motor=mech.drives[0].motor)
    assert links.perturb(0.1, seed=3).links == other.links, "the links' factors do not depend on the rotors"


# ── a floating base ───────────────────────────────────────────────────────────────────────────────


def test_what_a_floating_base_adds() -> None:
    mech, floating = arm(), arm(floating=True)
    assert (mech.n, mech.nq, mech.nv) == (2, 2, 2)
    assert (floating.n, floating.nq, floating.nv) == (2, 9, 8)
    assert mech.coordinate_names == mech.velocity_names == mech.names == floating.names == ("arm", "hand")
    assert floating.coordinate_names == (
        "base_x", "base_y", "base_z", "base_qw", "base_qx", "base_qy", "base_qz", "arm", "hand",
    )  # fmt: skip
    assert floating.velocity_names == (
        "base_vx", "base_vy", "base_vz", "base_wx", "base_wy", "base_wz", "arm", "hand",
    )  # fmt: skip
    assert floating.coordinates == mech.coordinates == (0, -1, 1)
    assert np.column_stack([floating.q_min, floating.q_max]).shape == (2, 2)
    assert floating != mech
    assert floating.replace(floating=False) == mech
    for other in (pickle.loads(pickle.dumps(floating)), copy.deepcopy(floating), floating.without_friction()):
        assert other == floating
        assert other.floating


def test_a_body_without_joints_floats() -> None:
    satellite = Mechanism([Link(name="hull", joint="fixed", **random_body(np.random.default_rng(0)))], floating=True)
    assert (satellite.n, satellite.nq, satellite.nv) == (0, 7, 6)


@pytest.mark.parametrize("value", [1, None, "yes", np.array(1.0)])
def test_floating_is_yes_or_no(value: Any) -> None:
    with pytest.raises(ModelError) as caught:
        arm(floating=value)
    assert unnamed(caught.value, f"mechanism 'robot': floating is {value!r}; expected True or False") == []
    assert arm(floating=np.True_).floating is True


@pytest.mark.parametrize("name", ["base_x", "base_qw", "base_wz"])
def test_joints_do_not_take_the_names_of_the_base(name: str) -> None:
    with pytest.raises(ModelError) as caught:
        Mechanism([Link(name=name)], floating=True)
    expected = "another name (this one is a coordinate of the floating base)"
    assert unnamed(caught.value, f"link {name!r}: name is {name!r}; expected {expected}") == []
    assert Mechanism([Link(name=name)]).names == (name,)
    assert Mechanism([Link(name=name, joint="fixed"), Link()], floating=True).names == ("link2",)
