"""Pages of `fleetc explain` for messages of defaults, classes, counter tables and included files.

In: nothing; this is a table. Out: pages by code.
"""

from __future__ import annotations

from fleetc.messages.pages.page import Page

SHARING_PAGES: dict[str, Page] = {
    "class-cycle": Page(
        "A class is like itself, directly or through other classes.",
        "its values would have no end.",
        "Remove one of the names from like.",
    ),
    "class-unknown": Page(
        "A table names a class that the spec lacks, or that has no values for this kind of table.",
        "the table would silently lack all values that it should take from there.",
        "Name a class that has such a table: [classes.gpu-box.hosts] is for hosts, and\n"
        "[classes.gpu-box.orchestrators] for orchestrators.",
    ),
    "class-unused": Page(
        "No table takes its values from a class or from defaults.",
        "a misspelled name in like, or a table that was removed, looks like this; the values do nothing.",
        "Write like in a table, or remove the class.",
    ),
    "counter-invalid": Page(
        "Braces do not hold a counter.",
        "in a counter table and its classes, braces are replaced by a value of each member.",
        "Write a range such as {01..20}, a list such as {a,b} or {1..3,7}, or {} for the counter of the name. Braces\n"
        "that mean themselves are written twice: {{ and }}.",
    ),
    "counter-lengths-differ": Page(
        "Two counters of one table have different lengths.",
        "each member takes the value at its own position, so some would get none.",
        "Make both equally long. To leave out a member in the middle, leave out its value in each counter:\n"
        '"gpu-{01..06,08..20}" and "203.0.113.{10..15,17..29}".',
    ),
    "counter-unfilled": Page(
        "A class or the defaults have a counter, but a table that takes values from there has none in its name.",
        "the braces would end up in a file.",
        "Give the name of the table a counter, or write {{ and }} for braces that mean themselves.",
    ),
    "include-finds-nothing": Page(
        "A pattern of include names no file.",
        "the tables that should be in there would silently be missing.",
        "Correct the pattern. It starts at the directory of the spec; a star matches a part of one name.",
    ),
    "include-invalid": Page(
        "include, or a file that it names, is not written as it must be.",
        "a spec consists only of files in its own directory and below.",
        'Write include = ["regions/*.toml"] at the top of the spec itself. Included files have tables only, without\n'
        "spec, include and remove.",
    ),
    "include-refused": Page(
        "A pattern of include names a link, a file that is not regular, or the spec itself.",
        "a link could lead to any file of the machine, and reading a pipe or a device may never end.",
        "Put a regular file there, or write a pattern that leaves it out.",
    ),
    "include-too-many": Page(
        "A spec includes more than 1000 files.",
        "a mistaken pattern would otherwise read a whole disk.",
        "Correct the pattern.",
    ),
    "member-twice": Page(
        "Two counter tables make the same member.",
        "one of them would silently win.",
        "Give one of them other names or another range. An exception for one member is a table with its plain name.",
    ),
    "on-invalid": Page(
        "A table for the nodes of many hosts has the wrong form.",
        "each host that on matches gets a node; the text that the star matched replaces {} in its name.",
        'Write [orchestrators."orch-{}"] and on = "gpu-*", without host: gpu-07 gets orch-07.',
    ),
    "on-matches-nothing": Page(
        "No host has a name that on matches.",
        "the table makes no node.",
        "Correct the pattern, or add hosts.",
    ),
    "table-in-two-files": Page(
        "Two files of a spec have the same table.",
        "one of them would silently win, and the owner of the other would not know.",
        "Keep the table in one file. Differences for an environment belong in an overlay.",
    ),
    "too-many-members": Page(
        "Counter tables of this spec make more than 100,000 members.",
        "a mistake in a range would otherwise fill the memory.",
        "Correct the range. One counter has at most 10,000 values.",
    ),
}
