"""Questions that several worlds ask, answered by compiled kernels."""
