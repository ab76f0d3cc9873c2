"""Check that a mechanism has the inertia by which forward dynamics divides."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from linkwise.algorithm import kernel_of
from linkwise.dynamics.length_inertias import length_inertia_matrix
from linkwise.dynamics.mass_matrix import mass_matrix
from linkwise.dynamics.recursions import composite_inertias, reflected_inertias
from linkwise.errors import ModelError, Problem
from linkwise.model.body import Body, moving_bodies
from linkwise.model.body_transform import joint_transforms
from linkwise.model.coupling import coupling
from linkwise.model.inertia import Inertia
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import FloatArray

#: Random configurations; at all of them the inertia of a joint that moves something is positive.
TRIALS = 3

#: A pivot of M below this part of its terms is rounding.
LEAST = 1e-13

#: From so many velocities on M comes from a kernel.
MANY = 64

#: Number of random substitutions before the inertia is left undecided.
DRAWS = 32


def check_inertia(tree: Tree) -> None:
    """Raise `ModelError` naming the first coordinate, counted from the tips, that can move without moving any inertia."""
    tree.memo("inertia_check", "passed", lambda: _find_inertia(tree))


def _find_inertia(tree: Tree) -> None:
    """Raise `ModelError` where a coordinate moves no inertia at random configurations."""
    if not tree.symbols and not tree.coupled and _every_body_has_inertia(tree):
        return
    rng = np.random.default_rng(1)
    for _ in range(TRIALS):
        q = rng.uniform(-1.0, 1.0, tree.nq)
        numbers = _with_numbers(tree, rng) if tree.symbols else tree
        if numbers is None:
            break
        matrix, sums = _mass_matrix(numbers, q), _summed(numbers, q)
        if (_pivots(matrix[::-1, ::-1])[::-1] > LEAST * sums).all():
            continue
        for k in reversed(range(len(matrix))):
            pivot, least = abs(matrix[k, k]) if tree.symbols else matrix[k, k], LEAST * sums[k]
            if not pivot > least:
                raise ModelError([_lacking(tree, k, 0.0 if abs(pivot) <= least else float(pivot))])
            matrix[:k, :k] -= np.outer(matrix[:k, k], matrix[k, :k]) / pivot


def _pivots(matrix: FloatArray) -> FloatArray:
    """Pivots (..., n) of Gaussian elimination; NaN if one is not positive."""
    try:
        return np.asarray(np.square(np.diagonal(np.linalg.cholesky(matrix), axis1=-2, axis2=-1)))
    except np.linalg.LinAlgError:
        return np.full(matrix.shape[:-1], np.nan)


def _every_body_has_inertia(tree: Tree) -> bool:
    """True if each body has inertia about its joint, or moves with the body of its joint's next part that has.

    Then a pivot is no less than the smallest moment of inertia of its body about its centre of mass, or than its mass; of
    parts of a joint, than without all that their body carries. What adds up to it is no more than if all mass were at the
    end of the chain of all bodies.
    """
    bodies = moving_bodies(tree).bodies
    if not bodies:
        return True
    inertias = np.array([body.inertia for body in bodies], dtype=np.float64)
    reach = sum(float(np.linalg.norm(body.placement[:3, 3])) for body in bodies)
    reach += sum(abs(body.pitch) if body.joint is None else 2.0 for body in bodies)  # (coordinates are 1 at most)
    mass = inertias[:, 3, 3]
    most = float(np.trace(inertias[:, :3, :3], axis1=1, axis2=2).sum()) + float(mass.sum()) * (1.0 + reach) ** 2
    joints: dict[int, list[Body]] = {}
    for body in bodies:
        joints.setdefault(body.link, []).append(body)
    parts: dict[int, list[list[Body]]] = {}
    for joint in joints.values():
        parts.setdefault(len(joint), []).append(joint)
    if not all((_pivots(_alone(some)) > LEAST * most).all() for count, some in parts.items() if count > 1):
        return False
    inertias = np.array([joint[-1].inertia for joint in joints.values()], dtype=np.float64)
    mass = inertias[:, 3, 3]
    if not (mass > 0.0).all():
        return False
    first = inertias[:, :3, 3]
    second = inertias[:, :3, :3] - first[:, :, None] * first[:, None, :] / mass[:, None, None]
    moments = np.trace(second, axis1=1, axis2=2)[:, None, None] * np.eye(3) - second
    return bool(np.linalg.eigvalsh(moments)[:, 0].min() > LEAST * most and mass.min() > LEAST * float(mass.sum()))


def _alone(joints: Sequence[Sequence[Body]]) -> FloatArray:
    """The mass matrices (J, n, n) of joints of n parts that move one body each, the last part first, in some configuration.

    In the axes of the body, X and Y the 4x4 matrices of two motions, an element is tr(X J Y').
    """
    motions, pose = [], np.eye(4)
    for parts in reversed(list(zip(*joints, strict=True))):
        screw = np.array([[(0, -b.turn, 0, 0), (b.turn, 0, 0, 0), (0, 0, 0, b.pitch), (0, 0, 0, 0)] for b in parts], float)
        motions.append(np.linalg.inv(pose) @ screw @ pose)
        pose = np.array([body.placement for body in parts]) @ pose
    moved = np.array([joint[-1].inertia for joint in joints])
    return np.asarray(np.einsum("iJab,Jbc,jJac->Jij", motions, moved, motions, optimize=True))


def _mass_matrix(tree: Tree, q: FloatArray) -> FloatArray:
    """M (nv, nv), by a kernel that loops over the bodies where they are many."""
    if tree.nv < MANY or tree.loops:
        return np.asarray(mass_matrix(tree, q), dtype=float)
    return np.array(kernel_of(tree, "mass_matrix")(q))


def _with_numbers(tree: Tree, rng: np.random.Generator) -> Tree | None:
    """Replace symbols by random numbers: an inertia that exists for these exists for almost all values.

    What is made of symbols may have to be positive, as the inertia of a motor; None where no numbers are found for it.
    """
    links = [link.replace(physical=False) for link in tree.links]
    payload = Inertia(tree.payload.mass, tree.payload.com, tree.payload.tensor, physical=False)
    result = tree.replace(links=links, payload=payload).without_friction()
    for draw in range(DRAWS):
        signs = rng.choice([-1.0, 1.0], len(result.symbols)) if draw else 1.0
        numbers = signs * rng.uniform(0.5, 1.5, len(result.symbols))
        try:
            return result.substitute(dict(zip(result.symbols, numbers.tolist(), strict=True)))
        except ModelError:
            continue
    return None


def _summed(tree: Tree, q: FloatArray) -> FloatArray:
    """Scale (nv,) of each pivot: mass and moments of the subtree about the joint's origin."""
    if tree.coupled:
        couplings = coupling(tree)
        return np.asarray(
            np.square(couplings.spread).T @ _summed(couplings.uncoupled, np.asarray(couplings.coordinates(q), dtype=float))
        )
    bodies = moving_bodies(tree)
    sums = np.array(reflected_inertias(tree))
    joints = joint_transforms(bodies, q)
    for joint, inertia in zip(joints, composite_inertias(bodies, joints), strict=True):
        size = np.abs(np.asarray(inertia, dtype=float))
        for freedom in joint.freedoms:
            turning, sliding = np.linalg.norm(freedom.angular), np.linalg.norm(freedom.linear)
            sums[freedom.speed] += turning**2 * np.trace(size[:3, :3]) + sliding**2 * size[3, 3]
    if tree.has_length_inertias:
        sums += np.diag(length_inertia_matrix(tree, q)).astype(float)
    return sums


def _lacking(tree: Tree, speed: int, pivot: float) -> Problem:
    joint = speed - (tree.nv - tree.n)
    if joint < 0 and tree.floating and speed < tree.manifold_joints[0].v.stop:
        expected = "a mass and moments of inertia about all axes, on a link that is fixed to the base or beyond its joints"
        return Problem("floating base", "mass", pivot, expected)
    expected = "a mass, an inertia or a rotor inertia moved by this joint; otherwise its acceleration is undefined"
    name = tree.names[joint] if joint >= 0 else next(at.name for at in tree.manifold_joints if speed < at.v.stop)
    return Problem(f"joint {name!r}", "inertia", pivot, expected)
