# ruff: noqa: E501  (XML and messages stand on one line, as they are told)
"""Each feature of MJCF against MuJoCo, which reads the same text."""

from __future__ import annotations

from pathlib import Path

import pytest

from linkwise import Mechanism
from linkwise.files.formats.mjcf import reader as mjcf

mujoco = pytest.importorskip("mujoco", exc_type=ImportError)

BALL = '<geom type="sphere" size="0.1" pos="0.1 0.2 0.3"/>'
ARM = """
    <body name="upper" pos="0.1 0.2 0.3"{upper}>
      <joint name="shoulder" axis="0 1 0"{shoulder}/>{upper_geom}
      <body name="lower" pos="0 0 0.5" quat="0.9 0.1 0.3 -0.2">
        <joint name="elbow" axis="1 1 0.2"{elbow}/>{lower_geom}
      </body>
    </body>"""
BOX = '<geom type="box" size="0.1 0.2 0.3" pos="0.1 -0.1 0.2" euler="10 20 30"/>'


def arm(before: str = "", world: str = "", **parts: str) -> str:
    """A file with a two-joint arm, and whatever is put into its places."""
    filled = {"upper": "", "shoulder": "", "elbow": "", "upper_geom": BOX, "lower_geom": BALL, **parts}
    return f"<mujoco>{before}<worldbody>{world}{ARM.format(**filled)}</worldbody></mujoco>"


def one(body: str, before: str = "", body_said: str = "") -> str:
    """A file with a body on a hinge."""
    inner = f'<body name="arm" {body_said}><joint axis="0 1 0.3" pos="0.3 0 0.1"/>{body}</body>'
    return f"<mujoco>{before}<worldbody>{inner}</worldbody></mujoco>"


def geom(said: str, before: str = "") -> str:
    return one(f'<geom pos="0.1 0.2 0.3" quat="0.9 0.1 0.3 -0.2" {said}/>', before)


TEXTS = {
    "the plain arm": arm(),
    "no angle said: degrees": arm(shoulder=' range="-90 45" ref="30"', elbow=' range="-10 20"'),
    "radian": arm('<compiler angle="radian"/>', shoulder=' range="-1.5 0.5" ref="0.3"', elbow=' range="-1 2" ref="-2"'),
    "slides keep metres": arm(elbow=' type="slide" range="-1 2" ref="0.25"'),
    "limited says so": arm(shoulder=' range="-90 45" limited="true"', elbow=' range="-10 20" limited="false"'),
    "no autolimits": arm('<compiler autolimits="false"/>', shoulder=' range="-90 45" limited="true"'),
    "a range the wrong way is none": arm(shoulder=' range="45 -90"'),
    "joint beside the origin": arm(shoulder=' pos="0.1 -0.2 0.3"', elbow=' pos="0.3 0.2 0.1" type="hinge"'),
    "motors": arm(shoulder=' armature="0.5" damping="0.7" frictionloss="0.2"', elbow=' armature="0.01"'),
    "quaternion of any length": arm(upper=' quat="2 1 0.5 -3"'),
    "axis and angle": arm(upper=' axisangle="1 2 3 70"'),
    "axis and angle in rad": arm('<compiler angle="radian"/>', upper=' axisangle="1 2 3 0.7"'),
    "x and y axes": arm(upper=' xyaxes="1 2 3 0.1 1 0"'),
    "z axis": arm(upper=' zaxis="1 -2 0.5"'),
    "z axis up": arm(upper=' zaxis="0 0 2"'),
    "z axis down": arm(upper=' zaxis="0 0 -2"'),
    "Euler angles": arm(upper=' euler="10 20 30"'),
    "Euler angles about fixed axes": arm('<compiler eulerseq="XYZ"/>', upper=' euler="10 20 30"'),
    "Euler angles, mixed": arm('<compiler eulerseq="zXz" angle="radian"/>', upper=' euler="0.1 2 0.3"'),
    "gravity": arm('<option gravity="1 2 -3"/>'),
    "gravity, the later option": arm('<option gravity="1 2 -3"/><option timestep="0.1"/>'),
    "several joints of one body": one(
        '<joint name="b" type="slide" axis="1 1 0" pos="1 2 3" ref="0.2"/><joint name="c" axis="0 0 1" pos="-0.1 0 0.2"/>'
        f'<joint name="d" axis="1 0 0" pos="0 0.1 0"/>{BALL}<body pos="0.3 0 0"><joint name="arm"/>{BALL}</body>',
        body_said='pos="0.1 0.2 0.3" euler="10 20 30"',
    ),
    "axes of any length": f'<mujoco><worldbody><body><joint axis="1e150 -2e150 1e150"/>{BALL}<body pos="1 0 0">'
    f'<joint axis="-3e-3 4e-3 0" pos="0 1 0"/>{BALL}</body></body></worldbody></mujoco>',
    "a slide with a range of degrees by its class": arm('<default><joint range="-1 2" ref="0.5"/></default>', elbow=' type="slide"'),
    "names that look like those we make": "<mujoco><worldbody>"
    f'<body name="base"><joint name="base"/>{BALL}<body name="body3"><joint name="x"/>{BALL}'
    f'<body><joint axis="1 0 0"/><joint name="x1"/>{BOX}<body name="body4_1"><joint name="body4"/>{BOX}</body></body></body></body>'
    "</worldbody></mujoco>",
    "tendons": arm(shoulder=' springref="20" stiffness="3"', elbow=' type="slide" springref="0.1"').replace(
        "</mujoco>",
        '<tendon><fixed name="t" stiffness="7" damping="2"><joint joint="shoulder" coef="0.5"/><joint joint="elbow" coef="-2"/>'
        '</fixed><fixed stiffness="5" springlength="0.3"><joint joint="elbow" coef="1.5"/></fixed>'
        '<fixed armature="0.7"><joint joint="shoulder" coef="0.6"/><joint joint="elbow" coef="-1.5"/></fixed></tendon></mujoco>',
    ),
    "tendons from site to site": arm(
        world='<site name="w" pos="0.5 0.1 1.4"/>',
        shoulder=' springref="20" ref="10"',
        elbow=' type="slide" springref="0.1"',
        upper_geom=BOX + '<site name="u" pos="0.2 0 0.1"/>',
        lower_geom=BALL + '<site name="l" pos="0.1 0.3 0.2" quat="0.9 0.1 0.3 -0.2"/>',
    ).replace(
        "</mujoco>",
        '<tendon><spatial name="t" stiffness="7" damping="2"><site site="w"/><site site="l"/></spatial>'
        '<spatial stiffness="5" springlength="0.3"><site site="w"/><site site="u"/><site site="l"/></spatial>'
        '<spatial armature="3"><site site="u"/><site site="l"/></spatial></tendon></mujoco>',
    ),
    "tendons around geoms and over pulleys": arm(
        world='<site name="w" pos="0.5 0.1 1.4"/><site name="v" pos="-0.6 0.2 0.1"/><geom name="roll" type="cylinder" size="0.4 1" '
        'pos="0.1 0.2 0.4" euler="20 30 0"/><site name="beside" pos="0.1 0.9 0.4"/>',
        shoulder=' springref="20" ref="10"',
        upper_geom=BOX + '<site name="u" pos="0.2 0 0.1"/><geom name="ball" size="0.3" pos="0.1 0 0.1" mass="0"/>'
        '<body pos="0.1 0 0.2"><site name="fixed" pos="0 0.5 0"/></body>',
        lower_geom=BALL + '<site name="l" pos="0.1 0.8 0.2" quat="0.9 0.1 0.3 -0.2"/>',
    ).replace(
        "</mujoco>",
        '<tendon><spatial name="t" stiffness="7" damping="2"><site site="w"/><geom geom="roll"/><site site="l"/></spatial>'
        '<spatial stiffness="5" springlength="0.3 0.7"><site site="v"/><geom geom="ball" sidesite="fixed"/><site site="l"/></spatial>'
        '<spatial stiffness="3"><site site="w"/><geom geom="ball" sidesite="l"/><site site="l"/></spatial>'
        '<spatial damping="3"><pulley divisor="3"/><site site="v"/><geom geom="roll" sidesite="beside"/><site site="l"/>'
        '<pulley divisor="0.5"/><site site="w"/><site site="u"/></spatial>'
        '<spatial armature="3"><site site="u"/><site site="l"/><pulley divisor="2"/><site site="u"/><site site="l"/></spatial>'
        "</tendon></mujoco>",
    ),
    "stiffness that is not linear": arm(
        world='<site name="w" pos="0 0 0.1"/>', lower_geom=BALL + '<site name="s" pos="0.3 0 0"/>',
        shoulder=' stiffness="5 -2 3" springref="20"', elbow=' stiffness="0 0 4"',
    ).replace(
        "</mujoco>", '<tendon><fixed stiffness="5 1 2" springlength="-0.1 0.2"><joint joint="elbow" coef="2"/>'
        '<joint joint="shoulder" coef="-1"/></fixed><spatial stiffness="0 9 2" springlength="0.1 0.2"><site site="w"/>'
        '<site site="s"/></spatial></tendon></mujoco>',
    ),
    "tendons of default classes": arm(
        '<default><tendon stiffness="5" springlength="0.1"/><default class="c"><tendon damping="2"/></default></default>'
    ).replace(
        "</mujoco>",
        '<tendon><fixed name="t" class="c"><joint joint="shoulder" coef="2"/></fixed>'
        '<fixed><joint joint="elbow" coef="0.5"/></fixed><fixed stiffness="0"><joint joint="elbow" coef="1"/></fixed></tendon>'
        "</mujoco>",
    ),
    "replicated, what refers to it too": '<mujoco><compiler eulerseq="zyx"/><worldbody><body><joint name="hub"/>'
    f'{BALL}<replicate count="10" offset="0.3 0.1 0" euler="10 20 36" sep="-"><geom type="box" size="0.1 0.2 0.3"/>'
    f'<body name="a" pos="0.1 0 0"><joint name="a"/>{BALL}<body name="b" pos="0 0.2 0"><joint name="b"/>{BALL}</body></body>'
    '</replicate></body></worldbody><tendon><fixed name="t" stiffness="3"><joint joint="a" coef="2"/><joint joint="b" coef="1"/>'
    '</fixed></tendon><equality><joint joint1="a" joint2="b"/></equality>'
    '<actuator><motor name="m" joint="b" gear="5" armature="0.01"/><motor joint="hub" armature="0.02"/></actuator></mujoco>',
    "what names something replicated beside something else": '<mujoco><worldbody><site name="w" pos="0 0 2"/><body name="x">'
    f'<joint name="x"/>{BALL}</body><replicate count="2" offset="1 0 0"><body name="b" pos="0.1 0 0"><joint name="b" axis="1 0 0"/>'
    f'<joint name="c"/>{BOX}<site name="s" pos="0 0.1 0.2"/></body></replicate></worldbody><tendon><spatial stiffness="3"><site site="w"/>'
    '<site site="s"/></spatial><fixed name="t" damping="2"><joint joint="x" coef="2"/><joint joint="b" coef="1"/></fixed></tendon>'
    '<equality><joint joint1="c" joint2="x" polycoef="0 2 0 0 0"/></equality></mujoco>',
    "attached to itself": '<mujoco><worldbody><frame pos="0 1 0" euler="0 0 20"><body name="a" pos="0.1 0 0.2"><joint name="a"/>'
    f'{BALL}<body name="b" pos="0 0.2 0"><joint name="b" axis="1 0 0"/>{BOX}</body></body></frame><body name="c"><joint name="c"/>{BALL}'
    '<attach body="a" prefix="more_"/></body></worldbody><tendon><fixed stiffness="3"><joint joint="a" coef="2"/>'
    '<joint joint="b" coef="1"/></fixed></tendon></mujoco>',
    "a ball joint limited to nothing": one(f'{BALL}<body><joint name="hip" type="ball" limited="true"/>{BOX}</body>'),
    "replicated in what is replicated": '<mujoco><worldbody><replicate count="2" offset="1 0 0"><body name="x" pos="0 1 0">'
    f'<joint name="x"/>{BALL}<replicate count="2" offset="0 0 1" euler="0 30 0" sep="_" prefix="A"><body name="b" pos="0.1 0 0">'
    f'<joint name="b" axis="1 0 0"/>{BOX}<site name="s"/></body></replicate></body></replicate></worldbody><actuator>'
    '<motor joint="b" armature="0.3"/><motor joint="x" armature="0.2"/></actuator></mujoco>',
    "ball joints": one(
        f'{BALL}<body name="hip" pos="0.3 0 0" euler="10 0 20"><joint name="hip" type="ball" pos="0.1 0 -0.2"/>{BOX}'
        f'<body pos="0 0.2 0.1"><joint type="ball"/><joint type="slide" axis="1 2 0"/>{BOX}</body></body>'
    ),
    "an arm and what lies around": arm(
        world=f'<body name="cup" pos="1 2 3" euler="10 20 30"><freejoint name="cup_free"/>{BOX}<body pos="0.1 0 0"><joint/>{BALL}'
        f'</body></body><body name="ball"><joint type="free"/>{BALL}</body><body name="table">{BOX}</body>'
    ),
    "bodies without joints": arm(world=f'<body name="table" pos="1 0 0">{BALL}<body euler="0 0 9">{BALL}</body></body>')
    .replace('name="lower"', 'name="middle" euler="1 2 3"><body name="lower"')
    .replace('quat="0.9 0.1 0.3 -0.2">', ">")
    .replace("</body></worldbody>", "</body></body></worldbody>")
    .replace("</body>\n    </body>", "</body></body>\n    </body>")
    .replace("</body></body></worldbody>", "</body></worldbody>"),
    "two arms": arm(world=f'<body name="other" pos="1 0 0"><joint name="turn"/>{BALL}</body>'),
    "two worlds": arm().replace("</worldbody>", f"</worldbody><worldbody><body><joint/>{BALL}</body></worldbody>"),
    "frames": one(
        '<frame pos="0.1 0.2 0.3" euler="10 20 30"><geom type="box" size="0.1 0.2 0.3" pos="1 0 0" euler="0 0 9"/>'
        f'<frame quat="0.5 0.5 0.1 0"><joint name="b" pos="0.1 0 0" axis="1 2 3"/>{BALL}'
        f'<body name="below" pos="0 0.4 0" euler="3 2 1"><joint name="c"/>{BALL}</body></frame></frame>'
    ),
    "frames of the world": '<mujoco><worldbody><frame euler="10 20 30"><frame pos="1 2 3">'
    f'<body pos="0.1 0 0"><joint/>{BALL}</body></frame></frame></worldbody></mujoco>',
    "mocap": arm(world='<body name="hand" mocap="true" pos="1 1 1"/>'),
    # ── inertia said ──
    "diagonal": one('<inertial pos="0.1 0.2 0.3" mass="2" diaginertia="0.3 0.4 0.5"/>'),
    "diagonal, turned": one('<inertial pos="0.1 0.2 0.3" mass="2" diaginertia="0.3 0.4 0.5" euler="10 20 30"/>'),
    "full: xx yy zz xy xz yz": one('<inertial pos="0.1 0.2 0.3" mass="2" fullinertia="0.3 0.4 0.5 0.01 0.02 0.03"/>'),
    "inertia said goes first": one(f'{BOX}<inertial pos="0.1 0.2 0.3" mass="2" diaginertia="0.3 0.4 0.5"/>'),
    "geoms go first": one(
        f'{BOX}<inertial pos="0.1 0.2 0.3" mass="2" diaginertia="0.3 0.4 0.5"/>', '<compiler inertiafromgeom="true"/>'
    ),
    "no geom can go first": one(
        '<inertial pos="0.1 0.2 0.3" mass="2" diaginertia="0.3 0.4 0.5"/>', '<compiler inertiafromgeom="true"/>'
    ),
    "never of geoms": one(
        f'{BOX}<inertial pos="0.1 0.2 0.3" mass="2" diaginertia="0.3 0.4 0.5"/>', '<compiler inertiafromgeom="false"/>'
    ),
    "at least": one(
        '<inertial pos="0.1 0.2 0.3" mass="2" fullinertia="0.3 0.1 0.3 0.01 0.02 0.03"/>',
        '<compiler boundmass="3" boundinertia="0.25"/>',
    ),
    "nothing but bounds": '<mujoco><compiler boundmass="3" boundinertia="0.25"/><worldbody><frame pos="3 0 0" euler="0 0 90">'
    '<body pos="1 2 3" euler="10 20 30"><joint/><geom size="1" mass="0"/></body></frame></worldbody></mujoco>',
    "balanced": one(
        '<inertial pos="0.1 0.2 0.3" mass="2" diaginertia="0.3 0.4 0.9"/>', '<compiler balanceinertia="true"/>'
    ),
    "total mass": arm('<compiler settotalmass="7.5"/>', shoulder=' armature="0.5"'),
    # ── inertia of geoms ──
    **{
        f"{kind}{shell}{weight}": geom(f'type="{kind}" size="{size}"{shell}{weight}')
        for kind, size in {
            "sphere": "0.2", "capsule": "0.1 0.3", "cylinder": "0.1 0.3", "ellipsoid": "0.1 0.2 0.3", "box": "0.1 0.2 0.3"
        }.items()
        for shell in ("", *((' shellinertia="true"',) if kind != "ellipsoid" else ()))
        for weight in ("", ' density="300"', ' mass="2.5"')
    },
    **{
        f"{kind} from a point to another": one(f'<geom type="{kind}" size="0.1" fromto="0.1 0.2 0.3 0.5 -0.1 0.2"/>')
        for kind in ("capsule", "cylinder", "ellipsoid", "box")
    },
    "from a point straight down": one('<geom type="capsule" size="0.1 5" fromto="0 0 0.3 0 0 -0.1"/>'),
    "a geom without mass": one(f'{BALL}<geom type="box" size="1 1 1" mass="0"/><geom size="1" density="0"/>'),
    "groups": one(f'{BALL}<geom size="0.2" group="3"/><geom size="0.3" group="4"/>', '<compiler inertiagrouprange="0 3"/>'),
    # ── default classes ──
    "defaults": arm(
        '<default><joint damping="0.3" armature="0.1"/><geom density="500" type="box" size="0.1 0.1 0.1"/></default>',
        lower_geom="<geom/>", elbow=' damping="0.1"',
    ),
    "classes": arm(
        '<default class="main"><geom density="500"/><joint damping="1" axis="1 0 0"/><default class="a"><geom size="0.3"/>'
        '<joint armature="2"/><default class="b"><geom density="10"/><joint damping="3"/></default></default>'
        '<default class="c"><joint frictionloss="0.4"/></default></default>',
        upper=' childclass="b"', lower_geom='<geom/><geom class="a" pos="1 0 0"/>', elbow=' class="c"',
    ),
    "child classes of frames and bodies below": "<mujoco><default><default class='a'><geom size='0.2'/></default>"
    "<default class='b'><geom size='0.3' density='10'/></default></default><worldbody><frame childclass='a'>"
    "<body><joint/><geom/><body pos='1 0 0' childclass='b'><joint/><geom/><frame childclass='a'><geom pos='2 0 0'/>"
    "<body><joint/><geom/></body></frame></body></body></frame></worldbody></mujoco>",
    "an orientation goes over that of its class": arm(
        '<default><geom quat="0.5 0.5 0.1 0"/></default>', upper_geom=BOX, lower_geom=BALL
    ),
    # ── switches ──
    "no gravity": arm('<option><flag gravity="disable"/></option>'),
    "no dampers": arm('<option><flag damper="disable"/></option>', shoulder=' damping="0.7" armature="0.1"'),
    # ── a floating base ──
    "free joint": f'<mujoco><worldbody><body pos="1 2 3" euler="10 20 30"><freejoint/>{BOX}</body></worldbody></mujoco>',
    "free joint with limbs": "<mujoco><default><joint armature='0.2'/></default><worldbody><geom type='plane' size='1 1 1'/>"
    f"<frame pos='1 0 0'><body name='hull'><freejoint name='root'/>{BOX}<body pos='0 1 0'><joint name='a'/>{BALL}"
    f"<body pos='0.2 0 0'><joint name='b' type='slide'/>{BALL}</body></body><body name='fin' pos='1 0 0'>{BALL}</body>"
    "</body></frame></worldbody></mujoco>",
    "free joint as a joint": "<mujoco><worldbody><body><joint type='free'/><geom size='1'/></body></worldbody></mujoco>",
    "free joint beside what stands": "<mujoco><worldbody><body name='table'><geom size='1'/><body><geom size='1'/></body></body>"
    f"<body name='hull'><freejoint/>{BOX}<body><joint/>{BALL}</body></body></worldbody></mujoco>",
    "a spring that ties a free body to the ground": "<mujoco><worldbody><site name='w' pos='0 0 2'/><body><freejoint/>"
    "<geom size='1'/><site name='s' pos='0.3 0 0'/></body></worldbody><tendon><spatial stiffness='50' damping='2'>"
    "<site site='w'/><site site='s'/></spatial></tendon></mujoco>",
    # ── springs and weights ──
    "weights that are borne": arm('<option gravity="1 2 -9"/>', '<body gravcomp="1"><geom size="1"/></body>', upper=' gravcomp="0.7"'),
    "weights that are borne, of which an actuator bears one": arm(
        world=f'<body gravcomp="1"><joint actuatorgravcomp="true"/>{BOX}<body gravcomp="2">{BALL}</body></body>', upper=' gravcomp="0.7"'
    ),
    "a weight that is doubled": arm(upper=' gravcomp="-1"'),
    "a weight that is doubled beside one that is borne": arm(upper=' gravcomp="-1"', world=f'<body gravcomp="1">{BOX}</body>'),
    "a balloon": f'<mujoco><worldbody><body gravcomp="3"><freejoint/>{BOX}</body></worldbody></mujoco>',
    "nothing is borne without springs and dampers": arm(
        '<option><flag spring="disable" damper="disable"/></option>', upper=' gravcomp="1"', elbow=' springdamper="0.1 1"'
    ),
    "nothing is borne without gravity": arm('<option><flag gravity="disable"/></option>', upper=' gravcomp="1"'),
    "time constants": arm(shoulder=' springdamper="0.2 0.7" springref="20" ref="30"', elbow=' springdamper="0.1 1" armature="0.3"'),
    "time constants where one follows": arm(shoulder=' springdamper="0.2 0.7"', elbow=' ref="20"').replace(
        "</mujoco>", '<equality><joint joint1="elbow" joint2="shoulder" polycoef="0.2 -1.5"/></equality></mujoco>'
    ),
    "springs of ball joints": arm(
        world=f'<body><joint type="ball" springdamper="0.2 1"/>{BOX}</body>',
        shoulder=' type="ball" stiffness="7" damping="0.3" armature="0.2"', elbow=' springdamper="0.1 1"',
    ),
    "time constants beside two hinges on one axis": arm(shoulder=' springdamper="0.2 0.7"',
        world=f'<body><joint springdamper="0.1 1"/><joint/>{BOX}</body>').replace("shoulder", "up"),
    "springs with slack": arm(world='<site name="w" pos="0 0 0.1"/>', lower_geom=BALL + '<site name="s" pos="0.3 0 0"/>').replace(
        "</mujoco>", '<tendon><fixed stiffness="5" springlength="-0.1 0.2" damping="0.1"><joint joint="elbow" coef="2"/>'
        '<joint joint="shoulder" coef="-1"/></fixed><fixed stiffness="3" springlength="-1 0.1"><joint joint="elbow" coef="3"/>'
        '</fixed><spatial stiffness="9" springlength="-1 0.8"><site site="w"/>'
        '<site site="s"/></spatial></tendon></mujoco>',
    ),
    # ── joints that follow ──
    "follows": arm().replace(
        "</mujoco>", '<equality><joint joint1="elbow" joint2="shoulder" polycoef="0.2 -1.5 0 0 0"/></equality></mujoco>'
    ),
    "follows, with references": arm(shoulder=' ref="20" armature="0.3"', elbow=' ref="-50" armature="0.1" damping="2"').replace(
        "</mujoco>", '<equality><joint joint1="shoulder" joint2="elbow" polycoef="0.2 2"/></equality></mujoco>'
    ),
    "follows as it is": arm(elbow=' type="slide" ref="0.5"').replace(
        "</mujoco>", '<equality><joint joint1="shoulder" joint2="elbow"/></equality></mujoco>'
    ),
    # ── rotors ──
    "rotors": arm().replace(
        "</mujoco>",
        '<actuator><motor joint="elbow" gear="30" armature="2e-3" damping="1e-3"/><position joint="elbow" armature="0.01"/>'
        '<general joint="shoulder" gear="-5 1" armature="0.01"/></actuator></mujoco>',
    ),
    "rotors of a class": arm('<default><motor armature="0.1"/><default class="a"><general gear="3"/></default></default>').replace(
        "</mujoco>", '<actuator><position joint="elbow" class="a" kp="3"/><motor joint="shoulder"/></actuator></mujoco>'
    ),
}  # fmt: skip


def read(text: str) -> Mechanism:
    reading = mjcf.parse(text, "test")
    assert reading.description is not None, reading.problems
    return reading.description.mechanism


@pytest.mark.parametrize("name", TEXTS)
def test_agrees(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from support.mujoco_from_mjcf import MujocoTwin

    monkeypatch.chdir(tmp_path)  # (MuJoCo writes its warnings into a file where it is run)
    MujocoTwin(read(TEXTS[name]), mujoco.MjModel.from_xml_string(TEXTS[name])).compare(len(name))
