"""The werewolf world: spaces, reset, step, metrics (specification 6 to 10)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np
from gymnasium import spaces

from interplay.core import seeding
from interplay.core.errors import UserError
from interplay.core.fog import EVERYTHING, Visible
from interplay.core.guides import Guide
from interplay.core.kernel_world import KernelWorld, read_only
from interplay.core.ranges import Invariant, Range
from interplay.core.scene import Canvas
from interplay.core.transcript import Line
from interplay.core.world import Kind, Outputs, TimeStep
from interplay.worlds.werewolf import render
from interplay.worlds.werewolf.config import WerewolfSettings
from interplay.worlds.werewolf.counts import metrics_of
from interplay.worlds.werewolf.drawing import chronicle
from interplay.worlds.werewolf.drawing.spectator import look, row_in_view
from interplay.worlds.werewolf.guides import guides_of
from interplay.worlds.werewolf.phases import phase_names
from interplay.worlds.werewolf.ranges import ValidStates
from interplay.worlds.werewolf.rules import step
from interplay.worlds.werewolf.rules.numbers import rules_of, tables_of
from interplay.worlds.werewolf.spaces import fields_of
from interplay.worlds.werewolf.state import (
    allocate_scratch,
    allocate_sight,
    allocate_state,
    choices,
)


class WerewolfWorld(KernelWorld):
    """W games in which villagers look for the wolves among them; one step is one phase.

    Roles are dealt to seats anew in every game. `population` gives each seat's role by its place in the line-up, for policy mapping,
    evaluation and pictures. Observations hold only what the seat may know. `threads` does not change the results.

    Attributes:
        state: the arrays (`state.WerewolfState`); after writing to them call `refresh`.
        population_names: the roles of the line-up.
        privileged_view: whether pictures and text show roles and the pack's actions before the end.
    """

    version = 1
    privileged_view = False
    frames_per_step = 45  # a second and a half to read a board
    instruments = MappingProxyType(
        {"talk": "interplay.evaluate.communication.werewolf.reader:WerewolfReader"}
    )

    def __init__(
        self,
        settings: WerewolfSettings,
        num_worlds: int = 1,
        seed: int = 0,
        threads: int = 1,
        first_world: int = 0,
    ) -> None:
        self.settings = settings
        self.state = allocate_state(settings, num_worlds)
        self._sight = allocate_sight(settings, num_worlds)
        fields = fields_of(settings, self.state, self._sight)
        seats = tuple(range(settings.n_players))
        kind = Kind(
            "agent",
            seats,
            spaces.Dict({name: field.space for name, field in fields.items()}),
            spaces.MultiDiscrete(np.array(choices(settings), np.int64), dtype=np.int16),
        )
        super().__init__(num_worlds, [f"seat_{i}" for i in seats], [kind], seed, first_world, threads)
        self.action_names = action_names(settings, self.agents)
        self.population_names = settings.roles_in_play
        self.num_populations = len(settings.roles_in_play)
        self._number = (np.cumsum(np.array(settings.crew) > 0) - 1).astype(np.uint8)  # of each role
        self._scratch = allocate_scratch(settings, self._chunks.threads)
        self._rules, self._tables = rules_of(settings), tables_of(settings)
        self._valid = ValidStates(settings, self._tables)
        s = self.state
        self.outputs = Outputs(s.reward, s.acting, s.terminated, s.truncated, s.room["over"])
        seen = {name: field.array for name, field in fields.items()}
        self._views = TimeStep(seen, *self.outputs, {"action": read_only(self._sight.mask)})

    # -- what users read ----------------------------------------------------------------------------------------------

    @property
    def population(self) -> np.ndarray:
        """(W, A) uint8, each seat's role by its place in the line-up, also of the dead."""
        return self._number[self.state.role]

    @property
    def late_reward(self) -> np.ndarray:
        """(W, A) float32, with ``dead = "end_with_bootstrap"``: the team's result for seats that ended early."""
        return self.state.late

    @property
    def reward_terms(self) -> np.ndarray:
        """(W, A, 5) float32, terms of the last reward in the order of `state.TERMS`, with ``reward_terms = true``."""
        return self.state.terms

    @property
    def phase_names(self) -> tuple[str, ...]:
        """Names of the numbers in the field ``phase``."""
        return phase_names(self.settings.rows)

    @property
    def metrics(self) -> Mapping[str, np.ndarray]:
        """Of each game so far, see `counts.metrics_of`."""
        return metrics_of(self.state, self.settings.names > 1)

    @property
    def marginal(self) -> np.ndarray:
        """(L, S) symbol probabilities by place, for ``arm = "signals_resampled"``; initially uniform."""
        return np.diff(self._tables.marginal, axis=1, prepend=0.0)

    @marginal.setter
    def marginal(self, probabilities: np.ndarray) -> None:
        given, shape = np.asarray(probabilities, np.float64), self._tables.marginal.shape
        if given.shape != shape or (given < 0).any() or not np.allclose(given.sum(axis=1), 1.0):
            raise UserError(
                f"{self.id}: marginal has shape {given.shape}; give {shape} probabilities, each row with sum 1"
            )
        self._tables.marginal[...] = np.minimum(np.cumsum(given, axis=1), 1.0)

    @property
    def replay(self) -> np.ndarray:
        """(G, D, phases, A, L) int16, recorded words for ``arm = "signals_replayed"``; initially none."""
        return self._tables.replay

    @replay.setter
    def replay(self, words: np.ndarray) -> None:
        given, shape = np.asarray(words, np.float64), self._tables.replay.shape
        if given.ndim != 5 or given.shape[2:] != shape[2:] or not given.size:
            raise UserError(
                f"{self.id}: replay has shape {given.shape}; give (games, days, *{shape[2:]}) words"
            )
        if (
            not np.isin(given, np.arange(self._tables.symbols.max())).all()
            or (given >= self._tables.symbols).any()
        ):
            raise UserError(f"{self.id}: replay has other numbers than symbols; give 0 to signal_range - 1")
        self._tables = self._tables._replace(replay=np.ascontiguousarray(given, np.int16))
        self._rules["games"] = len(given)

    def visible(self, world: int, slot: int) -> Visible | None:
        """The public table; None with `privileged_view`, which shows roles."""
        return None if self.privileged_view else EVERYTHING

    def observation_guides(self, world: int, slot: int) -> dict[str, tuple[Guide, ...]]:
        """Phases, roles and seats by name, boards with a row for each seat."""
        space = self.kinds[0].observation_space
        assert isinstance(space, spaces.Dict)
        return guides_of(space.spaces, self.agents, self.phase_names)

    def phase(self, world: int) -> str:
        """``night`` or ``day``."""
        row = row_in_view(self.state, self.settings, world)
        return "night" if row.night else "day"

    def draw(self, canvas: Canvas, world: int) -> None:
        self.timestep  # noqa: B018 - raises before the first reset
        render.draw_moment(
            canvas, look(self.state, self.settings, world, self.privileged_view), self.settings
        )

    def describe(self, world: int) -> list[Line]:
        self.timestep  # noqa: B018
        return list(
            chronicle.describe(look(self.state, self.settings, world, self.privileged_view), self.settings)
        )

    # -- reset and step -----------------------------------------------------------------------------------------------

    def _begin(self, which: np.ndarray, seeds: np.ndarray | None) -> None:
        seeding.begin_episode(self.state.stream, which, seeds)
        self.outputs.acting[which] = False  # a custom table may never begin a phase
        self._run(step.begin_worlds, self.state, self._sight, self._rules, self._tables, which)
        self._look(which)

    def _look_anew(self) -> None:
        self._look(np.ones(self.num_worlds, bool))

    def _look(self, which: np.ndarray) -> None:
        self._run(
            step.look_at_worlds, self.state, self._sight, self._rules, self._tables, self._scratch, which
        )

    def _advance(self, action: np.ndarray) -> None:
        if self.settings.arm == "signals_replayed" and not len(self.replay):
            raise UserError(f"{self.id}: arm = signals_replayed has no recorded words; set `world.replay`")
        self._run(step.step_worlds, self.state, self._sight, self._rules, self._tables, self._scratch, action)

    def _refuse_illegal(self, action: np.ndarray) -> None:
        if self.settings.illegal != "raise":
            return
        n, names = self.settings.n_players, self.settings.names
        legal = np.take_along_axis(
            self._sight.mask[..., : n + 1], action[..., :names].astype(np.int64), axis=2
        )
        wrong = np.argwhere(self.state.acting[..., None] & ~legal)
        if len(wrong):
            w, seat, slot = (int(i) for i in wrong[0])
            phase = self.phase_names[self.state.room["phase"][w]]
            raise UserError(
                f"{self.id}: seat_{seat} of world {w} named {action[w, seat, slot]} in {phase}, which is not legal; "
                "choose by the action mask, or set illegal = resample"
            )

    def state_ranges(self) -> Mapping[str, Range]:
        return self._valid.ranges()

    def state_laws(self) -> Sequence[Invariant]:
        return self._valid.laws()


def action_names(settings: WerewolfSettings, seats: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Names of the choices of each head: names on a ballot, then the places of a word."""
    named = ["name"] if settings.names == 1 else [f"name {place + 1}" for place in range(settings.names)]
    words = [f"word {place + 1}" for place in range(len(settings.symbols))]
    heads = dict.fromkeys(named, (*seats, "nobody"))
    return heads | {
        word: tuple(f"symbol {number}" for number in range(symbols))  # as they are drawn and observed
        for word, symbols in zip(words, settings.symbols, strict=True)
    }
