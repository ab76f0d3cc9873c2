"""Opening the viewer from Python: one call, which does not block."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from linkwise.errors import ArgumentError
from linkwise.view.browser.server import LOOPBACK

if TYPE_CHECKING:
    from linkwise.mechanism import Mechanism
    from linkwise.view.browser.viewer import Viewer


def browse(
    mechanism: Mechanism | str | os.PathLike[str],
    motion: Any = None,
    *,
    q: Any = None,
    host: str = LOOPBACK,
    port: int | None = None,
) -> Viewer:
    """Show a mechanism in a page of the browser: sliders, a target to drag, a motion to play.

    Parameters
    ----------
    mechanism : Mechanism or path
        A mechanism, or a description file, whose meshes and shapes are shown too.
    motion : Trajectory, path or (t, q), optional
        What can be played; see `linkwise.view.motions.motion.Motion.of`.
    q : (nq,) array_like, optional
        Coordinates to begin with, rad or m; by default those of the motion, else a posture with closed loops.
    host : str
        Address to bind to. Anyone who reaches it can see and move the mechanism: there is no password.
    port : int, optional
        By default 8080 or the next free one; 0 takes any.

    Returns
    -------
    Viewer
        Its `url` is the address of the page, `show(q)` moves the mechanism, `close()` ends it, `wait()` waits for that. It
        is a context manager, too.

    Raises
    ------
    MissingExtraError
        Where viser is not installed.
    ArgumentError
        Where q or the motion do not fit the mechanism, or the port cannot be used.

    Examples
    --------
    >>> import linkwise as lw
    >>> with lw.view.browse(lw.robots.planar_2r(), port=0) as viewer:
    ...     viewer.show([0.5, -1.0])
    ...     print(viewer.url.startswith("http://127.0.0.1:"))
    True
    """
    from linkwise.model.tree import Tree
    from linkwise.view.browser.viewer import Viewer

    if isinstance(mechanism, Tree):
        return Viewer(mechanism, motion, q=q, host=host, port=port)
    if not isinstance(mechanism, str | os.PathLike):
        raise ArgumentError(f"mechanism is {mechanism!r}; expected a Mechanism or the path of a description")
    from linkwise.files import read
    from linkwise.view.motions.motion import Motion

    path = Path(mechanism)
    found = read(path)
    played = None if motion is None else Motion.of(found.mechanism, motion, external=found.external)
    return Viewer(found.mechanism, played, q=q, shapes=found.shapes, folder=path.resolve().parent, host=host, port=port)
