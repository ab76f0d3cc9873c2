"""The numbered examples run as they stand, each in a process of its own, and print sensible things."""

import os
import sys
from pathlib import Path

import pytest

from support.compilers import needs_c

from .conftest import PAGES, ROOT, blocks, commands, same, shell

PRINTED = {
    "01_first_arm.py": "...the tool is at [0.5 1. 0. ]...velocity is [-1. 0.5 0. ] m/s...takes [9.81 9.81] N m\n",
    "02_batch_of_torques.py": "100,000 configurations, ... each\n...[39.6 72.6 21.1 1.9 1.7 1.2] N m\na grid: (50, 20, 6)\n",
    "03_your_own_link_table.py": "my_robot: 3 joints ...takes [15.46 ...link 'elbow': mass is -1.0; expected ...",
    "04_run_a_motion.py": "link1: at most 53.16 N m, ...work 25.49 J, gain of potential energy 25.49 J\n...",
    "05_forces_in_the_joints.py": "...efforts: [114.32 51.03 29.4 ]\nsum of m (a - g): [-78.45 187.9 225.4 ]\n",
    "06_a_kernel_in_c.py": "<Kernel forward_kinematics: q (6,) -> T (4, 4), ...>\nvoid forward_kinematics(const double "
    "q[6], double T[16])\nwrote puma.h\nwrote puma.c\nwrote puma_test.c\n...all good\n"
    "inverse_dynamics_prepare: ...lines'}\n",
    "07_trajectories.py": "quintic       1.12 s, up to 2.63 rad/s, ...trapezoidal   1.12 s, up to 2.00 rad/s, ...",
    "09_identify_puma.py": "condition number: random motion ...% of 58 parameters lie ...\ndrawn: out/identification.png\n",
    "08_computed_torque.py": "payload known , 10 rad/s...explains: [1.1  1.02 1.01]\ndrawn: out/computed_torque.png\n",
    "10_robo_lists.py": "<Robot: 4 links, 2 motors> with ...-2.488 ...link 3: mass is -1.5; ...adds to the mass matrix...",
    "11_equations.py": "<Equations of puma560...terms: 187 in M, 823 in C, 25 in g...written: out/puma560.tex, ...",
    "12_two_descriptions.py": "ur5 and ur5_drawn: kinematics the same, ...pan revolute + 180°...0.39925 m "
    "against 0.39225 m\n...",
    "13_floating_body.py": "TEST, dt = 2 ms          1.0e-03 m off, momentum changes by 3e-01\n"
    "...Linkwise ...momentum falls from 20 to 2.8 kg m/s\nfree joint: after 1 s at 2.707 rad; ...drawn: out/...\n",
    "14_symbolic_two_link.py": "M_{11} &= ...less the book's: Matrix([[0, 0]])\nless the mechanism's: Matrix([[0, 0]])\n"
    "...back: True\nwritten: out/two_link.tex\n",
    "28_cassie_leg.py": "<Mobility: 8 degrees...rests: achilles_rod_wx\nconverged: ...; the tarsus turns by -0.992 rad "
    "per rad of the knee\nprojection loops open by ...e-16 m; 4.461 J to friction, unaccounted ...e-08 J\nbaumgarte...\n"
    "none...\nunder 160 N: shin spring -2.79 deg, heel spring -1.72 deg\n"
    "land heel at 63.9 ms; land toe at 63.9 ms\nloops open by ...e-1... m, unaccounted ...e-... J\n"
    "the heel carries 27 N\ndrawn: out/cassie_leg.png\n",
    "29_vibrating_chain.py": "at rest: [0.1 0.2 0.3 0.4] m; stable: True\nrad/s: [12.3607 23.5114 32.3607 38.0423]\n"
    "off by ...e-16, shapes by ...\nafter three periods of 0.2672 s back to ...\nwithout walls: [ 0. 15.3073 28.2843 "
    "36.9552] rad/s, off by ...e-1...\nneutral: True\n",
    "30_hopper.py": "10 landings, one every 0.633 s\nstands for 0.192 s each, and goes at 0.84 m/s\nthe foot gets ... m "
    "into the ground\nenergy 72.31 J at first, 66.78 J at last; unaccounted ...e-0... J\n",
    "31_humanoid_stance.py": "24 freedoms, 70.0 kg\nstanding: weight less forces ... N, 37.8 N within the cones\ncentre "
    "of pressure less centre of mass ... m\nknees -32.6 N m each\nswaying at -0.13 m/s, ... m/s2: 57 % on the left foot, "
    "27.1 N within the cones\non the left foot alone: no forces within the friction cones hold what floats or is "
    "not driven\nleaning 8.1 degrees: forces right to ... N, 75.7 N within the cones\n",
    "33_whole_body.py": "30 freedoms, 58.6 kg\n0.2 m ahead: converged, hands miss by 0 mm, ...x = 0.140 m\n"
    "0.5 m ahead: converged, "
    "hands miss by 0 mm, ...\n0.9 m ahead: converged, hands miss by 307 mm, ...\n  Posture...\ndrawn: out/whole_body.png\n",
    "32_robot_and_objects.py": "scene: 41 coordinates, 36 velocities, 5 free bodies\nenergy 651.892 J, kept to ...e-... J\n"
    "box1: off its parabola by ...e-1... m, angular momentum by ...box5: ...\nthe arm beside the boxes and alone differ by "
    "... rad\n",
    "15_closed_loops.py": "<Mobility: 1 degree of freedom; ...all closed: True; the foot goes 0.68 m along and 0.22 m up\n"
    "...8 assembly modes; the leg is in mode 2, and stays: {2}\ndelta: arms between -18.2 and 23.4 deg; ...drawn: out/...\n",
    "16_velocity_control.py": "undamped  left ...186.3 rad/s...damped    left ...5.3 rad/s, tool up to  1.1 mm and...\n"
    "slowed    followed ...up to   2.0 rad/s, tool up to  0.0 mm...singular value from 0.303 to 0.436, "
    "<PathSolution: followed...one step: scale 1.00, damping 0.00; <VelocitySolution: (100000,): ...>\n"
    "drawn: out/velocity_control.png\n",
    "17_follow_a_moving_target.py": "theta_solved    5.000 mm behind at 0.5 m/s\npredicted_theta 0.062 mm behind ...\n"
    "ratio 80; the path bends by 0.062 mm in a cycle\ndrawn: out/follow_a_moving_target.png\n",
    "18_crane_on_a_ship.py": "nothing done hook 1799.3... mm away at most, ...\nsolved values hook 14.76... mm ...\n"
    "predicted values hook 0.062 mm ...\nslew ...\nboom up to 95 % ...drawn: out/crane_on_a_ship.png\n",
    "19_press.py": "...crank limited ...: ram up to 0.6... m/s and ...\nram limited too: ram up to 0.400 m/s "
    "and 4.00 m/s2, ...the rod's end stayed at the ram's pin, to ...e-1... m\ndrawn: out/press.png\n",
    "23_lagrange.py": "L = ...tau2 = ...less lagrange_dynamics: [0, 0], ...less inverse_dynamics: [0, 0], ...the same "
    "to ...\n",
    "22_derive.py": "Mass matrix of arm, explicit: ...C = Matrix(...\nM, recursive symbols ...M, harmonic  numbers ..."
    "M, harmonic  numbers significance=0.01 ... off by 0.0... at most\nwritten: out/puma560_inverse_dynamics.tex, ...",
    "20_joystick_jog.py": "tool up to 0.250 of 0.25 m/s, 1.000 of 1.0 m/s2\n"
    "...mostly for the reason 'limit': the elbow at 2.6000 ...\n"
    "d = 0.00 s: the tool is up to 12.5... mm behind its plan\nd = 0.05 s: the tool is up to  1.7... mm ...\n"
    "replayed 880 cycles of ... ports; differing: {}\ndrawn: out/joystick_jog.png\n",
    "21_controller_in_c.py": "in Python: at most 4.0... mrad off the way\nin C:      at most 4.0... mrad off the way\n"
    "2000 cycles at 1 kHz: the law takes ...",
    "24_calibrate.py": "24 errors to find, ...step 0: 3.46... mm\nstep 1: 0.08... mm\n...22 of 24 errors can be ...\n"
    "other poses: 3.47 mm before, 0.089 mm after\n",
    "25_planar_chains.py": "the tip of A3 is at x = 0.0000 m, y = 2.4142 m...= 3 degrees of freedom\nfour-bar: 1 degree of "
    "freedom, open by ...19.4 % occupied;...of 3200 between them 0 collide; 54 mm apart at least\ndrawn: ...\ndrawn: ...\n",
    "26_pictures.py": "the tool goes from [ 0.772 -0.15 0.048] m to [ 0.042 0.479 -0.04 ] m\n"
    "puma: <Animation GIF: 11 frames of 320 x ...>\nleg: <Animation GIF: 16 frames of 320 x ...>\n"
    "drawn: out/pictures\n",
    "27_spacelib_listing.py": "...W04\n 0.0000 -7.8540 0.0000 0.9163\n...\nthe same: True\n",
}


WITHOUT_COMPILER = {
    "06_a_kernel_in_c.py": "...\nno C compiler here: the files are written, and not tried\ninverse_dynamics_prepare: ...",
    "21_controller_in_c.py": "in Python: at most 4.0... mrad off the way\n"
    "no POSIX C compiler here: the sources are in out/controller\n",
}
"""The examples that compile C, and what they print where nothing does."""

WRITTEN = {"04_run_a_motion.py": "puma560_reach.csv"}
"""What an example writes that is kept among the data."""

FONTS = "Matplotlib is building the font cache; this may take a moment.\n"
"""Said once on a new machine, where that takes longer than five seconds."""


def shown(name: str) -> list[str]:
    """What the pages say that an example prints."""
    consoles = [block for page in PAGES for block in blocks(page) if block.language == "console" and block.skipped is None]
    found = [pair for block in consoles for pair in commands(block)]
    return [wanted for command, wanted in found if command.endswith(f" examples/{name}") and wanted.strip()]


def test_what_pages_show_of_examples_is_found() -> None:
    assert any(map(shown, PRINTED))


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=needs_c if name in WITHOUT_COMPILER else ()) for name in sorted(PRINTED)]
)
def test_example_runs(name: str, desk: Path) -> None:
    if name in WRITTEN:
        (desk / WRITTEN[name]).unlink()
    done = shell(f'"{sys.executable}" examples/{name}')
    assert done.returncode == 0, done.stderr
    assert not done.stderr.replace(FONTS, "")
    for wanted in (PRINTED[name], *shown(name)):
        assert same(done.stdout, wanted), done.stdout
    if name in WRITTEN:
        assert (desk / WRITTEN[name]).read_text() == (desk / "examples" / "data" / WRITTEN[name]).read_text()


@pytest.mark.skipif(os.name != "posix", reason="programs are found by PATH alone as on POSIX")
@pytest.mark.parametrize("name", WITHOUT_COMPILER)
def test_example_runs_without_a_compiler(name: str, desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    done = shell(f'"{sys.executable}" examples/{name}')
    assert done.returncode == 0, done.stderr
    assert same(done.stdout, WITHOUT_COMPILER[name]), done.stdout


def test_no_example_is_forgotten() -> None:
    assert {path.name for path in (ROOT / "examples").glob("*.py")} == PRINTED.keys()
