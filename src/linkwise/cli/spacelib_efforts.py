"""What ``linkwise spacelib rob-mat`` tells beside the file it writes: how much there was, and the motors' efforts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from linkwise.cli.summary import Extremes

if TYPE_CHECKING:
    from linkwise.spacelib.programs.rob_mat import RobMat

FEW = 3
"""Up to this many instants, the efforts at each are printed."""


class Efforts:
    """The efforts of some results that pass by."""

    def __init__(self) -> None:
        self.extremes = Extremes(0)
        self.few: list[tuple[float, list[float]]] = []
        self.end = 0.0

    def passing(self, parts: Iterable[RobMat]) -> Iterator[RobMat]:
        """Hand through results and remember their efforts."""
        for part in parts:
            if not self.extremes.count:
                self.extremes = Extremes(part.tau.shape[-1])
            self.extremes.add(part.t, part.tau)
            room = FEW + 1 - len(self.few)
            self.few += list(zip(part.t[:room].tolist(), part.tau[:room].tolist(), strict=True))
            self.end = float(part.t[-1])
            yield part

    def tell(self) -> None:
        """Print a table: the efforts at each of a few instants, or root mean squares and peaks."""
        from linkwise.cli.layout import console, fixed, new_table, peak, put, short

        joints, count = self.extremes.low.size, self.extremes.count
        if count <= FEW:
            table = new_table("joint", *(f"t = {short(time)} s" for time, _ in self.few))
            for k in range(joints):
                table.add_row(str(k + 1), *(fixed(values[k]) for _, values in self.few))
        else:
            table = new_table("joint", "rms", "peak")
            for k in range(joints):
                table.add_row(str(k + 1), short(self.extremes.rms[k]), peak(self.extremes, k))
        put(console(), f"motor efforts -PseDot(L, ACTO), N m or N; {_span(count, self.end)}", table)


def _span(count: int, end: float) -> str:
    from linkwise.cli.layout import short

    return "1 instant" if count == 1 else f"{count:,} instants to t = {short(end)} s"
