"""Every way to call wrongly, and what is said, word by word."""

from collections.abc import Callable

import numpy as np
import pytest

from linkwise.errors import ArgumentError
from linkwise.trajectory import (
    CartesianTrajectory,
    Event,
    Trajectory,
    cartesian,
    cartesian_through,
    quintic,
    through,
    trapezoidal,
)
from support.messages import unnamed

EYE = np.eye(4)
FAR = EYE + np.array([[0, 0, 0, 1.0], [0] * 4, [0] * 4, [0] * 4])
TWO = ([0.0, 0.0], [1.0, 1.0])
WAY = [[0.0], [1.0], [0.5]]
RECORD = ([0.0, 1.0], [[0.0], [1.0]], [[0.0], [1.0]], [[0.0], [1.0]])
NUMBERS = "finite numbers (..., n), n joint coordinates"
BOTH = "give times, or both speed and acceleration"

CASES: list[tuple[Callable[[], object], str]] = [
    # ── what is moved ──
    (lambda: quintic(0.0, 1.0, 1.0), f"q0 is 0.0; expected {NUMBERS}"),
    (lambda: quintic([], [], 1.0), f"q0 is []; expected {NUMBERS}"),
    (lambda: quintic(["a"], [1.0], 1.0), f"q0 holds <U1; expected {NUMBERS}"),
    (lambda: quintic([[0.0], [0.0, 1.0]], [1.0], 1.0), f"q0 is not an array; expected {NUMBERS}"),
    (lambda: quintic([0.0], [np.nan], 1.0), f"q1 is nan at (0,); expected {NUMBERS}"),
    (lambda: quintic([0.0, 0.0], [1.0, 2.0, 3.0], 1.0), "q1 has the shape (3,); expected (..., 2), as q0 is for 2 joints"),
    (lambda: quintic([0.0, 0.0], [1.0], 1.0), "q1 has the shape (1,); expected (..., 2), as q0 is for 2 joints"),
    (lambda: quintic(*TWO, 1.0, qd0=[1, 2, 3]), "qd0 has the shape (3,); expected (..., 2), as q0 is for 2 joints"),
    (
        lambda: quintic(*TWO, 1.0, qdd1=np.inf),
        "qdd1 is inf; expected finite numbers (..., n), or one for all joints",
    ),
    (
        lambda: quintic(np.zeros((3, 1)), np.zeros((2, 1)), 1.0),
        "the batch shapes do not fit each other: q0 (3,), q1 (2,)",
    ),
    # ── when ──
    (lambda: quintic(*TWO, 0.0), "t is 0.0; expected a duration > 0, s, or instants (T,)"),
    (lambda: quintic(*TWO, -1), "t is -1; expected a duration > 0, s, or instants (T,)"),
    (lambda: quintic(*TWO, np.nan), "t is nan; expected a duration > 0, s, or instants (T,)"),
    (lambda: quintic(*TWO, "1"), "t holds <U1; expected a duration > 0, s, or instants (T,)"),
    (lambda: quintic(*TWO, 1.0, samples=1), "samples is 1; expected 2 instants or more"),
    (lambda: quintic(*TWO, 1.0, samples=10.0), "samples is 10.0; expected 2 instants or more"),
    (lambda: quintic(*TWO, [0.0, 1.0], samples=5), "samples goes with a duration; t holds the instants already"),
    (lambda: quintic(*TWO, [0.0]), "t has the shape (1,); expected times (T,), s, ascending: 2 instants or more"),
    (lambda: quintic(*TWO, [[0.0, 1.0]]), "t has the shape (1, 2); expected times (T,), s, ascending: 2 instants or more"),
    (lambda: quintic(*TWO, [0.0, 1.0, 1.0]), "t does not ascend: t[2] is 1 after 1"),
    (lambda: quintic(*TWO, [0.0, 1.0, 0.5]), "t does not ascend: t[2] is 0.5 after 1"),
    (lambda: quintic(*TWO, [0.0, np.inf]), "t is inf at (1,); expected finite times (T,), s, ascending: 2 instants or more"),
    (lambda: quintic(*TWO, 2.0).at(2.5), "time is 2.5; the trajectory lasts from 0.0 to 2.0 s"),
    (lambda: quintic(*TWO, 2.0).at([0.5, -1.0]), "time is -1.0; the trajectory lasts from 0.0 to 2.0 s"),
    (lambda: quintic(*TWO, 2.0).at([[0.5]]), "time has the shape (1, 1); expected a time or times (K,), s"),
    (lambda: quintic(*TWO, 2.0).at(np.nan), "time is nan; expected a time or times (K,), s"),
    # ── within which limits ──
    (
        lambda: quintic([0.0, 0.0], [1.0, 2.0], 1.0, q_min=-1, q_max=[1, 1], names=["hip", "knee"]),
        "joint 'knee' leaves its limits [-1.0, 1.0] at t = 0.51 s: it is 1.03749 there",
    ),
    (
        lambda: quintic([[0.0], [0.0]], [[0.5], [-1.0]], 1.0, q_min=-0.5),
        "joint 'q1' leaves its limits [-0.5, inf] at t = 0.51 s in member (1,): it is -0.518745 there",
    ),
    (
        lambda: quintic(*TWO, 1.0, q_max=[1, 2, 3]),
        "q_max is [1, 2, 3]; expected a number or (2,)",
    ),
    (
        lambda: quintic(*TWO, 1.0, q_min=[1, 0], q_max=[-1, 1]),
        "q_min is [1, 0] and q_max [-1, 1]; expected q_min <= q_max",
    ),
    (lambda: quintic(*TWO, 1.0, names=["hip"]), "there are 1 names for 2 joints"),
    # ── trapezoidal ──
    (lambda: trapezoidal(*TWO, qd_max=0.0, qdd_max=1.0), "qd_max is 0.0; expected a number > 0, or 2 of them"),
    (
        lambda: trapezoidal(*TWO, qd_max=[1.0, -1.0], qdd_max=1.0),
        "qd_max is [1.0, -1.0]; expected a number > 0, or 2 of them",
    ),
    (lambda: trapezoidal(*TWO, qd_max=np.inf, qdd_max=1.0), "qd_max is inf; expected a number > 0, or 2 of them"),
    (
        lambda: trapezoidal(*TWO, qd_max=1.0, qdd_max=[1, 2, 3]),
        "qdd_max is [1, 2, 3]; expected a number > 0, or 2 of them",
    ),
    (
        lambda: trapezoidal(*TWO, qd_max=1.0, qdd_max=1.0, deceleration="x"),
        "deceleration holds <U1; expected a number > 0, or 2 of them",
    ),
    (
        lambda: trapezoidal(np.zeros((3, 2)), np.ones((3, 2)), qd_max=np.ones((2, 2)), qdd_max=1.0),
        "the batch axes of qd_max and qdd_max do not broadcast with those of q0 and q1",
    ),
    (lambda: trapezoidal(*TWO, qd_max=1.0, qdd_max=1.0, t=[0.0, 1.5]), "t lasts 1.5 s; the motion takes 2 s"),
    (
        lambda: trapezoidal(*TWO, qd_max=1.0, qdd_max=1.0, t=[0.0, 3.0], rate=10.0),
        "t and rate are both given; expected one of them, or neither",
    ),
    (
        lambda: trapezoidal(*TWO, qd_max=1.0, qdd_max=1.0, rate=1e9),
        "rate is 1000000000.0, 2e+09 instants of the 2 s that the motion takes; expected a rate of at most 2.5e+06",
    ),
    (lambda: trapezoidal(*TWO, qd_max=1.0, qdd_max=1.0, rate=0), "rate is 0; expected instants a second, > 0"),
    # ── through way-points ──
    (lambda: through(WAY, [0, 1, 2], kind="linear"), "kind is 'linear'; expected 'quintic', 'cubic' or 'trapezoidal'"),
    (lambda: through([0.0, 1.0], [0, 1]), "points has the shape (2,); expected way-points (..., K, n), K >= 2"),
    (lambda: through([[0.0]], [0]), "points has the shape (1, 1); expected way-points (..., K, n), K >= 2"),
    (lambda: through([[0.0], [np.nan]], [0, 1]), "points is nan at (1, 0); expected finite way-points (..., K, n), K >= 2"),
    (lambda: through(WAY), "give times, or qd_max and qdd_max"),
    (lambda: through(WAY, qd_max=1.0), "give times, or qd_max and qdd_max"),
    (lambda: through(WAY, [0, 1]), "there are 2 times for 3 way-points"),
    (lambda: through(WAY, [0, 2, 1]), "times does not ascend: times[2] is 1 after 2"),
    (
        lambda: through(WAY, [0, 1, 2], qd_max=1.0),
        "qd_max is not used by a quintic motion at given times; leave out one of the two",
    ),
    (
        lambda: through(WAY, [0, 1, 2], kind="cubic", qdd_max=1.0),
        "qdd_max is not used by a cubic motion at given times; leave out one of the two",
    ),
    (lambda: through(WAY, [0, 1, 2], kind="trapezoidal"), "a trapezoidal motion at given times needs qdd_max"),
    (
        lambda: through(WAY, [0, 1, 2], kind="trapezoidal", qdd_max=1.0, names=["hip"]),
        "joint 'hip' cannot be blended: between two way-points there is no time for it; give more acceleration or more time",
    ),
    (lambda: through(WAY, qd_max=1.0, qdd_max=0.0), "qdd_max is 0.0; expected a number > 0, or 1 of them"),
    (
        lambda: through([[0.0], [1.0], [1.0]], qd_max=1.0, qdd_max=1.0),
        "points 1 and 2 are the same; give times, to say how long to stay there",
    ),
    (
        lambda: through(WAY, qd_max=1.0, qdd_max=1.0, qd1=1.0),
        "with qd_max and qdd_max instead of times, the motion begins and ends at rest",
    ),
    (lambda: through(WAY, [0, 1, 2], kind="cubic", qdd0=1.0), "qdd0 is 1.0; a cubic motion cannot be given that"),
    (
        lambda: through(WAY, [0, 1, 2], kind="trapezoidal", qdd_max=9.0, qd0=1.0),
        "qd0 is 1.0; a trapezoidal motion cannot be given that",
    ),
    (lambda: through(WAY, [0, 1, 2], qd0=[1.0, 2.0]), "qd0 has the shape (2,); expected (1,)"),
    (lambda: through(WAY, [0, 1, 2], t=[0.0, 3.0]), "t is from 0 to 3 s; the motion lasts from 0 to 2 s"),
    (
        lambda: through(WAY, [0, 1, 2], t=[0.0, 1.0], samples=3),
        "t and samples are both given; expected one of them, or neither",
    ),
    # ── frames ──
    (lambda: cartesian(np.eye(3), EYE, 1.0), "T0 has the shape (3, 3); expected rigid poses (..., 4, 4)"),
    (
        lambda: cartesian(EYE, 2 * EYE, 1.0),
        "T1 is [[2.0, 0.0, 0.0, 0.0], [0.0, 2.0, 0.0, 0.0], [0.0, 0.0, 2.0, 0.0], [0.0, 0.0,...; "
        "expected a rigid pose: orthonormal right-handed rotation, last row 0 0 0 1",
    ),
    (
        lambda: cartesian_through([EYE, np.diag([1.0, 1, -1, 1])], [0, 1]),
        "poses[1] is [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, -1.0, 0.0], [0.0, 0.0...; "
        "expected a rigid pose: orthonormal right-handed rotation, last row 0 0 0 1",
    ),
    (
        lambda: cartesian(np.stack([EYE] * 2), np.stack([EYE] * 3), 1.0),
        "the batch shapes do not fit each other: T0 (2,), T1 (3,)",
    ),
    (lambda: cartesian(EYE, FAR, 1.0, profile="cubic"), "profile is 'cubic'; expected 'quintic' or 'trapezoidal'"),
    (lambda: cartesian(EYE, FAR), "give t, or speed and acceleration with t or rate or neither"),
    (lambda: cartesian(EYE, FAR, 1.0, rate=5.0), "give t, or speed and acceleration with t or rate or neither"),
    (lambda: cartesian(EYE, FAR, speed=(1, 1)), BOTH),
    (
        lambda: cartesian(EYE, FAR, speed=1.0, acceleration=(1, 1)),
        "speed is 1.0; expected two numbers > 0: of the origin and of turning",
    ),
    (
        lambda: cartesian(EYE, FAR, speed=(1, 1), acceleration=(1, 0)),
        "acceleration is (1, 0); expected two numbers > 0: of the origin and of turning",
    ),
    (
        lambda: cartesian(EYE, FAR, speed=(1, 1), acceleration=(1, 1), samples=9),
        "samples goes with a duration; speed and acceleration go with t or rate",
    ),
    (
        lambda: cartesian(EYE, FAR, [0, 1], speed=(1, 1), acceleration=(1, 1), profile="trapezoidal"),
        "t lasts 1 s; the motion takes 2 s",
    ),
    (lambda: cartesian(EYE, FAR, 1.0).at(1.5), "time is 1.5; the trajectory lasts from 0.0 to 1.0 s"),
    (lambda: cartesian(EYE, FAR, 1.0).member(0), "there is no member 0; the trajectory has the batch shape ()"),
    (lambda: cartesian_through(EYE, [0]), "poses has the shape (4, 4); expected (..., K, 4, 4), K >= 2"),
    (lambda: cartesian_through([EYE, FAR]), BOTH),
    (lambda: cartesian_through([EYE, FAR], [0, 1, 2]), "there are 3 times for 2 poses"),
    (
        lambda: cartesian_through([EYE, FAR], [0, 1], speed=(1, 1)),
        "times and limits of speed and acceleration are both given; expected one of them",
    ),
    (lambda: cartesian_through([EYE, FAR, EYE], [0, 1, 3], blend=-1), "blend is -1; expected a time >= 0, s"),
    (
        lambda: cartesian_through([EYE, FAR, EYE], [0, 1, 3], blend=1.5),
        "blend is 1.5; expected at most 1 s, the duration of the shortest leg",
    ),
    (
        lambda: cartesian_through([EYE, FAR], speed=(1, 1), acceleration=(1, 1), blend=0.1),
        "blend goes with times; under limits of speed and acceleration the motion stops at each pose",
    ),
    # ── what is not a real number, though it could be cut down to one ──
    (lambda: quintic(np.array([1 + 2j, 0]), [0.0, 0.0], 1.0), f"q0 holds complex128; expected {NUMBERS}"),
    (lambda: quintic([0.0], ["1.5"], 1.0), f"q1 holds <U3; expected {NUMBERS}"),
    (lambda: quintic([0.0], [None], 1.0), f"q1 holds None; expected {NUMBERS}"),
    (lambda: quintic(*TWO, 1j), "t holds complex128; expected a duration > 0, s, or instants (T,)"),
    (
        lambda: quintic(*TWO, 1.0, q_min=np.array([-1j, -1])),
        "q_min holds complex128; expected a number or (2,)",
    ),
    (lambda: trapezoidal(*TWO, qd_max=["1", "2"], qdd_max=1), "qd_max holds <U1; expected a number > 0, or 2 of them"),
    (
        lambda: trapezoidal(*TWO, qd_max=1, qdd_max=1, straight="no"),
        "straight is 'no'; expected True or False",
    ),
    (lambda: cartesian(EYE + 0j, FAR, 1.0), "T0 holds complex128; expected rigid poses (..., 4, 4)"),
    (lambda: cartesian_through([EYE, FAR, EYE], [0, 1, 3], blend=1j), "blend holds complex128; expected a time >= 0, s"),
    (lambda: Trajectory(RECORD[0], [[1j], [0]], *RECORD[2:]), "q holds complex128; expected an array of real numbers"),
    (lambda: Trajectory(RECORD[0], [["1"], ["2"]], *RECORD[2:]), "q holds <U1; expected an array of real numbers"),
    (
        lambda: CartesianTrajectory([0.0, 1.0], [EYE], np.zeros((2, 6)), np.zeros((2, 6))),
        "poses, twist and acceleration have the shapes (1, 4, 4), (2, 6) and (2, 6); expected (..., 2, 4, 4), and "
        "(..., 2, 6) for the other two",
    ),
    # ── records ──
    (lambda: Trajectory([], [], [], []), "t has the shape (0,); expected times (T,), s, ascending: 1 instant or more"),
    (
        lambda: Trajectory([0.0, 1.0], np.zeros((3, 1)), np.zeros((2, 1)), np.zeros((2, 1))),
        "q, qd and qdd have the shapes (3, 1), (2, 1) and (2, 1); expected (..., 2, n) for all three, "
        "or (..., 2, n + 7) for q and n + 6 for the others with a floating base",
    ),
    (
        lambda: Trajectory([0.0, 1.0], np.zeros((2, 3)), np.zeros((2, 2)), np.zeros((2, 2))),
        "q, qd and qdd have the shapes (2, 3), (2, 2) and (2, 2); expected (..., 2, n) for all three, "
        "or (..., 2, n + 7) for q and n + 6 for the others with a floating base",
    ),
    (lambda: Trajectory([1.0, 1.0], *RECORD[1:]), "t does not ascend: t[1] is 1 after 1"),
    (lambda: Trajectory(RECORD[0], "x", *RECORD[2:]), "q holds <U1; expected an array of real numbers"),
    (lambda: Trajectory(*RECORD, tau=[1.0, 2.0]), "tau has the shape (2,); expected (2, 1)"),
    (lambda: Trajectory(*RECORD, kinetic=[1.0]), "kinetic has the shape (1,); expected (2,)"),
    (lambda: Trajectory(*RECORD, poses=np.eye(4)), "poses has the shape (4, 4); expected (2, 4, 4)"),
    (lambda: Trajectory(*RECORD, names=["a", "b"]), "there are 2 names for 1 joints"),
    (lambda: Trajectory(*RECORD, is_length=[True, True]), "there are 2 is_length for 1 joints"),
    (lambda: Trajectory(*RECORD, events=["hit"]), "events holds 'hit'; expected Events (name, time, q, qd, member)"),
    (lambda: Trajectory(*RECORD).member(0), "there is no member 0; the trajectory has the batch shape ()"),
    (
        lambda: Trajectory([0.0], *np.zeros((3, 2, 1, 1))).member((0, 1)),
        "there is no member (0, 1); the trajectory has the batch shape (2,)",
    ),
    (
        lambda: Trajectory([0.0], *np.zeros((3, 2, 1, 1))).member(2),
        "there is no member 2; the trajectory has the batch shape (2,)",
    ),
]


@pytest.mark.parametrize("number", range(len(CASES)))
def test_message(number: int) -> None:
    call, message = CASES[number]
    with pytest.raises(ArgumentError) as caught:
        call()
    assert unnamed(caught.value, message) == []


def test_limits_that_are_kept_say_nothing() -> None:
    assert quintic([0.0], [1.0], 1.0, q_min=[0.0], q_max=[1.0]).q.max() == 1.0
    assert Event("a", 1.0, np.zeros(1), np.zeros(1)).member == ()
