"""``linkwise check``: everything wrong with a file at once."""

from __future__ import annotations

import click


@click.command(short_help="Everything wrong with a description file, at once.")
@click.argument("file", type=click.Path())
def check(file: str) -> None:
    """Say everything that is wrong with a description FILE, each with its line.

    The exit status is 0 if the file can be used and 1 if not. What is odd but allowed is told as a remark.

    \b
    Examples:
      linkwise check my_robot.toml
      linkwise check SCARA.DAT && linkwise run SCARA.DAT SCARA.MOT
    """
    from linkwise import files
    from linkwise.model.table import joint_letters, number, plain

    problems = files.check(file)
    if problems:
        click.echo(f"{plain(file)}: {len(problems)} problem{'s' if len(problems) > 1 else ''}")
        for problem in problems:
            click.echo(f"  {plain(str(problem))}")
        raise SystemExit(1)
    mechanism = files.load(file)
    mass = sum(link.body.mass for link in mechanism.links) + mechanism.payload.mass
    joints = f"{mechanism.n} joint{'s' if mechanism.n != 1 else ''} {joint_letters(mechanism)}".strip()
    click.echo(f"{plain(file)}: ok, {plain(mechanism.name)} with {joints}, {len(mechanism.links)} links, {number(mass)} kg")
    for remark in files.remarks(file):
        click.echo(f"  remark: {plain(str(remark))}")
