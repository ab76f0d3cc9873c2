"""The viewer does what is asked of it: sliders, targets, motions, told to it as its page tells them."""

import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import linkwise as lw
from linkwise.errors import ArgumentError

pytest.importorskip("viser")
from linkwise.view.browser.viewer import Viewer


def until(holds: Callable[[], bool], seconds: float = 10.0) -> None:
    """Wait until something holds."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it never came to hold"
        time.sleep(0.005)


@pytest.fixture(scope="module")
def bars() -> Iterator[Viewer]:
    with lw.robots.four_bar().browse(port=0) as viewer:
        yield viewer


@pytest.fixture
def arm() -> Iterator[Viewer]:
    moved = lw.trajectory.quintic([0.0, 0.0], [1.0, -0.5], 0.4)
    with lw.robots.planar_2r().browse(moved, port=0) as viewer:
        yield viewer


def test_loops_are_closed_at_first_and_after_a_slider_was_moved(bars: Viewer) -> None:
    linkage = lw.robots.four_bar()
    assert np.abs(linkage.kernel("closure")(bars.q)).max() < 1e-9
    before = bars.q
    bars._inbox.put(("joint", 0), float(np.degrees(before[0])) + 20.0)
    until(lambda: abs(bars.q[0] - before[0] - np.radians(20.0)) < 1e-9)
    assert np.abs(linkage.kernel("closure")(bars.q)).max() < 1e-9
    assert np.abs(bars.q[1:] - before[1:]).min() > 0.01  # the others followed


def test_show_moves_it_and_a_wrong_q_is_refused(arm: Viewer) -> None:
    arm.show([0.3, -0.4])
    until(lambda: np.array_equal(arm.q, [0.3, -0.4]))
    with pytest.raises(ArgumentError, match="expected 2 finite numbers"):
        arm.show([0.3, np.nan])
    assert np.array_equal(arm.q, [0.3, -0.4])


def test_a_target_is_followed_and_what_cannot_be_reached_is_told(arm: Viewer) -> None:
    target = np.eye(4)
    target[:3, 3] = 0.9, 0.8, 0.0
    until(lambda: arm._target is not None)
    arm._inbox.put("drag", (arm._follower, target, "update"))
    until(lambda: np.linalg.norm(arm._mechanism.forward_kinematics(arm.q)[:3, 3] - target[:3, 3]) < 1e-6)
    until(lambda: "of rotation are not" in arm._panel._status.content)
    far = target.copy()
    far[0, 3] = 50.0
    arm._inbox.put("drag", (arm._follower, far, "end"))
    until(lambda: " off" in arm._panel._status.content)
    until(lambda: abs(np.linalg.norm(arm._mechanism.forward_kinematics(arm.q)[:3, 3]) - 2.0) < 1e-9)  # both links of 1 m
    until(lambda: np.linalg.norm(np.array(arm._target.position) - arm._mechanism.forward_kinematics(arm.q)[:3, 3]) < 1e-9)


def test_a_motion_plays_to_its_end_and_a_hand_stops_it(arm: Viewer) -> None:
    arm._inbox.put("repeat", False)
    arm.play(speed=2.0)
    until(lambda: np.array_equal(arm.q, arm._motion.q[-1]))
    until(lambda: not arm._playback.playing)
    until(lambda: arm._panel._time.value == pytest.approx(0.4))
    arm._inbox.put("seek", 0.2)
    until(lambda: np.allclose(arm.q, arm._motion.at(0.2), atol=0.0))
    arm._inbox.put("repeat", True)
    arm.play(speed=0.5)
    until(lambda: arm._playback.playing)
    arm._inbox.put(("joint", 1), 30.0)
    until(lambda: not arm._playback.playing)
    until(lambda: arm.q[1] == pytest.approx(np.radians(30.0)))


def test_back_to_the_start(arm: Viewer) -> None:
    arm.show([1.0, 1.0])
    until(lambda: arm.q[0] == 1.0)
    arm._inbox.put("reset", True)
    until(lambda: np.array_equal(arm.q, [0.0, 0.0]))


def test_switches_reach_the_scene(arm: Viewer) -> None:
    arm._inbox.put("frames", False)
    arm._inbox.put("names", False)
    until(lambda: not (arm._scene.frames or arm._scene.names))


def test_closing_is_final_and_may_be_repeated() -> None:
    viewer = lw.robots.planar_2r().browse(port=0)
    viewer.close()
    viewer.close()
    viewer.wait()
    assert not viewer._thread.is_alive()


def test_a_fault_inside_is_raised_where_one_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    viewer = lw.robots.planar_2r().browse(port=0)

    def broken(q: object) -> None:
        raise RuntimeError("no picture today")

    monkeypatch.setattr(viewer._scene, "show", broken)
    viewer.show([0.1, 0.2])
    with pytest.raises(RuntimeError, match="no picture today"):
        viewer.wait()
    assert "no picture today" in viewer._panel._status.content
    viewer.close()


def test_what_cannot_be_shown_is_refused_before_anything_is_served() -> None:
    m = lw.symbols("m")
    with pytest.raises(ArgumentError, match="has symbols"):
        lw.view.browse(lw.Mechanism([lw.Link.dh(a=1.0, convention="standard", mass=m)]), port=0)
    with pytest.raises(ArgumentError, match="expected a Mechanism or the path"):
        lw.view.browse(3)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="expected 2 finite numbers"):
        lw.view.browse(lw.robots.planar_2r(), q=[0.0], port=0)
