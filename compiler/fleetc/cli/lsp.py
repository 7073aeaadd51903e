"""`fleetc lsp`: the language server, which editors start.

In: requests on standard input. Out: answers on standard output; without the package that speaks the protocol, what to
install.
"""

from __future__ import annotations

from importlib.util import find_spec

from fleetc.cli.output import wrong_usage


def lsp() -> None:
    """Answer an editor: diagnostics, fixes, hover, completion, rename and more, as you type.

    Editors start it themselves and speak with it on standard input and output; README.md has their settings.
    """
    if find_spec("pygls") is None:
        wrong_usage("the language server needs the package pygls: pip install 'fleetc[lsp]'")
    from fleetc.cli.lsp_server import server

    server().start_io()
