"""Encoding of a sequence of pictures: GIF by Pillow, MP4 by ffmpeg."""

from __future__ import annotations

import io
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.errors import LinkwiseError, MissingExtraError, install_hint

Pixels = npt.NDArray[np.uint8]

#: Colours of a GIF; the same for all its pictures, so that what stands still stays as it is.
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
    """A picture with the colours of samples, all that are nearly white made white: Pillow takes colours in steps of four."""
    from PIL import Image

    image = Image.fromarray(np.concatenate(samples)).quantize(COLOURS, method=Image.Quantize.MEDIANCUT)
    colours = np.array(image.getpalette()).reshape(-1, 3)
    colours[colours.min(axis=1) >= 248] = 255
    image.putpalette(colours.astype(np.uint8).tobytes())
    return image


def durations(count: int, rate: float) -> list[int]:
    """How long each picture of a GIF stays, ms, in steps of 10.

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
            pass  # it has ended; what it said is told below
        except BaseException:
            if process is not None:
                process.kill()
                process.communicate()
            raise
        if process is None or _ended(process) or not path.is_file():
            errors.seek(0)
            words = errors.read().decode(errors="replace").strip().splitlines()
            raise LinkwiseError(f"ffmpeg made no film: {words[-1] if words else 'it was given no picture'}")
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
