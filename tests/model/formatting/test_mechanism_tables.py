import math

import numpy as np
import pytest

import linkwise as lw
from linkwise.model.formatting import mechanism_tables as table
from linkwise.model.formatting.table import laid_out, width
from support.bundled import BUNDLED

QUARTER = math.pi / 2


def shift(x: float, y: float, z: float) -> np.ndarray:
    made = np.eye(4)
    made[:3, 3] = x, y, z
    return made


def rows(mechanism: lw.Mechanism) -> list[dict[str, str]]:
    made = table.described(mechanism)
    return [dict(zip(made.header, row, strict=True)) for row in made.rows]


def test_the_variable_stands_in_the_cell_where_it_acts() -> None:
    made = lw.Mechanism(
        [
            lw.Link.dh(convention="standard"),
            lw.Link.dh(QUARTER, convention="standard", offset=-math.pi),
            lw.Link.dh(QUARTER, 0.1, convention="standard", joint="prismatic", offset=0.2),
            lw.Link.dh(QUARTER, 0.1, convention="standard", joint="fixed"),
            lw.Link.dh(0.1, convention="standard"),
        ]
    )
    found = [(row["theta"], row["d"]) for row in rows(made)]
    assert found == [("q1", "0"), ("q2 - 90°", "0"), ("90°", "q3 + 0.3"), ("90°", "0.1"), ("q4 + 5.72958°", "0")]
    assert [row["joint"] for row in rows(made)] == list("RRPFR")


def test_the_convention_is_said_in_words_and_orders_the_columns() -> None:
    standard = lw.Mechanism([lw.Link.dh(0, 1, 2, 3, convention="standard")])
    extended = lw.Mechanism([lw.Link.dh(0, 1, 2, 3, b=0.5, convention="standard")])
    modified = lw.Mechanism([lw.Link.dh(0, 1, 2, 3, convention="modified")])
    assert "standard Denavit-Hartenberg: Rz(theta) Tz(d) Tx(a) Rx(alpha)" in table.text(standard)
    assert "extended Denavit-Hartenberg: Rz(theta) Tz(d) Tx(a) Ty(b) Rx(alpha)" in table.text(extended)
    assert "modified Denavit-Hartenberg: Rx(alpha) Tx(a) Rz(theta) Tz(d)" in table.text(modified)
    assert table.described(standard).header == ("link", "joint", "theta", "d", "a", "alpha")
    assert table.described(extended).header == ("link", "joint", "theta", "d", "a", "b", "alpha")
    assert table.described(modified).header == ("link", "joint", "alpha", "a", "theta", "d")


def test_mixed_links_are_placed() -> None:
    made = lw.Mechanism(
        [
            lw.Link(name="torso", before=shift(0, 0, 0.5)),
            lw.Link(name="arm", parent="torso", axis=(0, 1, 0), joint="screw", pitch=0.01, after=shift(0.3, 0, 0)),
            lw.Link(name="head", parent="torso", joint="fixed"),
        ]
    )
    found = rows(made)
    assert [row["parent"] for row in found] == ["base", "torso", "torso"]
    assert [row["joint"] for row in found] == list("RHF")
    assert [row["axis"] for row in found] == ["0 0 1", "0 1 0", ""]
    assert found[0]["A x y z"] == "0 0 0.5"
    assert found[1]["B x y z"] == "0.3 0 0"
    assert found[1]["pitch m/rad"] == "0.01"
    assert "2 joints (RH) and 1 fixed link" in table.text(made)


def test_a_chain_shows_no_parents() -> None:
    assert "parent" not in table.text(lw.Mechanism([lw.Link(), lw.Link()]))


def test_base_tool_and_payload_are_told_when_there_are_any() -> None:
    plain = lw.Mechanism([lw.Link()])
    assert not any(word in table.text(plain) for word in ("base", "tool", "payload"))
    told = table.text(plain.replace(base=shift(0, 0, 1), tool=shift(0.1, 0, 0)).with_payload(2, (0, 0, 0.1)))
    assert "base at xyz 0 0 1, roll pitch yaw 0° 0° 0°" in told
    assert "tool at xyz 0.1 0 0" in told
    assert "payload 2 kg at 0 0 0.1 m" in told


def test_limits_in_degrees_or_metres() -> None:
    made = lw.Mechanism([lw.Link(limits=(-QUARTER, math.inf)), lw.Link(joint="prismatic", limits=(0, 0.5)), lw.Link()])
    assert [row["limits"] for row in rows(made)] == ["-90° .. inf°", "0 .. 0.5", ""]


@pytest.mark.parametrize("name", BUNDLED)
def test_bundled_robots_fit_a_terminal(name: str) -> None:
    lines = repr(lw.robots.load(name)).splitlines()
    assert max(map(len, lines)) <= 110
    assert not any(line != line.rstrip() for line in lines)


def test_wide_letters_keep_the_columns_straight() -> None:
    made = lw.Mechanism([lw.Link.dh(convention="standard", name="肩"), lw.Link.dh(convention="standard", name="elbow")])
    lines = table.text(made).splitlines()[-2:]
    assert [width(line) for line in lines] == [width(lines[0])] * 2


def test_names_cannot_inject_markup_or_steer_a_terminal() -> None:
    nasty = "<script>alert(1)</script>\x1b[31m\u202e"
    made = lw.Mechanism([lw.Link(name=nasty)], name="<img src=x onerror=y>")
    told = made._repr_html_()
    assert "<script" not in told
    assert "<img" not in told
    assert "&lt;script&gt;" in told
    for text in (repr(made), repr(made.links[0]), told):
        assert not set(text) & {"\x1b", "\u202e"}


def test_html_sets_no_colours() -> None:
    told = lw.robots.load("puma560")._repr_html_()
    assert "color" not in told
    assert told.count("<tr>") == 7


def test_masses() -> None:
    made = lw.Mechanism([lw.Link(mass=2, com=(0, 0, 0.1), inertia=(1, 1, 1.5)), lw.Link()], name="m").with_payload(1)
    told = laid_out(table.mass_table(made))
    assert "3 kg in total" in told
    assert "Ixx" in told
    assert "(payload, tool axes)" in told


def test_one_link_in_one_line() -> None:
    assert repr(lw.Link.dh(d=0.5, convention="modified", joint="prismatic", name="z")) == (
        "Link 'z': prismatic, modified Denavit-Hartenberg alpha=0° a=0 theta=0° d=q + 0.5"
    )
    assert repr(lw.Link(joint="fixed")).startswith("Link: fixed, axis 0 0 1, before xyz 0 0 0")


def test_a_floating_base_is_told_in_the_first_line() -> None:
    made = lw.Mechanism([lw.Link(), lw.Link()], name="drone", base=shift(0, 0, 1), floating=True)
    lines = table.text(made).splitlines()
    assert lines[0] == "drone: 2 joints (RR), on a floating base"
    assert "base frame at xyz 0 0 1, roll pitch yaw 0° 0° 0°" in lines
    assert "<strong>drone: 2 joints (RR), on a floating base</strong>" in made._repr_html_()


def test_motors_show_their_rotors() -> None:
    rotor = lw.Motor(gear_ratio=50, joint="b", carrier="a", axis=(0, 0, 2), mass=0.4, rotor_inertia=(3e-4, 3e-4, 2e-4))
    older = lw.Motor(1e-4, -2, joint="b", carrier="base", axis=(0, 1, 0), friction_rule="toolbox7")
    made = lw.Mechanism(
        [lw.Link(name="a", mass=1, motor=lw.Motor(2e-3)), lw.Link(name="b")], motors=[rotor, older], name="m"
    )
    told = table.motor_table(made)
    assert told.lines == (
        "motors of m: 3 on 2 joints",
        "all on the motor's side of the gear; gear ratio is motor speed / joint speed",
        "a carried rotor spins about its axis, given in the axes of its carrier",
        "friction rule toolbox7: the gear taken once and with its sign, as in the Robotics Toolbox for MATLAB 7",
    )
    assert told.header[0:3] + told.header[6:] == (
        "joint", "rotor inertia kg m2", "gear ratio", "friction rule", "carrier", "spin axis",
    )  # fmt: skip
    assert [row[0:3] + row[6:] for row in told.rows] == [
        ("a", "0.002", "1", "reflected", "", ""),
        ("b", "0.0002", "50", "reflected", "a", "0 0 1"),
        ("b", "0.0001", "-2", "toolbox7", "base", "0 1 0"),
    ]
    alike = table.motor_table(made.with_friction_rule("toolbox7"))
    assert alike.lines == told.lines
    assert "friction rule" not in alike.header, "the line above says it of all"
    told = laid_out(table.mass_table(made))
    assert "masses of m: 1.4 kg in total" in told
    assert "(rotor of b, axes of a)" in told
    assert "base" not in told, "a rotor without a body has no row"


def test_plain_motors_need_no_more_columns() -> None:
    header = table.motor_table(lw.robots.puma560()).header
    assert header[-1] == "Coulomb - N m"
    assert "motors of puma560: 6 joints\n" in laid_out(table.motor_table(lw.robots.puma560()))
