"""Tables of refusals: a case is a call with its arguments, and the name or value that its error has."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from interplay.core.errors import UserError
from interplay.core.policy import RandomPolicy


class Silent(RandomPolicy):
    """Must not act: refusals come before play."""

    def act(self, timestep: Any) -> Any:
        pytest.fail("it acted")


def case(key: str, call: Callable[..., object], *args: Any, error: Any = UserError, **given: Any) -> Any:
    """A row for ``@pytest.mark.parametrize(("call", "key", "error"), ...)``."""
    return pytest.param(partial(call, *args, **given), key, error, id=key)


def refuses(call: Callable[[], object], key: str, error: Any) -> str:
    """The line of the error."""
    with pytest.raises(error, match=key) as caught:
        call()
    line = str(caught.value)
    assert "\n" not in line
    return line
