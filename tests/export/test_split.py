"""What depends on parameters alone is computed once, and nothing changes by a bit."""

import numpy as np
import pytest

from linkwise import robots
from linkwise.errors import ArgumentError
from linkwise.export import hoisted
from linkwise.export.samples import samples
from linkwise.kernel import Tape
from support.exported_code import hostile, one_at_a_time, plain


def split(tape: Tape, name: str, point: np.ndarray) -> list[float]:
    """The two halves, one after the other."""
    early, late = hoisted(tape, name)
    first = 0
    for port, shape in tape.inputs.items():
        if port == name:
            break
        first += int(np.prod(shape))
    end = first + int(np.prod(tape.inputs[name]))
    constants = one_at_a_time(early, point[first:end])
    return one_at_a_time(late, [*point[:first], *point[end:], *constants])


def puma() -> Tape:
    return robots.load("puma560").symbolic("inertial", "gravity").kernel("inverse_dynamics").tape


@pytest.mark.parametrize("make", [plain, hostile, puma])
def test_same_bits(make: object) -> None:
    tape = make()  # type: ignore[operator]
    for name in tape.inputs:
        for point in samples(tape, 3).inputs:
            assert split(tape, name, point) == one_at_a_time(tape, point)


def test_operations_stand_in_one_half_or_the_other() -> None:
    tape = puma()
    early, late = hoisted(tape, "parameters")
    print(tape.operations, early.operations, late.operations)
    assert len(early.code) + len(late.code) == len(tape.code)
    assert early.code
    assert set(early.inputs) == {"parameters"}
    assert "parameters" not in late.inputs
    assert late.outputs == tape.outputs
    assert list(late.inputs)[-1] == "constants"
    assert early.outputs["constants"] == late.inputs["constants"]


def test_nothing_is_left_that_depends_on_parameters_alone() -> None:
    _, late = hoisted(puma(), "parameters")
    again, rest = hoisted(late, "constants")
    assert not again.code
    assert len(rest.code) == len(late.code)


def test_constants_are_called_what_they_are() -> None:
    early, late = hoisted(hostile(), "parameters")
    made = late.inputs["constants"][0] - 2  # how many is up to the rules that write the graph
    assert made > 0
    assert late.labels["constants"] == ("m_1", "int", *(f"k{k}" for k in range(1, made + 1)))
    assert early.labels["constants"] == late.labels["constants"]


def test_an_unknown_input_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"plain.*'masses'.*'q'.*'weight'.*'p'"):
        hoisted(plain(), "masses")
