"""`world_laws`: one test for each law, which fails with what the checker says."""

import pytest

from interplay.checker import LAWS
from interplay.testing import world_laws
from tests.checker.faulty_worlds import FAULTS
from tests.checker.sound_worlds import Camp

test_camp = world_laws(Camp, steps=60)
test_corridors_of_nine_cells = world_laws(
    "simulation/multi-corridor", steps=60, num_worlds=2, ignore=["hash"], end=9
)


def test_there_is_one_test_for_each_law_that_is_not_ignored():
    (mark,) = world_laws(Camp, ignore=["hash"]).pytestmark
    assert mark.args == ("law", [law for law in LAWS if law != "hash"])


def test_a_broken_law_fails_its_own_test_and_the_world_is_played_once():
    fault = next(fault for fault in FAULTS if fault.law == "corruptible")
    made = []

    def make(num_worlds, seed):
        made.append(num_worlds)
        return fault.world(num_worlds, seed)

    test = world_laws(make, steps=60)
    with pytest.raises(pytest.fail.Exception, match=r"corruptible: .*hand out read-only views"):
        test("corruptible")
    count = len(made)
    test("determinism")
    assert len(made) == count


def test_what_could_not_be_judged_is_skipped_and_not_passed():
    class Unsaved(Camp):
        def save(self):
            raise ValueError("a process of somebody else's")

    test = world_laws(Unsaved, steps=20, ignore=["save-load"])
    with pytest.raises(pytest.skip.Exception, match="not judged: what needs snapshots: copies"):
        test("copies")
