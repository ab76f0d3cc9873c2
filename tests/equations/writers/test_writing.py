"""Listings as text, Markdown, LaTeX and SymPy: readable, within the width, set by what sets them, equal in value."""

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from linkwise import robots
from linkwise.equations.derive import derive
from linkwise.equations.document import Assignment, Call, Listing, Name, Power, Section, Sum, Term, evaluated
from linkwise.equations.writers.abbreviation import abbreviated
from linkwise.equations.writers.latex import measured, to_latex
from linkwise.equations.writers.markdown import to_markdown
from linkwise.equations.writers.names import LatexNames
from linkwise.equations.writers.sympy import to_data, to_source, to_sympy
from linkwise.equations.writers.text import to_text
from linkwise.errors import ArgumentError

HOSTILE = ("lambda", "I", "link mass", "α2", "αlpha", "a_b", "50%", "a\\b", "x^2", "質量", "class", "q_1", "{", "$", "#&~")


def name(text: str, exponent: int = 1) -> Power:
    return Power(Name(text), exponent)


def product(*factors: Power, number: float = 1.0) -> Sum:
    return Sum((Term(number, factors),))


def listing(*lines: Assignment, **outputs: tuple[int, ...]) -> Listing:
    return Listing("made", (Section("", lines),), outputs)


@pytest.fixture(scope="module")
def puma() -> Listing:
    return derive(robots.puma560(), "inverse_dynamics").listing


def long_sum(count: int = 80) -> Listing:
    wave = Power(Call("cos", (Sum((Term(1.0, (name("q1"),)), Term(-1.0, (name("q2"),)))),)))
    terms = tuple(Term((-1) ** k * (k + 0.5), (wave, name(f"m{k}"))) for k in range(count))
    return listing(Assignment("y", (), Sum(terms)), y=())


def test_text_keeps_the_width(puma: Listing) -> None:
    for width in (60, 100):
        assert max(map(len, to_text(puma, width=width).splitlines())) <= width + 12  # a product in brackets is not broken
        assert max(map(len, to_text(long_sum(), width=width).splitlines())) <= width


def test_text_has_every_element_that_is_not_zero() -> None:
    made = listing(
        Assignment("M", (0, 0), product(name("a", 2), number=-0.5)),
        Assignment("M", (0, 1), product(name("b"), name("c", -2))),
        Assignment("M", (1, 0), product(name("M12"))),
        Assignment("M", (1, 1), Sum()),
        M=(2, 2),
    )
    assert to_text(made).splitlines()[2:] == [
        "  M11       = -0.5·a²",
        "  M12 = M21 = b/c²",
        "",
        "Elements of M that are not listed are 0.",
    ]
    assert "-0.5*a**2" in to_text(made, plain=True)
    assert r"M_{12} = M_{21} &= \frac{b}{c^{2}}" in to_latex(made)
    _, results = to_sympy(made)
    assert str(results["M"]) == "Matrix([[-a**2/2, b/c**2], [b/c**2, 0]])"


def test_rounding_is_told() -> None:
    made = listing(Assignment("y", (), product(name("a"), number=0.123456789)), y=())
    assert "Numbers are rounded to 3 digits." in to_text(made, digits=3)
    assert "rounded" not in to_text(made, digits=9)
    assert "0.123456789" in to_text(made, digits=17)
    for digits in (0, 18, True, 2.0):
        with pytest.raises(ArgumentError, match="digits is"):
            to_text(made, digits=digits)


def test_abbreviations_are_explained_once() -> None:
    made = long_sum()
    short = abbreviated(made)
    assert [line.name for line in short.sections[0].assignments] == ["c1m2"]
    assert to_text(made).count("cos(q1 - q2)") == 1
    assert to_text(made, abbreviate=False).count("cos(q1 - q2)") == 80
    rng = np.random.default_rng(2)
    given = {key: rng.uniform(-1, 1) for key in ["q1", "q2", *(f"m{k}" for k in range(80))]}
    assert evaluated(short, given)["y"] == pytest.approx(evaluated(made, given)["y"], rel=1e-14)


def test_source_gives_the_values() -> None:
    """The source is run as a reader would run it, and its matrix evaluated at one point."""
    import sympy

    made = derive(robots.planar_3r(), "inverse_dynamics").listing
    space: dict[str, object] = {}
    exec(to_source(made), space)  # the source is ours, and it is what is to be shown to run
    assignments, results = to_sympy(made)
    given = {key: 0.3 + 0.1 * k for k, key in enumerate(sorted(to_data(made)["names"]))}
    wanted = evaluated(made, given)["tau"]
    at = {sympy.Symbol(key, real=True): value for key, value in given.items()}
    for symbol, value in assignments:
        at[symbol] = float(value.xreplace(at))
    found = [float(value.xreplace(at)) for value in results["tau"]]
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    np.testing.assert_allclose([float(value.xreplace(at)) for value in space["tau"]], wanted, rtol=1e-12)


def test_names_never_look_alike_in_latex() -> None:
    names = LatexNames()
    given = [*HOSTILE, "alpha2", "α2", "alphalpha", "q1", "qd1", "q_1", "c12", "c1_2", "c1m2", "XX2", "w2x", "base_vx_dot"]
    made = {text: names(text) for text in given}
    assert len(set(made.values())) == len(made)
    assert made["qd1"] == r"\dot{q}_{1}"
    assert made["c1m2"] == "c_{1-2}"
    assert made["w2x"] == r"\omega_{2x}"


@pytest.mark.parametrize("form", ["text", "markdown", "latex", "source", "data"])
def test_hostile_names_stay_apart(form: str) -> None:
    value = Sum(tuple(Term(float(k + 1), (name(text),)) for k, text in enumerate(HOSTILE)))
    made = listing(Assignment("y", (), value), y=())
    if form == "source":
        space: dict[str, object] = {}
        exec(to_source(made), space)  # as above
        assert {str(symbol) for symbol in space["y"].free_symbols} == set(HOSTILE)
    elif form == "data":
        assert set(to_data(made)["names"].values()) == set(HOSTILE)
        assert all(key.isidentifier() for key in to_data(made)["names"])
    else:
        text = {"text": to_text, "markdown": to_markdown, "latex": to_latex}[form](made)
        assert text.count("{") == text.count("}") or form != "latex" or r"\{" in text
        assert all(f"{k + 1}" in text for k in range(1, len(HOSTILE)))


def formulas(text: str) -> list[str]:
    """Each cell of each row of a Markdown text's formulas."""
    found = []
    for block in re.findall(r"\$\$\n\\begin\{aligned\}\n(.*?)\n\\end\{aligned\}\n\$\$", text, re.DOTALL):
        found += [row.strip() for row in block.split(r"\\")]
    return found


def test_markdown_is_set_by_another_typesetter(puma: Listing) -> None:
    """Matplotlib's typesetter takes every formula, which has no fractions of its own size and no alignment."""
    mathtext = pytest.importorskip("matplotlib.mathtext")
    parser = mathtext.MathTextParser("path")
    rows = formulas(to_markdown(puma))
    assert len(rows) > 50
    for row in rows[::7]:
        plain = row.replace(r"\tfrac", r"\frac").replace(r"\quad", r"\;").replace("&", " ")
        plain = plain.replace(r"\lvert", "|").replace(r"\rvert", "|")
        parser.parse(f"${plain}$")


def test_markdown_headings_and_code(puma: Listing) -> None:
    text = to_markdown(puma, math=False)
    assert text.count("```") % 2 == 0
    assert "### Outward: joint 3" in text
    assert "$$" not in text


def test_latex_lines_fit(puma: Listing) -> None:
    for made in (puma, long_sum()):
        rows = [line for line in to_latex(made).splitlines() if "&" in line]
        assert all(measured(row) < 100 for row in rows)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no LaTeX here")
def test_latex_compiles(puma: Listing, tmp_path: Path) -> None:
    value = Sum(tuple(Term(float(k + 1), (name(text),)) for k, text in enumerate(HOSTILE)))
    odd = Sum(
        (
            Term(1e-5, (Power(Call("select", (product(name("I")), product(name("a")), product(name("b", -1))))),)),
            Term(0.5, ()),
        )
    )
    parts = [puma, long_sum(), listing(Assignment("y", (0,), value), Assignment("y", (1,), odd), y=(2,))]
    from linkwise.equations.writers.latex import latex_document

    (tmp_path / "made.tex").write_text(latex_document(parts), encoding="utf-8")
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "made.tex"],
        cwd=tmp_path, capture_output=True, check=False, timeout=120,
    )  # fmt: skip
    log = done.stdout.decode("latin-1")
    assert done.returncode == 0, log[-2000:]
    assert "Overfull" not in log


def test_only_the_meaning_of_an_abbreviation_is_left_as_it_is() -> None:
    wave = Power(Call("cos", (product(name("q1")),)))
    made = listing(
        Assignment("c1", (), product(wave)),
        Assignment("g1", (), product(wave, number=2.0)),
        Assignment("y", (), product(name("c1"), name("g1"))),
        y=(),
    )
    text = to_text(made)
    assert "c1 = cos(q1)" in text
    assert text.count("cos(q1)") == 2  # the two cosines are given by different names, and each is told once
    assert evaluated(abbreviated(made), {"q1": 0.5})["y"] == pytest.approx(2 * np.cos(0.5) ** 2)


def test_elements_that_are_left_out_are_told() -> None:
    assert "Elements of y that are not listed are 0." in to_text(listing(Assignment("y", (0,), product(name("a"))), y=(2,)))
    assert "not listed" not in to_text(listing(Assignment("y", (0,), product(name("a"))), y=(1,)))
