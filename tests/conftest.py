"""What holds for the whole suite: the same examples of Hypothesis in every run, and a folder of its own for keys.

A test that draws other examples each time fails on sound code now and then, in somebody else's change. To look for new
counterexamples: ``make test ARGS="--hypothesis-profile=searching"``; what it finds becomes a test of its own.
"""

from __future__ import annotations

import os
import tempfile

from hypothesis import Phase, settings

# No deadline: the first example compiles kernels, and the machine has other work too.
settings.register_profile("same", derandomize=True, database=None, deadline=None)
settings.register_profile("searching", deadline=None, print_blob=True)
# Planted slips are noticed, not explained: nobody reads the smallest example (`tests/mutants`).
settings.register_profile("noticing", settings.get_profile("same"), phases=(Phase.explicit, Phase.generate))
settings.load_profile("same")

_data = tempfile.TemporaryDirectory(prefix="interplay-data-")  # removed when the process ends
os.environ["XDG_DATA_HOME"] = _data.name  # the user's own keys are left alone
