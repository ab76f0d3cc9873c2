"""Random robots as Robo's lists: trees of every kind of joint, with motors on any link."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from linkwise.robo import KINDS
from support.random_mechanisms import random_body

Lists = tuple[list[list[Any]], list[list[Any]]]


def random_lists(seed: int, count: int | None = None, *, tree: bool = True, motors: bool = True) -> Lists:
    """Links and Motors whose numbers follow from the seed."""
    rng = np.random.default_rng([seed, 21])
    count = int(rng.integers(2, 7)) if count is None else count
    previous = [0 if n == count else int(rng.integers(n + 1, count + 2)) if tree else n + 1 for n in range(1, count + 1)]
    previous = [0 if one > count else one for one in previous]
    kinds = [str(rng.choice(KINDS)) for _ in range(count)]
    made = [_motor(rng, k, count, kinds) for k in range(1, int(rng.integers(1, 5)))] if motors else []
    links = []
    for n in range(1, count + 1):
        body = random_body(rng)
        connected = [m for m in range(1, count + 1) if previous[m - 1] == n] or [0]
        mounted = [motor[0] for motor in made if motor[1] == n]
        place = rng.uniform(-0.5, 0.5, 3).tolist()
        item = [n, kinds[n - 1], connected, previous[n - 1], float(body["mass"]), body["inertia"].tolist(), place]
        links.append([*item, body["com"].tolist(), float(rng.uniform(-2, 2)), mounted])
    return links, made


def _motor(rng: np.random.Generator, number: int, count: int, kinds: list[str]) -> list[Any]:
    driven = int(rng.integers(1, count + 1))
    across = rng.uniform(1e-3, 3e-3)
    diagonal = np.full(3, across)
    diagonal["xyz".index(kinds[driven - 1][-1])] = across * rng.uniform(0.3, 1.9)
    place, arm = rng.uniform(-0.3, 0.3, 3).tolist(), rng.uniform(-0.1, 0.1, 3).tolist()
    item = [number, int(rng.integers(0, count + 1)), driven, float(rng.uniform(0.1, 1.0)), np.diag(diagonal).tolist()]
    return [*item, place, arm, float(rng.uniform(-3, 3)), float(rng.choice([-1, 1]) * rng.uniform(3, 30))]


@pytest.fixture
def lists() -> Callable[..., Lists]:
    return random_lists
