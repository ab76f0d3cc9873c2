"""What the tests of trajectories share: derivatives by differences, random poses."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from linkwise.spatial.rotation import rotation_about
from linkwise.spatial.transform import transform

EPS = float(np.finfo(float).eps)


def slope(function: Callable[[np.ndarray], np.ndarray], t: np.ndarray, h: float) -> np.ndarray:
    """The derivative by five points: exact for polynomials of degree four, else wrong by h^4/30 of the fifth derivative."""
    near = function(t + h) - function(t - h)
    far = function(t + 2 * h) - function(t - 2 * h)
    return np.asarray((8.0 * near - far) / (12.0 * h))


def random_poses(rng: np.random.Generator, *batch: int, most: float = 3.0) -> np.ndarray:
    """Poses (*batch, 4, 4) turned by up to a given angle from the axes."""
    made = np.empty((*batch, 4, 4))
    for place in np.ndindex(*batch):
        axis = rng.normal(size=3)
        made[place] = transform(rotation_about(axis / np.linalg.norm(axis), rng.uniform(0, most)), rng.normal(size=3))
    return made
