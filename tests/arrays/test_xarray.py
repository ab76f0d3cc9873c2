"""Labelled arrays: names and coordinates of the batch stay."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from linkwise import robots, simulate, stack
from linkwise.errors import ArgumentError

xarray = pytest.importorskip("xarray")

ARM = robots.planar_2r()
NUMBERS = np.random.default_rng(0).uniform(-1.0, 1.0, (3, 4, 10, 2))


def labelled(values: Any) -> Any:
    coordinates = {"time": np.arange(values.shape[-2]) / 10.0, "joint": list(ARM.names)}
    return xarray.DataArray(values, dims=("arm", "time", "joint")[3 - values.ndim :], coords=coordinates)


def test_vectors_along_the_coordinates_keep_their_dimension() -> None:
    tau = ARM.inverse_dynamics(*map(labelled, NUMBERS))
    assert (tau.dims, tau.name) == (("arm", "time", "joint"), "tau")
    assert list(tau.joint.values) == list(ARM.names)
    assert np.array_equal(tau.values, ARM.inverse_dynamics(*NUMBERS))


def test_other_results_have_axes_of_their_own() -> None:
    q = labelled(NUMBERS[0])
    T, J = ARM.forward_kinematics(q), ARM.jacobian(q)
    assert T.dims == ("arm", "time", "T_0", "T_1")
    assert J.sel(time=0.3).dims == ("arm", "J_0", "J_1")
    assert "joint" not in J.coords
    assert np.array_equal(J.values, ARM.jacobian(NUMBERS[0]))
    by_q = ARM.inverse_dynamics_derivatives(*map(labelled, NUMBERS))[0]
    assert by_q.dims == ("arm", "time", "dtau_dq_0", "dtau_dq_1")


def test_batches_meet_by_name() -> None:
    q, qd = labelled(NUMBERS[0]), labelled(NUMBERS[1, 2])
    energy = ARM.kinetic_energy(q.transpose("time", "arm", "joint"), qd)
    assert energy.dims == ("time", "arm")
    assert np.array_equal(energy.values.T, ARM.kinetic_energy(NUMBERS[0], NUMBERS[1, 2]))
    assert ARM.inverse_dynamics(q, qd, np.zeros(2)).dims == ("arm", "time", "joint")
    with pytest.raises(ArgumentError, match=r"qd has the shape \(10, 2\), and no names for a batch"):
        ARM.inverse_dynamics(q, NUMBERS[1, 2], np.zeros(2))
    with pytest.raises(ValueError, match="cannot align"):
        ARM.kinetic_energy(q, qd.assign_coords(time=np.arange(10)))
    with pytest.raises(ArgumentError, match=r"q has the shape"):
        ARM.gravity_torque(q.isel(joint=[0]))


def test_dask_inside_stays_lazy() -> None:
    dask_array = pytest.importorskip("dask.array")
    q = labelled(NUMBERS[0]).chunk(time=5, joint=1)
    T = ARM.forward_kinematics(q)
    assert isinstance(T.data, dask_array.Array)
    assert T.chunks[1] == (5, 5)
    assert np.array_equal(T.values, ARM.forward_kinematics(NUMBERS[0]))
    solution = ARM.inverse_kinematics(T, mask=[1, 1, 0, 0, 0, 0])
    assert isinstance(solution.q.data, dask_array.Array)
    assert bool(solution.success.all())
    assert solution.success.sel(time=0.2).dims == ("arm",)


def test_results_have_their_names() -> None:
    q = labelled(NUMBERS[0])
    solution, system = ARM.inverse_kinematics(ARM.forward_kinematics(q), mask=[1, 1, 0, 0, 0, 0]), ARM.linearize(q)
    rest, motion = ARM.static_equilibrium(q[0, 0]), simulate(ARM, q[0, 0], t=(0.02, 0.01))
    found = [solution.q, solution.success, system.A, system.qdd, rest.success, motion.tau, ARM.spatial_operators(q).phi]
    assert [one.name for one in found] == ["q", "success", "A", "qdd", "success", "tau", "phi"]
    assert system.A.dims == ("arm", "time", "A_0", "A_1")
    assert (solution.q.dims, motion.tau.dims) == (("arm", "time", "q_0"), ("tau_0", "tau_1"))


def test_stacks_are_a_dimension() -> None:
    arms = stack([ARM, ARM.with_payload(1.0)])
    torque = arms.gravity_torque(labelled(NUMBERS[0]))
    assert torque.dims[:3] == ("stack_0", "arm", "time")
    assert np.array_equal(torque.values, np.moveaxis(arms.gravity_torque(NUMBERS[0][..., None, :]), -2, 0))
    with pytest.raises(ArgumentError, match=r"gravity_torque: q has the shape .*; expected \(\.\.\., 2\)"):
        arms.gravity_torque(labelled(NUMBERS[0]).T)


def test_what_is_no_kernel_names_what_has_no_names() -> None:
    with pytest.raises(ArgumentError, match=r"simulate: qd0 has the shape \(10, 2\), and no names for a batch"):
        simulate(ARM, labelled(NUMBERS[0]), NUMBERS[1, 2], t=(0.1, 0.01))
