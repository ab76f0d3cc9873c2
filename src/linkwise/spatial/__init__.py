"""Rotations, rigid transforms, inertia and the 4x4 matrix method, over arrays of scalars.

A *scalar* is a float, an expression node or a SymPy symbol; arrays of the last two have ``dtype=object``.
"""
