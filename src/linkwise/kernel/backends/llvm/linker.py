"""Machine code linked into one position-independent block, which runs from memory without LLVM.

The object file of a kernel refers to nothing outside itself (what it must know of the process stands in its
``runtime`` table), so linking it is laying its sections out and filling in the distances between them. Done once,
when a kernel is compiled; later processes copy the block into memory and run it. For ELF objects of x86-64 and
AArch64; other systems load objects through LLVM.
"""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
import struct
from collections.abc import Callable
from dataclasses import dataclass

from linkwise.errors import KernelError

_X86_64, _AARCH64 = 62, 183
_SYMBOLS, _RELOCATIONS, _NO_BITS = 2, 4, 8
_WRITE, _ALLOCATE = 1, 2

#: Bytes of the largest page that memory may be protected by.
_PAGES = {_X86_64: 4096, _AARCH64: 65536}

#: Bytes of the pages that AArch64 instructions count in.
_PAGE = 4096

_READ_EXECUTE = 5


@dataclass(frozen=True)
class Image:
    """Linked code: the executable part, the offset of the writable part (a page boundary), and the symbols."""

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
    machine = struct.unpack_from("<H", code, 18)[0] if code[:6] == b"\x7fELF\x02\x01" else None
    if machine not in _PAGES:
        return None
    sections, page = _sections(code), _PAGES[machine]
    end = _laid_out(sections, 0, writable=False)
    writable = (end + page - 1) // page * page
    size = (_laid_out(sections, writable, writable=True) + page - 1) // page * page
    content = bytearray(end)
    for section in sections:
        if section.place >= 0 and not section.flags & _WRITE and section.kind != _NO_BITS:
            content[section.place : section.place + section.size] = code[section.offset : section.offset + section.size]
    symbols = _symbols(code, sections)
    for section in sections:
        if (
            section.kind == _RELOCATIONS
            and sections[section.info].place >= 0
            and not _relocate(code, content, section, sections, _RELOCATORS[machine])
        ):
            return None
    return Image(bytes(content), writable, size, symbols)


class Mapped:
    """An image in memory, closed to writing but for its runtime table; lives as long as this object."""

    def __init__(self, image: Image) -> None:
        private = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS  # a forked child gets its own runtime table
        self._memory = mmap.mmap(-1, max(image.size, image.writable + mmap.PAGESIZE), flags=private)
        self._memory[: len(image.content)] = image.content
        self._hold = ctypes.c_char.from_buffer(self._memory)
        self._start = ctypes.addressof(self._hold)
        self._symbols = image.symbols
        _clear_instruction_cache(self._start, len(image.content))
        protect = ctypes.CDLL(None, use_errno=True).mprotect
        if protect(ctypes.c_void_p(self._start), ctypes.c_size_t(image.writable), _READ_EXECUTE):
            raise KernelError('this system does not let memory be made executable; backend="numpy" computes without it')

    def address(self, name: str) -> int:
        """Address of a symbol; 0 if it is unknown."""
        return self._start + self._symbols[name] if name in self._symbols else 0


def _clear_instruction_cache(start: int, size: int) -> None:
    """Flush new instructions on processors without coherent instruction caches, as AArch64.

    Without the library, Linux does it when it makes the pages executable.
    """
    if os.uname().machine == "aarch64":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL("libgcc_s.so.1").__clear_cache(ctypes.c_void_p(start), ctypes.c_void_p(start + size))


def _sections(code: bytes) -> list[_Section]:
    table, size, count = struct.unpack_from("<Q", code, 40)[0], *struct.unpack_from("<HH", code, 58)
    sections = []
    for k in range(count):
        _, kind, flags, _, offset, length, link_, info, align, _ = struct.unpack_from("<IIQQQQIIQQ", code, table + k * size)
        sections.append(_Section(kind, flags, offset, length, link_, info, max(1, align)))
    return sections


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
    symbols = {}
    for section in sections:
        if section.kind != _SYMBOLS:
            continue
        names = sections[section.link].offset
        for k in range(section.size // 24):
            name, info, home, value = _symbol(code, section, k)
            if info >> 4 == 1 and 0 < home < len(sections):
                end = code.index(b"\0", names + name)
                symbols[code[names + name : end].decode()] = sections[home].place + value
    return symbols


def _relocate(
    code: bytes, content: bytearray, table: _Section, sections: list[_Section], relocators: dict[int, _Relocator]
) -> bool:
    """Apply relocations of relative addresses; False for any other kind, or a distance out of range."""
    start, symbols = sections[table.info].place, sections[table.link]
    for k in range(table.size // 24):
        offset, info, addend = struct.unpack_from("<QQq", code, table.offset + 24 * k)
        _, _, home, value = _symbol(code, symbols, info >> 32)
        relocator = relocators.get(info & 0xFFFFFFFF)
        if relocator is None or not 0 < home < len(sections) or sections[home].place < 0:
            return False
        place = start + offset
        (word,) = struct.unpack_from("<I", content, place)
        linked = relocator(word, place, sections[home].place + value + addend)
        if linked is None:
            return False
        struct.pack_into("<I", content, place, linked)
    return True


#: From the word at a place, the place and the target: the word with the distance in it; None where it has no room.
_Relocator = Callable[[int, int, int], int | None]


def _distance(word: int, place: int, target: int) -> int | None:
    distance = target - place
    return distance & 0xFFFFFFFF if -(2**31) <= distance < 2**31 else None


def _branch(word: int, place: int, target: int) -> int | None:
    """``b`` and ``bl``: the distance in instructions, in 26 bits."""
    distance = target - place
    return word | distance >> 2 & 0x03FFFFFF if -(2**27) <= distance < 2**27 and not distance % 4 else None


def _page(word: int, place: int, target: int) -> int | None:
    """``adrp``: the distance in pages, in 21 bits, the two lowest of them in bits 29 and 30."""
    pages = target // _PAGE - place // _PAGE
    return word | (pages & 3) << 29 | (pages >> 2 & 0x7FFFF) << 5 if -(2**20) <= pages < 2**20 else None


def _within_page(size: int) -> _Relocator:
    """``add``, and loads and stores of so many bytes: the place within the page, counted in these, in 12 bits."""

    def relocator(word: int, place: int, target: int) -> int | None:
        within = target % _PAGE
        return word | within // size << 10 if not within % size else None

    return relocator


#: Functions of a machine's relocations, by the numbers in its ELF supplement.
_RELOCATORS: dict[int, dict[int, _Relocator]] = {
    _X86_64: {2: _distance, 4: _distance},  # PC32, PLT32
    _AARCH64: {
        275: _page,  # ADR_PREL_PG_HI21
        277: _within_page(1),  # ADD_ABS_LO12_NC
        278: _within_page(1),  # LDST8_ABS_LO12_NC
        282: _branch,  # JUMP26
        283: _branch,  # CALL26
        284: _within_page(2),  # LDST16_ABS_LO12_NC
        285: _within_page(4),  # LDST32_ABS_LO12_NC
        286: _within_page(8),  # LDST64_ABS_LO12_NC
        299: _within_page(16),  # LDST128_ABS_LO12_NC
    },
}
