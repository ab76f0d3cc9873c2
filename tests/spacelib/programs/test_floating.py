"""TEST and TEST_NEW against Linkwise's dynamics of a floating base, and that against finite differences and conservation."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from linkwise.errors import ArgumentError, FileError
from linkwise.spacelib.programs import formats
from linkwise.spacelib.programs.floating import TwoLinks, read_two_links, run_test, run_test_new, written
from linkwise.spacelib.programs.floating_comparison import (
    centres,
    compare,
    compared,
    mechanism,
    names,
    run_floating_base,
    with_check,
)
from linkwise.spacelib.programs.laws import Motion, motor_motion

LINKS = read_two_links(formats.path("TEST.DAT"))
MATRICES = ("m1", "m2", "W1", "W2", "H1", "H2")


def tumbling(seed=7) -> TwoLinks:
    """Two bodies of general shape that turn about all axes, begun anywhere."""
    rng = np.random.default_rng(seed)
    inertias = []
    for _ in range(2):
        points, masses = rng.normal(size=(3, 8)), rng.uniform(0.2, 2.0, 8)
        points = np.vstack([points, np.ones(8)])
        inertias.append(points * masses @ points.T)
    m1, W1 = np.eye(4), np.zeros((4, 4))
    m1[:3, :3], m1[:3, 3] = Rotation.random(random_state=rng).as_matrix(), rng.normal(size=3)
    w = rng.normal(size=3)
    W1[:3, :3] = [[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]]
    W1[:3, 3] = rng.normal(size=3)
    return TwoLinks(*inertias, W1, m1)


def still(rows=20, dt=0.01) -> Motion:
    zero = np.zeros((rows, 1))
    return Motion(dt, dt * np.arange(rows), zero, zero, zero)


@pytest.fixture(scope="module")
def reference():
    return {name: with_check(links, motor_motion())[1] for name, links in BOTH.items()}


BOTH = {"manual": LINKS, "tumbling": tumbling()}


# ── Linkwise's own ────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", BOTH)
def test_momentum_is_kept_to_rounding(name, reference) -> None:
    change = reference[name].momentum - reference[name].momentum[0]
    # some hundred products of numbers up to the momentum, 20
    assert np.abs(change).max() < 100 * 2.2e-16 * 20.0


def slope(values, h):
    """Derivative at all but two samples at either end, of fourth order."""
    return (8.0 * (values[3:-1] - values[1:-3]) - (values[4:] - values[:-4])) / (12.0 * h)


@pytest.mark.parametrize("name", BOTH)
def test_matrices_are_derivatives_of_each_other(name, reference) -> None:
    made = reference[name]
    for first, second, third in (("m1", "W1", "H1"), ("m2", "W2", "H2")):
        m, W, H = (getattr(made, part)[:-1] for part in (first, second, third))  # the motor stops before the last sample
        # h^4 / 30 = 5e-13 times fifth derivatives, of m up to some 1e5 and of W up to some 1e6
        assert np.abs(slope(m, made.dt) - (W @ m)[2:-2]).max() < 1e-6
        assert np.abs(slope(W, made.dt) - (H - W @ W)[2:-2]).max() < 1e-5


@pytest.mark.parametrize("name", BOTH)
def test_nothing_acts_on_the_base(name, reference) -> None:
    made, links = reference[name], BOTH[name]
    body = mechanism(links)
    R, p = made.m1[:, :3, :3], made.m1[:, :3, 3]
    q = np.column_stack([p, Rotation.from_matrix(R).as_quat()[:, [3, 0, 1, 2]], made.q])
    back = np.swapaxes(R, 1, 2)

    def axial(m):
        return (
            np.stack([m[:, 2, 1], m[:, 0, 2], m[:, 1, 0]], axis=1) / 2
            - np.stack([m[:, 1, 2], m[:, 2, 0], m[:, 0, 1]], axis=1) / 2
        )

    def of_point(m):
        return (m[:, :3, :3] @ p[..., None])[..., 0] + m[:, :3, 3]

    def turned(v):
        return (back @ v[..., None])[..., 0]

    w, v = turned(axial(made.W1)), turned(of_point(made.W1))
    qd = np.column_stack([v, w, made.qp])
    qdd = np.column_stack([turned(of_point(made.H1)) - np.cross(w, v), turned(axial(made.H1)), made.qpp])
    tau = body.inverse_dynamics(q, qd, qdd)
    assert np.abs(tau[:, 6]).max() > 1.0  # the motor works
    assert np.abs(tau[:, :6]).max() < 1e-11  # rounding of forces up to some 1e3
    assert np.abs(body.momentum(q, qd) - body.momentum(q[0], qd[0])).max() < 1e-12


def test_steps_are_short_enough(reference) -> None:
    for name, links in BOTH.items():
        found = run_floating_base(links, motor_motion())
        assert np.abs(found.m1 - reference[name].m1).max() < 1e-11


def test_a_body_that_nothing_drives_goes_straight() -> None:
    made = run_floating_base(LINKS, still())
    total = centres(LINKS, made)[2]
    assert np.abs(total - total[0] - made.t[:, None] * [1.0, 0.0, 0.0]).max() < 1e-14
    assert np.abs(made.H1).max() < 1e-13


@pytest.mark.parametrize("name", BOTH)
def test_the_common_centre_of_mass_goes_straight(name, reference) -> None:
    links, made = BOTH[name], reference[name]
    total = centres(links, made)[2]
    speed = made.momentum[0, :3, 3] / (links.J1[3, 3] + links.J2[3, 3])
    assert np.abs(total - total[0] - made.t[:, None] * speed).max() < 1e-12


# ── the programs ──────────────────────────────────────────────────────────────────────────────────


def worst(program, links, dt, reference) -> float:
    made = program(links, motor_motion(dt))
    rows = round(0.002 / dt)
    count = len(reference.t) - 1  # the last sample lies beyond the end of the motion
    return float(np.abs(made.m1[::rows][:count] - reference.m1[:count]).max())


@pytest.mark.parametrize("name", BOTH)
def test_test_converges_with_the_first_power_of_the_step(name, reference) -> None:
    errors = [worst(run_test, BOTH[name], dt, reference[name]) for dt in (0.002, 0.001, 0.0005)]
    assert errors[0] < 5e-3
    for one, other in pairwise(errors):
        assert 1.8 < one / other < 2.3


@pytest.mark.parametrize("name", BOTH)
def test_test_new_converges_with_the_second_power_of_the_step(name, reference) -> None:
    errors = [worst(run_test_new, BOTH[name], dt, reference[name]) for dt in (0.002, 0.001, 0.0005)]
    assert errors[0] < 5e-5
    for one, other in pairwise(errors):
        assert 3.4 < one / other < 4.6


def test_how_far_link_1_goes_along_x(reference) -> None:
    """The errors are 3e-6, 8e-7 and 2e-7 m for steps of 2, 1 and 0.5 ms: of second order in this symmetric motion."""
    expected = reference["manual"].m1[166, 0, 3]
    for dt, error in ((0.002, 3e-6), (0.001, 8e-7), (0.0005, 2e-7)):
        k = round(0.332 / dt)
        found = run_test(LINKS, motor_motion(dt)).m1[k, 0, 3] - expected
        assert found == pytest.approx(error, rel=0.1)


@pytest.mark.parametrize("name", BOTH)
def test_test_new_keeps_momentum_to_rounding_and_test_does_not(name) -> None:
    kept = run_test_new(BOTH[name], motor_motion())
    assert np.abs(kept.momentum - kept.momentum[0]).max() < 100 * 2.2e-16 * 20.0
    lost = run_test(BOTH[name], motor_motion())
    assert np.abs(lost.momentum - lost.momentum[0]).max() > 1e-2


def test_as_listed_momentum_is_lost_at_any_step() -> None:
    found = []
    for dt in (0.002, 0.001):
        made = run_test(LINKS, motor_motion(dt), as_listed=True)
        k = round(0.332 / dt)
        found.append(made.m1[k, 0, 3])
        assert made.momentum[0, 0, 3] == 20.0
        assert made.momentum[:k, 0, 3].min() < 5.0
    exact = run_floating_base(LINKS, motor_motion()).m1[166, 0, 3]
    assert np.allclose(np.array(found) - exact, -0.135, atol=0.001)
    new = [run_test_new(LINKS, motor_motion(dt), as_listed=True) for dt in (0.002, 0.001)]
    off = [made.momentum - made.momentum[0] for made in new]
    assert np.abs(off[0]).max() > 1.0
    assert abs(np.abs(off[0]).max() - np.abs(off[1]).max()) < 0.05  # no better with a shorter step


def test_the_first_instant_is_the_same_for_all() -> None:
    one, other, own = (run(LINKS, motor_motion()) for run in (run_test, run_test_new, run_floating_base))
    for name in MATRICES:
        assert np.array_equal(getattr(one, name)[0], getattr(other, name)[0])
        assert np.abs(getattr(one, name)[0] - getattr(own, name)[0]).max() < 1e-14


def test_the_whole_motion_is_computed() -> None:
    """The listing's loop ends after a second."""
    made = run_test(LINKS, still(rows=150))
    assert made.t[-1] == pytest.approx(1.49)
    assert np.abs(made.m1[-1, :3, 3] - [1.49, 0, 0]).max() < 1e-13


def test_output_layout() -> None:
    text = "".join(written(run_test(LINKS, motor_motion())))
    pages = text.split("\n\n--- time:")[1:]
    assert len(pages) == 168
    assert pages[5].startswith("0.010 q: 6.934306E-05 qp: 2.07783E-02 qpp: 4.1433\n\n Position matrix of link 1\n")
    for words in (
        "Absolute position matrix of link 2", "Velocity matrix of link 1", "Absolute velocity matrix of link 2",
        "Acceleration matrix of link 1", "Absolute acceleration matrix of link 2",
    ):  # fmt: skip
        assert text.count(f" {words}\n") == 168
    rows = pages[5].split(" Velocity matrix of link 1\n")[1].split("\n")
    assert [row.split() for row in rows[:2]] == [
        ["0.0000", "0.0083", "0.0000", "1.0000"],
        ["-0.0083", "0.0000", "0.0000", "0.0001"],
    ]


# ── comparison ────────────────────────────────────────────────────────────────────────────────────


def test_comparison() -> None:
    found = compare(LINKS, motor_motion(), halvings=1)
    assert names(found) == [
        "TEST, dt = 2 ms", "TEST, dt = 1 ms", "TEST_NEW, dt = 2 ms", "TEST_NEW, dt = 1 ms", "Linkwise",
    ]  # fmt: skip
    for one in found:
        assert one.distance.shape == one.angle.shape == one.linear.shape == one.angular.shape == (168,)
    coarse, fine, new, new_fine, own = found
    assert coarse.distance.max() / fine.distance.max() == pytest.approx(2.0, rel=0.05)
    assert new.distance.max() / new_fine.distance.max() == pytest.approx(4.0, rel=0.05)
    assert own.distance.max() < 1e-11
    for one in (new, new_fine, own):
        assert max(one.linear.max(), one.angular.max()) < 1e-13


def test_what_is_compared(reference) -> None:
    """A history turned and moved by known amounts, and with known momentum."""
    made = reference["tumbling"]
    push = np.zeros_like(made.momentum)
    push[1:, :3, 3] = [3.0, 0.0, 4.0]
    push[1:, :3, :3] = [[0.0, -2.0, 1.0], [2.0, 0.0, -2.0], [-1.0, 2.0, 0.0]]  # of the vector (2, 1, 2)
    turn = np.eye(4)
    turn[:3, :3] = Rotation.from_rotvec([0.0, 0.18, 0.24]).as_matrix()
    found = compared(BOTH["tumbling"], replace(made, m1=made.m1 @ turn, momentum=made.momentum + push), made)
    kept = np.abs(made.momentum - made.momentum[0]).max() * 10
    assert np.abs(found.angle - 0.3).max() < 1e-12  # rounding of a few products
    assert np.abs(found.linear[1:] - 5.0).max() <= kept
    assert np.abs(found.angular[1:] - 3.0).max() <= kept
    shift = np.outer([0.3, 0.4, 0.0, 0.0], [0, 0, 0, 1])
    moved = replace(made, m2=made.m2 + shift)
    assert np.abs(compared(BOTH["tumbling"], moved, made).distance - 0.5).max() < 1e-14


def test_comparison_of_the_listings() -> None:
    found = compare(LINKS, motor_motion(), as_listed=True)
    assert names(found) == ["TEST", "TEST as listed", "TEST_NEW", "TEST_NEW as listed", "Linkwise"]
    assert found[1].distance.max() > 0.1
    assert 1e-2 < found[3].distance.max() < 3e-2


# ── what is refused ───────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("run", [run_test, run_test_new, run_floating_base])
def test_motion_of_more_joints_is_refused(run) -> None:
    at = np.zeros((3, 2))
    with pytest.raises(ArgumentError, match=r"motion.*2.*joints"):
        run(LINKS, Motion(0.1, np.arange(3.0), at, at, at))


def test_a_motion_of_no_instants_is_refused() -> None:
    at = np.zeros((0, 1))
    for run in (run_test, run_test_new, run_floating_base):
        with pytest.raises(ArgumentError, match="the motion is of no instants"):
            run(LINKS, Motion(0.1, np.zeros(0), at, at, at))
    with pytest.raises(ArgumentError, match=r"halvings.*-1.*0"):
        compare(LINKS, still(), halvings=-1)


def test_bodies_without_extent_are_refused() -> None:
    point = np.diag([0.0, 0.0, 0.0, 1.0])
    with pytest.raises(ArgumentError, match=r"TEST.*instant.*1.*0.*positive"):
        run_test(TwoLinks(point, point, np.zeros((4, 4)), np.eye(4)), motor_motion())


def test_numbers_that_become_too_large_are_told_with_their_instant() -> None:
    at = np.zeros((2, 1))
    fast = Motion(0.5, np.array([0.0, 0.5]), at, np.array([[0.0], [1e200]]), at)
    for run in (run_test, run_test_new):
        with pytest.raises(ArgumentError, match=r"instant.*2.*0\.5.*finite"):
            run(LINKS, fast)


def test_what_momentum_does_not_fix_is_refused() -> None:
    point = np.diag([0.0, 0.0, 0.0, 1.0])
    with pytest.raises(ArgumentError, match=r"momentum.*speeds"):
        run_floating_base(TwoLinks(point, point, np.zeros((4, 4)), np.eye(4)), motor_motion(0.1))
    for rows in (1, 2):
        at = np.zeros((rows, 1))
        fast = Motion(0.1, 0.1 * np.arange(rows), at, at + 1e200, at)
        with pytest.raises(ArgumentError, match="or numbers become too large"):
            run_floating_base(LINKS, fast)


def test_a_tolerance_below_rounding_is_refused() -> None:
    short = motor_motion(0.3)
    with pytest.raises(ArgumentError, match=r"1024.*1e-30"):
        run_floating_base(tumbling(), short, tolerance=1e-30)


GOOD = (formats.path("TEST.DAT")).read_text()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("10 1 1 1", "10 one 1 1", "line 1: Jx of link 1: 'one' is not a number"),
        ("10 1 1 1", "0 1 1 1", "line 3: mass of link 1 is 0.0; expected a number > 0"),
        ("10 1 1 1", "10 -1 1 1", "line 3: link 1: "),
        (
            "0 0 0 1\n0 0 0 0",
            "0 1 0 1\n0 0 0 0",
            "the velocity matrix of link 1 must be skew-symmetric but for its last column",
        ),
        ("1 0 0 0\n0 1 0 0", "1 0 0 0\n0 2 0 0", "the position matrix of link 1 must hold a rotation, right-handed"),
        ("1 0 0 0\n0 1 0 0", "1e308 1e308 0 0\n1e308 -1e308 0 0", "the position matrix of link 1 must hold a rotation"),
        ("1 0 0 0\n0 1 0 0", "1 0 0 0\n0 -1 0 0", "the position matrix of link 1 must hold a rotation, right-handed"),
        ("0 0 0 1\n", "0 0 0 1 5\n", "comes after the last number; 52 numbers were expected, there are 53 words"),
    ],
)
def test_malformed_test_dat(old, new, message, tmp_path) -> None:
    path = tmp_path / "TEST.DAT"
    assert old in GOOD
    path.write_text(GOOD.replace(old, new, 1) if "comes after" not in message else GOOD + "5")
    with pytest.raises(FileError) as told:
        read_two_links(path)
    assert message in str(told.value)


def test_a_rounded_rotation_is_made_orthogonal(tmp_path) -> None:
    path = tmp_path / "TEST.DAT"
    turned = "0.866 -0.5 0 0\n0.5 0.866 0 0"
    path.write_text(GOOD.replace("1 0 0 0\n0 1 0 0", turned, 1))
    R = read_two_links(path).m1[:3, :3]
    assert np.abs(R @ R.T - np.eye(3)).max() < 1e-15
    assert np.abs(R[0] - [0.866, -0.5, 0.0]).max() < 1e-4
