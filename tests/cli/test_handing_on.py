"""Every option of every verb reaches who does the work: a table of what is typed, where it has to arrive, and as what.

Who does the work is replaced by somebody who notes what he is given, so nothing is played. An option that stands in no row fails.
"""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from gymnasium import spaces

from interplay.cli.main import VERBS, run
from interplay.evaluate.communication.table import About
from interplay.train.parallel.machines import Machines
from interplay.train.sweep.axes import Drawn

# Options that say how a result is shown.
SHOWN = {
    "evaluate": {"json", "csv", "column", "at_checkpoints"},
    "diagnose": {"json"},
    "league": {"json"},
    "tournament": {"json"},
    "talk": {"json"},
    "sweep": {"dry_run"},
    "runs": {"json", "csv"},
    "bench": {"json"},
    "cluster": {"json"},
    "prepare": {"every"},  # instead of worlds' names: tests/evaluate/test_prepare.py
    "worlds": {"json"},
}

TASK = SimpleNamespace(policy="a policy", world="a/world", options={})


class Stopped(Exception):
    """The one who does the work was reached."""


class Heard(dict[str, Any]):
    """Name of a function -> what it was given, by its own parameters' names."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__()
        self._patch = monkeypatch.setattr

    def put(self, path: str, answer: Any = Stopped) -> None:
        """Replaces ``module:name``; the stand-in answers, or stops the verb."""
        module, _, name = path.partition(":")
        owner = pkgutil.resolve_name(module)
        real = inspect.signature(getattr(owner, name))

        def stand_in(*args: Any, **kwargs: Any) -> Any:
            given = real.bind(*args, **kwargs)
            given.apply_defaults()
            self.note(name, given.arguments)
            if answer is Stopped:
                raise Stopped
            return answer(*args, **kwargs) if callable(answer) else answer

        self._patch(owner, name, stand_in)

    def note(self, name: str, given: Mapping[str, Any]) -> None:
        flat = dict(given)
        flat |= flat.pop("options", {}) if name == "open_world" else {}
        self[name] = {**self.get(name, {}), **flat}

    def get_at(self, place: str) -> Any:
        """As `at`; None for an option of a world that was not given."""
        try:
            return self.at(place)
        except KeyError:
            return None

    def at(self, place: str) -> Any:
        """``function.parameter``, and on into mappings and attributes."""
        name, *path = place.split(".")
        found: Any = self[name]
        for part in path:
            found = found[part] if isinstance(found, Mapping) else getattr(found, part)
        return found


def found_player(heard: Heard) -> Any:
    """Somebody who plays; his world is noted."""

    def make_world(num_worlds: int, seed: int) -> Any:
        heard.note("make_world", {"num_worlds": num_worlds, "seed": seed})
        return SimpleNamespace(privileged_view=False, id="a/world", close=lambda: None)

    return SimpleNamespace(policy="a policy", world="a/world", options={}, make_world=make_world)


def players(heard: Heard) -> None:
    heard.put("interplay.verbs.players:find_player", lambda *_, **__: found_player(heard))


def for_evaluate(heard: Heard) -> None:
    players(heard)
    heard.put("interplay.evaluate:play")
    heard.put("interplay.verbs.milestones:evaluate_checkpoints")


def for_record(heard: Heard) -> None:
    players(heard)
    heard.put("interplay.verbs.opening:set_privileged_view", None)
    heard.put("interplay.view.video:record")
    heard.put("interplay.view.video:draw_replay")


def for_transcript(heard: Heard) -> None:
    players(heard)
    heard.put("interplay.verbs.opening:set_privileged_view", None)
    heard.put("interplay.evaluate.lineup:players_of", {})
    heard.put("interplay.view.transcript:transcript")


def for_check(heard: Heard) -> None:
    heard.put("interplay.verbs.opening:open_world", SimpleNamespace(close=lambda: None))
    heard.put("interplay.registry:make_world", None)

    def check_world(make: Any, steps: int = 0, seed: int = 0) -> None:
        heard.note("check_world", {"steps": steps, "seed": seed})
        make(3, 4)
        raise Stopped

    heard._patch("interplay.checker.check_world", check_world)


def for_bench(heard: Heard) -> None:
    heard.put("interplay.verbs.opening:open_world", None)
    heard.put("interplay.cli.measure:pin", True)

    def measure(make: Any, threads: int, seconds: float, name: str) -> None:
        heard.note("measure", {"threads": threads, "seconds": seconds, "name": name})
        make()
        raise Stopped

    heard._patch("interplay.cli.measure.measure", measure)


def for_prepare(heard: Heard) -> None:
    def prepare_worlds(names: Any, processes: int, options: Any) -> None:
        heard.note("prepare_worlds", {"names": names, "processes": processes, "options": options})
        raise Stopped

    heard._patch("interplay.evaluate.prepare.prepare_worlds", prepare_worlds)


def trainer(heard: Heard) -> None:
    """Training without what it needs: only the settings are made."""

    def deed(name: str, *parameters: str) -> Any:
        def call(*args: Any, **kwargs: Any) -> None:
            heard.note(name, dict(zip(parameters, args, strict=False)) | kwargs)
            raise Stopped

        return call

    fake = SimpleNamespace(
        train=deed("train", "settings", "out"), resume=deed("resume", "run", "workers", "steps")
    )
    heard._patch("interplay.verbs.trainer.load_trainer", lambda: fake)


def for_train(heard: Heard) -> None:
    trainer(heard)
    heard.put("interplay.verbs.settings:workers_for", 4)
    kind = SimpleNamespace(observation_space=spaces.Dict(seen=spaces.Discrete(2)))
    world = SimpleNamespace(close=lambda: None, agents=("agent_0",), kinds=(kind,))
    heard.put("interplay.verbs.settings:open_world", world)
    heard.put("interplay.train.bank:train_in_bank")
    heard.put("interplay.train.forecast:measure")
    heard.put("interplay.verbs.trainer:train_on_ray")


def for_resume(heard: Heard) -> None:
    trainer(heard)
    heard.put("interplay.verbs.trainer:resume_on_ray")


def place_of(ray: str | None) -> str | None:
    return ray and f"place of {ray}"


def for_sweep(heard: Heard) -> None:
    trainer(heard)
    heard.put("interplay.verbs.opening:open_world", SimpleNamespace(close=lambda: None))
    heard.put("interplay.verbs.trainer:place_of", place_of)
    heard.put("interplay.train.sweep:sweep")
    heard.put("interplay.train.sweep:resume_sweep")


def for_league(heard: Heard) -> None:
    trainer(heard)
    heard.put("interplay.train.selfplay.league.reading:read_league", None)
    heard.put("interplay.cli.league:_print", None)
    heard.put("interplay.view.standings_picture:plot_league")


def for_tournament(heard: Heard) -> None:
    def play(out: Any, resume: Any, on_progress: Any) -> None:
        heard.note("play", {"out": out, "resume": resume})
        raise Stopped

    heard.put("interplay.verbs.trainer:place_of", place_of)
    for name in ("round_robin", "merge", "standing_in"):
        heard.put(
            f"interplay.verbs.tournament_kinds:{name}",
            lambda *_, **__: SimpleNamespace(run=play, unit="matches"),
        )


def experiments(heard: Heard) -> None:
    heard.put("interplay.experiment.files:load_experiment", lambda path: f"experiment of {path}")
    heard.put("interplay.experiment.files:load_experiment_of", SimpleNamespace(params="params"))


def for_export(heard: Heard) -> None:
    heard.put("interplay.verbs.players:load_policy", lambda *_, **__: Exporting(heard))
    heard._patch("interplay.cli.exporting._is_rllib", lambda run: run == "rllib")
    heard.put("interplay.connect.rllib.checkpoint:convert")


class Exporting:
    """A policy that notes where it is to be written."""

    def __init__(self, heard: Heard) -> None:
        self._heard = heard

    def export(self, out: Any, agent: Any) -> None:
        self._heard.note("export", {"out": out, "agent": agent})
        raise Stopped


def for_debug(heard: Heard) -> None:
    experiments(heard)
    heard.put("interplay.experiment.verbs:debug_experiment")


def for_visualize(heard: Heard) -> None:
    experiments(heard)
    heard.put("interplay.experiment.verbs:visualize")


def for_analyze(heard: Heard) -> None:
    experiments(heard)
    heard.put("interplay.experiment.files:load_script", lambda path: f"script {path}")
    heard.put("interplay.experiment.verbs:analyze")
    heard.put("interplay.cli.overlays:analyse_overlays")


TALK = {
    "interplay.cli.talking_games:play_games": SimpleNamespace(
        talk=SimpleNamespace(about=About("a/world")), beliefs=None
    ),
    "interplay.evaluate.communication.games:listen": [],
    "interplay.cli.talking_games:play_arms": [],
    "interplay.evaluate.communication:measure_talk": SimpleNamespace(),
    "interplay.cli.talking:_keep": Stopped,
}
PAGE = {
    "interplay.verbs.viewing:find_opened": "what was opened",
    "interplay.verbs.viewing:find_world_to_play": "what was opened",
    "interplay.verbs.viewing:serve_page": Stopped,
}
COMPARE = {
    "interplay.view.comparison:compare": None,
    **{f"interplay.view.comparison:{name}": "text" for name in ("markdown", "latex", "scores_csv")},
    "interplay.core.files:replace_file": None,
    "interplay.view.comparison_picture:plot_comparison": Stopped,
}
RUNS = {
    "interplay.view.run_table:find_runs": [],
    "interplay.view.run_table:table": Stopped,
    "interplay.view.settings_table:settings_table": "a table",
    "interplay.view.settings_table:write": Stopped,
}


def prepare(heard: Heard, who: Any) -> None:
    """Puts answers in place: a mapping of functions, or what is called."""
    if callable(who):
        who(heard)
    else:
        for path, answer in who.items():
            heard.put(path, answer)


Case = dict[
    str, tuple[str, dict[str, Any]]
]  # parameter of the verb -> what is typed, {where it arrives: as what}

WORLD, OPTION = "simulation/multi-corridor", {"end": 7}
MACHINES = Machines(4, 1, "a:7")
_PLAYER: Case = {
    "player": ("hunter", {"find_player.name": "hunter"}),
    "options": ("end=7", {"find_player.options": OPTION}),
    "world": (f"--world {WORLD}", {"find_player.world": WORLD}),
    "trust": ("--trust", {"find_player.trust": True}),
    "greedy": ("--greedy", {"find_player.greedy": True}),
    "roles": ("--roles a=random --roles b=hunter", {"find_player.roles": ["a=random", "b=hunter"]}),
}
_PAGE: Case = {
    "option": ("--option end=7 --option n=2", {"serve_page.players.options": {"end": 7, "n": 2}}),
    "seed": ("--seed 11", {"serve_page.players.seed": 11}),
    "trust": ("--trust", {"serve_page.players.trust": True}),
    "port": ("--port 8123", {"serve_page.port": 8123}),
    "host": ("--host ::1", {"serve_page.host": "::1"}),
    "no_browser": ("--no-browser", {"serve_page.browser": False}),
    "compress": ("--compress", {"serve_page.compress": True}),
}
_TOURNAMENT: Case = {
    "players": ("hunter random", {"KIND.NAMES": ["hunter", "random"]}),
    "world": (f"--world {WORLD}", {"KIND.values.world": WORLD}),
    "seed": ("--seed 11", {"KIND.values.seed": 11}),
    "out": ("--out cup", {"play.out": Path("cup")}),
    "resume": ("--resume", {"play.resume": True}),
    "options": ("--option end=7 --option n=2", {"KIND.values.options": {"end": 7, "n": 2}}),
    "greedy": ("--greedy", {"KIND.values.greedy": True}),
    "trust": ("--trust", {"KIND.trust": True}),
}


def _of(kind: str, names: str) -> Case:
    """The rows that all tournaments share, for one kind of them."""
    said = [("KIND", kind), ("NAMES", names)]
    return {
        key: (typed, {place.replace(*said[0]).replace(*said[1]): value for place, value in arrives.items()})
        for key, (typed, arrives) in _TOURNAMENT.items()
    }


CASES: dict[str, tuple[Any, list[Case]]] = {
    "evaluate": (for_evaluate, [{
        **_PLAYER,
        "episodes": ("--episodes 70", {"play.episodes": 70}),
        "num_worlds": ("--num-worlds 9", {"make_world.num_worlds": 9}),
        "max_steps": ("--max-steps 13", {"play.max_steps": 13}),
        "seed": ("--seed 11", {"play.seed": 11, "make_world.seed": 11}),
    }, {
        "player": ("hunter --at-checkpoints", {"evaluate_checkpoints.run": "hunter"}),
        "options": ("end=7", {"evaluate_checkpoints.options": OPTION}),
        "world": (f"--world {WORLD}", {"evaluate_checkpoints.world": WORLD}),
        "trust": ("--trust", {"evaluate_checkpoints.how.trust": True}),
        "greedy": ("--greedy", {"evaluate_checkpoints.how.greedy": True}),
        "roles": ("--roles a=random --roles b=hunter", {"evaluate_checkpoints.how.roles": ["a=random", "b=hunter"]}),
        "episodes": ("--episodes 70", {"evaluate_checkpoints.how.episodes": 70}),
        "num_worlds": ("--num-worlds 9", {"evaluate_checkpoints.how.num_worlds": 9}),
        "max_steps": ("--max-steps 13", {"evaluate_checkpoints.how.max_steps": 13}),
        "seed": ("--seed 11", {"evaluate_checkpoints.how.seed": 11}),
        "out": ("--out kept", {"evaluate_checkpoints.out": Path("kept")}),
    }]),
    "record": (for_record, [{
        **_PLAYER,
        "out": ("--out a.gif", {"record.path": Path("a.gif")}),
        "episodes": ("--episodes 3", {"record.episodes": 3}),
        "max_steps": ("--max-steps 13", {"record.max_steps": 13}),
        "every": ("--every 4", {"record.every": 4}),
        "size": ("--size 90x60", {"record.size": (90, 60)}),
        "frames": ("--frames 5", {"record.frames": 5}),
        "step": ("--step 6", {"record.step": 6}),
        "focus": ("--focus 3,4.5", {"record.focus": (3.0, 4.5)}),
        "zoom": ("--zoom 12", {"record.zoom": 12.0}),
        "legend": ("--no-legend", {"record.legend": False}),
        "reveal": ("--reveal", {"set_privileged_view.reveal": True}),
        "seed": ("--seed 11", {"record.seed": 11, "make_world.seed": 11}),
    }, {
        "player": ("a.replay", {"draw_replay.replay": "a.replay"}),
        "out": ("--out a.gif", {"draw_replay.path": Path("a.gif")}),
        "every": ("--every 4", {"draw_replay.every": 4}),
        "size": ("--size 90x60", {"draw_replay.size": (90, 60)}),
        "frames": ("--frames 5", {"draw_replay.frames": 5}),
        "step": ("--step 6", {"draw_replay.step": 6}),
        "focus": ("--focus 17", {"draw_replay.focus": 17}),
        "zoom": ("--zoom 12", {"draw_replay.zoom": 12.0}),
        "legend": ("--no-legend", {"draw_replay.legend": False}),
    }]),
    "view": (PAGE, [{
        **_PAGE,
        "what": ("runs/a", {"find_opened.what": "runs/a"}),
        "policy": ("--policy hunter", {"serve_page.players.policy": "hunter"}),
        "overlay": ("--overlay mine:A --overlay mine:B", {"serve_page.players.overlays": ("mine:A", "mine:B")}),
    }, {
        "read_only": ("--read-only", {"serve_page.players": None}),
    }]),
    "play": (PAGE, [{
        **_PAGE,
        "world": (WORLD, {"find_world_to_play.world": WORLD}),
        "opponent": ("--opponent hunter", {"serve_page.players.policy": "hunter"}),
        "see_all": ("--see-all", {"serve_page.players.fog": False}),
        "out": ("--out a.replay", {"serve_page.players.out": Path("a.replay")}),
    }]),
    "transcript": (for_transcript, [{
        **_PLAYER,
        "episodes": ("--episodes 3", {"transcript.episodes": 3}),
        "max_steps": ("--max-steps 13", {"transcript.max_steps": 13}),
        "reveal": ("--reveal", {"set_privileged_view.reveal": True}),
        "seed": ("--seed 11", {"transcript.seed": 11, "make_world.seed": 11}),
    }]),
    "check": (for_check, [{
        "world": (WORLD, {"make_world.world_id": WORLD, "open_world.world_id": WORLD}),
        "options": ("end=7", {"make_world.options": OPTION, "open_world.end": 7}),
        "steps": ("--steps 13", {"check_world.steps": 13}),
        "seed": ("--seed 11", {"check_world.seed": 11, "open_world.seed": 11}),
    }]),
    "prepare": (for_prepare, [{
        "worlds": (f"{WORLD} end=7", {"prepare_worlds.names": [WORLD], "prepare_worlds.options": {"end": 7}}),
        "processes": ("--processes 3", {"prepare_worlds.processes": 3}),
    }]),
    "bench": (for_bench, [{
        "worlds": (f"{WORLD} end=7", {"measure.name": WORLD, "open_world.world_id": WORLD, "open_world.end": 7}),
        "num_worlds": ("--num-worlds 9", {"open_world.num_worlds": 9}),
        "threads": ("--threads 2", {"open_world.threads": 2, "measure.threads": 2, "pin.threads": 2}),
        "seconds": ("--seconds 3", {"measure.seconds": 3.0}),
    }]),
    "train": (for_train, [{
        "world": (WORLD, {"train.settings.world.id": WORLD, "open_world.world_id": WORLD}),
        "overrides": (
            "ppo.clip=0.15 world.options.end=7",
            {"train.settings.ppo.clip": 0.15, "train.settings.world.options": OPTION, "open_world.end": 7},
        ),
        "steps": ("--steps 12000", {"train.settings.steps": 12_000}),
        "seed": ("--seed 11", {"train.settings.seed": 11}),
        "num_worlds": ("--num-worlds 32", {"train.settings.num_worlds": 32}),
        "workers": ("--workers 2", {"train.settings.train.workers": 2}),
        "league": ("--league latest", {"train.settings.league.learners.main.freeze": True}),
        "start_from": ("--start-from runs/b", {"train.settings.train.start_from": "runs/b"}),
        "out": ("--out runs/a", {"train.out": Path("runs/a")}),
    }, {
        "world": ("SETTINGS", {"train.settings.world.id": "tests.cli.marsh:Marsh"}),
        "trust": ("--trust", {}),
    }, {
        "world": ("survival/1v1-heals-low", {"train.settings.world.id": "survival/1v1-heals-low"}),
        "preset": ("--preset fanti2022", {"train.settings.ppo.epochs": 400}),
        "device": ("--device gpu:1", {"train.settings.train.device": "gpu:1", "train.settings.train.workers": 1}),
        "precision": ("--precision bfloat16", {"train.settings.train.precision": "bfloat16"}),
        "threads": ("--threads 3", {"train.settings.train.threads": 3}),
    }, {
        "world": (WORLD, {"train_in_bank.settings.world.id": WORLD}),
        "bank": ("--bank runs/bank", {"train_in_bank.bank": Path("runs/bank")}),
        "trust": ("--trust", {"train_in_bank.trust": True}),
    }, {
        "world": (WORLD, {}),
        "dry_run": ("--dry-run", {"measure.settings.world.id": WORLD}),
    }, {
        "world": (WORLD, {}),
        "nodes": ("--nodes 4", {"train.machines": MACHINES}),
        "node": ("--node 1", {"train.machines": MACHINES}),
        "coordinator": ("--coordinator a:7", {"train.machines": MACHINES}),
    }, {
        "world": (WORLD, {}),
        "ray": ("--ray h:1", {"train_on_ray.address": "h:1"}),
        "nodes": ("--nodes 4", {"train_on_ray.nodes": 4}),
        "out": ("--out runs/a", {"train_on_ray.out": Path("runs/a")}),
    }]),
    "resume": (for_resume, [{
        "run": ("runs/a", {"resume.run": Path("runs/a")}),
        "workers": ("--workers 2", {"resume.workers": 2}),
        "steps": ("--steps 12000", {"resume.steps": 12_000}),
        "accept_settings": ("--accept-settings", {"resume.accept_settings": True}),
        "device": ("--device cpu", {"resume.device": "cpu"}),
        "precision": ("--precision bfloat16", {"resume.precision": "bfloat16"}),
        "threads": ("--threads auto", {"resume.threads": "auto"}),
        "trust": ("--trust", {"resume.trust": True}),
        "nodes": ("--nodes 4", {"resume.machines": MACHINES}),
        "node": ("--node 1", {"resume.machines": MACHINES}),
        "coordinator": ("--coordinator a:7", {"resume.machines": MACHINES}),
    }, {
        "run": ("runs/a", {}),
        "ray": ("--ray h:1", {"resume_on_ray.address": "h:1"}),
        "nodes": ("--nodes 4", {"resume_on_ray.nodes": 4}),
        "workers": ("--workers 2", {"resume_on_ray.workers": 2}),
        "steps": ("--steps 12000", {"resume_on_ray.changes.steps": 12_000}),
        "device": ("--device cpu", {"resume_on_ray.changes.device": "cpu"}),
        "accept_settings": ("--accept-settings", {"resume_on_ray.changes.accept_settings": True}),
        "trust": ("--trust", {"resume_on_ray.changes.trust": True}),
    }]),
    "sweep": (for_sweep, [{
        "world": (WORLD, {"sweep.settings.settings.world.id": WORLD, "open_world.world_id": WORLD}),
        "overrides": ("ppo.clip=0.15", {"sweep.settings.settings.ppo.clip": 0.15}),
        "parameter": (
            "-p ppo.gamma=0.8,0.9 -p seed=3..4 -p ppo.learning_rate=log:1e-5..1e-3",
            {
                "sweep.settings.grid": {"ppo.gamma": [0.8, 0.9]},
                "sweep.settings.seeds": (3, 4),
                "sweep.settings.random": {"ppo.learning_rate": Drawn(low=1e-5, high=1e-3, scale="log")},
            },
        ),
        "draws": ("--draws 5", {"sweep.settings.draws": 5}),
        "steps": ("--steps 12000", {"sweep.settings.settings.steps": 12_000}),
        "workers": ("--workers 3", {"sweep.workers": 3}),
        "ray": ("--ray h:1", {"sweep.place": "place of h:1"}),
        "out": ("--out s", {"sweep.out": Path("s")}),
    }, {
        "resume": ("--resume", {}),
        "out": ("--out s", {"resume_sweep.out": Path("s")}),
        "workers": ("--workers 3", {"resume_sweep.workers": 3}),
        "ray": ("--ray h:1", {"resume_sweep.place": "place of h:1"}),
        "trust": ("--trust", {"resume_sweep.trust": True}),
    }]),
    "league": (for_league, [{
        "run": ("runs/a", {"read_league.run": Path("runs/a")}),
        "out": ("--out a.png", {"plot_league.out": Path("a.png")}),
        "trust": ("--trust", {"read_league.trust": True}),
    }]),
    "tournament": (for_tournament, [{
        **_of("round_robin", "players"),
        "matches": ("--matches 8", {"round_robin.values.matches": 8}),
        "per_match": ("--per-match 3", {"round_robin.values.per_match": 3}),
        "score": ("--score kills", {"round_robin.values.score": "kills"}),
        "max_steps": ("--max-steps 13", {"round_robin.values.max_steps": 13}),
        "workers": ("--workers 3", {"round_robin.workers": 3}),
        "ray": ("--ray h:1", {"round_robin.place": "place of h:1"}),
        "record": ("--record 2", {"round_robin.record": 2}),
        "step_limit": ("--step-limit 7", {"round_robin.step_limit": 7.0}),
    }, {
        **_of("merge", "homes"),
        "merge": ("--merge", {}),
        "matches": ("--matches 5", {"merge.values.maps": 5}),
        "caps": ("--caps 4,12", {"merge.values.caps": (4, 12)}),
        "quota": ("--quota per_population", {"merge.values.quota": "per_population"}),
        "window": ("--window 21", {"merge.values.window": 21}),
        "horizon": ("--horizon 34", {"merge.values.horizon": 34}),
    }, {
        "out": ("--out cup", {"standing_in.out": Path("cup"), "play.out": Path("cup")}),
        "resume": ("--resume", {"play.resume": True}),
        "workers": ("--workers 3", {"standing_in.workers": 3}),
        "ray": ("--ray h:1", {"standing_in.place": "place of h:1"}),
        "record": ("--record 2", {"standing_in.record": 2}),
        "step_limit": ("--step-limit 7", {"standing_in.step_limit": 7.0}),
        "trust": ("--trust", {"standing_in.trust": True}),
    }]),
    "talk": (TALK, [{
        "player": ("hunter", {"play_games.wanted.player": "hunter"}),
        "options": ("end=7", {"play_games.wanted.options": ("end=7",)}),
        "world": (f"--world {WORLD}", {"play_games.wanted.world": WORLD}),
        "against": ("--against random", {"play_arms.wanted.against": "random"}),
        "games": ("--games 70", {"play_arms.wanted.games": 70, "play_games.wanted.games": 70}),
        "permutations": ("--permutations 55", {"measure_talk.permutations": 55}),
        "arm": ("--arm talk_off --arm targets_off", {"play_arms.arms": ["talk_off", "targets_off"]}),
        "metric": ("--metric days", {"play_arms.metric": "days"}),
        "probe": ("--no-probe", {"measure_talk.models": ()}),
        "out": ("--out games", {"_keep.out": Path("games")}),
        "log_every": ("--log-every 6", {"_keep.log_every": 6}),
        "num_worlds": ("--num-worlds 9", {"play_games.wanted.num_worlds": 9}),
        "greedy": ("--greedy", {"play_games.wanted.greedy": True}),
        "trust": ("--trust", {"play_games.wanted.trust": True}),
        "seed": ("--seed 11", {"play_games.wanted.seed": 11, "measure_talk.seed": 11}),
    }, {
        "player": ("hunter", {}),
        "transfer": ("--transfer runs/b", {"play_games.wanted.player": "runs/b"}),
        "out": ("--out games", {}),
    }]),
    "compare": (COMPARE, [{
        "runs": ("runs/a runs/b", {"compare.places": [Path("runs/a"), Path("runs/b")]}),
        "metric": ("--metric life", {"compare.metric": "life"}),
        "label": ("--label runs/a=IPPO", {"compare.labels": {"runs/a": "IPPO"}}),
        "out": ("--out a.png", {"plot_comparison.out": Path("a.png"), "replace_file.path": Path("a.table.csv")}),
        "size": ("--size 5x3", {"plot_comparison.look.width": 5.0, "plot_comparison.look.height": 3.0}),
        "font_size": ("--font-size 7", {"plot_comparison.look.font": 7.0}),
        "title": ("--title words", {"plot_comparison.look.title": "words"}),
    }]),
    "runs": (RUNS, [{
        "folder": ("runs/a", {"find_runs.places": [Path("runs/a")]}),
        "metric": ("--metric life --metric kl", {"table.metrics": ["life", "kl"]}),
    }, {
        "folder": ("runs/a", {"find_runs.places": [Path("runs/a")]}),
        "settings": ("--settings", {}),
        "out": ("--settings --out a.md", {"write.out": Path("a.md")}),
    }]),
    "curves": ({"interplay.view.curves:plot_runs": Stopped}, [{
        "runs": ("runs/a runs/b", {"plot_runs.runs": [Path("runs/a"), Path("runs/b")]}),
        "column": ("--column x --column y", {"plot_runs.columns": ["x", "y"]}),
        "against": ("--against time", {"plot_runs.against": "time"}),
        "by": ("--by team", {"plot_runs.by": "team"}),
        "label": ("--label runs/a=IPPO", {"plot_runs.labels": {"runs/a": "IPPO"}}),
        "out": ("--out a.png", {"plot_runs.out": Path("a.png")}),
        "size": ("--size column", {"plot_runs.look.width": 3.25}),
        "font_size": ("--font-size 7", {"plot_runs.look.font": 7.0}),
        "title": ("--title words", {"plot_runs.look.title": "words"}),
    }]),
    "diagnose": ({"interplay.verbs.run:Run": Stopped}, [{
        "run": ("runs/a", {"Run.folder": Path("runs/a")}),
    }]),
    "export": (for_export, [{
        "run": ("runs/a", {"load_policy.run": "runs/a"}),
        "out": ("--out a.onnx", {"export.out": Path("a.onnx")}),
        "agent": ("--agent left", {"export.agent": "left"}),
        "trust": ("--trust", {"load_policy.trust": True}),
    }, {
        "run": ("rllib", {"convert.checkpoint": "rllib"}),
        "options": ("npop=2", {"convert.options": {"npop": 2}}),
        "out": ("--out there", {"convert.out": Path("there")}),
        "agent": ("--agent left", {"convert.module": "left"}),
        "world": (f"--world {WORLD}", {"convert.world_id": WORLD}),
        "trust_pickle": ("--trust-pickle", {}),
    }]),
    "debug": (for_debug, [{
        "config": ("a.py", {"debug_experiment.experiment": "experiment of a.py", "debug_experiment.config": Path("a.py")}),
        "episodes": ("-n 3", {"debug_experiment.episodes": 3}),
        "steps_per_episode": ("-s 13", {"debug_experiment.steps_per_episode": 13}),
        "render": ("--render", {"debug_experiment.render": True}),
    }]),
    "visualize": (for_visualize, [{
        "run": ("runs/a", {"visualize.folder": Path("runs/a"), "load_experiment_of.run": Path("runs/a")}),
        "checkpoint": ("-c 4", {"visualize.checkpoint": 4}),
        "episodes": ("-n 3", {"visualize.episodes": 3}),
        "steps_per_episode": ("-s 13", {"visualize.steps_per_episode": 13}),
        "record": ("--record", {"visualize.record": True}),
        "record_only": ("--record-only", {"visualize.record_only": True}),
        "frame_delay": ("--frame-delay 33", {"visualize.frame_delay": 33}),
        "explore": ("--explore", {"visualize.explore": True}),
        "seed": ("--seed 11", {"visualize.seed": 11}),
        "trust": ("--trust", {"visualize.trust": True, "load_experiment_of.trust": True}),
    }]),
    "analyze": (for_analyze, [{
        "run": ("runs/a", {"analyze.folder": Path("runs/a")}),
        "words": ("b.py", {"analyze.function": "script b.py"}),
        "checkpoint": ("-c 4", {"analyze.checkpoint": 4}),
        "seed": ("--seed 11", {"analyze.seed": 11}),
        "trust": ("--trust", {"analyze.trust": True, "load_experiment_of.trust": True}),
    }, {
        "run": ("runs/a", {"analyse_overlays.player": "runs/a/checkpoints/000000000004"}),
        "words": ("npop=2", {"analyse_overlays.options": ["npop=2"]}),
        "checkpoint": ("-c 4", {}),
        "overlay": ("--overlay lives --overlay combat", {"analyse_overlays.names": ["lives", "combat"]}),
        "out": ("--out there", {"analyse_overlays.out": Path("there")}),
        "world": (f"--world {WORLD}", {"analyse_overlays.world": WORLD}),
        "population": ("--population 1", {"analyse_overlays.population": 1}),
        "ticks": ("--ticks 21", {"analyse_overlays.ticks": 21}),
        "burn_in": ("--burn-in 34", {"analyse_overlays.burn_in": 34}),
        "num_worlds": ("--num-worlds 9", {"analyse_overlays.num_worlds": 9}),
        "world_seed": ("--world-seed 8", {"analyse_overlays.world_seed": 8}),
        "seed": ("--seed 11", {"analyse_overlays.seed": 11}),
        "beside": ("--beside runs/b --beside forager", {"analyse_overlays.beside": ["runs/b", "forager"]}),
        "trust": ("--trust", {"analyse_overlays.trust": True}),
    }]),
    "cluster": ({"interplay.connect.cluster:Cluster": None, "interplay.train.cluster_report:report_on": Stopped}, [{
        "address": ("h:1", {"Cluster.address": "h:1"}),
        "out": ("--out s", {"report_on.folder": Path("s")}),
    }]),
    "worlds": ({"interplay.view.facts:facts_of": Stopped}, [{"world": (WORLD, {"facts_of.world_id": WORLD})}]),
}  # fmt: skip
ROWS = [(verb, number) for verb, (_, cases) in CASES.items() for number in range(len(cases))]


def test_every_option_of_every_verb_stands_in_a_row():
    for verb in VERBS:
        known = set().union(*CASES[verb.__name__][1]) | SHOWN.get(verb.__name__, set())
        assert known == set(inspect.signature(verb).parameters), verb.__name__


@pytest.mark.parametrize(("verb", "number"), ROWS)
def test_what_was_typed_arrives(monkeypatch, tmp_path, verb, number):
    who, cases = CASES[verb]
    heard = Heard(monkeypatch)
    prepare(heard, who)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "SETTINGS.toml").write_text('[world]\nid = "tests.cli.marsh:Marsh"\n')
    words = " ".join(typed for typed, _ in cases[number].values()).replace("SETTINGS", "SETTINGS.toml")
    with pytest.raises(Stopped):
        run([verb, *words.split()], traceback=True)
    for option, (_, arrives) in cases[number].items():
        for place, value in arrives.items():
            found = heard.at(place)
            if option in ("out", "bank"):  # absolute: an environment may change the working folder later
                found = found.relative_to(tmp_path)
            assert found == value, (verb, option, place)


NEEDED = {  # without which a verb refuses, or does something else
    "bank", "config", "merge", "out", "overlay", "player", "players", "run", "runs", "transfer", "trust_pickle", "words", "world", "worlds",
}  # fmt: skip


@pytest.mark.parametrize(("verb", "number"), [row for row in ROWS if row != ("train", 1)])
def test_what_was_not_typed_arrives_as_its_default(monkeypatch, tmp_path, verb, number):
    """Switches are off, numbers are others than those of the table: nothing is wired to what the test types."""
    who, cases = CASES[verb]
    needed = NEEDED if "players" in cases[number] else NEEDED | {"resume"}
    heard = Heard(monkeypatch)
    prepare(heard, who)
    monkeypatch.chdir(tmp_path)
    words = " ".join(typed for option, (typed, _) in cases[number].items() if option in needed)
    with pytest.raises(Stopped):
        run([verb, *words.split()], traceback=True)
    for option in cases[number].keys() - needed:
        for place, value in cases[number][option][1].items():
            assert heard.get_at(place) != value, (verb, option, place)


@pytest.mark.parametrize(
    ("words", "place"),
    [
        ("evaluate hunter", "interplay.verbs.playing:evaluate"),
        ("record hunter", "interplay.verbs.playing:record"),
        ("tournament --out cup", "interplay.verbs.tournaments:tournament"),
    ],
)
def test_defaults_are_those_of_the_function(monkeypatch, words, place):
    module, name = place.split(":")
    real = inspect.signature(getattr(pkgutil.resolve_name(module), name))
    heard = Heard(monkeypatch)
    heard.put(place)
    with pytest.raises(Stopped):
        run(words.split(), traceback=True)
    for key, one in real.parameters.items():
        if key not in ("player", "out"):
            empty = {None: [None, {}], (): [(), None], "": [""]}.get(one.default, [one.default])
            assert heard.at(f"{name}.{key}") in empty, key
