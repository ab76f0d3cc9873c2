"""Bytes as text: the encodings of XML, and what is no text."""

from __future__ import annotations

import codecs
import os
from pathlib import Path

import pytest

from linkwise.errors import FileError, FileProblem
from linkwise.files import load
from linkwise.files.text import decode, open_file

ROBOT = '<robot name="börse"><link name="größe"/></robot>'


def declared(encoding: str) -> str:
    return f'<?xml version="1.0" encoding="{encoding}"?>\n{ROBOT}'


def problem(data: bytes) -> FileProblem:
    with pytest.raises(FileError) as caught:
        decode("arm.urdf", data)
    (found,) = caught.value.problems
    return found


@pytest.mark.parametrize(
    ("name", "codec"),
    [("ISO-8859-1", "latin-1"), ("latin1", "latin-1"), ("windows-1252", "cp1252"), ("utf-8", "utf-8"), ("UTF8", "utf-8")],
)
@pytest.mark.parametrize("before", ["", "\n", " \r\n\n"])
def test_the_declared_encoding_counts(tmp_path: Path, name: str, codec: str, before: str) -> None:
    path = tmp_path / "arm.urdf"
    path.write_bytes((before + declared(name)).encode(codec))
    mechanism = load(path)
    assert (mechanism.name, mechanism.link_names) == ("börse", ("größe",))


@pytest.mark.parametrize("mark", [codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE])
def test_utf_16_with_its_mark(mark: bytes) -> None:
    order = "le" if mark == codecs.BOM_UTF16_LE else "be"
    assert decode("arm.urdf", mark + declared("UTF-16").encode(f"utf-16-{order}")).endswith(ROBOT)


def test_a_mark_counts_more_than_a_declaration() -> None:
    assert decode("arm.urdf", codecs.BOM_UTF8 + declared("ISO-8859-1").encode()).endswith(ROBOT)


def test_single_bytes_that_are_declared_wide_are_utf_8() -> None:
    assert decode("arm.urdf", declared("UTF-16").encode()).endswith(ROBOT)


@pytest.mark.parametrize(
    "name",
    ["utf-7", "unicode_escape", "raw_unicode_escape", "punycode", "idna", "hz", "cp037", "rot13", "hex", "zlib", "undefined",
     "nonsense"],
)  # fmt: skip
def test_what_is_no_encoding_of_xml_is_refused_by_name(name: str) -> None:
    """Escapes and shifts would make other elements of the same bytes; compressed text could grow without bound."""
    found = problem(f'\n<?xml version="1.0" encoding="{name}"?><robot/>'.encode())
    assert found.line == 2
    assert repr(name) in found.message


def test_bytes_that_the_encoding_does_not_have() -> None:
    found = problem(b'<?xml version="1.0" encoding="ascii"?>\n<robot name="\xe9"/>')
    assert found.line == 2
    assert "0xe9" in found.message
    assert "ASCII" in found.message
    assert problem(codecs.BOM_UTF16_LE + b"<\0\x00\xd8").message.endswith("UTF-16")


def test_other_text_is_utf_8() -> None:
    """What looks like a declaration counts in XML only, and UTF-16 too."""
    assert problem(b"name = \"encoding='ISO-8859-1' \xe9\"").message.startswith("byte 0xe9")
    assert "UTF-16" in problem(codecs.BOM_UTF16_LE + "1 2".encode("utf-16-le")).message


@pytest.mark.parametrize("codec", ["utf-32-le", "utf-32-be"])
def test_utf_32_is_refused_by_its_name(codec: str) -> None:
    assert "UTF-32" in problem(f"\ufeff{ROBOT}".encode(codec)).message


@pytest.mark.skipif(not Path("/dev/fd").is_dir() or not hasattr(os, "mkfifo"), reason="there is no /dev/fd here")
def test_pipes_of_a_shell_and_no_others(tmp_path: Path) -> None:
    """A path through /dev may lead to a pipe that somebody keeps open for ever."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    keeper = os.open(pipe, os.O_RDWR)
    try:
        for path in (pipe, Path(f"/dev/..{pipe}")):
            with pytest.raises(FileError, match="named pipe"):
                open_file(path, pipes=True)
        with open_file(f"/dev/fd/{keeper}", pipes=True) as file:
            os.write(keeper, b"robot")
            assert os.read(file.fileno(), 5) == b"robot"
    finally:
        os.close(keeper)
