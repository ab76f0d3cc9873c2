"""Closed loops: a warm step of a linkage from Python and in a batch, beside Newton's method written by hand on Pinocchio.

    python benchmarks/loops.py

Pinocchio has no solver for a driven linkage, so what its user writes stands beside ours: forward kinematics, the two frames
of the pin, their Jacobians, and NumPy for the two passive coordinates, from the same start to the same closure.
"""

from __future__ import annotations

import numpy as np
from timing import least, per_call, pin_to_one_core, seconds

import linkwise as lw
from linkwise.loops import Linkage

BATCH = 100_000
STEP = 0.02
"""rad, from one position to the next: 314 positions a turn."""


def by_hand(mech: lw.Mechanism) -> object:
    """A function (u, q) that closes the four-bar by Newton's method on Pinocchio, None where it is not installed."""
    try:
        import pinocchio as pin
    except ImportError:
        return None
    from peers import to_pinocchio

    model, _ = to_pinocchio(mech.replace(loops=()))
    (loop,) = mech.loops
    ids = []
    for name, frame in ((loop.first, loop.first_frame), (loop.second, loop.second_frame)):
        ids.append(
            model.addFrame(pin.Frame(f"{name} pin", model.getJointId(name), 0, pin.SE3(frame), pin.FrameType.OP_FRAME))
        )
    data, axes = model.createData(), pin.LOCAL_WORLD_ALIGNED
    one, two = ids

    def close(u: np.ndarray, q: np.ndarray) -> np.ndarray:
        q = q.copy()
        q[0] = u[0]
        for _ in range(10):
            pin.computeJointJacobians(model, data, q)
            pin.updateFramePlacements(model, data)
            gap = (data.oMf[two].translation - data.oMf[one].translation)[:2]
            if abs(gap).max() < 1e-13:
                return q
            jac = pin.getFrameJacobian(model, data, two, axes)[:2] - pin.getFrameJacobian(model, data, one, axes)[:2]
            q[1:] -= np.linalg.solve(jac[:, 1:], gap)
        raise RuntimeError("not closed")

    return close


def line(name: str, time: float, floor: float, aim: float, unit: float = 1e-6) -> None:
    """Print one figure with what it should be at most."""
    verdict = "aim reached" if time <= aim * unit else "passed" if time <= floor * unit else "ABOVE"
    suffix = {1e-6: "us", 1e-9: "ns"}[unit]
    print(f"{name:66} {time / unit:8.2f} {suffix}   at most {floor:g}, aim {aim:g} {suffix}   {verdict}")


def warm(name: str, linkage: Linkage, floor: float, aim: float) -> None:
    """A warm step of one linkage from Python."""
    u, q = linkage.driven_part(linkage.q0) + STEP, linkage.q0.copy()
    assert linkage.position(u, q).success
    once = per_call("position(u, q)", {"position": linkage.position, "u": u, "q": q}, 5000)
    line(f"{name}: warm step from Python, checked", least(once), floor, aim)


def batch(name: str, linkage: Linkage, floor: float, aim: float) -> None:
    """A warm step of many."""
    rng = np.random.default_rng(0)
    u = linkage.driven_part(linkage.q0) + rng.uniform(-STEP, STEP, (BATCH, len(linkage.driven)))
    assert linkage.position(u).success.all()
    line(f"{name}: warm step, batch of {BATCH}", least(seconds(lambda: linkage.position(u)), 9) / BATCH, floor, aim, 1e-9)


def rates(name: str, linkage: Linkage) -> None:
    """Speeds and accelerations from Python."""
    q, ud = linkage.q0.copy(), np.ones(len(linkage.driven))
    qd = linkage.velocity(q, ud)
    linkage.acceleration(q, qd, ud)
    names = {"velocity": linkage.velocity, "acceleration": linkage.acceleration, "q": q, "qd": qd, "ud": ud}
    line(f"{name}: speeds from Python, checked", least(per_call("velocity(q, ud)", names, 5000)), 5.0, 2.0)
    line(f"{name}: accelerations from Python, checked", least(per_call("acceleration(q, qd, ud)", names, 5000)), 5.0, 2.0)


def against_pinocchio(linkage: Linkage) -> None:
    """The same step of the four-bar by hand, and whether both come to the same position."""
    close = by_hand(linkage.mechanism)
    if close is None:
        print("Pinocchio is not installed: nothing to compare with")
        return
    u, q = linkage.driven_part(linkage.q0) + STEP, linkage.q0.copy()
    difference = abs(close(u, q) - linkage.position(u, q).q).max()  # type: ignore[operator]
    assert difference < 1e-12, difference
    theirs = least(per_call("close(u, q)", {"close": close, "u": u, "q": q}, 500))
    ours = least(per_call("position(u, q)", {"position": linkage.position, "u": u, "q": q}, 5000))
    print(
        f"{'four-bar: the same by hand on Pinocchio and NumPy':66} {theirs * 1e6:8.2f} us   {theirs / ours:.1f} times ours"
    )


def main() -> None:
    """Print the figures."""
    pin_to_one_core()
    four_bar = Linkage(lw.robots.four_bar(), ["crank"])
    warm("four-bar", four_bar, 5.0, 2.0)
    against_pinocchio(four_bar)
    batch("four-bar", four_bar, 1000.0, 200.0)
    rates("four-bar", four_bar)
    warm("Jansen's leg", Linkage(lw.robots.jansen(), ["crank"]), 5.0, 2.0)
    stewart = Linkage(lw.robots.stewart())
    warm("Stewart platform, forward", stewart, 20.0, 10.0)
    batch("Stewart platform, forward", stewart, 10_000.0, 3_000.0)


if __name__ == "__main__":
    main()
