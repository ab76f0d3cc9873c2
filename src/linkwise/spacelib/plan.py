"""A function over scalars, traced and compiled for one choice of its whole-number arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from linkwise.errors import ArgumentError
from linkwise.kernel import Kernel, trace
from linkwise.spacelib.declaration import Declaration
from linkwise.spatial.scalar import Array


class Plan:
    """The trace of a body, and the machine code made of it.

    Parameters
    ----------
    declared : Declaration
        The function.
    given : sequence
        The arguments of a call: whole numbers as they are; of the arrays only the shapes count.
    """

    def __init__(self, declared: Declaration, given: Sequence[Any]) -> None:
        self.declared = declared
        self.places: list[int] = []
        shapes = {}
        for place, name, kind, value in declared.arrays(given):
            self.places.append(place)
            shapes[name] = value.shape[value.ndim - kind.axes :] if kind.axes else ()
        self.single = True
        self.tape = trace(lambda *symbols: self._run(given, symbols), declared.name, shapes)
        self.kernel = Kernel(self.tape, doc=declared.body.__doc__ or "")

    def __call__(self, given: Sequence[Any]) -> Any:
        """Compute on numbers."""
        try:
            with np.errstate(all="ignore"):  # a case that is not chosen may divide by zero
                made = self.kernel.ufunc(*[given[place] for place in self.places])
        except ValueError as error:
            raise ArgumentError(self.declared.misfit(given)) from error
        return self.declared.finished(made)

    def _run(self, given: Sequence[Any], symbols: Sequence[Array]) -> Any:
        filled = list(given)
        for place, array in zip(self.places, symbols, strict=True):
            filled[place] = array[()] if array.ndim == 0 else array
        made = self.declared.body(*filled)
        self.single = not isinstance(made, tuple)
        return made
