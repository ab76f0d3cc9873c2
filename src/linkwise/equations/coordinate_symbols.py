"""SymPy symbols for the coordinates of a mechanism and their derivatives in time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from linkwise.extras import sympy_module
from linkwise.model.tree import BASE_ACCELERATIONS, BASE_COORDINATES, BASE_SPEEDS, Tree


@dataclass(frozen=True)
class Symbols:
    """Real SymPy symbols of a mechanism, as column matrices.

    Attributes
    ----------
    q, qd, qdd : sympy.ImmutableMatrix
        Coordinates (nq, 1), speeds and accelerations (nv, 1): ``q1``, ``qd1``, ``qdd1`` and so on, in the order of the joint
        coordinates. Those of a floating base stand before them: ``base_x``, ``base_vx``, ``base_vx_dot`` and so on.
    latex : dict
        How each is written where its name does not tell.
    """

    q: Any
    qd: Any
    qdd: Any
    latex: dict[Any, str]


def symbols_of(tree: Tree) -> Symbols:
    """Make the symbols of a mechanism; equal ones at every call."""
    numbers = range(1, tree.n + 1)
    base = (BASE_COORDINATES, BASE_SPEEDS, BASE_ACCELERATIONS) if tree.floating else ((), (), ())
    names = [[*own, *(f"{letter}{k}" for k in numbers)] for own, letter in zip(base, ("q", "qd", "qdd"), strict=True)]
    q, qd, qdd = (_column(group) for group in names)
    written: dict[Any, str] = {}
    for k in numbers:
        written[qd[qd.rows - tree.n + k - 1]] = rf"\dot{{q}}_{{{k}}}"
        written[qdd[qdd.rows - tree.n + k - 1]] = rf"\ddot{{q}}_{{{k}}}"
    return Symbols(q, qd, qdd, written)


def _column(names: Sequence[str]) -> Any:
    sympy = sympy_module()
    return sympy.ImmutableMatrix(len(names), 1, [sympy.Symbol(name, real=True) for name in names])
