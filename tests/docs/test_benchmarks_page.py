"""The page of the benchmarks is what its script makes of the recorded files, and these are of benchmarks that there are."""

import re
import runpy
import sys

import pytest

from .conftest import ROOT

RESULTS = ROOT / "benchmarks" / "results"
FILES = sorted(RESULTS.glob("*.txt"))


def test_page_is_up_to_date(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    made = runpy.run_path(str(ROOT / "docs" / "make_benchmarks.py"))
    written = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    assert written == made["page"](), "run: python docs/make_benchmarks.py"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_file_tells_what_ran_where_and_when(path: object) -> None:
    text = (RESULTS / f"{path.stem}.txt").read_text(encoding="utf-8")  # type: ignore[attr-defined]
    facts = dict(re.findall(r"^# (\w+): (.*)$", text, re.MULTILINE))
    assert {"command", "processor", "cores", "system", "versions", "run"} <= facts.keys()
    assert (ROOT / facts["command"].split()[1]).exists()
    assert re.search(r"^# run: \d{4}-\d\d-\d\d \d\d:\d\d UTC, load before \S+\n.+", text, re.MULTILINE)


def test_every_comparison_of_the_files_is_on_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    rows = runpy.run_path(str(ROOT / "docs" / "benchmark_rows.py"))
    page = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    for name in ("against_pinocchio", "dynamics"):
        last = rows["read"](name).runs[-1]
        compared = re.findall(r"^(\S.*?) +[\d.]+ ns +[\d.]+ ns +[\d.]+x ", last, re.MULTILINE)
        assert len(compared) > 8
        for label in compared:
            assert f"| {label} |" in page, label


def test_no_program_that_is_compared_is_called_missing() -> None:
    assert "not installed" not in (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
