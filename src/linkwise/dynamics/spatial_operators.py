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

    def compute(module: Any, transports: Any) -> tuple[Any, ...]:
        d, k = _eliminated(module, bodies, transports, (h, m, spin, rotors))
        joints = sorted(((i, len(body.freedoms)) for i, body in enumerate(bodies)), key=lambda joint: bodies[joint[0]].speed)
        sixes = [(i, 6) for i in range(len(bodies))]
        results = _assembled(module, transports, d, joints, joints), _assembled(module, transports, k, sixes, joints)
        step = {(body.parent, i): transports[..., i, :, :] for i, body in enumerate(bodies) if body.parent >= 0}
        free = dict(step)
        for (p, i), block in k.items():
            axes = h[bodies[i].speed : bodies[i].speed + len(bodies[i].freedoms), 6 * i : 6 * i + 6]
            _add(free, (p, i), -block @ module.asarray(axes, dtype=transports.dtype))
        phi, psi = (_sum_of_paths(module, transports, len(bodies), blocks) for blocks in (step, free))
        return phi, *results, psi

    shapes = (size, size), (count, count), (size, count), (size, size)
    signature = Signature(((len(bodies), 6, 6),), shapes, ("float64",) * 4, ("phi", "D", "K", "psi"))
    transports = _transports(mechanism, bodies, frames)(q)
    phi, d, k, psi = arrays.apply("spatial_operators", compute, signature, (transports,))
    module = arrays.functions_of("spatial_operators", [q]) or np
    h, m, spin, rotors = (module.asarray(matrix, dtype=phi.dtype) for matrix in fixed)
    return SpatialOperators(h, phi, m, d, k, psi, rotors, spin)


#: Blocks of a matrix other than zero, by the bodies of their rows and columns.
Blocks = dict[tuple[int, int], Any]


def _add(blocks: dict[Any, Any], place: Any, value: Any) -> None:
    """Add to a block, or put it there."""
    blocks[place] = blocks[place] + value if place in blocks else value


def _eliminated(
    module: Any, bodies: Sequence[Body], transports: Any, fixed: tuple[FloatArray, FloatArray, FloatArray, FloatArray]
) -> tuple[Blocks, Blocks]:
    """Blocks of D and K, by eliminating the joints one after the other from the tips to the base.

    What is left of the equations is kept as the blocks of three matrices: forces on the bodies from their accelerations,
    which also are the joints' efforts from these, in `b`, and the joints' efforts from their own accelerations. A rotor
    couples its joint with its carrier, wherever that is, so that bodies which are no neighbours may be coupled once it is
    eliminated.

    A rotor on a body beyond the joint that it drives acts on that joint without a force on a body between: the same as a
    pair of forces on the two bodies that the joint connects.
    """
    rows = [slice(6 * i, 6 * i + 6) for i in range(len(bodies))]
    columns = [slice(body.speed, body.speed + len(body.freedoms)) for body in bodies]
    h, m, spin, rotors = (module.asarray(matrix, dtype=transports.dtype) for matrix in fixed)
    inverse = module.linalg.inv

    def turned(block: Any) -> Any:
        return module.swapaxes(block, -1, -2)

    axes = [h[part, here] for part, here in zip(columns, rows, strict=True)]
    coupled = [(i, j) for i, j in np.ndindex(len(bodies), len(bodies)) if fixed[2][rows[i], columns[j]].any()]
    a: Blocks = {(i, i): m[here, here] for i, here in enumerate(rows)}
    b: Blocks = {(i, j): spin[rows[i], columns[j]] for i, j in coupled}
    r: Blocks = {(i, i): rotors[part, part] for i, part in enumerate(columns)}
    d: Blocks = {}
    k: Blocks = {}
    for i, body in reversed(list(enumerate(bodies))):
        force: dict[int, Any] = {p: block @ axes[i].T for (p, q), block in a.items() if q == i}
        effort: dict[int, Any] = {j: block for (j, q), block in r.items() if q == i}
        for (p, j), block in b.items():
            if j == i:
                _add(force, p, block)
            if p == i:
                _add(effort, j, turned(block) @ axes[i].T)
        d[i, i] = axes[i] @ force[i] + effort.pop(i)
        if body.parent >= 0:
            _to_parent(turned, transports[..., i, :, :], i, body.parent, (a, b, force))
        a, r = ({at: block for at, block in blocks.items() if i not in at} for blocks in (a, r))
        b = {at: block for at, block in b.items() if i not in at}
        del force[i]
        solved = inverse(d[i, i])
        for p, block in force.items():
            _add(k, (p, i), block @ solved)
            for q, other in force.items():
                _add(a, (p, q), -block @ solved @ turned(other))
            for j, other in effort.items():
                _add(b, (p, j), -block @ solved @ turned(other))
        for j, block in effort.items():
            for q, other in effort.items():
                _add(r, (j, q), -block @ solved @ turned(other))
            pair = axes[j].T @ inverse(axes[j] @ axes[j].T) @ block @ solved
            _add(k, (j, i), pair)
            if bodies[j].parent >= 0:
                _add(k, (bodies[j].parent, i), -transports[..., j, :, :] @ pair)
    return d, k


def _sum_of_paths(module: Any, like: Any, count: int, blocks: Blocks) -> Any:
    """The inverse of 1 - E (..., 6N, 6N), E strictly block triangular: every path from body to body, once."""
    unit = module.asarray(np.eye(6 * count), dtype=like.dtype) + 0.0 * like[..., 0, :1, :1]
    columns = [unit[..., 6 * i : 6 * i + 6] for i in range(count)]
    for p, i in sorted(blocks, key=lambda place: place[1]):
        columns[i] = columns[i] + columns[p] @ blocks[p, i]
    return module.concatenate(columns, axis=-1)


def _to_parent(turned: Any, transport: Any, i: int, parent: int, matrices: tuple[Blocks, Blocks, dict[int, Any]]) -> None:
    """Add what acts on a body to its parent, in accelerations and forces, joints' efforts, and the forces of one joint."""
    a, b, force = matrices
    transformed = transport @ a[i, i] @ turned(transport)
    for q in [q for p, q in a if p == i != q]:
        _add(a, (parent, q), transport @ a[i, q])
        _add(a, (q, parent), a[q, i] @ turned(transport))
    _add(a, (parent, parent), transformed)
    for j in [j for p, j in b if p == i]:
        _add(b, (parent, j), transport @ b[i, j])
    _add(force, parent, transport @ force[i])


def _assembled(
    module: Any, like: Any, blocks: Blocks, rows: Sequence[tuple[int, int]], columns: Sequence[tuple[int, int]]
) -> Any:
    """The matrix (..., sum of rows, sum of columns) of some blocks, from the place and size of each row and column."""
    nothing = 0.0 * like[..., 0, :1, :1]

    def zeros(height: int, width: int) -> Any:
        return nothing + module.asarray(np.zeros((height, width)), dtype=like.dtype)

    results = []
    for j, width in columns:
        pieces: list[Any] = []
        empty = 0
        for i, height in rows:
            if (i, j) in blocks:
                pieces += [zeros(empty, width)] if empty else []
                pieces.append(nothing + blocks[i, j])
                empty = 0
            else:
                empty += height
        results.append(module.concatenate([*pieces, *([zeros(empty, width)] if empty else [])], axis=-2))
    return module.concatenate(results, axis=-1)


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
    """The matrices (N, 6, 6) of a configuration that take a force on each body to its parent, zero for those on the ground.

    [[R, 0], [p~ R, R]]: a force in the inner frame of a transform, as it is in the outer one.
    """

    def transports(q: Array) -> Array:
        result = np.zeros((len(bodies), 6, 6), dtype=object)
        for i, body in enumerate(bodies):
            if body.parent < 0:
                continue
            t = place(body, inverse(frames[body.parent]), q) @ frames[i]
            moment = np.array([cross(t[:3, 3], axis) for axis in t[:3, :3].T]).T
            result[i] = np.block([[t[:3, :3], np.zeros((3, 3))], [moment, t[:3, :3]]])
        return result

    inputs, outputs = {"q": (mechanism.nq,)}, {"transports": (len(bodies), 6, 6)}
    return mechanism.memo(
        "spatial_operators", "transports", lambda: Kernel(trace(transports, "force_transports", inputs, outputs))
    )
