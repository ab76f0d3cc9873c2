"""The short names of algorithms, as equations call them: M, C, g."""

from __future__ import annotations

import re

import linkwise.dynamics
import linkwise.kinematics  # noqa: F401  (both declare their algorithms)
from linkwise.algorithm.declaration import ALGORITHMS
from linkwise.errors import ArgumentError, members, shown

SHORT = {
    "M": "mass_matrix",
    "C": "coriolis_matrix",
    "g": "gravity_torque",
    "fk": "forward_kinematics",
    "J": "jacobian",
    "id": "inverse_dynamics",
    "fd": "forward_dynamics",
    "Y": "regressor",
}
"""Short names of what is mostly derived, and the algorithms."""


def algorithm_name(word: str) -> str:
    """Return the name of the algorithm that a word means: a short one, or the name itself.

    Raises
    ------
    ArgumentError
        Naming what there is, the short names first; where several stand in one word, saying so.

    Examples
    --------
    >>> algorithm_name("M"), algorithm_name("jacobian")
    ('mass_matrix', 'jacobian')
    """
    name = SHORT.get(word, word) if isinstance(word, str) else word
    if isinstance(name, str) and name in ALGORITHMS:
        return name
    several = [part for part in re.split(r"[\s,;]+", word) if part] if isinstance(word, str) else []
    if len(several) > 1 and all(part in SHORT or part in ALGORITHMS for part in several):
        raise ArgumentError(f"{shown(word)} is {len(several)} names; expected one at a time: {', '.join(several)}")
    short = ", ".join(f"{one} ({what})" for one, what in SHORT.items())
    others = members(sorted(ALGORITHMS.keys() - SHORT.values()))
    raise ArgumentError(f"no algorithm {shown(word)}; there is {short}, and by name alone {others}")
