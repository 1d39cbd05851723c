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

# Mean episode length, steps, under a uniform policy; the author's code was measured for three variants.
RANDOM_LENGTH = {
    "survival/1v1-heals-low": 498.6,
    "survival/1v1-heals-mid": 258.0,
    "survival/2v2-heals-mid": 390.0,
}
