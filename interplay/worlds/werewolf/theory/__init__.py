"""Exact results: beliefs about the wolves, odds under random play."""
