"""Only the newest word on each thing counts, and nobody waits for what was said before."""

import threading
import time

from linkwise.view.browser.viewer import Inbox


def test_the_newest_word_counts_and_stands_last() -> None:
    inbox = Inbox()
    for value in range(1000):
        inbox.put(("joint", 0), value)
    inbox.put("play", True)
    inbox.put(("joint", 0), -1)
    assert list(inbox.take(0.0).items()) == [("play", True), (("joint", 0), -1)]
    assert inbox.take(0.0) == {}


def test_what_is_offered_gives_way_to_what_is_asked_for() -> None:
    inbox = Inbox()
    inbox.offer("drag", 1)
    inbox.put("drag", 2)
    inbox.offer("drag", 3)
    assert inbox.take(0.0) == {"drag": 2}


def test_a_waiting_reader_wakes_at_once() -> None:
    inbox, found = Inbox(), {}
    reader = threading.Thread(target=lambda: found.update(inbox.take(30.0)))
    reader.start()
    time.sleep(0.02)
    inbox.put("stop", 1)
    reader.join(timeout=10.0)
    assert found == {"stop": 1}


def test_a_reader_gives_up() -> None:
    begun = time.monotonic()
    assert Inbox().take(0.05) == {}
    assert time.monotonic() - begun >= 0.05
