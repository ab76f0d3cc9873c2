"""The process of the live view: draws the newest values, and forwards dragged targets to the cycle."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from linkwise.control.constraints import rotation_angles
from linkwise.control.ports import Ports
from linkwise.errors import LinkwiseError
from linkwise.server import shared_memory as memory
from linkwise.server.audit import AuditLog
from linkwise.server.authentication import Doorkeeper, User
from linkwise.server.log import LimitedLog, Relay
from linkwise.server.shared_memory import Outcome, Sender, SharedMemory, Snapshots
from linkwise.server.writes import Author, ClientWrites, Write
from linkwise.spatial.quaternion import rotation_quaternion
from linkwise.spatial.scalar import FloatArray
from linkwise.view.browser.painter import BrowserPainter, keep_fitted
from linkwise.view.browser.server import LOOPBACK, make_server, stop
from linkwise.view.browser.viewer import Inbox
from linkwise.view.live.page import Page, status_html
from linkwise.view.live.settings import LiveSettings, Target
from linkwise.view.live.state import LiveState, Past
from linkwise.view.scene.layout import lay_out
from linkwise.view.scene.meshes import Visuals

#: Seconds between two updates of status and curves.
CURVES = 0.2

#: Radius of a target, as a part of the mechanism's size; its colours: reached, and not.
RADIUS, GREEN, RED = 0.02, (44, 160, 44), (214, 39, 40)

#: An angle, rad, and a distance, m, from which on a target counts as moved.
STILL = 1e-6


async def serve(settings: LiveSettings, tell: Callable[[dict[str, object]], None], gone: asyncio.Event) -> None:
    """Serve until `gone`; `tell` gets the port first, then the lines of the log."""
    log = LimitedLog(Relay(lambda level, text: tell({"level": level, "log": text})))
    server = make_server(LOOPBACK, settings.port, label=settings.name, most=settings.connections)
    try:
        live = Live(settings, server, log)
        tell({"port": server.get_port()})
        while not gone.is_set():
            begun = time.monotonic()
            await live.look()
            if os.name == "posix" and os.getppid() != settings.parent:
                return
            left = 1 / settings.publish - (time.monotonic() - begun)
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(gone.wait(), max(left, 1e-3))
        await live.finish()
    finally:
        stop(server)


class Live:
    """A chain in a viser scene, and the pages of its visitors.

    Parameters
    ----------
    settings : LiveSettings
        Settings of the chain.
    server : viser.ViserServer
        Where it is shown.
    log : LimitedLog
        Where log-ins and refusals go.
    """

    def __init__(self, settings: LiveSettings, server: Any, log: LimitedLog) -> None:
        self._settings, self._server, self._log = settings, server, log
        shared = SharedMemory(settings.layout, settings.handle)
        self._words = shared.words
        self._words[memory.HEARTBEAT] = time.monotonic_ns()
        ports = Ports(settings.ports)
        self._ports, self._snapshots = ports, Snapshots(shared, ports.values)
        self._snapshots.read()
        audit = AuditLog(settings.audit) if settings.audit else None
        self._writes = ClientWrites(ports, Sender(shared), settings.stale, audit, self._failed)
        self._keeper, self._alone = Doorkeeper(settings.users), threading.Lock()
        self.state, self._past = LiveState(settings, ports), Past(len(ports.values), settings.publish)
        self._past.add(time.monotonic(), ports.values)
        self._pages: dict[int, Page] = {}
        self._inbox, self._sending = Inbox(), asyncio.create_task(asyncio.sleep(0))
        self._since = self._drawn = time.monotonic()
        self._cycles = (self._since, float(ports.read("chain.cycle")))
        self._size = lay_out(settings.mechanism, self.state.q).extent
        visuals = Visuals(clear=None if settings.keeping is None else settings.keeping.clear)
        self._painter = BrowserPainter(server, settings.mechanism, visuals, q=self.state.q)
        self._links = {name: k for k, name in enumerate(settings.mechanism.link_names)}
        keep_fitted(server)
        self._marks = {target: self._mark(target) for target in settings.targets}
        server.on_client_connect(self._come)
        server.on_client_disconnect(self._leave)

    @property
    def stale(self) -> bool:
        """True if there was no cycle for too long."""
        return time.monotonic() - self._since > self._settings.stale

    async def look(self) -> None:
        """Draw the newest values, and forward dragged targets."""
        now = time.monotonic()
        if self._snapshots.read():
            self._since = now
            self._past.add(now, self._ports.values)
            self._draw()
        if now - self._drawn >= CURVES:
            self._drawn = now
            self._say(now)
        if self._sending.done():
            self._sending = asyncio.create_task(self._send())
        self._words[memory.HEARTBEAT] = time.monotonic_ns()
        pages = tuple(self._pages.values())
        self._words[memory.CONNECTIONS] = len(pages)
        self._words[memory.SESSIONS] = sum(page.user is not None for page in pages)
        self._log.flush()

    # ── the picture ───────────────────────────────────────────────────────────────────────────────

    def _draw(self) -> None:
        state = self.state
        self._painter.show(state.q, state.start)
        with self._server.atomic():
            self._painter.mark({self._links[link] for link in state.at_limits() if link in self._links})
            for target, (frame, ball) in self._marks.items():
                pose = state.target(target)
                frame.position, frame.wxyz = pose[:3, 3], rotation_quaternion(pose[:3, :3])
                colour = GREEN if state.reached(target) else RED
                if ball.color != colour:
                    ball.color = colour
        for page in tuple(self._pages.values()):
            page.follow()

    def _mark(self, target: Target) -> tuple[Any, Any]:
        scene, radius = self._server.scene, RADIUS * self._size
        frame = scene.add_frame(
            f"/targets/{target.name}", show_axes=target.angles, axes_length=5 * radius, axes_radius=radius / 6
        )
        ball = scene.add_icosphere(f"/targets/{target.name}/ball", radius=radius, color=GREEN, opacity=0.6)
        scene.add_label(f"/targets/{target.name}/name", target.name)
        return frame, ball

    def _say(self, now: float) -> None:
        before, count = self._cycles
        cycle = float(self._ports.read("chain.cycle"))
        if now - before >= 1.0:
            self._rate, self._cycles = (cycle - count) / (now - before), (now, cycle)
        old = now - self._since if self.stale else None
        status = status_html(self.state, self._settings.name, max(self._rate, 0.0), old, self._painter.nearest)
        for page in tuple(self._pages.values()):
            page.show(status)

    _rate = 0.0

    # ── those who come ────────────────────────────────────────────────────────────────────────────

    async def _come(self, client: Any) -> None:
        self._log("connection", f"page {client.client_id} opened")
        log_in = self._admit if self._settings.users else None
        self._pages[client.client_id] = Page(
            client, self._settings, self.state, self._past, log_in, self._dragged, self._size
        )

    async def _leave(self, client: Any) -> None:
        self._log("connection", f"page {client.client_id} closed")
        self._pages.pop(client.client_id, None)

    async def _admit(self, name: str, password: str) -> User | None:
        def check() -> User | None:
            with self._alone:
                return self._keeper.admit(name, password, LOOPBACK)

        user = await asyncio.to_thread(check)  # (it takes 40 ms, in which others are answered)
        if user is None:
            self._log("refused", f"log-in of {name[:64]!r} at the page refused", logging.WARNING)
        else:
            self._log("login", f"log-in of {user.name!r} ({user.role}) at the page accepted")
        return user

    def _failed(self, why: str) -> None:
        self._log("audit", why, logging.ERROR)

    # ── what they write ───────────────────────────────────────────────────────────────────────────

    def _dragged(self, page: Page, target: Target, pose: FloatArray) -> None:
        self._inbox.put((page, target), pose)

    async def finish(self) -> None:
        """Wait until all forwarded writes are recorded."""
        await self._writes.finish()

    async def _send(self) -> None:
        """Pass on the newest pose of each target that was dragged."""
        for (page, target), pose in self._inbox.take(0.0).items():
            user = page.user
            if user is None or not page.operator:
                continue
            if self.stale:
                page.tell("Not written", "No cycle is being run.")
                continue
            try:
                writes = self._targets(target, pose)
            except LinkwiseError as error:
                page.tell("Not written", str(error))
                continue
            outcomes = await self._writes.send(writes, Author(user.name, LOOPBACK, "view"))
            wrong = {"not passed on" if outcome is None else outcome.name for outcome in outcomes} - {Outcome.accepted.name}
            if wrong:
                page.tell("Not written", f"{target.name}: {', '.join(sorted(wrong))}")

    def _targets(self, target: Target, pose: FloatArray) -> list[Write]:
        """Writes that move a target to a pose; none for unchanged parts."""
        now, writes = self.state.target(target), []
        if target.position and np.abs(pose[:3, 3] - now[:3, 3]).max() > STILL:
            writes.append((f"{target.name}.position", pose[:3, 3]))
        if target.angles and np.abs(pose[:3, :3] - now[:3, :3]).max() > STILL:
            writes.append((f"{target.name}.angles", rotation_angles(pose[:3, :3], self._settings.angles)))
        return [Write(name, self._ports[name].check(value)) for name, value in writes]
