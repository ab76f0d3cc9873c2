"""Identifiable inertial parameters of a body: linear conditions, from the motions that the joints before it allow.

The energies of a mechanism are linear in the inertial parameters. Parameters have no effect on the efforts exactly if the
kinetic energy that they bring vanishes, and their potential energy is constant, in all configurations and at all speeds. For
the last body of a branch, with the speed v = X(q) v_p + S qd, that splits by powers of qd. Parameters of the body act as if
they were fixed to its parent exactly if they bring

- in S S, no energy: none from the speeds of the joint alone;
- in S v, no momentum along the joint, whatever motions v_p the parent can have, and at all q;
- in v v, an energy in the motions of the parent that does not depend on q, so that they move with it at any q;
- in g, a potential energy that does not depend on q either.

X(q) is the exponential of a constant matrix, or a product of some, so "at all q" means: closed under these matrices. Taken
from the base to the tips, the spans of v, of v v and of gravity are finite and exact, and no joint is a special case: not
one that is parallel to the first axis, nor one that slides, nor one that screws. Where the parent can move in every way the
conditions are those of M. Gautier, W. Khalil, "Direct calculation of minimum set of inertial parameters of serial robots",
IEEE Trans. Robotics and Automation 6(3), 1990.

The rotors that links carry join in with v u, products of a speed u with the motion of the carrier, and with u u.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np

from linkwise.dynamics.base_parameters.row_reduction import INDEPENDENT, Point, at, independent
from linkwise.model.body import Bodies, Body
from linkwise.model.parameters import LINK, numbers_of, pseudo_of, to_body
from linkwise.spatial.matrix_method import velocity_matrix
from linkwise.spatial.rotation import skew
from linkwise.spatial.scalar import Array, FloatArray, array, blank
from linkwise.spatial.spatial_vectors import energies

TEN = len(LINK)


@dataclass(frozen=True)
class Quantities:
    """The quadratic quantities whose coefficients are counted: ten of v v, six of v u for each u, and one for each u u.

    Attributes
    ----------
    rotors : tuple of int
        The speeds u (indices into qd) that drive a rotor on a link; six-vectors v are followed by them.
    """

    rotors: tuple[int, ...]

    @property
    def count(self) -> int:
        """Number of quantities."""
        return TEN + 6 * len(self.rotors) + len(self.pairs)

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Pairs of rotor velocities, as indices in `rotors`."""
        return list(combinations_with_replacement(range(len(self.rotors)), 2))

    def of_rotor(self, place: int) -> slice:
        """Slice of the six quantities v u."""
        return slice(TEN + 6 * place, TEN + 6 * place + 6)

    def of_pair(self, a: int, b: int) -> int:
        """Index of u_a u_b."""
        return TEN + 6 * len(self.rotors) + self.pairs.index((min(a, b), max(a, b)))

    def product(self, x: Array, y: Array) -> Array:
        """The bilinear form of two motions (6 + m,): on x and x it gives the quantities of that motion."""
        result = blank(self.count)
        v, w, s, t = x[:6], y[:6], x[6:], y[6:]
        result[:TEN] = energies(v, w)
        for place in range(len(self.rotors)):
            result[self.of_rotor(place)] = s[place] * w + t[place] * v
        for a, b in self.pairs:
            result[self.of_pair(a, b)] = s[a] * t[a] if a == b else s[a] * t[b] + s[b] * t[a]
        return array(result)

    def moved(self, ten: Array, six: Array) -> Array:
        """The matrix on all quantities that is ``ten`` on v v and ``six`` on each v u, and leaves u u as it is."""
        result = self.kept().astype(object)
        result[:TEN, :TEN] = ten
        for place in range(len(self.rotors)):
            result[self.of_rotor(place), self.of_rotor(place)] = six
        return array(result)

    def kept(self) -> FloatArray:
        """The matrix that leaves u u as it is."""
        result = np.zeros((self.count, self.count))
        places = [self.of_pair(a, b) for a, b in self.pairs]
        result[places, places] = 1.0
        return result

    def joined(self, screw: Array, place: int) -> Array:
        """The matrix on all quantities for v + S u in the place of v."""
        result = np.eye(self.count).astype(object)
        products, squared = self.of_rotor(place), self.of_pair(place, place)
        result[:TEN, products] = np.stack([energies(screw, unit) for unit in np.eye(6)], axis=1)
        result[:TEN, squared] = energies(screw, screw)
        for other in range(len(self.rotors)):
            result[self.of_rotor(other), self.of_pair(other, place)] = screw * (2.0 if other == place else 1.0)
        return array(result)


@dataclass(frozen=True)
class IdentifiabilityConditions:
    """Linear conditions for the parameters of one body that have an effect on the efforts.

    Attributes
    ----------
    rows : ndarray (r, N + f)
        Conditions on the coefficients of its quantities; the last are for the squares of the joint's own speeds.
    constant : ndarray (N,) or None
        What of gravity is a constant load of the joint, where friction could be as well; None where that is not asked.
    """

    rows: Array
    constant: Array | None


@dataclass(frozen=True)
class _Reach:
    """Reachable states of a body: motions (k, 6 + m), quantities (k, N), gravity (N,) at one place, its changes (k, N)."""

    motions: Array
    quantities: Array
    weight: Array
    changes: Array


def identifiability_conditions(
    bodies: Bodies, gravity: Array, rotors: Sequence[int], loaded: Sequence[int], point: Point
) -> list[IdentifiabilityConditions]:
    """Conditions of each body for its identifiable parameters.

    Parameters
    ----------
    bodies : Bodies
        The moving bodies; only their geometry counts.
    gravity : ndarray (3,)
        Gravity of any length, or zero.
    rotors : sequence of int
        The speeds that drive a rotor on a link.
    loaded : sequence of int
        The velocities at which a constant load does not count, because friction has the same effect.
    point : mapping
        A random number for each symbol of the geometry.
    """
    known = Quantities(tuple(rotors))
    ground = _ground(known, gravity)
    reaches: list[_Reach] = []
    results: list[IdentifiabilityConditions] = []
    for body in bodies.bodies:
        parent = reaches[body.parent] if body.parent >= 0 else ground
        conditions, reach = _jointed(known, body, parent, body.speed in loaded, point)
        reaches.append(reach)
        results.append(conditions)
    return results


def _ground(known: Quantities, gravity: Array) -> _Reach:
    m = len(known.rotors)
    weight = blank(known.count)
    weight[1:4] = -np.asarray(gravity)
    motions = np.concatenate([np.zeros((m, 6)), np.eye(m)], axis=1)
    squares = known.kept()
    return _Reach(motions, squares[squares.any(axis=1)], array(weight), np.zeros((0, known.count)))


def _jointed(
    known: Quantities, body: Body, parent: _Reach, loaded: bool, point: Point
) -> tuple[IdentifiabilityConditions, _Reach]:
    """A body on a joint: see the module's text."""
    m, place = len(known.rotors), known.rotors.index(body.speed) if body.speed in known.rotors else None
    down, six = passed_on(known, body).T, _motion_transform(body.placement)
    screws = [np.concatenate([freedom.screw, np.zeros(m)]) for freedom in body.freedoms]
    turns = [_rates(freedom.screw) for freedom in body.freedoms]
    rates = [known.moved(turning.T, turned) - known.kept() for turning, turned in turns]
    motions = np.array(parent.motions)
    motions = np.concatenate([motions[:, :6] @ six.T, motions[:, 6:]], axis=1)
    if place is not None:
        motions = np.concatenate([motions[:, :6] + np.outer(motions[:, 6 + place], screws[0][:6]), motions[:, 6:]], axis=1)
    motions = _closed(motions, [np.pad(turned, ((0, m), (0, m))) for _, turned in turns], point)
    held = _closed(parent.quantities @ down.T, rates, point)
    weight, changes = down @ parent.weight, _closed(parent.changes @ down.T, rates, point)
    pull = np.stack([rate @ weight for rate in rates])
    constant = pull[0] if loaded and len(screws) == 1 and _any(pull, point) else None
    pulls = _closed(pull if constant is None else pull @ rates[0].T, rates, point)
    rows = [*(held @ rate.T for rate in rates), *(changes @ rate.T for rate in rates), pulls]
    own_products = np.zeros((0, known.count))  # of the joint's own motion
    if place is None:
        own_products = np.stack([known.product(x, y) for x, y in combinations_with_replacement(screws, 2)])
        rows += [products := np.concatenate([_products(known, screw, motions) for screw in screws])]
    conditions = np.pad(np.concatenate(rows), ((0, 0), (0, len(screws))))
    if place is None:
        squares = np.array([i == j for i, j in combinations_with_replacement(range(len(screws)), 2)])
        alone = np.concatenate([own_products, blank(len(squares), len(screws))], axis=1)
        alone[squares, known.count :] = np.eye(len(screws))
        conditions = np.concatenate([conditions, array(alone)])
        motions, own_products = np.concatenate([motions, np.stack(screws)]), np.concatenate([products, own_products])
    reach = _Reach(
        independent(motions, point),
        independent(np.concatenate([held, own_products]), point),
        weight,
        independent(np.concatenate([changes, pulls, pull]), point),
    )
    return IdentifiabilityConditions(independent(conditions, point), constant), reach


def passed_on(known: Quantities, body: Body) -> Array:
    """Matrix (N, N) that maps coefficients of a body to the parent's coefficients of the parts that move with the parent."""
    down = known.moved(to_body(body.placement).T, _motion_transform(body.placement))
    if body.speed in known.rotors:
        down = known.joined(body.freedoms[0].screw, known.rotors.index(body.speed)) @ down
    return np.asarray(down.T)


def _products(known: Quantities, local: Array, motions: Array) -> Array:
    """The quantities (k, N) of the joint's own motion with each of the others."""
    results = [known.product(local, motion) for motion in motions]
    return np.stack(results) if results else np.zeros((0, known.count))


def _closed(rows: Array, rates: Sequence[Array], point: Point) -> Array:
    """Span of rows under motion of the joint: the rows, their derivatives, and the derivatives of those."""
    span = newest = independent(rows, point)
    while len(newest) and len(span) < span.shape[1]:
        further = np.concatenate([newest @ rate.T for rate in rates])
        if all(part.dtype != object for part in (span, further)):
            newest = independent(further - (further @ span.T) @ span, point)
            span = independent(np.concatenate([span, newest]), point)
        else:
            wider = independent(np.concatenate([span, further]), point)
            newest = wider if len(wider) > len(span) else wider[:0]
            span = wider
    return span


def _motion_transform(placement: Array) -> Array:
    """X (6, 6): a motion of the parent as that of a body that is fixed to it there."""
    back = placement[:3, :3].T
    result = blank(6, 6)
    result[:3, :3] = result[3:, 3:] = back
    result[:3, 3:] = -back @ skew(placement[:3, 3])
    return array(result)


def _rates(screw: Array) -> tuple[Array, Array]:
    """The rates, per unit of its coordinate, with which a joint changes ten parameters (10, 10) and a motion (6, 6)."""
    moving = velocity_matrix(screw[3:], screw[:3])
    blocks = [pseudo_of(unit) for unit in np.eye(TEN)]
    ten = np.stack([numbers_of(moving @ block + block @ moving.T) for block in blocks], axis=1)
    six = blank(6, 6)
    six[:3, :3] = six[3:, 3:] = -skew(screw[3:])
    six[:3, 3:] = -skew(screw[:3])
    return array(ten), array(six)


def _any(values: Array, point: Point) -> bool:
    return bool(np.abs(at(values, point)).max(initial=0.0) > INDEPENDENT)
