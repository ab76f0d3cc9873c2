"""Kernels computed by NumPy where no back end is asked for."""

from __future__ import annotations

from types import MethodType

import pytest

from linkwise import algorithm
from linkwise.kernel.backend import backend_of
from linkwise.model.tree import Tree


def compute_by_numpy(patch: pytest.MonkeyPatch) -> None:
    """Let every kernel that is made while the patch holds be computed by NumPy, unless it asks for another back end.

    Mechanisms that other tests share keep meanwhile what they compute under other names: the other tests compile as ever.
    """
    memo, recall = Tree.memo, Tree.recall
    patch.setattr(Tree, "memo", lambda self, owner, key, make: memo(self, f"{owner} by NumPy", key, make))
    patch.setattr(Tree, "recall", lambda self, owner, key: recall(self, f"{owner} by NumPy", key))
    patch.setattr(algorithm.compiled, "_bind", lambda self, owner: MethodType(self.method, owner))
    patch.setattr("linkwise.kernel.kernel.default_backend", lambda: "numpy")
    patch.setattr("linkwise.kernel.kernel.backend_of", lambda name: backend_of(name or "numpy"))
