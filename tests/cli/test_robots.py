"""`linkwise robots`."""

from __future__ import annotations

import json
from collections.abc import Callable

from linkwise import robots


def test_every_robot_has_a_line(linkwise: Callable) -> None:
    lines = linkwise("robots").out.splitlines()
    assert lines[0] == f"{len(robots.names())} robots"
    rows = {line.split()[0]: line for line in lines[3:]}
    assert tuple(rows) == robots.names()
    assert "RRPRRR" in rows["stanford"]
    assert "limits, masses, motors" in rows["puma560"]
    assert rows["ur5e"].split() == ["ur5e", "RRRRRR", "limits", "Universal", "Robots", "UR5e"]


def test_json(linkwise: Callable) -> None:
    listed = json.loads(linkwise("robots", "--json").out)["robots"]
    assert [robot["name"] for robot in listed] == list(robots.names())
    assert listed[robots.names().index("iiwa14")] == {
        "name": "iiwa14",
        "joints": "RRRRRRR",
        "known": "limits",
        "about": "KUKA LBR iiwa 14 R820",
    }
