"""The lines of heavy clients, which `python -m tests.integrations.run` runs, are there and are Python."""

import pytest

from tests.integrations.run import BLOCK, CLIENTS, lines_of, pages


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)
def test_the_lines_of_a_client_compile(client):
    text = lines_of(client)
    compile(text + client.checks, client.name, "exec")
    assert "interplay" in text


def test_every_block_that_no_test_runs_belongs_to_a_client():
    ours = {lines_of(client) for client in CLIENTS}
    alone = [match[2] for match in BLOCK.finditer(pages()) if match[1] == "py"]
    assert alone
    assert [text.splitlines()[0] for text in alone if text not in ours] == [
        "from gymnasium.wrappers import RecordVideo"  # needs moviepy besides
    ]
