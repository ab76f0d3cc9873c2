"""Passes that save operations without changing results."""
