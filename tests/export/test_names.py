"""Names of people become valid identifiers, each once."""

import keyword
import re
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkwise.errors import ArgumentError
from linkwise.export.ports import WORDS, Identifiers, spelt

HOSTILE = [
    "lambda",
    "I",
    "y0",
    "j1",
    "gamma",
    "double",
    "int",
    "class",
    "fn",
    "self",
    "None",
    "NAN",
    "threadIdx",
    "sinf",
    "for",
]


@pytest.mark.parametrize("language", sorted(WORDS))
def test_no_name_is_a_word_of_the_language(language: str) -> None:
    names = Identifiers(language)
    made = [names.new(text) for text in (*HOSTILE, *HOSTILE, *sorted(WORDS[language]))]
    assert len(set(made)) == len(made)
    assert not set(made) & WORDS[language]
    assert all(re.fullmatch("[A-Za-z][A-Za-z0-9_]*", name) for name in made)


def test_words_of_python_are_those_of_the_interpreter() -> None:
    assert set(keyword.kwlist) <= WORDS["python"]
    assert {"abs", "sum", "print", "np"} <= WORDS["python"]


def test_math_functions_are_reserved_in_c_with_their_suffixes() -> None:
    assert {"sin", "sinf", "sinl", "y0", "j1", "gamma", "isinf", "NAN", "I", "unix", "this"} <= WORDS["c"] < WORDS["cuda"]


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(st.text(max_size=8), min_size=1, max_size=6))
def test_any_text_gives_a_name(texts: list[str]) -> None:
    names = Identifiers("c", taken=("q",))
    made = [names.new(text) for text in texts]
    assert len({*made, "q"}) == len(made) + 1
    for name in made:
        assert re.fullmatch("[A-Za-z](_?[A-Za-z0-9]+)*", name), name


def test_greek_letters_are_spelt() -> None:
    assert [spelt(text) for text in ("α", "Θ", "λ2", "φ_dot", "ς", "µ", "q̇1")] == [
        "alpha", "Theta", "lambda2", "phi_dot", "sigma", "mu", "q_dot1",
    ]  # fmt: skip
    for code in range(0x3B1, 0x3CA):
        assert spelt(chr(code)) in unicodedata.name(chr(code)).lower().replace("lamda", "lambda")


def test_scopes_hide_nothing() -> None:
    outer = Identifiers("c")
    outer.new("f")
    inner = outer.inner()
    assert inner.new("f") == "f_2"
    assert outer.new("g") == inner.new("g") == "g"


def test_an_unknown_language_is_refused() -> None:
    with pytest.raises(ArgumentError, match="language is 'basic'; expected 'c', "):
        Identifiers("basic")
