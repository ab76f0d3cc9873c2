"""List the bundled robots."""

from __future__ import annotations

from typing import Any

import linkwise.robots
from linkwise.cli.command import Options, Output, command
from linkwise.mechanism import Mechanism
from linkwise.model.formatting.mechanism_tables import joint_letters
from linkwise.model.formatting.table import Table


@command()
def robots(options: Options) -> Output:
    """List the bundled robots, which every command takes by name.

    The table has their joints (R revolute, P prismatic), their data beside the kinematics, and a description. linkwise show
    NAME --sources prints the source of each number.
    """
    rows: list[tuple[str, ...]] = []
    data: list[dict[str, Any]] = []
    for name in linkwise.robots.names():
        mechanism = linkwise.robots.load(name)
        known, about = _known_data(mechanism), linkwise.robots.summary(name)
        rows.append((name, joint_letters(mechanism), known, about))
        data.append({"name": name, "joints": joint_letters(mechanism), "known": known, "about": about})
    table = Table((f"{len(rows)} robots",), ("name", "joints", "data", "description"), tuple(rows))
    return Output({"robots": data}, [table])


def _known_data(mechanism: Mechanism) -> str:
    """Known properties of a mechanism besides its kinematics."""
    masses = any(not link.body.is_zero for link in mechanism.links)
    parts = {"limits": any(link.limits is not None for link in mechanism.links), "masses": masses}
    return ", ".join(name for name, is_known in {**parts, "motors": bool(mechanism.drives)}.items() if is_known)
