"""Our SimpleAgent beside the playground's: how often each chooses what, at the same sights and with the same memory.

    .venv/bin/python -m bench.pommerman_agents --peer PLAYGROUND --sights 300

Crowded games are played by our agent; at every third step one of the players is asked `COPIES` times, in both programs. The
frequencies of a choice may differ by chance: more than `FAR` standard errors count as another decision, which is printed with the board. Exit
status 1 if there is one.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from bench.pommerman_peer import load_playground
from interplay.core.errors import UserError
from interplay.core.world import TimeStep
from interplay.registry import make_policy, make_world
from interplay.worlds.pommerman.policies import Simple
from interplay.worlds.pommerman.state import ACTIONS, NOWHERE, STOP
from tests.worlds.pommerman.scenes import crowd

COPIES = 400
FAR = 4.5  # standard errors; of a few thousand frequencies none is so far off by chance
EVERY = 3  # steps


class Asked:
    """Copies of our agent that differ in their draws alone."""

    def __init__(self, variant: str) -> None:
        world = make_world(variant, COPIES, classic_quirks=True)
        player = make_policy(variant, "simple")
        assert isinstance(player, Simple)
        world.reset()
        player.start(world, seed=11)
        self.player, self.slots = player, len(world.agents)

    def ask(self, step: TimeStep, memory: Any, a: int) -> Counter[int]:
        """How often slot `a` of a batch of one chooses what."""
        mine = self.player._memory
        mine.idle[:, a], mine.chased[:, a] = memory.idle[0, a], memory.chased[0, a]
        acting = np.zeros((COPIES, self.slots), bool)
        acting[:, a] = True
        seen = {name: np.repeat(field, COPIES, axis=0) for name, field in step.observation.items()}
        action = self.player.act(step._replace(observation=seen, acting=acting))
        return Counter(action.reshape(COPIES, self.slots, -1)[:, a, 0].tolist())


def ask_theirs(peer: SimpleNamespace, step: TimeStep, memory: Any, a: int, side: int) -> Counter[int] | None:
    """The same of the playground's agent; None where it stops with an error, for want of any passage in sight."""
    seen = {name: field[0, a] for name, field in step.observation.items()}
    seen["position"] = tuple(int(number) for number in seen["position"])
    seen["enemies"] = [peer.constants.Item(int(code)) for code in seen["enemies"]]
    idle = [(int(cell) // side - 1, int(cell) % side - 1) for cell in memory.idle[0, a] if cell != NOWHERE]
    chased = int(memory.chased[0, a])
    counts: Counter[int] = Counter()
    for _ in range(COPIES):
        agent = peer.simple_agent.SimpleAgent()
        agent._recently_visited_positions = list(idle)
        agent._prev_direction = None if chased == STOP else peer.constants.Action(chased)
        try:
            counts[int(agent.act(seen, None))] += 1
        except TypeError:
            return None
    return counts


def distance(one: Counter[int], other: Counter[int]) -> float:
    """The largest difference of two frequencies, in standard errors."""
    both = np.array([[counts[choice] for choice in range(ACTIONS)] for counts in (one, other)], float)
    share = both.mean(axis=0) / COPIES
    error = np.sqrt(np.maximum(2 * COPIES * share * (1 - share), 1.0))
    return float(np.max(np.abs(both[0] - both[1]) / error))


def compare(peer: SimpleNamespace, variant: str, sights: int, seed: int) -> tuple[float, int]:
    """The largest distance, and how many were too far."""
    world = make_world(variant, seed=seed, classic_quirks=True)
    player = make_policy(variant, "simple")
    assert isinstance(player, Simple)
    player.start(world, seed)
    asked, rng = Asked(variant), np.random.default_rng(seed)
    world.reset()
    crowd(world, rng)
    found, most, far, t = 0, 0.0, 0, 0
    while found < sights:
        a, t = int(rng.integers(len(world.agents))), t + 1
        if t % EVERY == 0 and world.timestep.acting[0, a]:
            theirs = ask_theirs(peer, world.timestep, player._memory, a, world.settings.size + 2)  # type: ignore[attr-defined]
            if theirs is not None:
                ours, found = asked.ask(world.timestep, player._memory, a), found + 1
                off = distance(ours, theirs)
                most = max(most, off)
                if off > FAR:
                    far += 1
                    print(f"{variant}, step {t}, agent {a}: {dict(ours)}, there {dict(theirs)}")
                    print(world.timestep.observation["board"][0, a])
        world.step(player.act(world.timestep))
        if world.timestep.over.any():
            world.reset()
            player.forget(np.ones(1, bool))
            crowd(world, rng)
    return most, far


def main() -> None:
    """Prints a line for each variant."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--peer", type=Path, required=True, help="the playground's checkout")
    parser.add_argument("--sights", type=int, default=300)
    parser.add_argument("--seed", type=int, default=5)
    arguments = parser.parse_args()
    try:
        peer = load_playground(arguments.peer)
    except UserError as error:
        parser.error(str(error))
    random.seed(arguments.seed)
    others = 0
    for variant in ("pommerman/ffa", "pommerman/team-fog"):
        most, far = compare(peer, variant, arguments.sights, arguments.seed)
        print(
            f"{variant}: {arguments.sights} sights, {far} decided otherwise, largest distance {most:.1f}",
            flush=True,
        )
        others += far
    raise SystemExit(others > 0)


if __name__ == "__main__":
    main()
