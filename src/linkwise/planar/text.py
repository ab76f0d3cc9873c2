"""A planar mechanism written out: its table, and the T_i in the text's symbols as plain text and as SymPy matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError
from linkwise.expr.node import Expr
from linkwise.expr.symbols import symbols
from linkwise.kernel import trace
from linkwise.model.formatting.table import Table, laid_out, plain
from linkwise.model.symbolic import any_nonzero
from linkwise.planar.link import Link, number_text, point_text
from linkwise.planar.transforms import evaluated, transforms
from linkwise.planar.tree import PlanarTree, parent_name
from linkwise.spatial.scalar import Array

#: What is smaller in a matrix of numbers is written as zero.
ROUNDING = 1e-15


def transform_text(mechanism: PlanarTree, q: npt.ArrayLike | None = None, *, constants: bool = False) -> str:
    """Write every T_i as the text has it (S. M. LaValle, *Planning Algorithms*, 2006, section 3.3).

    Links are numbered by their place in the list. What varies is theta_i of a revolute joint and a_{i-1} of a prismatic one,
    x_t, y_t and theta_i of a free link; where links share a parent, the i is added: a_1_3 is that of link 3 on link 1. A
    constant of `Link` that is added to the coordinate stands beside it: theta_2 + theta0_2.

    Parameters
    ----------
    mechanism : Mechanism
        Planar.
    q : (nq,) array_like, optional
        A configuration, rad or m, at which they are written as numbers.
    constants : bool
        Whether the constants of the joints are symbols too, where they are not zero; else their numbers stand there.

    Raises
    ------
    ArgumentError
        Where q is no configuration, or both are asked for; where the mechanism has symbols with the names of coordinates.

    Examples
    --------
    >>> from linkwise import planar
    >>> chain = planar.Mechanism([planar.Link(joint="free"), planar.Link(a=1.0)])
    >>> print(transform_text(chain, constants=True))
    T_1 = [ cos(theta_1)  -sin(theta_1)  x_t ]   link1 in the world
          [ sin(theta_1)  cos(theta_1)   y_t ]
          [ 0             0              1   ]
    <BLANKLINE>
    T_2 = [ cos(theta_2)  -sin(theta_2)  a_1 ]   link2 on link1
          [ sin(theta_2)  cos(theta_2)   0   ]
          [ 0             0              1   ]
    """
    blocks = []
    for k, T in enumerate(_matrices(mechanism, q, constants)):
        rows = [[str(x) if isinstance(x, Expr) else f"{float(x) + 0.0:.6g}" for x in row] for row in T.tolist()]
        widths = [max(len(row[j]) for row in rows) for j in range(3)]
        head = f"T_{k + 1} = "
        parent = mechanism.parents[k]
        where = "in the world" if parent < 0 else f"on {plain(mechanism.links[parent].name)}"
        lines = [f"[ {'  '.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))} ]" for row in rows]
        lines[0] = f"{head}{lines[0]}   {plain(mechanism.links[k].name)} {where}"
        blocks.append("\n".join([lines[0], *(" " * len(head) + line for line in lines[1:])]))
    return "\n\n".join(blocks)


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


def symbolic_transforms(mechanism: PlanarTree, constants: bool = False) -> tuple[Any, ...]:
    """Return every T_i as a SymPy matrix (3, 3), in the symbols of `transform_text`.

    Parameters
    ----------
    mechanism : Mechanism
        Planar.
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
    >>> T1, T2, T3 = symbolic_transforms(chain, constants=True)
    >>> print((T2 * T3)[0, 2])
    a_1 + a_2*cos(theta_2)
    """
    from linkwise.equations.tape_to_sympy import to_sympy
    from linkwise.expr.sympy.symbols import parameter_symbols
    from linkwise.extras import sympy_module

    sympy = sympy_module()
    q, named = _written_in(mechanism, constants)
    outputs = {f"T{k}": (3, 3) for k in range(1, len(named.links) + 1)}
    tape = trace(
        lambda _: tuple(transforms(named, q)), "T", {"q": (0,)}, outputs, parameters=(*q.tolist(), *named.parameters_used)
    )
    sympy_symbols = [*(sympy.Symbol(str(name), real=True) for name in q), *parameter_symbols(named.parameters_used)]
    return tuple(to_sympy(tape, sympy_symbols, evaluate=True).values())


def _written_in(mechanism: PlanarTree, constants: bool) -> tuple[Array, PlanarTree]:
    """The text's symbols for the coordinates (nq,), and the mechanism with symbols for its constants where asked for.

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
    lone = sum(link.joint == "free" for link in mechanism.links) == 1
    words = []
    for k, link in enumerate(mechanism.links):
        if link.joint == "free":
            words += [*(["x_t", "y_t"] if lone else [f"x_{k + 1}", f"y_{k + 1}"]), f"theta_{k + 1}"]
        elif link.joint == "revolute":
            words.append(f"theta_{k + 1}")
        elif link.joint == "prismatic":
            words.append(_distance("a", mechanism, k))
    return words


def _with_symbols(mechanism: PlanarTree) -> list[Link]:
    """The links with symbols for the constants that are not zero."""
    links = []
    for k, link in enumerate(mechanism.links):
        a = "a0" if link.joint == "prismatic" else "a"  # (a constant that is added to a coordinate of the same name)
        theta = "theta0" if link.joint == "revolute" else "theta"
        names = {"a": _distance(a, mechanism, k), "theta": f"{theta}_{k + 1}"}
        changes: dict[str, Any] = {
            field: symbols([name])[0] for field, name in names.items() if any_nonzero(getattr(link, field))
        }
        words = (f"x0_{k + 1}", f"y0_{k + 1}", f"phi_{k + 1}")
        at = [symbols([word])[0] if any_nonzero(value) else value for word, value in zip(words, link.at, strict=True)]
        links.append(link.replace(**changes, at=at))
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
    if link.joint == "free":
        return [f"q{first}, q{first + 1}", f"q{first + 2}"]
    a, theta = (f"q{first}{_added(value)}" for value in (link.a, link.theta))
    return [
        a if link.joint == "prismatic" else number_text(link.a),
        theta if link.joint == "revolute" else number_text(link.theta),
    ]


def _added(value: Any) -> str:
    if not any_nonzero(value):
        return ""
    return f" - {-value:g}" if isinstance(value, float) and value < 0 else f" + {number_text(value)}"
