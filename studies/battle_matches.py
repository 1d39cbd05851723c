"""How often a policy wins battles against scripted sides that know the whole field.

Run from the repository root, with run folders, checkpoints or names of scripted players::

    .venv/bin/python -m studies.battle_matches runs/marines --against attack_move hit_and_run --games 100 --drawn

The policy plays red; battles are mirror images, and everybody sees itself on the left. Printed are the share of battles won with its
interval of 95 % (Wilson 1927), and the shares of draws and of battles that the limit cut. ``--drawn`` draws places, as the paper
tests; HP, shields and cooldowns are full then.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from interplay.core.policy import Policy
from interplay.evaluate import PolicyMap, play
from interplay.evaluate.statistics import wilson
from interplay.registry import make_policy
from interplay.verbs.opening import open_world
from interplay.verbs.players import find_player

AGAINST = ("attack_move", "hit_and_run")
DRAWN = {"randomize": "positions"}  # places are drawn, the rest is full (specification games 4.5, testing)


class Won(NamedTuple):
    """What came of some battles.

    Attributes:
        wins, draws, cut: how many were won, ended without a winner, and were cut by the limit.
        games: how many were played.
    """

    wins: int
    draws: int
    cut: int
    games: int

    def __str__(self) -> str:
        low, high = wilson(self.wins, self.games)
        return f"{self.wins / self.games:.2f} [{low:.2f}, {high:.2f}]"


def fight(
    player: Policy, opponent: str, world: str, options: Mapping[str, Any], games: int, seed: int = 0
) -> Won:
    """Plays battles of a policy, as red, against a scripted side.

    Args:
        player: plays red.
        opponent: name of a scripted player of the world, blue.
        world: its id.
        options: of the world.
        games: how many.
        seed: names them.
    """
    made = open_world(world, min(games, 128), seed, **options)
    red = [made.agents[slot] for slot in made.teams[0]]
    players = PolicyMap(dict.fromkeys(red, player), others=make_policy(world, opponent))
    table = play(made, players, games, seed)
    outcome = table["outcome"][:, 0]
    cut = (outcome == 0) & (table["steps"] == made.settings.limit)
    wins, draws = int((outcome > 0).sum()), int(((outcome == 0) & ~cut).sum())
    return Won(wins, draws, int(cut.sum()), games)


def measure(
    name: str | Path,
    against: Sequence[str],
    games: int,
    world: str = "",
    options: Mapping[str, Any] | None = None,
    *,
    drawn: bool = False,
    greedy: bool = True,
    seed: int = 0,
) -> dict[str, Won]:
    """Opponent -> what came of a player's battles against it, in the player's own world unless one is named."""
    found = find_player(str(name), world, {**(options or {}), **(DRAWN if drawn else {})}, greedy)
    return {who: fight(found.policy, who, found.world, found.options, games, seed) for who in against}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("players", nargs="+", help="run folders, checkpoints, or names of scripted players")
    parser.add_argument("--world", default="", help="id; a run brings its own")
    parser.add_argument("--against", nargs="+", default=AGAINST)
    parser.add_argument("--games", type=int, default=100)
    parser.add_argument("--drawn", action="store_true", help="draw places")
    parser.add_argument("--sampled", action="store_true", help="draw actions instead of taking the likeliest")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    for player in args.players:
        found = measure(
            player,
            args.against,
            args.games,
            args.world,
            drawn=args.drawn,
            greedy=not args.sampled,
            seed=args.seed,
        )
        for who, won in found.items():
            print(
                f"{player} against {who}: {won} of {won.games} battles won, {won.draws} drawn, {won.cut} cut",
                flush=True,
            )


if __name__ == "__main__":
    main()
