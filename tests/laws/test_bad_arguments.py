"""Whatever is given for an argument of an algorithm, what it refuses is refused by an error of Linkwise.

Each call is a right one with a wrong value in the place of one argument. Where such a value is accepted (a batch of three, a
seed of 7) the call returns; nothing else may come out than a `LinkwiseError`.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import linkwise as lw
from linkwise import dynamics
from linkwise.algorithm import ALGORITHMS
from linkwise.dynamics import Contact, Contacts
from linkwise.errors import LinkwiseError
from linkwise.kinematics import manipulability
from linkwise.simulation import Ground


class Odd:
    """Something that no argument is."""


WRONG: dict[str, Any] = {
    "None": None,
    "object": Odd(),
    "type": int,
    "slice": slice(3),
    "bool": True,
    "whole": 7,
    "negative": -5,
    "huge": 10**30,
    "float": 2.5,
    "complex": 1 + 2j,
    "nan": float("nan"),
    "infinite": float("inf"),
    "date": np.datetime64("2020-01-01"),
    "word": "bogus",
    "empty word": "",
    "bytes": b"x",
    "list of a link": ["link1"],
    "nested list of a link": [["link1"]],
    "pair without axes": [("link1",)],
    "pair with an unhashable link": [(["link1"], "body")],
    "pair with unhashable axes": [("link1", ["body"])],
    "triple": [("link1", "body", "x")],
    "list of whole numbers": [1],
    "list of None": [None],
    "empty list": [],
    "empty tuple": (),
    "ragged": [[1, 2], [3]],
    "set": {1, 2},
    "dict": {"a": 1},
    "dict by number": {3: [1, 2]},
    "dict by link": {"link1": None},
    "empty dict": {},
    "range": range(3),
    "array of complex": np.array([1j, 2]),
    "array of objects": np.array([Odd(), None], dtype=object),
    "array of words": np.array(["a", "b"]),
    "array of nan": np.array([np.nan, np.nan]),
    "array of another shape": np.zeros((3, 5, 7)),
    "empty array": np.zeros(0),
    "array of no dimension": np.array(3.0),
    "array of None": np.array(None),
}

ARM, PUMA, FOUR_BAR = lw.robots.planar_2r(), lw.robots.puma560(), lw.robots.four_bar()
FREE_BODY = lw.Mechanism([lw.Link(joint="fixed", mass=1.0, inertia=(1, 1, 1))], floating=True)
SHAPED = ARM.replace(shapes=[lw.Shape(link, "sphere", 0.1, role="collision") for link in ARM.link_names])
LINKAGE = FOUR_BAR.linkage(["crank"])
HELD = Contacts(ARM, [Contact("tip", "link2", kind="normal", normal=(0, 1, 0), friction=0.5)])

Q, Q6, CLOSED, Z3 = [0.1, 0.2], [0.1] * 6, LINKAGE.position([0.3]).q, np.zeros(3)
ARM_VALUES: dict[str, Any] = dict.fromkeys(("q", "q0", "q1", "qd", "qdd", "tau", "free"), Q)
ARM_VALUES |= {"weights": Q, "dt": 1.0, "s": 0.5, "active": ["tip"], "forces": [1.0], "impulses": [1.0]}
LOOP_VALUES = {"mechanism": FOUR_BAR, "tree": FOUR_BAR, "q": CLOSED, "qd": Z3, "qdd": Z3, "tau": Z3, "weights": [1.0]}
LOOP_VALUES |= {"driven": ["crank"], "u": [0.3], "ud": [0.1], "udd": [0.1]}


def from_dh(rows: Any, convention: Any, order: Any = ("theta", "d", "a", "alpha"), joints: Any = None) -> Any:
    """`Mechanism.from_dh` without the options of `Mechanism`."""
    return lw.Mechanism.from_dh(rows, convention=convention, order=order, joints=joints)


#: What of a mechanism is a method by the names of its arguments, or is called below.
OTHER_METHODS = {"animate", "browse", "draw", "plan", "workspace", "replace", "memo", "recall", "linkage", "unchecked"}


def right(function: Callable[..., Any], values: dict[str, Any]) -> dict[str, Any] | None:
    """The arguments of a right call; None where one that is needed has no value."""
    parameters = inspect.signature(function).parameters.values()
    kinds = {parameter.kind for parameter in parameters}
    needed = [parameter.name for parameter in parameters if parameter.default is parameter.empty]
    if kinds & {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD} or not set(needed) <= values.keys():
        return None
    return {name: values[name] for name in needed}


def calls() -> dict[str, tuple[Callable[..., Any], dict[str, Any]]]:
    """Functions with the arguments of a right call, by a name for the test."""
    results: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {}

    def add_methods(owner: Any, title: str, values: dict[str, Any], skipped: set[str]) -> None:
        for name in dir(owner):
            function = getattr(owner, name)
            if name.startswith("_") or not callable(function) or name in skipped:
                continue
            arguments = right(function, values)
            if arguments is not None:
                results[f"{title}.{name}"] = function, arguments

    needs_driven = {"actuator_efforts", "constraint_forces", "reduced_mass_matrix"}
    add_methods(ARM, "arm", ARM_VALUES, OTHER_METHODS | needs_driven | {"kinematic_hessian_product", "clearance"})
    add_methods(HELD, "contacts", {**ARM_VALUES, "rows": np.ones((1, 2))}, set())
    add_methods(LINKAGE, "linkage", LOOP_VALUES, {"step_kernel"})
    for name in ("actuator_efforts", "constraint_forces", "linearize", "modes", "reduced_mass_matrix", "regressor"):
        function = getattr(FOUR_BAR, name)
        arguments = right(function, LOOP_VALUES)
        assert arguments is not None
        driven = {"driven": ["crank"]} if "driven" in inspect.signature(function).parameters else {}
        results[f"four_bar.{name}"] = function, arguments | driven
    for name in dir(dynamics):
        if name.startswith("closed_") and name != "closed_loops":
            arguments = right(getattr(dynamics, name), LOOP_VALUES)
            assert arguments is not None, name
            results[f"dynamics.{name}"] = getattr(dynamics, name), {**arguments, "driven": ["crank"]}
    target = PUMA.forward_kinematics(Q6)
    pose, rows = np.eye(4), [(0, 0, 1, 0)]
    return results | {
        "kernel": (ARM.kernel, {"name": "inverse_dynamics"}),
        "linkage": (FOUR_BAR.linkage, {"driven": ["crank"], "q0": CLOSED}),
        "kinematic_hessian_product": (ARM.kinematic_hessian_product, {"q": Q, "weights": Q6}),
        "from_dh": (from_dh, {"rows": rows, "convention": "standard"}),
        "columns": (ARM.columns, {"quantity": "q"}),
        "link_index": (ARM.link_index, {"link": "link1"}),
        "path": (ARM.path, {"link": "link1"}),
        "frame": (ARM.frame, {"link": "link1"}),
        "frame_name": (ARM.frame_name, {"link": "link1"}),
        "lock": (ARM.lock, {"joints": {"link1": 0.1}}),
        "subtree": (ARM.subtree, {"link": "link2"}),
        "perturb": (ARM.perturb, {"fraction": 0.1}),
        "with_tool": (ARM.with_tool, {"tool": pose}),
        "clearance": (SHAPED.clearance, {"q": Q}),
        "solve": (ARM.solve, {"constraints": lw.Position("tool", [1.0, 1.0, 0.0])}),
        "inverse_kinematics": (PUMA.inverse_kinematics, {"T": target}),
        "all_inverse_kinematics": (PUMA.all_inverse_kinematics, {"T": target}),
        "joint_velocities": (PUMA.joint_velocities, {"q": Q6, "twist": Q6}),
        "joint_accelerations": (PUMA.joint_accelerations, {"q": Q6, "qd": Q6, "acceleration": Q6}),
        "manipulability": (manipulability, {"jacobian": np.eye(6)}),
        "operational_space_inertia": (dynamics.operational_space_inertia, {"inverse": np.eye(6)}),
        "stack": (lw.stack, {"mechanisms": [ARM, ARM]}),
        "simulate": (lw.simulate, {"mech": ARM, "q0": Q, "t": (0.01, 0.005)}),
        "simulate_adaptive": (lw.simulate, {"mech": ARM, "q0": Q, "t": (0.01, 0.005), "method": "rk45"}),
        "simulate_free_body": (lw.simulate, {"mech": FREE_BODY, "t": (0.01, 0.005)}),
        "Sampled": (lw.Sampled, {"values": np.ones((3, 2))}),
        "Wrench": (lw.Wrench, {"force": [1.0, 2.0, 3.0]}),
        "LinkWrenches": (lw.LinkWrenches, {"wrenches": np.ones((2, 6))}),
        "Contact": (Contact, {"name": "tip", "link": "link2"}),
        "Contacts": (Contacts, {"tree": ARM, "contacts": [Contact("tip", "link2")]}),
        "Ground": (Ground, {"contacts": HELD}),
        "Clear": (lw.Clear, {"margin": 0.1}),
        "Mechanism": (lw.Mechanism, {"links": list(ARM.links)}),
        "Link": (lw.Link, {}),
        "Link.dh": (lw.Link.dh, {"a": 1.0, "convention": "standard"}),
        "Inertia": (lw.Inertia, {}),
        "Shape": (lw.Shape, {"link": "link1", "kind": "sphere", "size": 0.1}),
        "Spring": (lw.Spring, {"joints": "link1"}),
        "Trajectory": (lw.Trajectory, {"t": [0.0, 1.0], "q": [Q, Q], "qd": [Q, Q], "qdd": [Q, Q]}),
    }


CALLS = calls()

#: Callables of the user: an error within one is the user's, so values that can be called are left out.
CALLED = {"torque", "events", "vertices"}


@pytest.mark.parametrize("title", CALLS)
def test_a_wrong_argument_is_an_error_of_linkwise(title: str) -> None:
    function, arguments = CALLS[title]
    function(**arguments)
    raw = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in inspect.signature(function).parameters:
            for kind, value in WRONG.items():
                if name in CALLED and callable(value):
                    continue
                try:
                    function(**{**arguments, name: value})
                except LinkwiseError:
                    pass
                except Exception as error:
                    raw.append(f"{name}, {kind}: {type(error).__name__}: {error}")
    assert not raw


@pytest.mark.parametrize("name", sorted(name for name, declared in ALGORITHMS.items() if declared.options))
def test_a_wrong_option_of_a_kernel_is_an_error_of_linkwise(name: str) -> None:
    declared, raw = ALGORITHMS[name], []
    for option in declared.options:
        for kind, value in WRONG.items():
            try:
                (FOUR_BAR if declared.needs_loops else ARM).kernel(name, **{option: value})
            except LinkwiseError:
                pass
            except Exception as error:
                raw.append(f"{option}, {kind}: {type(error).__name__}: {error}")
    assert not raw


@pytest.mark.parametrize(
    "name", ["inverse_dynamics", "linearize", "random_configuration", "spatial_operators", "base_forms"]
)
def test_what_is_no_mechanism_is_refused_by_name(name: str) -> None:
    functions = {**vars(lw.kinematics), **vars(dynamics)}
    arguments = [Q] * {"inverse_dynamics": 3, "base_forms": 0}.get(name, 1)
    with pytest.raises(LinkwiseError, match=f"{name}: mechanism is 3; expected a Mechanism"):
        functions[name](3, *arguments)


def test_messages_name_the_item_the_value_and_the_choices() -> None:
    with pytest.raises(LinkwiseError, match=r"backend is \['numpy'\]; expected 'llvm' or 'numpy'"):
        lw.simulate(ARM, Q, t=(0.01, 0.005), backend=["numpy"])  # type: ignore[arg-type]
    with pytest.raises(LinkwiseError, match=r"wrenches is 'link1'; expected .* 'body', 'world' or 'spatial'"):
        ARM.kernel("inverse_dynamics_external", wrenches=["link1"])
    with pytest.raises(LinkwiseError, match="active is 7; expected some of 'tip'"):
        HELD.forward_dynamics(Q, Q, Q, active=7)  # type: ignore[arg-type]
