"""Motion along paths as fast as limits allow: analytic cases, limits at any instant, messages, agreement with toppra."""

import logging

import numpy as np
import pytest

import linkwise as lw
from linkwise.errors import ArgumentError
from linkwise.kernel.backends.llvm import loaders
from linkwise.trajectory import JointPath, MotionLimits, OptimalMotion, compiled_path, path_through, time_optimal
from linkwise.trajectory.retimed import PathPieces, Pieces

POINTS = np.random.default_rng(5).uniform(-1.5, 1.5, (5, 3))
RATES = MotionLimits(qd_max=[1.0, 1.5, 2.0], qdd_max=[4.0, 3.0, 5.0])


def dense(move: OptimalMotion) -> np.ndarray:
    """Instants at 10 kHz, and the nodes."""
    return np.union1d(np.arange(0.0, move.duration, 1e-4), np.minimum(move.profile.times, move.duration))


@pytest.fixture(scope="module")
def arm() -> lw.Mechanism:
    base = lw.robots.planar_2r().replace(gravity=(0.0, -9.81, 0.0))
    motor = lw.Motor(inertia=1e-3, gear_ratio=10.0, viscous=0.02, coulomb=0.1)
    return base.replace(links=[link.replace(motor=motor) for link in base.links])


@pytest.fixture(scope="module")
def swing(arm: lw.Mechanism) -> OptimalMotion:
    limits = MotionLimits(qd_max=4.0, tau_max=[80.0, 25.0], tool_speed=3.0, tool_acceleration=14.0)
    return time_optimal(path_through([[0.2, -0.4], [0.8, 0.9], [1.4, 0.1]], names=arm.names), arm, limits, intervals=120)


@pytest.mark.parametrize(("way", "speed", "acceleration"), [(2.0, 1.1, 2.0), (1.0, 50.0, 3.0), (-3.0, 0.7, 9.0)])
def test_bang_bang_and_trapezoid(way: float, speed: float, acceleration: float) -> None:
    """From rest to rest: 2 sqrt(d / a), or d / v + v / a where the greatest velocity is reached."""
    d = abs(way)
    exact = 2.0 * np.sqrt(d / acceleration) if d <= speed**2 / acceleration else d / speed + speed / acceleration
    move = time_optimal([[0.0], [way]], limits=MotionLimits(qd_max=speed, qdd_max=acceleration), intervals=51, refinements=1)
    print(f"error {move.duration / exact - 1.0:.1e}")
    assert (
        abs(move.duration / exact - 1.0) < 1e-10
    )  # the profile is a polygon whose corners are nodes; only rounding is left
    assert np.abs(move.at(move.duration)[0] - way) <= 1e-15 * d


def test_velocities_at_the_ends() -> None:
    """Up from v0 with a, then down to v1: the top is sqrt(a d + (v0^2 + v1^2) / 2)."""
    v0, v1, a = 0.3, 0.5, 2.0
    top = np.sqrt(a + 0.5 * (v0**2 + v1**2))
    move = time_optimal([[0.0], [1.0]], limits=MotionLimits(qdd_max=a), sd0=v0, sd1=v1, intervals=50, refinements=1)
    assert abs(move.duration - (2.0 * top - v0 - v1) / a) < 1e-10
    assert np.allclose([move.qd[0, 0], move.qd[-1, 0]], [v0, v1], rtol=1e-12)


def test_rates_stay_within_limits_at_any_instant() -> None:
    for kind, intervals in (("cubic", 40), ("quintic", 40), ("cubic", 200)):
        move = time_optimal(path_through(POINTS, kind=kind), limits=RATES, intervals=intervals, refinements=1)
        _, qd, qdd = move.at(dense(move))
        excess = [float((np.abs(part) / limit).max() - 1.0) for part, limit in ((qd, RATES.qd_max), (qdd, RATES.qdd_max))]
        print(kind, intervals, move.duration, excess)
        assert max(excess) < 1e-10  # Bernstein coefficients bound what is a polynomial; lines are bent by 1e-10 at most


def test_velocity_and_acceleration_are_derivatives() -> None:
    move = time_optimal(POINTS, limits=RATES, intervals=60)
    nodes = move.profile.times
    t, h = 0.5 * (nodes[1:] + nodes[:-1]), 1e-6
    for k in (0, 1):
        error = np.abs((move.at(t + h)[k] - move.at(t - h)[k]) / (2.0 * h) - move.at(t)[k + 1]).max()
        print(f"derivative {k + 1}: {error:.1e}")
        assert error < 2e-8  # rounding of 3 in q over h


def test_finer_grids_are_faster_and_converge() -> None:
    durations = [time_optimal(POINTS, limits=RATES, intervals=n).duration for n in (50, 100, 200, 400, 800)]
    losses = np.diff(durations)
    print(durations)
    assert np.all(losses < 0.0)
    assert durations[2] / durations[4] < 1.005
    assert losses[-1] > 0.6 * losses[-2]  # the loss falls faster than the length of an interval


def test_agrees_with_toppra() -> None:
    ta = pytest.importorskip("toppra")
    logging.getLogger("toppra").setLevel(logging.ERROR)
    path = ta.SplineInterpolator(np.arange(5.0), POINTS, bc_type="natural")
    bounds = [np.outer(limit, [-1.0, 1.0]) for limit in (RATES.qd_max, RATES.qdd_max)]
    limits = [ta.constraint.JointVelocityConstraint(bounds[0]), ta.constraint.JointAccelerationConstraint(bounds[1])]
    peer = ta.algorithm.TOPPRA(limits, path, gridpoints=np.linspace(0, 4, 401), parametrizer="ParametrizeConstAccel")
    theirs, ours = peer.compute_trajectory(0, 0).duration, time_optimal(POINTS, limits=RATES, intervals=400).duration
    print(theirs, ours)
    assert abs(ours / theirs - 1.0) < 1e-3  # what 100 intervals between points leave open in both


def test_a_batch_equals_a_loop() -> None:
    points = np.random.default_rng(5).uniform(-1.5, 1.5, (2, 17, 5, 3))
    many = time_optimal(points, limits=RATES, intervals=40, refinements=1)
    assert many.batch == (2, 17)
    for place in ((0, 0), (1, 16)):
        one = time_optimal(points[place], limits=RATES, intervals=40, refinements=1)
        assert abs(many.durations[place] - one.duration) < 1e-9 * one.duration
        assert np.allclose(many.member(place).at(one.t)[0], one.q, atol=1e-9)
        assert many.member(place).binding[0].name == one.binding[0].name


def test_limits_of_efforts_and_of_the_tool(arm: lw.Mechanism, swing: OptimalMotion) -> None:
    t = dense(swing)
    q, qd, qdd = swing.at(t)
    taken = {
        "effort": np.abs(arm.inverse_dynamics(q, qd, qdd)) / [80.0, 25.0],
        "speed": np.linalg.norm((arm.jacobian(q)[:, :3] @ qd[..., None])[..., 0], axis=1) / 3.0,
        "velocity": np.abs(qd) / 4.0,
    }
    linear = arm.jacobian(q)[:, :3] @ qdd[..., None] + arm.jacobian_dot(q, qd)[:, :3] @ qd[..., None]
    taken["acceleration"] = np.linalg.norm(linear[..., 0], axis=1) / 14.0
    for name, share in taken.items():
        print(name, share.max() - 1.0)
        assert share.max() < 1.0 + 1e-9
    assert max(share.max() for share in taken.values()) > 1.0 - 1e-3
    assert 1.0 <= swing.stretch < 1.0 + 1e-6


def test_binding_covers_the_motion(swing: OptimalMotion) -> None:
    parts = swing.binding
    assert [part.begin for part in parts[1:]] == [part.end for part in parts[:-1]]
    assert parts[0].begin == 0.0
    assert np.isclose(parts[-1].end, swing.duration, rtol=1e-12)
    assert {part.name for part in parts} <= set(swing.limit_names)
    assert swing.usage.max() < 1.0 + 1e-9
    pytest.importorskip("matplotlib")
    assert len(swing.plot_binding("a swing").axes) == 3


def test_effort_alone_is_bang_bang() -> None:
    """One joint with inertia I and efforts up to T takes 2 sqrt(d I / T); with viscous friction it is slower."""
    wheel = lw.Mechanism([lw.Link(joint="revolute", mass=1.0, inertia=(0.5, 0.5, 0.5))], gravity=(0, 0, 0))
    move = time_optimal([[0.0], [2.0]], wheel, MotionLimits(tau_max=3.0), intervals=50)
    assert abs(move.duration - 2.0 * np.sqrt(2.0 * 0.5 / 3.0)) < 2e-8  # (limits of efforts are tightened by 2e-8)
    # also where friction at the speed that inertia alone would allow is many times the effort
    strong = wheel.replace(links=[wheel.links[0].replace(motor=lw.Motor(viscous=20.0))])
    assert time_optimal([[0.0], [2.0]], strong, MotionLimits(tau_max=3.0)).duration == pytest.approx(
        2.0 * 20.0 / 3.0, rel=0.01
    )
    damped = wheel.replace(links=[wheel.links[0].replace(motor=lw.Motor(viscous=0.5))])
    slower = [time_optimal([[0.0], [2.0]], damped, MotionLimits(tau_max=3.0), intervals=n).duration for n in (100, 200, 400)]
    # qdd = (T - b v) / I up to t1, then (-T - b v) / I: t1 by bisection of the way, in closed form
    b, inertia, effort = 0.5, 0.5, 3.0
    rate, limit = b / inertia, effort / b

    def way(t1: float) -> tuple[float, float]:
        v1 = limit * (1.0 - np.exp(-rate * t1))
        t2 = np.log((v1 + limit) / limit) / rate
        return limit * t1 - v1 / rate - limit * t2 + v1 / rate, t1 + t2

    low, high = 0.0, 10.0
    for _ in range(100):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if way(middle)[0] < 2.0 else (low, middle)
    exact = way(low)[1]
    loss = np.array(slower) / exact - 1.0
    print(loss)
    assert np.all(loss > 0.0)
    # in an interval u is constant and friction grows: its end allows less, by what is of first order
    assert np.all(loss[1:] < 0.6 * loss[:-1])
    assert loss[-1] < 2e-3


@pytest.mark.parametrize(("points", "intervals"), [(20, 200)])
def test_efforts_along_paths_with_few_intervals_between_knots(points: int, intervals: int) -> None:
    """Within what is left between 17 points of each interval; sparse checks miss a thousand times that."""
    arm, efforts, rng = lw.robots.planar_3r(), np.array([150.0, 80.0, 30.0]), np.random.default_rng(22)
    for _ in range(3):
        way = path_through(rng.uniform(-3.0, 3.0, (points, 3)))
        move = time_optimal(way, arm, MotionLimits(tau_max=efforts), intervals=intervals)
        excess = np.abs(arm.inverse_dynamics(*move.at(dense(move)))) / efforts - 1.0
        print(f"excess {excess.max():.1e}")
        assert excess.max() < 1e-6


def test_rests_and_zero_limits() -> None:
    move = time_optimal(
        [[0.0, 0.0], [1.0, 0.0], [3.0, 0.0]], limits=MotionLimits(qd_max=[1.0, 0.0], qdd_max=2.0), rests=[1.0]
    )
    k = int(np.flatnonzero(move.profile.pieces.s == 1.0)[0])
    assert move.profile.x[k] == 0.0
    with pytest.raises(
        ArgumentError, match=r"qd_max of joint 'q2' is 0, and the path moves it by 0\.5 in all, beginning at s = 0"
    ):
        time_optimal([[0.0, 0.0], [1.0, 0.5]], limits=MotionLimits(qd_max=[1.0, 0.0], qdd_max=2.0))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"limits": MotionLimits()}, "there is no limit"),
        ({"limits": MotionLimits(qd_max=-1.0)}, "qd_max is -1.0; expected numbers >= 0"),
        ({"limits": MotionLimits(tau_max=1.0)}, "tau_max needs the mechanism"),
        ({"limits": MotionLimits(tool_speed=0.0)}, "tool_speed is 0.0; expected a number > 0"),
        ({"limits": None}, "give a mechanism whose joints have limits"),
        ({"mechanism": 5}, "mechanism is 5; expected a Mechanism"),
        ({"sd0": 100.0}, "sd0 is 100; limits of velocity allow at most"),
        ({"sd0": 0.9, "limits": MotionLimits(qd_max=10.0, qdd_max=0.1)}, "sd0 is 0.9; from there on the limits can be kept"),
        ({"sd1": -1.0}, "sd1 is -1.0; expected a number >= 0"),
        ({"rests": [9.0]}, "rests holds 9; the path goes from 0 to 1"),
        ({"limits": MotionLimits(qd_max=[1.0, np.inf], qdd_max=[np.inf, 1.0])}, None),
        ({"path": [[0.0, 0.0], [0.0, 0.0]]}, "points 0 and 1 are the same"),
    ],
)
def test_messages(change: dict, message: str | None) -> None:
    call = {"path": [[0.0, 0.0], [1.0, 1.0]], "limits": MotionLimits(qd_max=1.0, qdd_max=1.0)} | change
    if message is None:
        assert time_optimal(call.pop("path"), **call).duration > 0.0
        return
    with pytest.raises(ArgumentError, match=message):
        time_optimal(call.pop("path"), **call)


def test_paths_that_leave_limits_or_cannot_stand(arm: lw.Mechanism) -> None:
    narrow = arm.replace(links=[link.replace(limits=(-1.0, 1.0)) for link in arm.links])
    with pytest.raises(
        ArgumentError, match=r"leaves the limits \[-1\.0, 1\.0\] of joint .* at s = 0\.5.* % of the way\), and by 1 at"
    ):
        time_optimal([[0.0, 0.0], [0.5, 2.0]], narrow, MotionLimits(qd_max=1.0, qdd_max=1.0))
    with pytest.raises(ArgumentError, match=r"cannot stand at s = .*: it needs .*, and tau_max is 5"):
        time_optimal([[0.0, 0.0], [0.5, 0.5]], arm, MotionLimits(tau_max=5.0))
    points, needed = [[0.0, 0.0], [0.5, 0.5], [1.0, 1.0]], np.abs(arm.gravity_torque([0.0, 0.0])[0])
    for end, way in (
        (0, points),
        (2, points[::-1]),
    ):  # (the most is named, not what fails first on the way back from the end)
        with pytest.raises(ArgumentError, match=rf"'link1' cannot stand at s = {end} .*: it needs {needed:.6g}, and"):
            time_optimal(way, arm, MotionLimits(tau_max=1.0))


def test_friction_that_efforts_cannot_overcome_is_named(arm: lw.Mechanism) -> None:
    level = arm.replace(gravity=(0.0, 0.0, 0.0))  # friction of 0.1 N m times a gear of 10
    with pytest.raises(
        ArgumentError, match=r"; gravity and friction alone need 1 of joint 'link1' at s = .*, and tau_max is 0\.9"
    ):
        time_optimal([[0.0, 0.0], [1.0, 0.5]], level, MotionLimits(tau_max=0.9))


def test_path_derivatives_and_nodes() -> None:
    path = path_through(POINTS)
    s, h = np.linspace(0.1, 3.9, 30) + 1e-3, 1e-5
    for k in (0, 1):
        assert np.abs((path.at(s + h)[k] - path.at(s - h)[k]) / (2 * h) - path.at(s)[k + 1]).max() < 1e-8
    assert np.array_equal(path.at(path.s)[0], POINTS)
    nodes = JointPath([0.0, 0.1, 3.0], np.zeros((3, 1)), np.ones((3, 1)), np.zeros((3, 1))).divided(10, [2.0])
    assert nodes.size == 11
    assert {0.0, 0.1, 2.0, 3.0} <= set(nodes.tolist())


@pytest.mark.parametrize(("n", "kind"), [(1, "cubic"), (7, "quintic"), (9, "cubic")])
def test_one_compiled_call_equals_interval_by_interval(monkeypatch: pytest.MonkeyPatch, n: int, kind: str) -> None:
    path = path_through(np.random.default_rng(n).uniform(-2.0, 2.0, (18, 6, n)), kind=kind)
    options = {"limits": MotionLimits(qd_max=2.0, qdd_max=10.0), "rests": [2.0], "sd0": 0.05, "intervals": 100}
    one = time_optimal(path, **options)
    assert isinstance(one.profile.pieces, PathPieces) == loaders.usable()
    monkeypatch.setattr(compiled_path, "speeds", lambda *_, **__: None)
    other = time_optimal(path, **options)
    assert type(other.profile.pieces) is Pieces
    t = one.t[:-1]  # (both end within rounding of the last one)
    errors = [float(np.abs(a - b).max() / np.abs(b).max()) for a, b in zip(one.at(t), other.profile(t), strict=True)]
    errors.append(float(np.abs(one.durations / other.durations - 1.0).max()))
    print(errors)
    # coefficients of an interval of a hundredth are differences there: rounding grows by 1e2 for q', 1e4 for q'', on 1e-15
    assert max(errors[:2] + errors[3:]) < 1e-11
    assert errors[2] < 1e-10
    backward = one.profile(t[::-1])
    assert all(np.array_equal(a, b[:, ::-1]) for a, b in zip(one.at(t), backward, strict=True))


def test_compiled_limits_hold_at_any_instant(arm: lw.Mechanism) -> None:
    move = time_optimal(
        np.random.default_rng(5).uniform(-1.5, 1.5, (5, 2)), arm, MotionLimits(qd_max=[1.0, 1.5], qdd_max=[4.0, 3.0])
    )
    assert isinstance(move.profile.pieces, PathPieces) == loaders.usable()
    _, qd, qdd = move.at(dense(move))
    excess = max(float((np.abs(part) / limit).max()) for part, limit in ((qd, [1.0, 1.5]), (qdd, [4.0, 3.0]))) - 1.0
    print(f"{excess:.1e}")
    assert excess < 1e-10  # as interval by interval


@pytest.mark.parametrize(("intervals", "size"), [(200, 0.2), (45, 0.2), (7, 0.1)])
def test_compiled_efforts_hold_at_any_instant_and_equal_interval_by_interval(
    monkeypatch: pytest.MonkeyPatch, intervals: int, size: float
) -> None:
    arm = lw.robots.panda()
    tau_max = np.array([87.0] * 4 + [12.0] * 3)
    points = 0.5 * (arm.q_min + arm.q_max) + np.random.default_rng(5).uniform(-size, size, (18, 4, 7)) * (
        arm.q_max - arm.q_min
    )
    limits = MotionLimits(qd_max=2.0, qdd_max=20.0, tau_max=tau_max)
    many = time_optimal(points, arm, limits, intervals=intervals)
    assert isinstance(many.profile.pieces, PathPieces) == loaders.usable()
    for place in (0, 17):
        one = time_optimal(points[place], arm, limits, intervals=intervals)
        t = dense(one)
        excess = np.abs(arm.inverse_dynamics(*one.at(t))).max(axis=0) / tau_max - 1.0
        print(f"{excess.max():.1e}")
        assert excess.max() < 1e-9
        assert np.array_equal(many.member(place).profile.x, one.profile.x)  # paths of a batch do not know of each other
    monkeypatch.setattr(compiled_path, "speeds", lambda *_, **__: None)
    other = time_optimal(points[:2], arm, limits, intervals=intervals)
    change = many.durations[:2] / other.durations - 1.0
    print(change)
    # one keeps limits of efforts that are tighter by 2e-8; wide intervals are tightened by more, each in its way
    assert np.abs(change).max() < (1e-7 if intervals > 100 else 2e-2)


def test_efforts_hold_where_interpolation_is_worst() -> None:
    """Near the ends of pieces, and at nodes between the places that are checked first."""
    draw = np.random.default_rng(10007)
    arm = lw.robots.planar_2r().replace(gravity=(0.0, -9.81, 0.0))
    moves = 0
    for _ in range(12):
        points = 0.5 * np.pi * draw.uniform(-1.0, 1.0, (6, 2))
        tau_max = np.array([29.43, 9.81]) * draw.uniform(1.2, 3.0, 2)
        one = time_optimal(points, arm, MotionLimits(qd_max=[3.0, 3.0], tau_max=tau_max), intervals=400)
        excess = np.abs(arm.inverse_dynamics(*one.at(one.profile.times))).max(axis=0) / tau_max - 1.0
        print(f"{excess.max():.1e}")
        moves += excess.max() > -1e-6
        assert excess.max() < 1e-9
    assert moves > 6  # (the others are limited by velocities alone)


@pytest.mark.parametrize(
    ("points", "rests", "s"),
    [([-1.6, -0.9], (), "1"), ([-0.9, -1.6], (), "0"), ([-1.6, -0.9, -1.6], [1.0], "1")],
)
def test_joints_must_be_able_to_stand_where_a_motion_rests(points: list, rests: list, s: str) -> None:
    """A pendulum that 6 N m swing to 0.9 rad below the horizontal, where it takes 6.098 N m to stand."""
    arm = lw.Mechanism([lw.Link(joint="revolute", mass=1.0, com=(1.0, 0.0, 0.0))], gravity=(0.0, -9.81, 0.0))
    path, limits = np.array(points)[:, None], MotionLimits(tau_max=6.0)
    with pytest.raises(
        ArgumentError, match=rf"joint 'link1' cannot stand at s = {s} .*: it needs 6\.09799, and tau_max is 6"
    ):
        time_optimal(path, arm, limits, rests=rests)
    assert time_optimal(path, arm, MotionLimits(tau_max=6.1), rests=rests).duration > 0.0


def test_efforts_between_the_points_of_a_check() -> None:
    """Twenty points three radians apart on a grid of 200: efforts turn within an interval, and rise between its points."""
    arm, efforts, rng = lw.robots.planar_3r(), np.array([150.0, 80.0, 30.0]), np.random.default_rng(11)
    points = rng.uniform(-3.0, 3.0, (6, 20, 3))
    for way in points:
        move = time_optimal(way, arm, MotionLimits(qd_max=3.0, tau_max=efforts))
        excess = np.abs(arm.inverse_dynamics(*move.at(dense(move)))) / efforts - 1.0
        print(f"excess {excess.max():.1e}")
        assert excess.max() < 1e-9


@pytest.mark.parametrize(
    ("spring", "compiled"),
    [
        (lw.Spring("link1", stiffness=20.0, rest=0.3), True),
        (lw.Spring({"link1": 1.0, "link2": -1.0}, stiffness=5.0, inertia=0.5), False),
        (lw.Spring("link2", stiffness=5.0, damping=2.0), True),
    ],
)
def test_springs_count(monkeypatch: pytest.MonkeyPatch, spring: lw.Spring, compiled: bool) -> None:
    arm = lw.robots.planar_2r().replace(gravity=(0.0, -9.81, 0.0), springs=[spring])
    efforts = np.array([90.0, 40.0])
    points = np.random.default_rng(1).uniform(-1.2, 1.2, (4, 2))
    move = time_optimal(points, arm, MotionLimits(qd_max=4.0, tau_max=efforts), intervals=120)
    assert isinstance(move.profile.pieces, PathPieces) == (compiled and loaders.usable())
    assert (np.abs(arm.inverse_dynamics(*move.at(dense(move)))) / efforts).max() < 1.0 + 1e-9
    monkeypatch.setattr(compiled_path, "speeds", lambda *_, **__: None)
    other = time_optimal(points, arm, MotionLimits(qd_max=4.0, tau_max=efforts), intervals=120)
    assert abs(move.duration / other.duration - 1.0) < 1e-7  # limits are tightened by 2e-10 to 1e-7


def test_friction_and_dampers_in_one_compiled_call_equal_interval_by_interval(
    monkeypatch: pytest.MonkeyPatch, arm: lw.Mechanism
) -> None:
    arm = arm.replace(springs=[lw.Spring({"link1": 1.0, "link2": -0.5}, stiffness=4.0, damping=1.5)])
    efforts, points = np.array([70.0, 25.0]), np.random.default_rng(4).uniform(-1.5, 1.5, (3, 5, 2))
    limits = MotionLimits(qd_max=4.0, tau_max=efforts)
    many = time_optimal(points, arm, limits)
    assert isinstance(many.profile.pieces, PathPieces) == loaders.usable()
    for place in range(3):
        one = time_optimal(points[place], arm, limits)
        assert np.array_equal(many.member(place).profile.x, one.profile.x)
        q, qd, qdd = one.at(dense(one))
        efforts_taken = np.abs(arm.inverse_dynamics(q, qd, qdd)) / efforts
        # in an interval in which a joint turns back nothing is checked between the 17 points
        print(f"excess {efforts_taken.max() - 1.0:.1e}, friction at most {np.abs(arm.friction_torque(qd)).max():.2f}")
        assert efforts_taken.max() < 1.0 + 1e-9
    monkeypatch.setattr(compiled_path, "speeds", lambda *_, **__: None)
    change = many.durations / time_optimal(points, arm, limits).durations - 1.0
    print(change)
    assert np.abs(change).max() < 1e-7  # both have settled within 1e-8


def test_efforts_hold_where_springs_begin_to_pull() -> None:
    """Efforts bend there, so that points in fixed places of an interval miss the greatest: by 5e-4 here."""
    springs = [lw.Spring("link1", 400.0, 0.1, slack=0.05), lw.Spring("link2", 300.0, -0.1, slack=0.2)]
    arm = lw.robots.planar_2r().replace(gravity=(0, -9.81, 0), springs=springs)
    efforts = np.array([150.0, 110.0])
    move = time_optimal(np.random.default_rng(9).uniform(-0.3, 0.3, (5, 2)), arm, MotionLimits(qd_max=3.0, tau_max=efforts))
    assert (np.abs(arm.inverse_dynamics(*move.at(dense(move)))) / efforts).max() < 1.0 + 1e-9


@pytest.mark.parametrize("compiled", [True, False])
def test_friction_of_joints_that_stand_and_that_leave_a_rest(monkeypatch: pytest.MonkeyPatch, compiled: bool) -> None:
    """A joint that stands has no friction, whatever the sign of rounding; after a rest friction grows as a root of s."""
    if not compiled:
        monkeypatch.setattr(compiled_path, "speeds", lambda *_, **__: None)
    efforts, motors = np.array([60.0, 20.0]), (lw.Motor(viscous=2.0, coulomb=25.0), lw.Motor(viscous=2.0))
    rough, smooth = (
        lw.robots.planar_2r().replace(links=[
            one.replace(motor=motor) for one, motor in zip(lw.robots.planar_2r().links, chosen, strict=True)
        ])
        for chosen in (motors, motors[1:] * 2)
    )  # fmt: skip
    points = np.column_stack([np.full(4, 1.2345), [0.3, -1.1, 1.6, 0.2]])
    first, second = (time_optimal(points, one, MotionLimits(tau_max=efforts)).duration for one in (rough, smooth))
    assert abs(first / second - 1.0) < 1e-7  # both have settled within 1e-8
    move = time_optimal(
        [[-1.7, -1.1], [1.2, 0.3], [-1.6, -0.3]], smooth, MotionLimits(tau_max=efforts), rests=[0.96], intervals=50
    )
    excess = (np.abs(smooth.inverse_dynamics(*move.at(dense(move)))) / efforts).max() - 1.0
    print(f"excess {excess:.1e}")
    assert excess < 1e-9


def test_effort_terms_are_those_of_inverse_dynamics() -> None:
    arm = lw.robots.puma560()
    q, dq, ddq = np.random.default_rng(5).uniform(-1.0, 1.0, (3, 20, 6))
    a, b, c = arm.kernel("path_dynamics")(q, dq, ddq)
    u, speed = np.random.default_rng(5).uniform(-1.0, 1.0, (2, 20))
    free = arm.without_friction()
    tau = free.inverse_dynamics(q, dq * speed[:, None], dq * u[:, None] + ddq * speed[:, None] ** 2)
    assert np.abs(a * u[:, None] + b * speed[:, None] ** 2 + c - tau).max() < 1e-12 * np.abs(tau).max()
    full = arm.inverse_dynamics(q, dq * speed[:, None], dq * u[:, None] + ddq * speed[:, None] ** 2) / 50.0
    share = arm.kernel("path_effort_shares")(q, dq, ddq, u, speed, np.full(6, 50.0))
    assert np.abs(share - full).max() < 1e-12


def test_limits_of_momentum(arm: lw.Mechanism) -> None:
    for limits in (
        MotionLimits(qd_max=4.0, qdd_max=20.0, linear_momentum=1.5),
        MotionLimits(qd_max=4.0, qdd_max=20.0, angular_momentum=[1.0, 1.0, 0.4]),
    ):
        move = time_optimal([[0.2, -0.4], [0.8, 0.9], [1.4, 0.1]], arm, limits, intervals=100)
        q, qd, _ = move.at(dense(move))
        momentum = arm.momentum(q, qd, about="com")
        if limits.linear_momentum:
            share = np.linalg.norm(momentum[:, :3], axis=1) / 1.5
        else:
            share = np.abs(momentum[:, 3:] / [1.0, 1.0, 0.4]).max(axis=1)
        print(share.max() - 1.0)
        assert 0.999 < share.max() < 1.0 + 1e-9
        assert any("momentum" in part.name for part in move.binding)


def test_a_path_that_leaves_limits_between_its_points() -> None:
    """A parabola from 0 to 0 over a top of 0.25, and limits just above and below that."""
    path = JointPath([0.0, 1.0], [[0.0], [0.0]], [[1.0], [-1.0]], [[-2.0], [-2.0]], names=("link1",))
    rates = MotionLimits(qd_max=1.0, qdd_max=1.0)
    for top, message in ((0.25 + 1e-9, None), (0.24, r"at s = 0\.4 \(40 % of the way\), and by 0\.01 at most")):
        arm = lw.Mechanism([lw.Link(joint="revolute", mass=1.0, limits=(-1.0, top))])
        if message is None:
            assert time_optimal(path, arm, rates).duration > 0.0
            continue
        with pytest.raises(ArgumentError, match=message):
            time_optimal(path, arm, rates)


def test_obstacles_on_the_way_and_around_the_start() -> None:
    rods = [lw.Shape.rod(name, (-1, 0, 0), (0, 0, 0), 0.05) for name in ("link1", "link2")]
    arm, limits = lw.robots.planar_2r().with_shapes(rods), MotionLimits(qd_max=1.0, qdd_max=4.0)
    call = [[-1.0, 0.0], [1.0, 0.0]], arm, limits
    ball = lw.Shape("world", "sphere", 0.1, origin=(2.3, 0.0, 0.0), name="ball")
    least = time_optimal(*call, obstacles=[ball]).least_clearance
    assert least is not None
    assert abs(least.distance - 0.15) < 1e-15
    with pytest.raises(ArgumentError, match=r"'link2' and 'ball' overlap by 0\.15 m at s = 0\.5 \(50 % of the way\)"):
        time_optimal(*call, obstacles=[lw.Shape("world", "sphere", 0.1, origin=(2.0, 0.0, 0.0), name="ball")])
    at = (2.0 * np.cos(-1.0), 2.0 * np.sin(-1.0), 0.0)
    with pytest.raises(ArgumentError, match=r"overlap by 0\.15 m where the path begins, at s = 0 \(0 % of the way\)"):
        time_optimal(*call, obstacles=[lw.Shape("world", "sphere", 0.1, origin=at, name="ball")])


def test_a_thin_obstacle_is_met_between_the_instants_that_are_looked_at() -> None:
    rods = [lw.Shape.rod(name, (-1, 0, 0), (0, 0, 0), 5e-4) for name in ("link1", "link2")]
    arm, limits = lw.robots.planar_2r().with_shapes(rods), MotionLimits(qd_max=1.0, qdd_max=2.0)
    points = [[-3.0, 0.0], [3.0, 0.0]]
    for angle, radius in ((0.2, 1.9), (0.3, 1.9), (0.4, 0.7)):
        at = (radius * np.cos(angle), radius * np.sin(angle), 0.0)
        wire = lw.Shape("world", "sphere", 5e-4, origin=at, name="wire")
        assert time_optimal(points, arm, limits).clearance([wire]).distance > 0.0  # (it lies between two instants)
        with pytest.raises(ArgumentError, match=r"and 'wire' overlap by .* at s = .* \(") as refused:
            time_optimal(points, arm, limits, obstacles=[wire])
        s = float(str(refused.value).partition("at s = ")[2].partition(" ")[0])
        assert abs(s - (angle + 3.0) / 6.0) < 1e-3 / radius / 6.0  # (the sum of both radii)
    beside = lw.Shape("world", "sphere", 5e-4, origin=(2.0 + 2e-3, 0.0, 0.0), name="wire")
    move = time_optimal(points, arm, limits, obstacles=[beside])
    assert move.least_clearance is not None
    assert move.least_clearance.distance == pytest.approx(1e-3, abs=1e-12)


def test_least_clearance() -> None:
    rods = [lw.Shape.rod(name, (-1, 0, 0), (0, 0, 0), 0.05) for name in ("link1", "link2")]
    arm, ball = lw.robots.planar_2r().with_shapes(rods), lw.Shape("world", "sphere", 0.1, origin=(2.3, 0.0, 0.0))
    limits = MotionLimits(qd_max=1.0, qdd_max=4.0)
    move = time_optimal([[-1.0, 0.0], [1.0, 0.0]], limits=limits)
    near = move.clearance([ball], mechanism=arm)
    assert abs(near.distance - 0.15) < 1e-15
    assert abs(near.time - 0.5 * move.duration) < 1e-3 * move.duration
    with pytest.raises(ArgumentError, match="has no mechanism"):
        move.clearance([ball])


def test_each_motion_of_a_batch_has_its_least_clearance() -> None:
    rods = [lw.Shape.rod(name, (-1, 0, 0), (0, 0, 0), 0.05) for name in ("link1", "link2")]
    arm = lw.robots.planar_2r().with_shapes(rods)
    ball = lw.Shape("world", "sphere", 0.1, origin=(2.3, 0.0, 0.0), name="ball")
    limits, points = MotionLimits(qd_max=1.0, qdd_max=4.0), np.array([[[-1.0, 0.0], [1.0, 0.0]], [[2.0, 0.0], [0.5, 0.4]]])
    batch = time_optimal(points, arm, limits, obstacles=[ball])
    assert batch.least_clearance is not None
    for k, part in enumerate(points):
        alone, member = time_optimal(part, arm, limits, obstacles=[ball]).least_clearance, batch.member(k).least_clearance
        assert alone is not None
        assert member is not None
        assert member.distance == pytest.approx(alone.distance, abs=1e-5)  # (it rests, so other instants are measured)
        assert member.pair == alone.pair == tuple(batch.least_clearance.pair[k])
        assert member.time == pytest.approx(alone.time, abs=2e-3)
    blocked = np.stack([points[1], points[0] + [[0.0, 0.0], [0.0, 0.3]]])
    wall = lw.Shape("world", "sphere", 0.1, origin=(2.1, 0.0, 0.0), name="wall")
    with pytest.raises(ArgumentError, match=r"'link2' and 'wall' overlap by .* of path \(1,\)"):
        time_optimal(blocked, arm, limits, obstacles=[wall])


def test_a_grid_on_which_limits_leave_no_speed_is_refused() -> None:
    """Five intervals cannot tell how an arm gets through this path: an error, not a motion of some weeks."""
    arm = lw.robots.planar_2r().replace(gravity=(0.0, -9.81, 0.0))
    rng = np.random.default_rng(0)
    refused, durations = 0, []
    for _ in range(40):
        points = rng.uniform(-1.2, 1.2, (5, 2))
        try:
            move = time_optimal(path_through(points), arm, MotionLimits(tau_max=[60.0, 18.0]), intervals=5)
        except ArgumentError as error:
            refused += "more intervals are needed" in str(error)
        else:
            durations.append(move.duration)
            assert move.usage.max() < 1.0 + 1e-9
    print(refused, max(durations))
    assert refused
    assert max(durations) < 100.0
