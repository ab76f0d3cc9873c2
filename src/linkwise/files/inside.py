"""Paths that stand in files, kept to a folder."""

from __future__ import annotations

from pathlib import Path, PurePosixPath, PureWindowsPath


def path_inside(folder: Path, named: str) -> Path | None:
    """The path that a file in a folder names, links followed; None where it is absolute or leaves the folder.

    Examples
    --------
    >>> path_inside(Path("/srv"), "parts/arm.urdf").name, path_inside(Path("/srv"), "../etc/passwd")
    ('arm.urdf', None)
    """
    try:
        root = folder.resolve()
        path = (root / named).resolve()
    except (OSError, ValueError, RuntimeError):  # (a NUL in the name, a ring of links)
        return None
    return None if is_absolute(named) or not path.is_relative_to(root) else path


def is_absolute(named: str) -> bool:
    """Whether a path is absolute on any system, or names a drive.

    Examples
    --------
    >>> is_absolute("/etc"), is_absolute("C:parts"), is_absolute("parts/arm.urdf")
    (True, True, False)
    """
    windows = PureWindowsPath(named)
    return PurePosixPath(named).is_absolute() or windows.is_absolute() or bool(windows.drive)
