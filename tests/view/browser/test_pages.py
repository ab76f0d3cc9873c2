"""A browser opens the viewer, moves sliders, drags targets and plays motions, as a user does."""

import io
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwise as lw
from linkwise.spatial.quaternion import quaternion_rotation
from support.walking_machine import person

pytest.importorskip("viser")

PUMA = lw.trajectory.quintic([0.0, 0.5, -1.2, 0.3, 0.6, 0.0], [1.0, 0.2, -0.8, 0.3, 0.9, 0.5], 0.5)


def crank_turned() -> tuple[Any, Any]:
    crank = lw.robots.four_bar().linkage(["crank"])
    angles = np.linspace(0.6, 2.4, 60)
    return np.linspace(0.0, 0.5, 60), crank.trace(angles[:, None]).q


def person_waving() -> tuple[Any, Any]:
    t = np.linspace(0.0, 0.5, 60)
    return t, 0.4 * np.sin(6.0 * t[:, None] + np.arange(30))


CASES = {
    "puma560": (lw.robots.puma560, lambda: PUMA, 1),
    "four_bar": (lw.robots.four_bar, crank_turned, 0),
    "person": (person, person_waving, 16),
}
"""A mechanism, its motion, and the joint whose slider is moved."""

STEPS = 20
"""Of a slider."""


def until(holds: Callable[[], bool], page: Any, seconds: float = 20.0) -> None:
    """Wait until something holds, while the page works."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"it never came to hold; errors of the page: {page.errors}"
        page.wait_for_timeout(20)


def opened(page: Any, url: str) -> Any:
    """Open a page, and wait until it has its sliders; these."""
    page.goto(url)
    sliders = page.get_by_role("slider")
    sliders.first.wait_for()
    return sliders


def values(sliders: Any) -> np.ndarray:
    """Where the sliders of the page stand."""
    return np.array(sliders.evaluate_all("all => all.map(one => Number(one.getAttribute('aria-valuenow')))"))


def shown(viewer: Any) -> list[float]:
    """Where the sliders should stand."""
    return [scale.shown(value) for scale, value in zip(viewer._scales, viewer.q, strict=True)]


def picture(page: Any) -> np.ndarray:
    """The pixels between the panels."""
    from PIL import Image

    box = page.locator("canvas").first.bounding_box()
    clip = {**box, "y": box["y"] + 200, "height": box["height"] - 200}  # (below the browser's word about software)
    return np.asarray(Image.open(io.BytesIO(page.screenshot(clip=clip))).convert("RGB")).astype(int)


def differ(one: np.ndarray, other: np.ndarray) -> int:
    """How many pixels differ by more than noise."""
    return int((np.abs(one - other).max(axis=2) > 40).sum())


def on_screen(page: Any, camera: Any, point: np.ndarray) -> np.ndarray:
    """Where a point in space is on the page, pixels: the pinhole camera that viser describes."""
    box = page.locator("canvas").first.bounding_box()
    x, y, z = quaternion_rotation(np.asarray(camera.wxyz)).T @ (point - camera.position)
    focal = 0.5 * box["height"] / np.tan(camera.fov / 2)
    return np.array([box["x"] + box["width"] / 2 + focal * x / z, box["y"] + box["height"] / 2 + focal * y / z])


def arrow(page: Any, camera: Any, pose: np.ndarray, length: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The arrow of the target that is best seen: its direction in space, its root and its tip on the page."""
    box = page.locator("canvas").first.bounding_box()
    low, high = np.array([box["x"], box["y"]]) + 20, np.array([box["x"] + box["width"], box["y"] + box["height"]]) - 20
    root = on_screen(page, camera, pose[:3, 3])
    tips = [(axis, on_screen(page, camera, pose[:3, 3] + length * axis)) for axis in pose[:3, :3].T]
    seen = [(axis, tip) for axis, tip in tips if (tip > low).all() and (tip < high).all()]
    axis, tip = max(seen, key=lambda one: np.linalg.norm(one[1] - root))
    return axis, root, tip


def dragged(page: Any, viewer: Any, pose: np.ndarray) -> np.ndarray:
    """Drag the target at one of its arrows, and say where the page dropped it (4, 4).

    A page that is slow may not have seen yet that the mouse is over the arrow; it turns the picture instead. The camera is
    put back then, and the mouse waits longer.
    """
    client = next(iter(viewer._server.get_clients().values()))
    camera, put, told = client.camera, viewer._inbox.put, []

    def listen(key: Any, value: Any) -> None:
        if key == "drag":
            told.append(value[1:])
        put(key, value)

    viewer._inbox.put = listen
    stood, looked = np.array(camera.position), np.array(camera.look_at)
    for attempt in range(1, 7):
        _, root, tip = arrow(page, camera, pose, 0.2 * viewer._size)
        along = (tip - root) / np.linalg.norm(tip - root)
        page.mouse.move(*(tip + 25.0 * along))
        page.mouse.move(*tip, steps=4)
        page.wait_for_timeout(200 * attempt)
        page.mouse.down()
        for step in range(1, 9):
            page.mouse.move(*(tip - along * 4.0 * step))
            page.wait_for_timeout(20 * attempt)
        page.wait_for_timeout(100 * attempt)
        page.mouse.up()
        page.wait_for_timeout(100 * attempt)
        if told:
            until(lambda: told[-1][1] == "end", page)
            dropped: np.ndarray = told[-1][0]
            assert np.abs(dropped - pose).max() > 0.01 * min(viewer._size, 1.0)
            return dropped
        with client.atomic():
            camera.position, camera.look_at = stood, looked
        until(lambda: np.allclose(camera.position, stood, atol=1e-3 * viewer._size), page)
    raise AssertionError("the target could not be taken hold of")


@pytest.mark.parametrize("name", CASES)
def test_page_of(name: str, page: Any) -> None:
    made, motion, joint = CASES[name]
    mechanism = made()
    with mechanism.browse(motion(), port=0) as viewer:
        sliders = opened(page, viewer.url)
        assert sliders.count() == mechanism.n
        until(lambda: viewer._target is not None, page)
        page.wait_for_timeout(300)

        # a slider is moved with the keyboard: the joint goes there, loops stay closed, the picture changes
        before, first = viewer.q, picture(page)
        scale, start = viewer._scales[joint], values(sliders)[joint]
        sliders.nth(joint).focus()
        for _ in range(STEPS):
            page.keyboard.press("ArrowRight")
        wanted = start + STEPS * scale.step
        until(lambda: abs(scale.shown(viewer.q[joint]) - wanted) < 1e-6, page)
        step = scale.step * scale.factor
        assert viewer.q[joint] - before[joint] == pytest.approx(STEPS * step, abs=step)  # (it began between two steps)
        until(lambda: np.allclose(values(sliders), shown(viewer)), page)
        others = np.delete(viewer.q - before, joint)
        assert np.abs(others).max() > 0.01 if mechanism.loops else np.array_equal(others, 0 * others)
        page.wait_for_timeout(200)
        assert differ(first, picture(page)) > 100

        # the target is dragged with the mouse: the tool goes where it was dropped, or as near to it as it can, and says so
        pose = mechanism.forward_kinematics(viewer.q)
        dropped = dragged(page, viewer, pose)

        def off() -> float:
            return float(np.linalg.norm(mechanism.forward_kinematics(viewer.q)[:3, 3] - dropped[:3, 3]))

        until(lambda: off() < 1e-6 * viewer._size or " off" in viewer._panel._status.content, page)
        assert off() <= np.linalg.norm(pose[:3, 3] - dropped[:3, 3]) + 1e-9
        if mechanism.loops:
            assert np.abs(mechanism.kernel("closure")(viewer.q)).max() < 1e-9
        assert not np.allclose(mechanism.forward_kinematics(viewer.q), pose, atol=1e-3 * viewer._size)

        # the motion is played to its end, with the curves
        page.get_by_role("tab", name="Motion").click()
        page.get_by_label("repeat").click()
        page.get_by_role("button", name="Play").click()
        until(lambda: np.array_equal(viewer.q, viewer._motion.q[-1]), page)
        until(lambda: values(sliders)[-1] == pytest.approx(0.5), page)
        more = f", and {mechanism.n - 12} more" if mechanism.n > 12 else ""
        assert page.get_by_text(f"Positions [rad]{more}", exact=True).count() == 1

        assert all(url.startswith((viewer.url, "data:", "blob:")) for url in page.asked), page.asked
        assert not page.errors


def test_command_serves_until_it_is_interrupted(page: Any) -> None:
    command = [str(Path(sys.executable).with_name("linkwise")), "view", "four_bar", "--port", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as served:
        assert served.stdout is not None
        url = json.loads(served.stdout.readline())["url"]
        sliders = opened(page, url)
        before = values(sliders)
        sliders.nth(0).focus()
        for _ in range(STEPS):
            page.keyboard.press("ArrowRight")
        until(lambda: np.abs(values(sliders) - before).min() > 0.1, page)  # all three joints have moved
        served.send_signal(signal.SIGINT)
        out, err = served.communicate(timeout=20)
    assert (served.returncode, out, err.strip()) == (0, "", "ended")
