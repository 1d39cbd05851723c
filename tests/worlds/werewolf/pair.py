"""The real world and a naive game for each of its worlds, fed the same actions and compared field by field."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.naive.werewolf.game import Game
from tests.naive.werewolf.sight import mask, observation


class Heard:
    """Random outcomes of world `w`'s last step, read from the real world.

    Args:
        world: after the step.
        w: its index.
        before: known species and guarded seats before the step.
    """

    def __init__(self, world: Any, w: int, before: dict[str, np.ndarray]) -> None:
        self.world, self.state, self.w, self.before = world, world.state, w, before

    def name(self, game: Game, seat: int, slot: int) -> int:
        ability = game.ability(seat) if game.stage in ("row", "revote") else "shoot"
        if ability == "divine":
            new = np.flatnonzero(self.state.known[self.w, seat] != self.before["known"][self.w, seat])
            assert len(new) == 1
            return int(new[0])
        if ability == "guard":
            return int(self.state.guarded[self.w, seat])
        if ability == "shoot":
            return self.drawn() if self.drawn() >= 0 else game.n
        if game.settings.arm == "targets_off" and game.table[game.row].resolver == "none":
            return min(game.legal[seat])  # hidden, so any legal name will do
        public = game.table[game.row].audience == "public"
        board = self.state.public_targets if public else self.state.pack_targets
        shown = int(board[self.w, seat, slot])
        return game.n if shown < 0 else shown

    def drawn(self) -> int:
        return int(self.state.room["chosen"][self.w])

    def word(self, game: Game, seat: int) -> list[int]:
        public = game.table[game.row].audience == "public"
        board = self.state.public_signals if public else self.state.pack_signals
        return [int(symbol) for symbol in board[self.w, seat]]


class Pair:
    """A batch beside its naive games.

    Args:
        world: not yet reset.
    """

    def __init__(self, world: Any) -> None:
        self.world = world
        self.games: list[Game] = []
        self.events = {"steps": 0, "games": 0, "ties": 0, "cuts": 0, "illegal": 0, "saved": 0, "shots": 0}

    def reset(self) -> None:
        self.world.reset()
        roles = self.world.state.role
        self.games = [
            Game(self.world.settings, [int(r) for r in roles[w]]) for w in range(self.world.num_worlds)
        ]
        self.compare("after the reset")

    def play(self, rng: np.random.Generator, wild: float) -> None:
        """Plays until every world is over, with random actions of which a share `wild` may be illegal."""
        self.reset()
        for t in range(10_000):
            if all(game.over for game in self.games):
                break
            self.step(self.actions(rng, wild))
            self.compare(f"after step {t}")
        self.events["games"] += len(self.games)
        self.events["cuts"] += sum(game.cut for game in self.games)
        self.events["illegal"] += sum(game.diary.illegal for game in self.games)

    def step(self, action: np.ndarray) -> None:
        before = {name: getattr(self.world.state, name).copy() for name in ("known", "guarded")}
        self.world.step(action.copy())
        for w, game in enumerate(self.games):
            if game.over:
                game.clear()
                continue
            played = game.phase()
            game.step(action[w].tolist(), Heard(self.world, w, before))
            self.events["steps"] += 1
            self.events["ties"] += game.tied
            self.events["shots"] += played == 5
            self.events["saved"] += played in (1, 4) and game.stage == "row" and game.eaten < 0

    def actions(self, rng: np.random.Generator, wild: float) -> np.ndarray:
        """Mostly legal names for acting seats, anything for others."""
        settings, n = self.world.settings, self.world.settings.n_players
        heads = [n + 1] * settings.names + list(settings.symbols)
        shape = (len(self.games), n)
        action = np.stack([rng.integers(0, size, shape) for size in heads], axis=-1).astype(np.int16)
        legal = np.array(
            [[[name in names for name in range(n + 1)] for names in game.legal] for game in self.games]
        )
        acting = np.array([[seat in game.acting for seat in range(n)] for game in self.games])
        brewing = np.array([[game.stage == "potions"] for game in self.games])
        for slot in range(settings.names):
            drawn = np.argmax(legal * rng.random(legal.shape), axis=-1)
            keeps = (rng.random(shape) < wild) & ~brewing
            action[..., slot] = np.where(acting & ~keeps, drawn, action[..., slot])
        return action

    # -- comparing --------------------------------------------------------------------------------

    def compare(self, when: str) -> None:
        for w, game in enumerate(self.games):
            self.compare_world(w, game, f"of world {w} {when}, roles {game.role}")

    def compare_world(self, w: int, game: Game, where: str) -> None:
        now, n = self.world.timestep, game.n
        same("acting", now.acting[w], [seat in game.acting for seat in range(n)], where)
        same("over", now.over[w], game.over, where)
        same("terminated", now.terminated[w], game.terminated, where)
        same("truncated", now.truncated[w], game.truncated, where)
        near("reward", now.reward[w], game.reward, where)
        near("late reward", self.world.late_reward[w], game.late, where)
        same("mask", now.action_mask["action"][w], [mask(game, seat) for seat in range(n)], where)
        self.compare_sight(w, game, where)
        self.compare_accessors(w, game, where)

    def compare_sight(self, w: int, game: Game, where: str) -> None:
        seen = self.world.timestep.observation
        for seat in range(game.n):
            expected = observation(game, seat)
            assert set(seen) == set(expected), where
            for name, value in expected.items():
                if game.over and name in ("phase", "talk_round"):
                    continue  # nothing comes next
                same(f"{name} of seat {seat}", seen[name][w, seat], value, where)

    def compare_accessors(self, w: int, game: Game, where: str) -> None:
        room = self.world.state.room[w]
        same(
            "ended", tuple(int(room[f"ended_{key}"]) for key in ("phase", "round", "day")), game.ended, where
        )
        same("winner", room["winner"], game.winner, where)
        same("alive", self.world.state.alive[w], game.alive, where)
        metrics = self.world.metrics
        shares = game.diary.shares(game)
        assert set(metrics) == set(shares), where
        for name, value in shares.items():
            near(f"metric {name}", metrics[name][w], value, where)


def same(name: str, found: Any, expected: Any, where: str) -> None:
    assert np.array_equal(np.asarray(found), np.asarray(expected)), (
        f"{name} {where}: the world says\n{found}\nthe naive game\n{np.asarray(expected)}"
    )


def near(name: str, found: Any, expected: Any, where: str) -> None:
    assert np.allclose(np.asarray(found), np.asarray(expected), rtol=1e-5, atol=1e-5, equal_nan=True), (
        f"{name} {where}: the world says\n{found}\nthe naive game\n{np.asarray(expected)}"
    )
