"""The dynamics of a mechanism as tables: its matrices at a configuration, and its base parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise.cli import columns
from linkwise.model.limits import resting
from linkwise.model.table import Table, as_rows, number, plain
from linkwise.spatial.scalar import FloatArray

if TYPE_CHECKING:
    from linkwise.mechanism import Mechanism

ROUNDING = 1e-13
"""What is smaller than this share of the largest number beside it is printed as zero."""


def state(mechanism: Mechanism, q: Sequence[float] | None, qd: Sequence[float] | None) -> tuple[FloatArray, FloatArray]:
    """Return coordinates (nq,) and speeds (nv,); where they are not given joints stand at zero, or the limit next to it."""
    there = resting(mechanism) if q is None else np.asarray(q, dtype=float)
    return there, np.zeros(mechanism.nv) if qd is None else np.asarray(qd, dtype=float)


def at(mechanism: Mechanism, q: Sequence[float] | None, qd: Sequence[float] | None) -> tuple[Table, Table]:
    """Make a table of the mass matrix, and one of the efforts of speed, gravity and friction, at q (nq,) and qd (nv,)."""
    there, speeds = state(mechanism, q, qd)
    M, C = mechanism.mass_matrix(there), mechanism.coriolis_matrix(there, speeds)
    names = [plain(name) for name in columns.names(mechanism, "qd")]
    cells = {"M": names} | {name: _cells(M[:, k]) for k, name in enumerate(names)}
    title = f"mass matrix of {plain(mechanism.name)}, {_matrix_units(mechanism)}; {_listed('q', there, mechanism)}"
    matrix = Table((*_massless(mechanism), title), *as_rows(cells))
    parts: dict[str, list[str]] = {"effort": [plain(name) for name in columns.names(mechanism, "tau")]}
    parts |= {"C qd": _cells(C @ speeds), "gravity": _cells(mechanism.gravity_torque(there))}
    parts |= {"friction": _cells(mechanism.friction_torque(speeds)), "unit": columns.units(mechanism, "tau")}
    efforts = Table((f"tau = M qdd + C qd + gravity + friction; {_listed('qd', speeds, mechanism)}",), *as_rows(parts))
    return matrix, efforts


def facts(mechanism: Mechanism, q: Sequence[float] | None, qd: Sequence[float] | None) -> dict[str, Any]:
    """Say the same for programs, with all digits."""
    there, speeds = state(mechanism, q, qd)
    return {
        "q": there,
        "qd": speeds,
        "units": columns.units(mechanism, "tau"),
        "mass_matrix": mechanism.mass_matrix(there),
        "coriolis": mechanism.coriolis_matrix(there, speeds) @ speeds,
        "gravity": mechanism.gravity_torque(there),
        "friction": mechanism.friction_torque(speeds),
    }


def base_facts(mechanism: Mechanism) -> dict[str, Any]:
    """Say for programs what the base parameters are."""
    found = mechanism.base_parameters()
    return {"names": found.names, "values": found.values, "of": found.matrix.shape[1], "absent": found.absent}


def base_parameters(mechanism: Mechanism) -> Table:
    """Make a table of the base parameters, with what each one is on this mechanism."""
    found = mechanism.base_parameters()
    lines = [f"{len(found)} base parameters of {found.matrix.shape[1]}: the fewest combinations that give all efforts"]
    lines.append("numbered as the links: inertia XX .. XZ about the origin, mass times centre of mass MX .. MZ, mass M;")
    lines.append("of motors Jm, viscous B, Coulomb Tc+ and Tc-; SI units")
    if found.absent:
        lines.append(f"without any effect: {', '.join(map(plain, found.absent))}")
    cells = {"value": _cells(found.values), "base parameter": [plain(name) for name in found.names]}
    return Table(tuple(lines), *as_rows(cells))


def _matrix_units(mechanism: Mechanism) -> str:
    """Units that occur in the mass matrix: of what turns, of both together, of what slides."""
    sliding = set(mechanism.slides) | ({False, True} if mechanism.floating else set())
    return {frozenset({False}): "kg m2", frozenset({True}): "kg"}.get(frozenset(sliding), "kg m2, kg m, kg")


def _massless(mechanism: Mechanism) -> tuple[str, ...]:
    """Remark that the dynamics say nothing where nobody gave any masses."""
    bodies = [*(link.body for link in mechanism.links), mechanism.payload]
    if not all(body.is_zero for body in bodies) or any(drive.motor.mass for drive in mechanism.drives):
        return ()
    return (f"remark: no masses are given for {plain(mechanism.name)}; what depends on them is zero", "")


def _cells(values: FloatArray) -> list[str]:
    small = ROUNDING * float(np.abs(values).max(initial=0.0))
    return [number(0.0 if abs(value) <= small else value) for value in values.tolist()]


def _listed(quantity: str, values: FloatArray, mechanism: Mechanism) -> str:
    """Write coordinates or speeds in a row: with one unit behind them where all have it, else with that of each."""
    units = ["" if unit == "1" else unit for unit in columns.units(mechanism, quantity)]
    cells = [number(value) for value in values.tolist()]
    if len(set(units)) == 1:
        return f"{quantity} {' '.join(cells)} {units[0]}"
    return f"{quantity} {', '.join(f'{cell} {unit}'.strip() for cell, unit in zip(cells, units, strict=True))}"
