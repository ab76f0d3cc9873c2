"""What ``linkwise show`` tells of a mechanism: its tables for people, and the same for programs."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from linkwise.cli import dynamics_text, posture
from linkwise.cli.open_loops import open_loops
from linkwise.cli.plain_tables import put_table
from linkwise.cli.words import columns, remark, say
from linkwise.model import part_tables, table

if TYPE_CHECKING:
    from linkwise.files import Description

WIDEST = 100
"""Columns of running text."""


def tell(found: Description, q: Sequence[float] | None, qd: Sequence[float] | None, options: dict[str, Any]) -> None:
    """Print the table of the geometry, and the tables that were asked for."""
    mechanism = found.mechanism
    driven = bool(mechanism.drives)
    put_table(table.described(mechanism), space=False)
    outside = list(posture.outside(mechanism, q))
    if outside or q is not None:
        say("")
    if q is not None:
        say(posture.tool_text(mechanism, q))
    for line in outside:
        remark(line)
    if driven and not options["motors"]:
        say("\n--motors prints the motors")
    for made in _tables(found, q, qd, options):
        put_table(made)
    if options["motors"] and not driven:
        say("\nno joint has a motor")
    for line in open_loops(mechanism, q):
        remark(f"{line} at this --q")
    if found.external.any():
        say(f"\non the tool, in its axes: {table.action(found.external)}")
    for line in found.source if options["sources"] else ():
        size = min(WIDEST, columns(sys.stdout) or WIDEST)
        say("\n" + textwrap.fill(table.plain(line), size, subsequent_indent="  "))


def _tables(
    found: Description, q: Sequence[float] | None, qd: Sequence[float] | None, options: dict[str, Any]
) -> Iterator[table.Table]:
    mechanism = found.mechanism
    if options["masses"]:
        yield part_tables.mass_table(mechanism)
    if options["motors"] and mechanism.drives:
        yield part_tables.motor_table(mechanism)
    if options["limits"]:
        yield part_tables.limit_table(mechanism)
    if options["dynamics"]:
        yield from dynamics_text.at(mechanism, q, qd)
    if options["base_parameters"]:
        yield dynamics_text.base_parameters(mechanism)


def facts(
    found: Description, q: Sequence[float] | None, qd: Sequence[float] | None, options: dict[str, Any]
) -> dict[str, Any]:
    """Say it for programs: the keys and numbers of the .toml file, which holds everything, and what was asked for beside."""
    import tomllib

    from linkwise.files import toml_write

    told: dict[str, Any] = {"description": tomllib.loads("".join(toml_write.render(found)))}
    if q is not None and found.mechanism.loops:
        told["open_loops"] = list(open_loops(found.mechanism, q))
    if q is not None:
        told["tool"] = posture.tool_facts(found.mechanism, q)
    told["remarks"] = list(posture.outside(found.mechanism, q))
    if options["dynamics"]:
        told["dynamics"] = dynamics_text.facts(found.mechanism, q, qd)
    if options["base_parameters"]:
        told["base_parameters"] = dynamics_text.base_facts(found.mechanism)
    return told
