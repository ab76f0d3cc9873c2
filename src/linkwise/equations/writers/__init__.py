"""Listings as text, Markdown, LaTeX, SymPy and Python source."""

from linkwise.equations.writers.latex import to_latex as to_latex
from linkwise.equations.writers.markdown import to_markdown as to_markdown
from linkwise.equations.writers.sympy import to_source as to_source
from linkwise.equations.writers.sympy import to_sympy as to_sympy
from linkwise.equations.writers.text import to_text as to_text
