"""What every registered world owes: the laws of the protocol, and a playthrough that is told the same way again."""

import pytest

import interplay
from interplay.core.checker import check_world
from interplay.core.playthrough import read_head, replay_playthrough
from tests.playthroughs.regenerate import FOLDER, make, path_of

IDS = [spec.id for spec in interplay.list_worlds()]
STEPS = 600  # of the checker's long run: past the first deaths of random survivors


def test_there_are_worlds():
    assert IDS


@pytest.mark.parametrize("world_id", IDS)
def test_keeps_every_law(world_id):
    report = check_world(
        lambda num_worlds, seed: interplay.make_world(world_id, num_worlds=num_worlds, seed=seed), steps=STEPS
    )
    assert report.ok, str(report)
    assert not report.skipped


@pytest.mark.parametrize("world_id", IDS)
def test_playthrough_is_told_the_same_way_again(world_id):
    path = path_of(world_id)
    assert path.exists(), f"{world_id} has no playthrough; python tests/playthroughs/regenerate.py {world_id}"
    mismatch = replay_playthrough(path.read_text(), make)
    assert mismatch is None, f"{path.name}: {mismatch}"


def test_every_playthrough_is_of_a_world_that_exists():
    assert {read_head(path.read_text()).world for path in FOLDER.glob("*.txt")} <= set(IDS)
