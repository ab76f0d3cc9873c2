"""Libraries that are imported where they are used, each with the one message where it is missing."""

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


def quadratic_programs(subject: str) -> Any:
    """The library daqp, which solves quadratic programs.

    Raises
    ------
    MissingExtraError
        Where it is not installed; the message names the subject and the extra.
    """
    try:
        import daqp
    except ImportError as error:
        raise MissingExtraError(f"{subject} needs the library daqp: {install_hint('qp')}") from error
    return daqp


def torch_module(subject: str) -> Any:
    """The library torch.

    Raises
    ------
    MissingExtraError
        Where it is not installed; the message names the subject and the extra.
    """
    try:
        import torch
    except ImportError as error:
        raise MissingExtraError(f"{subject} needs PyTorch: {install_hint('torch')}") from error
    return torch
