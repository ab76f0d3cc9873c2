"""The face that users hold: a mechanism's data, with one line per algorithm."""

from __future__ import annotations

from linkwise.model.tree import Tree


class Mechanism(Tree):
    """Links and joints, and everything that can be computed about them."""
