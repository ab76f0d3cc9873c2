"""The live view as seen from the control process."""

from __future__ import annotations

from pathlib import Path

from linkwise.control.chain import Chain
from linkwise.errors import MissingExtraError, install_hint
from linkwise.server.service import Service
from linkwise.view.browser.server import LOOPBACK
from linkwise.view.live.settings import LiveSettings, live_settings

#: Default port of the page.
PORT = 8080

#: Pictures per second.
RATE = 30.0


class LiveView(Service):
    """A browser page of a running chain, served by a separate process for which the cycle never waits.

    The page is served to this machine alone (127.0.0.1). Everybody there may watch; targets can be dragged after a log-in by
    a user who may write. Call `take` before each cycle and `publish` after it, beside those of a `Server`.

    Parameters
    ----------
    chain : Chain
        What is shown.
    port : int
        0 lets the system choose; `address` has it.
    users : path, optional
        File of those who may drag targets. Without it nobody may.
    audit : path, optional
        File to which every write is appended, see `linkwise.server.AuditLog`; it may be that of a `Server`.
    publish : float
        How often a second the picture is renewed.
    stale : float
        After so many seconds without a cycle the page says so, and nothing can be written.
    connections : int
        The most pages at a time.

    Attributes
    ----------
    address : str
        Address of the page.

    Raises
    ------
    MissingExtraError
        Where viser is not installed.
    ArgumentError, FileError
        Where an argument or a file cannot be used.
    ServerError
        Where it did not begin, such as at a port that is taken.

    Examples
    --------
    >>> from linkwise import control, robots
    >>> from linkwise.server import run
    >>> arm = control.Chain(robots.puma560(), control.MovingPosition("target", "tool", [0.5, 0.2, 0.3]))
    >>> with LiveView(arm, port=0) as view:  # doctest: +SKIP
    ...     timing = run(arm, 0.01, before=view.take, after=view.publish)
    """

    serve = "linkwise.view.live.serve:serve"
    settings_type = LiveSettings

    def __init__(
        self,
        chain: Chain,
        *,
        port: int = PORT,
        users: str | Path | None = None,
        audit: str | Path | None = None,
        publish: float = RATE,
        stale: float = 1.0,
        connections: int = 16,
    ) -> None:
        import importlib.util

        if importlib.util.find_spec("viser") is None:
            raise MissingExtraError(f"the live view needs viser: {install_hint('view')}")
        super().__init__(
            chain.ports, chain=None, host=LOOPBACK, port=port, users=users, audit=audit, name=chain.name, publish=publish,
            stale=stale, connections=connections, settings=lambda: live_settings(chain),
        )  # fmt: skip
        self.address = f"http://{self.authority}"
