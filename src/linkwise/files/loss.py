"""What a format cannot hold, said before anything is written."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

from linkwise.errors import FileError, FileProblem


def check_loss(path: str | Path, form: str, lost: Sequence[str], never: Sequence[str], allow_loss: bool) -> None:
    """Raise `FileError` naming everything that would be lost, unless that is allowed, and what cannot be written at all.

    Examples
    --------
    >>> check_loss("arm.dat", "a .DAT file", ["its payload"], [], allow_loss=False)
    Traceback (most recent call last):
    linkwise.errors.FileError: arm.dat: would be lost in a .DAT file: its payload
    save as .toml, which holds everything, or allow the loss (allow_loss=True)
    """
    if never or (lost and not allow_loss):
        said = [f"would be lost in {form}: {what}" for what in lost]
        said += [f"cannot be written in {form} at all: {what}" for what in never]
        raise FileError(path, [FileProblem(0, what) for what in said], advice(never, "allow the loss (allow_loss=True)"))


def advice(never: Sequence[str], allow: str) -> str:
    """Say what can be done; `allow` is how the loss is allowed, where that helps."""
    return "save as .toml, which holds everything" + ("" if never else f", or {allow}")


def exact_sum(first: float, second: float) -> float | None:
    """The sum of two numbers, or None where it would be rounded.

    Examples
    --------
    >>> exact_sum(0.5, 0.25), exact_sum(0.1, 0.2)
    (0.75, None)
    """
    total = first + second
    exact = math.isfinite(total) and Fraction(first) + Fraction(second) == Fraction(total)
    return total if exact else None
