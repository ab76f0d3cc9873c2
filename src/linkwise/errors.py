"""Error classes, one per kind of mistake, each message with the item, the value and the choices."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

#: Names that are compared with an unknown one, at most, and their characters: the comparison is slow.
MOST_COMPARED, LONGEST_NAME = 1000, 200


class LinkwiseError(Exception):
    """Base of every error that Linkwise raises on purpose.

    Examples
    --------
    >>> from linkwise import robots
    >>> try:
    ...     robots.load("nobody")
    ... except LinkwiseError as error:
    ...     print(type(error).__name__)
    ArgumentError
    """


class LinkwiseWarning(UserWarning):
    """What was done is right, but may not be all that was meant; Python's `warnings` shows it, or makes it an error.

    Examples
    --------
    >>> issubclass(LinkwiseWarning, UserWarning)
    True
    """


def warn(message: str) -> None:
    """Warn with `LinkwiseWarning`, at the line outside of this package that led here.

    Examples
    --------
    >>> with warnings.catch_warnings(record=True, action="always") as caught:
    ...     warn("the step is long")
    >>> print(caught[0].message)
    the step is long
    """
    package = __name__.partition(".")[0]
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == package:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, LinkwiseWarning, stacklevel=level)


@dataclass(frozen=True)
class Problem:
    """One problem of one field of one item of a model.

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

    Examples
    --------
    >>> print(Problem("link 'elbow'", "mass", -1.0, "a mass of 0 kg or more"))
    link 'elbow': mass is -1.0; expected a mass of 0 kg or more
    """

    item: str
    field: str
    value: object
    expected: str

    def __str__(self) -> str:
        return f"{self.item}: {self.field} is {shown(self.value)}; expected {self.expected}"


class ModelError(LinkwiseError, ValueError):
    """A link, a motor or a mechanism that cannot be: every problem found is in ``problems``.

    Examples
    --------
    >>> from linkwise import Link, Mechanism
    >>> try:
    ...     Mechanism([Link(name="elbow", mass=-1.0)])
    ... except ModelError as error:
    ...     print(error.problems[0].item, error.problems[0].field, error.problems[0].value)
    link 'elbow' mass -1.0
    """

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems: tuple[Problem, ...] = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))

    def __reduce__(self) -> tuple[type[ModelError], tuple[tuple[Problem, ...]]]:
        return type(self), (self.problems,)


class ArgumentError(LinkwiseError, ValueError):
    """An argument of a call that cannot be used: a wrong shape, an unknown link or frame name.

    Examples
    --------
    >>> from linkwise import robots
    >>> try:
    ...     robots.planar_2r().kernel("jacobian", frame="sideways")
    ... except ArgumentError as error:
    ...     print(error)
    frame is 'sideways'; expected 'world' or 'body'
    """


class KernelError(LinkwiseError):
    """A graph that cannot be lowered, or a lowering that this machine cannot run.

    Examples
    --------
    >>> from linkwise import robots
    >>> try:
    ...     robots.planar_2r().kernel("jacobian", backend="abacus")
    ... except KernelError as error:
    ...     print(error)
    backend is 'abacus'; expected 'llvm' or 'numpy'
    """


class MissingExtraError(LinkwiseError, ImportError):
    """An optional library is missing; the message has the command that installs it.

    Examples
    --------
    >>> raised = MissingExtraError(f"pictures need matplotlib: {install_hint('plot')}")
    >>> isinstance(raised, ImportError)
    True
    """


#: The libraries of each extra, as pyproject.toml has them.
EXTRAS: dict[str, tuple[str, ...]] = {
    "collision": ("coal>=3.0",),
    "jax": ("jax>=0.5",),
    "casadi": ("casadi>=3.6",),
    "dask": ("dask[array]>=2024.8", "distributed>=2024.8"),
    "mp4": ("matplotlib>=3.8", "imageio-ffmpeg>=0.5"),
    "opcua": ("asyncua>=2.1,<2.2",),
    "parquet": ("pyarrow>=15.0",),
    "planar": ("shapely>=2.0",),
    "plot": ("matplotlib>=3.8",),
    "qp": ("daqp>=0.8",),
    "ruckig": ("ruckig>=0.15",),
    "scipy": ("scipy>=1.11",),
    "sympy": ("sympy>=1.12",),
    "torch": ("torch>=2.4",),
    "view": ("viser==1.1.1", "trimesh>=4"),
    "xacro": ("xacro>=2.1",),
    "zarr": ("zarr>=3.0",),
}


def install_hint(extra: str) -> str:
    """Command that installs the libraries of an extra: by their names, for that works wherever Linkwise comes from.

    Examples
    --------
    >>> install_hint("view")
    'pip install "viser==1.1.1" "trimesh>=4"'
    """
    quoted = [f'"{library}"' for library in EXTRAS[extra]]  # (the quotes of every shell, that of Windows too)
    return f"pip install {' '.join(quoted)}"


@dataclass(frozen=True)
class FileProblem:
    """One problem at one place of a file; ``line`` counts from 1, 0 without a line.

    Examples
    --------
    >>> print(FileProblem(12, "mass is -1.0; expected 0 or more"))
    line 12: mass is -1.0; expected 0 or more
    """

    line: int
    message: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.message}" if self.line else self.message


class FileError(LinkwiseError, ValueError):
    """A file that cannot be read or written: its path, every problem with its line, and advice for all of them if any.

    Examples
    --------
    >>> from linkwise import load
    >>> try:
    ...     load("/no/such/arm.toml")
    ... except FileError as error:
    ...     print(error.problems)
    (FileProblem(line=0, message='there is no such file'),)
    """

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
    """The value in a message: its repr, on one line, shortened."""
    text = " ".join(repr(value).split())
    return text if len(text) <= limit else text[: limit - 3] + "..."


def choices(names: Iterable[object]) -> str:
    """The valid choices in a message: ``'a', 'b' or 'c'``."""
    return _joined(names, "or")


def members(names: Iterable[object]) -> str:
    """All items in a message: ``'a', 'b' and 'c'``."""
    return _joined(names, "and")


def nearest(name: str, names: Iterable[str], most: int = 1, alike: str = "", limit: int = MOST_COMPARED) -> list[str]:
    """Known names similar to an unknown one, best first; among equals, those like `alike` come first.

    There are none where there are more than `limit` names to compare with.

    Examples
    --------
    >>> nearest("mas", ["mass", "com"]), nearest("x", ["mass", "com"])
    (['mass'], [])
    """
    from difflib import SequenceMatcher, get_close_matches

    known = [candidate for candidate in islice(names, limit + 2) if candidate != alike and len(candidate) <= LONGEST_NAME]
    if len(known) > limit:
        return []
    close = get_close_matches(name[:LONGEST_NAME], known, max(most, 5) if alike else most)
    if alike:
        close.sort(key=lambda candidate: -SequenceMatcher(None, alike, candidate).ratio())
    return close[:most]


def suggestion(name: str, names: Iterable[str], form: str = "{!r}", most: int = 1, limit: int = MOST_COMPARED) -> str:
    """The words `` (did you mean 'mass'?)``, or nothing where no known name is near.

    Examples
    --------
    >>> suggestion("mas", ["mass", "com"]), suggestion("x", ["mass"])
    (" (did you mean 'mass'?)", '')
    """
    near = nearest(name, names, most, limit=limit)
    return f" (did you mean {' or '.join(map(form.format, near))}?)" if near else ""


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

    Examples
    --------
    >>> error = SimulationError((3,), 0.25, "rollout 3: not finite after 0.25 s")
    >>> error.rollout, error.time
    ((3,), 0.25)
    """

    def __init__(self, rollout: tuple[int, ...], time: float, message: str) -> None:
        self.rollout, self.time = rollout, time
        super().__init__(message)

    def __reduce__(self) -> tuple[type[SimulationError], tuple[tuple[int, ...], float, str]]:
        return type(self), (self.rollout, self.time, str(self))
