"""Sine and cosine of a vector, as LLVM text.

Cody-Waite reduction (W. J. Cody, W. Waite, *Software Manual for the Elementary Functions*, 1980) to r in [-pi/4,
pi/4] with pi/2 in three parts, then two polynomials (coefficients: tools/sincos_coefficients.py). Arguments of
magnitude above `LIMIT` go, lane by lane, through the C library.

Error, in units in the last place of the result: the worst place is r a little above 1/2, where sin(r) is below 1/2
and its units are half those of r. There the rounding of r gives at most 0.88, the last rounding 0.5, and all others
0.12: below 1.5 in all, so the result is at most one unit from the correctly rounded one. Where r is tiny, it is
rounded twice (2 x 0.5) and returned as it is.

Sine and cosine of huge arguments, lane by lane, as LLVM text: the reduction of M. H. Payne, R. N. Hanek.

"Radian reduction for trigonometric functions", ACM SIGNUM Newsletter 18(1), 1983. An argument is m 2^e with an integer m
below 2^53. Of the bits of 2/pi only those count whose product with m 2^e is not a multiple of 4: 192 of them give the
quadrant and 190 bits of the fraction behind it, of which at most 62 are lost where a double comes closest to a multiple of
pi/2. The fraction times pi/2, rounded once, goes to the C library, which is accurate in [-pi/4, pi/4].
The whole argument does not go there: at the doubles nearest to multiples of pi/2 glibc 2.36 is off by 26,000 units.
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

#: Added to a double below 2^51, this leaves the nearest integer in the low bits.
_ROUNDING = 1.5 * 2.0**52


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
    """Swap sine and cosine in odd quadrants, and set the signs, by the low two bits of the quadrant."""
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
    """As `_reduced` without fused multiply-add: pi/2 in parts of 33 bits, whose products with k are exact."""
    *leading, last = _split_half_pi()
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
    lost = t.op("fadd", lost, t.op("fmul", minus_k, t.number(last)))
    return t.op("fadd", value, lost)


def _split_half_pi() -> list[float]:
    """pi/2 as three parts of 33 bits and a remainder."""
    remainder = sum((Fraction(part) for part in HALF_PI), Fraction(0))
    parts = []
    for _ in range(3):
        bits = struct.unpack("<q", struct.pack("<d", float(remainder)))[0]
        parts.append(float(struct.unpack("<d", struct.pack("<q", bits & ~((1 << 20) - 1)))[0]))  # 20 bits cleared
        remainder -= Fraction(parts[-1])
    return [*parts, float(remainder)]


#: From here on arguments are huge.
LIMIT = 1e5

#: 64-bit words of 2/pi, after one word of zeros: enough for the largest exponent, 1023.
_WORDS = 22

#: pi/2 times 2^63, rounded.
_HALF_PI_BITS = 14488038916154245685


def beyond(t: Text, x: str, width: int) -> str:
    """Emit: whether x (a vector, or a scalar with width 0) is beyond `LIMIT` in magnitude, or not a number.

    The bits are compared as integers, for a comparison of floats would raise the invalid flag for a NaN.
    """
    bits = 8 * t.size
    number = t.scalar if width == 0 else f"<{width} x {t.scalar}>"
    whole = f"i{bits}" if width == 0 else f"<{width} x i{bits}>"

    def constant(value: int) -> str:
        return str(value) if width == 0 else "<" + ", ".join(f"i{bits} {value}" for _ in range(width)) + ">"

    form, kind = ("<Q", "<d") if bits == 64 else ("<I", "<f")
    limit = struct.unpack(form, struct.pack(kind, LIMIT))[0]
    plain = t.emit(f"bitcast {number} {x} to {whole}")
    size = t.emit(f"and {whole} {plain}, {constant(2 ** (bits - 1) - 1)}")
    return t.emit(f"icmp ugt {whole} {size}, {constant(limit)}")


def slow(t: Text) -> str:
    """Emit ``slow``: sine and cosine of the lanes of a vector that are `beyond`.

    It takes three vectors one behind the other in memory: the argument, and the sine and cosine to be corrected.
    """
    s, w = t.scalar, t.width
    wide = "fpext float %x to double" if s == "float" else "fadd double %x, 0.0"
    narrow = "fptrunc double {} to float" if s == "float" else "fadd double {}, 0.0"
    t.begin()
    fsin, fcos = t.runtime("sin"), t.runtime("cos")
    begin = "\n".join(t.lines)
    t.lines.clear()
    far = beyond(t, "%x", 0)
    test = "\n".join(t.lines)
    return f"""
define void @slow(ptr %space) noinline nounwind cold {{
{begin}
  br label %lane
lane:
  %l = phi i64 [ 0, %entry ], [ %l1, %next ]
  %p = getelementptr {s}, ptr %space, i64 %l
  %x = load {s}, ptr %p
{test}
  br i1 {far}, label %huge, label %next
huge:
  %y = {wide}
  %pair = call {{ i64, double }} @reduced(double %y)
  %quadrant = extractvalue {{ i64, double }} %pair, 0
  %r = extractvalue {{ i64, double }} %pair, 1
  %s0 = call double {fsin}(double %r)
  %c0 = call double {fcos}(double %r)
  %low = and i64 %quadrant, 1
  %odd = icmp ne i64 %low, 0
  %s1 = select i1 %odd, double %c0, double %s0
  %c1 = select i1 %odd, double %s0, double %c0
  %minus_s = fneg double %s1
  %minus_c = fneg double %c1
  %half = and i64 %quadrant, 2
  %s_turned = icmp ne i64 %half, 0
  %after = add i64 %quadrant, 1
  %c_half = and i64 %after, 2
  %c_turned = icmp ne i64 %c_half, 0
  %s2 = select i1 %s_turned, double %minus_s, double %s1
  %c2 = select i1 %c_turned, double %minus_c, double %c1
  %s3 = {narrow.format("%s2")}
  %c3 = {narrow.format("%c2")}
  %ls = add i64 %l, {w}
  %lc = add i64 %l, {2 * w}
  %ps = getelementptr {s}, ptr %space, i64 %ls
  %pc = getelementptr {s}, ptr %space, i64 %lc
  store {s} %s3, ptr %ps
  store {s} %c3, ptr %pc
  br label %next
next:
  %l1 = add i64 %l, 1
  %more = icmp ult i64 %l1, {w}
  br i1 %more, label %lane, label %done
done:
  ret void
}}
"""


def reduction() -> str:
    """Emit ``reduced``: the quadrant (modulo 4) of a huge double, and the remainder in [-pi/4, pi/4]."""
    words = ", ".join(f"i64 {word}" for word in (0, *two_over_pi(_WORDS)))
    return f"""
@two_over_pi = internal constant [{_WORDS + 1} x i64] [{words}]

define internal {{ i64, double }} @reduced(double %x) noinline nounwind cold {{
entry:
  %bits = bitcast double %x to i64
  %shifted = lshr i64 %bits, 52
  %exponent = and i64 %shifted, 2047
  %finite = icmp ne i64 %exponent, 2047
  br i1 %finite, label %number, label %none
none:
  %nan = fsub double %x, %x
  %failed = insertvalue {{ i64, double }} zeroinitializer, double %nan, 1
  ret {{ i64, double }} %failed
number:
  %fraction = and i64 %bits, {2**52 - 1}
  %m = or i64 %fraction, {2**52}
  %start = sub i64 %exponent, {1075 + 2 - 64}
  %word = lshr i64 %start, 6
  %shift = and i64 %start, 63
  %p0 = getelementptr i64, ptr @two_over_pi, i64 %word
  %p1 = getelementptr i64, ptr %p0, i64 1
  %p2 = getelementptr i64, ptr %p0, i64 2
  %p3 = getelementptr i64, ptr %p0, i64 3
  %w0 = load i64, ptr %p0
  %w1 = load i64, ptr %p1
  %w2 = load i64, ptr %p2
  %w3 = load i64, ptr %p3
  %u0 = call i64 @llvm.fshl.i64(i64 %w0, i64 %w1, i64 %shift)
  %u1 = call i64 @llvm.fshl.i64(i64 %w1, i64 %w2, i64 %shift)
  %u2 = call i64 @llvm.fshl.i64(i64 %w2, i64 %w3, i64 %shift)
  %m_wide = zext i64 %m to i128
  %u1_wide = zext i64 %u1 to i128
  %u2_wide = zext i64 %u2 to i128
  %t0 = mul i64 %m, %u0
  %t1 = mul i128 %m_wide, %u1_wide
  %t2 = mul i128 %m_wide, %u2_wide
  %t2_high = lshr i128 %t2, 64
  %t0_wide = zext i64 %t0 to i128
  %t0_up = shl i128 %t0_wide, 64
  %sum = add i128 %t1, %t2_high
  %product = add i128 %sum, %t0_up
  %top = lshr i128 %product, 126
  %top_word = trunc i128 %top to i64
  %t2_low = trunc i128 %t2 to i64
  %next_bits = lshr i64 %t2_low, 62
  %next_wide = zext i64 %next_bits to i128
  %up = shl i128 %product, 2
  %f = or i128 %up, %next_wide
  %negative = icmp slt i128 %f, 0
  %carry = zext i1 %negative to i64
  %nearest = add i64 %top_word, %carry
  %minus_f = sub i128 0, %f
  %size = select i1 %negative, i128 %minus_f, i128 %f
  %zeros_wide = call i128 @llvm.ctlz.i128(i128 %size, i1 false)
  %zeros = trunc i128 %zeros_wide to i64
  %normal = shl i128 %size, %zeros_wide
  %high_wide = lshr i128 %normal, 64
  %scaled = mul i128 %high_wide, {_HALF_PI_BITS}
  %angle_wide = lshr i128 %scaled, 64
  %angle = trunc i128 %angle_wide to i64
  %rounded = uitofp i64 %angle to double
  %power = sub i64 {1023 - 63}, %zeros
  %power_bits = shl i64 %power, 52
  %scale = bitcast i64 %power_bits to double
  %r = fmul double %rounded, %scale
  %minus_r = fneg double %r
  %x_negative = icmp slt i64 %bits, 0
  %flip = xor i1 %x_negative, %negative
  %signed = select i1 %flip, double %minus_r, double %r
  %minus_nearest = sub i64 0, %nearest
  %turns = select i1 %x_negative, i64 %minus_nearest, i64 %nearest
  %half = insertvalue {{ i64, double }} zeroinitializer, i64 %turns, 0
  %result = insertvalue {{ i64, double }} %half, double %signed, 1
  ret {{ i64, double }} %result
}}
"""


def two_over_pi(words: int) -> list[int]:
    """The first bits of 2/pi behind the point, in words of 64, by J. Machin's formula for pi (1706)."""
    guard = 64
    bits = 64 * words + guard
    pi = 4 * (4 * _arccot(5, bits) - _arccot(239, bits))
    quotient = (2 << 2 * bits) // pi >> guard
    return [quotient >> 64 * k & (2**64 - 1) for k in reversed(range(words))]


def _arccot(n: int, bits: int) -> int:
    """The arccotangent of n, times 2^bits."""
    term = (1 << bits) // n
    total, k = term, 1
    while term:
        term //= -n * n
        k += 2
        total += term // k
    return total
