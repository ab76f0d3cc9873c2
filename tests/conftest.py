"""What all tests share: where the common modules are, where compiled kernels are kept, how hypothesis looks for examples."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

sys.path.insert(0, str(Path(__file__).parent))

# Before NumPy is loaded: matrices are small here, and threads that wait for each other take turns with the other processes.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

gc.set_threshold(100_000, 20, 20)  # graphs are many small objects, through which it would look all the time

# Shrinking a mechanism takes minutes: it is left to HYPOTHESIS_PROFILE=explore.
without_shrinking = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
hypothesis.settings.register_profile(
    "ci", derandomize=True, database=None, deadline=None, max_examples=25, print_blob=True, phases=without_shrinking
)
hypothesis.settings.register_profile("explore", database=None, deadline=None, max_examples=1000, print_blob=True)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


@pytest.fixture(autouse=True, scope="session")
def _own_kernel_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Kernels compiled by the tests are kept apart from the user's, and are compiled anew in each run, once for all its
    processes; so is Matplotlib's list of fonts.
    """
    place = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        place = place.parent  # of all workers of this run
    for folder in ("kernels", "matplotlib"):
        (place / folder).mkdir(mode=0o700, exist_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LINKWISE_CACHE_DIR", str(place / "kernels"))
        patch.setenv("MPLCONFIGDIR", str(place / "matplotlib"))
        yield


@pytest.fixture
def uncompiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels made in the test are computed by NumPy: the same graphs, without the time that compiling them takes.

    Mechanisms may be shared with tests that compile: these get kernels of their own.
    """
    from support.numpy_backend import compute_by_numpy

    compute_by_numpy(monkeypatch)


@pytest.fixture
def coarse(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures of few pixels, for tests that only want them drawn: most of the time goes into filling them."""
    monkeypatch.setattr("linkwise.plot.figure.DPI", 30)
