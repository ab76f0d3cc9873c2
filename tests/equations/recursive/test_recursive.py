"""The recursive form computes what the kernel computes, with its operations, in an order in which every name is known."""

import re

import numpy as np
import pytest

from linkwise import robots
from linkwise.equations.document import Call, Listing, Name, Sum, element_name, evaluated, operations
from linkwise.equations.recursive.document_from_tape import labels_of, recursive_listing
from linkwise.equations.recursive.symbol_names import meanings_of
from linkwise.expr.operations import OPERATIONS
from linkwise.kernel.tape import Tape, trace
from support.random_mechanisms import FLOATING, variant

EXACT = 1e-13
"""The same operations but for the order of sums: a few units in the last place each."""

COUNTED = ("mul", "add", "div", "sin", "cos")


def kernel_tape(tree, name: str) -> Tape:
    return tree.kernel(name, backend="numpy").tape


def difference(tape: Tape, listing: Listing) -> float:
    """How far a listing is from its tape at random points."""
    points = np.random.default_rng(3).uniform(0.2, 1.3, (tape.input_count, 4))
    given = dict(zip(labels_of(tape), points, strict=True))
    values = [*points, *(np.full(4, constant) for constant in tape.constants)]
    for instruction in tape.code:
        of = OPERATIONS[instruction.op].value
        values.append(np.array([of(*(values[arg][k] for arg in instruction.args)) for k in range(4)]))
    wanted = np.array([values[slot] for slot in tape.results])
    found = evaluated(listing, given)
    flat = np.concatenate([found[name].reshape(4, -1) for name in tape.outputs], axis=1).T
    return float(np.abs(flat - wanted).max() / max(np.abs(wanted).max(), 1e-300))


def names_of(value: Sum) -> set[str]:
    found = set()
    for term in value.terms:
        for factor in term.factors:
            if isinstance(factor.base, Name):
                found.add(factor.base.text)
            else:
                inner = factor.base.arguments if isinstance(factor.base, Call) else (factor.base,)
                found |= {name for part in inner for name in names_of(part)}
    return found


@pytest.mark.parametrize("name", ["inverse_dynamics", "mass_matrix", "forward_kinematics", "jacobian", "forward_dynamics"])
def test_it_is_the_kernel(name: str) -> None:
    made = robots.puma560()
    tape = kernel_tape(made, name)
    listing = recursive_listing(tape, meanings=meanings_of(made, tape))
    assert difference(tape, listing) < EXACT
    count = operations(listing)
    assert sum(count.get(kind, 0) for kind in COUNTED) <= sum(tape.operations.get(kind, 0) for kind in COUNTED)


@pytest.mark.parametrize("name", [FLOATING[0], FLOATING[-1]])
def test_floating_mechanisms(name: str) -> None:
    made = variant(name)
    tape = kernel_tape(made, "inverse_dynamics")
    listing = recursive_listing(tape, meanings=meanings_of(made, tape))
    assert difference(tape, listing) < EXACT


def test_every_name_is_known_where_it_is_used_and_assigned_once() -> None:
    made = robots.panda()
    tape = kernel_tape(made, "coriolis_matrix")
    listing = recursive_listing(tape, meanings=meanings_of(made, tape))
    known = set(labels_of(tape))
    for section in listing.sections:
        for line in section.assignments:
            assert names_of(line.value) <= known, line
            name = element_name(line.name, line.index)
            assert name not in known
            known.add(name)


def test_values_are_called_by_their_meaning() -> None:
    """Angular velocities about the joints are those that the Jacobians give, and inward follows outward."""
    made = robots.puma560().without_friction()
    tape = kernel_tape(made, "inverse_dynamics")
    listing = recursive_listing(tape, meanings=meanings_of(made, tape))
    titles = [section.title for section in listing.sections]
    assert titles[0] == "Sines and cosines"
    assert titles[-1] == "Results"
    outward = [title for title in titles if title.startswith("Outward")]
    inward = [title for title in titles if title.startswith("Inward")]
    assert outward == sorted(outward)
    assert inward == sorted(inward, reverse=True)
    assert titles.index(inward[0]) > titles.index(outward[-1])
    q, qd, qdd = np.random.default_rng(0).uniform(-1, 1, (3, 6))
    points = dict(zip(labels_of(tape), np.concatenate([q, qd, qdd]), strict=True))
    turning = {
        line.name for section in listing.sections for line in section.assignments if re.fullmatch("w[1-6]z", line.name)
    }
    assert len(turning) > 2
    found = evaluated(Listing("", listing.sections, dict.fromkeys(turning, ())), points)
    for name, value in found.items():
        J = made.jacobian(q, link=int(name[1]) - 1)[3:]
        axis = J[:, int(name[1]) - 1]
        assert value == pytest.approx(axis @ J @ qd, abs=1e-13), name


def test_angle_sums() -> None:
    made = robots.planar_2r()
    tape = kernel_tape(made, "forward_kinematics")
    listing = recursive_listing(tape)
    waves = {line.name for line in listing.sections[0].assignments}
    assert {"c12", "s12"} <= waves


def test_given_names_are_never_taken() -> None:
    tape = trace(lambda c1: (c1[0].sin() + 1.0) * (c1[0].sin() + 2.0), "t", {"t": (1,)}, {"c1": ()})
    listing = recursive_listing(tape)
    names = [line.name for section in listing.sections for line in section.assignments]
    assert len(set(names)) == len(names)
    assert "t1" not in names  # the input's
    assert difference(tape, listing) < EXACT


def test_every_operation() -> None:
    def function(x):
        y = x[0] / (x[1] * x[2])
        return np.array(
            [
                y / (x[0] / x[1]),
                -x[0],
                abs(x[2]) * x[2].sign(),
                x[0].atan2(x[1]),
                x[0].select(x[1], x[2]),
                (x[0] * x[0]).sqrt(),
                x[0] * x[0] * x[0] - (x[1] - x[2]) * (x[1] - x[2]),
                -(x[0] + x[1]) * x[2] - 2.0,
                1.0 / x[0],
                x[0] * 0.0,
            ],
            dtype=object,
        )

    tape = trace(function, "made", {"x": (3,)}, {"y": (10,)})
    assert difference(tape, recursive_listing(tape)) < EXACT
