"""Records the playthroughs again: ``.venv/bin/python tests/playthroughs/regenerate.py [ID ...]``.

Read the difference before committing it: it is what your change did to the rules.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import interplay
from interplay.core.files import replace_file
from interplay.core.playthrough import Head, record_playthrough, replay_playthrough
from interplay.core.policy import Policy, RandomPolicy
from interplay.core.world import World
from interplay.registry import list_policies, make_policy
from tests.present import worlds_to_test

FOLDER = Path(__file__).resolve().parent
STEPS, LINES, SEED, EVERY = 150, 300, 11, 50
# Chance games in which boxes are broken, carried and placed, which the scripted players never do.
CHANCE = {"survival/1v1-all-mid": 4425, "survival/2v2-all-mid": 2335}  # id -> seed

# Worlds that are told with few agents, or with an end that is near: beginning of the id -> options.
OPTIONS = {
    "battle/": {"width": 20.0, "height": 20.0, "limit": 30},
    "matrix/credit": {"agents": 3, "rounds": 4},
    "mmo/": {"slots": 6, "npop": 2, "cap": 6, "cap_draw": "fixed", "interior": 12, "rows": 6}
    | {"vision": 3, "prefill": 4},
    "soccer/": {
        "seconds": 1.0
    },  # few steps: physics may round otherwise on other machines, and soon shows it
    "survival/": {"max_steps": 100},
}
# With these options the same world as another, whose playthrough is theirs too.
SAME = {f"mmo/{game}-{slots}": f"mmo/{game}-1024" for game in ("forage", "combat") for slots in (8192, 32000)}


def path_of(world_id: str) -> Path:
    """Where a world's playthrough is kept."""
    return FOLDER / f"{SAME.get(world_id, world_id).replace('/', '.')}.txt"


def make(head: Head) -> World:
    """The world that a playthrough's head names."""
    return interplay.make_world(head.world, **head.options)


def cut(text: str) -> str:
    """The steps that are whole in the first lines; one at least."""
    lines = text.splitlines(keepends=True)
    begins = [number for number, line in enumerate(lines) if re.match(r"\d+ ", line)]
    if len(lines) <= LINES or len(begins) < 2:
        return text
    return "".join(lines[: max([begins[1], *(number for number in begins if number <= LINES)])])


def player(world_id: str) -> Policy:
    """Who plays: the hunter, who uses items, the fighter, or hit and run, where the world has one; else random play."""
    for name in ("hunter", "fighter", "hit_and_run"):
        if name in list_policies(world_id) and world_id not in CHANCE:
            return make_policy(world_id, name)
    return RandomPolicy()


def told_with(world_id: str) -> dict[str, Any]:
    """Options of a world's playthrough."""
    return next((options for beginning, options in OPTIONS.items() if world_id.startswith(beginning)), {})


def main(ids: list[str]) -> None:
    """Records the named worlds, or all."""
    for world_id in ids or [spec.id for spec in worlds_to_test() if spec.id not in SAME]:
        options = told_with(world_id)
        world, seed = interplay.make_world(world_id, **options), CHANCE.get(world_id, SEED)
        text = cut(
            record_playthrough(world, player(world_id), STEPS, seed=seed, every=EVERY, options=options)
        )
        mismatch = replay_playthrough(text, make)
        if mismatch is not None:
            raise SystemExit(f"{world_id}: the re-play differs, so nothing was written\n{mismatch}")
        replace_file(path_of(world_id), text)
        print(f"{path_of(world_id).name}: {len(text.splitlines())} lines")


if __name__ == "__main__":
    main(sys.argv[1:])
