"""interplay: many worlds where agents compete, cooperate and talk."""

__version__ = "0.1.0"
