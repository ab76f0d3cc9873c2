"""Random mechanisms and motions for the tests: every joint kind, any axes, chains and trees, fixed and floating, motors on
joints and rotors on any link, all constants generic."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import hypothesis.strategies as st
import numpy as np

from linkwise import Link, Mechanism, Mimic, Motor, Spring
from linkwise.algorithm import find
from linkwise.kernel import Kernel

#: Kinds of joints with several freedoms.
SEVERAL_KINDS = ("ball", "universal", "cylindrical", "planar", "floating")
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
    moving = {} if kind in {"fixed", *SEVERAL_KINDS} else {"offset": rng.uniform(-1, 1)}
    if moving and motor and rng.random() < 0.7:
        moving["motor"] = random_motor(rng)
    rest = {**moving, **random_body(rng), **rest}
    if form == "general":
        pitch = rng.uniform(0.05, 0.3) if kind == "screw" else 0.0
        return Link(
            joint=kind,
            before=random_pose(rng),
            after=random_pose(rng),
            axis=rng.normal(size=(2, 3) if kind == "universal" else 3),
            pitch=pitch,
            **rest,
        )
    theta, alpha = rng.uniform(-3, 3), rng.choice([0.0, np.pi / 2, -np.pi / 2, np.pi, rng.uniform(-3, 3)])
    d, a = rng.uniform(-0.5, 0.5, 2)
    b = rng.uniform(-0.5, 0.5) if form == "extended" else 0.0
    convention = "modified" if form == "modified" else "standard"
    return Link.dh(theta, d, a, alpha, b=b, convention=convention, joint=kind, **rest)


class Interpreted(Mechanism):
    """A mechanism whose kernels are computed by NumPy where no other backend is asked for: the same graphs, made in a
    twentieth of the time. For laws of algorithms, that hold whatever computes them."""

    def kernel(self, name: str, *, backend: str | None = None, **options: Any) -> Kernel:
        return super().kernel(name, backend=backend or "numpy", **options)


def random_mechanism(
    seed: int,
    kinds: Sequence[str] | None = None,
    parents: Sequence[int] | None = None,
    forms: Sequence[str] | None = None,
    *,
    motors: bool = True,
    of: type[Mechanism] = Mechanism,
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
        forms = ["general" if kind in {"screw", *SEVERAL_KINDS} else str(rng.choice(choices)) for kind in kinds]
    links = [
        random_link(
            rng, str(kind), form, motor=motors, name=f"part{k}", parent="base" if parents[k] < 0 else f"part{parents[k]}"
        )
        for k, (kind, form) in enumerate(zip(kinds, forms, strict=True))
    ]
    values = {"base": random_pose(rng), "tool": random_pose(rng), "gravity": rng.uniform(-10, 10, 3), **rest}
    return of(links, name=f"random{seed}", **values)


def random_rotor(rng: np.random.Generator, joint: str, carrier: str, *, heavy: bool = True) -> Motor:
    """A motor whose rotor a link carries: with a body of its own, or (not ``heavy``) with only its spin known."""
    axis = rng.normal(size=3)
    axis = axis / np.linalg.norm(axis)
    along = rng.uniform(1e-3, 4e-3)
    across = along * rng.uniform(0.6, 1.5)
    tensor = across * np.eye(3) + (along - across) * np.outer(axis, axis)
    body = {"mass": rng.uniform(0.2, 1.0), "com": rng.uniform(-0.2, 0.2, 3), "rotor_inertia": tensor}
    return Motor(
        gear_ratio=rng.choice([-1, 1]) * rng.uniform(3.0, 30.0),
        viscous=rng.uniform(1e-4, 1e-3),
        coulomb=(rng.uniform(0.1, 0.5), -rng.uniform(0.1, 0.5)),
        carrier=carrier,
        axis=axis,
        joint=joint,
        friction_rule=str(rng.choice(["reflected", "toolbox7"])),
        **(body if heavy else {"inertia": along}),
    )


def with_rotors(mechanism: Mechanism, seed: int = 0) -> Mechanism:
    """The same mechanism with rotors on links: each joint driven by none, one or two, each on any link or on the base."""
    rng = np.random.default_rng([seed, 11])
    places = ["base", *mechanism.link_names]
    rotors = [
        random_rotor(rng, joint, str(rng.choice(places)), heavy=bool(rng.random() < 0.7))
        for joint in mechanism.names
        for _ in range(rng.integers(0, 3))
    ]
    rotors.append(random_rotor(rng, mechanism.names[-1], mechanism.link_names[-1]))
    return mechanism.replace(motors=[*mechanism.motors, *rotors])


def coupled(mechanism: Mechanism, seed: int = 0) -> Mechanism:
    """The same mechanism with about half of its joints following others, themselves followers or not."""
    rng = np.random.default_rng([seed, 17])
    links, joints = list(mechanism.links), [k for k, link in enumerate(mechanism.links) if link.moves]
    order = rng.permutation(joints)
    followers = order[1 : 1 + max(1, len(order) // 2)]
    for place, k in enumerate(followers):
        leader = links[rng.choice([j for j in order if j not in followers[place:]])]
        ratio = rng.choice([-1, 1]) * rng.uniform(0.3, 2.0)
        links[k] = links[k].replace(mimic=Mimic(leader.coordinate_name, ratio, rng.uniform(-1, 1)), dh_row=links[k].dh_row)
    return mechanism.replace(links=links)


def afloat(mechanism: Mechanism, seed: int = 0) -> Mechanism:
    """The same mechanism on a floating base that has a mass."""
    hull = Link(joint="fixed", name="hull", parent="base", **random_body(np.random.default_rng([seed, 13])))
    return mechanism.replace(links=[hull, *mechanism.links], floating=True)


@cache
def sample(seed: int) -> Mechanism:
    """One of the mechanisms that many tests share, so that each kernel is compiled once."""
    return random_mechanism(seed)


@cache
def variant(name: str) -> Mechanism:
    """A shared mechanism on a fixed or floating base, with rotors on its links or without: ``"floating rotors 3"``.

    Those of every third seed are compiled; the others leave it to NumPy.
    """
    seed = int(name.rsplit(maxsplit=1)[-1])
    if "freedoms" in name:
        rng = np.random.default_rng([seed, 19])
        kinds = ["revolute", *rng.permutation(SEVERAL_KINDS)[:3], "prismatic"]
        made = random_mechanism(seed, kinds, of=Mechanism if seed % 3 == 0 else Interpreted)
    else:
        made = sample(seed) if seed % 3 == 0 else random_mechanism(seed, of=Interpreted)
    made = with_rotors(made, seed) if "rotors" in name else made
    made = coupled(made, seed) if "coupled" in name else made
    return afloat(made, seed) if "floating" in name else made


def sprung(mechanism: Mechanism) -> Mechanism:
    """The same mechanism with a spring and damper on its first coordinate, and a tendon over the first and the last."""
    first, last = mechanism.names[0], mechanism.names[-1]
    tendon = Spring({first: 0.7, last: -1.3}, stiffness=2.0, damping=0.3)
    return mechanism.replace(springs=[Spring(first, stiffness=5.0, rest=0.2, damping=0.5, force=0.3), tendon])


@cache
def arm() -> Mechanism:
    """A small mechanism with springs, for what is asked of every algorithm."""
    return sprung(sample(3))


@cache
def craft() -> Mechanism:
    """A small floating mechanism with rotors on its links and springs, for what is asked of every algorithm."""
    return sprung(afloat(with_rotors(random_mechanism(4, ["revolute", "screw"], [-1, 0]))))


@cache
def heavy_tendon(mech: Mechanism) -> Mechanism:
    """The same mechanism with an inertia along the length of a tendon over its first and last coordinate."""
    tendon = Spring({mech.names[0]: 0.7, mech.names[-1]: -1.3}, inertia=0.4)
    return mech.replace(springs=[*mech.springs, tendon])


def suited(mech: Mechanism, name: str) -> Mechanism:
    """A mechanism for which the algorithm's result is not zero."""
    return heavy_tendon(mech) if name == "length_inertia_torque" else mech


MANY = 300
"""From more velocities on, compiling takes less time than Python's arithmetic once."""

SEEDS = tuple(range(10))
"""Of the shared mechanisms: chains and trees of 3 to 6 links with every kind of joint."""

FIXED = (*(f"joints {seed}" for seed in SEEDS[:6]), *(f"rotors {seed}" for seed in SEEDS[:6]))
FLOATING = (*(f"floating {seed}" for seed in SEEDS[:3]), *(f"floating rotors {seed}" for seed in SEEDS[:4]))
COUPLED = (*(f"coupled {seed}" for seed in SEEDS[:3]), "coupled rotors 4", "coupled floating rotors 5")
SEVERAL = ("freedoms 1", "freedoms 2", "freedoms rotors 4", "floating freedoms 5", "freedoms 3")
FREE = (*FIXED, *FLOATING, *SEVERAL)
VARIANTS = (*FREE, *COUPLED)

#: Algorithms with the longest tapes: they are compiled for `craft` alone, which has all that `arm` has.
LARGEST = {
    "analytic_jacobian",
    "centroidal_momentum_derivatives",
    "forward_dynamics_hessian_product",
    "forward_dynamics_second_derivatives",
    "inverse_dynamics_hessian_product",
    "inverse_dynamics_second_derivatives",
}

#: Algorithms that solve with the mass matrix: rounding may grow by its condition number.
SOLVE_WITH_MASS_MATRIX = {
    "forward_dynamics",
    "forward_dynamics_derivatives",
    "forward_dynamics_external_derivatives",
    "forward_dynamics_hessian_product",
    "forward_dynamics_second_derivatives",
    "inverse_mass_matrix",
    "inverse_operational_space_inertia",
}
"""For laws that hold for all: motors on joints; rotors on links; the base afloat; both; joints that follow others."""


def condition(mechanism: Mechanism, name: str, args: list[np.ndarray], results: list[np.ndarray]) -> float:
    """By what factor rounding may grow in the results of an algorithm."""
    if name in SOLVE_WITH_MASS_MATRIX:
        return float(np.linalg.cond(mechanism.mass_matrix(args[0])).max())
    if name == "path_drag":  # what grows is the difference of friction at two speeds, in which dry friction cancels
        dry = np.abs(results[0]).max(axis=-1) / np.square(args[-1])
        return float(dry.max() / np.abs(results[1]).max())
    return 1.0


def random_state(mechanism: Mechanism, seed: int = 0, batch: tuple[int, ...] = ()) -> tuple[np.ndarray, ...]:
    """q (..., nq), qd, qdd (..., nv), generic, with speeds away from zero; a floating base has a unit quaternion."""
    rng = np.random.default_rng([seed, 7])
    shape = (*batch, mechanism.nv)
    speed = rng.choice([-1.0, 1.0], shape) * rng.uniform(0.2, 1.5, shape)
    q = rng.uniform(-2, 2, (*batch, mechanism.nq))
    for at in mechanism.manifold_joints:
        q[..., at.quaternion] /= np.linalg.norm(q[..., at.quaternion], axis=-1, keepdims=True)
    return q, speed, rng.normal(size=shape)


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


def direct(mechanism: Mechanism, name: str, *args: Any, **options: Any) -> Any:
    """An algorithm on floats, without a graph: for tests that evaluate many mechanisms once or twice."""
    given = [np.asarray(arg, dtype=float)[()] for arg in args]
    found = find(name).function(mechanism, *given, **options)
    made = tuple(np.asarray(array, dtype=float) for array in parts(found))
    return made if isinstance(found, tuple) else made[0]


def computed(mechanism: Mechanism, name: str, *args: Any, **options: Any) -> Any:
    """An algorithm on floats, of a mechanism of many velocities by its kernel where this loops over bodies."""
    if mechanism.nv > MANY and not any(spring.links for spring in mechanism.springs):
        return mechanism.kernel(name, **options)(*args)
    return direct(mechanism, name, *args, **options)


def column_by_column(function: Callable[[np.ndarray], np.ndarray], size: int, h: float = 2e-3) -> np.ndarray:
    """The derivative (..., size) of a function of a small vector (size,) at zero.

    Central differences with h and h/2, and h^2 taken off by Richardson: error h^4 f^(5) / 480 + 2 eps |f| / h.
    """
    columns = []
    for direction in np.eye(size):
        wide, near = ((function(step * direction) - function(-step * direction)) / (2 * step) for step in (h, h / 2))
        columns.append((4 * near - wide) / 3)
    return np.stack(columns, axis=-1)


def columns_at_once(function: Callable[[np.ndarray], np.ndarray], size: int, h: float = 2e-3) -> np.ndarray:
    """The same of a function of many vectors (4 size, size), which is called once."""
    steps = np.concatenate([factor * h * np.eye(size) for factor in (1.0, -1.0, 0.5, -0.5)])
    ahead, behind, nearer, near = np.split(function(steps), 4)
    return np.asarray((4 * (nearer - near) / h - (ahead - behind) / (2 * h)) / 3).T


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
