"""Junk from a page is dropped with a line of the log; what the viewer's own page says gets through."""

import logging
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import linkwise as lw

viser = pytest.importorskip("viser")
import msgspec  # noqa: E402
from websockets.sync.client import ClientConnection, connect  # noqa: E402

from linkwise.view.browser.server import (  # noqa: E402
    KNOWN,
    LARGEST,
    LOG,
    MessageGate,
)
from linkwise.view.browser.viewer import Viewer  # noqa: E402

CAMERA = {
    "type": "ViewerCameraMessage",
    "wxyz": [1.0, 0.0, 0.0, 0.0],
    "position": [1, 0.5, 0.0],  # (whole numbers come as such)
    "fov": 0.8,
    "near": 0.1,
    "far": 100.0,
    "image_height": 600,
    "image_width": 800,
    "look_at": [0.0, 0.0, 0.0],
    "up_direction": [0.0, 0.0, 1.0],
}
TARGET = {
    "type": "TransformControlsUpdateMessage",
    "name": "/target",
    "wxyz": [1.0, 0.0, 0.0, 0.0],
    "position": [1, 0, 0],
    "owner": "",
}
CLICK = {
    "type": "SceneNodeClickMessage",
    "name": "/tool",
    "instance_index": None,
    "ray_origin": [0.0, 0.0, 0.0],
    "ray_direction": [0.0, 0.0, 1.0],
    "screen_pos": [0.5, 0.5],
    "modifier": None,
    "owner": "",
}


@pytest.fixture(scope="module")
def viewer() -> Iterator[Viewer]:
    moved = lw.trajectory.quintic([0.0, 0.0], [1.0, -0.5], 0.4)
    with lw.robots.planar_2r().browse(moved, port=0) as made:
        yield made


@pytest.fixture
def gate(viewer: Viewer) -> MessageGate:
    made = MessageGate()
    made.server = viewer._server
    return made


def page(viewer: Viewer) -> ClientConnection:
    spoken = f"viser-v{viser.__version__}"
    return connect(
        viewer.url.replace("http", "ws"), origin=viewer.url, subprotocols=[spoken], compression=None, max_size=None
    )


def packed(message: Any, **changed: Any) -> bytes:
    return msgspec.msgpack.encode({**message, **changed} if isinstance(message, dict) else message)


def control(viewer: Viewer, handle: Any, **updates: Any) -> bytes:
    return packed({"type": "GuiUpdateMessage", "uuid": handle._impl.uuid, "updates": updates})


def odd(rng: np.random.Generator, depth: int = 0) -> Any:
    """A value of any kind that a message can hold."""
    few = 0 if depth > 2 else 3
    values: list[Any] = [None, True, float("nan"), float("inf"), -1, 2**63 - 1, "abc", "x" * 500, b"\0", 1e308]
    values += [[odd(rng, depth + 1) for _ in range(few)], {f"{k}": odd(rng, depth + 1) for k in range(few)}]
    return values[int(rng.integers(len(values)))]


def junk(viewer: Viewer, count: int) -> Iterator[bytes | str]:
    """Bytes, texts, messages of all kinds with fields of any kind, and controls set to anything."""
    rng = np.random.default_rng(1)
    kinds = [name for name in dir(viser._messages) if name.endswith("Message")]
    controls = list(viewer._server.gui._gui_input_handle_from_uuid)
    for _ in range(count):
        whole = (CAMERA, TARGET, CLICK)[int(rng.integers(3))]
        field = str(rng.choice([name for name in whole if name != "type"]))
        match int(rng.integers(5)):
            case 0:
                yield rng.integers(0, 256, int(rng.integers(100)), dtype=np.uint8).tobytes()
            case 1:
                yield "a text"
            case 2:
                yield packed(whole, **{field: odd(rng)})
            case 3:
                name = str(rng.choice(["value", "update_cb", "sync_cb", "removed", "uuid", "min"]))
                updates = {name: odd(rng)}
                yield packed({"type": "GuiUpdateMessage", "uuid": str(rng.choice(controls)), "updates": updates})
            case _:
                yield packed({"type": str(rng.choice([*kinds, "Nonsense"])), field: odd(rng), "name": odd(rng)})


def test_junk_is_dropped_and_a_line_of_the_log_says_so(
    viewer: Viewer, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """Of each page one line, whatever it sends; the page stays connected, and what it then says is heard."""
    sent = 600
    with caplog.at_level(logging.DEBUG):
        for at in (0.25, 0.35):
            with page(viewer) as one:
                one.send(packed(CAMERA))
                for message in junk(viewer, sent // 2):
                    one.send(message)
                one.send(control(viewer, viewer._panel._time, value=at))
                deadline = time.monotonic() + 30.0
                while viewer._panel._time.value != at and time.monotonic() < deadline:
                    time.sleep(0.01)
                assert viewer._panel._time.value == at
    warnings = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert [record.name for record in warnings] == [LOG.name] * 2
    assert all("127.0.0.1" in record.getMessage() for record in warnings)
    assert not any(record.exc_info for record in caplog.records)
    assert "Traceback" not in "".join(capfd.readouterr())
    assert viewer._failed is None


def test_the_page_that_speaks_as_ours_does_is_not_logged(viewer: Viewer, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING), page(viewer) as one:
        for message in (CAMERA, TARGET, CLICK):
            one.send(packed(message))
        time.sleep(0.2)
    assert caplog.records == []


@pytest.mark.parametrize("message", [CAMERA, TARGET, CLICK])
def test_messages_are_admitted_whole_only(gate: MessageGate, message: dict[str, Any]) -> None:
    assert message["type"] in KNOWN
    assert gate.admits(packed(message))
    for name, value in message.items():
        if name != "owner":  # (it may be left out)
            assert not gate.admits(packed({key: each for key, each in message.items() if key != name}))
        assert not gate.admits(packed(message, **{name: b"\0"}))
        if isinstance(value, list):
            assert not gate.admits(packed(message, **{name: value[:-1]}))
            assert not gate.admits(packed(message, **{name: [float("nan"), *value[1:]]}))
            assert not gate.admits(packed(message, **{name: ["1", *value[1:]]}))
    assert not gate.admits(packed(message, more=1))
    assert not gate.admits(packed(message).decode("latin-1"))
    assert not gate.admits(packed(message)[:-1])
    assert not gate.admits(packed([message]))


def test_controls_take_values_of_their_kind_within_their_ends(viewer: Viewer, gate: MessageGate) -> None:
    panel = viewer._panel
    slider, clock, choice = panel._sliders[0], panel._time, panel._target
    for handle, fits, others in (
        (slider, (slider.min, 0, slider.max), (slider.min - 1.0, slider.max + 1.0, float("nan"), "0", True, None, [0.0])),
        (clock, (0, 0.2, 0.4), (-1e-3, 0.5, 1e300, "0.2")),
        (choice, choice.options, ("nobody", 0, None, ["tool"])),
    ):
        assert all(gate.admits(control(viewer, handle, value=value)) for value in fits)
        assert not any(gate.admits(control(viewer, handle, value=value)) for value in others)
        for name in ("update_cb", "sync_cb", "removed", "min", "uuid", "value_"):
            assert not gate.admits(control(viewer, handle, **{name: fits[0]}))
            assert not gate.admits(control(viewer, handle, **{"value": fits[0], name: fits[0]}))
    (checkbox,) = [
        handle for handle in viewer._server.gui._gui_input_handle_from_uuid.values()
        if getattr(handle, "label", "") == "frames"
    ]  # fmt: skip
    assert gate.admits(control(viewer, checkbox, value=False))
    assert not gate.admits(control(viewer, checkbox, value=0))


def test_what_is_longer_than_any_message_ends_the_connection(viewer: Viewer) -> None:
    from websockets.exceptions import ConnectionClosed

    with page(viewer) as one:
        one.send(bytes(2 * LARGEST))
        with pytest.raises(ConnectionClosed) as closed:
            list(one)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1009  # (too big, RFC 6455, 7.4.1)
