"""How large a workspace is: random places in its cells are aimed at, most where its border may pass."""

from __future__ import annotations

import numpy as np

from linkwise.workspace.cells import Cells

#: So many standard deviations of the share of places that are reached count as uncertain.
DEVIATIONS = 3.0


def measured(rng: np.random.Generator, cells: Cells, places: int) -> tuple[float, float]:
    """Volume (m3) or plane area (m2) of what is reached, and its uncertainty, by so many places in each stratum.

    By stratified sampling (W. G. Cochran, *Sampling Techniques*, 3rd ed. 1977, chapter 5): cells that the border may pass
    through are one stratum, those within the other. Each share has the variance of a binomial one; and as many places as the
    last aims reached may be reached by further ones.
    """
    grid = cells.grid
    full = cells.covered()[1] >= 0
    border = grid.near(~full) & full | grid.near(full) & ~full
    for axis, count in enumerate(grid.shape):  # (the sides of the map just touch what is reached)
        if count > 1 and not (grid.has_axis and axis == 2):
            border[(slice(None),) * axis + ([0, -1],)] = True
    sizes = np.broadcast_to(grid.sizes(), grid.shape)
    size = variance = missed = 0.0
    for stratum in (border, full & ~border):
        volumes = np.where(stratum, sizes, 0.0).ravel()
        total = float(volumes.sum())
        if not total:
            continue
        chosen = rng.choice(len(volumes), places, p=volumes / total)
        hit, last = cells.probe(rng, chosen, grid.places(rng, chosen))
        likely = (hit.sum() + 1.0) / (places + 2.0)
        size += total * float(hit.mean())
        variance += total**2 * likely * (1.0 - likely) / places
        missed += total * last / places
    return size, DEVIATIONS * float(np.sqrt(variance)) + missed
