"""The angle of a point, vector by vector, as LLVM text.

With a the smaller and b the larger of the magnitudes of x and y, atan(a/b) is atan(t) with t = a/b, or where a/b > tan(pi/8)
it is pi/4 + atan(t) with t = (a - b)/(a + b). So t is at most tan(pi/8) in magnitude; an odd polynomial gives atan(t)
(coefficients: tools/atan_coefficients.py). By reflections at the diagonals and axes the angle is k pi/4 + s atan(t), with k
from 0 to 4 and s = -1 or 1, and has the sign of y.

In double precision the quotient, the sum and the difference of a and b, and k pi/4 are each a number and a small correction
(T. J. Dekker, "A floating-point technique for extending the available precision", Numerische Mathematik 18, 1971).

Error, in units in the last place of the result: the last rounding gives 0.5. What is added in it is the leading number and a
rest that is at most 0.06 of the result, rounded in some four operations: 0.13. So the result is at most one unit from the
correctly rounded one. Where it is subnormal, it is rounded up to three times.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence

from linkwise.kernel.backends.llvm.text import Text

ATAN = (
    -0.3333333333333333,
    0.19999999999999804,
    -0.14285714285659779,
    0.11111111105150588,
    -0.09090908753259112,
    0.07692296368042296,
    -0.0666642476020052,
    0.05878927554473807,
    -0.05230443640686948,
    0.045515447340221615,
    -0.03456931506332609,
    0.016284375050043393,
)
ATAN_SINGLE = (
    -0.3333333327922454,
    0.1999997724823353,
    -0.14284150629730288,
    0.11071354571201351,
    -0.08624598215196126,
    0.05047937432040091,
)

#: The first part has 50 bits: its multiples up to four are exact.
QUARTER_PI = (0.7853981633974483, 3.061616997868383e-17)

TAN_EIGHTH_PI = 0.41421356237309503

#: From the first, and below the second, the larger magnitude is not rare.
_LOW, _HIGH = 2.0**-500, 2.0**500

#: Factors that scale a rare magnitude, subnormal or very large, without overflow or loss of digits in the quotient.
_UP, _DOWN = 2.0**600, 2.0**-500

_SIGN = -(2**63)
_SPLITTER = 2.0**27 + 1.0


def plane_angle(t: Text, y: str, x: str) -> str:
    """Emit the angle of the points (x, y), vectors of t.vector type, in (-pi, pi]; the name of the result.

    Zero at the origin; zeros have no sign; NaN where a coordinate is NaN or both are infinite.
    """
    if t.scalar == "double":
        return _Angle(t).double(y, x)
    wide = f"<{t.width} x double>"
    y_wide, x_wide = (t.emit(f"fpext {t.vector} {value} to {wide}") for value in (y, x))
    result = _Angle(t).single(y_wide, x_wide)
    return t.emit(f"fptrunc {wide} {result} to {t.vector}")


def _bits_of(value: float) -> int:
    return int(struct.unpack("<q", struct.pack("<d", value))[0])


class _Angle:
    """Writes the operations on vectors of doubles."""

    def __init__(self, t: Text) -> None:
        self.t = t.as_double()

    def double(self, y: str, x: str) -> str:
        """The angle to double precision."""
        y, x, a, b, swapped = self._octant(y, x)
        reduced = self._reduced(a, b)
        zero = self.t.number(0.0)
        total, total_low = self._two_sum(b, self.t.choose(reduced, a, zero))
        least, least_low = self._two_sum(self.t.choose(reduced, self.t.negative(b), a), self.t.choose(reduced, a, zero))
        inverse = self.t.op("fdiv", self.t.number(1.0), total)
        quotient = self.t.op("fmul", least, inverse)
        excess = self.t.fma(total_low, inverse, self._excess(total, inverse, self.t.number(1.0)))
        correction = self.t.fma(self.t.negative(quotient), excess, self._excess(least, inverse, quotient))
        correction = self.t.fma(least_low, inverse, correction)
        z = self.t.op("fmul", quotient, quotient)
        # The derivative of the arc tangent, 1/(1 + z), is 1 - z nearly enough for the rest.
        correction = self.t.fma(self.t.negative(z), correction, correction)
        correction = self.t.fma(self.t.op("fmul", quotient, z), self._polynomial(z, ATAN), correction)
        flip = self._xor(self._sign_where(swapped), self._sign_of(x))
        quotient, correction = self._signed(quotient, flip), self._signed(correction, flip)
        k = self._eighths(swapped, x, reduced, flip)
        first = self.t.op("fmul", k, self.t.number(QUARTER_PI[0]))
        result = self.t.op("fadd", first, quotient)
        lost = self.t.op("fadd", self.t.op("fsub", first, result), quotient)  # exact, for |first| >= |quotient| or first = 0
        correction = self.t.op("fadd", correction, lost)
        correction = self.t.fma(k, self.t.number(QUARTER_PI[1]), correction)
        return self._signed(self.t.op("fadd", result, correction), self._sign_of(y))

    def single(self, y: str, x: str) -> str:
        """The angle to single precision, of coordinates that are singles."""
        y, x, a, b, swapped = self._octant(y, x)
        reduced = self._reduced(a, b)
        least = self.t.choose(reduced, self.t.op("fsub", a, b), a)
        total = self.t.choose(reduced, self.t.op("fadd", a, b), b)
        flip = self._xor(self._sign_where(swapped), self._sign_of(x))
        quotient = self._signed(self.t.op("fdiv", least, total), flip)
        z = self.t.op("fmul", quotient, quotient)
        quotient = self.t.fma(self.t.op("fmul", quotient, z), self._polynomial(z, ATAN_SINGLE), quotient)
        k = self._eighths(swapped, x, reduced, flip)
        return self._signed(self.t.fma(k, self.t.number(QUARTER_PI[0]), quotient), self._sign_of(y))

    def _octant(self, y: str, x: str) -> tuple[str, str, str, str, str]:
        """Both coordinates without signs of zero, the smaller and the larger magnitude, and whether y's is the larger.

        The bits are compared as integers, for a comparison of floats would raise the invalid flag for a NaN.
        """
        y, x = (self.t.op("fadd", value, self.t.number(0.0)) for value in (y, x))
        y_bits, x_bits = (self._and(self.t.bits(value), 2**63 - 1) for value in (y, x))
        swapped = self.t.emit(f"icmp sgt {self.t.integers} {y_bits}, {x_bits}")
        least = self.t.emit(f"select {self.t.mask} {swapped}, {self.t.integers} {x_bits}, {self.t.integers} {y_bits}")
        largest = self.t.emit(f"select {self.t.mask} {swapped}, {self.t.integers} {y_bits}, {self.t.integers} {x_bits}")
        return y, x, *self._tamed(least, largest), swapped

    def _tamed(self, least: str, largest: str) -> tuple[str, str]:
        """The magnitudes from their bits; where the larger is rare, cold code scales both, by a power of two."""
        t, name = self.t, f"angle{self.t.names}"
        low, high = (_bits_of(value) for value in (_LOW, _HIGH))
        a, b = self.t.float(least), self.t.float(largest)
        above = t.emit(f"sub {self.t.integers} {largest}, {self.t.whole(low)}")
        rare = t.emit(f"icmp uge {self.t.integers} {above}, {self.t.whole(high - low)}")
        bits = t.emit(f"bitcast {self.t.mask} {rare} to i{t.width}")
        some = t.emit(f"icmp ne i{t.width} {bits}, 0")
        before = t.block
        t.do(f"br i1 {some}, label %{name}.rare, label %{name}, !prof !0")
        t.start(f"{name}.rare")
        a_scaled, b_scaled = self._scaled(least, largest, rare)
        t.go_on(name)
        return tuple(  # type: ignore[return-value]
            t.emit(f"phi {self.t.vector} [ {plain}, %{before} ], [ {scaled}, %{name}.rare ]")
            for plain, scaled in ((a, a_scaled), (b, b_scaled))
        )

    def _scaled(self, least: str, largest: str, rare: str) -> tuple[str, str]:
        """Both magnitudes from their bits, scaled if the larger is rare.

        They become 0 and 1 where both are zero or one is infinite. Where the smaller is infinite, so that the larger is
        infinite too or NaN, it becomes NaN: as an infinity it would raise the invalid flag.
        """
        a, b = self.t.float(least), self.t.float(largest)
        small = self.t.emit(f"icmp slt {self.t.integers} {largest}, {self.t.whole(_bits_of(1.0))}")
        scale = self.t.choose(small, self.t.number(_UP), self.t.number(_DOWN))
        scale = self.t.choose(rare, scale, self.t.number(1.0))
        none = self.t.emit(f"icmp eq {self.t.integers} {largest}, {self.t.whole(0)}")
        infinite = self.t.emit(f"icmp eq {self.t.integers} {largest}, {self.t.whole(_bits_of(math.inf))}")
        special = self.t.emit(f"or {self.t.mask} {none}, {infinite}")
        undefined = self.t.emit(f"icmp eq {self.t.integers} {least}, {self.t.whole(_bits_of(math.inf))}")
        a = self.t.choose(special, self.t.number(0.0), self.t.op("fmul", a, scale))
        a = self.t.choose(undefined, self.t.number(math.nan), a)
        return a, self.t.choose(special, self.t.number(1.0), self.t.op("fmul", b, scale))

    def _reduced(self, a: str, b: str) -> str:
        """Emit: a/b > tan(pi/8); false for NaN."""
        edge = self.t.op("fmul", b, self.t.number(TAN_EIGHTH_PI))
        return self.t.emit(f"icmp sgt {self.t.integers} {self.t.bits(a)}, {self.t.bits(edge)}")

    def _eighths(self, swapped: str, x: str, reduced: str, flip: str) -> str:
        """Multiple of pi/4 to be added: 0, 2 or 4 for the nearest axis, one more or less for a reduced angle."""
        left = self.t.emit(f"icmp slt {self.t.integers} {self.t.bits(x)}, {self.t.whole(0)}")
        axis = self.t.choose(left, self.t.number(4.0), self.t.number(0.0))
        axis = self.t.choose(swapped, self.t.number(2.0), axis)
        step = self.t.choose(reduced, self._signed(self.t.number(1.0), flip), self.t.number(0.0))
        return self.t.op("fadd", axis, step)

    def _polynomial(self, z: str, coefficients: Sequence[float]) -> str:
        """Even and odd powers in two chains, which run side by side."""
        square = self.t.op("fmul", z, z)
        even, odd = (self.t.horner(square, coefficients[start::2]) for start in (0, 1))
        return self.t.fma(z, odd, even)

    def _two_sum(self, larger: str, smaller: str) -> tuple[str, str]:
        """A sum and its rounding error, exactly, where |larger| >= |smaller| (T. J. Dekker)."""
        total = self.t.op("fadd", larger, smaller)
        return total, self.t.op("fsub", smaller, self.t.op("fsub", total, larger))

    def _excess(self, x: str, y: str, rounded: str) -> str:
        """x*y - rounded, exactly but for its last rounding, where the two are near each other."""
        if self.t.has_fma:
            return self.t.fma(x, y, self.t.negative(rounded))
        (x_high, x_low), (y_high, y_low) = self._split(x), self._split(y)
        correction = self.t.op("fsub", self.t.op("fmul", x_high, y_high), rounded)
        for left, right in ((x_high, y_low), (x_low, y_high), (x_low, y_low)):
            correction = self.t.op("fadd", correction, self.t.op("fmul", left, right))
        return correction

    def _split(self, x: str) -> tuple[str, str]:
        """The number as a sum of two of 26 bits (G. W. Veltkamp; in Dekker's paper)."""
        large = self.t.op("fmul", x, self.t.number(_SPLITTER))
        high = self.t.op("fsub", large, self.t.op("fsub", large, x))
        return high, self.t.op("fsub", x, high)

    def _and(self, bits: str, value: int) -> str:
        return self.t.emit(f"and {self.t.integers} {bits}, {self.t.whole(value)}")

    def _xor(self, left: str, right: str) -> str:
        return self.t.emit(f"xor {self.t.integers} {left}, {right}")

    def _sign_of(self, x: str) -> str:
        return self._and(self.t.bits(x), _SIGN)

    def _sign_where(self, mask: str) -> str:
        t = self.t
        return t.emit(f"select {t.mask} {mask}, {t.integers} {t.whole(_SIGN)}, {t.integers} {t.whole(0)}")

    def _signed(self, x: str, sign: str) -> str:
        """The number, turned over where the sign bit is set."""
        return self.t.float(self._xor(self.t.bits(x), sign))
