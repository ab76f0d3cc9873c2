"""Second derivatives with loops closed: by differences along closed motions, and by what they must satisfy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from linkwise import Link, Loop, Mechanism, Motor, Spring, robots
from linkwise.dynamics.closed_loops.nullspace import driven_motions
from linkwise.dynamics.closed_loops.tape import closed_tape
from linkwise.errors import ArgumentError
from linkwise.kernel import Kernel
from linkwise.loops import Linkage
from linkwise.spatial.transform import translation
from support.loop_mechanisms import bundled
from support.random_mechanisms import relative

pytestmark = pytest.mark.usefixtures("uncompiled")

#: Of Richardson's differences with steps of 1e-3: rounding of 1e-15 over the step, times the condition; seen: 2e-11.
DIFFERENCES = 1e-8


def spatial_rods() -> Mechanism:
    """A crank and a rocker about other axes, and a rod that turns in a universal joint, with springs and friction."""
    body = {"mass": 1.0, "com": (0.1, 0.0, 0.02), "inertia": (1e-3, 2e-3, 2e-3)}
    crank, across, end, socket = np.eye(4), np.eye(4), np.eye(4), np.eye(4)
    crank[0, 3], end[0, 3], socket[0, 3] = 0.1, 0.42, 0.2
    across[:3] = [[1.0, 0, 0, 0.4], [0, 0, -1, 0], [0, 1, 0, 0]]
    return Mechanism(
        [
            Link(name="crank", joint="revolute", motor=Motor(inertia=1e-3, viscous=0.05), **body),
            Link(name="rod", joint="universal", axis=((0, 0, 1), (0, 1, 0)), parent="crank", before=crank, **body),
            Link(name="rocker", joint="revolute", parent="base", before=across, **body),
        ],
        loops=[Loop("point", "rod", "rocker", end, socket)],
        springs=[Spring("rocker", 3.0, damping=0.2)],
        name="rods",
    )


def mechanism(name: str) -> Mechanism:
    return spatial_rods() if name == "rods" else bundled(name)


class Motion:
    """A closed state, and others beside it along the driven coordinates."""

    def __init__(self, name: str) -> None:
        self.mech = mechanism(name)
        drives = [self.mech.names[drive.coordinate] for drive in self.mech.drives]
        self.linkage = Linkage(self.mech, drives)
        rng = np.random.default_rng(3)
        self.m = len(drives)
        self.u = self.linkage.driven_part(self.linkage.q0) + rng.uniform(0.1, 0.3, self.m)
        self.ud, self.udd = rng.uniform(-1.0, 1.0, (2, self.m))
        self.tau = rng.uniform(-0.5, 0.5, self.mech.nv)

    def at(self, du: np.ndarray | float = 0.0, dud: np.ndarray | float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        q = self.linkage.position(self.u + du).q
        qd = self.linkage.velocity(q, self.ud + dud)
        return q, qd, self.linkage.acceleration(q, qd, self.udd)


def richardson(function: Callable[[float], np.ndarray], step: float = 1e-3) -> np.ndarray:
    coarse, fine = ((function(h) - function(-h)) / (2.0 * h) for h in (step, 0.5 * step))
    return (4.0 * fine - coarse) / 3.0


@pytest.mark.parametrize("name", ["four_bar", "five_bar", "rods"])
def test_inverse_dynamics_by_differences_of_the_first_derivatives(name: str) -> None:
    motion = Motion(name)
    tables = motion.mech.inverse_dynamics_second_derivatives(*motion.at())
    errors = []
    for k, unit in enumerate(np.eye(motion.m)):
        by_u = [
            richardson(lambda s, i=i, e=unit: motion.mech.inverse_dynamics_derivatives(*motion.at(s * e))[i]) for i in (0, 2)
        ]
        by_ud = [
            richardson(lambda s, i=i, e=unit: motion.mech.inverse_dynamics_derivatives(*motion.at(dud=s * e))[i])
            for i in (0, 1)
        ]
        wanted = [by_u[0], by_ud[0], by_ud[1], by_u[1]]
        errors += [
            np.abs(table[..., k] - want).max() / np.abs(table).max() for table, want in zip(tables, wanted, strict=True)
        ]
    print(name, [f"{error:.1e}" for error in errors])
    assert max(errors) < DIFFERENCES
    assert relative(tables[0], np.swapaxes(tables[0], -1, -2)) < 1e-12  # driven coordinates are coordinates: they commute
    assert relative(tables[2], np.swapaxes(tables[2], -1, -2)) < 1e-12
    assert relative(tables[3], np.swapaxes(tables[3], 0, 1)) < 1e-12  # the mass matrix is symmetric


@pytest.mark.parametrize("name", ["four_bar", "five_bar"])
def test_the_coriolis_terms_are_the_christoffel_symbols(name: str) -> None:
    """By ud twice: the derivative of M by u, of first kind twice (J. L. Lagrange); the power of these forces is none."""
    motion = Motion(name)
    _, _, by_ud_ud, mass_by_u = motion.mech.inverse_dynamics_second_derivatives(*motion.at())
    # 2 c_ijk = dM_ij/du_k + dM_ik/du_j - dM_jk/du_i, and d2 tau_i / dud_j dud_k = 2 c_ijk
    symbols = mass_by_u + np.swapaxes(mass_by_u, 1, 2) - np.moveaxis(mass_by_u, 2, 0)
    print(name, relative(by_ud_ud, symbols))
    assert relative(by_ud_ud, symbols) < 1e-11


@pytest.mark.parametrize("name", ["four_bar", "five_bar", "rods"])
def test_forward_dynamics_by_differences_along_closed_motions(name: str) -> None:
    motion = Motion(name)
    q, qd, _ = motion.at()
    tables = motion.mech.forward_dynamics_second_derivatives(q, qd, motion.tau)
    way = np.linspace(0.5, 1.0, motion.m)

    def first(step: float) -> list[np.ndarray]:
        return list(motion.mech.forward_dynamics_derivatives(*motion.at(step * way)[:2], motion.tau))

    along, turned = motion.linkage.velocity(q, way), richardson(lambda s: motion.at(s * way)[1])
    exact = [
        tables[0] @ along + tables[1] @ turned,
        np.swapaxes(tables[1], 1, 2) @ along + tables[2] @ turned,
        tables[3] @ along,
    ]
    errors = [relative(table, richardson(lambda s, i=i: first(s)[i])) for i, table in enumerate(exact)]
    print(name, [f"{error:.1e}" for error in errors])
    assert max(errors) < DIFFERENCES


@pytest.mark.parametrize("name", ["four_bar", "five_bar"])
def test_products_are_sums_of_the_tables(name: str) -> None:
    motion, weights = Motion(name), np.array([0.7, -1.3, 0.4, 0.9])
    mech, (q, qd, qdd) = motion.mech, motion.at()
    inverse = mech.inverse_dynamics_second_derivatives(q, qd, qdd)
    forward = mech.forward_dynamics_second_derivatives(q, qd, motion.tau)
    some, all_of_them = weights[: motion.m], weights[: mech.nv]
    pairs = [
        *zip(inverse, mech.inverse_dynamics_hessian_product(q, qd, qdd, some), [some] * 4, strict=True),
        *zip(forward, mech.forward_dynamics_hessian_product(q, qd, motion.tau, all_of_them), [all_of_them] * 4, strict=True),
    ]
    errors = [float(np.abs(np.tensordot(w, table, 1) - one).max() / np.abs(table).max()) for table, one, w in pairs]
    print(name, errors)
    assert max(errors) < 1e-12


def test_batches_and_other_driven_coordinates() -> None:
    motion = Motion("four_bar")
    states = [motion.at(), motion.at(0.1)]
    batch = motion.mech.inverse_dynamics_second_derivatives(*(np.stack(part) for part in zip(*states, strict=True)))
    alone = [motion.mech.inverse_dynamics_second_derivatives(*state) for state in states]
    assert all(np.array_equal(table[k], alone[k][i]) for i, table in enumerate(batch) for k in (0, 1))
    by_rocker = motion.mech.inverse_dynamics_second_derivatives(*states[0], driven=["rocker"])
    assert np.abs(by_rocker[3]).max() > 0.0


def test_the_speed_of_a_ball_joint_drives() -> None:
    """The mass matrix by differences along what they lead, to the square of the step; and the efforts as a tape."""
    body = {"mass": 1.0, "com": (0.1, 0.0, 0.02), "inertia": (1e-3, 2e-3, 2e-3)}
    bar = Link(name="bar", joint="revolute", axis=(0, 1, 0), parent="base", before=translation(0.3), **body)
    loop = Loop("point", "ball", "bar", translation(0, 0, 0.2), translation(-0.3, 0, 0.2))
    mech = Mechanism([Link(name="ball", joint="ball", **body), bar], loops=[loop])
    q, driven = mech.neutral, ["ball_wz"]
    led = driven_motions(mech, q, driven, "test").map
    still, step = np.zeros(mech.nv), 1e-4
    tables = mech.inverse_dynamics_second_derivatives(q, still, still, driven)
    for k, way in enumerate(led.T):
        ahead, behind = (mech.reduced_mass_matrix(mech.integrate(q, way, sign * step), driven) for sign in (1, -1))
        assert np.allclose(tables[3][..., k], (ahead - behind) / (2 * step), atol=1e-6)
    tape = Kernel(closed_tape(mech, "inverse_dynamics", driven), "numpy")
    assert np.allclose(tape(q, still, still), mech.actuator_efforts(q, still, still, driven), atol=1e-12)


def test_malformed() -> None:
    motion = Motion("four_bar")
    q, qd, qdd = motion.at()
    with pytest.raises(ArgumentError, match="open at q"):
        motion.mech.inverse_dynamics_second_derivatives(q + 0.1, qd, qdd)
    with pytest.raises(ArgumentError, match="qdd opens loops"):
        motion.mech.inverse_dynamics_second_derivatives(q, qd, qdd + 1.0)
    with pytest.raises(ArgumentError, match="no loops"):
        robots.planar_2r().inverse_dynamics_second_derivatives([0.0, 1.0], [0.0, 0.0], [0.0, 0.0], driven=[0])


@pytest.mark.parametrize("spin", [0.0, 1e-13, 1e-10, 1e-3])
def test_pivots_that_are_zero_up_to_rounding_do_not_count(spin: float) -> None:
    """A rod on a ball joint that is turned about itself by next to nothing: two candidates for a pivot are as small.

    The third tables, of velocities alone, pass through no elimination that depends on them.
    """
    body = {"mass": 0.5, "com": (0.2, 0.0, 0.0), "inertia": (2e-3, 3e-3, 3e-3)}
    rods = spatial_rods()
    rod = Link(name="rod", joint="ball", parent="crank", before=rods.links[1].before, **body)
    mech = rods.replace(links=[rods.links[0], rod, rods.links[2]])
    driven = ["crank", "rod_wx"]
    q = mech.linkage(["crank"]).position([0.3]).q
    about = np.zeros(mech.nv)
    about[mech.velocity_names.index("rod_wx")] = spin
    q = mech.integrate(q, about)
    motions = driven_motions(mech, q, driven, "test").map
    ud, udd = np.array([0.7, -0.4]), np.array([0.3, 0.9])
    bias = mech.kernel("closure_bias")
    jac, places = mech.kernel("closure_jacobian")(q), [mech.velocity_names.index(name) for name in driven]
    others = [k for k in range(mech.nv) if k not in places]

    def state(speeds: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        qd, qdd = motions @ speeds, np.zeros(mech.nv)
        qdd[places] = udd
        qdd[others] = np.linalg.lstsq(jac[:, others], -bias(q, qd) - jac[:, places] @ udd, rcond=None)[0]
        return q, qd, qdd

    mixed = mech.inverse_dynamics_second_derivatives(*state(ud), driven=driven)[1]
    by_speeds = [
        richardson(lambda h, unit=unit: mech.inverse_dynamics_derivatives(*state(ud + h * unit), driven=driven)[0])
        for unit in np.eye(2)
    ]
    error = relative(mixed, np.stack(by_speeds, axis=-1))
    print(f"{error:.1e}")
    assert error < DIFFERENCES
