"""A six-joint chain at 1 kHz, alone, served, read at 100 Hz, under attack, shown in a page: how many cycles were late.

    python benchmarks/opcua.py [seconds of each case]

The client and the attackers are processes of their own on the same machine. The client reads 40 ports at once, a hundred
times a second, and writes the target ten times a second. The attackers open 10,000 connections, hold as many as the server
lets them, and send wrong passwords, writes without a name and bytes that are no messages for as long as it lasts. A cycle is
late that begins more than 0.1 ms after its deadline. The page takes all that it is sent, without a browser that draws it.
What `take` and `publish` add to a cycle is printed for each case. What the machine does by itself shows in the first case,
and stands against the others. Each case runs at ordinary priority and, where the user may have it, at a real-time one:
without it the attackers, who here share the processors with the cycle, take their part of them.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from linkwise import control, robots
from linkwise.errors import ArgumentError
from linkwise.server import Server, Service, Timing, add_user, new_user, run
from linkwise.view.live import LiveView

PERIOD, PORTS, RATE, CONNECTIONS, PRIORITY = 1e-3, 40, 100, 10_000, 50
PASSWORD = "correct horse"
CAMERA = {
    "type": "ViewerCameraMessage", "wxyz": [1.0, 0.0, 0.0, 0.0], "position": [1.0, 0.5, 0.0], "fov": 0.8, "near": 0.1,
    "far": 100.0, "image_height": 600, "image_width": 800, "look_at": [0.0, 0.0, 0.0], "up_direction": [0.0, 0.0, 1.0],
}  # fmt: skip


def a_chain() -> control.Chain:
    """An arm that holds its tool at a target."""
    return control.Chain(
        robots.puma560(), control.MovingPosition("target", "tool", [0.5, 0.2, 0.3]), q0=[0.1, 0.8, -3.0, 0.0, 0.5, 0.0]
    )


async def client(address: str, names: list[str], duration: float) -> dict[str, float]:
    """Read at a fixed rate; how many readings there were, the longest time between two, and how many were of new cycles."""
    from asyncua import Client, ua

    made = Client(address, timeout=30)
    made.set_user("anna")
    made.set_password(PASSWORD)
    async with made:
        space = await made.get_namespace_index("urn:linkwise:ports")
        nodes = [made.get_node(ua.NodeId(name, space)) for name in names]
        target = made.get_node(ua.NodeId("target.position", space))
        begun = last = time.monotonic()
        count, longest, seen, written = 0, 0.0, set(), 0
        while time.monotonic() < begun + duration:
            seen.add((await made.read_values(nodes))[0])
            if count % 10 == 0:
                await target.write_value([0.5, 0.2 + 1e-3 * (count % 50), 0.3], ua.VariantType.Double)
                written += 1
            at = time.monotonic()
            longest, last, count = max(longest, at - last), at, count + 1
            await asyncio.sleep(max(begun + count / RATE - time.monotonic(), 0.0))
    return {"readings": count, "new": len(seen), "longest": longest, "written": written, "took": last - begun}


async def attack(address: str, duration: float) -> dict[str, int]:
    """Knock ten thousand times, and do what is not allowed all the while."""
    from asyncua import Client, ua

    host, port = address.removeprefix("opc.tcp://").split("/")[0].split(":")
    held, knocked, refused = [], 0, 0
    ends = time.monotonic() + duration

    async def knock() -> None:
        nonlocal knocked
        for _ in range(CONNECTIONS):
            with contextlib.suppress(OSError):
                one = socket.socket()
                one.setblocking(False)
                held.append(one)
                await asyncio.wait_for(asyncio.get_running_loop().sock_connect(one, (host, int(port))), 5.0)
                knocked += 1
                if knocked % 10 == 0:
                    one.send(b"\xff" * 2000)
            if len(held) > 4000:
                held.pop(0).close()
            if time.monotonic() > ends:
                return

    async def misbehave(name: str | None) -> None:
        nonlocal refused
        while time.monotonic() < ends:
            made = Client(address, timeout=2)
            if name:
                made.set_user(name)
                made.set_password("wrong")
            try:
                async with made:
                    space = await made.get_namespace_index("urn:linkwise:ports")
                    value = ua.Variant([9.0] * 3, ua.VariantType.Double)
                    await made.get_node(ua.NodeId("target.position", space)).write_value(value)
            except Exception:
                refused += 1
            await asyncio.sleep(0.02)

    await asyncio.gather(knock(), misbehave(None), misbehave("admin"), misbehave("anna"))
    return {"knocked": knocked, "refused": refused}


def watch(address: str, duration: float) -> dict[str, float]:
    """Take what a page is sent."""
    import msgspec
    import viser
    from websockets.sync.client import connect

    subprotocol: Any = f"viser-v{viser.__version__}"
    count, size, ends = 0, 0, time.monotonic() + duration
    with connect(address.replace("http", "ws"), subprotocols=[subprotocol], max_size=None, compression=None) as page:
        page.send(msgspec.msgpack.encode(CAMERA))
        while time.monotonic() < ends:
            count, size = count + 1, size + len(page.recv())
    return {"messages": count, "megabytes": round(size / 1e6, 1)}


def beside(what: str, address: str, names: list[str], duration: float) -> subprocess.Popen[str]:
    """Run this file in another process."""
    return subprocess.Popen(
        [sys.executable, __file__, what, address, json.dumps(names), str(duration)],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip


def told(name: str, timing: Timing) -> None:
    """Print a case."""
    spread = timing.lateness
    print(
        f"{name:32} {timing.cycles:7,} cycles {timing.late:6,} late {timing.overruns:5,} missed   began after"
        f" {spread.median * 1e6:5.1f} us median {spread.p99 * 1e6:7.1f} us 99 % {spread.p999 * 1e6:7.1f} us 99.9 %"
        f" {spread.worst * 1e3:6.2f} ms worst",
        flush=True,
    )


def case(
    name: str, duration: float, priority: int | None, *others: str, served: bool = True, viewed: bool = False
) -> Timing:
    """Run a chain with others beside it."""
    chain, cycles = a_chain(), round(duration / PERIOD)
    chain.step(PERIOD)
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        users = Path(folder) / "users"
        add_user(users, new_user("anna", PASSWORD))
        services: list[Service] = []
        if served:
            services.append(stack.enter_context(Server(chain.ports, port=0, users=users, chain=chain)))
        if viewed:
            services.append(stack.enter_context(LiveView(chain, port=0, users=users)))

        def before() -> None:
            for service in services:
                service.take()

        def after() -> None:
            for service in services:
                service.publish()

        work: dict[str, Any] = (
            {"before": before, "after": after, "priority": priority} if services else {"priority": priority}
        )
        names = ["chain.cycle", *(port for port in chain.ports if port != "chain.cycle")][:PORTS]
        counts = {"client": ("accepted", 2), "attack": ("turned_away", 0), "page": ("connections", 0)}
        processes = {}
        for what in others:  # (the client is there before the attack begins)
            service = services[-1] if what == "page" else services[0]
            word, least = counts[what]
            processes[what] = beside(what, service.address, names, duration + 3.0)
            run(
                chain, PERIOD, stop=lambda counted=(service, word, least): counted[0].counts[counted[1]] > counted[2], **work
            )
        timing = run(chain, PERIOD, cycles=cycles, **work)
        told(name, timing)
        run(chain, PERIOD, stop=lambda: all(process.poll() is not None for process in processes.values()), **work)
        for what, process in processes.items():
            print(f"{'':32} {what}: {process.communicate()[0].strip() or 'failed'}")
        for service in services if others else ():
            print(f"{'':32} {type(service).__name__}: {service.counts}, {service.state}")
        if services:
            begun = time.perf_counter()
            for _ in range(10_000):
                before()
                after()
            print(f"{'':32} take and publish: {(time.perf_counter() - begun) * 100:.2f} us a cycle")
    return timing


def main() -> None:
    duration = float(sys.argv[1]) if len(sys.argv) > 1 else 10.0
    for priority in (None, PRIORITY):
        print("ordinary priority" if priority is None else f"real-time priority {priority}")
        try:
            case("alone", duration, priority, served=False)
        except ArgumentError as error:
            print(error)
            return
        case("served, nobody there", duration, priority)
        case("client reads 40 ports at 100 Hz", duration, priority, "client")
        case("the same under attack", duration, priority, "client", "attack")
        alone = case("alone again", duration, priority, served=False)
        watched = case("shown in a page", duration, priority, "page", served=False, viewed=True)
        both = case("the same and a client", duration, priority, "client", "page", viewed=True)
        for label, timing in (("shown", watched), ("shown, with a client", both)):
            ratios = [getattr(timing.lateness, key) / getattr(alone.lateness, key) for key in ("median", "p99", "p999")]
            print(
                f"{label}, beside alone: began after {' '.join(f'{ratio:.2f}' for ratio in ratios)} (median, 99 %, 99.9 %)"
            )


if __name__ == "__main__":
    if len(sys.argv) == 5:
        what, address, names, duration = sys.argv[1:]
        if what == "page":
            print(json.dumps(watch(address, float(duration))))
            sys.exit()
        work = client(address, json.loads(names), float(duration)) if what == "client" else attack(address, float(duration))
        print(json.dumps(asyncio.run(work)))
    else:
        main()
