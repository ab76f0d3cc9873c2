# ruff: noqa: E501  (messages stand on one line, as they are told)
"""Whatever is wrong with an MJCF file is told, with its line, in these words."""

from __future__ import annotations

import pytest

from linkwise.files.formats.mjcf import reader as mjcf


def world(inner: str, before: str = "", after: str = "") -> str:
    return f"<mujoco>\n{before}\n<worldbody>\n{inner}\n</worldbody>\n{after}\n</mujoco>"


def body(inner: str, said: str = "") -> str:
    """In a body that has a hinge and these attributes, in line 4."""
    return world(f'<body name="arm" {said}><joint name="j"/>{inner}</body>')


def tied(equality: str) -> str:
    """With an equality, in line 6, over two bodies A and B with joints a and b."""
    ball = '<geom size="0.1"/>'
    inner = f'<body name="B"><joint name="b"/>{ball}</body>'
    tree = f'<body name="A"><site name="s"/><joint name="a"/>{ball}{inner}</body>'
    return world(tree, after=f"<equality>{equality}</equality>")


#: A geom and sites for tendons, a tendon, and what is said of a wrong path.
WRAPPED = '<site name="w"/><body><joint/><geom name="g" size="0.1"/><geom name="k" type="box" size="1 1 1"/><site name="s"/></body>'
ROPE = '<tendon><spatial name="t" {}>{}</spatial></tendon>'
PATH = (
    "line 6: tendon 't': its path is wrong; expected two sites or more after each pulley, and geoms only between two sites"
)

CASES: dict[str, tuple[str, list[str]]] = {
    "root": ("<mujok/>", ["line 1: the root element is <mujok>; expected <mujoco>"]),
    "doctype": (
        "<!DOCTYPE mujoco><mujoco/>",
        ["line 1: a document type (<!DOCTYPE mujoco>) is refused: what it declares could change or fetch what is read"],
    ),
    "cut": (
        "<mujoco>\n<worldbody>",
        ["line 2: not well-formed XML: the text ends, and <worldbody> of line 2 is not closed (column 12)"],
    ),
    "unknown attribute of the option": (
        world("<body/>", '<option gravitiy="0 0 0"/>'),
        ["line 2: <option> has no attribute 'gravitiy' (did you mean 'gravity'?)"],
    ),
    "unknown switch": (
        world("<body/>", '<option><flag gravty="disable"/></option>'),
        ["line 2: <flag> has no attribute 'gravty' (did you mean 'gravity'?)"],
    ),
    "unknown element of the option": (
        world("<body/>", '<option>\n<flags gravity="disable"/></option>'),
        ["line 3: there is no element <flags> in <option> (did you mean <flag>?)"],
    ),
    "unknown attribute of a class": (
        world("<body/>", '<default>\n<joint dampng="1"/>\n<geom name="a"/></default>'),
        [
            "line 3: <joint> of default class 'main' has no attribute 'dampng' (did you mean 'damping'?)",
            "line 4: <geom> of default class 'main' has no attribute 'name'",
        ],
    ),
    "unknown element of a class": (
        world("<body/>", '<default>\n<jiont damping="1"/>\n<weld active="true"/></default>'),
        [
            "line 3: there is no element <jiont> in <default> (did you mean <joint>?)",
            "line 4: there is no element <weld> in <default> (did you mean <hfield>?)",
        ],
    ),
    "unknown attribute of an actuator": (
        body("", "").replace("</mujoco>", '<actuator><motor joint="j" armatur="1"/></actuator></mujoco>'),
        ["line 7: <motor> has no attribute 'armatur' (did you mean 'armature'?)"],
    ),
    "bodies where there can be none": (
        body('<geom size="1">\n<body/></geom><joint name="k"><inertial/></joint>'),
        ["line 5: there is no element <body> in <geom>", "line 5: there is no element <inertial> in joint 'k'"],
    ),
    "too many names to list": (
        world("".join(f'<body name="b{k}"/>' for k in range(50)), after='<equality><weld body1="x"/></equality>'),
        [
            "line 6: equality <weld>: body1 is 'x'; the bodies are "
            + ", ".join(f"'b{k}'" for k in range(20))
            + " and 31 more"
        ],
    ),
    "unknown section": (
        "<mujoco><wordlbody/></mujoco>",
        [
            "line 1: there is no element <wordlbody> in <mujoco> (did you mean <worldbody>?)",
        ],
    ),
    "unknown element": (body("<jiont/>"), ["line 4: there is no element <jiont> in a body (did you mean <joint>?)"]),
    "unknown in body": (body("<thing/>"), ["line 4: there is no element <thing> in a body"]),
    "unknown attribute": (
        body('<geom sise="0.1"/>'),
        [
            "line 4: <geom> has no attribute 'sise' (did you mean 'size'?)",
            "line 4: <geom>: size is missing; expected a positive number for a sphere",
        ],
    ),
    "unknown attribute far": (
        body('<geom zzzzzz="0.1"/>'),
        [
            "line 4: <geom> has no attribute 'zzzzzz'",
            "line 4: <geom>: size is missing; expected a positive number for a sphere",
        ],
    ),
    "world attribute": (
        '<mujoco><worldbody name="w"><body/></worldbody></mujoco>',
        ["line 1: <worldbody> has no attribute 'name'"],
    ),
    "number": (body('<geom size="0.1x"/>'), ["line 4: <geom>: size is '0.1x': '0.1x' is not a number"]),
    "comma": (body('<geom size="0,1"/>'), ["line 4: <geom>: size is '0,1': '0,1' has a decimal comma; write '0.1'"]),
    "count": (body('<geom size="0.1"/>', 'pos="1 2"'), ["line 4: body 'arm': pos is '1 2'; expected 3 numbers"]),
    "inf": (
        body('<geom size="0.1"/>', 'pos="1 2 inf"'),
        ["line 4: body 'arm': pos is '1 2 inf': 'inf' is not a finite number"],
    ),
    "D": (body('<geom size="0.1"/>', 'pos="1 2 1d3"'), ["line 4: body 'arm': pos is '1 2 1d3': '1d3' is not a number"]),
    "big": (
        body('<geom size="0.1"/>', 'pos="1 2 1e999"'),
        ["line 4: body 'arm': pos is '1 2 1e999': '1e999' is too large for a number"],
    ),
    "word": (
        body('<geom type="ball" size="1"/>'),
        [
            "line 4: <geom>: type is 'ball'; expected 'plane', 'hfield', 'sphere', 'capsule', 'ellipsoid', 'cylinder', 'box', 'mesh' or 'sdf'"
        ],
    ),
    "flag": (body('<geom size="0.1"/>', 'mocap="yes"'), ["line 4: body 'arm': mocap is 'yes'; expected 'true' or 'false'"]),
    "whole": (body('<geom size="1" group="1.5"/>'), ["line 4: <geom>: group is '1.5'; expected a whole number"]),
    "quat zero": (
        body('<geom size="0.1"/>', 'quat="0 0 0 0"'),
        ["line 4: body 'arm': quat is [0.0, 0.0, 0.0, 0.0], which has no direction"],
    ),
    "two orientations": (
        body('<geom size="0.1"/>', 'quat="1 0 0 0" euler="1 2 3"'),
        ["line 4: body 'arm': its orientation is given by 'quat' and 'euler'; expected one of them"],
    ),
    "zaxis": (
        body('<geom size="0.1"/>', 'zaxis="0 0 0"'),
        ["line 4: body 'arm': zaxis is [0.0, 0.0, 0.0], which has no direction"],
    ),
    "xyaxes": (
        body('<geom size="0.1"/>', 'xyaxes="1 0 0 2 0 0"'),
        ["line 4: body 'arm': xyaxes is [1.0, 0.0, 0.0, 2.0, 0.0, 0.0], which has no direction"],
    ),
    "axisangle": (
        body('<geom size="0.1"/>', 'axisangle="0 0 0 1"'),
        ["line 4: body 'arm': axisangle is [0.0, 0.0, 0.0, 1.0], which has no direction"],
    ),
    "class orientation": (
        world('<body><geom type="box" size="1 1 1" quat="1 0 0 0"/></body>', '<default><geom euler="1 2 3"/></default>'),
        [
            "line 4: <geom>: its orientation is given by quat here and by 'euler' in its default class, and versions of MuJoCo differ in which counts; its mass needs one of them, expected one"
        ],
    ),
    "eulerseq": (
        world("<body/>", '<compiler eulerseq="xyw"/>'),
        ["line 2: <compiler>: eulerseq is 'xyw'; expected three letters of 'xyzXYZ'"],
    ),
    "angle": (
        world("<body/>", '<compiler angle="deg"/>'),
        ["line 2: <compiler>: angle is 'deg'; expected 'radian' or 'degree'"],
    ),
    "global": (
        world("<body/>", '<compiler coordinate="global"/>'),
        ["line 2: <compiler>: coordinate is 'global', which MuJoCo gave up in version 2.3.4; expected 'local'"],
    ),
    "class unknown": (body('<geom class="x" size="1"/>'), ["line 4: <geom>: class is 'x'; the classes are 'main'"]),
    "childclass": (
        body('<geom size="0.1"/>', 'childclass="x"'),
        ["line 4: <body>: childclass is 'x'; the classes are 'main'"],
    ),
    "class twice": (
        world("<body/>", '<default><default class="a"/><default class="a"/></default>'),
        ["line 2: <default>: class 'a' occurs twice"],
    ),
    "class no name": (
        world("<body/>", "<default><default/></default>"),
        ["line 2: <default>: class is empty; expected a name of its own"],
    ),
    "main named": (world("<body/>", '<default class="a"/>'), ["line 2: <default>: class is 'a'; the outermost is 'main'"]),
    "bad default": (
        world("<body><geom/><geom/></body>", '<default>\n<geom size="a"/></default>'),
        ["line 3: <geom> of default class 'main': size is 'a': 'a' is not a number"],
    ),
    "ball armature": (
        body('<joint type="ball" armature="-0.1"/>'),
        ["line 4: <joint>: armature is -0.1; expected a number >= 0"],
    ),
    "free below": (
        body('<body name="c"><freejoint/></body>'),
        [
            "line 4: <freejoint>: a free joint carries body 'c', but the body hangs on another one; expected one, on a body in the world"
        ],
    ),
    "free and other": (
        world('<body name="c"><freejoint/><joint/><geom size="1"/></body>'),
        ["line 4: <joint>: body 'c' has a free joint and another one; expected the free one alone"],
    ),
    "free twice": (
        world('<body name="c"><freejoint/><freejoint/><geom size="0.1"/></body>'),
        [
            "line 4: <freejoint>: a free joint carries body 'c', but there is another one; expected one, on a body in the world"
        ],
    ),
    "free armature": (
        world('<body name="c"><joint type="free" armature="-1"/><geom size="0.1"/></body>'),
        ["line 4: <joint>: armature is -1.0; expected a number >= 0"],
    ),
    "joint in world": (
        world("<joint/><body/>"),
        ["line 4: <joint> is in the world, which does not move; expected it in a <body>"],
    ),
    "inertial in world": (
        world("<inertial/><body/>"),
        ["line 4: <inertial> is in the world, which does not move; expected it in a <body>"],
    ),
    "axis": (body('<joint axis="0 0 0"/>'), ["line 4: <joint>: axis is [0.0, 0.0, 0.0]; expected a direction"]),
    "range": (
        body('<joint range="1 0" limited="true"/>'),
        ["line 4: <joint>: range is '1 0'; expected the least value, then the greatest, for limited is 'true'"],
    ),
    "no range": (
        body('<joint limited="true"/>'),
        ["line 4: <joint>: range is not given; expected the least value, then the greatest, for limited is 'true'"],
    ),
    "autolimits": (
        world('<body><joint name="j" range="0 1"/></body>', '<compiler autolimits="false"/>'),
        ["line 4: joint 'j': it has range but not limited, and the compiler's autolimits is 'false'"],
    ),
    "armature": (body('<joint armature="-1"/>'), ["line 4: <joint>: armature is -1.0; expected a number >= 0"]),
    "damping": (body('<joint damping="-1"/>'), ["line 4: <joint>: damping is -1.0; expected a number >= 0"]),
    "frictionloss": (body('<joint frictionloss="-1"/>'), ["line 4: <joint>: frictionloss is -1.0; expected a number >= 0"]),
    "size": (
        body('<geom type="box" size="1 2"/>'),
        ["line 4: <geom>: size is '1 2'; expected 3 positive numbers for a box"],
    ),
    "size negative": (
        body('<geom type="box" size="1 2 -1"/>'),
        ["line 4: <geom>: size is '1 2 -1'; expected 3 positive numbers for a box"],
    ),
    "no size": (body('<geom name="g"/>'), ["line 4: geom 'g': size is missing; expected a positive number for a sphere"]),
    "mass": (body('<geom size="1" mass="-1"/>'), ["line 4: <geom>: mass is -1.0; expected a number >= 0"]),
    "density": (body('<geom size="1" density="-1"/>'), ["line 4: <geom>: density is -1.0; expected a number >= 0"]),
    "mesh": (
        body('<geom name="shell" type="mesh" mesh="m"/>'),
        [
            "line 4: geom 'shell': its mass is that of its mesh, but there is no mesh 'm'; give its body an <inertial>, or this geom mass = '0'"
        ],
    ),
    "fitted": (
        body('<geom name="shell" type="box" mesh="m"/>'),
        [
            "line 4: geom 'shell': the mass of a box that is fitted to a mesh is not computed; give its body an <inertial>, or this geom mass = '0'"
        ],
    ),
    "hfield": (
        body('<geom type="hfield" hfield="h"/>'),
        ["line 4: <geom>: the mass of a height field is not computed; give its body an <inertial>, or this geom mass = '0'"],
    ),
    "fromto sphere": (
        body('<geom size="1" fromto="0 0 0 1 1 1"/>'),
        ["line 4: <geom>: fromto is given for type 'sphere'; only a capsule, cylinder, ellipsoid or box has one"],
    ),
    "fromto pos": (
        body('<geom type="box" size="1" pos="1 0 0" fromto="0 0 0 1 1 1"/>'),
        ["line 4: <geom>: it has both pos and fromto; expected one of them"],
    ),
    "fromto same": (
        body('<geom type="box" size="1" fromto="0 0 0 0 0 0"/>'),
        [
            "line 4: <geom>: fromto is [0.0, 0.0, 0.0, 0.0, 0.0, 0.0]; expected two points apart from each other",
            "line 4: <geom>: size is '1'; expected 3 positive numbers for a box",
        ],
    ),
    "inertial no mass": (body('<inertial pos="0 0 0"/>'), ["line 4: body 'arm': <inertial>: it has no mass"]),
    "inertial no pos": (body('<inertial mass="1"/>'), ["line 4: body 'arm': <inertial>: it has no pos"]),
    "inertial twice": (
        body('<inertial pos="0 0 0" mass="1"/><inertial pos="0 0 0" mass="1"/>'),
        ["line 4: body 'arm': <inertial>: there is another one; expected one, directly in the body"],
    ),
    "inertial frame": (
        body('<frame><inertial pos="0 0 0" mass="1"/></frame>'),
        ["line 4: body 'arm': <inertial>: it is in a <frame>, which MuJoCo ignores; expected one, directly in the body"],
    ),
    "full and diag": (
        body('<inertial pos="0 0 0" mass="1" diaginertia="1 1 1" fullinertia="1 1 1 0 0 0"/>'),
        [
            "line 4: body 'arm': <inertial>: it has fullinertia and also diaginertia or an orientation; expected one of the two"
        ],
    ),
    "full and quat": (
        body('<inertial pos="0 0 0" mass="1" quat="1 0 0 0" fullinertia="1 1 1 0 0 0"/>'),
        [
            "line 4: body 'arm': <inertial>: it has fullinertia and also diaginertia or an orientation; expected one of the two"
        ],
    ),
    "negative mass": (
        body('<inertial pos="0 0 0" mass="-1"/>'),
        ["line 4: body 'arm': <inertial>: mass is -1.0; expected a number >= 0"],
    ),
    "not positive": (
        body('<inertial pos="0 0 0" mass="1" fullinertia="1 1 1 2 0 0"/>'),
        [
            "line 4: body 'arm': <inertial>: inertia is [-1.0, 1.0, 3.0]; expected principal moments >= 0 (positive semidefinite); reading with physical=False accepts it"
        ],
    ),
    "triangle": (
        body('<inertial pos="0 0 0" mass="1" diaginertia="1 1 3"/>'),
        [
            "line 4: body 'arm': <inertial>: inertia is [1.0, 1.0, 3.0]; expected principal moments in which none exceeds the sum of the other two (triangle inequality); reading with physical=False accepts it"
        ],
    ),
    "replicate": (
        body(
            '<replicate sep="-"/><replicate count="x"/><replicate count="2" of="3"/><replicate count="2"><joint/></replicate>'
        ),
        [
            "line 4: <replicate>: count is missing; expected a whole number >= 0",
            "line 4: <replicate>: count is 'x'; expected a whole number",
            "line 4: <replicate> has no attribute 'of'; it has 'count', 'sep', 'offset', 'euler' and 'prefix'",
            "line 4: <replicate>: <joint> is directly in it; expected it in a <body>",
        ],
    ),
    "replicate without end": (
        body('<replicate count="400">' * 3 + "<body/>" + "</replicate>" * 3),
        ["line 4: <replicate>: repeated, it makes more than 100000 elements"],
    ),
    "attach": (body("<attach/>"), ["line 4: <attach>: model is None; expected one of the <model> of <asset>"]),
    "attach itself": (
        world('<body name="a"><attach body="a" prefix="p"/></body>'),
        ["line 4: <attach>: body is 'a'; expected one of this file, in which nothing is attached"],
    ),
    "composite": (body("<composite/>"), ["line 4: <composite> is not read: what it makes has to be written out"]),
    "flexcomp": (body("<flexcomp/>"), ["line 4: <flexcomp> is not read: a soft body is no rigid one"]),
    "deformable": (world("<body/>", after="<deformable/>"), ["line 6: <deformable>: a soft body is no rigid one"]),
    "body twice": (world('<body name="a"/>\n<body name="a"/>'), ["line 5: body 'a' occurs twice, first in line 4"]),
    "joint twice": (
        world('<body><joint name="a"/>\n<joint name="a"/></body>'),
        ["line 5: joint 'a' occurs twice, first in line 4"],
    ),
    "site twice": (
        world('<body><site name="a"/>\n<site name="a"/></body>'),
        ["line 5: site 'a' occurs twice, first in line 4"],
    ),
    "blank name": (world('<body name=" "/>'), ["line 4: body ' ': name is ' '; expected a word, or None"]),
    "include text": (
        '<mujoco><include file="x.xml"/></mujoco>',
        [
            "line 1: <include> of 'x.xml': the folder of this text is not known",
        ],
    ),
    "include nothing": (
        "<mujoco><include/></mujoco>",
        [
            "line 1: <include> has no file; expected file = the name of a file beside this one",
        ],
    ),
    "tendon armature": (
        world(WRAPPED, after=ROPE.format('armature="1"', '<site site="w"/><geom geom="g"/><site site="s"/>')),
        ["line 6: tendon 't': it has an armature and goes around geoms, which MuJoCo does not support"],
    ),
    "a tendon around another geom": (
        world(WRAPPED, after=ROPE.format('stiffness="1"', '<site site="w"/><geom geom="k"/><site site="s"/>')),
        ["line 6: tendon 't': <geom>: geom is 'k', a box; expected a sphere or a cylinder"],
    ),
    "a tendon around no geom": (
        world(WRAPPED, after=ROPE.format('stiffness="1"', '<site site="w"/><geom geom="h" sidesite="x"/><site site="s"/>')),
        [
            "line 6: tendon 't': <geom>: geom is 'h'; the geoms are 'g' or 'k'",
            "line 6: tendon 't': <geom>: sidesite is 'x'; the sites are 'w' or 's'",
        ],
    ),
    "a tendon that ends with a geom": (
        world(WRAPPED, after=ROPE.format('stiffness="1"', '<site site="w"/><site site="s"/><geom geom="g"/>')),
        [PATH],
    ),
    "a tendon that ends with a pulley": (
        world(WRAPPED, after=ROPE.format('stiffness="1"', '<site site="w"/><site site="s"/><pulley divisor="2"/>')),
        [PATH],
    ),
    "a pulley without a divisor": (
        world(WRAPPED, after=ROPE.format('stiffness="1"', '<pulley/><site site="w"/><site site="s"/>')),
        ["line 6: tendon 't': <pulley>: divisor is 0.0; expected a number > 0"],
    ),
    "something else in a tendon": (
        world(WRAPPED, after=ROPE.format('stiffness="1"', '<site site="w"/><site site="s"/><sight site="s"/>')),
        ["line 6: there is no element <sight> in tendon 't' (did you mean <site>?)"],
    ),
    "actuator": (
        world("<body/>", after="<actuator><moter/></actuator>"),
        [
            "line 6: there is no actuator <moter>; expected 'general', 'motor', 'position', 'velocity', 'intvelocity', 'orientation', 'pid', 'damper', 'cylinder', 'muscle', 'adhesion' or 'dcmotor'"
        ],
    ),
    "rotor of nothing": (
        world(
            '<body><joint name="a"/><geom size="0.1"/></body>',
            after='<actuator><motor name="m" joint="x" armature="1"/></actuator>',
        ),
        ["line 6: motor 'm': joint is 'x'; the hinges and slides are 'a'"],
    ),
    "rotor on a tendon": (
        world("<body/>", after='<actuator><motor tendon="x" armature="1"/></actuator>'),
        ["line 6: <motor>: its armature or damping acts on something else than a joint, which has no counterpart here"],
    ),
    "negative rotor": (
        world(
            '<body><joint name="a"/><geom size="0.1"/></body>',
            after='<actuator><motor name="m" joint="a" armature="-1"/></actuator>',
        ),
        ["line 6: motor 'm': inertia is -1.0; expected a finite number >= 0"],
    ),
    "eq what": (
        tied("<conect/>"),
        [
            "line 6: there is no equality <conect>; expected 'joint', 'tendon', 'connect', 'weld', 'flex', 'flexvert', 'flexstrain' or 'distance'"
        ],
    ),
    "eq joint1": (
        tied('<joint joint1="x"/>'),
        ["line 6: equality <joint>: joint1 is 'x'; the hinges and slides are 'a' or 'b'"],
    ),
    "eq joint1 missing": (tied("<joint/>"), ["line 6: equality <joint>: joint1 is missing; expected 'a' or 'b'"]),
    "eq joint2": (
        tied('<joint joint1="a" joint2="x"/>'),
        ["line 6: equality <joint>: joint2 is 'x'; the hinges and slides are 'a' or 'b'"],
    ),
    "eq self": (tied('<joint joint1="a" joint2="a"/>'), ["line 6: equality <joint>: joint 'a' follows itself"]),
    "eq twice": (
        tied('<joint joint1="a" joint2="b"/><joint joint1="a"/>'),
        ["line 6: equality <joint>: joint 'a' is bound already, in line 6"],
    ),
    "eq ring": (
        tied('<joint joint1="a" joint2="b"/><joint joint1="b" joint2="a"/>'),
        [
            "line 4: joint 'a': mimic.joint is 'a'; expected a joint that does not follow this one in turn (a ring)",
            "line 4: joint 'b': mimic.joint is 'b'; expected a joint that does not follow this one in turn (a ring)",
        ],
    ),
    "eq flex": (
        tied('<flex flex="t"/>'),
        [
            "line 6: equality <flex>: only joints, tendons, points and frames can be constrained here; with drop_unknown=True it is left out"
        ],
    ),
    "eq neither": (
        tied('<connect anchor="0 0 0"/>'),
        ["line 6: equality <connect>: it names neither bodies nor sites; expected body1 (and body2), or site1 and site2"],
    ),
    "eq both": (
        tied('<connect body1="A" site1="s" anchor="0 0 0"/>'),
        ["line 6: equality <connect>: it names both bodies and sites; expected body1 (and body2), or site1 and site2"],
    ),
    "eq no anchor": (
        tied('<connect body1="A"/>'),
        ["line 6: equality <connect>: it has no anchor; expected its point in the frame of body1"],
    ),
    "eq body": (tied('<weld body1="X"/>'), ["line 6: equality <weld>: body1 is 'X'; the bodies are 'A', 'B' or 'world'"]),
    "eq no body1": (tied('<weld body2="A"/>'), ["line 6: equality <weld>: body1 is missing; expected 'A', 'B' or 'world'"]),
    "eq site": (tied('<weld site1="s" site2="x"/>'), ["line 6: equality <weld>: site2 is 'x'; the sites are 's'"]),
    "eq one site": (tied('<weld site1="s"/>'), ["line 6: equality <weld>: site2 is missing; expected 's'"]),
    "eq same": (
        tied('<weld body1="A" body2="A"/>'),
        ["line 6: equality <weld>: second is 'A'; expected another link than 'A'"],
    ),
    "eq same sites": (
        tied('<weld site1="s" site2="s"/>'),
        ["line 6: equality <weld>: second is 'A'; expected another link than 'A'"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_problems(name: str) -> None:
    text, expected = CASES[name]
    reading = mjcf.parse(text, "test")
    assert [str(problem) for problem in reading.problems] == expected
    assert reading.description is None


def test_all_problems_are_gathered() -> None:
    text = world(
        '<body name="a"><joint axis="0 0 0"/>\n<geom size="x"/>\n<inertial mass="1"/></body>', '<compiler angle="grad"/>'
    )
    assert [problem.line for problem in mjcf.parse(text).problems] == [2, 4, 5, 6]


def test_a_problem_of_a_class_is_told_once() -> None:
    text = world("<body><geom/><geom/></body>\n<body><geom/></body>", '<default><geom size="a"/></default>')
    assert [problem.line for problem in mjcf.parse(text).problems] == [2]


def test_deep_nesting() -> None:
    deep = "<body>" * 280 + "</body>" * 280
    reading = mjcf.parse(world(deep))
    assert reading.description is not None
    assert len(reading.description.mechanism.links) == 280


def test_many_mistakes_are_told_without_guesses() -> None:
    """Each guess takes time: a large file full of mistakes would take for ever."""
    wrong = "".join(f'<geom size="1" {"mas" if k else "masss"}="{k}"/>\n' for k in range(200))
    problems = mjcf.parse(body(wrong)).problems
    assert len(problems) == 200
    assert [problem.message.endswith("(did you mean 'mass'?)") for problem in problems] == [True] * 100 + [False] * 100
