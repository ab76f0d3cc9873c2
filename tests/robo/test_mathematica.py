"""Robo's lists as Mathematica text: what is read, and what is refused with its line."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest

import linkwise as lw
from linkwise import robo
from linkwise.errors import ArgumentError

TEXT = """
(* Link definitions (* of two links *) in lists *)
g1 = -62.6111; l2 = 0.4318
Link[1] = {1, Rotationalz, {0}, 2, m1, {{0, 0, 0}, {0, 1*^-2, 0}, {0, 0, .01`}},
   {0.5, 0, 0}, {l2/2, 0, 0}, -Pi/2 + 45 Degree, {}};
Link[2] := {2, "Rotationalz", {1}, 0, 2., DiagonalMatrix[{0, 0.02, 0.02}], {0, 0, 0},
   {Sqrt[1/16], 0, 0}, 0, {1}}
(* Motor definitions *)
Motor[1] = {1, 2, 1, 0.3, {2*^-4, 2*^-4, 1*^-4}, {0, 0, 0}, {0, 0, 0}, -2 a^2 (b - 1), g1};
Links = {Link[1], Link[2]}
Motors = {Motor[1]}
"""


def test_definitions_are_read() -> None:
    m1, a, b = lw.symbols("m1 a b")
    Links, Motors = robo.loads(TEXT)
    first, second = Links
    assert first[:5] == [1, "Rotationalz", [0], 2, m1]
    assert first[5] == [[0, 0, 0], [0, 0.01, 0], [0, 0, 0.01]]
    assert first[6:] == [[0.5, 0, 0], [0.4318 / 2, 0, 0], -math.pi / 2 + 45 * (math.pi / 180), []]
    assert second == [2, "Rotationalz", [1], 0, 2.0, [[0, 0, 0], [0, 0.02, 0], [0, 0, 0.02]], [0] * 3, [0.25, 0, 0], 0, [1]]
    assert Motors[0][:7] == [1, 2, 1, 0.3, [2e-4, 2e-4, 1e-4], [0, 0, 0], [0, 0, 0]]
    assert Motors[0][7] is -2.0 * (a * a) * (b - 1.0)
    assert Motors[0][8] == -62.6111
    assert robo.robot(Links, Motors).mechanism.symbols == ("m1",)  # a turns a rotor about its own axis


def test_the_order_is_that_of_the_numbers_or_of_the_list() -> None:
    item = "{0}, 0, 1, 0, {0, 0, 0}, {0, 0, 0}, 0, {}}"
    both = f"Link[2] = {{2, Rotationalx, {item}\nLink[1] = {{1, Rotationalx, {item}"
    assert [link[0] for link in robo.loads(both)[0]] == [1, 2]
    assert [link[0] for link in robo.loads(both + "\nLinks = {Link[2], Link[1]}")[0]] == [2, 1]
    assert robo.loads(both)[1] == []


def test_a_product_may_be_a_space_and_a_power_binds_first() -> None:
    (link,), _ = robo.loads("Link[1] = {1, 2 3, -2^2, 2^-1, 2^3^2, 6/2/3, 1 - 2 - 3, 2 (3), +4, - -4, (1 +\n 2)}")
    assert link == [1, 6, -4.0, 0.5, 512.0, 1.0, -4, 6, 4, 4, 3]


def test_letters_beside_a_number_are_a_product_where_they_are_no_exponent() -> None:
    e, d, e3, x = lw.symbols("e d e3 x")
    (link,), _ = robo.loads("Link[1] = {1, 2e, 2d - x, 2 e-3, 2 e3, 180Degree}")
    assert link == [1, 2.0 * e, 2.0 * d - x, 2.0 * e - 3.0, 2.0 * e3, 180 * (math.pi / 180)]


def test_a_name_may_change_between_definitions() -> None:
    """What `=` defines keeps the value of that line, as in Mathematica."""
    links, _ = robo.loads("m = 2; Link[1] = {1, m}; m = m + 1; Link[2] = {2, m}")
    assert links == [[1, 2], [2, 3]]


REFUSED = [
    ("", "no links"),
    ("Motor[1] = {1}", "no links"),
    ("Links = 3", "no links"),
    ("Link[1] = {1,\n2", "line 2: the end of the text"),
    ("Link[1] = 3", "line 1: Link[1] = 3"),
    ("\n\nLink[1] = {2}", "line 3: Link[1] = {2}"),
    ("Link[1] = {q}", "Link[1]"),
    ("Link[x] = {1}", "'x'"),
    ("Joint[1] = {1}", "Joint[1]"),
    ("Link[1] = {1} {2}", "'{'"),
    ("Link[1] = {1,, 2}", "','"),
    ("Link[1] = {1, (1, 2)}", "'('"),
    ("(* never ends", "comment"),
    ("Links = {Link[4]}", "Link[4]"),
    ("Link[1] = {1, Foo[2]}", "Foo"),
    ("Link[1] = {1, \\[Alpha]}", "'\\\\'"),
    ("x_ = 3", "'_'"),
    ("Link[1] = {1, 1/0}", "'/'"),
    ("Link[1] = {1, 2^1*^9}", "'^'"),
    ("Link[1] = {1, a^1*^9}", "'^'"),
    ("Link[1] = {1, a^b}", "'^'"),
    ("Link[1] = {1, (-8)^(1/3)}", "'^' of -8 and 0.333"),
    ("Link[1] = {1, 0^0}", "'^' of 0 and 0"),
    ("Link[1] = {1, 0^-1}", "'^' of 0 and -1"),
    ("Link[1] = {1, 1*^999}", "1*^999"),
    ("Link[1] = {1, Sqrt[-1]}", "'Sqrt'"),
    ("Link[1] = {1, 2 * {1}}", "'*'"),
    ('Link[1] = {1, "a" + "b"}', "'+'"),
    ("Link[1] = {1, {1} + {2}}", "'+'"),
    ("Link[1] = {1, DiagonalMatrix[{1, 2}]}", "DiagonalMatrix"),
    ("Link[1] = {1, " + "(" * 5000, "50 brackets"),
    ("Link[1] = {1, " + "2^" * 5000, "50 brackets"),
    ("Link[1] = {1, " + "9" * 100_000 + "}", "a finite number"),
    ("Link[1] = {1, 2.5e-3}", "line 1: '2.5e-3'; expected 2.5*^-3"),
    ("Link[1] = {1,\n1e3}", "line 2: '1e3'; expected 1*^3"),
    ("Link[1] = {1, 3.D+02}", "line 1: '3.D+02'; expected 3.*^+02"),
    ("m = .5E-3", "line 1: '.5E-3'; expected .5*^-3"),
    *(
        (f"Link[1] = {{1, {name}}}", f"line 1: {name}")
        for name in ("E", "I", "N", "Null", "True", "False", "Infinity", "Sin")
    ),
    *((f"\n{name} = 3", f"line 2: {name}") for name in ("E", "I", "Pi", "Degree", "Null", "Sqrt")),
    ("Link[1] = {1,\nm}\nl = 2; m = 3", "line 3: m; expected its definition before line 2"),
    ("a = 2 b\nb = a", "line 2: b; expected its definition before line 1"),
    ("m = m", "line 1: m; expected its definition before line 1"),
    ("m = 2\nLink[1] := {1, m}\nm = 3", "line 3: m; expected its definition before line 2"),
    ("Link[1] = {1}\nLinks := {Link[1]}\nLink[1] = {1, 2}", "line 3: Link[1]; expected its definition before line 2"),
]


@pytest.mark.parametrize(("text", "message"), REFUSED, ids=lambda value: value[:30])
def test_what_cannot_be_read_is_refused_where_it_stands(text: str, message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        robo.loads(text)
    assert message in str(caught.value)
    with pytest.raises(ArgumentError, match="text is 3"):
        robo.loads(3)  # type: ignore[arg-type]


def test_lists_of_lists_are_bounded() -> None:
    lines = ["a0 = {1, 2}", *(f"a{k} = {{a{k - 1}, a{k - 1}}}" for k in range(1, 60)), "Link[1] = {1, a59}"]
    with pytest.raises(ArgumentError, match="values; expected at most 100000"):
        robo.loads("\n".join(lines))


def test_nothing_but_the_packages_own_errors() -> None:
    """Mutations of the text, read and made into a robot."""
    rng, read = random.Random(1), 0
    for _ in range(400):
        letters: list[Any] = list(TEXT)
        for _ in range(rng.randint(1, 3)):
            k = rng.randrange(len(letters))
            chance = rng.random()
            if chance < 0.5:
                letters[k] = chr(rng.randrange(32, 127))
            elif chance < 0.8:
                del letters[k : k + rng.randint(1, 20)]
            else:
                letters[k:k] = letters[rng.randrange(len(letters)) :][:30]
        try:
            robo.robot(*robo.loads("".join(letters)))
            read += 1
        except lw.errors.LinkwiseError:
            pass
    assert 0 < read < 400
