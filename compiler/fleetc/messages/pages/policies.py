"""Pages about the rules beside a spec, in `policy/`: their own findings have their docstring as page.

In: nothing. Out: `POLICY_PAGES`.
"""

from __future__ import annotations

from fleetc.messages.pages.page import Page

POLICY_PAGES: dict[str, Page] = {
    "policy-invalid": Page(
        "A file in policy/ cannot be a rule.",
        "A rule is one file, policy/NAME.star, with a function check(fleet), change(base, head), or both. Its name is "
        "its code, policy/NAME.",
        'Name the file with small letters, digits and hyphens. Write def check(fleet): return [finding("fleet.name", '
        '"what is wrong")]. `fleetc policy add` copies ready rules.',
    ),
    "policy-failed": Page(
        "A rule in policy/ does not run to its end, or returns no valid finding.",
        "Nothing is known then about what it would have found, so that nothing is compiled. A rule is Starlark: there "
        "is no import, no while, no file, and no clock. A finding needs a place that the spec has, or a key that "
        "a table of it could have.",
        "Repair the line that the message names. Where a key may be absent, ask with get: "
        'gateway.get("max_price"). `fleetc policy test` tries the rule on its examples.',
    ),
    "policy-limit": Page(
        "A rule in policy/ takes more steps, memory, time or depth than a rule may.",
        "A pull request may bring any rule, and its check must end. Rules run in a process of their own: 100 million "
        "steps, 256 MiB of memory besides ten times the size of what it sees, and 100 calls within calls.",
        "Go through each list once: make a dict of one list by name and look into it, instead of one loop in another.",
    ),
    "policy-unreadable": Page(
        "policy/, or a file in it, is not what a rule can be read from.",
        "fleetc reads at most 100 regular files of at most 64 KiB. It reads no links: they may lead out of the "
        "checkout.",
        "Put the file itself into policy/, and split what is larger.",
    ),
}
"""By code."""
