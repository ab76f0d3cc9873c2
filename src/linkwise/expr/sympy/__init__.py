"""Conversion between expressions and SymPy."""
