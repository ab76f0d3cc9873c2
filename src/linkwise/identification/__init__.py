"""Identification: base parameters with their deviations from recorded motions, and motions that excite them well."""

from linkwise.identification.identify import Identification as Identification
from linkwise.identification.identify import identify as identify
from linkwise.identification.optimal_excitation import ExcitingTrajectory as ExcitingTrajectory
from linkwise.identification.optimal_excitation import exciting_trajectory as exciting_trajectory
from linkwise.identification.preprocess import differentiate as differentiate
