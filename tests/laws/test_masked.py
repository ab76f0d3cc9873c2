"""What a mask hides is no value: a set mask is refused wherever arrays come in; a mask that is set nowhere is none."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwise as lw
from linkwise import control, files
from linkwise.errors import LinkwiseError
from linkwise.solve import Pose, Position

ARM = lw.robots.puma560()
PLANE = lw.robots.planar_2r()
Z = np.zeros(6)


def hidden(values: Any, masked: bool = True) -> Any:
    """The values with the first one masked, or none."""
    made = np.array(values, dtype=float)
    return np.ma.masked_array(made, mask=masked & (np.arange(made.size) == 0).reshape(made.shape))


def link(**fields: Any) -> lw.Mechanism:
    return lw.Mechanism([lw.Link(name="a", mass=1.0, **fields)])


Q = 0.1 + 0.1 * np.arange(6)
T = ARM.forward_kinematics(Q)
CHAIN = control.Chain(PLANE, control.FixedPosition("hold", "tool", [1.0, 1.0, 0.0]), q0=[0.1, 1.4])
ONES = np.ones(2)
CALLS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "compiled entry": (ARM.forward_kinematics, Q),
    "a batch": (ARM.mass_matrix, np.stack([Q, Q])),
    "a kernel": (ARM.kernel("jacobian"), Q),
    "numpy kernel": (ARM.kernel("jacobian", backend="numpy"), Q),
    "a later argument": (lambda qdd: ARM.inverse_dynamics(Q, Q, qdd), Q),
    "options": (lambda q: ARM.jacobian(q, frame="body"), Q),
    "difference": (lambda q: ARM.difference(Q, q), Q),
    "inverse kinematics": (ARM.inverse_kinematics, T),
    "initial guess": (lambda q: ARM.inverse_kinematics(T, q0=q), Q),
    "solve": (lambda p: ARM.solve([Position("tool", p)]), T[:3, 3]),
    "pose": (lambda pose: ARM.solve([Pose("tool", pose)]), T),
    "simulate": (lambda q: lw.simulate(PLANE, q, t=[0.0, 1e-3, 2e-3]), ONES),
    "centre of mass": (lambda com: link(com=com), (0.1, 0.0, 0.0)),
    "inertia": (lambda tensor: link(inertia=tensor), (1.0, 1.0, 1.0)),
    "limits": (lambda limits: link(limits=limits), (-1.0, 1.0)),
    "gravity": (lambda g: ARM.replace(gravity=g), (0.0, 0.0, -9.8)),
    "quintic": (lambda q: lw.trajectory.quintic(q, [1.0, 1.0], 1.0), ONES),
    "trajectory": (lambda q: lw.Trajectory([0.0, 1.0], q, np.zeros((2, 2)), np.zeros((2, 2))), np.zeros((2, 2))),
    "motion file": (
        lambda q: files.save_motion("a.csv", [0.0, 1.0], q, np.zeros((2, 2)), np.zeros((2, 2))),
        np.ones((2, 2)),
    ),
    "feed": (CHAIN.feed, ONES),
    "port": (lambda p: CHAIN.ports.write("hold.position", p), (1.0, 1.0, 0.0)),
    "constraint": (lambda p: control.FixedPosition("hold", "tool", p), (1.0, 1.0, 0.0)),
    "SpaceLib": (lw.spacelib.invers, T),
    "toolbox": (lw.rtss.rt_tr2rot, T),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_set_mask_is_refused_and_an_empty_one_is_none(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    call, values = CALLS[name]
    call(values)
    call(hidden(values, masked=False))
    with pytest.raises(LinkwiseError):
        call(hidden(values))


def test_masks_in_a_list_are_seen() -> None:
    with pytest.raises(LinkwiseError, match="q has masked elements"):
        ARM.forward_kinematics([hidden(Q), Q])
    with pytest.raises(LinkwiseError, match="q0 has masked elements"):
        ARM.inverse_kinematics(T, q0=[hidden(Q), Q])
    for call in (ARM.forward_kinematics, ARM.kernel("forward_kinematics")):  # (NumPy would warn)
        with pytest.raises(LinkwiseError, match="q has masked elements"):
            call([0.1, np.ma.masked, *Q[2:]])


def test_the_first_call_and_the_compiled_one_alike() -> None:
    """Also where the method was looked up before; what was computed is a plain array."""
    arm = lw.robots.stanford()
    held = arm.forward_kinematics
    for call in (held, arm.forward_kinematics, held):
        with pytest.raises(LinkwiseError, match="q has masked elements"):
            call(hidden(Q))
        assert type(call(Q)) is np.ndarray


def test_nothing_imports_masked_arrays() -> None:
    """The check costs nothing to those who use none: where NumPy's module is not loaded there is no mask to look for."""
    code = "import sys, linkwise as lw; lw.robots.puma560().forward_kinematics([0.0] * 6); print('numpy.ma' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout == "False\n"
