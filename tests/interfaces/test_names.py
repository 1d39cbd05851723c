"""Names of other packages and of published code (specification interfaces 10)."""

from __future__ import annotations

import logging
from importlib.metadata import EntryPoint

import pytest
from gymnasium import spaces

from interplay.core.errors import UserError
from interplay.interfaces import Interface, from_settings, list_interfaces, names, register, to_settings
from interplay.interfaces.agents import AgtIntWrapper, AgtItfWrapper
from interplay.interfaces.environment import EnvIntWrapper, EnvItfWrapper
from interplay.interfaces.names import find_interface


class Neighbour(Interface):
    """Of another package."""

    def __init__(self, inner=None, by=1):
        super().__init__(inner)
        self.by = by


@pytest.fixture
def entry_points(monkeypatch):
    """Sets what neighbours declare."""

    def declare(**values):
        found = [EntryPoint(name, value, names.ENTRY_POINTS) for name, value in values.items()]
        monkeypatch.setattr(names.metadata, "entry_points", lambda group: found)
        vars(names._INTERFACES).pop("installed", None)

    yield declare
    monkeypatch.undo()
    vars(names._INTERFACES).pop("installed", None)


def test_an_entry_point_joins_and_can_be_stored(entry_points):
    entry_points(Neighbour="tests.interfaces.test_names:Neighbour")
    assert "Neighbour" in list_interfaces()
    settings = [{"name": "Neighbour", "by": 3}]
    stack = from_settings([*settings, "ConcatVec"])
    assert type(stack.inner) is Neighbour
    assert to_settings(stack)[0] == settings[0]
    stack.setup(spaces.Box(0, 1, (2,)), spaces.Discrete(2))
    with pytest.raises(UserError, match="'Neighbour' is taken"):
        register(type("Neighbour", (Interface,), {}))
    with pytest.raises(UserError, match="Neighbour"):
        find_interface("Neighbor")


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("Broken", "tests.interfaces.nowhere:Broken", "does not load"),
        ("Other", "tests.interfaces.test_names:Neighbour", "no interface of that name"),
        ("EntryPoint", "importlib.metadata:EntryPoint", "no interface of that name"),
    ],
)
def test_a_broken_neighbour_is_one_sentence_when_it_is_asked_for(entry_points, name, value, message):
    entry_points(**{name: value})
    assert name in list_interfaces()  # listing loads nobody
    with pytest.raises(UserError, match=message):
        find_interface(name)
    assert from_settings(["ConcatVec"]) is not None


def test_an_entry_point_cannot_take_a_name_of_ours(entry_points, caplog):
    with caplog.at_level(logging.WARNING, "interplay"):
        entry_points(FrameStack="tests.interfaces.test_names:Neighbour")
        assert find_interface("FrameStack").__module__ == "interplay.interfaces.generic.frames"
        list_interfaces()
    assert [record.getMessage() for record in caplog.records] == [
        "entry point FrameStack = tests.interfaces.test_names:Neighbour: the name is taken; ignored"
    ]


def test_names_of_published_code_are_ours():
    assert AgtIntWrapper is AgtItfWrapper
    assert EnvIntWrapper is EnvItfWrapper
    for name in ("ActMaskObs", "AttrObs", "Rotate"):
        assert find_interface(f"{name}Int") is find_interface(f"{name}Itf")
    stack = from_settings(["RotateInt"])
    assert to_settings(stack) == [{"name": "RotateItf"}]
