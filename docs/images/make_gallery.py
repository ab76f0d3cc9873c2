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
        "A PUMA 560 on its way, the path of its tool in the colours of its speed.",
    ),
    Shown(
        "Where it moves well",
        "26_pictures.py",
        "out/pictures/joints.png",
        "gallery_joints.png",
        "Manipulability of a PUMA 560 over two of its joints: dark where it is near a singular posture.",
    ),
    Shown(
        "A leg that walks",
        "15_closed_loops.py",
        "out/jansen_foot.png",
        "gallery_jansen_foot.png",
        "Theo Jansen's leg over a turn of its crank: eleven bars, one degree of freedom, and the way of the foot.",
    ),
    Shown(
        "Planar links, step by step",
        "25_planar_chains.py",
        "out/planar_chain.png",
        "gallery_planar_chain.png",
        "Three links, each turned by 45 degrees from the one before, as LaValle's book builds them up.",
    ),
    Shown(
        "A configuration space",
        "25_planar_chains.py",
        "out/planar_configuration_space.png",
        "gallery_configuration_space.png",
        "Two links among obstacles: every posture is a point, and the way leads through those that touch nothing.",
    ),
    Shown(
        "A straight line",
        "07_trajectories.py",
        "out/ur5_straight_line.png",
        "gallery_straight_line.png",
        "A UR5 draws a straight line: joints, speeds, accelerations, and the efforts that it takes.",
    ),
    Shown(
        "A controller that knows its arm",
        "08_computed_torque.py",
        "out/computed_torque.png",
        "gallery_computed_torque.png",
        "Computed torque on a PUMA 560 that carries 2.5 kg of which the controller knows nothing, at three bandwidths.",
    ),
    Shown(
        "Masses from measurements",
        "09_identify_puma.py",
        "out/identification.png",
        "gallery_identification.png",
        "Torques of six joints, measured with noise, beside those of the parameters identified from another motion.",
    ),
    Shown(
        "Near a singular position",
        "16_velocity_control.py",
        "out/velocity_control.png",
        "gallery_velocity_control.png",
        "Joint speeds without damping, with it, and along the path at the speed that the joints allow.",
    ),
    Shown(
        "Two bodies afloat",
        "13_floating_body.py",
        "out/floating_body.png",
        "gallery_floating_body.png",
        "SpaceLib's program TEST as it is printed, and mended.",
    ),
    Shown(
        "A target that moves",
        "17_follow_a_moving_target.py",
        "out/follow_a_moving_target.png",
        "follow_a_moving_target.png",
        "By solved values a tool is a cycle late; by predicted ones it is there in time.",
    ),
    Shown(
        "A crane on a ship",
        "18_crane_on_a_ship.py",
        "out/crane_on_a_ship.png",
        "crane_on_a_ship.png",
        "The hook stands still while the ship rolls, pitches and heaves.",
    ),
    Shown(
        "A crank press",
        "19_press.py",
        "out/press.png",
        "press.png",
        "With and without a greatest speed and acceleration of its ram.",
    ),
    Shown(
        "A joystick",
        "20_joystick_jog.py",
        "out/joystick_jog.png",
        "joystick_jog.png",
        "An arm jogged by hand until its elbow is at its limit.",
    ),
)


def page() -> str:
    """The text of the page."""
    made = ["# Gallery", ""]
    made += ["<!-- Written by docs/images/make_gallery.py; a test compares the two. Do not edit. -->", ""]
    made += [
        "Each picture is what an example draws, in a folder `out`, when it runs: `python examples/26_pictures.py`. How to",
        "draw your own mechanism is on [the page about pictures](pictures.md).",
    ]
    for shown in GALLERY:
        made += ["", f"## {shown.title}", "", f"![{shown.line}](images/{shown.picture})", ""]
        made += [f"{shown.line} [{shown.example}](../examples/{shown.example})"]
    return "\n".join(made) + "\n"


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
