"""What may stand in the .toml file of a chain: the keys of each table and the kind of each value."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from linkwise.control.chain_description import SCALARS, VECTORS
from linkwise.control.dh_links import GREATEST
from linkwise.errors import shown
from linkwise.files.description import Place
from linkwise.files.toml_schema import Schema, any_number

FORMAT = "linkwise chain 1"

GAINS: tuple[str, ...] = ("p", "i", "d", "r")
"""The parameters of a joint's regulator."""

JOINT_GREATEST: tuple[str, ...] = tuple(
    f"max_{free}_{what}" for free in ("theta", "d") for what in ("speed", "acceleration", "deceleration")
)
"""What may be bounded of a joint."""

TOP: dict[str, str] = {
    "format": "text",
    "name": "text",
    "angles": "text",
    "angles_convention": "text",
    "starting_dof": "text",
    "period": "number",
    "calculations_per_cycle": "whole",
    "calculation_precision": "number",
    "mechanism": "mechanism",
    "q0": "list of numbers",
    "link": "links",
    "start": "start",
    "constraint": "constraints",
    "speed_limit": "speed limits",
    "regulator": "regulators",
    "routes": "words by port",
    "ports": "values by port",
}
LINK: dict[str, str] = {
    "name": "text",
    "predecessor": "text",
    "joint": "text",
    **dict.fromkeys(("alpha", "theta", "a", "d"), "number"),
    "limits": "2 numbers",
    **dict.fromkeys(GREATEST, "bound"),
}
CONSTRAINT: dict[str, str] = {
    **dict.fromkeys(("name", "kind", "link", "to"), "text"),
    **dict.fromkeys(VECTORS, "3 numbers"),
    **dict.fromkeys(SCALARS, "number"),
    "rotation": "flag",
    "enabled": "flag",
}
START: dict[str, str] = dict.fromkeys(VECTORS, "3 numbers")
SPEED_LIMIT: dict[str, str] = {"link": "text", **dict.fromkeys((*GREATEST, *JOINT_GREATEST), "bound")}
REGULATOR: dict[str, str] = {"link": "text", **dict.fromkeys(GAINS, "number")}


class ChainSchema(Schema):
    """Takes the tables of a chain's file apart; see `Schema`."""

    def _value(self, item: str, place: Place, value: Any, kind: str) -> Any:
        if kind == "start":
            return self.table(item, place, value, START)
        if kind not in _KINDS:
            return super()._value(item, place, value, kind)
        expected, accepts = _KINDS[kind]
        if accepts(value):
            return value
        self.report(place, f"{item} is {shown(value)}; expected {expected}")
        return None


def leaves(table: Mapping[str, Any], before: tuple[str, ...] = ()) -> Iterator[tuple[str, tuple[str, ...], Any]]:
    """The name of each port in a table, where it stands, and what is said of it: ``"a.b" = 1`` and ``a.b = 1`` are alike.

    Examples
    --------
    >>> [name for name, _, _ in leaves({"boom": {"limits": {"max": 1.2}}, "jib.theta": 0.5})]
    ['boom.limits.max', 'jib.theta']
    """
    for key, value in table.items():
        place = (*before, key)
        if isinstance(value, dict):
            yield from leaves(value, place)
        else:
            yield ".".join(place), place, value


def _is_number(value: Any) -> bool:
    return any_number(value) is not None


def _are_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value)


_KINDS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "whole": ("a whole number", lambda value: isinstance(value, int) and not isinstance(value, bool)),
    "bound": ("a number > 0, or inf", _is_number),
    "mechanism": (
        "the name of a bundled mechanism or of a file in quotes, or a table with a mechanism",
        lambda value: isinstance(value, (str, dict)),
    ),
    "list of numbers": ("a list of numbers", lambda value: isinstance(value, list) and all(map(_is_number, value))),
    "constraints": ("one [[constraint]] table or more", _are_tables),
    "speed limits": ("one [[speed_limit]] table or more", _are_tables),
    "regulators": ("one [[regulator]] table or more", _are_tables),
    "words by port": ("a table of names of ports", lambda value: isinstance(value, dict)),
    "values by port": ("a table of values by the names of ports", lambda value: isinstance(value, dict)),
}
