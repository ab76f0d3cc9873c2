"""Explicit and harmonic forms: results written out, in symbols and base parameters, abbreviated within bounds."""
