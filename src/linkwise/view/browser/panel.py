"""The control panels of the viewer: joint sliders, target, playback, curves and table."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise.model.formatting.mechanism_tables import html as table_html
from linkwise.model.formatting.table import plain
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import FloatArray
from linkwise.view.browser.curves import LiveCurves, PlayedCurves
from linkwise.view.browser.slider_coordinates import POSITION, ROTATION
from linkwise.view.motion import ShownMotion

if TYPE_CHECKING:
    import viser


TURN = 360.0


@dataclass(frozen=True)
class Scale:
    """Display of a joint by one slider.

    Attributes
    ----------
    label : str
        The joint's name with its unit.
    least, most, step : float
        Of the slider, degrees or m.
    factor : float
        Radians or metres in one of its units.
    endless : bool
        Whether a whole turn leads back: a revolute joint without limits.
    hint : str
        Said where the pointer rests on it.
    """

    label: str
    least: float
    most: float
    step: float
    factor: float
    endless: bool
    hint: str

    def shown(self, value: float) -> float:
        """Return the slider value of a coordinate (rad or m).

        Examples
        --------
        >>> Scale("crank [deg]", -180.0, 180.0, 0.1, math.pi / 180, True, "").shown(1.5 * math.pi)
        -90.0
        """
        at = value / self.factor
        if self.endless and not self.least <= at <= self.most:
            middle = (self.least + self.most) / 2
            at -= TURN * round((at - middle) / TURN)
        return min(max(round(at, max(0, -math.floor(math.log10(self.step)))), self.least), self.most)

    def value(self, shown: float, now: float) -> float:
        """Return the coordinate (rad or m) for a place of the slider, the one nearest to now where turns lead back."""
        wanted = shown * self.factor
        turns = round((now - wanted) / math.tau) if self.endless and math.isfinite(wanted) else 0
        return wanted + math.tau * turns


def scales(tree: Tree, size: float, moved: FloatArray | None = None) -> tuple[Scale, ...]:
    """Return the scale of each joint's slider.

    Parameters
    ----------
    tree : Tree
        The mechanism.
    size : float
        Its size, m: how far a joint that slides without limits may be slid.
    moved : (..., n) ndarray, optional
        Values that joints take in a motion: the sliders reach them all.
    """
    limits, values = np.column_stack([tree.q_min, tree.q_max]), None if moved is None else moved.reshape(-1, tree.n)
    sliders = []
    for k, (name, is_length) in enumerate(zip(tree.names, tree.is_length, strict=True)):
        factor = 1.0 if is_length else math.pi / 180.0
        usual = (math.ceil(size * 10.0) / 10.0 if size > 0 else 1.0) if is_length else TURN / 2
        least, most = (limits[k, 0] / factor, limits[k, 1] / factor)
        free = not (math.isfinite(least) or math.isfinite(most))
        least = least if math.isfinite(least) else min(-usual, most - usual if math.isfinite(most) else -usual)
        most = most if math.isfinite(most) else max(usual, least + usual)
        if values is not None and values.size:
            least, most = min(least, float(values[:, k].min()) / factor), max(most, float(values[:, k].max()) / factor)
        unit, endless = ("m", False) if is_length else ("deg", free)
        ends = "no limits" if free else f"from {least:.6g} to {most:.6g} {unit}"
        label, hint = f"{plain(name)} [{unit}]", f"{unit}; {ends}"
        step = 10.0 ** math.floor(math.log10(max(most - least, 1e-9) / 1000.0))  # a thousand of them, or more
        sliders.append(Scale(label, *_within(least, most, step), step, factor, endless, hint))
    return tuple(sliders)


def free_scales(tree: Tree, size: float, moved: FloatArray) -> tuple[Scale, ...]:
    """Return the scales of the sliders of joints with quaternions: of positions, and of roll, pitch and yaw.

    Parameters
    ----------
    tree : Tree
        The mechanism.
    size : float
        Its size, m: how far a body that floats may be slid beyond where it is, or has been.
    moved : (..., nq) ndarray
        Configurations that the sliders reach.
    """
    sliders, values = [], moved.reshape(-1, tree.nq)
    reach, turn = (math.ceil(size * 10.0) / 10.0 if size > 0 else 1.0), TURN / 2
    for at in tree.manifold_joints:
        for k, word in enumerate(POSITION if at.joint.nv == 6 else ()):
            places = values[:, at.q.start + k]
            least, most = min(-reach, float(places.min()) - reach), max(reach, float(places.max()) + reach)
            step = 10.0 ** math.floor(math.log10((most - least) / 1000.0))
            ends, label = _within(least, most, step), f"{plain(at.name)} {word} [m]"
            sliders.append(Scale(label, *ends, step, 1.0, False, f"m, along {word} of the parent; no limits"))
        cone = f"within a cone of {math.degrees(at.most):.6g} deg" if math.isfinite(at.most) else "no limits"
        for word, axis in zip(ROTATION, "xyz", strict=True):
            hint = f"deg, about the fixed {axis} axis of the parent; {cone}"
            label = f"{plain(at.name)} {word} [deg]"
            sliders.append(Scale(label, -turn, turn, 0.1, math.pi / 180.0, True, hint))
    return tuple(sliders)


def _within(least: float, most: float, step: float) -> tuple[float, float]:
    """Return the first and the last whole step between two ends: round numbers, and none beyond a limit."""
    digits = max(0, -math.floor(math.log10(step)))
    low, high = math.ceil(least / step - 1e-6) * step, math.floor(most / step + 1e-6) * step
    return (round(low, digits), round(high, digits)) if low <= high else (least, most)


#: Queues a request and its value; see `Inbox.put`.
Ask = Callable[[Any, Any], None]

#: Playback rates, as multiples of the motion's own.
SPEEDS = ("0.01", "0.02", "0.05", "0.1", "0.25", "0.5", "1", "2", "4", "10")

NO_TARGET = "(nothing)"

#: Width of each panel, pixels.
WIDTH = 350


class Panel:
    """All controls and texts.

    Parameters
    ----------
    server : viser.ViserServer
        Where the page is.
    tree : Mechanism
        The mechanism.
    scales : sequence of Scale
        Of the sliders (nv,).
    held : mapping
        What can be dragged: names, and the indices of links.
    ask : callable
        Called for everything that is pressed and slid, with these keys: ``("joint", k)`` a place of the slider, ``"reset"``,
        ``"target"`` the index of a link or None, ``"play"``, ``"seek"`` a time, ``"speed"``, ``"repeat"``, ``"frames"``,
        ``"names"``, ``"meshes"``.
    past : ShownMotion
        The recent interactive motion, whose curves are drawn where there is no motion to play.
    motion : ShownMotion, optional
        What can be played.
    meshes : bool
        Whether there are meshes to be switched.
    names : bool
        Whether names are shown at first.
    remarks : sequence of str
        Said at the top of the table.
    """

    def __init__(
        self,
        server: viser.ViserServer,
        tree: Tree,
        scales: Sequence[Scale],
        held: Mapping[str, int | str],
        ask: Ask,
        *,
        past: ShownMotion,
        motion: ShownMotion | None = None,
        meshes: bool = False,
        names: bool = False,
        remarks: Sequence[str] = (),
    ) -> None:
        self._gui, self._scales, self._ask, self._tree = server.gui, scales, ask, tree
        tabs = self._gui.add_tab_group()
        with tabs.add_tab("Move"):
            self._status = self._gui.add_html("")
            self._make_target(held)
            self._sliders = self._make_sliders()
        beside = self._gui.add_panel()
        if motion is not None:
            with tabs.add_tab("Motion"):
                self._make_player(motion)
        self.curves: Any
        for title in ("Table", "Curves") if motion is None else ("Curves", "Table"):
            with beside.add_tab(title):
                if title == "Table":
                    self._gui.add_html(_remarks(remarks) + table(tree))
                elif motion is None:
                    self.curves = LiveCurves(self._gui, past)
                else:
                    self.curves = PlayedCurves(self._gui, motion)
        with tabs.add_tab("View"):
            self._make_switches(meshes, names)
        self._gui.set_panel_label(plain(tree.name))
        self._gui.main_panel.dock_right()
        self._gui.main_panel.set_width(WIDTH)
        beside.dock_left()
        beside.set_width(WIDTH)

    # ── what it shows ─────────────────────────────────────────────────────────────────────────────

    def show_joints(self, joints: FloatArray) -> None:
        """Set the sliders to the values (nv,) of `SliderCoordinates`."""
        for slider, scale, value in zip(self._sliders, self._scales, joints.tolist(), strict=True):
            slider.value = scale.shown(value)

    def tell(self, text: str, *, well: bool = True) -> None:
        """Display the tool's position, or an error."""
        colour = "#2b8a3e" if well else "#c92a2a"
        style = f"padding:2px 14px;font-size:0.85em;color:{colour};white-space:pre-line"
        content = f'<div style="{style}">{html.escape(text)}</div>'
        if self._status.content != content:
            self._status.content = content

    def show_time(self, time: float, playing: bool) -> None:
        """Set the slider of time, s, and the name of the button."""
        self._time.value = min(max(time, self._time.min), self._time.max)
        label = "Pause" if playing else "Play"
        if self._button.label != label:
            self._button.label = label

    def choose(self, link: int | str) -> None:
        """Select the dragged link, or the tool."""
        self._target.value = next(name for name, index in self._held.items() if index == link)

    # ── how it is made ────────────────────────────────────────────────────────────────────────────

    def _on_update(self, handle: Any, key: Any, value: Callable[[Any], Any] = lambda setting: setting) -> None:
        """Queue a user's change; changes by the viewer itself are ignored."""

        @handle.on_update  # type: ignore[untyped-decorator]
        async def _(event: Any) -> None:
            if event.client_id is not None:
                self._ask(key, value(event.target.value))

    def _make_sliders(self) -> list[Any]:
        sliders = []
        with self._gui.add_folder("Joints"):
            for k, scale in enumerate(self._scales):
                at = scale.shown(0.0)
                slider = self._gui.add_slider(
                    scale.label, scale.least, scale.most, scale.step, initial_value=at, hint=scale.hint
                )
                self._on_update(slider, ("joint", k))
                sliders.append(slider)
            button = self._gui.add_button("Back to the start", hint="the coordinates that the viewer was opened with")
            button.on_click(lambda _: self._ask("reset", True))
        return sliders

    def _make_target(self, held: Mapping[str, int | str]) -> None:
        self._held = {NO_TARGET: None, **held}
        hint = "what follows the target in the picture; or click on a link"
        self._target: Any = self._gui.add_dropdown("Drag", tuple(self._held), initial_value=NO_TARGET, hint=hint)
        self._on_update(self._target, "target", self._held.__getitem__)

    def _make_player(self, motion: ShownMotion) -> None:
        self._button = self._gui.add_button("Play", hint="play or pause the motion")
        self._button.on_click(lambda _: self._ask("play", True))
        duration = max(motion.duration, 1e-6)
        self._time: Any = self._gui.add_slider("time [s]", 0.0, duration, duration / 1000.0, initial_value=0.0)
        self._on_update(self._time, "seek")
        speed = self._gui.add_dropdown("speed", SPEEDS, initial_value="1", hint="1 is as fast as the motion is")
        self._on_update(speed, "speed", float)
        self._on_update(self._gui.add_checkbox("repeat", True), "repeat")
        for remark in motion.remarks:
            self._gui.add_html(f'<div style="padding:2px 14px;font-size:0.85em;color:#c92a2a">{html.escape(remark)}</div>')

    def _make_switches(self, meshes: bool, names: bool) -> None:
        self._on_update(self._gui.add_checkbox("frames", True, hint="x red, y green, z blue"), "frames")
        self._on_update(self._gui.add_checkbox("names", names, hint="of links and joints"), "names")
        if meshes:
            self._on_update(self._gui.add_checkbox("meshes", True, hint="the shapes that the file describes"), "meshes")


def table(tree: Tree) -> str:
    """Return the table of a mechanism as HTML that is scrolled where it is too wide."""
    style = "font-size:0.8em;overflow-x:auto;padding:4px 14px"
    cells = ".mechanism td,.mechanism th{white-space:nowrap;padding:1px 6px}"
    return f'<style>{cells}</style><div class="mechanism" style="{style}">{table_html(tree)}</div>'


def _remarks(remarks: Sequence[str]) -> str:
    lines = "".join(f'<p style="margin:2px 0;color:#c92a2a">{html.escape(line)}</p>' for line in remarks)
    return f'<div style="font-size:0.85em;padding:4px 14px">{lines}</div>' if lines else ""
