"""Lagrange's equations as a lesson: a planar arm by hand in SymPy, by the graph, by Newton and Euler; then a PUMA 560."""

from __future__ import annotations

import time

import numpy as np
import sympy

import linkwise as lw
from linkwise.equations.tape_to_sympy import to_sympy

# Two links in a vertical plane: masses m, lengths l, centres of mass at lc from the joints, moments I about these.
links = []
for k in (1, 2):
    m, l, lc, I = lw.symbols(f"m{k} l{k} lc{k} I{k}")  # noqa: E741
    links.append(lw.Link.dh(a=l, convention="standard", mass=m, com=(lc - l, 0, 0), inertia=(0, I, I)))
arm = lw.Mechanism(links, gravity=(0, -lw.symbols("g"), 0), name="planar arm")


def written(name: str) -> sympy.Matrix:
    """What a kernel computes, as SymPy."""
    tape = arm.kernel(name).tape
    letters = [sympy.Symbol(word, real=True) for key in tape.inputs for word in tape.labels[key]]
    return next(iter(to_sympy(tape, letters, evaluate=True).values()))


# 1. The energies. Each link's pose is a product of matrices; its rate is the derivative of that product along the motion.
L = sympy.simplify(written("lagrangian")[0])
print("L =", L)

# 2. By hand: a momentum for each joint, its derivative in time, less the slope of L.
q, qd, qdd = (sympy.symbols(f"{letter}1 {letter}2", real=True) for letter in ("q", "qd", "qdd"))


def in_time(x: sympy.Expr) -> sympy.Expr:
    return sum(x.diff(q[k]) * qd[k] + x.diff(qd[k]) * qdd[k] for k in range(2))


tau = sympy.Matrix([in_time(L.diff(qd[k])) - L.diff(q[k]) for k in range(2)])
parts = sympy.collect(sympy.expand(tau[1]), [*qdd, *qd])
print("tau2 =", parts)

# 3. The graph takes the same derivatives; the recursion of Newton and Euler knows nothing of energies.
for name in ("lagrange_dynamics", "inverse_dynamics"):
    left = (tau - written(name)).applyfunc(lambda x: sympy.expand(x.rewrite(sympy.exp)))
    print(f"less {name}: {list(left)}, operations {arm.kernel(name).operations}")

# 4. Any mechanism, with motors: the check costs more than what it checks.
puma = lw.robots.puma560()
state = np.random.default_rng(0).normal(size=(3, 1000, puma.n))
begin = time.perf_counter()
lagrange = puma.kernel("lagrange_dynamics")
seconds = time.perf_counter() - begin
difference = np.abs(lagrange(*state) - puma.inverse_dynamics(*state)).max() / np.abs(puma.inverse_dynamics(*state)).max()
count = [sum(puma.kernel(name).operations[kind] for kind in ("mul", "add")) for name in (lagrange.name, "inverse_dynamics")]
print(f"puma560: derived in {seconds:.2f} s, {count[0]} operations in place of {count[1]}, the same to {difference:.0e}")
