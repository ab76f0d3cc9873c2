import importlib
from collections.abc import Callable

import pytest

bench = importlib.import_module("linkwise.cli.bench")


def test_the_table_says_times_and_operations(linkwise: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "ROUNDS", 2)
    told = linkwise("bench", "planar_2r", "--configurations", "100")
    assert told.status == 0
    assert "batch of 100" in told.out
    for name in ("inverse_dynamics", "forward_kinematics", "jacobian"):
        row = next(line for line in told.out.splitlines() if name in line)
        assert "mul" in row
        assert "ns" in row


def test_the_median_is_per_call() -> None:
    calls = []
    assert 0 < bench.median_time(lambda: calls.append(1), shortest=1e-4) < 1e-3
    assert len(calls) > 50
