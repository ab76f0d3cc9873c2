"""Ready mechanisms, kept as data: one .toml file each, whose ``source`` lines say where every number comes from."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from linkwise.errors import ArgumentError, FileError, members
from linkwise.files.description import Description
from linkwise.files.linkwise_toml import parse
from linkwise.mechanism import Mechanism


def names() -> tuple[str, ...]:
    """Return the names of the ready mechanisms, sorted.

    Examples
    --------
    >>> "puma560" in names()
    True
    """
    found = (entry.name for entry in files(__name__).joinpath("data").iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in found if name.endswith(".toml")))


def load(name: str) -> Mechanism:
    """Return the ready mechanism of that name.

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
        raise ArgumentError(f"no robot {name!r}; there are {members(names())}")
    path = files(__name__).joinpath("data", f"{name}.toml")
    reading = parse(path.read_text(encoding="utf-8"), name)
    if reading.description is None:
        raise FileError(str(path), reading.problems)
    return reading.description


def puma560() -> Mechanism:
    """Unimation PUMA 560: six revolute joints, with motors and friction (Corke and Armstrong-Helouvry, 1994)."""
    return load("puma560")


def stanford() -> Mechanism:
    """Stanford arm: five revolute joints and one prismatic one; kinematics only (Paul, 1972)."""
    return load("stanford")


def scara_icomatic() -> Mechanism:
    """SCARA ICOMATIC 03: two revolute joints and one prismatic one (SpaceLib manual, table 7.2)."""
    return load("scara_icomatic")


def smart() -> Mechanism:
    """SMART: six revolute joints (SpaceLib manual, table 7.4)."""
    return load("smart")


def elbow() -> Mechanism:
    """Elbow robot: six revolute joints; kinematics only (SpaceLib manual, section 7.6)."""
    return load("elbow")


def planar_2r() -> Mechanism:
    """Two rods of 1 m and 1 kg in a vertical plane: a textbook example."""
    return load("planar_2r")


def planar_3r() -> Mechanism:
    """Three rods of 1 m and 1 kg in a vertical plane: a textbook example."""
    return load("planar_3r")


def panda() -> Mechanism:
    """Franka Emika Panda: seven revolute joints, identified inertias (Gaz et al., 2019)."""
    return load("panda")


def ur5() -> Mechanism:
    """Universal Robots UR5: six revolute joints; the maker's masses, no inertias."""
    return load("ur5")


def seven_joint() -> Mechanism:
    """Seven revolute joints with full inertias, made up for tests and benchmarks."""
    return load("seven_joint")


def four_bar() -> Mechanism:
    """Crank-rocker four-bar linkage: one driven crank (lengths of Norton's example 4-1)."""
    return load("four_bar")


def slider_crank() -> Mechanism:
    """In-line slider-crank: crank 50 mm, rod 200 mm, made up."""
    return load("slider_crank")


def five_bar() -> Mechanism:
    """Symmetric planar five-bar: two driven cranks on the base, made up."""
    return load("five_bar")


def stewart() -> Mechanism:
    """Gough-Stewart platform: six driven legs (6-UPS), made up."""
    return load("stewart")


def delta() -> Mechanism:
    """Delta robot: three driven arms, each with a parallelogram of two rods (Clavel, 1985), lengths made up."""
    return load("delta")


def jansen() -> Mechanism:
    """Theo Jansen's leg: eleven bars, three loops, one driven crank (Jansen, 2007)."""
    return load("jansen")
