"""The equations of a two-link arm by the 4x4 method on symbols: SpaceLib's functions, SymPy's letters, LaTeX."""

from pathlib import Path

import sympy

import linkwise as lw
from linkwise.spacelib import (
    NULL4,
    ORIGIN,
    PseDot,
    Rev,
    U,
    X,
    Y,
    Z,
    actom,
    cardatoh,
    cardatom,
    cardatow,
    coriolis,
    dhtom,
    dyn_eq,
    gtom,
    gtomgapt,
    jtoj,
    makel2,
    mami,
    mamt,
    mtov,
    skew,
    tracljlt,
    vactowh2,
    vactowh3,
)


def letters(names: str) -> tuple[sympy.Symbol, ...]:
    """Real SymPy symbols."""
    return tuple(sympy.symbols(names, real=True))


# An arm in the x-y plane: angles; link lengths, masses, centres of mass at r from the joints, moments about these.
q, qd, qdd = letters("q1 q2"), letters("qd1 qd2"), letters("qdd1 qdd2")
a, m, r, I = letters("a1 a2"), letters("m1 m2"), letters("r1 r2"), letters("I1 I2")  # noqa: E741
(g,) = letters("g,")

# Positions. Frame (i) stands at the far end of link i, so its centre of mass is at x = r - a there.
M01 = dhtom(Rev, 0, 0, 0, a[0], 0, q[0])
M02 = M01 @ dhtom(Rev, 0, 0, 0, a[1], 0, q[1])

# What each joint does at unit speed, and the inertias: all in frame (0).
L = makel2(Rev, Z, 0, ORIGIN), mami(makel2(Rev, Z, 0, ORIGIN), M01)
J = [mamt(jtoj(m[k], 0, I[k], I[k], 0, 0, 0, r[k] - a[k], 0, 0), frame) for k, frame in enumerate((M01, M02))]

# The mass matrix: trace of L_i J_k L_j', summed over the links k that both joints carry.
M = sympy.Matrix(2, 2, lambda i, j: sympy.simplify(sum(tracljlt(L[i], J[k], L[j]) for k in range(max(i, j), 2))))

# Velocities and accelerations, link by link: Coriolis' theorem.
W01, H01 = vactowh2(Rev, Z, qd[0], qdd[0])
W12, H12 = vactowh3(Rev, Z, qd[1], qdd[1], M01[:, U])
H02 = coriolis(H01, H12, W01, W12)

# Actions that the links need: mass times acceleration, less weight. Each joint gives what does work on its own motion.
Hg = gtom(0, -g, 0)
F1, F2 = skew(H01 - Hg, J[0]), skew(H02 - Hg, J[1])
tau = sympy.Matrix([PseDot(L[0], F1 + F2), PseDot(L[1], F2)]).applyfunc(sympy.simplify)
gravity = tau.subs(dict.fromkeys([*qd, *qdd], 0)).applyfunc(sympy.simplify)
velocity = (tau - M * sympy.Matrix(qdd) - gravity).applyfunc(sympy.simplify)

written = {qd[k]: rf"\dot{{q}}_{k + 1}" for k in range(2)} | {qdd[k]: rf"\ddot{{q}}_{k + 1}" for k in range(2)}
equations = [
    rf"{name} &= {sympy.latex(value, symbol_names=written)}"
    for name, value in [
        ("M_{11}", M[0, 0]), ("M_{12} = M_{21}", M[0, 1]), ("M_{22}", M[1, 1]),
        ("h_1", velocity[0]), ("h_2", velocity[1]), ("g_1", gravity[0]), ("g_2", gravity[1]),
    ]
]  # fmt: skip
print(" \\\\\n".join(equations))

# The same as the book has it (M. W. Spong, M. Vidyasagar, Robot Dynamics and Control, 1989).
c2, s2 = sympy.cos(q[1]), sympy.sin(q[1])
first, both = sympy.cos(q[0]), sympy.cos(q[0] + q[1])
d11 = m[0] * r[0] ** 2 + m[1] * (a[0] ** 2 + r[1] ** 2 + 2 * a[0] * r[1] * c2) + I[0] + I[1]
d12 = m[1] * (r[1] ** 2 + a[0] * r[1] * c2) + I[1]
d22 = m[1] * r[1] ** 2 + I[1]
h = -m[1] * a[0] * r[1] * s2
masses = sympy.Matrix([[d11, d12], [d12, d22]])
products = sympy.Matrix([h * qd[1] * (2 * qd[0] + qd[1]), -h * qd[0] ** 2])
weights = g * sympy.Matrix([(m[0] * r[0] + m[1] * a[0]) * first + m[1] * r[1] * both, m[1] * r[1] * both])
book = masses * sympy.Matrix(qdd) + products + weights
print("less the book's:", sympy.simplify(tau - book).T)

# And as the recursion of a mechanism has it, with numbers.
half, quarter = sympy.Rational(1, 2), sympy.Rational(1, 4)
numbers = dict(zip([*a, *m, *r, *I, g], [1, half, 8, 4, half, quarter, 1, quarter, 10], strict=True))
links = []
for k in range(2):
    length, mass, middle, moment = (float(numbers[letter[k]]) for letter in (a, m, r, I))
    body = {"mass": mass, "com": (middle - length, 0, 0), "inertia": (0, moment, moment, 0, 0, 0)}
    links.append(lw.Link.dh(a=length, convention="standard", **body))
e = lw.Mechanism(links, gravity=(0, -10, 0)).equations()
theirs = e.tau.subs(dict(zip([*e.q, *e.qd, *e.qdd], [*q, *qd, *qdd], strict=True)))
print("less the mechanism's:", sympy.simplify(sympy.nsimplify(theirs - tau.subs(numbers), rational=True)).T)

# A free body turns at (p, s, t) about its principal axes: which acceleration do torques give it? Euler's equations.
p, s, t, A, B, C, cx, cy, cz = letters("p s t A B C cx cy cz")
body = jtoj(m[0], A, B, C, 0, 0, 0, 0, 0, 0)
W = cardatow([0, 0, 0], [p, s, t], X, Y, Z, ORIGIN)
ASKED = [[1, 1, 1, 1, 1, 1], [0, 0, 0, 0, 0, 0]]  # all accelerations; all torques and forces are known
Wp, _, _ = dyn_eq(body, NULL4, actom(0, 0, 0, cx, cy, cz) - skew(W @ W, body), ASKED)
acceleration = [sympy.factor(rate) for rate in gtomgapt(Wp)]
print("angular acceleration:", *(sympy.latex(rate) for rate in acceleration), sep="\n")

# A top goes round with P, leans by theta and spins with S: the torque that keeps it so, and back to its acceleration.
theta, P, S = letters("theta P S")
angles, rates = [0, theta, 0], [P, 0, S]  # x is along the line of nodes
top = mamt(jtoj(m[0], A, A, C, 0, 0, 0, 0, 0, 0), cardatom(angles, Z, X, Z, ORIGIN))
H = cardatoh(angles, rates, [0, 0, 0], Z, X, Z, ORIGIN)
torque = [sympy.factor(sympy.simplify(part)) for part in mtov(skew(H, top))]
print("torque:", sympy.latex(torque[0]))
W = cardatow(angles, rates, Z, X, Z, ORIGIN)
Wp, _, _ = dyn_eq(top, NULL4, skew(H - W @ W, top), ASKED)
print("back:", sympy.simplify(sympy.Matrix(Wp - (H - W @ W))) == sympy.zeros(4, 4))

Path("out").mkdir(exist_ok=True)
Path("out/two_link.tex").write_text("\\begin{align*}\n" + " \\\\\n".join(equations) + "\n\\end{align*}\n")
print("written: out/two_link.tex")
