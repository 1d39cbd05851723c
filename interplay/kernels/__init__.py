"""Compiled kernels that several worlds use."""
