"""SpaceLib under the names of its Maple release: ``from linkwise.spacelib import maple``, then ``maple.velactoWH(...)``.

Arguments and results are those of the function here, in the order of the MATLAB release. The constants are those of
`linkwise.spacelib`, axes count from 0, as in C and unlike Maple; but they are exact, so that products with symbols stay so:
`PIG_2` is SymPy's pi/2, and `UNIT4` is of whole numbers. All names stand in the table `linkwise.spacelib.names.NAMES`.

Examples
--------
>>> from linkwise.spacelib import maple
>>> maple.PIG_2, maple.ORIGIN.tolist()
(pi/2, [0, 0, 0, 1])
>>> maple.vdot3([1.0, 2.0, 3.0], [1.0, 1.0, 1.0]).tolist()
6.0
"""

from __future__ import annotations

from typing import Any

from linkwise.spacelib.names import found_in, listed_in

__all__ = listed_in("maple")  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    return found_in("maple", name)


def __dir__() -> list[str]:
    return listed_in("maple")
