"""The kernels equal the slow twin, in every variant, with quirks and with other rewards; ordinary games and crowded ones.

``python -m bench.pommerman_beside`` is the same for 100,000 steps of each variant.
"""

import pytest

from interplay.worlds.pommerman.config import VARIANTS, PommermanSettings
from tests.worlds.pommerman.pair import march

pytestmark = pytest.mark.slow

EXTRA = {
    "as it is": {},
    "quirks": {"classic_quirks": True},
    "zero-sum": {"reward": "zero_sum"},
    "weights": {"reward_weights": (1.0, 0.2, 0.2, 0.1, 0.1, 0.1)},
}
STEPS = 600


@pytest.mark.parametrize("extra", EXTRA)
@pytest.mark.parametrize("variant", VARIANTS)
def test_kernels_equal_the_twin(variant, extra):
    soon = {"collapse": 30, "limit": 90} if "collapse" in VARIANTS[variant] else {}
    settings = PommermanSettings(**{**VARIANTS[variant], **soon, **EXTRA[extra]})
    assert march(settings, STEPS) > 5
    assert march(settings, STEPS, crowded=True) > 10


@pytest.mark.parametrize(
    "options",
    [{"size": 8, "players": 2, "rigid": 0, "wood": 0, "items": 0, "fog": 2}, {"size": 14, "limit": 25}],
)
def test_kernels_equal_the_twin_on_other_boards(options):
    assert march(PommermanSettings(**options), STEPS, crowded=True) > 5
