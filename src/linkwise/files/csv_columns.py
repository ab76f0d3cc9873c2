"""The columns of a motion as .csv: what each may be called, and the units that its header may state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from linkwise.model.quantities import BASE_UNITS, GROUPS, UNITS
from linkwise.model.tree import BASE_COORDINATES, BASE_SPEEDS


@dataclass(frozen=True)
class Column:
    """One column: the names by which it is known, the usual one first, and its units."""

    names: tuple[str, ...]
    units: tuple[str, ...]


def base_names(group: str) -> tuple[str, ...]:
    """What a floating base has in a group."""
    return BASE_COORDINATES if group == "q" else BASE_SPEEDS


def columns(group: str, n: int, names: Sequence[str], floating: bool) -> Iterator[Column]:
    """The columns of a group in order: a floating base, then the joints by number or by name.

    Examples
    --------
    >>> [column.names for column in columns("q", 1, ["arm"], False)]
    [('q1', 'q_arm', 'arm')]
    """
    for name, unit in zip(base_names(group), BASE_UNITS[group], strict=True) if floating else ():
        yield Column((f"{group}_{name}", *((name,) if group != "qdd" else ())), (unit,))
    for k in range(n):
        by_name = (f"{group}_{names[k]}", *((names[k],) if group == "q" else ())) if names else ()
        yield Column((f"{group}{k + 1}", *by_name), UNITS[group])


def header(n: int, names: Sequence[str], floating: bool) -> list[str]:
    """What a header says that Linkwise writes."""
    endings = [f"_{name}" for name in names] or [str(k + 1) for k in range(n)]
    base = {group: [f"_{name}" for name in base_names(group)] if floating else [] for group in GROUPS}
    return ["t", *(f"{group}{ending}" for group in GROUPS for ending in [*base[group], *endings])]


def name_and_unit(cell: str) -> tuple[str, str | None]:
    """The name of a column and the unit that stands in brackets behind it; None without brackets.

    Examples
    --------
    >>> name_and_unit(" tau_arm [N m]"), name_and_unit("q1")
    (('tau_arm', 'N m'), ('q1', None))
    """
    name, bracket, unit = cell.rstrip().removesuffix("]").rpartition("[")
    if not bracket or not cell.rstrip().endswith("]") or "]" in unit:
        return cell.strip(), None
    return name.strip(), unit.strip()
