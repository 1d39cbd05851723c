"""Interfaces by name: ``from_settings([{"name": "FrameStack", "k": 4}, "PrevActObs"])``.

Interfaces of other packages join by the entry point group ``interplay.interfaces``, each entry a class under its own name::

    [project.entry-points."interplay.interfaces"]
    Mine = "my_package:Mine"
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from importlib import metadata
from typing import Any

from interplay.core.errors import UserError
from interplay.core.loading import load
from interplay.core.registry import Registry, unknown
from interplay.interfaces.arguments import parameters
from interplay.interfaces.interface import Interface

ENTRY_POINTS = "interplay.interfaces"

_BUILT_IN = {
    "Interface": "interplay.interfaces.interface:Interface",
    "Combine": "interplay.interfaces.combine:Combine",
    "PrevActObs": "interplay.interfaces.generic.history:PrevActObs",
    "MultiBinObs": "interplay.interfaces.generic.counters:MultiBinObs",
    "FrameStack": "interplay.interfaces.generic.frames:FrameStack",
    "BoxTransform": "interplay.interfaces.generic.boxes:BoxTransform",
    "Reshape": "interplay.interfaces.generic.boxes:Reshape",
    "Transpose": "interplay.interfaces.generic.boxes:Transpose",
    "Downsample": "interplay.interfaces.generic.boxes:Downsample",
    "RemoveTuple": "interplay.interfaces.generic.vectors:RemoveTuple",
    "ConcatVec": "interplay.interfaces.generic.vectors:ConcatVec",
    "ConcatObsAct": "interplay.interfaces.generic.vectors:ConcatObsAct",
    "Dict2Vec": "interplay.interfaces.generic.vectors:Dict2Vec",
    "ActMaskObsItf": "interplay.interfaces.pommerman.features:ActMaskObsItf",
    "AttrObsItf": "interplay.interfaces.pommerman.features:AttrObsItf",
    "BoardMapObs": "interplay.interfaces.pommerman.features:BoardMapObs",
    "CentredBoardObs": "interplay.interfaces.pommerman.escapes:CentredBoardObs",
    "CombineObs": "interplay.interfaces.pommerman.pairs:CombineObs",
    "EscapeMaskItf": "interplay.interfaces.pommerman.escapes:EscapeMaskItf",
    "RotateItf": "interplay.interfaces.pommerman.rotation:RotateItf",
    "Img3I2ZObsItf": "interplay.interfaces.battle.images:Img3I2ZObsItf",
    "Img5IObsItf": "interplay.interfaces.battle.images:Img5IObsItf",
    "ImgMABObsItf": "interplay.interfaces.battle.images:ImgMABObsItf",
    "ImgActItf": "interplay.interfaces.battle.orders:ImgActItf",
    "ImgMABActItf": "interplay.interfaces.battle.orders:ImgMABActItf",
    "PongDiscreteAct": "interplay.interfaces.pong:PongDiscreteAct",
    "PongImageObs": "interplay.interfaces.pong:PongImageObs",
    "PongPreprocess": "interplay.interfaces.pong:PongPreprocess",
}
_log = logging.getLogger("interplay")
_PLAIN = (bool, int, float, str, type(None))


def register(kind: type[Interface]) -> type[Interface]:
    """Registers an interface class by its name, in this process; also a class decorator."""
    _INTERFACES.add(kind.__name__, kind)
    return kind


def list_interfaces() -> tuple[str, ...]:
    """The names that settings may use."""
    return tuple(sorted(_INTERFACES.all()))


def find_interface(name: str) -> type[Interface]:
    """The class of a name; a name that ends in ``Int``, as in published code, is that in ``Itf``."""
    if name.endswith("Int") and f"{name[:-3]}Itf" in _BUILT_IN:
        name = f"{name[:-3]}Itf"
    found = _INTERFACES.find(name)
    if isinstance(found, metadata.EntryPoint):
        return _entered(found)
    kind: type[Interface] = load(found) if isinstance(found, str) else found
    return kind


def _installed() -> Mapping[str, Any]:
    """Paths of built-in interfaces, and entry points; the first to give a name keeps it."""
    found: dict[str, Any] = dict(_BUILT_IN)
    for entry in metadata.entry_points(group=ENTRY_POINTS):
        if entry.name in found:
            _log.warning("entry point %s = %s: the name is taken; ignored", entry.name, entry.value)
        else:
            found[entry.name] = entry
    return found


_INTERFACES: Registry[Any] = Registry("interface", _installed)


def _entered(entry: metadata.EntryPoint) -> type[Interface]:
    try:
        kind = entry.load()
    except Exception as error:  # whatever a neighbour's module raises
        raise UserError(
            f"interface {entry.name!r}: {entry.value} does not load ({type(error).__name__}: {str(error).partition(chr(10))[0]}); fix or uninstall its package"
        ) from error
    if not (isinstance(kind, type) and issubclass(kind, Interface) and kind.__name__ == entry.name):
        raise UserError(
            f"interface {entry.name!r}: {entry.value} is no interface of that name; its entry point names a class as the class is called"
        )
    return kind


def from_settings(settings: Sequence[Any] | None) -> Interface | None:
    """A stack from plain data.

    Args:
        settings: the interfaces, the innermost first; each a name, or a mapping of ``name`` and arguments. Children of a
            Combine are such lists, or None. No interfaces, or None, is None.

    Example:
        >>> from_settings([{"name": "FrameStack", "k": 2}, "ConcatVec"])
        FrameStack(k=2) -> ConcatVec()
    """
    if settings is None:
        return None
    if isinstance(settings, str | Mapping) or not isinstance(settings, Sequence):
        raise UserError(f"interfaces = {settings!r}: a list of interfaces belongs here, the innermost first")
    stack: Interface | None = None
    for one in settings:
        stack = _made(one, stack)
    return stack


def to_settings(stack: Interface | None) -> list[dict[str, Any]]:
    """Plain data, storable as JSON or TOML, from which `from_settings` makes the same stack, unbound."""
    return [] if stack is None else [_settings_of(one) for one in stack.chain]


def _made(one: Any, inner: Interface | None) -> Interface:
    if isinstance(one, str):
        one = {"name": one}
    if not isinstance(one, Mapping) or not isinstance(one.get("name"), str):
        raise UserError(
            f"interfaces: {one!r} is neither a name nor a mapping with one; write for example {{name: FrameStack, k: 4}}"
        )
    kind = find_interface(one["name"])
    given = {key: value for key, value in one.items() if key != "name"}
    first, *known = [parameter.name for parameter in parameters(kind)]
    for key in given:
        if key not in known:
            raise UserError(f"interface {one['name']}: {unknown('argument', str(key), known)}")
    if "children" in given:
        given["children"] = [from_settings(child) for child in given["children"]]
    try:
        return kind(**{first: inner}, **given)
    except (TypeError, ValueError) as error:
        if isinstance(error, UserError):
            raise
        raise UserError(f"interface {one['name']}: {error}; fix its arguments") from None


def _settings_of(one: Interface) -> dict[str, Any]:
    name = type(one).__name__
    if name not in list_interfaces() or find_interface(name) is not type(one):
        raise UserError(f"{name}: settings cannot name it; register the class (interfaces.register)")
    return {"name": name} | {key: _plain(name, key, value) for key, value in one.configuration().items()}


def _plain(name: str, key: str, value: Any) -> Any:
    if key == "children":
        return [None if child is None else to_settings(child) for child in value]
    if isinstance(value, tuple | list):
        return [_plain(name, key, part) for part in value]
    if isinstance(value, _PLAIN):
        return value
    raise UserError(f"{name}: {key} = {value!r} is no plain data, so no settings hold it; name it instead")
