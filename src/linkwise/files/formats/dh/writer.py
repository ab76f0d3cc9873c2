"""Writer of Denavit-Hartenberg tables, and the losses of each dialect."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import numpy as np

from linkwise.files.atomic import write_text
from linkwise.files.formats.dh.table import DIALECTS, HEADER, Dialect, dialect_of, flipped
from linkwise.files.losses import Losses, chain_losses, with_offset
from linkwise.mechanism import Mechanism
from linkwise.model.link import DHRow, Link
from linkwise.model.motor import Motor
from linkwise.model.tree import GRAVITY

#: Tolerance between the frames of a reversed joint and those of its row.
ROUNDING = 1e-15

_TENSOR = ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (0, 2))


def losses(mechanism: Mechanism, dialect: Dialect) -> Losses:
    """List the losses of a table, and the features for which it cannot be written, as it would describe another robot.

    The file's name stands for the mechanism's.
    """
    has_header, columns = dialect.has_header, {"name": "name", "limits": "lower", "motor": "Jm"}
    written = HEADER if has_header else _columns(mechanism, dialect)
    holds = [part for part, column in columns.items() if column in written] + ["offset"] * has_header
    left_out = chain_losses(mechanism, holds)
    if not has_header and _weighs(mechanism) and not _heavy(mechanism, dialect):
        left_out.lost.append(f"its masses and inertias{' (a row with masses has no offset)' if dialect.has('m') else ''}")
    if not np.array_equal(mechanism.gravity, GRAVITY):
        left_out.lost.append("its gravity")
    left_out.never += [
        f"link {link.name!r}: {part}" for link in mechanism.links for part in _link_obstacles(link, dialect, written)
    ]
    conventions = {row.convention for link in mechanism.links if (row := row_of(link, dialect)) is not None}
    if len(conventions) > 1 and not (has_header or dialect.has("mdh")):
        left_out.never.append("its two conventions (a table in this dialect has one)")
    return left_out


def _link_obstacles(link: Link, dialect: Dialect, written: Collection[str]) -> Iterator[str]:
    row = row_of(link, dialect)
    if link.joint_model.dh_parameter is None or (not link.joint_model.dh_parameter and not dialect.has_header):
        yield f"its {link.joint} joint"
    elif row is None:
        yield "its placement (no Denavit-Hartenberg row was given)"
    elif row.b and not dialect.has("b"):
        yield "its shift b of the extended convention"
    elif not dialect.has("offset") and folded(link) != 0.0:
        note = "the same" if link.joint_model.is_length else "this dialect has none"
        yield f"its {link.joint_model.dh_parameter} or offset ({note})"
    name = str(link.name)
    if dialect.has_header and (set(name) & set(";\t\n\r#%") or name != name.strip()):
        yield "its name (it holds a separator or the mark of a comment)"
    motor = link.motor
    rubs = motor is not None and bool(motor.viscous or any(motor.coulomb))
    if motor is None or "Jm" not in written:
        return
    if rubs and motor.friction_rule != dialect.friction_rule:
        yield f"its motor's friction by the rule {motor.friction_rule!r} (here it would count by {dialect.friction_rule!r})"
    if motor.transition_speed or motor.breakaway is not None:
        yield "its motor's transition speed and breakaway friction"


def _weighs(mechanism: Mechanism) -> bool:
    return any(not link.body.is_zero or link.body.com.any() for link in mechanism.links)


def _heavy(mechanism: Mechanism, dialect: Dialect) -> bool:
    """True if rows are written with masses: such rows have no offset."""
    if dialect.has_header or not dialect.has("m"):
        return dialect.has_header
    used = _weighs(mechanism) or any(link.motor is not None for link in mechanism.links)
    return used and all(folded(link) == 0.0 for link in mechanism.links)


def row_of(link: Link, dialect: Dialect) -> DHRow | None:
    """Convert a link to its row; a reversed joint is written if the dialect has the column flip."""
    if link.dh_row is not None or not dialect.has("flip") or not np.array_equal(link.axis, [0.0, 0.0, -1.0]):
        return link.dh_row
    for row in _turned_rows(link):
        other = flipped(Link.dh(row.theta, row.d, row.a, row.alpha, convention=row.convention, joint=link.joint))
        if max(np.abs(other.before - link.before).max(), np.abs(other.after - link.after).max()) <= ROUNDING:
            return row
    return None


def _turned_rows(link: Link) -> Iterator[DHRow]:
    """The rows that the frames of a link may come from, in either convention."""
    before, after = link.before, link.after
    theta = math.atan2(before[1, 0], before[0, 0])
    yield DHRow("standard", theta + 0.0, float(after[2, 3]), float(after[0, 3]), math.atan2(after[2, 1], after[2, 2]))
    theta, alpha = math.atan2(-before[0, 1], before[0, 0]), math.atan2(-before[1, 2], before[2, 2])
    yield DHRow("modified", theta + 0.0, float(after[2, 3]), float(before[0, 3]), alpha)


def folded(link: Link) -> float | None:
    """The theta or d with the offset added, or None where the sum would be rounded."""
    if link.dh_row is None or not link.joint_model.dh_parameter:
        return 0.0 if not link.offset else -link.offset
    return with_offset(link)


def save_dh(mechanism: Mechanism, path: str | Path, dialect: str, *, allow_loss: bool = False) -> None:
    """Write a Denavit-Hartenberg table in a dialect, rad and m, with all digits.

    Parameters
    ----------
    mechanism : Mechanism
        A chain of links made from rows.
    path : str or Path
        The file.
    dialect : str
        "linkwise" holds names, limits, masses and motors; the others what their toolboxes do.
    allow_loss : bool
        Write it even if something is left out; what would make it a table of another robot is refused all the same.

    Raises
    ------
    FileError
        Naming everything that the dialect cannot hold.
    ArgumentError
        Where there is no such dialect.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from linkwise import Mechanism
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "arm.dh"
    >>> save_dh(Mechanism.from_dh([(0, 0, 1, 0), (0, 0, 1, 0)], convention="standard"), path, "linkwise")
    >>> from linkwise.files import read_dh
    >>> read_dh(path, dialect="linkwise").n
    2
    """
    mechanism.require_numbers("a file")
    spoken = dialect_of(dialect)
    losses(mechanism, spoken).check(path, f"a table in the dialect {spoken.name!r}", allow_loss)
    write_text(path, [render(mechanism, spoken)])


# ── text ──────────────────────────────────────────────────────────────────────────────────────────


def render(mechanism: Mechanism, dialect: Dialect) -> str:
    """Return the text of a table, without the losses."""
    if dialect.has_header:
        return _with_header(mechanism)
    columns = _columns(mechanism, dialect)
    note = "" if "mdh" in columns else f"{_convention(mechanism)}, "
    head = f"# dialect {dialect.name}, {note}rad and m: {' '.join(columns)}"
    return "\n".join([head, *(", ".join(_cells(link, columns, dialect)) for link in mechanism.links)]) + "\n"


def _convention(mechanism: Mechanism) -> str:
    return next((link.dh_row.convention for link in mechanism.links if link.dh_row is not None), "standard")


def _columns(mechanism: Mechanism, dialect: Dialect) -> tuple[str, ...]:
    if dialect.has("m") and _heavy(mechanism, dialect):
        return dialect.forms[-1]
    kinematic = [form for form in dialect.forms if "m" not in form]
    if dialect.has("lower") and not any(link.limits for link in mechanism.links):
        return kinematic[-2]
    return kinematic[-1]


def _cells(link: Link, columns: Sequence[str], dialect: Dialect) -> list[str]:
    values = _values(link, dialect)
    is_length, flips, total = link.joint_model.is_length, link.dh_row is None, folded(link)
    place = str(link.joint_model.dh_parameter)
    offset = -link.offset if flips else link.offset
    whole = float(values[place]) + offset if flips or total is None else total
    fixed = {"sigma": str(int(is_length)), "flip": str(int(flips)), "mdh": str(int(values["convention"] == "modified"))}
    return [{**values, place: "0.0", "offset": repr(whole), **fixed}[column] for column in columns]


def _values(link: Link, dialect: Dialect) -> dict[str, str]:
    """Return the possible cell values of a link, by column."""
    row, body, motor = row_of(link, dialect), link.body, link.motor
    assert row is not None
    lower, upper = link.limits or (-math.inf, math.inf)
    values: dict[str, str] = {"name": str(link.name), "joint": link.joint, "convention": row.convention}
    numbers = {key: getattr(row, key) for key in ("theta", "d", "a", "alpha", "b")}
    numbers |= {"offset": link.offset, "lower": lower, "upper": upper, "m": body.mass}
    numbers |= dict(zip(("rx", "ry", "rz"), body.com.tolist(), strict=True))
    names = ("Ixx", "Iyy", "Izz", "Ixy", "Iyz", "Ixz")
    numbers |= {name: body.tensor[place] for name, place in zip(names, _TENSOR, strict=True)}
    motor = motor or Motor()
    numbers |= {"Jm": motor.inertia, "G": motor.gear_ratio, "B": motor.viscous}
    numbers |= dict(zip(("Tc+", "Tc-"), motor.coulomb, strict=True))
    return values | {key: repr(float(value)) for key, value in numbers.items()}


def _with_header(mechanism: Mechanism) -> str:
    """Return a table in Linkwise's own dialect, without columns of default values."""
    rows = [_values(link, DIALECTS["linkwise"]) for link in mechanism.links]
    always = ("name", "joint", "convention", "theta", "d", "a", "alpha")
    blank = {"lower": "-inf", "upper": "inf", "G": "1.0"}
    used = [key for key in HEADER if key in always or any(row[key] != blank.get(key, "0.0") for row in rows)]
    heads = [f"{key} [{HEADER[key][0]}]" if HEADER[key] else key for key in used]
    return "\n".join(["; ".join(heads), *("; ".join(row[key] for key in used) for row in rows)]) + "\n"
