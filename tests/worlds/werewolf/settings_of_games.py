"""Settings of every kind, for games to be played with."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

NIGHT_TALK = {
    "name": "night_talk",
    "night": True,
    "actors": {"werewolf": "speak_in_pack"},
    "audience": "pack",
}
NIGHT_KILL = {
    "name": "night_kill",
    "night": True,
    "actors": {"werewolf": "attack", "seer": "divine", "guard": "guard"},
    "audience": "pack",
    "resolver": "kill",
}
DAY_TALK = {"name": "day_talk", "actors": {"all": "speak"}}
EXECUTION = {"name": "day_execution", "actors": {"all": "vote"}, "resolver": "execution"}
TABLES = (
    (  # a talk of the first day, a council of others, a pack that talks no more after its first night
        {**NIGHT_TALK, "only_day": 0},
        NIGHT_KILL,
        {**DAY_TALK, "only_day": 0},
        {"name": "council", "rounds": 2, "actors": {"all": "speak"}, "except_day": 0},
        EXECUTION,
    ),
    # two votes a day, and a kill between them
    (EXECUTION, {**NIGHT_TALK, "rounds": 2}, NIGHT_KILL, DAY_TALK, {**EXECUTION, "name": "second_vote"}),
    # a public talk of the pack, and a vote without a talk
    ({**NIGHT_TALK, "audience": "public", "except_day": 1}, {**NIGHT_KILL, "audience": "public"}, EXECUTION),
    # no vote on the first day
    (NIGHT_TALK, NIGHT_KILL, DAY_TALK, {**EXECUTION, "except_day": 0}),
)
FRACTIONS = (0.3, 0.5, 0.6, 2 / 3, 0.8)


@st.composite
def options(draw: Any) -> dict[str, Any]:
    """Options of one game with 3 to 12 players."""
    n = draw(st.integers(3, 12))
    found: dict[str, Any] = {"n_players": n, "wolves": draw(st.integers(1, (n - 1) // 2))}
    found |= draw(crews(n - found["wolves"]))
    found |= draw(votes(n)) | draw(words(n)) | draw(rewards()) | draw(views())
    found["phases"] = draw(st.none() | st.none() | st.sampled_from(TABLES))
    found["max_days"] = draw(st.none() | st.integers(1, 4))
    return {name: value for name, value in found.items() if value is not None}


@st.composite
def crews(draw: Any, places: int) -> dict[str, Any]:
    """Extra roles, and their rules."""
    roles: dict[str, int] = {}
    for name in draw(st.permutations(("seer", "guard", "medium", "possessed", "hunter", "witch"))):
        room = places - sum(roles.values())
        number = draw(st.sampled_from((0, 0, 0, 1, 1, 2)))
        if 0 < number <= room:
            roles[name] = 1 if name == "witch" else number
    return {
        "roles": roles,
        "guard_self": draw(st.booleans()),
        "guard_repeat": draw(st.booleans()),
        "hunter_pass": draw(st.booleans()),
    }


@st.composite
def votes(draw: Any, n: int) -> dict[str, Any]:
    """Ballots, and what they need."""
    flexibility = draw(st.none() | st.none() | st.sampled_from((0.0, 0.3, 0.5, 0.9)))
    b = draw(st.sampled_from((1, 1, 1, 2, 3, n))) if flexibility is None else 1
    rule = draw(st.sampled_from(("plurality", "plurality", "majority", "threshold", "unique_top")))
    return {
        "ballot_len": b,
        "vote_depth": draw(st.integers(1, b)),
        "flexibility": flexibility,
        "count_duplicates": draw(st.booleans()),
        "rule": rule,
        "quota": draw(st.sampled_from(FRACTIONS)) if rule == "threshold" else None,
        "quota_of": draw(st.sampled_from(("living", "margin"))),
        "tie": draw(st.sampled_from(("random", "random", "none", "revote"))),
        "revotes": draw(st.integers(1, 3)),
        "revote_final": draw(st.sampled_from(("random", "none"))),
        "allow_abstain": draw(st.booleans()),
        "allow_self_vote": draw(st.booleans()),
        "first_phase": draw(st.sampled_from(("night_talk", "day_talk"))),
        "talk_rounds_night": draw(st.integers(0, 2)),
        "talk_rounds_day": draw(st.integers(0, 3)),
    }


@st.composite
def words(draw: Any, n: int) -> dict[str, Any]:
    """Words and arms."""
    length, claims = draw(st.sampled_from((0, 0, 1, 2, 2 * n))), draw(st.booleans())
    arms = ["full", "full", "talk_off", "targets_off"]
    if length or claims:
        arms += ["signals_off", "signals_shuffled", "signals_resampled"]
    return {
        "signal_length": length,
        "signal_range": draw(st.sampled_from((1, 2, n, 3 * n))),
        "claims": claims,
        "arm": draw(st.sampled_from(arms)),
    }


@st.composite
def rewards(draw: Any) -> dict[str, Any]:
    """Penalties, the accord's form, and what becomes of the dead."""
    numbers = st.sampled_from((-7.0, -2.5, -1.0, 0.0, 3.0))
    penalties = {name: draw(numbers) for name in ("day", "death", "accord", "wasted") if draw(st.booleans())}
    return {
        "penalties": penalties,
        "accord": draw(st.sampled_from(("flat", "rank"))),
        "rank_absent": draw(st.none() | st.integers(0, 5)),
        "dead": draw(st.sampled_from(("spectate", "end_with_bootstrap"))),
    }


@st.composite
def views(draw: Any) -> dict[str, Any]:
    """What players are shown."""
    return {
        "board": draw(st.sampled_from(("split", "split", "last_visible", "last_phase"))),
        "reveal_role": draw(st.booleans()),
        "obs": {
            "role": draw(st.booleans()),
            "pack": draw(st.booleans()),
            "history": draw(st.sampled_from((0, 0, 1, 3))),
        },
    }
