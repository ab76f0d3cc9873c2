import pickle

import numpy as np
import pytest

import linkwise as lw
from linkwise.errors import ArgumentError
from linkwise.trajectory import Event, Trajectory, quintic, through, trapezoidal

RATES = np.array([1.0, 2.0, 3.0])


def waves(count: int, **more: object) -> Trajectory:
    """A record of sines over 2 s."""
    t = np.linspace(0.0, 2.0, count)
    angle = np.outer(t, RATES)
    return Trajectory(t, np.sin(angle), np.cos(angle) * RATES, -np.sin(angle) * RATES**2, **more)


def exact(t: np.ndarray) -> tuple[np.ndarray, ...]:
    angle = np.outer(t, RATES)
    return np.sin(angle), np.cos(angle) * RATES, -np.sin(angle) * RATES**2


def test_a_record_is_interpolated_to_the_sixth_order() -> None:
    """Quintic Hermite: in q the top of s^3 (1 - s)^3 / 6!, 1/46080, times h^6 and the sixth derivative."""
    t = np.linspace(0, 2, 1013)
    for count in (6, 11, 21, 41):
        errors = [np.abs(a - b).max() for a, b in zip(waves(count).at(t), exact(t), strict=True)]
        h = 2.0 / (count - 1)
        print(count, [f"{error:.1e}" for error in errors], f"{h**6 * 729 / 46080:.1e}")
        assert errors[0] <= 1.01 * h**6 * 3.0**6 / 46080
        assert errors[1] <= h**5 * 3.0**6 / 2400  # each derivative loses one power; factors from s^3 (1 - s)^3 / 720
        assert errors[2] <= h**4 * 3.0**6 / 100
    assert np.array_equal(waves(41).at(waves(41).t)[0], waves(41).q)


def test_speeds_of_the_interpolant_are_its_derivatives() -> None:
    record = waves(6)
    t, h = np.linspace(0.41, 0.79, 50), 1e-4
    for k in (0, 1):
        difference = (record.at(t + h)[k] - record.at(t - h)[k]) / (2 * h)
        assert np.abs(difference - record.at(t)[k + 1]).max() < h**2 / 6 * 3.0**5 * 2  # the fourth derivative and more


def test_shapes_of_at() -> None:
    many = Trajectory([0.0, 1.0], *np.zeros((3, 4, 5, 2, 3)))
    assert [value.shape for value in many.at(0.5)] == [(4, 5, 3)] * 3
    assert [value.shape for value in many.at([0.5])] == [(4, 5, 1, 3)] * 3
    assert many.batch == (4, 5)
    one = Trajectory([3.0], *np.ones((3, 1, 2)))
    assert [value.tolist() for value in one.at(3.0)] == [[1.0, 1.0]] * 3


def test_adding_up_a_step_does_not_leave_the_trajectory() -> None:
    record, time = waves(11), 0.0
    for _ in range(20):
        time += 0.1
    assert time != 2.0
    assert np.array_equal(record.at(time)[0], record.q[-1])


def test_members() -> None:
    rng = np.random.default_rng(3)
    q, qd, qdd, tau = rng.normal(size=(4, 2, 3, 5, 4))
    events = [Event("floor", 0.5, q[1, 2, 0], qd[1, 2, 0], (1, 2)), Event("floor", 0.7, q[0, 0, 0], qd[0, 0, 0], (0, 0))]
    energy = rng.normal(size=(2, 3, 5))
    poses = np.zeros((2, 3, 5, 4, 4))
    many = Trajectory(np.arange(5.0), q, qd, qdd, tau, kinetic=energy, potential=-energy, poses=poses, events=events)
    one = many.member((1, 2))
    assert np.array_equal(one.q, q[1, 2])
    assert np.array_equal(one.tau, tau[1, 2])
    assert not one.energy.any()
    assert one.poses.shape == (5, 4, 4)
    assert [event.member for event in one.events] == [()]
    assert [event.member for event in many.member(1).events] == [(2,)]
    assert many.member(-1).batch == (3,)
    assert np.array_equal(many.at(1.3)[0][1, 2], one.at(1.3)[0])
    planned = quintic(q[..., 0, :], q[..., 1, :], 2.0)
    assert np.array_equal(planned.member((1, 2)).at(0.3)[0], planned.at(0.3)[0][1, 2])  # exact, not interpolated


def test_words() -> None:
    assert repr(waves(11)) == "<Trajectory: 11 instants from 0 to 2 s, 3 joints>"
    full = waves(11, tau=np.zeros((11, 3)), events=[Event("hit", 1.0, np.zeros(3), np.zeros(3))])
    assert repr(full) == "<Trajectory: 11 instants from 0 to 2 s, 3 joints, with tau, 1 event>"
    assert repr(Trajectory([2.0], *np.zeros((3, 7, 1, 1)))) == "<Trajectory: at 2 s, 1 joint, batch (7,)>"
    base = Trajectory([0.0, 1.0], np.zeros((2, 9)), np.zeros((2, 8)), np.zeros((2, 8)))
    assert repr(base) == "<Trajectory: 2 instants from 0 to 1 s, 2 joints, floating base>"
    assert (len(full), full.duration, full.names, full.is_length) == (11, 2.0, ("q1", "q2", "q3"), (False,) * 3)


def test_names_and_units_of_a_mechanism() -> None:
    scara = lw.robots.scara_icomatic()
    named = waves(11).of(scara)
    assert named.names == scara.names
    assert named.is_length == (False, False, True)
    with pytest.raises(ArgumentError, match="'puma560' has 6 joints; the trajectory has 3"):
        waves(11).of(lw.robots.puma560())
    afloat = scara.replace(floating=True, name="afloat")
    with pytest.raises(ArgumentError, match=r"'afloat'.*floating.*trajectory"):
        waves(11).of(afloat)
    base = Trajectory([0.0, 1.0], np.zeros((2, 10)), np.zeros((2, 9)), np.zeros((2, 9)))
    assert base.of(afloat).names == scara.names
    with pytest.raises(ArgumentError, match=rf"^the trajectory has a floating base; {scara.name!r} has none$"):
        base.of(scara)


def test_records_are_added_and_what_was_exact_stays_so() -> None:
    move = trapezoidal([0.0, 0.0], [1.0, 2.0], qd_max=1.0, qdd_max=2.0)
    more = move.with_records(tau=move.qdd, kinetic=np.zeros(101), potential=np.ones(101))
    assert np.array_equal(more.energy, np.ones(101))
    assert np.array_equal(more.at(0.123)[0], move.at(0.123)[0])
    assert move.tau is None
    assert move.energy is None


def test_nothing_changes_it() -> None:
    record = waves(11)
    with pytest.raises(ValueError, match="read-only"):
        record.q[0, 0] = 1.0
    with pytest.raises(AttributeError):
        record.q = record.qd  # type: ignore[misc]


def test_what_the_caller_does_to_his_arrays_later_changes_nothing() -> None:
    q, tau = np.zeros((2, 1)), np.zeros((2, 1))
    record = Trajectory([0.0, 1.0], q, q, q).with_records(tau=tau)
    before = record.at(0.5)[0]
    q += 1.0
    tau += 1.0
    assert not record.q.any()
    assert not record.tau.any()
    assert np.array_equal(record.at(0.5)[0], before)
    shown = q.view()
    shown.setflags(write=False)  # closed, but what it is a view of is not
    record = Trajectory([0.0, 1.0], shown, shown, shown)
    q += 1.0
    assert np.array_equal(record.q, [[1.0], [1.0]])
    way = np.array([[0.0], [1.0], [0.5]])
    move = through(way, [0.0, 1.0, 2.0])
    before = move.at(0.7)[0]
    way += 1.0
    assert np.array_equal(move.at(0.7)[0], before)


def test_closed_arrays_are_not_copied() -> None:
    q = np.zeros((3, 2, 1))
    q.setflags(write=False)
    record = Trajectory([0.0, 1.0], q, q, q)
    assert np.shares_memory(record.q, q)
    assert np.shares_memory(record.member(1).q, q)
    assert np.shares_memory(record.with_records(tau=q).q, q)


@pytest.mark.parametrize("make", [lambda: waves(11), lambda: quintic([0.0], [1.0], 1.0).member(())])
def test_it_can_be_pickled(make: object) -> None:
    record = make()
    again = pickle.loads(pickle.dumps(record))
    assert all(np.array_equal(a, b) for a, b in zip(again.at(0.33), record.at(0.33), strict=True))
    assert repr(again) == repr(record)


def test_a_simulation_that_went_wrong_can_be_held() -> None:
    record = Trajectory([0.0, 1.0], *np.full((3, 2, 1), np.nan))
    assert np.isnan(record.at(0.5)[0]).all()


def test_any_motion_tells_its_least_clearance() -> None:
    rods = [lw.Shape.rod(name, (-1, 0, 0), (0, 0, 0), 0.05) for name in ("link1", "link2")]
    arm, ball = lw.robots.planar_2r().with_shapes(rods), lw.Shape("world", "sphere", 0.1, origin=(2.3, 0, 0), name="ball")
    planned = lw.trajectory.quintic([-1.0, 0.0], [1.0, 0.0], 2.0)
    later = lw.Trajectory(planned.t + 5.0, planned.q, planned.qd, planned.qdd)
    near = later.clearance([ball], mechanism=arm)
    assert near.pair == ("link2", "ball")
    assert near.distance == pytest.approx(0.15, abs=1e-12)  # straight at the ball, half way: 2.3 - 2 - 0.1 - 0.05
    assert near.time == pytest.approx(6.0, abs=1e-12)
    with pytest.raises(ArgumentError, match="has no mechanism"):
        later.clearance([ball])
    with pytest.raises(ArgumentError, match="no collision shapes"):
        later.clearance([ball], mechanism=lw.robots.planar_2r())
