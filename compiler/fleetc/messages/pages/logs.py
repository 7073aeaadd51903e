"""Pages of `fleetc explain` for findings of `diagnose` in several log lines, and for logs that it cannot read.

In: nothing; this is a table. Out: pages by code. Each error pattern of one line has its page in `upstream/signatures/`.
"""

from __future__ import annotations

from fleetc.messages.pages.page import Page

LOG_PAGES: dict[str, Page] = {
    "gateway-has-no-funds": Page(
        "A gateway finds no orchestrator, and its payments fail.",
        "with a deposit or reserve of zero, a gateway silently drops every orchestrator. Only a log at verbosity 5 has "
        "the reason.",
        "Fund deposit and reserve of its wallet on the chain, in menu item 11 of livepeer_cli: funds that were only "
        "bridged are no deposit.",
    ),
    "gateway-cap-below-every-price": Page(
        "A gateway finds no orchestrator: all ask more than its cap.",
        "it drops each as too expensive, and the stream or the request fails.",
        "Raise max_price or max_model_prices of the gateway; fleetc check --explain-prices shows who asks what of it.",
    ),
    "log-compression-unknown": Page(
        "A log is compressed by zstd, which this Python cannot read.",
        "Python reads it from release 3.14 on; before, fleetc needs the package backports.zstd.",
        'Install fleetc with it, pip install "fleetc[zstd]", or decompress the log and give it on standard input.',
    ),
    "log-cut-off": Page(
        "A log ends too early: its compressed data is damaged or cut off.",
        "what stood behind that place was not read, so that findings may be missing.",
        "Copy the log again.",
    ),
    "log-not-a-file": Page(
        "A log is not there, or is a directory or a disk.",
        "fleetc reads logs from files, pipes and standard input.",
        "Name the files with the logs, - for standard input, or HOST/NODE for the log of a node of the spec.",
    ),
    "log-not-fetched": Page(
        "A host did not give the log of a node.",
        "nothing can be said about that node.",
        "See what the host said; without a rollout it has no such node.",
    ),
    "log-not-understood": Page(
        "A log has errors that fleetc cannot explain.",
        "nobody knows whether they matter: they are no sign of health, and none of a fault.",
        "Read them in the report, the most frequent first. Where the source of the node has the call, its place and "
        "what it does stand beside it.",
    ),
    "log-times-jump": Page(
        "The times in a log go back.",
        "the clock of the host was set, or the logs of several nodes are mixed; rates and spans are then not exact.",
        "Look at the time service of the host if it was not you who mixed them.",
    ),
    "node-ended": Page(
        "A node ended, by its own words, those of a panic, of systemd, Docker or the kernel; or it started again "
        "without a word.",
        "what runs on it stops; a unit or a container starts it again, and it may end for the same reason.",
        "Mend what its last words name, and the error before them; without words it was killed, or the machine "
        "stopped: see the journal of the host at that time.",
    ),
    "ticket-params-always-expired": Page(
        "Ticket parameters expire all the time.",
        "now and then that is normal. All the time it means that the node sees old blocks: its RPC is behind, so that "
        "each payment is refused.",
        "Use another RPC in [fleet], or wait until its provider has caught up; a rollout asks for its newest block.",
    ),
}
