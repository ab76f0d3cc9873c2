"""A tree of many joints, like a person: a trunk, two legs, two arms with hands, and a head."""

from functools import cache

import linkwise as lw

QUARTER = 1.5707963267948966

BRANCHES = {"left_leg": ("trunk2", 5), "right_leg": ("trunk2", 5), "left_arm": ("trunk3", 7), "right_arm": ("trunk3", 7)}


@cache
def person() -> lw.Mechanism:
    """Thirty revolute joints: three in the trunk, three in the neck, five in a leg, seven in an arm."""
    links = [_link(f"trunk{k}", None if k == 1 else f"trunk{k - 1}", 0.15, k) for k in (1, 2, 3)]
    links += [_link(f"neck{k}", "trunk3" if k == 1 else f"neck{k - 1}", 0.06, k) for k in (1, 2, 3)]
    for number, (name, (root, count)) in enumerate(BRANCHES.items()):
        for k in range(1, count + 1):
            side = (0.18 if number % 2 else -0.18) if k == 1 else 0.0
            links.append(_link(f"{name}{k}", root if k == 1 else f"{name}{k - 1}", 0.12, k, side))
    return lw.Mechanism(links, name="person", tool_link="right_arm7")


def _link(name: str, parent: str | None, length: float, k: int, side: float = 0.0) -> lw.Link:
    from linkwise.spatial.rotation import rotation_x
    from linkwise.spatial.transform import transform

    turned = rotation_x(QUARTER if k % 2 else -QUARTER)
    limits = (-2.5, 2.5)
    return lw.Link(
        before=transform(turned, (0.0, side, length)), name=name, parent=parent, limits=limits, mass=1.0, inertia=0.01
    )
