"""Players as teams and back (specification interfaces 5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from gymnasium import spaces

from interplay.core.errors import UserError
from interplay.interfaces.match import MEMBERS, OUTCOME, MatchStep, slots_of
from interplay.interfaces.wrappers.wrapper import MatchWrapper, regrouped

REWARDS = ("mean", "sum", "first")


class MakeTeam(MatchWrapper):
    """Groups players into team slots with tuples of their members' observations and actions.

    A team's outcome is its members' mean; ``info["member_rewards"]`` has each member's reward; other entries of infos are tuples of tuples.

    Args:
        groups: for each team its players.
        reward: of a team: ``mean``, ``sum`` or ``first`` of its members' rewards.
    """

    def __init__(self, env: Any, groups: Sequence[Sequence[int]], reward: str = "mean") -> None:
        super().__init__(env)
        self.groups = tuple(tuple(group) for group in groups)
        check_groups("MakeTeam", self.groups, self.slots)
        if reward not in REWARDS:
            raise UserError(f"MakeTeam: reward = {reward!r}; it is one of {', '.join(REWARDS)}")
        self._reward = reward
        self.observation_space, self.action_space = (
            spaces.Tuple([spaces.Tuple([space[player] for player in group]) for group in self.groups])
            for space in slots_of(self.env)
        )

    def step(self, action: Sequence[Sequence[Any]]) -> MatchStep:  # type: ignore[override]
        """Every team's tuple of actions."""
        seen, rewards, terminated, truncated, info = super().step(action)
        members = self._shown(rewards)
        return seen, tuple(map(self._earned, members)), terminated, truncated, {**info, MEMBERS: members}

    def _inward(self, values: Sequence[Any]) -> tuple[Any, ...]:
        flat: list[Any] = [None] * self.slots
        for group, own in zip(self.groups, values, strict=True):
            for player, one in zip(group, [own] * len(group) if isinstance(own, bool) else own, strict=True):
                flat[player] = one
        return tuple(flat)

    def _shown(self, seen: Sequence[Any]) -> tuple[tuple[Any, ...], ...]:
        return tuple(tuple(seen[player] for player in group) for group in self.groups)

    def _earned(self, rewards: tuple[Any, ...]) -> Any:
        if self._reward == "first":
            return rewards[0]
        total = sum(rewards[1:], start=rewards[0])
        return total if self._reward == "sum" else total / len(rewards)

    def _info(self, info: Mapping[str, Any]) -> dict[str, Any]:
        teams = regrouped(info, self._shown)
        if teams.get(OUTCOME) is not None:
            teams[OUTCOME] = tuple(float(np.mean(own)) for own in teams[OUTCOME])
        return teams


class SplitTeam(MatchWrapper):
    """The inverse of `MakeTeam`: every member of every team slot is a slot of its own.

    Members earn ``info["member_rewards"]``, or else their team's reward, and have its outcome.

    Args:
        env: a match of team slots.
        groups: for each team the places of its members among the players; None is team after team.
    """

    def __init__(self, env: Any, groups: Sequence[Sequence[int]] | None = None) -> None:
        super().__init__(env)
        seen, done = slots_of(self.env)
        if not all(isinstance(space, spaces.Tuple) for space in (*seen, *done)):
            raise UserError(f"SplitTeam: {self.env} has slots that are no teams; group them first")
        sizes = [len(space.spaces) for space in seen]  # type: ignore[attr-defined]
        ends = np.cumsum([0, *sizes])
        self.groups = (
            tuple(tuple(range(a, b)) for a, b in pairwise(ends.tolist()))
            if groups is None
            else tuple(tuple(group) for group in groups)
        )
        if [len(group) for group in self.groups] != sizes:
            raise UserError(f"SplitTeam: groups of {[len(group) for group in self.groups]} for teams {sizes}")
        check_groups("SplitTeam", self.groups, int(ends[-1]))
        self.observation_space, self.action_space = (spaces.Tuple(self._shown(part)) for part in (seen, done))

    def step(self, action: Sequence[Any]) -> MatchStep:  # type: ignore[override]
        seen, rewards, terminated, truncated, info = super().step(action)
        earned = info.pop(MEMBERS, None) or self._shown(self._repeated(rewards))
        return seen, earned, terminated, truncated, info

    def _inward(self, values: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(tuple(values[player] for player in group) for group in self.groups)

    def _shown(self, seen: Any) -> tuple[Any, ...]:
        pairs = [
            (player, one)
            for group, own in zip(self.groups, seen, strict=True)
            for player, one in zip(group, own, strict=True)
        ]
        return tuple(one for _, one in sorted(pairs, key=lambda pair: pair[0]))

    def _repeated(self, values: Any) -> list[list[Any]]:
        return [[value] * len(group) for group, value in zip(self.groups, values, strict=True)]

    def _info(self, info: Mapping[str, Any]) -> dict[str, Any]:
        def place(values: Any) -> tuple[Any, ...]:
            nested = [
                own if isinstance(own, tuple | list) and len(own) == len(group) else [own] * len(group)
                for group, own in zip(self.groups, values, strict=True)
            ]
            return self._shown(nested)

        return regrouped(info, place)


def check_groups(owner: str, groups: Sequence[Sequence[int]], players: int) -> None:
    """Refuses groups in which a player is missing or repeated."""
    listed = sorted(player for group in groups for player in group)
    if listed != list(range(players)):
        raise UserError(
            f"{owner}: groups = {[list(group) for group in groups]}; each player of 0..{players - 1} belongs to one group"
        )
