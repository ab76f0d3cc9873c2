"""Reading and writing files: descriptions of mechanisms (.toml, URDF, MJCF, SDF, .DAT) and joint motions (.MOT, .csv)."""

from linkwise.files.descriptions import check as check
from linkwise.files.descriptions import load as load
from linkwise.files.descriptions import loads as loads
from linkwise.files.descriptions import read as read
from linkwise.files.descriptions import remarks as remarks
from linkwise.files.descriptions import save as save
from linkwise.files.formats import xacro as xacro
from linkwise.files.formats.dh.table import read_dh as read_dh
from linkwise.files.formats.dh.writer import save_dh as save_dh
from linkwise.files.motion import MotionFile as MotionFile
from linkwise.files.motion import check_motion as check_motion
from linkwise.files.motion import open_motion as open_motion
from linkwise.files.motion import save_motion as save_motion
from linkwise.files.registry import ReadOptions as ReadOptions
from linkwise.files.report import Description as Description
from linkwise.files.srdf import JointGroup as JointGroup
from linkwise.files.srdf import Semantics as Semantics
from linkwise.files.srdf import read_srdf as read_srdf
from linkwise.model.shape import Shape as Shape
