"""Methods that compute with NumPy's functions on the results of kernels take arrays of other libraries, with derivatives."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from linkwise import Feedback, Link, Mechanism, Position, Shape, Spring, Wrench, arrays, planar, robots, simulate, spacelib
from linkwise.algorithm import ALGORITHMS
from linkwise.dynamics import Contact, Contacts
from linkwise.errors import ArgumentError, LinkwiseError
from linkwise.inverse_kinematics import manipulability_gradient, towards_middle
from linkwise.inverse_kinematics.velocity.kernel import DIAGNOSTICS
from support.libraries import DIFFERENTIABLE, library_of

pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")

ARM = robots.planar_3r()
Q = np.array([[0.3, 0.8, -0.5], [-1.0, 0.4, 0.9]])
PLANE = [1, 1, 0, 0, 0, 0]
TWIST = np.array([0.1, 0.2, 0.0, 0.0, 0.0, 0.0])
HANGING = np.array([-1.0, 0.3, 0.2])
LOCKED = {f"link{k}": 0.0 for k in (1, 2, 3, 5)}
STEP = 1e-6

CALLS: dict[str, Callable[[Any], Any]] = {
    "manipulability": lambda q: ARM.manipulability(q, mask=PLANE),
    "isotropy": lambda q: ARM.manipulability(q, mask=PLANE, measure="isotropy"),
    "dynamic_manipulability": lambda q: ARM.dynamic_manipulability(q, mask=PLANE),
    "asada": lambda q: ARM.dynamic_manipulability(q, mask=PLANE, measure="asada"),
    "operational_space_inertia": lambda q: ARM.operational_space_inertia(q, mask=PLANE),
    "coriolis": lambda q: ARM.operational_space_dynamics(q, 0.3 * q, mask=PLANE).coriolis,
    "nullspace": lambda q: ARM.operational_space_dynamics(q, q, mask=PLANE).nullspace,
    "other_types": lambda q: ARM.operational_space_dynamics(q, Q[0].astype(np.float32), mask=PLANE).inverse,
    "joint_velocities": lambda q: ARM.joint_velocities(q, TWIST, mask=PLANE).qd,
    "slowed": lambda q: ARM.joint_velocities(q, TWIST, mask=PLANE, qd_max=0.1, dt=0.5).qd,
    "damped": lambda q: ARM.joint_velocities(q, TWIST, mask=PLANE, region=2.0, secondary=0.1 * q).achieved,
    "joint_accelerations": lambda q: ARM.joint_accelerations(q, 0.3 * q, TWIST, mask=PLANE, qdd_max=5.0, dt=1.0).qdd,
    "manipulability_gradient": lambda q: manipulability_gradient(ARM, q, mask=PLANE),
    "towards_middle": lambda q: towards_middle(robots.panda().lock(LOCKED), q),
    "static_equilibrium": lambda tau: ARM.static_equilibrium(HANGING, tau).q,
    "articulated_inertias": lambda q: ARM.spatial_operators(q).D,
    "difference": lambda q: ARM.difference(q, Q[1]),
    "interpolate": lambda q: ARM.interpolate(Q[1], q, 0.25),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("module", DIFFERENTIABLE)
def test_values_and_derivatives(module: str, name: str) -> None:
    """The derivative against central differences, whose error is of the order of 1e-10 with steps of 1e-6."""
    call, rng = CALLS[name], np.random.default_rng(1)
    wanted = np.asarray(call(Q))
    weights, direction = rng.normal(size=wanted.shape), rng.normal(size=Q.shape)
    with library_of(module) as library:
        values = call(library.array(Q))
        slope = np.asarray(library.jacrev(lambda q: (call(q) * library.array(weights)).sum())(library.array(Q)))
        assert type(values) is type(library.array(Q))
        assert np.abs(np.asarray(values) - wanted).max() <= 1e-12 * max(1.0, np.abs(wanted).max())
    change = (call(Q + STEP * direction) - call(Q - STEP * direction)) / (2 * STEP)
    error = abs((slope * direction).sum() - (change * weights).sum()) / max(1.0, np.abs(change).max())
    print(f"{error:.1e}")
    assert error < 1e-8


@pytest.mark.parametrize("module", DIFFERENTIABLE)
@pytest.mark.parametrize(
    "name",
    ["lagrangian", "lagrange_dynamics", "length_inertia_torque", "configuration_rate", "inverse_operational_space_inertia"],
)
def test_functions_over_scalars_are_their_kernels(name: str, module: str) -> None:
    springs = [Spring({"link1": 1.0, "link2": -2.0}, inertia=0.5)] if name == "length_inertia_torque" else ()
    arm, declared = robots.planar_2r().replace(springs=springs), ALGORITHMS[name]
    at = [Q[0, :2]] * len(declared.inputs)
    with library_of(module) as library:
        states = [library.array(x) for x in at]
        values, kernel = declared.function(arm, *states), arm.kernel(name)
        assert type(values) is type(states[0])
        assert np.array_equal(np.asarray(values), kernel(*at))
        slopes = [
            library.jacrev(partial(call, *states[:-1]))(states[-1]) for call in (partial(declared.function, arm), kernel)
        ]
        assert np.array_equal(*map(np.asarray, slopes))
        assert np.asarray(slopes[0]).any()


@pytest.mark.parametrize("name", CALLS)
def test_dask_computes_later(name: str) -> None:
    dask = pytest.importorskip("dask.array")
    lazy = CALLS[name](dask.from_array(Q, chunks=(1, 3)))
    assert isinstance(lazy, dask.Array)
    assert np.abs(lazy.compute() - CALLS[name](Q)).max() <= 1e-14 * np.abs(lazy).max()


def test_what_has_no_inverse_has_the_derivative_of_its_pseudo_inverse() -> None:
    """The tip of a single link has a mass across the link, m = I / l^2, and along it none: m n n', n' turns with it."""
    arm, angle = robots.planar_3r().lock({"link2": 0.0, "link3": 0.0}), 0.4
    with library_of("torch") as library:
        q = library.array([angle])
        inertia = np.asarray(arm.operational_space_inertia(q, mask=PLANE))
        slope = np.asarray(library.jacrev(lambda q: arm.operational_space_inertia(q, mask=PLANE))(q))[..., 0]
    mass = arm.mass_matrix(q.numpy())[0, 0] / np.sum(arm.forward_kinematics(q.numpy())[:2, 3] ** 2)
    across, along = np.array([-np.sin(angle), np.cos(angle)]), np.array([np.cos(angle), np.sin(angle)])
    assert np.abs(inertia - mass * np.outer(across, across)).max() < 1e-14 * mass
    assert np.abs(slope + mass * (np.outer(along, across) + np.outer(across, along))).max() < 1e-13 * mass


@pytest.mark.parametrize("module", DIFFERENTIABLE)
def test_equal_singular_values_have_no_derivatives(module: str) -> None:
    """An arm whose second link is shorter by the root of 2 is isotropic at 135 degrees; slides always are."""
    arm = Mechanism.from_dh([(0, 0, 1, 0), (0, 0, np.sqrt(0.5), 0)], convention="standard")
    slides = Mechanism([Link(joint="prismatic", axis=axis) for axis in ((1, 0, 0), (0, 1, 0))])
    with library_of(module) as library:

        def slope(mechanism: Mechanism, q: Any) -> Any:
            call = library.jacrev(lambda q: mechanism.joint_velocities(q, TWIST, mask=PLANE).qd)
            return np.asarray(call(library.array(np.array(q))))

        assert not np.isfinite(slope(arm, [0.3, np.radians(135.0)])).all()
        assert np.isfinite(slope(arm, [0.3, np.radians(135.0) + 1e-3])).all()
        assert not slope(slides, [0.3, 0.2]).any()


@pytest.mark.parametrize("module", DIFFERENTIABLE)
def test_velocity_solutions_are_those_of_numpy(module: str) -> None:
    q, twist = np.array([[0.3, 0.8, -0.5], [0.1, 0.0, 0.0]]), np.array([0.1, 0.2, 0.0, 0.0, 0.0, 0.3])
    wanted = ARM.joint_velocities(q, twist, qd_max=0.2)
    with library_of(module) as library:
        solution = ARM.joint_velocities(library.array(q), library.array(twist), qd_max=0.2)
        for name in ("rates", "achieved", "diagnostics", "saturated", "exact", "singular_value", "reason"):
            assert np.array_equal(np.asarray(getattr(solution, name)), getattr(wanted, name)), name
        assert solution.explain(1) == wanted.explain(1)
        mapped = library.vmap(lambda q: ARM.joint_velocities(q, twist, qd_max=0.2).saturated)(library.array(q))
        assert np.array_equal(np.asarray(mapped), wanted.saturated)


@pytest.mark.parametrize("module", DIFFERENTIABLE)
def test_what_has_no_derivatives_is_named(module: str) -> None:
    linkage, resting = robots.four_bar(), np.array(robots.four_bar().neutral)
    calls: dict[str, Callable[[Any], Any]] = {
        "joint velocities with loops closed": lambda x: linkage.joint_velocities(resting, x, mask=PLANE).qd,
        "joint velocities with limits='qp'": lambda x: ARM.joint_velocities(Q, x, limits="qp").qd,
        "static_equilibrium with loops": lambda x: linkage.static_equilibrium(resting, x[:3]).q,
        "expected an array of NumPy: loops are": lambda x: linkage.reduced_mass_matrix(x[:3], ["crank"]),
    }
    calls["expected real numbers"] = lambda x: Wrench(x[:3]).vector
    pytest.importorskip("daqp")
    with library_of(module) as library:
        for message, call in calls.items():
            if message.startswith(("joint velocities with loops", "static")):
                call(library.array(TWIST * (0.0 if "static" in message else 1.0)))
            with pytest.raises(ArgumentError, match=message):
                library.jacrev(call)(library.array(TWIST))


PENDULUM = planar.Mechanism([planar.Link()])

#: What searches, counts, draws or builds: numbers go in, and nothing is differentiated.
OF_NUMBERS: dict[str, Callable[[Any], Any]] = {
    "mobility": ARM.mobility,
    "mobility with loops": lambda q: robots.four_bar().mobility(q),
    "base_parameters": lambda q: robots.four_bar().base_parameters(q=q),
    "workspace": lambda q: ARM.workspace(samples=1000, cells=16, ranges={"link1": q[:2]}),
    "link": lambda q: Link(com=q),
    "elements of a list": lambda q: Link(com=[0.0, 0.0, q[0]]),
    "limits": lambda q: Link(limits=q[:2]),
    "shape": lambda q: Shape("link1", "box", q),
    "motion of a link": lambda q: ARM.links[0].motion(q[0]),
    "gravity": lambda q: ARM.replace(gravity=q),
    "draw": ARM.draw,
    "contacts": lambda q: Contacts(ARM, [Contact("tip", "link3", (0, 0, 0))]).mass_matrix(q),
    "planar": lambda q: PENDULUM.poses(q[:1]),
    "spacelib": lambda q: spacelib.normal3([q, q, q]),
}


@pytest.mark.parametrize("name", OF_NUMBERS)
def test_nothing_is_differentiated_in_silence(name: str) -> None:
    """In forward mode and of single elements NumPy takes the numbers of a tensor without a word."""
    call, q = OF_NUMBERS[name], np.array([0.2, 0.3, 0.4])
    with library_of("torch"):
        torch, forward_ad = import_module("torch"), import_module("torch.autograd.forward_ad")
        tensor = torch.from_numpy(q)
        with pytest.raises(LinkwiseError) as refused:
            call(tensor.requires_grad_())
        message = str(refused.value)
        assert "requires a gradient, and nothing is differentiated here" in message
        assert "\n" not in message
        with forward_ad.dual_level(), pytest.raises(LinkwiseError):
            call(forward_ad.make_dual(torch.from_numpy(q), torch.ones(3, dtype=torch.float64)))


def test_what_searches_takes_tensors_of_numbers() -> None:
    four_bar, ranges = robots.four_bar(), np.array([0.2, 0.3])
    q = four_bar.linkage(["crank"]).position(0.3).q
    with library_of("torch") as library:
        assert four_bar.mobility(library.array(q)).freedoms == 1
        values = [four_bar.base_parameters(q=x).values for x in (q, library.array(q))]
        assert np.array_equal(*values)
        sizes = [ARM.workspace(samples=1000, cells=16, ranges={"link1": x}).size for x in (ranges, library.array(ranges))]
        assert sizes[0] == sizes[1]
        with pytest.raises(ArgumentError, match=r"ranges is tensor.*; expected a mapping of names"):
            ARM.workspace(ranges=library.array(ranges))
        with pytest.raises(ArgumentError, match=r"q .*\(2,\)"):
            ARM.mobility(library.array(q[:2]))


def test_a_feedback_of_tensors_has_derivatives() -> None:
    law = Feedback(lambda t, q, qd, kp: -kp * q, kp=3.0)
    with library_of("torch") as library:
        rest = library.array(Q[0])
        slope = library.jacrev(lambda q: law(ARM, 0.0, q, rest))(rest)
    assert np.array_equal(np.asarray(slope), -3.0 * np.eye(3))


def test_forward_mode_divides_nothing_by_zero() -> None:
    """The residuals are zero, and so is the damping away from singular positions: their derivatives are 0 too."""
    with library_of("torch") as library, np.errstate(divide="raise", invalid="raise"):
        call = library.jacfwd(lambda q: ARM.joint_velocities(q, TWIST, mask=PLANE).diagnostics)
        slopes = np.asarray(call(library.array(Q[0])))
    assert np.isfinite(slopes).all()
    assert not slopes[DIAGNOSTICS.index("damping")].any()


def test_constants_of_functions_are_where_the_arrays_are() -> None:
    with library_of("torch") as library:
        q = library.array(Q).to("meta")
        assert towards_middle(robots.panda().lock(LOCKED), q).device == q.device


def test_numbers_are_floats() -> None:
    assert arrays.numbers("f", [1, 2]).dtype == np.float64
    narrow = np.zeros(2, np.float32)
    assert arrays.numbers("f", narrow) is narrow


def test_a_batch_of_operational_spaces_is_a_loop() -> None:
    """To the last bit, whatever is summed."""
    arm = robots.puma560()
    q = arm.random_configuration(3, 5)
    batch = arm.operational_space_dynamics(q, 0.3 * q)
    for k, row in enumerate(q):
        one = arm.operational_space_dynamics(row, 0.3 * row)
        for name in ("inertia", "coriolis", "gravity", "inverse", "nullspace"):
            assert np.array_equal(getattr(batch, name)[k], getattr(one, name)), name


def test_a_constraint_of_arrays_counts_its_arguments() -> None:
    with library_of("torch") as library, pytest.raises(TypeError, match="multiple values for argument 'link'"):
        Position(library.array(TWIST[:3]), link="tool")


@pytest.mark.parametrize("module", DIFFERENTIABLE)
def test_batches_of_none_and_what_is_not_finite(module: str) -> None:
    bad = np.array([Q[0], [np.nan, 0.0, 0.0]])
    with library_of(module) as library:
        none = library.jacrev(lambda q: ARM.joint_velocities(q, TWIST, mask=PLANE).qd.sum())(library.array(Q[:0]))
        assert tuple(none.shape) == (0, 3)
        modes = ARM.modes(library.array(bad))
        assert np.array_equal(
            np.isfinite(np.asarray(modes.frequencies)), np.isfinite(ARM.modes(bad[:1]).frequencies) & [[1], [0]]
        )
        assert np.isnan(np.asarray(modes.shapes)[1]).all()
        with pytest.raises(ArgumentError, match=r"the batch shapes do not fit each other: q0 \(2,\), qd0 \(3,\)"):
            library.jacrev(lambda q: simulate(ARM, q, np.zeros((3, 3)), t=(0.1, 0.01)).q)(library.array(Q))
        with pytest.raises(ArgumentError, match="static_equilibrium: q0 holds int"):
            ARM.static_equilibrium(library.array([0, 0, 1]))
