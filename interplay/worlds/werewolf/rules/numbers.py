"""The settings as kernels read them: numbers, and small tables of phases, roles and words."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from interplay.core.jit import table_of
from interplay.worlds.werewolf.config import WerewolfSettings
from interplay.worlds.werewolf.phases import AUDIENCES, RESOLVERS, phase_names
from interplay.worlds.werewolf.roles import ABILITIES, NAMES, NO_ABILITY, ROLES
from interplay.worlds.werewolf.state import choices

# Choices of settings, in the order of `config`.
PLURALITY, MAJORITY, THRESHOLD, UNIQUE_TOP = range(4)
AT_RANDOM, NO_EXECUTION, VOTE_AGAIN = range(3)
SPLIT, LAST_VISIBLE, LAST_PHASE = range(3)
FULL, TALK_OFF, SIGNALS_OFF, TARGETS_OFF, SHUFFLED, RESAMPLED, REPLAYED = range(7)
ANY_DAY = -1


class Tables(NamedTuple):
    """Tables shared by all worlds. P rows of phases, R roles, L places of a word."""

    phase: np.ndarray  # (P,) uint8, number of the phase
    rounds: np.ndarray  # (P,) uint8
    audience: np.ndarray  # (P,) uint8
    resolver: np.ndarray  # (P,) uint8
    only_day: np.ndarray  # (P,) int16, or -1
    except_day: np.ndarray  # (P,) int16, or -1
    ability: np.ndarray  # (P, R) uint8
    form: np.ndarray  # (P,) int16, equal for rows with equal masks; -1 if masks must be recomputed
    talks: np.ndarray  # (phases,) bool, by number: public talk, with which votes are compared
    team: np.ndarray  # (R,) uint8
    counts_as: np.ndarray  # (R,) uint8
    species: np.ndarray  # (R,) int8
    knows_pack: np.ndarray  # (R,) bool
    crew: np.ndarray  # (A,) uint8, the dealt roles
    symbols: np.ndarray  # (L,) int16, choices at each place of a word
    marginal: np.ndarray  # (L, most symbols) float64, cumulative, for resampled words
    replay: np.ndarray  # (G, D, phases, A, L) int16, words of recorded games
    logarithm: np.ndarray  # (A b + 1,) float64: log of a count, 0 for 0


def rules_of(s: WerewolfSettings) -> np.ndarray:
    """The rules as a table of one record (`jit.table_of`)."""
    return table_of(
        s,
        players=s.n_players,  # n
        dealt=s.seats == "dealt",  # roles are dealt anew in every game
        names=s.names,  # b
        depth=s.depth,  # k
        length=s.word_length,  # places of a word
        choices=sum(choices(s)),  # columns of an action mask
        quota=s.quota or 0.0,
        of_margin=s.quota_of == "margin",
        days=s.days,
        by_rank=s.accord == "rank",
        absent=s.names if s.rank_absent is None else s.rank_absent,  # place of a player not on the ballot
        spectate=s.dead == "spectate",
        show_pack=s.obs.pack,
        history=s.obs.history,
        private=s.extra_roles,  # a role has private information
        rows=len(s.table),  # of the table of phases
        games=0,  # recorded games for replayed words
        **{f"reward_{name}": value for name, value in s.penalties.model_dump().items()},
    )


def tables_of(s: WerewolfSettings) -> Tables:
    """The tables; resampled words are uniform and there are no games to replay until they are set."""
    rows, names = s.table, phase_names(s.rows)
    symbols = np.array(s.symbols, np.int16)
    counts = np.arange(s.n_players * s.names + 1, dtype=np.float64)
    return Tables(
        phase=np.array([names.index(row.name) for row in rows], np.uint8),
        rounds=np.array([row.rounds for row in rows], np.uint8),
        audience=np.array([AUDIENCES.index(row.audience) for row in rows], np.uint8),
        resolver=np.array([RESOLVERS.index(row.resolver) for row in rows], np.uint8),
        only_day=np.array([ANY_DAY if row.only_day is None else row.only_day for row in rows], np.int16),
        except_day=np.array(
            [ANY_DAY if row.except_day is None else row.except_day for row in rows], np.int16
        ),
        ability=np.array([[_ability(row, role) for role in NAMES] for row in rows], np.uint8),
        form=np.array([_form(row, rows, s) for row in rows], np.int16),
        talks=np.isin(names, [r.name for r in rows if r.audience == "public" and r.resolver == "none"]),
        team=np.array([role.team for role in ROLES], np.uint8),
        counts_as=np.array([role.counts_as for role in ROLES], np.uint8),
        species=np.array([role.species for role in ROLES], np.int8),
        knows_pack=np.array([role.knows_pack for role in ROLES]),
        crew=np.repeat(np.arange(len(ROLES)), s.crew).astype(np.uint8),
        symbols=symbols,
        marginal=uniform_marginal(symbols),
        replay=np.zeros((0, 1, len(names), s.n_players, s.word_length), np.int16),
        logarithm=np.log(np.maximum(counts, 1.0)),
    )


def uniform_marginal(symbols: np.ndarray) -> np.ndarray:
    """(L, most) cumulative probabilities of uniform symbols; 1 after a place's last symbol."""
    most = int(symbols.max()) if len(symbols) else 1
    return np.minimum(np.arange(1, most + 1) / np.maximum(symbols, 1)[:, None], 1.0).reshape(-1, most)


def _form(row: Any, rows: Any, s: WerewolfSettings) -> int:
    """The first row with the same masks."""
    own = _names_by_role(row, s)
    if set(own) & {"divine", "guard"}:
        return -1  # these depend on more than the living seats
    return next(k for k, other in enumerate(rows) if _names_by_role(other, s) == own)


def _names_by_role(row: Any, s: WerewolfSettings) -> list[str]:
    """The ability that determines each role's legal names in a row."""
    plain = s.allow_self_vote and not s.allow_abstain
    same = {"attack": "speak_in_pack"} | ({"vote": "speak"} if plain else {})
    abilities = [ABILITIES[_ability(row, role)] for role in s.roles_in_play]
    return [same.get(ability, ability) for ability in abilities]


def _ability(row: Any, role: str) -> int:
    found = row.actors.get(role, row.actors.get("all"))
    return NO_ABILITY if found is None else ABILITIES.index(found)
