"""``linkwise serve``: run a chain at a fixed rate, and let other processes and machines read and write its ports."""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from linkwise.cli.as_json import json_option, print_json
from linkwise.cli.finite import Finite
from linkwise.cli.words import remark, say

if TYPE_CHECKING:
    from linkwise.control import Chain
    from linkwise.control.recorder import Recorder
    from linkwise.control.serve import Server, Timing
    from linkwise.control.serve.status import Status

RATE = 100.0
"""Cycles a second where neither the file nor the user says."""

LONGEST = 1e9
"""The longest run, s: thirty years. At the highest rate its cycles are still counted exactly."""

KEPT = 64 << 20
"""The most that --record keeps, bytes."""

ALLOWED = 1.0
"""So much longer than --time says a run may last because of missed deadlines, s; then it ends with fewer cycles."""

TOO_FAST = 0.01
"""Where a larger part of all deadlines was missed, the rate is said to be too high."""

LARGEST_CELL = {".csv": 26, ".npz": 9}
"""The most that a number may take in a file, bytes: with sign, 17 digits, point, exponent and comma, or as it is."""


@click.command(short_help="Run a chain at a fixed rate, its ports in reach over OPC UA.")
@click.argument("chain", metavar="CHAIN.toml", type=click.Path(dir_okay=False), required=False)
@click.option("--rate", metavar="HZ", type=Finite(1e-3, 1e5), help="Cycles a second. Default: the file's period, or 100.")
@click.option("--time", "duration", metavar="S", type=Finite(0, LONGEST), help="How long, s; without it, until Ctrl-C.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen at.")
@click.option("--port", type=click.IntRange(0, 65535), default=4840, show_default=True, help="0 lets the system choose.")
@click.option("--users", metavar="FILE", type=click.Path(dir_okay=False), help="Who may write; without it nobody.")
@click.option("--add-user", metavar="NAME", help="Ask for a password, put the user into the file of --users, and end.")
@click.option("--role", type=click.Choice(["operator", "viewer"]), default="operator", help="Of --add-user.")
@click.option("--certificates", metavar="FOLDER", type=click.Path(file_okay=False), help="Of the certificate; see above.")
@click.option(
    "--publish", metavar="HZ", type=Finite(0.1, 1000), default=100.0, show_default=True, help="How often clients see values."
)
@click.option("--hold-after", metavar="S", type=Finite(1e-3, 3600), help="Zero speeds that no client wrote for so long, s.")
@click.option("--priority", type=click.IntRange(1, 99), help="Real-time priority of the cycle; takes the right to.")
@click.option(
    "--record", metavar="FILE", type=click.Path(dir_okay=False), help="Write all ports of the last cycles, .csv, .npz."
)
@click.option("--no-opcua", is_flag=True, help="Only run it.")
@click.option("--expand-xacro", is_flag=True, help="The file may name a .xacro, whose expressions are then run.")
@click.option("--list", "listed", is_flag=True, help="Print all ports first; with --time 0, only these.")
@json_option
def serve(chain: str | None, add_user: str | None, **options: Any) -> None:
    """Run a chain at a fixed rate, and serve its ports over OPC UA.

    Everybody on this machine may read, without a name; outputs, and inputs that other ports feed, are read-only for all.
    To write inputs a client needs the name and password of an operator:

    \b
      linkwise serve --users users.txt --add-user anna
      linkwise serve crane.toml --users users.txt

    With --certificates clients have to sign and encrypt (Basic256Sha256); an address that other machines reach,
    --host 0.0.0.0, needs it. The folder's certificate.der and key.pem are used; where there are none they are made,
    self-signed. The server is a process of its own, which the cycle never waits for. Connections, logins and faults are
    logged to standard error.

    \b
    Examples:
      linkwise serve crane.toml --rate 1000
      linkwise serve crane.toml --time 0 --list
      linkwise serve crane.toml --host 0.0.0.0
                     --certificates keys --users users.txt
    """  # noqa: D301  (\b keeps click from filling the lines)
    if add_user is not None:
        _add_user(add_user, options["users"], options["role"], options["as_json"])
        return
    if chain is None:
        raise click.UsageError("Missing argument 'CHAIN.toml'.")
    _run(_loaded(chain, options["expand_xacro"]), options)


def _add_user(name: str, path: str | None, role: str, as_json: bool) -> None:
    from linkwise.control.serve.users import add_user, new_user
    from linkwise.model.table import plain

    if path is None:
        raise click.UsageError("--add-user needs --users FILE")
    if sys.stdin.isatty():
        password = click.prompt(f"Password of {name}", hide_input=True, confirmation_prompt=True)
    else:
        password = sys.stdin.readline().rstrip("\r\n")
    add_user(path, new_user(name, password, role))
    if as_json:
        print_json({"user": name, "role": role, "file": path})
    else:
        say(f"{plain(name)} ({role}) is in {plain(path)}")


def _loaded(path: str, xacro: bool) -> Chain:
    from linkwise.control import load
    from linkwise.errors import FileError, FileProblem

    if not os.path.exists(Path(path)):
        raise FileError(path, [FileProblem(0, "there is no such file")])
    return load(path, xacro={} if xacro else None)


def _period(chain: Chain, rate: float | None) -> float:
    return 1 / rate if rate is not None else chain.period or 1 / RATE


def _run(chain: Chain, options: dict[str, Any]) -> None:
    """Run, and tell."""
    from linkwise.control.serve import run
    from linkwise.control.serve.status import Status
    from linkwise.control.serve.timing import Counts

    period, duration = _period(chain, options["rate"]), options["duration"]
    cycles = None if duration is None else round(duration / period)
    told = _ports(chain) if options["listed"] else {}
    if told and not options["as_json"]:
        say(chain.ports.table())
    if told and cycles == 0:
        if options["as_json"]:
            print_json(told)
        return
    _warm(chain, period)
    recorder = _recorder(chain, options["record"], cycles)
    unsolved = chain.ports.view("chain.unsolved")
    with _written(recorder, options), _logged(), _server(chain, period, options) as server:
        _say_where(server, options)
        before, publish = (None, _nothing) if server is None else (server.take, server.publish)
        counts = Counts()
        with Status(counts, server, sys.stderr, lambda: chain.reason) as status:

            def after() -> None:
                status.unsolved += bool(unsolved)
                publish()

            def over() -> bool:
                """Whether it lasts longer than was said by more than is allowed: no cycle makes up for a missed deadline."""
                return cycles is not None and counts.cycles + counts.overruns >= cycles + ALLOWED / period

            timing = run(
                chain,
                period,
                cycles=cycles,
                before=before,
                after=after,
                stop=over,
                priority=options["priority"],
                counts=counts,
            )
        if options["as_json"]:
            print_json(told | _facts(timing, status, server))
        else:
            _summary(timing, status, server)


def _ports(chain: Chain) -> dict[str, Any]:
    """Say for programs what ports there are, with their values now."""
    sources, told = chain.ports.routes, []
    for name in chain.ports:
        port = chain.ports[name]
        unit = "" if port.unit == "1" else port.unit
        facts = {"name": name, "way": port.direction, "kind": port.kind, "unit": unit, "value": chain.ports.read(name)}
        told.append(facts | {"from": sources.get(name)})
    return {"ports": told}


def _warm(chain: Chain, period: float) -> None:
    """Step once and take it back, so that nothing is done for the first time in the first cycle."""
    saved = chain.save()
    chain.step(period)
    chain.restore(saved)


def _nothing() -> None:
    pass


@contextlib.contextmanager
def _logged() -> Iterator[None]:
    """Write the log to standard error; on a terminal in place of the line that tells how the run is doing."""
    from linkwise.control.serve.log import LOG

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


@contextlib.contextmanager
def _written(recorder: Recorder | None, options: dict[str, Any]) -> Iterator[None]:
    """Write what was recorded in any case: also after an error, or where nobody reads what is said any more."""
    try:
        yield
    finally:
        if recorder is not None and len(recorder):
            recorder.write(options["record"])
            click.echo(_recorded(recorder, options["record"]), err=options["as_json"])


def _recorder(chain: Chain, path: str | None, cycles: int | None) -> Recorder | None:
    if path is None:
        return None
    if Path(path).suffix not in (".csv", ".npz"):
        raise click.BadParameter(f"{path} is neither .csv nor .npz", param_hint="'--record'")
    if not os.path.isdir(Path(path).absolute().parent):
        raise click.BadParameter(f"there is no folder {Path(path).parent}", param_hint="'--record'")
    state = chain.save()
    most = KEPT // (8 * (len(state.values) + len(state.carry) + 2))
    rows = max(1, most if cycles is None else min(cycles, most))
    _see_room(Path(path), rows * (len(chain.ports.values) + 3) * LARGEST_CELL[Path(path).suffix])
    return chain.record(rows)


def _see_room(path: Path, size: int) -> None:
    """See at once, not after the run, that a file of a size can be written."""
    folder = path.absolute().parent
    try:
        with tempfile.TemporaryFile(dir=folder):
            free = shutil.disk_usage(folder).free
    except OSError as error:
        said = f"nothing can be written in {folder}: {error.strerror or error}"
        raise click.BadParameter(said, param_hint="'--record'") from error
    if free < size:
        said = f"{path} may need {size / 1e6:.1f} MB, and {free / 1e6:.1f} MB are free"
        raise click.BadParameter(said, param_hint="'--record'")


def _recorded(recorder: Recorder, path: str) -> str:
    from linkwise.model.table import plain

    said = f"wrote {plain(path)}: {len(recorder):,} cycles"
    return f"{said}, the last ones; {recorder.lost:,} before them are not kept" if recorder.lost else said


def _server(chain: Chain, period: float, options: dict[str, Any]) -> contextlib.AbstractContextManager[Server | None]:
    if options["no_opcua"]:
        return contextlib.nullcontext()
    from linkwise.control.serve import Server

    return Server(
        chain.ports,
        name=chain.name,
        host=options["host"],
        port=options["port"],
        users=options["users"],
        certificates=options["certificates"],
        publish=options["publish"],
        stale=min(max(1.0, 3 * period), 3600.0),
        hold_after=options["hold_after"],
    )


def _say_where(server: Server | None, options: dict[str, Any]) -> None:
    """Tell where clients find it, and what they may do."""
    if server is None:
        return
    said = [f"serving at {server.address}"]
    if options["users"] is None:
        said.append("nobody may write: no --users given")
    if server.encrypted_only:
        said.append("clients must sign and encrypt (Basic256Sha256); no other channel is open")
    if server.fingerprint:
        said.append(f"certificate in {options['certificates']}, SHA-256 {server.fingerprint}")
    for line in said:
        say(line, err=options["as_json"])


def _facts(timing: Timing, status: Status, server: Server | None) -> dict[str, Any]:
    told: dict[str, Any] = {**timing.as_dict(), "unsolved": status.unsolved}
    if server is not None:
        told["server"] = {"address": server.address, "state": server.state, **server.counts}
    return told


def _summary(timing: Timing, status: Status, server: Server | None) -> None:
    from linkwise.cli.layout import time_text

    say(
        f"{timing.cycles:,} cycles, one each {time_text(timing.period)}; {timing.late:,} late, {timing.overruns:,} deadlines"
        f" missed, {status.unsolved:,} unsolved"
    )
    if timing.overruns > TOO_FAST * (timing.cycles + timing.overruns):
        reached = timing.cycles / (timing.cycles + timing.overruns) / timing.period
        remark(f"the rate is too high for this machine: {reached:,.6g} Hz of {1 / timing.period:,.6g} Hz were reached")
    for what, spread in (("began after the deadline", timing.lateness), ("step", timing.step)):
        say(f"{what}: median {time_text(spread.median)}, 99.9 % {time_text(spread.p999)}, worst {time_text(spread.worst)}")
    if server is not None:
        say(_writes(server))


def _writes(server: Server) -> str:
    counts = server.counts
    said = f"writes of clients: {counts['accepted']:,} accepted, {counts['refused'] + counts['denied']:,} refused"
    late = counts["expired"] + counts["broken"]
    said += f", {late:,} too late" if late else ""
    said += f"; {counts['turned_away']:,} connections turned away" if counts["turned_away"] else ""
    return f"{said}\nthe last one refused by a port: {server.last_refusal}" if server.last_refusal else said
