"""Planar mechanisms: a chain or a tree of links, with or without loops; its table and its transforms as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError
from linkwise.expr.node import Expr
from linkwise.expr.symbols import symbols
from linkwise.kernel import trace
from linkwise.loops import Linkage
from linkwise.model.formatting.table import Table, laid_out, plain
from linkwise.model.symbolic import any_nonzero
from linkwise.planar.clearance import clearance
from linkwise.planar.collision import collides
from linkwise.planar.drawing import draw
from linkwise.planar.spatial import close, freedoms, linkage_of, spatial
from linkwise.planar.transforms import evaluated, place_polygons, transforms
from linkwise.planar.tree import Link, PlanarTree, number_text, parent_name, point_text
from linkwise.spatial.scalar import Array

#: Elements of a numeric matrix below this are printed as zero.
ROUNDING = 1e-15


def _matrices(mechanism: PlanarTree, q: npt.ArrayLike | None, constants: bool) -> Array:
    """The T_i (L, 3, 3), in symbols or at a configuration."""
    if q is None:
        variables, named = _written_in(mechanism, constants)
        return transforms(named, variables)
    if constants:
        raise ArgumentError("q and constants=True are given; expected numbers at q, or symbols without it")
    T = np.asarray(evaluated(mechanism, "transforms", q))
    if T.ndim != 3:
        raise ArgumentError(f"q has the shape {np.shape(q)}; expected one configuration ({mechanism.nq},)")
    size = np.ones((3, 3))
    size[:2, 2] = np.abs(T[:, :2, 2]).max(initial=0.0)
    return np.where(np.abs(T) < ROUNDING * size, 0.0, T)


def _written_in(mechanism: PlanarTree, constants: bool) -> tuple[Array, PlanarTree]:
    """The text's symbols for the coordinates (nq,), and the mechanism with symbols for its constants if requested.

    Raises
    ------
    ArgumentError
        Where the mechanism has a symbol of its own with one of these names.
    """
    named = mechanism.replace(links=_with_symbols(mechanism)) if constants else mechanism
    words = _variables(mechanism)
    both = [word for word in words if word in named.symbols]
    if both:
        problem = f"{mechanism.name!r} has a symbol {both[0]!r}, which is the name of a coordinate here"
        raise ArgumentError(f"{problem}; substitute() puts another in its place")
    return np.array(symbols(words), dtype=object), named


def _variables(mechanism: PlanarTree) -> list[str]:
    """Names of the coordinates in the text: theta_i, a_{i-1}, or x_t, y_t, theta_i."""
    lone = sum("x" in link.variables for link in mechanism.links) == 1
    words = []
    for k, link in enumerate(mechanism.links):
        place = "t" if lone else str(k + 1)
        names = {"theta": f"theta_{k + 1}", "a": _distance("a", mechanism, k), "x": f"x_{place}", "y": f"y_{place}"}
        words += [names[variable] for variable in link.variables]
    return words


def _with_symbols(mechanism: PlanarTree) -> list[Link]:
    """The links with symbols for the constants that are not zero."""
    links = []
    for k, link in enumerate(mechanism.links):
        a, theta = (f"{field}0" if field in link.variables else field for field in ("a", "theta"))  # beside a coordinate
        words = (_distance(a, mechanism, k), f"{theta}_{k + 1}", f"x0_{k + 1}", f"y0_{k + 1}", f"phi_{k + 1}")
        constants = zip(words, (link.a, link.theta, *link.at), strict=True)
        a, theta, *at = (symbols([word])[0] if any_nonzero(value) else value for word, value in constants)
        links.append(link.replace(a=a, theta=theta, at=at))
    return links


def _distance(letter: str, mechanism: PlanarTree, k: int) -> str:
    """The name of a_{i-1}: by the parent's number, and the link's where the parent has several children."""
    parent = mechanism.parents[k]
    alone = mechanism.parents.count(parent) == 1
    return f"{letter}_{parent + 1}" if alone else f"{letter}_{parent + 1}_{k + 1}"


# ── the table ─────────────────────────────────────────────────────────────────────────────────────


def table_text(mechanism: PlanarTree) -> str:
    """Write the table in plain aligned text: lengths in m, angles in rad.

    Examples
    --------
    >>> from linkwise import planar
    >>> print(table_text(planar.Mechanism([planar.Link(), planar.Link(a=0.5)], name="two")))
    two: 2 links in the plane, 2 coordinates; lengths in m, angles in rad
    <BLANKLINE>
    link   on     joint       a  theta  polygons
    link1  world  revolute  0    q1            0
    link2  link1  revolute  0.5  q2            0
    """
    tilted = any(any_nonzero(link.at) for link in mechanism.links)
    header = ["link", "on", "joint", "a", "theta", *(["at x", "y", "phi"] if tilted else []), "polygons"]
    rows = []
    first = 1
    for k, link in enumerate(mechanism.links):
        at = [number_text(value) for value in link.at] if tilted else []
        names = plain(link.name), plain(parent_name(mechanism, k))
        rows.append((*names, link.joint, *_constants(link, first), *at, str(len(link.polygons))))
        first += len(link.coordinate_names)
    loops = [
        f"loop {plain(loop.name)}: {loop.joint} joint of {plain(loop.first)} at {point_text(loop.first_point)}"
        f" and {plain(loop.second)} at {point_text(loop.second_point)}"
        for loop in mechanism.loops
    ]
    links, coordinates = (f"{n} {word}{'s' * (n != 1)}" for n, word in ((len(rows), "link"), (mechanism.nq, "coordinate")))
    headline = f"{plain(mechanism.name)}: {links} in the plane, {coordinates}; lengths in m, angles in rad"
    return "\n".join([laid_out(Table((headline,), tuple(header), tuple(rows))), *loops])


def _constants(link: Link, first: int) -> list[str]:
    """The cells of a and theta: the constant, and the coordinate q that is added to it."""
    cells = []
    for value, variables in ((link.a, {"a", "x", "y"}), (link.theta, {"theta"})):
        coordinates = ", ".join(f"q{k}" for k, variable in enumerate(link.variables, first) if variable in variables)
        added = f" - {-value:g}" if isinstance(value, float) and value < 0 else f" + {number_text(value)}"
        cells.append(f"{coordinates}{added if any_nonzero(value) else ''}" if coordinates else number_text(value))
    return cells


class Mechanism(PlanarTree):
    """Links A_1 ... A_m in the plane, joined into a chain or a tree, with or without loops.

    Methods take a configuration (..., nq): the coordinates of the links in the order of the list, one for a revolute (rad)
    or prismatic joint (m), x, y and theta for a free one. A batch gives the same numbers as a loop, bit for bit. One
    configuration may also hold symbols, of SymPy or of `linkwise.symbols`; the results do then.

    Parameters
    ----------
    links : sequence of Link
        At least one. A link without a parent follows the link before it in the list, the first one the world.
    loops : sequence of Loop
        What closes the tree. Transforms and places are those of the tree at whatever configuration is given; `close` finds
        one at which the loops are closed.
    name : str, optional
        How tables and messages call it.

    Attributes
    ----------
    parents : tuple of int
        Index of each link's parent (L,), -1 for the world.
    order : tuple of int
        The links, each after its parent (L,).

    Raises
    ------
    ModelError
        With every problem found: names that repeat, parents that are not there, cycles.

    Examples
    --------
    The three-link chain whose links are each offset by 45 degrees:

    >>> import numpy as np
    >>> from linkwise import planar
    >>> rod = planar.bar(1.0, 0.2)
    >>> chain = planar.Mechanism([planar.Link(rod), planar.Link(rod, a=1.0), planar.Link(rod, a=1.0)], name="chain")
    >>> q = [0.0, np.pi / 4, np.pi / 4]
    >>> chain.transforms(q)[1].round(3).tolist()
    [[0.707, -0.707, 1.0], [0.707, 0.707, 0.0], [0.0, 0.0, 1.0]]
    >>> chain.place(q)[2][0].round(3)[1].tolist()
    [1.807, 1.807]
    """

    # ── where the links are ───────────────────────────────────────────────────────────────────────

    def transforms(self, configuration: npt.ArrayLike) -> Array:
        """The T_i (..., L, 3, 3): from the body frame of each link to that of its parent; see `linkwise.planar.transforms`.

        Raises
        ------
        ArgumentError
            Where the shape is wrong, or there are symbols in a batch.
        """
        return evaluated(self, "transforms", configuration)

    def poses(self, configuration: npt.ArrayLike) -> Array:
        """T_world_link (..., L, 3, 3): the product T_1 ... T_i along the path to each link."""
        return evaluated(self, "poses", configuration)

    def place(self, configuration: npt.ArrayLike) -> tuple[tuple[Array, ...], ...]:
        """Every polygon in the world: for each link a tuple with an array (..., m, 2), m, for each of its polygons.

        The points keep their order; they are T_1 ... T_i (x, y, 1).

        Examples
        --------
        >>> import numpy as np
        >>> from linkwise import planar
        >>> arm = planar.Mechanism([planar.Link([(0, -0.1), (1, -0.1), (1, 0.1)]), planar.Link(a=1.0)])
        >>> (arm.place([np.pi / 2, 0.0])[0][0].round(3) + 0.0).tolist()
        [[0.1, 0.0], [0.1, 1.0], [-0.1, 1.0]]
        >>> arm.place(np.zeros((7, 2)))[0][0].shape
        (7, 3, 2)
        """
        return place_polygons(self, configuration)

    def gaps(self, configuration: npt.ArrayLike) -> Array:
        """Closure errors of the loops (..., loops, 3): x, y (m) from the first point to the second in the world.

        The third is the sine of the angle that a rigid connection is off by, 0 for a pin.
        """
        return evaluated(self, "gaps", configuration)

    # ── freedoms and loops ────────────────────────────────────────────────────────────────────────

    freedoms = freedoms
    close = close

    def linkage(self, driven: str | Sequence[str] | None = None) -> Linkage:
        """The mechanism driven through its loops by some coordinates: the `linkwise.loops.Linkage` of its spatial twin.

        For positions one after the other, velocities and accelerations, and reasons instead of errors.

        Examples
        --------
        >>> from linkwise import planar, robots
        >>> planar.from_spatial(robots.slider_crank()).linkage("crank").passive
        ('rod', 'slider')
        """
        return linkage_of(self, driven)

    # ── among obstacles ───────────────────────────────────────────────────────────────────────────

    collides = collides
    clearance = clearance

    # ── in space, on paper ────────────────────────────────────────────────────────────────────────

    spatial = spatial
    draw = draw

    def symbolic_transforms(self, constants: bool = False) -> tuple[Any, ...]:
        """Return every T_i as a SymPy matrix (3, 3), in the symbols of `transform_text`.

        Parameters
        ----------
        constants : bool
            Whether the constants of the joints are symbols too, where they are not zero.

        Raises
        ------
        MissingExtraError
            Where SymPy is not installed.

        Examples
        --------
        >>> from linkwise import planar
        >>> chain = planar.Mechanism([planar.Link(joint="fixed"), planar.Link(a=1.0), planar.Link(a=1.0)])
        >>> T1, T2, T3 = chain.symbolic_transforms(constants=True)
        >>> print((T2 * T3)[0, 2])
        a_1 + a_2*cos(theta_2)
        """
        from linkwise.equations.tape_to_sympy import to_sympy
        from linkwise.expr.sympy.symbols import parameter_symbols
        from linkwise.extras import sympy_module

        sympy = sympy_module()
        q, named = _written_in(self, constants)
        outputs = {f"T{k}": (3, 3) for k in range(1, len(named.links) + 1)}
        tape = trace(
            lambda _: tuple(transforms(named, q)),
            "T",
            {"q": (0,)},
            outputs,
            parameters=(*q.tolist(), *named.parameters_used),
        )
        sympy_symbols = [*(sympy.Symbol(str(name), real=True) for name in q), *parameter_symbols(named.parameters_used)]
        return tuple(to_sympy(tape, sympy_symbols, evaluate=True).values())

    def transform_text(self, q: npt.ArrayLike | None = None, *, constants: bool = False) -> str:
        """Write every T_i as the text has it (S. M. LaValle, *Planning Algorithms*, 2006, section 3.3).

        Links are numbered by their place in the list. What varies is theta_i of a revolute joint and a_{i-1} of a prismatic
        one, x_t, y_t and theta_i of a free link; where links share a parent, the i is added: a_1_3 is that of link 3 on
        link 1. A constant of `Link` that is added to the coordinate stands beside it: theta_2 + theta0_2.

        Parameters
        ----------
        q : (nq,) array_like, optional
            A configuration, rad or m, at which they are written as numbers.
        constants : bool
            Whether the constants of the joints are symbols too, where they are not zero; else their numbers stand there.

        Raises
        ------
        ArgumentError
            Where q is no configuration, or both are asked for; where the mechanism has symbols with the names of
            coordinates.

        Examples
        --------
        >>> from linkwise import planar
        >>> print(planar.Mechanism([planar.Link(), planar.Link(a=1.0)]).transform_text([0.0, 0.5]).splitlines()[4])
        T_2 = [ 0.877583  -0.479426  1 ]   link2 on link1
        >>> chain = planar.Mechanism([planar.Link(joint="free"), planar.Link(a=1.0)])
        >>> print(chain.transform_text(constants=True))
        T_1 = [ cos(theta_1)  -sin(theta_1)  x_t ]   link1 in the world
              [ sin(theta_1)  cos(theta_1)   y_t ]
              [ 0             0              1   ]
        <BLANKLINE>
        T_2 = [ cos(theta_2)  -sin(theta_2)  a_1 ]   link2 on link1
              [ sin(theta_2)  cos(theta_2)   0   ]
              [ 0             0              1   ]
        """
        blocks = []
        for k, T in enumerate(_matrices(self, q, constants)):
            rows = [[str(x) if isinstance(x, Expr) else f"{float(x) + 0.0:.6g}" for x in row] for row in T.tolist()]
            widths = [max(len(row[j]) for row in rows) for j in range(3)]
            head = f"T_{k + 1} = "
            parent = self.parents[k]
            where = "in the world" if parent < 0 else f"on {plain(self.links[parent].name)}"
            lines = [f"[ {'  '.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))} ]" for row in rows]
            lines[0] = f"{head}{lines[0]}   {plain(self.links[k].name)} {where}"
            blocks.append("\n".join([lines[0], *(" " * len(head) + line for line in lines[1:])]))
        return "\n\n".join(blocks)

    def __repr__(self) -> str:
        return table_text(self)
