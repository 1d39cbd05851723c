"""What differs between two sets of settings, against a slow twin; and what the seal of a file covers."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interplay.core.seals import canonical, check_seal, differing, digest, read_sealed, sealed_toml
from interplay.core.settings import Settings, build, from_toml

plain = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 2),
    st.sampled_from([0.0, 1.0, -1.5]),
    st.sampled_from(["", "off", "a"]),
)
keys = st.sampled_from(["a", "b", "c"])
groups = st.recursive(
    st.one_of(plain, st.lists(plain, max_size=2)),
    lambda inner: st.dictionaries(keys, inner, max_size=3),
    max_leaves=6,
)
tables = st.dictionaries(keys, groups, max_size=3)


def paths(values, prefix=()):
    """Path -> value of every leaf; a group that holds nothing is a leaf."""
    found = {}
    for key, value in values.items():
        if isinstance(value, dict):
            found |= paths(value, (*prefix, key)) or {(*prefix, key): {}}
        else:
            found[*prefix, key] = value
    return found


def said(value):
    return json.dumps(value, sort_keys=True)


@settings(max_examples=120)
@given(tables, tables)
def test_nothing_differs_exactly_where_all_is_the_same(was, now):
    found = differing(was, now)
    assert (not found) == (said(was) == said(now)) == (digest(was) == digest(now))
    assert differing(now, was).keys() == found.keys()
    assert all(differing(now, was)[key] == (mine, theirs) for key, (theirs, mine) in found.items())
    assert differing(was, json.loads(json.dumps(was))) == {}


@settings(max_examples=120)
@given(tables, tables)
def test_every_difference_is_named_by_its_key_with_both_values(was, now):
    """Each leaf that is other, missing or new lies below a key that is named, and no other key is."""
    named = {tuple(key.split(".")) for key in differing(was, now)}
    old, new = paths(was), paths(now)
    for path in {*old, *new}:
        same = path in old and path in new and said(old[path]) == said(new[path])
        below = [path[: len(key)] == key or key[: len(path)] == path for key in named]
        assert same or any(below), path
        if same:
            assert path not in named
    for key, (theirs, mine) in differing(was, now).items():
        for values, told in ((was, theirs), (now, mine)):
            at = values
            for part in key.split("."):
                at = at.get(part) if isinstance(at, dict) else None
            assert at == told


def test_a_key_that_is_missing_differs_from_one_that_is_off():
    assert differing({"limit": None}, {}) == {"limit": (None, None)}
    assert differing({}, {"a": {"limit": None}}) == {"a": (None, {"limit": None})}


class Clock(Settings):
    seconds: float = 1.0
    alarm: int | None = None


class Room(Settings):
    sides: tuple[int, ...] = (2, 3)
    free: dict[str, object] = {}  # noqa: RUF012 - pydantic copies it
    clock: Clock = Clock()


OTHERS = [
    {"sides": (3, 2)}, {"sides": (2,)}, {"free": {"a": 1}}, {"free": {"a": True}}, {"free": {"a": 1.0}},
    {"free": {"a": "1"}}, {"clock": {"seconds": 1.5}}, {"clock": {"alarm": 0}}, {"clock": {"alarm": 1}},
]  # fmt: skip


@pytest.mark.parametrize("other", OTHERS)
def test_another_value_anywhere_breaks_the_seal(tmp_path, other):
    """The seal of one file over the values of another: broken; and it names what they are."""
    file, changed = tmp_path / "a.toml", build(Room, other, "room")
    file.write_text(sealed_toml(Room()))
    assert read_sealed(file).seal == "whole"
    assert from_toml(file, Room) == Room()
    head = file.read_text().partition("\n")[0]
    file.write_text(f"{head}\n{sealed_toml(changed).partition(chr(10))[2]}")
    assert read_sealed(file).seal == "broken"
    assert len(differing(canonical(Room()), canonical(changed))) == 1
    assert len({digest(canonical(build(Room, values, "room"))) for values in [{}, *OTHERS]}) == 10


def test_departures_are_part_of_the_seal():
    departs = ("0" * 64, "1" * 64)
    text = sealed_toml(Room(), departs)
    values = {"sides": [2, 3], "free": {}, "clock": {"seconds": 1.0, "alarm": "off"}}
    assert check_seal(text.encode(), values) == ("whole", departs)
    for fewer in (text.replace(f" {departs[1]}", ""), text.replace(departs[0], departs[1], 1)):
        assert check_seal(fewer.encode(), values)[0] == "broken"
    assert check_seal(b"a = 1\n", {"a": 1}) == ("none", ())
