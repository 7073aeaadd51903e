"""A review as one page for a browser: it loads nothing, works without its script, and can be printed.

In: a `Review` and the shipped files of `templates/html/`. Out: HTML, in the frame of `page.py`. Every text of a spec
passes the encoder of its templates. Any page stays usable: equal entries appear once, long lists end with a count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fleetc.emit.templates import Encoded, Templates
from fleetc.emit.tree import is_released
from fleetc.review.data import IMPACTS, Cause, Change, Line, Review
from fleetc.review.gravity import TONES, tone
from fleetc.review.reports import paired, picture, wording
from fleetc.review.reports.page import NAME, SENTENCE, HostList, first, framed, shortened
from fleetc.text.counting import counted, first_of

_WHOLE = 800
"""The most changes that are shown with everything that belongs to them; others take one line."""

_BRIEF = 10_000
_MANY = 100
"""From so many changes and files on, a browser only lays out the visible part."""

_PLACES = 200
_EFFECTS = 12
_CAUSES = 8
_LINE_CAUSES = 2
_CHANGE_LINES = 12
_FILES = 600
_FILE_LINES = 150
_ALL_LINES = 3_000
_RESTARTS = 1_000
_NOTES = 50
_VALUE = 1_000
_RULES = 200
_RULE_TONES = {"error": "danger", "warning": "money", "note": "calm"}


_LEGEND = picture.Legend(
    states={
        "removed": picture.State("is removed", "are removed", "removed", "cross", "removed"),
        "added": picture.State("is new", "are new", "new", "plus", "new"),
        "changed": picture.State("changes", "change", "changes", "diamond", "changed"),
        "same": picture.State("stays as it is", "stay as they are", "stays as it is"),
    },
    link="#changes",
    those="change",
    that="changes",
)


def as_html(review: Review, templates: Mapping[str, str]) -> str:
    """The page. `templates` are the shipped ones, by path."""
    alarm = "Error: " if review.foreign else ""
    title = f"{alarm}Review of {wording.clip(review.fleet, NAME)}: {wording.headline(review)}"
    body = _Page(review, Templates(templates)).render()
    return framed(templates, title, body, review.tool, len(review.changes) + len(review.files) > _MANY)


class _Page:
    """The parts of the page of one review."""

    def __init__(self, review: Review, templates: Templates) -> None:
        self._review = review
        self._templates = templates
        named = [host for change in review.changes for host in wording.hosts_of(change.targets)]
        self._hosts = HostList([*(box.host for box in review.picture), *named])
        self._known = wording.explained(review)
        self._reasons: dict[int, dict[str, object]] = {}

    def render(self) -> str:
        """The body of the page."""
        review = self._review
        files, verdict, restarts = wording.files(review), wording.gravest(review), wording.restarts(review)
        view: dict[str, object] = {
            "fleet": wording.clip(review.fleet, NAME),
            "baseline": wording.clip(review.baseline, SENTENCE),
            "alarm": wording.clip(wording.alarm(review), SENTENCE),
            **self._rules(),
            "verdict": self._text(verdict, SENTENCE),
            "tone": wording.gravest_tone(review),
            "critical": any(map(wording.is_critical, review.changes)),
            "size": wording.headline(review) if review.changes or review.foreign else "",
            "costs": wording.sentence(files) + ("" if restarts in verdict else f"; {restarts}"),
            "notes": [wording.clip(note, SENTENCE) for note in first(review.notes, _NOTES, "more note")],
            "tones": _tones(review),
            "filter": self._hosts.form(self._templates, "flag, value, file, reason"),
            "change_count": f"{len(review.changes):,}",
            "host_count": f"{len(review.picture):,}",
            "file_count": f"{len(review.files):,}",
            "files": wording.sentence(files),
            **self._changes(),
            **self._restarts(),
            **self._files(),
            "picture": picture.drawn(self._templates, _boxes(review), review.edges, _LEGEND),
        }
        return self._templates.render("html/review.html.j2", view)

    def _text(self, text: str, limit: int) -> str:
        return shortened(self._templates, wording.clip(text, limit))

    def _rules(self) -> dict[str, object]:
        """What became of the rules beside the spec, and what they find."""
        notes = self._review.rules
        rows = [
            {
                "kind": note.kind,
                "tone": _RULE_TONES[note.severity],
                "code": note.code,
                "text": self._text(note.text, SENTENCE),
                "help": self._text(note.help, SENTENCE),
                "place": wording.place(note.place) if note.place is not None and note.place.line else "",
                "line": wording.clip(note.place.text.strip(), NAME) if note.place is not None else "",
            }
            for note in notes[:_RULES]
        ]
        more = f"and {counted(len(notes) - _RULES, 'more note')}" if len(notes) > _RULES else ""
        return {"rules": rows, "rules_title": wording.rules_title(notes), "more_rules": more}

    # --- changes ----------------------------------------------------------------------------------

    def _changes(self) -> dict[str, object]:
        changes = self._review.changes
        brief = changes[_WHOLE : _WHOLE + _BRIEF]
        left = changes[_WHOLE + _BRIEF :]
        return {
            "changes": [self._change(index, change) for index, change in enumerate(changes[:_WHOLE])],
            "brief_title": f"{counted(len(brief), 'more change')}, one line each",
            "brief": [self._brief(_WHOLE + index, change) for index, change in enumerate(brief)],
            "left_out": f"{counted(len(left), 'more change')}: the JSON report has them all." if left else "",
        }

    def _head(self, index: int, change: Change) -> dict[str, object]:
        impacts = wording.impacts(change)
        tones = wording.tones(change)
        return {
            "index": index,
            "tone": min(tones.values(), key=TONES.index),
            "critical": wording.is_critical(change),
            "tags": [{"impact": impact, "tone": tones[impact]} for impact in impacts],
            "impacts": " ".join(impacts),
            "hosts": self._hosts.ranges(wording.hosts_of(change.targets)),
            "what": wording.clip(change.what, NAME),
        }

    def _brief(self, index: int, change: Change) -> dict[str, object]:
        effect = change.effects[0].text if change.effects else ""
        line = "; ".join(filter(None, (_swap(change), wording.where(change), effect)))
        return {**self._head(index, change), "line": self._text(line, NAME)}

    def _change(self, index: int, change: Change) -> dict[str, object]:
        old, new = paired.clip_pair(*_pair(change), _VALUE)
        moved = (paired.elements(change) or _NO_ELEMENTS).moved
        places = [f"{target.host} / {target.node}" if target.node else target.host for target in change.targets]
        shown = [wording.clip(place, NAME) for place in places[:_PLACES]] if len(places) > 1 else []
        shown_effects, more = wording.effects(change, _EFFECTS)
        effects = [
            {
                "impact": effect.impact,
                "tone": tone(effect),
                "critical": effect.weight == "critical",
                "text": self._text(effect.text, SENTENCE),
                "who": wording.clip(first_of(effect.who, 5), NAME),
            }
            for effect in shown_effects
        ]
        return {
            **self._head(index, change),
            "kind": wording.clip(change.kind, NAME),
            "deed": _deed(change),
            "old": shortened(self._templates, old or "(empty)"),
            "new": shortened(self._templates, new or "(empty)"),
            "moved": self._text(moved or "", _VALUE),
            "where": wording.clip(wording.where(change), SENTENCE),
            "effects": effects,
            "more_effects": f"and {counted(more, 'more effect')}" if more else "",
            "causes": self._causes(change.causes, _CAUSES),
            "lines": self._change_lines(change),
            "places": shown,
            "more_places": f"and {len(places) - _PLACES:,} more" if len(places) > _PLACES else "",
        }

    def _change_lines(self, change: Change) -> Encoded:
        if not change.lines:
            return Encoded("")
        first = change.targets[0] if len(change.targets) > 1 else None
        place = f"{first.host} / {first.node}" if first and first.node else first.host if first else ""
        title = f"At {place}, the first of {len(change.targets):,} places" if place else ""
        lines = sorted(change.lines, key=lambda line: not is_released(line.artifact))
        return self._lines(lines[:_CHANGE_LINES], lines, opens=False, title=wording.clip(title, NAME))

    def _causes(self, causes: Sequence[Cause], limit: int) -> Encoded:
        more = len(causes) - limit
        view = {
            "causes": [_cause(spot) for spot in causes[:limit]],
            "more_causes": f"and {counted(more, 'more cause')}" if more > 0 else "",
        }
        return Encoded(self._templates.render("html/causes.html.j2", view))

    # --- lines ------------------------------------------------------------------------------------

    def _lines(self, lines: Sequence[Line], whole: Sequence[Line], opens: bool, title: str) -> Encoded:
        """Some of the `whole` lines. Those that do not open stand outside of their files, whose names they have."""
        rows: list[dict[str, Any]] = []
        before: Line | None = None
        for line in lines:
            begins = not opens and (before is None or before.artifact != line.artifact)
            rows.append(
                {
                    **_sides(line),
                    "opens": opens,
                    "gap": not begins and before is not None and not _follows(before, line),
                    "reason": self._reason(line) if opens else None,
                    "file": wording.clip(line.artifact, NAME) if begins else "",
                }
            )
            before = line
        left = whole[len(lines) :]
        files = list(dict.fromkeys(wording.clip(line.artifact, NAME) for line in left))
        more = f"and {counted(len(left), 'more line')}" + ("" if opens else f" in {first_of(files, 3)}")
        one_sided = any(all(row[side] is None for row in rows) for side in ("old", "new"))
        view = {"title": title, "lines": rows, "one_sided": one_sided, "more_lines": more if left else ""}
        return Encoded(self._templates.render("html/lines.html.j2", view))

    def _reason(self, line: Line) -> dict[str, object] | None:
        """Why a line changes: the change, by its place and in words, and its causes."""
        index = wording.change_of(line, self._known)
        if index is None:
            return None
        if index not in self._reasons:
            change = self._review.changes[index]
            what = f"{change.kind} {change.what}: {_swap(change)}".removesuffix(": ")
            causes = self._causes(change.causes, _LINE_CAUSES)
            self._reasons[index] = {"change": index, "what": wording.clip(what, NAME), "causes": causes}
        return self._reasons[index]

    # --- files and restarts -----------------------------------------------------------------------

    def _files(self) -> dict[str, object]:
        groups = wording.alike(self._review.files)
        shown = []
        room = _ALL_LINES
        for group in groups[:_FILES]:
            if not room:
                break
            shown.append(self._file(group, min(room, _FILE_LINES)))
            room -= min(len(group.first.lines), _FILE_LINES, room)
        left = sum(len(group.paths) for group in groups[len(shown) :])
        more = f"{counted(left, 'more file')} with other lines: the JSON report has them all." if left else ""
        return {"file_groups": shown, "more_files": more}

    def _file(self, group: wording.Alike, limit: int) -> dict[str, object]:
        first, paths = group.first, group.paths
        indexes = {wording.change_of(line, self._known) for line in first.lines}
        classes = {impact for i in indexes if i is not None for impact in wording.impacts(self._review.changes[i])}
        added, removed = (sum(getattr(line, side) is not None for line in first.lines) for side in ("new", "old"))
        return {
            "impacts": " ".join(impact for impact in IMPACTS if impact in classes) or "none",
            "hosts": self._hosts.ranges(host for host in map(_host_of, paths) if host in self._hosts),
            "state": first.state,
            "path": wording.clip(first.path, NAME),
            "same": group.same,
            "delta": f"+{added:,} \N{MINUS SIGN}{removed:,}" if first.lines else "lines not shown",
            "paths": [wording.clip(path, NAME) for path in paths[:_PLACES]] if len(paths) > 1 else [],
            "more_paths": f"and {len(paths) - _PLACES:,} more" if len(paths) > _PLACES else "",
            "lines": self._lines(first.lines[:limit], first.lines, opens=True, title="") if first.lines else "",
        }

    def _restarts(self) -> dict[str, object]:
        restarts = self._review.restarts
        more = len(restarts) - _RESTARTS
        rows = [
            {
                "index": self._hosts.ranges([target.host] if target.host in self._hosts else []),
                "host": wording.clip(target.host, NAME),
                "node": wording.clip(target.node, NAME),
                "sessions": "unknown" if sessions is None else f"{sessions:,}",
            }
            for target, sessions in restarts[:_RESTARTS]
        ]
        return {
            "restart_count": f"{len(restarts):,}",
            "restarts": wording.sentence(wording.restarts(self._review)),
            "restart_title": "Which ones",
            "restart_rows": rows,
            "more_restarts": f"and {counted(more, 'more process', 'more processes')}" if more > 0 else "",
        }


def _boxes(review: Review) -> list[picture.DrawnBox]:
    """The hosts of the picture, each node with its state."""
    boxes = []
    for box in review.picture:
        states = {
            **dict.fromkeys(box.nodes, "same"),
            **dict.fromkeys(box.changed, "changed"),
            **dict.fromkeys(box.added, "added"),
            **dict.fromkeys(box.removed, "removed"),
        }
        nodes = tuple((node, states[node]) for node in box.nodes)
        boxes.append(picture.DrawnBox(box.host, box.label, nodes, dict(box.facts), box.state))
    return boxes


def _tones(review: Review) -> list[dict[str, object]]:
    """The classes that occur, by tone: each tone is one part of the page."""
    by_tone: dict[str, list[dict[str, str]]] = {}
    for tally in wording.tallies(review):
        means = wording.MEANINGS[tally.impact]
        by_tone.setdefault(tally.tone, []).append(
            {"impact": tally.impact, "changes": f"{tally.changes:,}", "means": means}
        )
    tones = (name for name in TONES if name in by_tone)
    return [{"tone": name, "title": wording.sentence(name), "classes": by_tone[name]} for name in tones]


_NO_ELEMENTS = paired.Elements(None, None, None)


def _pair(change: Change) -> tuple[str | None, str | None]:
    """Both values; of lists what they lose and gain."""
    listed = paired.elements(change)
    return (change.old, change.new) if listed is None else (listed.gone, listed.come)


def _deed(change: Change) -> str:
    """The word for what happens to the value: becomes, added, removed, or none where there is no value."""
    old, new = _pair(change)
    if old is None:
        return "" if new is None else "added"
    return "removed" if new is None else "becomes"


def _swap(change: Change) -> str:
    """Old and new value in a few words."""
    old, new = (text or "(empty)" for text in paired.clip_pair(*_pair(change), NAME // 3))
    moved = (paired.elements(change) or _NO_ELEMENTS).moved
    sentences = {"becomes": f"{old} \N{RIGHTWARDS ARROW} {new}", "added": f"{new} added", "removed": f"{old} removed"}
    return "; ".join(filter(None, (sentences.get(_deed(change), ""), f"moved {moved}" if moved else "")))


def _cause(spot: Cause) -> dict[str, object]:
    place = wording.place(spot) if spot.file else ""
    return {
        "place": wording.clip(place, NAME),
        "path": wording.clip(spot.path, NAME),
        "line": spot.line,
        "text": wording.clip(spot.text, NAME),
        "instead": wording.line_text(spot).strip("[]"),
        "reason": wording.clip(wording.sentence(wording.reason(spot)), SENTENCE),
    }


def _host_of(path: str) -> str:
    """The host that a file of the tree belongs to, by its path; empty for a file of the whole fleet."""
    parts = path.split("/")
    return parts[1] if len(parts) > 2 and parts[0] == "hosts" else ""


def _sides(line: Line) -> dict[str, object]:
    """Both sides, cut to a length; what differs between them is the middle."""
    old, new = paired.clip_pair(line.old, line.new, _VALUE)
    before, after = (
        paired.differing(old, new) if old is not None and new is not None else ((old, "", ""), (new, "", ""))
    )
    sides = (("old", old, line.old_line, before), ("new", new, line.new_line, after))
    return {
        name: None if text is None else {"number": number, **dict(zip(("start", "middle", "end"), parts, strict=True))}
        for name, text, number, parts in sides
    }


def _follows(before: Line, line: Line) -> bool:
    """Whether there is nothing between two changed lines of one file."""
    if before.artifact != line.artifact:
        return False
    old = not line.old_line or not before.old_line or line.old_line == before.old_line + 1
    return old and (not line.new_line or not before.new_line or line.new_line == before.new_line + 1)
