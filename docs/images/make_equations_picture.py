"""Draws the picture of the page about equations: what LaTeX makes of a derivation. Needs pdflatex and pdftoppm."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

import linkwise as lw
from linkwise.equations.writers.latex import latex_document

HERE = Path(__file__).parent

arm = lw.robots.planar_3r().symbolic("inertial", "lengths", "gravity")
source = latex_document([arm.derive("mass_matrix", "explicit").listing])
with tempfile.TemporaryDirectory() as folder:
    Path(folder, "made.tex").write_text(source.replace(r"\begin{document}", r"\begin{document}\pagestyle{empty}"))
    subprocess.run(["pdflatex", "-interaction=batchmode", "made.tex"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    crop = ["-x", "60", "-y", "40", "-W", "660", "-H", "430", "-r", "96", "-gray", "-singlefile", "-png"]
    subprocess.run(["pdftoppm", *crop, "made.pdf", str(HERE / "equations.tmp")], cwd=folder, check=True)
(HERE / "equations.tmp.png").rename(HERE / "equations.png")
print(f"drawn: {HERE / 'equations.png'}")
