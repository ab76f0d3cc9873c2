"""From an algorithm and a mechanism to a kernel: traced and compiled once, then kept with the mechanism."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from linkwise.algorithm.declaration import Algorithm, find
from linkwise.errors import ArgumentError, choices, members, shown
from linkwise.kernel import Kernel, trace
from linkwise.model.tree import BASE_ACCELERATIONS, BASE_COORDINATES, BASE_EFFORTS, BASE_SPEEDS, Tree


def kernel_of(tree: Tree, name: str, backend: str | None = None, options: Mapping[str, Any] | None = None) -> Kernel:
    """Return the kernel of an algorithm for a mechanism; see `Mechanism.kernel`.

    Raises
    ------
    ArgumentError
        Naming the algorithms, or the options, there are.
    """
    declared = find(name)
    chosen = _chosen(tree, declared, options) if options else {}
    key = (name, backend, *chosen.items())
    return tree.memo("kernel", key, lambda: _compile(tree, declared, backend, chosen))


def _chosen(tree: Tree, declared: Algorithm, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that are not what they are by default, in their order, links by index."""
    unknown = sorted(options.keys() - declared.options.keys())
    if unknown:
        raise ArgumentError(f"{declared.name} has no option {choices(unknown)}; it has {members(declared.options)}")
    chosen = {}
    for name, default in declared.options.items():
        value = options.get(name, default)
        if not isinstance(value, (str, int, np.integer)):
            raise ArgumentError(f"{declared.name}: {name} is {shown(value)}; expected a word or a whole number")
        if name == "link" and (isinstance(value, bool) or value != default):
            value = tree.link_index(value if isinstance(value, str) else int(value))
        if value != default:
            chosen[name] = value
    return chosen


def _compile(tree: Tree, declared: Algorithm, backend: str | None, options: dict[str, Any]) -> Kernel:
    function = partial(declared.function, tree, **options)
    inputs, outputs = declared.shapes(tree, declared.inputs), declared.shapes(tree, declared.outputs)
    named = {name: result for name, shape in {**inputs, **outputs}.items() if (result := labels(tree, name, shape))}
    tape = trace(
        function,
        declared.name,
        inputs,
        outputs,
        parameters=tree.parameters_used,
        labels=named,
        shorten=not tree.loops,  # what closes loops refines its results for the sake of rounding
    )
    return Kernel(tape, backend, declared.function.__doc__ or "")


def labels(tree: Tree, name: str, shape: tuple[int, ...]) -> tuple[str, ...]:
    """Names of the elements of an input or output along the coordinates: ``q1``, ``qd1``, whatever the joints are called."""
    own = {"q": BASE_COORDINATES, "qd": BASE_SPEEDS, "qdd": BASE_ACCELERATIONS, "tau": BASE_EFFORTS}
    if name not in own or shape != ((tree.nq if name == "q" else tree.nv),):
        return ()
    return (*(own[name] if tree.floating else ()), *(f"{name}{k}" for k in range(1, tree.n + 1)))
