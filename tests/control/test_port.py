"""One port: what it is made with, what it takes, what it gives."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkwise.control.port import Port
from linkwise.errors import ArgumentError

INF, NAN = math.inf, math.nan


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"name": "position"}, "a port's name is 'position'; expected an entity, a dot and a quantity, such as 'tool."),
        ({"name": ".position"}, "a port's name is '.position'"),
        ({"name": "tool."}, "a port's name is 'tool.'"),
        ({"name": " tool.position"}, "a port's name is ' tool.position'"),
        ({"name": "tool.posi\ntion"}, "a port's name is 'tool.posi\\ntion'"),
        ({"name": "tool.x"}, "not ending in an axis ('.x', '.xy')"),
        ({"name": "tool.zz"}, "a port's name is 'tool.zz'"),
        ({"name": 3}, "a port's name is 3"),
        ({"direction": "inout"}, "port 'a.b': direction is 'inout'; expected 'in' or 'out'"),
        ({"kind": "double"}, "port 'a.b': kind is 'double'; expected 'float', 'int', 'bool' or 'choice'"),
        ({"shape": (2,)}, "port 'a.b': shape is (2,); expected (), (3,), (4,) or (3, 3)"),
        ({"shape": 3}, "port 'a.b': shape is 3; expected (), (3,), (4,) or (3, 3)"),
        ({"kind": "choice", "shape": (3,), "choices": ("a",)}, "port 'a.b': shape is (3,); expected ()"),
        ({"unit": "m [s]"}, "port 'a.b': unit is 'm [s]'; expected a text such as 'rad', without '[', ']' and '|'"),
        ({"unit": " m"}, "port 'a.b': unit is ' m'"),
        ({"unit": "int"}, "port 'a.b': unit is 'int'"),
        ({"unit": None}, "port 'a.b': unit is None"),
        ({"unit": "m", "kind": "int"}, "port 'a.b': unit is 'm'; expected '1' for kind 'int'"),
        ({"kind": "choice"}, "port 'a.b': choices is (); expected at least one word"),
        ({"choices": ("a",)}, "port 'a.b': choices is ('a',); expected () for kind 'float'"),
        ({"kind": "choice", "choices": ["a"]}, "port 'a.b': choices is ['a']; expected a tuple of different words"),
        ({"kind": "choice", "choices": ("a", "a")}, "port 'a.b': choices is ('a', 'a'); expected different words"),
        ({"kind": "choice", "choices": ("a|b",)}, "expected different words, without '[', ']' and '|'"),
        ({"kind": "choice", "choices": ("a", 1)}, "port 'a.b': choices is ('a', 1)"),
        ({"least": INF}, "port 'a.b': least is inf; expected a finite number or None"),
        ({"most": NAN}, "port 'a.b': most is nan; expected a finite number or None"),
        ({"most": True}, "port 'a.b': most is True; expected a finite number or None"),
        ({"least": 2.0, "most": 1.0}, "port 'a.b': most is 1.0; expected at least 2.0"),
        ({"positive": True, "most": 0.0}, "port 'a.b': most is 0.0; expected at least a number above 0"),
        ({"kind": "bool", "least": 0.0}, "port 'a.b': least is 0.0; expected none for kind 'bool'"),
        ({"kind": "bool", "positive": True}, "port 'a.b': positive is True; expected none for kind 'bool'"),
        ({"positive": True}, "port 'a.b': initial is 0.0; expected a finite number above 0"),
        ({"initial": INF}, "port 'a.b': initial is inf; expected a finite number"),
        ({"shape": (3,), "initial": 0.0}, "port 'a.b': initial is 0.0; expected finite numbers of shape (3,)"),
        ({"kind": "choice", "choices": ("a",), "initial": "b"}, "port 'a.b': initial is 'b'; expected 'a'"),
    ],
)
def test_what_is_no_port(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        Port(**{"name": "a.b", "direction": "in"} | fields)
    assert message in str(caught.value)


def test_the_unit_of_what_has_none() -> None:
    assert Port("a.b", "in", unit="") == Port("a.b", "in", unit="1")


def test_ports_are_compared_and_hashed() -> None:
    made = [
        Port("a.b", "in", shape=(3,), initial=start) for start in ([1, 2, 3], np.array([1.0, 2.0, 3.0]), (1.0, 2.0, 3.5))
    ]
    assert made[0] == made[1] != made[2]
    assert len(set(made)) == 2
    assert made[0].initial == (1.0, 2.0, 3.0)


ANGLE = Port("a.theta", "in", unit="rad")
SENSOR = Port("a.theta", "in", unit="rad", finite=False)
SPEED = Port("a.max_speed", "in", unit="m/s", initial=INF, positive=True, finite=False)
PLACE = Port("a.position", "in", shape=(3,), unit="m", least=-1.0, most=2.5)
COUNT = Port("a.count", "in", "int", initial=1, least=1, most=10)
FLAG = Port("a.enabled", "in", "bool")
FLAGS = Port("a.enabled", "in", "bool", (3,))
WORD = Port("a.mode", "in", "choice", choices=("hold", "follow"))


@pytest.mark.parametrize(
    ("port", "value", "numbers"),
    [
        (ANGLE, 0.5, 0.5),
        (ANGLE, np.float32(0.5), 0.5),
        (ANGLE, 1, 1.0),
        (ANGLE, Fraction(1, 4), 0.25),
        (ANGLE, np.array(2.0), 2.0),
        (SENSOR, NAN, NAN),
        (SENSOR, -INF, -INF),
        (SPEED, INF, INF),
        (SPEED, 5e-324, 5e-324),
        (PLACE, (-1, 0, 2.5), [-1.0, 0.0, 2.5]),
        (COUNT, 10, 10.0),
        (COUNT, 3.0, 3.0),
        (COUNT, np.int8(7), 7.0),
        (FLAG, True, 1.0),
        (FLAG, np.False_, 0.0),
        (FLAGS, [True, False, True], [1.0, 0.0, 1.0]),
        (FLAGS, np.array([True, False, True]), [1.0, 0.0, 1.0]),
        (WORD, "follow", 1.0),
    ],
)
def test_what_is_taken(port: Port, value: Any, numbers: Any) -> None:
    made = port.check(value)
    assert made.dtype == np.float64
    assert np.array_equal(made, np.array(numbers), equal_nan=True)


@pytest.mark.parametrize(
    ("port", "value", "message"),
    [
        (ANGLE, NAN, "port 'a.theta' is given nan; expected a finite number, in rad"),
        (ANGLE, INF, "port 'a.theta' is given inf; expected a finite number, in rad"),
        (ANGLE, True, "port 'a.theta' is given True; expected a finite number, in rad"),
        (ANGLE, "0.5", "port 'a.theta' is given '0.5'; expected a finite number, in rad"),
        (ANGLE, None, "port 'a.theta': what is given holds None; expected a finite number, in rad"),
        (ANGLE, 1j, "port 'a.theta': what is given holds complex128; expected a finite number, in rad"),
        (ANGLE, [0.5], "port 'a.theta' is given the shape (1,); expected a finite number, in rad"),
        (SPEED, 0.0, "port 'a.max_speed' is given 0.0; expected a number above 0, in m/s"),
        (SPEED, NAN, "port 'a.max_speed' is given nan; expected a number above 0, in m/s"),
        (SPEED, -INF, "port 'a.max_speed' is given -inf; expected a number above 0, in m/s"),
        (
            PLACE,
            [0, 0, 2.6],
            "port 'a.position' is given 2.6 at (2,); expected finite numbers of shape (3,) from -1 to 2.5, in m",
        ),
        (PLACE, [0, NAN, 9], "port 'a.position' is given nan at (1,)"),
        (
            PLACE,
            [0, 0],
            "port 'a.position' is given the shape (2,); expected finite numbers of shape (3,) from -1 to 2.5, in m",
        ),
        (PLACE, [[0, 0, 0]], "port 'a.position' is given the shape (1, 3)"),
        (PLACE, [[0, 0], [0]], "port 'a.position': what is given is not an array; expected"),
        (PLACE, ["0", "0", "0"], "port 'a.position': what is given holds <U1; expected"),
        (PLACE, 0.0, "port 'a.position' is given the shape (); expected"),
        (COUNT, 0, "port 'a.count' is given 0; expected a whole number from 1 to 10"),
        (COUNT, 1.5, "port 'a.count' is given 1.5; expected a whole number from 1 to 10"),
        (COUNT, NAN, "port 'a.count' is given nan; expected a whole number from 1 to 10"),
        (COUNT, True, "port 'a.count' is given True; expected a whole number from 1 to 10"),
        (FLAG, 1, "port 'a.enabled' is given 1; expected True or False"),
        (FLAG, "true", "port 'a.enabled' is given 'true'; expected True or False"),
        (FLAGS, [True, 1.0, False], "port 'a.enabled' is given [True, 1.0, False]; expected True and False of shape (3,)"),
        (FLAGS, True, "port 'a.enabled' is given the shape (); expected True and False of shape (3,)"),
        (WORD, "folow", "port 'a.mode' is given 'folow' (did you mean 'follow'?); expected 'hold' or 'follow'"),
        (WORD, 1, "port 'a.mode' is given 1; expected 'hold' or 'follow'"),
        (WORD, None, "port 'a.mode' is given None; expected 'hold' or 'follow'"),
        (Port("a.n", "in", "int"), 2**53 + 2, "port 'a.n' is given 9007199254740994; expected a whole number"),
        (Port("a.n", "in", least=0.1, initial=1.0), 0.0, "port 'a.n' is given 0.0; expected a finite number from 0.1"),
        (Port("a.n", "in", most=0.1), 0.2, "port 'a.n' is given 0.2; expected a finite number up to 0.1"),
        (Port("a.n", "in", most=0.1, finite=False), NAN, "port 'a.n' is given nan; expected a number up to 0.1"),
    ],
)
def test_what_is_refused(port: Port, value: Any, message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        port.check(value)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("port", "value", "kind"),
    [(ANGLE, 0.5, float), (COUNT, 3, int), (FLAG, True, bool), (WORD, "follow", str)],
)
def test_what_is_read_is_what_was_written(port: Port, value: Any, kind: type) -> None:
    read = port.decode(port.check(value))
    assert type(read) is kind
    assert read == value


@pytest.mark.parametrize(
    ("port", "value", "dtype"), [(PLACE, [0.0, 1.0, 2.0], np.float64), (FLAGS, [True, False, True], np.bool_)]
)
def test_arrays_are_read_as_copies(port: Port, value: Any, dtype: type) -> None:
    numbers = port.check(value)
    read = port.decode(numbers)
    assert isinstance(read, np.ndarray)
    assert read.dtype == dtype
    assert np.array_equal(read, value)
    read[...] = False
    assert np.array_equal(port.decode(numbers), value)


@given(st.floats(), st.none() | st.floats(-2, 2), st.none() | st.floats(-2, 2), st.booleans(), st.booleans())
def test_a_float_is_taken_as_its_bounds_say(
    value: float, least: float | None, most: float | None, positive: bool, finite: bool
) -> None:
    if least is not None and most is not None:
        least, most = min(least, most), max(least, most)
    if positive and most is not None and most <= 0:
        most = 1.0
    start = most if most is not None else 3.0
    port = Port("a.b", "in", initial=start, least=least, most=most, positive=positive, finite=finite)
    fits = (least is None or value >= least) and (most is None or value <= most) and (not positive or value > 0)
    bounded = least is not None or most is not None or positive
    fits = fits and (math.isfinite(value) or not finite) and (not math.isnan(value) or not (bounded or finite))
    for given_as in (value, np.array(value)):  # by the short way and by the long one
        if fits:
            assert np.array_equal(port.check(given_as), value, equal_nan=True)
        else:
            with pytest.raises(ArgumentError):
                port.check(given_as)
