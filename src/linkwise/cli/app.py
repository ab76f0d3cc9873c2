"""The command ``linkwise`` itself: its first screen, its subcommands, and the output of errors."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import click

from linkwise.cli.command import Commands, Invocation, forced, painted, say
from linkwise.errors import FileError, LinkwiseError
from linkwise.model.formatting.table import plain

#: Exit statuses: an input that cannot be used, a run stopped by the user.
FAILED, STOPPED = 2, 130

WELCOME = """Kinematics and dynamics of linked rigid bodies: robots and other mechanisms.

\b
What to type first:
  linkwise show puma560              table, and a picture in puma560.png
  linkwise view puma560              page with sliders and a target to drag
  linkwise check my_robot.toml       all errors of a file, at once
  linkwise run my_robot.toml my_motion.csv
                                     positions, velocities, accelerations,
                                     joint forces and motor efforts, as
                                     tables, files and figures
  linkwise simulate my_robot.toml --q 30deg,0 --time 2
                                     free or driven motion
  linkwise ik puma560 --position 0.4,0.2,0.3
                                     joint values for a tool position
  linkwise workspace puma560         reachable region and manipulability
  linkwise sweep puma560 --over payload=0..5 --samples 1e6
                                     torques at random configurations
  linkwise derive planar_2r          equations: text, LaTeX, SymPy
  linkwise export puma560 fk id      functions in C, with a test
  linkwise serve crane.toml          cyclic chain, over OPC UA and in browsers

A MECHANISM is a description file (Linkwise .toml, SpaceLib .DAT, URDF, xacro, MJCF, a .csv of DH parameters) or the
name of a bundled robot.
Each command explains itself: linkwise run --help
"""


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
    """Run the command line and leave with its exit status; an error of the input is printed without a traceback."""
    words = sys.argv[1:] if args is None else list(args)
    call = Invocation(words)
    status: object = FAILED
    try:
        status = app.main(args=words, prog_name="linkwise", standalone_mode=False, obj=call)
    except click.Abort:
        click.echo("Stopped.", err=True)
        status = STOPPED
    except click.ClickException as error:
        _show(error)
        call.fail(error.format_message())
    except LinkwiseError as error:
        say(error_text(error), err=True)
        call.fail(str(error), error)
    except MemoryError as error:
        message = f"there is not enough memory: {error}".removesuffix(": ")
        click.echo(f"Error: {message}", err=True)
        call.fail(message)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # (the reader has closed the pipe)
        status = 1
    sys.exit(status if isinstance(status, int) else 0)


def _show(error: click.ClickException) -> None:
    """Print an error of the arguments: the usage, the help option, then the error."""
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        error.show()
        return
    context = error.ctx if isinstance(error, click.UsageError) else None
    if context is not None:
        help_option = context.help_option_names[-1]
        lines = f"{context.get_usage()}\nTry '{context.command_path} {help_option}' for help.\n"
        click.echo(painted(lines, dim=True, err=True), err=True)
    say(f"Error: {error.format_message()}", err=True)


def error_text(error: LinkwiseError) -> str:
    """Write an error as the user reads it: one line, or one for each problem.

    Examples
    --------
    >>> error_text(LinkwiseError("no link 'elbow'"))
    "Error: no link 'elbow'"
    """
    if isinstance(error, FileError) and error.problems:
        lines = [str(problem) for problem in error.problems]
        head = f"{error.path}: {len(lines)} problems" if len(lines) > 1 else f"{error.path}: {lines.pop()}"
        lines += [error.advice] if error.advice else []
    else:
        lines = str(error).splitlines() or [type(error).__name__]
        head = lines.pop() if len(lines) == 1 else f"{len(lines)} problems"
    return "\n".join([f"Error: {plain(head)}", *(f"  {plain(line)}" for line in lines)])
