"""Tests keep their keys in a folder of their own, and leave the user's alone."""

import os
import tempfile

_data = tempfile.TemporaryDirectory(prefix="interplay-data-")  # removed when the process ends
os.environ["XDG_DATA_HOME"] = _data.name
