"""A mechanism in Drake, for benchmarks beside it: needs the package ``drake`` (some 400 MB, in no extra of this one)."""

from __future__ import annotations

from typing import Any

import numpy as np
from pydrake.math import RigidTransform
from pydrake.multibody.plant import MultibodyPlant
from pydrake.multibody.tree import (
    FixedOffsetFrame,
    JacobianWrtVariable,
    MultibodyForces,
    PrismaticJoint,
    RevoluteJoint,
    SpatialInertia,
    UnitInertia,
    WeldJoint,
)

import linkwise as lw

#: The mass of a body with moments of inertia alone, kg: Drake divides these by it.
LEAST = 1e-12

#: Statements that compute an algorithm at q, v and a (or tau), by its name: state and all that hangs on it are set anew.
CALLS = {
    "inverse_dynamics": "p.SetPositions(c, q); p.SetVelocities(c, v);"
    " p.CalcForceElementsContribution(c, forces); r = p.CalcInverseDynamics(c, a, forces)",
    "forward_dynamics": (
        "p.SetPositions(c, q); p.SetVelocities(c, v); port.FixValue(c, a);"
        " r = p.EvalTimeDerivatives(c).get_generalized_velocity().CopyToVector()"
    ),
    "mass_matrix": "p.SetPositions(c, q); r = p.CalcMassMatrix(c)",
    "link_poses": "p.SetPositions(c, q); r = p.EvalBodyPoseInWorld(c, last)",
    "jacobian": "p.SetPositions(c, q); r = p.CalcJacobianSpatialVelocity(c, by_v, frame, origin, world, world)",
}


def to_drake(mechanism: lw.Mechanism) -> dict[str, Any]:
    """The names that `CALLS` use, of a plant with the same joints, inertias and motor inertias, without payload."""
    plant = MultibodyPlant(0.0)
    plant.mutable_gravity_field().set_gravity_vector(np.asarray(mechanism.gravity, dtype=float))
    frames = {-1: plant.world_frame()}
    bodies: list[Any] = []
    for k in mechanism.order:
        link, parent = mechanism.links[k], mechanism.parents[k]
        body = plant.AddRigidBody(f"body{k}", _inertia(link.body))
        start = (mechanism.base if parent < 0 else np.eye(4)) @ link.before
        if link.moves:
            start = start @ link.joint_model.placement(np.array([link.offset]))
        before = _frame(plant, f"before{k}", frames[parent], start)
        after = _frame(plant, f"after{k}", body.body_frame(), np.linalg.inv(link.after))
        if link.moves:
            kind = {"revolute": RevoluteJoint, "prismatic": PrismaticJoint}[link.joint]
            joint = plant.AddJoint(kind(f"joint{k}", before, after, np.asarray(link.axis)))
            if link.motor is not None:
                actuator = plant.AddJointActuator(f"motor{k}", joint)
                actuator.set_default_rotor_inertia(float(link.motor.inertia))
                actuator.set_default_gear_ratio(float(link.motor.gear_ratio))
        else:
            plant.AddJoint(WeldJoint(f"joint{k}", before, after, RigidTransform()))
        frames[k] = body.body_frame()
        bodies.append(body)
    plant.Finalize()
    last, context = bodies[mechanism.tool_index], plant.CreateDefaultContext()
    names = {"p": plant, "c": context, "last": last, "frame": last.body_frame(), "world": plant.world_frame()}
    names |= {"by_v": JacobianWrtVariable.kV, "origin": np.asarray(mechanism.tool)[:3, 3].copy()}
    return names | {"port": plant.get_applied_generalized_force_input_port(), "forces": MultibodyForces(plant)}


def _frame(plant: Any, name: str, on: Any, pose: Any) -> Any:
    return plant.AddFrame(FixedOffsetFrame(name, on, RigidTransform(np.asarray(pose, dtype=float))))


def _inertia(inertia: lw.Inertia) -> Any:
    if not inertia.mass and not np.any(inertia.tensor):
        return SpatialInertia.Zero()
    mass, com = max(float(inertia.mass), LEAST), np.asarray(inertia.com, dtype=float)
    unit = np.asarray(inertia.tensor, dtype=float) / mass + com @ com * np.eye(3) - np.outer(com, com)
    about = UnitInertia(*(unit[i] for i in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))))
    return SpatialInertia(mass, com, about, skip_validity_check=True)  # (the PUMA's published moments are no body's)
