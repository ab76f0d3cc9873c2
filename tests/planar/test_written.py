"""The transforms as they are printed and as SymPy matrices: in the text's symbols, with the values that numbers give."""

from __future__ import annotations

import re

import numpy as np
import pytest

import linkwise as lw
from linkwise.errors import ArgumentError
from linkwise.planar import Link, Mechanism

TREE = Mechanism(
    [
        Link(joint="free", name="A1"),
        Link(name="A2", a=1.5, theta=0.2),
        Link(joint="prismatic", name="A3", a=0.25, theta=0.3),
        Link(name="A4", parent="A2", a=0.8, at=(0.0, 0.1, 0.7)),
        Link(name="A5", parent="A2", joint="fixed", theta=0.4),
    ]
)


def test_the_general_matrices_of_the_text() -> None:
    chain = Mechanism([Link(joint="free"), Link(a=2.0), Link(joint="prismatic", theta=0.5)])
    lines = chain.transform_text(constants=True).splitlines()
    assert lines[0] == "T_1 = [ cos(theta_1)  -sin(theta_1)  x_t ]   link1 in the world"
    assert lines[1] == "      [ sin(theta_1)  cos(theta_1)   y_t ]"
    assert lines[4] == "T_2 = [ cos(theta_2)  -sin(theta_2)  a_1 ]   link2 on link1"
    assert lines[5] == "      [ sin(theta_2)  cos(theta_2)   0   ]"
    assert lines[8] == "T_3 = [ cos(theta_3)  -sin(theta_3)  a_2 ]   link3 on link2"


@pytest.mark.parametrize("constants", [False, True])
def test_sympy_matrices_have_the_values_of_the_numbers(constants: bool) -> None:
    pytest.importorskip("sympy")
    variables = {"x_t": 0.1, "y_t": 0.2, "theta_1": 0.3, "theta_2": 0.4, "a_2_3": 0.5, "theta_4": 0.6}
    fixed = {
        "a_1": 1.5,
        "theta0_2": 0.2,
        "a0_2_3": 0.25,
        "theta_3": 0.3,
        "a_2_4": 0.8,
        "y0_4": 0.1,
        "phi_4": 0.7,
        "theta_5": 0.4,
    }
    found = TREE.symbolic_transforms(constants)
    names = {str(symbol) for made in found for symbol in made.free_symbols}
    assert names == set(variables) | (set(fixed) if constants else set())
    values = variables | fixed
    numbers = [[float(cell.subs({s: values[str(s)] for s in cell.free_symbols})) for cell in made] for made in found]
    expected = TREE.transforms(list(variables.values()))
    assert abs(np.array(numbers).reshape(-1, 3, 3) - expected).max() <= 16 * np.finfo(float).eps


def test_the_numbers_at_a_configuration() -> None:
    chain = Mechanism([Link(joint="free"), Link(a=2.0)])
    lines = chain.transform_text([0.5, -1.0, np.pi / 2, 0.3]).splitlines()
    assert lines[0] == "T_1 = [ 0  -1  0.5 ]   link1 in the world"
    assert lines[1] == "      [ 1  0   -1  ]"
    c, s = np.cos(0.3), np.sin(0.3)
    assert lines[4] == f"T_2 = [ {c:.6g}  {-s:.6g}  2 ]   link2 on link1"


@pytest.mark.parametrize("size", [1e-18, 1.0, 1e6])
def test_lengths_of_any_size(size: float) -> None:
    """Lengths are 0 where they are rounding beside the others, not where they are short."""
    chain = Mechanism([Link(joint="free"), Link(a=2.0 * size)])
    lines = chain.transform_text([0.5 * size, 1e-17 * size, 0.0, 0.3]).splitlines()
    assert lines[0].split("]")[0] == f"T_1 = [ 1  0  {0.5 * size:.6g}".ljust(len(lines[0].split("]")[0]))
    assert lines[1].split()[3] == "0"


@pytest.mark.parametrize(
    ("q", "options", "message"),
    [
        ([1.0, 2.0], {}, "configuration has the shape (2,); expected (..., 4)"),
        (np.zeros((2, 4)), {}, "q has the shape (2, 4); expected one configuration (4,)"),
        (np.zeros(4), {"constants": True}, "q and constants=True are given"),
    ],
)
def test_no_configuration(q: np.ndarray, options: dict, message: str) -> None:
    with pytest.raises(ArgumentError, match=re.escape(message)):
        Mechanism([Link(joint="free"), Link(a=2.0)]).transform_text(q, **options)


def test_names_of_other_symbols_are_not_mixed_up() -> None:
    made = Mechanism([Link(), Link(a=lw.symbols("theta_1"))])
    with pytest.raises(ArgumentError, match=re.escape("has a symbol 'theta_1', which is the name of a coordinate here")):
        made.transform_text()


def test_two_free_links_and_one_that_stands() -> None:
    made = Mechanism([Link(joint="free"), Link(joint="free", parent="world"), Link(joint="fixed", parent="world", a=1.0)])
    text = made.transform_text()
    assert all(word in text for word in ("x_1", "y_2", "theta_2"))
    assert text.splitlines()[-3:] == ["T_3 = [ 1  0  1 ]   link3 in the world", "      [ 0  1  0 ]", "      [ 0  0  1 ]"]
