"""Closed forms of inverse kinematics: the geometry recognised by the axes, every solution, each checked again."""

from linkwise.solve.closed_form.closed_form import ClosedForm as ClosedForm
from linkwise.solve.closed_form.closed_form import NoClosedFormError as NoClosedFormError
from linkwise.solve.closed_form.closed_form import all_inverse_kinematics as all_inverse_kinematics
from linkwise.solve.closed_form.closed_form import closed_form as closed_form
from linkwise.solve.closed_form.solutions import Solutions as Solutions
