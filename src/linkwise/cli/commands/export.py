"""Write functions as C, Python, JAX, CUDA or Rust."""

from __future__ import annotations

import csv
import io
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from linkwise.cli.command import Options, Output, argument, command, mechanism, option
from linkwise.cli.options import complete_algorithm
from linkwise.cli.symbols import SYMBOL_OPTIONS, symbolic
from linkwise.equations.equations_of_motion import SHORT
from linkwise.export import LANGUAGES, Sources
from linkwise.export import export as write_code
from linkwise.files import Description
from linkwise.mechanism import Mechanism
from linkwise.model.formatting.table import plain


@command(
    mechanism(),
    argument("kernels", nargs=-1, required=True, shell_complete=complete_algorithm),
    option("--language", type=click.Choice(list(LANGUAGES)), default="c", help="Language of the code."),
    option("-o", "--output", metavar="FOLDER", default=".", help="Folder of the files, created if needed."),
    option("--precision", type=click.Choice(["double", "single"]), default="double", help="Precision (C, CUDA, Rust)."),
    option("--option", "options", metavar="NAME=VALUE", multiple=True, help="Option of the functions: frame=body."),
    option("--name", metavar="NAME", help="Name of the files, without suffix. Default: that of the mechanism."),
    option("--prefix", metavar="TEXT", default="", help="Prefix of the name of each function."),
    *SYMBOL_OPTIONS,
    option("--no-test", is_flag=True, help="Write no test program."),
    option("--force", is_flag=True, help="Replace existing files."),
)
def export(description: Description, options: Options) -> Output:
    """Write functions of a MECHANISM as code that needs no Linkwise.

    KERNELS are names such as forward_kinematics or inverse_dynamics, or short names: fk, J, M, C, g, id, fd, Y. All go into
    one file, C also gets a header, and C, CUDA and Rust a test with random points and the results that they must give.

    \b
    Examples:
      linkwise export puma560 fk id -o controller
      linkwise export puma560 J --option frame=body --precision single
      linkwise export my_robot.toml fd --language jax
      linkwise export puma560 id --symbols inertial --no-motors -o identified
    """  # noqa: D301  (\b keeps click from filling the lines)
    model, values = symbolic(description.mechanism, options)
    sources = write_code(
        model,
        [SHORT.get(name, name) for name in options.kernels],
        options.language,
        precision=options.precision,
        name=options.name,
        prefix=options.prefix,
        self_test=not options.no_test,
        options=_kernel_options(options.options),
    )
    written = _with_values(sources, model, values).write(Path(options.output), force=options.force)
    lines = [f"wrote {plain(path)}" for path in written]
    for name, counts in sources.operations.items():
        lines.append(f"  {name}: {', '.join(f'{count} {kind}' for kind, count in counts.items()) or 'no operations'}")
    if sources.command:
        folder = "" if options.output == "." else f"cd {shlex.quote(plain(options.output))} && "
        lines.append(f"to try it: {folder}{sources.command}")
    return Output({"files": written, "operations": sources.operations, "test": sources.command or None}, lines)


def _kernel_options(words: Sequence[str]) -> dict[str, Any]:
    """Options of algorithms, as they were typed: whole numbers are numbers.

    Examples
    --------
    >>> _kernel_options(["frame=body", "link=2"])
    {'frame': 'body', 'link': 2}
    """
    values: dict[str, Any] = {}
    for word in words:
        name, sign, value = word.partition("=")
        if not sign or not name:
            raise click.BadParameter(f"{word!r} is not NAME=VALUE, such as frame=body", param_hint="--option")
        values[name] = int(value) if value.lstrip("-").isdecimal() else value
    return values


def _with_values(sources: Sources, model: Mechanism, values: Mapping[str, float]) -> Sources:
    """The files, and one with the numbers that the parameters had, in their order."""
    if not values:
        return sources
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(["name", "value"])
    table.writerows([name, repr(float(values[name]))] for name in model.symbols if name in values)
    stem = next(iter(sources.files)).rpartition(".")[0]
    return Sources({**sources.files, f"{stem}_parameters.csv": text.getvalue()}, sources.operations, sources.command)
