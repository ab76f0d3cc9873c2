import multiprocessing
import os
import struct

import numpy as np
import pytest

from linkwise.server import shared_memory as memory
from linkwise.server.shared_memory import LAST, SUM, MemoryLayout, Publisher, SharedMemory, Slots, Snapshots

both = pytest.mark.parametrize("summed", [False, True], ids=["ordered", "summed"])


def pair(n: int, summed: bool) -> tuple[np.ndarray, SharedMemory, Publisher, Snapshots]:
    values, shared = np.arange(float(n)), SharedMemory(MemoryLayout(n, 3))
    return values, shared, Publisher(shared, values, summed), Snapshots(shared, np.full(n, -1.0), summed)


@both
def test_what_is_put_up_is_read_to_the_bit(summed: bool) -> None:
    values, shared, publisher, seen = pair(17, summed)
    assert not seen.read()
    values[3:6] = np.nan, -0.0, np.inf
    publisher.publish()
    assert seen.read()
    assert seen.values.tobytes() == values.tobytes()
    assert seen.count == 1
    assert not seen.read()  # nothing newer
    shared.close()


@both
def test_the_newest_is_read_whatever_was_missed(summed: bool) -> None:
    values, shared, publisher, seen = pair(5, summed)
    for k in range(11):
        values[:] = k
        publisher.publish()
    assert seen.read()
    assert (seen.values == 10).all()
    assert (seen.count, seen.torn) == (11, 0)
    shared.close()


@both
def test_a_snapshot_that_is_being_written_is_not_read(summed: bool) -> None:
    """As if the writer had been stopped in the middle: four rounds later, the place is half overwritten."""
    values, shared, publisher, seen = pair(6, summed)
    for _ in range(3):
        publisher.publish()
    slots = Slots(shared)
    slots.heads[3][0] = 7  # the next but three has begun there
    slots.numbers[3][:3] = memoryview(np.full(3, 99.0))
    assert not seen.read()
    assert seen.torn > 0
    assert (seen.values == -1).all()
    slots.heads[3][0] = 3
    slots.heads[3][LAST] = 2  # or has not been ended
    assert not seen.read()
    publisher.publish()
    assert seen.read()
    assert (seen.values == values).all()
    shared.close()


def test_values_that_became_visible_out_of_order_are_found_by_their_sum() -> None:
    values, shared, publisher, seen = pair(6, True)
    publisher.publish()
    Slots(shared).numbers[1][2] = 5.5  # numbers in place, one value is not
    assert not seen.read()
    Slots(shared).numbers[1][2] = values[2]
    assert seen.read()
    shared.close()


def test_a_snapshot_of_another_number_has_another_sum() -> None:
    _, shared, publisher, _ = pair(6, True)
    sums = []
    for _ in range(2):
        publisher.publish()
        sums.append(Slots(shared).heads[len(sums) + 1][SUM])
    assert sums[0] != sums[1]
    shared.close()


def hammer(handle: int, n: int, rounds: int, summed: bool) -> None:
    """Put up vectors whose numbers are all the same, as fast as it goes."""
    values = np.zeros(n)
    publisher = Publisher(SharedMemory(MemoryLayout(n, 3), handle), values, summed)
    for k in range(rounds):
        values.fill(k)
        publisher.publish()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a process that inherits the memory")
@pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning")  # (JAX, where another test has woken it, warns of every fork)
@both
def test_nothing_torn_is_read_while_another_process_hammers(summed: bool) -> None:
    n, rounds = 20_000, 3_000  # (so large that copying one takes longer than writing starts the next)
    shared = SharedMemory(MemoryLayout(n, 3))
    seen = Snapshots(shared, np.zeros(n), summed)
    writer = multiprocessing.get_context("fork").Process(target=hammer, args=(os.dup(shared.handle), n, rounds, summed))
    writer.start()
    reads, last = 0, -1.0
    while writer.is_alive():
        if seen.read():
            assert seen.values.min() == seen.values.max() > last
            reads, last = reads + 1, float(seen.values[0])
    writer.join()
    assert writer.exitcode == 0
    seen.read()
    assert reads > 0
    assert (seen.values == rounds - 1).all()
    shared.close()


def test_the_memory_has_no_name_that_could_stay_behind() -> None:
    before = set(os.listdir("/dev/shm")) if os.path.isdir("/dev/shm") else set()
    shared = SharedMemory(MemoryLayout(100, 9))
    assert (set(os.listdir("/dev/shm")) if os.path.isdir("/dev/shm") else set()) == before
    assert len(shared.words) == shared.layout.words
    shared.close()
    shared.close()


def test_both_sides_see_the_same_memory() -> None:
    one = SharedMemory(MemoryLayout(4, 3))
    two = SharedMemory(one.layout, one.handle)
    one.numbers[memory.COUNTERS] = 1.5
    assert two.words[memory.COUNTERS] == struct.unpack("q", struct.pack("d", 1.5))[0]
    one.close()


def test_parts_of_the_memory_do_not_overlap() -> None:
    for values, width, watched in ((1, 1, 0), (473, 9, 7), (8, 3, 1)):
        layout = MemoryLayout(values, width, entries=5, watched=watched)
        taken = np.zeros(layout.words, dtype=int)
        taken[: memory.COUNTERS] += 1
        for k in range(memory.SLOTS):
            begin = layout.board + k * layout.slot
            assert memory.SLOT_HEAD + values <= layout.slot
            taken[begin : begin + layout.slot] += 1
        for k in range(layout.entries):
            begin = layout.mail + k * layout.entry
            assert memory.ENTRY_HEAD + width <= layout.entry
            taken[begin : begin + layout.entry] += 1
        taken[layout.outcomes : layout.outcomes + layout.entries] += 1
        if watched:  # (in a cache line of their own)
            taken[layout.outcomes + layout.entries : layout.watches] += 1
            taken[layout.watches : layout.watches + watched] += 1
        assert (taken == 1).all()
