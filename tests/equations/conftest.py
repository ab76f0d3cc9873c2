"""Kernels are computed by NumPy here: tests/laws and tests/kernel see to it that compiled ones give the same."""

from collections.abc import Iterator

import pytest

from support.numpy_backend import compute_by_numpy


@pytest.fixture(autouse=True, scope="module")
def _computed_by_numpy() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        compute_by_numpy(patch)
        yield
