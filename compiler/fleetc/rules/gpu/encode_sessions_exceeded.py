"""A GPU may get more streams and avatar slots than it can encode at once.

Why: a node accepts max_sessions streams, 10 by default, and spreads them evenly over its GPUs. The driver of a consumer
GPU allows 3 to 8 encode sessions at once. Some data centre GPUs have no video encoder. Streams beyond that are accepted
and then fail with "Cannot allocate memory". If only the node's own default is too high, this is a warning: the node
starts, and few fleets ever see that many streams. Nodes and avatar slots on one GPU share its sessions. Each slot uses
`slot_encode_sessions`, one by default. A slot that names no GPU may use the sessions left on all GPUs. Each rendition
of a stream uses its own session; only one is counted here, because gateways decide about the others, so leave room for
them.

Example:

    [hosts.gpu]
    gpus = [{ model = "RTX 4090", encode_sessions = 8 }]

    [transcoders.t]
    gpus = [0]
    max_sessions = 12

Instead:

    [transcoders.t]
    gpus = [0]
    max_sessions = 4  # two renditions each
"""

from __future__ import annotations

from collections.abc import Iterator

from fleetc.analysis import capacity
from fleetc.language.fleet import Fleet
from fleetc.places.diagnostic import Diagnostic


def check(fleet: Fleet) -> Iterator[Diagnostic]:
    """Compare the streams that each listed GPU may get with its encode sessions."""
    return capacity.sessions_exceeded(fleet)
