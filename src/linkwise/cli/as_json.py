"""Results for programs: the option --json of every command, and how it is printed."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from typing import Any

import click
import numpy as np

json_option = click.option("--json", "as_json", is_flag=True, help="Print the results as JSON, and nothing else.")


class Output:
    """What a call of the command line is to print on its output, and whether it is there.

    Attributes
    ----------
    as_json : bool
        Whether JSON is asked for; said before the words are parsed, for that may fail.
    done : bool
        Whether the one document has been printed.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self.as_json = "--json" in words[: words.index("--")] if "--" in words else "--json" in words
        self.done = False

    def fail(self, message: str, error: Exception | None = None) -> None:
        """Print the document of a call that failed, unless there is one: what is wrong, of a file by its lines."""
        from linkwise.errors import FileError

        if self.as_json and not self.done:
            facts: dict[str, Any] = {"error": message}
            if isinstance(error, FileError):
                problems = [{"line": problem.line, "message": problem.message} for problem in error.problems]
                facts |= {"file": error.path, "problems": problems}
            click.echo(json.dumps(jsonable(facts), indent=2))


def print_json(facts: Any) -> None:
    """Print facts as one JSON document; what is no finite number is null, for JSON has none."""
    click.echo(json.dumps(jsonable(facts), indent=2, allow_nan=False))
    context = click.get_current_context(silent=True)
    if context is not None and isinstance(context.obj, Output):
        context.obj.done = True


def jsonable(value: Any) -> Any:
    """Return a value in JSON's own kinds: arrays as lists, paths as texts, infinite and undefined numbers as None.

    Examples
    --------
    >>> jsonable({"q": np.array([0.5, np.inf]), 2: (True, None)})
    {'q': [0.5, None], '2': [True, None]}
    """
    if isinstance(value, Mapping):
        return {str(key): jsonable(each) for key, each in value.items()}
    if isinstance(value, np.ndarray):
        return jsonable(value.tolist())
    if isinstance(value, list | tuple):
        return [jsonable(each) for each in value]
    if isinstance(value, np.generic):
        return jsonable(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return fspath(value) if isinstance(value, PathLike) else value
