import io
import logging
import sys

import pytest

from linkwise.server import status
from linkwise.server.log import LOG
from linkwise.server.scheduler import Counts
from linkwise.server.status import Status


class Screen(io.StringIO):
    def __init__(self, terminal: bool) -> None:
        super().__init__()
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal


class AServer:
    state = "serving"
    counts = {"sessions": 3}  # noqa: RUF012
    stopped = 0
    last_refusal = ""


def test_the_line_tells_the_rate_since_the_last_one() -> None:
    counts = Counts()
    told = Status(counts, AServer(), Screen(True))  # type: ignore[arg-type]
    told.line(10.0)
    counts.cycles, counts.late, counts.overruns, told.unsolved = 1500, 2, 1, 4
    assert told.line(12.0) == "  750.0 Hz  1,500 cycles  2 late  1 overruns  4 unsolved  3 clients"
    assert told.line(13.0).startswith("    0.0 Hz  1,500 cycles")
    assert Status(counts, None, Screen(True)).line(1.0).endswith("0 unsolved")


def looks(told: Status, caplog: pytest.LogCaptureFixture) -> list[tuple[int, str]]:
    """What one look at the run logs."""
    caplog.clear()
    told.look()
    return [(record.levelno, record.getMessage()) for record in caplog.records]


def test_what_becomes_of_the_server_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, LOG.name)
    server = AServer()
    told = Status(Counts(), server, Screen(False))  # type: ignore[arg-type]
    levels = []
    for server.state in ("serving", "stalled", "stalled", "serving", "ended", "ended"):
        levels.append([level for level, _ in looks(told, caplog)])
    assert levels == [[], [logging.ERROR], [], [logging.INFO], [logging.ERROR], []]


def test_faults_of_the_cycle_and_refused_writes_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    """When cycles begin and when they cease to be unsolved; each time that deadlines are missed or a write is refused."""
    caplog.set_level(logging.INFO, LOG.name)
    server, counts = AServer(), Counts()
    told = Status(counts, server, Screen(False), lambda: "unreachable")  # type: ignore[arg-type]
    assert looks(told, caplog) == []
    told.unsolved, counts.cycles = 3, 1234
    ((level, text),) = looks(told, caplog)
    assert level == logging.WARNING
    assert "1,234" in text
    assert "unreachable" in text
    told.unsolved = 57
    assert looks(told, caplog) == []
    ((level, text),) = looks(told, caplog)
    assert (level, "57" in text) == (logging.INFO, True)
    assert looks(told, caplog) == []
    counts.overruns, server.stopped, server.last_refusal = 2, 1, "port 'a.b' is given 3"
    lines = looks(told, caplog)
    assert [level for level, _ in lines] == [logging.WARNING] * 3
    assert [word in text for word, (_, text) in zip(("2", "1", "port 'a.b' is given 3"), lines, strict=True)] == [True] * 3
    assert looks(told, caplog) == []


def test_only_a_terminal_gets_the_line_and_it_is_wiped_at_the_end(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(status, "EVERY", 0.005)
    server = AServer()
    server.state = "stalled"
    interval = sys.getswitchinterval()
    for terminal in (True, False):
        screen = Screen(terminal)
        caplog.clear()
        with Status(Counts(), server, screen):  # type: ignore[arg-type]
            deadline = 2000
            while not (caplog.records and (not terminal or screen.getvalue())) and deadline:
                deadline -= 1
                status.time.sleep(0.005)
        assert [record.levelno for record in caplog.records] == [logging.ERROR]
        assert ("Hz" in screen.getvalue()) is terminal
        assert screen.getvalue().endswith("\r\x1b[K") is terminal
    assert sys.getswitchinterval() == interval


def test_a_terminal_that_is_closed_ends_nothing(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    """What is written to it is an error, in the thread beside the cycle and at the end."""

    class Closed(Screen):
        tried = 0

        def write(self, text: str) -> int:
            self.tried += 1
            raise OSError(5, "Input/output error")

    monkeypatch.setattr(status, "EVERY", 0.005)
    screen = Closed(True)
    with Status(Counts(), None, screen) as told:
        deadline = 2000
        while screen.tried < 3 and deadline:
            deadline -= 1
            status.time.sleep(0.005)
        assert told._thread.is_alive()
    assert screen.tried >= 3
