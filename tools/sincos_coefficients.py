"""Compute the polynomial coefficients of `linkwise.kernel.backends.llvm.sincos`, and the three parts of pi/2.

Run it and compare: ``python tools/sincos_coefficients.py``. Polynomials interpolate at Chebyshev nodes, which is
within a factor of about two of the best polynomial; the printed error bound says that this is enough.
"""

import mpmath as mp

mp.mp.prec = 400
END = (mp.pi / 4 * mp.mpf("1.0001")) ** 2


def sine_rest(z):
    r = mp.sqrt(z)
    return (mp.sin(r) - r) / r**3


def cosine_rest(z):
    return (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z**2


def interpolated(function, terms):
    nodes = [END / 2 * (1 + mp.cos(mp.pi * (2 * k + 1) / (2 * terms))) for k in range(terms)]
    matrix = mp.matrix(terms, terms)
    for i, node in enumerate(nodes):
        for j in range(terms):
            matrix[i, j] = node**j
    solved = mp.lu_solve(matrix, mp.matrix([function(node) for node in nodes]))
    return [float(value) for value in solved]


def worst(function, coefficients, weight):
    points = [END * k / 2000 for k in range(1, 2001)]
    return max(abs(mp.polyval([mp.mpf(c) for c in reversed(coefficients)], z) - function(z)) * weight(z) for z in points)


def parts(value, count):
    found = []
    for _ in range(count):
        found.append(float(value))
        value -= mp.mpf(found[-1])
    return found


if __name__ == "__main__":
    for name, function, terms, weight in (
        ("SINE", sine_rest, 6, lambda z: z),
        ("COSINE", cosine_rest, 6, lambda z: z**2),
        ("SINE_SINGLE", sine_rest, 4, lambda z: z),
        ("COSINE_SINGLE", cosine_rest, 4, lambda z: z**2),
    ):
        made = interpolated(function, terms)
        print(name, "=", tuple(made))
        print("    # relative error below 2 **", mp.nstr(mp.log(worst(function, made, weight), 2), 4))
    print("HALF_PI =", tuple(parts(mp.pi / 2, 3)))
