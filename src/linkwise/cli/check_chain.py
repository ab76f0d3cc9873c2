"""What ``linkwise check`` says of a file that describes a cyclic chain."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from linkwise.cli.words import ok, say

if TYPE_CHECKING:
    from linkwise.errors import FileProblem

LINES_LOOKED_AT = 50
"""The format stands among the first lines of a file."""


def is_chain(file: str) -> bool:
    """Whether a file says that it describes a chain."""
    from linkwise.files.linkwise_toml import CHAIN

    if Path(file).suffix.lower() != ".toml" or not os.path.isfile(Path(file)):
        return False
    with Path(file).open(encoding="utf-8", errors="replace") as text:
        lines = [line.split("=", 1) for line, _ in zip(text, range(LINES_LOOKED_AT), strict=False)]
    said = [parts[1].strip().strip("\"'") for parts in lines if len(parts) == 2 and parts[0].strip() == "format"]
    return any(word.startswith(CHAIN) for word in said)


def chain_problems(file: str) -> Sequence[FileProblem]:
    """Everything that is wrong with it, each with its line."""
    from linkwise.control import chain_file

    return chain_file.check(file)


def chain_facts(file: str) -> dict[str, Any]:
    """What is in a file that is right."""
    from linkwise.control import chain_file

    made = chain_file.read(file)
    return {
        "chain": made.name,
        "mechanism": made.mechanism.name,
        "joints": made.mechanism.n,
        "loops": len(made.mechanism.loops),
        "constraints": [{"name": row.name, "kind": row.kind, "link": row.link} for row in made.constraints],
        "period": made.period,
    }


def print_chain(file: str, facts: dict[str, Any]) -> None:
    """Say it for people."""
    from linkwise.model.table import plain

    rows = facts["constraints"]
    say(f"{plain(file)}: {ok()}")
    say(f"  chain {plain(facts['chain'])}: {facts['joints']} joints, mechanism {plain(facts['mechanism'])}")
    for row in rows:
        say(f"  {plain(row['name'])}: {row['kind']}, on {plain(row['link'])}")
    if not rows:
        say("  no constraints")
    if facts["period"]:
        say(f"  a cycle each {1e3 * facts['period']:g} ms")
