import json
from collections.abc import Callable
from pathlib import Path

import pytest


def test_text(linkwise: Callable) -> None:
    told = linkwise("derive", "planar_2r", "id", "--form", "recursive")
    assert told.status == 0
    assert told.out.startswith("Inverse dynamics of planar_2r, recursive: ")
    assert "c2 = cos(q2)" in told.out
    assert told.err.startswith("inverse_dynamics, recursive: ")


def test_symbols(linkwise: Callable) -> None:
    told = linkwise("derive", "planar_2r", "g", "--form", "recursive", "--symbols", "inertial, gravity")
    assert "MX2" in told.out
    assert "acceleration of gravity" in told.out


def test_the_suffix_says_how(linkwise: Callable, tmp_path: Path) -> None:
    for suffix, begin in (
        (".tex", "% Jacobian"),
        (".md", "## Jacobian"),
        (".py", "# Jacobian"),
        (".json", "["),
        (".txt", "Jacobian"),
    ):
        told = linkwise("derive", "planar_2r", "J", "--form", "recursive", "--frame", "body", "-o", f"made{suffix}")
        assert told.status == 0, told.err
        assert (tmp_path / f"made{suffix}").read_text().startswith(begin)
    (data,) = json.loads((tmp_path / "made.json").read_text())
    assert data["quantity"] == "jacobian"
    assert data["outputs"] == {"J": [6, 2]}


def test_a_document(linkwise: Callable) -> None:
    told = linkwise("derive", "planar_2r", "fk", "J", "--form", "recursive", "--as", "latex", "--document")
    assert told.out.count(r"\begin{document}") == told.out.count(r"\end{document}") == 1
    assert told.out.count(r"\section*") == 2


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["planar_2r", "mass"], "no algorithm 'mass'"),
        (["planar_2r", "M,C,g"], "'M,C,g': separate with spaces: M C g"),
        (["planar_2r", "M", "C", "--link", "link1"], "--link is for fk, J and others of a frame, not for M C"),
        (["planar_2r", "fk", "--frame", "body"], "--frame is for J and others with axes, not for fk"),
        (["planar_2r", "-o", "a.pdf"], "the file ends in '.pdf'"),
        (["planar_2r", "--document"], "--document is for LaTeX"),
        (["planar_2r", "M", "--form", "recursive", "--significance", "0.1"], "no small terms to drop"),
        (["planar_9r"], "no bundled robot"),
    ],
)
def test_errors(linkwise: Callable, args: list[str], said: str) -> None:
    told = linkwise("derive", *args)
    assert told.status == 2
    assert said in told.err


def test_a_link_of_the_one_that_takes_it(linkwise: Callable) -> None:
    assert "Mass matrix" in linkwise("derive", "planar_2r", "M", "fk", "--link", "link1").out


def test_mass_coriolis_and_gravity_unless_said(linkwise: Callable) -> None:
    told = linkwise("derive", "planar_2r")
    assert told.out.count("planar_2r, explicit") == 3
    assert "  M12 = M21 = 0.333333 + 0.5·c2" in told.out
    assert "0.5*c2" in linkwise("derive", "planar_2r", "M", "--ascii").out


def test_base_parameters_and_abbreviation(linkwise: Callable) -> None:
    told = linkwise("derive", "planar_2r", "M", "--form", "harmonic", "--symbols", "inertial", "--base")
    assert "Base parameters" in told.out
    told = linkwise("derive", "puma560", "M", "--form", "harmonic", "--significance", "0.01", "--no-motors")
    assert "at most" in told.err
