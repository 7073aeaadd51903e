"""`fleetc lsp`: the language server, which editors start.

In: requests on standard input. Out: answers on standard output; without the package that speaks the protocol, what to
install.
"""

from __future__ import annotations

import gc
import os
from importlib.util import find_spec

from fleetc.cli.shared.output import wrong_usage


def lsp() -> None:
    """Answer an editor: diagnostics, fixes, hover, completion, rename and more, as you type.

    Editors start it and speak with it on standard input and output; "In your editor" in the guide has their settings.
    """
    if find_spec("pygls") is None:
        wrong_usage("the language server needs the package pygls: pip install 'fleetc[lsp]'")
    import logging

    from fleetc.cli.editor import features
    from fleetc.cli.editor.server import Server, follow

    gc.freeze()  # what is imported stays
    gc.enable()  # it lives long
    gc.set_threshold(50_000)  # an answer about a large fleet makes as many objects, and no cycles
    if not os.environ.get("FLEETC_DEBUG"):
        logging.disable(logging.CRITICAL)  # its records hold texts of the spec
    with os.fdopen(os.dup(0), "rb") as requests, os.fdopen(os.dup(1), "wb") as answered:
        os.dup2(2, 1)  # other prints do not disturb the protocol
        server = Server()
        follow(server)
        features.register(server)
        server.start_io(requests, answered)
