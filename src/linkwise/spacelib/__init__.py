"""SpaceLib (G. Legnani et al., University of Brescia): the 4x4-matrix method, on numbers, batches and symbols.

Every function of *SpaceLib for MATLAB, User's Manual* under its MATLAB name, with its arguments in the manual's order. The
names of the C and Maple releases are found here too, but for those that mean two things; these are in `linkwise.spacelib.c`
and `linkwise.spacelib.maple`. The sample programs are in `linkwise.spacelib.programs`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from linkwise.spacelib.cardan import cardatol as cardatol
from linkwise.spacelib.cardan import cardatom as cardatom
from linkwise.spacelib.cardan import cardator as cardator
from linkwise.spacelib.cardan import cardtowp as cardtowp
from linkwise.spacelib.cardan import inva as inva
from linkwise.spacelib.cardan import mtocarda as mtocarda
from linkwise.spacelib.cardan import rtocarda as rtocarda
from linkwise.spacelib.cardan_rates import cardatog as cardatog
from linkwise.spacelib.cardan_rates import cardatoh as cardatoh
from linkwise.spacelib.cardan_rates import cardatow as cardatow
from linkwise.spacelib.cardan_rates import cardompt as cardompt
from linkwise.spacelib.cardan_rates import cardtome as cardtome
from linkwise.spacelib.cardan_rates import cardtoom as cardtoom
from linkwise.spacelib.cardan_rates import htocarda as htocarda
from linkwise.spacelib.cardan_rates import wtocarda as wtocarda
from linkwise.spacelib.constants import NOTOK as NOTOK
from linkwise.spacelib.constants import NULL3 as NULL3
from linkwise.spacelib.constants import NULL4 as NULL4
from linkwise.spacelib.constants import OK as OK
from linkwise.spacelib.constants import ORIGIN as ORIGIN
from linkwise.spacelib.constants import PIG as PIG
from linkwise.spacelib.constants import PIG2 as PIG2
from linkwise.spacelib.constants import PIG_2 as PIG_2
from linkwise.spacelib.constants import SKEW_ as SKEW_
from linkwise.spacelib.constants import SYMM_ as SYMM_
from linkwise.spacelib.constants import UNIT3 as UNIT3
from linkwise.spacelib.constants import UNIT4 as UNIT4
from linkwise.spacelib.constants import Col as Col
from linkwise.spacelib.constants import For as For
from linkwise.spacelib.constants import Pri as Pri
from linkwise.spacelib.constants import Rev as Rev
from linkwise.spacelib.constants import Row as Row
from linkwise.spacelib.constants import Tor as Tor
from linkwise.spacelib.constants import U as U
from linkwise.spacelib.constants import X as X
from linkwise.spacelib.constants import Xaxis as Xaxis
from linkwise.spacelib.constants import Xaxis_n as Xaxis_n
from linkwise.spacelib.constants import Y as Y
from linkwise.spacelib.constants import Yaxis as Yaxis
from linkwise.spacelib.constants import Yaxis_n as Yaxis_n
from linkwise.spacelib.constants import Z as Z
from linkwise.spacelib.constants import Zaxis as Zaxis
from linkwise.spacelib.constants import Zaxis_n as Zaxis_n
from linkwise.spacelib.copying import mcopy as mcopy
from linkwise.spacelib.copying import mmcopy as mmcopy
from linkwise.spacelib.copying import mvcopy as mvcopy
from linkwise.spacelib.copying import vmcopy as vmcopy
from linkwise.spacelib.direct_dynamics import dyn_eq as dyn_eq
from linkwise.spacelib.frames import aaxis as aaxis
from linkwise.spacelib.frames import frame4p as frame4p
from linkwise.spacelib.frames import frame4v as frame4v
from linkwise.spacelib.frames import framep as framep
from linkwise.spacelib.frames import framev as framev
from linkwise.spacelib.inertia import PseDot as PseDot
from linkwise.spacelib.inertia import actom as actom
from linkwise.spacelib.inertia import jtoj as jtoj
from linkwise.spacelib.inertia import psedot as psedot
from linkwise.spacelib.linear_systems import linears as linears
from linkwise.spacelib.linear_systems import minvers as minvers
from linkwise.spacelib.linear_systems import solve_l as solve_l
from linkwise.spacelib.lines import intersec as intersec
from linkwise.spacelib.lines import line2p as line2p
from linkwise.spacelib.lines import linpvect as linpvect
from linkwise.spacelib.lines import projponl as projponl
from linkwise.spacelib.lookfor import lookfor as lookfor
from linkwise.spacelib.matrices import clearmat as clearmat
from linkwise.spacelib.matrices import crossmto as crossmto
from linkwise.spacelib.matrices import crosstom as crosstom
from linkwise.spacelib.matrices import idmat as idmat
from linkwise.spacelib.matrices import molt as molt
from linkwise.spacelib.matrices import pseudinv as pseudinv
from linkwise.spacelib.matrices import rmolt as rmolt
from linkwise.spacelib.matrices import ssum as ssum
from linkwise.spacelib.matrices import sub as sub
from linkwise.spacelib.matrices import transp as transp
from linkwise.spacelib.namespace import alias as _alias
from linkwise.spacelib.namespace import aliases as _aliases
from linkwise.spacelib.planes import distpp as distpp
from linkwise.spacelib.planes import inter2pl as inter2pl
from linkwise.spacelib.planes import interlpl as interlpl
from linkwise.spacelib.planes import plane as plane
from linkwise.spacelib.planes import plane2 as plane2
from linkwise.spacelib.planes import project as project
from linkwise.spacelib.points import angle as angle
from linkwise.spacelib.points import dist as dist
from linkwise.spacelib.points import distp as distp
from linkwise.spacelib.points import intermed as intermed
from linkwise.spacelib.points import middle as middle
from linkwise.spacelib.points import vect as vect
from linkwise.spacelib.position import dhtom as dhtom
from linkwise.spacelib.position import dhtomstd as dhtomstd
from linkwise.spacelib.position import extract as extract
from linkwise.spacelib.position import mtoscrew as mtoscrew
from linkwise.spacelib.position import rotat as rotat
from linkwise.spacelib.position import rotat2 as rotat2
from linkwise.spacelib.position import rotat24 as rotat24
from linkwise.spacelib.position import rotat34 as rotat34
from linkwise.spacelib.position import screwtom as screwtom
from linkwise.spacelib.position import traslat as traslat
from linkwise.spacelib.position import traslat2 as traslat2
from linkwise.spacelib.position import traslat24 as traslat24
from linkwise.spacelib.predicates import Mcheck as Mcheck
from linkwise.spacelib.predicates import Miszero as Miszero
from linkwise.spacelib.predicates import viszero as viszero
from linkwise.spacelib.printing import fprintm as fprintm
from linkwise.spacelib.printing import printm as printm
from linkwise.spacelib.printing import prmat as prmat
from linkwise.spacelib.shortcuts import Htocard as Htocard
from linkwise.spacelib.shortcuts import Htoeul as Htoeul
from linkwise.spacelib.shortcuts import Htonaut as Htonaut
from linkwise.spacelib.shortcuts import Mtocard as Mtocard
from linkwise.spacelib.shortcuts import Mtoeul as Mtoeul
from linkwise.spacelib.shortcuts import Mtonaut as Mtonaut
from linkwise.spacelib.shortcuts import Wtocard as Wtocard
from linkwise.spacelib.shortcuts import Wtoeul as Wtoeul
from linkwise.spacelib.shortcuts import Wtonaut as Wtonaut
from linkwise.spacelib.shortcuts import cardtoH as cardtoH
from linkwise.spacelib.shortcuts import cardtoM as cardtoM
from linkwise.spacelib.shortcuts import cardtoW as cardtoW
from linkwise.spacelib.shortcuts import eultoH as eultoH
from linkwise.spacelib.shortcuts import eultoM as eultoM
from linkwise.spacelib.shortcuts import eultoW as eultoW
from linkwise.spacelib.shortcuts import nauttoH as nauttoH
from linkwise.spacelib.shortcuts import nauttoM as nauttoM
from linkwise.spacelib.shortcuts import nauttoW as nauttoW
from linkwise.spacelib.transformations import deg as deg
from linkwise.spacelib.transformations import grad as grad
from linkwise.spacelib.transformations import invers as invers
from linkwise.spacelib.transformations import jrand as jrand
from linkwise.spacelib.transformations import mami as mami
from linkwise.spacelib.transformations import mamt as mamt
from linkwise.spacelib.transformations import miam as miam
from linkwise.spacelib.transformations import miamit as miamit
from linkwise.spacelib.transformations import mtov as mtov
from linkwise.spacelib.transformations import normal as normal
from linkwise.spacelib.transformations import normal3 as normal3
from linkwise.spacelib.transformations import normal_g as normal_g
from linkwise.spacelib.transformations import normskew as normskew
from linkwise.spacelib.transformations import rad as rad
from linkwise.spacelib.transformations import skew as skew
from linkwise.spacelib.transformations import tracljlt as tracljlt
from linkwise.spacelib.transformations import vtom as vtom
from linkwise.spacelib.vectors import cross as cross
from linkwise.spacelib.vectors import dot as dot
from linkwise.spacelib.vectors import dot2 as dot2
from linkwise.spacelib.vectors import dot3 as dot3
from linkwise.spacelib.vectors import mod as mod
from linkwise.spacelib.vectors import modulus as modulus
from linkwise.spacelib.vectors import unitv as unitv
from linkwise.spacelib.vectors import vector as vector
from linkwise.spacelib.velocity import coriolis as coriolis
from linkwise.spacelib.velocity import gtom as gtom
from linkwise.spacelib.velocity import gtomgapt as gtomgapt
from linkwise.spacelib.velocity import makel as makel
from linkwise.spacelib.velocity import makel2 as makel2
from linkwise.spacelib.velocity import vactowh2 as vactowh2
from linkwise.spacelib.velocity import vactowh3 as vactowh3
from linkwise.spacelib.velocity import veactowh as veactowh
from linkwise.spacelib.velocity import wtol as wtol
from linkwise.spacelib.velocity import wtovel as wtovel

__all__ = [
    "NOTOK",
    "NULL3",
    "NULL4",
    "OK",
    "ORIGIN",
    "PIG",
    "PIG2",
    "PIG_2",
    "SKEW_",
    "SYMM_",
    "UNIT3",
    "UNIT4",
    "Col",
    "For",
    "Htocard",
    "Htoeul",
    "Htonaut",
    "Mcheck",
    "Miszero",
    "Mtocard",
    "Mtoeul",
    "Mtonaut",
    "Pri",
    "PseDot",
    "Rev",
    "Row",
    "Tor",
    "U",
    "Wtocard",
    "Wtoeul",
    "Wtonaut",
    "X",
    "Xaxis",
    "Xaxis_n",
    "Y",
    "Yaxis",
    "Yaxis_n",
    "Z",
    "Zaxis",
    "Zaxis_n",
    "aaxis",
    "actom",
    "angle",
    "cardatog",
    "cardatoh",
    "cardatol",
    "cardatom",
    "cardator",
    "cardatow",
    "cardompt",
    "cardtoH",
    "cardtoM",
    "cardtoW",
    "cardtome",
    "cardtoom",
    "cardtowp",
    "clearmat",
    "coriolis",
    "cross",
    "crossmto",
    "crossmtom",
    "crosstom",
    "deg",
    "dhtom",
    "dhtomstd",
    "dist",
    "distp",
    "distpp",
    "dot",
    "dot2",
    "dot3",
    "dyn_eq",
    "eultoH",
    "eultoM",
    "eultoW",
    "extract",
    "fprintm",
    "frame4p",
    "frame4v",
    "framep",
    "framev",
    "grad",
    "gtom",
    "gtomgapt",
    "htocarda",
    "idmat",
    "inter2pl",
    "interlpl",
    "intermed",
    "intersec",
    "intersect",
    "inva",
    "invers",
    "jrand",
    "jtoj",
    "line2p",
    "linears",
    "linpvect",
    "lookfor",
    "makel",
    "makel2",
    "mami",
    "mamt",
    "mcopy",
    "miam",
    "miamit",
    "middle",
    "minvers",
    "mmcopy",
    "mod",
    "modulus",
    "molt",
    "mtocarda",
    "mtoscrew",
    "mtov",
    "mvcopy",
    "nauttoH",
    "nauttoM",
    "nauttoW",
    "normal",
    "normal3",
    "normal_g",
    "normskew",
    "plane",
    "plane2",
    "printm",
    "prmat",
    "project",
    "projponl",
    "psedot",
    "pseudinv",
    "rad",
    "rmolt",
    "rotat",
    "rotat2",
    "rotat24",
    "rotat34",
    "rtocarda",
    "screwtom",
    "skew",
    "solve",
    "solve_l",
    "ssum",
    "sub",
    "tracljlt",
    "transp",
    "traslat",
    "traslat2",
    "traslat24",
    "unitv",
    "vactowh2",
    "vactowh3",
    "veactowh",
    "vect",
    "vector",
    "viszero",
    "vmcopy",
    "vtom",
    "wtocarda",
    "wtol",
    "wtovel",
]


_NAMESPACES = ("c", "maple", "programs")


def __getattr__(name: str) -> Any:
    if name in _NAMESPACES:
        return import_module(f"linkwise.spacelib.{name}")
    return _alias(name)


def __dir__() -> list[str]:
    return sorted({*__all__, *_aliases(), *_NAMESPACES})
