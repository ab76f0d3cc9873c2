"""Equalities of MJCF that no `Mimic` is: sums of several coordinates, and polynomials of one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from linkwise.files.formats.mjcf.attributes import Attributes
from linkwise.files.formats.mjcf.bodies import MjcfJoint
from linkwise.files.report import unused_name
from linkwise.mechanism import Mechanism
from linkwise.model.joints import PolynomialSlide
from linkwise.model.link import Link
from linkwise.model.loop import BASE, Loop
from linkwise.model.mimic import Mimic

X_AXIS = np.array([1.0, 0.0, 0.0])


@dataclass(frozen=True)
class CoordinateSum:
    """The sum of f_k (q_k - ref_k) is a constant and, if there is an argument x = g (q - ref), c_1 x + c_2 x^2 + ...

    Attributes
    ----------
    attributes : Attributes
        Where it stands.
    terms : sequence of (MjcfJoint, float)
        The joints of the sum, and f.
    constant : float
        rad or m.
    argument : (MjcfJoint, float), optional
        The joint of x, and g.
    coefficients : sequence of float
        c.
    """

    attributes: Attributes
    terms: Sequence[tuple[MjcfJoint, float]]
    constant: float
    argument: tuple[MjcfJoint, float] | None = None
    coefficients: Sequence[float] = ()

    @property
    def joints(self) -> list[MjcfJoint]:
        """All of its joints."""
        return [joint for joint, _ in (*self.terms, *([self.argument] if self.argument else []))]


def with_sums(
    mechanism: Mechanism, sums: Iterable[CoordinateSum], between: frozenset[int]
) -> tuple[Mechanism, frozenset[int]]:
    """Add the equalities to a mechanism, and to the places of links that the file does not name.

    Links without mass slide along x, one on the other, by the terms of the sum; a loop holds the last to the base, or to a
    link that slides by the polynomial. So all joints keep coordinate, armature, damper and spring.
    """
    links, loops, taken = [*mechanism.links], [*mechanism.loops], {BASE, *mechanism.link_names, *mechanism.coordinate_names}

    def add(word: str, parent: str, mimic: Mimic, joint: str | PolynomialSlide) -> str:
        name = unused_name(word, taken)
        taken.add(name)
        axis = X_AXIS if isinstance(joint, str) else (0.0, 0.0, 1.0)
        links.append(Link(joint=joint, axis=axis, name=name, parent=parent, mimic=mimic))
        return name

    for each in sums:
        known, end = len(links), BASE
        if each.argument is not None:
            joint, factor = each.argument
            powers = PolynomialSlide(X_AXIS, np.array(each.coefficients))
            mimic = Mimic(str(joint.name), factor, -factor * joint.ref)
            end = add(f"{each.terms[0][0].name}_polynomial", BASE, mimic, powers)
        last, shift = BASE, each.constant
        for joint, factor in each.terms:
            mimic = Mimic(str(joint.name), factor, -factor * joint.ref - shift)
            last, shift = add(f"{joint.name}_slide", last, mimic, "prismatic"), 0.0
        loops.append(Loop("point", end, last, name=each.attributes.text("name")))
        added = ", ".join(repr(link.name) for link in links[known:])
        each.attributes.remark(f"it is a loop, which links without mass close on the base: {added}")
        between |= set(range(known, len(links)))
    tool = mechanism.link_names[mechanism.tool_index]
    return mechanism.replace(links=links, loops=loops, tool_link=tool), between
