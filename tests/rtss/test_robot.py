"""The robot object: what it is made of, what it passes on to its links, and the mechanism that it becomes."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import linkwise as lw
from linkwise.errors import ArgumentError, LinkwiseError, ModelError
from linkwise.rtss import from_mechanism, rt_link, rt_robot
from linkwise.rtss.fields import FieldError
from linkwise.spatial.rotation import rotation_x
from linkwise.spatial.transform import transform, translation
from support.bundled import BUNDLED
from support.messages import unnamed

PI = np.pi
PUMA = [
    [PI / 2, 0, 0, 0, 0],
    [0, 0.4318, 0, 0, 0],
    [-PI / 2, 0.0203, 0, 0.15005, 0],
    [PI / 2, 0, 0, 0.4318, 0],
    [-PI / 2, 0, 0, 0, 0],
    [0, 0, 0, 0, 0],
]
ROD = [0, 1, 0, 0, 0, 2, -0.5, 0, 0, 0.01, 0.02, 0.03, 0, 0, 0, 0.001]
"""A link of 1 m and 2 kg, its centre of mass in its middle, with a motor without friction on direct drive."""

RNG = np.random.default_rng(1996)


def rods(count: int = 2, **options: Any) -> rt_robot:
    return rt_robot([ROD] * count, **options)


# ── what it is made of ────────────────────────────────────────────────────────────────────────────


def test_the_default_robot() -> None:
    robot = rt_robot()
    assert (robot.n, robot.name, robot.manuf, robot.comment, robot.config, robot.mdh) == (0, "noname", "", "", "", 0)
    assert (robot.gravity.tolist(), robot.gravity_sign, robot.friction) == ([0, 0, 9.81], "up", "reflected")
    assert np.array_equal(robot.base, np.eye(4))
    assert np.array_equal(robot.tool, np.eye(4))
    assert (robot.dh.shape, robot.dyn.shape, robot.qlim.shape, robot.offset.shape) == ((0, 5), (0, 20), (0, 2), (0,))


def test_from_links_with_names_in_their_order() -> None:
    links = [rt_link(row, "standard") for row in PUMA]
    robot = rt_robot(links, "P560 (K)", "Unimation", "kinematics only")
    assert (robot.n, robot.name, robot.manuf, robot.comment) == (6, "P560 (K)", "Unimation", "kinematics only")
    assert robot.config == "RRRRRR"
    assert all(held is given for held, given in zip(robot.links, links, strict=True))
    assert list(robot) == links
    assert robot[0] is links[0]
    assert robot[-1] is links[5]
    assert len(robot) == 6


@pytest.mark.parametrize("columns", [4, 5])
def test_from_a_legacy_matrix_of_kinematics(columns: int) -> None:
    robot = rt_robot(np.array(PUMA)[:, :columns])
    assert np.array_equal(robot.dh, PUMA)
    assert robot.mdh == 0
    assert rt_robot([row[:columns] for row in PUMA], convention="mod").mdh == 1


@pytest.mark.parametrize("columns", [16, 17, 18, 19, 20])
def test_from_a_legacy_matrix_of_all_numbers(columns: int) -> None:
    full = np.array([[0.1, 0.2, 0.3, 0.4, k, *range(5, 16), -16.0, 17, 18, -19] for k in (0, 1, 0)])
    robot = rt_robot(full[:, :columns])
    rest = [[1.0], [0.0], [0.0, 0.0]] if columns < 19 else [[-16.0], [17.0], [18.0, -18.0 if columns == 19 else -19.0]]
    for place, value in ((16, -16.0), (17, 17.0)):
        rest[place - 16] = [value] if columns > place else rest[place - 16]
    assert np.array_equal(robot.dyn, np.hstack([full[:, :16], np.tile(np.concatenate(rest), (3, 1))]))
    assert robot.config == "RPR"


def test_one_row_is_a_robot_of_one_link() -> None:
    assert rt_robot([0, 0.5, 0, 0]).n == 1
    assert rt_robot(np.array(ROD)).n == 1


def test_a_copy_has_links_of_its_own() -> None:
    robot = rods(name="one", manuf="maker", comment="note", gravity=(0, 9, 0), base=translation(1), tool=translation(2))
    robot.friction = "toolbox7"
    for other in (rt_robot(robot), copy.deepcopy(robot), pickle.loads(pickle.dumps(robot))):
        for name in rt_robot.field_names():
            if name != "links":
                assert np.array_equal(getattr(other, name), getattr(robot, name))
        assert other.mechanism() == robot.mechanism()
        other.name, other[0].m = "two", 9
        assert (robot.name, robot[0].m) == ("one", 2)
        assert other.mechanism().links[0].body.mass == 9
    other = rt_robot(robot, "three", comment="another")
    assert (other.name, other.manuf, other.comment) == ("three", "maker", "another")


def test_a_copy_with_other_links() -> None:
    robot, links = rods(name="one"), [rt_link([0, 0.5, 0, 0]) for _ in range(2)]
    other = rt_robot(robot, links)
    assert other.links == tuple(links)
    assert other.name == "one"
    robot.links = links
    assert robot.links == tuple(links)


def test_each_joint_has_a_link_of_its_own() -> None:
    link = rt_link(ROD)
    robot = rt_robot([link, rt_link(ROD), link])
    assert robot[0] is link
    robot.offset = [1, 2, 3]
    assert robot.offset.tolist() == [1, 2, 3]


def test_a_second_name_is_no_copy() -> None:
    robot = rods()
    other = robot
    other.name = "renamed"
    assert robot.name == "renamed"


# ── what it passes on to its links ────────────────────────────────────────────────────────────────


def test_the_convention_sets_every_link() -> None:
    robot = rods()
    robot.mdh = 1
    assert [link.mdh for link in robot] == [1, 1]
    assert robot.mdh == 1
    assert [link.dh_row.convention for link in robot.mechanism().links if link.dh_row] == ["modified"] * 2


def test_offsets() -> None:
    robot = rods()
    robot.offset = [0.25, -0.5]
    assert [link.offset for link in robot] == [0.25, -0.5]
    assert robot.offset.tolist() == [0.25, -0.5]
    assert np.array_equal(robot.mechanism().link_poses([0, 0]), rods().mechanism().link_poses([0.25, -0.5]))
    robot.offset = 0
    assert robot.offset.tolist() == [0, 0]


def test_limits() -> None:
    robot = rods()
    assert robot.qlim.tolist() == [[-np.inf, np.inf]] * 2
    robot.qlim = [[-1, 2], [-np.inf, np.inf]]
    assert robot[0].qlim.tolist() == [-1, 2]
    assert robot[1].qlim is None
    assert np.array_equal(robot.qlim, np.column_stack([robot.mechanism().q_min, robot.mechanism().q_max]))
    robot.qlim = [[-2.2, 2.2]] * 2
    assert robot.islimit([-3, 3]).tolist() == [-1, 1]
    assert robot.islimit([2.2, 0]).tolist() == [0, 0]
    robot.qlim = None
    assert [link.qlim for link in robot] == [None, None]


# ── the mechanism ─────────────────────────────────────────────────────────────────────────────────


def test_the_mechanism_is_made_once_and_again_after_a_change() -> None:
    links = [rt_link(ROD), rt_link(ROD)]
    robot = rt_robot(links)
    first = robot.mechanism()
    assert robot.mechanism() is first
    assert robot.mechanism(dynamic=True) is first
    changes: list[Callable[[], Any]] = [
        lambda: setattr(links[1], "m", 3),
        lambda: setattr(links[0], "dh", [0, 2, 0, 0]),
        lambda: setattr(robot, "tool", translation(0.5)),
        lambda: setattr(robot, "base", translation(0.5)),
        lambda: setattr(robot, "gravity", (0, 9.81, 0)),
        lambda: setattr(robot, "mdh", 1),
        lambda: setattr(robot, "offset", 0.5),
        lambda: setattr(robot, "qlim", [[-1, 1]] * 2),
        lambda: setattr(robot, "name", "other"),
        lambda: setattr(robot, "links", links[:1]),
    ]
    for change in changes:
        before = robot.mechanism()
        change()
        after = robot.mechanism()
        assert after != before
        assert robot.mechanism() is after


def test_links_that_are_shared_change_every_robot_that_holds_them() -> None:
    link = rt_link(ROD)
    one, other = rt_robot([link]), rt_robot([link])
    one.mechanism(), other.mechanism()
    link.A = 3
    for robot in (one, other):
        np.testing.assert_array_equal(robot.mechanism().forward_kinematics([0.0])[:3, 3], [3, 0, 0])


def test_the_legacy_puma_is_the_bundled_one() -> None:
    """Through both matrices and back: the same arm to the last bit."""
    puma = lw.robots.puma560()
    robot = from_mechanism(puma)
    again = rt_robot(robot.dyn, "puma560")
    again.qlim = robot.qlim
    q, qd, qdd = RNG.uniform(-1, 1, (3, 20, 6))
    for made in (robot.mechanism(dynamic=True), again.mechanism(dynamic=True)):
        assert np.array_equal(made.inverse_dynamics(q, qd, qdd), puma.inverse_dynamics(q, qd, qdd))
        assert np.array_equal(np.column_stack([made.q_min, made.q_max]), np.column_stack([puma.q_min, puma.q_max]))
    np.testing.assert_array_equal(robot.gravity, [0, 0, 9.81])
    assert robot[0].I.tolist() == np.diag([0, 0.35, 0]).tolist(), "an identified tensor, which no body has"


GEAR = [
    (1.0, "reflected", 4.0),
    (-1.0, "reflected", -5.0),
    (1.0, "toolbox7", -3.0),
    (-1.0, "toolbox7", 4.0),
    (0.0, "toolbox7", 0),
]


@pytest.mark.parametrize(("speed", "rule", "effort"), GEAR)
def test_the_rules_of_friction_behind_a_gear(speed: float, rule: str, effort: float) -> None:
    """G = -2, B = 0.5, Tc = 1 and -1.5: G^2 B qd + |G| Tc, and G (B qd + Tc), each exact in binary."""
    robot = rt_robot([[*ROD[:15], 0, -2, 0.5, 1, -1.5]], friction=rule)
    assert robot.mechanism().friction_torque([speed]).tolist() == [effort]
    robot.friction = "reflected"
    assert robot.mechanism() == rt_robot([robot[0]]).mechanism()


def test_the_signs_of_gravity() -> None:
    """A rod held level by its joint, whose axis is level: m g l / 2 = 9.81, and the same with the other sign told."""
    level = transform(rotation_x(PI / 2))
    up, down = rods(1, base=level), rods(1, base=level, gravity_sign="free_fall")
    assert (up.gravity.tolist(), down.gravity.tolist()) == ([0, 0, 9.81], [0, 0, -9.81])
    for robot in (up, down, rt_robot(up, gravity_sign="free_fall"), rt_robot(rt_robot(down, gravity_sign="up"))):
        assert robot.mechanism().gravity.tolist() == [0, 0, -9.81]
        np.testing.assert_allclose(robot.mechanism().gravity_torque([0.0]), [9.81], rtol=4e-16)
    assert rt_robot(up, gravity_sign="free_fall").gravity.tolist() == [0, 0, -9.81]
    assert rods(1, gravity=(1, 2, 3)).mechanism().gravity.tolist() == [-1, -2, -3]
    assert rods(1, gravity=(1, 2, 3), gravity_sign="free_fall").mechanism().gravity.tolist() == [1, 2, 3]


def test_forces_need_bodies() -> None:
    robot = rt_robot([ROD[:4], ROD[:4]], "arm")
    robot[1].m, robot[1].I = 2, (0, 0, 1)
    assert robot.mechanism().n == 2
    with pytest.raises(ModelError) as error:
        robot.mechanism(dynamic=True)
    assert (
        unnamed(
            error.value,
            "link1 of robot 'arm': m is None; expected a number, for forces need it\n"
            "link1 of robot 'arm': r is None; expected three numbers, for forces need it\n"
            "link1 of robot 'arm': I is None; expected a tensor, for forces need it\n"
            "link2 of robot 'arm': r is None; expected three numbers, for forces need it",
        )
        == []
    )


# ── the product ───────────────────────────────────────────────────────────────────────────────────


def test_the_product_is_one_arm_on_the_end_of_the_other() -> None:
    """As long as the first has no tool and the second no base: those are left out, by the original's own words."""
    base, tool = translation(0.5, 0.1, -0.2), translation(0.1, 0.2, 0.3)
    first = rt_robot(PUMA, "arm", "maker", "note", base=base, gravity=(0, 9.81, 0))
    second = rods(2, tool=tool, name="hand")
    both = first * second
    q = RNG.uniform(-2, 2, (10, 8))
    expected = first.mechanism().forward_kinematics(q[:, :6]) @ second.mechanism().forward_kinematics(q[:, 6:])
    np.testing.assert_allclose(both.mechanism().forward_kinematics(q), expected, rtol=0, atol=1e-14)  # 8 products below 4 m
    assert (both.name, both.manuf, both.comment, both.n) == ("arm 8axs", "", "", 8)
    assert both.gravity.tolist() == [0, 9.81, 0]
    assert np.array_equal(both.tool, tool)
    assert np.array_equal(both.base, base)
    first.tool, second.base = tool, base
    assert np.array_equal((first * second).mechanism().forward_kinematics(q), both.mechanism().forward_kinematics(q))


def test_the_product_is_another_robot() -> None:
    robot = rods()
    both = robot * robot
    both[0].A = 5
    assert (robot[0].A, both[2].A) == (1, 1)


# ── what is refused ───────────────────────────────────────────────────────────────────────────────

FIELDS = (
    "fields that can be assigned are 'name', 'manuf', 'comment', 'links', 'base', 'tool', 'gravity', 'friction', "
    "'mdh', 'offset' and 'qlim'"
)
NO_ROW = "a link is made from a row of 4 or 5 numbers (alpha A theta D sigma), or of 16 to 20 (those, m r I Jm G B Tc)"
HINT = " (link(q) is the transform of a link at q)"
NO_FRAME = "expected a rigid transform (4, 4): orthonormal right-handed rotation, last row 0 0 0 1"
LISTS = "a robot is made from a list of links, a legacy matrix, or a robot; this "
MIXED = "expected one Denavit-Hartenberg convention for all links"


def mixed() -> list[rt_link]:
    return [rt_link([0, 1, 0, 0]), rt_link([0, 1, 0, 0], "mod")]


def unequal() -> rt_robot:
    robot = rods(name="arm")
    robot[1].mdh = 1
    return robot


REFUSED: list[tuple[Callable[[], Any], type[LinkwiseError], str]] = [
    (lambda: rt_robot("puma"), ArgumentError, f"{LISTS}holds <U4"),
    (
        lambda: rt_robot(rt_link()),
        ModelError,
        "robot: links is 0.000000 0.000000 0.000000 0.000000 R (std); expected a list of links",
    ),
    (lambda: rt_robot([[0, 1, 0, 0], [0, 1]]), ArgumentError, f"{LISTS}is not an array"),
    (
        lambda: rt_robot(np.zeros((2, 6))),
        ArgumentError,
        f"row 1: {NO_ROW}; this one has 6{HINT}\nrow 2: {NO_ROW}; this one has 6{HINT}",
    ),
    (lambda: rt_robot([[0, 1, 0, 0], [0, np.nan, 0, 0]]), ArgumentError, "row 2: link: A is nan; expected a finite number"),
    (
        lambda: rt_robot([rt_link(), 3]),
        ModelError,
        "robot: links is [0.000000 0.000000 0.000000 0.000000 R (std), 3]; expected a list of links",
    ),
    (lambda: rt_robot(mixed()), ModelError, f"robot: mdh is [0, 1]; {MIXED}"),
    (lambda: unequal().mdh, ModelError, f"robot 'arm': mdh is [0, 1]; {MIXED}"),
    (lambda: unequal().mechanism(), ModelError, f"robot 'arm': mdh is [0, 1]; {MIXED}"),
    (lambda: rods() * rt_robot(PUMA, convention="mod"), ModelError, f"robot: mdh is [0, 0, 1, 1, 1, 1, 1, 1]; {MIXED}"),
    (
        lambda: rods() * rods(friction="toolbox7"),
        ArgumentError,
        "robots with friction rules 'reflected' and 'toolbox7' cannot be joined",
    ),
    (lambda: rt_robot(rods(2), [rt_link()]), ArgumentError, "1 links were given for a copy of a robot with 2"),
    (
        lambda: rt_robot([rt_link()], convention="mod"),
        ArgumentError,
        "a convention is that of the rows of a matrix; links have theirs, and robot.mdh sets it",
    ),
    (lambda: rods(gravity_sign="down"), ArgumentError, "gravity_sign is 'down'; expected 'up' or 'free_fall'"),
    (lambda: rods(friction="dry"), ModelError, "robot: friction is 'dry'; expected 'reflected' or 'toolbox7'"),
    (lambda: rods(name=3), ModelError, "robot: name is 3; expected a text"),
    (lambda: rods(gravity=9.81), ModelError, "robot: gravity is 9.81; expected 3 finite numbers"),
    (lambda: rods(base=2 * np.eye(3)), ModelError, f"robot: base is {' '.join(repr(2 * np.eye(3)).split())}; {NO_FRAME}"),
    (lambda: setattr(rods(), "mdh", 2), ModelError, "link: mdh is 2; expected 0 (standard) or 1 (modified)"),
    (
        lambda: setattr(rods(), "offset", [1, 2, 3]),
        ArgumentError,
        "offset has shape (3,); expected (2,), a number for each link",
    ),
    (
        lambda: setattr(rods(), "qlim", [1, 2]),
        ArgumentError,
        "qlim has shape (2,); expected (2, 2), two numbers for each link",
    ),
    (
        lambda: setattr(rods(), "qlim", [[1, 2], [2, 1]]),
        ModelError,
        "robot: qlim[1] is array([2., 1.]); expected two numbers, the least and the greatest coordinate, or None",
    ),
    (
        lambda: setattr(rods(), "qlim", [[1, 2], [np.inf, -np.inf]]),
        ModelError,
        "robot: qlim[1] is array([ inf, -inf]); expected two numbers, the least and the greatest coordinate, or None",
    ),
    (lambda: rods().islimit([0, 0, 0]), ArgumentError, "q has shape (3,); expected (2,), a coordinate for each joint"),
    (lambda: rods().islimit([0, np.nan]), ArgumentError, "q is [0.0, nan]; expected (2,), a coordinate for each joint"),
    (lambda: rods(name="arm").islimit([0, 0]), ArgumentError, "link1 and link2 of robot 'arm' have no limits"),
    (
        lambda: rt_robot([ROD[:4], ROD[:4]], "arm").dyn,
        ArgumentError,
        "\n".join(
            f"link{k} of robot 'arm' has no m and no r and no I and no Jm; a row of dyn needs 'm', 'r', 'I' and 'Jm'"
            for k in (1, 2)
        ),
    ),
    (lambda: setattr(rods(), "n", 3), FieldError, f"a robot does not take n; {FIELDS}"),
    (
        lambda: setattr(rods(), "gravity_sign", "up"),
        FieldError,
        f"a robot does not take gravity_sign; {FIELDS}",
    ),
    (lambda: setattr(rods(), "grav", 3), FieldError, f"a robot has no field 'grav'; {FIELDS}"),
    (lambda: rt_robot().mechanism(), ModelError, "mechanism 'noname': links is []; expected one Link or more"),
]


@pytest.mark.parametrize(("act", "kind", "message"), REFUSED)
def test_refused(act: Callable[[], Any], kind: type[LinkwiseError], message: str) -> None:
    with pytest.raises(kind) as error:
        act()
    assert unnamed(error.value, message) == []


def test_a_robot_times_something_else_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="unsupported operand"):
        rods() * 2


def test_limits_that_are_refused_change_no_link() -> None:
    robot = rods()
    with pytest.raises(ModelError):
        robot.qlim = [[1, 2], [2, 1]]
    assert robot[0].qlim is None


def test_every_constant_in_the_place_of_a_coordinate_is_told() -> None:
    robot = rt_robot([[0, 1, 0.1, 0, 0], [0, 1, 0, 0.2, 0], [0, 0, 0, 0.3, 1]], "odd")
    with pytest.raises(ModelError) as told:
        robot.mechanism()
    assert [(problem.item, problem.field, problem.value) for problem in told.value.problems] == [
        ("link1 of robot 'odd'", "theta", 0.1),
        ("link3 of robot 'odd'", "D", 0.3),
    ]


# ── from a Linkwise chain ─────────────────────────────────────────────────────────────────────────


ROWS = [name for name in BUNDLED if all(link.dh_row and not link.dh_row.b for link in lw.robots.load(name).links)]


def test_most_ready_mechanisms_are_rows() -> None:
    assert {"panda", "planar_2r", "puma560", "scara_icomatic", "stanford", "ur5"} <= set(ROWS)


@pytest.mark.parametrize("name", ROWS)
def test_ready_chains_become_robots(name: str) -> None:
    """What is written as a robot computes the same to the last bit; but for rounding where a constant becomes an offset."""
    given = lw.robots.load(name)
    robot = from_mechanism(given, manuf="maker")
    made = robot.mechanism()
    q, qd, qdd = RNG.uniform(-1, 1, (3, given.n))
    added = [link.dh_row.d if link.joint == "prismatic" else link.dh_row.theta for link in given.links if link.dh_row]
    assert np.array_equal(robot.offset, [link.offset + more for link, more in zip(given.links, added, strict=True)])
    room = 4e-15 if any(added) else 0.0
    efforts = given.inverse_dynamics(q, qd, qdd)
    assert np.abs(made.forward_kinematics(q) - given.forward_kinematics(q)).max() <= room
    assert np.abs(made.inverse_dynamics(q, qd, qdd) - efforts).max() <= room * np.abs(efforts).max()
    assert np.array_equal(np.column_stack([made.q_min, made.q_max]), np.column_stack([given.q_min, given.q_max]))
    assert (robot.name, robot.manuf) == (given.name, "maker")


def test_a_chain_without_masses_has_none_of_them_set() -> None:
    robot = from_mechanism(lw.robots.stanford())
    assert [link.missing("m", "r", "I", "Jm", "G") for link in robot] == [["m", "r", "I", "Jm", "G"]] * 6
    robot = from_mechanism(lw.robots.planar_2r())
    assert robot.dyn[:, 15].tolist() == [0, 0]


def test_the_rule_and_the_sign_of_a_chain_are_kept() -> None:
    given = lw.robots.puma560().with_friction_rule("toolbox7").replace(gravity=(1, 2, -3))
    robot = from_mechanism(given)
    assert (robot.friction, robot.gravity.tolist()) == ("toolbox7", [-1, -2, 3])
    assert from_mechanism(given, gravity_sign="free_fall").gravity.tolist() == [1, 2, -3]


def test_what_cannot_be_a_robot_is_told_at_once() -> None:
    row = {"convention": "standard", "a": 1.0}
    links = [
        lw.Link.dh(**row, name="a", motor=lw.Motor(1e-3, carrier="base", axis=(0, 0, 1))),
        lw.Link.dh(**row, b=0.5, name="b", motor=lw.Motor(1e-3, viscous=1, friction_rule="toolbox7")),
        lw.Link.dh(convention="modified", name="c", parent="a"),
        lw.Link(name="d"),
        lw.Link.dh(**row, joint="fixed", name="e"),
    ]
    given = lw.Mechanism(links, motors=[lw.Motor(1e-3, joint="a")], floating=True, name="odd").with_payload(1.0)
    with pytest.raises(ModelError) as error:
        from_mechanism(given)
    assert [(problem.item, problem.field) for problem in error.value.problems] == [
        ("mechanism 'odd'", "floating"),
        ("mechanism 'odd'", "payload"),
        ("link 'a'", "motors"),
        ("link 'a'", "carrier"),
        ("link 'b'", "b"),
        ("link 'c'", "convention"),
        ("link 'c'", "parent"),
        ("link 'd'", "dh_row"),
        ("link 'e'", "joint"),
        ("mechanism 'odd'", "friction_rule"),
    ]
