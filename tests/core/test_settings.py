"""Settings say no in one line that names key, value and cure, and survive the way through TOML."""

from __future__ import annotations

import subprocess
import sys
from typing import Annotated, Any, Literal

import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interplay.core.errors import UserError
from interplay.core.settings import (
    Settings,
    build,
    changed,
    from_toml,
    merge,
    parse_overrides,
    to_toml,
)


class Inner(Settings):
    rate: float = pydantic.Field(0.5, gt=0, le=1, description="Share per step.")
    limit: float | None = pydantic.Field(2.0, ge=0)
    sizes: tuple[int, ...] = (1, 2)
    shape: Literal["ring", "disc"] = "ring"
    cap: Annotated[int, pydantic.Field(ge=1)] | None = None
    pair: tuple[float, float] = (0.0, 1.0)
    seed: int | Literal["clock"] = 0


class Part(Settings):
    share: float = pydantic.Field(1.0, gt=0)


class Member(Settings):
    parts: tuple[Part, ...] = ()
    rank: int | None = None


class Outer(Settings):
    members: dict[str, Member] = pydantic.Field({})
    name: str
    count: int = pydantic.Field(3, ge=1)
    fast: bool = False
    options: dict[str, Any] = pydantic.Field({})
    inner: Inner = Inner()


def refusal(values: dict[str, Any]) -> str:
    with pytest.raises(UserError) as caught:
        build(Outer, values, "run.toml")
    text = str(caught.value)
    assert "\n" not in text
    assert text.startswith("run.toml: ")
    return text.removeprefix("run.toml: ")


REFUSED = {  # what is typed beside a name -> how the line begins, and what is allowed
    "nam=x": ("unknown key nam;", "name"),
    "inner.ratee=1": ("unknown key inner.ratee;", "inner.rate"),
    "rate=1": ("unknown key rate;", "inner.rate"),
    "inner.zzz=1": ("unknown key inner.zzz;", "rate, limit, sizes, shape, cap, pair, seed"),
    "name=3": ("name = 3 ", "a text"),
    "members.a.parts={share = 1}": ("members.a.parts = a group of keys ", "a list of groups of keys"),
    "members.a.parts=[{}, {share = 0}]": ("members.a.parts.1.share = 0 ", "a number above 0"),
    "members.a.rank=high": ('members.a.rank = "high" ', 'a whole number or "off"'),
    "count=0": ("count = 0 ", "a whole number at least 1"),
    "count=1.0": ("count = 1.0 ", "a whole number at least 1"),
    "count=true": ("count = true ", "a whole number at least 1"),
    "fast=1": ("fast = 1 ", "true or false"),
    'fast="True"': ('fast = "True" ', "true or false"),
    "inner.rate=0": ("inner.rate = 0 ", "a number above 0, at most 1"),
    "inner.rate=nan": ("inner.rate = nan ", "a number above 0, at most 1"),
    "inner.limit=of": ('inner.limit = "of" ', 'a number at least 0 or "off"'),
    "inner.rate=off": ('inner.rate = "off" ', "a number above 0, at most 1"),
    "inner.shape=cube": ('inner.shape = "cube" ', "one of ring, disc"),
    "inner.sizes=3": ("inner.sizes = 3 ", "a list of whole numbers"),
    'inner.sizes=[1, "b"]': ('inner.sizes.1 = "b" ', "a list of whole numbers"),
    "inner.cap=0": ("inner.cap = 0 ", 'a whole number at least 1 or "off"'),
    "inner.pair=[1, 2, 3]": ("inner.pair = [1, 2, 3] ", "a list of 2 numbers"),
    "inner.seed=clok": ('inner.seed = "clok" ', "a whole number or one of clock"),
    "inner=3": ("inner = 3 ", "a group of keys"),
}


@pytest.mark.parametrize("typed", REFUSED)
def test_refusals(typed: str) -> None:
    begins, allowed = REFUSED[typed]
    line = refusal({"name": "x"} | parse_overrides([typed]))
    assert line.startswith(begins)
    assert line.endswith((allowed, f"{allowed}?"))


def test_a_missing_key_a_second_problem_and_a_key_with_a_dot_are_named() -> None:
    assert refusal({}).startswith("name is missing")
    assert "1 more" in refusal({"name": "x", "count": 0, "fast": 1})
    assert refusal({"name": "x", "members": {"a.b": {"parts": 3}}}).startswith("members.a.b.parts = 3 ")


def test_whole_numbers_lists_and_off_are_taken() -> None:
    settings = build(Outer, {"name": "x", "inner": {"rate": 1, "limit": "off", "sizes": [4]}}, "test")
    assert settings.inner == Inner(rate=1.0, limit=None, sizes=(4,))
    assert isinstance(settings.inner.rate, float)


def test_settings_never_change() -> None:
    settings = Outer(name="x")
    with pytest.raises(pydantic.ValidationError):
        settings.count = 4  # type: ignore[misc]


@pytest.mark.parametrize(
    ("pairs", "nested"),
    [
        (["a=1"], {"a": 1}),
        (["a.b=1e-3", "a.c=true"], {"a": {"b": 1e-3, "c": True}}),
        (["a=survival/1v1-heals-low"], {"a": "survival/1v1-heals-low"}),
        (["a=my.package:Net"], {"a": "my.package:Net"}),
        (['a="3"'], {"a": "3"}),
        (["a=[1, 2.5]", 'b={ c = "d" }'], {"a": [1, 2.5], "b": {"c": "d"}}),
        (["a=b=c"], {"a": "b=c"}),
        (["a=1", "a=2"], {"a": 2}),
        (["a=2024-01-01"], {"a": "2024-01-01"}),
        (["a=1\nb=2"], {"a": "1\nb=2"}),
        ([" a.b = off "], {"a": {"b": "off"}}),
    ],
)
def test_overrides(pairs: list[str], nested: dict[str, Any]) -> None:
    assert parse_overrides(pairs) == nested


def test_merge_keeps_both_sides_and_changes_neither() -> None:
    base, over = {"a": {"b": 1, "c": 2}, "d": 3}, {"a": {"c": 5}, "d": {"e": 6}}
    assert merge(base, over) == {"a": {"b": 1, "c": 5}, "d": {"e": 6}}
    assert (base, over) == ({"a": {"b": 1, "c": 2}, "d": 3}, {"a": {"c": 5}, "d": {"e": 6}})


def test_changed_settings_are_checked_again() -> None:
    settings = Outer(name="x", inner=Inner(limit=None))
    assert changed(settings, {"inner": {"rate": 1}}, "run") == Outer(
        name="x", inner=Inner(limit=None, rate=1.0)
    )
    with pytest.raises(UserError, match=r"run: inner\.rate = 2 is not allowed"):
        changed(settings, {"inner": {"rate": 2}}, "run")


def test_toml_explains_each_value() -> None:
    text = to_toml(Outer(name="x"))
    assert "rate = 0.5  # Share per step.\n" in text
    assert "[inner]\n" in text


texts = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0")
)  # refused: it ends names of files
scalars = st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | texts
trees = st.recursive(scalars, lambda inside: st.lists(inside) | st.dictionaries(texts, inside), max_leaves=8)


@given(
    name=texts,
    options=st.dictionaries(texts, trees),
    limit=st.none() | st.floats(0, 1e300),
    sizes=st.lists(st.integers(-(2**63), 2**63 - 1)),
)
def test_toml_and_json_keep_every_value(
    tmp_path_factory: pytest.TempPathFactory, name, options, limit, sizes
) -> None:
    settings = Outer(name=name, options=options, inner=Inner(limit=limit, sizes=tuple(sizes)))
    path = tmp_path_factory.getbasetemp() / "round.toml"
    path.write_bytes(to_toml(settings).encode())
    assert from_toml(path, Outer) == settings
    assert Outer.model_validate_json(settings.model_dump_json()) == settings


def test_what_toml_lacks_is_refused() -> None:
    with pytest.raises(UserError, match="of bytes is no setting"):
        to_toml(Outer(name="x", options={"a": b"raw"}))


def test_settings_load_nothing_heavy() -> None:
    code = "import interplay.core.settings, sys; print([m for m in ('numba', 'jax', 'rich') if m in sys.modules])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"
