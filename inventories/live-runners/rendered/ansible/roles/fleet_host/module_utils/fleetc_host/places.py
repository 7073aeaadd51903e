"""Where things lie on a host, and how a request is refused.

In: nothing. Out: paths, names, and RefusedError.

    /opt/fleetc/releases/<digest>.<n>/<node>/   the files of a node, its secrets in a directory for root
    /opt/fleetc/current/<node>                  the link to the release that the node runs, which carries unit, files,
                                                environment and secrets; it only moves while the node is stopped, or
                                                once the node has taken all that changes while it runs
    /etc/fleetc/<node>                          a link to the secrets behind that link
    /opt/fleetc/programs/<digest>/livepeer      the node's programs that the spec names, by the digest it gives
    /var/lib/fleetc/                            what runs, what is being switched, and the journal

Every absolute path that this program uses is named here.
"""

from __future__ import annotations

from typing import Any

from .steps import STACK

FORMAT = 1
"""Version of requests and answers."""

ROOT = "/opt/fleetc"
RELEASES = ROOT + "/releases"
CURRENT = ROOT + "/current"
PROGRAM = ROOT + "/host/fleetc_host.pyz"
PROGRAMS = ROOT + "/programs"
INCOMING = PROGRAMS + "/.incoming"
SECRETS = "/etc/fleetc"
UNITS = "/etc/systemd/system"
ETC = "/etc"
RUN = "/run"
BOOTED = "/run/systemd/system"
"""There where systemd runs the host."""
STATE = "/var/lib/fleetc"
MARKERS = STATE + "/running"
LIVE = STATE + "/live"
TAKEN = STATE + "/taken"
SWITCH = STATE + "/switch.json"
JOURNAL = STATE + "/journal.jsonl"
RECORD = STATE + "/state.json"
QUARANTINE = STATE + "/quarantine.json"
CLAIM = STATE + "/claim.json"
NEWEST_PLAN = STATE + "/newest-plan"

STACK_MARKERS = STATE + "/" + STACK
STACK_FILES = CURRENT + "/" + STACK
NFT = "/usr/sbin/nft"
PROFILE = "/etc/profile.d/fleetc-avatar.sh"
SYSCTL = "/etc/sysctl.d/60-fleetc-avatar.conf"
RESERVED = "/proc/sys/net/ipv4/ip_local_reserved_ports"
POWER = "/var/lib/vtuber/power-state"
DOCKER_SOCKET = "/var/run/docker.sock"

BOOT_UNIT = "fleetc-host.service"
FIREWALL_UNIT = "fleetc-avatar-firewall.service"
TIMER = "fleetc-revert"
WORKER = "fleetc-switch"

Json = dict[str, Any]


class RefusedError(Exception):
    """A request that is not carried out. `code` is stable; the message says what to do; `facts` are for the asker."""

    def __init__(self, code: str, message: str, **facts: Any) -> None:
        super().__init__(message)
        self.code, self.facts = code, facts
