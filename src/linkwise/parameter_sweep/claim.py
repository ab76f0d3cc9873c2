"""What a folder of results is for: one sweep, and one process at a time that runs it."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Generator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from linkwise.errors import ArgumentError, FileError, FileProblem, choices
from linkwise.files.atomic import TextFile, cannot_write, locked


def claim(path: Path, settings: Mapping[str, Any]) -> None:
    """Note in a file what its folder is for; refuse a folder that is for something else.

    Of several that come at once one makes the file, and the others read it.

    Raises
    ------
    ArgumentError
        Where the folder is for other settings: which.
    FileError
        Where the file cannot be read or written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(path, error) from error
    if _is_new(path, json.dumps(settings, indent=2) + "\n"):
        return
    try:
        known = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise FileError(path, [FileProblem(0, f"cannot be read: {error}")]) from error
    if settings["digest"] is None:
        raise ArgumentError(
            f"sweep: {path.parent} holds results, and those of {settings['mechanism']!r}, with parts of other packages,"
            " cannot be distinguished from others; expected another folder"
        )
    other = [name for name, value in settings.items() if not isinstance(known, dict) or known.get(name) != value]
    if other:
        raise ArgumentError(
            f"sweep: {path.parent} holds results of another {choices(other)}; expected the same sweep to be continued, or"
            " another folder"
        )


def _is_new(path: Path, text: str) -> bool:
    """Make a file with this text, whole from the beginning; whether there was none."""
    if path.exists():
        return False
    try:
        file = TextFile(path, 0o666)
    except OSError as error:
        raise cannot_write(path, error) from error
    try:
        file.write(text)
        file.close()
        with suppress(OSError):
            os.chmod(file.temporary, 0o644)
        os.link(file.temporary, path)
    except FileExistsError:
        return False
    except OSError:  # (a file system without links)
        try:
            with path.open("x", encoding="utf-8") as plain:
                plain.write(text)
        except FileExistsError:
            return False
        except OSError as error:
            raise cannot_write(path, error) from error
    finally:
        file.drop()
    return True


@contextmanager
def alone(path: Path) -> Generator[None]:
    """Hold a file that is there, so that no other process does; the system lets go of it when this process ends.

    Raises
    ------
    ArgumentError
        Where another process holds it.
    """
    with path.open("rb") as file, ExitStack() as held:
        try:
            held.enter_context(locked(file.fileno(), wait=False))
        except OSError as error:
            if error.errno in {errno.EACCES, errno.EAGAIN}:  # (a file system that knows no locks has all of them free)
                raise ArgumentError(
                    f"sweep: one is running in {path.parent} now; expected another folder, or to wait for its end"
                ) from None
        yield
