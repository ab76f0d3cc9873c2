"""The bundled robots: their names, joints, and what is known of them."""

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

    Each with its joints (R revolute, P prismatic), what is known of it beside its kinematics, and what it is. linkwise show
    NAME --sources says where every number comes from.
    """
    rows: list[tuple[str, ...]] = []
    data: list[dict[str, Any]] = []
    for name in linkwise.robots.names():
        mechanism = linkwise.robots.load(name)
        known, about = _known(mechanism), linkwise.robots.summary(name)
        rows.append((name, joint_letters(mechanism), known, about))
        data.append({"name": name, "joints": joint_letters(mechanism), "known": known, "about": about})
    table = Table((f"{len(rows)} robots",), ("name", "joints", "known", "what it is"), tuple(rows))
    return Output({"robots": data}, [table])


def _known(mechanism: Mechanism) -> str:
    """What is known of a mechanism beside its kinematics."""
    masses = any(not link.body.is_zero for link in mechanism.links)
    parts = {"limits": any(link.limits is not None for link in mechanism.links), "masses": masses}
    return ", ".join(name for name, is_known in {**parts, "motors": bool(mechanism.drives)}.items() if is_known)
