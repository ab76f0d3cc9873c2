"""A result in closed form: its terms, its value at numbers, what was left out, and what is printed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from linkwise.algorithm import find
from linkwise.equations.forms.base_symbols import BaseSymbols
from linkwise.equations.forms.closed_terms import Terms
from linkwise.equations.listing import Listing, Sum
from linkwise.equations.polynomials.value import known_values
from linkwise.errors import ArgumentError, members, shown
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import FloatArray

SYMMETRIC = frozenset({"M"})
"""Results of which only the upper half has terms."""


@dataclass(frozen=True, eq=False, repr=False)
class ClosedForm:
    """An algorithm's result for one mechanism, in closed form.

    Made by `explicit` and `linkwise.equations.forms.harmonic.harmonic`, and compared with the kernels as it is made.

    Attributes
    ----------
    tree : Tree
        The mechanism.
    what : str
        The algorithm. ``"inverse_dynamics"`` is M qdd + C qd + g + f, each in closed form.
    form : {"explicit", "harmonic"}
        Which of the two it is.
    data : Terms
        The terms, as arrays.
    residual : float
        The largest difference from the kernels at random points, relative to the largest entry of a result; of what was
        dropped it does not speak.
    dropped : Terms or None
        The terms that were left out.
    weights : ndarray or None
        By owner of these, how large its speeds and sliding coordinates can be.
    based : BaseSymbols or None
        The base parameters in which it is written.
    speed : ndarray (nv,) or None
        The greatest speeds for which terms were left out; None for 1.
    """

    tree: Tree
    what: str
    form: str
    data: Terms
    options: Mapping[str, Any] = field(default_factory=dict)
    residual: float = 0.0
    dropped: Terms | None = None
    weights: FloatArray | None = None
    based: BaseSymbols | None = None
    speed: FloatArray | None = None

    @property
    def terms(self) -> dict[str, int]:
        """How many terms each result has; of a symmetric matrix the upper half.

        In the harmonic form cosine and sine of one combination of angles count as one: they are one wave.
        """
        return {name: int(count.sum()) for name, count in self.data.counts(pairs=self.form == "harmonic").items()}

    @property
    def entries(self) -> dict[str, Any]:
        """Each result as an array of `linkwise.equations.listing.Sum`; of a symmetric matrix the upper half."""
        from linkwise.equations.forms.closed_listing import TermWriter

        sums = TermWriter(self.data.made).sums(self.data)
        made, start = {}, 0
        for name, shape in self.data.shapes.items():
            made[name] = np.empty(shape, dtype=object)
            for place, index in enumerate(np.ndindex(*shape), start):
                made[name][index] = sums.get(place, Sum())
            start += made[name].size
        return made

    @property
    def speeds(self) -> FloatArray:
        """The greatest speeds (nv,) for which `bounds` hold."""
        return np.ones(self.tree.nv) if self.speed is None else self.speed

    @property
    def assumed(self) -> str:
        """For which motions `bound` holds."""
        said = "" if self.what not in {"inverse_dynamics", "coriolis_matrix"} else f"speeds up to {_words(self.speeds)}"
        said += " and accelerations up to 1" if self.what == "inverse_dynamics" else ""
        slides = "sliding coordinates within their limits, or 1 m" if any(self.tree.slides) else ""
        return " with ".join(word for word in (slides, said) if word)

    @property
    def bounds(self) -> dict[str, FloatArray]:
        """For each result how far an entry can be from the whole one: the sum of the amplitudes that were left out.

        That of C at the speeds that were given when terms were left out, 1 by default.
        """
        if self.dropped is None or self.weights is None:
            return {name: np.zeros(shape) for name, shape in self.data.shapes.items()}
        return self.dropped.totals(np.abs(self.dropped.waves.values) * self.weights[self.dropped.waves.owner])

    @property
    def bound(self) -> float:
        """The largest of `bounds`; of the inverse dynamics that of the efforts, with accelerations of 1 too."""
        found = self.bounds
        if self.what == "inverse_dynamics":
            return float(self.effort_bounds(self.speeds, np.ones(self.tree.nv)).max(initial=0.0))
        return max((float(each.max(initial=0.0)) for each in found.values()), default=0.0)

    def effort_bounds(self, qd: Any, qdd: Any) -> FloatArray:
        """How far each effort of the inverse dynamics can be from the whole one (nv,).

        Parameters
        ----------
        qd, qdd : (nv,) array_like
            The greatest speeds, at most those for which terms were left out, and accelerations.
        """
        found = self.bounds
        mass = np.triu(found["M"]) + np.triu(found["M"], 1).T
        if np.any(np.abs(qd) > self.speeds):
            raise ArgumentError(
                f"speeds are {shown(np.asarray(qd).tolist())}; bounds are known up to {self.speeds.tolist()}"
            )
        return np.asarray(mass @ np.abs(qdd) + found["C"] @ np.abs(qd) + found["g"] + found["f"])

    def __repr__(self) -> str:
        counts = ", ".join(f"{count} in {name}" for name, count in self.terms.items())
        return f"<ClosedForm of {self.what}, {self.tree.name}, {self.form}: terms {counts}>"

    def listing(self) -> Listing:
        """What is printed."""
        from linkwise.equations.forms.explicit_listing import explicit_listing
        from linkwise.equations.forms.harmonic_listing import harmonic_listing

        return explicit_listing(self) if self.form == "explicit" else harmonic_listing(self)

    def __call__(self, *given: Any) -> FloatArray:
        """The value at numbers: what the kernel of the same name takes, with the values of the symbols last."""
        declared = find(self.what)
        names = [*declared.inputs, *(("parameters",) if self.tree.symbols else ())]
        if len(given) != len(names):
            raise ArgumentError(f"{self.what} takes {members(names)}; {len(given)} were given")
        arrays = dict(zip(names, (np.asarray(each, dtype=float) for each in given), strict=True))
        batch = np.broadcast_shapes(*(array.shape[:-1] for array in arrays.values()))
        found = self.results(
            {name: np.broadcast_to(a, (*batch, a.shape[-1])).reshape(-1, a.shape[-1]) for name, a in arrays.items()}
        )
        if self.what != "inverse_dynamics":
            made = next(iter(found.values()))
        else:
            qd, qdd = (
                np.broadcast_to(arrays[name], (*batch, self.tree.nv)).reshape(-1, self.tree.nv) for name in ("qd", "qdd")
            )
            made = (found["M"] * qdd[:, None]).sum(-1) + (found["C"] * qd[:, None]).sum(-1) + found["g"] + found["f"]
        return np.asarray(made.reshape(*batch, *made.shape[1:]))

    def results(self, arrays: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
        """Each result (K, ...) for inputs (K, ...) by name; those that are not given are 0."""
        found = self.data.values(self.known(arrays))
        for name in SYMMETRIC & found.keys():
            found[name] = np.triu(found[name]) + np.swapaxes(np.triu(found[name], 1), -1, -2)
        return found

    def known(self, arrays: Mapping[str, FloatArray]) -> FloatArray:
        """Values (K, V) of all variables, from inputs (K, ...) by name."""
        count = len(next(iter(arrays.values())))
        points = {name: arrays.get(name, np.zeros((count, size))) for name, size in input_sizes(self.tree).items()}
        if self.based is not None:
            points["parameters"] = self.based.parameters(self.tree, points["parameters"])
        return known_values(self.data.made, np.hstack(list(points.values())))


def _words(values: FloatArray) -> str:
    """Numbers in a row; one where they are all the same."""
    return f"{values[0]:g}" if np.ptp(values) == 0 else ", ".join(f"{value:g}" for value in values)


def input_sizes(tree: Tree) -> dict[str, int]:
    """How many elements the inputs of an expansion have."""
    return {"q": tree.nq, "qd": tree.nv, "qdd": tree.nv, "parameters": len(tree.symbols)}
