"""A spectator's knowledge of a game, the only source of pictures and transcripts.

The public view has the common knowledge: the living, causes of death, public boards. Roles, the pack's boards and a night's
votes stay hidden until the game is over. The privileged view has everything (specification 9).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from interplay.worlds.werewolf.phases import LAST_SHOT, PHASES, POTIONS, PhaseRow, phase_names
from interplay.worlds.werewolf.roles import GUARDIAN, MEDIUM, NAMES, SEER
from interplay.worlds.werewolf.state import FATES, NONE, REVOTE

if TYPE_CHECKING:
    from interplay.worlds.werewolf.config import WerewolfSettings
    from interplay.worlds.werewolf.state import WerewolfState

SPECIES = ("human", "a wolf")
HIDDEN = -1  # a role that the spectator does not know
# The two phases without a row in the table; only their actor sees what happens in them.
_MOMENTS = {
    PHASES[POTIONS]: PhaseRow(name=PHASES[POTIONS], night=True, actors={"witch": "speak"}, audience="pack"),
    PHASES[LAST_SHOT]: PhaseRow(name=PHASES[LAST_SHOT], actors={"hunter": "speak"}, audience="pack"),
}


class Moment(NamedTuple):
    """One game after its last step, as the spectator sees it."""

    day: int  # of the phase that was played, from 0 as in observations; after a reset of the next phase
    phase: str  # name of the phase that was played; "" after a reset
    round: int  # of that phase, from 1
    rounds: int
    night: bool  # whether it was night; after a reset, of the next phase
    following: str  # name of the next phase
    audience: str  # viewers of its board: everybody, the pack, or its actor; "" after a reset
    shown: bool  # whether the spectator sees a board of this phase
    names: np.ndarray  # (n, b) int, names on each ballot, -1 = none
    words: np.ndarray  # (n, L') int, each seat's word, -1 = none
    votes: np.ndarray  # (n,) int, counted names for each seat
    counted: bool  # whether these are votes, not talk
    chosen: int  # seat that the votes chose, or -1
    tied: bool  # whether several shared the top of the count
    alive: np.ndarray  # (n,) bool
    fate: np.ndarray  # (n,) int, index of `state.FATES`, or -1 for the living
    fallen: np.ndarray  # (n,) bool, died in this step
    suspect: np.ndarray  # (n,) bool, seats that a coming revote may name; all False unless there is one
    roles: np.ndarray  # (n,) int, role numbers, `HIDDEN` if unknown
    known: tuple[
        str, ...
    ]  # actions of guards, knowledge of seers and mediums, per seat; () unless privileged
    secrets: tuple[str, ...]  # the same after a night, each with its seat
    over: bool  # the game has ended
    cut: bool  # by the limit of days
    winner: int  # team, or -1


def look(state: WerewolfState, settings: WerewolfSettings, w: int, privileged: bool = False) -> Moment:
    """The spectator's view of game `w`; with `privileged`, roles and the pack's actions are included."""
    room = state.room[w]
    began = int(room["ended_phase"]) == NONE
    row = row_in_view(state, settings, w)
    public = row.audience == "public"
    shown = not began and row.name not in _MOMENTS and (public or privileged)
    ballots, words = _board(state, w, shown, public)
    known = _known(state, w) if privileged else ()
    after_night = not began and row.resolver == "kill"
    open_to_all = not began and (public or privileged)
    return Moment(
        day=int(room["day"] if began else room["ended_day"]),
        phase="" if began else row.name,
        round=int(room["ended_round"]) + 1,
        rounds=row.rounds,
        night=row.night,
        following=phase_names(settings.rows)[int(room["phase"])],
        audience="" if began else _audience(row),
        shown=shown,
        names=ballots,
        words=words,
        votes=count_votes(ballots, settings.depth, settings.count_duplicates),
        counted=row.resolver != "none",
        chosen=int(room["chosen"]) if open_to_all else NONE,
        tied=bool(room["tied"]) and open_to_all,
        alive=state.alive[w].copy(),
        fate=state.fate[w].astype(np.int64),
        fallen=~state.alive[w] & (state.fell[w] == int(state.stream[w, 2])) & (not began),
        suspect=state.suspect[w] & (int(room["stage"]) == REVOTE),
        roles=_roles(state, w, privileged),
        known=known,
        secrets=_secrets(state, w, known) if after_night else (),
        over=bool(room["over"]),
        cut=bool(room["cut"]),
        winner=int(room["winner"]),
    )


def row_in_view(state: WerewolfState, settings: WerewolfSettings, w: int) -> PhaseRow:
    """The phase of the last step of game `w`; after a reset the next one."""
    names, room = phase_names(settings.rows), state.room[w]
    began = int(room["ended_phase"]) == NONE
    return row_of(settings, names[int(room["phase"] if began else room["ended_phase"])])


def row_of(settings: WerewolfSettings, name: str) -> PhaseRow:
    """The first row of that name, or one of the two phases without a row."""
    return next((row for row in settings.table if row.name == name), None) or _MOMENTS[name]


def count_votes(names: np.ndarray, depth: int, duplicates: bool) -> np.ndarray:
    """Counts the first `depth` of the names (n, b) on each ballot: (n,) int; -1 is no name.

    Example:
        >>> count_votes(np.array([[1, 1], [2, 0], [1, -1]]), depth=2, duplicates=False)
        array([1, 2, 1])
    """
    counts = np.zeros(len(names), np.int64)
    for ballot in names[:, :depth]:
        counted = ballot[ballot >= 0]
        np.add.at(counts, counted if duplicates else np.unique(counted), 1)
    return counts


def fate_of(moment: Moment, seat: int) -> str:
    """The cause of death: ``"eaten"``, ..., or "" for the living."""
    return "" if moment.alive[seat] else FATES[moment.fate[seat]]


def _board(state: WerewolfState, w: int, shown: bool, public: bool) -> tuple[np.ndarray, np.ndarray]:
    ballots, words = (
        (state.public_targets[w], state.public_signals[w])
        if public
        else (state.pack_targets[w], state.pack_signals[w])
    )
    if not shown:
        return np.full(ballots.shape, NONE, np.int64), np.full(words.shape, NONE, np.int64)
    return ballots.astype(np.int64), words.astype(np.int64)


def _roles(state: WerewolfState, w: int, privileged: bool) -> np.ndarray:
    """All roles at the end; before it only revealed roles of the dead."""
    if privileged or state.room[w]["over"]:
        return state.role[w].astype(np.int64)
    return state.revealed[w].astype(np.int64)


def _audience(row: PhaseRow) -> str:
    return "its actor" if row.name in _MOMENTS else "everybody" if row.audience == "public" else "the pack"


def _known(state: WerewolfState, w: int) -> tuple[str, ...]:
    """Private knowledge and actions of living players with an ability, as text."""
    facts = [""] * state.role.shape[1]
    for seat in np.flatnonzero(state.alive[w]):
        role = state.role[w, seat]
        if role == GUARDIAN and state.guarded[w, seat] != NONE:
            facts[seat] = f"stands before {state.guarded[w, seat]}"
        if role in (SEER, MEDIUM):
            about = np.flatnonzero(state.known[w, seat] != NONE)
            facts[seat] = ", ".join(f"{other} is {SPECIES[state.known[w, seat, other]]}" for other in about)
    return tuple(facts)


def _secrets(state: WerewolfState, w: int, known: tuple[str, ...]) -> tuple[str, ...]:
    """The same with role and seat."""
    lines = []
    for seat, fact in enumerate(known):
        role = state.role[w, seat]
        lines += [f"{NAMES[role]} {seat} {'' if role == GUARDIAN else 'knows: '}{fact}"] * bool(fact)
    return tuple(lines)
