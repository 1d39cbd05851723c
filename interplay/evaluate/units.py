"""Units of metrics: per agent, team or episode, or a unit such as steps."""

from __future__ import annotations

from collections.abc import Collection

from interplay.evaluate.results import NAMES, OUTCOME

PER_AGENT, PER_TEAM, PER_LIFE, PER_EPISODE = "per agent", "per team", "per life", "per episode"
PER_SLOT = "per slot"  # of worlds with respawns: over all lives of a slot
SHARE, STEPS = "share of episodes", "steps"
_OWN = {
    "steps": STEPS,
    "episode_length": STEPS,
    "life": "ticks",
    "life_return": PER_LIFE,
    "mean_life": "ticks",
    "rating": "Elo",
    "entropy": "nats",
    "kl": "nats",
    "agent_steps_per_s": "agent-steps / s",
    "truncated": SHARE,
    "return": PER_AGENT,
    "episode_return": PER_AGENT,
    OUTCOME: PER_AGENT,
    "fallen": PER_TEAM,  # of battle and pommerman
    "felled": PER_TEAM,
    "team_kills": PER_TEAM,  # of survival
}
_SHARES = (*NAMES, "win_rate", "loss_rate", "draw_rate", "cut_rate", "score_rate")


def unit_of(name: str, per_agent: bool | None = None, per_team: Collection[str] = ()) -> str:
    """The unit of a metric, for headings and axes; empty if unknown.

    Args:
        name: of a column, with or without a side, ``kills[red]``.
        per_agent: True for (W, A) metrics, False for (W,); None: unknown.
        per_team: metrics of an agent's whole team, `World.per_team`.

    Example:
        >>> unit_of("kills", True), unit_of("felled[red]", True, ("felled",)), unit_of("days", False), unit_of("kills")
        ('per agent', 'per team', 'per episode', '')
        >>> unit_of("win_rate_sampled[random]"), unit_of("episode_length[a]"), unit_of("rating")
        ('share of episodes', 'steps', 'Elo')
    """
    plain = name.partition("[")[0]
    for rule in ("_greedy", "_sampled"):
        plain = plain.removesuffix(rule)
    if plain in _SHARES:
        return SHARE
    if plain in _OWN:
        return _OWN[plain]
    if plain in per_team:
        return PER_TEAM
    return "" if per_agent is None else PER_AGENT if per_agent else PER_EPISODE
