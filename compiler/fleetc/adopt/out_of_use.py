"""Words of a page by which people say that a block of commands does not run any more.

In: a line of prose, or a heading. Out: the words of it that say so. Only what can mean nothing else counts: a box may
be called old-box, and what stands below "-broadcaster is deprecated, use this" runs.
"""

from __future__ import annotations

import re

_GONE = r"(?:obsolete|deprecated|archived|outdated|retired|decommissioned)"
_LAST = r"(?=\s*[:.!]*$)"
_NO_MORE = r"(?:any ?more|any longer|again)"
_SAYS = re.compile(
    rf"^(?:old|archives?|{_GONE}){_LAST}"
    rf"|^(?:(?:the|my|our) )?old (?:commands?|notes?|setups?|set-ups?|configs?|configurations?|versions?|way){_LAST}"
    rf"|\({_GONE}(?=(?:[,;][^()]*)?\)\s*[:.!]*$)"
    rf"|\b(?:is|are) (?:now )?{_GONE}{_LAST}"
    rf"|\b(?:do not|don['’]t|never) use(?: (?:it|this|that|these|them))?(?: {_NO_MORE})?(?=\s*(?:$|[:.,;!()–—]))"
    rf"|\bno longer (?:in use|used)(?=\s*(?:$|[:.,;!)]))"
    rf"|\bnot (?:in use|used) (?:{_NO_MORE}|since [^.,;:!?()]{{1,30}})(?=\s*(?:$|[:.,;!)]))"
    r"|\b(?:not running any ?(?:more|longer)|no longer running)(?=\s*(?:$|[:.,;!)]| since\b))"
    r"|(?:^|\()history(?: only)?(?=\s*(?:$|[:.,;!)]))"
    r"|(?:(?<=^)|(?<=[.(:;–—] )|(?<=\())not in use(?=\s*(?:$|[:.,;!)]))"
    r"|\bwas (?:like this |so )?\(until(?= [^()]+\)\s*[:.!]*$)"
    r"|(?:^|\bold )\(?before (?:[a-z]{3,9}\.? )?(?:\d\d?[-/.])?(?:19|20)\d\d\b\)?(?=\s*(?:$|[:,;)]))",
    re.IGNORECASE,
)
_DOUBT = re.compile(
    rf"(?:^|\s)--?[a-z]|\b(?:if|unless|when|while|isn['’]t|aren['’]t)\b|\bnot (?:yet )?{_GONE}\b"
    r"|(?<!not )(?<!['’]t )(?<!never )\buse (?:this|these|that|the)\b",
    re.IGNORECASE,
)
"""What leaves open of which command a line speaks, such as the flags of one."""
_MARKS = re.compile(r"^[\s>#]*(?:(?:[*+-]|\d{1,3}[.)])\s+)?")
_STYLE = re.compile(r"[*_`~]")
_LONGEST = 200


def out_of_use(line: str) -> str:
    """The words of a line that say so; "" where it does not, or might say something else. No name of the line is among
    them.
    """
    plain = _STYLE.sub("", _MARKS.sub("", line)).strip() if len(line) <= _LONGEST else ""
    found = _SAYS.search(plain)
    if found is None or _DOUBT.search(plain):
        return ""
    return found[0] if found[0].count("(") == found[0].count(")") else found[0].lstrip("(")
