"""The metrics of a game, computed from its tally (specification 10)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from interplay.worlds.werewolf.roles import VILLAGERS, WOLVES
from interplay.worlds.werewolf.state import NONE, WerewolfState

# Metric -> (sum, count) of the tally.
SHARES = {
    "accord": ("accord", "held"),
    "wolf_hit": ("hits", "executions"),
    "tie_rate": ("ties", "counted"),
    "margin": ("margin", "counted"),
    "vote_entropy": ("entropy", "counted"),
    "switch": ("switch", "compared"),
    "trg_influence": ("influence", "compared"),
    "follow": ("follows", "followable"),
    "bussing": ("busses", "wolf_votes"),
    "pack_split": ("splits", "kills"),
}
BALLOTS = {  # changes of ballots with several names
    "index_distance": ("index_distance", "compared"),
    "repetition_distance": ("repetition_distance", "compared"),
    "set_difference": ("set_difference", "compared"),
    "day_drift": ("drift", "drifts"),
}


def metrics_of(state: WerewolfState, ballots: bool) -> Mapping[str, np.ndarray]:
    """The metrics of each game so far, (W,); NaN where a share has no cases.

    ``win_vil``, ``win_wolf`` and ``timeout`` sum to 1 when a game is over. ``accord`` is the share of voters that named the chosen
    player, ``discord`` the rest. The ``_refnorm`` metrics are divided as in the published code.
    """
    room, tally = state.room, state.tally
    days = room["day"]
    found = {
        "win_vil": room["winner"] == VILLAGERS,
        "win_wolf": room["winner"] == WOLVES,
        "timeout": room["cut"] & (room["winner"] == NONE),
        "tot_days": days.copy(),
        "suicide": tally["suicide"] / np.maximum(tally["executions"], 1),
        "suicide_refnorm": tally["suicide"] / (days + 1.0),
        "accord_refnorm": tally["accord"] / (2.0 * (days + 1.0)),
        "illegal": tally["illegal"].copy(),
    }
    for name, (total, count) in (SHARES | BALLOTS if ballots else SHARES).items():
        cases = tally[count].astype(np.float64)
        found[name] = np.where(cases > 0, tally[total] / np.maximum(cases, 1), np.nan)
    found["discord"] = 1.0 - found["accord"]
    return found
