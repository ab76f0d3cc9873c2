"""Public models held against Pinocchio, MuJoCo and Drake: ``python benchmarks/public_models.py FOLDER ...``.

URDF and xacro are read by Pinocchio (with ``--drake`` URDF by Drake), MJCF by MuJoCo, SDF by Drake, where its package
``drake`` is installed. Each folder is a checkout of a repository; packages of ROS are looked for in all of them.
Every model in it is read by us and by the peer, each in a process of its own that may take two minutes; poses, Jacobians,
mass matrix, inverse and forward dynamics are compared at random states, relative to the largest number. The named states of
SRDF files are compared on the URDF or xacro of their robot. Printed: a count for each outcome, then why models are refused,
then those that differ, and those that the peer reads and we refuse; with ``--all`` every model.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from queue import Queue
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

BOUND = 1e-10
"""Relative difference up to which a model agrees."""

OF_MESHES = 1e-7
"""The same where a mass is that of a mesh: MuJoCo's compiler finds principal axes to 1e-12 kg m2, also of small ones."""

FORCES = ("friction and springs", "inverse dynamics")
"""What differs where a force is left out, which a remark has to say."""

REASONS = {
    "parameters of includes": r":params> changes|there are \d+ models; expected one <model>",
    "a package or another file is missing": r"was not found|there is no (such )?file|cannot be (read|opened)|No such file",
    "there is no mechanism in the file": r"there is no <body>|there is no <?link(?!,)|holds no <model>|root element is",
    "soft bodies": r"flexcomp|<flex|deformable|soft body|composite",
    "an old version": r"the version is",
    "no well-formed XML": r"not well-formed",
    "a joint along curves": r"curvilinear",
    "several trees in a URDF": r"there are \d+ roots",
    "added mass, or an inertia of shapes": r"fluid_added_mass|auto = 'true'",
    "a tendon that couples more than two joints": r"it ties \d+ joints",
    "what MuJoCo fits to a mesh, or makes of its points": (
        r"fitted to a mesh|holds no triangle|what MuJoCo make|mesh file|field of a plugin"
    ),
    "two elements where one may be, or a name that there is not": r"stands twice|there is no |has no attribute",
    "a mass without inertia": r"has no <inertia>",
    "a number that is none": r"is not a number",
}
"""Why models are refused: what the first message says."""

SECONDS = 120.0
"""How long a model may take."""

SUFFIXES = (".urdf", ".xacro", ".sdf", ".xml", ".mjcf", ".srdf")

ARGUMENTS = {"DEBUG": "false", "robot_model": "ur5e"}
"""Values of xacro arguments that have no default in files of Unitree and Universal Robots."""

OPTIONS: tuple[dict[str, Any], ...] = ({}, {"physical": False}, {"swap_limits": True}, {"drop_unknown": True})
"""What the errors recommend; each is added to those before."""


@dataclass(frozen=True)
class Job:
    """A model to compare: its file, its repository, the folders that hold packages, and whether Drake reads URDF."""

    path: Path
    root: Path
    folders: tuple[Path, ...]
    drake: bool

    @property
    def kind(self) -> str:
        """The format."""
        kinds = {".urdf": "URDF", ".xacro": "xacro", ".sdf": "SDF", ".srdf": "SRDF"}
        return kinds.get(self.path.suffix.lower(), "MJCF")


@dataclass(frozen=True)
class Outcome:
    """What came of a model: in which format it is, a word, the largest difference, and why, if it was refused."""

    kind: str
    word: str
    residual: float = 0.0
    reason: str = ""


def main() -> None:
    """Compare all models below the folders of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--all", action="store_true", help="print every model")
    parser.add_argument("--drake", action="store_true", help="compare URDF with Drake, and no other format than it and SDF")
    chosen = parser.parse_args()
    packages = {root: list(package_folders(root)) for root in chosen.folders}
    jobs = []
    for root in chosen.folders:
        folders = (*packages[root], *(folder for other in packages if other != root for folder in packages[other]))
        jobs += [Job(path, root, folders, chosen.drake) for path in candidates(root)]
    if chosen.drake:
        jobs = [job for job in jobs if job.kind in {"URDF", "SDF"}]
    report([(job.path, outcome) for job, outcome in zip(jobs, all_compared(jobs), strict=True)], everything=chosen.all)


def package_folders(root: Path) -> Iterator[Path]:
    """The folders of a repository that are packages or hold some."""
    inner = [path.parent.parent for path in sorted(root.rglob("package.xml")) if path.parent != root]
    yield from dict.fromkeys([root, *(path for path in sorted(root.iterdir()) if path.is_dir()), *inner])


def candidates(root: Path) -> Iterator[Path]:
    """The files that may be models."""
    for path in sorted(root.rglob("*")):
        if path.suffix.lower() in SUFFIXES and path.is_file():
            text = path.read_text(encoding="utf-8", errors="replace")
            if path.suffix.lower() in {".xml", ".mjcf"} and not re.search(r"<mujoco[\s>]", text):
                continue
            if path.suffix.lower() == ".xacro" and not re.search(r"<robot[^>]*\sname\s*=", text):
                continue  # (macros for others to include)
            yield path


class Worker:
    """A process that compares one model after the other; another takes its place where it crashes or takes too long."""

    def __init__(self) -> None:
        self.pipe: Connection
        self._start()

    def _start(self) -> None:
        context = get_context("spawn")
        self.pipe, there = context.Pipe()
        self.process = context.Process(target=_serve, args=(there,), daemon=True)
        self.process.start()
        there.close()

    def __call__(self, job: Job) -> Outcome:
        """Compare a model."""
        self.pipe.send(job)
        try:
            if self.pipe.poll(SECONDS):
                return self.pipe.recv()
            outcome = Outcome(job.kind, "too slow", reason=f"more than {SECONDS:g} s")
        except EOFError:
            outcome = Outcome(job.kind, "crashed", reason="the process ended")
        self.process.kill()
        self._start()
        return outcome


def _serve(pipe: Connection) -> None:
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    while True:
        job = pipe.recv()
        try:
            outcome = compare(job)
        except Exception as error:
            outcome = Outcome(job.kind, "failed", reason=f"{type(error).__name__}: {error}"[:300])
        pipe.send(outcome)


def all_compared(jobs: list[Job]) -> list[Outcome]:
    """Compare models, several at a time."""
    count = os.cpu_count() or 1
    idle: Queue[Worker] = Queue()
    for _ in range(count):
        idle.put(Worker())

    def compared(job: Job) -> Outcome:
        worker = idle.get()
        try:
            return worker(job)
        finally:
            idle.put(worker)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(compared, jobs))


# ── one model ─────────────────────────────────────────────────────────────────────────────────────


def compare(job: Job) -> Outcome:
    """Read a model by both, and compare what they compute."""
    if job.kind == "SRDF":
        return compare_states(job)
    kind = job.kind
    peer, why_not = _peer(job)
    mechanism, refused, remarks = _ours(job)
    if mechanism is None:
        why = refused if peer is not None else f"{refused} | peer: {why_not}"
        return Outcome(kind, "refused by both" if peer is None else "refused by us", reason=why)
    if peer is None:
        return Outcome(kind, "read by us alone", reason=why_not)
    if job.drake or kind == "SDF":
        return _beside_drake(kind, mechanism, peer)
    residuals = list(_mujoco(mechanism, peer, remarks) if kind == "MJCF" else _pinocchio(mechanism, peer))
    bound = OF_MESHES if kind == "MJCF" and peer.nmesh else BOUND
    if "left out" in remarks and all(one[1] <= bound for one in residuals if one[0] not in FORCES):
        kept = [one for one in residuals if one[0] not in FORCES]
        if len(kept) < len(residuals) and max(one[1] for one in residuals) > bound:
            return Outcome(kind, "agrees but for forces", max(one[1] for one in kept), "a remark names what is left out")
    return _judged(kind, residuals, bound)


def _judged(kind: str, residuals: list[tuple[str, float]], bound: float) -> Outcome:
    what, worst = max(residuals, key=lambda one: one[1] if np.isfinite(one[1]) else np.inf)
    return Outcome(kind, "agrees" if worst <= bound else "differs", worst, what)


def _beside_drake(kind: str, mechanism: Any, plant: Any) -> Outcome:
    """What comes of a model that Drake reads: after what Drake changes, where it changes something."""
    from support.drake_from_file import DrakeTwin, as_drake_reads

    changed, changes = as_drake_reads(mechanism)
    try:
        twin = DrakeTwin(changed, plant)
    except RuntimeError as error:  # (Drake has no loops of bodies)
        return Outcome(kind, "read by us alone", reason=str(error)[:300])
    outcome = _judged(kind, [("nothing", 0.0), *twin.residuals(0)], BOUND)
    agrees = changes and outcome.word == "agrees"
    return Outcome(kind, "agrees after changes", outcome.residual, changes) if agrees else outcome


def _ours(job: Job) -> tuple[Any, str, str]:
    from linkwise import files
    from linkwise.errors import LinkwiseError

    options: dict[str, Any] = {"package_dirs": job.folders}
    if job.kind == "MJCF":
        options = {"include_root": job.root}
    refused = ""
    for more in OPTIONS:
        options |= more
        try:
            if job.kind == "xacro":
                options["xacro"] = _expanded(job)[1]
            read = files.read(job.path, **options)
        except LinkwiseError as error:
            refused = str(error)
        else:
            return read.mechanism, "", " ".join(map(str, files.remarks(job.path, **options)))
    return None, refused, ""


def _peer(job: Job) -> tuple[Any, str]:
    """What a peer makes of a file, and what it says where it refuses it."""
    path = job.path
    try:
        if job.kind == "MJCF":
            import mujoco

            if re.search(r'\balign(free)?="true"', path.read_text(encoding="utf-8", errors="replace")):
                return _unaligned(mujoco.MjSpec.from_file(str(path))), ""
            return mujoco.MjModel.from_xml_path(str(path)), ""
        if job.drake or job.kind == "SDF":
            from support.drake_from_file import drake_plant

            return drake_plant(path, [inner for folder in job.folders for inner in folder.iterdir() if inner.is_dir()]), ""
        text = _urdf(job)
    except Exception as error:
        return None, f"{type(error).__name__}: {error}"[:300]
    return text, ""


def _urdf(job: Job) -> str:
    """The text of a URDF that Pinocchio reads."""
    import pinocchio as pin

    text = job.path.read_text(encoding="utf-8") if job.kind == "URDF" else _expanded(job)[0]
    text = re.sub(r'="\s*([^"]*?)\s*"', r'="\1"', text)  # (Pinocchio drops an inertia with a blank in a number)
    pin.buildModelFromXML(text)
    return text


def _unaligned(spec: Any) -> Any:
    """A model of MuJoCo whose free bodies keep their frames, as ours do, with a remark."""
    spec.compiler.alignfree = False
    for joint in spec.joints:
        joint.align = 0
    return spec.compile()


def _expanded(job: Job) -> tuple[str, dict[str, str]]:
    """The URDF that a xacro file makes, and the values of arguments that it needs."""
    from linkwise.errors import FileError
    from linkwise.files.formats.xacro import expand

    values: dict[str, str] = {}
    while True:
        try:
            return expand(job.path, values, job.folders)[0], values
        except FileError as error:
            missing = re.search(r"Undefined substitution argument (\w+)", str(error))
            if missing is None or missing[1] in values or missing[1] not in ARGUMENTS:
                raise
            values[missing[1]] = ARGUMENTS[missing[1]]


def _pinocchio(mechanism: Any, text: str) -> Iterator[tuple[str, float]]:
    from support.pinocchio_from_urdf import UrdfTwin
    from support.random_mechanisms import direct, random_state

    links = [link.replace(motor=None) for link in mechanism.links]  # (Pinocchio reads no rotors)
    mechanism = mechanism.replace(springs=(), loops=(), links=links)
    twin = UrdfTwin(text, mechanism)
    theirs, ours = set(twin.links()) - {"world"}, set(mechanism.link_names) - {"world"}
    names = {name: name for name in theirs & ours} | dict(zip(sorted(theirs - ours), sorted(ours - theirs), strict=False))
    if len(theirs - ours) > 1:
        raise AssertionError(f"links that we do not have: {sorted(theirs - ours)}")
    for seed in range(2):
        q, qd, qdd = random_state(mechanism, seed)
        poses, wanted = direct(mechanism, "link_poses", q), twin.poses(q)
        size = max(1.0, *(np.abs(pose[:3, 3]).max() for pose in wanted.values()))
        for there, here in names.items():
            yield f"pose of {there}", float(np.abs(poses[mechanism.link_index(here)] - wanted[there]).max() / size)
        mass = twin.mass_matrix(q)
        yield "mass matrix", _relative(direct(mechanism, "mass_matrix", q), mass)
        if "planar" not in {link.joint for link in mechanism.links}:
            tau = twin.inverse_dynamics(q, qd, qdd)
            yield "inverse dynamics", _relative(direct(mechanism, "inverse_dynamics", q, qd, qdd), tau)
            yield from _forward(mechanism, q, qd, qdd, tau, mass)
        for there in sorted(names)[:: max(1, len(names) // 4)]:
            yield (
                f"Jacobian of {there}",
                _relative(direct(mechanism, "jacobian", q, link=names[there]), twin.jacobian(q, there)),
            )


def _mujoco(mechanism: Any, model: Any, remarks: str) -> Iterator[tuple[str, float]]:
    from support.mujoco_from_mjcf import MujocoTwin
    from support.random_mechanisms import computed, random_state

    yield "nothing", 0.0
    if model.nbody > 1:
        still = {f"of body {k}" for k in range(1, model.nbody) if model.body_weldid[k] == 0 or model.body_mocapid[k] >= 0}
        for what, difference in MujocoTwin(mechanism, model).residuals(1):
            of_mass = what.partition(" of ")[0] in {"mass", "tensor", "centre"} and f"of body {what.split()[-1]}" in still
            if not (of_mass and "read without mass" in remarks):
                yield what, difference
    q, qd, qdd = random_state(mechanism.replace(loops=()), 3)
    bare = mechanism.replace(loops=())
    if len(qd):
        yield from _forward(
            bare, q, qd, qdd, computed(bare, "inverse_dynamics", q, qd, qdd), computed(bare, "mass_matrix", q)
        )


def _forward(mechanism: Any, q: Any, qd: Any, qdd: Any, tau: Any, mass: Any) -> Iterator[tuple[str, float]]:
    """The efforts that the error of the accelerations would take, where every motion has a mass."""
    from support.random_mechanisms import computed

    if len(qd) and np.linalg.eigvalsh(mass)[0] > 1e-12 * np.abs(mass).max():
        error = computed(mechanism, "forward_dynamics", q, qd, tau) - qdd
        yield "forward dynamics", float(np.abs(mass @ error).max() / max(np.abs(tau).max(), np.abs(mass @ qdd).max(), 1e-9))


def _relative(found: Any, wanted: Any) -> float:
    if np.shape(found) != np.shape(wanted):
        raise AssertionError(f"shape {np.shape(found)}, but {np.shape(wanted)} there")
    return float(np.abs(found - wanted).max(initial=0.0) / max(np.abs(wanted).max(initial=0.0), 1e-9))


def compare_states(job: Job) -> Outcome:
    """The named states of an SRDF beside those that Pinocchio reads of it, on the robot of the URDF that it belongs to."""
    import pinocchio as pin

    from linkwise import files
    from linkwise.errors import FileError
    from support.pinocchio_from_urdf import UrdfTwin

    robot = _robot(job)
    if robot is None:
        return Outcome(job.kind, "without its URDF")
    mechanism, text = robot
    floats = "root_joint" in job.path.read_text(encoding="utf-8", errors="replace") and not mechanism.floating
    mechanism = mechanism.replace(floating=True) if floats else mechanism
    word = "agrees"
    try:
        semantics = files.read_srdf(job.path, mechanism)
    except FileError as error:
        word, semantics = "agrees after changes", files.read_srdf(job.path, mechanism, drop_unknown=True)
        reason = str(error)
    else:
        reason = f"{len(semantics.groups)} groups, {len(semantics.states)} states"
    twin = UrdfTwin(text, mechanism, free=floats)
    pin.loadReferenceConfigurations(twin.model, str(job.path), False)
    theirs = {entry.key(): entry.data() for entry in twin.model.referenceConfigurations}
    last = {name: (group, name) for group, name in semantics.states}  # (Pinocchio keeps one of each name, without its group)
    worst = 0.0
    for group, name in last.values():
        difference = twin.at(semantics.configuration(name, group)) - theirs[name]
        for joint, link, _ in twin.joints():
            if link.mimic is not None:  # (which Pinocchio lets move by itself)
                difference[joint.idx_q : joint.idx_q + joint.nq] = 0.0
        worst = max(worst, float(np.abs(difference).max(initial=0.0)))
    return Outcome(job.kind, word if worst <= BOUND else "differs", worst, reason)


def _robot(job: Job) -> tuple[Any, str] | None:
    """The robot that an SRDF is for: of its name, or in a folder beside it; of several that which misses fewest joints."""
    said = job.path.read_text(encoding="utf-8", errors="replace")
    name = re.search(r"<robot[^>]*\sname\s*=\s*[\"']([^\"']+)", said)
    joints = set(re.findall(r"<(?:passive_)?joint\s+name\s*=\s*[\"']([^\"']+)", said))
    joints -= set(re.findall(r"<virtual_joint\s+[^>]*name\s*=\s*[\"']([^\"']+)", said))
    best, fewest = None, max(len(joints), 1)  # (it has to know one of them)
    for path in candidates(job.root):
        if path.suffix.lower() not in {".urdf", ".xacro"}:
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        named = name and re.search(rf"<robot[^>]*\sname\s*=\s*[\"']{re.escape(name[1])}[\"']", text)
        if not named and job.path.parent.parent not in path.parents:
            continue
        model = Job(path, job.root, job.folders, False)
        peer, _ = _peer(model)
        mechanism, _, _ = _ours(model)
        if peer is None or mechanism is None:
            continue
        missing = len(joints - {link.coordinate_name for link in mechanism.links})
        if missing < fewest:
            best, fewest = (mechanism, peer), missing
    return best


# ── the report ────────────────────────────────────────────────────────────────────────────────────


def report(named: list[tuple[Path, Outcome]], *, everything: bool) -> None:
    """Print the counts, what differs, and why we refuse what a peer reads."""
    table: dict[str, Counter[str]] = defaultdict(Counter)
    for _, outcome in named:
        table[outcome.word][outcome.kind] += 1
    kinds = sorted({outcome.kind for _, outcome in named})
    print(f"{'models':24s}" + "".join(f"{kind:>8s}" for kind in [*kinds, "all"]))
    for word, counts in sorted(table.items(), key=lambda item: -item[1].total()):
        print(f"{word:24s}" + "".join(f"{counts[kind]:8d}" for kind in kinds) + f"{counts.total():8d}")
    agreeing = [outcome.residual for _, outcome in named if outcome.word == "agrees"]
    if agreeing:
        print(f"largest relative difference of those that agree: {max(agreeing):.1e}; median {np.median(agreeing):.1e}")
    for word in ("refused by us", "refused by both"):
        refused = Counter(_reason(outcome.reason) for _, outcome in named if outcome.word == word)
        for reason, count in refused.most_common():
            print(f"{word}: {count:4d}  {reason}")
    for path, outcome in sorted(named, key=lambda one: (one[1].word, one[1].reason)):
        if everything or outcome.word in {"differs", "failed", "crashed", "too slow", "refused by us"}:
            first = " ".join(outcome.reason.split())
            print(f"{outcome.word}: {path} ({outcome.kind}) {outcome.residual:.1e} {first[:240]}")


def _reason(message: str) -> str:
    return next((reason for reason, pattern in REASONS.items() if re.search(pattern, message)), "another reason")


if __name__ == "__main__":
    main()
