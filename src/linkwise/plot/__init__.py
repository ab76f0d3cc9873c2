"""Curves of motions, with matplotlib."""
