"""Decimal points stand beneath each other, and nothing but blanks is added."""

from linkwise.model.formatting.table import Column, Table, aligned, blocks, html, laid_out, short


def test_points_and_units_stand_beneath_each_other() -> None:
    assert aligned(["0.5 rad", "-12 m", "3.25 rad"]) == ["  0.5  rad", "-12    m  ", "  3.25 rad"]
    assert aligned(["4e-05", "0.25", "0"]) == ["4e-05", "0.25 ", "0    "]


def test_vectors_and_ranges() -> None:
    assert aligned(["0 0 1", "0.5 -0.25 0"]) == ["0    0    1", "0.5 -0.25 0"]
    assert aligned(["-160° .. 160°", "", "0.5° .. 1°"]) == ["-160°   .. 160°", "", "   0.5° ..   1°"]


def test_a_value_of_zero_has_no_time() -> None:
    assert aligned(["0", "7.023 @ 1.2"]) == ["0          ", "7.023 @ 1.2"]


def test_other_cells_stay_as_they_are() -> None:
    for cells in (["q1", "0.5"], ["250 ms", "1.5 us"], ["3 mul, 2 add", "12 mul"], ["inf", "2.5"], ["1.5-2", "3"], []):
        assert aligned(cells) == cells


def test_nothing_but_blanks_is_added() -> None:
    cells = ["-1.025e-08 .. 0.0003732", "0 .. 1e300", "-5 .. -0.125"]
    assert [cell.split() for cell in aligned(cells)] == [cell.split() for cell in cells]


def test_one_table_as_text_html_and_json() -> None:
    columns = ["joint", Column("speed [rad/s]", "speed", short), Column("note", empty="-")]
    table = Table(["speeds <1>", "a note"], columns, [("q1", 0.5, None), (), ("q2", -12.3456, "fast")])
    assert laid_out(table).splitlines() == [
        "speeds <1>",
        "a note",
        "",
        "joint  speed [rad/s]  note",
        "q1              0.5   -",
        "",
        "q2            -12.35  fast",
    ]
    assert table.data() == [{"speed": 0.5}, {"speed": -12.3456}]
    page = html(table)
    assert "speeds &lt;1&gt;" in page
    assert page.count("<tr>") == 3
    assert '<td style="text-align: right">-12.35</td>' in page


def test_columns_are_shared_out_with_their_keys_and_units() -> None:
    titles = ["link", "", "x", "y", "unit", "off [m]", "[rad]"]
    table = Table(["wide"], titles, [("a", "position", "1", "2", "m", "0.1", "0.2")], keys=2)
    heads = [lines[0].split() for lines in blocks(table, 26)]
    assert heads == [["link", "x", "y", "unit"], ["link", "off", "[m]", "[rad]"]]
    assert [lines[0].split() for lines in blocks(table, 20)][:2] == [["link", "x", "unit"], ["link", "y", "unit"]]
    assert len(blocks(table, None)) == 1
