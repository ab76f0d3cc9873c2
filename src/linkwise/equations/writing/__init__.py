"""Listings as text, Markdown, LaTeX, SymPy and Python source."""
