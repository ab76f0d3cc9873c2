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
from collections.abc import Callable, Iterator, Sequence

from linkwise.kernel.llvm_text import Text, splat

Fma = Callable[[str, str, str], str]
"""Emits a fused multiply-add of three named values."""

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
        return _double(t, x, t.width, SINE, COSINE)
    wide = f"<{t.width} x double>"
    x_wide = t.emit(f"fpext {t.vector} {x} to {wide}")
    pair = _double(t, x_wide, t.width, SINE_SINGLE, COSINE_SINGLE)
    s, c = (t.emit(f"fptrunc {wide} {value} to {t.vector}") for value in pair)
    return s, c


def _double(t: Text, x: str, width: int, sine: Sequence[float], cosine: Sequence[float]) -> tuple[str, str]:
    v, i = f"<{width} x double>", f"<{width} x i64>"

    def number(value: float) -> str:
        return splat(value, "double", width)

    def fma(a: str, b: str, c: str) -> str:
        if t.has_fma:
            return t.emit(f"call {v} @llvm.fma.v{width}f64({v} {a}, {v} {b}, {v} {c})")
        product = t.emit(f"fmul {v} {a}, {b}")
        return t.emit(f"fadd {v} {product}, {c}")

    shifted = fma(x, number(0.6366197723675814), number(_ROUNDING))
    k = t.emit(f"fsub {v} {shifted}, {number(_ROUNDING)}")
    minus_k = t.emit(f"fneg {v} {k}")
    r = x
    if t.has_fma:
        for part in HALF_PI:
            r = fma(minus_k, number(part), r)
    else:
        r = _reduced_without_fma(t, v, minus_k, x, number)
    z = t.emit(f"fmul {v} {r}, {r}")
    s = _horner(fma, z, [number(value) for value in sine])
    s = t.emit(f"fmul {v} {z}, {s}")
    s = fma(r, s, r)
    c = _horner(fma, z, [number(value) for value in (1.0, -0.5, *cosine)])
    return _by_quadrant(t, v, i, width, shifted, s, c)


def _horner(fma: Fma, z: str, coefficients: list[str]) -> str:
    total = coefficients[-1]
    for coefficient in reversed(coefficients[:-1]):
        total = fma(z, total, coefficient)
    return total


def _by_quadrant(t: Text, v: str, i: str, width: int, shifted: str, s: str, c: str) -> tuple[str, str]:
    """Swap sine and cosine in odd quadrants, and set the signs: the low two bits of the quadrant say which."""

    def whole(value: int) -> str:
        return "<" + ", ".join(f"i64 {value}" for _ in range(width)) + ">"

    bits = t.emit(f"bitcast {v} {shifted} to {i}")
    low = t.emit(f"and {i} {bits}, {whole(1)}")
    odd = t.emit(f"icmp ne {i} {low}, {whole(0)}")
    mask = f"<{width} x i1>"
    sine = t.emit(f"select {mask} {odd}, {v} {c}, {v} {s}")
    cosine = t.emit(f"select {mask} {odd}, {v} {s}, {v} {c}")
    next_bits = t.emit(f"add {i} {bits}, {whole(1)}")
    results = []
    for value, quadrant in ((sine, bits), (cosine, next_bits)):
        high = t.emit(f"shl {i} {quadrant}, {whole(62)}")
        sign = t.emit(f"and {i} {high}, {whole(-(2**63))}")
        plain = t.emit(f"bitcast {v} {value} to {i}")
        flipped = t.emit(f"xor {i} {plain}, {sign}")
        results.append(t.emit(f"bitcast {i} {flipped} to {v}"))
    return results[0], results[1]


def _reduced_without_fma(t: Text, v: str, minus_k: str, x: str, number: Callable[[float], str]) -> str:
    """The same reduction where there is no fused multiply-add: pi/2 in parts of 33 bits, whose products with k are exact."""
    first, rest = _split_half_pi()
    value = x
    lost = number(0.0)
    for part in first:
        product = t.emit(f"fmul {v} {minus_k}, {number(part)}")
        total = t.emit(f"fadd {v} {value}, {product}")
        # Knuth's two-sum: total + error is value + product exactly.
        virtual = t.emit(f"fsub {v} {total}, {value}")
        back = t.emit(f"fsub {v} {total}, {virtual}")
        left = t.emit(f"fsub {v} {value}, {back}")
        right = t.emit(f"fsub {v} {product}, {virtual}")
        error = t.emit(f"fadd {v} {left}, {right}")
        lost = t.emit(f"fadd {v} {lost}, {error}")
        value = total
    product = t.emit(f"fmul {v} {minus_k}, {number(rest)}")
    lost = t.emit(f"fadd {v} {lost}, {product}")
    return t.emit(f"fadd {v} {value}, {lost}")


def _split_half_pi() -> tuple[list[float], float]:
    """pi/2 as three parts of 33 bits and a remainder."""
    return list(_leading_parts(3)), _remainder()


def _leading_parts(count: int) -> Iterator[float]:
    from fractions import Fraction

    rest = sum((Fraction(part) for part in HALF_PI), Fraction(0))
    for _ in range(count):
        part = _truncated(float(rest))
        rest -= Fraction(part)
        yield part


def _remainder() -> float:
    from fractions import Fraction

    rest = sum((Fraction(part) for part in HALF_PI), Fraction(0))
    return float(rest - sum((Fraction(part) for part in _leading_parts(3)), Fraction(0)))


def _truncated(value: float) -> float:
    """The value with the last 20 bits of its mantissa cleared."""
    bits = struct.unpack("<q", struct.pack("<d", value))[0]
    return float(struct.unpack("<d", struct.pack("<q", bits & ~((1 << 20) - 1)))[0])
