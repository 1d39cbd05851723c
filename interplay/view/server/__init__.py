"""The server of the page: recordings, curves, ratings and live sessions on one port (docs/specs/viewer.md 6, 7, 11)."""
