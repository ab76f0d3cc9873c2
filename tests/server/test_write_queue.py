import time
import tracemalloc

import numpy as np
import pytest

from linkwise.server import shared_memory
from linkwise.server import shared_memory as memory
from linkwise.server.shared_memory import Mail, MemoryLayout, Outcome, Receiver, Sender, SharedMemory


class Inputs:
    """Takes numbers for places below three."""

    def __init__(self) -> None:
        self.got: list[tuple[int, list[float]]] = []

    def __call__(self, place: int, numbers: memoryview) -> bool:
        self.got.append((place, numbers.tolist()))
        return 0 <= place < 3


class Post:
    def __init__(self, most: int = 16, entries: int = 8) -> None:
        self.memory, self.inputs = SharedMemory(MemoryLayout(10, 3, entries)), Inputs()
        self.sender = Sender(self.memory)
        self.receiver = Receiver(self.memory, self.inputs, lifetime=1.0, most=most)

    def cycle(self) -> None:
        self.receiver.take()
        self.receiver.tell()

    def counted(self, what: int) -> int:
        return self.memory.words[what]


@pytest.fixture
def post() -> Post:
    return Post()


def test_what_is_posted_is_taken_in_order_and_answered(post: Post) -> None:
    tickets = [post.sender.post(place, numbers) for place, numbers in ((1, [1.5]), (0, [1.0, np.nan, -0.0]), (7, [2.0]))]
    assert [post.sender.outcome(ticket) for ticket in tickets] == [Outcome.waiting] * 3
    post.cycle()
    assert str(post.inputs.got) == "[(1, [1.5, 0.0, 0.0]), (0, [1.0, nan, -0.0]), (7, [2.0, 0.0, 0.0])]"
    assert [post.sender.outcome(ticket) for ticket in tickets] == [Outcome.accepted, Outcome.accepted, Outcome.refused]
    assert (post.counted(memory.ACCEPTED), post.counted(memory.REFUSED)) == (2, 1)
    post.cycle()
    assert len(post.inputs.got) == 3


def test_nothing_is_answered_before_the_cycle_is_done(post: Post) -> None:
    ticket = post.sender.post(0, [1.0])
    post.receiver.take()
    assert post.inputs.got
    assert post.sender.outcome(ticket) is Outcome.waiting
    post.receiver.tell()
    assert post.sender.outcome(ticket) is Outcome.accepted


def test_a_full_mailbox_refuses_and_is_empty_again_after_a_cycle(post: Post) -> None:
    assert all(post.sender.post(0, [k]) for k in range(8))
    assert post.sender.post(0, [8.0]) is None
    post.cycle()
    assert post.sender.post(0, [9.0]) == 9


def test_what_became_of_an_entry_is_known_though_its_place_is_used_again(post: Post) -> None:
    first = [post.sender.post(place, [float(place), 5.0]) for place in (0, 7)]
    post.cycle()
    for k in range(8):
        assert post.sender.post(1, [float(k)])
    post.cycle()
    assert [post.sender.outcome(ticket) for ticket in first if ticket] == [Outcome.accepted, Outcome.refused]
    assert post.sender.numbers(first[0] or 0) == [0.0, 5.0, 0.0]
    for k in range(100):
        assert post.sender.post(1, [float(k)])
        post.cycle()
    assert len(post.sender._settled) <= 8 * shared_memory.KEPT


def test_many_times_round(post: Post) -> None:
    for k in range(100):
        ticket = post.sender.post(k % 3, [float(k)])
        assert ticket is not None
        post.cycle()
        assert post.sender.outcome(ticket) is Outcome.accepted
        assert post.inputs.got[-1] == (k % 3, [float(k), 0.0, 0.0])
    assert post.sender.outcome(1) is Outcome.waiting  # (its place has long been another's)


def test_a_cycle_takes_only_so_many() -> None:
    post = Post(most=3)
    for k in range(7):
        post.sender.post(0, [k])
    sizes = []
    for _ in range(4):
        post.cycle()
        sizes.append(len(post.inputs.got))
    assert sizes == [3, 6, 7, 7]


def test_what_waited_too_long_is_void(post: Post, monkeypatch: pytest.MonkeyPatch) -> None:
    old = post.sender.post(0, [1.0])
    later = time.monotonic_ns() + 1_100_000_000
    monkeypatch.setattr(shared_memory.time, "monotonic_ns", lambda: later)
    new = post.sender.post(0, [2.0])
    post.cycle()
    assert [numbers[0] for _, numbers in post.inputs.got] == [2.0]
    assert (post.sender.outcome(old), post.sender.outcome(new)) == (Outcome.expired, Outcome.accepted)
    assert post.counted(memory.EXPIRED) == 1


def test_an_entry_that_is_not_whole_is_looked_at_again_and_then_given_up(post: Post) -> None:
    first = post.sender.post(0, [1.0, 2.0, 3.0])
    post.sender.post(1, [4.0])
    mail = Mail(post.memory)
    mail.numbers[1][1] = 2.5  # as if one number had not come yet
    post.cycle()
    assert (post.inputs.got, post.sender.outcome(first)) == ([], Outcome.waiting)
    mail.numbers[1][1] = 2.0
    post.cycle()
    assert post.inputs.got == [(0, [1.0, 2.0, 3.0]), (1, [4.0, 0.0, 0.0])]
    third = post.sender.post(2, [5.0])
    mail.heads[3][1] = 1  # another port than was meant
    for _ in range(shared_memory.PATIENCE):
        post.cycle()
    assert post.sender.outcome(third) is Outcome.broken
    assert len(post.inputs.got) == 2
    assert post.counted(memory.BROKEN) == 1


def test_a_sender_gone_mad_cannot_hold_up_a_cycle_or_get_a_number_in(post: Post) -> None:
    """Random bits over its part of the memory: nothing is accepted, and no cycle looks at more than so many entries."""
    draw = np.random.default_rng(5)
    layout = post.memory.layout
    words = np.asarray(post.memory.words)
    for _ in range(200):
        words[layout.mail : layout.outcomes] = draw.integers(-(2**62), 2**62, layout.outcomes - layout.mail)
        words[memory.MAIL_HEAD] = draw.integers(-(2**62), 2**62)
        post.cycle()
    assert post.inputs.got == []
    assert post.counted(memory.ACCEPTED) == 0
    # one is given up where the next is first seen
    assert (
        0 < post.counted(memory.BROKEN) <= 200 / (shared_memory.PATIENCE - 1)
    )  # (one is given up where the next is first seen)


def test_nothing_new_leaves_nothing_in_memory(post: Post) -> None:
    post.sender.post(0, [1.0])
    post.cycle()
    tracemalloc.start()
    for _ in range(1000):
        post.receiver.take()
    held = tracemalloc.take_snapshot().filter_traces([tracemalloc.Filter(True, shared_memory.__file__)])
    tracemalloc.stop()
    assert sum(trace.size for trace in held.traces) == 0
