"""What an editor opens, types, saves and closes, by the protocol.

In: notifications of an editor. Out: texts on the desk, which are checked again.
"""

from __future__ import annotations

from lsprotocol import types

from fleetc.assist.page import Page
from fleetc.cli.editor.server import Server
from fleetc.cli.editor.wire import Ruler, guarded, path_of
from fleetc.policy.source import FOLDER, SUFFIX


def register(server: Server) -> None:
    """Follow what is open."""

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    @guarded
    def opened(params: types.DidOpenTextDocumentParams) -> None:
        path = path_of(params.text_document.uri)
        if path is not None:
            server.desk.folders = tuple(filter(None, map(path_of, server.workspace.folders)))
            server.desk.put(path, params.text_document.text)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    @guarded
    def changed(params: types.DidChangeTextDocumentParams) -> None:
        """Only LF ends a line here, as in editors: pygls also divides its own copy of a text at rarer characters."""
        path = path_of(params.text_document.uri)
        page = server.desk.pages.get(path) if path is not None else None
        if path is None or page is None:
            return
        for change in params.content_changes:
            page = _changed(page, change, server.ruler)
        server.desk.put(path, page.text)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    @guarded
    def closed(params: types.DidCloseTextDocumentParams) -> None:
        path = path_of(params.text_document.uri)
        if path is not None:
            server.desk.drop(path)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    @guarded
    def elsewhere(params: types.DidSaveTextDocumentParams | types.DidChangeWatchedFilesParams) -> None:
        server.desk.sort()
        server.desk.again()

    @server.feature(types.INITIALIZED)
    @guarded
    async def ready(params: types.InitializedParams) -> None:
        """Ask the editor to report files that change outside it."""
        workspace = server.client_capabilities.workspace
        watches = workspace.did_change_watched_files if workspace is not None else None
        if watches is None or not watches.dynamic_registration:
            return
        patterns = [types.FileSystemWatcher(pattern) for pattern in ("**/*.toml", f"**/{FOLDER}/*{SUFFIX}")]
        options = types.DidChangeWatchedFilesRegistrationOptions(patterns)
        wanted = types.Registration("files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
        await server.client_register_capability_async(types.RegistrationParams([wanted]))

    @server.feature(types.SHUTDOWN)
    def ended(params: None) -> None:
        server.desk.close()


def _changed(page: Page, change: types.TextDocumentContentChangeEvent, ruler: Ruler) -> Page:
    """A text with one change, which names a stretch of it, or is the whole new text."""
    text = change.text.replace("\r\n", "\n")
    if not isinstance(change, types.TextDocumentContentChangePartial):
        return Page(text)
    start, end = ruler.offset(page, change.range.start), ruler.offset(page, change.range.end)
    return Page(page.text[:start] + text + page.text[end:])
