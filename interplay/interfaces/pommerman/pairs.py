"""A team of two as one agent: both boards in one view (specification interfaces 10: CombineObs)."""

from __future__ import annotations

import numpy as np
from gymnasium import spaces

from interplay.core.errors import UserError
from interplay.interfaces.generic.frames import repeated
from interplay.interfaces.interface import Interface
from interplay.interfaces.nests import Array, Nest
from interplay.interfaces.pommerman import boards

PAIR = "pair"  # what is provided: the space of the joint view


class CombineObs(Interface):
    """A team of two as one mapping: boards merged, everything else of both, member after member: (2, ...) instead of (...).

    A cell in one member's fog shows the other's view. A dead member's board is ignored; if both are dead, both are used. The view of
    features above is the joint one.

    Raises:
        UserError: in `setup`, for anything but a tuple of two of Pommerman's observations; when an episode begins, for agents that are not
            team-mates, or turned boards.
    """

    provides = (PAIR,)

    def _spaces(self, obs_space: spaces.Space, act_space: spaces.Space) -> tuple[spaces.Space, spaces.Space]:
        members = obs_space.spaces if isinstance(obs_space, spaces.Tuple) else ()
        if len(members) != 2 or members[0] != members[1]:
            raise UserError(
                f"CombineObs: {obs_space} is no tuple of two alike; group the team first (MakeTeam, or InterfacedWorld with teams)"
            )
        one = members[0]
        boards.side_of("CombineObs", one)
        joint = {key: part if key in boards.MAPS else repeated(part, 2) for key, part in one.spaces.items()}  # type: ignore[attr-defined]
        self.ctx.memory[PAIR] = made = spaces.Dict(list(joint.items()))
        return made, act_space

    def _begin(self, which: Array, obs: Nest) -> None:
        ids = [boards.own_id(one) + boards.AGENT for one in obs]
        mates = [boards.number(one, "teammate") for one in obs]
        wrong = which & ((mates[0] != ids[1]) | (mates[1] != ids[0]))
        if wrong.any():
            raise UserError(
                "CombineObs: the two are not each other's team-mates; group agents 0 and 2, 1 and 3, and turn no boards below (RotateItf)"
            )

    def _observe(self, obs: Nest) -> Nest:
        self.ctx.view = view = joined(*obs)
        return view


def joined(one: boards.Raw, other: boards.Raw) -> dict[str, Array]:
    """Two members' observations as one; new arrays."""
    lives = [boards.alive(member)[:, None, None] for member in (one, other)]
    elsewhere = (one["board"] == boards.FOG) & (lives[1] | ~lives[0])
    theirs = elsewhere | (lives[1] & ~lives[0])
    return {
        key: np.where(theirs, other[key], one[key])
        if key in boards.MAPS
        else np.stack([one[key], other[key]], axis=1)
        for key in one
    }
