"""``linkwise check`` on the files of chains."""

import json
from pathlib import Path

import pytest

DATA = Path(__file__).parents[2] / "examples" / "data"
CHAINS = ("arm_follower", "jog", "press", "ship_crane")


@pytest.mark.parametrize("name", CHAINS)
def test_a_good_chain_is_told_with_its_constraints(linkwise, name):
    told = linkwise("check", str(DATA / f"{name}.toml"))
    assert told.status == 0
    assert f"{name}.toml: ok" in told.out
    assert "joints, mechanism" in told.out


def test_it_is_told_to_programs(linkwise):
    told = json.loads(linkwise("check", str(DATA / "press.toml"), "--json").out)
    assert told["ok"] is True
    assert told["problems"] == []
    assert told["constraints"][0] == {"name": "pin", "kind": "loop", "link": "rod"}


def test_every_mistake_is_told_with_its_line(linkwise, tmp_path):
    path = tmp_path / "bad.toml"
    path.write_text((DATA / "press.toml").read_text().replace('to = "ram"', 'to = "rma"').replace("a = 0.35", "a = nan"))
    told = linkwise("check", str(path))
    assert told.status == 1
    assert "2 problems" in told.out
    assert "'ram'" in told.out


def test_a_motion_does_not_go_with_it(linkwise):
    told = linkwise("check", str(DATA / "press.toml"), "motion.csv")
    assert told.status == 2
    assert "describes a chain" in told.err
