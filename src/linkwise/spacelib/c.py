"""SpaceLib under the names of its C release: ``from linkwise.spacelib import c``, then ``c.velacctoWH(...)``.

Arguments and results are those of the function here, in the order of the MATLAB release; no result is written into an
argument. The constants `X`, `Rev` and so on are the same as in `linkwise.spacelib`. All names stand in the table
`linkwise.spacelib.names.NAMES`.

Examples
--------
>>> from linkwise.spacelib import c
>>> c.axis(c.Z).tolist()
[0.0, 0.0, 1.0]
"""

from __future__ import annotations

from typing import Any

from linkwise.spacelib.names import found_in, listed_in

__all__ = listed_in("c")  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    return found_in("c", name)


def __dir__() -> list[str]:
    return listed_in("c")
