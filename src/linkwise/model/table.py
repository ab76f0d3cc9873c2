"""The table of a mechanism as people draw it by hand: its Denavit-Hartenberg rows, or the placement of each link."""

from __future__ import annotations

import html as markup
import math
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise.model.alignment import aligned
from linkwise.model.inertia import Inertia
from linkwise.model.link import DHRow, Link
from linkwise.model.symbolic import any_nonzero, has_symbols, parameters_in, same
from linkwise.model.tree import Tree
from linkwise.spatial.rotation import rotation_to_rpy
from linkwise.spatial.scalar import FloatArray

LETTERS = {"revolute": "R", "prismatic": "P", "screw": "H", "fixed": "F"}
"""The letter of each kind of joint; a screw is a helical pair."""

_CLOSURES = {"full": "frames", "point": "points", "hinge": "axes and points"}

Cells = list[str]


@dataclass(frozen=True)
class Table:
    """Lines of text, then named columns: what `text` and `html` lay out.

    Attributes
    ----------
    lines : tuple of str
        What stands above the columns: the name, the convention in words, the units, base, tool and payload.
    header : tuple of str
        Names of the columns, with units.
    rows : tuple of tuple of str
        One row a link.
    """

    lines: tuple[str, ...]
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def text(tree: Tree) -> str:
    """Write the table in plain aligned text, for a terminal.

    Examples
    --------
    >>> from linkwise import Link, Mechanism
    >>> print(text(Mechanism([Link.dh(a=0.5, convention="standard")], name="pendulum")))
    pendulum: 1 joint (R)
    standard Denavit-Hartenberg: Rz(theta) Tz(d) Tx(a) Rx(alpha); lengths in m, angles in degrees
    gravity 0 0 -9.81 m/s2
    <BLANKLINE>
    link   joint  theta  d    a  alpha
    link1  R      q1     0  0.5     0°
    """
    return laid_out(described(tree))


def html(tree: Tree) -> str:
    """Write the table for a notebook: plain HTML that takes the colours of the page around it; every name is escaped."""
    return _html(described(tree))


def link_text(link: Link) -> str:
    """One link in one line.

    Examples
    --------
    >>> link_text(Link.dh(a=0.5, convention="standard", mass=2.0, name="arm"))
    "Link 'arm': revolute, standard Denavit-Hartenberg theta=q d=0 a=0.5 alpha=0°, 2 kg"
    """
    name = f" {plain(link.name)!r}" if link.name else ""
    if link.dh_row is not None:
        cells = _dh_cells(link, "q")
        order = _dh_order(link.dh_row.convention, any_nonzero(link.dh_row.b))
        placed = f"{link.dh_row.convention} Denavit-Hartenberg " + " ".join(f"{key}={cells[key]}" for key in order)
    else:
        placed = f"axis {vector(link.axis)}, before {_frame_text(link.before)}, after {_frame_text(link.after)}"
    weight = f", {number(link.body.mass)} kg" if any_nonzero(link.body.mass) else ""
    return f"Link{name}: {link.joint}, {placed}{weight}"


# ── what stands in it ─────────────────────────────────────────────────────────────────────────────


def described(tree: Tree) -> Table:
    """Make the Denavit-Hartenberg table if every link comes from a row of one convention, else the placement table."""
    convention = _convention(tree)
    columns = _dh_columns(tree, convention) if convention else _placement_columns(tree)
    return Table(tuple(_headline(tree, convention)), *as_rows(columns))


def joint_letters(tree: Tree) -> str:
    """Return the kinds of the moving joints in order, as in ``RRP``; H is a screw (helical pair)."""
    return "".join(LETTERS[link.joint] for link in tree.links if link.moves and not link.mimic)


def _headline(tree: Tree, convention: str | None) -> Iterable[str]:
    joints = "1 joint" if tree.n == 1 else f"{tree.n} joints"
    fixed, following = (sum(map(bool, found)) for found in zip(*((not a.moves, a.mimic) for a in tree.links), strict=True))
    also = f", {following} that follow{'s' * (following == 1)} another" if following else ""
    also += f" and {fixed} fixed link{'s' if fixed > 1 else ''}" if fixed else ""
    base = ", on a floating base" if tree.floating else ""
    yield f"{plain(tree.name)}: {joints}" + (f" ({joint_letters(tree)})" if tree.n else "") + also + base
    units = "lengths in m, angles in degrees"
    yield f"{_words(tree, convention)}; {units}"
    yield f"gravity {vector(tree.gravity)} m/s2"
    for name, frame in (("base frame" if tree.floating else "base", tree.base), ("tool", tree.tool)):
        on = f" on {plain(tree.link_names[tree.tool_index])}" if name == "tool" and _branches(tree) else ""
        if on or not same(frame, np.eye(4)):
            yield f"{name}{on} at {_frame_text(frame)}"
    if not tree.payload.is_zero:
        yield f"payload {_body_text(tree.payload)} in the tool's frame"
    if tree.drives:
        yield _driven(tree)
    for loop in tree.loops:
        named = f" {plain(loop.name)}" if loop.name else ""
        yield f"loop{named}: {_CLOSURES[loop.kind]} on {plain(loop.first)} and on {plain(loop.second)} coincide"


def _branches(tree: Tree) -> bool:
    """Whether it must be said which link the tool is on: there are several tips, or it is not the last."""
    return tree.tool_link is not None or len(set(range(len(tree.links))) - set(tree.parents)) > 1


def _driven(tree: Tree) -> str:
    """Say how many joints have motors, and what is unusual about these."""
    joints = len({drive.joint for drive in tree.drives})
    motors = [drive.motor for drive in tree.drives]
    said = [f"motors on {joints} joint{'s' if joints > 1 else ''}"]
    if not any(any_nonzero((motor.viscous, *motor.coulomb)) for motor in motors):
        said.append("without friction")
    elif any(motor.friction_rule != "reflected" for motor in motors):
        said.append("friction rule " + " and ".join(sorted({motor.friction_rule for motor in motors})))
    carried = sum(drive.carrier is not None for drive in tree.drives)
    if carried:
        said.append(f"{carried} rotor{'s' if carried > 1 else ''} carried by links")
    return ", ".join(said)


def _words(tree: Tree, convention: str | None) -> str:
    if convention == "modified":
        return "modified Denavit-Hartenberg: Rx(alpha) Tx(a) Rz(theta) Tz(d)"
    if convention == "standard":
        shift = " Ty(b)" if _uses_b(tree) else ""
        return f"{'extended' if shift else 'standard'} Denavit-Hartenberg: Rz(theta) Tz(d) Tx(a){shift} Rx(alpha)"
    return "placement A, then the joint about or along its axis" + (", then B" if _uses_after(tree) else "")


def _convention(tree: Tree) -> str | None:
    """Return the one Denavit-Hartenberg convention of all links, or None."""
    found = {link.dh_row.convention if link.dh_row else None for link in tree.links}
    return found.pop() if len(found) == 1 else None


def _uses_b(tree: Tree) -> bool:
    return any(link.dh_row is not None and any_nonzero(link.dh_row.b) for link in tree.links)


def _uses_after(tree: Tree) -> bool:
    return any(not same(link.after, np.eye(4)) for link in tree.links)


def _first_columns(tree: Tree) -> dict[str, Cells]:
    columns = {"link": [plain(name) for name in tree.link_names]}
    if any(link.joint_name for link in tree.links):
        columns["joint name"] = [plain(link.joint_name or "") for link in tree.links]
    if tree.parents != tuple(range(-1, len(tree.links) - 1)):
        columns["parent"] = [plain(tree.link_names[k]) if k >= 0 else "base" for k in tree.parents]
    columns["joint"] = [LETTERS[link.joint] for link in tree.links]
    return columns


def _dh_order(convention: str, with_b: bool) -> tuple[str, ...]:
    """Return the columns in the order in which the convention applies them."""
    if convention == "modified":
        return ("alpha", "a", "theta", "d")
    return ("theta", "d", "a", "b", "alpha") if with_b else ("theta", "d", "a", "alpha")


def _dh_columns(tree: Tree, convention: str) -> dict[str, Cells]:
    columns = _first_columns(tree)
    cells = [_dh_cells(link, _variable(tree, k), tree.followers[k].shift) for k, link in enumerate(tree.links)]
    for key in _dh_order(convention, _uses_b(tree)):
        columns[key] = [row[key] for row in cells]
    return _with_limits(tree, columns)


def _dh_cells(link: Link, variable: str, shift: float = 0.0) -> dict[str, str]:
    """Return the cells of a row, the joint variable written where it acts: ``q1``, ``q2 - 90°``, ``q3 + 0.1``."""
    row: DHRow = link.dh_row  # type: ignore[assignment]
    cells = {
        "theta": degrees(row.theta),
        "d": number(row.d),
        "a": number(row.a),
        "b": number(row.b),
        "alpha": degrees(row.alpha),
    }
    if link.joint == "revolute":
        cells["theta"] = _plus(variable, degrees(row.theta + shift + link.offset))
    elif link.joint == "prismatic":
        cells["d"] = _plus(variable, number(row.d + shift + link.offset))
    return cells


def _plus(variable: str, constant: str) -> str:
    if constant in {"0", "0°"}:
        return variable
    return f"{variable} - {constant[1:]}" if constant.startswith("-") else f"{variable} + {constant}"


def _variable(tree: Tree, link: int) -> str:
    """``q2``; of a joint that follows another ``-0.5 q2``."""
    joint = tree.followers[link]
    sign = {1.0: "", -1.0: "-"}.get(joint.ratio, f"{number(joint.ratio)} ")
    return f"{sign}q{joint.coordinate + 1}"


def _placement_columns(tree: Tree) -> dict[str, Cells]:
    columns = _first_columns(tree)
    links = tree.links
    columns["variable"] = [_joint_variable(tree, k) for k in range(len(links))]
    columns["axis"] = [vector(link.axis) if link.moves else "" for link in links]
    parts: list[tuple[str, Callable[[Link], FloatArray]]] = [("A", lambda link: link.before)]
    if _uses_after(tree):
        parts.append(("B", lambda link: link.after))
    for name, part in parts:
        columns[f"{name} x y z"] = [vector(part(link)[:3, 3]) for link in links]
        columns[f"{name} roll pitch yaw"] = [_angles(part(link)) for link in links]
    if any(any_nonzero(link.pitch) for link in links):
        columns["pitch m/rad"] = [number(link.pitch) if link.joint == "screw" else "" for link in links]
    return _with_limits(tree, columns)


def _joint_variable(tree: Tree, k: int) -> str:
    link = tree.links[k]
    if not link.moves:
        return ""
    offset = link.offset + tree.followers[k].shift
    return _plus(_variable(tree, k), number(offset) if link.joint == "prismatic" else degrees(offset))


def _with_limits(tree: Tree, columns: dict[str, Cells]) -> dict[str, Cells]:
    if any(link.limits for link in tree.links):
        columns["limits"] = [_limits_text(link) for link in tree.links]
    return columns


def _limits_text(link: Link) -> str:
    if link.limits is None:
        return ""
    unit = number if link.joint == "prismatic" else degrees
    low, high = (unit(value) for value in link.limits)
    return f"{low} .. {high}"


def _body_text(body: Inertia) -> str:
    return f"{number(body.mass)} kg at {vector(body.com)} m"


def _frame_text(frame: FloatArray) -> str:
    return f"xyz {vector(frame[:3, 3])}, roll pitch yaw {_angles(frame)}"


def _angles(frame: FloatArray) -> str:
    if has_symbols(frame[:3, :3]):
        return f"of {', '.join(str(node) for node in parameters_in([frame[:3, :3]]))}"
    return " ".join(degrees(angle) for angle in rotation_to_rpy(frame[:3, :3].astype(np.float64)))


def as_rows(columns: dict[str, Cells]) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Turn named columns into the header and the rows of a `Table`."""
    return tuple(columns), tuple(zip(*columns.values(), strict=True))


# ── how it is written ─────────────────────────────────────────────────────────────────────────────


def number(value: Any) -> str:
    """Write a number to six digits, without a minus before zero.

    Examples
    --------
    >>> number(0.4318), number(-0.0), number(1e-17)
    ('0.4318', '0', '1e-17')
    """
    try:
        made = f"{float(value):.6g}"
    except (TypeError, ValueError):
        return plain(str(value))
    return "0" if made == "-0" else made


def degrees(angle: Any) -> str:
    """Write an angle given in rad, in degrees to six digits; what is nothing but rounding of zero is 0°.

    Examples
    --------
    >>> degrees(math.pi / 2), degrees(-1e-17)
    ('90°', '0°')
    """
    try:
        made = math.degrees(float(angle))
    except (TypeError, ValueError):
        return plain(str(angle))
    return number(0.0 if abs(made) < 1e-12 else made) + "°"


def vector(values: Iterable[Any]) -> str:
    """Numbers with a blank between them."""
    written = (number(value) for value in values)
    return " ".join(f"({text})" if " " in text else text for text in written)


def action(external: Sequence[Any] | FloatArray) -> str:
    """Write a force and a moment (6,).

    Examples
    --------
    >>> action([0, 0, -10, 0, 0.5, 0])
    'force 0 0 -10 N, moment 0 0.5 0 N m'
    """
    return f"force {vector(external[:3])} N, moment {vector(external[3:])} N m"


def plain(name: str | None) -> str:
    r"""Write a name as it may stand in a terminal: characters that steer it are written as escapes.

    Examples
    --------
    >>> print(plain("arm\x1b[31m"))
    arm\x1b[31m
    """
    return "".join(c if unicodedata.category(c)[0] not in "CZ" or c == " " else repr(c)[1:-1] for c in str(name))


def width(cell: str) -> int:
    """How many columns a text takes in a terminal: wide characters two, combining ones none."""
    return sum(0 if unicodedata.combining(c) else 1 + (unicodedata.east_asian_width(c) in "WF") for c in cell)


def laid_out(table: Table) -> str:
    """Lay the table out in plain text, columns two blanks apart, numbers flush right, their points beneath each other."""
    lines = ("  ".join(row).rstrip() for row in zip(*padded_columns(table), strict=True))
    return "\n".join([*table.lines, "", *lines])


def padded_columns(table: Table) -> list[list[str]]:
    """Return the columns of a table, each with its header, the cells of a column equally wide."""
    made = []
    for name, *cells in zip(table.header, *table.rows, strict=True):
        shown = [name, *aligned(cells)]
        size, flush = max(map(width, shown)), _is_numeric(cells)
        made.append([_padded(cell, size, flush) for cell in shown])
    return made


def _padded(cell: str, size: int, right: bool) -> str:
    blanks = " " * (size - width(cell))
    return blanks + cell if right else cell + blanks


def _is_numeric(cells: Sequence[str]) -> bool:
    return all(cell == "" or _reads_as_number(cell) for cell in cells)


def _reads_as_number(cell: str) -> bool:
    try:
        float(cell.removesuffix("°"))
    except ValueError:
        return False
    return True


def _html(table: Table) -> str:
    title, *notes = (markup.escape(line) for line in table.lines)
    left = [not _is_numeric(column) for column in zip(*table.rows, strict=True)]
    head = "".join(_cell("th", cell, flush) for cell, flush in zip(table.header, left, strict=True))
    body = "".join(
        "<tr>" + "".join(_cell("td", cell, flush) for cell, flush in zip(row, left, strict=True)) + "</tr>"
        for row in table.rows
    )
    below = "".join(f"<div><small>{note}</small></div>" for note in notes)
    return f"<div><strong>{title}</strong>{below}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"


def _cell(tag: str, cell: str, left: bool) -> str:
    side = "left" if left else "right"
    return f'<{tag} style="text-align: {side}">{markup.escape(cell)}</{tag}>'
