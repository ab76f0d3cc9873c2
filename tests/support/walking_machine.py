"""A walking machine of 30 joints, as large as a person: a tree for pictures and for what must be quick with many joints."""

import numpy as np

import linkwise as lw


def at(x: float = 0.0, y: float = 0.0, z: float = 0.0) -> np.ndarray:
    place = np.eye(4)
    place[:3, 3] = x, y, z
    return place


def person(*, floating: bool = False) -> lw.Mechanism:
    turn = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1)}
    rows = [
        ("pelvis", "base", "y", at(z=0.9)),
        ("waist", "pelvis", "z", at(z=0.05)),
        ("spine", "waist", "y", at(z=0.1)),
        ("chest", "spine", "x", at(z=0.2)),
        ("neck", "chest", "z", at(z=0.2)),
        ("nod", "neck", "y", at(z=0.05)),
        ("head", "nod", None, at(z=0.15)),
    ]
    for side, y in (("left", 1.0), ("right", -1.0)):
        arm = (
            ("shoulder", "y", at(y=0.18 * y, z=0.15)),
            ("lift", "x", at()),
            ("turn", "z", at()),
            ("elbow", "y", at(z=-0.28)),
        )
        arm += (("twist", "z", at(z=-0.25)), ("wrist", "y", at()), ("hand", None, at(z=-0.1)))
        leg = (("hip", "z", at(y=0.1 * y)), ("spread", "x", at()), ("swing", "y", at()), ("knee", "y", at(z=-0.42)))
        leg += (("ankle", "y", at(z=-0.42)), ("roll", "x", at()), ("foot", None, at(x=0.15, z=-0.05)))
        for first, chain in (("chest", arm), ("pelvis", leg)):
            before = first
            for name, axis, place in chain:
                rows.append((f"{side} {name}", before, axis, place))
                before = f"{side} {name}"
    links = [
        lw.Link(name=name, parent=parent, joint="revolute", axis=turn[axis], before=place)
        if axis
        else lw.Link(name=name, parent=parent, joint="fixed", before=place)
        for name, parent, axis, place in rows
    ]
    return lw.Mechanism(links, name="person", floating=floating)
