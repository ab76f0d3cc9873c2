"""Equations of motion in symbols: a two-link arm as a book has it, a PUMA 560 in three forms, abbreviated, and as LaTeX."""

from __future__ import annotations

from pathlib import Path

import linkwise as lw

# ── an arm whose numbers are symbols ──────────────────────────────────────────────────────────────
m1, m2, l1, lc1, lc2, I1, I2, g = lw.symbols("m1 m2 l1 lc1 lc2 I1 I2 g")
upper = lw.Link.dh(a=l1, convention="standard", mass=m1, com=(lc1 - l1, 0, 0), inertia=(0, 0, I1))
lower = lw.Link.dh(a=0.5, convention="standard", mass=m2, com=(lc2 - 0.5, 0, 0), inertia=(0, 0, I2))
arm = lw.Mechanism([upper, lower], gravity=(0, -g, 0), name="arm")
print(arm.derive("mass_matrix", "explicit"))
print("C =", arm.equations().C)

# ── a PUMA 560: numbers, and ten symbols for the inertia of each link ─────────────────────────────
puma = lw.robots.puma560()
puma = puma.replace(links=[link.replace(motor=None) for link in puma.links])
named = puma.symbolic("inertial", "lengths", "gravity")
for model, form, options in (
    (named, "recursive", {}),
    (named, "explicit", {"base": True}),
    (puma, "explicit", {}),
    (puma, "harmonic", {}),
    (puma, "harmonic", {"significance": 0.01}),
):
    made = model.derive("mass_matrix", form, **options)
    said = ", ".join(f"{key}={value}" for key, value in options.items())
    kind = "symbols" if model is named else "numbers"
    off = f", off by {made.bound:.3f} at most" if made.bound else ""
    print(f"M, {form:<9} {kind} {said:<17} {made.seconds:.2f} s, {made.terms:3} terms{off}")

# ── everything on paper ───────────────────────────────────────────────────────────────────────────
Path("out").mkdir(exist_ok=True)
document = named.derive("inverse_dynamics").to_latex(document=True)
Path("out/puma560_inverse_dynamics.tex").write_text(document)
print("written: out/puma560_inverse_dynamics.tex,", len(document.splitlines()), "lines")
