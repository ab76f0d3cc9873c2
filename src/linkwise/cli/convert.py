"""``linkwise convert``: from one description format to another."""

from __future__ import annotations

import click

from linkwise.cli.mechanism import description, mechanism_argument


@click.command(short_help="From one description format to another.")
@mechanism_argument()
@click.argument("out", type=click.Path())
@click.option("--allow-loss", is_flag=True, help="Write even if OUT cannot hold everything; what is lost is told.")
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
    lost = spacelib_dat.losses(found.mechanism) if out.lower().endswith(".dat") else []
    if lost and not allow_loss:
        listed = "\n".join(f"  {plain(what)}" for what in lost)
        raise click.ClickException(
            f"{plain(out)} cannot hold\n{listed}\nSave as .toml, which holds everything, or add --allow-loss."
        )
    files.save(found.mechanism, out, external=found.external, source=found.source, allow_loss=allow_loss)
    click.echo(f"wrote {plain(out)}")
    for what in lost:
        click.echo(f"  lost: {plain(what)}")
