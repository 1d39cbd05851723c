"""Options by names with dots, and groups on top of a variant's."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interplay import make_world
from interplay.core.errors import UserError
from interplay.core.settings import nest, parse_overrides

NAMES = st.sampled_from(("a", "b", "c"))
PATHS = st.lists(NAMES, min_size=1, max_size=3).map(".".join)


@given(st.dictionaries(PATHS, st.integers(0, 9), max_size=4))
def test_dots_mean_in_python_what_they_mean_on_the_command_line(options: dict[str, int]) -> None:
    try:
        typed = parse_overrides([f"{name}={value}" for name, value in options.items()])
    except UserError:
        with pytest.raises(UserError):
            nest(options)
        return
    assert nest(options) == typed


def test_a_variant_keeps_what_a_group_does_not_say() -> None:
    for options in ({"obs.history": 2}, {"obs": {"history": 2}}):
        obs = make_world("werewolf/written", **options).settings.obs
        assert (obs.history, obs.role, obs.pack) == (2, False, False)
    penalties = make_world("werewolf/published-code", **{"penalties.death": -1.0}).settings.penalties
    assert (penalties.day, penalties.death, penalties.victory) == (0.0, -1.0, 25.0)
    # A mapping of free keys is one value: the line-up is what was asked for.
    assert make_world("werewolf/aiwolf13", roles={"guard": 1}).settings.roles == {"guard": 1}
