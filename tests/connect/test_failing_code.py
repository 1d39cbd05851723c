"""An error in user code names file, line, world, step and agent."""

from __future__ import annotations

import numpy as np
import pytest

from interplay.checker import check_world
from interplay.connect.parallel_world import ParallelEnvWorld
from interplay.core.errors import UserError
from interplay.core.user_code import where
from tests.connect.painters import LINE, Painter


@pytest.mark.parametrize("processes", [0, 1])
def test_a_failing_step_says_where(processes):
    name = "tests.connect.painters:Painter"
    world = ParallelEnvWorld(name, num_worlds=2, processes=processes, kwargs={"fail": "step"})
    try:
        world.reset()
        world.step(np.zeros((2, 2), np.int64))
        world.step(np.zeros((2, 2), np.int64))
        with pytest.raises(UserError) as caught:
            world.step(np.zeros((2, 2), np.int64))
    finally:
        world.close()
    told = str(caught.value)
    assert told.startswith("world 0, step 3: ZeroDivisionError: no paint (")
    assert told.endswith(f"painters.py, line {LINE}, agent right); mend the environment")


def test_steps_are_counted_by_episode():
    world = ParallelEnvWorld(Painter, kwargs={"fail": "shape"})
    world.reset()
    world.step(np.zeros((1, 2), np.int64))
    world.reset()
    for _ in range(2):
        world.step(np.zeros((1, 2), np.int64))
    with pytest.raises(UserError, match=r"world 0, step 3: observation of left has shape \(4,\), its space"):
        world.step(np.zeros((1, 2), np.int64))


def test_the_place_is_the_users_own_line_and_not_that_of_a_library():
    with pytest.raises(ValueError, match="reshape") as caught:
        np.zeros(3).reshape(2)
    assert where(caught.value).startswith("tests/connect/test_failing_code.py, line ")


def test_code_of_this_package_is_no_users_code():
    with pytest.raises(UserError) as caught:
        ParallelEnvWorld("no_such_module:Thing")
    inner = caught.value.with_traceback(caught.tb.tb_next)  # without this test's own line
    assert where(inner) == ""


def test_the_checker_only_notes_what_pettingzoo_does_not_promise():
    report = check_world(lambda num_worlds, seed: ParallelEnvWorld(Painter, num_worlds, seed), steps=25)
    assert report.ok, str(report)
    assert any("save and load, which this world does not promise" in note for note in report.skipped)
