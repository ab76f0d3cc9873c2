"""Inputs and outputs of exported code: sizes, element names, meanings and units, and valid unique identifiers."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import prod

import numpy as np

from linkwise.kernel.tape import Shape, Tape
from linkwise.spatial.validation import choice

_LETTERS = """
alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma_final sigma tau upsilon phi chi
psi omega
"""
_GREEK = {name: chr(code) for code, name in enumerate(_LETTERS.split(), 0x3B1)}

#: Spellings of letters that are not ASCII: Greek ones, and some others.
SPELT = {
    **{letter: name for name, letter in _GREEK.items()},
    **{letter.upper(): name.capitalize() for name, letter in _GREEK.items() if name != "sigma_final"},
    "\u03c2": "sigma",
    "\u03d1": "theta",
    "\u03d5": "phi",
    "\u03f5": "epsilon",
    "\u00b5": "mu",
    "\u0307": "_dot",
    "\u00df": "ss",
    "\u00f8": "o",
    "\u00e6": "ae",
}


#: Reserved words, by language; see `linkwise.export.language.language`.
WORDS: dict[str, frozenset[str]] = {}


def spelt(text: str) -> str:
    """Write a name with ASCII letters, digits and single underscores, beginning with a letter.

    Greek letters are spelt out, accents fall away, and whatever is left becomes an underscore. Two underscores in a row, and
    one in front, belong to the compiler in C and C++, so there are none.

    Examples
    --------
    >>> spelt("link mass"), spelt("θ̇₁"), spelt("2nd arm"), spelt("")
    ('link_mass', 'theta_dot1', 'n2nd_arm', 'unnamed')
    """
    plain = "".join(SPELT.get(letter, letter) for letter in unicodedata.normalize("NFKD", text))
    plain = "".join(letter for letter in plain if not unicodedata.combining(letter))
    plain = re.sub(r"[^A-Za-z0-9]+", "_", plain).strip("_")
    if not plain:
        return "unnamed"
    return plain if plain[0].isalpha() else f"n{plain}"


class Identifiers:
    """One scope of one language: issues unique names that are not reserved words.

    Parameters
    ----------
    language : str
        The name of a language, whose words are reserved.
    taken : iterable of str
        Names of an outer scope, and others that must not come back.

    Examples
    --------
    >>> from linkwise.export.language import Identifiers
    >>> names = Identifiers("c", taken=("mass_matrix",))
    >>> [names.new(text) for text in ("q", "lambda", "double", "y0", "q", "mass_matrix")]
    ['q', 'lambda', 'double_v', 'y0_v', 'q_2', 'mass_matrix_2']
    """

    def __init__(self, language: str, taken: Iterable[str] = ()) -> None:
        self.language = choice("language", language, WORDS)
        self.words = WORDS[language]
        self.used = set(taken)

    def new(self, text: str) -> str:
        """A name like a text that no one has yet."""
        base = spelt(text)
        if base in self.words:
            base = f"{base}_v"
        name, count = base, 1
        while name in self.used or name in self.words:
            count += 1
            name = f"{base}_{count}"
        self.used.add(name)
        return name

    def inner(self) -> Identifiers:
        """A scope within this one, which hides none of its names."""
        return Identifiers(self.language, self.used)


#: The input that holds the values of a mechanism's symbols.
PARAMETERS = "parameters"

#: Input that replaces it once the parameter-dependent part has been computed.
CONSTANTS = "constants"

_STATE = {"q": "the coordinates", "qd": "the velocities", "qdd": "the accelerations"}
_RATES = {"v": "the frame's velocity", "a": "the frame's acceleration", "h": "the momentum", "hd": "the momentum's rate"}

#: Meaning of a port by its name and number of axes, in the algorithms of the library.
_MEANINGS = {
    ("q", 1): "joint coordinates, rad or m",
    ("q0", 1): "joint coordinates at the beginning, rad or m",
    ("q1", 1): "joint coordinates at the end, rad or m",
    ("qd", 1): "joint velocities, rad/s or m/s",
    ("qdd", 1): "joint accelerations, rad/s2 or m/s2",
    ("tau", 1): "joint efforts, N m or N",
    ("external", 1): "force and moment on the tool, tool axes, N and N m",
    ("external", 2): "force and moment on each of the frames named, N and N m",
    (PARAMETERS, 1): "values of the symbols, SI units",
    (CONSTANTS, 1): "what the function of the parameters computed",
    ("dt", 0): "time step, s",
    ("T", 2): "homogeneous transform, lengths in m",
    ("T", 3): "homogeneous transform of each link, lengths in m",
    ("T", 0): "kinetic energy, J",
    ("U", 0): "potential energy, J",
    ("L", 0): "kinetic energy less potential energy, J",
    ("J", 2): "Jacobian: linear rows first, loop by loop where it is that of loops",
    ("Jd", 2): "time derivative of the Jacobian",
    ("M", 2): "mass matrix, kg m2, kg m or kg",
    ("C", 2): "matrix of Coriolis and centrifugal terms",
    ("W", 3): "velocity matrix of each link",
    ("H", 3): "acceleration matrix of each link",
    ("Y", 2): "regressor: efforts, or generalized momenta, per inertial parameter",
    ("c", 1): "centre of mass, m",
    ("p", 1): "momentum, linear first, kg m/s and kg m2/s",
    ("actions", 2): "force and moment that each link receives from its parent, N and N m",
    ("q_next", 1): "joint coordinates after the step, rad or m",
    ("facing", 1): "above zero where a loop is closed facing the right way",
    ("bias", 1): "accelerations of the closure equations at rest of the joints, m/s2 and 1/s2",
    ("inverse", 2): "inverse of the operational space inertia",
    ("dtau_dq", 2): "derivatives of the efforts by the coordinates, a row for each effort",
    ("dtau_dqd", 2): "derivatives of the efforts by the velocities, a row for each effort",
    ("dtau_dqdd", 2): "derivatives of the efforts by the accelerations, a row for each effort",
    ("dqdd_dq", 2): "derivatives of the accelerations by the coordinates, a row for each acceleration",
    ("dqdd_dqd", 2): "derivatives of the accelerations by the velocities, a row for each acceleration",
    ("dqdd_dtau", 2): "derivatives of the accelerations by the efforts, a row for each acceleration",
    ("s", 0): "part of the way from the first configuration to the second, 0 to 1",
    ("M_inv", 2): "inverse of the joint space inertia, 1/(kg m2), 1/kg and 1/(kg m)",
    ("pd", 1): "time derivative of the momentum, linear first, N and N m",
    ("by_q", 2): "derivatives of the small motion of the next configuration by one of the configuration",
    ("by_qd", 2): "derivatives of the small motion of the next configuration by the velocities",
    ("by_q0", 2): "derivatives of the difference by a small motion of the first configuration",
    ("by_q1", 2): "derivatives of the difference by a small motion of the second configuration",
    ("v", 1): "linear and angular velocity of the frame, m/s and rad/s",
    ("a", 1): "time derivative of the frame's velocity, m/s2 and rad/s2",
    ("w", 1): "force and moment that the base receives from the ground, N and N m",
    ("A", 2): "momentum about the centre of mass per joint velocity, linear rows first",
    ("Ad", 2): "time derivative of the centroidal momentum matrix",
    ("dq", 1): "derivative of the coordinates by the parameter s of a path",
    ("ddq", 1): "second derivative of the coordinates by the parameter s of a path",
    ("inertial", 1): "joint efforts per d2s/dt2",
    ("velocity", 1): "joint efforts per square of ds/dt",
    ("static", 1): "joint efforts at rest, N m or N",
    ("constant", 1): "efforts of friction along a path that stay at every speed, N m or N",
    ("growing", 1): "efforts of friction along a path per square of ds/dt",
    ("acceleration", 0): "d2s/dt2 along a path",
    ("speed", 0): "ds/dt along a path",
    ("tau_max", 1): "limits of the joint efforts, N m or N",
    ("share", 1): "joint efforts per limit",
    ("kinetic", 1): "kinetic energy per inertial parameter",
    ("potential", 1): "potential energy per inertial parameter",
    **{
        (f"d{rate}_d{by}", 2): f"derivatives of {of} by {meaning}"
        for rate, of in _RATES.items()
        for by, meaning in _STATE.items()
    },
    ("dJ_dq", 3): "derivative of the Jacobian by the coordinates",
    ("wdJ_dq", 2): "derivative of the weighted rows of the Jacobian by the coordinates",
    **{
        (f"d{quantity}_d{variable}", 3): f"second derivatives by {quantity} and {variable}"
        for quantity in ("q", "qd", "tau")
        for variable in ("q", "qd")
    },
    **{
        (f"wd{quantity}_d{variable}", 2): f"second derivatives by {quantity} and {variable}, a weighted sum over the rows"
        for quantity in ("q", "qd", "tau")
        for variable in ("q", "qd")
    },
    ("dM_dq", 3): "derivative of the mass matrix by q",
    ("wdM_dq", 2): "derivative of the mass matrix by q, a weighted sum over the rows",
    ("weights", 1): "weight of each row",
    ("rate", 1): "time derivatives of the coordinates",
    ("residual", 1): "what the closure equations leave, m and 1",
    ("forces", 1): "constraint forces and moments of the loops, N and N m",
    ("defforts_dq", 2): "derivative of the efforts of the constraint forces by the coordinates",
    ("drates_dq", 2): "derivative of the rates at which loops open by the coordinates",
    ("dbias_dq", 2): "derivative of the accelerations at which loops open by the coordinates",
    ("dbias_dqd", 2): "derivative of the accelerations at which loops open by the velocities",
    ("q_closed", 1): "joint coordinates with closed loops, rad or m",
    ("qd_closed", 1): "joint velocities that keep the loops closed, rad/s or m/s",
}

#: The shape that it then has; a port of another shape is something else.
_SHAPES = {("p", 1): (6,), ("c", 1): (3,), ("external", 1): (6,), ("T", 2): (4, 4)}


@dataclass(frozen=True)
class TapePort:
    """An input or an output.

    Attributes
    ----------
    name : str
        As people call it.
    shape : tuple of int
        Shape of its array; elements are in C order.
    labels : tuple of str
        What people call the elements; empty where they have no names.
    """

    name: str
    shape: Shape
    labels: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """Number of elements."""
        return prod(self.shape)

    @property
    def meaning(self) -> str:
        """Description with units, as far as the name determines it."""
        key = (self.name, len(self.shape))
        return _MEANINGS.get(key, "") if _SHAPES.get(key, self.shape) == self.shape else ""

    @property
    def described(self) -> str:
        """Its shape, meaning and the names of its elements, on one line of ASCII.

        Examples
        --------
        >>> TapePort("q", (2,), ("q1", "q2")).described
        '(2): joint coordinates, rad or m; elements q1, q2'
        """
        shape = f"({', '.join(map(str, self.shape))})" if self.shape else "one number"
        description = f"{shape}: {self.meaning}" if self.meaning else shape
        return f"{description}; elements {', '.join(map(printable_ascii, self.labels))}" if self.labels else description

    @property
    def laid_out(self) -> str:
        """The same for languages in which it is one row of numbers: the order of these, where there are several axes.

        Examples
        --------
        >>> TapePort("J", (6, 2)).laid_out
        '(6, 2), row-major: Jacobian: linear rows first, loop by loop where it is that of loops'
        """
        if len(self.shape) < 2:
            return self.described
        shape, meaning = self.described.split(")", 1)
        return f"{shape}), row-major{meaning}"

    def called(self, identifier: str) -> str:
        """Original name, if the identifier differs: ``'lambda' (U+03BB)``; else empty."""
        if identifier == self.name:
            return ""
        strange = " ".join(f"U+{ord(letter):04X}" for letter in self.name if not letter.isascii())
        return f"'{printable_ascii(self.name)}'" + (f" ({strange})" if strange else "")

    def element(self, k: int) -> str:
        """Name of an element: its label, or the name of the port and its indices."""
        if self.labels:
            return self.labels[k]
        return "_".join([self.name, *map(str, np.unravel_index(k, self.shape))]) if self.shape else self.name


def printable_ascii(text: str) -> str:
    """Name for a comment of any language: one line of printable ASCII that does not end the comment.

    Examples
    --------
    >>> printable_ascii("2 θ̇ */"), printable_ascii("中"), printable_ascii("what???/")
    ('2 theta_dot * /', 'U+4E2D', 'what? ? ?/')
    """
    letters = (SPELT.get(letter, letter) for letter in unicodedata.normalize("NFKD", " ".join(text.split())))
    plain = "".join(letter if letter.isascii() else f"U+{ord(letter):04X}" for letter in letters)
    plain = "".join(letter if letter.isprintable() else " " for letter in plain).replace("\\", "/")
    for ending, harmless in (("*/", "* /"), ("/*", "/ *"), ('"""', "'''")):
        plain = plain.replace(ending, harmless)
    return re.sub(r"\?(?=\?)", "? ", plain)


def inputs(tape: Tape) -> tuple[TapePort, ...]:
    """The inputs of a tape."""
    return tuple(TapePort(name, shape, tape.labels.get(name, ())) for name, shape in tape.inputs.items())


def outputs(tape: Tape) -> tuple[TapePort, ...]:
    """The outputs of a tape."""
    return tuple(TapePort(name, shape, tape.labels.get(name, ())) for name, shape in tape.outputs.items())


def placed(ports: Sequence[TapePort]) -> list[tuple[int, TapePort]]:
    """Ports, each with its place in the row of all their elements."""
    starts = accumulate((port.size for port in ports), initial=0)
    return list(zip(starts, ports, strict=False))


def used_slots(tape: Tape) -> frozenset[int]:
    """The slots that anything is computed or copied from."""
    return frozenset(arg for instruction in tape.code for arg in instruction.args) | frozenset(tape.results)


def operations_text(tape: Tape) -> str:
    """Write the operations of a tape on one line: ``175 mul, 120 add, 5 sin, 5 cos``."""
    return ", ".join(f"{count} {kind}" for kind, count in tape.operations.items()) or "none"
