"""What is refused, word by word; and what cannot be followed is said, not returned."""

from __future__ import annotations

import pickle
import re
import sys
from typing import Any

import numpy as np
import pytest

from linkwise import Link, Mechanism, robots
from linkwise.errors import ArgumentError, KernelError, LinkwiseError, MissingExtraError
from linkwise.simulation import Feedback, Sampled, SimulationError, simulate
from linkwise.simulation.torque import WORKS
from support.messages import unnamed

ARM = robots.planar_2r()
AFLOAT = Mechanism([Link(joint="fixed", mass=1.0, inertia=(1.0, 1.0, 1.0))], floating=True)


def watch(**attributes: Any) -> Any:
    def height(t: Any, q: Any, qd: Any) -> Any:
        return q[..., 0]

    for name, value in attributes.items():
        setattr(height, name, value)
    return height


KINDS = "(2,), (..., 10, 2) with one row per step, or (..., 1, 2) for what is constant"
CLOCKS = "expected (t_end, dt), both > 0, s, t_end a multiple of dt"
INSTANTS = "expected instants (T,), s, or a tuple (t_end, dt)"
ONE_EACH = "expected real numbers of the shape (1, 11), one for each state"
GIVES = "expected real numbers of the shape (2,), or of one that broadcasts to it"
EVENTS = "expected a function g(t, q, qd), a list of them, or a dict of them by name"
ZEROS = "expected real numbers whose zeros are looked for"
METHODS = "'rk4', 'semi_implicit_euler', 'euler', 'ros2', 'rk23', 'rk45', 'dop853', 'radau', 'bdf' or 'lsoda'"

TABLE: list[tuple[dict[str, Any], str]] = [
    ({"q0": [0.0, 0.0, 0.0]}, "q0 has the shape (3,); expected (..., 2) for 'planar_2r'"),
    ({"q0": 0.0}, "q0 has the shape (); expected (..., 2) for 'planar_2r'"),
    ({"q0": [0.0, np.nan]}, "q0 is nan at (1,); expected finite real numbers"),
    ({"q0": ["a", "b"]}, "q0 holds <U1; expected finite real numbers"),
    ({"q0": [1j, 0]}, "q0 holds complex128; expected finite real numbers"),
    ({"q0": [[0.0], [0.0, 1.0]]}, "q0 is not an array; expected finite real numbers"),
    ({"qd0": [[0.0, np.inf], [0.0, 0.0]]}, "qd0 is inf at (0, 1); expected finite real numbers"),
    ({"qd0": [1.0]}, "qd0 has the shape (1,); expected (..., 2) for 'planar_2r'"),
    (
        {"q0": np.zeros((3, 2)), "qd0": np.zeros((4, 2))},
        "the batch shapes do not fit each other: q0 (3,), qd0 (4,)",
    ),
    (
        {"q0": np.zeros((3, 2)), "torque": np.zeros((4, 10, 2))},
        "the batch shapes do not fit each other: q0 (3,), qd0 (), torque (4,)",
    ),
    ({"torque": [1.0, 2.0, 3.0]}, f"torque has the shape (3,); expected {KINDS}"),
    ({"torque": 1.0}, f"torque has the shape (); expected {KINDS}"),
    ({"torque": np.zeros((7, 2))}, f"torque has the shape (7, 2); expected {KINDS}"),
    ({"torque": [np.nan, 0.0]}, "torque is nan at (0,); expected finite real numbers"),
    (
        {"torque": lambda t, q, qd: np.zeros(3)},
        f"the result of torque '<lambda>' has the shape (3,); {GIVES}",
    ),
    ({"torque": lambda t, q, qd: None}, f"the result of torque '<lambda>' holds None; {GIVES}"),
    ({"torque": lambda t, q, qd: 1j * q}, f"the result of torque '<lambda>' holds complex128; {GIVES}"),
    ({"torque": lambda t, q, qd: ["1", "2"]}, f"the result of torque '<lambda>' holds <U1; {GIVES}"),
    ({"torque": lambda t, q, qd: [0.0, np.nan]}, f"the result of torque '<lambda>' is nan at (1,); {GIVES}"),
    ({"torque": lambda t, q, qd: None, "method": "rk45"}, f"the result of torque '<lambda>' holds None; {GIVES}"),
    (
        {"torque": Feedback(lambda t, q, qd, r: r, r=Sampled(np.zeros((4, 2))))},
        "r of Feedback(<lambda>, r) has 4 instants; expected 10 (one per step), 11 or 1",
    ),
    ({"external": 1.0}, "external has the shape (); expected (6,): force and moment on the tool, in tool axes"),
    ({"external": [0.0] * 5}, "external has the shape (5,); expected (6,): force and moment on the tool, in tool axes"),
    ({"external": [np.inf] * 6}, "external is inf at (0,); expected finite real numbers"),
    ({"t": None}, f"t is missing; {INSTANTS}"),
    ({"t": 1.0}, f"t has the shape (); {INSTANTS}"),
    ({"t": []}, f"t has the shape (0,); {INSTANTS}"),
    ({"t": [[0.0, 1.0]]}, f"t has the shape (1, 2); {INSTANTS}"),
    ({"t": [0.0, 1.0, 1.0]}, "t does not ascend: t[2] is 1 after 1"),
    ({"t": [0.0, np.nan]}, "t is nan at (1,); expected finite real numbers"),
    (
        {"t": [0.0, 0.1, 0.3, 0.4]},
        "t[0] to t[1] is 0.1 s, the mean interval 0.133333333333 s; a fixed-step method needs equal intervals",
    ),
    ({"t": (1.0, 0.3)}, f"t is (1.0, 0.3); {CLOCKS}"),
    ({"t": (1.0, -0.1)}, f"t is (1.0, -0.1); {CLOCKS}"),
    ({"t": (1.0, np.nan)}, f"t is (1.0, nan); {CLOCKS}"),
    ({"t": (0.01, 1.0)}, f"t is (0.01, 1.0); {CLOCKS}"),
    ({"t": (0.0, 0.1, 0.2)}, f"t is (0.0, 0.1, 0.2); {CLOCKS}"),
    ({"t": (1.0, "a")}, f"t is (1.0, 'a'); {CLOCKS}"),
    ({"method": "rk5"}, f"method is 'rk5'; expected {METHODS}"),
    ({"method": None}, f"method is None; expected {METHODS}"),
    ({"record": 0}, "record is 0; expected a whole number >= 1: every which instant is kept"),
    ({"record": 1.5}, "record is 1.5; expected a whole number >= 1: every which instant is kept"),
    ({"record": True}, "record is True; expected a whole number >= 1: every which instant is kept"),
    ({"record": 11}, "record is 11; there are only 10 steps"),
    ({"hold": "yes"}, "hold is 'yes'; expected True, False or None"),
    ({"hold": 1}, "hold is 1; expected True, False or None"),
    ({"hold": np.array([True, False])}, "hold is array([ True, False]); expected True, False or None"),
    ({"energies": "no"}, "energies is 'no'; expected True or False"),
    ({"energies": 1}, "energies is 1; expected True or False"),
    ({"diverged": "ignore"}, "diverged is 'ignore'; expected 'raise' or 'mark'"),
    ({"method": "rk45", "rtol": 0.0}, "rtol is 0.0; expected a number > 0"),
    ({"method": "rk45", "atol": "small"}, "atol holds <U5; expected a number > 0"),
    ({"events": 3}, f"events is 3; {EVENTS}"),
    ({"events": "zero"}, f"events is 'zero'; {EVENTS}"),
    ({"events": [3]}, "event 'event0' is 3; expected a function g(t, q, qd)"),
    ({"events": lambda t, q, qd: q[..., 0] > 0}, f"event 'event0' gives bool; {ZEROS}"),
    ({"events": {"up": lambda t, q, qd: bool(q[0] > 0)}, "method": "rk45"}, f"event 'up' gives bool; {ZEROS}"),
    (
        {"events": {"short": lambda t, q: q[..., 0]}},
        "event 'short' does not take (t, q, qd): too many positional arguments; expected g(t, q, qd)",
    ),
    (
        {"events": {"long": lambda t, q, qd, more: q[..., 0]}, "method": "rk45"},
        "event 'long' does not take (t, q, qd): missing a required argument: 'more'; expected g(t, q, qd)",
    ),
    ({"events": lambda t, q, qd: 1j * q[..., 0]}, f"what event 'event0' gives holds complex128; {ONE_EACH}"),
    ({"events": {"lost": lambda t, q, qd: None}}, f"what event 'lost' gives holds None; {ONE_EACH}"),
    (
        {"events": {"lost": lambda t, q, qd: None}, "method": "rk45"},
        "what event 'lost' gives holds None; expected real numbers of the shape (), one for each state",
    ),
    (
        {"events": {"root": lambda t, q, qd: np.where(t > 0.05, np.nan, q[..., 0])}},
        "what event 'root' gives is nan at t = 0.06 s; expected finite numbers",
    ),
    ({"events": [watch(direction="up")]}, "event 'height' has the direction 'up'; expected -1, 0 or 1"),
    ({"events": watch(terminal=-1)}, "event 'height' has terminal -1; expected True, False or a number of times"),
]


@pytest.mark.parametrize(("changes", "message"), TABLE, ids=[f"{k}-{next(iter(row[0]))}" for k, row in enumerate(TABLE)])
def test_argument_is_refused(changes: dict[str, Any], message: str) -> None:
    given = {"q0": [0.1, 0.2], "t": (0.1, 0.01), **changes}
    with pytest.raises(ArgumentError) as caught:
        simulate(ARM, given.pop("q0"), **given)
    assert unnamed(caught.value, f"simulate: {message}") == []


def test_quaternion_of_another_length() -> None:
    q0 = np.zeros((2, 7))
    q0[:, 3] = 1.0, 0.0
    with pytest.raises(ArgumentError) as caught:
        simulate(AFLOAT, q0, t=(0.1, 0.01))
    assert (
        unnamed(
            caught.value,
            "simulate: q0[..., 3:7] has the length 0 at (1,); expected a quaternion (w, x, y, z) of any other length",
        )
        == []
    )
    for method in ("rk4", "rk45"):
        for length in (2.0, 1.0 + 1e-7, 1e-300, 1e300):
            q0[1, 3:7] = np.array([0.6, 0.8, 0.0, 0.0]) * length
            made = simulate(AFLOAT, q0, t=(0.1, 0.01), method=method)
            off = np.abs(made.q[1, :, 3:7] - [0.6, 0.8, 0.0, 0.0]).max()
            print(method, length, off)
            assert off < 1e-15  # it does not turn: rounding alone


def test_what_is_no_mechanism() -> None:
    with pytest.raises(ArgumentError) as caught:
        simulate("arm", t=(0.1, 0.01))  # type: ignore[arg-type]
    assert unnamed(caught.value, "simulate: mech is 'arm'; expected a Mechanism") == []


def test_what_cannot_move() -> None:
    with pytest.raises(ArgumentError) as caught:
        simulate(Mechanism([Link(joint="fixed", mass=1.0)], name="stone"), t=(0.1, 0.01))
    assert unnamed(caught.value, "simulate: 'stone' has no joints and does not float: nothing can move") == []


def test_unknown_backend() -> None:
    with pytest.raises(KernelError) as caught:
        simulate(ARM, t=(0.1, 0.01), backend="cuda")
    assert unnamed(caught.value, "backend is 'cuda'; expected 'llvm' or 'numpy'") == []


def law_of_five(t: Any, q: Any, qd: Any, kp: Any) -> Any:
    return np.zeros(5)


def choosing(t: Any, q: Any, qd: Any) -> Any:
    return q if q[0] else qd


def test_laws_that_cannot_be() -> None:
    with pytest.raises(ArgumentError) as caught:
        simulate(ARM, torque=Feedback(law_of_five, kp=1.0), t=(0.1, 0.01))
    assert unnamed(caught.value, "Feedback: law_of_five gives tau of shape (5,); expected (2,)") == []
    with pytest.raises(ArgumentError) as caught:
        Feedback(law_of_five)
    assert (
        unnamed(
            caught.value, "Feedback: law_of_five does not take (t, q, qd, **parameters): missing a required argument: 'kp'"
        )
        == []
    )
    with pytest.raises(ArgumentError) as caught:
        Feedback(law_of_five, kp=1.0).replace(kd=1.0)
    assert unnamed(caught.value, "Feedback: law_of_five has no parameter 'kd'; it has 'kp'") == []
    with pytest.raises(ArgumentError) as caught:
        Feedback(law_of_five, kp=np.nan)
    assert unnamed(caught.value, "Feedback: kp is nan; expected finite real numbers") == []
    with pytest.raises(ArgumentError) as caught:
        Feedback(3)  # type: ignore[arg-type]
    assert unnamed(caught.value, "Feedback: function is 3; expected function(t, q, qd, **parameters)") == []
    with pytest.raises(ArgumentError) as caught:
        Sampled([1.0, 2.0], ndim=1)
    assert (
        unnamed(caught.value, "Sampled: values has the shape (2,); expected an axis for time before the 1 of a value") == []
    )
    with pytest.raises(ArgumentError) as caught:
        Sampled(np.zeros((3, 0)))
    assert unnamed(caught.value, "Sampled: values has the shape (3, 0); expected one number or more") == []
    with pytest.raises(ArgumentError, match=r"choosing.*expressions"):
        simulate(ARM, torque=Feedback(choosing), t=(0.1, 0.01))


@pytest.mark.parametrize(
    ("law", "why"),
    [
        (lambda t, q, qd: np.clip(q, -1, 1), "'>=' not supported between instances of 'Expr' and 'int'"),
        (lambda t, q, qd: np.minimum(q, 1.0), "not supported between instances of 'Expr' and 'float'"),
        (lambda t, q, qd: np.sign(q), "not supported between instances of 'Expr'"),
        (lambda t, q, qd: q % 1.0, "unsupported operand type(s) for %: 'Expr' and 'float'"),
        (lambda t, q, qd: np.tanh(q), "no callable tanh method"),
        (lambda t, q, qd: np.arctan2(q, qd), "no attribute 'arctan2'"),
        (lambda t, q, qd: ARM.gravity_torque(q), "gravity_torque: q holds symbols; expected real numbers (..., 2)"),
    ],
)
def test_laws_say_what_works_on_expressions(law: Any, why: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        simulate(ARM, torque=Feedback(law), t=(0.1, 0.01))
    message = str(caught.value)
    print(message)
    assert message.startswith("Feedback: <lambda> fails on expressions: ")
    assert why in message
    assert message.endswith(f"; {WORKS}")
    assert caught.value.__cause__ is not None


@pytest.mark.parametrize("backend", ["llvm", "numpy"])
def test_state_that_is_not_finite_is_said(backend: str) -> None:
    law = Feedback(lambda t, q, qd, k: k * qd, k=3e4)
    speeds = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    level = ARM.replace(gravity=(0, 0, 0))
    with pytest.raises(SimulationError) as caught:
        simulate(level, np.zeros((3, 2)), speeds, torque=law, t=(1.0, 1e-2), backend=backend)
    error = caught.value
    assert isinstance(error, LinkwiseError)
    assert error.rollout == (1,)
    assert str(error) == (
        f"simulate: the state is not finite at t = {error.time:g} s in rollout (1,), and 1 more rollout; "
        'shorter steps may help, diverged="mark" leaves NaN there'
    )
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    made = simulate(level, np.zeros((3, 2)), speeds, torque=law, t=(1.0, 1e-2), diverged="mark", backend=backend)
    assert np.array_equal(made.q[0], np.zeros((101, 2)))
    lost = np.isnan(made.q[1]).all(axis=1)
    assert np.array_equal(lost, made.t >= error.time)
    assert np.array_equal(np.isnan(made.tau[1]).all(axis=1), lost)
    assert np.isfinite(made.q[1, ~lost]).all()


def test_terminal_event_before_the_state_is_lost() -> None:
    law = Feedback(lambda t, q, qd, k: k * qd, k=3e4)
    level = ARM.replace(gravity=(0, 0, 0))

    def fast(t: Any, q: Any, qd: Any) -> Any:
        return np.abs(qd).max(axis=-1) - 2.0

    fast.terminal = True  # type: ignore[attr-defined]
    made = simulate(level, [0.0, 0.0], [1.0, 0.0], torque=law, t=(1.0, 1e-2), events=fast)
    assert len(made.events) == 1
    assert np.isnan(made.q[-1]).all()


def test_solver_that_gives_up_is_said() -> None:
    def away(t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        return np.full(2, np.nan if t > 0.05 else 0.0)

    with pytest.raises(SimulationError, match="the solver stopped before t = ") as caught:
        simulate(ARM, torque=away, t=np.linspace(0, 0.1, 11), method="rk45")
    assert 0.05 <= caught.value.time <= 0.1
    made = simulate(ARM, torque=away, t=np.linspace(0, 0.1, 11), method="rk45", diverged="mark")
    assert np.isnan(made.q[-1]).all()
    assert np.isfinite(made.q[0]).all()


def test_scipy_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.integrate", None)
    with pytest.raises(MissingExtraError) as caught:
        simulate(ARM, t=(0.1, 0.01), method="rk45")
    assert (
        unnamed(
            caught.value,
            "the methods 'rk23', 'rk45', 'dop853', 'radau', 'bdf', 'lsoda' need SciPy: pip install \"scipy>=1.11\"",
        )
        == []
    )


def test_an_adaptive_method_that_cannot_get_on_says_so() -> None:
    """Joints at rest that Coulomb friction could hold: the sign of their speed changes with every step."""
    said = "20000 evaluations without getting on, as where a joint comes to rest under Coulomb friction; take fixed steps"
    with pytest.raises(SimulationError, match=re.escape(said)):
        simulate(robots.load("puma560"), t=(0.01, 0.01), method="lsoda")
