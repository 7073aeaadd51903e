"""Words of a page by which people say that a block of commands does not run any more.

In: a line of prose, or a heading. Out: the words of it that say so. Only what can mean nothing else counts: a box may
be called old-box, and what stands below "-broadcaster is deprecated, use this" runs.
"""

from __future__ import annotations

import re

_PAST = r"(?:old|obsolete|deprecated|archived?|outdated|retired|decommissioned)"
_END = r"(?=\s*(?:$|[:.,;!]))"
_MONTH = r"(?:[a-z]{3,9}\.? )?(?:\d\d?[-/.])?"
_SAYS = re.compile(
    rf"^(?:{_PAST}|archives){_END}"
    r"|^(?:(?:the|my|our) )?old (?:commands?|notes?|setups?|set-ups?|config(?:uration)?s?|versions?|way|stuff)"
    r"(?=\s*(?:$|[:(]))"
    rf"|\({_PAST}(?=[,;)])"
    r"|\b(?:is|are) (?:now )?(?:obsolete|deprecated|archived|outdated|retired|decommissioned)(?=\s*[:.!]*$)"
    rf"|\b(?:do not|don['’]t|never) use(?: (?:it|this|that|these|them))?(?: any ?more| any longer| again)?"
    r"(?=\s*(?:$|[:.,;!()–—]))"
    r"|\b(?:not|no longer) (?:in use|used|running|runs)(?: any ?more| any longer| now)?(?=\s*(?:$|[:.,;!)]))"
    rf"|\bwas\b[^().:;]{{0,30}}\(until [^()\n]{{1,30}}\)"
    rf"|(?:^|\bold )\(?before {_MONTH}(?:19|20)\d\d\b\)?(?=\s*(?:$|[:,;)]))",
    re.IGNORECASE,
)  # fmt: skip
_DOUBT = re.compile(
    rf"\b(?:if|unless|when|while|isn['’]t|aren['’]t)\b|\bnot (?:yet )?{_PAST}\b"
    r"|(?<!not )(?<!['’]t )(?<!never )\buse (?:this|these|that|the)\b",
    re.IGNORECASE,
)
"""What leaves open of which command a line speaks."""
_MARKS = re.compile(r"^[\s>*_`~#+-]*(?:\d{1,3}[.)]\s+)?[\s*_`~]*")
_LONGEST = 200


def out_of_use(line: str) -> str:
    """The words of a line that say so; "" where it does not, or might say something else. No name of the line is among
    them.
    """
    plain = re.sub(r"[*_`~]", "", _MARKS.sub("", line[:_LONGEST], count=1)).strip()
    found = _SAYS.search(plain)
    if found is None or _DOUBT.search(plain):
        return ""
    return found[0] if found[0].count("(") == found[0].count(")") else found[0].strip("()")
