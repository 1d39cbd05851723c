"""What the study of werewolf measures of its runs; every figure is kept on disk and measured once. See `studies.werewolf_study`."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from math import isqrt
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from interplay.core.errors import UserError
from interplay.evaluate import play
from interplay.evaluate.communication import TalkRecorder, measure_talk, reader_of
from interplay.evaluate.communication.games import ablate, fitting_arms
from interplay.evaluate.communication.listening import Views, measure_influence, speaker_marginal
from interplay.evaluate.communication.signals import headline_parts
from interplay.evaluate.communication.werewolf.believing import BeliefRecorder
from interplay.verbs.players import Player, find_player
from interplay.worlds.werewolf.theory.odds import villagers_win

SEED = 20_000  # of the games that are played; those of the runs are 1, 2, ...
AT_ONCE = 1_000  # games side by side: a trained policy computes 8,192 seats in a call, filled or not
VIEW_GAMES, VIEW_WORLDS, VIEWERS = (
    100,
    24,
    1_000,
)  # few side by side, so that all phases and days are looked at
PLAYERS = 9

Value = dict[str, Any]


class Run(NamedTuple):
    """A run of the study."""

    path: Path
    study: str
    variant: str
    seed: int

    @property
    def learnt(self) -> tuple[int, ...]:
        """The world's populations that learn: 0 villagers, 1 wolves."""
        return (0,) if self.study in ("random", "shuffled") else (0, 1)


def random_wins() -> float:
    """How often villagers win where all choose at random, exactly."""
    wolves = isqrt(PLAYERS)
    return float(villagers_win(wolves, PLAYERS - wolves))


def find_runs(out: Path, studies: Sequence[str], variants: Sequence[str], seeds: Sequence[int]) -> list[Run]:
    """The runs that have a checkpoint, by study, variant and seed.

    Raises:
        UserError: if there are none.
    """
    found = []
    for study in studies:
        for variant in variants:
            for path in sorted((out / study).glob(f"{variant}-[0-9]*")):
                number = path.name.removeprefix(f"{variant}-")
                if not (number.isdigit() and list(path.glob("checkpoints/[0-9]*"))):
                    continue
                if not seeds or int(number) in seeds:
                    found.append(Run(path, study, variant, int(number)))
    if not found:
        raise UserError(
            f"{out}: no runs with a checkpoint; `python -m studies.werewolf_study train --out {out}`"
        )
    return found


def last_line(run: Run) -> Value:
    """The last whole line of a run's metrics; empty before there is one."""
    path = run.path / "metrics.jsonl"
    lines = path.read_text().split("\n")[:-1] if path.exists() else []
    return dict(json.loads(lines[-1])) if lines else {}


class Measures:
    """Figures of runs, kept in a file.

    Args:
        games: of every figure.
        permutations: of every null.
        kept: file of what was measured already.
    """

    def __init__(self, games: int, permutations: int, kept: Path) -> None:
        self.games, self.permutations, self._kept = games, permutations, kept
        lines = kept.read_text().splitlines() if kept.exists() else []
        self._known = {line["of"]: line["value"] for line in map(json.loads, lines)}

    def wins(self, run: Run, games: int | None = None, **roles: str) -> Value:
        """The villagers' win rate with the run's own opponents, or with others in the named roles: won, games."""
        number = games or self.games
        words = [f"{name}={who}" for name, who in roles.items()]

        def measure() -> Value:
            table = _play(find_player(str(run.path), roles=words or None), number)
            return {"won": int(np.sum(table["win_vil"])), "games": number}

        return self._once(run, f"wins {_named(roles)} {number}", measure)

    def arms(self, run: Run) -> Value:
        """What villagers lose with parts of the talk taken away, on the same games: arm -> difference, error."""

        def measure() -> Value:
            player = find_player(str(run.path))
            make = _maker(player, self.games)
            world = make("full")
            chosen = fitting_arms(world.settings)
            world.close()
            options: Value = {"episodes": self.games, "seed": SEED}
            found = ablate(make, lambda: find_player(str(run.path)).policy, chosen, **options)
            return {a.arm: {"difference": a.difference, "error": a.error} for a in found}

        return self._once(run, f"arms {self.games}", measure)

    def talk(self, run: Run) -> Value:
        """What a run's words tell: see `_instruments`."""
        what = f"talk {self.games} {self.permutations}"
        return self._once(run, what, lambda: _instruments(run, self.games, self.permutations))

    def beliefs(self, run: Run) -> Value:
        """How good the guesses of villagers who guess are: scores of theirs, of an exact observer's, and of the base rate."""

        def measure() -> Value:
            player = find_player(str(run.path))
            policy: Any = player.policy
            recorder = BeliefRecorder(policy, policy, (0,))
            _play(player._replace(policy=recorder), self.games, recorder.add)
            return recorder.scores().to_dict()

        return self._once(run, f"beliefs {self.games}", measure)

    def _once(self, run: Run, what: str, measure: Callable[[], Value]) -> Value:
        of = f"{run.study}/{run.path.name} {sorted(p.name for p in run.path.glob('checkpoints/[0-9]*'))[-1]} {what}"
        if of not in self._known:
            print(of, file=sys.stderr, flush=True)
            self._known[of] = measure()
            with self._kept.open("a") as file:
                file.write(json.dumps({"of": of, "value": self._known[of]}) + "\n")
        return dict(self._known[of])


def _named(roles: dict[str, str]) -> str:
    """Roles in the words of a key; runs by the last two parts of their folder."""
    return ",".join(f"{name}={'/'.join(Path(who).parts[-2:])}" for name, who in roles.items()) or "own"


def _play(player: Player, games: int, on_step: Any = None) -> Any:
    world = player.make_world(min(games, AT_ONCE), SEED)
    table = play(world, player.policy, games, SEED, on_step=on_step)
    world.close()
    return table


def _maker(player: Player, games: int) -> Callable[[str], Any]:
    """Makes the player's world with an arm."""

    def make(arm: str) -> Any:
        other = player._replace(options={**player.options, "arm": arm})
        return other.make_world(min(games, AT_ONCE), SEED)

    return make


def _instruments(run: Run, games: int, permutations: int) -> Value:
    """Words of a run's games: information beside its null, probe, languages of the teams, board edits."""
    player = find_player(str(run.path))
    world = player.make_world(min(games, AT_ONCE), SEED)
    recorder = TalkRecorder(reader_of(world), log_every=1)
    play(world, player.policy, games, SEED, on_step=recorder.add)
    world.close()
    talk = recorder.talk()
    found = measure_talk(talk, models=("logistic",), permutations=permutations, seed=SEED)
    part = headline_parts(found.findings)[0]
    return {
        "part": part,
        "signalling": found.signalling,
        "role": _headline(found.findings, "signal-role", "day_talk", part),
        "vote": _headline(found.findings, "signal-vote", "day_talk", part),
        "heard": _headline(found.findings, "heard-vote", "day_talk", part),
        "probe": next((p.to_dict() for p in found.probes if p.day is None), None),
        "language": {
            entry.team: {"unique": entry.unique, "commonest": entry.commonest}
            for entry in found.language
            if entry.phase == "all"
        },
        "edits": list(_edits(run, talk)),
    }


def _headline(findings: Sequence[Any], measure: str, phase: str, part: str) -> Value | None:
    """The information of one reading of a phase's words, all its days; all phases' where a phase is not told alone."""
    told = [
        f for f in findings if (f.measure, f.statistic, f.part, f.day) == (measure, "information", part, None)
    ]
    of_phase = [f for f in told if f.phase == phase] or [f for f in told if f.phase == "all"]
    return dict(of_phase[0].to_dict()) if of_phase else None


def _edits(run: Run, talk: Any) -> Iterator[Value]:
    """How much another word on the board moves who learnt, by population and phase."""
    player, views = find_player(str(run.path)), Views(most=VIEWERS)
    world = player.make_world(VIEW_WORLDS, SEED)
    play(world, player.policy, VIEW_GAMES, SEED, on_step=views.add)
    seen = views.observations()
    asked = np.isin(seen["population"], run.learnt)
    seen = {name: leaf[asked] for name, leaf in seen.items()}
    marginal = speaker_marginal(talk.utterances().word)
    for influence in measure_influence(player.policy, world, seen, marginal, talk.about.phases):
        yield {
            "population": influence.population,
            "phase": influence.phase,
            "viewers": influence.viewers,
            "name": influence.name._asdict(),
            "word": influence.word._asdict(),
        }
    world.close()


T_975 = (
    12.706,
    4.303,
    3.182,
    2.776,
    2.571,
    2.447,
    2.365,
    2.306,
    2.262,
)  # Student's t, 1 to 9 degrees of freedom


def half_width(values: Sequence[float]) -> float | None:
    """Half the 95 % interval of the mean over seeds, by Student's t; None for a single one or more than ten."""
    n = len(values)
    if not 2 <= n <= len(T_975) + 1:
        return None
    return T_975[n - 2] * float(np.std(values, ddof=1)) / math.sqrt(n)
