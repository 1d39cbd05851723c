"""Debug, train, visualize and analyze an experiment, as functions of its dictionary; the trainer of analysis scripts.

Source: manual 2.2 to 2.6; specification 3, row 7, 6.1 and 6.2.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from interplay.core import masks
from interplay.core.errors import UserError
from interplay.core.helping import processors
from interplay.experiment import files
from interplay.experiment.algorithms import settings_of
from interplay.experiment.assignment import assign, mapping_of
from interplay.experiment.params import Experiment, read_params
from interplay.experiment.worlds import FROM_FILE, Maker, make_world, read
from interplay.sim.batch.layout import mask_of
from interplay.sim.managers import SimulationManager


class TrainedPolicies:
    """The policies of a checkpoint.

    Args:
        experiment: that was trained.
        checkpoint: folder of the checkpoint.
        explore: draw actions instead of taking the likeliest, unless a call says otherwise.
        seed: of the draws.
        trust: allows programs named in the run's settings; needed once, for a foreign run.

    Attributes:
        agents: ids of the agents with a policy.
        config: the experiment's ``ray_tune.config``; ``config['policy_mapping_fn']``, which is also
            ``config['multiagent']['policy_mapping_fn']``, takes an agent's id.
    """

    def __init__(
        self,
        experiment: Experiment,
        checkpoint: Path,
        explore: bool = False,
        seed: int | None = None,
        trust: bool = False,
    ) -> None:
        from interplay.train.play.single import SingleActor

        self._readers, self._assigned = read(experiment)
        self.agents = tuple(self._assigned)
        kinds = [reader.kind for reader in self._readers.values()]
        self._actor = SingleActor(checkpoint, kinds, seed or 0, trust)
        self._explore = explore
        multiagent = {**experiment.multiagent, "policy_mapping_fn": self.policy_of}
        by_agent = {"multiagent": multiagent, "policy_mapping_fn": self.policy_of}
        self.config: dict[str, Any] = {**experiment.config, **by_agent}

    def policy_of(self, agent_id: str, *args: Any, **kwargs: Any) -> str:
        """The policy that acts for an agent.

        Raises:
            UserError: for an agent that has none.
        """
        if agent_id not in self._assigned:
            raise UserError(f"no policy acts for {agent_id!r}; agents are {', '.join(self._assigned)}")
        return self._assigned[agent_id]

    def compute_action(
        self,
        observation: Any,
        policy_id: str | None = None,
        explore: bool | None = None,
        action_mask: Any = None,
        **kwargs: Any,
    ) -> Any:
        """An action for an agent's observation.

        Args:
            observation: from the simulation.
            policy_id: the acting policy; may be left out where there is one.
            explore: draw the action instead of taking the likeliest.
            action_mask: from the simulation's `get_action_mask`.

        Raises:
            UserError: for an unknown policy, or none where there are several.
        """
        if policy_id is None and len(self._readers) == 1:
            policy_id = next(iter(self._readers))
        if policy_id not in self._readers:
            raise UserError(f"policy_id = {policy_id!r}; give one of {', '.join(self._readers)}")
        reader = self._readers[policy_id]
        mask = {}
        for leaf in reader.foreign.masks:
            part = mask_of(leaf, action_mask)
            if part is not None:
                mask[leaf.name] = masks.from_gymnasium(leaf.space, part)
        explores = self._explore if explore is None else explore
        return self._actor.act(policy_id, reader.leaves(observation), mask or None, explores)

    compute_single_action = compute_action


Params = Mapping[str, Any]


def debug(params: Params, episodes: int = 1, steps_per_episode: int = 200, render: bool = False) -> Path:
    """Plays an experiment's simulation with random actions and logs every step.

    Args:
        episodes: how many.
        steps_per_episode: most steps of one.
        render: draw every step.

    Returns:
        The folder with two files per episode, `DEBUG_<title>_<date>_<time>`.

    Raises:
        UserError: for a dictionary that is no experiment.
    """
    return debug_experiment(read_params(params), episodes, steps_per_episode, render)


def train(params: Params) -> Path:
    """Trains an experiment's policies.

    Returns:
        The run folder, `<title>_<date>_<time>`.

    Raises:
        UserError: for a dictionary that is no experiment, or settings that do not fit it.
    """
    return train_experiment(read_params(params))


def visualize(
    params: Params,
    folder: str | Path,
    checkpoint: int | None = None,
    episodes: int = 1,
    steps_per_episode: int = 200,
    record: bool = False,
    record_only: bool = False,
    frame_delay: int = 200,
    explore: bool = False,
    seed: int | None = None,
    trust: bool = False,
) -> list[Path]:
    """Shows what the trained policies do.

    Args:
        folder: its run folder.
        checkpoint: number of one, see `files.choose_checkpoint`; None: the last.
        episodes: how many.
        steps_per_episode: most steps of one.
        record: save `Episode_<i>.gif` in the folder, and show it where there is a display.
        record_only: save and open no window.
        frame_delay: milliseconds between pictures.
        explore: draw actions instead of taking the likeliest.
        seed: of the first episode; the i-th has seed + i.
        trust: the run's settings may name programs of their own; needed once, for a run from elsewhere.

    Returns:
        The files that were written.

    Raises:
        UserError: without a display, unless something is recorded.
        FileNotFoundError: if the run has no checkpoint.
    """
    from interplay.view.managed import Stage

    experiment = read_params(params)
    path = files.choose_checkpoint(folder, checkpoint)
    with Stage(experiment.title, frame_delay, record=record or record_only, show=not record_only) as stage:
        trainer = trained(experiment, path, explore, seed, trust)
        manager = Maker(experiment)()
        written = []
        for episode in range(episodes):
            one = None if seed is None else seed + episode
            moments = _moments(manager, trainer, steps_per_episode, one)
            if record or record_only:
                written.append(stage.save(Path(folder) / f"Episode_{episode}.gif", moments))
            else:
                for moment in moments:
                    stage.look(moment)
    return written


def analyze(
    params: Params,
    folder: str | Path,
    function: Callable[[Any, Any], Any],
    checkpoint: int | None = None,
    seed: int | None = None,
    trust: bool = False,
) -> Any:
    """Calls a function with the simulation and the trained policies.

    Args:
        folder: its run folder.
        function: called with the manager and the trainer, see `TrainedPolicies`.
        checkpoint: number of one; None: the last.
        seed: of the simulation and of the policies.
        trust: as in `visualize`.

    Returns:
        The function's result.

    Raises:
        FileNotFoundError: if the run has no checkpoint.
    """
    experiment = read_params(params)
    trainer = trained(experiment, files.choose_checkpoint(folder, checkpoint), False, seed, trust)
    manager = Maker(experiment, limited=True)()
    if seed is not None:
        manager.sim.reseed(seed)
    return function(manager, trainer)


def debug_experiment(
    experiment: Experiment,
    episodes: int = 1,
    steps_per_episode: int = 200,
    render: bool = False,
    config: Path | None = None,
) -> Path:
    """As `debug`, with a copy of the file `config`."""
    from interplay.train.tabular.debug import DebugTrainer
    from interplay.train.tabular.folders import results_folder
    from interplay.view.managed import watching

    trainer = DebugTrainer(
        sim=Maker(experiment)(),
        name=f"DEBUG_{experiment.title}",
        output_dir=str(results_folder(experiment.storage_path)),
    )
    with watching(experiment.title, render) as look:
        folder = Path(trainer.make_output_dir())
        if config is not None:
            files.copy_into(config, folder)
        trainer.train(iterations=episodes, horizon=steps_per_episode, render=look, seed=experiment.seed)
    return folder


def train_experiment(experiment: Experiment, config: Path | None = None) -> Path:
    """As `train`, with a copy of the file `config`, from which workers import the simulation."""
    if experiment.tune.get("backend") == "rllib":
        return _train_with_rllib(experiment, config)
    from interplay.train.trainer import train as run

    probe = make_world(experiment, num_worlds=1)
    try:
        assigned = assign(experiment, Maker(experiment)().agents)
        workers = processors() if config is not None else 1
        settings = settings_of(experiment, probe, assigned, workers)
    finally:
        probe.close()
    folder = files.new_run(experiment)
    if config is None:
        return run(settings, folder, functools.partial(make_world, experiment))
    copy = files.copy_into(config, folder)
    world = settings.world.model_copy(update={"id": FROM_FILE, "options": {"config": str(copy.absolute())}})
    return run(settings.model_copy(update={"world": world}), folder)


def trained(
    experiment: Experiment, checkpoint: Path, explore: bool, seed: int | None, trust: bool = False
) -> TrainedPolicies:
    """The policies of a checkpoint."""
    if experiment.tune.get("backend") == "rllib":
        raise UserError(
            f"{experiment.title}: policies that RLlib trained are played by RLlib; load {checkpoint} with its Algorithm.from_checkpoint"
        )
    return TrainedPolicies(experiment, checkpoint, explore, seed, trust)


def _moments(
    manager: SimulationManager, trainer: TrainedPolicies, most: int, seed: int | None
) -> Iterator[SimulationManager]:
    """An episode: the manager after the reset and after each step."""
    observations = manager.reset(seed=seed)
    yield manager
    for _ in range(most):
        actions = {
            agent: trainer.compute_action(
                one, trainer.policy_of(agent), action_mask=manager.sim.get_action_mask(agent)
            )
            for agent, one in observations.items()
            if agent in trainer.agents  # a simulation may name agents that never act
        }
        seen, _, dones, _ = manager.step(actions)
        yield manager
        observations = {agent: one for agent, one in seen.items() if not dones[agent]}
        if dones["__all__"]:
            return


def _train_with_rllib(experiment: Experiment, source: Path | None) -> Path:
    from interplay.experiment.rllib_training import train as run
    from interplay.registry import load

    wrapper = load("interplay.connect.rllib:MultiAgentWrapper")
    folder = files.new_run(experiment)
    if source is not None:
        files.copy_into(source, folder)
    maker = Maker(experiment, limited=True)
    multiagent = {**experiment.multiagent, "policy_mapping_fn": mapping_of(experiment)}
    config = {**experiment.config, "multiagent": multiagent if "policies" in multiagent else {}}
    run({**experiment.tune, "config": config}, lambda: wrapper(maker()), folder)
    return folder
