"""The tape of a kernel is the same in every process, whatever was computed there before."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "support" / "tape_digests.py"


@cache
def digests(order: int, seed: int) -> dict[str, str]:
    """What `tape_digests` prints in a process of its own, with this seed of Python's hashes."""
    environment = {**os.environ, "PYTHONHASHSEED": str(seed), "LINKWISE_CACHE_DIR": ""}  # (all are traced)
    command = [sys.executable, str(SCRIPT), str(order)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=True)
    found: dict[str, str] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize(("order", "seed"), [(1, 2), (2, 3)])
def test_same_tapes_whatever_was_computed_before(order: int, seed: int) -> None:
    """In a fresh process, and one half each in others with other seeds of hashes, after unrelated work, in another order."""
    wanted, found = digests(0, 1), digests(order, seed)
    assert [name for name in found if wanted[name] != found[name]] == []
    assert len({value for value in found.values() if len(value) == 64}) > 150
