"""Overlays of `mmo`; `lifetimes.overlays` registers them."""
