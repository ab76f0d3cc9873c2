"""Links from the rows of a Denavit-Hartenberg table."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from linkwise.errors import FileProblem, choices, shown
from linkwise.files.attempt import attempt
from linkwise.files.dh.dialects import LONGEST, SCALES, Dialect
from linkwise.files.dh.lines import Column, Line
from linkwise.files.numbers import number, why_not
from linkwise.model.checks import TURN
from linkwise.model.link import CONVENTIONS, Link
from linkwise.model.motor import Motor

ANGLES = ("theta", "alpha")
KINDS = {"R": "revolute", "P": "prismatic", "F": "fixed"}
WORDS = ("name", "joint", "convention")
LIMITS = ("lower", "upper")
_MOTOR = ("Jm", "B", "Tc+", "Tc-")


@dataclass
class Rows:
    """Makes links of rows; all that is wrong is gathered in `problems`.

    Attributes
    ----------
    dialect : Dialect
        Which it is.
    convention : str or None
        What was said beside the table.
    angles : str
        "rad" or "deg", where no header says it.
    physical : bool
        Whether each inertia must be that of a body that can exist.
    undecided : bool
        Whether some row has no convention.
    """

    dialect: Dialect
    convention: str | None
    angles: str
    physical: bool
    problems: list[FileProblem] = field(default_factory=list)
    undecided: bool = False

    def link(self, line: Line, columns: Sequence[Column], k: int) -> Link | None:
        """The link of a row, or None after a report."""
        known = len(self.problems)
        cells = {column.name: self._cell(line, column, cell) for column, cell in zip(columns, line.cells, strict=True)}
        kind = self._kind(line, cells)
        convention = self._convention(line, cells)
        self._switch(line, cells, "flip", "0 or 1 (q counts as -q + offset)")
        if len(self.problems) > known:
            return None
        values = {column.name: self._scaled(line, column, cells[column.name], kind) for column in columns}
        self._check_constant(line, values, kind)
        if len(self.problems) > known:
            return None
        name = str(cells.get("name") or f"link{k + 1}")
        made, wrong = attempt(f"link {name!r}", lambda: self._made(values, kind, convention, name))
        self.problems += [FileProblem(line.number, str(one)) for one in wrong]
        return made

    # ── cells ─────────────────────────────────────────────────────────────────────────────────────

    def _cell(self, line: Line, column: Column, cell: str) -> Any:
        if column.name in WORDS:
            return cell
        if column.name in LIMITS and (not cell or cell.lower().lstrip("+-") in {"inf", "infinity"}):
            none = -math.inf if column.name == "lower" else math.inf
            if cell and float(cell) != none:
                self._report(line, f"{column.name} is {cell}; expected a number, or {none} for none")
            return none
        value = number(cell)
        if value is None:
            self._report(line, f"{column.name}: {why_not(cell[:LONGEST]) if cell else 'the cell is empty'}")
            return 0.0
        return value

    def _kind(self, line: Line, cells: Mapping[str, Any]) -> str:
        if "joint" in cells:
            said = str(cells["joint"])
            kind = KINDS.get(said, said)
            if kind not in KINDS.values():
                self._report(line, f"joint is {shown(said)}; expected {choices([*KINDS, *KINDS.values()])}")
                return "revolute"
            return kind
        return KINDS["P" if self._switch(line, cells, "sigma", "0 (revolute) or 1 (prismatic)") else "R"]

    def _switch(self, line: Line, cells: Mapping[str, Any], name: str, meaning: str) -> bool:
        value = cells.get(name, 0.0)
        if value not in (0.0, 1.0):
            self._report(line, f"{name} is {value:g}; expected {meaning}")
        return bool(value == 1.0)

    def _convention(self, line: Line, cells: Mapping[str, Any]) -> str:
        held = None
        if "mdh" in cells:
            held = CONVENTIONS[self._switch(line, cells, "mdh", "0 (standard) or 1 (modified)")]
        elif "convention" in cells:
            held = str(cells["convention"])
            if held not in CONVENTIONS:
                self._report(line, f"convention is {shown(held)}; expected {choices(CONVENTIONS)}")
                return "standard"
        if held is None and self.convention is None:
            self.undecided = True
        if held and self.convention and held != self.convention:
            self._report(line, f"the row is of the {held} convention, and convention={self.convention!r} was said")
        return held or self.convention or "standard"

    def _scaled(self, line: Line, column: Column, value: Any, kind: str) -> Any:
        """The value in SI."""
        if column.name in WORDS:
            return value
        if column.name in ("offset", *LIMITS):
            turning, _, sliding = (column.unit or f"{self.angles} or m").partition(" or ")
            unit = sliding if kind == "prismatic" else turning
        else:
            unit = column.unit or (self.angles if column.name in ANGLES else "")
        if unit in ("deg", "rad") and column.name not in LIMITS:
            most = TURN if unit == "rad" else math.degrees(TURN)
            if abs(value) > most:
                said = f"{column.name} [{column.unit.replace('rad', 'deg')}]"
                hint = f"write {said} in the header" if column.unit else "say angles='deg'"
                hint = f"; if these are degrees, {hint}" if unit == "rad" else ""
                self._report(line, f"{column.name} is {value:g} {unit}, more than a turn{hint}")
                return 0.0
        return math.radians(value) if unit == "deg" else value * SCALES[unit]

    def _check_constant(self, line: Line, values: Mapping[str, Any], kind: str) -> None:
        """The toolboxes put the joint's variable in the place of theta, or d: a constant there would be ignored."""
        place = {"revolute": "theta", "prismatic": "d"}.get(kind, "")
        if self.dialect.has_header or not values.get(place):
            return
        where = "put it into the offset" if self.dialect.has("offset") else "this dialect has no offset"
        self._report(
            line,
            f"{place} is {values[place]:g} in the row of a {kind} joint, where the toolbox ignores it (the joint's variable "
            f"takes its place); write 0, or {where}",
        )

    def _report(self, line: Line, message: str) -> None:
        self.problems.append(FileProblem(line.number, message))

    # ── links ─────────────────────────────────────────────────────────────────────────────────────

    def _made(self, values: Mapping[str, Any], kind: str, convention: str, name: str) -> Link:
        def get(key: str) -> Any:
            return values.get(key, 0.0)

        limits = (values.get("lower", -math.inf), values.get("upper", math.inf))
        link = Link.dh(
            get("theta"), get("d"), get("a"), get("alpha"), b=get("b"), convention=convention, joint=kind, name=name,
            offset=get("offset"), limits=None if limits == (-math.inf, math.inf) else limits,
            mass=get("m"), com=(get("rx"), get("ry"), get("rz")), physical=self.physical,
            inertia=[get(key) for key in ("Ixx", "Iyy", "Izz", "Ixy", "Iyz", "Ixz")],
            motor=self._motor(values),
        )  # fmt: skip
        return flipped(link) if get("flip") else link

    def _motor(self, values: Mapping[str, Any]) -> Motor | None:
        if not any(values.get(key) for key in _MOTOR):
            return None
        jm, viscous, *coulomb = (values.get(key, 0.0) for key in _MOTOR)
        rule = self.dialect.friction_rule
        return Motor(jm, values.get("G", 1.0), viscous, coulomb, friction_rule=rule)


def flipped(link: Link) -> Link:
    """The link of a joint whose coordinate counts the other way: q becomes -q + offset."""
    return link.replace(axis=-link.axis, offset=-link.offset)
