"""Small random mechanisms whose axes are often parallel, at right angles or at 45 degrees, and often meet; gravity is often
along one. There more inertial parameters than usual have no effect, or cannot be told apart."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise import Link, Mechanism, Motor
from linkwise.spatial.rotation import rotation_x, rotation_y
from linkwise.spatial.transform import transform
from support.random_mechanisms import random_body, random_motor

ANGLES = (0.0, np.pi / 2, -np.pi / 2, np.pi, np.pi / 4)
GRAVITIES = ((0.0, 0.0, -9.81), (0.0, -9.81, 0.0), (9.81, 0.0, 0.0), (0.0, 0.0, 0.0))


def special_mechanism(seed: int, *, rotors: bool | None = None, floating: bool | None = None) -> Mechanism:
    """A mechanism of one to five links; the seed decides what is not said."""
    rng = np.random.default_rng([seed, 5])
    kinds = [
        "revolute",
        *rng.choice(["revolute", "prismatic", "screw", "fixed"], rng.integers(0, 5), p=(0.5, 0.28, 0.12, 0.1)),
    ]
    kinds[0] = str(rng.choice(["revolute", "prismatic", "screw"], p=(0.6, 0.25, 0.15)))
    gravity = GRAVITIES[rng.integers(0, len(GRAVITIES))] if rng.random() < 0.8 else tuple(rng.uniform(-10, 10, 3))
    afloat = bool(rng.random() < 0.1) if floating is None else floating
    made = Mechanism([_link(rng, k, str(kind)) for k, kind in enumerate(kinds)], gravity=gravity, floating=afloat)
    return _with_rotors(made, rng) if (rng.random() < 0.25 if rotors is None else rotors) else made


def _link(rng: np.random.Generator, k: int, kind: str) -> Link:
    moving: dict[str, Any] = {} if kind == "fixed" else {"offset": float(rng.choice([0.0, rng.uniform(-1, 1)]))}
    if kind != "fixed" and rng.random() < 0.4:
        moving["motor"] = random_motor(rng)
    if kind == "screw":
        moving["pitch"] = float(rng.choice([0.2, 1.0, -0.1]))
    before = k if rng.random() < 0.75 else int(rng.integers(max(0, k - 2), k + 1))
    parent = "base" if before == 0 else f"p{before}"
    frames = {"before": _pose(rng), "after": _pose(rng) if rng.random() < 0.6 else None}
    return Link(
        joint=kind,
        axis=np.eye(3)[rng.integers(0, 3)],
        name=f"p{k + 1}",
        parent=parent,
        **frames,
        **moving,
        **random_body(rng),
    )


def _pose(rng: np.random.Generator) -> np.ndarray:
    about_x, about_y = (float(rng.choice([*ANGLES, rng.uniform(-3, 3)])) for _ in range(2))
    return np.asarray(transform(rotation_x(about_x) @ rotation_y(about_y), rng.choice([0.0, 0.0, 1.0, 0.5], 3)))


def _with_rotors(made: Mechanism, rng: np.random.Generator) -> Mechanism:
    """Rotors on any link for about half of the joints, one or the other way round."""
    rotors = [
        Motor(
            inertia=1e-3,
            gear_ratio=float(rng.choice([1.0, -1.0, 5.0, rng.uniform(3, 30)])),
            carrier=str(rng.choice(["base", *made.link_names])),
            axis=np.eye(3)[rng.integers(0, 3)],
            joint=joint,
            friction_rule=str(rng.choice(["reflected", "toolbox7"])),
        )
        for joint in made.names
        if rng.random() < 0.5
    ]
    return made.replace(motors=[*made.motors, *rotors])
