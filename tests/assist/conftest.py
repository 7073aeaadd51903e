"""A real editor's client that has started the real server, over the real protocol."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
import pytest_lsp
from lsprotocol import types
from pytest_lsp import ClientServerConfig, LanguageClient

from tests import forked
from tests.assist.editing import Editor

_SERVER = ClientServerConfig(server_command=[])


@pytest.fixture(autouse=True)
def server(request: pytest.FixtureRequest) -> None:
    """The program that a client starts."""
    if "client" in request.fixturenames:
        _SERVER.server_command[:] = [str(forked.program()), "lsp"]


@pytest_lsp.fixture(config=_SERVER)  # type: ignore[untyped-decorator]
async def client(lsp_client: LanguageClient) -> AsyncIterator[None]:
    yield
    await lsp_client.shutdown_session()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Where the fleet of a test lies: a URI writes its name in another way."""
    (tmp_path / "my fleet").mkdir()
    return tmp_path / "my fleet"


@pytest_asyncio.fixture
async def editor(client: LanguageClient, root: Path) -> Editor:
    capabilities = pytest_lsp.client_capabilities("visual_studio_code")
    folder = types.WorkspaceFolder(root.as_uri(), "fleet")
    await client.initialize_session(
        types.InitializeParams(capabilities, root_uri=root.as_uri(), workspace_folders=[folder])
    )
    return Editor(client, root)
