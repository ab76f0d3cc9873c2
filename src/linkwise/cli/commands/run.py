"""Compute the forces and efforts of a motion (inverse dynamics)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import click
import numpy as np

from linkwise import files
from linkwise.cli.command import Options, Output, argument, command, mechanism, option, progress_bar, result_options
from linkwise.cli.motion_tables import (
    Extremes,
    Summary,
    instant_tables,
    instants,
    limit_remarks,
    motion_rounding,
    motion_tables,
)
from linkwise.cli.options import file_name
from linkwise.dynamics.link_states import LinkStates, link_states
from linkwise.errors import MissingExtraError
from linkwise.files import Description, MotionFile, csv_results, spacelib_out
from linkwise.files.atomic import Folder
from linkwise.files.motion import Block, MotionRemarks
from linkwise.mechanism import Mechanism
from linkwise.model.formatting.table import Table, action, plain
from linkwise.model.quantities import names, units
from linkwise.model.tree import Tree
from linkwise.plot import curves
from linkwise.plot.downsample import Thinned
from linkwise.plot.rendering import rendered
from linkwise.spatial.scalar import FloatArray
from linkwise.view.motion import massless

#: Up to this many instants, every link is printed at each.
FEW = 3

#: Up to this many instants the .OUT file and links.csv are written unasked: beyond, they would fill a disk.
MOST_OUT, MOST_LINKS = 1_000, 100_000

#: Why such a mechanism gets no .OUT file.
NO_OUT = "SpaceLib's layout has no place for a base that floats, nor for joints with several coordinates"

#: Links times instants computed, and written to an .OUT file, at a time.
LINK_INSTANTS, OUT_INSTANTS = 8192, 2048


@dataclass(frozen=True)
class RunFiles:
    """The files of a run.

    Attributes
    ----------
    folder : Path
        Where.
    name : str
        Name of the .OUT file, without its suffix.
    figures : str or None
        Their format, ``png`` or ``svg``; None for no figures.
    links, out : bool or None
        Whether to write links.csv and the .OUT file; None leaves it to the length of the motion.
    driven : tuple of str or None
        With loops, the coordinates that have an effort; None for those with motors.
    """

    folder: Path
    name: str
    figures: str | None = "png"
    links: bool | None = None
    out: bool | None = None
    driven: tuple[str, ...] | None = None


@dataclass
class RunReport:
    """Results of a run: the summary, the files, notes on them, the states if they are few, and remarks."""

    summary: Summary
    files: list[Path] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    few: LinkStates | None = None
    remarks: list[str] = field(default_factory=list)


def execute(
    description: Description, motion: MotionFile, wanted: RunFiles, progress: Callable[[], None] = lambda: None
) -> RunReport:
    """Run a motion through a mechanism and write the wanted files; memory does not grow with the motion.

    Raises
    ------
    FileError
        Where the motion is wrong somewhere, or a file cannot be written; nothing is left behind then.
    """
    mechanism = description.mechanism
    external = description.external if description.external.any() else None
    report = RunReport(Summary(mechanism))
    figures, odd = _Figures(mechanism), MotionRemarks(mechanism, motion)
    with Folder(wanted.folder) as folder:
        sinks: list[Sink] = []
        for block in motion:
            odd.add(*block)
            if not sinks:
                first = len(block[0])  # (estimate of the total from the share of the file read)
                expected = max(first, int(first * motion.size / max(motion.consumed, 1)))
                sinks = [report.summary.add, *_writers(mechanism, wanted, folder, report, expected)]
                sinks += [figures.add] if wanted.figures else []
            for piece in _pieces(block, max(16, LINK_INSTANTS // len(mechanism.links))):
                states = link_states(mechanism, *piece, external, wanted.driven)
                for add in sinks:
                    add(states)
                report.few = states if report.summary.count == len(states.t) <= FEW else None
            progress()
        report.remarks = [remark.message for remark in odd.report()]
        if massless(mechanism):
            report.remarks.append(f"no masses are given for {mechanism.name}; all forces and efforts are zero")
        try:
            for name, figure in list(figures.draw(report.summary)) if wanted.figures else ():
                folder.write(f"{name}.{wanted.figures}", rendered(figure, str(wanted.figures)))
                report.files.append(folder.path / f"{name}.{wanted.figures}")
        except MissingExtraError as error:
            report.notes.append(f"no figures: {error}")
    return report


def _pieces(block: Block, size: int) -> Iterator[Block]:
    for start in range(0, len(block[0]), size):
        t, q, qd, qdd = (values[start : start + size] for values in block)
        yield t, q, qd, qdd


# ── text files ────────────────────────────────────────────────────────────────────────────────────


#: A function that takes in the next instants.
Sink = Callable[[LinkStates], None]


def _writer(folder: Folder, name: str, header: str, rows: Callable[[LinkStates], Iterator[str]], report: RunReport) -> Sink:
    """Begin a text file with a header; return the function that writes states to it."""
    file = folder.open(name)
    file.write(header)
    report.files.append(file.path)

    def add(states: LinkStates) -> None:
        for text in rows(states):
            file.write(text)

    return add


def _without_out(tree: Tree) -> bool:
    """True if an OUT file cannot represent the motion."""
    return tree.floating or any(link.joint_model.nq > 1 for link in tree.links)


def _writers(tree: Tree, wanted: RunFiles, folder: Folder, report: RunReport, expected: int) -> Iterator[Sink]:
    links = partial(csv_results.links_rows, tree)
    joints = lambda states: csv_results.motion_rows(states.t, states.q, states.qd, states.qdd, states.tau)  # noqa: E731
    yield _writer(folder, "joints.csv", csv_results.joints_header(tree), joints, report)
    if tree.loops:
        yield _writer(folder, "loops.csv", csv_results.loops_header(tree), csv_results.loops_rows, report)
    if _without_out(tree) and wanted.out is None:
        report.notes.append(f"{wanted.name}.OUT left out: {NO_OUT}")

    def matrices(states: LinkStates) -> Iterator[str]:
        size = max(1, OUT_INSTANTS // len(tree.links))
        for start in range(0, len(states.t), size):
            k = slice(start, start + size)
            fields = (states.qd, states.qdd, states.T, states.W, states.H, states.actions)
            yield from spacelib_out.text(spacelib_out.matrices(tree, *(values[k] for values in fields)))

    out = False if _without_out(tree) else wanted.out
    for name, asked, most, flag, header, rows in (
        ("links.csv", wanted.links, MOST_LINKS, "--links", csv_results.links_header(), links),
        (f"{wanted.name}.OUT", out, MOST_OUT, "--out", "", matrices),
    ):
        if asked or (asked is None and expected <= most):
            yield _writer(folder, name, header, rows, report)
        elif asked is None:
            about = f"about {int(float(f'{expected:.1e}')):,}"
            report.notes.append(f"{name} left out: {about} instants make a large file; {flag} writes it")


# ── figures ───────────────────────────────────────────────────────────────────────────────────────


class _Figures:
    """The curves of a run, thinned as they come."""

    def __init__(self, mechanism: Mechanism) -> None:
        self._mechanism = mechanism
        self._joints = Thinned(mechanism.nq + 3 * mechanism.nv)
        self._links = Thinned(2 * len(mechanism.links))

    def add(self, states: LinkStates) -> None:
        """Take in the next instants."""
        self._joints.add(states.t, np.concatenate((states.q, states.qd, states.qdd, states.tau), axis=1))
        magnitudes = [np.linalg.norm(vectors, axis=2) for vectors in (states.forces, states.joint_moments)]
        self._links.add(states.t, np.concatenate(magnitudes, axis=1))

    def draw(self, summary: Summary) -> Iterator[tuple[str, object]]:
        """Draw the figures; their names and they."""
        mechanism = self._mechanism
        small = motion_rounding(mechanism, summary)
        if mechanism.nv:
            t, values = self._joints.points()
            quantities = np.split(values, mechanism.nq + mechanism.nv * np.arange(3), axis=1)
            quantities[-1] = _without_rounding(quantities[-1], small[0])
            rows = [self._panels(title, t, v) for title, v in zip(curves.UNITS, quantities, strict=True)]
            also = "base and " if mechanism.floating else ""
            names = [*mechanism.names, *curves.manifold_labels(mechanism.manifold_joints)]
            yield "joints", curves.plot(rows, names, f"{mechanism.name}: {also}joints")
        t, values = self._links.points()
        force, moment = map(_without_rounding, np.split(values, 2, axis=1), small[1:])
        every = range(len(mechanism.links))
        rows = [
            [curves.Curves("force", "N", t, force, every)],
            [curves.Curves("moment\nabout the joint", "N m", t, moment, every)],
        ]
        title = f"{mechanism.name}: magnitudes of the force and moment on each link from its parent"
        yield "joint_forces", curves.plot(rows, mechanism.link_names, title)

    def _panels(self, title: str, t: FloatArray, values: FloatArray) -> list[curves.Curves]:
        """Make the panels of one quantity: joints with quaternions, joints that turn, joints that slide."""
        n = self._mechanism.n
        first = values.shape[1] - n
        free = curves.manifold_panels(title, t, values, self._mechanism.manifold_joints, n)
        return free + curves.joint_panels(title, t, values[:, first:], list(self._mechanism.is_length))


def _without_rounding(values: FloatArray, small: FloatArray | float) -> FloatArray:
    """Return curves (k, m), zero where they never exceed rounding."""
    return np.where(np.abs(values).max(axis=0, initial=0.0) <= small, 0.0, values)


@command(
    mechanism(),
    argument("motion", type=click.Path()),
    *result_options("motion file", "Draw curves of position, velocity, acceleration, effort and joint forces."),
    option("--links/--no-links", default=None, help="Write links.csv. Default: up to 100,000 instants."),
    option("--out/--no-out", default=None, help="Write SpaceLib's OUT file. Default: up to 1,000 instants."),
    option("--driven", metavar="JOINT,...", help="With closed loops: actuated joints. Default: joints with motors."),
)
def run(description: Description, options: Options) -> Output:
    """Compute the link motions, joint forces and motor efforts of a MECHANISM along a MOTION.

    MOTION is a SpaceLib .MOT or a .csv with the columns t, q1, ..., qd1, ..., qdd1, ... in s, rad and m. With a
    floating base it is a .csv that also has q_base_x, ..., qd_base_vx, ..., qdd_base_vx, ...

    \b
    The command prints positions, velocities, accelerations, joint wrenches and
    efforts (up to three instants; peaks and means of a longer motion) and writes
      joints.csv        a row per instant: motion and effort of each joint
      links.csv         a row per instant and link: pose, velocity, acceleration,
                        and the force and moment from its parent
      loops.csv         with closed loops: the constraint forces
      NAME.OUT          the same as 4x4 matrices, in the layout of SpaceLib
      joints.png        curves of position, velocity, acceleration and effort
      joint_forces.png  curves of force and moment in the joints

    A motion of any length needs little memory. --json prints, for each joint
    and link, the least and greatest value, the peak with its time and the root
    mean square; for up to three instants also "rows", the contents of the
    tables. The files hold every instant.

    \b
    Examples:
      linkwise run SCARA.DAT SCARA.MOT
      linkwise run puma560 motion.csv -o results --format svg
      linkwise run puma560 long.csv --no-figures --links -q
    """  # noqa: D301  (\b keeps click from filling the lines)
    model = description.mechanism
    if options.driven and not model.loops:
        raise click.ClickException(f"--driven: {model.name!r} has no loops; every coordinate of it is driven")
    if options.out and _without_out(model):
        raise click.ClickException(f"--out: {NO_OUT}")
    motion = files.open_motion(options.motion, model.n, model.names, floating=model.manifold_joints)
    name = file_name(Path(options.motion).stem)
    folder = Path(options.output) if options.output is not None else Path("out") / name
    wanted = RunFiles(folder, name, options.suffix if options.figures else None, options.links, options.out)
    if options.driven:
        wanted = replace(wanted, driven=tuple(part.strip() for part in options.driven.split(",")))
    with progress_bar("running", options.quiet or options.as_json) as update:

        def look() -> None:  # (whether it is long is seen after its first block)
            update(total=motion.size, completed=motion.consumed, visible=motion.consumed < motion.size)

        report = execute(description, motion, wanted, look)
    return Output(_facts(description, report), () if options.quiet else _parts(description, report))


def _facts(description: Description, report: RunReport) -> dict[str, Any]:
    """The extremes of a motion, a few instants in full, and the files."""
    model, summary = description.mechanism, report.summary
    moving = {"position": "q", "velocity": "qd", "acceleration": "qdd", "effort": "tau"}
    links = len(model.links)
    return {
        "mechanism": model.name,
        "external": description.external,
        "instants": summary.count,
        "start": summary.start,
        "end": summary.end,
        **{key: _extremes(getattr(summary, q), names(model, q), units(model, q)) for key, q in moving.items()},
        "force": _extremes(summary.force, model.link_names, ["N"] * links),
        "moment": _extremes(summary.moment, model.link_names, ["N m"] * links),
        "outside_limits": dict(zip(model.names, summary.beyond, strict=True)),
        "efforts_finite": summary.finite,
        "files": report.files,
        "notes": report.notes,
        "remarks": report.remarks,
        **({"rows": instants(model, report.few)} if report.few else {}),
    }


def _extremes(extremes: Extremes, names: Sequence[str], units: Sequence[str]) -> dict[str, Any]:
    columns = (extremes.low, extremes.high, extremes.peak, extremes.peak_time, extremes.rms)
    keys = ("unit", "least", "greatest", "peak", "peak_time", "rms")
    return {name: dict(zip(keys, row, strict=True)) for name, *row in zip(names, units, *columns, strict=True)}


def _parts(description: Description, report: RunReport) -> Iterator[str | Table]:
    """Yield the tables, the remarks, and the files."""
    model, summary = description.mechanism, report.summary
    if description.external.any():
        yield f"on the tool: {action(description.external)} (from the file)"
    yield from instant_tables(model, report.few) if report.few else motion_tables(model, summary)
    yield from limit_remarks(model, summary.beyond.tolist(), summary.count)
    if not summary.finite:
        yield "remark: some efforts are not finite numbers"
    yield from (f"remark: {plain(remark)}" for remark in report.remarks)
    yield "wrote " + ", ".join(map(plain, report.files))
    yield from report.notes
