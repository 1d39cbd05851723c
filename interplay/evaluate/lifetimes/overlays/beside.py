"""One overlay of several homes as one picture: a row of panels for each, on one colour scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from interplay.core.errors import UserError
from interplay.evaluate.lifetimes.overlays.layers import Layer, OverlayData


def side_by_side(found: Mapping[str, OverlayData]) -> OverlayData:
    """Combines the data of one overlay for several homes.

    Args:
        found: home -> data, in display order.

    Returns:
        All layers, named and titled with their homes; layers of one form and scale share their limits. Rows begin with the home. A home
        is a row of panels if all homes have equally many.
    """
    names = list(dict.fromkeys(data.name for data in found.values()))
    if len(names) != 1:
        raise UserError(
            f"{' and '.join(names)} are different overlays; set findings of one beside each other"
        )
    limits = _common_limits([layer for data in found.values() for layer in data.layers])
    layers = tuple(
        replace(
            layer,
            name=f"{home}.{layer.name}",
            title=f"{home}: {layer.title}",
            limits=limits.get((layer.form, layer.scale)),
        )
        for home, data in found.items()
        for layer in data.layers
    )
    first = next(iter(found.values()))
    titles, counts = ({data.title for data in found.values()}, {len(data.layers) for data in found.values()})
    return OverlayData(
        first.name,
        first.title if len(titles) == 1 else f"{first.name} of {', '.join(found)}",
        layers,
        {f"{home}.{key}": array for home, data in found.items() for key, array in data.arrays.items()},
        ("home", *first.columns),
        tuple((home, *row) for home, data in found.items() for row in data.rows),
        counts.pop() if len(counts) == 1 else 0,
    )


def _common_limits(layers: Sequence[Layer]) -> dict[tuple[str, str], tuple[float, float]]:
    """(form, scale) -> least and greatest limits."""
    found: dict[tuple[str, str], tuple[float, float]] = {}
    for layer in layers:
        if layer.limits is not None:
            low, high = found.get((layer.form, layer.scale), layer.limits)
            found[layer.form, layer.scale] = min(low, layer.limits[0]), max(high, layer.limits[1])
    return found
