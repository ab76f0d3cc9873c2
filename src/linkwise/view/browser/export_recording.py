"""The recording of a motion that viser's page plays back without a server, in bounded memory."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from linkwise.files.packages import Folders
from linkwise.files.shape import Shape
from linkwise.mechanism import Mechanism
from linkwise.spatial.scalar import FloatArray
from linkwise.view.browser.movement import Track
from linkwise.view.browser.scene import Scene
from linkwise.view.browser.server import make_server, stop

if TYPE_CHECKING:
    from linkwise.view.motions.motion import Motion

MOST_MESSAGES = 600_000
"""Placements in one recording, about 14 MB in the page: a longer motion is recorded with fewer pictures a second."""

MARK = 1.2345e300
"""Begins a row of numbers that nothing else in a message is."""


@dataclass(frozen=True)
class Recording:
    """A page of viser's with a motion in it.

    Attributes
    ----------
    page : str
        HTML that fetches nothing.
    frames : int
        Pictures in it.
    rate : float
        Pictures a second; 0 for a mechanism at rest.
    remarks : tuple of str
        What of the mechanism's shapes could not be shown, and why.
    """

    page: str = field(repr=False)
    frames: int
    rate: float
    remarks: tuple[str, ...]


def record(
    mechanism: Mechanism,
    motion: Motion | None,
    q: FloatArray | None,
    shapes: Sequence[Shape],
    folder: str | Path | None,
    package_dirs: Folders,
    rate: float,
) -> Recording:
    """Record a motion, or one position, on a server of its own that nobody else sees.

    Parameters
    ----------
    mechanism : Mechanism
        What moves.
    motion : Motion or None
        How; None for rest.
    q : (nq,) ndarray or None
        The position at rest.
    shapes, folder, package_dirs
        As for `Scene`.
    rate : float
        Pictures a second, fewer where they would be more than `MOST_MESSAGES` placements.
    """
    times = instants(motion.duration, rate, len(mechanism.links)) if motion is not None else np.zeros(1)
    way = None if motion is None else positions(motion, times)
    server = make_server(port=0)
    try:
        scene = Scene(server, mechanism, shapes, folder, package_dirs, q=q if way is None else way[0], along=way)
        recorder: Any = server.get_scene_serializer()
        if way is not None:
            # What `insert_sleep` and `Scene.show` would record one by one, in a twentieth of the time.
            recorder._messages.extend(messages(scene.tracks(way), times))
            recorder._time = float(times[-1])
        page = str(recorder.as_html())
    finally:
        stop(server)
    shown = (len(times) - 1) / float(times[-1]) if len(times) > 1 else 0.0
    return Recording(page, len(times), shown, scene.remarks)


def instants(duration: float, rate: float, links: int) -> FloatArray:
    """Return the times (m,) s at which pictures are taken, from 0 to the end, evenly.

    Examples
    --------
    >>> instants(1.0, 4.0, 6).tolist()
    [0.0, 0.25, 0.5, 0.75, 1.0]
    >>> instants(3600.0, 30.0, 30).size
    10000
    """
    if duration <= 0.0:
        return np.zeros(1)
    most = max(2, MOST_MESSAGES // (2 * max(links, 1)))
    return np.linspace(0.0, duration, min(most, 1 + max(1, math.ceil(duration * rate))))


def positions(motion: Motion, times: FloatArray) -> FloatArray:
    """Return the coordinates (m, nq) of a motion at times (m,)."""
    return np.array([motion.at(float(time)) for time in times])


def messages(tracks: Sequence[Track], times: FloatArray) -> Iterator[tuple[float, Any]]:
    """Yield what a page is told at each of the times but the first, each message as the bytes that it becomes."""
    import msgspec

    moving = [track for track in tracks if float(np.ptp(track.values, axis=0).max()) > 0.0]
    written = [_written(track) for track in moving]
    for k in range(1, len(times)):
        for head, values, tail in written:
            yield float(times[k]), msgspec.Raw(head + values[k].tobytes() + tail)


def _written(track: Track) -> tuple[bytes, npt.NDArray[np.uint8], bytes]:
    """Return what stands in each message of a track before its numbers, the numbers (m, b) in bytes, and what follows."""
    import msgspec

    count = track.values.shape[1]
    marks = tuple(MARK + k for k in range(count))
    before, found, after = msgspec.msgpack.encode(_message(track, marks)).partition(msgspec.msgpack.encode(marks))
    assert found, "the numbers are in the message"
    values = np.empty((len(track.values), 1 + 5 * count), dtype=np.uint8)
    values[:, 0] = 0x90 + count  # MessagePack: an array of so many, each 0xca and four bytes, the highest first
    each = values[:, 1:].reshape(-1, count, 5)
    each[..., 0] = 0xCA
    each[..., 1:] = track.values.astype(">f4").view(np.uint8).reshape(-1, count, 4)
    return before, values, after


def _message(track: Track, values: tuple[float, ...]) -> dict[str, Any]:
    """Return the message by which viser sets a property of a node."""
    from viser import _messages as made

    name = track.node.name
    if track.what == "scale":
        return made.SceneNodeUpdateMessage(name, {"scale": values}).as_serializable_dict()
    kind: Any = made.SetPositionMessage if track.what == "position" else made.SetOrientationMessage
    message: dict[str, Any] = kind(name, values).as_serializable_dict()
    return message
