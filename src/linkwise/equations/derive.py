"""Derivation of kinematics and dynamics in one of three forms, which writes itself in several languages."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from linkwise.algorithm import kernel_of
from linkwise.dynamics.base_parameters.model import base_bodies, base_tape
from linkwise.dynamics.base_parameters.symbolic import combination_text
from linkwise.dynamics.closed_loops.tape import CLOSED, closed_tape
from linkwise.equations.closed_form.closed_form import closed_form
from linkwise.equations.closed_form.forward_dynamics import forward_listing
from linkwise.equations.closed_form.listing import base_section
from linkwise.equations.document import Listing, by_output, evaluated, given_meanings, names_in, operations, written_terms
from linkwise.equations.equations_of_motion import algorithm_name
from linkwise.equations.recursive.document_from_tape import CONSTANTS, labels_of, recursive_listing
from linkwise.equations.recursive.symbol_names import meanings_of, slot_values
from linkwise.equations.writers.latex import to_latex
from linkwise.equations.writers.markdown import to_markdown
from linkwise.equations.writers.sympy import to_source, to_sympy
from linkwise.equations.writers.text import to_text
from linkwise.equations.writers.writer import lines_of
from linkwise.errors import ArgumentError, choices, shown
from linkwise.expr.node import origins_of
from linkwise.kernel.tape import Tape
from linkwise.model.parameters import LINK, MOTOR
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import choice

FORMS = ("recursive", "explicit", "harmonic")

#: Options that say which terms are small: see `linkwise.equations.closed_form.closed_form.small_terms`.
DROPPING = frozenset({"values", "speeds", "of_row"})

#: Terms that are written as text; some 10 MB.
MOST_TERMS = 300_000

#: Lines that a notebook displays.
SHOWN_LINES = 120

TITLES = {
    "forward_kinematics": "Forward kinematics",
    "jacobian": "Jacobian",
    "mass_matrix": "Mass matrix",
    "coriolis_matrix": "Coriolis matrix",
    "gravity_torque": "Gravity",
    "inverse_dynamics": "Inverse dynamics",
    "forward_dynamics": "Forward dynamics",
    "regressor": "Regressor",
}


#: Quantities in explicit and harmonic form.
WRITTEN_OUT = tuple(TITLES)


@dataclass(frozen=True)
class Derivation:
    """A result in symbols, ready to be written.

    Attributes
    ----------
    quantity, form : str
        What it is, in which form.
    listing : Listing
        All of it, in a form that belongs to no language.
    tape : Tape
        The kernel's own computation, in the same names.
    bound : float
        How far an element may be off at most because terms were dropped; 0 where none were.
    seconds : float
        How long it took.

    Examples
    --------
    >>> from linkwise import robots
    >>> found = derive(robots.planar_2r(), "gravity_torque", form="explicit")
    >>> found.quantity, found.form, found.bound
    ('gravity_torque', 'explicit', 0.0)
    """

    quantity: str
    form: str
    listing: Listing
    tape: Tape = field(repr=False)
    bound: float = 0.0
    seconds: float = 0.0

    @cached_property
    def operations(self) -> dict[str, int]:
        """Number of operations in the written form, by kind (`linkwise.equations.document.operations`)."""
        return operations(self.listing)

    @cached_property
    def terms(self) -> int:
        """Number of written terms, including those in brackets; equal elements of a symmetric matrix count once."""
        lines = (line for section in self.listing.sections for line in lines_of(section.assignments, self.listing))
        return sum(written_terms(value) for _, value, _ in lines)

    @cached_property
    def residual(self) -> float:
        """Largest difference of the written form from the kernel at random points, relative to the largest element.

        NaN where the kernel has no value at random points, as the dynamics of open loops.
        """
        points = np.random.default_rng(0).uniform(0.2, 1.3, (self.tape.input_count, 3))
        with np.errstate(all="ignore"):
            values = evaluated(self.listing, dict(zip(labels_of(self.tape), points, strict=True)))
        wanted = by_output(slot_values(self.tape, points)[list(self.tape.results)].T, self.tape.outputs)
        return max((_relative(values[name], wanted[name]) for name in wanted), default=0.0)

    def to_text(self, *, digits: int = 6, width: int = 100, plain: bool = False, abbreviate: bool = True) -> str:
        """Plain text; see `linkwise.equations.writers.text.to_text`."""
        self._check_size("text")
        return to_text(self.listing, digits=digits, width=width, plain=plain, abbreviate=abbreviate)

    def to_markdown(self, *, digits: int = 6, math: bool = True, abbreviate: bool = True) -> str:
        """Markdown for GitHub and notebooks; see `linkwise.equations.writers.markdown.to_markdown`."""
        self._check_size("Markdown")
        return to_markdown(self.listing, digits=digits, math=math, abbreviate=abbreviate)

    def to_latex(self, *, digits: int = 4, document: bool = False, abbreviate: bool = True) -> str:
        """LaTeX with amsmath; see `linkwise.equations.writers.latex.to_latex`."""
        self._check_size("LaTeX")
        return to_latex(self.listing, digits=digits, document=document, abbreviate=abbreviate)

    def to_sympy(self) -> tuple[list[tuple[Any, Any]], dict[str, Any]]:
        """Assignments and results; see `linkwise.equations.writers.sympy.to_sympy`."""
        self._check_size("SymPy expressions")
        return to_sympy(self.listing)

    def to_source(self) -> str:
        """Python source that builds the matrices with SymPy; see `linkwise.equations.writers.sympy.to_source`."""
        self._check_size("Python source")
        return to_source(self.listing)

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        count = " ".join(f"{number} {kind}" for kind, number in self.operations.items())
        return f"<Derivation of {self.quantity}, {self.form}: {self.terms} terms, {count}>"

    def _repr_markdown_(self) -> str:
        return _cut(self.to_markdown(digits=4))

    def _repr_latex_(self) -> str | None:
        source = self.to_latex()
        if source.count("\n") > SHOWN_LINES or "\\paragraph" in source or not source:
            return None
        return f"$\\displaystyle {source.replace('align*', 'aligned')}$"

    def _check_size(self, language: str) -> None:
        if self.terms > MOST_TERMS:
            problem = (
                f"{self.quantity} in {self.form} form has {self.terms:,} terms, more than {MOST_TERMS:,} for {language}"
            )
            advice = "the recursive form is short; significance= drops small terms of the harmonic one"
            raise ArgumentError(f"{problem}; {advice}; .listing has all of them")


def derive(
    tree: Tree, quantity: str, form: str = "recursive", *, base: bool = False, significance: float = 0.0, **options: Any
) -> Derivation:
    """Derive a result of kinematics or dynamics in symbols.

    Parameters
    ----------
    tree : Tree
        The mechanism; numbers of it may be symbols.
    quantity : str
        The name of an algorithm, such as ``"inverse_dynamics"``, or a short one: M, C, g, fk, J, id, fd, Y (mass matrix,
        Coriolis matrix, gravity, forward kinematics, Jacobian, inverse and forward dynamics, regressor). In the explicit and
        harmonic forms one of `WRITTEN_OUT`.
    form : {"recursive", "explicit", "harmonic"}
        Recursive: as the kernel computes it, with named intermediate values. Explicit: every element written out. Harmonic:
        every element a sum of sines and cosines of whole combinations of joint angles.
    base : bool
        Whether it is written in base parameters; the recursive form for the algorithms in
        `linkwise.dynamics.base_parameters.model.WHAT`.
    significance : float
        In the explicit and harmonic forms terms are dropped that are smaller than this part of the largest one of their
        element.
    **options
        Those of the algorithm, such as ``link`` and ``frame``; ``driven``, the coordinates that share the efforts out, for
        the recursive form of ``"inverse_dynamics"`` and ``"gravity_torque"`` with loops; for terms to be dropped also
        ``values``, ``speeds`` and ``of_row``, see `linkwise.equations.closed_form.closed_form.small_terms`.

    Returns
    -------
    Derivation
        Writes itself as text, Markdown, LaTeX and SymPy.

    Raises
    ------
    ArgumentError
        For what there is not, naming what there is.

    Examples
    --------
    >>> from linkwise import robots
    >>> print(derive(robots.planar_2r(), "gravity_torque"))
    Gravity of planar_2r, recursive: ... products, 2 sums, ... sines and cosines
    ...
    Results
      tau1 = ...
      tau2 = ...
    """
    choice("form", form, FORMS)
    if form == "recursive" and significance:
        raise ArgumentError(f"significance is {significance}; the recursive form has no small terms to drop")
    quantity = algorithm_name(quantity)
    begin = time.perf_counter()
    of_form = frozenset[str]() if form == "recursive" else DROPPING
    if tree.loops and quantity in CLOSED and form == "recursive" and not base:
        tape = closed_tape(tree, quantity, **options)
    else:
        tape = kernel_of(tree, quantity, "numpy", {name: x for name, x in options.items() if name not in of_form}).tape
    labels_of(tape)  # rejects ambiguous names
    if form == "recursive" and base:
        listing, bound = _in_base_parameters(tree, quantity), 0.0
    elif form == "recursive":
        listing, bound = recursive_listing(tape, meanings=meanings_of(tree, tape)), 0.0
    else:
        listing, bound = _written_out(tree, quantity, form, base, significance, options)
    listing = _headed(listing, tree, quantity, form, tape)
    return Derivation(quantity, form, listing, tape, bound, time.perf_counter() - begin)


def _written_out(
    tree: Tree, quantity: str, form: str, base: bool, significance: float, options: dict[str, Any]
) -> tuple[Listing, float]:
    """Listing of an explicit or harmonic form, and the bound of its dropped terms."""
    if quantity not in WRITTEN_OUT:
        raise ArgumentError(f"there is no {form} form of {shown(quantity)}; there is one of {choices(WRITTEN_OUT)}")
    if quantity == "forward_dynamics" and significance:
        raise ArgumentError("significance is for results that are sums; that of forward_dynamics is known for M, C and g")

    if quantity == "forward_dynamics":
        return forward_listing(tree, closed_form(tree, "inverse_dynamics", form, base=base, **options).listing()), 0.0
    result = closed_form(tree, quantity, form, significance=significance, base=base, **options)
    return result.listing(), float(result.bound)


def _in_base_parameters(tree: Tree, quantity: str) -> Listing:
    """Recursion on bodies in base parameters, and their definitions."""
    base = base_bodies(tree)
    tape = base_tape(base, quantity)
    listing = recursive_listing(tape, meanings=meanings_of(tree, tape, bodies=base.bodies))
    texts = [combination_text(parts) for parts in base.definitions.values()]
    sections = base_section(tree, base.names, base.values, texts, names_in(listing))
    return replace(listing, sections=(*sections, *listing.sections))


def _headed(listing: Listing, tree: Tree, quantity: str, form: str, tape: Tape) -> Listing:
    """Add title, meanings of the input names, and notes on vectors to the listing."""
    notes = listing.notes
    constants = tuple(section for section in listing.sections if section.title in {CONSTANTS, "Base parameters"})
    count = operations(replace(listing, sections=constants))
    if any(count.values()):
        once = counted(count)
        notes = (*notes, f"What depends on the mechanism alone takes {once} of these, once for all.")
    title = f"{TITLES.get(quantity, quantity)} of {tree.name}, {form}: {counted(operations(listing))}"
    if quantity == "regressor":
        notes = (*notes, COLUMN_NOTE)
    if any(letter in name[:2] for name in listing.meanings for letter in "wavUFNfn"):
        notes = (*notes, BODY_NOTE)
    meanings = {**given_meanings(tree, tape, listing), **listing.meanings}
    return replace(listing, title=title, meanings=meanings, notes=notes, origins=origins_of(tree.parameters_used))


COLUMN_NOTE = (
    f"The columns of Y are those of {', '.join(LINK)} of link 1, then of link 2, and so on; after them come"
    f" {', '.join(MOTOR)} of each motor."
)

BODY_NOTE = "Body k is what joint k moves. Its vectors are in its own axes, z along the joint, unless they are in the world."


def counted(count: dict[str, int]) -> str:
    """Operations in words.

    Examples
    --------
    >>> counted({"mul": 2, "add": 1, "sin": 1, "cos": 2})
    '2 products, 1 sum, 3 sines and cosines'
    """
    numbers = {"product": count.get("mul", 0), "sum": count.get("add", 0), "quotient": count.get("div", 0)}
    words = [f"{number:,} {name}{'s' * (number != 1)}" for name, number in numbers.items() if number or name != "quotient"]
    waves = count.get("sin", 0) + count.get("cos", 0)
    words += [f"{waves} sine{'s and cosines' if waves > 1 else ' or cosine'}"] if waves else []
    words += [f"{count[kind]} {kind}" for kind in ("sqrt", "atan2", "abs", "sign", "select") if kind in count]
    return ", ".join(words)


def _relative(values: FloatArray, wanted: FloatArray) -> float:
    """Difference where there is a value: constraint forces have none if loops are open."""
    values, there = np.broadcast_to(values, wanted.shape), np.isfinite(wanted)
    if wanted.size and not there.any():
        return float("nan")
    scale = max(np.abs(wanted[there]).max(initial=0.0), 1e-300)
    return float(np.abs(values[there] - wanted[there]).max(initial=0.0) / scale)


def _cut(text: str) -> str:
    """Beginning of a long text, for notebooks."""
    lines = text.splitlines()
    if len(lines) <= SHOWN_LINES:
        return text
    kept = lines[:SHOWN_LINES]
    while kept and sum(line == "$$" for line in kept) % 2:
        kept.pop()
    more = f"... {len(lines) - len(kept)} more lines: print(derivation), or its to_latex and to_markdown"
    return "\n".join([*kept, "", more])
