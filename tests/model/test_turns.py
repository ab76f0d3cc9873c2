"""Constant angles of more than a turn are refused, for they are mostly degrees; what is known only as a symbol is not."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

import linkwise as lw
from linkwise import planar
from linkwise.errors import ModelError
from linkwise.model.validation import TURN

SAID = "expected rad, and this is more than a turn; if these are degrees, numpy.radians makes radians of them"


@pytest.mark.parametrize("field", ["theta", "alpha", "offset"])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_row_in_degrees_is_refused(field: str, sign: float) -> None:
    for angle in (90.0, np.nextafter(TURN, np.inf)):
        with pytest.raises(ModelError, match=re.escape(f"link 'arm': {field} is {sign * angle!r}; {SAID}")):
            lw.Link.dh(**{field: sign * angle}, convention="standard", name="arm")
    for angle in (TURN, 2 * math.pi, 6.2832):
        lw.Link.dh(**{field: sign * angle}, convention="modified")


def test_a_whole_table_and_all_its_angles() -> None:
    with pytest.raises(ModelError) as raised:
        lw.Mechanism.from_dh([(90, 400, 25, -90), (0, 0, 0, 0)], convention="standard")
    assert [(problem.item, problem.field) for problem in raised.value.problems] == [
        ("link 'link1'", "theta"),
        ("link 'link1'", "alpha"),
    ]


def test_the_offset_of_what_slides_is_a_length() -> None:
    assert lw.Link.dh(convention="standard", joint="prismatic", offset=90.0).offset == 90.0
    assert lw.Link(joint="screw", pitch=0.1, offset=90.0).offset == 90.0
    with pytest.raises(ModelError, match="offset is 90"):
        lw.Link(offset=90.0)


def test_symbols_are_judged_when_they_are_numbers() -> None:
    angle = lw.symbols("beta")
    arm = lw.Mechanism([lw.Link.dh(alpha=angle, offset=angle, convention="standard")])
    assert arm.substitute(beta=1.0).links[0].dh_row.alpha == 1.0
    with pytest.raises(ModelError, match="alpha is 90"):
        arm.substitute(beta=90.0)


def test_planar_links_but_not_their_configurations() -> None:
    with pytest.raises(ModelError, match=re.escape("link 'rod': theta is 45; expected rad")):
        planar.Link(theta=45, name="rod")
    with pytest.raises(ModelError, match=re.escape("link: at, the angle, is 45.0; expected rad")):
        planar.Link(at=(0, 0, 45))
    chain = planar.Mechanism([planar.Link(), planar.Link(a=1.0, at=(70.0, 80.0, 1.0))])
    assert np.isfinite(chain.poses([100.0, -50.0])).all()
