"""Every command speaks to programs too: one JSON document on the output, and nothing beside it."""

import json
from collections.abc import Callable
from typing import Any

import click
import numpy as np
import pytest

from linkwise.cli.app import app
from linkwise.cli.command import jsonable

from .conftest import Told, swing

WITHOUT = {"completion"}
"""What it prints is read by a shell."""


def commands() -> dict[str, click.Command]:
    """All commands and those below them, by the words that call them."""
    context, found = click.Context(app), {}
    for name in app.list_commands(context):
        command = app.get_command(context, name)
        assert command is not None
        found |= (
            {f"{name} {sub}": one for sub, one in command.commands.items() if sub != "data"}
            if isinstance(command, click.Group)
            else {name: command}
        )
    return found


def test_every_command_has_the_option() -> None:
    lacking = [name for name, one in commands().items() if not any("--json" in param.opts for param in one.params)]
    assert set(lacking) == WITHOUT


def facts(told: Told) -> Any:
    assert told.status == 0, told.err
    return json.loads(told.out)


def test_run(linkwise: Callable[..., Told], tmp_path: Any) -> None:
    t, q, qd, qdd = swing(2, 40)
    header = "t,q1,q2,qd1,qd2,qdd1,qdd2"
    np.savetxt(tmp_path / "swing.csv", np.column_stack((t, q, qd, qdd)), delimiter=",", header=header, comments="")
    told = facts(linkwise("run", "planar_2r", "swing.csv", "--no-figures", "--json"))
    assert (told["instants"], told["start"], told["end"]) == (40, 0.0, 2.0)
    assert told["position"]["link2"]["greatest"] == pytest.approx(q[:, 1].max(), rel=1e-15)
    assert told["effort"]["link1"]["unit"] == "N m"
    assert told["outside_limits"] == {"link1": 0, "link2": 0}
    assert all((tmp_path / path).is_file() for path in told["files"])


def test_simulate(linkwise: Callable[..., Told], tmp_path: Any) -> None:
    told = facts(linkwise("simulate", "planar_2r", "--time", 0.1, "--no-figures", "--json"))
    assert (told["steps"], told["end"]) == (100, pytest.approx(0.1))
    energy = told["energy"]
    gained = energy["kinetic"][1] - energy["kinetic"][0] + energy["potential"][1] - energy["potential"][0]
    assert gained == pytest.approx(energy["drift"], abs=1e-14)  # nothing else was done to it
    assert energy["work"] is None
    assert all((tmp_path / path).is_file() for path in told["files"])


def test_show(linkwise: Callable[..., Told]) -> None:
    told = facts(linkwise("show", "puma560", "--dynamics", "--no-picture", "--json"))
    assert [link["name"] for link in told["description"]["link"]] == [f"link{k}" for k in range(1, 7)]
    M = np.array(told["dynamics"]["mass_matrix"])
    assert M.shape == (6, 6)
    np.testing.assert_array_equal(M, M.T)
    assert told["picture"] is None


def test_convert(linkwise: Callable[..., Told], tmp_path: Any) -> None:
    assert facts(linkwise("convert", "planar_2r", "arm.toml", "--json")) == {"file": "arm.toml", "lost": []}
    lost = facts(linkwise("convert", "puma560", "puma.urdf", "--allow-loss", "--json"))["lost"]
    assert lost
    assert all(isinstance(line, str) for line in lost)


def test_bench_derive_and_export(linkwise: Callable[..., Told], tmp_path: Any) -> None:
    told = facts(linkwise("bench", "planar_2r", "--configurations", 10, "--algorithm", "jacobian", "--json"))
    assert [row["name"] for row in told["functions"]] == ["jacobian"]
    assert told["functions"][0]["single"] > 0
    told = facts(linkwise("derive", "planar_2r", "g", "--json"))
    assert told[0]["quantity"] == "gravity_torque"
    told = facts(linkwise("export", "planar_2r", "fk", "--json"))
    assert all((tmp_path / path).is_file() for path in told["files"])
    assert told["operations"]["forward_kinematics"]["sin"] == 2


def test_what_json_cannot_say_is_null() -> None:
    given = {"a": np.array([1.5, np.nan]), "b": (np.float32(0.5), -np.inf, True, None), 3: "x"}
    assert jsonable(given) == {"a": [1.5, None], "b": [0.5, None, True, None], "3": "x"}
