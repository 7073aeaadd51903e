"""fleetc lsp over the real protocol: what it shows is what check says, at every rest."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.assist.editing import Editor
from tests.support import INVENTORIES

pytestmark = [pytest.mark.usefixtures("processes"), pytest.mark.asyncio]


async def test_a_mistake_is_shown_while_it_is_there(editor: Editor, root: Path, tmp_path: Path) -> None:
    shutil.copy(INVENTORIES / "two-regions" / "fleet.toml", root)
    editor.open("fleet.toml")
    await editor.rest()
    assert editor.diagnostics() == editor.checked(tmp_path / "twin")
    editor.edit("fleet.toml", '"1500 wei / pixel"', '"1000 wei / pixel"')
    await editor.rest()
    assert editor.diagnostics() == editor.checked(tmp_path / "twin")
    assert [one[3] for one in editor.diagnostics()] == ["gateway-price-admits-nobody"]
