"""Animations of a motion in real time: one figure whose artists move, written to a file or shown in a notebook.

Pillow encodes GIF files, ffmpeg MP4 files.
"""

from __future__ import annotations

import base64
import html
import io
import math
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError, LinkwiseError, MissingExtraError, choices, install_hint
from linkwise.files.atomic import write_bytes
from linkwise.model.formatting.table import plain
from linkwise.model.tree import Tree
from linkwise.plot.figure import figure, literal
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import number_within
from linkwise.trajectory.trajectory import Trajectory
from linkwise.view.drawing.painter import FigurePainter
from linkwise.view.drawing.render import SIDE, draw_trace, look_at, positions, space, trim
from linkwise.view.motion import MotionLike, trajectory_of
from linkwise.view.scene.layout import SceneLayout, frames_at, lay_out
from linkwise.view.scene.scene import MANY, build

Pixels = npt.NDArray[np.uint8]

#: Colours of a GIF; the same for all its pictures, so that static parts do not change.
COLOURS = 96

#: Pictures a second in a GIF at most: browsers play those of more at ten a second.
QUICKEST = 50.0


def gif(pictures: Iterable[Pixels], samples: Sequence[Pixels], rate: float) -> bytes:
    """Make a GIF that plays for ever.

    Parameters
    ----------
    pictures : iterable of (height, width, 3) ndarray
        Red, green and blue, one after the other.
    samples : sequence of (height, width, 3) ndarray
        Some of them, by which the colours are chosen.
    rate : float
        Pictures a second. A GIF counts in 1/100 s: each picture stays a whole number of them, such that none is ever more
        than 5 ms early or late.
    """
    from PIL import Image

    palette = _palette(samples)
    frames = [Image.fromarray(picture).quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures]
    buffer = io.BytesIO()
    look: dict[str, Any] = {"loop": 0, "optimize": False, "disposal": 1}
    frames[0].save(buffer, "GIF", save_all=True, append_images=frames[1:], duration=durations(len(frames), rate), **look)
    return buffer.getvalue()


def _palette(samples: Sequence[Pixels]) -> Any:
    """Image with the palette of samples, near-white colours made white: Pillow quantizes colours in steps of four."""
    from PIL import Image

    image = Image.fromarray(np.concatenate(samples)).quantize(COLOURS, method=Image.Quantize.MEDIANCUT)
    colours = np.array(image.getpalette()).reshape(-1, 3)
    colours[colours.min(axis=1) >= 248] = 255
    image.putpalette(colours.astype(np.uint8).tobytes())
    return image


def durations(count: int, rate: float) -> list[int]:
    """Duration of each frame of a GIF, ms, in steps of 10.

    Examples
    --------
    >>> durations(4, 30.0)
    [30, 40, 30, 30]
    """
    ends = [10 * round(100 * k / rate) for k in range(count + 1)]
    return [end - start for start, end in pairwise(ends)]


def mp4(pictures: Iterable[Pixels], rate: float) -> bytes:
    """Make an MP4 (H.264, as every browser plays it) of pictures with even widths and heights.

    Raises
    ------
    MissingExtraError
        Where there is no ffmpeg, neither that of imageio-ffmpeg nor one on the search path.
    LinkwiseError
        Where ffmpeg fails; the message is its own.
    """
    program = ffmpeg()
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as errors:
        path = Path(folder) / "made.mp4"
        process: subprocess.Popen[bytes] | None = None
        try:
            for picture in pictures:
                if process is None:
                    command = [program, *_words(picture.shape[1], picture.shape[0], rate), str(path)]
                    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=errors)
                assert process.stdin is not None
                process.stdin.write(np.ascontiguousarray(picture).tobytes())
        except BrokenPipeError:
            pass  # it has ended; its messages are reported below
        except BaseException:
            if process is not None:
                process.kill()
                process.communicate()
            raise
        if process is None or _ended(process) or not path.is_file():
            errors.seek(0)
            words = errors.read().decode(errors="replace").strip().splitlines()
            raise LinkwiseError(f"ffmpeg wrote no video: {words[-1] if words else 'it was given no picture'}")
        return path.read_bytes()


def _ended(process: subprocess.Popen[bytes]) -> int:
    try:
        process.communicate()
    except BrokenPipeError:
        process.wait()
    return int(process.returncode)


def ffmpeg() -> str:
    """Return the path of the ffmpeg to use.

    Raises
    ------
    MissingExtraError
        Where there is none.
    """
    try:
        import imageio_ffmpeg
    except ImportError:
        path = shutil.which("ffmpeg")
        if path is None:
            raise MissingExtraError(f"an MP4 needs ffmpeg: {install_hint('mp4')}, or write a .gif") from None
        return path
    return str(imageio_ffmpeg.get_ffmpeg_exe())


def _words(width: int, height: int, rate: float) -> list[str]:
    raw = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", f"{rate:.6f}", "-i", "-"]
    encoder = ["-an", "-c:v", "libx264", "-pix_fmt", "yuv420p", "-crf", "20", "-movflags", "+faststart"]
    return ["-y", "-loglevel", "error", *raw, *encoder]


FORMATS = (".gif", ".mp4")

#: Greatest numbers of pictures and pixels: beyond, drawing takes minutes, and the file is too large for viewers.
MOST_PICTURES, MOST_PIXELS = 2_000, 400_000_000

#: The fewest frames per second.
SLOWEST = 0.01

#: Sides of a drawn circle: fewer than in a static picture.
SIDES = 12

#: Pixels an inch below which letters are drawn larger, and below which there is no room for numbers on the axes.
READABLE, SMALL = 58.0, 46.0

#: Postures of a motion by which the view is chosen.
SEEN = 40

#: Least and greatest width of a picture, pixels.
WIDTHS = (120, 1920)


@dataclass(frozen=True, eq=False, repr=False)
class Animation:
    """Moving pictures; a notebook plays them.

    Attributes
    ----------
    data : bytes
        The file.
    suffix : str
        Its format, ``".gif"`` or ``".mp4"``.
    times : ndarray (k,)
        The instant of the motion that each picture shows, s.
    rate : float
        Pictures a second.
    size : tuple of int
        Width and height, pixels.

    Examples
    --------
    >>> import linkwise as lw
    >>> motion = lw.trajectory.quintic([0.0, 0.0], [1.0, -0.5], 0.2)
    >>> made = animate(lw.robots.planar_2r(), motion, rate=10, width=160)
    >>> made.suffix, made.rate, len(made.times), made.size[0]
    ('.gif', 10.0, 3, 160)
    """

    data: bytes
    suffix: str
    times: FloatArray
    rate: float
    size: tuple[int, int]
    name: str = ""

    def save(self, path: str | Path) -> None:
        """Write the file, whole or not at all.

        Raises
        ------
        ArgumentError
            Where the suffix is that of another format.
        FileError
            Where the file cannot be written.
        """
        if Path(path).suffix.lower() != self.suffix:
            raise ArgumentError(f"path is {str(path)!r}; expected one that ends in {self.suffix}, as these pictures do")
        write_bytes(path, [self.data])

    def __repr__(self) -> str:
        width, height = self.size
        shape = f"{len(self.times)} frames of {width} x {height} pixels, {self.rate:g} per second"
        return f"<Animation {self.suffix[1:].upper()}: {shape}, {len(self.data) / 1e3:,.0f} kB>"

    def _repr_html_(self) -> str:
        data, (width, height) = base64.b64encode(self.data).decode(), self.size
        name, place = html.escape(self.name, quote=True), f'width="{width}" height="{height}"'
        if self.suffix == ".gif":
            return f'<img {place} alt="{name} in motion" src="data:image/gif;base64,{data}">'
        return f'<video {place} controls loop src="data:video/mp4;base64,{data}">{name} in motion</video>'


def animate(
    mechanism: Tree,
    motion: MotionLike,
    path: str | Path | None = None,
    *,
    rate: float = 20.0,
    speed: float = 1.0,
    trace: bool = True,
    frames: bool | None = None,
    width: int = 480,
) -> Animation:
    """Animate a motion.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism.
    motion : Trajectory, Motion, str, Path, or tuple
        How: a trajectory, the path of a motion file (.mot, .csv, .npz), ``(t, q)`` or ``(t, q, qd, qdd)``, as
        `linkwise.view.browse` takes it. Between its instants it is interpolated, see `Trajectory.at`.
    path : str or Path, optional
        The file to write, .gif or .mp4, whole or not at all; an .mp4 needs the extra ``mp4`` or ffmpeg.
    rate : float
        Pictures a second; at most 50 in a GIF.
    speed : float
        How many times faster than the motion it is played: 1 is the time it takes, 0.1 ten times slower.
    trace : bool
        Whether the path of the tool is drawn as it goes.
    frames : bool, optional
        Whether each link has the axes of its frame; by default up to 12 links have.
    width : int
        Of the pictures, pixels, 120 to 1920, rounded to an even number; the height follows from what is seen. Those of less
        than about 350 have no numbers on their axes.

    Returns
    -------
    Animation
        With ``save(path)``; a notebook plays it.

    Raises
    ------
    ArgumentError
        For a motion that does not fit, or more pictures than can be looked at: the message says how to have fewer.
    MissingExtraError
        Where matplotlib, or for an .mp4 ffmpeg, is not installed.
    FileError
        Where a file cannot be read or written.

    Examples
    --------
    >>> import linkwise as lw
    >>> arm = lw.robots.planar_2r()
    >>> motion = lw.trajectory.quintic([0.0, 0.0], [1.0, -0.5], 0.2)
    >>> animate(arm, motion, rate=10, width=160).times.tolist()
    [0.0, 0.1, 0.2]
    """
    mechanism.require_numbers("a picture")
    suffix = ".gif" if path is None else Path(path).suffix.lower()
    if suffix not in FORMATS:
        raise ArgumentError(f"path is {str(path)!r}; expected a name that ends in {choices(FORMATS)}")
    width = _checked(suffix, rate, speed, width)
    moves = trajectory_of(mechanism, motion)
    times = instants(moves, rate, speed)
    if suffix == ".mp4":
        ffmpeg()
    q = np.asarray(moves.at(times)[0])
    moving = Moving(mechanism, q, positions(mechanism, q) if trace else None, width=width, frames=frames)
    data, size = _encoded(moving, times, rate, suffix)
    animation = Animation(data, suffix, times, float(rate), size, plain(mechanism.name))
    if path is not None:
        animation.save(path)
    return animation


def instants(motion: Trajectory, rate: float, speed: float) -> FloatArray:
    """The instants (k,) of a motion that are drawn, s: its first, its last, and between them one a picture.

    Raises
    ------
    ArgumentError
        Where they are too many.
    """
    start, end = float(motion.t[0]), float(motion.t[-1])
    between = (end - start) * rate / speed  # (infinite, maybe)
    if between - 1e-9 > MOST_PICTURES - 1:
        fastest, fewest = (end - start) * rate / (MOST_PICTURES - 1), (MOST_PICTURES - 1) * speed / (end - start)
        fewer = f"at fewer frames per second, rate={fewest:.2g}, " if fewest >= SLOWEST else ""
        raise ArgumentError(
            f"the motion of {end - start:g} s needs {between + 1:,.0f} frames; expected at most {MOST_PICTURES:,}: "
            f"play it faster, speed={_rounded_up(fastest)}, {fewer}or animate a part of it, such as trajectory.until(time)"
        )
    count = 1 + math.ceil(between - 1e-9)
    return np.asarray(np.minimum(start + np.arange(count) * (speed / rate), end))


def _rounded_up(value: float) -> str:
    step = 10.0 ** (math.floor(math.log10(value)) - 1)
    return f"{math.ceil(value / step) * step:.6g}"


def _checked(suffix: str, rate: float, speed: float, width: int) -> int:
    """Check the numbers; return the even width."""
    most = QUICKEST if suffix == ".gif" else 240.0
    number_within("rate", rate, SLOWEST, most, f"{SLOWEST:g} to {most:g} frames per second in a {suffix}")
    number_within("speed", speed, math.ulp(0.0), sys.float_info.max, "a number above 0")
    number_within("width", width, *WIDTHS, f"{WIDTHS[0]} to {WIDTHS[1]} pixels")
    return 2 * round(width / 2)


def _encoded(moving: Moving, times: FloatArray, rate: float, suffix: str) -> tuple[bytes, tuple[int, int]]:
    def picture(k: int) -> Pixels:
        moving.show(k, f"t = {times[k]:.2f} s")
        return moving.pixels()

    def pictures() -> Iterator[Pixels]:
        for k in range(len(times)):
            yield picture(k)

    samples = [picture(k) for k in sorted({0, len(times) // 2, len(times) - 1})]
    height, width = samples[0].shape[:2]
    if height * width * len(times) > MOST_PIXELS:
        fitting = MOST_PIXELS / (height * width * len(times))
        raise ArgumentError(
            f"{len(times):,} frames of {width} x {height} pixels are too many; "
            f"expected width={int(width * math.sqrt(fitting))} or less, or fewer frames"
        )
    data = gif(pictures(), samples, rate) if suffix == ".gif" else mp4(pictures(), rate)
    return data, (width, height)


# ── one figure whose artists move ─────────────────────────────────────────────────────────────────


class Moving:
    """Axes in space with a mechanism, which `show` puts into a posture, and `pixels` turns into a picture.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism.
    q : (T, nq) ndarray
        The postures that will be shown; all of them must be seen.
    path : (T, 3) ndarray, optional
        Where the tool is in these; its path is drawn up to the posture that is shown.
    width : int
        Width of the picture, pixels; the height follows from what is shown. Small pictures have no numbers on their axes.
    frames : bool
        Whether each link has the axes of its frame.

    Examples
    --------
    >>> import linkwise as lw
    >>> picture = Moving(lw.robots.planar_2r(), np.array([[0.0, 0.0], [1.0, 0.5]]), width=200)
    >>> picture.show(1, "t = 1 s")
    >>> picture.pixels().shape[1:]
    (200, 3)
    """

    def __init__(
        self,
        mechanism: Tree,
        q: FloatArray,
        path: FloatArray | None = None,
        *,
        width: int = 480,
        frames: bool | None = None,
    ) -> None:
        self.mechanism, self.q, self.path = mechanism, q, path
        some = q[np.linspace(0, len(q) - 1, min(len(q), SEEN)).astype(int)]
        layouts = [lay_out(mechanism, posture) for posture in some]
        size = max(layout.size for layout in layouts)
        layouts = [replace(layout, size=size) for layout in layouts]
        self.figure = figure(SIDE, SIDE, layout=None)
        self.axes = space(self.figure)
        self._place(layouts, width)
        shown = len(mechanism.links) <= MANY if frames is None else frames
        self.painter = FigurePainter(self.axes, frames=shown, sides=SIDES)
        self.painter.add(build(mechanism, layouts[0]))
        self._write()
        self._still: Any = None

    def show(self, k: int, words: str = "") -> None:
        """Put the mechanism into the k-th posture, with some words below the title."""
        self.painter.move(frames_at(self.mechanism, self.q[k]))
        if self.path is not None:
            self.trace[0].set_data_3d(*self.path[: k + 1].T)
        literal(self.words, words)

    def pixels(self) -> Pixels:
        """Render the figure: red, green and blue (height, width, 3)."""
        canvas = self.canvas
        if self._still is None:
            canvas.draw()
            self._still = canvas.copy_from_bbox(self.figure.bbox)
        canvas.restore_region(self._still)
        self.painter.solids.do_3d_projection()
        for artist in sorted(self.moved, key=lambda artist: float(artist.zorder)):
            artist.draw(canvas.get_renderer())
        return np.array(canvas.buffer_rgba())[:, :, :3]

    def _place(self, layouts: list[SceneLayout], width: int) -> None:
        """Choose the view by some postures and the path, and the size so that the picture is so many pixels wide."""
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        shares = look_at(self.axes, layouts, np.empty((0, 3)) if self.path is None else self.path)
        trim(self.figure, self.axes, shares)
        inches = self.figure.get_size_inches()
        dpi = width / inches[0]
        height = 2 * round(0.5 * dpi * inches[1])
        self.figure.set_dpi(dpi)
        self.figure.set_size_inches(width / dpi, height / dpi)
        self.canvas: Any = FigureCanvasAgg(self.figure)
        self.axes.apply_aspect()

    def _write(self) -> None:
        """Update title and time, and report the moved artists to the canvas."""
        self.trace = [] if self.path is None else draw_trace(self.axes, self.path)
        larger = max(1.0, READABLE / float(self.figure.dpi))
        literal(self.figure.suptitle(" ", fontsize=11 * larger), plain(self.mechanism.name))
        self.words = self.figure.text(0.02, 0.98, " ", ha="left", va="top", fontsize=10 * larger, color="0.25")
        if self.figure.dpi < SMALL:
            for axis in (self.axes.xaxis, self.axes.yaxis, self.axes.zaxis):
                axis.set_ticklabels([])
                axis.set_label_text("")
        self.moved = [self.painter.solids, *self.painter.moving, *self.trace, self.words]
        for artist in self.moved:
            artist.set_animated(True)
