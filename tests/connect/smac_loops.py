"""Training loops as users of SMAC have them, in NumPy: they know the environment by SMAC's interface alone.

`EpisodeRunner` and `ParallelRunner` gather episodes as PyMARL's runners do, into batches padded to the longest episode; `learn_qmix` is an
update of value factorisation on them. `SharedVecEnv` and `run_mappo` are the loop of the on-policy code: a fixed number of steps, restarts inside of it,
masks of deaths and of time-outs, generalised advantages of a central critic.
"""

from __future__ import annotations

import threading
from multiprocessing import Pipe

import cloudpickle
import numpy as np

# As in the configuration that comes with PyMARL.
PYMARL = {
    "continuing_episode": False,
    "difficulty": "7",
    "game_version": None,
    "map_name": "3i2z",
    "move_amount": 2,
    "obs_all_health": True,
    "obs_instead_of_state": False,
    "obs_last_action": False,
    "obs_own_health": True,
    "obs_pathing_grid": False,
    "obs_terrain_height": False,
    "obs_timestep_number": False,
    "reward_death_value": 10,
    "reward_defeat": 0,
    "reward_negative_scale": 0.5,
    "reward_only_positive": True,
    "reward_scale": True,
    "reward_scale_rate": 20,
    "reward_sparse": False,
    "reward_win": 200,
    "replay_dir": "",
    "replay_prefix": "",
    "state_last_action": True,
    "state_timestep_number": False,
    "step_mul": 8,
    "seed": 3,
    "heuristic_ai": False,
    "heuristic_rest": False,
    "debug": False,
}


class EpisodeBatch:
    """Arrays (episodes, longest + 1, ...) by name; `filled` says which steps there were."""

    def __init__(self, info, episodes):
        n, longest = info["n_agents"], info["episode_limit"] + 1
        shapes = {
            "state": ((info["state_shape"],), np.float32),
            "obs": ((n, info["obs_shape"]), np.float32),
            "avail_actions": ((n, info["n_actions"]), np.int32),
            "actions": ((n, 1), np.int64),
            "reward": ((1,), np.float32),
            "terminated": ((1,), np.uint8),
            "filled": ((1,), np.int64),
        }
        self.data = {
            name: np.zeros((episodes, longest, *shape), dtype) for name, (shape, dtype) in shapes.items()
        }

    def update(self, data, episodes, t, mark_filled=True):
        for name, values in data.items():
            place = self.data[name]
            values = np.array(values, place.dtype)
            place[episodes, t] = values.reshape(place[episodes, t].shape)
        if mark_filled:
            self.data["filled"][episodes, t] = 1

    def longest(self):
        return int(self.data["filled"].sum(axis=1).max())


class Agents:
    """One linear network for all agents, their numbers among its inputs; it chooses among what is available."""

    def __init__(self, info, seed, epsilon=0.5):
        self.n, self.rng, self.epsilon = info["n_agents"], np.random.default_rng(seed), epsilon
        self.weights = self.rng.normal(0, 0.01, (info["obs_shape"] + self.n, info["n_actions"]))

    def inputs(self, obs):
        names = np.broadcast_to(np.eye(self.n), (*obs.shape[:-2], self.n, self.n))
        return np.concatenate([obs, names], axis=-1)

    def values(self, obs):
        return self.inputs(obs) @ self.weights

    def select_actions(self, batch, episodes, t):
        legal = batch.data["avail_actions"][episodes, t]
        assert (legal.sum(axis=-1) > 0).all(), "an agent without an action"
        values = np.where(legal, self.values(batch.data["obs"][episodes, t]), -np.inf)
        drawn = (self.rng.random(legal.shape) * legal).argmax(axis=-1)
        greedy = self.rng.random(drawn.shape) > self.epsilon
        return np.where(greedy, values.argmax(axis=-1), drawn)


def looked_at(env):
    """What a runner asks before every choice, and once more after the last step."""
    return {"state": [env.get_state()], "avail_actions": [env.get_avail_actions()], "obs": [env.get_obs()]}


class EpisodeRunner:
    """One environment, one episode after another."""

    def __init__(self, make, **env_args):
        self.env = make(**env_args)
        self.episode_limit = self.env.episode_limit
        self.stats, self.returns = {}, []

    def get_env_info(self):
        return self.env.get_env_info()

    def run(self, agents):
        batch, t, terminated, total = EpisodeBatch(self.get_env_info(), 1), 0, False, 0.0
        self.env.reset()
        while not terminated:
            batch.update(looked_at(self.env), slice(None), t)
            actions = agents.select_actions(batch, slice(None), t)
            reward, terminated, env_info = self.env.step(actions[0])
            total += reward
            ended = terminated != env_info.get("episode_limit", False)
            done = {"actions": actions[..., None], "reward": [(reward,)], "terminated": [(ended,)]}
            batch.update(done, slice(None), t)
            t += 1
        batch.update(looked_at(self.env), slice(None), t)
        last = agents.select_actions(batch, slice(None), t)
        batch.update({"actions": last[..., None]}, slice(None), t)
        for key in set(self.stats) | set(env_info):
            self.stats[key] = self.stats.get(key, 0) + env_info.get(key, 0)
        self.stats["n_episodes"] = self.stats.get("n_episodes", 0) + 1
        self.returns.append(total)
        return batch


def env_worker(remote, pickled):
    """Serves one environment; everything goes through pickles."""
    env = cloudpickle.loads(pickled)()
    while True:
        command, data = remote.recv()
        if command == "step":
            told = env.step(data)
            if len(told) == 3:
                reward, terminated, info = told
            else:
                _, reward, ended, cut, info = told
                terminated = ended or cut
            answer = {key: value[0] for key, value in looked_at(env).items()}
            remote.send({**answer, "reward": reward, "terminated": terminated, "info": info})
        elif command == "reset":
            env.reset()
            remote.send({key: value[0] for key, value in looked_at(env).items()})
        elif command == "close":
            env.close()
            remote.close()
            return
        else:
            remote.send(getattr(env, command)())


class ParallelRunner:
    """Several environments at once, each until its episode ends."""

    def __init__(self, makers):
        pairs = [Pipe() for _ in makers]
        self.parents = [parent for parent, _ in pairs]
        for (_, worker), make in zip(pairs, makers, strict=True):
            threading.Thread(target=env_worker, args=(worker, cloudpickle.dumps(make)), daemon=True).start()
        self.env_info = self.ask(0, "get_env_info")
        self.returns, self.final_infos = [], []

    def ask(self, number, command):
        self.parents[number].send((command, None))
        return self.parents[number].recv()

    def run(self, agents):
        many = len(self.parents)
        batch, t, going, totals = EpisodeBatch(self.env_info, many), 0, list(range(many)), [0.0] * many
        for parent in self.parents:
            parent.send(("reset", None))
        told = [parent.recv() for parent in self.parents]
        batch.update({key: [one[key] for one in told] for key in told[0]}, going, 0)
        while going:
            actions = agents.select_actions(batch, going, t)
            batch.update({"actions": actions[..., None]}, going, t, mark_filled=False)
            for number, action in zip(going, actions, strict=True):
                self.parents[number].send(("step", action))
            told = [self.parents[number].recv() for number in going]
            ended = [one["terminated"] and not one["info"].get("episode_limit", False) for one in told]
            rewards = [(one["reward"],) for one in told]
            batch.update({"reward": rewards, "terminated": ended}, going, t, mark_filled=False)
            t += 1
            batch.update({k: [one[k] for one in told] for k in ("state", "avail_actions", "obs")}, going, t)
            for number, one in zip(going, told, strict=True):
                totals[number] += one["reward"]
            self.final_infos += [one["info"] for one in told if one["terminated"]]
            going = [number for number, one in zip(going, told, strict=True) if not one["terminated"]]
        self.returns += totals
        return batch

    def stats(self):
        return [self.ask(number, "get_stats") for number in range(len(self.parents))]

    def close(self):
        for parent in self.parents:
            parent.send(("close", None))


def learn_qmix(agents, mixer, batch, rate=1e-4, gamma=0.99):
    """One step down the squared error of monotonically mixed values; mean error before it."""
    longest = batch.longest()
    data = {name: values[:, :longest] for name, values in batch.data.items()}
    values = agents.values(data["obs"])
    chosen = np.take_along_axis(values, data["actions"], axis=-1)[..., 0]
    best = np.where(data["avail_actions"], values, -np.inf).max(axis=-1)
    share = np.abs(data["state"] @ mixer)  # (episodes, t, agents): no agent's value lowers the team's
    mixed, target = (share * chosen).sum(-1), (share * best).sum(-1)
    going = 1.0 - data["terminated"][:, :-1, 0]
    goal = data["reward"][:, :-1, 0] + gamma * going * target[:, 1:]
    mask = data["filled"][:, :-1, 0].astype(float)
    mask[:, 1:] *= 1.0 - data["terminated"][:, :-2, 0]
    error = (mixed[:, :-1] - goal) * mask
    pull = (error[..., None] * share[:, :-1])[..., None] * agents.inputs(data["obs"][:, :-1])
    for action in range(agents.weights.shape[1]):
        own = data["actions"][:, :-1] == action
        agents.weights[:, action] -= rate * (pull * own).sum(axis=(0, 1, 2)) / mask.sum()
    return float((error**2).sum() / mask.sum())


class SharedVecEnv:
    """Environments side by side; one with all agents done begins anew at once."""

    def __init__(self, makers):
        self.envs = [make() for make in makers]
        first = self.envs[0]
        self.observation_space = first.observation_space
        self.share_observation_space = first.share_observation_space
        self.action_space = first.action_space

    def reset(self):
        return tuple(map(np.array, zip(*[env.reset() for env in self.envs], strict=True)))

    def step(self, actions):
        told = [env.step(own) for env, own in zip(self.envs, actions, strict=True)]
        obs, share_obs, rewards, dones, infos, legal = map(np.array, zip(*told, strict=True))
        for number, done in enumerate(dones):
            if np.all(done):
                obs[number], share_obs[number], legal[number] = self.envs[number].reset()
        return obs, share_obs, rewards, dones, infos, legal


def split(obs, sizes):
    """An observation cut as its space says, part by part."""
    at, parts = 0, []
    for rows, width in sizes[1:]:
        parts.append(obs[..., at : at + rows * width].reshape(*obs.shape[:-1], rows, width))
        at += rows * width
    assert at == obs.shape[-1] == sizes[0]
    return parts


def run_mappo(envs, updates, length, seed, gamma=0.99, keep=0.95, rate=1e-3):
    """Rollouts of a fixed length and updates of a linear policy and a linear central critic; what each update logs."""
    rng, agents = np.random.default_rng(seed), len(envs.action_space)
    sizes, state_sizes = envs.observation_space[0], envs.share_observation_space[0]
    actor = rng.normal(0, 0.01, (sizes[0], envs.action_space[0].n))
    critic = np.zeros(state_sizes[0])
    obs, share_obs, legal = envs.reset()
    threads = len(obs)
    before, logged = {"battles_won": np.zeros(threads), "battles_game": np.zeros(threads)}, []
    active = np.ones((threads, agents, 1))
    for _ in range(updates):
        steps = []
        for _ in range(length):
            split(obs, sizes)
            split(share_obs, state_sizes)
            logits = np.where(legal, obs @ actor, -1e9)
            noise = rng.gumbel(size=logits.shape)
            actions = (logits + noise).argmax(axis=-1)[..., None]
            seen = obs, share_obs, legal, logits, actions, active
            obs, share_obs, rewards, dones, infos, legal = envs.step(actions)
            ended = np.all(dones, axis=1)
            masks = np.ones((threads, agents, 1))
            masks[ended] = 0.0
            active = np.ones((threads, agents, 1))
            active[dones] = 0.0
            active[ended] = 1.0
            bad = [[[0.0 if told["bad_transition"] else 1.0] for told in row] for row in infos]
            steps.append((*seen, rewards, masks, np.array(bad)))
        held = [np.stack(part) for part in zip(*steps, strict=True)]
        o, s, allowed, logits, actions, alive, rewards, masks, bad = held
        values = np.concatenate([s @ critic, (share_obs @ critic)[None]])[..., None]
        advantage, gained = np.zeros_like(rewards), 0.0
        for t in reversed(range(length)):
            delta = rewards[t] + gamma * values[t + 1] * masks[t] - values[t]
            gained = (delta + gamma * keep * masks[t] * gained) * bad[t]
            advantage[t] = gained
        chances = np.exp(logits - logits.max(-1, keepdims=True)) * allowed
        chances /= chances.sum(-1, keepdims=True)
        hit = np.eye(actor.shape[1])[actions[..., 0]] - chances
        weight = alive * (advantage - advantage.mean()) / (advantage.std() + 1e-5)
        actor += rate * np.einsum("tkao,tkan->on", o, weight * hit) / alive.sum()
        critic += rate * (s * advantage).mean(axis=(0, 1, 2))
        now = {key: np.array([row[0][key] for row in infos], float) for key in before}
        gain = {key: float((now[key] - before[key]).sum()) for key in before}
        before = now
        logged.append({**gain, "reward": float(rewards.mean()), "dead": float(1 - alive.mean())})
    return logged
