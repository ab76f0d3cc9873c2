"""`Plant`: a mechanism and what acts on it beside its motors and gravity."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from linkwise.algorithm import kernel_of
from linkwise.dynamics.closed_loops.forward_dynamics import closed_motion
from linkwise.dynamics.external import Wrenches
from linkwise.dynamics.forward_dynamics import forward_dynamics
from linkwise.kernel import Kernel, trace
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import Array, FloatArray


@dataclass(frozen=True)
class Plant:
    """A mechanism under constant wrenches on its links, or under none.

    Attributes
    ----------
    tree : Tree
        The mechanism.
    external : tuple of floats, or None
        Force (N) and moment (N m) of each wrench.
    wrenches : tuple, optional
        On which frames they act, and in which axes: see `linkwise.dynamics.external`; by default one on the tool.
    stabilization : {"projection", "baumgarte", "none"}
        What keeps loops closed: see `linkwise.simulate`.
    rate : float
        Of Baumgarte's stabilisation, 1/s.
    """

    tree: Tree
    external: tuple[float, ...] | None = None
    wrenches: Wrenches = None
    stabilization: str = "projection"
    rate: float = 0.0

    @property
    def projects(self) -> bool:
        """Whether each state goes to the nearest one that closes the loops."""
        return bool(self.tree.loops) and self.stabilization == "projection"

    def accelerations(self, q: Array, qd: Array, tau: Array) -> Array:
        """Return qdd (nv,) over scalars: the forward dynamics, the external wrench as constants in it.

        With loops, also at a stage of an integrator that stands a little beside the closed states.
        """
        if self.tree.loops:
            options: dict[str, Any] = {"checked": False, "baumgarte": self.rate}
            return closed_motion(self.tree, q, qd, tau, self.loads, self.wrenches, **options)[0]
        return np.asarray(forward_dynamics(self.tree, q, qd, tau, self.loads, wrenches=self.wrenches))

    def without_coulomb(self) -> Plant:
        """The same without Coulomb friction."""
        return replace(self, tree=self.tree.without_friction(viscous=False))

    def compiled_accelerations(self, q: FloatArray, qd: FloatArray, tau: FloatArray) -> FloatArray:
        """Return qdd (..., nv) at many states, by a kernel that the mechanism keeps."""
        if self.tree.loops and not self.projects:
            inputs = {"q": (self.tree.nq,), "qd": (self.tree.nv,), "tau": (self.tree.nv,)}
            tape = partial(trace, self.accelerations, "accelerations", inputs, {"qdd": (self.tree.nv,)})
            return np.asarray(self.tree.memo("plant", self.choices, lambda: Kernel(tape()))(q, qd, tau))
        if self.loads is None:
            return np.asarray(self.kernel("forward_dynamics")(q, qd, tau))
        return np.asarray(self.kernel("forward_dynamics_external", **self.options)(q, qd, tau, self.loads))

    def kernel(self, name: str, **options: Any) -> Kernel:
        """The compiled function of an algorithm."""
        return kernel_of(self.tree, name, None, options)

    @property
    def choices(self) -> tuple[Any, ...]:
        """What its dynamics depend on, beside the mechanism."""
        return self.external, self.wrenches, self.stabilization, self.rate

    @property
    def loads(self) -> FloatArray | None:
        """The values of the wrenches (6,) or (W, 6)."""
        if self.external is None:
            return None
        return np.reshape(self.external, (6,) if self.wrenches is None else (len(self.wrenches), 6))

    @property
    def options(self) -> dict[str, Any]:
        """Those of an algorithm that takes wrenches."""
        return {} if self.wrenches is None else {"wrenches": self.wrenches}
