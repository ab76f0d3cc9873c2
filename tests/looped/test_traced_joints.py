"""Joints of types from outside the package in loops over bodies: as straight-line code, with their numbers as inputs."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

import linkwise as lw
from linkwise.errors import ArgumentError
from linkwise.looped import kernel as sweeps
from linkwise.model.joints import JOINTS, Joint
from linkwise.model.joints.joint import joint
from linkwise.spatial.rotation import rotation_about
from linkwise.spatial.scalar import Array, cos_sin
from linkwise.spatial.transform import transform, translation
from linkwise.sweeps.drivers import LOOPED
from linkwise.sweeps.joint_arithmetic import JointArithmetic
from linkwise.sweeps.traced_joints import MOST_KINDS, traced_joints
from support.random_mechanisms import random_state

EXACT = 1e-13
"""Relative to the largest number, one at least: some hundred products of such numbers, added up in another order."""


@joint
@dataclass(frozen=True, eq=False)
class TiltingCam(Joint):
    """A follower that tilts and is lifted: its motion subspace depends on the coordinate."""

    kind: ClassVar[str] = "tilting cam"
    letter: ClassVar[str] = "C"
    lift: Any

    def placement(self, q: Array) -> Array:
        c, s = cos_sin(q[0])
        return transform(rotation_about([0.6, 0.0, 0.8], q[0]), [self.lift * c, 0.1 * q[0] * q[0], self.lift * s])


class Slider(Joint):
    """What the tests below make other types of."""

    kind: ClassVar[str] = "test slider"
    letter: ClassVar[str] = "D"


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    before = dict(JOINTS)
    JOINTS["tilting cam"] = TiltingCam
    yield
    JOINTS.clear()
    JOINTS.update(before)


def teardown_module() -> None:
    del JOINTS["tilting cam"]


def chain(joints: list[Any], **values: Any) -> lw.Mechanism:
    before = transform(rotation_about([0.0, 0.6, 0.8], 0.7), [0.2, 0.1, -0.3])
    body = {"mass": 1.5, "com": (0.1, -0.2, 0.3), "inertia": (0.5, 0.6, 0.4, 0.02, -0.03, 0.01)}
    kinds = [{"joint": x} if isinstance(x, Joint) else {"joint": x, "axis": (0.48, -0.6, 0.64)} for x in joints]
    links = [lw.Link(before=before, offset=0.2 * (k == 1), **kind, **body) for k, kind in enumerate(kinds)]
    return lw.Mechanism(links, **values)


def slider(function: Any) -> type[Joint]:
    """A type with a number whose placement is that function of it and q."""
    kind = type(
        "Some", (Slider,), {"__annotations__": {"size": Any}, "placement": lambda self, q: function(self.size, q[0])}
    )
    return joint(dataclass(frozen=True, eq=False)(kind))


@pytest.mark.parametrize("name", ["inverse_dynamics", "jacobian_dot", "forward_dynamics"])
@pytest.mark.parametrize("floating", [False, True])
def test_as_the_straight_line_and_a_batch_as_a_loop(name: str, floating: bool) -> None:
    mech = chain(["fixed", TiltingCam(0.3), "ball", TiltingCam(-0.1), "prismatic"], floating=floating)
    kernel = mech.kernel(name, tier="looped")
    state = random_state(mech, 1, (9,))[: len(kernel.tape.inputs)]
    results, wanted = kernel(*state), mech.kernel(name, backend="numpy")(*state)
    growth = (
        np.linalg.cond(mech.kernel("mass_matrix", backend="numpy")(state[0])).max() if name == "forward_dynamics" else 10
    )
    assert np.abs(results - wanted).max() < EXACT * growth / 10 * max(1.0, np.abs(wanted).max())
    for k in (0, 7, 8):
        assert np.array_equal(results[k], kernel(*(value[k] for value in state)))


def test_numbers_are_inputs() -> None:
    """One code for all lifts, in one mechanism and in a stack; 40 bodies choose it by themselves."""
    mechanisms = [chain(["revolute", TiltingCam(lift), TiltingCam(2 * lift)]) for lift in (0.1, 0.2, 0.7)]
    kernels = [mech.kernel("jacobian_dot", tier="looped") for mech in mechanisms]
    assert len({id(kernel.code) for kernel in kernels}) == 1
    q, qd, _ = random_state(mechanisms[0], 2)
    rows = lw.stack(mechanisms).jacobian_dot(q, qd)
    for row, kernel, mech in zip(rows, kernels, mechanisms, strict=True):
        assert np.array_equal(row, kernel(q, qd))
        assert np.abs(row - mech.kernel("jacobian_dot", backend="numpy")(q, qd)).max() < EXACT
    assert chain(["revolute", TiltingCam(0.3)] * 20).kernel("jacobian_dot").tier == "looped"


def by_value(size: Any, q: Any) -> Any:
    return translation(0.0, 0.0, q * 2.0) if not hasattr(size, "op") and size == 2.0 else translation(0.0, size * q, 0.0)


def by_comparison(size: Any, q: Any) -> Any:
    return translation(0.0, 0.0, size * q) if size > 0.5 else translation(0.0, size * q, 0.0)


def by_float(size: Any, q: Any) -> Any:
    return translation(0.0, float(size) * q, 0.0)


@pytest.mark.parametrize("function", [by_value, by_comparison, by_float])
def test_code_that_chooses_by_a_number_keeps_it(function: Any) -> None:
    """Symbols in the place of numbers would take one way for all: then the numbers are part of the arithmetic."""
    some = slider(function)
    mech = chain([some(0.3), some(2.0), "revolute", some(0.3)])
    names = {kind.arithmetic.names for kind in traced_joints(mech).kinds}
    assert names <= {("size",), ()}
    assert () in names
    q = np.array([0.4, -0.3, 0.2, 0.6])
    expected = mech.kernel("forward_kinematics", backend="numpy")(q)
    assert np.abs(mech.kernel("forward_kinematics", tier="looped")(q) - expected).max() < EXACT


def test_the_digest_says_what_the_code_calls() -> None:
    """Also that of functions which the text of the class does not hold."""
    some, factor = slider(lambda size, q: translation(0.0, helper(size) * q, 0.0)), 2.0

    def helper(size: Any) -> Any:
        return size * factor

    first = JointArithmetic.of(some(0.3))
    assert (first.names, first) == (("size",), JointArithmetic.of(some(0.7)))
    factor = 3.0
    assert first != JointArithmetic.of(some(0.3))


def test_what_has_no_loop_says_why() -> None:
    some = slider(by_float)
    many = chain([some(0.1 * k) for k in range(1, MOST_KINDS + 2)])
    broken = chain([slider(lambda size, q: translation(0.0, np.interp(q, [0, 1], [0, 1]), 0.0))(0.1)])
    cases = [
        (many, "forward_kinematics", f"more than {MOST_KINDS}"),
        (broken, "forward_kinematics", "'test slider' of link 1"),
        (chain([TiltingCam(0.1)]), "coriolis_matrix", "motion subspace"),
        (chain([TiltingCam(0.1)]), "inverse_dynamics_derivatives", "motion subspace"),
    ]
    for mech, name, message in cases:
        with pytest.raises(ArgumentError, match=message):
            mech.kernel(name, tier="looped")
    assert many.kernel("forward_kinematics")(np.zeros(many.nq)).shape == (4, 4)


def test_code_of_types_that_nobody_uses_any_more_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    """This package's own programs stay beside it; of others the last."""
    assert 2 * len(sweeps.programs()) < sweeps.KEPT
    mech = lw.Mechanism([lw.Link(joint=TiltingCam(0.2), mass=1.0)])
    code = weakref.ref(mech.kernel("gravity_torque", tier="looped").code)
    del mech
    gc.collect()
    assert code() is not None
    monkeypatch.setattr(sweeps, "code_by_key", lambda *_: object())
    steps = LOOPED["gravity_torque"]
    for k in range(sweeps.KEPT):
        sweeps.kept_code(steps, (("number", k),), True)
    gc.collect()
    assert code() is None
    sweeps.kept_code.cache_clear()
