"""Algorithms that `dynamics.py` measures: the call, Pinocchio's, and how its result is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Row:
    """An algorithm on both sides.

    Attributes
    ----------
    arguments : str
        A letter each: q and p configurations, v velocities, u slow ones, a accelerations or efforts, f forces on all links,
        s a share, t one second.
    call : str
        Pinocchio's, of the arguments, a model m, its data d and the id of a frame.
    read : str
        Its results, from what the call returns, r, or leaves in d.
    method : str
        Ours, where it is not the row's name with the arguments and options.
    kernel : str
        Its kernel, where that has not the name of the row.
    options : mapping
        Options of the kernel; the link "middle" stands for one in the middle.
    compared : bool
        False where both sides order or define their results differently: these are compared by the tests, not here.
    left : bool
        Whether Pinocchio may leave the results of a batch in its data, as it has no array of them.
    """

    arguments: str
    call: str
    read: str = "r if isinstance(r, tuple) else (r,)"
    method: str = ""
    kernel: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    compared: bool = True
    left: bool = False

    @property
    def parameters(self) -> str:
        """The arguments of a function."""
        return ", ".join(self.arguments)


KINEMATICS = "pin.computeForwardKinematicsDerivatives(m, d, q, v, 0.0 * v)"
MOVED = "pin.forwardKinematics(m, d, q, v, a)"
FORCES = {"wrenches": "body"}
BODY = {"frame": "body"}

ROWS = {
    "inverse_dynamics": Row("qva", "pin.rnea(m, d, q, v, a)"),
    "inverse_dynamics, forces on all links": Row(
        "qvaf",
        "pin.rnea(m, d, q, v, a, f)",
        method="mech.inverse_dynamics(q, v, a, f)",
        kernel="inverse_dynamics_external",
        options=FORCES,
    ),
    "forward_dynamics": Row("qva", "pin.aba(m, d, q, v, a)"),
    "forward_dynamics, forces on all links": Row(
        "qvaf",
        "pin.aba(m, d, q, v, a, f)",
        method="mech.forward_dynamics(q, v, a, f)",
        kernel="forward_dynamics_external",
        options=FORCES,
    ),
    "bias_torque": Row("qv", "pin.nonLinearEffects(m, d, q, v)"),
    "gravity_torque": Row("q", "pin.computeGeneralizedGravity(m, d, q)"),
    "gravity_torque, forces on all links": Row(
        "qf",
        "pin.computeStaticTorque(m, d, q, f)",
        method="mech.gravity_torque(q, f)",
        kernel="gravity_torque_external",
        options=FORCES,
    ),
    "mass_matrix": Row("q", "pin.crba(m, d, q)"),
    "inverse_mass_matrix": Row("q", "pin.computeMinverse(m, d, q)"),
    "coriolis_matrix": Row("qv", "pin.computeCoriolisMatrix(m, d, q, v)", compared=False),
    "inverse_dynamics_derivatives": Row("qva", "pin.computeRNEADerivatives(m, d, q, v, a)"),
    "forward_dynamics_derivatives": Row("qva", "pin.computeABADerivatives(m, d, q, v, a)"),
    "kinetic_energy": Row("qv", "pin.computeKineticEnergy(m, d, q, v)"),
    "potential_energy": Row("q", "pin.computePotentialEnergy(m, d, q)"),
    "momentum": Row("qv", "pin.computeCentroidalMomentum(m, d, q, v)", "(r.vector,)", options={"about": "com"}),
    "momentum_dot": Row(
        "qva", "pin.computeCentroidalMomentumTimeVariation(m, d, q, v, a)", "(r.vector,)", options={"about": "com"}
    ),
    "centroidal_momentum_matrix": Row("q", "pin.computeCentroidalMap(m, d, q)"),
    "centroidal_momentum_matrix_dot": Row("qv", "pin.dccrba(m, d, q, v)", "(np.array(d.dAg),)"),
    "centroidal_momentum_derivatives": Row("qva", "pin.computeCentroidalDynamicsDerivatives(m, d, q, v, a)", compared=False),
    "center_of_mass": Row("q", "pin.centerOfMass(m, d, q)"),
    "center_of_mass_jacobian": Row("q", "pin.jacobianCenterOfMass(m, d, q)"),
    "center_of_mass_jacobian, from a link on": Row(
        "q",
        "pin.jacobianSubtreeCenterOfMass(m, d, q, middle)",
        method="mech.center_of_mass_jacobian(q, link=link)",
        kernel="center_of_mass_jacobian",
        options={"link": "middle"},
    ),
    "link_poses": Row(
        "q",
        "pin.forwardKinematics(m, d, q)",
        "(pin.updateFramePlacements(m, d), np.stack([d.oMf[k].homogeneous for k in frames]))[1:]",
        left=True,
    ),
    "jacobian": Row("q", "pin.computeFrameJacobian(m, d, q, frame, pin.LOCAL_WORLD_ALIGNED)"),
    "jacobian_dot": Row(
        "qv",
        "pin.computeJointJacobiansTimeVariation(m, d, q, v),"
        "pin.getFrameJacobianTimeVariation(m, d, frame, pin.LOCAL_WORLD_ALIGNED)",
        "r[-1:]",
        compared=False,
    ),
    "kinematic_hessian": Row(
        "q",
        "pin.computeJointJacobians(m, d, q), pin.computeJointKinematicHessians(m, d),"
        "pin.getJointKinematicHessian(m, d, m.njoints - 1, pin.LOCAL_WORLD_ALIGNED)",
        "r[-1:]",
        compared=False,
    ),
    "frame_velocity": Row(
        "qv",
        "pin.forwardKinematics(m, d, q, v), pin.getFrameVelocity(m, d, frame, pin.LOCAL_WORLD_ALIGNED)",
        "(r[1].vector,)",
    ),
    "frame_acceleration, spatial": Row(
        "qva",
        f"{MOVED}, pin.getFrameAcceleration(m, d, frame, pin.LOCAL)",
        "(r[1].vector,)",
        method="mech.frame_acceleration(q, v, a, frame='body')",
        kernel="frame_acceleration",
        options=BODY,
    ),
    "frame_acceleration, classical": Row(
        "qva",
        f"{MOVED}, pin.getFrameClassicalAcceleration(m, d, frame, pin.LOCAL_WORLD_ALIGNED)",
        "(r[1].vector,)",
        method="mech.frame_acceleration(q, v, a)",
        kernel="frame_acceleration",
    ),
    "frame_velocity_derivatives": Row(
        "qv",
        f"{KINEMATICS}, pin.getFrameVelocityDerivatives(m, d, frame, pin.ReferenceFrame.LOCAL)",
        "r[1]",
        options=BODY,
    ),
    "frame_acceleration_derivatives": Row(
        "qva",
        "pin.computeForwardKinematicsDerivatives(m, d, q, v, a),"
        "pin.getFrameAccelerationDerivatives(m, d, frame, pin.ReferenceFrame.LOCAL)",
        "r[1]",
        options=BODY,
        compared=False,
    ),
    "regressor": Row("qva", "pin.computeJointTorqueRegressor(m, d, q, v, a)", compared=False),
    "gravity_regressor": Row("q", "pin.computeJointTorqueRegressor(m, d, q, still, still)", compared=False),
    "energy_regressor": Row(
        "qv", "pin.computeKineticEnergyRegressor(m, d, q, v), pin.computePotentialEnergyRegressor(m, d, q)", compared=False
    ),
    "center_of_mass_regressor": Row("q", "pin.computeStaticRegressor(m, d, q)", compared=False),
    "integrate": Row("qut", "pin.integrate(m, q, u)"),
    "difference": Row("qp", "pin.difference(m, q, p)"),
    "interpolate": Row("qps", "pin.interpolate(m, q, p, s)"),
    "integrate_derivatives": Row("qut", "pin.dIntegrate(m, q, u)"),
    "difference_derivatives": Row("qp", "pin.dDifference(m, q, p)"),
}
