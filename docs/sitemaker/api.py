"""The pages of the reference: one for each public module, with its functions, and one for each class."""

from __future__ import annotations

import importlib
import inspect
import re
import textwrap
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from sitemaker.docstrings import Docstring, as_rst, inline, parsed
from sitemaker.public import RETURNED, Entry, aliases, docstring, entries, existing, members
from sitemaker.sources import plain, source

MANY = 24
"""A module with more functions than these is shown in groups, one for each file of it."""


def pages() -> dict[str, str]:
    """Every page of the reference, by its path on the site."""
    modules = [*existing(), *(f"linkwise.{name}" for name in RETURNED)]
    made = {"api/index.rst": front(modules)}
    for module in modules:
        here = [entry for entry in entries().values() if entry.module == module]
        made[f"api/{short(module)}.rst"] = module_page(module, here)
        made.update({f"{entry.page}.rst": class_page(entry) for entry in here if entry.kind == "class"})
    return made


def short(module: str) -> str:
    """The name of a module's page."""
    return module.removeprefix("linkwise.")


def heading(text: str, line: str = "=") -> str:
    """A heading."""
    return f"{text}\n{line * len(text)}\n"


def linker(module: str, owner: str = "") -> Callable[[str], str | None]:
    """What a name in the text of a module, or of a class in it, leads to."""
    known = entries()

    def link(text: str) -> str | None:
        name = re.sub(r"\(.*\)$", "", text.strip(), flags=re.DOTALL)
        if not re.fullmatch(r"[A-Za-z_][\w.]*", name):
            return None
        name = re.sub(r"^lw\.", "linkwise.", name)
        for tried in (f"{owner}.{name}", f"{module}.{name}", name, f"linkwise.{name}"):
            full = aliases().get(tried, tried)
            head, _, last = full.rpartition(".")
            head = aliases().get(head, head)
            if full in known and full != owner:
                return full
            if head in known and known[head].kind == "class" and last in members(known[head].value):
                return f"{head}.{last}"
        same = [full for full in known if full.endswith(f".{name}")]
        return same[0] if len(same) == 1 and name[:1].isupper() else None

    return link


def front(modules: Iterable[str]) -> str:
    """The list of modules."""
    lines = [
        heading("Every public name"),
        "Each with its parameters, what it returns and raises, an example that the tests run, and its source.",
        "",
    ]
    lines += [".. list-table::", "   :class: names", ""]
    for module in modules:
        said = parsed(docstring(importlib.import_module(module))).summary
        lines += [f"   * - :doc:`{module} <{short(module)}>`", f"     - {inline(said, linker(module))}"]
    lines += ["", "A line for each name is on :doc:`one page </reference>`.", ""]
    return "\n".join([*lines, toctree(f"{short(module)} <{short(module)}>" for module in modules)])


def toctree(names: Iterable[str]) -> str:
    """A list of pages for the sidebar."""
    return "\n".join([".. toctree::", "   :hidden:", "", *(f"   {name}" for name in names), ""])


def module_page(module: str, here: list[Entry]) -> str:
    """What a module is for, its names in a table, and its functions, constants and errors in full."""
    link = linker(module)
    told = parsed(docstring(importlib.import_module(module)))
    lines = [heading(module), f".. py:module:: {module}", "", as_rst(Docstring(told.told), link), ""]
    lines += [names_table(here, module)]
    lines += [toctree(Path(entry.page).name for entry in here if entry.kind == "class")]
    inner = [entry for entry in here if entry.kind != "class"]
    groups = grouped(inner)
    for title, group in groups.items():
        if title:
            lines += [heading(title, "-")]
        lines += [described(entry.value, entry.name, entry.kind, entry.doc, link) for entry in group]
    return "\n".join(lines) + "\n"


def names_table(here: list[Entry], module: str) -> str:
    """All names of a module and what each is; those that are described under another name too."""
    link = linker(module)
    rows = [(entry.name, entry.full, parsed(entry.doc).summary) for entry in here]
    for other, full in aliases().items():
        if other.rpartition(".")[0] == module:
            rows.append((other.rpartition(".")[2], full, parsed(entries()[full].doc).summary))
    if not rows:
        return ""
    lines = [".. list-table::", "   :class: names", ""]
    for name, full, said in sorted(rows, key=lambda row: (row[0].lower(), row[0])):
        lines += [f"   * - :py:obj:`{name} <{full}>`", f"     - {inline(said, link) or '..'}"]
    return "\n".join([*lines, ""])


def grouped(here: list[Entry]) -> dict[str, list[Entry]]:
    """Functions by the file they stand in, where there are many; else all under no heading, in the order of the module."""
    if len(here) <= MANY:
        return {"": here}
    found: dict[str, list[Entry]] = {}
    for entry in here:
        file = str(getattr(inspect.unwrap(entry.value), "__module__", "")) if entry.kind != "data" else "constants"
        words = file.rpartition(".")[2].replace("_", " ").strip()
        found.setdefault(words[:1].upper() + words[1:], []).append(entry)
    return dict(sorted(found.items()))


def class_page(entry: Entry) -> str:
    """A class, and below it its methods and properties under the headings that divide its source."""
    link = linker(entry.module, entry.full)
    lines = [heading(entry.name), f".. py:currentmodule:: {entry.module}", ""]
    lines += [described(entry.value, entry.name, "class", entry.doc, link)]
    found = {name: member for name, member in members(entry.value).items() if docstring(plain(member))}
    listed = [(name, parsed(docstring(plain(member))).summary) for name, member in found.items()]
    if len(listed) > 3:
        lines += [".. list-table::", "   :class: names", ""]
        for name, said in listed:
            lines += [f"   * - :py:obj:`{name} <{entry.full}.{name}>`", f"     - {inline(said, link)}"]
        lines += [""]
    for title, group in divided(entry.value, found).items():
        if title:
            lines += [heading(title, "-")]
        for name, member in group:
            kind = "property" if property_like(member) else "method"
            lines += [described(member, f"{entry.name}.{name}", kind, docstring(plain(member)), link)]
    return "\n".join(lines) + "\n"


def divided(kind: type, found: dict[str, Any]) -> dict[str, list[tuple[str, Any]]]:
    """The members of a class by the lines ``# ── title ──`` in its source; those of other classes under its first part."""
    try:
        lines, start = inspect.getsourcelines(kind)
    except (OSError, TypeError):
        lines, start = [], 0
    titles = [(start + k, match[1]) for k, line in enumerate(lines) if (match := re.search(r"# ── (.+?) ─+", line))]
    made: dict[str, list[tuple[str, Any]]] = {"": []} | {title.capitalize(): [] for _, title in titles}
    for name, member in found.items():
        said = re.compile(rf"\s+(def {name}\(|.*\b{name} = )")  # (a function of a package may be a method by its name alone)
        place = next((start + k for k, line in enumerate(lines) if said.match(line)), 0) if name in vars(kind) else 0
        above = [title for line, title in titles if line < place]
        made[above[-1].capitalize() if above else ""].append((name, member))
    return {title: group for title, group in made.items() if group}


def property_like(member: Any) -> bool:
    """Whether a member is read without being called."""
    return isinstance(member, property) or type(member).__name__ == "cached_property"


def described(value: Any, name: str, kind: str, doc: str, link: Callable[[str], str | None]) -> str:
    """One entry: its signature, its text, its source."""
    directive = {"error": "exception", "property": "property", "method": "method", "class": "class", "data": "data"}.get(
        kind, "function"
    )
    told = completed(parsed(doc), value, kind)
    if kind == "method" and ">>>" not in doc and (borrowed := example_of(name.rpartition(".")[2], name)):
        told.sections["Examples"] = borrowed
    call = signature(value, kind) if kind not in {"data", "property", "error"} else ""
    option = (
        ["   :classmethod:"]
        if isinstance(value, classmethod)
        else ["   :staticmethod:"]
        if isinstance(value, staticmethod)
        else []
    )
    lines = [f".. py:{directive}:: {name}{call}", *option, ""]
    if kind == "data":
        shown = repr(value)
        told.sections["Value"] = f"``{shown if len(shown) < 300 else shown[:297] + '...'}``".replace("\n", " ")
    body = as_rst(told, link, source=source(value) if kind != "data" else "")
    return "\n".join([*lines, textwrap.indent(body, "   "), ""])


def example_of(name: str, full: str) -> str:
    """The example of the algorithm or the function that a method of `Mechanism` hands on to: it shows the method in use."""
    if not full.startswith("Mechanism."):
        return ""
    for module in ("kinematics", "dynamics", "solve"):
        entry = entries().get(f"linkwise.{module}.{name}")
        if entry is not None:
            return parsed(entry.doc).sections.get("Examples", "")
    return ""


def signature(value: Any, kind: str) -> str:
    """Parameters without their types, which the text below tells."""
    try:
        found = inspect.signature(plain(value) if kind != "class" else value)
    except (TypeError, ValueError):
        return "()"
    kept = []
    for parameter in found.parameters.values():
        if parameter.name in {"self", "cls"}:
            continue
        default, text = parameter.default, repr(parameter.default)
        if default is not parameter.empty and (len(text) > 40 or " at 0x" in text or "\n" in text):
            default = _Shown("...")
        kept.append(parameter.replace(annotation=parameter.empty, default=default))
    return str(found.replace(parameters=kept, return_annotation=found.empty))


class _Shown:
    """A default value that is too long to show."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def completed(told: Docstring, value: Any, kind: str) -> Docstring:
    """The parameters and the result from the annotations, where the text has no list of them."""
    if kind not in {"function", "method"}:
        return told
    try:
        found = inspect.signature(inspect.unwrap(plain(value)))
    except (TypeError, ValueError):
        return told
    made: dict[str, str] = {}
    given = [p for p in found.parameters.values() if p.name not in {"self", "cls"}]
    if "Parameters" not in told.sections and given:
        stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
        made["Parameters"] = "\n".join(f"{stars.get(p.kind, '')}{p.name} : {annotation(p.annotation)}" for p in given)
    back = annotation(found.return_annotation)
    returned = {"Returns": back} if "Returns" not in told.sections and back not in {"", "None"} else {}
    first = {"Parameters": told.sections["Parameters"]} if "Parameters" in told.sections else made
    rest = {name: text for name, text in told.sections.items() if name != "Parameters"}
    return Docstring(told.told, {**first, **returned, **rest})


def annotation(written: Any) -> str:
    """A type as it is written in the code, in the words of the documentation."""
    if written is inspect.Parameter.empty:
        return ""
    text = written if isinstance(written, str) else getattr(written, "__name__", str(written))
    text = re.sub(r"\b(npt|np|typing|collections\.abc)\.", "", text)
    for code, word in (
        ("ArrayLike", "array_like"),
        ("FloatArray", "ndarray"),
        ("NDArray[Any]", "ndarray"),
        (" | None", ", optional"),
    ):
        text = text.replace(code, word)
    return text.replace(" | ", " or ")
