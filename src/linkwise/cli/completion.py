"""``linkwise completion``: the script that lets a shell complete commands, options and robot names."""

from __future__ import annotations

import click

SHELLS = ("bash", "zsh", "fish")


@click.command(short_help="The completion script of a shell.")
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print the completion script of a shell.

    \b
    Load it whenever a shell starts:
      bash   echo 'eval "$(linkwise completion bash)"' >> ~/.bashrc
      zsh    echo 'eval "$(linkwise completion zsh)"' >> ~/.zshrc
      fish   linkwise completion fish > ~/.config/fish/completions/linkwise.fish
    """  # noqa: D301  (\b keeps click from filling the lines)
    from click.shell_completion import get_completion_class

    from linkwise.cli.app import app

    found = get_completion_class(shell)
    if found is None:
        raise click.ClickException(f"no completion for {shell}")
    complete = found(app, {}, "linkwise", "_LINKWISE_COMPLETE")
    click.echo(complete.source_template % complete.source_vars())
