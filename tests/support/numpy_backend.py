"""Kernels computed by NumPy where no back end is asked for."""

from __future__ import annotations

import pytest

from linkwise.kernel.backend import backend_of


def compute_by_numpy(patch: pytest.MonkeyPatch) -> None:
    """Let every kernel that is made while the patch holds be computed by NumPy, unless it asks for another back end."""
    patch.setattr("linkwise.kernel.kernel.default_backend", lambda: "numpy")
    patch.setattr("linkwise.kernel.kernel.backend_of", lambda name: backend_of(name or "numpy"))
