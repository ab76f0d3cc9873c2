"""Convert a description to another format."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from linkwise import files
from linkwise.cli.command import Options, Output, argument, command, mechanism, option
from linkwise.cli.reading import is_table
from linkwise.errors import choices
from linkwise.files import Description
from linkwise.files.formats.dh.table import DIALECTS, dialect_of
from linkwise.files.formats.dh.writer import losses
from linkwise.files.losses import Losses
from linkwise.files.registry import formats
from linkwise.files.text import refused
from linkwise.model.formatting.table import plain


@command(
    mechanism(),
    argument("out", type=click.Path()),
    option("--allow-loss", is_flag=True, help="Write even if OUT cannot hold everything; losses are listed."),
    option("--out-dialect", metavar="NAME", help="Dialect of OUT, where both files are tables. Default: that of --dialect."),
)
def convert(description: Description, options: Options) -> Output:
    """Write MECHANISM in the format that the suffix of OUT says: .toml holds everything, .DAT, .urdf and .csv what they can.

    A .csv is a Denavit-Hartenberg table. What its columns are must be stated with --dialect, whether it is read or written.

    \b
    Examples:
      linkwise convert SCARA.DAT scara.toml
      linkwise convert my_robot.toml my_robot.DAT --allow-loss
      linkwise convert puma560 puma560.toml     a bundled robot, to be edited
      linkwise convert my_robot.urdf my_robot.toml
      linkwise convert table.csv my_robot.urdf
                       --dialect matlab --convention standard
    """  # noqa: D301  (\b keeps click from filling the lines)
    model, out = description.mechanism, options.out
    dialect = options.out_dialect or options.reading.dialect
    shapes = description.shapes if out.lower().endswith((".urdf", ".toml")) else ()
    left_out = _left_out(description, out, dialect)
    lost, never = left_out.lost, left_out.never
    if never or (lost and not options.allow_loss):
        groups = {"would be lost:": lost, "cannot be written at all:": never}
        lines = [line for head, group in groups.items() if group for line in (head, *(f"  {plain(item)}" for item in group))]
        listed = "\n".join(f"  {line}" for line in lines)
        hint = left_out.advice("add --allow-loss").capitalize()
        raise click.ClickException(f"{plain(out)} cannot hold all of {plain(model.name)}\n{listed}\n{hint}.")
    if is_table(out):
        files.save_dh(model, out, str(dialect), allow_loss=options.allow_loss)
    else:
        kept: dict[str, Any] = {"source": description.source, "shapes": shapes, "allow_loss": options.allow_loss}
        files.save(model, out, external=description.external, **kept)
    if description.shapes and not shapes:
        lost = [*lost, "what the links look like and collide with (only a .urdf and a .toml hold it)"]
    return Output({"file": out, "lost": lost}, [f"wrote {plain(out)}", *(f"  lost: {plain(item)}" for item in lost)])


def _left_out(description: Description, out: str, dialect: str | None) -> Losses:
    """Losses of OUT, and the features for which it cannot be written."""
    if not is_table(out):
        suffix = Path(out).suffix.lower()
        held = replace(description, shapes=description.shapes if suffix in {".urdf", ".toml"} else ())
        return next((form.losses(held) for form in formats() if suffix in form.suffixes), Losses())
    if dialect is None:
        raise refused(out, f"a table needs its dialect named: --dialect {choices(DIALECTS)}")
    left_out = losses(description.mechanism, dialect_of(dialect))
    left_out.lost += ["what acts on its tool (external)"] if description.external.any() else []
    return left_out
