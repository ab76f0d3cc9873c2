"""`Unknowns`: the base parameters that are left when some parameters are known already."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from linkwise.algorithm import kernel_of
from linkwise.dynamics import parameter_names, parameter_values
from linkwise.dynamics.base_parameters.base_parameters import (
    INDEPENDENT,
    BaseParameters,
    base_parameters,
    combination_name,
)
from linkwise.errors import ArgumentError, choices, shown
from linkwise.model.parameters import LINK, MOTOR
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import listed

#: Words for several kinds of parameters.
GROUPS = {"friction": ("B", "Tc+", "Tc-"), "rotors": ("Jm",)}

#: Stands behind a parameter that others are grouped with (W. Khalil, E. Dombre, 2002, section 9.4).
REGROUPED = "R"

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Unknowns:
    """The base parameters to be identified, and the known parameters.

    Attributes
    ----------
    base : BaseParameters
        The b combinations of the parameters that are not known; `matrix` is zero at the others.
    labels : tuple of str
        A short name of each (b,): that of its own parameter, with an R where others are grouped with it.
    known : ndarray (P,)
        The parameters that are known, zero elsewhere.
    """

    base: BaseParameters
    labels: tuple[str, ...]
    known: FloatArray


def spring_efforts(mechanism: Tree, q: npt.ArrayLike, qd: npt.ArrayLike, qdd: npt.ArrayLike) -> FloatArray:
    """Efforts (..., nv) of springs and of the inertias along their lengths, which no parameter changes, N m or N."""
    efforts = kernel_of(mechanism, "spring_torque")(q, qd)
    if mechanism.has_length_inertias:
        efforts = efforts + kernel_of(mechanism, "length_inertia_torque")(q, qd, qdd)
    return np.asarray(efforts)


def unknowns(mechanism: Tree, known: str | Iterable[str], q: npt.ArrayLike | None = None) -> Unknowns:
    """Find the base parameters of a mechanism of which some parameters are known; see `identify` for `known`.

    With loops, those of the branches on which the positions q (..., nq) are.
    """
    names, values = parameter_names(mechanism), parameter_values(mechanism)
    base = base_parameters(mechanism, resting=False, q=q)
    fixed = np.array([name in _named(names, known) for name in names], dtype=bool)
    if np.any(fixed):
        base = _without(base, fixed, names, values)
    several = np.count_nonzero(base.matrix, axis=1) > 1
    labels = [names[c] + REGROUPED * int(more) for c, more in zip(base.columns, several, strict=True)]
    return Unknowns(base, tuple(labels), np.where(fixed, values, 0.0))


def symbol(name: str) -> str:
    """Return the kind of a parameter: ``"XX"`` of ``"XX2"``."""
    return name.rstrip("0123456789'")


def _named(names: tuple[str, ...], known: str | Iterable[str]) -> set[str]:
    """The parameters that some words mean."""
    selected: set[str] = set()
    for word in [known] if isinstance(known, str) else listed("known", known, "names of parameters, or of kinds of them"):
        if not isinstance(word, str):
            raise ArgumentError(f"known holds {shown(word)}; expected names of parameters, or of kinds of them")
        kinds = GROUPS.get(word, (word,))
        meant = [name for name in names if name == word or symbol(name) in kinds]
        if not meant and word not in {*GROUPS, *LINK, *MOTOR}:
            raise ArgumentError(
                f"known names {word!r}; expected {choices(GROUPS)}, a kind such as 'M' or 'Tc+', or parameters of "
                f"mech.parameter_names, {names[0]!r} to {names[-1]!r}"
            )
        selected.update(meant)
    return selected


def _without(base: BaseParameters, fixed: Flags, names: tuple[str, ...], values: FloatArray) -> BaseParameters:
    """Base parameters of the parameters that are not fixed: a smaller set of columns spans these."""
    left = np.where(fixed, 0.0, base.matrix)
    free_columns = [int(c) for c in base.columns if not fixed[c]]
    order = [*free_columns, *(int(c) for c in np.flatnonzero(left.any(axis=0)) if c not in free_columns)]
    kept = free_columns + [c for c in independent_columns(left, order) if c not in free_columns]
    columns = np.array(sorted(kept), dtype=np.int64)
    matrix = _tidy(np.linalg.lstsq(left[:, columns], left, rcond=None)[0]) if len(columns) else np.zeros((0, len(names)))
    return BaseParameters(
        tuple(combination_name(row, column, names) for row, column in zip(matrix, columns, strict=True)),
        matrix @ values,
        columns,
        matrix,
        tuple(name for name, there in zip(names, np.any(matrix, axis=0).tolist(), strict=True) if not there),
    )


def _tidy(matrix: FloatArray) -> FloatArray:
    """The numbers, those that are integers to 1e-9 rounded."""
    near = np.round(matrix)
    return np.asarray(np.where(np.abs(matrix - near) < 1e-9, near, matrix))


def independent_columns(table: FloatArray, order: Iterable[int]) -> list[int]:
    """The columns of a table, in an order, that do not depend on those before them (Gram and Schmidt)."""
    kept, span = [], np.zeros((len(table), 0))
    for c in order:
        column = table[:, c] / np.linalg.norm(table[:, c])
        for _ in range(2):  # once more for the rounding
            column = column - span @ (span.T @ column)
        size = float(np.linalg.norm(column))
        if size > INDEPENDENT:
            kept.append(c)
            span = np.concatenate([span, column[:, None] / size], axis=1)
    return kept
