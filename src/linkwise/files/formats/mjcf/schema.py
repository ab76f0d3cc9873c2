"""MJCF's elements and attributes as far as they are read: whatever is not among them is misspelt, and is refused."""

from __future__ import annotations

ORIENTATIONS = {"quat": 4, "axisangle": 4, "xyaxes": 6, "zaxis": 3, "euler": 3}
"""The ways to say an orientation, with how many numbers each has."""

FRAME = ("pos", *ORIENTATIONS)
"""The attributes of a frame."""

COMPILER = (
    "autolimits", "boundmass", "boundinertia", "settotalmass", "balanceinertia", "strippath", "coordinate", "angle",
    "fitaabb", "eulerseq", "meshdir", "texturedir", "discardvisual", "usethread", "fusestatic", "inertiafromgeom",
    "inertiagrouprange", "saveinertial", "assetdir", "alignfree", "conflict", "passthrough", "savecanonical",
    "savecompiled", "convexhull", "exactmeshinertia",
)  # fmt: skip
"""The last two are of older versions."""

OPTION = (
    "timestep", "apirate", "impratio", "tolerance", "ls_tolerance", "noslip_tolerance", "ccd_tolerance", "mpr_tolerance",
    "sleep_tolerance", "gravity", "wind", "magnetic", "density", "viscosity", "o_margin", "o_solref", "o_solimp",
    "o_friction", "integrator", "collision", "cone", "jacobian", "solver", "iterations", "ls_iterations",
    "noslip_iterations", "ccd_iterations", "mpr_iterations", "sdf_iterations", "sdf_initpoints", "actuatorgroupdisable",
)  # fmt: skip
FLAG = (
    "constraint", "equality", "frictionloss", "limit", "contact", "passive", "spring", "damper", "gravity", "clampctrl",
    "warmstart", "filterparent", "actuation", "refsafe", "sensor", "midphase", "eulerdamp", "autoreset", "nativeccd",
    "island", "override", "energy", "fwdinv", "invdiscrete", "sensornoise", "multiccd", "sleep", "diagexact", "ipc",
    "speculative",
)  # fmt: skip

BODY = ("name", "childclass", *FRAME, "mocap", "gravcomp", "sleep", "simple", "fuse", "user")
INERTIAL = (*FRAME, "mass", "diaginertia", "fullinertia")
FREE = ("name", "group", "align")
JOINT = (
    "name", "class", "type", "group", "pos", "axis", "springdamper", "limited", "actuatorfrclimited", "solreflimit",
    "solimplimit", "solreffriction", "solimpfriction", "stiffness", "range", "actuatorfrcrange", "actuatorgravcomp",
    "margin", "ref", "springref", "springyield", "armature", "damping", "frictionloss", "user", "align",
)  # fmt: skip
GEOM = (
    "name", "class", "type", "contype", "conaffinity", "condim", "group", "priority", "size", "material", "friction", "mass",
    "density", "shellinertia", "solmix", "solref", "solimp", "margin", "gap", "surfacevel", "adhesion", "fromto", *FRAME,
    "hfield", "mesh", "fitscale", "rgba", "fluidshape", "fluidcoef", "castshadow", "user",
)  # fmt: skip
SITE = ("name", "class", "type", "group", *FRAME, "material", "mesh", "size", "fromto", "rgba", "user")

SHARED = ("name", "class", "active", "solref", "solimp")
ENDS = ("body1", "body2", "site1", "site2", "anchor")
EQUALITIES = {
    "joint": (*SHARED, "joint1", "joint2", "polycoef"),
    "connect": (*SHARED, *ENDS),
    "weld": (*SHARED, *ENDS, "relpose", "torquescale"),
}
"""The equality constraints that can be read."""

ACTUATORS = (
    "general", "motor", "position", "velocity", "intvelocity", "orientation", "pid", "damper", "cylinder", "muscle",
    "adhesion", "dcmotor",
)  # fmt: skip
"""The kinds of actuators; what a class says of one holds for all of them."""

ACTUATOR = (
    "name", "class", "group", "nsample", "interp", "delay", "ctrllimited", "forcelimited", "actlimited", "ctrlrange",
    "forcerange", "actrange", "lengthrange", "inheritrange", "gear", "armature", "damping", "cranklength", "joint",
    "jointinparent", "tendon", "slidersite", "cranksite", "site", "refsite", "body", "user", "dyntype", "gaintype",
    "biastype", "dynprm", "gainprm", "biasprm", "actdim", "actearly", "input", "kp", "kv", "ki", "imax", "dampratio",
    "timeconst", "tausmooth", "posrange", "velrange", "ffrange", "slewmax", "area", "diameter", "bias", "range", "force",
    "scale", "lmin", "lmax", "vmax", "fpmax", "fvmax", "gain", "motorconst", "resistance", "nominal", "saturation",
    "inductance", "cogging", "controller", "thermal", "lugre", "plugin", "instance",
)  # fmt: skip
"""Of all kinds together."""

DEFAULTS: dict[str, tuple[str, ...] | None] = {
    "joint": JOINT,
    "geom": GEOM,
    "site": SITE,
    "equality": SHARED,
    **dict.fromkeys(ACTUATORS, ACTUATOR),
    **dict.fromkeys(("mesh", "texture", "material", "camera", "light", "pair", "tendon", "skin", "hfield"), None),
}
"""What a default class may say, with its attributes; None for what is not used here."""

INSIDE: dict[str, tuple[str, ...]] = {
    "compiler": ("lengthrange",),
    "option": ("flag",),
    "geom": ("plugin",),
    **dict.fromkeys((*ACTUATORS, "flag", "joint", "freejoint", "site", "inertial", "equality", *EQUALITIES), ()),
}
"""The elements that may stand in others; those that are not named here are looked through."""
