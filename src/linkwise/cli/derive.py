"""``linkwise derive``: kinematics and dynamics of a mechanism as equations."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from linkwise.cli.as_json import json_option
from linkwise.cli.finite import Finite
from linkwise.cli.mechanism import mechanism_argument
from linkwise.cli.reading import description, reading_options
from linkwise.cli.words import say
from linkwise.short_names import algorithm_name

if TYPE_CHECKING:
    from linkwise.equations.derivation import Derivation
    from linkwise.mechanism import Mechanism

WAYS = ("text", "markdown", "latex", "sympy", "json")
SUFFIXES = {".txt": "text", ".md": "markdown", ".tex": "latex", ".py": "sympy", ".json": "json"}
NARROWEST, WIDEST = 60, 160


@click.command(short_help="Kinematics and dynamics as equations, in text, LaTeX, SymPy.")
@mechanism_argument()
@click.argument("what", nargs=-1)
@click.option(
    "--form",
    type=click.Choice(["recursive", "explicit", "harmonic"]),
    help="Recursive: as it is computed fast, with named intermediate values; explicit: every element written out; harmonic:"
    " sums of sines and cosines of sums of angles. Explicit unless said, or recursive where there is no other.",
)
@click.option("--as", "way", type=click.Choice(WAYS), help="How it is written; text, or what the suffix of -o says.")
@click.option("--symbols", metavar="KINDS", help="Numbers to replace by symbols: inertial, lengths, gravity, motors.")
@click.option("--zeros", is_flag=True, help="With --symbols: inertial and motor parameters that are 0 become symbols too.")
@click.option("--no-motors", is_flag=True, help="Leave out rotor inertias and friction.")
@click.option("--base", is_flag=True, help="In base parameters.")
@click.option(
    "--significance",
    type=Finite(0, 1, max_open=True),
    default=0.0,
    help="Drop terms (explicit, harmonic) that are smaller than this part of the largest one of their element.",
)
@click.option("--link", metavar="NAME", help="The frame of forward_kinematics and jacobian; the tool unless said.")
@click.option("--frame", type=click.Choice(["base", "body"]), help="The axes of the jacobian; base unless said.")
@click.option("--digits", type=click.IntRange(1, 17), help="Significant digits: 6 in text, 4 in LaTeX unless said.")
@click.option("--ascii", "plain", is_flag=True, help="In text, products as * and powers as **.")
@click.option("--document", is_flag=True, help="LaTeX as a whole document with a table of the symbols.")
@json_option
@click.option("-o", "--output", metavar="FILE", help="Write to a file: .txt, .md, .tex, .py or .json.")
@reading_options
def derive(mechanism: str, what: tuple[str, ...], **options: Any) -> None:
    """Derive kinematics and dynamics of a MECHANISM as equations.

    WHAT is M, C, g (mass matrix, Coriolis matrix, gravity: these three unless said), fk, J, id, fd (forward kinematics,
    Jacobian, inverse and forward dynamics), Y (regressor), or the name of any other algorithm, which has the recursive form.
    Each is checked against the compiled kernel; time and operations are told on the error output.

    \b
    Examples:
      linkwise derive planar_2r
      linkwise derive puma560 id --form recursive --symbols inertial --no-motors
      linkwise derive puma560 M --form harmonic --significance 0.01
      linkwise derive stanford fk J --as latex --document -o stanford.tex
    """  # noqa: D301  (\b keeps click from filling the lines)
    from linkwise.cli.output import write_bytes
    from linkwise.model.table import plain

    way = _way("json" if options["as_json"] and not options["way"] else options["way"], options["output"])
    if options["document"] and way != "latex":
        raise click.UsageError(f"--document is for LaTeX; this is {way}")
    model, values = _prepared(description(mechanism).mechanism, options)
    names = _names(what or ("M", "C", "g"), options)
    found = [_derived(model, values, name, options) for name in names]
    text = _written(found, way, options)
    if options["output"]:
        write_bytes(Path(options["output"]), (text.rstrip("\n") + "\n").encode())
        say(f"wrote {plain(options['output'])}", err=True)
    elif sys.stdout.isatty() and text.count("\n") > shutil.get_terminal_size().lines:
        click.echo_via_pager(text)
    else:
        click.echo(text)


def _way(asked: str | None, output: str | None) -> str:
    """Say how it is written."""
    suffix = Path(output).suffix.lower() if output else ""
    if asked is None and output and suffix not in SUFFIXES:
        from linkwise.errors import choices

        raise click.BadParameter(
            f"the file ends in {suffix!r}; expected {choices(SUFFIXES)}, or --as", param_hint="--output"
        )
    return asked or SUFFIXES.get(suffix, "text")


def _prepared(model: Mechanism, options: dict[str, Any]) -> tuple[Mechanism, dict[str, float]]:
    """The mechanism as it was asked for, without motors, with symbols; the numbers that these stand for."""
    if options["no_motors"]:
        model = model.replace(
            motors=(), links=[link.replace(motor=None) if link.motor is not None else link for link in model.links]
        )
    if not options["symbols"]:
        return model, {}
    kinds = [kind.strip() for kind in options["symbols"].split(",") if kind.strip()]
    return model.symbolic(*kinds, zeros=options["zeros"]), model.symbol_values(*kinds, zeros=options["zeros"])


def _names(given: tuple[str, ...], options: dict[str, Any]) -> list[str]:
    """The algorithms that were asked for; options that none of them takes are refused."""
    for word in given:
        if "," in word:
            apart = " ".join(part.strip() for part in word.split(",") if part.strip())
            raise click.UsageError(f"{word!r}: separate with spaces: {apart}")
    names = [algorithm_name(word) for word in given]
    for key in ("link", "frame"):
        if options[key] is not None and not any(_takes(name, key) for name in names):
            what = "fk, J and others of a frame" if key == "link" else "J and others with axes"
            hint = "; the first links alone are Mechanism(mechanism.links[:2]) in Python" if key == "link" else ""
            raise click.UsageError(f"--{key} is for {what}, not for {' '.join(given)}{hint}")
    return names


def _derived(model: Mechanism, values: dict[str, float], what: str, options: dict[str, Any]) -> Derivation:
    """One result, with its time and size told."""
    from linkwise.equations.derivation import WRITTEN_OUT, counted
    from linkwise.equations.derivation import derive as made

    form = options["form"] or ("explicit" if what in WRITTEN_OUT else "recursive")
    chosen = {key: options[key] for key in ("link", "frame") if options[key] is not None and _takes(what, key)}
    if options["significance"] and values:
        chosen["values"] = values
    found = made(model, what, form, base=options["base"], significance=options["significance"], **chosen)
    bound = f", off by {found.bound:.2g} at most" if found.bound else ""
    say(f"{what}, {form}: {found.seconds:.2f} s; {found.terms:,} terms, {counted(found.operations)}{bound}", err=True)
    return found


def _takes(what: str, option: str) -> bool:
    from linkwise.algorithm import find

    return option in find(what).options


def _written(found: list[Derivation], way: str, options: dict[str, Any]) -> str:
    """All results in one text."""
    if way == "json":
        return _json(found)
    digits = {} if options["digits"] is None else {"digits": options["digits"]}
    if way == "latex" and options["document"]:
        from linkwise.equations.writing.latex import latex_document

        return latex_document([made.listing for made in found], **digits)
    if way == "latex":
        return "\n\n".join(f"% {made.listing.title}\n{made.to_latex(**digits)}" for made in found)
    if way == "markdown":
        return "\n".join(made.to_markdown(**digits) for made in found)
    if way == "sympy":
        return "\n\n".join(made.to_source() for made in found)
    width = WIDEST if options["output"] else min(max(shutil.get_terminal_size((100, 24)).columns, NARROWEST), WIDEST)
    return "\n\n\n".join(made.to_text(width=min(width, 120), plain=options["plain"], **digits) for made in found)


def _json(found: list[Derivation]) -> str:
    import json

    from linkwise.equations.writing.source import to_data

    data = [
        {"what": made.what, "form": made.form, "bound": made.bound, "operations": made.operations, **to_data(made.listing)}
        for made in found
    ]
    return json.dumps(data, indent=1)
