"""``linkwise convert``: from one description format to another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from linkwise.cli.as_json import json_option, print_json
from linkwise.cli.mechanism import mechanism_argument
from linkwise.cli.reading import description, is_table, reading_options, spoken
from linkwise.cli.words import say

if TYPE_CHECKING:
    from linkwise.files import Description


@click.command(short_help="From one description format to another.")
@mechanism_argument()
@click.argument("out", type=click.Path())
@click.option("--allow-loss", is_flag=True, help="Write even if OUT leaves something out; what is lost is told.")
@click.option("--out-dialect", metavar="NAME", help="Of OUT, where both are tables; --dialect unless said.")
@json_option
@reading_options
def convert(mechanism: str, out: str, allow_loss: bool, out_dialect: str | None, as_json: bool) -> None:
    """Write MECHANISM in the format that the suffix of OUT says: .toml holds everything, .DAT, .urdf and .csv what they can.

    A .csv is a Denavit-Hartenberg table. What its columns are must be said with --dialect, whether it is read or written.

    \b
    Examples:
      linkwise convert SCARA.DAT scara.toml
      linkwise convert my_robot.toml my_robot.DAT --allow-loss
      linkwise convert puma560 puma560.toml     a bundled robot, to be edited
      linkwise convert my_robot.urdf my_robot.toml
      linkwise convert table.csv my_robot.urdf
                       --dialect matlab --convention standard
    """  # noqa: D301  (\b keeps click from filling the lines)
    from linkwise import files
    from linkwise.files.loss import advice
    from linkwise.model.table import plain

    found = description(mechanism)
    dialect = out_dialect or spoken().dialect
    shapes = found.shapes if out.lower().endswith(".urdf") else ()
    lost, never = _left_out(found, out, dialect)
    if never or (lost and not allow_loss):
        groups = {"would be lost:": lost, "cannot be written at all:": never}
        lines = [line for head, group in groups.items() if group for line in (head, *(f"  {plain(what)}" for what in group))]
        listed = "\n".join(f"  {line}" for line in lines)
        hint = advice(never, "add --allow-loss").capitalize()
        raise click.ClickException(f"{plain(out)} cannot hold all of {plain(found.mechanism.name)}\n{listed}\n{hint}.")
    if is_table(out):
        files.save_dh(found.mechanism, out, str(dialect), allow_loss=allow_loss)
    else:
        files.save(found.mechanism, out, external=found.external, source=found.source, shapes=shapes, allow_loss=allow_loss)
    if found.shapes and not shapes:
        lost = [*lost, "what the links look like and collide with (only a .urdf holds it)"]
    if as_json:
        print_json({"file": out, "lost": lost})
        return
    say(f"wrote {plain(out)}")
    for what in lost:
        say(f"  lost: {plain(what)}")


def _left_out(found: Description, out: str, dialect: str | None) -> tuple[list[str], list[str]]:
    """Say what OUT leaves out, and what keeps it from being written."""
    from linkwise.errors import FileError, FileProblem, choices
    from linkwise.files import spacelib_dat
    from linkwise.files.dh import write as dh_write
    from linkwise.files.dh.dialects import DIALECTS
    from linkwise.files.dh.table import dialect_of
    from linkwise.files.urdf import losses as urdf_losses

    mechanism = found.mechanism
    if out.lower().endswith(".dat"):
        return spacelib_dat.losses(mechanism), spacelib_dat.obstacles(mechanism)
    if out.lower().endswith(".urdf"):
        return urdf_losses.losses(mechanism, found.external, found.shapes), urdf_losses.obstacles(mechanism)
    if not is_table(out):
        return [], []
    if dialect is None:
        raise FileError(out, [FileProblem(0, f"a table needs its dialect named: --dialect {choices(DIALECTS)}")])
    lost = dh_write.losses(mechanism, dialect_of(dialect))
    acting = ["what acts on its tool (external)"] if found.external.any() else []
    return [*lost, *acting], dh_write.obstacles(mechanism, dialect_of(dialect))
