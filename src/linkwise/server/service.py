"""A server process as seen from the control process: shared memory, and calls that never block."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any, ClassVar, Literal, Protocol, Self, TypeAlias

import numpy as np

from linkwise.control.port import Port
from linkwise.control.ports import Ports
from linkwise.control.state import State as ChainState
from linkwise.errors import ArgumentError, LinkwiseError
from linkwise.server import shared_memory as memory
from linkwise.server.audit import AuditLog
from linkwise.server.authentication import read_users
from linkwise.server.log import LOG
from linkwise.server.settings import ServerSettings
from linkwise.server.shared_memory import ChainCommand, MemoryLayout, Publisher, Receiver, SharedMemory
from linkwise.server.watchdog import Watchdog
from linkwise.server.watches import WatchedValue
from linkwise.spatial.validation import number_within

State: TypeAlias = Literal["serving", "stalled", "ended"]

#: Greatest start-up time of a server, s; one or two are usual.
STARTING = 120.0

#: A server that has not looked at the values for so long is reported as stalled, s.
STALLED = 2.0

#: Counts of client activity: words of the shared memory, there in capital letters.
_COUNTED = ("sessions", "connections", "accepted", "refused", "expired", "broken", "denied", "turned_away")

_PACKAGES = str(Path(__file__).resolve().parents[2])
_BEGIN = "import sys; sys.path.insert(0, sys.argv[1]); from linkwise.server.worker import main; main()"


class ServerError(LinkwiseError):
    """A server that could not start, with the reason."""


class Resettable(Protocol):
    """Interface of objects that can be restored: a `Chain`."""

    def reset(self) -> None:
        """Begin again."""

    def save(self) -> ChainState:
        """Copy the complete state."""

    def restore(self, saved: ChainState, /) -> None:
        """Go on from there."""


class Service:
    """Ports served by a separate process for which the cycle never waits: common part of OPC UA and the live view.

    Call `take` before each cycle and `publish` after it. Should the process end or stand still, both go on as before, and
    `state` reports it. It ends with this process, however that ends.

    Parameters
    ----------
    ports : Ports
        What is served. Which inputs are routed is looked at now; those are read-only.
    chain : Resettable, optional
        What clients may reset, save and restore.
    host, port
        Where to listen; port 0 lets the system choose.
    users : path, optional
        File of those who may write inputs. Without it no client may.
    audit : path, optional
        File of who wrote what, see `AuditLog`.
    name : str
        Name of the chain.
    publish : float
        How often a second clients see new values.
    stale : float
        After so many seconds without a cycle the values are old, and what clients wrote meanwhile is void.
    connections : int
        The most at a time.
    hold_after : float, optional
        A velocity or speed that a client wrote is set to zero when it was not written for so many seconds.
    watches : sequence of WatchedValue
        What is counted for events.
    settings : callable
        Gives those of the kind of server, for its ``settings_type``; called last, for it may make files.

    Attributes
    ----------
    address : str
        Where it is served.
    """

    address: str
    #: The function that serves, ``module:name``, in the process of the server.
    serve: ClassVar[str] = ""
    settings_type: ClassVar[type[ServerSettings]] = ServerSettings

    def __init__(
        self,
        ports: Ports,
        *,
        chain: Resettable | None,
        host: str,
        port: int,
        users: str | Path | None,
        audit: str | Path | None,
        name: str,
        publish: float,
        stale: float,
        connections: int,
        hold_after: float | None = None,
        watches: Sequence[WatchedValue] = (),
        settings: Callable[[], dict[str, Any]],
    ) -> None:
        ranges = {"port": (port, 0, 65535), "publish": (publish, 0.1, 1000), "stale": (stale, 0.01, 3600)}
        ranges |= {
            "connections": (connections, 1, 500),
            "hold_after": (1.0 if hold_after is None else hold_after, 1e-3, 3600),
        }
        for key, (value, least, most) in ranges.items():
            number_within(key, value, least, most, f"a number from {least:g} to {most:g}")
        _see_free(host, port)
        known = read_users(users) if users is not None else ()
        if audit is not None:
            AuditLog(audit).close()  # (an error of the file is raised here, before the service starts)
        special = settings()
        width = max((entry.size for _, entry in ports.items()), default=1)
        layout = MemoryLayout(len(ports.values), width, watched=len(watches))
        self._ports, self._memory, self._chain = ports, SharedMemory(layout), chain
        self._names = [key for key, entry in ports.items() if entry.direction == "in"]
        self._words, self._last = self._memory.words, ""
        self._saved: ChainState | None = None
        self._receiver = Receiver(self._memory, self._accept, lifetime=stale)
        places = [(ports.slice_of(watch.port).start, watch.value) for watch in watches]
        self._publish, self.take = Publisher(self._memory, ports.values, watches=places).publish, self._receiver.take
        self._watchdog = None if hold_after is None else Watchdog(ports, hold_after)
        if self._watchdog is not None:
            self.take = self._take_and_look
        self.publish()
        common = self.settings_type(
            ports=tuple(entry for _, entry in ports.items()), routed=tuple(ports.routes), layout=layout,
            handle=self._memory.handle, watches=tuple(watches), name=name, host=host, port=port, publish=publish,
            stale=stale, connections=connections, users=known, audit="" if audit is None else str(Path(audit).absolute()),
            parent=os.getpid(), **special,
        )  # fmt: skip
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  (the child writes to it as long as it lives)
        self._process = self._started(common)
        self._answer: dict[str, Any] = {}
        self._answered = threading.Event()
        self._listening = threading.Thread(target=self._listen, daemon=True)
        self._listening.start()
        shown_host = f"[{host}]" if ":" in host else host
        self.authority = f"{shown_host}:{self._begun(host, port)}"

    def publish(self) -> None:
        """Publish the values after a cycle, and acknowledge the writes that it applied."""
        self._publish()
        if self._receiver.taken:
            self._receiver.tell()

    def _take_and_look(self) -> None:
        """Apply writes of clients, and stop velocities that clients no longer update."""
        self._receiver.take()
        if self._watchdog is not None:
            self._watchdog.look()

    @property
    def stopped(self) -> int:
        """Number of velocities that the watchdog set to zero."""
        return 0 if self._watchdog is None else self._watchdog.stopped

    @property
    def state(self) -> State:
        """State of the server: serving, stalled or ended."""
        if self._process.poll() is not None:
            return "ended"
        return "stalled" if time.monotonic_ns() - self._words[memory.HEARTBEAT] > STALLED * 1e9 else "serving"

    @property
    def counts(self) -> dict[str, int]:
        """Counts of client activity.

        Who is there: ``sessions``, ``connections``. Writes: ``accepted`` by the ports, ``refused`` by them, ``denied`` by
        the server (no right, an output, a wrong type, out of bounds), ``expired``, ``broken``. Connections ``turned_away``.
        """
        return {name: int(self._words[getattr(memory, name.upper())]) for name in _COUNTED}

    @property
    def last_refusal(self) -> str:
        """Reason of the last rejected write; empty if there was none."""
        return self._last

    def close(self) -> None:
        """Stop the server; it is killed after a few seconds."""
        process = self._process
        if process.stdin is not None and not process.stdin.closed:
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()
        try:
            process.wait(5.0)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        self._listening.join(1.0)  # (it ends with the process)
        if process.stdout is not None:
            process.stdout.close()
        self._errors.close()
        self._memory.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _accept(self, place: int, numbers: memoryview[float]) -> bool:
        """Apply one write to an input, restoring the previous value on failure, or one command. Return the success."""
        try:
            if place < 0:
                self._command(ChainCommand(place))
                return True
            name = self._write(place, numbers)
        except LinkwiseError as error:
            self._last = str(error)
            return False
        if self._watchdog is not None:
            self._watchdog.written(name)
        return True

    def _write(self, place: int, numbers: memoryview[float]) -> str:
        """Write to an input, by its place among them; its name."""
        if not 0 <= place < len(self._names):
            raise ArgumentError(f"there is no input {place}; there are {len(self._names)}")
        name = self._names[place]
        port = self._ports[name]
        before = self._ports.view(name).ravel().tolist()
        if port.kind == "float":  # (part of the port's own check, which takes twice as long)
            self._ports.write(name, np.array(numbers[: port.size]).reshape(port.shape) if port.shape else numbers[0])
        else:
            self._write_checked(name, port, numbers)
        for k, number in enumerate(before):
            numbers[k] = number
        return name

    def _write_checked(self, name: str, port: Port, numbers: memoryview[float]) -> None:
        value = np.array(numbers[: port.size]).reshape(port.shape)
        if not port.admits(value):
            raise ArgumentError(f"port {name!r} is given {value.tolist()}; expected {port.expected}")
        self._ports.write(name, port.decode(value))

    def _command(self, command: ChainCommand) -> None:
        """Reset, save or restore the chain."""
        if self._chain is None:
            raise ArgumentError(f"there is no chain to {command.name}")
        if command is ChainCommand.reset:
            self._chain.reset()
        elif command is ChainCommand.save:
            self._saved = self._chain.save()
        elif self._saved is None:
            raise ArgumentError("there is nothing to restore: nothing was saved since the server began")
        else:
            self._chain.restore(self._saved)
            if self._watchdog is not None:
                self._watchdog.restored()

    def _started(self, settings: ServerSettings) -> subprocess.Popen[bytes]:
        """Start the child process."""
        inherited: dict[str, Any] = {"pass_fds": (settings.handle,)} if isinstance(settings.handle, int) else {}
        process = subprocess.Popen(
            [sys.executable, "-P", "-c", _BEGIN, _PACKAGES, self.serve],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            **inherited,
        )
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # (then it has ended already; why is found below)
            process.stdin.write(pickle.dumps(settings).hex().encode() + b"\n")
            process.stdin.flush()
        return process

    def _listen(self) -> None:
        """Read messages of the child: its address or error, then its log."""
        stdout = self._process.stdout
        assert stdout is not None
        for line in stdout:
            message = _object(line)
            if "log" in message:
                LOG.log(int(message["level"]), "%s", message["log"])
            elif not self._answered.is_set():
                self._answer = message
                self._answered.set()
            elif "error" in message:
                LOG.error("the server ended: %s", message["error"])
        self._answered.set()

    def _begun(self, host: str, port: int) -> int:
        """Wait until the child listens; at which port."""
        try:
            self._answered.wait(STARTING)
        except BaseException:
            self._process.kill()
            self.close()
            raise
        answer = self._answer
        if "port" in answer:
            return int(answer["port"])
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1.0)
        self._process.kill()
        self._process.wait()
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines() or ["no answer"]
        self.close()
        raise ServerError(f"no server at {host}:{port}: {answer.get('error') or lines[-1]}")


def _object(line: bytes) -> dict[str, Any]:
    """Parse a line of the child; empty if it is not an object."""
    try:
        message = json.loads(line)
    except ValueError:
        message = None
    return message if isinstance(message, dict) else {}


def _see_free(host: str, port: int) -> None:
    """See that one can listen there, before a process is started for it."""
    try:
        family, kind, _, _, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as probe:
            if os.name == "posix":
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(where)
    except OSError as error:
        raise ServerError(f"no server at {host}:{port}: {error.strerror or error}") from error
