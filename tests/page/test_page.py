"""The page's own tests, in a browser where there is one, and the bars of what it draws."""

import os

import pytest

from tests.page.run import main, missing

pytestmark = pytest.mark.slow


@pytest.mark.timeout(900)
def test_the_page_does_what_its_own_tests_say():
    if (reason := missing()) and os.environ.get("PAGE_REQUIRED") != "1":
        pytest.skip(f"the page was not tested: {reason}")
    assert main([]) == 0
