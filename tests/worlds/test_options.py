"""Wrong options of worlds are refused in one line that names them."""

from __future__ import annotations

import pytest

import interplay
from interplay.core.errors import UserError

# World -> options; the first of each is the one that is named.
REFUSED = {
    "dilemma/fixed": [{"temptation": 3}, {"reward": 5.5}, {"punishment": 3}, {"sucker": 1.0}, {"sucker": 7}],
    "gridworld/broadcast": [{"rows": 2, "cols": 3}, {"done_tolerance": 0}, {"talkers": 3}],
    "gridworld/foragers": [
        {"resources": 17, "rows": 4, "cols": 4},
        {"hunters": 17, "resources": 3, "rows": 4, "cols": 4},
        {"forager": 3},
        {"sight": "sonar"},
    ],
    "gridworld/maze": [{"view_range": 0}],
    "gridworld/multi-maze": [{"num_walls": 26}, {"num_navigators": 26}],
    "gridworld/pacman": [{"view_range": 0}, {"time_limit": 0}, {"learning_baddie": True}],
    "gridworld/reach-the-target": [{"num_barriers": 49}, {"num_runners": 5}],
    "gridworld/traffic-corridor": [{"cols": 2}],
    "navigation/proxy-soft": [{"configuration": "hard"}],
    "pommerman/ffa": [
        {"players": 2, "teams": True},
        {"radio": True},
        {"rigid": 35},
        {"wood": 10},
        {"rigid": 70},
        {"items": 37},
        {"collapse": 798},
        {"size": 7},
        {"players": 3},
        {"reward_weights": [1.0]},
    ],
    "pong/2p": [
        {"ball_speed": 0.0},
        {"ball_speed": 17.0},
        {"bat_speeds": (16.0,)},
        {"bat_speeds": (16.0, 0.0)},
        {"rounds": 100},
        {"follow": "both"},
        {"see": "nothing"},
        {"frames": 0},
    ],
    "simulation/multi-corridor": [{"num_agents": 5, "end": 4}],
}


@pytest.mark.parametrize(("world_id", "options"), [(name, o) for name in REFUSED for o in REFUSED[name]])
def test_wrong_options_are_refused(world_id, options):
    with pytest.raises(UserError, match=next(iter(options))) as caught:
        interplay.make_world(world_id, **options)
    assert "\n" not in str(caught.value)
