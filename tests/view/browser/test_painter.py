from collections.abc import Callable, Iterator

import numpy as np
import pytest

import linkwise as lw
from linkwise.errors import ArgumentError
from linkwise.spatial.quaternion import quaternion_rotation
from linkwise.view.scene.layout import frames_at

pytest.importorskip("viser")

from linkwise.view.browser.painter import BrowserPainter, start
from linkwise.view.browser.server import make_server, stop

Make = Callable[..., BrowserPainter]


@pytest.fixture(scope="module")
def server() -> Iterator[object]:
    made = make_server(port=0)
    yield made
    stop(made)


@pytest.fixture
def scene(server: object) -> Iterator[Make]:
    """Makes scenes on one server, which is empty again after the test."""
    yield lambda mechanism, *args, **options: BrowserPainter(server, mechanism, *args, **options)  # type: ignore[arg-type]
    server.scene.reset()  # type: ignore[attr-defined]


def sent(server: object) -> int:
    """How many messages the server has sent to everyone."""
    return server._websock_server.get_message_buffer().message_counter  # type: ignore[attr-defined,no-any-return]


def placed(node: object) -> np.ndarray:
    """Where a node stands, (4, 4)."""
    made = np.eye(4)
    made[:3, :3], made[:3, 3] = quaternion_rotation(node.wxyz), node.position  # type: ignore[attr-defined]
    return made


@pytest.mark.parametrize("name", ["puma560", "stanford", "four_bar"])
def test_nodes_stand_where_the_links_do(scene: Make, name: str) -> None:
    mechanism = lw.robots.load(name)
    shown = scene(mechanism)
    q = np.random.default_rng(1).uniform(-1, 1, mechanism.n)
    shown.show(q)
    nodes = [placed(node) for node in shown.triads[1:-1]]
    # Nodes that moved less than a millionth are not sent again.
    assert np.allclose(nodes, mechanism.link_poses(q), atol=1e-5)
    assert np.allclose(shown.pose(), mechanism.forward_kinematics(q), atol=1e-12)
    assert np.allclose(shown.pose(1), mechanism.link_poses(q)[1], atol=1e-12)
    assert shown.q.tolist() == q.tolist()


def test_a_floating_base_moves(scene: Make) -> None:
    craft = lw.Mechanism([lw.Link.dh(a=0.4, convention="standard", mass=1.0)], floating=True)
    shown = scene(craft)
    q = np.array([1.0, 2.0, 3.0, np.cos(0.2), 0.0, np.sin(0.2), 0.0, 0.5])
    shown.show(q)
    assert np.allclose(placed(shown.triads[0])[:3, 3], [1, 2, 3])
    assert np.allclose(placed(shown.triads[1]), craft.link_poses(q)[0], atol=1e-5)


def test_only_what_moved_is_sent(scene: Make, server: object) -> None:
    shown = scene(lw.robots.puma560())
    q = np.full(6, 0.3)
    shown.show(q)
    before = sent(server)
    shown.show(q)
    assert sent(server) == before
    shown.show([*q[:5], 0.5])  # the last joint turns the last link about its own origin
    assert sent(server) == before + 1
    shown.show([0.5, *q[1:]])  # the first joint moves all six links; of link 1 only the direction
    assert 6 + 5 <= sent(server) - before - 1 <= 6 + 6 + 5 + 2


@pytest.mark.parametrize("name", ["scara_icomatic", "slider_crank", "stewart"])
def test_rods_of_slides_reach_from_joint_to_joint(scene: Make, name: str) -> None:
    mechanism = lw.robots.load(name)
    shown = scene(mechanism)
    for out in (0.3, -0.2):
        q = shown.q
        q[np.array(mechanism.is_length)] = out
        shown.show(q)
        layout, poses = shown._scene.layout, frames_at(mechanism, q)
        slides = [(s, node) for s, node in zip(shown._scene.spans, shown.spans, strict=True) if s.role == "slide"]
        assert len(slides) == sum(mechanism.is_length)
        for span, rod in slides:
            frame = placed(rod)
            ends = np.array([frame[:3, 3], frame[:3, 3] + frame[:3, 2] * rod.scale[2]])
            assert np.allclose(ends, layout.slides(poses)[span.links[1]], atol=1e-4 * layout.size)


def test_an_open_loop_is_joined_by_a_line(scene: Make) -> None:
    mechanism = lw.robots.four_bar()
    shown = scene(mechanism)
    (gap,) = shown.spans
    assert gap.scale[2] < 1e-3
    q = shown.q + np.array([0.0, 0.4, 0.0])
    shown.show(q)
    (loop,), poses = mechanism.loops, dict(zip(mechanism.link_names, mechanism.link_poses(q), strict=True))
    one = (poses[loop.first] @ loop.first_frame)[:3, 3]
    two = (poses[loop.second] @ loop.second_frame)[:3, 3]
    line = placed(gap)
    assert np.allclose(line[:3, 3], one, atol=1e-5)
    assert np.allclose(line[:3, 3] + line[:3, 2] * gap.scale[2], two, atol=1e-4)


def test_loops_are_closed_at_first() -> None:
    for name in ("four_bar", "stewart"):
        mechanism = lw.robots.load(name)
        assert np.abs(mechanism.kernel("closure")(start(mechanism))).max() < 1e-9
    assert start(lw.robots.puma560()).tolist() == [0.0] * 6


def test_frames_and_names_are_switched(scene: Make, server: object) -> None:
    shown = scene(lw.robots.puma560())
    assert shown.frames
    assert shown.names
    shown.frames = shown.names = False
    assert not any(node.show_axes for node in shown.triads)
    assert not any(node.visible for _, node in shown.labels)
    before = sent(server)
    shown.show([0.4] * 6)
    labels = [node.position.copy() for _, node in shown.labels]
    shown.names = True  # names that were out of sight stand where they belong when they come back
    assert sent(server) > before
    moved = np.array([node.position for _, node in shown.labels]) - labels
    assert np.linalg.norm(moved, axis=1).max() > 0.1


def test_names_at_one_point_share_a_label(scene: Make) -> None:
    shown = scene(lw.robots.puma560())
    assert [label.text for label, _ in shown.labels] == ["link1, link2", "link3", "link4", "link5, link6"]
    many = lw.Mechanism([lw.Link.dh(a=0.2, convention="standard") for _ in range(14)])
    crowd = scene(many)
    assert not crowd.names
    assert [label.text for label, _ in crowd.labels] == [str(k + 1) for k in range(14)]


def test_names_of_all_kinds_are_nodes_of_their_own(scene: Make) -> None:
    links = [lw.Link.dh(a=0.2, convention="standard", name=name) for name in ("a/b", "a", "<b>", "tool")]
    shown = scene(lw.Mechanism(links))
    names = [node.name for node in shown.triads[:-1]]
    assert len(set(names)) == 5
    assert all(name.count("/") == 2 for name in names)
    assert shown.pick_frames() == {"tool": "tool", "a/b": 0, "a": 1, "<b>": 2, "tool (2)": 3}


@pytest.mark.parametrize("q", [[1.0], [1.0, np.nan], [[1.0, 2.0]]])
def test_q_must_be_nq_finite_numbers(scene: Make, q: object) -> None:
    shown = scene(lw.robots.planar_2r())
    with pytest.raises(ArgumentError, match="expected 2 finite numbers"):
        shown.show(q)  # type: ignore[arg-type]


def test_symbols_are_refused(scene: Make) -> None:
    with pytest.raises(ArgumentError, match="the viewer needs numbers"):
        scene(lw.robots.planar_2r().symbolic("lengths"))


def test_clicks_name_the_link(scene: Make) -> None:
    shown = scene(lw.robots.planar_2r())
    picked: list[int] = []
    shown.on_pick(picked.append)
    for link, node in shown.clickable:
        (entry,) = node._impl.click_cb
        entry.callback(None)
        assert picked.pop() == link
