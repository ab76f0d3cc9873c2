"""XML as a tree of elements with their lines: no document type, no entities, nothing outside the text is ever opened."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

from linkwise.errors import FileProblem, LinkwiseError

#: Elements nested deeper than this are refused; those of `CHAINED` do not count.
DEEPEST = 300

#: Tags of elements that may be nested to any depth: the bodies of MJCF.
CHAINED = frozenset({"body"})

#: Words for infinite numbers, in small letters.
INFINITE = {"inf": math.inf, "+inf": math.inf, "infinity": math.inf, "-inf": -math.inf, "-infinity": -math.inf}

_CODES = expat.errors.codes
_MISMATCH = _CODES[expat.errors.XML_ERROR_TAG_MISMATCH]
_END = _CODES[expat.errors.XML_ERROR_NO_ELEMENTS]
_CUT = _CODES[expat.errors.XML_ERROR_UNCLOSED_TOKEN]
_ENTITY = _CODES[expat.errors.XML_ERROR_UNDEFINED_ENTITY]


class XmlError(LinkwiseError, ValueError):
    """A text that is not well-formed XML, or has forbidden contents; `problem` has the line and the reason."""

    def __init__(self, problem: FileProblem) -> None:
        self.problem = problem
        super().__init__(str(problem))

    def __reduce__(self) -> tuple[type[XmlError], tuple[FileProblem]]:
        return type(self), (self.problem,)


@dataclass(slots=True, eq=False)
class Element:
    """One element of an XML text.

    Attributes
    ----------
    tag : str
        Its name as written, a namespace's prefix included.
    attributes : dict of str to str
        As written, in their order.
    line : int
        First line, counted from 1; 0 for one that was made, not read.
    children : list of Element
        In their order.
    text : str
        All text that stands in it directly.
    asked_tags, asked_attributes : set of str
        What was asked for; a reader can tell by it what it does not use.
    source : tuple of str and int, optional
        Of an element of an included file: that file, and the line in it; `line` is then where the main file includes it.
    """

    tag: str
    attributes: dict[str, str] = field(default_factory=dict)
    line: int = 0
    children: list[Element] = field(default_factory=list)
    text: str = ""
    asked_tags: set[str] = field(default_factory=set)
    asked_attributes: set[str] = field(default_factory=set)
    source: tuple[str, int] | None = None

    @property
    def place(self) -> str:
        """Location in messages: ``line 3`` of the main file, or of the included one."""
        return f"line {self.line}" if self.source is None else f"line {self.source[1]} of {self.source[0]!r}"

    def include(self, file: str, line: int) -> None:
        """Note that it and all in it come from a file which the main one includes at a line."""
        for part in self.walk():
            part.source, part.line = (file, part.line), line

    def problem(self, message: str) -> FileProblem:
        """Build a problem at this element; the message begins with the included file, if any."""
        start = "" if self.source is None else f"in {self.source[0]!r}, line {self.source[1]}: "
        return FileProblem(self.line, start + message)

    def find(self, tag: str) -> Element | None:
        """The first child with that tag, or None."""
        return next(iter(self.all(tag)), None)

    def all(self, tag: str) -> list[Element]:
        """Return every child with that tag."""
        self.asked_tags.add(tag)
        return [child for child in self.children if child.tag == tag]

    def get(self, attribute: str) -> str | None:
        """The value of an attribute as written, or None."""
        self.asked_attributes.add(attribute)
        return self.attributes.get(attribute)

    def repeats(self, other: Element) -> bool:
        """True if another element is identical in tag, attributes, text and children."""
        same = (self.tag, self.attributes, self.text.split()) == (other.tag, other.attributes, other.text.split())
        pairs = zip(self.children, other.children, strict=False)
        return same and len(self.children) == len(other.children) and all(first.repeats(second) for first, second in pairs)

    def copy(self) -> Element:
        """The element, with copies of all that is in it to any depth."""
        result = self._alone()
        left = [(self, result)]
        while left:
            element, copied = left.pop()
            copied.children = [child._alone() for child in element.children]
            left.extend(zip(element.children, copied.children, strict=True))
        return result

    def _alone(self) -> Element:
        """A copy without children."""
        tags, attributes = {*self.asked_tags}, {*self.asked_attributes}
        return replace(self, attributes=dict(self.attributes), children=[], asked_tags=tags, asked_attributes=attributes)

    def walk(self) -> Iterator[Element]:
        """The element and all that is in it, in the order of the text."""
        left = [self]
        while left:
            element = left.pop()
            yield element
            left.extend(reversed(element.children))


def replace_tag(root: Element, tag: str, contents: Callable[[Element], list[Element]]) -> None:
    """Replace each element of a tag by `contents` of it, inner ones first, in the order of the text.

    What is added to the children of an element meanwhile is seen too.

    Examples
    --------
    >>> root = read_xml("<a><b><c/><c/></b></a>")
    >>> replace_tag(root, "b", lambda element: element.children)
    >>> [child.tag for child in root.children]
    ['c', 'c']
    """
    open_elements: list[tuple[Element, Iterator[Element], list[Element]]] = [(root, iter(root.children), [])]
    while open_elements:
        element, left, kept = open_elements[-1]
        child = next(left, None)
        if child is not None:
            open_elements.append((child, iter(child.children), []))
            continue
        open_elements.pop()
        element.children = kept
        if open_elements:
            open_elements[-1][2].extend(contents(element) if element.tag == tag else [element])


def root_tag(text: str) -> str:
    """The tag of the root element, found without reading the rest; empty where the text does not come to one.

    Examples
    --------
    >>> root_tag('<?xml version="1.0"?> <!-- an arm --> <robot name="arm">')
    'robot'
    """
    match = _ROOT.match(text)
    return match[1] if match else ""


#: Blanks, instructions and comments may precede the root element.
_ROOT = re.compile(r"(?:\s+|<\?.*?\?>|<!--.*?-->)*+<([^\s<>/!?]+)", re.DOTALL)


def read_xml(text: str, tag: str = "", drop: Callable[[int, str], None] | None = None) -> Element:
    r"""The root element of an XML text.

    Comments, processing instructions and namespaces are harmless: the first two are skipped, and a prefix stays part of the
    tag. The declaration's encoding is not used, for the text is decoded already. Blank lines may stand before a declaration,
    a comment may have ``--`` in it, and no blank need stand between two attributes, which XML does not allow.

    Parameters
    ----------
    text : str
        The text, line ends as ``\n``.
    tag : str, optional
        The tag that the root must have.
    drop : callable, optional
        Called with the line of what stands after the root element, if anything does, and a message; it is not read.
        Without it that is an error.

    Raises
    ------
    XmlError
        Where the root has another tag, or the text is not well-formed, has a document type or entities (so nothing can
        grow or be fetched), or nests deeper than `DEEPEST`.

    Examples
    --------
    >>> root = read_xml('<robot name="arm">\n  <link name="base"/>\n</robot>')
    >>> root.get("name"), [(child.tag, child.line) for child in root.children]
    ('arm', [('link', 2)])
    >>> read_xml("<robot>\n<link></robot>")
    Traceback (most recent call last):
    ...
    linkwise.files.xml_tree.XmlError: line 2: not well-formed XML: the closing tag does not match <link> of line 2 (column 9)
    """
    text = without_comments(text)
    try:
        root = _Builder().read(text, drop)
    except XmlError:
        spaced = _with_blanks(text)
        if spaced == text:
            raise
        root = _Builder().read(spaced, drop)
    if tag and root.tag != tag:
        raise XmlError(FileProblem(root.line, f"the root element is <{root.tag}>; expected <{tag}>"))
    return root


#: A declaration that is not at the start, and comments; also, to skip them, character data and instructions. Unclosed ones
#: extend to the end, so that nothing is scanned twice.
_HARMLESS = re.compile(r"\A\s+<\?xml\s[^<>]*\?>|<!--.*?(?:-->|\Z)|<!\[CDATA\[.*?(?:\]\]>|\Z)|<\?.*?(?:\?>|\Z)", re.DOTALL)


def without_comments(text: str) -> str:
    r"""Blank comments, and a declaration that is not at the start, which XML does not allow there.

    Examples
    --------
    >>> without_comments("\n<?xml version='1.0'?><a/>")
    '\n                     <a/>'
    >>> without_comments("<a><!-- b -- --></a>")
    '<a>             </a>'
    """

    def blank(match: re.Match[str]) -> str:
        is_harmless = match[0][0] != "<" or match[0].endswith("-->")
        return re.sub(r"\S", " ", match[0]) if is_harmless else match[0]

    return _HARMLESS.sub(blank, text)


#: Parts of a text without comments in which quotes mean nothing, and tags with attributes; and an attribute's value
#: with what follows it without a blank.
_TAG = re.compile(
    r"""<!\[CDATA\[.*?(?:\]\]>|\Z)|<\?.*?(?:\?>|\Z)|<[^\s<>"'/!?]+\s(?:[^<>"']|"[^"<]*"|'[^'<]*')*+>""", re.DOTALL
)
_VALUE = re.compile(r"""(?:"[^"]*"|'[^']*')(?=([^\s/>])?)""")


def _with_blanks(text: str) -> str:
    """Add the blanks that attributes lack between them: ``<a b="1"c="2"/>``."""

    def spaced(match: re.Match[str]) -> str:
        return match[0] if match[0][1] in "!?" else _VALUE.sub(lambda value: value[0] + (" " if value[1] else ""), match[0])

    return _TAG.sub(spaced, text)


class _Builder:
    """Builds the tree from the events of expat."""

    def __init__(self) -> None:
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self.parser.StartDoctypeDeclHandler = self._doctype
        self.parser.EntityDeclHandler = self._entity
        self.open: list[Element] = []
        self.texts: list[list[str]] = []
        self.root: Element | None = None
        self.depth = 0

    def read(self, text: str, drop: Callable[[int, str], None] | None) -> Element:
        """Read a text without comments."""
        try:
            self.parser.Parse(text, True)
        except expat.ExpatError as error:
            if self.root is None or self.open or drop is None:
                raise XmlError(self._problem(error)) from None
            drop(error.lineno, f"not well-formed XML: more stands after the end of the root element <{self.root.tag}>")
        except UnicodeEncodeError as error:
            message = f"the text holds {error.object[error.start]!r}, which XML cannot represent"
            raise XmlError(FileProblem(text.count("\n", 0, error.start) + 1, message)) from None
        assert self.root is not None  # (expat has found an element, or raised)
        return self.root

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        line = self.parser.CurrentLineNumber
        self.depth += tag not in CHAINED
        if self.depth > DEEPEST:
            raise XmlError(FileProblem(line, f"<{tag}> is nested deeper than {DEEPEST} elements"))
        element = Element(tag, attributes, line)
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.root = element
        self.open.append(element)
        self.texts.append([])

    def _end(self, tag: str) -> None:
        self.depth -= tag not in CHAINED
        self.open.pop().text = "".join(self.texts.pop())

    def _text(self, text: str) -> None:
        self.texts[-1].append(text)

    def _doctype(self, name: str, system: str | None, public: str | None, internal: int) -> None:
        self._refuse(f"a document type (<!DOCTYPE {name}>) is refused: what it declares could change or fetch what is read")

    def _entity(self, name: str, *details: object) -> None:
        self._refuse(f"the declaration of an entity ({name!r}) is refused")

    def _refuse(self, why: str) -> None:
        raise XmlError(FileProblem(self.parser.CurrentLineNumber, why))

    def _problem(self, error: expat.ExpatError) -> FileProblem:
        """Convert an error of expat."""
        reason = expat.ErrorString(error.code)
        inner = f"<{self.open[-1].tag}> of line {self.open[-1].line}" if self.open else ""
        if error.code == _MISMATCH:
            reason = f"the closing tag does not match {inner}"
        elif error.code == _END:
            reason = f"the text ends, and {inner} is not closed" if inner else "there is no element"
        elif error.code == _CUT:
            reason = "the element that starts here is not finished"
        elif error.code == _ENTITY:
            reason = "an entity that is not one of &lt; &gt; &amp; &quot; &apos;"
        return FileProblem(error.lineno, f"not well-formed XML: {reason} (column {error.offset + 1})")


def leftovers(root: Element) -> Iterator[tuple[str, Element]]:
    """List every kind of unused tag and attribute with its elements, in the order of the text.

    Examples
    --------
    >>> [kind for kind, _ in leftovers(read_xml('<robot><gazebo reference="hook"/></robot>'))]
    ['<gazebo>']
    """
    root.get("version")
    pending = [(root.tag, root)]
    while pending:
        place, element = pending.pop()
        for name in element.attributes:
            if name not in element.asked_attributes and not name.startswith(("xmlns", "xml:")):
                yield f"the attribute {name!r} of <{element.tag}>", element
        inner = []
        for child in element.children:
            if child.tag in element.asked_tags:
                inner.append((f"{child.get('type')} joint" if child.tag == "joint" else child.tag, child))
            else:
                yield f"<{child.tag}>" + ("" if place == root.tag else f" of a {place}"), child
        pending.extend(reversed(inner))


# ── written ───────────────────────────────────────────────────────────────────────────────────────

#: Characters that no XML text may hold.
NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def element_lines(tag: str, attributes: Mapping[str, str], inner: Sequence[str] = ()) -> list[str]:
    """Return the lines of an element, its contents indented.

    Examples
    --------
    >>> element_lines("robot", {"name": "arm"}, element_lines("link", {"name": "a"}))
    ['<robot name="arm">', '  <link name="a"/>', '</robot>']
    """
    head = "".join(f" {name}={quoteattr(value)}" for name, value in attributes.items())
    if not inner:
        return [f"<{tag}{head}/>"]
    return [f"<{tag}{head}>", *(f"  {line}" for line in inner), f"</{tag}>"]


def real(value: Any) -> str:
    """A number with all its digits; zero without a sign."""
    return repr(float(value) + 0.0)


def numbers(values: Iterable[Any]) -> str:
    """Numbers with all their digits, between blanks."""
    return " ".join(real(value) for value in values)
