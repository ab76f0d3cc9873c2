"""The efforts of driven coordinates with loops closed, as a tape that can be written out."""

from __future__ import annotations

from collections.abc import Sequence

from linkwise.algorithm import labels
from linkwise.dynamics.closed_loops.nullspace import cut_open, driven_speeds
from linkwise.dynamics.closed_loops.second_derivatives import driven_equations, driven_map
from linkwise.dynamics.inverse_dynamics import gravity_torque, inverse_dynamics
from linkwise.kernel import trace
from linkwise.kernel.tape import Tape
from linkwise.loops.linkage import Linkage
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import Array, blank

#: The algorithms, and which vectors each takes.
CLOSED = {"inverse_dynamics": ("q", "qd", "qdd"), "gravity_torque": ("q",)}


def closed_tape(mechanism: Tree, name: str, driven: Sequence[int | str] | int | str | None = None) -> Tape:
    """Tape of `closed_inverse_dynamics`, or of its static part: tau (nv,), 0 for passive coordinates.

    G' times the efforts of the tree, cut open, with qd = G ud from the closure equations that `Linkage` takes (see
    `linkwise.dynamics.reduced_mass_matrix`); q, qd and qdd are those of all coordinates, of a motion that keeps loops
    closed.
    """
    at = driven_speeds(mechanism, driven, name)
    first = mechanism.nv - mechanism.n
    joints = [k - first for k in at]
    equations = driven_equations(mechanism, at) if min(at) < first else Linkage(mechanism, joints).equations
    tree, sizes = cut_open(mechanism), {"q": mechanism.nq, "qd": mechanism.nv, "qdd": mechanism.nv}

    def efforts(q: Array, *rates: Array) -> Array:
        needed = inverse_dynamics(tree, q, *rates) if rates else gravity_torque(tree, q)
        result = blank(mechanism.nv)
        result[at] = driven_map(equations, q).T @ needed
        return result

    inputs = {field: (sizes[field],) for field in CLOSED[name]}
    shapes = {**inputs, "tau": (mechanism.nv,)}
    named = {field: words for field, shape in shapes.items() if (words := labels(mechanism, field, shape))}
    return trace(efforts, name, inputs, {"tau": (mechanism.nv,)}, labels=named)
