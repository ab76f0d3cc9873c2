"""Compute an algorithm at many random configurations and parameters."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click

from linkwise.cli.command import Options, Output, command, mechanism, option, progress_bar
from linkwise.cli.options import ParamType, complete_algorithm, file_name, kinds_of, numbers, refuse
from linkwise.files import Description
from linkwise.mechanism import Mechanism
from linkwise.model.formatting.table import Column, Table, duration, plain
from linkwise.model.quantities import names
from linkwise.parameter_sweep import FORMATS, Sweep
from linkwise.parameter_sweep import run as compute
from linkwise.parameter_sweep.sweep import INPUTS

#: Separator before the end of a range.
TO = ".."


class Ranges(ParamType):
    """A parameter or a coordinate and its range, as mass:link3=1..5; a repeated option gives a dict of all."""

    name, metavar = "ranges", "NAME=A..B"

    def resolve(self, texts: tuple[str, ...], model: Mechanism, option: str) -> dict[str, tuple[float, float]]:
        """Read names and numbers, angles also in degrees."""
        result: dict[str, tuple[float, float]] = {}
        for text in texts:
            name, ends = _range(text, model, option)
            if name in result:
                refuse(f"{name} has two ranges; expected one", option)
            result[name] = ends
        return result


class Count(ParamType):
    """A whole number above 0, also as 1e8."""

    name, metavar = "count", "N"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read the number."""
        try:
            count = float(value)
        except ValueError:
            count = 0.0
        if count < 1 or count != int(count):
            self.fail(f"{value!r} is not a whole number above 0, such as 1000 or 1e8", param, ctx)
        return int(count)


@command(
    mechanism(),
    option("--over", type=Ranges(), multiple=True, help="Parameter, uniformly distributed from A to B; may be repeated."),
    option("--algorithm", default="inverse_dynamics", shell_complete=complete_algorithm, help="Algorithm to compute."),
    option("--samples", type=Count(), default="10000", help="Number of samples."),
    option("--chunk", type=Count(), default="100000", help="Number of samples in one part of the results."),
    option("--seed", type=click.IntRange(0), default=0, help="Seed of the samples."),
    option(
        "-o",
        "--output",
        metavar="DIR",
        type=click.Path(file_okay=False),
        help="Folder of the results. Default: out/NAME_sweep.",
    ),
    option("--format", type=click.Choice(list(FORMATS)), default="parquet", help="Format of the results."),
    option("--processes", type=click.IntRange(1), help="Number of processes. Default: one for each processor."),
    option("--scheduler", metavar="ADDRESS", help="Scheduler of dask.distributed, such as tcp://10.0.0.1:8786."),
)
def sweep(description: Description, options: Options) -> Output:
    """Compute an algorithm of a MECHANISM at random samples of configurations and parameters.

    NAME is mass:LINK (kg), payload (a point mass in the tool, kg), q:JOINT, qd:JOINT, qdd:JOINT or tau:JOINT, or a symbol of
    the mechanism. Other coordinates are uniformly distributed over their limits; other velocities, accelerations and efforts
    are zero.

    The same command continues a run that was stopped: existing chunks in the folder are not computed again.

    \b
    Examples:
      linkwise sweep puma560 --over mass:link3=1..5 --samples 1e6
      linkwise sweep ur5 --over payload=0..5 --over q:elbow_joint=-90deg..90deg
      linkwise sweep panda --samples 1e8 --scheduler tcp://10.0.0.1:8786
    """  # noqa: D301  (\b keeps click from filling the lines)
    model = description.mechanism
    plan = Sweep.of(
        model, options.algorithm, dict(options.over), samples=options.samples, chunk=options.chunk, seed=options.seed
    )
    folder = Path(options.output or Path("out", f"{file_name(model.name)}_sweep"))
    began = time.perf_counter()
    with progress_bar(f"{options.algorithm}", options.as_json) as update:
        computed = compute(
            plan,
            folder,
            format=options.format,
            scheduler=options.scheduler,
            processes=options.processes,
            progress=lambda done, count: update(
                completed=done, total=count, description=f"{min(done * plan.chunk, plan.samples):,} samples", visible=True
            ),
            dashboard=lambda address: click.echo(f"dashboard: {plain(address)}", err=True),
        )
    seconds = time.perf_counter() - began
    facts = {
        "mechanism": model.name,
        **{name: getattr(plan, name) for name in ("algorithm", "samples", "chunks", "seed", "over", "columns")},
        "computed": computed,
        "seconds": seconds,
        "folder": str(folder),
    }
    return Output(facts, _parts(plan, computed, seconds, folder))


def _parts(plan: Sweep, computed: int, seconds: float, folder: Path) -> list[str | Table]:
    title = f"{plain(plan.mechanism.name)}: {plan.algorithm} at {plan.samples:,} samples"
    rows = [(name, f"{low:g}", f"{high:g}") for name, (low, high) in plan.over.items()]
    table = Table([title], ["over", *(Column(name) for name in ("least", "greatest"))], rows)
    kept = f", {plan.chunks - computed} were there" if computed < plan.chunks else ""
    return [
        table if rows else title,
        f"{computed} of {plan.chunks} chunks computed{kept}, in {duration(seconds)}; {plan.bytes / 1e6:.3g} MB of numbers",
        f"results: {plain(folder)}",
    ]


def _range(text: str, model: Mechanism, option: str) -> tuple[str, tuple[float, float]]:
    name, equals, ends = text.partition("=")
    if not equals or TO not in ends:
        refuse(f"{text!r} is not NAME=A..B, such as mass:{model.link_names[-1]}=1..5", option)
    quantity, _, item = name.partition(":")
    kind = ""
    if quantity in INPUTS and item in names(model, quantity):
        kind = kinds_of(model, quantity)[names(model, quantity).index(item)]
    low, high = (numbers(end, option, [kind]) for end in ends.split(TO, 1))
    if len(low) != 1 or len(high) != 1:
        refuse(f"{text!r} is not NAME=A..B with two numbers", option)
    return name, (low[0], high[0])
