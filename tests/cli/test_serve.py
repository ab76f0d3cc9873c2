import csv
import json
import os
import re
import stat
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from linkwise.control import load
from linkwise.control.recording import Recorder


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Two links that hold their tool at a place."""
    from linkwise import Link, Mechanism, control

    links = [Link.dh(a=a, convention="standard", name=name) for a, name in ((0.3, "upper"), (0.2, "fore"))]
    made = control.Chain(
        Mechanism(links, name="arm"), control.MovingPosition("target", "tool", [0.3, 0.25, 0.0]), q0=[0.1, 1.0], period=0.002
    )
    path = tmp_path_factory.mktemp("chain") / "arm.toml"
    made.write(path)
    return path.read_text(encoding="utf-8")


@pytest.fixture
def chain(written: str, tmp_path: Path) -> Path:
    path = tmp_path / "arm.toml"
    path.write_text(written, encoding="utf-8")
    return path


Run = Callable[..., Any]


def test_a_chain_runs_at_its_own_rate_for_as_long_as_is_said(linkwise: Run, chain: Path) -> None:
    told = linkwise("serve", chain, "--no-opcua", "--time", 0.1)
    assert told.status == 0, told.err
    first, *_, lateness, step = told.out.splitlines()
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


def test_what_goes_wrong_is_in_the_log(linkwise: Run, chain: Path) -> None:
    """Once when it begins, with the reason; the log ends with the run."""
    chain.write_text(chain.read_text().replace("0.25", "2.5"))
    for _ in range(2):
        told = linkwise("serve", chain, "--no-opcua", "--time", 0.02)
        (line,) = [line for line in told.err.splitlines() if "unsolved" in line]
        assert re.match(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d WARNING .*: unreachable$", line)


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


def test_what_went_before_an_error_is_recorded(linkwise: Run, chain: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from linkwise.control import chain as of_chain

    step = of_chain.Chain.step

    def failing(self: Any, dt: float) -> bool:
        if self["chain.cycle"] >= 5:
            raise RuntimeError("the drive is gone")
        return step(self, dt)

    monkeypatch.setattr(of_chain.Chain, "step", failing)
    with pytest.raises(RuntimeError, match="the drive is gone"):
        linkwise("serve", chain, "--no-opcua", "--time", 1, "--record", "run.npz")
    assert len(Recorder.load("run.npz")) == 5


def test_where_there_is_no_room_is_told_at_once(linkwise: Run, chain: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from collections import namedtuple

    from linkwise.cli.commands import serve

    full = namedtuple("full", "total used free")(10_000, 9_000, 1_000)
    monkeypatch.setattr(serve.shutil, "disk_usage", lambda folder: full)
    told = linkwise("serve", chain, "--no-opcua", "--time", 1, "--record", "run.csv")
    assert told.status == 2
    assert "run.csv may need" in told.err
    assert not Path("run.csv").exists()


def test_the_room_is_enough_for_what_is_recorded(linkwise: Run, chain: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from linkwise.cli.commands import serve

    asked: list[int] = []
    seen = serve._check_room
    monkeypatch.setattr(serve, "_check_room", lambda path, size: asked.append(size) or seen(path, size))
    for name in ("run.csv", "run.npz"):
        assert linkwise("serve", chain, "--no-opcua", "--time", 0.2, "--record", name).status == 0
        header = 16_384  # of the columns' names
        assert Path(name).stat().st_size < asked.pop() + header


def test_a_rate_too_high_takes_no_longer_and_is_told(linkwise: Run, chain: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock is the real one; a step that lasts two periods and a half leaves out every second and third deadline."""
    from linkwise.cli.commands import serve
    from linkwise.control import chain as of_chain

    monkeypatch.setattr(serve, "ALLOWED", 0.0)

    step = of_chain.Chain.step

    def slow(self: Any, dt: float) -> bool:
        time.sleep(2.5 * dt)
        return step(self, dt)

    monkeypatch.setattr(of_chain.Chain, "step", slow)
    told = linkwise("serve", chain, "--no-opcua", "--rate", 200, "--time", 0.3)
    assert told.status == 0, told.err
    done = int(told.out.split(" cycles")[0])
    assert 1 <= done <= 60 / 2.5
    assert "the rate is too high for this machine: " in told.out


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
        (["arm.toml", "--rate", "0"], "0.0 is not in the range 0.001<=x<=100000.0"),
        (["arm.toml", "--rate", "nan"], "'nan' is not a finite number"),
        (["arm.toml", "--host", "0.0.0.0"], "host '0.0.0.0' is reached from other machines"),
        (["arm.toml", "--users", "nobody.txt"], "there is no such file"),
        (["arm.toml", "--publish", "0"], "0.0 is not in the range 0.1<=x<=1000"),
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
