"""The equations of motion in symbols: `Mechanism.equations`."""

from linkwise.equations.closed_form.harmonic import HarmonicForm as HarmonicForm
from linkwise.equations.equations_of_motion import Equations as Equations
