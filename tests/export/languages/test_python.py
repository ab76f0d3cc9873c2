"""Exported Python needs NumPy alone, takes batches, keeps float32, and reads as people write."""

from typing import Any

import numpy as np
import pytest

from linkwise import robots
from linkwise.export import to_python
from linkwise.export.samples import samples
from support.exported_code import arguments, drawn_for, hostile, off, plain, random_tape


def space(source: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    exec(compile(source, "<exported>", "exec"), found)
    return found


def test_everything_is_what_the_gufunc_gives() -> None:
    made = space(to_python([plain(), hostile(), random_tape(4)]))
    drawn = samples(random_tape(4))
    assert off(drawn, made["random4"](*arguments(random_tape(4), drawn))) <= 1.0
    for tape, name in ((plain(), "plain"), (hostile(), "fn_for")):
        drawn = drawn_for("plain" if name == "plain" else "hostile")
        given = arguments(tape, drawn)
        whole = made[name](*given)
        assert off(drawn, whole) <= 1.0
        for row in range(4):
            single = made[name](*(arg[row] for arg in given))
            assert all(np.array_equal(a[row], b) for a, b in zip(whole, single, strict=True))


def test_kernels_of_a_mechanism_with_symbols() -> None:
    arm = robots.load("planar_3r").symbolic("inertial", "lengths", "gravity")
    tape = arm.kernel("inverse_dynamics").tape
    made, drawn = space(to_python(tape, prefix="arm_")), samples(arm.kernel("inverse_dynamics").tape)
    q, qd, qdd, parameters = arguments(tape, drawn)
    assert off(drawn, made["arm_inverse_dynamics"](q, qd, qdd, parameters)) <= 1.0
    constants = made["arm_inverse_dynamics_prepare"](parameters)
    assert off(drawn, made["arm_inverse_dynamics_prepared"](q, qd, qdd, constants)) <= 1.0
    assert "    q1 = q[..., 0]\n" in to_python(tape)
    assert "sin_q2 = np.sin(q2)" in to_python(tape)


def test_types_and_batches() -> None:
    made = space(to_python(plain()))["plain"]
    q, weight, p = np.ones((5, 1, 2)), np.full(3, 0.5), np.ones(4)
    wide = made(q, weight, p)
    assert [part.shape for part in wide] == [(5, 3, 2, 3), (5, 3, 3), (5, 3)]
    assert {part.dtype for part in wide} == {np.dtype(float)}
    single = made(*(arg.astype(np.float32) for arg in (q, weight, p)))
    assert {part.dtype for part in single} == {np.dtype(np.float32)}
    assert np.allclose(single[0], wide[0], rtol=1e-5)
    assert {part.dtype for part in made([1, 2], 1, [1, 2, 3, 4])} == {np.dtype(float)}
    assert np.shape(made([1, 2], 1, [1, 2, 3, 4])[2]) == ()


def test_a_wrong_shape_is_told() -> None:
    made = space(to_python(hostile()))["fn_for"]
    with pytest.raises(ValueError, match=r"lambda has no|q has the shape \(3,\); expected \(\.\.\., 2\)"):
        made(np.zeros(3), 0.0, np.zeros(3), np.zeros(4))


def test_names_are_those_of_people_where_they_can_be() -> None:
    source = to_python(hostile())
    assert "def fn_for(q, lambda_v, lambda_v_2, parameters):" in source
    for line in ("lambda_v : array (...)\n        'lambda'", "gamma = q[..., 0]", "n2_theta_dot = q[..., 1]"):
        assert line in source
    assert source.isascii()
    assert [line for line in source.splitlines() if "import" in line] == ["import numpy as np"]


def test_nothing_that_moves() -> None:
    from linkwise import Link, Mechanism

    still = Mechanism([Link(joint="fixed", mass=1.0)])
    made = space(to_python([still.kernel("jacobian").tape, still.kernel("forward_kinematics").tape]))
    assert made["jacobian"](np.zeros(0)).shape == (6, 0)
    assert np.array_equal(made["forward_kinematics"](np.zeros((2, 0))), [np.eye(4)] * 2)


def test_what_is_no_real_number_is_refused() -> None:
    function = space(to_python(random_tape(4)))["random4"]
    for wrong, kind in (([1j, 0, 0, 0], "complex128"), (["1", "2", "3", "4"], "<U1")):
        with pytest.raises(TypeError, match=f"x holds {kind}; expected real numbers"):
            function(wrong)
