"""The crane of the examples on a ship whose motion a client in another process tells, while others try what they may not."""

import asyncio
import contextlib
import math
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("asyncua")

from asyncua import ua

from linkwise.control import load
from linkwise.control.recording import Recorder
from support.served_chain import PASSWORD, client, node, read, write

CRANE = Path(__file__).parents[2] / "examples" / "data" / "ship_crane.toml"
SERVE = "import sys; from linkwise.cli import main; main(sys.argv[1:])"
LIMITS = ("slew.max_theta_speed", "boom.max_theta_speed", "jib.max_theta_speed", "telescope.max_d_speed", "hook.max_speed")
HOLD = load(CRANE)["hold.position"]


def ship(t: float) -> dict[str, list[float]]:
    """Where the deck is and how it moves: heave and roll as sines."""
    w, heave, roll = 0.9, 0.6, math.radians(2.0)
    return {
        "start.position": [0.0, 0.0, 6.0 + heave * math.sin(w * t)],
        "start.angles": [roll * math.sin(w * t), 0.0, 0.0],
        "start.velocity": [0.0, 0.0, heave * w * math.cos(w * t)],
        "start.angular_velocity": [roll * w * math.cos(w * t), 0.0, 0.0],
    }


@contextlib.contextmanager
def served(users: Path, record: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The command in a process of its own, and its address."""
    given = ["serve", str(CRANE), "--port", "0", "--users", str(users), "--record", str(record), "--rate", "200"]
    running = subprocess.Popen([sys.executable, "-c", SERVE, *given], stdout=subprocess.PIPE, text=True)
    try:
        assert running.stdout is not None
        yield running, running.stdout.readline().split()[-1]
    finally:
        running.terminate()
        running.communicate(timeout=60)


async def drive(address: str) -> list[float]:
    """Tell the ship's motion 60 times; how far the hook then is from where it is held, m."""
    away = []
    async with client(address, "anna", PASSWORD) as anna:
        for name in LIMITS:  # (a ship that is told in jumps is faster than a real one)
            assert await write(anna, name, math.inf) == "Good"
        nodes = {name: await node(anna, name) for name in ship(0.0)}
        seen = [await node(anna, name) for name in ("hook.world_position", "chain.unsolved", "start.position")]
        for k in range(60):
            told = ship(0.03 * k)
            values = [ua.DataValue(ua.Variant(value, ua.VariantType.Double)) for value in told.values()]
            await anna.write_values(list(nodes.values()), values)
            hook, unsolved, start = await anna.read_values(seen)
            assert start == told["start.position"]
            assert unsolved is False
            away.append(float(np.linalg.norm(np.array(hook) - HOLD)))
    return away


async def misuse(address: str) -> list[str]:
    """What becomes of those who may not write."""
    told = []
    async with client(address) as nobody:
        told.append(await write(nobody, "hold.position", [0.0, 0.0, 0.0]))
        told.append(await write(nobody, "hook.solved_position", [0.0, 0.0, 0.0]))
    for name, password in (("admin", "wrong"), ("admin", ""), ("anna", "wrong")):
        try:
            async with client(address, name, password):
                told.append("let in")
        except ua.UaStatusCodeError as error:
            told.append(type(error).__name__)
    async with client(address, "anna", PASSWORD) as anna:
        told.append(await write(anna, "hook.solved_position", [0.0, 0.0, 0.0]))
        told.append(await write(anna, "slew.theta", 1.0))  # fed by slew.theta_solved
        told += [str(np.array(await read(anna, "hold.position")).tolist() == HOLD.tolist())]
    return told


def test_a_client_drives_the_crane_and_a_hostile_one_changes_nothing(users: Path, tmp_path: Path) -> None:
    record = tmp_path / "crane.npz"
    with served(users, record) as (running, address):

        async def visit() -> tuple[list[float], list[str]]:
            away, told = await asyncio.gather(drive(address), misuse(address))
            return away, told

        away, told = asyncio.run(visit())
        assert running.poll() is None
    assert told == [*["BadUserAccessDenied"] * 5, "BadNotWritable", "BadNotWritable", "True"]
    # Each answer is of the cycle that took the ship's motion: as exact as the solver, 1e-10 m, and the sums beside.
    print(f"hook at most {max(away):.1e} m away")
    assert max(away) < 1e-9
    seen = Recorder.load(record)
    assert not seen.read("chain.unsolved").any()
    assert (seen.read("hold.position") == HOLD).all()
    assert np.ptp(seen.read("start.position")[:, 2]) > 0.4
