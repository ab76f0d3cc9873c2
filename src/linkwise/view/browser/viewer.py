"""The viewer: one thread that handles user events, moves the mechanism and updates the page, with a playback clock."""

from __future__ import annotations

import atexit
import contextlib
import html
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any, Self

import numpy as np

from linkwise.errors import ArgumentError, LinkwiseError, shown
from linkwise.inverse_kinematics.interactive.follower import DragSolution, TargetFollower
from linkwise.kinematics.configuration import resting
from linkwise.model.formatting.table import plain
from linkwise.model.tree import TOOL, Tree
from linkwise.spatial.quaternion import quaternion_rotation, rotation_quaternion
from linkwise.spatial.rotation import rotation_to_rpy
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import number_within
from linkwise.view.browser.motion_buffer import SECONDS, History
from linkwise.view.browser.painter import BrowserPainter, keep_fitted, start
from linkwise.view.browser.panel import Panel, free_scales, scales
from linkwise.view.browser.server import LOOPBACK, address, make_server, stop
from linkwise.view.browser.slider_coordinates import SliderCoordinates
from linkwise.view.motion import motion_of
from linkwise.view.scene.layout import coordinates, evaluate, lay_out
from linkwise.view.scene.meshes import NO_VISUALS, Visuals


class Inbox:
    """Requests by their key: a newer one replaces an older one that has not been read yet.

    A slider or a target that is dragged speaks a hundred times a second; only where it is now counts. Nothing waits in a
    queue, so the picture never lags behind the hand.

    Examples
    --------
    >>> inbox = Inbox()
    >>> inbox.put("speed", 1.0)
    >>> inbox.put("joint 0", 0.1)
    >>> inbox.put("speed", 2.0)
    >>> inbox.take(0.0)
    {'joint 0': 0.1, 'speed': 2.0}
    """

    def __init__(self) -> None:
        self._asked: dict[Any, Any] = {}
        self._filled = threading.Condition()

    def put(self, key: Any, value: Any) -> None:
        """Ask for something."""
        with self._filled:
            self._asked.pop(key, None)  # the newest request moves to the end
            self._asked[key] = value
            self._filled.notify()

    def offer(self, key: Any, value: Any) -> None:
        """Queue a request unless a newer one has the same key."""
        with self._filled:
            if key not in self._asked:
                self._asked[key] = value
                self._filled.notify()

    def take(self, timeout: float) -> dict[Any, Any]:
        """Return the requests since the last call, after waiting up to timeout (s); empty if there are none."""
        until = time.monotonic() + timeout
        with self._filled:
            while not self._asked:
                left = until - time.monotonic()
                if left <= 0 or not self._filled.wait(left):
                    break
            asked, self._asked = self._asked, {}
        return asked


#: The largest number of seconds.
MOST = sys.float_info.max

#: Least and greatest playback rate, relative to real time; negative for backwards.
SLOWEST, FASTEST = 0.01, 10.0


class Playback:
    """Time of a motion during playback.

    No method asks for the time: ``now`` is handed in, in s of any clock that does not go back, such as `time.monotonic`. A
    ``now`` before the last one counts as the last one. The same calls therefore give the same answers.

    Parameters
    ----------
    duration : float
        Duration of the motion, s; 0 or more.
    speed : float
        How many seconds of the motion go by in one second: 0.01 to 10, or -10 to -0.01 for backwards.
    repeat : bool
        Whether it begins again at its end.

    Attributes
    ----------
    duration : float
        As given.
    repeat : bool
        May be set at any time.
    playing : bool
        Whether it ran when it was last queried or set.

    Raises
    ------
    ArgumentError
        Where a number is none of these.

    Examples
    --------
    >>> clock = Playback(2.0)
    >>> clock.play(100.0)
    >>> clock.time(101.5), clock.time(103.0), clock.playing
    (1.5, 2.0, False)
    """

    def __init__(self, duration: float, *, speed: float = 1.0, repeat: bool = False) -> None:
        self.duration = _number("duration", duration, 0.0)
        self.repeat = bool(repeat)
        self.playing = False
        self._speed = _speed(speed)
        self._at = 0.0
        """How far it was (s from the beginning, 0 to the duration) when it was last looked at."""
        self._now: float | None = None
        """When that was."""

    @property
    def speed(self) -> float:
        """Seconds of the motion per second; a change takes effect at the last ``now``."""
        return self._speed

    @speed.setter
    def speed(self, speed: float) -> None:
        self._speed = _speed(speed)

    def play(self, now: float) -> None:
        """Start playback from the current time; from the other end if it is at the end of its direction."""
        self._advance(now)
        if not self.repeat and self._at == self._last:
            self._at = self.duration - self._last
        self.playing = self.duration > 0.0

    def pause(self, now: float) -> None:
        """Stand still."""
        self._advance(now)
        self.playing = False

    def seek(self, time: float, now: float) -> None:
        """Go to a time of the motion, s from its beginning, or to the nearer end; playback continues, or stays paused."""
        self._advance(now)
        self._at = min(max(_number("time", time), 0.0), self.duration)

    def time(self, now: float) -> float:
        """Time of the motion, s from its beginning: 0 to `duration`."""
        self._advance(now)
        return self._at

    @property
    def _last(self) -> float:
        """The end that it runs to, s from the beginning."""
        return self.duration if self._speed > 0.0 else 0.0

    def _advance(self, now: float) -> None:
        """Advance by the time since the last call."""
        here = _number("now", now)
        passed = 0.0 if self._now is None else max(here - self._now, 0.0)
        self._now = here if self._now is None else max(here, self._now)
        if not self.playing or not passed:
            return
        at = self._at + passed * self._speed
        if 0.0 < at < self.duration:
            self._at = at
        elif self.repeat:
            self._at = at % self.duration
        else:
            self._at, self.playing = self._last, False

    def __repr__(self) -> str:
        does = "playing" if self.playing else "standing"
        return f"<Playback: {does} at {self._at:g} of {self.duration:g} s, speed {self._speed:g}>"


def _number(name: str, value: object, least: float = -MOST) -> float:
    return number_within(name, value, least, MOST, "0 or more, in s" if least == 0.0 else "a finite number, in s")


def _speed(value: object) -> float:
    expected = f"{SLOWEST:g} to {FASTEST:g}, or as much below 0 for backwards"
    speed = number_within("speed", value, -FASTEST, FASTEST, expected)
    if abs(speed) < SLOWEST:
        raise ArgumentError(f"speed is {shown(value)}; expected {expected}")
    return speed


#: Seconds between two pictures of a motion; least time between two requested ones; and interval of checks by an idle thread.
FRAME, SHORTEST, IDLE = 1.0 / 60.0, 1.0 / 120.0, 0.5

#: Seconds between two updates of the sliders and of the curves while a motion plays.
SLIDERS, CURVES = 0.1, 0.2

#: Distance (m) below which the tool and its target share a label.
NEAR = 1e-6


class Viewer:
    """A mechanism in a page of the browser; see `linkwise.view.browse`.

    Attributes
    ----------
    url : str
        Where the page is.
    q : ndarray (nq,)
        The coordinates that it shows.
    """

    def __init__(
        self,
        mechanism: Tree,
        motion: Any = None,
        *,
        q: Any = None,
        visuals: Visuals = NO_VISUALS,
        host: str = LOOPBACK,
        port: int | None = None,
    ) -> None:
        mechanism.require_numbers("the viewer")
        self._mechanism = mechanism
        self._motion = None if motion is None else motion_of(mechanism, motion)
        self._follower: TargetFollower | None = None
        self._followed: int | str = TOOL
        self._remarks: tuple[str, ...] = ()
        self._first = self._beginning(q)
        self._q = self._first.copy()
        self._sliders = SliderCoordinates(mechanism, self._q)
        self._inbox = Inbox()
        self._history = History(mechanism, self._q, time.monotonic())
        self._closed = threading.Event()
        self._target: Any = None
        self._playback = Playback(0.0 if self._motion is None else self._motion.duration, repeat=True)
        self._next = dict.fromkeys(("sliders", "curves"), 0.0)
        self._failed: BaseException | None = None
        self._server = make_server(host, port)
        try:
            self.url = address(self._server, host)
            self._make_page(visuals)
        except BaseException:
            stop(self._server)
            raise
        self._inbox.put("pick", TOOL)
        self._thread = threading.Thread(target=self._run, name="linkwise viewer", daemon=True)
        self._thread.start()
        atexit.register(self.close)

    # ── for the user ──────────────────────────────────────────────────────────────────────────────

    @property
    def q(self) -> FloatArray:
        """The coordinates that are shown (nq,)."""
        return self._q.copy()

    @property
    def remarks(self) -> tuple[str, ...]:
        """Deviations of the picture from the description, with reasons: unreadable meshes, loops that cannot be closed."""
        return (*self._remarks, *self._scene.remarks)

    def show(self, q: Any) -> None:
        """Show the mechanism at the coordinates q (nq,), from any thread, as often as wanted; the last one counts.

        Raises
        ------
        ArgumentError
            Where q is not nq finite numbers.
        """
        self._inbox.put("show", coordinates(self._mechanism, q))

    def play(self, *, speed: float = 1.0) -> None:
        """Play the motion from the current time, at a multiple of its own speed, 0.01 to 10.

        Raises
        ------
        ArgumentError
            Where there is no motion, or no such speed.
        """
        if self._motion is None:
            raise ArgumentError("there is no motion to play: open the viewer with one")
        self._inbox.put("speed", Playback(1.0, speed=speed).speed)
        self._inbox.put("run", True)

    def wait(self) -> None:
        """Return when the viewer has been closed; an error inside it is raised here."""
        while not self._closed.wait(0.2):
            pass
        if self._failed is not None:
            raise self._failed

    def close(self) -> None:
        """Stop the server; an open page keeps its last picture and does not respond."""
        if not self._closed.is_set():
            self._closed.set()
            self._inbox.put("close", True)
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout=5.0)
        stop(self._server)
        atexit.unregister(self.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Viewer of {self._mechanism.name!r} at {self.url}>"

    def _repr_html_(self) -> str:
        """Return a link to the page, for notebooks."""
        state = "closed" if self._closed.is_set() else f'<a href="{html.escape(self.url)}" target="_blank">{self.url}</a>'
        return f"Viewer of {html.escape(plain(self._mechanism.name))}: {state}"

    # ── the page ──────────────────────────────────────────────────────────────────────────────────

    def _beginning(self, q: Any) -> FloatArray:
        """Return the first coordinates: those given, those of the motion, or a posture with closed loops."""
        if q is not None:
            return coordinates(self._mechanism, q).astype(float)
        if self._motion is not None:
            return np.asarray(self._motion.at(0.0), dtype=float)
        if not self._mechanism.loops:
            return resting(self._mechanism)
        try:
            return self._following().start()
        except ArgumentError as error:  # shown all the same, with a red line where they are open
            self._remarks += (str(error),)
            return start(self._mechanism)

    def _make_page(self, visuals: Visuals) -> None:
        tree, motion = self._mechanism, self._motion
        self._size = lay_out(tree, self._first).extent
        moved = self._first if motion is None else motion.q
        self._scales = (*free_scales(tree, self._size, moved),)
        self._scales += scales(tree, self._size, None if motion is None else motion.q[:, tree.nq - tree.n :])
        self._scene = BrowserPainter(self._server, tree, visuals, q=self._first, along=None if motion is None else motion.q)
        keep_fitted(self._server)
        self._scene.on_pick(lambda link: self._inbox.put("pick", link))
        self._server.on_client_disconnect(lambda _: self._inbox.put("left", True))
        self._panel = Panel(
            self._server,
            tree,
            self._scales,
            self._scene.pick_frames(),
            self._inbox.put,
            past=self._history.motion(),
            motion=motion,
            meshes=bool(self._scene.shapes),
            names=self._scene.names,
            remarks=self.remarks,
        )
        self._show(sliders=True)

    def _show(self, *, sliders: bool) -> None:
        if self._motion is None:
            self._history.add(self._q, time.monotonic())
        with self._server.atomic():
            self._scene.show(self._q)
            if sliders:
                self._panel.show_joints(self._sliders.show(self._q))

    # ── the thread ────────────────────────────────────────────────────────────────────────────────

    def _run(self) -> None:
        handlers: dict[str, Callable[[Any], None]] = {
            name.removeprefix("_on_"): getattr(self, name) for name in dir(self) if name.startswith("_on_")
        }
        handlers |= {look: partial(setattr, self._scene, look) for look in ("frames", "names", "meshes")}
        self._say_where()
        try:
            while not self._closed.is_set():
                playing = self._playback.playing
                asked = self._inbox.take(0.0 if playing else IDLE)
                begun = time.monotonic()
                for key, value in asked.items():
                    if self._closed.is_set():
                        return
                    try:
                        handlers[key if isinstance(key, str) else key[0]](value if isinstance(key, str) else (key[1], value))
                    except LinkwiseError as error:
                        self._panel.tell(str(error), well=False)
                if self._playback.playing:
                    self._show_motion()
                elif self._motion is None:
                    self._show_past()
                if asked or playing:
                    self._closed.wait(max(0.0, (FRAME if playing else SHORTEST) - (time.monotonic() - begun)))
        except Exception as error:  # wait() and the page report it; a thread that ends silently would look like a hang
            self._failed = error
            with contextlib.suppress(Exception):
                self._panel.tell(f"the viewer stopped: {error}", well=False)
        finally:
            self._closed.set()

    def _on_close(self, _: Any) -> None:
        """Let the loop end."""

    def _on_joint(self, asked: tuple[int, float]) -> None:
        k, shown = asked
        self._halt()
        value = self._scales[k].value(shown, float(self._sliders.show(self._q)[k]))
        at, tree = self._sliders.joint_of(k), self._mechanism
        if at is None:
            self._take(self._following().move(tree.nq - tree.nv + k, value, self._q))
        else:
            self._take(self._following().place(at.name, self._sliders.moved(k, value, self._q), self._q))
        self._move_target()

    def _on_show(self, q: FloatArray) -> None:
        self._halt()
        self._q = np.array(q, dtype=float)
        self._show(sliders=True)
        self._say_where()
        self._move_target()

    def _on_reset(self, _: bool) -> None:
        self._on_show(self._first)

    def _on_left(self, _: bool) -> None:
        """Put the target back to where the link is: a user may have left while dragging it."""
        self._move_target()

    # ── a target ──────────────────────────────────────────────────────────────────────────────────

    def _following(self, link: int | str | None = None) -> TargetFollower:
        """Return the target follower of a link; by default the present one, else that of the tool."""
        link = self._followed if link is None else link
        if self._follower is None or self._followed != link:
            self._follower, self._followed = TargetFollower(self._mechanism, link=link), link
        return self._follower

    def _on_target(self, link: int | str | None) -> None:
        self._halt()
        if self._target is not None:
            self._target.remove()
            self._target = None
        if link is None:
            self._say_where()
            return
        self._panel.tell("the solver is being made ready")
        follower = self._following(link)
        self._target = self._server.scene.add_transform_controls("/target", scale=0.22 * self._size, depth_test=False)
        self._move_target()

        @self._target.on_update  # type: ignore[untyped-decorator]
        async def _(event: Any) -> None:  # (called in turn; what is not async is called by many threads in any order)
            pose = pose_of(event.target)
            if pose is not None:
                self._inbox.put("drag", (follower, pose, event.phase))
            else:  # not a message of our page: a new target replaces the deleted one
                self._inbox.put("target", link)

        self._say_where()

    def _on_pick(self, link: int | str) -> None:
        """Take hold of a link that was clicked on."""
        self._panel.choose(link)
        self._on_target(link)

    def _on_drag(self, asked: tuple[TargetFollower, FloatArray, str]) -> None:
        follower, pose, phase = asked
        if follower is not self._follower or self._target is None:
            return
        self._halt()
        dragged = follower.follow(pose, self._q)
        self._take(dragged)
        if not dragged.settled:
            self._inbox.offer("drag", asked)
        elif phase == "end":
            self._move_target()

    def _move_target(self) -> None:
        """Put the target where the link is."""
        if self._target is not None:
            pose = self._pose()
            with self._server.atomic():
                self._target.position = pose[:3, 3]
                self._target.wxyz = rotation_quaternion(pose[:3, :3])

    def _pose(self) -> FloatArray:
        """Return the frame (4, 4) that the target is for, where it is shown."""
        return np.asarray(evaluate(self._mechanism, "forward_kinematics", self._q, link=self._followed))

    def _take(self, dragged: DragSolution) -> None:
        self._q = np.array(dragged.q, dtype=float)
        self._show(sliders=True)
        self._say_where("" if dragged.reached else dragged.reason)

    def _say_where(self, why: str = "") -> None:
        """Say where the frame is that the target is for, and why it is not elsewhere."""
        pose = self._pose()
        frame = plain(
            TOOL if self._followed == TOOL else self._mechanism.link_names[self._mechanism.link_index(self._followed)]
        )
        x, y, z = pose[:3, 3]
        roll, pitch, yaw = np.degrees(rotation_to_rpy(pose[:3, :3]))
        where = f"{frame} at {x:z.4f} {y:z.4f} {z:z.4f} m\nroll {roll:z.1f} pitch {pitch:z.1f} yaw {yaw:z.1f} deg"
        self._panel.tell(f"{where}\n{why}" if why else where, well=not why)

    # ── a motion ──────────────────────────────────────────────────────────────────────────────────

    def _on_play(self, _: bool) -> None:
        self._on_run(not self._playback.playing)

    def _on_run(self, wanted: bool) -> None:
        (self._playback.play if wanted else self._playback.pause)(time.monotonic())
        self._show_motion(whole=True)

    def _on_seek(self, at: float) -> None:
        self._playback.seek(at, time.monotonic())
        self._show_motion(whole=True)

    def _on_speed(self, speed: float) -> None:
        self._playback.time(time.monotonic())
        self._playback.speed = speed

    def _on_repeat(self, repeat: bool) -> None:
        self._playback.repeat = repeat

    def _halt(self) -> None:
        """Stop a motion that is playing: dragging takes precedence."""
        if self._playback.playing:
            self._on_run(False)

    def _show_motion(self, *, whole: bool = False) -> None:
        """Show the motion where it is; the sliders and curves less often than the picture, unless all is wanted."""
        if self._motion is None:
            return
        now = time.monotonic()
        at = self._playback.time(now)
        ended = not self._playback.playing
        self._q = np.asarray(self._motion.at(at), dtype=float)
        due = {name: whole or ended or now >= then for name, then in self._next.items()}
        self._show(sliders=due["sliders"])
        if due["sliders"]:
            self._panel.show_time(at, self._playback.playing)
            self._say_where()
            self._next["sliders"] = now + SLIDERS
        if due["curves"]:
            self._panel.curves.show(at)
            self._next["curves"] = now + CURVES
        if ended:
            self._move_target()

    def _show_past(self) -> None:
        """Draw the recent interactive motion, while it is on the plots."""
        now = time.monotonic()
        if now >= self._next["curves"] and now - self._history.last < SECONDS:
            self._panel.curves.show(now - self._history.last, self._history.motion())
            self._next["curves"] = now + CURVES


def pose_of(target: Any) -> FloatArray | None:
    """Return the pose (4, 4) of a target, None if its value is invalid."""
    try:
        position, wxyz = np.array(target.position, dtype=float), np.array(target.wxyz, dtype=float)
    except ValueError:
        return None
    if position.shape != (3,) or wxyz.shape != (4,) or not wxyz.any():
        return None
    if not (np.abs([*position, *wxyz]) < np.finfo(np.float32).max).all():  # (the numbers of a page have 32 bits)
        return None
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = quaternion_rotation(wxyz), position
    return pose
