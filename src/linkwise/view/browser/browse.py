"""Entry points of the browser view: `browse` starts the viewer, `export` writes a page that plays without a server."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from linkwise.errors import ArgumentError, members
from linkwise.solve.constraints import Clear
from linkwise.view.browser.server import LOOPBACK
from linkwise.view.scene.meshes import Visuals

if TYPE_CHECKING:
    from linkwise.clearance.shapes import Obstacles
    from linkwise.files.registry import Options
    from linkwise.model.tree import Tree
    from linkwise.view.browser.viewer import Viewer


def browse(
    mechanism: Tree | str | os.PathLike[str],
    motion: Any = None,
    *,
    q: Any = None,
    physical: bool = True,
    obstacles: Obstacles = (),
    host: str = LOOPBACK,
    port: int | None = None,
    **options: Unpack[Options],
) -> Viewer:
    """Show a mechanism in a page of the browser: sliders, a target to drag, a motion to play.

    Parameters
    ----------
    mechanism : Mechanism or path
        A mechanism, or a description file, whose meshes and shapes are shown too.
    motion : Trajectory, path or (t, q), optional
        What can be played; see `linkwise.view.motion.ShownMotion.of`.
    q : (nq,) array_like, optional
        Coordinates to begin with, rad or m; by default those of the motion, else zero or the limit next to it, loops closed.
    physical : bool
        Of a description file: whether inertias that no body can have are refused.
    obstacles : sequence of Shape, or mapping of str to Shape
        Bodies in the world; red lines join the nearest points of the three pairs of shapes that are nearest to each other.
    host : str
        Address to bind to. Anyone who reaches it can see and move the mechanism: there is no password.
    port : int, optional
        By default 8080 or the next free one; 0 takes any.
    **options
        Of a description file, as for `linkwise.files.read`; `package_dirs` is also where its meshes are looked up.

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
    from linkwise.view.browser.viewer import Viewer

    arguments = _read(mechanism, motion, physical, options)
    clear = Clear(0.0, obstacles)
    visuals = arguments.pop("visuals", Visuals())._replace(clear=clear if clear.obstacles.names else None)
    return Viewer(**arguments, visuals=visuals, q=q, host=host, port=port)


def export(
    mechanism: Tree | str | os.PathLike[str],
    motion: Any,
    path: str | os.PathLike[str],
    *,
    q: Any = None,
    physical: bool = True,
    rate: float = 30.0,
    **options: Unpack[Options],
) -> Path:
    """Write one page that plays a motion in any browser, without a network and without Python.

    Parameters
    ----------
    mechanism : Mechanism or path
        A mechanism, or a description file, whose meshes and shapes are shown too.
    motion : Trajectory, path, (t, q) or None
        What is played; None for a mechanism at rest.
    path : str or Path
        The page, written whole or not at all.
    q : (nq,) array_like, optional
        Without a motion, the position; rad or m.
    physical : bool
        Of a description file: whether inertias that no body can have are refused.
    rate : float
        Pictures a second, at most 120; fewer in a long motion of many joints, so that the page stays below about 20 MB.
    **options
        Of a description file, as for `linkwise.files.read`; `package_dirs` is also where its meshes are looked up.

    Returns
    -------
    Path
        Of the page.

    Raises
    ------
    MissingExtraError
        Where viser is not installed.
    ArgumentError
        Where motion, q or rate cannot be used.
    FileError
        Where the page cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> import linkwise as lw
    >>> moved = lw.trajectory.quintic([0.0, 0.0], [1.0, 0.5], 2.0)
    >>> page = lw.view.export(lw.robots.planar_2r(), moved, Path(tempfile.mkdtemp()) / "arm.html")
    >>> page.read_text(encoding="utf-8").startswith("<!doctype html>")
    True
    """
    from linkwise.view.browser import export as written

    written.export(**_read(mechanism, motion, physical, options), path=Path(path), q=q, rate=rate)
    return Path(path)


def _read(mechanism: Tree | str | os.PathLike[str], motion: Any, physical: bool, options: Options) -> dict[str, Any]:
    """Read a description, and the motion for it; a mechanism is returned unchanged."""
    from linkwise.model.tree import Tree

    if isinstance(mechanism, Tree):
        if options:
            raise ArgumentError(f"{members(options)} are options of reading a file, but mechanism is a Mechanism already")
        return {"mechanism": mechanism, "motion": motion}
    if not isinstance(mechanism, str | os.PathLike):
        raise ArgumentError(f"mechanism is {mechanism!r}; expected a Mechanism or the path of a description")
    from linkwise.files import read
    from linkwise.view.motion import ShownMotion

    path = Path(mechanism)
    description = read(path, physical=physical, **options)
    played = None if motion is None else ShownMotion.of(description.mechanism, motion, external=description.external)
    visuals = Visuals(tuple(description.shapes), path.resolve().parent, options.get("package_dirs", ()))
    return {"mechanism": description.mechanism, "motion": played, "visuals": visuals}
