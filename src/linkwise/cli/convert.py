"""``linkwise convert``: from one description format to another."""

from __future__ import annotations

import click

from linkwise.cli.mechanism import description, mechanism_argument


@click.command(short_help="From one description format to another.")
@mechanism_argument()
@click.argument("out", type=click.Path())
@click.option("--allow-loss", is_flag=True, help="Write even if OUT leaves something out; what is lost is told.")
def convert(mechanism: str, out: str, allow_loss: bool) -> None:
    """Write MECHANISM in the format that the suffix of OUT says: .toml holds everything, .DAT what SpaceLib knows.

    \b
    Examples:
      linkwise convert SCARA.DAT scara.toml
      linkwise convert my_robot.toml my_robot.DAT --allow-loss
      linkwise convert puma560 puma560.toml       a copy of a bundled robot, to edit
    """  # noqa: D301  (\b keeps click from filling the lines)
    from linkwise import files
    from linkwise.files import spacelib_dat
    from linkwise.model.table import plain

    found = description(mechanism)
    is_dat = out.lower().endswith(".dat")
    lost, never = (tell(found.mechanism) if is_dat else [] for tell in (spacelib_dat.losses, spacelib_dat.obstacles))
    if never or (lost and not allow_loss):
        groups = {"would be lost:": lost, "cannot be written at all:": never}
        lines = [line for head, group in groups.items() if group for line in (head, *(f"  {plain(what)}" for what in group))]
        listed = "\n".join(f"  {line}" for line in lines)
        hint = spacelib_dat.advice(never, "add --allow-loss").capitalize()
        raise click.ClickException(f"{plain(out)} cannot hold all of {plain(found.mechanism.name)}\n{listed}\n{hint}.")
    files.save(found.mechanism, out, external=found.external, source=found.source, allow_loss=allow_loss)
    click.echo(f"wrote {plain(out)}")
    for what in lost:
        click.echo(f"  lost: {plain(what)}")
