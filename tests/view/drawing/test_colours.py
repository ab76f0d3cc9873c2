"""Colours are told apart by every kind of colour vision: G. M. Machado, M. M. Oliveira and L. A. F. Fernandes, "A
physiologically-based model for simulation of color vision deficiency", IEEE Trans. Visualization and Computer Graphics
15(6), 2009, with the matrices of full severity; distances are those of CIE 1976 L*a*b* under the white D65."""

import itertools

import numpy as np
import pytest

from linkwise.plot.figure import COLOURS
from linkwise.plot.figure import MAP_COLOURS as MAP

SEEN_AS = {
    "normal": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}

TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
WHITE = TO_XYZ.sum(axis=1)

TELLABLE = 10.0
"""Several times the 2.3 just noticeable side by side: M. Mahy and others, Color Research and Application 19, 1994."""


def linear(srgb: np.ndarray) -> np.ndarray:
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)


def lab(rgb: np.ndarray) -> np.ndarray:
    """L*, a*, b* of linear red, green and blue (m, 3)."""
    share = np.clip(rgb, 0, 1) @ TO_XYZ.T / WHITE
    f = np.where(share > 216 / 24389, np.cbrt(share), (24389 / 27 * share + 16) / 116)
    return np.stack([116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])], axis=1)


def seen(srgb: np.ndarray, by: str) -> np.ndarray:
    return lab(linear(srgb) @ np.asarray(SEEN_AS[by]).T)


@pytest.mark.parametrize("by", SEEN_AS)
def test_the_colours_of_links_and_curves_are_told_apart(by: str) -> None:
    palette = np.array([[int(name[k : k + 2], 16) for k in (1, 3, 5)] for name in COLOURS]) / 255
    looks = seen(palette, by)
    pairs = {(a, b): float(np.linalg.norm(looks[a] - looks[b])) for a, b in itertools.combinations(range(len(looks)), 2)}
    nearest = min(pairs, key=pairs.__getitem__)
    print(f"{by}: nearest are {COLOURS[nearest[0]]} and {COLOURS[nearest[1]]}, {pairs[nearest]:.1f}")
    assert pairs[nearest] > TELLABLE


@pytest.mark.parametrize("by", SEEN_AS)
def test_the_colours_of_maps_rise_evenly_in_lightness(by: str) -> None:
    """More is lighter, everywhere and for everybody: no step of 1/32 falls, or is more than twice the mean."""
    from matplotlib import colormaps

    lightness = seen(colormaps[MAP](np.linspace(0, 1, 33))[:, :3], by)[:, 0]
    steps = np.diff(lightness)
    print(f"{by}: steps of lightness {steps.min():.2f} to {steps.max():.2f}, mean {steps.mean():.2f}")
    assert steps.min() > 0
    assert steps.max() < 2 * steps.mean()
