"""Pictures and videos drawn from a world's scene."""
