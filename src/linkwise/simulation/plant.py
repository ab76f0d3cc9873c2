"""`Plant`: a mechanism with its loads other than motors and gravity."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from linkwise.algorithm import kernel_of
from linkwise.dynamics.closed_loops.forward_dynamics import closed_motion
from linkwise.dynamics.external import Wrenches
from linkwise.dynamics.forward_dynamics import forward_dynamics
from linkwise.kernel import Kernel, trace
from linkwise.kinematics.configuration import configuration_rate, integrate, with_unit_quaternions
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
        """True if each state is projected to the nearest one that closes the loops."""
        return bool(self.tree.loops) and self.stabilization == "projection"

    def accelerations(self, q: Array, qd: Array, tau: Array) -> Array:
        """Return qdd (nv,) over scalars: the forward dynamics, the external wrench as constants in it.

        With loops, also at a stage of an integrator that stands a little beside the closed states.
        """
        if self.tree.loops:
            options: dict[str, Any] = {"checked": False, "baumgarte": self.rate}
            return closed_motion(self.tree, q, qd, tau, self.loads, self.wrenches, **options)[0]
        return np.asarray(forward_dynamics(self.tree, q, qd, tau, self.loads, wrenches=self.wrenches))

    def configuration_rate(self, q: Array, qd: Array) -> Array:
        """Return dq/dt (nq,) over scalars."""
        return np.asarray(configuration_rate(self.tree, q, qd))

    def integrate(self, q: Array, qd: Array, dt: Any) -> Array:
        """Return the configuration (nq,) after the time dt (s) over scalars."""
        return np.asarray(integrate(self.tree, q, qd, dt))

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

    @property
    def is_looped(self) -> bool:
        """True if accelerations come from a kernel that loops over the bodies."""
        name = "forward_dynamics" if self.external is None else "forward_dynamics_external"
        return not self.tree.loops and self.kernel(name, **self.options).tier == "looped"

    def kernel(self, name: str, **options: Any) -> Kernel:
        """The compiled function of an algorithm."""
        return kernel_of(self.tree, name, None, options)

    @property
    def choices(self) -> tuple[Any, ...]:
        """Choices on which its dynamics depend, besides the mechanism."""
        return self.external, self.wrenches, self.stabilization, self.rate

    @property
    def loads(self) -> FloatArray | None:
        """The values of the wrenches (6,) or (W, 6)."""
        if self.external is None:
            return None
        return np.reshape(self.external, (6,) if self.wrenches is None else (len(self.wrenches), 6))

    @property
    def options(self) -> dict[str, Any]:
        """Options of an algorithm that accepts wrenches."""
        return {} if self.wrenches is None else {"wrenches": self.wrenches}


class BatchPlant(Plant):
    """Numeric plant for batches of states (..., nq): its accelerations come from a kernel of the mechanism.

    What is more than a sum for joints with quaternions is compiled for these alone.
    """

    def accelerations(self, q: FloatArray, qd: FloatArray, tau: FloatArray) -> FloatArray:
        """Return qdd (..., nv)."""
        return self.compiled_accelerations(q, qd, tau)

    def configuration_rate(self, q: FloatArray, qd: FloatArray) -> FloatArray:
        """Return dq/dt (..., nq)."""
        return self._at_joints(configuration_rate, qd, q, qd)

    def integrate(self, q: FloatArray, qd: FloatArray, dt: float) -> FloatArray:
        """Return the configurations (..., nq) after the time dt, s."""
        step = qd * dt
        return self._at_joints(
            _step, q[..., self.tree.nq - self.tree.n :] + step[..., self.tree.nv - self.tree.n :], q, step
        )

    def with_unit_quaternions(self, q: FloatArray) -> FloatArray:
        """Return the configurations (..., nq) with quaternions of unit length."""
        return self._at_joints(with_unit_quaternions, q, q)

    def _at_joints(self, function: Callable[..., Array], others: FloatArray, *arrays: FloatArray) -> FloatArray:
        """A function of the coordinates of joints with quaternions (and their velocities), before those of the others."""
        tree = self.tree
        sizes = {"q": tree.nq - tree.n, "qd": tree.nv - tree.n}
        others = others[..., others.shape[-1] - tree.n :]
        if not sizes["q"]:
            return others
        inputs = {name: (size,) for (name, size), _ in zip(sizes.items(), arrays, strict=False)}

        def compile_function() -> Kernel:
            return Kernel(trace(partial(function, tree), function.__name__, inputs, {"result": (sizes["q"],)}))

        kernel = tree.memo("at joints with quaternions", function, compile_function)
        parts = [array[..., :size] for array, size in zip(arrays, sizes.values(), strict=False)]
        return np.concatenate([kernel(*parts), others], axis=-1)


def _step(tree: Tree, q: Array, step: Array) -> Array:
    """Configuration after a step (nv,)."""
    return np.asarray(integrate(tree, q, step, 1.0))
