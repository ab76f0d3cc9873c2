"""Two links that float in space, by SpaceLib's programs and by Linkwise's floating base, and what becomes of momentum."""

from pathlib import Path

import numpy as np

import linkwise as lw
from linkwise.errors import MissingExtraError
from linkwise.spacelib.programs import formats, laws
from linkwise.spacelib.programs.floating import read_two_links
from linkwise.spacelib.programs.floating_comparison import compare, names

# Two equal links on one joint, of 10 kg each; both move at 1 m/s, and a motor opens them by 22.4 degrees in a third of a
# second (G. Legnani et al., "SpaceLib for MATLAB, User's Manual", section 7.2).
links = read_two_links(formats.path("TEST.DAT"))
motion = laws.motor_motion(dt=0.002)

# TEST integrates the acceleration of link 1; TEST_NEW puts momentum right at every step; the third is Linkwise's own
# dynamics of a floating base, in which momentum gives the speeds. Errors are against the same with half the step.
found = compare(links, motion, halvings=2)
for name, one in zip(names(found), found, strict=True):
    lost = max(one.linear.max(), one.angular.max())
    print(f"{name:24} {one.distance.max():.1e} m off, momentum changes by {lost:.0e}")

# The listing in the manual adds the acceleration with the wrong sign. No shorter step helps: the forward momentum is lost.
listed = compare(links, motion, as_listed=True)[1].history
print(f"as listed: momentum falls from {listed.momentum[0, 0, 3]:.0f} to {listed.momentum[-1, 0, 3]:.1f} kg m/s")

# The same body described by hand, and let go: without a motor the joint is free, and momentum is kept all the same.
rod = {"mass": 10.0, "com": (1.0, 0.0, 0.0), "inertia": (1.0, 1.0, 1.0)}
free = lw.Mechanism(
    [lw.Link(joint="fixed", name="link1", **rod), lw.Link(name="link2", axis=(0, 0, 1), **rod)],
    floating=True,
    gravity=(0, 0, 0),
)
start = np.concatenate([[1.0, 0.0, 0.0], np.zeros(3), [2.0]])  # along x at 1 m/s, and the joint opens at 2 rad/s
run = lw.simulate(free, free.neutral, start, t=np.linspace(0.0, 1.0, 2001))
drift = np.abs(free.momentum(run.q, run.qd) - free.momentum(run.q[0], run.qd[0])).max()
print(f"free joint: after 1 s at {run.q[-1, -1]:.3f} rad; momentum to {drift:.0e}")
assert drift < 1e-9

try:
    from linkwise.plot.rendering import rendered
    from linkwise.spacelib.programs.floating_comparison import draw

    shown = [one for one in found if one.history.dt == motion.dt]
    picture = rendered(draw(links, shown, names(shown)), "png")
except MissingExtraError as error:
    print(f"no picture: {error}")
else:
    Path("out").mkdir(exist_ok=True)
    Path("out/floating_body.png").write_bytes(picture)
    print("drawn: out/floating_body.png")
