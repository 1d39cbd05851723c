"""Places of populations in a merged world."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interplay.core.errors import UserError
from interplay.evaluate.tournaments.merge import shares


@given(st.integers(1, 128), st.integers(1, 12), st.integers(1, 12))
def test_homes_get_half_each_or_are_told_why_not(cap, ours, theirs):
    try:
        quotas = shares(cap, [ours, theirs], "per_home", ["a", "b"])
    except UserError:
        assert cap % 2 or cap // 2 < max(ours, theirs)
        return
    assert sum(quotas[:ours]) == sum(quotas[ours:]) == cap // 2
    for part in (quotas[:ours], quotas[ours:]):
        assert max(part) - min(part) <= 1
        assert min(part) >= 1


@given(st.integers(1, 128), st.integers(1, 12), st.integers(1, 12))
def test_populations_get_the_same_each(cap, ours, theirs):
    if cap < ours + theirs:
        with pytest.raises(UserError, match="cannot share"):
            shares(cap, [ours, theirs], "per_population", ["a", "b"])
        return
    quotas = shares(cap, [ours, theirs], "per_population", ["a", "b"])
    assert len(set(quotas)) == 1
    assert cap <= sum(quotas) < cap + ours + theirs
