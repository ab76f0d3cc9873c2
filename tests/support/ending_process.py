"""Work that ends its process."""

from __future__ import annotations

import os
import time
from pathlib import Path


def end_once(folder: Path, number: int) -> int:
    """The number; the first process that gets 1 ends, and leaves the file ``ended``."""
    if number == 1 and not (folder / "ended").exists():
        (folder / "ended").touch()
        os._exit(1)
    return number


def wait_noted(folder: Path, number: int) -> int:
    """The number, after a minute; the file ``process-NUMBER`` is named by it and has the process."""
    (folder / f"process-{number}").write_text(str(os.getpid()))
    time.sleep(60)
    return number
