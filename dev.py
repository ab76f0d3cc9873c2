"""Use a checkout with nothing but Python: ``python3 dev.py run``, ``test``, ``check`` and ``docs``.

All of them make a virtual environment in ``.venv`` if there is none, install Linkwise and what the command needs into it,
and leave the rest of the machine alone. Where that is done already it takes no time. Further words are passed on:
``python3 dev.py test -k kernel`` is pytest's, ``python3 dev.py run MECHANISM MOTION`` is that of ``linkwise run``.
"""

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

if sys.version_info < (3, 11):  # noqa: UP036  (an older Python is what this is for)
    sys.exit(f"dev.py: Linkwise needs Python 3.11 or newer, and this is {sys.version.split()[0]}; try python3.11 dev.py")

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
STAMP = VENV / "linkwise-setup.txt"
PROGRAMS = "Scripts" if os.name == "nt" else "bin"
FOREIGN = {"PYTHONHOME", "PYTHONPATH", "PIP_USER", "PIP_TARGET", "PIP_PREFIX"}
"""Variables by which another Python, or other habits, would reach into the virtual environment."""
SLOWING = {"PYTHONDONTWRITEBYTECODE"}
"""Without bytecode, each of the processes that the tests start compiles the package anew."""
SLOWEST_IMPORT = 4.0
"""How many times as long as `import numpy` on the same machine, as busy as it is, importing Linkwise may take."""


def program(venv: Path, name: str) -> str:
    """The path of a program in a virtual environment."""
    return str(venv / PROGRAMS / (f"{name}.exe" if os.name == "nt" else name))


def environment() -> dict[str, str]:
    """The environment of what is started here: nothing of another Python reaches in, caches that have no home get one."""
    kept = {key: value for key, value in os.environ.items() if key not in FOREIGN | SLOWING}
    home = Path(kept.get("HOME") or "/nonexistent")
    if os.name == "posix" and not os.access(home, os.W_OK):
        kept["HOME"] = str(VENV / "home")
        Path(kept["HOME"]).mkdir(parents=True, exist_ok=True)
    return {**kept, "PYTHONNOUSERSITE": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "VIRTUAL_ENV": str(VENV)}


def say(text: str) -> None:
    """Tell what is going on, on the error stream, so that results can be piped."""
    print(f"dev.py: {text}", file=sys.stderr, flush=True)


def call(*command: str, cwd: Path = ROOT, quiet: bool = False) -> int:
    """Run a command, shown first unless quiet; its exit status."""
    if not quiet:
        say("$ " + " ".join(Path(word).stem if k == 0 else word for k, word in enumerate(command)))
    return subprocess.run(command, cwd=cwd, env=environment(), check=False).returncode


def need(*command: str, cwd: Path = ROOT) -> None:
    """Run a command, shown first; leave with its exit status if it fails."""
    if status := call(*command, cwd=cwd):
        sys.exit(status)


# ── setting up ────────────────────────────────────────────────────────────────────────────────────


def set_up(extras: set[str]) -> None:
    """Make ``.venv`` and install Linkwise with these extras, as far as that has not been done."""
    project = (ROOT / "pyproject.toml").read_bytes()
    state = f"{ROOT}\n{hashlib.sha256(project).hexdigest()}\n"
    done = STAMP.read_text(encoding="utf-8") if STAMP.is_file() else ""
    have = set(done.removeprefix(state).split()) if done.startswith(state) else set()
    python = program(VENV, "python")
    if extras <= have and Path(python).exists():
        return
    start = time.monotonic()
    if not Path(python).exists():
        say(f"making a virtual environment in {VENV}")
        make_venv(VENV)
    elif subprocess.run([python, "-c", "import pip"], capture_output=True, env=environment(), check=False).returncode:
        call(python, "-m", "ensurepip", "--default-pip", quiet=True)
    wanted = extras | have
    say(f"installing Linkwise with the extras {', '.join(sorted(wanted))} (a minute or so, the first time)")
    status = install(python, "-e", f".[{','.join(sorted(wanted))}]")
    if status and "peers" in wanted:
        say("not all peers can be installed here; trying without: the comparisons with them will be skipped")
        wanted -= {"peers"}
        status = install(python, "-e", f".[{','.join(sorted(wanted))}]")
    if status:
        sys.exit(f"dev.py: pip could not install Linkwise (exit status {status}); its message stands above")
    STAMP.write_text(state + " ".join(sorted(wanted)), encoding="utf-8")
    say(f"set up in {time.monotonic() - start:.0f} s")


def make_venv(place: Path) -> None:
    """Make a virtual environment with pip in it."""
    for module in ("venv", "ensurepip"):
        if importlib.util.find_spec(module) is None:
            sys.exit(f"dev.py: this Python lacks the module {module}; on Debian and Ubuntu: sudo apt install python3-venv")
    # Not in this process: a Python that is itself in a virtual environment would hand on less than its own.
    made = subprocess.run([sys.executable, "-m", "venv", "--clear", str(place)], capture_output=True, text=True, check=False)
    if made.returncode:
        told = (made.stdout + made.stderr).strip().splitlines() or ["no message"]
        sys.exit(f"dev.py: no virtual environment could be made in {place}: {told[-1]}")


def install(python: str, *what: str) -> int:
    """Install with pip, which speaks only of what goes wrong; the exit status."""
    return call(python, "-m", "pip", "install", "--quiet", "--no-input", *what, quiet=True)


# ── the commands ──────────────────────────────────────────────────────────────────────────────────


def run(words: list[str]) -> None:
    """Run the main job: a mechanism and a motion in; tables, files and pictures out. Further words: ``linkwise run``'s."""
    set_up({"planar", "plot", "scipy", "sympy", "view"})
    linkwise, data = program(VENV, "linkwise"), Path("examples/data")
    if words:
        sys.exit(subprocess.run([linkwise, "run", *words], env=environment(), check=False).returncode)
    need(linkwise, "show", "puma560", "--q", "30deg,45deg,-135deg,20deg,-40deg,0", "--save", str(out("puma560.png")))
    need(linkwise, "run", str(data / "SCARA.DAT"), str(data / "SCARA.MOT"), "-o", str(out("scara")))
    need(linkwise, "run", "puma560", str(data / "puma560_reach.csv"), "-o", str(out("puma560_reach")))
    need(linkwise, "view", "puma560", str(data / "puma560_reach.csv"), "--export", str(out("puma560.html")))
    say("made:")
    for made in (
        ROOT / out("puma560.png"),
        ROOT / out("puma560.html"),
        *sorted((ROOT / out("scara")).iterdir()),
        *sorted((ROOT / out("puma560_reach")).iterdir()),
    ):
        say(f"  {made.relative_to(ROOT)}")
    say("to use linkwise yourself: source .venv/bin/activate (Windows: .venv\\Scripts\\activate)")


def out(name: str) -> Path:
    """A place in the folder ``out``, which is made."""
    (ROOT / "out").mkdir(exist_ok=True)
    return Path("out") / name


def test(words: list[str]) -> None:
    """Run the tests: further words are pytest's."""
    set_up({"plot", "dev", "peers"})
    need(program(VENV, "python"), "-m", "pytest", *(words or spread()))


def spread() -> list[str]:
    """Options of pytest that share the files of tests among as many processes as there are processors, four at most."""
    return ["-n", str(min(4, os.cpu_count() or 1)), "--dist", "loadfile"]


def check(words: list[str]) -> None:
    """Check everything that tests do not: style, types, the package as users install it."""
    if words:
        sys.exit(f"dev.py: check takes no further words, got {' '.join(words)}")
    set_up({"plot", "dev", "peers"})
    python = program(VENV, "python")
    failed = [tool for tool in ("ruff check .", "ruff format --check .") if call(python, "-m", *tool.split())]
    with tempfile.TemporaryFile(mode="w+", encoding="utf-8") as told, tempfile.TemporaryDirectory() as folder:
        # Types take a processor half a minute, during which the package is made and tried on another.
        types = subprocess.Popen([python, "-m", "mypy"], cwd=ROOT, env=environment(), stdout=told, stderr=told)
        try:
            made = check_package(Path(folder))
        finally:
            status = types.wait()
            told.seek(0)
            say(f"$ python -m mypy\n{told.read().rstrip()}")
        check_import(made, Path(folder))
    if status:
        failed.append("mypy")
    if failed:
        sys.exit("dev.py: these failed: " + ", ".join(failed))


def check_package(folder: Path) -> str:
    """Build the package, install it elsewhere without extras, and run a job there; the Python that has it."""
    need(program(VENV, "python"), "-m", "build", "--outdir", str(folder / "dist"), str(ROOT))
    wheels = list((folder / "dist").glob("linkwise-*-py3-none-any.whl"))
    if len(wheels) != 1:
        sys.exit("dev.py: expected one wheel for every platform (py3-none-any)")
    make_venv(folder / "venv")
    python = program(folder / "venv", "python")
    need(python, "-m", "pip", "install", "--quiet", "--no-input", str(wheels[0]))
    shutil.copy(ROOT / "examples" / "data" / "SCARA.MOT", folder)
    need(program(folder / "venv", "linkwise"), "run", "scara_icomatic", "SCARA.MOT", "-o", "results", cwd=folder)
    if not (folder / "results" / "joints.csv").stat().st_size:
        sys.exit("dev.py: the installed package wrote no results")
    return python


def check_import(python: str, folder: Path) -> None:
    """Time the import of the installed package beside NumPy's own, with nothing else of ours running."""
    timed = (
        "import time; start = time.perf_counter(); import numpy; between = time.perf_counter(); import linkwise; "
        "linkwise.Mechanism; print(between - start, time.perf_counter() - between)"
    )
    runs = [subprocess.run([python, "-c", timed], cwd=folder, capture_output=True, check=True).stdout for _ in range(7)]
    of_numpy, own = (min(times) for times in zip(*(map(float, run.split()) for run in runs), strict=True))
    say(f"import numpy: {of_numpy:.3f} s; then linkwise.Mechanism: {own:.3f} s, at most {SLOWEST_IMPORT} times that")
    if own > SLOWEST_IMPORT * of_numpy:
        sys.exit("dev.py: importing Linkwise takes too long")


def docs(words: list[str]) -> None:
    """Build the documentation site into out/site, warnings as errors; check every link of it, and open it in a browser."""
    set_up({"plot", "dev", "docs"})
    need(program(VENV, "python"), "docs/make_site.py", *words)


COMMANDS = {"run": run, "test": test, "check": check, "docs": docs}


def main() -> None:
    """Find the command."""
    name, words = (sys.argv[1] if len(sys.argv) > 1 else ""), sys.argv[2:]
    if name not in COMMANDS:
        print(__doc__)
        for command, function in COMMANDS.items():
            print(f"  python3 dev.py {command:7} {function.__doc__}")
        sys.exit(0 if name in {"-h", "--help", "help"} else 2)
    COMMANDS[name](words)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("dev.py: stopped")
