"""Our game beside another: the same boards, the same actions, the same result in every step.

    .venv/bin/python -m bench.pommerman_beside                     # beside its slow twin, tests/naive/pommerman.py
    .venv/bin/python -m bench.pommerman_beside --peer PLAYGROUND   # beside the playground, with classic_quirks

Every variant; ordinary games, and crowded ones in which agents, bombs, kicks and flames meet all the time. The
first difference ends the run with the game in which it is. Boards are ours; everything after them is each one's own.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from bench.pommerman_peer import load_playground, make_game
from interplay.core.errors import UserError
from interplay.worlds.pommerman.config import VARIANTS, PommermanSettings
from interplay.worlds.pommerman.observe import PLANES
from interplay.worlds.pommerman.world import PommermanWorld
from tests.worlds.pommerman import pair
from tests.worlds.pommerman.pair import WORLDS, as_action, draw
from tests.worlds.pommerman.scenes import crowd


def main() -> None:
    """Prints a line for each variant."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--peer", type=Path, help="the playground's checkout")
    parser.add_argument("--steps", type=int, default=100_000, help="of each variant, half of them crowded")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    try:
        peer = load_playground(arguments.peer) if arguments.peer else None
    except UserError as error:
        parser.error(str(error))
    steps = arguments.steps // 2
    for name, options in VARIANTS.items():
        short = {"collapse": 30, "limit": 90} if "collapse" in options else {}
        settings = PommermanSettings(**{**options, **short, "classic_quirks": peer is not None})
        for crowded in (False, True):
            if peer is None:
                games = pair.march(settings, steps, crowded, arguments.seed)
            else:
                games = march(peer, settings, steps, crowded, arguments.seed)
            kind = "crowded" if crowded else "ordinary"
            print(f"{name}: {steps:,} steps of {games:,} {kind} games are the same", flush=True)


def march(peer: SimpleNamespace, settings: PommermanSettings, steps: int, crowded: bool, seed: int) -> int:
    """Steps both; how many games ended.

    Raises:
        AssertionError: at the first difference.
    """
    world, rng = PommermanWorld(settings, WORLDS, seed=seed), np.random.default_rng(seed)
    games = [
        make_game(peer, settings, [peer.random_agent.RandomAgent() for _ in range(settings.players)])
        for _ in range(WORLDS)
    ]
    begin(peer, world, games, np.ones(WORLDS, bool), rng, crowded)
    ended = 0
    for t in range(steps // WORLDS):
        action = draw(rng, settings)
        step = world.step(as_action(action, settings))
        for w, game in enumerate(games):
            given = [row if settings.radio else row[0] for row in action[w].tolist()]
            seen, reward, done, info = game.step(given)
            where = f"step {t}, world {w}"
            assert done == step.over[w], where
            assert reward == step.reward[w].tolist(), f"{where}: {reward}, {step.reward[w]}"
            compare(world, w, seen, where)
            if done:
                tie = info["result"] is peer.constants.Result.Tie
                won = [] if tie else info["winners"]
                outcome = [0 if tie else 1 if a in won else -1 for a in range(settings.players)]
                assert world.metrics["outcome"][w].tolist() == outcome, where
        if step.over.any():
            ended += int(step.over.sum())
            begin(peer, world, games, step.over.copy(), rng, crowded)
    return ended


def begin(
    peer: SimpleNamespace,
    world: PommermanWorld,
    games: list[Any],
    which: np.ndarray,
    rng: np.random.Generator,
    crowded: bool,
) -> None:
    """Resets the worlds of the mask, and puts the playground's games into the same situations."""
    world.reset(which)
    if crowded:
        crowd(world, rng, which)
    for w in np.flatnonzero(which):
        copy_game(peer, world, games[w], int(w))


def copy_game(peer: SimpleNamespace, world: PommermanWorld, game: Any, w: int) -> None:
    """Writes the game of world `w` into one of the playground's."""
    state, side = world.state, world.settings.size + 2

    def place(cell: Any) -> tuple[int, int]:
        return int(cell) // side - 1, int(cell) % side - 1

    game._step_count = int(state.room["steps"][w])
    game._board = state.ground[w].reshape(side, side)[1:-1, 1:-1].copy()
    game._items = {place(cell): int(state.item[w, cell]) for cell in np.flatnonzero(state.item[w])}
    game._flames = [
        peer.characters.Flame(place(cell), int(state.flame[w, cell]) - 1)
        for cell in np.flatnonzero(state.flame[w])
    ]
    for agent, record in zip(game._agents, state.agent[w], strict=True):
        agent.set_start_position(place(record["cell"]))
        agent.reset(int(record["ammo"]), True, int(record["blast"]), bool(record["kick"]))
    game._bombs = []
    for record in state.bomb[w, : int(state.room["bombs"][w])]:
        direction = peer.constants.Action(int(record["direction"])) if record["direction"] else None
        owner = game._agents[int(record["owner"])]
        bomb = peer.characters.Bomb(
            owner, place(record["cell"]), int(record["life"]), int(record["blast"]), direction
        )
        game._bombs.append(bomb)
        game._board[bomb.position] = peer.constants.Item.Bomb.value
    for flame in game._flames:
        game._board[flame.position] = peer.constants.Item.Flames.value
    for number, agent in enumerate(game._agents):
        game._board[agent.position] = peer.utility.agent_value(number)
    if world.settings.radio:  # it would go on with the last game's words
        game._radio_from_agent = dict.fromkeys(game._radio_from_agent, (0, 0))


def compare(world: PommermanWorld, w: int, theirs: list[Any], where: str) -> None:
    """Every key of every agent that the playground gives."""
    ours = world.timestep.observation
    for a, seen in enumerate(theirs):
        for name in PLANES:
            assert np.array_equal(ours[name][w, a], seen[name]), f"{where}: {name} of agent {a}"
        alive = [10 + b for b in np.flatnonzero(ours["alive"][w, a])]
        assert alive == seen["alive"], f"{where}: alive"
        assert tuple(ours["position"][w, a]) == seen["position"], f"{where}: position of agent {a}"
        for name in ("ammo", "blast_strength", "can_kick", "step_count"):
            assert ours[name][w, a] == seen[name], f"{where}: {name} of agent {a}"
        assert ours["teammate"][w, a] == seen["teammate"].value, where
        enemies = [item.value for item in seen["enemies"]]
        assert ours["enemies"][w, a, : len(enemies)].tolist() == enemies, where
        assert ours["game_type"][w, a] == seen["game_type"], where
        if "message" in ours:
            assert tuple(ours["message"][w, a]) == tuple(seen["message"]), f"{where}: message of agent {a}"


if __name__ == "__main__":
    main()
