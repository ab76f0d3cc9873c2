"""Simulate free motion, or motion under motor efforts."""

from __future__ import annotations

import os
import tempfile
import time
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np

from linkwise.cli.command import Options, Output, command, mechanism, option, result_options
from linkwise.cli.motion_tables import (
    STATE,
    limit_remarks,
    manifold_state,
    manifold_table,
    manifold_title,
    momentum_table,
    outside_limits,
)
from linkwise.cli.options import POSITIVE, Coordinates, Velocities, did_you_mean, file_name, names_and_files, refuse
from linkwise.dynamics import gravity_torque
from linkwise.errors import LinkwiseWarning, MissingExtraError, SimulationError
from linkwise.files import Description
from linkwise.files.atomic import Folder
from linkwise.files.csv_results import motion_rows, simulated_header
from linkwise.files.number_table import RecordedEfforts, read_efforts
from linkwise.mechanism import Mechanism
from linkwise.model.formatting.table import Column, Table, action, duration, plain, short
from linkwise.model.quantities import joint_columns, names
from linkwise.model.tree import Tree
from linkwise.plot.rendering import rendered
from linkwise.simulation import Feedback, Sampled
from linkwise.simulation import simulate as integrate
from linkwise.simulation.energy_balance import EnergyAccount, energies, energy_account, has_friction, jumps, unexplained
from linkwise.simulation.integrators import INTEGRATORS
from linkwise.simulation.task import ADAPTIVE, FRICTION, STABILIZATIONS
from linkwise.spatial.scalar import FloatArray
from linkwise.trajectory import Trajectory

#: Keywords of --torque, with their descriptions.
LAWS = {"zero": "no torque", "hold": "torque that holds the start", "gravity": "torque against gravity"}

#: Default duration of a simulation, s.
DURATION = 5.0

#: Beyond these the instants would fill the memory.
MOST_STEPS, MOST_RECORDED = 100_000_000, 1_000_000


@dataclass(frozen=True)
class SimulationRun:
    """A motion, its durations, s, of compiling or loading and of integrating; and the warnings of `linkwise.simulate`."""

    motion: Trajectory
    steps: int
    compiled: float
    took: float
    remarks: tuple[str, ...] = ()


def _complete_torque(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
    """Offer the words that begin so, or files."""
    return names_and_files([word for word in LAWS if word.startswith(incomplete)], incomplete, suffixes=set())


@command(
    mechanism(),
    option("--time", type=POSITIVE, help="Duration, s. Default: 5, or that of the efforts in --torque FILE.csv."),
    option("--dt", type=POSITIVE, default=1e-3, help="Time step, s; of adaptive methods, the interval of the record."),
    option(
        "--method",
        type=click.Choice([*INTEGRATORS, *ADAPTIVE]),
        help="Integration method. Default: rk4, with stiction dop853.",
    ),
    option("--stabilization", type=click.Choice(STABILIZATIONS), default="projection", help="How loops are kept closed."),
    option("--q", type=Coordinates(), help="Initial coordinates, rad or m, or degrees as in 90deg. Default: zero."),
    option(
        "--qd", type=Velocities(), help="Initial velocities, rad/s or m/s, or degrees per second as in 90deg. Default: zero."
    ),
    option(
        "--torque",
        metavar="FILE.csv|zero|hold|gravity",
        default="zero",
        shell_complete=_complete_torque,
        help="Efforts of the motors, see above.",
    ),
    option("--friction", type=click.Choice((*FRICTION, "none")), default="sign", help="Friction of the motors, see above."),
    option("--record", type=click.IntRange(1), default=1, help="Record every N-th step."),
    *result_options("mechanism", "Draw positions, velocities, accelerations, efforts and energies."),
)
def simulate(description: Description, options: Options) -> Output:
    """Simulate the motion of a MECHANISM: free, or driven by its motors.

    \b
    Efforts of the motors, --torque:
      zero       none
      hold       constant: those that balance gravity at the start
      gravity    those that balance gravity at every instant
      FILE.csv   recorded: columns t and tau1 or tau_NAME, ..., such as
                 joints.csv of linkwise run; linear interpolation

    \b
    Friction of the motors, --friction:
      sign       Coulomb friction by the sign of the velocity, none at rest
      stiction   joints stick and slip
      none       no Coulomb and no viscous friction

    The command prints the state at the end and the energy balance, and writes trajectory.csv, trajectory.npz (for
    Trajectory.load) and a figure. A floating base starts at the origin unless --q has its coordinates too; no motor
    acts on it.

    \b
    Examples:
      linkwise simulate planar_2r --q 30deg,0 --time 2
      linkwise simulate puma560 --q 0,45deg,-90deg,0,0,0 --torque hold
      linkwise simulate puma560 --q -60deg,30deg,-120deg,0,30deg,0
                        --torque out/reach/joints.csv --record 10 -o again
    """  # noqa: D301  (\b keeps click from filling the lines)
    model = description.mechanism.without_friction() if options.friction == "none" else description.mechanism
    if options.method is None:
        options.method = "dop853" if options.friction == "stiction" else "rk4"
    run = _integrate(model, options, description.external)
    account = energy_account(model, run.motion, description.external)
    folder = Path(options.output) if options.output is not None else Path("out") / file_name(model.name)
    written, notes = _write(model, run.motion, folder, options.suffix if options.figures else None)
    data = {
        "mechanism": model.name,
        "method": options.method,
        "dt": options.dt,
        "steps": run.steps,
        "seconds": {"compiled": run.compiled, "took": run.took},
        "end": run.motion.t[-1],
        "q": dict(zip(names(model, "q"), run.motion.q[-1], strict=True)),
        "qd": dict(zip(names(model, "qd"), run.motion.qd[-1], strict=True)),
        "energy": {**asdict(account), "drift": account.drift},
        "outside_limits": dict(zip(model.names, outside_limits(model, run.motion.q), strict=True)),
        "remark": unexplained(model, account),
        "external": description.external,
        "files": written,
        "notes": [*run.remarks, *notes],
    }
    return Output(data, () if options.quiet else _parts(model, run, account, options, data))


# ── the integration ───────────────────────────────────────────────────────────────────────────────


def _integrate(model: Mechanism, options: Options, external: FloatArray) -> SimulationRun:
    """Integrate with a force and moment (6,) on the tool; the first step is timed separately, as it compiles."""
    stiction = options.friction == "stiction"
    if stiction and options.method in INTEGRATORS:
        raise click.ClickException(f"{options.method} has fixed steps; stiction needs an adaptive method, --method dop853")
    if options.method not in INTEGRATORS and not stiction and jumps(model):
        why = f"{options.method} takes ever shorter steps where Coulomb friction jumps, at rest"
        raise click.ClickException(f"{why}; use fixed steps (--method rk4), or --friction stiction or none")
    recorded = None if options.torque in LAWS else _efforts(options.torque, model)
    t = _instants(options, recorded)
    torque = _torque(model, options, t, recorded, external)
    settings: dict[str, Any] = {"method": options.method, "hold": False, "energies": True}
    settings["stabilization"] = options.stabilization
    settings["friction"] = "stiction" if stiction else "sign"
    settings |= {"external": external} if external.any() else {}
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", LinkwiseWarning)
            start = time.perf_counter()
            integrate(model, options.q, options.qd, torque=_first_step(torque), t=t[:2], **settings)
            compiled = time.perf_counter()
            caught.clear()
            motion = integrate(model, options.q, options.qd, torque=torque, t=t, record=options.record, **settings)
            end = time.perf_counter()
    except SimulationError as error:
        if options.method in INTEGRATORS:
            lost = f"the state is not finite at t = {error.time:g} s; a shorter --dt may help, or --method dop853"
        else:
            lost = f"{str(error).partition(': ')[2] or error}; another --method may help"
        raise click.ClickException(lost) from error
    values = [motion.qdd] if motion.energy is None else [motion.qdd, motion.energy[:, None]]
    wrong = ~np.all([np.isfinite(column).all(axis=1) for column in values], axis=0)
    if wrong.any():  # (the state may be finite while its derivatives are not)
        at = float(motion.t[int(np.argmax(wrong))])
        raise click.ClickException(f"accelerations or energies are not finite at t = {at:g} s; a shorter --dt may help")
    remarks = tuple(str(warning.message) for warning in caught)
    return SimulationRun(motion, len(t) - 1, compiled - start, end - compiled, remarks)


def _instants(options: Options, recorded: RecordedEfforts | None) -> FloatArray:
    """Instants of all steps, s; they begin where the recorded efforts do."""
    dt, asked = options.dt, options.time
    first, last = (0.0, np.inf) if recorded is None else (float(recorded.t[0]), float(recorded.t[-1]))
    span = asked if asked is not None else DURATION if recorded is None else last - first
    if span / dt > MOST_STEPS:
        refuse(f"{span / dt:.3g} steps; expected {MOST_STEPS:,} at most", "--dt")
    if asked is None and recorded is not None:
        span = int((last - first) / dt + 1e-6) * dt
    if recorded is not None and (not span or span > (last - first) * (1 + 1e-9)):
        refuse(f"{recorded.path} holds efforts from {first:g} to {last:g} s, not for {span or dt:g} s", "--time")
    steps = round(span / dt)
    if not steps or abs(steps * dt - span) > 1e-9 * span:
        refuse(f"{span:g} s is not a multiple of the step --dt {dt:g} s", "--time")
    if steps // options.record > MOST_RECORDED:
        few = -(-steps // MOST_RECORDED)
        count = steps // options.record
        refuse(f"{count:,} instants to record; expected {MOST_RECORDED:,} at most: --record {few}", "--record")
    if options.record > steps:
        refuse(f"{options.record} is more than the {steps:,} steps there are", "--record")
    return np.asarray(first + np.linspace(0.0, span, steps + 1))


def _torque(
    model: Mechanism, options: Options, t: FloatArray, recorded: RecordedEfforts | None, external: FloatArray
) -> Any:
    """Torque argument of `linkwise.simulate`; motors act on joints only."""
    base = model.nv - model.n
    if recorded is not None:  # linear from the effort of each instant to the next
        efforts = recorded.at(t)
        slopes = np.diff(efforts, axis=0, append=efforts[-1:]) / np.diff(t, append=2 * t[-1] - t[-2])[:, None]
        return Feedback(_linear, effort=Sampled(efforts), slope=Sampled(slopes), since=Sampled(t, 0))
    if options.torque == "hold":
        start = np.asarray(model.neutral if options.q is None else options.q)
        held = np.array(model.gravity_torque(start))
        held -= model.kernel("external_efforts")(start, external) if external.any() else 0.0
        held += model.spring_torque(start, np.zeros(model.nv)) if model.springs else 0.0
        held[:base] = 0.0
        return held

    def compensation(_: Any, q: Any, __: Any) -> Any:
        efforts = np.array(gravity_torque(model, q), dtype=object)
        efforts[:base] = 0.0
        return efforts

    return Feedback(compensation) if options.torque == "gravity" else None


def _linear(t: Any, q: Any, qd: Any, effort: Any, slope: Any, since: Any) -> Any:
    return effort + slope * (t - since)


def _first_step(torque: Any) -> Any:
    """The same torque for the first step alone, with the same machine code."""
    sampled = getattr(torque, "inputs", {})
    first = {name: Sampled(value.values[:2], len(value.shape)) for name, value in sampled.items()}
    return torque.replace(**first) if first else torque


def _efforts(name: str, tree: Tree) -> RecordedEfforts:
    """Read the efforts of a file; reject arguments that are neither a keyword nor a file."""
    if not os.path.exists(name):
        guess = did_you_mean(name, [*LAWS])
        refuse(f"there is no file {plain(name)!r}. {guess} Expected {', '.join(LAWS)} or a .csv file", "--torque")
    return read_efforts(name, tree)


# ── results ───────────────────────────────────────────────────────────────────────────────────────


def _write(model: Mechanism, motion: Trajectory, folder: Path, figures: str | None) -> tuple[list[str], list[str]]:
    """Write the files, all or none; return their names and notes on them."""
    kinetic, potential, tau = energies(motion)
    written, notes = ["trajectory.csv", "trajectory.npz"], []
    with Folder(folder) as opened:
        table = opened.open(written[0])
        table.write(simulated_header(model))
        for text in motion_rows(motion.t, motion.q, motion.qd, motion.qdd, tau, kinetic, potential):
            table.write(text)
        with tempfile.TemporaryDirectory() as aside:
            archive = Path(aside) / written[1]
            motion.save(archive)
            opened.write(written[1], archive.read_bytes())
        if figures:
            try:
                opened.write(f"trajectory.{figures}", rendered(motion.plot(model.name), figures))
                written.append(f"trajectory.{figures}")
            except MissingExtraError as error:
                notes.append(f"no figure: {error}")
    return [plain(folder / name) for name in written], notes


def _parts(
    model: Mechanism, run: SimulationRun, account: EnergyAccount, options: Options, data: dict[str, Any]
) -> Iterator[str | Table]:
    if data["external"].any():
        yield f"on the tool: {action(data['external'])} (from the file)"
    fixed_step = options.method in INTEGRATORS
    torque = LAWS.get(options.torque, f"efforts from {plain(options.torque)}")
    steps = f"in {run.steps:,} steps of" if fixed_step else "recorded every"
    friction = "with friction" if has_friction(model) else "no friction"
    span = f"{run.steps * options.dt:g} s {steps} {options.dt:g} s"
    yield f"{plain(model.name)}: {span}, {options.method}, {torque}, {friction}"
    yield from _tables(model, run.motion, account)
    rate = f", {run.steps / run.took:,.0f} steps per second" if fixed_step else ""
    yield f"took {duration(run.took)}{rate}; plus {duration(run.compiled)} to compile or load"
    if data["remark"]:
        yield f"remark: {data['remark']}"
    yield from limit_remarks(model, [*data["outside_limits"].values()], len(run.motion))
    yield from run.remarks
    yield "wrote " + ", ".join(data["files"])
    yield from data["notes"][len(run.remarks) :]


def _tables(model: Mechanism, motion: Trajectory, account: EnergyAccount) -> Iterator[Table]:
    """A base that floats, the joints, the energy."""
    end = f"t = {short(float(motion.t[-1]))} s"
    for at in model.manifold_joints:
        state = manifold_state(at, motion.q[-1], motion.qd[-1])
        yield manifold_table(f"{manifold_title(at)} at the end, {end}", at, state, STATE, short)
    if model.n:
        yield _joint_table(f"joints from the start to the end, {end}", model, motion)
    if model.floating:
        yield momentum_table(model, motion)
    ends = zip(("at the start", "at the end"), account.kinetic, account.potential, strict=True)
    rows: list[tuple[Any, ...]] = [(name, kinetic, potential, kinetic + potential) for name, kinetic, potential in ends]
    works = {"work of the motors": account.work, "work on the tool": account.external, "lost in friction": account.lost}
    rows += [(), *((name, None, None, value) for name, value in works.items() if value is not None)]
    rows.append(("drift", None, None, f"{account.drift:.2g}"))
    heads = ("kinetic", "potential", "sum")
    columns = [Column(name, write=lambda value: f"{value + 0.0:.8g}", right=True) for name in heads]
    title = "energy; drift is the energy change that motors, friction and loads do not explain"
    yield Table([title], ["energy [J]", *columns], rows)


def _joint_table(title: str, model: Mechanism, motion: Trajectory) -> Table:
    rows = []
    for name, is_length, k, v in joint_columns(model):
        q, qd, unit = motion.q[:, k], motion.qd[:, v], "m" if is_length else "rad"
        place = (*map(short, (q[0], q[-1])), f"{short(q.min())} .. {short(q.max())}", unit)
        rows.append((name, *place, *map(short, (qd[0], qd[-1], np.abs(qd).max())), f"{unit}/s"))
    titles = ("from", "to", "least .. greatest", "", "velocity from", "to", "peak velocity", "")
    return Table([title], ["joint", *(Column(head, right=bool(head)) for head in titles)], rows)
