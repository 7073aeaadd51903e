"""The guide's page about streams: its commands run as they stand there, against the stand-in."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from tests.docs.test_pages import FLEET, GUIDE, blocks
from tests.online.support import TOKEN, Api
from tests.support import fleetc

CODES = [1, 0, 0]
"""Of the three calls of fleetc."""


def test_commands_of_the_page(api: Api, tmp_path: Path) -> None:
    (fragment,) = [content for words, content in blocks(GUIDE["streams"], "toml") if "[stream_api]" in content]
    (script,) = [content for words, content in blocks(GUIDE["streams"], "sh") if words == "streams"]
    (shown,) = [content for words, content in blocks(GUIDE["streams"], "text") if words == "streams"]
    (tmp_path / "fleet.toml").write_text(FLEET + fragment.replace("https://streams.example.net/api", api.base_url))
    lines = [line.partition("#")[0].strip() for line in script.splitlines()]
    own = {"STREAM_TOKEN": TOKEN, "FLEETC_STREAM_APIS": api.base_url}
    calls = [fleetc(*line.split()[1:], cwd=tmp_path, **own) for line in lines if line.startswith("fleetc ")]
    assert [done.returncode for done in calls] == CODES, [done.stderr for done in calls]
    assert calls[0].stdout == shown
    assert "1 stream: 1 in_sync" in calls[2].stdout
    (committing,) = [line for line in lines if line.startswith("git ")]
    person = "git init -q && git config user.name a && git config user.email a@example.net && "
    subprocess.run(["bash", "-euc", person + committing], cwd=tmp_path, check=True, capture_output=True, timeout=60)
    kept = json.loads((tmp_path / "fleet.streams.json").read_text())
    assert list(kept["streams"][api.base_url]) == ["evening"]
