"""The server process as seen from the control process: shared memory, calls that never block, and a watchdog.

The watchdog sets velocities that clients stop writing to zero.
"""

from __future__ import annotations

import contextlib
import ipaddress
import json
import os
import pickle
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Literal, Self, TypeAlias

import numpy as np

from linkwise.control.ports import Ports
from linkwise.errors import ArgumentError, LinkwiseError, MissingExtraError, install_hint
from linkwise.server import shared_memory as memory
from linkwise.server.authentication import read_users
from linkwise.server.log import LOG
from linkwise.server.settings import ServerSettings
from linkwise.server.shared_memory import MemoryLayout, Publisher, Receiver, SharedMemory
from linkwise.spatial.validation import number_within

#: The last words of the names of inputs that are speeds.
SPEEDS: tuple[str, ...] = (
    "velocity",
    "angular_velocity",
    "speed",
    "theta_speed",
    "d_speed",
    "joint_linear_velocity",
    "joint_angular_velocity",
)


class Watchdog:
    """Knows when each speed was last written, and lets none be older than it may.

    Parameters
    ----------
    ports : Ports
        The chain's; inputs that are speeds are looked after once a client has written them.
    after : float
        How old a speed may be, s.
    clock : callable
        The time, s.

    Attributes
    ----------
    stopped : int
        How often a speed was set to zero.

    Examples
    --------
    >>> from linkwise.control.port import Port
    >>> ports, now = Ports([Port("jog.velocity", "in", shape=(3,), unit="m/s")]), [0.0]
    >>> dog = Watchdog(ports, 0.5, clock=lambda: now[0])
    >>> ports.write("jog.velocity", [0.1, 0.0, 0.0])
    >>> dog.written("jog.velocity")
    >>> now[0] = 0.6
    >>> dog.look()
    >>> ports.read("jog.velocity").tolist(), dog.stopped
    ([0.0, 0.0, 0.0], 1)
    """

    def __init__(self, ports: Ports, after: float, clock: Callable[[], float] = time.monotonic) -> None:
        speeds = [name for name, port in ports.items() if port.direction == "in" and name.rpartition(".")[2] in SPEEDS]
        self._ports, self._after, self._clock = ports, after, clock
        self._speeds = frozenset(speeds)
        self._written: dict[str, float] = {}
        self.stopped = 0

    def written(self, name: str) -> None:
        """Note that a client has written an input."""
        if name in self._speeds:
            self._written[name] = self._clock()

    def look(self) -> None:
        """Set to zero what has not been written for too long; then it is left alone until it is written again."""
        if not self._written:
            return
        now = self._clock()
        for name in [name for name, then in self._written.items() if now - then > self._after]:
            del self._written[name]
            if name not in self._ports.routes:
                moved = bool(self._ports.view(name).any())
                self._ports.view(name)[...] = 0.0
                self.stopped += moved


State: TypeAlias = Literal["serving", "stalled", "ended"]

#: So long a server may take to begin, s; one or two are usual.
STARTING = 120.0

#: A server that has not looked at the values for so long is reported as stalled, s.
STALLED = 2.0

#: What clients did: words of the shared memory, there in capital letters.
_COUNTED = ("sessions", "connections", "accepted", "refused", "expired", "broken", "denied", "turned_away")

_PACKAGES = str(Path(__file__).resolve().parents[2])
_BEGIN = "import sys; sys.path.insert(0, sys.argv[1]); from linkwise.server.worker import main; main()"


class ServerError(LinkwiseError):
    """A server that could not begin; the message says why."""


class Server:
    """Ports over OPC UA, served by a process of its own that the cycle never waits for.

    Call `take` before each cycle and `publish` after it. Should the server end or stand still, both go on as before, and
    `state` reports it. The server ends with this process, however that ends.

    Parameters
    ----------
    ports : Ports
        What is served. Which inputs are routed is looked at now; those are read-only.
    name : str
        Of the folder in which clients find them.
    host : str
        The address to listen at. Anything but this machine's own (127.0.0.1, ::1) needs `certificates`.
    port : int
        0 lets the system choose; `address` has it.
    users : path, optional
        File of those who may write inputs. Without it no client may. A client without a name may read.
    certificates : path, optional
        Folder with ``certificate.der`` (or .pem) and ``key.pem``; made, self-signed, where it is empty or not there. With
        it clients must sign and encrypt, at whatever address.
    publish : float
        How often a second clients see new values.
    stale : float
        After so many seconds without a cycle the values are marked as old, and clients can write nothing. What they
        wrote and no cycle took within this time is void.
    connections : int
        The most at a time.
    hold_after : float, optional
        A velocity or speed that a client wrote is set to zero when it was not written for so many seconds; never if left
        out.

    Attributes
    ----------
    address : str
        Where it is served.
    encrypted_only : bool
        Whether clients must sign and encrypt.
    fingerprint : str
        SHA-256 of the certificate; empty without.

    Raises
    ------
    MissingExtraError
        Where asyncua is not installed.
    ArgumentError, FileError
        Where an argument or a file cannot be used.
    ServerError
        Where the server did not begin, such as at a port that is taken.

    Examples
    --------
    >>> from linkwise.control.port import Port
    >>> from linkwise.control.ports import Ports
    >>> ports = Ports([Port("target.x_wanted", "in", unit="m"), Port("tool.x_reached", "out", unit="m")])
    >>> with Server(ports, port=0) as server:  # doctest: +SKIP
    ...     timing = run(chain, 1e-3, before=server.take, after=server.publish)
    """

    def __init__(
        self,
        ports: Ports,
        *,
        name: str = "chain",
        host: str = "127.0.0.1",
        port: int = 4840,
        users: str | Path | None = None,
        certificates: str | Path | None = None,
        publish: float = 100.0,
        stale: float = 1.0,
        connections: int = 64,
        hold_after: float | None = None,
    ) -> None:
        _library()
        ranges = {"port": (port, 0, 65535), "publish": (publish, 0.1, 1000), "stale": (stale, 0.01, 3600)}
        ranges |= {"connections": (connections, 1, 500), "hold_after": (hold_after or 1.0, 1e-3, 3600)}
        for key, (value, least, most) in ranges.items():
            number_within(key, value, least, most, f"a number from {least:g} to {most:g}")
        host, local = _host(host)
        if not local and certificates is None:
            raise ArgumentError(
                f"host {host!r} is reached from other machines, which are served encrypted only:"
                f" name a folder for the certificate, or listen at 127.0.0.1"
            )
        _see_free(host, port)
        known = read_users(users) if users is not None else ()
        certificate = _certificate(certificates, host)
        self.encrypted_only, self.fingerprint = certificates is not None, certificate[2]
        layout = MemoryLayout(len(ports.values), max((entry.size for _, entry in ports.items()), default=1))
        self._ports, self._memory = ports, SharedMemory(layout)
        self._names = [key for key, entry in ports.items() if entry.direction == "in"]
        self._words, self._last = self._memory.words, ""
        self._receiver = Receiver(self._memory, self._accept, lifetime=stale)
        self._publish, self.take = Publisher(self._memory, ports.values).publish, self._receiver.take
        self._watchdog = None if hold_after is None else Watchdog(ports, hold_after)
        if self._watchdog is not None:
            self.take = self._take_and_look
        self.publish()
        settings = ServerSettings(
            tuple(entry for _, entry in ports.items()), tuple(ports.routes), layout, self._memory.handle, name, host, port,
            publish, stale, connections, known, certificate[0], certificate[1], self.encrypted_only, os.getpid(),
        )  # fmt: skip
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  (the child writes to it as long as it lives)
        self._process = self._started(settings)
        self._answer: dict[str, Any] = {}
        self._answered = threading.Event()
        self._listening = threading.Thread(target=self._listen, daemon=True)
        self._listening.start()
        shown_host = f"[{host}]" if ":" in host else host
        self.address = f"opc.tcp://{shown_host}:{self._begun(host, port)}/linkwise"

    def publish(self) -> None:
        """Put up the values as they are after a cycle, and tell what became of the writes that it took."""
        self._publish()
        if self._receiver.taken:
            self._receiver.tell()

    def _take_and_look(self) -> None:
        """Take what clients wrote, and stop what they no longer do."""
        self._receiver.take()
        if self._watchdog is not None:
            self._watchdog.look()

    @property
    def stopped(self) -> int:
        """How often a speed that was not written any more was set to zero."""
        return 0 if self._watchdog is None else self._watchdog.stopped

    @property
    def state(self) -> State:
        """Whether it serves, stands still or has ended."""
        if self._process.poll() is not None:
            return "ended"
        return "stalled" if time.monotonic_ns() - self._words[memory.HEARTBEAT] > STALLED * 1e9 else "serving"

    @property
    def counts(self) -> dict[str, int]:
        """What clients did.

        Who is there: ``sessions``, ``connections``. Writes: ``accepted`` by the ports, ``refused`` by them, ``denied`` by
        the server (no right, an output, a wrong type, out of bounds), ``expired``, ``broken``. Connections ``turned_away``.
        """
        return {name: int(self._words[getattr(memory, name.upper())]) for name in _COUNTED}

    @property
    def last_refusal(self) -> str:
        """Why the ports refused a write the last time; empty where they never did."""
        return self._last

    def close(self) -> None:
        """End the server; what it takes more than a few seconds for is cut short."""
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
        """Write to an input what came for it; whether it took it."""
        try:
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
        if port.kind == "float":  # (what the port checks itself; the rest of this would take as long again)
            self._ports.write(name, np.array(numbers[: port.size]).reshape(port.shape) if port.shape else numbers[0])
            return name
        value = np.array(numbers[: port.size]).reshape(port.shape)
        if not port.admits(value):
            raise ArgumentError(f"port {name!r} is given {value.tolist()}; expected {port.expected}")
        self._ports.write(name, port.decode(value))
        return name

    def _started(self, settings: ServerSettings) -> subprocess.Popen[bytes]:
        """Start the child process."""
        inherited: dict[str, Any] = {"pass_fds": (settings.handle,)} if isinstance(settings.handle, int) else {}
        process = subprocess.Popen(
            [sys.executable, "-P", "-c", _BEGIN, _PACKAGES],
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
        """Take what the child says: where it listens, or why not; then its log."""
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
    """What the child says in a line; nothing where that is something else."""
    try:
        message = json.loads(line)
    except ValueError:
        message = None
    return message if isinstance(message, dict) else {}


def _library() -> None:
    """See that asyncua is installed, without importing it here: 0.3 s that only the child needs."""
    import importlib.util

    if importlib.util.find_spec("asyncua") is None:
        raise MissingExtraError(f"serving over OPC UA needs the library asyncua: {install_hint('opcua')}")


def _host(host: str) -> tuple[str, bool]:
    """The address to listen at, and whether only this machine reaches it."""
    if host == "localhost":
        return "127.0.0.1", True
    if not host:
        raise ArgumentError("the host is ''; expected an address such as 127.0.0.1, or 0.0.0.0 for all")
    try:
        return host, ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host, False


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


def _certificate(folder: str | Path | None, host: str) -> tuple[str, str, str]:
    """Files of certificate and key, and the fingerprint; empty without a folder."""
    if folder is None:
        return "", "", ""
    from linkwise.server.opcua.certificates import found_or_made

    return found_or_made(Path(folder), host)
