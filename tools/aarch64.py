"""Run tests on Linux for AArch64, emulated by qemu's user mode: ``python tools/aarch64.py [WORDS OF PYTEST]``.

Needs root, debootstrap and qemu-user-static; nothing is changed outside ``build/aarch64``, which is kept for the next run.
There, the packages of a small Debian are unpacked (its second stage is not needed), wheels for AArch64 are unpacked beside
it, and a virtual environment is made whose Python is a script that starts the emulator. So processes that Python starts
run emulated too. Without words it runs `SHARE`, the part of the tests that CI has time for.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
PLACE = REPOSITORY / "build" / "aarch64"
ROOT, VENV, WHEELS, STAMP = PLACE / "root", PLACE / "venv", PLACE / "wheels", PLACE / "set-up.txt"
PYTHON = VENV / "bin" / "python3"

SUITE, ARCHITECTURE, VARIANT, GLIBC = "trixie", "arm64", "minbase", 41
LIBRARIES = ["pytest", "pytest-xdist", "hypothesis", "mpmath", "scipy"]
"""What the tests need besides Linkwise's own dependencies."""

SURROUNDINGS = {"QEMU_CPU": "cortex-a72", "OPENBLAS_CORETYPE": "ARMV8", "OPENBLAS_NUM_THREADS": "1"}
"""A processor that qemu emulates without errors, and the code of OpenBLAS that fits it."""

SHARE = [
    "tests/kernel/test_iteration.py",
    "tests/kernel/test_fastcall.py",
    "tests/kernel/test_entry_outputs.py",
    "tests/kernel/test_hosts.py",
    "tests/kernel/backends/llvm/test_linker.py",
    "tests/kernel/backends/llvm/test_loaders.py",
    "tests/kernel/test_lowerings.py",
    "tests/kernel/test_rollout.py",
    "tests/kernel/test_sequence.py",
    "tests/inverse_kinematics/test_multi_start.py",
    "tests/solve/test_warm_starts.py",
]
"""Tests of kernels, laws and solvers: as many as two processors emulate in three or four minutes."""


def call(*command: str | Path, **options: object) -> None:
    """Run a command, shown first; leave with its exit status if it fails."""
    print("$", *(Path(word).name if k == 0 else word for k, word in enumerate(command)), flush=True)
    if status := subprocess.run([*map(str, command)], check=False, **options).returncode:  # type: ignore[call-overload]
        sys.exit(status)


def set_up(mirror: str | None) -> None:
    """Make the environment, as far as that has not been done."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    wanted = [*project["project"]["dependencies"], *LIBRARIES]
    state = f"{REPOSITORY} {SUITE} {wanted}\n"
    if STAMP.is_file() and STAMP.read_text(encoding="utf-8") == state:
        return
    missing = [name for name in ("debootstrap", "dpkg-deb", "qemu-aarch64-static") if shutil.which(name) is None]
    if missing or os.geteuid():
        sys.exit(f"aarch64.py: needs {', '.join(missing) or 'root, for debootstrap'}")
    shutil.rmtree(PLACE, ignore_errors=True)
    PLACE.mkdir(parents=True)
    unpack_system(mirror)
    version = make_venv()
    unpack_wheels(wanted, version)
    STAMP.write_text(state, encoding="utf-8")


def unpack_system(mirror: str | None) -> None:
    """Fetch and unpack the packages of a small Debian with Python."""
    options = ["--foreign", f"--arch={ARCHITECTURE}", f"--variant={VARIANT}", "--include=python3"]
    with open(PLACE / "debootstrap.log", "w", encoding="utf-8") as log:
        call("debootstrap", *options, SUITE, ROOT, *([mirror] if mirror else []), stdout=log, stderr=log)
    for package in sorted((ROOT / "var" / "cache" / "apt" / "archives").glob("*.deb")):
        subprocess.run(["dpkg-deb", "--extract", package, ROOT], check=True)


def make_venv() -> str:
    """Make a virtual environment whose Python is emulated; the version of that Python."""
    interpreter = (ROOT / "usr" / "bin" / "python3").resolve()
    version = interpreter.name.removeprefix("python")
    PYTHON.parent.mkdir(parents=True)
    exports = " ".join(f'{name}="${{{name}:-{value}}}"' for name, value in SURROUNDINGS.items())
    PYTHON.write_text(
        f'#!/bin/sh\nexport {exports}\nexec qemu-aarch64-static -L "{ROOT}" -0 "{PYTHON}" "{interpreter}" "$@"\n',
        encoding="utf-8",
    )
    PYTHON.chmod(0o755)
    settings = f"home = {interpreter.parent}\ninclude-system-site-packages = false\n"
    (VENV / "pyvenv.cfg").write_text(settings, encoding="utf-8")
    site = packages(version)
    site.mkdir(parents=True)
    (site / "linkwise.pth").write_text(f"{REPOSITORY / 'src'}\n", encoding="utf-8")
    return version


def packages(version: str) -> Path:
    """Where the libraries of the virtual environment are."""
    return VENV / "lib" / f"python{version}" / "site-packages"


def unpack_wheels(wanted: list[str], version: str) -> None:
    """Fetch wheels for AArch64 and unpack them into the virtual environment."""
    platforms = ["manylinux2014", *(f"manylinux_2_{minor}" for minor in range(17, GLIBC + 1))]
    options = [f"--platform={platform}_aarch64" for platform in platforms]
    options += ["--only-binary=:all:", f"--python-version={version}", "--implementation=cp", f"--dest={WHEELS}", "--quiet"]
    call(sys.executable, "-m", "pip", "download", *options, *wanted)
    for wheel in WHEELS.glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(packages(version))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mirror", help="where Debian's packages are fetched, if not at debootstrap's default")
    parser.add_argument("--set-up", action="store_true", help="make the environment only")
    arguments, words = parser.parse_known_args()
    set_up(arguments.mirror)
    if not arguments.set_up:
        processes = str(min(4, os.cpu_count() or 1))
        call(PYTHON, "-m", "pytest", *(words or ["-n", processes, "--dist", "loadfile", *SHARE]), cwd=REPOSITORY)


if __name__ == "__main__":
    main()
