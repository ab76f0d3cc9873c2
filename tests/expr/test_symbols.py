"""Symbols in the place of numbers: anywhere in a model, in kernels and pickles, and refused where they cannot be."""

from __future__ import annotations

import math
import pickle
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import sympy

import linkwise as lw
from linkwise import robots
from linkwise.errors import ArgumentError, ModelError
from linkwise.expr import node
from linkwise.model.inertia import Inertia

EXACT = 1e-12
"""Of the largest element. The two sides add the same numbers in another order: a few hundred roundings of 1e-16."""


def two_links(**changes: Any) -> lw.Mechanism:
    """A planar arm, all of whose numbers are symbols."""
    m1, m2, l1, l2, c1, c2, i1, i2, g = lw.symbols("m1 m2 l1 l2 c1 c2 I1 I2 g")
    links = [
        lw.Link.dh(a=length, convention="standard", mass=m, com=(c - length, 0, 0), inertia=(0, i, i))
        for length, m, c, i in ((l1, m1, c1, i1), (l2, m2, c2, i2))
    ]
    return lw.Mechanism(links, gravity=(0, -g, 0), name="arm", **changes)


NUMBERS = {"m1": 1.5, "m2": 0.7, "l1": 0.6, "l2": 0.5, "c1": 0.3, "c2": 0.2, "I1": 0.05, "I2": 0.02, "g": 9.81}


def test_equal_names_are_one_symbol_and_pickle() -> None:
    m, other = lw.symbols("m"), lw.symbols("m,")
    assert other == (m,)
    assert isinstance(other, tuple)
    assert pickle.loads(pickle.dumps(m * 2.0 + m.sin())) is m * 2.0 + m.sin()
    assert lw.symbols(["link mass", "λ"])[0].value == "link mass"
    assert lw.symbols("e\u0301") is lw.symbols("\u00e9")


def test_expressions_of_another_process_are_those_of_this_one() -> None:
    """There the symbols were made in another order, which is the order of factors and terms."""
    names = [f"{word} of two processes" for word in "ab"]
    code = (
        "import pickle, sys, linkwise as lw\n"
        f"b, a = lw.symbols({names[::-1]})\n"
        "arm = lw.Mechanism([lw.Link(mass=a * b, com=(a + b, 0, 0))])\n"
        "sys.stdout.buffer.write(pickle.dumps(arm))"
    )
    sent = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout
    a, b = lw.symbols(names)
    arm, found = lw.Mechanism([lw.Link(mass=a * b, com=(a + b, 0, 0))]), pickle.loads(sent)
    assert found == arm
    assert hash(found) == hash(arm)
    assert found.links[0].body.mass is a * b


def test_threads_get_the_same_symbols(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even where one is interrupted between the look into the table and the entry into it."""
    new = node._new

    def slowly(*given: Any) -> Any:
        time.sleep(1e-3)
        return new(*given)

    monkeypatch.setattr(node, "_new", slowly)
    with ThreadPoolExecutor(4) as pool:
        found = [*pool.map(lambda k: lw.symbols([f"of threads {k // 4}"])[0], range(40))]
    assert len({*map(id, found)}) == 10
    assert all(map(node.is_parameter, found))


NO_NAMES: list[Any] = ["", " , ", ["a", ""], ["a\nb"], [" a"], ["x" * 201], ["-1e5"], ["nan"], [3], 5, ["\x1b[31m"]]


@pytest.mark.parametrize("names", NO_NAMES)
def test_no_names(names: Any) -> None:
    with pytest.raises(ArgumentError, match="name"):
        lw.symbols(names)


def test_the_parameters_are_in_the_order_of_their_first_use() -> None:
    arm = two_links()
    assert arm.symbols == ("l1", "m1", "c1", "I1", "l2", "m2", "c2", "I2", "g")
    tape = arm.kernel("mass_matrix").tape
    assert tape.inputs == {"q": (2,), "parameters": (9,)}
    assert tape.labels == {"q": ("q1", "q2"), "parameters": arm.symbols}


@pytest.mark.parametrize(
    ("name", "inputs"),
    [
        ("forward_kinematics", 1),
        ("jacobian", 1),
        ("mass_matrix", 1),
        ("coriolis_matrix", 2),
        ("gravity_torque", 1),
        ("inverse_dynamics", 3),
        ("forward_dynamics", 3),
        ("regressor", 3),
        ("inverse_dynamics_derivatives", 3),
        ("kinetic_energy", 2),
        ("center_of_mass", 1),
    ],
)
def test_a_kernel_takes_the_parameters_as_a_batch_of_its_own(name: str, inputs: int) -> None:
    arm, rng = two_links(), np.random.default_rng(3)
    state = [rng.uniform(-1.0, 1.0, (5, 2)) for _ in range(inputs)]
    cases = [{key: value * factor for key, value in NUMBERS.items()} for factor in (1.0, 1.25)]
    table = np.array([[case[key] for key in arm.symbols] for case in cases])
    found = arm.kernel(name)(*state, table[:, None, :])
    for k, case in enumerate(cases):
        wanted = arm.substitute(case).kernel(name)(*state)
        for one, other in zip(_tuple(found), _tuple(wanted), strict=True):
            difference = np.abs(one[k] - other).max() / np.abs(other).max()
            print(f"{name}: {difference:.1e}")
            assert difference < EXACT


@pytest.mark.parametrize("name", ["puma560", "panda", "scara_icomatic", "smart", "seven_joint"])
def test_bundled_robots_with_all_numbers_symbols(name: str, uncompiled: Any) -> None:
    robot = getattr(robots, name)()
    symbolic, values = robot.symbolic(), robot.symbol_values()
    assert set(symbolic.symbols) == set(values)
    rng = np.random.default_rng(0)
    q, qd, qdd = (rng.uniform(-1.0, 1.0, (4, robot.n)) for _ in range(3))
    parameters = [values[key] for key in symbolic.symbols]
    found = symbolic.kernel("inverse_dynamics", backend="numpy")(q, qd, qdd, parameters)
    wanted = robot.kernel("inverse_dynamics", backend="numpy")(q, qd, qdd)
    assert np.abs(found - wanted).max() < EXACT * np.abs(wanted).max()


def test_derivatives_by_parameters_are_those_of_differences() -> None:
    arm, rng = two_links(), np.random.default_rng(1)
    kernel = arm.kernel("inverse_dynamics")
    state = [rng.uniform(-1.0, 1.0, (3, 2)) for _ in range(3)]
    at = np.array([NUMBERS[key] for key in arm.symbols])
    found = kernel.derivative("parameters")(*state, at)
    assert found.shape == (3, 2, 9)
    assert kernel.derivative("parameters") is kernel.derivative("parameters")
    step = 1e-6
    for k in range(9):
        ahead, behind = at.copy(), at.copy()
        ahead[k] += step
        behind[k] -= step
        rise = (kernel(*state, ahead) - kernel(*state, behind)) / (2 * step)
        # central differences: rounding 1e-16 / 1e-6 of efforts up to some 20 N m, third derivatives times 1e-12
        assert np.abs(found[..., k] - rise).max() < 2e-8
    with pytest.raises(ArgumentError, match=r"'mass'.*'q'.*'qd'.*'qdd'.*'parameters'"):
        kernel.derivative("mass")


def test_lengths_are_calibrated_from_measured_places() -> None:
    arm, rng = robots.puma560().symbolic("lengths"), np.random.default_rng(2)
    kernel = arm.kernel("forward_kinematics")
    true = np.array([robots.puma560().symbol_values("lengths")[key] for key in arm.symbols])
    q = rng.uniform(-2.0, 2.0, (30, 6))
    measured = kernel(q, true)[:, :3, 3].ravel()
    guess = true + 0.02
    for _ in range(3):
        rates = kernel.derivative("parameters")(q, guess)[:, :3, 3].reshape(-1, len(true))
        guess = guess + np.linalg.lstsq(rates, measured - kernel(q, guess)[:, :3, 3].ravel(), rcond=None)[0]
    assert np.abs(guess - true).max() < 1e-14  # positions are linear in the lengths: rounding alone is left


def test_numbers_put_in_are_checked_and_make_right_angles_exact() -> None:
    alpha, a = lw.symbols("alpha a")
    link = lw.Link.dh(alpha=alpha, a=a, convention="standard", name="one")
    arm = lw.Mechanism([link, lw.Link.dh(d=2 * a, convention="modified")])
    assert arm.substitute(alpha=math.pi / 2, a=0.5) == lw.Mechanism(
        [lw.Link.dh(alpha=math.pi / 2, a=0.5, convention="standard", name="one"), lw.Link.dh(d=1.0, convention="modified")]
    )
    assert arm.substitute(a=1.0).symbols == ("alpha",)
    assert arm.substitute({"alpha": lw.symbols("beta")}).symbols == ("a", "beta")
    assert arm.substitute({alpha: 0.0, sympy.Symbol("a"): 1.0}) == arm.substitute(alpha=0.0, a=1.0)
    with pytest.raises(ArgumentError, match=r"'mechanism'.*'b'.*'a'.*'alpha'"):
        arm.substitute(b=1.0)
    with pytest.raises(ArgumentError, match="symbol 'a' is nan"):
        arm.substitute(a=math.nan)
    with pytest.raises(ArgumentError, match=r"symbol 'a' is \[1, 2\]; expected one number"):
        arm.substitute(a=[1, 2])
    mass = lw.symbols("m")
    with pytest.raises(ModelError, match=r"mass is -1\.0"):
        lw.Mechanism([lw.Link(name="one", mass=mass)]).substitute(m=-1)


def test_symbols_stand_in_every_number_of_a_model() -> None:
    a, b, c, d, e, f, g, h = lw.symbols("a b c d e f g h")
    frame = np.eye(4, dtype=object)
    frame[0, 3] = a
    turned = lw.Link.dh(theta=b, convention="modified").before
    motor = lw.Motor(inertia=c, gear_ratio=d, viscous=e, coulomb=(f, -f))
    links = [lw.Link(before=frame, motor=motor, offset=g), lw.Link(joint="screw", pitch=h, before=turned)]
    arm = lw.Mechanism(links, base=frame, tool=frame, gravity=(0, 0, -a)).with_payload(
        mass=b, com=(0, 0, c), inertia=(d, d, e)
    )
    assert arm.symbols == ("a", "g", "c", "d", "e", "f", "b", "h")
    assert pickle.loads(pickle.dumps(arm)) == arm
    assert hash(arm) == hash(pickle.loads(pickle.dumps(arm)))
    values = {"a": 0.3, "b": 0.4, "c": 0.01, "d": 0.02, "e": 0.03, "f": 0.1, "g": 0.2, "h": 0.05}
    numbers = arm.substitute(values)
    assert numbers != arm
    assert not numbers.symbols
    assert numbers.links[0].motor == lw.Motor(inertia=0.01, gear_ratio=0.02, viscous=0.03, coulomb=0.1)
    state = np.random.default_rng(0).uniform(-1.0, 1.0, (3, 2))
    found = arm.kernel("inverse_dynamics")(*state, [values[key] for key in arm.symbols])
    assert found == pytest.approx(numbers.inverse_dynamics(*state), rel=1e-13)
    assert "g" in repr(arm)
    assert "0.4" not in repr(arm)
    assert "a" in arm._repr_html_()


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda x: lw.Link(axis=(x, 0, 1)), r"axis is .* \(for a direction with symbols"),
        (lambda x: lw.Link(limits=(0, x)), "limits"),
        (lambda x: lw.Link(before=[[x, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]), "before .* rigid transform"),
        (lambda x: lw.Link(inertia=[[1, x, 0], [0, 1, 0], [0, 0, 1]]), "inertia .* symmetric"),
        (lambda x: lw.Link(inertia=x), "inertia is Expr.* 3 diagonal elements"),
        (lambda x: lw.Link(qd_max=x), "qd_max is Expr.* finite number"),
        (lambda x: lw.Link(tau_max=2 * x), "tau_max is Expr.* finite number"),
        (lambda x: lw.Mimic("a", x), "ratio is Expr.* finite number"),
        (lambda x: lw.Mimic("a", 1.0, x), "offset is Expr.* finite number"),
        (lambda x: lw.Link(mass=[x, 1]), "mass"),
        (lambda x: lw.Link(com=(x, 1)), "com"),
        (lambda x: lw.Link(com=(x, math.inf, 0)), "com"),
        (lambda x: lw.Link(com=(x, "1", 0)), "com"),
        (lambda x: lw.Link(pitch=x), "pitch"),
        (lambda x: lw.Link(joint="fixed", offset=x), "offset"),
        (lambda x: lw.Link.dh(b=x, convention="modified"), "b is Expr"),
        (lambda x: lw.Link(body=Inertia(1.0), mass=x), "body"),
        (lambda x: Inertia.from_moments(0.0, (x, 0, 0), 0.0), "first .* no centre of mass"),
        (lambda x: lw.Motor(rotor_inertia=(x, x, 2 * x), axis=(1, 0, 0), carrier="base"), "rotor_inertia .* equal moments"),
        (lambda x: lw.Motor(inertia=1.0, rotor_inertia=(x, x, 2 * x), axis=(0, 0, 1), carrier="base"), "inertia is 1.0"),
        (lambda x: lw.Mechanism([lw.Link()], gravity=(0, x)), "gravity"),
    ],
)
def test_what_is_wrong_whatever_the_symbols(make: Callable[[Any], Any], said: str) -> None:
    with pytest.raises(ModelError, match=said):
        make(lw.symbols("b"))


def test_a_kernels_own_symbols_are_no_parameters() -> None:
    from linkwise.expr.node import symbol

    with pytest.raises(ModelError, match=r"mass .* expression in linkwise\.symbols"):
        lw.Link(mass=symbol("m"))


def test_missing_parameters_are_named() -> None:
    with pytest.raises(ArgumentError, match=r"'parameters'.*'l1'.*'m1'"):
        two_links().mass_matrix([0.0, 0.0])


def test_what_works_on_numbers_refuses_symbols(tmp_path: Any) -> None:
    arm, pose, zero = two_links(), np.eye(4), np.zeros(2)
    tries: list[Callable[[], Any]] = [
        lambda: lw.simulate(arm, zero, zero, t=1.0),
        lambda: arm.inverse_kinematics(pose),
        lambda: arm.all_inverse_kinematics(pose),
        lambda: arm.solve([lw.Pose("link2", pose)]),
        lambda: lw.save(arm, tmp_path / "arm.toml"),
        lambda: lw.compare(arm, arm),
        arm.workspace,
        lambda: lw.control.Chain(arm),
        lambda: lw.identification.exciting_trajectory(arm, 1.0, 2),
        lambda: lw.identification.identify(arm, zero, zero, zero, zero),
        lambda: lw.inverse_kinematics.joint_velocities(arm, zero, np.zeros(6)),
        lambda: arm.spatial_operators(zero),
        arm.base_parameters,
        lambda: robots.four_bar().symbolic("lengths").kernel("forward_dynamics"),
        lambda: lw.loops.assemble(robots.four_bar().symbolic("lengths")),
    ]
    for attempt in tries:
        with pytest.raises(ArgumentError, match=r"has symbols, .*(needs numbers in their place|base_forms)"):
            attempt()
    assert not list(tmp_path.iterdir())


def test_a_joint_without_inertia_is_found_with_symbols_too() -> None:
    m = lw.symbols("m")
    arm = lw.Mechanism([lw.Link(mass=m, com=(1, 0, 0)), lw.Link.dh(a=1.0, convention="standard", name="empty")])
    with pytest.raises(ModelError, match="joint 'empty'"):
        arm.kernel("forward_dynamics")
    good = lw.Mechanism([lw.Link(mass=m, com=(1, 0, 0), motor=lw.Motor(viscous=m, coulomb=m))])
    assert good.kernel("forward_dynamics")([0.1], [0.0], [1.0], [2.0]) == pytest.approx([0.5])


def test_forward_dynamics_of_rotors_with_symbols() -> None:
    """A rotor on the base whose inertia is less a symbol, which a positive number for it would make impossible."""
    jm = lw.symbols("Jm")
    body = {"mass": 1.0, "inertia": (1, 1, 1)}
    motor = lw.Motor(inertia=-jm, gear_ratio=2.0, joint="fore", carrier="upper", axis=(0, 0, 1))
    arm = lw.Mechanism([lw.Link(name="upper", **body), lw.Link(name="fore", **body)], motors=[motor])
    state = np.random.default_rng(4).normal(size=(3, 2))
    found = arm.kernel("forward_dynamics", backend="numpy")(*state, [-0.3])
    wanted = arm.substitute(Jm=-0.3).kernel("forward_dynamics", backend="numpy")(*state)
    assert np.abs(found - wanted).max() <= EXACT * np.abs(wanted).max()


def test_moments_are_kept_as_they_are() -> None:
    m, x, xx = lw.symbols("M MX XX")
    body = Inertia.from_moments(m, (x, 0, 0), (xx, 0, 0))
    link = lw.Link(body=body, name="a").replace(name="b")
    assert link.body == body
    assert link.body.by_moments
    assert pickle.loads(pickle.dumps(link)) == link
    assert link.replace(mass=2.0).body.mass == 2.0
    assert Inertia.from_moments(2.0, (1.0, 0, 0), (1.0, 3.0, 3.0)) == Inertia(2.0, (0.5, 0, 0), (1.0, 2.5, 2.5))
    table = str(lw.robots.planar_2r().symbolic("inertial").links[0].body.moments[0])
    assert table == "M1"


def test_groups_of_symbols() -> None:
    puma = robots.puma560()
    assert puma.symbolic("gravity").symbols == ("g",)
    assert puma.symbolic("lengths").symbols == ("a2", "d3", "a3", "d4")
    assert puma.symbol_values("lengths")["a2"] == 0.4318
    assert len(puma.symbolic("inertial", zeros=True).symbols) >= 60
    assert puma.symbolic("motors").symbols[:4] == ("Jm1", "B1", "Tc+1", "Tc-1")
    assert set(puma.replace(gravity=(1, 2, 0)).symbol_values("gravity")) == {"gx", "gy"}
    assert puma.symbolic().symbolic() == puma.symbolic()
    with pytest.raises(ArgumentError, match=r"'mass'.*'inertial'.*'lengths'.*'gravity'.*'motors'"):
        puma.symbolic("mass")


def test_standard_names_beside_symbols_of_ones_own() -> None:
    """A name that is taken is no name for another number, and a rotor's tensor with symbols has its Jm in it."""
    length, moment = lw.symbols("a1 J")
    rows = [(0, 0, 0.5, 0), (0, 0, length, 0)]
    arm = lw.Mechanism.from_dh(rows, convention="standard")
    with pytest.raises(ArgumentError, match="two numbers would be called 'a1'"):
        arm.symbolic("lengths")
    with pytest.raises(ArgumentError, match="two numbers would be called 'a1'"):
        arm.symbol_values("lengths")
    assert arm.substitute(a1=lw.symbols("a2")).symbolic("lengths").symbols == ("a1", "a2")
    tensor = (moment, moment, 2 * moment)
    motor = lw.Motor(rotor_inertia=tensor, axis=(0, 0, 1), carrier="link1", joint="link2", viscous=0.1)
    assert arm.replace(motors=[motor]).symbolic("motors").symbols == ("a1", "J", "B_1")


def test_nearest_frames_with_symbols_agree_with_numbers() -> None:
    """General axes with symbols for lengths and one twist: the frames of bodies are chosen another way, results agree."""
    rng = np.random.default_rng(5)
    names = lw.symbols([f"p{k}" for k in range(20)])
    values = dict(zip((f"p{k}" for k in range(20)), rng.uniform(0.2, 1.0, 20).tolist(), strict=True))
    symbols = iter(names)
    links = []
    for k in range(4):
        alpha = next(symbols) if k == 1 else (0.0, 0.7, math.pi / 2, 1.2)[k]
        kind = "prismatic" if k == 2 else "revolute"
        body = {"mass": 1.0, "com": (next(symbols), 0.1, next(symbols)), "inertia": 0.1 * np.eye(3)}
        links.append(
            lw.Link.dh(
                0.3 * k, next(symbols), next(symbols), alpha, convention=("standard", "modified")[k % 2], joint=kind, **body
            )
        )
    arm = lw.Mechanism(links)
    numbers = arm.substitute({name: values[name] for name in arm.symbols})
    given = [values[name] for name in arm.symbols]
    q, qd, qdd = (rng.uniform(-1.0, 1.0, (4, 4)) for _ in range(3))
    for name, args in (("inverse_dynamics", (q, qd, qdd)), ("mass_matrix", (q,)), ("jacobian", (q,)), ("link_poses", (q,))):
        found, wanted = arm.kernel(name)(*args, given), numbers.kernel(name)(*args)
        assert np.abs(found - wanted).max() < EXACT * np.abs(wanted).max(), name


def _tuple(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)
