"""The process of a server: it starts, reports its address, and ends when the process of the cycle does."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import importlib
import json
import os
import pickle
import signal
import sys
import threading
import time

from linkwise.server.settings import ServerSettings

#: Reduction of its priority relative to the cycle if processors are scarce (POSIX nice).
NICER = 5

_STDIN = 0

#: Time for a regular end of the server, s; then it is killed.
MERCY = 3.0


def main() -> None:
    """Serve until standard input closes."""
    gc.disable()  # (the standard's six thousand nodes are only made once; then they are set aside)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # (meant for the process of the cycle, which then ends this one)
    if hasattr(os, "nice"):
        with contextlib.suppress(OSError):
            os.nice(NICER)
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
        file.write("1000")  # (where memory runs out, Linux ends this process and not that of the cycle)
    settings: ServerSettings = pickle.loads(bytes.fromhex(_line().decode()))  # (from the process that started this one)
    module, _, function = sys.argv[2].partition(":")
    asyncio.run(_served(getattr(importlib.import_module(module), function), settings))


async def _served(serve: object, settings: ServerSettings) -> None:
    loop, gone = asyncio.get_running_loop(), asyncio.Event()

    def watch() -> None:
        while os.read(_STDIN, 4096):
            pass
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(gone.set)
        time.sleep(MERCY)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
    assert callable(serve)
    try:
        await serve(settings, _tell, gone)
    except OSError as error:
        _tell({"error": error.strerror or str(error)})
    except Exception as error:
        _tell({"error": f"{type(error).__name__}: {error}"})
        raise


def _line() -> bytes:
    """Read the first line of standard input, without a buffer, as a thread reads the remaining input."""
    pieces = [b""]
    while not pieces[-1].endswith(b"\n"):
        pieces.append(os.read(_STDIN, 65536))
        if not pieces[-1]:
            sys.exit(1)
    return b"".join(pieces)


def _tell(message: dict[str, object]) -> None:
    """Say something to the process of the cycle."""
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()
