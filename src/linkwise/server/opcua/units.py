"""Units as OPC UA tells them: the common codes of UNECE recommendation 20, made numbers (OPC 10000-8, 5.6.4.3)."""

from __future__ import annotations

CODES = {
    "1": ("C62", "one"),
    "m": ("MTR", "metre"),
    "rad": ("C81", "radian"),
    "s": ("SEC", "second"),
    "m/s": ("MTS", "metre per second"),
    "m/s2": ("MSK", "metre per second squared"),
    "rad/s": ("2A", "radian per second"),
    "rad/s2": ("2B", "radian per second squared"),
}
"""The code and the name of each unit that has them."""

NAMESPACE = "http://www.opcfoundation.org/UA/units/un/cefact"


def unit_id(unit: str) -> int:
    """The number of a unit: the characters of its code, one byte each; -1 for a unit that has none.

    Examples
    --------
    >>> unit_id("m"), unit_id("furlong")
    (5067858, -1)
    """
    return int.from_bytes(CODES[unit][0].encode("ascii"), "big") if unit in CODES else -1


def unit_name(unit: str) -> str:
    """The unit's name in words, or itself.

    Examples
    --------
    >>> unit_name("m/s2")
    'metre per second squared'
    """
    return CODES[unit][1] if unit in CODES else unit
