"""An algorithm declares itself once: its name, its inputs and outputs with shapes, and the function over scalars.

`Mechanism.kernel`, the reference page and the laws in the tests read the declarations in `ALGORITHMS`; adding an
algorithm is adding one file with one decorated function, and one line to `Mechanism`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, NoReturn

from linkwise.errors import ArgumentError, members
from linkwise.kernel.tape import Shape
from linkwise.model.coupling import coupling
from linkwise.model.loop import CLOSURE_ROWS
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
        parameters, K equations that close the loops (see `linkwise.kinematics.closure`).
    function : callable
        ``function(tree, *inputs, **options)`` over arrays of scalars; one array or a tuple of them.
    options : mapping of str to object
        The keyword-only options of the function, and what they are by default; each choice is a kernel of its own.
    needs_loops : bool
        Whether it says nothing of a mechanism without loops.
    """

    name: str
    inputs: Mapping[str, str]
    outputs: Mapping[str, str]
    function: Callable[..., Any]
    options: Mapping[str, Any]
    needs_loops: bool = False

    def shapes(self, tree: Tree, which: Mapping[str, str]) -> dict[str, Shape]:
        """The shapes in numbers, for one mechanism."""
        links, drives = len(tree.links), len(tree.drives)
        parameters = len(LINK) * links + len(MOTOR) * drives
        letters = {"n": tree.n, "nq": tree.nq, "nv": tree.nv, "L": links, "P": parameters, "loops": len(tree.loops)}
        letters["K"] = sum(CLOSURE_ROWS[loop.kind] for loop in tree.loops)
        return {
            name: tuple(letters[letter] if letter in letters else int(letter) for letter in shape.split())
            for name, shape in which.items()
        }


def algorithm(
    inputs: Mapping[str, str],
    outputs: Mapping[str, str],
    *,
    spread: bool = True,
    open_only: bool = False,
    needs_loops: bool = False,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declare the decorated function as an algorithm.

    Parameters
    ----------
    inputs, outputs : mapping of str to str
        Shapes in letters, see `Algorithm`.
    spread : bool
        Whether, where joints follow others, the function runs on the mechanism with every joint free, and its result is
        gathered (see `linkwise.model.coupling`); False where it deals with the coordinates that there are itself.
    open_only : bool
        Whether mechanisms with closed loops are refused, for what it gives would be that of the tree cut open.
    needs_loops : bool
        Whether mechanisms without loops are refused, for there is nothing to give.
    """

    def declare(function: Callable[..., Any]) -> Callable[..., Any]:
        parameters = inspect.signature(function).parameters.values()
        options = {parameter.name: parameter.default for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY}
        name = function.__name__

        @wraps(function)
        def run(tree: Tree, *given: Any, **options: Any) -> Any:
            if open_only and tree.loops:
                refuse_loops(tree, name)
            if needs_loops and not tree.loops:
                raise ArgumentError(f"{tree.name!r} has no loops; {name} is for mechanisms with them")
            if spread and tree.coupled:
                return _spread(declared, tree, given, options)
            return function(tree, *given, **options)

        declared = ALGORITHMS[name] = Algorithm(name, dict(inputs), dict(outputs), run, options, needs_loops)
        return run

    return declare


def _spread(declared: Algorithm, tree: Tree, given: Sequence[Any], options: Mapping[str, Any]) -> Any:
    """Run on the mechanism with every joint free, and gather what comes back."""
    how = coupling(tree)
    to_free = {"nq": how.coordinates, "nv": how.speeds}
    pairs = zip(declared.inputs.values(), given, strict=True)
    free = [to_free[shape](value) if shape in to_free else value for shape, value in pairs]
    match = declared.function(how.uncoupled, *free, **options)
    result = match if isinstance(match, tuple) else (match,)
    gathered = tuple(how.gathered(value, shape) for value, shape in zip(result, declared.outputs.values(), strict=True))
    return gathered if isinstance(match, tuple) else gathered[0]


def refuse_loops(tree: Tree, name: str) -> NoReturn:
    """Raise `ArgumentError`: what was asked for is not known where loops are closed."""
    loops = members(loop.name or repr(loop) for loop in tree.loops)
    called = name.removesuffix("_external")  # (the method has one name for both)
    hint = "replace(loops=()) gives the tree, cut open"
    if called in ("inverse_dynamics", "run"):
        which = "" if tree.drives else ", driven=[...]"
        hint = f"actuator_efforts(q, qd, qdd{which}) gives the efforts with loops closed; {hint}"
    raise ArgumentError(f"{tree.name!r} has closed loops, {loops}; {called} is for mechanisms without ({hint})")


def find(name: str) -> Algorithm:
    """Return the algorithm of that name; an error lists what there is."""
    if name not in ALGORITHMS:
        raise ArgumentError(f"no algorithm {name!r}; there is {members(sorted(ALGORITHMS))}")
    return ALGORITHMS[name]
