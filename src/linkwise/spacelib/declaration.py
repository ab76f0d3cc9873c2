"""What the decorator `linkwise.spacelib.function.function` is told of a function, and what follows for every call of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise.errors import ArgumentError
from linkwise.spacelib.kinds import Choice, Kind
from linkwise.spatial.scalar import Array


@dataclass(frozen=True)
class Declaration:
    """A function over scalars, and what its arguments and results are.

    Attributes
    ----------
    name : str
        As users call it.
    body : callable
        Over arrays of scalars; it takes the arguments in the order of ``kinds``.
    kinds : mapping of str to Kind or Choice
        What each argument must be.
    codes : tuple of int
        Which results are whole numbers.
    refuse : tuple of str
        A message for each of the last results of the body; these are not returned. Where one is not above zero the call is
        refused with its message.
    symbolic : callable
        The body for symbols.
    direct : bool
        Whether the body takes whole batches as they are and needs no compiling.
    """

    name: str
    body: Callable[..., Any]
    kinds: Mapping[str, Kind | Choice]
    codes: tuple[int, ...]
    refuse: tuple[str, ...]
    symbolic: Callable[..., Any]
    direct: bool

    def arrays(self, given: Sequence[Any]) -> Iterator[tuple[int, str, Kind, Any]]:
        """The place, name, kind and value of each argument that is no whole number."""
        for place, ((name, kind), value) in enumerate(zip(self.kinds.items(), given, strict=True)):
            if isinstance(kind, Kind):
                yield place, name, kind, value

    def finished(self, made: Any) -> Any:
        """What numbers have come to: refused where it must be, codes as whole numbers, one result or a tuple of them."""
        if not isinstance(made, tuple):
            return made
        keep = len(made)
        if self.refuse:
            keep -= len(self.refuse)
            for message, measure in zip(self.refuse, made[keep:], strict=True):
                fine = measure > 0
                if fine is not _TRUE:
                    refuse_unless(self.name, np.asarray(fine), message)
            made = made[:keep]
        if self.codes:
            results = list(made)
            for k in self.codes:
                results[k] = _code(results[k])
            made = tuple(results)
        return made[0] if keep == 1 else made

    def fits(self, given: Sequence[Any]) -> bool:
        """Whether the batch shapes fit each other."""
        try:
            np.broadcast_shapes(*(np.shape(value)[: np.ndim(value) - kind.axes] for _, _, kind, value in self.arrays(given)))
        except ValueError:
            return False
        return True

    def misfit(self, given: Sequence[Any]) -> str:
        """What the batch shapes are that do not fit each other."""
        shapes = [f"{name} {np.shape(value)[: np.ndim(value) - kind.axes]}" for _, name, kind, value in self.arrays(given)]
        return f"{self.name}: the batch shapes do not fit each other: {', '.join(shapes)}"


_TRUE = np.True_  # the one object there is of it: what one comparison of NumPy's scalars gives


def refuse_unless(name: str, fine: Array, message: str) -> None:
    """Raise `ArgumentError` with the message, and where in the batch, unless all is fine."""
    if not fine.all():
        place = tuple(int(k) for k in np.argwhere(~fine)[0])
        raise ArgumentError(f"{name}: {message}{f', at {place} of the batch' if place else ''}")


def _code(part: Any) -> Any:
    return part.astype(int) if isinstance(part, np.ndarray) and part.ndim else int(part)
