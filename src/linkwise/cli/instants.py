"""For programs what the tables of a few instants tell people: every joint and every link at each of them."""

from __future__ import annotations

from typing import Any

from linkwise.cli.columns import joint_columns
from linkwise.cli.results import Results
from linkwise.model.tree import Tree
from linkwise.spatial.rotation import rotation_to_rpy
from linkwise.spatial.scalar import FloatArray


def instants(tree: Tree, results: Results) -> list[dict[str, Any]]:
    """Say of each instant the time, the joints by name, the links by name, and the base where it floats; SI and rad.

    Vectors of links are in the axes of the world, moments about the joint, ``rpy`` is roll, pitch, yaw.
    """
    return [_instant(tree, results, row) for row in range(len(results.t))]


def _instant(tree: Tree, results: Results, row: int) -> dict[str, Any]:
    joints = {
        name: {
            "position": results.q[row, k],
            "speed": results.qd[row, v],
            "acceleration": results.qdd[row, v],
            "effort": results.tau[row, v],
        }
        for name, _, k, v in joint_columns(tree)
    }
    links = {name: _link(results, row, k) for k, name in enumerate(tree.link_names)}
    base = {"base": _base(results.q[row], results.qd[row], results.qdd[row], results.tau[row])} if tree.floating else {}
    return {"t": results.t[row], **base, "joints": joints, "links": links}


def _link(results: Results, row: int, k: int) -> dict[str, Any]:
    return {
        "position": results.positions[row, k],
        "rpy": rotation_to_rpy(results.T[row, k, :3, :3]),
        "velocity": results.velocities[row, k],
        "angular_velocity": results.angular_velocities[row, k],
        "acceleration": results.accelerations[row, k],
        "angular_acceleration": results.angular_accelerations[row, k],
        "force": results.forces[row, k],
        "moment": results.joint_moments[row, k],
    }


def _base(q: FloatArray, qd: FloatArray, qdd: FloatArray, tau: FloatArray) -> dict[str, Any]:
    """The base's place in the base frame, all else in its own axes."""
    return {
        "position": q[:3],
        "quaternion": q[3:7],
        "velocity": qd[:3],
        "angular_velocity": qd[3:6],
        "acceleration": qdd[:3],
        "angular_acceleration": qdd[3:6],
        "force": tau[:3],
        "moment": tau[3:6],
    }
