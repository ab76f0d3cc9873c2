"""Comparison of two descriptions of robots: base, tool, signs and zeros between them, or the differences."""

from linkwise.comparison.correspondence import compare as compare
from linkwise.comparison.result import Comparison as Comparison
