"""The language server: one editor, its open files, and their problems.

In: requests of an editor on standard input. Out: answers on standard output, which nothing else writes to. It starts no
program, and reads only what `fleetc check` would read.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.exceptions import FeatureRequestError
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, lsp_method

from fleetc.assist.page import Page
from fleetc.assist.state import caused
from fleetc.cli.editor import wire
from fleetc.cli.editor.desk import Desk, Work
from fleetc.cli.editor.projects import Project
from fleetc.cli.editor.wire import Ruler, guarded, path_of, uri_of
from fleetc.policy.source import FOLDER, SUFFIX
from fleetc.version import __version__


class Protocol(LanguageServerProtocol):
    """The protocol without the copy of each text that pygls keeps, which it divides into lines at each key press."""

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> Iterator[Any]:
        """Remember the version, and hand on the change."""
        self.workspace.get_text_document(params.text_document.uri).version = params.text_document.version
        yield self.fm.features[types.TEXT_DOCUMENT_DID_CHANGE], (params,), None


class Server(LanguageServer):
    """One editor and its open files."""

    def __init__(self) -> None:
        super().__init__("fleetc", __version__, protocol_cls=Protocol, converter_factory=wire.converter)
        self.desk = Desk(self.publish, self.leave)

    @property
    def ruler(self) -> Ruler:
        """How the editor counts columns."""
        return Ruler(self.workspace.position_encoding or types.PositionEncodingKind.Utf16)

    def report_server_error(self, error: Exception, source: object) -> None:
        """Report a message that could not be handled, without its texts and a traceback."""
        if source is not FeatureRequestError:
            words = f"fleetc: internal error ({type(error).__name__}); set FLEETC_DEBUG=1 to see where, and report it"
            self.window_show_message(types.ShowMessageParams(types.MessageType.Error, words))

    def publish(self, work: Work) -> None:
        """Show the findings of a check, after those with overlays, which leave out what the spec shows itself."""
        for other in self.desk.works.values() if work.project.overlay is None else ():
            if other.project.overlay is not None and other.project.spec == work.project.spec and other.rests:
                self._show(other)
        self._show(work)
        self._refresh()

    def _show(self, work: Work) -> None:
        """Show findings in their files; with an overlay, those of other files stand in it, at what may cause them."""
        project, ruler = work.project, self.ruler
        page_of = cache(partial(self.desk.page, work))
        by_file: dict[Path, list[types.Diagnostic]] = {path: [] for path in work.shown}
        by_file |= {path: [] for path in self.desk.texts if self.desk.work_of(path) is work}
        alone = self.desk.works.get(Project(project.spec)) if project.overlay is not None else None
        known = {item.key for item in alone.snapshot.located} if alone is not None else set()
        for item in work.snapshot.located:
            path = project.path_of(item.primary.file)
            if project.overlay is not None and path != project.overlay:
                if item.key in known:
                    continue
                path, page = project.overlay, self.desk.pages.get(project.overlay)
                item = caused(item, path.name, page) if page is not None else item
            by_file.setdefault(path, []).append(wire.diagnostic(item, ruler, page_of, project.path_of))
        for path, items in sorted(by_file.items(), key=lambda item: item[0] in self.desk.texts):
            version = self.workspace.get_text_document(uri_of(path)).version
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri_of(path), items, version))
        work.shown = frozenset(path for path, items in by_file.items() if items)

    def _refresh(self) -> None:
        """Have the editor ask again for what stands beside the text, if it can: it comes from the check."""
        workspace = self.client_capabilities.workspace
        if workspace and workspace.code_lens and workspace.code_lens.refresh_support:
            self.workspace_code_lens_refresh(None)
        if workspace and workspace.inlay_hint and workspace.inlay_hint.refresh_support:
            self.workspace_inlay_hint_refresh(None)

    def leave(self, path: Path) -> None:
        """Show nothing in a file any more."""
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri_of(path), []))


def follow(server: Server) -> None:
    """Put what an editor opens, types, saves and closes on the desk, where it is checked again."""

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
