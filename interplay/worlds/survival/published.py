"""The author's published figures and those of random play: references for learning curves.

Source: specification 11 (the author's training logs, one run each, means over windows of agent-steps) and
specification 12 (the released code under a uniform policy, 150 episodes each).
"""

from __future__ import annotations

# Windows of agent-steps, millions.
WINDOWS = ((0.5, 1.0), (1.5, 2.5), (3.5, 4.5), (6.0, 7.0), (9.0, 10.0))

# Mean episode length, steps, in those windows.
EPISODE_LENGTH = {
    "survival/1v1-heals-low": (712, 997, 1098, 1139, 1222),
    "survival/1v1-heals-mid": (426, 456, 628, 945, 1046),
    "survival/1v1-all-mid": (498, 613, 732, 845, 885),
    "survival/1v1-all-high": (441, 481, 569, 567, 587),
    "survival/2v2-all-low": (621, 737, 795, 723, 717),
    "survival/2v2-heals-mid": (381, 483, 496, 407, 407),
    "survival/2v2-all-mid": (421, 468, 460, 427, 402),
    "survival/2v2-all-high": (460, 582, 605, 602, 598),
}

# Means over the fourth and the last part of the author's runs, millions of agent-steps (specification 11).
LATER_WINDOWS = ((3.5, 4.5), (9.0, 10.0))

# In those two windows: rewards and kills of each side (an agent, or a team), heals used and boxes placed by all.
LATER = {
    "survival/1v1-heals-low": {
        "episode_return": ((851, 940), (859, 1003)),
        "kills": ((0.23, 0.18), (0.30, 0.32)),
        "heals_used": ((2.12, 2.43),),
    },
    "survival/1v1-heals-mid": {
        "episode_return": ((627, 1046), (627, 1045)),
        "kills": ((0.026, 0.002), (0.039, 0.004)),
        "heals_used": ((1.42, 2.17),),
    },
    "survival/1v1-all-mid": {
        "episode_return": ((730, 884), (731, 884)),
        "kills": ((0.016, 0.038), (0.035, 0.044)),
        "heals_used": ((1.60, 2.18),),
        "boxes_placed": ((0.39, 0.42),),
    },
    "survival/1v1-all-high": {
        "episode_return": ((531, 551), (524, 553)),
        "kills": ((0.093, 0.162), (0.088, 0.156)),
        "heals_used": ((1.30, 1.16),),
        "boxes_placed": ((0.41, 0.44),),
    },
    "survival/2v2-all-low": {
        "episode_return": ((737, 612), (624, 595)),
        "team_kills": ((0.109, 0.049), (0.107, 0.054)),
        "heals_used": ((2.27, 2.04),),
        "boxes_placed": ((0.71, 0.67),),
    },
    "survival/2v2-heals-mid": {
        "episode_return": ((495, 406), (495, 407)),
        "team_kills": ((0.045, 0.022), (0.055, 0.022)),
        "heals_used": ((2.06, 1.37),),
    },
    "survival/2v2-all-mid": {
        "episode_return": ((459, 401), (459, 401)),
        "team_kills": ((0.030, 0.055), (0.034, 0.036)),
        "heals_used": ((1.60, 1.27),),
        "boxes_placed": ((0.32, 0.31),),
    },
    "survival/2v2-all-high": {
        "episode_return": ((483, 487), (501, 481)),
        "team_kills": ((0.166, 0.166), (0.199, 0.187)),
        "heals_used": ((2.29, 2.34),),
        "boxes_placed": ((0.88, 1.14),),
    },
}

# Mean episode length, steps, under a uniform policy; the author's code was measured for three variants.
RANDOM_LENGTH = {
    "survival/1v1-heals-low": 498.6,
    "survival/1v1-heals-mid": 258.0,
    "survival/2v2-heals-mid": 390.0,
}
