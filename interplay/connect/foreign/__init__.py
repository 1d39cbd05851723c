"""Somebody else's environments inside a batch: how their data is laid out, stepped, and spread over processes."""
