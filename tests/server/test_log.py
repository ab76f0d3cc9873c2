"""The server's log: who came, who was let in or refused, what went wrong; bounded, and without any password."""

import asyncio
import logging
import socket
import threading
import time

import pytest

from linkwise.server.log import LINES, LOG, WAITING, WINDOW, LimitedLog, Relay

SECRET = "wrong staple battery"


def test_of_each_kind_there_are_few_lines_and_then_their_number() -> None:
    lines: list[tuple[int, str]] = []
    now = [0.0]
    log = LimitedLog(lambda level, text: lines.append((level, text)), clock=lambda: now[0])
    for k in range(1000):
        log("connection", f"connection {k}", logging.WARNING if k == 700 else logging.INFO)
    log("login", "login")
    assert [text for _, text in lines] == [*(f"connection {k}" for k in range(LINES)), "login"]
    now[0] = WINDOW
    log.flush()
    ((level, text),) = lines[LINES + 1 :]
    assert level == logging.WARNING
    assert f"{1000 - LINES}" in text
    log("connection", "again")
    assert lines[-1] == (logging.INFO, "again")


def test_lines_that_nobody_takes_are_lost_and_hold_nobody_up() -> None:
    """The writing waits; the first line is in its hands, the others in the queue, and no more are kept."""
    begun, goes_on, lines = threading.Event(), threading.Event(), list[str]()

    def write(level: int, text: str) -> None:
        begun.set()
        goes_on.wait(30)
        lines.append(text)
        if text == "last":
            ended.set()

    ended = threading.Event()
    relay = Relay(write)
    relay(logging.INFO, "first")
    assert begun.wait(30)
    for k in range(2 * WAITING):
        relay(logging.INFO, f"{k}")
    goes_on.set()
    deadline = time.monotonic() + 30
    while len(lines) < 1 + WAITING:
        assert time.monotonic() < deadline
        time.sleep(0.001)
    relay(logging.INFO, "last")
    assert ended.wait(30)
    assert lines == ["first", *(f"{k}" for k in range(WAITING)), "last"]


def test_clients_and_logins_are_named_and_no_password(
    users: "object", caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("asyncua")
    from asyncua import ua
    from asyncua.ua.uaerrors import UaStatusCodeError

    from support.served_chain import PASSWORD, Running, client, until, write

    caplog.set_level(logging.INFO, LOG.name)

    def has(*words: str) -> object:
        return until(lambda: [r for r in caplog.records if r.name == LOG.name and all(w in r.getMessage() for w in words)])

    with Running(users=users) as running:
        address = running.server.address

        async def visit(name: str | None, password: str | None) -> None:
            async with client(address, name, password) as one:
                await write(one, "target.position", [1.0, 2.0, 3.0])

        asyncio.run(visit("anna", PASSWORD))
        assert has("connection from 127.0.0.1:", "ended")
        assert has("login of 'anna' (operator) from 127.0.0.1:", "accepted")
        asyncio.run(visit("victor", PASSWORD))
        assert has("write by 'victor' from 127.0.0.1:", "refused")
        asyncio.run(visit(None, None))
        assert has("session without a name from 127.0.0.1:", "accepted")
        for name in ("anna", "a\nb\x1b[2J"):
            with pytest.raises(UaStatusCodeError) as refused:
                asyncio.run(visit(name, SECRET))
            assert refused.value.code == ua.StatusCodes.BadUserAccessDenied
            (record, *_) = has(f"login of {name!r} from 127.0.0.1:", "refused", "BadUserAccessDenied")  # type: ignore[misc]
            assert record.levelno == logging.WARNING
        host, port = address.removeprefix("opc.tcp://").split("/")[0].rsplit(":", 1)
        with socket.create_connection((host, int(port))) as junk:
            junk.sendall(b"GET / HTTP/1.1\r\n\r\n")
            assert has(f"connection from 127.0.0.1:{junk.getsockname()[1]}", "cut off")
    text = "\n".join(record.getMessage() for record in caplog.records)
    assert PASSWORD not in text
    assert SECRET not in text
    assert "\x1b" not in text
