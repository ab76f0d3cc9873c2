"""Random mechanisms and motions for the tests: every joint kind, any axes, chains and trees, all constants generic."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import hypothesis.strategies as st
import numpy as np

from linkwise import Link, Mechanism, Motor
from linkwise.algorithm import find

KINDS = ("revolute", "prismatic", "screw", "fixed")
DH_KINDS = ("revolute", "prismatic", "fixed")


def random_rotation(rng: np.random.Generator) -> np.ndarray:
    q, r = np.linalg.qr(rng.normal(size=(3, 3)))
    q = q * np.sign(np.diag(r))
    return q if np.linalg.det(q) > 0 else q[:, [1, 0, 2]]


def random_pose(rng: np.random.Generator, size: float = 0.5) -> np.ndarray:
    pose = np.eye(4)
    pose[:3, :3] = random_rotation(rng)
    pose[:3, 3] = rng.uniform(-size, size, 3)
    return pose


def random_body(rng: np.random.Generator) -> dict[str, Any]:
    """The fields of a body that can exist: the moments are those of a cloud of points, turned anyhow."""
    second = rng.uniform(0.001, 0.05, 3)
    turn = random_rotation(rng)
    tensor = turn @ np.diag(second.sum() - second) @ turn.T
    return {"mass": rng.uniform(0.5, 4.0), "com": rng.uniform(-0.2, 0.2, 3), "inertia": 0.5 * (tensor + tensor.T)}


def random_motor(rng: np.random.Generator) -> Motor:
    return Motor(
        inertia=rng.uniform(1e-4, 1e-3),
        gear_ratio=rng.choice([-1, 1]) * rng.uniform(1.0, 60.0),
        viscous=rng.uniform(1e-4, 1e-3),
        coulomb=(rng.uniform(0.1, 0.5), -rng.uniform(0.1, 0.5)),
    )


def random_link(rng: np.random.Generator, kind: str, form: str = "general", *, motor: bool = True, **rest: Any) -> Link:
    """One link: form "general", "standard", "extended" or "modified"."""
    moving = {} if kind == "fixed" else {"offset": rng.uniform(-1, 1)}
    if kind != "fixed" and motor and rng.random() < 0.7:
        moving["motor"] = random_motor(rng)
    rest = {**moving, **random_body(rng), **rest}
    if form == "general":
        pitch = rng.uniform(0.05, 0.3) if kind == "screw" else 0.0
        return Link(
            joint=kind, before=random_pose(rng), after=random_pose(rng), axis=rng.normal(size=3), pitch=pitch, **rest
        )
    theta, alpha = rng.uniform(-3, 3), rng.choice([0.0, np.pi / 2, -np.pi / 2, np.pi, rng.uniform(-3, 3)])
    d, a = rng.uniform(-0.5, 0.5, 2)
    b = rng.uniform(-0.5, 0.5) if form == "extended" else 0.0
    convention = "modified" if form == "modified" else "standard"
    return Link.dh(theta, d, a, alpha, b=b, convention=convention, joint=kind, **rest)


def random_mechanism(
    seed: int,
    kinds: Sequence[str] | None = None,
    parents: Sequence[int] | None = None,
    forms: Sequence[str] | None = None,
    *,
    motors: bool = True,
    **rest: Any,
) -> Mechanism:
    """A mechanism whose numbers follow from the seed, and so does its structure where none is given."""
    rng = np.random.default_rng(seed)
    if kinds is None:
        kinds = ["revolute", *rng.choice(KINDS, rng.integers(2, 6), p=(0.5, 0.2, 0.15, 0.15))]
    if parents is None:
        parents = [int(rng.integers(-1, k)) if rng.random() < 0.35 else k - 1 for k in range(len(kinds))]
    if forms is None:
        choices = ("general", "standard", "extended", "modified")
        forms = ["general" if kind == "screw" else str(rng.choice(choices)) for kind in kinds]
    links = [
        random_link(
            rng, str(kind), form, motor=motors, name=f"part{k}", parent="base" if parents[k] < 0 else f"part{parents[k]}"
        )
        for k, (kind, form) in enumerate(zip(kinds, forms, strict=True))
    ]
    values = {"base": random_pose(rng), "tool": random_pose(rng), "gravity": rng.uniform(-10, 10, 3), **rest}
    return Mechanism(links, name=f"random{seed}", **values)


@cache
def sample(seed: int) -> Mechanism:
    """One of the mechanisms that many tests share, so that each kernel is compiled once."""
    return random_mechanism(seed)


SEEDS = tuple(range(10))
"""Of the shared mechanisms: chains and trees of 3 to 6 links with every kind of joint."""


def random_state(mechanism: Mechanism, seed: int = 0, batch: tuple[int, ...] = ()) -> tuple[np.ndarray, ...]:
    """q, qd, qdd (..., n), generic, with speeds away from zero."""
    rng = np.random.default_rng([seed, 7])
    shape = (*batch, mechanism.n)
    speed = rng.choice([-1.0, 1.0], shape) * rng.uniform(0.2, 1.5, shape)
    return rng.uniform(-2, 2, shape), speed, rng.normal(size=shape)


def relative(found: Any, wanted: Any) -> float:
    """The largest difference, relative to the largest number wanted."""
    found, wanted = np.asarray(found, dtype=float), np.asarray(wanted, dtype=float)
    assert found.shape == wanted.shape
    if not wanted.size:
        return 0.0
    return float(np.abs(found - wanted).max() / max(np.abs(wanted).max(), 1e-300))


def numpy_call(mechanism: Mechanism, name: str, *args: Any, **options: Any) -> Any:
    """An algorithm through the NumPy lowering: nothing to compile, for tests that make many mechanisms."""
    return mechanism.kernel(name, backend="numpy", **options)(*args)


def arguments(mech: Mechanism, name: str, batch: tuple[int, ...] = (), dtype: type = np.float64) -> list[np.ndarray]:
    """An argument of the right shape for each input."""
    rng = np.random.default_rng(5)
    shapes = find(name).shapes(mech, find(name).inputs).values()
    return [rng.uniform(-2, 2, (*batch, *shape)).astype(dtype) for shape in shapes]


def parts(result: object) -> tuple[np.ndarray, ...]:
    return result if isinstance(result, tuple) else (result,)  # type: ignore[return-value]


@st.composite
def mechanisms(draw: st.DrawFn, most: int = 6, kinds: Sequence[str] = KINDS, tree: bool = True, **rest: Any) -> Mechanism:
    """Mechanisms with at least one moving link; what fails is shrunk to few, simple joints."""
    count = draw(st.integers(1, most))
    joints = draw(st.lists(st.sampled_from(kinds), min_size=count, max_size=count).filter(lambda k: set(k) != {"fixed"}))
    parents = [draw(st.integers(-1, k - 1)) if tree else k - 1 for k in range(count)]
    forms = [
        "general" if kind == "screw" else draw(st.sampled_from(("general", "standard", "extended", "modified")))
        for kind in joints
    ]
    return random_mechanism(draw(st.integers(0, 2**16)), joints, parents, forms, **rest)
