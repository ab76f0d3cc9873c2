"""Identification of this process's processor, the target of machine code.

LLVM asks the processor itself, by the instruction CPUID on x86-64, which an emulator answers for the processor that it
stands for; ``/proc/cpuinfo`` describes the machine that the emulator runs on. The same instruction is asked here, without
LLVM.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from linkwise.errors import KernelError
from linkwise.kernel.backends.llvm import lowering as llvm
from linkwise.kernel.backends.llvm.linker import Image, Mapped

# cpuid(leaf, subleaf, registers): push rbx; mov r8, rdx; mov eax, edi; mov ecx, esi; cpuid; mov [r8], eax;
# mov [r8 + 4], ebx; mov [r8 + 8], ecx; mov [r8 + 12], edx; pop rbx; ret
_CPUID = bytes.fromhex("f30f1efa 53 4989d0 89f8 89f1 0fa2 418900 41895804 41894808 4189500c 5b c3")

# xgetbv(): xor ecx, ecx; xgetbv; shl rdx, 32; or rax, rdx; ret
_XGETBV = bytes.fromhex("f30f1efa 31c9 0f01d0 48c1e220 4809d0 c3")

_PAGE = 4096
_A, _B, _C, _D = range(4)

#: Leaves and subleaves of CPUID, with the registers that identify the processor and its features on every core (Intel 64 and
#: IA-32 Architectures Software Developer's Manual, volume 2A; AMD64 Architecture Programmer's Manual, volume 3).
_FEATURES = (
    (0x0, 0, (_B, _C, _D)),  # vendor
    (0x1, 0, (_A, _C, _D)),  # family, model and stepping; EBX holds which core this is
    (0x7, 0, (_B, _C, _D)),
    (0x7, 1, (_A, _B, _C, _D)),
    (0xD, 1, (_A,)),
    (0x14, 0, (_B,)),
    (0x19, 0, (_B,)),
    (0x1E, 1, (_A,)),
    (0x24, 0, (_B,)),
    (0x80000001, 0, (_C, _D)),
    (0x80000008, 0, (_B,)),
)

#: In ECX of leaf 1: whether XGETBV reads which registers the system saves.
_OSXSAVE = 1 << 27

#: Numbers of the entries of Linux's auxiliary vector with the features permitted to programs.
_HWCAP, _HWCAP2 = 16, 26


def description() -> str:
    """Describe the processor: equal texts mean that machine code is interchangeable."""
    machine = os.uname().machine if sys.platform == "linux" and sys.maxsize > 1 << 32 else ""
    try:
        if machine == "x86_64":
            return _of_x86_64()
        if machine == "aarch64":
            return _of_aarch64()
    except (OSError, RuntimeError, KernelError):  # memory cannot be made executable, or there is no /proc
        pass
    host = llvm.host()
    return f"{host.cpu} {host.features}"


def machine_key(digest: str, dtype: str) -> str:
    """Key of machine code: graph, lowering, LLVM, processor."""
    parts = (digest, dtype, llvm.LOWERING, _llvm_version(), known(), sys.platform)
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


@cache
def _llvm_version() -> str:
    """Identify the LLVM library without loading it."""
    spec = find_spec("llvmlite")
    if spec is None or spec.origin is None:
        return ""
    return Path(spec.origin).with_name("_version.py").read_text(encoding="utf-8")


@cache
def known() -> str:
    """Cached `description`."""
    return description()


def _of_x86_64() -> str:
    probe = Mapped(Image(_CPUID.ljust(64, b"\xcc") + _XGETBV, _PAGE, _PAGE, {"cpuid": 0, "xgetbv": 64}))
    ask = ctypes.CFUNCTYPE(None, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_void_p)(probe.address("cpuid"))
    registers = (ctypes.c_uint32 * 4)()
    highest = {}
    for start in (0, 0x80000000):
        ask(start, 0, registers)
        highest[start] = registers[_A]
    words = []
    for leaf, subleaf, kept in _FEATURES:
        if leaf > highest[leaf & 0x80000000]:
            continue
        ask(leaf, subleaf, registers)
        words.append(f"{leaf:x}.{subleaf}:" + ",".join(f"{registers[register]:x}" for register in kept))
        if leaf == 1 and registers[_C] & _OSXSAVE:
            words.append(f"{ctypes.CFUNCTYPE(ctypes.c_uint64)(probe.address('xgetbv'))():x}")
    return f"x86-64 {' '.join(words)}"


def _of_aarch64() -> str:
    """Describe an AArch64 processor: LLVM's data, the system's of the first processor, and the permitted features."""
    with open("/proc/cpuinfo", "rb") as file:
        first = file.read(8192).split(b"\n\n")[0]
    lines = [line for line in first.split(b"\n") if line.startswith((b"Features", b"CPU "))]
    auxiliary = ctypes.CDLL(None).getauxval
    auxiliary.restype, auxiliary.argtypes = ctypes.c_ulong, [ctypes.c_ulong]
    words = [f"{auxiliary(number):x}" for number in (_HWCAP, _HWCAP2)]
    return " ".join(["aarch64", *words, *(line.decode("ascii", "replace") for line in lines)])
