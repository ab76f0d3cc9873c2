"""`Plant`: a mechanism and what acts on it beside its motors and gravity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise.algorithm import find, kernel_of
from linkwise.dynamics.closed_loops.forward_dynamics import closed_motion
from linkwise.kernel import Kernel
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import Array, FloatArray


@dataclass(frozen=True)
class Plant:
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
        wrench = () if self.external is None else (np.array(self.external),)
        if self.tree.loops:
            return closed_motion(self.tree, q, qd, tau, *(wrench or (None,)), checked=False)[0]
        return np.asarray(find(self._dynamics).function(self.tree, q, qd, tau, *wrench))

    def compiled_accelerations(self, q: FloatArray, qd: FloatArray, tau: FloatArray) -> FloatArray:
        """Return qdd (..., nv) at many states, by the kernel that the mechanism keeps."""
        wrench = () if self.external is None else (self.external,)
        return np.asarray(self.kernel(self._dynamics)(q, qd, tau, *wrench))

    def kernel(self, name: str, **options: Any) -> Kernel:
        """The compiled function of an algorithm."""
        return kernel_of(self.tree, name, None, options)

    @property
    def _dynamics(self) -> str:
        return "forward_dynamics" if self.external is None else "forward_dynamics_external"
