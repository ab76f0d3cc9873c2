"""Controls of one visitor of the live view: state of the chain, curves of its ports, login, and draggable targets."""

from __future__ import annotations

import html
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from linkwise.control.port import Port
from linkwise.plot.figure import shortened
from linkwise.server.authentication import User
from linkwise.spatial.quaternion import rotation_quaternion
from linkwise.spatial.scalar import FloatArray
from linkwise.view.browser.curves import MOST_CURVES, CurveGroup, add_plot
from linkwise.view.browser.motion_buffer import SECONDS
from linkwise.view.browser.viewer import pose_of
from linkwise.view.live.settings import LiveSettings, Target
from linkwise.view.live.state import LiveState, Past
from linkwise.view.scene.obstacles import NearestPoints

if TYPE_CHECKING:
    import viser

#: Checks a name and a password.
LogIn: TypeAlias = Callable[[str, str], Awaitable[User | None]]

#: Takes the page, the target and the pose (4, 4) that it was dragged to.
Drag: TypeAlias = Callable[["Page", Target, FloatArray], object]

NONE = "(none)"

#: Decimals beyond which values are noise; and the powers of ten that enlarge smaller values.
NOISE, ENLARGED = 9, {6: 4e-6, 3: 4e-3}

#: Hides the text in the field before it: viser has no password field.
DOTS = "<style>div:has(+ div .hides) input{-webkit-text-security:disc}</style><span class='hides'></span>"


class LivePlot(NamedTuple):
    """Curves of one unit: indices of their values, title, unit, and the plot."""

    places: FloatArray
    title: str
    unit: str
    plot: Any


class Page:
    """Controls of one visitor, invisible and inaccessible to others.

    Parameters
    ----------
    client : viser.ClientHandle
        The visitor.
    settings : LiveSettings
        Settings of the chain.
    state : LiveState
        Its newest values.
    past : Past
        Its last ones.
    log_in : callable
        See `LogIn`; None where nobody may write.
    drag : callable
        See `Drag`; called for operators alone.
    size : float
        Size of the mechanism, m.

    Attributes
    ----------
    user : User or None
        Who has logged in.
    """

    def __init__(
        self,
        client: viser.ClientHandle,
        settings: LiveSettings,
        state: LiveState,
        past: Past,
        log_in: LogIn | None,
        drag: Drag,
        size: float,
    ) -> None:
        self._client, self._settings, self._state, self._past = client, settings, state, past
        self._log_in, self._drag, self._size = log_in, drag, size
        self.user: User | None = None
        self._controls: dict[Target, Any] = {}
        self._dragged: set[Target] = set()
        self._plots: list[LivePlot] = []
        tabs = client.gui.add_tab_group()
        with tabs.add_tab("Chain"):
            self._status = client.gui.add_html("")
            self._door = client.gui.add_folder("Log-in")
            self._make_door()
        with tabs.add_tab("Curves"):
            self._make_curves()

    # ── who it is ─────────────────────────────────────────────────────────────────────────────────

    def _make_door(self) -> None:
        gui = self._client.gui
        self._door.remove()
        self._door = gui.add_folder("Log-in" if self.user is None else f"Logged in as {self.user.name}")
        with self._door:
            if self.user is not None:
                rights = "drag a target to move it" if self.operator else "may watch, not write"
                gui.add_html(f"<div style='padding:2px 14px'>{html.escape(self.user.role)}: {rights}</div>")
                gui.add_button("Log out").on_click(self._on_log_out)
            elif self._log_in is None:
                gui.add_html("<div style='padding:2px 14px'>Nobody may write: there are no users</div>")
            else:
                self._name, self._password = gui.add_text("User", ""), gui.add_text("Password", "")
                gui.add_html(DOTS)
                gui.add_button("Log in").on_click(self._on_log_in)

    @property
    def operator(self) -> bool:
        """True if this visitor may write."""
        return self.user is not None and self.user.role == "operator"

    async def _on_log_in(self, _: Any) -> None:
        name, password = self._name.value, self._password.value
        self._password.value = ""  # type: ignore[misc]  # (viser's handle sets it)
        user = None if self._log_in is None else await self._log_in(name, password)
        if user is None:
            self.tell("Log-in refused", "The name or the password is wrong, or too many were tried lately.")
            return
        self.user = user
        self._make_door()
        for target in self._settings.targets if self.operator else ():
            if target.movable:
                self._add_control(target)

    async def _on_log_out(self, _: Any) -> None:
        self.user = None
        for control in self._controls.values():
            control.remove()
        self._controls.clear()
        self._dragged.clear()
        self._make_door()

    # ── targets ───────────────────────────────────────────────────────────────────────────────────

    def _add_control(self, target: Target) -> None:
        control = self._client.scene.add_transform_controls(
            f"/move/{target.name}",
            scale=0.2 * self._size,
            disable_axes=not target.position,
            disable_sliders=not target.position,
            disable_rotations=not target.angles,
            depth_test=False,
        )
        self._controls[target] = control
        self._place(target)

        @control.on_update
        async def _(event: Any) -> None:
            pose = pose_of(event.target)
            if pose is None or not self.operator or target not in self._controls:
                return
            if event.phase == "end":
                self._dragged.discard(target)
            else:
                self._dragged.add(target)
            if event.phase == "update":
                self._drag(self, target, pose)

    def _place(self, target: Target) -> None:
        pose, control = self._state.target(target), self._controls[target]
        control.position, control.wxyz = pose[:3, 3], rotation_quaternion(pose[:3, :3])

    # ── what is shown ─────────────────────────────────────────────────────────────────────────────

    def follow(self) -> None:
        """Put the targets that are not being dragged to where they are."""
        for target in tuple(self._controls):
            if target not in self._dragged:
                self._place(target)

    def show(self, status: str) -> None:
        """Display the state of the chain, a piece of HTML, and the curves up to now."""
        if self._status.content != status:
            self._status.content = status
        for shown in self._plots:
            data, title = self._data(shown.places, shown.title, shown.unit)
            shown.plot.data = data
            if shown.plot.title != title:
                shown.plot.title = title

    def tell(self, title: str, text: str) -> None:
        """Show a notice for a few seconds."""
        self._client.add_notification(title, text, auto_close_seconds=6.0, color="red")

    def _data(self, places: FloatArray, title: str, unit: str) -> tuple[tuple[FloatArray, ...], str]:
        """Data and title of a plot; small values are enlarged, because the page writes three decimals at its axes."""
        t, columns = self._past.series(places)
        t, columns = t - (t[-1] if len(t) else 0.0), np.round(columns, NOISE)
        greatest = np.abs(columns[t >= -SECONDS]).max(initial=0.0)
        power = next((k for k, least in ENLARGED.items() if 0.0 < greatest < least), 0)
        words = f"10^-{power} {unit}".strip() if power else unit
        return (t, *np.ascontiguousarray(columns.T * 10.0**power)), f"{title} [{words}]"

    def _make_curves(self) -> None:
        gui, ports = self._client.gui, self._state.ports
        names = [name for name, port in ports.items() if port.kind != "choice"]
        choice = gui.add_dropdown("Port", (NONE, *names), initial_value=NONE)
        for title, group in (("Solved", self._settings.solved), ("Speed", tuple(s for _, s, _ in self._settings.joints))):
            for unit in dict.fromkeys(ports[name].unit for name in group):
                self._plots.append(self._plot(title, [ports[name] for name in group if ports[name].unit == unit]))
        usual = len(self._plots)

        @choice.on_update
        async def _(_: Any) -> None:
            for shown in self._plots[usual:]:
                shown.plot.remove()
            chosen = [] if choice.value == NONE else [self._plot(choice.value, [ports[choice.value]])]
            self._plots = [*self._plots[:usual], *chosen]

    def _plot(self, title: str, ports: list[Port]) -> LivePlot:
        named = [(name, place) for port in ports for name, place in _elements(self._state, port)]
        shown = named[:MOST_CURVES]
        places, unit = np.array([place for _, place in shown]), ports[0].unit
        (t, *columns), _ = self._data(places, title, unit)
        names = tuple(shortened(name) for name, _ in shown)
        group = CurveGroup("live", unit, t, np.stack(columns, axis=-1), names, len(named) - len(shown))
        return LivePlot(places, title, unit, add_plot(self._client.gui, title, group, t, None))


def _elements(state: LiveState, port: Port) -> list[tuple[str, int]]:
    """Names of a port's numbers, with their indices among all values."""
    begin, label = state.ports.slice_of(port.name).start, port.name.partition(".")[0]
    if not port.shape:
        return [(label, begin)]
    axes = "xyz" if port.shape == (3,) else [str(k) for k in range(port.size)]
    return [(f"{label} {axes[k]}", begin + k) for k in range(port.size)]


def status_html(state: LiveState, name: str, rate: float, old: float | None, nearest: NearestPoints | None = None) -> str:
    """State of a chain: cycles per second, whether it is solved, active limits.

    Parameters
    ----------
    state : LiveState
        Of the chain.
    name : str
        Name of the chain.
    rate : float
        Cycles a second.
    old : float or None
        For how many seconds there was no cycle, where that is too long.
    nearest : NearestPoints, optional
        Where shapes are nearest to each other or to obstacles.
    """
    read = state.ports.read
    lines = [f"<b>{html.escape(name)}</b>, cycle {read('chain.cycle'):,}, {rate:.0f} a second"]
    if old is not None:
        lines.append(_red(f"no cycle for {old:.1f} s: nothing can be written"))
    if read("chain.unsolved"):
        errors = f"{read('chain.distance'):.2g} m, {read('chain.angle'):.2g} rad"
        lines.append(_red(f"unsolved: {read('chain.reason')} ({errors})"))
    limited, near = read("chain.limited"), state.held_back()
    if not read("chain.unsolved"):
        lines.append("solved: limits hold it back from there" if limited else "solved: all constraints hold")
    if not near:  # (which limits the chain too)
        lines.append("limits of speed or acceleration bind" if limited else "no limit of speed or acceleration binds")
    if limited and not read("chain.kept"):
        lines.append(_red("a limit could not be kept"))
    if nearest is not None and nearest.pairs:
        text = f"{' and '.join(nearest.pairs[0])} {nearest.distances[0]:.4g} m apart"
        lines.append(_red(f"{text}: held back before contact") if near else html.escape(text))
    lines += [_red(f"{link}: at a limit of its joint") for link in state.at_limits()]
    lines += [html.escape(f"{which}: at its greatest speed, {speed:.4g} {unit}") for which, speed, unit in state.at_speeds()]
    return "<div style='padding:4px 14px;font-size:0.9em;line-height:1.5'>" + "<br>".join(lines) + "</div>"


def _red(text: str) -> str:
    return f"<span style='color:#d62728'>{html.escape(text)}</span>"
