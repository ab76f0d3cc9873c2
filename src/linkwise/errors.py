"""What can go wrong, one class per kind of mistake, each message naming the item, the value and the choices."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path


class LinkwiseError(Exception):
    """Base of every error that Linkwise raises on purpose."""


@dataclass(frozen=True)
class Problem:
    """One thing wrong with one field of one item of a model.

    Attributes
    ----------
    item : str
        What it concerns, as the user knows it: ``"link 'elbow'"``, ``"mechanism 'arm'"``.
    field : str
        The field at fault: ``"mass"``, ``"limits"``.
    value : object
        The value found.
    expected : str
        What would have been accepted.
    """

    item: str
    field: str
    value: object
    expected: str

    def __str__(self) -> str:
        return f"{self.item}: {self.field} is {shown(self.value)}; expected {self.expected}"


class ModelError(LinkwiseError, ValueError):
    """A link, a motor or a mechanism that cannot be: every problem found is in ``problems``."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems: tuple[Problem, ...] = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))

    def __reduce__(self) -> tuple[type[ModelError], tuple[tuple[Problem, ...]]]:
        return type(self), (self.problems,)


class ArgumentError(LinkwiseError, ValueError):
    """An argument of a call that cannot be used: a wrong shape, an unknown link or frame name."""


class KernelError(LinkwiseError):
    """A graph that cannot be lowered, or a lowering that this machine cannot run."""


class MissingExtraError(LinkwiseError, ImportError):
    """An optional library is needed; the message names the extra that brings it."""


@dataclass(frozen=True)
class FileProblem:
    """One thing wrong at one place of a file; ``line`` counts from 1, 0 where no line can be named."""

    line: int
    message: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.message}" if self.line else self.message


class FileError(LinkwiseError, ValueError):
    """A file that cannot be read or written: its path, every problem with its line, and advice for all of them if any."""

    def __init__(self, path: str | Path, problems: Sequence[FileProblem], advice: str = "") -> None:
        self.path = Path(path)
        self.problems: tuple[FileProblem, ...] = tuple(problems)
        self.advice = advice
        super().__init__(
            "\n".join([*(f"{self.path}: {problem}" for problem in self.problems), *([advice] if advice else [])])
        )

    def __reduce__(self) -> tuple[type[FileError], tuple[Path, tuple[FileProblem, ...], str]]:
        return type(self), (self.path, self.problems, self.advice)


def shown(value: object, limit: int = 80) -> str:
    """The value as it stands in a message: its repr, on one line, shortened."""
    text = " ".join(repr(value).split())
    return text if len(text) <= limit else text[: limit - 3] + "..."


def choices(names: Iterable[object]) -> str:
    """The valid choices as they stand in a message: ``'a', 'b' or 'c'``."""
    return _joined(names, "or")


def members(names: Iterable[object]) -> str:
    """All that there is, as it stands in a message: ``'a', 'b' and 'c'``."""
    return _joined(names, "and")


def _joined(names: Iterable[object], last: str) -> str:
    quoted = [repr(name) for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} {last} {quoted[-1]}" if quoted else "(none)"


class SimulationError(LinkwiseError):
    """A motion that cannot be followed: which rollout, at which time, and why.

    Attributes
    ----------
    rollout : tuple of int
        Index into the batch, () where there is only one.
    time : float
        The first instant with a state that is not finite, or that was not reached, s.
    """

    def __init__(self, rollout: tuple[int, ...], time: float, message: str) -> None:
        self.rollout, self.time = rollout, time
        super().__init__(message)

    def __reduce__(self) -> tuple[type[SimulationError], tuple[tuple[int, ...], float, str]]:
        return type(self), (self.rollout, self.time, str(self))
