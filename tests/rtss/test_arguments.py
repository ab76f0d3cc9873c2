"""Arguments may be called as the page calls them, and as the code did before."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from linkwise import rtss
from linkwise.errors import ArgumentError

PAGE = Path(__file__).parents[2] / "docs" / "rtss.md"
ROWS = [line.split("|")[1] for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `rt_")]
CALLS = [call for row in ROWS for call in re.findall(r"(rt_\w+)\(([^()]*)\)", row)]


def accepted(function: Any) -> set[str]:
    called = function.__init__ if isinstance(function, type) else function
    return {*inspect.signature(called).parameters, *getattr(called, "other_names", {})}


@pytest.mark.parametrize(("name", "arguments"), CALLS, ids=str)
def test_the_pages_names_are_keywords(name: str, arguments: str) -> None:
    words = [word for word in re.split(r",\s*", arguments) if word.isidentifier()]
    assert set(words) <= accepted(getattr(rtss, name))


def test_there_are_such() -> None:
    assert len(CALLS) > 40
    assert ("rt_ikine", "robot, T, q0, mask") in CALLS


def test_both_names_give_the_same() -> None:
    arm = rtss.rt_twolink()
    T = rtss.rt_fkine(arm, [0.2, 0.4])
    mask = [1, 1, 0, 0, 0, 0]
    assert np.array_equal(rtss.rt_ikine(arm, T, [0.1, 0.5], mask=mask), rtss.rt_ikine(arm, T, [0.1, 0.5], m=mask))  # type: ignore[call-arg]
    for one, other in zip(rtss.rt_jtraj([0.0], [1.0], t=3), rtss.rt_jtraj([0.0], [1.0], tv=3), strict=True):  # type: ignore[call-arg]
        assert np.array_equal(one, other)
    assert np.array_equal(rtss.rt_unit(v=[3, 4]), rtss.rt_unit(obj=[3, 4]))  # type: ignore[call-overload]
    assert np.array_equal(rtss.rt_friction(robot=arm, qd=[1, 2]), rtss.rt_friction(obj=arm, qd=[1, 2]))  # type: ignore[call-arg]
    assert rtss.rt_quaternion(v=[1, 0, 0], theta=0.2) == rtss.rt_quaternion(a1=[1, 0, 0], a2=0.2)  # type: ignore[call-arg]
    assert np.array_equal(rtss.rt_transl(T=T), T[:3, 3])  # type: ignore[call-arg]
    with pytest.raises(ArgumentError, match="rt_ikine: m and mask are the same"):
        rtss.rt_ikine(arm, T, m=mask, mask=mask)  # type: ignore[call-arg]


def test_an_argument_by_its_place_and_by_its_other_name() -> None:
    arm = rtss.rt_twolink()
    T, mask = rtss.rt_fkine(arm, [0.2, 0.4]), [1, 1, 0, 0, 0, 0]
    for call, message in (
        (lambda: rtss.rt_ikine(arm, T, None, mask, m=mask), "rt_ikine: m and mask are the same"),  # type: ignore[call-arg]
        (lambda: rtss.rt_jtraj([0.0], [1.0], 3, tv=3), "rt_jtraj: tv and t are the same"),  # type: ignore[call-arg]
        (lambda: rtss.rt_quaternion([1, 0, 0], 0.2, a2=0.2), "a2 and theta are the same"),  # type: ignore[call-arg]
        (lambda: rtss.rt_unit([3, 4], obj=[3, 4]), "rt_unit: obj and v are the same"),  # type: ignore[call-overload]
    ):
        with pytest.raises(ArgumentError, match=message):
            call()
    assert np.array_equal(rtss.rt_ikine(arm, T, [0.1, 0.5], m=mask), rtss.rt_ikine(arm, T, [0.1, 0.5], mask))  # type: ignore[call-arg]
