"""What every registered world owes: the laws of the protocol, and a playthrough that is told the same way again."""

import numpy as np
import pytest

import interplay
from interplay.checker import check_world
from interplay.core.playthrough import read_head, replay_playthrough
from interplay.core.policy import RandomPolicy
from tests.playthroughs.regenerate import FOLDER, make, path_of
from tests.present import worlds_to_test

pytestmark = pytest.mark.slow

IDS = [spec.id for spec in worlds_to_test()]
# One world of every maker: its others differ in options.
MAKERS = sorted({spec.make: spec.id for spec in reversed(worlds_to_test())}.values())
APART = ("navigation/town",)  # every copy is a program of its own: half a minute
# The large forms of the persistent world differ from the form of 128 in numbers alone; the checker, which builds dozens of batches,
# takes 100 seconds for 5 steps of 8,192 agents. So it gets them with fewer agents on less ground.
LARGE = [f"mmo/{game}-{agents}" for game in ("forage", "combat") for agents in (1024, 8192, 32000)]
SMALLER = {key: {"slots": 128, "interior": 100} for key in LARGE} | {"soccer/11v11": {"players": 4}}


def test_there_are_worlds():
    assert IDS


def one_of_every_maker(steps, more):
    """(world, steps) for the suite, and for the night the same with more steps and all others."""
    night = [
        pytest.param(world_id, more if world_id in MAKERS else steps, marks=pytest.mark.long)
        for world_id in IDS
    ]
    return pytest.mark.parametrize(
        ("world_id", "steps"), [(world_id, steps) for world_id in MAKERS if world_id not in APART] + night
    )


@one_of_every_maker(100, 600)
def test_keeps_every_law(world_id, steps):
    options = SMALLER.get(world_id, {})
    report = check_world(
        lambda num_worlds, seed: interplay.make_world(world_id, num_worlds=num_worlds, seed=seed, **options),
        steps=steps,
    )
    assert report.ok, str(report)
    assert not report.skipped


@pytest.mark.parametrize("world_id", LARGE)
def test_a_large_form_plays_at_its_size_with_any_threads(world_id):
    agents = int(world_id.rpartition("-")[2])
    hashes = []
    for threads in (1, 2):
        world = interplay.make_world(world_id, num_worlds=2, seed=3, threads=threads, prefill=agents // 2)
        assert world.reset().acting.sum() > 0.4 * agents
        assert len(world.agents) == agents
        for _ in range(3):
            action = np.random.default_rng(0).integers(0, [5, 3], (2, agents, 2))
            timestep = world.step(action)
        assert np.isfinite(timestep.reward).all()
        hashes.append(world.hash().tolist())
        world.close()
    assert hashes[0] == hashes[1]


@pytest.mark.parametrize("world_id", IDS)
def test_playthrough_is_told_the_same_way_again(world_id):
    path = path_of(world_id)
    assert path.exists(), f"{world_id} has no playthrough; python tests/playthroughs/regenerate.py {world_id}"
    mismatch = replay_playthrough(path.read_text(), lambda head: make(head._replace(world=world_id)))
    assert mismatch is None, f"{path.name}: {mismatch}"


@pytest.mark.parametrize("world_id", MAKERS)
def test_a_block_of_a_batch_is_that_block(world_id):
    """So that training over several processes is that of one."""
    options = SMALLER.get(world_id, {})
    whole = interplay.make_world(world_id, num_worlds=4, seed=5, **options)
    whole.reset()
    begun = whole.hash().tolist()
    assert len(set(begun)) == 4
    for first in (0, 2):
        block = interplay.make_world(world_id, num_worlds=2, seed=5, first_world=first, **options)
        block.reset()
        assert block.hash().tolist() == begun[first : first + 2]
        block.reset(seeds=6)
        again = block.hash().tolist()
        block.close()
        whole.reset(seeds=6)
        assert again == whole.hash().tolist()[first : first + 2]
    whole.close()


def test_every_playthrough_is_of_a_world_that_exists():
    assert {read_head(path.read_text()).world for path in FOLDER.glob("*.txt")} <= set(IDS)


@pytest.mark.parametrize("world_id", MAKERS)
def test_a_reset_with_seeds_leaves_nothing_of_what_was_before(world_id):
    used, fresh = (interplay.make_world(world_id, seed=seed) for seed in (3, 4))
    used.reset(seeds=5)
    policy = RandomPolicy()
    policy.start(used, 0)
    for _ in range(40):
        if used.timestep.over[0]:
            used.reset()
        used.step(policy.act(used.timestep))
    used.reset(seeds=9)
    fresh.reset(seeds=9)
    assert used.hash().tolist() == fresh.hash().tolist()
