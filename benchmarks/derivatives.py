"""Products of derivatives with vectors beside the function and its full derivatives: ``python benchmarks/derivatives.py``.

Operations, and ns a configuration in batches: the function, ``kernel.vjp``, ``kernel.jvp`` and all derivatives by q, qd and
the last input. The gap is that of the dot-product identity, as a share of what is added up. One core, one thread, least of
many rounds in turn.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from collections.abc import Iterator

import numpy as np
from timing import pin_to_one_core, seconds

import linkwise as lw

ROWS, ROUNDS = 20_000, 15


def tree(count: int = 26) -> lw.Mechanism:
    """A binary tree of revolute joints with full inertias."""
    rng = np.random.default_rng(0)
    links = []
    for k in range(count):
        points = rng.uniform(-0.2, 0.2, (8, 3))
        tensor = sum(np.eye(3) * (p @ p) - np.outer(p, p) for p in points) / 8
        com = points.mean(axis=0)
        tensor = tensor - (np.eye(3) * (com @ com) - np.outer(com, com))
        before = np.eye(4)
        before[:3, :3], before[:3, 3] = np.linalg.qr(rng.normal(size=(3, 3)))[0], rng.uniform(-0.3, 0.3, 3)
        before[:3, 0] *= np.sign(np.linalg.det(before[:3, :3]))
        parent = "base" if k == 0 else f"link{(k - 1) // 2}"
        links.append(lw.Link(name=f"link{k}", parent=parent, before=before, mass=1.0, com=com, inertia=tensor))
    return lw.Mechanism(links, name=f"{count}-joint tree")


def cases() -> Iterator[tuple[str, lw.Mechanism, str]]:
    puma, arm = lw.robots.puma560(), lw.robots.seven_joint()
    yield "PUMA 560, inverse dynamics", puma, "inverse_dynamics"
    yield "PUMA 560, forward dynamics", puma, "forward_dynamics"
    yield "7 joints, inverse dynamics", arm, "inverse_dynamics"
    yield "7 joints, forward dynamics", arm, "forward_dynamics"
    yield "26-joint tree, inverse dynamics", tree(), "inverse_dynamics"


def main() -> None:
    print(f"{'ns a configuration (operations)':34}{'function':>16}{'vjp':>16}{'jvp':>16}{'all':>16}   gap")
    for title, mech, name in cases():
        kernel, rng = mech.kernel(name), np.random.default_rng(1)
        kernels = [kernel, kernel.vjp, kernel.jvp, mech.kernel(f"{name}_derivatives")]
        state, (bar, *dots) = list(rng.normal(size=(3, ROWS, mech.nv))), list(rng.normal(size=(4, ROWS, mech.nv)))
        args = [state, [*state, bar], [*state, *dots], state]
        left = np.sum(bar * kernel.jvp(*state, *dots), axis=1)
        parts = [a * b for a, b in zip(kernel.vjp(*state, bar), dots, strict=True)]
        gap = np.abs(left - sum(part.sum(axis=1) for part in parts)) / sum(np.abs(part).sum(axis=1) for part in parts)
        actions = []
        for one, arguments in zip(kernels, args, strict=True):
            out = one(*arguments)
            actions.append(seconds(lambda one=one, arguments=arguments, out=out: one(*arguments, out=out)))
        samples = np.min([[action() for action in actions] for _ in range(ROUNDS)], axis=0)
        cells = [f"{1e9 * t / ROWS:.1f} ({sum(one.operations.values())})" for t, one in zip(samples, kernels, strict=True)]
        print(f"{title:34}" + "".join(f"{cell:>16}" for cell in cells) + f"   {gap.max():.0e}")


if __name__ == "__main__":
    pin_to_one_core()
    main()
