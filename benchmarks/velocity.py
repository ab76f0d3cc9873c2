"""Joint speeds and accelerations for those of the tool: ``python benchmarks/velocity.py``.

Beside Pinocchio with NumPy, written as its users write it: Jacobian of the frame, then damped least squares or a singular
value decomposition; beside NumPy's pseudo-inverse for a batch; beside SciPy's least squares in a box. Away from singular
positions all must agree before anything is timed. One core, one thread, least of many rounds.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys
from collections.abc import Callable

import numpy as np

try:
    import pinocchio as pin
    from peers import to_pinocchio
except ImportError:
    sys.exit("this benchmark needs Pinocchio: pip install '.[peers]'")
from scipy.optimize import lsq_linear
from timing import least, per_call, pin_to_one_core, seconds

import linkwise as lw
from linkwise.inverse_kinematics import joint_accelerations, joint_velocities, velocity_step

BATCH, AGREE = 100_000, 1e-9


def pinocchio_speeds(mech: lw.Mechanism) -> dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]]:
    model, frame = to_pinocchio(mech)
    data = model.createData()
    aligned = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    damped = 1e-6 * np.eye(6)

    def plain(q: np.ndarray, twist: np.ndarray) -> np.ndarray:
        jac = pin.computeFrameJacobian(model, data, q, frame, aligned)
        return jac.T @ np.linalg.solve(jac @ jac.T + damped, twist)

    def by_svd(q: np.ndarray, twist: np.ndarray) -> np.ndarray:
        jac = pin.computeFrameJacobian(model, data, q, frame, aligned)
        return np.linalg.pinv(jac) @ twist

    return {"damped": plain, "svd": by_svd}


def line(label: str, value: float, unit: str, *beside: str) -> None:
    print(f"{label:52} {value:9.2f} {unit:3} {'  '.join(beside)}")


def single(name: str, mech: lw.Mechanism, q: np.ndarray, twist: np.ndarray) -> None:
    theirs, step = pinocchio_speeds(mech), velocity_step(mech)
    one = joint_velocities(mech, q, twist, weights=np.ones(mech.n))
    assert one.exact
    assert np.abs(theirs["svd"](q, twist) - one.qd).max() < AGREE
    names: dict[str, object] = {"q": q, "twist": twist, "step": step, "speeds": joint_velocities, "mech": mech, **theirs}
    times = {
        label: 1e6 * least(per_call(code, names, 1000))
        for label, code in {
            "step": "step(q, twist)",
            "whole": "speeds(mech, q, twist)",
            "damped": "damped(q, twist)",
            "svd": "svd(q, twist)",
        }.items()
    }
    beside = (f"Pinocchio, NumPy damped {times['damped']:.1f} us", f"by SVD {times['svd']:.1f} us")
    line(f"{name}: one call, velocity_step", times["step"], "us", *beside)
    line(f"{name}: one call, joint_velocities", times["whole"], "us")


def batch(name: str, mech: lw.Mechanism, q: np.ndarray, twist: np.ndarray) -> None:
    qd = 0.3 * twist[:, [0] * mech.n]
    made = joint_velocities(mech, q, twist, weights=np.ones(mech.n))
    far = made.damping == 0.0

    def by_numpy() -> np.ndarray:
        return (np.linalg.pinv(mech.jacobian(q[:5000])) @ twist[:5000, :, None])[..., 0]

    assert np.abs(by_numpy() - made.qd[:5000])[far[:5000]].max() < AGREE
    worst = max(made.linear_residual[far].max(), made.angular_residual[far].max())
    ours = 1e9 / BATCH * least(seconds(lambda: joint_velocities(mech, q, twist)), 9)
    theirs = 1e9 / 5000 * least(seconds(by_numpy), 9)
    beside = (f"NumPy's pseudo-inverse {theirs:.0f} ns", f"{100 * (1 - far.mean()):.0f} % damped, else residual {worst:.0e}")
    line(f"{name}: {BATCH:,} speeds, each", ours, "ns", *beside)
    line(
        f"{name}: {BATCH:,} accelerations, each",
        1e9 / BATCH * least(seconds(lambda: joint_accelerations(mech, q, qd, twist)), 9),
        "ns",
    )


def programs(name: str, mech: lw.Mechanism, q: np.ndarray, twist: np.ndarray) -> None:
    made = joint_velocities(mech, q, twist, limits="qp", qd_max=0.6)
    chosen = int(np.flatnonzero((made.reason == "bounded") & (made.damping == 0.0))[0])
    matrix, right = made.task.matrix(q[chosen]), twist[chosen] * made.task.unit

    def by_scipy() -> np.ndarray:
        return np.asarray(lsq_linear(matrix, right, (-0.6, 0.6), method="bvls", tol=1e-14).x)

    gap = np.linalg.norm(matrix @ made.qd[chosen] - right) - np.linalg.norm(matrix @ by_scipy() - right)
    assert gap < AGREE
    at, wanted = q[chosen], twist[chosen]
    ours = 1e6 * least(seconds(lambda: joint_velocities(mech, at, wanted, limits="qp", qd_max=0.6)))
    line(f"{name}: one call, quadratic program", ours, "us", f"SciPy's bvls alone {1e6 * least(seconds(by_scipy)):.0f} us")


def main() -> None:
    pin_to_one_core()
    for name in ("puma560", "ur5", "panda"):
        mech = lw.robots.load(name)
        rng = np.random.default_rng(0)
        q, twist = rng.uniform(-2.5, 2.5, (BATCH, mech.n)), rng.normal(size=(BATCH, 6))
        regular = int(np.argmax(joint_velocities(mech, q[:1000], twist[:1000]).singular_value))
        single(name, mech, q[regular].copy(), 0.1 * twist[regular])
        batch(name, mech, q, twist)
        programs(name, mech, q[:200], 0.5 * twist[:200])


if __name__ == "__main__":
    main()
