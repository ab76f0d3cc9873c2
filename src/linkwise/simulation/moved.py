"""What moves, and what pushes it beside its motors and gravity."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkwise.algorithm import find
from linkwise.dynamics.closed_loops.forward import closed_motion
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import Array, FloatArray


@dataclass(frozen=True)
class Moved:
    """A mechanism under a constant force and moment on its tool, or under none.

    Attributes
    ----------
    tree : Tree
        The mechanism.
    external : tuple of 6 floats, or None
        Force (N) and moment (N m) on the tool at its origin, in tool axes.
    """

    tree: Tree
    external: tuple[float, ...] | None = None

    def accelerations(self, q: Array, qd: Array, tau: Array) -> Array:
        """Return qdd (nv,) over scalars: the forward dynamics, the external wrench as constants in it.

        With loops, also at a stage of an integrator that stands a little beside the closed states.
        """
        if self.tree.loops:
            wrench = None if self.external is None else np.array(self.external)
            return closed_motion(self.tree, q, qd, tau, wrench, checked=False)[0]
        if self.external is None:
            return np.asarray(find("forward_dynamics").function(self.tree, q, qd, tau))
        wrench = np.array(self.external)
        return np.asarray(find("forward_dynamics_external").function(self.tree, q, qd, tau, wrench))

    def compiled_accelerations(self, q: FloatArray, qd: FloatArray, tau: FloatArray) -> FloatArray:
        """Return qdd (..., nv) at many states, by the kernel that the mechanism keeps."""
        name, given = ("forward_dynamics", ()) if self.external is None else ("forward_dynamics_external", (self.external,))
        made: FloatArray = self.tree.kernel(name)(q, qd, tau, *given)  # type: ignore[attr-defined]
        return made
