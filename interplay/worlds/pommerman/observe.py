"""Observations of the agents and the critic (specification 3.5)."""

from __future__ import annotations

import numpy as np
from gymnasium import spaces

from interplay.core.jit import phase
from interplay.worlds.pommerman.config import BOMB_LIFE, FLAME_LIFE, MOST_AMMO, MOST_BLAST, PommermanSettings
from interplay.worlds.pommerman.state import (
    AGENT_0,
    BOMB,
    CODES,
    DUMMY,
    FLAMES,
    FOG,
    RIGHT,
    PommermanState,
    Sight,
)

PLANES = ("board", "bomb_blast_strength", "bomb_life", "bomb_moving_direction", "flame_life")
_BOARD, _STRENGTH, _LIFE, _DIRECTION, _FLAME = range(5)
_OTHERS = 3  # codes of enemies, padded with dummies
FFA, TEAM, RADIO, ONE_VS_ONE = 1, 2, 3, 4  # the playground's game types


@phase
def look_around(state, sight, rules, scratch, thread, w):
    """Writes all observations of a world: the whole board, or a window around the own cell."""
    fill_planes(state, rules, scratch, thread, w)
    for a in range(rules.players):
        show_self(state, sight, rules, w, a)
        if rules.fog == 0:
            show_all(sight, scratch, thread, w, a)
        else:
            show_window(state, sight, rules, scratch, thread, w, a)


@phase
def fill_planes(state, rules, scratch, thread, w):
    """Writes the board without the rim: ground, then bombs, flames and living agents on top."""
    plane, side, size = scratch.plane[thread], rules.side, rules.rows
    for row in range(size):
        first = (row + 1) * side + 1
        for col in range(size):
            cell = row * size + col
            flame = state.flame[w, first + col]
            plane[_BOARD, cell] = state.ground[w, first + col] if flame == 0 else FLAMES
            plane[_FLAME, cell] = flame
            plane[_STRENGTH, cell], plane[_LIFE, cell], plane[_DIRECTION, cell] = 0, 0, 0
    for k in range(state.room[w].bombs):
        bomb = state.bomb[w, k]
        cell = (bomb.cell // side - 1) * size + bomb.cell % side - 1
        plane[_BOARD, cell] = BOMB
        plane[_STRENGTH, cell] = bomb.blast
        plane[_LIFE, cell] = bomb.life
        plane[_DIRECTION, cell] = bomb.direction
    for a in range(rules.players):
        person = state.agent[w, a]
        if person.alive:
            plane[_BOARD, (person.cell // side - 1) * size + person.cell % side - 1] = AGENT_0 + a


@phase
def show_self(state, sight, rules, w, a):
    """Writes the agent's own numbers, living players, the step and the team-mate's words."""
    person = state.agent[w, a]
    sight.position[w, a, 0] = person.cell // rules.side - 1
    sight.position[w, a, 1] = person.cell % rules.side - 1
    sight.ammo[w, a] = person.ammo
    sight.blast_strength[w, a] = person.blast
    sight.can_kick[w, a] = person.kick
    sight.step_count[w, a] = state.room[w].steps
    for b in range(rules.players):
        sight.alive[w, a, b] = state.agent[w, b].alive
    for k in range(state.words.shape[2]):
        sight.message[w, a, k] = state.words[w, (a + 2) % 4, k]


@phase
def show_all(sight, scratch, thread, w, a):
    """The whole board."""
    plane = scratch.plane[thread]
    for cell in range(plane.shape[1]):
        sight.board[w, a, cell] = plane[_BOARD, cell]
        sight.bomb_blast_strength[w, a, cell] = plane[_STRENGTH, cell]
        sight.bomb_life[w, a, cell] = plane[_LIFE, cell]
        sight.bomb_moving_direction[w, a, cell] = plane[_DIRECTION, cell]
        sight.flame_life[w, a, cell] = plane[_FLAME, cell]


@phase
def show_window(state, sight, rules, scratch, thread, w, a):
    """Writes the cells in view, and fog elsewhere. Dead agents see from where they died."""
    plane, size = scratch.plane[thread], rules.rows
    row, col = sight.position[w, a, 0], sight.position[w, a, 1]
    for cell in range(plane.shape[1]):
        sight.board[w, a, cell] = FOG
        sight.bomb_blast_strength[w, a, cell] = 0
        sight.bomb_life[w, a, cell] = 0
        sight.bomb_moving_direction[w, a, cell] = 0
        sight.flame_life[w, a, cell] = 0
    left, right = max(col - rules.fog, 0), min(col + rules.fog + 1, size)
    for r in range(max(row - rules.fog, 0), min(row + rules.fog + 1, size)):
        for cell in range(r * size + left, r * size + right):
            sight.board[w, a, cell] = plane[_BOARD, cell]
            sight.bomb_blast_strength[w, a, cell] = plane[_STRENGTH, cell]
            sight.bomb_life[w, a, cell] = plane[_LIFE, cell]
            sight.bomb_moving_direction[w, a, cell] = plane[_DIRECTION, cell]
            sight.flame_life[w, a, cell] = plane[_FLAME, cell]


def allocate_sight(settings: PommermanSettings, num_worlds: int) -> Sight:
    """Empty observations; constant fields (team-mates, enemies) are filled in."""
    lead = (num_worlds, settings.players)
    arrays = {
        name: np.zeros((*lead, *box.shape), box.dtype) for name, box in observation_space(settings).items()
    }
    arrays |= {name: arrays[name].reshape(*lead, -1) for name in PLANES}
    sight = Sight(**{"message": np.zeros((*lead, 0), np.uint8), **arrays})
    sight.teammate[:], sight.enemies[:], sight.game_type[:] = DUMMY, DUMMY, game_type(settings)
    for a in range(settings.players):
        mate = (a + 2) % 4 if settings.teams else a
        enemies = [AGENT_0 + b for b in range(settings.players) if b not in (a, mate)]
        sight.enemies[:, a, : len(enemies)] = enemies
        if mate != a:
            sight.teammate[:, a] = AGENT_0 + mate
    return sight


def game_type(settings: PommermanSettings) -> int:
    """The playground's number of the game type."""
    if settings.teams:
        return RADIO if settings.radio else TEAM
    return FFA if settings.players == 4 else ONE_VS_ONE


def observation_space(settings: PommermanSettings) -> spaces.Dict:
    """Space of one agent, with the playground's keys."""
    n = settings.size
    blast = max(MOST_BLAST, settings.most_blast)
    most = {
        "board": CODES - 1,
        "bomb_blast_strength": blast,
        "bomb_life": BOMB_LIFE,
        "bomb_moving_direction": RIGHT,
        "flame_life": FLAME_LIFE,
    }
    last_code = AGENT_0 + settings.players - 1
    fields: dict[str, spaces.Space] = {
        name: spaces.Box(0, high, (n, n), np.uint8) for name, high in most.items()
    }
    fields |= {
        "position": spaces.Box(0, n - 1, (2,), np.uint8),
        "ammo": spaces.Box(0, MOST_AMMO, (), np.uint8),
        "blast_strength": spaces.Box(0, blast, (), np.uint8),
        "can_kick": spaces.Box(0, 1, (), np.uint8),
        "teammate": spaces.Box(DUMMY, max(last_code, DUMMY), (), np.uint8),
        "enemies": spaces.Box(DUMMY, last_code, (_OTHERS,), np.uint8),
        "alive": spaces.Box(0, 1, (settings.players,), np.uint8),
        "step_count": spaces.Box(0, settings.limit, (), np.int16),
        "game_type": spaces.Box(FFA, ONE_VS_ONE, (), np.uint8),
    }
    if settings.radio:
        fields["message"] = spaces.Box(0, settings.vocabulary - 1, (settings.words,), np.uint8)
    return spaces.Dict(fields)


def fields_of(sight: Sight, settings: PommermanSettings) -> dict[str, np.ndarray]:
    """Field -> array in the order of the space; planes as (W, A, N, N). Constant fields are read-only."""
    fields = sight._asdict()
    for name in ("teammate", "enemies", "game_type"):
        fields[name] = fields[name].view()
        fields[name].flags.writeable = False
    if not settings.radio:
        del fields["message"]
    for name in PLANES:
        fields[name] = fields[name].reshape(*fields[name].shape[:2], settings.size, settings.size)
    return fields


# -- the global state: also hidden items, and everything behind the fog ------------------------------------------

_MAPS = 6  # ground, hidden item, flames, and of bombs life, blast, direction
_OWN = 6  # alive, row, column, ammo, blast, kick


def state_space(settings: PommermanSettings) -> spaces.Box:
    """Unbounded float32, in cells, steps and codes."""
    size = _MAPS * settings.size**2 + _OWN * settings.players + 1
    return spaces.Box(-np.inf, np.inf, (size,), np.float32)


def global_state(state: PommermanState, settings: PommermanSettings) -> np.ndarray:
    """(W, n) float32: the board's maps, every agent's own numbers, the step."""
    worlds, side = len(state.room), settings.size + 2
    maps = np.zeros((_MAPS, worlds, side * side), np.float32)
    maps[0], maps[1], maps[2] = state.ground, state.item, state.flame
    w, k = np.nonzero(np.arange(settings.bombs) < state.room["bombs"][:, None])
    bomb = state.bomb[w, k]
    for number, name in enumerate(("life", "blast", "direction"), 3):
        maps[number, w, bomb["cell"]] = bomb[name]
    inner = maps.reshape(_MAPS, worlds, side, side)[:, :, 1:-1, 1:-1]
    agent = state.agent
    row, col = np.divmod(agent["cell"], side)
    own = np.stack([agent["alive"], row - 1, col - 1, agent["ammo"], agent["blast"], agent["kick"]], axis=2)
    parts = [inner.transpose(1, 0, 2, 3), own, state.room["steps"]]
    return np.concatenate([part.reshape(worlds, -1) for part in parts], axis=1).astype(np.float32)
