"""Simulations under managers as OpenSpiel's reinforcement-learning environments, in two forms.

`OpenSpielListWrapper` is the form of OpenSpiel's own environments and learning agents, lists by integer player.
`OpenSpielWrapper` is the form of the manual, dictionaries by agent id.

OpenSpiel has no truncation: a time limit ends an episode with a last step with discounts of 0, as its rules do; `truncated`
distinguishes the two. Source: manual 2.1.5 and 7.4; specification 2.12, X3 to X5, specification 3, rows 22 and 23, and
specification 8.2.
"""

from interplay.connect.openspiel.by_id import OpenSpielWrapper
from interplay.connect.openspiel.by_player import OpenSpielListWrapper

__all__ = ["OpenSpielListWrapper", "OpenSpielWrapper"]
