"""The work of ``linkwise simulate``: initial state, efforts and instants as the options say, and the motion they give."""

from __future__ import annotations

import os
import time as clock
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from linkwise.cli.torque_file import Recorded
    from linkwise.errors import SimulationError
    from linkwise.mechanism import Mechanism
    from linkwise.simulation import Feedback
    from linkwise.spatial.scalar import FloatArray
    from linkwise.trajectory import Trajectory

STEPPED = ("rk4", "semi_implicit_euler", "euler")
"""The methods of `linkwise.simulate` that go by fixed steps."""

METHODS = (*STEPPED, "rk23", "rk45", "dop853", "radau", "bdf", "lsoda")
"""All of them."""

LAWS = ("zero", "hold", "gravity")
"""What --torque takes beside a file."""

DURATION = 5.0
"""How long a simulation lasts where nothing says it, s."""

MOST_STEPS, MOST_RECORDED = 100_000_000, 1_000_000
"""Beyond these the instants would fill the memory."""


@dataclass(frozen=True)
class Simulated:
    """A motion, how long it took, s: to compile or load, and to integrate; and what `linkwise.simulate` warned of."""

    motion: Trajectory
    steps: int
    compiled: float
    took: float
    remarks: tuple[str, ...] = ()


def integrated(mechanism: Mechanism, options: dict[str, Any], external: FloatArray) -> Simulated:
    """Integrate what the options say, with a force and moment (6,) on the tool.

    The first step of all is taken apart, for it compiles.
    """
    import linkwise
    from linkwise.cli import state, torque_file
    from linkwise.errors import LinkwiseWarning, SimulationError

    _check_friction(mechanism, options["method"])
    q0, qd0 = state.coordinates(options["q"], mechanism), state.speeds(options["qd"], mechanism)
    named = options["torque"]
    _check_torque(named)
    recorded = None if named in LAWS else torque_file.read(named, mechanism)
    t = _instants(options, recorded)
    torque = _torque(mechanism, named, q0, t, recorded, external)
    settings: dict[str, Any] = {"method": options["method"], "hold": False}
    settings |= {"external": external} if external.any() else {}
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", LinkwiseWarning)
            start = clock.perf_counter()
            linkwise.simulate(mechanism, q0, qd0, torque=_at_first(torque), t=t[:2], energies=True, **settings)
            compiled = clock.perf_counter()
            caught.clear()
            settings |= {"record": options["record"], "energies": True}
            motion = linkwise.simulate(mechanism, q0, qd0, torque=torque, t=t, **settings)
            done = clock.perf_counter()
    except SimulationError as error:
        raise click.ClickException(_lost(error, options["method"])) from error
    _check_finite(motion)
    remarks = tuple(str(warning.message) for warning in caught)
    return Simulated(motion, len(t) - 1, compiled - start, done - compiled, remarks)


def moved(mechanism: Mechanism, options: dict[str, Any]) -> Mechanism:
    """Return what is simulated: without friction, if that is asked for."""
    return mechanism if options["friction"] else mechanism.nofriction()


def _check_torque(named: str) -> None:
    """Refuse what is neither a word nor a file."""
    import difflib

    from linkwise.model.table import plain

    if named in LAWS or os.path.exists(named):
        return
    near = difflib.get_close_matches(named.lower(), LAWS, 1)
    guess = f" Did you mean {near[0]!r}?" if near else ""
    what = f"there is no file {plain(named)!r}.{guess} Expected {', '.join(LAWS)} or a .csv file"
    raise click.BadParameter(what, param_hint="--torque")


def _check_friction(mechanism: Mechanism, method: str) -> None:
    """Refuse what would hardly ever come to an end: adaptive steps across the jump of Coulomb friction."""
    if method not in STEPPED and any(any(drive.motor.coulomb) for drive in mechanism.drives):
        why = f"{method} takes ever shorter steps where Coulomb friction jumps, at rest"
        raise click.ClickException(f"{why}; go by fixed steps (--method rk4), or add --no-friction")


def _instants(options: dict[str, Any], recorded: Recorded | None) -> FloatArray:
    """Instants of all steps, s; they begin where the recorded efforts do."""
    import numpy as np

    dt, time = options["dt"], options["time"]
    first, last = (0.0, np.inf) if recorded is None else (float(recorded.t[0]), float(recorded.t[-1]))
    asked = time if time is not None else DURATION if recorded is None else last - first
    if asked / dt > MOST_STEPS:
        raise click.BadParameter(f"{asked / dt:.3g} steps; expected {MOST_STEPS:,} at most", param_hint="--dt")
    if time is None and recorded is not None:
        time = int((last - first) / dt + 1e-6) * dt
    time = DURATION if time is None else time
    if recorded is not None and (not time or time > (last - first) * (1 + 1e-9)):
        span = f"efforts from {first:g} to {last:g} s"
        raise click.BadParameter(f"{recorded.path} holds {span}, not for {time or dt:g} s", param_hint="--time")
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


def _torque(
    mechanism: Mechanism, named: str, q0: Any, t: FloatArray, recorded: Recorded | None, external: FloatArray
) -> Any:
    """What `linkwise.simulate` takes for it; motors act on joints only."""
    import numpy as np

    from linkwise.cli.simulated import pushes
    from linkwise.dynamics import gravity_torque
    from linkwise.simulation import Feedback

    if recorded is not None:
        return _linear(recorded, t)
    first = mechanism.nv - mechanism.n
    if named == "hold":
        start = np.asarray(mechanism.neutral if q0 is None else q0)
        held = np.array(mechanism.gravity_torque(start))
        held -= pushes(mechanism, start, external) if external.any() else 0.0
        held[:first] = 0.0
        return held

    def compensation(_: Any, q: Any, __: Any) -> Any:
        efforts = np.array(gravity_torque(mechanism, q), dtype=object)
        efforts[:first] = 0.0
        return efforts

    return Feedback(compensation) if named == "gravity" else None


def _linear(recorded: Recorded, t: FloatArray) -> Feedback:
    """Make the law that goes in a straight line from the effort of each instant to the next."""
    import numpy as np

    from linkwise.simulation import Feedback, Sampled

    efforts = recorded.at(t)
    slopes = np.diff(efforts, axis=0, append=efforts[-1:]) / np.diff(t, append=2 * t[-1] - t[-2])[:, None]
    return Feedback(_on_the_line, effort=Sampled(efforts), slope=Sampled(slopes), since=Sampled(t, 0))


def _on_the_line(t: Any, q: Any, qd: Any, effort: Any, slope: Any, since: Any) -> Any:
    return effort + slope * (t - since)


def _at_first(torque: Any) -> Any:
    """The same torque for the first step alone, with the same machine code."""
    from linkwise.simulation import Sampled

    sampled = getattr(torque, "inputs", {})
    first = {name: Sampled(value.values[:2], len(value.shape)) for name, value in sampled.items()}
    return torque.replace(**first) if first else torque


def _lost(error: SimulationError, method: str) -> str:
    """Say where the state was lost, and what may help."""
    if method in STEPPED:
        return f"the state is not finite at t = {error.time:g} s; a shorter --dt may help, or --method dop853"
    reason = str(error).partition(": ")[2] or str(error)
    return f"{reason}; another --method may help"


def _check_finite(motion: Trajectory) -> None:
    """Leave where the state is finite and what follows from it no more."""
    import numpy as np

    known = [motion.qdd, motion.energy[:, None] if motion.energy is not None else motion.qdd]
    wrong = ~np.all([np.isfinite(values).all(axis=1) for values in known], axis=0)
    if wrong.any():
        at = float(motion.t[int(np.argmax(wrong))])
        raise click.ClickException(f"accelerations or energies are not finite at t = {at:g} s; a shorter --dt may help")
