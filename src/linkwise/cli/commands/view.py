"""Show a mechanism or a motion in the browser."""

from __future__ import annotations

import os
import socket
import warnings
from pathlib import Path
from typing import Any

import click

from linkwise.cli.command import Options, Output, argument, command, emit, mechanism, option, say
from linkwise.cli.options import Coordinates, OutputFile
from linkwise.files import Description
from linkwise.model.formatting.table import plain
from linkwise.view.browser.export import export
from linkwise.view.browser.server import is_loopback
from linkwise.view.browser.viewer import Viewer
from linkwise.view.motion import ShownMotion
from linkwise.view.scene.meshes import Visuals


@command(
    mechanism(),
    argument("motion", type=click.Path(), required=False),
    option("--q", type=Coordinates(), help="Initial coordinates, rad or m, or degrees as in 90deg."),
    option("--host", default="127.0.0.1", help="Address to listen at; 0.0.0.0 admits other machines."),
    option("--port", type=click.IntRange(0, 65535), help="Port; 0 takes any free one. Default: 8080 or the next free one."),
    option("--open", "opened", is_flag=True, help="Open the page in the browser."),
    option(
        "--export",
        "page",
        metavar="PAGE.html",
        type=OutputFile("a page", ["html", "htm"]),
        help="Write one file that plays the motion in any browser, without a network; serve nothing.",
    ),
)
def view(description: Description, options: Options) -> Output | None:
    """Show a MECHANISM in the browser, and play a MOTION.

    The page has a slider for each joint, a target that a link follows when it is dragged, also through closed loops,
    the mechanism's table, and switches for frames, names and meshes. A MOTION, as `linkwise run` takes it, is played at any
    speed beside curves of position, velocity and effort. The page is for this machine alone unless --host says otherwise;
    pages of other origins are refused. Ctrl-C ends it.

    \b
    Examples:
      linkwise view puma560
      linkwise view four_bar
      linkwise view my_robot.urdf --q 0,45deg,-90deg,0,0,0
      linkwise view puma560 motion.csv --export puma560.html
    """  # noqa: D301  (\b keeps click from filling the lines)
    model, page = description.mechanism, options.page
    if options.q is not None and options.motion is not None:
        raise click.UsageError("--q and a MOTION both define the start; give one of them")
    motion = None
    if options.motion is not None:
        motion = ShownMotion.of(model, options.motion, external=description.external)
    source = Path(options.mechanism)
    folder = source.resolve().parent if os.path.isfile(source) else None
    shown: dict[str, Any] = {
        "q": options.q,
        "visuals": Visuals(description.shapes, folder, options.reading.package_dir),
    }
    if page is None:
        _serve(description, motion, options, shown)
        return None
    remarks = export(model, motion, page, **shown).remarks
    size = page.stat().st_size
    _remark(remarks, options)
    data = {"mechanism": model.name, "page": page, "bytes": size, "remarks": remarks}
    return Output(data, [f"page: {plain(page)} ({size / 1e6:.1f} MB)"])


def _serve(description: Description, motion: ShownMotion | None, options: Options, shown: dict[str, Any]) -> None:
    """Keep the page up until it is stopped."""
    model = description.mechanism
    # (viser's remark on pages that are closed in the middle of an update)
    warnings.filterwarnings("ignore", "Queued a .* on a closed connection", UserWarning)
    with Viewer(model, motion, host=options.host, port=options.port, **shown) as viewer:
        data = {"mechanism": model.name, "url": viewer.url, "remarks": viewer.remarks}
        line = f"{plain(model.name)} is at {viewer.url}  (Ctrl-C ends it)"
        emit(Output(data, [line], line=True), as_json=options.as_json)
        _remark(viewer.remarks, options)
        if not is_loopback(options.host):
            other = viewer.url.replace("//localhost:", f"//{socket.gethostname()}:")
            say(f"remark: others on the network can see and move it, at {other}; there is no password", err=True)
        if options.opened:
            click.launch(viewer.url)
        try:
            viewer.wait()
        except KeyboardInterrupt:
            click.echo("\nended", err=True)


def _remark(remarks: Any, options: Options) -> None:
    """Print remarks beside the results; JSON has them."""
    for line in remarks if not options.as_json else ():
        say(f"remark: {plain(line)}", err=True)
