"""A call with --json that fails: the error as the one document on the output, the words for people as always."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Told


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("show", "nobody", "--json"), "there is no file 'nobody'"),
        (("ik", "puma560", "--position", "1", "--json"), "--position: '1' is 1 numbers"),
        (("--json", "show"), "No such option"),
        (("simulated", "--json"), "No command 'simulated'"),
        (("simulate", "puma560", "--json", "--time", "-1"), "--time"),
    ],
)
def test_the_error_is_the_document(linkwise: Callable[..., Told], words: tuple[str, ...], message: str) -> None:
    told = linkwise(*words)
    facts = json.loads(told.out)
    assert list(facts) == ["error"]
    assert message in facts["error"]
    assert told.status == 2
    assert "Error: " in told.err


def test_of_a_file_with_its_lines(linkwise: Callable[..., Told], tmp_path: Path) -> None:
    (tmp_path / "swing.csv").write_text("t,q1,q2\n0,1,2\n")
    told = linkwise("run", "planar_2r", "swing.csv", "--no-figures", "--json")
    facts = json.loads(told.out)
    assert facts["file"] == "swing.csv"
    assert [problem["line"] for problem in facts["problems"]] == [1]
    assert facts["problems"][0]["message"].startswith("positions alone")


def test_no_second_document_follows_the_first(linkwise: Callable[..., Told], tmp_path: Path) -> None:
    (tmp_path / "there").write_text("")
    told = linkwise("ik", "planar_3r", "--position", "1,1,0", "--mask", "translation", "--json", "-o", "there/joints.csv")
    assert told.status == 2
    assert "answers" in json.loads(told.out)
    assert "Error: " in told.err


def test_without_json_the_output_stays_empty(linkwise: Callable[..., Told]) -> None:
    assert linkwise("show", "nobody").out == ""
    assert linkwise("show", "--", "--json").out == ""  # the name of a file


@pytest.mark.parametrize(
    "words",
    [
        ("check", "arm.toml"),
        ("ik", "arm.toml", "--position", "0.1,0.1,0.1"),
        ("workspace", "planar_2r", "--samples", "2000"),
    ],
)
def test_the_mechanism_has_one_key(linkwise: Callable[..., Told], arm_file: Path, words: tuple[str, ...]) -> None:
    assert json.loads(linkwise(*words, "--json").out)["mechanism"] in {"arm", "planar_2r"}
