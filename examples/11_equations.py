"""The equations of motion of a PUMA 560, all six joints, written out: how many terms, how long it takes, how exact."""

from __future__ import annotations

import time
import tracemalloc
from pathlib import Path

import sympy

import linkwise as lw

puma = lw.robots.puma560()

begin = time.perf_counter()
e = puma.equations()
matrices = e.M, e.C, e.g
seconds = time.perf_counter() - begin
terms = e.harmonics.terms
print(f"{e}: {seconds:.2f} s")
print(f"terms: {terms['M']} in M, {terms['C']} in C, {terms['g']} in g; from the kernels they differ by {e.residual:.0e}")

fresh = puma.replace(name="again")  # measured apart, for measuring takes time
tracemalloc.start()
e = fresh.equations()
matrices = e.M, e.C, e.g
print(f"peak memory: {tracemalloc.get_traced_memory()[1] / 1e6:.1f} MB")
tracemalloc.stop()

print("g5 =", sympy.N(e.g[4], 4))
print("M55 =", sympy.N(e.M[4, 4], 4), "  M25 has", len(e.M[1, 4].args), "terms")

Path("out").mkdir(exist_ok=True)
Path("out/puma560.tex").write_text(e.to_latex(4))
print("written: out/puma560.tex,", len(e.to_latex(4).splitlines()), "lines")
