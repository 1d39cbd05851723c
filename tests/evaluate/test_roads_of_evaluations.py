"""What `interplay evaluate` prints against the same episodes, played step by step and counted here."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

from interplay.core import seeding
from interplay.registry import make_policy, make_world
from tests.cli.command import typed
from tests.evaluate.roads import mean_cell, share_cell, table

WORLD, EPISODES, SEED = "battle/10m_vs_11m", 13, 4
RED, BLUE = slice(0, 10), slice(10, 21)


def episodes(red: str, blue: str, longest: int) -> dict[str, np.ndarray]:
    """Column -> a row for each episode, played alone from its seed."""
    rows = defaultdict(list)
    for seed in seeding.world_seeds(SEED, EPISODES):
        world = make_world(WORLD, 1, randomize="all")
        timestep = world.reset(seeds=np.array([seed]))
        players = [make_policy(WORLD, name) for name in (red, blue)]
        for player in players:
            player.start(world, SEED)
        steps, total = 0, np.zeros(21)
        while not timestep.over[0] and steps < longest:
            ours, theirs = (np.array(player.act(timestep)) for player in players)
            ours[:, BLUE] = theirs[:, BLUE]
            timestep = world.step(ours)
            steps, total = steps + 1, total + timestep.reward[0]
        rows["steps"].append(steps)
        rows["return"].append(total)
        ended = bool(timestep.over[0])
        rows["outcome"].append(world.metrics["outcome"][0] if ended else np.full(21, np.nan))
        rows["cut"].append(not ended or bool(timestep.truncated[0].any()))
        rows["health"].append(np.array(world.metrics["health"][0]))
        rows["felled"].append(np.array(world.metrics["felled"][0]))
    return {name: np.array(values) for name, values in rows.items()}


@pytest.mark.parametrize("roles", [True, False])
def test_shares_and_means_are_those_of_episodes_played_by_hand(capsys, roles):
    """Sides of ten and eleven: a mean over the agents of a side is none over all agents, and a metric per team counts each side once."""
    red, blue, longest = ("attack_move", "hit_and_run", 23) if roles else ("attack_move", "attack_move", 24)
    code, out, errors = typed(
        capsys, "evaluate", red, "randomize=all", *(("--roles", f"blue={blue}") if roles else ()), "--world", WORLD,
        "--episodes", str(EPISODES), "--num-worlds", "5", "--seed", str(SEED), "--max-steps", str(longest),
    )  # fmt: skip
    assert code == 0, errors
    played = episodes(red, blue, longest)
    shares = {line.split()[0]: line.split(maxsplit=1)[1] for line in out.splitlines() if " won " in line}
    for side, slot in (("red", 0), ("blue", 10)):
        end, even = played["outcome"][:, slot], ~(np.abs(played["outcome"][:, slot]) == 1)
        count = {
            "won": (end == 1).sum(),
            "lost": (end == -1).sum(),
            "drawn": (even & ~played["cut"]).sum(),
            "cut": (even & played["cut"]).sum(),
        }
        assert shares[side] == ", ".join(f"{name} {share_cell(n, EPISODES)}" for name, n in count.items())
        assert 0 < count["cut"] < EPISODES
    means = {row[0]: row[1] for row in table(out, "mean ± standard error")}
    assert means["steps"] == mean_cell(played["steps"])
    for name in ("return", "health", "felled"):
        own, other = played[name][:, RED].mean(axis=1), played[name][:, BLUE].mean(axis=1)
        if roles:
            assert means[name] == means[f"{name}[red]"] == mean_cell(own)
            assert means[f"{name}[blue]"] == mean_cell(other) != means[name]
        else:
            of_all = played[name].mean(axis=1)
            assert means[name] == mean_cell((own + other) / 2 if name == "felled" else of_all)
