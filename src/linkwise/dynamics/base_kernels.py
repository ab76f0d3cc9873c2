"""Compiled functions of the dynamic model in base parameters, which are their last input."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise.algorithm import find
from linkwise.compiling import labels
from linkwise.dynamics.carried_axes import carried_axes
from linkwise.dynamics.mass_matrix import composite_mass_matrix
from linkwise.errors import ArgumentError, members, shown
from linkwise.expr.node import parameter
from linkwise.kernel.tape import Tape, trace
from linkwise.model.symbolic import parameters_in
from linkwise.spatial.scalar import Array, blank

if TYPE_CHECKING:
    from linkwise.dynamics.base_bodies import BaseBodies

WHAT = ("inverse_dynamics", "bias_torque", "gravity_torque", "mass_matrix")
"""The algorithms that there are in base parameters."""


def base_tape(base: BaseBodies, what: str) -> Tape:
    """Trace an algorithm on bodies whose inertias are base parameters.

    Parameters
    ----------
    base : BaseBodies
        The bodies.
    what : str
        One of `WHAT`.

    Returns
    -------
    Tape
        Its last input, ``parameters``, has the base parameters, then the symbols of lengths, gravity and friction.

    Raises
    ------
    ArgumentError
        For another algorithm; for the mass matrix where links carry rotors.
    """
    if what not in WHAT:
        raise ArgumentError(f"there is no {shown(what)} in base parameters; there is {members(WHAT)}")
    declared = find(what)
    inputs, outputs = declared.shapes(base.tree, declared.inputs), declared.shapes(base.tree, declared.outputs)
    function = _function(base, what)
    named = {name: found for name, shape in {**inputs, **outputs}.items() if (found := labels(base.tree, name, shape))}
    frames = [value for body in base.bodies.bodies for value in (body.placement, body.angle, body.pitch)]
    motors = [
        value for drive in base.tree.drives for value in (drive.motor.viscous, drive.motor.coulomb, drive.motor.gear_ratio)
    ]
    symbols = dict.fromkeys([parameter(name) for name in base.names])
    symbols.update(dict.fromkeys(parameters_in([*frames, base.tree.gravity, *base.reflected, *motors])))
    return trace(function, what, inputs, outputs, parameters=tuple(symbols), labels=named, shorten=True)


def _function(base: BaseBodies, what: str) -> Callable[..., Any]:
    tree, nothing = base.tree, blank(base.tree.nv)
    resting = tree.nofriction() if tree.drives else tree
    ways: dict[str, Callable[..., Array]] = {
        "inverse_dynamics": lambda q, qd, qdd: base.efforts(tree, q, qd, qdd),
        "bias_torque": lambda q, qd: base.efforts(resting, q, qd, nothing),
        "gravity_torque": lambda q: base.efforts(resting, q, nothing, nothing),
        "mass_matrix": lambda q: _mass_matrix(base, q),
    }
    return ways[what]


def _mass_matrix(base: BaseBodies, q: Array) -> Array:
    tree = base.tree
    if base.bodies.rotors:
        raise ArgumentError(f"{tree.name!r}: links carry rotors; its mass matrix in base parameters is not supported")
    bare = tree.replace(links=[link.replace(motor=None) for link in tree.links], motors=())
    made = composite_mass_matrix(bare, *carried_axes(replace(base.bodies, rotors=()), q, tips=False))
    return np.asarray(made + np.diag(np.array(base.reflected, dtype=object)))
