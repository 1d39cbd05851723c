"""The overlays of this package: what the agents of `mmo` know, do and live through; `lifetimes.overlays` lists them."""
