import csv
import json
import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from linkwise.cli import app
from linkwise.control import load
from linkwise.control.recorder import Recorder


@pytest.fixture
def chain(tmp_path: Path) -> Path:
    """Two links that hold their tool at a place."""
    from linkwise import Link, Mechanism, control

    links = [Link.dh(a=a, convention="standard", name=name) for a, name in ((0.3, "upper"), (0.2, "fore"))]
    made = control.Chain(
        Mechanism(links, name="arm"), control.MovingPosition("target", "tool", [0.3, 0.25, 0.0]), q0=[0.1, 1.0], period=0.002
    )
    made.write(tmp_path / "arm.toml")
    return tmp_path / "arm.toml"


Run = Callable[..., Any]


@pytest.fixture(autouse=True)
def there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "COMMANDS", tuple(dict.fromkeys((*app.COMMANDS, "serve"))))


def test_a_chain_runs_at_its_own_rate_for_as_long_as_is_said(linkwise: Run, chain: Path) -> None:
    told = linkwise("serve", chain, "--no-opcua", "--time", 0.1)
    assert told.status == 0, told.err
    first, lateness, step = told.out.splitlines()
    assert first.startswith("50 cycles, one each 2 ms; ")
    assert first.endswith(" 0 unsolved")
    assert lateness.startswith("began after the deadline: median ")
    assert step.startswith("step: median ")


def test_the_summary_as_json(linkwise: Run, chain: Path) -> None:
    told = linkwise("serve", chain, "--no-opcua", "--time", 0.05, "--rate", 400, "--json")
    found = json.loads(told.out)
    assert (found["period"], found["cycles"], found["unsolved"], found["ended"]) == (0.0025, 20, 0, "cycles")
    assert "server" not in found


def test_cycles_that_are_not_solved_are_counted(linkwise: Run, chain: Path) -> None:
    far = chain.read_text().replace("0.25", "2.5")
    assert far != chain.read_text()
    chain.write_text(far)
    found = json.loads(linkwise("serve", chain, "--no-opcua", "--time", 0.02, "--json").out)
    assert found["unsolved"] == found["cycles"] == 10


def test_the_list_of_ports(linkwise: Run, chain: Path) -> None:
    told = linkwise("serve", chain, "--time", 0, "--list")
    assert told.out.rstrip("\n") == load(chain).ports.table()


def test_what_it_did_is_recorded_from_where_the_file_begins(linkwise: Run, chain: Path) -> None:
    """Trying the step before the first cycle leaves no trace: the first row is as of a chain just loaded."""
    told = linkwise("serve", chain, "--no-opcua", "--time", 0.02, "--record", "run.npz")
    assert told.out.splitlines()[-1] == "wrote run.npz: 10 cycles"
    made = load(chain)
    recorder = made.record(10)
    for _ in range(10):
        made.step(0.002)
    seen = Recorder.load("run.npz")
    for name in ("chain.cycle", "upper.theta_solved", "tool.solved_position"):
        assert (seen.read(name) == recorder.read(name)).all()
    linkwise("serve", chain, "--no-opcua", "--time", 0.02, "--record", "run.csv")
    with open("run.csv", newline="") as file:
        assert len(list(csv.reader(file))) >= 10


def test_served_over_opc_ua(linkwise: Run, chain: Path) -> None:
    pytest.importorskip("asyncua")
    told = linkwise("serve", chain, "--port", 0, "--time", 0.05)
    assert told.status == 0, told.err
    lines = told.out.splitlines()
    assert lines[0].startswith("serving at opc.tcp://127.0.0.1:")
    assert lines[1] == "nobody may write: no --users given"
    assert lines[-1] == "writes of clients: 0 accepted, 0 refused"


def test_a_user_is_added_and_the_password_stands_nowhere(linkwise: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    os.write(writing, b"correct horse\n")
    os.close(writing)
    with os.fdopen(reading) as given:
        monkeypatch.setattr(sys, "stdin", given)
        told = linkwise("serve", "--users", "users.txt", "--add-user", "anna", "--role", "viewer")
    assert (told.status, told.out) == (0, "anna (viewer) is in users.txt\n")
    text = Path("users.txt").read_text()
    assert "\nanna viewer scrypt " in text
    assert "correct" not in text
    if os.name == "posix":
        assert stat.S_IMODE(Path("users.txt").stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["nowhere.toml"], "there is no such file"),
        ([], "Missing argument 'CHAIN.toml'"),
        (["--add-user", "anna"], "--add-user needs --users FILE"),
        (["arm.toml", "--rate", "0"], "0 is not from 0.001 to 100000"),
        (["arm.toml", "--rate", "nan"], "nan is not from"),
        (["arm.toml", "--host", "0.0.0.0"], "host '0.0.0.0' is reached from other machines"),
        (["arm.toml", "--users", "nobody.txt"], "cannot be read: No such file"),
        (["arm.toml", "--publish", "0"], "publish is 0"),
        (["arm.toml", "--record", "run.txt"], "run.txt is neither .csv nor .npz"),
        (["arm.toml", "--record", "no/run.csv"], "there is no folder no"),
    ],
)
def test_what_cannot_be_is_told_in_a_line(linkwise: Run, chain: Path, arguments: list[str], told: str) -> None:
    pytest.importorskip("asyncua")
    found = linkwise("serve", *arguments, *(["--time", "0.01"] if "--time" not in arguments else []))
    assert found.status == 2
    assert told in found.err
    assert "Traceback" not in found.err


def test_a_file_that_is_no_chain(linkwise: Run, chain: Path) -> None:
    chain.write_text("links = 3\n")
    found = linkwise("serve", chain, "--time", 0)
    assert found.status == 2
    assert "Error" in found.err
