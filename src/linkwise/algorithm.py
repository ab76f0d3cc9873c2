"""An algorithm declares itself once: its name, its inputs and outputs with shapes, and the function over scalars.

`Mechanism.kernel`, the reference page and the laws in the tests read the declarations in `ALGORITHMS`; adding an
algorithm is adding one file with one decorated function, and one line to `Mechanism`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from linkwise.errors import ArgumentError, members
from linkwise.kernel.tape import Shape
from linkwise.model.parameters import LINK, MOTOR
from linkwise.model.tree import Tree

ALGORITHMS: dict[str, Algorithm] = {}
"""Every algorithm there is, by name."""


@dataclass(frozen=True)
class Algorithm:
    """The declaration of one algorithm.

    Attributes
    ----------
    name : str
        What `Mechanism.kernel` finds it by.
    inputs, outputs : mapping of str to str
        Shapes in letters: ``"nq"``, ``"L 4 4"``, ``"6 nv"``; nq coordinates, nv speeds, n joints, L links, P inertial
        parameters.
    function : callable
        ``function(tree, *inputs, **options)`` over arrays of scalars; one array or a tuple of them.
    options : mapping of str to object
        The keyword-only options of the function, and what they are by default; each choice is a kernel of its own.
    """

    name: str
    inputs: Mapping[str, str]
    outputs: Mapping[str, str]
    function: Callable[..., Any]
    options: Mapping[str, Any]

    def shapes(self, tree: Tree, which: Mapping[str, str]) -> dict[str, Shape]:
        """The shapes in numbers, for one mechanism."""
        links, drives = len(tree.links), len(tree.drives)
        parameters = len(LINK) * links + len(MOTOR) * drives
        letters = {"n": tree.n, "nq": tree.nq, "nv": tree.nv, "L": links, "P": parameters}
        return {
            name: tuple(letters[letter] if letter in letters else int(letter) for letter in shape.split())
            for name, shape in which.items()
        }


def algorithm(inputs: Mapping[str, str], outputs: Mapping[str, str]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declare the decorated function as an algorithm."""

    def declare(function: Callable[..., Any]) -> Callable[..., Any]:
        parameters = inspect.signature(function).parameters.values()
        options = {parameter.name: parameter.default for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY}
        name = function.__name__
        ALGORITHMS[name] = Algorithm(name, dict(inputs), dict(outputs), function, options)
        return function

    return declare


def find(name: str) -> Algorithm:
    """Return the algorithm of that name; an error lists what there is."""
    if name not in ALGORITHMS:
        raise ArgumentError(f"no algorithm {name!r}; there is {members(sorted(ALGORITHMS))}")
    return ALGORITHMS[name]
