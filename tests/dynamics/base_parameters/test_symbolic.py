"""Base parameters in closed form with symbols: published counts and combinations, agreement with numbers, names."""

from __future__ import annotations

from functools import cache
from math import pi

import numpy as np
import pytest

from linkwise import Link, Mechanism, Motor, robots, symbols
from linkwise.dynamics import base_bodies, base_forms
from linkwise.errors import ArgumentError
from linkwise.expr.expand import expanded
from linkwise.expr.node import parameter
from linkwise.model.symbolic import numbers_at
from linkwise.spatial.rotation import rotation_x
from linkwise.spatial.transform import transform

ROUNDING = 1e-13
"""Of coefficients up to 10, sums of a few products of lengths; seen: 2e-14."""

PUMA = [
    (0, 0, 0, 0),
    (0, 0, 0, -pi / 2),
    (0, "d3", "a2", 0),
    (0, "d4", "a3", -pi / 2),
    (0, 0, 0, pi / 2),
    (0, 0, 0, -pi / 2),
]
"""Modified Denavit-Hartenberg rows theta, d, a, alpha (B. Armstrong, O. Khatib, J. Burdick, "The explicit dynamic model and
inertial parameters of the PUMA 560 arm", ICRA 1986)."""

RX90 = [(0, 0, 0, 0), (0, 0, 0, pi / 2), (0, 0, "D3", 0), (0, "RL4", 0, -pi / 2), (0, 0, 0, pi / 2), (0, 0, 0, -pi / 2)]
"""The Staubli RX-90 (W. Khalil, E. Dombre, *Modeling, Identification and Control of Robots*, 2002)."""


def given(rows: list[tuple[object, ...]]) -> list[tuple[object, ...]]:
    """The rows with symbols for names."""
    return [tuple(parameter(value) if isinstance(value, str) else value for value in row) for row in rows]


@cache
def puma() -> Mechanism:
    return Mechanism.from_dh(given(PUMA), convention="modified")


def at_random(mech: Mechanism, seed: int = 0) -> tuple[Mechanism, dict[object, float]]:
    """The mechanism with numbers for its symbols, and these."""
    values = dict(zip(mech.symbols, np.random.default_rng(seed).uniform(0.3, 1.3, len(mech.symbols)), strict=True))
    return mech.substitute(values), {parameter(name): float(value) for name, value in values.items()}


def check(mech: Mechanism) -> None:
    """With numbers put in for the symbols the same comes out as with numbers from the beginning."""
    found = base_forms(mech)
    numeric, point = at_random(mech)
    wanted = base_forms(numeric)
    assert found.columns.tolist() == wanted.columns.tolist()
    assert found.unseen == wanted.unseen
    assert np.abs(numbers_at(found.matrix, point) - wanted.matrix).max() <= ROUNDING * max(1.0, np.abs(wanted.matrix).max())


def general(convention: str, joints: int) -> Mechanism:
    """All lengths and angles symbols; the first axis is vertical."""
    rows = [tuple(parameter(f"{kind}{k}") for kind in ("d", "a", "alpha")) for k in range(1, joints + 1)]
    upright = [(0.0, d, a, alpha if k or convention == "standard" else 0.0) for k, (d, a, alpha) in enumerate(rows)]
    return Mechanism.from_dh(upright, convention=convention)


SLIDING = Mechanism(
    [
        Link(joint="screw", pitch=parameter("h")),
        Link(before=transform(rotation_x(parameter("alpha")), (parameter("a"), 0.0, 0.0))),
        Link(joint="prismatic", before=transform(rotation_x(pi / 2), (0.0, parameter("d"), 0.0))),
    ],
    gravity=(0.0, 0.0, 0.0),
)

GEARED = Mechanism(
    [
        Link(motor=Motor(gear_ratio=parameter("G1"))),
        Link(
            before=transform(rotation_x(parameter("alpha")), (parameter("a"), 0.0, 0.0)),
            motor=Motor(gear_ratio=parameter("G2"), carrier=0, axis=(0, 0, 1)),
        ),
    ]
)


@pytest.mark.parametrize(
    ("mech", "count"),
    [
        (puma(), 36),
        (Mechanism.from_dh(given(RX90), convention="modified"), 36),
        (general("modified", 4), 22),
        (general("standard", 3), 15),
        (SLIDING, 12),
        (GEARED, 15),
    ],
    ids=["puma", "rx90", "modified", "standard", "sliding", "geared"],
)
def test_symbols_agree_with_numbers(mech: Mechanism, count: int) -> None:
    """1 + 7 for each further link (M. Gautier, W. Khalil, 1990), and what slides and motors add."""
    assert len(base_forms(mech)) == count
    check(mech)


@pytest.mark.parametrize(
    ("name", "gravity", "count"),
    [
        ("puma560", (0, 0, -9.81), 36),
        ("stanford", (0, 0, -9.81), 33),
        ("planar_2r", (0, -9.81, 0), 6),
        ("planar_3r", (0, -9.81, 0), 9),
    ],
)
def test_counts_of_bundled_robots(name: str, gravity: tuple[float, ...], count: int) -> None:
    arm = robots.load(name).replace(gravity=gravity)
    bare = arm.replace(links=[link.replace(motor=None) for link in arm.links], motors=())
    assert len(base_forms(bare)) == count


def test_combinations_of_the_puma() -> None:
    """The rules by hand: YY moves to XX and ZZ, masses with their lengths (M. Gautier, W. Khalil, 1990)."""
    names = base_forms(puma()).names
    assert names[1:4] == ("MX2 + a2 M3 + a2 M4 + a2 M5 + a2 M6", "MY2", "XX2 - YY2 - a2^2 M3 - a2^2 M4 - a2^2 M5 - a2^2 M6")
    assert names[9] == "MY3 + d4 M4 + MZ4 + d4 M5 + d4 M6"
    assert names[12] == "XY3 - a3 d4 M4 - a3 MZ4 - a3 d4 M5 - a3 d4 M6"
    assert names[-7:] == ("MX6", "MY6", "XX6 - YY6", "ZZ6", "XY6", "YZ6", "XZ6")


def test_zeros_of_the_puma() -> None:
    """With the zeros of Armstrong, Khatib and Burdick's parameters 21 of 36 base parameters are left."""
    there = {1: "ZZ", 2: "M MX MY MZ XX YY ZZ XY YZ XZ", 3: "M MY MZ XX YY ZZ YZ"}
    there |= {4: "M MZ XX YY ZZ", 5: "M XX YY ZZ", 6: "M MZ XX YY ZZ"}
    found = base_forms(puma())
    known = {f"{symbol}{link}" for link, kinds in there.items() for symbol in kinds.split()}
    left = [any(name in known for _, name in parts) for parts in found.terms]
    assert sum(left) == 21


def test_values_and_expressions() -> None:
    l1, m1, m2 = symbols("l1 m1 m2")
    rows = [Link.dh(a=l1, convention="standard", mass=m1), Link.dh(a=0.5, convention="standard", mass=m2)]
    found = base_forms(Mechanism(rows, gravity=(0, -9.81, 0)))
    assert sorted(str(found.expressions[0]).split(" + ")) == ["M1 * l1", "M2 * l1", "MX1"]
    assert found.names[3] == "MX2 + 0.5 M2"
    value = numbers_at(found.values, {l1: 2.0, m1: 3.0, m2: 5.0})
    assert np.array_equal(value, [16.0, 0.0, -32.0, 2.5, 0.0, -1.25])
    assert base_forms(robots.planar_2r()).values.dtype == np.float64
    assert found.text().endswith("no effect: MZ1 XX1 YY1 XY1 YZ1 XZ1 MZ2 XX2 YY2 XY2 YZ2 XZ2")
    assert repr(found).startswith("6 base parameters of 20\nMX1 + l1 M1 + l1 M2\n")


def test_names_of_base_bodies() -> None:
    """An R where others are grouped; the parameter's own name where it stands alone; nothing for what is zero."""
    l1, m1, m2, zz = symbols("l1 m1 m2 zz")
    upper = Link.dh(a=l1, convention="modified", mass=m1)
    lower = Link.dh(a=l1, convention="modified", mass=m2, com=(0.5, 0, 0), inertia=(0, 0, zz))
    made = base_bodies(Mechanism([upper, lower]))
    assert made.names == ("ZZR1", "MX2", "ZZ2")
    assert made.text() == "ZZR1 = ZZ1 + l1^2 M2\nMX2  = MX2\nZZ2  = ZZ2"
    inertia = made.bodies.bodies[1].inertia
    assert inertia[0, 3] is parameter("MX2")
    assert inertia[3, 3] == 0.0
    assert made.values[0] is expanded(l1 * l1 * m2)
    second = base_bodies(Mechanism([upper, lower]), second_moments=True)
    assert second.names == ("JXXR1", "MX2", "JXXR2"), "in a plane only the sum of both is felt"


def test_a_rotor_whose_inertia_is_grouped_leaves_the_joint() -> None:
    """Jm of the first joint is in ZZR1; that of a third joint is felt apart."""
    across = transform(rotation_x(pi / 2), (0.5, 0.0, 0.0))
    links = [Link(mass=1.0, motor=Motor(inertia=0.1, gear_ratio=3.0))]
    links += [Link(before=across, mass=1.0, inertia=(1, 1, 1), motor=Motor(inertia=0.1)) for _ in range(2)]
    made = base_bodies(Mechanism(links))
    assert made.reflected[:2] == (0.0, 0.0)
    assert made.reflected[2] is parameter("Jm3")
    assert (9.0, "Jm1") in made.definitions["ZZR1"]


def test_closed_loops_leave_no_more_than_the_tree_shows() -> None:
    """The regressor of the driven efforts is spanned by the forms, in numbers and in symbols; there are fewer by rank."""
    bars = robots.four_bar()
    linkage = bars.linkage(["crank"])
    q = linkage.trace(np.linspace(0.3, 2.0, 40)).q
    qd = linkage.velocity(q, np.linspace(-3.0, 4.0, 40)[:, None])
    qdd = linkage.acceleration(q, qd, np.linspace(20.0, -30.0, 40)[:, None])
    table = bars.regressor(q, qd, qdd)[:, 0]
    fewest = bars.base_parameters()
    lengths = {"x2": bars.links[1].before[0, 3], "x3": bars.links[2].before[0, 3], "xt": bars.tool[0, 3]}
    for forms in (base_forms(bars), base_forms(bars.symbolic("lengths"))):
        assert not forms.minimal
        matrix = numbers_at(forms.matrix, {parameter(name): value for name, value in lengths.items()})
        error = np.abs(table[:, forms.columns] @ matrix - table).max() / np.abs(table).max()
        print(len(forms), len(fewest), f"{error:.1e}")
        assert error < 1e-12
        assert len(forms) > len(fewest)
        assert np.linalg.matrix_rank(np.vstack([matrix, fewest.matrix]), tol=1e-9) == len(forms)


def test_what_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"'d3'.*'a2'.*'d4'.*'a3'.*base_forms"):
        puma().base_parameters()


def test_forms_that_grow_too_long_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a bound that a short form passes: what would take minutes ends with a message."""
    arm = robots.planar_3r().symbolic("lengths").substitute(a2=symbols("u") + symbols("v"))
    assert len(arm.base_forms().names) == 9
    monkeypatch.setattr("linkwise.expr.expand.MOST_TERMS", 2)
    with pytest.raises(ArgumentError, match=r"parameters.*'planar_3r'.*product"):
        arm.replace(name="planar_3r").base_forms()
