"""Positions through closed loops: against closed forms, along whole turns, in batches, at ends of branches and limits."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from linkwise import Loop, Mechanism
from linkwise.errors import ArgumentError
from linkwise.loops import AssemblyModes, Linkage
from linkwise.loops.loop_solver import closing
from linkwise.solve import REASONS
from linkwise.spatial.rotation import rotation_x
from linkwise.spatial.transform import transform
from support.loop_mechanisms import linkage as ready
from support.loop_mechanisms import parallelogram, planar_four_bar, planar_slider_crank
from support.numpy_backend import compute_by_numpy

CLOSED = 1e-12
LENGTHS = (1.0, 4.0, 3.0, 4.0)
TURN = np.linspace(0.0, 2 * np.pi, 181)


def rocker_angle(crank: np.ndarray, sign: float) -> np.ndarray:
    """From the circles about the crank's pin and the second pivot: the law of cosines."""
    a, b, c, d = LENGTHS
    x, y = a * np.cos(crank) - d, a * np.sin(crank)
    far = np.hypot(x, y)
    return np.arctan2(y, x) + sign * np.arccos((far**2 + c**2 - b**2) / (2 * far * c))


def closure_error(mech: Mechanism, q: np.ndarray) -> float:
    """By the poses of the links, in NumPy, not by the closure equations."""
    poses = dict(zip(mech.link_names, np.moveaxis(mech.link_poses(q), -3, 0), strict=True))
    poses["base"] = np.broadcast_to(mech.base, (*q.shape[:-1], 4, 4))
    worst = 0.0
    for loop in mech.loops:
        one, two = poses[loop.first] @ loop.first_frame, poses[loop.second] @ loop.second_frame
        rows = {"full": slice(0, 4), "hinge": slice(2, 4), "point": slice(3, 4)}[loop.kind]
        worst = max(worst, float(np.abs(one - two)[..., :3, rows].max()))
    return worst


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_the_four_bar_follows_its_closed_form(sign: float) -> None:
    linkage = ready("four-bar")
    start = rocker_angle(np.array(0.0), sign)
    pin = np.array([4.0 + 3.0 * np.cos(start), 3.0 * np.sin(start)]) - [1.0, 0.0]
    turn = linkage.trace(TURN, [0.0, np.arctan2(pin[1], pin[0]), start])
    assert turn.success.all()
    wanted = np.unwrap(rocker_angle(TURN, sign))
    difference = np.abs(turn.q[:, 2] - wanted).max()
    print(f"difference {difference:.1e} rad")
    assert difference < 5e-15 * 3 / 0.15  # rounding of the lengths over the smallest singular value
    assert abs(turn.q[-1, 2] - turn.q[0, 2]) < 1e-13
    assert closure_error(linkage.mechanism, turn.q) < CLOSED * 4


@pytest.mark.parametrize("offset", [0.0, 0.02])
def test_the_slider_follows_its_closed_form(offset: float) -> None:
    linkage = Linkage(planar_slider_crank(0.05, 0.2, offset), ["crank"], [0.0, 0.0, 0.2])
    turn = linkage.trace(TURN)
    height = offset - 0.05 * np.sin(TURN)
    wanted = 0.05 * np.cos(TURN) + np.sqrt(0.2**2 - height**2)
    assert turn.success.all()
    assert np.abs(turn.q[:, 2] - wanted).max() < 1e-16 * 20
    assert closure_error(linkage.mechanism, turn.q) < CLOSED * 0.2


@pytest.mark.parametrize("name", ["bennett", "spherical"])
def test_overconstrained_loops_turn_too(name: str) -> None:
    """Half of their closure equations are solved, all are checked."""
    made = ready(name)
    turn = made.trace(made.q0[0] + TURN)
    assert turn.success.all()
    assert closure_error(made.mechanism, turn.q) < CLOSED * 2
    assert np.abs(np.sin(turn.q[-1] - turn.q[0])).max() < 1e-11


@pytest.mark.parametrize("name", ["spatial full", "spatial point floating mimic"])
def test_spatial_loops(name: str) -> None:
    linkage = ready(name)
    mech = linkage.mechanism
    u = linkage.driven_part(linkage.q0) + np.linspace(0.0, 0.05, 21)[:, None]
    path = linkage.trace(u)
    assert path.success.all()
    assert np.array_equal(linkage.driven_part(path.q), u)
    assert np.abs(mech.kernel("closure")(path.q)).max() < CLOSED
    if not mech.floating:
        assert closure_error(mech, path.q) < CLOSED
    assert np.array_equal(path.q[:, : mech.nq - mech.n], np.tile(linkage.q0[: mech.nq - mech.n], (21, 1)))


def test_jansens_leg_turns() -> None:
    linkage = ready("jansen")
    turn = linkage.trace(TURN)
    assert turn.success.all()
    assert np.abs(np.sin(0.5 * (turn.q[-1] - turn.q[0])) ** 2 * np.cos(0.5 * (turn.q[-1] - turn.q[0])) ** 2).max() < 1e-20
    assert np.abs(np.diff(turn.q, axis=0)).max() < 0.2  # a jump to another branch is some tenths at least
    assert closure_error(linkage.mechanism, turn.q) < CLOSED


def test_a_long_way_is_gone_in_steps_on_one_branch() -> None:
    linkage = ready("four-bar")
    far = linkage.position([3.0])
    steps = linkage.trace(np.linspace(0.0, 3.0, 61))
    assert far.success
    assert np.allclose(far.q, steps.q[-1], rtol=0, atol=1e-13)
    assert far.iterations > 4


def test_whole_turns_are_gone_through() -> None:
    """A whole turn closes the loop at once, yet the coupler turns back by one; and it fails where no way leads."""
    linkage = ready("four-bar")
    turns = np.array([1.0, -1.0, 3.0])
    found = linkage.position(linkage.q0[0] + 2 * np.pi * turns[:, None])
    assert found.success.all()
    assert np.allclose(found.q - linkage.q0, 2 * np.pi * turns[:, None] * [1, -1, 0], rtol=0, atol=1e-11)
    rocker = Linkage(planar_four_bar(*LENGTHS), ["rocker"], [0.0, 1.0, 2.0])
    assert rocker.position(rocker.q0[2] + 2 * np.pi).reason == "toggle"


def test_ways_that_are_too_long_are_told() -> None:
    linkage = ready("four-bar")
    far = linkage.position([1e5])
    assert (far.success, far.reason) == (False, "iterations")
    assert far.closure_error < CLOSED
    assert 100.0 < far.q[0] < 1e5
    turns = 2e4 * np.pi * np.array([10.0, -10.0, 0.0])  # 1e5 turns: angles are known to 1e-10 there
    assert linkage.position([turns[0] + 0.1], linkage.q0 + turns).reason == "stalled"
    both = linkage.position([[0.1], [1e5]])
    assert both.explain().startswith(f"1: {REASONS['converged']}")
    assert both.explain(1).startswith(REASONS["iterations"])
    with pytest.raises(ArgumentError, match=r"index.*2.*\(2,\)"):
        both.explain(2)


@pytest.mark.parametrize("gap", [0.3, 1e-3])
def test_large_steps_stay_on_their_branch(gap: float) -> None:
    """Crank-rockers whose two branches come as near to each other as the gap makes them: any way, any length."""
    a, c, d = 1.0, 2.5, 2.0
    b = c + d - a - gap  # a + b + gap = c + d: without the gap the branches would meet
    linkage = Linkage(planar_four_bar(a, b, c, d), ["crank"], [0.5, 1.0, 2.0])
    rng = np.random.default_rng(7)
    for _ in range(2):
        start = linkage.position(rng.uniform(-3, 3)).q
        u = start[0] + rng.uniform(-7, 7, (40, 1))
        found = linkage.position(u, start)
        assert found.success.all()
        sense = [np.sign(_coupler_side(linkage.mechanism, q)) for q in [start, *found.q]]
        assert len(set(sense)) == 1
        back = linkage.position(start[:1], found.q)
        assert np.abs(np.sin(back.q - start)).max() < 1e-9


def test_no_step_leaps_over_where_the_links_do_not_reach() -> None:
    """Crank angles from 3.104 to 3.179 are out of reach: |crank + frame| is 1e-4 longer than coupler and rocker."""
    far = np.sqrt(0.5**2 + 0.2001**2 - 2 * 0.5 * 0.2001 * np.cos(3.1))
    end = np.arccos((0.5**2 + 0.2001**2 - 0.7**2) / (2 * 0.5 * 0.2001))
    pin = np.arccos((0.2**2 + far**2 - 0.5**2) / (2 * 0.2 * far))  # between the coupler and the line to the second pivot
    turn = np.arctan2(-0.5 * np.sin(3.1), 0.2001 - 0.5 * np.cos(3.1)) - 3.1
    for side in (-pin, pin):
        linkage = Linkage(planar_four_bar(0.5, 0.2, 0.5, 0.2001), ["crank"], [3.1, turn + side, 3.1])
        beyond = linkage.position([3.4])
        assert (beyond.success, beyond.reason) == (False, "toggle")
        assert abs(beyond.q[0] - end) < 1e-5


def test_a_parallelogram_near_its_change_point_stays_one() -> None:
    linkage = Linkage(parallelogram(), ["crank"], [3.1, -3.1, 3.1])
    back = linkage.position([2.6])
    assert back.success
    assert np.abs(back.q - [2.6, -2.6, 2.6]).max() < 1e-9


def test_a_base_far_away_costs_no_digits() -> None:
    near = planar_four_bar(*(1e-3 * length for length in LENGTHS))
    far = near.replace(base=transform(rotation_x(0.7), [5e5, -3e6, 10.0]))
    start, modes = AssemblyModes(near).position([0.3], 0), AssemblyModes(far)
    assert Linkage(far, ["crank"], start).position([0.5]).success
    np.testing.assert_allclose(modes.position([0.3], modes.mode(start)), start, atol=1e-12)


def _coupler_side(mech: Mechanism, q: np.ndarray) -> float:
    """On which side of the rocker the coupler is: what changes from one branch of a crank-rocker to the other."""
    poses = mech.link_poses(q)
    coupler, rocker = poses[1][:2, 0], poses[2][:2, 0]
    return float(coupler[0] * rocker[1] - coupler[1] * rocker[0])


@pytest.mark.parametrize(("name", "span"), [("five_bar", 1.0), ("jansen", 6.0), ("spatial full", 0.1)])
def test_there_and_back(name: str, span: float) -> None:
    made = ready(name)
    u = made.driven_part(made.q0)
    there = made.position(u + np.random.default_rng(8).uniform(-span, span, (50, len(u))))
    closed = np.isin(there.reason, ["converged", "limit"])
    assert closed.sum() >= 25
    back = made.position(u, there.q[closed])
    assert back.success.all()
    assert np.abs(back.q - made.q0).max() < 1e-9  # the closure, over singular values of 0.01 and more


def test_the_branch_of_the_start_counts() -> None:
    """With a second coupler the parallelogram moves, though its other closed positions are those of a structure."""
    linkage = Linkage(parallelogram(second_coupler=True), ["crank"], [0.3, -0.3, 0.3, -0.3])
    path = linkage.trace(np.linspace(0.3, 2.8, 30))
    assert path.success.all()
    assert np.allclose(path.q[:, 2], path.q[:, 0], rtol=0, atol=1e-11)


def test_a_batch_equals_a_loop() -> None:
    linkage = ready("four-bar")
    u = np.concatenate([np.linspace(-0.2, 0.2, 8), [2.0, -3.0, 6.0]])[:, None]
    batch = linkage.position(u)
    assert batch.success.all()
    alone = [linkage.position(value) for value in u]
    assert np.array_equal(batch.q, [found.q for found in alone])
    assert np.array_equal(batch.iterations, [found.iterations for found in alone])
    assert np.array_equal(batch.closure_error, [found.closure_error for found in alone])
    assert linkage.position(u[:, None]).q.shape == (11, 1, 3)
    assert np.array_equal(linkage.position(0.1).q, linkage.position(np.array([0.1])).q)


def test_the_branch_ends_where_crank_and_coupler_are_in_line() -> None:
    """The rocker drives: it swings between the angles at which the law of cosines has the crank and coupler in line."""
    linkage = Linkage(planar_four_bar(*LENGTHS), ["rocker"], [0.0, 1.0, 2.0])
    start = float(linkage.q0[2])
    a, b, c, d = LENGTHS
    far, near = (np.pi - np.arccos((c * c + d * d - (b + side) ** 2) / (2 * c * d)) for side in (a, -a))
    assert far < start < near
    for end, beyond in ((near, 1.0), (far, -1.0)):
        found = linkage.position([end + 0.1 * beyond])
        assert (found.success, found.reason) == (False, "toggle")
        assert found.closure_error < CLOSED
        assert abs(found.q[2] - end) < 1e-5
        assert REASONS["toggle"] in found.explain()
        inside = linkage.position([end - 1e-4 * beyond])
        assert inside.success
        last = linkage.position([end])
        assert last.success
        assert np.abs(np.sin(last.q[1])) < 1e-4  # in line; the closure leaves the root of its tolerance there
    path = linkage.trace(np.linspace(start, near + 0.5, 101))
    assert not path.success.all()
    stop = int(np.argmin(path.success))
    assert path.q[stop - 1, 2] < near
    assert (path.reason[stop:] == "toggle").all()


def test_where_branches_meet_it_stops() -> None:
    """The flat parallelogram can go on as one or as its opposite: neither is chosen."""
    linkage = Linkage(parallelogram(), ["crank"], [0.3, -0.3, 0.3])
    assert linkage.position([1.5]).success
    path = linkage.trace(np.linspace(0.3, -0.3, 50))
    assert path.success[:20].all()
    assert not path.success[-1]
    closed = path.q[path.success]
    assert np.abs(closed[:, 0] - closed[:, 2]).max() < 1e-7
    assert 0.0 < path.q[-1, 0] < 1e-4  # steps of 1e-6 are the shortest, and some go wrong before they are as short


def test_an_open_start_is_closed_first() -> None:
    linkage = ready("four-bar")
    found = linkage.position([0.5], [0.0, 0.3, 1.2])
    assert found.success
    assert found.q[0] == 0.5
    assert min(abs(np.sin(0.5 * (rocker_angle(np.array(0.5), sign) - found.q[2]))) for sign in (-1, 1)) < 1e-12


def test_out_of_reach_from_an_open_start() -> None:
    """The slider is asked to go farther than crank and rod reach: the last closed position is given back."""
    linkage = Linkage(planar_slider_crank(), ["slider"], [1.0, -1.2, 0.2])
    found = linkage.position([0.3], [1.0, 0.0, 0.1])
    assert (found.success, found.reason) == (False, "toggle")
    assert found.closure_error < CLOSED
    assert found.q[2] == pytest.approx(0.25, abs=1e-5)


def test_limits_are_told() -> None:
    linkage = Linkage(planar_slider_crank(limits=(0.16, 0.24)), ["crank"], [1.0, -1.2, 0.2])
    assert linkage.position([1.2]).success
    beyond = linkage.position(np.array([0.1]))
    assert (beyond.success, beyond.reason) == (False, "limit")
    assert beyond.closure_error < CLOSED
    assert beyond.q[2] > 0.24
    turn = linkage.trace(np.linspace(1.0, 1.0 + 2 * np.pi, 91))
    outside = (turn.q[:, 2] > 0.24) | (turn.q[:, 2] < 0.16)
    assert outside.any()
    assert np.array_equal(turn.success, ~outside)
    assert np.array_equal(turn.reason == "limit", outside)
    assert "2 positions" not in repr(turn)


def test_a_hinge_with_opposed_axes_is_no_success() -> None:
    """The flat four-bar whose pin is turned round: its five rows are zero all along, and nothing may claim it."""
    mech = planar_four_bar(*LENGTHS)
    flipped = np.diag([1.0, -1.0, -1.0, 1.0])
    flipped[0, 3] = LENGTHS[2]
    (pin,) = mech.loops
    linkage = ready("four-bar")
    turned = mech.replace(loops=[Loop("hinge", "coupler", "rocker", pin.first_frame, flipped)])
    q, error, code = _as_if(linkage, turned)
    assert np.abs(turned.kernel("closure")(q)).max() < CLOSED
    assert error == 2.0
    assert code == 1.0


def _as_if(linkage: Linkage, mech: Mechanism) -> tuple[np.ndarray, float, float]:
    from dataclasses import replace

    kernel = replace(linkage._system, task=closing(mech)).kernel("step")
    q, error, code = kernel(np.array([0.1]), linkage.q0)
    return q, float(error), float(code)


def test_the_same_without_llvm(monkeypatch: pytest.MonkeyPatch) -> None:
    linkage = ready("four-bar")
    fast = linkage.trace(TURN[:20])
    compute_by_numpy(monkeypatch)
    slow = Linkage(planar_four_bar(*LENGTHS), ["crank"], linkage.q0).trace(TURN[:20])
    assert slow.success.all()
    assert np.allclose(fast.q, slow.q, rtol=0, atol=1e-13)


def test_it_pickles_and_tells_itself() -> None:
    linkage = ready("four-bar")
    again = pickle.loads(pickle.dumps(linkage))
    assert np.array_equal(again.position([0.2]).q, linkage.position([0.2]).q)
    assert repr(linkage) == "<Linkage 'four-bar': driven 'crank'; passive 'coupler' and 'rocker'>"
    assert repr(linkage.position([0.1])) == "<LinkageSolution: converged after 4 iterations>"
    assert repr(linkage.position([[0.1], [0.2]])) == "<LinkageSolution: (2,) positions: 2 converged>"
