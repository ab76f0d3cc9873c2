import base64
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwise as lw
from linkwise.errors import ArgumentError, FileError
from linkwise.model.shape import Shape

pytest.importorskip("viser")

import msgspec
import zstandard

from linkwise.view.browser import export as export_module
from linkwise.view.browser.curves import groups, svg_plot
from linkwise.view.browser.export import export
from linkwise.view.browser.painter import BrowserPainter
from linkwise.view.browser.server import make_server, stop
from linkwise.view.motion import ShownMotion
from linkwise.view.scene.meshes import Visuals

EVIL = "<script>alert('x')</script>"
LINKS = [lw.Link.dh(a=a, convention="standard", name=name) for a, name in ((0.5, EVIL), (0.3, "b"))]
ARM = lw.Mechanism(LINKS, name=f"a {EVIL}")
T = np.linspace(0.0, 2.0, 41)
Q = np.stack((np.sin(T), 0.5 * T), axis=1)


def recorded(page: str) -> dict[str, Any]:
    """The recording in a page."""
    data = re.search(r'__VISER_EMBED_DATA__="([^"]*)"', page)
    assert data
    packed = base64.b64decode(data[1])
    inner = zstandard.ZstdDecompressor().decompress(packed[8:], max_output_size=int.from_bytes(packed[:8], "little"))
    return msgspec.msgpack.decode(inner[8 : 8 + int.from_bytes(inner[:8], "little")])  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pages") / "arm.html"
    shapes = [Shape("b", "mesh", (1, 1, 1), filename=f"http://x/{EVIL}.stl")]
    made = export(ARM, (T, Q), path, rate=10.0, visuals=Visuals(shapes, path.parent))
    assert (made.frames, made.rate) == (21, 10.0)
    return path


@pytest.fixture(scope="module")
def text(written: Path) -> str:
    return written.read_text(encoding="utf-8")


class Tags(HTMLParser):
    """What a page refers to, and which elements it has."""

    def __init__(self) -> None:
        super().__init__()
        self.references: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.references += [value or "" for name, value in attrs if name in {"src", "href", "action", "data"}]


def test_the_page_refers_to_nothing_outside(text: str) -> None:
    found = Tags()
    found.feed(text)
    assert all(reference.startswith("data:") for reference in found.references), found.references
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy
    assert policy.start() < text.index("<script")
    assert "default-src 'none'" in policy[1]
    assert "http" not in policy[1]
    assert not re.search(r"url\(\s*['\"]?(?!data:|#)", text[text.index("<style>") : text.index("</style>")])


def test_the_page_has_title_table_and_curves(text: str) -> None:
    panel = text[text.index('<aside id="linkwise">') : text.index("</aside>")]
    assert "<h1>a &lt;script&gt;" in panel
    assert "standard Denavit-Hartenberg" in panel
    assert panel.count("<figure>") == 2  # positions and speeds; the links have no mass
    assert "No efforts" in panel
    assert "2 s, 10 frames per second" in panel
    assert "1 shape not shown" in panel
    assert "cannot be looked up" not in panel  # where it was looked for is nobody's business


def test_names_are_escaped(text: str) -> None:
    assert EVIL not in text
    assert "<title>a &lt;script&gt;alert(&#x27;x&#x27;)&lt;/script&gt;</title>" in text
    found = Tags()
    found.feed(text[text.index('<aside id="linkwise">') : text.index("</aside>")])
    assert "script" not in found.tags


def test_the_recording_is_what_viser_would_have_recorded(text: str) -> None:
    server = make_server(port=0)
    try:
        painter = BrowserPainter(server, ARM, q=Q[0], along=Q[::2])
        recorder = server.get_scene_serializer()
        for q in Q[2::2]:
            recorder.insert_sleep(0.1)
            painter.show(q)
        expected = recorded(recorder.as_html())
    finally:
        stop(server)
    made = recorded(text)
    assert made["durationSeconds"] == pytest.approx(expected["durationSeconds"])
    at_start = [[m for t, m in which["messages"] if t == 0.0] for which in (made, expected)]
    assert [m["type"] for m in at_start[0]] == [m["type"] for m in at_start[1]]
    last = [_last(which["messages"]) for which in (made, expected)]
    assert last[0].keys() == last[1].keys()
    for key, values in last[0].items():
        assert np.allclose(values, last[1][key], atol=1e-5), key  # viser leaves out steps that are smaller


def _last(messages: list[Any]) -> dict[tuple[str, str], Any]:
    """The last value of each property that was ever set."""
    vectors = {"SetPositionMessage": "position", "SetOrientationMessage": "wxyz"}
    return {(m["type"], m["name"]): m[vectors[m["type"]]] for _, m in messages if m["type"] in vectors}


def test_rods_of_slides_are_in_the_recording(tmp_path: Path) -> None:
    scara = lw.robots.scara_icomatic()
    path = tmp_path / "scara.html"
    export(scara, ([0.0, 1.0], [[0, 0, 0], [0, 0, 0.3]]), path, rate=4.0)
    messages = [message for t, message in recorded(path.read_text())["messages"] if t > 0]
    lengths = [message["updates"]["scale"][2] for message in messages if "scale" in message.get("updates", ())]
    assert lengths[-1] == pytest.approx(0.3, abs=1e-6)
    assert len(lengths) == 4


def test_at_rest_there_is_no_motion(tmp_path: Path) -> None:
    path = tmp_path / "rest.html"
    made = export(ARM, None, path, q=[0.4, 0.5])
    assert (made.frames, made.rate) == (1, 0.0)
    page = path.read_text()
    assert recorded(page)["durationSeconds"] == 0.0
    assert "<figure>" not in page
    with pytest.raises(ArgumentError, match="give one of them"):
        export(ARM, (T, Q), path, q=[0.0, 0.0])


def test_long_motions_are_thinned(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(export_module, "MOST_MESSAGES", 40)
    path = tmp_path / "long.html"
    made = export(ARM, (T * 1000, Q), path)
    assert made.frames == 10
    assert made.rate == pytest.approx(9 / 2000)
    assert sum(t > 0 for t, _ in recorded(path.read_text())["messages"]) <= 90


def test_from_a_file_the_shapes_are_shown_too(tmp_path: Path) -> None:
    described = '<robot name="r"><link name="a"><visual><geometry><box size="1 1 1"/></geometry></visual></link></robot>'
    (tmp_path / "r.urdf").write_text(described)
    page = lw.view.export(tmp_path / "r.urdf", None, tmp_path / "r.html")
    assert page == tmp_path / "r.html"
    assert any(m.get("name", "").endswith("/shape 1") for _, m in recorded(page.read_text())["messages"])
    with pytest.raises(ArgumentError, match="expected a Mechanism or the path"):
        lw.view.export(3, None, page)  # type: ignore[arg-type]


def test_of_many_curves_some_are_drawn_and_the_rest_is_told() -> None:
    many = lw.Mechanism([lw.Link.dh(a=0.2, convention="standard") for _ in range(14)])
    drawn = list(groups(ShownMotion.of(many, ([0.0, 1.0], np.zeros((2, 14)))), 50))
    assert [(one.kind, len(one.names), one.left_out) for one in drawn] == [("position", 12, 2), ("velocity", 12, 2)]
    assert drawn[0].names[-1] == "link12"


@pytest.mark.parametrize("rate", [0.0, -1.0, np.nan, 1e6, "30", True])
def test_the_rate_must_make_sense(rate: Any, tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="rate is"):
        export(ARM, None, tmp_path / "arm.html", rate=rate)


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(FileError, match="there is no folder"):
        export(ARM, None, tmp_path / "none" / "arm.html")
    path = tmp_path / "arm.html"
    path.write_text("before")
    monkeypatch.setattr("linkwise.view.browser.export.table_html", lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        export(ARM, None, path)
    assert path.read_text() == "before"
    assert [entry.name for entry in tmp_path.iterdir()] == ["arm.html"]


def test_curves_have_axes_and_gaps() -> None:
    t = np.linspace(0, 4, 9)
    values = np.stack((t, np.where(t == 2, np.nan, -t), np.zeros(9)), axis=1)
    drawing = svg_plot(t, values, ["up", "a & b", "$x$"], "Positions", "rad")
    strokes = re.findall(r'class="curve" d="([^"]*)"', drawing)
    assert [stroke.count("M") for stroke in strokes] == [1, 2, 1]
    assert [stroke.count("L") for stroke in strokes] == [8, 6, 8]
    numbers = re.findall(r'text-anchor="end">([^<]*)<', drawing)
    assert numbers == ["-4", "-2", "0", "2", "4"]
    assert "a &amp; b" in drawing
    assert "nan" not in drawing


@pytest.mark.parametrize("value", [0.0, 5.0, -1e-12, 1e9])
def test_a_constant_curve_is_drawn_in_the_middle(value: float) -> None:
    drawing = svg_plot(np.array([0.0, 1.0]), np.full((2, 1), value), ["a"], "Positions", "m")
    (stroke,) = re.findall(r'class="curve" d="M[\d.]+ ([\d.]+)L[\d.]+ ([\d.]+)"', drawing)
    assert stroke[0] == stroke[1]
    assert 60 < float(stroke[0]) < 110


def test_the_page_plays_without_a_network(page: Any, written: Path) -> None:
    page.set_viewport_size({"width": 480, "height": 360})
    page.context.set_offline(True)
    page.goto(written.as_uri())
    page.wait_for_selector("canvas")
    bar = page.locator("[role=slider]").first
    bar.wait_for(state="attached")
    assert float(bar.get_attribute("aria-valuemax")) == 2.0
    page.keyboard.press("Space")
    track = page.locator(".mantine-Slider-track").first
    seen = []
    for share in (0.1, 0.9):
        track.click(position={"x": share * track.bounding_box()["width"], "y": 2})
        page.wait_for_function(f"Math.abs(document.querySelector('[role=slider]').ariaValueNow - {2 * share}) < 0.1")
        page.wait_for_timeout(300)
        seen.append(page.screenshot(clip={"x": 240, "y": 60, "width": 200, "height": 200}))
    assert seen[0] != seen[1]
    playing = float(bar.get_attribute("aria-valuenow"))
    page.keyboard.press("Space")
    page.wait_for_function(f"document.querySelector('[role=slider]').ariaValueNow != {playing}")
    page.locator("#linkwise summary", has_text="Table").click()
    assert page.locator("#linkwise table").first.is_visible()
    assert page.errors == []
    assert all(asked.startswith(("file:", "data:", "blob:")) for asked in page.asked), page.asked
