import io
import sys

from linkwise.control.serve import status
from linkwise.control.serve.status import Status
from linkwise.control.serve.timing import Counts


class Screen(io.StringIO):
    def __init__(self, terminal: bool) -> None:
        super().__init__()
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal


class AServer:
    state = "serving"
    counts = {"sessions": 3}  # noqa: RUF012


def test_the_line_tells_the_rate_since_the_last_one() -> None:
    counts = Counts()
    told = Status(counts, AServer(), Screen(True))  # type: ignore[arg-type]
    told.line(10.0)
    counts.cycles, counts.late, counts.overruns, told.unsolved = 1500, 2, 1, 4
    assert told.line(12.0) == "  750.0 Hz  1,500 cycles  2 late  1 overruns  4 unsolved  3 clients"
    assert told.line(13.0).startswith("    0.0 Hz  1,500 cycles")
    assert Status(counts, None, Screen(True)).line(1.0).endswith("0 unsolved")


def test_what_becomes_of_the_server_is_told_once() -> None:
    server = AServer()
    told = Status(Counts(), server, Screen(False))  # type: ignore[arg-type]
    said = []
    for server.state in ("serving", "stalled", "stalled", "serving", "ended", "ended"):
        said.append(told.news())
    assert said == [
        "",
        "The server does not respond; the cycle goes on.",
        "",
        "The server responds again.",
        "The server has ended; the cycle goes on without.",
        "",
    ]


def test_only_a_terminal_gets_the_line_and_it_is_wiped_at_the_end(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(status, "EVERY", 0.005)
    server = AServer()
    server.state = "stalled"
    interval = sys.getswitchinterval()
    for terminal in (True, False):
        screen = Screen(terminal)
        with Status(Counts(), server, screen):  # type: ignore[arg-type]
            deadline = 2000
            while "respond" not in screen.getvalue() and deadline:
                deadline -= 1
                status.time.sleep(0.005)
        assert "The server does not respond; the cycle goes on.\n" in screen.getvalue()
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
