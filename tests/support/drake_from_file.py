"""An SDF or URDF as Drake reads it by itself, held against the mechanism that we make of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from pydrake.math import RigidTransform, RollPitchYaw, RotationMatrix
from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import MultibodyPlant
from pydrake.multibody.tree import BodyIndex, JacobianWrtVariable, MultibodyForces

from linkwise import Mechanism
from support.mujoco_from_mjcf import Residual, residual
from support.random_mechanisms import direct, random_state


def drake_plant(path: Path, packages: Sequence[Path]) -> Any:
    """The plant that Drake makes of a file; packages are folders that ``model://`` and ``package://`` name."""
    plant = MultibodyPlant(0.0)
    parser = Parser(plant)
    for folder in packages:
        if not parser.package_map().Contains(folder.name):
            parser.package_map().Add(folder.name, str(folder))
    text = path.read_text(encoding="utf-8", errors="replace")
    slashed = re.sub(r"<uri>\s*(model://[^/<]+?)\s*</uri>", r"<uri>\1/</uri>", text)
    if slashed == text:
        parser.AddModels(str(path))
    else:  # (Drake takes a model only with a slash at its end)
        parser.AddModelsFromString(slashed, "sdf")
    return plant


def as_drake_reads(mech: Mechanism) -> tuple[Mechanism, str]:
    """The mechanism with the two things that Drake changes, and which of them it changes; empty where it changes nothing.

    An inertia that no body has becomes that of a solid sphere of water of the mass (``ParseSpatialInertia`` in Drake's
    detail_common.cc). A hinge whose unit axis has an element of exactly 1.0 turns about that axis of coordinates, though the
    others be up to 1e-8 (``MakeMobilizerForJoint`` in revolute_joint.cc).
    """
    links, changes = [], []
    for link in mech.links:
        body, fields = link.body, {}
        if not body.physical or (body.mass == 0 and np.any(body.tensor)):
            mass = body.mass if body.mass > 0 else 1.0
            radius = np.cbrt(3 * mass / (4 * np.pi * 1000))
            fields |= {"mass": mass, "inertia": 0.4 * mass * radius**2 * np.eye(3), "physical": True}
            changes.append(f"no body has the inertia of {link.name}")
        axis = np.asarray(link.axis, dtype=float)
        if link.joint == "revolute" and 1.0 in axis and np.sort(abs(axis))[1] > 1e-12:
            fields["axis"] = (axis == 1.0).astype(float)
            changes.append(f"the axis of {link.name} is rounded")
        links.append(link.replace(**fields) if fields else link)
    return (mech.replace(links=links) if changes else mech), ", ".join(changes)


class DrakeTwin:
    """A mechanism without loops and springs, and Drake's plant of the same file; ``spread`` takes our speeds to Drake's.

    Bodies that Drake lets float have there the speeds in the world's axes, the angular ones first; ball joints the angular
    velocity in the axes of the parent. Efforts are compared as ours.
    """

    def __init__(self, mech: Mechanism, plant: Any) -> None:
        self.mech, self.plant = mech.without_friction().replace(springs=(), loops=()), plant
        plant.mutable_gravity_field().set_gravity_vector(np.asarray(mech.gravity, dtype=float))
        plant.Finalize()
        self.context = plant.CreateDefaultContext()
        bodies = [plant.get_body(BodyIndex(k)) for k in range(1, plant.num_bodies())]
        self.bodies = {name: body for body in bodies if (name := _ours(plant, body, mech.link_names))}
        self.joints = [plant.get_joint(index) for index in plant.GetJointIndices()]
        self.floating = {index: plant.get_body(index) for index in plant.GetFloatingBaseBodies()}

    def residuals(self, seed: int) -> Iterator[Residual]:
        """Everything that both compute, at a random state."""
        q, qd, qdd = random_state(self.mech, seed)
        poses = direct(self.mech, "link_poses", q)
        spread, lag = self._set(q, qd, dict(zip(self.mech.link_names, poses, strict=True)))
        plant, context = self.plant, self.context
        for name, body in self.bodies.items():
            pose = poses[self.mech.link_index(name)]
            there = plant.EvalBodyPoseInWorld(context, body).GetAsMatrix4()
            yield residual(f"position of {name}", pose[:3, 3], there[:3, 3], 1.0)
            yield residual(f"orientation of {name}", pose[:3, :3], there[:3, :3])
        if not self.mech.nv:
            return
        yield residual(
            "mass matrix", direct(self.mech, "mass_matrix", q), spread.T @ plant.CalcMassMatrix(context) @ spread, 1e-9
        )
        plant.SetVelocities(context, spread @ qd)
        tau = plant.CalcInverseDynamics(context, spread @ qdd + lag, MultibodyForces(plant))
        tau -= plant.CalcGravityGeneralizedForces(context)
        yield residual("inverse dynamics", direct(self.mech, "inverse_dynamics", q, qd, qdd), spread.T @ tau, 1e-6)
        world = plant.world_frame()
        for name in sorted(self.bodies)[:: max(1, len(self.bodies) // 4)]:
            frame = self.bodies[name].body_frame()
            there = plant.CalcJacobianSpatialVelocity(context, JacobianWrtVariable.kV, frame, np.zeros(3), world, world)
            yield residual(f"Jacobian of {name}", self._jacobian(name, q), there[[3, 4, 5, 0, 1, 2]] @ spread)

    def _jacobian(self, link: str, q: Any) -> Any:
        return direct(self.mech, "jacobian", q, link=link, frame="world")

    def _set(self, q: Any, qd: Any, poses: dict[str, Any]) -> tuple[Any, Any]:
        """Put Drake where we are: the matrix of its speeds on ours, and its accelerations where ours are zero."""
        mech, plant, context = self.mech, self.plant, self.context
        spread, lag = np.zeros((plant.num_velocities(), mech.nv)), np.zeros(plant.num_velocities())
        names = {body.index(): name for name, body in self.bodies.items()}
        for index, body in self.floating.items():
            first = body.floating_velocities_start_in_v()
            name = names.get(index)  # (none for a root that is our base)
            pose = np.asarray(mech.base, dtype=float) if name is None else poses[name]
            rows = np.zeros((6, mech.nv)) if name is None else self._jacobian(name, q)
            plant.SetFreeBodyPose(
                context, body, RigidTransform(RotationMatrix.ProjectToRotationMatrix(pose[:3, :3]), pose[:3, 3])
            )
            spread[first : first + 6] = rows[[3, 4, 5, 0, 1, 2]]
            if name is not None:
                still = np.zeros(mech.nv)
                rate = direct(mech, "frame_acceleration", q, qd, still, link=name, frame="world")
                lag[first : first + 6] = rate[[3, 4, 5, 0, 1, 2]]
        for joint in self.joints:
            size, first = joint.num_velocities(), joint.velocity_start()
            if not size or joint.child_body().index() in self.floating:
                continue
            if joint.type_name() == "ball_rpy":
                turns = [_turn(poses, names, frame) for frame in (joint.frame_on_parent(), joint.frame_on_child())]
                joint.set_angles(
                    context, RollPitchYaw(RotationMatrix.ProjectToRotationMatrix(turns[0].T @ turns[1])).vector()
                )
                ends = [self._turning(names.get(body.index()), q) for body in (joint.parent_body(), joint.child_body())]
                spread[first : first + 3] = turns[0].T @ (ends[1] - ends[0])
                continue
            child, parent = (names.get(body.index()) for body in (joint.child_body(), joint.parent_body()))
            carried = parent is not None and mech.links[mech.link_index(parent)].parent == child  # (its parent, here)
            k = mech.link_index(parent if carried else child)
            start = mech.nv - mech.n + mech.coordinates[k]
            spread[first : first + size, start : start + size] = mech.followers[k].ratio * np.eye(size)
            values = np.atleast_1d(mech.joint_coordinates(k, q))
            positions = plant.GetPositions(context)
            positions[joint.position_start() : joint.position_start() + size] = values
            plant.SetPositions(context, positions)
        return spread, lag

    def _turning(self, link: str | None, q: Any) -> Any:
        """The angular velocity of a link, in the world's axes, as a matrix on the speeds."""
        return np.zeros((3, self.mech.nv)) if link is None else self._jacobian(link, q)[3:]


def _turn(poses: dict[str, Any], names: dict[Any, str], frame: Any) -> Any:
    """The axes of a frame in the world."""
    on, name = frame.GetFixedPoseInBodyFrame().rotation().matrix(), names.get(frame.body().index())
    return on if name is None else poses[name][:3, :3] @ on


def _ours(plant: Any, body: Any, names: Any) -> str:
    """What we call a body of Drake: its name within its models, or without the outermost of them."""
    parts = [*plant.GetModelInstanceName(body.model_instance()).split("::"), *body.name().split("::")]
    endings = ["::".join(parts[k:]) for k in range(len(parts))]
    endings += [f"{ending}_link" for ending in endings if parts[-1] == "base"]
    return next((name for name in endings if name in names), "")
