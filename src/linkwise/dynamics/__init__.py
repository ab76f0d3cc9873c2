"""What forces it takes, and what motion they give: one algorithm per file."""

from linkwise.dynamics.base_parameters import BaseParameters as BaseParameters
from linkwise.dynamics.base_parameters import base_parameters as base_parameters
from linkwise.dynamics.center_of_mass import center_of_mass as center_of_mass
from linkwise.dynamics.center_of_mass import center_of_mass_jacobian as center_of_mass_jacobian
from linkwise.dynamics.coriolis_matrix import coriolis_matrix as coriolis_matrix
from linkwise.dynamics.derivatives import inverse_dynamics_derivatives as inverse_dynamics_derivatives
from linkwise.dynamics.efforts import bias_torque as bias_torque
from linkwise.dynamics.efforts import friction_torque as friction_torque
from linkwise.dynamics.efforts import gravity_torque as gravity_torque
from linkwise.dynamics.energy import kinetic_energy as kinetic_energy
from linkwise.dynamics.energy import potential_energy as potential_energy
from linkwise.dynamics.forward_derivatives import forward_dynamics_derivatives as forward_dynamics_derivatives
from linkwise.dynamics.forward_dynamics import forward_dynamics as forward_dynamics
from linkwise.dynamics.inverse_dynamics import inverse_dynamics as inverse_dynamics
from linkwise.dynamics.joint_actions import joint_actions as joint_actions
from linkwise.dynamics.mass_matrix import mass_matrix as mass_matrix
from linkwise.dynamics.momentum import momentum as momentum
from linkwise.dynamics.operational_space import inverse_operational_space_inertia as inverse_operational_space_inertia
from linkwise.dynamics.operational_space import operational_space_inertia as operational_space_inertia
from linkwise.dynamics.operators import SpatialOperators as SpatialOperators
from linkwise.dynamics.operators import spatial_operators as spatial_operators
from linkwise.dynamics.regressor import regressor as regressor
from linkwise.model.parameters import parameter_names as parameter_names
from linkwise.model.parameters import parameter_values as parameter_values
