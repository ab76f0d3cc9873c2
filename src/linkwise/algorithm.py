"""Declaration, compilation and binding of algorithms.

`algorithm` declares a function over scalars with the names, shapes and options of its inputs and outputs. `kernel_of` traces
and compiles it for a mechanism, once; `compiled` binds it as a method of `Mechanism`.

`Mechanism.kernel`, the reference page and the laws in the tests read the declarations in `ALGORITHMS`; adding an
algorithm is adding one file with one decorated function, and one line to `Mechanism`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial, update_wrapper, wraps
from importlib import import_module
from types import MethodType
from typing import Any, Concatenate, Generic, NoReturn, ParamSpec, TypeAlias, TypeVar, overload

import numpy as np

from linkwise.arrays import constant_in_graphs, is_traced, method_in_graph, of
from linkwise.arrays.framework import PLAIN
from linkwise.arrays.graph import GRAPH_FUNCTIONS
from linkwise.errors import ArgumentError, choices, members, shown, suggestion
from linkwise.kernel import Kernel, Tape, trace
from linkwise.kernel.backend import backend_of, default_backend
from linkwise.kernel.cache import directory
from linkwise.kernel.deferred_tape import kept_tape
from linkwise.kernel.gufunc import (
    Entry,
    Places,
    call_in_graph,
    documentation,
    is_single,
    make_callable,
    no_entry,
    option_of,
    usable,
)
from linkwise.kernel.sources import is_own, sources_digest
from linkwise.kernel.tape import Shape, without_collection
from linkwise.model.coupling import coupling
from linkwise.model.digest import digest, digest_of
from linkwise.model.loop import CLOSURE_ROWS
from linkwise.model.parameters import LINK, MOTOR
from linkwise.model.quantities import QUANTITIES
from linkwise.model.tree import Tree, manifold_columns, require_tree, unshared
from linkwise.spatial.validation import choice
from linkwise.torch_graphs import outside_graphs

#: Every algorithm there is, by name.
ALGORITHMS: dict[str, Algorithm] = {}

#: For options that are neither words nor whole numbers, by name: the value that is part of a kernel's key.
OPTION_VALUES: dict[str, Callable[[Tree, Any], Any]] = {}


@dataclass(frozen=True)
class Algorithm:
    """The declaration of one algorithm.

    Attributes
    ----------
    name : str
        What `Mechanism.kernel` finds it by.
    inputs, outputs : mapping of str to str
        Shapes in letters: ``"nq"``, ``"L 4 4"``, ``"6 nv"``; nq coordinates, nv speeds, n joints, L links, P inertial
        parameters, K equations that close the loops (see `linkwise.kinematics.closure`).
    function : callable
        ``function(tree, *inputs, **options)`` over arrays of scalars; one array or a tuple of them.
    options : mapping of str to object
        The keyword-only options of the function, and what they are by default; each choice is a kernel of its own.
    needs_loops : bool
        Whether it says nothing of a mechanism without loops.
    spread : bool
        Whether, where joints follow others, it runs on the mechanism with every joint free, and its result is gathered.
    """

    name: str
    inputs: Mapping[str, str]
    outputs: Mapping[str, str]
    function: Callable[..., Any]
    options: Mapping[str, Any]
    needs_loops: bool = False
    spread: bool = True

    def shapes(self, tree: Tree, which: Mapping[str, str], options: Mapping[str, Any] | None = None) -> dict[str, Shape]:
        """The shapes in numbers, for one mechanism.

        W is the number of wrenches, and left out where no option says it; O counts the coordinates of a pose, N contacts, C
        their equations, E these and nv.
        """
        chosen = {**self.options, **(options or {})}
        links, drives = len(tree.links), len(tree.drives)
        parameters = len(LINK) * links + len(MOTOR) * drives
        sizes = {"n": tree.n, "nq": tree.nq, "nv": tree.nv, "L": links, "P": parameters, "loops": len(tree.loops)}
        sizes["K"] = sum(CLOSURE_ROWS[loop.kind] for loop in tree.loops)
        sizes["O"] = 7 if chosen.get("orientation") == "quaternion" else 6
        wrenches = chosen.get("wrenches")
        contacts = chosen.get("contacts", ())
        equations = sum(contact.size for contact in contacts)
        sizes |= {"N": len(contacts), "C": equations, "E": tree.nv + equations, "2nv": 2 * tree.nv, "3nv": 3 * tree.nv}
        letters = {letter: (size,) for letter, size in sizes.items()} | {"W": () if wrenches is None else (len(wrenches),)}
        return {
            name: tuple(
                size for letter in shape.split() for size in (letters[letter] if letter in letters else (int(letter),))
            )
            for name, shape in which.items()
        }


def with_external(name: str) -> str:
    """Name of the variant of an algorithm with wrenches on links: on the tool, in its axes, unless its option differs."""
    stem = name.removesuffix("_derivatives")
    return f"{stem}_external{name[len(stem) :]}"


def algorithm(
    inputs: Mapping[str, str],
    outputs: Mapping[str, str],
    *,
    spread: bool = True,
    open_only: bool = False,
    needs_loops: bool = False,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declare the decorated function as an algorithm, or as two: without and with the wrenches of its argument `external`.

    Parameters
    ----------
    inputs, outputs : mapping of str to str
        Shapes in letters, see `Algorithm`.
    spread : bool
        Whether, where joints follow others, the function runs on the mechanism with every joint free, and its result is
        gathered (see `linkwise.model.coupling`); False where it deals with the coordinates that there are itself.
    open_only : bool
        Whether mechanisms with closed loops are refused, for what it gives would be that of the tree cut open.
    needs_loops : bool
        Whether mechanisms without loops are refused, for there is nothing to give.
    """

    def declare(function: Callable[..., Any]) -> Callable[..., Any]:
        parameters = inspect.signature(function).parameters.values()
        options = {parameter.name: parameter.default for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY}
        has_external = "external" not in inputs and any(parameter.name == "external" for parameter in parameters)

        @wraps(function)
        def run(tree: Tree, *inputs_given: Any, **options: Any) -> Any:
            if has_external and len(inputs_given) > len(inputs) and inputs_given[-1] is None:
                inputs_given = inputs_given[:-1]
            declared = loaded if has_external and len(inputs_given) > len(inputs) else alone
            name = declared.name
            require_tree(tree, f"{name}: mechanism")
            if open_only and tree.loops:
                refuse_loops(tree, name)
            if needs_loops and not tree.loops:
                raise ArgumentError(f"{tree.name!r} has no loops; {name} is for mechanisms with them")
            if is_traced() or (not PLAIN.issuperset(map(type, inputs_given)) and of(name, inputs_given) is not None):
                return kernel_of(tree, name, options=options)(*inputs_given)
            if spread and tree.coupled:
                return _spread(declared, tree, inputs_given, options)
            return function(tree, *inputs_given, **options)

        def add(name: str, inputs: Mapping[str, str], options: Mapping[str, Any]) -> Algorithm:
            ALGORITHMS[name] = Algorithm(name, dict(inputs), dict(outputs), run, options, needs_loops, spread)
            return ALGORITHMS[name]

        name = function.__name__
        alone = add(name, inputs, {key: value for key, value in options.items() if not has_external or key != "wrenches"})
        if has_external:
            loaded = add(with_external(name), {**inputs, "external": "W 6"}, options)
        return run

    return declare


def _spread(declared: Algorithm, tree: Tree, arrays: Sequence[Any], options: Mapping[str, Any]) -> Any:
    """Run on the mechanism with every joint free, and gather the results."""
    couplings = coupling(tree)
    to_free = {"nq": couplings.coordinates, "nv": couplings.speeds}
    pairs = zip(declared.inputs.values(), arrays, strict=True)
    free = [to_free[shape](value) if shape in to_free else value for shape, value in pairs]
    match = declared.function(couplings.uncoupled, *free, **options)
    result = match if isinstance(match, tuple) else (match,)
    gathered = tuple(
        couplings.gathered(value, shape) for value, shape in zip(result, declared.outputs.values(), strict=True)
    )
    return gathered if isinstance(match, tuple) else gathered[0]


#: Algorithms on trees whose methods keep loops closed.
CLOSED = frozenset(
    {
        "gravity_regressor",
        "inverse_dynamics_derivatives",
        "inverse_dynamics_hessian_product",
        "inverse_dynamics_second_derivatives",
        "joint_wrenches",
        "momentum_regressor",
        "regressor",
    }
)


def refuse_loops(tree: Tree, name: str) -> NoReturn:
    """Raise `ArgumentError`: the algorithm is not available with closed loops."""
    loops = members(loop.name or repr(loop) for loop in tree.loops)
    called = name.replace("_external", "")  # (the method has one name for both)
    hint = "replace(loops=()) gives the tree, cut open"
    if called == "inverse_dynamics":
        which = "" if tree.drives else ", driven=[...]"
        hint = f"actuator_efforts(q, qd, qdd{which}) gives the efforts with loops closed; {hint}"
    if called == "lagrange_dynamics":
        hint = f"the kernel closed_lagrange_dynamics takes the forces of the loops beside; {hint}"
    if called in CLOSED:
        hint = f"the method {called} of Mechanism takes driven=[...] and keeps loops closed; {hint}"
    raise ArgumentError(f"{tree.name!r} has closed loops, {loops}; {called} is for mechanisms without loops ({hint})")


def find(name: str) -> Algorithm:
    """Return the algorithm of that name; the error lists all names."""
    if not isinstance(name, str) or name not in ALGORITHMS:
        raise ArgumentError(
            f"no algorithm {shown(name)}{suggestion(str(name), ALGORITHMS)}; expected {choices(sorted(ALGORITHMS))}"
        )
    return ALGORITHMS[name]


#: The ways to compile an algorithm: all of it as one line of arithmetic, or a loop over the bodies.
TIERS = ("straight", "looped")

#: From so many moving bodies on an algorithm loops over them, unless stated otherwise; see `benchmarks/sizes.py`.
BODIES = 32

#: Makes a kernel that is not straight-line code as a whole: see `use_loops`.
LoopMaker: TypeAlias = Callable[[Tree, Algorithm, Mapping[str, Any], str | None], Kernel | None]

_loops: list[LoopMaker] = []


def use_loops(make: LoopMaker) -> None:
    """Register the maker of kernels with loops, which is called before an algorithm is traced; it may return None."""
    _loops[:] = [make]


def kernel_of(
    tree: Tree, name: str, backend: str | None = None, options: Mapping[str, Any] | None = None, tier: str | None = None
) -> Kernel:
    """Return the kernel of an algorithm for a mechanism; see `Mechanism.kernel`.

    Raises
    ------
    ArgumentError
        Naming the algorithms, the options, or the tiers there are.
    """
    make = _in_graph if is_traced() else _kernel_as_asked
    return make(tree, name, backend, options or {}, tier)


def loops_over(tree: Tree, *links: int | str) -> bool:
    """True if the paths to some frames have so many bodies that looped kernels compute the poses and Jacobians."""
    if len(tree.links) < BODIES or sum(tree.links[k].moves for k in {k for link in links for k in tree.path(link)}) < BODIES:
        return False
    names = ("forward_kinematics", "jacobian", "jacobian_dot")
    return all(kernel_of(tree, name, None, {"link": link}).tier == "looped" for name in names for link in links)


def _kernel_as_asked(tree: Tree, name: str, backend: str | None, options: Mapping[str, Any], tier: str | None) -> Kernel:
    if options:  # (previous calls are found by their arguments)
        asked = (name, backend, tier, *options.items())
        try:
            known: Kernel | None = tree.recall("kernel as asked", asked)
        except TypeError:  # (unhashable)
            return _kernel(tree, name, backend, options, tier)
        return known or tree.memo("kernel as asked", asked, lambda: _kernel(tree, name, backend, options, tier))
    return _kernel(tree, name, backend, options, tier)


def _in_graph(tree: Tree, *choice: Any) -> Any:
    """Kernel as traced by `torch.compile`."""
    from linkwise.arrays.torch import in_graph

    key = _key_in_graph(tree, *choice)
    return lambda *args: in_graph(key, args)


@constant_in_graphs
def _key_in_graph(tree: Tree, *choice: Any) -> str:
    from linkwise.arrays.torch import key_of

    return key_of(_kernel_as_asked(tree, *choice))


def _kernel(tree: Tree, name: str, backend: str | None, options: Mapping[str, Any], tier: str | None) -> Kernel:
    declared = find(name)
    if backend is not None:
        backend_of(backend)  # (refuses an unknown one)
    if tier is not None:
        choice(f"{declared.name}: tier", tier, TIERS)
    chosen = algorithm_options(tree, declared, options)
    key = (name, backend, tier, *chosen.items())
    return tree.memo("kernel", key, lambda: _compile(tree, declared, backend, chosen, tier))


def algorithm_options(tree: Tree, declared: Algorithm, options: Mapping[str, Any]) -> dict[str, Any]:
    """Options with other than default values, in order, links by index."""
    unknown = sorted(options.keys() - declared.options.keys())
    if unknown:
        raise ArgumentError(f"{declared.name} has no option {choices(unknown)}; it has {members(declared.options)}")
    chosen = {}
    for name, default in declared.options.items():
        value = options.get(name, default)
        if name in OPTION_VALUES:
            value = OPTION_VALUES[name](tree, value)
        elif not isinstance(value, (str, int, np.integer)):
            raise ArgumentError(f"{declared.name}: {name} is {shown(value)}; expected a word or a whole number")
        if name == "link" and (isinstance(value, bool) or value != default):
            value = tree.link_index(value if isinstance(value, str) else int(value))
        if value != default:
            chosen[name] = value
    return chosen


@without_collection()
def _compile(tree: Tree, declared: Algorithm, backend: str | None, options: dict[str, Any], tier: str | None) -> Kernel:
    if tier == "looped" and backend not in {None, "llvm"}:
        raise ArgumentError(f"{declared.name}: tier is 'looped' and backend {shown(backend)}; expected the backend 'llvm'")
    if (_loops and backend is None) or tier == "looped":
        looped = _loops[0](tree, declared, options, tier)
        if looped is not None:
            return looped
    return straight_kernel(tree, declared, backend, options)


def straight_kernel(tree: Tree, declared: Algorithm, backend: str | None, options: dict[str, Any]) -> Kernel:
    """The kernel of the straight-line code of an algorithm, which is compiled as one."""
    alone = tree.memo("kernel", "alone", lambda: unshared(tree))
    tape = kept_tape(
        key_of(tree, declared, options), lambda: traced(tree, declared, options), lambda: traced(alone, declared, options)
    )
    return Kernel(tape, backend, declared.function.__doc__ or "", motions=partial(motions, alone, declared))


def motions(tree: Tree, declared: Algorithm) -> dict[str, Tape]:
    """Motion of inputs that are configurations with quaternions: see `Kernel`."""
    names = [name for name, shape in declared.inputs.items() if shape == "nq"] if tree.manifold_joints else []
    if not names:
        return {}
    rate = find("configuration_rate")
    shapes = (rate.shapes(tree, which) for which in (rate.inputs, rate.outputs))
    return dict.fromkeys(
        names, tree.memo("kernel", "motion", lambda: trace(partial(rate.function, tree), rate.name, *shapes))
    )


def key_of(tree: Tree, declared: Algorithm, options: dict[str, Any]) -> str | None:
    """Key that identifies the algorithm's tape; None if it depends on unknown code."""
    mechanism = digest_of(tree) if directory() is not None and is_own(declared.function) else None
    sources = None if mechanism is None else sources_digest()
    return None if sources is None else digest(mechanism, sources, declared.name, *options.items(), default_backend())


def traced(tree: Tree, declared: Algorithm, options: Mapping[str, Any]) -> Tape:
    """The straight-line code of an algorithm for a mechanism."""
    function = partial(declared.function, tree, **options)
    inputs, outputs = (declared.shapes(tree, which, options) for which in (declared.inputs, declared.outputs))
    named = {name: result for name, shape in {**inputs, **outputs}.items() if (result := labels(tree, name, shape))}
    return trace(
        function,
        declared.name,
        inputs,
        outputs,
        parameters=tree.parameters_used,
        labels=named,
        shorten=not tree.loops,  # loop closure refines its results against rounding
    )


def labels(tree: Tree, name: str, shape: tuple[int, ...]) -> tuple[str, ...]:
    """Names of the elements of an input or output along the coordinates: ``q1``, ``qd1``, whatever the joints are called."""
    size = tree.nq if name == "q" else tree.nv
    if name not in QUANTITIES or shape != (size,):
        return ()
    first = [label for label, _ in manifold_columns(tree.manifold_joints, name)]
    return (*first, *(f"{name}{k}" for k in range(1, tree.n + 1)))


P = ParamSpec("P")
R = TypeVar("R")


class LazyMethod:
    """Functions of a package as the methods of the same names, with the functions' signatures and descriptions.

    The package is imported when one of them is first asked for; from then on the class has the function itself.

    Parameters
    ----------
    package : str
        Where functions of the names under which this stands in the class are; their first argument is the mechanism.
    """

    def __init__(self, package: str) -> None:
        self.package = package

    def __set_name__(self, owner: type, name: str) -> None:
        setattr(owner, name, _LazyFunction(owner, name, self.package))


class _LazyFunction:
    def __init__(self, owner: type, name: str, package: str) -> None:
        self.owner, self.name, self.package = owner, name, package

        @outside_graphs(name)
        def outside(*args: Any, **kwargs: Any) -> Any:
            return self.function(*args, **kwargs)

        self.outside = outside

    @property
    def function(self) -> Any:
        """The function, imported."""
        return getattr(import_module(self.package), self.name)

    def __get__(self, instance: Any, kind: type | None = None) -> Any:
        if is_traced():
            _imported(self.package)
            if self.name not in GRAPH_FUNCTIONS:
                return lambda *args, **kwargs: self.outside(instance, *args, **kwargs)
            return lambda *args, **kwargs: method_in_graph(self.name, instance, args, kwargs)
        function = self.function
        if self.name not in GRAPH_FUNCTIONS:
            outside_graphs(self.name)(function)
        setattr(self.owner, self.name, function)
        return function if instance is None else MethodType(function, instance)


@constant_in_graphs
def _imported(package: str) -> None:
    import_module(package)


class compiled(Generic[P, R]):  # noqa: N801  (used as a decorator)
    """A method that computes one algorithm with its default options, and whose plain calls skip Python.

    When it is first looked up on a mechanism, the mechanism gets a built-in function under the method's own name. It calls
    the method as it is written, until the first plain call (as many arguments as the kernel has inputs, no keywords); from
    then on, whoever holds it calls the kernel's compiled entry, which takes contiguous float64 vectors itself and hands any
    other call to the method. Where a subclass overrides the method, `super` and the class lead to such a function too.

    Parameters
    ----------
    method : callable
        The method; its name is that of the algorithm.
    unless : callable, optional
        ``unless(mechanism, arguments)`` is True where the method has another way than the kernel.
    """

    def __init__(
        self,
        method: Callable[Concatenate[Any, P], R],
        unless: Callable[[Any, Sequence[Any]], bool] = lambda owner, args: False,
    ) -> None:
        self.method, self.unless = method, unless
        self.name = method.__name__
        declared = ALGORITHMS[self.name].inputs
        parameters = list(inspect.signature(method).parameters.values())[1:]
        self.inputs = [x.name for x in parameters if x.default is x.empty or x.name in declared]
        self.defaults = {x.name: x.default for x in parameters if x.default is not x.empty and x.name in declared}
        self.dimensions = [len(declared[name].split()) for name in self.inputs]
        self.own_name = f"{method.__module__}.{method.__qualname__}"
        update_wrapper(self, method)

    @overload
    def __get__(self, owner: None, kind: type) -> compiled[P, R]: ...
    @overload
    def __get__(self, owner: Any, kind: type) -> Callable[P, R]: ...
    def __get__(self, owner: Any, kind: type) -> Any:
        if owner is None:
            return self
        return owner.__dict__.get(self.own_name) or self._bind(owner)

    def __call__(self, owner: Any, *args: P.args, **kwargs: P.kwargs) -> R:
        """Compute for a mechanism, as ``Mechanism.method(mechanism, ...)``."""
        function: Callable[P, R] = owner.__dict__.get(self.own_name) or self._bind(owner)
        return function(*args, **kwargs)

    def _bind(self, owner: Any) -> Callable[P, R]:
        """The one function of a mechanism; where the method is not overridden, also under the method's name."""
        if is_traced():
            return lambda *args, **kwargs: call_in_graph(self, owner, args, kwargs)
        bound: Callable[P, R] = MethodType(self.method, owner)
        if usable():
            bound = make_callable(
                bound,
                self.name,
                self._doc,
                later=partial(self._entry, owner),
                kernel_of=partial(self._kernel_of, owner),
                in_graph=partial(self.in_graph, owner),
                dispatcher=lambda: backend_of(None).dispatcher(),
            )
        bound = owner.__dict__.setdefault(self.own_name, bound)
        if getattr(type(owner), self.name) is self:
            owner.__dict__[self.name] = bound
        return bound

    def in_graph(self, owner: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Kernel, Places]:
        """The kernel of a call with ... in the place of arrays, and the places or names of its arguments, or numbers."""
        values = self.__signature__.bind(owner, *args, **kwargs).arguments
        parameters = list(self.__signature__.parameters)[1:]
        name, inputs = self.name, list(self.inputs)
        if values.get("external") is not None:
            name, inputs = with_external(name), [*inputs, "external"]
        options = {key: value for key, value in values.items() if key in find(name).options}
        arrays = {key for key in parameters if values.get(key) is ...}
        numbers = {key: default for key, default in self.defaults.items() if key not in values}
        others = {key for key in parameters if values.get(key) is not None} - {*inputs, *options}
        if arrays | numbers.keys() != set(inputs) or others or (owner.loops and self.name in CLOSED):
            raise ArgumentError(
                f"{self.name}: torch.compile takes it as one kernel, of tensors for {members(inputs)} and words as options;"
                " expected such a call, or torch.compiler.disable() around this one"
            )
        places = (numbers.get(key, key if key in kwargs else parameters.index(key)) for key in inputs)
        return _kernel_as_asked(owner, name, None, options, None), tuple(places)

    def _kernel_of(self, owner: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Callable[..., Any] | None:
        """Kernel to which calls with words as options go, or with an object that is an option and an array."""
        name, count = self.name, len(args)
        words = option_of(args)
        if words is not None:
            name, count, kwargs = with_external(name), count - 1, {**kwargs, words[0]: words[1]}
        if count != len(self.inputs) or (owner.loops and self.name in CLOSED) or name not in ALGORITHMS:
            return None
        if not kwargs.keys() <= find(name).options.keys():
            return None
        kernel = kernel_of(owner, name, None, kwargs)
        return kernel.single or kernel

    def _entry(self, owner: Any, args: tuple[Any, ...]) -> Entry | None:
        """Callable from now on: None before the first plain call with vectors, after which it is the kernel.

        It stays None where the method has another way than the kernel to keep loops closed.
        """
        if (owner.loops and self.name in CLOSED) or not is_single(args, self.dimensions) or self.unless(owner, args):
            return None
        return owner.kernel(self.name).machine_entry() or no_entry()

    @cached_property
    def _doc(self) -> str:
        return documentation(MethodType(self.method, object()), self.name, "")

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(self.method)
