"""``linkwise simulate``: let time pass, freely or under the efforts of motors, and tell what came of it."""

from __future__ import annotations

import time as clock
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from linkwise.cli.mechanism import description, mechanism_argument

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from linkwise.cli.torque_file import Recorded
    from linkwise.mechanism import Mechanism
    from linkwise.spatial.scalar import FloatArray
    from linkwise.trajectory import Trajectory

METHODS = ("rk4", "semi_implicit_euler", "euler", "rk23", "rk45", "dop853", "radau", "bdf", "lsoda")
"""Those of `linkwise.simulate`; the first three go by fixed steps."""

LAWS = ("zero", "hold", "gravity")
"""What --torque takes beside a file."""

DURATION = 5.0
"""How long a simulation lasts where nothing says it, s."""

MOST_STEPS, MOST_RECORDED = 100_000_000, 1_000_000
"""Beyond these the instants would fill the memory."""


@dataclass(frozen=True)
class Simulated:
    """A motion, and how long it took, s: to compile or load, and to integrate."""

    motion: Trajectory
    steps: int
    compiled: float
    took: float


def complete_torque(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer the words that begin so, and files."""
    from click.shell_completion import CompletionItem

    words = [CompletionItem(word) for word in LAWS if word.startswith(incomplete)]
    return words or [CompletionItem(incomplete, type="file")]


@click.command(short_help="Let time pass: free motion, or under the efforts of motors.")
@mechanism_argument()
@click.option("--time", type=float, help="How long, s. Default: 5, or as long as the efforts of --torque are recorded.")
@click.option("--dt", type=float, default=1e-3, show_default=True, help="Time step; of adaptive methods, of the record, s.")
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
def simulate(mechanism: str, output: str | None, quiet: bool, **options: Any) -> None:
    """Let time pass for a MECHANISM: it moves freely, or as its motors drive it.

    \b
    What the motors do, --torque:
      zero       nothing
      hold       what holds the mechanism at its start, all the time
      gravity    what holds it wherever it is
      FILE.csv   recorded efforts: columns t and tau1 or tau_NAME, ..., such as
                 joints.csv of linkwise run; linear between the instants

    Printed: the state at the end, and where the energy went. Written: trajectory.csv, trajectory.npz (for
    Trajectory.load) and a figure. A base that floats starts in its origin unless --q has its coordinates too; no motor
    acts on it.

    \b
    Examples:
      linkwise simulate planar_2r --q 90deg,0 --time 2
      linkwise simulate puma560 --q 0,45deg,-90deg,0,0,0 --torque hold --no-friction
      linkwise simulate puma560 --torque out/reach/joints.csv --record 10 -o again
    """  # noqa: D301  (\b keeps click from filling the lines)
    from linkwise.cli.show import file_name
    from linkwise.cli.simulated import balance

    found = description(mechanism).mechanism
    made = integrated(found, options)
    balanced = balance(_moved(found, options), made.motion, options["record"])
    folder = Path(output) if output is not None else Path("out") / file_name(found.name)
    written, notes = write(found, made.motion, folder, options["suffix"] if options["figures"] else None)
    if not quiet:
        _tell(_moved(found, options), made, balanced, options)
        click.echo("wrote " + ", ".join(written))
        for note in notes:
            click.echo(note)


# ── the motion ────────────────────────────────────────────────────────────────────────────────────


def integrated(mechanism: Mechanism, options: dict[str, Any]) -> Simulated:
    """Integrate what the options say; the first step of all is taken apart, for it compiles."""
    import linkwise
    from linkwise.cli import state, torque_file
    from linkwise.errors import SimulationError

    moved = _moved(mechanism, options)
    q0, qd0 = state.coordinates(options["q"], moved), state.speeds(options["qd"], moved)
    named = options["torque"]
    recorded = None if named in LAWS else torque_file.read(named, moved)
    t = _instants(options, recorded)
    torque = _torque(moved, named, q0, t, recorded)
    settings: dict[str, Any] = {"method": options["method"]}
    try:
        start = clock.perf_counter()
        linkwise.simulate(moved, q0, qd0, torque=_at_first(torque), t=t[:2], energies=True, **settings)
        compiled = clock.perf_counter()
        settings |= {"record": options["record"], "energies": True}
        motion = linkwise.simulate(moved, q0, qd0, torque=torque, t=t, **settings)
        done = clock.perf_counter()
    except SimulationError as error:
        raise click.ClickException(_lost(error, options["method"])) from error
    _check_finite(motion)
    return Simulated(motion, len(t) - 1, compiled - start, done - compiled)


def _moved(mechanism: Mechanism, options: dict[str, Any]) -> Mechanism:
    return mechanism if options["friction"] else mechanism.nofriction()


def _instants(options: dict[str, Any], recorded: Recorded | None) -> FloatArray:
    """Instants of all steps, s; they begin where the recorded efforts do."""
    import numpy as np

    dt, time = options["dt"], options["time"]
    for option, value in (("--dt", dt), ("--time", time)):
        if value is not None and not 0 < value < np.inf:
            raise click.BadParameter(f"{value:g} is no time; expected a number > 0, s", param_hint=option)
    first, last = (0.0, np.inf) if recorded is None else (float(recorded.t[0]), float(recorded.t[-1]))
    if time is None and recorded is not None:
        time = int((last - first) / dt + 1e-6) * dt
    time = DURATION if time is None else time
    if recorded is not None and (not time or time > (last - first) * (1 + 1e-9)):
        span = f"efforts from {first:g} to {last:g} s"
        raise click.BadParameter(f"{recorded.path} holds {span}, not for {time or dt:g} s", param_hint="--time")
    if time / dt > MOST_STEPS:
        raise click.BadParameter(f"{time / dt:.3g} steps; expected {MOST_STEPS:,} at most", param_hint="--dt")
    steps = round(time / dt)
    if not steps or abs(steps * dt - time) > 1e-9 * time:
        raise click.BadParameter(f"{time:g} s is no multiple of the step --dt {dt:g} s", param_hint="--time")
    if steps // options["record"] > MOST_RECORDED:
        few = -(-steps // MOST_RECORDED)
        what = f"{steps // options['record']:,} instants to record; expected {MOST_RECORDED:,} at most: --record {few}"
        raise click.BadParameter(what, param_hint="--record")
    if options["record"] > steps:
        raise click.BadParameter(f"{options['record']} is more than the {steps:,} steps there are", param_hint="--record")
    return np.asarray(first + np.linspace(0.0, time, steps + 1))


def _torque(mechanism: Mechanism, named: str, q0: Any, t: FloatArray, recorded: Recorded | None) -> Any:
    """What `linkwise.simulate` takes for it; motors act on joints only."""
    import numpy as np

    from linkwise.dynamics import gravity_torque
    from linkwise.simulation import Feedback

    if recorded is not None:
        return recorded.at(t)
    first = mechanism.nv - mechanism.n
    if named == "hold":
        held = np.array(mechanism.gravity_torque(mechanism.neutral if q0 is None else q0))
        held[:first] = 0.0
        return held

    def compensation(_: Any, q: Any, __: Any) -> Any:
        efforts = np.array(gravity_torque(mechanism, q), dtype=object)
        efforts[:first] = 0.0
        return efforts

    return Feedback(compensation) if named == "gravity" else None


def _at_first(torque: Any) -> Any:
    """The same torque for the first step alone."""
    return torque[:2] if getattr(torque, "ndim", 0) == 2 else torque


def _lost(error: Any, method: str) -> str:
    """Say where the state was lost, and what may help."""
    if method in METHODS[:3]:
        return f"the state is not finite at t = {error.time:g} s; a shorter --dt may help, or --method dop853"
    reason = str(error).partition(": ")[2] or str(error)
    return f"{reason}; --no-friction may help, for Coulomb friction jumps at rest, or --method rk4"


def _check_finite(motion: Trajectory) -> None:
    """Leave where the state is finite and what follows from it no more."""
    import numpy as np

    known = [motion.qdd, motion.energy[:, None] if motion.energy is not None else motion.qdd]
    wrong = ~np.all([np.isfinite(values).all(axis=1) for values in known], axis=0)
    if wrong.any():
        at = float(motion.t[int(np.argmax(wrong))])
        raise click.ClickException(f"accelerations or energies are not finite at t = {at:g} s; a shorter --dt may help")


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


def _tell(mechanism: Mechanism, made: Simulated, balanced: Any, options: dict[str, Any]) -> None:
    from linkwise.cli.layout import console, time_text
    from linkwise.cli.simulated import tables
    from linkwise.model.table import plain

    screen = console()
    motion, steps = made.motion, made.steps
    screen.print(_headline(mechanism, made, options))
    for title, table in tables(mechanism, motion, balanced):
        screen.print(title, style="bold")
        screen.print(table)
    rate = f", {steps / made.took:,.0f} steps per second" if options["method"] in METHODS[:3] else ""
    click.echo(f"took {time_text(made.took)}{rate}; before it {time_text(made.compiled)} to compile or load")
    low, high = mechanism.limits.T
    joints = motion.q[:, mechanism.nq - mechanism.n :]
    for name, count in zip(mechanism.names, ((joints < low) | (joints > high)).sum(axis=0).tolist(), strict=True):
        if count:
            click.echo(f"remark: joint {plain(name)!r} is outside its limits at {count:,} of {len(motion):,} instants")


def _headline(mechanism: Mechanism, made: Simulated, options: dict[str, Any]) -> str:
    from linkwise.model.table import plain

    driven = {"zero": "no torque", "hold": "torque that holds the start", "gravity": "torque against gravity"}
    torque = driven.get(options["torque"], f"efforts from {plain(options['torque'])}")
    friction = "no friction" if made and not any(_frictions(mechanism)) else "with friction"
    span = f"{made.motion.duration:g} s in {made.steps:,} steps of {options['dt']:g} s"
    return f"{plain(mechanism.name)}: {span}, {options['method']}, {torque}, {friction}"


def _frictions(mechanism: Mechanism) -> list[float]:
    return [abs(part) for drive in mechanism.drives for part in (drive.motor.viscous, *drive.motor.coulomb)]
