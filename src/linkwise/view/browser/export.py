"""Export of one HTML file with the mechanism in 3-D, its motion, table and curves, which plays without a network."""

from __future__ import annotations

import html
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError
from linkwise.files.atomic import write_text
from linkwise.model.formatting.mechanism_tables import html as table_html
from linkwise.model.formatting.table import number, plain
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import number_within
from linkwise.view.browser.curves import TITLES, groups, svg_plot
from linkwise.view.browser.painter import BrowserPainter, Track
from linkwise.view.browser.server import make_server, stop
from linkwise.view.motion import ShownMotion, motion_of
from linkwise.view.scene.layout import coordinates
from linkwise.view.scene.meshes import NO_VISUALS, Visuals

#: Greatest number of points of one curve.
MOST_POINTS = 400

#: Fewest and most frames per second.
SLOWEST, FASTEST = math.ulp(0.0), 120.0

#: Placements in one recording, about 14 MB in the page: a longer motion is recorded with fewer frames per second.
MOST_MESSAGES = 600_000

#: Begins a row of numbers that nothing else in a message is.
MARK = 1.2345e300

#: Permissions of the page: the browser itself refuses to fetch anything from elsewhere.
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval' blob:; style-src 'unsafe-inline'; "
    "img-src data: blob:; font-src data:; connect-src data: blob:; worker-src blob:; form-action 'none'; base-uri 'none'"
)


@dataclass(frozen=True)
class PageRecording:
    """A page of viser's with a motion in it.

    Attributes
    ----------
    page : str
        HTML that fetches nothing.
    frames : int
        Number of frames.
    rate : float
        Frames per second; 0 for a mechanism at rest.
    remarks : tuple of str
        What of the mechanism's shapes could not be shown, and why.
    """

    page: str = field(repr=False)
    frames: int
    rate: float
    remarks: tuple[str, ...]


def export(
    mechanism: Tree,
    motion: Any,
    path: str | Path,
    *,
    q: npt.ArrayLike | None = None,
    visuals: Visuals = NO_VISUALS,
    rate: float = 30.0,
) -> PageRecording:
    """Write a page that shows a mechanism and plays its motion, without a server and without a network.

    Parameters
    ----------
    mechanism : Mechanism
        What is shown.
    motion : ShownMotion, Trajectory, path, (t, q) or None
        What is played, see `linkwise.view.motion.ShownMotion.of`; None for a mechanism at rest.
    path : str or Path
        The file, written whole or not at all.
    q : (nq,) array_like, optional
        Without a motion, the position.
    visuals : Visuals
        What the links look like, from the description file.
    rate : float
        Pictures a second, at most 120. A long motion of many joints is recorded with fewer, so that the page stays below
        about 20 MB.

    Returns
    -------
    Recording
        How many pictures it has, how many a second, and what of the shapes could not be shown.

    Raises
    ------
    MissingExtraError
        Where viser is not installed.
    ArgumentError
        Where motion, q or rate cannot be used.
    FileError
        Where the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from linkwise import robots, trajectory
    >>> arm = robots.planar_2r()
    >>> page = Path(tempfile.mkdtemp()) / "arm.html"
    >>> export(arm, trajectory.quintic([0.0, 0.0], [1.0, 0.5], 2.0), page).frames
    61
    """
    number_within("rate", rate, SLOWEST, FASTEST, f"frames per second, above 0 and at most {FASTEST:g}")
    if motion is not None and q is not None:
        raise ArgumentError("motion and q both say where the mechanism is; give one of them")
    moved = None if motion is None else motion_of(mechanism, motion)
    recording = record(mechanism, moved, None if q is None else coordinates(mechanism, q), visuals, float(rate))
    write_text(path, _page(mechanism, moved, recording))
    return recording


# ── the page ──────────────────────────────────────────────────────────────────────────────────────


STYLE = """
#linkwise{position:fixed;top:0;right:0;z-index:10000;overflow:auto;
box-sizing:border-box;max-height:calc(100vh - 5.5em);max-width:min(46em,92vw);
margin:.6em;padding:.5em .8em;background:rgba(255,255,255,.93);color:#222;border:1px solid #ddd;border-radius:6px;
font:13px/1.4 system-ui,-apple-system,"Segoe UI",Roboto,Arial,sans-serif}
#linkwise h1{font-size:15px;margin:0}
#linkwise p{margin:.2em 0;color:#555}
#linkwise summary{cursor:pointer;font-weight:600;margin-top:.3em}
#linkwise .wide{overflow-x:auto}
#linkwise table{border-collapse:collapse;font-variant-numeric:tabular-nums;margin:.3em 0;white-space:nowrap}
#linkwise td,#linkwise th{padding:.1em .6em;border-bottom:1px solid #eee}
#linkwise figure{margin:.6em 0}
#linkwise figcaption{font-weight:600}
#linkwise figure>svg{width:100%;min-width:22em;display:block;font-size:10px}
#linkwise .grid{stroke:#e4e4e4}
#linkwise .curve{fill:none;stroke-width:1.6;stroke-linejoin:round}
#linkwise .keys span{display:inline-block;margin-right:1em;white-space:nowrap}
#linkwise .key{width:22px;height:8px;margin-right:.3em}
@media print{#linkwise{position:static}}
"""


def _page(mechanism: Tree, motion: ShownMotion | None, recording: PageRecording) -> Iterator[str]:
    """Yield viser's page with an added policy, title and panel."""
    title = html.escape(plain(mechanism.name))
    page = recording.page
    head, body = page.index("<head>") + len("<head>"), page.rindex("<body>") + len("<body>")
    start = page.index("<script", head)
    before = page[head:start].replace("<title>Viser</title>", f"<title>{title}</title>").replace("Viser client", title)
    yield page[:head]
    yield f'<meta http-equiv="Content-Security-Policy" content="{POLICY}"><meta name="generator" content="Linkwise">'
    yield before
    yield f"<style>{STYLE}</style>"
    yield page[start:body]
    yield f'<aside id="linkwise"><h1>{title}</h1>'
    yield from _said(motion, recording)
    yield f'<details><summary>Table</summary><div class="wide">{table_html(mechanism)}</div></details>'
    if motion is not None:
        yield f"<details><summary>Curves</summary>{''.join(_plots(motion))}</details>"
    yield "</aside>"
    yield page[body:]


def _said(motion: ShownMotion | None, recording: PageRecording) -> Iterator[str]:
    if motion is not None:
        yield f"<p>{number(motion.duration)} s, {number(round(recording.rate, 1))} frames per second</p>"
    for remark in motion.remarks if motion is not None else ():
        yield f"<p>{html.escape(plain(remark))}</p>"
    if recording.remarks:
        # Paths tried on the machine that wrote the page stay out of it.
        lines = "".join(f"<p>{html.escape(plain(remark.partition(': ')[0]))}</p>" for remark in recording.remarks)
        count = len(recording.remarks)
        yield f"<details><summary>{count} shape{'s' if count > 1 else ''} not shown</summary>{lines}</details>"


def _plots(motion: ShownMotion) -> Iterator[str]:
    for group in groups(motion, MOST_POINTS):
        yield svg_plot(group.t, group.columns, group.names, TITLES[group.kind], group.unit)
        if group.left_out:
            yield f"<p>and {group.left_out} more</p>"
    if motion.efforts is None:
        yield f"<p>No efforts: {html.escape(plain(motion.why_no_efforts))}</p>"


# ── the recording ─────────────────────────────────────────────────────────────────────────────────


def record(
    mechanism: Tree, motion: ShownMotion | None, q: FloatArray | None, visuals: Visuals, rate: float
) -> PageRecording:
    """Record a motion, or one position, on a private server.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism.
    motion : ShownMotion or None
        The motion; None for rest.
    q : (nq,) ndarray or None
        The position at rest.
    visuals : Visuals
        As for `BrowserPainter`.
    rate : float
        Frames per second, fewer where there would be more than `MOST_MESSAGES` placements.
    """
    times = instants(motion.duration, rate, len(mechanism.links)) if motion is not None else np.zeros(1)
    path = None if motion is None else positions(motion, times)
    server = make_server(port=0)
    try:
        painter = BrowserPainter(server, mechanism, visuals, q=q if path is None else path[0], along=path)
        recorder: Any = server.get_scene_serializer()
        if path is not None:
            # Equal to recording `insert_sleep` and `BrowserPainter.show` one by one, in a twentieth of the time.
            recorder._messages.extend(messages(painter.tracks(path), times))
            recorder._time = float(times[-1])
        page = str(recorder.as_html())
    finally:
        stop(server)
    shown = (len(times) - 1) / float(times[-1]) if len(times) > 1 else 0.0
    return PageRecording(page, len(times), shown, painter.remarks)


def instants(duration: float, rate: float, links: int) -> FloatArray:
    """Return uniform times (m,) s of the pictures, from 0 to the end.

    Examples
    --------
    >>> instants(1.0, 4.0, 6).tolist()
    [0.0, 0.25, 0.5, 0.75, 1.0]
    >>> instants(3600.0, 30.0, 30).size
    10000
    """
    if duration <= 0.0:
        return np.zeros(1)
    most = max(2, MOST_MESSAGES // (2 * max(links, 1)))
    return np.linspace(0.0, duration, min(most, 1 + max(1, math.ceil(duration * rate))))


def positions(motion: ShownMotion, times: FloatArray) -> FloatArray:
    """Return the coordinates (m, nq) of a motion at times (m,)."""
    return np.array([motion.at(float(time)) for time in times])


def messages(tracks: Sequence[Track], times: FloatArray) -> Iterator[tuple[float, Any]]:
    """Yield the messages to a page at each of the times but the first, each encoded as bytes."""
    import msgspec

    moving = [track for track in tracks if float(np.ptp(track.values, axis=0).max()) > 0.0]
    written = [_written(track) for track in moving]
    for k in range(1, len(times)):
        for head, values, tail in written:
            yield float(times[k]), msgspec.Raw(head + values[k].tobytes() + tail)


def _written(track: Track) -> tuple[bytes, npt.NDArray[np.uint8], bytes]:
    """Return the part of each message of a track before its numbers, the numbers (m, b) in bytes, and the part after."""
    import msgspec

    count = track.values.shape[1]
    marks = tuple(MARK + k for k in range(count))
    before, numbers, after = msgspec.msgpack.encode(_message(track, marks)).partition(msgspec.msgpack.encode(marks))
    assert numbers, "the numbers are in the message"
    values = np.empty((len(track.values), 1 + 5 * count), dtype=np.uint8)
    values[:, 0] = 0x90 + count  # MessagePack: an array of so many, each 0xca and four bytes, the highest first
    elements = values[:, 1:].reshape(-1, count, 5)
    elements[..., 0] = 0xCA
    elements[..., 1:] = track.values.astype(">f4").view(np.uint8).reshape(-1, count, 4)
    return before, values, after


def _message(track: Track, values: tuple[float, ...]) -> dict[str, Any]:
    """Return the message by which viser sets a property of a node."""
    from viser import _messages as viser_messages

    name = track.node.name
    if track.attribute == "scale":
        return viser_messages.SceneNodeUpdateMessage(name, {"scale": values}).as_serializable_dict()
    kind: Any = viser_messages.SetPositionMessage if track.attribute == "position" else viser_messages.SetOrientationMessage
    message: dict[str, Any] = kind(name, values).as_serializable_dict()
    return message
