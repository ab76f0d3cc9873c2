"""Rollouts beside MuJoCo's in one process: ``python benchmarks/rollouts.py``.

The same mechanism without friction, the same initial states, the same torque in each step, the classical Runge-Kutta
method with the same steps on both sides; after all of them the states must agree before anything is timed. One core, one
thread; both record the state after every step, MuJoCo into an array that is there already.
"""

from __future__ import annotations

import os
import sys
import tempfile

import numpy as np

try:
    import mujoco
    from mujoco import rollout
except ImportError:
    sys.exit("this benchmark needs MuJoCo: pip install '.[peers]'")
from timing import first_call, in_turn, pin_to_one_core, seconds

import linkwise as lw

ROLLOUTS, STEPS, STEP = 1_000, 100, 1e-3
AGREE = 1e-10
"""Greatest difference of a state after all steps, relative to the greatest state."""


def to_mujoco(mech: lw.Mechanism) -> mujoco.MjModel:
    """A MuJoCo model of a chain or tree without friction; armature is the reflected inertia of the rotor.

    Each body's frame stands before B of its link. Masses and inertias are set after compiling, as they are.
    """
    lines = {-1: ""}
    inner: dict[int, list[int]] = {k: [] for k in (-1, *mech.order)}
    for k in mech.order:
        inner[mech.parents[k]].append(k)

    def text(k: int) -> str:
        link, parent = mech.links[k], mech.parents[k]
        pose = (np.array(mech.base) if parent < 0 else np.array(mech.links[parent].after)) @ link.before
        joint = ""
        if link.moves:
            kind = {"revolute": "hinge", "prismatic": "slide"}[link.joint]
            armature = link.motor.reflected_inertia if link.motor else 0.0
            joint = f'<joint type="{kind}" axis="{_row(link.axis)}" armature="{armature!r}"/>'
        return (
            f'<body name="{link.name}" pos="{_row(pose[:3, 3])}" quat="{_row(_quaternion(pose[:3, :3]))}">'
            f'<inertial mass="1" pos="0 0 0" diaginertia="1 1 1"/>{joint}{"".join(map(text, inner[k]))}</body>'
        )

    lines[-1] = "".join(map(text, inner[-1]))
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><option gravity="{_row(mech.gravity)}" timestep="{STEP!r}" integrator="RK4"/>'
        f'<compiler angle="radian"/><worldbody>{lines[-1]}</worldbody></mujoco>'
    )
    for link in mech.links:
        k, turn = model.body(link.name).id, link.after[:3, :3]
        moments, axes = np.linalg.eigh(turn @ link.body.tensor @ turn.T)
        axes[:, 2] *= np.linalg.det(axes)
        model.body_mass[k], model.body_inertia[k] = link.body.mass, moments
        model.body_ipos[k], model.body_iquat[k] = turn @ link.body.com + link.after[:3, 3], _quaternion(axes)
        model.body_sameframe[k] = 0
    return model


def _row(values: np.ndarray) -> str:
    return " ".join(repr(float(value)) for value in values)


def _quaternion(rotation: np.ndarray) -> np.ndarray:
    found = np.zeros(4)
    mujoco.mju_mat2Quat(found, np.ascontiguousarray(rotation).ravel())
    return found


class Pair:
    """One mechanism on both sides, with random states and torques."""

    def __init__(self, mech: lw.Mechanism) -> None:
        self.mech, self.model = mech.without_friction(), to_mujoco(mech.without_friction())
        self.data = mujoco.MjData(self.model)
        rng = np.random.default_rng(0)
        self.q, self.qd = rng.uniform(-1, 1, (2, ROLLOUTS, mech.n))
        self.torque = rng.uniform(-5, 5, (ROLLOUTS, STEPS, mech.n))
        offsets = [link.offset for link in mech.links if link.moves]
        self.start = np.hstack([np.zeros((ROLLOUTS, 1)), self.q + offsets, self.qd])
        self.state = np.empty((ROLLOUTS, STEPS, 1 + 2 * mech.n))
        self.sensors = np.empty((ROLLOUTS, STEPS, 0))
        self.offsets = offsets

    def theirs(self) -> None:
        spec = int(mujoco.mjtState.mjSTATE_QFRC_APPLIED)
        rollout.rollout(
            self.model, self.data, self.start, self.torque, control_spec=spec, state=self.state, sensordata=self.sensors
        )

    def ours(self, record: int = 1) -> lw.trajectory.Trajectory:
        return lw.simulate(self.mech, self.q, self.qd, torque=self.torque, t=(STEPS * STEP, STEP), record=record)

    def agree(self) -> float:
        self.theirs()
        made, n = self.ours(), self.mech.n
        mine = np.concatenate([made.q[:, -1] + self.offsets, made.qd[:, -1]], axis=1)
        return float(np.abs(mine - self.state[:, -1, 1 : 1 + 2 * n]).max() / np.abs(mine).max())


def report(pair: Pair, floor: tuple[float, float], aim: tuple[float, float]) -> None:
    times = in_turn(seconds(pair.theirs), seconds(pair.ours), seconds(lambda: pair.ours(record=STEPS)), rounds=9)
    theirs, ours, last = (ROLLOUTS * STEPS / time for time in times)
    for name, rate in (("every step recorded", ours), ("the last state recorded", last)):
        found = (rate / 1e6, rate / theirs)
        verdict = "BELOW"
        for word, wanted in (("passed", floor), ("aim reached", aim)):
            verdict = word if all(a >= b for a, b in zip(found, wanted, strict=True)) else verdict
        print(
            f"{pair.mech.name}: RK4, {name:24} MuJoCo {theirs / 1e6:6.3f} M steps/s, Linkwise {found[0]:6.2f} M steps/s, "
            f"{found[1]:6.1f}x   {floor[0]:g} M, {floor[1]:g}x / {aim[0]:g} M, {aim[1]:g}x  {verdict}"
        )


def main() -> None:
    pin_to_one_core()
    print(f"MuJoCo {mujoco.__version__}, NumPy {np.__version__}; {ROLLOUTS} rollouts of {STEPS} steps of {STEP:g} s\n")
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:  # MuJoCo writes a log where it runs
        os.chdir(folder)
        pairs = [Pair(lw.robots.puma560()), Pair(lw.robots.seven_joint())]
        for pair in pairs:
            difference = pair.agree()
            print(f"{pair.mech.name}: greatest relative difference {difference:.1e}")
            assert difference < AGREE
        print()
        report(pairs[0], (2, 3), (5, 8))
        report(pairs[1], (0, 3), (0, 8))
        os.chdir(here)
    first_call("puma560: simulate", "lw.robots.puma560()", "lw.simulate(mech, z, t=(1e-3, 1e-3))")


if __name__ == "__main__":
    main()
