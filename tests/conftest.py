"""Tests keep their keys in a folder of their own, and leave the user's alone."""

import os
import tempfile

os.environ["XDG_DATA_HOME"] = tempfile.mkdtemp(prefix="interplay-data-")
