"""A team of two as one who looks: boards merged, joint planes (specification interfaces 10: CombineObs, BoardMapObs v1)."""

from __future__ import annotations

import numpy as np
import pytest
from gymnasium import spaces

from interplay.core.errors import UserError
from interplay.interfaces import Combine, from_settings
from interplay.interfaces.pommerman import boards
from interplay.interfaces.pommerman.pairs import CombineObs
from tests.interfaces import toys
from tests.interfaces.test_pommerman import CORNERS, raw_of, space_of

ONE = space_of(11)
SEEN, DONE = spaces.Tuple([ONE, ONE]), spaces.Tuple([spaces.Discrete(6)] * 2)
JOINT = ["CombineObs", {"name": "BoardMapObs", "joint": True}]
VIEW = 4  # cells to either side


def pair_of(rng, own=0, alive=(1, 1)):
    """Two members' raw observations of one board, each in its fog, and the board without."""
    whole, _ = raw_of("team", own, rng)
    mate = (own + 2) % 4
    lives = dict(zip((own, mate), alive, strict=True))
    for agent, lives_on in lives.items():
        whole["alive"][agent] = lives_on
        if not lives_on:
            whole["board"][whole["board"] == 10 + agent] = 0
    members = []
    for agent in (own, mate):
        one = {name: np.array(part) for name, part in whole.items()}
        (enemies, told) = (raw_of("team", agent)[0][name] for name in ("enemies", "teammate"))
        one |= {"enemies": enemies, "teammate": told, "ammo": np.int16(1 + agent)}
        one["position"] = np.array(np.array(CORNERS[agent]) % 11, np.int16)
        rows, columns = np.indices((11, 11))
        far = np.maximum(abs(rows - one["position"][0]), abs(columns - one["position"][1])) > VIEW
        for name in boards.MAPS:
            one[name] = np.where(far, boards.FOG if name == "board" else 0, one[name]).astype(np.int16)
        members.append(one)
    return tuple(members), whole


def shown(names, pair):
    stack = from_settings(names).setup(SEEN, DONE)
    stack.reset()
    return stack.obs_trans(pair), stack


@pytest.mark.parametrize("alive", [(1, 1), (1, 0), (0, 1), (0, 0)])
@pytest.mark.parametrize("own", [0, 1])
def test_fog_is_filled_from_the_other_and_the_dead_are_not_asked(own, alive):
    pair, whole = pair_of(np.random.default_rng(own), own, alive)
    view, stack = shown(["CombineObs"], pair)
    assert view in stack.observation_space
    asked = [one for one, lives in zip(pair, alive, strict=True) if lives or not any(alive)]
    for cell in np.ndindex(11, 11):
        knows = [one for one in asked if one["board"][cell] != boards.FOG]
        for name in boards.MAPS:
            nothing = boards.FOG if name == "board" else 0
            assert view[name][cell] == (whole[name][cell] if knows else nothing)
    for name in set(ONE.spaces) - set(boards.MAPS):
        assert np.array_equal(view[name], np.stack([one[name] for one in pair]))
    assert stack.act_trans((3, 5)) == (3, 5)


@pytest.mark.parametrize("alive", [(1, 1), (1, 0)])
def test_joint_planes(alive):
    pair, _ = pair_of(np.random.default_rng(3), 1, alive)  # agents 1 and 3 against 0 and 2
    pair[0]["blast_strength"], pair[1]["can_kick"] = np.int16(5), 0
    obs, stack = shown(JOINT, pair)
    planes = obs["planes"]
    assert planes.shape == (11, 11, 17)
    assert obs in stack.observation_space
    for plane, code in enumerate((1, 2, 3, 4, 5, 6, 7, 8)):
        assert np.array_equal(planes[..., plane], obs["board"] == code)
    cells = [tuple(one["position"]) for one in pair]
    for k, plane in enumerate((8, 9)):
        assert [tuple(cell) for cell in np.argwhere(planes[..., plane])] == [cells[k]] * alive[k]
    for plane, code in ((10, 10), (11, 12)):
        assert np.array_equal(planes[..., plane], obs["board"] == code)
    cross, danger = boards.blasts({name: part[None] for name, part in obs.items() if name in boards.MAPS})
    assert np.array_equal(planes[..., 12], cross[0])
    assert np.array_equal(planes[..., 13], danger[0])
    expected = np.zeros((3, 11, 11), np.float32)
    expected[:, *cells[0]] = 5 / 5, 1, 2 / 3  # blast, kick, ammo: one more than the agent's number
    if alive[1]:
        expected[:, *cells[1]] = 3 / 5, 0, 4 / 3
    assert np.array_equal(planes[..., 14:].transpose(2, 0, 1), expected)


def test_walls_stop_the_joint_cross_if_asked():
    pair, _ = pair_of(np.random.default_rng(4))
    free, _ = shown(JOINT, pair)
    walled, _ = shown(["CombineObs", {"name": "BoardMapObs", "joint": True, "stop_at_walls": True}], pair)
    assert (walled["planes"][..., 12] <= free["planes"][..., 12]).all()
    assert walled["planes"][..., 12].sum() < free["planes"][..., 12].sum()


def test_the_laws_on_random_pairs():
    """L8, L10, L11, L12."""
    rng = np.random.default_rng(6)
    pairs = [pair_of(rng, row % 2, alive)[0] for row, alive in enumerate(((1, 1), (1, 0), (0, 1), (1, 1)))]
    names = [*JOINT, {"name": "FrameStack", "k": 2}]
    batch = from_settings(names).setup(SEEN, DONE, num_worlds=4)
    batch.reset()
    given = toys.stacked(SEEN, pairs)
    before = toys.copied(SEEN, given)
    found, space = batch.obs_trans(given), batch.observation_space
    assert toys.same(SEEN, before, given)
    assert toys.same(space, batch.look(given), found)
    for name, array in found.items():
        assert not any(np.shares_memory(array, part[key]) for part in given for key in part), name
    for b, pair in enumerate(pairs):
        single = from_settings(names).setup(SEEN, DONE)
        single.reset()
        own = single.obs_trans(pair)
        assert own in space
        assert toys.same(space, toys.stacked(space, [own]), toys.stacked(space, [toys.row(space, found, b)]))


def test_observations_of_no_team_mates_are_refused():
    pair, _ = pair_of(np.random.default_rng(5))
    turned = CombineObs(Combine(None, [from_settings(["RotateItf"]) for _ in range(2)]))
    for stack, two in ((turned, pair), (CombineObs(), (pair[0], pair[0]))):
        stack.setup(SEEN, DONE)
        stack.reset()
        with pytest.raises(UserError, match="team-mates"):
            stack.obs_trans(two)


def test_numbers_of_choices_keep_their_bounds():
    """Ammunition as a choice: two of them are a space of choices, too."""
    counted = spaces.Dict(
        [(key, spaces.Discrete(11) if key == "ammo" else part) for key, part in ONE.items()]
    )
    stack = from_settings(JOINT).setup(spaces.Tuple([counted] * 2), DONE)
    assert stack.observation_space["planes"].high[0, 0, 16] == np.float32(10 / 3)
