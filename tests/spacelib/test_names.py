"""The table of names, and the namespaces of the C and Maple releases that read it."""

import ast
import inspect
import subprocess
import sys
from importlib import import_module

import numpy as np
import pytest
import sympy

from linkwise.errors import ArgumentError
from linkwise.mechanism import Mechanism
from linkwise.spacelib import c, constants, maple
from linkwise.spacelib.names import NAMES, RELEASES, Name, names_of

SECTIONS = {
    "3.1": 12,
    "3.2": 10,
    "3.3": 4,
    "3.4": 17,
    "3.5": 15,
    "3.6": 5,
    "3.7": 16,
    "3.8": 18,
    "3.9": 4,
    "3.10": 3,
    "4": 3,
}
"""How many functions the manual's sections have; the two that it names without a description count with 3.9."""

SHORTCUTS = [
    f"{before}{after}"
    for kind in ("card", "eul", "naut")
    for letter in "MWH"
    for before, after in ((f"{kind}to", letter), (f"{letter}to", kind))
]


def test_every_function_of_the_manual_has_its_row() -> None:
    counted = {section: sum(row.section == section for row in NAMES) for section in SECTIONS}
    assert counted == SECTIONS
    assert sum(SECTIONS.values()) == 107
    assert {row.function for row in NAMES if row.matlab} == {row.function for row in NAMES if row.section in SECTIONS}


@pytest.mark.parametrize("release", RELEASES)
def test_no_name_means_two_things_in_one_release(release: str) -> None:
    names = [name for row in NAMES for name in getattr(row, release)]
    assert len(names) == len(set(names)) == len(names_of(release))
    assert all(name.isidentifier() for name in names)


def test_shortcuts_of_the_appendix() -> None:
    assert len(SHORTCUTS) == 18
    for release in ("c", "maple"):
        assert {*SHORTCUTS} <= {*names_of(release)}
    assert not {*SHORTCUTS} & {*names_of("matlab")}


@pytest.mark.parametrize("row", NAMES, ids=lambda row: row.function)
def test_names_are_bound(row: Name) -> None:
    """Every name of every release is our function, which the module of the table has, and which has a docstring."""
    found = row.value
    for name in row.c:
        assert getattr(c, name) is found
    for name in row.maple:
        assert getattr(maple, name) is found
    if callable(found):
        assert inspect.unwrap(found).__module__.startswith("linkwise.spacelib.")
        assert found.__doc__


def test_what_is_reversed_between_the_releases() -> None:
    q, qp = [0.1, 0.2, 0.3], [1.0, 2.0, 3.0]
    assert c.cardanto_OMEGA(q, qp, c.X, c.Y, c.Z).shape == (3,)
    assert maple.cardanto_OMEGA(q, qp, c.X, c.Y, c.Z).shape == (3, 3)
    assert c.cardanto_omega(q, qp, c.X, c.Y, c.Z).shape == (3, 3)
    assert maple.cardanto_omega(q, qp, c.X, c.Y, c.Z).shape == (3,)
    assert c.cardanto_OMEGAPTO(q, qp, qp, c.X, c.Y, c.Z).shape == (3,)
    assert maple.cardanto_OMEGAPTO(q, qp, qp, c.X, c.Y, c.Z).shape == (3, 3)


def test_constants_are_there_too() -> None:
    assert np.pi / 2 == c.PIG_2
    assert c.Zaxis_n is constants.Zaxis_n
    assert c.X == maple.X == 0
    assert maple.Origin is constants.ORIGIN
    for namespace in (c, maple):
        assert {"X", "OK", "UNIT4"} <= {*dir(namespace)}
    assert {*names_of("c")} <= {*dir(c)}
    assert not {"annotations", "np", "math"} & {*dir(c)}


@pytest.mark.parametrize("release", ["c", "maple"])
def test_a_star_imports_the_whole_release(release: str) -> None:
    """What a program begins with: all functions and constants, and nothing else."""
    namespace: dict[str, object] = {}
    exec(f"from linkwise.spacelib.{release} import *", namespace)
    del namespace["__builtins__"]
    assert {*namespace} == {*dir(import_module(f"linkwise.spacelib.{release}"))}
    assert {*names_of(release)} | {"X", "PIG_2", "UNIT4"} <= {*namespace}


def test_the_namespaces_are_there_after_one_import() -> None:
    code = (
        "import sys, linkwise.spacelib as sl;"
        "assert not [name for name in ('c', 'maple', 'programs') if f'linkwise.spacelib.{name}' in sys.modules];"
        "assert sl.c.makeL is sl.makel and sl.maple.makeL is sl.makel and sl.programs.__name__.endswith('programs');"
        "assert {'c', 'maple', 'programs'} <= {*dir(sl)}"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_no_axis_is_the_constant_and_no_other_three() -> None:
    """Where U means no axis, a 3 of a MATLAB program would mean Z: only the constant counts."""
    for name, args in {
        "rotat2": (0.1,),
        "rotat24": (0.1, constants.ORIGIN),
        "rotat34": (0.1, constants.ORIGIN),
        "traslat2": (0.1,),
        "traslat24": (0.1, constants.ORIGIN),
    }.items():
        function = getattr(c, name)
        assert np.array_equal(function(c.U, *args), np.eye(len(function(c.U, *args))))
        assert np.array_equal(function(np.float64(2.0), *args), function(c.Z, *args))
        for wrong in (3, 3.0, np.int64(3), np.array(3), -1, 4):
            with pytest.raises(ArgumentError, match=f"^{name}: a is"):
                function(wrong, *args)
    for name, kind, args in (("makeL2", 0, (0.0, constants.ORIGIN)), ("velacctoWH2", 1, (1.0, 1.0))):
        assert not np.any(getattr(c, name)(kind, c.U, *args))
        with pytest.raises(ArgumentError, match="count from 0"):
            getattr(c, name)(kind, 3, *args)
    for name in ("axis", "cardantor"):  # these need an axis
        with pytest.raises(ArgumentError, match="expected"):
            getattr(c, name)(*([c.U] if name == "axis" else [[0.1, 0.2, 0.3], c.U, c.Y, c.U]))
    assert [np.arange(4)[k] for k in (c.X, c.Y, c.Z, c.U)] == [0, 1, 2, 3]


def test_the_constants_of_maple_are_exact() -> None:
    q = sympy.Symbol("q")
    assert sympy.pi / 2 == maple.PIG_2
    made = maple.UNIT4 @ maple.dhtom(maple.Rev, 0, 0, 0, 0, maple.PIG_2, q)
    assert made.tolist() == [
        [sympy.cos(q), 0, sympy.sin(q), 0],
        [sympy.sin(q), 0, -sympy.cos(q), 0],
        [0, 1, 0, 0],
        [0, 0, 0, 1],
    ]
    for name in dir(maple):
        value, number = getattr(maple, name), getattr(constants, name, None)
        if isinstance(number, np.ndarray):
            assert np.array_equal(value.astype(float), number)
            with pytest.raises(ValueError, match="read-only"):
                value[:] = 7


@pytest.mark.parametrize(
    ("namespace", "name", "message"),
    [
        (
            c,
            "rtocarda",
            "SpaceLib has no 'rtocarda' in its C release; it is a name of the MATLAB release, which is 'rtocardan', ",
        ),
        (
            c,
            "vdot3",
            "SpaceLib has no 'vdot3' in its C release; it is a name of the Maple release, which that release lacks",
        ),
        (
            maple,
            "velacctoWH",
            "SpaceLib has no 'velacctoWH' in its Maple release; it is a name of the C release, which is 'velactoWH' there",
        ),
        (maple, "rotatt", "SpaceLib has no 'rotatt' in its Maple release; close are 'rotat', "),
        (c, "qqqqq", "SpaceLib has no 'qqqqq' in its C release; dir(linkwise.spacelib.c) lists all 187 functions"),
        (c, "np", "SpaceLib has no 'np' in its C release; "),
    ],
)
def test_unknown_names(namespace: object, name: str, message: str) -> None:
    with pytest.raises(AttributeError) as caught:
        getattr(namespace, name)
    assert str(caught.value).startswith(message)


def test_the_modern_way_is_python_that_exists() -> None:
    """Each snippet compiles, and what it takes from NumPy, `linkwise.spatial`, a mechanism or SciPy is there."""
    for row in NAMES:
        if not row.linkwise:
            continue
        tree = ast.parse(row.linkwise)
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                home = node.value.id
                if home == "np":
                    assert hasattr(np, node.attr), row
                elif home in {"rotation", "transform", "matrix_method"}:
                    assert hasattr(import_module(f"linkwise.spatial.{home}"), node.attr), row
                elif home == "arm":
                    assert hasattr(Mechanism, node.attr), row
