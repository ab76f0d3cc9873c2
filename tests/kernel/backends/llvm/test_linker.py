"""Linking: what stands in an image of AArch64 that is compiled here, and each kind of distance at its limits.

On the machine itself images are run by all other tests of kernels.
"""

from __future__ import annotations

import struct

import pytest

from linkwise import robots
from linkwise.kernel.backends.llvm import linker as image
from linkwise.kernel.backends.llvm import lowering as llvm

binding = pytest.importorskip("llvmlite.binding", reason="what is linked is machine code")

BL, ADRP = 0x94000000, 0x90000000
LOAD = 0x3DC00000
"""``ldr q0, [x0]``"""


@pytest.fixture
def aarch64(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compile for another machine."""
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    target = binding.Target.from_triple("aarch64-unknown-linux-gnu")
    machine = target.create_target_machine(cpu="cortex-a72", opt=2, reloc="pic", codemodel="default", jit=True)
    monkeypatch.setattr(llvm, "host", lambda: llvm.Host("cortex-a72", "", "", 16, has_fma=True))
    monkeypatch.setattr(llvm, "target_machine", lambda *_: machine)


def signed(word: int, low: int, bits: int) -> int:
    value = word >> low & (1 << bits) - 1
    return value - (value >> bits - 1 << bits)


@pytest.mark.usefixtures("aarch64")
@pytest.mark.parametrize(("part", "symbol"), [("float64", "loop_double"), ("entry", "call")])
@pytest.mark.parametrize("name", ["forward_kinematics", "inverse_dynamics"])
def test_distances_of_aarch64(name: str, part: str, symbol: str) -> None:
    """Calls go to the functions of the object, addresses of pages to its data, of which nothing is missing."""
    code = llvm.object_code(robots.puma560().kernel(name).tape, part)
    linked = image.link(code)
    assert linked is not None
    assert {"runtime", symbol} <= linked.symbols.keys()
    assert linked.writable % 65536 == 0, "memory is protected in pages of up to 64 KiB"
    sections = image._sections(code)
    image._laid_out(sections, 0, writable=False)
    (table,) = (section for section in sections if section.kind == 2)
    symbols = [image._symbol(code, table, k) for k in range(table.size // 24)]
    functions = {sections[home].place + value for _, info, home, value in symbols if info & 15 == 2}
    calls, pages = set(), set()
    for section in sections:
        if section.place >= 0 and section.flags & 4:
            for place in range(section.place, section.place + section.size, 4):
                (word,) = struct.unpack_from("<I", linked.content, place)
                if word & 0xFC000000 == BL:
                    calls.add(place + 4 * signed(word, 0, 26))
                if word & 0x9F000000 == ADRP:
                    pages.add(place // 4096 + (signed(word, 5, 19) << 2 | word >> 29 & 3))
    assert calls
    assert calls <= functions
    assert linked.symbols["runtime"] // 4096 in pages
    assert max(pages) * 4096 < linked.size
    assert min(pages) >= 0


@pytest.mark.parametrize(
    ("number", "word", "place", "target", "expected"),
    [
        (283, BL, 0x1000, 0x1008, 0x94000002),
        (283, BL, 0x1000, 0x0FFC, 0x97FFFFFF),
        (283, BL, 0, 2**27 - 4, 0x95FFFFFF),
        (283, BL, 0, 2**27, None),
        (283, BL, 2**27 + 4, 0, None),
        (283, BL, 0, 2, None),
        (275, ADRP, 0x1FFC, 0x2000, 0xB0000000),
        (275, ADRP, 0x1000, 0x0FFF, 0xF0FFFFE0),
        (275, ADRP, 0, 2**32 - 1, 0xF07FFFE0),
        (275, ADRP, 0, 2**32, None),
        (277, 0x91000000, 0, 0x5123, 0x91048C00),
        (299, LOAD, 0, 0x7010, 0x3DC00400),
        (299, LOAD, 0, 0x7018, None),
        (286, 0xF9400000, 0, 0x7018, 0xF9400C00),
    ],
)
def test_words_of_aarch64(number: int, word: int, place: int, target: int, expected: int | None) -> None:
    """As an assembler encodes them: ``bl .+8``, ``bl .-4``, ``adrp x0, .+4096``, ``adrp x0, .-4096``, and the farthest."""
    assert image._RELOCATORS[image._AARCH64][number](word, place, target) == expected


@pytest.mark.parametrize(("target", "expected"), [(2**31 + 99, 2**31 - 1), (2**31 + 100, None), (0, 2**32 - 100)])
def test_words_of_x86_64(target: int, expected: int | None) -> None:
    assert image._RELOCATORS[image._X86_64][2](0, 100, target) == expected
