"""Simulations under managers as OpenSpiel's reinforcement-learning environments, in two forms.

`OpenSpielListWrapper` speaks as OpenSpiel's own environments do, lists by integer player, and is what its learning agents
need. `OpenSpielWrapper` is the form of the manual, dictionaries by agent id.

OpenSpiel knows no truncation: a time limit ends an episode as its rules do, with a last step whose discounts are 0; `truncated`
tells the two apart. Source: manual 2.1.5 and 7.4; specification 2.12, X3 to X5, specification 3, rows 22 and 23, and specification 8.2.
"""

from interplay.connect.openspiel.by_id import OpenSpielWrapper
from interplay.connect.openspiel.by_player import OpenSpielListWrapper

__all__ = ["OpenSpielListWrapper", "OpenSpielWrapper"]
