"""The data files that the manual prints, in its formats; `linkwise spacelib data` copies them.

G. Legnani et al., *SpaceLib for MATLAB, User's Manual*: tables 4.2 (INP.DAT), 7.2 (SCARA.DAT), 7.3 (SCARA.MOT), 7.4
(SMART.DAT, SMART.MOT), 7.6 (TEST.DAT), 7.10 (ELBOW.DAT) and 7.12 (GUESS.1ST), digits as printed.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from linkwise.errors import ArgumentError, FileError, FileProblem, members, shown
from linkwise.files.atomic import write_text
from linkwise.files.text import read_text

MEANINGS = {
    "SCARA.DAT": "a SCARA robot: frames, masses, gravity (table 7.2)",
    "SCARA.MOT": "two instants of its joints (table 7.3)",
    "SMART.DAT": "a robot with six joints (table 7.4)",
    "SMART.MOT": "one instant of its joints (table 7.4)",
    "TEST.DAT": "two links that float, with their initial motion (table 7.6)",
    "ELBOW.DAT": "lengths of the links of the elbow robot (table 7.10)",
    "GUESS.1ST": "first guess of its joint angles (table 7.12)",
    "INP.DAT": "a system of four equations in five unknowns (table 4.2)",
}
"""What each file holds."""

WRITTEN_BY = {"TEST.MOT": "test-mot", "JOINT.MOT": "joint-mot", "GRIPPER.MOT": "elb-d-dh"}
"""Files of which the manual prints only the beginning, and the commands that write them."""


def names() -> tuple[str, ...]:
    """Names of the bundled files.

    Examples
    --------
    >>> names()[:2]
    ('SCARA.DAT', 'SCARA.MOT')
    """
    return tuple(MEANINGS)


def path(name: str) -> Path:
    """Where a bundled file is.

    Parameters
    ----------
    name : str
        As in `names`; small letters will do.

    Raises
    ------
    ArgumentError
        Naming the files there are.

    Examples
    --------
    >>> path("guess.1st").read_text().split()
    ['.0', '.1', '.2', '.0', '.1', '.0']
    """
    known = name.upper()
    if known not in MEANINGS:
        raise ArgumentError(f"no bundled file {shown(name)}; there are {members(MEANINGS)}{_hint(known)}")
    return Path(str(files("linkwise.spacelib").joinpath("data", known)))


def found(name: str | Path) -> tuple[Path, bool]:
    """The file of that name, and whether it is a bundled one: taken where no file of the name exists.

    Parameters
    ----------
    name : str or Path
        A path, or the bare name of a bundled file.

    Raises
    ------
    FileError
        Where there is neither.
    """
    here = Path(name)
    if os.path.exists(here):
        return here, False
    known = str(here).upper()
    if known in MEANINGS:
        return path(known), True
    message = f"there is no such file; bundled are {members(MEANINGS)}{_hint(known)}"
    raise FileError(here, [FileProblem(0, message)])


def _hint(known: str) -> str:
    return f"; linkwise spacelib {WRITTEN_BY[known]} writes {known}" if known in WRITTEN_BY else ""


def copy(chosen: Sequence[str], folder: str | Path = ".", *, overwrite: bool = False) -> list[Path]:
    """Copy bundled files into a folder; those that are there already are left as they are.

    Parameters
    ----------
    chosen : sequence of str
        Their names; all where there is none.
    folder : str or Path
        Where to; made if needed.
    overwrite : bool
        Whether files that are there already may be replaced.

    Returns
    -------
    list of Path
        The files written; what is missing in it was left.

    Raises
    ------
    ArgumentError
        For a name that is not bundled.
    FileError
        Where a file cannot be written.
    """
    targets = {Path(folder) / source.name: source for source in (path(name) for name in chosen or names())}
    try:
        written = [target for target in targets if overwrite or not os.path.exists(target)]
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(folder, [FileProblem(0, f"cannot be made: {error.strerror or error}")]) from error
    for target in written:
        write_text(target, [read_text(targets[target])])
    return written
