"""What a policy remembers is read off its attributes, and going on from it is as if it had never stopped."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

import interplay
from interplay.core.errors import UserError
from interplay.core.memory import recall, remember
from interplay.core.policy import Policy
from interplay.registry import make_policy
from tests.checker.sound_worlds import Camp


class Diary:
    """An object that a policy makes for itself; it knows its owner and the world."""

    def __init__(self, owner: Any) -> None:
        self.owner, self.world = owner, owner.world
        self.pages = Marks(np.zeros(4, np.int64), 0)

    def write(self, number: int) -> None:
        self.pages.seen[number % 4] += number


class Marks(NamedTuple):
    seen: np.ndarray
    count: int


class Minded(Policy):
    """Remembers in every form there is; its actions show what."""

    def start(self, world: Any, seed: int = 0) -> None:
        super().start(world, seed)
        self.steps, self.mood = 0, 0.5
        self.marks = Marks(np.zeros(3, np.int64), 0)
        self.by_name = {"a": [np.zeros(2, np.float32), np.float32(1.0)]}
        self.other = np.random.Generator(np.random.PCG64(seed))
        self.diaries = [Diary(self)]
        self.met = np.zeros(5, bool)
        self.late: np.ndarray | None = None
        self.table = np.broadcast_to(np.arange(3), (2, 3))  # cannot be written, so it is no memory

    def act(self, timestep: Any) -> list[float]:
        self.steps += 1
        self.mood = float(self.rng.random())
        self.marks.seen[self.steps % 3] += self.other.integers(9)
        self.marks = self.marks._replace(count=self.marks.count + 2)
        self.diaries[0].write(self.steps)
        self.by_name["a"][0] += np.float32(self.mood)
        self.by_name["a"][1] = np.float32(self.mood * 2)
        self.met[self.steps % 5] ^= True
        self.late = np.full(self.steps, self.steps)
        told = [
            self.steps,
            self.mood,
            *self.diaries[0].pages.seen,
            *self.marks.seen,
            self.marks.count,
            *self.by_name["a"][0],
            *self.met,
        ]
        return [*map(float, told), float(self.by_name["a"][1]), float(self.late.sum())]


class Forgetful(Minded):
    no_memory = (*Minded.no_memory, "steps")


def started(kind: type[Minded]) -> Minded:
    policy = kind()
    policy.start(Camp(1), seed=4)
    return policy


def go_on(kind: type[Minded]) -> tuple[list[Any], list[Any]]:
    """What a policy does after a stop, and what it would have done without one."""
    first, second = started(kind), started(kind)
    for _ in range(5):
        first.act(None)
    second.load(first.save())
    return [second.act(None) for _ in range(4)], [first.act(None) for _ in range(4)]


def test_a_policy_that_was_saved_goes_on() -> None:
    again, through = go_on(Minded)
    assert again == through


def test_what_is_left_out_is_missed() -> None:
    again, through = go_on(Forgetful)
    assert again != through


def test_a_snapshot_is_a_copy_and_says_no_more_than_there_is() -> None:
    policy = started(Minded)
    policy.act(None)
    saved = policy.save()
    assert set(saved) == {
        "rng",
        "other",
        "steps",
        "mood",
        "late",
        "met",
        "marks/seen",
        "marks/count",
        "by_name/a/0",
        "by_name/a/1",
        "diaries/0/pages/seen",
        "diaries/0/pages/count",
    }
    before = saved["marks/seen"].copy()
    for _ in range(3):
        policy.act(None)
    assert np.array_equal(saved["marks/seen"], before)


class Growing(Minded):
    """Writes into all that it remembers, also into what comes into being late."""

    def act(self, timestep: Any) -> list[float]:
        late = self.late
        told = super().act(timestep)
        self.late = np.zeros(3, np.int64) if late is None else late
        self.late[self.steps % 3] += 1
        return [*told, *map(float, self.late)]


def test_a_snapshot_is_nobodys_memory() -> None:
    """Who saved it, and all who were given it, go on by themselves, and it stays as it was."""
    first = started(Growing)
    for _ in range(4):
        first.act(None)
    saved = first.save()
    kept = {path: array.copy() for path, array in saved.items()}
    others = [started(Growing) for _ in range(2)]
    for other in others:
        other.load(saved)
    told = [[policy.act(None) for _ in range(5)] for policy in (first, *others)]
    assert told[0] == told[1] == told[2]
    assert saved.keys() == kept.keys()
    assert all(np.array_equal(saved[path], kept[path]) for path in kept)
    assert not all(np.array_equal(array, kept[path]) for path, array in first.save().items())


def test_arrays_that_others_hold_too_are_filled_in_place() -> None:
    policy = started(Minded)
    seen = policy.marks.seen
    policy.load(started(Minded).save() | {"marks/seen": np.array([4, 5, 6])})
    assert seen.tolist() == [4, 5, 6]


def test_the_memory_of_another_policy_is_refused() -> None:
    class Box:
        pass

    box, other = Box(), Box()
    box.rows, other.columns = {"x": 1}, {"x": 1}  # type: ignore[attr-defined]
    with pytest.raises(UserError, match=r"Box: its columns/x cannot be restored .* save and load of its own"):
        recall(other, remember(box))


@pytest.mark.parametrize(
    ("world_id", "player", "path", "value", "message"),
    [
        ("werewolf/9-l1s9", "bandwagon", "_memory/boards/targets", 9, "holds 9, outside -1..8"),
        ("werewolf/9-l1s9", "bandwagon", "_memory/before", 77, "holds 77"),
        ("werewolf/9-l1s9", "bayes", "belief/_sets/members", 500, "holds 500"),
        ("mmo/combat-128", "forager", "_choices", 10_000, "holds 10000"),
        ("pommerman/ffa", "simple", "_memory/chased", 5, "chased holds 5"),
    ],
)
def test_wild_memory_of_scripted_players_is_refused_before_a_kernel_reads_it(
    world_id, player, path, value, message
):
    world = interplay.make_world(world_id, num_worlds=2)
    step = world.reset()
    policy = make_policy(world_id, player)
    policy.start(world)
    policy.act(step)
    kept = policy.save()
    for wild in (
        {path: np.full_like(kept[path], value)},
        {path: kept[path][..., :0]},
        {path: kept[path].astype(np.float32)},
    ):
        with pytest.raises(
            UserError,
            match=message
            if kept[path].shape == wild[path].shape and wild[path].dtype == kept[path].dtype
            else "here",
        ) as caught:
            policy.load(kept | wild)
        assert "\n" not in str(caught.value)
    now = policy.save()
    assert all((now[name] == array).all() for name, array in kept.items())
    policy.load(kept)


def test_memory_that_cannot_be_read_is_one_line():
    policy = Minded()
    policy.start(Camp(2))
    kept = policy.save()
    texts = [("rng", np.frombuffer(text, np.uint8)) for text in (b"{no json", b"[]", b"1")]
    for name, wild in (*texts, ("steps", np.zeros(3, np.int64))):
        with pytest.raises(UserError, match="is not as saved") as caught:
            policy.load(kept | {name: wild})
        assert "\n" not in str(caught.value)
