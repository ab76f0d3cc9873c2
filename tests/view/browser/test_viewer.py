"""The viewer does what is asked of it: sliders, targets, motions, told to it as its page tells them."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import linkwise as lw
from linkwise.errors import ArgumentError
from linkwise.inverse_kinematics.interactive.follower import TargetFollower
from linkwise.spatial.rotation import rpy_to_rotation
from linkwise.spatial.transform import translation
from linkwise.view.browser.motion_buffer import APART, History

viser = pytest.importorskip("viser")
import msgspec  # noqa: E402
from websockets.sync.client import connect  # noqa: E402

from linkwise.view.browser.viewer import Viewer  # noqa: E402


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


def test_a_ball_joint_is_dragged_and_a_body_beside_rests() -> None:
    upper = lw.Link(name="upper", joint="ball", limits=(0, 2.0), axis=(0, 0, 1))
    fore = lw.Link(name="fore", axis=(0, 1, 0), before=translation(0, 0, 0.4), after=translation(0, 0, 0.3))
    box = lw.Link(name="box", joint="floating", parent="base")
    limb = lw.Mechanism([upper, fore, box], tool_link="fore")
    with limb.browse(port=0, q=[*limb.neutral[:-1], 0.8]) as viewer:
        until(lambda: viewer._target is not None)
        target = limb.forward_kinematics(viewer.q)
        target[:3, 3] += (0.05, 0.02, -0.1)
        viewer._inbox.put("drag", (viewer._follower, target, "update"))
        until(lambda: np.abs(limb.forward_kinematics(viewer.q)[:3, 3] - target[:3, 3]).max() < 1e-9)
        assert np.array_equal(viewer.q[4:11], limb.neutral[4:11])


def test_show_moves_it_and_a_wrong_q_is_refused(arm: Viewer) -> None:
    arm.show([0.3, -0.4])
    until(lambda: np.array_equal(arm.q, [0.3, -0.4]))
    with pytest.raises(ArgumentError, match="expected 2 finite numbers"):
        arm.show([0.3, np.nan])
    assert np.array_equal(arm.q, [0.3, -0.4])


def test_show_stops_a_motion_and_takes_the_target_along(arm: Viewer) -> None:
    until(lambda: arm._target is not None)
    arm._inbox.put("repeat", True)
    arm.play()
    until(lambda: arm._playback.playing)
    arm.show([0.3, -0.4])
    until(lambda: not arm._playback.playing)
    until(lambda: np.array_equal(arm.q, [0.3, -0.4]))
    tool = arm._mechanism.forward_kinematics(arm.q)[:3, 3]
    until(lambda: np.allclose(arm._target.position, tool, atol=1e-12))


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


def test_what_cannot_be_played_is_refused(bars: Viewer, arm: Viewer) -> None:
    with pytest.raises(ArgumentError, match="no motion to play"):
        bars.play()
    with pytest.raises(ArgumentError, match="speed is 99"):
        arm.play(speed=99.0)


NAN = [float("nan")] * 3


def said(what: object, **more: object) -> bytes:
    """A message as a page sends it."""
    return msgspec.msgpack.encode({"type": what, **more})


def test_broken_messages_neither_stop_the_viewer_nor_print(arm: Viewer, capfd: pytest.CaptureFixture[str]) -> None:
    until(lambda: arm._target is not None)
    slider, clock = (handle._impl.uuid for handle in (arm._panel._sliders[0], arm._panel._time))
    broken = [b"\xff\xff", said("Nonsense")]
    for uuid, values in ((slider, (*NAN[:1], float("inf"), 1e308)), (clock, (*NAN[:1], -1e300))):
        broken += [said("GuiUpdateMessage", uuid=uuid, updates={"value": value}) for value in values]
    for position, wxyz in ((NAN, [1, 0, 0, 0]), ([1e300] * 3, [1, 0, 0, 0]), ([1.0] * 3, [0, 0, 0, 0])):
        broken.append(said("TransformControlsUpdateMessage", name="/target", position=position, wxyz=wxyz, owner=""))
    for message in broken:
        protocol = f"viser-v{viser.__version__}"
        with connect(
            arm.url.replace("http", "ws"), origin=arm.url, subprotocols=[protocol], compression=None, max_size=None
        ) as page:
            assert page.recv(timeout=10)
            page.send(message)
            time.sleep(0.02)
    assert arm._failed is None
    arm.show([0.1, 0.2])
    until(lambda: np.array_equal(arm.q, [0.1, 0.2]))
    tool = arm._mechanism.forward_kinematics(arm.q)[:3, 3]
    until(lambda: arm._target is not None and np.allclose(arm._target.position, tool))
    assert arm._thread.is_alive()
    assert arm._failed is None
    assert capfd.readouterr().out == ""


def test_a_slider_at_no_number_is_told(bars: Viewer) -> None:
    before = bars.q
    bars._inbox.put(("joint", 0), float("nan"))
    until(lambda: "value is nan" in bars._panel._status.content)
    assert np.array_equal(bars.q, before)


def test_a_target_left_in_the_air_comes_back(arm: Viewer) -> None:
    until(lambda: arm._target is not None)
    arm._target.position = (5.0, 5.0, 5.0)
    arm._inbox.put("left", True)
    until(lambda: np.allclose(arm._target.position, [2.0, 0.0, 0.0], atol=1e-9))


def test_efforts_that_are_unknown_for_a_moment_leave_a_gap() -> None:
    delta = lw.robots.delta()
    q = TargetFollower(delta).start()
    history = History(delta, q, 0.0)
    assert history.motion().efforts is not None
    history._holding = lambda q: None  # type: ignore[method-assign]  # (as at a singular position)
    history.add(q, 5 * APART)
    efforts = history.motion().efforts
    assert efforts is not None
    assert np.isnan(efforts[-1]).all()
    assert np.isfinite(efforts[0]).all()


def test_sliders_of_a_parallel_robot_may_go_anywhere() -> None:
    with lw.robots.delta().browse(port=0) as viewer:
        for k, scale in enumerate(viewer._scales[:3]):
            viewer._inbox.put(("joint", k), scale.most)
            time.sleep(0.05)
        until(lambda: not viewer._inbox._asked)
        viewer._next["curves"] = 0.0
        viewer.show(viewer.q)
        time.sleep(0.3)
        assert viewer._failed is None


def test_sliders_of_ball_joints_and_of_bodies_that_float() -> None:
    links = [lw.Link(name="hip", joint="ball", limits=(0.0, 1.0)), lw.Link(name="box", joint="floating", parent="base")]
    with lw.Mechanism(links).browse(port=0) as viewer:
        for k, shown in ((1, 30.0), (2, 90.0), (4, 0.5), (8, -120.0)):
            viewer._inbox.put(("joint", k), shown)
            until(lambda k=k, shown=shown: viewer._panel._sliders[k].value == shown)
        until(lambda: not viewer._inbox._asked)
        assert [slider.value for slider in viewer._panel._sliders] == [0.0, 30.0, 90.0, 0.0, 0.5, 0.0, 0.0, 0.0, -120.0]
        angles = viewer._mechanism.link_poses(viewer.q)[0, :3, :3]
        np.testing.assert_allclose(angles, rpy_to_rotation(0.0, np.pi / 6, np.pi / 2), atol=1e-15)
        viewer._inbox.put(("joint", 1), 80.0)
        until(lambda: "at its limit" in viewer._panel._status.content)
        until(lambda: viewer._panel._sliders[1].value == 57.3)
        assert viewer._failed is None


def test_loops_that_do_not_close_are_shown_open_and_told() -> None:
    bars = [lw.Link.dh(a=1.0, convention="standard", name=name) for name in "ab"]
    far = lw.Loop("hinge", "b", "base", second_frame=translation(10.0, 0.0, 0.0))
    with lw.Mechanism(bars, loops=[far]).browse(port=0) as viewer:
        assert viewer._remarks == ("the loops of 'mechanism' cannot be closed: they stay open by 8 m",)
        viewer._inbox.put(("joint", 0), 30.0)
        until(lambda: "they are open by 8 m" in viewer._panel._status.content)


def test_in_a_notebook_it_is_a_link(bars: Viewer) -> None:
    assert f'<a href="{bars.url}"' in bars._repr_html_()


def test_viewers_that_nobody_closed_end_with_the_interpreter_in_silence() -> None:
    lines = (
        "import linkwise as lw",
        "still = lw.robots.planar_2r().browse(port=0)",
        "playing = lw.robots.planar_2r().browse(([0, 1], [[0, 0], [1, 1]]), port=0)",
        "playing.play()",
    )
    done = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, timeout=60, check=True)
    assert (done.stdout, done.stderr) == ("", "")


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
