"""``linkwise view``: a mechanism in a page of the browser, to be moved, dragged and played."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from linkwise.cli.as_json import json_option, print_json
from linkwise.cli.mechanism import mechanism_argument
from linkwise.cli.reading import description, reading_options, spoken
from linkwise.cli.words import remark

if TYPE_CHECKING:
    from linkwise.files import Description
    from linkwise.view.motions.motion import Motion


@click.command(short_help="In the browser: sliders, a target to drag, motions played.")
@mechanism_argument()
@click.argument("motion", type=click.Path(), required=False)
@click.option("--q", "q", metavar="Q1,Q2,...", help="Coordinates to begin with, rad or m, or degrees as in 90deg.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to bind to; 0.0.0.0 lets others look too.")
@click.option("--port", type=click.IntRange(0, 65535), help="Port; 0 takes any. Default: 8080 or the next free one.")
@click.option("--open", "opened", is_flag=True, help="Open the page in the browser, too.")
@click.option(
    "--export",
    "exported",
    metavar="PAGE.html",
    type=click.Path(dir_okay=False),
    help="Write one file that plays the motion in any browser, without a network, and serve nothing.",
)
@json_option
@reading_options
def view(
    mechanism: str,
    motion: str | None,
    q: str | None,
    host: str,
    port: int | None,
    opened: bool,
    exported: str | None,
    as_json: bool,
) -> None:
    """Show a MECHANISM in a page of the browser, and play a MOTION if there is one.

    The page has a slider for every joint, a target that any link follows when it is dragged, also through closed loops,
    the mechanism's table, and switches for frames, names and meshes. A MOTION, as `linkwise run` takes it, is played at any
    speed beside curves of position, speed and effort. The page is for this machine alone unless --host says otherwise;
    pages of other origins are refused. Ctrl-C ends it.

    \b
    Examples:
      linkwise view puma560
      linkwise view four_bar
      linkwise view my_robot.urdf --q 0,45deg,-90deg,0,0,0
      linkwise view puma560 motion.csv --export puma560.html
    """  # noqa: D301  (\b keeps click from filling the lines)
    from linkwise.cli import state
    from linkwise.view.motions.motion import Motion

    found = description(mechanism)
    values = state.coordinates(q, found.mechanism)
    if values is not None and motion is not None:
        raise click.UsageError("--q and a MOTION both say where to begin; give one of them")
    played = None if motion is None else Motion.of(found.mechanism, motion, external=found.external)
    is_file = os.path.isfile(Path(mechanism))
    folder = Path(mechanism).resolve().parent if is_file else None
    if exported is not None:
        _export(found, played, values, Path(exported), folder, as_json=as_json)
    else:
        _serve(found, played, values, folder, host, port, opened=opened, as_json=as_json)


def _serve(
    found: Description,
    motion: Motion | None,
    q: list[float] | None,
    folder: Path | None,
    host: str,
    port: int | None,
    *,
    opened: bool,
    as_json: bool,
) -> None:
    """Keep the page up until it is stopped."""
    import socket

    from linkwise.model.table import plain
    from linkwise.view.browser.server import is_loopback
    from linkwise.view.browser.viewer import Viewer

    with Viewer(
        found.mechanism,
        motion,
        q=q,
        shapes=found.shapes,
        folder=folder,
        package_dirs=spoken().package_dirs,
        host=host,
        port=port,
    ) as viewer:
        if as_json:
            click.echo(json.dumps({"mechanism": found.mechanism.name, "url": viewer.url, "remarks": viewer.remarks}))
        else:
            click.echo(f"{plain(found.mechanism.name)} is at {viewer.url}  (Ctrl-C ends it)")
        for line in viewer.remarks if not as_json else ():
            remark(plain(line), err=True)
        if not is_loopback(host):
            other = viewer.url.replace("//localhost:", f"//{socket.gethostname()}:")
            remark(f"others on the network can see and move it, at {other}; there is no password", err=True)
        if opened:
            click.launch(viewer.url)
        try:
            viewer.wait()
        except KeyboardInterrupt:
            click.echo("\nended", err=True)


def _export(
    found: Description, motion: Motion | None, q: list[float] | None, path: Path, folder: Path | None, *, as_json: bool
) -> None:
    """Write the page."""
    from linkwise.model.table import plain
    from linkwise.view.browser.export import export

    if path.suffix.lower() not in {".html", ".htm"}:
        raise click.BadParameter(f"a page ends in .html, not {path.suffix!r}", param_hint="--export")
    made = export(found.mechanism, motion, path, q=q, shapes=found.shapes, folder=folder, package_dirs=spoken().package_dirs)
    if as_json:
        print_json({"mechanism": found.mechanism.name, "page": path, "bytes": path.stat().st_size, "remarks": made.remarks})
    else:
        for line in made.remarks:
            remark(plain(line), err=True)
        click.echo(f"page: {plain(str(path))} ({path.stat().st_size / 1e6:.1f} MB)")
