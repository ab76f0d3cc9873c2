"""Decimal points stand beneath each other, and nothing but blanks is added."""

from linkwise.model.alignment import aligned


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
