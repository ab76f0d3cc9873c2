"""The kinds of joints, one file each."""

from linkwise.model.joints.revolute import Revolute as Revolute  # isort: skip  (the order of kinds in messages)
from linkwise.model.joints.prismatic import Prismatic as Prismatic  # isort: skip
from linkwise.model.joints.screw import Screw as Screw  # isort: skip
from linkwise.model.joints.universal import Universal as Universal  # isort: skip
from linkwise.model.joints.cylindrical import Cylindrical as Cylindrical  # isort: skip
from linkwise.model.joints.planar import Planar as Planar  # isort: skip
from linkwise.model.joints.ball import Ball as Ball  # isort: skip
from linkwise.model.joints.curvilinear import Curvilinear as Curvilinear
from linkwise.model.joints.fixed import Fixed as Fixed
from linkwise.model.joints.floating import Floating as Floating
from linkwise.model.joints.joint import JOINTS as JOINTS
from linkwise.model.joints.joint import Joint as Joint
from linkwise.model.joints.joint import joint as joint
from linkwise.model.joints.joint import make_joint as make_joint
from linkwise.model.joints.polynomial import PolynomialSlide as PolynomialSlide

#: The kind of joint where a link names none, and that of a link which does not move on its parent.
DEFAULT, RIGID = Revolute.kind, Fixed.kind

#: The joint between the ground and a base that floats.
FREE = Floating()
