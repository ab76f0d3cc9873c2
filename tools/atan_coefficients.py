"""Compute the polynomial coefficients of `linkwise.kernel.backends.llvm.atan`, and pi/4 in two parts.

Run it and compare: ``python tools/atan_coefficients.py``. Polynomials interpolate at Chebyshev nodes, which is within a
factor of about two of the best polynomial; the printed error bound says that this is enough. The first part of pi/4 has 50
bits, so that its multiples up to four are exact.
"""

import mpmath as mp

mp.mp.prec = 400
END = (mp.sqrt(2) - 1) ** 2 * mp.mpf("1.0001")


def atan_rest(z):
    t = mp.sqrt(z)
    return (mp.atan(t) - t) / t**3


def interpolated(function, terms):
    nodes = [END / 2 * (1 + mp.cos(mp.pi * (2 * k + 1) / (2 * terms))) for k in range(terms)]
    matrix = mp.matrix(terms, terms)
    for i, node in enumerate(nodes):
        for j in range(terms):
            matrix[i, j] = node**j
    solved = mp.lu_solve(matrix, mp.matrix([function(node) for node in nodes]))
    return [float(value) for value in solved]


def worst(function, coefficients):
    points = [END * k / 2000 for k in range(1, 2001)]
    return max(abs(mp.polyval([mp.mpf(c) for c in reversed(coefficients)], z) - function(z)) * z for z in points)


def parts(value, bits):
    first = mp.floor(mp.ldexp(value, bits)) / mp.mpf(2) ** bits
    return float(first), float(value - first)


if __name__ == "__main__":
    for name, terms in (("ATAN", 12), ("ATAN_SINGLE", 6)):
        made = interpolated(atan_rest, terms)
        print(name, "=", tuple(made))
        print("    # error relative to t below 2 **", mp.nstr(mp.log(worst(atan_rest, made), 2), 4))
    print("QUARTER_PI =", parts(mp.pi / 4, 50))
