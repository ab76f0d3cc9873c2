"""The dynamic model in base parameters: the moving bodies with one symbol for each parameter that has an effect."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.algorithm import find, labels
from linkwise.dynamics.base_parameters.regressor_columns import problem_of_bodies
from linkwise.dynamics.base_parameters.row_reduction import tidied
from linkwise.dynamics.base_parameters.symbolic import combination, combination_text, of_bounded_length, solved
from linkwise.dynamics.inverse_dynamics import recursion
from linkwise.dynamics.mass_matrix import composite_mass_matrix
from linkwise.dynamics.optimise.nonrotating_frames import carried_axes
from linkwise.dynamics.recursions import friction, rotor_bias, spring_efforts
from linkwise.errors import ArgumentError, members, shown
from linkwise.expr.expand import expanded
from linkwise.expr.node import Expr, parameter
from linkwise.kernel import Kernel
from linkwise.kernel.tape import Tape, trace
from linkwise.model.body import Bodies, Body, moving_bodies
from linkwise.model.parameters import LINK, MOTOR, parameter_names, parameter_values, to_body
from linkwise.model.symbolic import parameters_in
from linkwise.model.tree import Tree, require_tree
from linkwise.spatial.scalar import Array, array, blank, is_zero
from linkwise.spatial.validation import flag

#: The ten parameters of a body with the integrals of x^2, y^2 and z^2 dm, kg m2, in the places of the moments of inertia.
SECOND = ("M", "MX", "MY", "MZ", "JXX", "JYY", "JZZ", "XY", "YZ", "XZ")

#: A base parameter below this part of its terms is zero.
_ROUNDING = 1e-14


@dataclass(frozen=True, eq=False)
class BaseBodies:
    """The moving bodies of a mechanism, with inertias in base parameters, and the definitions of these.

    The efforts are those of the mechanism. Forces between links are not, for masses stand on other links.

    Attributes
    ----------
    bodies : Bodies
        The elements of the inertias are 0.0 or sums of base parameters, with coefficients 1, -1 and 1/2 (with
        ``second_moments`` 1 and -1); so are the rotors' own inertias.
    names : tuple of str
        Names of the base parameters that are not zero (b,): ``"XXR2"``, about the frame of the body. Without the R it is a
        parameter of the link, with no other grouped.
    matrix : ndarray (b, P)
        How they come from all parameters.
    parameters : tuple of str
        Names of all parameters (P,), see `linkwise.model.parameters`.
    numbers : ndarray (P,)
        Their values on this mechanism: numbers or expressions.
    reflected : tuple
        What each joint feels of its rotors (nv,), kg m2: the sum of G^2 Jm in base parameters, 0.0 where it is grouped.
    tree : Tree
        The mechanism.

    Examples
    --------
    >>> from linkwise import robots
    >>> made = base_bodies(robots.planar_2r())
    >>> made.names
    ('MXR1', 'ZZR1', 'MXR2', 'ZZR2')
    """

    bodies: Bodies
    names: tuple[str, ...]
    matrix: Array
    parameters: tuple[str, ...]
    numbers: Array
    reflected: tuple[Any, ...]
    tree: Tree

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def values(self) -> Array:
        """Values on this mechanism (b,): numbers, or expressions in its symbols."""
        return array([expanded(sum(parts, 0.0)) for parts in _products(self.matrix, self.numbers)])

    @property
    def definitions(self) -> dict[str, tuple[tuple[Any, str], ...]]:
        """Map each name to the coefficients, numbers or expressions, and the parameters combined."""
        return {name: combination(row, None, self.parameters) for name, row in zip(self.names, self.matrix, strict=True)}

    def text(self) -> str:
        """One definition a line: ``"ZZR2 = ZZ2 + a2^2 M3"``."""
        width = max(map(len, self.names), default=0)
        return "\n".join(f"{name:<{width}} = {combination_text(parts)}" for name, parts in self.definitions.items())

    def kernel(self, name: str, *, backend: str | None = None) -> Kernel:
        """The compiled function of an algorithm in base parameters, which are the first of its last input, ``parameters``.

        Parameters
        ----------
        name : {"inverse_dynamics", "bias_torque", "gravity_torque", "mass_matrix"}
            Name of the algorithm.
        backend : {"llvm", "numpy"}, optional
            How it is computed.

        Raises
        ------
        ArgumentError
            Naming the algorithms there are; for the mass matrix where links carry rotors.

        Examples
        --------
        >>> import linkwise as lw
        >>> base = lw.robots.planar_2r().base_bodies()
        >>> k = base.kernel("gravity_torque")
        >>> k.tape.labels["parameters"], k([0.0, 0.0], base.values).tolist()
        (('MXR1', 'ZZR1', 'MXR2', 'ZZR2'), [19.62, 4.905])
        """
        return Kernel(base_tape(self, name), backend, f"{name} in base parameters.")

    def efforts(self, tree: Tree, q: Array, qd: Array, qdd: Array) -> Array:
        """Inverse dynamics (nv,) in base parameters, friction included, for q (nq,), qd and qdd (nv,)."""
        rotors = np.array(self.reflected, dtype=object) * qdd + rotor_bias(tree, qd, self.reflected)
        tau = recursion(tree, self.bodies, q, qd, qdd) + rotors + friction(tree, qd)
        return np.asarray(tau + spring_efforts(tree, q, qd) if tree.springs else tau)


def base_bodies(tree: Tree, *, second_moments: bool = False) -> BaseBodies:
    """Bodies with a symbol for each base parameter, from which equations in base parameters are derived.

    Parameters
    ----------
    tree : Tree
        With numbers, or with symbols: parameters that are zero stay zero. No joints that follow others.
    second_moments : bool
        Whether the integrals of x^2 and y^2, ``JXX`` and ``JYY``, are base parameters in the places of the moments XX and
        ZZ. Each element of an inertia is then one symbol, which can take fewer operations.

    Raises
    ------
    ArgumentError
        Where joints follow others.

    Notes
    -----
    See `linkwise.dynamics.base_forms`; the combinations here are about the frames of the bodies, z along the joint's axis,
    where fewest numbers are left (W. Khalil, E. Dombre, 2002, section 9.4).

    Examples
    --------
    >>> import linkwise as lw
    >>> arm = lw.robots.planar_2r()
    >>> base_bodies(arm).names
    ('MXR1', 'ZZR1', 'MXR2', 'ZZR2')
    """
    require_tree(tree, "base_bodies: mechanism")
    tree.require_no_length_inertias("base_bodies")
    flag("second_moments", second_moments)
    moving = moving_bodies(tree)
    with of_bounded_length(tree):
        rows, columns = solved(tree, moving, problem_of_bodies(tree, moving, second=second_moments), resting=True)
        rows = tidied(rows @ _from_links(tree, moving, second_moments))
    start = len(LINK) * len(moving.bodies)
    names, values = parameter_names(tree), parameter_values(tree)
    there = [_is_there(parts) for parts in _products(rows, values)]
    symbols = blank(start + len(MOTOR) * len(tree.drives))
    called = _labels(moving, names, rows, columns, len(symbols), SECOND if second_moments else LINK)
    for column, name, present in zip(columns, called, there, strict=True):
        if present:
            symbols[column] = parameter(name)
    tens = [symbols[len(LINK) * k :][: len(LINK)] for k in range(len(moving.bodies))]
    bodies = [replace(body, inertia=_pseudo(ten, second_moments)) for body, ten in zip(moving.bodies, tens, strict=True)]
    rotors = [symbols[start + len(MOTOR) * k] for k in range(len(tree.drives))]
    kept = [k for k, column in enumerate(columns) if there[k] and not _is_friction(column, start)]
    carried = tuple(replace(rotor, inertia=rotors[rotor.drive]) for rotor in moving.rotors)
    reflected = [0.0] * tree.nv
    for drive, inertia in zip(tree.drives, rotors, strict=True):
        speed = tree.nv - tree.n + drive.coordinate
        reflected[speed] = reflected[speed] + drive.motor.gear_ratio**2 * inertia
    return BaseBodies(
        replace(moving, bodies=tuple(bodies), rotors=carried),
        tuple(called[k] for k in kept),
        rows[kept],
        names,
        values,
        tuple(reflected),
        tree,
    )


def _from_links(tree: Tree, bodies: Bodies, second: bool) -> Array:
    """The parameters of bodies and motors from those of links and motors (10 B + 4 D, P)."""
    from_tensor = np.eye(len(LINK))
    if second:
        from_tensor[4:7, 4:7] = 0.5 - np.eye(3)
    start, links = len(LINK) * len(bodies.bodies), len(LINK) * len(tree.links)
    total = blank(start + len(MOTOR) * len(tree.drives), links + len(MOTOR) * len(tree.drives))
    for k, (body, placed) in enumerate(bodies.frames):
        if body >= 0:
            rows, columns = (slice(len(LINK) * j, len(LINK) * j + len(LINK)) for j in (body, k))
            total[rows, columns] = from_tensor @ to_body(placed)
    for k in range(len(MOTOR) * len(tree.drives)):
        total[start + k, links + k] = 1.0
    return array(total)


def _products(matrix: Array, values: Array) -> list[list[Any]]:
    """Terms of each combination, without zeros."""
    results = []
    for row in matrix:
        pairs = [(a, b) for a, b in zip(row, values, strict=True) if not (is_zero(a) or is_zero(b))]
        results.append([a * b for a, b in pairs])
    return results


def _is_there(parts: Sequence[Any]) -> bool:
    """True if a sum is not zero: an expression identically, a number up to rounding."""
    if any(isinstance(part, Expr) for part in parts):
        return not is_zero(expanded(sum(parts, 0.0)))
    return bool(abs(sum(parts)) > _ROUNDING * sum(map(abs, parts)))


def _is_friction(column: int, start: int) -> bool:
    return column >= start and (column - start) % len(MOTOR) > 0


def _labels(
    bodies: Bodies, names: Sequence[str], rows: Array, columns: npt.NDArray[np.int64], count: int, symbols: Sequence[str]
) -> list[str]:
    """The symbol of each combination: that of its parameter, with an R before the number where others are grouped."""
    start, result = len(LINK) * len(bodies.bodies), []
    moved = rows.shape[1] - count  # motors are last in both
    for row, column in zip(rows, columns.tolist(), strict=True):
        if column < start:
            body, k = divmod(column, len(LINK))
            plain = f"{symbols[k]}{_number(bodies.bodies, body)}"
        else:
            plain = names[column + moved]
        kind = plain.rstrip("0123456789'")
        alone = [(value, name) for value, name in zip(row, names, strict=True) if not is_zero(value)] == [(1.0, plain)]
        result.append(plain if alone else f"{kind}R{plain[len(kind) :]}")
    return result


def _number(bodies: Sequence[Body], k: int) -> str:
    """Number of the link that the joint moves, from 1, 0 for a floating base; primed if the joint has more bodies."""
    link = bodies[k].link
    return f"{link + 1}{sum(body.link == link for body in bodies[k + 1 :]) * chr(39)}"


def _pseudo(ten: Array, second: bool) -> Array:
    """The pseudo-inertia (4, 4) of ten symbols or zeros."""
    m, x, y, z, xx, yy, zz, xy, yz, xz = ten
    if not second:
        xx, yy, zz = (0.5 * ((b + c) - a) for a, b, c in ((xx, yy, zz), (yy, xx, zz), (zz, xx, yy)))
    rows = [[xx, -xy, -xz, x], [-xy, yy, -yz, y], [-xz, -yz, zz, z], [x, y, z, m]]
    return np.array(rows, dtype=object)


#: The algorithms that there are in base parameters.
WHAT = ("inverse_dynamics", "bias_torque", "gravity_torque", "mass_matrix")


def base_tape(base: BaseBodies, quantity: str) -> Tape:
    """Trace an algorithm on bodies whose inertias are base parameters.

    Parameters
    ----------
    base : BaseBodies
        The bodies.
    quantity : str
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
    if quantity not in WHAT:
        raise ArgumentError(f"there is no {shown(quantity)} in base parameters; there is {members(WHAT)}")
    declared = find(quantity)
    inputs, outputs = declared.shapes(base.tree, declared.inputs), declared.shapes(base.tree, declared.outputs)
    function = _function(base, quantity)
    named = {name: result for name, shape in {**inputs, **outputs}.items() if (result := labels(base.tree, name, shape))}
    frames = [value for body in base.bodies.bodies for value in (body.placement, body.angle, body.pitch)]
    motors = [(m.viscous, m.coulomb, m.transition_speed, m.gear_ratio) for m in (drive.motor for drive in base.tree.drives)]
    symbols = dict.fromkeys([parameter(name) for name in base.names])
    symbols.update(dict.fromkeys(parameters_in([*frames, base.tree.gravity, *base.reflected, *motors])))
    return trace(function, quantity, inputs, outputs, parameters=tuple(symbols), labels=named, shorten=True)


def _function(base: BaseBodies, name: str) -> Callable[..., Any]:
    tree, nothing = base.tree, blank(base.tree.nv)
    resting = (tree.without_friction() if tree.drives else tree).replace(springs=())
    ways: dict[str, Callable[..., Array]] = {
        "inverse_dynamics": lambda q, qd, qdd: base.efforts(tree, q, qd, qdd),
        "bias_torque": lambda q, qd: base.efforts(resting, q, qd, nothing),
        "gravity_torque": lambda q: base.efforts(resting, q, nothing, nothing),
        "mass_matrix": lambda q: _mass_matrix(base, q),
    }
    return ways[name]


def _mass_matrix(base: BaseBodies, q: Array) -> Array:
    tree = base.tree
    if base.bodies.rotors:
        raise ArgumentError(f"{tree.name!r}: links carry rotors; its mass matrix in base parameters is not supported")
    bare = tree.replace(links=[link.replace(motor=None) for link in tree.links], motors=())
    bodies = composite_mass_matrix(bare, *carried_axes(replace(base.bodies, rotors=()), q, tips=False))
    return np.asarray(bodies + np.diag(np.array(base.reflected, dtype=object)))
