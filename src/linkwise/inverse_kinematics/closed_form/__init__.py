"""Closed forms of inverse kinematics: the geometry recognised by the axes, every solution, each checked again.

The way from a mechanism to its solutions, a module a step:

1. `geometry`: the chain of joint axes from the base to a frame, in one reference position. `nearby`: the chain beside it in
   which axes that nearly meet, or are nearly parallel, do so exactly.
2. `detect`: which family a chain belongs to, or why it belongs to none; see `problem` for what a family is.
3. The families of six revolute joints: `spherical` (three axes that meet, with `regional` for the place of that point and
   `wrist` for the orientation) and `parallel` (three parallel axes, with `planar`).
4. `taken_apart`: all else. It tries every way on positions at random: `rotation_first` (the orientation alone gives what
   turns), `blocks` (about axes that meet), `planar_run` and `plane_first` (three joints in one plane), `part_of_pose` (a
   place or an orientation only). `setting` has the chain with one joint fixed; `fixed_joint` makes six of seven. Places by
   up to three joints of any kind: `wrist_positions`, with `position_sides`, `position_plans` and `position_pairs`;
   orientations: `rotations`.
5. The equations that all are made of: `subproblems` (one angle), `two_angles`, `subproblem6` (the quartic).
6. `program`: a family as one function from a pose to its solutions, with `refine` (exact on the true arm, and checked) and
   `ranking` (whole turns, limits, no solution twice, the nearest first). `compiled`: its kernel, for arguments of any shape.
   `undetermined`: at which poses equations leave their unknown free; `completion`: what may be missing there, by iteration.
7. `closed_form`: what users hold; `solutions`: the answers for a batch.

Joints of any other geometry, by elimination: `circle_determinant` (six joints, one of which may slide, over scalars),
`two_sliding` (two of them slide), `circle_roots` (roots on the unit circle), `known_roots` (whether there are others),
`loop_closing` (Gauss-Newton steps), `answers` (solutions of many poses), `general_arm` (which joints are taken in which
order, and whether the solutions are all), `offset_wrist` (a special geometry, of degree 8, that is solved first),
`five_joint_arm` (a virtual sixth joint), `elimination` (of a mechanism). `five_revolute`: closed forms of five joints
with parallel groups.
"""

from linkwise.inverse_kinematics.closed_form.closed_form import ClosedForm as ClosedForm
from linkwise.inverse_kinematics.closed_form.closed_form import NoClosedFormError as NoClosedFormError
from linkwise.inverse_kinematics.closed_form.closed_form import Solutions as Solutions
from linkwise.inverse_kinematics.closed_form.closed_form import closed_form as closed_form
from linkwise.inverse_kinematics.closed_form.elimination import Elimination as Elimination
from linkwise.inverse_kinematics.closed_form.elimination import elimination as elimination
