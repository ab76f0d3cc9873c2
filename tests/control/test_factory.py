"""From a description to a chain and back: nothing is lost on the way, and the chain that comes back does the same."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from linkwise import control
from linkwise.control.chain import chain_of, description_of
from linkwise.control.chain_file import read
from linkwise.control.description import ChainDescription
from linkwise.control.links import FixedLink, PrismaticLink, RevoluteLink

EXAMPLES = Path(__file__).parents[2] / "examples" / "data"


@pytest.fixture(scope="module")
def press() -> ChainDescription:
    return read(EXAMPLES / "press.toml")


def test_a_description_comes_back_from_its_chain(press: ChainDescription) -> None:
    values = {
        "ram.max_speed": 0.5,
        "rod.regulator.p": 2.0,
        "ram.limits.min": 0.1,
        "rod.theta": 1.7,
        "start.angles": (0, 1, 0),
    }
    routes = {"rod.theta": "", "ram.d": "ram.predicted_d", "start.position": "crank.position"}
    whole = replace(
        press, values=values, routes=routes, angles="zyx", calculations_per_cycle=30, calculation_precision=1e-9
    )  # fmt: skip
    made = chain_of(whole)
    assert made.ports.routes["ram.d"] == "ram.predicted_d"
    assert "rod.theta" not in made.ports.routes
    assert made["rod.theta"] == 1.7
    assert made.angles == "zyx"
    assert made["chain.calculations_per_cycle"] == 30
    assert description_of(made, name=made.name, period=made.period) == whole


def test_what_was_written_since_is_in_the_description(press: ChainDescription) -> None:
    made = chain_of(press)
    made["motor.value"] = 2.0
    made["pin.enabled"] = False
    made["start.velocity"] = [0, 0, 1]
    made["rod.theta_speed"] = math.nan
    there = description_of(made, name="later")
    assert [(row.scalars.get("value"), row.enabled) for row in there.constraints] == [(None, False), (2.0, True)]
    assert there.values == {"start.velocity": (0.0, 0.0, 1.0)}
    assert (there.name, there.period) == ("later", None)
    assert there.q0.tolist() == press.q0.tolist()


def test_the_chain_that_comes_back_does_the_same(press: ChainDescription, tmp_path: Path) -> None:
    first = chain_of(press)
    first["motor.value"] = 1.8
    first.write(tmp_path / "again.toml")
    second = control.load(tmp_path / "again.toml")
    for angle in np.linspace(1.8, 2.4, 5):
        for chain in (first, second):
            chain["motor.value"] = angle
            assert chain.step(0.001)
        assert np.array_equal(first.ports.values, second.ports.values)


def test_the_press_goes_round(press: ChainDescription) -> None:
    made = chain_of(press)
    lowest = []
    for angle in np.radians(np.arange(90.0, 451.0, 5.0)):
        made["motor.value"] = angle
        assert made.step(press.period or 0.0), (angle, made.reason)
        q = [made["crank.theta_solved"], made["rod.theta_solved"], made["ram.d_solved"]]
        assert q[0] == pytest.approx(angle, abs=1e-9)
        ends = dict(zip(press.mechanism.link_names, press.mechanism.link_poses(q)[:, :3, 3], strict=True))
        assert np.allclose(ends["rod"], ends["ram"], rtol=0, atol=1e-9)  # ten times the precision it is solved to
        # The height of the ram by the law of cosines: the crank points up at angle 0.
        assert -ends["ram"][2] == pytest.approx(
            math.sqrt(0.35**2 - (0.08 * math.sin(angle)) ** 2) - 0.08 * math.cos(angle), abs=1e-9
        )
        lowest.append(ends["ram"][2])
    assert min(lowest) == pytest.approx(-0.43, abs=1e-9)  # at 180 deg, which is one of the angles
    assert max(lowest) == pytest.approx(-0.27, abs=1e-9)


def test_a_chain_of_links_is_written_as_links(tmp_path: Path) -> None:
    links = [
        RevoluteLink("boom", a=2.0, theta=0.5, limits=(0.0, 1.2), max_speed=1.0),
        PrismaticLink("slide", d=1.0, theta=1.5, predecessor="boom"),
        FixedLink("hook", d=0.1),
    ]
    made = control.Chain(links, control.FixedPosition("hold", "hook", [1.0, 0.5, 0.0], enabled=False), starting_dof="y")
    made.write(tmp_path / "crane.toml")
    text = (tmp_path / "crane.toml").read_text()
    assert text.count("[[link]]") == 3
    assert 'starting_dof = "y"\n' in text
    back = control.load(tmp_path / "crane.toml")
    assert back.mechanism == made.mechanism
    assert back.description() == made.description()
    assert back["boom.max_speed"] == 1.0
