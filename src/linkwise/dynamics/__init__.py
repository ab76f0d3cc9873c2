"""Dynamics: forces of a motion, and motions under forces; one algorithm per file, registered by its import."""

from linkwise.dynamics import centroidal_momentum as centroidal_momentum
from linkwise.dynamics import derivatives as derivatives
from linkwise.dynamics import energy as energy
from linkwise.dynamics import lagrange as lagrange
from linkwise.dynamics import length_inertias as length_inertias
from linkwise.dynamics import second_derivatives as second_derivatives
from linkwise.dynamics.base_parameters.base_parameters import BaseParameters as BaseParameters
from linkwise.dynamics.base_parameters.base_parameters import base_parameters as base_parameters
from linkwise.dynamics.base_parameters.model import BaseBodies as BaseBodies
from linkwise.dynamics.base_parameters.model import base_bodies as base_bodies
from linkwise.dynamics.base_parameters.symbolic import BaseForms as BaseForms
from linkwise.dynamics.base_parameters.symbolic import base_forms as base_forms
from linkwise.dynamics.center_of_mass import center_of_mass as center_of_mass
from linkwise.dynamics.closed_loops import closed_gravity_regressor as closed_gravity_regressor
from linkwise.dynamics.closed_loops import closed_inverse_dynamics as closed_inverse_dynamics
from linkwise.dynamics.closed_loops import closed_inverse_dynamics_derivatives as closed_inverse_dynamics_derivatives
from linkwise.dynamics.closed_loops import closed_inverse_dynamics_hessian_product as closed_inverse_dynamics_hessian_product
from linkwise.dynamics.closed_loops import (
    closed_inverse_dynamics_second_derivatives as closed_inverse_dynamics_second_derivatives,
)
from linkwise.dynamics.closed_loops import closed_joint_wrenches as closed_joint_wrenches
from linkwise.dynamics.closed_loops import closed_momentum_regressor as closed_momentum_regressor
from linkwise.dynamics.closed_loops import closed_regressor as closed_regressor
from linkwise.dynamics.closed_loops import reduced_mass_matrix as reduced_mass_matrix
from linkwise.dynamics.contact import Contact as Contact
from linkwise.dynamics.contact import ContactDerivatives as ContactDerivatives
from linkwise.dynamics.contacts import Contacts as Contacts
from linkwise.dynamics.coriolis_matrix import coriolis_matrix as coriolis_matrix
from linkwise.dynamics.external import LinkWrenches as LinkWrenches
from linkwise.dynamics.external import Wrench as Wrench
from linkwise.dynamics.forward_dynamics import forward_dynamics as forward_dynamics
from linkwise.dynamics.inverse_dynamics import gravity_torque as gravity_torque
from linkwise.dynamics.inverse_dynamics import inverse_dynamics as inverse_dynamics
from linkwise.dynamics.inverse_mass_matrix import inverse_mass_matrix as inverse_mass_matrix
from linkwise.dynamics.joint_wrenches import joint_wrenches as joint_wrenches
from linkwise.dynamics.linearization import linearize as linearize
from linkwise.dynamics.linearization import modes as modes
from linkwise.dynamics.mass_matrix import mass_matrix as mass_matrix
from linkwise.dynamics.momentum import momentum as momentum
from linkwise.dynamics.momentum import momentum_dot as momentum_dot
from linkwise.dynamics.operational_space import dynamic_manipulability as dynamic_manipulability
from linkwise.dynamics.operational_space import operational_space_dynamics as operational_space_dynamics
from linkwise.dynamics.operational_space import operational_space_inertia as operational_space_inertia
from linkwise.dynamics.path_dynamics import path_dynamics as path_dynamics
from linkwise.dynamics.regressor import regressor as regressor
from linkwise.dynamics.spatial_operators import SpatialOperators as SpatialOperators
from linkwise.dynamics.spatial_operators import spatial_operators as spatial_operators
from linkwise.dynamics.static_equilibrium import static_equilibrium as static_equilibrium
from linkwise.model.parameters import parameter_names as parameter_names
from linkwise.model.parameters import parameter_values as parameter_values
