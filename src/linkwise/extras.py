"""Libraries that are imported where they are used, each with the one message where it is missing."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from linkwise.errors import MissingExtraError, install_hint


def optional(module: str, need: str, extra: str) -> Any:
    """A module of a library that an extra of Linkwise installs.

    Parameters
    ----------
    module : str
        Its whole name.
    need : str
        What needs which library, the beginning of the message.
    extra : str
        One of `linkwise.errors.EXTRAS`.

    Raises
    ------
    MissingExtraError
        Where it is not installed; the message says what needs which library, and how the extra is installed.

    Examples
    --------
    >>> optional("no_such_library", "filters need SciPy", "scipy")
    Traceback (most recent call last):
    linkwise.errors.MissingExtraError: filters need SciPy: pip install "scipy>=1.11"
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtraError(f"{need}: {install_hint(extra)}") from error


def sympy_module() -> Any:
    """SymPy itself; `MissingExtraError` where it is not installed."""
    return optional("sympy", "symbolic equations need SymPy", "sympy")


def quadratic_programs(subject: str) -> Any:
    """The library daqp, which solves quadratic programs; `MissingExtraError` where it is not installed."""
    return optional("daqp", f"{subject} needs the library daqp", "qp")
