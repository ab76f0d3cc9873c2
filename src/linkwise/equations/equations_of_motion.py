"""The equations of motion of a mechanism as SymPy matrices, and the short names of algorithms in equations: M, C, g."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from linkwise.algorithm import ALGORITHMS, kernel_of, refuse_loops
from linkwise.equations.closed_form.closed_form import ClosedFormResult, harmonic
from linkwise.equations.closed_form.harmonic import HarmonicForm, HarmonicSum
from linkwise.equations.polynomials.expansion import coordinate_words
from linkwise.equations.tape_to_sympy import steps, to_sympy, written_size
from linkwise.equations.writers.names import LatexNames
from linkwise.equations.writers.sympy import to_sympy as listed
from linkwise.equations.writers.writer import checked_digits
from linkwise.errors import ArgumentError, choices, members, shown, suggestion
from linkwise.expr.sympy.symbols import number, parameter_symbols
from linkwise.extras import sympy_module
from linkwise.kernel.tape import Tape
from linkwise.model.tree import Tree

FORMS = ("harmonic", "graph")

_SOURCES = {"M": "mass_matrix", "C": "coriolis_matrix", "g": "gravity_torque"}

#: Characters of LaTeX source after which a sum is broken.
WIDTH = 110

#: Terms that a matrix in harmonic form may have as SymPy expressions.
MOST_TERMS = 100_000

#: Operations that a matrix in graph form may have, written out: SymPy's functions walk through all of them.
MOST_OPERATIONS = 200_000


class Equations:
    """M(q) qdd + C(q, qd) qd + g(q) + friction(qd) + springs(q, qd) = tau, explicit, in symbols.

    They are those of the motion and the mechanism's own.
    Every matrix is worked out when it is first asked for. Numbers have 53 bits, exact small fractions are Rationals. The
    symbols are real: ``q1``, ``qd1``, ``qdd1`` for the first joint coordinate, whatever the joint is called, and so on.
    The mechanism's own SymPy symbols come back with their assumptions; those of `linkwise.symbols` are real symbols of their
    names.

    Parameters
    ----------
    tree : Tree
        The mechanism.
    form : {"harmonic", "graph"}, optional
        Harmonic: each entry a sum of cosines and sines of whole combinations of joint angles, times powers of sliding
        coordinates, checked against the kernels. Graph: the operations of the kernels, one by one, nested as they are; for
        any mechanism without loops, exact, not for reading. Left out: harmonic wherever there is such a form, else graph.

    Attributes
    ----------
    form : str
        Which of the two it is.
    harmonics : HarmonicForm or None
        The same as arrays of coefficients; None for a mechanism with symbols.
    q, qd, qdd : sympy.ImmutableMatrix
        The symbols, as columns.
    parameters : tuple of sympy.Symbol
        Those of the mechanism, in its order.

    Raises
    ------
    ArgumentError
        For another form; for a mechanism with closed loops; for the harmonic form of one that has none: see `HarmonicForm`;
        for a symbol of the mechanism with the name of a coordinate or of a multiplier.
    MissingExtraError
        Where SymPy is not installed.

    Examples
    --------
    >>> from linkwise import robots
    >>> e = robots.planar_2r().equations()
    >>> e
    <Equations of planar_2r: 2 joints, harmonic form>
    >>> e.M[1, 0]
    cos(q2)/2 + 0.333333333333333
    >>> e.C[0, 1]
    -qd1*sin(q2)/2 - qd2*sin(q2)/2
    """

    def __init__(self, tree: Tree, form: str | None = None) -> None:
        if form is not None and not (isinstance(form, str) and form in FORMS):
            raise ArgumentError(f"form is {shown(form)}; expected {choices(FORMS)}, or nothing")
        self.parameters: tuple[Any, ...] = parameter_symbols(tree.parameters_used)
        self._closed: dict[str, ClosedFormResult] = {}
        self.tree = tree
        self.harmonics: HarmonicForm | None = None
        if tree.loops:
            refuse_loops(tree, "equations")
        self._columns = {key: _column(group) for key, group in coordinate_words(tree).items()}
        refuse_shared(tree, self._columns)
        if form != "graph":
            try:
                if self.parameters:
                    self._closed = {letter: harmonic(tree, _SOURCES[letter]) for letter in "Mg"}
                else:
                    self.harmonics = HarmonicForm(tree)
            except ArgumentError:
                if form == "harmonic":
                    raise
        self.form = "graph" if self.harmonics is None and not self._closed else "harmonic"

    @property
    def q(self) -> Any:
        """Coordinates (nq, 1), rad or m."""
        return self._columns["q"]

    @property
    def qd(self) -> Any:
        """Speeds (nv, 1)."""
        return self._columns["qd"]

    @property
    def qdd(self) -> Any:
        """Accelerations (nv, 1)."""
        return self._columns["qdd"]

    @cached_property
    def M(self) -> Any:
        """The mass matrix (nv, nv), rotors counted."""
        return self._matrix("M")

    @cached_property
    def C(self) -> Any:
        """The Coriolis matrix (nv, nv) in Christoffel form: dM/dt - 2 C is skew-symmetric."""
        return self._matrix("C")

    @cached_property
    def g(self) -> Any:
        """The efforts of gravity (nv, 1)."""
        return self._matrix("g")

    @cached_property
    def friction(self) -> Any:
        """Viscous and Coulomb friction of the motors (nv, 1), which the efforts must overcome; none of Coulomb's at rest."""
        tape = kernel_of(self.tree, "friction_torque", "numpy", {}).tape
        return to_sympy(tape, [*self.qd, *self._of_tree], evaluate=True)["tau"]

    @cached_property
    def springs(self) -> Any:
        """Efforts of springs, dampers and end stops (nv, 1), which the motors must supply."""
        if not self.tree.springs:
            return sympy_module().ImmutableDenseMatrix.zeros(self.tree.nv, 1)
        tape = kernel_of(self.tree, "spring_torque", "numpy", {}).tape
        # (SymPy would spend minutes on simplifying the conditions of a path around something)
        wraps = any(piece.wrap is not None for element in self.tree.springs for piece in element.pieces)
        return self._from_tape("springs", tape, [*self.q, *self.qd, *self._of_tree], evaluate=not wraps)

    @cached_property
    def tau(self) -> Any:
        """The whole left side (nv, 1): efforts of the motors, not rearranged by SymPy."""
        sympy = sympy_module()

        def total(i: int) -> Any:
            pairs = [(self.M[i, j], self.qdd[j]) for j in range(self.qdd.rows)]
            pairs += [(self.C[i, j], self.qd[j]) for j in range(self.qd.rows)]
            products = [sympy.Mul(*pair, evaluate=False) for pair in pairs if pair[0] != 0]
            parts = [*products, *(part for part in (self.g[i], self.friction[i], self.springs[i]) if part != 0)]
            return sympy.Add(*parts, evaluate=False) if parts else sympy.Integer(0)

        return sympy.ImmutableDenseMatrix([[total(i)] for i in range(self.qd.rows)])

    @property
    def residual(self) -> float:
        """Largest difference from the kernels at random points, see `HarmonicForm.residual`; 0 for the graph form."""
        if self._closed:
            _ = self.C
            return max(form.residual for form in self._closed.values())
        return 0.0 if self.harmonics is None else self.harmonics.residual

    def steps(self, quantity: str) -> tuple[list[tuple[Any, Any]], Any]:
        """A matrix as the kernel computes it: named intermediate values, in order, and the matrix in these.

        Its length is that of the kernel, for any mechanism; ``sympy.lambdify(list(e.q), M, cse=lambda _: (assignments, M))``
        compiles it.

        Parameters
        ----------
        quantity : {"M", "C", "g"}
            Which matrix.

        Returns
        -------
        assignments : list of (symbol, expression)
            As ``sympy.cse`` gives them.
        matrix : sympy.ImmutableMatrix
            In the symbols ``x1``, ``x2``, ..., q and qd.

        Raises
        ------
        ArgumentError
            Naming the matrices there are.
        """
        name, inputs = self._source(quantity)
        assignments, results = steps(kernel_of(self.tree, name, "numpy", {}).tape, inputs)
        return assignments, next(iter(results.values()))

    def harmonic(self) -> Equations:
        """The same equations in harmonic form.

        Raises
        ------
        ArgumentError
            Where there is none, and why.
        """
        return self if self.form == "harmonic" else Equations(self.tree, "harmonic")

    def to_latex(self, digits: int = 4) -> str:
        r"""Write the equations as LaTeX source, an ``align*`` environment of amsmath; entries that are 0 are left out.

        Parameters
        ----------
        digits : int
            Significant digits of the numbers, from 1 to 17.

        Raises
        ------
        ArgumentError
            Where a matrix is too long to be written, or the digits are no such number.

        Examples
        --------
        >>> from linkwise import robots
        >>> print(robots.planar_2r().equations().to_latex(3).splitlines()[2])
        M_{11} &= 1.67 + \cos{\left(q_{2} \right)} \\
        """
        checked_digits(digits)
        from sympy.printing.latex import LatexPrinter

        names, n = LatexNames(), self.tree.n
        words = {symbol: names(str(symbol)) for symbol in self.parameters}
        for key, letter in (("qd", r"\dot"), ("qdd", r"\ddot")):
            column = self._columns[key]
            words |= {column[column.rows - n + k]: rf"{letter}{{q}}_{{{k + 1}}}" for k in range(n)}
        printer = LatexPrinter({"symbol_names": words, "full_prec": False})
        lines = [self._heading() + r" \\"]
        for left, right in self._entries():
            if right != 0:
                lines += _lines(printer, digits, left, right)
        return "\n".join([r"\begin{align*}", *lines[:-1], lines[-1].removesuffix(r" \\"), r"\end{align*}"])

    def __repr__(self) -> str:
        joints = f"{self.tree.n} joint{'s' * (self.tree.n != 1)}{', floating base' * self.tree.floating}"
        return f"<Equations of {self.tree.name}: {joints}, {self.form} form>"

    def _repr_latex_(self) -> str:
        return rf"$\displaystyle {self._heading().replace('&', '')}$"

    # ── how they are made ─────────────────────────────────────────────────────────────────────────

    def _matrix(self, quantity: str) -> Any:
        """A matrix from the harmonics in numbers, in closed form with symbols, or from the graph."""
        if self.harmonics is not None:
            return sympy_module().ImmutableDenseMatrix(self._from_harmonics(self.harmonics, quantity))
        if not self._closed:
            return self._from_graph(quantity)
        form = self._closed.get(quantity) or self._closed.setdefault(quantity, harmonic(self.tree, _SOURCES[quantity]))
        return self._from_closed(quantity, form)

    def _from_closed(self, quantity: str, form: ClosedFormResult) -> Any:
        self._check_size(quantity, sum(form.terms.values()))
        constants, results = listed(form.listing())
        return next(iter(results.values())).xreplace(dict(constants))

    def _from_harmonics(self, form: HarmonicForm, quantity: str) -> list[list[Any]]:
        write = _HarmonicWriter(self.q)
        if quantity != "C":
            rows = form.M if quantity == "M" else tuple((entry,) for entry in form.g)
            self._check_size(quantity, sum(entry.terms for row in rows for entry in row))
            return [[write(entry) for entry in row] for row in rows]
        joints = range(self.tree.n)
        least = sum(form.M[i][i].depending(k) for i in joints for k in joints)  # c_iik = dM_ii/dq_k / 2: nothing cancels
        self._check_size("C", least, "at least ")
        self._check_size("C", sum(entry.terms for rows in form.christoffel for row in rows for entry in row))
        products = [
            [[qd * write(c) for qd, c in zip(self.qd, row, strict=True)] for row in rows] for rows in form.christoffel
        ]
        return [[sympy_module().Add(*terms) for terms in rows] for rows in products]

    def _from_graph(self, quantity: str) -> Any:
        name, inputs = self._source(quantity)
        return self._from_tape(quantity, kernel_of(self.tree, name, "numpy", {}).tape, inputs)

    def _from_tape(self, quantity: str, tape: Tape, inputs: list[Any], *, evaluate: bool = False) -> Any:
        size = written_size(tape)
        if size > MOST_OPERATIONS:
            problem = f"{quantity} written out has {size:,} operations, more than {MOST_OPERATIONS:,}"
            advice = f"; steps({quantity!r}) names shared parts" if quantity in _SOURCES else ""
            raise ArgumentError(f"{self.tree.name}: {problem}{advice}")
        return next(iter(to_sympy(tape, inputs, evaluate=evaluate).values()))

    def _source(self, quantity: str) -> tuple[str, list[Any]]:
        """Algorithm and arguments of a matrix."""
        if quantity not in _SOURCES:
            raise ArgumentError(f"there is no matrix {shown(quantity)}; there are {members(_SOURCES)}")
        return _SOURCES[quantity], [*self.q, *(self.qd if quantity == "C" else ()), *self._of_tree]

    @property
    def _of_tree(self) -> tuple[Any, ...]:
        """The symbols of the tree, in the order of its kernels."""
        return parameter_symbols(self.tree.parameters_used)

    def _check_size(self, quantity: str, size: int, prefix: str = "") -> None:
        if size > MOST_TERMS:
            problem = f"{quantity} has {prefix}{size:,} terms, more than {MOST_TERMS:,}"
            advice = f"steps({quantity!r}) is another form"
            if self.harmonics is not None:
                advice = f"harmonics has them as arrays, {advice}"
            raise ArgumentError(f"{self.tree.name}: {problem}; {advice}")

    def _heading(self) -> str:
        rub = r" + f(\dot{q})" if any(part != 0 for part in self.friction) else ""
        rub += r" + s(q, \dot{q})" if self.tree.springs else ""
        return rf"M(q)\,\ddot{{q}} + C(q, \dot{{q}})\,\dot{{q}} + g(q){rub} &= \tau"

    def _entries(self) -> list[tuple[str, Any]]:
        """Left and right side of each equation."""
        size = range(self.qd.rows)
        entries = [(_same("M", i, j), self.M[i, j]) for i in size for j in size if j >= i]
        entries += [(f"C_{_index(i, j)}", self.C[i, j]) for i in size for j in size]
        columns = {"g": self.g, "f": self.friction} | ({"s": self.springs} if self.tree.springs else {})
        return entries + [(f"{letter}_{_index(i)}", column[i]) for letter, column in columns.items() for i in size]


def refuse_shared(tree: Tree, columns: Mapping[str, Any]) -> None:
    """Raise `ArgumentError` where a symbol of a mechanism has the name of a coordinate or multiplier of the equations."""
    taken = {str(symbol) for column in columns.values() for symbol in column}
    both = [name for name in tree.symbols if name in taken]
    if both:
        problem = f"{tree.name!r} has a symbol {choices(both)}, the name of a coordinate or multiplier in the equations"
        raise ArgumentError(f"{problem}; substitute() puts another in its place")


def _column(names: Sequence[str]) -> Any:
    sympy = sympy_module()
    return sympy.ImmutableDenseMatrix(len(names), 1, [sympy.Symbol(name, real=True) for name in names])


def _index(*places: int) -> str:
    """Subscripts counted from 1, with commas where one has two digits."""
    words = [str(place + 1) for place in places]
    return f"{{{(',' if max(map(len, words)) > 1 else '').join(words)}}}"


def _same(letter: str, i: int, j: int) -> str:
    """An entry of a symmetric matrix, and the one that is equal to it."""
    return f"{letter}_{_index(i, j)}" + (f" = {letter}_{_index(j, i)}" if i != j else "")


class _HarmonicWriter:
    """Converts harmonic sums to SymPy expressions in the symbols q; each cosine and sine is created once."""

    def __init__(self, q: Any) -> None:
        self.q = list(q)
        self._waves: dict[bytes, tuple[Any, Any]] = {}

    def __call__(self, entry: HarmonicSum) -> Any:
        sympy, terms = sympy_module(), []
        for h, p, *coefficients in zip(entry.harmonics, entry.powers, entry.cosine, entry.sine, strict=True):
            key = h.tobytes()
            if key not in self._waves:
                angle = sympy.Add(*(int(h[k]) * self.q[k] for k in np.flatnonzero(h)))
                self._waves[key] = sympy.cos(angle), sympy.sin(angle)
            length = sympy.Mul(*(self.q[k] ** int(p[k]) for k in np.flatnonzero(p)))
            pairs = zip(coefficients, self._waves[key], strict=True)
            terms += [number(float(x)) * wave * length for x, wave in pairs if x]
        return sympy.Add(*terms)


def _lines(printer: Any, digits: int, left: str, right: Any) -> Iterator[str]:
    r"""Lines of ``align*`` for ``left = right``, LaTeX source and an expression; a sum is broken where it grows long."""
    sympy = sympy_module()
    line = rf"{left} &= "
    for k, term in enumerate(_terms(right)):
        rounded = term.xreplace({value: sympy.Float(value, digits) for value in term.atoms(sympy.Float)})
        text = str(printer.doprint(rounded))
        if k:
            text = f" - {text[1:].lstrip()}" if text.startswith("-") else f" + {text}"
            if len(line) + len(text) > WIDTH:
                yield line + r" \\"
                line = r"&\quad"
        line += text
    yield line + r" \\"


def _terms(expression: Any) -> list[Any]:
    """The terms of a sum, those without angles first; a product with a sum is one term for each of the sum's."""
    sympy, terms = sympy_module(), []
    for part in sympy.Add.make_args(expression):
        sums = [factor for factor in sympy.Mul.make_args(part) if isinstance(factor, sympy.Add)]
        if sums == [part] or len(sums) != 1:
            terms.append(part)
        else:
            factors = [factor for factor in part.args if factor is not sums[0]]
            terms += [sympy.Mul(*factors, term) for term in sums[0].args]
    return sorted(terms, key=lambda term: (bool(term.free_symbols), -abs(term.as_coeff_Mul()[0])))


#: Short names of common algorithms.
SHORT = {
    "M": "mass_matrix",
    "C": "coriolis_matrix",
    "g": "gravity_torque",
    "fk": "forward_kinematics",
    "J": "jacobian",
    "id": "inverse_dynamics",
    "fd": "forward_dynamics",
    "Y": "regressor",
}


def algorithm_name(word: str) -> str:
    """Return the name of the algorithm that a word means: a short one, or the name itself.

    Raises
    ------
    ArgumentError
        Naming what there is, the short names first; where several stand in one word, saying so.

    Examples
    --------
    >>> algorithm_name("M"), algorithm_name("jacobian")
    ('mass_matrix', 'jacobian')
    """
    name = SHORT.get(word, word) if isinstance(word, str) else word
    if isinstance(name, str) and name in ALGORITHMS:
        return name
    several = [part for part in re.split(r"[\s,;]+", word) if part] if isinstance(word, str) else []
    if len(several) > 1 and all(part in SHORT or part in ALGORITHMS for part in several):
        raise ArgumentError(f"{shown(word)} is {len(several)} names; expected one at a time: {', '.join(several)}")
    short = ", ".join(f"{abbreviation} ({quantity})" for abbreviation, quantity in SHORT.items())
    others = members(sorted(ALGORITHMS.keys() - SHORT.values()))
    hint = suggestion(str(word), ALGORITHMS)
    raise ArgumentError(f"no algorithm {shown(word)}{hint}; expected {short}, or by its name alone {others}")
