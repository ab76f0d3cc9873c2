"""An MJCF file as Linkwise reads it, held against what MuJoCo makes of it, intermediate by intermediate."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property

import mujoco
import numpy as np
from scipy.sparse import csr_array

from linkwise import Mechanism
from linkwise.spatial.quaternion import quaternion_rotation
from support.random_mechanisms import computed

CLOSE = 2e-12
"""Relative to the largest element: rounding, and MuJoCo's principal axes, which its compiler finds to 1e-12."""


Residual = tuple[str, float]


def residual(what: str, ours: np.ndarray, theirs: np.ndarray, least: float = 1e-3) -> Residual:
    """The largest difference, relative to the largest element."""
    size = max(np.abs(theirs).max(initial=0.0), least)
    return what, float(np.abs(np.asarray(ours) - theirs).max(initial=0.0) / size)


class MujocoTwin:
    """A mechanism and the MuJoCo model of the same file.

    MuJoCo has a coordinate for each joint; ours may follow others. ``spread`` (MuJoCo's nv, ours) takes our speeds there.
    """

    def __init__(self, mech: Mechanism, model: mujoco.MjModel) -> None:
        slides = {link.name: link.parent for link in mech.links if link.mimic and link.body.is_zero}
        tied = {end for loop in mech.loops for end in (loop.first, loop.second) if end in slides}
        while more := {slides[name] for name in tied} & slides.keys() - tied:  # (a chain of slides is a sum)
            tied |= more
        kept = [link for link in mech.links if link.name not in tied]
        tool = {} if mech.link_names[mech.tool_index] not in tied else {"tool_link": None}
        self.mech = mech = mech.replace(loops=(), links=kept, **tool)  # (without the links of polynomials)
        self.model = model
        self.data = mujoco.MjData(model)
        model.opt.viscosity = model.opt.density = 0.0
        model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
        self.flags = model.opt.disableflags
        joints = mujoco.mjtEq.mjEQ_JOINT  # (an equality of one joint holds it, and it is none here)
        self.held = {
            int(model.eq_obj1id[k]): model.eq_data[k, 0]
            for k in range(model.neq)
            if model.eq_type[k] == joints and model.eq_obj2id[k] < 0 and model.eq_active0[k]
        }
        self.moving = [-1] if mech.floating else []  # (the base too)
        self.moving += [k for k, link in enumerate(mech.links) if link.moves]
        self.joints = [k for k in range(model.njnt) if k not in self.held]
        self.addresses: list[tuple[int, int]] = []  # (of coordinates and of velocities, for each of ours)
        names = []
        for k in self.joints:
            place, speed, name = int(model.jnt_qposadr[k]), int(model.jnt_dofadr[k]), model.joint(k).name
            link = self.moving[len(self.addresses)]
            free = model.jnt_type[k] == mujoco.mjtJoint.mjJNT_FREE
            spread = free and link >= 0 and mech.links[link].joint != "floating"
            for at in range(4 if spread else 1):  # (three slides and a ball)
                self.addresses.append((place + at, speed + at))
                names.append(name and name + ("_x", "_y", "_z", "")[at] if spread else name)
        assert len(names) == len(self.moving)
        pairs = list(zip(names, self.moving, strict=True))
        assert all(k < 0 or name in ("", mech.links[k].coordinate_name) for name, k in pairs)
        assert model.nv == len(self.held) + sum(6 if k < 0 else mech.links[k].joint_model.nv for k in self.moving)

    def link_of(self, body: int) -> str:
        """What the link of a MuJoCo body is called."""
        names, known = self.names
        unnamed = f"body{body}" + ("_2" if f"body{body}" in known else "")
        renamed = "base_frame" if "base_link" in known else "base_link"
        return {"": unnamed, "base": renamed}.get(names[body], names[body])

    @cached_property
    def names(self) -> tuple[list[str], set[str]]:
        """What MuJoCo calls the bodies."""
        names = [self.model.body(k).name for k in range(self.model.nbody)]
        return names, set(names)

    def compare(self, seed: int) -> None:
        """Assert that everything agrees."""
        for what, difference in self.residuals(seed):
            assert difference <= CLOSE, f"{what}: {difference:.1e}"

    def residuals(self, seed: int) -> Iterator[Residual]:
        """Everything that both know, at random coordinates, speeds and accelerations."""
        yield from self._of_bodies()
        self._compare_limits()
        rng = np.random.default_rng(seed)
        for _ in range(3):
            q, qd, qdd = (rng.uniform(-1.5, 1.5, size) for size in (self.mech.nq, self.mech.nv, self.mech.nv))
            for at in self.mech.manifold_joints:
                q[at.quaternion] /= np.linalg.norm(q[at.quaternion])
            yield from self._of_state(q, qd, qdd)

    def _of_bodies(self) -> Iterator[Residual]:
        for k in range(1, self.model.nbody):
            if self.link_of(k) not in self.mech.link_names:
                assert self.mech.floating  # what stands beside a floating base is left out
                assert self.model.body_weldid[k] == 0 or self.model.body_mocapid[self.model.body_weldid[k]] >= 0
                continue
            body = self.mech.links[self.mech.link_index(self.link_of(k))].body
            turn = np.asarray(quaternion_rotation(self.model.body_iquat[k]), dtype=float)
            yield residual(f"mass of body {k}", body.mass, self.model.body_mass[k])
            if body.mass:
                yield residual(f"centre of mass of body {k}", body.com, self.model.body_ipos[k])
            tensor = turn @ np.diag(self.model.body_inertia[k]) @ turn.T
            yield residual(f"tensor of body {k}", body.tensor, tensor, 1e-12)

    def _compare_limits(self) -> None:
        owners = [int(self.model.dof_jntid[speed]) for _, speed in self.addresses]
        joints = [j for j, k in zip(owners, self.moving, strict=True) if k >= 0 and not self.mech.links[k].has_quaternion]
        ranges = [self.model.jnt_range[k] if self.model.jnt_limited[k] else (-np.inf, np.inf) for k in joints]
        if not self.mech.coupled:
            assert np.allclose(
                np.column_stack([self.mech.q_min, self.mech.q_max]), np.reshape(ranges, (-1, 2)), rtol=1e-15, atol=0
            )

    def _of_state(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> Iterator[Residual]:
        mech, model, data = self.mech, self.model, self.data

        springs = [replace(each, damping=0.0) if hasattr(each, "damping") else each for each in mech.springs]
        undamped = mech.without_friction().replace(springs=springs)

        def ours(name: str, *args: np.ndarray, **options: str) -> np.ndarray:
            return np.asarray(computed(undamped if name == "inverse_dynamics" else mech, name, *args, **options))

        spread = np.zeros((model.nv, mech.nv))
        lag, free = np.zeros(model.nv), {at.link: at for at in mech.manifold_joints}
        for j, value in self.held.items():
            data.qpos[model.jnt_qposadr[j]] = model.qpos0[model.jnt_qposadr[j]] + value
        for (place, speed), k in zip(self.addresses, self.moving, strict=True):
            if k not in free:
                spread[speed, mech.nv - mech.n + mech.coordinates[k]] = mech.followers[k].ratio
                data.qpos[place] = mech.joint_coordinates(k, q)
                continue
            at, size = free[k], free[k].joint.nv
            data.qpos[place : place + at.joint.nq] = q[at.q]
            spread[speed : speed + size, at.v] = np.eye(size)
            if size == 6:
                turn = np.asarray(quaternion_rotation(q[at.quaternion]), dtype=float)
                spread[speed : speed + 3, at.v.start : at.v.start + 3] = turn
                lag[speed : speed + 3] = turn @ np.cross(qd[at.v][3:], qd[at.v][:3])
        spread = csr_array(spread)
        data.qvel[:] = spread @ qd
        data.qacc[:] = spread @ qdd + lag
        model.opt.disableflags = self.flags
        mujoco.mj_forward(model, data)
        loss = model.dof_frictionloss * np.sign(data.qvel)
        passive = ours("friction_torque", qd) + ours("spring_torque", q, qd)
        yield residual("friction and springs", passive, spread.T @ (loss - data.qfrc_passive))
        model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_DAMPER)
        data.qacc[:] = spread @ qdd + lag
        mujoco.mj_inverse(model, data)
        poses = ours("link_poses", q)
        places = {name: k for k, name in enumerate(mech.link_names)}
        for k in range(1, model.nbody):
            if self.link_of(k) in places:
                pose = poses[places[self.link_of(k)]]
                yield residual(f"position of body {k}", pose[:3, 3], data.xpos[k])
                yield residual(f"orientation of body {k}", pose[:3, :3], data.xmat[k].reshape(3, 3))
        mass = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(model, data, mass)
        yield residual("mass matrix", ours("mass_matrix", q), spread.T @ mass @ spread)
        yield residual("bias", ours("bias_torque", q, qd), spread.T @ (data.qfrc_bias + mass @ lag))
        chosen = [k for k in range(1, model.nbody) if self.link_of(k) in places]
        for k in chosen[:: max(1, len(chosen) // 4)]:
            there = np.zeros((6, model.nv))
            mujoco.mj_jacBody(model, data, there[:3], there[3:], k)
            own = ours("jacobian", q, link=self.link_of(k), frame="world")
            yield residual(f"Jacobian of body {k}", own, there @ spread)
        yield residual("inverse dynamics", ours("inverse_dynamics", q, qd, qdd), spread.T @ data.qfrc_inverse)
