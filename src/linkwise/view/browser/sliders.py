"""The scale of each joint's slider: degrees or metres, between its limits, or over a turn where it has none."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from linkwise.model.formatting.table import plain
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import FloatArray

TURN = 360.0


@dataclass(frozen=True)
class Scale:
    """What one slider shows of a joint.

    Attributes
    ----------
    label : str
        The joint's name with its unit.
    least, most, step : float
        Of the slider, degrees or m.
    factor : float
        Radians or metres in one of its units.
    endless : bool
        Whether a whole turn leads back: a revolute joint without limits.
    hint : str
        Said where the pointer rests on it.
    """

    label: str
    least: float
    most: float
    step: float
    factor: float
    endless: bool
    hint: str

    def shown(self, value: float) -> float:
        """Return where the slider stands for a coordinate (rad or m).

        Examples
        --------
        >>> Scale("crank [deg]", -180.0, 180.0, 0.1, math.pi / 180, True, "").shown(1.5 * math.pi)
        -90.0
        """
        at = value / self.factor
        if self.endless and not self.least <= at <= self.most:
            middle = (self.least + self.most) / 2
            at -= TURN * round((at - middle) / TURN)
        return min(max(round(at, max(0, -math.floor(math.log10(self.step)))), self.least), self.most)

    def value(self, shown: float, now: float) -> float:
        """Return the coordinate (rad or m) for a place of the slider, the one nearest to now where turns lead back."""
        wanted = shown * self.factor
        turns = round((now - wanted) / math.tau) if self.endless and math.isfinite(wanted) else 0
        return wanted + math.tau * turns


def scales(tree: Tree, size: float, moved: FloatArray | None = None) -> tuple[Scale, ...]:
    """Return the scale of each joint's slider.

    Parameters
    ----------
    tree : Tree
        The mechanism.
    size : float
        Its size, m: how far a joint that slides without limits may be slid.
    moved : (..., n) ndarray, optional
        Values that joints take in a motion: the sliders reach them all.
    """
    limits, values = np.column_stack([tree.q_min, tree.q_max]), None if moved is None else moved.reshape(-1, tree.n)
    sliders = []
    for k, (name, slides) in enumerate(zip(tree.names, tree.slides, strict=True)):
        factor = 1.0 if slides else math.pi / 180.0
        usual = (math.ceil(size * 10.0) / 10.0 if size > 0 else 1.0) if slides else TURN / 2
        least, most = (limits[k, 0] / factor, limits[k, 1] / factor)
        free = not (math.isfinite(least) or math.isfinite(most))
        least = least if math.isfinite(least) else min(-usual, most - usual if math.isfinite(most) else -usual)
        most = most if math.isfinite(most) else max(usual, least + usual)
        if values is not None and values.size:
            least, most = min(least, float(values[:, k].min()) / factor), max(most, float(values[:, k].max()) / factor)
        unit, endless = ("m", False) if slides else ("deg", free)
        ends = "no limits" if free else f"from {least:.6g} to {most:.6g} {unit}"
        label, hint = f"{plain(name)} [{unit}]", f"{unit}; {ends}"
        step = 10.0 ** math.floor(math.log10(max(most - least, 1e-9) / 1000.0))  # a thousand of them, or more
        sliders.append(Scale(label, *_within(least, most, step), step, factor, endless, hint))
    return tuple(sliders)


def _within(least: float, most: float, step: float) -> tuple[float, float]:
    """Return the first and the last whole step between two ends: round numbers, and none beyond a limit."""
    digits = max(0, -math.floor(math.log10(step)))
    low, high = math.ceil(least / step - 1e-6) * step, math.floor(most / step + 1e-6) * step
    return (round(low, digits), round(high, digits)) if low <= high else (least, most)
