"""The game's arrays, one line each. Axes: W worlds, A seats (n), b names on a ballot, L places of a word.

The state is what a snapshot holds. Observations (`Sight`) are computed from it where it changed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from interplay.core import seeding
from interplay.core.jit import records
from interplay.worlds.werewolf.config import WerewolfSettings
from interplay.worlds.werewolf.roles import ABILITIES

NONE = -1

# Stage of a world: in a row of the table, in a revote, or in a phase without a row.
IN_TABLE, REVOTE, POTIONS_STAGE, SHOT_STAGE = range(4)

ROOM = np.dtype(
    [
        ("day", np.int16),  # executions concluded, and rounds of the table without one
        ("dawn", np.int16),  # day at which this round of the table began
        ("row", np.uint8),  # of the table of phases
        ("phase", np.uint8),  # number of the next phase, see phases.PHASES
        ("talk_round", np.uint8),  # rounds of this phase held
        ("stage", np.uint8),  # see IN_TABLE
        ("revotes", np.uint8),  # held in this execution
        ("eaten", np.int16),  # player killed in the last night, or NONE
        ("executed", np.int16),  # last player executed, or NONE
        ("public_phase", np.int8),  # of the public board, or NONE
        ("pack_phase", np.int8),
        ("block_phase", np.int8),  # of the last phase
        ("winner", np.int8),  # NONE, roles.VILLAGERS or roles.WOLVES
        ("living", np.int16),
        ("wolves", np.int16),  # living seats that count as wolves
        ("humans", np.int16),  # living seats that count as humans
        ("victim", np.int16),  # of the attack, before dawn
        ("shooter", np.int16),  # dying hunter that acts, or NONE
        ("shots", np.int16),  # pending hunters
        ("ended_phase", np.int8),  # phase of the last step, or NONE after a reset
        ("ended_round", np.uint8),
        ("ended_day", np.int16),
        ("chosen", np.int16),  # seat that its votes chose, or NONE
        ("tied", np.bool_),  # whether several shared the top of its count
        ("over", np.bool_),
        ("cut", np.bool_),  # max_days was reached
    ],
    align=True,
)

# Sums and counts over the episode, the source of `metrics` (specification 10).
TALLY = np.dtype(
    [
        ("suicide", np.float64),  # shares of voters that named themselves first, summed over executions
        ("accord", np.float64),  # shares of voters that named the chosen player, over kills and executions
        ("margin", np.float64),  # (top - second) / voters
        ("entropy", np.float64),  # of the counted names, over log(living)
        ("switch", np.float64),  # shares of voters whose first name differs from the last talk round's
        ("influence", np.float64),
        ("index_distance", np.float64),
        ("repetition_distance", np.float64),
        ("set_difference", np.float64),
        ("drift", np.float64),  # of ballots between consecutive executions
        ("drifts", np.int32),  # living voters with a ballot in both
        ("compared", np.int32),  # executions with a public talk board before them
        ("held", np.int32),  # kills and executions that chose a seat
        ("counted", np.int32),  # kills and executions
        ("executions", np.int32),
        ("hits", np.int32),  # executions of seats that count as wolves
        ("removed", np.int32),  # executions that chose a seat
        ("kills", np.int32),
        ("splits", np.int32),  # kills with a split pack
        ("ties", np.int32),
        ("follows", np.int32),
        ("followable", np.int32),
        ("busses", np.int32),  # wolves' day votes on wolves
        ("wolf_votes", np.int32),
        ("illegal", np.int32),
    ],
    align=True,
)

FATES = ("eaten", "executed", "poisoned", "shot")  # causes of death
BY_TEETH, BY_VOTE, BY_POISON, BY_SHOT = range(len(FATES))

TERMS = ("day", "death", "accord", "team", "wasted")  # parts of the reward; team: victory or lost


class WerewolfState(NamedTuple):
    """One batch of games, as kernels take it."""

    room: np.ndarray  # (W,) ROOM
    tally: np.ndarray  # (W,) TALLY
    stream: np.ndarray  # (W, 3) uint64: seed, episode, steps of this episode; see rules/draws.py
    role: np.ndarray  # (W, A) uint8, see roles.ROLES
    alive: np.ndarray  # (W, A) bool
    ability: np.ndarray  # (W, A) uint8, of each seat in the next phase, see roles.ABILITIES
    suspect: np.ndarray  # (W, A) bool, tied seats of a revote
    public_targets: np.ndarray  # (W, A, b) int16, last public board; -1 = no entry
    public_signals: np.ndarray  # (W, A, L) int16
    pack_targets: np.ndarray  # (W, A, b) int16, last board of the night
    pack_signals: np.ndarray  # (W, A, L) int16
    last_votes: np.ndarray  # (W, A, b) int16, ballots of the last execution
    past_targets: np.ndarray  # (W, H, A, b) int16, public boards, the newest first
    past_signals: np.ndarray  # (W, H, A, L) int16
    past_phase: np.ndarray  # (W, H) int8, or -1
    past_day: np.ndarray  # (W, H) int16, or -1
    past_chosen: np.ndarray  # (W, H) int16, seat that an execution chose, or -1
    known: np.ndarray  # (W, A, A) int8, species known to extra roles, or -1; (W, 0, 0) without such roles
    fate: np.ndarray  # (W, A) int8, cause of death, see FATES, or -1
    fell: np.ndarray  # (W, A) int32, step of the episode in which it died, from 1, or -1
    revealed: np.ndarray  # (W, A) int8, role of the dead, or -1
    guarded: np.ndarray  # (W, A) int16, seat that each guard guarded last, or -1
    potions: np.ndarray  # (W, A, 2) bool, a witch's unused: heal, poison
    owed: np.ndarray  # (W, A) bool, pending hunters
    ended: np.ndarray  # (W, A) bool, seats with an ended episode
    reward: np.ndarray  # (W, A) float32
    terms: np.ndarray  # (W, A, 5) float32, parts of the reward, see TERMS; (W, 0, 5) unless asked for
    late: np.ndarray  # (W, A) float32, the team's result for a player that ended with its death
    acting: np.ndarray  # (W, A) bool
    terminated: np.ndarray  # (W, A) bool
    truncated: np.ndarray  # (W, A) bool
    told: np.ndarray  # (W,) bool, whether the last step gave a reward or an end


class Sight(NamedTuple):
    """Observations beside the state, computed from it."""

    mask: np.ndarray  # (W, A, choices) bool
    written: np.ndarray  # (W,) int16, `Tables.form` of the written masks, or -1
    counted: np.ndarray  # (W,) int16, living players when the masks were written
    insiders: np.ndarray  # (W, A) int16, first the seats that know the pack, then -1
    pack: np.ndarray  # (W, A, A) bool, the pack as each wolf knows it
    pack_targets: np.ndarray  # (W, A, A, b) int16, the night's board by viewer; -1 outside the pack
    pack_signals: np.ndarray  # (W, A, A, L) int16
    pack_phase: np.ndarray  # (W, A) int8
    block_targets: np.ndarray  # (W, A, A, b) int16, WD's single board; (W, 0, A, b) if board = split
    block_signals: np.ndarray  # (W, A, A, L) int16


class Scratch(NamedTuple):
    """Working arrays within a step. First axis: thread."""

    ballots: np.ndarray  # (S, A, b) int16, names of this step's ballots, legal ones; -1 = none
    votes: np.ndarray  # (S, A) int32, counts of names
    talked: np.ndarray  # (S, A) int32, counts of names on the talk board
    top: np.ndarray  # (S, A) int16, seats that share the top
    dying: np.ndarray  # (S, A + 1) int16, distinct seats that die in this step; the last entry counts them
    names: np.ndarray  # (S, 9, A + 1) bool, legal names by ability
    speakers: np.ndarray  # (S, A) int16, seats with a word on the board


def choices(settings: WerewolfSettings) -> list[int]:
    """Choices of each action head: b names (n = pass), then the places of a word."""
    return [settings.n_players + 1] * settings.names + list(settings.symbols)


def allocate_state(settings: WerewolfSettings, num_worlds: int) -> WerewolfState:
    """Empty worlds."""
    w, n, b, length = num_worlds, settings.n_players, settings.names, settings.word_length
    past = settings.obs.history
    knowing = n if settings.extra_roles else 0
    return WerewolfState(
        room=records(w, ROOM),
        tally=records(w, TALLY),
        stream=seeding.new_stream(w),
        role=np.zeros((w, n), np.uint8),
        alive=np.zeros((w, n), bool),
        ability=np.zeros((w, n), np.uint8),
        suspect=np.zeros((w, n), bool),
        public_targets=_none(w, n, b),
        public_signals=_none(w, n, length),
        pack_targets=_none(w, n, b),
        pack_signals=_none(w, n, length),
        last_votes=_none(w, n, b),
        past_targets=_none(w, past, n, b),
        past_signals=_none(w, past, n, length),
        past_phase=np.full((w, past), NONE, np.int8),
        past_day=_none(w, past),
        past_chosen=_none(w, past),
        known=np.full((w, knowing, knowing), NONE, np.int8),
        fate=np.full((w, n), NONE, np.int8),
        fell=np.full((w, n), NONE, np.int32),
        revealed=np.full((w, n), NONE, np.int8),
        guarded=_none(w, n),
        potions=np.zeros((w, n, 2), bool),
        owed=np.zeros((w, n), bool),
        ended=np.zeros((w, n), bool),
        reward=np.zeros((w, n), np.float32),
        terms=np.zeros((w, n if settings.reward_terms else 0, len(TERMS)), np.float32),
        late=np.zeros((w, n), np.float32),
        acting=np.zeros((w, n), bool),
        terminated=np.zeros((w, n), bool),
        truncated=np.zeros((w, n), bool),
        told=np.zeros(w, bool),
    )


def allocate_sight(settings: WerewolfSettings, num_worlds: int) -> Sight:
    """Empty observations."""
    w, n, b, length = num_worlds, settings.n_players, settings.names, settings.word_length
    viewers, one = (n, 0) if settings.board == "split" else (0, n)
    return Sight(
        mask=np.zeros((w, n, sum(choices(settings))), bool),
        written=_none(w),
        counted=_none(w),
        insiders=_none(w, n),
        pack=np.zeros((w, n, n), bool),
        pack_targets=_none(w, viewers, n, b),
        pack_signals=_none(w, viewers, n, length),
        pack_phase=np.full((w, n), NONE, np.int8),
        block_targets=_none(w, one, n, b),
        block_signals=_none(w, one, n, length),
    )


def allocate_scratch(settings: WerewolfSettings, threads: int) -> Scratch:
    """Working arrays for a number of threads."""
    shape = (threads, settings.n_players)
    return Scratch(
        ballots=np.zeros((*shape, settings.names), np.int16),
        votes=np.zeros(shape, np.int32),
        talked=np.zeros(shape, np.int32),
        top=np.zeros(shape, np.int16),
        dying=np.zeros((threads, settings.n_players + 1), np.int16),
        names=np.zeros((threads, len(ABILITIES), settings.n_players + 1), bool),
        speakers=np.zeros(shape, np.int16),
    )


def _none(*shape: int) -> Any:
    return np.full(shape, NONE, np.int16)
