"""Everything around the kernels, on mechanisms of 100, 1,000 and 5,000 links: building, changing, reducing, files, commands.

Two mechanisms. The chain is of Denavit-Hartenberg rows with full inertias. The tree has a floating base and all else that a
mechanism can have: several branches, fixed links, ball joints, joints that follow others, motors with rotors on other
links, springs, limits and names. A cell is the least of some runs in ms, each on a mechanism never asked before; a dash says
that a format does not hold the mechanism, or that the size is left out there.

    python benchmarks/large_mechanisms.py [SIZE ...]
"""

from __future__ import annotations

import contextlib
import gc
import io
import pickle
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import linkwise as lw
from linkwise import Link, Mechanism, Mimic, Motor, Spring
from linkwise.cli import main
from linkwise.errors import LinkwiseError
from linkwise.model.body import moving_bodies
from linkwise.model.coupling import coupling
from linkwise.spatial.rotation import rotation_about
from linkwise.spatial.transform import transform

LARGEST_PICTURE = 1000
"""Links of the largest mechanism that is drawn."""

ENOUGH = 0.3
"""Seconds after which no further run is made, and runs at most."""
RUNS = 5


def chain(count: int) -> Mechanism:
    """Axes in different directions, full inertias."""
    links = [
        Link.dh(
            a=0.01 + 1e-5 * k, alpha=0.3 if k % 3 else -0.2, d=0.001 * (k % 5), convention="standard",
            mass=1.0, com=(-0.005, 0.001, 0.002), inertia=(1.1e-3, 1e-3, 1.2e-3, 1e-5, 2e-5, -1e-5),
        )
        for k in range(count)
    ]  # fmt: skip
    return Mechanism(links, name=f"chain of {count}")


def tree(count: int, *, plain: bool = False) -> Mechanism:
    """A trunk with branches of twenty links, on a floating base and with all that there is; plain: what URDF can hold."""
    rng = np.random.default_rng(count)
    kinds = ("fixed", "revolute", "revolute" if plain else "ball", "revolute", "prismatic", "revolute")
    links = []
    for k in range(count):
        kind, axis = kinds[k % 6], rng.normal(size=3)
        before = transform(rotation_about(axis / np.linalg.norm(axis), rng.uniform(-1, 1)), rng.uniform(-0.05, 0.05, 3))
        fields: dict[str, Any] = {"joint": kind, "before": before, "axis": rng.normal(size=3), "joint_name": f"joint{k}"}
        if kind in {"revolute", "prismatic"}:
            fields |= {"limits": (-2.0, 2.0), "qd_max": 3.0, "tau_max": 100.0}
        if not plain and k % 6 == 5 and k > 6:
            fields["mimic"] = Mimic(f"joint{k - 6 if k % 4 else k - 4}", 0.5, 0.1)
        elif not plain and k % 6 in {1, 3}:
            fields["motor"] = Motor(1e-4, 50.0, 1e-3, 0.1, carrier=f"link{k // 2 + 1}", axis=(0, 0, 1))
        parent = "base" if k == 0 else f"link{k if k % 20 else k - 19}"
        body = {"mass": 1.0 + k % 3, "com": rng.uniform(-0.1, 0.1, 3), "inertia": (0.011, 0.012, 0.013, 1e-4, 2e-4, -1e-4)}
        links.append(Link(name=f"link{k + 1}", parent=parent, **fields, **body))
    springs = () if plain else [Spring(f"joint{k}", stiffness=10.0, damping=0.1) for k in range(3, count, 6)]
    return Mechanism(links, name=f"tree of {count}", springs=springs, floating=not plain)


def operations(make: Callable[[int], Mechanism], count: int) -> Iterator[tuple[str, Callable[[Mechanism], object]]]:
    """Name of each operation, and what does it to a mechanism."""
    pose = transform(None, (0.1, 0.0, 0.0))
    middle, last = f"link{count // 2}", f"link{count}"
    locked = [name for name in make(count).names if name.startswith(("joint", "link"))][: count // 4]
    moved = make(count)
    q = moved.random_configuration(1)
    yield "build", lambda mech: make(count)
    yield "Mechanism(links)", lambda mech: Mechanism(mech.links, springs=mech.springs, floating=mech.floating)
    yield "replace(name)", lambda mech: mech.replace(name="other")
    yield "replace_link", lambda mech: mech.replace_link(middle, mass=2.0)
    yield "with_tool", lambda mech: mech.with_tool(pose)
    yield "with_payload", lambda mech: mech.with_payload(1.0)
    yield "perturb", lambda mech: mech.perturb(0.1)
    yield "without_friction", lambda mech: mech.without_friction()
    yield "lock a quarter", lambda mech: mech.lock(dict.fromkeys(locked, 0.1))
    yield "subtree from the middle", lambda mech: mech.subtree(middle)
    yield "attach to the tool", lambda mech: chain(count).attach(chain(count), prefix="other_")
    yield "pickled and back", lambda mech: pickle.loads(pickle.dumps(mech))
    yield "repr", repr
    yield "_repr_html_", lambda mech: mech._repr_html_()
    yield "==, hash", lambda mech: (mech == moved, hash(mech))
    yield "names, limits", lambda mech: (mech.names, mech.q_min, mech.qd_max, mech.tau_max, mech.velocity_names)
    yield "neutral", lambda mech: mech.neutral
    yield "path(last)", lambda mech: mech.path(last)
    yield "random_configuration", lambda mech: mech.random_configuration(0)
    yield "difference", lambda mech: mech.difference(mech.neutral, q)
    yield "coupling", coupling
    yield "moving_bodies", moving_bodies
    yield "moving_bodies, regrouped", lambda mech: moving_bodies(mech).regrouped()


def file_operations(mechanism: Mechanism, folder: Path) -> Iterator[tuple[str, Callable[[Mechanism], object]]]:
    """The same for the files and the commands."""
    for suffix in (".toml", ".urdf", ".xml"):
        path = folder / f"{mechanism.name.replace(' ', '_')}{suffix}"
        yield f"save {suffix}", lambda mech, path=path: lw.save(mech, path, allow_loss=True)
        yield f"load {suffix}", lambda mech, path=path: lw.load(path)
        yield f"check {suffix}", lambda mech, path=path: command("check", path)
        yield f"show {suffix}", lambda mech, path=path: command("show", path, "--no-picture", "--masses", "--limits")
        yield f"show --json {suffix}", lambda mech, path=path: command("show", path, "--no-picture", "--json")
    path, sdf = folder / f"{mechanism.name.replace(' ', '_')}.toml", folder / "model.sdf"
    sdf.write_text(as_sdf(len(mechanism.links)), encoding="utf-8")
    yield "load .sdf", lambda mech: lw.load(sdf)
    yield "convert .toml to .urdf", lambda mech: command("convert", path, folder / "converted.urdf", "--allow-loss")
    if len(mechanism.links) <= LARGEST_PICTURE:
        yield "show --save .png", lambda mech: command("show", path, "--save", folder / "picture.png")


def as_sdf(count: int) -> str:
    """A chain in SDF, which Linkwise only reads; each link is placed on the one before."""
    inertia = "".join(
        f"<{name}>{value}</{name}>" for name, value in zip(("ixx", "iyy", "izz"), (1e-3, 1e-3, 1e-3), strict=True)
    )
    parts = []
    for k in range(count):
        on = f' relative_to="link{k - 1}"' if k else ""
        parts.append(f'<link name="link{k}"><pose{on}>0.01 0 0 0.1 0 0</pose><inertial><mass>1</mass><inertia>{inertia}')
        parts.append("</inertia></inertial></link>")
        parent = f"link{k - 1}" if k else "world"
        parts.append(f'<joint name="joint{k}" type="revolute"><parent>{parent}</parent><child>link{k}</child>')
        parts.append("<axis><xyz>0 0 1</xyz><limit><lower>-1</lower><upper>1</upper></limit></axis></joint>")
    return f'<sdf version="1.9"><model name="chain">{"".join(parts)}</model></sdf>'


def command(*words: object) -> str:
    """What a command prints; it must succeed."""
    text = io.StringIO()
    try:
        with contextlib.redirect_stdout(text):
            main([str(word) for word in words])
    except SystemExit as end:
        if end.code:
            raise LinkwiseError(f"{words}: status {end.code}") from end
    return text.getvalue()


def least(action: Callable[[Mechanism], object], mechanism: Mechanism, *, free: bool) -> float:
    """Least milliseconds of some runs, each on a mechanism never asked before, with every joint free if need be."""
    best, spent = float("inf"), 0.0
    for _ in range(RUNS):
        mechanism = mechanism.replace()
        if free and mechanism.coupled:
            mechanism = coupling(mechanism).uncoupled
        gc.collect()
        begin = time.perf_counter()
        action(mechanism)
        taken = time.perf_counter() - begin
        best, spent = min(best, taken), spent + taken
        if spent > ENOUGH:
            break
    return 1e3 * best


def refused(action: Callable[[], float]) -> float | None:
    """The result, or None where the action is refused."""
    try:
        return action()
    except (LinkwiseError, RecursionError) as error:
        print(f"({type(error).__name__}: {str(error).splitlines()[0][:110]})")
        return None


def main_table(sizes: list[int]) -> None:
    """Measure and print."""
    for title, make in (("chain", chain), ("tree", tree), ("plain tree", partial(tree, plain=True))):
        columns: dict[str, list[str]] = {}
        for size in sizes:
            with tempfile.TemporaryDirectory() as folder:
                mechanism = make(size)
                rows = list(operations(make, size)) if title != "plain tree" else []
                for name, action in [*rows, *file_operations(mechanism, Path(folder))]:
                    taken = refused(partial(least, action, mechanism, free="moving" in name))
                    columns.setdefault(name, []).append("-" if taken is None else f"{taken:.2f}")
        print(f"{title:28}" + "".join(f"{size:>12,}" for size in sizes) + "   ms")
        for name, cells in columns.items():
            print(f"{name:28}" + "".join(f"{cell:>12}" for cell in cells))
        print()


if __name__ == "__main__":
    main_table([int(word) for word in sys.argv[1:]] or [100, 1000, 5000])
