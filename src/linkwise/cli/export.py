"""``linkwise export``: functions of a mechanism as C, Python, JAX, CUDA or Rust."""

from __future__ import annotations

import csv
import io
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from linkwise.cli.as_json import json_option, print_json
from linkwise.cli.bench import complete_algorithm
from linkwise.cli.mechanism import mechanism_argument
from linkwise.cli.reading import description, reading_options
from linkwise.cli.words import say
from linkwise.short_names import SHORT

if TYPE_CHECKING:
    from linkwise.export import Sources
    from linkwise.mechanism import Mechanism

LANGUAGES = ("c", "python", "jax", "cuda", "rust")


@click.command(short_help="Functions as C, Python, JAX, CUDA or Rust.")
@mechanism_argument()
@click.argument("kernels", nargs=-1, required=True, shell_complete=complete_algorithm)
@click.option("--language", type=click.Choice(LANGUAGES), default="c", show_default=True, help="What is written.")
@click.option("-o", "--output", metavar="FOLDER", default=".", help="Where the files go; the current folder unless said.")
@click.option("--precision", type=click.Choice(["double", "single"]), default="double", help="Of C, CUDA and Rust.")
@click.option("--option", "options", metavar="NAME=VALUE", multiple=True, help="Of the functions: frame=body, link=link3.")
@click.option("--name", metavar="NAME", help="Of the files; the mechanism's unless said.")
@click.option("--prefix", metavar="TEXT", default="", help="Before the name of each function.")
@click.option("--symbols", metavar="KINDS", help="Numbers that become parameters: inertial, lengths, gravity, motors.")
@click.option("--zeros", is_flag=True, help="With --symbols: inertial and motor parameters that are 0 become symbols too.")
@click.option("--no-motors", is_flag=True, help="Leave out rotor inertias and friction.")
@click.option("--no-test", is_flag=True, help="Write no test program beside C, CUDA and Rust.")
@click.option("--force", is_flag=True, help="Replace files that are there.")
@json_option
@reading_options
def export(mechanism: str, kernels: tuple[str, ...], **options: Any) -> None:
    """Write functions of a MECHANISM as code that needs no Linkwise.

    KERNELS are names such as forward_kinematics or inverse_dynamics, or short ones: fk, J, M, C, g, id, fd, Y. All go into
    one file, C also gets a header, and C, CUDA and Rust a test with random points and the results that they must give.

    \b
    Examples:
      linkwise export puma560 fk id -o controller
      linkwise export puma560 J --option frame=body --precision single
      linkwise export my_robot.toml fd --language jax
      linkwise export puma560 id --symbols inertial --no-motors -o identified
    """  # noqa: D301  (\b keeps click from filling the lines)
    from linkwise.export import export as exported
    from linkwise.model.table import plain

    given = _without_motors(description(mechanism).mechanism, options["no_motors"])
    values: dict[str, float] = {}
    if options["symbols"]:
        groups = [group.strip() for group in options["symbols"].split(",") if group.strip()]
        zeros = options["zeros"]
        model, values = given.symbolic(*groups, zeros=zeros), given.symbol_values(*groups, zeros=zeros)
    else:
        model = given
    names = [SHORT.get(name, name) for name in kernels]
    chosen = _options(options["options"])
    made = exported(
        model,
        names,
        options["language"],
        precision=options["precision"],
        name=options["name"],
        prefix=options["prefix"],
        self_test=not options["no_test"],
        options=chosen,
    )
    written = _with_values(made, model, values).write(Path(options["output"]), force=options["force"])
    if options["as_json"]:
        print_json({"files": written, "operations": made.operations, "test": made.command or None})
        return
    for path in written:
        say(f"wrote {plain(str(path))}")
    for line in _operations(made.operations):
        say(line)
    if made.command:
        there = options["output"]
        click.echo(f"to try it: {'' if there == '.' else f'cd {shlex.quote(plain(there))} && '}{made.command}")


def _without_motors(model: Mechanism, wanted: bool) -> Mechanism:
    if not wanted:
        return model
    links = [link.replace(motor=None) if link.motor is not None else link for link in model.links]
    return model.replace(motors=(), links=links)


def _options(words: Sequence[str]) -> dict[str, Any]:
    """Options of algorithms, as they were typed: whole numbers are numbers.

    Examples
    --------
    >>> _options(["frame=body", "link=2"])
    {'frame': 'body', 'link': 2}
    """
    found: dict[str, Any] = {}
    for word in words:
        name, sign, value = word.partition("=")
        if not sign or not name:
            raise click.BadParameter(f"{word!r} is not NAME=VALUE, such as frame=body", param_hint="--option")
        found[name] = int(value) if value.lstrip("-").isdecimal() else value
    return found


def _with_values(made: Sources, model: Mechanism, values: Mapping[str, float]) -> Sources:
    """The files, and one with the numbers that the parameters had, in their order."""
    from linkwise.export import Sources

    if not values:
        return made
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(["name", "value"])
    table.writerows([name, repr(float(values[name]))] for name in model.symbols if name in values)
    stem = next(iter(made.files)).rpartition(".")[0]
    return Sources({**made.files, f"{stem}_parameters.csv": text.getvalue()}, made.operations, made.command)


def _operations(operations: Mapping[str, Mapping[str, int]]) -> list[str]:
    """Lines that say how much arithmetic each function is."""
    return [
        f"  {name}: {', '.join(f'{count} {kind}' for kind, count in counts.items()) or 'no operations'}"
        for name, counts in operations.items()
    ]
