"""Closed forms of kinematics and dynamics: every entry of a matrix written out, in symbols, numbers, and angles.

Two of them. The explicit form has products of cosines and sines of angles, where those of joints with parallel axes are
added up (c23), collected by the symbols in which it is linear. The harmonic form has one cosine or sine of a whole
combination of angles in each term; see `linkwise.equations.forms.harmonic_form`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

import numpy as np

from linkwise.compiling import kernel_of
from linkwise.equations.forms.base_symbols import BaseSymbols, with_base_symbols
from linkwise.equations.forms.closed_form import SYMMETRIC, ClosedForm, input_sizes
from linkwise.equations.forms.closed_terms import Part, terms_of
from linkwise.equations.forms.significance import without_small_terms
from linkwise.equations.polynomials.expansion import Expansion, expansion
from linkwise.equations.polynomials.parallel import parallel_groups
from linkwise.equations.polynomials.polynomial import Polynomial
from linkwise.equations.polynomials.trigonometric_products import with_products
from linkwise.errors import ArgumentError, KernelError, members, shown
from linkwise.expr.evaluate import evaluate
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import FloatArray

EXACT = 1e-11
"""A closed form that differs from the kernel by more, relative to the largest entry, is not handed out."""

RESULTS = {
    "forward_kinematics": {"T": "forward_kinematics"},
    "jacobian": {"J": "jacobian"},
    "mass_matrix": {"M": "mass_matrix"},
    "coriolis_matrix": {"C": "coriolis_matrix"},
    "gravity_torque": {"tau": "gravity_torque"},
    "inverse_dynamics": {"M": "mass_matrix", "C": "coriolis_matrix", "g": "gravity_torque", "f": "friction_torque"},
    "regressor": {"Y": "regressor"},
}
"""What there are closed forms of: by name of the algorithm the results that are written, and the algorithm of each."""


def explicit(
    tree: Tree,
    what: str,
    *,
    significance: float = 0.0,
    values: Mapping[str, float] | None = None,
    speeds: Any = 1.0,
    of_row: float = 0.0,
    base: bool = False,
    **options: Any,
) -> ClosedForm:
    """Write an algorithm's result explicitly: every entry a sum of products of symbols, cosines and sines.

    Parameters
    ----------
    tree : Tree
        The mechanism, of numbers and symbols.
    what : str
        One of `RESULTS`.
    significance, values, speeds, of_row
        Which small terms are left out: see `linkwise.equations.forms.significance.without_small_terms`.
    base : bool
        Whether to write it in base parameters (see `linkwise.equations.forms.base_symbols`).
    **options
        Of the algorithm.

    Returns
    -------
    ClosedForm
        Compared with the kernels.

    Raises
    ------
    ArgumentError
        For something else; where there is no such form, or it is too long.
    KernelError
        Where it differs from the kernel.

    Examples
    --------
    >>> from linkwise import robots
    >>> from linkwise.equations.writing.text import to_text
    >>> arm = robots.planar_2r().symbolic("inertial", "lengths", "gravity")
    >>> print(to_text(explicit(arm, "gravity_torque").listing()))
    Abbreviations
      c1 = cos(q1)          c12 = cos(q1 + q2)
    <BLANKLINE>
    Gravity
      tau1 = M1·a1·g·c1 + MX1·g·c1 + M2·g·(a1·c1 + a2·c12) + MX2·g·c12
      tau2 = M2·a2·g·c12 + MX2·g·c12
    """
    based = with_base_symbols(tree) if base else None
    made, shapes, parts = parts_of(tree, what, based, options)
    groups, sums = _groups(made)
    terms = terms_of(made, shapes, parts, groups)
    terms = replace(terms, waves=with_products(terms.waves, sums))
    form = checked(ClosedForm(tree, what, "explicit", terms, options, based=based))
    return without_small_terms(form, significance, values, speeds, of_row)


def parts_of(
    tree: Tree, what: str, based: BaseSymbols | None, options: Mapping[str, Any]
) -> tuple[Expansion, dict[str, tuple[int, ...]], list[Part]]:
    """The polynomials of which an algorithm's results are made, and the shapes of the results."""
    if what not in RESULTS:
        raise ArgumentError(f"there is no closed form of {shown(what)}; there is one of {members(RESULTS)}")
    wanted = RESULTS[what]
    tapes = {name: (algorithm, options) for name, algorithm in wanted.items()}
    derived = "C" in wanted and not tree.floating  # there the speeds are no derivatives of coordinates
    if derived:
        del tapes["C"]
        tapes["M"] = ("mass_matrix", {})
    made = expansion(tree if based is None else based.tree, tapes)
    if based is not None:
        made = made.without(based.zeros)
    shapes = {name: (tree.nv, tree.nv) if name == "C" else made.results[name].shape for name in wanted}
    parts: list[Part] = []
    for name, shape in shapes.items():
        if name == "C" and derived:
            n, first = tree.n, tree.nq
            table = {index: cast(Polynomial, made.christoffel[index]) for index in np.ndindex(n, n, n)}
            parts += [Part(name, index[:2], value, (first + index[2],)) for index, value in table.items()]
            continue
        for index in np.ndindex(*shape):
            if name not in SYMMETRIC or index[0] <= index[1]:
                entry = cast(Polynomial, made.results[name][index])
                parts.append(Part(name, index, entry))
    return made, shapes, parts


def checked(form: ClosedForm) -> ClosedForm:
    """The form with its residual, after a comparison with the kernels."""
    tree, rng = form.tree, np.random.default_rng(0)
    worst = 0.0
    arrays = {name: rng.uniform(-1.0, 1.0, (4, size)) for name, size in input_sizes(tree).items()}
    arrays["q"] *= np.pi
    arrays["parameters"] = 0.5 + 0.5 * np.abs(arrays["parameters"])
    if tree.floating:
        arrays["q"][:, 3:7] /= np.linalg.norm(arrays["q"][:, 3:7], axis=1, keepdims=True)
    known, amounts = form.known(arrays), form.data.sizes(form.known(arrays))
    found = form.data.values(known)
    for name, algorithm in RESULTS[form.what].items():
        kernel = kernel_of(tree, algorithm, "numpy", dict(form.options) if algorithm == form.what else {})
        wanted = np.asarray(kernel(*(arrays[key] for key in kernel.tape.inputs)))
        own = np.triu(wanted) if name in SYMMETRIC else wanted
        size = max(float(amounts[name].max(initial=0.0)), float(np.abs(wanted).max(initial=0.0)))
        difference = float(np.abs(found[name] - own).max(initial=0.0))
        if difference > EXACT * size:
            size = max(size, _cancelled(tree, algorithm, arrays))
        worst = max(worst, difference / size if size else difference)
    if not worst <= EXACT:
        raise KernelError(f"{tree.name}: the {form.form} form of {form.what} differs from the kernel by {worst:.1e}")
    return replace(form, residual=worst)


def _cancelled(tree: Tree, algorithm: str, arrays: Mapping[str, FloatArray]) -> float:
    """How large what cancels in a result may be, of which the kernel keeps rounding where the result vanishes.

    For C that is M, at speeds up to 1; for the efforts of gravity |g| (m M_ii)^(1/2), by Cauchy and Schwarz.
    """
    if algorithm not in {"coriolis_matrix", "gravity_torque"}:
        return 0.0
    kernel = kernel_of(tree, "mass_matrix", "numpy", {})
    size = float(np.abs(kernel(*(arrays[key] for key in kernel.tape.inputs))).max(initial=0.0))
    if algorithm == "coriolis_matrix":
        return size
    bodies = [link.body.mass for link in tree.links] + [tree.payload.mass] + [drive.motor.mass for drive in tree.drives]
    point = dict(zip(tree.parameters_used, arrays["parameters"][0].tolist(), strict=True))
    mass, pull = (np.abs(evaluate(each, point)) for each in (bodies, list(tree.gravity)))
    return float(np.linalg.norm(pull) * (mass.sum() * size) ** 0.5)


def _groups(made: Expansion) -> tuple[list[tuple[int, ...]], list[list[tuple[int, ...]]]]:
    """Groups of angles, and the sums in each; symbols that are angles stand alone."""
    found = parallel_groups(made.tree)
    angles = {k for k, need in enumerate(made.needs) if need.harmonic}
    grouped = {k for group in found for k in group.coordinates}
    alone = [(k,) for k in sorted(angles - grouped)]
    sums = [[tuple(one.get(k, 0) for k in group.coordinates) for one in group.sums] for group in found]
    unit: list[tuple[int, ...]] = [(1,)]
    return [*(group.coordinates for group in found), *alone], [*sums, *(unit for _ in alone)]
