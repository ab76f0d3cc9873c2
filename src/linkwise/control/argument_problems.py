"""Gathering what is wrong with the arguments of a call, to raise it all at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from linkwise.errors import ArgumentError, ModelError

Result = TypeVar("Result")


class Mistakes:
    """The errors of the parts of a call.

    Examples
    --------
    >>> mistakes = Mistakes()
    >>> mistakes.note("a is 1; expected 2")
    >>> mistakes.take(float, "3")
    3.0
    >>> mistakes.note("b is 3; expected 4")
    >>> try:
    ...     mistakes.finish()
    ... except ArgumentError as error:
    ...     print(error)
    a is 1; expected 2
    b is 3; expected 4
    """

    def __init__(self) -> None:
        self.errors: list[ArgumentError | ModelError] = []

    def __bool__(self) -> bool:
        return bool(self.errors)

    def note(self, message: str) -> None:
        """Add one."""
        self.errors.append(ArgumentError(message))

    def take(self, function: Callable[..., Result], *arguments: object, **named: object) -> Result | None:
        """What a function returns; None where it raises an error of the package, which is added."""
        try:
            return function(*arguments, **named)
        except (ArgumentError, ModelError) as error:
            self.errors.append(error)
            return None

    def finish(self) -> None:
        """Raise all of them: one as it is, several as an `ArgumentError` with a line for each."""
        if len(self.errors) == 1:
            raise self.errors[0]
        if self.errors:
            raise ArgumentError("\n".join(str(error) for error in self.errors))
