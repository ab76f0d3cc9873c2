"""SymPy, imported where symbols are used, and the one message where it is missing."""

from __future__ import annotations

from typing import Any

from linkwise.errors import MissingExtraError, install_hint


def sympy_module() -> Any:
    """SymPy itself.

    Raises
    ------
    MissingExtraError
        Where it is not installed.
    """
    try:
        import sympy
    except ImportError as error:
        raise MissingExtraError(f"symbolic equations need SymPy: {install_hint('sympy')}") from error
    return sympy
