"""SuperSuit's pipelines, which copy environments with cloudpickle: copies earn what an environment earns that was never copied."""

import numpy as np
import pytest

import interplay

supersuit = pytest.importorskip("supersuit", reason="the extra dev is not installed")


def corridor():
    return interplay.make("simulation/multi-corridor", seed=4, flat=True, keep_dead=True)


@pytest.mark.parametrize("workers", [0, 2])
def test_copies_in_a_vector_environment_earn_what_the_original_earns(workers):
    plain = corridor()
    several = supersuit.concat_vec_envs_v1(
        supersuit.pettingzoo_env_to_vec_env_v1(corridor()), 2, num_cpus=workers, base_class="gymnasium"
    )
    try:
        observations, _ = plain.reset(seed=11)
        seen, _ = several.reset(seed=11)
        assert np.array_equal(seen[:5], np.stack(list(observations.values())))
        rng, earned, moved = np.random.default_rng(0), [], set()
        for _ in range(40):
            action = rng.integers(0, 3, 5)
            observations, rewards, ended, cut, _ = plain.step(dict(zip(plain.agents, action, strict=True)))
            seen, paid, _, _, _ = several.step(np.tile(action, 2))
            assert paid[:5].tolist() == list(rewards.values())
            if any(ended.values()) or any(cut.values()):
                break  # the vector environment shows the next episode already
            assert np.array_equal(seen[:5], np.stack(list(observations.values())))
            earned += list(rewards.values())
            moved.add(seen.tobytes())
        assert np.abs(earned).sum() > 0
        assert len(moved) > 5
    finally:
        several.close()
