"""Every name of SpaceLib, in its three releases, and where it is here.

One table. The namespaces `linkwise.spacelib.c` and `linkwise.spacelib.maple` look names up in it, and the table of names in
the documentation is written from it. It follows appendix A of G. Legnani et al., *SpaceLib for MATLAB, User's Manual*; names
that are printed there with a blank are joined by an underscore, as in the programs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any


@dataclass(frozen=True)
class Name:
    """One function under all its names.

    Attributes
    ----------
    function : str
        What it is called here: its MATLAB name where it has one.
    module : str
        The module of `linkwise.spacelib` that has it.
    group : str
        The heading it stands under.
    section : str
        The section of the manual.
    matlab, c, maple : tuple of str
        Its names in the three releases; the first is the one that the manual's text uses. Empty where a release lacks it.
    does : str
        What it does, in a few words.
    linkwise : str
        The same without SpaceLib, in Python: ``arm`` is a `Mechanism`, ``np`` is NumPy, ``Rotation`` is that of
        `scipy.spatial.transform`, and other modules are those of `linkwise.spatial`. Empty where the function is the way.
    note : str
        What to know about the names.
    """

    function: str
    module: str
    group: str
    section: str
    matlab: tuple[str, ...]
    c: tuple[str, ...]
    maple: tuple[str, ...]
    does: str
    linkwise: str
    note: str

    def found(self) -> Any:
        """The function itself; its module is imported."""
        return getattr(import_module(f"linkwise.spacelib.{self.module}"), self.function)


_TABLE = r"""
== Position, 3.1, position
dhtom | dhtom | dhtom | extended Denavit-Hartenberg parameters to matrix
    transform.dh_standard(theta, d, a, alpha, b)
dhtomstd | DHtoMstd | DHtoMstd | Denavit-Hartenberg parameters to matrix
    transform.dh_standard(theta, d, a, alpha)
extract | extract | extract | axis and angle of a rotation
    Rotation.from_matrix(R).as_rotvec()
mtoscrew | mtoscrew | Mtoscrew | screw of a rototranslation
screwtom | screwtom | screwtoM | rototranslation of a screw
    # C takes h before P; both orders are taken.
rotat | rotat | rotat | rotation about a direction
    rotation.rotation_about(u, phi)
rotat2 | rotat2 rotat23 | rotat2 | rotation about a frame axis
    rotation.rotation_z(phi)
rotat24 | rotat24 | rotat24 | frame put at a point, then turned about its own axis
    transform.transform(rotation.rotation_z(phi), O[:3])
rotat34 | rotat34 | rotat34 | frame put at a point, then turned about the base's axis
    transform.transform(rotation.rotation_z(phi)) @ transform.translation(*O[:3])
traslat | traslat | traslat | translation along a direction
    transform.translation(*(h * u))
traslat2 | traslat2 | traslat2 | translation along a frame axis
    transform.translation(z=h)
traslat24 | traslat24 | traslat24 | translation of a point along a frame axis
    transform.translation(*P[:3]) @ transform.translation(z=h)
== Velocity and acceleration, 3.2, velocity
gtom | gtom | gtoM | gravity as an acceleration matrix
    matrix_method.gravity_matrix([gx, gy, gz])
gtomgapt | Gtomegapto | Gtomegapto | angular acceleration of the block G
    rotation.axial(G[:3, :3])
makel | makeL | makeL | L of a joint about a direction
    matrix_method.velocity_matrix(u, pitch * u - np.cross(u, P[:3]))
makel2 | makeL2 | makeL2 | L of a joint about a frame axis
    matrix_method.velocity_matrix([0, 0, 1], -np.cross([0, 0, 1], P[:3]))
wtol | WtoL | WtoL | L of a velocity matrix
    W / np.linalg.norm(rotation.axial(W[:3, :3]))
wtovel | Wtovel | Wtovel | screw of a velocity matrix
veactowh | velacctoWH | velactoWH | W and H of a joint about its z axis
    arm.motion(q, qd, qdd)
vactowh2 | velacctoWH2 | velactoWH2 | W and H of a joint about a frame axis
    arm.motion(q, qd, qdd)
vactowh3 | velacctoWH3 | velactoWH3 | W and H of a joint about an axis through a point
    arm.motion(q, qd, qdd)
coriolis | coriolis | coriolis | theorem of Coriolis
    matrix_method.compose_acceleration(H0, H1, W0, W1)
== Inertia and actions, 3.3, direct_dynamics
dyn_eq | dyn_eq | dyn_eq | direct dynamics of one body
    arm.forward_dynamics(q, qd, tau)
== Inertia and actions, 3.3, inertia
actom | actom | actoM | force and torque to action matrix
    matrix_method.action_matrix([fx, fy, fz], [cx, cy, cz])
jtoj | jtoJ | jtoJ | mass and moments to inertia matrix
    matrix_method.pseudo_inertia(m, com, tensor)
    # jyz stands before jxz.
PseDot psedot | psedot | psedot | power: pseudo scalar product
    rotation.axial(L[:3, :3]) @ rotation.axial(F[:3, :3]) + L[:3, 3] @ F[:3, 3]
    # PseDot in the text, psedot in the appendix.
== Transformations, 3.4, transformations
normal | normal normal4 | normalR | the 3x3 block made orthogonal
    Rotation.from_matrix(R).as_matrix()
normal_g | normal_g | normal_g | nearest orthogonal matrix
    scipy.linalg.polar(A)[0]
normal3 | normal3 | - | a 3x3 matrix made orthogonal
    Rotation.from_matrix(R).as_matrix()
normskew | norm_simm_skew | norm_simm_skew | symmetric or skew-symmetric part
    (A + A.T) / 2
mami | trasf_mami | trasf_mami | M A M^-1: W, H, L, Q in another frame
    matrix_method.to_frame(A, M)
miam | trasf_miam | trasf_miam | M^-1 A M: the inverse of mami
    matrix_method.to_frame(A, transform.inverse(M))
miamit | trasf_miamit | trasf_miamit | M^-1 A M^-t: the inverse of mamt
    matrix_method.tensor_to_frame(A, transform.inverse(M))
mamt | trasf_mamt trasf_mamt4 | trasf_mamt | M A M^t: J, Gamma, Phi in another frame
    matrix_method.tensor_to_frame(A, M)
grad | - | - | radians to degrees
    np.rad2deg(r)
    # Obsolete name of deg.
deg | deg | deg | radians to degrees
    np.rad2deg(r)
rad | rad | rad | degrees to radians
    np.deg2rad(g)
jrand | jrand | jrand | matrix of random numbers
    np.random.default_rng().uniform(low, high, (imax, jmax))
invers | invers | invers | inverse of a position matrix
    transform.inverse(m)
mtov | mtov mtov3 mtov4 | Mtov | vector of a skew-symmetric matrix
    rotation.axial(A[:3, :3])
vtom | vtom vtom3 vtom4 | vtoM | skew-symmetric matrix of a vector
    rotation.skew(v)
skew | skew skew4 | skew | A B - (A B)^t
    matrix_method.skew_part(A, B)
tracljlt | trac_ljlt4 | trac_ljlt | trace of L1 J L2^t
    np.trace(L1 @ J @ L2.T)
== Cardan and Euler angles, 3.5, cardan
cardator | cardantor cardantor3 cardantor4 | cardantoR | angles to rotation
    Rotation.from_euler("XYZ", q).as_matrix()
rtocarda | rtocardan rtocardan3 rtocardan4 | Rtocardan | rotation to angles, both solutions
    Rotation.from_matrix(R).as_euler("XYZ")
cardatom | cardantoM | cardantoM | angles and origin to matrix
    transform.transform(Rotation.from_euler("XYZ", q).as_matrix(), O[:3])
mtocarda | Mtocardan | Mtocardan | matrix to angles, both solutions
    Rotation.from_matrix(m[:3, :3]).as_euler("XYZ")
cardatol | cardantol | cardantoL | matrix of the angular velocity
    # A 3x3 matrix, whatever the L of the name says.
cardtowp | cardantoWPROD WPRODtocardan | cardantoWPROD | matrix of the products of angular rates
inva | invA | invA | inverse of the matrix of the angular velocity
== Cardan and Euler angles, 3.5, cardan_rates
cardatow | cardantoW | cardantoW | angles and rates to velocity matrix
wtocarda | Wtocardan | Wtocardan | velocity matrix to angles and rates
cardtoom | cardanto_OMEGA | cardanto_omega | angular velocity, a vector
    # cardanto_OMEGA is the vector in C and the matrix in Maple.
cardtome | cardanto_omega cardanto_omega3 cardanto_omega4 | cardanto_OMEGA | angular velocity, a matrix
    # cardanto_omega is the matrix in C and the vector in Maple.
cardatoh | cardantoH | cardantoH | angles and rates to acceleration matrix
htocarda | Htocardan | Htocardan | acceleration matrix to angles and rates
cardatog | cardanto_G cardanto_G3 cardanto_G4 | cardantoG | angles and rates to the block G
cardompt | cardanto_OMEGAPTO | cardanto_omegapto | angular acceleration, a vector
    # cardanto_OMEGAPTO is the vector in C and the matrix in Maple.
== Frames, 3.6, frames
framep | frameP frameP3 frameP4 | frameP | rotation of a frame from three points
frame4p | frame4P | frame4P | frame from three points
framev | frameV frameV3 frameV4 | frameV | rotation of a frame from two vectors
frame4v | frame4V | frame4V | frame from a point and two vectors
aaxis | axis | Axis axis | unit vector of an axis
    np.eye(3)[n]
== Points, lines, planes, 3.7, points
angle | angle | Angle | angle between three points
dist | dist | - | distance of two points
    np.linalg.norm(P1 - P2)
    # Obsolete in MATLAB, where it is distp.
distp | - | distp | distance of two points
    np.linalg.norm(P1 - P2)
intermed | intermediate | intermediate | weighted middle of two points
    (a * P1 + b * P2) / (a + b)
middle | middle | middle | middle of two points
    (P1 + P2) / 2
vect | vect | vect | vector between two points
    (P1 - P2)[:3]
== Points, lines, planes, 3.7, lines
line2p | line2p | line2p | line through two points
linpvect | linepvect | linepvect | line through a point along a vector
intersec intersect | intersection | intersection | two lines: common normal, distance, kind
    # intersec in the text, intersect in the appendix.
projponl | projponl | projponl | foot of a point on a line
    P + v * (v @ (P1 - P))
== Points, lines, planes, 3.7, planes
distpp | distpp | distpp | distance of a point from a plane
    pl @ P
    # Signed.
project | project | project | foot of a point on a plane
    P[:3] - pl[:3] * (pl @ P)
plane | plane | plane3p | plane through three points
plane2 | plane2 | planepv | plane through a point across a vector
    np.append(v, -v @ P1[:3])
inter2pl | inters2pl | inters2pl | line of two planes
interlpl | interslpl | interslpl | point of a line and a plane
== Matrices and vectors, 3.8, matrices
molt | molt molt3 molt4 | - | product of matrices
    A @ B
rmolt | rmolt rmolt3 rmolt4 | - | matrix times number
    r * A
ssum | sum sum3 sum4 sumv | - | sum
    A + B
    # The manual's examples call it sum.
sub | sub sub3 sub4 subv | - | difference
    A - B
crossmto | - | - | A2^t A1 - A1^t A2
    A2.T @ A1 - A1.T @ A2
    # Obsolete; equals crosstom for skew-symmetric matrices.
crosstom crossmtom | crossMtoM crossvtom | crossMtoM | cross product as a matrix
    rotation.skew(np.cross(a, b))
    # Vectors (C crossvtom) or skew-symmetric matrices (C crossMtoM); crossmtom is obsolete.
clearmat | clear | clear nullM | null matrix
    np.zeros((m, n))
idmat | idmat | idmat eye | identity matrix
    np.eye(n)
transp | transp transp3 transp4 | - | transpose
    A.T
pseudinv | pseudo_inv | pseudo_inv | pseudo-inverse
    np.linalg.pinv(A)
== Matrices and vectors, 3.8, vectors
cross | cross | cross | cross product
    np.cross(a, b)
    # Obsolete in MATLAB, which has a cross of its own.
dot | dot | - | scalar product of vectors (3,)
    a @ b
    # Obsolete in MATLAB, where it is dot3.
dot3 | - | vdot3 | scalar product of vectors (3,)
    a[:3] @ b[:3]
dot2 | dot2 | vdot | scalar product of vectors (n,)
    a @ b
mod | mod | - | length of a vector
    np.linalg.norm(a)
    # Obsolete in MATLAB, where it is modulus.
modulus | - | modulus | length of a vector
    np.linalg.norm(a)
unitv | unitv | unitv | unit vector and length
    a / np.linalg.norm(a)
vector | vector | vector | vector of a direction and a length
    length * u
== Copying, 3.9, copying
mcopy | mcopy mcopy3 mcopy4 | - | copy
    A.copy()
mmcopy | mmcopy | - | copy of the upper left part
    A[:im, :jm].copy()
mvcopy | mvcopy | - | copy of a row or column
    A[:, val].copy()
    # Named in the manual without a description.
vmcopy | vmcopy | - | vector put into a row or column
    A[:dim, val] = v[:dim]
    # Only used in a program of the manual. Gives the matrix and leaves A as it was.
== Printing, 3.10, printing
fprintm | fprintm3 fprintm4 fprintv | fprintm | comment and matrix to a file
    print(s, A, sep='\n', file=out)
printm | printm printm4 printv | printm | comment and matrix to the screen
    print(s, A, sep='\n')
prmat | prmat | prmat | position matrix for the program GRP_MAN
== Linear systems, 4, linear_systems
solve_l | solve | solver | least squares solution and rank
    np.linalg.lstsq(A, b)[0]
minvers | minvers | minvers | inverse of a matrix
    np.linalg.inv(A)
linears | linear | linear | elimination with pivots of all rows and columns
== Fixed conventions, A, shortcuts
cardtoM = | cardtoM | cardtoM | angles about x, y, z to matrix
    Rotation.from_euler("XYZ", q).as_matrix()
cardtoW = | cardtoW | cardtoW | angles about x, y, z to velocity matrix
cardtoH = | cardtoH | cardtoH | angles about x, y, z to acceleration matrix
Mtocard = | Mtocard | Mtocard | matrix to angles about x, y, z
    Rotation.from_matrix(m[:3, :3]).as_euler("XYZ")
Wtocard = | Wtocard | Wtocard | velocity matrix to angles about x, y, z
Htocard = | Htocard | Htocard | acceleration matrix to angles about x, y, z
eultoM = | eultoM | eultoM | angles about z, x, z to matrix
    Rotation.from_euler("ZXZ", q).as_matrix()
eultoW = | eultoW | eultoW | angles about z, x, z to velocity matrix
eultoH = | eultoH | eultoH | angles about z, x, z to acceleration matrix
Mtoeul = | Mtoeul | Mtoeul | matrix to angles about z, x, z
    Rotation.from_matrix(m[:3, :3]).as_euler("ZXZ")
Wtoeul = | Wtoeul | Wtoeul | velocity matrix to angles about z, x, z
Htoeul = | Htoeul | Htoeul | acceleration matrix to angles about z, x, z
nauttoM = | nauttoM | nauttoM | angles about z, y, x to matrix
    Rotation.from_euler("ZYX", q).as_matrix()
nauttoW = | nauttoW | nauttoW | angles about z, y, x to velocity matrix
nauttoH = | nauttoH | nauttoH | angles about z, y, x to acceleration matrix
Mtonaut = | Mtonaut | Mtonaut | matrix to angles about z, y, x
    Rotation.from_matrix(m[:3, :3]).as_euler("ZYX")
Wtonaut = | Wtonaut | Wtonaut | velocity matrix to angles about z, y, x
Htonaut = | Htonaut | Htonaut | acceleration matrix to angles about z, y, x
== Tests of matrices and vectors, A, predicates
Mcheck = | - | Mcheck Mcheck2 | whether a matrix is a rotation or a position matrix
    transform.is_rigid(A)
    # How the two differ is not described; here they are one.
Miszero = | - | Miszero | whether a matrix is zero
    not A.any()
viszero = | - | viszero | whether a vector is zero
    not v.any()
== Further names of C and Maple, A, appendix
omegapto_matrix = | - | cardanto_OMEGAPTO | angular acceleration, a matrix
vect3 = | - | vect3 | first three entries
    v[:3]
Origin = | - | Origin | the origin, a point
    np.array([0.0, 0.0, 0.0, 1.0])
clear3 = | clear3 | - | null matrix (3, 3)
    np.zeros((3, 3))
clear4 = | clear4 | - | null matrix (4, 4)
    np.zeros((4, 4))
clearv3 = | clearv3 | - | null vector (3,)
    np.zeros(3)
idmat3 = | idmat3 | - | identity matrix (3, 3)
    np.eye(3)
idmat4 = | idmat4 | - | identity matrix (4, 4)
    np.eye(4)
moltmv3 = | moltmv3 | - | matrix (3, 3) times vector
    A @ v
moltp = | moltp | - | matrix (4, 4) times point
    A @ P
rmoltv = | rmoltv | - | vector times number
    r * v
vcopy = | vcopy | - | copy of a vector
    v.copy()
pcopy = | pcopy | - | copy of a point
    P.copy()
mcopy34 = | mcopy34 | - | matrix (3, 3) put into the upper left of a larger one
    B[:3, :3] = A
    # The digits are read as from, to; the manual does not describe it.
mcopy43 = | mcopy43 | - | upper left (3, 3) of a larger matrix
    A[:3, :3].copy()
    # The digits are read as from, to; the manual does not describe it.
norm = | norm norm3 norm4 | - | norm of a matrix
    np.linalg.norm(A)
    # Which norm is not described; here the square root of the sum of squares.
n_simm = | n_simm3 n_simm4 | - | symmetric part
    (A + A.T) / 2
n_simm34 = | n_simm34 | - | symmetric part of the 3x3 block
n_skew = | n_skew3 n_skew4 | - | skew-symmetric part
    (A - A.T) / 2
n_skew34 = | n_skew34 | - | skew-symmetric part of the 3x3 block
printmat = | printmat iprintmat | - | matrix to the screen
    print(A)
fmod = | fmod | - | remainder of x / y
    np.fmod(x, y)
    # That of the C language, with the sign of x.
zerom = | zerom dzerom | - | step of the numbers next to 1
    np.finfo(float).eps
fzerom = | fzerom | - | step of the single precision numbers next to 1
    np.finfo(np.float32).eps
"""
# "== heading, section, module", then a row for each function: MATLAB names | C names | Maple names | what it does; where
# MATLAB has none, our own name and "=". Below it Linkwise's way, and after # what to know about the names.


def _rows() -> Iterator[Name]:
    group = section = module = ""
    row: list[str] = []
    linkwise = note = ""
    for line in [*_TABLE.strip().splitlines(), "=="]:
        if line.startswith("    # "):
            note = line[6:]
        elif line.startswith("    "):
            linkwise = line[4:]
        else:
            if row:
                yield _name(row, (group, section, module), linkwise, note)
            row, linkwise, note = [], "", ""
            if line.startswith("== "):
                group, section, module = line[3:].rsplit(", ", 2)
            elif line != "==":
                row = line.split(" | ")


def _name(row: list[str], place: tuple[str, str, str], linkwise: str, note: str) -> Name:
    matlab, c, maple, does = row
    own, _, rest = matlab.rpartition(" =") if matlab.endswith(" =") else ("", "", matlab)
    releases = [tuple(name for name in part.split() if name != "-") for part in (rest, c, maple)]
    group, section, module = place
    function = own or releases[0][0]
    return Name(function, module, group, section, releases[0], releases[1], releases[2], does, linkwise, note)


NAMES: tuple[Name, ...] = tuple(_rows())
"""All functions, in the order of the manual's sections, then what only its appendix A names."""

RELEASES = {"matlab": "MATLAB", "c": "C", "maple": "Maple"}
"""The three releases: their keys here, and how they are called."""


@cache
def names_of(release: str) -> dict[str, Name]:
    """Every name of a release, ``"matlab"``, ``"c"`` or ``"maple"``, with its row of the table.

    Examples
    --------
    >>> names_of("c")["cardanto_OMEGA"].function, names_of("maple")["cardanto_OMEGA"].function
    ('cardtoom', 'cardtome')
    """
    return {name: row for row in NAMES for name in getattr(row, release)}
