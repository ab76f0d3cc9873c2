"""``linkwise convert``: from one description format to another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from linkwise.cli.mechanism import description, mechanism_argument

if TYPE_CHECKING:
    from linkwise.errors import FileError


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
    """
    from linkwise import files
    from linkwise.errors import FileError
    from linkwise.model.table import plain

    found = description(mechanism)
    lost: FileError | None = None
    try:
        files.save(found.mechanism, out, external=found.external, source=found.source)
    except FileError as error:
        if not allow_loss:
            raise
        files.save(found.mechanism, out, external=found.external, source=found.source, allow_loss=True)
        lost = error
    click.echo(f"wrote {plain(out)}")
    for problem in lost.problems if lost else ():
        click.echo(f"  lost: {plain(problem.message.partition(';')[0])}", err=True)
