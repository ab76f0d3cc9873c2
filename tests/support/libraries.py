"""Libraries that differentiate, by the few functions that tests of both need."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

DIFFERENTIABLE = ("torch", "jax")


@dataclass(frozen=True)
class Library:
    """Functions of one library."""

    array: Callable[[Any], Any]
    jacrev: Callable[..., Any]
    jacfwd: Callable[..., Any]
    vmap: Callable[..., Any]
    jit: Callable[..., Any]


@contextmanager
def library_of(name: str) -> Iterator[Library]:
    """A library in float64; the test is skipped where it is not installed."""
    module = pytest.importorskip(name, exc_type=ImportError)
    if name == "torch":
        func = module.func
        yield Library(lambda x: module.as_tensor(np.asarray(x)), func.jacrev, func.jacfwd, func.vmap, lambda f: f)
        return
    before = module.config.jax_enable_x64
    module.config.update("jax_enable_x64", True)
    yield Library(module.numpy.asarray, module.jacrev, module.jacfwd, module.vmap, module.jit)
    module.config.update("jax_enable_x64", before)
