"""Chunks of a batch: every world once, whatever the threads; what one of them stumbles over is told."""

from __future__ import annotations

import threading
import time
from collections import Counter
from itertools import chain

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interplay.core.chunks import Chunks


@settings(max_examples=40)
@given(st.integers(1, 40), st.integers(0, 6))
def test_every_world_is_in_one_range_of_every_run(worlds, threads):
    chunks, runs = Chunks(worlds, threads), 3
    done, who = Counter(), set()

    def part(thread, lo, hi):
        done.update(range(lo, hi))
        who.add(thread)

    for _ in range(runs):
        chunks.run(part)
    chunks.close()
    assert done == dict.fromkeys(range(worlds), runs)
    assert chunks.threads == max(1, min(threads, worlds))
    assert who <= set(range(chunks.threads))


def test_ranges_are_of_equal_size_up_to_one():
    for worlds, threads in ((7, 3), (64, 4), (5, 5)):
        chunks, sizes = Chunks(worlds, threads), []
        chunks.run(lambda _, lo, hi, sizes=sizes: sizes.append(hi - lo))
        chunks.close()
        assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_a_run_ends_when_all_ranges_are_done(threads):
    chunks, done = Chunks(8, threads), []

    def part(thread, lo, hi):
        time.sleep(0.01 * (1 + thread))
        done.append((lo, hi))

    chunks.run(part)
    assert sorted(chain.from_iterable(range(*pair) for pair in done)) == list(range(8))
    chunks.close()


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_what_any_thread_stumbles_over_is_raised(threads):
    """The thread that asks does its part too; each of them has its turn to fail."""
    for failing in range(threads):
        chunks, there = Chunks(8, threads), threading.Barrier(threads)
        met = threading.local()

        def part(thread, lo, hi, failing=failing, there=there, met=met):
            if not getattr(met, "others", False):
                met.others = True
                there.wait(10)  # so that every thread has a range of its own
            if thread == failing:
                raise ZeroDivisionError("a wrong number")

        with pytest.raises(ZeroDivisionError, match="a wrong number"):
            chunks.run(part)
        chunks.close()
