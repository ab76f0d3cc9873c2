"""Dynamics with closed loops: constraint forces, and the remaining motion."""

from linkwise.dynamics.closed_loops.derivatives import (
    closed_inverse_dynamics_derivatives as closed_inverse_dynamics_derivatives,
)
from linkwise.dynamics.closed_loops.derivatives import closure_derivatives as closure_derivatives
from linkwise.dynamics.closed_loops.forward_dynamics import closed_forward_dynamics as closed_forward_dynamics
from linkwise.dynamics.closed_loops.forward_dynamics import constraint_forces as constraint_forces
from linkwise.dynamics.closed_loops.inverse_dynamics import closed_inverse_dynamics as closed_inverse_dynamics
from linkwise.dynamics.closed_loops.joint_wrenches import ClosedJointWrenches as ClosedJointWrenches
from linkwise.dynamics.closed_loops.joint_wrenches import closed_joint_wrenches as closed_joint_wrenches
from linkwise.dynamics.closed_loops.nullspace import reduced_mass_matrix as reduced_mass_matrix
from linkwise.dynamics.closed_loops.projection import project_to_loops as project_to_loops
from linkwise.dynamics.closed_loops.regressor import closed_gravity_regressor as closed_gravity_regressor
from linkwise.dynamics.closed_loops.regressor import closed_momentum_regressor as closed_momentum_regressor
from linkwise.dynamics.closed_loops.regressor import closed_regressor as closed_regressor
from linkwise.dynamics.closed_loops.second_derivatives import (
    closed_inverse_dynamics_hessian_product as closed_inverse_dynamics_hessian_product,
)
from linkwise.dynamics.closed_loops.second_derivatives import (
    closed_inverse_dynamics_second_derivatives as closed_inverse_dynamics_second_derivatives,
)
