"""The equations of motion in symbols: `Mechanism.equations`."""

from linkwise.equations.equations import Equations as Equations
from linkwise.equations.forms.harmonic import HarmonicForm as HarmonicForm
from linkwise.equations.forms.harmonic_sum import HarmonicSum as HarmonicSum
