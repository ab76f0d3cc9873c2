"""The command ``linkwise`` itself: what it shows first, where its subcommands are, and how errors reach the user."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence

import click

from linkwise.cli.as_json import Output
from linkwise.cli.words import forced, painted, say
from linkwise.errors import LinkwiseError

COMMANDS = (
    "run",
    "simulate",
    "ik",
    "workspace",
    "serve",
    "show",
    "view",
    "derive",
    "export",
    "check",
    "convert",
    "bench",
    "spacelib",
    "completion",
)
"""In the order in which help lists them; each is the function of that name in the file of that name."""

FAILED, STOPPED = 2, 130
"""Exit statuses: an input that cannot be used, a run stopped by the user."""

WELCOME = """Kinematics and dynamics of linked rigid bodies: robots and other mechanisms.

\b
What to type first:
  linkwise show puma560              its table, and a picture in puma560.png
  linkwise view puma560              a page with sliders and a target to drag
  linkwise check my_robot.toml       everything wrong with a file, at once
  linkwise run my_robot.toml my_motion.csv
                                     positions, velocities, accelerations,
                                     joint forces and motor efforts, as
                                     tables, files and figures
  linkwise simulate my_robot.toml --q 30deg,0 --time 2
                                     how it moves by itself, or driven
  linkwise ik puma560 --position 0.4,0.2,0.3
                                     joint values for a place of the tool
  linkwise workspace puma560         what it reaches, and where it moves well
  linkwise derive planar_2r          its equations: text, LaTeX, SymPy
  linkwise export puma560 fk id      its functions in C, with a test
  linkwise serve crane.toml          run a chain at a rate, in reach of a PLC

A MECHANISM is a description file (Linkwise .toml, SpaceLib .DAT, URDF, xacro, MJCF, a .csv of DH parameters) or the
name of a bundled robot.
Ask any command for more: linkwise run --help
"""


class Commands(click.Group):
    """The subcommands, each imported when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands in the order of the welcome."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name not in COMMANDS:
            return None
        found = getattr(importlib.import_module(f"linkwise.cli.{cmd_name}"), cmd_name)
        return found if isinstance(found, click.Command) else None

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or say which one may have been meant."""
        import difflib

        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            near = difflib.get_close_matches(args[0], COMMANDS, 1)
            guess = f"Did you mean {near[0]!r}?" if near else f"There is {', '.join(COMMANDS)}."
            raise click.UsageError(f"No command {args[0]!r}. {guess}", ctx) from error


def _version(ctx: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked:
        from linkwise import __version__

        click.echo(f"linkwise {__version__}")
        ctx.exit()


@click.group(cls=Commands, help=WELCOME, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Show the version.")
def app() -> None:
    """Hold the subcommands."""
    if forced():
        click.get_current_context().color = True


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line and leave with its exit status; an error that is the input's is told in words."""
    words = sys.argv[1:] if args is None else list(args)
    output = Output(words)
    try:
        status = app.main(args=words, prog_name="linkwise", standalone_mode=False, obj=output)
    except click.Abort:
        click.echo("Stopped.", err=True)
        status = STOPPED
    except click.ClickException as error:
        show(error)
        output.fail(error.format_message())
        status = FAILED
    except LinkwiseError as error:
        say(told(error), err=True)
        output.fail(str(error), error)
        status = FAILED
    except MemoryError as error:
        message = f"there is not enough memory: {error}".removesuffix(": ")
        click.echo(f"Error: {message}", err=True)
        output.fail(message)
        status = FAILED
    except BrokenPipeError:
        _silence()
        status = 1
    sys.exit(status if isinstance(status, int) else 0)


def show(error: click.ClickException) -> None:
    """Tell what is wrong with what was typed: how the command is called, where help is, then the error."""
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        error.show()
        return
    context = error.ctx if isinstance(error, click.UsageError) else None
    if context is not None:
        help_option = context.help_option_names[-1]
        lines = f"{context.get_usage()}\nTry '{context.command_path} {help_option}' for help.\n"
        click.echo(painted(lines, dim=True, err=True), err=True)
    say(f"Error: {error.format_message()}", err=True)


def told(error: LinkwiseError) -> str:
    """Write an error as the user reads it: one line, or one for each problem.

    Examples
    --------
    >>> told(LinkwiseError("no link 'elbow'"))
    "Error: no link 'elbow'"
    """
    from linkwise.errors import FileError
    from linkwise.model.table import plain

    if isinstance(error, FileError) and len(error.problems) > 1:
        head, lines = f"{error.path}: {len(error.problems)} problems", [str(problem) for problem in error.problems]
        lines += [error.advice] if error.advice else []
    elif isinstance(error, FileError) and error.problems:
        head, lines = f"{error.path}: {error.problems[0]}", [error.advice] if error.advice else []
    else:
        lines = str(error).splitlines() or [type(error).__name__]
        head = lines.pop() if len(lines) == 1 else f"{len(lines)} problems"
    return "\n".join([f"Error: {plain(head)}", *(f"  {plain(line)}" for line in lines)])


def _silence() -> None:
    """Let what is still to be printed go nowhere: nobody reads it any more."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
