"""Closed forms of inverse kinematics: the geometry recognised by the axes, every solution, each checked again.

The way from a mechanism to its solutions, a module a step:

1. `axis_chain`: the chain of joint axes from the base to a frame, in one reference position, and the chain beside it in
   which axes that nearly meet, or are nearly parallel, do so exactly.
2. `decomposition`: which family a chain belongs to, or why it belongs to none; see `problem` for what a family is.
3. The families of six revolute joints: `six_revolute` (three axes that meet, with `position` for the place of that point
   and `orientation` for the wrist; or three parallel axes).
4. All else is taken apart by trying every way on positions at random: `axis_clusters` (about axes that meet), `planar_chain`
   (the orientation alone gives what turns, or three joints move in one plane), `five_revolute`; places by up to three joints
   of any kind by `position` and `position_pairs`.
5. `subproblems`: the equations that all are made of.
6. `program`: a family as one function from a pose to its solutions, refined, checked and ordered. `compiled`: its kernel,
   for arguments of any shape. `completion`: what may be missing at special poses, by iteration. `at_limits`: solutions
   beside the joint limits.
7. `closed_form`: what users hold; `solutions`: all solutions of a batch.

Joints of any other geometry, by elimination: `circle_determinant` (six joints, one of which may slide, over scalars),
`two_sliding` (two of them slide), `circle_roots` (roots on the unit circle, and whether there are others), `loop_closing`
(Gauss-Newton steps), `answers` (solutions of many poses), `general_arm` (which joints are taken in which order, and
whether the solutions are all), `offset_wrist` (a special geometry, of degree 8, that is solved first), `elimination` (of a
mechanism; five joints have a virtual sixth one). `five_revolute`: closed forms of five joints with parallel groups.
"""

from linkwise.inverse_kinematics.closed_form.closed_form import ClosedForm as ClosedForm
from linkwise.inverse_kinematics.closed_form.closed_form import NoClosedFormError as NoClosedFormError
from linkwise.inverse_kinematics.closed_form.closed_form import closed_form as closed_form
from linkwise.inverse_kinematics.closed_form.elimination import Elimination as Elimination
from linkwise.inverse_kinematics.closed_form.elimination import elimination as elimination
from linkwise.inverse_kinematics.closed_form.solutions import Solutions as Solutions
