"""Pages of `fleetc explain` for messages of rollouts: the journal, and refusals of hosts.

In: nothing; this is a table. Out: pages by code.
"""

from __future__ import annotations

from fleetc.messages.pages.page import Page

ROLLOUT_PAGES: dict[str, Page] = {
    "clock-differs": Page(
        "The clock of a host differs from that of the machine that deploys by a minute or more.",
        "times in the journal and in logs of that host are wrong, and TLS and payments may fail. The timers of a "
        "rollout count seconds of the kernel, so they are right.",
        "Run a time service on the host, such as systemd-timesyncd or chrony.",
    ),
    "host-unreachable": Page(
        "A host could not be asked.",
        "what it lacks or runs is unknown.",
        "Correct its address, its host key or the network, then ask again.",
    ),
    "journal-busy": Page(
        "Another rollout of this fleet is on its way, with the same journal.",
        "two rollouts at once would leave hosts of two releases.",
        "Wait for its end. A rollout that dies lets go of the journal by itself, however it dies.",
    ),
    "journal-damaged": Page(
        "A line of the journal was changed, removed or moved. Each line is bound to the one before by a digest.",
        "the journal has the addresses of hosts that left the spec, and which may still run nodes.",
        "Restore the file from a copy. Without one, move it away: hosts that left the spec before are then unknown, so "
        "look at them yourself. A last line that was torn by a crash is no damage: it is dropped, with a note.",
    ),
    "journal-in-checkout": Page(
        "The directory of the journal is inside the checkout with the spec.",
        "a rollout logs in to the hosts that its journal names, so no pull request may write it.",
        "Name a directory elsewhere with --journal, FLEETC_JOURNAL or XDG_STATE_HOME. In CI, use one that outlives the "
        "job, such as a volume of the runner.",
    ),
    "journal-newer": Page(
        "Another version of fleetc wrote the journal.",
        "this one could misread what runs where.",
        "Use the fleetc that wrote it.",
    ),
    "journal-not-written": Page(
        "A line could not be added to the journal.",
        "fleetc records a change in the journal before it touches a host.",
        "Make room on the disk, or name another directory with --journal, and deploy again.",
    ),
    "journal-other-fleet": Page(
        "The journal belongs to another fleet.",
        "the hosts of one fleet must not be retired for another.",
        "Name the directory with the journal of this fleet: --journal DIR. A fleet that was renamed has a new journal.",
    ),
    "journal-unreadable": Page(
        "The journal cannot be opened, or is too large.",
        "without it fleetc does not know which hosts left the spec.",
        "Give yourself access to it, or name another directory with --journal.",
    ),
}
