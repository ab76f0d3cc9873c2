"""Run a cyclic chain at a fixed rate and serve its ports over OPC UA."""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from linkwise.cli.command import Options, Output, argument, command, emit, option, say
from linkwise.cli.options import Finite, refuse
from linkwise.control import Chain, load
from linkwise.control.recording import Recorder
from linkwise.files.text import refused
from linkwise.model.formatting.table import duration, plain
from linkwise.server import Server, Service, run
from linkwise.server.authentication import add_user, new_user
from linkwise.server.log import LOG
from linkwise.server.scheduler import Counts, Timing
from linkwise.server.status import Status

if TYPE_CHECKING:
    from linkwise.view.live import LiveView

#: Cycles a second where neither the file nor the user states a rate.
RATE = 100.0

#: The longest run, s: thirty years. At the highest rate its cycles are still counted exactly.
LONGEST = 1e9

#: The most that --record keeps, bytes.
KEPT = 64 << 20

#: Greatest overrun of --time because of missed deadlines, s; then the run ends with fewer cycles.
ALLOWED = 1.0

#: Share of missed deadlines above which the rate is reported as too high.
TOO_FAST = 0.01

#: The most that a number may take in a file, bytes: with sign, 17 digits, point, exponent and comma, or as it is.
LARGEST_CELL = {".csv": 26, ".npz": 9}


@command(
    argument("chain", metavar="CHAIN.toml", type=click.Path(dir_okay=False), required=False),
    option("--rate", metavar="HZ", type=Finite(1e-3, 1e5), help="Cycles per second. Default: those of the file, or 100."),
    option("--time", "duration", metavar="S", type=Finite(0, LONGEST), help="Duration, s. Default: until Ctrl-C."),
    option("--host", default="127.0.0.1", help="Address to listen at."),
    option("--port", type=click.IntRange(0, 65535), default=4840, help="Port; 0 takes any free one."),
    option("--users", metavar="FILE", type=click.Path(dir_okay=False), help="Users with write access. Default: none."),
    option("--add-user", metavar="NAME", help="Ask for a password, add the user to the file of --users, and end."),
    option("--role", type=click.Choice(["operator", "viewer"]), default="operator", help="Role of the user in --add-user."),
    option("--certificates", metavar="FOLDER", type=click.Path(file_okay=False), help="Folder of the certificate."),
    option("--publish", metavar="HZ", type=Finite(0.1, 1000), default=100.0, help="Rate at which clients see new values."),
    option("--hold-after", metavar="S", type=Finite(1e-3, 3600), help="Zero velocities not written for this time, s."),
    option("--priority", type=click.IntRange(1, 99), help="Real-time priority of the cycle, if permitted."),
    option("--record", metavar="FILE", type=click.Path(dir_okay=False), help="File of the last cycles, .csv or .npz."),
    option("--no-opcua", is_flag=True, help="Serve nothing over OPC UA."),
    option(
        "--view",
        metavar="[PORT]",
        type=click.IntRange(0, 65535),
        is_flag=False,
        flag_value=8080,
        help="Show the chain in the browser as it runs, at this port of this machine; 8080 by default.",
    ),
    option("--audit", metavar="FILE", type=click.Path(dir_okay=False), help="Log of writes, a JSON object per line."),
    option("--expand-xacro", is_flag=True, help="Allow a .xacro as the mechanism; expansion executes its expressions."),
    option("--list", "listed", is_flag=True, help="Print all ports first; with --time 0, only the ports."),
)
def serve(options: Options) -> Output | None:
    """Run a chain at a fixed rate; serve its ports over OPC UA, and show it in the browser.

    Everybody on this machine may read, without a name; outputs, and inputs that other ports feed, are read-only for all.
    To write inputs a client needs the name and password of an operator:

    \b
      linkwise serve --users users.txt --add-user anna
      linkwise serve crane.toml --users users.txt

    With --certificates, which an address for other machines (--host 0.0.0.0) requires, clients have to sign and encrypt
    (Basic256Sha256). The folder holds certificate.der and key.pem; if they do not exist, a self-signed pair is written.
    The server is a separate process, for which the cycle never waits. Connections, logins and errors are logged to
    standard error.

    With --view the browser on this machine shows the chain as it runs: everybody may watch, operators may drag its
    targets after a login.

    \b
    Examples:
      linkwise serve crane.toml --rate 1000
      linkwise serve crane.toml --time 0 --list
      linkwise serve crane.toml --view --users users.txt --audit audit.jsonl
      linkwise serve crane.toml --host 0.0.0.0
                     --certificates keys --users users.txt
    """  # noqa: D301  (\b keeps click from filling the lines)
    if options.add_user is not None:
        return _add_user(options.add_user, options.users, options.role)
    if options.chain is None:
        raise click.UsageError("Missing argument 'CHAIN.toml'.")
    if not os.path.exists(Path(options.chain)):
        raise refused(options.chain, "there is no such file")
    chain = load(options.chain, xacro={} if options.expand_xacro else None)
    rate, cycles = options.rate, None
    period = 1 / rate if rate is not None else chain.period or 1 / RATE
    if options.duration is not None:
        cycles = round(options.duration / period)
    ports = _ports(chain) if options.listed else {}
    if ports:
        listing = Output(ports, [chain.ports.table()])
        if cycles == 0:
            return listing
        if not options.as_json:
            emit(listing, as_json=False)
    saved = chain.save()  # (so that nothing is done for the first time in the first cycle)
    chain.step(period)
    chain.restore(saved)
    _run(chain, period, cycles, options, ports)
    return None


def _add_user(name: str, path: str | None, role: str) -> Output:
    if path is None:
        raise click.UsageError("--add-user needs --users FILE")
    if sys.stdin.isatty():
        password = click.prompt(f"Password of {name}", hide_input=True, confirmation_prompt=True)
    else:
        password = sys.stdin.readline().rstrip("\r\n")
    add_user(path, new_user(name, password, role))
    return Output({"user": name, "role": role, "file": path}, [f"{plain(name)} ({role}) is in {plain(path)}"])


def _run(chain: Chain, period: float, cycles: int | None, options: Options, ports: dict[str, Any]) -> None:
    """Run, and print the timing; the recording is written last, also after an error."""
    recorder = _recorder(chain, options.record, cycles)
    unsolved = chain.ports.view("chain.unsolved")
    with (
        _written(recorder, options),
        _logged(),
        _server(chain, period, options) as server,
        _view(chain, period, options) as view,
    ):
        for line in () if server is None else _where(server, options):
            say(line, err=options.as_json)
        if view is not None:
            say(f"shown at {view.address}", err=options.as_json)
        services = [service for service in (server, view) if service is not None]
        counts = Counts()
        with Status(counts, server, sys.stderr, lambda: chain.reason) as status:

            def after() -> None:
                status.unsolved += bool(unsolved)
                for service in services:
                    service.publish()

            def before() -> None:
                for service in services:
                    service.take()

            def over() -> bool:
                """True if it exceeds its duration: no cycle makes up for a missed deadline."""
                return cycles is not None and counts.cycles + counts.overruns >= cycles + ALLOWED / period

            timing = run(
                chain,
                period,
                cycles=cycles,
                before=before if services else None,
                after=after,
                stop=over,
                priority=options.priority,
                counts=counts,
            )
        data: dict[str, Any] = {**ports, **timing.as_dict(), "unsolved": status.unsolved}
        if server is not None:
            data["server"] = {"address": server.address, "state": server.state, **server.counts}
        if view is not None:
            data["view"] = {"address": view.address, "state": view.state, **view.counts}
        emit(Output(data, _summary(timing, status, services)), as_json=options.as_json)


def _ports(chain: Chain) -> dict[str, Any]:
    """The ports there are, with their values now."""
    sources, rows = chain.ports.routes, []
    for name in chain.ports:
        port = chain.ports[name]
        unit = "" if port.unit == "1" else port.unit
        facts = {"name": name, "way": port.direction, "kind": port.kind, "unit": unit, "value": chain.ports.read(name)}
        rows.append(facts | {"from": sources.get(name)})
    return {"ports": rows}


@contextlib.contextmanager
def _logged() -> Iterator[None]:
    """Write the log to standard error; on a terminal in place of the status line."""
    handler, level = logging.StreamHandler(sys.stderr), LOG.level
    wipe = "\r\x1b[K" if sys.stderr.isatty() else ""
    handler.setFormatter(logging.Formatter(f"{wipe}%(asctime)s %(levelname)s %(message)s", "%Y-%m-%d %H:%M:%S"))
    LOG.addHandler(handler)
    LOG.setLevel(logging.INFO)
    try:
        yield
    finally:
        LOG.removeHandler(handler)
        LOG.setLevel(level)


# ── recording ─────────────────────────────────────────────────────────────────────────────────────


@contextlib.contextmanager
def _written(recorder: Recorder | None, options: Options) -> Iterator[None]:
    """Write the recording in any case: also after an error, or if the output is closed."""
    try:
        yield
    finally:
        if recorder is not None and len(recorder):
            recorder.write(options.record)
            lost = f", the last ones; {recorder.lost:,} before them are not kept" if recorder.lost else ""
            say(f"wrote {plain(options.record)}: {len(recorder):,} cycles{lost}", err=options.as_json)


def _recorder(chain: Chain, record: str | None, cycles: int | None) -> Recorder | None:
    if record is None:
        return None
    path = Path(record)
    if path.suffix not in LARGEST_CELL:
        refuse(f"{record} is neither .csv nor .npz", "'--record'")
    if not os.path.isdir(path.absolute().parent):
        refuse(f"there is no folder {path.parent}", "'--record'")
    state = chain.save()
    most = KEPT // (8 * (len(state.values) + len(state.carry) + 2))
    rows = max(1, most if cycles is None else min(cycles, most))
    _check_room(path, rows * (len(chain.ports.values) + 3) * LARGEST_CELL[path.suffix])
    return chain.record(rows)


def _check_room(path: Path, size: int) -> None:
    """Check at once, not after the run, that a file of a size can be written."""
    folder = path.absolute().parent
    try:
        with tempfile.TemporaryFile(dir=folder):
            _, _, free = shutil.disk_usage(folder)
    except OSError as error:
        refuse(f"nothing can be written in {folder}: {error.strerror or error}", "'--record'")
    if free < size:
        refuse(f"{path} may need {size / 1e6:.1f} MB, and {free / 1e6:.1f} MB are free", "'--record'")


# ── the server ────────────────────────────────────────────────────────────────────────────────────


def _server(chain: Chain, period: float, options: Options) -> contextlib.AbstractContextManager[Server | None]:
    if options.no_opcua:
        return contextlib.nullcontext()
    same = ("host", "port", "users", "certificates", "publish", "hold_after", "audit")
    settings = {name: getattr(options, name) for name in same}
    return Server(chain.ports, chain=chain, name=chain.name, stale=_stale(period), **settings)


def _view(chain: Chain, period: float, options: Options) -> contextlib.AbstractContextManager[LiveView | None]:
    if options.view is None:
        return contextlib.nullcontext()
    from linkwise.view.live import LiveView

    return LiveView(chain, port=options.view, users=options.users, audit=options.audit, stale=_stale(period))


def _stale(period: float) -> float:
    """Time without a cycle after which values are stale, s."""
    return min(max(1.0, 3 * period), 3600.0)


def _where(server: Server, options: Options) -> Iterator[str]:
    """Print the address for clients, and their rights."""
    yield f"serving at {server.address}"
    if options.users is None:
        yield "nobody may write: no --users given"
    if server.encrypted_only:
        yield "clients must sign and encrypt (Basic256Sha256); no other channel is open"
    if server.fingerprint:
        yield f"certificate in {options.certificates}, SHA-256 {server.fingerprint}"


def _summary(timing: Timing, status: Status, services: Sequence[Service]) -> Iterator[str]:
    yield (
        f"{timing.cycles:,} cycles, one each {duration(timing.period)}; {timing.late:,} late, {timing.overruns:,} deadlines"
        f" missed, {status.unsolved:,} unsolved"
    )
    deadlines = timing.cycles + timing.overruns
    if timing.overruns > TOO_FAST * deadlines:
        rates = f"{timing.cycles / deadlines / timing.period:,.6g} Hz of {1 / timing.period:,.6g} Hz"
        yield f"remark: the rate is too high for this machine: {rates} were reached"
    for name, spread in (("began after the deadline", timing.lateness), ("step", timing.step)):
        median, nearly_all, worst = map(duration, (spread.median, spread.p999, spread.worst))
        yield f"{name}: median {median}, 99.9 % {nearly_all}, worst {worst}"
    for service in services:
        counts = service.counts
        late = counts["expired"] + counts["broken"]
        who = "clients" if isinstance(service, Server) else "pages"
        line = f"writes of {who}: {counts['accepted']:,} accepted, {counts['refused'] + counts['denied']:,} refused"
        line += f", {late:,} too late" if late else ""
        yield line + (f"; {counts['turned_away']:,} connections turned away" if counts["turned_away"] else "")
        if service.last_refusal:
            yield f"the last one refused by a port: {service.last_refusal}"
