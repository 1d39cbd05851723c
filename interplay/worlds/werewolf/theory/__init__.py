"""What can be computed exactly: beliefs about the wolves, odds under random play."""
