"""The viewer's server is for this machine, and for its own page."""

import gzip
import socket
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator

import pytest

from linkwise.errors import ArgumentError

viser = pytest.importorskip("viser")
import websockets.asyncio.server  # noqa: E402
from websockets.exceptions import InvalidStatus  # noqa: E402
from websockets.sync.client import connect  # noqa: E402

from linkwise.view.browser import server as server_module  # noqa: E402
from linkwise.view.browser.server import address, is_loopback, make_server, own_names, refusal, stop  # noqa: E402


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    server = make_server(port=0)
    yield address(server)
    stop(server)


def get(url: str, headers: dict[str, str]) -> tuple[int, str, dict[str, str]]:
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers)) as answer:
            return answer.status, answer.read().decode(), dict(answer.headers)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode(), dict(error.headers)


def test_it_binds_to_loopback_only(url: str) -> None:
    port = int(url.rpartition(":")[2])
    with open("/proc/net/tcp", encoding="ascii") as table:
        listening = [line.split()[1] for line in table.readlines()[1:] if line.split()[3] == "0A"]
    assert [entry for entry in listening if entry.endswith(f":{port:04X}")] == [f"0100007F:{port:04X}"]


def test_its_page_is_served_and_may_not_be_framed(url: str) -> None:
    status, text, headers = get(url, {})
    assert status == 200
    assert "<html" in text
    assert headers["Content-Security-Policy"] == "frame-ancestors 'self'"
    assert headers["X-Frame-Options"] == "SAMEORIGIN"


@pytest.mark.parametrize(
    ("headers", "said"),
    [
        ({"Host": "rebound.example:80"}, "'rebound.example:80' is not a name of this viewer"),
        ({"Origin": "http://rebound.example"}, "a page of 'http://rebound.example' may not use this viewer"),
        ({"Origin": "null"}, "a page of 'null'"),
    ],
)
def test_strangers_get_no_page(url: str, headers: dict[str, str], said: str) -> None:
    status, text, _ = get(url, headers)
    assert status == 403
    assert said in text


@pytest.mark.parametrize("origin", ["http://rebound.example", "null", "file://", "http://localhost:1", "https://127.0.0.1"])
def test_pages_of_other_origins_get_no_line(url: str, origin: str) -> None:
    with pytest.raises(InvalidStatus, match="403"):
        connect(url.replace("http", "ws"), origin=origin, subprotocols=[f"viser-v{viser.__version__}"])


@pytest.mark.parametrize("spoken", [None, ["viser-v0.0.1"], ["chat"]])
def test_who_speaks_otherwise_gets_no_line_and_nothing_is_printed(
    url: str, spoken: list[str] | None, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(InvalidStatus, match="426"):
        connect(url.replace("http", "ws"), origin=url, subprotocols=spoken)
    assert capfd.readouterr() == ("", "")


def test_what_is_wrong_with_callers_is_told_to_our_own_log_only(caplog: pytest.LogCaptureFixture) -> None:
    server = make_server(port=0)
    with caplog.at_level("DEBUG"):
        with socket.create_connection(("127.0.0.1", server.get_port())) as line:
            line.sendall(b"?\r\n\r\n")
            assert line.recv(100) == b""
        stop(server)
    assert {record.name for record in caplog.records if record.name != "asyncio"} == {"linkwise.view.browser"}


def test_its_own_page_gets_a_line(url: str) -> None:
    with connect(
        url.replace("http", "ws"), origin=url, subprotocols=[f"viser-v{viser.__version__}"], compression=None
    ) as line:
        assert line.recv(timeout=10)


HOSTS = [
    ("127.0.0.1", "127.0.0.1:8080", "http://127.0.0.1:8080", True),
    ("127.0.0.1", "localhost:9000", "http://localhost:9000", True),  # (through a tunnel)
    ("127.0.0.1", "[::1]:8080", "http://[::1]:8080", True),
    ("127.0.0.1", "192.168.1.5:8080", "http://192.168.1.5:8080", False),
    ("127.0.0.1", "127.0.0.1:8080", "http://127.0.0.1:8081", False),
    ("127.0.0.1", "127.0.0.1.example.org:8080", "http://127.0.0.1.example.org:8080", False),
    ("127.0.0.1", "user@127.0.0.1:8080", "http://user@127.0.0.1:8080", False),
    ("127.0.0.1", "127.0.0.1:8080/x", "http://127.0.0.1:8080/x", False),
    ("127.0.0.1", "127.0.0.1:port", "http://127.0.0.1:port", False),
    ("0.0.0.0", "192.168.1.5:8080", "http://192.168.1.5:8080", True),
    ("0.0.0.0", "example.org:8080", "http://example.org:8080", False),
    ("0.0.0.0", "192.168.1.5:8080", "http://example.org", False),
    ("robot.lan", "robot.lan:8080", "https://robot.lan:8080", True),
]


@pytest.mark.parametrize(("bound", "host", "origin", "welcome"), HOSTS)
def test_who_is_welcome(bound: str, host: str, origin: str, welcome: bool) -> None:
    assert (refusal(own_names(bound), [host], [origin]) is None) == welcome


def test_headers_given_twice_are_refused() -> None:
    names = own_names("127.0.0.1")
    assert refusal(names, ["127.0.0.1", "evil.example"], [])
    assert refusal(names, [], [])
    assert refusal(names, ["127.0.0.1"], ["http://127.0.0.1", "http://evil.example"])
    assert refusal(names, ["127.0.0.1"], []) is None


@pytest.mark.parametrize(("host", "loop"), [("127.0.0.1", True), ("127.8.8.8", True), ("::1", True), ("LOCALHOST", True)])
def test_loopback_is_known(host: str, loop: bool) -> None:
    assert is_loopback(host) == loop
    assert not is_loopback("0.0.0.0")
    assert not is_loopback("localhost.example.org")


@pytest.mark.parametrize("port", [-1, 65536, 1.5, "80"])
def test_a_port_that_is_none_is_refused(port: object) -> None:
    with pytest.raises(ArgumentError, match=r"port is .*expected a number from 0 to 65535"):
        make_server(port=port)  # type: ignore[arg-type]


def test_a_port_in_use_is_refused_when_asked_for_and_passed_over_when_not() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ArgumentError, match=f"port {port} of host '127.0.0.1' cannot be used"):
            make_server(port=port)


@pytest.mark.parametrize("host", ["", None, 8080, "a" * 70 + ".x", "\udcff"])
def test_a_host_that_is_none_is_refused(host: object) -> None:
    with pytest.raises(ArgumentError, match="host is "):
        make_server(host, 0)  # type: ignore[arg-type]


def test_two_servers_at_one_port_of_two_addresses_are_stopped_apart() -> None:
    one = make_server(port=0)
    port = one.get_port()
    other = make_server("127.0.0.2", port)
    assert other.get_port() == port
    stop(one)
    with pytest.raises(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port)):
        pass
    assert get(f"http://127.0.0.2:{port}", {})[0] == 200
    stop(other)
    with pytest.raises(ConnectionRefusedError), socket.create_connection(("127.0.0.2", port)):
        pass


def test_many_threads_start_and_stop_servers_and_the_output_stays_the_users(capsys: pytest.CaptureFixture[str]) -> None:
    original, out, told = websockets.asyncio.server.serve, sys.stdout, 8

    def start_and_stop() -> None:
        for _ in range(told // 4):
            server = make_server(port=0)
            print("mine")
            stop(server)

    threads = [threading.Thread(target=start_and_stop) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert websockets.asyncio.server.serve is original
    assert sys.stdout is out
    assert capsys.readouterr().out.split() == ["mine"] * told


def test_a_server_that_fails_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    original = websockets.asyncio.server.serve
    doors: list[socket.socket] = []
    bound = server_module._bound

    def kept(host: str, port: int | None) -> socket.socket:
        doors.append(bound(host, port))
        return doors[-1]

    monkeypatch.setattr(server_module, "_bound", kept)
    monkeypatch.setattr(viser, "ViserServer", lambda **_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        make_server(port=0)
    assert websockets.asyncio.server.serve is original
    assert doors[0].fileno() == -1


def test_the_port_is_ours_to_choose(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_VISER_PORT_OVERRIDE", "1")
    server = make_server(port=0)
    assert server.get_port() > 1
    assert get(address(server), {})[0] == 200
    stop(server)


def test_an_address_of_another_machine_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"host '192\.0\.2\.1' cannot be used|host is"):
        make_server("192.0.2.1", 0)


def test_it_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    stop(make_server(port=0))
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize(("host", "shown"), [("0.0.0.0", "localhost"), ("::", "localhost"), ("::1", "[::1]"), ("a", "a")])
def test_the_address_is_one_that_a_browser_takes(host: str, shown: str) -> None:
    class Server:
        def get_port(self) -> int:
            return 80

    assert address(Server(), host) == f"http://{shown}:80"  # type: ignore[arg-type]


@pytest.mark.parametrize("packed", [False, True])
def test_the_page_bears_our_title(url: str, packed: bool) -> None:
    status, _, headers = get(url, {})
    assert status == 200
    with urllib.request.urlopen(
        urllib.request.Request(url, headers={"Accept-Encoding": "gzip"} if packed else {})
    ) as answer:
        body = answer.read()
    assert headers["Content-Type"].startswith("text/html")
    page = gzip.decompress(body) if packed else body
    assert page.count(b"<title>Linkwise</title>") == 1
