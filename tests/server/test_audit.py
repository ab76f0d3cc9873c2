"""The record of who wrote what: whole lines, on the disk, whatever ends the process that writes them."""

import asyncio
import json
import math
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np
import pytest

from linkwise.control.port import Port
from linkwise.control.ports import Ports
from linkwise.errors import FileError
from linkwise.server import AuditLog, AuditRecord, audit, read_audit
from linkwise.server.shared_memory import Outcome, Sender
from linkwise.server.writes import Author, ClientWrites, Write

RECORD = AuditRecord("2026-11-27T12:00:00.000000+00:00", "anna", "", "view", "write", "tool.x", 0.5, math.inf, "accepted")
ENDLESS = """
import sys
from linkwise.server.audit import AuditLog, AuditRecord
log = AuditLog(sys.argv[1])
print("ready", flush=True)
for k in range(10**9):
    log.append([AuditRecord("t", sys.argv[2], "", "view", "write", "tool.x", k, "x" * (k % 3000), "accepted")] * 3)
"""


@pytest.fixture(autouse=True)
def private_files():
    """Files that the tests write themselves are open to their owner alone."""
    before = os.umask(0o077)
    yield
    os.umask(before)


@pytest.mark.skipif(os.name != "posix", reason="modes of files")
@pytest.mark.parametrize("mode", [0o644, 0o640, 0o606, 0o660])
def test_a_file_that_is_open_to_others_is_refused_and_left_as_it_is(mode: int, tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    path.write_text(RECORD.line() + "{")
    path.chmod(mode)
    with pytest.raises(FileError, match=f"open to others .mode {mode:o}.; expected 600: chmod 600"):
        AuditLog(path)
    assert path.read_text() == RECORD.line() + "{"
    path.chmod(0o600)
    AuditLog(path).close()


def test_records_come_back_and_are_appended_to_what_is_there(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    for old in (1.0, 2.0):
        log = AuditLog(path)
        log.append([replace(RECORD, old=old), replace(RECORD, port=None, new=[math.nan, -math.inf, 1.0], user="\ud800ö")])
        log.close()
    records = read_audit(path)
    assert [record.old for record in records] == [1.0, 0.5, 2.0, 0.5]
    assert records[0].new == "inf"
    assert records[1].new == ["nan", "-inf", 1.0]
    assert path.stat().st_mode & 0o777 == 0o600 or os.name != "posix"


def test_half_a_line_is_cut_off_when_the_file_is_opened_again(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    whole = RECORD.line().encode()
    for torn in (whole[:30], b"", whole[:-1]):
        path.write_bytes(whole + torn)
        assert len(read_audit(path)) == 1
        log = AuditLog(path)
        assert path.read_bytes() == whole
        log.append([RECORD])
        log.close()
        assert path.read_bytes() == whole * 2


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_two_processes_that_are_killed_leave_whole_lines(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    writers = [
        subprocess.Popen([sys.executable, "-c", ENDLESS, str(path), name], stdout=subprocess.PIPE)
        for name in ("anna", "bea")
    ]
    for writer in writers:
        assert writer.stdout is not None
        writer.stdout.readline()
    time.sleep(0.2)
    for writer in writers:
        writer.send_signal(signal.SIGKILL)
        writer.communicate()
    AuditLog(path).close()
    lines = path.read_text().splitlines()
    assert {json.loads(line)["user"] for line in lines} == {"anna", "bea"}
    for name in ("anna", "bea"):
        counted = [json.loads(line)["old"] for line in lines if json.loads(line)["user"] == name]
        assert counted == sorted(counted)
        assert set(counted[: len(counted) // 3 * 3]) == set(range(len(counted) // 3))


def test_what_could_not_be_written_leaves_the_file_as_it_was_and_is_written_first_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "audit.jsonl"
    log = AuditLog(path)
    log.append([RECORD])
    write = os.write

    def full(file: int, data: bytes) -> int:
        if len(data) > 10:
            return write(file, data[:10])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(audit.os, "write", full)
    with pytest.raises(FileError, match="No space left"):
        log.append([replace(RECORD, user="b", action="")])
    assert path.read_text() == RECORD.line()
    monkeypatch.undo()
    log.append([replace(RECORD, user="c")])
    assert [record.user for record in read_audit(path)] == ["anna", "b", "c"]


def test_half_a_line_of_another_process_is_cut_off_before_the_next_line(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    log = AuditLog(path)
    log.append([RECORD])
    with path.open("ab") as torn:
        torn.write(RECORD.line().encode()[:40])
    log.append([replace(RECORD, user="b")])
    assert [record.user for record in read_audit(path)] == ["anna", "b"]


def test_a_write_is_on_record_though_its_client_has_gone(tmp_path: Path) -> None:
    path, ports = tmp_path / "audit.jsonl", Ports([Port("tool.height", "in")])

    class Mailbox:
        taken = 0

        def post(self, place: int, numbers: list[float]) -> int:
            return 1

        def outcome(self, ticket: int) -> Outcome:
            self.taken += 1
            return Outcome.accepted if self.taken > 3 else Outcome.waiting

        def numbers(self, ticket: int) -> list[float]:
            return [0.25]

    async def leave() -> None:
        writes = ClientWrites(ports, cast("Sender", Mailbox()), 1.0, AuditLog(path))
        client = asyncio.create_task(writes.send([Write("tool.height", np.array([0.5]))], Author("anna", "", "opcua")))
        await asyncio.sleep(0)
        client.cancel()
        await writes.finish()

    asyncio.run(leave())
    (record,) = read_audit(path)
    assert (record.user, record.old, record.new, record.outcome) == ("anna", 0.25, 0.5, "accepted")


@pytest.mark.parametrize(
    "content", [b'{"name": "arm"}', b'{\n "name": "arm"\n}', b"time,user\n1,anna\n", b"\x00" * (audit.LONGEST_LINE + 1)]
)
def test_another_file_is_not_appended_to(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "other"
    path.write_bytes(content)
    with pytest.raises(FileError, match=r"other: .*audit log"):
        AuditLog(path)
    assert path.read_bytes() == content


def test_a_line_that_is_no_record_is_named(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    path.write_text(RECORD.line() + '{"time": 1}\n')
    with pytest.raises(FileError, match="2: is no record"):
        read_audit(path)
    with pytest.raises(FileError):
        AuditLog(tmp_path / "no" / "folder")
