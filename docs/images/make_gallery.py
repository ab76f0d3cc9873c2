"""Write the gallery, and make its pictures by running the examples: ``python docs/images/make_gallery.py [--page]``.

Each example runs in a folder of its own, as a reader runs it; the picture that it leaves in ``out/`` is made as small as a
page needs. With ``--page`` only the page is written. Pictures that other pages show too are drawn by those pages' scripts.
"""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PAGE = HERE.parent / "gallery.md"
WIDTH, MOST = 760, 95_000
"""Pixels across, and bytes at most."""


@dataclass(frozen=True)
class Shown:
    """A picture of the gallery: its heading, the example, the file that it draws, our copy, and a line about it."""

    title: str
    example: str
    drawn: str
    picture: str
    line: str

    @property
    def own(self) -> bool:
        """Whether this script makes the copy."""
        return self.picture.startswith("gallery_")


GALLERY = (
    Shown(
        "A path in space",
        "26_pictures.py",
        "out/pictures/path.png",
        "gallery_path.png",
        "Tool path of a PUMA 560 through a motion, coloured by tool speed.",
    ),
    Shown(
        "Manipulability",
        "26_pictures.py",
        "out/pictures/joints.png",
        "gallery_joints.png",
        "Manipulability of a PUMA 560 over two of its joints; dark regions are near singular configurations.",
    ),
    Shown(
        "A walking leg",
        "15_closed_loops.py",
        "out/jansen_foot.png",
        "gallery_jansen_foot.png",
        "Theo Jansen's leg through one turn of its crank: eleven bars, one degree of freedom, and the path of the foot.",
    ),
    Shown(
        "Planar links, step by step",
        "25_planar_chains.py",
        "out/planar_chain.png",
        "gallery_planar_chain.png",
        "Construction of a chain of three links, each turned by 45 degrees from its parent, as in LaValle's book.",
    ),
    Shown(
        "A configuration space",
        "25_planar_chains.py",
        "out/planar_configuration_space.png",
        "gallery_configuration_space.png",
        "Configuration space of two links among obstacles: each point is a configuration; the path is collision-free.",
    ),
    Shown(
        "A straight line",
        "07_trajectories.py",
        "out/ur5_straight_line.png",
        "gallery_straight_line.png",
        "Joint positions, velocities, accelerations and torques of a UR5 along a straight line.",
    ),
    Shown(
        "Computed-torque control",
        "08_computed_torque.py",
        "out/computed_torque.png",
        "gallery_computed_torque.png",
        "Computed-torque control of a PUMA 560 with an unmodelled payload of 2.5 kg, at three bandwidths.",
    ),
    Shown(
        "Parameter identification",
        "09_identify_puma.py",
        "out/identification.png",
        "gallery_identification.png",
        "Torques of six joints: measured with noise, and predicted by the parameters identified from another motion.",
    ),
    Shown(
        "Near a singular configuration",
        "16_velocity_control.py",
        "out/velocity_control.png",
        "gallery_velocity_control.png",
        "Joint velocities without damping, with damping, and with the path slowed down to the joint velocity limits.",
    ),
    Shown(
        "Two floating bodies",
        "13_floating_body.py",
        "out/floating_body.png",
        "gallery_floating_body.png",
        "SpaceLib's program TEST: as printed in the manual, and corrected.",
    ),
    Shown(
        "A moving target",
        "17_follow_a_moving_target.py",
        "out/follow_a_moving_target.png",
        "follow_a_moving_target.png",
        "Outputs solved for the present are one cycle late; predicted outputs are on time.",
    ),
    Shown(
        "A crane on a ship",
        "18_crane_on_a_ship.py",
        "out/crane_on_a_ship.png",
        "crane_on_a_ship.png",
        "The hook keeps its position in space while the ship rolls, pitches and heaves.",
    ),
    Shown(
        "A crank press",
        "19_press.py",
        "out/press.png",
        "press.png",
        "Motion of the ram with and without limits of its velocity and acceleration.",
    ),
    Shown(
        "Jogging with a joystick",
        "20_joystick_jog.py",
        "out/joystick_jog.png",
        "joystick_jog.png",
        "An arm is jogged until its elbow reaches its limit.",
    ),
)


def page() -> str:
    """The text of the page."""
    lines = ["# Gallery", ""]
    lines += ["<!-- Written by docs/images/make_gallery.py; a test compares the two. Do not edit. -->", ""]
    lines += [
        "Each picture is the output of an example, which writes it to the folder `out`: `python examples/26_pictures.py`.",
        "How to draw other mechanisms is described in [figures and animations](pictures.md).",
    ]
    for shown in GALLERY:
        lines += ["", f"## {shown.title}", "", f"![{shown.line}](images/{shown.picture})", ""]
        lines += [f"{shown.line} [{shown.example}](../examples/{shown.example})"]
    return "\n".join(lines) + "\n"


def small(path: Path) -> bytes:
    """A picture no wider and no larger than the gallery shows it."""
    from PIL import Image

    drawn = Image.open(path).convert("RGB")
    for width in (WIDTH, 660, 560, 460):
        if drawn.width > width:
            drawn = drawn.resize((width, round(drawn.height * width / drawn.width)), Image.Resampling.LANCZOS)
        for colours in (128, 64):
            buffer = io.BytesIO()
            drawn.quantize(colours, dither=Image.Dither.NONE).save(buffer, "png", optimize=True)
            if buffer.tell() <= MOST:
                return buffer.getvalue()
    raise SystemExit(f"{path.name} does not get smaller than {buffer.tell()} bytes")


def main() -> None:
    """Write the page; run the examples and keep their pictures."""
    PAGE.write_text(page(), encoding="utf-8")
    if "--page" in sys.argv:
        return
    wanted = set(sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        desk = Path(folder)
        shutil.copytree(ROOT / "examples" / "data", desk, dirs_exist_ok=True)
        for example in dict.fromkeys(shown.example for shown in GALLERY if shown.own):
            if wanted and example not in wanted:
                continue
            subprocess.run([sys.executable, str(ROOT / "examples" / example)], cwd=desk, check=True)
            for shown in GALLERY:
                if shown.own and shown.example == example:
                    (HERE / shown.picture).write_bytes(small(desk / shown.drawn))


if __name__ == "__main__":
    main()
