"""Files of generated code, written all or none."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from linkwise.errors import FileError, FileProblem
from linkwise.files.atomic import cannot_write


@dataclass(frozen=True)
class Sources:
    """Generated files.

    Attributes
    ----------
    files : mapping of str to str
        Names and contents.
    operations : mapping of str to mapping of str to int
        For each function how many operations one call takes, by kind.
    command : str
        What compiles and tries them, to be typed in their folder.

    Examples
    --------
    >>> from linkwise import robots
    >>> from linkwise.export import export
    >>> made = export(robots.planar_2r(), ["gravity_torque"], "c")
    >>> list(made.files)
    ['planar_2r.h', 'planar_2r.c', 'planar_2r_test.c']
    """

    files: Mapping[str, str]
    operations: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    command: str = ""

    def write(self, folder: str | Path, *, force: bool = False) -> list[Path]:
        """Write all files, or none.

        Parameters
        ----------
        folder : str or Path
            Made if it is not there.
        force : bool
            Whether files of these names may be replaced.

        Returns
        -------
        list of Path
            What was written.

        Raises
        ------
        FileError
            Where a file is there already, or something cannot be written; no file has changed then, unless the system stops
            between two of them.
        """
        place = Path(folder)
        there = [name for name in self.files if os.path.lexists(place / name)]
        if there and not force:
            problems = [FileProblem(0, f"{name} is there already") for name in there]
            raise FileError(place, problems, "nothing is written; force (--force) replaces what is there")
        waiting: list[tuple[Path, Path]] = []
        try:
            place.mkdir(parents=True, exist_ok=True)
            for name, text in self.files.items():
                handle, temporary = tempfile.mkstemp(dir=place, prefix=f".{name}.", suffix=".part")
                waiting.append((Path(temporary), place / name))
                with os.fdopen(handle, "wb") as file:
                    file.write(text.encode())
            for temporary_path, target in waiting:
                if target.is_dir():
                    raise IsADirectoryError(21, f"{target.name} is a folder")
                temporary_path.chmod(0o666 & ~_mask())
            for temporary_path, target in waiting:
                temporary_path.replace(target)
        except (OSError, ValueError) as error:
            raise cannot_write(place, error) from error
        finally:
            for temporary_path, _ in waiting:
                with suppress(OSError):
                    temporary_path.unlink(missing_ok=True)
        return [target for _, target in waiting]


def _mask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
