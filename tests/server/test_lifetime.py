"""Neither process holds up the other, and neither outlives it when it should not."""

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

pytest.importorskip("asyncua")

from linkwise.server import Server, service
from support.served_chain import AChain, alive, until

posix = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")

SERVING = """
import sys
sys.path.insert(0, sys.argv[1])
from support.served_chain import AChain
from linkwise.server import Server, run
chain, last = AChain(), "serving"
with Server(chain.ports, port=0) as server:
    print(server._process.pid, flush=True)
    while True:
        told = run(chain, 5e-3, cycles=20, before=server.take, after=server.publish, spin=0.0)
        if server.state != last:
            last = server.state
            print(last, told.cycles, flush=True)
"""


def shared() -> set[str]:
    return set(os.listdir("/dev/shm")) if os.path.isdir("/dev/shm") else set()


@posix
def test_a_server_that_stands_still_is_told_and_none_is_left_behind_by_a_cycle_that_is_killed() -> None:
    before = shared()
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(SERVING), str(Path(__file__).parents[1])], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    child = int(process.stdout.readline())
    assert alive(child)
    os.kill(child, signal.SIGINT)  # (Ctrl-C reaches both processes: it is meant for that of the cycle)
    os.kill(child, signal.SIGSTOP)
    assert process.stdout.readline() == "stalled 20\n"  # (all twenty cycles of a run were done meanwhile)
    os.kill(child, signal.SIGCONT)
    assert process.stdout.readline() == "serving 20\n"
    process.kill()
    process.communicate(timeout=60)
    assert until(lambda: not alive(child))
    assert shared() <= before


def test_the_cycle_goes_on_without_a_server_that_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "_BEGIN", """print('{"port": 4840}')""")  # (says that it serves, and is gone)
    chain = AChain()
    with Server(chain.ports, port=0) as gone:
        assert until(lambda: gone.state == "ended")
        for _ in range(1000):
            gone.take()
            chain.step(1e-3)
            gone.publish()
        assert set(gone.counts.values()) == {0}
    gone.close()  # (once more does no harm)
