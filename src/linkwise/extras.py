"""Libraries that are imported where they are used, each with the one message where it is missing."""

from __future__ import annotations

from typing import Any

from linkwise.errors import MissingExtraError, install_hint


def optional(module: str, extra: str, need: str) -> Any:
    """A module of an optional library.

    Raises
    ------
    MissingExtraError
        Where it is not installed; the message says what needs which library, and how the extra is installed.

    Examples
    --------
    >>> optional("no_such_library", "scipy", "filters need SciPy")
    Traceback (most recent call last):
    linkwise.errors.MissingExtraError: filters need SciPy: pip install "scipy>=1.11"
    """
    try:
        return __import__(module, fromlist=("",))  # the module named last, not the package it is in
    except ImportError as error:
        raise MissingExtraError(f"{need}: {install_hint(extra)}") from error


def sympy_module() -> Any:
    """SymPy itself, see `optional`."""
    return optional("sympy", "sympy", "symbolic equations need SymPy")


def quadratic_programs(subject: str) -> Any:
    """The library daqp, which solves quadratic programs, see `optional`."""
    return optional("daqp", "qp", f"{subject} needs the library daqp")
