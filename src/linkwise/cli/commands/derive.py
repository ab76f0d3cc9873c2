"""Derive kinematics and dynamics as equations: text, LaTeX, SymPy."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import click

from linkwise.algorithm import find
from linkwise.cli.command import File, Options, Output, Raw, argument, command, mechanism, option, say
from linkwise.cli.options import Finite, refuse
from linkwise.cli.symbols import SYMBOL_OPTIONS, symbolic
from linkwise.equations import derive as deriving
from linkwise.equations.derive import Derivation
from linkwise.equations.equations_of_motion import algorithm_name
from linkwise.equations.writers.latex import latex_document
from linkwise.equations.writers.sympy import to_data
from linkwise.errors import choices
from linkwise.files import Description
from linkwise.mechanism import Mechanism

FORMATS = ("text", "markdown", "latex", "sympy", "json")
SUFFIXES = {".txt": "text", ".md": "markdown", ".tex": "latex", ".py": "sympy", ".json": "json"}
NARROWEST, WIDEST, WIDEST_TEXT = 60, 160, 120


@command(
    mechanism(),
    argument("quantities", metavar="[QUANTITY]...", nargs=-1),
    option(
        "--form",
        type=click.Choice(["recursive", "explicit", "harmonic"]),
        help="recursive: the fastest computation, with named intermediate values; explicit: every element written out;"
        " harmonic: sums of sines and cosines of sums of angles. Default: explicit, or recursive where there is none.",
    ),
    option("--as", "format", type=click.Choice(FORMATS), help="Output format. Default: text, or that of the suffix of -o."),
    *SYMBOL_OPTIONS,
    option("--base", is_flag=True, help="Write the equations in base parameters."),
    option(
        "--significance",
        type=Finite(0, 1, max_open=True),
        default=0.0,
        help="Drop terms (explicit, harmonic) below this fraction of the largest term of their element.",
    ),
    option("--link", metavar="NAME", help="Link of forward_kinematics and jacobian. Default: the tool."),
    option("--frame", type=click.Choice(["world", "body"]), help="Axes of the jacobian. Default: world."),
    option("--digits", type=click.IntRange(1, 17), help="Significant digits. Default: 6 in text, 4 in LaTeX."),
    option("--ascii", "plain", is_flag=True, help="In text, write products as * and powers as **."),
    option("--document", is_flag=True, help="Write a complete LaTeX document with a table of the symbols."),
    option("-o", "--output", metavar="FILE", help="Write to a file: .txt, .md, .tex, .py or .json."),
)
def derive(description: Description, options: Options) -> Output:
    """Derive kinematics and dynamics of a MECHANISM as equations.

    QUANTITY is M, C, g (mass matrix, Coriolis matrix, gravity: the default), fk, J, id, fd (forward kinematics, Jacobian,
    inverse and forward dynamics), Y (regressor), or the name of any other algorithm, which has the recursive form.
    Each is checked against the compiled kernel; time and operation counts go to standard error.

    \b
    Examples:
      linkwise derive planar_2r
      linkwise derive puma560 id --form recursive --symbols inertial --no-motors
      linkwise derive puma560 M --form harmonic --significance 0.01
      linkwise derive stanford fk J --as latex --document -o stanford.tex
    """  # noqa: D301  (\b keeps click from filling the lines)
    options.format = _format(options)
    if options.document and options.format != "latex":
        raise click.UsageError(f"--document is for LaTeX; this is {options.format}")
    model, values = symbolic(description.mechanism, options)
    names = _names(options.quantities or ("M", "C", "g"), options)
    text = _text([_derived(model, values, name, options) for name in names], options)
    if not options.output:
        return Output(parts=[Raw([text], paged=True)])
    return Output(files=[File(Path(options.output), (text.rstrip("\n") + "\n").encode, err=True)])


def _format(options: Options) -> str:
    """Output format: the option, or that of the file's suffix."""
    if options.format or options.as_json:
        return options.format or "json"
    suffix = Path(options.output).suffix.lower() if options.output else ".txt"
    if suffix not in SUFFIXES:
        refuse(f"the file ends in {suffix!r}; expected {choices(SUFFIXES)}, or --as", "--output")
    return SUFFIXES[suffix]


def _names(words: Sequence[str], options: Options) -> list[str]:
    """Requested algorithms; options that none of them accepts are rejected."""
    for word in words:
        if "," in word:
            apart = " ".join(part.strip() for part in word.split(",") if part.strip())
            raise click.UsageError(f"{word!r}: separate with spaces: {apart}")
    names = [algorithm_name(word) for word in words]
    fitting = {"link": "fk, J and others of a frame", "frame": "J and others with axes"}
    for key, algorithms in fitting.items():
        if getattr(options, key) is not None and not any(key in find(name).options for name in names):
            hint = "; the first links alone are Mechanism(mechanism.links[:2]) in Python" if key == "link" else ""
            raise click.UsageError(f"--{key} is for {algorithms}, not for {' '.join(words)}{hint}")
    return names


def _derived(model: Mechanism, values: dict[str, float], name: str, options: Options) -> Derivation:
    """Derive one result; print its time and size."""
    form = options.form or ("explicit" if name in deriving.WRITTEN_OUT else "recursive")
    settings = {key: getattr(options, key) for key in ("link", "frame") if key in find(name).options}
    settings = {key: value for key, value in settings.items() if value is not None}
    if options.significance and values:
        settings["values"] = values
    derivation = deriving.derive(model, name, form, base=options.base, significance=options.significance, **settings)
    bound = f", off by {derivation.bound:.2g} at most" if derivation.bound else ""
    operations = deriving.counted(derivation.operations)
    say(f"{name}, {form}: {derivation.seconds:.2f} s; {derivation.terms:,} terms, {operations}{bound}", err=True)
    return derivation


def _text(results: Sequence[Derivation], options: Options) -> str:
    """All results in one text."""
    digits = {} if options.digits is None else {"digits": options.digits}
    if options.format == "json":
        kept = ("quantity", "form", "bound", "operations")
        entries = [{name: getattr(result, name) for name in kept} | to_data(result.listing) for result in results]
        return json.dumps(entries, indent=1)
    if options.format == "latex" and options.document:
        return latex_document([result.listing for result in results], **digits)
    if options.format == "latex":
        return "\n\n".join(f"% {result.listing.title}\n{result.to_latex(**digits)}" for result in results)
    if options.format == "markdown":
        return "\n".join(result.to_markdown(**digits) for result in results)
    if options.format == "sympy":
        return "\n\n".join(result.to_source() for result in results)
    columns = WIDEST if options.output else min(max(shutil.get_terminal_size((100, 24)).columns, NARROWEST), WIDEST)
    width = min(columns, WIDEST_TEXT)
    return "\n\n\n".join(result.to_text(width=width, plain=options.plain, **digits) for result in results)
