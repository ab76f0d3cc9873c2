"""Machine code linked into one position-independent block, which runs from memory without LLVM.

The object file of a kernel refers to nothing outside itself (what it must know of the process stands in its
``runtime`` table), so linking it is laying its sections out and filling in the distances between them. Done once,
when a kernel is compiled; later processes copy the block into memory and run it. For x86-64 ELF objects; other
machines load objects through LLVM.
"""

from __future__ import annotations

import ctypes
import mmap
import struct
import sys
from dataclasses import dataclass

from linkwise.errors import KernelError

_X86_64 = 62
_PC32, _PLT32 = 2, 4
_SYMBOLS, _RELOCATIONS, _NO_BITS = 2, 4, 8
_WRITE, _ALLOCATE = 1, 2
_PAGE = 4096
_READ_EXECUTE = 5


@dataclass(frozen=True)
class Image:
    """Linked code: the part that is run, where the writable part starts (a page boundary), and where symbols stand."""

    content: bytes
    writable: int
    size: int
    symbols: dict[str, int]


@dataclass
class _Section:
    kind: int
    flags: int
    offset: int
    size: int
    link: int
    info: int
    align: int
    place: int = -1


def link(code: bytes) -> Image | None:
    """Link an object file; None where it is not one that this can link."""
    if code[:6] != b"\x7fELF\x02\x01" or struct.unpack_from("<H", code, 18)[0] != _X86_64:
        return None
    sections = _sections(code)
    end = _laid_out(sections, 0, writable=False)
    writable = (end + _PAGE - 1) // _PAGE * _PAGE
    size = (_laid_out(sections, writable, writable=True) + _PAGE - 1) // _PAGE * _PAGE
    content = bytearray(writable)
    for section in sections:
        if section.place >= 0 and not section.flags & _WRITE and section.kind != _NO_BITS:
            content[section.place : section.place + section.size] = code[section.offset : section.offset + section.size]
    symbols = _symbols(code, sections)
    for section in sections:
        if (
            section.kind == _RELOCATIONS
            and sections[section.info].place >= 0
            and not _relocate(code, content, section, sections)
        ):
            return None
    return Image(bytes(content), writable, size, symbols)


class Mapped:
    """An image in memory, closed to writing but for its runtime table; lives as long as this object."""

    def __init__(self, image: Image) -> None:
        private = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS  # a forked child gets a runtime table of its own
        self._memory = mmap.mmap(-1, max(image.size, image.writable + _PAGE), flags=private)
        self._memory[: len(image.content)] = image.content
        self._hold = ctypes.c_char.from_buffer(self._memory)
        self._start = ctypes.addressof(self._hold)
        self._symbols = image.symbols
        protect = ctypes.CDLL(None, use_errno=True).mprotect
        if protect(ctypes.c_void_p(self._start), ctypes.c_size_t(image.writable), _READ_EXECUTE):
            raise KernelError('this system does not let memory be made executable; backend="numpy" computes without it')

    def address(self, name: str) -> int:
        """Where a symbol stands; 0 if there is none of that name."""
        return self._start + self._symbols[name] if name in self._symbols else 0


def supported() -> bool:
    """Whether this system can run an image."""
    return sys.platform == "linux"


def _sections(code: bytes) -> list[_Section]:
    table, size, count = struct.unpack_from("<Q", code, 40)[0], *struct.unpack_from("<HH", code, 58)
    found = []
    for k in range(count):
        _, kind, flags, _, offset, length, link_, info, align, _ = struct.unpack_from("<IIQQQQIIQQ", code, table + k * size)
        found.append(_Section(kind, flags, offset, length, link_, info, max(1, align)))
    return found


def _laid_out(sections: list[_Section], start: int, *, writable: bool) -> int:
    """Give a place to each section that is loaded, the writable or the others; where they end."""
    for section in sections:
        if section.flags & _ALLOCATE and bool(section.flags & _WRITE) == writable:
            section.place = (start + section.align - 1) // section.align * section.align
            start = section.place + section.size
    return start


def _symbol(code: bytes, section: _Section, index: int) -> tuple[int, int, int, int]:
    name, info, _, home, value, _ = struct.unpack_from("<IBBHQQ", code, section.offset + 24 * index)
    return name, info, home, value


def _symbols(code: bytes, sections: list[_Section]) -> dict[str, int]:
    """Places of the global symbols."""
    found = {}
    for section in sections:
        if section.kind != _SYMBOLS:
            continue
        names = sections[section.link].offset
        for k in range(section.size // 24):
            name, info, home, value = _symbol(code, section, k)
            if info >> 4 == 1 and 0 < home < len(sections):
                end = code.index(b"\0", names + name)
                found[code[names + name : end].decode()] = sections[home].place + value
    return found


def _relocate(code: bytes, content: bytearray, table: _Section, sections: list[_Section]) -> bool:
    """Fill in distances; false where something else than a distance is asked for."""
    place, symbols = sections[table.info].place, sections[table.link]
    for k in range(table.size // 24):
        offset, info, addend = struct.unpack_from("<QQq", code, table.offset + 24 * k)
        _, _, home, value = _symbol(code, symbols, info >> 32)
        if info & 0xFFFFFFFF not in {_PC32, _PLT32} or not 0 < home < len(sections) or sections[home].place < 0:
            return False
        target = sections[home].place + value + addend
        struct.pack_into("<i", content, place + offset, target - (place + offset))
    return True
