"""What the recorded benchmarks say, read from ``benchmarks/results``: comparisons and rows of tables."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
RESULTS = HERE.parent / "benchmarks" / "results"

SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
NUMBER = r"(\d+(?:\.\d+)?)"


@dataclass
class Record:
    """What one file of results holds: the facts of its head, and the text of each run."""

    facts: dict[str, str]
    runs: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)


@dataclass
class Row:
    """One comparison: seconds of the peer and of Linkwise in each run."""

    name: str
    peer: str
    theirs: list[float]
    ours: list[float]

    @property
    def ratios(self) -> list[float]:
        """How many times as long the peer takes, run by run."""
        return [theirs / ours for theirs, ours in zip(self.theirs, self.ours, strict=True)]

    @property
    def ratio(self) -> float:
        """That of the least times, for what else a machine does only ever adds."""
        return min(self.theirs) / min(self.ours)

    def line(self) -> str:
        """The row of a table."""
        low, high = number(min(self.ratios)), number(max(self.ratios))
        spread = low if low == high else f"{low} to {high}"
        return f"| {self.name} | {span(min(self.theirs))} | {span(min(self.ours))} | {number(self.ratio)} | {spread} |"


def read(name: str) -> Record:
    """Read one file of results."""
    head, *pieces = re.split(r"^# run: ", (RESULTS / f"{name}.txt").read_text(encoding="utf-8"), flags=re.MULTILINE)
    made = Record(dict(re.findall(r"^# (\w+): (.*)$", head, re.MULTILINE)))
    for piece in pieces:
        first, _, text = piece.partition("\n")
        made.runs.append(text)
        made.loads.append(first)
    return made


def span(seconds: float) -> str:
    """Seconds in the unit that fits, to three digits."""
    unit = next(unit for unit in ("ns", "us", "ms", "s") if seconds < 1000 * SECONDS[unit] or unit == "s")
    return f"{number(seconds / SECONDS[unit])} {unit.replace('us', 'µs')}"


def number(value: float) -> str:
    """A number to three digits, without an exponent."""
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def times(text: str, pattern: str) -> dict[str, list[float]]:
    """For each match its name, and the seconds of its pairs of number and unit."""
    found = {}
    for match in re.finditer(pattern, text, re.MULTILINE):
        name, *rest = match.groups()
        found[name.strip()] = [float(a) * SECONDS[b] for a, b in zip(rest[::2], rest[1::2], strict=True)]
    return found


def rows(record: Record, peer: str, pattern: str, ours: int = 1, theirs: int = 0) -> list[Row]:
    """The comparisons that are in all runs of a record."""
    runs = [times(text, pattern) for text in record.runs]
    names = [name for name in runs[0] if all(name in run for run in runs)]
    return [Row(name, peer, [run[name][theirs] for run in runs], [run[name][ours] for run in runs]) for name in names]


UNIT = r"(ns|us|ms|s)"
SIDE_BY_SIDE = rf"^(\S.*?)\s+{NUMBER} {UNIT}\s+{NUMBER} {UNIT}\s+{NUMBER.replace('(', '(?:', 1)}x"


def pinocchio() -> list[Row]:
    """Beside Pinocchio: kinematics and dynamics."""
    return [
        row for name in ("against_pinocchio", "dynamics", "contacts") for row in rows(read(name), "Pinocchio", SIDE_BY_SIDE)
    ]


#: Bytes of the results of one configuration from which on what the core writes is told beside the time.
LARGE = 10_000


def large_results() -> list[str]:
    """Rows of the table of the largest results: bytes, time, and how long NumPy takes to fill their arrays with zeros."""
    found: dict[str, list[tuple[int, float, float]]] = {}
    pattern = rf"^(\S.*?), batch\s.*? ns\s+{NUMBER} ns.*\n.*; (\d+) bytes, filled with zeros in {NUMBER} ns"
    for text in read("dynamics").runs:
        for name, ours, size, zeros in re.findall(pattern, text, re.MULTILINE):
            found.setdefault(name, []).append((int(size), float(ours) * 1e-9, float(zeros) * 1e-9))
    lines = []
    for name, runs in found.items():
        size, ours, zeros = runs[0][0], min(run[1] for run in runs), min(run[2] for run in runs)
        if size >= LARGE and ours < 2 * zeros:
            lines.append(f"| {name} | {size:,} | {span(ours)} | {span(zeros)} |")
    return lines


def rollouts() -> list[Row]:
    """Beside MuJoCo: seconds of a step."""
    record, found = read("rollouts"), {}
    pattern = rf"^(.*?)\s+MuJoCo\s+{NUMBER} M steps/s, Linkwise\s+{NUMBER} M"
    for text in record.runs:
        for name, theirs, ours in re.findall(pattern, text, re.MULTILINE):
            row = found.setdefault(name, Row(name, "MuJoCo", [], []))
            row.theirs.append(1e-6 / float(theirs))
            row.ours.append(1e-6 / float(ours))
    return list(found.values())


def array_libraries() -> list[str]:
    """Lines of the table of array libraries: the least nanoseconds a configuration at each size, work by work."""
    cells: dict[tuple[str, str], list[list[str]]] = {}
    for text in read("arrays").runs:
        for work, way, row in re.findall(r"^(\w[\w ]*): (\S.*?) {2,}([\d.\- ]+)$", text, re.MULTILINE):
            cells.setdefault((work, way), []).append(row.split())
    lines = []
    for work in dict.fromkeys(work for work, _ in cells):
        for way in (way for at, way in cells if at == work):
            columns = zip(*cells[work, way], strict=True)
            least = [[float(cell) for cell in column if cell[-1].isdigit()] for column in columns]
            texts = [span(min(values) * 1e-9) if values else "" for values in least]
            lines.append(f"| {work} | {way} | {' | '.join(texts)} |")
    return lines


def inverse_kinematics() -> tuple[list[Row], list[str]]:
    """Beside the Robotics Toolbox where it was there; and a line for each arm: what was solved, and falsely claimed."""
    found: dict[str, Row] = {}
    lines = {}
    for text in read("inverse_kinematics").runs:
        for arm, part in re.findall(r"^(\w+): \d+ targets.*\n((?:  .*\n)+)", text, re.MULTILINE):
            mine = re.search(rf"Linkwise.*?{NUMBER} %\s+{NUMBER} %\s+(\d+)\s+{NUMBER} us\s+{NUMBER} us", part)
            peer = re.search(rf"Toolbox ik_LM.*?{NUMBER} %\s+{NUMBER} %\s+(\d+)\s+-\s+{NUMBER} us", part)
            assert mine, part
            lines[arm] = f"| {arm} | {float(mine[1]):g} % | {float(mine[2]):g} % | {mine[3]} |"
            lines[arm] += f" {float(peer[1]):g} % | {float(peer[2]):g} % | {peer[3]} |" if peer else " | | |"
            if peer:
                row = found.setdefault(arm, Row(f"{arm}: numeric, one call", "Robotics Toolbox, C++", [], []))
                row.theirs.append(float(peer[4]) * 1e-6)
                row.ours.append(float(mine[5]) * 1e-6)
    return list(found.values()), list(lines.values())


def closed_form() -> list[Row]:
    """Beside EAIK where it was there: all solutions of a pose."""
    made = {}
    for text in read("closed_form").runs:
        lines = re.findall(rf"^(\w+) +(\D.*?) {{3,}}{NUMBER}", text, re.MULTILINE)
        values = {(arm, what.strip()): float(us) * 1e-6 for arm, what, us in lines}
        for (arm, what), seconds in values.items():
            pair = {"batch, all solutions": "eaik, batch", "one target, ClosedForm.all": "eaik, one target, not filtered"}
            if (peer := values.get((arm, pair.get(what, "")))) is not None:
                name = f"{arm}: {'closed form, batch' if 'batch' in what else 'closed form, one call'}"
                row = made.setdefault(name, Row(name, "EAIK", [], []))
                row.theirs.append(peer)
                row.ours.append(seconds)
    return list(made.values())


def by_hand() -> list[Row]:
    """Beside what is written by hand on NumPy, SciPy and Pinocchio: velocities, linkages, the Stewart platform."""
    velocity = read("velocity")
    one = rf"^(\w+: one call, velocity_step) +{NUMBER} {UNIT}.*?damped {NUMBER} {UNIT}"
    many = rf"^(\w+: 100,000 speeds, each) +{NUMBER} {UNIT}.*?pseudo-inverse {NUMBER} {UNIT}"
    bounded = rf"^(\w+: one call, quadratic program) +{NUMBER} {UNIT}.*?alone {NUMBER} {UNIT}"
    made = rows(velocity, "Pinocchio and NumPy", one, 0, 1) + rows(velocity, "NumPy", many, 0, 1)
    made += rows(velocity, "SciPy's bvls alone", bounded, 0, 1)
    step = rf"^(four-bar: warm step from Python), checked +{NUMBER} {UNIT}.*\n.*?Pinocchio and NumPy +{NUMBER} {UNIT}"
    made += rows(read("loops"), "Pinocchio and NumPy", step, 0, 1)
    forward = rf"^(forward, batch) +{NUMBER} {UNIT} a pose.*\n +by hand in NumPy +{NUMBER} {UNIT}"
    for row in rows(read("stewart"), "NumPy", forward, 0, 1):
        made.append(Row("Stewart platform: " + row.name, row.peer, row.theirs, row.ours))
    return made


def spacelib() -> list[Row]:
    """Beside NumPy written by hand: the functions of SpaceLib on a batch."""
    pattern = rf"^(\w+) +{NUMBER} {UNIT} +{NUMBER} {UNIT} +{NUMBER} {UNIT} +{NUMBER.replace('(', '(?:', 1)}$"
    return rows(read("spacelib_functions"), "NumPy", pattern, 1, 2)


def first_calls() -> list[str]:
    """Rows of the table of first calls: least time to compile, least time from the cache."""
    found: dict[str, list[tuple[float, float]]] = {}
    pattern = rf"^(\S.*?) +first call +{NUMBER} s, from the cache +{NUMBER} ms"
    for text in [text for name in ("dynamics", "rollouts") for text in read(name).runs]:
        for name, cold, warm in re.findall(pattern, text, re.MULTILINE):
            found.setdefault(name, []).append((float(cold), float(warm) * 1e-3))
    return [
        f"| {name} | {span(min(c for c, _ in all_))} | {span(min(w for _, w in all_))} |" for name, all_ in found.items()
    ]


def operations() -> list[str]:
    """Rows of the table of operations with symbols, beside other generators; no clock is involved."""
    text, made = read("operations").runs[-1], []
    part = text.partition("with numbers")[0]
    for arm, body in re.findall(r"^(\S.*)\n((?: {4}.*\n)+)", part, re.MULTILINE):
        peers = re.search(r"OpenSYMORO (\S+ \S+), M (\S+ \S+); SymPyBotics (\S+ \S+), M (\S+ \S+)", body)
        for k, what in enumerate(("inverse dynamics", "mass matrix")):
            counts = re.search(rf"^ +{what} +(\S+ \S+ \S+)   +(\S+ \S+ \S+)   +(\S+ \S+ \S+)", body, re.MULTILINE)
            if peers and counts:
                others = " | ".join(peers[1 + k + 2 * j].rstrip(",").replace(",", "") for j in (0, 1))
                made.append(f"| {arm}: {what} | {counts[3]} | {others} |")
    return made
