"""Whether two descriptions are of one robot: the base, tool, signs and zeros that lie between them, or what differs."""

from linkwise.comparison.correspondence import compare as compare
from linkwise.comparison.result import Comparison as Comparison
