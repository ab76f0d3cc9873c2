"""The live view in a process of its own, and pages that speak as the browser does, or as it never would."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("viser")
import msgspec
import zstandard
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from linkwise import control, robots
from linkwise.server import add_user, new_user, read_audit
from linkwise.view.live import LiveView

PASSWORD, HOME, CLOSER = "correct horse", [1.2, 0.6, 0.0], [1.0, 0.9, 0.0]
CAMERA = {
    "type": "ViewerCameraMessage", "wxyz": [1.0, 0.0, 0.0, 0.0], "position": [1.0, 0.5, 0.0], "fov": 0.8, "near": 0.1,
    "far": 100.0, "image_height": 600, "image_width": 800, "look_at": [0.0, 0.0, 0.0], "up_direction": [0.0, 0.0, 1.0],
}  # fmt: skip


class Served:
    """A planar arm whose tool holds at a goal, in a thread."""

    def __init__(self, users: Path, audit: Path) -> None:
        goal = control.FixedPosition("goal", "tool", HOME)
        self.chain = control.Chain(robots.planar_2r(), goal, q0=[0.1, 0.9])
        self.view = LiveView(self.chain, port=0, users=users, audit=audit, connections=3)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._ended.wait(5e-3):
            self.view.take()
            self.chain.step(5e-3)
            self.view.publish()

    def close(self) -> None:
        self._ended.set()
        self._thread.join()
        self.view.close()

    @property
    def goal(self) -> list[float]:
        return self.chain["goal.position"].tolist()  # type: ignore[union-attr]


class RawPage:
    """A page without a browser: what it hears, and whatever it says."""

    def __init__(self, view: LiveView) -> None:
        import viser

        address = view.address.replace("http", "ws")
        self.socket = connect(address, subprotocols=[f"viser-v{viser.__version__}"], max_size=None, compression=None)  # type: ignore[list-item]
        self.heard: list[dict[str, Any]] = []
        threading.Thread(target=self._listen, daemon=True).start()
        self.say(CAMERA)

    def _listen(self) -> None:
        with contextlib.suppress(Exception):  # (closed)
            while True:
                raw = self.socket.recv()
                size = int.from_bytes(raw[8:16], "little")
                batch = msgspec.msgpack.decode(zstandard.ZstdDecompressor().decompress(raw[16 : 16 + size]))
                self.heard += batch["messages"]

    def say(self, message: dict[str, Any]) -> None:
        self.socket.send(msgspec.msgpack.encode(message))

    def set(self, uuid: str, value: Any) -> None:
        self.say({"type": "GuiUpdateMessage", "uuid": uuid, "updates": {"value": value}})

    def find(self, kind: str, label: str) -> dict[str, Any]:
        """The newest control of a kind with a label."""

        def newest() -> Any:
            return [m for m in self.heard if m["type"] == kind and m.get("props", {}).get("label") == label][-1:]

        (message,) = until(newest)
        return message  # type: ignore[no-any-return]

    def log_in(self, name: str, password: str = PASSWORD) -> None:
        self.set(self.find("GuiTextMessage", "User")["uuid"], name)
        self.set(self.find("GuiTextMessage", "Password")["uuid"], password)
        self.set(self.find("GuiButtonMessage", "Log in")["uuid"], True)

    def drag(self, position: list[float], owner: str) -> None:
        pose = {"name": "/move/goal", "wxyz": [1.0, 0.0, 0.0, 0.0], "position": position, "owner": owner}
        self.say({"type": "TransformControlsDragStartMessage", "name": "/move/goal", "owner": owner})
        self.say({"type": "TransformControlsUpdateMessage", **pose})
        self.say({"type": "TransformControlsDragEndMessage", "name": "/move/goal", "owner": owner})

    def owner(self) -> str:
        """By which name the server calls this page's own handle of the target."""
        (message,) = until(lambda: [m for m in self.heard if m["type"] == "TransformControlsMessage"][-1:])
        return str(message["owner"])

    def places(self, node: str) -> list[list[float]]:
        return [m["position"] for m in tuple(self.heard) if m["type"] == "SetPositionMessage" and node in m["name"]]


def until(holds: Callable[[], Any], patience: float = 60.0) -> Any:
    deadline = time.monotonic() + patience
    while not (value := holds()) and time.monotonic() < deadline:
        time.sleep(0.02)
    return value


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, Path]]:
    folder = tmp_path_factory.mktemp("live")
    add_user(folder / "users", new_user("anna", PASSWORD))
    add_user(folder / "users", new_user("victor", PASSWORD, "viewer"))
    running = Served(folder / "users", folder / "audit.jsonl")
    yield running, folder / "audit.jsonl"
    assert running.view.state == "serving"
    running.close()


@pytest.fixture
def page(served: tuple[Served, Path]) -> Iterator[RawPage]:
    opened = RawPage(served[0].view)
    yield opened
    opened.socket.close()


def test_a_page_sees_links_move_as_the_chain_does(served: tuple[Served, Path], page: RawPage) -> None:
    running, _ = served
    assert until(lambda: page.places("link2"))
    running.chain["goal.position"] = CLOSER
    chain, mechanism = running.chain, running.chain.mechanism
    assert until(lambda: np.abs(chain["tool.solved_position"] - CLOSER).max() < 1e-9)
    elbow = mechanism.forward_kinematics(chain.solved_q, link=0)[:3, 3]
    # the picture leaves out what moves by less than a millionth of the size
    assert until(lambda: np.abs(np.array(page.places("link1")[-1:] or [[9.0] * 3]) - elbow).max() < 1e-5)
    running.chain["goal.position"] = HOME


def test_who_has_not_logged_in_or_may_only_watch_writes_nothing(served: tuple[Served, Path], page: RawPage) -> None:
    running, audit = served
    accepted = running.view.counts["accepted"]
    anna = RawPage(running.view)
    anna.log_in("anna")
    owner = anna.owner()
    for name, password in ((None, ""), ("anna", "wrong horse"), ("nobody", PASSWORD), ("victor", PASSWORD)):
        if name is not None:
            page.log_in(name, password)
            time.sleep(0.3)
        for claimed in ("", owner, "1"):
            page.drag([0.5, 0.5, 0.0], claimed)
        page.say(
            {
                "type": "GuiUpdateMessage",
                "uuid": anna.find("GuiButtonMessage", "Log out")["uuid"],
                "updates": {"value": True},
            }
        )
    assert until(lambda: [m for m in page.heard if m["type"] == "GuiFolderMessage" and "victor" in m["props"]["label"]])
    time.sleep(0.5)
    assert running.goal == HOME
    assert running.view.counts["accepted"] == accepted
    assert not audit.exists() or not read_audit(audit)
    anna.drag(CLOSER, owner)  # (who is still logged in)
    assert until(lambda: running.goal == CLOSER)
    anna.socket.close()
    assert until(lambda: read_audit(audit))  # (a thread of its own writes it)
    (record,) = read_audit(audit)
    assert (record.user, record.by, record.port, record.outcome) == ("anna", "view", "goal.position", "accepted")
    assert (record.old, record.new) == (HOME, CLOSER)


def test_there_are_as_many_pages_as_there_may_be(served: tuple[Served, Path], page: RawPage) -> None:
    assert until(lambda: served[0].view.counts["connections"] == 1)
    others = [RawPage(served[0].view) for _ in range(2)]
    with pytest.raises(InvalidStatus, match="503"):
        RawPage(served[0].view)
    for other in others:
        other.socket.close()
