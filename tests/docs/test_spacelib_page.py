"""What the pages for SpaceLib's users say: the table of names, Linkwise's way beside each name, the errata."""

import inspect
import json
import re
import runpy
from typing import Any

import numpy as np
import pytest
import scipy.linalg
from scipy.spatial.transform import Rotation

import linkwise as lw
import linkwise.spacelib as sl
from linkwise.spacelib.names import NAMES, Name
from linkwise.spatial import matrix_method, rotation, transform

from .conftest import ROOT

GUIDE, TABLE, ERRATA = (ROOT / "docs" / f"spacelib{part}.md" for part in ("", "-names", "-errata"))
EXAMPLES = json.loads((ROOT / "tests" / "spacelib" / "data" / "examples.json").read_text(encoding="utf-8"))["examples"]

RNG = np.random.default_rng(4)


def unit(size: int = 3) -> np.ndarray:
    v = RNG.normal(size=size)
    return v / np.linalg.norm(v)


def point() -> np.ndarray:
    return np.append(RNG.normal(size=3), 1.0)


def values() -> dict[str, Any]:
    """The arguments of the manual, by their names."""
    theta, d, b, a, alpha, phi, h, pitch, r, x, y = RNG.uniform(0.2, 1.0, 11)
    q = RNG.uniform(0.2, 1.0, 3)
    m = transform.transform(Rotation.from_euler("XYZ", q).as_matrix(), point()[:3])
    W = matrix_method.velocity_matrix(RNG.normal(size=3), RNG.normal(size=3))
    H0, H1 = (np.vstack([RNG.normal(size=(3, 4)), np.zeros(4)]) for _ in range(2))
    points = RNG.normal(size=(5, 4))
    J = points.T @ points
    moments = {"jxx": 1.1, "jyy": 1.2, "jzz": 1.3, "jxy": 0.1, "jyz": 0.2, "jxz": 0.3}
    tensor = np.array([[1.1, 0.1, 0.3], [0.1, 1.2, 0.2], [0.3, 0.2, 1.3]])
    forces = dict(zip(("fx", "fy", "fz", "cx", "cy", "cz", "gx", "gy", "gz"), RNG.normal(size=9), strict=True))
    return {
        **vars(sl),
        **{"lw": lw, "np": np, "scipy": scipy, "Rotation": Rotation},
        **{"rotation": rotation, "transform": transform, "matrix_method": matrix_method},
        **{
            "theta": theta,
            "d": d,
            "b": b,
            "a": a,
            "alpha": alpha,
            "phi": phi,
            "h": h,
            "pitch": pitch,
            "r": r,
            "x": x,
            "y": y,
        },
        **{"q": q, "m": m, "M": m, "R": m[:3, :3], "O": point(), "P": point(), "P1": point(), "P2": point(), "u": unit()},
        **{
            "v": unit(),
            "W": W,
            "L": W,
            "W0": W,
            "W1": 2 * W,
            "L1": W,
            "L2": W.T,
            "H0": H0,
            "H1": H1,
            "G": H0,
            "J": J,
            "A": J,
        },
        **{"B": H1, "A1": J[:3, :3], "A2": H0[:3, :3], "F": J - J.T, "pl": np.append(unit(), 0.4), "length": 1.7, "g": 30.0},
        **{"com": np.array([0.4, 0.5, 0.6]), "tensor": tensor, "mass": 2.0, "n": 2, "imax": 2, "jmax": 3, "im": 2, "jm": 3},
        **{"low": 0.0, "high": 1.0, "dim": 3, "val": 3, "arm": lw.robots.planar_2r(), "s": "text", "out": None},
        **moments,
        **forces,
    }


MOTION = {"q": np.zeros(2), "qd": np.ones(2), "qdd": np.ones(2), "tau": np.ones(2)}
VECTORS = {"a": RNG.normal(size=3), "b": RNG.normal(size=3)}
ROTATION = {"A": Rotation.from_euler("XYZ", [0.1, 0.2, 0.3]).as_matrix() + 0.01 * RNG.normal(size=(3, 3))}

CALLS: dict[str, str | tuple[str, dict[str, Any]]] = {
    "dhtom": "dhtom(Rev, theta, d, b, a, alpha, 0.0)",
    "dhtomstd": "dhtomstd(theta, d, a, alpha)",
    "extract": "extract(R)[0] * extract(R)[1]",
    "rotat": "rotat(u, phi)",
    "rotat2": "rotat2(Z, phi)",
    "rotat24": "rotat24(Z, phi, O)",
    "rotat34": "rotat34(Z, phi, O)",
    "traslat": "traslat(u, h)",
    "traslat2": "traslat2(Z, h)",
    "traslat24": "traslat24(Z, h, P)",
    "gtom": "gtom(gx, gy, gz)",
    "gtomgapt": "gtomgapt(G)",
    "makel": "makel(Rev, u, pitch, P)",
    "makel2": "makel2(Rev, Z, 0.0, P)",
    "wtol": "wtol(W)",
    "coriolis": "coriolis(H0, H1, W0, W1)",
    "actom": "actom(fx, fy, fz, cx, cy, cz)",
    "jtoj": ("jtoj(m, jxx, jyy, jzz, jxy, jyz, jxz, *com)", {"m": 2.0}),
    "PseDot": "PseDot(L, F)",
    "normal": ("normal(R)", {"R": ROTATION["A"]}),
    "normal_g": ("normal_g(A)", ROTATION),
    "normal3": ("normal3(R)", {"R": ROTATION["A"]}),
    "normskew": "normskew(A, SYMM_)",
    "mami": "mami(A, M)",
    "miam": "miam(A, M)",
    "miamit": "miamit(A, M)",
    "mamt": "mamt(A, M)",
    "grad": "grad(r)",
    "deg": "deg(r)",
    "rad": "rad(g)",
    "jrand": "0.0 * jrand(2, 3, low, high)",
    "invers": "invers(m)",
    "mtov": "mtov(A)",
    "vtom": "vtom(v)",
    "skew": "skew(A, B)",
    "tracljlt": "tracljlt(L1, J, L2)",
    "cardator": "cardator(q, X, Y, Z)",
    "rtocarda": "rtocarda(R, X, Y, Z)[0]",
    "cardatom": "cardatom(q, X, Y, Z, O)",
    "mtocarda": "mtocarda(m, X, Y, Z)[0]",
    "aaxis": "aaxis(n)",
    "dist": "dist(P1, P2)",
    "distp": "distp(P1, P2)",
    "intermed": "intermed(P1, a, P2, b)",
    "middle": "middle(P1, P2)",
    "vect": "vect(P1, P2)",
    "projponl": ("projponl(P1, linpvect(P, v))[0][:3]", {"P1": point()[:3], "P": point()[:3]}),
    "distpp": "distpp(pl, P)",
    "project": "project(P, pl)[0][:3]",
    "plane2": "plane2(P1, v)",
    "molt": "molt(A, B)",
    "rmolt": "rmolt(A, r)",
    "ssum": "ssum(A, B)",
    "sub": "sub(A, B)",
    "crossmto": "crossmto(A1, A2)",
    "crosstom": ("crosstom(a, b)", VECTORS),
    "clearmat": ("clearmat(m, n)", {"m": 2}),
    "idmat": "idmat(n)",
    "transp": "transp(A)",
    "pseudinv": "pseudinv(A)",
    "cross": ("cross(a, b)", VECTORS),
    "dot": ("dot(a, b)", VECTORS),
    "dot3": ("dot3(a, b)", VECTORS),
    "dot2": ("dot2(a, b)", VECTORS),
    "mod": ("mod(a)", VECTORS),
    "modulus": ("modulus(a)", VECTORS),
    "unitv": ("unitv(a)[0]", {**VECTORS, "v": VECTORS["a"]}),
    "vector": "vector(u, length)",
    "mcopy": "mcopy(A)",
    "mmcopy": "mmcopy(A, im, jm)",
    "mvcopy": "mvcopy(A, 4, 4, val + 1, Col)",
    "vmcopy": "vmcopy(v, dim, val + 1, Col, A, 4, 4)",
    "solve_l": ("solve_l(A, b)[0]", {"b": point()}),
    "minvers": "minvers(A)",
    "cardtoM": "cardtoM(q, O)[:3, :3]",
    "eultoM": "eultoM(q, O)[:3, :3]",
    "nauttoM": "nauttoM(q, O)[:3, :3]",
    "Mtocard": "Mtocard(m)[0]",
    "Mtoeul": "Mtoeul(m)[0]",
    "Mtonaut": "Mtonaut(m)[0]",
    "Mcheck": ("Mcheck(A)", {"A": transform.translation(0.1, 0.2, 0.3)}),
    "Miszero": ("Miszero(A)", {"A": np.zeros((3, 3))}),
    "viszero": "viszero(v)",
    "vect3": ("vect3(v)", {"v": point()}),
    "Origin": "Origin",
    "moltmv3": ("moltmv3(A, v)", ROTATION),
    "mcopy34": ("mcopy34(A, B)", ROTATION),
}
"""A call of SpaceLib for each expression of Linkwise in the table, and the letters that mean something else than above."""

FULL = {
    *("veactowh", "vactowh2", "vactowh3", "dyn_eq"),  # by a whole mechanism
    *("fprintm", "printm", "printmat"),  # printing
}
"""Where Linkwise's way is another thing, which must run; there is nothing to compare."""

WRITTEN_OUT = [name for name in NAMES if name.linkwise]


def test_table_is_up_to_date() -> None:
    written = runpy.run_path(str(ROOT / "docs" / "make_spacelib_tables.py"))["page"]()
    assert TABLE.read_text(encoding="utf-8") == written, "run: python docs/make_spacelib_tables.py"


def test_all_functions_of_the_manual_are_in_the_table() -> None:
    assert sum(bool(name.matlab) for name in NAMES) == 107
    text = TABLE.read_text(encoding="utf-8")
    for name in NAMES:
        for own in (*name.matlab, *name.c, *name.maple, name.function):
            assert f"`{own}`" in text, own


@pytest.mark.parametrize("name", WRITTEN_OUT, ids=lambda name: name.function)
def test_linkwise_does_the_same(name: Name) -> None:
    known = values() | {name.function: name.value}
    if name.function in FULL:
        exec(name.linkwise, {**known, **MOTION} if "arm." in name.linkwise else known)
        return
    call = CALLS.get(name.function) or plain_call(name)
    call, changed = call if isinstance(call, tuple) else (call, {})
    known |= changed
    ours = np.asarray(eval(call, known))
    if re.match(r"\w+\[.*\] = ", name.linkwise):
        target = name.linkwise.partition("[")[0]
        known[target] = np.array(known[target])
        exec(name.linkwise, known)
        theirs = known[target]
    else:
        theirs = eval(name.linkwise, known)
    if name.function == "jrand":
        theirs = 0.0 * theirs
    np.testing.assert_allclose(np.asarray(theirs, dtype=float), ours.astype(float), rtol=0, atol=1e-12)


def plain_call(name: Name) -> str:
    """The call of a function whose parameters are called as above."""
    return f"{name.function}({', '.join(inspect.signature(name.value).parameters)})"


def test_functions_that_the_guide_speaks_of_exist() -> None:
    section = GUIDE.read_text(encoding="utf-8").partition("## Where the manual leaves it open")[2].partition("\n## ")[0]
    spoken = {
        word for row in section.splitlines() if row.startswith("| `") for word in re.findall(r"`(\w+)`", row.split("|")[1])
    }
    assert spoken
    for word in spoken:
        assert hasattr(sl, word), word


def test_every_misprint_is_among_the_errata() -> None:
    text = ERRATA.read_text(encoding="utf-8")
    rows = [row for row in text.splitlines() if row.startswith("|")]
    for entry in EXAMPLES:
        if entry["status"] in {"typo", "ambiguous"}:
            place = re.match(r"(\d\.\d+)", entry["id"])
            assert place
            assert any(re.search(rf"(example|examples|section|,) {place[1]}\b", row.split("|")[1]) for row in rows), entry[
                "id"
            ]


@pytest.mark.parametrize(
    ("example", "key", "at", "printed"),
    [
        ("3.14", "H0", (0, 3), "0.990"),
        ("3.15a", "GAMMA1", (2, 1), "38.5"),
        ("3.15b", "GAMMA0", (1, 3), "-9"),
        ("3.15b", "GAMMA0", (0, 1), "29.55"),
        ("3.15c", "GAMMA0", (1, 2), "-40.25"),
        ("3.24", "R", (2, 2), "0"),
        ("7.2-MOT", "qp", (), "3.332806E-03"),
        ("7.5a", "alpha", (), "1.09545334463"),
        ("7.5a", "beta", (), "0.876058050598"),
        ("7.5b", "M3", (0, 0), "0.390076864334"),
        ("3.11a", "omega", (), "5.52268050859"),
        ("7.6-1", "qpp", (0,), "732.919903"),
        ("7.6-1", "acc", (2,), "77.394585"),
    ],
)
def test_right_values_of_the_errata(example: str, key: str, at: tuple[int, ...], printed: str) -> None:
    (entry,) = [entry for entry in EXAMPLES if entry["id"] == example]
    expected = float(np.array(entry["expected"][key])[at])
    digits = len(printed.partition("E")[0].partition(".")[2])
    assert expected == pytest.approx(float(printed), rel=0, abs=0.5 * 10**-digits * (1e-3 if "E-03" in printed else 1.0))
    assert re.search(rf"(?<![\d.]){re.escape(printed)}(?!\d)", ERRATA.read_text(encoding="utf-8"))
