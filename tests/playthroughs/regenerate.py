"""Records the playthroughs again: ``.venv/bin/python tests/playthroughs/regenerate.py [ID ...]``.

Read the difference before committing it: it is what your change did to the rules.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import interplay
from interplay.core.files import replace_file
from interplay.core.playthrough import Head, record_playthrough, replay_playthrough
from interplay.core.policy import Policy, RandomPolicy
from interplay.core.world import World
from interplay.registry import list_policies, make_policy

FOLDER = Path(__file__).resolve().parent
STEPS, SEED, EVERY = 2000, 11, 50
# Chance games in which boxes are broken, carried and placed, which the scripted players never do.
CHANCE = {"survival/1v1-all-mid": 142, "survival/2v2-all-mid": 125}  # id -> seed

# Worlds whose steps take a page each: id -> steps.
FEW = {"gridworld/team-battle-50": 2, "werewolf/multi-round": 7} | {
    f"werewolf/21{words}": 5 for words in ("", "-l1s9", "-l3s9", "-l21s21")
}
# Worlds of crowds are told with a handful, those of one step with a few: beginning of the id -> options, steps.
HANDFUL = {
    "matrix/climbing": ({}, 60),
    "matrix/credit": ({"agents": 3, "rounds": 4}, 60),
    "mmo/": (
        {"slots": 6, "npop": 2, "cap": 6, "cap_draw": "fixed", "interior": 12, "rows": 6}
        | {"vision": 3, "prefill": 4},
        60,
    ),
}


def path_of(world_id: str) -> Path:
    """Where a world's playthrough is kept."""
    return FOLDER / f"{world_id.replace('/', '.')}.txt"


def make(head: Head) -> World:
    """The world that a playthrough's head names."""
    return interplay.make_world(head.world, **head.options)


def player(world_id: str) -> Policy:
    """Who plays: the hunter, who uses items, or the fighter, where the world has one; else random play."""
    for name in ("hunter", "fighter"):
        if name in list_policies(world_id) and world_id not in CHANCE:
            return make_policy(world_id, name)
    return RandomPolicy()


def told_with(world_id: str) -> tuple[dict[str, Any], int]:
    """Options and steps of a world's playthrough."""
    for beginning, (options, steps) in HANDFUL.items():
        if world_id.startswith(beginning):
            return options, steps
    return {}, FEW.get(world_id, STEPS)


def main(ids: list[str]) -> None:
    """Records the named worlds, or all."""
    for world_id in ids or [spec.id for spec in interplay.list_worlds()]:
        options, steps = told_with(world_id)
        world, seed = interplay.make_world(world_id, **options), CHANCE.get(world_id, SEED)
        text = record_playthrough(world, player(world_id), steps, seed=seed, every=EVERY, options=options)
        mismatch = replay_playthrough(text, make)
        if mismatch is not None:
            raise SystemExit(f"{world_id}: the re-play differs, so nothing was written\n{mismatch}")
        replace_file(path_of(world_id), text)
        print(f"{path_of(world_id).name}: {len(text.splitlines())} lines")


if __name__ == "__main__":
    main(sys.argv[1:])
