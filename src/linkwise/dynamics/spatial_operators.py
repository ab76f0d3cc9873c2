"""The spatial operators of Rodriguez, Jain and Kreutz-Delgado, and the factors of the mass matrix and its inverse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise import arrays
from linkwise.algorithm import refuse_loops
from linkwise.arrays import GraphOutput, Signature
from linkwise.dynamics.inertia_check import check_inertia
from linkwise.dynamics.recursions import reflected_inertias
from linkwise.errors import ArgumentError
from linkwise.kernel import Kernel, trace
from linkwise.kinematics.forward_kinematics import place
from linkwise.model.assembly import separated
from linkwise.model.body import Body, moving_bodies
from linkwise.model.tree import Tree, require_numeric_tree
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array, FloatArray
from linkwise.spatial.spatial_vectors import spatial_inertia
from linkwise.spatial.transform import inverse
from linkwise.spatial.validation import vectors


@dataclass(frozen=True, eq=False)
class SpatialOperators:
    """H, phi, M, D, K and psi at one configuration or many, N moving bodies from the base to the tips.

    Six-vectors are (linear, angular), each body's in its own frame: that of the link whose joint moves it, or the floating
    base's. A force on a body acts on its parent through phi, so phi and psi are upper triangular. With * for the transpose,
    R the inertia of rotors felt at the joints, and B the angular momentum of the rotors that bodies carry,

        mass_matrix          = H phi M phi* H* + H phi B + (H phi B)* + R = (1 + H phi K) D (1 + H phi K)*
        inverse(1 + H phi K) = 1 - H psi K
        inverse(mass_matrix) = (1 - H psi K)* inverse(D) (1 - H psi K).

    G. Rodriguez, A. Jain, K. Kreutz-Delgado, "Spatial operator algebra for multibody system dynamics", J. Astronautical
    Sciences 40(1), 1992; rotors by A. Jain, *Robot and Multibody Dynamics*, 2011.

    Attributes
    ----------
    H : ndarray (nv, 6N)
        The joint axes: velocities are phi* H* qd.
    phi : ndarray (..., 6N, 6N)
        The force on each body from forces on all: 1, and the transport from j to i where j is beyond i.
    M : ndarray (6N, 6N)
        The inertia of each body alone, on the diagonal.
    D : ndarray (..., nv, nv)
        The articulated inertia at each joint, on the diagonal (6x6 for a floating base).
    K : ndarray (..., 6N, nv)
        What a joint's articulated body shows to its parent per unit of effort left there.
    psi : ndarray (..., 6N, 6N)
        Phi with all joints free.
    R : ndarray (nv, nv)
        G^2 Jm, on the diagonal.
    B : ndarray (6N, nv)
        G Jm s: the angular momentum of each joint's rotor per unit of joint speed, relative to the body that carries it, in
        the rows of that body. Zero for motors without a carrier.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> made = arm.spatial_operators([0.0, 0.5])
    >>> made.H.shape, made.phi.shape, made.D.round(3)
    ((2, 12), (12, 12), array([[0.756, 0.   ],
           [0.   , 0.333]]))
    """

    H: FloatArray
    phi: FloatArray
    M: FloatArray
    D: FloatArray
    K: FloatArray
    psi: FloatArray
    R: FloatArray
    B: FloatArray


def _graph_rows(mechanism: Tree, **_: Any) -> dict[str, GraphOutput]:
    """The operators that depend on q, in graphs of `torch.compile`."""
    count, size = _constant(mechanism, "H").shape
    return {
        "phi": GraphOutput((size, size)),
        "D": GraphOutput((count, count)),
        "K": GraphOutput((size, count)),
        "psi": GraphOutput((size, size)),
    }


@arrays.constant_in_graphs
def _constant(mechanism: Tree, name: str) -> FloatArray:
    """An operator that does not depend on q."""
    return np.asarray(getattr(spatial_operators(mechanism, mechanism.neutral), name))


def _in_graph(mechanism: Tree, tensors: Any, options: Any, **rows: Any) -> SpatialOperators:
    module = arrays.functions_of("spatial_operators", [])
    fixed = {name: module.asarray(_constant(mechanism, name), dtype=rows["phi"].dtype).clone() for name in "HMRB"}
    return SpatialOperators(**rows, **fixed)


@arrays.in_graphs({"q": ("nq",)}, _graph_rows, _in_graph, narrow=True)
def spatial_operators(mechanism: Tree, q: npt.ArrayLike) -> SpatialOperators:
    """Build the operators of a mechanism at coordinates q (..., nq): see `SpatialOperators`.

    Raises
    ------
    ArgumentError
        Where loops are closed or joints follow others. Where q does not fit.
    ModelError
        Where a joint moves no inertia.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import robots
    >>> arm, q = robots.planar_3r(), [0.1, 0.2, 0.3]
    >>> made = spatial_operators(arm, q)
    >>> half = np.eye(3) + made.H @ made.phi @ made.K
    >>> np.allclose(half @ made.D @ half.T, arm.mass_matrix(q), rtol=1e-12)
    True
    """
    require_numeric_tree(mechanism, "spatial_operators")
    if mechanism.loops:
        refuse_loops(mechanism, "spatial_operators")
    mechanism.require_no_length_inertias("spatial_operators")
    mechanism = separated(mechanism)
    if mechanism.coupled:
        subject = "joints that follow others"
        raise ArgumentError(f"{mechanism.name!r} has {subject}; the operators are those of trees whose joints are free")
    moving = moving_bodies(mechanism)
    check_inertia(mechanism)
    if arrays.of("spatial_operators", [q]) is None:
        q = vectors("spatial_operators: q", q, mechanism.nq)
    bodies = moving.bodies
    rotors = np.diag(reflected_inertias(mechanism))
    frames = [np.eye(4) if body.link < 0 else moving.frames[body.link][1] for body in bodies]
    size, count = 6 * len(bodies), mechanism.nv
    h, m, spin = np.zeros((count, size)), np.zeros((size, size)), np.zeros((size, count))
    for i, (body, frame) in enumerate(zip(bodies, frames, strict=True)):
        here = slice(6 * i, 6 * i + 6)
        h[body.speed : body.speed + len(body.freedoms), here] = _axes(body, frame)
        m[here, here] = _inertia(body, frame)
    for rotor in moving.rotors:
        turn = np.asarray(frames[rotor.body][:3, :3], dtype=float).T
        spin[6 * rotor.body + 3 : 6 * rotor.body + 6, rotor.speed] += turn @ rotor.spin
    fixed = (h, m, spin, rotors)

    def compute(module: Any, step: Any) -> tuple[Any, ...]:
        h, m, spin, rotors, unit = (module.asarray(matrix, dtype=step.dtype) for matrix in (*fixed, np.eye(size)))
        d, k = _eliminated(module, bodies, step, h, m, spin, rotors)
        inverse = module.linalg.inv  # (of 1 - E, E strictly block triangular: every path from body to body, once)
        return inverse(unit - step), d, k, inverse(unit - step + k @ h)

    shapes = (size, size), (count, count), (size, count), (size, size)
    signature = Signature(((size, size),), shapes, ("float64",) * 4, ("phi", "D", "K", "psi"))
    step = _transports(mechanism, bodies, frames)(q)
    phi, d, k, psi = arrays.apply("spatial_operators", compute, signature, (step,))
    module = arrays.functions_of("spatial_operators", [q]) or np
    h, m, spin, rotors = (module.asarray(matrix, dtype=phi.dtype) for matrix in fixed)
    return SpatialOperators(h, phi, m, d, k, psi, rotors, spin)


def _eliminated(
    module: Any, bodies: Sequence[Body], step: Any, h: Any, inertia: Any, spin: Any, rotors: Any
) -> tuple[Any, Any]:
    """D and K, by eliminating the joints one after the other from the tips to the base.

    What is left of the equations is kept as three matrices: forces on the bodies from their accelerations, which also are
    the joints' efforts from these, in `spin`, and the joints' efforts from their own accelerations. A rotor couples its
    joint with its carrier, wherever that is, so that bodies which are no neighbours may be coupled once it is eliminated.

    A rotor on a body beyond the joint that it drives acts on that joint without a force on a body between: the same as a
    pair of forces on the two bodies that the joint connects.
    """
    unit = module.asarray(np.eye(spin.shape[-1]), dtype=step.dtype)
    pairs = h.T @ module.linalg.inv(h @ h.T)
    pairs = pairs - step @ pairs
    a, b, r, d, k = inertia + 0.0 * step, spin, rotors, 0.0 * rotors, 0.0 * spin
    for i in reversed(range(len(bodies))):
        here, columns = slice(6 * i, 6 * i + 6), slice(bodies[i].speed, bodies[i].speed + len(bodies[i].freedoms))
        axes, speeds = h[columns], unit[:, columns]
        force = a @ axes.T + b @ speeds
        effort = r @ speeds + module.swapaxes(b, -1, -2) @ axes.T
        articulated = axes @ force + speeds.T @ effort
        bodies_left, joints_left = (
            module.asarray(
                np.r_[np.ones(part.start), np.zeros(part.stop - part.start), np.ones(size - part.stop)][:, None],
                dtype=step.dtype,
            )
            for part, size in ((here, spin.shape[-2]), (columns, spin.shape[-1]))
        )

        def to_parent(rows: Any, here: slice = here, left: Any = bodies_left) -> Any:
            return left * (rows + step[..., here] @ rows[..., here, :])

        force, effort = to_parent(force), joints_left * effort
        solved = module.linalg.inv(articulated)
        across, efforts = (solved @ module.swapaxes(x, -1, -2) for x in (force, effort))
        a = to_parent(module.swapaxes(to_parent(a), -1, -2)) - force @ across
        b = to_parent(b) * joints_left.T - force @ efforts
        r = joints_left * r * joints_left.T - effort @ efforts
        d = d + speeds @ articulated @ speeds.T
        k = k + (force + pairs @ effort) @ solved @ speeds.T
    return d, k


def _axes(body: Body, t_body_link: FloatArray) -> FloatArray:
    """S' (k, 6): the motions that the joint allows, in the link's frame."""
    back = np.asarray(inverse(t_body_link), dtype=float)
    turn, shift = back[:3, :3], back[:3, 3]
    pairs = [(turn @ f.linear, turn @ f.angular) for f in body.freedoms]
    return np.array([np.concatenate([linear + np.cross(shift, angular), angular]) for linear, angular in pairs])


def _inertia(body: Body, t_body_link: FloatArray) -> FloatArray:
    """The 6x6 inertia of a body about the origin of a frame on it, in its axes."""
    back = np.asarray(inverse(t_body_link), dtype=float)
    return np.asarray(spatial_inertia(back @ body.inertia @ back.T), dtype=float)


def _transports(mechanism: Tree, bodies: Sequence[Body], frames: Sequence[Any]) -> Kernel:
    """The matrix (6N, 6N) of a configuration that takes forces on each body to its parent.

    Blocks are [[R, 0], [p~ R, R]]: a force in the inner frame of a transform, as it is in the outer one.
    """

    def step(q: Array) -> Array:
        result = np.zeros((6 * len(bodies),) * 2, dtype=object)
        for i, body in enumerate(bodies):
            if body.parent >= 0:
                t = place(body, inverse(frames[body.parent]), q) @ frames[i]
                rows, columns = slice(6 * body.parent, 6 * body.parent + 6), slice(6 * i, 6 * i + 6)
                moment = np.array([cross(t[:3, 3], axis) for axis in t[:3, :3].T]).T
                result[rows, columns] = np.block([[t[:3, :3], np.zeros((3, 3))], [moment, t[:3, :3]]])
        return result

    inputs, outputs = {"q": (mechanism.nq,)}, {"step": (6 * len(bodies),) * 2}
    return mechanism.memo("spatial_operators", "step", lambda: Kernel(trace(step, "force_transports", inputs, outputs)))
