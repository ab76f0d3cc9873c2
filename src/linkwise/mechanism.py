"""The face that users hold: a mechanism's data, with one line per algorithm."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy.typing as npt

import linkwise.dynamics
import linkwise.kinematics
import linkwise.looped  # (kernels that loop declare themselves)
from linkwise.algorithm import LazyMethod, compiled, kernel_of
from linkwise.dynamics.closed_loops.nullspace import allowed_motions
from linkwise.dynamics.external import External, loaded_kernel
from linkwise.dynamics.operational_space import closed_inverse_inertia
from linkwise.kernel import Kernel
from linkwise.kernel.interning import interned
from linkwise.kinematics import many_joints
from linkwise.model import assembly
from linkwise.model.digest import digest
from linkwise.model.formatting import mechanism_tables
from linkwise.model.link import links_from_dh
from linkwise.model.parameters import Symbolizer
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import rows_of

if TYPE_CHECKING:
    import linkwise.clearance
    import linkwise.solve
    import linkwise.workspace
    from linkwise.equations import Equations
    from linkwise.equations.derive import derive as symbolic_derivation
    from linkwise.inverse_kinematics.inverse_kinematics import inverse_kinematics as pose_inverse_kinematics


class Mechanism(Tree):
    """A mechanism: rigid links and joints, with its kinematics and dynamics as methods.

    All methods take arrays with any leading batch shape ``...``, in float64 or float32, and give the same numbers for
    a batch as for a loop. n is the number of joints, nq of coordinates, nv of velocities (both n on a fixed base, n + 7
    and n + 6 on a floating one), L of links. Angles are in rad, lengths in m, masses in kg, forces in N, moments in N m.
    Results are in the world frame unless stated otherwise.

    Parameters
    ----------
    links : sequence of Link
        The links, one or more; `Link.parent` names the parent of each.
    base, tool : (4, 4) array_like, optional
        T_world_base and T_link_tool; by default the identity.
    tool_link : str, optional
        Name of the link that carries the tool; by default the last of the list.
    gravity : (3,) array_like
        Acceleration of free fall in the world frame, m/s2.
    payload : Inertia, optional
        Inertia of the payload on the tool, in tool axes.
    loops : sequence of Loop
        Loop closures: frames on two links that must coincide. Forward dynamics and `simulate` keep them closed; methods
        that depend on the constraint forces are refused.
    motors : sequence of Motor
        Motors beside those of the links, each naming the joint that it drives; see `Motor`.
    springs : sequence of Spring, LinearSpringDamper, EndStop, ConstantForce and BallSpring
        Springs, dampers, end stops and constant forces.
    floating : bool
        Whether the base is a body that moves freely; a fixed link on the base gives it its mass. q is then x, y, z, qw, qx,
        qy, qz, joints (nq); qd is the velocity of its origin and its angular velocity, both in its own axes, then the
        joint velocities (nv); see `Tree`.
    shapes : sequence of Shape
        Collision shapes of links and of the base, for `clearance` and `plan`.
    name : str, optional
        Its name in tables and messages.

    Raises
    ------
    ModelError
        With every problem found.

    Examples
    --------
    >>> from linkwise import Link, Mechanism
    >>> arm = Mechanism([Link.dh(a=1.0, convention="standard", mass=1.0, com=(-0.5, 0, 0)) for _ in range(2)])
    >>> arm.forward_kinematics([0.0, 0.0])[:3, 3]
    array([2., 0., 0.])
    >>> arm.replace(gravity=(0, -10, 0)).inverse_dynamics([0.0, 0.0], [0.0, 0.0], [0.0, 0.0])
    array([20.,  5.])
    """

    @classmethod
    def from_dh(
        cls,
        rows: Iterable[Sequence[float]],
        *,
        convention: str,
        order: Sequence[str] = ("theta", "d", "a", "alpha"),
        joints: str | None = None,
        **options: Any,
    ) -> Self:
        """Build a chain from rows of Denavit-Hartenberg parameters.

        Parameters
        ----------
        rows : sequence of sequence of float
            One row per link, rad and m.
        convention : {"standard", "modified"}
            Required; see `Link.dh`.
        order : sequence of str
            Names of the columns: any order of theta, d, a, alpha, and b.
        joints : str, optional
            One letter per link: R revolute, P prismatic, F fixed. All revolute by default.
        **options
            The other arguments of `Mechanism`.

        Raises
        ------
        ArgumentError
            Where columns, letters and rows do not match.

        Examples
        --------
        >>> from linkwise import Mechanism
        >>> Mechanism.from_dh([(0, 0, 1, 0), (0, 0, 1, 0)], convention="standard").n
        2
        """
        return cls(links_from_dh(rows, convention=convention, order=order, joints=joints), **options)

    def kernel(self, name: str, *, backend: str | None = None, tier: str | None = None, **options: Any) -> Kernel:
        """Return the compiled function of an algorithm: a NumPy gufunc that can also be exported.

        Parameters
        ----------
        name : str
            Name of the algorithm: ``"inverse_dynamics"``, ``"jacobian"``, ...
        backend : {"llvm", "numpy"}, optional
            Back end; LLVM wherever llvmlite is installed.
        tier : {"straight", "looped"}, optional
            Straight-line code for this mechanism, or code for all mechanisms that loops over its bodies; chosen by the
            algorithm, the number of bodies and the options unless stated otherwise.
        **options
            The algorithm's options, such as ``link=`` and ``frame=``.

        Raises
        ------
        ArgumentError
            Naming the algorithms, or the options, there are.

        Examples
        --------
        >>> from linkwise import Mechanism
        >>> arm = Mechanism.from_dh([(0, 0, 1, 0)], convention="standard")
        >>> arm.kernel("forward_kinematics").operations
        {'sin': 1, 'cos': 1, 'neg': 1}
        """
        return kernel_of(self, name, backend, options, tier)

    # ── other mechanisms made from it ─────────────────────────────────────────────────────────────

    lock = assembly.lock
    subtree = assembly.subtree
    attach = assembly.attach

    # ── symbols ───────────────────────────────────────────────────────────────────────────────────

    def symbolic(self, *groups: str, zeros: bool = False) -> Self:
        """The same mechanism with symbols of standard names in the place of its numbers.

        Parameters
        ----------
        *groups : {"inertial", "lengths", "gravity", "motors"}
            Which numbers; all of them if none is named. Inertial: M, MX, MY, MZ, XX, YY, ZZ, XY, YZ, XZ of each link, about
            the origin of its frame (``XX2`` is of the second link of the list, ``XXp`` of the payload). Lengths: d, a, b of
            a DH row (``a2``), else the shifts x, y, z before and u, v, w after the joint; xt, yt, zt of the tool and xb,
            yb, zb of the base. Gravity: g, or gx, gy, gz. Motors: Jm, B, Tc+, Tc-.
        zeros : bool
            Whether inertial and motor parameters that are 0 become symbols too.

        Raises
        ------
        ArgumentError
            Naming the groups there are.

        Examples
        --------
        >>> from linkwise import robots
        >>> arm = robots.planar_2r().symbolic("lengths", "gravity")
        >>> arm.symbols, arm.kernel("forward_kinematics").operations["mul"]
        (('a1', 'a2', 'g'), 4)
        """
        return self.replace(**Symbolizer(groups, zeros).changes(self))

    def symbol_values(self, *groups: str, zeros: bool = False) -> dict[str, float]:
        """The numbers for which `symbolic` puts symbols, by their names, in the order of its `symbols`.

        Examples
        --------
        >>> from linkwise import robots
        >>> robots.planar_2r().symbol_values("gravity")
        {'g': 9.81}
        """
        result = Symbolizer(groups, zeros)
        order = self.replace(**result.changes(self)).symbols
        return {name: result.values[name] for name in order if name in result.values}

    # ── kinematics ────────────────────────────────────────────────────────────────────────────────

    @compiled
    def forward_kinematics(self, q: npt.ArrayLike, link: int | str = "tool") -> FloatArray:
        """T_world_tool (..., 4, 4) at coordinates q (..., nq), rad or m: from the base to the tool.

        ``link`` asks for another frame: a name, or an index (-1 the last link), that link's own frame.
        """
        return self.kernel("forward_kinematics", link=link)(q)  # type: ignore[no-any-return]

    @compiled
    def link_poses(self, q: npt.ArrayLike) -> FloatArray:
        """T_world_link (..., L, 4, 4) of every link at coordinates q (..., nq)."""
        return self.kernel("link_poses")(q)  # type: ignore[no-any-return]

    @compiled
    def jacobian(self, q: npt.ArrayLike, link: int | str = "tool", frame: str = "world") -> FloatArray:
        """J (..., 6, nv): rows 0-2 the linear velocity of the frame's origin, rows 3-5 the angular velocity, per speed.

        Parameters
        ----------
        q : (..., nq) array_like
            Coordinates, rad or m.
        link : int or str
            Whose frame: ``"tool"``, or by name or index (-1 the last) that link's own frame.
        frame : {"world", "body"}
            In whose axes: the world's, also where the base itself is turned or floats, or the frame's own.
        """
        return self.kernel("jacobian", link=link, frame=frame)(q)  # type: ignore[no-any-return]

    @compiled
    def jacobian_dot(
        self, q: npt.ArrayLike, qd: npt.ArrayLike, link: int | str = "tool", frame: str = "world"
    ) -> FloatArray:
        """dJ/dt (..., 6, nv) at q (..., nq) and qd (..., nv); ``link`` and ``frame`` as for `jacobian`."""
        return self.kernel("jacobian_dot", link=link, frame=frame)(q, qd)  # type: ignore[no-any-return]

    @compiled
    def motion(self, q: npt.ArrayLike, qd: npt.ArrayLike, qdd: npt.ArrayLike) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Pose T, velocity matrix W and acceleration matrix H of every link, each (..., L, 4, 4), absolute, world frame.

        A point p = (x, y, z, 1) of link k, in world coordinates, has velocity W[k] p (m/s) and acceleration H[k] p (m/s2).
        """
        return self.kernel("motion")(q, qd, qdd)  # type: ignore[no-any-return]

    def manipulability(
        self, q: npt.ArrayLike, link: int | str = "tool", mask: npt.ArrayLike = "all", measure: str = "volume"
    ) -> FloatArray:
        """Manipulability (...,), the distance from singular positions: see `linkwise.kinematics.manipulability`.

        With loops that of the motions which they allow, per rad/s and m/s of all coordinates together.
        """
        jac = self.jacobian(q, link=link)
        if self.loops:
            jac = jac @ allowed_motions(self, q, "manipulability")
        return linkwise.kinematics.manipulability(jac, mask, measure)

    @compiled
    def frame_velocity(
        self, q: npt.ArrayLike, qd: npt.ArrayLike, link: int | str = "tool", frame: str = "world"
    ) -> FloatArray:
        """Linear and angular velocity (..., 6) of a frame; ``link`` and ``frame`` as for `jacobian`."""
        return self.kernel("frame_velocity", link=link, frame=frame)(q, qd)  # type: ignore[no-any-return]

    @compiled
    def frame_acceleration(
        self, q: npt.ArrayLike, qd: npt.ArrayLike, qdd: npt.ArrayLike, link: int | str = "tool", frame: str = "world"
    ) -> FloatArray:
        """The rate (..., 6) of `frame_velocity`: J qdd + Jd qd."""
        return self.kernel("frame_acceleration", link=link, frame=frame)(q, qd, qdd)  # type: ignore[no-any-return]

    @compiled
    def frame_velocity_derivatives(
        self, q: npt.ArrayLike, qd: npt.ArrayLike, link: int | str = "tool", frame: str = "world"
    ) -> tuple[FloatArray, FloatArray]:
        """Derivatives (..., 6, nv) of `frame_velocity` by q and qd, exact."""
        return self.kernel("frame_velocity_derivatives", link=link, frame=frame)(q, qd)  # type: ignore[no-any-return]

    @compiled
    def frame_acceleration_derivatives(
        self, q: npt.ArrayLike, qd: npt.ArrayLike, qdd: npt.ArrayLike, link: int | str = "tool", frame: str = "world"
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Derivatives (..., 6, nv) of `frame_acceleration` by q, qd and qdd, exact."""
        kernel = self.kernel("frame_acceleration_derivatives", link=link, frame=frame)
        return kernel(q, qd, qdd)  # type: ignore[no-any-return]

    @compiled
    def kinematic_hessian(self, q: npt.ArrayLike, link: int | str = "tool", frame: str = "world") -> FloatArray:
        """Derivative (..., 6, nv, nv) of `jacobian` by q, exact."""
        return self.kernel("kinematic_hessian", link=link, frame=frame)(q)  # type: ignore[no-any-return]

    @compiled
    def kinematic_hessian_product(
        self, q: npt.ArrayLike, weights: npt.ArrayLike, link: int | str = "tool", frame: str = "world"
    ) -> FloatArray:
        """Derivative (..., nv, nv) of J' w by q, w the weights (..., 6) of the rows: force and moment on the frame, held."""
        return self.kernel("kinematic_hessian_product", link=link, frame=frame)(q, weights)  # type: ignore[no-any-return]

    @compiled
    def analytic_jacobian(self, q: npt.ArrayLike, link: int | str = "tool", orientation: str = "rpy") -> FloatArray:
        """Rates of position and orientation per joint velocity (..., 6, nv), or 7 rows for a quaternion, world axes.

        ``orientation`` is ``"rpy"``, ``"zyz"`` or ``"quaternion"``: see `linkwise.kinematics.analytic_jacobian`.
        """
        return self.kernel("analytic_jacobian", link=link, orientation=orientation)(q)  # type: ignore[no-any-return]

    @compiled
    def analytic_jacobian_dot(
        self, q: npt.ArrayLike, qd: npt.ArrayLike, link: int | str = "tool", orientation: str = "rpy"
    ) -> FloatArray:
        """The rate of `analytic_jacobian` at the velocities qd (..., nv)."""
        return self.kernel("analytic_jacobian_dot", link=link, orientation=orientation)(q, qd)  # type: ignore[no-any-return]

    # ── dynamics ──────────────────────────────────────────────────────────────────────────────────

    @compiled
    def inverse_dynamics(
        self, q: npt.ArrayLike, qd: npt.ArrayLike, qdd: npt.ArrayLike, external: External | None = None
    ) -> FloatArray:
        """Efforts tau (..., nv) that a motion takes: links, payload, gravity, rotors, friction, less external help.

        Parameters
        ----------
        q : (..., nq) array_like
            Coordinates, rad or m.
        qd, qdd : (..., nv) array_like
            Velocities and accelerations. The first six of a floating base are the velocity of its origin and its angular
            velocity, in its own axes; the first six efforts are the force and moment on it that the motion takes.
        external : (..., 6) array_like, Wrench, LinkWrenches or mapping, optional
            Force (N) and moment (N m) that act on the tool at its origin, in tool axes; or for each link or the tool, by its
            name, such a wrench in its own axes, or a `Wrench` with axes and a point; or `LinkWrenches`, one on each link.
        """
        return loaded_kernel(self, "inverse_dynamics", external)(q, qd, qdd)  # type: ignore[no-any-return]

    @compiled
    def joint_wrenches(
        self,
        q: npt.ArrayLike,
        qd: npt.ArrayLike,
        qdd: npt.ArrayLike,
        external: External | None = None,
        driven: Any = None,
    ) -> FloatArray:
        """Force and moment (..., L, 6) that each link receives from its parent, constraint forces included.

        The moment is about the world origin, in world axes. Rotor inertia and friction, which act inside a joint, are
        not in it. ``external`` as for `inverse_dynamics`. With loops, ``driven`` as for `actuator_efforts`;
        `linkwise.dynamics.closed_joint_wrenches` has the wrenches in the cut joints too.
        """
        if self.loops or driven is not None:
            closed, name = linkwise.dynamics.closed_joint_wrenches, "joint_wrenches"
            return closed(self, q, qd, qdd, driven, external, name=name).joints
        return loaded_kernel(self, "joint_wrenches", external)(q, qd, qdd)  # type: ignore[no-any-return]

    @compiled
    def mass_matrix(self, q: npt.ArrayLike) -> FloatArray:
        """M (..., nv, nv) at coordinates q (..., nq): the kinetic energy, rotors counted, is qd' M qd / 2.

        Examples
        --------
        >>> from linkwise import robots
        >>> robots.planar_2r().mass_matrix([0.0, 0.0]).round(3).tolist()
        [[2.667, 0.833], [0.833, 0.333]]
        """
        return self.kernel("mass_matrix")(q)  # type: ignore[no-any-return]

    @compiled
    def inverse_mass_matrix(self, q: npt.ArrayLike) -> FloatArray:
        """The inverse (..., nv, nv) of `mass_matrix`: accelerations per unit of effort.

        Raises
        ------
        ModelError
            Where a joint can move without moving any inertia.
        """
        return self.kernel("inverse_mass_matrix")(q)  # type: ignore[no-any-return]

    @compiled
    def coriolis_matrix(self, q: npt.ArrayLike, qd: npt.ArrayLike) -> FloatArray:
        """C (..., nv, nv) in Christoffel form: C qd are the Coriolis and centrifugal efforts, dM/dt - 2C is skew.

        Examples
        --------
        >>> import numpy as np
        >>> from linkwise import robots
        >>> robots.planar_2r().coriolis_matrix([0.0, np.pi / 2], [1.0, 0.0]).round(3).tolist()
        [[0.0, -0.5], [0.5, 0.0]]
        """
        return self.kernel("coriolis_matrix")(q, qd)  # type: ignore[no-any-return]

    @compiled
    def gravity_torque(self, q: npt.ArrayLike, external: External | None = None) -> FloatArray:
        """Efforts (..., nv) that hold the mechanism at rest at coordinates q (..., nq).

        ``external`` as for `inverse_dynamics`: what it does at the joints is taken off.
        """
        return loaded_kernel(self, "gravity_torque", external)(q)  # type: ignore[no-any-return]

    @compiled
    def bias_torque(self, q: npt.ArrayLike, qd: npt.ArrayLike) -> FloatArray:
        """C qd + g (..., nv): the part of `inverse_dynamics` besides M qdd and friction."""
        return self.kernel("bias_torque")(q, qd)  # type: ignore[no-any-return]

    @compiled
    def friction_torque(self, qd: npt.ArrayLike) -> FloatArray:
        """Friction (..., nv) that the motors must overcome at velocities qd (..., nv): see `Motor`."""
        return self.kernel("friction_torque")(qd)  # type: ignore[no-any-return]

    @compiled
    def spring_torque(self, q: npt.ArrayLike, qd: npt.ArrayLike) -> FloatArray:
        """Efforts of springs, dampers and end stops (..., nv), which the motors must supply: see `Spring`."""
        return self.kernel("spring_torque")(q, qd)  # type: ignore[no-any-return]

    @compiled
    def forward_dynamics(
        self, q: npt.ArrayLike, qd: npt.ArrayLike, tau: npt.ArrayLike, external: External | None = None
    ) -> FloatArray:
        """Accelerations qdd (..., nv) under the efforts tau (..., nv) of the motors, gravity and friction.

        ``external`` as for `inverse_dynamics`. Loops stay closed; NaN where they are open, or in a singular position.

        Raises
        ------
        ModelError
            Where a joint can move without moving any inertia: its acceleration is not defined.

        Examples
        --------
        >>> from linkwise import robots
        >>> arm, q, qd = robots.planar_2r(), [0.1, 0.2], [0.3, 0.4]
        >>> qdd = arm.forward_dynamics(q, qd, [20.0, 5.0])
        >>> arm.inverse_dynamics(q, qd, qdd).round(9).tolist()
        [20.0, 5.0]
        """
        return loaded_kernel(self, "forward_dynamics", external)(q, qd, tau)  # type: ignore[no-any-return]

    @compiled
    def constraint_forces(
        self, q: npt.ArrayLike, qd: npt.ArrayLike, tau: npt.ArrayLike, external: External | None = None
    ) -> FloatArray:
        """Force and moment (..., K) that the second link of each loop receives from the first, in F1's axes, N and N m.

        ``external`` as for `inverse_dynamics`.
        """
        return loaded_kernel(self, "constraint_forces", external)(q, qd, tau)  # type: ignore[no-any-return]

    def actuator_efforts(
        self,
        q: npt.ArrayLike,
        qd: npt.ArrayLike,
        qdd: npt.ArrayLike,
        driven: Any = None,
        external: External | None = None,
    ) -> FloatArray:
        """Efforts (..., nv) with loops closed, zero where not driven: see `linkwise.dynamics.closed_inverse_dynamics`."""
        return linkwise.dynamics.closed_inverse_dynamics(self, q, qd, qdd, driven, external, name="actuator_efforts")[0]

    @compiled
    def inverse_dynamics_derivatives(
        self,
        q: npt.ArrayLike,
        qd: npt.ArrayLike,
        qdd: npt.ArrayLike,
        external: External | None = None,
        driven: Any = None,
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Derivatives d tau/dq, d tau/dqd and d tau/dqdd = M, each (..., nv, nv), exact.

        With a floating base dq is a small motion in the base's own axes, as `integrate` takes it. Coulomb friction, which
        jumps, adds nothing. ``external`` is as for `inverse_dynamics`, and held. With loops they are of the efforts of the
        ``driven`` coordinates, by these, each (..., m, m): see `linkwise.dynamics.closed_inverse_dynamics_derivatives`.

        Examples
        --------
        >>> from linkwise import robots
        >>> by_q, by_qd, mass = robots.planar_2r().inverse_dynamics_derivatives([0.0, 0.0], [0.0, 0.0], [0.0, 0.0])
        >>> by_qd.shape, mass.round(3).tolist()
        ((2, 2), [[2.667, 0.833], [0.833, 0.333]])
        """
        if self.loops or driven is not None:
            closed, name = linkwise.dynamics.closed_inverse_dynamics_derivatives, "inverse_dynamics_derivatives"
            return closed(self, q, qd, qdd, driven, external, name=name)
        return loaded_kernel(self, "inverse_dynamics", external, "_derivatives")(q, qd, qdd)  # type: ignore[no-any-return]

    @compiled
    def forward_dynamics_derivatives(
        self, q: npt.ArrayLike, qd: npt.ArrayLike, tau: npt.ArrayLike, external: External | None = None
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Derivatives d qdd/dq, d qdd/dqd and d qdd/dtau = inverse(M), each (..., nv, nv), exact.

        dq and ``external`` are as in `inverse_dynamics_derivatives`. With loops all coordinates are counted, and the forces
        that close the loops change too: the first two hold for motions dq and changes dqd that keep them closed; NaN where
        `forward_dynamics` is. `linearize` has them in independent coordinates.
        """
        return loaded_kernel(self, "forward_dynamics", external, "_derivatives")(q, qd, tau)  # type: ignore[no-any-return]

    @compiled
    def inverse_dynamics_second_derivatives(
        self, q: npt.ArrayLike, qd: npt.ArrayLike, qdd: npt.ArrayLike, driven: Any = None
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Second derivatives (..., nv, nv, nv) of the efforts by q and q, q and qd, qd and qd, and of M by q, exact.

        With loops, (..., m, m, m) of and by the driven coordinates: see
        `linkwise.dynamics.closed_inverse_dynamics_second_derivatives`.
        """
        if self.loops or driven is not None:
            return linkwise.dynamics.closed_inverse_dynamics_second_derivatives(self, q, qd, qdd, driven)
        return self.kernel("inverse_dynamics_second_derivatives")(q, qd, qdd)  # type: ignore[no-any-return]

    @compiled
    def forward_dynamics_second_derivatives(
        self, q: npt.ArrayLike, qd: npt.ArrayLike, tau: npt.ArrayLike
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Second derivatives (..., nv, nv, nv) of the accelerations by q and q, q and qd, qd and qd, tau and q, exact."""
        return self.kernel("forward_dynamics_second_derivatives")(q, qd, tau)  # type: ignore[no-any-return]

    @compiled
    def inverse_dynamics_hessian_product(
        self, q: npt.ArrayLike, qd: npt.ArrayLike, qdd: npt.ArrayLike, weights: npt.ArrayLike, driven: Any = None
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Second derivatives (..., nv, nv) of the sum of weights (..., nv) times the efforts, by q and q and so on.

        With loops, of the driven coordinates, weights (..., m) too: see `inverse_dynamics_second_derivatives`.
        """
        if self.loops or driven is not None:
            return linkwise.dynamics.closed_inverse_dynamics_hessian_product(self, q, qd, qdd, weights, driven)
        return self.kernel("inverse_dynamics_hessian_product")(q, qd, qdd, weights)  # type: ignore[no-any-return]

    @compiled
    def forward_dynamics_hessian_product(
        self, q: npt.ArrayLike, qd: npt.ArrayLike, tau: npt.ArrayLike, weights: npt.ArrayLike
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Second derivatives (..., nv, nv) of the sum of weights (..., nv) times the accelerations, exact."""
        return self.kernel("forward_dynamics_hessian_product")(q, qd, tau, weights)  # type: ignore[no-any-return]

    @compiled
    def kinetic_energy(self, q: npt.ArrayLike, qd: npt.ArrayLike) -> FloatArray:
        """Kinetic energy (...,), J, of links, payload and rotors."""
        return self.kernel("kinetic_energy")(q, qd)  # type: ignore[no-any-return]

    @compiled
    def potential_energy(self, q: npt.ArrayLike) -> FloatArray:
        """Potential energy (...,), J, in gravity, zero with all mass at the world origin; and that of springs."""
        return self.kernel("potential_energy")(q)  # type: ignore[no-any-return]

    @compiled
    def momentum(self, q: npt.ArrayLike, qd: npt.ArrayLike, about: str = "origin") -> FloatArray:
        """Linear and angular momentum (..., 6), kg m/s and kg m2/s, world axes.

        The angular part is about the world origin, or with ``about="com"`` about the centre of mass.

        Examples
        --------
        >>> from linkwise import robots
        >>> (robots.planar_2r().momentum([0.0, 0.0], [1.0, 0.0]).round(3) + 0.0).tolist()
        [0.0, 2.0, 0.0, 0.0, 0.0, 2.667]
        """
        return self.kernel("momentum", about=about)(q, qd)  # type: ignore[no-any-return]

    @compiled
    def momentum_dot(self, q: npt.ArrayLike, qd: npt.ArrayLike, qdd: npt.ArrayLike, about: str = "origin") -> FloatArray:
        """The rate (..., 6) of `momentum`, N and N m: all that acts on the mechanism from outside, gravity included."""
        return self.kernel("momentum_dot", about=about)(q, qd, qdd)  # type: ignore[no-any-return]

    @compiled
    def center_of_mass(self, q: npt.ArrayLike, link: int | str = "base") -> FloatArray:
        """Centre of mass (..., 3) of all links and the payload, or of a link and all that it carries, m, world frame."""
        return self.kernel("center_of_mass", link=link)(q)  # type: ignore[no-any-return]

    @compiled
    def center_of_mass_jacobian(self, q: npt.ArrayLike, link: int | str = "base") -> FloatArray:
        """Velocity of the centre of mass per joint velocity (..., 3, nv), world axes; ``link`` as for `center_of_mass`."""
        return self.kernel("center_of_mass_jacobian", link=link)(q)  # type: ignore[no-any-return]

    @compiled
    def centroidal_momentum_matrix(self, q: npt.ArrayLike) -> FloatArray:
        """Momentum about the centre of mass per joint velocity (..., 6, nv), linear rows first, world axes."""
        return self.kernel("centroidal_momentum_matrix")(q)  # type: ignore[no-any-return]

    @compiled
    def centroidal_momentum_matrix_dot(self, q: npt.ArrayLike, qd: npt.ArrayLike) -> FloatArray:
        """The rate (..., 6, nv) of `centroidal_momentum_matrix`."""
        return self.kernel("centroidal_momentum_matrix_dot")(q, qd)  # type: ignore[no-any-return]

    @compiled
    def centroidal_momentum_derivatives(
        self, q: npt.ArrayLike, qd: npt.ArrayLike, qdd: npt.ArrayLike
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Derivatives (..., 6, nv) of the centroidal momentum by q, and of its rate by q, qd and qdd."""
        return self.kernel("centroidal_momentum_derivatives")(q, qd, qdd)  # type: ignore[no-any-return]

    @compiled
    def base_wrench(self, q: npt.ArrayLike, qd: npt.ArrayLike, qdd: npt.ArrayLike) -> FloatArray:
        """Force and moment (..., 6) that the base receives from the ground, at its origin, in its axes, N and N m."""
        return self.kernel("base_wrench")(q, qd, qdd)  # type: ignore[no-any-return]

    def operational_space_inertia(
        self, q: npt.ArrayLike, link: int | str = "tool", frame: str = "world", mask: npt.ArrayLike = "all"
    ) -> FloatArray:
        """Inertia (..., k, k) that a frame shows to a force and moment on it: inverse(J inverse(M) J').

        ``link`` and ``frame`` as for `jacobian`, ``mask`` as for `manipulability`; see
        `linkwise.dynamics.operational_space_inertia` for what it is at a singular position.

        Examples
        --------
        >>> import numpy as np
        >>> from linkwise import robots
        >>> arm = robots.planar_2r()
        >>> arm.operational_space_inertia([0.0, np.pi / 2], mask="translation")[:2, :2].round(3).tolist()
        [[0.333, 0.0], [0.0, 1.333]]
        """
        rows_of(mask)
        if self.loops:
            inverse = closed_inverse_inertia(self, q, link, frame)
        else:
            inverse = self.kernel("inverse_operational_space_inertia", link=link, frame=frame)(q)
        return linkwise.dynamics.operational_space_inertia(inverse, mask)

    # ── parameters and equations ───────────────────────────────────────────────────────────────────

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """Names (P,) of the inertial parameters, ``"XX2"`` that of the second link: see `linkwise.model.parameters`."""
        return linkwise.dynamics.parameter_names(self)

    @property
    def parameters(self) -> FloatArray:
        """Values (P,) of the inertial parameters, with tau = regressor @ parameters."""
        return linkwise.dynamics.parameter_values(self)

    @compiled
    def regressor(self, q: npt.ArrayLike, qd: npt.ArrayLike, qdd: npt.ArrayLike, driven: Any = None) -> FloatArray:
        """Y (..., nv, P), with `inverse_dynamics` = Y @ `parameters`, springs and their inertias left out.

        With loops, `actuator_efforts` of as many ``driven`` coordinates as there are degrees of freedom: see
        `linkwise.dynamics.closed_regressor`.

        Examples
        --------
        >>> import numpy as np
        >>> from linkwise import robots
        >>> arm, q, qd, qdd = robots.planar_2r(), [0.1, 0.2], [0.3, 0.4], [0.5, 0.6]
        >>> np.allclose(arm.regressor(q, qd, qdd) @ arm.parameters, arm.inverse_dynamics(q, qd, qdd))
        True
        """
        if self.loops or driven is not None:
            return linkwise.dynamics.closed_regressor(self, q, qd, qdd, driven, name="regressor")
        return self.kernel("regressor")(q, qd, qdd)  # type: ignore[no-any-return]

    @compiled
    def gravity_regressor(self, q: npt.ArrayLike, driven: Any = None) -> FloatArray:
        """Y (..., nv, P), with `gravity_torque` = Y @ `parameters`; with loops, that of `regressor` at rest."""
        if self.loops or driven is not None:
            return linkwise.dynamics.closed_gravity_regressor(self, q, driven)
        return self.kernel("gravity_regressor")(q)  # type: ignore[no-any-return]

    @compiled
    def momentum_regressor(self, q: npt.ArrayLike, qd: npt.ArrayLike, driven: Any = None) -> FloatArray:
        """Y (..., nv, P), with `mass_matrix` @ qd = Y @ `parameters`, inertias of springs left out.

        With loops, the momentum of as many ``driven`` coordinates as there are degrees of freedom: see
        `linkwise.dynamics.closed_momentum_regressor`.
        """
        if self.loops or driven is not None:
            return linkwise.dynamics.closed_momentum_regressor(self, q, qd, driven)
        return self.kernel("momentum_regressor")(q, qd)  # type: ignore[no-any-return]

    @compiled
    def energy_regressor(self, q: npt.ArrayLike, qd: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Rows (..., P), with kinetic and potential energy = row @ `parameters`, springs left out."""
        return self.kernel("energy_regressor")(q, qd)  # type: ignore[no-any-return]

    @compiled
    def center_of_mass_regressor(self, q: npt.ArrayLike) -> FloatArray:
        """Y (..., 3, P), with `center_of_mass` = Y @ `parameters` for the mass that the mechanism has."""
        return self.kernel("center_of_mass_regressor")(q)  # type: ignore[no-any-return]

    def equations(self, form: str | None = None, driven: Sequence[str] | None = None) -> Equations:
        """M(q) qdd + C(q, qd) qd + g(q) + friction = tau, explicit, as SymPy matrices.

        The form, what can be read and what can be written are described in `linkwise.equations.Equations`. With loops it
        is "minimal", in the driven coordinates alone, wherever one or two planar loops are closed by circles and lines,
        else "multipliers": see `MinimalEquations` and `MultiplierEquations` of `linkwise.equations.closed_loops`.

        Examples
        --------
        >>> from linkwise import robots
        >>> robots.planar_2r().equations().M[0, 0]
        cos(q2) + 1.66666666666667
        """
        from linkwise.equations.closed_loops import equations_of

        return equations_of(self, form, driven)

    # ── functions of other modules ────────────────────────────────────────────────────────────────

    base_bodies = linkwise.dynamics.base_bodies
    base_forms = linkwise.dynamics.base_forms
    base_parameters = linkwise.dynamics.base_parameters
    dynamic_manipulability = linkwise.dynamics.dynamic_manipulability
    linearize = linkwise.dynamics.linearize
    modes = linkwise.dynamics.modes
    operational_space_dynamics = linkwise.dynamics.operational_space_dynamics
    reduced_mass_matrix = linkwise.dynamics.reduced_mass_matrix
    spatial_operators = linkwise.dynamics.spatial_operators
    static_equilibrium = linkwise.dynamics.static_equilibrium
    random_configuration = linkwise.kinematics.random_configuration

    # ── the same of packages that are imported when they are first called ─────────────────────────

    if TYPE_CHECKING:
        derive = symbolic_derivation
        inverse_kinematics = pose_inverse_kinematics
        all_inverse_kinematics = linkwise.inverse_kinematics.all_inverse_kinematics
        configuration_labels = linkwise.inverse_kinematics.configuration_labels
        explain_solver = linkwise.inverse_kinematics.explain_solver
        follow_path = linkwise.inverse_kinematics.follow_path
        joint_velocities = linkwise.inverse_kinematics.joint_velocities
        joint_accelerations = linkwise.inverse_kinematics.joint_accelerations
        solve = linkwise.solve.solve
        clearance = linkwise.clearance.clearance
        plan = linkwise.clearance.plan
        mobility = linkwise.loops.mobility
        workspace = linkwise.workspace.workspace
        draw = linkwise.view.draw
        animate = linkwise.view.animate
        browse = linkwise.view.browse
    else:
        inverse_kinematics = all_inverse_kinematics = LazyMethod("linkwise.inverse_kinematics")
        configuration_labels = explain_solver = follow_path = LazyMethod("linkwise.inverse_kinematics")
        joint_velocities = joint_accelerations = LazyMethod("linkwise.inverse_kinematics")
        derive = LazyMethod("linkwise.equations.derive")
        solve = LazyMethod("linkwise.solve")
        clearance = plan = LazyMethod("linkwise.clearance")
        mobility = LazyMethod("linkwise.loops")
        workspace = LazyMethod("linkwise.workspace")
        draw = animate = browse = LazyMethod("linkwise.view")

    def linkage(
        self, driven: Sequence[int | str] | None = None, q0: npt.ArrayLike | None = None, seed: int = 0
    ) -> linkwise.loops.Linkage:
        """The mechanism driven through its loops by some of its coordinates: see `linkwise.loops.Linkage`.

        Examples
        --------
        >>> from linkwise import robots
        >>> robots.four_bar().linkage(["crank"]).passive
        ('coupler', 'rocker')
        """
        return linkwise.loops.Linkage(self, driven, q0, seed)

    # ── configurations ────────────────────────────────────────────────────────────────────────────

    @partial(compiled, unless=many_joints.goes_over_joints)
    def integrate(self, q: npt.ArrayLike, qd: npt.ArrayLike, dt: npt.ArrayLike = 1.0) -> FloatArray:
        """Coordinates (..., nq) after the time dt (...,), s, at constant velocities qd (..., nv); quaternions stay unit.

        Examples
        --------
        >>> import numpy as np
        >>> from linkwise import Link, Mechanism
        >>> craft = Mechanism([Link(joint="fixed", mass=1.0)], floating=True)
        >>> craft.integrate(craft.neutral, [1.0, 0, 0, 0, 0, np.pi], 1.0).round(3).tolist()
        [0.0, 0.637, 0.0, 0.0, 0.0, 0.0, 1.0]
        """
        if many_joints.goes_over_joints(self, (q, qd, dt)):
            return many_joints.integrate(self, q, qd, dt)  # type: ignore[no-any-return]
        return self.kernel("integrate")(q, qd, dt)  # type: ignore[no-any-return]

    @partial(compiled, unless=many_joints.goes_over_joints)
    def difference(self, q0: npt.ArrayLike, q1: npt.ArrayLike) -> FloatArray:
        """Velocities (..., nv) that lead from q0 to q1 (..., nq) in one second: the inverse of `integrate`."""
        if many_joints.goes_over_joints(self, (q0, q1)):
            return many_joints.difference(self, q0, q1)  # type: ignore[no-any-return]
        return self.kernel("difference")(q0, q1)  # type: ignore[no-any-return]

    @compiled
    def integrate_derivatives(
        self, q: npt.ArrayLike, qd: npt.ArrayLike, dt: npt.ArrayLike = 1.0
    ) -> tuple[FloatArray, FloatArray]:
        """Derivatives (..., nv, nv) of `integrate` by small motions of q and by qd."""
        return self.kernel("integrate_derivatives")(q, qd, dt)  # type: ignore[no-any-return]

    @compiled
    def difference_derivatives(self, q0: npt.ArrayLike, q1: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Derivatives (..., nv, nv) of `difference` by small motions of q0 and of q1."""
        return self.kernel("difference_derivatives")(q0, q1)  # type: ignore[no-any-return]

    @partial(compiled, unless=many_joints.goes_over_joints)
    def interpolate(self, q0: npt.ArrayLike, q1: npt.ArrayLike, s: npt.ArrayLike) -> FloatArray:
        """Coordinates (..., nq) at the shares s (...,) of the path from q0 to q1 (..., nq) at constant velocities.

        Examples
        --------
        >>> from linkwise import robots
        >>> robots.planar_2r().interpolate([0.0, 0.0], [1.0, -2.0], [0.0, 0.25, 1.0]).tolist()
        [[0.0, 0.0], [0.25, -0.5], [1.0, -2.0]]
        """
        if many_joints.goes_over_joints(self, (q0, q1, s)):
            return self.integrate(q0, self.difference(q0, q1), s)
        return self.kernel("interpolate")(q0, q1, s)  # type: ignore[no-any-return]

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle so that a process that receives it again, or an equal one, keeps a single one with its kernels."""
        make = super().__reduce__
        return self.memo("model", "reduced", lambda: interned(None if self.symbols else digest(self, self.shapes), *make()))

    def __repr__(self) -> str:
        return mechanism_tables.text(self)

    def _repr_html_(self) -> str:
        return mechanism_tables.html(self)
