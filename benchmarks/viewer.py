"""The viewer's scene of a 30-joint tree at 30 pictures a second, and its export: ``python benchmarks/viewer.py``.

A client in another process, which stands for the page, connects as the page does and counts the complete pictures that it is
sent; the share of a core is that of this process, in which the mechanism is moved and the messages are packed and sent.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import linkwise as lw
from linkwise.view.browser.export import export
from linkwise.view.browser.painter import BrowserPainter
from linkwise.view.browser.server import address, make_server, stop

JOINTS, RATE, LEAST_RATE, MOST_CORE = 30, 30.0, 29.0, 0.5


def tree(joints: int = JOINTS) -> lw.Mechanism:
    """A tree of revolute joints, each of which moves all links after it; a new branch begins at every eighth."""
    turns = (0.0, np.pi / 2, -np.pi / 2)
    parents = [None if k == 0 else f"link{k}" if k % 8 else f"link{k - 7}" for k in range(joints)]
    links = [
        lw.Link.dh(d=0.05, a=0.2, alpha=turns[k % 3], convention="standard", name=f"link{k + 1}", parent=parents[k])
        for k in range(joints)
    ]
    return lw.Mechanism(links, name="tree")


def position(time: float) -> np.ndarray:
    """All joints swing, none like another."""
    return 0.5 * np.sin(time * (1.0 + 0.05 * np.arange(JOINTS)) + np.arange(JOINTS))


async def watch(url: str, seconds: float) -> None:
    """Count pictures: how often the last link was turned; print the number, the time and the bytes."""
    import msgspec
    import viser
    import zstandard
    from websockets.asyncio.client import connect

    unpack = zstandard.ZstdDecompressor()
    times, size = [], 0
    async with connect(url.replace("http", "ws"), subprotocols=[f"viser-v{viser.__version__}"], max_size=None) as line:
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            try:
                data = await asyncio.wait_for(line.recv(), left)
            except TimeoutError:
                break
            size += len(data)
            length, packed = (int.from_bytes(data[k : k + 8], "little") for k in (0, 8))
            window = msgspec.msgpack.decode(unpack.decompress(data[16 : 16 + packed], max_output_size=length))
            names = [m["name"] for m in window["messages"] if m["type"] == "SetOrientationMessage"]
            times += [time.monotonic()] * sum(name.endswith(f"/{JOINTS} link{JOINTS}") for name in names)
    times = times[1:]  # the first picture comes with the whole scene
    print(json.dumps({"pictures": len(times) - 1, "seconds": times[-1] - times[0], "bytes": size}))


def live(rate: float, seconds: float, *, names: bool = False) -> tuple[float, float, float]:
    """Pictures a second at the client, the share of a core that they take here, and the milliseconds of one `show`."""
    server = make_server(port=0)
    try:
        scene = BrowserPainter(server, tree())
        scene.names = names
        command = [sys.executable, __file__, "--watch", address(server), "--seconds", str(seconds)]
        client = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        begin, used, shown, taken = time.perf_counter(), time.process_time(), 0, []
        while client.poll() is None:
            wait = begin + shown / rate - time.perf_counter()
            if wait > 0:
                time.sleep(wait)
            before = time.perf_counter()
            scene.show(position(shown / rate))
            taken.append(time.perf_counter() - before)
            shown += 1
        share = (time.process_time() - used) / (time.perf_counter() - begin)
        assert client.stdout is not None
        found = json.loads(client.stdout.read())
        client.stdout.close()
    finally:
        stop(server)
    return found["pictures"] / found["seconds"], share, 1e3 * float(np.median(taken))


def exported(seconds: float) -> tuple[float, float]:
    """Seconds and megabytes of the export of a motion."""
    t = np.linspace(0.0, seconds, int(seconds * 50) + 1)
    motion = (t, np.array([position(float(now)) for now in t]))
    mechanism = tree()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tree.html"
        begin = time.perf_counter()
        export(mechanism, motion, path, rate=RATE)
        return time.perf_counter() - begin, path.stat().st_size / 1e6


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--watch", help=argparse.SUPPRESS)
    parser.add_argument("--seconds", type=float, default=8.0, help="how long to watch")
    given = parser.parse_args()
    if given.watch:
        asyncio.run(watch(given.watch, given.seconds))
        return 0
    rate, share, taken = live(RATE, given.seconds)
    passed = rate >= LEAST_RATE and share <= MOST_CORE
    said = f"{JOINTS} joints, pictures a second"
    print(f"{said}: {RATE:g} asked, {rate:.1f} arrive, {100 * share:.0f} % of a core, {taken:.2f} ms a `show`")
    named, share, taken = live(RATE, given.seconds / 2, names=True)
    print(f"{said} with names: {RATE:g} asked, {named:.1f} arrive, {100 * share:.0f} % of a core, {taken:.2f} ms a `show`")
    most, share, taken = live(1000.0, given.seconds / 2)
    print(f"{said}: at most {most:.1f} arrive, {100 * share:.0f} % of a core, {taken:.2f} ms a `show`")
    for seconds in (10.0, 300.0):
        taken, size = exported(seconds)
        print(f"export of {seconds:g} s: {taken:.1f} s, {size:.1f} MB")
    print(f"ratio of pictures that arrive to pictures asked: {rate / RATE:.2f}, {'passed' if passed else 'BELOW'}")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
