"""A module of an RLlib checkpoint as a run, which every verb reads.

RLlib's checkpoints are pickles, and reading one runs what is in it. Only `interplay export --trust-pickle` does.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from ray.rllib.algorithms.ppo.torch.default_ppo_torch_rl_module import DefaultPPOTorchRLModule
from ray.rllib.connectors.common import AddObservationsFromEpisodesToBatch
from ray.rllib.connectors.env_to_module import EnvToModulePipeline
from ray.rllib.core.rl_module.rl_module import RLModule
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule

from interplay.core.errors import UserError
from interplay.core.settings import build
from interplay.registry import make_world
from interplay.train.play.trained_policy import TrainedPolicy
from interplay.train.run.checkpoint import CheckpointWriter
from interplay.train.run.folder import RunFolder
from interplay.train.run.warm_start import policy_stem
from interplay.train.settings import TrainSettings

MODULES, CONNECTORS = "learner_group/learner/rl_module", "env_runner/env_to_module_connector"
ACTIVATIONS = {torch.nn.Tanh: "tanh", torch.nn.ReLU: "relu"}


def convert(
    checkpoint: Path | str, out: Path | str, world_id: str, options: Mapping[str, Any], module: str | None
) -> Path:
    """Writes a run with the weights of a checkpoint's module, and returns its folder. Unpickles the checkpoint.

    Args:
        checkpoint: the folder that ``Algorithm.save`` wrote.
        out: of the run.
        world_id: the world, of which the module saw flat observations (``flat=True``).
        options: of the world.
        module: its id; None: the only one.

    Raises:
        UserError: if there is no such module, it is no MLP of RLlib's PPO, a connector changed its observations, or it does not
            fit the world.
    """
    folder = Path(checkpoint) / MODULES
    names = sorted(path.name for path in folder.glob("*/")) if folder.is_dir() else []
    if module not in names and (module is not None or len(names) != 1):
        raise UserError(f"{checkpoint}: modules: {', '.join(names) or 'none'}; name one by --agent")
    read: Any = RLModule.from_checkpoint(folder / (module or names[0]))
    before = EnvToModulePipeline.from_checkpoint(Path(checkpoint) / CONNECTORS).connectors[0]
    if type(before) is not AddObservationsFromEpisodesToBatch:
        raise UserError(f"{checkpoint}: {type(before).__name__} changed observations; train without it")
    if type(read) not in (DefaultPPOTorchRLModule, ActionMaskingTorchRLModule) or read.is_stateful():
        raise UserError(f"{checkpoint}: a {type(read).__name__} is not converted, only PPO's own modules are")
    world = make_world(world_id, **options)
    (kind, *more) = world.kinds
    if more or not isinstance(kind.action_space, spaces.Discrete | spaces.MultiDiscrete):
        raise UserError(
            f"{world_id}: a module is converted for agents of one kind with Discrete or MultiDiscrete actions"
        )
    tensors, hidden, activation = _layers(read, str(checkpoint))
    network = {
        "kind": "mlp",
        "hidden": hidden,
        "activation": activation,
        "discrete": "number",
        "input_scale": False,
    }
    values = {"world": {"id": world_id, "options": dict(options)}, "network": network}
    settings = build(TrainSettings, values, str(checkpoint))
    named = {f"{kind.name}/{name}": array for name, array in tensors.items()}
    TrainedPolicy(settings, ["pop0"], [named], True, str(checkpoint)).start(
        world
    )  # refuses weights of other shapes
    with RunFolder.create(out, settings) as run, CheckpointWriter(run.path, 0) as writer:
        writer.write(policy_stem("pop0"), named)
        writer.commit({"updates": 0}, world_id, world.version, run.settings)
    return Path(out)


def _layers(module: Any, owner: str) -> tuple[dict[str, np.ndarray], list[int], str]:
    """The weights of policy and value by our names, the units of the hidden layers, and their activation."""
    encoders = [getattr(module.encoder, f"{name}_encoder", None) for name in ("actor", "critic")]
    stacks = [list((encoder or module.encoder.encoder).net.mlp) for encoder in encoders]
    heads = [list(head.net.mlp) for head in (module.pi, module.vf)]
    found = {type(layer) for stack in stacks for layer in stack[1::2]}
    linear = all(
        type(layer) is torch.nn.Linear for layers in (*heads, *(s[::2] for s in stacks)) for layer in layers
    )
    if not linear or len(found) != 1 or not found <= ACTIVATIONS.keys():
        raise UserError(
            f"{owner}: only an MLP of tanh or relu layers with heads of one layer is converted, this is {module}"
        )
    tensors = {"policy_head/log_std": np.zeros(0, np.float32)}  # of Box actions
    for name, stack, (head,) in zip(("policy", "value"), stacks, heads, strict=True):
        layers = {f"{name}/layers/{n}": layer for n, layer in enumerate(stack[::2])}
        layers[f"{name}_head/dense" if name == "policy" else f"{name}_head"] = head
        for place, layer in layers.items():
            tensors[f"{place}/weight"] = layer.weight.detach().cpu().numpy().T
            tensors[f"{place}/bias"] = layer.bias.detach().cpu().numpy()
    return tensors, [layer.out_features for layer in stacks[0][::2]], ACTIVATIONS[found.pop()]
