"""What a reader finds in a file beside its content: problems, remarks and what is not used, each with its line."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import chain, count, islice
from typing import TypeVar

import numpy as np

from linkwise.errors import FileProblem, ModelError, Problem, choices, nearest

Result = TypeVar("Result")

MOST_GUESSES = 100
"""After this many problems nothing more is suggested: comparing names is slow."""

IDENTIFIED = "physical=False accepts an identified set of parameters"


class Report:
    """Gathers problems, remarks, and the kinds of elements that are not used.

    Examples
    --------
    >>> report = Report()
    >>> report.leave("<light>", 3, "it is for pictures")
    >>> report.leave("<light>", 8)
    >>> [str(remark) for remark in report.all_remarks]
    ['line 3: <light> is not used (2 of them, the first here): it is for pictures']
    """

    def __init__(self) -> None:
        self.problems: list[FileProblem] = []
        self.remarks: list[FileProblem] = []
        self._unused: dict[str, tuple[int, int, str]] = {}

    def report(self, line: int, message: str) -> None:
        """Note a problem: the file cannot be read."""
        self.problems.append(FileProblem(line, message))

    def remark(self, line: int, message: str) -> None:
        """Note something odd."""
        self.remarks.append(FileProblem(line, message))

    def tell(self, line: int, problem: Problem) -> None:
        """Note a problem of the model."""
        self.report(line, str(problem).replace(IDENTIFIED, "reading with physical=False accepts it"))

    def build(self, item: str, make: Callable[[], Result], line: Callable[[Problem], int]) -> Result | None:
        """Return the part of a model that `make` returns, or None; problems are noted at the lines that `line` says."""
        part, problems = attempt(item, make)
        for problem in problems:
            self.tell(line(problem), problem)
        return part

    def leave(self, kind: str, line: int, why: str = "") -> None:
        """Note one place of what is not used; `why` of the first of its kind is kept."""
        first, places, reason = self._unused.get(kind, (line, 0, why))
        self._unused[kind] = (first, places + 1, reason)

    @property
    def sorted_problems(self) -> list[FileProblem]:
        """All problems by line."""
        return sorted(self.problems, key=lambda problem: problem.line)

    @property
    def all_remarks(self) -> list[FileProblem]:
        """All remarks by line, with one for each kind that is not used."""
        remarks = list(self.remarks)
        for kind, (line, places, why) in self._unused.items():
            many = f" ({places} of them, the first here)" if places > 1 else ""
            remarks.append(FileProblem(line, f"{kind} is not used{many}{': ' + why if why else ''}"))
        return sorted(remarks, key=lambda remark: remark.line)

    def suggestion(self, name: str, names: Iterable[str], form: str = " (did you mean {!r}?)", alike: str = "") -> str:
        """A hint at the name that may be meant; nothing where none is near, or after `MOST_GUESSES` problems."""
        near = nearest(name, names, alike=alike) if len(self.problems) < MOST_GUESSES else []
        return form.format(near[0]) if near else ""


def some(names: Collection[object], most: int, text: Callable[[Iterable[object]], str] = choices) -> str:
    """The names as a message lists them; of more than `most` the first ones and how many more there are.

    Examples
    --------
    >>> some(["a", "b"], 10), some("abcd", 2)
    ("'a' or 'b'", "'a', 'b' and 2 more")
    """
    left = len(names) - most
    return f"{', '.join(map(repr, islice(names, most)))} and {left} more" if left > 0 else text(names)


def attempt(item: str, make: Callable[[], Result]) -> tuple[Result | None, Sequence[Problem]]:
    """The part of a model that `make` returns, or None and all that is wrong; `item` names it where numbers overflow."""
    try:
        with np.errstate(all="ignore"):
            return make(), ()
    except ModelError as error:
        return None, error.problems
    except (np.linalg.LinAlgError, OverflowError):
        return None, [Problem(item, "inertia", "beyond the range of floating-point arithmetic", "smaller numbers")]


def unused_name(names: Iterable[str], taken: set[str]) -> str:
    """The first of some names that is not taken; taken from now on.

    Examples
    --------
    >>> unused_name(["tool", "tool_2"], {"tool"})
    'tool_2'
    """
    unused = next(name for name in names if name not in taken)
    taken.add(unused)
    return unused


def base_names() -> Iterator[str]:
    """What a link of a file is called that has the name ``base``, for that means the ground here."""
    return chain(("base_link", "base_frame"), (f"base_frame_{k}" for k in count(2)))
