"""Neither process holds up the other, and neither outlives it when it should not."""

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

pytest.importorskip("asyncua")

from a_served_chain import Running, alive, until

posix = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")

SERVING = """
import sys
sys.path.insert(0, sys.argv[1])
from a_served_chain import AChain
from linkwise.control.serve import Server, run
chain = AChain()
with Server(chain.ports, port=0) as server:
    print(server._process.pid, flush=True)
    run(chain, 5e-3, before=server.take, after=server.publish, spin=0.0)
"""


@posix
def test_a_server_that_stands_still_or_ends_is_told_and_the_cycle_goes_on() -> None:
    with Running() as running:
        server = running.server._process.pid
        os.kill(server, signal.SIGINT)  # (Ctrl-C reaches both processes: it is meant for that of the cycle)
        os.kill(server, signal.SIGSTOP)
        assert until(lambda: running.server.state == "stalled")
        assert running.moves_on()
        os.kill(server, signal.SIGCONT)
        assert until(lambda: running.server.state == "serving")
        os.kill(server, signal.SIGKILL)
        assert until(lambda: running.server.state == "ended")
        assert running.moves_on()
        assert set(running.server.counts) >= {"sessions", "accepted", "denied"}
    running.server.close()  # (once more does no harm)


@posix
def test_no_server_is_left_behind_when_the_process_of_the_cycle_is_killed() -> None:
    before = set(os.listdir("/dev/shm")) if os.path.isdir("/dev/shm") else set()
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(SERVING), str(Path(__file__).parent)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    server = int(process.stdout.readline())
    assert alive(server)
    process.kill()
    process.communicate(timeout=60)
    assert until(lambda: not alive(server))
    assert (set(os.listdir("/dev/shm")) if os.path.isdir("/dev/shm") else set()) <= before
