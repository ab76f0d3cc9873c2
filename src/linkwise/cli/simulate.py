"""``linkwise simulate``: let time pass, freely or under the efforts of motors, and tell what came of it."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from linkwise.cli.as_json import json_option, print_json
from linkwise.cli.finite import POSITIVE
from linkwise.cli.integration import LAWS, METHODS, STEPPED, integrated, moved
from linkwise.cli.mechanism import mechanism_argument
from linkwise.cli.reading import description, reading_options
from linkwise.cli.words import remark, say

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from linkwise.cli.integration import Simulated
    from linkwise.cli.simulated import Balance
    from linkwise.mechanism import Mechanism
    from linkwise.trajectory import Trajectory


def complete_torque(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer the words that begin so, and files."""
    from click.shell_completion import CompletionItem

    words = [CompletionItem(word) for word in LAWS if word.startswith(incomplete)]
    return words or [CompletionItem(incomplete, type="file")]


@click.command(short_help="Let time pass: free motion, or under the efforts of motors.")
@mechanism_argument()
@click.option("--time", type=POSITIVE, help="How long, s. Default: 5, or as long as the efforts of --torque are recorded.")
@click.option(
    "--dt", type=POSITIVE, default=1e-3, show_default=True, help="Time step; of adaptive methods, of the record, s."
)
@click.option("--method", type=click.Choice(METHODS), default="rk4", show_default=True, help="How to integrate.")
@click.option("--q", "q", metavar="Q1,Q2,...", help="Where it starts, rad or m, or degrees as in 90deg; zero unless given.")
@click.option("--qd", "qd", metavar="V1,V2,...", help="Its speeds at the start, rad/s or m/s, or 90deg; zero unless given.")
@click.option(
    "--torque",
    metavar="FILE.csv|zero|hold|gravity",
    default="zero",
    shell_complete=complete_torque,
    help="What the motors do: see above. Default: zero.",
)
@click.option("--friction/--no-friction", default=True, help="Whether the friction of the motors counts.")
@click.option("--record", type=click.IntRange(1), default=1, show_default=True, help="Every which step is recorded.")
@click.option(
    "-o",
    "--output",
    metavar="DIR",
    type=click.Path(file_okay=False),
    help="Folder of the results; made if needed. Default: out/NAME, NAME being that of the mechanism.",
)
@click.option("--figures/--no-figures", default=True, help="Draw positions, speeds, accelerations, efforts and energies.")
@click.option(
    "--format", "suffix", type=click.Choice(["png", "svg"]), default="png", show_default=True, help="Of the figure."
)
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors.")
@json_option
@reading_options
def simulate(mechanism: str, output: str | None, quiet: bool, as_json: bool, **options: Any) -> None:
    """Let time pass for a MECHANISM: it moves freely, or as its motors drive it.

    \b
    What the motors do, --torque:
      zero       nothing
      hold       what holds the mechanism at its start, all the time
      gravity    what holds it wherever it is, against gravity alone
      FILE.csv   recorded efforts: columns t and tau1 or tau_NAME, ..., such as
                 joints.csv of linkwise run; linear between the instants

    Printed: the state at the end, and where the energy went. Written: trajectory.csv, trajectory.npz (for
    Trajectory.load) and a figure. A base that floats starts in its origin unless --q has its coordinates too; no motor
    acts on it.

    \b
    Examples:
      linkwise simulate planar_2r --q 30deg,0 --time 2
      linkwise simulate puma560 --q 0,45deg,-90deg,0,0,0 --torque hold
      linkwise simulate puma560 --q -60deg,30deg,-120deg,0,30deg,0
                        --torque out/reach/joints.csv --record 10 -o again
    """  # noqa: D301  (\b keeps click from filling the lines)
    from linkwise.cli.show import file_name
    from linkwise.cli.simulated import balance
    from linkwise.model.table import action

    read = description(mechanism)
    found = moved(read.mechanism, options)
    made = integrated(found, options, read.external)
    balanced = balance(found, made.motion, read.external)
    folder = Path(output) if output is not None else Path("out") / file_name(found.name)
    written, notes = write(found, made.motion, folder, options["suffix"] if options["figures"] else None)
    if as_json:
        print_json(
            _facts(found, made, balanced, options)
            | {"external": read.external, "files": written, "notes": [*made.remarks, *notes]}
        )
    elif not quiet:
        if read.external.any():
            say(f"on the tool: {action(read.external)} (from the file)")
        _tell(found, made, balanced, options)
        for remark in made.remarks:
            say(remark)
        say("wrote " + ", ".join(written))
        for note in notes:
            say(note)


# ── what is written and told ──────────────────────────────────────────────────────────────────────


def write(
    mechanism: Mechanism, motion: Trajectory, folder: Path, figures: str | None, name: str = "trajectory"
) -> tuple[list[str], list[str]]:
    """Write the files, all or none; return their names and what is to be remarked."""
    import tempfile

    from linkwise.cli import csv_files
    from linkwise.cli.output import Folder
    from linkwise.errors import MissingExtraError
    from linkwise.model.table import plain
    from linkwise.view.figure import rendered

    names, notes = [f"{name}.csv", f"{name}.npz"], []
    with Folder(folder) as opened:
        table = opened.open(names[0])
        table.write(csv_files.simulated_header(mechanism))
        for text in csv_files.simulated_rows(motion):
            table.write(text)
        with tempfile.TemporaryDirectory() as aside:
            motion.save(Path(aside) / names[1])
            opened.write(names[1], (Path(aside) / names[1]).read_bytes())
        if figures:
            try:
                opened.write(f"{name}.{figures}", rendered(motion.plot(mechanism.name), figures))
                names.append(f"{name}.{figures}")
            except MissingExtraError as error:
                notes.append(f"no figure: {error}")
    return [plain(str(folder / one)) for one in names], notes


def _facts(mechanism: Mechanism, made: Simulated, balanced: Balance, options: dict[str, Any]) -> dict[str, Any]:
    """Say for programs what `_tell` says for people."""
    from linkwise.cli.columns import names
    from linkwise.cli.simulated import unexplained

    motion = made.motion
    return {
        "mechanism": mechanism.name,
        "method": options["method"],
        "dt": options["dt"],
        "steps": made.steps,
        "seconds": {"compiled": made.compiled, "took": made.took},
        "end": motion.t[-1],
        "q": dict(zip(names(mechanism, "q"), motion.q[-1], strict=True)),
        "qd": dict(zip(names(mechanism, "qd"), motion.qd[-1], strict=True)),
        "energy": {**asdict(balanced), "drift": balanced.drift},
        "outside_limits": dict(zip(mechanism.names, _outside(mechanism, motion), strict=True)),
        "remark": unexplained(mechanism, balanced),
    }


def _outside(mechanism: Mechanism, motion: Trajectory) -> list[int]:
    """How many instants each joint is outside its limits."""
    low, high = mechanism.limits.T
    joints = motion.q[:, mechanism.nq - mechanism.n :]
    return [int(count) for count in ((joints < low) | (joints > high)).sum(axis=0)]


def _tell(mechanism: Mechanism, made: Simulated, balanced: Balance, options: dict[str, Any]) -> None:
    from linkwise.cli.layout import console, put, time_text
    from linkwise.cli.simulated import tables, unexplained
    from linkwise.model.table import plain

    screen = console()
    motion, steps = made.motion, made.steps
    say(_headline(mechanism, made, options))
    for title, table in tables(mechanism, motion, balanced):
        put(screen, title, table)
    rate = f", {steps / made.took:,.0f} steps per second" if options["method"] in STEPPED else ""
    say(f"took {time_text(made.took)}{rate}; before it {time_text(made.compiled)} to compile or load")
    if said := unexplained(mechanism, balanced):
        remark(said)
    for name, count in zip(mechanism.names, _outside(mechanism, motion), strict=True):
        if count:
            remark(f"joint {plain(name)!r} is outside its limits at {count:,} of {len(motion):,} instants")


def _headline(mechanism: Mechanism, made: Simulated, options: dict[str, Any]) -> str:
    from linkwise.cli.simulated import rubs
    from linkwise.model.table import plain

    driven = {"zero": "no torque", "hold": "torque that holds the start", "gravity": "torque against gravity"}
    torque = driven.get(options["torque"], f"efforts from {plain(options['torque'])}")
    steps = f"in {made.steps:,} steps of" if options["method"] in STEPPED else "noted every"
    span = f"{made.steps * options['dt']:g} s {steps} {options['dt']:g} s"
    friction = "with friction" if rubs(mechanism) else "no friction"
    return f"{plain(mechanism.name)}: {span}, {options['method']}, {torque}, {friction}"
