"""Print the completion script of a shell."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from linkwise.cli.command import Options, Output, Raw, argument, command


@command(argument("shell", type=click.Choice(["bash", "zsh", "fish"])), json=False)
def completion(options: Options) -> Output:
    """Print the completion script of a shell.

    \b
    Load it whenever a shell starts:
      bash   echo 'eval "$(linkwise completion bash)"' >> ~/.bashrc
      zsh    echo 'eval "$(linkwise completion zsh)"' >> ~/.zshrc
      fish   linkwise completion fish > ~/.config/fish/completions/linkwise.fish
    """  # noqa: D301  (\b keeps click from filling the lines)
    shell = get_completion_class(options.shell)
    if shell is None:
        raise click.ClickException(f"no completion for {options.shell}")
    root = click.get_current_context().find_root().command
    complete = shell(root, {}, "linkwise", "_LINKWISE_COMPLETE")
    return Output(parts=[Raw([complete.source_template % complete.source_vars(), "\n"])])
