"""One file with a mechanism in 3-D, its motion, its table and its curves, which plays in any browser without a network."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError, shown
from linkwise.files.atomic import write_text
from linkwise.files.packages import Folders
from linkwise.files.shape import Shape
from linkwise.mechanism import Mechanism
from linkwise.model.table import html as table_html
from linkwise.model.table import number, plain
from linkwise.view.browser.export_plots import plot
from linkwise.view.browser.export_recording import Recording, record
from linkwise.view.browser.groups import TITLES, groups
from linkwise.view.drawing.skeleton import coordinates
from linkwise.view.motions.motion import Motion, motion_of

MOST_POINTS = 400
"""Of one curve."""

FASTEST = 120.0
"""Most pictures a second."""

POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval' blob:; style-src 'unsafe-inline'; "
    "img-src data: blob:; font-src data:; connect-src data: blob:; worker-src blob:; form-action 'none'; base-uri 'none'"
)
"""What the page may do: the browser itself refuses to fetch anything from elsewhere."""


def export(
    mechanism: Mechanism,
    motion: Any,
    path: str | Path,
    *,
    q: npt.ArrayLike | None = None,
    shapes: Sequence[Shape] = (),
    folder: str | Path | None = None,
    package_dirs: Folders = (),
    rate: float = 30.0,
) -> Recording:
    """Write a page that shows a mechanism and plays its motion, without a server and without a network.

    Parameters
    ----------
    mechanism : Mechanism
        What is shown.
    motion : Motion, Trajectory, path, (t, q) or None
        What is played, see `linkwise.view.motions.motion.Motion.of`; None for a mechanism at rest.
    path : str or Path
        The file, written whole or not at all.
    q : (nq,) array_like, optional
        Without a motion, the position.
    shapes : sequence of Shape, optional
        What the links look like, from the description file.
    folder : str or Path, optional
        The description file or its folder, from which meshes are looked up.
    package_dirs : sequence of str or Path
        Folders that hold packages, or are packages, for meshes of ``package://``.
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
    if not isinstance(rate, int | float | np.number) or isinstance(rate, bool) or not 0.0 < rate <= FASTEST:
        raise ArgumentError(f"rate is {shown(rate)}; expected pictures a second, above 0 and at most {FASTEST:g}")
    if motion is not None and q is not None:
        raise ArgumentError("motion and q both say where the mechanism is; give one of them")
    moved = None if motion is None else motion_of(mechanism, motion)
    recording = record(
        mechanism, moved, None if q is None else coordinates(mechanism, q), shapes, folder, package_dirs, float(rate)
    )
    write_text(path, _page(mechanism, moved, recording))
    return recording


# ── the page ──────────────────────────────────────────────────────────────────────────────────────


STYLE = """
#linkwise{position:fixed;top:0;left:0;z-index:10000;overflow:auto;
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


def _page(mechanism: Mechanism, motion: Motion | None, recording: Recording) -> Iterator[str]:
    """Yield viser's page with a policy, a title and a panel of our own put in."""
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


def _said(motion: Motion | None, recording: Recording) -> Iterator[str]:
    if motion is not None:
        yield f"<p>{number(motion.duration)} s, {number(round(recording.rate, 1))} pictures a second</p>"
    for remark in motion.remarks if motion is not None else ():
        yield f"<p>{html.escape(plain(remark))}</p>"
    if recording.remarks:
        # What was tried on the machine that wrote the page is nobody else's business.
        lines = "".join(f"<p>{html.escape(plain(remark.partition(': ')[0]))}</p>" for remark in recording.remarks)
        count = len(recording.remarks)
        yield f"<details><summary>{count} shape{'s' if count > 1 else ''} not shown</summary>{lines}</details>"


def _plots(motion: Motion) -> Iterator[str]:
    for one in groups(motion, MOST_POINTS):
        yield plot(one.t, one.columns, one.names, TITLES[one.kind], one.unit)
        if one.left_out:
            yield f"<p>and {one.left_out} more</p>"
    if motion.efforts is None:
        yield f"<p>No efforts: {html.escape(plain(motion.why_no_efforts))}</p>"
