"""The pure parts of the documentation site: what it says of each public name, where links lead, what the check finds."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

import linkwise as lw

from .conftest import ROOT

sys.path.insert(0, str(ROOT / "docs"))

from sitemaker import api, checking, docstrings, examples, gather, naming, navigation, public

GOOD = {
    "index.html": '<html><head><link rel="stylesheet" href="_static/a.css"><link rel="canonical" href="https://x.org/"></head>'
    '<body><h1 id="top">A</h1><a href="sub/page.html#part">b</a> <a href="#top">c</a> <a href="https://x.org">d</a>'
    '<img src="data:image/png;base64,AA=="></body></html>',
    "sub/page.html": '<html><body><p id="part"></p><a href="../index.html">up</a><a href="..">up</a></body></html>',
    "search.html": '<html><script src="_static/searchtools.js"></script><script src="searchindex.js"></script></html>',
    "searchindex.js": 'Search.setIndex({"docnames":["index","sub/page"]})',
    "_static/a.css": "/* url(https://x.org/never.png) */ body { background: url(a.png) }",
    "_static/a.png": "",
    "_static/searchtools.js": 'const ns = "http://www.w3.org/2000/svg"; fetch("x.html")',
}
"""A small site without a fault."""

FAULTS = [
    ("index.html", '<a href="sub/page.html#part">', '<a href="sub/pag.html">', "sub/pag.html leads nowhere"),
    ("index.html", "#part", "#parts", "there is no anchor #parts"),
    ("index.html", '"#top"', '"#bottom"', "there is no anchor #bottom"),
    ("index.html", '"_static/a.css"', '"_static/b.css"', "_static/b.css leads nowhere"),
    ("index.html", '"_static/a.css"', '"https://cdn.org/a.css"', "fetches https://cdn.org/a.css from another host"),
    ("index.html", '"data:image/png;base64,AA=="', '"//cdn.org/a.png"', "fetches //cdn.org/a.png from another host"),
    ("index.html", "</body>", '<img srcset="b.png 2x"></body>', "b.png leads nowhere"),
    ("index.html", "</body>", '<script>import("https://cdn.org/m.js")</script></body>', "fetches https://cdn.org/m.js"),
    ("index.html", "</body>", "<style>@import 'https://cdn.org/f.css'</style></body>", "fetches https://cdn.org/f.css"),
    ("index.html", "</body>", '<p style="background: url(no.png)"></body>', "no.png leads nowhere"),
    ("sub/page.html", '"../index.html"', '"/index.html"', "begins at the root of the host"),
    ("sub/page.html", '"../index.html"', '"../../secret.html"', "../../secret.html leads nowhere"),
    ("_static/a.css", "url(a.png)", "url(https://fonts.org/a.woff)", "fetches https://fonts.org/a.woff"),
    ("_static/searchtools.js", "x.html", "https://cdn.org/x.js", "fetches https://cdn.org/x.js"),
    ("searchindex.js", "sub/page", "sub/other", "no page sub/other.html"),
    ("searchindex.js", "Search.setIndex", "nothing", "searchindex.js is no index"),
    ("search.html", "searchindex.js", "_static/searchtools.js", "search.html does not load searchindex.js"),
]


def site(folder: Path) -> Path:
    """The small site, written."""
    (folder / "secret.html").write_text("outside", encoding="utf-8")
    for name, text in GOOD.items():
        path = folder / "site" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder / "site"


def test_check_finds_nothing_in_a_good_site(tmp_path: Path) -> None:
    assert checking.problems(site(tmp_path)) == []


@pytest.mark.parametrize(("name", "old", "new", "said"), FAULTS)
def test_check_finds_each_fault(tmp_path: Path, name: str, old: str, new: str, said: str) -> None:
    folder = site(tmp_path)
    text = GOOD[name]
    assert old in text
    (folder / name).write_text(text.replace(old, new), encoding="utf-8")
    found = checking.problems(folder)
    assert len(found) == 1, found
    assert said in found[0]


def test_check_of_nothing_fails(tmp_path: Path) -> None:
    assert checking.problems(tmp_path)


# ── every public name has a page, and an example ──────────────────────────────────────────────────


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    """The pages of the reference, without the sources."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(api, "source", lambda thing: "")
        return api.pages()


def described(pages: dict[str, str]) -> set[str]:
    """The full names that have an entry, as Sphinx makes them of module and directive."""
    found = set()
    for text in pages.values():
        module = re.search(r"^\.\. py:(?:current)?module:: (\S+)", text, re.MULTILINE)
        for name in re.findall(r"^\.\. py:(?:function|class|method|property|data|exception):: ([\w.]+)", text, re.MULTILINE):
            assert module is not None
            found.add(f"{module[1]}.{name}")
    return found


def test_every_promised_name_is_there() -> None:
    public.entries()
    assert public.MISSING == {}


def test_every_public_name_has_an_entry(pages: dict[str, str]) -> None:
    found = described(pages)
    wanted = {f"linkwise.{name}" for name in lw.__all__} | set(public.entries())
    here = {public.aliases().get(name, name) for name in wanted} - set(public.existing())
    assert here - found == set()
    for name in (name for name in lw.__all__ if f"linkwise.{name}" in public.existing()):
        assert f"api/{name}.rst" in pages


def test_every_public_module_is_known() -> None:
    modules = {name for name in lw.__all__ if type(getattr(lw, name)).__name__ == "module"}
    assert modules <= set(naming.MODULES)


def test_every_member_of_a_class_has_an_entry(pages: dict[str, str]) -> None:
    found = described(pages)
    for entry in public.entries().values():
        if entry.kind == "class":
            told = {name for name, member in public.members(entry.value).items() if public.docstring(api.plain(member))}
            assert {f"{entry.full}.{name}" for name in told} <= found


def test_every_public_name_has_an_example() -> None:
    """Constants show their value instead."""
    lacking = [name for name, entry in public.entries().items() if not entry.has_example and entry.kind != "data"]
    assert lacking == []


def test_every_public_name_says_what_it_is() -> None:
    silent = [name for name, entry in public.entries().items() if not docstrings.parsed(entry.doc).summary]
    assert silent == []


def test_every_example_is_a_page() -> None:
    made = examples.pages()
    names = {path.stem for path in (ROOT / "examples").glob("[0-9]*.py")}
    assert {Path(name).stem for name in made} == names | {"index"}
    for name in names:
        assert f"({name}.md)" in made["examples/index.md"]


# ── names and docstrings ──────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("written", "full"),
    [
        ("lw.load", "linkwise.load"),
        ("lw.load(path)", "linkwise.load"),
        ("linkwise.solve.Pose", "linkwise.solve.Pose"),
        ("Mechanism.jacobian(q, link=-1)", "linkwise.Mechanism.jacobian"),
        ("robots.puma560()", "linkwise.robots.puma560"),
        ("linkwise", "linkwise"),
        ("load", ""),
        ("arm.jacobian(q)", ""),
    ],
)
def test_names_in_prose(written: str, full: str) -> None:
    assert naming.canonical(written) == full


def test_names_in_docstrings_lead_to_their_entries() -> None:
    link = api.linker("linkwise.solve", "linkwise.loops.Linkage")
    assert link("trace") == "linkwise.loops.Linkage.trace"
    assert link("Pose") == "linkwise.Pose"
    assert link("lw.Mechanism.jacobian(q)") == "linkwise.Mechanism.jacobian"
    assert link("linkwise.solve.Pose") == "linkwise.Pose"
    assert link("nothing_of_that_name") is None
    assert link("2 x 3") is None


def test_docstring_in_sections() -> None:
    told = docstrings.parsed(
        "What it\nis.\n\nMore.\n\nParameters\n----------\nq : (n,) array_like\n    Where.\n\nRaises\n------\nE\n    Why."
    )
    assert told.summary == "What it is."
    assert told.sections == {"Parameters": "q : (n,) array_like\n    Where.", "Raises": "E\n    Why."}


def test_prose_keeps_what_markup_would_take() -> None:
    def link(name: str) -> str | None:
        return "linkwise.load" if name == "load" else None

    text = docstrings.prose(
        "a*b and |x| and x_ and `load` and ``q*2``, *A Book*\n\n    F = m a\n\n- one\n  more\n- two", link
    )
    assert r"a\*b and \|x\| and x\_ and" in text
    assert ":py:obj:`load <linkwise.load>`" in text
    assert "``q*2``" in text
    assert "*A Book*" in text
    assert ".. code-block:: none\n\n   F = m a" in text
    assert "- one more\n- two" in text


def test_example_of_a_method_is_that_of_its_algorithm(pages: dict[str, str]) -> None:
    entry = pages["api/Mechanism.rst"].partition(".. py:method:: Mechanism.jacobian_dot(")[2].partition(".. py:method::")[0]
    assert ">>> arm.jacobian_dot(" in entry


# ── pages and links ───────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("link", "page", "written", "needed"),
    [
        ("solving.md", "docs/tutorial.md", "solving.md", None),
        ("../CHANGELOG.md", "docs/index.md", "changelog.md", None),
        ("../examples", "docs/index.md", "examples/index.md", None),
        ("../../examples/01_first_arm.py", "docs/how-to/x.md", "../examples/01_first_arm.md", None),
        ("../tutorial.md", "docs/how-to/x.md", "../tutorial.md", None),
        ("docs/architecture.md", "CONTRIBUTING.md", "architecture.md", None),
        ("../benchmarks/loops.py", "docs/loops.md", "files/benchmarks/loops.py", "benchmarks/loops.py"),
        ("https://x.org/a.md", "docs/loops.md", "https://x.org/a.md", None),
    ],
)
def test_links_as_the_site_has_them(link: str, page: str, written: str, needed: str | None) -> None:
    assert gather.target(link, PurePosixPath(page)) == (written, needed)


def test_links_in_code_stay() -> None:
    text = "[a](../CHANGELOG.md#x)\n\n```python\nf[0](../CHANGELOG.md)\n```\n"
    made, needed = gather.rewritten(text, PurePosixPath("docs/index.md"))
    assert made == "[a](changelog.md#x)\n\n```python\nf[0](../CHANGELOG.md)\n```\n"
    assert not needed


def test_no_page_is_left_out_of_the_navigation() -> None:
    pages = {"index", "tutorial", "how-to/b", "how-to/a", "something-new", "api/index", "api/linkwise", "examples/01_x"}
    groups = navigation.grouped(pages)
    assert groups["How to"] == ["how-to/a", "how-to/b"]
    assert groups["More"] == ["something-new"]
    listed = [name for names in groups.values() for name in names]
    assert sorted(listed) == sorted(pages - {"index", "api/linkwise", "examples/01_x"})


def test_every_page_of_the_checkout_has_a_group() -> None:
    found = {path.relative_to(ROOT / "docs").with_suffix("").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert "More" not in navigation.grouped(found)


def test_front_page_leads_to_every_group() -> None:
    text = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    doors = re.findall(r"^- \[\*\*[^*]+\*\*\]\(([^)]+)\)", text, re.MULTILINE)
    assert len(doors) == 6
    assert all((ROOT / "docs" / door).exists() for door in doors)


def test_formulas_are_drawn_without_a_script() -> None:
    pytest.importorskip("latex2mathml")
    from sitemaker import formulas

    made = formulas.mathml(r"\frac{1}{2}", "block")
    assert made.startswith("<math")
    assert "<mfrac>" in made


def test_gathering_writes_only_what_changed_and_removes_what_is_left(tmp_path: Path) -> None:
    first = gather.Gathering(tmp_path)
    first.write("a.md", "one")
    first.write("sub/b.md", "two")
    first.finish()
    before = (tmp_path / "a.md").stat().st_mtime_ns
    again = gather.Gathering(tmp_path)
    again.write("a.md", "one")
    again.finish()
    assert (tmp_path / "a.md").stat().st_mtime_ns == before
    assert not (tmp_path / "sub" / "b.md").exists()


@pytest.fixture
def maker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The script that makes the site, with Sphinx, the pages and the browser taken out."""
    spec = importlib.util.spec_from_file_location("make_site", ROOT / "docs" / "make_site.py")
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    for name in ("SOURCE", "MADE", "SITE", "STAMP"):
        monkeypatch.setattr(made, name, tmp_path / name)
    for name, value in (("gather", lambda folder: None), ("problems", lambda site: []), ("MISSING", {})):
        monkeypatch.setattr(made, name, value)
    monkeypatch.setattr(made.browsing, "find_browser", lambda: None)
    monkeypatch.setattr(sys, "argv", ["make_site.py"])
    return made


def test_after_a_warning_the_site_is_made_anew(maker: Any, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    """Sphinx warns of a page when it reads it, and would not read it again."""
    ended = [1, 0, 0]
    monkeypatch.setattr(
        subprocess, "run", lambda *words, **options: subprocess.CompletedProcess(words, ended.pop(0), "", "odd")
    )
    left = maker.MADE / "left.txt"
    left.parent.mkdir()
    left.write_text("of the time before", encoding="utf-8")
    with pytest.raises(SystemExit, match="warnings"):
        maker.main()
    left.parent.mkdir(exist_ok=True)
    left.write_text("of the build that warned", encoding="utf-8")
    maker.main()
    assert "not opened" in capsys.readouterr().out
    assert not left.exists()
    left.write_text("of the good build", encoding="utf-8")
    maker.main()
    assert left.exists()


def test_notebooks_run_again_where_the_library_has_changed(
    maker: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maker, "ROOT", tmp_path)
    (tmp_path / "src").mkdir()
    for text, kept in (("a = 1", False), ("a = 1", True), ("a = 2", False)):
        (tmp_path / "src" / "a.py").write_text(text, encoding="utf-8")
        (maker.SOURCE / "notebooks").mkdir(parents=True, exist_ok=True)
        maker.run_notebooks_if_changed()
        assert (maker.SOURCE / "notebooks").exists() == kept
