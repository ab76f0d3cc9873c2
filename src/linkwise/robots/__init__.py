"""Ready mechanisms, kept as data: one .toml file each, whose ``source`` lines name the origin of every number."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from importlib.resources import files

from linkwise.errors import ArgumentError, FileError, members, suggestion
from linkwise.files.formats.linkwise_toml import parse
from linkwise.files.report import Description, with_collision_shapes
from linkwise.mechanism import Mechanism


def names() -> tuple[str, ...]:
    """Return the names of the ready mechanisms, sorted.

    Examples
    --------
    >>> "puma560" in names()
    True
    """
    entries = (entry.name for entry in files(__name__).joinpath("data").iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in entries if name.endswith(".toml")))


def load(name: str) -> Mechanism:
    """Return the ready mechanism of that name; ``robots.ur20()`` is short for ``robots.load("ur20")``.

    Many have kinematics only (``linkwise robots`` lists which): without masses their gravity torques and efforts are zero.

    Raises
    ------
    ArgumentError
        Naming the mechanisms there are.

    Examples
    --------
    >>> load("scara_icomatic").n
    3
    """
    return describe(name).mechanism


def __getattr__(name: str) -> Callable[[], Mechanism]:
    """Ready mechanisms without a function below."""
    if name not in names():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{suggestion(name, names())}")
    return partial(load, name)


def summary(name: str) -> str:
    """Return the description of a ready mechanism, in a line.

    Raises
    ------
    ArgumentError
        Naming the mechanisms there are.

    Examples
    --------
    >>> summary("ur5e")
    'Universal Robots UR5e'
    """
    text = describe(name).source[0].split(". ")[0]
    function = globals().get(name)
    return text if function is None else str(function.__doc__).splitlines()[0].rstrip(".")


@cache
def describe(name: str) -> Description:
    """Return the ready mechanism of that name with the sources of its numbers.

    Raises
    ------
    ArgumentError
        Naming the mechanisms there are.

    Examples
    --------
    >>> describe("smart").source[0].startswith("SMART")
    True
    """
    if name not in names():
        raise ArgumentError(f"no robot {name!r}{suggestion(str(name), names())}; there are {members(names())}")
    path = files(__name__).joinpath("data", f"{name}.toml")
    reading = with_collision_shapes(parse(path.read_text(encoding="utf-8"), name))
    if reading.description is None:
        raise FileError(str(path), reading.problems)
    return reading.description


def puma560() -> Mechanism:
    """Unimation PUMA 560: six revolute joints, with motors and friction (Corke and Armstrong-Helouvry, 1994).

    Examples
    --------
    >>> print(puma560())
    puma560: 6 joints (RRRRRR)
    standard Denavit-Hartenberg: Rz(theta) Tz(d) Tx(a) Rx(alpha); lengths in m, angles in degrees
    gravity 0 0 -9.81 m/s2
    motors on 6 joints
    <BLANKLINE>
    link   joint  theta        d       a  alpha  limits
    link1  R      q1     0        0         90°  -160° .. 160°
    link2  R      q2     0        0.4318     0°   -45° .. 225°
    link3  R      q3     0.15005  0.0203   -90°  -225° ..  45°
    link4  R      q4     0.4318   0         90°  -110° .. 170°
    link5  R      q5     0        0        -90°  -100° .. 100°
    link6  R      q6     0        0          0°  -266° .. 266°
    """
    return load("puma560")


def stanford() -> Mechanism:
    """Stanford arm: five revolute joints and one prismatic one; kinematics only (Paul, 1972).

    Examples
    --------
    >>> print(stanford())
    stanford: 6 joints (RRPRRR)
    standard Denavit-Hartenberg: Rz(theta) Tz(d) Tx(a) Rx(alpha); lengths in m, angles in degrees
    gravity 0 0 -9.81 m/s2
    <BLANKLINE>
    link   joint  theta  d      a  alpha
    link1  R      q1     0.412  0   -90°
    link2  R      q2     0.154  0    90°
    link3  P      -90°   q3     0     0°
    link4  R      q4     0      0   -90°
    link5  R      q5     0      0    90°
    link6  R      q6     0.263  0     0°
    """
    return load("stanford")


def scara_icomatic() -> Mechanism:
    """SCARA ICOMATIC 03: two revolute joints and one prismatic one (SpaceLib manual, table 7.2).

    Examples
    --------
    >>> print(scara_icomatic())
    scara_icomatic: 3 joints (RRP)
    standard Denavit-Hartenberg: Rz(theta) Tz(d) Tx(a) Rx(alpha); lengths in m, angles in degrees
    gravity 0 0 -9.8 m/s2
    <BLANKLINE>
    link   joint  theta  d            a     alpha
    link1  R      q1     0         0.33    0°
    link2  R      q2     0         0.33    0°
    link3  P      0°     q3 - 0.1  0     179.995°
    """
    return load("scara_icomatic")


def smart() -> Mechanism:
    """SMART: six revolute joints (SpaceLib manual, table 7.4).

    Examples
    --------
    >>> smart().forward_kinematics([0.0] * 6)[:3, 3].round(3)
    array([0.75, 0.  , 1.9 ])
    """
    return load("smart")


def elbow() -> Mechanism:
    """Elbow robot: six revolute joints; kinematics only (SpaceLib manual, section 7.6).

    Examples
    --------
    >>> print(elbow())
    elbow: 6 joints (RRRRRR)
    standard Denavit-Hartenberg: Rz(theta) Tz(d) Tx(a) Rx(alpha); lengths in m, angles in degrees
    gravity 0 0 -9.81 m/s2
    base at xyz 0 0 1.5, roll pitch yaw 0° 0° 90°
    tool at xyz 0 0 0.2, roll pitch yaw 0° -90° -90°
    <BLANKLINE>
    link   joint  theta  d    a  alpha
    link1  R      q1     0  0      90°
    link2  R      q2     0  0.8     0°
    link3  R      q3     0  0.8     0°
    link4  R      q4     0  0.2   270°
    link5  R      q5     0  0      90°
    link6  R      q6     0  0       0°
    """
    return load("elbow")


def planar_2r() -> Mechanism:
    """Two rods of 1 m and 1 kg in a vertical plane: a textbook example.

    Examples
    --------
    >>> print(planar_2r())
    planar_2r: 2 joints (RR)
    standard Denavit-Hartenberg: Rz(theta) Tz(d) Tx(a) Rx(alpha); lengths in m, angles in degrees
    gravity 0 -9.81 0 m/s2
    <BLANKLINE>
    link   joint  theta  d  a  alpha
    link1  R      q1     0  1     0°
    link2  R      q2     0  1     0°
    """
    return load("planar_2r")


def planar_3r() -> Mechanism:
    """Three rods of 1 m and 1 kg in a vertical plane: a textbook example.

    Examples
    --------
    >>> print(planar_3r())
    planar_3r: 3 joints (RRR)
    standard Denavit-Hartenberg: Rz(theta) Tz(d) Tx(a) Rx(alpha); lengths in m, angles in degrees
    gravity 0 -9.81 0 m/s2
    <BLANKLINE>
    link   joint  theta  d  a  alpha
    link1  R      q1     0  1     0°
    link2  R      q2     0  1     0°
    link3  R      q3     0  1     0°
    """
    return load("planar_3r")


def panda() -> Mechanism:
    """Franka Emika Panda: seven revolute joints, identified inertias (Gaz et al., 2019).

    Examples
    --------
    >>> print(panda())
    panda: 7 joints (RRRRRRR)
    modified Denavit-Hartenberg: Rx(alpha) Tx(a) Rz(theta) Tz(d); lengths in m, angles in degrees
    gravity 0 0 -9.81 m/s2
    tool at xyz 0 0 0.107, roll pitch yaw 0° 0° 0°
    <BLANKLINE>
    link   joint  alpha        a  theta      d  limits
    link1  R         0°   0       q1     0.333  -166.003°   .. 166.003°
    link2  R       -90°   0       q2     0      -101.001°   .. 101.001°
    link3  R        90°   0       q3     0.316  -166.003°   .. 166.003°
    link4  R        90°   0.0825  q4     0      -176.001°   ..  -3.99925°
    link5  R       -90°  -0.0825  q5     0.384  -166.003°   .. 166.003°
    link6  R        90°   0       q6     0        -1.00268° .. 215.002°
    link7  R        90°   0.088   q7     0      -166.003°   .. 166.003°
    """
    return load("panda")


def ur5() -> Mechanism:
    """Universal Robots UR5: six revolute joints; the maker's masses, no inertias.

    Examples
    --------
    >>> print(ur5())
    ur5: 6 joints (RRRRRR)
    standard Denavit-Hartenberg: Rz(theta) Tz(d) Tx(a) Rx(alpha); lengths in m, angles in degrees
    gravity 0 0 -9.81 m/s2
    <BLANKLINE>
    link       joint  theta         d         a  alpha  limits
    shoulder   R      q1     0.089159   0          90°  -360° .. 360°
    upper_arm  R      q2     0         -0.425       0°  -360° .. 360°
    forearm    R      q3     0         -0.39225     0°  -360° .. 360°
    wrist_1    R      q4     0.10915    0          90°  -360° .. 360°
    wrist_2    R      q5     0.09465    0         -90°  -360° .. 360°
    wrist_3    R      q6     0.0823     0           0°  -360° .. 360°
    """
    return load("ur5")


def seven_joint() -> Mechanism:
    """Seven revolute joints with full inertias, made up for tests and benchmarks.

    Examples
    --------
    >>> seven_joint().q_max.round(3)
    array([2.9, 2.1, 2.9, 2.2, 2.9, 2. , 3. ])
    """
    return load("seven_joint")


def four_bar() -> Mechanism:
    """Crank-rocker four-bar linkage: one driven crank (lengths of Norton's example 4-1).

    Examples
    --------
    >>> print(four_bar())
    four_bar: 3 joints (RRR)
    placement A, then the joint about or along its axis; lengths in m, angles in degrees
    gravity 0 -9.81 0 m/s2
    tool on coupler at xyz 0.12 0 0, roll pitch yaw 0° 0° 0°
    motors on 1 joint, without friction
    loop pin: axes and points on coupler and on rocker coincide
    <BLANKLINE>
    link     parent  joint  variable       axis   A x y z   A roll pitch yaw
    crank    base    R      q1             0 0 1  0    0 0  0° 0° 0°
    coupler  crank   R      q2 + 36.3361°  0 0 1  0.04 0 0  0° 0° 0°
    rocker   base    R      q3 + 62.7204°  0 0 1  0.1  0 0  0° 0° 0°
    """
    return load("four_bar")


def slider_crank() -> Mechanism:
    """In-line slider-crank: crank 50 mm, rod 200 mm, made up.

    Examples
    --------
    >>> print(slider_crank())
    slider_crank: 3 joints (RRP)
    placement A, then the joint about or along its axis; lengths in m, angles in degrees
    gravity 0 -9.81 0 m/s2
    tool on slider at xyz 0 0 0, roll pitch yaw 0° 0° 0°
    motors on 1 joint, without friction
    loop wrist_pin: axes and points on rod and on slider coincide
    <BLANKLINE>
    link    parent  joint  variable  axis   A x y z   A roll pitch yaw
    crank   base    R      q1        0 0 1  0    0 0  0° 0° 0°
    rod     crank   R      q2        0 0 1  0.05 0 0  0° 0° 0°
    slider  base    P      q3        1 0 0  0.25 0 0  0° 0° 0°
    """
    return load("slider_crank")


def five_bar() -> Mechanism:
    """Symmetric planar five-bar: two driven cranks on the base, made up.

    Examples
    --------
    >>> five_bar().names
    ('left_crank', 'left_rod', 'right_crank', 'right_rod')
    """
    return load("five_bar")


def stewart() -> Mechanism:
    """Gough-Stewart platform: six driven legs (6-UPS), made up.

    Examples
    --------
    >>> made = stewart()
    >>> made.n, len(made.loops), len(made.drives)
    (24, 6, 6)
    """
    return load("stewart")


def delta() -> Mechanism:
    """Delta robot: three driven arms, each with a parallelogram of two rods (Clavel, 1985), lengths made up.

    Examples
    --------
    >>> made = delta()
    >>> made.n, len(made.loops), len(made.drives)
    (21, 6, 3)
    """
    return load("delta")


def jansen() -> Mechanism:
    """Theo Jansen's leg: eleven bars, three loops, one driven crank (Jansen, 2007).

    Examples
    --------
    >>> made = jansen()
    >>> made.n, [loop.name for loop in made.loops]
    (7, ['upper_pin', 'lower_pin', 'side_pin'])
    """
    return load("jansen")
