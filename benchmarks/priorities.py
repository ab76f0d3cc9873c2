"""Whole-body targets of a humanoid beside Pink and mink, on one core, in the same run.

``python benchmarks/priorities.py [--targets 50]``. A Unitree G1 of 29 joints (of ``example-robot-data``) stands on two feet;
its hands are sent to random points, its centre of mass to above the middle of its soles, and its joints are to stay near a
stance. Linkwise: feet and centre of mass are of priority 0, hands of 1, the stance of 2. Pink and mink take steps of a
velocity, each the optimum of a quadratic program (by DAQP) with the feet as equality constraints, where hands, centre of
mass and stance are weighed 1, 1 and 1e-3; steps end where no joint moves by 1e-6, or after 300. A gain of 0.2 is the
greatest with which they came to all of ten targets (0.5: 6 of 10, 1: 2 of 10). pyroki minimises one sum of squares in
float64: feet and limits are weighed 100, centre of mass and hands 10, the stance 1e-3; the cost of the centre of mass, which
it lacks, is written here. Pinocchio's forward pass judges all of them.
Needs the extras ``peers`` and ``qp``, ``pin-pink``, ``mink`` and ``pyroki``; what is not installed is left out.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable
from importlib.metadata import distribution
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pinocchio as pin
from timing import pin_to_one_core

import linkwise as lw

FEET = ("left_ankle_roll_link", "right_ankle_roll_link")
HANDS = ("left_rubber_hand", "right_rubber_hand")
BENT = {"hip_pitch": -0.4, "knee": 0.8, "ankle_pitch": -0.4, "elbow": 0.4, "shoulder_pitch": -0.2}
STEPS, STILL, GAIN = 300, 1e-6, 0.2


def description() -> str:
    """The URDF without meshes."""
    robots = distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots")
    tree = ET.parse(Path(str(robots)) / "g1_description" / "urdf" / "g1_29dof_rev_1_0.urdf")
    for link in tree.getroot().findall("link"):
        for shape in [*link.findall("visual"), *link.findall("collision")]:
            link.remove(shape)
    for part in tree.getroot().findall("mujoco"):
        tree.getroot().remove(part)
    file = Path(tempfile.mkdtemp()) / "g1.urdf"
    tree.write(file)
    return str(file)


class Task:
    """The robot in Pinocchio, a stance, and random points for the hands."""

    def __init__(self, path: str, count: int) -> None:
        self.model = pin.buildModelFromUrdf(path, pin.JointModelFreeFlyer())
        self.data = self.model.createData()
        self.stance = pin.neutral(self.model)
        for k, name in enumerate(self.model.names[2:]):
            bent = next((angle for part, angle in BENT.items() if part in name), 0.0)
            self.stance[7 + k] = bent
        self.feet = [self.pose(self.stance, name) for name in FEET]
        self.middle = np.mean([foot[:2, 3] for foot in self.feet], axis=0) + np.array([0.03, 0.0])
        rng = np.random.default_rng(0)
        start = np.array([self.pose(self.stance, name)[:3, 3] for name in HANDS])
        self.hands = start + rng.uniform([-0.1, -0.15, -0.3], [0.35, 0.15, 0.3], (count, 2, 3))

    def pose(self, q: np.ndarray, frame: str) -> np.ndarray:
        """T_world_frame."""
        pin.framesForwardKinematics(self.model, self.data, q)
        return np.array(self.data.oMf[self.model.getFrameId(frame)].homogeneous)

    def errors(self, q: np.ndarray, hands: np.ndarray) -> tuple[float, float, float, float]:
        """Of the feet and beyond the limits (m or rad), the centre of mass, the hands (m); the way from the stance (rad)."""
        gaps = [
            pin.log6(pin.SE3(T).actInv(pin.SE3(self.pose(q, name)))).vector for T, name in zip(self.feet, FEET, strict=True)
        ]
        center = pin.centerOfMass(self.model, self.data, q)[:2] - self.middle
        away = [self.pose(q, name)[:3, 3] - p for name, p in zip(HANDS, hands, strict=True)]
        low, high = self.model.lowerPositionLimit, self.model.upperPositionLimit
        feet = max(float(np.abs(gaps).max()), float(np.maximum(low - q, q - high)[7:].max()))
        reached = float(np.linalg.norm(center)), float(np.linalg.norm(away, axis=1).max())
        return feet, *reached, float(np.linalg.norm((q - self.stance)[7:]))


def linkwise(task: Task, path: str) -> Callable[[np.ndarray], np.ndarray]:
    """Solve by levels; coordinates are those of Pinocchio but for the order in the quaternion."""
    robot = lw.load(path).replace(floating=True)
    order = [robot.names.index(name) for name in task.model.names[2:]]
    stance = robot.neutral.copy()
    stance[7 + np.array(order)] = task.stance[7:]
    feet = [lw.Pose(name, T) for name, T in zip(FEET, task.feet, strict=True)]
    box = np.array([*task.middle, np.inf])
    balance = lw.CenterOfMass(lower=[*task.middle, -np.inf], upper=box)
    posture = lw.Posture(stance, priority=2)

    def run(hands: np.ndarray) -> np.ndarray:
        reach = [lw.Position(name, p, priority=1) for name, p in zip(HANDS, hands, strict=True)]
        q = robot.solve([*feet, balance, *reach, posture], q0=stance).q
        return np.concatenate([q[:3], q[4:7], q[3:4], q[7 + np.array(order)]])

    return run


def pink(task: Task, path: str) -> Callable[[np.ndarray], np.ndarray]:
    """Steps of Pink."""
    from pink import Configuration, solve_ik
    from pink.limits import ConfigurationLimit
    from pink.tasks import ComTask, FrameTask, PostureTask

    feet = [FrameTask(name, 1.0, 1.0, gain=GAIN) for name in FEET]
    hands = [FrameTask(name, 1.0, 0.0, gain=GAIN) for name in HANDS]
    center, posture = ComTask([1.0, 1.0, 0.0], gain=GAIN), PostureTask(1e-3, gain=GAIN)

    def run(points: np.ndarray) -> np.ndarray:
        configuration = Configuration(task.model, task.data, task.stance)
        for part, T in zip(feet, task.feet, strict=True):
            part.set_target(pin.SE3(T))
        for part, p in zip(hands, points, strict=True):
            part.set_target(pin.SE3(np.eye(3), p))
        center.set_target(np.array([*task.middle, 0.0]))
        posture.set_target(task.stance)
        limits = [ConfigurationLimit(task.model, 0.95)]
        for _ in range(STEPS):
            velocity = solve_ik(
                configuration, [*hands, center, posture], 1.0, "daqp", limits=limits, constraints=feet, safety_break=False
            )
            configuration.integrate_inplace(velocity, 1.0)
            if np.abs(velocity).max() < STILL:
                break
        return np.array(configuration.q)

    return run


def mink(task: Task, path: str) -> Callable[[np.ndarray], np.ndarray]:
    """Steps of mink."""
    import mink as library
    import mujoco

    spec = mujoco.MjSpec.from_file(path)
    spec.compiler.fusestatic = False
    spec.worldbody.bodies[0].add_freejoint()
    model = spec.compile()
    order = [model.joint(name).qposadr[0] for name in task.model.names[2:]]
    stance = np.zeros(model.nq)
    stance[3] = 1.0
    stance[order] = task.stance[7:]
    feet = [library.FrameTask(name, "body", 1.0, 1.0, gain=GAIN) for name in FEET]
    hands = [library.FrameTask(name, "body", 1.0, 0.0, gain=GAIN) for name in HANDS]
    center = library.ComTask([1.0, 1.0, 0.0], gain=GAIN)
    posture = library.PostureTask(model, 1e-3, gain=GAIN)

    def run(points: np.ndarray) -> np.ndarray:
        configuration = library.Configuration(model, stance)
        for part, T in zip(feet, task.feet, strict=True):
            part.set_target(library.SE3.from_matrix(T))
        for part, p in zip(hands, points, strict=True):
            part.set_target(library.SE3.from_translation(p))
        center.set_target(np.array([*task.middle, 0.0]))
        posture.set_target(stance)
        limits = [library.ConfigurationLimit(model, 0.95)]
        for _ in range(STEPS):
            velocity = library.solve_ik(
                configuration, [*hands, center, posture], 1.0, "daqp", limits=limits, constraints=feet
            )
            configuration.integrate_inplace(velocity, 1.0)
            if np.abs(velocity).max() < STILL:
                break
        q = np.array(configuration.q)
        return np.concatenate([q[:3], q[4:7], q[3:4], q[order]])

    return run


def pyroki(task: Task, path: str) -> Callable[[np.ndarray], np.ndarray]:
    """One weighted least-squares problem of pyroki, compiled once by JAX."""
    import jax
    import jax.numpy as jnp
    import jaxlie
    import jaxls
    import pyroki as library
    import yourdfpy
    from loguru import logger

    for name in ("pyroki", "jaxls"):
        logger.disable(name)
    jax.config.update("jax_enable_x64", True)
    file = yourdfpy.URDF.load(path, load_meshes=False)
    robot = library.Robot.from_urdf(file)
    order = [robot.joints.actuated_names.index(name) for name in task.model.names[2:]]
    stance = np.zeros(len(order))
    stance[order] = task.stance[7:]
    heavy = [(k, file.link_map[name].inertial) for k, name in enumerate(robot.links.names)]
    heavy = [(k, inertial) for k, inertial in heavy if inertial is not None]
    places, masses = np.array([k for k, _ in heavy]), np.array([inertial.mass for _, inertial in heavy])
    centers = np.array([inertial.origin[:3, 3] for _, inertial in heavy])

    @jaxls.Cost.factory
    def center_cost(values: jaxls.VarValues, joints: jaxls.Var, base: jaxls.Var) -> jax.Array:
        links = jaxlie.SE3(robot.forward_kinematics(values[joints])[places])
        center = values[base] @ (masses @ (links @ jnp.asarray(centers)) / masses.sum())
        return 10.0 * (center[:2] - task.middle)

    def pose(T: np.ndarray) -> jaxlie.SE3:
        return jaxlie.SE3.from_matrix(jnp.asarray(T))

    joints, base = robot.joint_var_cls(0), jaxls.SE3Var(0)
    index = {name: jnp.array(robot.links.names.index(name), jnp.int32) for name in (*FEET, *HANDS)}
    feet = [pose(T) for T in task.feet]

    @jax.jit
    def solve(points: jax.Array) -> tuple[jax.Array, jax.Array]:
        on, limits = library.costs.pose_cost_with_base, library.costs.limit_cost
        hands = [jaxlie.SE3.from_translation(point) for point in points]
        costs = [
            *(on(robot, joints, base, T, index[name], 100.0, 100.0) for name, T in zip(FEET, feet, strict=True)),
            *(on(robot, joints, base, T, index[name], 10.0, 0.0) for name, T in zip(HANDS, hands, strict=True)),
            center_cost(joints, base),
            limits(robot, joints, 100.0),
            library.costs.rest_cost(joints, jnp.asarray(stance), 1e-3),
        ]
        start = jaxls.VarValues.make([joints.with_value(jnp.asarray(stance)), base.with_value(jaxlie.SE3.identity())])
        problem = jaxls.LeastSquaresProblem(costs, [joints, base]).analyze()
        found = problem.solve(initial_vals=start, verbose=False, linear_solver="dense_cholesky")
        return found[joints], found[base].wxyz_xyz

    def run(points: np.ndarray) -> np.ndarray:
        q, place = map(np.asarray, solve(jnp.asarray(points)))
        return np.concatenate([place[4:], place[1:4], place[:1], q[order]])

    return run


def main() -> None:
    """Print what each solver leaves, and its time beside that of Linkwise."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--targets", type=int, default=50)
    count = parser.parse_args().targets
    pin_to_one_core()
    path = description()
    task = Task(path, count)
    print(f"{'':10} feet < 1e-6  all < 1e-3  all < 1e-6   median: hands, m   from the stance, rad   ms a solve   ratio")
    first = 0.0
    for solver in (linkwise, pink, mink, pyroki):
        try:
            run = solver(task, path)
        except ImportError as error:
            print(f"{solver.__name__:10} left out: {error}")
            continue
        run(task.hands[0])
        times, rows, failed = [], [], 0
        for hands in task.hands:
            begin = time.process_time()
            try:
                q = run(hands)
            except Exception:  # (of the quadratic program, where it has no solution)
                q, failed = task.stance, failed + 1
            times.append(time.process_time() - begin)
            rows.append(task.errors(q, hands))
        errors, median = np.array(rows), float(np.median(times))
        first = first or median
        worst = errors[:, :3].max(axis=1)
        shares = [100 * np.mean(column) for column in (errors[:, 0] < 1e-6, worst < 1e-3, worst < 1e-6)]
        percent = "  ".join(f"{share:8.0f} %" for share in shares)
        middle = (
            f"{np.median(errors[:, 2]):12.2e}  {np.median(errors[:, 3]):18.3f}  {1e3 * median:15.1f}  {median / first:8.1f}"
        )
        print(f"{solver.__name__:10} {percent}  {middle}{f'   {failed} without an answer' if failed else ''}", flush=True)


if __name__ == "__main__":
    main()
