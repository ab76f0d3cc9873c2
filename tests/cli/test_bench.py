import importlib
from collections.abc import Callable
from pathlib import Path

import pytest

import linkwise as lw
from linkwise import files

bench = importlib.import_module("linkwise.cli.commands.bench")


@pytest.fixture(autouse=True)
def few_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "ROUNDS", 2)


def test_the_table_says_times_and_operations(linkwise: Callable) -> None:
    told = linkwise("bench", "planar_2r", "--configurations", "100")
    assert told.status == 0
    assert "planar_2r, 2 joints, batch of 100" in told.out
    for name in bench.USUAL:
        row = next(line for line in told.out.splitlines() if line.split()[:1] == [name])
        assert "add" in row
        assert "ns" in row


def test_algorithms_by_name(linkwise: Callable) -> None:
    named = ("--algorithm", "regressor", "--algorithm", "inverse_dynamics_external")
    told = linkwise("bench", "planar_2r", "--configurations", "10", *named)
    assert told.status == 0, told.err
    assert "regressor" in told.out
    assert "inverse_dynamics_external" in told.out  # has no method of its own
    assert "jacobian" not in told.out


def test_an_unknown_algorithm_is_told_before_anything_is_measured(linkwise: Callable) -> None:
    told = linkwise("bench", "planar_2r", "--algorithm", "jacobian", "--algorithm", "dynamics")
    assert (told.status, told.out) == (2, "")
    assert "no algorithm 'dynamics'" in told.err


def test_a_floating_base(linkwise: Callable, tmp_path: Path) -> None:
    body = lw.Link(joint="fixed", name="body", mass=1.0, inertia=(1, 1, 1))
    files.save(lw.Mechanism([body], floating=True, name="body"), tmp_path / "body.toml")
    told = linkwise("bench", "body.toml", "--configurations", "10", "--algorithm", "forward_dynamics")
    assert told.status == 0, told.err
    assert "body, 0 joints on a floating base" in told.out


def test_the_median_is_per_call() -> None:
    calls = []
    assert 0 < bench.median_time(lambda: calls.append(1), shortest=1e-4) < 1e-3
    assert len(calls) > 50


def test_what_a_mechanism_without_masses_allows_is_measured(linkwise: Callable) -> None:
    named = [word for name in ("jacobian", "forward_dynamics") for word in ("--algorithm", name)]
    told = linkwise("bench", "stanford", "--configurations", "10", *named)
    assert told.status == 0, told.err
    rows = {line.split()[0]: line.split()[1:] for line in told.out.splitlines() if line.strip()}
    assert rows["forward_dynamics"] == ["-"] * 4
    assert "mul," in rows["jacobian"]
    assert "remark: no forward_dynamics: joint 'link6': inertia is 0.0; expected a mass" in told.out
    told = linkwise("bench", "stanford", "--configurations", "10", *named[2:])
    assert (told.status, told.out) == (2, "")
    assert told.err.startswith("Error: joint 'link6': inertia is 0.0")


def test_loops_are_closed_while_they_are_measured(linkwise: Callable) -> None:
    told = linkwise("bench", "four_bar", "--configurations", "10", "--algorithm", "forward_dynamics")
    assert told.status == 0
    assert "forward_dynamics" in told.out
    assert "invalid" not in told.out + told.err
