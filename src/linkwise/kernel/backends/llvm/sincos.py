"""Sine and cosine of a vector, as LLVM text.

Cody-Waite reduction (W. J. Cody, W. Waite, *Software Manual for the Elementary Functions*, 1980) to r in [-pi/4,
pi/4] with pi/2 in three parts, then two polynomials (coefficients: tools/sincos_coefficients.py). Arguments of
magnitude above `LIMIT` go, lane by lane, through the C library.

Error, in units in the last place of the result: the worst place is r a little above 1/2, where sin(r) is below 1/2
and its units are half those of r. There the rounding of r gives at most 0.88, the last rounding 0.5, and all others
0.12: below 1.5 in all, so the result is at most one unit from the correctly rounded one. Where r is tiny, it is
rounded twice (2 x 0.5) and returned as it is.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from fractions import Fraction

from linkwise.kernel.backends.llvm.text import Text

HALF_PI = (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33)
SINE = (
    -0.16666666666666666,
    0.008333333333330946,
    -0.0001984126983675497,
    2.755731610068303e-06,
    -2.5051131455427946e-08,
    1.591810123027412e-10,
)
COSINE = (
    0.041666666666666664,
    -0.0013888888888887395,
    2.4801587298763433e-05,
    -2.7557317270560326e-07,
    2.0876146024689747e-09,
    -1.1382614868556325e-11,
)
SINE_SINGLE = (-0.16666666663853044, 0.008333331873837089, -0.00019840086263755443, 2.7249864655139585e-06)
COSINE_SINGLE = (0.04166666666431933, -0.0013888887671288108, 2.480059998353171e-05, -2.7300908167996537e-07)

_ROUNDING = 1.5 * 2.0**52
"""Added to a double below 2^51, this leaves the nearest integer in the low bits."""


def sine_cosine(t: Text, x: str) -> tuple[str, str]:
    """Emit sine and cosine of the vector x (of t.vector type), right for |x| < 1e5; the names of both."""
    if t.scalar == "double":
        return _double(t, x, SINE, COSINE)
    d = t.as_double()
    pair = _double(d, t.emit(f"fpext {t.vector} {x} to {d.vector}"), SINE_SINGLE, COSINE_SINGLE)
    s, c = (t.emit(f"fptrunc {d.vector} {value} to {t.vector}") for value in pair)
    return s, c


def _double(t: Text, x: str, sine: Sequence[float], cosine: Sequence[float]) -> tuple[str, str]:
    shifted = t.fma(x, t.number(0.6366197723675814), t.number(_ROUNDING))
    minus_k = t.negative(t.op("fsub", shifted, t.number(_ROUNDING)))
    r = x
    if t.has_fma:
        for part in HALF_PI:
            r = t.fma(minus_k, t.number(part), r)
    else:
        r = _reduced_without_fma(t, minus_k, x)
    z = t.op("fmul", r, r)
    s = t.fma(r, t.op("fmul", z, t.horner(z, sine)), r)
    return _by_quadrant(t, shifted, s, t.horner(z, (1.0, -0.5, *cosine)))


def _by_quadrant(t: Text, shifted: str, s: str, c: str) -> tuple[str, str]:
    """Swap sine and cosine in odd quadrants, and set the signs: the low two bits of the quadrant say which."""
    i, bits = t.integers, t.bits(shifted)
    low = t.emit(f"and {i} {bits}, {t.whole(1)}")
    odd = t.emit(f"icmp ne {i} {low}, {t.whole(0)}")
    sine, cosine = t.choose(odd, c, s), t.choose(odd, s, c)
    next_bits = t.emit(f"add {i} {bits}, {t.whole(1)}")
    results = []
    for value, quadrant in ((sine, bits), (cosine, next_bits)):
        high = t.emit(f"shl {i} {quadrant}, {t.whole(62)}")
        sign = t.emit(f"and {i} {high}, {t.whole(-(2**63))}")
        results.append(t.float(t.emit(f"xor {i} {t.bits(value)}, {sign}")))
    return results[0], results[1]


def _reduced_without_fma(t: Text, minus_k: str, x: str) -> str:
    """The same reduction where there is no fused multiply-add: pi/2 in parts of 33 bits, whose products with k are exact."""
    *leading, rest = _split_half_pi()
    value, lost = x, t.number(0.0)
    for part in leading:
        product = t.op("fmul", minus_k, t.number(part))
        total = t.op("fadd", value, product)
        # Knuth's two-sum: total + error is value + product exactly.
        virtual = t.op("fsub", total, value)
        back = t.op("fsub", total, virtual)
        left = t.op("fsub", value, back)
        error = t.op("fadd", left, t.op("fsub", product, virtual))
        lost = t.op("fadd", lost, error)
        value = total
    lost = t.op("fadd", lost, t.op("fmul", minus_k, t.number(rest)))
    return t.op("fadd", value, lost)


def _split_half_pi() -> list[float]:
    """pi/2 as three parts of 33 bits and a remainder."""
    rest = sum((Fraction(part) for part in HALF_PI), Fraction(0))
    parts = []
    for _ in range(3):
        bits = struct.unpack("<q", struct.pack("<d", float(rest)))[0]
        parts.append(float(struct.unpack("<d", struct.pack("<q", bits & ~((1 << 20) - 1)))[0]))  # 20 bits cleared
        rest -= Fraction(parts[-1])
    return [*parts, float(rest)]
