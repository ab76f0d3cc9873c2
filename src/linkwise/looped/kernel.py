"""Kernels that loop over the bodies of a mechanism, and which mechanisms get one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache, partial
from typing import Any, TypeAlias

import numpy as np

from linkwise import algorithm
from linkwise.algorithm import BODIES, Algorithm
from linkwise.dynamics.center_of_mass import some_mass
from linkwise.dynamics.inertia_check import check_inertia
from linkwise.dynamics.recursions import turning_rotors
from linkwise.errors import ArgumentError
from linkwise.kernel import Kernel
from linkwise.kernel import cache as disk
from linkwise.kernel.backend import CompiledKernel, Lazy
from linkwise.kernel.backends.llvm import loaders
from linkwise.kernel.backends.llvm.looped_loading import LoopedCode, entry, gufunc
from linkwise.kernel.backends.numpy import python_gufunc
from linkwise.kernel.deferred_tape import DeferredTape
from linkwise.kernel.kernel import DerivativeProduct
from linkwise.kernel.looped import LoopedData, LoopedProgram, ProgramLayout
from linkwise.kernel.sources import is_own, sources_digest
from linkwise.kernel.tape import without_collection
from linkwise.model.body import moving_bodies
from linkwise.model.coupling import Coupling, coupling
from linkwise.model.digest import digest, digest_of
from linkwise.model.spring import EndStop, Spring
from linkwise.model.symbolic import any_nonzero
from linkwise.model.tree import Tree, unshared
from linkwise.spatial.scalar import FloatArray
from linkwise.sweeps.drivers import LOOPED, LoopedAlgorithm, RowKind
from linkwise.sweeps.recorded import RecordedSweeps
from linkwise.sweeps.tables import MechanismRows, shapes_of
from linkwise.sweeps.traced_joints import traced_joints

# ── programs ──────────────────────────────────────────────────────────────────────────────────────


#: Kinds of joints of types from outside the package.
Kinds: TypeAlias = tuple[RowKind, ...]


def code_of(name: str, variants: tuple[tuple[str, Any], ...], single: bool, traced: Kinds = ()) -> LoopedCode:
    """Machine code and layout of an algorithm in steps, from the disk cache if present.

    Parameters
    ----------
    name : str
        The algorithm.
    variants : tuple of (str, object)
        Values of the options that change the steps.
    single : bool
        Whether its wrench, where it has one, is a vector (6,) and no table (W, 6).
    traced : tuple of RowKind
        Kinds of joints of types from outside the package that it must know.
    """
    return kept_code(LOOPED[name], variants, single, traced)


#: How many programs stay, those that were asked for last: all of this package's, and those of some types from outside.
KEPT = 256


@lru_cache(KEPT)
def kept_code(steps: LoopedAlgorithm, variants: tuple[tuple[str, Any], ...], single: bool, traced: Kinds = ()) -> LoopedCode:
    """As `code_of` for a declaration; steps from outside the package, whose text is not in the key, are always recorded.

    Of joint types from outside the key holds the arithmetic, which is all that steps take of them.
    """
    name = steps.name
    keyed = disk.directory() is not None and is_own(steps.function)
    sources = sources_digest() if keyed else None
    key = None if sources is None else digest("looped", sources, name, variants, single, *(kind.digest for kind in traced))
    return code_by_key(key, lambda: _recorded(steps, variants, single, traced))


def code_by_key(key: str | None, record: Callable[[], LoopedProgram], *, apart: bool = True) -> LoopedCode:
    """Machine code of a program by key, with its layout from the disk cache or recorded now; `apart`: see `LoopedCode`."""
    recorded = Lazy(record)
    kept = None if key is None else disk.load(key)
    try:
        return LoopedCode(ProgramLayout.read(kept or b""), recorded, apart=apart)
    except (ValueError, TypeError, KeyError, AttributeError):
        layout = recorded().layout
        if key is not None:
            disk.store(key, layout.text())
        return LoopedCode(layout, recorded, apart=apart)


def _recorded(
    steps: LoopedAlgorithm, variants: tuple[tuple[str, Any], ...], single: bool, traced: Kinds = ()
) -> LoopedProgram:
    declared = algorithm.find(steps.name)
    inputs, outputs = (shapes_of(shapes, single=single) for shapes in (declared.inputs, declared.outputs))
    recorded = RecordedSweeps(steps.name, inputs, outputs, traced, regrouped=steps.regrouped)
    steps.run(recorded, **dict(variants))
    return recorded.program()


# ── kernels ───────────────────────────────────────────────────────────────────────────────────────


class LoopedKernel(Kernel):
    """A kernel that loops over the bodies of a mechanism; it is called as any other.

    Its `tape` is that of straight-line code, traced when something asks for it.

    Parameters
    ----------
    tree : Tree
        The mechanism.
    declared : Algorithm
        What to compute.
    options : mapping of str to object
        The options of the algorithm that are not what they are by default.
    code : LoopedCode, optional
        Its machine code; that of the algorithm in steps if left out.
    """

    tier = "looped"

    def __init__(self, tree: Tree, declared: Algorithm, options: Mapping[str, Any], code: LoopedCode | None = None) -> None:
        self.code = code or code_for(tree, declared, options)
        self._declare(tree, declared, options, self.code.layout.length * (1 if code else max(1, len(tree.links))))
        data = Lazy(partial(data_of, tree, declared, options, self.code.layout))
        self._compiled = Lazy(
            lambda: CompiledKernel(
                Lazy(lambda: _ufunc(tree, declared, options, data, self)),
                Lazy(lambda: None if tree.coupled else entry(self.code, data())),
            )
        )

    def _declare(self, tree: Tree, declared: Algorithm, options: Mapping[str, Any], length: int) -> None:
        """Set all attributes other than the code; `length` is the approximate number of operations of a configuration."""
        shapes = [declared.shapes(tree, which, options) for which in (declared.inputs, declared.outputs)]
        labels = {
            name: names
            for name, shape in {**shapes[0], **shapes[1]}.items()
            if (names := algorithm.labels(tree, name, shape))
        }
        chosen = dict(options)
        alone = tree.memo("kernel", "alone", lambda: unshared(tree))
        trace = partial(algorithm.traced, alone, declared, chosen)
        known: dict[str, Any] = {"name": declared.name, "inputs": shapes[0], "outputs": shapes[1], "labels": labels}
        super().__init__(DeferredTape.of(known | {"length": length}, trace), None, declared.function.__doc__ or "")
        self.arguments = (tree, declared.name, chosen)

    @cached_property
    def identity(self) -> str:
        """See `linkwise.kernel.Kernel.identity`; that of the mechanism, for the tape of straight-line code may be long."""
        tree, name, options = self.arguments
        mechanism = digest_of(tree)
        known = None if mechanism is None else digest(mechanism, self.tier, name, tuple(options.items()))
        return known or super().identity

    def product(self, mode: str, names: tuple[str, ...], *, tangent: bool) -> DerivativeProduct:
        """Products with derivatives are those of the straight-line code, which the disk may know."""
        tree, name, options = self.arguments
        key = ("as one", name, *options.items())
        whole = tree.memo("kernel", key, lambda: algorithm.straight_kernel(tree, algorithm.find(name), None, options))
        return whole.product(mode, names, tangent=tangent)

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (*self.arguments, self.tier)


def _again(tree: Tree, name: str, options: dict[str, Any], tier: str) -> Kernel:
    return algorithm.kernel_of(tree, name, None, options, tier)


def code_for(tree: Tree, declared: Algorithm, options: Mapping[str, Any]) -> LoopedCode:
    """The machine code of an algorithm that a mechanism needs."""
    single, traced = options.get("wrenches") is None, traced_joints(_free(tree)).kinds
    return code_of(declared.name, variants_of(tree, declared, options), single, traced)


def variants_of(tree: Tree, declared: Algorithm, options: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    """Values that change the steps: options, whether rotors are carried, and whether joints have springs."""
    rotors = _free(tree).memo("sweeps", "rotors", lambda: bool(moving_bodies(_free(tree)).rotors))
    values = {**declared.options, **options, "rotors": rotors, "springs": bool(_free(tree).force_terms)}
    values["turning"] = bool(turning_rotors(_free(tree)))
    return tuple((name, values[name]) for name in LOOPED[declared.name].variants)


def _free(tree: Tree) -> Tree:
    """The mechanism with a coordinate for every joint."""
    return coupling(tree).uncoupled if tree.coupled else tree


def rows_for(tree: Tree, declared: Algorithm, options: Mapping[str, Any], *, twisted: bool = True) -> MechanismRows:
    """The rows of a mechanism for an algorithm."""
    steps, bodies = LOOPED[declared.name], moving_bodies(tree)
    bodies = bodies.regrouped() if steps.regrouped else bodies
    return MechanismRows(tree, bodies, options, path=steps.path, traced=traced_joints(tree), twisted=twisted)


def _ufunc(tree: Tree, declared: Algorithm, options: Mapping[str, Any], data: Lazy[LoopedData], kernel: LoopedKernel) -> Any:
    """The gufunc, with the mapping of mimic joints around it if there are any."""
    if tree.coupled:
        inverse = declared.name == "inverse_mass_matrix"
        kind = Coupled if declared.spread else CoupledInverse if inverse else CoupledAcceleration
        return python_gufunc(kernel.tape, kind(tree, declared, options), kernel.doc)
    return gufunc(kernel.code, data(), kernel.doc)


@without_collection()
def data_of(
    tree: Tree,
    declared: Algorithm,
    options: Mapping[str, Any],
    layout: ProgramLayout | None = None,
    *,
    twisted: bool = True,
) -> LoopedData:
    """The tables of a mechanism for an algorithm; `twisted` see `MechanismRows`."""
    layout = layout or code_for(tree, declared, options).layout
    rows, steps = rows_for(tree, declared, options, twisted=twisted), LOOPED[declared.name]
    if declared.name.startswith(("center_of_mass", "centroidal")) or options.get("about") == "com":
        some_mass(tree, float(rows.constant("mass")))
    bodies = rows.table("bodies")
    sparse = len(bodies) < tree.nv or any(row.parent != k - 1 for k, row in enumerate(bodies))
    constants = ("gravity", "mass", "held") if steps.moment else ("gravity",)
    return rows.data(layout.tables, constants, sparse=sparse)


class Coupled:
    """A function of rows of a mechanism with joints that follow others, by that of the mechanism with every joint free.

    Numbers are spread and gathered element by element, so that a batch gives what a loop gives.
    """

    def __init__(self, tree: Tree, declared: Algorithm, options: Mapping[str, Any]) -> None:
        self.declared, self.coupling = declared, coupling(tree)
        self.kernel = LoopedKernel(self.coupling.uncoupled, declared, options)
        self.spread = _Spread(self.coupling)

    def __call__(self, *args: FloatArray) -> tuple[FloatArray, ...]:
        """Compute many rows."""
        shapes = self.declared.inputs.values()
        results = self.kernel(*(self.spread.out(arg, shape) for arg, shape in zip(args, shapes, strict=True)))
        parts = results if isinstance(results, tuple) else (results,)
        return tuple(map(self.spread.gathered, parts, self.declared.outputs.values()))


class CoupledAcceleration:
    """Forward dynamics of a mechanism with joints that follow others, or its derivatives.

    M qdd = tau - bias, with what `Coupled` gives of both; M is solved with by LAPACK, for it has no zeros that are known.
    The gufunc that holds it must not lead back to the mechanism, for the garbage collector does not look into one.
    """

    def __init__(self, tree: Tree, declared: Algorithm, options: Mapping[str, Any]) -> None:
        efforts, slopes = "inverse_dynamics", "inverse_dynamics_derivatives"
        if "external" in declared.inputs:
            efforts, slopes = map(algorithm.with_external, (efforts, slopes))
        self.efforts = Coupled(tree, algorithm.find(efforts), options)
        self.mass = Coupled(tree, algorithm.find("mass_matrix"), {})
        self.slopes = Coupled(tree, algorithm.find(slopes), options) if declared.name.endswith("derivatives") else None

    def __call__(self, q: FloatArray, qd: FloatArray, tau: FloatArray, *external: FloatArray) -> tuple[Any, ...]:
        """Compute many rows."""
        (mass,), (efforts,) = self.mass(q), self.efforts(q, qd, np.zeros_like(qd), *external)
        qdd = solved(mass, (tau - efforts)[..., None])[..., 0]
        if self.slopes is None:
            return (qdd,)
        by_q, by_qd, _ = self.slopes(q, qd, qdd, *external)
        unit = np.broadcast_to(np.eye(mass.shape[-1], dtype=mass.dtype), mass.shape)
        return tuple(np.split(solved(mass, np.concatenate([-by_q, -by_qd, unit], axis=-1)), 3, axis=-1))


class CoupledInverse:
    """The inverse of the mass matrix of a mechanism with joints that follow others, by LAPACK."""

    def __init__(self, tree: Tree, declared: Algorithm, options: Mapping[str, Any]) -> None:
        self.mass = Coupled(tree, algorithm.find("mass_matrix"), options)

    def __call__(self, q: FloatArray) -> tuple[FloatArray]:
        """Compute many rows."""
        (mass,) = self.mass(q)
        inverse = solved(mass, np.broadcast_to(np.eye(mass.shape[-1], dtype=mass.dtype), mass.shape))
        return (0.5 * (inverse + np.swapaxes(inverse, -1, -2)),)


def solved(mass: FloatArray, right: FloatArray) -> FloatArray:
    """Solve with mass matrices (..., nv, nv): (..., nv, k), NaN for those that are singular, which become NaN themselves."""
    try:
        return np.asarray(np.linalg.solve(mass, right))
    except np.linalg.LinAlgError:  # (NumPy drops all rows for a singular one)
        with np.errstate(invalid="ignore"):
            mass[np.linalg.slogdet(mass)[0] == 0.0] = np.nan
        return np.asarray(np.linalg.solve(mass, right))


class _Spread:
    """Maps independent coordinates to those of all joints, and back, for mimic joints."""

    def __init__(self, couplings: Coupling) -> None:
        rows = couplings.spread
        self.source = np.argmax(rows != 0.0, axis=1)
        self.ratio = rows[np.arange(len(rows)), self.source]
        self.first = np.unique(self.source, return_index=True)[1]
        self.others = np.delete(np.arange(len(rows)), self.first)
        self.joints = len(couplings.shift)
        self.shift, self.base, self.count = couplings.shift, couplings.base, rows.shape[1]

    def out(self, value: FloatArray, shape: str) -> FloatArray:
        """Values for all joints."""
        ratio, shift = (part.astype(np.result_type(value, np.float32)) for part in (self.ratio, self.shift))
        if shape == "nv":
            return np.asarray(value[..., self.source] * ratio)
        if shape != "nq":
            return value
        at = self.source[len(self.source) - self.joints :] - (self.count - (value.shape[-1] - self.base))
        joints = value[..., self.base :][..., at] * ratio[len(ratio) - self.joints :] + shift
        return np.concatenate([value[..., : self.base], joints], axis=-1)

    def gathered(self, value: FloatArray, shape: str) -> FloatArray:
        """Values of all joints, added up to those of the coordinates."""
        letters = shape.split()
        for place, letter in enumerate(letters):
            if letter == "nv":
                axis = value.ndim - len(letters) + place
                moved = np.moveaxis(value, axis, -1) * self.ratio.astype(value.dtype)
                total = np.zeros((*moved.shape[:-1], self.count), dtype=value.dtype)
                total[..., self.source[self.first]] = moved[..., self.first]
                for row in self.others:
                    total[..., self.source[row]] += moved[..., row]
                value = np.ascontiguousarray(np.moveaxis(total, -1, axis))
        return value


# ── the choice ────────────────────────────────────────────────────────────────────────────────────

#: Algorithms that springs act on: those on lines between links only as straight-line code.
SPRUNG = ("inverse_dynamics", "forward_dynamics", "potential_energy", "spring_torque")

#: Further algorithms affected by inertias along lengths.
INERTIAL = frozenset(("mass_matrix", "inverse_mass_matrix", "coriolis_matrix", "bias_torque", "kinetic_energy"))

#: Algorithms that the momenta of motors of joints with quaternions act on.
TURNING = ("inverse_dynamics", "bias_torque", "coriolis_matrix", "forward_dynamics")

#: How the names of algorithms end that are written for constant motion subspaces.
CONSTANT = ("coriolis_matrix", "_derivatives")


def refused(tree: Tree, declared: Algorithm, options: Mapping[str, Any]) -> str:
    """Reason why an algorithm cannot loop over the bodies of a mechanism; empty if it can."""
    name, steps = declared.name, LOOPED.get(declared.name)
    if steps is None:
        return f"{name} is not written in steps"
    other = sorted(options.keys() - {*steps.variants, "link", "wrenches"})
    if other or ("link" in options and not (steps.path or steps.moment)):
        return f"{name} in steps has no option {', '.join(other) or 'link'}"
    if name.endswith("external_derivatives") and any(axes != "body" for _, axes in options.get("wrenches") or ()):
        return "it has wrenches in the world's axes"
    if tree.parameters_used:
        return "it has symbols"
    if tree.loops and not steps.path and name not in {"link_poses", "motion"}:
        return "it has closed loops"
    return _unknown_spring(tree, name) or _unknown_motor(tree, name) or _unknown_joint(tree, name)


def _unknown_spring(tree: Tree, name: str) -> str:
    if name.startswith((*SPRUNG, "joint_wrenches")) and any(not element.terms for element in tree.springs):
        return "it has springs between links, or forces on them"
    if name.startswith(SPRUNG) and tree.ball_stops:
        return "it has end stops on ball joints"
    if name.startswith(SPRUNG) and any(type(term.element) not in {Spring, EndStop} for term in tree.force_terms):
        return "it has springs of a type from outside"
    laws = [(getattr(x, "slack", 0.0), *getattr(x, "nonlinear_stiffness", ())) for x in tree.springs]
    if name.startswith(SPRUNG) and any(any_nonzero(value) for law in laws for value in law):
        return "it has springs with slack or nonlinear stiffness"
    if name.endswith("_derivatives") and any(len(term.ratios) > 1 for term in tree.force_terms):
        return "it has springs over several joints"
    inertial = tree.has_length_inertias and name.startswith(("inverse_dynamics", "forward_dynamics", *INERTIAL))
    return "it has springs with inertias" if inertial else ""


def _unknown_motor(tree: Tree, name: str) -> str:
    traced = traced_joints(_free(tree)).kinds
    if name.startswith(TURNING) and any(kind.nq != kind.nv for kind in traced) and turning_rotors(tree):
        return "motors of a joint with a quaternion, of a type from outside, have inertias that are not alike"
    if name == "regressor" and any(drive.coordinate < 0 for drive in tree.drives):
        return "a motor drives a joint with a quaternion"
    return ""


def _unknown_joint(tree: Tree, name: str) -> str:
    problem = traced_joints(_free(tree)).problem
    if not problem and name.endswith(CONSTANT) and not moving_bodies(_free(tree)).constant_subspaces:
        return "the motion subspace of a joint depends on its coordinate"
    return problem


def looped_kernel(tree: Tree, declared: Algorithm, options: Mapping[str, Any], tier: str | None) -> Kernel | None:
    """The kernel that loops over bodies; None where straight-line code is to be used.

    Raises
    ------
    ArgumentError
        Where a loop is asked for that there cannot be: why.
    """
    wanted = tier == "looped"
    if not wanted and (declared.name not in LOOPED or not is_large(tree, declared.name)):
        return None
    reason = "" if loaders.usable() else "it needs llvmlite"
    reason = reason or refused(tree, declared, options)
    if reason and wanted:
        raise ArgumentError(
            f"{declared.name}: tier is 'looped', and {tree.name!r} cannot have it: {reason}; expected 'straight'"
        )
    if reason:
        return None
    if declared.name.startswith(("forward_dynamics", "inverse_mass_matrix")):
        check_inertia(tree)
    return LoopedKernel(tree, declared, options)


#: Algorithms whose operations grow with the square of the velocities and more, six of which a floating base has. Straight
#: lines for a humanoid of 32 are 20,000 to 100,000 operations; a loop takes half the time for one configuration, and up to a
#: quarter more in a batch.
SQUARE = frozenset(
    {
        "centroidal_momentum_derivatives",
        "coriolis_matrix",
        "forward_dynamics_derivatives",
        "forward_dynamics_external_derivatives",
        "inverse_dynamics_derivatives",
        "inverse_dynamics_external_derivatives",
    }
)


def is_large(tree: Tree, name: str) -> bool:
    """True if an algorithm loops over the bodies of a mechanism unless stated otherwise: by bodies, or by velocities."""
    if name in SQUARE:
        return _free(tree).nv >= BODIES
    return len(tree.links) + tree.floating >= BODIES and body_count(tree) >= BODIES


def body_count(tree: Tree) -> int:
    """The number of moving bodies."""
    return tree.memo("sweeps", "bodies", lambda: len(moving_bodies(_free(tree)).bodies))


def programs() -> list[tuple[str, tuple[tuple[str, Any], ...], bool]]:
    """All programs, as arguments of `code_of`."""
    choices: dict[str, Sequence[Any]] = {"frame": ("world", "body"), "about": ("origin", "com"), "rotors": (False, True)}
    choices |= {"springs": (False, True), "turning": (False,)}  # (motors of joints with quaternions are rare)
    result = []
    for name, steps in LOOPED.items():
        combinations: list[tuple[tuple[str, Any], ...]] = [()]
        for variant in steps.variants:
            combinations = [(*before, (variant, value)) for before in combinations for value in choices[variant]]
        singles = (True, False) if any("W" in shape.split() for shape in algorithm.find(name).inputs.values()) else (True,)
        result += [(name, variants, single) for variants in combinations for single in singles]
    return result


def warm(progress: Callable[[str, int, int], None] = lambda name, done, count: None) -> int:
    """Have the machine code of all programs on disk; the number of programs.

    Parameters
    ----------
    progress : callable
        Called before each with its name, how many are done, and how many there are.
    """
    every = programs()
    for done, program in enumerate(every):
        progress(program[0], done, len(every))
        code_of(*program).warm()
    return len(every)
