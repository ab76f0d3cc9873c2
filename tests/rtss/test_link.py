"""The link object does all that its page says: each row of its table, then each line of its examples, in order."""

import copy
import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from linkwise.errors import ArgumentError, LinkwiseError, ModelError
from linkwise.rtss import rt_link, rt_showlink
from linkwise.rtss.fields import FieldError
from linkwise.rtss.transforms import rt_rotx, rt_rotz, rt_transl
from linkwise.spatial.rotation import rotation_x, rotation_z
from linkwise.spatial.transform import transform, translation
from support.messages import unnamed

PI = np.pi
DYN_ROW = [-PI / 2, 0, 0, 0.412, 0, 9.29, 0, 0.0175, -0.1105, 0.276, 0.255, 0.071, 0, 0, 0, 0.953, 1]
"""The first link of the Stanford arm, as the page has it."""

FULL_ROW = [0.1, 0.2, 0.3, 0.4, 1, 5, 6, 7, 8, 1.1, 1.2, 1.3, 0.01, 0.02, 0.03, 9, -10, 11, 12, -13]


# ── the table: what is read and what may be assigned ──────────────────────────────────────────────

ASSIGNED: list[tuple[str, Any, Any]] = [
    ("alpha", -1.5, -1.5),
    ("A", 2, 2.0),
    ("theta", np.float64(0.25), 0.25),
    ("D", np.array(3), 3.0),
    ("sigma", 0, 0),
    ("sigma", 1, 1),
    ("sigma", -2.5, 1),
    ("mdh", 0, 0),
    ("mdh", 1, 1),
    ("mdh", 1.0, 1),
    ("I", [[2, 0.1, 0.3], [0.1, 3, 0.2], [0.3, 0.2, 4]], [[2, 0.1, 0.3], [0.1, 3, 0.2], [0.3, 0.2, 4]]),
    ("I", [2, 3, 4, 0.1, 0.2, 0.3], [[2, 0.1, 0.3], [0.1, 3, 0.2], [0.3, 0.2, 4]]),
    ("I", [2, 3, 4], [[2, 0, 0], [0, 3, 0], [0, 0, 4]]),
    ("m", 5, 5.0),
    ("m", None, None),
    ("m", [], None),
    ("r", [1, 2, 3], [1.0, 2.0, 3.0]),
    ("r", [[1], [2], [3]], [1.0, 2.0, 3.0]),
    ("r", None, None),
    ("G", -62.5, -62.5),
    ("G", 0, 0.0),
    ("G", None, None),
    ("Jm", 2e-4, 2e-4),
    ("Jm", None, None),
    ("B", 1.5e-3, 1.5e-3),
    ("Tc", 5, [5.0, -5.0]),
    ("Tc", [0.395, -0.435], [0.395, -0.435]),
    ("Tc", [[0.4, -0.5]], [0.4, -0.5]),
    ("qlim", [-1, 2], [-1.0, 2.0]),
    ("qlim", (-np.inf, 2), [-np.inf, 2.0]),
    ("qlim", [], None),
    ("offset", 0.5, 0.5),
]


@pytest.mark.parametrize(("field", "given", "read"), ASSIGNED)
def test_what_is_assigned_is_read(field: str, given: Any, read: Any) -> None:
    link = rt_link(FULL_ROW)
    setattr(link, field, given)
    found = getattr(link, field)
    assert (found.tolist() if isinstance(found, np.ndarray) else found) == read
    others = [name for name in rt_link.field_names() if name != field]
    assert all(np.array_equal(getattr(link, name), getattr(rt_link(FULL_ROW), name)) for name in others if name != "qlim")


def test_shapes_and_types_of_what_is_read() -> None:
    link = rt_link(FULL_ROW)
    link.qlim = [-1, 1]
    shapes = {name: np.shape(getattr(link, name)) for name in (*rt_link.field_names(), "dh", "dyn", "RP")}
    vectors = {"I": (3, 3), "r": (3,), "Tc": (2,), "dh": (5,), "dyn": (20,), "qlim": (2,)}
    assert shapes == {name: vectors.get(name, ()) for name in shapes}
    assert all(type(getattr(link, name)) is int for name in ("sigma", "mdh"))


def test_the_default_has_kinematics_of_zeros_and_nothing_else() -> None:
    link = rt_link()
    assert link.dh.tolist() == [0, 0, 0, 0, 0]
    assert (link.RP, link.mdh, link.offset, link.B, link.Tc.tolist()) == ("R", 0, 0.0, 0.0, [0.0, 0.0])
    assert [getattr(link, name) for name in ("m", "r", "I", "Jm", "G", "qlim")] == [None] * 6
    assert np.array_equal(link(0.0), np.eye(4))


def test_the_letter_follows_the_type() -> None:
    link = rt_link()
    link.sigma = 7
    assert link.RP == "P"
    link.sigma = 0
    assert link.RP == "R"


def test_limits_below_within_and_above() -> None:
    link = rt_link()
    link.qlim = [-1, 2]
    link.offset = 10.0
    assert [link.islimit(q) for q in (-1.5, -1, 0, 2, 2.5, -np.inf, np.inf)] == [-1, 0, 0, 0, 1, -1, 1]


def test_a_new_type_or_limit_takes_part_in_the_transform() -> None:
    link = rt_link([0.3, 0.5, 0.2, 0, 1])
    link.offset = 0.35
    expected = translation(0, 0, 0.35 + 0.5) @ transform(rotation_z(0.2)) @ translation(0.5) @ transform(rotation_x(0.3))
    np.testing.assert_allclose(link(0.5), expected, rtol=0, atol=4e-16)  # rounding of four products of numbers below 1
    link.mdh = 1
    expected = transform(rotation_x(0.3)) @ translation(0.5) @ transform(rotation_z(0.2)) @ translation(0, 0, 0.85)
    np.testing.assert_allclose(link(0.5), expected, rtol=0, atol=4e-16)
    assert np.isnan(link(np.nan)[:3, 3]).all()


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            [0, 1, 0.3, 0.4],
            "link: theta is 0.3; expected 0, for the coordinate of a revolute joint stands in its place; "
            "what is added to that is the offset",
        ),
        (
            [0, 1, 0.3, 0.4, 1],
            "link: D is 0.4; expected 0, for the coordinate of a prismatic joint stands in its place; "
            "what is added to that is the offset",
        ),
    ],
)
def test_a_constant_in_the_place_of_the_coordinate_is_kept_and_computes_nothing(row: list[float], message: str) -> None:
    """The original ignores it, and Linkwise's own rows add it: neither is what everyone means."""
    link = rt_link(row)
    assert np.array_equal(link.dh, [*row, 0][:5])
    for compute in (lambda: link(0.1), link.to_link):
        with pytest.raises(ModelError) as told:
            compute()
        assert unnamed(told.value, message) == []


# ── rows ──────────────────────────────────────────────────────────────────────────────────────────

TAILS: list[tuple[int, float, float, list[float]]] = [
    (16, 1.0, 0.0, [0.0, 0.0]),
    (17, -10.0, 0.0, [0.0, 0.0]),
    (18, -10.0, 11.0, [0.0, 0.0]),
    (19, -10.0, 11.0, [12.0, -12.0]),
    (20, -10.0, 11.0, [12.0, -13.0]),
]


@pytest.mark.parametrize(("size", "ratio", "viscous", "friction"), TAILS)
def test_a_row_of_all_numbers(size: int, ratio: float, viscous: float, friction: list[float]) -> None:
    link = rt_link(FULL_ROW[:size])
    assert (link.alpha, link.A, link.theta, link.D, link.RP) == (0.1, 0.2, 0.3, 0.4, "P")
    assert link.m == 5
    assert link.r.tolist() == [6, 7, 8]
    assert link.I.tolist() == [[1.1, 0.01, 0.03], [0.01, 1.2, 0.02], [0.03, 0.02, 1.3]]
    assert (link.Jm, link.G, link.B, link.Tc.tolist()) == (9.0, ratio, viscous, friction)
    assert (link.offset, link.qlim, link.mdh) == (0.0, None, 0)
    assert link.dyn.tolist() == [*FULL_ROW[:16], ratio, viscous, *friction]
    assert np.array_equal(rt_link(link.dyn).dyn, link.dyn)


def test_rows_are_assigned_and_leave_the_rest() -> None:
    link = rt_link(FULL_ROW, "modified")
    link.qlim, link.offset = [-1, 1], 0.5
    link.dh = [1, 2, 3, 4]
    assert link.dh.tolist() == [1, 2, 3, 4, 0]
    assert link.dyn.tolist() == [1, 2, 3, 4, 0, *FULL_ROW[5:]]
    link.dyn = DYN_ROW
    assert link.dyn.tolist() == [*DYN_ROW, 0, 0, 0]
    assert (link.mdh, link.offset) == (1, 0.5)
    assert link.qlim.tolist() == [-1, 1]


def test_a_ratio_that_is_not_set_is_one_in_a_row() -> None:
    link = rt_link(FULL_ROW)
    link.G = None
    assert link.dyn[16] == 1.0


def test_a_row_of_a_matrix_is_a_row() -> None:
    assert rt_link(np.array([[1.0, 2, 3, 4, 1]])).dh.tolist() == [1, 2, 3, 4, 1]


@pytest.mark.parametrize("word", ["sta", "stan", "stand", "standar", "standard", "mod", "modif", "modified"])
def test_beginnings_of_the_conventions(word: str) -> None:
    assert rt_link([0, 0, 0, 0], word).mdh == int(word.startswith("m"))


# ── what is refused ───────────────────────────────────────────────────────────────────────────────

NO_ROW = "a link is made from a row of 4 or 5 numbers (alpha A theta D sigma), or of 16 to 20 (those, m r I Jm G B Tc)"
HINT = " (link(q) is the transform of a link at q)"
NO_CONVENTION = "; expected 'standard' or 'modified', or a beginning of one with three letters or more ('sta', 'mod')"
MATRIX = "0, 3 diagonal elements, 6 elements Ixx Iyy Izz Ixy Iyz Ixz, or a symmetric 3x3 matrix"
FRICTION = "one number >= 0 for both directions, or Tc+ >= 0 and Tc- <= 0"
FIELDS = (
    "fields that can be assigned are 'alpha', 'A', 'theta', 'D', 'sigma', 'mdh', 'offset', 'm', 'r', 'I', 'Jm', 'G', 'B', "
    "'Tc', 'qlim', 'dh' and 'dyn'"
)

REFUSED: list[tuple[Callable[[rt_link], Any], type[LinkwiseError], str]] = [
    (lambda link: rt_link([0, 0, 0]), ArgumentError, f"{NO_ROW}; this one has 3{HINT}"),
    (lambda link: rt_link(np.zeros(6)), ArgumentError, f"{NO_ROW}; this one has 6{HINT}"),
    (lambda link: rt_link(np.zeros(15)), ArgumentError, f"{NO_ROW}; this one has 15{HINT}"),
    (lambda link: rt_link(np.zeros(21)), ArgumentError, f"{NO_ROW}; this one has 21{HINT}"),
    (lambda link: rt_link(np.zeros((2, 5))), ArgumentError, f"{NO_ROW}; this is an array of shape (2, 5){HINT}"),
    (lambda link: rt_link(0.5), ArgumentError, f"{NO_ROW}; this is the number 0.5, and {HINT[2:-1]}"),
    (lambda link: rt_link("standard"), ArgumentError, f"{NO_ROW}; 'standard' holds <U8"),
    (lambda link: rt_link([0, 0, 0, 0], "std"), ArgumentError, f"convention is 'std'{NO_CONVENTION}"),
    (lambda link: rt_link([0, 0, 0, 0], "s"), ArgumentError, f"convention is 's'{NO_CONVENTION}"),
    (lambda link: rt_link([0, 0, 0, 0], "m"), ArgumentError, f"convention is 'm'{NO_CONVENTION}"),
    (lambda link: rt_link([0, 0, 0, 0], ""), ArgumentError, f"convention is ''{NO_CONVENTION}"),
    (lambda link: rt_link([0, 0, 0, 0], "stamped"), ArgumentError, f"convention is 'stamped'{NO_CONVENTION}"),
    (lambda link: rt_link([0, 0, 0, 0], "standards"), ArgumentError, f"convention is 'standards'{NO_CONVENTION}"),
    (lambda link: rt_link([0, 0, 0, 0], 1), ArgumentError, f"convention is 1{NO_CONVENTION}"),
    (lambda link: rt_link(link, "mod"), ArgumentError, "a copy keeps the convention of its link; assign mdh to change it"),
    (
        lambda link: rt_link([0, np.nan, 0, np.inf]),
        ModelError,
        "link: A is nan; expected a finite number\nlink: D is inf; expected a finite number",
    ),
    (lambda link: setattr(link, "alpha", "pi"), ModelError, "link: alpha is 'pi'; expected a finite number"),
    (lambda link: setattr(link, "theta", None), ModelError, "link: theta is None; expected a finite number"),
    (lambda link: setattr(link, "A", [1, 2]), ModelError, "link: A is [1, 2]; expected a finite number"),
    (lambda link: setattr(link, "sigma", "P"), ModelError, "link: sigma is 'P'; expected a finite number"),
    (lambda link: setattr(link, "mdh", 2), ModelError, "link: mdh is 2; expected 0 (standard) or 1 (modified)"),
    (lambda link: setattr(link, "mdh", "mod"), ModelError, "link: mdh is 'mod'; expected 0 (standard) or 1 (modified)"),
    (lambda link: setattr(link, "mdh", [1]), ModelError, "link: mdh is [1]; expected 0 (standard) or 1 (modified)"),
    (lambda link: setattr(link, "m", "heavy"), ModelError, "link: m is 'heavy'; expected a finite number >= 0"),
    (lambda link: setattr(link, "r", [1, 2]), ModelError, "link: r is [1, 2]; expected 3 finite numbers"),
    (lambda link: setattr(link, "I", [1, 2]), ModelError, f"link: I is [1, 2]; expected {MATRIX}"),
    (lambda link: setattr(link, "I", 1.0), ModelError, f"link: I is 1.0; expected {MATRIX}"),
    (
        lambda link: setattr(link, "I", [[1, 2, 0], [0, 1, 0], [0, 0, 1]]),
        ModelError,
        "link: I is [[1, 2, 0], [0, 1, 0], [0, 0, 1]]; expected a symmetric matrix",
    ),
    (lambda link: setattr(link, "Jm", -1), ModelError, "link: Jm is -1; expected a finite number >= 0"),
    (lambda link: setattr(link, "B", -1), ModelError, "link: B is -1; expected a finite number >= 0"),
    (lambda link: setattr(link, "B", None), ModelError, "link: B is None; expected a finite number >= 0"),
    (lambda link: setattr(link, "G", np.inf), ModelError, "link: G is inf; expected a finite number"),
    (lambda link: setattr(link, "Tc", -5), ModelError, f"link: Tc is -5; expected {FRICTION}"),
    (lambda link: setattr(link, "Tc", [-1, 1]), ModelError, f"link: Tc is [-1, 1]; expected {FRICTION}"),
    (lambda link: setattr(link, "Tc", [1, -1, 0]), ModelError, f"link: Tc is [1, -1, 0]; expected {FRICTION}"),
    (lambda link: setattr(link, "Tc", None), ModelError, f"link: Tc is None; expected {FRICTION}"),
    (
        lambda link: setattr(link, "qlim", [1, -1]),
        ModelError,
        "link: qlim is [1, -1]; expected two numbers, the least and the greatest coordinate, or None",
    ),
    (
        lambda link: setattr(link, "qlim", 3),
        ModelError,
        "link: qlim is 3; expected two numbers, the least and the greatest coordinate, or None",
    ),
    (lambda link: setattr(link, "offset", 1j), ModelError, "link: offset is 1j; expected a finite number"),
    (
        lambda link: setattr(link, "dh", FULL_ROW),
        ArgumentError,
        "dh takes a row of 4 or 5 numbers; assign dyn for a row of 16 to 20",
    ),
    (
        lambda link: setattr(link, "dyn", [0, 0, 0, 0]),
        ArgumentError,
        "dyn takes a row of 16 to 20 numbers; assign dh for a row of 4 or 5",
    ),
    (lambda link: setattr(link, "RP", 1), FieldError, f"a link does not take RP; {FIELDS}"),
    (lambda link: setattr(link, "mass", 1), FieldError, f"a link has no field 'mass'; {FIELDS}"),
    (lambda link: delattr(link, "m"), FieldError, "the fields of a link stay; assign another value to m"),
    (
        lambda link: link.dyn,
        ArgumentError,
        "link has no m and no r and no I and no Jm; a row of dyn needs 'm', 'r', 'I' and 'Jm'",
    ),
    (lambda link: link.islimit(0), ArgumentError, "this link has no limits; assign qlim"),
    (lambda link: link.islimit([0, 1]), ArgumentError, "q is [0, 1]; expected one joint coordinate"),
    (lambda link: link.islimit(np.nan), ArgumentError, "q is nan; expected one joint coordinate"),
    (
        lambda link: link([0, 1]),
        ArgumentError,
        "q has shape (2,); expected one joint coordinate (for many, rt_fkine(rt_robot([link]), q) takes (m, 1))",
    ),
    (lambda link: link(np.inf), ArgumentError, "q is inf; expected one joint coordinate"),
    (lambda link: setattr(link, "m", -1.0), ModelError, "link: m is -1.0; expected a finite number >= 0"),
    (lambda link: link("q"), ArgumentError, "q holds <U1; expected one joint coordinate"),
]


@pytest.mark.parametrize(("act", "kind", "message"), REFUSED)
def test_refused(act: Callable[[rt_link], Any], kind: type[LinkwiseError], message: str) -> None:
    link = rt_link()
    before = dict(link.__dict__)
    with pytest.raises(kind) as error:
        act(link)
    assert unnamed(error.value, message) == []
    assert link.__dict__ == before, "a link that refuses a value stays as it was"


def test_all_wrong_numbers_of_a_row_are_told() -> None:
    row = [*FULL_ROW[:15], -9, 1, -11, -12, 13]
    with pytest.raises(ModelError) as error:
        rt_link(row)
    assert [problem.field for problem in error.value.problems] == ["Jm", "B", "Tc"]


def test_an_error_of_a_field_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="RP"):
        rt_link().RP = 1


@pytest.mark.parametrize("name", ["r", "I", "Tc", "qlim"])
def test_arrays_that_are_read_are_closed(name: str) -> None:
    link = rt_link(FULL_ROW)
    link.qlim = [-1, 1]
    with pytest.raises(ValueError, match="read-only"):
        getattr(link, name)[0] = 1.0


def test_an_array_that_was_given_stays_the_callers() -> None:
    given = {"r": np.ones(3), "I": np.eye(3), "Tc": np.array([1.0, -1.0]), "qlim": np.array([-1.0, 1.0])}
    link = rt_link()
    for name, value in given.items():
        setattr(link, name, value)
        value[0] = 7.0
        assert not np.any(getattr(link, name) == 7.0)


def test_copies() -> None:
    link = rt_link(FULL_ROW, "mod")
    link.qlim, link.offset = [-1, 1], 0.25
    for other in (rt_link(link), copy.copy(link), copy.deepcopy(link), pickle.loads(pickle.dumps(link))):
        for name in rt_link.field_names():
            assert np.array_equal(getattr(other, name), getattr(link, name))
        other.m = 77
        assert link.m == 5


# ── on the one model ──────────────────────────────────────────────────────────────────────────────


def test_the_model_of_a_link_has_its_numbers() -> None:
    link = rt_link(FULL_ROW, "mod")
    link.D, link.qlim, link.offset = 0, [-1, 1], 0.25
    made = link.to_link("arm", friction="toolbox7")
    assert (made.name, made.joint, made.offset, made.limits) == ("arm", "prismatic", 0.25, (-1.0, 1.0))
    row, motor = made.dh_row, made.motor
    assert (row.convention, row.alpha, row.a, row.theta, row.d) == ("modified", 0.1, 0.2, 0.3, 0.0)
    assert (made.body.mass, made.body.com.tolist()) == (5.0, [6, 7, 8])
    assert np.array_equal(made.body.tensor, np.asarray(link.I))
    assert (motor.inertia, motor.gear_ratio, motor.viscous) == (9.0, -10.0, 11.0)
    assert (motor.coulomb, motor.friction_rule) == ((12.0, -13.0), "toolbox7")


def test_a_motor_that_is_not_felt_is_none() -> None:
    link = rt_link()
    assert link.to_link().motor is None
    link.Tc = 1
    motor = link.to_link().motor
    assert (motor.gear_ratio, motor.inertia) == (1.0, 0.0)
    link.G = 0
    assert link.to_link().motor is None


def test_linkwise_alone_does_not_load_the_toolbox() -> None:
    code = "import sys, linkwise; linkwise.Mechanism; print('linkwise.rtss' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "False\n"


# ── the examples of the page, line by line ────────────────────────────────────────────────────────


def test_the_examples_of_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    # a default link
    ldef = rt_link()
    assert repr(ldef) == "0.000000\t0.000000\t0.000000\t0.000000\tR\t(std)"
    # the standard convention
    l1s = rt_link([-PI / 2, 0.02, 0, 0.15])
    assert repr(l1s) == "-1.570796\t0.020000\t0.000000\t0.150000\tR\t(std)"
    l2s = rt_link([-PI / 2, 0.8, 0, 0], "standard")
    assert repr(l2s) == "-1.570796\t0.800000\t0.000000\t0.000000\tR\t(std)"
    l3s = rt_link([0, 0, -PI / 2, 0, 1], "stand")
    assert repr(l3s) == "0.000000\t0.000000\t-1.570796\t0.000000\tP\t(std)"
    l4s = rt_link([0, 0.5, 0, 0, 0], "sta")
    assert repr(l4s) == "0.000000\t0.500000\t0.000000\t0.000000\tR\t(std)"
    with pytest.raises(ArgumentError, match=r"convention.*'std'.*'standard'.*'modified'"):
        rt_link([0, 0.5, 0, 0, 0], "std")
    with pytest.raises(ArgumentError, match=r"convention.*'s'.*'standard'.*'modified'"):
        rt_link([0, 0.5, 0, 0, 0], "s")
    # the modified convention
    l1m = rt_link([PI / 2, -0.0203, 0, 0.4331], "modified")
    assert repr(l1m) == "1.570796\t-0.020300\t0.000000\t0.433100\tR\t(mod)"
    l2m = rt_link([-PI / 2, 0, 0, 0], "mod")
    assert repr(l2m) == "-1.570796\t0.000000\t0.000000\t0.000000\tR\t(mod)"
    with pytest.raises(ArgumentError, match=r"convention.*'m'.*'standard'.*'modified'"):
        rt_link([0, 0.5, 0, 0, 0], "m")
    # a copy, and a second name for it
    l1s_copy = rt_link(l1s)
    assert l1s_copy is not l1s
    link = l1s_copy
    link.alpha = 0
    link.A = 1
    link.D = 0
    changed = "0.000000\t1.000000\t0.000000\t0.000000\tR\t(std)\n"
    print(link)
    assert capsys.readouterr().out == changed
    print(l1s_copy)
    assert capsys.readouterr().out == changed
    print(l1s)
    assert capsys.readouterr().out == "-1.570796\t0.020000\t0.000000\t0.150000\tR\t(std)\n"
    # dynamics
    ll = rt_link(DYN_ROW, "stand")
    assert ll.dyn.tolist() == [*DYN_ROW, 0, 0, 0]
    assert ll.mdh == 0
    ll.mdh = 1
    assert ll.mdh == 1
    ll.Tc = 5
    assert ll.Tc.tolist() == [5, -5]
    assert ll.I.tolist() == np.diag([0.276, 0.255, 0.071]).tolist()
    ll.I = [0.1, 0.05, 0.1, 0, 0, 0]
    assert ll.I.tolist() == np.diag([0.1, 0.05, 0.1]).tolist()
    ll.I = [[0.2, 0, 0], [0, 0.1, 0], [0, 0, 0.2]]
    assert ll.I.tolist() == np.diag([0.2, 0.1, 0.2]).tolist()
    rt_showlink(ll)
    assert capsys.readouterr().out == SHOWN
    assert ll.RP == "R"
    with pytest.raises(AttributeError, match="a link does not take RP"):
        ll.RP = 1
    ll.sigma = 1
    assert ll.RP == "P"
    # the transform of a joint, by steps and directly
    alphai, ai, thetai, di = -PI / 2, 0.0203, 0.85, 0.15005
    ll = rt_link([alphai, ai, 0, di], "standard")
    assert repr(ll) == "-1.570796\t0.020300\t0.000000\t0.150050\tR\t(std)"
    compounded = rt_transl(0, 0, di) @ rt_rotz(thetai) @ rt_transl(ai, 0, 0) @ rt_rotx(alphai)
    np.testing.assert_allclose(ll(thetai), compounded, rtol=0, atol=2e-16)  # one rounding of numbers below 1
    # the type
    assert isinstance(l1s, rt_link)
    assert type(l1s).__name__ == "rt_link"


SHOWN = """\
alpha  = -1.5707963
A      = 0
theta  = 0
D      = 0.412
sigma  = 0
mdh    = 1
offset = 0
m      = 9.29
r      =  0
          0.0175
         -0.1105
I      = 0.2  0    0
         0    0.1  0
         0    0    0.2
Jm     = 0.953
G      = 1
B      = 0
Tc     =  5  -5
qlim   =
"""
